"""Copies the changes that a call made to its arguments to the tester's own objects."""

import collections
from typing import Any


def copy_changes(old: Any, new: Any) -> Any:
    """The argument after the call: the old value, changed in place if possible, or else the new one."""
    if isinstance(old, list) and isinstance(new, list):  # numbers.sort()
        kept = len(old)
        old[:] = [copy_changes(old[i], item) if i < kept else item for i, item in enumerate(new)]
    elif isinstance(old, dict) and isinstance(new, dict):  # counts["a"] = 1
        items = {key: copy_changes(old[key], item) if key in old else item for key, item in new.items()}
        old.clear()
        old.update(items)
    elif isinstance(old, set) and isinstance(new, set):  # seen.add(1)
        old.clear()
        old.update(new)
    elif isinstance(old, bytearray) and isinstance(new, bytearray):  # buffer.reverse()
        old[:] = new
    elif isinstance(old, collections.deque) and isinstance(new, collections.deque):  # queue.popleft()
        old.clear()
        old.extend(new)
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):  # pair[0].append(1)
        return _copied_tuple(old, new)
    elif type(old).__module__ == type(new).__module__ == "numpy" and old.shape == new.shape:  # matrix[0] = 1
        old[...] = new
    elif type(old) is type(new) and type(old).__module__.partition(".")[0] == "pandas" and hasattr(old, "iloc"):
        old._update_inplace(new)  # as methods with `inplace=True` do
    else:
        return new
    return old


def _copied_tuple(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    items = [copy_changes(before, after) for before, after in zip(old, new, strict=True)]
    return old if all(before is after for before, after in zip(old, items, strict=True)) else tuple(items)
