r"""The one place of answer extraction: which part of a response is its answer.

    response ──final_segment──► the text after thinking ──channels, in order──► candidates ──commitment──► one answer

*Final segment.* Text after the last closing think tag, without the chat tokens a tokenizer leaves at the end. Thinking
that was opened and never closed is a truncated response: nothing in it is an answer.

*Channels.* The first channel that is used at all decides. An explicit channel that is used badly (an empty or unclosed
last box, an answer tag never closed) gives no answer; it never makes an earlier number one.

*Commitment.* Several different offers in one channel: a later one corrects an earlier one. Offers made in one breath do
not commit to any ("\boxed{1} or \boxed{2}", boxes side by side, three in a short run): `conflicting_answers`, whatever
the policy. Boxes linked by "and" or a comma are parts of one answer, given as "a, b". `on_conflict="reject"` accepts no
two different offers at all.

Every step is linear in the length of the response, whatever is in it, and looks at the last `_MAX_OFFERS` offers of a
channel. The regular expressions here hold no nested or unbounded-then-unbounded repetition.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

from verifiers.base import Params, clip

Think = Literal["auto", "required", "none"]
OnConflict = Literal["last", "reject"]
Reason = Literal["found", "no_answer", "truncated", "conflicting_answers", "empty"]


class Channel(StrEnum):
    """A way in which a response may give its answer."""

    ANSWER_TAG = "answer_tag"
    """The last `<answer>…</answer>`; a box inside it counts as its content."""
    BOXED = "boxed"
    r"""The last `\boxed{…}`, `\fbox{…}` or `\framebox{…}`, or `\boxed 42`."""
    HASH4 = "hash4"
    """The last `#### …`, as in GSM8K."""
    ANSWER_LINE = "answer_line"
    """`The final answer is …`, `Answer: …`, `答案是…` and their like, up to the end of the sentence or line."""
    LAST_NUMBER = "last_number"
    """The last number of the text, if it stands alone: not part of an expression, a range or a time."""
    LAST_LINE = "last_line"
    """The last line that is not blank."""
    WHOLE = "whole"
    """All of the text."""


DEFAULT_CHANNELS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.LAST_NUMBER)
"""What `auto` means, unless a verifier says otherwise."""


class ExtractionParams(Params):
    """The parameters every verifier has that judges an answer inside a response."""

    think: Think = "auto"
    """Which text is judged. auto: after the last closing think tag; required: there must be one; none: all of it."""
    extract: Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=7)] = "auto"
    """The channels to look at, in order; the first one that the response uses decides."""
    on_conflict: OnConflict = "last"
    """Several different answers: the last one, or none."""


class Candidate(msgspec.Struct, frozen=True):
    """One answer that the response offered."""

    text: str
    channel: Channel
    span: tuple[int, int]
    """Where `text` stands in the original response."""


class Extraction(msgspec.Struct, frozen=True):
    """The answer of a response, or why there is none."""

    answer: str | None
    channel: Channel | None
    """Which channel decided; None when no channel was used."""
    span: tuple[int, int] | None
    """Where the answer stands in the original response; of an answer in several parts, from first to last."""
    reason: Reason
    """`found` exactly when there is an answer."""
    candidates: tuple[Candidate, ...] = ()
    """What was offered in the deciding channel, in order; the last `_MAX_CANDIDATES` of them."""

    def detail(self, explain: bool = False) -> dict[str, Any]:
        """What a verdict says about it: `channel` and `span`; with `explain`, the candidates too."""
        detail: dict[str, Any] = {}
        if self.channel is not None:
            detail["channel"] = self.channel.value
        if self.span is not None:
            detail["span"] = list(self.span)
        if explain:
            detail["candidates"] = [clip(candidate.text) for candidate in self.candidates]
        return detail


class Segment(msgspec.Struct, frozen=True):
    """The part of a response that may hold the answer."""

    start: int
    end: int
    reason: Reason
    """`found`, or why there is nothing to look at (`truncated`, `no_answer`, `empty`)."""


_MAX_OFFERS = 256
_MAX_CANDIDATES = 16


def extract(response: str, params: ExtractionParams, auto: Sequence[Channel] = DEFAULT_CHANNELS) -> Extraction:
    """Find the answer. Never raises; `auto` is the order of channels for `extract="auto"`."""
    segment = final_segment(response, params.think)
    if segment.reason != "found":
        return Extraction(None, None, None, segment.reason)
    explicit = params.extract != "auto"
    for channel in _channels(params.extract, auto):
        offers = _offers(response, segment.start, segment.end, channel, explicit)
        if offers.reason is None and not offers.items:
            continue
        return _commit(response, channel, offers, params.on_conflict)
    return Extraction(None, None, None, "no_answer")


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
    end = _without_chat_tokens(response, start, end)
    start, end = _strip(response, start, end)
    return Segment(start, end, "found" if start < end else "empty")


def fold(text: str) -> str:
    """NFKC, without invisible format characters: for comparing answers, never for locating them."""
    if text.isascii():
        return text
    normal = unicodedata.normalize("NFKC", text)
    return "".join(char for char in normal if unicodedata.category(char) != "Cf")


def names_alternatives(text: str) -> bool:
    """Whether a bare answer names alternatives ("1 or 2"), which commits to none of them."""
    return len(text) <= _MAX_GAP_CHARS and _OR.search(text) is not None and not _RELATION.search(text)


# --- the final segment

_THINK_TAG = re.compile(
    r"<(?P<close>/?)(?:think|thinking|reasoning|thought|seed:think)\s{0,4}>"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>",
    re.IGNORECASE,
)
_OTHER_THINK_TAG = re.compile(r"\[(?P<close>/?)THINK\]|◁(?P<end>/?)think▷")
_CHAT_TOKENS = (
    "<|endoftext|>",
    "<|im_end|>",
    "<|im_start|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<|end_of_solution|>",
    "<|begin_of_solution|>",
    "<|end_of_sentence|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<eos>",
    "<pad>",
    "<|pad|>",
    "<s>",
    "</s>",
    "[PAD]",
    "[EOS]",
)
_MAX_CHAT_TOKENS = 100_000
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\ufeff")


def _think_tags(text: str) -> tuple[int, int]:
    """End positions of the last opening and the last closing tag; -1 where there is none."""
    last_open = last_close = -1
    if "<" not in text and "THINK]" not in text and "think▷" not in text:
        return last_open, last_close
    for pattern in (_THINK_TAG, _OTHER_THINK_TAG):
        if pattern is _OTHER_THINK_TAG and "THINK]" not in text and "think▷" not in text:
            continue
        for match in pattern.finditer(text):
            if match["close"] or match["end"]:
                last_close = max(last_close, match.end())
            else:
                last_open = max(last_open, match.end())
    return last_open, last_close


def _without_chat_tokens(text: str, start: int, end: int) -> int:
    for _ in range(_MAX_CHAT_TOKENS):
        _, end = _strip(text, start, end)
        if not text.endswith(_CHAT_TOKENS, start, end):
            break
        end -= next(len(token) for token in _CHAT_TOKENS if text.endswith(token, start, end))
    return end


def _strip(text: str, start: int, end: int, extra: str = "") -> tuple[int, int]:
    """Narrow a span past space, invisible characters and `extra`."""
    while start < end and ((char := text[start]).isspace() or char in _INVISIBLE or char in extra):
        start += 1
    while start < end and ((char := text[end - 1]).isspace() or char in _INVISIBLE or char in extra):
        end -= 1
    return start, end


# --- offers: what one channel holds


class _Offer(msgspec.Struct, frozen=True):
    """An answer (`start`, `end`) and the text that makes it one (`outer_start`, `outer_end`)."""

    start: int
    end: int
    outer_start: int
    outer_end: int


class _Offers(msgspec.Struct, frozen=True):
    items: Sequence[_Offer] = ()
    reason: Reason | None = None
    """Set when the channel was used, and its last use holds no answer."""


_NONE = _Offers()


def _channels(wanted: Literal["auto"] | Channel | tuple[Channel, ...], auto: Sequence[Channel]) -> Sequence[Channel]:
    if isinstance(wanted, Channel):
        return (wanted,)
    return wanted if isinstance(wanted, tuple) else auto


def _offers(text: str, start: int, end: int, channel: Channel, explicit: bool) -> _Offers:
    match channel:
        case Channel.ANSWER_TAG:
            return _tags(text, start, end)
        case Channel.BOXED:
            return _boxes(text, start, end)
        case Channel.HASH4:
            return _hashes(text, start, end, headings=explicit)
        case Channel.ANSWER_LINE:
            return _lines(text, start, end)
        case Channel.LAST_NUMBER:
            return _numbers(text, start, end)
        case Channel.LAST_LINE:
            line_start = _strip(text, max(start, text.rfind("\n", start, end) + 1), end)[0]
            return _Offers((_Offer(line_start, end, line_start, end),))
        case Channel.WHOLE:
            return _Offers((_Offer(start, end, start, end),))


def _last(positions: Iterable[re.Match[str]], count: int = _MAX_OFFERS) -> list[re.Match[str]]:
    return list(deque(positions, maxlen=count))


def _with_boxes(text: str, offers: Sequence[_Offer]) -> _Offers:
    """The same offers, each narrowed to the boxes inside it; the last one decides whether there is an answer."""
    items: list[_Offer] = []
    reason: Reason | None = None
    for offer in offers:
        inner = _boxes(text, offer.start, offer.end)
        reason = inner.reason or ("no_answer" if offer.start == offer.end else None)
        if reason is None and not inner.items:
            items.append(offer)
        elif reason is None:
            first, last = inner.items[0], inner.items[-1]
            items.extend(inner.items)
            items[-len(inner.items)] = msgspec.structs.replace(first, outer_start=offer.outer_start)
            items[-1] = msgspec.structs.replace(items[-1], outer_end=max(offer.outer_end, last.outer_end))
    return _Offers(items, reason)


_ANSWER_TAG = re.compile(r"<(/?)answer\s{0,4}>", re.IGNORECASE)


def _tags(text: str, start: int, end: int) -> _Offers:
    offers: list[_Offer] = []
    opened: re.Match[str] | None = None
    for match in _last(_ANSWER_TAG.finditer(text, start, end), 2 * _MAX_OFFERS):
        if not match[1]:
            opened = match
        elif opened is not None:
            inner = _unwrap(text, *_strip(text, opened.end(), match.start()))
            offers.append(_Offer(*inner, opened.start(), match.end()))
            opened = None
    if opened is not None:
        return _Offers(offers, "truncated")
    return _with_boxes(text, offers)


_BOX_OPENING = re.compile(r"(?:\s{0,8}\[[^\]\n]{0,40}\]){0,2}\s{0,8}\{")
_BOX_BARE = re.compile(r"\s{0,8}((?:[-+−]?\d|\\[A-Za-z])[^\s$]{0,200}|[A-Za-z](?![A-Za-z]))")
_BRACES = re.compile(r"(\\{1,2}(?:boxed|fbox|framebox)(?![A-Za-z]))|\\.|(\{+)|\}+", re.DOTALL)


@dataclass(slots=True)
class _OpenBox:
    depth: int
    outer_start: int
    start: int


def _boxes(text: str, start: int, end: int) -> _Offers:
    """Closed boxes that are in no other closed box; a box that holds just another box is that one."""
    first = _first_box(text, start, end)
    if first is None:
        return _NONE
    closed: list[_Offer] = []
    opened: list[_OpenBox] = []
    depth, position = 0, first
    while match := _BRACES.search(text, position, end):
        position = match.end()
        if match[1]:
            if opening := _BOX_OPENING.match(text, position, end):
                depth, position = depth + 1, opening.end()
                opened.append(_OpenBox(depth, match.start(), position))
            elif bare := _BOX_BARE.match(text, position, end):
                stop = bare.start(1) + len(bare[1].rstrip(".,;:!?)*。，"))
                position = max(stop, bare.start(1) + 1)
                closed.append(_Offer(bare.start(1), stop, match.start(), stop))
            elif not _strip_is_empty_after(text, position, end):
                opened.append(_OpenBox(depth + 1, match.start(), end))
        elif match[2]:
            depth += len(match[2])
        elif match[0][0] == "}":
            after = max(depth - len(match[0]), 0)
            while opened and opened[-1].depth > after:
                box = opened.pop()
                _close(text, closed, box, match.start() + depth - box.depth)
            depth = after
    if opened and (not closed or opened[-1].outer_start > closed[-1].outer_start):
        return _Offers(closed, "truncated")
    if not closed:
        return _NONE
    usable = [box for box in closed if box.start < box.end and not _is_negated(text, start, box.outer_start)]
    return _Offers(usable, None if usable and closed[-1].start < closed[-1].end else "no_answer")


def _first_box(text: str, start: int, end: int) -> int | None:
    """Where the first of the last boxes begins."""
    first, position = None, end
    for _ in range(_MAX_OFFERS):
        position = text.rfind("box", start, position)
        if position < 0:
            break
        name = next((name for name in ("\\", "\\f", "\\frame") if text.endswith(name, start, position)), None)
        if name is not None:
            first = position - len(name)
    return first


def _strip_is_empty_after(text: str, position: int, end: int) -> bool:
    r"""Whether there is anything at all after a bare `\boxed`: then it is a word about boxes, else a cut one."""
    return _strip(text, position, end)[0] < end


def _close(text: str, closed: list[_Offer], box: _OpenBox, stop: int) -> None:
    inner: list[_Offer] = []
    while closed and closed[-1].outer_start > box.outer_start:
        inner.append(closed.pop())
    start, end = _unwrap(text, *_strip(text, box.start, stop))
    if len(inner) == 1 and (inner[0].outer_start, inner[0].outer_end) == (start, end):
        start, end = inner[0].start, inner[0].end
    closed.append(_Offer(start, end, box.outer_start, stop + 1))


def _is_negated(text: str, start: int, position: int) -> bool:
    return _NEGATION_BEFORE.search(text[max(start, position - 40) : position]) is not None


_NEGATION_BEFORE = re.compile(
    r"(?:\b(?:not|never|rather than|instead of)|n['’]t(?: be)?|不是|并非)[\s$*(\\]{0,8}$", re.I
)

_HASH4 = re.compile(r"####(?<!#####)(?!#)[ \t]{0,8}([^\n]*)")
"""Exactly four; the pattern begins with them, so that the engine looks for them at once."""
_NUMBERED_HEADING = re.compile(r"\d{1,3}[.)、:]\s+\S")
_STARTS_AS_NUMBER = re.compile(r"[-+−$€£¥\\({*\s]{0,6}\d")


def _hashes(text: str, start: int, end: int, headings: bool) -> _Offers:
    """Lines behind `####`. Unless `headings`, one that looks like a markdown heading is none."""
    if text.find("####", start, end) < 0:
        return _NONE
    offers: list[_Offer] = []
    for match in _last(_HASH4.finditer(text, start, end)):
        inner = _trim(text, match.start(1), match.end(1))
        is_last = _strip(text, match.end(), end)[0] == end
        is_value = _STARTS_AS_NUMBER.match(match[1]) and not _NUMBERED_HEADING.match(match[1])
        if headings or is_last or is_value:
            offers.append(_Offer(*inner, match.start(), match.end()))
    return _with_boxes(text, offers)


# --- answer lines

_ANSWER_WORD = re.compile(
    r"(?P<word>answers?\b|(?:correct|right|best)\s(?:option|choice)\b|respuesta\b|réponse\b|antwort\b|resposta\b|risposta\b|ответ\b)"
    r"|(?P<cjk>答案|答え|정답|الإجابة)",
    re.IGNORECASE,
)
_ANSWER_STEMS = (
    *("answer", "correct", "right", "best", "respuesta", "réponse", "antwort", "resposta", "risposta", "ответ"),
    *("答案", "答え", "정답", "الإجابة"),
)
_AFTER_WORD = re.compile(
    r"[ \t*_`\"'’)\]]{0,8}"
    r"(?:(?:to|for|of|in)\b[^.:：。\n]{0,80}?\s)?"
    r"(?:(?:corre[ct]{1,2}[ae]|finale?|richtige)\s{1,4})?"
    r"(?:(?P<verb>(?:is|are|was|equals|(?:would|should|must|will) be|es|est|ist|lautet|é|è)(?!\w))"
    r"[ \t*_]{0,6}[:：]?|(?P<colon>[:：=—]|-\s)|(?P<heading>[*_#:： \t]{0,8}$))",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_CJK = re.compile(
    r"(?:[ \t*_`]|الصحيحة){0,8}(?:(?:就是|应该是|应当是|应该为|应为|应是|是|为|為|等于|選|选|は|은|는|هي|هو)[ \t*_]{0,6}[:：]?|[:：=]|】[:：]?)"
)
_BEFORE_WORD = re.compile(
    r"(?:\b(?:so|thus|hence|therefore|and|or)\b,?\s{1,3})?(?:\b(?:the|my|our|la|die|il|a)\s{1,3})?"
    r"(?:\b(?:final|correct|right|best|only|actual|richtige|correcta)\s{1,3}){0,3}$|[所以故因此最终正确的最后]{1,8}$",
    re.IGNORECASE,
)
_NOT_GIVING = re.compile(
    r"\b(?:find|get|give|obtain|determine|compute|calculate|check|verify|write|reach|provide|box|express|format|your|an)"
    r"\s{1,3}(?:(?:the|my|our|a)\s{1,3})?(?:(?:final|correct|right)\s{1,3}){0,2}$",
    re.IGNORECASE,
)
_HEADING_START = re.compile(r"(?:^|\n)[#*\s>_\-✅]{0,12}(?:the\s)?(?:final\s|correct\s){0,2}$", re.IGNORECASE)
_REMARK = re.compile(
    r"(?:in)?(?:correct|right|wrong|reasonable|valid|verified|plausible|consistent|clear|obvious|unknown|as follows|below"
    r"|above)\b",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\n|[。！？；]|[.?!](?=[*_`\"'”’)\]$]{0,3}(?:\s|$))")
_NOT_BUT = re.compile(r"[\s*$]{0,4}not\b[^\n]{0,80}?\bbut\b", re.IGNORECASE)
_NOT = re.compile(r"[\s*$]{0,4}(?:not\b|n['’]t\b|不)", re.IGNORECASE)
_BECAUSE = re.compile(
    r"[\s,，(（;—-]{1,4}(?:because|since|as (?:required|desired|expected|shown|needed)|which|due to|so that|因为|由于)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_DISPLAY_MATH = {"$$": "$$", "\\[": "\\]"}
_MAX_LINE_CHARS = 4000
_BEFORE_CHARS = 60


def _lines(text: str, start: int, end: int) -> _Offers:
    triggers = [
        trigger for word in _answer_words(text, start, end) if (trigger := _trigger(text, start, end, word)) is not None
    ]
    offers: list[_Offer] = []
    used = False
    for index, (outer_start, after, remark) in enumerate(triggers):
        limit = triggers[index + 1][0] if index + 1 < len(triggers) else end
        line_start, line_end = _line(text, after, max(limit, after))
        inner = _trim(text, line_start, line_end)
        if inner[0] < inner[1] and remark and _REMARK.match(text, *inner):
            continue
        if inner[0] < inner[1]:
            offers.append(_Offer(*inner, outer_start, max(line_end, inner[1])))
        used = index + 1 == len(triggers) and inner[0] == inner[1]
    if used:
        return _Offers(offers, "no_answer")
    return _with_boxes(text, offers)


def _answer_words(text: str, start: int, end: int) -> list[re.Match[str]]:
    """The last words that may announce an answer. Plain searches: one pattern for all of them is many times slower."""
    lowered = text.lower()
    if len(lowered) != len(text):  # one letter, U+0130, has a lower case of two
        return _last(_ANSWER_WORD.finditer(text, start, end))
    positions: list[int] = []
    for stem in _ANSWER_STEMS:
        position, left = lowered.rfind(stem, start, end), _MAX_OFFERS
        while position >= 0 and left:
            positions.append(position)
            position, left = lowered.rfind(stem, start, position), left - 1
    found = (_ANSWER_WORD.match(text, position, end) for position in sorted(positions)[-_MAX_OFFERS:])
    return [match for match in found if match is not None]


def _trigger(text: str, start: int, end: int, word: re.Match[str]) -> tuple[int, int, bool] | None:
    """Where the phrase begins and ends, and whether what follows may be a remark about the answer."""
    before = text[max(start, word.start() - _BEFORE_CHARS) : word.start()]
    if word["word"] and re.match(r"[A-Za-z0-9_]", before[-1:]):
        return None
    lead = _BEFORE_WORD.search(before)
    outer_start = word.start() - (len(before) - lead.start() if lead else 0)
    if word["cjk"]:
        tail = _AFTER_CJK.match(text, word.end(), end)
        return (outer_start, tail.end(), False) if tail and not _NOT.match(text, tail.end(), end) else None
    tail = _AFTER_WORD.match(text, word.end(), end)
    if tail is None:
        return None
    cut = "" if word.start() - start <= _BEFORE_CHARS else "…"
    if tail["heading"] is not None and not _HEADING_START.search(cut + before):
        return None
    if not tail["verb"] and _NOT_GIVING.search(before):
        return None
    if swap := _NOT_BUT.match(text, tail.end(), end):
        return outer_start, swap.end(), False
    if _NOT.match(text, tail.end(), end):
        return None
    return outer_start, tail.end(), bool(tail["verb"])


def _line(text: str, after: int, limit: int) -> tuple[int, int]:
    """What follows a trigger: display math, or the rest of the sentence or line; the next line if this one is bare."""
    limit = min(limit, after + _MAX_LINE_CHARS)
    start, _ = _strip(text, after, limit, "*_#:：`>")
    if closing := _DISPLAY_MATH.get(text[start : start + 2]):
        stop = text.find(closing, start + 2, limit)
        return (start, stop + 2) if stop >= 0 else (start, limit)
    stop_match = _LINE_END.search(text, start, limit)
    stop = limit if stop_match is None else stop_match.start()
    if stop_match is not None and stop_match[0] == "!" and stop > start and (text[stop - 1].isdigit()):
        stop += 1
    if because := _BECAUSE.search(text, start, stop):
        stop = because.start()
    return start, stop


_EMPHASIS = "*`_"
_MATH_QUOTES = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without emphasis, a final full stop, and the delimiters of mathematics around all of it."""
    for _ in range(8):
        before = (start, end)
        start, end = _strip(text, start, end, _EMPHASIS)
        while start < end and text[end - 1] in ".。,，;；:：":
            end -= 1
        start, end = _unwrap(text, start, end)
        if (start, end) == before:
            break
    return start, end


