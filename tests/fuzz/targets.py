r"""The targets of fuzzing, and the laws that each input must obey.

    reader       a text             `reader.read` gives a bounded tree, `Unreadable` or `TooComplex`, and nothing else
    grading      reference ¶ answer `grade` gives a known outcome, twice the same, and agrees with itself the other way round
    laws         bytes              two formulas whose values are known here: equal exactly when they are
    extraction   a text             `commitment.extract` never raises, points at what it gives, and stays linear
    exact        bytes, or a text   `exact.number` and `decide` agree with Fraction, with Decimal, and with `grade`

If a text begins with `@@`, it is judged many times over, and must not take long. If it begins with `@` and a letter,
the letter chooses parameters. Every call is watched (`guard`): nothing is executed, and no call takes more than
`CALL_LIMIT_S` of CPU. Only calls of sympy may take longer. They run in a process of their own, which is killed as the
pool kills its workers.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import _lru_cache_wrapper, cache
from typing import Any, Final, TypeVar

from tests.fuzz import expressions, guard
from tests.fuzz.choices import Choices
from tests.fuzz.guard import Broken
from verifiers.commitment import Channel, Extraction, ExtractionParams, extract
from verifiers.commitment.cues import languages
from verifiers.commitment.extraction import MAX_CANDIDATES
from verifiers.math import symbolic  # noqa: F401 - loads sympy, as a worker does before it is asked
from verifiers.math.characters import prepare
from verifiers.math.exact import EXACT, Tolerance, decide, number
from verifiers.math.grading import grade
from verifiers.math.limits import MAX_DEPTH, MAX_NODES, MAX_READ_CHARS, refusal
from verifiers.math.options import DEFAULT, Options
from verifiers.math.reader import read
from verifiers.math.solutions import final_answer
from verifiers.math.tree import Node, TooComplex, Unreadable

T = TypeVar("T")

AT_ONCE_S: Final = 0.5
"""CPU seconds that count as no time."""
CALL_LIMIT_S: Final = 1.5
"""CPU seconds of a call that does not use sympy. A worker is ended after two."""
PUMPED: Final = "@@"
"""The prefix of a text that is repeated many times."""
CHOSEN: Final = "@"
"""The prefix of a letter that chooses parameters other than the default."""
SYMPY_LIMIT_S: Final = 0.5
"""A call of sympy is killed after this time. The pool allows four times as long, and kills as surely."""
SPLIT: Final = "¶"
"""The separator between the reference and the answer of one input."""
VALUE_LAWS: Final = frozenset(
    (
        *("reflexive", "symmetric", "parentheses", "successor", "equal", "different"),
        *("number", "decide", "general path", "tolerance"),
    )
)
"""The laws that say which verdict is right. All others are laws of safety: they forbid inputs that hang, crash,
execute, raise, grow, or answer otherwise the second time.

