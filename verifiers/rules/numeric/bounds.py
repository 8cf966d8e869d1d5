"""Words that make a bound or a denial of the number beside them, in languages other than English and Chinese.

They stand before it in German, French, Spanish, Portuguese, Italian and Russian, behind it in Japanese and Korean.
"""

import re

_PHRASES = (
    *(
        "mindestens",
        "höchstens",
        "mehr als",
        "weniger als",
        "größer als",
        "kleiner als",
        "über",
        "unter",
        "nicht",
        "kein",
        "keine",
    ),
    *("au moins", "au plus", "du moins", "du plus", "plus de", "moins de", "supérieur à", "inférieur à", "pas"),
    *("al menos", "por lo menos", "como máximo", "como mínimo", "no es", "no son", "no era", "no fue"),
    *(f"{more} {than}" for more in ("más", "menos", "mayor", "menor") for than in ("de", "que")),
    *("pelo menos", "no máximo", "no mínimo", "mais de", "não é", "não são"),
    *("almeno", "al massimo", "al meno", "più di", "meno di", "non è", "non sono"),
    *("не", "менее", "более", "меньше", "больше", "менее чем", "более чем", "меньше чем", "больше чем"),
    *("не менее", "не более", "не меньше", "не больше"),
)
_LAST_WORDS = frozenset(phrase.rpartition(" ")[2] for phrase in _PHRASES)
"""Looked up before the phrases are: most numbers follow none of them."""
BEHIND = (
    r"(?:\s?[^\W\d_a-zA-Z]{0,2}\s?(?:이상|이하|미만|초과)|[^\W\d_a-zA-Z]{0,3}?(?:未満|を超え|(?:では|じゃ)(?:な|あり))"
    r"|[^\W\d_a-zA-Z]{0,3}?[은는이가]?\s?아[니닙닌])"
)
_BEFORE_END = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\s?\Z", re.IGNORECASE)
_BEHIND = re.compile(BEHIND)
_CHARS = 24


def bound_before(head: str) -> str:
    """The words at the end of a text that make a bound, or a denial, of the number behind it."""
    bare = head[-_CHARS:].rstrip(" $*(")
    if bare.rpartition(" ")[2].rpartition("\n")[2].lower() not in _LAST_WORDS:
        return ""
    found = _BEFORE_END.search(bare)
    return found[0] + " " if found else ""


def is_bound_behind(after: str) -> bool:
    return not after.isascii() and _BEHIND.match(after) is not None
