"""What graders made of the sets, as files: `docs/graders-rows.html` has each row and reads it to a person, `docs/graders.md`
the tables.
"""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.accuracy.real_data import ROOT, Rows
from tests.graders.bench import CRASH, HANG, Answer, Row, Tally, by_set, rows_of, table
from tests.graders.sets import SHOWN_ROWS, doubts

OURS = "Rewardline"
PAGE, ROWS = ROOT / "docs" / "graders.md", ROOT / "docs" / "graders-rows.html"
TEMPLATE = Path(__file__).with_name("page.html")
_BEGIN, _END = "<!-- measured -->", "<!-- end -->"
_DATA_BEGIN, _DATA_END = '<script id="data" type="application/json">', "</script>"
_LETTERS: Mapping[Answer, str] = {True: "+", False: "-", None: "?", HANG: "h", CRASH: "c"}
_NOT_ASKED = " "
_WORDS: Mapping[Answer, Answer] = {True: "right", False: "wrong", None: "not judged"}
_SHOWN_CHARS = 110
_WHY = {
    "MATH-V, real answers": "three labels call an answer wrong that states the key's letter (the last table has them)",
    "recorded verdicts": "one row of three wants a polynomial factored, as its question says, and its reference does not",
}


def merged(old: Sequence[Tally], new: Sequence[Tally], sets: Sequence[Rows]) -> list[Tally]:
    """The new results, and the old ones of what was not asked again, if they have all rows of their set."""
    asked = {(tally.grader, tally.rows.name) for tally in new}
    now = {rows.name: rows for rows in sets}
    kept = [tally for tally in old if (tally.grader, tally.rows.name) not in asked]
    size = len(now[SHOWN_ROWS].items) if SHOWN_ROWS in now else None
    hidden = [tally for tally in kept if tally.rows.name == SHOWN_ROWS and size in (None, len(tally.answers))]
    shown = [whole for tally in kept if (whole := _whole(tally, now.get(tally.rows.name))) is not None]
    order = list(dict.fromkeys([OURS, *(tally.grader for tally in (*old, *new))]))
    names = [*now, SHOWN_ROWS]
    return sorted([*new, *shown, *hidden], key=lambda tally: (order.index(tally.grader), names.index(tally.rows.name)))


def _whole(tally: Tally, rows: Rows | None) -> Tally | None:
    """A result for all of some rows, in their order, from one for these and more."""
    if rows is None or tally.rows.name == SHOWN_ROWS:
        return None
    answers, cpu_s = tally.by_row(), tally.cpu_s
    if not all(row in answers for row in rows_of(rows)):
        return None
    return Tally(
        tally.grader, rows, [answers[row] for row in rows_of(rows)], cpu_s * len(rows.items) / (len(answers) or 1)
    )


def changes(old: Sequence[Tally], new: Sequence[Tally]) -> Iterator[str]:
    """The answers that differ from those of the page, which should be none on any machine."""
    before = {(tally.grader, tally.rows.name): tally.by_row() for tally in old}
    for tally in new:
        was = before.get((tally.grader, tally.rows.name), {})
        changed = sum(was.get(row, answer) != answer for row, answer in tally.by_row().items())
        if changed:
            yield f"{tally.grader}, {tally.rows.name}: {changed} answers differ from docs/graders-rows.html"


