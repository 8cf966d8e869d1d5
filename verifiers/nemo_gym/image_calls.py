"""A server that compares a call of an image tool with the demonstrated one: image_tools."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, between, expected_call, parsed

_CALL: Final = "<tool_call>"
_END: Final = "</tool_call>"
_FUNCTION: Final = re.compile(r"\s*<function=([^>\s]{1,100})>(.*?)</function>\s*", re.DOTALL)
_NUMBER: Final = re.compile(r"[-+]?\d{0,20}\.?\d{1,20}(?:[eE][-+]?\d{1,3})?")
_REGIONS: Final = ("image_zoom_in_tool", "image_crop_tool")
"""Two names of one decision: a crop is a zoom by 1."""
_WITH_ONE_IMAGE: Final = "img_idx"
_FULL_CREDIT: Final = 0.5
_TOLERANCE: Final = 1e-6
_SIDE: Final = 1000.0
_CHANNELS: Final = 3 * 255.0

Arguments = Mapping[str, Any]


def image_tools(rollout: Rollout) -> Judgement:
    """One call, of the same tool, on the same images, with arguments near the demonstrated ones."""
    name, expected = expected_call(rollout.row)
    calls = _calls(rollout.text)
    if not calls:
        return Judgement(0.0, None, "no_call")
    made_name, arguments = calls[0]
    if len(calls) > 1:
        return Judgement(0.0, made_name, "too_many_calls")
    if made_name != name and not (made_name in _REGIONS and name in _REGIONS):
        return Judgement(0.0, made_name, "wrong_call")
    likeness = _likeness(name, arguments, expected) if _has_same_images(name, arguments, expected) else 0.0
    return Judgement(float(likeness >= _FULL_CREDIT), made_name, "wrong_call", {"likeness": likeness})


SERVERS: Final[Servers] = {"image_tools": image_tools}


def _calls(text: str) -> list[tuple[str, Arguments]]:
    """The calls in XML, then those in JSON."""
    xml: list[tuple[str, Arguments]] = []
    json_calls: list[tuple[str, Arguments]] = []
    for part in text.split(_CALL)[1:]:
        body, end, _ = part.partition(_END)
        if not end:
            continue
        if function := _FUNCTION.fullmatch(body):
            name, content = function.groups()
            pairs = (part.partition(">") for part in between(content, "<parameter=", "</parameter>"))
            xml.append((name, {key: _parsed(value.strip()) for key, mark, value in pairs if mark}))
        elif isinstance(value := _parsed(body.strip()), dict) and (name := value.get("name") or value.get("tool_name")):
            arguments = value.get("arguments")
            json_calls.append((str(name).strip(), arguments if isinstance(arguments, dict) else {}))
    return xml + json_calls


def _parsed(value: Any) -> Any:
    """A value that may be JSON in text."""
    read = parsed(value)
    return value if read is None else read


def _has_same_images(name: str, arguments: Arguments, expected: Arguments) -> bool:
    """Whether the images are the same as far as both calls say."""
    if name == "image_side_by_side_tool":
        first, second = (_numbers(call.get("img_indices")) for call in (arguments, expected))
        return first is None or second is None or sorted(first) == sorted(second)
    keys = ("img_idx_a", "img_idx_b") if name in ("image_diff_tool", "image_overlay_tool") else (_WITH_ONE_IMAGE,)
    pairs = [(_number(arguments.get(key)), _number(expected.get(key))) for key in keys]
    return all(first is None or second is None or int(first) == int(second) for first, second in pairs)


def _likeness(name: str, arguments: Arguments, expected: Arguments) -> float:
    """How near the arguments are that matter for the tool, in [0, 1]."""
    match name:
        case "image_zoom_in_tool" | "image_crop_tool":
            return _overlap(_box(arguments.get("bbox_2d")), _box(expected.get("bbox_2d")))
        case "color_at_tool":
            point, expected_point = (_numbers(call.get("point_2d"), 2) for call in (arguments, expected))
            if point is None or expected_point is None:
                return float(expected_point is None)
            return max(0.0, 1.0 - math.dist(point, expected_point) / _SIDE)
        case "find_color_tool" | "count_objects_tool":
            point, expected_point = (_numbers(call.get("color"), 3) for call in (arguments, expected))
            if point is None or expected_point is None:
                return float(arguments.get("color") == expected.get("color"))
            return max(0.0, 1.0 - sum(abs(a - b) for a, b in zip(point, expected_point, strict=True)) / _CHANNELS)
        case "image_rotate_tool" | "image_flip_tool":
            key = next((key for key in ("degrees", "axis") if key in expected), None)
            return 1.0 if key is None else float(_is_same(arguments.get(key), expected[key], turns=key == "degrees"))
        case "image_diff_tool" | "image_overlay_tool" | "image_side_by_side_tool":
            alpha, wanted_alpha = _number(arguments.get("alpha")), _number(expected.get("alpha"))
            return float(alpha is None or wanted_alpha is None or abs(alpha - wanted_alpha) <= _TOLERANCE)
    raise InvalidItem("bad_row", f"the row's 'expected_action' is of no image tool that is known: {name[:80]!r}")


def _is_same(value: Any, expected: Any, *, turns: bool) -> bool:
    number, expected_number = _number(value), _number(expected)
    if number is None or expected_number is None:
        return str(value).strip().lower() == str(expected).strip().lower()
    distance = abs(number - expected_number) % 360.0 if turns else abs(number - expected_number)
    return min(distance, 360.0 - distance if turns else distance) <= _TOLERANCE


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _numbers(value: Any, count: int | None = None) -> list[float] | None:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        return None
    numbers = [number for entry in value if (number := _number(entry)) is not None]
    return numbers if len(numbers) == len(value) else None


def _box(value: Any) -> Sequence[float] | None:
    numbers = _numbers(_NUMBER.findall(value)[:4] if isinstance(value, str) else value, 4)
    if numbers is None:
        return None
    (x1, x2), (y1, y2) = sorted(numbers[::2]), sorted(numbers[1::2])
    return x1, y1, x2, y2


def _overlap(box_: Sequence[float] | None, expected_box: Sequence[float] | None) -> float:
    """The intersection over the union. The demonstrated box itself is right, also if it is empty."""
    if box_ is None or expected_box is None or box_ == expected_box:
        return float(expected_box is None or box_ == expected_box)
    width = min(box_[2], expected_box[2]) - max(box_[0], expected_box[0])
    height = min(box_[3], expected_box[3]) - max(box_[1], expected_box[1])
    if width <= 0 or height <= 0:
        return 0.0
    intersection = width * height
    return intersection / (sum((box[2] - box[0]) * (box[3] - box[1]) for box in (box_, expected_box)) - intersection)
