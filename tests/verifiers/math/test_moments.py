"""Clock times and dates."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import ends
from verifiers.math.moments import Clock, Date, date, time_of_day

QUARTER_TO_FOUR = Clock(15 * 3600 + 45 * 60)


@pytest.mark.parametrize(
    "text",
    [
        *("3:45 PM", "3:45PM", "3:45 p.m.", "3:45 p. m.", r"3:45\,p.m.", r"3{:}45 \text{ p.m.}", r"\text{3:45 PM}"),
        *("$3:45$ pm", "15:45", "15:45:00", "15h45", "15:45 hrs", "15:45 Uhr", "３：４５ ＰＭ", "at 3:45 PM."),
        *("3:45 in the afternoon", "quarter to four p.m.", "15 minutes to 4 PM"),
        *("下午3:45", "下午 3：45", "下午3点45分", "下午三点四十五分", "下午三点三刻", "15时45分", "午後3時45分"),
    ],
)
def test_ways_to_write_a_time(text: str) -> None:
    assert time_of_day(text) == QUARTER_TO_FOUR


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("noon", 12, 0),
        ("12 noon", 12, 0),
        ("12:00 noon", 12, 0),
        ("12 PM", 12, 0),
        ("正午", 12, 0),
        ("中午12点", 12, 0),
        ("中午1点", 13, 0),
        ("midnight", 0, 0),
        ("12 AM", 0, 0),
        ("24:00", 0, 0),
        ("晚上12点", 0, 0),
        ("12:30 AM", 0, 30),
        ("0:30", 0, 30),
        ("03:45", 3, 45),
        ("10:30 hrs", 10, 30),
        ("凌晨3点", 3, 0),
        ("晚上8点半", 20, 30),
        ("8 at night", 20, 0),
        ("three p.m.", 15, 0),
        ("上午九点零五分", 9, 5),
    ],
)
def test_the_half_of_the_day_is_known(text: str, hour: int, minute: int) -> None:
    assert time_of_day(text) == Clock(hour * 3600 + minute * 60)


@pytest.mark.parametrize(
    ("text", "hour", "minute"),
    [
        ("3:45", 3, 45),
        ("10{:}30", 10, 30),
        (r"10\!:\!30", 10, 30),
        ("12:15", 12, 15),
        ("3 o'clock", 3, 0),
        ("three o’clock", 3, 0),
        ("half past three", 3, 30),
        ("quarter to 1", 12, 45),
        ("3点45分", 3, 45),
        ("3时45分", 3, 45),
        ("三点半", 3, 30),
        ("3h45", 3, 45),
    ],
)
def test_the_half_of_the_day_is_open(text: str, hour: int, minute: int) -> None:
    assert time_of_day(text) == Clock(hour * 3600 + minute * 60, is_ambiguous=True)


@pytest.mark.parametrize(
    "text",
    [
        *("", "3", "pm", "3:4", "16:9", "3:450", "25:00", "24:01", "2:60", "10:30:60", "1:2:3", "32:15", "-3:45"),
        *("15:45 AM", "0:30 PM", "15 PM", "13 p.m. and more", "3.45 pm", "5 to 3", "half to three", "half am", "x:30"),
        *(
            r"\frac{3:45}{2}",
            r"\{3:45\}",
            "3²:45",
            "$5am$",
            "3小时45分",
            "3:45 hours ago",
            "三点一四",
            "上午12点",
            "3" * 200,
        ),
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert time_of_day(text) is None


@pytest.mark.parametrize(
    ("reference", "answer", "is_same"),
    [
        ("3:45 PM", "15:45", True),
        ("3:45 PM", "3:45 AM", False),
        ("3:45 PM", "3:45", False),
        ("3:45", "3:45", True),
        ("3:45", "3:45 PM", True),
        ("3:45", "3:45 AM", True),
        ("3:45", "15:45", True),
        ("3:45", "3:46 PM", False),
        ("12:00", "midnight", True),
        ("12:00", "noon", True),
        ("noon", "midnight", False),
        ("noon", "12:00", False),
        ("15:45:30", "15:45", False),
    ],
)
def test_same_time(reference: str, answer: str, is_same: bool) -> None:
    expected, given_ = time_of_day(reference), time_of_day(answer)
    assert expected is not None
    assert given_ is not None
    assert expected.same_as(given_) is is_same


@given(st.integers(min_value=0, max_value=24 * 60 - 1))
def test_a_minute_of_the_day_reads_the_same_on_both_clocks(minute: int) -> None:
    moment = datetime.time(minute // 60, minute % 60)
    hour, half = (moment.hour - 1) % 12 + 1, "PM" if moment.hour >= 12 else "AM"
    expected = Clock(minute * 60)
    assert time_of_day(f"{moment.hour:02}:{moment.minute:02} h") == expected
    assert time_of_day(f"{hour}:{moment.minute:02} {half}") == expected
    assert Clock(minute * 60 % 43200, is_ambiguous=True).same_as(expected)


FOURTH_OF_MARCH = Date(2020, 3, 4)


@pytest.mark.parametrize(
    "text",
    [
        *("March 4, 2020", "March 4 2020", "MARCH 4th, 2020", r"March $4^{\text{th}}$, 2020", r"\text{March 4, 2020}"),
        *("4 March 2020", "4th of March, 2020", "the 4th of March 2020", "4-Mar-2020", "on Mar. 4, 2020."),
        *(
            "2020-03-04",
            "2020/03/04",
            "2020.03.04",
            "2020年3月4日",
            "2020 年 3 月 4 日",
            "二〇二〇年三月四日",
            "2020 March 4",
        ),
    ],
)
def test_ways_to_write_a_date(text: str) -> None:
    assert date(text) == FOURTH_OF_MARCH


@pytest.mark.parametrize("text", ["Mar. 4", "March 4th", "the 4th of March", "4 March", "3月4日", "3月4号", "三月四日"])
def test_a_date_without_a_year(text: str) -> None:
    assert date(text) == Date(None, 3, 4)


@pytest.mark.parametrize(
    "text",
    [
        "Wednesday, March 4, 2020",
        "Wed. 4 March 2020",
        "March 4, 2020 (Wednesday)",
        "2020年3月4日星期三",
        "周三 2020年3月4日",
    ],
)
def test_a_weekday_stands_beside_the_date(text: str) -> None:
    assert date(text) == Date(2020, 3, 4, weekday=2)


def test_numbers_are_a_date_when_only_one_order_is_possible() -> None:
    assert date("03/14/2020") == date("14/03/2020") == date("14.03.2020") == Date(2020, 3, 14)
    assert date("04/04/2020") == Date(2020, 4, 4)
    assert date("03/04/2020") is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "May",
            "March",
            "Sunday",
            "Mon",
            "2020",
            "3/4",
            "3:4",
            "3-4",
            "March 2020",
            "4 2020",
            "the 4th",
            "May be 4",
        ),
        *(
            "February 30",
            "Feb 29, 2019",
            "April 31",
            "March 0",
            "March 32",
            "2020-13-01",
            "13/14/2020",
            "0年3月4日",
            "13月4日",
        ),
        *(
            "2020-3-4",
            "3-14-2020",
            "13-4-2020",
            "March 4nd",
            "11st of May",
            "March 4.5",
            "March 4²",
            "3月",
            "4日",
            "四月三十一日",
        ),
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert date(text) is None


def test_the_leap_day() -> None:
    assert date("Feb 29, 2000") == Date(2000, 2, 29)
    assert date("Feb 29, 1900") is None
    assert date("February 29") == Date(None, 2, 29)


def test_what_one_side_leaves_open_is_left_aside() -> None:
    day = Date(2020, 3, 4)
    assert day.same_as(Date(None, 3, 4))
    assert Date(None, 3, 4).same_as(day)
    assert day.same_as(Date(2020, 3, 4, weekday=2))
    assert not day.same_as(Date(2021, 3, 4))
    assert not day.same_as(Date(2020, 4, 3))
    assert not Date(None, 3, 4, weekday=0).same_as(Date(None, 3, 4, weekday=1))


@given(st.dates(min_value=datetime.date(1000, 1, 1)))
def test_a_day_written_out_is_that_day(day: datetime.date) -> None:
    expected = Date(day.year, day.month, day.day)
    month = day.strftime("%B")
    assert date(day.isoformat()) == expected
    assert date(f"{month} {day.day}, {day.year}") == expected
    assert date(f"{day.day} {month[:3]} {day.year}") == expected
    assert date(f"{day.year}年{day.month}月{day.day}日") == expected
    assert date(f"{day:%A}, {month} {day.day}") == Date(None, day.month, day.day, weekday=day.weekday())


@given(st.text(max_size=200))
def test_any_text_is_at_most_one_of_both(text: str) -> None:
    assert time_of_day(text) is None or date(text) is None


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize(
    "piece", ["3:45 ", "1", " ", "星期三", "Monday, ", "March 4 ", "a", "a min", "{", r"\!", ":", "^", "三"]
)
def test_long_repetition_is_quick(piece: str) -> None:
    text = (piece * 120)[:120]
    ends(lambda: (time_of_day(text), date(text)))
