"""Keeps the identity of containers that cross between the tests and the program: an encoder and a decoder with a memo.

    def mat(n): return [[0] * n] * n          m = mat(2); m[0][0] = 5          m[1] is m[0], and shows it
    def cp(a): return list(a)                 b = cp(a); b[0].append(3)        b[0] is a[0]

Both sides number the containers of a message in the order in which they are complete. A container that has a number is
`{"same": number}`. A call and its reply are one message in this, so a result can hold containers of the arguments.
"""

import collections
import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any, Final, NamedTuple, TypeAlias

from sandbox.runner.testing.arguments import copy_changes
from sandbox.runner.values.encoding import MAX_BYTES, Decoder, Encoder, Image, Undecodable
from sandbox.runner.values.tables import TABLE_BUILDERS, image_of_table

_APART: Final = frozenset({"ndarray", *TABLE_BUILDERS})
"""Tags of values that hold copies of their items."""
_TAGS: Final = frozenset(
    {
        *("tuple", "named", "dict", "OrderedDict", "Counter", "set", "frozenset", "bytearray", "deque", "defaultdict"),
        *("ndarray", "DataFrame", "Series"),
    }
)
"""Tags of containers, besides lists."""
_ATOMS: Final = frozenset(map(id, (type(None), bool, int, float, str, bytes)))
_STRUCTURES: Final = frozenset({list, dict})
_MOST_PARTS: Final = MAX_BYTES // 8
Scope: TypeAlias = list[tuple[Any, int]]
"""The containers of a message by their numbers, with their sizes as an encoder or decoder counts them."""


class SharingEncoder(Encoder):
    """An encoder that tells which containers are the same."""

    def __init__(self, foreign: Callable[[Any], Image]) -> None:
        super().__init__(foreign)
        self.scope: Scope = []
        self._numbers: dict[int, int] = {}
        self._apart = 0

    @property
    def is_apart(self) -> bool:
        """Whether the part belongs to a value that holds copies of its items."""
        return self._apart > 0

    def image(self, value: object) -> Image:
        return super().image(value) if id(type(value)) in _ATOMS else self.images([value], [])[0]

    def images(self, values: Sequence[object], scope: Scope) -> list[Image]:
        """The images of values in a message that has had these containers. Adds theirs to it."""
        image_of = super().image
        if _ATOMS.issuperset(map(id, map(type, values))):
            return [*map(image_of, values)]
        outer = self.scope, self._numbers, self._apart, self._room, self._depth
        self.scope, self._apart = scope, 0
        self._numbers = {id(container): number for number, (container, _) in enumerate(scope)}
        try:
            return [*map(image_of, values)]
        finally:
            self.scope, self._numbers, self._apart, self._room, self._depth = outer

    def contents(self, numbers: Sequence[int], scope: Scope) -> list[Image]:
        """The images of containers that have numbers already."""
        if not numbers:
            return []
        outer = self.scope, self._numbers
        self.scope, self._numbers = scope, {id(value): number for number, (value, _) in enumerate(scope)}
        self._apart = 0
        try:
            return [self._content(scope[number][0]) for number in numbers]
        finally:
            self.scope, self._numbers = outer

    def _content(self, container: Any) -> Image:
        self._room, self._depth = MAX_BYTES, 0
        return super().part(container)

    def part(self, value: Any) -> Image:
        kind = id(type(value))
        if self._apart or kind in _ATOMS:
            return super().part(value)
        number = self._numbers.get(id(value))
        if number is not None:
            self.charge(self.scope[number][1])  # the whole is bounded as if it were copied
            return {"same": number}
        room = self._room
        image = super().part(value)
        if _is_container(image):
            self._numbers[id(value)] = len(self.scope)
            self.scope.append((value, room - self._room))
        return image

    def table(self, value: Any) -> Image:
        """As `image_of_table`."""
        self._apart += 1
        try:
            return image_of_table(self, value)
        finally:
            self._apart -= 1

    def _array(self, value: Any, ndarray: Any) -> Image:
        self._apart += 1
        try:
            return super()._array(value, ndarray)
        finally:
            self._apart -= 1


