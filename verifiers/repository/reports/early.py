"""Runs first in each Python of a container, before the working directory is on its path, as `sitecustomize`.

Where pytest begins, it imports our plugin, which takes the key of the report, and pytest with all that it needs. So no file
of a change can be imported in the place of a module of the standard library, or of pytest. Then it runs the image's own
`sitecustomize`, which it hides. It is for any Python from 2.7 on, and no trouble of it ends a program.
"""

import sys

_GIVEN = "@GIVEN@"
_PYTESTS = ("pytest", "py.test")

try:
    with open("/proc/self/cmdline") as _file:
        _words = _file.read().split("\0")
except Exception:  # noqa: BLE001 - there may be no such file, or another encoding
    _words = []
if any(
    _word.rpartition("/")[2] in _PYTESTS and (_place < 2 or _words[_place - 1] == "-m")
    for _place, _word in enumerate(_words)
):
    try:
        __import__("@PLUGIN@")
        __import__("pytest")
        __import__("runpy")
        __import__("pkgutil")
    except Exception:  # noqa: BLE001, S110 - the image has no pytest for this Python, and its command will say so
        pass
try:
    import importlib.machinery
    import importlib.util

    _spec = importlib.machinery.PathFinder.find_spec("sitecustomize", [path for path in sys.path if path != _GIVEN])
    if _spec is not None and _spec.loader is not None:
        _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
except ImportError:
    pass