def _unwrap(text: str, start: int, end: int) -> tuple[int, int]:
    for opening, closing in _MATH_QUOTES:
        inner_start, inner_end = start + len(opening), end - len(closing)
        if inner_start > inner_end or not text.startswith(opening, start, end):
            continue
        if text.find(closing, inner_start, end) == inner_end:
            return _strip(text, inner_start, inner_end)
    return start, end


# --- numbers

_DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,|，|[\u2009\u202f\u00a0])\d{3})+(?!\d)|\d+)(?:[.．]\d+)?|[.]\d+"
_POWER = (
    r"(?:[eE][-+−]?\d{1,9}|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?(?:\^\s?\{?\s?[-+−]?\d{1,9}\s?\}?|[⁻⁺]?[⁰¹²³⁴-⁹]{1,9}))?"
)
_LATEX_FRACTION = r"\\[dt]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?-?\d+\s?\}|\d\d)"
NUMBER = (
    rf"[-+−－＋]?\s?(?:[$€£¥￥₹]|\\\$)?\s?[-−]?"
    rf"(?:(?:\d+\s?)?{_LATEX_FRACTION}|\d+[ \u00a0]\d+\s?[/⁄]\s?\d+|\d*\s?[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
    rf"|(?:{_DIGITS}){_POWER}(?:\s?[/⁄]\s?(?:{_DIGITS}))?)(?:\s?(?:\\?%|％))?"
)
"""A number as it stands in text: sign, currency, thousands separators, decimals, powers of ten, fractions, percent."""
_NUMBER = re.compile(rf"(?<![A-Za-z\d_.\\^]){NUMBER}")
_NUMBER_CHARS = 400
_CHUNK = 1 << 16
_ANY_DIGIT = re.compile(r"[\d½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]+")
_PART_BEFORE = re.compile(
    r"(?:[A-Za-z\d)}\]][ ]?[-−+*/×·÷<>≤≥]|[\^_]|\\(?:times|cdot|div|le|ge|leq|geq|lt|gt)|(?<!\\text)(?<!\\textbf)(?<!\\mathbf)"
    r"(?<!\\mathrm)\{)[ $]{0,2}$"
)
_PART_AFTER = re.compile(
    r"[ ]?[*×·÷+/=^][ ]?(?!\\?circ|\{\\?circ)[\w(\\{$]|[-−–]\d|[({_]|[.:]\d"
    r"|\\(?![%$,;!: )\]\\]|text|mathrm|quad|qquad|degree|circ|end)|[a-cefi-knopqrtuvwxyz](?![A-Za-zµ])"
)
_SIGNS = "-−－+＋"
_DASH_BEFORE = re.compile(r"(?:^|\n|[A-Za-z]{2,}|\d)[ ]?$")
_TERM_BEFORE = re.compile(r"(?:^|[^A-Za-z])[A-Za-z][ ]?$|[)}][ ]?$")
_RANGE = re.compile(r"\s?(?:[-−–—~～]|to|until|through|bis|至|到)\s?|:", re.IGNORECASE)


