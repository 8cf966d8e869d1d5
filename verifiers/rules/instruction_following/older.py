"""The older form of training data: `{"func_name": "verify_keywords", "keyword_list": [...], ...}`, with 25 functions.

Profile official equals the present functions of open-instruct. Older copies of them (in ROLL) count every word for the
frequency of a keyword, and take a part of an option for the option; open-instruct and this module do neither. Profile
fixed judges as the newer instructions of the same meaning do, but with the exact counts that this form asks for.
"""

import json
import re
from collections.abc import Sequence

from verifiers.commitment import fold
from verifiers.rules.instruction_following import classic, languages, markup
from verifiers.rules.instruction_following.constraints import (
    Constraint,
    count,
    letter,
    ordinal,
    quantifier,
    stripped,
    text,
    word,
    words,
)
from verifiers.rules.instruction_following.counting import Text, contains_word, count_word, placeholders, without_word
from verifiers.rules.tags import has_substance


def _compared(number: int, quantifier: str, bound: int, slack: int) -> bool:
    if quantifier == "around":
        return abs(number - bound) <= slack
    return number >= bound if quantifier == "at least" else number <= bound


def _tenth(number: int) -> int:
    return max(round(number * 0.1), 1)


def _official_keywords(view: Text, keyword_list: Sequence[str]) -> bool:
    return all(keyword.lower() in view.lower for keyword in keyword_list)


def _keywords(view: Text, keyword_list: Sequence[str]) -> bool:
    return all(contains_word(view.folded, keyword) for keyword in keyword_list)


_WORD = re.compile(r"\b\w+\b")


def _official_frequency(view: Text, word: str, N: int) -> bool:  # noqa: N803 - the data's name
    return _WORD.findall(view.lower).count(word.lower()) == N


def _frequency(view: Text, word: str, N: int) -> bool:  # noqa: N803
    return count_word(view.folded, word) == N


def _official_forbidden(view: Text, forbidden_words: Sequence[str]) -> bool:
    return not any(word.lower() in view.lower for word in forbidden_words)


def _official_letter(view: Text, letter: str, N: int) -> bool:  # noqa: N803
    return view.raw.count(letter) == N


def _letter(view: Text, letter: str, N: int) -> bool:  # noqa: N803
    return view.folded.lower().count(letter.lower()) == N


def _official_language(view: Text, language: str) -> bool:
    return languages.identify(view.raw) == language


def _official_paragraphs(view: Text, N: int) -> bool:  # noqa: N803
    lines = "\n".join(line.strip() for line in view.raw.split("\n"))
    pieces = [piece.strip() for piece in lines.split("* * *")]
    return all(pieces) and len(pieces) == N


def _paragraphs(view: Text, N: int) -> bool:  # noqa: N803
    return classic.divided_into(view, N)


