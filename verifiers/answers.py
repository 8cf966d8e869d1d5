r"""The one place of answer extraction: which part of a response is its answer.

    response ──final_segment──► the text after thinking ──channels, in order──► candidates ──commitment──► one answer

*Final segment.* Text after the last closing think tag, without the chat tokens a tokenizer leaves at the end. Thinking
that was opened and never closed is a truncated response: nothing in it is an answer.

*Channels.* The first channel that is used at all decides. An explicit channel that is used badly (an empty or unclosed
last box, an answer tag never closed) gives no answer; it never makes an earlier number one.

*Context.* What stands beside an offer can unmake it. A box with a factor, sign, bound or function, or one that is asked
about or taken back, is no answer (`2\boxed{21}`, "\boxed{42} is wrong"); a unit directly behind it belongs to it. An
answer line that denies or doubts, with no number after it, ends the search. A last number counts where a sentence
states it: not where it is denied, asked, supposed, a label, a bound or a part of an expression.

*Commitment.* Several different offers in one channel: a later one corrects an earlier one. Offers made in one breath do
not commit to any ("\boxed{1} or \boxed{2}", boxes side by side, three in a short run): `conflicting_answers`, whatever
the policy; nor do offers made for one case each, or with "maybe". Boxes linked by "and" or a comma are parts of one
answer, given as "a, b", or as "x=a, y=b" if each has a name. `on_conflict="reject"` accepts no
two different offers at all.

Every step is linear in the length of the response, whatever is in it, and looks at the last `MAX_OFFERS` offers of a
channel. The regular expressions here hold no nested or unbounded-then-unbounded repetition.
"""

import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
import re2
from pydantic import Field

from verifiers.base import Params, clip
from verifiers.sightings import ASCII_SPACE, SPACE, has_other_alphabets

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
    BARE = "bare"
    """All of a response that is nothing but an answer: one formula, one quantity, a few words."""
    FINAL_STATEMENT = "final_statement"
    """What the last sentence states: an option, yes or no, true or false, no solution, a bold phrase, a formula."""
    LAST_NUMBER = "last_number"
    """The last number of the text, if it stands alone: not part of an expression, a range or a time."""
    LAST_LINE = "last_line"
    """The last line that is not blank."""
    WHOLE = "whole"
    """All of the text."""


DEFAULT_CHANNELS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.LAST_NUMBER)
"""What `auto` means, unless a verifier says otherwise."""

MATH_CHANNELS = (*DEFAULT_CHANNELS[:-1], Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER)
"""What `auto` means where an answer may be a formula, an option or a word: its last sentence goes before a number."""


class ExtractionParams(Params):
    """The parameters every verifier has that judges an answer inside a response."""

    think: Think = "auto"
    """Which text is judged. auto: after the last closing think tag; required: there must be one; none: all of it."""
    extract: (
        Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=len(Channel))]
    ) = "auto"
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
            detail["channel"] = str(self.channel)
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


MAX_OFFERS = 256
"""Of each channel; earlier ones are not looked at."""
_MAX_CANDIDATES = 16


def extract(
    response: str,
    params: ExtractionParams,
    auto: Sequence[Channel] = DEFAULT_CHANNELS,
    segment: Segment | None = None,
) -> Extraction:
    """Find the answer. Never raises; `auto` is the order of channels for `extract="auto"`; `segment`: the final one of
    the response, for callers who have looked for it.
    """
    segment = segment or final_segment(response, params.think)
    if segment.reason != "found":
        return Extraction(None, None, None, segment.reason)
    readers = _READERS if params.extract == "auto" else _READERS_IF_NAMED
    for channel in _channels(params.extract, auto):
        offers = readers[channel](response, segment.start, segment.end)
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
    hidden = {ord(char): None for char in set(normal) if unicodedata.category(char) == "Cf"}
    return normal.translate(hidden) if hidden else normal


def names_alternatives(text: str) -> bool:
    """Whether a bare answer names alternatives ("1 or 2"), which commits to none of them."""
    return len(text) <= _MAX_GAP_CHARS and _OR.search(text) is not None and not _RELATION.search(text)


# --- the final segment

_THINK_TAG = re.compile(
    r"<(?P<close>/?)(?:think|thinking|reasoning|thought|seed:think)\s{0,4}>"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>",
    re.IGNORECASE,
)
_MAX_THINK_TAG_CHARS = 32
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
_CHAT_TOKEN_ENDS = frozenset(token[-1] for token in _CHAT_TOKENS)
_MAX_CHAT_TOKENS = 100_000
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\ufeff")


def _think_tags(text: str) -> tuple[int, int]:
    """End positions of the last opening and the last closing tag; -1 where there is none.

    Looking for one character is many times faster than any other search, so that comes first.
    """
    last_open = last_close = -1
    found: list[Iterable[re.Match[str]]] = []
    if (first := text.find("<")) >= 0:
        found.append(_THINK_TAG.finditer(text, first, text.rfind("<") + _MAX_THINK_TAG_CHARS))
    if ("K" in text and text.rfind("THINK]") >= 0) or "think▷" in text:
        found.append(_OTHER_THINK_TAG.finditer(text))
    for matches in found:
        for match in matches:
            if match["close"] or match["end"]:
                last_close = max(last_close, match.end())
            else:
                last_open = max(last_open, match.end())
    return last_open, last_close


def _without_chat_tokens(text: str, start: int, end: int) -> int:
    for _ in range(_MAX_CHAT_TOKENS):
        _, end = _strip(text, start, end)
        if start == end or text[end - 1] not in _CHAT_TOKEN_ENDS or not text.endswith(_CHAT_TOKENS, start, end):
            break
        end -= next(len(token) for token in _CHAT_TOKENS if text.endswith(token, start, end))
    return end