def _numbers(text: str, start: int, end: int) -> _Offers:
    """The numbers near the end of the text; none when the last one is part of something larger."""
    last_digit = _last_digit(text, start, end)
    if last_digit is None:
        return _NONE
    window = max(start, last_digit - _NUMBER_CHARS), min(end, last_digit + 8)
    offers: list[_Offer] = []
    for match in _NUMBER.finditer(text, *window):
        number_start = _strip(text, _without_dash(text, start, match), match.end())[0]
        if text[number_start] == "$" and text.startswith("$", match.end(), end):
            number_start += 1
        offers.append(_Offer(number_start, match.end(), number_start, match.end()))
    if not offers or offers[-1].end < last_digit:
        return _NONE
    if len(offers) > 1 and _RANGE.fullmatch(text, offers[-2].end, offers[-1].start):
        return _Offers(offers, "conflicting_answers")
    before = text[max(start, offers[-1].start - 24) : offers[-1].start]
    if _PART_BEFORE.search(before) and not _DASH_ENDS.search(before):
        return _NONE
    return _NONE if _PART_AFTER.match(text, offers[-1].end, end) else _Offers(offers)


_DASH_ENDS = re.compile(r"[A-Za-z]{2,}[ ][-−][ ]$")


def _without_dash(text: str, start: int, match: re.Match[str]) -> int:
    """Where a number starts when the sign before it is a dash ("Total - 5") or an operator ("x - 5")."""
    position = match.start()
    if text[position] not in _SIGNS:
        return position
    before = text[max(start, position - 24) : position]
    spaced = text[position + 1].isspace()
    if spaced and (_DASH_BEFORE.search(before) or _TERM_BEFORE.search(before)):
        return position + 1
    return position


