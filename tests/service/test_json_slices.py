"""Large batches are decoded in small steps to the same items, and what holds too much is refused."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from service import json_slices, wire
from service.errors import BadRequest, RequestError, TooLarge, Unprocessable
from service.json_slices import MAX_CONTAINERS, MAX_DIGITS, SLICE_BYTES, excess, is_light, is_too_much
from service.wire import ScoreRequest, decode_request
from tests.tables import table

ITEMS = 500
MOST = 8192
TEXT = 'We add: {"a": [1, 2], "items":[{"verifier": "x"},{"verifier": "y"}]} so \\boxed{42} \\" \n' * 8
BARE = b'{"verifier":"qa","response":"1","reference":%s}'


def driven(work: Coroutine[Any, Any, ScoreRequest]) -> tuple[ScoreRequest | RequestError, int]:
    """What comes of it, and in how many steps."""
    steps = 0
    while True:
        steps += 1
        try:
            work.send(None)
        except StopIteration as end:
            return end.value, steps
        except RequestError as error:
            return error, steps


def items(**more: Any) -> list[dict[str, Any]]:
    return [{"verifier": "math", "response": f"{TEXT}{n}", "reference": {"n": [n, "}"]}, **more} for n in range(ITEMS)]


def in_any_order() -> list[dict[str, Any]]:
    return [dict(sorted(item.items(), key=lambda pair: hash((n, pair[0])))) for n, item in enumerate(items())]


SAID = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": TEXT}]
BATCHES: dict[str, Any] = {
    "plain": {"items": items()},
    "other fields first": {"cache": "off", "references": {"items": [{"verifier": "a"}]}, "items": items()},
    "other fields last": {"items": items(), "explain": True, "references": {"a": "b"}, "deadline_s": 3.0},
    "conversations": {"items": [{**item, "response": SAID} for item in items()]},
    "keys in any order": {"items": in_any_order()},
    "a large item among small ones": {"items": [*items(), {"response": TEXT * 1000}, *items()]},
    "one large item": {"items": [{"response": TEXT * 1000}]},
    "large references": {"references": {str(n): TEXT for n in range(700)}, "items": items()},
}
WRITTEN: dict[str, Callable[[Any], str]] = {
    "narrow": lambda value: json.dumps(value, separators=(",", ":")),
    "usual": json.dumps,
    "wide": lambda value: json.dumps(value, indent=2),
}


@table("form", WRITTEN)
@table("name", BATCHES)
def test_a_batch_in_slices_is_the_same_batch(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_slices, "_LIGHT_BYTES", 0)
    body = WRITTEN[form](BATCHES[name]).encode()
    whole = msgspec.json.decode(body, type=ScoreRequest)
    assert len(body) > SLICE_BYTES
    decoded, steps = driven(decode_request(body, MOST))
    assert isinstance(decoded, ScoreRequest), decoded
    assert plain(decoded) == plain(whole)
    assert steps > len(body) // 1_000_000


def plain(value: Any) -> Any:
    """Structs and raw JSON as what compares."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return bytes(value) if isinstance(value, msgspec.Raw) else value


def test_a_list_of_items_is_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_slices, "_LIGHT_BYTES", 0)
    decoded, _ = driven(decode_request(b" " + json.dumps(items()).encode() + b" ", MOST))
    assert isinstance(decoded, ScoreRequest)
    whole = msgspec.json.decode(json.dumps({"items": items()}), type=ScoreRequest)
    assert plain(decoded) == plain(whole)


def test_a_mistake_is_found_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_slices, "_LIGHT_BYTES", 0)
    wrong = items()
    wrong[-3]["response"] = 3
    decoded, _ = driven(decode_request(json.dumps({"items": wrong}).encode(), MOST))
    assert isinstance(decoded, Unprocessable)
    assert decoded.errors[0].loc == ["items", ITEMS - 3, "response"]
    decoded, _ = driven(decode_request(json.dumps({"items": items()}).encode()[:-20], MOST))
    assert isinstance(decoded, BadRequest)


