"""Attacks on resources outside: the network, files, the environment, other processes."""

import contextlib
import hashlib
from pathlib import Path
from typing import Final

from sandbox.base import Sandbox
from sandbox.self_check.attack import run_and_parse
from sandbox.self_check.outside import Outside

_NETWORK: Final = """\
import socket
def tcp():
    socket.create_connection(("127.0.0.1", FACTS["tcp"]), 0.5)
    return True
def route(family, address):
    # Connecting a datagram socket sends nothing: it only asks for a route.
    def action():
        socket.socket(family, socket.SOCK_DGRAM).connect((address, 9))
        return True
    return action
def abstract():
    socket.socket(socket.AF_UNIX).connect("\\0" + FACTS["abstract"])
    return True
def opens(family, kind, protocol=0):
    return lambda: socket.socket(family, kind, protocol)
attempt("the service's loopback", tcp)
attempt("a route", route(socket.AF_INET, "192.0.2.1"))
attempt("a route of IPv6", route(socket.AF_INET6, "2001:db8::1"))
attempt("an abstract socket of the service's machine", abstract)
attempt("raw packets", opens(socket.AF_PACKET, socket.SOCK_RAW, 3))
attempt("raw IP", opens(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("the hypervisor's sockets", opens(40, socket.SOCK_STREAM))
attempt("network interfaces", lambda: [name for _, name in socket.if_nameindex() if name != "lo"])
"""


async def network(sandbox: Sandbox, outside: Outside) -> str:
    through = (await run_and_parse(sandbox, _NETWORK, outside))[1]
    for listener in (outside.tcp, outside.abstract):
        with contextlib.suppress(BlockingIOError):
            listener.accept()[0].close()
            through = through or "a connection arrived"
    return through


_HOST_FILES: Final = """\
import hashlib
pid = FACTS["neighbour"]
roots = ["", "/proc/1/root", "/proc/self/root", "/proc/%d/root" % pid, "/proc/%d/cwd/.." % pid, "/..", "../../../../.."]
for root in roots:
    try:
        print("read", content(root + FACTS["canary"]).decode())
    except OSError:
        pass
    try:
        print("shadow", hashlib.sha256(content(root + "/etc/shadow")).hexdigest())
    except OSError:
        pass
def link():
    os.symlink(FACTS["canary"], "link")
    return content("link")
def hard_link():
    os.link(FACTS["canary"], "hard")
    return True
attempt("the canary by a link", link)
attempt("the canary by a hard link", hard_link)
attempt("the canary's directory", lambda: os.listdir(os.path.dirname(FACTS["canary"])))
"""


async def host_files(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await run_and_parse(sandbox, _HOST_FILES, outside)
    reached = [through] if through else []
    if f"read {outside.secret}" in lines:
        reached.append("a file of the service's machine")
    if f"shadow {_password_hashes()}" in lines:
        reached.append("the password hashes of the service's machine")
    return ", ".join(reached)


def _password_hashes() -> str:
    try:
        return hashlib.sha256(Path("/etc/shadow").read_bytes()[:4096]).hexdigest()
    except OSError:
        return "cannot be read"


_USUAL_NAMES: Final = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "PWD", "SHLVL", "TERM", "TZ", "_"}
    | {"MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""Names of environment variables that reveal nothing, or that boxes set themselves."""

_ENVIRONMENT: Final = """\
import glob, hashlib
pairs = {("%s=%s" % pair).encode() for pair in os.environ.items()}
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        pairs.update(open(path, "rb").read().split(b"\\0"))
    except OSError:
        pass
for pair in pairs:
    print("pair", hashlib.sha256(pair).hexdigest())
"""


async def environment(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await run_and_parse(sandbox, _ENVIRONMENT, outside)
    if through:
        return through
    printed = frozenset(lines)
    leaked = {name for name, line in _own_environment().items() if line in printed} - _USUAL_NAMES
    return ", ".join(sorted(name for name in leaked if not name.startswith("PYTHON")))


def _own_environment() -> dict[str, str]:
    """For each of our variables, the line that the attack prints when it has seen it."""
    pairs = Path("/proc/self/environ").read_bytes().split(b"\0")
    return {
        pair.partition(b"=")[0].decode(errors="replace"): f"pair {hashlib.sha256(pair).hexdigest()}"
        for pair in pairs
        if pair
    }


_WRITES: Final = """\
def write():
    with open(FACTS["written"], "w") as file:
        file.write("x")
    return True
attempt("a file where anybody may write", write)
opens(FACTS["canary"], os.O_WRONLY)
for path in ("/etc/passwd", "/etc/ld.so.cache", "/usr/bin/env", "/bin/sh", sys.executable, os.__file__, json.__file__):
    opens(path, os.O_WRONLY | os.O_APPEND)
for path in ("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/1/oom_score_adj",
             "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/cgroup.procs", "/proc/1/mem", "/proc/1/clear_refs"):
    opens(path, os.O_WRONLY)
for path in ("/", "/usr", "/etc", "/dev", "/proc", os.path.dirname(os.__file__)):
    name = os.path.join(path, "written-by-a-box")
    opens(name, os.O_WRONLY | os.O_CREAT)
    try:
        os.unlink(name)
    except OSError:
        pass
"""


async def writes(sandbox: Sandbox, outside: Outside) -> str:
    through = (await run_and_parse(sandbox, _WRITES, outside))[1]
    if (outside.directory / "written").exists() or outside.canary.read_text() != outside.secret:
        through = through or "a file of the service's machine was written"
    return through


PROCESSES: Final = """\
import ctypes, glob, signal
libc = ctypes.CDLL(None, use_errno=True)
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print("saw", content(path).decode(errors="replace").split("\\0")[0])
    except OSError:
        pass
def terminates(target):
    os.kill(target, signal.SIGTERM)
    return True
def seizes(target):
    return libc.ptrace(0x4206, target, None, None) == 0
def raises_limits(target):
    import resource
    return resource.prlimit(target, resource.RLIMIT_NOFILE)
runner = os.getppid()
attempt("ptrace of a neighbour", neighbour(seizes))
attempt("the limits of a neighbour", neighbour(raises_limits))
attempt("ptrace of the runner", lambda: seizes(runner))
attempt("the limits of the runner", lambda: raises_limits(runner))
for number in {1, runner} - {0}:
    for name in ("environ", "maps", "mem", "auxv", "stack", "io", "syscall"):
        opens("/proc/%d/%s" % (number, name), os.O_RDONLY)
    for name in ("fd", "map_files", "fdinfo", "root", "cwd"):
        opens("/proc/%d/%s" % (number, name), os.O_RDONLY | os.O_DIRECTORY)
attempt("a signal to a neighbour", neighbour(terminates))
"""


async def processes(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await run_and_parse(sandbox, PROCESSES, outside)
    if f"saw {outside.neighbour_mark}" in lines:
        through = through or "the command line of a neighbour"
    if outside.neighbour.poll() is not None:
        through = through or "a neighbour was ended"
    return through


ATTRIBUTES: Final = """\
attempt("the mode of a file", lambda: os.chmod(FACTS["canary"], 0o600) is None)
attempt("the times of a file", lambda: os.utime(FACTS["canary"], (1, 1)) is None)
def chooses_processors(target):
    return os.sched_setaffinity(target, os.sched_getaffinity(0)) is None
def yields(target):
    return os.setpriority(os.PRIO_PROCESS, target, 19) is None
attempt("the processors of a neighbour", neighbour(chooses_processors))
attempt("the priority of a neighbour", neighbour(yields))
"""