def _last_digit(text: str, start: int, end: int) -> int | None:
    """End of the last run of digits."""
    stop = end
    while stop > start:
        chunk = max(start, stop - _CHUNK)
        runs = _last(_ANY_DIGIT.finditer(text, chunk, stop), 1)
        if runs:
            return runs[0].end()
        stop = chunk
    return None


# --- commitment


class _Link(StrEnum):
    """How two offers in a row belong together, judged by the text between them."""

    PARTS = "parts"
    ALTERNATIVES = "alternatives"
    NEAR = "near"
    APART = "apart"


_MAX_GAP_CHARS = 80
_NEAR_CHARS = 40
_FLOOD = 3
_MARKUP = re.compile(r"\\[()\[\]]|\$|\*|`|\\q?quad|\\text\{([^{}]{0,40})\}|\\[,;:! ]")
_AND = re.compile(
    r"\s*(?:[,，;；、&]|and\b|und\b|et\b|和|与|及|以及|,\s?and\b)\s*(?:\\?[A-Za-z]\w{0,11}\s{0,2}=)?\s*", re.I
)
_OR = re.compile(r"(?<![A-Za-z])(?:or|either|oder|ou|vs\.?|versus)(?![A-Za-z])|或|还是", re.IGNORECASE)
_RELATION = re.compile(r"[=<>≤≥∈≠]|\\(?:le|ge|leq|geq|lt|gt|in|neq)(?![A-Za-z])")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n\s*\n")
_OR_AT_START = re.compile(r"\W{0,6}(?:or\b|或)", re.IGNORECASE)
_COMMITS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistake|error|instead|rather|final\w*|therefore|thus|hence|so|but|answer|no)\b"
    r"|不对|更正|应该|最终|因此|所以|答案",
    re.IGNORECASE,
)


