"""Leads from a request for groups to its answer.

    score        each response by its verifier or recipe     ─┐
    majority     classes ► the largest is right              ─┼─► terms ► best, max_at_k ► advantages
    tournament   comparisons ► ratings                       ─┤
    listwise     one question for all responses              ─┘

Only rewards of judged members count for terms, for the best and for advantages.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import partial
from time import perf_counter
from typing import Any, Final

import msgspec

from service.advantages import max_at_k
from service.advantages.compute import compute_advantages
from service.advantages.schemas import RewardGroup
from service.errors import BadRequest
from service.groups import listwise, majority, terms, tournament
from service.groups.classes import Classes, Partition
from service.groups.embeddings import Embeddings
from service.groups.schemas import (
    Diversity,
    Group,
    GroupOptions,
    GroupResult,
    GroupsResponse,
    GroupsSummary,
    Member,
    Terms,
)
from service.groups.shown import shown
from service.scoring.engine import Engine
from service.wire import BatchRequest, CacheMode, Message, Result, ScoreItem
from verifiers.base import InvalidItem
from verifiers.conversation import dialects
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.panel import Panel
from verifiers.pace import Pace, together

_INLINE_GAMES: Final = 500
"""More games are rated in a thread: 500 take 2 ms."""
_INLINE_CHARS: Final = 20_000
"""Texts of a group with more characters are looked at in a thread: 20,000 take 2 ms."""


class GroupScorer:
    """Scores groups by an engine."""

    def __init__(self, engine: Engine, panel: Panel | None = None) -> None:
        self._engine = engine
        self._embeddings = Embeddings(panel)

    async def score(
        self, groups: Sequence[Group], options: GroupOptions, deadline: float, *, missing: int = 0
    ) -> GroupsResponse:
        """The rewards of each group, by `deadline` on the event loop's clock. `missing` members of each never came.

        A request without terms, or without advantages, gets those of the recipes that its groups name.
        """
        own = {"terms"} if options.terms != _NO_TERMS else set()
        own |= {"advantages"} if options.advantages is not None else set()
        if len(own) == 2:
            return await _Scoring(self._engine, groups, options, deadline, self._embeddings, missing).run()
        named = [msgspec.structs.replace(group, id=_name(group, at)) for at, group in enumerate(groups)]
        by_recipe: dict[str | None, list[int]] = {}
        for at, group in enumerate(named):
            by_recipe.setdefault(group.recipe if self._usual(group.recipe, own) else None, []).append(at)
        results: list[GroupResult | None] = [None] * len(named)
        summaries = []
        for recipe, positions in by_recipe.items():
            theirs = msgspec.structs.replace(options, **self._usual(recipe, own))
            part = [named[at] for at in positions]
            answer = await _Scoring(self._engine, part, theirs, deadline, self._embeddings, missing).run()
            summaries.append(answer.summary)
            for at, result in zip(positions, answer.groups, strict=True):
                results[at] = result
        return GroupsResponse([result for result in results if result is not None], _sum(summaries))

    def _usual(self, name: str | None, own: Set[str]) -> Mapping[str, Any]:
        """The terms and advantages of a recipe's groups, decoded, without what the request has of its `own`."""
        recipe = None if name is None else self._engine.book.recipes.get(name)
        if recipe is None:
            return {}
        fields = {"terms", "advantages"} & recipe.group.keys() - own
        try:
            usual = msgspec.convert({field: recipe.group[field] for field in fields}, GroupOptions)
            return {field: getattr(usual, field) for field in fields}
        except msgspec.ValidationError as error:
            raise BadRequest(f"recipe {name}: group: {error}") from error


