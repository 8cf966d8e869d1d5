"""The instructions of IFBench (Pyatkin et al. 2025) on words and sentences: `words:…` and `sentence:…`.

Profile fixed counts words and sentences as a reader does. It requires at least one case of what the instruction is
about, and the same palindrome ten times is one palindrome.
"""

import itertools
import re
import string
import unicodedata
from collections import Counter

import syllapy

from verifiers.commitment import fold
from verifiers.rules.instruction_following import boundaries, patterns, verbs
from verifiers.rules.instruction_following.constraints import Constraint, count, ordinal, word
from verifiers.rules.instruction_following.counting import Text, contains_word, words
from verifiers.rules.instruction_following.positions import word_at

_STRIPPED = string.punctuation + " "


def _official_alphabet(view: Text) -> bool:
    tokens = view.bare.strip(_STRIPPED).split()
    start = string.ascii_lowercase.find(tokens[0][0].lower()) if tokens else -1
    letters = string.ascii_lowercase[start:] + string.ascii_lowercase[:start]
    return start >= 0 and all(
        word.lower()[0] == letters[step % len(letters)] for step, word in enumerate(tokens[1:], start=1)
    )


def _alphabet(view: Text) -> bool:
    firsts = [_plain(word)[:1] for word in view.small_words]
    if len(firsts) < 2 or firsts[0] not in string.ascii_lowercase:
        return False
    start = string.ascii_lowercase.index(firsts[0])
    return all(first == string.ascii_lowercase[(start + step) % 26] for step, first in enumerate(firsts))


