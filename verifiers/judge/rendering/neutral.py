"""Makes a text harmless as quoted data: parts that could act on the judge are replaced by visible forms.

Three things in a data field act on a judge without being read as text: invisible characters, tokens with which chat
templates mark roles (servers turn them into real markers anywhere in a text), and our own fences. Each is made visible
with look-alike brackets; nothing is left out, so a judge still sees what the response tried, and a response that
discusses such tokens can still be judged.

    <|im_end|>   ‹¦im_end¦›          U+202E   ⟦U+202E⟧          >>>RESPONSE   ›››RESPONSE

All passes are linear, deterministic, and idempotent.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from memory import remember
from verifiers.commitment.segment import THINKING

SECTIONS: Final = ("QUESTION", "REFERENCE", "RESPONSE", "RESPONSE_A", "RESPONSE_B", "CRITERIA", "STEPS")
REACH_CHARS: Final = 320
"""No pattern looks further than this from its beginning."""

_OTHER_BREAKS: Final = str.maketrans(dict.fromkeys("\r\x0b\x0c\x85\u2028\u2029", "\n"))
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ROWS: Final = re.compile("(?<=[\u200c\u200d])[\u200c\u200d]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]")
"""One joiner or variation selector belongs to a script or an emoji; a row of them may hide a message."""

_OPENER: Final = re.compile("[<＜][|｜]")
_CLOSER: Final = re.compile("[|｜][>＞]")
_BAR_REACH_CHARS: Final = 256
"""The longest text between the bars of `<|...|>`; the pipes of programs are further apart, or on separate lines."""

_TAGS: Final = (
    "s|unk|pad|bos|eos|mask|cls|sep|eop|sop|eod|eot|eoa|eoh|eom|"
    "(?:bos|eos|pad|cls|sep|unk|mask)_token|"
    "(?:start|end)_of_(?:turn|image|audio|text|role)|(?:start|end)_header_id|(?:begin|beginning|end)_of_(?:text|sentence)|"
    f"{'|'.join(THINKING)}|"
    "tools?|tool_calls?|tool_responses?|tool_results?|tool_outputs?|tool_declare|function_calls?|functions?|function_results?|"
    "[a-z]{2,12}:tool_call|longcat_tool_call|arg_key|arg_value|invoke|"
    "image|img|video|audio|image_soft_token|image_pad|"
    "unused_?[0-9]{1,5}|reserved_?[0-9]{1,5}|extra_id_[0-9]{1,4}|special_[0-9]{1,5}|reserved_token_[0-9]{1,5}"
)
_BRACKETED: Final = (
    "(?i:inst|system_prompt|available_tools|tool_calls|tool_results|gmask|smask)|"
    "TOOL_CONTENT|CALL_ID|ARGS|MODEL_SETTINGS|THINK|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX|"
    "MASK|CLS|SEP|PAD|UNK|BOS|EOS|UNUSED_TOKEN_[0-9]{1,5}"
)
_TOKENS: Final = tuple(
    (pattern[0] if pattern[0] != "\\" else pattern[1], re.compile(pattern))
    for pattern in (
        rf"<(?i:/?(?=[a-z])(?:{_TAGS})[ \t]{{0,8}}/?>|</?sys>>)",
        rf"\[(?:/?(?:{_BRACKETED})\]|e~\[)",
        r"\]~!?b[\[\]]",
        r"◁(?i:/?think)▷",
    )
)
"""Control tokens by their first character: most texts have few of these, and need not be searched."""
_DISARMED: Final = str.maketrans(
    {"<": "‹", ">": "›", "＜": "‹", "＞": "›", "|": "¦", "｜": "¦", "[": "⟦", "]": "⟧", "◁": "‹", "▷": "›"}
)


def _any_width(name: str) -> str:
    """A pattern for a name in any case, in usual or full-width letters."""
    return "".join(
        re.escape(letter)
        if not letter.isalpha()
        else f"[{letter}{letter.lower()}{chr(ord(letter) + 0xFEE0)}{chr(ord(letter) + 0xFF00)}]"
        for letter in name
    )


_FENCES: Final = re.compile(
    "(?:(?<![<＜])[<＜]{3,}+|(?<![>＞])[>＞]{3,}+)"
    rf"(?=[^\S\n]{{0,64}}(?:{'|'.join(_any_width(name) for name in SECTIONS)}))"
)


def neutralise(text: str, control_tokens: Sequence[str] = (), *, keeps_breaks: bool = False) -> str:
    """The text with everything that could act made visible.

    `control_tokens`: tokens of the endpoint's model that are missing in the list here. `keeps_breaks`: line breaks stay as
    they are, for texts that no fence of ours encloses; otherwise each becomes a line feed.
    """
    if not text.isascii() or _CONTROLS.search(text):
        if not keeps_breaks:
            text = text.replace("\r\n", "\n").translate(_OTHER_BREAKS)
        text = _ROWS.sub(_show, _HIDDEN.sub(_show, text))
    text = _disarm_tags(_disarm_bars(text))
    if pattern := _pattern_of(tuple(control_tokens)):
        text = pattern.sub(_disarm_any, text)
    return _FENCES.sub(_disarm, text) if _may_have_fences(text) else text


def has_control_tokens(text: str) -> bool:
    """Whether a text holds anything that a chat template or a tokenizer might take for a token."""
    return _disarm_bars(text) != text or any(mark in text and pattern.search(text) for mark, pattern in _TOKENS)


def has_hidden(text: str) -> bool:
    return _HIDDEN.search(text) is not None or (not text.isascii() and _ROWS.search(text) is not None)


def has_fences(text: str) -> bool:
    return _may_have_fences(text) and _FENCES.search(text) is not None


def _may_have_fences(text: str) -> bool:
    return "<<<" in text or ">>>" in text or "＜" in text or "＞" in text


def _show(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match.group()):04X}⟧"


def _disarm_tags(text: str) -> str:
    for mark, pattern in _TOKENS:
        if mark in text:
            text = pattern.sub(_disarm, text)
    return text


def _disarm(match: re.Match[str]) -> str:
    return match.group().translate(_DISARMED)


def _disarm_any(match: re.Match[str]) -> str:
    """Make one of the endpoint's own tokens harmless; a token without a bracket to replace is taken apart."""
    token = match.group()
    disarmed = token.translate(_DISARMED)
    if disarmed != token:
        return disarmed
    return f"{token[0]}·{token[1:]}" if len(token) > 1 else f"⟦U+{ord(token):04X}⟧"