class SharingDecoder(Decoder):
    """The decoder for images of a `SharingEncoder`."""

    def __init__(self, builders: Mapping[str, Callable[[Decoder, Any], Any]]) -> None:
        super().__init__({**builders, "same": lambda _, number: self._same(number)})
        self._scope: Scope = []
        self._apart = 0
        self._parts = 0

    def value(self, image: Image) -> Any:
        return self.values([image], [])[0]

    def values(self, images: Sequence[Image], scope: Scope) -> list[Any]:
        """The values of images in a message that has had these containers. Adds theirs to it."""
        if _STRUCTURES.isdisjoint(map(type, images)):
            return [*images]
        outer = self._scope, self._apart, self._parts, self._depth
        self._scope, self._apart, self._parts = scope, 0, 0
        try:
            return [*map(super().value, images)]
        finally:
            self._scope, self._apart, self._parts, self._depth = outer

    def contents(self, image: Image, scope: Scope) -> Any:
        """A value with the contents of a container that has a number already."""
        outer, self._scope = self._scope, scope
        self._depth = self._apart = self._parts = 0
        try:
            return super().part(image)
        except RecursionError as error:
            raise Undecodable("too deep") from error
        finally:
            self._scope = outer

    def part(self, image: Image) -> Any:
        kind = type(image)
        if kind is list:
            parts_so_far = self._parts
            value: Any = self.parts(image)
        elif kind is dict:
            parts_so_far = self._parts
            is_apart = not _APART.isdisjoint(image)
            self._apart += is_apart
            value = self._tagged(image)
            self._apart -= is_apart
            if _TAGS.isdisjoint(image):
                return value
        else:
            return image
        if not self._apart:
            self._scope.append((value, self._parts - parts_so_far))
        return value

    def parts(self, images: Image) -> list[Any]:
        values = super().parts(images)
        self._parts += len(values)
        return values

    def replace_last(self, value: Any) -> None:
        """Let the last container be another one, which is the same in an earlier message."""
        self._scope[-1] = value, self._scope[-1][1]

    def _same(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._scope):
            raise Undecodable("the number of no container")
        value, size = self._scope[number]
        self._parts += size
        if self._parts > _MOST_PARTS:
            raise Undecodable("too large")
        return value


def _is_container(image: Image) -> bool:
    return type(image) is list or (type(image) is dict and not _TAGS.isdisjoint(image))


# Changes of containers.


def states(scope: Scope, encoder: Encoder) -> list[Any]:
    """What the containers hold now, for `changed`."""
    return [state_of(container, encoder) for container, _ in scope]


def changed(scope: Scope, old_states: Sequence[Any], encoder: Encoder) -> list[int]:
    """The numbers of the containers that hold something else than before."""
    return [
        number for number, old in enumerate(old_states) if not is_same_state(old, state_of(scope[number][0], encoder))
    ]


def state_of(container: Any, encoder: Encoder) -> Any:
    """The items of a container, to be compared by identity; or an image of it."""
    if isinstance(container, list | collections.deque | set):
        return ([*container],)
    if isinstance(container, dict):
        return [*container.keys()], [*container.values()]
    if isinstance(container, tuple | frozenset):
        return ()
    return encoder.image(container)


def is_same_state(old: Any, new: Any) -> bool:
    if type(old) is not tuple:
        return bool(old == new)
    return all(len(lhs) == len(rhs) and all(map(is_, lhs, rhs)) for lhs, rhs in zip(old, new, strict=True))


def copied(scope: Scope) -> Scope:
    """Copies of all containers, which hold copies of each other."""
    copies: dict[int, Any] = {}
    for container, _ in scope:  # items have smaller numbers than what holds them
        copies[id(container)] = _copied(container, copies)
    return [(copies[id(container)], size) for container, size in scope]


def _copied(container: Any, copies: Mapping[int, Any]) -> Any:
    def of(item: Any) -> Any:
        return copies.get(id(item), item)

    if isinstance(container, tuple):
        if all(of(item) is item for item in container):
            return container
        new: Any = tuple.__new__(type(container), map(of, container))
        vars(new).update(vars(container)) if hasattr(container, "__dict__") else None
        return new
    new = copy.copy(container)
    if isinstance(container, list):
        new[:] = map(of, container)
    elif isinstance(container, collections.deque):
        new.clear()
        new.extend(map(of, container))
    elif isinstance(container, dict):
        new.update({key: of(item) for key, item in container.items()})
    return new


def replace_contents(old: Any, new: Any) -> None:
    """Give a container the items of another one, which are not copied."""
    if isinstance(old, list) and isinstance(new, list):
        old[:] = new
    elif isinstance(old, dict) and isinstance(new, dict):
        items = {**new}
        old.clear()
        old.update(items)
    elif isinstance(old, collections.deque) and isinstance(new, collections.deque):
        items_of_new = [*new]
        old.clear()
        old.extend(items_of_new)
    else:  # a set, or a copy without items of its own
        copy_changes(old, new)


