import collections
import datetime
import enum
import json
import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.values import encoding
from sandbox.runner.values.encoding import Opaque, Undecodable, decode, encode
from tests.tables import table

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.fractions(),
    st.datetimes(timezones=st.none()),
    st.timedeltas(),
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5)
PLAIN = st.recursive(
    HASHABLE,
    lambda inner: st.lists(inner) | st.sets(HASHABLE, max_size=4) | st.dictionaries(HASHABLE, inner, max_size=4),
    max_leaves=20,
)


def image(text: str) -> object:
    return decode(text.encode())


@pytest.mark.boxes
@given(PLAIN)
def test_plain_data_comes_back_equal_and_of_the_same_type(value: object) -> None:
    back = decode(encode(value))
    assert back == value
    assert repr(sorted(map(repr, [type(back)]))) == repr(sorted(map(repr, [type(value)])))


@table(
    "value",
    [
        2**53,
        -(2**70),
        -0.0,
        math.inf,
        3 + 4j,
        bytearray(b"ab"),
        range(0, 10, 3),
        collections.deque([1, 2], 5),
        Decimal("1.50"),
        Decimal("-Infinity"),
        datetime.date(2024, 2, 29),
        datetime.time(1, 2, 3, 4),
        datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        "a\ud800\0",
        {1: 2}.items(),
        {1: 2}.keys(),
        [[1, 2.5], ["a", None], [True]],
        {(1, "a"): {frozenset({1})}},
    ],
)
def test_a_value_of_every_known_type_survives(value: object) -> None:
    back = decode(encode(value))
    assert back == value
    assert type(back) is type(value)


def test_an_integer_of_many_digits_survives() -> None:
    assert decode(encode(-(7**20_000))) == -(7**20_000)


def test_not_a_number_survives() -> None:
    back = decode(encode([math.nan, 1.5]))
    assert isinstance(back, list)
    assert math.isnan(back[0])


LIARS = """
class Liar:
    def _lie(self, *_):
        asked.append("method")
        return True

    __eq__ = __ne__ = __lt__ = __le__ = __contains__ = _lie
    __len__ = __int__ = __index__ = lambda self: self._lie() and 42
    __iter__ = lambda self: iter(self._lie() and [42])

    def __hash__(self):
        asked.append("hash")
        return 7

    @property
    def __class__(self):
        asked.append("class")
        return int

    def __getattribute__(self, name):
        asked.append(name)
        return object.__getattribute__(self, name)

class LyingType(type):
    def __hash__(cls):
        asked.append("hash of the type")
        return hash(int)

    def __eq__(cls, other):
        asked.append("== of the type")
        return True

    @property
    def __mro__(cls):
        asked.append("bases")
        return (int, object)

    @property
    def __name__(cls):
        asked.append("name")
        return "int"

class Integer(Liar, int): pass
class Text(Liar, str): pass
class Real(Liar, float): pass
class Items(Liar, list): pass
class Pair(Liar, tuple): pass
class Elements(Liar, set): pass
class Data(Liar, bytes): pass
class Table(Liar, dict):
    def items(self):
        asked.append("items")
        return [("right", "answer")]
    keys = values = items
class LyingList(list, metaclass=LyingType): pass
class Shapeless(metaclass=LyingType): pass
"""
"""Their instances note in `asked` that a method of theirs was called."""


@pytest.fixture
def liars() -> dict[str, Any]:
    namespace: dict[str, Any] = {"asked": []}
    exec(LIARS, namespace)
    return namespace


@pytest.mark.parametrize(
    ("liar", "truth"),
    [
        ("Integer(5)", 5),
        ("Text('abc')", "abc"),
        ("Real(1.5)", 1.5),
        ("Items([1, Integer(2)])", [1, 2]),
        ("Pair((1, 2))", (1, 2)),
        ("Table({'a': Integer(1)})", {"a": 1}),
        ("Elements({1, 2})", {1, 2}),
        ("Data(b'ab')", b"ab"),
        ("LyingList([3])", [3]),
    ],
)
def test_a_subclass_is_reduced_to_its_base_without_being_asked(liars: dict[str, Any], liar: str, truth: object) -> None:
    value = eval(liar, liars)
    liars["asked"].clear()
    data = encode(value)
    assert not liars["asked"]
    assert decode(data) == truth
    assert type(decode(data)) is type(truth)


