"""The 29 further instructions of open-instruct's training set ("IFEvalG", with IF_multi_constraints_upto5).

Profile fixed asks for whole words instead of substrings, treats words as a reader does (punctuation is no part of them),
and is never satisfied by a text that has nothing to judge (one sentence without any hyphen, "I" as a palindrome).
"""

import itertools
import re
from collections.abc import Sequence

from verifiers.answers import fold
from verifiers.rules.instruction_following import boundaries, patterns
from verifiers.rules.instruction_following.classic import (
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
    text,
    word,
)
from verifiers.rules.instruction_following.counting import Text, count_word, sentences, words

# --- copying


def _official_copy(view: Text, prompt_to_repeat: str) -> bool:
    return view.lower.strip() == prompt_to_repeat.strip().lower()


def _copy(view: Text, prompt_to_repeat: str) -> bool:
    return view.folded.split() == fold(prompt_to_repeat).split()


def _official_copies(view: Text, prompt_to_repeat: str, N: int) -> bool:  # noqa: N803 - the data's name
    wanted = prompt_to_repeat.strip().lower()
    pieces = view.lower.split("******")
    return len(pieces) == N and all(piece.strip() == wanted for piece in pieces)


def _copies(view: Text, prompt_to_repeat: str, N: int) -> bool:  # noqa: N803
    wanted = fold(prompt_to_repeat).split()
    pieces = view.folded.split("******")
    return len(pieces) == N and all(piece.split() == wanted for piece in pieces)


def _official_span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    return view.lower.strip() == prompt_to_repeat[n_start:n_end].strip().lower()


