"""Parameters of the wrong shape: few errors, however long they are."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.verifiers.found import Found
from verifiers import shapes
from verifiers.base import Params

_ELEMENTS = 20_000
_FEW = 24
"""Errors: more than the branches of any union."""
_SHAPES: dict[str, Any] = {
    "lists": [[]] * _ELEMENTS,
    "objects": [{}] * _ELEMENTS,
    "nothing": [None] * _ELEMENTS,
    "truths": [True] * _ELEMENTS,
    "numbers": [1.5] * _ELEMENTS,
    "lists with two kinds": [["a", 1]] * _ELEMENTS,
    "an object of lists": {f"name{number}": [] for number in range(_ELEMENTS)},
    "objects of many names": [{f"name{number}": 1 for number in range(_ELEMENTS // 10)}] * 10,
}


def _errors(kind: type[Params], fields: dict[str, Any]) -> int:
    try:
        shapes.typed(kind, fields)
    except ValidationError as error:
        return error.error_count()
    return 0


@pytest.mark.parametrize("shape", _SHAPES)
def test_a_field_of_the_wrong_shape_has_few_errors(found: Found, shape: str) -> None:
    for name, entry in found.registry.items():
        kind = entry.verifier.params
        for field in shapes.names(kind):
            assert _errors(kind, {field: _SHAPES[shape]}) <= _FEW, (name, field)


def test_parameters_are_the_same_as_pydantics(found: Found) -> None:
    for name, entry in found.registry.items():
        kind = entry.verifier.params
        for example in entry.examples:
            try:
                expected: Any = kind.model_validate(dict(example.params))
            except ValidationError as error:
                expected = str(error)
            try:
                read: Any = shapes.typed(kind, dict(example.params))
            except ValidationError as error:
                read = str(error)
            assert read == expected, name
