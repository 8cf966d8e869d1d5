"""ROLL's remote reward system: `POST submit_task`, then `GET task_result` (with a JSON body) until there is a result.

    submit_task  {"prompt", "response", "reward_info", "reward_manager", "timeout", ...}  ►  {"errcode": 0, "reward_request_id"}
    task_result  {"reward_request_id"}    ok       errcode 0 with the score
                                          not yet  errcode 1, after as long as the client waits for an answer
                                          failed   errcode 1: asked again until the task's `timeout`
                                          invalid  errcode 0, and a `reward_score` that is text
                                          unknown  errcode 0 and no score, so that it is submitted again at once;
                                                   without Redis errcode 2: it may be another process's

The client submits a task that got no number in its time again, up to five times, and then makes it 0. It cannot be told
that a row must be mended. But a score that is not a number ends its step, with the text in the error, before any reward
of the step is used. With `?on_invalid=poll` an invalid task is errcode 2, and 0 in the end. With `?on_failed=stop` a
task that could not be judged in all of its time is reported like an invalid one.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import quote

import msgspec

from service.doors.compat.door import Door, Exchange, Parts, Route
from service.doors.compat.request_options import ITEM_FIELDS, JSON, RequestOptions, built, read
from service.doors.compat.retries import failure_text
from service.doors.compat.roll_tasks import Outcome, Task, Tasks, UnknownTask
from service.errors import Overloaded, StateUnavailable
from service.scoring.engine import Engine
from service.wire import CacheMode, Result, ScoreItem, parse

_BASES: Final = ("/compat/roll", "/apis/custom/reward-system/v1")
SUBMIT: Final = tuple(f"{base}/submit_task" for base in _BASES)
RESULT: Final = tuple(f"{base}/task_result" for base in _BASES)
_TIMEOUT_S: Final = 18.0
"""The time limit of an answer to a poll. The client's calls may take 20 s."""
_MARGIN_S: Final = 0.5
_AGAIN_S: Final = 0.5
_PLUGINS: Final = {
    "math": "roll.math_rule",
    "math_verify": "roll.math_rule",
    "math_rule": "roll.math_rule",
    "code": "roll.code_sandbox",
    "code_sandbox": "roll.code_sandbox",
    "llm_judge": "roll.llm_judge",
    "ifeval": "roll.general_rule",
    "general_rule": "roll.general_rule",
    "multiple_choice": "roll.general_val",
    "general_val": "roll.general_val",
    "crossthinkqa": "roll.crossthink_qa",
}
"""Names of reward plugins that common configurations use. Other names are those of recipes or verifiers."""


class Plugin(msgspec.Struct):
    """Other fields are ignored."""

    plugin_name: str
    weight: float = 1.0


class Submission(msgspec.Struct):
    """Other fields are ignored."""

    response: str
    reward_info: Any = None
    """Fields of a row, such as `ground_truth` or `case_type` and `test_cases`, or a reference in its own form."""
    reward_manager: list[Plugin] | None = None
    """The verifiers or recipes with their weights, unless the URL or `reward_info` names them."""
    prompt: str | None = None
    timeout: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 300.0


class Submitted(msgspec.Struct):
    errcode: int
    errmsg: str
    reward_request_id: str


class Poll(msgspec.Struct):
    """Other fields are ignored."""

    reward_request_id: str


class TaskResult(msgspec.Struct, omit_defaults=True):
    """The answer to a poll. `dimention` is the client's spelling."""

    errcode: int
    errmsg: str = ""
    reward_score: float | str | msgspec.UnsetType | None = msgspec.UNSET
    dimention_reward_score: dict[str, JSON] = {}
    start_time: str = ""
    end_time: str = ""


class SubmitOptions(RequestOptions, frozen=True, kw_only=True):
    pass


class PollOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    on_failed: Literal["poll", "stop"] = "poll"
    on_invalid: Literal["stop", "poll"] = "stop"


