"""The settings of a box's container, in the words of the Docker daemon's API.

A box shares nothing of the machine but the kernel. It has no network, no writable disk and, except for the runner, no
privileges:

    root file system  the image, read-only    /box /tmp /dev/shm   in memory, with limits on size and number of files
    capabilities      the runner's four       system calls         those of seccomp.json
    memory            one limit, no swap      processes, CPUs      limited
    output            not logged              IPC, host name       its own
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sandbox.boxes import bootstrap
from sandbox.boxes.backend import BoxSize, Profile

INTERPRETER: Final = "/usr/bin/python3"
SOCKET_FOLDER: Final = "/run/rewardline"
"""Path in the container of the folder with the runner's socket."""

MB: Final = 1 << 20
_SECCOMP: Final = Path(__file__).with_name("seccomp.json").read_text(encoding="utf-8")

_CAPABILITIES: Final = (
    "SETUID",  # to run each program as a user of its own
    "SETGID",
    "KILL",  # to kill a program under any user id
    "DAC_OVERRIDE",  # to remove its files whatever their permissions
)
_RUNNER_MB: Final = {Profile.PLAIN: 64, Profile.SCIENCE: 256, Profile.TESTS: 96}
_RUNNER_PROCESSES: Final = 6
"""The runner, the original, two templates, a tester, and a process that kills a user's processes."""
# gVisor's own kernel runs as a process of the container, with threads for each process in it.
GVISOR_MB: Final = 192
GVISOR_PROCESSES: Final = 256
_MAX_OPEN_FILES: Final = 1024
_MAX_STACK_MB: Final = 512
# Threads use the soft limit as the size of their stacks: half a gigabyte for each would soon be too much.
_STACK_MB: Final = 8
_FILES_PER_MB: Final = 64
# When the machine runs out of memory, boxes are killed first. Protecting others by a negative number needs privileges.
OOM_SCORE_ADJUSTMENT: Final = 500


def options(
    *,
    image: str,
    command: Sequence[str],
    profile: Profile,
    size: BoxSize,
    labels: Mapping[str, str],
    runtime: str | None,
    socket_folder: Path | None,
) -> dict[str, Any]:
    """The body of a request to create a container.

    Args:
        image: The image to start from.
        command: The first command in it.
        profile: What the runner loads.
        size: The box's limits.
        labels: The container's labels.
        runtime: A name of the daemon's; None is its default.
        socket_folder: A folder of this machine with the socket that the box connects to. None: the service talks to the
            box through its standard streams.
    """
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": list(command),
        "Env": [f"{name}={value}" for name, value in {**bootstrap.ENVIRONMENT, "HOME": "/box"}.items()],
        "User": "0:0",
        "WorkingDir": "/",
        "Hostname": "box",
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        # A box has nothing to save. With another signal, a daemon that stops would wait ten seconds for it.
        "StopSignal": "SIGKILL",
        "OpenStdin": socket_folder is None,
        "StdinOnce": socket_folder is None,
        "AttachStdin": socket_folder is None,
        "AttachStdout": socket_folder is None,
        "AttachStderr": True,
        "HostConfig": {
            **_isolation(),
            **_limits(profile, size, is_gvisor=is_gvisor(runtime)),
            "Runtime": runtime or "",
            "Mounts": [_socket_mount(socket_folder)] if socket_folder else [],
        },
    }


def is_gvisor(runtime: str | None) -> bool:
    """Whether a runtime is gVisor's, judged by its name: the daemon says no more about a runtime."""
    return runtime is not None and ("runsc" in runtime or "gvisor" in runtime)


def _isolation() -> dict[str, Any]:
    return {
        "NetworkMode": "none",
        "IpcMode": "private",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "CapAdd": list(_CAPABILITIES),
        "SecurityOpt": ["no-new-privileges:true", f"seccomp={_SECCOMP}"],
        # The runner is process 1, even when the daemon would put an init of its own before it.
        "Init": False,
        # Only the service reads what a box writes. A log on disk could fill it.
        "LogConfig": {"Type": "none", "Config": {}},
        "OomScoreAdj": OOM_SCORE_ADJUSTMENT,
    }


def _limits(profile: Profile, size: BoxSize, *, is_gvisor: bool) -> dict[str, Any]:
    memory_bytes = (size.memory_mb + _RUNNER_MB[profile] + (GVISOR_MB if is_gvisor else 0)) * MB
    side_mb = max(size.disk_mb // 4, 1)
    return {
        "Memory": memory_bytes,
        "MemorySwap": memory_bytes,
        "PidsLimit": size.processes + _RUNNER_PROCESSES + (GVISOR_PROCESSES if is_gvisor else 0),
        "NanoCpus": size.cpus * 10**9,
        "ShmSize": side_mb * MB,
        "Tmpfs": {
            "/box": _tmpfs(size.disk_mb, "0711"),
            "/tmp": _tmpfs(side_mb, "1777"),  # noqa: S108 - inside the box
            # A program could open a name here to make a message queue, which would outlive the program.
            "/dev/mqueue": "ro,nosuid,nodev,noexec,size=4k,mode=0555",
        },
        "Ulimits": [
            ulimit("core", 0, 0),
            ulimit("nofile", _MAX_OPEN_FILES, _MAX_OPEN_FILES),
            ulimit("stack", _STACK_MB * MB, _MAX_STACK_MB * MB),
        ],
    }


def _tmpfs(size_mb: int, mode: str) -> str:
    return f"rw,exec,nosuid,nodev,size={size_mb}m,mode={mode},nr_inodes={size_mb * _FILES_PER_MB}"


def ulimit(name: str, soft: int, hard: int) -> dict[str, Any]:
    return {"Name": name, "Soft": soft, "Hard": hard}


def _socket_mount(folder: Path) -> dict[str, Any]:
    """Read-only: a program can connect to a socket there, but make nothing."""
    return {"Type": "bind", "Source": str(folder), "Target": SOCKET_FOLDER, "ReadOnly": True}