One input that breaks a law of safety is enough for an attacker, so there must be none. But among texts that no person
writes, a longer search always finds one more with a wrong verdict. Such inputs are reported, and corrected. A campaign
that finds one says nothing about the change it was run for; only their frequency does (`campaign.ONE_IN`).
"""
REFUSED: Final = frozenset(("unparseable_reference", "reference_too_complex"))
OUTCOMES: Final = REFUSED | {"equal", "different", "wrong_form", "unparseable", "too_complex", "undecided"}
"""All outcomes that `grade` may give."""
languages()  # read before calls are watched, as before workers are forked


class Killed(Exception):
    """sympy took too long or too much memory. In the pool that is a verdict, and here no law applies."""


# --- reader


def reader(data: bytes) -> None:
    text, is_pumped = _without(PUMPED, _text(data))
    with guard.watched():
        if is_pumped:
            stays_linear(text, prepare)
        else:
            _tree(text)


def _tree(text: str) -> Node | None:
    """The tree of a text. None if the text is refused."""
    try:
        node = guard.within(CALL_LIMIT_S, read, text)
    except (Unreadable, TooComplex):
        return None
    except Exception as error:
        raise Broken("raised", guard.where(error)) from error
    if node.depth > MAX_DEPTH:
        raise Broken("bounded", f"{node.depth} levels")
    if sum(1 for _ in node.walk()) > MAX_NODES:
        raise Broken("bounded", f"more than {MAX_NODES} parts")
    return node


_PUMPED_CHARS: Final = 12_000
_CHAR_LIMIT_S: Final = 4 * AT_ONCE_S / 30_000
_MAX_RATIO: Final = 3.0
"""The most growth that is allowed. Linear work grows by 2, quadratic work by 4."""
_UNNOTICED_S: Final = 0.02


def stays_linear(text: str, function: Callable[[str], object]) -> None:
    """Judge a text many times over, and twice as many times: that must take about twice as long."""
    if not text:
        return
    once = text * (_PUMPED_CHARS // len(text) + 1)
    ratios: list[float] = []
    while len(ratios) < 3:
        once_s, twice_s = (guard.cpu_s(_CHAR_LIMIT_S * len(long), function, long) for long in (once, once * 2))
        ratios.append(twice_s / max(once_s, _UNNOTICED_S / 2))
        if ratios[-1] <= _MAX_RATIO:
            return
    raise Broken("slow", f"twice the text takes {min(ratios):.1f} times as long")


# --- grading of any two texts


def grading(data: bytes) -> None:
    text, options = _chosen(_text(data), _OPTIONS)
    reference, _, answer = text.partition(SPLIT)
    outcome = _graded(reference, answer, options)
    if _graded(reference, answer, options) != outcome:
        raise Broken("deterministic", "another result the second time")
    if (
        options != DEFAULT
        or outcome["outcome"] in REFUSED
        or any(final_answer(each) != each for each in (reference, answer))
    ):
        return
    if _graded(reference, reference, options)["outcome"] != "equal":
        raise Broken("reflexive", "the reference is sound and not equal to itself")
    left, right = _value_node(reference), _value_node(answer)
    if left is None:
        return
    if right is not None:
        back = _graded(answer, reference, options)["outcome"]
        if back not in REFUSED and (back == "equal") != (outcome["outcome"] == "equal"):
            raise Broken("symmetric", f"{outcome['outcome']} one way, {back} the other")
    _has_neighbours(reference, left)


_OPTIONS: Final = (
    DEFAULT,
    Options(abs_tol=1e-6),
    Options(rel_tol=1e-4, ordered=True),
    Options(unit_policy="require", unit="cm"),
    Options(form="simplified"),
    Options(form="decimal", unit_policy="ignore"),
    Options(form="fraction"),
)


def _graded(reference: str, answer: str | None, options: Options = DEFAULT) -> dict[str, Any]:
    """The result of `grade`, computed anew and watched.

    Raises:
        Broken: it raised, executed something, took too long, or gave what is not a result.
        Killed: sympy was asked, and had to be stopped.
    """
    for cached in _caches():
        cached.cache_clear()
    payload = [[reference], answer, options.packed()]
    if _goes_to_sympy(reference) or (answer is not None and _goes_to_sympy(answer)):
        ended = guard.alone(SYMPY_LIMIT_S, _watched_grade, payload)
        if ended.killed:
            raise Killed(ended.killed)
        result: dict[str, Any] = ended.value
    else:
        with guard.watched():
            try:
                result = guard.within(CALL_LIMIT_S, grade, payload)
            except MemoryError as error:
                raise Broken("memory", "more than a worker may map") from error
            except Broken:
                raise
            except Exception as error:
                raise Broken("raised", guard.where(error)) from error
    if result["outcome"] not in OUTCOMES or (result["outcome"] == "wrong_form" and options.form == "any"):
        raise Broken("known outcome", result["outcome"])
    return result


def _watched_grade(payload: list[Any]) -> dict[str, Any]:
    with guard.watched():
        return grade(payload)


@cache
def _caches() -> list[Any]:
    """What the verifier's modules remember from one call to the next."""
    modules = [module for name, module in sys.modules.items() if name.startswith("verifiers.math")]
    return [each for module in modules for each in vars(module).values() if isinstance(each, _lru_cache_wrapper)]


_BIG: Final = re.compile(r"sum|prod|int|lim|[∑∏∫]")


def _goes_to_sympy(text: str) -> bool:
    return _BIG.search(text) is not None


_VALUES: Final = frozenset(
    ("num", "const", "sym", "+", "*", "/", "neg", "^", "!", "root", "abs", "floor", "ceil", "fn")
)


def _value_node(text: str) -> Node | None:
    """The value that was read, if it is a number or an expression without a second meaning."""
    if refusal(text) is not None or len(text) > MAX_READ_CHARS // 4:
        return None
    node = _tree(text)
    if node is None or not all(part.kind in _VALUES and part.leaf not in _NO_NUMBERS for part in node.walk()):
        return None
    return node


_NO_NUMBERS: Final = ("infty", "emptyset", "ldots", "", "log")


def _has_neighbours(reference: str, node: Node) -> None:
    """A value in parentheses is the same value, and the value plus one is another."""
    if _tree(f"({reference})") != node:
        return  # the text ends or begins something, so it cannot stand in parentheses
    if _graded(reference, f"({reference})")["outcome"] not in ("equal", "too_complex"):
        raise Broken("parentheses", "a value differs from itself in parentheses")
    if _graded(reference, f"({reference})+1")["outcome"] == "equal":
        raise Broken("successor", "a value equals itself plus one")


