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
from verifiers.commitment.glance import ends_with
from verifiers.commitment.latex import split
from verifiers.commitment.stance import UNMADE, Sentence
from verifiers.commitment.wording import begins_in
from verifiers.math import units, words
from verifiers.math.tree import Node, TooComplex, Unreadable

ReadFormula = Callable[[str], Node]
_MAX_PARTS = 60
_DOLLARS = re.compile(r"(?<!\\)\${1,2}")
_TEXT_COMMAND = re.compile(
    r"(?:\\[ ,;:!]\s{0,4})?\\(?:text|textbf|textit|textrm|mbox|mathrm)\s*\{([^{}]*)\}|\\(?:q?quad)(?![a-zA-Z])"
)
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
    pieces = _parts(text)
    if len(pieces) > _MAX_PARTS:
        raise TooComplex("a long text")
    if not any(part.is_words and _LETTER.search(part.text) for part in pieces):
        raise Unreadable("neither mathematics nor words")
    return _meaning(pieces, read_formula)


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
    pieces_read: list[_Part] = []
    for index, piece in enumerate(pieces):
        pieces_read += _with_text_commands(piece) if index % 2 else _undivided(piece)
    return _joined(pieces_read)


def _with_text_commands(formula: str) -> list[_Part]:
    r"""Split off each `\text{…}` at the outermost level of a formula; inside braces it belongs to the formula."""
    pieces: list[_Part] = []
    start = 0
    for match in _TEXT_COMMAND.finditer(formula):
        content = match[1] or ""
        if match[1] is not None and (not _LETTER.search(content) or units.key(content) is not None):
            continue
        if not _is_balanced(formula[start : match.start()]):
            continue
        pieces += [_Part(False, formula[start : match.start()]), _Part(True, content)]
        start = match.end()
    return [*pieces, _Part(False, formula[start:])]


def _undivided(text: str) -> list[_Part]:
    """Split a text without dollar signs: runs of letters are words, unless they are part of a notation."""
    pieces: list[_Part] = []
    for part in _with_text_commands(text):
        if part.is_words:
            pieces.append(part)
            continue
        start = 0
        for match in _WORD_OR_GROUP.finditer(part.text):
            if match["group"] is not None or match[0].rstrip(".,;:") in _KEPT or _is_product(match[0]):
                continue
            pieces += [_Part(False, part.text[start : match.start()]), _Part(True, match[0])]
            start = match.end()
        pieces.append(_Part(False, part.text[start:]))
    return pieces


def _is_product(word: str) -> bool:
    """Whether two letters are a product, because they are not words."""
    return len(word.rstrip(".,;:")) == 2 and word.rstrip(".,;:").lower() not in _SHORT_WORDS and word.isascii()


_NOTHING = re.compile(r"[\s.,;:~()\\]*")


def _joined(pieces: Sequence[_Part]) -> list[_Part]:
    """Join words in a row into one part, and drop formulas of nothing but punctuation."""
    joined: list[_Part] = []
    for part in pieces:
        blank = not part.text.strip() if part.is_words else _NOTHING.fullmatch(part.text) is not None
        if blank:
            if joined and part.text.strip() and joined[-1].is_words:
                joined[-1] = _Part(True, joined[-1].text + part.text.strip()[0])
            continue
        article = not part.is_words and part.text.strip() in ("a", "A", "I")
        if joined and joined[-1].is_words and (part.is_words or article):
            joined[-1] = _Part(True, f"{joined[-1].text} {part.text.strip()}")
        else:
            joined.append(_Part(part.is_words, part.text))
    return joined


def _meaning(pieces: list[_Part], read_formula: ReadFormula) -> Node:
    first = pieces[0]
    if first.is_words and (head := committed(first.text, is_all=len(pieces) == 1)) is not None:
        return Node("text", leaf=head)
    if len(pieces) > 1 and first.is_words and _is_opening(first.text):
        return _meaning(pieces[1:], read_formula)
    if len(pieces) > 1 and pieces[-1].is_words and _ADVERBS.fullmatch(pieces[-1].text):
        pieces = [*pieces[:-2], _Part(pieces[-2].is_words, pieces[-2].text.rstrip(" ,;("))]
        return _meaning(pieces, read_formula)
    qualifier = "" if first.is_words or len(pieces) == 1 else _BEFORE_WORDS.sub("", pieces[1].text)
    is_qualified = begins_in(qualifier, "qualifiers") or begins_in(qualifier, "supposes")
    if is_qualified and not any(part.is_words and _parts_cases(part.text) for part in pieces[2:]):
        main = read_formula(first.text.rstrip(" ,;("))
        return Node("where", (main, _whole(pieces[1:], read_formula)))
    if len(pieces) > 1 and first.is_words and excepts(first.text) and all(map(_is_excepted, pieces[1:])):
        read = [read_formula(part.text.strip(" .,;")) for part in pieces[1:] if not part.is_words]
        items = [item for value in read for item in (value.args if value.kind in ("list", "or") else (value,))]
        bare = tuple(item.args[1] if item.kind == "=" else item for item in items)
        return Node("setminus", (Node("sym", leaf="mathbb R"), Node("brace", bare)))
    if len(pieces) == 2 and not first.is_words and begins_in(pieces[1].text.strip(), "shares"):
        value = read_formula(first.text.strip())  # 3/4 of the pie
        return (
            Node("quantity", (value,), "thing")
            if value.kind in ("num", "/", "%", "mixed")
            else _whole(pieces, read_formula)
        )
    return _stated(pieces, read_formula) or _whole(pieces, read_formula)