def _commit(text: str, channel: Channel, offers: _Offers, on_conflict: OnConflict) -> Extraction:
    items = offers.items
    candidates = tuple(
        Candidate(text[item.start : item.end], channel, (item.start, item.end)) for item in items[-_MAX_CANDIDATES:]
    )
    if offers.reason is not None:
        return Extraction(None, channel, None, offers.reason, candidates)
    group, conflicting = _last_group(text, items, _number_link if channel is Channel.LAST_NUMBER else _link)
    if conflicting or (channel is Channel.ANSWER_LINE and names_alternatives(candidates[-1].text)):
        return Extraction(None, channel, None, "conflicting_answers", candidates)
    if on_conflict == "reject" and _has_others(text, items, group):
        return Extraction(None, channel, None, "conflicting_answers", candidates)
    answer = candidates[-1].text if len(group) == 1 else ", ".join(text[each.start : each.end] for each in group)
    return Extraction(answer, channel, (group[0].start, group[-1].end), "found", candidates)


def _last_group(
    text: str, items: Sequence[_Offer], link_of: Callable[[str, int, int], _Link]
) -> tuple[Sequence[_Offer], bool]:
    """The offers that make up the last answer, and whether they are alternatives rather than parts."""
    if len(items) == 1:
        return items, False
    parts = [items[-1]]
    breath = {_key(text, items[-1])}
    run = set(breath)
    in_parts = in_breath = True
    for earlier, later in zip(items[-2::-1], items[:0:-1], strict=True):
        link = link_of(text, earlier.outer_end, later.outer_start)
        if link is _Link.APART or len(run) >= _FLOOD:
            break
        run |= set() if link is _Link.PARTS else {_key(text, earlier)}
        in_breath = in_breath and link is not _Link.NEAR
        in_parts = in_parts and link is _Link.PARTS
        if in_parts:
            parts.append(earlier)
        elif in_breath:
            breath |= {_key(text, earlier)}
    if len({_key(text, part) for part in parts}) == 1:
        parts = parts[:1]
    return parts[::-1], len(breath) > 1 or len(run) >= _FLOOD


