"""Reads boxes exactly, in the forms of models and data sets.

    [{"bbox_2d": [x1, y1, x2, y2], "label": "cat", "score": 0.9}, ...]     or `bbox`, `box`, `box_2d`; `category`, `class`
    {"bbox_2d": [...], ...}, {"objects": [...]}, [[x1, y1, x2, y2], ...], [x1, y1, x2, y2]
    {"x1": ..., "y1": ..., "x2": ..., "y2": ...}, also with xmin, ymin, xmax, ymax, as an item or as its box
    {"boxes": [[...], ...], "labels": ["cat", ...]}, as many of the one as of the other
    <ref>cat</ref><box>[[x1, y1, x2, y2], ...]</box>, <box>(x1, y1), (x2, y2)</box>; the pair alone       InternVL, Qwen-VL
    <|object_ref_start|>cat<|object_ref_end|><|box_start|>(x1, y1), (x2, y2)<|box_end|>                         Qwen2-VL

The text is JSON or Python's notation: single quotes, tuples, a comma before the end. It stands alone, in one code
fence, or behind prose from the start of a line to the end. Objects may also follow each other without a list around
them. If no labels are wanted, the only `[x1, y1, x2, y2]` of a sentence counts, too. An item is dropped if it has not
four finite numbers, if its sides are reversed, or if it lacks a label where labels count. A text that is no such list,
or is cut off, has no boxes at all. This differs from the empty list.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from verifiers.commitment import fold
from verifiers.commitment.affirmed import denies_at

BoxFormat = Literal["xyxy", "xywh", "cxcywh", "yxyx"]

MAX_BOXES = 300
MAX_TEXT_CHARS = 200_000
_BOX_KEYS = ("bbox_2d", "bbox", "box", "box_2d", "bounding_box", "coordinates", "position")
_LABEL_KEYS = ("label", "category", "class", "name", "class_name", "category_name", "object")
_CORNER_KEYS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("x_min", "y_min", "x_max", "y_max"))
_SCORE_KEYS = ("score", "confidence")
_FENCE = re.compile(r"```[A-Za-z0-9]{0,20}[ \t]*\n(.*?)```", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d{1,24}(?:\.\d{0,24})?(?:[eE][-+]?\d{1,2})?", re.ASCII)
_MAX_EXPONENT = 24
_SHORT_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Box:
    """A box by its corners, with x1 <= x2 and y1 <= y2; `label` is empty if none was given."""

    x1: Fraction
    y1: Fraction
    x2: Fraction
    y2: Fraction
    label: str = ""
    score: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes of a list, and the number of items that are not boxes."""

    kept: Sequence[Box]
    dropped: int = 0


def from_text(text: str, box_format: BoxFormat, *, needs_label: bool) -> Boxes | None:
    """The boxes of a text; None if the text is not a list of boxes."""
    text = text.strip()
    if fences := _FENCE.findall(text):
        # Two fences with different boxes: neither is the answer.
        if len({fence.strip() for fence in fences}) > 1:
            return None
        text = fences[-1].strip()
    if len(text) > MAX_TEXT_CHARS:
        return None
    value = _tagged(text) if text.startswith("<") else _places(text) if _CORNER_PAIR.match(text) else _decoded(text)
    if value is None and not text.startswith(("<", "[", "{")):
        value = [] if _NOTHING.fullmatch(text) else _listed_last(text)
        # `10, 20, 30, 40`
        if value is None and _FOUR.fullmatch(f"[{text}]"):
            value = _loaded(f"[{text}]")
        # `The cat is at [10, 20, 30, 40].`
        if value is None and not needs_label:
            value = _only_box(text)
    return None if value is None else from_value(value, box_format, needs_label=needs_label)


def from_value(value: Any, box_format: BoxFormat, *, needs_label: bool) -> Boxes | None:
    """The boxes of decoded JSON, in order; None if the value cannot hold boxes."""
    items = _items(_with_small_keys(value))
    if items is None:
        return None
    boxes = [_box(item, box_format) for item in items]
    usable = [box for box in boxes if box is not None and (box.label or not needs_label)]
    return Boxes(usable, len(items) - len(usable))


# --- texts


_OBJECT = re.compile(
    r"<\|object_ref_start\|>(?P<object>[^<>]{0,200})<\|object_ref_end\|>|<ref>(?P<ref>[^<>]{0,200})</ref>"
)
_BOX = re.compile(r"\s{0,8}(?:<box>|<\|box_start\|>)(?P<places>[^<>]*)(?:</box>|<\|box_end\|>)\s{0,8}[,;]?\s{0,8}")
_PLACE = r"\(([^(),\[\]]{1,60},[^(),\[\]]{1,60})\)"
_CORNER_PAIR = re.compile(rf"{_PLACE}\s{{0,4}},?\s{{0,4}}{_PLACE}\s{{0,4}},?")


