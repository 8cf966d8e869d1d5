"""Reads times of the day and dates of the calendar as people write them.

A clock reading from 1 to 12 says the time only together with its half of the day: `3:45 PM`, `下午3:45`. A leading zero,
an hour beyond 12, or a two-digit hour with `h`, `hrs` or `Uhr` behind it is a reading of the 24-hour clock. Minutes have
two digits, so 3:4 and 16:9 stay ratios. 12 AM is midnight, 12 PM noon, 24:00 midnight; the calendar is Gregorian.
"""

import re
from calendar import monthrange
from dataclasses import dataclass

from verifiers import cldr
from verifiers.commitment.letters import LETTERS
from verifiers.numerals import value
from verifiers.numerals.spelling import spoken

MAX_CHARS = 120
_HALF_DAY_S = 12 * 3600


@dataclass(frozen=True)
class Clock:
    """A time of the day."""

    seconds: int
    """Minutes after midnight; an ambiguous reading counts as one of the 24-hour clock."""
    is_ambiguous: bool = False
    """Whether nothing tells which half of the day is meant."""

    def same_as(self, answer: "Clock") -> bool:
        """Whether the answer names this reference's time; without the half of the day it does not answer `3 PM`."""
        if self.is_ambiguous:
            return self.seconds % _HALF_DAY_S == answer.seconds % _HALF_DAY_S
        return not answer.is_ambiguous and self.seconds == answer.seconds


@dataclass(frozen=True)
class Date:
    """A day of the calendar, with or without its year."""

    year: int | None
    month: int
    day: int
    weekday: int | None = None
    """The weekday as written, Monday is 0; None if the text names none."""

    def same_as(self, answer: "Date") -> bool:
        """Whether both are the same day; a year or a weekday on one side only is ignored."""
        return (
            (self.month, self.day) == (answer.month, answer.day)
            and _agree(self.year, answer.year)
            and _agree(self.weekday, answer.weekday)
        )


def _agree(first: int | None, second: int | None) -> bool:
    return first is None or second is None or first == second


_MARK = r"(?P<mark>[ap]\.? ?m\b\.?|in the (?:morning|afternoon|evening)|at night)"
_DIGITAL = re.compile(
    rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?: ?(?:{_MARK}|(?P<day24>h|hrs|hours|uhr)))?"
)
_H_BETWEEN = re.compile(r"(?P<hour>\d{1,2}) ?h ?(?P<minute>\d\d)")
_MARKED_HOUR = re.compile(rf"(?P<hour>1[0-2]|0?[1-9]|[a-z]+) ?(?:o ?'? ?clock ?)?{_MARK}")
_HOUR_LEAD = r"(?P<lead>ore|alle ore|kl\.?|klokken|saat|pukul|lúc)?"
_HOUR_WORD = r"(?P<day24>uhr|h|hrs|horas|часов)?"
_NAMED_HOUR = re.compile(rf"{_HOUR_LEAD} ?(?P<hour>\d{{1,2}})(?:[.:](?P<minute>\d\d))? ?{_HOUR_WORD}")
"""An hour by a word before or behind it: `17 Uhr`, `17.30 Uhr`, `ore 17`."""
_LEADS = re.compile(r"\A(?:at|um|à|às|a las|las|alle|в|о|om|o) (?=\d)")
_O_CLOCK = re.compile(r"(?P<hour>\d{1,2}|[a-z]+) ?o ?'? ?clock")
_PAST = re.compile(
    rf"(?:(?P<part>half|(?:a )?quarter)|(?P<minutes>[a-z\d-]+) min(?:ute)?s?) (?P<side>past|to) (?P<hour>\d{{1,2}}|[a-z]+)"
    rf"(?: ?{_MARK})?"
)
_TWELVE = re.compile(r"(?:12(?::00)? |twelve )?(noon|midday|midnight)")
_TWELVE_HAN = {"正午": 12, "中午": 12, "午夜": 0}
_HAN_HALF = (
    "凌晨|清晨|早晨|早上|上午|午前|中午|正午|下午|午後|午后|傍晚|晚上|夜晚|夜里|夜裡|深夜|半夜|午夜|오전|오후"
)  # fmt: skip
_HAN_COLON = re.compile(rf"(?P<mark>{_HAN_HALF}) ?(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?")
_HAN_NUMBER = r"(?:\d{1,2}|[零〇一二两兩三四五六七八九十]{1,3})"
_HAN_CLOCK = re.compile(
    rf"(?P<mark>{_HAN_HALF})? ?(?P<hour>{_HAN_NUMBER}) ?[点點时時시](?!간)"
    rf"(?:整|[钟鐘]整?|(?P<part>半|[一三]刻)| ?(?P<minute>{_HAN_NUMBER}) ?[分분](?: ?(?P<second>{_HAN_NUMBER}) ?秒)?)?"
)
_COLONS = re.compile(r"\{ ?: ?\}|\\colon(?![A-Za-z])")
_MATHEMATICS = re.compile(r"(?<!\\)\$|\\[()]")
_PRODUCT = re.compile(r"\s*\$\s*\d{1,2}\s*[ap]m\s*\$\s*")
"""Letters of a formula are factors: $5am$ is 5 times a times m."""
_CARET = re.compile(r"\^ ?(?=st|nd|rd|th)")
_MAY_NAME = re.compile(r"[\w :.,'()/-]*")
"""The characters of times and dates; most formulas hold another one."""


