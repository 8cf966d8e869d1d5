"""A server that pays for the final state of an office: workplace_assistant.

The response's calls and the row's are carried out on the same tables. What these hold then is compared, in any case of letters
but for states, lists and boards. A call that the server would refuse changes nothing, and neither does one that reads.

The tables are those of NVIDIA-NeMo/Gym, resources_servers/workplace_assistant/csv_data (Apache-2.0).
"""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from importlib import resources
from typing import Any, Final

from verifiers import tables
from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, parsed

Row = dict[str, Any]
Tables = dict[str, list[Row]]
_FILE: Final = resources.files(__package__) / "workplace.json.gz"
_TABLES: Final[Mapping[str, Any]] = json.loads(gzip.decompress(_FILE.read_bytes()))
_KEYS: Final[Mapping[str, str]] = {name: table["columns"][0] for name, table in _TABLES.items()}
_ADDRESSES: Final = ("participant_email", "assigned_to_email", "customer_email")
_CASE_COUNTS: Final = ("status", "list_name", "board")
_TOOLS: Final[Mapping[str, Any]] = tables.values(resources.files(__package__) / "workplace.yaml")
_MAX_CHANGES: Final = 256
"""Calls that change the tables. Each reads a table."""


def workplace_assistant(rollout: Rollout) -> Judgement:
    """Whether the calls leave the tables as those of the row do."""
    expected = parsed(rollout.row.get("ground_truth"))
    if not isinstance(expected, list) or not all(isinstance(call, dict) and "name" in call for call in expected):
        raise InvalidItem("bad_row", "the row needs 'ground_truth' as a list of calls; add it")
    changes = [(call.name, call.arguments) for call in rollout.calls if call.name in _CHANGES]
    if len(changes) > _MAX_CHANGES:
        return Judgement(0.0, changes[0][0], "too_many_calls")
    is_same = _state(changes) == _state([(str(call["name"]), call.get("arguments")) for call in expected])
    return Judgement(float(is_same), changes[-1][0] if changes else None, "wrong_state")


SERVERS: Final[Servers] = {"workplace_assistant": workplace_assistant}


def _state(calls: Sequence[tuple[str, Any]]) -> Tables:
    tables: Tables = {
        name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for name, table in _TABLES.items()
    }
    for name, arguments in calls:
        with suppress(TypeError, ValueError, AttributeError):
            if name in _CHANGES:
                _CHANGES[name](tables, **parsed(arguments))
    return {name: [_folded(row) for row in rows] for name, rows in tables.items()}


def _folded(row: Row) -> Row:
    return {k: v if k in _CASE_COUNTS or not isinstance(v, str) else v.lower() for k, v in row.items()}


def _check(condition: object) -> None:
    if not condition:
        raise ValueError("the server refuses the call")


def _check_values(tables: Tables, table: str, fields: Row) -> None:
    """See that the values are such as the server takes. A task is assigned to one who has another."""
    for column, value in fields.items():
        _check(value in _TOOLS["allowed"].get(column, [value]))
        if column == "event_start":
            datetime.fromisoformat(value)
        _check(column != "duration" or int(value) > 0)
        if table == "tasks" and column == "assigned_to_email":
            _check(value.lower() in [row[column].lower() for row in tables[table]])


def _lowered(fields: Row) -> Row:
    return {name: value.lower() if value and name in _ADDRESSES else value for name, value in fields.items()}


def _row(tables: Tables, table: str, fields: Row) -> Row:
    """The row whose key `fields` hold, and nothing else."""
    (key,) = fields
    rows = [row for row in tables[table] if row[_KEYS[table]] == fields[key]]
    _check(rows and key == _KEYS[table])
    return rows[0]


def _add(tables: Tables, table: str, fields: Row, digits: int = 8) -> None:
    number = int(max(row[_KEYS[table]] for row in tables[table])) + 1
    tables[table].append(
        {**dict.fromkeys(_TABLES[table]["columns"]), _KEYS[table]: f"{number:0{digits}}", **_lowered(fields)}
    )


def _send(tables: Tables, *, recipient: str = "", subject: str = "", body: str = "") -> None:
    _check(recipient and subject and body and "@" in recipient and "." in recipient)
    _add(tables, "emails", {"sender/recipient": recipient.lower(), "subject": subject, "body": body}, digits=1)


def _forward(tables: Tables, *, recipient: str = "", **key: str) -> None:
    email = _row(tables, "emails", key)
    _send(tables, recipient=recipient, subject=f"FW: {email['subject']}", body=email["body"])


def _reply(tables: Tables, *, body: str = "", **key: str) -> None:
    email = _row(tables, "emails", key)
    _send(tables, recipient=email["sender/recipient"], subject=f"RE: {email['subject']}", body=body)


def _create(table: str, tables: Tables, **fields: Any) -> None:
    required, optional = _TOOLS["tools"][table]["required"], _TOOLS["tools"][table]["optional"]
    _check(fields.keys() <= {*required, *optional} and all(fields.get(name) for name in required))
    if table != "customers":
        _check_values(tables, table, fields)
    _add(tables, table, optional | fields)


def _update(table: str, tables: Tables, *, field: str = "", new_value: str = "", **key: str) -> None:
    _check(field in _TABLES[table]["columns"] and new_value and (table, field) != ("events", "event_id"))
    _check_values(tables, table, {field: new_value})
    _row(tables, table, key).update(_lowered({field: new_value}))


def _delete(table: str, tables: Tables, **key: str) -> None:
    tables[table].remove(_row(tables, table, key))


def _plot(
    tables: Tables, *, time_min: str = "", time_max: str = "", value_to_plot: str = "", plot_type: str = ""
) -> None:
    fields = {"value_to_plot": value_to_plot, "plot_type": plot_type}
    _check(time_min and time_max)
    _check_values(tables, "plots", fields)
    tables.setdefault("plots", []).append({"time": f"{time_min}_{time_max}", **fields})


_CHANGES: Final[Mapping[str, Callable[..., None]]] = {
    "analytics_create_plot": _plot, "email_send_email": _send, "email_forward_email": _forward,
    "email_reply_email": _reply, "email_delete_email": partial(_delete, "emails"),
    **{tool["name"].format(tool["create"]): partial(_create, table) for table, tool in _TOOLS["tools"].items()},
    **{tool["name"].format("update"): partial(_update, table) for table, tool in _TOOLS["tools"].items()},
    **{tool["name"].format("delete"): partial(_delete, table) for table, tool in _TOOLS["tools"].items()},
}  # fmt: skip
"""The tools that change a table, by their names."""
