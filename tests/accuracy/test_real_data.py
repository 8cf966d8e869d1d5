"""Real labelled data through both doors and the command line: right, and the same each way."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.accuracy.real_data import WAYS, Rows, deepmath, disagreements, gsm8k, judge


@pytest.mark.slow
@pytest.mark.parametrize(("load", "least_agreement"), [(gsm8k, 0.999), (deepmath, 0.98)], ids=["gsm8k", "deepmath"])
def test_real_data_is_judged_right_and_the_same_each_way(
    served: Any, tmp_path: Path, load: Callable[[], Rows], least_agreement: float
) -> None:
    rows = load()
    outcomes = [judge(rows, way, served.url, served.grpc, tmp_path) for way in WAYS]
    assert outcomes[0].verdicts == outcomes[1].verdicts == outcomes[2].verdicts
    assert not any(verdict["status"] == "failed" for verdict in outcomes[0].verdicts)
    wrong = disagreements(rows, outcomes[0])
    assert len(wrong) / len(rows.items) <= 1 - least_agreement, wrong[:20]
