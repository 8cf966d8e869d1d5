"""Loops: what is measured near suspects is what is found by measuring everywhere."""

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.rules import loops


def looped(text: str) -> int:
    return loops.looped([text])[0]


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


@table("period", [1, 14, 15, 16, 39, 40, 41, 42, 199, 200, 201, 202, 999, 1000])
@table("before", [*range(0, 100, 7), 539, 540, 541])
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


@table("before", range(0, 540, 27))
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
    assert loops.evened([text]) == [" ".join(text.lower().split())]


@given(st.lists(texts_with_rounds() | st.just("") | st.just("\xff \x00"), min_size=1, max_size=5))
def test_each_of_several_texts_is_looked_at_alone(texts: list[str]) -> None:
    assert loops.evened(texts) == [" ".join(text.lower().split()) for text in texts]
    assert loops.looped(texts) == [looped_everywhere(text) for text in texts]


@table("period", [1, 5, 15, 16, 40, 41, 90, 200, 201, 600, 1000])
@table("alphabet", ["ab", "的是了不", "abcdefghijklmnopqrstuvwxyz "])
def test_a_loop_is_suspected_wherever_it_stands(period: int, alphabet: str) -> None:
    random = Random(period)
    part = "".join(random.choices(alphabet, k=period))
    size = max(4 * period, 60)
    before = [signs(0x3400, count) for count in range(0, 1200, 17)]
    texts = [start + (part * 60)[:size] for start in before] + [start + (part * 60)[:size] + "." for start in before]
    for text, start, spans in zip(texts, before * 2, loops._suspects(texts), strict=True):
        assert any(
            first <= len(start) and min(len(start) + 40, len(text) - 16) <= final and period <= longest
            for first, final, longest in loops._merged(spans)
        )


@table("period", [1, 3, 30, 100, 700])
def test_what_comes_again_for_less_than_half_as_long_as_a_loop_does_is_not_suspected(period: int) -> None:
    size = period + (max(4 * period, 60) - period) // 2 - 8
    before, part, behind = ("".join(Random(seed).choices(signs(0x4E00, 20_000), k=700)) for seed in range(3))
    assert loops._suspects([before + (part[:period] * 60)[:size] + behind]) == [[]]


@table("period", [1, 15, 41, 200, 201, 1000])
def test_a_flood_hides_no_loop_beside_it_and_makes_none_suspected(period: int) -> None:
    flood = "ab" * 5_000
    quiet = "".join(signs(0x4E00 + 60 * row, 60) + 2 * signs(0x2200 + 12 * row, 12) for row in range(40))
    size = max(4 * period, 60) + 56
    loop = signs(0x3400, 555) + (signs(0xAC00, period) * 116)[:size] + "."
    texts = [flood, quiet, loop, quiet, flood]
    assert loops.looped(texts) == [9_998, 0, size - period, 0, 9_998]
    assert [bool(spans) for spans in loops._suspects(texts)] == [True, False, True, False, True]


def test_characters_in_another_order_have_another_number() -> None:
    texts = ["".join("ab"[number >> place & 1] for place in range(8)) for number in range(256)]
    grams = [loops._grams([text])[0] for text in texts]
    assert len(set(grams)) == len(texts)
    assert loops._grams(["xy" + texts[77]])[2] == grams[77]
    assert loops._grams(["é🙂" + texts[77]])[2] == grams[77]
