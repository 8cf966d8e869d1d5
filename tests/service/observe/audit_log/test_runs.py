"""Groups, steps and two runs beside each other, from a log of a known training."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from service.observe.audit_log import runs, search
from service.observe.audit_log.search import Filters
from service.observe.audit_log.tables import Tables
from tests.service.observe.audit_log.logs import JSON

REWARDS = {
    "base": {"easy": [1, 1], "mixed": [0, 1], "hard": [0, 0]},
    "next": {"easy": [1, 1], "mixed": [1, 1], "hard": [1, 0], "new": [1, 1]},
}
"""The rewards of each run for two samples of each prompt, the same in two steps."""


def training(folder: Path, **more: Any) -> Path:
    path = folder / "log.jsonl"
    records = [
        {
            "time": f"2026-03-01T0{step}:00:0{sample}.000000Z",
            "id": f"{run}-{prompt}-{sample}",
            "status": "ok",
            "reason": "correct" if reward else "wrong_answer",
            "score": reward,
            "reward": reward,
            "verifier": "math",
            "elapsed_ms": 2.0,
            "run_id": run,
            "prompt": prompt,
            "reference": "1",
            "response": f"{run} {sample}",
            "metadata": {"global_step": step},
            **more,
        }
        for run, prompts in REWARDS.items()
        for step in (1, 2)
        for prompt, rewards in prompts.items()
        for sample, reward in enumerate(rewards)
    ]
    records.append({**records[0], "status": "failed", "reason": "deadline", "score": None, "reward": None})
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def ask(path: Path, question: Callable[..., JSON], *arguments: Any) -> JSON:
    with Tables([path]) as opened:
        return question(opened, *arguments)


def test_groups_are_what_a_run_sampled_for_a_prompt_in_a_step(tmp_path: Path) -> None:
    path = training(tmp_path)
    found = ask(path, runs.groups, Filters(), "mixed", 3)
    assert (found["count"], found["without_signal"], len(found["groups"])) == (14, 10, 3)
    assert {(group["run"], group["shown"], group["mean_reward"]) for group in found["groups"]} == {
        ("base", "mixed", 0.5), ("next", "hard", 0.5),
    }  # fmt: skip
    (group,) = ask(path, runs.groups, Filters(runs=["base"], steps=[1], text="easy"), "newest", 10)["groups"]
    assert (group["rewards"], group["count"], group["failed"]) == ([1, None, 1], 3, 1)
    members = ask(path, search.records, Filters(runs=["base"], steps=[1], prompts=[group["prompt"]]), 2)
    assert [record["response"] for record in members["records"]] == ["base 1", "base 0"]
    assert members["is_more"]


def test_steps_of_a_run_have_its_curves(tmp_path: Path) -> None:
    found = ask(training(tmp_path), runs.steps, Filters(runs=["base"]))
    first, second = found["steps"]
    assert (first["step"], first["count"], first["failed"], first["mean_reward"]) == (1, 7, 1, 0.5)
    assert first["reasons"] == {"correct": 3, "deadline": 1, "wrong_answer": 3}
    assert (second["step"], second["groups"], second["without_signal"], second["latency_ms"]) == (2, 3, 2, 2)
    assert found["without_step"] == 0


def test_two_runs_are_compared_on_the_prompts_of_both_flips_first(tmp_path: Path) -> None:
    found = ask(training(tmp_path), runs.compared, Filters(), "base", "next", 10)
    pairs = [(pair["shown"], pair["mean"], pair["other_mean"], pair["is_flip"]) for pair in found["pairs"]]
    assert pairs == [("hard", 0, 0.5, True), ("mixed", 0.5, 1, False), ("easy", 1, 1, False)]
    counts = {name: found[name] for name in ("prompts", "gained", "lost", "only", "other_only")}
    assert counts == {"prompts": 3, "gained": 1, "lost": 0, "only": 0, "other_only": 1}


def test_prompts_of_a_log_of_hashes_are_told_by_them(tmp_path: Path) -> None:
    path = training(tmp_path, prompt=None, prompt_sha256="a" * 64, reference=None, reference_sha256="b" * 64)
    found = ask(path, runs.compared, Filters(), "base", "next", 10)
    assert found["prompts"] == 1
