"""N-grams counted in arrays are those counted one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.rules.ngrams import MAX_WORD_BYTES, distinct, distinct_of_words, with_long_words
from verifiers.rules.words import lowered
from verifiers.sightings import beyond_ascii

_WORDS = st.text(st.sampled_from("abAB.,\0\x1f éÉİ\u3000\u200b’ß😀\ud800"), max_size=4) | st.sampled_from(
    ["wait", "so", "x" * 40]
)
_SPACE = st.sampled_from([" ", "  ", "\n", "\t \r\n", "\x1c", "\x0b\x0c"])


@given(st.lists(st.tuples(_WORDS, _SPACE)), st.sampled_from(["", " "]), st.integers(1, 6))
def test_as_many_as_tuples_of_words(pieces: list[tuple[str, str]], before: str, n: int) -> None:
    text = before + "".join(word + space for word, space in pieces)
    encoded = text.encode("utf-8", "surrogatepass")
    counted = distinct_of_words(lowered(text, encoded, beyond_ascii(text, encoded)), n)
    assert counted == distinct(text.lower().split(), n)


@given(st.lists(st.integers(0, 30), min_size=200, max_size=2000), st.integers(1, 4))
def test_as_many_in_texts_of_few_words(numbers: list[int], n: int) -> None:
    words = [f"w{number}" for number in numbers]
    assert distinct_of_words(" ".join(words).encode(), n) == distinct(words, n)


def test_words_in_another_order_are_others() -> None:
    assert distinct_of_words(b"a b c c b a b a c", 3) == (7, 7)
    assert distinct_of_words(b"ab a b ba", 1) == (4, 4)


def test_a_long_text_is_counted_whole() -> None:
    words = [f"{number}-{number % 7}" for number in range(20_000)] * 2
    assert distinct_of_words(" ".join(words).encode(), 3) == distinct(words, 3) == (20_000, 39_998)


@pytest.mark.parametrize("longest", [40, MAX_WORD_BYTES])
@pytest.mark.parametrize("before", [b"", b"a " * 100_000])
def test_longer_words_are_not_counted(longest: int, before: bytes) -> None:
    assert distinct_of_words(before + b"x" * longest, 3, longest) is not None
    assert distinct_of_words(before + b"x" * (longest + 1), 3, longest) is None
    assert distinct_of_words(before + b"x" * 1_000_000, 3, longest) is None
    assert distinct_of_words(before + "é".encode() * 40, 3, longest) is not None
    assert distinct_of_words(before + "é".encode() * 81, 3, longest) is None


@given(st.lists(st.sampled_from([b"a", b"b" * 40, b"c" * 41, b"d" * 200, b"", b" "])), st.sampled_from([b"", b" "]))
def test_longer_words_are_changed_where_they_stand(words: list[bytes], before: bytes) -> None:
    text = before + b" ".join(words)
    changed = b" ".join(word if len(word) <= 40 else word[:1] + b" -" for word in text.split(b" "))
    assert with_long_words(text, 40, lambda word: word[:1] + b" -") == changed
