"""The recipes that stand for open-instruct's verifiers, held against what they give."""

import json

import pytest

from tests.conftest import ROOT
from tests.service.recipes.shipped.scorer import Scorer


def test_gsm8k_agrees_with_the_labels_of_real_solutions(scorer: Scorer) -> None:
    lines = (ROOT / "tests/data/math/gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = list(map(json.loads, lines[::5]))
    items = [{"data_source": "gsm8k", "response": row["response"], "ground_truth": row["gold"]} for row in rows]
    assert scorer.rewards(*items) == [float(row["expected"]) for row in rows]


def test_ifeval_agrees_with_open_instructs_own_checkers(scorer: Scorer) -> None:
    lines = (ROOT / "tests/data/rules/ifevalg_oracle.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["response"]]  # its verifier gives 0 for nothing at all
    items = [
        {
            "data_source": "ifeval",
            "response": row["response"],
            "ground_truth": str([{"instruction_id": [row["instruction_id"]], "kwargs": [row["kwargs"]]}]),
        }
        for row in rows
    ]
    assert scorer.rewards(*items) == [float(row["official"]) for row in rows]


_NO_COMMA_BUT_A_BOAT = str(
    [
        {
            "instruction_id": ["punctuation:no_comma", "keywords:existence"],
            "kwargs": [None, {"keywords": ["boat"], "N": None}],
        }
    ]
)


@pytest.mark.parametrize(
    ("response", "paid"),
    [("a boat", 1.0), ("a, boat", 0.5), ("x, y", 0.0), ("<think>a, b</think>a boat", 1.0), ("", 0.0)],
)
def test_ifeval_pays_the_share_that_is_followed(scorer: Scorer, response: str, paid: float) -> None:
    item = {"recipe": "open_instruct.ifeval", "response": response, "reference": _NO_COMMA_BUT_A_BOAT}
    assert scorer.rewards(item) == [paid]


@pytest.mark.parametrize(
    ("response", "label", "paid"),
    [
        ("The lamp is on a boat.", {"func_name": "verify_keywords", "keyword_list": ["lamp", "boat"], "N": None}, 1.0),
        ("The lamp is on.", {"func_name": "verify_keywords", "keyword_list": ["lamp", "boat"], "N": None}, 0.0),
        ("cat cat dog", {"func_name": "verify_keyword_frequency", "word": "cat", "N": 2}, 1.0),
        ("cat dog", {"func_name": "verify_keyword_frequency", "word": "cat", "N": 2}, 0.0),
        ("Wow! Great! Ok.", {"func_name": "verify_sentence_constraint", "N": 3, "quantifier": "at least"}, 1.0),
        ("", {"func_name": "verify_keywords", "keyword_list": ["lamp"]}, 0.0),
        ("The lamp is on.", {"keyword_list": ["lamp"]}, None),
    ],
)
def test_ifeval_old_takes_its_labels_as_they_are(
    scorer: Scorer, response: str, label: dict[str, object], paid: float | None
) -> None:
    items = [
        {"data_source": "ifeval_old", "response": response, "ground_truth": form} for form in (label, json.dumps(label))
    ]
    assert scorer.rewards(*items) == [paid, paid]


_ADD = "```python\ndef add(a, b):\n    return a + b\n```"
_THREE = "```python\ndef add(a, b):\n    return 3\n```"
_ASSERTS = ["assert add(1, 2) == 3", "assert add(1, 1) == 2"]
_SUMS = [{"input": "1 2\n", "output": "3\n"}, {"input": "2 2\n", "output": "4\n"}]


@pytest.mark.accuracy
def test_code_pays_the_share_of_asserts_and_nothing_below_its_threshold(code_scorer: Scorer) -> None:
    rows = [(_ADD, {}), (_THREE, {}), (_THREE, {"threshold": 0.8}), ("There is none.", {}), ("", {})]
    items = [
        {"data_source": "code", "response": response, "ground_truth": label, "params": params}
        for response, params in rows
        for label in (_ASSERTS, json.dumps(_ASSERTS))
    ]
    assert code_scorer.rewards(*items) == [1.0, 1.0, 0.5, 0.5, *[0.0] * 6]


def test_code_stdio_pays_the_share_of_outputs(code_scorer: Scorer) -> None:
    responses = ["```python\nprint(sum(map(int, input().split())))\n```", "```python\nprint(3)\n```", ""]
    items = [
        {"data_source": "code_stdio", "response": response, "ground_truth": json.dumps(_SUMS)} for response in responses
    ]
    assert code_scorer.rewards(*items) == [1.0, 0.5, 0.0]


def test_rows_are_routed_by_the_names_of_its_data_sets_but_for_the_one_that_verl_has_too(scorer: Scorer) -> None:
    routes = {route.pattern: route.recipe for _, route in scorer.core.engine.book.routes if route.kind == "data_source"}
    names = [recipe for recipe in scorer.core.engine.book.recipes if recipe.startswith("open_instruct.")]
    own = {name.removeprefix("open_instruct.") for name in names} - {"math", "soft_format", "r1_style_math"}
    assert {name: routes[name] for name in own} == {name: f"open_instruct.{name}" for name in own}
    assert not routes["math"].startswith("open_instruct.")
