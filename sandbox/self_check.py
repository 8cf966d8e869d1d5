"""Attacks that every sandbox must survive, carried out through nothing but its public contract.

    outside: a canary file, listeners, a neighbouring process, the service's environment
                                    │
    check ──► attack ──► Sandbox ──►│ the program tries to get at them, and prints what it reached
      ▲                             │
      └──── looks at what the program said, how it ended, and whether anything outside was touched

What a program says counts against the sandbox only: a program that does not come to its last line has shown nothing, so
the sandbox has not held. `SHORT` takes well under two seconds and is meant for the start of the service, `LONG` adds
what takes more. Nothing here does harm where a sandbox lets everything through.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from sandbox.base import Execute, Exit, Isolation, Limits, Program, Run, RunResult, Sandbox, Tests, TestStyle


class Extent(Enum):
    """How much is tried."""

    SHORT = "short"
    LONG = "long"


SHORT: Final = Extent.SHORT
LONG: Final = Extent.LONG


@dataclass(frozen=True, slots=True)
class Finding:
    """What one attack came to."""

    name: str
    held: bool
    detail: str
    """What the attack tried; after it, when the sandbox did not hold, what got through."""


@dataclass(frozen=True, slots=True)
class Report:
    """What all attacks came to."""

    isolation: Isolation
    findings: Sequence[Finding]
    not_promised: Sequence[str]
    """Attacks left out, as this kind of sandbox makes no promise about them: its caveats say so."""

    @property
    def held(self) -> bool:
        return all(finding.held for finding in self.findings)


async def check(sandbox: Sandbox, which: Extent = SHORT) -> Report:
    """Attack a started sandbox.

    Raises:
        SandboxUnavailable: programs could not be run.
    """
    attacks = [attack for attack in ATTACKS if which is LONG or attack.is_short]
    promised = [attack for attack in attacks if sandbox.isolation not in attack.not_promised_by]
    with outside() as untouchable:
        findings = [await _finding(attack, sandbox, untouchable) for attack in promised]
    left_out = [attack.name for attack in attacks if attack not in promised]
    return Report(sandbox.isolation, findings, left_out)


async def _finding(attack: "Attack", sandbox: Sandbox, outside: "Outside") -> Finding:
    reached = (await attack.carry_out(sandbox, outside)).split(", ")
    gaps = attack.gaps.get(sandbox.isolation, frozenset())
    through = ", ".join(name for name in reached if _PID.sub("/proc/N/", name) not in gaps)
    return Finding(attack.name, not through, f"{attack.tries} Got through: {through}" if through else attack.tries)


@dataclass(frozen=True, slots=True)
class Outside:
    """What programs must not get at."""

    directory: Path
    """Anybody may read and write in it."""
    secret: str
    """In the canary file, and nowhere else."""
    tcp: socket.socket
    abstract: socket.socket
    neighbour: "subprocess.Popen[bytes]"
    neighbour_mark: str
    """Its name in its command line."""

    @property
    def canary(self) -> Path:
        return self.directory / "canary"

    def facts(self) -> dict[str, object]:
        """What attacking programs are told."""
        return {
            "canary": str(self.canary),
            "written": str(self.directory / "written"),
            "tcp": self.tcp.getsockname()[1],
            "abstract": self.abstract.getsockname()[1:].decode(),
            "neighbour": self.neighbour.pid,
        }


@contextlib.contextmanager
def outside() -> Iterator[Outside]:
    """What there is to get at, as long as the attacks last."""
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="canary-"))
        stack.callback(shutil.rmtree, directory)
        directory.chmod(0o777)
        secret, mark = secrets.token_hex(16), secrets.token_hex(8)
        (directory / "canary").write_text(secret)
        (directory / "canary").chmod(0o666)
        neighbour = subprocess.Popen([mark, "600"], executable=_SLEEP)  # noqa: S603 - our own
        stack.callback(neighbour.wait)
        stack.callback(neighbour.kill)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{secrets.token_hex(8)}")
        abstract.listen()
        for listener in (tcp, abstract):
            listener.setblocking(False)
        yield Outside(directory, secret, tcp, abstract, neighbour, mark)


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to misbehave."""

    name: str
    tries: str
    """One sentence."""
    carry_out: Callable[[Sandbox, Outside], Awaitable[str]]
    """Says what got through; nothing, when the sandbox held."""
    is_short: bool = True
    not_promised_by: frozenset[Isolation] = frozenset()
    gaps: Mapping[Isolation, frozenset[str]] = field(default_factory=dict)
    """Of what is attempted, what such a sandbox lets through and says so among its caveats."""


