"""The instructions of IFBench (Pyatkin et al. 2025) on words and sentences: count, ratio, words, sentence.

Profile fixed counts words and sentences as a reader does and asks for something to be there: no sentence at all is no
balance of sentences, the same palindrome ten times is one palindrome.
"""

import itertools
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import syllapy

from verifiers.answers import fold
from verifiers.rules.instruction_following import boundaries, verbs
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
from verifiers.rules.instruction_following.counting import (
    Text,
    contains_word,
    count_word,
    words,
)
from verifiers.rules.instruction_following.training import word_at

_STRIPPED = string.punctuation + " "

# --- count


def _official_range(view: Text, min_words: int, max_words: int) -> bool:
    return min_words <= len(view.official_words) <= max_words


def _range(view: Text, min_words: int, max_words: int) -> bool:
    return min_words <= len(view.words) <= max_words


def _official_distinct(view: Text, N: int) -> bool:  # noqa: N803 - the data's name
    return len({chunk.strip(_STRIPPED) for chunk in view.lower.split()}) >= N


def _distinct(view: Text, N: int) -> bool:  # noqa: N803
    return len(set(view.small_words)) >= N


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


_NAME = re.compile(r"[^\W\d_]+")


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
    said = boundaries.tokens(view.raw.replace("/", " ").lower())
    return sum(token in _PRONOUNS for token in said) >= N


def _pronouns(view: Text, N: int) -> bool:  # noqa: N803
    return sum(said.partition("'")[0] in _PRONOUNS for said in view.small_words) >= N


_MARKS = frozenset(".,!?;:")


def _punctuation(view: Text) -> bool:
    value = view.raw
    if not ("!?" in value or "?!" in value or "‽" in value):
        return False
    rest = value.replace("?!", "", 1) if "?!" in value else value.replace("!?", "", 1)
    return set(rest) >= _MARKS


_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def _official_japanese(view: Text, N: int) -> bool:  # noqa: N803
    chosen = [chunk.strip(_STRIPPED) for chunk in view.raw.split()[N - 1 :: N]]
    return all(_JAPANESE.search(chunk) for chunk in chosen if chunk and not chunk.isdigit())


def _japanese(view: Text, N: int) -> bool:  # noqa: N803
    """There is an N-th word that is Japanese, and each is Japanese or a number."""
    chunks = [chunk for chunk in view.folded.split() if any(map(str.isalnum, chunk))]
    chosen = [chunk.strip(_STRIPPED) for chunk in chunks[N - 1 :: N]]
    found = [_JAPANESE.search(chunk) is not None for chunk in chosen if not chunk.isdigit()]
    return bool(found) and all(found)


_TIMES = (1, 2, 3, 5, 7)


def _official_keywords(view: Text, **keywords: str) -> bool:
    return all(
        view.lower.count(keyword.lower()) == times for keyword, times in zip(keywords.values(), _TIMES, strict=True)
    )


def _keywords(view: Text, **keywords: str) -> bool:
    return all(
        count_word(view.folded, keyword) == times for keyword, times in zip(keywords.values(), _TIMES, strict=True)
    )


# --- ratio


def _official_stop_words(view: Text, percentage: float) -> bool:
    said = view.official_words
    return bool(said) and sum(word.lower() in STOP_WORDS for word in said) / len(said) * 100 <= percentage


def _stop_words(view: Text, percentage: float) -> bool:
    said = view.small_words
    return bool(said) and sum(word in STOP_WORDS for word in said) * 100 <= percentage * len(said)


def _kinds(sentences: Sequence[str]) -> tuple[int, int, int]:
    """How many state, ask and call, by their last mark."""
    ends = Counter(sentence.rstrip(_AFTER_STOP)[-1:] for sentence in sentences)
    return ends["."] + ends["。"], ends["?"] + ends["？"], ends["!"] + ends["！"]


_AFTER_STOP = "\"'”’»)]}*_ \n」』"


def _official_two_to_one(view: Text) -> bool:
    stated = sum(sentence.endswith(".") for sentence in view.official_sentences)
    asked = sum(sentence.endswith("?") for sentence in view.official_sentences)
    return stated == 2 * asked


def _two_to_one(view: Text) -> bool:
    stated, asked, _ = _kinds(view.sentences)
    return stated == 2 * asked > 0


def _official_balance(view: Text) -> bool:
    kinds = [sum(sentence.endswith(mark) for sentence in view.official_sentences) for mark in ".?!"]
    return len(set(kinds)) == 1


