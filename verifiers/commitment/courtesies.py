"""Closing phrases of chat models: hope this helps, let me know if you have any questions, confidence: 90%."""

import re

from verifiers.commitment.afterwords import without_afterword
from verifiers.commitment.confidence import is_confidence
from verifiers.commitment.cues import Kind, cues, kinds, words
from verifiers.commitment.spans import strip
from verifiers.commitment.wording import openings

_PLAIN = re.compile(r"[^\n.!?。！？\d\"“”()\[\]{}<>=:;*$\\]+[.!?。！？]?[\s\U0001F300-\U0001FAFF☺️]*")
"""A sentence of letters only: no digit or sign in which an answer could be written."""
_SAYS_MORE = kinds("yes no bad wrong not doubt maybe guess but back sure")
"""Cues of doubt or correction. A sentence with one is more than a courtesy."""
_STOPS = (". ", "! ", "? ", "\n", "。", "！", "？", "😊 ", "* ")
_MAX_SENTENCES = 3
_MAX_CHARS = 200


def without_courtesy(text: str, origin: int, end: int) -> int:
    """The end of a part of a text without the courtesies, the check or the note at its end. A part of nothing else keeps them."""
    for ended in _END_OF_PROOF.finditer(text, max(origin, end - _MAX_SIGN_CHARS), end):
        end = ended.start() if ended.end() == end else end
    for _ in range(_MAX_SENTENCES):
        start = _last_courtesy(text, max(origin, end - _MAX_CHARS), end)
        if start is None:
            break
        end = strip(text, origin, start)[1]
    return without_afterword(text, origin, end)


_SIGN_OF_END = r"(?:\\(?:blacksquare|square|Box|qed|QED)(?![a-zA-Z])|[∎□■◻◼]|\bQ\.?E\.?D\b\.?|\bCQFD\b)"
_END_OF_PROOF = re.compile(rf"(?<=[\w$)}}\].。．])[,\s]{{1,8}}(?:\${_SIGN_OF_END}\$|{_SIGN_OF_END}(?!\$))\.?\s*")
_MAX_SIGN_CHARS = 24
"""A sign or letters that end a proof, behind what it proves."""


def _last_courtesy(text: str, first: int, end: int) -> int | None:
    """The start of the last sentence or line, if it is a courtesy and has text before it."""
    line = text.rfind("\n", first, end - 1) + 1
    if line and is_confidence(text, line, end):
        return line
    origins = [index + len(stop) for stop in _STOPS if (index := text.rfind(stop, first, end - 1)) >= 0]
    start = max(origins, default=None)
    return start if start is not None and _is_courtesy(text, start, end) else None


def _is_courtesy(text: str, start: int, end: int) -> bool:
    if not _PLAIN.fullmatch(text, start, end):
        return False
    phrase = [word for word in words(text, start, end) if word.text not in "¡¿"]
    if not phrase or phrase[0].text not in openings(Kind.COURTESY):
        return False
    signals = cues(phrase)
    stop = max((cue.stop for cue in signals if cue.kind is Kind.COURTESY and cue.first == 0), default=0)
    if not stop or any(cue.kind in _SAYS_MORE and cue.first >= stop for cue in signals):
        return False
    texts = [text[word.start : word.end] for word in phrase[stop:]]
    return not any(len(word) == 1 and word.isascii() and word.isupper() and word != "I" for word in texts)