def time_of_day(text: str) -> Clock | None:
    """The time that a whole text names; None if it names none, or contradicts itself (`15:45 AM`)."""
    plain = _plain(text)
    if plain is None or not plain:
        return None
    plain, is_led = _LEADS.subn("", plain, count=1)
    if twelve := _TWELVE.fullmatch(plain):
        return Clock(0 if twelve[1] == "midnight" else _HALF_DAY_S)
    if plain in _TWELVE_HAN:
        return Clock(_TWELVE_HAN[plain] * 3600)
    if past := _PAST.fullmatch(plain):
        return _past(past)
    if (hour_match := _NAMED_HOUR.fullmatch(plain)) and (
        hour_match["lead"] or hour_match["day24"] == "uhr" or (is_led and hour_match["day24"])
    ):
        return _clock(hour_match)
    for form in (_DIGITAL, _H_BETWEEN, _MARKED_HOUR, _O_CLOCK, _HAN_COLON, _HAN_CLOCK):
        if match := form.fullmatch(plain):
            return _clock(match)
    return None


def _plain(text: str) -> str | None:
    if len(text) > MAX_CHARS or _PRODUCT.fullmatch(text):
        return None
    plain = spoken(_MATHEMATICS.sub("", _COLONS.sub(":", text)))
    if plain is None:
        return None
    plain = _CARET.sub("", plain.replace("{", "").replace("}", "").lower())
    return plain if _MAY_NAME.fullmatch(plain) else None


def _clock(match: re.Match[str]) -> Clock | None:
    part = match.groupdict()
    hour, minute, second = _count(part["hour"]), _minute(part), _count(part.get("second") or "0")
    if hour is None or minute is None or second is None or hour > 24 or minute > 59 or second > 59:
        return None
    if hour == 24 and (minute or second):
        return None
    hour_text, mark = part["hour"], part.get("mark")
    past_hour = minute * 60 + second
    if mark:
        marked = _hour_of_day(hour, mark)
        return None if marked is None else Clock(marked * 3600 + past_hour)
    is_of_24 = not 1 <= hour <= 12 or hour_text[0] == "0" or bool(part.get("day24") and len(hour_text) == 2)
    return Clock(hour % 24 * 3600 + past_hour, is_ambiguous=not is_of_24)


def _minute(part: dict[str, str | None]) -> int | None:
    if quarter := part.get("part"):
        return {"半": 30, "一刻": 15, "三刻": 45}[quarter]
    return _count(part.get("minute") or "0")


