"""The document that the long runs fill."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.load import report
from tests.load.__main__ import PARTS
from tests.load.ledger import Ledger


def test_each_part_has_its_place_in_the_document(tmp_path: Path) -> None:
    file = tmp_path / "reliability.md"
    shutil.copy(ROOT / "docs/reliability.md", file)
    for part in PARTS:
        report.put(file, part, f"figures of {part}")
    text = file.read_text()
    assert [text.count(f"<!-- {part} -->\nfigures of {part}\n<!-- end of {part} -->") for part in PARTS] == [1] * 6
    with pytest.raises(ValueError, match="nothing"):
        report.put(file, "nothing", "")


def test_a_row_tells_what_became_of_the_items() -> None:
    ledger = Ledger(sent=1234, right=1230, wrong=1, failed=2, lost=1, asked_again=7, waits_s=[0.25])
    assert report.ledger_table([("a fault", ledger)]).splitlines()[-1] == (
        "| a fault | 1,234 | 1,230 | 7 | 2 | 1 | 1 | 250 | 0.2 |"
    )