# --- laws of formulas with known values


def laws(data: bytes) -> None:
    """Agreement with an independent evaluation, to hundreds of digits."""
    reference, answer, is_same = pair(data)
    outcome = _graded(reference, answer)["outcome"]
    if is_same is True and outcome not in ("equal", "too_complex", *REFUSED):
        raise Broken("equal", f"{outcome}: {reference} {SPLIT} {answer}")
    if is_same is False and outcome == "equal":
        raise Broken("different", f"{outcome}: {reference} {SPLIT} {answer}")


def pair(data: bytes) -> tuple[str, str, bool | None]:
    """Two formulas, and whether they are equal, if that is known."""
    choices = Choices(data)
    relation = choices.below(3)
    left = expressions.formula(choices)
    if relation == 0:
        right = expressions.rewritten(left, choices)
    elif relation == 1:
        right = expressions.disturbed(expressions.rewritten(left, choices), choices)
    else:
        right = expressions.formula(choices)
    texts = expressions.written(left, choices), expressions.written(right, choices)
    gap = expressions.difference(left, right)
    if relation == 0 and gap:
        raise AssertionError(f"a rewriting changed the value: {texts}")
    if gap:
        return *texts, False
    return *texts, True if relation == 0 and gap == 0.0 else None


# --- extraction


def extraction(data: bytes) -> None:
    text, is_pumped = _without(PUMPED, _text(data))
    text, params = _chosen(text, _PARAMS)
    with guard.watched():
        if is_pumped:
            stays_linear(text, lambda long: extract(long, params))
            return
        try:
            found = guard.within(CALL_LIMIT_S, extract, text, params)
        except Broken:
            raise
        except Exception as error:
            raise Broken("raised", guard.where(error)) from error
        _points_at_its_answer(text, found)


_PARAMS: Final = (
    ExtractionParams(),
    ExtractionParams(on_conflict="reject"),
    ExtractionParams(think="none"),
    ExtractionParams(think="required"),
    *(ExtractionParams(extract=channel) for channel in Channel),
    ExtractionParams(extract=(Channel.LAST_LINE, Channel.LAST_NUMBER)),
)


def _points_at_its_answer(text: str, found: Extraction) -> None:
    if (found.answer is None) is (found.reason == "found"):
        raise Broken("reason", f"{found.answer!r} with {found.reason}")
    for candidate in found.candidates:
        start, end = candidate.span
        if not 0 <= start <= end <= len(text) or text[start:end] != candidate.text:
            raise Broken("span", f"candidate {candidate}")
    if (found.answer is None) is not (found.span is None):
        raise Broken("span", "an answer has a place, and nothing else has")
    if found.answer is None or found.span is None:
        return
    start, end = found.span
    if not 0 <= start <= end <= len(text):
        raise Broken("span", f"{found.span} in {len(text)} characters")
    inside = iter(text[start:end])
    if not all(character in inside for character in found.answer.replace(", ", "")):
        raise Broken("span", f"{found.answer!r} is not in {text[start:end]!r}")
    candidates = [candidate.text for candidate in found.candidates]
    is_complete = len(candidates) < MAX_CANDIDATES  # otherwise the first of many parts may be an earlier one
    if not (any(map(found.answer.startswith, candidates)) if is_complete else candidates[-1] in found.answer):
        raise Broken("span", f"{found.answer!r} is none of the candidates")


# --- plain numbers


def exact(data: bytes) -> None:
    """Two numbers in many forms, or any text that may be one."""
    if data[:1] == b"#":
        _any_text_is_its_number(_text(data[1:]))
        return
    choices = Choices(data)
    value = _rational(choices)
    other = value if choices.chance(2) else _rational(choices)
    left, right = spelled(value, choices), spelled(other, choices)
    with guard.watched():
        read_as = guard.within(CALL_LIMIT_S, number, left), guard.within(CALL_LIMIT_S, number, right)
        decided = decide(left, right, EXACT)
    if read_as[0] not in (None, value) or read_as[1] not in (None, other):
        raise Broken("number", f"{left!r}, {right!r} are {value}, {other}, read as {read_as}")
    if None not in read_as and (decided is None or decided[0] != (value == other)):
        raise Broken("decide", f"{left!r}, {right!r}: {decided}")
    if decided is not None and not decided[0] and value == other:
        raise Broken("decide", f"{left!r}, {right!r}: {decided}")
    _tolerates(value, other, choices)
    outcome = _graded(left, right)["outcome"]
    if outcome in REFUSED and read_as[0] is not None:
        raise Broken("general path", f"{left!r} is plainly a number and refused: {outcome}")
    if outcome not in ("too_complex", *REFUSED) and (outcome == "equal") != (value == other):
        raise Broken("general path", f"{left!r}, {right!r}: {outcome}, they are {value}, {other}")


