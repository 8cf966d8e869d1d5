"""Sentences about values that a pydantic model refuses: where the mistake is, what to write, and what is there.

Pydantic reports a union branch by branch, with the names of its own validators in the path. Here the errors of one place are
one sentence, and of several branches those count that came furthest: the branch whose type the value has, or that refused
only a part of it.

    reference must be a text, a number or a list; it is null
    choices must be a list of at least 1; it is an empty list
    params.metric must be 'exact' or 'f1'; it is the text 'bleu'
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from verifiers.near_names import near

Path = tuple[str | int, ...]

_TYPES: Final = {
    "string_type": "a text",
    "string_sub_type": "a text",
    "int_type": "a number",
    "int_parsing": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
    "none_required": "null",
}
"""What an error of this type asks for. The value is of another type."""
_BOUNDS: Final = {
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "string_too_short": "a text of at least {min_length} characters",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "finite_number": "a finite number",
}
"""What an error of this type asks for. The value is of the right type."""
_SHOWN_CHARS: Final = 40
_SHOWN_NAMES: Final = 10


def sentences(
    error: ValidationError,
    value: Any,
    *,
    root: str = "",
    beside: str | None = None,
    fields: Mapping[str, FieldInfo] | None = None,
) -> list[str]:
    """One sentence for each place with a mistake, in the order of the places.

    Args:
        error: The errors of a model.
        value: What it was given.
        root: The name of the value in its request or file.
        beside: The field that is not in the root there, but next to it.
        fields: The model's `model_fields`, whose descriptions say what to write.
    """
    fields = fields or {}
    errors: dict[Path, list[ErrorDetails]] = {}
    for problem in error.errors(include_url=False):
        errors.setdefault(_path(problem["loc"], value, problem["type"]), []).append(problem)
    missing = [str(path[-1]) for path, problems in errors.items() if path and problems[0]["type"] == "missing"]
    lines = []
    for path in _furthest(errors):
        where = _shown(path if path[:1] == (beside,) or not root else (root, *path))
        known_names = [name for name in fields if name != beside] if len(path) == 1 else missing
        line = _sentence(where, errors[path], known_names, "parameter" if root and len(path) == 1 else "field")
        field = fields.get(str(path[0])) if len(path) == 1 else None
        is_type = all(problem["type"] in ("missing", *_TYPES) for problem in errors[path])
        if field is not None and field.description and is_type:
            line += f" ({_first_sentence(field.description)})"
        lines.append(line)
    return lines


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def _path(loc: Path, value: Any, kind: str) -> Path:
    """The keys and indices of a location, without the names of union branches."""
    path: list[str | int] = []
    for depth, part in enumerate(loc):
        is_missing = kind == "missing" and depth == len(loc) - 1
        if isinstance(value, dict) and (part in value or is_missing):
            value = value.get(part)
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        elif not is_missing:
            continue
        path.append(part)
    return tuple(path)


def _furthest(paths: Iterable[Path]) -> list[Path]:
    """The paths below which no other lies."""
    paths = list(paths)
    above = {path[:depth] for path in paths for depth in range(1, len(path))}
    return [path for path in paths if path not in above]


def _sentence(where: str, problems: Sequence[ErrorDetails], known_names: Sequence[str], noun: str) -> str:
    first = problems[0]
    if first["type"] == "missing":
        return f"{where} is missing"
    if first["type"] == "extra_forbidden":
        return f"{where}: no such {noun}{near(where.rpartition('.')[2], known_names) or _listed(known_names)}"
    for problem in problems:
        if problem["type"] not in _TYPES and problem["type"] not in _BOUNDS:
            message = problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
            return f"{where}: {message}" if where else message
    bounds = [
        _BOUNDS[kind].format(**problem.get("ctx", {})) for problem in problems if (kind := problem["type"]) in _BOUNDS
    ]
    expected = list(dict.fromkeys(bounds or (_TYPES[problem["type"]] for problem in problems)))
    *earlier, last = expected
    return f"{where} must be {', '.join(earlier)}{' or ' if earlier else ''}{last}; it is {_described(first['input'])}"


def _listed(known_names: Sequence[str]) -> str:
    ellipsis_mark = ", …" if len(known_names) > _SHOWN_NAMES else ""
    return f"; there are {', '.join(sorted(known_names)[:_SHOWN_NAMES])}{ellipsis_mark}" if known_names else ""


def _shown(path: Path) -> str:
    """`tools[0].name`: names with dots, and indices in brackets."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part[:100]}" for part in path)
    return text.removeprefix(".")


def _described(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return (
            f"the text {value[:_SHOWN_CHARS]!r}{'…' if len(value) > _SHOWN_CHARS else ''}" if value else "an empty text"
        )
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    if isinstance(value, dict):
        names = ", ".join(str(name)[:_SHOWN_CHARS] for name in list(value)[:_SHOWN_NAMES])
        return f"an object with {names}{', …' if len(value) > _SHOWN_NAMES else ''}" if value else "an empty object"
    return str(value)[:_SHOWN_CHARS]