def _strip(text: str, start: int, end: int, extra: str = "") -> tuple[int, int]:
    """Narrow a span past space, invisible characters and `extra`, of which none is a letter or a digit."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    while start < end and ((char := text[start]).isspace() or char in _INVISIBLE or char in extra):
        start += 1
    while start < end and ((char := text[end - 1]).isspace() or char in _INVISIBLE or char in extra):
        end -= 1
    return start, end


# --- offers: what one channel holds


class _Offer(msgspec.Struct, frozen=True):
    r"""An answer (`start`, `end`) and the text that makes it one (`outer_start`, `outer_end`)."""

    start: int
    end: int
    outer_start: int
    outer_end: int
    box_end: int = 0
    """Of a box: where its braces end."""
    name: str = ""
    r"""Of a box among several: `x` in `x = \boxed{42}`."""


class _Offers(msgspec.Struct, frozen=True):
    items: Sequence[_Offer] = ()
    reason: Reason | None = None
    """Set when the channel was used, and its last use holds no answer."""


_NONE = _Offers()


def _channels(wanted: Literal["auto"] | Channel | tuple[Channel, ...], auto: Sequence[Channel]) -> Sequence[Channel]:
    if isinstance(wanted, Channel):
        return (wanted,)
    return wanted if isinstance(wanted, tuple) else auto


def _last(positions: Iterable[re.Match[str]], count: int = MAX_OFFERS) -> list[re.Match[str]]:
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
_MAX_ANSWER_TAG_CHARS = 16


def _tags(text: str, start: int, end: int) -> _Offers:
    first = text.find("<", start, end)
    if first < 0:
        return _NONE
    offers: list[_Offer] = []
    opened: re.Match[str] | None = None
    stop = min(end, text.rfind("<", start, end) + _MAX_ANSWER_TAG_CHARS)
    for match in _last(_ANSWER_TAG.finditer(text, first, stop), 2 * MAX_OFFERS):
        if not match[1]:
            opened = match
        elif opened is not None:
            inner = _tagged(text, *_strip(text, opened.end(), match.start()))
            offers.append(_Offer(*inner, opened.start(), match.end()))
            opened = None
    if opened is not None:
        return _Offers(offers, "truncated")
    return _with_boxes(text, offers)


def _tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """The answer inside a tag, which may be marked a second time, as in `#### 18` or `{"answer": 18}`."""
    if text.startswith("####", start, end):
        return _trim(text, start + 4, end)
    if text.endswith("}", start, end) and text.find("{", start, end) == start:
        fields = _json_answer(text, start, end)
        return (start, end) if fields is None else (fields.start, fields.end)
    return _unwrap(text, start, end)


_BOX_OPENING = re.compile(r"(?:\s{0,8}\[[^\]\n]{0,40}\]){0,2}\s{0,8}\{")
_BOX_BARE = re.compile(r"\s{0,8}((?:[-+−]?\d|\\[A-Za-z])[^\s$]{0,200}|[A-Za-z](?![A-Za-z]))")
_BRACES = re.compile(r"(?P<box>\\{1,2}(?:boxed|fbox|framebox)(?![A-Za-z]))|\\[^A-Za-z]|(?P<open>\{+)|(?P<close>\}+)")


@dataclass(slots=True)
class _OpenBox:
    depth: int
    outer_start: int
    start: int


def _boxes(text: str, start: int, end: int) -> _Offers:
    """Closed boxes that are in no other closed box; a box that holds just another box is that one."""
    places = _box_commands(text, start, end)
    if not places:
        return _NONE
    commands = iter(places)
    position = next(commands)
    closed: list[_Offer] = []
    opened: list[_OpenBox] = []
    depth = 0
    while match := _BRACES.search(text, position, end):
        position = match.end()
        kind = match.lastgroup
        if kind == "box":
            if opening := _BOX_OPENING.match(text, position, end):
                depth, position = depth + 1, opening.end()
                opened.append(_OpenBox(depth, match.start(), position))
            elif bare := _BOX_BARE.match(text, position, end):
                stop = bare.start(1) + len(bare[1].rstrip(".,;:!?)*。，"))
                position = max(stop, bare.start(1) + 1)
                closed.append(_Offer(bare.start(1), stop, match.start(), stop))
            elif not _strip_is_empty_after(text, position, end):
                opened.append(_OpenBox(depth + 1, match.start(), end))
        elif kind == "open":
            depth += position - match.start()
        elif kind == "close":
            after = max(depth - position + match.start(), 0)
            while opened and opened[-1].depth > after:
                box = opened.pop()
                _close(text, closed, box, match.start() + depth - box.depth)
            depth = after
        if not opened:
            if len(places) == 1:
                break
            # What stands between two boxes belongs to neither, nor do the braces in it.
            depth, following = 0, next((command for command in commands if command >= position), None)
            if following is None:
                break
            position = _command_start(text, position, following)
    if opened and (not closed or opened[-1].outer_start > closed[-1].outer_start):
        return _Offers(closed, "truncated")
    if closed and closed[-1].start >= closed[-1].end:
        while closed and closed[-1].start >= closed[-1].end and _INSTRUCTION.search(text, *_beside(start, closed[-1])):
            closed.pop()
        if closed and closed[-1].start >= closed[-1].end:
            return _Offers([box for box in closed if box.start < box.end], "no_answer")
    if not closed:
        return _NONE
    if len(closed) > 1:
        closed = _usable(text, start, closed)
    if not closed or not _stands_alone(text, start, end, closed[-1]):
        return _Offers(closed, "no_answer")
    return _Offers(closed)


def _usable(text: str, start: int, boxes: Sequence[_Offer]) -> list[_Offer]:
    """Of several boxes those that hold something and are not said to be none, with their names."""
    return [
        _with_name(text, start, box)
        for box in boxes
        if box.start < box.end and not _is_negated(text, start, box.outer_start)
    ]


def _box_commands(text: str, start: int, end: int) -> list[int]:
    """Where the last boxes may begin: the last backslash before each `box`."""
    if text.find("\\", start, end) < 0:
        return []
    places: list[int] = []
    at = end
    for _ in range(MAX_OFFERS):
        at = text.rfind("box", start, at)
        if at < 0:
            break
        if at > start and text[at - 1] == "\\":
            places.append(at - 1)
            continue
        before = text[max(start, at - 6) : at]
        if before.endswith("\\f"):
            places.append(at - 2)
        elif before.endswith("\\frame"):
            places.append(at - 6)
    return places[::-1]


def _command_start(text: str, start: int, last_backslash: int) -> int:
    """Where a command begins: backslashes in a row are pairs, and the last pair of them, or the odd one, is its own."""
    first = last_backslash
    while first > start and text[first - 1] == "\\":
        first -= 1
    return last_backslash - (last_backslash - first) % 2


def _strip_is_empty_after(text: str, position: int, end: int) -> bool:
    r"""Whether there is anything at all after a bare `\boxed`: then it is a word about boxes, else a cut one."""
    return _strip(text, position, end)[0] < end


def _close(text: str, closed: list[_Offer], box: _OpenBox, stop: int) -> None:
    inner: list[_Offer] = []
    while closed and closed[-1].outer_start > box.outer_start:
        inner.append(closed.pop())
    start, end = box.start, stop
    if start == end or not (text[start].isalnum() and text[end - 1].isalnum()):
        start, end = _unwrap(text, *_strip(text, start, end))
    if len(inner) == 1 and (inner[0].outer_start, inner[0].outer_end) == (start, end):
        start, end = inner[0].start, inner[0].end
    closed.append(_Offer(start, end, box.outer_start, stop + 1, stop + 1))


# --- boxes: what stands beside one

_BESIDE_CHARS = 48
_INSTRUCTION = re.compile(
    r"(?:\b(?:in|inside|within|into|using|use|with|an?|the|your|empty|format)|[里中用])[\s`\"'“‘$*(\\]{0,6}$",
    re.IGNORECASE,
)
"""What makes an empty box one that is talked about: "put it in \\boxed{}"."""
_OPENINGS = ("\\(", "\\[", "$", "=", ":", "：", "是", "为", "≈", ",", ";", "，", "。", "；", ".")
"""With one of these before it, a box has no neighbour on its left."""
_BINDS_LEFT = frozenset("+/^<>≤≥≠√∛×·÷±∓∑∏∫")
_BINDS_IN_MATH = frozenset("-−*_|")
_MARKUP_BEFORE = re.compile(
    r"(?:<[/A-Za-z][^<>]{0,20}>|[-=]>|⇒|→|\\(?:implies|Rightarrow|Longrightarrow|rightarrow|to|therefore|quad"
    r"|qquad|displaystyle"
    r"|approx|equiv|in|[,;:! ])|\\(?:text\w{0,6}|mathrm|mathbf|mbox|color|textcolor|tag)\s?\{[^{}]{0,40}\}"
    r"|(?:^|[\s$])\(?(?:[a-h]|[ivx]{1,4}|\d{1,2})[.)])$"
)
_BINDING_COMMAND = re.compile(
    r"\\(?:cdot|times|div|pm|mp|sqrt(?:\[[^\]]{0,9}\])?|[dt]?frac|log|ln|lg|exp|sin|cos|tan|cot|le|leq|leqslant|ge|geq"
    r"|geqslant|lt|gt|ne|neq|not|sum|prod|int|binom|overline)\s{0,3}$"
)
_BINDS_RIGHT = re.compile(
    r"(?:\s|\\[,;:! ]){0,4}(?:\^(?!\s?\{?\s?(?:\\circ|\\prime|°|'))|[²³⁰¹⁴-⁹√>≤≥≠×·÷±]|<(?![/A-Za-z|])"
    r"|[-+−](?![->])|/(?!\w{0,8}>)|[*](?![*])"
    r"|\\(?:cdot|times|div|pm|mp|sqrt|[dt]?frac|pi|le|leq|leqslant|ge|geq|geqslant|lt|gt|ne|neq)(?![A-Za-z]))"
)
_TOUCHES_RIGHT = re.compile(r"[\dπ(]|[a-bijknp-rt-zIXYZ](?![A-Za-z])")
_ENDS_IN_COMMAND = re.compile(r"\\[A-Za-z]{1,16}$")
_SPAN_ENDS = ("$", "\\)", "\\]", ".", ",", "\n", "}", ":")
_BOUNDS = (
    *("at least", "at most", "more than", "less than", "fewer than", "greater than", "larger than", "smaller than"),
    *(
        "higher than",
        "lower than",
        "up to",
        "exceeds",
        "exceed",
        "至少",
        "至多",
        "最多",
        "超过",
        "大于",
        "小于",
        "不足",
    ),
)
_NEGATION_BEFORE = re.compile(
    r"(?:\b(?:not|never|rather than|instead of)|n['’]t(?: be)?|不是|并非)[\s$*(\\]{0,8}$", re.I
)

_NEGATION_ENDS = frozenset("tTrRnNfFeE是非")
"""With what those words end: mostly there is no other letter to look at."""
_TELLING_ENDS = frozenset(bound[-1] for bound in _BOUNDS) | _NEGATION_ENDS
"""With what a bound or a negation ends: mostly there is no other letter to look at."""
_REJECTED = re.compile(
    r"(?:[\s$*)\]}.,!;—–-]|\\[\])]){0,9}(?:(?:no|wait|but|however|sorry|hmm|actually|although|and)\b[,.\s…]{1,4}){0,3}"
    r"(?:(?:that|this|it|which|the (?:last|second) one)\s(?:answer\s|value\s)?)?"
    r"(?:(?:is|was|are|would be|must be|has to be|seems|looks)\s(?:also\s|clearly\s|obviously\s|therefore\s|then\s)?"
    r"(?:not\s(?:(?:the|an?|my)\s)?(?:\w{1,12}\s)?(?:right|correct|valid|possible|answer|solution|allowed|it"
    r"|acceptable)\b"
    r"|(?:wrong|incorrect|false|invalid|impossible|extraneous|rejected|excluded|too\s(?:big|small|large|high|low))\b)"
    r"|isn['’]t\s|can(?:not|['’]t|\snot)\s(?:be|work|hold)|(?:does|did)(?:n['’]t|\snot)\s(?:work|hold|satisfy"
    r"|fit)|fails\b"
    r"|I\s(?:don['’]t|do\snot)\sthink\sso|不对|是错|错了|不是)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"(?:[\s$*)\]}]|\\[\])]){0,6}[?？]\s{0,3}(?!\s|yes|indeed|correct|right|是的|对)", re.IGNORECASE)
_NAME = re.compile(r"(?:^|[\s,;$({&\[])(\\?[A-Za-z]+(?:_\{?\w{1,4}\}?)?)\s{0,2}=[\s$]{0,3}$")
_UNIT_BEHIND = re.compile(
    r"(?:\s|\\[,;:! ]){0,3}(?P<unit>\\?%|％|\^\s?(?:\\circ|\{\s?\\circ\s?\})(?![A-Za-z])"
    r"|°|\\(?:text|mathrm|textrm|mbox)\s?\{[~\s]*"
    r"(?!(?:and|or|so|if|is|for|as|by|in|to|at|the|of|on|we|it|not|when|with|from|only|then|thus|that|this)\b)"
    r"[A-Za-z]{1,4}(?:/[A-Za-z]{1,4})?(?:\^?\{?[23²³]\}?)?\s?\}(?:\^\{?[23]\}?)?)"
)


def _beside(start: int, box: _Offer) -> tuple[int, int]:
    return max(start, box.outer_start - _BESIDE_CHARS), box.outer_start


def _stands_alone(text: str, start: int, end: int, box: _Offer) -> bool:
    r"""Whether a box is the answer: no factor, sign, bound or function of it is (`2\boxed{21}`), nor is it taken back.

    `name = \boxed{…}` and the end of a chain of equations are the box; what stands outside its
    formula does not touch it.
    """
    before = text[max(start, box.outer_start - _BESIDE_CHARS) : box.outer_start]
    head = before.rstrip(" \n\t$*(\\[")
    if head[-1:] in _TELLING_ENDS and (head.lower().endswith(_BOUNDS) or _is_negated(text, start, box.outer_start)):
        return False
    if not before.endswith(_OPENINGS) and not before.isspace() and _binds_left(text, start, box.outer_start, before):
        return False
    if text.startswith(_SPAN_ENDS, box.outer_end):
        if end - box.outer_end < 4:
            return not text.startswith(("?", "？"), end - 1)
    elif _binds_right(text, start, end, box.outer_end, before):
        return False
    return not (_REJECTED.match(text, box.outer_end, end) or _QUESTION.match(text, box.outer_end, end))


def _binds_left(text: str, start: int, position: int, before: str) -> bool:
    head = before.rstrip()
    last = head[-1:]
    if not last or head.endswith(_OPENINGS):
        return False
    if _MARKUP_BEFORE.search(before) or _MARKUP_BEFORE.search(head):
        return False
    if last in "{(":
        inner = head[:-1].rstrip()
        if _BINDING_COMMAND.search(inner):
            return True
        if _ENDS_IN_COMMAND.search(inner) or _MARKUP_BEFORE.search(inner):
            return False
        return (inner[-1:].isalnum() or inner[-1:] == "}") and _in_math(text, start, position)
    if last in _BINDS_LEFT:
        return last != ">" or head.rpartition("\n")[2].strip("> ") != ""
    if _BINDING_COMMAND.search(head):
        return True
    if last in _BINDS_IN_MATH:
        adjacent = last in "-−|" and before == head and head[-2:-1] != last
        return adjacent or _in_math(text, start, position)
    return (last.isalnum() or last in ")}") and _in_math(text, start, position) and not _ends_with_word(head)


def _ends_with_word(head: str) -> bool:
    r"""Whether it ends with a word or a command without meaning of its own (`\Large`), rather than with a factor."""
    return len(head) > 1 and head[-1].isalpha() and head[-2].isalpha()


def _in_math(text: str, start: int, position: int) -> bool:
    """Whether a position lies between delimiters of mathematics, as far as its paragraph tells."""
    paragraph = max(start, position - 400, text.rfind("\n\n", start, position))
    dollars = text.count("$", paragraph, position) - text.count("\\$", paragraph, position)
    if (dollars - text.count("$$", paragraph, position)) % 2:
        return True
    opened = max(text.rfind("\\(", paragraph, position), text.rfind("\\[", paragraph, position))
    return opened > max(text.rfind("\\)", paragraph, position), text.rfind("\\]", paragraph, position))


def _binds_right(text: str, start: int, end: int, position: int, before: str) -> bool:
    if position == end or text.startswith("**", position):
        return False
    if text[position] == "!":
        return _in_math(text, start, position) or not any(map(str.isalpha, before.rpartition("\n")[2]))
    if _unit_behind(text, position, end) is not None:
        return False
    if _TOUCHES_RIGHT.match(text, position, end):
        return text[position] != "(" or _in_math(text, start, position)
    if _BINDS_RIGHT.match(text, position, end) is None:
        return False
    return not text[position].isspace() or _in_math(text, start, position)


def _is_negated(text: str, start: int, position: int) -> bool:
    before = text[max(start, position - 40) : position]
    last = before.rstrip(" \n\t$*(\\")[-1:]
    return (last in _NEGATION_ENDS or last.isspace()) and _NEGATION_BEFORE.search(before) is not None


def _with_name(text: str, start: int, box: _Offer) -> _Offer:
    named = _NAME.search(text, *_beside(start, box))
    return box if named is None else msgspec.structs.replace(box, name=named[1])


def _unit_behind(text: str, position: int, end: int) -> tuple[int, int] | None:
    """The unit directly behind a box, in the same formula."""
    if position == end or text[position] not in " \\%％^°" or text.startswith(_SPAN_ENDS, position):
        return None
    match = _UNIT_BEHIND.match(text, position, end)
    return None if match is None else match.span("unit")


_HASH4 = re.compile(r"####(?<!#####)(?!#)[ \t]{0,8}([^\n]*)")
"""Exactly four; the pattern begins with them, so that the engine looks for them at once."""
_NUMBERED_HEADING = re.compile(r"\d{1,3}[.)、:]\s+\S")
_STARTS_AS_NUMBER = re.compile(r"[-+−$€£¥\\({*\s]{0,6}\d")


def _hashes(text: str, start: int, end: int, headings: bool = False) -> _Offers:
    """Lines behind `####`. Unless `headings`, one that looks like a markdown heading is none."""
    if text.find("#", start, end) < 0 or (first := text.find("####", start, end)) < 0:
        return _NONE
    offers: list[_Offer] = []
    for match in _last(_HASH4.finditer(text, first, end)):
        inner = _trim(text, match.start(1), match.end(1))
        is_last = match.end() == end or _strip(text, match.end(), end)[0] == end
        if headings or is_last or _is_value(match[1]):
            offers.append(_Offer(*inner, match.start(), match.end()))
    return _with_boxes(text, offers)


def _is_value(line: str) -> bool:
    return _STARTS_AS_NUMBER.match(line) is not None and _NUMBERED_HEADING.match(line) is None


# --- answer lines

_ANSWER_WORD = re.compile(
    r"(?P<word>answers?\b|(?:correct|right|best)\s(?:option|choice)\b|respuesta\b|réponse\b|antwort\b|resposta\b"
    r"|risposta\b|ответ\b)"
    r"|(?P<cjk>答案|答え|정답|الإجابة)"
    r"|(?P<choice>(?:[故应题此以]选|选择|正确(?:的)?选项)(?:择"
    r"|项)?(?:应该?)?[是为]?[ ]?[:：]?(?=[\s*$(（]{0,4}(?-i:[A-H](?![A-Za-z]{0,7}[a-z]))))",
    re.IGNORECASE,
)
ANSWER_STEMS = rf"answer|(?:correct|right|best){SPACE}(?:option|choice)|respuesta|antwort|resposta|risposta|r\?ponse"
"""With what a word begins that may announce an answer, as a shadow shows it; case does not count."""
_ANSWER_STEM = re2.compile(f"(?i){ANSWER_STEMS}".encode())
OTHER_ANSWER_STEMS = (
    *(
        "ответ",
        "答案",
        "答え",
        "정답",
        "الإجابة",
        "故选",
        "应选",
        "题选",
        "此选",
        "以选",
        "选择",
        "正确选项",
        "正确的选项",
    ),
)
_AFTER_WORD = re.compile(
    r"[ \t*_`\"'’)\]]{0,8}"
    r"(?:(?:to|for|of|in)\b[^.:：。\n]{0,80}?\s)?"
    r"(?:(?:corre[ct]{1,2}[ae]|finale?|richtige)\s{1,4})?"
    r"(?:(?P<verb>(?:is|are|was|equals|(?:would|should|must|will) be|es|est|ist|lautet|é|è)(?!\w)(?:\s(?:thus"
    r"|therefore|then|donc|also|por tanto|that)\b)?)"
    r"[ \t*_]{0,6}[:：]?|(?P<colon>[:：=—]|-\s)|(?P<heading>[*_#:： \t]{0,8}$))",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_CJK = re.compile(
    r"(?:[ \t*_`]|الصحيحة){0,8}(?:(?:就是|应该是|应当是|应该为|应为|应是|是|为|為|等于|選|选|は|은|는|هي|هو)[ \t*_]{0,6}[:：]?|[:：=]|】[:：]?)"
)
_LEAD = (
    r"(?:\b(?:so|thus|hence|therefore|and|or)\b,?SPACE{1,3})?(?:\b(?:the|my|our|la|die|il|a)SPACE{1,3})?"
    r"(?:\b(?:final|correct|right|best|only|actual|richtige|correcta)SPACE{1,3}){0,3}"
)
_BEFORE_WORD = re.compile(_LEAD.replace("SPACE", r"\s") + "$|[所以故因此最终正确的最后]{1,8}$", re.IGNORECASE)
_BEFORE_WORD_IN_ASCII = re2.compile(f"(?i){_LEAD.replace('SPACE', ASCII_SPACE)}\n?\\z".encode())
_NOT_GIVING = re.compile(
    r"\b(?:find|get|give|obtain|determine|compute|calculate|check|verify|write|reach|provide|box|express|format"
    r"|your|an)"
    r"\s{1,3}(?:(?:the|my|our|a)\s{1,3})?(?:(?:final|correct|right)\s{1,3}){0,2}$",
    re.IGNORECASE,
)
_HEADING_START = re.compile(r"(?:^|\n)[#*\s>_\-✅]{0,12}(?:the\s)?(?:final\s|correct\s){0,2}$", re.IGNORECASE)
_REMARK = re.compile(
    r"(?:in)?(?:correct|right|wrong|reasonable|valid|verified|plausible|consistent|clear|obvious|unknown"
    r"|as follows|below"
    r"|above)\b",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\n|[。！？；]|(?<!\d\.\.)[.?!](?=[*_`\"'”’)\]$]{0,3}(?:\s|$))")
_NOT_BUT = re.compile(
    r"[\s*$]{0,4}(?:not\b(?!\s(?:sure|certain)\b)[^\n]{0,80}?\bbut\b|不是[^\n。]{0,40}?而是)", re.IGNORECASE
)
_NOT = re.compile(r"[\s*$]{0,4}(?:not\b|n['’]t\b|不)", re.IGNORECASE)
_BECAUSE = re.compile(
    r"[\s,，(（;—-]{1,4}(?:rather than|instead of|(?<=, )not|because|since|as (?:required|desired|expected|shown"
    r"|needed)|which|due to|so that|因为|由于)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_DISPLAY_MATH = {"$$": "$$", "\\[": "\\]"}
_MAX_LINE_CHARS = 4000
_BEFORE_CHARS = 60


def stated(text: str, on_conflict: OnConflict, stems: Sequence[int] | None = None) -> Extraction:
    """What the answer lines of a final segment say; `stems`: where `ANSWER_STEMS` are, for callers who have looked and
    know that there are none of `OTHER_ANSWER_STEMS`.
    """
    offers = _lines(text, 0, len(text), stems)
    if offers.reason is None and not offers.items:
        return Extraction(None, None, None, "no_answer")
    return _commit(text, Channel.ANSWER_LINE, offers, on_conflict)


def announces(text: str, place: int) -> bool:
    """Whether the word at a place, one of `ANSWER_STEMS`, announces an answer."""
    word = _ANSWER_WORD.match(text, place)
    return word is not None and _trigger(text, 0, len(text), word) is not None


def _lines(text: str, start: int, end: int, stems: Sequence[int] | None = None) -> _Offers:
    if text[end - 1] in "}`" and (fields := _json_answer(text, start, end)) is not None:
        return _with_boxes(text, [fields])
    triggers = [
        trigger
        for word in _answer_words(text, start, end, stems)
        if (trigger := _trigger(text, start, end, word)) is not None
    ]
    offers: list[_Offer] = []
    used = False
    for index, trigger in enumerate(triggers):
        is_last = index + 1 == len(triggers)
        limit = end if is_last else triggers[index + 1].start
        line_start, line_end = _line(text, trigger, max(limit, trigger.end))
        inner = _trim(text, line_start, line_end)
        if inner[0] < inner[1] and trigger.is_sentence and _REMARK.match(text, *inner):
            continue
        if trigger.is_negated or _is_hedged(text, *inner, line_end):
            used = is_last and _last_digit(text, line_end, end) is None
            continue
        inner = _without_gloss(text, *inner)
        if inner[0] < inner[1]:
            offers.append(_Offer(*inner, trigger.start, max(line_end, inner[1])))
        used = is_last and inner[0] == inner[1]
    if used:
        return _Offers(offers, "no_answer")
    return _with_boxes(text, offers)


class _Trigger(msgspec.Struct, frozen=True):
    """A phrase that announces an answer, from `start` to `end`."""

    start: int
    end: int
    is_sentence: bool = False
    """It has a verb, so that a remark about the answer may follow."""
    is_negated: bool = False
    """What follows is what the answer is not."""


_HEDGE = re.compile(
    r"(?:(?:maybe|perhaps|possibly|not (?:sure|certain)|unsure|uncertain|(?:i|we) (?:don['’]t|do not) know"
    r"|no idea|idk|not known)\b"
    r"|不确定|不知道|也许|可能)|(?:yes|true)\s?/\s?(?:no|false)$",
    re.IGNORECASE,
)


def _is_hedged(text: str, start: int, end: int, line_end: int) -> bool:
    """Whether an answer line asks, or says that its writer does not know."""
    return text.startswith(("?", "？"), line_end) or (start < end and _HEDGE.match(text, start, end) is not None)


_IN_WORDS = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|(?:twen|thir|for|fif"
    r"|six|seven|eigh|nine)ty)"
    r"(?:[ -][a-z]{2,9}){0,9}"
)
_GLOSS = re.compile(rf"(?<=\d)\s\({_IN_WORDS}\)$", re.IGNORECASE)
_VALUE_BEHIND_WORDS = re.compile(rf"{_IN_WORDS}\s\(([-−$]?\d[\d,.]*)\)", re.IGNORECASE)
_COPULA_BEHIND = re.compile(r"\s?(?:です|でした|である|だ|입니다|이다|이에요|예요)$|(?<=[A-H])\s?(?:选项|項|项)$")


def _without_gloss(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the number said again in words, and without a copula that stands behind the answer."""
    if start == end or (last := text[end - 1]).isdigit() or last == "$":
        return start, end
    if last == ")" and (gloss := _GLOSS.search(text, max(start, end - 100), end)):
        return start, gloss.start()
    if last == ")" and (value := _VALUE_BEHIND_WORDS.fullmatch(text, start, end)):
        return value.span(1)
    if not last.isascii() and (copula := _COPULA_BEHIND.search(text, max(start, end - 8), end)):
        return _trim(text, start, copula.start())
    return start, end