def excepts(text: str) -> bool:
    """Whether words stand before what is taken from the real numbers: "all real numbers except"."""
    return " ".join(text.lower().replace(",", " ").split()) in _ALL_BUT


def _is_excepted(part: _Part) -> bool:
    return not part.is_words or part.text.strip(" ,.").lower() in ("and", "or")


def _stated(pieces: Sequence[_Part], read_formula: ReadFormula) -> Node | None:
    """The value, with its unit, that a sentence gives: `The area is 5 cm`, `the largest value of $f(x)$ is 19`."""
    unit = units.key(pieces[-1].text.strip(" .,;")) if pieces[-1].is_words else None
    subject = pieces[: -1 if unit is None else -2]
    if not subject or pieces[len(subject)].is_words or not subject[-1].is_words:
        return None
    if not subject[0].is_words or any(part.is_words and _has_verb(part.text) for part in subject[:-1]):
        return None
    if not _states(" ".join(part.text if part.is_words else _VALUE for part in subject)):
        return None
    value = read_formula(pieces[len(subject)].text.strip(" .,;"))
    return value if unit is None else Node("quantity", (value,), unit)


def _has_verb(text: str) -> bool:
    """Whether words have a verb of their own, outside a relative clause: "points that could be in the domain of"."""
    words = commitment_words(text)
    phrases = cues(words)
    verb_stops = {cue.stop for cue in phrases if cue.kind in (Kind.IS, Kind.HAS)}
    verb_starts = [min(cue.first for cue in phrases if cue.stop == end) for end in verb_stops]
    return any(not start or words[start - 1].text not in listed("relatives") for start in verb_starts)


def _is_opening(text: str) -> bool:
    """Whether words only lead to what follows: "Therefore, we have", "The final answer is"."""
    words = commitment_words(text)
    phrases = [cue for cue in cues(words) if cue.kind in _OPENING]
    covered = {position for cue in phrases for position in range(cue.first, cue.stop)}
    opens = any(cue.kind in _OPENS for cue in phrases) or any(word.text in _OPENING_WORDS for word in words)
    return opens and all(word.text in _OPENING_WORDS or position in covered for position, word in enumerate(words))


def _states(text: str) -> bool:
    """Whether words say that the formula behind them is the value of something."""
    lead = text.strip()
    if lead[-1:] not in tuple(":：=") and not ends_with(lead, Kind.IS, Kind.HAS):
        return False
    sentence_text = f"{lead} {_VALUE}"
    sentence, span = Sentence(sentence_text, 0, len(sentence_text), ""), (len(lead) + 1, len(sentence_text))
    is_supposed = sentence.begins(0, Kind.IF) and sentence.words[0].text not in listed("temporal")
    return not is_supposed and sentence.stance(span) not in UNMADE and not sentence.bounds(span)


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
    reason = bare.removeprefix(".").lstrip()
    return reason[:1].isalpha() and begins_in(reason, "reasons")


def committed(text: str, is_all: bool = True) -> str | None:
    """The yes or no, true or false, at the beginning of a text that only explains it; `is_all`: or ends there."""
    head = _HEAD.match(text)
    if head is None:
        return None
    explanation = text[head.end() :]
    if _gives_reason(explanation) or (is_all and explanation.strip() in ("", ".", "!")):
        return head[1].lower()
    return None


def _whole(pieces: Sequence[_Part], read_formula: ReadFormula) -> Node:
    if len(pieces) == 1 and not pieces[0].is_words:
        return read_formula(pieces[0].text.strip(" .,;:~"))
    nodes = tuple(_node(part, read_formula) for part in pieces)
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
