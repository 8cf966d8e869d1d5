"""Loops: what is measured near suspects is what is found by measuring everywhere."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from verifiers.rules import loops
from verifiers.rules.loops import evened, looped


def looped_everywhere(text: str) -> int:
    """The same, looked for from every place in 40, each up to the longest period."""
    position, counted, floor = 0, 0, 0
    while position <= len(text) - 16:
        again = text.find(text[position : position + 16], position + 1, position + 16 + 1_000)
        start, end, period = position, again, again - position
        if again >= 0:
            while end < len(text) and text[end] == text[end - period]:
                end += 1
            while start > max(floor, position - 40) and text[start - 1] == text[start - 1 + period]:
                start -= 1
        if again >= 0 and end - start >= max(4 * period, 60):
            counted += end - start - period
            position = floor = end
        else:
            position += 40
    return counted


def signs(first: int, count: int) -> str:
    """So many different characters."""
    return "".join(map(chr, range(first, first + count)))


@st.composite
def texts_with_rounds(draw: st.DrawFn) -> str:
    """Texts with stretches that come about as often as makes a loop."""
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        alphabet = draw(st.sampled_from(["ab", "abc ", "的是 了", "abcdefghijklmnopqrstuvwxyz"]))
        part = draw(st.text(alphabet, min_size=1, max_size=draw(st.sampled_from([3, 20, 45, 210]))))
        size = max(4 * len(part), 60) + draw(st.integers(-2, 2))
        parts += [signs(0x4E00, draw(st.integers(0, 90))), (part * 60)[:size]]
    return draw(st.sampled_from(["", " ", "x"])).join(parts)


@given(texts_with_rounds())
def test_looking_near_suspects_finds_what_looking_everywhere_does(text: str) -> None:
    assert looped(text) == looped_everywhere(text)


@pytest.mark.parametrize("period", [1, 14, 15, 16, 39, 40, 41, 42, 199, 200, 201, 202, 999, 1000])
@pytest.mark.parametrize("before", [*range(0, 100, 7), 539, 540, 541])
def test_the_shortest_loop_is_found_wherever_it_stands(period: int, before: int) -> None:
    size = max(4 * period, 60)
    part = signs(0x4E00, period)
    text = signs(0x3400, before) + (part * 60)[:size] + signs(0xAC00, 50)
    assert looped(text) == looped_everywhere(text)
    assert looped(text) == size - period or size < period + 16 + 40, "one place in 40 may miss the shortest"
    shorter = signs(0x3400, before) + (part * 60)[: size - 1] + signs(0xAC00, 50)
    assert looped(shorter) == looped_everywhere(shorter) == 0


def test_loops_behind_loops_are_counted_each() -> None:
    text = signs(0x3400, 33) + "abcdefghij" * 9 + signs(0x3600, 500) + signs(0x4E00, 300) * 4 + "-" * 200
    assert looped(text) == looped_everywhere(text) == 80 + 900 + 199


def test_no_loop_reaches_back_into_another() -> None:
    text = "ab" * 40 + "cab" * 40
    assert looped(text) == looped_everywhere(text) == 78 + 117


@pytest.mark.parametrize("before", range(0, 540, 27))
def test_a_long_loop_right_behind_a_short_run_is_found(before: int) -> None:
    text = signs(0x3400, before) + "-" * 50 + signs(0x4E00, 900) * 4
    assert looped(text) == looped_everywhere(text) == 2700


def counted_places(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """From how many places of a text loops are measured."""
    places: list[int] = []
    measure = loops._common

    def counting(text: str, left: int, right: int) -> int:
        places.append(left)
        return measure(text, left, right)

    monkeypatch.setattr(loops, "_common", counting)
    looped(text)
    return len(places)


def test_far_from_suspects_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    far_apart = "".join(signs(0x4E00 + 600 * row, 600) + "a phrase of thirty characters." for row in range(9))
    assert counted_places(far_apart, monkeypatch) == 0
    assert counted_places(far_apart + "and again " * 9, monkeypatch) > 0


@given(st.text())
@example("A  b\n\n\tC \x1c\x1d d")
@example(" \u3000a\u00a0\u2028b\x85 ")
@example("İΣ ΑΣ ß\ud800 \ud83d\ude00 Ġ Ā \u200b x")
@example("")
def test_space_is_evened_as_split_and_join_do(text: str) -> None:
    assert evened(text) == " ".join(text.lower().split())


@given(texts_with_rounds())
@example("Wait, no. " * 40)
@example("的是" * 100 + "é" * 61)
@example("\U0001f600a" * 40 + "ab\x00" * 30 + "\x00" * 70)
def test_a_look_at_numbers_finds_each_place_that_comes_again(text: str) -> None:
    for scale in loops._SCALES:
        places = range(0, len(text) - scale.probe, scale.stride)
        again = [at for at in places if text.find(text[at : at + 12], at + 1, at + 12 + scale.longest) >= 0]
        assert set(again) <= set(loops._places(loops._grams(text), len(text), scale))
