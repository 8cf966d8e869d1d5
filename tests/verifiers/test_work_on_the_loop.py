"""What a new item costs on the event loop: nothing is compiled from its words, and its work is bounded."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.verifiers.code.test_reading import leetcode
from tests.verifiers.found import Found
from verifiers.base import Item, Status

_MOST_CALLS = 10_000
"""Calls of Python functions for one new item: a millisecond or two. A question of ten options once took 218,000."""


def _word(number: int) -> str:
    """Another word for each number."""
    return "".join("bdfglmnprstvz"[number // 13**place % 13] + "aeiou"[(number + place) % 5] for place in range(4))


def _words(number: int, count: int) -> list[str]:
    return [_word(number * 1_000 + place) for place in range(count)]


def _choices(number: int) -> dict[str, Any]:
    return {"reference": "C", "choices": [" ".join(_words(number * 64 + option, 4)) for option in range(10)]}


def _labelled(number: int) -> dict[str, Any]:
    labels = [word[:8] for word in _words(number, 4)]
    return {"reference": labels[0], "choices": dict(zip(labels, _words(number + 7, 4), strict=True)), "multi": True}


def _instructions(
    *wanted: tuple[str, Callable[[int], dict[str, Any]]], profile: str
) -> Callable[[int], dict[str, Any]]:
    def params(number: int) -> dict[str, Any]:
        ids = [name for name, _ in wanted]
        kwargs = [arguments(number * 64 + place) for place, (_, arguments) in enumerate(wanted)]
        return {"reference": {"instruction_id_list": ids, "kwargs": kwargs}, "profile": profile}

    return params


_WORDED = (
    ("keywords:existence", lambda n: {"keywords": _words(n, 12)}),
    ("keywords:forbidden_words", lambda n: {"forbidden_words": _words(n, 12)}),
    ("keywords:frequency", lambda n: {"keyword": _word(n), "frequency": 2, "relation": "at least"}),
    ("detectable_format:multiple_sections", lambda n: {"section_spliter": _word(n), "num_sections": 2}),
    ("detectable_content:postscript", lambda n: {"postscript_marker": _word(n)}),
)


def _graph(number: int) -> dict[str, Any]:
    colors, vertices = _words(number, 4), ["A", "B", "C"]
    return {"reference": {"vertices": vertices, "edges": [["A", "B"], ["B", "C"]], "colors": colors}}


_NEW: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "options": ("multiple_choice", _choices),
    "labels": ("multiple_choice", _labelled),
    "instructions": ("instruction_following", _instructions(*_WORDED, profile="fixed")),
    "published instructions": ("instruction_following", _instructions(*_WORDED, profile="official")),
    "an answer": ("qa", lambda n: {"reference": _words(n, 3)}),
    "an answer in a text": ("qa", lambda n: {"reference": _words(n, 3), "metric": "contains"}),
    "a text": ("exact_match", lambda n: {"reference": _words(n, 3)}),
    "a number": ("numeric", lambda n: {"reference": f"{n}.5"}),
    "colours": ("graph_coloring", _graph),
    "tags": ("xml", lambda n: {"required": _words(n, 4)}),
    "counted tags": ("tag_count", lambda n: {"tags": _words(n, 4)}),
    "tests of a program": ("code", lambda n: {"reference": leetcode(random.Random(n)), "language": "python"}),
    "columns": ("structured_output", lambda n: {"format": "csv", "columns": _words(n, 4)}),
}


@pytest.mark.parametrize("kind", _NEW)
def test_nothing_is_compiled_from_the_words_of_an_item_and_its_work_is_bounded(found: Found, kind: str) -> None:
    name, params = _NEW[kind]
    entry = found.registry[name]

    def item(number: int) -> Item[Any]:
        said = params(number)
        response = f"I think. {_word(number)} is red: A, B. The answer is (C), says {_word(number * 1_000 + 1)}."
        return Item(response, entry.verifier.params.model_validate(said))

    verdicts = found.score(entry, [item(0), item(1)])  # what is made once, and not for each item
    assert {verdict.status for verdict in verdicts} == {Status.OK}
    items = [item(number) for number in range(2, 12)]
    work = found.work(entry, items)

    assert work.compiled == 0
    assert work.calls <= _MOST_CALLS * len(items)
