"""The last number of a quantity in several units is a part of it, and no answer by itself."""

import json
import re
from typing import Any

import pytest

from tests.growth import stays_in_proportion
from tests.tables import table
from verifiers.commitment import MATH_CHANNELS, ExtractionParams, extract
from verifiers.rules.numeric import NumericParams, judge
from verifiers.rules.numeric.reading import read


def score(response: str, reference: Any) -> float | None:
    return judge(response, NumericParams.model_validate_json(json.dumps({"reference": reference}))).score


PARTS = [
    ("It takes 12 hours 30 minutes.", "12 hours 30 minutes"),
    ("It takes 12 hours, 30 minutes.", "12 hours, 30 minutes"),
    ("It takes 1 hour 20 minutes 5 seconds in all.", "1 hour 20 minutes 5 seconds"),
    ("The trip lasts 2 days 3 hours", "2 days 3 hours"),
    ("He is 5 feet 11 inches tall.", "5 feet 11 inches"),
    ("He is 5 ft 11 in tall.", "5 ft 11 in"),
    ("So he is 5'11\" tall.", "5'11\""),
    ("So he is 5′11″.", "5′11″"),
    ("So he is 5'11 tall.", "5'11"),
    ("It weighs 3 pounds 4 ounces.", "3 pounds 4 ounces"),
    ("It weighs 3 lbs 4.5 oz.", "3 lbs 4.5 oz"),
    ("The rope is 3 yards 2 feet long.", "3 yards 2 feet"),
    ("It is 1 km 200 m from here.", "1 km 200 m"),
    ("She pays 3 dollars 50 cents.", "3 dollars 50 cents"),
    ("He needs 2 gallons 3 quarts.", "2 gallons 3 quarts"),
    ("The angle is 40° 30' 15\".", "40° 30' 15\""),
    ("一共2小时30分钟。", "2小时30分钟"),
    ("一共3元5角", "3元5角"),
    ("The baby is 1 year 6 months old.", "1 year 6 months"),
]


@table(("response", "whole"), PARTS)
def test_a_part_of_a_measure_is_no_answer_but_all_of_it_is(response: str, whole: str) -> None:
    for part in re.findall(r"\d+(?:\.\d+)?", whole):
        assert score(response, part) == 0.0
    found = extract(response, ExtractionParams(), MATH_CHANNELS)
    assert found.answer is None or found.answer.strip(".。") in (whole, response.strip(".。"))


@table(
    ("response", "number"),
    [
        ("In 2 hours she walks 6 miles.", 6),
        ("She works 5 days a week for 8 hours.", 8),
        ("He runs 3 miles in 25 minutes.", 25),
        ("That is 2 hours, 120 minutes.", 120),
        ("1 hour = 60 minutes", 60),
        ("There are 12 inches.", 12),
        ("After 3 hours, 20 students are left.", 20),
        ("Of 4 pounds, 3 are left.", 3),
        ("He drinks 2 cups, 3 more than her.", 3),
        ("The answer is 5 hours", 5),
        ("For 3 pounds he pays 7 dollars", 7),
        ("It rained for 30 minutes 2 days ago, so 4.", 4),
    ],
)
def test_what_only_stands_beside_another_quantity_is_an_answer(response: str, number: float) -> None:
    assert score(response, number) == 1.0


@table("response", ["x=12, y=13", "x = 12 and y = 13", "x = 12; y = 13", "So x=12, y=13.", "a = 1, b = 12, c = 13"])
def test_two_names_with_values_are_no_one_number(response: str) -> None:
    assert score(response, 13) == 0.0
    assert score(response, 12) == 0.0


@table("response", ["x = 3 * 4, x = 12", "x = 3 * 4; so x = 12", "3 * 4 = 12, x = 12", "x = 12", "x = 3 + 9 = 12"])
def test_one_name_may_be_given_its_value_in_steps(response: str) -> None:
    assert score(response, 12) == 1.0


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["1", "x=1,", "1, ", "1 hour ", "= 1 and ", "x = "])
def test_many_numbers_take_as_long_as_they_are(unit: str) -> None:
    assert stays_in_proportion(lambda text: read(f"x = {text} = 1"), unit, 3_900)
