"""A server that compares the next call of a coding agent with a demonstrated one: swe_pivot."""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from importlib import resources
from typing import Any, Final

from verifiers import tables
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, expected_call, parsed

_KIND_OF: Final[Mapping[str, str]] = {
    spelled: kind
    for kind, names in tables.values(resources.files(__package__) / "edits.yaml").items()
    for name in names.split()
    for spelled in (name, name.replace("_", ""))
}
"""What a tool is for, by its name in lower case."""
_PATH: Final = re.compile(
    r"""(?:^|[\s='"(])((?:/[\w._-]{1,255}){1,64}|\.\.?/[\w._/-]{1,4096}|[\w._-]{1,255}/[\w._/-]{1,4096})"""
)
_MAX_CHARS: Final = 2_000
"""What is compared of a text; the comparison takes the square of it."""
_SAME_COMMAND, _FULL_CREDIT, _SEEN_LINES = 0.3, 0.8, 0.8

Arguments = Mapping[str, Any]


def swe_pivot(rollout: Rollout) -> Judgement:
    """The first call is of the same tool, or one for the same, on the same file, and its text is alike."""
    name, expected = expected_call(rollout.row)
    if not rollout.calls:
        return Judgement(0.0, None, "no_call")
    call = rollout.calls[0]
    arguments = parsed(call.arguments)
    if not isinstance(arguments, dict):
        return Judgement(0.0, call.name, "wrong_call")
    kind, made_kind = (_KIND_OF.get(tool.lower(), "unknown") for tool in (name, call.name))
    if call.name.lower() != name.lower() and (kind != made_kind or kind == "unknown"):
        return Judgement(0.0, call.name, "wrong_call")
    if not _has_same_target(made_kind, kind, arguments, expected):
        return Judgement(0.0, call.name, "wrong_call")
    likeness = _likeness(arguments, expected, kind) if kind == made_kind else 1.0
    return Judgement(float(likeness >= _FULL_CREDIT), call.name, "wrong_call", {"likeness": likeness})


SERVERS: Final[Servers] = {"swe_pivot": swe_pivot}


def _has_same_target(made_kind: str, kind: str, arguments: Arguments, expected: Arguments) -> bool:
    if kind == made_kind == "edit":
        return _has_same_edit(arguments, expected)
    if kind == made_kind == "bash":
        return _has_same_command(_command(arguments), _command(expected))
    if {kind, made_kind} <= {"search", "read"}:
        return _has_same_file(arguments, expected, 3)
    return True


def _has_same_edit(arguments: Arguments, expected: Arguments) -> bool:
    commands = [str(call.get("command", "")) for call in (arguments, expected)]
    if not _has_same_file(arguments, expected, 2) or (commands[1] and commands[0] != commands[1]):
        return False
    ranges = [_lines(call.get("view_range")) for call in (arguments, expected)]
    if commands != ["view", "view"] or None in ranges:
        return True
    (start, end), (wanted_start, wanted_end) = ranges  # type: ignore[misc]
    overlap = max(0, min(end, wanted_end) - max(start, wanted_start))
    return overlap / max(1, wanted_end - wanted_start) >= _SEEN_LINES


def _has_same_file(arguments: Arguments, expected: Arguments, parts: int) -> bool:
    """Whether the call names the file that is expected, if one is."""
    return not _file(expected) or _end(_file(arguments), parts) == _end(_file(expected), parts)


def _has_same_command(command: str, expected: str) -> bool:
    """Whether two commands run the same program, on one of the same paths, and are not all different."""
    if not (command and expected):
        return not expected
    if command.split()[0].rpartition("/")[2] != expected.split()[0].rpartition("/")[2]:
        return False
    paths, expected_paths = (
        {_end(path.rstrip("/"), 3) for path in _PATH.findall(text) if len(path) > 2} - {""}
        for text in (command, expected)
    )
    return (not paths or not expected_paths or bool(paths & expected_paths)) and _alike(
        command, expected
    ) >= _SAME_COMMAND


def _likeness(arguments: Arguments, expected: Arguments, kind: str) -> float:
    if kind == "bash":
        commands = _command(arguments), _command(expected)
        return _alike(*commands) if all(commands) else 1.0
    if kind != "edit":
        return 1.0
    pairs = [(str(arguments.get(name, "")), str(expected.get(name, ""))) for name in ("old_str", "new_str")]
    if any(text for text, _ in pairs) and any(expected_text for _, expected_text in pairs):
        return min(
            _alike(text, expected_text) if text and expected_text else float(text == expected_text)
            for text, expected_text in pairs
        )
    text, expected_text = _content(arguments), _content(expected)
    return _alike(text, expected_text) if text and expected_text else float(text == expected_text)


def _alike(first: str, second: str) -> float:
    return SequenceMatcher(None, first[:_MAX_CHARS], second[:_MAX_CHARS]).ratio()


def _content(call: Arguments) -> str:
    """The text that an edit writes."""
    if "new_str" in call:
        return f"{call.get('old_str', '')}\n{call['new_str']}"
    return _first(call, ("patch", "diff", "content", "file_text"))


def _command(call: Arguments) -> str:
    return _first(call, ("command", "cmd")).strip()


def _file(call: Arguments) -> str:
    return _first(call, ("path", "file", "file_path", "filename", "file_name")).strip()


def _first(call: Arguments, names: Sequence[str]) -> str:
    return next((str(call[name]) for name in names if name in call), "")


def _end(path: str, count: int) -> str:
    """The last parts of a path: where a repository lies does not count."""
    return "/".join(path.strip("/").split("/")[-count:])


def _lines(value: Any) -> tuple[int, int] | None:
    try:
        start, end = json.loads(value) if isinstance(value, str) else value
        return int(start), int(end)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
