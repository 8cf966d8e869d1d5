"""The custom instructions of IFBench (Pyatkin et al. 2025). Each belongs to one prompt.

The demands of each prompt are therefore known here, and profile fixed checks all of them: every row of a table, days
that exist, a sentence instead of only its subject.
"""

import csv
import datetime
import io
import re
import string
import unicodedata
from collections.abc import Sequence

from verifiers.rules.instruction_following import boundaries
from verifiers.rules.instruction_following.constraints import Constraint
from verifiers.rules.instruction_following.counting import Text, grows, words

_STRIPPED = string.punctuation + " "


_DIGITS = re.compile(r"\d+")


def _multiples(view: Text) -> bool:
    return _DIGITS.findall(view.raw) == ["14", "21", "28", "35", "42", "49"]


_QUESTION = re.compile(r"\n*Question \d+[.|):;]?\s*")
_OPTION = re.compile(r"[A-Ea-e][.|)]\s*\w")


def _official_questions(view: Text) -> bool:
    if not view.raw.startswith("Question"):
        return False
    questions = [piece.strip() for piece in _QUESTION.split(view.raw) if piece.strip()]
    sizes = [_question_chars(piece.split("\n")) for piece in questions]
    return len(questions) == 4 and None not in sizes and grows([size for size in sizes if size is not None])


def _question_chars(lines: Sequence[str]) -> int | None:
    """The length of a question without its options; None unless it has five options."""
    stripped = [line.strip() for line in lines]
    options = [index for index, line in enumerate(stripped) if _OPTION.match(line)]
    return len(" ".join(stripped[: options[0]]).strip()) if len(options) == 5 else None


_LABEL = re.compile(r"Question\s{0,3}\d{1,3}\b[\s*_.|):;-]*")
_ANSWER = re.compile(r"(?:Correct )?Answer\b.{0,100}", re.IGNORECASE)


def _questions(view: Text) -> bool:
    """Whether there are four questions of growing length with five options each, as in the published check.

    Markup makes no difference. After the options of a question, only its answer may follow.
    """
    blocks: list[list[str]] = []
    for line in (line.strip(" \t*_#>") for line in view.lines):
        label = _LABEL.match(line)
        if label:
            blocks.append([line[label.end() :]])
        elif not blocks:
            return False
        elif any(map(str.isalnum, line)):
            blocks[-1].append(line)
    sizes = [_question_chars(lines) for lines in blocks if _ends_with_options(lines)]
    return len(blocks) == len(sizes) == 4 and None not in sizes and grows([size for size in sizes if size is not None])


