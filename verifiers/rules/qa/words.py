"""The normal form of a text, and its words. Two answers are compared by them.

    signs   as squad, but signs that make another value or name count: -5, 3.5, 10:30, 1/2, >5, 5%, C++, C#, A+, Cl-
    squad   lower case, without ASCII punctuation and without the words a, an, the  (SQuAD's evaluation script: 3.5 is 35);
            and without the quotes and dashes that typesetters write for ASCII's  (as TriviaQA's does for quotes)
    cjk     NFKC, lower case, without punctuation and symbols; a Chinese, Japanese or Korean character is a word
    none    as it stands, divided at spaces

Invisible characters never count. If a normal form leaves nothing of a text ("The The" in SQuAD's), the result of the
weaker form is kept, so that two such texts are not equal because both are empty.
"""

import re
import string
import unicodedata
from typing import Literal

from memory import remember
from verifiers.commitment.cues import Kind, cues
from verifiers.commitment.cues import words as spoken
from verifiers.commitment.folding import visible

Normalise = Literal["signs", "squad", "cjk", "none"]

_PUNCTUATION = str.maketrans("", "", f"{string.punctuation}“”„‟‘’‚‛´«»‹›‐‑‒–—…。，、；：？！「」『』【】《》〈〉（）")
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""The characters of Chinese, Japanese and Korean. Each counts as a word, with or without spaces."""
_CJK_CHAR = re.compile(f"[{_HAN}]")
_CJK_WORD = re.compile(rf"[{_HAN}]|[^\s{_HAN}]+")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_KEPT_POINT = "\ue000"


def unaccented(text: str) -> str:
    """The text without the accents and strokes of its letters: Łódź becomes Lodz."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text.translate(_STROKES))
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))


_STROKES = str.maketrans("łŁøØđĐħĦıſ", "lLoOdDhHis")


def has_cjk(text: str) -> bool:
    return not text.isascii() and _CJK_CHAR.search(text) is not None


def words(text: str, normalise: Normalise) -> tuple[str, ...]:
    """The words of a text's normal form; empty only for a text that shows nothing."""
    return _words_again(text, normalise) if len(text) <= _MAX_REMEMBERED_CHARS else _long_words_again(text, normalise)


_MAX_REMEMBERED_CHARS = 200


@remember(4)
def _long_words_again(text: str, normalise: Normalise) -> tuple[str, ...]:
    """The words of a long text, cached: a long answer is compared with many references."""
    return _words(text, normalise)


@remember(4096)
def _words_again(text: str, normalise: Normalise) -> tuple[str, ...]:
    """The words of a short text, cached: references, and answers to one question, are often the same few texts."""
    return _words(text, normalise)


def _words(text: str, normalise: Normalise) -> tuple[str, ...]:
    text = visible(text)
    if normalise == "none":
        return tuple(text.split())
    if normalise == "cjk":
        return _cjk(text) or tuple(text.lower().split())
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if normalise == "signs":
        text = _SUBSCRIPTS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text).translate(_DASHES)
        text = _LEADING_POINT.sub("0.", _IN_DIGITS.sub("", text))
        text = _KEPT.sub(lambda sign: sign[0].translate(_AS_LETTERS), text)
        text = _BETWEEN_DIGITS.sub(" ", text)
    plain = text.lower().translate(_PUNCTUATION)
    return tuple(ARTICLES.sub(" ", plain).split()) or tuple(plain.split()) or tuple(text.lower().split())


_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_SUBSCRIPTS = re.compile("(?<=[A-Za-z)\\]])(?:[₀-₉]+|(?<=[A-Za-z)\\]₀-₉])[⁰¹²³⁴-⁹]*[⁺⁻])+")
"""The digits and the charge of a formula: H₂O, Ca²⁺."""
_IN_DIGITS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))|(?<![^\s(])\+(?=\.?\d)")
"""Signs of a number that change nothing: 1,000 and +5."""
_LEADING_POINT = re.compile(r"(?<![^\s(*_<>=+-])\.(?=\d)")
_OF_NUMBER = r"(?<=\d)[.:/^-](?=\d)|(?<![^\s(*_])[-<>~≈≤≥]=?(?=\s?\.?\d)|(?<=\b\w)\s?[<>]\s?(?=\w\b)"
_OF_NAME = r"(?<=\w)\$(?=\w)|(?<=[^\W_])(?:\+{1,2}|#)(?![^\W_])"
_KEPT = re.compile(rf"{_OF_NUMBER}|{_OF_NAME}|(?<=\d)\s?%|(?<![^\W_])[^\W_]{{1,3}}-(?![\w-])")
"""Signs inside a number, before one, inside a name, and behind the letters of a name, a mark or an ion."""
_AS_LETTERS = {ord(sign): 0xE000 + ord(sign) % 0x1000 for sign in ".:/^-<>=$+#%~≈≤≥"}
"""Private characters stand for the signs that are kept."""
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[(),;]+(?=\d)")


def _cjk(text: str) -> tuple[str, ...]:
    """The words of the form `cjk`. A point between digits is not a punctuation: 3.5 is not 35."""
    text = _POINT.sub(_KEPT_POINT, unicodedata.normalize("NFKC", text).lower().replace(_KEPT_POINT, ""))
    letters = "".join(char for char in text if unicodedata.category(char)[0] not in "PS")
    return tuple(_CJK_WORD.findall(letters.replace(_KEPT_POINT, ".")))


def joints(text: str) -> list[tuple[int, int]]:
    """The spans, with the space around them, of signs and words that divide a list: commas and similar signs, "and"."""
    spans = [sign.span() for sign in _LIST_SIGN.finditer(text)]
    spoken_words = spoken(text)
    joining = [cue for cue in cues(spoken_words) if cue.kind is Kind.JOINS and spoken_words[cue.first].text.isalpha()]
    return sorted(spans + [(spoken_words[cue.first].start, spoken_words[cue.stop - 1].end) for cue in joining])


_LIST_SIGN = re.compile(r",(?!\d)|[;/|\n、，；،؛]")
