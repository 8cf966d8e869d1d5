"""`rewardline curves`: what is drawn at which step."""

from collections import defaultdict
from typing import Any

from rewardline.curves import Figures, Sink

from service.cli import curves


class _Drawn:
    """Keeps what each run is given, as a tracker does."""

    def __init__(self) -> None:
        self.runs: defaultdict[str, dict[int, Figures]] = defaultdict(dict)

    def of(self, run: str) -> Sink:
        def sink(figures: Figures, step: int) -> None:
            self.runs[run][step] = {**self.runs[run].get(step, {}), **figures}

        return sink


def _step(run: str, step: int, cost: float | None) -> dict[str, Any]:
    counts = {"count": 2, "failed": 0, "invalid": 0, "mean_reward": 0.5, "latency_ms": 1.0, "reasons": {"correct": 1}}
    return {"run": run, "judge": "math", "step": step, "groups": 1, "without_signal": 0, **counts, "judge_cost": cost}


def test_what_a_run_has_cost_so_far_stands_at_its_newest_step() -> None:
    drawn, written = _Drawn(), set[tuple[str, str, int]]()
    curves._write([_step("a", 2, 0.5), _step("a", 1, 0.5), _step("b", 7, None)], written, drawn)  # type: ignore[arg-type]  # keeps
    curves._write([_step("a", 2, 0.75), _step("a", 3, 0.75)], written, drawn)  # type: ignore[arg-type]  # keeps
    costs = {step: figures.get("rewardline/judge_cost") for step, figures in drawn.runs["a"].items()}
    assert costs == {1: None, 2: 0.5, 3: 0.75}
    assert "rewardline/judge_cost" not in drawn.runs["b"][7]
