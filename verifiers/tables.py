"""Reads the tables that stand beside our modules, as YAML. libyaml takes a tenth of the time of Python's own reader."""

from importlib.resources.abc import Traversable
from typing import Any, Final

import yaml

_VALUES: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXTS: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def values(path: Traversable) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=_VALUES)  # noqa: S506 - it is a safe loader


def texts(path: Traversable) -> Any:
    """All scalars are texts: `yes` and `no` are not booleans here."""
    return yaml.load(path.read_text("utf-8"), Loader=_TEXTS)  # noqa: S506 - it makes texts alone
