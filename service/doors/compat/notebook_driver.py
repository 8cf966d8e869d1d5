"""Runs the cells of a notebook in one process of a box. The service reads this text, and never runs it itself.

    order (a file of JSON: cells, report, limits) ──► each cell in one namespace ──► report (a file of JSON)

What a cell displays is, in order: what it gives to `display`, the value of its last expression, and the figures of
matplotlib that are open at its end. An object is shown by its `repr`, and by those of Jupyter's methods that it has
(`_repr_png_` and the like). `IPython` and `IPython.display` are stand-ins with the names that notebooks use most. A
cell may await. Lines `!command` are run by sh, and `%matplotlib` is ignored; there are no other magics.
"""

import ast
import base64
import builtins
import contextlib
import io
import json
import linecache
import os
import re
import signal
import sys
import tempfile
import traceback
import types
import warnings
from typing import Any, BinaryIO

Bundle = dict[str, Any]
"""One displayed object: its data by media type, as Jupyter has it. Bytes are base64."""

_METHODS = {
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "image/svg+xml": "_repr_svg_",
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
}
_COROUTINE = 0x80
"""The flag of code that awaits, `inspect.CO_COROUTINE`."""
_MOST_SHOWN = 4 << 20
"""Characters. Data of an object that has more are left out."""
_shown: list[Bundle] = []


def display(*objects: Any, raw: bool = False, **_: Any) -> None:
    """Show objects, or bundles if they are `raw`."""
    for value in objects:
        _shown.append(_plain(value) if raw and isinstance(value, dict) else _bundle(value, repr(value)))


def _bundle(value: Any, text: str) -> Bundle:
    bundle: Bundle = {"text/plain": text}
    if isinstance(value, type):
        return bundle
    mime_bundle = _called(value, "_repr_mimebundle_", include=None, exclude=None)
    bundle |= mime_bundle if isinstance(mime_bundle, dict) else {}
    bundle |= {kind: data for kind, name in _METHODS.items() if (data := _called(value, name)) is not None}
    return _plain(bundle)


def _called(value: Any, name: str, **arguments: Any) -> Any:
    """The data that a method returns, without its metadata. None: there is no such method, or it does not work."""
    try:
        data = getattr(value, name)(**arguments)
    except Exception:  # noqa: BLE001 - the cell's own objects may raise anything
        return None
    return data[0] if isinstance(data, tuple) and data else data


def _plain(bundle: Bundle) -> Bundle:
    """The data that can be told."""
    plain: Bundle = {}
    for kind, data in bundle.items():
        text = base64.b64encode(data).decode() if isinstance(data, bytes) else data
        if kind == "application/json" and not isinstance(text, str):
            try:
                text = json.loads(json.dumps(text))
            except (TypeError, ValueError, RecursionError):
                continue
        elif not isinstance(text, str):
            continue
        if kind == "text/plain":
            text = text[:_MOST_SHOWN]
        if not isinstance(text, str) or len(text) <= _MOST_SHOWN:
            plain[str(kind)] = text
    return plain


class _Shown:
    """Data that are shown under one media type."""

    kind = ""

    def __init__(self, data: Any = None, url: str | None = None, filename: str | None = None, **_: Any) -> None:
        if data is None and filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data, self.url = data, url

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        data = self.data
        if isinstance(data, bytes) and not self.kind.startswith("image/"):
            data = data.decode("utf-8", "replace")
        return {self.kind: data} if data is not None else {}


class Image(_Shown):
    def __init__(self, data: Any = None, url: str | None = None, filename: str | None = None, **more: Any) -> None:
        if isinstance(data, str):  # a path, as Jupyter reads it
            data, filename = None, data
        super().__init__(data, url, filename)
        jpeg = isinstance(self.data, bytes) and self.data.startswith(b"\xff\xd8")
        self.kind = "image/jpeg" if jpeg or more.get("format") in ("jpg", "jpeg") else "image/png"


def _stand_ins() -> None:
    """Make the names importable that notebooks import from IPython."""
    kinds = {
        "HTML": "text/html",
        "Markdown": "text/markdown",
        "Latex": "text/latex",
        "SVG": "image/svg+xml",
        "JSON": "application/json",
        "Pretty": "text/plain",
    }
    classes: dict[str, Any] = {name: type(name, (_Shown,), {"kind": kind}) for name, kind in kinds.items()}
    module, package = types.ModuleType("IPython.display"), types.ModuleType("IPython")
    vars(module).update(classes, Image=Image, display=display, clear_output=lambda *_, **__: None)
    vars(package).update(display=module, get_ipython=lambda: None, version_info=(8, 0, 0, ""), __path__=[])
    sys.modules |= {"IPython": package, "IPython.display": module}
    vars(builtins)["display"] = display


