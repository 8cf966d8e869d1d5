"""Leads from a request for groups to its answer.

    score        each response by its verifier or recipe     ─┐
    majority     classes ► the largest is right              ─┼─► terms ► best, max_at_k ► advantages
    tournament   comparisons ► ratings                       ─┤
    listwise     one question for all responses              ─┘

Only rewards of judged members count for terms, for the best and for advantages.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any, Final, TypeVar

import msgspec

from service.advantages import max_at_k
from service.advantages.compute import compute_advantages
from service.advantages.schemas import GroupAdvantages, Options, RewardGroup, Status
from service.errors import BadRequest
from service.groups import listwise, majority, terms, tournament
from service.groups.classes import Classes, Partition
from service.groups.embeddings import Embeddings
from service.groups.evolving import Evolver
from service.groups.schemas import (
    Group,
    GroupOptions,
    GroupResult,
    GroupsResponse,
    GroupsSummary,
    Member,
    Terms,
)
from service.groups.shown import Shown, shown
from service.scoring.engine import Engine
from service.storage.record_store import RecordStore
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
T = TypeVar("T")


class GroupScorer:
    """Scores groups by an engine."""

    def __init__(self, engine: Engine, panel: Panel | None, store: RecordStore) -> None:
        self._engine = engine
        self.evolver = Evolver(engine, panel, store)
        self._embeddings = Embeddings(panel)

    async def score(
        self, groups: Sequence[Group | RewardGroup], options: GroupOptions, deadline: float, *, missing: int = 0
    ) -> GroupsResponse:
        """The rewards of each group, by `deadline` on the event loop's clock. `missing` members of each never came.
        Groups of rewards, all or none, are compared as they are.

        A request without terms, or without advantages, gets those of the recipes that its groups name.

        Raises:
            BadRequest: a recipe's group has fields that are none.
        """
        rewards = [group for group in groups if isinstance(group, RewardGroup)]
        if rewards:
            return await _compared(rewards, options)
        unjudged = [group for group in groups if isinstance(group, Group)]
        return await _Scoring(self._engine, unjudged, options, deadline, self._embeddings, missing).run()


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
        self._names = [position if group.id is None else group.id for position, group in enumerate(groups)]
        self._options = options
        self._deadline = deadline
        self._missing = missing
        self._comparisons = 0
        self._pace = Pace()
        recipes = {group.recipe for group in groups}
        self._usual = {name: self._with_recipe(name) for name in recipes}
        """The options of the groups of each recipe."""

    def _with_recipe(self, name: str | None) -> GroupOptions:
        """The options, with the terms and advantages of a recipe where the request has none of its own."""
        options = self._options
        recipe = None if name is None else self._engine.book.recipes.get(name)
        if recipe is None:
            return options
        absent = {"terms"} if options.terms == Terms() else set()
        absent |= {"advantages"} if options.advantages is None else set()
        try:
            fields = {field: recipe.group[field] for field in absent & recipe.group.keys()}
            usual = msgspec.convert(fields, GroupOptions)
        except msgspec.ValidationError as error:
            raise BadRequest(f"recipe {name}: group: {error}") from error
        return msgspec.structs.replace(options, **{field: getattr(usual, field) for field in fields})

    async def run(self) -> GroupsResponse:
        started = perf_counter()
        match self._options.method:
            case "majority":
                results = await self._by_majority()
            case "tournament":
                results = await self._by_tournament()
            case "listwise":
                results = await self._by_list()
            case _:
                results = await self._scored()
        await self._note_diversity(results)
        for group, result in zip(self._groups, results, strict=True):
            await self._add_terms(group, result)
            _summarise(result, self._options.k)
            await self._pace.keep()
        is_for_all = self._options.advantages is not None
        for recipe, options in [(None, self._options)] if is_for_all else self._usual.items():
            if options.advantages is not None:
                await self._add_advantages(results, options.advantages, recipe)
        return GroupsResponse(results, _summary_of(results, self._comparisons, started))

    async def _apart(self, inline: bool, work: Callable[..., T], *arguments: Any) -> T:
        """What work comes to; if it is long, in a thread."""
        await self._pace.keep()
        return work(*arguments) if inline else await asyncio.to_thread(work, *arguments)

    async def _judged(
        self, items: Sequence[ScoreItem], *, is_recorded: bool = False, cache: CacheMode | None = None
    ) -> Sequence[Result]:
        options = self._options
        is_explained = options.explain and (is_recorded or options.method in ("tournament", "listwise"))
        batch = BatchRequest(items, {}, cache or options.cache, is_explained, self._deadline, is_recorded)
        return (await self._engine.score(batch)).results if items else ()

    async def _scored(self) -> list[GroupResult]:
        items = []
        for name, group in zip(self._names, self._groups, strict=True):
            for at, response in enumerate(group.responses):
                item = ScoreItem(response, verifier=group.verifier, recipe=group.recipe, prompt=group.prompt)
                item.id, item.reference, item.params = f"{name}/{at}", group.reference, group.params
                items.append(item)
            await self._pace.keep()
        results = iter(await self._judged(items, is_recorded=True))
        return [
            _group_of(name, [_member(result) for result in islice(results, len(group.responses))])
            for name, group in zip(self._names, self._groups, strict=True)
        ]

    async def _partitions(self, groups: Sequence[Group]) -> list[Partition]:
        classes = Classes(self._engine.registry, self._judged, partial(self._judged, cache="off"))
        partitions = await classes.of(groups)
        self._comparisons += classes.comparisons
        return partitions

    async def _by_majority(self) -> list[GroupResult]:
        results = []
        for name, partition in zip(self._names, await self._partitions(self._groups), strict=True):
            results.append(majority.result_of(partition, name, self._options.majority, self._missing))
            await self._pace.keep()
        return results

    async def _by_tournament(self) -> list[GroupResult]:
        groups, views = await self._shown()
        contests = await tournament.play(groups, views, self._options.tournament, self._judged, self._options.seed)
        self._comparisons += sum(contest.asked for contest in contests)
        results = [
            await self._apart(len(contest.games) <= _INLINE_GAMES, contest.result, name)
            for name, contest in zip(self._names, contests, strict=True)
        ]
        return _with_unread(results, views)

    async def _by_list(self) -> list[GroupResult]:
        groups, views = await self._shown()
        texts = [view.texts for view in views]
        results = await listwise.score(groups, texts, self._names, self._judged, self._options.seed)
        self._comparisons += sum(result.status != "invalid" for result in results)
        return _with_unread(results, views)

    async def _shown(self) -> tuple[list[Group], list[Shown]]:
        """The groups with the prompts that a judge sees, and what it sees of each response."""
        views = [await self._apart(_is_short(group), shown, group) for group in self._groups]
        groups = zip(self._groups, views, strict=True)
        return [msgspec.structs.replace(group, prompt=view.prompt) for group, view in groups], views

    async def _note_diversity(self, results: Sequence[GroupResult]) -> None:
        """Note of each member what the diversity of its group needs: its class, or how unlike the others its vector is."""
        by_classes, embedded = [], []
        for group, result in zip(self._groups, results, strict=True):
            diversity = self._usual[group.recipe].terms.diversity
            if diversity is not None and diversity.by == "classes" and self._options.method != "majority":
                by_classes.append((group, result))
            elif diversity is not None and diversity.by == "embeddings":
                embedded.append(self._embed(group, result, diversity.pool))
        await together(embedded)
        partitions = await self._partitions([group for group, _ in by_classes])
        for (_, result), partition in zip(by_classes, partitions, strict=True):
            if partition.message and any(member.status == "ok" for member in result.members):
                _refuse(result, f"terms.diversity: {partition.message}")
            for number, positions in enumerate(partition.classes):
                for at in positions:
                    result.members[at].answer_class = number

    async def _embed(self, group: Group, result: GroupResult, pool: str) -> None:
        """Note how unlike the others each judged member is. A group whose texts have no vectors has no rewards."""
        if problem := self._embeddings.problem(pool):
            _refuse(result, problem)
            return
        positions = [at for at, member in enumerate(result.members) if member.status == "ok"]
        texts = await self._apart(_is_short(group), _texts_of, group.responses)
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
        group_terms = self._usual[group.recipe].terms
        judged = [at for at, member in enumerate(result.members) if member.status == "ok"]
        if not judged or group_terms == Terms():
            return
        if group.lengths is not None and len(group.lengths) != len(group.responses):
            _refuse(result, f"lengths: expected {len(group.responses)} entries, found {len(group.lengths)}")
            return
        lengths = None if group.lengths is None else [group.lengths[at] for at in judged]
        members, responses = [result.members[at] for at in judged], [group.responses[at] for at in judged]
        await self._apart(_is_short(group), _with_terms, members, responses, lengths, group_terms)

    async def _add_advantages(self, results: Sequence[GroupResult], options: Options, recipe: str | None) -> None:
        """Add the advantages of the groups of a recipe; None: of all groups together."""
        named = zip(self._groups, results, strict=True)
        pairs = [(group, result) for group, result in named if recipe is None or group.recipe == recipe]
        rewards = [
            RewardGroup(
                [member.reward for member in result.members],
                scores=[member.score for member in result.members],
                lengths=group.lengths or [float(_chars(response)) for response in group.responses],
            )
            for group, result in pairs
        ]
        computed = await compute_advantages(rewards, options)
        for (_, result), answer in zip(pairs, computed.groups, strict=True):
            _note_advantages(result, answer)


async def _compared(groups: Sequence[RewardGroup], options: GroupOptions) -> GroupsResponse:
    """The answer for groups of rewards that are there already."""
    started_s, results = perf_counter(), list[GroupResult]()
    computed = await compute_advantages(groups, options.advantages or Options())
    for group, answer in zip(groups, computed.groups, strict=True):
        if answer.reason == "invalid":
            results.append(GroupResult.invalid(answer.id, len(answer.advantages), answer.message))
        else:
            members = [
                Member("ok", reward, None, "reward") if reward is not None else Member(status, None, None, "not_judged")
                for status, reward in zip(_unjudged_statuses(group, answer), answer.rewards, strict=True)
            ]
            is_judged = any(member.status == "ok" for member in members)
            results.append(GroupResult(id=answer.id, status="ok", reason="rewards", members=members))
            if not is_judged:
                results[-1].status, results[-1].reason = "failed", "not_judged"
            results[-1].detail = {"usable": answer.usable, "mean": answer.mean, "std": answer.std}
        if options.advantages is not None:
            _note_advantages(results[-1], answer)
        _summarise(results[-1], options.k)
    return GroupsResponse(results, _summary_of(results, 0, started_s))


def _unjudged_statuses(group: RewardGroup, answer: GroupAdvantages) -> list[Status]:
    """The status of each sample, if it has no reward."""
    stated = group.statuses or ["failed"] * len(answer.rewards)
    return ["failed" if status == "ok" else status for status in stated]


def _note_advantages(result: GroupResult, answer: GroupAdvantages) -> None:
    """Add its advantages to a group."""
    result.keep, result.dropped = answer.keep, "" if answer.keep else answer.reason
    if answer.reason == "invalid":
        result.message = result.message or answer.message
    for member, advantage in zip(result.members, answer.advantages, strict=True):
        member.advantage = advantage


def _summary_of(results: Sequence[GroupResult], comparisons: int, started_s: float) -> GroupsSummary:
    """`started_s` is on the clock `perf_counter`."""
    statuses = Counter(member.status for result in results for member in result.members)
    counts = (statuses.total(), statuses["ok"], statuses["invalid"], statuses["failed"])
    return GroupsSummary(len(results), *counts, comparisons, round((perf_counter() - started_s) * 1000, 3))


def _chars(response: str | list[Message]) -> int:
    """The characters of a response; of messages, those of their texts."""
    if isinstance(response, str):
        return len(response)
    return sum(len(content) for message in response if isinstance(content := message.get("content"), str))


def _is_short(group: Group) -> bool:
    return sum(map(_chars, group.responses)) <= _INLINE_CHARS


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


def _refuse(result: GroupResult, message: str) -> None:
    """Make the group invalid."""
    refused = GroupResult.invalid(result.id, len(result.members), message)
    result.members[:] = refused.members
    result.status, result.reason, result.message = refused.status, refused.reason, message


def _with_unread(results: list[GroupResult], views: Sequence[Shown]) -> list[GroupResult]:
    """The results, in which nobody has a reward whose messages cannot be read."""
    for result, view in zip(results, views, strict=True):
        for at, message in view.unread.items() if result.status != "invalid" else ():
            result.members[at] = Member("invalid", None, None, "bad_messages", detail={"message": message})
        if view.unread and len(view.unread) == len(result.members):
            _refuse(result, f"bad_messages: {next(iter(view.unread.values()))}")
    return results


def _with_terms(
    members: Sequence[Member],
    responses: Sequence[str | list[Message]],
    lengths: Sequence[float] | None,
    chosen: Terms,
) -> None:
    """Add the terms to the rewards of judged members."""
    texts = _texts_of(responses)
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
