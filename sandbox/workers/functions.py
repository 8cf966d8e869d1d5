"""Functions that workers may call. Each is registered where it is defined, so that a task can name no other."""

import importlib
from collections.abc import Callable
from typing import Any, Final, TypeVar

from sandbox.workers.base import Task

Function = Callable[[Any], Any]
F = TypeVar("F", bound=Function)

_FUNCTIONS: dict[tuple[str, str], Function] = {}


def worker_function(function: F) -> F:
    """Decorator: let tasks name this function of a module, which takes and returns plain data."""
    _FUNCTIONS[function.__module__, function.__name__] = function
    return function


def find(module: str, name: str) -> Function:
    """Import a module and return its registered function.

    Raises:
        LookupError: the module has no registered function of this name.
    """
    importlib.import_module(module)
    function = _FUNCTIONS.get((module, name))
    if function is None:
        functions = sorted(function_name for of, function_name in _FUNCTIONS if of == module)
        raise LookupError(
            f"{module}.{name} is not a worker function: write @worker_function above it; {module} has {functions}"
        )
    return function


@worker_function
def by_name(named: tuple[str, str, Any]) -> Any:
    """Import a module, and call its registered function with a payload."""
    module, name, payload = named
    return find(module, name)(payload)


BY_NAME: Final = Task(__name__, "by_name", time_limit_s=1.0)
"""Any task, imported when it is asked for: `[module, function, payload]`. It is for pools that have few items to come."""
