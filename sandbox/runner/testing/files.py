"""Tests that are files: writes them into the tester's own directory, and imports them from there.

Files that are not modules are written where the tests work, too.
"""

import contextlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Final

_MODULE: Final = ".py"


def written(files: Mapping[str, str], directory: str) -> list[str]:
    """Write the files. Returns those named as tests, or all modules if no file is named so.

    Raises:
        ValueError: a path leads out of the directory.
    """
    sys.dont_write_bytecode = True
    if directory not in sys.path:
        sys.path.insert(0, directory)
    for path, text in files.items():
        _write(os.path.join(directory, _inside(path)), text)
        if not path.endswith(_MODULE) and os.getcwd() != directory:
            _write(_inside(path), text)
    modules = [path for path in files if path.endswith(_MODULE)]
    return [path for path in modules if _is_named_as_test(path)] or modules


def load(path: str, directory: str) -> ModuleType:
    """Import a file that was written into the directory, as the module named after its path."""
    name = os.path.normpath(path).removesuffix(_MODULE).replace("/", ".")
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    specification = importlib.util.spec_from_file_location(name, os.path.join(directory, path))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def _write(path: str, text: str) -> None:
    """Write a new file: what a program may have laid there is no link to follow."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)


def _inside(path: str) -> str:
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal.startswith(".."):
        raise ValueError(
            f"the path of a test file leads out of its directory: {path}; use a relative path without '..'"
        )
    return normal


def _is_named_as_test(path: str) -> bool:
    name = os.path.basename(path)
    return name.startswith("test") or name.endswith((f"_test{_MODULE}", f"_tests{_MODULE}"))
