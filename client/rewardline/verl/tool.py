"""`RewardTool` for verl's multi-turn rollouts: the model submits an answer and learns whether it is right.

verl makes an instance for each call: create ► execute ► release. It turns an exception of a tool into a reward of 0. So this
tool does not raise without a verdict, but gives no reward, which verl leaves out.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from typing import Any

from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse

from rewardline.errors import RewardlineError
from rewardline.hook import LABELS, ROW_FIELDS, Hook, plain
from rewardline.results import Result, Status
from rewardline.verl.samples import prompt_of

_log = logging.getLogger(__name__)

_SCHEMA = {
    "type": "function",
    "function": {
        "name": "check_answer",
        "description": "Checks whether an answer is correct.",
        "parameters": {
            "type": "object",
            "properties": {"answer": {"type": "string", "description": "The answer to check."}},
            "required": ["answer"],
        },
    },
}
_TEXTS = {
    "template": "{answer}",
    "correct": "Your answer is correct.",
    "incorrect": "Your answer is not correct.",
    "unjudged": "Your answer could not be checked.",
}


class RewardTool(BaseTool):
    """A tool. Its `config` holds the options of `rewardline.hook.Hook`, the texts for the model `correct`, `incorrect` and
    `unjudged`, and `template`, the response that is judged (`"#### {answer}"`). `on_failed` and `on_invalid` are "abstain"
    or a number.

    `create_kwargs` is the row: `ground_truth`, and other fields of an item.
    """

    def __init__(self, config: dict[str, Any], tool_schema: Any = None) -> None:
        super().__init__(config, tool_schema or OpenAIFunctionToolSchema.model_validate(_SCHEMA))
        options = {"on_failed": "abstain", "on_invalid": "abstain", **plain(config)}
        options.pop("type", None)
        self._texts = {name: str(options.pop(name, default)) for name, default in _TEXTS.items()}
        self._hook = Hook.of(options)
        if "raise" in (self._hook.on_failed, self._hook.on_invalid):
            raise ValueError(
                "set on_failed and on_invalid to 'abstain' or to a number: verl turns an exception of a tool into a 0"
            )
        self._rows: dict[str, Mapping[str, Any]] = {}
        self._results: dict[str, Result] = {}

    async def create(
        self, instance_id: str | None = None, create_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> tuple[str, Any]:
        """Create an instance for one row."""
        instance_id = instance_id or uuid.uuid4().hex
        self._rows[instance_id] = {**kwargs, **(create_kwargs or {})}
        return instance_id, ToolResponse()

    async def execute(
        self, instance_id: str, parameters: Mapping[str, Any], **kwargs: Any
    ) -> tuple[Any, float | None, dict[str, Any]]:
        """Judge the answer. Returns the text for the model, the reward or None, and numbers for metrics."""
        try:
            result = await self._hook.score_one(self._item(self._rows[instance_id], parameters))
        except RewardlineError as error:
            _log.error("an answer could not be judged: %s", error)
            return ToolResponse(text=self._texts["unjudged"]), None, {"failed": 1.0, "invalid": 0.0}
        self._results[instance_id] = result
        if result.status is Status.INVALID:
            _log.error("an answer cannot be judged until its row is mended: %s %s", result.reason, dict(result.detail))
        numbers = result.status.flags
        if result.score is not None:
            numbers["acc"] = result.score
        return ToolResponse(text=self._feedback(result)), self._hook.reward(result), numbers

    async def calc_reward(self, instance_id: str, **kwargs: Any) -> float:
        """The reward of the instance's last answer.

        Raises:
            LookupError: No answer was judged.
        """
        result = self._results.get(instance_id)
        reward = None if result is None else self._hook.reward(result)
        if reward is None:
            raise LookupError(f"no answer of the instance {instance_id!r} was judged")
        return reward

    async def release(self, instance_id: str, **kwargs: Any) -> None:
        """Forget the instance. May be called twice."""
        self._rows.pop(instance_id, None)
        self._results.pop(instance_id, None)

    def _item(self, row: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Make the item of an answer: of the argument `answer`, else of all arguments."""
        answers = [str(plain(value)) for value in parameters.values()]
        answer = str(plain(parameters["answer"])) if "answer" in parameters else "\n".join(answers)
        fields = {name: row.get(name) for name in (*ROW_FIELDS, *LABELS)}
        prompt = prompt_of(row.get("query", row.get("prompt")))
        return self._hook.item(self._texts["template"].replace("{answer}", answer), prompt=prompt, row=fields)

    def _feedback(self, result: Result) -> str:
        if result.score is None:
            return self._texts["unjudged"]
        return self._texts["correct" if result.score >= 1.0 else "incorrect"]
