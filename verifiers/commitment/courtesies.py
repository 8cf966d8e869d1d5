"""What a chat model says when it has said all: hope this helps, let me know if you have any questions, confidence: 90%."""

import re

from verifiers.commitment.spans import strip
from verifiers.sightings import Scan

_ANY = r"[^\n.!?。！？\d\"“”()\[\]{}<>=:;*$\\]{0,120}"
"""Nothing that an answer could be written in, but for letters."""
_COURTESY = re.compile(
    r"(?:(?:(?:i|we)\s)?(?:(?:really|do)\s)?hope\s(?:this|that|it|the\sexplanation)\s(?:was\shelpful|helps|helped|clarifies|clears)\b"
    r"|(?:(?:and|so)\s)?(?:please,?\s)?(?:just\s)?(?:let\sme\sknow|feel\sfree|don['’]t\shesitate|do\snot\shesitate)\b"
    r"|if\s(?:you(?:['’]d|\swould)?\s(?:have|need|want|like)|there(?:['’]s|\sis|\sare)|anything|something)\b"
    r"|(?:is\sthere\sanything|would\syou\slike|do\syou\s(?:want|have|need)|can\si\shelp)\b"
    r"|good\sluck\b|happy\s(?:learning|studying|coding|to\shelp)\b|have\sa\s(?:great|nice|good|wonderful)\b"
    r"|thank(?:s|\syou)\b|you['’]re\swelcome\b|best\s(?:regards|wishes)\b|cheers\b"
    r"|希望(?:这|這|以上|能|对|對|我的)|如果?(?:你|您)?(?:还|還|仍)?有(?:其他|任何|什么|什麼|疑|问|問)|如需|谢谢|謝謝|祝(?:你|您))"
    rf"{_ANY}[.!?。！？]?[\s\U0001F300-\U0001FAFF☺️😊]{{0,8}}",
    re.IGNORECASE,
)
_CONFIDENCE = re.compile(
    r"[*_#>\s]{0,6}(?:my\s)?confidence(?:\s(?:level|score|in\s(?:this|my)\sanswer))?[*_]{0,3}(?:\sis|\s?[:=])[*_\s]{0,4}"
    r"(?:\d{1,3}(?:\.\d{1,4})?\s?(?:%|/\s?\d{1,3}|out\sof\s\d{1,3})?|(?:very\s)?(?:high|medium|moderate|low))[*_.\s]{0,4}",
    re.IGNORECASE,
)
"""A line of its own that says how sure the model is."""
_SPACE = "[^a-z]{1,4}"
_MAY_BE = Scan(
    rf"(?i)hope{_SPACE}|let{_SPACE}me|feel{_SPACE}free|hesitate|if{_SPACE}(?:you|there|any|some)|is{_SPACE}there|would{_SPACE}you"
    rf"|do{_SPACE}you|can{_SPACE}i|luck|happy|have{_SPACE}a{_SPACE}|thank|welcome|regards|wishes|cheers|confidence|希望|有|如需|谢|謝|祝"
)
"""A word of each of these; most texts end in none."""
_SAYS_MORE = re.compile(
    r"(?<![^\W_])(?-i:(?!I(?![^\W_]))[A-Z])(?![^\W_])"
    r"|\b(?:sure|certain|unsure|wrong|incorrect|right|correct|mistaken?|mistakes?|errors?|but|though|however|guess|maybe|perhaps"
    r"|actually|instead|rather|meant)\b|确定|错|對|对吗|但",
    re.IGNORECASE,
)
"""An option, a doubt or a correction: then it is no mere courtesy."""
_STOPS = (". ", "! ", "? ", "\n", "。", "！", "？", "😊 ", "* ")
_MAX_SENTENCES = 3
_MAX_CHARS = 200


def without_courtesy(text: str, begin: int, end: int) -> int:
    """Where what a part of a text says ends, before the courtesies behind it; a part that is nothing else keeps them."""
    if not _MAY_BE.is_in(text[max(begin, end - _MAX_CHARS) : end].encode("utf-8", "replace")):
        return end
    for _ in range(_MAX_SENTENCES):
        start = _last_courtesy(text, max(begin, end - _MAX_CHARS), end)
        if start is None:
            break
        end = strip(text, begin, start)[1]
    return end


def _last_courtesy(text: str, first: int, end: int) -> int | None:
    """Where the last sentence, or line, begins if it is one and something stands before it."""
    line = text.rfind("\n", first, end - 1) + 1
    if line and _CONFIDENCE.fullmatch(text, line, end):
        return line
    starts = [place + len(stop) for stop in _STOPS if (place := text.rfind(stop, first, end - 1)) >= 0]
    start = max(starts, default=None)
    if start is None or _COURTESY.fullmatch(text, start, end) is None or _SAYS_MORE.search(text, start, end):
        return None
    return start
