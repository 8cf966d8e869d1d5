"""Opens the audit log by the settings, with its metrics, for as long as the service runs."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from service.observe.audit_log import archive
from service.observe.audit_log.records import Rules
from service.observe.audit_log.writer import AuditLog, Options
from service.observe.metrics import Metrics
from service.settings import Settings
from service.wire import BatchRequest, Result

Observer = Callable[[BatchRequest, Sequence[Result]], None]


class CannotOpen(Exception):
    """The audit log of the settings cannot be written. The message says why."""


@contextlib.asynccontextmanager
async def open_log(settings: Settings, metrics: Metrics) -> AsyncIterator[Observer | None]:
    """The observer that the engine calls with finished batches. None if there is no log. On leaving, all records are on
    the disk.

    Raises:
        CannotOpen
    """
    folder = settings.log_folder
    if folder is None:
        yield None
        return
    _check(settings, folder)
    log = AuditLog(_options(settings, folder))
    _publish(log, metrics)
    log.start()
    try:
        yield log.observe
    finally:
        await asyncio.to_thread(log.close, settings.drain_timeout_s)


def _check(settings: Settings, folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        archive.check(settings.audit_format)
    except OSError as error:
        raise CannotOpen(f"audit_dir {folder}: {error.strerror}") from error
    except ImportError as error:
        raise CannotOpen("audit_format parquet needs pyarrow: pip install 'rewardline-server[parquet]'") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotOpen(f"audit_dir {folder} cannot be written to")


def _options(settings: Settings, folder: Path) -> Options:
    return Options(
        folder,
        Rules(
            settings.audit_sample,
            settings.audit_keep_unjudged,
            settings.audit_redact,
            settings.audit_max_text_chars,
        ),
        settings.audit_format,
        rotate_bytes=int(settings.audit_rotate_mb * 1_000_000),
        rotate_s=settings.audit_rotate_s,
        keep_files=settings.audit_keep_files,
        keep_bytes=int(settings.audit_keep_mb * 1_000_000),
        queue_bytes=int(settings.audit_queue_mb * 1_000_000),
    )


def _publish(log: AuditLog, metrics: Metrics) -> None:
    metrics.watch_total("audit_records", "Records written to the audit log", lambda: log.records)
    metrics.watch_total("audit_bytes", "Bytes written to the audit log", lambda: log.nbytes)
    metrics.watch("audit_queue_bytes", "Bytes waiting to be written to the audit log", lambda: log.queued_bytes)
    metrics.watch_totals(
        "audit_dropped_items", "Items that the audit log lost, by reason", lambda: dict(log.dropped), "reason"
    )
