"""Reads the log line by line, in every form of file, however large it is.

While the log is read, files are still closed, packed and deleted. So a file is known by its stem. If it is gone, the
reader looks for its other forms.
"""

import contextlib
import gzip
import importlib
import io
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

import zstandard

from service.observe.audit_log.files import FORMS, LIVE, started_at, stem_of

MAX_LINE_BYTES: Final = 64_000_000
"""The length of one read. A line of ours is shorter. Longer lines, such as the zeros that a power failure may leave,
come in pieces."""
_POLL_S: Final = 0.2
_DAMAGE: Final = (OSError, EOFError, ValueError, ImportError, zlib.error, zstandard.ZstdError)


class NotThere(Exception):
    """There is no file of the log at this place. The message says so."""


def find(sources: Iterable[Path]) -> list[Path]:
    """The files at these places (folders or files), in the order of their first records. Each file comes once, packed
    or not.

    Raises:
        NotThere
    """
    files: dict[str, Path] = {}
    for source in sources:
        source_path = source if source.exists() else elsewhere(source)
        if source_path is None:
            raise NotThere(f"no folder or file {source}")
        for path in source_path.iterdir() if source_path.is_dir() else (source_path,):
            stem = stem_of(path)
            if stem is not None:
                # A file that is being packed is there twice. The original is whole.
                files[stem] = min(path, files.get(stem, path), key=_form)
            elif path == source_path:
                files[str(source_path)] = source_path
    return [files[stem] for stem in sorted(files)]


def key_of(path: Path) -> str:
    """What tells the file from others, whatever form it has by now."""
    return stem_of(path) or str(path)


def may_hold(path: Path, since: datetime | None, until: datetime | None) -> bool:
    """Whether the file may hold records of this time."""
    stem = stem_of(path)
    if stem is None:
        return True
    if until is not None and started_at(stem) > until:
        return False
    if since is None or path.name.endswith(LIVE):
        return True
    with contextlib.suppress(OSError):
        return path.stat().st_mtime >= since.timestamp()
    return True


def lines(path: Path, damaged: list[str]) -> Iterator[bytes]:
    """The lines of a file. The last may lack its end. If the file is damaged, it ends there, and `damaged` gets a
    message.
    """
    try:
        if _is_parquet(path):
            # Imported only here: pyarrow is an extra.
            yield from importlib.import_module("service.observe.audit_log.parquet").lines(path)
        else:
            with _open(path) as file:
                while line := file.readline(MAX_LINE_BYTES):
                    yield line
    except FileNotFoundError:
        moved_path = elsewhere(path)
        if moved_path is not None:  # otherwise it was deleted, because it was the oldest
            yield from lines(moved_path, damaged)
    except _DAMAGE as error:
        damaged.append(f"{path}: {error}")


def follow(sources: Sequence[Path], damaged: list[str], is_wanted: Callable[[Path], bool]) -> Iterator[bytes | None]:
    """All lines so far, and then new ones as they are written. Yields None whenever there is nothing for now. It never
    ends.
    """
    tails: dict[str, _Tail] = {}
    while True:
        is_reported = False
        now = {key_of(path): path for path in _find_what_is_left(sources) if is_wanted(path)}
        for stem in sorted(now.keys() | tails.keys()):
            tail = tails.setdefault(stem, _Tail())
            for line in tail.more(now.get(stem), damaged):
                is_reported = True
                yield line
            if stem not in now:
                del tails[stem]
        if not is_reported:
            yield None
            time.sleep(_POLL_S)


def _find_what_is_left(sources: Sequence[Path]) -> list[Path]:
    try:
        return find(sources)
    except NotThere:
        return []


def elsewhere(path: Path) -> Path | None:
    """The path of a file of the log after it has been closed or packed."""
    stem = stem_of(path)
    candidates = [path.with_name(stem + form) for form in FORMS] if stem else []
    return next((candidate for candidate in candidates if candidate.exists()), None)


class _Tail:
    """One file that grows, and how far it has been read."""

    def __init__(self) -> None:
        self._file: BinaryIO | None = None
        self._half = b""
        self._is_over = False

    def more(self, path: Path | None, damaged: list[str]) -> Iterator[bytes]:
        """The lines that were written since the last call. `path` is where the file is now, None if it is gone."""
        is_live = path is not None and path.name.endswith(LIVE)
        if self._file is None:
            if self._is_over or path is None:
                return
            self._is_over = not is_live
            if not is_live:
                yield from lines(path, damaged)
                return
            with contextlib.suppress(FileNotFoundError):  # closed in this moment: the next call finds it closed
                self._file = path.open("rb")
        if self._file is None:
            return
        while part := self._file.readline(MAX_LINE_BYTES):
            self._half += part
            if part.endswith(b"\n") or len(self._half) >= MAX_LINE_BYTES:
                yield self._half
                self._half = b""
        if not is_live:
            self._file.close()
            self._file, self._is_over = None, True
            if self._half:
                yield self._half


def _form(path: Path) -> int:
    return next(at for at, form in enumerate((LIVE, *FORMS)) if path.name.endswith(form))


def _is_parquet(path: Path) -> bool:
    return path.suffix == ".parquet"


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile is one in all that matters
    if path.suffix == ".zst":
        packed = path.open("rb")
        unpacked = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True, closefd=True)
        return io.BufferedReader(unpacked, 1 << 20)
    return path.open("rb")
