"""Renders the messages for a judge: our instructions, and quoted data.

    <<<RESPONSE 3f09c1a2b7de
    ...
    >>>RESPONSE 3f09c1a2b7de

Every data field is neutralised, clipped and put between fences with a tag that its author cannot know: a keyed hash of
the data. The tags of question and reference do not depend on the response, so that the prompts of a group of responses
begin with the same bytes; the tag of the response depends on all of it. Rendering is deterministic.

This guarantees the form of the prompt, but not how a judge reacts to a persuasive sentence.
"""

import hmac
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal

from verifiers.judge.rendering.clipping import clipped, shortened
from verifiers.judge.rendering.neutral import has_control_tokens, has_fences, has_hidden, neutralise
from verifiers.judge.rendering.templates import MissingData, Prompt, Slot

__all__ = ["Data", "Encoding", "Limits", "MissingData", "Prompt", "Rendered", "TooLarge", "render"]

Encoding = Literal["fence", "quote_lines", "json"]
_TAG_CHARS: Final = 12
_HIDDEN: Final = "·" * _TAG_CHARS
MIN_CHARS: Final = 100
"""No text is cut to fewer characters."""
_JSON_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


class TooLarge(ValueError):
    """An item has more criteria or steps than a judge is shown; leaving some out would change the question."""