_JSON_KEY = re.compile(
    r'"(?:final_?)?answer"\s{0,4}:\s{0,4}(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s",{}\[\]]+))', re.IGNORECASE
)
_MAX_JSON_CHARS = 4000


def _json_answer(text: str, start: int, end: int) -> _Offer | None:
    """The value of `answer` or `final_answer` in a JSON object that ends the text, fenced or not."""
    end = _strip(text, start, end, "`")[1]
    start = max(start, end - _MAX_JSON_CHARS)
    if not text.endswith("}", start, end) or (found := _last(_JSON_KEY.finditer(text, start, end), 1)) == []:
        return None
    for opening in (text.rfind("{", start, end), text.find("{", start, end)):
        if _is_json(text[opening:end]):
            inner = found[0].span("bare" if found[0]["text"] is None else "text")
            return _Offer(*_unwrap(text, *_strip(text, *inner)), opening, end)
    return None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _answer_words(text: str, start: int, end: int, stems: Sequence[int] | None) -> list[re.Match[str]]:
    """The last words that may announce an answer. RE2 finds where to look; one pattern for all is many times slower."""
    if not text.isascii() and "\u0130" in text:  # one letter that has a lower case of two
        return _last(_ANSWER_WORD.finditer(text, start, end))
    if stems is None:
        stems = [stem.start() for stem in _last(_ANSWER_STEM.finditer(text.encode("ascii", "replace"), start, end))]
        if has_other_alphabets(text):
            stems += _positions_of(OTHER_ANSWER_STEMS, text.lower(), start, end)
    places = sorted(stems)[-MAX_OFFERS:]
    return [word for place in places if (word := _ANSWER_WORD.match(text, place, end)) is not None]


