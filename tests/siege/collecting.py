"""Collects the garbage of a process when it is told to."""

import gc
import signal

from memory import watch
from sandbox.workers import worker_function

_trim = watch.trimming()


def collect() -> None:
    gc.collect()
    _trim()


@worker_function
def listen(_: object) -> None:
    """The process that workers are forked from does this once. Each of them collects on SIGUSR1 then."""
    signal.signal(signal.SIGUSR1, lambda *_: collect())
