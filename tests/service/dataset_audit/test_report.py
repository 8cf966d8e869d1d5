"""A report is bounded, whatever a data set holds, and its page shows every text as text."""

from html.parser import HTMLParser

import pytest

from service.dataset_audit.fixes import advice
from service.dataset_audit.page import html
from service.dataset_audit.report import EARNED, Example, Finding, Fix, Report, Severity, bin_of, clip, short_item

HOSTILE = "</code><script>alert(1)</script><img src=x onerror=alert(2)>\" ' & \u202e \ud800"


def example(row: int, reason: str = "bad_reference", text: str = "x", fix: Fix | None = None) -> Example:
    return Example(Finding(row, text, None, "math", reason, text, {"reference": text}), {"response": text}, fix)


def test_only_some_rows_are_kept_and_all_are_counted() -> None:
    report = Report(kept=3)
    for row in range(1000):
        report.add(example(row))
        report.add(example(row, "worked_solution"))
        report.end_segment()
    assert [(kind.reason, kind.rows, len(kind.examples)) for kind in report.worst_first()] == [
        ("bad_reference", 1000, 3),
        ("worked_solution", 1000, 3),
    ]
    assert report.bad_rows == 1000
    assert report.by_reason() == {("math", "bad_reference"): 1000}


def test_examples_and_fixes_end_at_a_number_of_characters() -> None:
    report = Report(kept=10**9)
    for row in range(20_000):
        report.add(example(row, text="y" * 300, fix=Fix(row, ["answer"], "z" * 1000)))
    assert sum(each.chars for kind in report.kinds.values() for each in kind.examples) < 1_100_000
    assert sum(len(fix.value) for fix in report.fixes) < 2_100_000
    assert report.fixes_found == 20_000


def test_a_row_with_several_findings_is_one_bad_row() -> None:
    report = Report()
    for reason in ("bad_reference", "bad_params", "worked_solution"):
        report.add(example(1, reason))
    assert report.bad_rows == 1
    assert [finding.reason for finding in report.findings] == ["bad_reference", "bad_params"]


def test_a_copy_does_not_grow() -> None:
    report = Report(kept=5)
    report.add(example(1))
    held = report.copy()
    report.add(example(2))
    report.earned[0] += 1
    assert held.kinds["math", "bad_reference"].rows == 1
    assert len(held.findings) == 1
    assert sum(held.earned) == 0


def test_the_worst_comes_first() -> None:
    report = Report()
    for row, reason in enumerate(["worked_solution", "bad_params", "bad_params", "bad_reference", "not_itself"]):
        report.add(example(row, reason))
    assert [kind.reason for kind in report.worst_first()] == [
        *("not_itself", "bad_params", "bad_reference", "worked_solution")
    ]
    assert report.worst_first()[0].severity is Severity.WRONG_REWARD


@pytest.mark.parametrize(
    ("score", "label"),
    [(0.0, "0"), (0.05, "0.1"), (0.1, "0.1"), (0.3, "0.3"), (0.31, "0.4"), (0.9, "0.9"), (0.95, "below 1"), (1.0, "1")],
)
def test_scores_have_bins(score: float, label: str) -> None:
    assert EARNED[bin_of(score)] == label


def test_texts_are_cut_and_can_be_written() -> None:
    assert len(clip("x" * 10_000)) == 300
    clip(HOSTILE).encode()
    assert short_item({"response": "x" * 10_000}) is None
    assert short_item({"response": "x"}) == {"response": "x"}


def test_nothing_of_a_data_set_becomes_markup() -> None:
    report = Report()
    report.rows = 1
    report.recipes[HOSTILE] += 1
    report.earned[3] = 2
    report.add(example(1, HOSTILE, HOSTILE, Fix(1, [HOSTILE], HOSTILE)))
    page = html(HOSTILE, report, state=HOSTILE)
    page.encode()
    tags: set[str] = set()
    attributes: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.add(tag)
            attributes.update(name for name, _ in attrs)

    reader = Reader()
    reader.feed(page)
    reader.close()
    assert tags.isdisjoint({"script", "img", "link", "iframe"})
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "href")]
    assert "0.3" in page
    assert advice("no such reason") in page