def _positions_of(stems: Iterable[str], text: str, start: int, end: int) -> Iterator[int]:
    """The last places of each."""
    for stem in stems:
        position, left = text.rfind(stem, start, end), MAX_OFFERS
        while position >= 0 and left:
            yield position
            position, left = text.rfind(stem, start, position), left - 1


def _trigger(text: str, start: int, end: int, word: re.Match[str]) -> _Trigger | None:
    """The phrase around a word that may announce an answer, if it does."""
    before = text[max(start, word.start() - _BEFORE_CHARS) : word.start()]
    if word["word"] and re.match(r"[A-Za-z0-9_]", before[-1:]):
        return None
    outer_start = word.start() - len(before) + _lead_start(before)
    if word["choice"]:
        return _Trigger(word.start(), word.end())
    if word["cjk"]:
        if swap := _NOT_BUT.match(text, word.end(), end):
            return _Trigger(outer_start, swap.end())
        if _NOT.match(text, word.end(), end):
            return _Trigger(outer_start, word.end(), is_negated=True)
        tail = _AFTER_CJK.match(text, word.end(), end)
        if tail is None:
            return None
        return _Trigger(outer_start, tail.end(), is_negated=_NOT.match(text, tail.end(), end) is not None)
    tail = _AFTER_WORD.match(text, word.end(), end)
    if tail is None:
        return None
    cut = "" if word.start() - start <= _BEFORE_CHARS else "…"
    if tail["heading"] is not None and not _HEADING_START.search(cut + before):
        return None
    if not tail["verb"] and _NOT_GIVING.search(before):
        return None
    if swap := _NOT_BUT.match(text, tail.end(), end):
        return _Trigger(outer_start, swap.end())
    if _NOT.match(text, tail.end(), end):
        is_negated = _denies_value(text, tail, end)
        return _Trigger(outer_start, tail.end(), is_negated=is_negated) if is_negated or not tail["verb"] else None
    return _Trigger(outer_start, tail.end(), bool(tail["verb"]))


