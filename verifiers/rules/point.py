"""The committed point of the response must lie inside a reference box, or near a reference point.

    a reference box     1 inside or on its edge, else 0
    a reference point   (1 - distance / max_error)², 0 from max_error on (NeMo-Gym's reward for pointing at elements)

Of several references the best counts. Distances are in units of the image's sides: coordinates of 0-1000 divided by
`scale`. A point is written `<point>x, y</point>`, `{"point_2d": [x, y]}`, `pyautogui.click(x=1, y=2)`, `(x, y)` or
`[x, y]`; of these forms the first one used decides, in the answer tag if there is one. Two different points commit to
none, so that a screen cannot be sprayed; a box is not a point. Coordinates may have exponents: `(5e2, 3.0e+02)`.
"""

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.commitment import Channel
from verifiers.long_texts import judge_all

_Number = Annotated[float, Field(ge=-1e9, le=1e9)]
_Positive = Annotated[float, Field(gt=0, le=1e9)]
_Place = tuple[_Number, _Number]
_Area = tuple[_Number, _Number, _Number, _Number]


class Target(BaseModel):
    """A reference with the field names of grounding data sets; other fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    bbox_2d: _Area | None = None
    """A box: left, top, right and bottom."""
    bbox: _Area | None = None
    """The same by another name."""
    point_2d: _Place | None = None
    """A point: x and y."""
    point: _Place | None = None
    """The same by another name."""

    def place(self) -> _Place | _Area | None:
        return self.bbox_2d or self.bbox or self.point_2d or self.point


class PointParams(commitment.ExtractionParams):
    """The place where the point should be."""

    reference: (
        _Place | _Area | Target | Annotated[tuple[_Place | _Area | Target, ...], Field(min_length=1, max_length=64)]
    )
    """A point `[x, y]`, a box `[x1, y1, x2, y2]`, `{"bbox": [...]}`, or several of which one must be met."""
    scale: _Positive | tuple[_Positive, _Positive] = 1000.0
    """The largest coordinate of the reference; width and height if they differ, 1 for fractions of the image."""
    image_size: tuple[_Positive, _Positive] | None = None
    """The largest coordinates of the response, if not `scale`: width and height of the image it saw, in pixels."""
    max_error: _Positive = 0.15
    """The distance to a point at which the score becomes 0, in sides of the image."""

    @model_validator(mode="after")
    def _check(self) -> "PointParams":
        for area in _places(self):
            if area is None:
                raise ValueError("reference: an object needs bbox_2d, bbox, point_2d or point")
            if len(area) == 4 and (area[0] > area[2] or area[1] > area[3]):
                raise ValueError(f"reference: box {list(area)} is not [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2")
        return self


class Point(Verifier[PointParams]):
    name = "point"
    version = "19"
    params = PointParams
    summary = "The one committed point lies in a reference box, or is graded by its distance to a reference point"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[PointParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Point:
    long_texts.register(resources.workers, judge, PointParams, EXAMPLES[0])
    return Point(resources.workers)


def judge(response: str, params: PointParams, explain: bool = False) -> Verdict:
    extraction = commitment.extract(response, params, (Channel.ANSWER_TAG, Channel.WHOLE))
    extraction = commitment.corrected(response, extraction, "reject")
    detail = extraction.detail(explain)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **detail)
    points = _points(extraction.answer)
    detail.pop("span", None)
    if explain:
        detail["candidates"] = [[float(x), float(y)] for x, y in points]
    # `(10, 20) or (30, 40)`
    if len(points) != 1:
        return Verdict.wrong("conflicting_answers" if points else "no_answer", **detail)
    across, down = _exact(params.scale)
    x, y = points[0]
    if params.image_size is not None:
        width, height = _exact(params.image_size)
        x, y = x * across / width, y * down / height
    detail["point"] = [float(x), float(y)]
    point_text = f"{float(x):g}, {float(y):g}"
    score = max(_score((x, y), target, params) for target in _places(params) if target is not None)
    if score == 1:
        return Verdict.correct(point_text, **detail)
    return (
        Verdict(Status.OK, float(score), "partial", point_text, detail)
        if score
        else Verdict.wrong(extracted=point_text, **detail)
    )


# --- the point that a response names

_N = r"([-+]?\d{1,7}(?:\.\d{1,15})?(?:e[-+]?\d{1,2}(?![\d.]))?)"
_PAIR = rf"{_N}\s{{0,4}},\s{{0,4}}{_N}"
_OPEN, _CLOSE = r"[(\[]\s{0,4}", r"\s{0,4}[)\]]"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"<(?:point|click)>\s{{0,4}}(?:{_OPEN})?{_N}\s{{0,4}}[,\s]\s{{0,4}}{_N}\s{{0,4}}(?:{_CLOSE})?</(?:point|click)>"
        rf"|<points?\s{{1,4}}x1?=[\"']{_N}[\"']\s{{1,4}}y1?=[\"']{_N}[\"'](?!\s{{0,4}}x2=)",
        rf"[\"'](?:point_2d|point|coordinates?|position|click)[\"']\s{{0,4}}:\s{{0,4}}{_OPEN}{_PAIR}{_CLOSE}",
        rf"[\"']?(?<!\w)x[\"']?\s{{0,4}}[=:]\s{{0,4}}[\"']?{_N}[\"']?\s{{0,4}}[,;]?\s{{0,4}}[\"']?y[\"']?\s{{0,4}}[=:]\s{{0,4}}[\"']?{_N}(?![A-Za-z\d_.])",
        rf"(?:click|tap|press|moveto|dragto|point)(?:_\w{{1,12}})?\(\s{{0,4}}(?:\w{{1,16}}=[\"']?)?(?:{_OPEN})?{_PAIR}(?![\w.])",
        rf"(?<![A-Za-z\d_.]){_OPEN}{_PAIR}{_CLOSE}",
        rf"\A\W{{0,8}}?{_PAIR}\s{{0,4}}\.?\s{{0,4}}\Z",
    )
)
"""The forms of a point, from the most to the least explicit."""
_MAX_POINTS = 64
_DENIED = re.compile(r"(?:(?:\bnot|n['’]t)(?:\s(?:at|in|on|be))?|不是|不在|并非|而非)\s?\Z", re.IGNORECASE)
_DENIED_BEHIND = re.compile(r"\s?(?:(?:では|じゃ)(?:な|あり)|[은는이가]?\s?아[니닙닌])")
_DENIED_CHARS = 16


def _points(text: str) -> list[tuple[Fraction, Fraction]]:
    """The distinct points of the most explicit form that the text uses."""
    text = commitment.fold(text).replace("\u2212", "-")
    for form in _FORMS:
        if points := list(dict.fromkeys(_some(form, text))):
            return points
    return []


def _some(form: re.Pattern[str], text: str) -> Iterator[tuple[Fraction, Fraction]]:
    for count, match in enumerate(form.finditer(text)):
        if count == _MAX_POINTS:
            return
        is_denied = _DENIED.search(text, max(0, match.start() - _DENIED_CHARS), match.start())
        if not is_denied and not _DENIED_BEHIND.match(text, match.end()):
            x, y = (Fraction(number) for number in match.groups() if number is not None)
            yield x, y


# --- how near it is


def _places(params: PointParams) -> list[_Place | _Area | None]:
    reference = params.reference
    if isinstance(reference, Target):
        return [reference.place()]
    targets: list[_Place | _Area | None] = []
    for entry in reference:
        if isinstance(entry, float):
            return [reference]  # type: ignore[list-item]  # two or four numbers
        targets.append(entry.place() if isinstance(entry, Target) else entry)
    return targets


def _exact(tolerance: float | tuple[float, float]) -> tuple[Fraction, Fraction]:
    x, y = tolerance if isinstance(tolerance, tuple) else (tolerance, tolerance)
    return Fraction(repr(x)), Fraction(repr(y))


def _score(point: tuple[Fraction, Fraction], target: Sequence[float], params: PointParams) -> Fraction:
    x, y = point
    # The target is a box: any point in it is right.
    if len(target) == 4:
        x1, y1, x2, y2 = (Fraction(repr(side)) for side in target)
        return Fraction(x1 <= x <= x2 and y1 <= y <= y2)
    across, down = _exact(params.scale)
    to_x, to_y = _exact((target[0], target[1]))
    distance = _root(((x - to_x) / across) ** 2 + ((y - to_y) / down) ** 2)
    return max(Fraction(0), 1 - distance / Fraction(repr(params.max_error))) ** 2


_ROOT_BITS = 80


def _root(square: Fraction) -> Fraction:
    """The square root. It is exact if it is a fraction, else cut to binary places: the same on every machine."""
    top, bottom = square.numerator, square.denominator
    return Fraction(math.isqrt(top * bottom << 2 * _ROOT_BITS), bottom << _ROOT_BITS)


EXAMPLES = (
    Example("<point>500, 300</point>", {"reference": [450, 250, 550, 350]}, 1.0, "correct", "inside the box"),
    Example("<point>500, 300</point>", {"reference": [500, 300]}, 1.0, "correct", "the point itself"),
    Example(
        '{"point_2d": [530, 340]}', {"reference": [500, 300]}, 4 / 9, "partial", "a third of the largest error off"
    ),
    Example(
        "pyautogui.click(x=960, y=540)", {"reference": [500, 500], "image_size": [1920, 1080]}, 1.0, "correct", "px"
    ),
    Example("(100, 300)", {"reference": [450, 250, 550, 350]}, 0.0, "wrong_answer", "outside the box"),
    Example("(500, 300) or (10, 10)", {"reference": [500, 300]}, 0.0, "conflicting_answers", "two points are none"),
    Example("[450, 250, 550, 350]", {"reference": [450, 250, 550, 350]}, 0.0, "no_answer", "a box is not a point"),
)
