"""The page Diff in a real browser, on a report that the command wrote."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import Opened, check_accessible, window
from tests.conftest import Served

HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    answers = [f"{HOSTILE} It is \\boxed{{{each}}}." for each in ("5 m", "5", *["5 kg"] * 7)]
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps({"response": each, "answer": "5 m"}) + "\n" for each in answers))
    sides = ("math", '{"unit_policy": "ignore"}', str(rows), "--verifier", "math")
    command = (sys.executable, "-m", "service", "diff", *sides, "--report", str(folder / "flips.json"))
    subprocess.run(command, check=True, capture_output=True)
    return folder / "flips.json"


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_a_report_is_opened(served: Served, browser: Browser, report: Path, scheme: Any, width: int) -> None:
    with window(browser, scheme, width) as context:
        opened = Opened(context, f"{served.url}/console/diff")
        opened.page.get_by_label("Choose the JSON").set_input_files(report)
        said, kinds = opened.page.locator("#said"), opened.page.locator("#kinds")
        expect(said).to_contain_text("9 of 9 rows compared, 7 flips (77.778 %).")
        expect(kinds.get_by_role("heading", name="unpaid to paid: 7")).to_be_visible()
        examples = kinds.get_by_role("region", name="Examples: unpaid to paid").locator("tbody tr")
        assert HOSTILE in examples.first.inner_text()
        assert examples.count() == len(json.loads(report.read_text())["kinds"][0]["examples"])
        expect(kinds.get_by_role("region", name="By verifier").locator("tbody td")).to_have_text(["math", "9", "7"])
        assert opened.page.locator("main img, main script").count() == 0
        check_accessible(opened, width)
        opened.page.get_by_label("Choose the JSON").set_input_files(
            {"name": "other.json", "mimeType": "application/json", "buffer": b'{"kinds": 1}'}
        )
        expect(said).to_contain_text("This file is not a report of rewardline diff.")
        expect(kinds).to_be_empty()
        assert opened.complaints == []
