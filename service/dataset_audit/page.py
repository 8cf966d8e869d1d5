"""The report of an audit as one HTML file that can be saved: without scripts, and nothing in it is loaded.

Every text comes from the data set or might, so all of them are escaped and isolated from their neighbours' direction.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

from service.dataset_audit.fixes import advice
from service.dataset_audit.report import EARNED, Example, Kind, Report, Severity

SHOWN_ROWS: Final = 20
"""Rows that the page shows of each kind."""
SEVERITIES: Final[Mapping[Severity, str]] = {
    Severity.WRONG_REWARD: "wrong reward",
    Severity.NO_REWARD: "no reward",
    Severity.HINT: "hint",
}
STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid #8886; overflow-wrap: anywhere; }
code { font: 14px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
th { overflow-wrap: normal; }
td:first-child { overflow-wrap: normal; }
section { overflow-x: auto; }
meter { width: 12rem; max-width: 40vw; }
bdi { unicode-bidi: isolate; }
"""


def html(name: str, report: Report, *, state: str = "") -> str:
    """The page.

    Args:
        name: Of the file that was audited.
        report: What was found.
        state: Why the audit is not whole, in words. Empty: it is.
    """
    title = f"Audit of {text(name)}"
    sections = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(name)}: audit</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>",
        f"<p><strong>{text(state)}</strong></p>" if state else "",
        f"<p>{report.rows} rows; {report.bad_rows} with findings. {report.checks} references looked at, "
        f"{report.own_answers} of them with a right response; {report.unjudged} could not be judged.</p>",
        _counts("Judged by", report.recipes),
        _counts("References of mathematics", report.references),
        _counts("Could not be judged", report.unjudged_reasons),
        _earned(report.earned),
        *(_kind(kind) for kind in report.worst_first()),
        _readings(report),
        "" if report.kinds else "<p>Nothing was found.</p>",
        "</main></body></html>\n",
    ]
    return "".join(sections)


def _counts(title: str, counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    listing = ", ".join(f"{text(name)} {count}" for name, count in sorted(counts.items(), key=lambda entry: -entry[1]))
    return f"<p>{title}: {listing}.</p>"


def _earned(earned: list[int]) -> str:
    total = sum(earned)
    if not total:
        return ""
    rows = (
        f'<tr><th scope="row">{label}</th><td><meter min="0" max="{total}" value="{count}" aria-label="{label}"></meter>'
        f" {count}</td></tr>"
        for label, count in zip(EARNED, earned, strict=True)
        if count
    )
    return f"<section><h2>What right responses earn</h2>{table(('score up to', 'responses'), rows)}</section>"


def _readings(report: Report) -> str:
    rows = (
        row([str(reading.row), text(reading.kind), f"<code>{text(reading.answer)}</code>"])
        for reading in report.first_readings(SHOWN_ROWS)
    )
    listing = table(("row", "read as", "answer, or what is wrong"), rows)
    return f"<section><h2>How references are read</h2>{listing}</section>" if report.readings else ""


def _kind(kind: Kind) -> str:
    examples = kind.examples[:SHOWN_ROWS]
    remainder_note = f"<p>{kind.rows - len(examples)} more are not shown.</p>" if kind.rows > len(examples) else ""
    by = f" ({text(kind.verifier)})" if kind.verifier else ""
    return (
        f"<section><h2>{text(kind.reason.replace('_', ' '))}{by}: {kind.rows}</h2>"
        f"<p><strong>{SEVERITIES[kind.severity]}</strong>. {text(advice(kind.reason))}</p>"
        f"{table(('row', 'id', 'what', 'about', 'fix'), map(_example, examples))}{remainder_note}</section>"
    )


def _example(example: Example) -> str:
    finding = example.finding
    facts = "<br>".join(f"{text(name)}: <code>{text(value)}</code>" for name, value in finding.told.items())
    fix = "" if example.fix is None else f"{text('.'.join(example.fix.path))} = <code>{text(example.fix.value)}</code>"
    return row([str(finding.row), text(finding.id or ""), text(finding.message), facts, fix])


def table(heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f'<th scope="col">{heading}</th>' for heading in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def text(value: Any) -> str:
    return f"<bdi>{escaped(str(value))}</bdi>"


def escaped(text: str) -> str:
    return escape(text.encode("utf-8", "backslashreplace").decode())
