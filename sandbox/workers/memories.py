"""What a process remembers of the texts that it was given, and how it forgets them.

Functions remember results by their arguments (`functools.lru_cache`), so a text that was there before costs less time. If
owners of texts are to learn nothing of each other, a process forgets before it takes a text of another owner. What has no
bound is a table of ours (`functools.cache`), and stays.
"""

import gc
import re
import sys
from collections.abc import Callable
from functools import _lru_cache_wrapper
from typing import Any

_forgetting: list[Callable[[], object]] = [re.purge]
_caches: "list[_lru_cache_wrapper[Any]]" = []


def forgets(memory: Callable[[], object]) -> None:
    """Have this called when a process is to forget: for memories that are no `lru_cache`."""
    _forgetting.append(memory)


def find() -> None:
    """Find the memories of all modules. Call it when all are imported."""
    is_frozen = gc.get_freeze_count() > 0
    gc.unfreeze()  # what is frozen is not listed
    _caches[:] = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper) and _is_bounded(each)]
    if is_frozen:
        gc.freeze()


def forget() -> None:
    """Forget all that was remembered of texts."""
    for memory in _forgetting:
        memory()
    for cache in _caches:
        cache.cache_clear()
    if (regex := sys.modules.get("regex")) is not None:
        regex.purge()


def _is_bounded(function: "_lru_cache_wrapper[Any]") -> bool:
    return function.cache_parameters()["maxsize"] is not None
