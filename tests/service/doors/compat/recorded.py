"""Requests in the form that the clients of the doors send, according to their sources."""

import json
from pathlib import Path
from typing import Any

import httpx

from tests.conftest import Served

JSON = dict[str, Any]
FOLDER = Path(__file__).parents[3] / "data" / "doors"


def recorded(name: str) -> JSON:
    found: JSON = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def post(served: Served, path: str, body: Any, **more: Any) -> httpx.Response:
    return httpx.post(f"{served.url}{path}", json=body, timeout=120, **more)


def answer(served: Served, path: str, body: Any) -> Any:
    reply = post(served, path, body)
    assert reply.status_code == 200, reply.text[:500]
    assert reply.headers["content-type"] == "application/json"
    return reply.json()


def metric(served: Served, name: str) -> float:
    """The value of a metric. 0 if it was never counted."""
    lines = httpx.get(f"{served.url}/metrics").text.splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"rewardline_{name} ")), 0.0)