def _link(text: str, start: int, end: int) -> _Link:
    if end - start > _MAX_GAP_CHARS:
        return _Link.APART
    gap = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text[start:end]) if end > start else ""
    if gap.strip() and _AND.fullmatch(gap):
        return _Link.PARTS
    if not any(char.isalnum() or char in "=+" for char in gap):
        return _Link.ALTERNATIVES
    if _OR_AT_START.match(gap) or (_OR.search(gap) and not _SENTENCE_END.search(gap)):
        return _Link.ALTERNATIVES
    if len(gap) <= _NEAR_CHARS and not _COMMITS.search(gap):
        return _Link.NEAR
    return _Link.APART


def _number_link(text: str, start: int, end: int) -> _Link:
    """Numbers stand close together in any calculation, so less of what is between them says something."""
    gap = text[start : min(end, start + _MAX_GAP_CHARS)]
    if not gap.strip():
        return _Link.APART if "\n" in gap else _Link.ALTERNATIVES
    link = _link(text, start, end)
    if link is _Link.ALTERNATIVES and not _OR.search(gap):
        return _Link.APART
    return _Link.APART if link is _Link.NEAR else link


def _has_others(text: str, items: Sequence[_Offer], group: Sequence[_Offer]) -> bool:
    keys = {_key(text, item) for item in group}
    return any(_key(text, item) not in keys for item in items)


_SPACE = re.compile(r"\s+|\\[,;:! ]|\$")


def _key(text: str, offer: _Offer) -> str:
    """What makes two offers the same answer, as far as characters tell."""
    return _SPACE.sub("", fold(text[offer.start : offer.end])).rstrip(".")
