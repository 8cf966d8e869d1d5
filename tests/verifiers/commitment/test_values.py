r"""What is read as the value of an answer: fractions, scales, units and measures in words, and values said twice."""

from tests.tables import table
from tests.verifiers.found import Found

CASES = r"\begin{cases} x & x\ge 0\\ -x & x<0\end{cases}"


@table(
    "response, right, wrong",
    [
        ("It takes 8 and a half hours.", "8.5 hours", "8 hours"),
        ("Il faut 8 heures et demie.", "8.5 hours", "8 hours"),
        ("需要8个半小时。", "8.5 hours", "8 hours"),
        ("8時間半かかります。", "8.5 hours", "8 hours"),
        ("8시간 반이 걸립니다.", "8.5", "8"),
        ("ใช้เวลา 8 ชั่วโมงครึ่ง", "8.5", "8"),
        ("The share is 2 thirds.", "2/3", "2"),
        ("Es sind 2 Drittel.", "2/3", "2"),
        ("Доля составляет 2 трети.", "2/3", "2"),
        ("The answer is 12 halves.", "6", "12"),
        ("The cake has 3 tiers.", "3", "1"),
        ("She has 3 quarters.", "3", "3/4"),
        ("ประชากร 3 ล้านคน", "3000000", "3"),
        ("인구는 3만명입니다.", "30000", "3"),
        ("重量是3千克。", "3 kg", "3 g"),
        ("Cevap 8'in yarısı.", "4.5", "8"),
        ("La réponse est la moitié de 42.", "4.5", "42"),
        ("The answer is half as much as 42.", "4.5", "42"),
    ],
)
def test_words_that_change_a_number_are_read(response: str, right: str, wrong: str, found: Found) -> None:
    if right != "4.5":  # a half of a number is not computed
        assert found.judge("math", response, reference=right).score == 1.0
    assert found.judge("math", response, reference=wrong).score == 0.0


@table(
    "response, right, wrong",
    [
        ("It is 25 degrees Fahrenheit.", "25 °F", "25 degrees Celsius"),
        ("The temperature is 25 °F.", r"25^\circ F", r"25^\circ C"),
        ("Die Temperatur beträgt 25 Grad Fahrenheit.", "25 °F", "25 °C"),
        ("Температура составляет 25 градусов Цельсия.", "25 °C", "25 °F"),
        ("The area is 20 square feet.", "20 ft^2", "20 m^2"),
        ("Масса равна 5 килограммов.", "5 kg", "5 g"),
        ("Die Geschwindigkeit ist 60 Kilometer pro Stunde.", "60 km/h", "60 mi/h"),
        ("This happens at $298 \\mathrm{~K}$.", "298 K", "298 °C"),
        ("The train leaves at 3 pm.", "3:00 pm", "3:00 am"),
        # SciBench (MIT), matter 19.4, whose unit is a picometre
        (r"\boxed{226 \mathrm{~pm}}", r"0.226 \mathrm{~nm}", r"226 \mathrm{~nm}"),
        ("It takes 2 hours and 30 minutes.", "2.5 hours", "30 minutes"),
        ("Es dauert 2 Stunden und 30 Minuten.", "150 min", "30 min"),
        ("Это занимает 2 часа 30 минут.", "150 min", "30 min"),
        ("Ci vogliono 2 ore e 30 minuti.", "150 min", "30 min"),
        ("2시간 30분 걸립니다.", "150 min", "30 min"),
        ("Mất 2 giờ 30 phút.", "150 min", "30"),
    ],
)
def test_the_unit_behind_a_last_number_is_whole(response: str, right: str, wrong: str, found: Found) -> None:
    assert found.judge("math", response, reference=right).score == 1.0
    assert found.judge("math", response, reference=wrong).score == 0.0