def _show_figures() -> None:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        figure, data = pyplot.figure(number), io.BytesIO()
        figure.savefig(data, format="png", bbox_inches="tight")
        _shown.append(_plain({"text/plain": repr(figure), "image/png": data.getvalue()}))
    pyplot.close("all")


class Notebook:
    """The namespace that the cells share, and the event loop in which they await."""

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        self.names = module.__dict__
        self.names["__builtins__"] = builtins
        sys.modules["__main__"] = module
        self._loop: Any = None

    def execute(self, source: str, name: str) -> str | None:
        """Run a cell. The `repr` of its last expression; None if the value is None or there is no expression."""
        tree = _parsed(source, name)
        last = tree.body[-1] if tree.body else None
        value = text = None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        self._run(tree, name, "exec")
        if isinstance(last, ast.Expr):
            value = self._run(ast.Expression(last.value), name, "eval")
        if value is not None:
            self.names["_"] = value
            text = repr(value)
            _shown.append(_bundle(value, text))
        _show_figures()
        return text

    def _run(self, tree: ast.Module | ast.Expression, name: str, mode: str) -> Any:
        code = compile(tree, name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(code, self.names)  # noqa: S307 - a box is the place for it
        if not code.co_flags & _COROUTINE:
            return value
        if self._loop is None:
            import asyncio  # noqa: PLC0415 - few cells await, and it takes long to import

            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(value)


def _parsed(source: str, name: str) -> ast.Module:
    try:
        return ast.parse(source, name)
    except SyntaxError:
        lines = [_without_magic(line) for line in source.split("\n")]
        try:
            return ast.parse("\n".join(lines), name)
        except SyntaxError:
            pass
        raise


def _without_magic(line: str) -> str:
    """The line as Python, if it is a command of the shell or `%matplotlib`."""
    if match := re.fullmatch(r"(\s*)!(.*)", line):
        return f"{match[1]}__import__('subprocess').run(['sh', '-c', {match[2]!r}]) and None"
    return re.sub(r"^(\s*)%matplotlib\b.*", r"\1pass", line)


def _told(error: BaseException, max_chars: int) -> dict[str, Any]:
    """An exception as Jupyter tells it, without the frames of this driver."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, "solution.py"):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames)
    return {"ename": type(error).__name__, "evalue": str(error)[:max_chars], "traceback": lines}


def _text(file: BinaryIO, max_bytes: int) -> str:
    file.seek(0)
    return file.read(max_bytes).decode("utf-8", "replace")


def _cell(notebook: Notebook, source: str, name: str, order: dict[str, Any], streams: list[int]) -> dict[str, Any]:
    """Run a cell with its output in files, so that what its child processes write belongs to it."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    value = error = None
    _shown.clear()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        if order["cell_s"]:
            signal.setitimer(signal.ITIMER_REAL, order["cell_s"])
        try:
            value = notebook.execute(source, name)
        except BaseException as raised:  # noqa: BLE001 - also SystemExit is an error of the cell
            error = _told(raised, order["most"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the cell may have put anything there
                stream.flush()
        os.dup2(streams[0], 1)
        os.dup2(streams[1], 2)
        out_text, err_text = _text(out, order["most"]), _text(err, order["most"])
    return {"stdout": out_text, "stderr": err_text, "value": value, "display": [*_shown], "error": error}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    os.unlink(sys.argv[1])
    sys.argv = [""]
    signal.signal(signal.SIGALRM, lambda *_: os._exit(order["late"]))
    os.environ["MPLBACKEND"] = "agg"  # noqa: TID251 - of the box, for matplotlib
    warnings.filterwarnings("ignore", message=".*is non-interactive")
    _stand_ins()
    notebook = Notebook()
    streams = [os.dup(1), os.dup(2)]
    cells = enumerate(order["cells"], 1)
    report = [_cell(notebook, source, f"<cell {number}>", order, streams) for number, source in cells]
    with open(order["report"], "w", encoding="utf-8", errors="replace") as file:
        json.dump(report, file)
    os._exit(0)


if __name__ == "__main__":
    main()