@pytest.mark.parametrize("liar", ["Liar()", "Shapeless()", "[Liar()]", "{1: Liar()}", "Shapeless"])
def test_what_is_no_plain_data_is_not_asked_either(liars: dict[str, Any], liar: str) -> None:
    value = eval(liar, liars)
    liars["asked"].clear()
    data = encode(value)
    assert not liars["asked"]
    assert b"opaque" in data


@pytest.mark.parametrize("value", [object(), SimpleNamespace(a=1), len, int, ValueError(), sys], ids=lambda _: "")
def test_anything_else_is_opaque_and_equals_nothing(value: object) -> None:
    back = decode(encode(value))
    assert isinstance(back, Opaque)
    assert not (back == back)  # noqa: SIM201
    assert not any(back == other for other in (value, None, 0, ""))
    assert [back] != [decode(encode(value))]


def test_an_opaque_value_inside_plain_data_keeps_its_place() -> None:
    back = decode(encode([1, object(), {"a": len}]))
    assert isinstance(back, list)
    assert back[0] == 1
    assert isinstance(back[1], Opaque)
    assert back[1].type_name == "object"


class Colour(enum.IntEnum):
    RED = 1


class Day(str, enum.Enum):  # noqa: UP042 - as programs write it
    MONDAY = "mon"


class Point(collections.namedtuple("Point", "x y")):
    pass


@table(
    ("value", "plain"),
    [
        (Colour.RED, 1),
        (Day.MONDAY, "mon"),
        (Point(1, 2), (1, 2)),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (collections.defaultdict(list, {"a": [1]}), {"a": [1]}),
        (numpy.int64(3), 3),
        (numpy.float64(2.5), 2.5),
        (numpy.float32(0.5), 0.5),
        (numpy.bool_(True), True),
        (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (numpy.zeros((0, 3)), []),
        ([numpy.int64(1), {"a": numpy.array([1.5])}], [1, {"a": [1.5]}]),
    ],
)
def test_relatives_of_plain_types_become_plain(value: object, plain: object) -> None:
    back = decode(encode(value))
    assert back == plain
    assert type(back) is type(plain)


def faithful(image: object) -> Any:
    return encoding.Decoder(encoding.FAITHFUL_BUILDERS).value(image)


def test_a_structured_array_of_numbers_keeps_its_fields() -> None:
    array = numpy.array([[(9, 7.5), (8, 1)], [(7, 5), (6, 2)]], dtype="i4,f8")
    back = faithful(encoding.Encoder(encoding.opaque).image(array))
    assert back.dtype == array.dtype
    assert numpy.array_equal(back, array)


@table(
    "content",
    [
        [[["a", "int64"], ["b", "int64"]], [2], [1, 2]],
        [[["a", "int64"], ["b", "int64"]], [1], [{"tuple": [1]}]],
        [[["a", "U99999999"]], [1], [{"tuple": [1]}]],
        [[["a", "int64"]], [1] * 100_000, "a"],
        [[["a"]], [1], [{"tuple": [1]}]],
    ],
)
def test_a_structured_array_without_an_item_for_each_field_is_undecodable(content: object) -> None:
    with pytest.raises(Undecodable):
        faithful({"ndarray": content})


def test_an_ordered_dictionary_keeps_its_own_order() -> None:
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    back = decode(encode(ordered))
    assert isinstance(back, dict)
    assert list(back) == ["b", "a"]


def test_a_false_numpy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Array:
        def tolist(self) -> list[int]:
            return [42]

    Array.__module__ = "numpy"
    Array.__name__ = "ndarray"
    assert isinstance(decode(encode(Array())), Opaque)
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(ndarray=Array, generic=Array))
    assert isinstance(decode(encode(Array())), Opaque)


def test_a_value_that_contains_itself_ends() -> None:
    loop: list[object] = []
    loop.append(loop)
    back = decode(encode(loop))
    depth = 0
    while isinstance(back, list):
        back, depth = back[0], depth + 1
    assert isinstance(back, Opaque)
    assert depth > encoding.MAX_DEPTH


