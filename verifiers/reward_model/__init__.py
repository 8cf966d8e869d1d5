"""Scores a response by a reward model, or by several, and never guesses if one gives no value.

    response ─► the text after its thinking ─► each model of the profile ─► raw values ─► one value ─► score from 0 to 1

`verifiers.judge.rewards.formulas` says what the values come to. The profile (`reward_models` of the file of judge models)
says which models are asked, how, and by which map a value becomes a score. The raw values are in the detail.

A server that is down, gives another number of values, or a value that is not a finite number, gives no score: the item is
`failed`, with `judge_` and the kind of failure as its reason.
"""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import final_segment
from verifiers.judge.errors import JudgeFailure, OverBudget
from verifiers.judge.modes import split
from verifiers.judge.panel import Panel
from verifiers.judge.parameters import MAX_OTHERS, MAX_STEPS
from verifiers.judge.profiles import PROFILE_NAME
from verifiers.judge.rewards import formulas
from verifiers.judge.rewards.batching import Reward
from verifiers.judge.rewards.panel import Ask
from verifiers.judge.rewards.profiles import Rank, RewardModel, ScoreMap, ZScore
from verifiers.pace import together

_MAX_FAILURE_CHARS = 200
_Text = Annotated[str, Field(min_length=1)]


def _first(value: Any) -> Any:
    """A list of one reference is that reference; an empty text is none."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return None if value == "" else value


class RewardModelParams(Params):
    """What a response is scored by."""

    reference: Annotated[str | None, BeforeValidator(_first)] = None
    """A response whose value is subtracted, if the profile has `margin`. Other profiles ignore it."""
    reward_model: Annotated[str, Field(pattern=PROFILE_NAME)] | None = None
    """The name of a profile of `reward_models`; None: the first one."""
    question: str | None = None
    """The question; default: the item's prompt."""
    others: Annotated[tuple[str, ...], Field(min_length=1, max_length=MAX_OTHERS)] | None = None
    """The other responses to the question, among which the map `rank` ranks this one."""
    steps: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=MAX_STEPS)] | None = None
    """The steps, for a model that scores steps; default: the paragraphs of the response, or its lines if it has one."""
    map: ScoreMap | None = None
    """How a value becomes a score; default: as the profile says."""
    run: Annotated[str, Field(pattern=PROFILE_NAME)] = "default"
    """Whose values the map `zscore` compares with."""


@dataclass(frozen=True, slots=True)
class _Value:
    """What one response is worth, and the detail about it."""

    value: float
    detail: Mapping[str, Any]
    is_cut: bool


