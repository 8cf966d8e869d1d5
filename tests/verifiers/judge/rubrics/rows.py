"""Rows in the form of each data set, with the weights and the answers of a recorded case."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from verifiers.judge.modes import Finding, finding, questions
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.parsing import read
from verifiers.judge.profiles import Profile
from verifiers.judge.schemas import SCHEMAS
from verifiers.judge.voting import decide

Row = dict[str, Any]
MENUS = (["no", "yes"], ["no", "partly", "yes"], ["bad", "poor", "fair", "good"], ["1", "2", "3", "4", "5"])
"""The choices of `prime`'s recorded cases, by number."""


def _listed(key: str, **names: Any) -> Callable[[Sequence[Any]], Row]:
    """Rows with a list of criteria. `names`: their fields; None is the weight."""

    def row(weights: Sequence[Any]) -> Row:
        return {
            key: [{name: weight if value is None else value for name, value in names.items()} for weight in weights]
        }

    return row


def _tree(node: Sequence[Any], numbers: Iterator[int]) -> Row:
    parts = [_tree(part, numbers) for part in node[1]]
    category = None if parts else "Code Development"
    return {
        "id": f"n{next(numbers)}",
        "requirements": "r",
        "weight": node[0],
        "sub_tasks": parts,
        "task_category": category,
    }


ROWS: dict[str, Callable[[Any], Row]] = {
    "healthbench": _listed("rubrics", criterion="x", points=None, tags=["axis:accuracy"]),
    "rubrichub": _listed("rubrics", criterion="x", points=None),
    "open_instruct": lambda weights: _listed("rubrics", description="x", weight=None)(weights) | {"query": "q"},
    "researchrubrics": _listed("rubrics", criterion="x", weight=None, axis="Explicit Criteria"),
    "prbench": lambda weights: {
        "rubric": [
            {
                "id": "i",
                "title": "x",
                "annotations": {"weight_class": "very important", "very_important_weight": weight},
            }
            for weight in weights
        ]
    },
    "profbench": _listed("rubrics", criterion_description="x", criterion_weight=None, criterion_type=["Reasoning"]),
    "paperbench": lambda node: _tree(node, iter(range(1_000))),
    "prime": lambda pairs: {
        "criteria": [
            {"name": f"n{at}", "text": "t", "weight": weight, "choices": MENUS[menu]}
            for at, (weight, menu) in enumerate(pairs)
        ]
    },
    "tinker": lambda count: {"rubric_items": [{"rubric_str": "x", "extraction_regex": "<score>(.*?)</score>"}] * count},
    "multichallenge": lambda passes: {"TARGET_QUESTION": "x?", "PASS_CRITERIA": passes, "AXIS": "INFERENCE_MEMORY"},
    "nemo_gym_inverse_if": lambda count: {"rubric": [{"id": f"C{at}", "criteria": "x"} for at in range(count)]},
    "advanced_if": lambda count: {"prompt_metadata": json.dumps({"rubrics": json.dumps(["x?"] * count)})},
    "biggen": lambda _: {
        "score_rubric": {"criteria": "x"} | {f"score{at}_description": f"level {at}" for at in range(1, 6)}
    },
}
_PROFILE = Profile.model_validate({"mode": "criteria", "pool": "p"})


def judged(given: JudgeParams, answers: Sequence[Any]) -> Finding:
    """The finding if the judge answers each criterion by the number of the choice, or with a number from 0 to 1."""
    assert given.criteria is not None
    said = {
        each.id: each.choices[int(answer)] if each.choices else answer
        for each, answer in zip(given.criteria, answers, strict=True)
    }
    asked = questions("criteria", "A response.", None, given, _PROFILE)
    decisions = []
    for question in asked:
        entries = [{"id": name, "reason": "r", "score": said[name]} for name in question.context.criteria]
        reply = {"content": json.dumps({"criteria": entries})}
        decisions.append(decide([read(SCHEMAS["rubric"], reply, "stop", context=question.context)], labels=False))
    return finding("criteria", asked, decisions, given, _PROFILE)
