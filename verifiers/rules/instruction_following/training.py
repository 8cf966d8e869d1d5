"""Further instructions of open-instruct's training set ("IFEvalG", with IF_multi_constraints_upto5) on form and words.

The modules `copying` and `positions` hold the others.

Profile fixed searches for whole words instead of substrings. It splits words as a reader does: punctuation is not a part
of a word. It never accepts a text that has nothing to judge, such as one sentence without any hyphen, or "I" as a
palindrome.
"""

import itertools
import re

from verifiers.rules.instruction_following import boundaries, patterns
from verifiers.rules.instruction_following.classic import (
    STARS,
    divided_into,
    frequency_of,
    letters_of,
    starred_paragraphs,
    without_words,
)
from verifiers.rules.instruction_following.constraints import (
    Constraint,
    anything,
    count,
    holds,
    ordinal,
    relation,
    small_letter,
    word,
)
from verifiers.rules.instruction_following.counting import Text, count_word, sentences, words
from verifiers.rules.tags import has_substance


def _official_hyphens(view: Text) -> bool:
    expected = boundaries.sentences(view.raw.replace("-", " "))
    return all(
        piece.strip() == piece == sentence for piece, sentence in zip(view.raw.split("-"), expected, strict=False)
    )


_JOINED = re.compile(r"[.!?][\"'”’)\]]{0,3}-(?=[^\s-])")

_APART = re.compile(r"[.!?][\"'”’)\]]{0,3}\s+\S|\s-|-\s")


def _hyphens(view: Text) -> bool:
    value = view.folded.strip()
    return _JOINED.search(value) is not None and _APART.search(value) is None


def _official_neighbours(view: Text) -> bool:
    firsts = [word[0].lower() for word in view.raw.split()]
    if len(firsts) > 1 and any(len(first) != 1 for first in firsts):
        return False
    return all(ord(second) - ord(first) != 1 for first, second in itertools.pairwise(firsts))


def _neighbours(view: Text) -> bool:
    firsts = [word[0] for word in view.small_words]
    return bool(firsts) and not any(
        first.isalpha() and second.isalpha() and ord(second) - ord(first) == 1
        for first, second in itertools.pairwise(firsts)
    )


def _official_brackets(view: Text) -> bool:
    return all(word.startswith("[") and word.endswith("]") for word in view.raw.split())


_BRACKETED = re.compile(r"[^\w\[\]]{0,5}\[[^\[\]\s]*[^\W_][^\[\]\s]*\][^\w\[\]]{0,5}")


def _brackets(view: Text) -> bool:
    chunks = [chunk for chunk in view.folded.split() if any(map(str.isalnum, chunk))]
    return bool(chunks) and all(_BRACKETED.fullmatch(chunk) for chunk in chunks)


def _official_bigrams(view: Text) -> bool:
    chunks = view.raw.split()
    return all(
        chunks[index].startswith("<<") and chunks[index + 1].endswith(">>") for index in range(0, len(chunks) - 1, 2)
    )


_WRAPPED = re.compile(r"<<([^<>]{1,1000})>>[.,;:!?]{0,3}")


def _bigrams(view: Text) -> bool:
    """Whether brackets hold the whole text, with two words in each. The last pair may hold only one."""
    outside = _WRAPPED.sub(" ", view.folded)
    sizes = [len(match[1].split()) for match in _WRAPPED.finditer(view.folded)]
    return bool(sizes) and not outside.strip() and all(size == 2 for size in sizes[:-1]) and sizes[-1] in (1, 2)


def _official_two_paragraphs(view: Text) -> bool:
    return starred_paragraphs(view.raw) == 2


def _two_paragraphs(view: Text) -> bool:
    return divided_into(view, 2)


def _official_two_blocks(view: Text) -> bool:
    pieces = view.raw.split("\n\n")
    if any(not piece.strip() for piece in pieces[1:-1]):
        return False
    return len(pieces) - sum(not pieces[index].strip() for index in {0, len(pieces) - 1}) == 2


def _two_blocks(view: Text) -> bool:
    return len(view.paragraphs) == 2 and all(map(has_substance, view.paragraphs))


def _official_once(view: Text, keyword: str) -> bool:
    return patterns.keyword(keyword).count(view.raw) == 1


def _once(view: Text, keyword: str) -> bool:
    return count_word(view.folded, keyword) == 1


def _official_frequency(view: Text, keyword: str, frequency: int, relation: str) -> bool:
    return holds(patterns.keyword(keyword).count(view.raw), relation, frequency)


def _official_exclude(view: Text, keyword: str, instruction: str = "") -> bool:
    return f" {keyword} " not in view.raw


def _exclude(view: Text, keyword: str, instruction: str = "") -> bool:
    return without_words(view, (keyword,))


def _official_no_dot(view: Text) -> bool:
    return "." not in view.raw


_DOTS = frozenset(".。․‥…۔·")


def _no_dot(view: Text) -> bool:
    return _DOTS.isdisjoint(view.folded)


def _official_no_exclamation(view: Text) -> bool:
    return "!" not in view.raw