def _tagged(text: str) -> list[dict[str, Any]] | None:
    """The items of a text of only boxes in tags; else None. A label names all boxes of the tag behind it."""
    items, end = list[dict[str, Any]](), 0
    while end < len(text):
        name_tag = _OBJECT.match(text, end)
        tag = _BOX.match(text, name_tag.end() if name_tag else end)
        if tag is None:
            return None
        contents = _places(tag["places"])
        if contents is None:
            return None
        # `<box>[[10, 20, 30, 40], [50, 60, 70, 80]]</box>`
        if len(contents) == 1 and isinstance(contents[0], list) and _corners(contents[0]) is None:
            contents = contents[0]
        # `<box>10, 20, 30, 40</box>`
        if len(contents) == 4 and _corners(contents) is not None:
            contents = [contents]
        label = (name_tag["object"] or name_tag["ref"] or "") if name_tag else ""
        items += [{"bbox_2d": content, "label": label} for content in contents]
        end = tag.end()
    return items


def _places(text: str) -> list[Any] | None:
    """The content of a tag, with pairs of opposite corners turned into boxes."""
    contents = _loaded("[" + _CORNER_PAIR.sub(r"[\1, \2],", text) + "]")
    return contents if isinstance(contents, list) else None


def _listed_last(text: str) -> Any:
    start = _LIST_START.search(text) if text.endswith(("]", "}")) else None
    return None if start is None else _decoded(text[start.end() :])


def _only_box(text: str) -> list[Any] | None:
    """The only box that a sentence names; None if there may be others."""
    candidates = list(_FOUR.finditer(text))
    # Any other bracket may be a box that cannot be read.
    if not candidates or len(candidates) != text.count("[") or "{" in text:
        return None
    # `The cat is not at [1, 2, 3, 4], but at [10, 20, 30, 40].`
    stated = [four[0] for four in candidates if not denies_at(text, four.start())]
    boxes = [_loaded(four) for four in dict.fromkeys(stated)]
    return boxes[:1] if len({tuple(box) for box in boxes}) == 1 else None


_LIST_START = re.compile(r"\n[ \t]{0,8}(?=[\[{])")
_FOUR = re.compile(rf"\[\s{{0,4}}{_NUMBER.pattern}(?:\s{{0,4}},\s{{0,4}}{_NUMBER.pattern}){{3}}\s{{0,4}}\]", re.ASCII)
_THING = r"(?:object|target|box|instance|item)(?:s|es)?"
_SEEN = r"(?: (?:is|are|was|were))?(?: (?:found|detected|present|visible|there))?"
_NOTHING = re.compile(rf"(?:no|0|zero) {_THING}{_SEEN}[.!]?|none[.!]?", re.IGNORECASE)
_BETWEEN_OBJECTS = re.compile(r"\}\s{0,8},?\s{0,8}\{")


def _decoded(text: str) -> Any:
    # `{"bbox_2d": …}, {"bbox_2d": …}` without the brackets of a list
    if text.startswith("{") and _BETWEEN_OBJECTS.search(text):
        listed = _loaded(f"[{_BETWEEN_OBJECTS.sub('},{', text)}]")
        if isinstance(listed, list) and len(listed) > 1 and all(isinstance(entry, dict) for entry in listed):
            return listed
    return _loaded(text)


def _loaded(text: str) -> Any:
    for source in (text, None):
        try:
            return _DECODER.decode(_as_json(text) if source is None else source)
        except (ValueError, RecursionError):
            continue
    return None


def _number(text: str) -> Fraction | None:
    """The number of a text; None if it is too large, or has too many decimals, for a place in an image."""
    if len(text) <= _SHORT_DIGITS and text.isdecimal():
        return Fraction(int(text))
    if not _NUMBER.fullmatch(text):
        return None
    _, _, exponent = text.lower().partition("e")
    return Fraction(text) if abs(int(exponent or 0)) <= _MAX_EXPONENT else None


def _no_number(text: str) -> None:
    """Read NaN and Infinity as None. An item that holds them is not a box."""


_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=_no_number, strict=False)
_NO_JSON = re.compile(r"[\"'()]|,(?=\s*[\])}])|True|False|None")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
_SINGLE = re.compile(r"'(?P<text>(?:[^'\\]|\\.|'(?!\s*(?:[,:}\])]|\Z)))*+)(?:'|\Z)", re.DOTALL)
"""A string in single quotes.

An apostrophe ends a string only where it can end. An open string goes to the end: this is linear.
"""
_AS_JSON = {"(": "[", ")": "]", "True": "true", "False": "false", "None": "null"}
_STRAY_BACKSLASH = re.compile(r'\\(?!["\\/bfnrtu])')


