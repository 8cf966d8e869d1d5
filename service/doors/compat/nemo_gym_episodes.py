"""The types that NeMo-Gym's environment servers send and get from 0.7 on: episodes, and failures by their kind.

    seed      ResourcesSeedSessionRequest    resources_session_id, episode_id, task_id, task_data
    verify    ResourcesVerifyRequest         episode_id, task_id, verification_input
    close     ResourcesCloseSessionRequest   resources_session_id, episode_id

Older clients send the row itself; its fields tell the two apart. `verification_input` holds the fields of such a row.

    failed by a judge                        judge_failed, judge_unparseable
    failed by boxes or workers               provider_unavailable
    failed by a verifier that is broken      verifier_error
    failed otherwise, and invalid            rewardline:<reason>

The names are those of `nemo_gym.failure_kinds`.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from service.doors.compat.nemo_gym_rows import Row
from service.doors.compat.retries import failure_text
from service.wire import Result, parse

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
_MAX_REASON_CHARS: Final = 2000
_NAMESPACE: Final = "rewardline"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_PROVIDERS: Final = frozenset({"sandbox_unavailable", "sandbox_busy", "box_died", "workers_unavailable"})
_BROKEN: Final = frozenset({"verifier_bug", "scorer_broken"})


class EpisodeId(msgspec.Struct, forbid_unknown_fields=True):
    """An attempt of a rollout."""

    rollout_id: _Id
    attempt: Annotated[int, msgspec.Meta(ge=0)] = 0


class TaskId(msgspec.Struct, forbid_unknown_fields=True):
    """A task of a run."""

    taskset: _Id
    task_id: _Id


class ResourcesSeedSessionRequest(msgspec.Struct, forbid_unknown_fields=True):
    resources_session_id: _Id
    episode_id: EpisodeId
    task_id: TaskId
    task_data: dict[str, Any]


class ResourcesVerifyRequest(msgspec.Struct, forbid_unknown_fields=True):
    episode_id: EpisodeId
    task_id: TaskId
    verification_input: Row
    """The row, like the body of an older client."""


class ResourcesCloseSessionRequest(msgspec.Struct, forbid_unknown_fields=True):
    resources_session_id: _Id
    episode_id: EpisodeId


class Verification(msgspec.Struct):
    """The fields that are added to `verification_input`."""

    reward: float
    """Without meaning if `mask_sample` is true."""
    mask_sample: bool
    failure_kind: str | None
    failure_reason: str | None
    reward_components: dict[str, float]
    """The checks of a composition, or the parts of a verdict, by name, if they were judged."""
    score: float | None
    """Whether the answer is right, in [0, 1]."""
    reason: str
    extracted_answer: str | None
    cached: bool


def is_episode(body: Mapping[str, Any]) -> bool:
    """Whether the body of a verification is an episode, not a row."""
    return {"episode_id", "task_id", "verification_input"} <= body.keys()


def input_of(body: bytes) -> Row:
    """The row to verify.

    Raises:
        Unprocessable: the body is not one of an episode.
    """
    return parse(_verify, body, []).verification_input


def seeded(body: bytes) -> str:
    """The id of the session to begin.

    Raises:
        Unprocessable
    """
    return parse(_seed, body, []).resources_session_id


def closed(body: bytes) -> str:
    """The id of the session to end.

    Raises:
        Unprocessable
    """
    return parse(_close, body, []).resources_session_id


def verification(result: Result) -> Verification:
    """The answer for a verdict. A verdict without a score is masked."""
    judged = result.reward is not None
    return Verification(
        0.0 if result.reward is None else result.reward,
        not judged,
        None if judged else failure_kind(result),
        None if judged else failure_text(result)[:_MAX_REASON_CHARS],
        components(result),
        result.score,
        result.reason,
        result.extracted,
        result.cached,
    )


def components(result: Result) -> dict[str, float]:
    """The numbers of a verdict by name: its checks, or the parts that its verifier reports."""
    if result.checks is not None:
        return {str(check["name"]): float(check["score"]) for check in result.checks if check.get("score") is not None}
    scores = result.detail.get("parts")
    numbers = scores.items() if isinstance(scores, Mapping) else ()
    return {name: float(score) for name, score in numbers if isinstance(score, int | float)}


def failure_kind(result: Result) -> str:
    """The kind of the failure of a result without a score."""
    reason = result.reason
    if reason == "checks_failed":
        failed = (check.get("reason") for check in result.checks or () if check.get("score") is None)
        reason = str(next(filter(None, failed), reason))
    if result.status == "failed":
        if reason in _PROVIDERS:
            return "provider_unavailable"
        if reason == "judge_unparseable":
            return reason
        if reason.startswith("judge_"):
            return "judge_failed"
        if reason in _BROKEN or reason.startswith("worker_"):
            return "verifier_error"
    return f"{_NAMESPACE}:{reason}" if _NAME.fullmatch(reason) else "verifier_error"


_seed: Final = msgspec.json.Decoder(ResourcesSeedSessionRequest)
_verify: Final = msgspec.json.Decoder(ResourcesVerifyRequest)
_close: Final = msgspec.json.Decoder(ResourcesCloseSessionRequest)
