"""The files of the log: their names, the live file, and the closed files.

    audit-20260307T091503.120045Z-5f0c1a2b.live.jsonl     being written, and locked by its writer
    audit-20260307T091503.120045Z-5f0c1a2b.jsonl          closed; then .jsonl.gz, .jsonl.zst or .parquet

The time in a name is that of the first record, so that names sort like the records. The rest of the name keeps apart
processes that write into one folder. A live file that no process holds locked was left by a process that was killed.
The next process closes it.
"""

import contextlib
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

LIVE: Final = ".live.jsonl"
CLOSED: Final = ".jsonl"
FORMS: Final = (CLOSED, ".jsonl.gz", ".jsonl.zst", ".parquet")
"""The endings of the names of closed files."""
_NAME: Final = re.compile(
    r"(audit-\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8})(\.live\.jsonl|\.jsonl|\.jsonl\.gz|\.jsonl\.zst|\.parquet)"
)
_STARTED: Final = "%Y%m%dT%H%M%S.%fZ"
_MODE: Final = 0o600
_TRIES: Final = 5


def stem_of(path: Path) -> str | None:
    """The part of the name that all forms of the file share. None if it is not a file of the log."""
    match = _NAME.fullmatch(path.name)
    return match[1] if match else None


def started_at(stem: str) -> datetime:
    """The time of the first record."""
    return datetime.strptime(stem.split("-")[1], _STARTED).replace(tzinfo=UTC)


def closed_files(folder: Path) -> list[Path]:
    """All closed files, the oldest first."""
    return sorted(path for path in folder.glob("audit-*") if stem_of(path) and not path.name.endswith(LIVE))


def close_orphans(folder: Path) -> list[Path]:
    """Close the live files of processes that are gone. Returns their new paths."""
    paths = []
    for path in sorted(folder.glob(f"audit-*{LIVE}")):
        if stem_of(path) is None:
            continue
        with contextlib.suppress(OSError), _locked(path):
            paths.append(path.rename(path.with_name(path.name.removesuffix(LIVE) + CLOSED)))
    return paths


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


class LiveFile:
    """The file that is being written. All methods may raise OSError."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.size = 0
        self._opened_s = time.monotonic()
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path, started_s: float) -> Self:
        """Create a file. Its first record is of this time."""
        started = datetime.fromtimestamp(started_s, UTC).strftime(_STARTED)
        for _ in range(_TRIES):
            path = folder / f"audit-{started}-{secrets.token_hex(4)}{LIVE}"
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, _MODE)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.exists():
                    return cls(path, descriptor)
            os.close(descriptor)  # another process took it for an orphan just now, and closes it, or has closed it
        raise FileExistsError(f"cannot lock a new file in {folder}")

    @property
    def age_s(self) -> float:
        return time.monotonic() - self._opened_s

    @property
    def is_gone(self) -> bool:
        """Whether the file has been deleted."""
        return os.fstat(self._descriptor).st_nlink == 0

    def write(self, lines: bytearray) -> None:
        """Append whole lines: all of them or none."""
        offset = 0
        try:
            with memoryview(lines) as view:
                while offset < len(lines):
                    offset += os.write(self._descriptor, view[offset:])
        except OSError:
            os.ftruncate(self._descriptor, self.size)
            raise
        self.size += offset

    def close(self) -> Path | None:
        """Close the file. Returns its new path. None if it is gone or was empty."""
        try:
            if self.is_gone:
                return None
            if not self.size:
                self.path.unlink()
                return None
            os.fsync(self._descriptor)
            return self.path.rename(self.path.with_name(self.path.name.removesuffix(LIVE) + CLOSED))
        finally:
            os.close(self._descriptor)
