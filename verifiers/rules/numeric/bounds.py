"""Words that make a bound or a denial of the number beside them, in languages other than English and Chinese.

They stand before it in German, French, Spanish, Portuguese, Italian and Russian, behind it in Japanese and Korean.
"""

import re

_BEFORE = (
    r"\b(?:mindestens|höchstens|(?:mehr|weniger|größer|kleiner) als|über|unter|nicht|keine?"
    r"|(?:au|du) (?:moins|plus)|(?:plus|moins) de|(?:supérieur|inférieur) à|pas"
    r"|al menos|por lo menos|como (?:máximo|mínimo)|(?:más|menos|mayor|menor) (?:de|que)|no (?:es|son|era|fue)"
    r"|pelo menos|no (?:máximo|mínimo)|mais de|não (?:é|são)|almeno|al (?:massimo|meno)|(?:più|meno) di|non (?:è|sono)"
    r"|не (?:менее|более|меньше|больше)|(?:более|менее|больше|меньше)(?: чем)?|не)"
)
_LAST_WORDS = frozenset(
    [
        "mindestens",
        "höchstens",
        "als",
        "über",
        "unter",
        "nicht",
        "kein",
        "keine",
        "moins",
        "plus",
        "de",
        "à",
        "pas",
        "menos",
        "máximo",
        "mínimo",
        "que",
        "es",
        "son",
        "era",
        "fue",
        "é",
        "são",
        "almeno",
        "massimo",
        "meno",
        "di",
        "è",
        "sono",
        "менее",
        "более",
        "меньше",
        "больше",
        "чем",
        "не",
    ]
)
"""The words that a `_BEFORE` may end with, which are looked up faster."""
BEHIND = (
    r"(?:\s?[^\W\d_a-zA-Z]{0,2}\s?(?:이상|이하|미만|초과)|[^\W\d_a-zA-Z]{0,3}?(?:未満|を超え|(?:では|じゃ)(?:な|あり))"
    r"|[^\W\d_a-zA-Z]{0,3}?[은는이가]?\s?아[니닙닌])"
)
_BEFORE_END, _BEHIND = re.compile(rf"{_BEFORE}\s?\Z", re.IGNORECASE), re.compile(BEHIND)
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
