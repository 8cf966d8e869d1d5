"""No response decides whether it is judged: floods of every kind up to the longest that the service takes, odd texts,
programs in all languages, and mixes of them, for every verifier.
"""

from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.workers import Workers
from tests.verifiers import hostile_responses
from tests.verifiers.found import Found
from tests.verifiers.hostile_responses import COSTLY, MIXED, ODD, UNITS, fenced, floods
from tests.verifiers.statuses import broken, tasks
from verifiers import registry
from verifiers.base import Resources
from verifiers.registry import Entry

pytestmark = pytest.mark.siege
NAMES: Final = list(registry.load(Resources(workers=Workers(1))))
LONGEST: Final = 4_000_000
"""The default of the setting `max_response_mb`."""
_ROWS: Final = 3


@pytest.fixture(scope="module")
def found() -> Iterator[Found]:
    everything = Found()
    yield everything
    everything.close()


@pytest.fixture(params=NAMES)
def entry(request: pytest.FixtureRequest, found: Found) -> Entry:
    return found.registry[request.param]


def test_odd_texts_and_programs(entry: Entry, found: Found) -> None:
    responses = [(text, text) for text in (*ODD, *COSTLY)] + list(fenced())
    assert [wrong for task in tasks(entry, _ROWS) for wrong in broken(found, entry, task, responses)] == []


@pytest.mark.parametrize("chars", [2_000, 31_000])
def test_floods(entry: Entry, found: Found, chars: int) -> None:
    responses = list(floods(chars))
    assert [wrong for task in tasks(entry, _ROWS) for wrong in broken(found, entry, task, responses)] == []


def test_the_longest_floods(entry: Entry, found: Found) -> None:
    """Each flood meets one task. Which one depends on its place, so that each task meets floods of many kinds."""
    judged = [task for task in tasks(entry, _ROWS) if task.is_judged]
    wrong: list[str] = []
    for place, response in enumerate(floods(LONGEST)):
        wrong += broken(found, entry, judged[place % len(judged)], [response])
    assert wrong == []


def test_its_own_examples_ten_thousand_times(entry: Entry, found: Found) -> None:
    wrong: list[str] = []
    for place, example in enumerate(entry.examples):
        count = min(10_000, LONGEST // (len(example.response) + 1))
        for number, task in enumerate(tasks(entry, _ROWS)):
            if number % len(entry.examples) == place:
                wrong += broken(found, entry, task, [(f"example {place}", f"{example.response}\n" * count)])
    assert wrong == []


_PIECES = st.one_of(
    st.sampled_from(ODD),
    st.sampled_from([text for _, text in fenced()]),
    st.builds(lambda unit, count: unit * count, st.sampled_from(list(UNITS.values())), st.integers(1, 400)),
    st.builds(lambda make, chars: make(chars), st.sampled_from(list(MIXED.values())), st.integers(1, 2_000)),
    st.text(max_size=100),
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_mixes(entry: Entry, found: Found, data: st.DataObject) -> None:
    own = st.sampled_from([example.response for example in entry.examples])
    mix = "".join(data.draw(st.lists(st.one_of(_PIECES, own), max_size=8)))
    task = data.draw(st.sampled_from(tasks(entry, _ROWS)))
    assert list(broken(found, entry, task, [("mix", mix)])) == []


def test_the_floods_are_what_they_say() -> None:
    """Every flood is about as long as it is meant to be, so that the longest ones reach the limit."""
    short = [name for name, text in hostile_responses.floods(10_000) if not 5_000 <= len(text) <= 25_000]
    assert short == []
