"""`make graders`: the graders that trainers ship, and `math` of this service, on the same labelled rows.

It writes the tables into docs/graders.md, and every disagreement with a label into a file of lines of JSON.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.accuracy.real_data import (
    DATA,
    ROOT,
    Rows,
    benchmarks,
    deepmath,
    gsm8k,
    judge,
    peers,
    probes,
    reports,
    sentences,
)
from tests.conftest import serving
from tests.graders.bench import Answer, Environment, Tally, by_set, checked, judged, plain, table

OURS = "Rewardline math"
PAGE = ROOT / "docs" / "graders.md"
RECORDED = DATA / "recorded_verdicts.jsonl"
_BEGIN, _END = "<!-- measured -->", "<!-- end -->"
_SHOWN, _SHOWN_CHARS = 3, 110


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path, help="the interpreter of the graders' environment")
    parser.add_argument("--sources", type=Path, help="the folder with checkouts of the graders that have no wheel")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="rows with what models said of them")
    parser.add_argument("--most", type=int, default=100, help="rows of a set; a sample, the same each time")
    parser.add_argument("--only", default="", help="the graders whose names begin so, without ours")
    parser.add_argument("--jobs", type=int, default=1, help="graders at the same time; more need as many processors")
    parser.add_argument("--out", type=Path, default=ROOT / ".build" / "graders.jsonl", help="all disagreements")
    options = parser.parse_args()
    recorded = _labelled("recorded verdicts", _read(options.recorded))
    sets = [plain(rows).sample(options.most) for rows in (*all_sets(), recorded)]
    tallies = [] if options.only else [*ours(sets), *replayed(_read(options.recorded), recorded)]
    environment = Environment(
        options.python.absolute(), checked(options.sources.absolute()) if options.sources else None
    )
    chosen = [grader for grader in environment.names() if grader.startswith(options.only)]
    with ThreadPoolExecutor(options.jobs) as threads:
        for own in threads.map(lambda grader: judged(environment, grader, sets), chosen):
            tallies += own
    print(*table(tallies), "", *by_set(tallies), sep="\n")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = [{"grader": tally.grader, **row} for tally in tallies for row in tally.disagreements]
    options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    if not options.only:
        _write_page(tallies)


def all_sets() -> list[Rows]:
    """Twelve sets and more: real answers, references in pairs, other graders' tests, reports, hacks and bombs."""
    mathematics = [rows for rows in reports() if rows.name == "reports: math"]
    own = [
        probes(),
        gsm8k(),
        deepmath(),
        benchmarks(),
        *peers(),
        *mathematics,
        sentences(),
        _labelled("killers", _read(DATA / "killers.jsonl")),
    ]
    return [*own, *_exam()]


def replayed(read: Sequence[Mapping[str, Any]], rows: Rows) -> Iterator[Tally]:
    """What graders that are models said of rows, as `said` records it. They do not run here."""
    for grader in dict.fromkeys(name for row in read for name in row["said"]):
        yield Tally(grader, rows, [row["said"].get(grader) for row in read], 0.0)


def _exam() -> Iterator[Rows]:
    rows = _read(DATA / "exam.jsonl")
    for name in sorted({str(row["set"]) for row in rows}):
        yield _labelled(f"exam: {name}", [row for row in rows if row["set"] == name])


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _labelled(name: str, rows: Sequence[Mapping[str, Any]]) -> Rows:
    items = [{"verifier": "math", "reference": row["gold"], "response": row["response"]} for row in rows]
    return Rows(name, items, [bool(row["expected"]) for row in rows])


def ours(sets: Sequence[Rows]) -> list[Tally]:
    """What the service says, over HTTP."""
    tallies = []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log.jsonl") as served:
        for rows in sets:
            outcome = judge(rows, "HTTP", served, Path(folder))
            answers: list[Answer] = [
                verdict["score"] == 1.0 if verdict["status"] == "ok" else None for verdict in outcome.verdicts
            ]
            tallies.append(Tally(OURS, rows, answers, outcome.cpu_s))
    return tallies


def _write_page(tallies: Sequence[Tally]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(_BEGIN)
    measured = [*table(tallies), "", *by_set(tallies), "", *_disagreements(tallies)]
    lines = [f"{before}{_BEGIN}", *measured, f"{_END}{rest.split(_END)[1]}"]
    PAGE.write_text("\n".join(lines), encoding="utf-8")


def _disagreements(tallies: Sequence[Tally]) -> Iterator[str]:
    """All of ours, and the first of each other grader and set."""
    yield "| grader | set | reference | end of the response | label | said |"
    yield "|---|---|---|---|---|---|"
    for tally in tallies:
        for row in tally.disagreements[: None if tally.grader == OURS else _SHOWN]:
            said = {True: "right", False: "wrong", None: "not judged"}.get(row["said"], row["said"])
            cells = (
                tally.grader,
                row["set"],
                _code(row["gold"][:_SHOWN_CHARS]),
                _code(row["response"][-_SHOWN_CHARS:]),
            )
            yield f"| {' | '.join(cells)} | {'right' if row['label'] else 'wrong'} | {said} |"


def _code(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return f"`` {line} ``"


if __name__ == "__main__":
    main()
