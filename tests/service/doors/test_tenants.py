"""Two teams and one service: each finds what it made and nothing of the other, in memory as in Redis."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from rewardline import Client
from rewardline.pb import rewardline_pb2 as pb
from websockets.sync.client import connect

from tests.conftest import Served, rewardline
from tests.service.doors.compat.recorded import recorded
from tests.service.doors.conftest import Shared
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
TASK = {"verifier": "exact_match", "reference": "a", "max_turns": 9}
SESSION = {"resources_session_id": "s", "episode_id": {"rollout_id": "r"}}
SEED = SESSION | {"task_id": {"taskset": "t", "task_id": "1"}, "task_data": {}}


def opened(shared: Shared, caller: str, name: str, **more: Any) -> int:
    return shared.call(caller, "POST", "/v1/interactions", TASK | {"instance_id": name} | more).status_code


def turn(answer: str, index: int = 1) -> JSON:
    return {"messages": [{"role": "assistant", "content": answer}], "turn_index": index}


@pytest.mark.contract
def test_the_same_interaction_exists_once_per_tenant(shared: Shared) -> None:
    assert opened(shared, "red", "row-17", reference="red") == 201
    assert opened(shared, "blue-1", "row-17", reference="blue") == 201
    assert opened(shared, "blue-2", "row-17", reference="blue") == 200
    assert opened(shared, "blue-2", "row-17", reference="red") == 409
    path = "/v1/interactions/row-17"
    assert shared.call("red", "POST", f"{path}/turns", turn("red")).json()["score"] == 1.0
    assert shared.call("blue-1", "GET", path).json()["turn"] == 0
    assert shared.call("blue-1", "POST", f"{path}/turns", turn("red")).json()["score"] == 0.0
    assert shared.call("blue-2", "DELETE", path).json()["state"] == "finalized"
    assert shared.call("red", "GET", path).json()["state"] == "solved"


def test_the_interaction_of_another_is_an_unknown_one(shared: Shared) -> None:
    assert opened(shared, "red", "hidden") == 201
    for method, below, body in (("GET", "", None), ("DELETE", "", None), ("POST", "/turns", turn("a"))):
        theirs, none = (
            shared.refusal("blue-1", method, f"/v1/interactions/{name}{below}", name, body)
            for name in ("hidden", "never-there")
        )
        assert theirs == none
        assert theirs["status"] == 404
    for name in ("red/hidden", "red%2Fhidden", "red%252Fhidden"):
        for caller in ("blue-1", "older"):
            assert shared.call(caller, "GET", f"/v1/interactions/{name}").status_code == 404
    assert shared.call("red", "GET", "/v1/interactions/hidden").json()["turn"] == 0


def test_jobs_and_their_idempotency_keys_belong_to_a_tenant(shared: Shared) -> None:
    def submit(caller: str, response: str) -> str:
        batch = {"items": [{"verifier": "exact_match", "response": response, "reference": "a"}]}
        reply = shared.call(caller, "POST", "/v1/jobs", batch, idempotency_key="nightly")
        assert reply.status_code == 202, reply.text
        return str(reply.json()["job_id"])

    red, blue = submit("red", "a"), submit("blue-1", "b")
    assert red != blue
    assert submit("blue-2", "b") == blue
    assert submit("older", "c") not in (red, blue)
    for method, query in (("GET", "?wait_s=1"), ("GET", "?after=0"), ("DELETE", "")):
        theirs, none = (
            shared.refusal("blue-1", method, f"/v1/jobs/{job}{query}", job) for job in (red, "0123456789abcdef" * 2)
        )
        assert theirs == none
        assert theirs["status"] == 404
    for caller, job, score in (("red", red, 1.0), ("blue-2", blue, 0.0)):
        found = shared.call(caller, "GET", f"/v1/jobs/{job}?wait_s=30").json()
        assert (found["job_id"], found["state"], found["results"][0]["score"]) == (job, "done", score)
    assert shared.call("red", "DELETE", f"/v1/jobs/{red}").json() == {"job_id": red, "state": "done"}


def test_the_task_of_another_is_an_unknown_one(shared: Shared) -> None:
    def poll(caller: str, task: str) -> JSON:
        found: JSON = shared.call(caller, "GET", "/compat/roll/task_result", {"reward_request_id": task}).json()
        nameless: JSON = json.loads(json.dumps(found).replace(task, "ID"))
        return nameless

    task = shared.call("red", "POST", "/compat/roll/submit_task", recorded("roll_submit_task")).json()[
        "reward_request_id"
    ]
    unknown = poll("blue-1", "0" * 32)
    assert poll("blue-1", task) == unknown
    assert poll("red", task)["reward_score"] == 1.0
    assert poll("blue-1", task) == unknown


def test_sessions_of_one_end_for_it_alone(shared: Shared) -> None:
    assert shared.call("red", "POST", "/compat/nemo_gym/close_session", SESSION).status_code == 200
    assert shared.call("red", "POST", "/compat/nemo_gym/seed_session", SEED).status_code == 409
    assert shared.call("blue-1", "POST", "/compat/nemo_gym/seed_session", SEED).status_code == 200


def test_environments_belong_to_a_tenant_over_http_and_websocket(shared: Shared) -> None:
    begin = {**TASK, "episode_id": "game"}
    assert shared.call("red", "POST", "/compat/openenv/reset", begin).status_code == 200
    for path in ("game", "never-there"):
        assert shared.call("blue-1", "GET", f"/compat/openenv/state?episode_id={path}").status_code == 404
    url = f"ws://any:{shared.secrets['blue-1']}@{shared.served.url.removeprefix('http://')}/compat/openenv/ws"
    with connect(url, proxy=None) as env:
        env.send(json.dumps({"type": "reset", "data": begin | {"reference": "other"}}))
        assert json.loads(env.recv(PATIENCE_S))["type"] == "observation"
        env.send(json.dumps({"type": "step", "data": {"message": "other"}}))
        assert json.loads(env.recv(PATIENCE_S))["data"]["reward"] == 1.0
    assert shared.call("red", "GET", "/v1/interactions/game").json()["turn"] == 0


def test_an_admin_may_see_all_and_the_log_says_so(shared: Shared) -> None:
    assert opened(shared, "red", "watched") == 201
    path = "/v1/interactions/watched"
    assert shared.call("boss", "GET", path).status_code == 404
    assert shared.call("boss", "GET", path, x_tenant="red").json()["id"] == "watched"
    assert shared.call("blue-1", "GET", path, x_tenant="red").status_code == 403
    assert shared.call("red", "GET", path, x_tenant="red").status_code == 200
    assert shared.call("boss", "GET", path, x_tenant="a b").status_code == 422
    lines = shared.served.logged()
    seen = [(line["key"], line["tenant"]) for line in lines if line.get("by_admin")]
    assert ("boss", "red") in seen
    assert not [line for line in lines if line.get("by_admin") and line["key"] != "boss"]


def test_the_default_tenant_has_what_older_releases_kept_and_others_have_names_of_their_own(shared: Shared) -> None:
    if shared.redis is None:
        pytest.skip("only Redis outlives a release")
    assert opened(shared, "older", "kept") == 201
    assert opened(shared, "red", "kept") == 201
    found = {name.decode() for name in shared.redis.call("KEYS", "rl1ix:*kept*")}
    assert found == {"rl1ix:{kept}", "rl1ix:{red/kept}"}
    jobs = {name.decode() for name in shared.redis.call("KEYS", "rl1:{jobs}:key:*")}
    assert {name.removeprefix("rl1:{jobs}:key:").rpartition("/")[0] for name in jobs} <= {"", "red", "blue"}


@pytest.mark.contract
@pytest.mark.parametrize("by_tenant", [False, True])
def test_verdicts_are_shared_unless_a_setting_parts_them(serve: Callable[..., Served], *, by_tenant: bool) -> None:
    secrets = {name: f"{name}-0123456789abcdef" for name in ("red", "blue", "older@default")}
    given = ",".join(f"{name}={key}" for name, key in secrets.items())
    served = serve(api_keys=given, workers="1", cache_by_tenant=str(by_tenant))

    def is_cached(caller: str) -> bool:
        batch = {"items": [{"verifier": "math", "response": "\\boxed{x+1}", "reference": "1+x"}]}
        headers = {"Authorization": f"Bearer {secrets[caller]}"}
        reply = httpx.post(f"{served.url}/v1/score", json=batch, headers=headers, timeout=PATIENCE_S)
        return bool(reply.json()["results"][0]["cached"])

    assert [is_cached(caller) for caller in ("red", "red", "blue", "older@default")] == [
        *(False, True),
        *((False, False) if by_tenant else (True, True)),
    ]


def code_of(call: Any, *arguments: Any, **options: Any) -> grpc.StatusCode:
    """How a call of gRPC ends."""
    try:
        call(*arguments, **options, timeout=PATIENCE_S)
    except grpc.RpcError as error:
        code: grpc.StatusCode = error.code()
        return code
    return grpc.StatusCode.OK


@pytest.mark.contract
def test_rows_lines_and_counts_say_whose_they_are(serve: Callable[..., Served], tmp_path: Path) -> None:
    secrets = {"red": "red-0123456789abcdef", "blue": "blue-0123456789abcdef", "boss": "boss-0123456789abcdef"}
    given = ",".join(f"{name}={key}" for name, key in secrets.items())
    audit = tmp_path / "audit"
    served = serve(api_keys=given, workers="1", audit_dir=str(audit), max_metrics_tenants="2")

    def call(caller: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {secrets[caller]}"} | headers
        method = "GET" if body is None else "POST"
        return httpx.request(method, f"{served.url}{path}", json=body, headers=given, timeout=PATIENCE_S)

    def one(name: str, **more: Any) -> JSON:
        return {"items": [{"id": name, "verifier": "exact_match", "response": "a", "reference": "a"}], **more}

    assert call("red", "/v1/score", one("by field", run_id="run/1")).status_code == 200
    assert call("red", "/v1/score", one("by header"), **{"X-Run-Id": "run/2"}).status_code == 200
    assert call("red", "/v1/score", one("none")).status_code == 200
    assert call("red", "/v1/score", one("field first", run_id="run/1"), **{"X-Run-Id": "run/2"}).status_code == 200
    assert call("boss", "/v1/score", one("as blue"), **{"X-Tenant": "blue"}).status_code == 200
    for name, body, headers in (
        ("job", one("job"), {"X-Run-Id": "run/3"}),
        ("bare job", one("bare job")["items"], {"X-Run-Id": "run/4"}),
        ("job by field", one("job by field", run_id="run/5"), {}),
    ):
        job = call("blue", "/v1/jobs", body, **headers).json()["job_id"]
        assert call("blue", f"/v1/jobs/{job}?wait_s=30").json()["state"] == "done", name
    with Client(f"grpc://{served.grpc}", api_key=secrets["blue"]) as client:
        assert client.score_one({**one("grpc")["items"][0]}).score == 1.0
    with grpc.insecure_channel(served.grpc) as channel:

        def score(name: str, run_id: str, *metadata: tuple[str, str]) -> grpc.StatusCode:
            item = pb.Item(id=name, verifier="exact_match", response="a", reference_json='"a"')
            request = pb.ScoreRequest(items=[item], run_id=run_id).SerializeToString()
            key = ("authorization", f"Bearer {secrets['blue']}")
            return code_of(
                channel.unary_unary("/rewardline.v1.Verifier/Score", None, None), request, metadata=(key, *metadata)
            )

        assert score("grpc field", "run/6") is grpc.StatusCode.OK
        assert score("grpc metadata", "", ("x-run-id", "run/7")) is grpc.StatusCode.OK
        assert score("grpc field first", "run/6", ("x-run-id", "run/7")) is grpc.StatusCode.OK
        assert score("wrong", "a b") is grpc.StatusCode.INVALID_ARGUMENT
        assert score("wrong", "run/6", ("x-run-id", "a b")) is grpc.StatusCode.INVALID_ARGUMENT
    for wrong in ("a b", "x" * 129, "-", ""):
        assert call("red", "/v1/score", one("wrong", run_id=wrong)).status_code == 422
        assert call("red", "/v1/score", one("wrong"), **{"X-Run-Id": wrong}).status_code == 422

    metrics = call("boss", "/metrics").text
    assert 'rewardline_tenant_items_total{status="ok",tenant="red"} 4.0' in metrics
    assert 'rewardline_tenant_items_total{status="ok",tenant="blue"} 8.0' in metrics
    assert 'rewardline_tenant_requests_total{tenant="other"}' not in metrics
    assert 'rewardline_tenant_requests_total{tenant="other"} 1.0' in call("boss", "/metrics").text
    lines = served.logged()
    logged = {(line["tenant"], line.get("run_id")) for line in lines if line.get("method") == "/v1/score"}
    assert logged == {("red", "run/1"), ("red", "run/2"), ("red", None), ("blue", None)}

    served.stop()
    found = rewardline("log", audit, "--json").stdout.splitlines()
    rows = {row["id"]: (row.get("tenant"), row.get("run_id")) for row in map(json.loads, found)}
    assert rows == {
        "by field": ("red", "run/1"), "by header": ("red", "run/2"), "none": ("red", None), "field first": ("red", "run/1"),
        "as blue": ("blue", None), "job": ("blue", "run/3"), "bare job": ("blue", "run/4"), "job by field": ("blue", "run/5"),
        "grpc": ("blue", None), "grpc field": ("blue", "run/6"), "grpc metadata": ("blue", "run/7"),
        "grpc field first": ("blue", "run/6"),
    }  # fmt: skip
    chosen = rewardline("log", audit, "--json", "--tenant", "red", "--run", "run/1").stdout.splitlines()
    assert {json.loads(line)["id"] for line in chosen} == {"by field", "field first"}
