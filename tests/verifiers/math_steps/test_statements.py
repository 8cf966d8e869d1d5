"""What a text states in formulas."""

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.math_steps.spans import Kind, pieces, said
from verifiers.math_steps.statements import MAX_CHARS, MAX_STATEMENTS, of_step, statements


def written(text: str) -> list[str]:
    return [" ".join(found.text.split()) for found in statements(said(text, "auto"))]


@table(
    ("text", "expected"),
    [
        ("3x = 14 - 5 = 9", ["3x = 14 - 5", "14 - 5 = 9", "3x = 9"]),
        ("$x=3$ and $y=4$", ["x = 3", "y = 4"]),
        (r"\[x=1\] \(y=2\) $$z=3$$", ["x = 1", "y = 2", "z = 3"]),
        (r"\begin{align*} 3x &= 14-5 \\ &= 9 \end{align*}", ["3x = 14-5", "14-5 = 9", "3x = 9"]),
        (r"$x=1, \quad y=2 \Rightarrow z=3$", ["x = 1", "y = 2", "z = 3"]),
        (r"$x=1 \text{ and } y=2$", ["x = 1", "y = 2"]),
        ("so she has 16 - 3 = 13 ducks eggs left", ["16 - 3 = 13"]),
        ("Toula spent $68 x 3 = $204 on donuts, $80.", [r"68 \times 3 = 204"]),
        ("20 sheep + 160 sheep = 180 sheep", ["20 + 160 = 180"]),
        ("$20/hour * 35 hours/week = $700/week", ["20 * 35 = 700"]),
        ("so that's 3*1 = 3 DVDs", ["3*1 = 3"]),
        ("2*80 sheep = <<2*80=160>>160 sheep", ["2*80 = 160", "2*80 = 160"]),
        ("so 60 cups <<3*20=60>>", ["3*20 = 60"]),
        ("Total = 5 * 3 = 15", ["5 * 3 = 15"]),
        ("Total = 15", ["15"]),
        ("half of 12 + 3 = 9", ["9"]),
        ("所以3x=9，解得x=3或x=5。", ["3x = 9", "x = 3", "x = 5"]),
        ("x > 3 and 0 < y <= 5", ["3 < x", "0 < y", "y <= 5"]),
        ("x ≥ 3, y ≠ 2", ["3 <= x", "y != 2"]),
        ("- 3 + 4 = 7", ["3 + 4 = 7"]),
        ("**x = 3**", ["x = 3"]),
        ("Step 2: x = 3", ["x = 3"]),
        ("if x = 3 then y = 4", ["y = 4"]),
        ("若x=3，则y=4", ["y = 4"]),
        ("$x=3$ is wrong, $x=4$", ["x = 4"]),
        ("Let x = 3. Then 2x = 6.", ["2x = 6"]),
        ("It is false that x = 3, so y = 4", ["y = 4"]),
        ("4 cookies left over is 12 - 4 = 8", ["12 - 4 = 8"]),
        ("x => y", []),
        ("a <- b -> c", []),
        ("I have 5 apples.", []),
        ("", []),
    ],
)
def test_what_is_stated(text: str, expected: list[str]) -> None:
    assert written(text) == expected


@table(
    ("step", "expected"),
    [
        ("- 5 a + b = 0", ["- 5 a + b = 0"]),
        ("46", ["46"]),
        ("First, 3x = 9.", ["3x = 9"]),
        ("Then $3x = 9$", ["3x = 9"]),
        ("a ^ { - 6 }", ["a ^ { - 6 }"]),
        ("48/2=<<48/2=24>>24 clips", ["48/2 = 24", "48/2 = 24"]),
    ],
)
def test_a_step_by_itself(step: str, expected: list[str]) -> None:
    assert [" ".join(found.text.split()) for found in of_step(step)] == expected


def test_a_currency_opens_no_formula() -> None:
    assert [piece.kind for piece in pieces("It is $5 and then $6 more.")] == [Kind.LINE]
    assert [piece.kind for piece in pieces("They are $5/$2 of it.")] == [Kind.LINE]
    assert [piece.text for piece in pieces("$5$ for $6") if piece.kind is Kind.FORMULA] == ["5"]


@given(text=st.text("3x=9$\\[](){}<>`\"'\n., &-+*/ifnotbegin{align}", max_size=200))
def test_any_text_has_a_bounded_number_of_statements(text: str) -> None:
    found = statements(said(text, "none"))
    assert len(found) <= MAX_STATEMENTS
    assert all(len(side) <= MAX_CHARS for statement in found for side in (statement.left, statement.right))


def test_more_statements_than_are_looked_at() -> None:
    assert len(statements("x = 3\n" * 1_000)) == MAX_STATEMENTS
