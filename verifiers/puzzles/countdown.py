"""Countdown and the 24 game: an expression of the given numbers that equals the target.

The expression may use + - * / and parentheses, written as in Python, in LaTeX or with × ÷ −. A sign before a number or
a parenthesis is allowed. Every given number is used exactly once, or at most once with `use="at_most_once"`. Numbers
must stand as they were given: digits are not joined. Values are exact fractions; intermediate values may be negative or
fractions. There is no check whether the target can be reached. `= 24` behind the expression (or before it, or a chain
of equations) is allowed and must be true; `= ?` is not allowed. In a plain text, words may stand before the expression,
and behind it if they do not take it back.

Deliberate differences to TinyZero's countdown reward: Python evaluates nothing (there it let `**` and `//` through),
equality is exact, and an answer tag with any other content is worth 0, not 0.1.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.commitment import Channel
from verifiers.commitment.cues import Kind, kinds
from verifiers.commitment.stance import Sentence
from verifiers.puzzles import arithmetic, notation, puzzle
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, malformed

Use = Literal["exactly_once", "at_most_once"]


class CountdownParams(PuzzleParams):
    """The numbers and the target."""

    target: int | None = None
    """The target for references that hold only numbers; 24 for the 24 game."""
    use: Use = "exactly_once"
    """How often each given number must be used."""


class Countdown(PuzzleVerifier[CountdownParams]):
    name = "countdown"
    version = "23"
    params = CountdownParams
    summary = "An arithmetic expression of the given numbers, each used once, that equals the target (also the 24 game)"


def create(resources: Resources) -> Countdown:
    return Countdown(resources.workers, judge, Item("1", CountdownParams(reference={"nums": [1], "target": 1})))


def judge(item: Item[CountdownParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


class _Puzzle(NamedTuple):
    numbers: Counter[Fraction]
    target: Fraction
    use: Use


# --- the puzzle

_MAX_NUMBERS = 20
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_TARGET = re.compile(rf"-?{_NUMBER.pattern}")


def _read(params: CountdownParams) -> _Puzzle:
    reference = decoded(params.reference)
    target: Any = params.target
    numbers: Any = reference
    if isinstance(reference, Mapping):
        numbers = field(reference, "nums", "numbers", "ns", "cards", "puzzle", "puzzles")
        goal = field(reference, "target", "goal", "target_number")
        # reasoning-gym's puzzle24 has no target field: it is always 24.
        if goal is None and reference.get("source_dataset") == "puzzle24":
            goal = 24
        target = goal if goal is not None else target
    # `[1, 2, 3]` or `1 2 3` as text.
    if isinstance(numbers, str):
        numbers = numbers.strip("[]() ").replace(",", " ").split()
    if not isinstance(numbers, Sequence) or not 0 < len(numbers) <= _MAX_NUMBERS:
        raise malformed(f"expected 1 to {_MAX_NUMBERS} numbers (`nums`), found {str(numbers)[:60]!r}")
    if target is None:
        raise malformed("expected `target`, the number to reach; for the 24 game it is 24")
    return _Puzzle(Counter([_number(number, _NUMBER) for number in numbers]), _number(target, _TARGET), params.use)


def _number(value: Any, form: re.Pattern[str]) -> Fraction:
    # `true` is an int in Python, and not a number here.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise malformed(f"expected a number, found {str(value)[:40]!r}")
    if isinstance(value, int) and abs(value) >= 10**12:
        raise malformed("numbers have at most 12 digits")
    text = str(value).strip()
    if not form.fullmatch(text):
        raise malformed(f"expected a number of at most 12 digits, of the given ones none negative, found {text[:40]!r}")
    return Fraction(text)


# --- the answer


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[str]]:
    """The expressions of a text: the whole text, a whole line, or the part of a line behind words."""
    bare = _bare(text)
    # `44 + 19 + 35`, also over several lines if these are one equation.
    if bare is not None and ("\n" not in bare or _is_equation(bare)):
        return [Offer(0, len(text), bare)]
    tail = list(notation.lines(text))[-_MAX_LINES:]
    offers = [line_offer for start, line in tail if (line_offer := _in_line(start, line, puzzle_)) is not None]
    # `1 + 2 = 3` and, later, `1+2`: the same answer, as it was written last.
    last = _core(offers[-1].answer) if offers else ""
    return [offer._replace(answer=offers[-1].answer) if _core(offer.answer) == last else offer for offer in offers]


def _core(expression: str) -> str:
    """The core of an expression; it is the same for `1 + 2` and `1+2 = 3`."""
    return max("".join(expression.split()).split("="), key=len)


def _is_equation(text: str) -> bool:
    try:
        return bool(arithmetic.equation(text))
    except (arithmetic.NotArithmetic, arithmetic.DividesByZero):
        return False


_MAX_LINES = 200
_MAX_LINE_CHARS = 2 * arithmetic.MAX_CHARS
_MARKUP = re.compile(r"`{1,3}|\*\*|\$+|\\[()\[\]]|__")
_EXPRESSION = re.compile(r"(?=[^0-9]*[0-9])[-+*/(){}F=0-9. \t\n]+")
_WORDS = re.compile(r"[:：\u4e00-\u9fff]|(?<![A-Za-z\\])[A-Za-z]{2,}")


def _bare(text: str) -> str | None:
    """The expression that makes up a whole text; None if there is none."""
    if len(text) > _MAX_LINE_CHARS:
        return None
    plain = _plain(text)
    return plain if _EXPRESSION.fullmatch(plain) else None


def _in_line(start: int, line: str, puzzle_: _Puzzle) -> Offer[str] | None:
    plain = _plain(line) if len(line) <= _MAX_LINE_CHARS else ""
    end = start + len(line.rstrip())
    if _EXPRESSION.fullmatch(plain):
        return Offer(start, end, plain)
    # `The answer is 44 + 19 + 35`
    if (expression := _behind_words(plain)) is not None:
        return Offer(start + _expression_start(line), end, expression)
    # `So 44 + 19 + 35 works, because …`
    if (expression := _between_words(plain)) is not None and _is_of_numbers(expression, puzzle_):
        first = re.search(r"[(0-9]", line)
        return Offer(start + (first.start() if first else 0), end, expression)
    return None


_BEHIND_WORDS = re.compile(r"(?:(?:[:：]|[A-Za-z]{2,})\s{1,4}|[:：\u4e00-\u9fff]\s{0,4})([-+*/(){}F=0-9. \t]+)$")
_BETWEEN_WORDS = re.compile(
    r"[^0-9(]{0,200}(?:[:：]|[A-Za-z]{2,})[ \t]+(?P<expression>[-(F0-9][-+*/(){}F=0-9. \t]*[0-9)}])"
    r"(?P<words>[ .,!]+[A-Za-z].*)"
)
_OPERATION = re.compile(r"[0-9)][ \t]*[-+*/=][ \t]*[0-9(]")
_VALUE = re.compile(r"-?[0-9]{1,12}\b")


def _behind_words(plain: str) -> str | None:
    """The expression at the end of a line; None if there is none."""
    match = _BEHIND_WORDS.search(plain)
    return match[1].strip() if match and _EXPRESSION.fullmatch(match[1]) and not match[1].strip().isdigit() else None


def _between_words(plain: str) -> str | None:
    """An expression between words, if these offer no other expression and take nothing back.

    "… evaluates to 24" counts as one more side of the equation.
    """
    match = _BETWEEN_WORDS.fullmatch(plain)
    # `We take 24 and …`: a number alone; `First 3 + 4 = 7, then 7 * 2 = …`: a second expression.
    if match is None or match["expression"].isdigit() or _OPERATION.search(match["words"]):
        return None
    sentence = Sentence(plain, 0, len(plain), "")
    # `Maybe 8 * 3 works?`
    if "?" in plain or any(cue.kind in _OPEN for cue in sentence.cues):
        return None
    expression, first_word = match["expression"].strip(), sentence.past(sentence.place(match.span("words"))[0], _SIGNS)
    leads = [
        sentence.words[cue.stop].start
        for cue in sentence.cues
        if cue.kind in _EQUALS and first_word <= cue.stop < len(sentence.words)
    ]
    # `3 * 8 evaluates to 24` becomes `3 * 8 = 24`.
    if values := [value[0] for at in leads if (value := _VALUE.match(plain, at))]:
        return f"{expression} = {values[0]}"
    is_led = any(cue.first == first_word and cue.kind in _GOES_WITH for cue in sentence.cues)
    return expression if is_led or _NEXT_SENTENCE.match(match["words"]) else None


_SIGNS = frozenset(",")
_NEXT_SENTENCE = re.compile(r"[.!] +[A-Z]")
_GOES_WITH = frozenset([Kind.BECAUSE, Kind.FITS, Kind.CHOOSE, Kind.ASIDE])
_EQUALS = frozenset([Kind.IS, Kind.CHOOSE])
_OPEN = kinds("not except doubt maybe if or no but wrong other")


def _expression_start(line: str) -> int:
    """The start of the expression: the place behind the last word of the line that is not a LaTeX command."""
    return max((match.end() for match in _WORDS.finditer(line)), default=0)


def _plain(text: str) -> str:
    text = _MARKUP.sub(" ", _POWER.sub("?", notation.plain(text))).strip()
    return arithmetic.plain(text).strip().rstrip(".;,。；✓✔✅").strip()


_POWER = re.compile(r"(?<=[\d)])\s?\*\*\s?(?=[\d(])")
"""Between operands `**` is a power, not emphasis."""


def _check(answer: str, puzzle_: _Puzzle) -> str | None:
    try:
        sides = arithmetic.equation(answer)
    except arithmetic.DividesByZero:
        # `8 / (3 - 3)` has no value.
        return "wrong_answer"
    except arithmetic.NotArithmetic:
        return "no_expression"
    # `44 + 19 = 63 = 98`: each side must have the target's value.
    if any(side.value != puzzle_.target for side in sides):
        return "wrong_answer"
    # `98 = 44 + 19 + 35` is as right as `44 + 19 + 35 = 98`.
    if any(_uses(side.numbers, puzzle_) for side in (sides[0], sides[-1])):
        return None
    return "wrong_numbers"


def _uses(numbers: Sequence[str], puzzle_: _Puzzle) -> bool:
    used = Counter(Fraction(number) for number in numbers if number == "0" or number[0] != "0" or "." in number)
    # `044` is not the given 44.
    if used.total() != len(numbers):
        return False
    return used == puzzle_.numbers if puzzle_.use == "exactly_once" else used <= puzzle_.numbers


def _is_of_numbers(answer: str, puzzle_: _Puzzle) -> bool:
    try:
        return any(_uses(side.numbers, puzzle_) for side in arithmetic.equation(answer))
    except (arithmetic.DividesByZero, arithmetic.NotArithmetic):
        return False


def _claims_target(answer: str, puzzle_: _Puzzle) -> bool:
    """Whether an expression is meant as an answer: it has the right numbers, and is not said to equal another value."""
    try:
        sides = arithmetic.equation(answer)
    except (arithmetic.DividesByZero, arithmetic.NotArithmetic):
        return False
    return _is_of_numbers(answer, puzzle_) and all(s.value == puzzle_.target for s in sides if len(s.numbers) == 1)


_AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.WHOLE)
_RULES = Rules(_read, _offers, _check, is_whole=_claims_target, auto=_AUTO, folds=False)


# --- examples

_GIVEN = {"target": 98, "nums": [44, 19, 35]}

EXAMPLES = (
    Example("<answer>44 + 19 + 35</answer>", {"reference": _GIVEN}, 1.0, "correct", "every number once"),
    Example(
        "So we get \\boxed{8 \\div (3 - 8 \\div 3) = 24}",
        {"reference": [3, 3, 8, 8], "target": 24},
        1.0,
        "correct",
        "the 24 game, exact fractions, and an equation that holds",
    ),
    Example("<answer>98</answer>", {"reference": _GIVEN}, 0.0, "wrong_numbers", "the target is not given"),
    Example("<answer>44 + 19 + 34</answer>", {"reference": _GIVEN}, 0.0, "wrong_answer", "97"),
    Example("<answer>2**10</answer>", {"reference": {"target": 1024, "nums": [2, 10]}}, 0.0, "no_answer", "no power"),
    Example("44", {"reference": {"nums": [44]}}, None, "bad_puzzle", "no target", Status.INVALID),
)
