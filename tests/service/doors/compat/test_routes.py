"""What all doors have in common: refusals, keys, bounds, patience, what a failure is told as, shutting down."""

import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from service.doors.compat import nemo_gym, open_instruct, open_r1, openrlhf, routes, run_jupyter, slime, submit
from tests.conftest import ROOT, Serve, Served, serving
from tests.service.doors.compat.recorded import JSON, answer, metric, post, recorded
from tests.waiting import PATIENCE_S, eventually

KEY = "0123456789abcdef-a-key"
PROGRAM = "```python\nprint(int(input()) + 1)\n```"
TESTS = {"case_type": "stdio", "test_cases": [{"input": "1", "expected_output": "2"}]}
CODE: dict[str, tuple[str, JSON]] = {
    "openrlhf": (f"{openrlhf.PATH}?verifier=code", {"query": [PROGRAM], "labels": [TESTS]}),
    "slime": (f"{slime.PATH}?verifier=code", {"response": PROGRAM, "label": json.dumps(TESTS)}),
    "nemo_gym": (nemo_gym.VERIFY, recorded("nemo_gym_code")),
    "open_instruct": (open_instruct.PROGRAM, recorded("open_instruct_test_program")),
    "open_r1": (open_r1.PATH, recorded("open_r1")),
    "run_jupyter": (run_jupyter.PATHS[0], recorded("run_jupyter")),
    "submit": (submit.PATHS[0], recorded("submit")),
}
"""A request for each door that needs a box."""


def slow(name: str, seconds: float) -> tuple[str, JSON]:
    """The same, taking so long."""
    path, body = CODE[name]
    body = json.loads(json.dumps(body).replace("print(", f"__import__('time').sleep({seconds}) or print("))
    return path, body


ROUTES = [(path, route.method) for door in routes.DOORS for route in door.routes for path in route.paths]
POSTED = [path for door in routes.DOORS for route in door.routes for path in route.paths if route.body is not None]


def call(served: Served, path: str, **more: Any) -> httpx.Response:
    method = dict(ROUTES)[path.partition("?")[0]]
    return httpx.request(method, f"{served.url}{path}", timeout=PATIENCE_S, **more)


@pytest.mark.contract(beyond=12)
@pytest.mark.parametrize("path", POSTED)
@pytest.mark.parametrize(("body", "status"), [(b"no json", 400), (b"", 400), (b"[]", 422), (b"4", 422), (b'"x"', 422)])
def test_garbage_is_refused_as_everywhere(served: Served, path: str, body: bytes, status: int) -> None:
    reply = call(served, path, content=body)
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")


@pytest.mark.parametrize("path", POSTED)
def test_a_body_that_is_nested_too_deeply_is_refused(served: Served, path: str) -> None:
    deep = b'{"x":' * 100_000
    assert call(served, path, content=deep).status_code == 400


def test_bodies_are_bounded(served: Served) -> None:
    assert call(served, slime.PATH, content=b" " * 65_000_000).status_code == 413


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(("path", "method"), ROUTES)
def test_a_route_takes_one_method_and_no_unknown_option(served: Served, path: str, method: str) -> None:
    reply = httpx.request("PUT", f"{served.url}{path}", json={})
    assert (reply.status_code, reply.headers["allow"]) == (405, method)
    assert httpx.request(method, f"{served.url}{path}?verifer=math", json={}).status_code == 422


def test_routes_and_outcomes_are_counted_by_names_of_ours(served: Served) -> None:
    before = metric(served, 'door_answers_total{client="slime",outcome="invalid"}')
    assert post(served, f"{slime.PATH}?tag=made-up-by-a-caller", recorded("slime")).status_code == 422
    assert metric(served, 'door_answers_total{client="slime",outcome="invalid"}') == before + 1
    assert "made-up-by-a-caller" not in httpx.get(f"{served.url}/metrics").text
    assert metric(served, f'requests_total{{code="422",door="http",key="anonymous",method="{slime.PATH}"}}') >= 1


