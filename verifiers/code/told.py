"""Outputs of programs in the place of expected ones: the programs of a group are right if most give the same.

    {"test_cases": [{"input": "1 2"}]} ──STAND_IN──► each program tells its outputs ──► the outputs of one ──► judge the others

The tests are inputs of programs or of a function; expected outputs, if there are any, do not count (arXiv 2204.11454).
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Final

from sandbox.runner.values import encoding
from verifiers.base import InvalidItem
from verifiers.code.aliases import FUNCTION_KEYS
from verifiers.own_answers import STAND_IN

_CASES: Final = ("test_cases", "inputs", "outputs")
_MOST_BYTES: Final = 4_000
"""A longer output is told by its digest alone, and is compared with none."""


def with_outputs(reference: Any, outputs: Sequence[str] | None) -> dict[str, Any]:
    """The tests with these outputs, one for each input. None: with stand-ins.

    Raises:
        InvalidItem: the tests are not inputs.
    """
    suite = json.loads(reference) if isinstance(reference, str) and reference.lstrip()[:1] in ("{", "[") else reference
    suite = suite if isinstance(suite, dict) else {"test_cases": suite}
    if suite.get("case_type", "stdio") not in ("stdio", "function"):
        raise InvalidItem("bad_reference", "only tests of the case types stdio and function have outputs to compare")
    cases = suite.get("test_cases", suite)
    inputs = cases.get("inputs") if isinstance(cases, dict) else cases
    if not isinstance(inputs, list) or not inputs:
        raise InvalidItem("bad_reference", 'expected inputs, as in {"test_cases": [{"input": "1 2"}]}')
    outputs = [STAND_IN] * len(inputs) if outputs is None else outputs
    rest = {key: value for key, value in suite.items() if key not in _CASES}
    is_call = any(suite.get(key) for key in FUNCTION_KEYS)
    cases = [_case(entry, output, is_call=is_call) for entry, output in zip(inputs, outputs, strict=True)]
    return {**rest, "test_cases": cases}


def _case(entry: Any, output: str, *, is_call: bool) -> dict[str, str]:
    """The test with this output. Both are texts: a value of a program may be one that JSON cannot carry to a judge, such as
    half of a surrogate pair.
    """
    given = next((entry[key] for key in ("input", "stdin") if key in entry), None) if isinstance(entry, dict) else entry
    if given is None:
        raise InvalidItem("bad_reference", "a test has no `input`; only the outputs for inputs can be compared")
    if is_call and not isinstance(given, str):
        given = "\n".join(map(json.dumps, given if isinstance(given, list) else [given]))
    return {"input": given, "expected_output": output}


def text_of(written: bytes) -> str:
    """What a program wrote."""
    return _digest(written) if len(written) > _MOST_BYTES else written.decode("utf-8", "replace")


def value_of(image: bytes) -> str | None:
    """The value that a function returned, as JSON. None: it has no such form."""
    if len(image) > _MOST_BYTES:
        return _digest(image)
    try:
        return json.dumps(encoding.decode(image), allow_nan=False)
    except (encoding.Undecodable, TypeError, ValueError):
        return None


def answer_of(outputs: Sequence[str]) -> str:
    """All outputs as one answer, where a stand-in stays as it is."""
    answer = json.dumps(outputs, ensure_ascii=False)
    return _digest(answer.encode()) if len(answer) > _MOST_BYTES else answer


def is_null(answer: str) -> bool:
    """Whether a function returned null for all inputs: as a program that prints nothing, it is right for no task."""
    return not answer.startswith(STAND_IN) and all(output == "null" for output in json.loads(answer))


def _digest(content: bytes) -> str:
    return STAND_IN + hashlib.sha256(content).hexdigest()
