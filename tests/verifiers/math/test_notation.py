"""Ways to write one answer, and references as data sets have them: what is read as the same, and what is not."""

from typing import Any, cast

import pytest

from tests.verifiers.math.conftest import Judge
from verifiers.math import Math
from verifiers.math.grading import grade
from verifiers.math.params import MathParams

SAME = [
    # indices and counts
    ("x_1+x_2", "{x}_{1}+{x}_{2}"),
    ("{g}_{k}", "g_k"),
    ("10", "{}_5C_2"),
    ("10", "_5C_2"),
    ("10", "{}^{5}C_{2}"),
    ("20", r"2\cdot{}_{5}C_{2}"),
    ("20", "{}_5P_2"),
    # letters that spell a unit in a sum; the first two are references of PHYBench (MIT)
    (r"$$T_2 = 2mg + 4m \frac{v_0^2}{l}$$", r"\frac{4mv_0^2}{l} + 2gm"),
    (
        r"-\frac{7F}{57M\Omega^2}+\frac{4F}{39M\Omega^2}\cos(\sqrt{6}\Omega t)",
        r"\frac{4F}{39M\Omega^2}\cos(t\Omega\sqrt{6})-\frac{7F}{57M\Omega^2}",
    ),
    ("2mg - T", "2gm - T"),
    ("T - 2mg", "-2gm+T"),
    # units of astronomy, of information and of others; words that no table has
    ("4.5", r"4.5 \text{ erg/s}"),
    ("4.5", r"4.5\ \text{ppm}"),
    ("4.5", r"4.5\,M_\odot"),
    ("4.5", r"4.5\ \text{kpc}"),
    (r"4500 \text{ pc}", r"4.5 \text{ kpc}"),
    (r"1 \text{ pc}", r"\frac{648000}{\pi} \text{ au}"),
    (r"5 \text{ T}", r"50000 \text{ gauss}"),
    ("8 Mbps", "8000 kbps"),
    ("1 byte", "8 bits"),
    ("4.5", r"4.5 \text{ zorg}"),
    (r"4.5 \text{ zorg}", r"\frac92 \text{ zorg}"),
    (r"2\pi", r"2\pi cm"),
    (r"28\%", r"28 \text{ percentage points}"),
    # constants under any letter
    ("x^2+C", "x^2+k"),
    ("x^2+C", r"x^2+\text{const}"),
    ("y=Ce^{x}", "y=Ae^x"),
    # ordinals, thousands, notes, letters of choices
    ("12", r"12^{\mathrm{th}}"),
    ("12", r"12\text{th}"),
    ("12", "12th"),
    ("11111111100", r"11,\! 111,\! 111,\! 100"),
    ("3.5", "3{,}5"),
    ("1234567", "1{,}234{,}567"),
    (r"4.738\times10^{14}", "4.738 10^{14}"),  # this row and the next: as SciBench writes values and their powers
    (r"3.51\times10^{15}", "$3.51$ 10^{15}"),
    ("42", r"42\text{ (since }6\cdot7=42)"),
    ("A", "a"),
    (r"\text{only }x=0", "0"),
    # several solutions with the same names
    ("p=5,q=2;p=7,q=2", "(5,2),(7,2)"),
    ("p=5,q=2;p=7,q=2", r"p=7, q=2 \text{ or } p=5, q=2"),
    # what a condition or an equation is about
    ("0<f(x)<1", "(0,1)"),
    (r"(0,\infty)", "f(x)>0"),
    (r"\frac{NO}{BO}=\frac{1}{\sqrt{6}}", r"\frac{1}{\sqrt{6}}"),
    ("10", "AB+BC=10"),
    (r"x_{1}=1,\quadx_{2}=2", "1, 2"),
    # a reference that is a worked solution
    (r"There are $\boxed{4}$ such integers.", "4"),
    ("She pays 3*6 = 18. #### 18", "18"),
    (r"The final answer is $\frac{1}{2}$. I hope it is correct.", "0.5"),
    ("<answer>7</answer>", "7"),
    (r"It lies between $\boxed{12\text{ and }13}$. To be more precise, $\sqrt{50}>7$, but we can say more.", "12, 13"),
    (r"\boxed{1} papers and \boxed{2} bins", "1, 2"),
    (r"\boxed{1}\boxed{2}", "1, 2"),
    # what quoting and escaping left
    ("14916", "14 {, }916"),
    ("12 and 13", '\\"$12 $ and $13 $\\"'),
    (r"(\frac{1}{2}, 1)", "(\frac{1}{2}, 1)"),
    (r"(-\frac{1}{2}, 1)", "(-\\\frac{1}{2}, 1)"),
    # a value that is said of something with a formula in its name
    ("19", "the largest value of $f(x)$ is $19$"),
    ("19 cm", "the length of $AB$ is 19 cm"),
    # solutions that are listed twice
    ("(3,37),(17,3)", "(17,3),(3,37),(17,3)"),
    ("C: 25", "25"),
    ("C: 25", "C"),
    ("western blot", "Western Blot"),
]
DIFFERENT = [
    ("T - 2mg", "(T-2)mg"),
    ("0<f(x)<1", "[0,1]"),
    ("0<f(x)<1", "0<g(x)<1"),
    (r"\frac{x}{y}=2", "2"),
    ("x^2+y^2=25", "25"),
    ("10", "{}_5C_1"),
    ("4.5", r"4.5 \text{ million}"),
    ("5", r"5 \text{ squared}"),
    ("5", r"5 \text{ wrong}"),
    ("5", r"5 \text{ or more}"),
    (r"4.5 \text{ zorg}", r"4.5 \text{ blarg}"),
    (r"4.5 \text{ ppm}", r"4.5 \text{ ppb}"),
    (r"2\pi r", r"2\pi cm"),
    (r"2\pi", r"3\pi cm"),
    ("x^2+C", "x^2+x"),
    ("x^2+C", "x^3+D"),
    ("x^2+C", "x^2"),
    ("y=Ce^{x}", "y=Ae^{2x}"),
    ("12", "13th"),
    ("42", r"43 \text{ (since 42 is too small)}"),
    ("42", r"42 \text{ (not 43)}"),
    ("A", "b"),
    ("p=5,q=2;p=7,q=2", "(5,2),(2,7)"),
    ("C: 25", "B"),
    ("2,2,3", "2,3"),
    ("(3,37),(17,3)", "(17,3),(17,3)"),
    ("19", "the largest value of $f(x)$ is not $19$"),
    ("19", "$f(0)$ is 3 and $f(1)$ is $19$"),
    (r"\boxed{1} papers and \boxed{2} bins", "2"),
]
PROSE = [
    "We know the child climbs twice as fast, and so on.",
    "The last column must not be a pivot column of this matrix.",
]


