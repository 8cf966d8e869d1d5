"""Whose a container is: told by labels, so that what a killed service left behind can be found and removed.

A container belongs to an owner, a name which services share that would clean up after each other, and to one process of
it. A process is known by its id and the time it started, as ids come again; both mean something only on the machine
and in the PID namespace in which they were written. Services which share a Docker daemon but not those need different
owners.
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
    """In clock ticks since the machine was started, and which start that was."""

    @classmethod
    def current(cls) -> "Process":
        pid = os.getpid()
        return cls(pid, _started(pid))

    @classmethod
    def parse(cls, text: str) -> "Process | None":
        """What `str` made."""
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
    """One service per host name; containers have a name of their own each."""
    return socket.gethostname()


def labels(owner: str) -> dict[str, str]:
    """For a container of this process."""
    return {OWNER_LABEL: owner, PROCESS_LABEL: str(Process.current())}


def is_left_behind(labels: Mapping[str, str]) -> bool:
    """Whether the process that made a container of this owner is gone."""
    process = Process.parse(labels.get(PROCESS_LABEL, ""))
    return process is None or not process.is_alive


def folder_prefix() -> str:
    """For the name of a private folder of this process; short, as the path of a socket must be."""
    return _folder_prefix(os.getpid())


def remove_folders_left_behind() -> None:
    """Of processes that are gone."""
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
    """Field 22 of /proc/<pid>/stat; the second field may hold spaces and brackets.

    Raises:
        OSError: there is no such process.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{fields[19]}:{boot}"
