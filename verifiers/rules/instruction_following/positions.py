"""The instructions of open-instruct's training set on the word at a position: first, last or n-th."""

import re

from verifiers.commitment import fold
from verifiers.rules.instruction_following import boundaries
from verifiers.rules.instruction_following.constraints import Constraint, ordinal, word
from verifiers.rules.instruction_following.counting import Text, words


def _official_first_of_each(view: Text, first_word: str) -> bool:
    return all(
        sentence.split()[:1] and sentence.split()[0].lower() == first_word.lower()
        for sentence in view.official_sentences
    )


def _first_of_each(view: Text, first_word: str) -> bool:
    target = fold(first_word).casefold()
    return bool(view.sentence_words) and all(tokens[:1] == [target] for tokens in view.sentence_words)


def _official_first(view: Text, first_word: str) -> bool:
    return view.lower.split()[:1] == [first_word.lower()]


def _first(view: Text, first_word: str) -> bool:
    return view.small_words[:1] == [fold(first_word).casefold()]


_PUNCTUATION = re.compile(r"[^\w\s]")


def _official_last_of_each(view: Text, last_word: str) -> bool:
    return all(
        sentence.split()[-1:] and _PUNCTUATION.sub("", sentence.split()[-1]).lower() == last_word.lower()
        for sentence in view.official_sentences
    )


def _last_of_each(view: Text, last_word: str) -> bool:
    target = fold(last_word).casefold()
    return bool(view.sentence_words) and all(tokens[-1:] == [target] for tokens in view.sentence_words)


def _official_last(view: Text, last_word: str) -> bool:
    chunks = view.raw.split()
    return bool(chunks) and _PUNCTUATION.sub("", chunks[-1]).lower() == last_word.lower()


def _last(view: Text, last_word: str) -> bool:
    return view.small_words[-1:] == [fold(last_word).casefold()]


def _official_position(view: Text, keyword: str, n: int, m: int) -> bool:
    if len(view.official_sentences) < n:
        return False
    return boundaries.tokens(view.official_sentences[n - 1])[m - 1 : m] == [keyword]


def word_at(view: Text, keyword: str, n: int, m: int) -> bool:
    """Whether the keyword is the m-th word of the n-th sentence."""
    if len(view.sentence_words) < n:
        return False
    target = [word.casefold() for word in words(fold(keyword))]
    return bool(target) and view.sentence_words[n - 1][m - 1 : m - 1 + len(target)] == target


def _official_start_end(view: Text) -> bool:
    tokens = view.official_tokens
    return len(tokens) > 1 and tokens[0].lower() == tokens[-1].lower()


def _start_end(view: Text) -> bool:
    """Whether the first and the last word are equal, and nothing follows the last one, not even punctuation."""
    tokens = view.small_words
    value = view.folded.strip()
    return len(tokens) > 1 and tokens[0] == tokens[-1] and value[-1].isalnum()


CONSTRAINTS = (
    Constraint("first_word:first_word_sent", _official_first_of_each, _first_of_each, {"first_word": word}),
    Constraint("first_word:first_word_answer", _official_first, _first, {"first_word": word}),
    Constraint("last_word:last_word_sent", _official_last_of_each, _last_of_each, {"last_word": word}),
    Constraint("last_word:last_word_answer", _official_last, _last, {"last_word": word}),
    Constraint(
        "keywords:keyword_specific_position", _official_position, word_at, {"keyword": word, "n": ordinal, "m": ordinal}
    ),
    Constraint("keywords:start_end", _official_start_end, _start_end),
)