def _span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Both ends belong to the span, as the instruction says."""
    wanted = fold(prompt_to_repeat[n_start : n_end + 1]).split()
    return bool(wanted) and view.folded.split() == wanted


def _official_phrases(view: Text, phrase: str, small_n: int) -> bool:
    wanted = phrase.split()
    stretches = patterns.linear(f"{wanted[0]} .*? {wanted[-1]}").findall(view.raw)
    found = [stretch.split() for stretch in stretches]
    return len(found) == small_n and _one_word_differs(found, wanted)


def _one_word_differs(found: Sequence[Sequence[str]], wanted: Sequence[str]) -> bool:
    """Every phrase is as long and differs in one word at most, and the last differs in one."""
    changes = 0
    for said in found:
        if len(said) != len(wanted):
            return False
        changes = sum(mine != theirs for mine, theirs in zip(said, wanted, strict=True))
        if changes > 1:
            return False
    return changes == 1


def _phrases(view: Text, phrase: str, small_n: int) -> bool:
    """Every stretch of as many words that differs from the phrase in at most one word differs in one inside it."""
    wanted = [word.casefold() for word in words(fold(phrase))]
    size, said = len(wanted), view.small_words
    changed = 0
    position = 0
    while position + size <= len(said):
        differences = [index for index in range(size) if said[position + index] != wanted[index]]
        if not differences:
            return False
        if len(differences) == 1 and 0 < differences[0] < size - 1:
            changed += 1
            position += size
        else:
            position += 1
    return changed == small_n > 0


# --- format


def _official_hyphens(view: Text) -> bool:
    wanted = boundaries.sentences(view.raw.replace("-", " "))
    return all(piece.strip() == piece == sentence for piece, sentence in zip(view.raw.split("-"), wanted, strict=False))


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
    """Nothing outside the brackets; two words in each, one in the last if the number is odd."""
    rest = _WRAPPED.sub(" ", view.folded)
    sizes = [len(match[1].split()) for match in _WRAPPED.finditer(view.folded)]
    return bool(sizes) and not rest.strip() and all(size == 2 for size in sizes[:-1]) and sizes[-1] in (1, 2)


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
    return len(view.paragraphs) == 2


# --- keywords and words


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


def _official_first_of_each(view: Text, first_word: str) -> bool:
    return all(
        sentence.split()[:1] and sentence.split()[0].lower() == first_word.lower()
        for sentence in view.official_sentences
    )


def _first_of_each(view: Text, first_word: str) -> bool:
    wanted = fold(first_word).casefold()
    return bool(view.sentence_words) and all(said[:1] == [wanted] for said in view.sentence_words)


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
    wanted = fold(last_word).casefold()
    return bool(view.sentence_words) and all(said[-1:] == [wanted] for said in view.sentence_words)


def _official_last(view: Text, last_word: str) -> bool:
    chunks = view.raw.split()
    return bool(chunks) and _PUNCTUATION.sub("", chunks[-1]).lower() == last_word.lower()


def _last(view: Text, last_word: str) -> bool:
    return view.small_words[-1:] == [fold(last_word).casefold()]


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


_STARS = re.compile(r"\s?\*\*\*\s?")


def _official_composition(view: Text, n_sent: int, n_words: int) -> bool:
    pieces = _STARS.split(view.raw)
    if starred_paragraphs(view.raw) != 3:
        return False
    found = [boundaries.sentences(piece) for piece in pieces]
    return all(
        len(said) == n_sent and all(len(boundaries.tokens(sentence)) == n_words for sentence in said) for said in found
    )


def _composition(view: Text, n_sent: int, n_words: int) -> bool:
    pieces = view.divided()
    return len(pieces) == 3 and all(
        len(said) == n_sent and all(len(words(sentence)) == n_words for sentence in said)
        for said in map(sentences, pieces)
    )


def _official_unique(view: Text) -> bool:
    return len(set(view.official_tokens)) == len(view.official_tokens)


def _unique(view: Text) -> bool:
    return bool(view.words) and len(set(view.small_words)) == len(view.small_words)


def _official_increment(view: Text, keyword1: str, keyword2: str) -> bool:
    return patterns.keyword(keyword1).count(view.raw) == 1 and patterns.keyword(keyword2).count(view.raw) == 2


def _increment(view: Text, keyword1: str, keyword2: str) -> bool:
    return count_word(view.folded, keyword1) == 1 and count_word(view.folded, keyword2) == 2


def _official_palindrome(view: Text) -> bool:
    return any(chunk == chunk[::-1] for chunk in view.raw.split())


def _palindrome(view: Text) -> bool:
    """A word of at least three letters that are not all one, or a sentence of at least two words, that reads the same
    backwards.
    """
    if any(len(said) > 2 and len(set(said)) > 1 and said == said[::-1] for said in view.small_words if said.isalpha()):
        return True
    joined = ["".join(filter(str.isalnum, "".join(said))) for said in view.sentence_words if len(said) > 1]
    return any(len(letters) > 4 and letters == letters[::-1] for letters in joined)


def _official_position(view: Text, keyword: str, n: int, m: int) -> bool:
    if len(view.official_sentences) < n:
        return False
    return boundaries.tokens(view.official_sentences[n - 1])[m - 1 : m] == [keyword]


def word_at(view: Text, keyword: str, n: int, m: int) -> bool:
    """The m-th word of the n-th sentence."""
    if len(view.sentence_words) < n:
        return False
    wanted = [word.casefold() for word in words(fold(keyword))]
    return bool(wanted) and view.sentence_words[n - 1][m - 1 : m - 1 + len(wanted)] == wanted


def _official_start_end(view: Text) -> bool:
    tokens = view.official_tokens
    return len(tokens) > 1 and tokens[0].lower() == tokens[-1].lower()


def _start_end(view: Text) -> bool:
    """Nothing after the last word, not even punctuation."""
    said = view.small_words
    value = view.folded.strip()
    return len(said) > 1 and said[0] == said[-1] and value[-1].isalnum()


CONSTRAINTS = (
    Constraint("copy:repeat_phrase", _official_phrases, _phrases, {"phrase": word, "small_n": ordinal}),
    Constraint("copy:copy", _official_copy, _copy, {"prompt_to_repeat": text}),
    Constraint("copy:copying_simple", _official_copy, _copy, {"prompt_to_repeat": text}),
    Constraint("copy:copying_multiple", _official_copies, _copies, {"prompt_to_repeat": text, "N": ordinal}),
    Constraint(
        "new:copy_span_idx", _official_span, _span, {"prompt_to_repeat": text, "n_start": count, "n_end": count}
    ),
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
    Constraint("first_word:first_word_sent", _official_first_of_each, _first_of_each, {"first_word": word}),
    Constraint("first_word:first_word_answer", _official_first, _first, {"first_word": word}),
    Constraint("last_word:last_word_sent", _official_last_of_each, _last_of_each, {"last_word": word}),
    Constraint("last_word:last_word_answer", _official_last, _last, {"last_word": word}),
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
    Constraint(
        "keywords:keyword_specific_position",
        _official_position,
        word_at,
        {"keyword": word, "n": ordinal, "m": ordinal},
    ),
    Constraint("keywords:start_end", _official_start_end, _start_end),
)
