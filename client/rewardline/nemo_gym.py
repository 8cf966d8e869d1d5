"""A resources server for NeMo-Gym. It forwards `/verify` and sessions to the server's routes under `/compat/nemo_gym`.

    # resources_servers/rewardline/app.py
    from rewardline.nemo_gym import VerifierResourcesServer
    if __name__ == "__main__":
        VerifierResourcesServer.run_webserver()

A rollout that could not be judged is a 503, which NeMo-RL takes for a fault of the infrastructure. With `on_failed: abstain` it is
a rollout with a meaningless reward, and marked so: `_ng_failure_class` takes it out of the results, and `mask_sample` out of the
loss. But NeMo-RL still counts its reward in the baseline of its group. An invalid rollout is a 422.

The environment servers of NeMo-Gym 0.7 send episodes. In both cases their answer has `mask_sample` and `failure_kind`, unless the
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
"""The route must answer so long before the client stops waiting."""
STATELESS: Any = getattr(getattr(gym, "ReverifyMode", None), "STATELESS", None)
"""NeMo-Gym's word for it, since 0.5; None before."""


class VerifierConfig(BaseResourcesServerConfig):
    """NeMo-Gym's configuration of a server, and ours."""

    rewardline: dict[str, Any] = Field(default_factory=dict)
    """The options of a `Hook`: `url`, `recipe` or `verifier` with `params`, `deadline_s`, `api_key`; `group` with `size`."""
    REVERIFY_MODE: ClassVar[Any] = STATELESS
    """NeMo-Gym may verify a rollout again at any time."""


class VerifyRequest(BaseVerifyRequest):
    """A rollout, with all columns of its row."""

    model_config = ConfigDict(extra="allow")


class EpisodeVerifyRequest(BaseModel):
    """An episode, which NeMo-Gym's environment servers send since 0.7. Its rollout is `verification_input`."""

    model_config = ConfigDict(extra="forbid")

    episode_id: dict[str, Any]
    task_id: dict[str, Any]
    verification_input: dict[str, Any]


class VerifierResourcesServer(SimpleResourcesServer):
    """Judges by a Rewardline server. It has no state, so any number of them may run."""

    config: VerifierConfig

    async def seed_session(self, body: Optional[dict[str, Any]] = None) -> Any:
        """Open a session, which must not be closed. This server keeps nothing of it."""
        return await self._session("seed_session", body or {})

    async def close_resources_session(self, body: Optional[dict[str, Any]] = None) -> Any:
        """Close any session. May be called any number of times."""
        return await self._session("close_session", body or {})

    async def _session(self, route: str, body: Mapping[str, Any]) -> Any:
        if SESSION not in body:
            return JSONResponse({})
        hook = hook_of(self.config.rewardline)
        with _as_http_errors():
            return JSONResponse(await hook.client().call("POST", f"{BASE}/{route}", body))

    async def verify(self, body: Union[EpisodeVerifyRequest, VerifyRequest]) -> Any:
        """Return the rollout with its reward and the fields that the route adds.

        Raises:
            HTTPException: 422: The rollout cannot be judged until the data set is mended.
        """
        rollout = body.model_dump(mode="json", by_alias=True)
        episode = isinstance(body, EpisodeVerifyRequest)
        # The answer to an episode has fields for a missing verdict.
        hook = hook_of({"on_failed": "abstain", **self.config.rewardline} if episode else self.config.rewardline)
        on_failed = ("status" if hook.on_failed == "raise" else "mask") if episode else None
        with _as_http_errors():
            try:
                return JSONResponse(await forwarded(hook, rollout, on_failed=on_failed))
            except Unavailable as error:
                if hook.on_failed == "raise":
                    raise
                return JSONResponse(unjudged(hook, body.verification_input if episode else rollout, error))


@contextmanager
def _as_http_errors() -> Iterator[None]:
    """Translate the errors of the route to HTTP statuses."""
    try:
        yield
    except Unavailable as error:
        raise HTTPException(503, f"rewardline: {error}") from error
    except RequestError as error:
        raise HTTPException(409 if isinstance(error, Conflict) else 422, f"rewardline: {error}") from error


def hook_of(options: Mapping[str, Any]) -> Hook:
    """The hook of a configuration."""
    return Hook.of(options)


async def forwarded(hook: Hook, rollout: Mapping[str, Any], *, on_failed: Optional[str] = None) -> dict[str, Any]:
    """Forward a rollout and return the answer. `on_failed` says how the route answers for one that it could not judge.

    Raises:
        Unavailable: The server could not judge the rollout before the deadline.
        RequestError: The server cannot judge the rollout until the data set is mended.
    """
    return await hook.client().call("POST", path_of(hook, on_failed=on_failed), rollout)


def path_of(hook: Hook, *, on_failed: Optional[str] = None) -> str:
    """The path of the route, with the options of the hook. Without them, the columns and labels of the row decide."""
    if hook.checks is not None:
        raise ValueError("this route takes no checks; name a recipe")
    options = {"verifier": hook.verifier, "recipe": hook.recipe}
    options["params"] = None if hook.params is None else json.dumps(hook.params)
    options["group"] = None if hook.group is None else json.dumps(hook.group)
    options["cache"] = None if hook.cache == "use" else hook.cache
    options["on_failed"] = on_failed
    if on_failed == "mask":
        options["deadline_s"] = f"{max(1.0, hook.deadline_s - _MARGIN_S):g}"
    query = urlencode({name: value for name, value in options.items() if value is not None})
    return f"{DOOR}?{query}" if query else DOOR


def unjudged(hook: Hook, rollout: Mapping[str, Any], error: Unavailable) -> dict[str, Any]:
    """The rollout with a meaningless reward, since NeMo-Gym needs one, and with the marks of a failure."""
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
"""NeMo-Gym's words for the reasons why a call failed."""