def _official_words(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(len(view.raw.split()), quantifier, N, _tenth(N))


def _words(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(len(view.words), quantifier, N, _tenth(N))


_SENTENCE_END = re.compile(r"(?<!\w\.\w.)(?<![A-Z][a-z]\.)(?<=[.?!])\s")


def _official_sentences(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(len(_SENTENCE_END.split(view.raw)), quantifier, N, 1)


def _sentences(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(len(view.sentences), quantifier, N, 1)


def _official_first_word(view: Text, N: int, first_word: str, i: int) -> bool:  # noqa: N803
    pieces = view.raw.split("\n\n")
    return len(pieces) == N and i <= N and pieces[i - 1].strip().startswith(first_word)


def _first_word(view: Text, N: int, first_word: str, i: int) -> bool:  # noqa: N803
    pieces = view.paragraphs
    if len(pieces) != N or i > N or not all(map(has_substance, pieces)):
        return False
    return classic.starts_with_word(pieces[i - 1], first_word)


def _official_postscript(view: Text, postscript_marker: str) -> bool:
    _, marker, content = view.raw.partition(postscript_marker)
    return bool(marker and content.strip())


def _official_placeholders(view: Text, N: int) -> bool:  # noqa: N803
    return len(placeholders(view.raw)) >= N


def _placeholders(view: Text, N: int) -> bool:  # noqa: N803
    return markup.placeholders_named(view) >= N


def _official_bullets(view: Text, N: int) -> bool:  # noqa: N803
    return sum(line.strip().startswith(("*", "-")) for line in view.raw.split("\n")) == N


def _bullets(view: Text, N: int) -> bool:  # noqa: N803
    return markup.bullets(view) == N


def _official_title(view: Text) -> bool:
    return any("<<" in line and line.find(">>", line.find("<<") + 2) >= 0 for line in view.raw.split("\n"))


def _official_choice(view: Text, options: Sequence[str]) -> bool:
    return any(option in view.raw for option in options)


def _choice(view: Text, options: Sequence[str]) -> bool:
    """Whether exactly one option occurs. An option inside a longer one does not count."""
    remaining, count = view.folded, 0
    for option in sorted(set(options), key=len, reverse=True):
        reduced = without_word(remaining, option)
        count += reduced != remaining
        remaining = reduced
    return count == 1


def _official_highlights(view: Text, N: int) -> bool:  # noqa: N803
    return sum(line.count("*") // 2 for line in view.raw.split("\n")) >= N


def _highlights(view: Text, N: int) -> bool:  # noqa: N803
    return markup.highlights(view) >= N


def _official_sections(view: Text, N: int, section_splitter: str) -> bool:  # noqa: N803
    pieces = view.raw.split(section_splitter)
    return len(pieces) - int(not pieces[0]) == N


def _sections(view: Text, N: int, section_splitter: str) -> bool:  # noqa: N803
    labels = markup.sections(view, section_splitter)
    if labels:
        return markup.are_sections(labels, N)
    heads = [
        line for line in view.lines if line.strip(" \t#*_:").casefold() == fold(section_splitter).casefold().strip()
    ]
    return len(heads) == N


def _official_json(view: Text) -> bool:
    try:
        json.loads(view.raw)
    except (ValueError, RecursionError):
        return False
    return True


def _official_repeat(view: Text, original_prompt: str) -> bool:
    return view.raw.startswith(original_prompt)


def _repeat(view: Text, original_prompt: str) -> bool:
    return classic.repeat_and_answer(view, original_prompt)


def _official_two(view: Text) -> bool:
    pieces = [piece.strip() for piece in view.raw.split("******")]
    return len(pieces) == 2 and pieces[0] != pieces[1]


def _official_upper(view: Text) -> bool:
    return view.raw == view.raw.upper()


def _official_lower(view: Text) -> bool:
    return view.raw == view.lower


_CAPITALS = re.compile(r"\b[A-Z]+\b")


def _official_capitals(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(len(_CAPITALS.findall(view.raw)), quantifier, N, _tenth(N))


def _capitals(view: Text, N: int, quantifier: str) -> bool:  # noqa: N803
    return _compared(classic.capital_words(view), quantifier, N, _tenth(N))


def _official_end(view: Text, end_phrase: str) -> bool:
    return view.raw.endswith(end_phrase)


def _official_quotation(view: Text) -> bool:
    return view.raw[0] == '"' == view.raw[-1]


def _official_no_comma(view: Text) -> bool:
    return "," not in view.raw


CONSTRAINTS = (
    Constraint("verify_keywords", _official_keywords, _keywords, {"keyword_list": words}),
    Constraint("verify_keyword_frequency", _official_frequency, _frequency, {"word": word, "N": count}),
    Constraint("validate_forbidden_words", _official_forbidden, classic.without_words, {"forbidden_words": words}),
    Constraint("verify_letter_frequency", _official_letter, _letter, {"letter": letter, "N": count}),
    Constraint("validate_response_language", _official_language, classic.in_language, {"language": classic.language}),
    Constraint("verify_paragraph_count", _official_paragraphs, _paragraphs, {"N": count}),
    Constraint("validate_word_constraint", _official_words, _words, {"N": count, "quantifier": quantifier}),
    Constraint("verify_sentence_constraint", _official_sentences, _sentences, {"N": count, "quantifier": quantifier}),
    Constraint(
        "validate_paragraphs", _official_first_word, _first_word, {"N": ordinal, "first_word": word, "i": ordinal}
    ),
    Constraint("verify_postscript", _official_postscript, markup.postscript, {"postscript_marker": stripped}),
    Constraint("validate_placeholders", _official_placeholders, _placeholders, {"N": count}),
    Constraint("verify_bullet_points", _official_bullets, _bullets, {"N": count}),
    Constraint("validate_title", _official_title, markup.title),
    Constraint("validate_choice", _official_choice, _choice, {"options": words}),
    Constraint("validate_highlighted_sections", _official_highlights, _highlights, {"N": count}),
    Constraint("validate_sections", _official_sections, _sections, {"N": count, "section_splitter": word}),
    Constraint("validate_json_format", _official_json, markup.json_document),
    Constraint("validate_repeat_prompt", _official_repeat, _repeat, {"original_prompt": text}),
    Constraint("validate_two_responses", _official_two, classic.two_responses),
    Constraint("validate_uppercase", _official_upper, classic.all_capitals),
    Constraint("validate_lowercase", _official_lower, classic.all_small),
    Constraint(
        "validate_frequency_capital_words", _official_capitals, _capitals, {"N": count, "quantifier": quantifier}
    ),
    Constraint("validate_end", _official_end, classic.ends_with, {"end_phrase": text}),
    Constraint("validate_quotation", _official_quotation, classic.quoted),
    Constraint("validate_no_commas", _official_no_comma, classic.no_comma),
)
