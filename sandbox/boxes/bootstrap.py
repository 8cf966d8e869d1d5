"""The bootstrap of a box: the runner's code is sent through the connection, as one archive, before anything else.

A box starts a bare interpreter with a few lines of bootstrap. They read one frame: its header is the runner's
`Configuration`, its body is a zip archive of the runner's modules. So no backend mounts or bakes in our code, and a box
always runs the version of the runner that belongs to this service. The archive also holds byte code, for interpreters
of the service's own version. Other versions compile the source, which takes a tenth of a second.
"""

import asyncio
import dataclasses
import io
import json
import py_compile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from memory import remember
from sandbox.runner.configuration import Configuration
from sandbox.runner.frames import LENGTHS

_SANDBOX: Final = Path(__file__).parent.parent
RUNNER: Final = "sandbox.runner.zygote"
ENVIRONMENT: Final[Mapping[str, str]] = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "TZ": "UTC", "LD_BIND_NOW": "1"}
"""Environment of the interpreter, not of programs. LD_BIND_NOW: what the loader binds at the start, forks need not bind
one by one (ld.so(8)).
"""

_packed: Final[dict[tuple[str, ...], bytes]] = {}
"""The archives so far, by the modules that were added."""

_BOOTSTRAP: Final = """\
import importlib, json, os, struct, sys
def exactly(count):
    data = b""
    while len(data) < count:
        piece = os.read(source, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data
kind, _, where = sys.argv[1].partition(":")
if kind == "unix":
    import socket
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(where)
    source = sink = connection.detach()
elif kind == "fd":
    source = sink = int(where)
else:
    source, sink = 0, 1
header_bytes, archive_bytes = struct.unpack("!II", exactly(8))
header = json.loads(exactly(header_bytes))
archive = os.path.join(header["directory"], "runner.zip")
with open(archive, "wb") as file:
    file.write(exactly(archive_bytes))
sys.path.insert(0, archive)
module = importlib.import_module(sys.argv[2])
sys.path.remove(archive)
os.unlink(archive)
module.main(source, sink, header)
"""


def command(python: str, transport: str, *, with_site: bool, module: str = RUNNER) -> list[str]:
    """The first command of a box.

    Args:
        python: Path of the interpreter in the box.
        transport: `unix:PATH` connects to a socket, `fd:N` uses an inherited one, `stdio` uses descriptors 0 and 1.
        with_site: Whether installed packages can be imported.
        module: A module of the archive in the first frame: its `main(source, sink, header)` is called.
    """
    options = () if with_site else ("-S",)
    return [python, "-s", *options, "-u", "-c", _BOOTSTRAP, transport, module]


def first_frame(configuration: Configuration, *, has_runner: bool = False) -> bytes:
    """The first frame for a box that runs `command`, or has the runner already."""
    text = _as_json(configuration)
    modules = b"" if has_runner else archive()
    return LENGTHS.pack(len(text), len(modules)) + text + modules


@remember(16)
def _as_json(configuration: Configuration) -> bytes:
    return json.dumps(dataclasses.asdict(configuration)).encode()


def frame(header: Mapping[str, Any], modules: bytes) -> bytes:
    """The first frame for any process that runs `command`."""
    text = json.dumps(header).encode()
    return LENGTHS.pack(len(text), len(modules)) + text + modules


async def pack(*modules: str) -> bytes:
    """`archive` for the event loop: the first time the runner is compiled, which takes a tenth of a second."""
    return archive(*modules) if modules in _packed else await asyncio.to_thread(archive, *modules)


def archive(*modules: str) -> bytes:
    """A zip archive of the runner's modules, stored uncompressed: an interpreter without zlib can import it too.

    Args:
        *modules: Paths below `sandbox` of modules to add. Nothing else of their packages is included.
    """
    if modules not in _packed:
        _packed[modules] = _archive(modules)
    return _packed[modules]


def _archive(modules: tuple[str, ...]) -> bytes:
    packed = io.BytesIO()
    paths = [*sorted((_SANDBOX / "runner").rglob("*.py")), *(_SANDBOX / module for module in modules)]
    with zipfile.ZipFile(packed, "w") as file, TemporaryDirectory() as folder:
        for package in sorted({parent for module in modules for parent in _packages(module)} | {"sandbox"}):
            file.writestr(f"{package}/__init__.py", "")
        for path in paths:
            name = f"sandbox/{path.relative_to(_SANDBOX)}"
            file.writestr(name, path.read_bytes())
            file.writestr(f"{name}c", _compiled(path, name, Path(folder) / f"{path.name}c"))
    return packed.getvalue()


def _packages(module: str) -> list[str]:
    """The packages of a module: `boxes/local/enter.py` is in sandbox/boxes and sandbox/boxes/local."""
    return [f"sandbox/{parent}" for parent in Path(module).parents if parent.name]


def _compiled(path: Path, name: str, to: Path) -> bytes:
    """Byte code that is never checked against its source, because both are in the same archive."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), str(to), dfile=name, doraise=True, invalidation_mode=mode)
    return to.read_bytes()
