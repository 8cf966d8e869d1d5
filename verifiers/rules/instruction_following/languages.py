"""Identifies the language of a text with langdetect's naive Bayes over its 55 profiles, always with the same answer.

The published checkers call langdetect. Its answer depends on a generator without a seed, and on the order in which a
file system lists the profiles. Here the seed is 0 and the profiles are sorted by name. The arithmetic is langdetect's,
so the answers equal those of langdetect with seed 0.

`is_in` decides what an instruction means by "in this language". It adds these rules:

    most letters must be of a script in which the language is written
    capitals are read as small letters
    a text without letters is in no language
    words and names of other languages are allowed
    a line in another script is not allowed
    a line of English prose is not allowed in another language, such as a translation or an announcement
    code in fences may be in any language
"""

import json
import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from langdetect.utils.ngram import NGram
from langdetect.utils.unicode_block import unicode_block
from punkt.data import english

from memory import remember
from verifiers.rules.arrays import NDArray, np
from verifiers.rules.instruction_following.constraints import STOP_WORDS, word_set

LANGUAGES = word_set(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no pa pl pt "
    "ro ru sk sl so sq sv sw ta te th tl tr uk ur vi zh zh-cn zh-tw"
)
"""The languages that an instruction may ask for. `zh` is any Chinese."""

_SEED = 0
_TRIALS = 7
_MAX_CHARS = 10_000
_MAX_STEPS = 1000
_SURE = 0.99999
_LIKELY = 0.1
_LARGE = 1e100
_STEPS_A_LOOK = 5
_NARROWING = (20, 60, 200, _MAX_STEPS)
_LASTS = (60, *range(100, _MAX_STEPS + 1, 20))
"""The last steps of the groups of steps that are computed at once.

A chance that has just exceeded `_LARGE` does not overflow a double within 40 steps.
"""
_FEW_WORDS = 1500
_MAX_SHORT_CHARS = 80
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
_ONLY_ENGLISH = word_set(
    "the of and to that with for this are be by from have it you your they their which would there what about can has had "
    "been were when who will more than its his her she them these those into our could should because where how both each "
    "it's don't that's you're i'm we're can't"
)
_ENGLISH = STOP_WORDS | word_set("bye goodbye hello hey hi ok okay please thanks thank welcome yes sure let's")
_COMMON = {
    "de": word_set(
        "aber alles auch auf aus bei bin bis bitte bist danke das dass dein dem den denn der des dich die dir doch ein eine "
        "einen einer eines er es für geht gern gerne gibt gut guten hallo hat haben hier ich ihr im immer ist ja jetzt kann "
        "kein keine mein mich mir mit morgen nein nicht noch nur oder schon sein sich sie sind so tag tut und uns viel vielen "
        "von war was weil weiß wenn wer wie wir wird wo zu zum zur sagte"
    ),
    "es": word_set(
        "adiós al algo aquí así bien buenas bueno buenos claro como con cómo cuando de del días donde dónde el ella él en "
        "es eso esta está estás este esto gracias hasta hay hola la las le lo los me mi mis mucha muchas mucho muy más ni "
        "no nos para pero por porque qué que quién se sé sin sobre soy su también te tengo todo todos tu tú un una usted y "
        "ya yo sí tal"
    ),
    "fr": word_set(
        "à ai au aussi aux avec avez bien bonjour bonsoir c'est ça ce ces cette comme d'accord dans de des du elle en est "
        "et être il ils j'ai je l'on la le les leur lui ma mais me merci mes moi mon même ne non nous on ou où oui par pas "
        "peut plus pour pourquoi quand que quel quelle qui s'il sa sais salut sans se ses si son sont suis sur sûr sûre ta "
        "te toi ton tout très tu un une vie voici vous y beaucoup"
    ),
    "it": word_set(
        "a anche bene buona buongiorno c'è certo che chi ci ciao come con cosa così da dai del della dei di dove due è ecco "
        "fa gli grazie ha hai ho i il in io la le lei lo lui ma mi mia mille mio molto nel nella noi non o ogni ora per "
        "perché però più prego quando quello questa questo qui sei si sì sono so stai sto su sua suo te ti tu tutti tutto un "
        "una uno va voi"
    ),
    "nl": word_set(
        "aan alles als ben bent bij daar dag dan dank dat de die dit doe een en er gaat goed goede graag hallo hebben heb "
        "heeft het hier hij hoe ik in is ja je kan klopt maar me mee mijn morgen naar nee niet nog nu of ook om op over te "
        "tot u uit van veel voor waar was wat we weet wel wie wij zich zij zijn ze zo"
    ),
    "pt": word_set(
        "a ao as até bem boa bom claro com como da das de dele depois dia do dos e ela ele em então eles essa esse esta "
        "este eu foi há isso já lhe mais mas me meu minha muito muita na nas nem no nos não nós o obrigado obrigada olá os "
        "ou para pela pelo por porque qual quando que quem se sei sem seu sim só sou sua são também te tem tenho tudo tu um "
        "uma vai você"
    ),
    "ru": word_set(
        "а без был была было бы в вас все всё вы где да для до его ее её если есть ещё же за знаю и из или их к как когда "
        "конечно кто ли меня мне мы на не нет ни но о об он она они от очень по почему привет с сейчас спасибо так там "
        "тебя то ты у хорошо что это этот я"
    ),
    "uk": word_set(
        "а або але без був була було в вас ви все вона вони він де до для дякую є же за звичайно знаю з і із її його й як "
        "який якщо коли ми мене мені на не немає ні о привіт про та так там те ти то тут у це цей чи що щоб я"
    ),
}
"""The most common words of languages that share their script, for very short texts."""
_DENSE = frozenset({"Han", "Kana", "Hangul"})
"""Scripts in which a character says as much as two letters. Such characters count twice where they should not be."""
_MIN_FOREIGN = 30
"""The fewest letters of other scripts that count as foreign. Fewer are names, and words that the text mentions."""
_MIN_PROSE_WORDS = 10
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"\s*(?:[-*+•>|]\s|\d{1,3}[.)]|\|)")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_HOPELESS = 1e-20
"""The share of the best chance below which a language is dropped.

A comeback from there is a thousand billion times less likely than a wrong end of the trial.
"""
_MAX_CACHED_CHARS = 32
_WORD_BITS = 32
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
    """The code of the language, as langdetect gives it; None if the text has nothing to judge by."""
    grams = _grams(_cleaned(text))
    if not grams:
        return None
    sums = _sampled(grams)
    best = max(range(len(sums)), key=sums.__getitem__)
    return _profiles().names[best] if sums[best] > _LIKELY * _TRIALS else "unknown"


