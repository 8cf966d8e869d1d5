"""The watch of a running service: planted impostors and shadows off the path of the answer, alarms for their owners alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from rewardline import Client

from service.limits import keys
from tests.conftest import Served, serving
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
NAMES = (
    "Paris", "London", "Rome", "Madrid", "Lisbon", "Vienna", "Prague", "Berlin", "Athens", "Dublin", "Oslo", "Riga",
)  # fmt: skip
RECIPES: JSON = {
    "recipes": {
        "holed": {"checks": [{"verifier": "qa", "params": {"metric": "contains"}}], "watch": {}},
        "sound": {"checks": [{"verifier": "qa"}], "watch": {}},
        "loose": {"checks": [{"verifier": "regex"}], "watch": {}},
        "shadowed": {
            "checks": [{"verifier": "length", "params": {"maximum": 1000}}],
            "watch": {"shadow": {"verifier": "exact_match"}, "share": 1.0, "impostors": False},
        },
        "broken_shadow": {
            "checks": [{"verifier": "qa"}],
            "watch": {"shadow": {"verifier": "code"}, "share": 1.0, "impostors": False},
        },
    }
}


def items(recipe: str, count: int, response: str = "") -> list[JSON]:
    return [
        {
            "recipe": recipe,
            "prompt": f"What is the capital of country {at}?",
            "reference": NAMES[at % len(NAMES)],
            "response": response or f"It is {NAMES[at % len(NAMES)]}.",
            "metadata": {"step": 7},
        }
        for at in range(count)
    ]


class Shared:
    def __init__(self, served: Served, secrets: dict[str, str]) -> None:
        self.served = served
        self._secrets = secrets

    def client(self, caller: str) -> Client:
        return Client(self.served.url, api_key=self._secrets[caller])

    def alarms(self, caller: str, query: str = "", **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {self._secrets[caller]}", **headers}
        return httpx.get(f"{self.served.url}/v1/watch/alarms{query}", headers=given, timeout=PATIENCE_S)

    def metric(self, line: str) -> float:
        text = httpx.get(
            f"{self.served.url}/metrics", headers={"Authorization": f"Bearer {self._secrets['boss']}"}
        ).text
        return sum(float(row.rpartition(" ")[2]) for row in text.splitlines() if row.startswith(line))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder: Path = tmp_path_factory.mktemp("watched")
    made = {name: keys.new_key() for name in ("red", "blue", "boss")}
    callers: JSON = {name: {"sha256": digest} for name, (_, digest) in made.items()}
    callers["boss"]["scopes"] = ["admin", "score"]
    (folder / "keys.yaml").write_text(yaml.safe_dump({"keys": callers}))
    (folder / "recipes.yaml").write_text(yaml.safe_dump(RECIPES))
    with serving(
        folder / "log",
        keys_file=str(folder / "keys.yaml"),
        recipes_file=str(folder / "recipes.yaml"),
        watch_share="1",
        sandbox="local",
        workers="1",
    ) as served:
        yield Shared(served, {name: key for name, (key, _) in made.items()})


@pytest.mark.watch
def test_a_recipe_that_pays_a_list_of_answers_is_told_by_an_impostor(shared: Shared) -> None:
    with shared.client("red") as client:
        results = client.score(items("holed", 3000), run_id="run-1")
        assert all(result.status == "ok" for result in results)
        eventually(lambda: client.score(items("holed", 600), run_id="run-1") and client.alarms(run="run-1"))
        alarm = next(alarm for alarm in client.alarms(run="run-1") if alarm["detector"] == "impostor")
    assert (alarm["tenant"], alarm["run"], alarm["judge"]) == ("red", "run-1", "holed")
    assert "nine" in alarm["detail"] or "three" in alarm["detail"]
    assert alarm["raised"]["step"] == 7
    assert sum(name in alarm["responses"][0]["response"] for name in NAMES) >= 3
    assert shared.metric('rewardline_watch_alarms_total{detector="impostor",judge="holed"}') >= 1
    assert "reward_alarm" in shared.served.log.read_text()
    watched = shared.alarms("red").json()["watched"]
    assert (watched["all_rewards"], set(watched["recipes"])) == (False, set(RECIPES["recipes"]))
    (run,) = [run for run in watched["runs"] if run["judge"] == "holed"]
    assert (run["run"], run["step"], run["items"] >= 3000) == ("run-1", 7, True)
    assert "short" in run["ready"]
    assert "shadow" not in run["ready"]  # the recipe has none
    assert set(run["ready"]) < set(watched["detectors"])


@pytest.mark.watch
def test_a_pattern_that_matches_anything_is_told_by_an_impostor(shared: Shared) -> None:
    with shared.client("red") as client:
        for _ in range(4):
            anything = [{**item, "reference": f"(?s).*|{item['reference']}"} for item in items("loose", 600)]
            client.score(anything, run_id="run-5")
        eventually(lambda: client.alarms(run="run-5"))
        (alarm, *_) = client.alarms(run="run-5")
    assert (alarm["detector"], alarm["judge"]) == ("impostor", "loose")
    assert "elsewhere" in alarm["detail"], "an empty text has no answer, whatever the pattern"


@pytest.mark.watch
def test_a_sound_recipe_pays_no_impostor(shared: Shared) -> None:
    with shared.client("blue") as client:
        before = shared.metric('rewardline_watch_probes_total{outcome="impostor"}')
        for _ in range(12):
            client.score(items("sound", 600), run_id="run-2")
        eventually(lambda: shared.metric('rewardline_watch_probes_total{outcome="impostor"}') >= before + 8)
        assert client.alarms(run="run-2") == []


@pytest.mark.watch
def test_alarms_belong_to_their_tenant(shared: Shared) -> None:
    test_a_recipe_that_pays_a_list_of_answers_is_told_by_an_impostor(shared)
    assert shared.alarms("blue").json()["alarms"] == []
    assert "run-1" not in {run["run"] for run in shared.alarms("blue").json()["watched"]["runs"]}
    assert shared.alarms("boss", **{"X-Tenant": "red"}).json()["alarms"]
    assert shared.alarms("blue", **{"X-Tenant": "red"}).status_code == 403
    last = shared.alarms("red").json()["alarms"][-1]["id"]
    assert shared.alarms("red", f"?after={last}").json()["alarms"] == []
    refused = shared.alarms("red", "?since=1")
    assert refused.status_code == 422
    assert "run and after" in refused.text
    assert httpx.get(f"{shared.served.url}/v1/prompts").status_code == 401


@pytest.mark.watch
def test_a_shadow_that_disagrees_raises_an_alarm(shared: Shared) -> None:
    with shared.client("blue") as client:
        right = items("shadowed", 150)
        for item in right:
            item["response"] = item["reference"]
        client.score(right, run_id="run-3")
        eventually(lambda: shared.metric('rewardline_watch_probes_total{outcome="shadow"}') >= 100)

        def has_alarm() -> bool:
            client.score(items("shadowed", 100, "anything at all"), run_id="run-3")
            return any(alarm["detector"] == "shadow" for alarm in client.alarms(run="run-3"))

        eventually(has_alarm)


@pytest.mark.watch
def test_a_shadow_that_cannot_judge_changes_nothing(shared: Shared) -> None:
    with shared.client("blue") as client:
        right = [{**item, "response": item["reference"]} for item in items("broken_shadow", 50)]
        results = client.score(right, run_id="run-4")
        assert all(result.status == "ok" and result.score == 1 for result in results)
        eventually(lambda: shared.metric('rewardline_watch_probes_total{outcome="not_judged"}') >= 50)
        assert client.alarms(run="run-4") == []


def test_a_recipe_with_a_wrong_shadow_stops_the_start(tmp_path: Path) -> None:
    from service.recipes import book, files  # noqa: PLC0415
    from service.run.core import load_verifiers  # noqa: PLC0415

    wrong = {"recipes": {"a": {"checks": [{"verifier": "qa"}], "watch": {"shadow": {"verifier": "mth"}}}}}
    (tmp_path / "recipes.yaml").write_text(yaml.safe_dump(wrong))
    with pytest.raises(files.BadRecipes, match=r"watch\.shadow: no verifier 'mth'"):
        book.load(load_verifiers(), tmp_path / "recipes.yaml")
