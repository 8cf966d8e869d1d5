"""A server that compares the next step in a terminal with a demonstrated one: terminal_multi_harness."""

import json
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, parsed
from verifiers.rules.pairing import MAX_THINGS
from verifiers.rules.schemas import Schema, compile_schema

_SAME: Final = 0.9
"""The least likeness of two commands that are the same."""

Arguments = Mapping[str, Any]
Compared = Callable[[Arguments, Arguments, float], bool]
"""Whether the made arguments match the expected ones, by a least likeness."""


def terminal_multi_harness(rollout: Rollout) -> Judgement:
    """A message, a call or as many calls as expected; each valid by the schema of its tool.

    What else is compared depends on the harness. As in the original, any message will do, and of a tool that the
    harness does not name, the names of the arguments alone.
    """
    action = rollout.get("expected_action", dict)
    threshold = rollout.row.get("threshold")
    least = float(threshold) if isinstance(threshold, int | float) else _SAME
    compared = _HARNESSES.get(str(rollout.row.get("harness", "")), {})
    if action.get("type") == "message":
        return Judgement(float(not rollout.calls and bool(rollout.text)), rollout.text, "call_unexpected")
    listed = action.get("calls") if action.get("type") == "function_call_batch" else [action]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_THINGS:
        raise InvalidItem("bad_row", f"the row's 'expected_action' must be a message, or 1 to {MAX_THINGS} calls")
    wanted = sorted((_expected(call) for call in listed), key=_order)
    schemas = _schemas(rollout)
    made = sorted(((call.name, parsed(call.arguments)) for call in rollout.calls), key=_order)
    if len(made) != len(wanted):
        return Judgement(0.0, rollout.text, "wrong_call" if made else "no_call")
    matches = all(
        _matches(call, expected, schemas, compared, least) for call, expected in zip(made, wanted, strict=True)
    )
    return Judgement(float(matches), made[0][0], "wrong_call")


SERVERS: Final[Mapping[str, Callable[[Rollout], Judgement]]] = {"terminal_multi_harness": terminal_multi_harness}

Call = tuple[str, Any]


def _matches(
    made: Call, wanted: Call, schemas: Mapping[str, Mapping[str, Any]], compared: Mapping[str, Compared], least: float
) -> bool:
    (name, arguments), (wanted_name, expected) = made, wanted
    if not isinstance(arguments, dict) or name not in schemas:
        return False
    arguments = _typed(arguments, schemas[name])
    if not _compiled(schemas[name]).holds(arguments) or name != wanted_name or not arguments.keys() <= expected.keys():
        return False
    compare = compared.get(name)
    return compare is None or compare(arguments, expected, least)


