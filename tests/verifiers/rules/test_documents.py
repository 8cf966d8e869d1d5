"""Reading JSON: what the faster reader says is what Python's own says."""

import json
from typing import Any, NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from verifiers.commitment import extract
from verifiers.commitment.channels import Channel
from verifiers.rules.documents import DocumentParams, Unreadable, document, read_json
from verifiers.rules.schemas import parts

PIECES = st.sampled_from(
    [
        *'[]{},:" \n\t',
        *(
            "0",
            "-0",
            "01",
            "1.",
            ".5",
            "+1",
            "1.5",
            "-0.0",
            "1E5",
            "1e-400",
            "5e-324",
            "1e999",
            "-1e999",
            "1" + "0" * 400,
        ),
        *("9" * 4300, "9" * 4301, "1" * 310 + ".5", "18446744073709551616", "1.7976931348623159e308"),
        *(
            "true",
            "null",
            "nul",
            "NaN",
            "Infinity",
            "-Infinity",
            '"a":',
            '"a"',
            '"é"',
            '"\\u00e9"',
            '"\\u0000"',
            '"\\x"',
        ),
        *(
            '"\\ud800"',
            '"\\udc00"',
            '"\\ud83d\\ude00"',
            '"\ud800"',
            '"\x01"',
            '"\x7f"',
            "\ufeff",
            "\x0b",
            "\x00",
            "\u00a0",
        ),
        *('{"a": 1, "a": 2}', "[" * 99 + "]" * 99, "[" * 101 + "]" * 101, "[" * 2000, "]" * 2000, "[1, ", "]"),
    ]
)


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _plain(text: str) -> tuple[str, str]:
    """The value of a JSON text by Python's own reader, or why there is none."""
    try:
        value = json.loads(text, parse_constant=_no_constant) if not text.startswith("\ufeff") else _no_constant(text)
    except RecursionError:
        return "too_deep", ""
    except ValueError:
        return "not_readable", ""
    if _depth(value) > 100:
        return "too_deep", ""
    return ("not_readable", "") if "inf" in _numbers(value) else ("", repr(value))


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _numbers(value: Any) -> str:
    if isinstance(value, dict | list):
        return " ".join(map(_numbers, value.values() if isinstance(value, dict) else value))
    return repr(value) if isinstance(value, float) else ""


def _read(text: str) -> tuple[str, str]:
    try:
        return "", repr(read_json(text, unique_keys=False))
    except Unreadable as error:
        return error.fault, ""


@pytest.mark.accuracy
@given(st.lists(PIECES, max_size=8).map("".join))
@example('["\\ud800"]')
@example("[1e999]")
@example("[" * 101 + "]" * 101)
@example('{"a": 1, "b": [-0, -0.0], "a": 2}')
def test_json_is_what_pythons_own_reader_says(text: str) -> None:
    assert _read(text) == _plain(text)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.text())
def test_numbers_and_texts_are_read_exactly(value: Any) -> None:
    assert _read(json.dumps([value])) == ("", repr([value]))
    assert _read(json.dumps([value], ensure_ascii=False)) == ("", repr([value]))


def test_what_is_wrong_is_said_as_python_says_it() -> None:
    with pytest.raises(Unreadable, match=r"^Expecting value: line 1 column 4 \(char 3\)$"):
        read_json("[1,]", unique_keys=False)


@given(st.text("a ,:[]{}é😀\ud800"))
def test_parts_are_the_signs_of_json(text: str) -> None:
    assert parts(text) == 1 + sum(map(text.count, ",:[{"))


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "\n", "<|im_end|>", "<answer>", "</answer>"])),
    st.sampled_from(["auto", "required", "none"]),
)
def test_the_document_is_the_whole_answer(pieces: list[str], think: Any) -> None:
    text = "".join(pieces)
    extraction = extract(text, DocumentParams(think=think), (Channel.ANSWER_TAG, Channel.WHOLE))
    fault = None if extraction.reason == "found" else "truncated" if extraction.reason == "truncated" else "no_answer"
    assert _document(text, think) == (extraction.answer, fault)


def _document(text: str, think: Any) -> tuple[str | None, str | None]:
    try:
        return document(text, DocumentParams(think=think), ()), None
    except Unreadable as error:
        return None, error.fault


@pytest.mark.parametrize("text", ['```json {"a": 1} ```', '``` {"a": 1} ```', '~~~json {"a": 1} ~~~'])
def test_a_fence_may_stand_on_one_line(text: str) -> None:
    assert read_json(document(text, DocumentParams(), ["json"]), unique_keys=True) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        '```json {"a": 1} ``` done',
        '```json {"a": 1} ``` ```json {"a": 1} ```',
        '```json {"a": 1}',
        '```yaml {"a": 1} ```',
    ],
)
def test_what_is_beside_such_a_fence_makes_it_no_document(text: str) -> None:
    with pytest.raises(Unreadable):
        read_json(document(text, DocumentParams(), ["json"]), unique_keys=True)
