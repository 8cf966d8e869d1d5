"""Splits a test that is one program with the solution: values are told in its process, and compared outside of it.

    assert(f(3) == 9);  ──►  tell(f(3));   in one program with the solution, which never holds a 9
                        └─►  tell(9);      in a program of its own, once for a task

So a solution can tell what it likes, but neither read what is expected nor decide what equals it. A test is split if all
that it checks has forms that are known here:

    assert(f(1) == 2)   assert f(1).equals(2)   assert.deepEqual(f(1), 2)   assert(abs(f(1) - 2.5) < 1e-4)
    if (!compare(x0, v0)) { throw ... }         if(eq_deeply(f(1), 2)) { print "ok!" } else { exit 1; }
    [[ $(f 1) = "2" ]]

The test's text decides whether it is, and the expected values' own program, which holds nothing of a response.
"""

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from verifiers.code.cases import JoinedTest, Likeness, SplitTest
from verifiers.code.joining import MARK
from verifiers.code.tellers import TELLERS


def split(test: JoinedTest) -> SplitTest | None:
    """The test in two programs; None if its text does not allow it."""
    if test.language not in TELLERS or MARK in test.source or test.is_quoted or len(test.source) > _MAX_CHARS:
        return None
    # Types of the test's own have an equality of their own: union Union_std_string_long { bool operator==(...) ... };
    if test.language == "cpp" and _OWN_EQUALITY.search(test.prompt + test.source):
        return None
    reader = _Reader(test)
    checks = reader.checks()
    if not checks or reader.checks_more(checks):
        return None
    teller = TELLERS[test.language]
    telling = replace(test, source=reader.telling(checks) + teller.behind)
    statements = "\n".join(f"{teller.call.format(check.expected)};" for check in checks)
    if test.language == "bash":
        statements = "\n".join(teller.call.format(check.expected) for check in checks)
    program = teller.program.format(head=_head(test), statements=statements)
    return SplitTest(telling, teller.before + program + teller.behind, [check.likeness for check in checks])


_MAX_CHARS: Final = 12_000
"""About five milliseconds."""
_MAX_CHECKS: Final = 200
_OWN_EQUALITY: Final = re.compile(r"\boperator\b|R\"")


def values_of(split_test: SplitTest, output: bytes | None) -> list[bytes] | None:
    """The values that a program told; None if there are not as many as the test tells."""
    if output is None or len(output) > _MAX_TOLD_BYTES:
        return None
    count = len(split_test.likenesses)
    values = output.split(TELLERS[split_test.telling.language].separator, count)
    return values[:-1] if len(values) == count + 1 and not values[-1] else None


_MAX_TOLD_BYTES: Final = 2_000_000
"""About a millisecond. A test that expects more is not split."""


def first_difference(split_test: SplitTest, values: Sequence[bytes], expected: Sequence[bytes]) -> str | None:
    """The first value that is not as expected, in words; None if all are."""
    for position, (value, gold, likeness) in enumerate(zip(values, expected, split_test.likenesses, strict=True), 1):
        if not _holds(value, gold, likeness):
            return f"value {position}: {value[:80].decode('utf-8', 'replace')}"
    return None


def _holds(value: bytes, gold: bytes, likeness: Likeness) -> bool:
    if likeness.tolerance is not None:
        number, gold_number = _number(_decoded(value)), _number(_decoded(gold))
        return number is not None and gold_number is not None and abs(number - gold_number) < likeness.tolerance
    if value == gold:
        return b'{"$":"nan"}' not in value
    return likeness.is_loose and _equals_loosely(_decoded(value), _decoded(gold))


def _decoded(value: bytes) -> Any:
    if len(value) > _MAX_DECODED_BYTES:
        return object()
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return object()


_MAX_DECODED_BYTES: Final = 20_000
"""About half a millisecond on the event loop. Longer values are compared byte by byte."""


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value or "0")
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) and abs(value) < _LARGEST and math.isfinite(value) else None


_LARGEST: Final = 10**300


def _equals_loosely(value: Any, gold: Any) -> bool:
    """Whether values are equal for JavaScript's `==`, part by part."""
    if isinstance(value, list) and isinstance(gold, list):
        return len(value) == len(gold) and all(map(_equals_loosely, value, gold))
    if isinstance(value, dict) and isinstance(gold, dict):
        return value.keys() == gold.keys() and all(_equals_loosely(value[key], gold[key]) for key in gold)
    if isinstance(value, str) and isinstance(gold, str):
        return value == gold
    number, gold_number = _number(value), _number(gold)
    return (number is not None and number == gold_number) or (value is None and gold is None)


