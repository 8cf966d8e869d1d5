"""Cutting a call into requests, and the pauses between tries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rewardline.batching import Encoder, chunks, encode_item_as_json, encode_reference_as_json, json_bytes
from rewardline.errors import FieldError, problem
from rewardline.retry import MAX_RETRY_AFTER_S, Backoff

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.contract
@given(JSON)
def test_what_is_sent_is_what_was_given(value: Any) -> None:
    assert json.loads(json_bytes(value)) == value


def test_a_lone_surrogate_is_sent_as_its_escape() -> None:
    assert json_bytes("é\ud800") == b'"\\u00e9\\ud800"'


@given(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["a", "b", None])), max_size=40))
def test_chunks_keep_order_and_limits(shapes: list[tuple[int, str | None]]) -> None:
    references = {"a": "r" * 20, "b": "s" * 30}
    encoder = Encoder(encode_item_as_json, encode_reference_as_json, references)
    entries = [
        encoder.entry(i, {"response": "x" * size, "reference_id": name}) for i, (size, name) in enumerate(shapes)
    ]
    cut = list(chunks(entries, 7, 300))
    assert [entry.index for chunk in cut for entry in chunk] == list(range(len(entries)))
    for chunk in cut:
        shared = dict(entry.reference for entry in chunk if entry.reference)
        size = sum(entry.payload.size for entry in chunk) + sum(payload.size for payload in shared.values())
        assert 1 <= len(chunk) <= 7
        assert size <= 300 or len(chunk) == 1


def test_items_are_encoded_only_as_far_as_they_are_asked_for() -> None:
    encoder = Encoder(encode_item_as_json, encode_reference_as_json)
    read: list[int] = []

    def source() -> Iterator[Any]:
        for i in range(100):
            read.append(i)
            yield encoder.entry(i, {"response": "x"})

    assert len(next(chunks(source(), 10, 1 << 20))) == 10
    assert len(read) == 11


def test_a_bad_reference_and_a_bottomless_item_are_named() -> None:
    encoder = Encoder(encode_item_as_json, encode_reference_as_json, {"p1": float("nan")})
    with pytest.raises(ValueError, match=r"references\['p1'\] is not JSON"):
        encoder.entry(0, {"response": "x", "reference_id": "p1"})
    bottomless: list[Any] = []
    for _ in range(100_000):
        bottomless = [bottomless]
    with pytest.raises(ValueError, match=r"items\[4\] is nested too deeply"):
        encoder.entry(4, {"response": "x", "reference": bottomless})


def test_pauses_grow_within_their_cap_and_are_spread() -> None:
    pauses = [[backoff.next_s() for _ in range(50)] for backoff in (Backoff(0.1, 5.0), Backoff(0.1, 5.0))]
    assert pauses[0] != pauses[1]
    for pause in pauses:
        assert all(0.5 <= pause_s / min(5.0, 0.1 * 2**n) <= 1.0 for n, pause_s in enumerate(pause))


@pytest.mark.parametrize(
    ("asked_s", "least_s"), [(3.0, 3.0), (0.0, 0.0), (-5.0, 0.0), (float("inf"), MAX_RETRY_AFTER_S)]
)
def test_a_server_that_asks_for_time_gets_it_within_reason(asked_s: float, least_s: float) -> None:
    assert all(least_s <= Backoff(0.1, 5.0).next_s(asked_s) <= least_s + 5.0 for _ in range(100))


@pytest.mark.parametrize("loc", [["items", 3, "params", "x"], ["body", "items", 3, "params", "x"], "items[3].params.x"])
def test_a_place_in_the_request_is_read_in_each_spelling(loc: Any) -> None:
    parsed = problem({"title": "Invalid", "detail": "d", "errors": [{"loc": loc, "msg": "m"}, "junk", {}]})
    assert parsed == {"detail": "d", "errors": [FieldError(("items", 3, "params", "x"), "m"), FieldError((), "")]}
