"""Rubrics that change during training: for the responses to one prompt a judge proposes criteria, each response is judged by
them, and those are kept that tell the responses apart.

    responses ► proposals ► screened ► judged by new and old criteria ► settled ► the rubric of the next step
      shown without those that speak to the judge                       (verifiers/judge/rubrics/evolving)

With a `buffer` the criteria in use, and those that are retired, are kept by prompt, as open-instruct keeps them.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import perf_counter
from typing import Annotated, Any, Final, Literal
from weakref import WeakValueDictionary

import msgspec

from service.advantages.schemas import Status
from service.errors import Gone, RequestError
from service.groups.schemas import MAX_MEMBERS, Group
from service.groups.shown import shown
from service.scoring.engine import Engine
from service.storage.record_store import VERSION, Change, RecordStore
from service.tenant import owned
from service.wire import BatchRequest, CacheMode, Message, Result, RunId, ScoreItem, encode
from verifiers.base import InvalidItem
from verifiers.conversation import dialects
from verifiers.judge import criteria, guards, rubrics
from verifiers.judge.errors import JudgeFailure, Unparseable
from verifiers.judge.modes import Question
from verifiers.judge.panel import Panel, Vote
from verifiers.judge.rendering import Data
from verifiers.judge.rubrics.evolving import Trial, Why, screened, settled
from verifiers.judge.schemas import Context
from verifiers.pace import together

_PROMPT: Final = "propose@1"
_MOST_SHOWN: Final = 64
"""The most criteria that the judge is shown, the latest ones."""
_SHOWN_CHARS: Final = 1_000
_MOST_RETIRED: Final = 64
"""So many of the latest retired criteria are remembered, and not proposed again."""
_MESSAGE_CHARS: Final = 200
_KEPT_S: Final = 7 * 86_400.0
_ATTEMPTS: Final = 4
_FEWEST: Final = 2
"""Fewer responses cannot be told apart."""
_TEXTS: Final = ("description", "criterion", "text")
_WEIGHTS: Final = ("weight", "points")
Criterion = dict[str, Any] | str
Kind = Literal["persistent", "evolving"]
_PERSISTENT: Final[Kind] = "persistent"
_EVOLVING: Final[Kind] = "evolving"
_Criteria = Annotated[list[Criterion], msgspec.Meta(max_length=256)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Score(msgspec.Struct):
    """The score of a criterion, as `detail.criteria` of a verdict has it. Other fields are not read."""

    id: str
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]


class RubricGroup(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The responses to one prompt, and its rubric."""

    responses: Annotated[list[str | list[Message]], msgspec.Meta(min_length=1, max_length=MAX_MEMBERS)]
    id: str | int | None = None
    prompt: str | list[Message] | None = None
    rubrics: _Criteria = []
    """The criteria in use, as their data set has them, one entry each."""
    rubrics_types: Annotated[list[Kind], msgspec.Meta(max_length=256)] | None = None
    """Of each criterion: persistent ones are never dropped. Default: all are persistent."""
    inactive_rubrics: _Criteria = []
    """Retired criteria, which are not proposed again."""
    verdicts: Annotated[list[list[Score] | None], msgspec.Meta(max_length=MAX_MEMBERS)] | None = None
    """Of each response, `detail.criteria` of its verdict by these rubrics. Criteria that they have are not judged again."""