class _Scoring:
    """One request."""

    def __init__(
        self,
        engine: Engine,
        groups: Sequence[Group],
        options: GroupOptions,
        deadline: float,
        embeddings: Embeddings,
        missing: int,
    ) -> None:
        self._engine = engine
        self._embeddings = embeddings
        self._groups = groups
        self._options = options
        self._deadline = deadline
        self._missing = missing
        self._comparisons = 0
        self._pace = Pace()

    async def run(self) -> GroupsResponse:
        started = perf_counter()
        match self._options.method:
            case "score":
                results = await self._scored()
            case "majority":
                results = await self._by_majority()
            case "tournament":
                results = await self._by_tournament()
            case "listwise":
                results = await self._by_list()
        match self._options.terms.diversity:
            case Diversity(by="classes"):
                await self._classify(results)
            case Diversity(by="embeddings", pool=pool):
                await together([self._embed(*part, pool) for part in zip(self._groups, results, strict=True)])
        for group, result in zip(self._groups, results, strict=True):
            await self._add_terms(group, result)
            _summarise(result, self._options.k)
            await self._rest()
        if self._options.advantages is not None:
            await self._add_advantages(results)
        statuses = Counter(member.status for result in results for member in result.members)
        summary = GroupsSummary(
            len(results),
            statuses.total(),
            statuses["ok"],
            statuses["invalid"],
            statuses["failed"],
            self._comparisons,
            round((perf_counter() - started) * 1000, 3),
        )
        return GroupsResponse(results, summary)

    async def _rest(self) -> None:
        if self._pace.is_over():
            await self._pace.rest()

    async def _judged(
        self, items: Sequence[ScoreItem], *, is_recorded: bool = False, cache: CacheMode | None = None
    ) -> Sequence[Result]:
        options = self._options
        is_explained = options.explain and is_recorded
        batch = BatchRequest(items, {}, cache or options.cache, is_explained, self._deadline, is_recorded)
        return (await self._engine.score(batch)).results if items else ()

    async def _scored(self) -> list[GroupResult]:
        items = []
        for position, group in enumerate(self._groups):
            name = _name(group, position)
            for at, response in enumerate(group.responses):
                item = ScoreItem(response, verifier=group.verifier, recipe=group.recipe, prompt=group.prompt)
                item.id, item.reference, item.params = f"{name}/{at}", group.reference, group.params
                items.append(item)
            await self._rest()
        results = iter(await self._judged(items, is_recorded=True))
        return [
            _group_of(_name(group, position), [_member(next(results)) for _ in group.responses])
            for position, group in enumerate(self._groups)
        ]

    async def _partitions(self) -> list[Partition]:
        classes = Classes(self._engine.registry, self._judged, partial(self._judged, cache="off"))
        partitions = await classes.of(self._groups)
        self._comparisons += classes.comparisons
        return partitions

    async def _by_majority(self) -> list[GroupResult]:
        results = []
        for position, partition in enumerate(await self._partitions()):
            name = _name(partition.group, position)
            if partition.message:
                results.append(_invalid(name, partition.group, partition.message))
            else:
                results.append(majority.result_of(partition, name, self._options.majority, self._missing))
            await self._rest()
        return results

    async def _by_tournament(self) -> list[GroupResult]:
        groups, texts = await self._shown()
        contests = await tournament.play(groups, texts, self._options.tournament, self._judged, self._options.seed)
        self._comparisons += sum(contest.asked for contest in contests)
        results = []
        for position, contest in enumerate(contests):
            name = _name(contest.group, position)
            is_large = len(contest.games) > _INLINE_GAMES
            results.append(await asyncio.to_thread(contest.result, name) if is_large else contest.result(name))
            await self._rest()
        return results

    async def _by_list(self) -> list[GroupResult]:
        groups, texts = await self._shown()
        names = [_name(group, position) for position, group in enumerate(self._groups)]
        results = await listwise.score(groups, texts, names, self._judged, self._options.seed)
        self._comparisons += sum(result.status != "invalid" for result in results)
        return results

    async def _shown(self) -> tuple[list[Group], list[list[str]]]:
        """The groups with the prompts that a judge sees, and what it sees of each response."""
        groups, texts = list[Group](), list[list[str]]()
        for group in self._groups:
            is_short = sum(map(_chars, group.responses)) <= _INLINE_CHARS
            prompt, views = shown(group) if is_short else await asyncio.to_thread(shown, group)
            groups.append(msgspec.structs.replace(group, prompt=prompt))
            texts.append(views)
            await self._rest()
        return groups, texts

    async def _texts(self, group: Group) -> list[terms.Text]:
        if sum(map(_chars, group.responses)) <= _INLINE_CHARS:
            await self._rest()
            return _texts_of(group.responses)
        return await asyncio.to_thread(_texts_of, group.responses)

    async def _classify(self, results: Sequence[GroupResult]) -> None:
        """Say which class each member is of, where that is not known yet. A group without classes has no diversity."""
        if self._options.method == "majority":
            return
        for result, partition in zip(results, await self._partitions(), strict=True):
            if partition.message:
                result.detail["message"] = partition.message
            for number, positions in enumerate(partition.classes):
                for at in positions:
                    result.members[at].answer_class = number

    async def _embed(self, group: Group, result: GroupResult, pool: str) -> None:
        """Note how unlike the others each judged member is. A group whose texts have no vectors has no rewards."""
        if problem := self._embeddings.problem(pool):
            _refuse(group, result, problem)
            return
        positions = [at for at, member in enumerate(result.members) if member.status == "ok"]
        texts = await self._texts(group)
        judged, answers = [result.members[at] for at in positions], [texts[at].answer for at in positions]
        try:
            factors = await self._embeddings.novelty(answers, pool, self._options.cache, self._deadline)
        except JudgeFailure as error:
            result.status, result.reason, result.message = "failed", f"judge_{error.kind}", error.message
            for member in judged:
                member.status, member.reward, member.reason = "failed", None, result.reason
            return
        for member, factor in zip(judged, factors, strict=True):
            member.terms = {"diversity": factor}

    async def _add_terms(self, group: Group, result: GroupResult) -> None:
        group_terms = self._options.terms
        judged = [at for at, member in enumerate(result.members) if member.status == "ok"]
        if not judged or group_terms == _NO_TERMS:
            return
        if group.lengths is not None and len(group.lengths) != len(group.responses):
            message = f"lengths: expected {len(group.responses)} entries, found {len(group.lengths)}"
            _refuse(group, result, message)
            return
        texts = await self._texts(group)
        lengths = None if group.lengths is None else [group.lengths[at] for at in judged]
        members = [result.members[at] for at in judged]
        chosen = [texts[at] for at in judged]
        if sum(len(text.whole) for text in chosen) <= _INLINE_CHARS:
            _with_terms(members, chosen, lengths, self._options)
        else:
            await asyncio.to_thread(_with_terms, members, chosen, lengths, self._options)

    async def _add_advantages(self, results: Sequence[GroupResult]) -> None:
        assert self._options.advantages is not None
        rewards = [
            RewardGroup(
                [member.reward for member in result.members],
                scores=[member.score for member in result.members],
                lengths=group.lengths or [float(_chars(response)) for response in group.responses],
            )
            for group, result in zip(self._groups, results, strict=True)
        ]
        computed = await compute_advantages(rewards, self._options.advantages)
        for result, answer in zip(results, computed.groups, strict=True):
            result.keep, result.dropped = answer.keep, "" if answer.keep else answer.reason
            if answer.reason == "invalid":
                result.message = result.message or answer.message
            for member, advantage in zip(result.members, answer.advantages, strict=True):
                member.advantage = advantage