def _lead_start(before: str) -> int:
    """Where in a text begins what leads to the word behind it: "so the final "."""
    lead = _BEFORE_WORD_IN_ASCII.search(before.encode()) if before.isascii() else _BEFORE_WORD.search(before)
    return len(before) if lead is None else lead.start()


def _denies_value(text: str, tail: re.Match[str], end: int) -> bool:
    """Whether "not …" denies a value; "not clear" and "not enough information" say nothing about one."""
    return (
        re.match(
            r"[^.\n]{0,60}?(?:\d|[\\$])|\W{0,4}not\s(?:sure|certain)\b", text[tail.end() : min(end, tail.end() + 80)]
        )
        is not None
    )


def _line(text: str, trigger: _Trigger, limit: int) -> tuple[int, int]:
    """What follows a trigger: display math, or the rest of the sentence or line; the next line if this one is bare."""
    after = trigger.end
    limit = min(limit, after + _MAX_LINE_CHARS)
    start, _ = _strip(text, after, limit, "*_#:：`")
    if text.startswith(">", start) and text.find("\n", after, start) >= 0:
        start, _ = _strip(text, start, limit, "*_#:：`>")
    if closing := _DISPLAY_MATH.get(text[start : start + 2]):
        stop = text.find(closing, start + 2, limit)
        return (start, stop + 2) if stop >= 0 else (start, limit)
    stop = _line_stop(text, start, limit, trigger)
    if because := _BECAUSE.search(text, start, stop):
        stop = because.start()
    return start, stop


def _line_stop(text: str, start: int, limit: int, trigger: _Trigger) -> int:
    """Where the sentence or line ends. `!` behind a digit, a variable or a bracket may be a factorial: in a formula that
    goes on, or where just a value stands.
    """
    for match in _LINE_END.finditer(text, start, limit):
        stop = match.start()
        if match[0] != "!":
            return stop
        first = start + len(text[start:stop].rstrip("!"))
        if not _takes_factorial(text, start, first, stop):
            return first
        if not _FORMULA_GOES_ON.match(text, stop + 1, limit):
            is_value = not trigger.is_sentence and _strip(text, stop + 1, limit, "*_`")[0] == limit
            return stop + 1 if is_value else first
    return limit


def _takes_factorial(text: str, start: int, first: int, stop: int) -> bool:
    """Whether the `!` from `first` to `stop` may be a sign: `5!`, `n!`, `(2n-1)!!`, but not `42!!`, `B!` or `Yes!`."""
    if start < first and text[first - 1].isdigit():
        return first == stop
    return first - start <= _MAX_FORMULA_CHARS and _SYMBOLIC.fullmatch(text, start, first) is not None


_MAX_FORMULA_CHARS = 200
_SYMBOLIC = re.compile(
    r"(?=.*[a-z0-9])(?:\\[A-Za-z]+|(?<![A-Za-z])[A-Za-z](?![A-Za-z])|[\d\s+\-*/^_=(){}\[\],.·×])*(?:(?<![A-Za-z])[a-z]|[)}\]])"
)
"""A formula without words that ends in a variable or a bracket. Only a variable that is no capital, which would be a choice."""


_EMPHASIS = "*`_"
_MATH_QUOTES = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))


