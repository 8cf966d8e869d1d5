"""Long answers and large puzzles are judged in workers, with the verdicts they would get at once."""

import json
from importlib import import_module
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.base import Item, Status
from verifiers.puzzles import puzzle

NAMES = [
    "arc_grid", "countdown", "graph_coloring", "knights_and_knaves", "n_queens", "shortest_path", "sudoku",
    "word_ladder", "zebra",
]  # fmt: skip
HOSTILE = [
    "[",
    "{",
    "(",
    "[[1],",
    '{"a":',
    "1\n",
    "A -> ",
    "A: red\n",
    "Zoey is a knight or ",
    "COLD,",
    "up ",
    "'",
    "\\frac{",
    "| a ",
]


@pytest.mark.accuracy
@table("name", NAMES)
def test_long_responses_get_the_verdict_they_would_get_at_once(found: Found, name: str) -> None:
    module, entry = import_module(f"verifiers.puzzles.{name}"), found.registry[name]
    items: list[Item[Any]] = [
        Item(response, entry.verifier.params.model_validate_json(json.dumps(example.params)), None, explain)
        for example in module.EXAMPLES
        for response in (example.response, example.response + " \n" * 20_000, "So be it. " * 4_000 + example.response)
        for explain in (False, True)
    ]
    assert found.score(entry, items) == [module.judge(item) for item in items]


@pytest.mark.accuracy
@pytest.mark.growth(beyond=3)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_responses_are_wrong(found: Found, name: str) -> None:
    entry = found.registry[name]
    params = [
        entry.verifier.params.model_validate_json(json.dumps(example.params))
        for example in entry.examples
        if example.status is Status.OK
    ][:1]
    texts = [
        text
        for bit in HOSTILE
        for text in (bit * (40_000 // len(bit)), f"<answer>{bit * (50_000 // len(bit))}</answer>")
    ]
    items: list[Item[Any]] = [Item(text, param) for text in texts for param in params]
    assert {verdict.score for verdict in found.score(entry, items)} == {0.0}


@pytest.mark.bombs
@table("name", NAMES)
def test_hostile_references_are_the_callers_to_mend(found: Found, name: str) -> None:
    entry = found.registry[name]
    deep: Any = 0
    for _ in range(600):
        deep = [deep]
    references = [
        [[0] * 1000] * 1000,
        {"edges": [["a", "b"]] * 100_001, "num_colors": 2, "start": "a", "end": "b"},
        "1" * 1_000_000,
        "[" * 150_000,
        '{"a":' * 30_000,
        deep,
        {"puzzle": {"puzzle": {"puzzle": {"puzzle": {"puzzle": {"puzzle": 1}}}}}},
        {str(at): at for at in range(1000)},
        10**400,
        "\x00",
        True,
    ]
    for reference in references:
        params = entry.verifier.params.model_validate({"reference": reference})
        short, long = found.score(entry, [Item(text, params) for text in ("<answer>1</answer>", "1 " * 20_000)])
        assert (short.status, long.status) == (Status.INVALID, Status.INVALID), str(reference)[:50]


def test_parts_are_counted_without_looking_at_all_of_them() -> None:
    many = [[0, 1]] * 10**6
    assert puzzle.count_parts(many) == 10**6 + 1
    assert puzzle.count_parts([many] * 3) == 10**6 + 4
    assert puzzle.count_parts({"a": "x" * 10, "b": [1, "y" * 100]}) == 3 + 2 + 50
