"""What a judge sees of the responses of a group.

texts               the final answer of each
lists of messages   all of their messages, with calls and results; those that every response begins with are shown
                    once, behind the prompt, as ART's RULER does
"""

import typing
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from service.groups.schemas import Group
from service.groups.terms import Text
from service.wire import Message
from verifiers.base import InvalidItem
from verifiers.conversation import Conversation, Step, as_json, dialects, of_text, parts_beside_text, plain
from verifiers.judge.parameters import Turn

Prompt = str | list[Message] | None
_ROLES: Final = frozenset(typing.get_args(Turn.model_fields["role"].annotation))


class Shown(NamedTuple):
    """What a judge sees of a group."""

    prompt: Prompt
    texts: list[str]
    """What is shown of each response; empty: there is nothing to show."""
    unread: dict[int, str]
    """Positions of messages that cannot be read, and what is wrong with them."""


def shown(group: Group) -> Shown:
    """The prompt, and what is shown of each response."""
    conversations, unread = dict[int, Conversation](), dict[int, str]()
    for at, response in enumerate(group.responses):
        try:
            conversations[at] = _read(response)
        except InvalidItem as error:
            unread[at] = str(error)
    prompt, texts = _views(group, [*conversations.values()])
    by_position = dict(zip(conversations, texts, strict=True))
    return Shown(prompt, [by_position.get(at, "") for at in range(len(group.responses))], unread)


def _views(group: Group, conversations: Sequence[Conversation]) -> tuple[Prompt, list[str]]:
    texts = [plain(conversation) for conversation in conversations]
    if None not in texts:
        return group.prompt, [Text.of(text).answer.strip() for text in texts if text is not None]
    # Whole responses may be alike: each shows at least its last message.
    longest = min(len(conversation.steps) for conversation in conversations) - 1
    rows = zip(*(conversation.steps[: max(0, longest)] for conversation in conversations), strict=True)
    shared = sum(1 for _ in takewhile(lambda row: all(step == row[0] for step in row), rows))
    prompt = group.prompt if group.prompt is None or isinstance(group.prompt, str) else str(dialects.read(group.prompt))
    beginning = _marked(conversations[0].steps[:shared])
    rest = [_all_of(conversation.steps[shared:]) for conversation in conversations]
    return "\n\n".join(filter(None, (prompt, beginning))) or None, rest


def history(prompt: Prompt) -> list[dict[str, str]]:
    """The messages of a prompt, each with its role and its text, for judges that take them so; none if some have no text
    or another role.
    """
    if prompt is None or isinstance(prompt, str):
        return []
    turns = [{"role": str(message.get("role")), "content": text_of(message.get("content"))} for message in prompt]
    return turns if all(turn["role"] in _ROLES and turn["content"] for turn in turns) else []


def text_of(content: Any) -> str:
    """The text of the content of a message: a text, or parts of which some have one."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _all_of(steps: tuple[Step, ...]) -> str:
    says_something = any(step.text.strip() or any(parts_beside_text(step)) for step in steps)
    return _marked(steps) if says_something else ""


def _marked(steps: Sequence[Step]) -> str:
    """The messages with the role before each text and each call. Only these stand at the beginning of a line, so that no
    text poses as another message, and equal texts are those of equal messages.
    """
    return "\n\n".join(_indented(part) for step in steps for part in _parts(step))


def _parts(step: Step) -> list[str]:
    calls = [f"{step.role} calls {call.name} with {as_json(call.arguments)}" for call in step.calls]
    return calls if calls and not step.text else [f"{step.role}: {step.text}", *calls]


def _indented(text: str) -> str:
    return "\n    ".join(text.splitlines())


def _read(response: str | list[Message]) -> Conversation:
    if isinstance(response, str):
        return of_text(response)
    conversation = dialects.read(response)
    return conversation if conversation.turns else of_text("")
