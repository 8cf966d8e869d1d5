"""Which words after a number are a unit, and what units are of each other."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import ends
from tests.tables import table
from verifiers.math import units

SAME = [
    ["m", "metres", "meter", "Meters", "米", r"\text{ m}", "m."],
    ["km/h", "kph", "kmh", "kilometers per hour", "千米/时", "千米每小时", "km / h", r"\frac{km}{h}", "km h^{-1}"],
    ["cm^2", "cm²", "cm2", "square centimeters", "sq cm", "sq. cm", "平方厘米", r"\text{cm}^2", "cm ^ { 2 }", "cm$^2$"],
    ["m^3", "cubic metres", "m³", "立方米", "meters cubed"],
    [
        "m/s^2",
        "m s^{-2}",
        "m/s²",
        "meters per second squared",
        "meters per second per second",
        "m/s/s",
        r"\text{m/s}^2",
    ],
    ["N·m", "N-m", r"N \cdot m", "newton meters", "newton-meters", "N m", "m*N", "Nm"],
    ["kg·m/s^2", r"\text{kg}\cdot\text{m/s}^2", "kg m/s^2"],
    ["mi/min", "miles per minute", "mile/minute"],
    ["mi/h", "mph", "miles per hour"],
    ["°C", r"^\circ C", r"^{\circ}\text{C}", "degrees Celsius", "℃", "摄氏度"],
    ["degree", "°", r"^\circ", r"^{\circ}", "degrees", "度"],
    ["μm", r"\mu m", "µm", "um", "micrometers", "微米"],
    ["μC/m", r"\mu \mathrm{C} / \mathrm{m}", r"\mu \mathrm{C} \mathrm{~m}^{-1}", "µC/m"],
    ["kΩ", r"k\Omega", r"k \Omega", "kilohms"],
    ["Å", r"\AA", "angstroms"],
    ["J/(K·kg)", "J/(kg K)", "J kg^{-1} K^{-1}", r"\mathrm{Jkg}^{-1} \mathrm{~K}^{-1}"],
    ["kWh", "kilowatt-hours", "kW h", "千瓦时"],
    ["ft·lbf", "ft-lb", "foot-pounds"],
    ["1/s", "per second", "s^{-1}", "s⁻¹"],
    ["kg", "KG", "kilograms", "公斤"],
    ["$", "dollars", r"\dollar", "USD"],
    ["$/h", "dollars per hour"],
    ["lb", "pounds", "磅"],
    ["pound sterling", "£", r"\pounds"],
    ["cent", "cents", "¢"],
    ["'", r"^{\prime}", "′"],
    ["''", '"', r"^{\prime\prime}"],
    ["a.m.", "am", "AM"],
    ["cup", "cups of flour"],
    ["year", "years old", "岁"],
    ["ft^2", "square feet", "sq. ft.", "feet^2"],
    ["square unit", "square units", "units^2", "sq units", "平方单位"],
    ["apple", "apples", "apples left", "apples in total", "different apples"],
    ["person", "people", "人"],
    ["way", "ways", "ways to choose", "ways to arrange the books"],
    ["slice of pizza", "slices of pizza"],
    ["cookie/cup", "cookies per cup"],
    ["t-shirt", "t-shirts"],
    ["个", "个苹果"],
]

NO_UNIT = """
million; billions; thousand; hundred; dozen; half; halves; thirds; tenths; hundredths; fifteenths; squared; cubed;
factorial; pi; \\pi; 万; 亿; 万人; 千人; 十个; 半; 个半; million dollars; half apples; dozen eggs; rejected; invalid;
extraneous; wrong; incorrect; not; isn't; no apples; not apples; apples not; 不对; 不是; 个不对; 米不是; ではありません;
or more; or less; at least; at most; more than; above; below; below zero; degrees below zero; feet below sea level;
m or more; apples or more; minimum; maximum; 以上; 以下; 以内; 元以上; 个以上; 元左右; 余; if; when; where; for; mod 7;
times; times 2; plus; minus; の倍数; 的倍数; multiples; divisors; less than x; less x; double; twice; negative; negatives;
inverse; opposite; reciprocals; fails; exists; remains; works; gives; equals; actually; approximately; fewer apples;
extra apples; in total; x; n; apples for Bob; cups of nothing; meters of wrong; km half; menos; más; plus ou moins;
percent; %; 5; 2; per; per hundred; cm squared squared; squared m; J/kg K; m/s s; m//s; m^; m^x; ^2; /; -; ·; (); m^10;
apple^2; (m; m); m + s; °°; $$; dollars of debt; losses; anti apples; basis points; million years; 万元; 元亏损; millones; docenas; tercios;
miles west; degrees clockwise; dollars short; years ago; root; square; cube; prime; repeating; base ten; fold; tenfold; m_1; m=s; kB\\times s; 分之一; 成; 折
"""


@pytest.mark.parametrize("spellings", SAME, ids=lambda spellings: str(spellings[0]))
def test_spellings_of_a_unit_have_one_key(spellings: list[str]) -> None:
    assert {spelling: units.key(spelling) for spelling in spellings} == dict.fromkeys(spellings, spellings[0])


def test_different_units_have_different_keys() -> None:
    keys = [row[0] for row in SAME] + ["mW", "MW", "s", "S", "h", "H", "min", "p.m.", "euro", "orange"]
    assert [units.key(key) for key in keys] == keys
    assert len(set(keys)) == len(keys)


@table("text", [text.strip() for text in NO_UNIT.split(";")])
def test_words_that_change_a_number_are_no_unit(text: str) -> None:
    assert units.key(text) is None


@table("word", ["wug", "quickly", "discarded", "solvable", "purple"])
def test_an_unlisted_word_is_a_unit_in_the_plural_only(word: str) -> None:
    assert units.key(word) is None
    assert units.key("wugs") == "wugs"


def test_an_adjective_counts_before_a_noun_only() -> None:
    assert units.key("negative") is None
    assert units.key("negative integers") == "negative integers"
    assert units.key("negative wugs") is None


def test_case_decides_between_symbols_that_differ_in_nothing_else() -> None:
    assert units.key("mw") is None
    assert units.key("Km") == "km"


WORDS = [spelling for row in SAME for spelling in row] + [
    "per",
    "/",
    "of",
    "square",
    "^2",
    "(",
    ")",
    "-",
    "wugs",
    "\\frac",
]


@given(st.text(max_size=120) | st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join))
def test_a_key_is_its_own_key(text: str) -> None:
    key = units.key(text)
    assert key is None or units.key(key) == key


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize("piece", ["(", "m ", "m/", "^{", "\\frac{", "a-", "° ", "'", "每", "square ", "ft of ", "-"])
def test_a_text_of_any_kind_is_read_at_once_and_a_long_one_not_at_all(piece: str) -> None:
    ends(lambda: units.key((piece * 100)[:100]))  # what grows exponentially would take years
    assert units.key("m" + " " * 100) is None


@table(
    ("source", "target", "expected"),
    [
        ("km", "m", Fraction(1000)),
        ("km/h", "m/s", Fraction(5, 18)),
        ("N·m", "J", Fraction(1)),
        ("kg·m/s^2", "N", Fraction(1)),
        ("ft", "in", Fraction(12)),
        ("mi", "m", Fraction("1609.344")),
        ("cm^2", "m^2", Fraction(1, 10_000)),
        ("acre", "ft^2", Fraction(43_560)),
        ("ha", "m^2", Fraction(10_000)),
        ("L", "cm^3", Fraction(1000)),
        ("gal", "in^3", Fraction(231)),
        ("gal", "qt", Fraction(4)),
        ("cup", "fl oz", Fraction(8)),
        ("lb", "oz", Fraction(16)),
        ("ton", "lb", Fraction(2000)),
        ("t", "kg", Fraction(1000)),
        ("week", "h", Fraction(168)),
        ("year", "month", Fraction(12)),
        ("kWh", "J", Fraction(3_600_000)),
        ("kcal", "J", Fraction(4184)),
        ("atm", "torr", Fraction(760)),
        ("mmHg", "Pa", Fraction(101_325, 760)),
        ("B", "bit", Fraction(8)),
        ("degree", "arcsec", Fraction(3600)),
        ("revolution", "degree", Fraction(360)),
        ("cent", "$", Fraction(1, 100)),
        ("cent", "euro", Fraction(1, 100)),
        ("yuan", "jiao", Fraction(10)),
        ("分", "yuan", Fraction(1, 100)),
        ("分", "s", Fraction(60)),
        ("cent/kWh", "$/kWh", Fraction(1, 100)),
        ("cent/apple", "$/apple", Fraction(1, 100)),
    ],
)
def test_units_of_a_kind_convert_exactly_both_ways(source: str, target: str, expected: Fraction) -> None:
    assert units.factor(source, target) == expected
    assert units.factor(target, source) == 1 / expected


@table(
    ("source", "target"),
    [
        ("m", "s"), ("m", "m^2"), ("month", "day"), ("year", "day"), ("$", "euro"), ("yuan", "$"), ("apple", "orange"),
        ("apple", "m"), ("MB", "kB"), ("MB", "B"), ("a.m.", "p.m."), ("a.m.", "h"), ("rad", "degree"), ("lb", "lbf"),
        ("pound sterling", "lb"), ("°C", "m"), ("degree", "K"), ("cent/apple", "$/orange"), ("Hz", "revolution/s"),
        ("rejected", "m"),
    ],
)  # fmt: skip
def test_nothing_else_converts(source: str, target: str) -> None:
    assert units.convert(Fraction(3), source, target) is None
    assert units.convert(Fraction(3), target, source) is None


def test_temperatures_convert_by_their_zeros_and_not_by_a_factor() -> None:
    assert units.convert(Fraction(25), "°C", "°F") == 77
    assert units.convert(Fraction(-40), "°F", "°C") == -40
    assert units.convert(Fraction(0), "°C", "K") == Fraction("273.15")
    assert units.factor("°C", "°F") is None
    assert units.convert(Fraction(25), "degree", "°F") == 25
    assert units.factor("J/(K·kg)", "J/(kg·°C)") == 1


def test_degrees_and_radians_differ_by_a_power_of_pi() -> None:
    assert units.pi_factor("degree", "rad") == (Fraction(1, 180), 1)
    assert units.pi_factor("rad", "degree") == (Fraction(180), -1)
    assert units.pi_factor("revolution/min", "rad/s") == (Fraction(1, 30), 1)
    assert units.pi_factor("m", "rad") is None


KNOWN = ["m", "km", "in", "ft", "mi", "s", "min", "h", "day", "°C", "°F", "K", "degree", "arcmin", "kg", "lb", "oz", "cent",
         "$", "yuan", "分", "km/h", "m/s", "J", "kWh", "N·m", "L", "cup", "cm^3"]  # fmt: skip


@given(st.fractions(), st.sampled_from(KNOWN), st.sampled_from(KNOWN))
def test_there_and_back_is_the_same_value(value: Fraction, source: str, target: str) -> None:
    there = units.convert(value, source, target)
    assert (there is not None) == units.compatible(source, target)
    assert there is None or units.convert(there, target, source) == value


def test_what_a_key_is() -> None:
    assert units.dimension("N·m") == {"kg": 1, "m": 2, "s": -2}
    assert units.dimension("degree") == {"rad": 1}
    assert units.dimension("cent") == {"USD": 1}
    assert units.dimension("apple") is units.dimension("cookie/cup") is units.dimension("square unit") is None
    assert [units.is_known(key) for key in ("km/h", "分", "apple", "cookie/cup", "a.m.")] == [True, True, *[False] * 3]
    counts = [units.is_count(key) for key in ("apple", "square unit", "unit", "个", "m", "cookie/cup", "a.m.", "分")]
    assert counts == [True] * 4 + [False] * 4
    assert units.compatible("°C", "K")
    assert not units.compatible("apple", "apple")


def test_prefixes_are_powers_of_ten() -> None:
    lengths = ["nm", "μm", "mm", "m", "km"]
    assert [units.factor(large, small) for small, large in pairwise(lengths)] == [1000] * 4


@table(
    ("parts", "total"),
    [
        ([(5, "ft"), (3, "in")], (63, "in")),
        ([(5, "'"), (3, "''")], (63, "in")),
        ([(2, "hours"), (30, "minutes")], (150, "min")),
        ([(1, "h"), (20, "min"), (5, "s")], (4805, "s")),
        ([(3, "lb"), (4, "oz")], (52, "oz")),
        ([(5, "元"), (3, "角"), (2, "分")], (532, "fen")),
        ([(5, "分"), (20, "秒")], (320, "s")),
        ([(3, "时"), (5, "分")], (185, "min")),
        ([(5, "dollars"), (30, "cents")], (530, "US cent")),
        ([(30, "°"), (15, "'"), (20, "''")], (108_920, "arcsec")),
        ([(30, "度"), (5, "分"), (7, "秒")], (108_307, "arcsec")),
        ([(1, "year"), (3, "months")], (15, "month")),
    ],
)
def test_parts_in_descending_units_add_up(parts: list[tuple[int, str]], total: tuple[int, str]) -> None:
    value, unit = total
    found = units.compound([(Fraction(value), units.key(unit) or "") for value, unit in parts])
    assert found == (Fraction(value), unit)


@table(
    "parts",
    [
        [],
        [(3, "in"), (5, "ft")],
        [(3, "ft"), (5, "ft")],
        [(1, "year"), (3, "day")],
        [(5, "ft"), (3, "lb")],
        [(5, "$"), (30, "fen")],
        [(5, "ft"), (-3, "in")],
        [(5, "°C"), (3, "K")],
        [(3, "apple"), (2, "orange")],
    ],
)
def test_other_parts_do_not(parts: list[tuple[int, str]]) -> None:
    assert units.compound([(Fraction(value), unit) for value, unit in parts]) is None


@table(("large", "small"), [("Mm", "mm"), ("MW", "mW"), ("Mg", "mg"), ("MHz", "mHz"), ("ML", "mL")])
def test_the_case_of_a_prefix_counts(large: str, small: str) -> None:
    assert units.key(large) != units.key(small)


def test_a_prefix_in_a_case_that_no_unit_has_is_no_unit() -> None:
    assert units.key("MA") != units.key("mA")