def _ends_with_options(lines: Sequence[str]) -> bool:
    body = lines[:-1] if _ANSWER.fullmatch(lines[-1]) else lines
    return all(map(_OPTION.match, body[-5:]))


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def _official_countries(view: Text) -> bool:
    lines = [line for raw in view.raw.split("\n") if (line := raw.strip(_STRIPPED))]
    first = next((index for index, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    listed = [_ascii(line) for line in lines[first:]]
    return len(listed) >= 52 and listed == sorted(listed, reverse=True)


_AFRICA = """
algeria, angola, benin, botswana, burkina faso, burundi, cabo verde, cape verde, cameroon,
central african republic, chad, comoros, congo, republic of the congo, congo republic,
democratic republic of the congo, dr congo, cote d'ivoire, ivory coast, djibouti, egypt, equatorial guinea,
eritrea, eswatini, swaziland, ethiopia, gabon, gambia, the gambia, ghana, guinea, guinea-bissau, kenya, lesotho,
liberia, libya, madagascar, malawi, mali, mauritania, mauritius, morocco, mozambique, namibia, niger, nigeria,
rwanda, sao tome and principe, senegal, seychelles, sierra leone, somalia, south africa, south sudan, sudan,
tanzania, togo, tunisia, uganda, western sahara, somaliland, zambia, zimbabwe
"""
_COUNTRIES = frozenset(name.strip() for name in _AFRICA.split(","))
_ITEM = re.compile(r"^[\s*_>]{0,10}\d{1,3}[.)]")
_ASIDE = re.compile(r"\([^()]{0,200}\)|,.*$")


def _countries(view: Text) -> bool:
    """Whether each line from "Zimbabwe" on names one African country, in reverse order.

    At least 52 different countries are needed, and nothing else may stand there.
    """
    lines = [
        " ".join(_ascii(_ITEM.sub("", line).replace("’", "'")).strip(_STRIPPED.replace(")", "")).casefold().split())
        for line in view.lines
    ]
    first = next((index for index, line in enumerate(lines) if line == "zimbabwe"), len(lines))
    listed = lines[first:]
    names = {name for line in listed if (name := _ASIDE.sub("", line).strip()) in _COUNTRIES}
    return len(listed) >= 52 and len(names) >= 52 and listed == sorted(set(listed), reverse=True)


def _official_word_reverse(view: Text) -> bool:
    value = " ".join(view.bare.lower().split()[::-1])
    return "bald eagle" in value and [value] == boundaries.sentences(value)


def _says_bald_eagle(tokens: Sequence[str]) -> bool:
    """Whether the words are a sentence about the bald eagle, with its articles at places where English has them."""
    value = " ".join(tokens)
    return (
        "bald eagle" in value
        and len(tokens) >= 4
        and not {"is", "are", "was", "symbol"}.isdisjoint(tokens)
        and _LONE_ARTICLE.search(value) is None
    )


_LONE_ARTICLE = re.compile(r"\b(?:the|an?)(?: (?:of|is|are|was|in|the|an?)\b|$)")


def _word_reverse(view: Text) -> bool:
    """Whether the whole response is the reversed sentence.

    An introduction is not allowed, and neither is the sentence in its normal order.
    """
    return ":" not in view.raw and not _names_the_bird(view) and _says_bald_eagle(view.small_words[::-1])


def _names_the_bird(view: Text) -> bool:
    return "bald eagle" in " ".join(view.small_words)


def _official_letter_reverse(view: Text) -> bool:
    return "elgae dlab" in view.lower


def _letter_reverse(view: Text) -> bool:
    if _names_the_bird(view) or not {"the", "is", "of", "answer", "reversed"}.isdisjoint(view.small_words):
        return False
    return _says_bald_eagle([word.casefold() for word in words(view.folded[::-1])])


def _official_alphabet_story(view: Text) -> bool:
    firsts = [sentence.split()[:1] for sentence in view.official_sentences]
    return [first[0][0].lower() if first else "" for first in firsts] == list(string.ascii_lowercase)


def _alphabet_story(view: Text) -> bool:
    return ["".join(tokens[:1])[:1] for tokens in view.sentence_words] == list(string.ascii_lowercase)


_NORTH_TO_SOUTH = """
Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam Warsaw London Brussels
Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb
"""
_CAPITALS = _NORTH_TO_SOUTH.split()


def _official_capitals(view: Text) -> bool:
    return [city.strip() for city in _ascii(view.raw).split(",") if city.strip()] == _CAPITALS


_KYIV = _CAPITALS.index("Prague")
_ALL_CAPITALS = [*_CAPITALS[:_KYIV], "Kyiv", *_CAPITALS[_KYIV:]]
_OTHER_NAMES = {"kiev": "kyiv", "kishinev": "chisinau", "berne": "bern", "luxembourg city": "luxembourg"}


def _capitals(view: Text) -> bool:
    """Whether all capitals are listed from north to south.

    Kyiv (50.45°) belongs to the list, but the published list lacks it. So both lists are right.
    """
    listed = [city.strip(" .\n*").casefold() for city in _ascii(view.folded).split(",")]
    cities = [_OTHER_NAMES.get(city, city) for city in listed]
    return cities in ([city.casefold() for city in expected] for expected in (_ALL_CAPITALS, _CAPITALS))


def _rows(value: str, delimiter: str = ",") -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(value), delimiter=delimiter))
    except csv.Error:
        return []


def _official_cities(view: Text) -> bool:
    rows = _rows(view.raw)
    return len(rows) == 8 and rows[0] == _CITY and all(len(row) == 5 for row in rows[1:])


_CITY = ["ID", "Country", "City", "Year", "Count"]
_PRODUCT = ["ProductID", "Category", "Brand", "Price", "Stock"]
_STUDENT = ["StudentID", "Subject", "Grade", "Semester", "Score"]


