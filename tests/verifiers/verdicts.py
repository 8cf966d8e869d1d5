"""Judges every example of every verifier, and rows of the labelled rules: `python -m tests.verifiers.verdicts SEED`.

The seed decides the order, the groups, and what `random` gives. The program writes one line of JSON with the verdicts
in the order of the rows. Scores are written as their exact bits.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.verifiers.found import Found
from verifiers.base import Item, Status
from verifiers.registry import Entry

DATA = Path(__file__).parents[1] / "data" / "rules"
_ROWS_OF_A_FILE = 150
_MEASURED = frozenset({"code_quality"})
"""Verifiers with scores that depend on the CPU time of a program."""


def _rows(found: Found) -> Iterator[tuple[Entry, Item[Any]]]:
    for entry in found.registry.values():
        if entry.verifier.name in _MEASURED:
            continue
        for example in entry.examples:
            params = entry.verifier.params.model_validate_json(json.dumps(example.params))
            yield entry, Item(example.response, params, example.prompt)
    entry = found.registry["instruction_following"]
    for name in ["ifeval", "ifbench", "ifevalg"]:
        lines = (DATA / f"{name}_oracle.jsonl").read_text().splitlines()
        for line in lines[:: max(1, len(lines) // _ROWS_OF_A_FILE)]:
            row = json.loads(line)
            names = row.get("instruction_id_list") or [row["instruction_id"]]
            arguments = row["kwargs"] if "instruction_id_list" in row else [row["kwargs"]]
            reference = {"instruction_id_list": names, "kwargs": arguments, "prompt": row.get("prompt", "")}
            for profile in ["official", "fixed"]:
                params = entry.verifier.params.model_validate({"reference": reference, "profile": profile})
                yield entry, Item(row["response"], params)


def main(seed: int) -> None:
    """Judge all rows in the order of the seed, and write the verdicts in the order of the rows."""
    chance = random.Random(seed)
    random.seed(seed)
    found = Found()
    try:
        rows = list(_rows(found))
        verdicts: dict[int, Any] = {}
        by_verifier: dict[str, list[int]] = {}
        for position in chance.sample(range(len(rows)), len(rows)):
            by_verifier.setdefault(rows[position][0].verifier.name, []).append(position)
        for name in chance.sample(sorted(by_verifier), len(by_verifier)):
            positions = by_verifier[name]
            while positions:
                group = [positions.pop() for _ in range(min(len(positions), chance.randint(1, 40)))]
                judged = found.score(found.registry[name], [rows[position][1] for position in group])
                verdicts |= dict(zip(group, judged, strict=True))
    finally:
        found.close()
    lines = [
        [
            rows[n][0].verifier.name,
            verdict.status,
            None if verdict.score is None else verdict.score.hex(),
            verdict.reason,
        ]
        for n, verdict in sorted(verdicts.items())
    ]
    assert not any(status is Status.FAILED for _, status, _, _ in lines), lines
    print(json.dumps(lines))


if __name__ == "__main__":
    main(int(sys.argv[1]))
