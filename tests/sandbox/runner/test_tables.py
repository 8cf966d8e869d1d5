"""Tables of pandas cross from one process to the other as what they are, and nothing else comes of what a program sends."""

import contextlib
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.runner.values.encoding import FAITHFUL_BUILDERS, Decoder, Encoder, Undecodable, dumped, opaque
from sandbox.runner.values.tables import TABLE_BUILDERS, image_of_table
from tests.sandbox.runner.split_process import run
from tests.tables import table

_DECODER = Decoder({**FAITHFUL_BUILDERS, **TABLE_BUILDERS})


def _image(value: Any) -> Any:
    encoder = Encoder(lambda foreign: image_of_table(encoder, foreign) or opaque(foreign))
    return json.loads(dumped(encoder.image(value)))


def _crossed(value: Any) -> Any:
    return _DECODER.value(_image(value))


_DAYS = pd.date_range("2024-01-31", periods=3, freq="D")
_FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [1.5, float("nan"), float("inf")]})
FRAMES = [
    _FRAME,
    pd.DataFrame(),
    pd.DataFrame(columns=["a", "b"]),
    pd.DataFrame(index=[1, 2]),
    _FRAME.set_index("b"),
    _FRAME.rename(columns={"a": 1, "b": ("x", 2)}),
    _FRAME.astype({"a": "int8", "c": "float32"}),
    _FRAME.astype({"a": "Int64", "b": "category", "c": "Float64"}),
    pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "t": pd.array([True, None, False], "boolean")}),
    pd.DataFrame([[1, 2], [3, 4]], columns=["same", "same"]),
    pd.DataFrame({"lists": [[1], [2, 3]], "tuples": [(1, 2), ()], "dicts": [{"a": 1}, {}]}),
    pd.DataFrame({"day": _DAYS, "span": _DAYS - _DAYS[0], "zoned": _DAYS.tz_localize("Europe/Berlin")}, index=_DAYS),
    pd.DataFrame({"day": [pd.Timestamp("2024-01-01"), pd.NaT]}),
    pd.DataFrame({"x": [1, 2, 3, 4]}, index=pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["l", None])),
    _FRAME.groupby("b").agg({"a": ["sum", "mean"]}),
    pd.DataFrame({"c": pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True)}),
    pd.DataFrame({"c": pd.Categorical([1, None, 2])}),
    pd.DataFrame({"z": np.array([1 + 2j, 0])}, index=pd.Index([2.5, 3.5], name="at")),
    pd.DataFrame({"big": np.array([2**63, 2**64 - 1], "uint64")}),
]


