"""What objects and containers of the tests hold before a call, to be restored after it: see `recomputed`."""

import collections
import copy
import functools
import io
import threading
import types
from collections.abc import Iterator
from typing import Any, Final

from sandbox.runner.testing.arguments import copy_changes
from sandbox.runner.testing.identity import replace_contents
from sandbox.runner.testing.object_server import is_of_tests, lent_class
from sandbox.runner.testing.remote_objects import Remote

_CONTAINERS: Final = (list, dict, set, bytearray, collections.deque)
_BUFFERS: Final = (io.StringIO, io.BytesIO)
_LOCKS: Final = (type(threading.Lock()), type(threading.RLock()))
_NESTING: Final = (tuple, frozenset)
_ATOMS: Final = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes)))


class LentStates:
    """The states of everything that can be reached from what the program has been lent in a call."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}
        self._held: list[tuple[Any, Any]] = []
        """Each object or container with what it held."""

    def add(self, *values: Any) -> None:
        """Note the states of these values and all that can be reached from them."""
        waiting = [*values]
        while waiting:
            value = waiting.pop()
            if id(value) not in self._seen and (parts := self._parts(value)) is not None:
                self._seen[id(value)] = value
                waiting += [part for part in parts if id(type(part)) not in _ATOMS]

    def restore(self) -> dict[int, Any]:
        """Give everything back what it held.

        Returns:
            Copies of objects as the program has changed them, by the ids of those that have been restored. It is empty if
            nothing has changed.
        """
        changed = [(thing, held) for thing, held in self._held if not _is_same(held, _held_by(thing))]
        if not changed:
            return {}
        # A queue is copied with the locks that it has.
        copies = {id(value): value for _, (_, values, _) in self._held for value in values if isinstance(value, _LOCKS)}
        for thing, _ in self._held:
            _copy(thing, copies)
        for thing, held in changed:
            _restore(thing, held)
        return copies

    def _parts(self, value: Any) -> list[Any] | None:
        """What a value holds; None: nothing that can change."""
        if issubclass(type(value), Remote):
            return None
        if isinstance(value, _NESTING):
            return [*value]
        if isinstance(value, types.FunctionType):
            return [*_in_cells(value), *(value.__defaults__ or ())]
        if isinstance(value, types.MethodType):
            return [value.__self__]
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, type):
            return [*_in_class(value)] if is_of_tests(value) else None
        if not isinstance(value, (*_CONTAINERS, *_BUFFERS)) and lent_class(type(value)) is None:
            return None
        held = _held_by(value)
        self._held.append((value, held))
        kinds = [kind for kind in type(value).__mro__ if is_of_tests(kind)]
        return [*held[0], *held[1], *kinds]


def _copy(thing: Any, copies: dict[int, Any]) -> None:
    """Add copies of a thing and what it holds; none of them, if it holds a lock or file."""
    known = {**copies}
    try:
        copy.deepcopy(thing, copies)
    except Exception:  # noqa: BLE001 - whatever a class of the tests raises
        copies.clear()
        copies.update(known)


def _held_by(thing: Any) -> tuple[list[Any], list[Any], Any]:
    """Names or keys, values or items, and what else a thing holds."""
    if isinstance(thing, dict):
        return [*thing], [*thing.values()], None
    if isinstance(thing, list | set | collections.deque):
        return [], [*thing], None
    if isinstance(thing, bytearray):
        return [], [], bytes(thing)
    if isinstance(thing, _BUFFERS):
        return [], [], None if thing.closed else (thing.getvalue(), thing.tell())
    attributes = {name: getattr(thing, name) for name in _slots(type(thing)) if hasattr(thing, name)}
    attributes |= getattr(thing, "__dict__", {})
    return [*attributes], [*attributes.values()], None


def _is_same(old: tuple[list[Any], list[Any], Any], new: tuple[list[Any], list[Any], Any]) -> bool:
    return old[2] == new[2] and all(
        [*map(id, was)] == [*map(id, now)] for was, now in zip(old[:2], new[:2], strict=True)
    )


def _restore(thing: Any, held: tuple[list[Any], list[Any], Any]) -> None:
    names, values, other = held
    if isinstance(thing, dict):
        replace_contents(thing, dict(zip(names, values, strict=True)))
    elif isinstance(thing, list):
        thing[:] = values
    elif isinstance(thing, set | collections.deque):
        thing.clear()
        (thing.update if isinstance(thing, set) else thing.extend)(values)
    elif isinstance(thing, bytearray):
        copy_changes(thing, bytearray(other))
    elif isinstance(thing, _BUFFERS):
        _write_again(thing, other)
    else:
        _set_attributes(thing, dict(zip(names, values, strict=True)))


def _write_again(buffer: Any, held: Any) -> None:
    if held is not None and not buffer.closed:
        buffer.seek(0)
        buffer.truncate()
        buffer.write(held[0])
        buffer.seek(held[1])


def _set_attributes(thing: Any, attributes: dict[str, Any]) -> None:
    for name in _slots(type(thing)):
        if name in attributes:
            object.__setattr__(thing, name, attributes[name])
        elif hasattr(thing, name):
            object.__delattr__(thing, name)
    if (own := getattr(thing, "__dict__", None)) is not None:
        slots = {*_slots(type(thing))}
        own.clear()
        own.update({name: value for name, value in attributes.items() if name not in slots})


def _slots(kind: type) -> list[str]:
    members = [vars(one).items() for one in kind.__mro__ if is_of_tests(one)]
    return [name for one in members for name, member in one if isinstance(member, types.MemberDescriptorType)]


def _in_class(kind: type) -> Iterator[Any]:
    return (value for value in vars(kind).values() if isinstance(value, _CONTAINERS))


def _in_cells(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue
