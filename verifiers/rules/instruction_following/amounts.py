"""The instructions of IFBench (Pyatkin et al. 2025) on amounts: `count:…` and `ratio:…`.

Profile fixed counts words and sentences as a reader does. It requires at least one case of what is counted: a text
without sentences does not balance its sentences.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

from verifiers.commitment import fold
from verifiers.rules.instruction_following import boundaries
from verifiers.rules.instruction_following.constraints import (
    STOP_WORDS,
    Constraint,
    count,
    ordinal,
    percentage,
    text,
    word,
    word_set,
)
from verifiers.rules.instruction_following.counting import HANGUL, UNSPACED, Text, count_word, words

_STRIPPED = string.punctuation + " "


def _official_range(view: Text, min_words: int, max_words: int) -> bool:
    return min_words <= len(view.official_words) <= max_words


def _range(view: Text, min_words: int, max_words: int) -> bool:
    return min_words <= len(view.words) <= max_words


def _official_distinct(view: Text, N: int) -> bool:  # noqa: N803 - the data's name
    return len({chunk.strip(_STRIPPED) for chunk in view.lower.split()}) >= N


def _distinct(view: Text, N: int) -> bool:  # noqa: N803
    return len(set(view.seen_words)) >= N


_CONJUNCTIONS = frozenset({"and", "but", "for", "nor", "or", "so", "yet"})


def _official_conjunctions(view: Text, small_n: int) -> bool:
    return len({chunk for chunk in view.raw.split() if chunk.strip(_STRIPPED).lower() in _CONJUNCTIONS}) >= small_n


def _conjunctions(view: Text, small_n: int) -> bool:
    return len(_CONJUNCTIONS.intersection(view.small_words)) >= small_n


_NAMES = word_set(
    "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia Benjamin "
    "Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob Scarlett Nathan Victoria "
    "Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora Andrew Aria Joseph Claire Ryan "
    "Stella Jonathan"
)

_NAME_OR_WORD = re.compile(r"\w+")


def _official_names(view: Text, N: int) -> bool:  # noqa: N803
    return len(_NAMES.intersection(_NAME_OR_WORD.findall(view.raw))) >= N


_NAME = re.compile(r"[a-zA-Z]+(?![^\W\d_" + UNSPACED + HANGUL + "])")


def _names(view: Text, N: int) -> bool:  # noqa: N803
    return len(_NAMES.intersection(_NAME.findall(view.folded))) >= N


_DIGITS = re.compile(r"\d+")

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def _official_numbers(view: Text, N: int) -> bool:  # noqa: N803
    return len(_DIGITS.findall(view.bare)) == N


def _numbers(view: Text, N: int) -> bool:  # noqa: N803
    return len(_NUMBER.findall(view.folded)) == N


_PRONOUNS = word_set(
    "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs myself "
    "ourselves yourself yourselves himself herself itself themselves this that these those who whom whose which "
    "what whoever whomever whatever whichever anybody anyone anything everybody everyone everything nobody nothing "
    "somebody someone something each either neither both all some any none"
)


def _official_pronouns(view: Text, N: int) -> bool:  # noqa: N803
    tokens = boundaries.tokens(view.raw.replace("/", " ").lower())
    return sum(token in _PRONOUNS for token in tokens) >= N


def _pronouns(view: Text, N: int) -> bool:  # noqa: N803
    return sum(word.partition("'")[0] in _PRONOUNS for word in view.small_words) >= N


_MARKS = frozenset(".,!?;:")


def _official_punctuation(view: Text) -> bool:
    value = view.raw
    if not ("!?" in value or "?!" in value or "‽" in value):
        return False
    remaining = value.replace("?!", "", 1) if "?!" in value else value.replace("!?", "", 1)
    return set(remaining) >= _MARKS


_BEHIND = r"\s\"'“”‘’»()\[\]*_`"
_USED_MARKS = re.compile(rf"(?<![.,!?;:‽{_BEHIND}])[{_BEHIND}]*+([.,;:]|[!?‽]+)")


def _punctuation(view: Text) -> bool:
    """Whether the response uses every mark, at a place where a mark belongs.

    A mark must follow something other than a mark. So only the first of several marks in a row counts. In a row of both
    question and exclamation marks, the first two are the interrobang and those after them count.
    """
    if not _official_punctuation(view):
        return False
    used: set[str] = set()
    interrobang = False
    for marks in _USED_MARKS.findall(view.folded):
        is_both = "‽" in marks or {"!", "?"} <= set(marks)
        interrobang |= is_both
        used.update(marks[2:] if is_both else marks[0])
    return interrobang and used >= _MARKS


_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def _official_japanese(view: Text, N: int) -> bool:  # noqa: N803
    chosen = [chunk.strip(_STRIPPED) for chunk in view.raw.split()[N - 1 :: N]]
    return all(_JAPANESE.search(chunk) for chunk in chosen if chunk and not chunk.isdigit())


def _japanese(view: Text, N: int) -> bool:  # noqa: N803
    """Whether every N-th word is Japanese or a number, and at least one of them is Japanese."""
    chunks = [chunk for chunk in view.folded.split() if any(map(str.isalnum, chunk))]
    chosen = [chunk.strip(_STRIPPED) for chunk in chunks[N - 1 :: N]]
    are_japanese = [_JAPANESE.search(chunk) is not None for chunk in chosen if not chunk.isdigit()]
    return bool(are_japanese) and all(are_japanese)


_TIMES = (1, 2, 3, 5, 7)


def _official_keywords(view: Text, **keywords: str) -> bool:
    return all(
        view.lower.count(keyword.lower()) == times for keyword, times in zip(keywords.values(), _TIMES, strict=True)
    )


def _keywords(view: Text, **keywords: str) -> bool:
    return all(
        count_word(view.folded, keyword) == times for keyword, times in zip(keywords.values(), _TIMES, strict=True)
    )


def _official_stop_words(view: Text, percentage: float) -> bool:
    tokens = view.official_words
    return bool(tokens) and sum(word.lower() in STOP_WORDS for word in tokens) / len(tokens) * 100 <= percentage


def _stop_words(view: Text, percentage: float) -> bool:
    tokens = view.small_words
    return bool(tokens) and sum(word in STOP_WORDS for word in tokens) * 100 <= percentage * len(tokens)


def kinds(sentences: Sequence[str]) -> tuple[int, int, int]:
    """The numbers of sentences that end in a full stop, in a question mark and in an exclamation mark."""
    marks = Counter(mark[0] if (mark := _LAST_MARK.search(sentence[::-1])) else "" for sentence in sentences)
    return marks["."] + marks["。"], marks["?"] + marks["？"], marks["!"] + marks["！"]


_LAST_MARK = re.compile(r"[.。?？!！]|[^\W_]")
"""The last mark of a sentence, as found in the reversed sentence.