class EvolveOptions(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How rubrics change, and how the request is answered."""

    judge: _Name | None = None
    """The profile that judges the responses by the criteria. Default: that of mode criteria."""
    proposer: _Name | None = None
    """The profile whose models propose criteria. Default: the one that judges."""
    propose: Annotated[int, msgspec.Meta(ge=0, le=16)] = 5
    """The most criteria that are proposed; 0: none."""
    max_active: Annotated[int, msgspec.Meta(ge=1, le=64)] = 5
    """The most evolving criteria that are kept."""
    min_spread: Annotated[float, msgspec.Meta(ge=0, lt=0.5)] = 0.0
    """A criterion is dropped whose scores have no larger standard deviation. The largest there is: 0.5."""
    measure: bool = True
    """Whether responses are judged by criteria that `verdicts` lack: one call for each. false: those are kept untried."""
    buffer: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9._-]{1,100}$")] | None = None
    """Where the evolving criteria of each prompt are kept for a week. The posted rubrics are then the persistent ones."""
    deadline_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cache: CacheMode = "use"
    run_id: RunId | None = None


class EvolveEnvelope(EvolveOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Groups that are not decoded yet, and how their rubrics change."""

    groups: list[msgspec.Raw]


class Dropped(msgspec.Struct):
    """A criterion that is not in use any more, or never was."""

    rubric: Criterion
    why: Why
    """no_spread: all responses score alike; duplicate; over_bound: others spread more; copied: words of a response;
    addresses_judge."""
    is_new: bool
    spread: float | None
    mean: float | None


class RubricResult(msgspec.Struct, kw_only=True):
    """The answer for one group. Unless its status is ok, the rubric is as it was. `spreads[i]`, `means[i]` and
    `rubrics_types[i]` belong to `rubrics[i]`.
    """

    id: str | int
    status: Status
    reason: str
    message: str = ""
    rubrics: list[Criterion] = []
    """The criteria to use next: the persistent ones, then the evolving ones, as they were posted, and the new ones."""
    rubrics_types: list[Kind] = []
    spreads: list[float | None] = []
    """The standard deviation of the scores over the group; null: not judged."""
    means: list[float | None] = []
    """The share of the responses that meet the criterion."""
    added: int = 0
    """How many of them are new: the last ones."""
    dropped: list[Dropped] = []
    inactive_rubrics: list[Criterion] = []
    detail: dict[str, Any] = {}


class RubricsSummary(msgspec.Struct):
    groups: int
    ok: int
    invalid: int
    failed: int
    added: int
    dropped: int
    elapsed_ms: float


class RubricsResponse(msgspec.Struct):
    """`groups[i]` belongs to the request's `groups[i]`."""

    groups: list[RubricResult]
    summary: RubricsSummary


class _State(msgspec.Struct):
    """What a buffer keeps of a prompt."""

    evolving: list[Criterion] = []
    inactive: list[Criterion] = []


class _Unfit(Exception):
    """The group cannot be answered."""

    def __init__(self, status: Status, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


def _bad(message: str) -> _Unfit:
    return _Unfit("invalid", "bad_group", message[:_MESSAGE_CHARS])


_states = msgspec.json.Decoder(_State)


class Evolver:
    """Changes rubrics by an engine and its judges."""

    def __init__(self, engine: Engine, panel: Panel | None, store: RecordStore) -> None:
        self._engine = engine
        self._panel = panel
        self._store = store
        self._changes = WeakValueDictionary[str, asyncio.Lock]()
        """Guard the records of prompts that this process changes; other processes are kept off by their versions."""
        self._slots = asyncio.Semaphore(panel.config.max_items_in_flight if panel is not None else 1)

    async def evolve(self, groups: Sequence[RubricGroup], options: EvolveOptions, deadline: float) -> RubricsResponse:
        """The next rubric of each group, by `deadline` on the event loop's clock."""
        started_s = perf_counter()
        pairs = [(at if group.id is None else group.id, group) for at, group in enumerate(groups)]
        results = await together([self._answer(name, group, options, deadline) for name, group in pairs])
        statuses = Counter(result.status for result in results)
        added, dropped = sum(result.added for result in results), sum(len(result.dropped) for result in results)
        counts = (len(results), statuses["ok"], statuses["invalid"], statuses["failed"], added, dropped)
        return RubricsResponse(results, RubricsSummary(*counts, round((perf_counter() - started_s) * 1000, 3)))

    async def _answer(
        self, name: str | int, group: RubricGroup, options: EvolveOptions, deadline: float
    ) -> RubricResult:
        try:
            async with self._slots:
                return await self._kept(name, group, options, deadline)
        except _Unfit as error:
            return RubricResult(id=name, status=error.status, reason=error.reason, message=str(error))
        except InvalidItem as error:
            return RubricResult(id=name, status="invalid", reason=error.reason, message=str(error))
        except RequestError as error:  # of the store
            return RubricResult(id=name, status="failed", reason="buffer_unavailable", message=str(error))

    async def _kept(self, name: str | int, group: RubricGroup, options: EvolveOptions, deadline: float) -> RubricResult:
        """The answer, which the buffer keeps if there is one."""
        step = _Step(self._engine, self._panel, name, group, options, deadline)
        if options.buffer is None:
            return await step.run()
        if group.rubrics_types is not None or group.inactive_rubrics:
            raise _bad("a buffer keeps evolving and inactive rubrics; post the persistent ones")
        mark = blake2b(encode(group.prompt), digest_size=16).hexdigest()
        key = f"rubrics-{options.buffer}-{mark}"
        async with self._changes.setdefault(owned(key), asyncio.Lock()):
            return await self._swapped(key, step)

    async def _swapped(self, key: str, step: "_Step") -> RubricResult:
        for _ in range(_ATTEMPTS):
            version, number, state = await self._seen(key)
            result = await step.run(state)
            evolving = [r for r, kind in zip(result.rubrics, result.rubrics_types, strict=True) if kind == _EVOLVING]
            after = encode(_State(evolving, result.inactive_rubrics))
            if await self._store.swap(key, version, Change({VERSION: b"%d" % (number + 1), "state": after}, _KEPT_S)):
                return result
        raise _Unfit("failed", "buffer_changed", "other requests changed this prompt's rubric; post it again")

    async def _seen(self, key: str) -> tuple[bytes | None, int, _State]:
        """The version of a record, also as a number, and its state. A damaged record is removed.

        Raises:
            _Unfit: it was damaged.
        """
        try:
            version, state = await self._store.read(key, (VERSION, "state"))
            return version, int(version or 0), _states.decode(state or b"{}")
        except (Gone, ValueError, RecursionError) as error:  # of JSON and of UTF-8, too
            await self._store.remove(key)
            message = (
                "what the buffer kept of this prompt was damaged, and is removed; post the group again to begin anew"
            )
            raise _Unfit("failed", "buffer_damaged", message) from error


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of the rubric of one group."""

    engine: Engine
    panel: Panel | None
    name: str | int
    group: RubricGroup
    options: EvolveOptions
    deadline: float

    async def run(self, state: _State | None = None) -> RubricResult:
        """The next rubric. `state`: what the buffer keeps; None: the request holds everything.

        Raises:
            _Unfit
        """
        group, options = self.group, self.options
        entries, kinds, retired = _rubric(group, state)
        view = await asyncio.to_thread(shown, Group(responses=group.responses, prompt=group.prompt))
        if len(view.unread) == len(group.responses):
            raise _Unfit("invalid", "bad_messages", next(iter(view.unread.values())))
        prompt, texts = view.prompt, view.texts
        if prompt is not None and not isinstance(prompt, str):
            prompt = str(dialects.read(prompt))
        trials = _trials(entries, "rubrics", _verdicts(group))
        old = _trials(retired, "inactive_rubrics")
        proposals, detail = await self._proposed(prompt, texts, [*old, *trials])
        proposals = _written(proposals, entries)
        fresh, refused = await asyncio.to_thread(screened, proposals, [*trials, *old], prompt or "", texts)
        pairs = list(zip(trials, kinds, strict=True))
        persistent = [trial for trial, kind in pairs if kind == _PERSISTENT]
        evolving = [trial for trial, kind in pairs if kind == _EVOLVING]
        tried = await self._tried([*evolving, *fresh], prompt, texts)
        kept, dropped = settled(tried, options.min_spread, options.max_active)
        retired = [*retired, *(trial.entry for trial, why in dropped if not (trial.is_new and why == "over_bound"))]
        following = [*persistent, *kept]
        return RubricResult(
            id=self.name,
            status="ok",
            reason="evolved",
            rubrics=[trial.entry for trial in following],
            rubrics_types=[*(_PERSISTENT,) * len(persistent), *(_EVOLVING,) * len(kept)],
            spreads=[trial.spread for trial in following],
            means=[trial.mean for trial in following],
            added=sum(trial.is_new for trial in kept),
            dropped=[
                Dropped(trial.entry, why, trial.is_new, trial.spread, trial.mean) for trial, why in (*dropped, *refused)
            ],
            inactive_rubrics=retired[-_MOST_RETIRED:],
            detail=detail,
        )

    async def _proposed(
        self, prompt: str | None, texts: Sequence[str], existing: Sequence[Trial]
    ) -> tuple[list[Trial], dict[str, Any]]:
        """New criteria, and how they were asked for. Responses that speak to the judge are not shown, so that none can ask
        for a criterion; with fewer than two others, nothing is proposed.
        """
        most = self.options.propose
        replies = await asyncio.to_thread(_without_orders, texts)
        hidden = sum(map(bool, texts)) - len(replies)
        detail: dict[str, Any] = {"not_shown": hidden} if hidden else {}
        if not most or len(replies) < _FEWEST:
            return [], detail
        if self.panel is None:
            raise _Unfit("failed", "judge_not_configured", "no judge models are configured (setting judge_file)")
        listed = {f"c{at}": other.text[:_SHOWN_CHARS] for at, other in enumerate(existing[-_MOST_SHOWN:], 1)}
        data = Data(prompt or None, criteria=listed or None, replies=replies)
        try:
            vote = await self._vote(self.panel, Question(data, Context(most=most)))
        except InvalidItem as error:
            raise _Unfit("invalid", error.reason, str(error)) from error
        except JudgeFailure as error:
            kind = "unparseable" if isinstance(error, Unparseable) else error.kind
            raise _Unfit("failed", f"judge_{kind}", str(error)[:_MESSAGE_CHARS]) from error
        weights, titles = vote.reading.value, vote.reading.reasons
        assert isinstance(weights, Mapping)
        proposals = [
            Trial(None, text, titles[text], weight, [None] * len(texts), is_new=True)
            for text, weight in weights.items()
        ]
        return proposals, detail | {"prompt": _PROMPT, "votes": [vote.as_json()]}

    async def _vote(self, panel: Panel, question: Question) -> Vote:
        options, profiles = self.options, panel.config.profiles
        name = options.proposer or options.judge or panel.config.default_profile("criteria")
        profile = profiles.get(name or "")
        if profile is None:
            raise _Unfit("invalid", "unknown_judge", f"no profile {name!r}; there are {sorted(profiles)}")
        deadline = min(self.deadline, asyncio.get_running_loop().time() + profile.deadline_s)
        prompt, owner = panel.prompts[_PROMPT], owned("")
        ballot = await panel.ballot(
            profile, prompt, question, votes=1, deadline=deadline, use=options.cache, owner=owner
        )
        return ballot.votes[0]

    async def _tried(self, trials: Sequence[Trial], prompt: str | None, texts: Sequence[str]) -> list[Trial]:
        """The criteria with the scores of each response. Those that have scores keep them."""
        options = self.options
        untried = [trial for trial in trials if len(trial.judged) < _FEWEST]
        judged = [at for at, text in enumerate(texts) if text]
        if not (untried and options.measure and judged):
            return list(trials)
        listed = [{"id": f"e{at}", "text": trial.text} for at, trial in enumerate(untried)]
        params = encode({"mode": "criteria", "criteria": listed, "judge": options.judge})
        items = [ScoreItem(texts[at], verifier="judge", prompt=prompt, params=msgspec.Raw(params)) for at in judged]
        batch = BatchRequest(items, {}, options.cache, False, self.deadline, False)
        results = (await self.engine.score(batch)).results
        rows: dict[int, dict[str, float]] = {at: {} for at in range(len(texts))}
        rows |= {at: _scores(result) for at, result in zip(judged, results, strict=True)}
        if sum(map(bool, rows.values())) < min(_FEWEST, len(judged)):
            first = next(result for result in results if not _scores(result))
            status: Status = "invalid" if first.status == "invalid" else "failed"
            raise _Unfit(status, first.reason, str(first.detail.get("message", "")))
        scored = {
            id(trial): replace(trial, scores=[rows[position].get(f"e{at}") for position in rows])
            for at, trial in enumerate(untried)
        }
        return [scored.get(id(trial), trial) for trial in trials]


def _without_orders(texts: Sequence[str]) -> list[str]:
    """The texts that do not speak to the judge. A long one takes ten milliseconds."""
    return [text for text in texts if text and not guards.addresses_judge(text)]


def _rubric(group: RubricGroup, state: _State | None) -> tuple[list[Criterion], list[Kind], list[Criterion]]:
    """The criteria in use, the kind of each, and the retired ones."""
    kinds: list[Kind] = list(group.rubrics_types or (_PERSISTENT,) * len(group.rubrics))
    if len(kinds) != len(group.rubrics):
        raise _bad(f"rubrics_types: expected {len(group.rubrics)}, found {len(kinds)}")
    if state is None:
        return group.rubrics, kinds, group.inactive_rubrics
    return [*group.rubrics, *state.evolving], [*kinds, *(_EVOLVING,) * len(state.evolving)], state.inactive


def _verdicts(group: RubricGroup) -> list[dict[str, float]]:
    """The known scores of each response, by the id of the criterion."""
    verdicts = group.verdicts or [None] * len(group.responses)
    if len(verdicts) != len(group.responses):
        raise _bad(f"verdicts: expected {len(group.responses)}, found {len(verdicts)}")
    return [{row.id: row.score for row in rows or ()} for rows in verdicts]


def _trials(entries: Sequence[Criterion], field: str, verdicts: Sequence[Mapping[str, float]] = ()) -> list[Trial]:
    """The criteria of a rubric, in any form that has one entry for each."""
    if not entries:
        return []
    try:
        rubric = rubrics.find(entries)
        read = [
            criteria.Criterion.model_validate(fields)
            for fields in (rubric.criteria if rubric else criteria.read(entries))
        ]
    except ValueError as error:
        raise _bad(f"{field}: {error}") from error
    if len(read) != len(entries):
        raise _bad(f"{field}: expected criteria that are judged one by one")
    return [
        Trial(
            entry,
            criterion.text,
            criterion.name or "",
            criterion.weight,
            [scores.get(criterion.id) for scores in verdicts],
        )
        for entry, criterion in zip(entries, read, strict=True)
    ]


def _written(proposals: Sequence[Trial], entries: Sequence[Criterion]) -> list[Trial]:
    """The proposals in the words of the rubric that they come to, whose other criteria stay as they are."""
    form = next((entry for entry in entries if isinstance(entry, dict)), {})
    text, weight = (next((name for name in names if name in form), names[0]) for names in (_TEXTS, _WEIGHTS))
    written = [replace(t, entry={"title": t.title, text: t.text, weight: t.weight}) for t in proposals]
    together_read = _trials([*entries, *(trial.entry for trial in written)], "rubrics")[len(entries) :]
    if [(trial.text, trial.weight) for trial in together_read] != [(trial.text, trial.weight) for trial in written]:
        raise _bad("rubrics: this form takes no new criteria; post title, description and weight")
    return written


def _scores(result: Result) -> dict[str, float]:
    """The score of each criterion of a verdict; none if it was not judged."""
    return {row["id"]: row["score"] for row in result.detail.get("criteria", ())} if result.status == "ok" else {}