@pytest.mark.contract
def test_a_key_stands_in_the_url_where_a_client_can_send_none(serve: Serve) -> None:
    served = serve(api_keys=f"train={KEY}", sandbox="none", workers="1")
    for path, _ in ROUTES:
        assert call(served, path, json={}).status_code == 401
    body, url = recorded("slime"), f"{served.url}{slime.PATH}?verifier=math"
    assert httpx.post(url.replace("://", f"://any:{KEY}@"), json=body, timeout=PATIENCE_S).json() == 1.0
    assert httpx.post(url, json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE_S).json() == 1.0
    assert httpx.post(url.replace("://", f"://any:{KEY}x@"), json=body).status_code == 401


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", ["openrlhf", "slime", "nemo_gym", "open_instruct", "submit"])
def test_a_failure_is_the_status_its_client_tries_again_after_and_no_number(without_boxes: Served, name: str) -> None:
    path, body = CODE[name]
    again = metric(without_boxes, "door_items_again_total")
    failed = metric(without_boxes, f'door_answers_total{{client="{name}",outcome="failed"}}')
    reply = post(without_boxes, path, body)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert reply.headers["content-type"] == "application/problem+json"
    assert "sandbox_unavailable" in reply.json()["detail"]
    assert not {"reward", "rewards", "results", "accepted"} & reply.json().keys()
    assert metric(without_boxes, "door_items_again_total") == again  # it will not pass
    assert metric(without_boxes, f'door_answers_total{{client="{name}",outcome="failed"}}') == failed + 1


def test_failures_that_a_client_reads_in_the_answer(without_boxes: Served) -> None:
    found = answer(without_boxes, run_jupyter.PATHS[0], recorded("run_jupyter"))
    assert (found["status"], found["driver"], found["cells"]) == ("SandboxError", None, [])
    (executed,) = answer(without_boxes, open_r1.PATH, recorded("open_r1"))
    assert executed["execution"] is None
    assert "sandbox_unavailable" in executed["exception_str"]


def test_nemo_gym_may_have_failures_put_aside(without_boxes: Served) -> None:
    body = recorded("nemo_gym_code") | {"instance_config": {"seed": 1}}
    found = answer(without_boxes, f"{nemo_gym.VERIFY}?deadline_s=1&on_failed=mask", body)
    assert found["_ng_failure_class"] == "judge_failed"
    assert found["mask_sample"] is True
    assert found["instance_config"] == {"seed": 1, "mask_sample": True}
    assert "sandbox_unavailable" in found["_ng_failure_judge_error"]
    assert found["response"] == body["response"]
    figures = answer(without_boxes, nemo_gym.AGGREGATE, {"verify_responses": [found]})
    assert "mean/reward" not in figures["agent_metrics"]


