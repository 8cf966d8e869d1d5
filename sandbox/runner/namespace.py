"""The global names of tests that are not files: what they leave free is the program's."""

import builtins
from collections.abc import Callable
from types import ModuleType
from typing import Any

from sandbox.runner.remote_objects import Remote
from sandbox.runner.remote_program import RemoteProgram
from sandbox.runner.specification import is_module_name


class TestNamespace(dict[str, Any]):
    """Names the tests bind themselves, then builtins, then modules they mean, then the program's.

    Args:
        program: Where free names are looked up.
        program_builtins: Builtins that are the program's all the same, if it defines them.
        module_meant: Tells which module is meant by a name, asked for those that may be one.
    """

    def __init__(
        self,
        program: RemoteProgram,
        program_builtins: frozenset[str],
        module_meant: Callable[[str], ModuleType | None],
    ) -> None:
        super().__init__({"__builtins__": builtins, "__name__": "tests"})
        self._program = program
        self._program_builtins = program_builtins
        self._module_meant = module_meant

    def __missing__(self, name: str) -> Any:
        if name in vars(builtins) and name not in self._program_builtins:
            raise KeyError(name)
        if is_module_name(name) and (module := self._module_meant(name)) is not None:
            return module
        try:
            value = self._program.get(0, name)
        except AttributeError:
            raise KeyError(name) from None
        if isinstance(value, Remote | type):
            self[name] = value
        return value
