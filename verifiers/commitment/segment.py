"""The final segment: the text of a response after its thinking and before the chat tokens at its end."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from verifiers.commitment.extraction import Reason
from verifiers.commitment.parameters import Think
from verifiers.commitment.spans import strip
from verifiers.sightings import Scan


class Segment(msgspec.Struct, frozen=True):
    """The part of a response that may hold the answer."""

    start: int
    end: int
    reason: Reason
    """`found`, or the reason why there is no text to read (`truncated`, `no_answer`, `empty`)."""


THINKING: Final = ("think", "thinking", "thought", "thoughts", "reasoning", "scratchpad", "seed:think", "longcat_think")
"""The names of tags around thinking."""
FIRST_THINKING: Final = ("reason", "reflection", "analysis", "planning")
"""The same where they begin a response; elsewhere they may be a part of the answer."""
_NAMES = "|".join(THINKING)
_NAME = rf"(?:{_NAMES})\s{{0,4}}>"
_THINK_TAG = re.compile(rf"<(?:(?P<close>/){_NAME}|{_NAME}|\|(?:begin|(?P<end>end))_of_thought\|>)", re.IGNORECASE)
"""The alternatives begin with different characters, so that one character rules out most other tags."""
_MAX_THINK_TAG_CHARS = 32
_TAG_BEGINS = rf"/?(?:{_NAMES})|\|(?:begin|end)_of_thought"
_THINK_TAG_BEGINS = Scan(f"(?i)<(?:{_TAG_BEGINS})")
_FEW_TAGS = 6
"""Tags at the end of a text: those of an answer, and the one that closes thinking."""
_FEW_CHARS = 200
"""The number of characters between the first and the last tag. Up to this many, `_THINK_TAG` itself is faster."""
_OTHER_THINK_TAG = re.compile(r"\[(?P<close>/?)THINK\]|◁(?P<end>/?)think▷|&lt;(?P<escaped>/?)think(?:ing)?&gt;")
_BARRED = r"<[|｜](?!box|object_ref|tool|quad)[^<>|｜\s]{1,40}[|｜]>"
_ANGLED = r"bos|eo[a-z]{1,2}|pad|unk|[a-z]{2,12}_of_[a-z]{2,12}"
_CHAT_TOKEN = re.compile(rf"(?:{_BARRED}|</?s>|<(?:{_ANGLED})>|\[(?:PAD|[BE]OS)\])")
"""A token of a chat template at the end of a text, by its form: `<|im_end|>`, `<｜end▁of▁sentence｜>`, `<eos>`, `<eoa>`."""
_OPENINGS = {">": "<", "]": "["}
_FULL_STOPS = ".。"
_MAX_TOKEN_CHARS = 48
_MAX_CHAT_TOKENS = 100_000


def final_segment(response: str, think: Think = "auto") -> Segment:
    """The text after thinking, without surrounding space and without the chat tokens at its end."""
    start, end = 0, len(response)
    if think != "none":
        last_open, last_close = _think_tags(response)
        if last_open > last_close:
            return Segment(end, end, "truncated")
        if think == "required" and last_close < 0:
            return Segment(end, end, "no_answer")
        start = max(last_close, 0)
        spoken = _behind_thought_tokens(response, start)
        if spoken is None:
            return Segment(end, end, "truncated")
        start = spoken
    end = _without_chat_tokens(response, start, end)
    start, end = strip(response, start, end)
    return Segment(start, end, "found" if start < end else "empty")


def _think_tags(text: str) -> tuple[int, int]:
    """The end positions of the last opening and the last closing tag; -1 if there is none, or another kind is later.

    Looking for one character is many times faster than any other search, so that comes first.
    """
    last_open = last_close = -1
    if (last := text.rfind("<")) >= 0:
        last_open, last_close = _last_think_tag(text, last)
    may_be_escaped = "&" in text and "think" in text and "&gt;" in text
    if ("K" in text and text.rfind("THINK]") >= 0) or "▷" in text or may_be_escaped:
        other_open, other_close = _last_tags(_OTHER_THINK_TAG.finditer(text))
        last_open, last_close = max(last_open, other_open), max(last_close, other_close)
    return last_open, last_close


def _last_think_tag(text: str, last: int) -> tuple[int, int]:
    """The same for the tags that begin with `<`; the last `<` is at `last`."""
    end = last + _MAX_THINK_TAG_CHARS
    index = last
    for _ in range(_FEW_TAGS):
        if tag := _THINK_TAG.match(text, index, end):
            return _last_tags((tag,))
        index = text.rfind("<", 0, index)
        if index < 0:
            return -1, -1
    first = text.find("<")
    if index - first <= _FEW_CHARS or _may_hold_think_tag(text, first, end):
        return _last_tags(_THINK_TAG.finditer(text, first, index + _MAX_THINK_TAG_CHARS))
    return -1, -1


def thinking(response: str) -> list[bool]:
    """Whether each think tag closes, in the order of the text."""
    matches = [*_THINK_TAG.finditer(response), *_OTHER_THINK_TAG.finditer(response)]
    return [any(tag.groups()) for tag in sorted(matches, key=re.Match.start)]


def _last_tags(tags: Iterable[re.Match[str]]) -> tuple[int, int]:
    last_open = last_close = -1
    for tag in tags:
        if any(tag.groups()):
            last_close = tag.end()
        else:
            last_open = tag.end()
    return last_open, last_close


def _may_hold_think_tag(text: str, start: int, end: int) -> bool:
    """Whether a text may hold a think tag. Most documents with many tags hold none."""
    if text.isascii():
        return _THINK_TAG_BEGINS.find(text.encode(), start, min(end, len(text))) is not None
    return _WIDER_THINK_TAG_BEGINS.is_in(text[start:end].encode("utf-8", "surrogatepass"))


_WIDER = {"i": "(?:i|İ|ı)", "s": "(?:s|ſ)", "k": "(?:k|\u212a)"}
_WIDER_THINK_TAG_BEGINS = Scan(f"(?i)<(?:{''.join(_WIDER.get(char, char) for char in _TAG_BEGINS)})")
"""The letters of think tags in UTF-8, with the letters beyond ASCII that equal one of them when case is ignored."""
_THOUGHTS = (
    (re.compile(r"<\|channel\|>analysis<\|message\|>"), "<|end|>"),
    (re.compile(r"<\|START_THINKING\|>"), "<|END_THINKING|>"),
    (re.compile(r"<\|im_start\|>think(?![a-z])"), "<|im_end|>"),
    (re.compile(r"<unused94>"), "<unused95>"),
    (re.compile(r"<\|inner_prefix\|>"), "<|inner_suffix|>"),
    *((re.compile(rf"\A\s{{0,8}}<{name}>"), f"</{name}>") for name in FIRST_THINKING),
    (
        re.compile(
            r"<details[^<>]{0,80}>\s{0,4}<summary>\s{0,4}(?:th(?:ink|ought)|reasoning)[^<>]{0,60}</summary>",
            re.IGNORECASE,
        ),
        "</details>",
    ),
)
"""What begins and ends thinking in the own tokens of gpt-oss (Harmony), Cohere's models, s1, MedGemma and Apertus, and as a fold."""
_ANY_TOKEN = re.compile(rf"<(?:\||unused94|details|(?:{'|'.join(FIRST_THINKING)})>)")
"""The common beginning of all tokens. This search is twice as fast as `in`, and much faster if a sign is missing."""
_FINAL_CHANNEL = r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
_SPOKEN = re.compile(
    rf"\s{{0,8}}(?:{_FINAL_CHANNEL}|<\|START_RESPONSE\|>|<\|begin_of_solution\|>|<\|im_start\|>(?:answer|assistant))"
)
"""The tokens that begin an answer behind thinking."""


def _behind_thought_tokens(text: str, start: int) -> int | None:
    """The end of thinking in a model's own tokens; None if it never ends."""
    if text.find("<", start) < 0 or _ANY_TOKEN.search(text, start) is None:
        return start
    for opening, closing in _THOUGHTS:
        if origins := [match.end() for match in opening.finditer(text, start)]:
            if (stop := text.find(closing, origins[-1])) < 0:
                return None
            start = stop + len(closing)
    spoken = _SPOKEN.match(text, start)
    return start if spoken is None else spoken.end()


def _without_chat_tokens(text: str, start: int, end: int) -> int:
    for _ in range(_MAX_CHAT_TOKENS):
        _, end = strip(text, start, end)
        stop = end - (start < end and text[end - 1] in _FULL_STOPS)
        if start >= stop or (opening := _OPENINGS.get(text[stop - 1])) is None:
            break
        at = text.rfind(opening, max(start, stop - _MAX_TOKEN_CHARS), stop)
        if at < 0 or _CHAT_TOKEN.fullmatch(text, at, stop) is None:
            break
        end = at
    return end
