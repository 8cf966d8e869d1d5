"""Fresh items that a judge model grades, and that call tools."""

import json
from typing import Any

from tests.siege.fresh.draw import Draw, Posted


def judge(draw: Draw) -> Posted:
    """A question with its reference, or with criteria of its own, for the judge of `tests.judge_upstream.grader`."""
    wanted, other = draw.name(), draw.name()
    said = wanted if draw.is_right else other
    if draw.random() < 0.5:
        return Posted(f"{draw.prose(3)} It is {said}", float(draw.is_right), wanted, {"question": draw.sentence()})
    criteria = [{"id": name, "text": f"Names {name} or {wanted}"} for name in draw.names(draw.randint(1, 4))]
    params = {"mode": "criteria", "criteria": criteria, "question": draw.sentence()}
    return Posted(f"{draw.prose(3)} It is {said}.", float(draw.is_right), None, params)


def reward_model(draw: Draw) -> Posted:
    """A question, for the reward model of `tests.judge_upstream.grader`: its 20 and -20 are the ends of the map."""
    wanted, other = draw.name(), draw.name()
    said = wanted if draw.is_right else other
    params = {"question": f"{draw.sentence()} Greet {wanted}", "map": {"kind": "affine", "low": -20, "high": 20}}
    return Posted(f"{draw.prose(3)} Hello, {said}!", float(draw.is_right), None, params)


def _tool(draw: Draw, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tool in OpenAI's form, and arguments for it."""
    text, number, kind = draw.names(3)
    kinds = draw.names(3)
    properties = {
        text: {"type": "string", "description": draw.sentence()},
        number: {"type": "integer", "minimum": 0},
        kind: {"type": "string", "enum": kinds},
    }
    parameters = {"type": "object", "properties": properties, "required": [text, number]}
    function = {"name": name, "description": draw.sentence(), "parameters": parameters}
    arguments = {text: draw.phrase(), number: draw.fresh_int(), kind: kinds[0]}
    return {"type": "function", "function": function}, arguments


def tool_call(draw: Draw) -> Posted:
    names = draw.names(draw.randint(2, 5))
    tools, arguments = zip(*(_tool(draw, name) for name in names), strict=True)
    wanted = {"name": names[0], "arguments": arguments[0]}
    called = wanted if draw.is_right else {"name": names[1], "arguments": arguments[1]}
    response = f"{draw.thought()}<tool_call>\n{json.dumps(called)}\n</tool_call>"
    if draw.random() < 0.3:
        spelled = ", ".join(f"{name}={value!r}" for name, value in called["arguments"].items())
        response = f"[{called['name']}({spelled})]"
    return Posted(response, float(draw.is_right), wanted, {"tools": list(tools)})


def trajectory(draw: Draw) -> Posted:
    """A conversation of some steps, as a trainer records it."""
    names = draw.names(draw.randint(2, 5))
    calls = [{"name": name, "arguments": _tool(draw, name)[1]} for name in names]
    messages: list[dict[str, Any]] = []
    for call in calls if draw.is_right else calls[1:]:
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        identity = draw.name()
        messages += [
            {
                "role": "assistant",
                "content": draw.sentence(),
                "tool_calls": [{"id": identity, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": identity, "content": json.dumps({draw.name(): draw.sentence()})},
        ]
    messages.append({"role": "assistant", "content": draw.prose(2)})
    params = {"required": calls, "forbidden": [draw.name()], "max_calls": draw.randint(9, 999)}
    return Posted(messages, float(draw.is_right), None, params)
