"""What this machine must allow before a service can start: open files, processes and threads, temporary files.

Without this look, the libraries below find out later: gRPC aborts the process if it cannot start a thread.
"""

import os
import resource
import tempfile
import threading
from pathlib import Path
from typing import Final

from service.run.cannot_start import CannotStart
from service.settings import Settings

OPEN_FILES: Final = 65_536
LEAST_FILES: Final = 128
"""Below this, workers and doors have no files left for connections."""
_OWN_THREADS: Final = 32
"""Threads of gRPC, of name resolution and of what waits for disks and daemons, together at their most."""


def allow_many_files() -> None:
    """Raise the limit of open files. Trainers open a connection per sample, thousands at a time; the usual soft limit is
    1,024 files.

    Raises:
        CannotStart: the hard limit is too low.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = OPEN_FILES if hard_limit == resource.RLIM_INFINITY else min(hard_limit, OPEN_FILES)
    if target < LEAST_FILES:
        raise CannotStart(
            f"this process may open {target} files (RLIMIT_NOFILE), and needs at least {LEAST_FILES}, one for each "
            f"connection besides; raise the limit where it is started: `ulimit -n {OPEN_FILES}`, `LimitNOFILE=` of systemd"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard_limit))


def check_processes(settings: Settings) -> None:
    """Check that the processes and threads of a start are allowed, by starting as many threads for a moment.

    Raises:
        CannotStart: they are not.
    """
    count = _OWN_THREADS + settings.worker_count
    over = threading.Event()
    threads: list[threading.Thread] = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=over.wait, daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError as error:
        limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        allowed = "" if limit == resource.RLIM_INFINITY else f", and its limit for all its processes is {limit}"
        raise CannotStart(
            f"user {os.getuid()} can start only {len(threads)} more processes and threads{allowed}; a start needs {count}; "
            "raise RLIMIT_NPROC (`ulimit -u`), or the pids limit of the container"
        ) from error
    finally:
        over.set()
        for thread in threads:
            thread.join()


def check_folders(settings: Settings) -> None:
    """Check that the folders that the settings name are there.

    Raises:
        CannotStart: one is not.
    """
    for name, folder in (("harbor_root", settings.harbor_root), ("dataset_root", settings.dataset_root)):
        if folder is not None and not folder.is_dir():
            raise CannotStart(f"{name}: there is no folder {folder}; make it, or name another one")
    python = settings.local_python
    if python is not None and not _is_program(python):
        raise CannotStart(f"local_python: {python} is not a program; name a Python interpreter")


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def lack_of_files() -> str:
    """Why no temporary file can be written. Empty if one can."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        return (
            "no folder for temporary files can be written (TMPDIR, /tmp, /var/tmp): local boxes and audits of data sets "
            "need one; mount one at /tmp, or set TMPDIR"
        )
    return ""
