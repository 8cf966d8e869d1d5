"""Servers that compare the next action of an agent with the expected one."""

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.conversation import ToolCall
from verifiers.nemo_gym.rollouts import Judgement, Rollout, parsed
from verifiers.rules.pairing import MAX_THINGS, can_be_paired

_SAME_WORDS: Final = 0.1
"""The least share of words that two texts have in common to be the same argument; one half is the most."""
_TOLERANCE: Final = 1e-6


def single_step(rollout: Rollout) -> Judgement:
    """A message where one is expected; calls that hold the expected ones, in any order, where calls are.

    As in the original, any message will do, and texts of two or more words are compared by the words they share.
    """
    action = rollout.get("expected_action", dict)
    if action.get("type") == "message":
        return Judgement(float(not rollout.calls and bool(rollout.text)), rollout.text, "call_unexpected")
    calls = action["calls"] if isinstance(action.get("calls"), list) else [action]
    if not 1 <= len(calls) <= MAX_THINGS:
        raise InvalidItem("bad_row", f"the row's 'expected_action.calls' must be 1 to {MAX_THINGS} calls")
    expected = [_call(each) for each in calls]
    threshold = rollout.row.get("word_count_similarity_threshold", _SAME_WORDS)
    if not isinstance(threshold, int | float):
        raise InvalidItem("bad_row", "the row's 'word_count_similarity_threshold' must be a number")
    if not rollout.calls:
        return Judgement(0.0, rollout.text, "no_call")
    fitting = [
        [place for place, made in enumerate(rollout.calls) if _is_same_call(wanted, made, threshold)]
        for wanted in expected
    ]
    return Judgement(float(can_be_paired(fitting)), rollout.calls[0].name, "wrong_call")


def example_mcp_weather(rollout: Rollout) -> Judgement:
    """The weather of the city was asked for, and told."""
    weather = rollout.get("expected_weather", str)
    city = str(rollout.get("verifier_metadata", dict).get("expected_city")).casefold()
    cities = [_arguments(call.arguments).get("city") for call in rollout.calls if call.name == "get_weather"]
    asked = any(str(named).casefold() == city for named in cities)
    return Judgement(float(asked and weather.casefold() in rollout.text.casefold()), rollout.text)


def math_advanced_calculations(rollout: Rollout) -> Judgement:
    """The tools gave each of the expected numbers."""
    wanted = parsed(rollout.row.get("ground_truth"))
    if not isinstance(wanted, list) or not wanted or not all(isinstance(number, int | float) for number in wanted):
        raise InvalidItem("bad_row", "the row needs 'ground_truth' as a list of numbers; add it")
    solutions = {_solution(result) for result in rollout.results}
    return Judgement(float(solutions.issuperset(wanted)), rollout.text)


def tool_call_multireward(rollout: Rollout) -> Judgement:
    """A third each for the expected call, arguments that hold what its tool requires, and a call that stands alone.

    A rollout has no expected call. The recorded correctness counts there, if these are the recorded calls.
    """
    name = rollout.calls[0].name if rollout.calls else None
    calls = [{"name": call.name, "arguments": dict(_arguments(call.arguments))} for call in rollout.calls]
    is_right = _is_expected(rollout.row, calls)
    tools = [tool for tool in rollout.get("declared_tools", list) if isinstance(tool, dict)]
    has_arguments = bool(rollout.calls) and isinstance(parsed(rollout.calls[0].arguments), dict)
    is_valid = has_arguments and all(key in calls[0]["arguments"] for key in _required(tools, name))
    parts = {"correctness": is_right, "schema_valid": is_valid, "format": len(calls) == 1 and not rollout.text}
    return Judgement(sum(parts.values()) / len(parts), name, "no_call")