@pytest.mark.bombs
def test_a_value_that_unfolds_without_end_is_opaque() -> None:
    loop: list[object] = []
    loop += [loop, loop]
    assert isinstance(decode(encode(loop)), Opaque)


@table(
    "make",
    [
        lambda: "x" * (17 << 20),
        lambda: 1 << (65 << 20),
        lambda: [0] * 2_100_000,
        lambda: ["\N{SNOWMAN}" * 1000] * 8_000,
        lambda: bytes(9 << 20),
    ],
)
def test_a_value_too_large_is_opaque(make: Callable[[], object]) -> None:
    data = encode(make())
    assert len(data) < 100
    assert isinstance(decode(data), Opaque)


def test_a_million_integers_are_not_too_large() -> None:
    numbers = list(range(1_000_000))
    assert decode(encode(numbers)) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1",
        "{}",
        '{"int":"0x1","float":"nan"}',
        '{"unknown":1}',
        '{"object":[1,"a","class"]}',
        '{"int":5}',
        '{"int":"one"}',
        '{"float":"1.5"}',
        '{"float":["nan"]}',
        '{"complex":[1]}',
        '{"complex":["1","2"]}',
        '{"bytes":"xyz"}',
        '{"bytes":3}',
        '{"tuple":1}',
        '{"tuple":{"tuple":[]}}',
        '{"set":[[1]]}',
        '{"set":"abc"}',
        '{"dict":[1]}',
        '{"dict":[[1]]}',
        '{"dict":[[[],1]]}',
        '{"dict":"ab"}',
        '{"range":[1,2,0]}',
        '{"range":[1,2,"3"]}',
        '{"Decimal":1.5}',
        '{"Decimal":"sNaN"}',
        '{"Decimal":"1e999999999"}',
        '{"Fraction":[1,0]}',
        '{"Fraction":["1","2"]}',
        '{"date":"2024-13-01"}',
        '{"datetime":5}',
        '{"timedelta":[1e400,0,0]}',
        '{"deque":[[1],-1]}',
        '{"deque":[1,null]}',
        '{"named":["P",["x"]]}',
        '{"ndarray":1}',
        '{"opaque":5}',
        pytest.param("9" * 5000, id="digits"),
        pytest.param("[" * 100_000, id="open brackets"),
        pytest.param('{"tuple":[' * 3000, id="open tuples"),
        pytest.param("[" * 400 + "]" * 400, id="deep lists"),
        pytest.param('{"tuple":[' * 200 + "]}" * 200, id="deep tuples"),
    ],
)
def test_nonsense_is_undecodable(text: str) -> None:
    with pytest.raises(Undecodable):
        image(text)


def test_more_parts_than_a_box_may_send_are_undecodable() -> None:
    with pytest.raises(Undecodable):
        image("[" + "[]," * 3_000_000 + "0]")


def test_keys_made_to_collide_are_refused_before_they_are_hashed_into_a_set() -> None:
    colliding = [{"int": hex(i * (2**61 - 1))} for i in range(1, 100_000)]
    with pytest.raises(Undecodable):
        image(json.dumps({"set": colliding}))
    with pytest.raises(Undecodable):
        image(json.dumps({"dict": [[key, 0] for key in colliding]}))


def test_fractions_too_long_to_be_reduced_fast_are_refused_or_opaque() -> None:
    with pytest.raises(Undecodable):
        image(json.dumps({"Fraction": [{"int": hex(7**200_000)}, {"int": hex(11**200_000)}]}))
    assert isinstance(decode(encode(Fraction(1, 7**200_000))), Opaque)


@pytest.mark.boxes
@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_any_bytes_are_a_value_or_undecodable(data: bytes) -> None:
    try:
        decode(data)
    except Undecodable:
        return


TAGS = [*encoding.PLAIN_BUILDERS, "object", "callable"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TAGS), inner, min_size=1, max_size=2),
    max_leaves=15,
)


@given(JSON)
def test_any_tagged_json_is_a_value_or_undecodable(content: object) -> None:
    try:
        decode(json.dumps(content).encode())
    except Undecodable:
        return