_SLEEP: Final = "/bin/sleep"
_LIMITS: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=256, processes=32)
_REACHED: Final = "reached: "
_DONE: Final = "done"
_USUAL_NAMES: Final = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "PWD", "SHLVL", "TERM", "TZ", "_"}
    | {"MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
)
"""Of environment variables that say nothing, or that boxes have of their own."""

_PRELUDE: Final = """\
import json, os, sys
FACTS = json.loads(%r)
def attempt(name, action):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open("/dev/null", os.O_RDWR), 2)
            code = 7 if action() else 1
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7:
        print("reached:", name, flush=True)
def opens(path, flags):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
        print("reached:", path, flush=True)
    except OSError:
        pass
def content(path):
    with open(path, "rb") as file:
        return file.read(4096)
"""
"""Each attempt is a process of its own: one that is killed for trying does not keep the others from being tried."""


async def _results(
    sandbox: Sandbox, source: str, outside: Outside, runs: Sequence[Run] = (Execute(limits=_LIMITS),)
) -> Sequence[RunResult]:
    """Of each run; fewer than the runs when it could not be built."""
    results: dict[int, RunResult] = {}

    def keep(position: int, result: RunResult) -> bool:
        results[position] = result
        return True

    await sandbox.run(Program(_PRELUDE % json.dumps(outside.facts()) + source), runs, keep)
    return [results[position] for position in sorted(results)]


async def _said(sandbox: Sandbox, source: str, outside: Outside, limits: Limits = _LIMITS) -> tuple[list[str], str]:
    """The lines a program printed, and what it says it reached or why it came to no end."""
    results = await _results(sandbox, f"{source}\nprint({_DONE!r})\n", outside, [Execute(limits=limits)])
    if not results:
        return [], "the attack could not be loaded"
    lines = results[0].stdout.decode(errors="replace").splitlines()
    reached = [line.removeprefix(_REACHED) for line in lines if line.startswith(_REACHED)]
    if not reached and _DONE not in lines:
        return lines, f"the attack came to no end: {_ending(results[0])}"
    return lines, ", ".join(reached)


def _ending(result: RunResult) -> str:
    words = result.stderr.decode(errors="replace").strip().splitlines()
    return f"{result.exit}, code {result.code}, signal {result.signal}, {words[-1] if words else 'no words'}"


def _attempts(source: str) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack that is nothing but attempts which must fail."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        return (await _said(sandbox, source, outside))[1]

    return carry_out


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


async def _network(sandbox: Sandbox, outside: Outside) -> str:
    through = (await _said(sandbox, _NETWORK, outside))[1]
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


