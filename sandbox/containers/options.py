"""The settings of a task's container, in the words of the Docker daemon's API.

The image of a task brings its own files and users, so its files are writable, unlike those of a box. What runs in it has
no capability at all, not even as root: root owns the files of most images, and that is all it can do here.

    capabilities   none, and no program can get one     network     none, or the daemon's bridge
    system calls   those of the daemon's own profile    memory      one limit, no swap
    processes, CPUs, size of a file                      limited
    /rewardline    in memory; given/ belongs to a user that the container cannot become, made/ is for all
    its folders    in memory, too, and of that user; a process of the container can neither write, move nor replace them
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sandbox.boxes.docker.container import GVISOR_MB, GVISOR_PROCESSES, MB, OOM_SCORE_ADJUSTMENT, ulimit
from sandbox.containers.base import EXCHANGE, Task

GIVER: Final = 64_123
"""The user that owns what we give and the first process. No other process can become it without a capability."""
_EXCHANGE_MB: Final = 96
_MOST_FILES: Final = 4096
_WAIT: Final = "exec sleep 2147483647"
"""The first process. It has a user of its own, so no other process of the container can end it."""


def options(
    task: Task,
    *,
    image: str,
    workdir: str,
    cpus: float,
    labels: Mapping[str, str],
    runtime: str | None,
    is_gvisor: bool,
    command: Sequence[str] = ("sh", "-c", _WAIT),
) -> dict[str, Any]:
    """The body of a request to create a container that waits for commands.

    `workdir` is the folder that the image names. If it is not there yet, the daemon makes it, as for any container.
    """
    memory_bytes = (task.limits.memory_mb + _EXCHANGE_MB + (GVISOR_MB if is_gvisor else 0)) * MB
    file_bytes = task.limits.disk_mb * MB
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": list(command),
        "Env": [f"{name}={value}" for name, value in task.environment.items()],
        "User": f"{GIVER}:{GIVER}",
        "WorkingDir": workdir,
        "Hostname": "task",
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGKILL",
        "HostConfig": {
            "NetworkMode": "bridge" if task.network else "none",
            "IpcMode": "private",
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges:true"],
            "Init": False,
            "LogConfig": {"Type": "none", "Config": {}},
            "OomScoreAdj": OOM_SCORE_ADJUSTMENT,
            "Memory": memory_bytes,
            "MemorySwap": memory_bytes,
            "PidsLimit": task.limits.processes + (GVISOR_PROCESSES if is_gvisor else 0),
            "NanoCpus": int(cpus * 10**9),
            "ShmSize": 64 * MB,
            "Ulimits": [
                ulimit("core", 0, 0),
                ulimit("fsize", file_bytes, file_bytes),
            ],
            "Runtime": runtime or "",
            "Mounts": [
                _in_memory(EXCHANGE, _EXCHANGE_MB),
                *(_in_memory(folder, task.limits.memory_mb) for folder in task.folders),
            ],
        },
    }


def _in_memory(folder: str, size_mb: int) -> dict[str, Any]:
    """A volume in memory: the daemon and the container both see each other's files there, in every runtime."""
    where = f"size={size_mb}m,nr_inodes={_MOST_FILES},uid={GIVER},gid={GIVER},mode=0755"
    return {
        "Type": "volume",
        "Target": folder,
        "VolumeOptions": {
            "NoCopy": True,
            "DriverConfig": {"Name": "local", "Options": {"type": "tmpfs", "device": "tmpfs", "o": where}},
        },
    }
