"""A small judge decides what it is certain of, and a large one the rest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.judge_upstream.behaviours import refuses
from tests.judge_upstream.cascade import Pair, file, serving
from tests.judge_upstream.scripted import Behaviour, Scripted
from verifiers.base import Item, Status, Verdict
from verifiers.judge import Judge, config, prompts
from verifiers.judge.cascades import least_certainty
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import Gateway
from verifiers.judge.panel import Panel
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.sharing import Shared

CASCADE = {"cascade": {"profile": "quick", "certainty": 0.95}}


def _pair(*right: float) -> Pair:
    pair = Pair(len(right))
    pair.right, pair.large = np.array(right), np.array([True] * len(right))
    return pair


@asynccontextmanager
async def _judging(
    folder: Path, small: Behaviour, large: Behaviour
) -> AsyncIterator[tuple[Judge, Scripted, Scripted, Panel]]:
    async with serving(small, large) as servers:
        read = config.load(file(folder, servers, **CASCADE))
        gateway = Gateway(read.endpoints, read.pools, keys={})
        panel = Panel(read, gateway, Shared(1_000_000), prompts.load(), fence_secret=b"s" * 32)
        try:
            yield Judge(panel), servers[0], servers[1], panel
        finally:
            await panel.stop()


async def _verdict(judge: Judge, row: int, **params: Any) -> Verdict:
    chosen = JudgeParams.model_validate({"reference": "the right one", "judge": "careful", **params})
    (verdict,) = await judge.score([Item(f"It is {row}.", chosen, "Which?")])
    return verdict


@pytest.mark.parametrize(
    ("right", "score", "reason", "decided"),
    [
        (0.99, 1.0, "correct", True),
        (0.01, 0.0, "wrong_answer", True),
        (0.9, 1.0, "correct", False),
        (0.2, 1.0, "correct", False),
    ],
)
async def test_the_large_judge_is_asked_where_the_small_one_is_not_certain(
    tmp_path: Path, right: float, score: float, reason: str, decided: bool
) -> None:
    pair = _pair(right)
    async with _judging(tmp_path, pair.says_probability(), pair.says_verdict()) as (judge, small, large, panel):
        verdict = await _verdict(judge, 0)
        assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, score, reason)
        assert verdict.detail["cascade"]["decided"] is decided
        assert verdict.detail["cascade"]["probability"] == pytest.approx(right)
        assert (len(small.calls), len(large.calls)) == (1, int(not decided))
        assert [vote["endpoint"] for vote in verdict.detail["votes"]] == ["small" if decided else "large"]
        assert panel.counts["cascade", "first" if decided else "behind"] == 1


@pytest.mark.parametrize("small", [_pair(0.999).says_probability(logprobs=False), refuses(500), refuses(401)])
async def test_what_the_small_judge_cannot_say_is_for_the_large_one(tmp_path: Path, small: Behaviour) -> None:
    async with _judging(tmp_path, small, _pair(0.999).says_verdict()) as (judge, _, large, _panel):
        verdict = await _verdict(judge, 0)
        assert (verdict.score, len(large.calls)) == (1.0, 1)
        assert verdict.detail["cascade"] == {"profile": "quick", "probability": None, "decided": False}


async def test_without_the_large_judge_nothing_takes_its_place(tmp_path: Path) -> None:
    async with _judging(tmp_path, _pair(0.8).says_probability(), refuses(500)) as (judge, *_):
        verdict = await _verdict(judge, 0)
        assert (verdict.status, verdict.reason) == (Status.FAILED, "judge_upstream_5xx")


async def test_a_rule_decides_before_both_and_a_prompt_of_the_item_is_for_the_large_judge(tmp_path: Path) -> None:
    pair = _pair(0.999)
    async with _judging(tmp_path, pair.says_probability(), pair.says_verdict()) as (judge, small, large, _):
        assert (await _verdict(judge, 0, reference="It is 0.")).detail["source"] == "exact_match"
        assert (len(small.calls), len(large.calls)) == (0, 0)
        await _verdict(judge, 0, prompt_template="ref_equiv_direct@1")
        assert (len(small.calls), len(large.calls) > 0) == (0, True)


@pytest.mark.parametrize(
    ("large", "says"),
    [
        ({"cascade": {"profile": "nobody", "certainty": 0.9}}, "nobody"),
        ({"cascade": {"profile": "careful", "certainty": 0.9}}, "score_source: expected"),
        ({"cascade": {"profile": "quick", "certainty": 0.5}}, "0.5"),
        ({"cascade": {"profile": "quick", "certainty": 0.9}, "rewards": {"C": 0.5}}, "without rewards"),
    ],
)
async def test_a_cascade_that_cannot_be_is_refused(tmp_path: Path, large: dict[str, Any], says: str) -> None:
    async with serving(refuses(500), refuses(500)) as servers:
        with pytest.raises(BadJudges, match=says):
            config.load(file(tmp_path, servers, **large))


@pytest.mark.parametrize("promised", [0.01, 0.05])
def test_the_promise_is_kept_on_rows_that_took_no_part(promised: float) -> None:
    """The mean over many calibrations, as the theorem says; four standard errors are for the chance of this sample."""
    risks, decided = [], []
    for seed in range(300):
        pair = Pair(1_000, easy=0.6, seed=seed)
        certainties = np.maximum(pair.right, 1 - pair.right)
        differs = (pair.right > 0.5) != pair.large
        least = least_certainty(certainties[:400].tolist(), differs[:400].tolist(), promised)
        assert least is not None
        firsts = certainties[400:] >= least
        risks.append((differs[400:] & firsts).mean())
        decided.append(firsts.mean())
    assert np.mean(risks) <= promised + 4 * np.std(risks) / len(risks) ** 0.5
    assert np.mean(risks) >= promised / 3  # and it saves what may be saved
    assert np.mean(decided) > 0.6


def test_a_certainty_comes_from_enough_rows_only() -> None:
    assert least_certainty([0.9] * 98, [False] * 98, 0.01) is None
    assert least_certainty([0.9] * 99, [False] * 99, 0.01) == 0.9
    assert least_certainty([0.9] * 99, [False] * 98 + [True], 0.01) is None
    assert least_certainty([0.99] * 50 + [0.9] * 49, [False] * 98 + [True], 0.01) == 0.99
    assert least_certainty([0.9] * 199, [False] * 198 + [True], 0.01) == 0.9
    assert least_certainty([0.0] * 500, [False] * 500, 0.01) is None
    assert least_certainty([], [], 0.01) is None
