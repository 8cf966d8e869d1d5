"""What a forked and confined process does: becomes the program, as if an interpreter had been started for it.

The interpreter is warm. So everything that `python main.py` would have made anew is made here: the module `__main__`,
the standard streams, the random state, and the order of events at the end. What a process does is one of the functions
of `_ENTRIES`. It returns the exit status of the process.
"""

import atexit
import builtins
import gc
import importlib
import io
import json
import os
import random
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from types import CodeType, CoroutineType, ModuleType
from typing import Any, Final, NamedTuple, NoReturn

from sandbox.runner.frames import receive_exactly
from sandbox.runner.isolation.confinement import restore_pipe_signal
from sandbox.runner.testing import candidate, tester
from sandbox.runner.testing.shared_files import share_files
from sandbox.runner.values import encoding

_FLUSH_FAILED: Final = 120
"""Exit status of an interpreter that cannot write its last output."""
_EXCEPTION: Final = 1
_own_streams: Final[list[io.TextIOWrapper]] = []
_seeders: Final[list[Callable[[], object]]] = []
_STREAMS: Final = (("stdin", "surrogateescape"), ("stdout", "surrogateescape"), ("stderr", "backslashreplace"))

_PRIVATE_IN, _PRIVATE_OUT = 3, 4
"""Descriptors for the arguments and the value of a call."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PythonSource:
    """A compiled program."""

    path: str
    code: CodeType


class StartFlag:
    """Tells the supervisor, through shared memory, that everything that happens from now on is the program's doing."""

    def __init__(self, page: mmap, offset: int) -> None:
        self._page = page
        self._place = offset

    def set_and_unmap(self) -> None:
        """Set the flag and unmap the memory, so that the program cannot reach it."""
        self._page[self._place] = 1
        self._page.close()

    def set_before_exec(self) -> None:
        """Set the flag in a process that is about to be replaced by exec, together with its memory."""
        self._page[self._place] = 1

    def clear(self) -> None:
        self._page[self._place] = 0


def prepare_standard_streams() -> None:
    """Make the text streams that forked processes use, once, in the runner.

    The streams remember facts about their descriptors at this moment: whether they can seek, and their block size. So
    these descriptors must be of the same kind as those of runs, a file and two pipes. Afterwards the runner no longer
    owns them.
    """
    _own_streams.clear()
    for descriptor, (name, errors) in enumerate(_STREAMS):
        stream = _text_stream(descriptor, f"<{name}>", errors)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
        _own_streams.append(stream)


def _text_stream(descriptor: int, name: str, errors: str) -> io.TextIOWrapper:
    """Make a stream as the interpreter does (create_stdio in pylifecycle.c)."""
    mode = "r" if descriptor == 0 else "w"
    binary = open(descriptor, mode + "b", closefd=False)  # noqa: SIM115 - lives as long as the process
    binary.raw.name = name  # type: ignore[attr-defined]  # a FileIO of the C library takes it
    stream = io.TextIOWrapper(binary, "utf-8", errors, "\n", line_buffering=descriptor == 2)
    stream.mode = mode  # type: ignore[misc]  # as above
    return stream


def execute(source: PythonSource, arguments: Sequence[str], environment: Mapping[str, str], flag: StartFlag) -> int:
    """Run the program as `__main__`."""
    _set_environment(environment)
    sys.argv = [source.path, *arguments]
    main = _module("__main__", source)
    _bound_stacks()
    flag.set_and_unmap()
    return _finish(_run(lambda: exec(source.code, main.__dict__)), main)  # noqa: S102 - what boxes are for


def call(
    source: PythonSource,
    function: str,
    environment: Mapping[str, str],
    flag: StartFlag,
) -> int:
    """Load the program as module `solution`, call a function, send its value.

    The process ends as soon as the value is out.
    """
    _set_environment(environment)
    sys.argv = [source.path]
    module = _module("solution", source)
    flag.set_and_unmap()

    def call_function() -> None:
        exec(source.code, module.__dict__)  # noqa: S102 - what boxes are for
        positional, keywords = _arguments()
        value = _find_function(module.__dict__, function)(*positional, **keywords)
        if type(value) is CoroutineType:
            value = importlib.import_module("asyncio").run(value)
        _write_all(_PRIVATE_OUT, encoding.encode(value))

    status = _run(call_function)
    _flush_standard_streams()
    return status