def _count(number_text: str) -> int | None:
    """A whole number below 100 in figures or in words; 零五 is 05."""
    if number_text.isdecimal():
        return int(number_text)
    if len(number_text) > 1 and number_text[0] in "零〇":
        number_text = number_text[1:]
    number = value(number_text)
    if number_text in ("零", "〇"):
        return 0
    return int(number) if number is not None and number.denominator == 1 and 0 < number < 100 else None


def _hour_of_day(hour: int, mark: str) -> int | None:
    """The hour of the 24-hour clock for an hour with its half of the day; None if they contradict each other.

    The night and late evening reach beyond midnight: twelve at night is 0, one at night is 1. Noon takes the
    hours around it.
    """
    if mark in ("中午", "正午"):
        noonish = hour + 12 if hour < 4 else hour
        return noonish if 11 <= noonish <= 15 and hour else None
    half = _half(mark)
    if hour > 12:
        return hour if half != "am" and hour < 24 else None
    if half == "night":
        return hour % 12 if hour == 12 or hour < 5 else hour + 12 if hour > 5 else None
    if hour == 0:
        return 0 if half == "am" else None
    if half == "am":
        if hour == 12 and mark in ("上午", "午前", "早上", "早晨", "清晨", "in the morning"):
            return None
        return hour % 12
    if mark in ("傍晚", "in the evening") and (hour == 12 or hour < 4):
        return None
    return hour % 12 + 12


def _half(mark: str) -> str:
    if mark in ("晚上", "夜晚", "夜里", "夜裡", "深夜", "半夜", "午夜", "at night"):
        return "night"
    if mark in ("凌晨", "清晨", "早晨", "早上", "上午", "午前", "오전", "in the morning") or mark.startswith("a"):
        return "am"
    return "pm"


def _past(match: re.Match[str]) -> Clock | None:
    """The time of `half past three`, `quarter to 4`, `ten minutes past 2 PM`."""
    hour = _count(match["hour"])
    minutes = {"half": 30, None: None}.get(match["part"], 15)
    if match["minutes"]:
        minutes = _count(match["minutes"])
    if not hour or hour > 12 or minutes is None or minutes > 59 or (match["part"] == "half" and match["side"] == "to"):
        return None
    offset_s = minutes * 60 if match["side"] == "past" else -minutes * 60
    if not match["mark"]:
        return Clock((hour * 3600 + offset_s - 3600) % _HALF_DAY_S + 3600, is_ambiguous=True)
    marked = _hour_of_day(hour, match["mark"])
    return None if marked is None else Clock((marked * 3600 + offset_s) % (2 * _HALF_DAY_S))


MONTH_NAMES = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip
_MONTH_NAMES = [name.lower() for name in MONTH_NAMES]
_MONTHS = {name[:3]: number for number, name in enumerate(_MONTH_NAMES, start=1)}
_WEEKDAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_WEEKDAYS = {name[:3]: number for number, name in enumerate(_WEEKDAY_NAMES)}
_HAN_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_MONTH = rf"(?P<month>{'|'.join(_MONTH_NAMES)}|(?:{'|'.join(_MONTHS)}|sept)\b\.?)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAY_NAMES)}|(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b\.?)"
_DAY = r"(?P<day>\d{1,2})(?P<suffix> ?(?:st|nd|rd|th))?(?!\d)"
_YEAR = r"(?P<year>\d{4})"
_DATES = [
    re.compile(pattern)
    for pattern in (
        rf"{_MONTH} ?(?:the )?{_DAY}(?:(?: ?, ?| ){_YEAR})?",
        rf"(?:the )?{_DAY}(?: of)?[ -]?{_MONTH}(?:(?: ?, ?|[ -]){_YEAR})?",
        rf"{_YEAR},? {_MONTH} {_DAY}",
        rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)",
        rf"{_YEAR} ?年 ?(?P<month>\d{{1,2}}) ?月 ?(?P<day>\d{{1,2}}) ?[日号號]",
        r"(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号號]",
    )
]
_NUMERIC = re.compile(r"(?P<first>\d{1,2})(?P<mark>[/.]|(?<=\d\d)-)(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})")
_WEEKDAY_BEFORE = re.compile(rf"{_WEEKDAY}(?: ?, ?(?:the )?| (?:the )?)(?=\S)")
_WEEKDAY_BEHIND = re.compile(rf"(?: ?, ?| ?\( ?| ){_WEEKDAY} ?\)?$")
_HAN_WEEKDAY = re.compile(r"[ ,(]{0,2}(?:星期|礼拜|禮拜|周|週)(?P<weekday>[一二三四五六日天])[ ,)]{0,2}")
_HAN_DATE = re.compile(
    r"(?:(?P<year>[〇零一二三四五六七八九]{4})年)?(?P<month>[一二三四五六七八九十]{1,2})月"
    r"(?P<day>[一二三四五六七八九十]{1,3})[日号號]"
)
_HAN_FIGURES = {sign: str(number) for number, signs in enumerate(("〇零", *"一二三四五六七八九")) for sign in signs}


