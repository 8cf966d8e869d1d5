"""A number is never cut out of a formula between dollar signs; what a formula says is an answer."""

from tests.tables import table
from tests.verifiers.found import Found


@table(
    "response, reference",
    [
        (r"The range of a is $(-\infty,2]$.", "2"),
        (r"取值范围是$(-\infty,2)$．", "2"),
        (r"値域は$(-\infty,2]$である。", "2"),
        (r"The range is \((-\infty,2)\), as required", "2"),
        (r"The set is $\{1,2,3\}$.", "3"),
        ("The values are $1, 2$.", "2"),
        ("It holds that $3 < x$.", "3"),
        ("The line is $2x+y-4=0$.", "0"),
        ("직선의 방정식은 $2x+y=4$이다.", "4"),
        ("The circle is $x^2+y^2+3x=4$.", "4"),
    ],
)
def test_a_part_of_a_formula_is_not_an_answer(response: str, reference: str, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, response, reference=reference).score == 0.0, verifier


@table(
    "response, reference",
    [
        ("So $x = 3$.", "3"),
        ("So $f(3) = 9$.", "9"),
        (r"Thus $3 \times 4 = 12$.", "12"),
        ("So $AB = 12$.", "12"),
        ("So $2x + 3y = 4 + 9 = 13$.", "13"),
        ("It costs $5, and she pays $12.", "12"),
        (r"The probability is $40\%$.", "40%"),
        ("所以 $x=3$．", "3"),
        ("答案是3．5", "3.5"),
    ],
)
def test_what_a_formula_says_is_an_answer(response: str, reference: str, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, response, reference=reference).score == 1.0, verifier
