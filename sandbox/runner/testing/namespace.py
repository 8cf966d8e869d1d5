"""The global names of tests that are not files: names that tests do not define are looked up in the program."""

import ast
import builtins
import contextlib
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from sandbox.runner.testing import library
from sandbox.runner.testing.object_server import NAMESPACE, lent_class, named_tuple_class
from sandbox.runner.testing.remote_exceptions import is_shareable
from sandbox.runner.testing.remote_objects import Remote
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification, is_module_name, parsed


class NameResolution:
    """Which object tests mean by names they do not define. Found out once for all their cases."""

    def __init__(self, specification: Specification) -> None:
        self.program_builtins = specification.program_builtins()
        """Names of builtins that mean the program's object, if the program defines them."""
        self.module_meant: Callable[[str], ModuleType | None] = cache(specification.module_meant)
        self.library_object: Callable[[str], Any] = cache(specification.library_object)


class TestNamespace(dict[str, Any]):
    """Looks up names first in the tests, then in builtins, then in the library if that is meant, then in the program.

    Args:
        program: Where free names are looked up.
        names: Says which of them are not looked up there.
    """

    def __init__(self, program: RemoteProgram, names: NameResolution) -> None:
        super().__init__({"__builtins__": builtins, "__name__": NAMESPACE})
        self._program = program
        self._names = names

    def __setitem__(self, name: str, value: Any) -> None:
        """Bind a name.

        Classes that tests define are given to the program too, as in one file: it may make a `ListNode`.
        """
        super().__setitem__(name, value)
        if isinstance(value, type) and (lent_class(value) is value or named_tuple_class(value) is not None):
            self._program.set(0, name, value)
        elif is_shareable(value) and value.__name__ == name:
            self._program.share_exception(value)

    def load_for_classes(self, source: str) -> None:
        """Bind the names that class bodies of a source use: the interpreter asks for those without `__missing__`."""
        if "class " not in source:
            return
        classes = (node for node in ast.walk(parsed(source)) if isinstance(node, ast.ClassDef))
        for node in (node for outer in classes for node in ast.walk(outer)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self:
                with contextlib.suppress(KeyError):
                    self[node.id]

    def __missing__(self, name: str) -> Any:
        if name in vars(builtins) and name not in self._names.program_builtins:
            raise KeyError(name)
        if is_module_name(name) and (module := self._names.module_meant(name)) is not None:
            return module
        if name in library.MODULES and (library_member := self._names.library_object(name)) is not None:
            return library_member
        try:
            value = self._program.get(0, name)
        except AttributeError:
            raise KeyError(name) from None
        if isinstance(value, Remote | type):
            self[name] = value
        return value
