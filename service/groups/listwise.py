"""All responses of a group in one question to a judge, which scores each of them from 0 to 10."""

from collections.abc import Sequence

import msgspec

from service.groups import pairings
from service.groups.ratings import levelled
from service.groups.schemas import Group, GroupResult, Member
from service.groups.tournament import JUDGE, NO_GAME, Judge, explanation, problem_for_judge
from service.scoring.prepared_item import decoded_params
from service.wire import Result, ScoreItem, encode
from verifiers.judge.parameters import MAX_OTHERS


async def score(
    groups: Sequence[Group],
    texts: Sequence[Sequence[str]],
    names: Sequence[str | int],
    judge: Judge,
    seed: int | None,
) -> list[GroupResult]:
    """The results of the groups. A response without text has 0 and is not shown, so a list may hold one text, or be none.
    `seed` draws the order of the list.
    """
    problems = [_problem(group, row) for group, row in zip(groups, texts, strict=True)]
    ready = [
        at
        for at, problem in enumerate(problems)
        if not problem and any(texts[at]) and len(texts[at]) >= pairings.FEWEST
    ]
    orders = {at: pairings.drawn(texts[at], seed) for at in ready}
    items = [_item(groups[at], [texts[at][position] for position in orders[at] if texts[at][position]]) for at in ready]
    results = dict(zip(ready, await judge(items) if items else (), strict=True))
    return [
        _result(name, row, problem, results.get(at), orders.get(at, ()))
        for at, (name, row, problem) in enumerate(zip(names, texts, problems, strict=True))
    ]


def _problem(group: Group, texts: Sequence[str]) -> str:
    """Why the group cannot be judged; empty if it can."""
    if len(texts) > MAX_OTHERS + 1:
        return f"responses: a list has at most {MAX_OTHERS + 1}, found {len(texts)}"
    return problem_for_judge(group, "others", "mode")


def _item(group: Group, texts: Sequence[str]) -> ScoreItem:
    fields = {**decoded_params(bytes(group.params)), "mode": "listwise", "others": texts[1:]}
    item = ScoreItem(texts[0], verifier=JUDGE, prompt=group.prompt)
    item.reference, item.params = group.reference, msgspec.Raw(encode(fields))
    return item


def _result(
    name: str | int, texts: Sequence[str], problem: str, result: Result | None, order: Sequence[int]
) -> GroupResult:
    if problem:
        return GroupResult.invalid(name, len(texts), problem)
    if len(texts) < pairings.FEWEST:
        return GroupResult.unjudged(name, len(texts), "failed", NO_GAME, "a comparison needs two responses")
    if result is not None and result.status != "ok":
        message = str(result.detail.get("message", ""))
        if result.status == "failed":
            refused = GroupResult.unjudged(name, len(texts), "failed", result.reason, message)
            refused.detail = explanation(result)
            return refused
        return GroupResult.invalid(name, len(texts), f"{result.reason}: {message}")
    scores = iter(result.detail["scores"] if result is not None else ())
    marks = {position: next(scores) / 10 for position in order if texts[position]}
    values = levelled([marks.get(position, 0.0) for position in range(len(texts))], texts)
    members = [
        Member("ok", value, value, "graded" if text else "no_answer") for value, text in zip(values, texts, strict=True)
    ]
    detail = {} if result is None else explanation(result)
    return GroupResult(id=name, status="ok", reason="graded", members=members, detail=detail)
