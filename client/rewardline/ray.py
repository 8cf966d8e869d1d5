"""Rewardline on Ray.

    Rewards               the client of a pool in this Ray cluster; hooks use it with REWARDLINE_URL=ray://NAME
    start, status, stop   a pool: services in actors, one per node
    app                   the service as an application of Ray Serve: `serve run rewardline.ray:app`
    Scorer                judges the rows of a data set: `dataset.map_batches(rewardline.ray.Scorer, ...)`

`Rewards` needs Ray alone. The others need the server where they run: `pip install 'rewardline-server[ray]'`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rewardline.async_client import AsyncClient

if TYPE_CHECKING:
    from service.cluster.pool import start, status, stop
    from service.cluster.scorer import Scorer
    from service.cluster.serve_app import app

__all__ = ["Rewards", "Scorer", "app", "start", "status", "stop"]

_OF_THE_SERVER = {
    "Scorer": "service.cluster.scorer",
    "app": "service.cluster.serve_app",
    "start": "service.cluster.pool",
    "status": "service.cluster.pool",
    "stop": "service.cluster.pool",
}
"""The modules of what needs the server. They are imported on first use."""


class Rewards(AsyncClient):
    """An `AsyncClient` of a pool: same methods, results and errors, without HTTP. A pickled copy finds the pool anew."""

    def __init__(self, name: str = "rewardline", **options: Any) -> None:
        """
        Args:
            name: The pool, as `start` named it.
            options: Those of `AsyncClient`.

        Raises:
            ImportError: Ray is not installed here.
            ValueError: A setting can never work.
        """
        super().__init__(f"ray://{name}", **options)


def __getattr__(name: str) -> Any:
    if name not in _OF_THE_SERVER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_OF_THE_SERVER[name]), name)
    except ImportError as error:
        raise ImportError(
            f"rewardline.ray.{name} needs the server and Ray here: pip install 'rewardline-server[ray]' ({error})"
        ) from error
