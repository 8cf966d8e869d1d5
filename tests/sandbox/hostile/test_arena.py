"""Whether the arena notices: programs that do in the open what no attack may achieve, each told by what was wrong."""

import json
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.bench import RIGHT, python
from tests.sandbox.hostile import wall
from tests.sandbox.hostile.arena import Setup

SUM = {"case_type": "stdio", "test_cases": [{"input": "1 2\n", "expected_output": "3"}]}
PARAMS = {"language": "python", "time_limit_s": 1.0}
NOTED = {
    "passes": "an unearned pass: 1.0",
    "reaches": "got through: REACHED it",
    "is silent": "the attack did not come to its end",
    "tells a secret": "a secret came out",
    "spoils the next": "the next was judged ok 0.0",
    "no verdict": "no verdict: invalid",
    "puzzles the arena": "the arena raised KeyError('case_type')",
}


def row(name: str, source: str, **more: Any) -> dict[str, Any]:
    must = {"not_verdict": "pass", "not_effect": "", **more.pop("must", {})}
    return {
        "id": name, "class": "made up", "language": "python", "response": source,
        "reference": SUM, "params": PARAMS, "must": must, **more,
    }  # fmt: skip


def rows(secret: str) -> list[dict[str, Any]]:
    spoilt = {"response": python("print(1)"), "reference": SUM, "params": PARAMS, "must": {"verdict": "pass"}}
    return [
        row("passes", RIGHT),
        row("reaches", python("print('REACHED it')")),
        row("is silent", python("1 / 0"), must={"says": "done"}),
        row("tells a secret", python(f"print({secret!r})")),
        row("no verdict", RIGHT, params={**PARAMS, "language": "no such"}),
        row("spoils the next", python("print(1)"), then=spoilt),
        row("puzzles the arena", RIGHT, then=spoilt) | {"reference": {"test_cases": SUM["test_cases"]}},
        row("nothing wrong", python("print('held off')"), must={"says": "held off"}),
    ]


@pytest.mark.boxes
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_what_attacks_may_not_achieve_is_noticed() -> None:
    secret = secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="hostile-") as made:
        folder = Path(made)
        file = folder / "rows.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in rows(secret)))
        ids = [one["id"] for one in rows(secret)]
        setup = Setup("local", ids, state_dir=str(folder / "state"), rows=str(file))
        troubles = {
            line["id"]: line["troubles"]
            for line in wall.report(setup, sys.executable, folder, None, secret)
            if "id" in line
        }
    assert troubles.keys() == set(ids)
    for name, note in NOTED.items():
        assert any(trouble.startswith(note) for trouble in troubles[name]), (name, troubles[name])
    assert troubles["nothing wrong"] == []