def outcome(reference: str, answer: str, **params: Any) -> Any:
    """What grading says of a reference and an answer."""
    known = MathParams(reference=reference, **params)
    return grade([known.references, answer, known.options.packed()])["outcome"]


@pytest.mark.parametrize(("reference", "answer"), SAME)
def test_the_same_in_other_notation(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "equal"


@pytest.mark.parametrize(("reference", "answer"), DIFFERENT)
def test_what_only_looks_like_it(reference: str, answer: str) -> None:
    assert outcome(reference, answer) == "different"


@pytest.mark.parametrize("reference", PROSE)
def test_prose_without_an_answer_is_no_reference(reference: str) -> None:
    assert outcome(reference, "9") == "unparseable_reference"
    assert outcome(reference, reference) == "unparseable_reference"


def test_units_that_nobody_listed_are_set_aside_where_units_are_not_compared() -> None:
    assert outcome(r"4.5 \text{ zorg}", r"4.5 \text{ blarg}", unit_policy="ignore") == "equal"


LOCAL = [
    # reference, answer, in German, in English
    ("3,5", "3.5", "equal", "different"),
    ("3,5", r"\frac{7}{2}", "equal", "different"),
    ("3.5", "3,5", "equal", "different"),
    ("1.234,5", "1234.5", "equal", "different"),
    ("1.234", "1234", "equal", "different"),
    ("3{,}5", "3,5", "equal", "different"),
    (r"(1,5; 2)", r"(\frac32, 2)", "equal", "different"),
    (r"\{1, 2, 3\}", r"\{3, 2, 1\}", "equal", "equal"),
    ("1,2,3", "3, 2, 1", "equal", "equal"),
]


@pytest.mark.parametrize(("reference", "answer", "german", "english"), LOCAL)
def test_a_decimal_comma_is_read_where_the_locale_says_so(
    reference: str, answer: str, german: str, english: str
) -> None:
    assert outcome(reference, answer, locale="de") == german
    assert outcome(reference, answer) == english


POLICIES: list[tuple[dict[str, Any], str, str, str, str]] = [
    # parameters, reference, answer, without them, with them
    ({"percent": "factor"}, r"10\%", "10", "equal", "different"),
    ({"percent": "factor"}, "10", r"10\%", "equal", "different"),
    ({"percent": "factor"}, r"10\%", "0.1", "equal", "equal"),
    ({"constant": "optional"}, "x^2+C", "x^2", "different", "equal"),
    ({"constant": "optional"}, "x^2+C", "x^2+5", "different", "equal"),
    ({"constant": "optional"}, "x^2+C", "x^3", "different", "different"),
    ({"constant": "optional"}, "x^2+1", "x^2", "different", "different"),
    ({"rel_tol": 0.01}, r"\frac13", "0.333", "different", "equal"),
    ({"locale": "fr"}, "3,5", "3.5", "different", "equal"),
]


@pytest.mark.parametrize(("params", "reference", "answer", "usual", "asked"), POLICIES)
def test_a_policy_is_a_parameter(params: dict[str, Any], reference: str, answer: str, usual: str, asked: str) -> None:
    assert outcome(reference, answer) == usual
    assert outcome(reference, answer, **params) == asked


@pytest.mark.parametrize("reference", ["She pays 3*6 = 18. #### 18", "So it is 12 in all. The answer is 12.", "(C) 25"])
async def test_a_worked_solution_as_a_response_is_its_answer(judge: Judge, reference: str) -> None:
    params = MathParams(reference=reference)
    own = Math.own_answer(cast(Math, None), params)
    assert own is not None
    assert (await judge(reference, own)).score == 1.0


@pytest.mark.parametrize(
    ("reference", "response"),
    [("x<3", r"We find that $x \lt 3$."), (r"x \neq 3", r"We see that $x \neq 3$."), ("x>2", "Hence $x > 2$.")],
)
async def test_a_relation_that_is_found_is_an_answer(judge: Judge, reference: str, response: str) -> None:
    assert (await judge(reference, response)).score == 1.0
