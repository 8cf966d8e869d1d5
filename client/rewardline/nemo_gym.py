"""A resources server for NeMo-Gym that hands `/verify` on to the door of that name, `/compat/nemo_gym/verify`.

    # resources_servers/rewardline/app.py
    from rewardline.nemo_gym import VerifierResourcesServer
    if __name__ == "__main__":
        VerifierResourcesServer.run_webserver()

What could not be judged is a 503, which NeMo-RL counts to the infrastructure. With `on_failed: abstain` it is a rollout whose
reward means nothing and is marked so: `_ng_failure_class` takes it out of the results, `mask_sample` out of the loss; but NeMo-RL
still counts the number beside it in the baseline of its group. What is invalid is a 422.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from nemo_gym import base_resources_server as gym
from nemo_gym.base_resources_server import BaseResourcesServerConfig, BaseVerifyRequest, SimpleResourcesServer
from pydantic import ConfigDict, Field

from rewardline.errors import RequestError, Unavailable
from rewardline.hook import Hook

DOOR = "/compat/nemo_gym/verify"
STATELESS: Any = getattr(getattr(gym, "ReverifyMode", None), "STATELESS", None)
"""NeMo-Gym's word for it, from 0.5 on; None before."""


class VerifierConfig(BaseResourcesServerConfig):
    """What the YAML of the server may hold beside NeMo-Gym's own."""

    rewardline: dict[str, Any] = Field(default_factory=dict)
    """The options of a `Hook`: `url`, `recipe` or `verifier` with `params`, `deadline_s`, `api_key`."""


class VerifyRequest(BaseVerifyRequest):
    """A rollout, and every column of its row."""

    model_config = ConfigDict(extra="allow")


class VerifierResourcesServer(SimpleResourcesServer):
    """Judges by a Rewardline server; holds nothing, so that any number of them may run."""

    config: VerifierConfig
    REVERIFY_MODE: ClassVar[Any] = STATELESS
    """Rollouts can be verified again, at any time."""

    async def verify(self, body: VerifyRequest) -> Any:
        """The rollout as it came, with its reward and what the door adds.

        Raises:
            HTTPException: 422, it cannot be judged until the data set is mended.
        """
        hook = hook_of(self.config.rewardline)
        rollout = body.model_dump(mode="json", by_alias=True)
        try:
            return JSONResponse(await handed_on(hook, rollout))
        except Unavailable as error:
            if hook.on_failed == "raise":
                raise HTTPException(503, f"rewardline: {error}") from error
            return JSONResponse(unjudged(hook, rollout, str(error)))
        except RequestError as error:
            raise HTTPException(422, f"rewardline: {error}") from error


def hook_of(options: Mapping[str, Any]) -> Hook:
    """The hook of a configuration; what cannot be judged is a 503 unless `on_failed` says otherwise."""
    return Hook(**options)


async def handed_on(hook: Hook, rollout: Mapping[str, Any]) -> dict[str, Any]:
    """What the door answers.

    Raises:
        Unavailable: it could not judge before the deadline.
        RequestError: it never will.
    """
    return await hook.client().call("POST", path_of(hook), rollout)


def path_of(hook: Hook) -> str:
    """The door, with what is judged by; without, the row's columns and labels decide."""
    if hook.checks is not None:
        raise ValueError("checks do not travel by this door; name a recipe")
    named = {"verifier": hook.verifier, "recipe": hook.recipe}
    named["params"] = None if hook.params is None else json.dumps(hook.params)
    named["cache"] = None if hook.cache == "use" else hook.cache
    query = urlencode({name: value for name, value in named.items() if value is not None})
    return f"{DOOR}?{query}" if query else DOOR


def unjudged(hook: Hook, rollout: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The rollout with a reward that means nothing, since there has to be one."""
    stand_in = 0.0 if isinstance(hook.on_failed, str) else float(hook.on_failed)
    settings = rollout.get("instance_config")
    return {
        **rollout,
        "reward": stand_in,
        "_ng_failure_class": "judge_failed",
        "_ng_failure_judge_error": why,
        "failure_reason": why,
        "mask_sample": True,
        "instance_config": {**(settings if isinstance(settings, Mapping) else {}), "mask_sample": True},
    }
