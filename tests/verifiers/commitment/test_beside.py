r"""What stands directly beside a box or a tag: a part of its value, another value, or ordinary text."""

from tests.tables import table
from tests.verifiers.found import Found


@table(
    "response, right, wrong",
    [
        (r"minus \boxed{42}", "-42", "42"),
        (r"-<answer>42</answer>", "-42", "42"),
        (r"$x = -\boxed{42}$", "-42", "42"),
        (r"负\boxed{3}", "-3", "3"),
        (r"La respuesta es menos \boxed{42}.", "-42", "42"),
        (r"Ответ: минус \boxed{42}", "-42", "42"),
        (r"답은 마이너스 \boxed{42}입니다.", "-42", "42"),
        (r"Cevap eksi \boxed{42}", "-42", "42"),
        (r"\boxed{3} and a half", "3.5", "3"),
        (r"<answer>3</answer> et demi", "3.5", "3"),
        (r"\boxed{3} с половиной", "3.5", "3"),
        (r"\boxed{3} rưỡi", "3.5", "3"),
        (r"\boxed{3}个半", "3.5", "3"),
        (r"\boxed{2} Drittel", "2/3", "2"),
        (r"<answer>42</answer> million", "42000000", "42"),
        (r"\boxed{42}만", "420000", "42"),
        (r"\boxed{3}/5", "3/5", "3"),
        (r"$\boxed{2.5} \times 10^{4}$", "25000", "2.5"),
    ],
)
def test_signs_fractions_and_scales_beside_a_mark_are_read(response: str, right: str, wrong: str, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, response, reference=right).score == 1.0
        assert found.judge(verifier, response, reference=wrong).score == 0.0


@table(
    "response, number",
    [
        (r"half of \boxed{42}", "42"),
        (r"twice <answer>42</answer>", "42"),
        (r"la mitad de \boxed{42}", "42"),
        (r"die Hälfte von \boxed{42}", "42"),
        (r"половина от \boxed{42}", "42"),
        (r"The area is \boxed{42} squared.", "42"),
        (r"\boxed{42} al cuadrado", "42"),
        (r"\boxed{42} times 5", "42"),
        (r"\boxed{42} mal 5", "42"),
        (r"\boxed{42} умножить на 5", "42"),
        (r"\boxed{42} out of 50", "42"),
        (r"\boxed{42} or more", "42"),
        (r"\boxed{42}以上", "42"),
        (r"\boxed{42}的两倍", "42"),
        (r"\boxed{42}の2倍", "42"),
        (r"$\pi\boxed{42}$", "42"),
        (r"$\boxed{42}, 48$", "42"),
        (r"$50 - \boxed{8}$", "8"),
        (r"The value is between \boxed{3} and \boxed{4}.", "4"),
    ],
)
def test_words_beside_a_mark_that_make_another_value_are_not_ignored(response: str, number: str, found: Found) -> None:
    for verifier in ("math", "numeric"):
        assert found.judge(verifier, response, reference=number).score == 0.0


@table(
    "response",
    [
        r"so we get \boxed{42} apples",
        r"\boxed{42} square units",
        r"twice as many, so \boxed{42}",
        r"$\boxed{42}$ and we are done",
        r"He is right \boxed{42} times.",
        r"It leaves a remainder of \boxed{42}.",
        r"$2^{10} \equiv \boxed{42} \pmod{50}$",
        r"The area is multiplied by \boxed{42}.",
        r"The team won \boxed{42} games out of 50.",
        r"The minimum is $\boxed{42}$, attained at $x=3$.",
        r"Total plus tax: \boxed{42}",
        r"- \boxed{42}",
        r"所以小明比小红多\boxed{42}本。",
        r"したがって\boxed{42}の値が求められた。",
        r"Juan tiene \boxed{42} más que Pedro.",
        r"Il y a \boxed{42} fois plus.",
        r"O total é \boxed{42} por dia.",
        r"Ответ: \boxed{42} яблок.",
    ],
)
def test_ordinary_text_beside_a_mark_changes_nothing(response: str, found: Found) -> None:
    assert found.judge("math", response, reference="42").score == 1.0


@table(
    "response, right, wrong",
    [
        (r"$\boxed{25}^\circ$F", r"25^\circ F", r"25^\circ C"),
        (r"\boxed{25}°C", "25 °C", "25 °F"),
        (r"<answer>25</answer> °F", "25 °F", "25 °C"),
        (r"€\boxed{25}", "25 euros", r"\$25"),
        (r"$\$\boxed{25}$", r"\$25", "25 euros"),
        (r"£<answer>25</answer>", "£25", r"\$25"),
        (r"<answer>25</answer> cents", r"\$0.25", r"\$25"),
        (r"<answer>25</answer> kg", "25 kg", "25 g"),
        (r"\boxed{25} per hour", "25 per hour", "25 per minute"),
    ],
)
def test_units_and_currencies_beside_a_mark_are_whole(response: str, right: str, wrong: str, found: Found) -> None:
    for reference, score in ((right, 1.0), ("25", 1.0), (wrong, 0.0)):
        assert found.judge("math", response, reference=reference).score == score
