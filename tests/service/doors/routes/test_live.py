"""The routes for operators: what the service did in the last hour, and how its judge models do."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from service.observe import panels
from service.observe.panels import Ratio, Seldom
from tests.conftest import Serve, Served
from tests.judge_upstream.grader import Grader
from tests.service.limits.test_keys import bearer, written
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

SECRET = "a-key-that-nobody-sees"
_ITEM = {"verifier": "judge", "prompt": "What is the capital of France?", "reference": "Paris"}


def test_what_others_do_is_shown_to_keys_with_the_scope_admin(serve: Serve, tmp_path: Path) -> None:
    path, secrets = written(tmp_path, trainer={}, operator={"scopes": ["admin"]})
    served = serve(keys_file=str(path))
    for route in ("series", "judges"):
        url = f"{served.url}/v1/{route}"
        assert httpx.get(url).status_code == 401
        refused = httpx.get(url, headers=bearer(secrets["trainer"]))
        assert (refused.status_code, "'admin'" in refused.json()["detail"]) == (403, True)
        assert httpx.get(url, headers=bearer(secrets["operator"])).status_code == 200


def test_the_series_of_a_service_at_rest(served: Served) -> None:
    past = httpx.get(f"{served.url}/v1/series").json()
    levels = {series["name"]: series for series in past["series"] if not any(series["labels"].values())}
    assert levels["Under way"]["unit"] == "short"
    assert all(value is None or value >= 0 for value in levels["Under way"]["values"])
    assert len(levels["Under way"]["values"]) == (past["until"] - past["start"]) / past["step_s"] + 1
    later = httpx.get(f"{served.url}/v1/series", params={"since": past["until"]}).json()
    assert (later["replica"], later["panels"]) == (past["replica"], [])
    assert later["start"] > past["until"]


@table(
    "query, status",
    [
        ("since=yesterday", 422),
        ("since=-1", 422),
        ("since=1e300", 422),
        ("since=nan", 422),
        ("since=", 422),
        ("since=null", 422),
        ("since=1&since=2", 422),
        ("until=1", 422),
        ("since=0", 200),
        ("since=1e11", 200),
    ],
)
def test_a_wrong_query_is_told_what_to_write(served: Served, query: str, status: int) -> None:
    answer = httpx.get(f"{served.url}/v1/series?{query}")
    assert answer.status_code == status
    assert status == 200 or "takes since" in answer.json()["detail"]


def test_without_the_console_nothing_is_remembered(serve: Serve) -> None:
    served = serve(console="false")
    answer = httpx.get(f"{served.url}/v1/series")
    assert (answer.status_code, "setting console" in answer.json()["detail"]) == (404, True)
    assert httpx.get(f"{served.url}/v1/judges").json()["configured"] is False
    assert httpx.post(f"{served.url}/v1/judges").headers["allow"] == "GET"


@pytest.mark.contract
def test_every_metric_of_the_table_is_one_of_the_service(serve: Serve, tmp_path: Path) -> None:
    with Grader() as grader:
        served = serve(judge_file=str(grader.file(tmp_path)), sandbox="local")
        text = httpx.get(f"{served.url}/metrics").text
    declared = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    wanted = {
        term.metric for row in panels.ROWS for panel in row.panels for line in panel.lines for term in _terms(line)
    }
    assert {
        metric for metric in wanted if metric not in declared and metric.rpartition("_")[0] not in declared
    } == set()


def _terms(line: panels.Line) -> list[panels.Term]:
    values = [line.value.part, line.value.whole] if isinstance(line.value, Ratio) else [line.value]
    return [value.value if isinstance(value, Seldom) else value for value in values]


@pytest.mark.judges
def test_a_judge_that_fails_is_shown_as_ejected_until_it_answers(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_JUDGES_KEY", SECRET)
    with Grader() as grader:
        endpoint: dict[str, Any] = {
            "base_url": grader.url,
            "model": "grader",
            "api_key_env": "SOME_JUDGES_KEY",
            "rpm": 6e6,
        }
        endpoint["health"] = {"probe": False, "failures": 1, "eject_s": 3600, "eject_cap_s": 3600}
        pool = {"members": ["grader"], "retry": {"attempts": 1}}
        rule = {"every_s": 3600, "min_pass_rate": 0.1}
        file = grader.file(tmp_path, endpoints={"grader": endpoint}, pools={"judges": pool}, canaries=rule)
        served = serve(judge_file=str(file))
        eventually(lambda: _judge(served)["canaries"])
        (examined,) = _judge(served)["canaries"]
        assert (examined["profile"], examined["passed"] + len(examined["missed"])) == (
            "reference",
            examined["answered"],
        )
        before = _judge(served)
        assert (before["state"], before["address"], before["pools"]) == ("healthy", grader.url, ["judges"])
        assert (before["limit"] <= before["max_limit"], before["rpm"], before["tpm"]) == (True, 6e6, None)
        assert before["mean_latency_s"] > 0
        grader.trouble = lambda number: (500, "out of memory")
        assert _status(served, "It is Paris") == "failed"
        ejected = _judge(served)
        assert (ejected["state"], ejected["failures"], ejected["ejections"]) == ("ejected", {"upstream_5xx": 1}, 1)
        assert ejected["why"] == "upstream_5xx"
        assert 0 < ejected["back_in_s"] <= 3600
        grader.trouble = lambda number: None
        assert _status(served, "I say Paris") == "ok"  # no other endpoint is left, so it is asked all the same
        back = _judge(served)
        assert (back["state"], back["why"], back["back_in_s"]) == ("healthy", "", None)
        assert (back["in_flight"], back["calls"], back["answered"]) == (0, before["calls"] + 2, before["answered"] + 1)
        assert _status(served, "I say Paris", cache="refresh") == "ok"
        judges = httpx.get(f"{served.url}/v1/judges")
    assert judges.json()["votes"] == {"asked": 2, "cached": 0}
    assert judges.json()["pools"][0]["profiles"] == [
        "reference",
        "criteria",
        "quality",
        "pairwise",
        "compare",
        "listwise",
        "steps",
    ]
    assert SECRET not in judges.text


def _judge(served: Served) -> dict[str, Any]:
    (judge,) = httpx.get(f"{served.url}/v1/judges").json()["endpoints"]
    return dict(judge)


def _status(served: Served, response: str, **options: str) -> str:
    batch = {"items": [{**_ITEM, "response": response}], **options}
    (result,) = httpx.post(f"{served.url}/v1/score", json=batch, timeout=PATIENCE_S).json()["results"]
    return str(result["status"])