def _expected(call: Any) -> Call:
    name = call.get("name") if isinstance(call, dict) else None
    arguments = parsed(call.get("arguments")) if isinstance(call, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidItem("bad_row", "each call of the row's 'expected_action' needs a name and an object of arguments")
    return name, arguments


def _order(call: Call) -> tuple[str, str]:
    return call[0], json.dumps(call[1], sort_keys=True)


def _schemas(rollout: Rollout) -> Mapping[str, Mapping[str, Any]]:
    """The schemas of the declared tools, by their names; each has compiled.

    Raises:
        InvalidItem: one of them is no schema, or there are none.
    """
    schemas: dict[str, Mapping[str, Any]] = {}
    tools = rollout.row.get("declared_tools")
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        name, schema = (
            (function.get("name"), function.get("parameters")) if isinstance(function, dict) else (None, None)
        )
        if isinstance(name, str) and isinstance(schema, dict):
            _compiled(schema)
            schemas[name] = schema
    if not schemas:
        raise InvalidItem("bad_row", "the row needs 'declared_tools' as a list of functions; add it")
    return schemas


def _compiled(schema: Mapping[str, Any]) -> Schema:
    compiled = compile_schema(schema, check_formats=False)
    if isinstance(compiled, str):
        raise InvalidItem("bad_row", f"the row's 'declared_tools': {compiled}")
    return compiled


def _typed(arguments: Arguments, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with lists and objects read that were given as text."""
    properties = schema.get("properties")
    kinds = (
        {name: part.get("type") for name, part in properties.items() if isinstance(part, dict)} if properties else {}
    )
    return {name: _read(value, _KINDS.get(str(kinds.get(name)))) for name, value in arguments.items()}


_KINDS: Final[Mapping[str, type]] = {"array": list, "object": dict}


def _read(value: Any, kind: type | None) -> Any:
    read = parsed(value) if kind is not None and isinstance(value, str) else None
    return read if kind is not None and isinstance(read, kind) else value


def _alike(one: str, other: str, least: float) -> bool:
    return SequenceMatcher(None, other, one).ratio() >= least


def _text(name: str, *, lower: bool = False, plain: bool = False) -> Compared:
    """Texts that are alike but for the ends of lines and white space around."""

    def compare(made: Arguments, wanted: Arguments, least: float) -> bool:
        one, other = made.get(name), wanted.get(name)
        if not isinstance(one, str) or not isinstance(other, str) or (plain and not (one.strip() and other.strip())):
            return False
        if not plain:
            one, other = (part.replace("\r\n", "\n").replace("\r", "\n").strip() for part in (one, other))
        return _alike(one.lower(), other.lower(), least) if lower else _alike(one, other, least)

    return compare


def _equal(*names: str) -> Compared:
    return lambda made, wanted, _: all(made.get(name) == wanted.get(name) for name in names)


def _plan(made: Arguments, _: Arguments, __: float) -> bool:
    plan = made.get("plan")
    return bool(plan.strip() if isinstance(plan, str) else plan)


def _result(made: Arguments, wanted: Arguments, least: float) -> bool:
    one, other = (json.dumps(call.get("result"), sort_keys=True) for call in (made, wanted))
    return _alike(one, other, least)


def _todos(made: Arguments, wanted: Arguments, _: float) -> bool:
    one, other = made.get("todos"), wanted.get("todos")
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return False
    return all(_has_same_state(todo, expected) for todo, expected in zip(one, other, strict=True))


def _has_same_state(todo: Any, expected: Any) -> bool:
    if not isinstance(todo, dict) or not isinstance(expected, dict):
        return False
    return all(todo.get(key) == expected.get(key) for key in ("status", "priority"))


def _edit(made: Arguments, wanted: Arguments, least: float) -> bool:
    return _equal("filePath", "replaceAll")(made, wanted, least) and made.get("oldString") != made.get("newString")


def _page(made: Arguments, wanted: Arguments, _: float) -> bool:
    one, other = made.get("url"), wanted.get("url")
    return isinstance(one, str) and isinstance(other, str) and one.lower().strip() == other.lower().strip() != ""


def _finish(made: Arguments, wanted: Arguments, least: float) -> bool:
    one, other = (_paths(call.get("paths")) for call in (made, wanted))
    return bool(one) and one == other and bool(made.get("reason")) and _text("reason", lower=True)(made, wanted, least)


def _paths(value: Any) -> Sequence[str] | None:
    is_list = isinstance(value, list) and all(isinstance(path, str) for path in value)
    return sorted(path.strip() for path in value) if is_list else None


_HARNESSES: Final[Mapping[str, Mapping[str, Compared]]] = {
    "codex": {"exec_command": _text("cmd"), "update_plan": _plan},
    "agent006": {"execute_python": _text("code", plain=True), "return_result": _result},
    "opencode": {
        "bash": _text("command"),
        "todowrite": _todos,
        "read": _equal("filePath"),
        "write": _equal("filePath"),
        "edit": _edit,
        "glob": _equal("pattern", "path"),
        "grep": _equal("pattern", "path", "include"),
        "webfetch": _equal("url", "format"),
        "skill": _equal("name"),
        "task": _equal("subagent_type"),
    },
    "stirrup": {
        "code_exec": _text("cmd"),
        "web_search": _text("query", lower=True),
        "fetch_web_page": _page,
        "finish": _finish,
    },
}
"""How the calls of a harness are compared, by the name of the tool."""
