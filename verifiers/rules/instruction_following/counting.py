r"""Counts the words, sentences and paragraphs of a text, in two readings.

The attributes `Text.official_*` are the readings of the published checkers: `\w+` words, Punkt sentences, Treebank
tokens, raw characters. The others are what a reader would count:

    invisible characters are removed and forms are folded (NFKC)
    "well-known", "don't" and "3.14" are one word each; each Han or kana character is a word
    the number of a list item ends no sentence; 。！？ do

Each value is computed once, at its first use, in time linear in the length of the text.
"""

import itertools
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import regex
from propcache.api import cached_property

from memory import remember
from verifiers.caseless import caseless
from verifiers.commitment import fold
from verifiers.rules.instruction_following import boundaries
from verifiers.rules.instruction_following.constraints import word_set

_DELETE_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SYLLABIC = r"\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
_LETTER = rf"(?:(?![{_SYLLABIC}_])\w)"
UNSPACED = rf"{_SYLLABIC}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Characters of scripts without spaces between words: Han, kana, Thai, Lao, Burmese and Khmer.

Another word may therefore stand directly beside a word.
"""

HANGUL = r"\uac00-\ud7a3"


def _signs(start: int, stop: int) -> str:
    return re.escape("".join(char for char in map(chr, range(start, stop)) if unicodedata.category(char)[0] == "M"))


_SIGNS = _signs(0x300, 0x10000)
"""Marks on letters, such as the vowel signs of Hindi, vocalised Arabic and Thai.

They are not letters, but they are parts of words.
"""
_VOWELS = _signs(0x900, 0x1AB0)
"""Vowel signs of India and South East Asia. A word with another vowel sign is another word.

Stress marks and the vowels of Arabic are not among them, because texts may leave these out.
"""
_WORD = re.compile(
    rf"[{_SYLLABIC}]|(?:[a-zA-Z]\.){{2,8}}(?![a-zA-Z])|{_LETTER}(?:[\w{_SIGNS}](?<![{_SYLLABIC}])|['’\-‐‑](?={_LETTER})|(?<=\d)[.,](?=\d))*"
)
_ASCII_WORD = re.compile(
    r"(?:[a-zA-Z]\.){2,8}(?![a-zA-Z])|[^\W_]\w*+(?:(?:['\-](?=[^\W_])|(?<=\d)[.,](?=\d))\w*+)*+", re.ASCII
)
"""`_WORD` for ASCII texts. It takes a third of the time."""
_OFFICIAL_WORD = re.compile(r"\w+")
_OFFICIAL_MARKED_WORD = regex.compile(r"\w+")
"""The pattern by which NLTK 3.10 splits words.

Marks on letters belong to words; symbols such as ² and ½ do not.
"""
_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII = re.compile(r"[a-z]")
_GREEK_OR_CYRILLIC = re.compile(r"[\u0370-\u058f]")
_BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Invisible letters and symbols."""
_BLANKS_TO_SPACES = dict.fromkeys(map(ord, _BLANKS), " ")
_WITHOUT_BLANKS = dict.fromkeys(map(ord, _BLANKS))
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝкмтвнАВЕКМНОРСТУХІЈЅαορνικτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡ",
    "aeopcyxijsdhqwkmtbhABEKMHOPCTYXIJSaopviktuxABEZHIKMNOPTYXig",
)


