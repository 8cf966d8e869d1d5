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
    bound = float(threshold) if isinstance(threshold, int | float) else _SAME
    compared = _HARNESSES.get(str(rollout.row.get("harness", "")), {})
    if action.get("type") == "message":
        return Judgement(float(not rollout.calls and bool(rollout.text)), rollout.text, "call_unexpected")
    listed = action.get("calls") if action.get("type") == "function_call_batch" else [action]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_THINGS:
        raise InvalidItem("bad_row", f"the row's 'expected_action' must be a message, or 1 to {MAX_THINGS} calls")
    expected_calls = sorted((_expected(call) for call in listed), key=_order)
    schemas = _schemas(rollout)
    calls = sorted(((call.name, parsed(call.arguments)) for call in rollout.calls), key=_order)
    if len(calls) != len(expected_calls):
        return Judgement(0.0, rollout.text, "wrong_call" if calls else "no_call")
    matches = all(
        _matches(call, expected, schemas, compared, bound) for call, expected in zip(calls, expected_calls, strict=True)
    )
    return Judgement(float(matches), calls[0][0], "wrong_call")


SERVERS: Final[Mapping[str, Callable[[Rollout], Judgement]]] = {"terminal_multi_harness": terminal_multi_harness}

Call = tuple[str, Any]


def _matches(
    call: Call,
    expected_call: Call,
    schemas: Mapping[str, Mapping[str, Any]],
    compared: Mapping[str, Compared],
    bound: float,
) -> bool:
    (name, arguments), (wanted_name, expected) = call, expected_call
    if not isinstance(arguments, dict) or name not in schemas:
        return False
    arguments = _typed(arguments, schemas[name])
    if not _compiled(schemas[name]).holds(arguments) or name != wanted_name or not arguments.keys() <= expected.keys():
        return False
    compare = compared.get(name)
    return compare is None or compare(arguments, expected, bound)


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
        InvalidItem: one of them is not a schema, or there are none.
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


def _alike(first: str, second: str, bound: float) -> bool:
    return SequenceMatcher(None, second, first).ratio() >= bound


def _text(name: str, *, lower: bool = False, plain: bool = False) -> Compared:
    """Texts that are alike but for the ends of lines and white space around."""

    def compare(arguments: Arguments, expected: Arguments, bound: float) -> bool:
        value, target = arguments.get(name), expected.get(name)
        if (
            not isinstance(value, str)
            or not isinstance(target, str)
            or (plain and not (value.strip() and target.strip()))
        ):
            return False
        if not plain:
            value, target = (part.replace("\r\n", "\n").replace("\r", "\n").strip() for part in (value, target))
        return _alike(value.lower(), target.lower(), bound) if lower else _alike(value, target, bound)

    return compare


def _equal(*names: str) -> Compared:
    return lambda arguments, expected, _: all(arguments.get(name) == expected.get(name) for name in names)


def _plan(arguments: Arguments, _: Arguments, __: float) -> bool:
    plan = arguments.get("plan")
    return bool(plan.strip() if isinstance(plan, str) else plan)


def _result(arguments: Arguments, expected: Arguments, bound: float) -> bool:
    result, target = (json.dumps(call.get("result"), sort_keys=True) for call in (arguments, expected))
    return _alike(result, target, bound)


def _todos(arguments: Arguments, reference: Arguments, _: float) -> bool:
    todos, targets = arguments.get("todos"), reference.get("todos")
    if not isinstance(todos, list) or not isinstance(targets, list) or len(todos) != len(targets):
        return False
    return all(_has_same_state(todo, expected) for todo, expected in zip(todos, targets, strict=True))


def _has_same_state(todo: Any, expected: Any) -> bool:
    if not isinstance(todo, dict) or not isinstance(expected, dict):
        return False
    return all(todo.get(key) == expected.get(key) for key in ("status", "priority"))


def _edit(arguments: Arguments, expected: Arguments, bound: float) -> bool:
    return _equal("filePath", "replaceAll")(arguments, expected, bound) and arguments.get("oldString") != arguments.get(
        "newString"
    )


def _page(arguments: Arguments, expected: Arguments, _: float) -> bool:
    url, expected_url = arguments.get("url"), expected.get("url")
    return (
        isinstance(url, str)
        and isinstance(expected_url, str)
        and url.lower().strip() == expected_url.lower().strip() != ""
    )


def _finish(arguments: Arguments, expected: Arguments, bound: float) -> bool:
    paths, targets = (_paths(call.get("paths")) for call in (arguments, expected))
    return (
        bool(paths)
        and paths == targets
        and bool(arguments.get("reason"))
        and _text("reason", lower=True)(arguments, expected, bound)
    )


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
