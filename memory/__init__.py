"""What a process remembers so that it need not be made again: each memory bounded in bytes, all of them counted and watched.

    remember      a function remembers its results                                 memos.py
    Store         values by key; the least recently used go                        store.py
    registry      every memory of the process by name: entries, bytes, halving, forgetting
    sizes         the bytes of a value with all that it holds
    watch         collects garbage as the process grows, and halves the memories of one that is too large

A memory whose keys are texts of callers is one of these two, so that nobody can fill a process with texts. A table of our own
data, which the code bounds (`functools.cache`), is none.
"""

from memory.memos import remember
from memory.registry import (
    Holding,
    drop_overfull,
    find_libraries,
    forget,
    forgets,
    halve,
    holdings,
    settle,
    settling,
    total_bytes,
)
from memory.sizes import exact, size_of
from memory.store import Store
from memory.watch import GRADUAL_GROWTH_BYTES, GRADUAL_THRESHOLDS, Watch, machine_bytes, resident_bytes, trimming

__all__ = [
    "GRADUAL_GROWTH_BYTES",
    "GRADUAL_THRESHOLDS",
    "Holding",
    "Store",
    "Watch",
    "drop_overfull",
    "exact",
    "find_libraries",
    "forget",
    "forgets",
    "halve",
    "holdings",
    "machine_bytes",
    "remember",
    "resident_bytes",
    "settle",
    "settling",
    "size_of",
    "total_bytes",
    "trimming",
]
