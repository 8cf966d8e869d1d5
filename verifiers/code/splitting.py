"""Splits a test that is one program with the solution: values are told in its process, and compared outside of it.

    assert(f(3) == 9);  ──►  tell(f(3));   in one program with the solution, which never holds a 9
                        └─►  tell(9);      in a program of its own, once for a task

So a solution can tell what it likes, but neither read what is expected nor decide what equals it. A test is split if all
that it checks has forms that are known here:

    assert(f(1) == 2)   assert f(1).equals(2)   assert.deepEqual(f(1), 2)   assert(abs(f(1) - 2.5) < 1e-4)
    if (!compare(x0, v0)) { throw ... }         if(eq_deeply(f(1), 2)) { print "ok!" } else { exit 1; }
    [[ $(f 1) = "2" ]]
    assert_eq!(f(1), 2)   lu.assertEquals(f(1), 2)   assert_equal(2, f(1))   assert(strcmp(f(1), "2") == 0)
    assert.Equal(t, 2, f(1))
    if (f(1) !== 2) { throw ... }   if x := f(1); x != 2 { t.Fatal(x) }   if(!identical(f(1), 2)){quit('no', 1)}   { actual: f(1), expected: 2 }

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

from msgspec import structs

from verifiers.code.cases import JoinedTest, Likeness, SplitTest
from verifiers.code.joining import MARK, joined
from verifiers.code.tellers import TELLERS


def split(test: JoinedTest) -> SplitTest | None:
    """The test in two programs; None if its text does not allow it."""
    if test.language not in TELLERS or MARK in test.source or test.is_quoted or len(test.source) > _MAX_CHARS:
        return None
    # Types of the test's own have an equality of their own: union Union_std_string_long { bool operator==(...) ... };
    if test.language in _UNREAD and _UNREAD[test.language].search(test.prompt + test.source):
        return None
    reader = _Reader(test)
    checks = reader.checks()
    if not checks or reader.checks_more(checks):
        return None
    teller = TELLERS[test.language]
    told = reader.telling(checks)
    if test.language in ("go", "go_test") and _has_unused(told):
        return None
    telling = structs.replace(test, source=told + teller.behind)
    statements = "\n".join(f"{teller.call.format(check.expected)}{_END[test.language]}" for check in checks)
    program = teller.before + teller.program.format(head=_head(test), statements=statements) + teller.behind
    if test.language in ("go", "go_test"):  # imports come first
        program = joined("", structs.replace(test, source=program, prompt=""))
    return SplitTest(telling, program, [check.likeness for check in checks])


_MAX_CHARS: Final = 12_000
"""About five milliseconds."""
_MAX_CHECKS: Final = 200
_UNREAD: Final = {
    "cpp": re.compile(r"\boperator\b|R\""),
    "rust": re.compile(r"\bb?r#*\"|\bimpl\b|\bmacro_rules\b"),
    # Several tests run in the order of their names.
    "rust_test": re.compile(r"\bb?r#*\"|\bimpl\b|\bmacro_rules\b|#\[(?:should_panic|ignore)|(?s:#\[test\].*#\[test\])"),
    "ruby": re.compile(r"<<[~-]?[\"'A-Z]|%[qQwWiIr]?[\[({<|/]"),
    "lua": re.compile(r"\[=*\["),
    "php": re.compile(r"<<<"),
}
"""Literals that are not read here, and types with an equality of their own."""


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
    if b'{"$":"u' in value + gold and any(
        _equals_modulo(_decoded(a), _decoded(b)) for a, b in ((value, gold), (gold, value))
    ):
        return True
    return likeness.is_loose and _equals_loosely(_decoded(value), _decoded(gold))


def _equals_modulo(large: Any, number: Any) -> bool:
    """Whether C's `==` holds between a large unsigned number and another: `UINT_MAX == -1`."""
    if not isinstance(large, dict) or type(number) is not int:
        return False
    bits = {"u32": 32, "u64": 64}.get(str(large.get("$")), 0)
    is_wrapped = bits > 0 and -(2 ** (bits - 1)) <= number < 0
    return bits > 0 and large.get("of") == (number + 2**bits if is_wrapped else number)


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
    removed: tuple[tuple[int, int], ...] = ()
    """What is left out besides: where the expected value's variable gets it, the frame of a table."""
    before: str = ""
    """A statement of the check's own before it."""


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
        if table := _GO_TABLE.search(self._text) if self._test.language == "go_test" else None:
            return self._rows(table)
        checks: list[_Check] = []
        end = 0
        for head in _HEADS[self._test.language].finditer(self._text):
            if head.start() < end:
                continue
            check = self._read(head)
            if check is None:
                return None
            checks.append(check)
            end = check.end
            if len(checks) > _MAX_CHECKS:
                return None
        return checks

    def telling(self, checks: Sequence[_Check]) -> str:
        """The test's text with the told values, and without any expected one."""
        call, end_of_statement = TELLERS[self._test.language].call, _END[self._test.language]
        edits = [
            (check.start, check.end, _after(check.before, call.format(check.actual) + end_of_statement))
            for check in checks
        ]
        edits += [(*removed, "") for check in checks for removed in check.removed]
        text = self._text
        for start, end, new in sorted(set(edits), reverse=True):
            text = text[:start] + new + text[end:]
        return _LIBRARIES.sub("", text)

    def checks_more(self, checks: Sequence[_Check]) -> bool:
        """Whether the test checks what is in none of the checks, or decides which of them are made."""
        remainder = self._text
        edits = {(check.start, check.end) for check in checks} | {edit for check in checks for edit in check.removed}
        for start, end in sorted(edits, reverse=True):
            remainder = remainder[:start] + remainder[end:]
        while helper := _HELPER.search(remainder):
            body = self._closed(remainder, helper.end(), "}")
            if body is None or _NEARLY.search(remainder, helper.end(), body):
                return True
            remainder = remainder[: helper.start()] + remainder[body + 1 :]
        if self._test.language == "bash" and _BRACKETS.search(remainder):
            return True
        if frame := _FRAMES.get(self._test.language):
            remainder = frame.sub("", remainder)
        return _CHECKING.search(_LIBRARIES.sub("", _FRAME.sub("", remainder))) is not None

    # --- one check

    def _read(self, head: re.Match[str]) -> _Check | None:
        if self._test.language == "bash":
            return self._bracketed(head)
        if self._test.language in ("go", "go_test"):
            return self._asserted_in_go(head) if head["testify"] else self._compared_in_go(head)
        return self._formed(head) if self._test.language in _FORMS else self._check(head)

    def _formed(self, head: re.Match[str]) -> _Check | None:
        """The check of a form in which a value and the expected one stand beside each other."""
        form = next(form for form in _FORMS[self._test.language] if form.head.match(self._text, head.start()))
        close = self._closed(self._text, head.end(), ")")
        tail = form.tail.match(self._text, close) if close is not None else None
        if close is None or tail is None:
            return None
        inside = self._text[head.end() : close]
        if form.separator == ",":
            operands = self._split(inside)[: 2 if form.has_message else None]
        elif form.separator:
            signs = [token for token in self._top_level(inside) if token[0] in _SIGNS]
            operands = [inside[: signs[0].start()], inside[signs[0].end() :]] if len(signs) == 1 else []
            operands = operands if operands and signs[0][0] == form.separator else []
        else:
            stated = self._stated(inside)
            return stated and self._related(head.start(), tail.end(), *stated)
        if len(operands) != 2:
            return None
        actual, expected = reversed(operands) if form.is_expected_first else operands
        return self._related(head.start(), tail.end(), actual.strip(), expected.strip(), Likeness())

    def _compared_in_go(self, head: re.Match[str]) -> _Check | None:
        """`if f(1) != 2 { panic(1) }`, `if x := f(1); !reflect.DeepEqual(x, []int{2}) { t.Fatal(x) }`."""
        opening = self._opening(head.end())
        tail = _FAILS_IN_GO.match(self._text, opening) if opening is not None else None
        if tail is None:
            return None
        inside = self._text[head.end() : opening]
        parts = [token.start() for token in self._top_level(inside) if token[0] == ";"]
        statement, condition = ("", inside) if not parts else (inside[: parts[0]].strip(), inside[parts[0] + 1 :])
        is_deep, operands = self._unequal_in_go(condition.strip())
        if len(operands) != 2:
            return None
        actual, expected = operands
        names = {*_WORD.findall(statement.partition(":=")[0])}
        if names & {*_WORD.findall(expected)} or _COMPARED.search(statement):
            return None
        if statement and (defined := _DEFINED_IN_GO.match(statement)) and defined["name"] == actual:
            statement, actual = "", statement[defined.end() :].strip()
        check = self._related(head.start(), tail.end(), actual, expected, Likeness())
        check = check and replace(check, before=statement)
        return _typed(check) if check is not None and is_deep else check

    def _asserted_in_go(self, head: re.Match[str]) -> _Check | None:
        """Testify's `assert.Equal(t, 2, f(1))`, and `assert.Equal(2, f(1))` behind `assert := assert.New(t)`."""
        pieces, close = self._pieces(head.end())
        end = _END_IN_GO.match(self._text, close + 1) if close is not None else None
        operands = pieces[1:] if pieces[:1] == ["t"] else pieces
        if end is None or len(operands) < 2:
            return None
        check = self._related(head.start(), end.end(), operands[1], operands[0], Likeness())
        return None if check is None else _typed(check)

    def _unequal_in_go(self, condition: str) -> tuple[bool, list[str]]:
        """Whether two values are compared with their types, and both; none if the condition is another one."""
        deep = "!reflect.DeepEqual("
        if condition.startswith(deep):
            is_whole = self._closed(condition, len(deep), ")") == len(condition) - 1
            return True, self._split(condition[len(deep) : -1]) if is_whole else []
        signs = [token for token in self._top_level(condition) if token[0] in _SIGNS]
        if len(signs) != 1 or signs[0][0] != "!=":
            return False, []
        return False, [condition[: signs[0].start()].strip(), condition[signs[0].end() :].strip()]

    def _opening(self, start: int) -> int | None:
        """Where the block of a statement opens, behind what it has in brackets."""
        depth = 0
        for match in self._strings.finditer(self._text, start):
            if match[0] == "{" and not depth:
                return match.start()
            depth += (match[0] in _OPENING) - (match[0] in _CLOSING)
            if depth < 0:
                return None
        return None

    def _rows(self, table: re.Match[str]) -> list[_Check] | None:
        """MultiPL-E's table for Go: `tests := []test{ { actual: candidate(1), expected: 2 }, ... }` and its loop."""
        table_end = self._closed(self._text, table.end(), "}")
        loop = _GO_LOOP.match(self._text, table_end + 1) if table_end is not None else None
        loop_end = self._closed(self._text, loop.end(), "}") if loop else None
        if table_end is None or loop is None or loop_end is None:
            return None
        body = "".join(self._text[loop.end() : loop_end].split())
        if not body.startswith("t.Run(") or body.count(_GO_DIFFERS) != 1 or len(re.findall(r"\bif|\|\||&&", body)) != 1:
            return None
        frame = ((table.start(), table.end()), (table_end, loop_end + 1))
        checks: list[_Check] = []
        at = table.end()
        while row := _GO_ROW.match(self._text, at):
            close = self._closed(self._text, row.end(), "}")
            operands = self._split(self._text[row.end() : close]) if close is not None else []
            if close is None or len(operands) < 2 or not operands[1].startswith("expected:") or any(operands[2:]):
                return None
            expected = operands[1].removeprefix("expected:").strip()
            at = close + 1 + (self._text[close + 1 : close + 2] == ",")
            check = self._related(row.start(), at, operands[0], expected, Likeness())
            if check is None:
                return None
            checks.append(replace(check, removed=frame))
        is_whole = not self._text[at:table_end].strip()
        return checks if is_whole and len(checks) <= _MAX_CHECKS else None

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
        removed: tuple[tuple[int, int], ...] = ()
        # assert(strcmp(f(1), "2") + 1 == 1) would have the program's own process compare
        if _COMPARED.search(actual):
            return None
        if _NAME.fullmatch(expected) and expected not in _CONSTANTS:
            assigned = self._assigned.get(expected)
            if (
                assigned is None
                or self._uses[expected] > 2
                or assigned.start() > start
                or not _END[self._test.language]
            ):
                return None
            close = self._closed(self._text, assigned.end(), ";")
            if close is None:
                return None
            removed = ((assigned.start(), close + 1),)
            expected = self._text[assigned.end() : close].strip()
        # assert(same(f(1), [2]) == true) would have the program's own process decide
        if expected.strip("() ") in _TRUTHS and not self._is_of_solution(actual):
            return None
        return _Check(start, end, actual, expected, likeness, removed)

    def _is_of_solution(self, actual: str) -> bool:
        """Whether a value is what one call of the solution returns, and nothing else, or a variable that holds it."""
        if _NAME.fullmatch(actual):
            assigned = self._assigned.get(actual)
            end = self._closed(self._text, assigned.end(), ";") if assigned is not None else None
            if assigned is None or end is None:
                return False
            actual = self._text[assigned.end() : end].strip()
        call = _CALL.match(actual)
        # assert_eq!(candidate(1) - 2, 0) would have the program's own process compute the verdict
        if call is None or self._closed(actual, call.end(), ")") != len(actual) - 1:
            return False
        name = call["name"]
        if name == "candidate" or actual.startswith("candidate."):
            return True
        return name not in self._defined and (not self._test.prompt or name in self._prompted)

    def _stated(self, condition: str) -> tuple[str, str, Likeness] | None:
        """The parts of a condition: `f(1) == 2`, `f(1).equals(2)`, `abs(f(1) - 2.5) < 1e-4`."""
        condition = self._bare(condition)
        if self._test.language in ("rust", "rust_test"):
            return self._stated_in_rust(condition)
        if text := _TEXTS_COMPARED.match(condition):
            # strcmp(f(1), "2") == 0, !strcmp(f(1), "2")
            close = self._closed(condition, text.end(), ")")
            is_equality = close is not None and _ZERO.fullmatch(condition, close + 1) is not None
            operands = self._split(condition[text.end() : close])
            if close is None or is_equality == bool(text["negated"]) or len(operands) != 2:
                return None
            return (operands[0], operands[1], Likeness()) if is_equality or close == len(condition) - 1 else None
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

    def _stated_in_rust(self, condition: str) -> tuple[str, str, Likeness] | None:
        """`f(1) == 2`, `(f(1) - 2.5).abs() < 1e-4`, `f(1)`, `!f(1)`"""
        signs = [token for token in self._top_level(condition) if token[0] in _SIGNS]
        if len(signs) == 1 and signs[0][0] == "==":
            return condition[: signs[0].start()].strip(), condition[signs[0].end() :].strip(), Likeness()
        close = self._closed(condition, 1, ")") if condition.startswith("(") else None
        limit = _BELOW_IN_RUST.fullmatch(condition, close + 1) if close is not None else None
        inside = condition[1:close]
        minus = [token for token in self._top_level(inside) if token[0] == "-" and inside[: token.start()].strip()]
        if limit and len(minus) == 1:
            return inside[: minus[0].start()], inside[minus[0].end() :], Likeness(tolerance=float(limit[1]))
        if signs or "<" in condition or ">" in condition:
            return None
        return condition.removeprefix("!"), str(not condition.startswith("!")).lower(), Likeness()

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


