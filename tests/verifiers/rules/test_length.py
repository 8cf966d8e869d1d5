"""Lengths: bounds, ramps, targets, and Kimi's comparison within a group."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Status, Verdict
from verifiers.rules.length import LengthParams, judge
from verifiers.rules.words import measure, split


def ask(response: str, **params: Any) -> Verdict:
    return judge(response, LengthParams(**params))


@table(
    ("response", "params", "reason"),
    [
        ("one two three", {"minimum": 3, "maximum": 3}, "correct"),
        ("one two three", {"minimum": 4}, "too_short"),
        ("one two three", {"maximum": 2}, "too_long"),
        ("", {"minimum": 0, "maximum": 0}, "correct"),
        ("", {"minimum": 1}, "too_short"),
        ("abc", {"unit": "characters", "minimum": 3, "maximum": 3}, "correct"),
        ("a\nb\nc", {"unit": "lines", "minimum": 3, "maximum": 3}, "correct"),
        ("a\nb\n", {"unit": "lines", "minimum": 2, "maximum": 2}, "correct"),
        ("我爱 Python 3", {"minimum": 4, "maximum": 4}, "correct"),
        ("안녕 하세요", {"minimum": 2, "maximum": 2}, "correct"),
        ("a\u200bb", {"unit": "characters", "minimum": 3}, "too_short"),
        ("a\u200bb", {"unit": "characters", "maximum": 2}, "too_long"),
        ("\u200b \u200b \u200b", {"minimum": 1}, "too_short"),
        ("a b <!-- c d -->", {"minimum": 3}, "too_short"),
        ("a b\n<!-- c d", {"minimum": 3}, "too_short"),
        ("a b <!-- c d -->", {"maximum": 3}, "too_long"),
        ("a b `<!-- c d -->`", {"minimum": 6}, "correct"),
        ("a <!-- c d", {"minimum": 4}, "correct"),
        (". . . . a - - - b", {"minimum": 5}, "too_short"),
        ("| a | b |\n|---|---|\n| c | d |", {"minimum": 10}, "too_short"),
        ("- a\n- b\n2 + 2 = 4", {"minimum": 9}, "correct"),
        (". . . .", {"maximum": 3}, "too_long"),
        ("a" + " " * 99 + "b", {"unit": "characters", "minimum": 4}, "too_short"),
        ("def f():\n        return 1", {"unit": "characters", "minimum": 25}, "correct"),
        ("a" + "\n" * 9 + "b", {"unit": "lines", "minimum": 4}, "too_short"),
        ("a\n \t\n\n \nb", {"unit": "lines", "minimum": 4}, "too_short"),
        ("a\n\nb", {"unit": "lines", "minimum": 3}, "correct"),
        ("a" + "\n" * 9 + "b", {"unit": "lines", "maximum": 9}, "too_long"),
        ("<think>a b c</think>d", {"maximum": 1}, "too_long"),
        ("<think>a b c</think>d", {"maximum": 1, "think": "auto"}, "correct"),
        ("<think>a b c", {"maximum": 9, "think": "auto"}, "truncated"),
    ],
)
def test_bounds(response: str, params: dict[str, Any], reason: str) -> None:
    verdict = ask(response, **params)
    assert (verdict.reason, verdict.score) == (reason, float(reason == "correct"))


@table(("tokens", "penalty"), [(50, -0.5), (99, -0.5), (100, -0.5), (250, -0.25), (400, 0), (401, 0)])
def test_the_band_of_roll(tokens: int, penalty: float) -> None:
    verdict = ask("", mode="band", unit="tokens", minimum=100, maximum=400, completion_tokens=tokens)
    assert verdict.score is not None
    assert (verdict.score - 1) * 0.5 == pytest.approx(penalty)


def test_targets_of_open_instruct() -> None:
    line = {"unit": "tokens", "target": 100, "maximum": 200}
    assert ask("", mode="max_length", completion_tokens=100, **line).score == 1.0
    assert ask("", mode="max_length", completion_tokens=50, **line).score == 0.75
    assert ask("", mode="max_length", completion_tokens=10_000, **line).score == 0.0
    assert ask("", mode="up_to_max_length", completion_tokens=50, **line).score == 1.0
    assert ask("", mode="up_to_max_length", completion_tokens=150, **line).score == 0.75


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.data())
def test_kimi_equals_the_formula(lengths: list[int], data: st.DataObject) -> None:
    mine, correct = data.draw(st.sampled_from(lengths)), data.draw(st.booleans())
    verdict = ask("", mode="kimi", unit="tokens", completion_tokens=mine, group_lengths=tuple(lengths), correct=correct)
    low, high = min(lengths), max(lengths)
    reward = 0.5 - (mine - low) / (high - low) if high > low else 0.0
    reward = reward if correct or high == low else min(0.0, reward)
    assert verdict.detail["reward"] == reward
    assert verdict.score == reward + 0.5


def test_what_cannot_be_judged_is_the_callers_to_mend() -> None:
    assert ask("a", unit="tokens", minimum=1).reason == "missing_length"
    stranger = ask("a b", mode="kimi", group_lengths=(3, 4), correct=True)
    assert (stranger.status, stranger.reason) == (Status.INVALID, "bad_group")


@table(
    "params",
    [
        {},
        {"minimum": 3, "maximum": 2},
        {"mode": "kimi"},
        {"mode": "band", "minimum": 1},
        {"mode": "band", "minimum": 1, "maximum": 1},
        {"mode": "max_length", "maximum": 4},
        {"mode": "max_length", "target": 0, "maximum": 0},
        {"minimum": -1},
    ],
)
def test_parameters_that_say_nothing_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LengthParams(**params)


@given(st.text(max_size=60))
def test_text_that_shows_nothing_never_fills_a_minimum(text: str) -> None:
    padded = "\u200b\u2060\u00ad".join(text)
    bound = len(text) + 1
    assert ask(padded, unit="characters", minimum=bound).score == 0.0


def test_characters_may_be_called_chars() -> None:
    params = LengthParams.model_validate({"unit": "chars", "maximum": 3})
    assert judge("abc", params).score == 1.0
    assert judge("abcd", params).score == 0.0


@given(st.text())
def test_words_are_split_the_same_whatever_else_is_in_the_text(text: str) -> None:
    words = split(text)
    assert "".join(words) == "".join(text.split())
    assert split(text + " 日") == [*words, "日"]


_PIECES = st.sampled_from(
    ["a", "B-", "É", "\u200b", "\ud800", "\0", "我", "の", " ", "\n", "\t\x1c", "\x85", "\u00a0", "\u3000"]
)


def test_words_are_counted_between_all_spaces_there_are() -> None:
    spaces = [char for char in map(chr, range(sys.maxunicode + 1)) if char.isspace()]
    for space in spaces:
        assert measure(f"word{space}" * 400, "words") == 400


@given(st.lists(_PIECES, min_size=1), st.sampled_from(["", "a ", "a\u3000", "é", "の"]))
def test_as_many_words_are_counted_as_split(pieces: list[str], before: str) -> None:
    text = "".join(pieces)
    assert measure(text, "words") == len(split(text))
    long = before * 1_000 + text * 1_000
    assert measure(long, "words") == len(split(long))


@table("nothing", ["\x00" * 9, " " * 9, "\n" * 9, "\u200b \u200b" * 9, "\x01 \x02 " * 9, "\u3164" * 9])
@table("unit", ["characters", "words", "lines"])
def test_nothing_to_see_is_never_long_enough(nothing: str, unit: str) -> None:
    assert ask(nothing, unit=unit, minimum=1).reason == "too_short"
    assert ask("a" + nothing, unit=unit, minimum=2).reason == "too_short"


def test_the_shortest_and_the_longest_of_a_group_are_enough() -> None:
    for length in (10, 20, 25, 30):
        whole, ends = (
            ask("", mode="kimi", unit="tokens", completion_tokens=length, correct=True, group_lengths=group)
            for group in ((10, 20, 25, 30), (10, 30))
        )
        assert whole == ends