class Text:
    """A response with its two readings: that of the published checkers and that of a reader."""

    def __init__(self, raw: str) -> None:
        self.raw: Final = raw

    # the reading of the published checkers

    @cached_property
    def lower(self) -> str:
        return self.raw.lower()

    @cached_property
    def official_words(self) -> list[str]:
        return (_OFFICIAL_WORD if self.raw.isascii() else _OFFICIAL_MARKED_WORD).findall(self.raw)

    @cached_property
    def official_sentences(self) -> list[str]:
        return boundaries.sentences(self.raw)

    @cached_property
    def official_tokens(self) -> list[str]:
        return [token for sentence in self.official_sentences for token in boundaries.sentence_tokens(sentence)]

    @cached_property
    def bare(self) -> str:
        """The raw text without ASCII punctuation."""
        return self.raw.translate(_DELETE_ASCII_PUNCTUATION)

    # the reading of a reader

    @cached_property
    def folded(self) -> str:
        return self.raw if self.raw.isascii() else fold(self.raw).translate(_BLANKS_TO_SPACES)

    @cached_property
    def skeleton(self) -> str:
        """The text in a form that shows hidden words.

        Look-alike letters become Latin. Marks on letters and emphasis inside words are removed.
        """
        if self.raw.isascii():
            return self.raw.replace("*", "")
        text = unicodedata.normalize("NFD", fold(self.raw).translate(_LOOKALIKES))
        text = text.translate({ord(char): None for char in set(text) if unicodedata.category(char) == "Mn"})
        return text.translate(_WITHOUT_BLANKS).replace("*", "")

    @cached_property
    def mixed_words(self) -> frozenset[str]:
        """The words of the skeleton that mix ASCII letters with others, in small letters."""
        if self.skeleton.isascii():
            return frozenset()
        return frozenset(
            word for word in _LETTERS.findall(self.skeleton.casefold()) if not word.isascii() and _ASCII.search(word)
        )

    @cached_property
    def words(self) -> list[str]:
        return words(self.folded)

    @cached_property
    def small_words(self) -> list[str]:
        return [word.casefold() for word in self.words]

    @cached_property
    def seen_words(self) -> list[str]:
        """The words as they look, in small letters.

        In words of mixed scripts, look-alike Greek and Cyrillic letters become Latin.
        """
        if self.raw.isascii():
            return self.small_words
        return [
            word.translate(_LOOKALIKES) if _GREEK_OR_CYRILLIC.search(word) and _ASCII.search(word) else word
            for word in self.small_words
        ]

    @cached_property
    def sentences(self) -> list[str]:
        return sentences(self.folded)

    @cached_property
    def sentence_words(self) -> list[list[str]]:
        return [[word.casefold() for word in words(sentence)] for sentence in self.sentences]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.folded.split("\n") if line.strip()]

    @cached_property
    def paragraphs(self) -> list[str]:
        """The paragraphs, which blank lines separate."""
        return [piece.strip() for piece in re.split(r"\n[^\S\n]*\n", self.folded) if piece.strip()]

    def divided(self) -> list[str]:
        """The parts between dividers (`***` or `* * *` on a separate line). Blank parts at the ends are left out."""
        pieces = [piece.strip() for piece in _DIVIDER.split(self.folded)]
        # `*** one *** two ***` has two parts.
        if pieces and not pieces[0]:
            del pieces[0]
        if pieces and not pieces[-1]:
            del pieces[-1]
        return pieces


_DIVIDER = re.compile(r"(?<!\S)(?:\*\*\*|\* \* \*)(?!\S)")


def words(text: str) -> list[str]:
    """The words of a folded text, with straight apostrophes. The parts of a long chain with hyphens are words."""
    text = text.replace("’", "'")
    matches = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    if "_" in text:
        # The emphasis in `_word_` does not belong to the word.
        matches = [word.rstrip("_") for word in matches]
    if sum(map(text.count, "-_‐‑")) <= _MAX_JOINTS:
        return matches
    return [part for word in matches for part in _parts(word) if part]


def _parts(word: str) -> Sequence[str]:
    return _JOINT.split(word) if len(_JOINT.findall(word)) > _MAX_JOINTS else (word,)


_JOINT = re.compile(r"[-‐‑_]+")
_MAX_JOINTS = 7
"""The most hyphens and underscores in one word: "a 24-hour-a-day-7-day-a-week job" has this number.

A chain with more of them uses them instead of spaces.
"""