_NO_TERMS: Final = Terms()


def _sum(summaries: Sequence[GroupsSummary]) -> GroupsSummary:
    """The summary of several parts of a request, which ran one after the other."""
    columns = zip(*map(msgspec.structs.astuple, summaries), strict=True)
    return GroupsSummary(*map(sum, columns)) if summaries else GroupsSummary(0, 0, 0, 0, 0, 0, 0.0)


def _name(group: Group, position: int) -> str | int:
    return position if group.id is None else group.id


def _chars(response: str | list[Message]) -> int:
    """The characters of a response; of messages, those of their texts."""
    if isinstance(response, str):
        return len(response)
    return sum(len(content) for message in response if isinstance(content := message.get("content"), str))


def _texts_of(responses: Sequence[str | list[Message]]) -> list[terms.Text]:
    return [terms.Text.of(_text(response)) for response in responses]


def _text(response: str | list[Message]) -> str:
    if isinstance(response, str):
        return response
    try:
        return dialects.read(response).text("last")
    except InvalidItem:
        return ""


def _member(result: Result) -> Member:
    # A verdict of the service always has one of the three statuses.
    status: Any = result.status
    return Member(
        status,
        result.reward,
        result.score,
        result.reason,
        result.extracted,
        checks=result.checks,
        detail=dict(result.detail),
    )


def _group_of(name: str | int, members: list[Member]) -> GroupResult:
    """A group of judged members. It is judged if one of them is."""
    best = next((member for member in members if member.status == "ok"), members[0])
    message = "" if best.status == "ok" else str(best.detail.get("message", ""))
    reason = "scored" if best.status == "ok" else best.reason
    return GroupResult(id=name, status=best.status, reason=reason, message=message, members=members)


def _invalid(name: str | int, group: Group, message: str) -> GroupResult:
    members = [Member("invalid", None, None, "bad_group") for _ in group.responses]
    return GroupResult(id=name, status="invalid", reason="bad_group", message=message, members=members)


def _refuse(group: Group, result: GroupResult, message: str) -> None:
    """Make the group invalid."""
    result.members[:] = _invalid(result.id, group, message).members
    result.status, result.reason, result.message = "invalid", "bad_group", message


def _with_terms(
    members: Sequence[Member], texts: Sequence[terms.Text], lengths: Sequence[float] | None, options: GroupOptions
) -> None:
    """Add the terms to the rewards of judged members."""
    chosen = options.terms
    scores = [member.reward or 0.0 for member in members]
    factors: list[float] | None = None
    if chosen.diversity is not None:
        if chosen.diversity.by == "ngrams":
            factors = terms.novelty([text.answer for text in texts], chosen.diversity.n)
        elif chosen.diversity.by == "embeddings":
            factors = [member.terms["diversity"] for member in members]
        else:
            factors = terms.distinctness([member.answer_class for member in members])
    for at, (member, added) in enumerate(zip(members, terms.added(scores, texts, lengths, chosen), strict=True)):
        member.terms = dict(added)
        member.reward = scores[at]
        if factors is not None:
            # Below 0 a smaller factor is a better reward: copies of a loser would win.
            member.terms["diversity"] = factors[at] if scores[at] >= 0 else 1.0
            member.reward *= member.terms["diversity"]
        member.reward += sum(added.values())


def _summarise(result: GroupResult, k: int | None) -> None:
    """Note the best member, and the mean of the maximum of `k`."""
    rewards = [(member.reward, -at) for at, member in enumerate(result.members) if member.reward is not None]
    if rewards:
        result.best = -max(rewards)[1]
    if k is not None and len(rewards) >= k:
        result.max_at_k = max_at_k.expected([reward for reward, _ in rewards], k)
