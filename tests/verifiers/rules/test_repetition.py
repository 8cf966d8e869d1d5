"""Repetition: n-grams as the trainers count them, and loops of any length."""

from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Item, Verdict
from verifiers.rules import loops, words
from verifiers.rules.ngrams import distinct
from verifiers.rules.repetition import RepetitionParams, judge, judge_together

_WORDS = st.sampled_from(
    [
        "a",
        "A",
        "b.",
        "x" * 40,
        "x" * 41,
        "é" * 40,
        "É" * 41,
        "ab-" * 20,
        "-" * 41,
        "İ",
        "ΣΑΣ",
        "😀" * 40,
        "😀" * 41,
        "\ud800",
    ]
)


def ask(response: str, **params: Any) -> Verdict:
    return judge(response, RepetitionParams(**params))


def original(text: str, n: int) -> float:
    """Open R1's and ROLL's penalty for a maximum of -1."""
    tokens = text.lower().split()
    if text == "" or len(tokens) < n:
        return 0.0
    grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
    return -(1 - len(set(grams)) / len(grams))


@given(st.lists(st.sampled_from(["a", "B", "b", "no", "我我", "\n"]), max_size=40).map(" ".join), st.integers(1, 5))
def test_presets_equal_the_originals(text: str, n: int) -> None:
    score = ask(text, preset="roll", n=n).score
    assert score is not None
    assert score - 1 == pytest.approx(original(text, n))
    if text.isascii():
        assert ask(text, n=n).score == score


@given(
    st.lists(st.tuples(_WORDS, st.sampled_from([" ", "\n", "\u00a0", "\u3000", "\x1c"])), max_size=60),
    st.integers(1, 4),
)
def test_mixed_words_are_counted_as_they_fall_apart(pieces: list[tuple[str, str]], n: int) -> None:
    text = "".join(map("".join, pieces))
    new, total = distinct(one_by_one(text.lower()), n)
    assert ask(text, n=n).score == (new / total if total else 1.0)


@given(st.text(st.sampled_from("ab é我の・ー\U00020000\U000323af\U000323b0\U0001f600\ud800\n\u3000、。"), max_size=30))
def test_blanks_part_what_is_a_word_of_its_own(text: str) -> None:
    assert words.spaced(text).split() == words.split(text)


def one_by_one(text: str) -> list[str]:
    tokens: list[str] = []
    for word in text.split():
        if len(word) <= 40:
            tokens.append(word)
            continue
        for signs, group in groupby(word, key=lambda char: not char.isalnum()):
            run = "".join(group)
            tokens += run if signs or len(run) > 40 else [run]
    return tokens


def test_the_published_vector() -> None:
    verdict = ask("a b c a b c a b c")
    assert verdict.score is not None
    assert (verdict.score - 1) * 0.5 == pytest.approx(-0.285714, abs=1e-6)


@table("text", ["", "one", "one two", "one two three"])
def test_what_is_too_short_to_repeat_is_not_punished(text: str) -> None:
    assert ask(text).score == 1.0


@table(
    "text",
    ["这个答案是对的。" * 40, "哈" * 300, "x" * 5000, "ab" * 3000, "no" * 400, "👍" * 300, "\u200b" * 300, "-" * 500],
)
def test_one_endless_word_is_seen(text: str) -> None:
    score = ask(text).score
    assert score is not None
    assert score < 0.1


@table("params", [{}, {"measure": "loops"}, {"preset": "characters"}])
def test_characters_that_show_nothing_hide_no_repetition(params: dict[str, Any]) -> None:
    text = "".join("wait" + "\u200b" * (n % 7) + "\u2060" * (n % 5) + " " for n in range(120))
    score = ask(text, **params).score
    assert score is not None
    assert score < 0.1
    assert ask("👨‍👩‍👧 a family, ❤️ and a co\u00adoperative", measure="loops").score == 1.0