async def _host_files(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await _said(sandbox, _HOST_FILES, outside)
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


async def _environment(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await _said(sandbox, _ENVIRONMENT, outside)
    if through:
        return through
    said = frozenset(lines)
    known = {name for name, line in _own_environment().items() if line in said} - _USUAL_NAMES
    return ", ".join(sorted(name for name in known if not name.startswith("PYTHON")))


def _own_environment() -> dict[str, str]:
    """Each variable, and what the attack prints when it has seen it."""
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


async def _writes(sandbox: Sandbox, outside: Outside) -> str:
    through = (await _said(sandbox, _WRITES, outside))[1]
    if (outside.directory / "written").exists() or outside.canary.read_text() != outside.secret:
        through = through or "a file of the service's machine was written"
    return through


_PROCESSES: Final = """\
import ctypes, glob, signal
libc = ctypes.CDLL(None, use_errno=True)
pid = FACTS["neighbour"]
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        print("saw", content(path).decode(errors="replace").split("\\0")[0])
    except OSError:
        pass
def terminates():
    os.kill(pid, signal.SIGTERM)
    return True
def seizes(target):
    return lambda: libc.ptrace(0x4206, target, None, None) == 0
def raises_limits(target):
    import resource
    return lambda: resource.prlimit(target, resource.RLIMIT_NOFILE)
runner = os.getppid()
attempt("ptrace of a neighbour", seizes(pid))
attempt("the limits of a neighbour", raises_limits(pid))
attempt("ptrace of the runner", seizes(runner))
attempt("the limits of the runner", raises_limits(runner))
for number in {1, runner} - {0}:
    for name in ("environ", "maps", "mem", "auxv", "stack", "io", "syscall"):
        opens("/proc/%d/%s" % (number, name), os.O_RDONLY)
    for name in ("fd", "map_files", "fdinfo", "root", "cwd"):
        opens("/proc/%d/%s" % (number, name), os.O_RDONLY | os.O_DIRECTORY)
attempt("a signal to a neighbour", terminates)
"""


async def _processes(sandbox: Sandbox, outside: Outside) -> str:
    lines, through = await _said(sandbox, _PROCESSES, outside)
    if f"saw {outside.neighbour_mark}" in lines:
        through = through or "the command line of a neighbour"
    if outside.neighbour.poll() is not None:
        through = through or "a neighbour was ended"
    return through


_ATTRIBUTES: Final = """\
pid = FACTS["neighbour"]
attempt("the mode of a file", lambda: os.chmod(FACTS["canary"], 0o600) is None)
attempt("the times of a file", lambda: os.utime(FACTS["canary"], (1, 1)) is None)
attempt("the processors of a neighbour", lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)) is None)
attempt("the priority of a neighbour", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19) is None)
"""

_SYSTEM_CALLS: Final = """\
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
X86 = dict(ptrace=101, syslog=103, pivot_root=155, chroot=161, mount=165, swapon=167, add_key=248, request_key=249,
           keyctl=250, unshare=272, perf_event_open=298, fanotify_init=300, open_by_handle_at=304, setns=308,
           process_vm_readv=310, finit_module=313, bpf=321, userfaultfd=323, pidfd_open=434, io_uring_setup=425,
           open_tree=428, fsopen=430, pidfd_getfd=438, clone=56)
ARM = dict(ptrace=117, syslog=116, pivot_root=41, chroot=51, mount=40, swapon=224, add_key=217, request_key=218,
           keyctl=219, unshare=97, perf_event_open=241, fanotify_init=262, open_by_handle_at=265, setns=268,
           process_vm_readv=270, finit_module=273, bpf=280, userfaultfd=282, pidfd_open=434, io_uring_setup=425,
           open_tree=428, fsopen=430, pidfd_getfd=438, clone=220)
TABLES = {"x86_64": X86, "aarch64": ARM}
def succeeds(name, *arguments):
    def action():
        return libc.syscall(TABLES[platform.machine()][name], *arguments) >= 0
    attempt(name, action)
if platform.machine() not in TABLES:
    print("reached: a machine whose system calls are not known")
    sys.exit()
here = os.getcwd().encode()
room = ctypes.create_string_buffer(256)
word = ctypes.c_size_t
def mounts():
    if libc.mount(here, here, None, ctypes.c_ulong(4096), None):
        return False
    libc.umount2(here, 2)
    return True
def reads_another():
    target = ctypes.create_string_buffer(b"secret")
    class Part(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    ours, theirs = Part(ctypes.addressof(room), 6), Part(ctypes.addressof(target), 6)
    child = os.fork()
    if child == 0:
        import time
        time.sleep(1)
        os._exit(0)
    number = TABLES[platform.machine()]["process_vm_readv"]
    return libc.syscall(number, child, ctypes.byref(ours), word(1), ctypes.byref(theirs), word(1), word(0)) > 0
succeeds("ptrace", 0, 0, None, None)
succeeds("syslog", 2, room, 256)
succeeds("chroot", here)
succeeds("add_key", b"user", b"left", b"x", word(1), -3)
succeeds("keyctl", 0, -3, 1)
succeeds("perf_event_open", (ctypes.c_uint32 * 32)(1, 128), 0, -1, -1, word(0))
succeeds("fanotify_init", 0x200, 0)
succeeds("bpf", 0, (ctypes.c_uint32 * 32)(2, 4, 4, 1), 128)
succeeds("userfaultfd", 0)
succeeds("userfaultfd", 1)
succeeds("io_uring_setup", 4, ctypes.create_string_buffer(120))
succeeds("open_tree", -100, here, 1)
succeeds("fsopen", b"tmpfs", 0)
attempt("shmget", lambda: libc.shmctl(libc.shmget(0, word(4096), 0o1600), 0, None) == 0)
attempt("semget", lambda: libc.semctl(libc.semget(0, 1, 0o1600), 0, 0) == 0)
attempt("msgget", lambda: libc.msgctl(libc.msgget(0, 0o1600), 0, None) == 0)
attempt("mq_open", lambda: libc.mq_open(b"/made", 0o102, 0o600, None) >= 0 and libc.mq_unlink(b"/made") == 0)
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000):
    succeeds("unshare", flag)
succeeds("clone", 0x10000000 | 17, None, None, None, None)
attempt("mount", mounts)
attempt("process_vm_readv", reads_another)
if platform.machine() == "x86_64":
    attempt("x32 system calls", lambda: libc.syscall(0x40000000 | 39) >= 0)
"""

_PRIVILEGES: Final = """\
import ctypes, stat, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def capable():
    with open("/proc/self/status") as file:
        return any(int(line.split()[1], 16) for line in file if line.startswith(("CapEff:", "CapPrm:", "CapInh:")))
def becomes(*ids):
    before = os.getresuid()
    os.setresuid(*ids)
    return os.getresuid() != before
def makes_set_uid():
    with open("copy", "wb") as copy, open("/bin/sleep", "rb") as original:
        copy.write(original.read())
    os.chmod("copy", 0o6755)
    os.chown("copy", 0, 0)
    return os.getuid() != 0
def makes_device():
    os.mknod("device", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    return os.open("device", os.O_RDONLY) >= 0
attempt("capabilities", capable)
attempt("new privileges", lambda: libc.prctl(39, 0, 0, 0, 0) == 0)
attempt("root", lambda: becomes(0, 0, 0))
attempt("another user", lambda: becomes(12345, 12345, 12345))
attempt("root's group", lambda: os.getgid() != 0 and os.setresgid(0, 0, 0) is None)
attempt("other groups", lambda: os.setgroups([0]) is None)
attempt("a set-user-id program of root", makes_set_uid)
attempt("a device made by itself", makes_device)
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) is None)
name = os.uname().nodename.encode()
attempt("the host name", lambda: libc.sethostname(name, len(name)) == 0)
for name in ("mem", "kmem", "port", "kmsg", "kvm", "fuse", "sda", "vda", "nvme0n1", "loop0", "loop-control", "ptmx",
             "net/tun", "vhost-net", "uinput", "mapper/control"):
    opens("/dev/" + name, os.O_RDONLY)
"""

_LEAVE: Final = """\
import ctypes, signal, socket
mark = %r
for place in (".", "..", "/tmp", "/dev/shm", "/box", "/var/tmp", "/run", os.path.expanduser("~")):
    try:
        os.mkdir(os.path.join(place, mark))
        os.mkdir(os.path.join(place, mark, "deep"))
        os.chmod(os.path.join(place, mark), 0)
        open(os.path.join(place, mark + "-file"), "w").close()
        os.mkfifo(os.path.join(place, "." + mark))
    except OSError:
        pass
def stay():
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork():
        return
    for descriptor in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    try:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\\0" + mark)
        listener.listen()
        os.set_inheritable(listener.fileno(), True)
    except OSError:
        pass
    os.execv(%r, [mark, "30"])
attempt("nothing", stay)
libc = ctypes.CDLL(None)
key = int(mark[-7:], 16)
libc.shmget(key, ctypes.c_size_t(4096), 0o1666)
libc.semget(key, 1, 0o1666)
libc.msgget(key, 0o1666)
libc.mq_open(b"/" + mark.encode(), 0o102, 0o666, None)
"""

_FIND: Final = """\
import ctypes, glob, shutil, socket
mark = %r
for place in (".", "..", "/tmp", "/dev/shm", "/box", "/var/tmp", "/run", os.path.expanduser("~")):
    for name in (mark, mark + "-file", "." + mark):
        path = os.path.join(place, name)
        if os.path.lexists(path):
            print("reached:", path)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if content(path).startswith(mark.encode()):
            print("reached: a process of the program before")
    except OSError:
        pass
def connects():
    socket.socket(socket.AF_UNIX).connect("\\0" + mark)
    return True
attempt("a socket of the program before", connects)
libc = ctypes.CDLL(None)
key = int(mark[-7:], 16)
attempt("shared memory of the program before", lambda: libc.shmctl(libc.shmget(key, ctypes.c_size_t(1), 0), 0, None) == 0)
attempt("semaphores of the program before", lambda: libc.semctl(libc.semget(key, 1, 0), 0, 0) == 0)
attempt("messages of the program before", lambda: libc.msgctl(libc.msgget(key, 0), 0, None) == 0)
attempt("a queue of the program before", lambda: libc.mq_unlink(b"/" + mark.encode()) == 0)
"""


async def _leftovers(sandbox: Sandbox, outside: Outside) -> str:
    """As many programs as there are boxes leave something, then as many look for it."""
    mark = f"left-{secrets.token_hex(8)}"
    leave, find = _LEAVE % (mark, _SLEEP), _FIND % mark
    await asyncio.gather(*(_said(sandbox, leave, outside) for _ in range(sandbox.slots)))
    said = await asyncio.gather(*(_said(sandbox, find, outside) for _ in range(sandbox.slots)))
    through = sorted({reached for _, reached in said if reached})
    if await asyncio.to_thread(_is_running, mark):
        through.append("a process that was left is still running")
    return ", ".join(through)


def _is_running(name: str) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().startswith(name.encode()):
                return True
    return False


_FORGERY: Final = """\
import struct
if sys.argv[1:] == ["forge"]:
    claim = json.dumps({"code": 0, "signal": 0, "ended": None, "cpu_s": 0.0, "wall_s": 0.0, "delay_s": 0.0,
                        "peak_kb": 0, "left": 0, "stdout": 6, "stderr": 0, "value": None, "tests": None,
                        "complete": True, "fetched": []}).encode()
    frame = struct.pack("!II", len(claim), 6) + claim + b"forged"
    line = b'["0", true, ""]\\n{"complete": true, "forwarded": 1}\\n'
    for descriptor in range(2, 256):
        for data in (frame, line, b"\\xff" * 64):
            try:
                os.write(descriptor, data)
            except OSError:
                pass
    os._exit(5)
print("honest", sys.argv[1])
"""


async def _forgery(sandbox: Sandbox, outside: Outside) -> str:
    runs = [Execute(arguments=[argument], limits=_LIMITS) for argument in ("forge", "second", "third")]
    results = await _results(sandbox, _FORGERY, outside, runs)
    said = [(result.exit, result.code, result.stdout) for result in results]
    wanted = [(Exit.EXITED, 5, b""), (Exit.EXITED, 0, b"honest second\n"), (Exit.EXITED, 0, b"honest third\n")]
    return "" if said == wanted else f"a result the program made up: {said}"


_HONEST_CASE: Final = 4
_ALWAYS_EQUAL: Final = """\
class Anything(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__
def f(wanted):
    if wanted == 1:
        return Anything(7)
    if wanted == 2:
        os._exit(0)
    if wanted == 3:
        raise SystemExit(0)
    return wanted
"""


async def _forged_tests(sandbox: Sandbox, outside: Outside) -> str:
    cases = [f"assert f({case}) == {case}" for case in (1, 2, 3, _HONEST_CASE)]
    tests = [Tests(TestStyle.ASSERTS, cases=[case], limits=_LIMITS) for case in cases]
    results = await _results(sandbox, _ALWAYS_EQUAL, outside, tests)
    if len(results) < len(cases):
        return "the attack could not be loaded"
    *forged, honest = [any(outcome.passed for outcome in result.tests) for result in results]
    if not honest:
        return f"an honest test did not pass: {_ending(results[-1])}"
    return f"{sum(forged)} tests that were not earned" if any(forged) else ""


def _ends(source: str, limits: Limits, *expected: Exit) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack on a limit: its run must end in one of these ways, and not come to its last line."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        results = await _results(sandbox, f"{source}\nprint({_DONE!r})\n", outside, [Execute(limits=limits)])
        if not results:
            return "the attack could not be loaded"
        (result,) = results
        if _DONE in result.stdout[-64:].decode(errors="replace").splitlines() or result.exit not in expected:
            return _ending(result)
        if result.exit is Exit.EXITED and result.code != 0:
            return _ending(result)
        if len(result.stdout) > limits.output_bytes or len(result.stderr) > limits.stderr_bytes:
            return f"{len(result.stdout)} and {len(result.stderr)} bytes of output"
        if result.cpu_s > 2 * limits.cpu_s + 1:
            return f"{result.cpu_s} CPU seconds"
        return ""

    return carry_out


def _counts(source: str, limits: Limits, most: int) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack that prints how far it came with each step; it may come so far and no further."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        results = await _results(sandbox, source, outside, [Execute(limits=limits)])
        numbers = [int(word) for result in results for word in result.stdout.split() if word.isdigit()]
        if not numbers:
            return "the attack could not begin" + "".join(f": {_ending(result)}" for result in results)
        return f"it came to {max(numbers)}, and {most} is allowed" if max(numbers) > most else ""

    return carry_out


_MEMORY: Final = """\
held = []
for step in range(1, 41):
    held.append(b"x" * (16 << 20))
    print(step * 16, flush=True)
"""
_SHARED_MEMORY: Final = """\
import mmap
shared = mmap.mmap(-1, 3072 << 20)
for step in range(1, 49):
    shared[(step - 1) * (64 << 20) : step * (64 << 20)] = b"x" * (64 << 20)
    print(step * 64, flush=True)
"""
_MEMORY_OF_CHILDREN: Final = """\
import time
living = set()
for _ in range(16):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        held = b"x" * (192 << 20)
        os.write(tell, b"x")
        time.sleep(20)
        os._exit(0)
    os.close(tell)
    os.read(ready, 1)
    living.add(child)
    living = {child for child in living if os.waitpid(child, os.WNOHANG)[0] == 0}
    print(len(living) * 192, flush=True)
"""
_FORKS: Final = """\
import signal, time
for count in range(1, 201):
    try:
        if os.fork() == 0:
            signal.alarm(5)
            time.sleep(4)
            os._exit(0)
    except OSError:
        break
    print(count, flush=True)
"""
_THREADS: Final = """\
import threading, time
for count in range(1, 201):
    try:
        threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
    except RuntimeError:
        break
    print(count, flush=True)
os._exit(0)
"""
_BURN: Final = "while True: pass"
_BURN_TOGETHER: Final = """\
import signal
for number in (signal.SIGXCPU, signal.SIGTERM, signal.SIGALRM):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    os.fork()
while True: pass
"""
_SLEEP_LONG: Final = "import time; time.sleep(5)"
_FLOOD: Final = """\
for _ in range(4096):
    os.write(1, b"x" * 65536)
"""
_FLOOD_ERRORS: Final = """\
for _ in range(512):
    os.write(2, b"x" * 65536)
os._exit(0)
"""
_LARGE_FILE: Final = """\
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open("large", "wb", buffering=0) as file:
    for step in range(1, 17):
        if file.write(b"x" * (1 << 20)) < 1 << 20:
            break
        print(step, flush=True)
"""
_DISK: Final = """\
step = 0
for place in (".", "/tmp", "/dev/shm"):
    for number in range(24):
        try:
            path = os.path.join(place, "fill-%d" % number)
            file = os.open(path, os.O_WRONLY | os.O_CREAT)
            os.unlink(path)
            os.posix_fallocate(file, 0, 32 << 20)
        except OSError:
            break
        step += 32
        print(step, flush=True)
"""
_MANY_FILES: Final = """\
for count in range(1, 24001):
    try:
        os.close(os.open("file-%d" % count, os.O_WRONLY | os.O_CREAT))
    except OSError:
        break
    if count % 1000 == 0:
        print(count, flush=True)
print(0)
"""

_BOX_MB: Final = 2560
"""More than a box of the usual size gives to all that is in it, which is what bounds memory that is not one process's."""
_SMALL: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=128, processes=32)
_FEW: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=256, processes=16)
_LOWER: Final = frozenset({Isolation.LANDLOCK})
_PID: Final = re.compile(r"/proc/\d+/")
_LOOKS: Final = frozenset(f"/proc/N/{name}" for name in ("environ", "maps", "auxv", "fd", "fdinfo", "io"))
_EMULATED: Final = frozenset({"a device made by itself", "/dev/fuse", "/dev/net/tun"})