def _balance(view: Text) -> bool:
    stated, asked, called = _kinds(view.sentences)
    return stated == asked == called > 0


def _official_overlap(view: Text, reference_text: str, percentage: float) -> bool:
    return _overlap(view.raw, reference_text, percentage)


def _word_overlap(view: Text, reference_text: str, percentage: float) -> bool:
    """Trigrams of words: how many of the response's are the reference's."""
    return _overlap(view.small_words, [word.casefold() for word in words(fold(reference_text))], percentage)


def _overlap(mine: Sequence[str], theirs: Sequence[str], percentage: float) -> bool:
    found = set(zip(mine, mine[1:], mine[2:], strict=False))
    wanted = set(zip(theirs, theirs[1:], theirs[2:], strict=False))
    return bool(found) and percentage - 2 <= len(found & wanted) / len(found) * 100 <= percentage + 2


def _official_three_equal(view: Text) -> bool:
    return len(view.official_sentences) == 3 and len({len(said.strip()) for said in view.official_sentences}) == 1


def _three_equal(view: Text) -> bool:
    if len(view.sentences) != 3 or len(set(map(len, view.sentences))) != 1:
        return False
    return len(view.small_words) == len(set(view.small_words)) and all(view.sentence_words)


# --- words


def _official_alphabet(view: Text) -> bool:
    said = view.bare.strip(_STRIPPED).lower().split()
    if not said or said[0][0] not in string.ascii_lowercase:
        return False
    start = string.ascii_lowercase.index(said[0][0])
    return all(word[0] == string.ascii_lowercase[(start + step) % 26] for step, word in enumerate(said))


def _alphabet(view: Text) -> bool:
    firsts = [_plain(word)[:1] for word in view.small_words]
    if len(firsts) < 2 or firsts[0] not in string.ascii_lowercase:
        return False
    start = string.ascii_lowercase.index(firsts[0])
    return all(first == string.ascii_lowercase[(start + step) % 26] for step, first in enumerate(firsts))


def _plain(word: str) -> str:
    """Without marks on its letters."""
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
    said = [_plain(chunk) for chunk in view.folded.casefold().split() if any(map(str.isalnum, chunk))]
    return bool(said) and all(_CLUSTER.search(chunk) for chunk in said)


def _official_palindromes(view: Text) -> bool:
    return sum(len(word) >= 5 and word == word[::-1] for word in view.bare.lower().split()) >= 10


def _palindromes(view: Text) -> bool:
    found = {word for word in view.small_words if len(word) >= 5 and word.isalpha() and word == word[::-1]}
    return sum(len(set(word)) > 1 for word in found) >= 10


_PRIMES = frozenset(number for number in range(2, 98) if all(number % other for other in range(2, number)))


def _official_primes(view: Text) -> bool:
    return all(len(word) in _PRIMES for word in view.bare.split())


def _primes(view: Text) -> bool:
    sizes = [sum(map(str.isalnum, chunk)) for chunk in view.folded.split()]
    sizes = [size for size in sizes if size]
    return bool(sizes) and all(size in _PRIMES for size in sizes)


def _official_verb(view: Text) -> bool:
    return verbs.opens_as_tagged(view.official_tokens)


def _verb(view: Text) -> bool:
    return bool(view.words) and verbs.is_verb(view.words[0], modals=True)


def _official_repeats(view: Text, small_n: int) -> bool:
    return max(Counter(view.bare.lower().split()).values(), default=0) <= small_n


def _repeats(view: Text, small_n: int) -> bool:
    return 0 < max(Counter(view.small_words).values(), default=0) <= small_n


def _official_parity(view: Text) -> bool:
    parities = [syllapy.count(word) % 2 for word in view.bare.lower().split()]
    return all(first != second for first, second in itertools.pairwise(parities))


def _parity(view: Text) -> bool:
    """Of two words at least; numbers have no syllables that could be counted and fail."""
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
    said = view.sentence_words
    return len(said) > 1 and all(bool(first) and first[-1:] == second[:1] for first, second in itertools.pairwise(said))


def _official_round_paragraphs(view: Text) -> bool:
    for line in view.raw.split("\n"):
        said = line.strip().lower().strip(_STRIPPED).split()
        if said and said[0] != said[-1]:
            return False
    return True