def test_urls_formulas_and_chinese_prose_are_not_loops() -> None:
    text = (
        "我们先计算三角形的面积，然后利用相似比求出边长。由题意可知，底边为六，高为四，所以面积等于十二。"
        "See https://example.com/a/very/long/path?with=parameters&and=more#fragment for details."
    )
    score = ask(text).score
    assert score is not None
    assert score > 0.95
    assert ask(text, measure="loops").score == 1.0


def test_tokens_are_counted_as_trl_does() -> None:
    assert ask("ignored", preset="trl", completion_ids=(1, 2, 3, 1, 2, 3)).score == 0.75
    assert ask("ignored", preset="trl", completion_ids=(1, 2)).score == 1.0
    with pytest.raises(ValidationError, match="needs completion_ids"):
        RepetitionParams(preset="trl")
    with pytest.raises(ValidationError, match="go with preset trl"):
        RepetitionParams(completion_ids=(1,))


def test_a_tolerance_costs_nothing_up_to_it() -> None:
    text = "a b a b a b a b"  # two thirds are repeated
    assert ask(text, tolerance=0.7).score == 1.0
    assert ask(text, tolerance=1 / 3).score == pytest.approx(0.5)
    assert ask(text, tolerance=1 / 3, worst=2 / 3).score == pytest.approx(0.0)
    with pytest.raises(ValidationError, match="must be below worst"):
        RepetitionParams(tolerance=0.5, worst=0.5)


@table("period", [1, 2, 7, 60, 499, 1000])
@table("rounds", [4, 9, 80])
def test_a_loop_of_any_length_is_found(period: int, rounds: int) -> None:
    part = "".join(chr(0x4E00 + (number * 7919) % 19_997) for number in range(period))
    before, after = "".join(map(chr, range(0x3400, 0x3500))), "".join(map(chr, range(0x3600, 0x3700)))
    expected = period * (rounds - 1) if period * rounds >= 60 else 0
    assert loops.looped([before + part * rounds + after]) == [expected]


def test_three_rounds_and_short_runs_are_style() -> None:
    assert loops.looped(["".join(map(chr, range(0x4E00, 0x4F00))) * 3]) == [0]
    assert loops.looped(["abcdefghij" + "=" * 50 + "klmnopqrst"]) == [0]
    assert ask("ha " * 8, measure="loops").score == 1.0


@given(st.text("ab", max_size=400))
def test_loops_never_take_more_than_there_is(text: str) -> None:
    assert 0 <= loops.looped([text])[0] <= max(len(text) - 1, 0)


@pytest.mark.growth
def test_hostile_texts_take_linear_time() -> None:
    almost = ("a" * 999 + "b") * 4000
    for text in ("a" * 4_000_000, almost, "ab" * 2_000_000, "a b " * 1_000_000):
        for measure in ("ngrams", "loops"):
            score = ask(text, measure=measure).score
            assert score is not None
            assert score < 0.6


_PARAMS = st.sampled_from(
    [
        RepetitionParams(),
        RepetitionParams(n=2),
        RepetitionParams(n=2, tolerance=0.2),
        RepetitionParams(preset="roll"),
        RepetitionParams(preset="characters"),
        RepetitionParams(preset="trl", completion_ids=(1, 2, 1, 2, 1, 2)),
        RepetitionParams(preset="trl", completion_ids=(7,) * 9),
        RepetitionParams(measure="loops"),
        RepetitionParams(measure="loops", worst=0.5),
    ]
)


@given(st.lists(st.tuples(st.lists(_WORDS, max_size=9).map(" ".join), st.integers(1, 9), _PARAMS), max_size=9))
def test_neighbours_do_not_matter(asked: list[tuple[str, int, RepetitionParams]]) -> None:
    items = [Item((text + " ") * rounds, params) for text, rounds, params in asked]
    assert judge_together(items) == [judge(item.response, item.params) for item in items]
