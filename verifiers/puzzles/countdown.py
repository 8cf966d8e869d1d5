"""Countdown and the 24 game: an expression of the given numbers that equals the target.

The expression may use + - * / and parentheses, written as in Python, in LaTeX or with × ÷ −; a sign before a number
or a parenthesis is allowed. Every given number is used exactly once, or, with `use="at_most_once"`, none more often.
Numbers must stand as they were given: digits are not joined. Values are exact fractions, intermediate ones may be
negative or broken. Whether the target can be reached at all is not asked. `= 24` behind the expression (or before it, or a chain of equations) is allowed and must be true; `= ?`
is not. In a plain text words may lead to the expression, and follow it where they do not take it back.

Deliberate differences to TinyZero's countdown reward: nothing is evaluated by Python (which let `**` and `//` through),
equality is exact, and an answer tag that holds anything else is worth 0, not 0.1.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.commitment import Channel
from verifiers.puzzles import arithmetic, puzzle
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, field, malformed, opened

Use = Literal["exactly_once", "at_most_once"]


class CountdownParams(PuzzleParams):
    """The numbers and the target."""

    target: int | None = None
    """The target of references that hold numbers only; 24 for the 24 game."""
    use: Use = "exactly_once"


class Countdown(PuzzleVerifier[CountdownParams]):
    name = "countdown"
    version = "11"
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
    reference = opened(params.reference)
    target: Any = params.target
    numbers: Any = reference
    if isinstance(reference, Mapping):
        numbers = field(reference, "nums", "numbers", "ns", "cards", "puzzle", "puzzles")
        given = field(reference, "target", "goal", "target_number")
        if given is None and reference.get("source_dataset") == "puzzle24":
            given = 24
        target = given if given is not None else target
    if isinstance(numbers, str):
        numbers = numbers.strip("[]() ").replace(",", " ").split()
    if not isinstance(numbers, Sequence) or not 0 < len(numbers) <= _MAX_NUMBERS:
        raise malformed(f"expected 1 to {_MAX_NUMBERS} numbers (`nums`), found {str(numbers)[:60]!r}")
    if target is None:
        raise malformed("there is no `target`; for the 24 game it is 24")
    return _Puzzle(Counter([_number(number, _NUMBER) for number in numbers]), _number(target, _TARGET), params.use)


def _number(value: Any, form: re.Pattern[str]) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise malformed(f"expected a number, found {str(value)[:40]!r}")
    if isinstance(value, int) and abs(value) >= 10**12:
        raise malformed("numbers have at most 12 digits")
    text = str(value).strip()
    if not form.fullmatch(text):
        raise malformed(f"expected a number of at most 12 digits, of the given ones none negative, found {text[:40]!r}")
    return Fraction(text)


# --- the answer


def _offers(text: str, _: _Puzzle) -> list[Offer[str]]:
    """All of the text, or those of its lines that are nothing but an expression, or end in one behind words."""
    whole = _bare(text)
    if whole is not None and ("\n" not in whole or _is_equation(whole)):
        return [Offer(0, len(text), whole)]
    lines = text.splitlines(keepends=True)
    end = sum(map(len, lines[:-_MAX_LINES]))
    found: list[Offer[str]] = []
    for line in lines[-_MAX_LINES:]:
        start, end = end, end + len(line)
        plain = _plain(line) if len(line) <= _MAX_LINE_CHARS else ""
        if _EXPRESSION.fullmatch(plain):
            found.append(Offer(start, start + len(line.rstrip()), plain))
        elif (expression := _behind_words(plain)) is not None:
            found.append(Offer(start + _expression_start(line), start + len(line.rstrip()), expression))
        elif (expression := _between_words(plain)) is not None and not _TAKES_BACK.search(line):
            first = re.search(r"[(0-9]", line)
            found.append(Offer(start + (first.start() if first else 0), start + len(line.rstrip()), expression))
    last = _core(found[-1].answer) if found else ""
    return [offer._replace(answer=found[-1].answer) if _core(offer.answer) == last else offer for offer in found]


def _core(expression: str) -> str:
    """What is the same in `1 + 2` and `1+2 = 3`."""
    return max("".join(expression.split()).split("="), key=len)


def _is_equation(text: str) -> bool:
    try:
        return bool(arithmetic.equation(text))
    except (arithmetic.NotArithmetic, arithmetic.DividesByZero):
        return False


_MAX_LINES = 200
_MAX_LINE_CHARS = 2 * arithmetic.MAX_CHARS
_MARKUP = re.compile(r"`{1,3}|\*\*|\$+|\\[()\[\]]|__")
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\{([^{}\n]{1,200})\}")
_EXPRESSION = re.compile(r"(?=[^0-9]*[0-9])[-+*/(){}F=0-9. \t\n]+")
_BEHIND_WORDS = re.compile(r"(?:(?:[:：]|[A-Za-z]{2,})\s{1,4}|[:：\u4e00-\u9fff]\s{0,4})([-+*/(){}F=0-9. \t]+)$")
_WORDS = re.compile(r"[:：\u4e00-\u9fff]|(?<![A-Za-z\\])[A-Za-z]{2,}")


_UNCOMMITTED = re.compile(r"\b(?:or|either|not|nor|maybe|perhaps|whether)\s{1,4}$", re.IGNORECASE)
"""Before an expression that is denied, or offered as an alternative."""


def _bare(text: str) -> str | None:
    if len(text) > _MAX_LINE_CHARS:
        return None
    plain = _plain(text)
    return plain if _EXPRESSION.fullmatch(plain) else None


def _behind_words(plain: str) -> str | None:
    match = _BEHIND_WORDS.search(plain)
    if match and _UNCOMMITTED.search(plain, max(0, match.start() - 1), match.start(1)):
        return None
    return match[1].strip() if match and _EXPRESSION.fullmatch(match[1]) and not match[1].strip().isdigit() else None


_BEFORE_WORDS = re.compile(
    r"(?P<expression>[-+*/(){}F=0-9. \t]*[0-9)}])[ \t]*"
    r"(?P<words>(?:[.!][ \t]+[A-Z]|,?[ \t]*(?:which|that|using|uses|evaluates|equals|gives|works|satisfies|because|since)\b).*)"
)
_VALUE = re.compile(r"(?:evaluates[ \t]to|equals|gives)[ \t]+(?P<value>-?[0-9]{1,12})\b")
_TAKES_BACK = re.compile(
    r"\b(?:not|no|never|but|however|wrong|incorrect|fails?|invalid|almost|close|instead|except|missing|leaves|if|or|unless|wait"
    r"|actually|alternatively|another|cannot|maybe|perhaps|possibly|might|unsure)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_OPERATION = re.compile(r"[0-9)][ \t]*[-+*/=][ \t]*[0-9(]")


def _between_words(plain: str) -> str | None:
    """An expression that words lead to and that words follow, which offer no other one.

    "… evaluates to 24" is one side of an equation more.
    """
    lead = _LEAD.match(plain)
    found = _BEFORE_WORDS.fullmatch(plain, lead.end()) if lead else None
    if found is None or _OPERATION.search(found["words"]):
        return None
    expression = found["expression"].strip()
    if not _EXPRESSION.fullmatch(expression) or expression.isdigit():
        return None
    told = _VALUE.match(found["words"].lstrip(", \t"))
    return f"{expression} = {told['value']}" if told else expression


_LEAD = re.compile(r"[^0-9(]{0,200}(?:[:：]|[A-Za-z]{2,})[ \t]+(?=[-(F0-9])")


def _expression_start(line: str) -> int:
    """Where the expression begins that words lead to: behind the last of them, commands of LaTeX aside."""
    return max((match.end() for match in _WORDS.finditer(line)), default=0)


def _plain(text: str) -> str:
    if "\\" in text:
        text = _LATEX_TEXT.sub(r" \1 ", text)
    text = _MARKUP.sub(" ", _POWER.sub("?", text)).strip()
    return arithmetic.plain(text).strip().rstrip(".;,。；✓✔✅").strip()


_POWER = re.compile(r"(?<=[\d)])\s?\*\*\s?(?=[\d(])")
"""Between operands `**` is a power, not emphasis."""


def _check(answer: str, wanted: _Puzzle) -> str | None:
    try:
        sides = arithmetic.equation(answer)
    except arithmetic.DividesByZero:
        return "wrong_answer"
    except arithmetic.NotArithmetic:
        return "no_expression"
    if any(side.value != wanted.target for side in sides):
        return "wrong_answer"
    if any(_uses(side.numbers, wanted) for side in (sides[0], sides[-1])):
        return None
    return "wrong_numbers"


def _uses(written: Sequence[str], wanted: _Puzzle) -> bool:
    used = Counter(Fraction(number) for number in written if number == "0" or number[0] != "0" or "." in number)
    if used.total() != len(written):
        return False
    return used == wanted.numbers if wanted.use == "exactly_once" else used <= wanted.numbers


def _claims_target(answer: str, wanted: _Puzzle) -> bool:
    """Whether an expression is put forward as an answer: of the right numbers, and not said to be something else."""
    try:
        sides = arithmetic.equation(answer)
    except (arithmetic.DividesByZero, arithmetic.NotArithmetic):
        return False
    told = [side.value for side in sides if len(side.numbers) == 1]
    return any(_uses(side.numbers, wanted) for side in sides) and all(value == wanted.target for value in told)


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
