"""`python -m tests.siege.served serve …`: the service with its defaults, and what a siege must see of it.

* The loop of Lean's proofs and the containers of tasks are stand-ins, because few machines have the real ones.
* Free memory goes back to the system each quarter of a second instead of each half minute, so that rest comes soon.
* `rewardline_siege_trims_total` counts that.
* `rewardline_siege_slowness` says how many times as long fixed work on the loop takes as on a machine that does nothing else.
* `rewardline_siege_step_seconds` has the most CPU time that a step of each name has taken on the event loop. SIGUSR2 begins
  anew. `rewardline_siege_wait_seconds` has what all steps took at most while a probe may have waited. The loop is asyncio's, whose steps can be counted; what runs in them is the same.
* On SIGUSR1 the service, and each worker, collects its garbage: what counts is what is held. The bound of the garbage
  between collections is held by tests/memory/test_watch.py.
* No memory is larger than that of verdicts (`cache_memory_mb`): a small one fills all soon, and what stays beyond them shows.
* No worker is replaced because of the number of its items, since a new one holds less.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import uvloop

from memory import Store
from memory.registry import memories
from sandbox.workers import Task, Workers
from service.__main__ import main
from service.run import malloc_trim, startup
from service.run.core import Core, begin_core
from service.settings import Settings
from tests.siege import collecting
from tests.siege.steps import Steps
from tests.verifiers.lean.stand_in import WithLean
from tests.verifiers.repository.stand_in import Folders
from verifiers import registry
from verifiers.base import Resources
from verifiers.registry import Registry

_TRIM_EVERY_S = 0.25
_steps = Steps()
_trims = 0
_load, _glibc = registry.load, malloc_trim._glibc


@asynccontextmanager
async def _watched(settings: Settings) -> AsyncIterator[Core]:
    loop = asyncio.get_running_loop()
    _steps.watch(loop)
    loop.add_signal_handler(signal.SIGUSR1, collecting.collect)
    loop.add_signal_handler(signal.SIGUSR2, _steps.begin)
    async with begin_core(settings) as built:
        for store in memories():
            if isinstance(store, Store):
                store.max_bytes = min(store.max_bytes, int(settings.cache_memory_mb * 1_000_000))
        built.metrics.watch_gauges("siege_step_seconds", "The longest step", lambda: _steps.longest_s, "task")
        built.metrics.watch("siege_wait_seconds", "The longest wait of a probe", lambda: _steps.longest_wait_s)
        built.metrics.watch("siege_slowness", "How much longer fixed work takes", lambda: _steps.slowness)
        built.metrics.watch("siege_blocks", "Blocks of memory that Python has in use", sys.getallocatedblocks)
        built.metrics.watch(
            "siege_free_heap_bytes", "Free memory inside the C library's heap", collecting.free_heap_bytes
        )
        built.metrics.watch_total("siege_trims", "Times that free memory was given back", lambda: _trims)
        yield built


def _with_stand_ins(resources: Resources) -> Registry:
    resources.workers.register(Task(collecting.__name__, collecting.listen.__name__, 1.0, warm=(None,)))
    return _load(replace(resources, sandbox=WithLean(resources.sandbox), containers=Folders()))


def _counted() -> Callable[[], None] | None:
    trim = _glibc()
    if trim is None:
        return None

    def trim_and_count() -> None:
        global _trims
        trim()
        _trims += 1

    return trim_and_count


if __name__ == "__main__":
    setattr(startup, "begin_core", _watched)  # noqa: B010 - the module does not export the name
    registry.load = _with_stand_ins
    malloc_trim._TRIM_EVERY_S = _TRIM_EVERY_S
    malloc_trim._glibc = _counted
    uvloop.run = asyncio.run
    defaults = Workers.__init__.__kwdefaults__
    assert defaults is not None
    defaults["recycle_items"] = sys.maxsize
    main()