def contains_word(text: str, word: str) -> bool:
    """Whether the word or phrase stands alone in the folded text, in any case."""
    return next(_on_their_own(text, word), None) is not None


def count_word(text: str, word: str) -> int:
    """The number of times that the word or phrase stands alone in the folded text, in any case."""
    return sum(1 for _ in _on_their_own(text, word))


def without_word(text: str, word: str) -> str:
    """The folded text with a line break in place of each word or phrase that stands alone."""
    pieces, offset = [], 0
    for start, end in _on_their_own(text, word):
        pieces.append(text[offset:start])
        offset = end
    return "\n".join([*pieces, text[offset:]])


def _on_their_own(text: str, word: str) -> Iterator[tuple[int, int]]:
    """The places of a word or phrase that stands alone. The word is looked for, not compiled: each item has others."""
    words = _plain(fold(word)).split()
    if not words:
        yield from ((index, index) for index in range(len(text) + 1))
        return
    text, is_before, is_behind = _plain_text(text), _before(words[0][:1]), _behind(" ".join(words))
    start = text.find(words[0])
    while start >= 0:
        end = phrase_end(text, start, words)
        if end is not None and is_before(text, start) and is_behind(text, end):
            yield start, end
        else:
            end = start + 1
        start = text.find(words[0], end)


def _plain(text: str) -> str:
    """A text without case, and with one form of apostrophe and of hyphen. Each character keeps its place."""
    return caseless(text).replace("’", "'").replace("‐", "-")


_plain_text = remember(1)(_plain)
"""Many words are looked for in one text."""


def phrase_end(text: str, start: int, words: Sequence[str]) -> int | None:
    """The end of words in a row, with any space between them, that begin at a place; None if they do not."""
    end = start
    for number, word in enumerate(words):
        space = _SPACES.match(text, end) if number else None
        # `ice cream` is not found in `icecream`.
        if number and space is None:
            return None
        end = space.end() if space else end
        if not text.startswith(word, end):
            return None
        end += len(word)
    return end


_SPACES = re.compile(r"\s+")
_IsEdge = Callable[[str, int], object]


def _anywhere(text: str, position: int) -> object:
    return True


def _before(char: str) -> _IsEdge:
    """The test of the place before a word with this first character: no letter of another word may stand there."""
    if not _in_word(char) or _is_unspaced(char):
        return _anywhere
    if _is_hangul(char):
        return _BEFORE_HANGUL.match
    return _BEFORE_ASCII.match if char.isascii() else _BEFORE_OTHER.match


def _behind(phrase: str) -> _IsEdge:
    """The test of the place behind a word: no letter of another word may follow.

    Particles may follow a Korean noun.
    """
    last = phrase[-1:]
    # "C++" is found in "C++14"
    if not _in_word(last):
        return _anywhere
    # "船" is found in "船帆"
    if _is_unspaced(last):
        return _BEHIND_UNSPACED.match
    # "boat" is not found in "boats"
    if last.isascii():
        return _BEHIND_ASCII.match
    # "café" is not found in "cafés"
    if not _is_hangul(last):
        return _BEHIND_OTHER.match
    # "학교" is found in "학교에서"
    return (_BEHIND_NOUN if _HANGUL.search(phrase) else _BEHIND_HANGUL).match


