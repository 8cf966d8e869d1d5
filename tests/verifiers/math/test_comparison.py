"""Which structures are the same answer: lists, names, sets, tuples, relations, ratios. Values are in test_grading."""

from typing import Any

import pytest

from tests.tables import table
from verifiers.math import values
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT, Options
from verifiers.math.tree import Node


def outcome(reference: str, answer: str, options: Options = DEFAULT) -> Any:
    return grade([[reference], answer, options.packed()])["outcome"]


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"1 \text{ and } 2", r"1 \text{ or } 2"),
        (r"x=1 \text{ and } x=2", r"x=2 \text{ or } x=1"),
        (r"p\lor q", r"q\lor p"),
        ("x=1, y=2", "y=2, x=1"),
        ("x=1, y=2", "1, 2"),
        ("(1,2)", "y=2, x=1"),
        ("x_1=2, x_2=3", "3, 2"),
        ("x_1=2, x_2=3", "x_1=3, x_2=2"),
        ("x_1=2, x_2=3", r"\{2,3\}"),
        ("x=1, 2", r"\{1,2\}"),
        ("8 boys, 5 girls", "5 girls, 8 boys"),
        ("8 boys, 5 girls", "8, 5"),
        (r"\{1,2,2\}", r"\{1,2\}"),
        (r"\{1,2\}\cup\{3\}", r"\{1,2,3\}"),
        (r"\{2\}", r"\{1,2\}\cap\{2,3\}"),
        ("5", r"5 \text{ or } 5"),
        ("(1,2)", r"\{(1,2)\}"),
        ("(1,2)", "(y,x)=(2,1)"),
        ("A(1,2)", "(1,2)"),
        ("(1,2)", "P(1,2)"),
        (r"1,2,\ldots,5", "1,2,3,4,5"),
        (r"1,2,\ldots,n", r"1,2,3,\ldots,n-1,n"),
        ("3:4", "6:8"),
        ("3:4", r"\frac34"),
        ("3:4", "AB:BC=3:4"),
        ("(1+4t,2+5t)", "(1,2)+t(4,5)"),
        (
            r"\begin{pmatrix}2&1\\4&3\end{pmatrix}",
            r"\begin{pmatrix}1&2\\3&4\end{pmatrix}\begin{pmatrix}0&1\\1&0\end{pmatrix}",
        ),
        ("-2", r"\begin{vmatrix}1&2\\3&4\end{vmatrix}"),
    ],
)
def test_the_same_elements(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (r"x=1 \text{ and } y=2", r"x=1 \text{ or } y=2"),
        (r"x>0 \text{ and } y>0", r"x>0 \text{ or } y>0"),
        (r"p\lor q", r"p\land q"),
        ("(1,2)", r"x=1 \text{ or } x=2"),
        ("(1,2)", "x=1, x=2"),
        ("x=1, y=2", "2, 1"),
        ("x=1, y=2", r"\{1,2\}"),
        ("x=1, y=2", "x=2, y=1"),
        ("x=1, 2", "x=1, y=2"),
        ("A=30, B=60", "60, 30"),
        ("a_1=1,a_2=2,a_3=3", "3,2,1"),
        ("8 boys, 5 girls", "5, 8"),
        (r"\text{True}, \text{False}", r"\text{False}, \text{True}"),
        (r"\{\emptyset\}", r"\emptyset"),
        ("1,2,2", "1,2"),
        ("C(5,2)", "P(5,2)"),
        ("(0,1)", "N(0,1)"),
        ("A(1,2)", "B(1,2)"),
        ("F(x,y)", "G(x,y)"),
        (r"1,2,\ldots,10", r"1,3,\ldots,9"),
        (r"1,2,\ldots,n", r"1,2,\ldots,m"),
        ("3:4", "4:3"),
        ("3:45", "1:15"),
        (r"\vec{a}\times\vec{b}", r"\vec{b}\times\vec{a}"),
        (r"\vec{a}\times\vec{b}", r"\vec{a}\cdot\vec{b}"),
        (r"\nabla\times F", r"\nabla\cdot F"),
        (r"\mathbb{R}\times\mathbb{Z}", r"\mathbb{Z}\times\mathbb{R}"),
        ("(2,4)", "2(1,3)"),
    ],
)
def test_not_the_same_elements(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"
    assert outcome(answer, reference) == "different"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("2x", "f'(x)=2x"),
        ("4", r"\phi(12)=4"),
        ("4", r"\frac{d^2y}{dx^2}=4"),
        (r"\begin{pmatrix}1&0\\0&1\end{pmatrix}", r"A^{-1}=\begin{pmatrix}1&0\\0&1\end{pmatrix}"),
        ("55", r"\sum_{k=1}^{10} k=55"),
        ("-2", r"\begin{vmatrix}1&2\\3&4\end{vmatrix}=-2"),
        (r"\frac12", r"\sin A=\frac12"),
        ("5", "5=x"),
        ("6", "S=ab=6"),
        ("x+1", r"\frac{x^2-1}{x-1}=x+1"),
        ("P=100t", "P(t)=100t"),
        ("y=x^2", "f(x)=x^2"),
        ("f(x)=x^2", "f(t)=t^2"),
        ("a_n=2n+1", "a(n)=2n+1"),
        (r"\frac{dy}{dx}=2x", "y'=2x"),
    ],
)
def test_what_is_named_on_the_left_has_the_value_on_the_right(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("10", "2x=10"),
        ("4", "|x|=4"),
        (r"\frac12", r"\sin x=\frac12"),
        ("f(x)=x+1", "f(x)=x-1=x+1"),
        ("f(x)=x^2", "g(x)=x^2"),
        ("f(x)=x^2", "f(t)=x^2"),
        ("y(0)=1", "y(0)=2"),
        ("f'(0)=1", "f'(0)=5"),
    ],
)
def test_what_is_no_assignment_or_another_one(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("xy=1", "y=1/x", "equal"),
        ("y=1/x", "xy=1", "equal"),
        ("(x-2)y=x", r"y=\frac{x}{x-2}", "equal"),
        ("xy=x", "y=1", "different"),
        ("y^2=1", "y=1", "different"),
        ("2f(0)=2", "f(0)=1", "equal"),
        ("a>2b", "b<a/2", "equal"),
        ("a>2b", "b>a/2", "different"),
    ],
)
def test_equations_have_the_same_solutions(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\frac{40}{3}", r"\frac{40}{3}\approx 13.33", "equal"),
        (r"\frac{40}{3}", r"\frac{40}{3}\approx 12", "different"),
        ("5", r"4\approx 5", "different"),
        ("13.33", r"x=\frac{40}{3}\approx 13.33", "equal"),
        (r"\frac{40}{3}\approx 13.33", r"\frac{40}{3}\approx 14.33", "different"),
        (r"\approx 4.09", "4.089", "equal"),
        (r"\approx 4.09", r"\approx 4.08", "different"),
        (r"\approx 4.09", "4", "different"),
        (r"x\approx 4.12", r"\sqrt{17}", "equal"),
        (r"x\approx 4.12", r"y\approx 4.12", "different"),
        (r"\sqrt{17}", r"\approx 4.12", "different"),
    ],
)
def test_a_decimal_counts_to_its_last_digit(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected


def test_order_counts_where_it_is_asked_for() -> None:
    assert outcome("1, 2", "2, 1") == "equal"
    assert outcome("1, 2", "2, 1", Options(ordered=True)) == "different"


def test_partners_in_a_long_list_are_found_by_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = [rf"x+\sqrt{{{n}}}" for n in range(2, 62)]
    reference, answer = ", ".join(terms), ", ".join(reversed(terms))
    assert outcome(reference, "x") == "different"  # the reference is checked once, and kept
    asked: list[Node] = []
    same = values.same

    def counted(one: Node, two: Node) -> bool:
        asked.append(two)
        return same(one, two)

    monkeypatch.setattr(values, "same", counted)
    assert outcome(reference, answer) == "equal"
    assert len(asked) < 3 * len(terms)


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("H, T, T, H", "HTTH", "equal"),
        ("HTTH", "(H,T,T,H)", "equal"),
        ("HTTH", "H, H, T, T", "different"),
        ("HTTH", "H, T, T", "different"),
        ("n is odd", "n odd", "equal"),
        ("n is odd", r"\text{odd } n", "equal"),
        (r"n \text{ is even}", "n must be an even integer", "equal"),
        (r"\text{for all odd } n", "$n$ is odd", "equal"),
        ("n is odd", "n is even", "different"),
        ("n is odd", "n is not odd", "different"),
        ("n is odd", "m is odd", "different"),
        ("p is prime", "p is a prime number", "equal"),
        (r"\mathbb{Z}/2\mathbb{Z}", r"\mathbb{Z}_2", "equal"),
        (r"\mathbb{Z}_{12}", r"\mathbb Z/12\mathbb Z", "equal"),
        (r"\mathbb{Z}/n\mathbb{Z}", r"\mathbb{Z}/(n)", "equal"),
        (r"(\mathbb{Z}/2)\times\mathbb{Z}_4", r"\mathbb{Z}/2\mathbb{Z}\times\mathbb{Z}/4\mathbb{Z}", "equal"),
        (r"\mathbb{Z}/2\mathbb{Z}", r"\mathbb{Z}_3", "different"),
        (r"\mathbb{Z}/2\mathbb{Z}", r"\mathbb{Z}", "different"),
        (r"\mathbb{Z}/2\mathbb{Z}", r"2\mathbb{Z}", "different"),
    ],
)
def test_notations_of_one_word_one_statement_and_one_group(reference: str, answer: str, expected: str) -> None:
    assert outcome(reference, answer) == expected
    assert outcome(answer, reference) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("True", "Yes", "equal"),
        ("False", "No", "equal"),
        ("Yes", "wahr", "equal"),
        ("True", "No", "different"),
        ("No", "0", "different"),
        ("right", "true", "different"),
        ("no solution", "No", "different"),
        ("(b)", r"(b) $\theta^2$", "equal"),
        ("(a)", "(a) Color 1", "equal"),
        ("(a)", "(a) and (b)", "different"),
        ("(a)", "(a) or b", "different"),
        ("(a)", "(a) + 1", "different"),
        ("a", "(a) Color 1", "different"),
    ],
)
def test_truths_and_letters_of_choices_are_given_as_data_sets_and_models_do(
    reference: str, answer: str, expected: str
) -> None:
    """TheoremQA (MIT) has references `True` and `(b)`; models answer "Yes", and a choice with its text."""
    assert grade([[reference], answer, DEFAULT.packed()])["outcome"] == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (r"\ddot{x}=-\omega^2x", r"\frac{d^2x}{dt^2}=-\omega^2x", "equal"),
        (r"\ddot{x}=-\omega^2x", r"\frac{dx}{dt}=-\omega^2x", "different"),
        (r"\dot{y}=y", "y'=y", "equal"),
        (r"\frac{\ell}{2}", r"\frac{l}{2}", "equal"),
        ("l^2", r"\ell^2", "equal"),
        (r"l+\ell", "2l", "different"),
        ("[1,2,3]", "1, 2, 3", "equal"),
        ("[1,2,3]", "3, 2, 1", "different"),
        ("[1,2]", "1, 2", "different"),
        ("B2", "B_2", "equal"),
        ("C3", r"\text{C3}", "equal"),
        ("C3", "CCC", "different"),
        ("B2", "BB", "different"),
    ],
)
def test_notations_of_derivatives_lengths_lists_and_labels(reference: str, answer: str, expected: str) -> None:
    assert grade([[reference], answer, DEFAULT.packed()])["outcome"] == expected