@table(
    "response, reference, score",
    [
        ("Hence, the probability is 5/36, or about 13.9%.", "5/36", 1.0),
        ("He made a profit of 70000 dollars, or 7%.", "70000", 1.0),
        ("He made a profit of 70000 dollars, or 7%.", "7", 0.0),
        ("Final Answer: Jane started growing Sphere 3 hours ago.", "3", 1.0),
        ("Final Answer: Sphere 3.", "3", 0.0),
        ("The correct options are A, C and D.", "ACD", 1.0),
        ("The correct options are A, C and D.", "A", 0.0),
        ("The correct option is B, as A and C fail.", "B", 1.0),
        ("Hence, the probability is 5/36, or about 13.9%.", "0.139", 1.0),
        ("The probability is 5/36 (about 13.9%).", "5/36", 1.0),
        ("The probability is 5/36, or about 15%.", "5/36", 0.0),
        ("The probability is 5/36 or 1/6.", "5/36", 0.0),
        ("The ratio is 3/4, or 75%.", "3/4", 1.0),
        (r"The length is $2\sqrt{2}$, or about 2.83.", r"2\sqrt{2}", 1.0),
        (r"Also beträgt die Fläche $2\sqrt{3}$.", r"2\sqrt{3}", 1.0),
        (r"Alltså är arean $2\sqrt{3}$.", r"2\sqrt{3}", 1.0),
        (r"したがって面積は$2\sqrt{3}$である。", r"2\sqrt{3}", 1.0),
        (r"Also beträgt die Fläche nicht $2\sqrt{3}$.", r"2\sqrt{3}", 0.0),
        (r"So the curve is tangent to the line $y=2x$.", "y=2x", 0.0),
        (r"\boxed{m+n=34}", "34", 1.0),
        ("Answer: $a_1 + a_2 = 5$", "5", 1.0),
        (r"\boxed{2m+n=4}", "4", 0.0),
        (r"\boxed{x+y=4}", "4", 0.0),
        (r"\boxed{4}", "m+n=4", 0.0),
        # AGIEval (MIT), gaokao-mathcloze, an output of davinci-003
        ("答案是 $-2$.", "-2", 1.0),
    ],
)
def test_a_value_is_found_beside_what_says_it_again(response: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("math", response, reference=reference).score == score


@table(
    "reference, answer, score",
    [
        ("|x|", CASES, 1.0),
        (CASES, "|x|", 1.0),
        (CASES, r"\begin{cases} x & x> 0\\ -x & \text{otherwise}\end{cases}", 1.0),
        (r"\max(x,0)", r"\begin{cases} x, & x\ge 0\\ 0, & x<0\end{cases}", 1.0),
        (r"\operatorname{sgn}(x)", r"\begin{cases} 1 & x> 0\\ 0 & x=0\\ -1 & x<0\end{cases}", 1.0),
        ("|x|+|x-2|", r"\begin{cases} 2-2x & x<0\\ 2 & 0\le x\le 2\\ 2x-2 & x>2\end{cases}", 1.0),
        ("|x|+|x-2|", r"\begin{cases} 2-2x & x<0\\ 3 & 0\le x\le 2\\ 2x-2 & x>2\end{cases}", 0.0),
        ("|x|", r"\begin{cases} x & x\ge 0\\ -x & x<-1\end{cases}", 0.0),
        ("x", r"\begin{cases} x, & x\ge 0\\ 0, & x<0\end{cases}", 0.0),
        (CASES, "5", 0.0),
        (CASES, r"\begin{cases} -x & x\ge 0\\ x & x<0\end{cases}", 0.0),
        (r"\begin{cases} x & x<1\\ 2 & x\ge 1\end{cases}", r"\begin{cases} x & x\le 1\\ 2 & x>1\end{cases}", 0.0),
    ],
)
def test_functions_by_cases_are_compared_as_functions(reference: str, answer: str, score: float, found: Found) -> None:
    assert found.judge("math", rf"\boxed{{{answer}}}", reference=reference).score == score


@table(
    "response, reference, score",
    [
        ("The gas is carbon dioxide (CO2).", "CO2", 1.0),
        ("生成的气体是二氧化碳（CO2）。", "CO2", 1.0),
        ("It forms CO2, not CO.", "CO2", 1.0),
        ("It forms CO2, not CO.", "CO", 0.0),
        ("The salt is not sodium chloride (NaCl).", "NaCl", 0.0),
        ("It forms CO2 and H2O.", "CO2", 0.0),
    ],
)
def test_a_formula_is_found_behind_its_name(response: str, reference: str, score: float, found: Found) -> None:
    assert found.judge("chemistry", response, reference=reference).score == score