class RewardModels(Verifier[RewardModelParams]):
    name = "reward_model"
    version = "3"
    params = RewardModelParams
    summary = "The value that reward models give a response, or its steps, by a declared map from 0 to 1"
    is_opinion = True
    uses_prompt = True
    chunk_items = 1
    bounds_itself = True

    def __init__(self, panel: Panel | None) -> None:
        self._panel = panel
        if panel is not None:
            self.version = f"{self.version}-{panel.fingerprint[:12]}"
            self.concurrency = panel.config.max_items_in_flight

    async def score(self, items: Sequence[Item[RewardModelParams]]) -> Sequence[Verdict]:
        return await asyncio.gather(*(self._judge(item) for item in items))

    async def score_each(
        self, items: Sequence[Item[RewardModelParams]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        async def one(position: int, item: Item[RewardModelParams]) -> None:
            deliver(position, await self._judge(item))

        async with asyncio.TaskGroup() as tasks:
            for position, item in enumerate(items):
                tasks.create_task(one(position, item))

    async def _judge(self, item: Item[RewardModelParams]) -> Verdict:
        try:
            return await self._judged(item)
        except OverBudget as error:
            return Verdict.failed(error.kind, error.message, **error.detail)
        except (InvalidItem, JudgeFailure) as error:
            return _refusal(error)

    def obstacle(self, params: RewardModelParams) -> Verdict | None:
        try:
            self._profile(params)
        except (InvalidItem, JudgeFailure) as error:
            return _refusal(error)
        return None

    async def _judged(self, item: Item[RewardModelParams]) -> Verdict:
        params = item.params
        panel, name, model = self._profile(params)
        text = _view(item.response, model)
        if text is None:
            return Verdict.wrong("truncated")
        if not text:
            return Verdict.wrong("no_answer")
        steps = tuple(params.steps or split(text)) if model.steps is not None else ()
        if len(steps) > MAX_STEPS:
            return Verdict.wrong("too_many_steps")
        worth, reference, rivals = await self._values(panel, model, item, text, steps)
        value = worth.value - (reference.value if reference else 0.0)
        score, map_detail = self._score(panel, name, params.map or model.map, value, rivals, item)
        detail: dict[str, Any] = {"reward_model": name, **worth.detail}
        if reference is not None:
            detail |= {"reference": reference.value}
        detail |= {"value": value, **map_detail}
        if worth.is_cut:
            detail["flags"] = ["truncated_response"]
            panel.counts["flag", "truncated_response"] += 1
        return Verdict(Status.OK, score, "rewarded", None, detail, is_lasting="z" not in map_detail)

    def _profile(self, params: RewardModelParams) -> tuple[Panel, str, RewardModel]:
        """The panel, and the profile with its name.

        Raises:
            JudgeFailure: no reward models are configured.
            InvalidItem: there is no such profile, or it needs what the item lacks.
        """
        panel = self._panel
        if panel is None or not panel.config.reward_models:
            raise JudgeFailure(
                "not_configured",
                "no reward models are configured (`reward_models` in the file of the setting judge_file)",
                retryable=False,
            )
        models = panel.config.reward_models
        name = params.reward_model or next(iter(models))
        model = models.get(name)
        if model is None:
            raise InvalidItem("unknown_judge", f"params.reward_model: no {name!r}; there are {sorted(models)}")
        if model.margin and not (params.reference and _view(params.reference, model)):
            raise InvalidItem("bad_params", f"reference: {name} subtracts the value of a reference; give a response")
        if isinstance(params.map or model.map, Rank) and params.others is None:
            raise InvalidItem("bad_params", "params.others: the map rank needs the other responses to the question")
        return panel, name, model

    async def _values(
        self, panel: Panel, model: RewardModel, item: Item[RewardModelParams], text: str, steps: Sequence[str]
    ) -> tuple[_Value, _Value | None, list[_Value]]:
        """The values of the response, of the reference (None: it does not count), and of the others."""
        params = item.params
        texts = [params.reference or ""] if model.margin else []
        if isinstance(params.map or model.map, Rank):
            texts += params.others or ()
        views = [_view(view, model) or "" for view in texts]
        asks = [(text, steps), *((view, tuple(split(view)[:MAX_STEPS]) if model.steps else ()) for view in views)]
        worth, *peers = await together([self._value(panel, model, item, *ask) for ask in asks])
        return (worth, peers[0], peers[1:]) if model.margin else (worth, None, peers)

    async def _value(
        self,
        panel: Panel,
        model: RewardModel,
        item: Item[RewardModelParams],
        text: str,
        steps: Sequence[str],
    ) -> _Value:
        """What the models give one response. One without text is worth less than any other, and no model is asked."""
        if not text:
            return _Value(-math.inf, {}, False)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + model.deadline_s
        if item.deadline is not None:
            deadline = min(deadline, item.deadline)
        question = item.params.question or item.prompt or ""
        ask = Ask(question, text, steps, deadline, item.cache, item.owner)
        answers = await together([panel.rewards.reward(model, pool, ask) for pool in model.pools])
        by_step = [formulas.by_step(model, reward.rewards, len(steps)) for reward, _ in answers]
        raw = [formulas.reduced(model.steps, values) for values in by_step]
        cost = formulas.length_cost(model.length, len(text))
        detail: dict[str, Any] = {"raw": raw[0] if len(raw) == 1 else raw}
        if model.steps is not None:
            detail["steps"] = by_step[0] if len(by_step) == 1 else by_step
        if cost:
            detail["length_cost"] = cost
        detail["models"] = [_named(reward) for reward, _ in answers]
        value = formulas.ensembled(model, [number - cost for number in raw])
        return _Value(value, detail, any(is_cut for _, is_cut in answers))

    def _score(
        self,
        panel: Panel,
        name: str,
        rule: ScoreMap,
        value: float,
        rivals: Sequence[_Value],
        item: Item[RewardModelParams],
    ) -> tuple[float, dict[str, Any]]:
        """The score of a value, and what else the map found."""
        if isinstance(rule, Rank):
            values = [rival.value for rival in rivals]
            return formulas.rank(value, values), {
                "others": [rival if math.isfinite(rival) else None for rival in values]
            }
        if isinstance(rule, ZScore):
            z = panel.rewards.running.z(rule, (item.owner, name, item.params.run, rule), value)
            return formulas.normal_share(z), {"z": z}
        return formulas.mapped(rule, value), {}


def create(resources: Resources) -> RewardModels:
    return RewardModels(cast("Panel | None", resources.judges))


def _refusal(error: InvalidItem | JudgeFailure) -> Verdict:
    if isinstance(error, InvalidItem):
        return Verdict.invalid(error.reason, str(error))
    return Verdict.failed(f"judge_{error.kind}", str(error)[:_MAX_FAILURE_CHARS])


def _view(response: str, model: RewardModel) -> str | None:
    """The text that is scored; None if its thinking never ends."""
    if model.view == "full":
        return response.strip()
    segment = final_segment(response)
    return None if segment.reason == "truncated" else response[segment.start : segment.end]


def _named(reward: Reward) -> dict[str, str]:
    return {"endpoint": reward.endpoint, "model": reward.model}


_HELLO = {"question": "Greet me, and say hello.", "map": {"kind": "affine", "low": -10, "high": 10}}
EXAMPLES = (
    Example("Well, hello there!", _HELLO, 1.0, "rewarded", "where the model gives 20; the map ends at 10"),
    Example("Go away.", _HELLO, 0.0, "rewarded", "where the model gives -20"),
    Example("<think>hello", _HELLO, 0.0, "truncated", "the thinking never ends; no model is asked"),
    Example("", _HELLO, 0.0, "no_answer", "there is nothing to score"),
)
