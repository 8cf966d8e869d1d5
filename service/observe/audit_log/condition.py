"""A condition on records that a person wrote in SQL: `reward < 0.5 and response ilike '%wait%'`.

DuckDB parses the text into a tree. What the tree may hold is listed here: columns of records, constants, comparisons and
some functions, whose work and results are bounded by the record. DuckDB writes SQL anew from the tree, so that nothing of
the text itself is run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from service.observe.audit_log.columns import COLUMNS
from verifiers.near_names import near

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables

JSON = dict[str, Any]
NAMES: Final = (*COLUMNS, "step", "moment")
"""The columns that a condition may name. `step` is the trainer's, `moment` the time as a timestamp."""
_CLASSES: Final = frozenset(
    ("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "OPERATOR", "FUNCTION", "CAST", "TYPE", "BETWEEN", "CASE")
)
_TYPES: Final = frozenset(("INTEGER", "BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP"))
_FUNCTIONS: Final = frozenset(
    (
        *("+", "-", "*", "/", "//", "%", "->>"),
        *("~~", "!~~", "~~*", "!~~*", "like_escape", "not_like_escape", "ilike_escape", "not_ilike_escape"),
        *("abs", "round", "floor", "ceil", "isfinite", "isnan", "lower", "upper", "length", "left", "right"),
        *("contains", "starts_with", "ends_with", "prefix", "suffix", "regexp_matches", "regexp_full_match"),
        *("json_extract", "json_extract_string", "json_type", "json_array_length", "json_exists"),
        *("epoch", "year", "month", "day", "hour", "minute"),
    )
)
_SELECT: Final = "SELECT true WHERE ({}\n)"


class BadCondition(Exception):
    """The text is not a condition on a record. The message says what is wrong, and what to write."""


def checked(tables: "Tables", text: str) -> str:
    """SQL that means what the text means, for `WHERE` in a select from the rows of a table. Null where a record has
    another type than the condition needs.

    Raises:
        BadCondition
    """
    parsed = _tree(tables, _SELECT.format(text))
    if parsed.get("error"):
        problem = parsed.get("error_message", "it cannot be read")
        raise BadCondition(f"{problem}; write it as reward < 0.5 AND run_id = 'a'")
    condition = parsed["statements"][0]["node"].get("where_clause")
    tree = _tree(tables, _SELECT.format("true"))
    tree["statements"][0]["node"]["where_clause"] = condition
    nodes = list(_nodes(condition))
    for node in nodes:
        _check(node)
    if parsed != tree or condition is None:
        raise BadCondition("it is more than a condition; write what stands behind WHERE alone")
    try:
        for pattern in _patterns(nodes):  # which `TRY` would hide, and no record matches
            tables.sql("SELECT regexp_matches('', $pattern)", {"pattern": pattern})
        ((select,),) = tables.sql("SELECT json_deserialize_sql($tree::JSON)", {"tree": json.dumps(tree)})
        sql: str = select.partition(" WHERE ")[2]
        tables.sql(f"SELECT 1 FROM {tables.together([])[0]} WHERE {sql}")
    except tables.error as error:
        message = str(error).partition("\n")[0]
        raise BadCondition(message.removeprefix("Binder Error: ")) from error
    return f"TRY({sql})"


def _tree(tables: "Tables", select: str) -> JSON:
    ((text,),) = tables.sql("SELECT json_serialize_sql($select)", {"select": select})
    tree: JSON = json.loads(text)
    return tree


def _nodes(value: Any) -> Iterator[JSON]:
    """The expressions in a tree."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            if "class" in value:
                yield dict(value)
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def _patterns(nodes: Sequence[JSON]) -> Iterator[str]:
    """The patterns that are written out."""
    for node in nodes:
        if node["class"] == "FUNCTION" and node["function_name"].lower().startswith("regexp_"):
            for argument in node["arguments"][1:2]:
                if (literal := argument["expression"].get("literal")) is not None:
                    yield str(literal["text"])


def _check(node: JSON) -> None:
    if node["class"] == "LAMBDA":
        raise BadCondition(
            "`->` is not possible here; write `->>`, which gives text, and cast it: (metadata ->> '$.step')::INTEGER"
        )
    if node["class"] not in _CLASSES:
        raise BadCondition(f"{node['class'].lower()} is not possible in a condition on one record")
    if node["class"] == "COLUMN_REF":
        name = ".".join(node["column_names"])
        if name.lower() not in NAMES:
            hint = near(name, NAMES) or f"; there are {', '.join(NAMES)}"
            raise BadCondition(f"there is no column {name!r}{hint}")
    if node["class"] == "FUNCTION" and (node["function_name"].lower() not in _FUNCTIONS or node["schema"]):
        raise BadCondition(f"the function {node['function_name']!r} is not possible here")
    if node["class"] == "TYPE" and node["type_name"].upper() not in _TYPES:
        raise BadCondition(f"the type {node['type_name']} is not possible here; there are {', '.join(sorted(_TYPES))}")