def date(text: str) -> Date | None:
    """The day that a whole text names, if it exists; `May`, `March 2020`, `3/4` and 03/04/2020 name none."""
    day_found = _date(text)
    if day_found is None and len(text) <= MAX_CHARS and "\\" not in text and (english := in_english(text)) != text:
        return _date(english)
    return day_found


def _date(text: str) -> Date | None:
    plain = _plain(text)
    if not plain:
        return None
    plain, weekday = _without_weekday(plain.removeprefix("on "))
    if numeric := _NUMERIC.fullmatch(plain):
        return _numeric(numeric, weekday)
    if spelled := _HAN_DATE.fullmatch(plain):
        year = "".join(_HAN_FIGURES[sign] for sign in spelled["year"] or "")
        return _valid(int(year) if year else None, _count(spelled["month"]), _count(spelled["day"]), weekday)
    for form in _DATES:
        if match := form.fullmatch(plain):
            return _named(match, weekday)
    return None


_KOREAN_DAY = r"(?P<year>\d{4})년 ?(?P<month>\d{1,2})월 ?(?P<day>\d{1,2})일"
_VIETNAMESE_DAY = r"(?:[Nn]gày )?(?P<day2>\d{1,2}) tháng (?P<month2>\d{1,2}),? (?:năm )?(?P<year2>\d{4})"
_DAY_BY_SIGNS = re.compile(f"{_KOREAN_DAY}|{_VIETNAMESE_DAY}")
"""Days of Korean and Vietnamese, whose months are numbers."""
_BEFORE_DAY = r"\b(?:am|le|el|il|den|tanggal|في|के) (?=\d)"
_BEHIND_DAY = r"(?<=\d)(?:\.|er|º|°|η)(?= )"
_BEHIND_YEAR = r"(?<=\d{4}) ?(?:года|г\.?|р\.?|r\.?|roku|року)\Z"
_AROUND_DAY = re.compile(rf"{_BEFORE_DAY}|{_BEHIND_DAY}|\b(?:de|del|di|du)\b|{_BEHIND_YEAR}", re.IGNORECASE)


_IN_HEBREW = "ב"
"""What stands before a month in Hebrew, without a space: 5 ביולי 2021."""


def in_english(text: str) -> str:
    """A date with its month in English, without the small words around the day and the year; else the text as it is."""
    if match := _DAY_BY_SIGNS.fullmatch(text):
        year, month, day = (match[part] or match[f"{part}2"] for part in ("year", "month", "day"))
        return f"{year}-{month.zfill(2)}-{day.zfill(2)}"
    for word in LETTERS.finditer(text):
        number = cldr.MONTHS.get(word[0].casefold()) or cldr.MONTHS.get(word[0].removeprefix(_IN_HEBREW))
        if number is not None:
            around = f"{text[: word.start()]}{MONTH_NAMES[number - 1]}{text[word.end() :].removeprefix('.')}"
            return " ".join(_AROUND_DAY.sub("", around).split())
    return text