def serve(
    source: PythonSource,
    requests: int,
    replies: int,
    environment: Mapping[str, str],
    shared: str | None,
    flag: StartFlag,
) -> int:
    """Load the program as module `solution`, and answer the tester's requests.

    Args:
        source: The program.
        requests: A blocking descriptor to read from.
        replies: A blocking descriptor to write to.
        environment: More variables.
        shared: Its directory, if the tests work there, too.
        flag: See `StartFlag`.
    """
    _set_environment(environment)
    if shared is not None:
        share_files(shared)
    sys.argv = [source.path]
    module = _module("solution", source)
    flag.set_and_unmap()

    def load_and_serve() -> None:
        exec(source.code, module.__dict__)  # noqa: S102 - what boxes are for
        _flush_standard_streams()
        candidate.serve(module.__dict__, requests, replies)

    status = _run(load_and_serve)
    _flush_standard_streams()
    return status


class TesterChannels(NamedTuple):
    """Descriptors of a tester, and the length of its tests."""

    source: int
    """The connection to the service. The tests are the next bytes from it."""
    length: int
    """Length of the tests in bytes."""
    requests: int
    replies: int
    outcomes: int
    taken: int
    """A byte is written here when all tests have been read."""


def test(fields: Sequence[int], directory: str, flag: StartFlag) -> int:
    """Read the tests and run them. Their text has been in no other process of the box.

    Args:
        fields: Of `TesterChannels`.
        directory: The tests' own.
        flag: See `StartFlag`.
    """
    channels = TesterChannels(*fields)
    sys.path[0] = directory
    os.environ["HOME"] = directory  # noqa: TID251 - the tests'
    text = receive_exactly(channels.source, channels.length)
    os.close(channels.source)
    os.write(channels.taken, b"t")
    os.close(channels.taken)
    flag.set_and_unmap()
    _seed()
    spec: dict[str, object] = json.loads(text)
    return _run(lambda: tester.run(spec, channels.requests, channels.replies, channels.outcomes, directory))


def start(argv: Sequence[str], environment: Mapping[str, str], flag: StartFlag) -> NoReturn:
    """Become another program.

    Raises:
        OSError: it cannot be executed.
    """
    restore_pipe_signal()
    flag.set_before_exec()
    try:
        os.execve(argv[0], list(argv), environment)  # noqa: S606 - no shell is wanted
    except OSError:
        flag.clear()
        raise


def raise_recursion_limit(frames: int) -> None:
    """Raise the recursion limit, so that programs can recurse as deep as if their own first frame were the lowest.

    Args:
        frames: How many frames there will be between the caller's own and the program's first.
    """
    frame = sys._getframe(1)
    while frame is not None:
        frames, frame = frames + 1, frame.f_back  # type: ignore[assignment]  # the last has none
    sys.setrecursionlimit(sys.getrecursionlimit() + frames)


_OF_PYTHON: Final = ("execute", "call", "serve")
_ENTRIES: Final[Mapping[str, Callable[..., int]]] = {
    "execute": execute,
    "call": call,
    "serve": serve,
    "test": test,
    "start": start,
}


def run_entry(entry: Sequence[Any], source: PythonSource | None, flag: StartFlag) -> int:
    """Call the function that the first item of `entry` names, with the rest as arguments."""
    gc.enable()
    name, *arguments = entry
    if name in _OF_PYTHON:
        return _ENTRIES[name](source, *arguments, flag)
    return _ENTRIES[name](*arguments, flag)


def find_generators_to_seed() -> None:
    """Find, once, in the runner, the generators to be seeded anew in each fork.

    The modules it loads are loaded for all forks.
    """
    # The method of the C implementation: `random.Random.seed` is written in Python and only calls it.
    _seeders.append(super(random.Random, random._inst).seed)  # behind random.random()
    if "numpy" in sys.modules:
        _seeders.append(importlib.import_module("numpy.random").seed)


def _seed() -> None:
    for seed in _seeders:
        seed()


def _set_environment(environment: Mapping[str, str]) -> None:
    if environment:
        os.environ.update(environment)  # noqa: TID251 - the program's


