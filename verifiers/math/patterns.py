r"""What kind of mistake a wrong answer shows. A diagnosis for people and statistics: it never changes a score.

With p the answer and g the reference, p ≠ g. Two numbers are compared exactly where both are rational, otherwise (also
with variables) at fixed points with many more digits than agreement by chance could explain. No other source: these
definitions are this project's own.

    of the value
    SIGN                     p = -g
    PERCENT                  p = 100 g or p = g/100
    POWER10                  p = g · 10^k with 0 < |k| <= 9
    RECIPROCAL               p g = 1
    NEGATIVE_RECIPROCAL      p g = -1, and p is not -g: the slope of the other one of two perpendicular lines
    OFF_BY_ONE               p = g + 1 or p = g - 1, of integers or of expressions with variables
    FACTOR_TWO               p = 2g or p = g/2
    SQUARE, SQUARE_ROOT      p = g², p² = g; neither of a g with |g| = 1
    COMPLEMENT               p = 1 - g with 0 < g < 1: the probability of the opposite
    DEG_RAD                  p = g · 180/π or p = g · π/180
    CONJUGATE                p is g with the other sign at one of its square roots, at all of them, or at i
    TERM_SIGN                p is g with the other sign at one term of a sum
    COEFFICIENT              p is g, a sum with variables, with another coefficient at one term; 0 for a term left out
    CONSTANT_OF_INTEGRATION  p is g without its + C
    ROUNDING                 none of the above, and the relative error is below 1 %, or p is a decimal number of two or
                             more significant digits and off by less than one unit of its last place
    of the structure
    ORDER                    the same elements in another order, where order counts
    INTERVAL_END             the same endpoints of intervals, open where they should be closed or the reverse
    DIRECTION                the ray from the same endpoint to the other side: x < 3 for x > 3
    MISSING_ELEMENT          an element of the reference is not in the answer, which holds other elements of it, or none
    EXTRA_ELEMENT            an element of the answer is not in the reference, others of it are
    of the unit
    UNIT_MISMATCH            another unit of the same kind with the same quantity or the same number, or an unknown one
                             with the same number
    UNIT_MISSING             the right number without the reference's unit, where that made it wrong
    DIMENSION_MISMATCH       a unit for another kind of quantity
    of the way there
    UNSIMPLIFIED             the right value, asked for in its simplest form and not written so
    STOPPED_EARLY            p is the value of a step before the last
    COPIED_INPUT             p is a number of the question
    ARITHMETIC               the response holds an equation between numbers that is false
    of the response
    EMPTY, NO_ANSWER, TRUNCATED, THINK_MALFORMED, CONFLICTING_ANSWERS, UNPARSEABLE
    REPETITION               a third of it or more is the same stretch over and over
    LANGUAGE_MIX             more of it than names and terms explain is in another script than the prompt

In tuples, matrices, lists, equations and intervals the rules for values are applied to the
parts that differ, and `detail` names the part.

*Bounds.* Trees beyond `_MAX_WEIGHT` get no diagnosis, one call evaluates at most `_BUDGET` nodes, with a fixed
precision, and values beyond 2^±`_MAX_MAGNITUDE` count as unknown. A rule that meets a bound says nothing.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import mpmath  # type: ignore[import-untyped] # it ships no types
from mpmath import mp

from verifiers.answers import NUMBER, Channel, Extraction
from verifiers.base import Item
from verifiers.math import limits, units, values
from verifiers.math.equations import computations
from verifiers.math.exact import number, plain
from verifiers.math.forms import fits
from verifiers.math.options import Form
from verifiers.math.reader import read
from verifiers.math.reals import PAIRS, Piece, Reals, reals
from verifiers.math.rounding import is_rounded, last_place, places
from verifiers.math.tree import Node, TooComplex, Unreadable, show
from verifiers.math.values import Evaluation, NoValue, Number
from verifiers.rules import language, repetition


class Code(StrEnum):
    """The names of the patterns, in the order in which they are looked for."""

    EMPTY = "EMPTY"
    NO_ANSWER = "NO_ANSWER"
    TRUNCATED = "TRUNCATED"
    THINK_MALFORMED = "THINK_MALFORMED"
    CONFLICTING_ANSWERS = "CONFLICTING_ANSWERS"
    UNPARSEABLE = "UNPARSEABLE"
    REPETITION = "REPETITION"
    LANGUAGE_MIX = "LANGUAGE_MIX"
    SIGN = "SIGN"
    PERCENT = "PERCENT"
    POWER10 = "POWER10"
    RECIPROCAL = "RECIPROCAL"
    NEGATIVE_RECIPROCAL = "NEGATIVE_RECIPROCAL"
    OFF_BY_ONE = "OFF_BY_ONE"
    FACTOR_TWO = "FACTOR_TWO"
    SQUARE = "SQUARE"
    SQUARE_ROOT = "SQUARE_ROOT"
    COMPLEMENT = "COMPLEMENT"
    DEG_RAD = "DEG_RAD"
    CONJUGATE = "CONJUGATE"
    TERM_SIGN = "TERM_SIGN"
    COEFFICIENT = "COEFFICIENT"
    CONSTANT_OF_INTEGRATION = "CONSTANT_OF_INTEGRATION"
    ROUNDING = "ROUNDING"
    ORDER = "ORDER"
    INTERVAL_END = "INTERVAL_END"
    DIRECTION = "DIRECTION"
    MISSING_ELEMENT = "MISSING_ELEMENT"
    EXTRA_ELEMENT = "EXTRA_ELEMENT"
    UNIT_MISMATCH = "UNIT_MISMATCH"
    UNIT_MISSING = "UNIT_MISSING"
    DIMENSION_MISMATCH = "DIMENSION_MISMATCH"
    UNSIMPLIFIED = "UNSIMPLIFIED"
    STOPPED_EARLY = "STOPPED_EARLY"
    COPIED_INPUT = "COPIED_INPUT"
    ARITHMETIC = "ARITHMETIC"


_MAX_DETAIL_CHARS = 160


@dataclass(frozen=True, slots=True)
class Pattern:
    """One mistake that an answer shows."""

    code: Code
    detail: str
    """For people; at most 160 characters."""

    def __post_init__(self) -> None:
        if len(self.detail) > _MAX_DETAIL_CHARS:
            object.__setattr__(self, "detail", self.detail[: _MAX_DETAIL_CHARS - 1] + "…")

    def as_json(self) -> dict[str, str]:
        return {"code": self.code.value, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Context:
    """What is known around an answer, beside the reference."""

    question: str | None = None
    steps: Sequence[str] = ()
    """Intermediate values on the way to the reference, in order."""
    response: str | None = None
    form: Form = "any"
    ordered: bool = False
    """Whether the elements of lists and sets must stand in order too."""
    right: bool = False
    """The comparison found the value right: only the form in which it is written is looked at."""


def find(reference: Node, answer: Node, context: Context) -> list[Pattern]:
    """Every pattern that an answer shows which the comparison called different, in the order of `Code`.

    Raises nothing: what cannot be decided within the bounds is no pattern.
    """
    if _weight(reference) + _weight(answer) > _MAX_WEIGHT:
        return [] if context.right else list(_false_equation(context.response))
    case = _Case(reference, answer, context)
    if context.right:
        return _hits(_unsimplified, case)
    return [pattern for rule in _RULES for pattern in _hits(rule, case)]


def of_extraction(extraction: Extraction, response: str) -> list[Pattern]:
    """What is wrong with the way in which a response gives its answer."""
    found = [
        Pattern(code, detail)
        for code, reason, detail in (
            (Code.EMPTY, "empty", "there is no text to take an answer from"),
            (Code.NO_ANSWER, "no_answer", "no answer was found"),
            (Code.TRUNCATED, "truncated", "the thinking or the answer was opened and never closed"),
        )
        if extraction.reason == reason
    ]
    if extraction.reason != "truncated" and response.count("```") % 2:
        found.append(Pattern(Code.TRUNCATED, "a code block was opened and never closed"))
    if malformed := _malformed_thinking(response):
        found.append(Pattern(Code.THINK_MALFORMED, malformed))
    offered = _offered(extraction)
    if extraction.reason == "conflicting_answers" or len(offered) > 1:
        written = ", ".join(_clipped(text) for text in offered[-4:])
        found.append(Pattern(Code.CONFLICTING_ANSWERS, f"different answers were given: {written}"))
    return found


def of_outcome(outcome: str, message: str = "") -> list[Pattern]:
    """`UNPARSEABLE`, when the answer is nothing that could be read; `outcome` is that of `grading.grade`."""
    if outcome not in ("unparseable", "too_complex"):
        return []
    return [Pattern(Code.UNPARSEABLE, message or "the answer could not be read as mathematics or as words")]


def in_order(found: Iterable[Pattern]) -> list[Pattern]:
    """Patterns in the order of `Code`."""
    return sorted(found, key=lambda pattern: _PLACES[pattern.code])


_PLACES = {code: place for place, code in enumerate(Code)}


def of_writing(response: str, prompt: str | None) -> list[Pattern]:
    """What is wrong with the writing, whatever it says."""
    found = []
    looped = 1.0 - (repetition.judge(response, _LOOPS).score or 0.0)
    if looped > _MAX_LOOPED:
        found.append(Pattern(Code.REPETITION, f"{looped:.0%} of the response are loops"))
    mixed = language.judge(Item(response, _PROMPTS_SCRIPT, prompt))
    if mixed.reason == "mixed_scripts":
        found.append(Pattern(Code.LANGUAGE_MIX, "there is more than a little of another script than the prompt's"))
    return found


_MAX_LOOPED = 1 / 3
_LOOPS = repetition.RepetitionParams(measure="loops")
_PROMPTS_SCRIPT = language.LanguageParams()


# --- the response

_THINK_TAG = re.compile(
    r"<(?P<angle>/?)(?:think|thinking|reasoning|thought|seed:think)\s{0,4}>"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>|\[(?P<square>/?)THINK\]|◁(?P<triangle>/?)think▷",
    re.IGNORECASE,
)


def _malformed_thinking(response: str) -> str | None:
    """Tags that do not alternate; a missing first opening one is the prompt's, a missing last closing one a cut."""
    is_open, is_first = False, True
    for tag in _THINK_TAG.finditer(response):
        closes = bool(tag["angle"] or tag["end"] or tag["square"] or tag["triangle"])
        if closes and not is_open and not is_first:
            return "thinking is closed that was not opened"
        if not closes and is_open:
            return "thinking is opened inside thinking"
        is_open, is_first = not closes, False
    return None