@remember(8)
def is_in(text: str, language: str) -> bool:
    """Whether the text is in this language (one of `LANGUAGES`)."""
    main_script = _SCRIPT_OF.get(language, "Latin")
    text = _without_code(text)
    scripts = _scripts_of(text[:_MAX_CHARS])
    own_letters = sum(times for script, times in scripts.items() if _belongs(script, main_script))
    if own_letters * 2 <= scripts.total() and not (
        main_script in _DENSE and _has_mere_terms(text[:_MAX_CHARS], own_letters, scripts)
    ):
        return False
    if _is_foreign(scripts, main_script, 1 / 3) or _has_foreign_line(text[:_MAX_CHARS], language, main_script):
        return False
    if main_script == "Japanese":
        return scripts["Kana"] > 0
    if main_script == "Han":
        return scripts["Kana"] * 10 < scripts.total() and language in ("zh", *_chinese(text, language))
    if list(_SCRIPT_OF.values()).count(main_script) == 1:
        return True
    small = text.lower()
    if len(small) <= _MAX_SHORT_CHARS and (verdict := _is_known_to_be_in(small, language)) is not None:
        return verdict
    return (language == "en" and _is_plain_english(small)) or identify(small) == language


def _without_code(text: str) -> str:
    """The text without its fences, if they hold code and there is other text."""
    if "```" not in text and "~~~" not in text:
        return text
    fenced = "\n".join(match[0] for match in _FENCED.finditer(text)).lower()
    prose = _FENCED.sub("", text)
    is_code = not any(map(_is_english_prose, fenced.split("\n")))
    return prose if is_code and any(map(str.isalpha, prose)) else text


