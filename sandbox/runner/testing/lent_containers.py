"""Containers that the program reads from objects and functions of the tests, and has copies of, while a request runs.

    a = Node(); f(a); assert a.kids == [5]          def f(a): a.kids.append(5)

Both sides have a table of them, by numbers: `{"shared": [number, image]}` tells a container, `{"shared": [number]}` is one
that was told before. Each side tells what it has changed before the other one looks.
"""

import collections
import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Final

from sandbox.runner.testing.identity import SharingEncoder, is_same_state, state_of
from sandbox.runner.values.encoding import Encoder, Image, Undecodable

_KINDS: Final = frozenset(
    {list, dict, set, bytearray, collections.deque, collections.Counter, collections.OrderedDict}
    | {collections.defaultdict}
)
MOST_LENT: Final = 20_000
"""As many containers are shared in one request; others are copied."""
MOST_OF_FUNCTIONS: Final = 256
"""As many, if functions of the tests return new ones: each is compared whenever one is called."""


class LentContainers:
    """One side's table. It is empty between requests.

    Args:
        first: The first number that this side gives out; the other side's are those between.
    """

    def __init__(self, first: int) -> None:
        self.numbers: dict[int, int] = {}
        """By the ids of the containers."""
        self.most = 0
        """Containers that are told now are added up to this number."""
        self._own = itertools.count(first, 2)
        self._containers: dict[int, Any] = {}
        self._states: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._containers)

    def __getitem__(self, number: Any) -> Any:
        if type(number) is not int or number not in self._containers:
            raise Undecodable("the number of no container")
        return self._containers[number]

    def may_add(self, container: object) -> bool:
        return len(self._containers) < self.most and type(container) in _KINDS

    def add(self, container: Any, encoder: Encoder, number: int | None = None) -> int:
        """Add a container that both sides know from now on, and return its number."""
        number = next(self._own) if number is None else number
        if type(number) is not int or number in self._containers or type(container) not in _KINDS:
            raise Undecodable("not a new container")
        self._containers[number] = container
        self.numbers[id(container)] = number
        self.agree(number, encoder)
        return number

    def agree(self, number: int, encoder: Encoder) -> None:
        self._states[number] = state_of(self._containers[number], encoder)

    def changed(self, encoder: Encoder) -> Iterator[tuple[int, Any]]:
        """Containers that hold something else than what both sides agree about, and are agreed about then."""
        for number, container in [*self._containers.items()]:
            state = state_of(container, encoder)
            if not is_same_state(self._states[number], state):
                self._states[number] = state
                yield number, container

    def cut(self, count: int) -> None:
        """Keep only as many as were added first."""
        for number in [*self._containers][count:]:
            del self.numbers[id(self._containers.pop(number))], self._states[number]

    def clear(self) -> None:
        self.numbers.clear()
        self._containers.clear()
        self._states.clear()


class LendingEncoder(SharingEncoder):
    """An encoder that tells containers of the table by their numbers.

    Args:
        foreign: As in `Encoder`.
        first: As in `LentContainers`.
    """

    def __init__(self, foreign: Callable[[Any], Image], first: int) -> None:
        super().__init__(foreign)
        self.lent = LentContainers(first)

    def part(self, value: Any) -> Image:
        lent = self.lent
        if self.is_apart or not (lent.most or lent.numbers):
            return super().part(value)
        if id(value) in lent.numbers:
            return {"shared": [lent.numbers[id(value)]]}
        image = super().part(value)
        if is_known(image) or not lent.may_add(value):
            return image
        return {"shared": [lent.add(value, self), image]}

    def contents_of_lent(self, container: Any) -> Image:
        """The image of what a container of the table holds. Containers in it are added."""
        with self.lending(MOST_LENT):
            return self.contents([0], [(container, 0)])[0]

    @contextlib.contextmanager
    def lending(self, most: int) -> Iterator[None]:
        """Add containers that are told to the table up to this number, but none of what cannot be told."""
        outer, self.lent.most, count = self.lent.most, most, len(self.lent)
        try:
            yield
        except BaseException:
            self.lent.cut(count)
            raise
        finally:
            self.lent.most = outer


def is_known(image: Image) -> bool:
    """Whether it is the image of a container that was told before, or has a number already."""
    return type(image) is dict and ("same" in image or "shared" in image)
