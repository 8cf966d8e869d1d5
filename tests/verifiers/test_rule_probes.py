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


def test_every_family_is_accepted_and_rejected() -> None:
    assert {name for name, rows in ROWS.items() if {row["score"] for row in rows} <= {0.0}} == set()
    assert {name for name, rows in ROWS.items() if {row["score"] for row in rows} <= {1.0}} <= {"repetition"}
