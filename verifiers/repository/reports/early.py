"""Runs first in each Python of a container, before the working directory is on its path, as `sitecustomize`.

Where a test runner begins, it imports our plugin, which takes the key of the report, and the runner with all that it needs. So no
file of a change can be imported in the place of a module of the standard library, or of the runner. Then it runs the image's own
`sitecustomize`, which it hides. It is for any Python from 2.7 on, and no trouble of it ends a program.
"""

import sys

_GIVEN = "@GIVEN@"
_MODULES = "@MODULES@"
_PROGRAMS = "@PROGRAMS@"
"""Those that are the runner; none: each program may be it."""

try:
    with open("/proc/self/cmdline") as _file:
        _words = _file.read().split("\0")
except Exception:  # noqa: BLE001 - there may be no such file, or another encoding
    _words = []
if not _PROGRAMS or any(
    _word.rpartition("/")[2] in _PROGRAMS.split() and (_place < 2 or _words[_place - 1] == "-m")
    for _place, _word in enumerate(_words)
):
    try:
        for _module in _MODULES.split():
            __import__(_module)
    except Exception:  # noqa: BLE001, S110 - the image has no such runner for this Python, and its command will say so
        pass
try:
    import importlib.machinery
    import importlib.util

    _spec = importlib.machinery.PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != _GIVEN])
    if _spec is not None and _spec.loader is not None:
        _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
except ImportError:
    pass
