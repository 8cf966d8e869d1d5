"""The types that OpenEnv's clients send and get. They decode and encode the messages."""

from typing import Annotated, Any, Final

import msgspec

from service.interactions.schemas import TurnAnswer, View, unprocessable
from service.wire import Message

JSON = dict[str, Any]


class OpenEnvOwn(msgspec.Struct):
    """The arguments of a reset that belong to OpenEnv."""

    seed: int | None = None
    episode_id: str | None = None


class OpenEnvAction(msgspec.Struct):
    """The text and calls of the assistant: one of these fields."""

    message: Annotated[str | None, msgspec.Meta(description="What the assistant says.")] = None
    tool_calls: Annotated[
        list[Any] | None, msgspec.Meta(description="What it calls, as in OpenAI's messages; beside a message or alone.")
    ] = None
    messages: Annotated[list[Message] | None, msgspec.Meta(description="Or all it said and did, as messages.")] = None
    content: str | None = None
    answer: str | None = None
    text: str | None = None
    response: str | None = None
    action: str | None = None
    episode_id: str = ""

    def said(self) -> list[Message]:
        """The action as messages.

        Raises:
            Unprocessable: the action has no content.
        """
        if self.messages is not None:
            return self.messages
        texts = (getattr(self, name) for name in _TEXTS)
        text = next((candidate for candidate in texts if candidate is not None), None)
        if text is None and not self.tool_calls:
            raise unprocessable("action", f"an action has one of messages, tool_calls, {', '.join(_TEXTS)}")
        calls = {"tool_calls": self.tool_calls} if self.tool_calls else {}
        return [{"role": "assistant", "content": text, **calls}]


_TEXTS: Final = ("message", "content", "answer", "text", "response", "action")


class OpenEnvStep(msgspec.Struct):
    """A step over HTTP."""

    action: OpenEnvAction
    episode_id: Annotated[str, msgspec.Meta(description="As reset told it in its observation.")] = ""

    @property
    def episode(self) -> str:
        return self.episode_id or self.action.episode_id


class OpenEnvObservation(msgspec.Struct):
    episode_id: str
    prompt: Annotated[Any, msgspec.Meta(description="Text or messages; after reset.")]
    feedback: Annotated[str, msgspec.Meta(description="The next message of the user, unless done.")]
    turn: int
    turns_left: int
    score: float | None
    reason: str
    trajectory_score: float | None


class OpenEnvResult(msgspec.Struct):
    """The result of a reset or a step."""

    observation: OpenEnvObservation
    reward: float | None
    """The reward of the turn. Null after a reset."""
    done: bool


class OpenEnvState(View, kw_only=True):
    """The state of an interaction."""

    episode_id: str
    step_count: int


class OpenEnvHealth(msgspec.Struct):
    status: str = "healthy"


class OpenEnvMetadata(msgspec.Struct):
    name: str = "rewardline"
    description: str = "An answer is judged, and may be tried again."


class OpenEnvSchema(msgspec.Struct):
    """The JSON schemas of the messages."""

    action: JSON
    observation: JSON
    state: JSON


def begun(view: View, prompt: object) -> OpenEnvResult:
    """The answer to a reset."""
    turns_left = view.max_turns - view.turn
    observation = OpenEnvObservation(view.id, prompt, "", view.turn, turns_left, None, "", view.trajectory_score)
    return OpenEnvResult(observation, None, view.state != "open")


def stepped(name: str, answer: TurnAnswer) -> OpenEnvResult:
    """The answer to a turn."""
    turns_left, feedback = answer.info.turns_left, answer.response
    observation = OpenEnvObservation(
        name, "", feedback, answer.turn, turns_left, answer.score, answer.reason, answer.trajectory_score
    )
    return OpenEnvResult(observation, answer.reward, answer.should_terminate)


def state_of(view: View) -> OpenEnvState:
    return OpenEnvState(**msgspec.structs.asdict(view), episode_id=view.id, step_count=view.turn)


def _schema(kind: type) -> JSON:
    """The schema of a type, together with the schemas that it refers to."""
    _, schemas = msgspec.json.schema_components([kind])
    schema: JSON = schemas.pop(kind.__name__)
    return {**schema, "$defs": schemas} if schemas else schema


SCHEMA: Final = OpenEnvSchema(_schema(OpenEnvAction), _schema(OpenEnvObservation), _schema(OpenEnvState))
