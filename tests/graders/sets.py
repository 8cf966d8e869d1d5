"""The sets of the bench: answers of models, references in pairs, others' tests, reports, hacks, bombs, replays."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.accuracy.real_data import DATA, PEERS, Rows, benchmarks, deepmath, gsm8k, probes, reports, sentences
from tests.verifiers.test_hack_cells import ANSWERS, PATTERNS

RECORDED = DATA / "recorded_verdicts.jsonl"
CHOICES = DATA.parent / "rules" / "choice_responses.jsonl"
SHOWN_ROWS = "xVerify's own examples"
_BOMBS = "bombs"
_MOST_KILLERS = 15
"""They take most of the time of a run: many a grader thinks about each until a limit of its own."""
_FIELD = re.compile(r'^ {4}"(correct_answer|llm_output|xVerify_judgment)": "(.*)",?$')
_RIGHT = (True, True, False, True)
"""What we read in xVerify's first four examples. The other three are not mathematics."""


@dataclass(frozen=True)
class Recording:
    """Rows, and what graders that are models said of them: true, false, or null if they do not judge a row."""

    rows: Rows
    said: Mapping[str, Sequence[bool | None]]


def all_sets() -> list[Rows]:
    """The sets that every grader judges."""
    by_verifier = {rows.name.removeprefix("reports: "): rows for rows in reports()}
    choices = _read(CHOICES)
    rows = [
        *(probes(), gsm8k(), _whole(deepmath()), _whole(benchmarks()), *_peers(), sentences()),
        *(by_verifier[name] for name in ("math", "numeric", "multiple_choice")),
        _labelled("killers", _read(DATA / "killers.jsonl")).sample(_MOST_KILLERS),
        *_exam(),
        hacks(),
        *(_letters(name, [row for row in choices if row["set"] == name]) for name in _names(choices)),
    ]
    return [*map(plain, rows)]


def doubts() -> Mapping[tuple[str, str, bool], str]:
    """Why a careful reader would label some rows otherwise: by reference, response and label."""
    files = (CHOICES, *(DATA / f"{file}.jsonl" for file in PEERS.values()))
    rows = [row for file in files for row in _read(file) if "doubt" in row]
    return {(row["gold"], row["response"], row["expected"]): row["doubt"] for row in rows}


def _peers() -> Iterator[Rows]:
    """Answers from the tests of other graders, all of them as these label them."""
    for name, file in PEERS.items():
        yield _labelled(name, [row for row in _read(DATA / f"{file}.jsonl") if row["gold"].strip()])


def hacks() -> Rows:
    """What policies write in place of an answer, for each sample of mathematics, beside its right answer."""
    samples = [sample for sample in ANSWERS if sample.verifier == "math"]
    rows: dict[tuple[str, str], bool] = {}
    for sample in samples:
        wrong = (text for name, (hack, _) in PATTERNS.items() if name != _BOMBS for text in hack(sample))
        rows |= {(sample.params["reference"], text): False for text in (*wrong, *sample.wrong)}
        plain_forms = (sample.right, f"\\boxed{{{sample.right}}}", f"The answer is ${sample.right}$.")
        rows |= {(sample.params["reference"], text): True for text in plain_forms}
    return _labelled("hacks", [{"gold": gold, "response": text, "expected": rows[gold, text]} for gold, text in rows])


def recording(path: Path = RECORDED) -> Recording:
    """A file of lines with `gold`, `response`, `expected` and `said`: what models said, by their names."""
    rows = _read(path)
    graders = dict.fromkeys(name for row in rows for name in row["said"])
    return Recording(
        _labelled("recorded verdicts", rows), {name: [row["said"].get(name) for row in rows] for name in graders}
    )


def xverify_examples(sources: Path) -> Recording:
    """The verdicts of xVerify on the examples of its README, read from a checkout: its licence allows no copies here."""
    fields: dict[str, list[str]] = {}
    for line in (sources / "xverify" / "README.md").read_text(encoding="utf-8").splitlines():
        if match := _FIELD.match(line):
            fields.setdefault(match[1], []).append(_unescaped(match[2]))
    rows = [
        {"gold": gold, "response": response, "expected": label}
        for gold, response, label in zip(fields["correct_answer"], fields["llm_output"], _RIGHT, strict=False)
    ]
    said = [judgment == "Correct" for judgment in fields["xVerify_judgment"][: len(rows)]]
    return Recording(_labelled(SHOWN_ROWS, rows), {"xVerify, replayed": said})


def _unescaped(text: str) -> str:
    """The string of JSON, or the text itself where it is none."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def plain(rows: Rows) -> Rows:
    """The rows that a grader without parameters can be asked about: with a label, and a text as the reference. The
    texts of options are left to ours.
    """
    return _those(rows, lambda item: isinstance(item["reference"], str) and set(item.get("params", {})) <= {"choices"})


def _whole(rows: Rows) -> Rows:
    """The rows without references that are cut off in their data set: their braces do not match."""
    return _those(rows, lambda item: item["reference"].count("{") == item["reference"].count("}"))


def _those(rows: Rows, condition: Callable[[Mapping[str, Any]], bool]) -> Rows:
    pairs = zip(rows.items, rows.labels, strict=True)
    kept = [(item, label) for item, label in pairs if label is not None and condition(item)]
    return Rows(rows.name, [item for item, _ in kept], [label for _, label in kept])


def is_of_letters(rows: Rows) -> bool:
    return all(item["verifier"] == "multiple_choice" for item in rows.items)


def _exam() -> Iterator[Rows]:
    rows = _read(DATA / "exam.jsonl")
    for name in sorted(_names(rows)):
        yield _labelled(f"exam: {name}", [row for row in rows if row["set"] == name])


def _letters(name: str, rows: Sequence[Mapping[str, Any]]) -> Rows:
    """Rows of multiple choice."""
    items = [
        {"verifier": "multiple_choice", "reference": row["gold"], "response": row["response"], "params": _params(row)}
        for row in rows
    ]
    return Rows(name, items, [row["expected"] for row in rows])


def _params(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"choices": row["choices"]} if row.get("choices") else {}


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(str(row["set"]) for row in rows))


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _labelled(name: str, rows: Sequence[Mapping[str, Any]]) -> Rows:
    items = [
        {"verifier": "math", "reference": row["gold"], "response": row["response"], "params": row.get("math", {})}
        for row in rows
    ]
    return Rows(name, items, [bool(row["expected"]) for row in rows])
