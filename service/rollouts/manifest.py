"""The record of a run, in the folder of its output: what the run is, and which blocks are finished.

    DIR/part-000012.parquet            the rows of block 12, with their verdicts
    DIR/_failed/part-000012.parquet    those that could not be judged, as they were; there is none if there are none
    DIR/_run/run.json                  what the run reads and asks
    DIR/_run/finished/000012.json      block 12 is finished, and its counts

A file gets its name when it is complete, and the record of a block comes last. So whoever is killed, a block is either
finished or begun anew.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import uuid4

import msgspec
import pyarrow as pa
from pyarrow import fs

from service.rollouts.bad_input import BadInput
from service.rollouts.blocks import READERS, Block, located
from service.rollouts.columns import Columns
from service.rollouts.tally import Tally
from service.wire import encode

_RUN: Final = "_run/run.json"
_FINISHED: Final = "_run/finished"
_FAILED: Final = "_failed"
_UNFINISHED: Final = ".unfinished-"
"""How the name of a file begins that is being written."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The folder of a run's output."""

    filesystem: Any
    folder: str

    @classmethod
    def at(cls, location: str) -> "Manifest":
        """
        Raises:
            BadInput: there is no such file system.
        """
        return cls(*located(location.rstrip("/") or "/"))

    def begin(self, blocks: Sequence[Block], columns: Columns, *, explain: bool = False) -> dict[int, Tally]:
        """Begin the run, or go on with it. Returns the counts of the finished blocks by their index.

        Raises:
            BadInput: the folder holds something else, or cannot be written.
        """
        request = {"columns": asdict(columns), "explain": explain}
        expected = {"input": _fingerprint(blocks), "blocks": len(blocks), **request}
        try:
            recorded = self._read(_RUN)
            if recorded is None:
                self._check_empty()
                for folder in (_FINISHED, _FAILED):
                    self.filesystem.create_dir(f"{self.folder}/{folder}", recursive=True)
                self.write(_RUN, encode(expected))
                return {}
            if recorded != expected:
                changed = [name for name, value in expected.items() if recorded.get(name) != value]
                raise BadInput(
                    f"{self.folder} holds another run, with another value of {changed}: name another folder with -o, "
                    "or start again with --overwrite"
                )
            return dict(self._finished())
        except (OSError, pa.ArrowException) as error:
            raise BadInput(f"{self.folder}: {error}") from error

    def clear(self) -> None:
        """Remove the output of a run. Other files stay.

        Raises:
            BadInput: something cannot be removed.
        """
        try:
            if self._read(_RUN) is None:
                return
            for info in self._files(self.folder):
                if info.base_name.startswith(("part-", _UNFINISHED)):
                    self.filesystem.delete_file(info.path)
            for folder in (_FAILED, _RUN.partition("/")[0]):
                self.filesystem.delete_dir(f"{self.folder}/{folder}")
        except (OSError, pa.ArrowException) as error:
            raise BadInput(f"{self.folder}: {error}") from error

    def is_finished(self, block: Block) -> Tally | None:
        """The counts of a block that is finished."""
        record = self._read(_record_of(block.index))
        return None if record is None else Tally.of_plain(record)

    def finish(self, block: Block, tally: Tally) -> None:
        """Note that a block is finished. Its files are complete."""
        self.write(_record_of(block.index), encode({**tally.plain(), "input": asdict(block)}))

    def write(self, name: str, content: bytes) -> None:
        with self.creating(name) as out:
            out.write(content)

    @contextmanager
    def creating(self, name: str) -> Iterator[Any]:
        """A file to write, which has its name after the block. If the block raises, there is no such file."""
        parent, _, base = f"{self.folder}/{name}".rpartition("/")
        unfinished = f"{parent}/{_UNFINISHED}{uuid4().hex[:12]}-{base}"
        try:
            with self.filesystem.open_output_stream(unfinished) as out:
                yield out
            self.filesystem.move(unfinished, f"{parent}/{base}")
        except BaseException:
            with suppress(OSError):
                self.filesystem.delete_file(unfinished)
            raise

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        path = f"{self.folder}/{name}"
        if self.filesystem.get_file_info(path).type == fs.FileType.File:
            self.filesystem.delete_file(path)

    def _check_empty(self) -> None:
        leftovers = [info.base_name for info in self._files(self.folder) if info.base_name.startswith("part-")]
        if leftovers:
            raise BadInput(f"{self.folder} holds {leftovers[0]}, and no record of a run: name an empty folder with -o")

    def _finished(self) -> Iterator[tuple[int, Tally]]:
        files = [info.base_name for info in self._files(f"{self.folder}/{_FINISHED}")]
        names = [f"{_FINISHED}/{name}" for name in files if not name.startswith(_UNFINISHED)]
        with ThreadPoolExecutor(READERS) as pool:
            for record in pool.map(self._read, names):
                if record is not None:
                    yield record["input"]["index"], Tally.of_plain(record)

    def _files(self, folder: str) -> list[Any]:
        infos = self.filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        return [info for info in infos if info.type == fs.FileType.File]

    def _read(self, name: str) -> Mapping[str, Any] | None:
        path = f"{self.folder}/{name}"
        if self.filesystem.get_file_info(path).type != fs.FileType.File:
            return None
        with self.filesystem.open_input_stream(path) as stream:
            content = stream.read()
        try:
            record: Mapping[str, Any] = msgspec.json.decode(content)
        except msgspec.DecodeError as error:
            raise BadInput(f"{path} is damaged ({error}): start again with --overwrite") from error
        return record


def failed_name(block: Block) -> str:
    """The file of a block's rows that could not be judged."""
    return f"{_FAILED}/{block.name}"


def _record_of(index: int) -> str:
    return f"{_FINISHED}/{index:06}.json"


def _fingerprint(blocks: Sequence[Block]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(encode(asdict(block)))
    return digest.hexdigest()
