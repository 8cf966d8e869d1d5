"""Servers that look at the form of an answer alone."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from xml.parsers import expat

import yaml

from verifiers.base import InvalidItem
from verifiers.commitment import takes_back
from verifiers.nemo_gym.patterns import compile_all
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, parsed
from verifiers.rules import documents
from verifiers.rules.schemas import compile_schema
from verifiers.rules.structured_output.toml_documents import read_toml
from verifiers.rules.structured_output.yaml_documents import read_yaml

_PARSED_SHARE: Final = 0.2
_BEGIN, _END = "<|BEGIN_CODE|>", "<|END_CODE|>"
_STEP: Final = re.compile(r"`([^`]{0,1000})`|\[(\d{1,9})\]|([^.\[`]{1,1000})")
"""A step of a path: a quoted name, a position, or a name."""


def format_verification(rollout: Rollout) -> Judgement:
    """Enough lines match one of the patterns; or every marker stands in the text, and no other that the patterns match."""
    rule = rollout.get("verifier", dict)
    match rule.get("type"):
        case "regex" | "inline_prose":
            patterns = _patterns(rule, "verify_regex")
            min_lines = rule.get("verify_min_matches", 1)
            if not isinstance(min_lines, int):
                raise InvalidItem("bad_row", "the row's 'verifier.verify_min_matches' must be a whole number")
            lines = sum(any(pattern.search(line) for pattern in patterns) for line in rollout.text.split("\n"))
            return Judgement(float(lines >= min_lines), None, "wrong_format", {"matching_lines": lines})
        case "string_match":
            markers = set(_strings(rule, "expected_markers"))
            matches = (match for pattern in _patterns(rule, "patterns") for match in pattern.finditer(rollout.text))
            foreign_count = sum(match.group(0) not in markers for match in matches)
            missing = sum(marker not in rollout.text for marker in markers)
            detail = {"missing_markers": missing, "other_markers": foreign_count}
            return Judgement(float(not foreign_count and not missing), None, "wrong_format", detail)
    raise InvalidItem("bad_row", "the row's 'verifier.type' must be regex, inline_prose or string_match")


def structeval(rollout: Rollout) -> Judgement:
    """0.2 for a document that can be read, and the share of the paths that it has times 0.8 (StructEval-T)."""
    paths, form = rollout.texts("raw_output_metric"), rollout.get("output_type", str).lower()
    if form not in _READERS:
        raise InvalidItem("bad_row", f"the row's 'output_type' must be one of {', '.join(_READERS)}")
    try:
        is_open = "```" in rollout.text and takes_back(rollout.text)
        document = None if is_open else _READERS[form](_code(rollout.text, form))
    except (documents.Unreadable, yaml.YAMLError, ValueError, csv.Error, RecursionError):
        document = None
    if not document:
        return Judgement(0.0, None, "not_readable")
    share = sum(_has(document, path) for path in paths) / len(paths)
    return Judgement(round(_PARSED_SHARE + (1 - _PARSED_SHARE) * share, 2), None, detail={"paths": share})


def structured_outputs(rollout: Rollout) -> Judgement:
    """One call of the tool, with arguments, or a part of them, that the strict schema holds for."""
    row = rollout.row
    schema = compile_schema(strict(parsed(rollout.get("schema_str", str))), check_formats=False)
    if isinstance(schema, str):
        raise InvalidItem("bad_row", f"the row's 'schema_str': {schema}")
    if len(rollout.calls) != 1:
        return Judgement(0.0, None, "too_many_calls" if rollout.calls else "no_call")
    call, key = rollout.calls[0], row.get("tool_payload_key")
    payload = parsed(call.arguments)
    if row.get("tool_name") not in (None, "", call.name):
        return Judgement(0.0, call.name, "wrong_call")
    if key:
        if not isinstance(payload, dict) or key not in payload:
            return Judgement(0.0, call.name, "wrong_call")
        payload = payload[key]
    return Judgement(float(payload is not None and schema.holds(payload)), call.name, "wrong_call")


def strict(schema: Any) -> Any:
    """A schema by which all properties must be there, and no others."""
    if not isinstance(schema, dict):
        return schema
    strict_schema = {name: strict(part) if isinstance(part, dict) else part for name, part in schema.items()}
    if isinstance(properties := schema.get("properties"), dict):
        strict_schema |= {"required": list(properties), "additionalProperties": False}
    return strict_schema


_JUDGES: Final = (format_verification, structeval, structured_outputs)
SERVERS: Final[Servers] = {judge.__name__: judge for judge in _JUDGES}


def _strings(rule: Mapping[str, Any], name: str) -> list[str]:
    values = rule.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InvalidItem("bad_row", f"the row's 'verifier.{name}' must be a list of texts")
    return values


def _patterns(rule: Mapping[str, Any], name: str) -> list[Any]:
    return compile_all(_strings(rule, name), f"verifier.{name}")


def _code(text: str, form: str) -> str:
    """The document of a response: between the marks, in the first fence, or all of it."""
    if _BEGIN in text:
        text = text.split(_BEGIN, 1)[1].split(_END, 1)[0]
    if "```" in text:
        fenced = text.split("```", 1)[1]
        _, _, text = fenced.partition("\n")
        text = text.split("```", 1)[0]
    return text.strip()


def _json(text: str) -> Any:
    return documents.read_json(text, unique_keys=False)


def _yaml(text: str) -> Any:
    return read_yaml(text, False, False)


def _csv(text: str) -> Any:
    rows = csv.reader(io.StringIO(text, newline=""))
    return {f"csv::{name}": None for name in next(rows, [])}


def _xml(text: str) -> Any:
    """The root as an object: attributes begin with @, and elements of one name are a list."""
    parser = expat.ParserCreate()
    around: list[tuple[dict[str, Any], list[str]]] = [({}, [])]
    """The fields and the texts of the open elements."""

    def start(_: str, attributes: Mapping[str, str]) -> None:
        if len(around) > documents.MAX_DEPTH:
            raise documents.Unreadable("too_deep")
        around.append(({f"@{name}": value for name, value in attributes.items()}, []))

    def end(name: str) -> None:
        fields, texts = around.pop()
        text, parent = "".join(texts).strip() or None, around[-1][0]
        value = {**fields, **({"#text": text} if text else {})} if fields else text
        if isinstance(parent.get(name), list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value] if name in parent else value

    def refuse(*_: object) -> None:
        raise documents.Unreadable("not_readable", "document type declarations are refused")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    parser.CharacterDataHandler = lambda part: around[-1][1].append(part)
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise documents.Unreadable("not_readable", str(error)) from error
    finally:  # break the circle of references
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
    return around[0][0]


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "json": _json,
    "yaml": _yaml,
    "toml": read_toml,
    "csv": _csv,
    "xml": _xml,
}


def _has(document: Any, path: str) -> bool:
    """Whether a document has a path: `museum.galleries[0].title`, `items.*.name`, `csv::id`."""
    if path.startswith("csv::"):
        return isinstance(document, dict) and path in document
    nodes = [document]
    for step in _steps(path):
        nodes = [child for node in nodes for child in _below(node, step)]
    return bool(nodes)


def _below(node: Any, step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        if isinstance(node, list) and step < len(node):
            yield node[step]
    elif step == "*" and isinstance(node, list):
        yield from node
    elif isinstance(node, dict):
        names = (step, step.removeprefix("@"))
        yield from (node[name] for name in dict.fromkeys(names) if name in node)


def _steps(path: str) -> Iterator[str | int]:
    for match in _STEP.finditer(path):
        quoted, position, name = match.groups()
        yield int(position) if position is not None else quoted if quoted is not None else name