# --- the text of a test


@dataclass(frozen=True, slots=True)
class _Check:
    start: int
    end: int
    actual: str
    expected: str
    likeness: Likeness
    variable: tuple[int, int] | None = None
    """Where the expected value's variable gets it, if it has one."""


class _Reader:
    """Finds what a test checks."""

    def __init__(self, test: JoinedTest) -> None:
        self._test = test
        self._text = _without_comments(test)
        self._strings = _STRINGS[test.language]
        names = [(match["name"], match) for match in _ASSIGNED.finditer(self._text)]
        counts = Counter(name for name, _ in names)
        self._assigned = {name: match for name, match in names if counts[name] == 1}
        """Where variables get their only value."""
        self._uses = Counter(_WORD.findall(self._text))
        self._defined = {match["name"] for match in _DEFINED.finditer(self._text)}
        self._prompted = {*_WORD.findall(test.prompt)}

    def checks(self) -> list[_Check] | None:
        """All that is checked in a known form, in order; None if something is, but cannot be read."""
        checks: list[_Check] = []
        end = 0
        for head in _HEADS[self._test.language].finditer(self._text):
            if head.start() < end:
                continue
            check = self._bracketed(head) if self._test.language == "bash" else self._check(head)
            if check is None:
                return None
            checks.append(check)
            end = check.end
            if len(checks) > _MAX_CHECKS:
                return None
        return checks

    def telling(self, checks: Sequence[_Check]) -> str:
        """The test's text with the told values, and without any expected one."""
        call = TELLERS[self._test.language].call
        terminator = "" if self._test.language == "bash" else ";"
        edits = [(check.start, check.end, call.format(check.actual) + terminator) for check in checks]
        edits += [(*check.variable, "") for check in checks if check.variable is not None]
        text = self._text
        for start, end, new in sorted(set(edits), reverse=True):
            text = text[:start] + new + text[end:]
        return _LIBRARIES.sub("", text)

    def checks_more(self, checks: Sequence[_Check]) -> bool:
        """Whether the test checks what is in none of the checks, or decides which of them are made."""
        remainder = self._text
        for check in sorted(checks, key=lambda check: check.start, reverse=True):
            remainder = remainder[: check.start] + remainder[check.end :]
        while helper := _HELPER.search(remainder):
            body = self._closed(remainder, helper.end(), "}")
            if body is None or _NEARLY.search(remainder, helper.end(), body):
                return True
            remainder = remainder[: helper.start()] + remainder[body + 1 :]
        if self._test.language == "bash" and _BRACKETS.search(remainder):
            return True
        return _CHECKING.search(_LIBRARIES.sub("", _FRAME.sub("", remainder))) is not None

    # --- one check

    def _check(self, head: re.Match[str]) -> _Check | None:
        """The check that begins at a head: `assert(`, `assert.equal(`, `if (!(compare(`."""
        if self._test.language == "java" and head["bare"]:
            # assert f(1).equals(2) : "message";
            end_at = self._closed(self._text, head.end(), ";")
            condition = self._text[head.end() : end_at].partition(" : ")[0] if end_at is not None else ""
            bare = self._stated(condition)
            return self._related(head.start(), end_at + 1, *bare) if bare and end_at is not None else None
        pieces, close = self._pieces(head.end())
        if close is None:
            return None
        name, text = head["name"], self._text
        if head["negated"]:
            # if (!(compare(x0, 8))) { throw ...; }
            throws = _THROWS.match(text, close + 1)
            if throws is None or (body_end := self._closed(text, throws.end(), "}")) is None or len(pieces) != 2:
                return None
            return self._related(head.start(), body_end + 1, pieces[0], pieces[1], Likeness())
        if name in _PERL_CHECKS:
            tail = _PERL_TAIL.match(text, close + 1)
            if tail is None or len(pieces) != 2:
                return None
            return self._related(head.start(), tail.end(), pieces[0], pieces[1], Likeness())
        end = _STATEMENT_END.match(text, close + 1)
        if end is None:
            return None
        if "." in name and not name.startswith("console"):
            # assert.deepEqual(f(1), [2], "message")
            if len(pieces) < 2:
                return None
            loose = Likeness(is_loose=not name.lower().endswith("strictequal"))
            return self._related(head.start(), end.end(), pieces[0], pieces[1], loose)
        stated = self._stated(pieces[0]) if pieces else None
        return stated and self._related(head.start(), end.end(), *stated)

    def _bracketed(self, head: re.Match[str]) -> _Check | None:
        """`[[ $(f "1") = "2" ]]`."""
        return _Check(head.start(), head.end(), f'"{head["actual"]}"', head["expected"], Likeness())

    def _related(self, start: int, end: int, actual: str, expected: str, likeness: Likeness) -> _Check | None:
        variable = None
        if _NAME.fullmatch(expected) and expected not in _CONSTANTS:
            assigned = self._assigned.get(expected)
            if assigned is None or self._uses[expected] > 2 or assigned.start() > start:
                return None
            close = self._closed(self._text, assigned.end(), ";")
            if close is None:
                return None
            variable = (assigned.start(), close + 1)
            expected = self._text[assigned.end() : close].strip()
        # assert(same(f(1), [2]) == true) would have the program's own process decide
        if expected.strip("() ") in _TRUTHS and not self._is_of_solution(actual):
            return None
        return _Check(start, end, actual, expected, likeness, variable)

    def _is_of_solution(self, actual: str) -> bool:
        """Whether a value is what one call of the solution returns, or a variable that holds it."""
        if _NAME.fullmatch(actual):
            assigned = self._assigned.get(actual)
            if assigned is None:
                return False
            actual = self._text[assigned.end() : assigned.end() + _MAX_CALLED_CHARS].lstrip()
        call = _CALL.match(actual)
        if call is None:
            return False
        name = call["name"]
        if name == "candidate":
            return True
        return name not in self._defined and (not self._test.prompt or name in self._prompted)

    def _stated(self, condition: str) -> tuple[str, str, Likeness] | None:
        """The parts of a condition: `f(1) == 2`, `f(1).equals(2)`, `abs(f(1) - 2.5) < 1e-4`."""
        condition = self._bare(condition)
        tokens = [*self._top_level(condition)]
        if any(token[0] in ("&&", "||", "?", "!=", "!==", "<=", ">=") for token in tokens):
            return None
        equals = [token for token in tokens if token[0] in ("==", "===")]
        if len(equals) == 1:
            lhs, rhs = condition[: equals[0].start()].strip(), condition[equals[0].end() :].strip()
            return (
                lhs,
                rhs,
                Likeness(is_loose=equals[0][0] == "==" and self._test.language in ("javascript", "typescript")),
            )
        if self._test.language == "java" and condition.endswith(")"):
            calls = [*re.finditer(r"\.equals\(", condition)]
            for call in calls:
                if self._closed(condition, call.end(), ")") == len(condition) - 1:
                    return condition[: call.start()], condition[call.end() : -1], Likeness()
        equality = _SAME.match(condition)
        if equality and self._closed(condition, equality.end(), ")") == len(condition) - 1:
            operands = self._split(condition[equality.end() : -1])
            helper = _HELPER.search(self._text)
            if len(operands) != 2 or helper is None:
                return None
            # issame(f(1), {2, 3}) makes a vector of the helper's own type
            kind = _SECOND_TYPE.search(helper[0])
            if not operands[1].startswith("{"):
                return operands[0], operands[1], Likeness()
            return (operands[0], kind[1] + operands[1], Likeness()) if kind else None
        near = _NEAR.match(condition)
        if near and (close := self._closed(condition, near.end(), ")")) is not None:
            limit = _BELOW.fullmatch(condition, close + 1)
            inside = condition[near.end() : close]
            minus = [token for token in self._top_level(inside) if token[0] == "-" and inside[: token.start()].strip()]
            if limit and len(minus) == 1:
                lhs, rhs = inside[: minus[0].start()].strip(), inside[minus[0].end() :].strip()
                return lhs, rhs, Likeness(tolerance=float(limit[1]))
        return None

    def _bare(self, text: str) -> str:
        """The text without brackets around all of it."""
        text = text.strip()
        while text.startswith("(") and self._closed(text, 1, ")") == len(text) - 1:
            text = text[1:-1].strip()
        return text

    # --- brackets

    def _pieces(self, start: int) -> tuple[list[str], int | None]:
        """The arguments of a call whose bracket opened before `start`, and where it closes."""
        close = self._closed(self._text, start, ")")
        if close is None:
            return [], None
        return self._split(self._text[start:close]), close

    def _split(self, inside: str) -> list[str]:
        """The parts of a text between its commas."""
        commas = [token.start() for token in self._top_level(inside) if token[0] == ","]
        edges = [-1, *commas, len(inside)]
        return [inside[start + 1 : stop].strip() for start, stop in itertools.pairwise(edges)]

    def _closed(self, text: str, start: int, closing: str) -> int | None:
        """Where what is open at `start` is closed, or a statement ends."""
        return next((token.start() for token in self._top_level(text, start) if token[0] == closing), None)

    def _top_level(self, text: str, start: int = 0) -> Iterator[re.Match[str]]:
        """The tokens outside of all brackets and literals; one bracket may close what is not opened here."""
        depth = 0
        for match in self._strings.finditer(text, start):
            token = match[0]
            if token in _OPENING:
                depth += 1
            elif token in _CLOSING:
                if not depth:
                    yield match
                    return
                depth -= 1
            elif not depth and not match["literal"]:
                yield match


