"""The lexicons are read when the service starts, and not while a response waits."""

from pathlib import Path
from typing import Any

import pytest

from verifiers import tables
from verifiers.commitment import MATH_CHANNELS, ExtractionParams, corrected, cues, extract, glance, load, wording
from verifiers.rules import multiple_choice
from verifiers.rules.multiple_choice import MultipleChoiceParams


def test_once_loaded_no_response_waits_for_the_lexicons(monkeypatch: pytest.MonkeyPatch) -> None:
    expressions = (wording.openings, wording._finder, glance._by_last)
    for kept in (cues.languages, cues.listed, cues._trie, *expressions):
        kept.cache_clear()
    load()
    built = [table.cache_info().misses for table in expressions]

    def read_again(path: Path) -> Any:
        raise AssertionError(path)

    monkeypatch.setattr(tables, "texts", read_again)
    for response in (
        r"So $x = \boxed{5}$. It is done.",
        "The answer is 7.",
        "答案是 12。",
        "#### 9",
        "She has 12 left.",
        "x of 3",
    ):
        found = corrected(response, extract(response, ExtractionParams(), MATH_CHANNELS))
        assert found.answer is not None
    assert cues._trie.cache_info().currsize == 1
    params = MultipleChoiceParams(reference="C", choices=("London", "Berlin", "Paris", "Madrid"))
    response = "First A or B?\nThe answer\nmay be A. We choose B, and so C fits. A is right. " * 9 + "The answer is C."
    assert multiple_choice.judge(response, params).extracted
    assert [table.cache_info().misses for table in expressions] == built
