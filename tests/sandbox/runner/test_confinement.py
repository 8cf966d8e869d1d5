"""What a program cannot do, whatever it calls."""

import re
import struct
from pathlib import Path

import pytest

from sandbox.runner.isolation import seccomp
from tests.sandbox.runner.driver import Box

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
MACHINES = tuple(seccomp.ARCHITECTURES)
ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, EACCES, ENOSYS = 0x50001, 0x5000D, 0x50026
X86_64, AARCH64 = 0xC000003E, 0xC00000B7


def numbers(machine: str) -> dict[str, int]:
    if not HEADERS[machine].exists():
        pytest.skip(f"no kernel headers for {machine} here")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[machine].read_text())
    return {name: int(number) for name, number in found}


def verdict(
    machine: str, number: int, arguments: tuple[int, ...] = (), audit: int | None = None, *, sockets: bool = True
) -> int:
    """What the filter answers to a call: the kernel's way through the program, in Python."""
    architecture = seccomp.ARCHITECTURES[machine]
    program = seccomp.filter_program(architecture, sockets=sockets)
    code = list(struct.iter_unpack("=HBBI", program))
    data = struct.pack(
        "=IIQ6Q", number, architecture.audit if audit is None else audit, 0, *arguments, *[0] * (6 - len(arguments))
    )
    accumulator = place = 0
    while True:
        kind, if_true, if_false, operand = code[place]
        place += 1
        if kind == 0x06:
            return int(operand)
        if kind == 0x20:
            accumulator = struct.unpack_from("=I", data, operand)[0]
            continue
        is_true = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}[kind]
        place += if_true if is_true else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_the_kernels(machine: str) -> None:
    known = numbers(machine)
    architecture = seccomp.ARCHITECTURES[machine]
    denied = {name: number for name, number in architecture.denied.items() if name in known}
    assert denied == {name: known[name] for name in denied}
    assert len(denied) > len(architecture.denied) - 3
    assert (architecture.clone, architecture.clone3) == (known["clone"], known["clone3"])
    assert (architecture.socket, architecture.socketpair) == (known["socket"], known["socketpair"])
    assert architecture.other_socket_calls == (known["bind"], known["connect"])
    assert (architecture.prlimit64, architecture.ioctl) == (known["prlimit64"], known["ioctl"])


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_denies_what_it_is_for_and_nothing_else(machine: str) -> None:
    architecture = seccomp.ARCHITECTURES[machine]
    for name, number in architecture.denied.items():
        assert verdict(machine, number) == EPERM, name
    others = set(range(300)) - set(architecture.denied.values()) - {architecture.clone, architecture.socket}
    others -= {architecture.socketpair}
    assert all(verdict(machine, number) == ALLOW for number in others)
    assert verdict(machine, architecture.clone3) == ENOSYS
    assert verdict(machine, architecture.clone, (17,)) == ALLOW
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, architecture.clone, (flag | 17,)) == EPERM
    assert verdict(machine, architecture.socket, (1, 1)) == ALLOW
    assert verdict(machine, architecture.socketpair, (1, 1)) == ALLOW
    for family in (0, 2, 10, 16, 17, 38, 40):
        assert verdict(machine, architecture.socket, (family, 1)) == EACCES
        assert verdict(machine, architecture.socketpair, (family, 1)) == EACCES
    assert verdict(machine, architecture.prlimit64, (0, 7)) == ALLOW
    assert verdict(machine, architecture.prlimit64, (1, 7)) == EPERM
    assert verdict(machine, architecture.ioctl, (0, 0x5401)) == ALLOW
    assert verdict(machine, architecture.ioctl, (0, 0x5412)) == EPERM
    assert verdict(machine, architecture.ioctl, (0, 0x541C)) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_without_sockets_there_are_only_pairs(machine: str) -> None:
    architecture = seccomp.ARCHITECTURES[machine]
    for number in (architecture.socket, *architecture.other_socket_calls):
        assert verdict(machine, number, (1, 1), sockets=False) == EACCES
    assert verdict(machine, architecture.socketpair, (1, 1), sockets=False) == ALLOW


def test_calls_in_another_manner_end_the_process() -> None:
    assert verdict("x86_64", 1, audit=0x40000003) == KILL
    assert verdict("x86_64", 0x40000001) == KILL
    assert verdict("aarch64", 1, audit=X86_64) == KILL
    assert verdict("x86_64", 1, audit=AARCH64) == KILL