Emoji, quotes and brackets may follow the mark. If a letter or digit follows it, the sentence has no last mark.
"""


def _official_two_to_one(view: Text) -> bool:
    stated = sum(sentence.endswith(".") for sentence in view.official_sentences)
    questions = sum(sentence.endswith("?") for sentence in view.official_sentences)
    return stated == 2 * questions


def _two_to_one(view: Text) -> bool:
    stated, questions, _ = kinds(view.sentences)
    return stated == 2 * questions > 0


def _official_balance(view: Text) -> bool:
    kinds = [sum(sentence.endswith(mark) for sentence in view.official_sentences) for mark in ".?!"]
    return len(set(kinds)) == 1


def _balance(view: Text) -> bool:
    stated, questions, called = kinds(view.sentences)
    return stated == questions == called > 0


def _official_overlap(view: Text, reference_text: str, percentage: float) -> bool:
    return _overlap(view.raw, reference_text, percentage)


def _word_overlap(view: Text, reference_text: str, percentage: float) -> bool:
    """Whether about `percentage` % of the response's trigrams of words also stand in the reference text."""
    return _overlap(view.small_words, [word.casefold() for word in words(fold(reference_text))], percentage)


def _overlap(mine: Sequence[str], theirs: Sequence[str], percentage: float) -> bool:
    trigrams = set(zip(mine, mine[1:], mine[2:], strict=False))
    source_trigrams = set(zip(theirs, theirs[1:], theirs[2:], strict=False))
    return bool(trigrams) and percentage - 2 <= len(trigrams & source_trigrams) / len(trigrams) * 100 <= percentage + 2


def _official_three_equal(view: Text) -> bool:
    return (
        len(view.official_sentences) == 3 and len({len(sentence.strip()) for sentence in view.official_sentences}) == 1
    )


def _three_equal(view: Text) -> bool:
    if len(view.sentences) != 3 or len(set(map(len, view.sentences))) != 1:
        return False
    return len(view.seen_words) == len(set(view.seen_words)) and all(view.sentence_words)


_KEYWORDS = {f"keyword{number}": word for number in range(1, 6)}

CONSTRAINTS = (
    Constraint("count:word_count_range", _official_range, _range, {"min_words": count, "max_words": count}),
    Constraint("count:unique_word_count", _official_distinct, _distinct, {"N": count}),
    Constraint("count:conjunctions", _official_conjunctions, _conjunctions, {"small_n": count}),
    Constraint("count:person_names", _official_names, _names, {"N": count}),
    Constraint("count:numbers", _official_numbers, _numbers, {"N": count}),
    Constraint("count:pronouns", _official_pronouns, _pronouns, {"N": count}),
    Constraint("count:punctuation", _official_punctuation, _punctuation),
    Constraint("count:words_japanese", _official_japanese, _japanese, {"N": ordinal}),
    Constraint("count:keywords_multiple", _official_keywords, _keywords, _KEYWORDS),
    Constraint("ratio:stop_words", _official_stop_words, _stop_words, {"percentage": percentage}),
    Constraint("ratio:sentence_type", _official_two_to_one, _two_to_one),
    Constraint("ratio:sentence_balance", _official_balance, _balance),
    Constraint("ratio:overlap", _official_overlap, _word_overlap, {"reference_text": text, "percentage": percentage}),
    Constraint("ratio:sentence_words", _official_three_equal, _three_equal),
)
