"""A resources server for NeMo-Gym that hands `/verify` and sessions on to the doors of these names, `/compat/nemo_gym/verify`.

    # resources_servers/rewardline/app.py
    from rewardline.nemo_gym import VerifierResourcesServer
    if __name__ == "__main__":
        VerifierResourcesServer.run_webserver()

What could not be judged is a 503, which NeMo-RL counts to the infrastructure. With `on_failed: abstain` it is a rollout whose
reward means nothing and is marked so: `_ng_failure_class` takes it out of the results, `mask_sample` out of the loss; but NeMo-RL
still counts the number beside it in the baseline of its group. What is invalid is a 422.

Episodes, which the environment servers of 0.7 send, are answered by `mask_sample` and `failure_kind` in both cases, unless the
configuration says `on_failed: raise`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Optional, Union
from urllib.parse import urlencode

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from nemo_gym import base_resources_server as gym
from nemo_gym.base_resources_server import BaseResourcesServerConfig, BaseVerifyRequest, SimpleResourcesServer
from pydantic import BaseModel, ConfigDict, Field

from rewardline.errors import Conflict, RequestError, Unavailable
from rewardline.hook import Hook

BASE = "/compat/nemo_gym"
DOOR = f"{BASE}/verify"
SESSION = "resources_session_id"
_MARGIN_S = 1.0
"""The door is to answer so long before we stop waiting."""
STATELESS: Any = getattr(getattr(gym, "ReverifyMode", None), "STATELESS", None)
"""NeMo-Gym's word for it, from 0.5 on; None before."""


class VerifierConfig(BaseResourcesServerConfig):
    """What the YAML of the server may hold beside NeMo-Gym's own."""

    rewardline: dict[str, Any] = Field(default_factory=dict)
    """The options of a `Hook`: `url`, `recipe` or `verifier` with `params`, `deadline_s`, `api_key`."""
    REVERIFY_MODE: ClassVar[Any] = STATELESS
    """Rollouts can be verified again, at any time."""


class VerifyRequest(BaseVerifyRequest):
    """A rollout, and every column of its row."""

    model_config = ConfigDict(extra="allow")


class EpisodeVerifyRequest(BaseModel):
    """What NeMo-Gym's environment servers send, from 0.7 on: a rollout as `verification_input`."""

    model_config = ConfigDict(extra="forbid")

    episode_id: dict[str, Any]
    task_id: dict[str, Any]
    verification_input: dict[str, Any]


class VerifierResourcesServer(SimpleResourcesServer):
    """Judges by a Rewardline server; holds nothing, so that any number of them may run."""

    config: VerifierConfig

    async def seed_session(self, body: Optional[dict[str, Any]] = None) -> Any:
        """Nothing is kept; the session of an episode must not be over."""
        return await self._session("seed_session", body or {})

    async def close_resources_session(self, body: Optional[dict[str, Any]] = None) -> Any:
        """Any number of times, of any session."""
        return await self._session("close_session", body or {})

    async def _session(self, route: str, body: Mapping[str, Any]) -> Any:
        if SESSION not in body:
            return JSONResponse({})
        hook = hook_of(self.config.rewardline)
        with _refusals():
            return JSONResponse(await hook.client().call("POST", f"{BASE}/{route}", body))

    async def verify(self, body: Union[EpisodeVerifyRequest, VerifyRequest]) -> Any:
        """The rollout as it came, with its reward and what the door adds.

        Raises:
            HTTPException: 422, it cannot be judged until the data set is mended.
        """
        sent = body.model_dump(mode="json", by_alias=True)
        episode = isinstance(body, EpisodeVerifyRequest)
        # The answer to an episode has a place for what was not judged.
        hook = hook_of({"on_failed": "abstain", **self.config.rewardline} if episode else self.config.rewardline)
        told = "status" if hook.on_failed == "raise" else "mask"
        with _refusals():
            try:
                return JSONResponse(await handed_on(hook, sent, on_failed=told if episode else None))
            except Unavailable as error:
                if hook.on_failed == "raise":
                    raise
                return JSONResponse(unjudged(hook, body.verification_input if episode else sent, error))


@contextmanager
def _refusals() -> Iterator[None]:
    """What the door does not do, as a status of ours."""
    try:
        yield
    except Unavailable as error:
        raise HTTPException(503, f"rewardline: {error}") from error
    except RequestError as error:
        raise HTTPException(409 if isinstance(error, Conflict) else 422, f"rewardline: {error}") from error


def hook_of(options: Mapping[str, Any]) -> Hook:
    """The hook of a configuration; what cannot be judged is a 503 unless `on_failed` says otherwise."""
    return Hook(**options)


async def handed_on(hook: Hook, rollout: Mapping[str, Any], *, on_failed: Optional[str] = None) -> dict[str, Any]:
    """What the door answers; `on_failed` is how it is to tell what it could not judge.

    Raises:
        Unavailable: it could not judge before the deadline.
        RequestError: it never will.
    """
    return await hook.client().call("POST", path_of(hook, on_failed=on_failed), rollout)


def path_of(hook: Hook, *, on_failed: Optional[str] = None) -> str:
    """The door, with what is judged by; without, the row's columns and labels decide."""
    if hook.checks is not None:
        raise ValueError("checks do not travel by this door; name a recipe")
    named = {"verifier": hook.verifier, "recipe": hook.recipe}
    named["params"] = None if hook.params is None else json.dumps(hook.params)
    named["cache"] = None if hook.cache == "use" else hook.cache
    named["on_failed"] = on_failed
    if on_failed == "mask":
        named["deadline_s"] = f"{max(1.0, hook.deadline_s - _MARGIN_S):g}"
    query = urlencode({name: value for name, value in named.items() if value is not None})
    return f"{DOOR}?{query}" if query else DOOR


def unjudged(hook: Hook, rollout: Mapping[str, Any], error: Unavailable) -> dict[str, Any]:
    """The rollout with a reward that means nothing, since there has to be one."""
    why = str(error)
    stand_in = 0.0 if isinstance(hook.on_failed, str) else float(hook.on_failed)
    settings = rollout.get("instance_config")
    return {
        **rollout,
        "reward": stand_in,
        "_ng_failure_class": "judge_failed",
        "_ng_failure_judge_error": why,
        "failure_kind": _KINDS.get(error.reason, f"rewardline:{error.reason}"),
        "failure_reason": why,
        "mask_sample": True,
        "instance_config": {**(settings if isinstance(settings, Mapping) else {}), "mask_sample": True},
    }


_KINDS = {"unreachable": "transport_unreachable", "deadline": "transport_timeout"}
"""NeMo-Gym's names of what befell a call to the server."""
