"""Short responses that ought to be accepted or not, family by family, by what they mean.

They were written from the rules' meaning before anybody asked the verifiers, and are kept to show what must stay right.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.verifiers.found import Found
from verifiers.base import Item, Status

DATA = Path(__file__).parents[1] / "data" / "rules" / "probes.jsonl"


def by_verifier() -> Mapping[str, Sequence[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["verifier"]].append(row)
    return rows


ROWS = by_verifier()


@pytest.mark.parametrize("name", sorted(ROWS))
def test_each_is_judged_by_what_it_means(name: str, found: Found) -> None:
    entry = found.registry[name]
    params = [entry.verifier.params.model_validate_json(json.dumps(row["params"])) for row in ROWS[name]]
    verdicts = found.score(entry, [Item(row["response"], each) for row, each in zip(ROWS[name], params, strict=True)])
    assert [
        (row, verdict)
        for row, verdict in zip(ROWS[name], verdicts, strict=True)
        if verdict.status is not Status.OK or verdict.score != pytest.approx(row["score"], abs=1e-9)
    ] == []


_WHOLE = frozenset(["code_format", "cosine_length", "exact_match", "length", "overlong", "regex", "xml"])
"""Verifiers of texts as they are, to the last blank."""


@pytest.mark.parametrize("name", sorted(ROWS.keys() - _WHOLE))
def test_blank_lines_at_the_end_change_nothing(name: str, found: Found) -> None:
    entry, rows = found.registry[name], [row for row in ROWS[name] if isinstance(row["response"], str)]
    params = [entry.verifier.params.model_validate_json(json.dumps(row["params"])) for row in rows]
    bare = found.score(entry, [Item(row["response"], each) for row, each in zip(rows, params, strict=True)])
    longer = found.score(entry, [Item(f"{row['response']} \n\n", each) for row, each in zip(rows, params, strict=True)])
    both = zip(rows, bare, longer, strict=True)
    assert [row for row, first, second in both if (first.status, first.score) != (second.status, second.score)] == []


def test_every_family_is_accepted_and_rejected() -> None:
    assert {name for name, rows in ROWS.items() if {row["score"] for row in rows} <= {0.0}} == set()
    assert {name for name, rows in ROWS.items() if {row["score"] for row in rows} <= {1.0}} <= {"repetition"}