def _rational(choices: Choices) -> Fraction:
    value = choices.rational() if choices.chance(2) else Fraction(choices.integer())
    if choices.chance(4):
        value *= Fraction(10) ** (choices.below(61) - 30)
    return -value if choices.chance(4) else value


def spelled(value: Fraction, choices: Choices) -> str:
    """A rational number, written in one of the ways that people use."""
    sign = "-" if value < 0 else choices.one(("", "", "", "+"))
    text = sign + choices.one(("", "", "", " ")) * bool(sign) + _unsigned(abs(value), choices)
    if choices.chance(4):
        text = text.translate(str.maketrans("0123456789-+", "０１２３４５６７８９−＋"))
    opening, closing = choices.one((("", ""), ("", ""), ("$", "$"), (r"\boxed{", "}"), (r"\(", r"\)"), (" ", "\n")))
    return f"{opening}{text}{closing}"


def _unsigned(value: Fraction, choices: Choices) -> str:
    top, bottom = value.numerator, value.denominator
    forms = [rf"\frac{{{top}}}{{{bottom}}}", f"{top}/{bottom}", rf"\dfrac{{{top * 3}}}{{{bottom * 3}}}"]
    if bottom == 1:
        forms += [str(top), f"{top:,}", f"{top:,}".replace(",", "{,}"), f"{top}.0", f"{top}e0"]
    if top < 10 and bottom < 10:
        forms.append(rf"\frac{top}{bottom}")
    digits = _decimal_digits(value)
    if digits is not None:
        forms += [digits, digits + "0", f"{digits}e0"]
        if digits.startswith("0."):
            forms.append(digits[1:])
        forms.append(f"{value * 1000}e-3" if (value * 1000).denominator == 1 else digits)
    return choices.one(forms)


def _decimal_digits(value: Fraction) -> str | None:
    places = next((places for places in range(60) if (value * 10**places).denominator == 1), None)
    if not places:
        return None
    whole, rest = divmod((value * 10**places).numerator, 10**places)
    return f"{whole}.{rest:0{places}}"


def _tolerates(value: Fraction, other: Fraction, choices: Choices) -> None:
    absolute, relative = choices.one((0.0, 0.25, 1e-6, 3.0)), choices.one((0.0, 0.125, 1e-4))
    gap = abs(value - other)
    expected = gap <= Fraction(absolute) or gap <= Fraction(relative) * abs(value)
    if Tolerance(absolute, relative).allows(value, other) != expected:
        raise Broken("tolerance", f"{value}, {other} within {absolute} or {relative}")


def _any_text_is_its_number(text: str) -> None:
    with guard.watched():
        try:
            found = guard.within(CALL_LIMIT_S, number, text)
            decided = decide(text, text, EXACT)
        except Broken:
            raise
        except Exception as error:
            raise Broken("raised", guard.where(error)) from error
    if decided is None or not decided[0]:
        raise Broken("decide", "a text is not itself")
    if found is None:
        return
    if not any(character.isdigit() for character in text):
        raise Broken("number", f"{found} without a digit")
    try:
        spelt = Fraction(Decimal(text)) if len(text) < 100 and "_" not in text else found
    except (InvalidOperation, ValueError, OverflowError):
        return
    if spelt != found:
        raise Broken("number", f"{found}, for Decimal it is {spelt}")


TARGETS: Final[Mapping[str, Callable[[bytes], None]]] = {
    "reader": reader,
    "grading": grading,
    "laws": laws,
    "extraction": extraction,
    "exact": exact,
}
IN_BYTES: Final = frozenset(("laws", "exact"))
"""Targets with decisions as their input instead of text."""


def described(target: str, data: bytes) -> str:
    """An input in a readable form."""
    if target == "laws":
        left, right, is_same = pair(data)
        return f"{left} {SPLIT} {right} (equal: {is_same})"
    return repr(_text(data))


def _chosen(text: str, alternatives: Sequence[T]) -> tuple[str, T]:
    """The text without `@` and the letter that chooses an alternative. Without a letter it is the first one."""
    text, is_chosen = _without(CHOSEN, text)
    if not is_chosen:
        return text, alternatives[0]
    return text[1:], alternatives[ord(text[:1] or "a") % len(alternatives)]


def _without(prefix: str, text: str) -> tuple[str, bool]:
    return text.removeprefix(prefix), text.startswith(prefix)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
