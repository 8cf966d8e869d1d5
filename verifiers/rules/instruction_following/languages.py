"""Which language a text is in: the naive Bayes of langdetect over its 55 profiles, always the same answer.

The published checkers call langdetect, whose answer depends on an unseeded generator and on the order in which a file
system lists the profiles. Here both are fixed: seed 0 and the profiles by name. The arithmetic is langdetect's, so its
answers with seed 0 are these.

`is_in` is what an instruction means by "in this language": it also wants most letters in a script that the language is
written in, reads capitals as small letters, and a text without letters is in no language.
"""

import json
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from langdetect.utils.ngram import NGram
from langdetect.utils.unicode_block import unicode_block
from punkt.data import english

from verifiers.rules.instruction_following.constraints import STOP_WORDS, word_set

LANGUAGES = word_set(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no pa pl pt "
    "ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh zh-cn zh-tw"
)
"""What an instruction may ask for; `zh` is either Chinese."""

_SEED = 0
_TRIALS = 7
_MAX_CHARS = 10_000
_MAX_STEPS = 1000
_SURE = 0.99999
_LIKELY = 0.1
_LARGE = 1e100
_NARROWING = frozenset({20, 60, 200})
_MAX_SHORT_CHARS = 80
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
_ONLY_ENGLISH = word_set(
    "the of and to that with for this are be by from have it you your they their which would there what about can has had "
    "been were when who will more than its his her she them these those into our could should because where how both each "
    "it's don't that's you're i'm we're can't"
)
_ENGLISH = STOP_WORDS | word_set("bye goodbye hello hey hi ok okay please thanks welcome")
_HOPELESS = 1e-20
"""A language this far behind no longer counts: to come back is a thousand billion times less likely than a wrong end."""
_MAX_CACHED_CHARS = 32
_ALPHA, _ALPHA_WIDTH, _BASE = 0.5, 0.05, 10_000
_URL = re.compile(r"https?://[-_.?&~;+=/#0-9A-Za-z]{1,2076}")
_MAIL = re.compile(r"[-_.0-9A-Za-z]{1,64}@[-_0-9A-Za-z]{1,255}[-_.0-9A-Za-z]{1,255}")
_SPACES = re.compile("  +")

_SCRIPTS = {
    "Arabic": "ar fa ur",
    "Cyrillic": "bg mk ru uk",
    "Bengali": "bn",
    "Greek": "el",
    "Gujarati": "gu",
    "Hebrew": "he",
    "Devanagari": "hi mr ne",
    "Japanese": "ja",
    "Kannada": "kn",
    "Hangul": "ko",
    "Malayalam": "ml",
    "Gurmukhi": "pa",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
    "Han": "zh zh-cn zh-tw",
}
_SCRIPT_OF = {language: script for script, languages in _SCRIPTS.items() for language in languages.split()}
_NAMES = {"HIRAGANA": "Kana", "KATAKANA": "Kana", "CJK": "Han"}


def identify(text: str) -> str | None:
    """The language's code as langdetect gives it; None for a text without anything to go by."""
    grams = _grams(_cleaned(text))
    if not grams:
        return None
    sums = _sampled(grams)
    best = max(range(len(sums)), key=sums.__getitem__)
    return _profiles()[0][best] if sums[best] > _LIKELY * _TRIALS else "unknown"


@lru_cache(maxsize=8)
def is_in(text: str, language: str) -> bool:
    """Whether the text is in this language (one of `LANGUAGES`)."""
    scripts = Counter[str]()
    for char, times in Counter(text[:_MAX_CHARS]).items():
        if char.isalpha():
            scripts[_script(char)] += times
    wanted = _SCRIPT_OF.get(language, "Latin")
    if sum(times for script, times in scripts.items() if _belongs(script, wanted)) * 2 <= scripts.total():
        return False
    if wanted == "Japanese":
        return scripts["Kana"] > 0
    if wanted == "Han":
        return scripts["Kana"] * 10 < scripts.total() and language in ("zh", *_chinese(text, language))
    if list(_SCRIPT_OF.values()).count(wanted) == 1:
        return True
    small = text.lower()
    return (language == "en" and _is_plain_english(small)) or identify(small) == language


def _is_plain_english(text: str) -> bool:
    """English by its words: nearly all are known, and in all but the shortest texts many are function words that no
    other language has. Needed for short texts, which the profiles get wrong ("go home now" is Polish to them), and a
    hundred times faster for long ones.
    """
    text = _MAIL.sub(" ", _URL.sub(" ", text))
    if any(char.isalpha() and not char.isascii() for char in set(text)):
        return False
    found = _ASCII_WORD.findall(text.replace("’", "'"))
    known = sum(word in english.ORTHO_CONTEXT or word in _ENGLISH for word in found)
    if len(text) <= _MAX_SHORT_CHARS:
        return 0 < known == len(found)
    return 0 < known >= 0.85 * len(found) and sum(map(_ONLY_ENGLISH.__contains__, found)) >= 0.15 * len(found)


def _chinese(text: str, language: str) -> tuple[str, ...]:
    found = identify(text)
    return (found,) if found in ("zh-cn", "zh-tw") else (language,)


