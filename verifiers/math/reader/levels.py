"""The grammar as its parts see it: the levels that they call to read what is inside them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from verifiers.math.reader.cursor import Cursor
from verifiers.math.tokens import Token
from verifiers.math.tree import Node


class Levels(Cursor, ABC):
    """The levels of the grammar that its parts call, and what they have to know of each other."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.bars = 0
        """Absolute values that are open."""
        self.norms = 0
        """Norms that are open."""
        self.arguments = 0
        """Lists of arguments that are open."""

    @abstractmethod
    def sequence(self, kind: str, *closing: str) -> Node:
        """Elements between separators; one element is itself unless `kind` says it is inside brackets."""

    @abstractmethod
    def set_expression(self) -> Node:
        """Sets with operations between them, or what stands in a set."""

    @abstractmethod
    def sum(self) -> Node:
        """Terms with signs between them."""

    @abstractmethod
    def power(self) -> Node:
        """What a factor is: a primary with what stands behind it."""

    @abstractmethod
    def exponent(self) -> Node:
        """A braced group, one token, or (in plain text) a signed power, right-associative."""

    @abstractmethod
    def argument(self) -> Node:
        """What a command takes: `{group}`, or the one next digit, letter or command."""

    @abstractmethod
    def primary(self, bare: bool = False) -> Node:
        """A number, a name, a bracket or a command; `bare`: a name without subscript and arguments."""