@dataclass(frozen=True, slots=True)
class Data:
    """The data of an item for its prompt; a prompt shows the data that it has slots for."""

    question: str | None = None
    references: Sequence[str] = ()
    """References, any of which is right."""
    response: str | None = None
    """Response A of a pair."""
    response_b: str | None = None
    criteria: Mapping[str, str] | None = None
    """The texts of criteria by id."""
    steps: Sequence[str] | None = None
    replies: Sequence[str] | None = None
    """Several responses to one question."""
    history: Sequence[tuple[str, str]] = ()
    """The role and the text of each message of the conversation, for prompts of roles: in the place of the question."""
    principle: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on the neutralised texts."""

    question_chars: int = 16_000
    reference_chars: int = 16_000
    """The limit for all references together."""
    response_chars: int = 32_000
    """The limit for each response, or for all steps together."""
    criterion_chars: int = 32_000
    criteria: int = 64
    steps: int = 200


@dataclass(frozen=True, slots=True)
class Rendered:
    messages: tuple[Mapping[str, str], ...]
    flags: tuple[str, ...]
    """`truncated_response`, `truncated_question`, ...: the middle was left out; `neutralised_response`: the response
    held control tokens, hidden characters or fences."""
    sha256: str
    """A hash of the messages."""
    tags: frozenset[str] = frozenset()
    """The tags of the fences. Nobody may see them who could write a text for a judge."""

    def shown(self, max_chars: int) -> list[dict[str, str]]:
        """The messages for people: without the tags, and without the middle of a message that is longer."""
        return [{**message, "content": self.masked(message["content"], max_chars)} for message in self.messages]

    def masked(self, text: str, max_chars: int) -> str:
        """The same for one text that belongs to the messages, such as an answer."""
        for tag in self.tags:
            text = text.replace(tag, _HIDDEN)
        return shortened(text, max_chars)


def render(
    prompt: Prompt,
    data: Data,
    *,
    secret: bytes,
    limits: Limits = Limits(),
    control_tokens: Sequence[str] = (),
    encoding: Encoding = "fence",
) -> Rendered:
    """The messages for one item.

    Raises:
        MissingData: the prompt shows data that the item does not have.
        TooLarge: more criteria or steps than the limits allow.
    """
    texts, cut = _texts(data, limits, tuple(control_tokens))
    texts = {slot: _encoded(text, encoding) for slot, text in texts.items() if slot in prompt.slots}
    tags = {} if prompt.roles else _tags(data, secret, texts)
    messages: tuple[Mapping[str, str], ...]
    if prompt.roles:
        turns, is_cut = _turns(data.history, limits.question_chars, tuple(control_tokens))
        cut |= {"question"} if is_cut else set()
        messages = tuple(
            message
            for role, slot in prompt.roles
            for message in (turns if turns and slot.name == "question" else _message(prompt, role, slot, texts))
        )
    else:
        sections = {slot: _section(slot, text, tags[slot]) for slot, text in texts.items()}
        messages = ({"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.fill(sections)})
    flags = [f"truncated_{_plain(slot)}" for slot in texts if slot in cut]
    if _tries_something(data, 2 * limits.response_chars):
        flags.append("neutralised_response")
    return Rendered(messages, tuple(dict.fromkeys(flags)), _hash(messages), frozenset(tags.values()))


def _turns(
    history: Sequence[tuple[str, str]], limit_chars: int, tokens: tuple[str, ...]
) -> tuple[list[Mapping[str, str]], bool]:
    """The messages of a conversation, and whether some were clipped."""
    texts = _together([text for _, text in history], limit_chars, tokens) if history else []
    turns = [{"role": role, "content": text} for (role, _), (text, _) in zip(history, texts, strict=True)]
    return [*turns], any(is_cut for _, is_cut in texts)


def _message(prompt: Prompt, role: str, slot: Slot, texts: Mapping[str, str]) -> list[Mapping[str, str]]:
    """The message of a role; none if it has no data and needs none."""
    if slot.is_optional and slot.name not in texts:
        return []
    return [{"role": role, "content": prompt.shown(slot.name, texts)}]


def _texts(data: Data, limits: Limits, tokens: tuple[str, ...]) -> tuple[dict[str, str], set[str]]:
    """The text of each section of an item, and the sections that were clipped."""
    texts: dict[str, tuple[str, bool]] = {}
    if data.question is not None:
        texts["question"] = clipped(data.question, limits.question_chars, tokens)
    if data.principle:
        texts["principle"] = clipped(data.principle, limits.question_chars, tokens)
    if data.references:
        texts["reference"] = _references(data.references, limits.reference_chars, tokens)
    if data.response is not None:
        texts["response"] = clipped(data.response, limits.response_chars, tokens)
    if data.response is not None and data.response_b is not None:
        texts["response_a"] = texts.pop("response")
        texts["response_b"] = clipped(data.response_b, limits.response_chars, tokens)
    if data.criteria is not None:
        texts["criteria"] = _criteria(data.criteria, limits, tokens)
    if data.steps is not None:
        texts["steps"] = _steps(data.steps, limits, tokens)
    if data.replies is not None:
        texts["replies"] = _steps(data.replies, limits, tokens)
    return {slot: text for slot, (text, _) in texts.items()}, {slot for slot, (_, is_cut) in texts.items() if is_cut}


def _references(references: Sequence[str], limit_chars: int, tokens: tuple[str, ...]) -> tuple[str, bool]:
    if len(references) == 1:
        return clipped(references[0], limit_chars, tokens)
    clipped_texts = _together(references, limit_chars, tokens)
    return "\n".join(f"({number}) {_indented(text)}" for number, (text, _) in enumerate(clipped_texts, 1)), any(
        is_cut for _, is_cut in clipped_texts
    )


def _together(texts: Sequence[str], limit_chars: int, tokens: tuple[str, ...]) -> list[tuple[str, bool]]:
    """Fit several texts into one limit: long texts are clipped to equal lengths, short ones are kept."""
    clipped_texts = [clipped(text, _share(list(map(len, texts)), limit_chars), tokens) for text in texts]
    if sum(len(text) for text, _ in clipped_texts) > limit_chars:
        share = max(MIN_CHARS, limit_chars // len(texts))
        clipped_texts = [clipped(text, share, tokens) for text in texts]
    return clipped_texts


def _share(lengths: list[int], limit: int) -> int:
    """The length to which texts must be cut so that all of them fit the limit."""
    for position, length in enumerate(sorted(lengths)):
        share = max(MIN_CHARS, limit // (len(lengths) - position))
        if length > share:
            return share
        limit -= length
    return max(MIN_CHARS, *lengths)


def _criteria(criteria: Mapping[str, str], limits: Limits, tokens: tuple[str, ...]) -> tuple[str, bool]:
    """Render criteria as `- id: text`; further lines are indented, so that none looks like another criterion."""
    if len(criteria) > limits.criteria:
        raise TooLarge(f"{len(criteria)} criteria; the limit is {limits.criteria}")
    clipped_texts = [
        (" ".join(neutralise(name, tokens).split()), clipped(text, limits.criterion_chars, tokens))
        for name, text in criteria.items()
    ]
    return "\n".join(f"- {name}: {_indented(text)}" for name, (text, _) in clipped_texts), any(
        is_cut for _, (_, is_cut) in clipped_texts
    )


def _steps(steps: Sequence[str], limits: Limits, tokens: tuple[str, ...]) -> tuple[str, bool]:
    """Render steps, or replies; every line begins with the number of its step, so that a step cannot pose as several."""
    if len(steps) > limits.steps:
        raise TooLarge(f"{len(steps)} steps; the limit is {limits.steps}")
    clipped_texts = _together(steps, limits.response_chars, tokens)
    lines = [f"{number}| {line}" for number, (text, _) in enumerate(clipped_texts, 1) for line in text.split("\n")]
    return "\n".join(lines), any(is_cut for _, is_cut in clipped_texts)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def _encoded(text: str, encoding: Encoding) -> str:
    if encoding == "quote_lines":
        return "\n".join(f"| {line}" for line in text.split("\n"))
    if encoding == "json":
        return json.dumps(text, ensure_ascii=False).translate(_JSON_ESCAPES)
    return text


def _section(slot: str, text: str, tag: str) -> str:
    name = slot.upper()
    return f"<<<{name} {tag}\n{text}\n>>>{name} {tag}"


def _tags(data: Data, secret: bytes, texts: Mapping[str, str]) -> dict[str, str]:
    """A tag for each section that occurs in no text; a match is possible by chance only."""
    shared = [data.question, *data.references]
    answers = [data.response, data.response_b, *(data.steps or ()), *(data.replies or ())]
    sources = {
        "question": ("shared", shared),
        "principle": ("shared", shared),
        "reference": ("shared", shared),
        "criteria": ("criteria", [*shared, *(part for pair in (data.criteria or {}).items() for part in pair)]),
    }
    by_kind = dict([*sources.values(), ("response", [*shared, None, *answers])])
    tags = {kind: _absent_tag(secret, kind, fields, texts.values()) for kind, fields in by_kind.items()}
    return {slot: tags[sources[slot][0] if slot in sources else "response"] for slot in texts}


def _absent_tag(secret: bytes, kind: str, fields: Sequence[str | None], texts: Collection[str]) -> str:
    for number in itertools.count():
        tag = _tag(secret, kind, number, fields)
        if not any(tag in text for text in texts):
            return tag
    raise AssertionError


def _tag(secret: bytes, kind: str, number: int, fields: Sequence[str | None]) -> str:
    mac = hmac.new(secret, f"{kind} {number}".encode(), sha256)
    for field in fields:
        encoded = b"" if field is None else field.encode("utf-8", "surrogatepass")
        mac.update(f" {-1 if field is None else len(encoded)}:".encode() + encoded)
    return mac.hexdigest()[:_TAG_CHARS]


def _tries_something(data: Data, reach: int) -> bool:
    """Whether the shown part of a response holds something that had to be neutralised."""
    answers = (data.response, data.response_b, *(data.steps or ()), *(data.replies or ()))
    edges = [part for answer in answers if answer is not None for part in (answer[:reach], answer[reach:][-reach:])]
    return any(has_hidden(answer) or has_fences(answer) or has_control_tokens(answer) for answer in edges)


def _plain(slot: str) -> str:
    return "response" if slot.startswith("response") else slot


def _hash(messages: Sequence[Mapping[str, str]]) -> str:
    return sha256(json.dumps(messages, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
