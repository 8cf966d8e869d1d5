r"""Which mistakes are found in a wrong answer: two examples and a near miss of each, laws, and hostile input."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.growth import ends
from tests.tables import table
from verifiers.commitment import ExtractionParams, extract
from verifiers.math.patterns import find
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.responses import of_extraction, of_outcome
from verifiers.math.patterns.rules import Context
from verifiers.math.reader import read
from verifiers.math.tree import Node, TooComplex, Unreadable

NOTHING = Context()


def codes(reference: str, answer: str, context: Context = NOTHING) -> set[str]:
    return {pattern.code.value for pattern in find(read(reference), read(answer), context)}


OF_VALUES: Sequence[tuple[str, Sequence[tuple[str, str]], Sequence[tuple[str, str]]]] = (
    (
        "SIGN",
        [("3", "-3"), (r"\sqrt{2}", r"-\sqrt2"), ("x+1", "-x-1"), ("x=-5", "5"), ("3 - a", "a - 3")],
        [("3", "3"), ("3", "-4"), ("x+1", "x-1"), ("0", "0")],
    ),
    (
        "PERCENT",
        [("0.25", "25"), (r"\frac{1}{4}", r"0.25\%"), (r"\sqrt{2}", r"100\sqrt{2}")],
        [("0.25", "250"), (r"50\%", "0.5"), (r"50\%", "50")],
    ),
    ("POWER10", [("1.5", "1500"), (r"3\pi", r"0.3\pi"), ("7", "7000000000")], [("7", "70000000000"), ("7", "14")]),
    ("OFF_BY_ONE", [("7", "8"), ("0", "-1"), ("2^n", "2^n-1")], [("7", "9"), ("1/2", "3/2"), (r"\pi", r"\pi+1")]),
    ("FACTOR_TWO", [("8", "16"), (r"\pi", r"\frac{\pi}{2}"), ("x^2", "2x^2")], [("8", "24"), ("8", "-4")]),
    (
        "ROUNDING",
        [("1/3", "0.33"), ("1/3", "0.333"), (r"\pi", "3.14"), ("12.7", "12"), ("2/3", "0.67")],
        [("1/3", "0.3"), (r"\pi", "3"), ("100", "101"), ("1/3", "0.36"), ("x", "x+0.001")],
    ),
)
OF_STRUCTURES: Sequence[tuple[str, Sequence[tuple[str, str]], Sequence[tuple[str, str]]]] = (
    (
        "ORDER",
        [("(1,2)", "(2,1)"), ("2:3", "3:2"), ("A(1,0,-1)", "(0,1,-1)")],
        [("(1,2)", "(1,3)"), ("1,2", "2,1"), (r"\{1,2\}", r"\{2,1\}")],
    ),
    (
        "INTERVAL_END",
        [
            ("[1,2]", "(1,2]"),
            ("x>3", r"x \ge 3"),
            ("(0,1)", "[0,1]"),
        ],
        [("[1,2]", "(1,3]"), ("(1,2)", "(2,1)")],
    ),
    ("DIRECTION", [("x>3", "x<3"), (r"y \ge 2", r"y \le 2")], [("x>3", "x<4"), ("1<x<3", "x<3")]),
    (
        "MISSING_ELEMENT",
        [
            ("1,2,3", "1,2"),
            (r"\pm 2", "2"),
            (r"x=1 \text{ or } x=2", "x=1"),
            (r"(0,1)\cup(2,3)", "(0,1)"),
            ("(1,2,3)", "(1,2)"),
        ],
        [("1,2", "1,2,3"), ("1,2", "3,4"), ("1", "2")],
    ),
    (
        "EXTRA_ELEMENT",
        [("1,2", "1,2,3"), ("2", r"\pm 2"), (r"\{1,2\}", r"\{1,2,5\}"), ("(1,2)", "(1,2), (2,1)")],
        [("1,2", "1"), ("1,2", "3,4")],
    ),
    (
        "UNIT_MISMATCH",
        [(r"5\text{ cm}", r"5\text{ m}"), (r"5\text{ minutes}", r"5\text{ hours}"), (r"5\text{ m}", r"500\text{ cm}")],
        [(r"5\text{ m}", r"6\text{ m}"), (r"5\text{ m}", r"5\text{ s}"), (r"5\text{ m}", r"5\text{ m}")],
    ),
    ("UNIT_MISSING", [(r"5\text{ cm}", "5"), (r"30^\circ", "30")], [(r"5\text{ cm}", "6"), ("5", r"5\text{ cm}")]),
    (
        "DIMENSION_MISMATCH",
        [(r"5\text{ m}", r"5\text{ s}"), (r"20\text{ kg}", r"20\text{ cm}")],
        [(r"5\text{ m}", r"5\text{ cm}")],
    ),
)


@table(
    ("code", "reference", "answer"), [(code, *pair) for code, hits, _ in (*OF_VALUES, *OF_STRUCTURES) for pair in hits]
)
def test_a_mistake_is_found(code: str, reference: str, answer: str) -> None:
    assert code in codes(reference, answer)


@table(
    ("code", "reference", "answer"),
    [(code, *pair) for code, _, misses in (*OF_VALUES, *OF_STRUCTURES) for pair in misses],
)
def test_what_is_nearly_that_mistake_is_not(code: str, reference: str, answer: str) -> None:
    assert code not in codes(reference, answer)


# --- the mistakes beside the values


def test_values_are_compared_inside_what_holds_them() -> None:
    (pattern,) = find(read("(1,2,3)"), read("(1,-2,3)"), NOTHING)
    assert pattern == Pattern(Code.SIGN, "element 2: -2 is minus 2")
    assert codes("1,2", "-1,-2") == {"SIGN"}
    assert codes("x>3", "x>-3") == {"SIGN"}
    assert codes(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&2\\3&-4\end{pmatrix}") == {"SIGN"}
    assert codes("x^2+y^2=4", "x^2+y^2=-4") == {"SIGN"}
    assert "POWER10" in codes(r"5\text{ m}", r"50\text{ cm}")


def test_rounding_is_named_only_where_nothing_else_is() -> None:
    assert codes("100", "101") == {"OFF_BY_ONE"}
    assert codes("1000", "1003") == {"ROUNDING"}


def test_the_power_of_ten_is_given() -> None:
    (pattern,) = find(read("4.2"), read("0.0042"), NOTHING)
    assert pattern.as_json() == {"code": "POWER10", "detail": "0.0042 is 4.2 · 10^-3"}


def test_lists_are_out_of_order_only_where_order_was_asked_for() -> None:
    assert codes("1,2,3", "1,3,2", Context(ordered=True)) == {"ORDER"}
    assert codes("1,2,3", "1,2,3", Context(ordered=True)) == set()


def test_what_is_not_simplified() -> None:
    simplified = Context(form="simplified", right=True)
    for reference, answer in ((r"\frac{1}{2}", r"\frac{2}{4}"), (r"2\sqrt{2}", r"\sqrt{8}"), ("5,6", "2+3, 6")):
        assert codes(reference, answer, simplified) == {"UNSIMPLIFIED"}
    assert codes("1/2", "2/4", Context(form="simplified")) == {"UNSIMPLIFIED"}
    assert codes("1/2", "2/4", NOTHING) == set()
    assert codes("1/2", "1/2", simplified) == set()
    assert codes("1/2", "2/3", Context(form="simplified")) == set()


def test_stopping_at_a_step() -> None:
    context = Context(steps=["3x = 14 - 5", "3x = 9", "x = 3", "nonsense (("])
    assert "STOPPED_EARLY" in codes("3", "9", context)
    assert "STOPPED_EARLY" in codes("(1,2)", "(1,7)", Context(steps=["(1,7)"]))
    assert "STOPPED_EARLY" not in codes("3", "8", context)
    assert "STOPPED_EARLY" not in codes("3", "3", context)
    assert "STOPPED_EARLY" not in codes("9", "9", context)


def test_giving_back_a_number_of_the_question() -> None:
    context = Context(question=r"A train of 1,200 m goes -3.5 m/s and then \frac{3}{4} of that. How long?")
    for answer in ("1200", "3.5", "-3.5", r"\frac{6}{8}"):
        assert "COPIED_INPUT" in codes("57", answer, context)
    for answer in ("1201", "x", "0"):
        assert "COPIED_INPUT" not in codes("57", answer, context)
    assert "COPIED_INPUT" not in codes("1200", "1200", context)


FALSE_EQUATIONS = (
    "So 3 + 4 = 8.",
    "3 + 4 = 8",
    "- 3 + 4 = 8 apples",
    "First we add:\n* 2 * 6 = 13",
    r"We get \(12 \times 3 = 35\) in all.",
    r"$$\frac{1}{2} + \frac{1}{3} = \frac{2}{5}$$",
    "x = 3 + 4 = 8",
    "<<5*3=16>>16",
    "She pays $5 + $3 = $9.",
    "That makes 1,000 + 500 = 1,600.",
    "2 x 3 = 7",
    "Now 2^3 = 6, so",
    "5! = 100",
    "1.5 + 1.6 = 3.2",
    "good: 1 + 1 = 2, then 2 + 2 = 5",
    r"\begin{align} x &= 3 \cdot 4 = 13 \\ y &= 2 \end{align}",
)
NO_FALSE_EQUATIONS = (
    "So 3 + 4 = 7.",
    "2x + 3 = 5",
    "x 3 + 4 = 8",
    "20% of 50 + 3 = 13",
    "12:30 + 45 = 1:15",
    "- 3 + 4 = 1",
    "- 3 + 4 = 7",
    r"7 + 8 = 3 \pmod{12}",
    "7 + 8 = 3 (mod 12)",
    r"2\sqrt{16} = 8",
    "f(2) = 3",
    "C(5, 2) = 10",
    "101_2 + 1_2 = 110_2",
    "22/7 = 3.14",
    "1/3 = 0.333",
    "200/3 = 67",
    "50/200 = 25%",
    "0.2 * 50 = 10%",
    "60 = 1 hour",
    "2 * 30 = 1 hour",
    "5 * 200000 = 1 million",
    "13/4 = 3 R 1",
    "3 + 4 = 7!",
    "3 + 4 = 7 - x",
    "12 lions * 1/2 = 6 lions",
    "5 choose 2 * 3 = 30",
    r"\sin 30 + 1 = 1.5",
    "2 + 2 == 5",
    "2 + 2 != 5",
    "= = =",
    "9^9^9 = 1 + 1",
    "",
)


@table("response", FALSE_EQUATIONS)
def test_a_false_equation_between_numbers_is_found(response: str) -> None:
    assert "ARITHMETIC" in codes("111", "222", Context(response=response))


@table("response", NO_FALSE_EQUATIONS)
def test_what_may_be_meant_otherwise_is_no_false_equation(response: str) -> None:
    assert "ARITHMETIC" not in codes("111", "222", Context(response=response))


def test_the_first_false_equation_is_reported() -> None:
    patterns = find(read("111"), read("5"), Context(response="1 + 1 = 2. 2 + 2 = 5. 3 + 3 = 7."))
    assert patterns == [Pattern(Code.ARITHMETIC, "2 + 2 is not 5")]


# --- the response


def of(response: str, **params: object) -> set[str]:
    extraction = extract(response, ExtractionParams.model_validate(params))
    return {pattern.code.value for pattern in of_extraction(extraction, response)}


@table(
    ("code", "hits", "misses"),
    [
        ("EMPTY", ["", "<think>a</think>  "], ["5"]),
        ("NO_ANSWER", ["I do not know.", r"\boxed{}"], [r"\boxed{5}", ""]),
        ("TRUNCATED", ["<think>a 5", r"so \boxed{5", "<answer>5", "```\n\\boxed{5}"], [r"\boxed{5}", "```\n5\n``` 5"]),
        (
            "THINK_MALFORMED",
            [r"<think><think>a</think>\boxed{5}", r"a</think>b</think>\boxed{5}"],
            [r"<think>a</think>\boxed{5}", r"a</think>\boxed{5}", "<think>a", "5"],
        ),
        (
            "CONFLICTING_ANSWERS",
            [
                r"\boxed{1} or \boxed{2}",
                r"\boxed{1}. Wait, that is wrong: the answer must be \boxed{2}",
                "Answer: 1 or 2",
            ],
            [r"\boxed{1} and \boxed{2}", r"\boxed{0.5}. That is \boxed{\frac{1}{2}}", "3 + 4 and then 5", r"\boxed{1}"],
        ),
    ],
)
def test_what_is_wrong_with_a_response(code: str, hits: Sequence[str], misses: Sequence[str]) -> None:
    for response in hits:
        assert code in of(response), response
    for response in misses:
        assert code not in of(response), response


def test_an_answer_that_was_not_read() -> None:
    assert [pattern.code for pattern in of_outcome("unparseable", "3 4")] == [Code.UNPARSEABLE]
    assert [pattern.code for pattern in of_outcome("too_complex")] == [Code.UNPARSEABLE]
    assert of_outcome("different") == []


# --- laws

NUMBERS = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)
FORMULAS = st.recursive(
    st.sampled_from(["x", "y", "2", "3", "0.5", r"\pi", r"\sqrt{2}", "n", "7"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}+{pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}-{pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}}"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]})({pair[1]})"),
    ),
    max_leaves=6,
)
ANSWERS = st.one_of(
    FORMULAS,
    st.lists(FORMULAS, min_size=2, max_size=4).map(", ".join),
    st.lists(FORMULAS, min_size=2, max_size=4).map(lambda items: f"({', '.join(items)})"),
    st.lists(FORMULAS, min_size=2, max_size=4).map(lambda items: rf"\{{{', '.join(items)}\}}"),
    FORMULAS.map(lambda formula: f"x = {formula}"),
    FORMULAS.map(lambda formula: f"x > {formula}"),
    FORMULAS.map(lambda formula: rf"{formula} \text{{ cm}}"),
)
RICH = Context(question="1 2 3 0.5 7", steps=["x = 2", "3", r"\pi"], response="2 + 2 = 5", form="simplified")


def num(value: Fraction) -> Node:
    return Node("num", leaf=value)


def found(reference: Node, answer: Node) -> set[Code]:
    return {pattern.code for pattern in find(reference, answer, NOTHING)}


@given(value=NUMBERS)
def test_the_opposite_of_a_number_is_a_sign(value: Fraction) -> None:
    assume(value)
    assert Code.SIGN in found(num(value), Node("neg", (num(value),)))
    assert Code.SIGN in found(num(value), num(-value))


@given(value=NUMBERS, k=st.integers(-9, 9))
def test_a_power_of_ten_is_one(value: Fraction, k: int) -> None:
    assume(value and k)
    codes = found(num(value), num(value * Fraction(10) ** k))
    assert Code.POWER10 in codes
    assert (Code.PERCENT in codes) == (abs(k) == 2)


@settings(max_examples=60, deadline=None)
@given(formula=FORMULAS)
def test_the_opposite_of_an_expression_is_a_sign(formula: str) -> None:
    reference = read(formula)
    answer = Node("neg", (reference,))
    assert find(reference, answer, NOTHING) == [] or Code.SIGN in found(reference, answer)


@settings(max_examples=60, deadline=None)
@given(answer=ANSWERS)
def test_a_right_answer_shows_no_mistake_but_its_form(answer: str) -> None:
    reference = read(answer)
    assert find(reference, reference, NOTHING) == []
    assert {pattern.code for pattern in find(reference, reference, RICH)} <= {Code.UNSIMPLIFIED}


@settings(max_examples=60, deadline=None)
@given(reference=ANSWERS, answer=ANSWERS)
def test_the_diagnosis_is_the_same_each_time_and_in_the_order_of_the_codes(reference: str, answer: str) -> None:
    patterns = find(read(reference), read(answer), RICH)
    assert patterns == find(read(reference), read(answer), RICH)
    order = [list(Code).index(pattern.code) for pattern in patterns]
    assert order == sorted(set(order))
    assert all(0 < len(pattern.detail) <= 160 for pattern in patterns)


@given(response=st.text(alphabet="0123456789+-*/^()=.,%!$ \n\\abx", max_size=80))
def test_any_response_can_be_searched_for_equations(response: str) -> None:
    patterns = find(num(Fraction(1)), num(Fraction(5)), Context(question=response, response=response))
    assert {pattern.code for pattern in patterns} <= {Code.ARITHMETIC, Code.COPIED_INPUT}


@given(response=st.text(alphabet="<>/think `\\boxed{}12 or\n", max_size=80))
def test_any_response_has_a_diagnosis(response: str) -> None:
    for pattern in of_extraction(extract(response, ExtractionParams()), response):
        assert pattern.as_json().keys() == {"code", "detail"}


# --- hostile input

HOSTILE = (
    "9" * 4000,
    "0." + "3" * 3000,
    "9^{9^{9^9}}",
    "2^{90000}",
    "(10^4)!",
    r"\sin(10^{5000})",
    "(" * 28 + "x" + ")^2" * 28,
    "+".join(f"x^{{{n}}}" for n in range(2, 300)),
    "+".join(f"\\frac{{1}}{{{n}}}" for n in range(2, 300)),
    r"+".join(rf"\sin(x_{n})" for n in range(60)),
    "x!" + "y!" * 40,
    r"\binom{x}{y}" * 10,
    ",".join(str(n) for n in range(190)),
    "(" + ",".join(rf"\sqrt{{{n}}}" for n in range(2, 120)) + ")",
    r"\{" + ",".join(rf"\sqrt{{{n}}}+x" for n in range(2, 26)) + r"\}",
    r"\cup".join(rf"(\sqrt{{{n}}}, {n})" for n in range(2, 60)),
    "*".join(["(a+b+c+d+e+f)"] * 30),
    r"\pm " * 10 + "1",
    "1_{36}",
    r"x^{x^{x^{x}}}",
    r"5\text{ m}" * 2,
)


def readable(text: str) -> Node | None:
    try:
        return read(text)
    except (Unreadable, TooComplex):
        return None


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_pair_of_answers_costs_much(text: str) -> None:
    node = readable(text)
    if node is None:
        node = read("(x+1)^{12}")
    for reference, answer in ((read("5"), node), (node, read("x+1")), (node, Node("neg", (node,)))):
        ends(partial(find, reference, answer, RICH))


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize(
    "response",
    [
        "1+1=3x" * 50_000,
        "=" * 200_000,
        "1" * 200_000 + "=1+1",
        "1+" * 100_000 + "1=1",
        "7^33=5^44+1\n" * 5_000,
        "99!/98!=99\n" * 5_000,
        "(((((1)))))+1=2\n" * 5_000,
        "$1+1=2$ " * 20_000,
        "1,111" * 40_000 + "=1+1",
        "\\frac" * 40_000 + "=1",
        "<think>" * 30_000,
        "\\boxed{1}" * 20_000,
    ],
)
def test_no_response_costs_much(response: str) -> None:
    context = Context(question=response, response=response)
    ends(lambda: find(num(Fraction(1)), num(Fraction(5)), context))
    extraction = extract(response, ExtractionParams())
    ends(lambda: of_extraction(extraction, response))


def test_numbers_too_long_to_write_out_are_not() -> None:
    huge = Node("based", (num(Fraction(10**5000)),), leaf="1_36")
    assert Code.SIGN not in found(huge, Node("neg", (huge,)))
    (pattern,) = find(Node("list", (num(Fraction(1)), huge)), num(Fraction(1)), NOTHING)
    assert pattern.code == Code.MISSING_ELEMENT
    assert "bits" in pattern.detail
