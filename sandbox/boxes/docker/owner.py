"""Labels that say which service a container belongs to, so that containers of killed services can be found and removed.

A container belongs to an owner and to one process of that owner. The owner is a name: services that share it clean up
after each other. A process is identified by its pid and its start time, because pids are reused. Both have a meaning
only on the machine and in the PID namespace in which they were written. Services that share a Docker daemon but not
these need different owners.
"""

import hashlib
import os
import shutil
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

OWNER_LABEL: Final = "rewardline.owner"
PROCESS_LABEL: Final = "rewardline.process"
_FOLDER: Final = "rewardline-box-"


@dataclass(frozen=True, slots=True)
class Process:
    """One run of a program on this machine."""

    pid: int
    started: str
    """Clock ticks from the machine's boot to the start of the process, and the id of that boot."""

    @classmethod
    def current(cls) -> "Process":
        pid = os.getpid()
        return cls(pid, _started(pid))

    @classmethod
    def parse(cls, text: str) -> "Process | None":
        """Parse what `str` made."""
        pid, _, started = text.partition("@")
        return cls(int(pid), started) if pid.isdecimal() else None

    def __str__(self) -> str:
        return f"{self.pid}@{self.started}"

    @property
    def is_alive(self) -> bool:
        try:
            return _started(self.pid) == self.started
        except OSError:
            return False


def default_owner() -> str:
    """The host's name: one service per host. Each container has a host name of its own."""
    return socket.gethostname()


def labels(owner: str) -> dict[str, str]:
    """Labels for a container of this process."""
    return {OWNER_LABEL: owner, PROCESS_LABEL: str(Process.current())}


def is_left_behind(labels: Mapping[str, str]) -> bool:
    """Whether the process that made a container of this owner is gone."""
    process = Process.parse(labels.get(PROCESS_LABEL, ""))
    return process is None or not process.is_alive


def folder_prefix() -> str:
    """Prefix for the name of a private folder of this process. It is short, as the path of a socket must be."""
    return _folder_prefix(os.getpid())


def remove_folders_left_behind() -> None:
    """Remove the private folders of processes that are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*-*"):
        pid = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if pid.isdecimal() and not folder.name.startswith(_folder_prefix(int(pid))):
            shutil.rmtree(folder, ignore_errors=True)


def _folder_prefix(pid: int) -> str:
    try:
        started = _started(pid)
    except OSError:
        started = ""
    return f"{_FOLDER}{pid}-{hashlib.sha256(started.encode()).hexdigest()[:8]}-"


def _started(pid: int) -> str:
    """Start time of a process: field 22 of /proc/<pid>/stat. The second field may hold spaces and brackets.

    Raises:
        OSError: there is no such process.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{fields[19]}:{boot}"
