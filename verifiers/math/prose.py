r"""Reads sentences with mathematics: `The mode is $1/3$`, `(0, 1) \text{ for all } t`, `concave up on $(0, \infty)$`.

A text that is not a single formula is cut into words and formulas, by `$…$`, `\text{…}` or the kind of its runs of
letters. It is read as follows:

    V for all t, V where …         `where`: what is said, and the conditions
    The mode is V.   so x = V      V: a subject, a copula, one formula, nothing after it
    Yes, because …                 its first word
    anything else                  `prose`: its words and its formulas, in their order

A text without a word, or with braces that do not match, is not prose: it stays unreadable.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verifiers.commitment.cues import Kind, cues, listed, phrases
from verifiers.commitment.cues import words as commitment_words
from verifiers.commitment.latex import split
from verifiers.commitment.stance import UNMADE, Sentence
from verifiers.commitment.wording import begins_in, ends_with
from verifiers.math import units, words
from verifiers.math.tree import Node, TooComplex, Unreadable

ReadFormula = Callable[[str], Node]
_MAX_PARTS = 60
_DOLLARS = re.compile(r"(?<!\\)\${1,2}")
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|textit|textrm|mbox|mathrm)\s*\{([^{}]*)\}|\\(?:q?quad)(?![a-zA-Z])")
_WORD = re.compile(r"(?<![\\a-zA-Z\d_^{])[A-Za-z][A-Za-z'’]+(?![a-zA-Z]*[{(_^\\])[.,;:]?|[㐀-鿿]+")
_WORD_OR_GROUP = re.compile(r"(?P<group>\\[a-zA-Z]+\s*\{[^{}]*\})|" + _WORD.pattern)
_SHORT_WORDS = split("is of in to at on by or if an as we no so it be he am my up us do go")
_LETTER = re.compile(r"[^\W\d_]{2,}")
_ALL_BUT = frozenset(
    phrases(
        "(the set of|) (all|any|every) (real|reals) (number|numbers|) (except|other than|but|excluding|not equal to) (for|)"
    )
)
_ADVERBS = re.compile(
    r"[\s(,]*(?:in total|total|altogether|in all|overall|only|exactly|approximately|is the answer|is correct)[\s).]*",
    re.IGNORECASE,
)
_HEAD = re.compile(r"\s*(yes|no|true|false)\b", re.IGNORECASE)
_OPENS = frozenset([Kind.SO, Kind.ANSWER, Kind.RESULT])
_OPENING = _OPENS | {Kind.THE, Kind.RIGHT, Kind.IS}
_OPENING_WORDS = split("then solutions results set : ,")
_KEPT = frozenset(words.FUNCTIONS) | frozenset(words.FUNCTION_SYNONYMS) | frozenset(words.WORD_COMMANDS)


@dataclass(frozen=True, slots=True)
class _Part:
    is_words: bool
    text: str


def read_prose(text: str, read_formula: ReadFormula) -> Node:
    """Read a text that is not a single formula.

    Raises:
        Unreadable: it holds no words, or its braces do not match.
        TooComplex: it has too many parts, or one of them is too complex.
    """
    if not _is_balanced(text):
        raise Unreadable("braces that do not match")
    parts = _parts(text)
    if len(parts) > _MAX_PARTS:
        raise TooComplex("a long text")
    if not any(part.is_words and _LETTER.search(part.text) for part in parts):
        raise Unreadable("neither mathematics nor words")
    return _meaning(parts, read_formula)


def _is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\[{}]|[{}]", text):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return False
    return depth == 0


def _parts(text: str) -> list[_Part]:
    pieces = _DOLLARS.split(text)
    if len(pieces) % 2 == 0 or len(pieces) == 1:
        return _joined(_undivided(_DOLLARS.sub(" ", text)))
    found: list[_Part] = []
    for index, piece in enumerate(pieces):
        found += _with_text_commands(piece) if index % 2 else _undivided(piece)
    return _joined(found)


def _with_text_commands(formula: str) -> list[_Part]:
    r"""Split off each `\text{…}` at the outermost level of a formula; inside braces it belongs to the formula."""
    found: list[_Part] = []
    start = 0
    for match in _TEXT_COMMAND.finditer(formula):
        inner = match[1] or ""
        if match[1] is not None and (not _LETTER.search(inner) or units.key(inner) is not None):
            continue
        if not _is_balanced(formula[start : match.start()]):
            continue
        found += [_Part(False, formula[start : match.start()]), _Part(True, inner)]
        start = match.end()
    return [*found, _Part(False, formula[start:])]


def _undivided(text: str) -> list[_Part]:
    """Split a text without dollar signs: runs of letters are words, unless they are part of a notation."""
    found: list[_Part] = []
    for part in _with_text_commands(text):
        if part.is_words:
            found.append(part)
            continue
        start = 0
        for match in _WORD_OR_GROUP.finditer(part.text):
            if match["group"] is not None or match[0].rstrip(".,;:") in _KEPT or _is_product(match[0]):
                continue
            found += [_Part(False, part.text[start : match.start()]), _Part(True, match[0])]
            start = match.end()
        found.append(_Part(False, part.text[start:]))
    return found


def _is_product(word: str) -> bool:
    """Whether two letters are a product, because they are not words."""
    return len(word.rstrip(".,;:")) == 2 and word.rstrip(".,;:").lower() not in _SHORT_WORDS and word.isascii()


_NOTHING = re.compile(r"[\s.,;:~()\\]*")


def _joined(parts: Sequence[_Part]) -> list[_Part]:
    """Join words in a row into one part, and drop formulas of nothing but punctuation."""
    found: list[_Part] = []
    for part in parts:
        blank = not part.text.strip() if part.is_words else _NOTHING.fullmatch(part.text) is not None
        if blank:
            if found and part.text.strip() and found[-1].is_words:
                found[-1] = _Part(True, found[-1].text + part.text.strip()[0])
            continue
        article = not part.is_words and part.text.strip() in ("a", "A", "I")
        if found and found[-1].is_words and (part.is_words or article):
            found[-1] = _Part(True, f"{found[-1].text} {part.text.strip()}")
        else:
            found.append(_Part(part.is_words, part.text))
    return found


def _meaning(parts: list[_Part], read_formula: ReadFormula) -> Node:
    first = parts[0]
    if first.is_words and (head := committed(first.text, is_all=len(parts) == 1)) is not None:
        return Node("text", leaf=head)
    if len(parts) > 1 and first.is_words and _is_opening(first.text):
        return _meaning(parts[1:], read_formula)
    if len(parts) > 1 and parts[-1].is_words and _ADVERBS.fullmatch(parts[-1].text):
        parts = [*parts[:-2], _Part(parts[-2].is_words, parts[-2].text.rstrip(" ,;("))]
        return _meaning(parts, read_formula)
    is_qualified = (
        len(parts) > 1 and not first.is_words and begins_in(_BEFORE_WORDS.sub("", parts[1].text), "qualifiers")
    )
    if is_qualified and not any(part.is_words and _parts_cases(part.text) for part in parts[2:]):
        main = read_formula(first.text.rstrip(" ,;("))
        return Node("where", (main, _whole(parts[1:], read_formula)))
    if len(parts) == 2 and first.is_words and " ".join(first.text.lower().replace(",", " ").split()) in _ALL_BUT:
        taken = read_formula(parts[1].text.strip(" .,;"))
        items = taken.args if taken.kind in ("list", "or") else (taken.args[1],) if taken.kind == "=" else (taken,)
        return Node("setminus", (Node("sym", leaf="mathbb R"), Node("brace", items)))
    return _stated(parts, read_formula) or _whole(parts, read_formula)


def _stated(parts: Sequence[_Part], read_formula: ReadFormula) -> Node | None:
    """The value, with its unit, that a sentence gives: `The area is 5 cm`, `the largest value of $f(x)$ is 19`."""
    unit = units.key(parts[-1].text.strip(" .,;")) if parts[-1].is_words else None
    subject = parts[: -1 if unit is None else -2]
    if not subject or parts[len(subject)].is_words or not subject[-1].is_words:
        return None
    if not subject[0].is_words or any(part.is_words and _has_verb(part.text) for part in subject[:-1]):
        return None
    if not _states(" ".join(part.text if part.is_words else _VALUE for part in subject)):
        return None
    value = read_formula(parts[len(subject)].text.strip(" .,;"))
    return value if unit is None else Node("quantity", (value,), unit)


def _has_verb(text: str) -> bool:
    """Whether words have a verb of their own, outside a relative clause: "points that could be in the domain of"."""
    said = commitment_words(text)
    found = cues(said)
    ends = {cue.stop for cue in found if cue.kind in (Kind.IS, Kind.HAS)}
    begins = [min(cue.first for cue in found if cue.stop == end) for end in ends]
    return any(not place or said[place - 1].text not in listed("relatives") for place in begins)


def _is_opening(text: str) -> bool:
    """Whether words only lead to what follows: "Therefore, we have", "The final answer is"."""
    said = commitment_words(text)
    found = [cue for cue in cues(said) if cue.kind in _OPENING]
    known = {place for cue in found for place in range(cue.first, cue.stop)}
    opens = any(cue.kind in _OPENS for cue in found) or any(word.text in _OPENING_WORDS for word in said)
    return opens and all(word.text in _OPENING_WORDS or place in known for place, word in enumerate(said))


def _states(text: str) -> bool:
    """Whether words say that the formula behind them is the value of something."""
    lead = text.strip()
    if lead[-1:] not in tuple(":：=") and not ends_with(lead, Kind.IS, Kind.HAS):
        return False
    said = f"{lead} {_VALUE}"
    sentence, span = Sentence(said, 0, len(said), ""), (len(lead) + 1, len(said))
    return sentence.stance(span) not in UNMADE and not sentence.bounds(span)


_VALUE = "0"
"""Stands for any formula."""


_BEFORE_WORDS = re.compile(r"^[\s,;(]*")


def _parts_cases(text: str) -> bool:
    """Whether words separate the cases of a function: "otherwise"."""
    return any(word.text in listed("branches") for word in commitment_words(text))


def _gives_reason(text: str) -> bool:
    """Whether the text behind a yes or no only explains it."""
    bare = text.strip()
    if bare[:1] in (",", ";", ":"):
        return True
    begins = bare.removeprefix(".").lstrip()
    return begins[:1].isalpha() and begins_in(begins, "reasons")


def committed(text: str, is_all: bool = True) -> str | None:
    """The yes or no, true or false, at the beginning of a text that only explains it; `is_all`: or ends there."""
    head = _HEAD.match(text)
    if head is None:
        return None
    rest = text[head.end() :]
    if _gives_reason(rest) or (is_all and rest.strip() in ("", ".", "!")):
        return head[1].lower()
    return None


def _whole(parts: Sequence[_Part], read_formula: ReadFormula) -> Node:
    if len(parts) == 1 and not parts[0].is_words:
        return read_formula(parts[0].text.strip(" .,;:~"))
    nodes = tuple(_node(part, read_formula) for part in parts)
    return nodes[0] if len(nodes) == 1 else Node("prose", nodes)


def _node(part: _Part, read_formula: ReadFormula) -> Node:
    """Read a part of a text; a part that looks like a formula but cannot be read is compared as written."""
    if part.is_words:
        return Node("text", leaf=words.word_key(part.text))
    try:
        return read_formula(_without_half_bracket(part.text.strip(" .,;:~")))
    except Unreadable:
        return Node("text", leaf="".join(part.text.split()))


def _without_half_bracket(text: str) -> str:
    """Remove the end of a parenthesis that began in the words before."""
    return text[:-1] if text.endswith(")") and text.count("(") < text.count(")") else text
