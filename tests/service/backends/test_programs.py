"""Programs through the running service: what it says about its boxes, and what becomes of items when there are none."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.run.core import open_core
from service.settings import Settings
from tests.conftest import Served, rewardline, serving
from tests.processes import descendants
from tests.waiting import eventually

pytestmark = pytest.mark.boxes

JSON = dict[str, Any]
SUM: JSON = {"test_cases": [{"input": "1 2\n", "expected_output": "3"}, {"input": "2 2\n", "expected_output": "4"}]}
RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"


def score(served: Served, *items: JSON, **more: Any) -> list[JSON]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items, **more}, timeout=120)
    assert reply.status_code == 200, reply.text[:500]
    results: list[JSON] = reply.json()["results"]
    return results


def code(response: str, verifier: str = "code", **params: Any) -> JSON:
    return {"verifier": verifier, "response": response, "reference": SUM, "params": params}


def samples(served: Served) -> dict[tuple[str, ...], float]:
    """By name and the values of labels."""
    text = httpx.get(f"{served.url}/metrics").text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_programs_are_judged(served: Served) -> None:
    results = score(
        served,
        code(RIGHT),
        code("```python\nprint(3)\n```"),
        code("```python\nwhile True: pass\n```", time_limit_s=0.2),
        code(RIGHT, "code_quality"),
    )
    assert [(result["status"], result["reason"]) for result in results] == [
        ("ok", "correct"), ("ok", "wrong_answer"), ("ok", "time_limit"), ("ok", "correct"),
    ]  # fmt: skip
    assert results[3]["score"] > 0.9


@pytest.mark.contract
def test_a_program_that_uses_up_all_its_time_is_judged_however_long_items_may_take(serve: Any) -> None:
    served = serve(sandbox="auto", item_deadline_s="0.5")
    (result,) = score(served, code("```python\nwhile True: pass\n```", time_limit_s=1, policy="ratio"))
    assert (result["status"], result["score"], result["reason"]) == ("ok", 0.0, "time_limit")


def test_the_service_tells_where_programs_run(served: Served) -> None:
    sandbox = httpx.get(f"{served.url}/v1/sandbox").json()
    assert (sandbox["state"], sandbox["message"]) == ("ready", "")
    assert sandbox["kind"] in ("docker", "local")
    assert sandbox["isolation"]
    assert sandbox["caveats"]
    assert "python" in sandbox["languages"]
    assert sandbox["slots"] >= 1
    versions = versions_of(served)
    assert versions["python"].startswith("3.")
    assert versions.keys() <= set(sandbox["languages"])


def versions_of(served: Served) -> dict[str, str]:
    """They are looked up after the first question."""
    found: dict[str, str] = {}

    def is_answered() -> bool:
        found.update(httpx.get(f"{served.url}/v1/sandbox").json()["versions"])
        return bool(found)

    eventually(is_answered)
    return found


def test_what_boxes_do_is_counted(served: Served) -> None:
    versions_of(served)  # this is a program in a box, too
    before = samples(served)
    score(served, code(RIGHT), cache="off")
    after = samples(served)
    name = ("rewardline_box_runs_total", "exited")
    assert after[name] == before[name] + 2
    assert after[("rewardline_box_jobs_total",)] == before[("rewardline_box_jobs_total",)] + 1
    assert after[("rewardline_box_cpu_seconds_total",)] > before[("rewardline_box_cpu_seconds_total",)]
    assert after[("rewardline_boxes_started_total",)] >= 1
    assert after[("rewardline_sandbox_state", "ready")] == 1
    assert after[("rewardline_boxes", "ready")] + after[("rewardline_boxes", "busy")] >= 1


@pytest.fixture(scope="module")
def boxless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("boxless") / "log.jsonl", sandbox="none") as server:
        yield server


def test_without_boxes_programs_are_failed_and_all_else_is_judged(boxless: Served) -> None:
    math = {"verifier": "math", "response": "\\boxed{1}", "reference": "1"}
    results = score(boxless, code(RIGHT), math, code(RIGHT, "code_quality"))
    assert [(result["status"], result["reason"]) for result in results] == [
        ("failed", "sandbox_unavailable"), ("ok", "correct"), ("failed", "sandbox_unavailable"),
    ]  # fmt: skip
    assert "sandbox" in results[0]["detail"]["message"]
    probe = httpx.get(f"{boxless.url}/readyz")
    assert (probe.status_code, probe.json()["status"]) == (200, "ready")
    assert "sandbox" in probe.json()["lacks"]
    assert httpx.get(f"{boxless.url}/v1/sandbox").json()["state"] == "unavailable"


@pytest.mark.contract
async def test_settings_say_whether_a_service_without_boxes_is_ready() -> None:
    for needs, problems in ((False, set()), (True, {"sandbox"})):
        async with open_core(Settings(sandbox="none", workers=1, readiness_needs_boxes=needs)) as built:
            found = built.readiness()
            assert (set(found.problems), set(found.lacks)) == (problems, {"sandbox"} - problems)


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sandbox": "docker", "docker_host": "unix:///nonexistent.sock"}, "nonexistent.sock"),
        ({"sandbox": "local", "local_python": "/nonexistent/python"}, "/nonexistent/python"),
    ],
)
def test_a_sandbox_that_is_demanded_and_cannot_be_had_stops_the_start(options: dict[str, str], said: str) -> None:
    done = rewardline("serve", "--http-port", "0", "--grpc-port", "0", **options)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_without_docker_this_machine_makes_the_boxes(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("MKL", "OMP", "OPENBLAS"):  # as many set it, and boxes have it: it comes from nowhere outside
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    served = serve(sandbox="auto", docker_host="unix:///nonexistent.sock")
    assert httpx.get(f"{served.url}/v1/sandbox").json()["kind"] == "local"
    assert score(served, code(RIGHT))[0]["score"] == 1.0


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("isolation", ["shared", "fresh"])
def test_a_stopped_service_leaves_no_process(tmp_path: Path, isolation: str) -> None:
    with serving(tmp_path / "log.jsonl", sandbox="local", sandbox_isolation=isolation) as served:
        assert score(served, code(RIGHT), code("```python\nprint(3)\n```"))[0]["score"] == 1.0
        below = descendants(served.process.pid)
        assert below
        assert served.stop() == 0
    eventually(lambda: not any(map(is_running, below)))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