def _head(test: JoinedTest) -> str:
    """What the expected values may need: the imports of the test and of its prompt."""
    lines = _IMPORTS[test.language].findall(f"{test.prompt}\n{test.source}")
    return "\n".join(dict.fromkeys(line.strip() for line in lines))


def _without_comments(test: JoinedTest) -> str:
    """The test's text without comments, which may tell what is expected."""
    pattern = _COMMENTS[test.language]
    return pattern.sub(lambda match: match[0] if match["literal"] else " ", test.source)


_OPENING: Final = frozenset("([{")
_CLOSING: Final = frozenset(")]}")
_DOUBLE: Final = r"\"(?:\\.|[^\"\\])*+\"?"
_SINGLE: Final = r"'(?:\\.|[^'\\])*+'?"
_LITERALS: Final = {
    "javascript": rf"{_DOUBLE}|{_SINGLE}|`(?:\\.|[^`\\])*+`?",
    "perl": rf"{_DOUBLE}|{_SINGLE}",
    "bash": rf"{_DOUBLE}|'[^']*+'?",
    "cpp": rf"{_DOUBLE}|'(?:\\[^\n]|[^'\\\n])+'",
    "java": rf"{_DOUBLE}|'(?:\\[^\n]|[^'\\\n])+'",
}
_LITERALS["typescript"] = _LITERALS["javascript"]
_STRINGS: Final = {
    name: re.compile(rf"(?P<literal>{literals})|===|!==|[=!<>]=|&&|\|\||->|--|[()\[\]{{}},;?-]", re.DOTALL)
    for name, literals in _LITERALS.items()
}
_SLASHES: Final = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_COMMENTS: Final = {
    name: re.compile(rf"(?P<literal>{literals})|{_SLASHES if name not in ('perl', 'bash') else _HASH}", re.DOTALL)
    for name, literals in _LITERALS.items()
    for _HASH in (r"(?<!\S)#[^\n]*",)
}
_IMPORTS: Final = {
    "javascript": re.compile(r"(?!)"),
    "typescript": re.compile(r"^declare var require[^\n]*"),
    "perl": re.compile(r"(?!)"),
    "bash": re.compile(r"(?!)"),
    "cpp": re.compile(r"^[ \t]*(?:#[ \t]*include\b[^\n]*|using[ \t]+namespace\b[^\n;]*;)", re.MULTILINE),
    "java": re.compile(r"^[ \t]*import[ \t][^\n;]*;", re.MULTILINE),
}
_PERL_CHECKS: Final = frozenset({"eq_deeply", "Compare"})
_IF_NOT: Final = r"if[ \t]*\([ \t]*![ \t]*\(?[ \t]*"
_C_HEADS: Final = re.compile(
    rf"(?<![.\w])(?:(?P<name>assert)[ \t]*\(|(?P<negated>{_IF_NOT}(?:compare|issame)[ \t]*\())"
)
_SCRIPT_ASSERTS: Final = r"(?:console\.)?assert|assert\.(?:deepEqual|deepStrictEqual|equal|strictEqual)"
_SCRIPT_HEADS: Final = re.compile(
    rf"(?<![.\w])(?:(?P<name>{_SCRIPT_ASSERTS})[ \t]*\(|(?P<negated>{_IF_NOT}compare[ \t]*\())"
)
_BASH_QUOTED: Final = r"\"(?:\\.|[^\"\\$`])*\"|'[^']*'"
_HEADS: Final = {
    "javascript": _SCRIPT_HEADS,
    "typescript": _SCRIPT_HEADS,
    "cpp": _C_HEADS,
    "java": re.compile(rf"{_C_HEADS.pattern}|(?<![.\w])(?P<bare>assert)[ \t]+(?!\()"),
    "perl": re.compile(
        r"(?<![\w$@%&])(?:if|unless)[ \t]*\([ \t]*(?P<name>eq_deeply|Compare)[ \t]*\((?P<negated>(?!))?"
    ),
    "bash": re.compile(
        rf"^[ \t]*\[\[[ \t]+(?P<actual>\$\((?:[^()\"'\n]|{_BASH_QUOTED})*\))[ \t]+==?[ \t]+"
        rf"(?P<expected>{_BASH_QUOTED}|[\w.+-]+)[ \t]+\]\][ \t]*$",
        re.MULTILINE,
    ),
}
_THROWS: Final = re.compile(r"[ \t]*\)*[ \t\n]*\{(?=[ \t\n]*throw\b)")
_PERL_TAIL: Final = re.compile(
    r"[ \t]*\)[ \t\n]*\{[ \t\n]*(?:print[^{}]*\}[ \t\n]*else[ \t\n]*\{[ \t\n]*exit[ \t]+1;?|die[^{}]*)[ \t\n]*\}"
)
_STATEMENT_END: Final = re.compile(r"[ \t]*(?:;|$)", re.MULTILINE)
_NAME: Final = re.compile(r"[$@]?[A-Za-z_]\w*")
_WORD: Final = re.compile(r"[$@]?\w+")
_ASSIGNED: Final = re.compile(
    r"^[ \t]*+(?:[\w.]++(?:<[^\n;=()]*>)?(?:\[\])*[ \t]++)?(?P<name>[$@]?[A-Za-z_]\w*+)[ \t]*+=(?!=)", re.MULTILINE
)
_DEFINED: Final = re.compile(r"(?<![.\w])(?P<name>[A-Za-z_]\w*+)[ \t]*+\([^;{}()\n]*+\)[^;{}()\n]*+\{")
_MAX_CALLED_CHARS: Final = 200
_CONSTANTS: Final = frozenset({"true", "false", "null", "undefined", "nullptr", "NaN", "None", "NULL"})
_TRUTHS: Final = frozenset({"true", "false", "0", "1", '""', "!0", "!1"})
_CALL: Final = re.compile(r"(?:(?:new[ \t]+)?\w+(?:\(\))?\.|\$|\w+::|&)*(?P<name>[A-Za-z_]\w*)[ \t]*(?:->)?[ \t]*\(")
_SAME: Final = re.compile(r"issame[ \t]*\(")
_SECOND_TYPE: Final = re.compile(r",[ \t]*(?:const[ \t]+)?([\w:]+(?:<[^()=;]*>)?)[ \t&]*\w+[ \t]*\)[^()]*$")
_NEARLY: Final = re.compile(r"abs\b|\de-\d|\bround\b")
_NEAR: Final = re.compile(r"(?:(?:std::|Math\.)?f?abs)[ \t]*\(")
_BELOW: Final = re.compile(r"[ \t]*<[ \t]*((?:\d+(?:\.\d*)?|\.\d+)(?:[eE]-?\d+)?)f?")
_TEMPLATE: Final = r"[ \t]*template[ \t]*<[^<>{}\n]*>[ \t]*\n?"
_HELPER: Final = re.compile(
    rf"^(?:{_TEMPLATE})?[^\n;{{}}()]*+(?:(?<=\bcompare)|(?<=\bissame))[ \t]*\([^(){{}}\n]*\)[^;{{}}()\n]*\{{",
    re.MULTILINE,
)
"""The head of a test's own function that compares two values, which nothing calls any more."""
_SCRIPT_NAMES: Final = r"^[ \t]*(?:const|var|let)[ \t]+"
_LIBRARIES: Final = re.compile(
    rf"{_SCRIPT_NAMES}_[ \t]*=[ \t]*require\([\"']lodash[\"']\);?[ \t]*$"
    r"|^[ \t]*use[ \t]+(?:Test::Deep|Data::Compare)[ \t]*;[ \t]*$",
    re.MULTILINE,
)
"""Lines that bring what compared values."""
_FRAME: Final = re.compile(
    r"#[ \t]*(?:include|undef)\b[^\n]*|\bthrows[ \t]+[\w., ]+|\bset[ \t]+-[eu]+\b"
    rf"|{_SCRIPT_NAMES}assert[ \t]*=[ \t]*require\([^()]*\);?",
    re.MULTILINE,
)
_BRACKETS: Final = re.compile(r"\[\[|(?<![\w$])\[[ \t]|\btest[ \t]+[-$\"'\d]")
_FAILING: Final = r"assert\w*|throw|die|fail\w*|abort|_?exit|quit|expect\w*|raise"
_COMPARING: Final = r"equals?|compare|eq_deeply|is_deeply"
_BRANCHING: Final = r"if|unless|for|foreach|while|do|until|switch|case|try|catch|return[ \t]+(?!0\b)"
_CHECKING: Final = re.compile(
    rf"\b(?:{_FAILING}|{_COMPARING}|{_BRANCHING}|isEqual|deepEqual|goto|eval)\b|[=!]==?(?!=)|<=>|&&|\|\|",
    re.IGNORECASE,
)