_ENDS_IN_DOTS = re.compile(r"\d\.\.\.$")
"""Digits that go on: `0.333...`."""


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Without emphasis, a final full stop, and the delimiters of mathematics around all of it."""
    if start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    for _ in range(8):
        before = (start, end)
        start, end = _strip(text, start, end, _EMPHASIS)
        while (
            start < end and text[end - 1] in ".。,，;；:：" and not _ENDS_IN_DOTS.search(text, max(start, end - 4), end)
        ):
            end -= 1
        start, end = _unwrap(text, start, end)
        if (start, end) == before:
            break
    return start, end


def _unwrap(text: str, start: int, end: int) -> tuple[int, int]:
    if start >= end or text[start] not in "$\\":
        return start, end
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
_PART_ENDS = frozenset("-−+*/×·÷<>≤≥^_{")
_PART_AFTER = re.compile(
    r"[ ]?[*×·÷+/=^][ ]?(?!\\?circ|\{\\?circ)[\w(\\{$]|[-−–]\d|[({_]|[.:]\d"
    r"|\\(?![%$,;!: )\]\\]|text|mathrm|quad|qquad|degree|circ|end)|[a-cefi-knopqrtuvwxyz](?![A-Za-zµ])"
    r"|[ ]?(?:π|pi\b|[²³¹⁰⁴-⁹√]|(?:squared|cubed|factorial|mod)\b|times\s\$?\d)|[ ][xyznk](?!\w)"
)
_SCALE = re.compile(
    r"\.\.\.|…|(?:st|nd|rd|th)\b|[ ]?(?:(?:hundred|thousand|million|billion|trillion|dozen)\b|[万亿千百兆])"
)
"""What makes another number of digits, and so belongs to it."""
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
        number_start = match.start()
        if not text[number_start].isdigit():
            number_start = _strip(text, _without_dash(text, start, match), match.end())[0]
        if text[number_start] == "$" and text.startswith("$", match.end(), end):
            number_start += 1
        offers.append(_Offer(number_start, match.end(), number_start, match.end()))
    if not offers or offers[-1].end < last_digit:
        return _NONE
    if len(offers) > 1 and _RANGE.fullmatch(text, offers[-2].end, offers[-1].start):
        return _Offers(offers, "conflicting_answers")
    last = offers[-1]
    before = text[max(start, last.start - 24) : last.start]
    may_be_part = before.rstrip(" $")[-1:] in _PART_ENDS or "\\" in before
    if may_be_part and _PART_BEFORE.search(before) and not _DASH_ENDS.search(before):
        return _NONE
    if _PART_AFTER.match(text, last.end, end) or _is_factorial(text, start, end, last):
        return _NONE
    if _is_label(text, start, end, last) or _is_doubted(text, start, end, last):
        return _Offers(offers, "no_answer")
    if _is_bound_to_words(text, start, last):
        return _NONE
    if scaled := _SCALE.match(text, last.end, end):
        offers[-1] = _Offer(last.start, scaled.end(), last.start, scaled.end())
    return _Offers(offers)


_SENTENCE_CHARS = 300
_CLAUSE = re.compile(
    r"(?:[,;:]\s|\b(?:so|then|thus|therefore|hence|which|and|but|because|since|means|leaves|leaving)\b)", re.IGNORECASE
)
_NEGATION = re.compile(
    r"(?:\b(?:not|never|cannot|no\slonger|no\s(?:es|son)|ist\snicht|не)|n['’]t|n['’]est\spas)\b|不是|并非|不等于",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:reject\w*|contradict\w*|impossible|maybe|perhaps|possibly|unsure|suppose|assum\w+"
    r"|(?:not|n['’]t)\s(?:sure|certain|think|believe|know))\b|也许|可能",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(r"\b(?:is|are|was|were|equals|total|leaves)\b|[\w)%}][ ]?=")
_DOUBT_STEMS = (
    "no",
    "n't",
    "n’t",
    "eve",
    "eje",
    "contra",
    "impos",
    "aybe",
    "erhaps",
    "possib",
    "unsure",
    "suppos",
    "assum",
    "est pas",
)
_DOUBT_STEMS_ELSEWHERE = ("не", "不", "并非", "也许", "可能", "n’t", "pas")
_NEGATED_AFTER = re.compile(
    r"[\s$*)\]}]{0,4}(?:(?:is|was|would\sbe)\s(?:also\s|clearly\s)?"
    r"(?:not\s(?:the|an?|right|correct|valid|possible|allowed)\b|wrong\b"
    r"|incorrect\b|invalid\b|impossible\b|extraneous\b|rejected\b|too\s(?:big|small|large|high|low)\b)"
    r"|isn['’]t\s|can(?:not|['’]t)\s(?:be|work|hold)\b"
    r"|does(?:n['’]t|\snot)\s(?:work|hold|fit|satisfy)\b|fails\b|不对|是错|错误|不成立|舍去)",
    re.IGNORECASE,
)
_DOUBTED_LATER = re.compile(
    r"\b(?:don['’]t|do\snot|cannot|can['’]t|can\snot|couldn['’]t|could\snot)\s(?:know|solve|determine|answer"
    r"|help|figure|think\sso)\b(?!\s(?:why|how|whether))"
    r"|\b(?:no\sidea|not\ssure|unsure|not\scertain|not\s(?:right|correct|the\sanswer)|(?:is|was|seems"
    r"|that['’]s)\s(?:wrong|incorrect)"
    r"|does(?:n['’]t|\snot)\swork|extraneous|reject(?:ed)?\s(?:it|this|that))\b|不知道|不确定|不对|不会做",
    re.IGNORECASE,
)
_LATER_STEMS = (
    "n't",
    "n’t",
    "no",
    "wrong",
    "incorrect",
    "unsure",
    "extran",
    "eject",
    "invalid",
    "impos",
    "too ",
    "fails",
    "不",
    "错",
    "舍",
)
_QUESTION_END = re.compile(r"[.!?。！？\n](?=\D|$)")


def _is_doubted(text: str, start: int, end: int, number: _Offer) -> bool:
    """Whether the statement of a number is negated, supposed, asked, or taken back by what follows."""
    clause = text[_sentence_start(text, start, number.start) : number.start].lower()
    stems = _DOUBT_STEMS if clause.isascii() else _DOUBT_STEMS + _DOUBT_STEMS_ELSEWHERE
    if any(stem in clause for stem in stems) and _is_negated_clause(_CLAUSE.split(clause)[-1]):
        return True
    if end - number.end < 2:
        return text.startswith(("?", "？"), number.end)
    rest = text[number.end : min(end, number.end + _SENTENCE_CHARS)]
    if ("?" in rest or "？" in rest) and (stop := _QUESTION_END.search(rest)) is not None and stop[0] in "?？":
        return True
    if not any(stem in rest for stem in _LATER_STEMS):
        return False
    return (_NEGATED_AFTER.match(text, number.end, end) or _DOUBTED_LATER.search(rest)) is not None


def _is_negated_clause(clause: str) -> bool:
    """Whether a clause that leads to a number denies it; "those not cut are 4" and "he cannot buy 9 - 5 = 4" do not."""
    if _HEDGED.search(clause):
        return True
    negations = _last(_NEGATION.finditer(clause), 1)
    return bool(negations) and _AFFIRMS.search(clause, negations[0].end()) is None


def _sentence_start(text: str, start: int, position: int) -> int:
    """Where the sentence before a position begins, as far as `_SENTENCE_CHARS` characters show."""
    start = max(start, position - _SENTENCE_CHARS)
    return max(start, *[text.rfind(mark, start, position) + 1 for mark in ("\n", ". ", "? ", "! ", "。")])


_LABEL_WORDS = frozenset(
    [
        "step",
        "steps",
        "problem",
        "question",
        "questions",
        "equation",
        "equations",
        "line",
        "lines",
        "page",
        "pages",
        "case",
        "section",
        "figure",
        "table",
        "chapter",
        "exercise",
        "example",
        "theorem",
        "lemma",
        "error",
        "aime",
        "amc",
        "imo",
        "option",
        "solution",
        "see",
    ]
)
_LABELLED = re.compile(rf"\b(?:{'|'.join(sorted(_LABEL_WORDS))}|eqs?\.|第)[ ]?[(#]?$|(?<!#)#$", re.IGNORECASE)
_OPTION_ENDS = frozenset(".)")
_ITEM_AFTER = re.compile(r"\s?[.)、]\**$")
_OPTION_BEFORE = re.compile(r"(?:^|\n)[\s*(]{0,6}[A-H][.)][\s$*]{0,4}$")


def _is_label(text: str, start: int, end: int, number: _Offer) -> bool:
    """Whether a number says which (step 3, equation (42), item 3 of a list), or what an option says, not how much."""
    before = text[max(start, number.start - 24) : number.start]
    last = before.rstrip(" (*$")[-1:]
    is_labelled = (last in "#.第" or _last_word(before, " (#*$") in _LABEL_WORDS) and _LABELLED.search(before)
    if is_labelled and not _LABEL_ENDS.match(text, number.end, end):
        return True
    if last in _OPTION_ENDS and _OPTION_BEFORE.search(before):
        return True
    value = text[number.start : number.end]
    if before.endswith("\n") and value.isdecimal() and len(value) < 4 and _ITEM_AFTER.match(text, number.end, end):
        return text.find(f"{int(value) - 1}.", start, number.start) >= 0
    return False


_LABEL_ENDS = re.compile(r"\s[a-z]")
"""Behind a label comes no noun: `Step 3`, but in `see 3 birds` the number counts."""
_BOUND_WORD = re.compile(
    r"(?:\b(?:than|at\s(?:least|most)|up\sto|exceeds?|times|plus|minus|negative|mod(?:ulo)?|out\sof|log|ln|sin"
    r"|cos|tan|lg|exp|sqrt(?:\sof)?"
    r"|roots?\sof|squared?\sof|cubed?\sof|power\sof|multiples?\sof|factors?\sof|(?:fraction|half|third|quarter"
    r"|percent)\sof|\d\sin|\d\sof"
    r"|(?:divid|multipl)\w{1,6}(?:\s\w{1,12}){0,2}\sby)|至少|至多|最多|超过|大于|小于|不足|除以|乘以|负)[\s$*(]{0,4}$"
    r"|[√∛≤≥≠≡^²³|][ $*(]{0,3}$|[<>!]=[ $]{0,3}$|\\(?:sqrt|log|ln|ne|neq|leq?|geq?|lt|gt|equiv|pmod|bmod"
    r"|mod)[ ({$]{0,3}$|[A-Za-z]\($"
    r"|\b[a-z]\s?(?:→|\\to)[ ]?$",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"(?:\d[ ]?[abcefijknpqrtuvwxyz]"
    r"|[A-Za-z)\]}][ ]?(?:\^[ ]?\{?[ ]?\w{1,3}[ ]?\}?|[²³⁰¹⁴-⁹ⁿ])|\|(?-i:[^|\nA-Z]{1,20})\|"
    r"|\b(?:squared|cubed|doubled)|√\w+|\b(?:sin|cos|tan|log|ln|sqrt)[ ]?\(?\w{1,3}\)?|\\(?:sqrt|ln|log|sin|cos"
    r"|tan)[ ]?[{(]?\w{1,3}[})]?)"
    r"[ $]{0,3}(?:=|\bequals|\bis[ ]equal[ ]to)[ $*]{0,4}$",
    re.IGNORECASE,
)
"""A side of an equation that is not a name or a sum but a multiple, a power or a function of what may be asked."""
_SUPPOSED = re.compile(
    r"\b(?:where|let|if|when|suppose|assume|setting|substitut\w+)\s\$?[A-Za-z]\s?=[\s$]{0,3}$", re.IGNORECASE
)
_ONE_OF_TWO = re.compile(r"\d[ ][A-Za-z]{2,12}[ ]and[ ]$")


_BOUND_LAST_WORDS = frozenset(
    [
        "than",
        "least",
        "most",
        "to",
        "exceed",
        "exceeds",
        "times",
        "plus",
        "minus",
        "negative",
        "mod",
        "modulo",
        "of",
        "log",
        "ln",
        "sin",
        "cos",
        "tan",
        "lg",
        "exp",
        "sqrt",
        "in",
        "by",
    ]
)
_BOUND_SIGNS = frozenset("√∛≤≥≠≡^²³|=→{")


def _last_word(before: str, strip: str) -> str:
    return before.rstrip(strip).rpartition(" ")[2].rpartition("\n")[2].lower()


def _is_bound_to_words(text: str, start: int, number: _Offer) -> bool:
    """Whether what precedes a number makes it a bound, an operand, one count of two, or a value of something else."""
    before = text[max(start, number.start - 40) : number.start].rpartition("\n")[2]
    head = before.rstrip(" $*(")
    last = head[-1:]
    if last == "=":
        return head.endswith(("<=", ">=", "!=")) or _is_other_side(before)
    word = _last_word(before, " $*(")
    is_suspect = last in _BOUND_SIGNS or word in _BOUND_LAST_WORDS or "\\" in word or not last.isascii()
    if (is_suspect or before[-1:] == "(") and _BOUND_WORD.search(before):
        return True
    if word in ("equals", "to") and _is_other_side(before):
        return True
    return word == "and" and "=" not in before and _ONE_OF_TWO.search(before) is not None


def _is_other_side(before: str) -> bool:
    """Whether the left side of an equation is not what is asked (`x^2 = 9`), or only supposed (`where x = 4`)."""
    if before.rstrip(" $*=")[-1:].isdecimal() and not any(char in before[-24:] for char in "^√\\|("):
        return False
    return (_SIDE.search(before) or _SUPPOSED.search(before)) is not None


_PROSE_BEFORE = re.compile(r"[A-Za-z]{2,}[\s,:]+[A-Za-z]{2,}\W{0,12}$|[㐀-鿿]{2}\W{0,3}$")


def _is_factorial(text: str, start: int, end: int, number: _Offer) -> bool:
    """Whether `!` behind a number is the sign, not the tone: of words before it the latter, in a formula the former."""
    if not text.startswith("!", number.end):
        return False
    if number.end + 1 < end and (_FORMULA_GOES_ON.match(text, number.end + 1, end)):
        return True
    return _PROSE_BEFORE.search(text[max(start, number.start - 40) : number.start]) is None


_FORMULA_GOES_ON = re.compile(r"\$|\\[)\]]|\s?[+*/^=×·÷<>≤≥]|\s[-−]\s?\d|[\w(\[{!]")


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


# --- final statements

_STATEMENT_CHARS = 400
_OPTION_LINE = re.compile(r"[*_\s]{0,4}\(?[A-H](?:\)?[*_\s]{0,4}|[.)][*_\s]{0,4}(?:\S[^\n]{0,100})?)")
_OPTION_ITEM = re.compile(r"[*_\s-]{0,4}\(?[A-H][.)]")
_OPTION_SENTENCE = re.compile(
    r"(?:\b(?:option|choice)\s\(?(?-i:(?P<option>[A-H]))\)?\sis\s(?:the\s)?(?:correct|right|best"
    r"|true)(?:\s(?:one|answer|option|choice))?"
    r"|^(?:so|thus|therefore|hence)?,?\s?\(?(?-i:(?P<subject>[A-H]))\)?\sis\s(?:the\s)?(?:correct|right"
    r"|best)(?:\s(?:answer|option|choice))?"
    r"|\b(?:go\swith|choose|pick|select)\s(?:option\s|choice\s|answer\s)?\(?(?-i:(?P<object>[A-H]))\)?)$",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"[*_\s]{0,4}(?P<word>yes|no|true|false)\b(?:[*_.,:;]{0,4}$|[*_]{0,3}[.,:;—–][*_]{0,3}\s)", re.IGNORECASE
)
_TRUE_FALSE = re.compile(
    r"\b(?:statement|claim|assertion|proposition|conjecture|hypothesis)\s(?:\w{1,12}\s){0,3}?is\s(?:therefore\s"
    r"|thus\s)?"
    r"[*_]{0,3}(?P<word>true|false)[*_]{0,3}$",
    re.IGNORECASE,
)
_SOLUTIONS = re.compile(
    r"\b(?:has|have|there\s(?:is|are|exists?))\s[*_]{0,3}(?P<word>(?:no|infinitely\smany)\s(?:(?:real|integer"
    r"|positive|rational)\s)?"
    r"solutions?)[*_]{0,3}$",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(?:\b(?:is|are|was)|:)\s?\*\*(?P<word>[^*\n]{1,60})\*\*$")
_ROOTS = re.compile(
    rf"^(?:(?:so|thus|therefore|hence)\b,?\s)?(?P<word>([a-z])\s?=\s?{NUMBER}(?:(?:,|,?\s(?:or"
    rf"|and))\s\2\s?=\s?{NUMBER}){{1,4}})$",
    re.IGNORECASE,
)
_UNSETTLED = re.compile(
    r"\b(?:not|never|cannot|maybe|perhaps|possibly|if|suppose|assume|let|where|unless|contradiction|given|want"
    r"|need|goal|recall"
    r"|would|could|might|wait|but|however|first|next|step|unsure|know|called|denoted|defined)\b|n['’]t\b|[?？]|如果|假设|不",
    re.IGNORECASE,
)
_LEADS_TO = re.compile(
    r"(?:^|^(?:thus|so|therefore|hence|consequently|finally|∴|因此|所以|故)\b[,:，\s]{0,3}(?:we\s(?:have|get|find"
    r"|obtain|conclude)(?:\sthat)?[:,]?)?"
    r"|\b(?:is|are|equals|becomes|be)\s?:?|[是为])\s?$",
    re.IGNORECASE,
)
_AND_BEFORE = re.compile(r"\$\s?(?:,|,?\s?(?:or|and))\s?$")


def _statement(text: str, start: int, end: int) -> _Offers:
    """What the last sentence commits to, if it commits to one thing; nothing when it denies, supposes or asks."""
    line_start = _strip(text, max(start, text.rfind("\n", start, end) + 1), end)[0]
    if end - line_start > _STATEMENT_CHARS:
        line_start = end - _STATEMENT_CHARS
    found = _option_line(text, start, line_start, end) or _yes_or_no(text, line_start, end)
    if found is None:
        sentence_start = max(
            [text.rfind(mark, line_start, end - 1) + 1 for mark in (". ", "? ", "! ", "。")] + [line_start]
        )
        sentence_start = _strip(text, sentence_start, end)[0]
        found = _stated(text, sentence_start, _strip(text, sentence_start, end, ".。")[1])
    return _NONE if found is None else _Offers((_Offer(*found, *found),))


def _option_line(text: str, start: int, line_start: int, end: int) -> tuple[int, int] | None:
    """A last line that is a letter, or one option written out; the last item of a list of options is neither."""
    if not _OPTION_LINE.fullmatch(text, line_start, end):
        return None
    before = text[max(start, line_start - _STATEMENT_CHARS) : line_start].rstrip().rpartition("\n")[2]
    return None if _OPTION_ITEM.match(before) else _trim(text, line_start, end)


def _yes_or_no(text: str, line_start: int, end: int) -> tuple[int, int] | None:
    """The word that begins a last line without a number, a doubt or its opposite in it."""
    word = _YES_NO.match(text, line_start, end)
    if word is None:
        return None
    rest = text[word.end() : end]
    is_doubtful = any(map(str.isdigit, rest)) or re.search(
        r"\b(?:yes|no|true|false|wait|but|however|unsure)\b|[?？]", rest, re.I
    )
    return None if is_doubtful else word.span("word")


_STATEMENT_ENDS = (
    *(
        "solution",
        "solutions",
        "true",
        "false",
        "correct",
        "right",
        "best",
        "answer",
        "option",
        "choice",
        "one",
        "$",
        ")",
        "*",
        "_",
    ),
    *(f"{before}{letter}" for letter in "abcdefgh" for before in " *("),
)
"""How a sentence ends that may state something: a look at that is cheaper than a look at all of it."""


def _stated(text: str, start: int, end: int) -> tuple[int, int] | None:
    sentence = text[start:end]
    if not sentence.lower().endswith(_STATEMENT_ENDS) and sentence.count("=") < 2:
        return None
    if solutions := _SOLUTIONS.search(sentence):
        return None if _UNSETTLED.search(sentence) else (start + solutions.start("word"), start + solutions.end("word"))
    if not sentence or _UNSETTLED.search(sentence):
        return None
    if option := _OPTION_SENTENCE.search(sentence):
        kind = option.lastgroup or 0
        return start + option.start(kind), start + option.end(kind)
    for pattern in (_TRUE_FALSE, _ROOTS, _BOLD):
        if (match := pattern.search(sentence)) is not None:
            is_number = any(map(str.isdigit, match["word"])) and pattern is _BOLD
            return None if is_number else (start + match.start("word"), start + match.end("word"))
    return _formula(text, start, end)


def _formula(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The formula that ends a sentence behind "is" or "thus", or is all of it; a number is left to `last_number`."""
    opening, closing = ("\\(", "\\)") if text.endswith("\\)", start, end) else ("$", "$")
    at = text.rfind(opening, start, max(start, end - len(closing)))
    if at < start or not text.endswith(closing, start, end) or text.startswith("$$", at - 1):
        return None
    if joined := _AND_BEFORE.search(text[start:at]):
        at = text.rfind("$", start, start + joined.start())
    elif re.fullmatch(rf"\s?{NUMBER}\s?", text[at + len(opening) : end - len(closing)].rpartition("=")[2]):
        return None
    if at < start or not _LEADS_TO.search(text[start:at]):
        return None
    return _unwrap(text, at, end)


