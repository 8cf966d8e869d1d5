"""Reads one YAML document by the core schema of YAML 1.2.

Aliases and tags are refused before anything is built.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from verifiers.rules.documents import MAX_DEPTH, Unreadable


def read_yaml(text: str, unique_keys: bool, scalars: bool) -> Any:
    try:
        _check_events(text)
        node = yaml.compose(text, Loader=_CoreLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable("not_readable", str(error)) from error
    if node is None or (isinstance(node, yaml.ScalarNode) and not scalars):
        raise Unreadable("not_readable", "the document is neither a mapping nor a list")
    return _value(node, unique_keys)


def _check_events(text: str) -> None:
    """Refuse aliases, tags and nesting that is too deep. This runs before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Unreadable("not_readable", "anchors and aliases are refused")
        if getattr(event, "tag", None) is not None:
            raise Unreadable("not_readable", "tags are refused")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable("too_deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _value(node: yaml.Node, unique_keys: bool) -> Any:
    match node:
        case yaml.ScalarNode():
            return _SCALARS.get(node.tag, str)(node.value)
        case yaml.SequenceNode():
            return [_value(entry, unique_keys) for entry in node.value]
        case _:
            return _mapping(node, unique_keys)


def _mapping(node: yaml.Node, unique_keys: bool) -> dict[str, Any]:
    """The mapping of a node. Its keys are texts as they are written, because a JSON schema knows no other keys."""
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise Unreadable("not_readable", "a key is a list or a mapping; keys must be scalars")
        if unique_keys and key.value in mapping:
            raise Unreadable("duplicate_key")
        mapping[key.value] = _value(value, unique_keys)
    return mapping


class _CoreLoader(yaml.CSafeLoader):
    """Resolves plain scalars by the core schema of YAML 1.2 (section 10.3.2)."""


def _integer(text: str) -> int:
    if text[:2] in ("0o", "0x"):
        return int(text[2:], 8 if text[1] == "o" else 16)
    try:
        return int(text)
    except ValueError as error:  # it has more digits than Python reads
        raise Unreadable("not_readable", str(error)) from error


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.inf  # .inf and .nan
    if not math.isfinite(value):
        raise Unreadable("not_readable", f"{text[:40]} is not a number of JSON")
    return value


_SCALARS: Mapping[str, Callable[[str], Any]] = {
    "null": lambda _: None,
    "bool": lambda text: text[0] in "tT",
    "int": _integer,
    "float": _float,
}

_RESOLVED = (
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", list("tTfF")),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", list("-+0123456789")),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", list("-+.0123456789")),
    ("float", r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z", list("-+.")),
)

_CoreLoader.yaml_implicit_resolvers = {}

for _tag, _pattern, _first in _RESOLVED:
    _CoreLoader.add_implicit_resolver(_tag, re.compile(_pattern), _first)