@remember(64)
def _pattern_of(tokens: tuple[str, ...]) -> re.Pattern[str] | None:
    longest_first = sorted({token for token in tokens if token}, key=lambda token: (-len(token), token))
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _disarm_bars(text: str) -> str:
    """Replaces every `<|` with a `|>` near after it on its line, and every `|>` with a `<|` near before it.

    It works by pairs and not by matches, because tokens may be nested and overlap; a lone pipe of a program stays.
    """
    if "|" not in text and "｜" not in text:
        return text
    openers = [match.start() for match in _OPENER.finditer(text)]
    closers = [match.start() for match in _CLOSER.finditer(text)]
    marks: set[int] = set()
    for opener in openers:
        following = bisect_left(closers, opener + 2)
        if following < len(closers) and _is_near(text, opener, closers[following]):
            marks.add(opener)
    for closer in closers:
        preceding = bisect_left(openers, closer - 1) - 1
        if preceding >= 0 and _is_near(text, openers[preceding], closer):
            marks.add(closer)
    pieces: list[str] = []
    position = 0
    for mark in sorted(marks):
        pieces += text[position:mark], text[mark : mark + 2].translate(_DISARMED)
        position = mark + 2
    return "".join((*pieces, text[position:]))


def _is_near(text: str, opener: int, closer: int) -> bool:
    return closer - opener <= _BAR_REACH_CHARS and "\n" not in text[opener:closer]