def _as_json(text: str) -> str:
    """A text in Python's notation, or in that of models, as JSON."""
    pieces, position = list[str](), 0
    while match := _NO_JSON.search(text, position):
        pieces.append(text[position : match.start()])
        position = match.end()
        if quoted := (_DOUBLE if match[0] == '"' else _SINGLE).match(text, match.start()):
            position = quoted.end()
            pieces.append(_quoted(quoted))
        pieces.append(_AS_JSON.get(match[0], ""))
    return "".join(pieces) + text[position:]


def _quoted(match: re.Match[str]) -> str:
    if match.re is _DOUBLE:
        return _STRAY_BACKSLASH.sub("", match[0])
    return '"' + _STRAY_BACKSLASH.sub("", match["text"]).replace('\\"', '"').replace('"', '\\"') + '"'


# --- items


def _with_small_keys(value: Any) -> Any:
    """The objects of a list, or one object, with their keys in lower case: "Position", "Confidence"."""
    if isinstance(value, dict):
        return {str(key).lower(): field for key, field in value.items()}
    return (
        [_with_small_keys(entry) if isinstance(entry, dict) else entry for entry in value]
        if isinstance(value, list)
        else value
    )


def _items(value: Any) -> Sequence[Any] | None:
    if isinstance(value, dict):
        if any(key in value for key in _BOX_KEYS):
            return [value]
        if _corner_values(value) is not None:
            return [value]
        lists = [entry for entry in value.values() if isinstance(entry, list | tuple)]
        value = lists[0] if len(lists) == 1 else _paired(value)
    if not isinstance(value, list | tuple):
        return None
    if len(value) == 4 and not any(isinstance(entry, dict | list | tuple | str) for entry in value):
        return [value]
    if len(value) == 1 and isinstance(value[0], list | tuple) and _corners(value[0]) is None:
        return value[0] if all(isinstance(entry, dict | list | tuple) for entry in value[0]) else value
    return value


def _paired(value: dict[str, Any]) -> Sequence[Any] | None:
    """The items of an object that holds boxes in one list and their labels in another."""
    boxes = next((value[key] for key in ("bboxes", "boxes") if isinstance(value.get(key), list)), None)
    labels = value.get("labels")
    if boxes is None or not isinstance(labels, list) or len(boxes) != len(labels):
        return None
    return [{"bbox_2d": box, "label": label} for box, label in zip(boxes, labels, strict=True)]


def _corner_values(item: Any) -> list[Any] | None:
    """The four sides of an object that names each of them."""
    if not isinstance(item, dict):
        return None
    return next(([item[key] for key in keys] for keys in _CORNER_KEYS if all(key in item for key in keys)), None)


def _box(item: Any, box_format: BoxFormat) -> Box | None:
    sides, label, score = item, "", None
    if isinstance(item, dict):
        sides = next((item[key] for key in _BOX_KEYS if key in item), None)
        if (named_sides := _corner_values(item if sides is None else sides)) is not None:
            sides, box_format = named_sides, "xyxy"
        name = next((item[key] for key in _LABEL_KEYS if key in item), "")
        if not isinstance(name, str):
            return None
        label = name.strip()
        score = next((score_value for key in _SCORE_KEYS if (score_value := _exact(item.get(key))) is not None), None)
    corners = _corners(sides)
    if corners is None:
        return None
    x1, y1, x2, y2 = _ordered(corners, box_format)
    return Box(x1, y1, x2, y2, label, Fraction(1) if score is None else score) if x1 <= x2 and y1 <= y2 else None


def _corners(sides: Any) -> tuple[Fraction, Fraction, Fraction, Fraction] | None:
    if not isinstance(sides, list | tuple) or len(sides) != 4:
        return None
    a, b, c, d = (_exact(side) for side in sides)
    return None if a is None or b is None or c is None or d is None else (a, b, c, d)


def _exact(value: Any) -> Fraction | None:
    """The exact value of a number: of a text, which is exact already, or of a request, by its shortest decimal form."""
    if isinstance(value, Fraction):
        return value
    return _number(repr(value)) if type(value) in (int, float) else None


def _ordered(
    corners: tuple[Fraction, Fraction, Fraction, Fraction], box_format: BoxFormat
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    a, b, c, d = corners
    match box_format:
        case "xyxy":
            return a, b, c, d
        case "xywh":
            return a, b, a + c, b + d
        case "cxcywh":
            return a - c / 2, b - d / 2, a + c / 2, b + d / 2
        case "yxyx":
            return b, a, d, c


def folded(label: str) -> str:
    """A label without differences in case, width of characters and spacing."""
    return " ".join(fold(label).casefold().split())
