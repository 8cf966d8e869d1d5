"""Writes records from the engine to the disk: a bounded queue, and the thread that empties it.

The event loop only hands over references, in about a microsecond per item. The thread does everything else: choosing,
cutting, hashing, encoding, writing. It holds Python's lock in short slices, so that scoring gets it back soon.
"""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

import msgspec

from fairness import TENANT
from service.observe.access_log import CURRENT_REQUEST
from service.observe.audit_log.archive import Archive, Form
from service.observe.audit_log.files import LiveFile
from service.observe.audit_log.records import Finished, Rules, record_of, timestamp
from service.tenant import RUN
from service.wire import BatchRequest, Message, Result
from tracing.lines import Log

log = Log("rewardline.audit")

_SLICE_ITEMS: Final = 128
"""Items that the thread handles before it gives away Python's lock: less than a millisecond. If texts are long, writing
gives it away sooner."""
_PAUSE_S: Final = 0.0001
_WRITE_BYTES: Final = 256_000
_IDLE_S: Final = 1.0
"""The interval at which the age of the file is checked while no records come."""
_COMPLAIN_S: Final = 60.0
_ITEM_BYTES: Final = 1_500
"""The memory of an item and its result, beside their texts."""


@dataclass(frozen=True, slots=True)
class Options:
    """Where to write, and how much of the log to keep."""

    folder: Path
    rules: Rules = field(default_factory=Rules)
    form: Form = "jsonl"
    rotate_bytes: int = 100_000_000
    rotate_s: float = 86_400.0
    keep_files: int = 1_000
    keep_bytes: int = 10_000_000_000
    queue_bytes: int = 256_000_000


