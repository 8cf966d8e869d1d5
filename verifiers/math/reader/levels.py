"""The interface of the grammar for its parts: the levels that they call to read what is inside them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from verifiers.math.reader.cursor import Cursor
from verifiers.math.tokens import Token
from verifiers.math.tree import Node


class Levels(Cursor, ABC):
    """The levels of the grammar that its parts call, and the state that they share."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        super().__init__(tokens)
        self.bars = 0
        """The number of open absolute values."""
        self.norms = 0
        """The number of open norms."""
        self.arguments = 0
        """The number of open lists of arguments."""

    @abstractmethod
    def sequence(self, kind: str, *closing: str) -> Node:
        """Read elements between separators; one element is itself unless `kind` says that it is inside brackets."""

    @abstractmethod
    def set_expression(self) -> Node:
        """Read sets with operations between them, or one element of a set."""

    @abstractmethod
    def sum(self) -> Node:
        """Read terms with signs between them."""

    @abstractmethod
    def term(self) -> Node:
        """Read a product."""

    @abstractmethod
    def power(self) -> Node:
        """Read one factor: a primary with its postfixes."""

    @abstractmethod
    def exponent(self) -> Node:
        """Read an exponent: a braced group, one token, or (in plain text) a signed power, right-associative."""

    @abstractmethod
    def argument(self) -> Node:
        """Read the argument of a command: `{group}`, or the one next digit, letter or command."""

    @abstractmethod
    def primary(self, bare: bool = False) -> Node:
        """Read a number, a name, a bracket or a command; `bare`: read a name without subscript and arguments."""
