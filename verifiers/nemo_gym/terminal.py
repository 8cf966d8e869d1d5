"""A server that compares the next step in a terminal with a demonstrated one: terminal_multi_harness."""

import json
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, parsed
from verifiers.rules.pairing import MAX_THINGS
from verifiers.rules.schemas import Schema, compile_schema

_SAME: Final = 0.9
"""The least likeness of two commands that are the same."""
_KINDS: Final[Mapping[Any, type]] = {"array": list, "object": dict}
Arguments = Mapping[str, Any]
Call = tuple[str, Any]
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


def _matches(
    call: Call, expected_call: Call, schemas: Mapping[str, Arguments], compared: Mapping[str, Compared], bound: float
) -> bool:
    (name, arguments), (expected_name, expected) = call, expected_call
    if not isinstance(arguments, dict) or name not in schemas or name != expected_name:
        return False
    properties = schemas[name].get("properties") or {}
    arguments = {key: _read(value, properties.get(key)) for key, value in arguments.items()}
    if not _compiled(schemas[name]).holds(arguments) or not arguments.keys() <= expected.keys():
        return False
    return name not in compared or compared[name](arguments, expected, bound)


def _read(value: Any, schema: Any) -> Any:
    """A list or an object that was given as text; anything else as it is."""
    kind = _KINDS.get(schema.get("type")) if isinstance(schema, dict) and isinstance(schema.get("type"), str) else None
    read = parsed(value) if kind is not None and isinstance(value, str) else None
    return read if kind is not None and isinstance(read, kind) else value


def _expected(call: Any) -> Call:
    name = call.get("name") if isinstance(call, dict) else None
    arguments = parsed(call.get("arguments")) if isinstance(call, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise InvalidItem("bad_row", "each call of the row's 'expected_action' needs a name and an object of arguments")
    return name, arguments


def _order(call: Call) -> tuple[str, str]:
    return call[0], json.dumps(call[1], sort_keys=True)


def _schemas(rollout: Rollout) -> Mapping[str, Arguments]:
    """The schemas of the declared tools, by their names; each has compiled.

    Raises:
        InvalidItem: one of them is not a schema, or there are none.
    """
    tools = rollout.row.get("declared_tools")
    objects = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    functions = [function for tool in objects if isinstance(function := tool.get("function", tool), dict)]
    pairs = [(function.get("name"), function.get("parameters")) for function in functions]
    schemas = {name: schema for name, schema in pairs if isinstance(name, str) and isinstance(schema, dict)}
    if not schemas:
        raise InvalidItem("bad_row", "the row needs 'declared_tools' as a list of functions; add it")
    for schema in schemas.values():
        _compiled(schema)
    return schemas


def _compiled(schema: Arguments) -> Schema:
    compiled = compile_schema(schema, check_formats=False)
    if isinstance(compiled, str):
        raise InvalidItem("bad_row", f"the row's 'declared_tools': {compiled}")
    return compiled


def _alike(name: str, form: Callable[[Any], str | None]) -> Compared:
    """Whether an argument is like the expected one, both in a form; those without one are not."""

    def compare(made: Arguments, expected: Arguments, bound: float) -> bool:
        text, target = form(made.get(name)), form(expected.get(name))
        return text is not None and target is not None and SequenceMatcher(None, target, text).ratio() >= bound

    return compare


def _same(form: Callable[[Arguments], Any]) -> Compared:
    """Whether a form of the arguments is equal to that of the expected ones; None never is."""
    return lambda made, expected, _: form(made) is not None and form(made) == form(expected)


def _fields(*names: str) -> Compared:
    return _same(lambda arguments: [arguments.get(name) for name in names])


def _command(value: Any) -> str | None:
    return value.replace("\r\n", "\n").replace("\r", "\n").strip() if isinstance(value, str) else None


def _words(value: Any) -> str | None:
    return None if (text := _command(value)) is None else text.lower()


def _program(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _todos(arguments: Arguments) -> Any:
    todos = arguments.get("todos")
    if not isinstance(todos, list) or not all(isinstance(todo, dict) for todo in todos):
        return None
    return [(todo.get("status"), todo.get("priority")) for todo in todos]


def _paths(arguments: Arguments) -> Any:
    paths = arguments.get("paths")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        return None
    return sorted(path.strip() for path in paths) or None


def _plan(made: Arguments, _: Arguments, __: float) -> bool:
    plan = made.get("plan")
    return bool(plan.strip() if isinstance(plan, str) else plan)


def _edit(made: Arguments, expected: Arguments, bound: float) -> bool:
    return _fields("filePath", "replaceAll")(made, expected, bound) and made.get("oldString") != made.get("newString")


def _finish(made: Arguments, expected: Arguments, bound: float) -> bool:
    is_like = _same(_paths)(made, expected, bound) and _alike("reason", _words)(made, expected, bound)
    return is_like and bool(made.get("reason"))


_HARNESSES: Final[Mapping[str, Mapping[str, Compared]]] = {
    "codex": {"exec_command": _alike("cmd", _command), "update_plan": _plan},
    "agent006": {
        "execute_python": _alike("code", _program),
        "return_result": _alike("result", lambda value: json.dumps(value, sort_keys=True)),
    },
    "opencode": {
        "bash": _alike("command", _command), "todowrite": _same(_todos), "read": _fields("filePath"),
        "write": _fields("filePath"), "edit": _edit, "glob": _fields("pattern", "path"),
        "grep": _fields("pattern", "path", "include"), "webfetch": _fields("url", "format"), "skill": _fields("name"),
        "task": _fields("subagent_type"),
    },
    "stirrup": {
        "code_exec": _alike("cmd", _command), "web_search": _alike("query", _words), "finish": _finish,
        "fetch_web_page": _same(lambda arguments: (_words(arguments.get("url")) or None)),
    },
}  # fmt: skip
"""How the calls of a harness are compared, by the name of the tool."""
