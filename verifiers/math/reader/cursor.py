"""A position in the tokens, and the limits on what is read from there."""

from collections.abc import Callable, Sequence

from verifiers.math.limits import MAX_DEPTH, MAX_NODES
from verifiers.math.tokens import Token
from verifiers.math.tree import Leaf, Node, TooComplex, Unreadable

_MAX_LEVELS = 80
"""The limit on nested calls; a bracket takes two or three of them, and each takes about eight Python frames."""


class Cursor:
    """A position in the tokens, and the number of nodes and levels that may still be read."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self._depth = 0
        self._nodes = 0

    def peek(self, offset: int = 0) -> Token | None:
        index = self.at + offset
        return self.tokens[index] if index < len(self.tokens) else None

    def next(self) -> Token:
        token = self.peek()
        if token is None:
            raise Unreadable("unexpected end")
        self.at += 1
        return token

    def is_at(self, *kinds: str) -> bool:
        at, tokens = self.at, self.tokens
        return at < len(tokens) and tokens[at].kind in kinds

    def is_at_command(self, *names: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "cmd" and token.value in names

    def take(self, kind: str) -> bool:
        at, tokens = self.at, self.tokens
        if at < len(tokens) and tokens[at].kind == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str) -> None:
        if not self.take(kind):
            token = self.peek()
            raise Unreadable(
                f"expected {kind!r}, found {token.value[:20]!r}" if token else f"expected {kind!r} at the end"
            )

    def node(self, kind: str, *args: Node, leaf: Leaf = None) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise TooComplex("too many parts")
        node = Node(kind, args, leaf)
        if node.depth > MAX_DEPTH:
            raise TooComplex("too many levels")
        return node

    def nested(self, part: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > _MAX_LEVELS:
            raise TooComplex("nested too deeply")
        node = part()
        self._depth -= 1
        return node

    def next_is(self, kind: str) -> bool:
        token = self.peek(1)
        return token is not None and token.kind == kind