class AuditLog:
    """Logs every finished batch. Call `start` before the first batch and `close` after the last."""

    def __init__(self, options: Options) -> None:
        self.records = 0
        self.nbytes = 0
        self.dropped: Counter[str] = Counter(queue_full=0, disk=0, bug=0, shutdown=0)
        """Items that should have been logged, by the reason why they were not."""
        self._options = options
        self._queue: SimpleQueue[Finished | None] = SimpleQueue()
        # One thread writes each of the four: the event loop's thread counts what comes in, the writer's what is done.
        self._put_bytes = self._put_items = 0
        self._done_bytes = self._done_items = 0
        self._archive = Archive(
            options.folder, options.form, keep_files=options.keep_files, keep_bytes=options.keep_bytes
        )
        self._thread = threading.Thread(target=self._run, name="audit-log", daemon=True)
        self._file: LiveFile | None = None
        self._lines = bytearray()
        self._lines_held = 0
        self._lines_from_s = 0.0
        """The time of the first of these lines."""
        self._complained_s = -_COMPLAIN_S
        self._complained_of = 0

    @property
    def queued_bytes(self) -> int:
        """The approximate number of bytes in the queue."""
        return self._put_bytes - self._done_bytes

    def start(self) -> None:
        self._archive.start()
        self._thread.start()

    def close(self, timeout_s: float) -> None:
        """Write the queue and close the file. It gives up after the timeout. It blocks."""
        ends_s = time.monotonic() + timeout_s
        self._queue.put(None)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self.dropped["shutdown"] += self._put_items - self._done_items
            log.warning("the audit log was not written completely", items_lost=self.dropped["shutdown"])
        self._archive.stop(max(0.0, ends_s - time.monotonic()))

    def observe(self, batch: BatchRequest, results: Sequence[Result]) -> None:
        """Queue a finished batch for the log. Returns at once. Call it in the thread of the event loop."""
        try:
            nbytes = _weight(batch)
        except Exception:  # no error of the log may reach scoring
            self.dropped["bug"] += len(results)
            log.exception("a batch cannot be logged")
            return
        # An empty queue takes any batch: requests have bounds of their own.
        if self.queued_bytes and self.queued_bytes + nbytes > self._options.queue_bytes:
            self.dropped["queue_full"] += len(results)
            self._complain()
            return
        self._put_bytes += nbytes
        self._put_items += len(results)
        context = (CURRENT_REQUEST.get(), batch.items, batch.references, results, nbytes, TENANT.get(), RUN.get())
        self._queue.put(Finished(time.time(), *context))

    def _run(self) -> None:
        count = 0
        while True:
            try:
                batch = self._queue.get(timeout=_IDLE_S)
            except Empty:
                self._end_file(if_older_s=self._options.rotate_s)
                self._complain()
                continue
            if batch is None:
                self._write()
                self._done_items = count
                self._end_file()
                return
            try:
                self._take(batch)
            except OSError:  # part of the batch may be written; the log goes on with the next batch
                self.dropped["bug"] += len(batch.results)
                log.exception("a batch was not logged completely")
            self._done_bytes += batch.nbytes
            count += len(batch.results)
            if self._queue.empty():
                self._write()
            if not self._lines:
                self._done_items = count

    def _take(self, batch: Finished) -> None:
        moment = timestamp(batch.time_s)
        for at in range(len(batch.results)):
            offset = len(self._lines)
            try:
                record = record_of(batch, at, moment, self._options.rules)
                if record is not None:
                    _encoder.encode_into(record, self._lines, offset)
                    self._lines += b"\n"
            except Exception:
                del self._lines[offset:]
                self.dropped["bug"] += 1
                log.exception("an item cannot be logged")
            if len(self._lines) > offset:
                self._lines_held += 1
                if not offset:
                    self._lines_from_s = batch.time_s
                if len(self._lines) > _WRITE_BYTES:
                    self._write()
            if at % _SLICE_ITEMS == _SLICE_ITEMS - 1:
                time.sleep(_PAUSE_S)

    def _write(self) -> None:
        """Write the held lines, or drop them."""
        if not self._lines:
            return
        try:
            self._end_file(if_older_s=self._options.rotate_s)
            if self._file is None:
                self._options.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file = LiveFile.create(self._options.folder, self._lines_from_s)
            self._file.write(self._lines)
        except OSError as error:
            self.dropped["disk"] += self._lines_held
            self._complain(str(error))
        else:
            self.records += self._lines_held
            self.nbytes += len(self._lines)
            if self._file.size >= self._options.rotate_bytes:
                self._end_file()
        finally:
            self._lines.clear()
            self._lines_held = 0

    def _end_file(self, if_older_s: float = 0.0) -> None:
        """Close the file if it is older than this or is gone."""
        if self._file is None:
            return
        if self._file.age_s < if_older_s and not self._file.is_gone:
            return
        file, self._file = self._file, None
        try:
            file_closed = file.close()
        except OSError as error:
            log.warning("a file of the audit log could not be closed", path=str(file.path), error=str(error))
        else:
            if file_closed is not None:
                self._archive.add(file_closed)

    def _complain(self, why: str = "") -> None:
        """Log what was lost, at most once a minute."""
        now_s, dropped = time.monotonic(), self.dropped.total()
        if dropped > self._complained_of and now_s - self._complained_s > _COMPLAIN_S:
            log.warning(
                "the audit log loses items", items=dropped - self._complained_of, of=dict(self.dropped), why=why
            )
            self._complained_s, self._complained_of = now_s, dropped


def _weight(batch: BatchRequest) -> int:
    """The approximate number of bytes that the batch holds in memory. Texts count twice, because raw JSON keeps the
    whole body in memory.
    """
    nbytes = len(batch.items) * _ITEM_BYTES + sum(map(_raw_bytes, batch.references.values()))
    for item in batch.items:
        response, prompt = item.response, item.prompt
        nbytes += 2 * (response.__sizeof__() if isinstance(response, str) else _messages_bytes(response))
        if prompt is not None:
            nbytes += 2 * (prompt.__sizeof__() if isinstance(prompt, str) else _messages_bytes(prompt))
        if item.messages is not None:
            nbytes += 2 * _messages_bytes(item.messages)
        nbytes += _raw_bytes(item.reference) + _raw_bytes(item.metadata)
    return nbytes


def _messages_bytes(messages: str | list[Message]) -> int:
    if isinstance(messages, str):
        return messages.__sizeof__()
    return len(_encoder.encode(messages))


def _raw_bytes(raw: msgspec.Raw) -> int:
    return memoryview(raw).nbytes


_encoder: Final = msgspec.json.Encoder()
