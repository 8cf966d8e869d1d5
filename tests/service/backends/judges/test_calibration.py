"""`rewardline judges calibrate`, with a small and a large judge over HTTP."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from service.cli import judges
from service.cli.judge_calibration import Calibration, calibrate
from service.cli.judge_evaluation import BadRows, read_rows
from tests.judge_upstream.cascade import Pair, file, serving
from tests.judge_upstream.grader import Grader


async def _calibrated(folder: Path, pair: Pair, promised: float = 0.01) -> Calibration:
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in pair.rows()), encoding="utf-8")
    async with serving(pair.says_probability(), pair.says_verdict()) as servers:
        judges_file = file(folder, servers, cascade={"profile": "quick", "certainty": 0.6})
        return await calibrate(judges_file, read_rows(rows, 10_000), "careful", "quick", promised)


@pytest.mark.judges
@pytest.mark.parametrize(
    ("rows", "promised", "most"), [(220, 0.01, 0.03), pytest.param(3_000, 0.007, 0.01, marks=pytest.mark.judges)]
)
async def test_seven_tenths_of_the_tokens_are_saved_at_one_disagreement_in_a_hundred(
    tmp_path: Path, rows: int, promised: float, most: float
) -> None:
    """The promise is about the mean of many calibrations; of 110 rows, two more may differ by chance."""
    result = await _calibrated(tmp_path, Pair(rows), promised)
    assert (result.rows, result.held_out, result.by_rule, result.not_judged) == (rows // 2, rows // 2, 0, 0)
    assert result.certainty is not None
    assert result.disagreement is not None
    assert result.disagreement.value <= most
    assert result.is_kept
    assert result.tokens_saved is not None
    assert result.tokens_saved >= 0.7
    assert result.agreement_alone is not None
    assert result.agreement_alone.value == 1.0


@pytest.mark.judges
async def test_a_small_judge_that_is_sure_and_wrong_decides_nothing(tmp_path: Path) -> None:
    pair = Pair(220)
    pair.large = ~(pair.right > 0.5)
    result = await _calibrated(tmp_path, pair)
    assert (result.certainty, result.tokens_saved, result.is_kept) == (None, None, False)


async def test_a_profile_without_probabilities_cannot_be_first(tmp_path: Path) -> None:
    pair = Pair(4)
    async with serving(pair.says_probability(), pair.says_verdict()) as servers:
        with pytest.raises(BadRows, match="score_source: expected"):
            await calibrate(file(tmp_path, servers), [], "quick", "careful", 0.01)


def test_a_command_says_what_to_write(tmp_path: Path) -> None:
    """The honest judge gives no probabilities, so that no certainty is enough."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in Pair(10).rows()), encoding="utf-8")
    with Grader() as grader:
        profiles = {
            "careful": {"mode": "reference", "pool": "judges"},
            "quick": {"mode": "reference", "pool": "judges", "score_source": "expected"},
        }
        path = grader.file(tmp_path, profiles=profiles)
        options = ["--judges", str(path), "--profile", "careful", "--first", "quick"]
        done = CliRunner().invoke(judges.app, ["calibrate", str(rows), *options])
    assert done.exit_code == 1
    assert "no certainty keeps the promise on 5 rows" in done.output