_JOINED = rf"[^\W_{UNSPACED}{HANGUL}]"
"""A character that belongs to the word beside it.

Characters of scripts without spaces do not, nor do Korean particles: "用Python编写" and "Python은" hold the name alone.
"""
_JOINED_TO_HANGUL = r"[^\W_]"
_HANGUL = re.compile(r"[\uac00-\ud7a3]{2}\Z")
"""The end of a Korean noun to which particles may be added.

A noun of one syllable with a particle is too often another word.
"""
_PARTICLES = "|".join(
    sorted(
        word_set(
            "은 는 이 가 을 를 의 에 에서 에게 에게서 께 께서 한테 와 과 랑 이랑 하고 도 만 까지 부터 마저 조차 밖에 로 으로 "
            "로서 으로서 로써 으로써 보다 처럼 마다 나 이나 라고 이라고 라는 이라는 란 이란 들 이다 다 였다 이었다 입니다 "
            "였습니다 이었습니다 이에요 예요 이고 이며 이지만 인"
        )
    )
)
_BEFORE_ASCII = re.compile(rf"(?<!{_JOINED})")
_BEFORE_HANGUL = re.compile(rf"(?<!{_JOINED_TO_HANGUL})(?<![{_VOWELS}])")
_BEFORE_OTHER = re.compile(rf"(?<!{_JOINED})(?<![{_VOWELS}])")
_BEHIND_ASCII = re.compile(rf"(?!{_JOINED})")
_BEHIND_UNSPACED = re.compile(rf"(?![{_VOWELS}])")
_BEHIND_OTHER = re.compile(rf"(?!{_JOINED})(?![{_VOWELS}])")
_BEHIND_HANGUL = re.compile(rf"(?!{_JOINED_TO_HANGUL})(?![{_VOWELS}])")
_BEHIND_NOUN = re.compile(rf"(?:{_PARTICLES}){{0,3}}(?!{_JOINED_TO_HANGUL})(?![{_VOWELS}])")


def joins(text: str, following: str) -> bool:
    """Whether the last character of a text and the first of the text that follows would form one word."""
    last, first = text[-1:], following[:1]
    return last.isalnum() and first.isalnum() and not (_is_unspaced(last) or _is_unspaced(first))


def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _is_hangul(char: str) -> bool:
    return "\uac00" <= char <= "\ud7a3"


_ONE_UNSPACED, _ONE_SYLLABIC = re.compile(rf"[{UNSPACED}]"), re.compile(rf"[{_SYLLABIC}]")


def _is_unspaced(char: str) -> bool:
    return _ONE_UNSPACED.match(char) is not None


def _is_syllabic(char: str) -> bool:
    return _ONE_SYLLABIC.match(char) is not None


# --- sentences as a reader sees them

_CLOSING = "\"'”’»)]}）」』】〉》*_`"
_MARKS = ".?!؟۔।‽…"
_WIDE = "。！？｡"
_END = re.compile(rf"[{re.escape(_MARKS + _WIDE + _CLOSING)}]++")
_MAX_ABBREVIATION_CHARS = 24
_LIST_NUMBER = re.compile(r"(?:^|\n)[\s\-*+(#>]*(?:\d{1,3}(?:\.\d{1,3}){0,4}|[a-zA-Z]|[ivxIVX]{1,5})$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}|[A-Z]\.[A-Z][a-z]{2,4}")
"""Abbreviations with dots inside, such as U.S., p.m., Ph.D. and M.Phil. Names of files and versions do not match."""
_LETTER_AND_STOP = re.compile(r"[^\W\d_]\.")
_BREAKS = re.compile(r"[\s(\"'“‘*_`\[]")
_NEXT = re.compile(r"\s*[\"'“‘«(\[*_`]*(\S)")
_NEXT_WORD = re.compile(r"\w+")
_TITLES = word_set("Mr Mrs Ms Dr Prof St Sr Rev Hon Gen Col Maj Capt Lt Sgt Gov Sen Rep Pres Mt Ft Messrs Mme Mlle")
_NEVER_LAST = word_set("vs e.g i.e cf viz approx")
_BEFORE_NUMBERS = word_set("no nos fig figs vol vols pp p ed eds sec ch eq art")
_DATES = word_set("Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun")
_MAYBE_LAST = word_set("inc ltd co corp jr sr bros ave blvd rd dept est al")
_STARTERS = word_set(
    "the a an this that these those he she it they we you i his her its their our your my there here but and or so "
    "yet however in on at when while if although though as since because after before for from to with by what why "
    "how who where which then thus also moreover please let some many most all each every no not one another"
)