def _typed(check: _Check) -> _Check:
    """The check of Go that tells its values with their types."""
    typed = "rewardlineTyped({})".format
    return replace(check, actual=typed(check.actual), expected=typed(check.expected))


def _after(statement: str, check: str) -> str:
    return f"{{ {statement}; {check} }}" if statement else check


def _has_unused(told: str) -> bool:
    """Whether a variable of Go may be used only where a check failed: without a use it is not compiled."""
    defined = Counter(name for names in _NAMES_IN_GO.findall(told) for name in _WORD.findall(names) if name != "_")
    uses = Counter(_WORD.findall(told)) if defined else defined
    return any(uses[name] < 2 * count for name, count in defined.items())


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
_LITERALS.update(
    {
        **dict.fromkeys(("typescript",), _LITERALS["javascript"]),
        **dict.fromkeys(("c", "rust", "rust_test"), rf"{_DOUBLE}|'(?:\\[^\n]+?|[^'\\\n])'"),
        **dict.fromkeys(("go", "go_test"), rf"{_DOUBLE}|`[^`]*+`?|'(?:\\[^\n]+?|[^'\\\n])'"),
        **dict.fromkeys(("lua", "php", "r", "ruby"), rf"{_DOUBLE}|{_SINGLE}"),
    }
)
_END: Final = {name: "" if name in ("bash", "lua", "r", "ruby") else ";" for name in _LITERALS}
"""What ends a statement; nothing where a line does."""
_STRINGS: Final = {
    name: re.compile(rf"(?P<literal>{literals})|===|!==|[=!<>]=|&&|\|\||->|--|[()\[\]{{}},;?-]", re.DOTALL)
    for name, literals in _LITERALS.items()
}
_SLASHES: Final = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_HASH: Final = r"(?<!\S)#[^\n]*"
_REMARKS: Final = {
    **dict.fromkeys(("perl", "bash", "r", "ruby"), _HASH),
    "lua": r"--[^\n]*",
    "php": rf"{_SLASHES}|{_HASH}",
}
_COMMENTS: Final = {
    name: re.compile(rf"(?P<literal>{literals})|{_REMARKS.get(name, _SLASHES)}", re.DOTALL)
    for name, literals in _LITERALS.items()
}
_IMPORTS: Final = {
    "javascript": re.compile(r"(?!)"),
    "typescript": re.compile(r"^declare var require[^\n]*"),
    "perl": re.compile(r"(?!)"),
    "bash": re.compile(r"(?!)"),
    "cpp": re.compile(r"^[ \t]*(?:#[ \t]*include\b[^\n]*|using[ \t]+namespace\b[^\n;]*;)", re.MULTILINE),
    "java": re.compile(r"^[ \t]*import[ \t][^\n;]*;", re.MULTILINE),
    **dict.fromkeys(("rust", "rust_test"), re.compile(r"^[ \t]*use[ \t]+(?:std|core|alloc)\b[^\n;]*;", re.MULTILINE)),
    "ruby": re.compile(r"^[ \t]*require[ \t]+['\"]set['\"]", re.MULTILINE),
}
_IMPORTS.update(
    {name: _IMPORTS["cpp"] if name == "c" else re.compile(r"(?!)") for name in _LITERALS if name not in _IMPORTS}
)
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