def _round_paragraphs(view: Text) -> bool:
    said = [found for line in view.lines if (found := [word.casefold() for word in words(line)])]
    return bool(said) and all(len(found) > 1 and found[0] == found[-1] for found in said)


def _official_no_alliteration(view: Text) -> bool:
    said = view.bare.lower().split()
    return all(first[0] != second[0] for first, second in itertools.pairwise(said))


def _no_alliteration(view: Text) -> bool:
    said = [_plain(word) for word in view.small_words]
    return bool(said) and all(first[:1] != second[:1] for first, second in itertools.pairwise(said))


def _official_word_at(view: Text, keyword: str, n: int, m: int) -> bool:
    if len(view.official_sentences) < n:
        return False
    said = [
        token.lower() for token in boundaries.tokens(view.official_sentences[n - 1]) if any(map(str.isalnum, token))
    ]
    return said[m - 1 : m] == [keyword.lower()]


def _official_second(view: Text, keyword: str) -> bool:
    said = [token.lower() for token in view.official_tokens]
    if len(said) < 2:
        return False
    last = -3 if said[-1] in string.punctuation else -2
    return len(said) >= -last and said[1] == said[last] == keyword.lower()


def _second(view: Text, keyword: str) -> bool:
    said = view.small_words
    return len(said) > 2 and said[1] == said[-2] == fold(keyword).casefold()


# --- sentence


def _official_alliteration(view: Text) -> bool:
    longest = -1
    for sentence in view.official_sentences:
        said = [word for chunk in sentence.lower().split() if (word := chunk.lstrip(_STRIPPED))]
        same = [first[0] == second[0] for first, second in itertools.pairwise(said)]
        found = sum(same) + sum(now and not before for before, now in itertools.pairwise([False, *same]))
        if found <= longest:
            return False
        longest = found
    return True


def _alliteration(view: Text) -> bool:
    """Two sentences at least; the longest run of words with one first letter grows."""
    runs = [
        max((len(list(group)) for _, group in itertools.groupby(said, key=lambda word: _plain(word)[:1])), default=0)
        for said in view.sentence_words
    ]
    return len(runs) > 1 and all(first < second for first, second in itertools.pairwise(runs))


def _official_keyword(view: Text, word: str, N: int) -> bool:  # noqa: N803
    if len(view.official_sentences) < N:
        return False
    return re.search(rf"\b{re.escape(word)}\b", view.official_sentences[N - 1], re.IGNORECASE) is not None


def _keyword(view: Text, word: str, N: int) -> bool:  # noqa: N803
    return len(view.sentences) >= N and contains_word(view.sentences[N - 1], word)


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _official_growth(view: Text, small_n: int) -> bool:
    sizes = [len(sentence.translate(_NO_PUNCTUATION).split()) for sentence in view.official_sentences]
    return bool(sizes) and all(second - first == small_n for first, second in itertools.pairwise(sizes))


def _growth(view: Text, small_n: int) -> bool:
    sizes = [len(said) for said in view.sentence_words]
    return len(sizes) > 1 and all(second - first == small_n for first, second in itertools.pairwise(sizes))


_KEYWORDS = {f"keyword{number}": word for number in range(1, 6)}

CONSTRAINTS = (
    Constraint("count:word_count_range", _official_range, _range, {"min_words": count, "max_words": count}),
    Constraint("count:unique_word_count", _official_distinct, _distinct, {"N": count}),
    Constraint("count:conjunctions", _official_conjunctions, _conjunctions, {"small_n": count}),
    Constraint("count:person_names", _official_names, _names, {"N": count}),
    Constraint("count:numbers", _official_numbers, _numbers, {"N": count}),
    Constraint("count:pronouns", _official_pronouns, _pronouns, {"N": count}),
    Constraint("count:punctuation", _punctuation),
    Constraint("count:words_japanese", _official_japanese, _japanese, {"N": ordinal}),
    Constraint("count:keywords_multiple", _official_keywords, _keywords, _KEYWORDS),
    Constraint("ratio:stop_words", _official_stop_words, _stop_words, {"percentage": percentage}),
    Constraint("ratio:sentence_type", _official_two_to_one, _two_to_one),
    Constraint("ratio:sentence_balance", _official_balance, _balance),
    Constraint("ratio:overlap", _official_overlap, _word_overlap, {"reference_text": text, "percentage": percentage}),
    Constraint("ratio:sentence_words", _official_three_equal, _three_equal),
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