def _table(view: Text, header: Sequence[str], size: int, delimiter: str = ",") -> list[list[str]]:
    """The rows below the header, with their quotes. One fence around the table does not count.

    The result is empty if the header, or the number or width of the rows, is wrong, or if a field is blank.
    """
    lines = [line for line in view.raw.strip().split("\n") if line.strip()]
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    rows = _rows("\n".join(lines).replace('"', '"""'), delimiter)
    rows = [[field.strip() for field in row] for row in rows]
    if len(rows) != size + 1 or [field.strip('"') for field in rows[0]] != list(header):
        return []
    return rows[1:] if all(len(row) == len(header) and all(field.strip('" ') for field in row) for row in rows) else []


def _cities(view: Text) -> bool:
    return bool(_table(view, _CITY, 7))


def _header(names: Sequence[str], delimiter: str) -> re.Pattern[str]:
    return re.compile(delimiter.join(rf'(?:{name}|"{name}")' for name in names))


_PRODUCT_HEADER = _header(_PRODUCT, r",[ \t]*")
_STUDENT_HEADER = _header(_STUDENT, r"\t *")


def _is_special(field: str) -> bool:
    """Whether a quoted part at the beginning of a field holds a character that is not a letter, digit, `_` or space."""
    line = field.partition("\n")[0]
    inside = line[1 : line.rfind('"')] if line.count('"') > 1 else ""
    return line.startswith('"') and any(not (char.isalnum() or char == "_" or char.isspace()) for char in inside)


def _official_special(view: Text) -> bool:
    if not _PRODUCT_HEADER.fullmatch(view.raw.split("\n")[0].strip()):
        return False
    rows = _rows(view.raw.replace('"', '"""'))
    if len(rows) != 15:
        return False
    for row in rows[1:]:
        if len(row) != 5:
            return False
        if any(map(_is_special, row)):
            return True
    return False


def _special(view: Text) -> bool:
    return any(_is_special(field) and field[-1] == '"' for row in _table(view, _PRODUCT, 14) for field in row)


def _official_all_quoted(view: Text) -> bool:
    if not _STUDENT_HEADER.fullmatch(view.raw.split("\n")[0].strip()):
        return False
    rows = _rows(view.raw.replace('"', '"""'), "\t")
    return len(rows) == 4 and all(len(row) == 5 and all(map(_is_quoted, row)) for row in rows)


def _is_quoted(field: str) -> bool:
    field = field.strip()
    return field[:1] == '"' == field[-1:]


def _all_quoted(view: Text) -> bool:
    rows = _table(view, _STUDENT, 3, "\t")
    quoted_header = _header([f'"{name}"' for name in _STUDENT], r"\t *")
    lines = [line.strip() for line in view.raw.split("\n")]
    return (
        bool(rows)
        and any(map(quoted_header.fullmatch, lines))
        and all(_is_quoted(field) for row in rows for field in row)
    )


_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _official_dates(view: Text) -> bool:
    return all(_is_napoleonic(date.strip()) for date in view.raw.split(","))


def _is_napoleonic(date: str) -> bool:
    match = _DATE.fullmatch(date)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    return 1769 <= year <= 1821 and month <= 12 and (month == 0 or day <= _DAYS[month - 1])


def _dates(view: Text) -> bool:
    """Whether there are at least two different days, which all exist and are in Napoleon's lifetime."""
    listed = [date.strip(" \t\n*_`").rstrip(".") for date in view.folded.split(",")]
    return len(set(listed)) > 1 and all(_is_napoleonic(date) and _exists(date) for date in listed)


def _exists(date: str) -> bool:
    try:
        datetime.date.fromisoformat(date)
    except ValueError:
        return False
    return True


CONSTRAINTS = (
    Constraint("custom:multiples", _multiples),
    Constraint("custom:mcq_count_length", _official_questions, _questions),
    Constraint("custom:reverse_newline", _official_countries, _countries),
    Constraint("custom:word_reverse", _official_word_reverse, _word_reverse),
    Constraint("custom:character_reverse", _official_letter_reverse, _letter_reverse),
    Constraint("custom:sentence_alphabet", _official_alphabet_story, _alphabet_story),
    Constraint("custom:european_capitals_sort", _official_capitals, _capitals),
    Constraint("custom:csv_city", _official_cities, _cities),
    Constraint("custom:csv_special_character", _official_special, _special),
    Constraint("custom:csv_quotes", _official_all_quoted, _all_quoted),
    Constraint("custom:date_format_list", _official_dates, _dates),
)
