"""No item of `make bench` takes many more calls than it took: rules that run on each sentence slow all verifiers down, unseen."""

import json
from functools import partial
from typing import Any

import pytest

from tests.benchmarks import calls
from tests.verifiers.found import Found
from verifiers.commitment import stance

MOST_MORE = 0.03
"""The share by which calls may grow. Sets of words have another order in each process, which changes one call in two hundred."""
LEAST_LESS = 0.15
"""The share by which calls may fall before they have to be kept anew: else as many could come back."""
HELP = """
calls for an item: {now}, kept: {kept}.
Look where they are: `python -m cProfile -s ncalls` of what {module}.py runs for the row.
If they are meant, or there are fewer now, keep them: `python -m tests.benchmarks.calls`, and say why in the commit."""


def changed(found: Found) -> dict[str, str]:
    """The rows whose calls are not those that are kept."""
    kept = json.loads(calls.KEPT.read_text("utf-8"))["calls"]
    now = calls.calls(found)
    assert now.keys() == kept.keys(), "the rows are others: `python -m tests.benchmarks.calls` keeps them"
    say = partial(HELP.format, module="tests/benchmarks/calls")
    is_kept = {row: 1 - LEAST_LESS <= now[row] / kept[row] <= 1 + MOST_MORE for row in now}
    return {row: say(now=now[row], kept=kept[row]) for row in now if not is_kept[row]}


def skip_other_versions() -> None:
    if (version := json.loads(calls.KEPT.read_text("utf-8"))["python"]) != calls.PYTHON:
        pytest.skip(f"calls are kept for Python {version}")


def test_an_item_takes_no_more_calls_than_before(found: Found) -> None:
    skip_other_versions()
    assert not changed(found)


def test_a_rule_that_reads_all_words_of_a_sentence_is_seen(found: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_other_versions()
    before = stance.Sentence.__init__

    def read(self: stance.Sentence, *arguments: Any) -> None:
        before(self, *arguments)
        assert all(word.text for word in self.words)

    monkeypatch.setattr(stance.Sentence, "__init__", read)
    assert {"math, gsm8k_model_solutions", "math, long_sample", "numeric, boxed"} <= changed(found).keys()
