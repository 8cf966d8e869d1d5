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
    verifier_name = next((name for tag, name in _FUNCTIONS.items() if tag in criterion.tags), None)
    reference = next((tag.partition(":")[2] for tag in criterion.tags if tag.startswith("parameters:")), None)
    return None if verifier_name is None or reference is None else Rule(verifier=verifier_name, reference=reference)


def verifiers_of(criteria: Sequence[Criterion], verifiers: Others) -> list[Verifier[Any]]:
    """The verifiers that decide some of the criteria.

    Raises:
        InvalidItem: there is none of that name, or it asks a model itself.
    """
    names = sorted({rule.verifier for criterion in criteria if (rule := rule_of(criterion)) is not None})
    for name in names:
        if name not in verifiers or verifiers[name].is_opinion:
            raise InvalidItem("bad_params", f"params.criteria: no verifier {name[:100]!r} can be a rule")
    return [verifiers[name] for name in names]


async def decided(criteria: Sequence[Criterion], item: Item[Any], verifiers: Others) -> dict[str, float]:
    """The scores of the criteria that have a rule, by id.

    Raises:
        InvalidItem: a rule cannot judge any response.
        JudgeFailure: a rule could not judge this time.
    """
    ruled = [(criterion, rule) for criterion in criteria if (rule := rule_of(criterion)) is not None]
    scores = await asyncio.gather(*(_score(criterion, rule, item, verifiers) for criterion, rule in ruled))
    return {criterion.id: score for (criterion, _), score in zip(ruled, scores, strict=True)}


async def _score(criterion: Criterion, rule: Rule, item: Item[Any], verifiers: Others) -> float:
    verifier = verifiers[rule.verifier]
    raw_params = dict(rule.params) if rule.reference is None else {**rule.params, "reference": rule.reference}
    try:
        params: Params = verifier.params.model_validate(raw_params)
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