def _has_mere_terms(text: str, own_letters: int, scripts: Mapping[str, int]) -> bool:
    """Whether the foreign part of a text in a dense script is only Latin names and terms.

    At most two thirds as many terms as characters of that script are allowed. Two or three such characters make a word.
    """
    terms = _ASCII_WORD.findall(text.lower())
    if own_letters + scripts.get("Latin", 0) != sum(scripts.values()) or len(terms) * 3 > own_letters * 2:
        return False
    return sum(map(_ONLY_ENGLISH.__contains__, terms)) * 8 <= len(terms)


def _scripts_of(text: str) -> Counter[str]:
    """The number of letters of each script."""
    scripts = Counter[str]()
    for char, times in Counter(text).items():
        if char.isalpha():
            scripts[_script(char)] += times
    return scripts


def _is_foreign(scripts: Mapping[str, int], main_script: str, share: float) -> bool:
    """Whether more than this share of the letters is in scripts that are neither wanted nor Latin."""
    letters = {script: times * (2 if script in _DENSE else 1) for script, times in scripts.items()}
    foreign = sum(times for script, times in letters.items() if script != "Latin" and not _belongs(script, main_script))
    return foreign >= _MIN_FOREIGN and foreign > share * sum(letters.values())


def _has_foreign_line(text: str, language: str, main_script: str) -> bool:
    """Whether a line is in another script, or is English prose where another language is wanted.

    English in items of lists and in quotations is allowed.
    """
    if language == "en" and text.isascii():
        return False
    lines = _FENCED.sub("", text).split("\n")
    if any(len(line) * 2 >= _MIN_FOREIGN and _is_foreign(_scripts_of(line), main_script, 1 / 2) for line in lines):
        return True
    return language != "en" and any(
        len(line) > _MAX_SHORT_CHARS // 2 and not _MARKED.match(line) and _is_english_prose(line.lower())
        for line in lines
    )


def _is_english_prose(line: str) -> bool:
    tokens = _english_words(line)
    return tokens is not None and len(tokens) >= _MIN_PROSE_WORDS and _reads_as_english(tokens)


def _is_known_to_be_in(text: str, language: str) -> bool | None:
    """Whether the common words of a short text show that it is in this language; None if they do not decide.

    The profiles are wrong about short texts: by them, "Ja, das stimmt" is Latvian.
    """
    if language != "en" and language not in _COMMON:
        return None
    tokens = _WORD.findall(text.replace("’", "'"))
    hits = {name: sum(map(common.__contains__, tokens)) for name, common in _COMMON.items()}
    hits["en"] = sum(map(_ENGLISH.__contains__, tokens))
    top = max(hits.values())
    best = [name for name, times in hits.items() if times == top]
    if len(best) > 1 or top * 2 < len(tokens):
        return None
    return best == [language] or (None if language == "en" else False)


def _is_plain_english(text: str) -> bool:
    """Whether the words show that a text is English.

    Nearly all words must be known. Except in very short texts, many must be function words that no other language has.
    Short texts need this because the profiles are wrong about them: by them, "go home now" is Polish. For long texts it
    is a hundred times faster than the profiles.
    """
    tokens = _english_words(text)
    if not tokens:
        return False
    if len(text) <= _MAX_SHORT_CHARS:
        return all(map(_is_english, tokens))
    return _reads_as_english(tokens)


def _english_words(text: str) -> list[str] | None:
    """The words of a text in small letters; None if some cannot be English."""
    text = _MAIL.sub(" ", _URL.sub(" ", text))
    if any(char.isalpha() and not char.isascii() for char in set(text)):
        return None
    return _ASCII_WORD.findall(text.replace("’", "'"))


def _is_english(word: str) -> bool:
    return word in english.ORTHO_CONTEXT or word in _ENGLISH


