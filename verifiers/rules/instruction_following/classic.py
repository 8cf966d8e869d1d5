"""The instructions of IFEval on words, lengths, language, and the beginning and end of a response.

The source is Zhou et al. 2023, "Instruction-Following Evaluation for Large Language Models". The module `markup` holds
the instructions on markup.

Profile official reads a text as the published checkers do, with their two random choices made fixed: languages are
identified with a fixed seed, and a letter outside a-z is counted as asked. Profile fixed corrects known faults of the
checkers: they take substrings for keywords, and overlook hidden characters, other scripts and other typography.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from memory import remember
from verifiers.commitment import fold
from verifiers.rules.instruction_following import languages, patterns
from verifiers.rules.instruction_following.constraints import (
    Constraint,
    count,
    holds,
    ordinal,
    relation,
    small_letter,
    stripped,
    word,
    words,
)
from verifiers.rules.instruction_following.counting import Text, contains_word, count_word, joins
from verifiers.rules.instruction_following.counting import words as words_of
from verifiers.rules.tags import has_substance

# --- keywords


def _official_existence(text: Text, keywords: Sequence[str]) -> bool:
    return all(keyword.found(text.raw) for keyword in [patterns.keyword(word) for word in keywords])


def _existence(text: Text, keywords: Sequence[str]) -> bool:
    return all(contains_word(text.folded, word) for word in keywords)


def _official_frequency(text: Text, keyword: str, frequency: int, relation: str) -> bool:
    return holds(patterns.keyword(keyword).count(text.raw), relation, frequency)


def frequency_of(text: Text, keyword: str, frequency: int, relation: str) -> bool:
    """Whether the keyword is as frequent as asked.

    Where only few are wanted, keywords with look-alike letters count, too.
    """
    count = count_word(text.folded, keyword)
    if relation == "less than" and text.skeleton != text.folded:
        count = max(count, count_word(text.skeleton, _skeleton(keyword)))
    return holds(count, relation, frequency)


def _official_forbidden(text: Text, forbidden_words: Sequence[str]) -> bool:
    forbidden = [patterns.keyword(word, patterns.AS_WORD) for word in forbidden_words]
    return not any(word.found(text.raw) for word in forbidden)


def without_words(text: Text, forbidden_words: Sequence[str]) -> bool:
    """Whether none of the words occurs, not even hidden.

    Words can be hidden by look-alike letters, invisible characters, or emphasis inside the word.
    """
    return not any(
        contains_word(text.folded, word)
        or ((text.skeleton != text.folded or _skeleton(word) != word) and contains_word(text.skeleton, _skeleton(word)))
        or any(_looks_like(mixed, _skeleton(word)) for mixed in text.mixed_words)
        for word in forbidden_words
    )


def _looks_like(mixed: str, word: str) -> bool:
    """Whether a word of mixed scripts equals a word, if each of its letters outside ASCII may stand for any letter."""
    return len(mixed) == len(word) and all(
        mine == theirs or not mine.isascii() for mine, theirs in zip(mixed, word.casefold(), strict=True)
    )


@remember(4096)
def _skeleton(word: str) -> str:
    return Text(word).skeleton


def _official_letters(text: Text, letter: str, let_frequency: int, let_relation: str) -> bool:
    return holds(text.lower.count(letter), let_relation, let_frequency)


def letters_of(text: Text, letter: str, let_frequency: int, let_relation: str) -> bool:
    letters = text.skeleton if let_relation == "less than" and letter != "*" else text.folded
    return holds(letters.lower().count(letter), let_relation, let_frequency)


# --- language and case


def _official_language(text: Text, language: str) -> bool:
    detected = languages.identify(text.raw)
    return detected is None or detected == language


def in_language(text: Text, language: str) -> bool:
    return languages.is_in(text.folded, language)


def _official_capital(text: Text) -> bool:
    return text.raw.isupper() and languages.identify(text.raw) in (None, "en")


def _official_lowercase(text: Text) -> bool:
    return text.raw.islower() and languages.identify(text.raw) in (None, "en")


def all_capitals(text: Text) -> bool:
    return (
        "Ll" not in _letter_kinds(text) and "Lu" in _letter_kinds(text) and languages.is_in(text.folded.lower(), "en")
    )


def all_small(text: Text) -> bool:
    kinds = _letter_kinds(text)
    return "Ll" in kinds and not kinds & {"Lu", "Lt"} and languages.is_in(text.folded, "en")


def _letter_kinds(text: Text) -> frozenset[str]:
    return frozenset(unicodedata.category(char) for char in set(text.raw) if char.isalpha())


def _official_capital_words(text: Text, capital_frequency: int, capital_relation: str) -> bool:
    return holds(sum(token.isupper() for token in text.official_tokens), capital_relation, capital_frequency)


def capital_words(text: Text) -> int:
    """The number of words in capitals that have at least two letters: "NASA's" counts, "I" and "A" do not."""
    bare = [word.removesuffix("'s") for word in text.words]
    return sum(word.isupper() and sum(map(str.isalpha, word)) > 1 for word in bare)


def _capital_words(text: Text, capital_frequency: int, capital_relation: str) -> bool:
    return holds(capital_words(text), capital_relation, capital_frequency)


# --- lengths


def _official_sentences(text: Text, num_sentences: int, relation: str) -> bool:
    return holds(len(text.official_sentences), relation, num_sentences)


def _sentences(text: Text, num_sentences: int, relation: str) -> bool:
    return holds(len(text.sentences), relation, num_sentences)


STARS = re.compile(r"\s?\*\*\*\s?")


def starred_paragraphs(text: str) -> int | None:
    """The number of paragraphs that `***` separates; None if one between two others is blank."""
    pieces = STARS.split(text)
    if any(not piece.strip() for piece in pieces[1:-1]):
        return None
    edges = {0, len(pieces) - 1}
    return len(pieces) - sum(not pieces[index].strip() for index in edges)


def _official_paragraphs(text: Text, num_paragraphs: int) -> bool:
    return starred_paragraphs(text.raw) == num_paragraphs


def divided_into(text: Text, num_paragraphs: int) -> bool:
    """Whether dividers make this number of paragraphs, each with content. A rule or a full stop is not a paragraph."""
    pieces = text.divided()
    return len(pieces) == num_paragraphs and all(map(has_substance, pieces))


def _official_words(text: Text, num_words: int, relation: str) -> bool:
    return holds(len(text.official_words), relation, num_words)


def _words(text: Text, num_words: int, relation: str) -> bool:
    return holds(len(text.words), relation, num_words)


def _official_first_word(text: Text, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    pieces = text.raw.split("\n\n")
    number = sum(bool(piece.strip()) for piece in pieces)
    if number != num_paragraphs or nth_paragraph > number:
        return False
    paragraph = pieces[nth_paragraph - 1].split()
    if not paragraph:
        return False
    return re.split(r"[.,?!'\"]", paragraph[0].lstrip("'").lstrip('"'), maxsplit=1)[0].lower() == first_word.lower()


def _first_word(text: Text, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    if len(text.paragraphs) != num_paragraphs or nth_paragraph > num_paragraphs:
        return False
    if not all(map(has_substance, text.paragraphs)):
        return False
    return starts_with_word(text.paragraphs[nth_paragraph - 1], first_word)


def starts_with_word(folded: str, first_word: str) -> bool:
    target = [word.casefold() for word in words_of(fold(first_word))]
    tokens = words_of(folded[: 2 * len(first_word) + 100])
    return bool(target) and [word.casefold() for word in tokens[: len(target)]] == target


# --- combinations, beginning and end


def _official_two(text: Text) -> bool:
    pieces = text.raw.split("******")
    if any(not piece.strip() for piece in pieces[1:-1]):
        return False
    filled = [piece.strip() for piece in pieces if piece.strip()]
    return len(filled) == 2 and filled[0] != filled[1]


_SIXSTARS = re.compile(r"(?<!\*)\*{6}(?!\*)")


def two_responses(text: Text) -> bool:
    """Whether there are two responses that differ in their words. Labels such as "Response 2:" do not count."""
    pieces = _SIXSTARS.split(text.folded)
    filled = [piece for piece in pieces if any(map(str.isalnum, piece))]
    if len(filled) != 2 or any(piece not in filled for piece in pieces[1:-1]):
        return False
    first, second = (words_of(_RESPONSE_LABEL.sub("", piece).casefold()) for piece in filled)
    return first != second


_RESPONSE_LABEL = re.compile(
    r"\A\W{0,10}(?:(?:the|first|second|another)\s){0,2}(?:response|answer|option|version|reply|draft)\b[^\n:]{0,20}[:\n]",
    re.IGNORECASE,
)


def _official_repeat(text: Text, prompt_to_repeat: str) -> bool:
    return text.lower.strip().startswith(prompt_to_repeat.strip().lower())


def repeat_and_answer(text: Text, prompt_to_repeat: str) -> bool:
    """Whether the response begins with the request, and goes on with an answer of at least one word.

    The request may stand in bold, in quotes, or as a heading.
    """
    request = _spaced(fold(prompt_to_repeat))
    for reply in (_spaced(text.folded), _spaced(_QUOTE_MARK.sub("", text.folded).lstrip(_WRAPPING + "#"))):
        if reply.startswith(request):
            return any(map(str.isalnum, reply[len(request) :]))
    return False


_QUOTE_MARK = re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE)


_STRAIGHT = str.maketrans("“”„‘’‚", "\"\"\"'''")


def _spaced(text: str) -> str:
    """The text in small letters, with single spaces and straight quotes."""
    return " ".join(text.split()).casefold().translate(_STRAIGHT)


def _official_end(text: Text, end_phrase: str) -> bool:
    return text.lower.strip().strip('"').endswith(end_phrase.lower())


_WRAPPING = "\"'“”‘’«»*_` \t\r\n"


def ends_with(text: Text, end_phrase: str) -> bool:
    reply = _spaced(text.folded).rstrip(_WRAPPING)
    phrase = _spaced(fold(end_phrase)).strip(_WRAPPING) or _spaced(fold(end_phrase))
    if not reply.endswith(phrase):
        return False
    lead = reply[: len(reply) - len(phrase)]
    return not joins(lead, phrase)


def _official_quotation(text: Text) -> bool:
    value = text.raw.strip()
    return len(value) > 1 and value[0] == '"' == value[-1]


_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "＂": "＂", "‟": "”"}


def quoted(text: Text) -> bool:
    """Whether one pair of double quotes, of any typography, stands around the whole response."""
    value = text.raw.strip("\u200b\u2060\ufeff \t\r\n")
    if len(value) < 3 or value[-1] not in _QUOTES.get(value[0], ()):
        return False
    inside = value[1:-1]
    first = inside.find(value[-1])
    closes = first > 0 and not inside[first - 1].isspace() and inside[first + 1 : first + 2].strip(" ,.;:!?\n") == ""
    opens_before = value[0] != value[-1] and 0 <= inside.find(value[0]) < first
    return any(map(str.isalnum, inside)) and (opens_before or not (closes and inside.count(value[-1]) % 2 == 0))


def _official_comma(text: Text) -> bool:
    return "," not in text.raw


_COMMAS = frozenset(",،、⸲⸴⹁٬᠂߸‚꓾︑﹑〟")


def no_comma(text: Text) -> bool:
    return _COMMAS.isdisjoint(text.folded)


def language(value: Any) -> str:
    if value not in languages.LANGUAGES:
        raise ValueError(f"one of {sorted(languages.LANGUAGES)}")
    return str(value)


CONSTRAINTS = (
    Constraint("keywords:existence", _official_existence, _existence, {"keywords": words}),
    Constraint(
        "keywords:frequency",
        _official_frequency,
        frequency_of,
        {"keyword": word, "frequency": count, "relation": relation},
    ),
    Constraint("keywords:forbidden_words", _official_forbidden, without_words, {"forbidden_words": words}),
    Constraint(
        "keywords:letter_frequency",
        _official_letters,
        letters_of,
        {"letter": small_letter, "let_frequency": count, "let_relation": relation},
    ),
    Constraint("language:response_language", _official_language, in_language, {"language": language}),
    Constraint(
        "length_constraints:number_sentences",
        _official_sentences,
        _sentences,
        {"num_sentences": count, "relation": relation},
    ),
    Constraint("length_constraints:number_paragraphs", _official_paragraphs, divided_into, {"num_paragraphs": count}),
    Constraint("length_constraints:number_words", _official_words, _words, {"num_words": count, "relation": relation}),
    Constraint(
        "length_constraints:nth_paragraph_first_word",
        _official_first_word,
        _first_word,
        {"num_paragraphs": ordinal, "nth_paragraph": ordinal, "first_word": word},
    ),
    Constraint("combination:two_responses", _official_two, two_responses),
    Constraint("combination:repeat_prompt", _official_repeat, repeat_and_answer, {"prompt_to_repeat": stripped}),
    Constraint("startend:end_checker", _official_end, ends_with, {"end_phrase": stripped}),
    Constraint(
        "change_case:capital_word_frequency",
        _official_capital_words,
        _capital_words,
        {"capital_frequency": count, "capital_relation": relation},
    ),
    Constraint("change_case:english_capital", _official_capital, all_capitals),
    Constraint("change_case:english_lowercase", _official_lowercase, all_small),
    Constraint("punctuation:no_comma", _official_comma, no_comma),
    Constraint("startend:quotation", _official_quotation, quoted),
)