def test_what_is_invalid_is_not_waited_for(without_boxes: Served) -> None:
    """Nobody could judge the first, but the second must be mended anyway."""
    body = {"query": [PROGRAM, "x"], "labels": [TESTS, {"verifier": "math", "reference": "\\frac{"}]}
    reply = post(without_boxes, f"{openrlhf.PATH}?verifier=code", body)
    assert reply.status_code == 422
    assert "item 1" in reply.json()["detail"]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One box, and room for two items."""
    log = tmp_path_factory.mktemp("narrow") / "log.jsonl"
    with serving(log, box_slots="1", max_items_in_flight="2", max_items_per_request="2", workers="1") as server:
        yield server


@pytest.mark.contract
@pytest.mark.parametrize("name", sorted(CODE))
def test_callers_wait_for_their_turn_instead_of_being_refused(narrow: Served, name: str) -> None:
    path, body = slow(name, 0.05)
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: post(narrow, path, body), range(8)))
    assert {reply.status_code for reply in replies} == {200}


@pytest.mark.contract
def test_requests_of_several_items_do_not_wait_for_each_other(narrow: Served) -> None:
    """Had each taken one permit first, all would be waiting for a second one."""
    body = {"query": ["\\boxed{1}", "\\boxed{2}"], "labels": ["1", "2"]}
    with ThreadPoolExecutor(16) as threads:
        replies = list(threads.map(lambda _: post(narrow, f"{openrlhf.PATH}?verifier=math", body), range(64)))
    assert {(reply.status_code, str(reply.json().get("rewards"))) for reply in replies} == {(200, "[1.0, 1.0]")}
    assert post(narrow, f"{openrlhf.PATH}?verifier=math", {"query": ["x"] * 3}).status_code == 413


@pytest.mark.contract
def test_who_is_not_judged_in_time_is_told_to_come_again(narrow: Served) -> None:
    path, body = slow("slime", 5)
    with ThreadPoolExecutor() as threads:
        first = [threads.submit(post, narrow, path, body) for _ in range(2)]
        eventually(lambda: metric(narrow, "in_flight_items") == 2)
        reply = post(narrow, f"{slime.PATH}?verifier=math&deadline_s=1", recorded("slime"))
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        assert {one.result().status_code for one in first} == {200}


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("name", sorted(set(CODE) - {"submit", "nemo_gym"}))
def test_a_caller_who_hangs_up_gives_back_what_was_held(narrow: Served, name: str) -> None:
    path, body = slow(name, 20)
    if name in ("open_instruct", "open_r1", "run_jupyter"):
        body = json.loads(json.dumps(body).replace("return a + b", "import time; time.sleep(20)"))
        body = body | ({"scripts": ["import time; time.sleep(20)"]} if name == "open_r1" else {})
        body = body | ({"cells": ["import time; time.sleep(20)"]} if name == "run_jupyter" else {})
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{narrow.url}{path}", json=body, timeout=0.5)
    eventually(lambda: metric(narrow, "in_flight_items") == 0)
    assert metric(narrow, f'door_answers_total{{client="{name}",outcome="gone"}}') >= 1


@pytest.mark.contract
def test_many_callers_at_once_get_their_own_answers(served: Served) -> None:
    def judged(n: int) -> Any:
        body = {"response": f"so \\boxed{{{n}}}", "label": str(n - n % 3)}
        return client.post(f"{slime.PATH}?verifier=math", json=body).json()

    limits = httpx.Limits(max_connections=64)  # as slime's client
    with (
        httpx.Client(base_url=served.url, limits=limits, timeout=PATIENCE_S) as client,
        ThreadPoolExecutor(64) as threads,
    ):
        assert list(threads.map(judged, range(300))) == [float(n % 3 == 0) for n in range(300)]


@pytest.mark.contract
def test_sigterm_lets_callers_have_what_they_wait_for_and_sends_new_ones_away(serve: Serve) -> None:
    served = serve(sandbox="auto", box_slots="1", workers="1")
    path, body = slow("slime", 2)
    with ThreadPoolExecutor() as threads, httpx.Client(base_url=served.url, timeout=PATIENCE_S) as kept:
        kept.get("/healthz")
        waiting = threads.submit(post, served, path, body)
        eventually(lambda: metric(served, "in_flight_items") == 1)
        served.process.send_signal(signal.SIGTERM)
        eventually(lambda: kept.get("/readyz").status_code == 503)
        assert kept.post(f"{slime.PATH}?verifier=math", json=recorded("slime")).status_code == 503
        assert waiting.result().json() == 1.0
    assert served.process.wait(timeout=PATIENCE_S) == 0


def test_the_document_has_every_door_with_its_shapes_and_options(served: Served) -> None:
    document = httpx.get(f"{served.url}/openapi.json").json()
    for door in routes.DOORS:
        for route in door.routes:
            operation = document["paths"][route.paths[0]][route.method.lower()]
            assert ("requestBody" in operation) is (route.body is not None)
            assert operation["responses"]["200"]["content"]["application/json"]["schema"]
            named = {each["name"] for each in operation["parameters"] if "name" in each}
            assert named == set(route.options.__struct_fields__)


EXAMPLES = [route for door in routes.DOORS for route in door.routes if route.example is not None]


@pytest.mark.parametrize("route", EXAMPLES, ids=lambda route: route.name)
def test_the_documents_examples_are_answered(served: Served, route: Any) -> None:
    judged_by = "?verifier=math" if route.name in ("openrlhf_get_reward", "slime_rm") else ""
    found = call(served, f"{route.paths[0]}{judged_by}", json=route.example)
    lacks = route.name.startswith("kimina") or route.name == "nemo_gym_compare"  # Lean, and a judge
    assert found.status_code == (503 if lacks else 200), found.text
    if route.name in ("openrlhf_get_reward", "slime_rm", "nemo_gym_verify"):
        assert "1.0" in found.text


def test_the_guides_commands_work(served: Served) -> None:
    guide = (ROOT / "docs" / "doors.md").read_text()
    commands = re.findall(r"curl '?localhost:8080(?P<path>[^' ]+)'? -d (?:\\\n +)?'(?P<body>[^']+)'", guide)
    assert len(commands) == guide.count("curl ") == 3
    for path, body in commands:
        reply = httpx.post(f"{served.url}{path}", content=body, timeout=PATIENCE_S)
        assert reply.status_code == 200, reply.text
        assert "1" in reply.text


@pytest.mark.parametrize("path", sorted(routes.PATHS))
def test_every_door_is_in_the_guide(path: str) -> None:
    guide = (ROOT / "docs" / "doors.md").read_text()
    folder, _, name = path.rpartition("/")
    assert name in guide
    assert folder in guide or folder in ("", "/compat/nemo_gym")