COLLATZ = r"\begin{cases} 3n+1, & n \text{ odd} \\ \frac{n}{2}, & n \text{ even}\end{cases}"


@table(
    "reference, answer, is_equal",
    [
        (
            COLLATZ,
            r"\begin{cases} n/2 & \text{if } n \text{ is even} \\ 3n+1 & \text{if } n \text{ is odd}\end{cases}",
            1,
        ),
        (
            COLLATZ,
            r"\begin{cases} n/2 & \text{if } n \text{ is odd} \\ 3n+1 & \text{if } n \text{ is even}\end{cases}",
            0,
        ),
        (COLLATZ, r"\begin{cases} n/2 & \text{if n is even} \\ 3n+1 & \text{otherwise}\end{cases}", 1),
        (COLLATZ, r"\begin{cases} n/2 & 2 \mid n \\ 3n+1 & n \equiv 1 \pmod 2\end{cases}", 1),
        (COLLATZ, r"\begin{cases} n/2 & n\text{为偶数} \\ 3n+1 & n\text{为奇数}\end{cases}", 1),
        (COLLATZ, r"\begin{cases} n/2 & 2 \mid n \end{cases}", 0),
        (r"\begin{cases} 1 & n \text{ even} \\ -1 & n \text{ odd}\end{cases}", "(-1)^n", 1),
        (r"\begin{cases} 1 & n \text{ even} \\ -1 & n \text{ odd}\end{cases}", "(-1)^{n+1}", 0),
        (
            r"\begin{cases}1,&n=1\\2n,&n\geq2\end{cases}",
            r"\begin{cases}1, & \text{if } n=1,\\ 2n, & n\ge 2.\end{cases}",
            1,
        ),
        (
            r"\begin{cases}1,&n=1\\2n,&n\geq2\end{cases}",
            r"\begin{cases}1, & \text{if } n=1,\\ 2n, & n\ge 3.\end{cases}",
            0,
        ),
        (r"2 \pmod 5", r"7 \bmod 5", 1),
        (r"2 \pmod 5", r"3 \bmod 5", 0),
        ("|x|", r"f(x) = x \text{ if } x \ge 0 \text{ and } -x \text{ otherwise}", 1),
        ("|x|", "-x if x ≥ 0 and x otherwise", 0),
        ("|x|", "x if x >= 0, -x if x < 0", 1),
        ("|x|", "x if x > 0, -x if x < 0", 0),
        (r"$\text{e}$", "$e$", 1),  # no Italian "and"
        ("$3$ e $5$", "3, 5", 1),
        ("60 km/h", "60 km pro Stunde", 1),
        ("60 km/h", "60 километров в час", 1),
        ("60 km/h", "時速60km", 1),
        ("60 km/h", "每小时60公里", 1),
        ("60 km/h", "60 km pro Minute", 0),
        (r"\$15/hour", "15 dollars per hour", 1),
        (r"\$15/hour", "15 euros per hour", 0),
        (r"\$15/hour", r"\$15/day", 0),
    ],
)
def test_cases_of_whole_numbers_and_rates_in_words_are_read(reference: str, answer: str, is_equal: int) -> None:
    assert outcome(reference, answer) == ("equal" if is_equal else "different")