def test_the_filter_is_in_force(box: Box) -> None:
    source = (
        "import ctypes, errno, os, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def err(*a):\n"
        "    r = libc.syscall(*a)\n"
        "    return errno.errorcode[ctypes.get_errno()] if r < 0 else r\n"
        "print(err(101, 0, 0, 0, 0), err(250, 0, 0), err(425, 1, 0), err(29, 0, 4096, 0o1600), err(272, 0x10000000))\n"
        "for f in (socket.AF_INET, socket.AF_NETLINK, socket.AF_UNIX):\n"
        "    try: socket.socket(f); print('made')\n"
        "    except OSError as e: print(errno.errorcode[e.errno])\n"
        "socket.socketpair()\n"
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('NoNewPrivs', 'Seccomp:', 'CapEff', 'CapPrm'))])\n"
        if box.configuration.init
        else "import socket, errno\n"
        "for f in (socket.AF_INET, socket.AF_NETLINK, socket.AF_UNIX):\n"
        "    try: socket.socket(f); print('made')\n"
        "    except OSError as e: print(errno.errorcode[e.errno])\n"
        "socket.socketpair()\n"
    )
    result = box.run(source)
    lines = result.out.decode().splitlines()
    if box.configuration.init:
        assert lines[0] == "EPERM EPERM EPERM EPERM EPERM", result.err
        assert lines[1:4] == ["EACCES", "EACCES", "made"]
        assert lines[4] == "['0000000000000000', '0000000000000000', '1', '2']"
    else:
        assert lines == ["EACCES"] * 3, result.err


@pytest.mark.parametrize("path", ["/etc/passwd", "/root", "/home", "/etc", "/"])
def test_under_landlock_nothing_can_be_read_that_is_not_listed(box: Box, path: str) -> None:
    if not box.configuration.landlock:
        pytest.skip("such a box has a root directory of its own making, which is not the runner's matter")
    result = box.run(f"import os\nprint(os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}).read())")
    assert (result.out, result.code) == (b"", 1)
    assert "PermissionError" in result.err


def test_a_program_writes_nowhere_but_where_it_may(box: Box) -> None:
    source = (
        "import os\n"
        "for d in (os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.getcwd()) + '/../t'):\n"
        "    try: open(d + '/x', 'w'); print('wrote', d)\n"
        "    except OSError: print('no')\n"
        "open('x', 'w')\n"
    )
    result = box.run(source)
    assert (result.out, result.code) == (b"no\nno\nno\n", 0), result.err


def test_limits_cannot_be_raised_again(box: Box) -> None:
    source = (
        "import resource\n"
        "for which in (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_CORE):\n"
        "    hard = resource.getrlimit(which)[1]\n"
        "    try: resource.setrlimit(which, (hard + 1, hard + 1)); print('raised')\n"
        "    except (ValueError, OSError): print('no', hard >= 0)\n"
    )
    assert box.run(source).out == b"no True\n" * 5


def test_a_program_has_no_descriptors_but_its_own(box: Box) -> None:
    source = (
        "import os\n"
        "found = []\n"
        "for fd in range(1024):\n"
        "    try: os.fstat(fd); found.append(fd)\n"
        "    except OSError: pass\n"
        "print(found)\n"
    )
    assert box.run(source).out == b"[0, 1, 2]\n"
    box.load(source + "def f(): return found")
    assert box.call("f").out == b"[0, 1, 2, 3, 4]\n"


def test_the_runner_cannot_be_looked_into_or_stopped(box: Box) -> None:
    source = (
        "import os, signal\n"
        "pid = os.getppid()\n"
        "for name in ('mem', 'environ', 'maps', 'fd/100', 'cwd/x'):\n"
        "    try:\n"
        "        p = f'/proc/{pid}/{name}'\n"
        "        open(p, 'rb').read(1)\n"
        "        print('read', name)\n"
        "    except OSError: print('no')\n"
        "for n in (signal.SIGSTOP, signal.SIGKILL):\n"
        "    try: os.kill(pid, n)\n"
        "    except OSError: pass\n"
    )
    result = box.run(source)
    assert result.out == b"no\n" * 5
    assert box.run("print(1)").out == b"1\n"


def test_a_program_cannot_slow_down_its_runner(box: Box) -> None:
    box.load(
        "import os\n"
        "def refused(change, *arguments):\n"
        "    try:\n"
        "        change(*arguments)\n"
        "    except OSError:\n"
        "        return True\n"
        "runner = os.getppid()\n"
        "print(refused(os.setpriority, os.PRIO_PROCESS, runner, 19),\n"
        "      refused(os.sched_setaffinity, runner, {0}),\n"
        "      refused(os.sched_setscheduler, runner, os.SCHED_IDLE, os.sched_param(0)),\n"
        "      refused(os.setpriority, os.PRIO_PROCESS, 0, 19))\n"
    )
    assert box.execute().out == b"True True True None\n"