def _offered(extraction: Extraction) -> list[str]:
    """One text for each different value offered; an answer in several parts is one.

    Numbers in running text are no offers, unless the extraction itself says that they conflict.
    """
    if extraction.channel is Channel.LAST_NUMBER and extraction.reason == "found":
        return []
    start, end = extraction.span or (0, 0)
    offered: dict[str | Fraction, str] = {}
    parts: set[str | Fraction] = set()
    for candidate in extraction.candidates:
        key = _key(candidate.text)
        if start <= candidate.span[0] and candidate.span[1] <= end:
            parts.add(key)
        else:
            offered.setdefault(key, candidate.text)
    if extraction.answer is not None:
        offered = {key: text for key, text in offered.items() if key not in parts}
        offered[_key(extraction.answer)] = extraction.answer
    return list(offered.values())


def _key(text: str) -> str | Fraction:
    value = number(text)
    return plain(text).rstrip(".") if value is None else value


# --- values of small trees

_MAX_WEIGHT = 800
_BUDGET = 2_000
_BITS = 640
_MAX_MAGNITUDE = 128
_MAX_EXACT_BITS = 4_096
_POINTS = 8
_MIN_POINTS = 3
_WEIGHTS = {"!": 100, "binom": 300, "^": 3, "root": 3, "log": 6, "fn": 6}