def read(path: Path = ROWS) -> list[Tally]:
    """The results of earlier runs. None if there is no page yet."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    data = json.loads(text.split(_DATA_BEGIN)[1].split(_DATA_END)[0])
    answer_of = {letter: answer for answer, letter in _LETTERS.items()}
    tallies = []
    for number, name in enumerate(data["sets"]):
        rows = [row for row in data["rows"] if row[0] == number]
        own = Rows(name, [{"reference": row[1], "response": row[2]} for row in rows], [row[3] for row in rows])
        for place, (grader, cpu_s) in enumerate(data["graders"]):
            letters = [row[4][place] for row in rows]
            if _NOT_ASKED not in letters:
                tallies.append(Tally(grader, own, [answer_of[letter] for letter in letters], cpu_s[number]))
    return tallies


def write(tallies: Sequence[Tally], *, page: Path = PAGE, rows: Path = ROWS) -> None:
    rows.write_text(
        TEMPLATE.read_text(encoding="utf-8").replace(f"{_DATA_BEGIN}{_DATA_END}", _script(tallies)), encoding="utf-8"
    )
    tallies = read(rows)
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    measured = [
        *standing(tallies),
        "",
        *table(tallies),
        "",
        *by_set(tallies),
        "",
        *_own_disagreements(tallies),
        "",
        *doubtful(tallies),
    ]
    lines = [f"{before}{_BEGIN}", *measured, f"{_END}{rest.split(_END)[1]}"]
    page.write_text("\n".join(lines), encoding="utf-8")


def _script(tallies: Sequence[Tally]) -> str:
    """The data in the page. No text of a row can end the element, for each `<` is escaped."""
    graders = list(dict.fromkeys(tally.grader for tally in tallies))
    sets = {tally.rows.name: tally.rows for tally in tallies}
    by_name = {(tally.grader, tally.rows.name): tally for tally in tallies}
    parts: dict[str, list[Any]] = {
        "sets": [*sets],
        "graders": [[grader, [_cpu_s(by_name.get((grader, name))) for name in sets]] for grader in graders],
        "rows": [
            [number, *texts, "".join(_letter(by_name.get((grader, name)), index) for grader in graders)]
            for number, (name, rows) in enumerate(sets.items())
            for index, texts in enumerate(_texts(rows))
        ],
    }
    lines = (f'"{name}":[\n{_joined(values)}\n]' for name, values in parts.items())
    body = ",\n".join(lines).replace("<", "\\u003c")
    return f"{_DATA_BEGIN}{{{body}}}{_DATA_END}"


def _joined(values: Sequence[Any]) -> str:
    return ",\n".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)


def _cpu_s(tally: Tally | None) -> float:
    return round(tally.cpu_s, 2) if tally else 0.0


def _letter(tally: Tally | None, index: int) -> str:
    return _LETTERS[tally.answers[index]] if tally else _NOT_ASKED


def _texts(rows: Rows) -> Iterator[Row]:
    """Reference, response and label; in place of texts that must not be copied, where they stand."""
    for number, key in enumerate(rows_of(rows), start=1):
        yield ("", f"example {number} of xVerify's README", key[2]) if rows.name == SHOWN_ROWS else key


def standing(tallies: Sequence[Tally]) -> Iterator[str]:
    """Where ours is first or equal, and where it is not; with all rows, and without those whose label is in doubt."""
    in_doubt = doubts()
    behind, size = list(_behind(tallies)), len({tally.rows.name for tally in tallies})
    count = len({(tally.rows.name, *row) for tally in tallies for row in rows_of(tally.rows) if row in in_doubt})
    undoubted = size - len(list(_behind([_without(tally, in_doubt) for tally in tallies])))
    yield f"Ours is first or equal on accuracy and on false accepts in {size - len(behind)} of {size} sets, each row as its project"
    yield f"labels it; in {undoubted} of {size} without the {count} rows that a careful reader would label otherwise."
    yield ""
    for name, what in behind:
        yield f"* Not in *{name}*: {what}{'; ' + _WHY[name] if name in _WHY else ''}."


def _behind(tallies: Sequence[Tally]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(tally.rows.name for tally in tallies):
        own, *others = (tally for tally in tallies if tally.rows.name == name)
        wrong, accepts = len(own.disagreements), own.count(True, label=False)
        better = [other.grader for other in others if len(other.disagreements) < wrong]
        safer = [other.grader for other in others if other.count(True, label=False) < accepts]
        parts = [f"more rows are right for {', '.join(better)}"] if better else []
        parts += (
            [f"fewer wrong answers are accepted by {len(safer)} graders, for ours accepts {accepts}"] if safer else []
        )
        if parts:
            yield name, "; ".join(parts)


def _without(tally: Tally, rows: Container[Row]) -> Tally:
    """What a grader said of a set without some rows."""
    kept = [index for index, row in enumerate(rows_of(tally.rows)) if row not in rows]
    items, labels = [tally.rows.items[index] for index in kept], [tally.rows.labels[index] for index in kept]
    return Tally(tally.grader, Rows(tally.rows.name, items, labels), [tally.answers[index] for index in kept], 0.0)


def doubtful(tallies: Sequence[Tally]) -> Iterator[str]:
    """The rows whose label is in doubt, with what ours says and how many others say the same as the label."""
    yield "| in doubt: set | reference | end of the response | label | doubt | ours | others that say as the label |"
    yield "|---|---|---|---|---|---|---|"
    for row, why in doubts().items():
        said = {tally.grader: (tally.rows.name, tally.by_row()[row]) for tally in tallies if row in tally.by_row()}
        if OURS in said:
            gold, response, label = row
            name, own = said.pop(OURS)
            texts = f"{_code(gold[:_SHOWN_CHARS])} | {_code(response[-_SHOWN_CHARS:])} | {_WORDS[label]} | {why} | {_WORDS[own]}"
            yield f"| {name} | {texts} | {sum(answer is label for _, answer in said.values())} of {len(said)} |"


def _own_disagreements(tallies: Sequence[Tally]) -> Iterator[str]:
    yield "| set | reference | end of the response | label | ours |"
    yield "|---|---|---|---|---|"
    for tally in tallies:
        for row in tally.disagreements if tally.grader == OURS else ():
            said = _WORDS.get(row["said"], row["said"])
            hidden = row["set"] == SHOWN_ROWS
            cells = ("", "") if hidden else (_code(row["gold"][:_SHOWN_CHARS]), _code(row["response"][-_SHOWN_CHARS:]))
            yield f"| {row['set']} | {' | '.join(cells)} | {'right' if row['label'] else 'wrong'} | {said} |"


def _code(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("`", "'")
    return f"`` {line} ``"
