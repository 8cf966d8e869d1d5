"""A service whose programs run on other services: verdicts as ever, and none out of a lost host."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from sandbox.base import Execute, Program
from sandbox.boxes.remote import wire
from tests.certificates import Authority
from tests.conftest import Serve, Served, serving
from tests.waiting import eventually

pytestmark = pytest.mark.boxes

KEY = "0123456789abcdef-boxes"
JSON = dict[str, Any]


def box_host(log: Path) -> AbstractContextManager[Served]:
    return serving(log, sandbox="local", box_slots="2", api_keys=f"front={KEY}", workers="1")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Served]]:
    folder = tmp_path_factory.mktemp("hosts")
    with box_host(folder / "one.jsonl") as one, box_host(folder / "two.jsonl") as two:
        yield [one, two]


@pytest.fixture(scope="module")
def front(hosts: list[Served], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    urls = ",".join(host.url for host in hosts)
    log = tmp_path_factory.mktemp("front") / "log.jsonl"
    with serving(log, box_hosts=urls, box_hosts_key=KEY, workers="1") as server:
        yield server


def item(body: str, expected: str, seconds: float = 0.0) -> JSON:
    text = f"```python\nimport time; time.sleep({seconds}); print({body})\n```"
    reference = {"test_cases": [{"input": "", "expected_output": expected} for _ in range(3)]}
    return {"verifier": "code", "response": text, "reference": reference}


def scored(server: Served, items: list[JSON], cache: str = "off") -> list[JSON]:
    answer = httpx.post(f"{server.url}/v1/score", json={"items": items, "cache": cache, "deadline_s": 100}, timeout=120)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["results"])


def test_programs_are_judged_in_boxes_elsewhere(front: Served, hosts: list[Served]) -> None:
    sandbox = httpx.get(f"{front.url}/v1/sandbox").json()
    assert (sandbox["kind"], sandbox["state"], sandbox["slots"]) == ("remote", "ready", 64)
    assert "python" in sandbox["languages"]
    results = scored(front, [item("1+1", "2"), item("1+1", "3"), item("1/0", "3"), item("(", "3")])
    assert [(result["status"], result["score"]) for result in results] == [("ok", 1.0), *[("ok", 0.0)] * 3]
    ran = httpx.post(
        f"{front.url}/run_code", json={"code": "print(input()[::-1])", "language": "python", "stdin": "abc"}
    )
    assert ran.json()["run_result"]["stdout"] == "cba\n"


@pytest.mark.chaos
def test_a_host_lost_in_mid_batch_costs_no_verdict(hosts: list[Served], tmp_path: Path) -> None:
    with (
        serving(
            tmp_path / "third.jsonl", sandbox="local", box_slots="2", api_keys=f"front={KEY}", workers="1"
        ) as third,
        serving(
            tmp_path / "front.jsonl", box_hosts=f"{hosts[0].url},{third.url}", box_hosts_key=KEY, workers="1"
        ) as front,
        ThreadPoolExecutor(1) as threads,
    ):
        items = [item(f"{n}+1", str(n + 1 if n % 3 else n), seconds=0.1) for n in range(24)]
        under_way = threads.submit(scored, front, items)
        metric = 'rewardline_box_runs_total{exit="exited"}'
        eventually(lambda: _metric(third, metric) > 2)
        third.process.send_signal(signal.SIGKILL)
        results = under_way.result(120)
        assert [(result["status"], result["score"]) for result in results] == [
            ("ok", float(n % 3 > 0)) for n in range(24)
        ]
        sandbox = httpx.get(f"{front.url}/v1/sandbox").json()
        assert sandbox["state"] == "ready"


@pytest.mark.contract
def test_programs_travel_by_tls_to_hosts_that_know_their_callers(serve: Serve, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "authority")
    (cert, key), ours = authority.issue("host", "DNS:localhost"), authority.issue("front")
    tls = {"tls_cert": str(cert), "tls_key": str(key), "tls_client_ca": str(authority.ca), "ops_port": "0"}
    trust = {"ca": str(authority.ca), "cert": str(ours[0]), "key": str(ours[1])}
    host = serve(sandbox="local", box_slots="2", workers="1", **tls)
    front = serve(
        sandbox="remote",
        box_hosts=f"https://localhost:{urlsplit(host.url).port}",
        workers="1",
        **{f"box_hosts_tls_{name}": path for name, path in trust.items()},
    )
    results = scored(front, [item("1+1", "2"), item("1+1", "3")])
    assert [(result["status"], result["score"]) for result in results] == [("ok", 1.0), ("ok", 0.0)]


def test_a_host_logs_who_asked_how_it_is_only_where_it_could_not_say(front: Served, hosts: list[Served]) -> None:
    scored(front, [item("2+2", "4")])
    url = f"{hosts[0].url}/v1/sandbox"
    assert httpx.get(url, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
    assert httpx.get(url).status_code == 401
    codes: dict[str, set[str]] = {}

    def have_logged() -> bool:
        for line in (line for host in hosts for line in host.logged()):
            if line.get("event") == "request":
                codes.setdefault(line["method"], set()).add(line["code"])
        return "/v1/sandbox" in codes and "200" in codes.get(wire.PATH, ())

    eventually(have_logged)
    assert codes["/v1/sandbox"] == {"401"}


def test_certificates_that_cannot_be_used_stop_the_start(tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    front = serving(tmp_path / "log.jsonl", box_hosts="https://localhost:9", box_hosts_tls_ca=str(missing))
    with pytest.raises(AssertionError, match=r"missing\.pem"), front:
        pass


def test_without_hosts_items_are_failed_and_readiness_tells(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", box_hosts="http://127.0.0.1:9", workers="1") as front:
        results = scored(front, [item("1", "1")])
        assert (results[0]["status"], results[0]["score"]) == ("failed", None)
        assert results[0]["reason"] == "sandbox_unavailable"
        assert "no box host is up" in httpx.get(f"{front.url}/readyz").json()["lacks"]["sandbox"]


def test_hosts_are_no_use_without_their_key(hosts: list[Served], tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", box_hosts=hosts[0].url, workers="1") as front:
        results = scored(front, [item("1", "1")])
        assert results[0]["status"] == "failed"
        assert "401" in results[0]["detail"]["message"]


@pytest.mark.parametrize(
    ("body", "media", "status"),
    [
        (b"garbage", wire.MEDIA, 400),
        (b"", wire.MEDIA, 400),
        (b"{}", "application/json", 415),
        (wire.encode_order(Program("x", files={"../x": b""}), [Execute()]), wire.MEDIA, 422),
    ],
)
def test_what_is_no_order_is_refused(hosts: list[Served], body: bytes, media: str, status: int) -> None:
    headers = {"Content-Type": media, "Authorization": f"Bearer {KEY}"}
    answer = httpx.post(f"{hosts[0].url}{wire.PATH}", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert httpx.post(f"{hosts[0].url}{wire.PATH}", content=body).status_code == 401


def _metric(server: Served, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
    return next(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))
