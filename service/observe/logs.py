"""Sets up logs: one JSON object per line on standard error, both ours and the libraries'. At level info they hold no
response text.
"""

import json
import logging
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from service.settings import Settings
from tracing.lines import Log

_access = Log("rewardline.access")
_fast = False
"""Whether the format is JSON lines; `access` writes those itself."""


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "event": record.getMessage(),
            **_fields(record),
            **_origin(record.name, record.levelname, record.created),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=repr)


class _ForPeople(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is logging's
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        return f"{super().formatMessage(record)}{fields}"


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = getattr(record, "fields", {})
    return fields


def _origin(logger: str, level: str, time_s: float) -> Mapping[str, str]:
    moment = datetime.fromtimestamp(time_s, UTC).isoformat().replace("+00:00", "Z")
    return {"level": level.lower(), "logger": logger, "timestamp": moment}


def configure(settings: Settings) -> None:
    """Send all records of the standard library's logging to standard error in one form."""
    global _fast
    _fast = settings.log_format == "json"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if _fast else _ForPeople("%(asctime)s %(levelname)-8s %(message)s"))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(True)  # a library's warning is a record like any other
    logging.getLogger("uvicorn").setLevel(logging.WARNING)


def access(fields: Mapping[str, Any]) -> None:
    """Write the line of one finished request. The line is that of logging at a fraction of its cost, since there are
    thousands a second.
    """
    if not _access.isEnabledFor(logging.INFO):
        return
    if not _fast:
        _access.info("request", **fields)
        return
    line = {"event": "request", **fields, **_origin(_access.name, "info", time.time())}
    sys.stderr.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stderr.buffer.flush()