_EXCLAMATIONS = frozenset("!¡ǃ՜߹❗❕❢❣‼⁉⁈‽")


def _no_exclamation(view: Text) -> bool:
    return _EXCLAMATIONS.isdisjoint(view.folded)


_LOWERCASE = re.compile(r"\b[a-z]+\b")


def _official_lowercase(view: Text, N: int) -> bool:  # noqa: N803
    return sum(1 for _ in _LOWERCASE.finditer(view.raw)) <= N


def _lowercase(view: Text, N: int) -> bool:  # noqa: N803
    return sum(word.islower() for word in view.words) <= N


_ASCII_LETTER = re.compile(r"[a-zA-Z]")


def _official_letters(view: Text, N: int, relation: str) -> bool:  # noqa: N803
    return holds(sum(1 for _ in _ASCII_LETTER.finditer(view.raw)), relation, N)


def _letters(view: Text, N: int, relation: str) -> bool:  # noqa: N803
    return holds(sum(map(str.isalpha, view.folded)), relation, N)


def _official_letter(view: Text, letter: str, let_frequency: int, let_relation: str) -> bool:
    return holds(view.lower.count(letter), let_relation, let_frequency)


def _official_composition(view: Text, n_sent: int, n_words: int) -> bool:
    pieces = STARS.split(view.raw)
    if starred_paragraphs(view.raw) != 3:
        return False
    paragraphs = [boundaries.sentences(piece) for piece in pieces]
    return all(
        len(paragraph) == n_sent and all(len(boundaries.tokens(sentence)) == n_words for sentence in paragraph)
        for paragraph in paragraphs
    )


def _composition(view: Text, n_sent: int, n_words: int) -> bool:
    pieces = view.divided()
    return len(pieces) == 3 and all(
        len(paragraph) == n_sent and all(len(words(sentence)) == n_words for sentence in paragraph)
        for paragraph in map(sentences, pieces)
    )


def _official_unique(view: Text) -> bool:
    return len(set(view.official_tokens)) == len(view.official_tokens)


def _unique(view: Text) -> bool:
    return bool(view.words) and len(set(view.seen_words)) == len(view.seen_words)


def _official_increment(view: Text, keyword1: str, keyword2: str) -> bool:
    once, twice = patterns.keyword(keyword1), patterns.keyword(keyword2)
    return once.count(view.raw) == 1 and twice.count(view.raw) == 2


def _increment(view: Text, keyword1: str, keyword2: str) -> bool:
    return count_word(view.folded, keyword1) == 1 and count_word(view.folded, keyword2) == 2


def _official_palindrome(view: Text) -> bool:
    return any(chunk == chunk[::-1] for chunk in view.raw.split())


def _palindrome(view: Text) -> bool:
    """Whether the response has a palindrome.

    That is a word of at least three letters, not all the same, or a sentence of at least two words.
    """
    if any(
        len(token) > 2 and len(set(token)) > 1 and token == token[::-1] for token in view.small_words if token.isalpha()
    ):
        return True
    joined = ["".join(filter(str.isalnum, "".join(token))) for token in view.sentence_words if len(token) > 1]
    return any(len(letters) > 4 and letters == letters[::-1] for letters in joined)


CONSTRAINTS = (
    Constraint("detectable_format:sentence_hyphens", _official_hyphens, _hyphens),
    Constraint("keywords:no_adjacent_consecutive", _official_neighbours, _neighbours),
    Constraint("detectable_format:square_brackets", _official_brackets, _brackets),
    Constraint("keywords:word_once", _official_once, _once, {"keyword": word}),
    Constraint(
        "keywords:word_count_different_numbers",
        _official_frequency,
        frequency_of,
        {"keyword": word, "frequency": count, "relation": relation},
    ),
    Constraint(
        "keywords:exclude_word_harder",
        _official_exclude,
        _exclude,
        {"keyword": word, "instruction": anything},
        frozenset({"instruction"}),
    ),
    Constraint("paragraphs:paragraphs", _official_two_paragraphs, _two_paragraphs),
    Constraint("paragraphs:paragraphs2", _official_two_blocks, _two_blocks),
    Constraint("detectable_format:bigram_wrapping", _official_bigrams, _bigrams),
    Constraint("punctuation:punctuation_dot", _official_no_dot, _no_dot),
    Constraint("punctuation:punctuation_exclamation", _official_no_exclamation, _no_exclamation),
    Constraint("count:lowercase_counting", _official_lowercase, _lowercase, {"N": count}),
    Constraint("letters:letter_counting", _official_letters, _letters, {"N": count, "relation": relation}),
    Constraint(
        "letters:letter_counting2",
        _official_letter,
        letters_of,
        {"letter": small_letter, "let_frequency": count, "let_relation": relation},
    ),
    Constraint(
        "count:counting_composition", _official_composition, _composition, {"n_sent": ordinal, "n_words": ordinal}
    ),
    Constraint("count:count_unique", _official_unique, _unique),
    Constraint("count:count_increment_word", _official_increment, _increment, {"keyword1": word, "keyword2": word}),
    Constraint("keywords:palindrome", _official_palindrome, _palindrome),
)