@pytest.mark.parametrize("frame", FRAMES, ids=range(len(FRAMES)))
def test_a_frame_stays_the_same(frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(_crossed(frame), frame)
    for place in range(frame.shape[1]):
        pd.testing.assert_series_equal(_crossed(frame.iloc[:, place]), frame.iloc[:, place])
    pd.testing.assert_index_equal(_crossed(frame.index), frame.index)


@table(
    "value",
    [
        pd.Timestamp("2024-02-29 12:00:00.123456789"),
        pd.Timestamp("2024-02-29", tz="Asia/Tokyo"),
        pd.Timedelta("1 days 02:03:04.000000005"),
        pd.Timedelta("-3 days"),
        np.datetime64("2024-02-29"),
        np.datetime64("2024-02-29T01:02:03.000000004", "ns"),
        np.timedelta64(5, "ns"),
        np.float64(2.5),
        np.float32("inf"),
        np.int8(-3),
        np.uint64(2**64 - 1),
        np.bool_(True),
        np.complex128(1 + 2j),
        np.str_("a"),
        np.bytes_(b"a"),
        {"a": [pd.Timestamp(0)]},
        pd.Timestamp("2024-02-29T12:00:00+05:30"),
    ],
)
def test_so_do_instants_spans_and_scalars(value: Any) -> None:
    crossed = _crossed(value)
    assert crossed == value
    assert type(crossed) is type(value)


def test_what_is_missing_stays_missing() -> None:
    assert _crossed([pd.NaT, pd.NA])[0] is pd.NaT
    assert _crossed([pd.NaT, pd.NA])[1] is pd.NA


def test_arrays_of_instants() -> None:
    for unit in ("D", "s", "us", "ns"):
        array = np.array(["2024-01-01", "NaT"], f"datetime64[{unit}]")
        np.testing.assert_array_equal(_crossed(array), array)


@table(
    "value",
    [
        pd.interval_range(0, 3),
        pd.period_range("2024", periods=2, freq="M"),
        pd.DataFrame({"p": pd.arrays.SparseArray([0, 1])}),
    ],
)
def test_other_kinds_have_no_image(value: Any) -> None:
    assert "opaque" in _image(value)


def _mutations(image: Any) -> st.SearchStrategy[Any]:
    """Images with one part of them replaced."""
    leaves: st.SearchStrategy[Any] = st.sampled_from(
        [None, 0, -1, 10**30, "", "x", "ns", "datetime64[ns, ../x]", [], [[]], {}, {"NaT": None}, 1.5, True]
    )
    places = [*_places(image, ())]
    return st.tuples(st.sampled_from(places), leaves).map(lambda chosen: _replaced(image, *chosen))


def _places(image: Any, path: tuple[Any, ...]) -> Any:
    yield path
    for key, part in image.items() if type(image) is dict else enumerate(image) if type(image) is list else ():
        yield from _places(part, (*path, key))


def _replaced(image: Any, path: tuple[Any, ...], leaf: Any) -> Any:
    if not path:
        return leaf
    copied = dict(image) if type(image) is dict else [*image]
    copied[path[0]] = _replaced(copied[path[0]], path[1:], leaf)
    return copied


@pytest.mark.parametrize(
    "frame",
    [pytest.param(frame, id=str(at), marks=pytest.mark.fuzz if at % 7 else ()) for at, frame in enumerate(FRAMES)],
)
@given(data=st.data())
@pytest.mark.filterwarnings("ignore")
def test_nonsense_is_refused(frame: pd.DataFrame, data: st.DataObject) -> None:
    image = data.draw(_mutations(_image(frame)))
    with contextlib.suppress(Undecodable):
        _DECODER.value(image)


_PROGRAM = """
import numpy as np
import pandas as pd
def table(): return pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
def double(frame):
    frame = frame.copy()
    frame["c"] = frame["a"] * 2
    return frame
def change(frame): frame["c"] = 0
def same(frame): return frame
class Own(pd.DataFrame): pass
def own():
    pd.DataFrame.equals = lambda *_: True
    return Own({"a": [7]})
"""
_EXPECTED = "import pandas as pd\nexpected = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\n"


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize(
    ("case", "passes"),
    [
        ("pd.testing.assert_frame_equal(table(), expected)", True),
        ("pd.testing.assert_frame_equal(table(), expected[['a']])", False),
        ("assert table().equals(expected)", True),
        ("assert isinstance(table(), pd.DataFrame)", True),
        ("assert table()['a'].sum() == 3", True),
        ("assert table()['a'].sum() == 4", False),
        ("assert (table()['b'] == pd.Series(['x', 'y'])).all()", True),
        ("assert double(expected)['c'].tolist() == [2, 4]", True),
        ("double(expected)\nassert list(expected.columns) == ['a', 'b']", True),
        ("change(expected)\nassert list(expected.columns) == ['a', 'b', 'c']", True),
        ("assert same(expected) is expected", True),
        ("assert own().equals(pd.DataFrame({'a': [7]}))", True),
        ("assert own().equals(pd.DataFrame({'a': [8]}))", False),
    ],
)
def test_tests_of_tables(case: str, passes: bool) -> None:
    said = run(_PROGRAM, style="asserts", cases=[_EXPECTED + case])
    assert (said.complete, said.passed) == (True, [passes])