@dataclass(frozen=True, slots=True)
class _Form:
    """How a check is written: a value and the expected one between a head and a tail."""

    head: re.Pattern[str]
    tail: re.Pattern[str]
    """Begins with what closes the head's bracket."""
    separator: str = ","
    """Between both; empty: it is a condition."""
    is_expected_first: bool = False
    has_message: bool = False
    """Whether more than the two may stand there."""


_FAILS_IN_GO: Final = re.compile(r"\{\s*(?:panic|os\.Exit|t\.(?:Error|Fatal|Fail)\w*)\([^{}]*\}(?!\s*else\b)")
_FAILS_IN_PHP: Final = re.compile(r"\)\s*(?:\{\s*(?:throw|die|exit)\b[^{}]*\}|(?:throw|die|exit)\b[^{};]*;)(?!\s*else)")
_DEFINED_IN_GO: Final = re.compile(r"(?P<name>\w+)[ \t]*:=")
_END_IN_GO: Final = re.compile(r"[ \t]*(?:;|$|(?=\}))", re.MULTILINE)
_NAMES_IN_GO: Final = re.compile(r"\b(\w+(?:[ \t]*,[ \t]*\w+)*)[ \t]*:=")
_FORMS: Final = {
    "c": (_Form(re.compile(r"(?<![.\w])assert[ \t]*\("), re.compile(r"\)[ \t]*;"), separator=""),),
    "rust": (
        _Form(re.compile(r"(?<![.\w])assert_eq![ \t]*\("), re.compile(r"\)[ \t]*;"), has_message=True),
        _Form(re.compile(r"(?<![.\w])assert![ \t]*\("), re.compile(r"\)[ \t]*;"), separator=""),
    ),
    "lua": (_Form(re.compile(r"(?<![.\w])(?:lu|luaunit)\.assertEquals\("), re.compile(r"\)[ \t]*;?(?=\s)")),),
    "php": (_Form(re.compile(r"\bif[ \t]*\("), _FAILS_IN_PHP, "!=="),),
    "r": (
        _Form(
            re.compile(r"\bif[ \t]*\([ \t]*![ \t]*identical\("),
            re.compile(r"\)[ \t]*\)[ \t]*\{?\s*(?:quit|stop)\([^{}()]*\)\s*\}?"),
        ),
        _Form(re.compile(r"\bstopifnot\([ \t]*identical\("), re.compile(r"\)[ \t]*\)")),
    ),
    "ruby": (
        _Form(
            re.compile(r"(?<![.\w])assert_equal[ \t]*\("),
            re.compile(r"\)[ \t]*(?=\n|$)"),
            is_expected_first=True,
            has_message=True,
        ),
    ),
}
_FORMS["rust_test"] = _FORMS["rust"]
_HEADS.update(
    dict.fromkeys(("go", "go_test"), re.compile(r"\bif[ \t]+|(?<![.\w])(?P<testify>(?:assert|require)\.Equal)\("))
)
_HEADS.update({name: re.compile("|".join(form.head.pattern for form in forms)) for name, forms in _FORMS.items()})
_SIGNS: Final = frozenset({"===", "!==", "==", "!=", "<=", ">=", "&&", "||"})
_GO_TABLE: Final = re.compile(
    r"\btype[ \t]+test[ \t]+struct[ \t]*\{(?:[^{}]|\{\})*\}\s*tests[ \t]*:=[ \t]*\[\]test[ \t]*\{"
)
_GO_LOOP: Final = re.compile(r"\s*for[ \t]+\w+,[ \t]*tc[ \t]*:=[ \t]*range[ \t]+tests[ \t]*\{")
_GO_ROW: Final = re.compile(r"\s*\{[ \t]*actual:[ \t]*")
_GO_DIFFERS: Final = 'iffmt.Sprintf("%v",tc.actual)!=fmt.Sprintf("%v",tc.expected){t.Errorf('
_TEXTS_COMPARED: Final = re.compile(r"(?P<negated>!)?[ \t]*(?:std::)?strcmp[ \t]*\(")
_ZERO: Final = re.compile(r"[ \t]*==[ \t]*0")
_BELOW_IN_RUST: Final = re.compile(r"\.abs\(\)[ \t]*<[ \t]*((?:\d+(?:\.\d*)?)(?:[eE]-?\d+)?)(?:_?f(?:32|64))?")
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
_CONSTANTS: Final = frozenset(
    {"true", "false", "null", "undefined", "nullptr", "NaN", "None", "NULL", "nil", "TRUE", "FALSE", "NA"}
)
_TRUTHS: Final = frozenset({"true", "false", "TRUE", "FALSE", "0", "1", '""', "!0", "!1"})
_COMPARED: Final = re.compile(
    r"\b(?:str\w*cmp|memcmp|equals?|compare|isEqual|deepEqual|identical|DeepEqual|EqualFold)[ \t]*\("
)
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
_TESTIFY: Final = (
    r"^[ \t]*(?:import[ \t]+)?\"github\.com/stretchr/testify/\w+\"[ \t]*$"
    r"|^[ \t]*\w+[ \t]*:=[ \t]*(?:assert|require)\.New\(t\)"
)
_LIBRARIES: Final = re.compile(
    rf"{_SCRIPT_NAMES}_[ \t]*=[ \t]*require\([\"']lodash[\"']\);?[ \t]*$"
    r"|^[ \t]*use[ \t]+(?:Test::Deep|Data::Compare)[ \t]*;[ \t]*$"
    rf"|{_TESTIFY}",
    re.MULTILINE,
)
"""Lines that bring what compared values."""
_FRAME: Final = re.compile(
    r"#[ \t]*(?:include|undef)\b[^\n]*|\bthrows[ \t]+[\w., ]+|\bset[ \t]+-[eu]+\b"
    rf"|{_SCRIPT_NAMES}assert[ \t]*=[ \t]*require\([^()]*\);?",
    re.MULTILINE,
)
_FRAMES: Final = {
    "php": re.compile(r"\bfunction[ \t]+candidate\(\.\.\.\$args\)[ \t]*\{\s*return[ \t]+\w+\(\.\.\.\$args\);\s*\}"),
    "lua": re.compile(r"\bos\.exit\([ \t]*\w+\.LuaUnit\.run\([^()]*\)[ \t]*\)"),
}
"""More of what tests of a language have around their checks: `function candidate(...$args) { return f(...$args); }`"""
_BRACKETS: Final = re.compile(r"\[\[|(?<![\w$])\[[ \t]|\btest[ \t]+[-$\"'\d]")
_FAILING: Final = r"assert\w*|throw|die|fail\w*|abort|_?exit|quit|expect\w*|raise"
_COMPARING: Final = r"equals?|compare|eq_deeply|is_deeply"
_BRANCHING: Final = r"if|unless|for|foreach|while|do|until|switch|case|try|catch|return[ \t]+(?!0\b)"
_CHECKING: Final = re.compile(
    rf"\b(?:{_FAILING}|{_COMPARING}|{_BRANCHING}|isEqual|deepEqual|goto|eval)\b|[=!]==?(?!=)|<=>|&&|\|\|",
    re.IGNORECASE,
)
