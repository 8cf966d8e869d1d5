"""Lets other verifiers decide criteria, so that no model is asked about what can be counted.

    {"text": "has three sentences", "rule": {"verifier": "instruction_following",
     "reference": {"instruction_id_list": ["length_constraints:number_sentences"], "kwargs": [...]}}}

Tags of RuscaRL say the same (`verifier:rule`, `function:math_verify`, `parameters:42`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from verifiers.base import InvalidItem, Item, Params, Status, Verifier
from verifiers.judge.criteria import Criterion, Rule
from verifiers.judge.errors import JudgeFailure

Others = Mapping[str, Verifier[Any]]
_BY_RULE: Final = "verifier:rule"
_FUNCTIONS: Final = {"function:math_verify": "math"}
"""The verifiers that stand for the functions of RuscaRL's tags (health_bench/healthbench_reward_fn.py)."""


def rule_of(criterion: Criterion) -> Rule | None:
    """The rule that decides a criterion: its own, or that of its tags."""
    if criterion.rule is not None or _BY_RULE not in criterion.tags:
        return criterion.rule
    named = next((verifier for tag, verifier in _FUNCTIONS.items() if tag in criterion.tags), None)
    given = next((tag.partition(":")[2] for tag in criterion.tags if tag.startswith("parameters:")), None)
    return None if named is None or given is None else Rule(verifier=named, reference=given)


def verifiers_of(criteria: Sequence[Criterion], others: Others) -> list[Verifier[Any]]:
    """The verifiers that decide some of the criteria.

    Raises:
        InvalidItem: there is none of that name, or it asks a model itself.
    """
    names = sorted({rule.verifier for each in criteria if (rule := rule_of(each)) is not None})
    for name in names:
        if name not in others or others[name].is_opinion:
            raise InvalidItem("bad_params", f"params.criteria: no verifier {name[:100]!r} can be a rule")
    return [others[name] for name in names]


async def decided(criteria: Sequence[Criterion], item: Item[Any], others: Others) -> dict[str, float]:
    """The scores of the criteria that have a rule, by id.

    Raises:
        InvalidItem: a rule cannot judge any response.
        JudgeFailure: a rule could not judge this time.
    """
    ruled = [(each, rule) for each in criteria if (rule := rule_of(each)) is not None]
    scores = await asyncio.gather(*(_score(each, rule, item, others) for each, rule in ruled))
    return {each.id: score for (each, _), score in zip(ruled, scores, strict=True)}


async def _score(criterion: Criterion, rule: Rule, item: Item[Any], others: Others) -> float:
    verifier = others[rule.verifier]
    given = dict(rule.params) if rule.reference is None else {**rule.params, "reference": rule.reference}
    try:
        params: Params = verifier.params.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        at = ".".join(map(str, first["loc"]))
        raise InvalidItem("bad_params", f"params.criteria.{criterion.id}.rule: {at}: {first['msg']}") from error
    (verdict,) = await verifier.score([Item(item.response, params, item.prompt, deadline=item.deadline)])
    if verdict.status is Status.INVALID:
        raise InvalidItem("bad_params", f"params.criteria.{criterion.id}.rule: {verdict.reason}")
    if verdict.score is None:
        raise JudgeFailure("rule", f"the rule of {criterion.id} could not judge: {verdict.reason}", retryable=True)
    return verdict.score
