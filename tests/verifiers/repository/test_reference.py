"""A reference is refused before anything runs, with the field that is wrong."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tests.tables import table
from verifiers.repository.reference import RepositoryParams

TASK = {"image": "example/calc:1", "test_command": "pytest", "fail_to_pass": ["a::b"]}


def test_a_reference_may_be_json_text() -> None:
    as_object = RepositoryParams.model_validate({"reference": TASK})
    assert RepositoryParams.model_validate({"reference": json.dumps(TASK)}) == as_object


@table(
    "field, value",
    [
        ("image", ""),
        ("image", "-v /:/host"),
        ("image", "a b"),
        ("workdir", "relative"),
        ("base_commit", "HEAD; reboot"),
        ("test_command", ""),
        ("test_command", "pytest\0"),
        ("test_files", {"../x": ""}),
        ("test_files", {"/etc/passwd": ""}),
        ("test_files", {".git/config": ""}),
        ("protected", ["../**"]),
        ("protected", ["a" * 300] * 100),
        ("environment", {"A=B": "x"}),
        ("environment", {"A": "\0"}),
        ("cpu_s", 0),
        ("cpu_s", float("inf")),
        ("memory_mb", 1),
        ("scoring", "some"),
        ("fail_to_pass", []),
        ("unknown", 1),
    ],
)
def test_what_is_wrong_is_named(field: str, value: Any) -> None:
    with pytest.raises(ValidationError, match=f"{field}|a task needs tests"):
        RepositoryParams.model_validate({"reference": {**TASK, field: value}})


@table("text", ["", "[]", "{", "[" * 10_000])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        RepositoryParams.model_validate({"reference": text})