def sentences(text: str) -> list[str]:
    """The sentences of a folded text. Each has at least one letter or digit."""
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _is_end(text, start, match):
            _add(pieces, text[start : match.end()])
            start = match.end()
    _add(pieces, text[start:])
    return pieces


def _add(pieces: list[str], piece: str) -> None:
    """Add a piece of text to the sentences.

    A piece without letters and digits, such as an emoji after the full stop, becomes part of the sentence before it.
    """
    piece = piece.strip()
    if any(map(str.isalnum, piece)):
        pieces.append(piece)
    elif piece and pieces:
        pieces[-1] += " " + piece


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    run = match[0].lstrip(_CLOSING)
    # "(the boat) sails"
    if not run:
        return False
    # "你好。再见"
    if any(char in _WIDE for char in run):
        return True
    stop = match.end()
    # "3.14", "example.com"
    if stop < len(text) and not text[stop].isspace() and not _is_syllabic(text[stop]):
        return False
    next_start = _NEXT.match(text, stop)
    if next_start is None:
        return True
    lower = next_start[1].islower()
    # "Really? yes", but "Wait… he left" and "(Go!) he said"
    if run[0] != ".":
        return not (lower and (run[0] == "…" or run[-1] in _CLOSING))
    # "Wait... He left", but "Wait... he left"
    if run.startswith(".."):
        return not lower
    return _ends_with_stop(text, start, stop - len(run), lower, next_start)


def _ends_with_stop(text: str, start: int, stop: int, lower: bool, next_start: re.Match[str]) -> bool:
    """Whether the single full stop at `stop` ends a sentence that began at `start`."""
    lead = text[max(start, stop - _MAX_ABBREVIATION_CHARS) : stop]
    # "1. Boats"
    if _LIST_NUMBER.search(lead):
        return False
    last = _BREAKS.split(lead)[-1]
    small = last.casefold()
    # "Dr. No", "i.e. boats"
    if (last in _TITLES and last != "St") or small in _NEVER_LAST:
        return False
    # "No. 5"
    if small in _BEFORE_NUMBERS and next_start[1].isdigit():
        return False
    # "boats, etc. are"
    if small == "etc":
        return not lower
    # "on Jan. 5"
    if last in _DATES:
        return not (lower or next_start[1].isdigit())
    # "plan b. Then", but "ca. 1900"
    if (len(last) == 1 and last.islower() and last != "i") or last == "ca":
        return next_start[1].isupper() and _LETTER_AND_STOP.match(text, next_start.start(1)) is None
    initial = len(last) == 1 and last.isalpha() and last not in "Ii"
    # "J. Smith", "Acme Inc. sells", "the U.S. Army"
    if initial or last == "St" or small in _MAYBE_LAST or _DOTTED.fullmatch(last):
        following = _NEXT_WORD.match(text, next_start.start(1))
        return not lower and (following is None or following[0].casefold() in _STARTERS)
    return True


# --- other units

_EMOJI = regex.compile(r"[\p{Emoji}--[\u0000-\u007f\U0001f1e6-\U0001f1ff]]", regex.VERSION1)


def is_emoji(char: str) -> bool:
    """Whether this one character is an emoji by itself."""
    return _EMOJI.fullmatch(char) is not None


def placeholders(text: str) -> list[str]:
    """The contents of `[…]`. Each begins at the first open bracket and ends on the same line."""
    contents: list[str] = []
    for line in text.split("\n"):
        start = line.find("[")
        while start >= 0 and (stop := line.find("]", start)) >= 0:
            contents.append(line[start + 1 : stop])
            start = line.find("[", stop)
    return contents


def grows(sizes: Sequence[int]) -> bool:
    return all(first < second for first, second in itertools.pairwise(sizes))
