"""Reads tables of words, which are YAML files beside the modules that use them."""

from pathlib import Path
from typing import Any

import yaml


def read(path: Path) -> dict[str, Any]:
    """The table of a file. All its words are texts: `yes`, `no` and `1.0` are not values here."""
    table: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - makes texts alone
    return table


_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
