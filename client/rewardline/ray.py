"""Rewardline on Ray.

    Scorer   judges the rows of a data set: `dataset.map_batches(rewardline.ray.Scorer, ...)`

It needs the server where it runs: `pip install 'rewardline-server[ray]'`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from service.cluster.scorer import Scorer

__all__ = ["Scorer"]

_OF_THE_SERVER = {"Scorer": "service.cluster.scorer"}
"""The modules of what needs the server. They are imported on first use."""


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_SERVER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_OF_THE_SERVER[name]), name)
    except ImportError as error:
        raise ImportError(
            f"rewardline.ray.{name} needs the server and Ray here: pip install 'rewardline-server[ray]' ({error})"
        ) from error