def _bound_stacks() -> None:
    """Reserve at most a part of the memory for the stack of a thread, however large a program asks for.

    `threading.stack_size(512 << 20)` is common before a deep recursion, which uses little of it: since Python 3.11 only
    calls through C use the stack. But the kernel counts all that is reserved.
    """
    data_bytes, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if data_bytes == resource.RLIM_INFINITY:
        return
    set_stack_size = threading.stack_size

    def stack_size(size: int = 0, /) -> int:
        return set_stack_size(min(size, data_bytes // _STACKS_IN_MEMORY))

    threading.stack_size = stack_size


_STACKS_IN_MEMORY: Final = 4


def _module(name: str, source: PythonSource) -> ModuleType:
    module = ModuleType(name)
    namespace = module.__dict__
    namespace["__builtins__"] = builtins
    namespace["__file__"] = source.path
    namespace["__cached__"] = None
    namespace["__annotations__"] = {}
    sys.modules[name] = module
    _seed()
    return module


def _run(step: Callable[[], None]) -> int:
    """Do a step and report its exception as the interpreter does. Returns the exit status."""
    try:
        step()
    except SystemExit as request:
        return _exit_status(request)
    except BaseException as error:  # noqa: BLE001 - whatever the program raises is reported as its own
        return _report(error)
    return 0


def _exit_status(request: SystemExit) -> int:
    code = request.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    _flush(sys.stdout)
    sys.stderr.write(f"{code}\n")
    return _EXCEPTION


def _report(error: BaseException) -> int:
    """Print the traceback without the frames of this module."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == _report.__code__.co_filename:
        trace = trace.tb_next
    error.__traceback__ = trace
    _flush(sys.stdout)
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException as failure:  # noqa: BLE001 - the program's own hook
        sys.__excepthook__(type(failure), failure, failure.__traceback__)
    return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else _EXCEPTION


def _finish(status: int, main: ModuleType) -> int:
    """End as an interpreter does: threads, atexit, streams, and the objects of the main module."""
    try:
        if threading.active_count() > 1:
            threading._shutdown()  # type: ignore[attr-defined]  # what Py_FinalizeEx calls
    except BaseException as error:  # noqa: BLE001 - an interrupt or an exit while waiting is only reported
        _report(error)
    atexit._run_exitfuncs()
    is_flushed = _flush_standard_streams()
    for name, _ in _STREAMS:  # the program's replacements must not be called after its names are cleared
        setattr(sys, name, getattr(sys, f"__{name}__", None))
    _clear(main.__dict__)
    for stream in _own_streams:  # the program may have replaced them
        _flush(stream)
    if not (is_flushed and _flush_standard_streams()):
        return _FLUSH_FAILED
    if status == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return status


def _flush_standard_streams() -> bool:
    failure = _flush(sys.stdout)
    if failure is not None and sys.stderr is not None:
        sys.stderr.write(f"Exception ignored in: {sys.stdout!r}\n{type(failure).__name__}: {failure}\n")
    return _flush(sys.stderr) is None and failure is None


def _flush(stream: Any) -> BaseException | None:
    """Flush a stream; the error if that failed. A stream that was closed or removed has nothing to lose."""
    try:
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()
    except BaseException as error:  # noqa: BLE001 - the program may have replaced the stream by anything
        return error
    return None


def _clear(namespace: dict[str, Any]) -> None:
    """Drop a module's objects, so that files are written and `__del__` is called (_PyModule_ClearDict)."""
    for name in list(namespace):
        if name[:1] == "_" and name[:2] != "__":
            namespace[name] = None
    for name in list(namespace):
        if name != "__builtins__":
            namespace[name] = None


def _arguments() -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call.

    The digit limit is lifted: it protects against untrusted numbers, and these are the task's own.
    """
    with open(_PRIVATE_IN, "rb") as file:
        text = file.read()
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        positional, keywords, *images = json.loads(text)
    finally:
        sys.set_int_max_str_digits(digits)
    return (encoding.decode_image(images[0]) if images else positional), keywords


def _find_function(namespace: dict[str, Any], name: str) -> Any:
    """A method of a fresh `Solution`, or a function at module level."""
    solution = namespace.get("Solution")
    if isinstance(solution, type) and hasattr(solution, name):
        return getattr(solution(), name)
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def _write_all(descriptor: int, data: bytes) -> None:
    unwritten = memoryview(data)
    while unwritten:
        unwritten = unwritten[os.write(descriptor, unwritten) :]
