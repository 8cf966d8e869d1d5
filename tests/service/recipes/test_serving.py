"""Recipes of a file in a running service: read at the start, shown, read again on SIGHUP; and the commands for them."""

import json
import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import rewardline
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]

FILE = """
recipes:
  mine:
    about: Right is worth {right}.
    checks: [{{verifier: numeric, scale: [0, {right}]}}]
routes:
- {{tag: "mine*", recipe: mine}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipes.yaml"
    path.write_text(FILE.format(right=2))
    return path


def score(served: Any, *items: JSON) -> list[JSON]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text
    results: list[JSON] = reply.json()["results"]
    return results


def has_reloaded(served: Any, outcome: str, times: int) -> bool:
    line = f'rewardline_recipes_reloads_total{{outcome="{outcome}"}} {times:.1f}'
    return line in httpx.get(f"{served.url}/metrics").text.splitlines()


def test_recipes_are_shown_with_all_their_defaults(serve: Callable[..., Any], file: Path) -> None:
    served = serve(recipes_file=str(file), sandbox="none")
    shown = httpx.get(f"{served.url}/v1/recipes").json()
    (mine,) = [recipe for recipe in shown["recipes"] if recipe["name"] == "mine"]
    assert mine["about"] == "Right is worth 2."
    assert mine["aggregate"] == "weighted_mean"
    assert mine["checks"][0]["scale"] == {"wrong": 0.0, "correct": 2.0, "reasons": {}, "threshold": None}
    assert {"tag": "mine*", "recipe": "mine", "origin": str(file)} in shown["routes"]
    (result,) = score(served, {"tag": "mine7", "response": "5", "ground_truth": "5"})
    assert (result["score"], result["reward"], result["recipe"]) == (1.0, 2.0, "mine")


@pytest.mark.accuracy
def test_sighup_reads_the_file_again_and_drops_no_request(serve: Callable[..., Any], file: Path) -> None:
    served = serve(recipes_file=str(file), sandbox="none")
    rewards: set[float] = set()
    refused: list[str] = []
    stop = threading.Event()

    def load() -> None:
        item = {"recipe": "mine", "reference": "5"}
        with httpx.Client() as client:
            while not stop.is_set():
                batch = {"items": [{**item, "response": f"{n} 5"} for n in range(50)], "cache": "off"}
                reply = client.post(f"{served.url}/v1/score", json=batch, timeout=PATIENCE_S)
                if reply.status_code != 200:
                    refused.append(reply.text)
                    return
                rewards.update(result["reward"] for result in reply.json()["results"])

    callers = [threading.Thread(target=load) for _ in range(3)]
    for caller in callers:
        caller.start()
    try:
        for count, right in enumerate((3, 4, 5), 1):
            file.write_text(FILE.format(right=right))
            served.process.send_signal(signal.SIGHUP)
            eventually(partial(has_reloaded, served, "done", count))
        file.write_text("recipes: {mine: {checks: [{verifier: nosuch}]}}")
        served.process.send_signal(signal.SIGHUP)
        eventually(partial(has_reloaded, served, "refused", 1))
        eventually(lambda: "no verifier 'nosuch'" in served.log.read_text())
    finally:
        stop.set()
        for caller in callers:
            caller.join()
    assert not refused
    assert rewards <= {0.0, 2.0, 3.0, 4.0, 5.0}
    (result,) = score(served, {"recipe": "mine", "response": "5", "reference": "5"})
    assert result["reward"] == 5.0, "a file with mistakes changes nothing"


def test_a_service_does_not_start_with_a_bad_file(file: Path) -> None:
    file.write_text("recipes: {mine: {checks: [{verifier: nosuch}, {verifier: maths}]}}")
    config = file.with_name("config.yaml")
    config.write_text(json.dumps({"recipes_file": str(file), "sandbox": "none", "http_port": 0, "grpc_port": 0}))
    done = rewardline("serve", "--config", config)
    assert done.returncode == 2
    assert "no verifier 'nosuch'" in done.stderr
    assert "did you mean `math`" in done.stderr


@pytest.mark.accuracy
def test_the_commands(file: Path) -> None:
    good = rewardline("recipes", "check", file)
    assert (good.returncode, good.stderr) == (0, "")
    assert "1 recipes and 1 routes" in good.stdout
    shown = json.loads(rewardline("recipes", "show", "mine", "--file", file).stdout)
    assert shown["checks"][0]["verifier"] == "numeric"
    assert [route["tag"] for route in shown["routes"]] == ["mine*"]
    assert "think_math" in rewardline("recipes", "list").stdout
    assert rewardline("recipes", "show", "nosuch").returncode == 2
    file.write_text("recipes: {a: {checks: [{verifier: x}]}, b: {checks: [{verifier: y}]}}")
    bad = rewardline("recipes", "check", file)
    assert bad.returncode == 2
    assert len(bad.stderr.splitlines()) == 2
    assert "recipes.b.checks.0: no verifier 'y'" in bad.stderr


def test_a_file_of_rollouts_is_scored_by_a_recipe(tmp_path: Path) -> None:
    source = tmp_path / "rollouts.jsonl"
    rows = [{"response": f"<think>x</think>\\boxed{{{n}}}", "ground_truth": "3", "tag": "nosuch"} for n in range(5)]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = rewardline("score", source, "--recipe", "think_math")
    assert done.returncode == 0, done.stderr
    _, *found = [json.loads(line) for line in source.with_suffix(".verdicts.jsonl").read_text().splitlines()]
    assert [row["score"] for row in found] == [0, 0, 0, 1, 0]
    assert {row["recipe"] for row in found} == {"think_math"}
