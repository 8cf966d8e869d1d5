"""`rewardline usage`, and the run that `rewardline score` names, as a user runs them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from service.limits import keys
from tests.conftest import Served, rewardline, serving

RUN = "grpo-7/" + "a-name-that-goes-on-" * 4
BUDGETS = {"budget": {"items": 9_000_000_000, "judge_cost_per_minute": 2.5}, "run_budget": {"items": 3}}


@dataclass(frozen=True)
class Shared:
    served: Served
    secrets: dict[str, str]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """A service for which the tenant `red` has judged three items in one run."""
    tmp_path = tmp_path_factory.mktemp("usage")
    made = {name: keys.new_key() for name in ("red", "boss")}
    specs = {name: {"sha256": digest, "scopes": ["score"]} for name, (_, digest) in made.items()}
    specs["boss"]["scopes"] = ["admin"]
    path, rows = tmp_path / "keys.yaml", tmp_path / "rows.jsonl"
    path.write_text(yaml.safe_dump({"keys": specs, "tenants": {"red": BUDGETS}}))
    rows.write_text(f"{json.dumps({'response': 'a', 'reference': 'a'})}\n" * 3)
    with serving(tmp_path / "log.jsonl", (), None, keys_file=str(path), sandbox="none", workers="1") as served:
        secrets = {name: secret for name, (secret, _) in made.items()}
        options = ("--verifier", "exact_match", "--url", served.url, "--run-id", RUN)
        done = rewardline("score", rows, *options, api_key=secrets["red"])
        assert done.returncode == 0, done.stderr
        yield Shared(served, secrets)


def test_a_tenant_sees_its_runs_and_budgets_in_80_columns(shared: Shared) -> None:
    done = rewardline("usage", url=shared.served.url, api_key=shared.secrets["red"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Tenant red, counted since 2")
    rows = [[cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")] for line in lines]
    table = {row[0]: row[1:] for row in rows if len(row) == 6}
    assert table[""] == ["items", "judged", "CPU s", "tokens", "cost"]
    assert table["in all"][0] == "3"
    assert table["budget"] == ["9,000,000,000", "", "", "", ""]
    assert table["budget per minute"] == ["", "", "", "", "2.50"]
    assert table["budget of a run"] == ["3", "", "", "", ""]
    assert "".join(row[0] for row in rows if len(row) == 6).endswith(RUN)
    assert max(len(line) for line in lines if not line.endswith(".")) <= 80
    assert lines[-1] == f"items of the run {RUN} is used up until somebody raises it."


def test_a_key_with_admin_sees_others_and_json_has_all(shared: Shared) -> None:
    asked = ("usage", "--url", shared.served.url, "--json")
    [own] = json.loads(rewardline(*asked, api_key=shared.secrets["red"]).stdout)["tenants"]
    [seen] = json.loads(rewardline(*asked, "--tenant", "red", api_key=shared.secrets["boss"]).stdout)["tenants"]
    assert (seen["tenant"], seen["total"], seen["runs"][0]["run_id"]) == ("red", own["total"], RUN)
    [boss] = json.loads(rewardline(*asked, api_key=shared.secrets["boss"]).stdout)["tenants"]
    assert (boss["tenant"], boss["runs"]) == ("boss", [])


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("usage", "--tenant", "boss"), "admin"),
        (("usage", "--tenant", "a b"), "admin"),
        (("usage", "--tenant", "a\nb"), "header"),
        (("usage", "--url", "grpc://127.0.0.1:1"), "needs HTTP"),
        (("usage", "--url", "nowhere"), "http://"),
        (("score", __file__, "--run-id", "a b"), "--run-id"),
    ],
)
def test_what_cannot_be_asked_is_said(shared: Shared, arguments: tuple[str, ...], said: str) -> None:
    done = rewardline(*arguments, url=shared.served.url, api_key=shared.secrets["red"])
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_rows_that_are_scored_here_name_their_run_too(tmp_path: Path) -> None:
    rows, audit = tmp_path / "rows.jsonl", tmp_path / "audit"
    rows.write_text(json.dumps({"id": "one", "response": "a", "reference": "a"}))
    done = rewardline("score", rows, "--verifier", "exact_match", run_id="nightly", audit_dir=str(audit))
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in rewardline("log", audit, "--json", "--run", "nightly").stdout.splitlines()]
    assert [row["id"] for row in found] == ["one"]
