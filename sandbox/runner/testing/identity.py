"""Keeps the identity of containers that cross between the tests and the program: an encoder and a decoder with a memo.

    def mat(n): return [[0] * n] * n          m = mat(2); m[0][0] = 5          m[1] is m[0], and shows it
    def cp(a): return list(a)                 b = cp(a); b[0].append(3)        b[0] is a[0]

Both sides number the containers of a message in the order in which they are complete. A container that has a number is
`{"same": number}`. A call and its reply are one message in this, so a result can hold containers of the arguments.
"""

import collections
import copy
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any, Final, TypeAlias

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
        whole = super().image
        if _ATOMS.issuperset(map(id, map(type, values))):
            return [*map(whole, values)]
        outer = self.scope, self._numbers, self._apart, self._room, self._depth
        self.scope, self._apart = scope, 0
        self._numbers = {id(container): number for number, (container, _) in enumerate(scope)}
        try:
            return [*map(whole, values)]
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
            before = self._parts
            value: Any = self.parts(image)
        elif kind is dict:
            before = self._parts
            is_apart = not _APART.isdisjoint(image)
            self._apart += is_apart
            value = self._tagged(image)
            self._apart -= is_apart
            if _TAGS.isdisjoint(image):
                return value
        else:
            return image
        if not self._apart:
            self._scope.append((value, self._parts - before))
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
    return [_state(container, encoder) for container, _ in scope]


def changed(scope: Scope, before: Sequence[Any], encoder: Encoder) -> list[int]:
    """The numbers of the containers that hold something else than before."""
    return [number for number, old in enumerate(before) if not _is_same(old, _state(scope[number][0], encoder))]


def _state(container: Any, encoder: Encoder) -> Any:
    """The items of a container, to be compared by identity; or an image of it."""
    if isinstance(container, list | collections.deque | set):
        return ([*container],)
    if isinstance(container, dict):
        return [*container.keys()], [*container.values()]
    if isinstance(container, tuple | frozenset):
        return ()
    return encoder.image(container)


def _is_same(old: Any, new: Any) -> bool:
    if type(old) is not tuple:
        return bool(old == new)
    return all(len(left) == len(right) and all(map(is_, left, right)) for left, right in zip(old, new, strict=True))


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
