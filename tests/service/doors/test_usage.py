"""`GET /v1/usage` and budgets over real doors, in memory as in Redis: beyond a budget there is no verdict, and no 0."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from rewardline import Client

from service.limits import keys
from tests.conftest import Served, serving
from tests.judge_upstream.behaviours import says
from tests.judge_upstream.scripted import Scripted
from tests.ports import free_port
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.contract

JSON = dict[str, Any]
CALLERS: dict[str, JSON] = {
    "red": {},
    "blue": {"scopes": ["score", "sandbox"]},
    "runner": {"scopes": ["sandbox"]},
    "green": {},
    "white": {},
    "judged": {},
    "boss": {"scopes": ["admin"]},
}
TENANTS: dict[str, JSON] = {
    "red": {"budget": {"items": 6}, "run_budget": {"items": 3}},
    "green": {"budget": {"items_per_minute": 0}},
    "judged": {"budget": {"judge_tokens": 10}},
    "blue": {"budget": {"cpu_s": 0.000001}},
}
ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}
PROGRAM = {"verifier": "code", "response": "```python\nprint(1)\n```", "reference": [{"input": "", "output": "1"}]}
ASK: JSON = {"model": "judges", "messages": [{"role": "user", "content": "?"}]}


@dataclass(frozen=True)
class Shared:
    served: Served
    secrets: dict[str, str]
    keys_file: Path
    judge_port: int

    def call(self, caller: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {self.secrets[caller]}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return httpx.request(method, f"{self.served.url}{path}", json=body, headers=given, timeout=PATIENCE_S)

    def score(self, caller: str, *items: JSON, run: str = "", **more: Any) -> list[JSON]:
        body = {"items": items, **more} | ({"run_id": run} if run else {})
        reply = self.call(caller, "POST", "/v1/score", body)
        assert reply.status_code == 200, reply.text
        results: list[JSON] = reply.json()["results"]
        return results

    def usage(self, caller: str, **headers: str) -> JSON:
        reply = self.call(caller, "GET", "/v1/usage", **headers)
        assert reply.status_code == 200, reply.text
        [tenant] = reply.json()["tenants"]
        assert isinstance(tenant, dict)
        return tenant


def write(path: Path, digests: dict[str, str], tenants: dict[str, JSON]) -> None:
    specs = {name: {"sha256": digests[name], **spec} for name, spec in CALLERS.items()}
    path.write_text(yaml.safe_dump({"keys": specs, "tenants": tenants}))


@pytest.fixture(scope="module", params=["memory", "redis"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A service for all tests, each of which uses up the budget of another tenant."""
    tmp_path = tmp_path_factory.mktemp("usage")
    made = {name: keys.new_key() for name in CALLERS}
    path, judges = tmp_path / "keys.yaml", tmp_path / "judges.yaml"
    write(path, {name: digest for name, (_, digest) in made.items()}, TENANTS)
    port = free_port()
    endpoint = {"base_url": f"http://127.0.0.1:{port}/v1", "model": "m", "health": {"probe": False}}
    judges.write_text(yaml.safe_dump({"endpoints": {"one": endpoint}, "pools": {"judges": {"members": ["one"]}}}))
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(tmp_path)) if request.param == "redis" else None
        settings = {"redis_url": redis.url} if redis else {}
        settings |= {"keys_file": str(path), "sandbox": "local", "workers": "1", "judge_file": str(judges)}
        served = stack.enter_context(serving(tmp_path / "log.jsonl", (), None, **settings))
        yield Shared(served, {name: key for name, (key, _) in made.items()}, path, port)


