"""Turns the rows of SandboxFusion's data sets into references of the verifier `code`.

    labels.programming_language   AutoEval, MBXP: `test.code` in `labels.execution_language`, files in `test.asset`
    tests, language               HumanEval in other languages, as MultiPL-E has it
    code_preface                  VerilogEval: the head of a module, and its test bench in `test`
    test: list of texts           MBPP, with `labels.test_setup_code`

All other rows are given as they are: the verifier knows the forms of most data sets.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec

from sandbox import languages
from service.doors.compat.request_options import JSON

_DECODED = ("labels", "test")
_HUMANEVAL = "humaneval_"
"""Before the language in the names of these data sets."""


def reference_of(row: Mapping[str, Any], dataset: str, extra: Mapping[str, Any]) -> JSON:
    """The tests of a row.

    Args:
        row: As the client sent it. Fields may be JSON text.
        dataset: Its name, such as humaneval_lua.
        extra: Of the client's configuration.
    """
    row = {**row, **{key: _decoded(row.get(key)) for key in _DECODED if key in row}}
    labels = row.get("labels") if isinstance(row.get("labels"), dict) else {}
    assert isinstance(labels, dict)
    test = row.get("test")
    if isinstance(test, dict) and isinstance(test.get("code"), str):
        return _appended(test, labels, extra)
    language = row.get("language") or (dataset.removeprefix(_HUMANEVAL) if dataset.startswith(_HUMANEVAL) else "")
    is_translated = isinstance(language, str) and languages.find(language) is not languages.find("python")
    if isinstance(row.get("tests"), str) and isinstance(row.get("prompt"), str) and language and is_translated:
        return _translated(row, language, extra)
    if isinstance(row.get("code_preface"), str):
        return {"case_type": "program", "test": test, "language": "verilog", "prompt": row["code_preface"]}
    if isinstance(test, list) and all(isinstance(line, str) for line in test):
        return {"test_list": test, "setup": labels.get("test_setup_code") or ""}
    return row


def _appended(test: JSON, labels: JSON, extra: Mapping[str, Any]) -> JSON:
    written_in = labels.get("programming_language")
    run_as = labels.get("execution_language") or written_in
    files = _decoded(test.get("asset"))
    reference = {
        "test_cases": [test["code"]],
        "files": {name: _file(content) for name, content in files.items()} if isinstance(files, dict) else {},
        "quoted": extra.get("repr_code") is True,
    }
    if run_as == "pytest":
        return {**reference, "case_type": "pytest"}
    return {**reference, "language": run_as, "solution_language": written_in}


def _translated(row: Mapping[str, Any], language: str, extra: Mapping[str, Any]) -> JSON:
    fields = {key: row[key] for key in ("tests", "prompt", "stop_tokens") if key in row}
    # The original takes the whole text for the rest of the prompt, unless the form is free.
    return {**fields, "language": language, **({"completes": False} if extra.get("is_freeform") is True else {})}


def _file(content: Any) -> Any:
    """A file in the form of the verifier: its text, or base64 if it is none."""
    try:
        return base64.b64decode(content, validate=True).decode()
    except (TypeError, binascii.Error, ValueError):
        return {"base64": content} if isinstance(content, str) else ""


def _decoded(value: Any) -> Any:
    """The value of JSON text; any other text as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return value