def _plain(word: str) -> str:
    """The word without marks on its letters."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if unicodedata.category(char) != "Mn")


def _official_vowels(view: Text) -> bool:
    value = view.raw.strip().lower()
    return "\n" not in value and len(set("aeiou").intersection(value)) <= 3


def _vowels(view: Text) -> bool:
    value = _plain(view.folded.strip().casefold())
    return "\n" not in value and 1 <= len(set("aeiou").intersection(value)) <= 3


_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")


def _official_clusters(view: Text) -> bool:
    return all(_CLUSTER.search(chunk) for chunk in view.lower.split())


def _clusters(view: Text) -> bool:
    return bool(view.words) and all(_CLUSTER.search(_plain(word)) for word in view.small_words)


def _official_palindromes(view: Text) -> bool:
    return sum(len(word) >= 5 and word == word[::-1] for word in view.bare.lower().split()) >= 10


def _palindromes(view: Text) -> bool:
    candidates = {word for word in view.small_words if len(word) >= 5 and word.isalpha() and word == word[::-1]}
    return sum(len(set(word)) > 1 for word in candidates) >= 10


_PRIMES = frozenset(number for number in range(2, 98) if all(number % other for other in range(2, number)))


def _official_primes(view: Text) -> bool:
    return all(len(word) in _PRIMES for word in view.bare.split())


def _primes(view: Text) -> bool:
    return bool(view.words) and all(sum(map(str.isalnum, word)) in _PRIMES for word in view.words)


def _official_verb(view: Text) -> bool:
    return verbs.opens_as_tagged(view.official_tokens)


def _verb(view: Text) -> bool:
    """Whether the first word is a verb. The number of a list item is not a word."""
    tokens = view.words[1:] if _LIST_NUMBER.match(view.folded) else view.words
    return bool(tokens) and (tokens[0].casefold() == "let's" or verbs.is_verb(tokens[0], modals=True))


_LIST_NUMBER = re.compile(r"[\s#*_>]{0,10}\d{1,3}[.)]\s")


def _official_repeats(view: Text, small_n: int) -> bool:
    return max(Counter(view.bare.lower().split()).values(), default=0) <= small_n


def _repeats(view: Text, small_n: int) -> bool:
    return 0 < max(Counter(view.seen_words).values(), default=0) <= small_n


def _official_parity(view: Text) -> bool:
    parities = [syllapy.count(word) % 2 for word in view.bare.lower().split()]
    return all(first != second for first, second in itertools.pairwise(parities))


def _parity(view: Text) -> bool:
    """Whether the numbers of syllables alternate between odd and even, in at least two words.

    The syllables of a number cannot be counted, so a response with numbers fails.
    """
    counts = [sum(map(syllapy.count, word.split("-"))) for word in view.small_words]
    if len(counts) < 2 or not all(counts):
        return False
    return all(first % 2 != second % 2 for first, second in itertools.pairwise(counts))


def _official_chain(view: Text) -> bool:
    for first, second in itertools.pairwise(view.official_sentences):
        last, following = first.rstrip(_STRIPPED).split(), second.lstrip(_STRIPPED).split()
        if not last or not following or last[-1].lower() != following[0].lower():
            return False
    return True


def _chain(view: Text) -> bool:
    tokens = view.sentence_words
    return len(tokens) > 1 and all(
        bool(first) and first[-1:] == second[:1] for first, second in itertools.pairwise(tokens)
    )


def _official_round_paragraphs(view: Text) -> bool:
    for line in view.raw.split("\n"):
        tokens = line.strip().lower().strip(_STRIPPED).split()
        if tokens and tokens[0] != tokens[-1]:
            return False
    return True


def _round_paragraphs(view: Text) -> bool:
    paragraphs = [tokens for line in view.lines if (tokens := [word.casefold() for word in words(line)])]
    return bool(paragraphs) and all(len(tokens) > 1 and tokens[0] == tokens[-1] for tokens in paragraphs)


def _official_no_alliteration(view: Text) -> bool:
    tokens = view.bare.lower().split()
    return all(first[0] != second[0] for first, second in itertools.pairwise(tokens))


def _no_alliteration(view: Text) -> bool:
    plain_words = [_plain(word) for word in view.small_words]
    return bool(plain_words) and all(first[:1] != second[:1] for first, second in itertools.pairwise(plain_words))


def _official_word_at(view: Text, keyword: str, n: int, m: int) -> bool:
    if len(view.official_sentences) < n:
        return False
    tokens = [
        token.lower() for token in boundaries.tokens(view.official_sentences[n - 1]) if any(map(str.isalnum, token))
    ]
    return tokens[m - 1 : m] == [keyword.lower()]


def _official_second(view: Text, keyword: str) -> bool:
    tokens = [token.lower() for token in view.official_tokens]
    if len(tokens) < 2:
        return False
    last = -3 if tokens[-1] in string.punctuation else -2
    return len(tokens) >= -last and tokens[1] == tokens[last] == keyword.lower()


def _second(view: Text, keyword: str) -> bool:
    tokens = view.small_words
    return len(tokens) > 2 and tokens[1] == tokens[-2] == fold(keyword).casefold()


def _official_alliteration(view: Text) -> bool:
    longest = -1
    for sentence in view.official_sentences:
        tokens = [word for chunk in sentence.lower().split() if (word := chunk.lstrip(_STRIPPED))]
        are_alike = [first[0] == second[0] for first, second in itertools.pairwise(tokens)]
        count = sum(are_alike) + sum(now and not previous for previous, now in itertools.pairwise([False, *are_alike]))
        if count <= longest:
            return False
        longest = count
    return True


def _alliteration(view: Text) -> bool:
    """Whether the longest run of words with the same first letter grows from sentence to sentence.

    At least two sentences are needed.
    """
    runs = [
        max((len(list(group)) for _, group in itertools.groupby(tokens, key=lambda word: _plain(word)[:1])), default=0)
        for tokens in view.sentence_words
    ]
    return len(runs) > 1 and all(first < second for first, second in itertools.pairwise(runs))


def _official_keyword(view: Text, word: str, N: int) -> bool:  # noqa: N803
    if len(view.official_sentences) < N:
        return False
    literal = patterns.Literal(word, patterns.AS_WORD, ignore_case=True, has_dots=False)
    return literal.found(view.official_sentences[N - 1])


def _keyword(view: Text, word: str, N: int) -> bool:  # noqa: N803
    return len(view.sentences) >= N and contains_word(view.sentences[N - 1], word)


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _official_growth(view: Text, small_n: int) -> bool:
    sizes = [len(sentence.translate(_NO_PUNCTUATION).split()) for sentence in view.official_sentences]
    return bool(sizes) and all(second - first == small_n for first, second in itertools.pairwise(sizes))


def _growth(view: Text, small_n: int) -> bool:
    sizes = [len(tokens) for tokens in view.sentence_words]
    return len(sizes) > 1 and all(second - first == small_n for first, second in itertools.pairwise(sizes))


CONSTRAINTS = (
    Constraint("words:alphabet", _official_alphabet, _alphabet),
    Constraint("words:vowel", _official_vowels, _vowels),
    Constraint("words:consonants", _official_clusters, _clusters),
    Constraint("words:palindrome", _official_palindromes, _palindromes),
    Constraint("words:prime_lengths", _official_primes, _primes),
    Constraint("words:start_verb", _official_verb, _verb),
    Constraint("words:repeats", _official_repeats, _repeats, {"small_n": count}),
    Constraint("words:odd_even_syllables", _official_parity, _parity),
    Constraint("words:last_first", _official_chain, _chain),
    Constraint("words:paragraph_last_first", _official_round_paragraphs, _round_paragraphs),
    Constraint("words:no_consecutive", _official_no_alliteration, _no_alliteration),
    Constraint(
        "words:keywords_specific_position", _official_word_at, word_at, {"keyword": word, "n": ordinal, "m": ordinal}
    ),
    Constraint("words:words_position", _official_second, _second, {"keyword": word}),
    Constraint("sentence:alliteration_increment", _official_alliteration, _alliteration),
    Constraint("sentence:keyword", _official_keyword, _keyword, {"word": word, "N": ordinal}),
    Constraint("sentence:increment", _official_growth, _growth, {"small_n": count}),
)