def test_a_tenant_sees_what_it_and_its_runs_used_and_what_is_used_up(shared: Shared) -> None:
    [one, two] = shared.score("red", ITEM, ITEM, run="r1")
    assert (one["status"], two["status"]) == ("ok", "ok")
    shared.score("red", ITEM, run="r1")
    [refused] = shared.score("red", ITEM, run="r1")
    assert (refused["status"], refused["reason"], refused["score"]) == ("failed", "budget_exhausted", None)
    assert refused["reward"] is None
    assert refused["detail"]["of"] == "run"
    assert "'r1'" in refused["detail"]["message"]
    shared.score("red", ITEM, run="r2")
    shared.score("red", ITEM, ITEM)
    [refused] = shared.score("red", {**ITEM, "response": "b"}, cache="off")
    assert (refused["reason"], refused["detail"]["of"]) == ("budget_exhausted", "tenant")
    usage = shared.usage("red")
    assert (usage["tenant"], usage["total"]["items"], usage["budget"]) == ("red", 6, {"items": 6})
    assert 0 < usage["total"]["judged"] < 6, "the cache answered some"
    assert usage["exhausted"] == [{"budget": "items", "until": None}]
    assert {run["run_id"]: run["total"]["items"] for run in usage["runs"]} == {"r1": 3, "r2": 1}
    assert shared.usage("blue")["total"]["items"] == 0
    assert shared.usage("boss", x_tenant="red")["total"] == usage["total"]
    raised = {**TENANTS, "red": {"budget": {"items": 100}}}
    content = yaml.safe_load(shared.keys_file.read_text())
    shared.keys_file.write_text(yaml.safe_dump(content | {"tenants": raised}))
    shared.served.process.send_signal(signal.SIGHUP)
    eventually(lambda: shared.score("red", ITEM)[0]["status"] == "ok")


def test_who_may_see_whose_usage(shared: Shared) -> None:
    assert httpx.get(f"{shared.served.url}/v1/usage", timeout=PATIENCE_S).status_code == 401
    assert shared.call("red", "GET", "/v1/usage", x_tenant="blue").status_code == 403
    assert shared.call("red", "GET", "/v1/usage?all=true").status_code == 403
    assert shared.call("red", "GET", "/v1/usage?al=true").status_code == 422
    assert shared.call("red", "POST", "/v1/usage").status_code == 405
    shared.score("white", ITEM, run="secret-run")
    everyone = shared.call("boss", "GET", "/v1/usage?all=true")
    assert {tenant["tenant"] for tenant in everyone.json()["tenants"]} >= {"red", "blue", "judged", "white"}
    assert "secret-run" not in everyone.text
    metrics = shared.call("boss", "GET", "/metrics").text
    assert 'rewardline_tenant_usage_total{measure="items",tenant="white"} 1.0' in metrics
    assert 'rewardline_run_items_total{run="secret-run",tenant="white"} 1.0' in metrics


def test_programs_cost_cpu_seconds_and_are_refused_beyond_them(shared: Shared) -> None:
    eventually(lambda: shared.call("blue", "GET", "/v1/sandbox").json()["state"] == "ready")
    assert shared.score("blue", PROGRAM, run="r")[0]["score"] == 1.0
    [refused, other] = shared.score("blue", {**PROGRAM, "response": "```python\nprint(2)\n```"}, ITEM, run="r")
    assert (refused["status"], refused["reason"], refused["score"]) == ("failed", "budget_exhausted", None)
    assert refused["detail"]["budget"] == "cpu_s"
    assert other["score"] == 1.0, "what needs no box has its verdict"
    assert shared.usage("blue")["runs"][0]["total"]["cpu_s"] > 0
    reply = shared.call("blue", "POST", "/run_code", {"code": "print(1)", "language": "python"})
    assert (reply.status_code, reply.headers["content-type"]) == (429, "application/problem+json")
    assert int(reply.headers["retry-after"]) > 0
    assert "cpu_s" in reply.json()["detail"]
    ran = shared.call("runner", "POST", "/run_code", {"code": "print(1)", "language": "python"})
    assert ran.json()["status"] == "Success"


async def test_calls_of_judges_cost_tokens_and_are_refused_beyond_them(shared: Shared) -> None:
    scripted = Scripted(says("yes"), says("no"))
    scripted.port = shared.judge_port
    async with scripted:
        first, second = [
            await asyncio.to_thread(shared.call, "judged", "POST", "/v1/chat/completions", ASK) for _ in range(2)
        ]
    assert first.status_code == 200
    assert second.status_code == 429
    assert second.json()["error"]["code"] == "budget_exhausted"
    assert len(scripted.calls) == 1
    assert (await asyncio.to_thread(shared.usage, "judged"))["total"]["judge_tokens"] >= 10


def test_clients_and_grpc_get_no_number_beyond_a_budget(shared: Shared) -> None:
    shared.score("green", *[ITEM] * 6)
    for url in (shared.served.url, f"grpc://{shared.served.grpc}"):
        with Client(url, api_key=shared.secrets["green"], max_resends=0) as client:
            [result] = client.score([ITEM])
            if url.startswith("http"):
                assert client.usage()["tenants"][0]["exhausted"][0]["budget"] == "items_per_minute"
        assert (result.score, result.reason) == (None, "budget_exhausted")
