"""The keys of answers agree with the verdicts: of two answers with keys, either is right for the other if, and only if, these
are equal.
"""

import itertools
from typing import Any

import pytest

from tests.verifiers.found import Found
from verifiers.base import Item

PLAIN = (
    "0", "-0", "0.0", "1", "-1", "007", "7", "7.0", "1,000", "1000", "1{,}000", ".5", "0.5", "1/2", "2/4", "\\frac{1}{2}", "\\frac12", "-1/2",
    "\\frac{-1}{2}", "50", "50%", "$50", "1e3", "0.333", "1/3", "1.50", "3/2", "2 1/2", "x", "1 or 2", "nan", "seven",
)  # fmt: skip


@pytest.mark.parametrize(
    ("verifier", "params", "keys"),
    [
        ("math", {}, 20),
        ("math", {"unit_policy": "ignore"}, 20),
        ("math", {"rel_tol": 0.5}, 0),
        ("math", {"form": "simplified"}, 0),
        ("math", {"locale": "de"}, 0),
        ("numeric", {}, 10),
        ("numeric", {"abs_tol": 0.5}, 0),
        ("numeric", {"rel_tol": 0.5}, 0),
        ("numeric", {"significant_figures": 1}, 0),
        ("numeric", {"decimal_comma": True}, 0),
        ("qa", {}, 0),
    ],
)
def test_keys_are_equal_where_answers_are(found: Found, verifier: str, params: dict[str, Any], keys: int) -> None:
    entry = found.registry[verifier]
    read = {text: entry.verifier.params.model_validate({**params, "reference": text}) for text in PLAIN}
    known = {text: key for text, own in read.items() if (key := entry.verifier.answer_key(text, own)) is not None}
    assert (len(known) >= keys) if keys else not known
    pairs = list(itertools.permutations(known, 2))
    verdicts = found.score(entry, [Item(f"\\boxed{{{answer}}}", read[reference]) for answer, reference in pairs])
    wrong = [
        (*pair, verdict.score)
        for pair, verdict in zip(pairs, verdicts, strict=True)
        if (verdict.score == 1.0) != (known[pair[0]] == known[pair[1]])
    ]
    assert not wrong
