"""Packs closed files and deletes the oldest, in a thread of its own, so that writing goes on.

A packed file replaces its original in one step. If the process is killed before, the original stays, and the next
process packs it.
"""

import contextlib
import gzip
import importlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Literal

import zstandard

from service.observe.audit_log.files import CLOSED, close_orphans, closed_files, stem_of
from tracing.lines import Log

log = Log("rewardline.audit")

Form = Literal["jsonl", "jsonl.gz", "jsonl.zst", "parquet"]
_ZSTD_LEVEL: Final = 3
_GZIP_LEVEL: Final = 6
_BLOCK_BYTES: Final = 1 << 20
_FORGOTTEN_S: Final = 3600
"""A half packed file that is older than this was left by a process that has ended."""


class Archive:
    """The thread that packs, and its tasks."""

    def __init__(self, folder: Path, form: Form, *, keep_files: int, keep_bytes: int) -> None:
        self._folder = folder
        self._form = form
        self._keep_files = keep_files
        self._keep_bytes = keep_bytes
        self._closed: SimpleQueue[Path | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="audit-packing", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def add(self, path: Path) -> None:
        """Hand over a file that has been closed."""
        self._closed.put(path)

    def stop(self, timeout_s: float) -> None:
        """Wait until everything is packed, but not longer than the timeout. The rest is packed after the next start."""
        self._closed.put(None)
        self._thread.join(timeout_s)

    def _run(self) -> None:
        self._guarded(self._take_over)
        while (path := self._closed.get()) is not None:
            self._guarded(lambda: self._settle(path))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except OSError as error:
            log.warning("a closed file of the audit log could not be packed and stays as it is", error=str(error))
        except Exception:
            log.exception("packing the audit log raised")

    def _take_over(self) -> None:
        """Finish the work that earlier processes left."""
        for path in self._folder.glob(".audit-*.tmp"):
            if time.time() - path.stat().st_mtime > _FORGOTTEN_S:
                path.unlink()
        close_orphans(self._folder)
        for path in closed_files(self._folder):
            if path.name.endswith(CLOSED):
                self._guarded(lambda path=path: pack(path, self._form))  # type: ignore[misc]  # mypy sees no default
        self._delete_oldest()

    def _settle(self, path: Path) -> None:
        pack(path, self._form)
        self._delete_oldest()

    def _delete_oldest(self) -> None:
        sizes = {path: _size(path) for path in closed_files(self._folder)}
        count, nbytes = len(sizes), sum(sizes.values())
        for path, size in sizes.items():
            if count <= self._keep_files and nbytes <= self._keep_bytes:
                return
            path.unlink(missing_ok=True)
            count, nbytes = count - 1, nbytes - size


def _size(path: Path) -> int:
    """The size of a file. It is 0 if another process, which writes into the same folder, has just deleted it."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def check(form: Form) -> None:
    """Check that files of this form can be written here.

    Raises:
        ImportError: files of this form cannot be written here.
    """
    if form == "parquet":
        importlib.import_module("pyarrow.parquet")


def pack(path: Path, form: Form) -> None:
    """Convert a closed file to this form. Its time stays the same."""
    if form == "jsonl":
        return
    stem = stem_of(path)
    assert stem is not None
    being_made = path.with_name(f".{stem}-{os.getpid()}.tmp")
    try:
        os.close(os.open(being_made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        _PACKERS[form](path, being_made)
        with being_made.open("rb") as packed:
            os.fsync(packed.fileno())
        mtime = path.stat().st_mtime
        os.utime(being_made, (mtime, mtime))
        being_made.rename(path.with_name(f"{stem}.{form}"))
        path.unlink(missing_ok=True)
    finally:
        with contextlib.suppress(OSError):
            being_made.unlink(missing_ok=True)


def _gzip(source: Path, target: Path) -> None:
    with source.open("rb") as lines, gzip.open(target, "wb", _GZIP_LEVEL) as packed:
        shutil.copyfileobj(lines, packed, _BLOCK_BYTES)


def _zstd(source: Path, target: Path) -> None:
    with source.open("rb") as lines, target.open("wb") as packed:
        zstandard.ZstdCompressor(_ZSTD_LEVEL, write_checksum=True).copy_stream(lines, packed, read_size=_BLOCK_BYTES)


def _parquet(source: Path, target: Path) -> None:
    # Imported only here: pyarrow is an extra, and large.
    importlib.import_module("service.observe.audit_log.parquet").write(source, target)


_PACKERS: Final[Mapping[Form, Callable[[Path, Path], None]]] = {
    "jsonl.gz": _gzip,
    "jsonl.zst": _zstd,
    "parquet": _parquet,
}