_I = Node("const", leaf="i")
Relation = Callable[[Number, Number], tuple[Number, Number]]
"""Of an answer's value and a reference's: two numbers that have to be the same."""


def _weight(node: Node) -> int:
    return sum(_WEIGHTS.get(part.kind, 1) for part in node.walk())


class _Values:
    """What trees are worth, exactly or at a few fixed points; all of one call draws on one budget."""

    def __init__(self) -> None:
        self._left = _BUDGET
        self._known: dict[tuple[Node, int], Number | None] = {}

    def exact(self, node: Node) -> Fraction | None:
        try:
            value = values.exact(node)
        except (NoValue, TooComplex):
            return None
        if value is None or value.numerator.bit_length() + value.denominator.bit_length() > _MAX_EXACT_BITS:
            return None
        return value

    def same(self, one: Node, two: Node) -> bool:
        """Whether two parts of answers are the same.

        Raises:
            NoValue, TooComplex: that cannot be told.
        """
        if one == two or self._are_percents(one, two):
            return True
        if "text" in (one.kind, two.kind) or _is_infinite(one) or _is_infinite(two):
            return False
        if not (self._has_value(one) and self._has_value(two)):
            raise NoValue("nothing to compare")
        return self.holds(lambda p, g: (p, g), one, two)

    def holds(self, relation: Relation, answer: Node, reference: Node) -> bool:
        """Whether a relation between the two holds wherever the reference has a value.

        Raises:
            TooComplex: the budget is spent.
        """
        p, g = self.exact(answer), self.exact(reference)
        if p is not None and g is not None:
            left, right = relation(p, g)
            return bool(left == right)
        agreed = 0
        for index in self._points(answer, reference):
            known = self.at(reference, index)
            if known is None:
                continue
            value = self.at(answer, index)
            if value is None or not _agree(relation, value, known):
                return False
            agreed += 1
        return agreed >= (_MIN_POINTS if values.names(answer) | values.names(reference) else 1)

    def at(self, node: Node, index: int) -> Number | None:
        """The value at one point; None where there is none, or none that is real, or it is too large.

        Raises:
            TooComplex: the budget is spent.
        """
        key = (node, index)
        if key not in self._known:
            self._left -= _weight(node)
            if self._left < 0:
                raise TooComplex("no more values are computed for a diagnosis")
            self._known[key] = _value(node, index)
        return self._known[key]

    def _are_percents(self, one: Node, two: Node) -> bool:
        """A percent sign on one side only, as a unit: 50 and 50%."""
        if (one.kind == "%") == (two.kind == "%"):
            return False
        left, right = (self.exact(node.args[0] if node.kind == "%" else node) for node in (one, two))
        return left is not None and left == right and abs(left) > 1

    def _points(self, *nodes: Node) -> range:
        return range(_POINTS if any(values.names(node) for node in nodes) else 1)

    def _has_value(self, node: Node) -> bool:
        return self.exact(node) is not None or any(self.at(node, index) is not None for index in self._points(node))


