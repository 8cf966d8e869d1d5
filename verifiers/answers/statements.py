"""The channel `final_statement`: what the last sentence of a text commits to.

An option, yes or no, true or false, no solution, roots, a bold phrase, a formula; never just a number.
"""

import re

from verifiers.answers.numerals import NUMBER
from verifiers.answers.offers import NO_OFFERS, Offer, Offers
from verifiers.answers.spans import strip, trim, unwrap

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
UNSETTLED = re.compile(
    r"\b(?:not|never|cannot|maybe|perhaps|possibly|if|suppose|assume|let|where|unless|contradiction|given|want"
    r"|need|goal|recall"
    r"|would|could|might|wait|but|however|first|next|step|unsure|know|called|denoted|defined)\b|n['’]t\b|[?？]|如果|假设|不",
    re.IGNORECASE,
)
"""What makes a sentence one that does not commit to what it says: a denial, a doubt, a condition, a plan."""
_LEADS_TO = re.compile(
    r"(?:^|^(?:thus|so|therefore|hence|consequently|finally|∴|因此|所以|故)\b[,:，\s]{0,3}(?:we\s(?:have|get|find"
    r"|obtain|conclude)(?:\sthat)?[:,]?)?"
    r"|\b(?:is|are|equals|becomes|be)\s?:?|[是为])\s?$",
    re.IGNORECASE,
)
_AND_BEFORE = re.compile(r"\$\s?(?:,|,?\s?(?:or|and))\s?$")


def read_statement(text: str, start: int, end: int) -> Offers:
    """What the last sentence commits to, if it commits to one thing; nothing when it denies, supposes or asks."""
    line_start = strip(text, max(start, text.rfind("\n", start, end) + 1), end)[0]
    if end - line_start > _STATEMENT_CHARS:
        line_start = end - _STATEMENT_CHARS
    found = _option_line(text, start, line_start, end) or _yes_or_no(text, line_start, end)
    if found is None:
        sentence_start = max(
            [text.rfind(mark, line_start, end - 1) + 1 for mark in (". ", "? ", "! ", "。")] + [line_start]
        )
        sentence_start = strip(text, sentence_start, end)[0]
        found = _stated(text, sentence_start, strip(text, sentence_start, end, ".。")[1])
    return NO_OFFERS if found is None else Offers((Offer(*found, *found),))


def _option_line(text: str, start: int, line_start: int, end: int) -> tuple[int, int] | None:
    """A last line that is a letter, or one option written out; the last item of a list of options is neither."""
    if not _OPTION_LINE.fullmatch(text, line_start, end):
        return None
    before = text[max(start, line_start - _STATEMENT_CHARS) : line_start].rstrip().rpartition("\n")[2]
    return None if _OPTION_ITEM.match(before) else trim(text, line_start, end)


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
        return None if UNSETTLED.search(sentence) else (start + solutions.start("word"), start + solutions.end("word"))
    if not sentence or UNSETTLED.search(sentence):
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
    inner = unwrap(text, at, end)
    return inner if inner[0] < inner[1] else None
