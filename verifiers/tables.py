"""Reads the tables that stand beside our modules, as YAML. libyaml takes a tenth of the time of Python's own reader."""

import hashlib
import os
import sys
from contextlib import suppress
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

_VALUES: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXTS: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def values(path: Traversable) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=_VALUES)  # noqa: S506 - it is a safe loader


def texts(path: Path) -> Any:
    """All scalars are texts: `yes` and `no` are not booleans here.

    The table is kept as JSON where Python keeps the compiled modules of its folder, with the hash of the YAML that it
    was read from. JSON takes a thirtieth of the time, and each process reads forty tables when it starts.
    """
    source = path.read_bytes()
    digest = hashlib.blake2b(source).hexdigest()
    kept = path.parent / "__pycache__" / f"{path.name}.json"
    with suppress(OSError, ValueError):
        kept_digest, table = msgspec.json.decode(kept.read_bytes(), type=tuple[str, Any])
        if kept_digest == digest:
            return table
    table = yaml.load(source.decode(), Loader=_TEXTS)  # noqa: S506 - it makes texts alone
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            kept.parent.mkdir(exist_ok=True)
            unfinished = kept.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(msgspec.json.encode([digest, table]))
            unfinished.replace(kept)
    return table
