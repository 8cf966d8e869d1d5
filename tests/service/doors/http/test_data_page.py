"""The page of data sets in a real browser, as a person uses it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from pyarrow import parquet

from tests.browser import Opened, check_accessible, window
from tests.conftest import Serve, Served

KEY = "console-secret-0123456"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202eabc\u202c"
ROWS: Sequence[dict[str, Any]] = (
    {"id": "a", "answer": "There are $\\boxed{4}$ such integers.", "prompt": "How many?"},
    {"id": HOSTILE, "answer": f"${HOSTILE}$"},
    {"id": "c", "answer": "5"},
)


class DataPage(Opened):
    """The page of data sets."""

    def choose(self, file: Path) -> None:
        expect(self.page.locator("#judge optgroup")).to_have_count(2)
        self.page.get_by_label("Drop a JSONL or Parquet file here").set_input_files(file)

    def audit(self, file: Path, judge: str = "verifier:math") -> None:
        self.choose(file)
        self.page.get_by_label("Judged by").select_option(judge)
        self.page.get_by_role("button", name="Audit", exact=True).click()
        expect(self.page.locator("#status")).to_contain_text("done.")

    def taken(self, button: str) -> str:
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=button).click()
        return download.value.path().read_text()


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


@pytest.mark.browser
def test_a_dropped_file_is_audited_and_can_be_mended(served: Served, context: BrowserContext, tmp_path: Path) -> None:
    file = write(tmp_path / "mine.jsonl", [*ROWS, "no JSON"])
    opened = DataPage(context, f"{served.url}/console/data")
    opened.choose(file)
    expect(opened.page.get_by_label("Reference")).to_have_value("answer")
    expect(opened.page.get_by_label("Judged by")).to_have_value("verifier:math")
    opened.audit(file)
    expect(opened.page.locator("#status")).to_contain_text("4 rows")
    kinds = opened.page.locator(".kind h3")
    expect(kinds).to_have_count(3)
    assert [text.split()[0] for text in kinds.all_inner_texts()] == ["no", "no", "hint"]
    assert opened.page.locator("#kinds img, #kinds script").count() == 0
    assert "<img src=x onerror=alert(1)>" in opened.page.locator("#kinds").inner_text()
    bars = opened.page.locator(".bars tbody tr")
    assert [row.split() for row in bars.all_inner_texts()] == [["0", "0"], ["1", "2"]]
    mended = opened.taken("Download with 1 values mended").splitlines()
    assert json.loads(mended[0]) == {**ROWS[0], "answer": "4"}
    assert mended[1:] == file.read_text().splitlines()[1:]
    report = opened.taken("Save report")
    assert "Audit of <bdi>mine.jsonl</bdi>" in report
    assert "<script" not in report
    opened.page.get_by_role("button", name="Copy 4").click()
    expect(opened.page.locator("#taken")).to_have_text("Copied.")
    assert opened.page.evaluate("navigator.clipboard.readText()") == "4"
    opened.page.locator(".kind", has_text="worked solution").get_by_role("link", name="Try it").click()
    expect(opened.page.locator("#verdict")).to_contain_text("correct by math")
    assert opened.complaints == []


@pytest.mark.browser
def test_a_mended_line_is_the_same_but_for_its_mended_values(
    served: Served, context: BrowserContext, tmp_path: Path
) -> None:
    large, worked = "9007199254740993", json.dumps("There are $\\boxed{4}$.")
    rows = [
        f'{{"id": {large},  "score":1.0, "extra": {{"a": [{{"answer": {large}}}, "}}\\""]}}, "answer" : {worked} }}',
        json.dumps({"problem": "Which? (A) one\n(B) two", "answer": "B"}) + "  ",
    ]
    opened = DataPage(context, f"{served.url}/console/data")
    opened.audit(write(tmp_path / "large.jsonl", rows))
    mended = opened.taken("values mended").splitlines()
    assert mended == [rows[0].replace(worked, '"4"'), rows[1]]
    opened.page.locator(".kind", has_text="worked solution").get_by_role("link", name="Try it").click()
    expect(opened.page.locator("#verdict")).to_contain_text("correct by math")
    assert opened.complaints == []


@pytest.mark.browser
def test_values_are_put_where_they_belong_in_a_line(served: Served, context: BrowserContext) -> None:
    opened = DataPage(context, f"{served.url}/console/data")
    put = """async ([line, path, value]) => {
        const { mended } = await import("/console/mend.js");
        return (await mended(new Blob(["{}\\n" + line + "\\n{}"]), [{ row: 2, path, value }])).text();
    }"""
    for line, path, wanted in (
        ('{"a": {"b": 1, "c": 12345678901234567890}}', ["a", "b"], '{"a": {"b": ["x"], "c": 12345678901234567890}}'),
        ('{"a": 1.0}', ["params", "choices"], '{"a": 1.0, "params": {"choices": ["x"]}}'),
        ('{"params": { }}', ["params", "choices"], '{"params": { "choices": ["x"]}}'),
        ('{"params": null, "b": 1}', ["params", "choices"], '{"params": {"choices": ["x"]}, "b": 1}'),
        ('{"a": 1, "\\u0061": [2, {"a": 3}]}', ["a"], '{"a": 1, "\\u0061": ["x"]}'),
        ('{"b": {"a": {"__proto__": 1}}, "a": "{"}', ["a"], '{"b": {"a": {"__proto__": 1}}, "a": ["x"]}'),
        ('{"__proto__": {"a": 1}}', ["__proto__", "a"], '{"__proto__": {"a": ["x"]}}'),
        ('{"l": "' + "\\\\" * 1_000_000 + '", "a": 1}', ["a"], '{"l": "' + "\\\\" * 1_000_000 + '", "a": ["x"]}'),
    ):
        assert opened.page.evaluate(put, [line, path, ["x"]]) == f"{{}}\n{wanted}\n{{}}"
    assert opened.complaints == []


@pytest.mark.browser
def test_the_page_finds_its_audit_again(served: Served, context: BrowserContext, tmp_path: Path) -> None:
    opened = DataPage(context, f"{served.url}/console/data")
    opened.audit(write(tmp_path / "again.jsonl", ROWS))
    opened.page.reload()
    expect(opened.page.locator("#found-title")).to_have_text("Audit of again.jsonl")
    expect(opened.page.locator("#status")).to_contain_text("done. 3 rows")
    fixes = opened.taken("Download 1 mended values")
    assert json.loads(fixes) == {"row": 1, "path": ["answer"], "value": "4"}
    opened.page.goto(f"{served.url}/console/data")
    opened.page.locator("#earlier").get_by_role("link", name="again.jsonl").first.click()
    expect(opened.page.locator("#status")).to_contain_text("done. 3 rows")
    opened.page.go_back()
    expect(opened.page.locator("#found")).to_be_hidden()
    opened.page.go_forward()
    expect(opened.page.locator("#status")).to_contain_text("done. 3 rows")
    opened.page.goto(f"{served.url}/console/data#none")
    expect(opened.page.get_by_role("alert")).to_contain_text("This link names no audit.")
    opened.page.goto(f"{served.url}/console/data#{'0' * 32}")
    expect(opened.page.get_by_role("alert")).to_contain_text("begin it again")
    assert all("404" in complaint for complaint in opened.complaints)


@pytest.mark.browser
def test_parquet_and_a_file_that_is_none(served: Served, context: BrowserContext, tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"answer": ["4", "$x = $"]}), file)
    opened = DataPage(context, f"{served.url}/console/data")
    opened.audit(file)
    expect(opened.page.locator("#status")).to_contain_text("2 of 2 rows")
    file.write_bytes(b"PAR1 and no more")
    opened.page.get_by_role("button", name="Audit", exact=True).click()
    expect(opened.page.get_by_role("alert")).to_contain_text("choose it again")
    none = tmp_path / "none.parquet"
    none.write_bytes(b"PAR1 and no more")
    opened.choose(none)
    opened.page.get_by_role("button", name="Audit", exact=True).click()
    expect(opened.page.locator("#status")).to_contain_text("failed: it cannot be read: it is not Parquet")
    assert all("ERR_UPLOAD_FILE_CHANGED" in complaint for complaint in opened.complaints)


@pytest.mark.browser
def test_an_audit_is_stopped(serve: Serve, context: BrowserContext, tmp_path: Path) -> None:
    served = serve(workers="1")
    rows = [{"answer": f"x^{n} + \\sqrt{{{n}}} + \\frac{{y}}{{{n}}}"} for n in range(2, 50_000)]
    opened = DataPage(context, f"{served.url}/console/data")
    opened.choose(write(tmp_path / "long.jsonl", rows))
    opened.page.get_by_role("button", name="Audit", exact=True).click()
    opened.page.get_by_role("button", name="Stop").click()
    expect(opened.page.locator("#status")).to_contain_text("cancelled: it was cancelled")
    expect(opened.page.get_by_role("button", name="Stop")).to_be_hidden()
    assert opened.complaints == []


@pytest.mark.browser
def test_mistakes_are_said_and_a_key_is_asked_for(serve: Serve, context: BrowserContext, tmp_path: Path) -> None:
    (tmp_path / "sets").mkdir()
    write(tmp_path / "sets" / "rows.jsonl", ROWS)
    served = serve(api_keys=f"me={KEY}", dataset_root=str(tmp_path / "sets"), max_dataset_mb="0.001")
    opened = DataPage(context, f"{served.url}/console/data")
    said = opened.page.get_by_role("alert")
    expect(said).to_have_text("Give an API key above.")
    opened.page.get_by_label("API key").fill(KEY)
    opened.page.keyboard.press("Enter")
    expect(said).to_have_text("")
    audit = opened.page.get_by_role("button", name="Audit", exact=True)
    audit.click()
    expect(said).to_have_text("Choose a file first.")
    path = opened.page.get_by_label("or name one that the service may read")
    path.fill("../rows.jsonl")
    audit.click()
    expect(said).to_contain_text("leads out")
    large = write(tmp_path / "large.jsonl", [*ROWS] * 10)
    opened.choose(large)
    audit.click()
    expect(said).to_contain_text("The file has more than 0.001 MB")
    opened.page.locator("#file").set_input_files([])
    path.fill("rows.jsonl")
    opened.page.get_by_label("Judged by").select_option("recipe:think_math")
    path.press("Enter")
    expect(opened.page.locator("#status")).to_contain_text("done. 3 rows")
    assert all("401" in complaint or "422" in complaint for complaint in opened.complaints)


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_axe_finds_no_fault(served: Served, browser: Browser, tmp_path: Path, scheme: Any, width: int) -> None:
    with window(browser, scheme, width) as context:
        opened = DataPage(context, f"{served.url}/console/data")
        opened.audit(write(tmp_path / "rows.jsonl", [*ROWS, "no JSON"] * 3))
        check_accessible(opened, width)