_DAY_FIRST = rf"\d{{1,2}}(?:\.|st|nd|rd|th|er|º|°)? (?:(?:of|de|di) )?{LETTERS.pattern}\.?,?"
_MONTH_FIRST = rf"{LETTERS.pattern}\.? \d{{1,2}}(?:st|nd|rd|th)?,?"
_THE_YEAR = r"(?:(?:de|del|di) )?\d{4}(?!\d)(?: ?(?:года|г\.))?"
_NAMED_DAY = re.compile(
    rf"(?:\b(?:the|le|el|il|den|tanggal) )?\b(?:{_DAY_FIRST}|{_MONTH_FIRST}) {_THE_YEAR}|{_DAY_BY_SIGNS.pattern}",
    re.IGNORECASE,
)
_ISO_CHARS = 10
_TAIL_CHARS = 1_000


def with_iso_days(text: str) -> str:
    """A text of the same length with days such as `5. Mai 2021` in figures, and blanks behind them.

    Their words and points are not others' then: "May" does not doubt, and no sentence ends behind "5.". Only the end of a
    long text is rewritten.
    """
    first = max(0, len(text) - _TAIL_CHARS)
    return text[:first] + _NAMED_DAY.sub(_in_iso, text[first:])


def written_day(text: str, in_figures: str, span: tuple[int, int]) -> tuple[int, int]:
    """The place of a day in a text, by its place in the text `with_iso_days`."""
    start, end = span
    blank = end + len(in_figures[end:]) - len(in_figures[end:].lstrip(" "))
    return start, end + len(text[end:blank].rstrip(" "))


def _in_iso(match: re.Match[str]) -> str:
    text = match[0]
    day = date(text) if len(text) >= _ISO_CHARS else None
    if day is None or day.year is None:
        return text
    return f"{day.year:04}-{day.month:02}-{day.day:02}".ljust(len(text))


def _without_weekday(text: str) -> tuple[str, int | None]:
    if han := _HAN_WEEKDAY.search(text):
        if han.start() > 0 and han.end() < len(text):
            return text, None
        return text[: han.start()] + text[han.end() :], _HAN_WEEKDAYS[han["weekday"]]
    if prefix := _WEEKDAY_BEFORE.match(text):
        return text[prefix.end() :], _WEEKDAYS[prefix["weekday"][:3]]
    if suffix := _WEEKDAY_BEHIND.search(text):
        return text[: suffix.start()], _WEEKDAYS[suffix["weekday"][:3]]
    return text, None


def _numeric(match: re.Match[str], weekday: int | None) -> Date | None:
    """A date in numbers. Month and day stand in either order, so one must be beyond 12, or both the same."""
    if match["mark"] == "-" and len(match["second"]) == 1:
        return None
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if first > 12:
        return _valid(year, second, first, weekday)
    return _valid(year, first, second, weekday) if second > 12 or first == second else None


def _named(match: re.Match[str], weekday: int | None) -> Date | None:
    part = match.groupdict()
    name, day = match["month"], int(match["day"])
    suffix = (part.get("suffix") or "").strip()
    if suffix and suffix != _suffix(day):
        return None
    month = int(name) if name.isdecimal() else _MONTHS[name[:3]]
    return _valid(int(part["year"]) if part.get("year") else None, month, day, weekday)


def _suffix(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _valid(year: int | None, month: int | None, day: int | None, weekday: int | None) -> Date | None:
    """A date, if the calendar has it; a day without a year may be the 29th of February."""
    if year == 0 or month is None or day is None or not 1 <= month <= 12:
        return None
    return Date(year, month, day, weekday) if 1 <= day <= monthrange(year or 2000, month)[1] else None
