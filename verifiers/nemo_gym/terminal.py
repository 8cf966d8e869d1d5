"""A server that compares the next step in a terminal with a demonstrated one: terminal_multi_harness."""

import json
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, calls_of, parsed, schemas_of, spoken
from verifiers.rules.schemas import Schema, compile_schema

_SAME: Final = 0.9
"""The least likeness of two commands that are the same."""
Arguments = Mapping[str, Any]
Call = tuple[str, Any]
Schemas = tuple[Arguments, Schema]
"""A schema as it is declared, and compiled."""
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
        return spoken(rollout)
    expected_calls = sorted(calls_of(action), key=_order)
    schemas = {name: (schema, _compiled(schema)) for name, schema in schemas_of(rollout).items()}
    calls = sorted(((call.name, parsed(call.arguments)) for call in rollout.calls), key=_order)
    if len(calls) != len(expected_calls):
        return Judgement(0.0, rollout.text, "wrong_call" if calls else "no_call")
    matches = all(
        _matches(call, expected, schemas, compared, bound) for call, expected in zip(calls, expected_calls, strict=True)
    )
    return Judgement(float(matches), calls[0][0], "wrong_call")


SERVERS: Final[Servers] = {"terminal_multi_harness": terminal_multi_harness}


def _matches(
    call: Call, expected_call: Call, schemas: Mapping[str, Schemas], compared: Mapping[str, Compared], bound: float
) -> bool:
    (name, arguments), (expected_name, expected) = call, expected_call
    if not isinstance(arguments, dict) or name not in schemas or name != expected_name:
        return False
    schema, compiled = schemas[name]
    properties = schema.get("properties") or {}
    arguments = {key: _read(value, properties.get(key)) for key, value in arguments.items()}
    if not compiled.holds(arguments) or not arguments.keys() <= expected.keys():
        return False
    return name not in compared or compared[name](arguments, expected, bound)


def _read(value: Any, schema: Any) -> Any:
    """A list or an object that was given as text; anything else as it is."""
    kind = {"array": list, "object": dict}.get(str(schema.get("type"))) if isinstance(schema, dict) else None
    read = parsed(value) if kind is not None and isinstance(value, str) else None
    return read if kind is not None and isinstance(read, kind) else value


def _order(call: Call) -> tuple[str, str]:
    return call[0], json.dumps(call[1], sort_keys=True)


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


def _listed(name: str, kind: type, read: Callable[[Any], Any]) -> Callable[[Arguments], Any]:
    def form(arguments: Arguments) -> Any:
        values = arguments.get(name)
        return (
            [read(v) for v in values] if isinstance(values, list) and all(isinstance(v, kind) for v in values) else None
        )

    return form


def _all(*parts: Compared) -> Compared:
    return lambda made, expected, bound: all(part(made, expected, bound) for part in parts)


_paths = _listed("paths", str, str.strip)
_todos = _listed("todos", dict, lambda todo: (todo.get("status"), todo.get("priority")))
_HARNESSES: Final[Mapping[str, Mapping[str, Compared]]] = {
    "codex": {
        "exec_command": _alike("cmd", _command),
        "update_plan": lambda made, _, __: bool(str(made.get("plan") or "").strip()),
    },
    "agent006": {
        "execute_python": _alike("code", lambda code: code if isinstance(code, str) and code.strip() else None),
        "return_result": _alike("result", lambda value: json.dumps(value, sort_keys=True)),
    },
    "opencode": {
        "bash": _alike("command", _command), "todowrite": _same(_todos), "read": _fields("filePath"),
        "write": _fields("filePath"), "glob": _fields("pattern", "path"), "skill": _fields("name"),
        "edit": _all(_fields("filePath", "replaceAll"), lambda made, _, __: made.get("oldString") != made.get("newString")),
        "grep": _fields("pattern", "path", "include"), "webfetch": _fields("url", "format"), "task": _fields("subagent_type"),
    },
    "stirrup": {
        "code_exec": _alike("cmd", _command), "web_search": _alike("query", _words),
        "finish": _all(
            _same(lambda made: sorted(_paths(made) or []) or None), _alike("reason", _words),
            lambda made, _, __: bool(made.get("reason")),
        ),
        "fetch_web_page": _same(lambda made: _words(made.get("url")) or None),
    },
}  # fmt: skip
"""How the calls of a harness are compared, by the name of the tool."""