def _belongs(script: str, wanted: str) -> bool:
    return script == wanted or (wanted == "Japanese" and script in ("Kana", "Han"))


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    word = unicodedata.name(char, "").partition(" ")[0]
    return _NAMES.get(word, word.capitalize())


def _cleaned(text: str) -> str:
    text = _MAIL.sub(" ", _URL.sub(" ", text))
    if not text.isascii():
        text = NGram.normalize_vi(text)
    text = _SPACES.sub(" ", text[:_MAX_CHARS])
    if text.isascii():
        return text
    latin = sum("A" <= char <= "z" for char in text)
    other = sum(char >= "\u0300" and _block(char) != "Latin Extended Additional" for char in text)
    return "".join(char for char in text if not "A" <= char <= "z") if latin * 2 < other else text


@lru_cache(maxsize=8192)
def _block(char: str) -> str:
    block: str = unicode_block(char)
    return block


@lru_cache(maxsize=8192)
def _normal(char: str) -> str:
    normal: str = NGram.normalize(char)
    return normal


_NORMAL_ASCII = {code: (chr(code) if chr(code).isalpha() else " ") for code in range(128)}


Row = tuple[tuple[int, float], ...]
"""One piece's share in each language that has it."""


def _grams(text: str) -> list[Row]:
    """The rows of the known one-, two- and three-letter pieces of the words, in order."""
    normal = text.translate(_NORMAL_ASCII) if text.isascii() else "".join(map(_normal, text))
    *words, last = normal.split(" ")
    found: list[Row] = []
    for word in words:
        found += _rows_of(word + " ")
    return found + list(_rows_of(last))


def _rows_of(word: str) -> Sequence[Row]:
    return _rows(word) if len(word) > _MAX_CACHED_CHARS else _cached_rows(word)


def _rows(word: str) -> Sequence[Row]:
    """Of a word, with the space after it if there is one; of a capitalised run only its first letter counts."""
    known = _profiles()[1]
    found: list[Row] = []
    grams, capitals = " ", False
    for char in word if word != " " else "":
        last = grams[-1]
        if len(grams) >= 3:
            grams = grams[1:]
        grams += char
        capitals = char.isupper() and (capitals or last.isupper())
        if capitals:
            continue
        for piece in (char if char != " " else "", grams[-2:], grams if len(grams) == 3 else ""):
            if piece in known:
                found.append(known[piece])
    return found


_cached_rows = lru_cache(maxsize=20_000)(_rows)


def _sampled(grams: Sequence[Row]) -> list[float]:
    """The sum of the trials' posteriors, one per language; ends when the rest can no longer change which is first."""
    names, _ = _profiles()
    generator = random.Random(_SEED)  # noqa: S311 - reproduces langdetect, nothing secret
    total = [0.0] * len(names)
    for trial in range(1, _TRIALS + 1):
        weight = (_ALPHA + generator.gauss(0.0, 1.0) * _ALPHA_WIDTH) / _BASE
        for index, chance in enumerate(_posterior(grams, generator, weight)):
            total[index] += chance
        second, first = sorted(total)[-2:]
        if first - second > _TRIALS - trial:
            break
    return total


def _posterior(grams: Sequence[Row], generator: random.Random, weight: float) -> list[float]:
    """One trial: pieces drawn until one language is sure. A language without the piece keeps its chance, the others'
    grow, which is the same after normalising as `chance * (weight + share)` for all.
    """
    chances = [1.0] * len(_profiles()[0])
    draw, size = generator.getrandbits, len(grams)
    bits, growth = size.bit_length(), 1.0 / weight
    rows: Sequence[Row | None] = grams
    narrow: list[Row | None] = []
    alive = frozenset[int]()
    for step in range(_MAX_STEPS + 1):
        # As `generator.choice`, which takes twice the time.
        while (drawn := draw(bits)) >= size:
            pass
        row = rows[drawn]
        if row is None:
            row = narrow[drawn] = tuple(pair for pair in grams[drawn] if pair[0] in alive)
        for index, share in row:
            chances[index] *= 1.0 + share * growth
        if step % 5 == 0:
            whole, best = sum(chances), max(chances)
            if best > _SURE * whole or step == _MAX_STEPS:
                break
            if best > _LARGE:
                chances = [chance / whole for chance in chances]
                best /= whole
            if step in _NARROWING:
                alive = frozenset(index for index, chance in enumerate(chances) if chance > best * _HOPELESS)
                chances = [chance if index in alive else 0.0 for index, chance in enumerate(chances)]
                rows = narrow = [None] * size
    return [chance / whole for chance in chances]


@cache
def _profiles() -> tuple[list[str], dict[str, Row]]:
    """The languages, and the row of each piece."""
    folder = files("langdetect") / "profiles"
    names: list[str] = []
    known: dict[str, list[tuple[int, float]]] = {}
    for index, entry in enumerate(sorted(folder.iterdir(), key=lambda entry: entry.name)):
        profile = json.loads(entry.read_text(encoding="utf-8"))
        names.append(profile["name"])
        for gram, count in profile["freq"].items():
            if 1 <= len(gram) <= 3:
                known.setdefault(gram, []).append((index, count / profile["n_words"][len(gram) - 1]))
    return names, {gram: tuple(row) for gram, row in known.items()}