class Roll(Door):
    name = "roll"
    routes: ClassVar = (
        Route(
            SUBMIT,
            "roll_submit_task",
            "Submit a task of ROLL's reward system",
            "It is judged from now on. 422: not of the shape below.",
            Submitted,
            Submission,
            {
                "data_id": "q1",
                "rollout_id": "r1",
                "prompt": "2+2=?",
                "response": "so \\boxed{4}",
                "reward_info": {"ground_truth": "4"},
                "reward_manager": [{"plugin_name": "math_verify", "weight": 1.0}],
                "timeout": 300,
            },
            SubmitOptions,
            timeout_s=_TIMEOUT_S,
        ),
        Route(
            RESULT,
            "roll_task_result",
            "The result of a task of ROLL's reward system",
            "Waits for it for as long as the client does. `errcode` 0: `reward_score`; 1: not yet; 2: no such task.",
            TaskResult,
            Poll,
            {"reward_request_id": "6d1f0c6a86c34a1e9d3a1f5e0b7c2d48"},
            PollOptions,
            method="GET",
            timeout_s=_TIMEOUT_S + _MARGIN_S,
            while_draining=True,
        ),
    )

    def __init__(self, parts: Parts, tasks: Tasks) -> None:
        super().__init__(parts)
        self._tasks = tasks

    def timeout_of(self, options: msgspec.Struct, usual_s: float) -> float:
        """How long the call may take. `deadline_s` is for the task, not for one call."""
        return usual_s

    async def answer(self, exchange: Exchange[Any]) -> object:
        if exchange.route.paths is SUBMIT:
            return await self._submit(exchange)
        poll = parse(_polls, exchange.body, [])
        try:
            outcome = await self._tasks.outcome(poll.reward_request_id, exchange.deadline - _MARGIN_S)
        except UnknownTask:
            return self._unknown()
        return _not_yet() if outcome is None else _task_result(outcome, exchange.options)

    async def _submit(self, exchange: Exchange[SubmitOptions]) -> Submitted:
        submission = parse(_submissions, exchange.body, [])
        query = _query_of(exchange.options)
        item_of(self.parts.engine, exchange.body, query)  # this refuses bodies that are not an item
        timeout_s = submission.timeout
        if isinstance(exchange.options.deadline_s, float):
            timeout_s = exchange.options.deadline_s
        task = Task(exchange.body, query, min(timeout_s, self.parts.settings.max_deadline_s))
        while True:
            try:
                return Submitted(0, "", await self._tasks.submit(task))
            except (StateUnavailable, Overloaded):
                if asyncio.get_running_loop().time() + 2 * _AGAIN_S > exchange.deadline:
                    raise
            await asyncio.sleep(_AGAIN_S)

    def _unknown(self) -> TaskResult:
        why = "no such task: it was never submitted, or its time is over"
        return TaskResult(0, why, None) if self._tasks.is_shared else TaskResult(2, why)


def open_tasks(parts: Parts) -> Tasks:
    """The task store and judging of the door."""
    return Tasks(parts.settings, parts.scorer, parts.admission, partial(item_of, parts.engine))


def item_of(engine: Engine, body: bytes, query: bytes) -> tuple[ScoreItem, CacheMode]:
    """The item of a submission, and whether a cached verdict may be used.

    Raises:
        RequestError: the submission does not have the expected form.
    """
    submission = parse(_submissions, body, [])
    options = read(query, SubmitOptions)
    row_fields = _row_of(submission.reward_info)
    names_judge = any(row_fields.get(name) for name in ("verifier", "recipe", "checks", "domain", "data_source", "tag"))
    if submission.reward_manager and not names_judge and not (options.fields().keys() - {"params"}):
        row_fields = {**row_fields, **_judged_by(engine, submission.reward_manager)}
    return built(submission.response, options, row_fields, submission.prompt), options.cache


def _row_of(info: Any) -> JSON:
    """`reward_info` as fields of an item. An object with other fields is a reference."""
    if info is None or info == "":
        return {}
    if isinstance(info, dict) and info.keys() <= ITEM_FIELDS:
        return info
    return {"reference": info}


def _judged_by(engine: Engine, plugins: Sequence[Plugin]) -> JSON:
    """The checks for the plugins, under our names. The name of an unknown plugin is a label for the routing table."""
    if len(plugins) == 1:
        kind, name = _called(engine, plugins[0].plugin_name)
        return {kind: name}
    checks = []
    for plugin in plugins:
        kind, name = _called(engine, plugin.plugin_name)
        # A check cannot be a label, so an unknown name is reported as an unknown recipe.
        checks.append({"verifier" if kind == "verifier" else "recipe": name, "weight": plugin.weight})
    return {"checks": checks}


def _called(engine: Engine, plugin: str) -> tuple[str, str]:
    name = _PLUGINS.get(plugin, plugin)
    if name in engine.book.recipes or name in engine.book.unavailable:
        return "recipe", name
    return ("verifier" if name in engine.registry else "domain"), name


def _query_of(options: SubmitOptions) -> bytes:
    options_set = {name: value for name, value in msgspec.structs.asdict(options).items() if value is not msgspec.UNSET}
    return "&".join(f"{name}={quote(str(value), safe='')}" for name, value in options_set.items()).encode()


def _not_yet() -> TaskResult:
    return TaskResult(1, "not judged yet")


def _task_result(outcome: Outcome, options: PollOptions) -> TaskResult:
    result = outcome.result
    if result.status == "ok":
        return TaskResult(0, "", result.reward, _dimensions(result), outcome.began, outcome.ended)
    why = f"{result.status}: {failure_text(result)}"
    stops = options.on_invalid if result.status == "invalid" else options.on_failed
    if stops == "stop":
        return TaskResult(0, why, f"rewardline: {why}", {}, outcome.began, outcome.ended)
    return TaskResult(2 if result.status == "invalid" else 1, why)


def _dimensions(result: Result) -> dict[str, JSON]:
    spent = {"time_cost": round(result.elapsed_ms / 1000, 6)}
    if not result.checks:
        name = result.verifier or "reward"
        return {name: {"score": result.score, "debug_info": {name: spent}}}
    return {
        str(check["name"]): {"score": check["score"], "debug_info": {str(check["verifier"]): spent}}
        for check in result.checks
    }


_submissions = msgspec.json.Decoder(Submission)
_polls = msgspec.json.Decoder(Poll)