# --- nothing but an answer

_BARE_CHARS = 600
_BARE_WORDS = 5
_BARE_COUNTED_WORDS = 3
_NOT_WORDS = re.compile(
    r"\\(?:text[a-z]{0,6}|mathrm|mathbf|operatorname\*?|mbox)\s?\{[^{}]*\}|\\(?:begin|end)\{[^{}]*\}|\\[a-zA-Z]+"
)
_BARE_WORD = re.compile(r"[^\W\d_²³¹⁰-⁹₀-₉]{2,}")
_NAMES_OF_FUNCTIONS = frozenset(
    [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "log",
        "ln",
        "exp",
        "sqrt",
        "arcsin",
        "arccos",
        "arctan",
        "pi",
        "or",
        "and",
        "mod",
        "gcd",
        "lcm",
        "max",
        "min",
        "sinh",
        "cosh",
        "tanh",
        "am",
        "pm",
        "AM",
        "PM",
        "inf",
        "infty",
    ]
)
_HAN_SENTENCE = re.compile(r"[\u3400-\u9fff]{5,}|[。，：]")
_SENTENCE_WORD = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|so|thus|therefore|hence|then|because|since|we|it|there|this|that|she|he|they|you"
    r"|i|get|gets|got|find|need|needs|will|would|can|cannot|not|never|let|if|suppose|step|answer|guess|think|know)\b",
    re.IGNORECASE,
)
_STARTS_AS_QUANTITY = re.compile(r"[-+−$€£¥\\({\s]{0,4}[\d.\\]")
_OPENS_DISPLAY = ("$$", "\\[", "\\begin", "\\left")
_CALCULATION = re.compile(r"\d\s?[-+*/×÷]\s?\d[^=,;]{0,80}=[^,;]{0,80}[,;]")


