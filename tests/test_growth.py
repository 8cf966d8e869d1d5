"""What grows too fast is seen, and what does not end is ended."""

import re

import pytest

from tests import growth
from tests.growth import Endless, ends, stays_in_proportion


def _linear(text: str) -> int:
    return sum(character == "x" for character in text)


def _quadratic(text: str) -> int:
    return sum(1 for at in range(len(text)) for _ in range(0, at, 50))


def test_what_looks_at_each_character_once_stays_in_proportion() -> None:
    assert stays_in_proportion(_linear, "x", 400_000)


@pytest.mark.growth
def test_what_looks_at_all_for_each_character_does_not() -> None:
    assert not stays_in_proportion(_quadratic, "x", 60_000)


def test_a_pattern_that_tracks_back_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_ENDLESS_S", 0.2)
    with pytest.raises(Endless):
        ends(lambda: re.match(r"(a+)+b", "a" * 60))
    ends(lambda: re.match(r"(a+)+b", "a" * 5 + "b"))
