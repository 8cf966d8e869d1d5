"""The lexicons are read when the service starts, and not while a response waits."""

from pathlib import Path
from typing import Any

import pytest

from verifiers.commitment import MATH_CHANNELS, ExtractionParams, cues, extract, load


def test_once_loaded_no_response_waits_for_the_lexicons(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (cues.languages, cues.listed, cues._trie):
        kept.cache_clear()
    load()

    def read_again(path: Path) -> Any:
        raise AssertionError(path)

    monkeypatch.setattr(cues, "_read", read_again)
    for response in (r"So $x = \boxed{5}$.", "The answer is 7.", "答案是 12。", "#### 9", "She has 12 left."):
        assert extract(response, ExtractionParams(), MATH_CHANNELS).answer is not None
    assert cues._trie.cache_info().currsize == 1
