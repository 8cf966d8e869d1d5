"""Finds the answer in a judge's message: the visible text, without refusals, tool calls and thinking.

`reasoning_content` and `reasoning` are never searched for a verdict, because a model's considerations are not its
decision. The same holds for thinking that a server left in the content.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, Final

from verifiers.commitment.segment import FIRST_THINKING, THINKING
from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing import decoding, objects

MAX_ANSWER_CHARS: Final = 262_144
"""An answer is some sentences and a verdict; a longer text without thinking is not an answer."""

_CUT: Final = frozenset({"length", "max_tokens", "model_length", "abort", "error"})
_INVISIBLE: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"))
_NAMES: Final = "|".join((*THINKING, *FIRST_THINKING))
_OPENING: Final = re.compile(rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|begin_of_thought\|>", re.IGNORECASE)
_CLOSING: Final = re.compile(rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>", re.IGNORECASE)
_TAG: Final = re.compile(f"{_OPENING.pattern}|{_CLOSING.pattern}", re.IGNORECASE)
_FINAL: Final = re.compile(r"<\|channel\|>[ \t]*final[^<\n]{0,40}(?:<\|constrain\|>[^<\n]{0,40})?<\|message\|>")
_HARMONY_START: Final = re.compile(r"<\|(?:channel|start|message)\|>")
_HARMONY_END: Final = re.compile(r"<\|(?:end|return|call|start|channel)\|>")


def is_cut(finish_reason: str | None) -> bool:
    return finish_reason in _CUT


def answer(message: Mapping[str, Any], finish_reason: str | None) -> str:
    """The text that may hold a verdict, without white space around it; never empty.

    Raises:
        Unparseable: refusal, content_filter, wrong_channel, truncated, empty_output, no_verdict.
    """
    if message.get("refusal"):
        raise Unparseable("refusal", "the model refused")
    if finish_reason == "content_filter":
        raise Unparseable("content_filter", "the endpoint's filter cut the output")
    text = _content(message).translate(_INVISIBLE).replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        raise _absent(message, finish_reason)
    text = _without_thinking(_final_channel(text, finish_reason), finish_reason).strip()
    if not text:
        raise Unparseable("truncated" if is_cut(finish_reason) else "empty_output", "nothing follows the thinking")
    if len(text) > MAX_ANSWER_CHARS:
        raise Unparseable("truncated" if is_cut(finish_reason) else "no_verdict", f"the answer has {len(text)} chars")
    return text


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise Unparseable("wrong_channel", f"content is {type(content).__name__}, not text")
    return "".join(_part(part) for part in content)


def _part(part: Any) -> str:
    """The text of a part of a content list; empty for a part with thinking."""
    if not isinstance(part, Mapping):
        raise Unparseable("wrong_channel", f"a part of content is {type(part).__name__}")
    kind = part.get("type")
    if kind == "refusal" or part.get("refusal"):
        raise Unparseable("refusal", "the model refused")
    text = part.get("text")
    if kind in ("text", "output_text") and isinstance(text, str):
        return text
    if kind in ("thinking", "reasoning", "redacted_thinking"):
        return ""
    raise Unparseable("wrong_channel", "a part of content is not text")


def _absent(message: Mapping[str, Any], finish_reason: str | None) -> Unparseable:
    if is_cut(finish_reason):
        return Unparseable("truncated", "cut before any answer")
    if message.get("tool_calls") or message.get("function_call"):
        return Unparseable("wrong_channel", "a tool call where an answer was asked for")
    if message.get("reasoning_content") or message.get("reasoning"):
        return Unparseable("wrong_channel", "only thinking, no answer")
    return Unparseable("empty_output", "no content")


def _final_channel(text: str, finish_reason: str | None) -> str:
    """The last message of harmony's `final` channel; a text without channels is returned as it is."""
    if text.startswith("{"):
        return text
    finals = list(_FINAL.finditer(text))
    if not finals:
        if _HARMONY_START.match(text) and "<|channel|>" in text:
            raise Unparseable("truncated" if is_cut(finish_reason) else "wrong_channel", "there is no final channel")
        return text
    start = finals[-1].end()
    end = _HARMONY_END.search(text, start)
    if end is None:
        return text[start:].strip()
    if is_cut(finish_reason) and _HARMONY_START.search(text, end.start()):
        raise Unparseable("truncated", "cut in a message after the final one")
    return text[start : end.start()].strip()


def _without_thinking(text: str, finish_reason: str | None) -> str:
    """The text after the last block of thinking.

    A closing tag without an opening one ends thinking that began in the prompt. A tag inside a JSON object that could
    be a verdict belongs to its text, and so does one in the prose after a text that begins as an object. The text after
    an opening tag that begins a line and is never closed is thinking, too.
    """
    if _TAG.search(text) is None:
        return text
    object_spans = _objects_with_tags(text)
    start = 0
    is_object = text.startswith("{")
    for tag in _CLOSING.finditer(text):
        if _is_within(tag.start(), object_spans) or (is_object and not _is_at_edge(text, tag)):
            continue
        if (
            is_object
            and tag.end() == len(text)
            and text[: tag.start()].rstrip(" \t").endswith(("}\n", "}\n\n", "```\n"))
        ):
            # A verdict, then a stray tag: there was no thinking before it.
            return text[: tag.start()]
        start = tag.end()
        is_object = text[start : start + 200].lstrip().startswith("{")
    for tag in _OPENING.finditer(text, start):
        if not _is_within(tag.start(), object_spans) and _starts_line(text, start, tag.start()):
            raise Unparseable("truncated", "thinking that never ends")
    return text[start:]


def _objects_with_tags(text: str) -> list[tuple[int, int]]:
    """Spans of the JSON objects that own their lines and hold tags, from left to right."""
    return [
        (candidate.begin, candidate.end)
        for candidate in objects.candidates(text)
        if candidate.owns_lines and _TAG.search(candidate.source) and _is_json(candidate.source)
    ]


def _is_json(source: str) -> bool:
    try:
        decoding.decode(source)
    except Unparseable as error:
        return error.kind != "invalid_json"
    return True


def _is_within(position: int, spans: list[tuple[int, int]]) -> bool:
    index = bisect_left(spans, (position, 0)) - 1
    return index >= 0 and position < spans[index][1]


def _is_at_edge(text: str, tag: re.Match[str]) -> bool:
    """Whether a tag begins or ends its line; a tag inside prose does neither."""
    tail = text[tag.end() : tag.end() + 200].lstrip(" \t")
    return _starts_line(text, 0, tag.start()) or not tail or tail.startswith("\n")


def _starts_line(text: str, start: int, position: int) -> bool:
    return not text[max(text.rfind("\n", start, position) + 1, start, position - 200) : position].strip()
