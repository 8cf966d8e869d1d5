"""Reads the instructions of a reference, in every form of the data sets.

The forms are `{"instruction_id_list": [...], "kwargs": [{...}, ...]}` (open-instruct writes `instruction_id`) and
`{"func_name": ..., ...}`. Each may also be JSON text, a Python literal, or a list of such. A null counts as absent.
"""

import ast
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory import remember
from verifiers.base import InvalidItem
from verifiers.near_names import near
from verifiers.rules.instruction_following import (
    amounts,
    classic,
    copying,
    custom,
    layout,
    markup,
    older,
    positions,
    repeating,
    structure,
    training,
    wording,
)
from verifiers.rules.instruction_following.constraints import Constraint

_BY_ID: Mapping[str, Constraint] = {
    constraint.id: constraint
    for constraint in (
        *classic.CONSTRAINTS,
        *markup.CONSTRAINTS,
        *amounts.CONSTRAINTS,
        *wording.CONSTRAINTS,
        *layout.CONSTRAINTS,
        *structure.CONSTRAINTS,
        *repeating.CONSTRAINTS,
        *custom.CONSTRAINTS,
        *training.CONSTRAINTS,
        *copying.CONSTRAINTS,
        *positions.CONSTRAINTS,
    )
}
_BY_FUNCTION: Mapping[str, Constraint] = {constraint.id: constraint for constraint in older.CONSTRAINTS}

_MAX_INSTRUCTIONS = 64
_MAX_REFERENCE_CHARS = 1_000_000
_MAX_LITERAL_CHARS = 100_000
_MAX_DEPTH = 4
SHORT_CHARS = 20_000
"""The length up to which a reference given as text is read in less than 10 ms, and cached."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of an item."""

    constraint: Constraint
    arguments: Mapping[str, Any]


def read(reference: Any) -> Sequence[Instruction]:
    """Read the instructions of a reference, in order.

    Raises:
        InvalidItem: the value is not a reference, or one of its instructions is unknown or lacks an argument.
    """
    instructions = (
        _read_text(reference)
        if isinstance(reference, str) and len(reference) <= SHORT_CHARS
        else tuple(itertools.islice(_read(reference, 0), _MAX_INSTRUCTIONS + 1))
    )
    if not instructions:
        raise InvalidItem("bad_reference", "the reference has no instruction; give at least one")
    if len(instructions) > _MAX_INSTRUCTIONS:
        raise InvalidItem(
            "bad_reference",
            f"the reference has {len(instructions)} or more instructions; at most {_MAX_INSTRUCTIONS} are allowed",
        )
    return instructions


@remember(512)
def _read_text(reference: str) -> tuple[Instruction, ...]:
    return tuple(itertools.islice(_read(reference, 0), _MAX_INSTRUCTIONS + 1))


def _read(reference: Any, depth: int) -> Iterator[Instruction]:
    if depth > _MAX_DEPTH:
        raise InvalidItem("bad_reference", f"the reference is nested deeper than {_MAX_DEPTH} levels")
    match reference:
        case str():
            yield from _read(_parsed(reference), depth + 1)
        case list() | tuple():
            if len(reference) > _MAX_INSTRUCTIONS:
                raise InvalidItem(
                    "bad_reference",
                    f"the reference is a list of {len(reference)}; at most {_MAX_INSTRUCTIONS} are allowed",
                )
            for part in reference:
                yield from _read(part, depth + 1)
        case {"func_name": name}:
            kwargs = {key: value for key, value in reference.items() if key != "func_name"}
            yield _instruction(_BY_FUNCTION, "function", name, kwargs)
        case {"instruction_id_list": ids} | {"instruction_id": ids}:
            yield from _listed(ids, reference.get("kwargs"))
        # Rows of open-instruct, NeMo-Gym and slime.
        case {"ground_truth": inner} | {"verifier_metadata": inner} | {"metadata": inner}:
            yield from _read(inner, depth + 1)
        case _:
            forms = "instruction_id_list with kwargs, or func_name"
            raise InvalidItem("bad_reference", f"the reference must have {forms}, not {str(reference)[:80]!r}")


def _parsed(reference: str) -> Any:
    """The value of a text: JSON, or the Python literal that open-instruct's data holds."""
    if len(reference) > _MAX_REFERENCE_CHARS:
        raise InvalidItem(
            "bad_reference",
            f"the reference has {len(reference)} characters; at most {_MAX_REFERENCE_CHARS} are allowed",
        )
    try:
        return json.loads(reference)
    except (ValueError, RecursionError) as error:
        if len(reference) <= _MAX_LITERAL_CHARS:
            try:
                return ast.literal_eval(reference)
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                pass
        raise InvalidItem("bad_reference", f"the reference is neither JSON nor a Python literal: {error}") from error


def _listed(ids: Any, kwargs: Any) -> Iterator[Instruction]:
    """The instructions of a list of ids and a list of arguments.

    Each list may also be its JSON text, or a single element. Without `kwargs` no instruction has arguments.
    """
    if isinstance(ids, str):
        ids = _parsed(ids) if ids.lstrip().startswith("[") else [ids]
    if isinstance(kwargs, str):
        kwargs = _parsed(kwargs)
    if not isinstance(ids, list):
        raise InvalidItem("bad_reference", f"instruction_id_list must be a list, not {str(ids)[:80]!r}")
    if len(ids) > _MAX_INSTRUCTIONS:
        raise InvalidItem(
            "bad_reference", f"the reference has {len(ids)} instructions; at most {_MAX_INSTRUCTIONS} are allowed"
        )
    if kwargs is None:
        kwargs = [None] * len(ids)
    elif isinstance(kwargs, dict) and len(ids) == 1:
        kwargs = [kwargs]
    if not isinstance(kwargs, list):
        raise InvalidItem("bad_reference", "kwargs must be a list of objects, one for each instruction")
    if len(ids) != len(kwargs):
        raise InvalidItem(
            "bad_reference",
            f"instruction_id_list has {len(ids)} ids, but kwargs has {len(kwargs)} elements; give one for each id",
        )
    for name, arguments in zip(ids, kwargs, strict=True):
        if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
            arguments = _parsed(arguments)
        yield _instruction(_BY_ID, "instruction", name, {} if arguments is None else arguments)


def _instruction(constraints: Mapping[str, Constraint], kind: str, name: Any, kwargs: Any) -> Instruction:
    constraint = constraints.get(name) if isinstance(name, str) else None
    if constraint is None:
        hint = near(str(name), constraints) or f"; there are {len(constraints)}, such as {next(iter(constraints))!r}"
        raise InvalidItem("unknown_instruction", f"there is no {kind} {str(name)[:80]!r}{hint}")
    if not isinstance(kwargs, dict):
        raise InvalidItem("bad_arguments", f"{name}: its kwargs must be an object, not {str(kwargs)[:80]!r}")
    return Instruction(constraint, constraint.read(kwargs))