def _reads_as_english(tokens: Sequence[str]) -> bool:
    english_count = sum(map(_is_english, tokens))
    return english_count >= 0.85 * len(tokens) and sum(map(_ONLY_ENGLISH.__contains__, tokens)) >= 0.15 * len(tokens)


def _chinese(text: str, language: str) -> tuple[str, ...]:
    detected = identify(text)
    return (detected,) if detected in ("zh-cn", "zh-tw") else (language,)


def _belongs(script: str, main_script: str) -> bool:
    return script == main_script or (main_script == "Japanese" and script in ("Kana", "Han"))


@remember(4096)
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
    foreign = sum(char >= "\u0300" and _block(char) != "Latin Extended Additional" for char in text)
    return "".join(char for char in text if not "A" <= char <= "z") if latin * 2 < foreign else text


@remember(8192)
def _block(char: str) -> str:
    block: str = unicode_block(char)
    return block


@remember(8192)
def _normal(char: str) -> str:
    normal: str = NGram.normalize(char)
    return normal


_NORMAL_ASCII = {code: (chr(code) if chr(code).isalpha() else " ") for code in range(128)}


def _grams(text: str) -> list[int]:
    """The known pieces of one to three letters of the words, in order, by their numbers in the profiles."""
    normal = text.translate(_NORMAL_ASCII) if text.isascii() else "".join(map(_normal, text))
    *words, last = normal.split(" ")
    numbers: list[int] = []
    for word in words:
        numbers += _pieces_of(word + " ")
    return numbers + list(_pieces_of(last))


def _pieces_of(word: str) -> Sequence[int]:
    return _pieces(word) if len(word) > _MAX_CACHED_CHARS else _cached_pieces(word)


def _pieces(word: str) -> Sequence[int]:
    """The known pieces of a word, with the space after it if there is one.

    Of a run of capitals only the first letter counts.
    """
    numbers = _profiles().pieces
    pieces: list[int] = []
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
            if piece in numbers:
                pieces.append(numbers[piece])
    return pieces


_cached_pieces = remember(20_000)(_pieces)


def _sampled(grams: Sequence[int]) -> list[float]:
    """The sum of the trials' posteriors, one for each language.

    The trials end when the rest of them cannot change which language is first.
    """
    draws = _Draws(len(grams))
    total = np.zeros(len(_profiles().names))
    sums: list[float] = []
    for trial in range(1, _TRIALS + 1):
        weight = (_ALPHA + draws.normal() * _ALPHA_WIDTH) / _BASE
        total += _posterior(grams, draws, 1.0 / weight)
        sums = total.tolist()
        second, first = sorted(sums)[-2:]
        if first - second > _TRIALS - trial:
            break
    return sums


