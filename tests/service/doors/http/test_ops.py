"""The operators' port: probes, metrics, and draining while everything that comes is still served."""

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.limits.admission import Admission
from service.observe.load_monitor import RollingMax
from service.run.sockets import CannotBind, bind_ops
from tests.conftest import ROOT, Serve, Served, rewardline, serving
from tests.service.slow_verifier import installed
from tests.virtual_time import in_virtual_time
from tests.waiting import PATIENCE_S, eventually

ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}


@pytest.fixture
def served_with_ops(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    settings = {"sandbox": "none", "ops_port": "0", "api_keys": "me=0123456789abcdef-ops", "workers": "1"}
    plugins = installed(tmp_path / "plugins")
    with serving(tmp_path / "log.jsonl", (), plugins, drain_timeout_s=str(PATIENCE_S), **settings) as served:
        yield served, served.ops


def from_elsewhere() -> httpx.Client:
    """A caller with an address that programs of this host do not have by themselves."""
    return httpx.Client(transport=httpx.HTTPTransport(local_address="127.0.0.9"), timeout=PATIENCE_S)


def test_probes_and_metrics_need_no_key_there(served_with_ops: tuple[Served, str]) -> None:
    served, ops = served_with_ops
    assert [httpx.get(f"{ops}/{path}").status_code for path in ("healthz", "startupz", "readyz")] == [200] * 3
    text = httpx.get(f"{ops}/metrics").text
    for name in ("queued_work_seconds", "queued_work_seconds_peak", "event_loop_lag_seconds", "draining"):
        assert f"\nrewardline_{name}" in text
    assert httpx.get(f"{served.url}/metrics").status_code == 401
    assert httpx.post(f"{ops}/v1/score", json={"items": [ITEM]}).status_code == 404


@pytest.mark.contract
def test_only_this_host_or_an_operator_drains(served_with_ops: tuple[Served, str]) -> None:
    _, ops = served_with_ops
    with from_elsewhere() as caller:
        refused = [
            caller.get(f"{ops}/drain"),
            caller.post(f"{ops}/drain"),
            caller.post(f"{ops}/drain", headers={"Authorization": "Bearer 0123456789abcdef-nobody"}),
            httpx.get(f"{ops}/drain"),
            httpx.post(f"{ops}/drain", headers={"Origin": ops}),
        ]
        assert [answer.status_code for answer in refused] == [405, 401, 401, 405, 403]
        assert caller.get(f"{ops}/metrics").status_code == 200
        assert httpx.get(f"{ops}/readyz").status_code == 200, "nobody has drained it"
        drained = caller.post(f"{ops}/drain", headers={"Authorization": "Bearer 0123456789abcdef-ops"})
    assert drained.json() == {"requests": 0, "items": 0}
    assert httpx.get(f"{ops}/readyz").status_code == 503


@pytest.mark.contract
def test_without_keys_nobody_drains_from_another_host(serve: Serve) -> None:
    served = serve(ops_port="0", workers="1")
    with from_elsewhere() as caller:
        assert caller.post(f"{served.ops}/drain").status_code == 403
    assert httpx.get(f"{served.ops}/readyz").status_code == 200
    done = rewardline("drain", "--url", served.ops)
    assert (done.returncode, done.stdout) == (0, "Drained: 0 requests and 0 items are still under way.\n")
    assert httpx.get(f"{served.ops}/readyz").status_code == 503
    refused = rewardline("drain", "--url", served.url)
    assert (refused.returncode, "404" in refused.stderr) == (2, True)


def test_a_container_is_drained_without_the_modules_of_the_service(served_with_ops: tuple[Served, str]) -> None:
    """As the preStop hook does, with what a process on a busy host can afford."""
    _, ops = served_with_ops
    code = "import runpy, sys; sys.argv = ['drain']\n"
    code += "try: runpy.run_module('service.cli.drain', run_name='__main__')\n"
    code += "finally: print(sorted({'pydantic', 'typer', 'sympy', 'httpx'} & sys.modules.keys()))"
    variables = {"REWARDLINE_OPS_PORT": ops.rpartition(":")[2]}
    done = subprocess.run([sys.executable, "-I", "-c", code], env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr
    assert httpx.get(f"{ops}/readyz").status_code == 503


@in_virtual_time
async def test_callers_have_time_to_notice_once_however_often_the_service_is_told_to_leave() -> None:
    clock, admission = asyncio.get_running_loop().time, Admission(1, 1)
    await admission.leave(5.0)
    assert (clock(), admission.leaving, admission.draining) == (5.0, True, False)
    await asyncio.sleep(1.0)
    await admission.leave(5.0)
    assert clock() == 6.0
    await admission.leave(8.0)
    assert clock() == 8.0


def test_a_service_that_is_asked_to_stop_still_serves_while_balancers_notice(serve: Serve) -> None:
    served = serve(ops_port="0", workers="1", drain_notice_s=str(10 * PATIENCE_S))
    served.process.send_signal(signal.SIGTERM)
    eventually(lambda: httpx.get(f"{served.ops}/readyz").status_code == 503)
    answer = httpx.post(f"{served.url}/v1/score", json={"items": [ITEM]})
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(PATIENCE_S) == -signal.SIGTERM


def test_a_person_at_the_terminal_waits_for_no_balancer(serve: Serve) -> None:
    served = serve(workers="1", drain_notice_s=str(10 * PATIENCE_S))
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(PATIENCE_S) == 0


def test_a_container_asks_the_same_port_how_it_is(served_with_ops: tuple[Served, str]) -> None:
    """As Docker does: deploy/docker/health.py, without the service's modules."""
    _, ops = served_with_ops
    variables = {"REWARDLINE_OPS_PORT": ops.rpartition(":")[2]}
    for path, code in (("/readyz", 0), ("/nosuch", 1)):
        command = [sys.executable, "-I", str(ROOT / "deploy/docker/health.py"), path]
        assert subprocess.run(command, env=variables, capture_output=True).returncode == code


@pytest.mark.contract
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
    draining = threading.Thread(target=lambda: drained.append(httpx.post(f"{ops}/drain", timeout=PATIENCE_S)))
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


def test_a_name_stands_for_its_addresses_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Compose: all replicas have the name, each at an address of its own."""
    addresses = ["127.0.0.5", "192.0.2.1", "2001:db8::1"]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (each, 0)) for each in addresses])
    bound = bind_ops("service-watch", 0)
    assert [each.getsockname()[0] for each in bound] == ["127.0.0.1", "127.0.0.5"]
    assert len({each.getsockname()[1] for each in bound}) == 1
    for each in bound:
        each.close()
    del addresses[0]
    with pytest.raises(CannotBind, match=r"service-watch:0 .*it names .*192\.0\.2\.1.*none of them is this machine"):
        bind_ops("service-watch", 0)


def test_operators_are_answered_at_each_address_of_a_name(serve: Serve) -> None:
    served = serve(ops_port="0", ops_host="localhost", workers="1")
    port = served.ops.rpartition(":")[2]
    assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.5:{port}/healthz")


def test_the_maximum_of_the_recent_past() -> None:
    maximum = RollingMax(10.0)
    seen = []
    for at_s, value in enumerate([1.0, 5.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]):
        maximum.note(float(at_s), value)
        seen.append(maximum.value)
    assert seen == [1.0, *[5.0] * 10, 3.0, 3.0, 0.0]
    assert RollingMax(1.0).value == 0.0