def _value(node: Node, index: int) -> Number | None:
    names = values.names(node)
    evaluation = Evaluation({name: _coordinate(name, index) for name in names}, None)
    try:
        with mp.workprec(_BITS):
            value = evaluation.value(node)
            is_real = abs(mpmath.im(value)) <= mpmath.ldexp(max(1, abs(value)), -_BITS // 2)
    except (NoValue, TooComplex, ArithmeticError, ValueError):
        return None
    if evaluation.magnitude > _MAX_MAGNITUDE or (names and not is_real and _I not in node.walk()):
        return None
    return value


def _coordinate(name: str, index: int) -> Fraction:
    """Where a variable is at a point: positive at the first ones, then of either sign, then natural."""
    drawn = zlib.crc32(f"{index} {name}".encode())
    if index >= _POINTS - 3:
        return Fraction(1 + drawn % 9)
    size = Fraction(3, 10) + Fraction(2 * (drawn % 2**20) + 1, 2**20)
    return -size if index >= 3 and drawn & 2**21 else size


def _agree(relation: Relation, answer: Number, reference: Number) -> bool:
    with mp.workprec(_BITS):
        left, right = relation(answer, reference)
        gap, scale = abs(left - right), max(abs(left), abs(right))
        return bool(gap <= mpmath.ldexp(scale, -_BITS // 2) or gap <= mpmath.ldexp(1, -_MAX_MAGNITUDE - 64))


def _is_infinite(node: Node) -> bool:
    inner = node.args[0] if node.kind == "neg" else node
    return inner.kind == "const" and inner.leaf == "infty"


# --- one answer beside one reference

_LISTS = ("list", "or", "brace")
_ROWS = ("paren", "bracket", "co", "oc", "matrix", "matrixv", "matrixB", "matrixV", "ratio")
_SETS = (*PAIRS, "union", "cap", "setminus", "suchthat", "in", "!=", "<", ">", "<=", ">=", "chain")
_EMPTY_SET = Node("sym", leaf="emptyset")
_MAX_ELEMENTS = 24
_MAX_PARTS = 8


@dataclass(frozen=True, slots=True)
class _Part:
    """Two values that stand in the same place and differ."""

    answer: Node
    reference: Node
    place: str = ""
    """Where, when it is not the whole answer."""


@dataclass(frozen=True, slots=True)
class _Differences:
    """How two answers differ, leaving their units aside."""

    parts: Sequence[_Part] = ()
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()
    patterns: Sequence[Pattern] = ()
    """What is wrong with the whole rather than with a part."""


_OTHERWISE = _Differences()
"""They differ, and there is no more to say about it."""


class _Case:
    """One call of `find`: both sides without what stands around the value, and how they differ."""

    def __init__(self, reference: Node, answer: Node, context: Context) -> None:
        self.context = context
        self.values = _Values()
        self.written = answer
        left, right = _without_name(_canonical(reference), _canonical(answer))
        self.reference_unit, self.reference = _split(left)
        self.answer_unit, self.answer = _split(right)
        self.converted = self._converted()
        """The answer in the reference's unit; None when there is no such."""
        self.is_same = False
        """Whether the two differ in their unit or their form at most."""
        self.differences = _OTHERWISE
        try:
            if self.converted is not None:
                found = _differences(self.reference, self.converted, context.ordered, self.values)
                self.is_same, self.differences = found is None, found or _OTHERWISE
        except (NoValue, TooComplex):
            pass

    def _converted(self) -> Node | None:
        if self.reference_unit is None or self.answer_unit is None or self.reference_unit == self.answer_unit:
            return self.answer
        value = self.values.exact(self.answer)
        converted = None if value is None else units.convert(value, self.answer_unit, self.reference_unit)
        return None if converted is None else _num(converted)


def _canonical(node: Node) -> Node:
    """Without conditions, with ± as a list of two, degrees as a unit, and A(1, 2) as the point (1, 2)."""
    if node.kind == "where":
        node = node.args[0]
    if node.kind in _LISTS:
        return Node(node.kind, tuple(part for item in node.args for part in _alternatives(item)))
    found = _alternatives(node)
    if len(found) > 1:
        return Node("list", found)
    if node.kind == "deg":
        return Node("quantity", node.args, "degree")
    is_point = node.kind == "apply" and len(node.args) == 1 and node.args[0].kind == "list"
    return Node("paren", node.args[0].args) if is_point and str(node.leaf)[:1].isupper() else node


def _alternatives(node: Node) -> tuple[Node, ...]:
    if not any(part.kind in ("pm", "mp") for part in node.walk()):
        return (node,)
    return _with_signs(node, True), _with_signs(node, False)


def _with_signs(node: Node, upper: bool) -> Node:
    args = tuple(_with_signs(arg, upper) for arg in node.args)
    if node.kind not in ("pm", "mp"):
        return Node(node.kind, args, node.leaf)
    return Node("+", (args[0], args[1] if upper == (node.kind == "pm") else _negated(args[1])))


def _without_name(reference: Node, answer: Node) -> tuple[Node, Node]:
    """The values of assignments to one name, or of one beside a bare value; of equations, the sides that differ."""
    left, right = reference.kind == "=", answer.kind == "="
    if left and right:
        if reference.args[0] == answer.args[0]:
            return reference.args[1], answer.args[1]
        return (reference.args[0], answer.args[0]) if reference.args[1] == answer.args[1] else (reference, answer)
    if left and reference.args[0].kind in ("sym", "apply"):
        return reference.args[1], answer
    if right and answer.args[0].kind in ("sym", "apply"):
        return reference, answer.args[1]
    return reference, answer


def _split(node: Node) -> tuple[str | None, Node]:
    """A quantity's unit, and its value."""
    if node.kind == "deg":
        return "degree", node.args[0]
    if node.kind != "quantity":
        return None, node
    return units.key(str(node.leaf)) or str(node.leaf), node.args[0]


def _num(value: Fraction) -> Node:
    return Node("num", leaf=value)


def _negated(node: Node) -> Node:
    return node.args[0] if node.kind == "neg" else Node("neg", (node,))


_MAX_SHOWN_CHARS = 40


def _shown(node: Node) -> str:
    """A value for people."""
    try:
        value = values.exact(node)
        if value is None or value.denominator.bit_length() > 64:
            return _written(node)
        return _clipped(_as_decimal(value) if _is_decimal(node) else str(value))
    except (NoValue, TooComplex, ValueError):  # ValueError: an integer of more digits than Python writes out
        return _written(node)


def _written(node: Node) -> str:
    try:
        return _clipped(show(node))
    except ValueError:  # as above
        return "…"


def _as_decimal(value: Fraction) -> str:
    shown = places(value)
    if not shown:
        return str(value)
    digits = str(abs(value) * 10**shown).rjust(shown + 1, "0")
    return f"{'-' * (value < 0)}{digits[:-shown]}.{digits[-shown:]}"


def _clipped(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


# --- structures


def _differences(reference: Node, answer: Node, ordered: bool, known: _Values) -> _Differences | None:
    """How the answer differs; None when it does not.

    Raises:
        NoValue, TooComplex: that cannot be told.
    """
    if reference == answer:
        return None
    if "text" in (reference.kind, answer.kind):
        raise NoValue("words have no value")
    if sets := _as_reals(reference, answer, known):
        return _of_reals(*sets, known)
    if reference.kind in _LISTS or answer.kind in _LISTS:
        return _of_elements(_elements(reference, answer), _elements(answer, reference), ordered, known)
    if _EMPTY_SET in (reference, answer):
        return _of_elements(_elements(reference, answer), _elements(answer, reference), False, known)
    if reference.kind in _ROWS or answer.kind in _ROWS:
        return _of_rows(reference, answer, known)
    return None if known.same(answer, reference) else _Differences((_Part(answer, reference),))


def _elements(node: Node, other: Node) -> tuple[Node, ...]:
    """The elements of a list; of anything else beside one, itself."""
    if node == _EMPTY_SET:
        return ()
    if node.kind in _LISTS:
        if len(node.args) > _MAX_ELEMENTS:
            raise TooComplex("too many elements for a diagnosis")
        return node.args
    if node.kind in _ROWS and not any(item.kind == node.kind for item in other.args):
        raise NoValue("a tuple or an interval beside a list of answers")
    return (node,)


def _is_same_element(reference: Node, answer: Node, known: _Values) -> bool:
    """Raises NoValue, TooComplex: it cannot be told."""
    left, right = _without_name(_canonical(reference), _canonical(answer))
    if left == right:
        return True
    if left.kind in (*_ROWS, *_LISTS) or right.kind in (*_ROWS, *_LISTS):
        return (left.kind, left.leaf) == (right.kind, right.leaf) and _in_order(left.args, right.args, known)
    (unit, left), (other_unit, right) = _split(left), _split(right)
    return (unit is None or other_unit is None or unit == other_unit) and known.same(right, left)


def _in_order(left: Sequence[Node], right: Sequence[Node], known: _Values) -> bool:
    if len(left) != len(right):
        return False
    return all(_is_same_element(g, p, known) for g, p in zip(left, right, strict=True))


def _unmatched(left: Sequence[Node], right: Sequence[Node], known: _Values) -> tuple[list[Node], list[Node]]:
    """What is on one side only, each element as often as it is written more often there."""
    missing, rest = [], list(right)
    for one in left:
        found = next((at for at, two in enumerate(rest) if _is_same_element(one, two, known)), None)
        if found is None:
            missing.append(one)
        else:
            del rest[found]
    return missing, rest


def _of_elements(left: Sequence[Node], right: Sequence[Node], ordered: bool, known: _Values) -> _Differences | None:
    missing, extra = _unmatched(left, right, known)
    if not missing and not extra:
        return _Differences(patterns=[_OTHER_ORDER]) if ordered and not _in_order(left, right, known) else None
    parts = _paired(missing, extra, known) if len(missing) == len(extra) else []
    if missing and extra and len(missing) == len(left):
        return _Differences(parts)
    return _Differences(parts, [_shown(node) for node in missing], [_shown(node) for node in extra])


_OTHER_ORDER = Pattern(Code.ORDER, "the same elements in another order")


def _paired(missing: Sequence[Node], extra: Sequence[Node], known: _Values) -> list[_Part]:
    """Which wrong element stands for which, where that is plain: there is one, or they are all the opposites."""
    if len(missing) == 1:
        reference, answer = _without_name(missing[0], extra[0])
        return [_Part(answer, reference, "one element")]
    bare = [_without_name(node, values.ZERO)[0] for node in missing]
    unmatched, _ = _unmatched([_negated(node) for node in bare], extra, known)
    return [] if unmatched else [_Part(_negated(node), node, "each element") for node in bare[:1]]


def _of_rows(reference: Node, answer: Node, known: _Values) -> _Differences | None:
    left, right = reference.args, answer.args
    if (reference.kind, reference.leaf) != (answer.kind, answer.leaf):
        raise NoValue("two different structures")
    if len(left) > _MAX_ELEMENTS or len(right) > _MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    if len(left) != len(right):
        return _of_elements(left, right, False, known)
    parts = [
        _Part(*_without_name(g, p)[::-1], f"element {place}")
        for place, (g, p) in enumerate(zip(left, right, strict=True), 1)
        if not _is_same_element(g, p, known)
    ]
    if len(parts) > 1 and not any(_unmatched(left, right, known)):
        return _Differences(patterns=[_OTHER_ORDER])
    return _Differences(parts[:_MAX_PARTS]) if parts else None


def _as_reals(reference: Node, answer: Node, known: _Values) -> tuple[Reals, Reals] | None:
    """Both as sets of reals, when they are written as more than two plain pairs, and all their numbers are small."""
    is_written_so = any(part.kind in _SETS for node in (reference, answer) for part in (node, *node.args))
    if not is_written_so or reference.kind == answer.kind == "paren":
        return None
    if not all(_is_small(part, known) for node in (reference, answer) for part in _ends_of(node)):
        return None
    left, right = reals(reference), reals(answer)
    return (left, right) if left and right and left.pieces and right.pieces else None


def _ends_of(node: Node) -> Iterator[Node]:
    """What stands between the brackets and signs of a set."""
    if node.kind not in (*_SETS, *_LISTS):
        yield node
    elif len(node.args) > _MAX_ELEMENTS:
        raise TooComplex("too many elements for a diagnosis")
    else:
        for arg in node.args:
            yield from _ends_of(arg)


def _is_small(node: Node, known: _Values) -> bool:
    return _is_infinite(node) or known.exact(node) is not None or known.at(node, 0) is not None


def _of_reals(reference: Reals, answer: Reals, known: _Values) -> _Differences | None:
    left, right = reference.pieces, answer.pieces
    missing = [piece for piece in left if not any(_is_same_piece(piece, other, known) for other in right)]
    extra = [piece for piece in right if not any(_is_same_piece(other, piece, known) for other in left)]
    if not missing and not extra:
        return None
    if len(left) == len(right):
        return _Differences(patterns=[_TURNED]) if _is_turned(left[0], right[0], known) else _ends(left, right, known)
    if missing and extra and len(missing) == len(left):
        return _OTHERWISE
    return _Differences((), [_interval(piece) for piece in missing], [_interval(piece) for piece in extra])


def _ends(left: Sequence[Piece], right: Sequence[Piece], known: _Values) -> _Differences:
    """Of as many intervals on both sides."""
    ends = [
        _Part(p, g, "an end of an interval")
        for one, two in zip(left, right, strict=True)
        for g, p in ((one.low, two.low), (one.high, two.high))
        if not known.same(p, g)
    ]
    return _Differences(ends[:_MAX_PARTS]) if ends else _Differences(patterns=[_OTHER_END])


def _is_same_piece(one: Piece, two: Piece, known: _Values) -> bool:
    is_alike = (one.low_open, one.high_open) == (two.low_open, two.high_open)
    return is_alike and known.same(two.low, one.low) and known.same(two.high, one.high)


def _is_turned(one: Piece, two: Piece, known: _Values) -> bool:
    """Two rays from one point to both sides."""
    if _is_infinite(one.high) and _is_infinite(two.low):
        return not _is_infinite(one.low) and not _is_infinite(two.high) and known.same(two.high, one.low)
    if _is_infinite(one.low) and _is_infinite(two.high):
        return not _is_infinite(one.high) and not _is_infinite(two.low) and known.same(two.low, one.high)
    return False


_OTHER_END = Pattern(Code.INTERVAL_END, "the same endpoints, but open where they should be closed or the reverse")
_TURNED = Pattern(Code.DIRECTION, "from the same endpoint to the other side")


def _interval(piece: Piece) -> str:
    low, high = "(" if piece.low_open else "[", ")" if piece.high_open else "]"
    return f"{low}{_shown(piece.low)}, {_shown(piece.high)}{high}"


# --- rules for two values

Rule = Callable[[_Part, _Values], int]
"""Whether a part shows the pattern: 0 when it does not; for `POWER10` the exponent."""


def _any(*relations: Relation) -> Rule:
    def holds(part: _Part, known: _Values) -> int:
        return any(known.holds(relation, part.answer, part.reference) for relation in relations)

    return holds


def _exactly(part: _Part, known: _Values) -> tuple[Fraction, Fraction] | None:
    p, g = known.exact(part.answer), known.exact(part.reference)
    return None if p is None or g is None else (p, g)


_is_opposite = _any(lambda p, g: (p, -g))
_is_unit = _any(lambda _, g: (g * g, 1))


def _larger(factor: int) -> Rule:
    return _any(lambda p, g: (p, g * factor))


def _smaller(factor: int) -> Rule:
    return _any(lambda p, g: (p * factor, g))


_POWERS_OF_TEN = tuple(rule for k in range(1, 10) for rule in ((k, _larger(10**k)), (-k, _smaller(10**k))))


def _power_of_ten(part: _Part, known: _Values) -> int:
    return next((k for k, rule in _POWERS_OF_TEN if rule(part, known)), 0)


def _by(factor: int) -> Rule:
    return lambda part, known: _larger(factor)(part, known) or _smaller(factor)(part, known)


def _negative_reciprocal(part: _Part, known: _Values) -> int:
    return known.holds(lambda p, g: (p * g, -1), part.answer, part.reference) and not _is_opposite(part, known)


def _off_by_one(part: _Part, known: _Values) -> int:
    exact = _exactly(part, known)
    if exact is not None:
        return abs(exact[0] - exact[1]) == 1 and exact[0].denominator == 1
    if not values.names(part.answer) or not values.names(part.reference):
        return 0
    return _any(lambda p, g: (p, g + 1), lambda p, g: (p + 1, g))(part, known)


def _square(part: _Part, known: _Values) -> int:
    return known.holds(lambda p, g: (p, g * g), part.answer, part.reference) and not _is_unit(part, known)


def _square_root(part: _Part, known: _Values) -> int:
    return known.holds(lambda p, g: (p * p, g), part.answer, part.reference) and not _is_unit(part, known)


def _complement(part: _Part, known: _Values) -> int:
    exact = _exactly(part, known)
    return exact is not None and 0 < exact[1] < 1 and exact[0] == 1 - exact[1]


def _degrees_for_radians(part: _Part, known: _Values) -> int:
    if _exactly(part, known):
        return 0
    return _any(lambda p, g: (p * mpmath.pi, g * 180), lambda p, g: (p * 180, g * mpmath.pi))(part, known)


_MAX_RADICALS = 4
_MAX_FLIPS = 12


def _conjugate(part: _Part, known: _Values) -> int:
    return _may_differ_in_terms(part, known) and any(
        _is(variant, part, known) for variant in _conjugates(part.reference, known)
    )


def _may_differ_in_terms(part: _Part, known: _Values) -> bool:
    """Whether the reference is more than a rational number, the variables are the same, and not all signs differ."""
    if known.exact(part.reference) is not None or values.names(part.answer) != values.names(part.reference):
        return False
    return not _is_opposite(part, known)


def _conjugates(node: Node, known: _Values) -> Iterator[Node]:
    if _I in node.walk():
        yield _replaced(node, (_I,))
    found = (part for part in node.walk() if part.kind == "root" and part.args[1] == _num(Fraction(2)))
    radicals = tuple(dict.fromkeys(part for part in found if known.exact(part) is None))[:_MAX_RADICALS]
    for radical in radicals:
        yield _replaced(node, (radical,))
    if len(radicals) > 1:
        yield _replaced(node, radicals)


def _replaced(node: Node, opposites: Sequence[Node]) -> Node:
    """With a minus before each of some parts."""
    if node in opposites:
        return _negated(node)
    return Node(node.kind, tuple(_replaced(arg, opposites) for arg in node.args), node.leaf) if node.args else node


def _is(variant: Node, part: _Part, known: _Values) -> bool:
    return known.holds(lambda p, g: (p, g), part.answer, variant)


def _term_sign(part: _Part, known: _Values) -> int:
    return _may_differ_in_terms(part, known) and any(
        _is(variant, part, known) for variant in islice(_flips(part.reference), _MAX_FLIPS)
    )


def _flips(node: Node) -> Iterator[Node]:
    """The same expression with the other sign at one term of one sum."""
    if node.kind == "+":
        for at, term in enumerate(node.args):
            yield Node("+", (*node.args[:at], _negated(term), *node.args[at + 1 :]))
    for at, arg in enumerate(node.args):
        for changed in _flips(arg):
            yield Node(node.kind, (*node.args[:at], changed, *node.args[at + 1 :]), node.leaf)


def _coefficient(part: _Part, known: _Values) -> int:
    """Whether p - g is a multiple of one term of g, which has a variable and other terms."""
    terms = part.reference.args if part.reference.kind == "+" and values.names(part.reference) else ()
    if not values.names(part.answer) <= values.names(part.reference) or _is_opposite(part, known):
        return 0
    if _term_sign(part, known) or _lacks_constant(part, known):
        return 0
    gap = _difference(part.answer, part.reference)
    return any(_is_multiple(gap, term, known) for term in terms[:_MAX_FLIPS])


_CONSTANT = re.compile(r"[CcKk](?:_\{?\w{1,3}\}?)?")


def _lacks_constant(part: _Part, known: _Values) -> int:
    """Whether p is one of the functions that g = F + C stands for: p - F is the same number everywhere."""
    names = values.names(part.reference) - values.names(part.answer)
    letters = [term for term in part.reference.args if term.kind == "sym" and str(term.leaf) in names]
    if part.reference.kind != "+" or len(names) != 1 or len(letters) != 1:
        return 0
    if not _CONSTANT.fullmatch(str(letters[0].leaf)):
        return 0
    function = Node("+", tuple(term for term in part.reference.args if term != letters[0]))
    gap = _difference(part.answer, function)
    return bool(values.names(function)) and (_is_multiple(gap, values.ONE, known) or _is(function, part, known))


def _difference(one: Node, two: Node) -> Node:
    return Node("+", (one, Node("neg", (two,))))


def _is_multiple(node: Node, unit: Node, known: _Values) -> bool:
    """Whether one expression is another one times a number."""
    found = ((known.at(node, index), known.at(unit, index)) for index in range(_POINTS))
    first = next(((value, divisor) for value, divisor in found if value is not None and divisor), None)
    return first is not None and known.holds(lambda p, g: (p * first[1], g * first[0]), node, unit)


def _rounding(part: _Part, known: _Values) -> int:
    if values.names(part.answer) or values.names(part.reference):
        return 0
    exact = _exactly(part, known)
    if exact is not None:
        return is_rounded(*exact, _is_decimal(part.answer))
    p, g = known.at(part.answer, 0), known.at(part.reference, 0)
    if p is None or g is None:
        return 0
    with mp.workprec(_BITS):
        unit = last_place(known.exact(part.answer)) if _is_decimal(part.answer) else None
        return bool(abs(p - g) * 100 < abs(g) or (unit is not None and abs(p - g) < values.as_number(unit)))


def _is_decimal(node: Node) -> bool:
    return (node.args[0] if node.kind in ("neg", "%") else node).kind == "num"


_VALUE_RULES: tuple[tuple[Code, Rule, str], ...] = (
    (Code.SIGN, _is_opposite, "{p} is minus {g}"),
    (Code.PERCENT, _by(100), "{p} is 100 times or a hundredth of {g}"),
    (Code.POWER10, _power_of_ten, "{p} is {g} · 10^{k}"),
    (Code.RECIPROCAL, _any(lambda p, g: (p * g, 1)), "{p} is 1 divided by {g}"),
    (Code.NEGATIVE_RECIPROCAL, _negative_reciprocal, "{p} is -1 divided by {g}"),
    (Code.OFF_BY_ONE, _off_by_one, "{p} is one more or one less than {g}"),
    (Code.FACTOR_TWO, _by(2), "{p} is twice or half of {g}"),
    (Code.SQUARE, _square, "{p} is the square of {g}"),
    (Code.SQUARE_ROOT, _square_root, "{p} is a square root of {g}"),
    (Code.COMPLEMENT, _complement, "{p} is 1 - {g}"),
    (Code.DEG_RAD, _degrees_for_radians, "{p} is {g} with degrees taken for radians or the reverse"),
    (Code.CONJUGATE, _conjugate, "{p} is conjugate to {g}"),
    (Code.TERM_SIGN, _term_sign, "{p} has the other sign at one term of {g}"),
    (Code.COEFFICIENT, _coefficient, "{p} differs in one coefficient from {g}"),
    (Code.CONSTANT_OF_INTEGRATION, _lacks_constant, "{p} has no constant of integration"),
    (Code.ROUNDING, _rounding, "{p} is near {g}"),
)


def _of_values(case: _Case) -> Iterator[Pattern]:
    explained: set[int] = set()
    for code, rule, text in _VALUE_RULES:
        for at, part in enumerate(case.differences.parts):
            if code is Code.ROUNDING and at in explained:
                continue
            try:
                k = rule(part, case.values)
            except (NoValue, TooComplex):
                continue
            if k:
                explained.add(at)
                detail = text.format(p=_shown(part.answer), g=_shown(part.reference), k=int(k))
                yield Pattern(code, f"{part.place}: {detail}" if part.place else detail)
                break


# --- rules for the whole


def _of_structure(case: _Case) -> Iterator[Pattern]:
    yield from case.differences.patterns
    for code, elements in (
        (Code.MISSING_ELEMENT, case.differences.missing),
        (Code.EXTRA_ELEMENT, case.differences.extra),
    ):
        if elements:
            yield Pattern(code, ", ".join(elements))


def _of_unit(case: _Case) -> Iterator[Pattern]:
    expected, given = case.reference_unit, case.answer_unit
    if expected is None or given == expected:
        return
    if given is None:
        if case.is_same:
            yield Pattern(Code.UNIT_MISSING, f"the unit {_clipped(expected)} is missing")
        return
    are_known = units.dimension(expected) is not None and units.dimension(given) is not None
    if are_known and not units.compatible(expected, given):
        yield Pattern(Code.DIMENSION_MISMATCH, f"{_clipped(given)} does not measure what {_clipped(expected)} does")
    elif case.is_same:
        yield Pattern(Code.UNIT_MISMATCH, f"the same quantity in {_clipped(given)}, not in {_clipped(expected)}")
    elif case.values.same(case.answer, case.reference):
        yield Pattern(Code.UNIT_MISMATCH, f"the same number of {_clipped(given)}, not of {_clipped(expected)}")


def _unsimplified(case: _Case) -> Iterator[Pattern]:
    if (
        case.context.form != "simplified"
        or not (case.context.right or case.is_same)
        or fits(case.written, "simplified")
    ):
        return
    part = case.written
    while (inner := next((arg for arg in part.args if not fits(arg, "simplified")), None)) is not None:
        part = inner
    yield Pattern(Code.UNSIMPLIFIED, f"not simplified: {_written(part)}")


_MAX_STEPS = 32
_MAX_STEP_CHARS = 300


def _stopped_early(case: _Case) -> Iterator[Pattern]:
    if case.is_same:
        return
    for step in case.context.steps[:_MAX_STEPS]:
        value = _step_value(step)
        if value is not None and _is_step(value, case):
            yield Pattern(Code.STOPPED_EARLY, f"the value of the step {_clipped(step)}")
            return


@lru_cache(maxsize=2048)
def _step_value(step: str) -> Node | None:
    """What a step comes to: the last side of an equation, or all of it."""
    if len(step) > _MAX_STEP_CHARS or limits.refusal(step) is not None:
        return None
    try:
        node = read(step)
    except (Unreadable, TooComplex):
        return None
    if node.kind == "=" or (node.kind == "chain" and "=" in str(node.leaf).split()):
        node = node.args[-1]
    return _split(node)[1] if _weight(node) <= _MAX_WEIGHT // 4 else None


def _is_step(step: Node, case: _Case) -> bool:
    try:
        return _is_same_element(step, case.answer, case.values) and not _is_same_element(
            case.reference, step, case.values
        )
    except (NoValue, TooComplex):
        return False


def _copied_input(case: _Case) -> Iterator[Pattern]:
    value, right = case.values.exact(case.answer), case.values.exact(case.reference)
    if value is None or value == right or case.is_same or case.context.question is None:
        return
    if value in numbers(case.context.question):
        yield Pattern(Code.COPIED_INPUT, f"{_shown(case.answer)} is a number of the question")


_NUMBER = re.compile(NUMBER)
_NO_SIGNS = dict.fromkeys(map(ord, "$€£¥￥₹%％"))
_MAX_QUESTION_CHARS = 20_000
_MAX_NUMBERS = 400


@lru_cache(maxsize=256)
def numbers(question: str) -> frozenset[Fraction]:
    """The numbers a question is written with, each with its sign and without."""
    found: set[Fraction] = set()
    for match in islice(_NUMBER.finditer(question[:_MAX_QUESTION_CHARS]), _MAX_NUMBERS):
        value = number(match[0].replace(r"\$", "").replace(r"\%", "").translate(_NO_SIGNS))
        if value is not None:
            found |= {value, abs(value)}
    return frozenset(found)


_MAX_EQUATION_CHARS = 1_500


def _false_equation(response: str | None) -> Iterator[Pattern]:
    """The first equation between numbers that does not hold, however its sides are meant."""
    for found in computations(response or "", _MAX_EQUATION_CHARS):
        if found.holds is False:
            yield Pattern(Code.ARITHMETIC, f"{_clipped(found.left)} is not {_clipped(found.right)}")
            return


_RULES: tuple[Callable[[_Case], Iterator[Pattern]], ...] = (
    _of_values,
    _of_structure,
    _of_unit,
    _unsimplified,
    _stopped_early,
    _copied_input,
    lambda case: iter(()) if case.is_same else _false_equation(case.context.response),
)


def _hits(rule: Callable[[_Case], Iterable[Pattern]], case: _Case) -> list[Pattern]:
    try:
        return list(rule(case))
    except (NoValue, TooComplex):
        return []
