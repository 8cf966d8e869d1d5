"""Marks a worker's methods for dispatch."""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any


class Dispatch(Enum):
    ONE_TO_ALL = auto()
    DP_MP_COMPUTE = auto()


def register(dispatch_mode: Dispatch, clear_cache: bool = True) -> Callable[[Any], Any]:
    def mark(function: Any) -> Any:
        function.dispatched = {"dispatch_mode": dispatch_mode, "clear_cache": clear_cache}
        return function

    return mark