LARGE = 4_000_000
HOSTILE: dict[str, tuple[bytes, type[RequestError]]] = {
    "spaces": (b'{"items":[' + b" " * LARGE + b"]}", BadRequest),
    "spaces in a reference": (b'{"items":[' + BARE % (b"[" + b" " * LARGE + b"]") + b"]}", BadRequest),
    "empty lists": (b'{"items":[' + BARE % (b"[" + b"[]," * (LARGE // 3) + b"[]]") + b"]}", TooLarge),
    "empty messages": (b'{"items":[{"response":[' + b"{}," * (LARGE // 3) + b"{}]}]}", TooLarge),
    "empty items": (b'{"items":[' + b"{}," * (LARGE // 3) + b"{}]}", TooLarge),
    "tiny items": (b'{"items":[' + b'{"response":"1"},' * (LARGE // 17) + b'{"response":"1"}]}', TooLarge),
    "keys": (b'{"items":[' + BARE % (b"{" + b'"a":1,' * (LARGE // 6) + b'"a":1}') + b"]}", TooLarge),
    "keys of the request": (b"{" + b'"a":1,' * (LARGE // 6) + b'"items":[]}', TooLarge),
    "depth": (b'{"items":' + b"[" * LARGE, BadRequest),
    "depth in an item": (b'{"items":[{"reference":' + b"[" * LARGE, BadRequest),
    "digits": (b'{"items":[' + BARE % (b"1" * LARGE) + b"]}", BadRequest),
    "a text without end": (b'{"items":[{"response":"' + b"\\\\" * (LARGE // 2), BadRequest),
    "one item too large": (b'{"items":[{"response":"' + b"a" * LARGE + b'"}]}', TooLarge),
    "one lone item": (b'{"response":"1","reference":[' + b"[]," * (LARGE // 3) + b"[]]}", TooLarge),
    "no JSON": (b"a" * LARGE, BadRequest),
    "two lists": (b'{"items":[' + b" " * 9000 + b'],"x":"' + b"a" * LARGE + b'","items":[]}', BadRequest),
}


@table("name", HOSTILE)
def test_a_hostile_body_is_refused_in_small_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_slices, "MAX_TOKENS", 100_000)
    monkeypatch.setattr(json_slices, "_LIGHT_BYTES", 2_000_000)
    monkeypatch.setattr(wire, "MAX_ITEM_BYTES", LARGE // 2)
    body, refusal = HOSTILE[name]
    error, _ = driven(decode_request(body, MOST))
    assert isinstance(error, refusal), error
    assert len(str(error)) < 2000


def test_a_long_name_is_not_repeated() -> None:
    error, _ = driven(decode_request(b'{"items":[{"' + b"k" * 200_000 + b'":1}]}', MOST))
    assert isinstance(error, Unprocessable)
    assert len(str(error)) < 2000


def test_what_a_dense_batch_takes_in_memory_is_held_before_it_is_decoded() -> None:
    held = 0

    def hold(nbytes: int) -> None:
        nonlocal held
        held += nbytes
        if held > 10_000_000:
            raise TooLarge("enough")

    dense = b'{"items":[' + b",".join([BARE % (b"[" + b"[]," * 1000 + b"[]]")] * 4000) + b"]}"
    assert dense.count(b"[]") > MAX_CONTAINERS
    error, steps = driven(decode_request(dense, MOST, hold))
    assert str(error) == "enough"
    assert steps < 10


@pytest.mark.parametrize("is_within", [True, False], ids=["within texts", "values"])
def test_commas_count_where_they_part_values(is_within: bool) -> None:
    commas = b"[0" + b",0" * 300_000 + b"]"
    assert is_too_much(b'["' + commas + b'"]' if is_within else commas) is not is_within


def test_a_body_of_texts_is_light_and_one_of_values_is_not() -> None:
    assert is_light(json.dumps({"items": [{"response": "So it is true, as was to be shown. " * 300}] * 200}).encode())
    assert not is_light(b'{"items":[' + BARE % (b"[" + b"[]," * 200_000 + b"[]]") + b"]}")
    assert not is_light(b'{"items":[' + b'{"response":"1"},' * 50_000 + b'{"response":"1"}]}')


LONG = b"9" * 4_300
"""The longest number that Python reads. To read it takes a hundred times as long as a text of its length."""
MANY: dict[str, tuple[bytes, bool]] = {
    "integers": (BARE % (b"[" + b",".join([LONG] * 900) + b"]"), True),
    "fractions": (BARE % (b"[" + b",".join([b"0." + LONG] * 900) + b"]"), True),
    "members": (BARE % (b"{" + b",".join([b'"a":%b' % LONG] * 900) + b"}"), True),
    "in messages": (b'{"verifier":"qa","response":[{"role":"assistant","n":[%b]}]}' % b",".join([LONG] * 900), True),
    "few": (BARE % (b"[" + b",".join([LONG] * 15) + b"]"), False),
    "short ones": (BARE % (b"[" + b",".join([b"9" * 200] * 2000) + b"]"), False),
    "within a text": (BARE % (b'"' + b",".join([LONG] * 200) + b'"'), False),
    "within texts": (BARE % (b"[" + b",".join([b'"%b"' % LONG] * 200) + b"]"), False),
}


@table("name", MANY)
def test_an_item_whose_long_numbers_take_long_to_read_is_refused(name: str) -> None:
    item, is_too_much = MANY[name]
    one, _ = driven(decode_request(b'{"items":[%b,%b]}' % (item, BARE % b"1"), MOST))
    assert isinstance(one, TooLarge if is_too_much else ScoreRequest), one
    alone, _ = driven(decode_request(b'{"verifier":"qa","response":"1","reference":"1","metadata":[%b]}' % item, MOST))
    assert isinstance(alone, TooLarge if is_too_much else ScoreRequest), alone
    assert (excess(item) is not None) is is_too_much


def test_only_numbers_beyond_the_bound_count_as_long() -> None:
    def numbers(digits: int) -> bytes:
        return b"[" + b",".join([b"9" * digits] * (2_000_000 // digits)) + b"]"

    assert [digits for digits in (240, 251, 300, 400, 499, MAX_DIGITS) if excess(numbers(digits))] == []
    for digits in (MAX_DIGITS + 1, 510, 750, 4_000):
        assert str(MAX_DIGITS) in (excess(numbers(digits)) or ""), digits


def test_the_numbers_of_items_count_for_each_of_them() -> None:
    assert len(checked(b'{"items":[' + b",".join([BARE % (b"[%b]" % b",".join([LONG] * 12))] * 50) + b"]}").items) == 50


def checked(body: bytes) -> ScoreRequest:
    outcome, _ = driven(decode_request(body, MOST))
    assert isinstance(outcome, ScoreRequest), outcome
    return outcome


@table("character, more", [("\U0001f600", 3), ("\u4e2d", 1), ("", 0)])
def test_a_character_that_widens_its_text_is_held(character: str, more: int) -> None:
    held: list[int] = []
    for count in (1, 40):  # as a whole, and in slices
        held.clear()
        item = {"verifier": "qa", "response": character + "a" * 100_000}
        body = json.dumps({"items": [item] * count}, ensure_ascii=False).encode()
        driven(decode_request(body, MOST, held.append))
        assert sum(held) // (100_000 * count) == more
