"""N-grams counted in arrays are those counted one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.rules.ngrams import MAX_WORD_BYTES, Count, distinct, distinct_of_words, with_long_words
from verifiers.rules.words import lowered
from verifiers.sightings import beyond_ascii


def counted(text: bytes, n: int, longest: int = MAX_WORD_BYTES) -> Count | None:
    return distinct_of_words([text], n, longest)[0]


_WORDS = st.text(st.sampled_from("abAB.,\0\x1f éÉİ\u3000\u200b’ß😀\ud800"), max_size=4) | st.sampled_from(
    ["wait", "so", "x" * 40]
)
_SPACE = st.sampled_from([" ", "  ", "\n", "\t \r\n", "\x1c", "\x0b\x0c"])


@given(st.lists(st.tuples(_WORDS, _SPACE)), st.sampled_from(["", " "]), st.integers(1, 6))
def test_as_many_as_tuples_of_words(pieces: list[tuple[str, str]], before: str, n: int) -> None:
    text = before + "".join(word + space for word, space in pieces)
    encoded = text.encode("utf-8", "surrogatepass")
    plain = lowered(text, encoded, beyond_ascii(text, encoded))
    assert counted(plain, n) == distinct(text.lower().split(), n)


@pytest.mark.growth
@given(st.lists(st.integers(0, 30), min_size=200, max_size=2000), st.integers(1, 4))
def test_as_many_in_texts_of_few_words(numbers: list[int], n: int) -> None:
    words = [f"w{number}" for number in numbers]
    assert counted(" ".join(words).encode(), n) == distinct(words, n)


def test_words_in_another_order_are_others() -> None:
    assert counted(b"a b c c b a b a c", 3) == (7, 7)
    assert counted(b"ab a b ba", 1) == (4, 4)


def test_a_long_text_is_counted_whole() -> None:
    words = [f"{number}-{number % 7}" for number in range(20_000)] * 2
    assert counted(" ".join(words).encode(), 3) == distinct(words, 3) == (20_000, 39_998)


@table("longest", [40, MAX_WORD_BYTES])
@table("before", [b"", b"a " * 100_000])
def test_longer_words_are_not_counted(longest: int, before: bytes) -> None:
    assert counted(before + b"x" * longest, 3, longest) is not None
    assert counted(before + b"x" * (longest + 1), 3, longest) is None
    assert counted(before + b"x" * 1_000_000, 3, longest) is None
    assert counted(before + "é".encode() * 40, 3, longest) is not None
    assert counted(before + "é".encode() * 81, 3, longest) is None


@given(st.lists(st.sampled_from([b"a", b"b" * 40, b"c" * 41, b"d" * 200, b"", b" "])), st.sampled_from([b"", b" "]))
def test_longer_words_are_changed_where_they_stand(words: list[bytes], before: bytes) -> None:
    text = before + b" ".join(words)
    changed = b" ".join(word if len(word) <= 40 else word[:1] + b" -" for word in text.split(b" "))
    assert with_long_words(text, 40, lambda word: word[:1] + b" -") == changed


@given(st.lists(st.lists(st.sampled_from([*"abc", "x" * 41, "é" * 21])).map(" ".join)), st.integers(1, 4))
def test_each_of_several_texts_is_counted_alone(texts: list[str], n: int) -> None:
    plain = [text.encode() for text in texts]
    assert distinct_of_words(plain, n, 40) == [counted(text, n, 40) for text in plain]
    assert distinct_of_words(plain, n) == [distinct(text.split(), n) for text in texts]


@table("size", [*range(1, 26), 31, 32, 33, MAX_WORD_BYTES])
def test_each_byte_of_a_word_counts_and_where_it_ends(size: int) -> None:
    word = bytes(range(ord("a"), ord("a") + size % 26)).ljust(size, b"\0")
    others = [word[:place] + b"#" + word[place + 1 :] for place in range(size)]
    longer = [word[:end] for end in range(1, size)] + [bytes(end) for end in range(1, size + 1)]
    words = {word, *others, *longer}
    assert counted(b" ".join(words), 1) == (len(words), len(words))


@table("before", ["x", "variabl", "a long word, and behind it "])
def test_words_that_are_much_alike_share_no_number(before: str) -> None:
    words = [before.replace(" ", "-") + chr(code) for code in range(ord("!"), ord("a"))]
    pairs = " ".join(f"{first} {second} ." for first in words for second in words).encode()
    assert counted(pairs, 3) == distinct(pairs.split(), 3)


def test_lanes_of_two_words_are_not_exchanged() -> None:
    lanes = [b"a" * 8, b"b" * 8, b"c" * 8]
    words = [first + second for first in [b"", *lanes] for second in lanes]
    pairs = b" ".join(b"%b %b" % (first, second) for first in words for second in words)
    assert counted(pairs, 2) == distinct(pairs.split(), 2)