def _bare(text: str, start: int, end: int) -> _Offers:
    """The whole segment, when it is short and no sentence."""
    if end - start > _BARE_CHARS:
        return _NONE
    segment = text[start:end]
    if "\n" in segment and not segment.startswith(_OPENS_DISPLAY):
        return _NONE
    if not segment.isascii() and _HAN_SENTENCE.search(segment):
        return _NONE
    if "?" in segment or "？" in segment or "<" in segment[:1] or _CALCULATION.search(segment):
        return _NONE
    words = [word for word in _BARE_WORD.findall(_NOT_WORDS.sub(" ", segment)) if _is_word(word)]
    if words and not _is_phrase(segment, words):
        return _NONE
    inner = _trim(text, start, end)
    return _Offers((_Offer(*inner, start, end),)) if inner[0] < inner[1] else _NONE


def _is_word(run: str) -> bool:
    """Two letters that are no word are factors."""
    return run not in _NAMES_OF_FUNCTIONS and (len(run) > 2 or not run.isascii() or run.lower() in _TWO_LETTER_WORDS)


_TWO_LETTER_WORDS = frozenset(
    ["is", "of", "to", "in", "no", "it", "he", "we", "if", "so", "at", "on", "by", "be", "do", "my"]
)


def _is_phrase(segment: str, words: Sequence[str]) -> bool:
    """Whether the words are a unit, a noun phrase, or the few that go with a formula."""
    if len(words) > _BARE_WORDS or _SENTENCE_WORD.search(segment) or _UNSETTLED.search(segment):
        return False
    numbers = _ANY_DIGIT.findall(segment)
    if not numbers or (segment.endswith("$") and segment.count("$") % 2 == 0):
        return not segment.endswith(":")
    return len(numbers) == 1 and len(words) <= _BARE_COUNTED_WORDS and _STARTS_AS_QUANTITY.match(segment) is not None


# --- the channels' readers


def _last_line(text: str, start: int, end: int) -> _Offers:
    line_start = _strip(text, max(start, text.rfind("\n", start, end) + 1), end)[0]
    return _Offers((_Offer(line_start, end, line_start, end),))


def _whole(text: str, start: int, end: int) -> _Offers:
    return _Offers((_Offer(start, end, start, end),))


_READERS: Mapping[Channel, Callable[[str, int, int], _Offers]] = {
    Channel.ANSWER_TAG: _tags,
    Channel.BOXED: _boxes,
    Channel.HASH4: _hashes,
    Channel.ANSWER_LINE: _lines,
    Channel.BARE: _bare,
    Channel.FINAL_STATEMENT: _statement,
    Channel.LAST_NUMBER: _numbers,
    Channel.LAST_LINE: _last_line,
    Channel.WHOLE: _whole,
}
_READERS_IF_NAMED: Mapping[Channel, Callable[[str, int, int], _Offers]] = {
    **_READERS,
    Channel.HASH4: partial(_hashes, headings=True),
}
"""For callers who name their channels: what looks like a heading may be an answer too."""


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
_PART_LABEL = re.compile(r"\s*[.,;]?\s*\(?(?:[b-h]|i{2,3}|iv)\)[:.]?\s*", re.IGNORECASE)
_PERHAPS = re.compile(
    r"\b(?:alternative(?:ly)?|possibly|possibility|maybe|perhaps|might be|could be|if not)\b|可能|也许|或许",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"(?:^|[;,:。；，\n])[\s*(]{0,4}(?:(?:and|but|while)\s)?(?:case\b|if\b|情况|若|如果|当)", re.IGNORECASE
)
"""The sentence or clause that leads to a later offer is about one case of several."""
_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistake\w*|error|instead|rather|sorry|wrong|no)\b|不对|更正|错", re.IGNORECASE
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|finally|in (?:all|both|either) cases?|overall|altogether)\b|因此|综上", re.IGNORECASE
)
_COMMITS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistake|error|instead|rather|final\w*|therefore|thus|hence|so|but|answer|no)\b"
    r"|不对|更正|应该|最终|因此|所以|答案",
    re.IGNORECASE,
)


def _commit(text: str, channel: Channel, offers: _Offers, on_conflict: OnConflict) -> Extraction:
    items = offers.items
    last = items[-_MAX_CANDIDATES:]
    candidates = tuple([Candidate(text[item.start : item.end], channel, (item.start, item.end)) for item in last])
    if offers.reason is not None:
        return Extraction(None, channel, None, offers.reason, candidates)
    if len(items) == 1 and channel is not Channel.ANSWER_LINE:
        is_plain = not items[0].box_end or text.startswith(_SPAN_ENDS, items[0].box_end)
        if is_plain or _unit(text, items[0]) is None:
            return Extraction(candidates[0].text, channel, candidates[0].span, "found", candidates)
    group, conflicting = _last_group(text, items, _number_link if channel is Channel.LAST_NUMBER else _link)
    if conflicting or (channel is Channel.ANSWER_LINE and names_alternatives(candidates[-1].text)):
        return Extraction(None, channel, None, "conflicting_answers", candidates)
    if on_conflict == "reject" and _has_others(text, items, group):
        return Extraction(None, channel, None, "conflicting_answers", candidates)
    unit = _unit(text, group[-1])
    end = group[-1].end if unit is None else unit[1]
    return Extraction(_joined(text, group), channel, (group[0].start, end), "found", candidates)


def _joined(text: str, group: Sequence[_Offer]) -> str:
    """The parts of an answer with their units; with their names too, if there are several and each has one."""
    named = len(group) > 1 and all(each.name for each in group)
    return ", ".join((f"{each.name}=" if named else "") + _written(text, each) for each in group)


def _written(text: str, offer: _Offer) -> str:
    unit = _unit(text, offer)
    return text[offer.start : offer.end] + ("" if unit is None else text[slice(*unit)])


def _unit(text: str, offer: _Offer) -> tuple[int, int] | None:
    """The percent sign, degree sign or unit directly behind a box, which belongs to the answer."""
    return _unit_behind(text, offer.box_end, len(text)) if offer.box_end else None


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
        return _Link.ALTERNATIVES if end - start <= 2 * _MAX_GAP_CHARS and _is_case(text[start:end]) else _Link.APART
    gap = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text[start:end]) if end > start else ""
    if gap.strip() and (_AND.fullmatch(gap) or _PART_LABEL.fullmatch(gap)):
        return _Link.PARTS
    if not any(char.isalnum() or char in "=+" for char in gap):
        return _Link.ALTERNATIVES
    if _OR_AT_START.match(gap) or (_OR.search(gap) and not _SENTENCE_END.search(gap)):
        return _Link.ALTERNATIVES
    if (_PERHAPS.search(gap) and not _CORRECTS.search(gap)) or _is_case(gap):
        return _Link.ALTERNATIVES
    if len(gap) <= _NEAR_CHARS and not _COMMITS.search(gap):
        return _Link.NEAR
    return _Link.APART


def _is_case(gap: str) -> bool:
    """Whether what leads to a later offer makes it the answer of one case, and not a correction or a conclusion."""
    if _CASE.search(_SENTENCE_END.split(gap.rstrip(" .!?。"))[-1]) is None:
        return False
    return not _CORRECTS.search(gap) and not _CONCLUDES.search(gap)


def _number_link(text: str, start: int, end: int) -> _Link:
    """Numbers stand close together in any calculation, so less of what is between them says something."""
    if end - start > _MAX_GAP_CHARS:
        return _Link.APART
    gap = text[start:end]
    if not gap.strip():
        return _Link.APART if "\n" in gap else _Link.ALTERNATIVES
    gap = _MARKUP.sub(lambda match: f" {match[1] or ''} ", gap)
    if gap.strip() and _AND.fullmatch(gap):
        return _Link.PARTS
    if _OR_AT_START.match(gap) or (_OR.search(gap) and not _SENTENCE_END.search(gap)):
        return _Link.ALTERNATIVES
    return _Link.APART


def _has_others(text: str, items: Sequence[_Offer], group: Sequence[_Offer]) -> bool:
    keys = {_key(text, item) for item in group}
    return any(_key(text, item) not in keys for item in items)


_SPACE = re.compile(r"\s+|\\[,;:! ]|\$")


def _key(text: str, offer: _Offer) -> str:
    """What makes two offers the same answer, as far as characters tell."""
    return _SPACE.sub("", fold(text[offer.start : offer.end])).rstrip(".")