def _is_expected(row: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> bool:
    """
    Raises:
        InvalidItem: the row has no expected call, and no record of these calls.
    """
    wanted, recorded = row.get("expected_call"), row.get("correctness")
    if isinstance(wanted, dict) and isinstance(wanted.get("name"), str):
        arguments = _arguments(wanted.get("arguments"))
        return any(
            call["name"] == wanted["name"] and all(call["arguments"].get(key) == arguments[key] for key in arguments)
            for call in calls
        )
    if recorded not in (0, 1) or not isinstance(row.get("predicted_calls"), list):
        raise InvalidItem("bad_row", "the row needs 'expected_call', an object with a name and arguments; add it")
    if row["predicted_calls"] != calls:
        message = "the recorded result is about another response: this one does not give the row's 'predicted_calls'"
        raise InvalidItem("stale_judgement", message)
    return bool(recorded)


def _required(tools: Sequence[Mapping[str, Any]], name: str | None) -> Sequence[Any]:
    schema = next((tool.get("parameters") for tool in tools if tool.get("name") == name), None)
    required = schema.get("required") if isinstance(schema, dict) else None
    return required if isinstance(required, list) else []


def circle_click(rollout: Rollout) -> Judgement:
    """The first click is in the circle of the colour."""
    colour, circles = rollout.get("target_color", str), rollout.get("circles", list)
    circle = next((each for each in circles if isinstance(each, dict) and each.get("color") == colour), {})
    try:
        x, y, radius = (float(circle[name]) for name in ("x", "y", "radius"))
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidItem("bad_row", "the row needs a circle of its 'target_color' with x, y and radius") from error
    clicks = [_arguments(call.arguments) for call in rollout.calls if call.name == "click"]
    try:
        place = (int(clicks[0]["x"]), int(clicks[0]["y"]))
        distance = math.dist(place, (x, y))
    except (IndexError, KeyError, TypeError, ValueError, OverflowError):
        return Judgement(0.0, None, "no_call")
    return Judgement(float(distance <= radius), str(place))


def example_multi_step(rollout: Rollout) -> Judgement:
    """The last call hands in the expected values, in their order."""
    wanted = rollout.get("expected_synonym_values", list)
    calls = [_arguments(call.arguments) for call in rollout.calls if call.name == "extract_synonym_values"]
    values = calls[-1].get("synonym_values") if calls else None
    return Judgement(float(values == wanted), json.dumps(values))


SERVERS: Final[Mapping[str, Callable[[Rollout], Judgement]]] = {
    "circle_click": circle_click,
    "example_multi_step": example_multi_step,
    "example_tool_call_multireward": tool_call_multireward,
    "math_advanced_calculations": math_advanced_calculations,
    "example_mcp_weather": example_mcp_weather,
    "single_step_tool_use_with_argument_comparison": single_step,
}


def _call(action: Any) -> ToolCall:
    name = action.get("name") if isinstance(action, dict) else None
    arguments = _arguments(action.get("arguments")) if isinstance(action, dict) else {}
    if not isinstance(name, str):
        raise InvalidItem(
            "bad_row", "the row's 'expected_action' must be a message, a function_call, or a batch of calls"
        )
    return ToolCall(name, arguments)


def _arguments(arguments: Any) -> Mapping[str, Any]:
    arguments = parsed(arguments)
    return arguments if isinstance(arguments, dict) else {}


def _solution(result: str) -> float | None:
    value = _arguments(result).get("solution")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _is_same_call(wanted: ToolCall, made: ToolCall, threshold: float) -> bool:
    return wanted.name == made.name and _is_same(wanted.arguments, _arguments(made.arguments), threshold)


def _is_same(wanted: Any, made: Any, threshold: float) -> bool:
    if not isinstance(made, type(wanted)):
        return False
    if isinstance(wanted, dict):
        return wanted.keys() == made.keys() and all(_is_same(wanted[key], made[key], threshold) for key in wanted)
    if isinstance(wanted, list):
        pairs = zip(wanted, made, strict=False)
        return len(wanted) == len(made) and all(_is_same(one, other, threshold) for one, other in pairs)
    if isinstance(wanted, str):
        return _is_same_text(wanted, made, threshold)
    if isinstance(wanted, float):
        return math.isclose(wanted, made, rel_tol=0.0, abs_tol=_TOLERANCE)
    return bool(wanted == made)


def _is_same_text(wanted: str, made: str, threshold: float) -> bool:
    one, other = wanted.lower().split(), made.lower().split()
    if min(len(one), len(other)) < 2:
        return wanted == made
    return (Counter(one) & Counter(other)).total() >= threshold * (len(one) + len(other))
