"""The operators' port: probes, metrics, and draining while everything that comes is still served."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.observe.load_monitor import RollingMax
from tests.conftest import ROOT, Served, serving
from tests.service.slow_verifier import installed
from tests.waiting import PATIENCE_S, eventually

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}


@pytest.fixture
def served_with_ops(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    settings = {"sandbox": "none", "ops_port": "0", "api_keys": "me=0123456789abcdef-ops", "workers": "1"}
    plugins = installed(tmp_path / "plugins")
    with serving(tmp_path / "log.jsonl", (), plugins, drain_timeout_s=str(PATIENCE_S), **settings) as served:
        yield served, served.ops


def test_probes_and_metrics_need_no_key_there(served_with_ops: tuple[Served, str]) -> None:
    served, ops = served_with_ops
    assert [httpx.get(f"{ops}/{path}").status_code for path in ("healthz", "startupz", "readyz")] == [200] * 3
    text = httpx.get(f"{ops}/metrics").text
    for name in ("queued_work_seconds", "queued_work_seconds_peak", "event_loop_lag_seconds", "draining"):
        assert f"\nrewardline_{name}" in text
    assert httpx.get(f"{served.url}/metrics").status_code == 401
    assert httpx.post(f"{ops}/v1/score", json={"items": [ITEM]}).status_code == 404


def test_a_container_asks_the_same_port_how_it_is(served_with_ops: tuple[Served, str]) -> None:
    """As Docker does: deploy/docker/health.py, without the service's modules."""
    _, ops = served_with_ops
    variables = {"REWARDLINE_OPS_PORT": ops.rpartition(":")[2]}
    for path, code in (("/readyz", 0), ("/nosuch", 1)):
        command = [sys.executable, "-I", str(ROOT / "deploy/docker/health.py"), path]
        assert subprocess.run(command, env=variables, capture_output=True).returncode == code


def test_draining_waits_for_what_is_under_way_and_refuses_nobody(
    served_with_ops: tuple[Served, str], tmp_path: Path
) -> None:
    served, ops = served_with_ops
    done = tmp_path / "done"
    held = {"verifier": "slow", "response": "a", "params": {"until": str(done)}}
    headers = {"Authorization": "Bearer 0123456789abcdef-ops"}
    answers: dict[str, Any] = {}

    def score(name: str, item: Any) -> None:
        answers[name] = httpx.post(
            f"{served.url}/v1/score", json={"items": [item]}, headers=headers, timeout=PATIENCE_S
        )

    slow = threading.Thread(target=score, args=("slow", held))
    slow.start()
    eventually(lambda: "rewardline_in_flight_requests 1.0" in httpx.get(f"{ops}/metrics").text)
    drained: list[httpx.Response] = []
    draining = threading.Thread(target=lambda: drained.append(httpx.get(f"{ops}/drain", timeout=PATIENCE_S)))
    draining.start()
    eventually(lambda: httpx.get(f"{ops}/readyz").status_code == 503)
    assert httpx.get(f"{ops}/healthz").status_code == 200
    score("late", ITEM)
    assert answers["late"].json()["results"][0]["score"] == 1.0
    assert answers["late"].headers["connection"] == "close"
    assert "rewardline_draining 1.0" in httpx.get(f"{ops}/metrics").text
    assert draining.is_alive()
    done.touch()
    draining.join(PATIENCE_S)
    slow.join(PATIENCE_S)
    assert answers["slow"].json()["results"][0]["score"] == 1.0
    assert drained[0].json() == {"requests": 0, "items": 0}
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(PATIENCE_S) == 0


def test_the_maximum_of_the_recent_past() -> None:
    maximum = RollingMax(10.0)
    seen = []
    for at_s, value in enumerate([1.0, 5.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]):
        maximum.note(float(at_s), value)
        seen.append(maximum.value)
    assert seen == [1.0, *[5.0] * 10, 3.0, 3.0, 0.0]
    assert RollingMax(1.0).value == 0.0