def _posterior(grams: Sequence[int], draws: "_Draws", growth: float) -> NDArray[np.float64]:
    """Run one trial: draw pieces until one language is sure.

    A language without the piece keeps its chance, and the chances of the others grow. After normalising, this equals
    `chance * (weight + share)` for all.

    Arrays compute many steps at once. Each step follows from the one before, with the same rounding as one by one.
    """
    chances = np.ones(len(_profiles().names))
    step = 0
    for last in _LASTS:
        factors = np.concatenate([_shares(grams[number]) for number in draws.ahead(step, last + 1)])
        factors = factors.reshape(-1, len(chances))
        factors *= growth
        factors += 1.0
        first = step
        while step <= last:
            stop = min(last, next(narrowing for narrowing in _NARROWING if narrowing >= step))
            factors[step - first] *= chances
            products = np.multiply.accumulate(factors[step - first : stop + 1 - first])
            at = -(-step // _STEPS_A_LOOK) * _STEPS_A_LOOK
            looks = products[at - step :: _STEPS_A_LOOK]
            wholes = np.add.accumulate(looks, axis=1)[:, -1].tolist()  # adds one by one; `sum` does not
            bests = np.maximum.reduce(looks, axis=1).tolist()
            is_sure = (best > _LARGE or best > _SURE * total for total, best in zip(wholes, bests, strict=True))
            look = next((look for look, is_end in enumerate(is_sure) if is_end), len(looks) - 1)
            at += look * _STEPS_A_LOOK
            chances, total, best = looks[look], wholes[look], bests[look]
            if best > _SURE * total or at == _MAX_STEPS:
                draws.take(at + 1)
                posterior: NDArray[np.float64] = chances / total
                return posterior
            if best > _LARGE:
                chances, best = chances / total, best / total
            if at in _NARROWING:
                chances = np.where(chances > best * _HOPELESS, chances, 0.0)
            step = at + 1
    raise AssertionError("the last step ends a trial")


class _Draws:
    """The draws of a generator with langdetect's seed for a text: numbers below a size, as by `choice`, and normal
    ones.

    The words of the generator are always the same. So later words can be read before the length of a trial is known.
    """

    __slots__ = ("_normal", "_numbers", "_place", "_places", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._place = 0
        """The number of words that were taken."""
        self._normal: float | None = None
        """The second normal number, because two are made at once."""
        self._look(_FEW_WORDS)

    def _look(self, words: int) -> None:
        """Read the numbers in the first words. `choice` skips numbers that are too large."""
        numbers = _words()[:words] >> (_WORD_BITS - self._size.bit_length())
        self._places = np.flatnonzero(numbers < self._size)
        self._numbers = numbers[self._places]

    def normal(self) -> float:
        """The next normal number, as by `random.gauss(0.0, 1.0)`."""
        if self._normal is not None:
            normal, self._normal = self._normal, None
            return normal
        angle = self._fraction() * 2.0 * math.pi
        radius = math.sqrt(-2.0 * math.log(1.0 - self._fraction()))
        self._normal = math.sin(angle) * radius
        return math.cos(angle) * radius

    def _fraction(self) -> float:
        """The next fraction, as by `random.random()`."""
        high, low = _words()[self._place : self._place + 2].tolist()
        self._place += 2
        return float(((high >> 5) * 2**26 + (low >> 6)) / 2**53)

    def ahead(self, start: int, stop: int) -> Sequence[int]:
        """The numbers from `start` to `stop` (excluded) among those that are not taken yet."""
        first = int(self._places.searchsorted(self._place))
        if first + stop > len(self._numbers):
            self._look(len(_words()))
        numbers: list[int] = self._numbers[first + start : first + stop].tolist()
        return numbers

    def take(self, count: int) -> None:
        self._place = int(self._places[self._places.searchsorted(self._place) + count - 1]) + 1


@cache
def _words() -> NDArray[np.uint32]:
    """The words of a generator with langdetect's seed: more than twice as many as the trials can use."""
    count = 3 * _TRIALS * _MAX_STEPS
    return np.frombuffer(random.Random(_SEED).randbytes(count * _WORD_BITS // 8), "<u4")  # noqa: S311 - nothing secret


@remember(8192)
def _shares(piece: int) -> NDArray[np.float64]:
    """The share of a piece in each language."""
    shares = np.zeros(len(_profiles().names))
    for index, share in _profiles().shares[piece]:
        shares[index] = share
    return shares


@dataclass(frozen=True, slots=True)
class _Profiles:
    names: Sequence[str]
    """The languages."""
    pieces: Mapping[str, int]
    """The number of each piece."""
    shares: Sequence[tuple[tuple[int, float], ...]]
    """The languages that have a piece, with its share there, by the number of the piece."""


@cache
def _profiles() -> _Profiles:
    folder = files("langdetect") / "profiles"
    names: list[str] = []
    gram_shares: dict[str, list[tuple[int, float]]] = {}
    for index, entry in enumerate(sorted(folder.iterdir(), key=lambda entry: entry.name)):
        profile = json.loads(entry.read_text(encoding="utf-8"))
        names.append(profile["name"])
        for gram, count in profile["freq"].items():
            if 1 <= len(gram) <= 3:
                gram_shares.setdefault(gram, []).append((index, count / profile["n_words"][len(gram) - 1]))
    numbers = {gram: number for number, gram in enumerate(gram_shares)}
    return _Profiles(names, numbers, [tuple(shares) for shares in gram_shares.values()])