# Containers with a number of their own.


class Tracked:
    """Containers that both sides have, by their numbers, and what each held when both sides agreed.

    What a container holds is compared by identity. Only parts that may change without one of these containers, such as
    a list in a tuple, are compared by their images.

    Args:
        image: Makes the image of a value.
    """

    def __init__(self, image: Callable[[Any], Image]) -> None:
        self.numbers: dict[int, int] = {}
        """By the ids of the containers."""
        self._image = image
        self._containers: dict[int, Any] = {}
        self._held: dict[int, _Held] = {}
        self._all: tuple[Sequence[Any], Sequence[int], Sequence[Any]] | None = None
        """The views, lengths and items of all that is held, which are compared at once."""

    def __contains__(self, number: int) -> bool:
        return number in self._containers

    def __getitem__(self, number: int) -> Any:
        return self._containers[number]

    def add(self, number: int, container: Any) -> None:
        """Both sides agree about what the container holds now; it is the one that was used last."""
        self.remove(number)
        self._containers[number] = container
        self.numbers[id(container)] = number
        self.agree(number)

    def agree(self, number: int) -> None:
        self._held[number] = self._held_by(self._containers[number])
        self._all = None

    def remove(self, number: int) -> None:
        if number in self._containers:
            del self.numbers[id(self._containers.pop(number))]
            del self._held[number]
            self._all = None

    def changed(self) -> list[int]:
        """The numbers of containers that hold something else than what both sides agree about."""
        if self._all is None:
            entries = self._held.values()
            views = [view for entry in entries for view in entry.views]
            lengths = [length for entry in entries for length in entry.lengths]
            self._all = views, lengths, [item for entry in entries for item in entry.items]
        if self._holds(*self._all) and not any(entry.changeable for entry in self._held.values()):
            return []
        return [number for number, entries in self._held.items() if not self._is_same(entries)]

    def trim(self) -> list[int]:
        """Remove those that were used longest ago, if there are too many. Both sides must agree about all.

        Returns:
            The numbers of those that were removed.
        """
        size = sum(map(len, self._containers.values()))
        if len(self._containers) <= MOST_TRACKED and size <= _MOST_TRACKED_ITEMS:
            return []
        removed: list[int] = []
        ids: set[int] = set()
        while len(self._containers) > MOST_TRACKED // 2 or size > _MOST_TRACKED_ITEMS // 2:
            number, container = next(iter(self._containers.items()))
            removed.append(number)
            ids.add(id(container))
            size -= len(container)
            self.remove(number)
        for number, entry in self._held.items():
            if not ids.isdisjoint(entry.tracked):
                self.agree(number)
        return removed

    def _held_by(self, container: Any) -> "_Held":
        views = [container, container.values()] if type(container) is dict else [container]
        items = [*chain.from_iterable(views)]
        changeable, tracked = [], set()
        if not _ATOMS.issuperset(map(id, map(type, items))):
            for item in items:
                if id(item) in self.numbers:
                    tracked.add(id(item))
                elif not _is_constant(item) and not _is_reference(image := self._image(item)):
                    changeable.append((item, image))
        return _Held(views, [*map(len, views)], items, changeable, tracked)

    def _is_same(self, entry: "_Held") -> bool:
        return self._holds(entry.views, entry.lengths, entry.items) and all(
            self._image(item) == image for item, image in entry.changeable
        )

    @staticmethod
    def _holds(views: Sequence[Any], lengths: Sequence[int], items: Sequence[Any]) -> bool:
        return [*map(len, views)] == lengths and all(map(is_, items, chain.from_iterable(views)))


MOST_TRACKED: Final = 32
_MOST_TRACKED_ITEMS: Final = 16_000


class _Held(NamedTuple):
    """What a container held."""

    views: Sequence[Any]
    """Itself, and the values of a dictionary."""
    lengths: Sequence[int]
    items: Sequence[Any]
    """All that was in the views. Those of a byte array are the same objects each time."""
    changeable: Sequence[tuple[Any, Image]]
    """Those that may change by themselves, with their images."""
    tracked: Collection[int]
    """The ids of those that are tracked, too."""


def _is_constant(item: Any) -> bool:
    kind = type(item)
    return id(kind) in _ATOMS or (kind is tuple and all(map(_is_constant, item)))


def _is_reference(image: Image) -> bool:
    """Whether it is the image of what stays the same object."""
    return type(image) is dict and not _REFERENCES.isdisjoint(image)


_REFERENCES: Final = frozenset({"object", "class", "builtin", "callable", "lent"})