ATTACKS: Final[Sequence[Attack]] = (
    Attack("network", "Connects to the service's machine and beyond, in several ways.", _network),
    Attack("host_files", "Reads a canary file and the password hashes of the service's machine.", _host_files),
    Attack("environment", "Reads the service's environment, its own and that of all processes it sees.", _environment),
    Attack("outside_writes", "Writes outside its directories: system files, kernel settings, a canary.", _writes),
    Attack(
        "other_processes",
        "Sees, signals, traces and reads other processes and its runner.",
        _processes,
        gaps={Isolation.GVISOR: _LOOKS, Isolation.IN_GVISOR: _LOOKS},
    ),
    Attack(
        "system_calls", "Uses system calls that reach into the kernel or past other limits.", _attempts(_SYSTEM_CALLS)
    ),
    Attack(
        "privileges",
        "Becomes another user, gains capabilities, opens or makes devices.",
        _attempts(_PRIVILEGES),
        gaps={Isolation.GVISOR: _EMULATED, Isolation.IN_GVISOR: _EMULATED},
    ),
    Attack("leftovers", "Leaves files, processes, sockets and shared memory for the next program.", _leftovers),
    Attack("forged_results", "Writes results of its own making to every open descriptor.", _forgery),
    Attack("forged_tests", "Passes tests by objects equal to anything, and by ending early.", _forged_tests),
    Attack("memory", "Takes five times the memory it may.", _counts(_MEMORY, _SMALL, 400)),
    Attack("processes", "Starts 200 processes where 16 are allowed.", _counts(_FORKS, _FEW, 20)),
    Attack(
        "cpu",
        "Computes for ever.",
        _ends(_BURN, Limits(cpu_s=0.1, wall_s=20.0), Exit.TIME_LIMIT),
    ),
    Attack(
        "output",
        "Writes 256 MB to its standard output.",
        _ends(_FLOOD, Limits(cpu_s=5.0, output_bytes=64 << 10), Exit.OUTPUT_LIMIT),
    ),
    Attack(
        "file_size",
        "Writes 16 MB to a file where 2 are allowed.",
        _counts(_LARGE_FILE, Limits(cpu_s=5.0, file_mb=2), 2),
    ),
    Attack(
        "shared_memory",
        "Takes 3 GB, shared instead of private.",
        _counts(_SHARED_MEMORY, Limits(cpu_s=20.0, wall_s=60.0, memory_mb=512), _BOX_MB),
        is_short=False,
        not_promised_by=_LOWER | {Isolation.GVISOR, Isolation.IN_GVISOR},
    ),
    Attack(
        "memory_of_children",
        "Takes 3 GB in sixteen processes.",
        _counts(_MEMORY_OF_CHILDREN, Limits(cpu_s=20.0, wall_s=60.0, memory_mb=256), _BOX_MB),
        is_short=False,
        not_promised_by=_LOWER,
    ),
    Attack("threads", "Starts 200 threads where 16 are allowed.", _counts(_THREADS, _FEW, 20), is_short=False),
    Attack(
        "cpu_together",
        "Computes for ever in eight processes that ignore signals.",
        _ends(_BURN_TOGETHER, Limits(cpu_s=1.0, wall_s=20.0), Exit.TIME_LIMIT),
        is_short=False,
    ),
    Attack(
        "sleep",
        "Sleeps past the wall clock.",
        _ends(_SLEEP_LONG, Limits(cpu_s=1.0, wall_s=0.5), Exit.TIME_LIMIT),
        is_short=False,
    ),
    Attack(
        "errors",
        "Writes 32 MB to its standard error.",
        _ends(_FLOOD_ERRORS, Limits(cpu_s=5.0, stderr_bytes=4096), Exit.EXITED),
        is_short=False,
    ),
    Attack(
        "disk",
        "Fills 2 GB of its directories.",
        _counts(_DISK, Limits(cpu_s=20.0, wall_s=60.0), 1024),
        is_short=False,
        not_promised_by=_LOWER,
    ),
    Attack(
        "many_files",
        "Makes 24,000 files.",
        _counts(_MANY_FILES, Limits(cpu_s=20.0, wall_s=60.0), 20_000),
        is_short=False,
        not_promised_by=_LOWER | {Isolation.GVISOR, Isolation.IN_GVISOR},
    ),
)
"""In this order."""
