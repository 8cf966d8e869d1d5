"""All attacks, in their order."""

from collections.abc import Sequence
from typing import Final

from sandbox.base import Exit, Isolation, Limits
from sandbox.self_check import excess, privileges, reach
from sandbox.self_check.attack import Attack, must_all_fail
from sandbox.self_check.excess import must_end_as, must_stop_at
from sandbox.self_check.forgery import forged_tests, forgery
from sandbox.self_check.leftovers import leftovers

_BOX_MB: Final = 2560
"""More than a box of the usual size has in total: the box's limit is what bounds memory that belongs to no single
process.
"""
_SMALL: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=128, processes=32)
_FEW: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=256, processes=16)
_LOWER: Final = frozenset({Isolation.LANDLOCK})
_LOOKS: Final = frozenset(f"/proc/N/{name}" for name in ("environ", "maps", "auxv", "fd", "fdinfo", "io"))
_SCHEDULING: Final = frozenset({"the processors of a neighbour", "the priority of a neighbour"})
"""gVisor answers such calls without doing anything."""
_OF_ONE_USER: Final = _SCHEDULING | {"the mode of a file", "the times of a file"}
"""Landlock leaves these to user ids, and a box may have only the service's own."""
_EMULATED: Final = frozenset({"a device made by itself", "/dev/fuse", "/dev/net/tun"})

ATTACKS: Final[Sequence[Attack]] = (
    Attack("network", "Connects to the service's machine and beyond, in several ways.", reach.network),
    Attack("host_files", "Reads a canary file and the password hashes of the service's machine.", reach.host_files),
    Attack(
        "environment", "Reads the service's environment, its own and that of all processes it sees.", reach.environment
    ),
    Attack("outside_writes", "Writes outside its directories: system files, kernel settings, a canary.", reach.writes),
    Attack(
        "attributes",
        "Changes the mode and the times of a canary, and the scheduling of a neighbouring process.",
        must_all_fail(reach.ATTRIBUTES),
        gaps={
            Isolation.LANDLOCK: _OF_ONE_USER,
            Isolation.GVISOR: _SCHEDULING,
            Isolation.IN_GVISOR: _SCHEDULING,
        },
    ),
    Attack(
        "other_processes",
        "Sees, signals, traces and reads other processes and its runner.",
        reach.processes,
        gaps={Isolation.GVISOR: _LOOKS, Isolation.IN_GVISOR: _LOOKS},
    ),
    Attack(
        "system_calls",
        "Uses system calls that reach into the kernel or past other limits.",
        must_all_fail(privileges.SYSTEM_CALLS),
    ),
    Attack(
        "privileges",
        "Becomes another user, gains capabilities, opens or makes devices.",
        must_all_fail(privileges.PRIVILEGES),
        gaps={Isolation.GVISOR: _EMULATED, Isolation.IN_GVISOR: _EMULATED},
    ),
    Attack("leftovers", "Leaves files, processes, sockets and shared memory for the next program.", leftovers),
    Attack("forged_results", "Writes results of its own making to every open descriptor.", forgery),
    Attack("forged_tests", "Passes tests by objects equal to anything, and by ending early.", forged_tests),
    Attack("memory", "Takes five times the memory it may.", must_stop_at(excess.MEMORY, _SMALL, 400)),
    Attack("processes", "Starts 200 processes where 16 are allowed.", must_stop_at(excess.FORKS, _FEW, 20)),
    Attack(
        "cpu",
        "Computes for ever.",
        must_end_as(excess.BURN, Limits(cpu_s=0.1, wall_s=20.0), Exit.TIME_LIMIT),
    ),
    Attack(
        "output",
        "Writes 256 MB to its standard output.",
        must_end_as(excess.FLOOD, Limits(cpu_s=5.0, output_bytes=64 << 10), Exit.OUTPUT_LIMIT),
    ),
    Attack(
        "file_size",
        "Writes 16 MB to a file where 2 are allowed.",
        must_stop_at(excess.LARGE_FILE, Limits(cpu_s=5.0, file_mb=2), 2),
    ),
    Attack(
        "shared_memory",
        "Takes 3 GB, shared instead of private.",
        must_stop_at(excess.SHARED_MEMORY, Limits(cpu_s=20.0, wall_s=60.0, memory_mb=512), _BOX_MB),
        is_short=False,
        not_promised_by=_LOWER | {Isolation.GVISOR, Isolation.IN_GVISOR},
    ),
    Attack(
        "memory_of_children",
        "Takes 3 GB in sixteen processes.",
        must_stop_at(excess.MEMORY_OF_CHILDREN, Limits(cpu_s=20.0, wall_s=60.0, memory_mb=256), _BOX_MB),
        is_short=False,
        not_promised_by=_LOWER,
    ),
    Attack(
        "threads", "Starts 200 threads where 16 are allowed.", must_stop_at(excess.THREADS, _FEW, 20), is_short=False
    ),
    Attack(
        "cpu_together",
        "Computes for ever in eight processes that ignore signals.",
        must_end_as(excess.BURN_TOGETHER, Limits(cpu_s=1.0, wall_s=20.0), Exit.TIME_LIMIT),
        is_short=False,
    ),
    Attack(
        "sleep",
        "Sleeps past the wall clock.",
        must_end_as(excess.SLEEP_LONG, Limits(cpu_s=1.0, wall_s=0.5), Exit.TIME_LIMIT),
        is_short=False,
    ),
    Attack(
        "errors",
        "Writes 32 MB to its standard error.",
        must_end_as(excess.FLOOD_ERRORS, Limits(cpu_s=5.0, stderr_bytes=4096), Exit.EXITED),
        is_short=False,
    ),
    Attack(
        "disk",
        "Fills 2 GB of its directories.",
        must_stop_at(excess.DISK, Limits(cpu_s=20.0, wall_s=60.0), 1024),
        is_short=False,
        not_promised_by=_LOWER,
    ),
    Attack(
        "many_files",
        "Makes 24,000 files.",
        must_stop_at(excess.MANY_FILES, Limits(cpu_s=20.0, wall_s=60.0), 20_000),
        is_short=False,
        not_promised_by=_LOWER | {Isolation.GVISOR, Isolation.IN_GVISOR},
    ),
)
"""In this order."""
