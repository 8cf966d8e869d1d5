"""Numbers in words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import ends
from tests.tables import table
from verifiers.numerals import followed, value

UP_TO_999_999_999 = st.integers(min_value=0, max_value=999_999_999)
UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def english(number: int, *, conjunction: str = " and ", hyphen: str = "-") -> str:
    if number < 20:
        return UNITS.split()[number]
    if number < 100:
        tens = TENS.split()[number // 10 - 2]
        return tens + (hyphen + english(number % 10) if number % 10 else "")
    unit, name = next(
        (unit, name)
        for unit, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred"))
        if number >= unit
    )  # fmt: skip
    head, rest = divmod(number, unit)
    between = conjunction if rest < 100 else " "
    behind = between + english(rest, conjunction=conjunction, hyphen=hyphen) if rest else ""
    return f"{english(head, conjunction=conjunction, hyphen=hyphen)} {name}{behind}"


def chinese(number: int) -> str:
    if number < 10:
        return "零一二三四五六七八九"[number]
    unit, sign = next(
        (unit, sign)
        for unit, sign in ((10**8, "亿"), (10**4, "万"), (1000, "千"), (100, "百"), (10, "十"))
        if number >= unit
    )
    head, rest = divmod(number, unit)
    gap = "零" if rest < unit // 10 else ""
    return chinese(head) + sign + (gap + chinese(rest) if rest else "")


@given(UP_TO_999_999_999)
def test_a_number_spelled_in_english_has_its_value(number: int) -> None:
    assert value(english(number)) == number
    assert value(english(number, conjunction=" ", hyphen=" ").upper()) == number


@given(UP_TO_999_999_999)
def test_a_number_spelled_in_chinese_has_its_value(number: int) -> None:
    assert value(chinese(number)) == number
    assert value("负" + chinese(number)) == -number


@given(UP_TO_999_999_999)
def test_a_count_is_the_number_and_what_it_counts(number: int) -> None:
    assert followed(english(number) + " apples") == (Fraction(number), "apples")
    assert followed(chinese(number) + "只") == (Fraction(number), "只")


@table(
    ("text", "number"),
    [
        ("a dozen", "12"),
        ("two dozen", "24"),
        ("half a dozen", "6"),
        ("5 dozen", "60"),
        ("minus five", "-5"),
        ("negative 5", "-5"),
        ("−5 million", "-5000000"),
        ("fifteen hundred", "1500"),
        ("a hundred and one", "101"),
        ("one million, two hundred thousand", "1200000"),
        ("one half", "1/2"),
        ("a half", "1/2"),
        ("two-thirds", "2/3"),
        ("three quarters", "3/4"),
        ("three halves", "3/2"),
        ("twenty thirds", "20/3"),
        ("one twenty-third", "1/23"),
        ("twenty-five hundredths", "1/4"),
        ("three and a half", "7/2"),
        ("one hundred and one half", "201/2"),
        ("three point one four", "157/50"),
        ("twelve percent", "12/100"),
        ("12 per cent", "12/100"),
        ("5 million", "5000000"),
        ("2.5 billion", "2500000000"),
        ("1.2 trillion", "1200000000000"),
        ("3 hundred thousand", "300000"),
        ("1,200 thousand", "1200000"),
        ("two and a half million", "2500000"),
        ("two point five million", "2500000"),
        (r"5\text{ million}", "5000000"),
        (r"\text{Five}", "5"),
        ("Ｆｉｖｅ.", "5"),
    ],
)
def test_english_ways_to_say_a_number(text: str, number: str) -> None:
    assert value(text) == Fraction(number)


@table(
    ("text", "number"),
    [
        ("两千", "2000"),
        ("一百零五", "105"),
        ("一百五", "150"),
        ("三万五", "35000"),
        ("兩萬", "20000"),
        ("一万亿", "1000000000000"),
        ("5万", "50000"),
        ("５ 万", "50000"),
        ("1.2亿", "120000000"),
        ("5百万", "5000000"),
        ("3亿5000万", "350000000"),
        ("1万2000", "12000"),
        ("一点五亿", "150000000"),
        ("三分之一", "1/3"),
        ("百分之二十", "20/100"),
        ("百分之百", "1"),
        ("百分之12.5", "1/8"),
        ("二十分之三", "3/20"),
        ("一又二分之一", "3/2"),
        ("负12", "-12"),
        ("负三分之一", "-1/3"),
        ("半", "1/2"),
        ("零点五", "1/2"),
        ("三点一四", "157/50"),
    ],
)
def test_chinese_ways_to_say_a_number(text: str, number: str) -> None:
    assert value(text) == Fraction(number)


@table(
    "text",
    [
        *("", " ", "no", "a", "an", "I", "IV", "x", "and", "minus", "point", "percent", "hundred"),
        *(
            "12",
            "-5",
            "12%",
            "½",
            "3/4 million",
            "5² million",
            "2½ million",
            "1,23 million",
            "$5 million",
            r"\$5 million",
        ),
        *("fifth", "60th", "twenty-third", "one hundred third", "第三"),
        *("one of them", "five apples", "five six", "five, six", "five and six", "twenty ten", "ten-five", "a five"),
        *("twenty hundred five thousand", "five million thousand", "one hundred hundred", "one thousand, two"),
        *(
            "minus minus five",
            "minus -5",
            "minus -five",
            "-five",
            "- five",
            "twenty - five",
            "zero five",
            "two third",
            "one thirds",
            "and five",
            "five and",
        ),
        *(
            "十几",
            "三五",
            "二〇二〇",
            "一一",
            "三点",
            "九点三十",
            "三点五十万",
            "五分之",
            "一百零五十",
            "三万零五千",
            "千",
            "万一",
            "5三",
            "3千5",
            "1.5万5",
        ),
    ],
)
def test_no_number_malformed_or_left_to_the_reader(text: str) -> None:
    assert value(text) is None


@table("text", ["one hundred and two thirds", "two hundred fifths", "two hundred thousandths", "a million and a half"])
def test_two_readings_are_no_value(text: str) -> None:
    assert value(text) is None


@table(
    ("text", "number", "counted"),
    [
        ("two hours", "2", "hours"),
        ("5 million dollars", "5000000", "dollars"),
        ("three and a half Hours.", "7/2", "Hours"),
        ("half an hour", "1/2", "hour"),
        ("half a million dollars", "500000", "dollars"),
        ("two thirds of the cake", "2/3", "of the cake"),
        ("a fifth of the cake", "1/5", "of the cake"),
        ("five m²", "5", "m²"),
        ("one second", "1", "second"),
        ("twenty seconds", "20", "seconds"),
        ("minus five degrees", "-5", "degrees"),
        (r"five \text{ apples}", "5", "apples"),
        ("三个苹果", "3", "个苹果"),
        ("5 万元", "50000", "元"),
        ("半小时", "1/2", "小时"),
        ("三分之一米", "1/3", "米"),
    ],
)
def test_what_a_number_counts(text: str, number: str, counted: str) -> None:
    assert followed(text) == (Fraction(number), counted)


@table(
    "text",
    [
        *("five", "apples", "5 apples", "a book", "no apples", "two-digit number", "five-pointed star"),
        *("five six apples", "twenty fifth day", "twenty second", "a fifth grader", "one hundred and apples"),
        *("five to seven", "-five apples", "- half at", "three over four", "five, six", "three (3)"),
        *("5只", "半径", "十几个", "三五个", "三百余人", "第三名", "三点", "万元"),
    ],
)
def test_what_is_not_a_number_and_a_thing(text: str) -> None:
    assert followed(text) is None


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert value(text) is None or followed(text) is None


@given(st.lists(st.sampled_from([*UNITS.split(), *TENS.split(), "hundred", "million", "half", "thirds", "and", "a", "point",
                                 "percent", "minus", "5", ",", "apples", "%", "dozen"]), max_size=30))  # fmt: skip
def test_a_value_is_never_both_whole_and_followed(words: list[str]) -> None:
    text = " ".join(words)
    assert value(text) is None or followed(text) is None


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize(
    "piece", ["a ", "and ", "one ", "half ", "one hundred and ", "9", "1,", "亿", "一万", "十", "{", r"\!", ", ", "1万"]
)
def test_long_repetition_is_quick(piece: str) -> None:
    text = (piece * 160)[:160]
    ends(lambda: (value(text), followed(text)))


_FORTY_TWO = (
    "zweiundvierzig", "quarante-deux", "cuarenta y dos", "quarantadue", "quarenta e dois", "сорок два", "сорок дві", "四十二",
    "마흔둘", "사십이", "kırk iki", "empat puluh dua", "बयालीस", "বিয়াল্লিশ", "اثنان وأربعون", "چهل و دو", "ארבעים ושתיים",
    "čtyřicet dva", "czterdzieści dwa", "četrdeset dva", "štyridsaťdva", "negyvenkettő", "neljäkymmentäkaksi", "tweeënveertig",
    "fyrtiotvå", "toogfyrre", "førtito", "σαράντα δύο", "patruzeci şi doi", "četrdesmit divi", "keturiasdešimt du",
    "nelikümmend kaks", "สี่สิบสอง", "bốn mươi hai", "quaranta-dos",
)  # fmt: skip
"""As num2words and CLDR spell it; `deploy/numerals.py` makes the tables from all of theirs."""


@table(
    ("text", "number"),
    [
        ("sieben", 7),
        ("Zwölf", 12),
        ("minus sieben", -7),
        ("moins sept", -7),
        ("doce", 12),
        ("dodici", 12),
        ("doze", 12),
        ("минус семь", -7),
        ("dix-sept", 17),
        *((word, 42) for word in _FORTY_TWO),
        ("أربعمائة وسبعة وخمسون", 457),
        ("tisíc devětset padesát dva", 1952),
        ("einhunderteins", 101),
        ("dos mil trescientos cinco", 2305),
        ("mille quatre-vingt-dix-neuf", 1099),
        ("septante-huit", 78),
        ("cinque mila", 5000),
        ("千四百三十五", 1435),
        ("구천구백구십구", 9999),
        ("mil seiscentos e quarenta e oito", 1648),
        ("șaptezeci", 70),
        ("девять тысяч девятьсот один", 9901),
        ("дев'ять", 9),
        ("dokuz yüz doksan dokuz", 999),
        ("minus fyrtiotvå", -42),
        ("tres", 3),
    ],
)
def test_small_numbers_of_other_languages_have_their_values(text: str, number: int) -> None:
    assert value(text) == number


@table(
    "text",
    [
        "once",
        "elf",
        "dos",
        "quince",
        "Otto",
        "null",
        "sieben acht",
        "plus sieben",
        "sieben Uhr",
        "siebenzig",
        "on",
        "um",
        "hundert zwanzig zwei",
        "vingt cinquante",
        "dos cuarenta",
        "mil mil",
        "zweihundertnull",
        "forty-zwei",
        "cien uno",
    ],
)
def test_words_of_english_and_more_than_a_number_of_other_languages_have_none(text: str) -> None:
    assert value(text) is None
