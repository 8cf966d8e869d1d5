"""Counts the calls of functions for an item of each row of `make bench`, on which its speed rests. No machine changes them.

`python -m tests.benchmarks.calls` counts them anew and keeps them in calls.json. Only the calls on the event loop count, and
those of a worker that grades answers of `math`.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from tests.benchmarks import math_speed, rule_speed
from tests.verifiers.found import Found
from tests.work import Work, counted
from verifiers import pace
from verifiers.base import Item
from verifiers.math import grading
from verifiers.math.params import MathParams

KEPT: Final = Path(__file__).with_name("calls.json")
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
"""Other versions of Python call otherwise: 3.12 has comprehensions in line."""
_ITEMS = 8
_RULES = (
    *("exact_match", "exact_match, tag", "qa, tag", "qa, no tags", "numeric", "numeric, tag", "numeric, boxed"),
    *("multiple_choice, tag", "multiple_choice, no tags", "multiple_choice, sentence in prose", "xml", "regex"),
)


def calls(found: Found) -> Mapping[str, int]:
    """The calls for an item of each row, when all that is read once is known.

    No item rests: on a busy machine some would, and the event loop's own calls would count.
    """
    with patch.object(pace, "STEP_S", math.inf):
        return {row: _mean(run) for row, run in _rows(found)}


def _mean(run: Callable[[int], Work]) -> int:
    """The mean of the items, one after the other, of three rounds: in one, garbage may be collected."""
    rounds = [[run(index) for index in range(_ITEMS)] for _ in range(4)][1:]
    fewest = (min(work.calls + work.calls_of_c for work in done) for done in zip(*rounds, strict=True))
    return round(sum(fewest, 0.0) / _ITEMS)


def _rows(found: Found) -> Iterator[tuple[str, Callable[[int], Work]]]:
    for name, count in math_speed.SETS.items():
        problems = math_speed.read(name)[: count : count // _ITEMS]
        yield f"math, {name}", partial(_read_and_graded, problems)
    for rule in rule_speed.RULES:
        if rule.label in _RULES:
            entry = found.registry[rule.verifier]
            params = entry.verifier.params.model_validate_json(json.dumps(rule.params))
            items = [Item(rule.make(index), params) for index in range(_ITEMS)]
            yield rule.label, partial(_judged, found, rule.verifier, items)
    rows = [row for row in rule_speed.rows_of("rules/ifeval_oracle.jsonl") if len(row["instruction_id_list"]) > 1]
    entry = found.registry["instruction_following"]
    items = [rule_speed.instruction_item(entry, row, "official") for row in rows[:_ITEMS]]
    yield "instruction_following, official", partial(_judged, found, "instruction_following", items)


def _judged(found: Found, verifier: str, items: list[Item[Any]], index: int) -> Work:
    return found.work(found.registry[verifier], items[index : index + 1])


def _read_and_graded(problems: list[math_speed.Problem], index: int) -> Work:
    problem = problems[index]
    look = MathParams(reference=problem.gold).look
    with counted() as work:
        finding = look.find(problem.response, explain=False)
        if not look.is_sound or look.settle(finding) is None:
            grading.grade([look.terms.references, finding.answer, look.packed_options])
    return work


def main() -> None:
    found = Found()
    try:
        KEPT.write_text(json.dumps({"python": PYTHON, "calls": calls(found)}, indent=1) + "\n", "utf-8")
    finally:
        found.close()


if __name__ == "__main__":
    main()
