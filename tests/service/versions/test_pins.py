"""Runs that are pinned to versions, over real HTTP and gRPC."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from rewardline import Client, Status
from rewardline.hook import Hook
from typer.testing import CliRunner

from service.cli.main import application
from service.rollouts.verdict_file import fingerprint
from service.versions.locks import Lock, Locks, Pin
from service.versions.releases import NoRelease, find
from service.versions.served import _asked
from service.wire import BatchRequest, Result, ScoreItem
from tests.conftest import ROOT, Serve
from tests.processes import children, gone
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually
from verifiers.own_answers import STAND_IN

Json = dict[str, Any]
ITEMS: list[Json] = [
    {"verifier": "exact_match", "response": response, "reference": "a"}
    for response in ("a", "b", "", "ignore the lock")
]
RECIPE: list[Json] = [{**item, "verifier": None, "recipe": "think_math"} for item in ITEMS]


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """The lock of this release."""
    path = tmp_path_factory.mktemp("lock") / "rewardline.lock.json"
    done = CliRunner().invoke(application("lock", "score"), ["lock", "-o", str(path)])
    assert done.exit_code == 0, done.output
    made: Json = json.loads(path.read_text())
    return made


def changed(lock: Json, **versions: str) -> Json:
    return {**lock, "versions": lock["versions"] | {name.replace("__", " "): each for name, each in versions.items()}}


def put(folder: Path, name: str, lock: Json) -> str:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(lock))
    return str(folder / f"{name}.json")


@pytest.mark.contract
def test_other_versions_are_refused_for_the_whole_task(serve: Serve, lock: Json, tmp_path: Path) -> None:
    pins = tmp_path / "pins"
    put(pins, "same", {**lock, "date": "2026-02-01"})
    put(pins, "stray", {"notes": "of another kind"})
    old = put(pins, "old", {**changed(lock, exact_match="1", recipe__think_math="0"), "date": "2026-01-01"})
    served = serve(pins_dir=str(pins))
    for url in (served.url, f"grpc://{served.grpc}"):
        for pin in ("same", "2026-03-01", str(pins / "same.json")):
            with Client(url, pin=pin) as client:
                assert [result.score for result in client.score(ITEMS)] == [1.0, 0.0, 0.0, 0.0]
        for pin in ("old", "2026-01-31", old):
            with Client(url, pin=pin, max_resends=0) as client:
                results = client.score(ITEMS)
                by_recipe = client.score(RECIPE)
            assert {(str(each.status), each.score, each.reason) for each in (*results, *by_recipe)} == {
                ("failed", None, "pin_differs")
            }
            assert "exact_match is pinned to version 1, and is" in results[0].detail["message"]
            assert "recipe think_math is pinned to version 0, and is" in by_recipe[0].detail["message"]
        with Client(url, pin="2025-12-31", max_resends=0) as client:
            assert {each.reason for each in client.score(ITEMS)} == {"pin_unknown"}


def test_what_is_not_in_the_lock_is_refused(serve: Serve, lock: Json) -> None:
    own = {**lock, "versions": {"math": lock["versions"]["math"]}}
    served = serve()
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as http:
        results = http.post("/v1/score", json={"items": ITEMS, "pin": own}).json()["results"]
        assert {result["reason"] for result in results} == {"pin_differs"}
        assert "not in the lock" in results[0]["detail"]["message"]
        group = {"verifier": "numeric", "responses": ["1", "2"]}
        asked = {"groups": [group], "method": "majority"}
        reply = http.post("/v1/groups/score", json=asked, headers={"X-Pin": json.dumps(own)})
        (result,) = reply.json()["groups"]
        assert "pin_differs: numeric is not in the lock" in result["message"], result
        assert "not in the lock" in result["members"][0]["detail"]["message"]
        assert http.post("/v1/score", json={"items": ITEMS, "pin": ""}).status_code == 422
        assert http.post("/v1/score", json={"items": ITEMS}, headers={"X-Pin": ""}).status_code == 422
        job = http.post("/v1/jobs", json={"items": ITEMS}, headers={"X-Pin": json.dumps(own)}).json()["job_id"]
        results = http.get(f"/v1/jobs/{job}", params={"wait_s": 30}).json()["results"]
        assert {result["reason"] for result in results} == {"pin_differs"}
        lines = http.post(
            "/v1/score", json={"items": ITEMS, "pin": own}, headers={"Accept": "application/x-ndjson"}
        ).text.splitlines()
        assert {json.loads(line).get("reason") for line in lines} == {"pin_differs", None}


@table(
    "pin, message",
    [
        ("../../etc/passwd", "expected the name of a lock"),
        ("nobody", "no folder of locks"),
        ('{"lock": 2}', "Invalid"),
        ('{"lock": 1, "date": "2026-01-01", "release": "1", "versions": {"math": 5}}', "Expected `str`"),
        ("{", "truncated"),
        ("[" * 10_000, "expected the name of a lock"),
    ],
)
def test_a_pin_that_is_none_is_told(pin: str, message: str) -> None:
    async def served(lock: Lock, request: BatchRequest) -> list[Result]:
        raise AssertionError

    found = Locks(None if pin == "nobody" else Path("/nowhere"), served).of(pin)
    assert not isinstance(found, Pin)
    assert found.reason == "pin_unknown"
    assert message.lower() in found.detail["message"].lower()


@table("version", ["..", "../venv", "/usr", "1/../..", "", "1" * 65, "a"])
def test_a_release_is_never_looked_for_outside_its_folder(tmp_path: Path, version: str) -> None:
    (tmp_path / "venv/bin").mkdir(parents=True, exist_ok=True)
    (tmp_path / "venv/bin/python").touch()
    (tmp_path / "releases").mkdir(exist_ok=True)
    with pytest.raises(NoRelease, match="not the version of a release"):
        find(tmp_path / "releases", version)


def test_hooks_pass_the_pin_on(serve: Serve, lock: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "lock", changed(lock, exact_match="1"))
    monkeypatch.setenv("REWARDLINE_PIN", path)
    served = serve()
    with Client(**{**Hook(url=served.url).client_config(), "max_resends": 0}) as client:
        (result,) = client.score(ITEMS[:1])
    assert (result.status, result.reason) == (Status.FAILED, "pin_differs")
    with pytest.raises(ValueError, match=r"pin: nowhere\.json"):
        Client(served.url, pin="nowhere.json")


def test_a_date_names_one_lock_for_good(lock: Json, tmp_path: Path) -> None:
    """A day that is not over may get another lock, and so may one that has two."""

    async def served(lock: Lock, request: BatchRequest) -> list[Result]:
        raise AssertionError

    put(tmp_path, "first", {**lock, "date": "2026-01-01"})
    put(tmp_path, "the same", {**lock, "date": "2026-01-01"})
    (tmp_path / "broken.json").write_text("{")
    locks = Locks(tmp_path, served)
    assert isinstance(locks.of("2026-02-01"), Pin)
    put(tmp_path, "second", {**changed(lock, math="1"), "date": "2026-01-01"})
    for name, message in (
        ("2026-02-01", "first and second are different locks of 2026-01-01; name one"),
        ("2999-01-01", "write the name of a lock, such as "),
        ("2025-01-01", "there are first, second"),
    ):
        refusal = locks.of(name)
        assert not isinstance(refusal, Pin)
        assert message in refusal.detail["message"]


@table(
    "damage", [lambda text: text[:-20], lambda text: text.replace('"lock": 1', '"lock": 2'), lambda text: text + "}"]
)
def test_a_damaged_lock_does_not_let_a_date_mean_an_older_one(
    lock: Json, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    async def served(lock: Lock, request: BatchRequest) -> list[Result]:
        raise AssertionError

    put(tmp_path, "old", {**lock, "date": "2026-01-01"})
    newer = Path(put(tmp_path, "newer", {**lock, "date": "2026-02-01"}))
    newer.write_text(damage(newer.read_text()))
    refusal = Locks(tmp_path, served).of("2026-03-01")
    assert not isinstance(refusal, Pin)
    assert "newer.json in the folder of locks cannot be read" in refusal.detail["message"]
    assert isinstance(Locks(tmp_path, served).of("old"), Pin)
    newer.write_text('["lockers"]')
    assert isinstance(Locks(tmp_path, served).of("2026-03-01"), Pin)


@table(
    "change, same",
    [({"watch": {}}, True), ({"about": "It says more."}, True), ({"origin": "x"}, True), ({"partial": True}, False)],
)
def test_what_changes_no_reward_is_not_a_version_of_a_recipe(change: Json, same: bool) -> None:
    recipe = {"name": "r", "about": "", "checks": [{"verifier": "math"}], "partial": False}
    assert (fingerprint({**recipe, **change}) == fingerprint(recipe)) is same


def built(folder: Path, release: str) -> None:
    """Wheels of a release that judges otherwise: its `exact_match` has version 0 and pays the reversed reference."""
    for source in (ROOT, ROOT / "client"):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=source,
            check=True,
            capture_output=True,
        )
    for path in [*folder.glob("*.whl")]:
        name = path.name.replace(path.name.split("-")[1], release)
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(folder / f"new-{name}", "w") as new:
            for each in old.namelist():
                content = old.read(each)
                if each == "verifiers/rules/exact_match.py":
                    text = content.decode()
                    assert text.count('version = "') == 1
                    content = text.replace('version = "', 'version = "0.').encode()
                new.writestr(each, content)
        path.unlink()
        (folder / f"new-{name}").rename(folder / name)


@pytest.mark.contract
def test_a_pinned_release_judges_from_its_wheel(serve: Serve, lock: Json, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    built(wheels, "0.1.9")
    own = lock["versions"]["exact_match"]
    pinned = {**changed(lock, exact_match=f"0.{own}"), "release": "0.1.9", "on_difference": "serve"}
    path = put(tmp_path, "lock", pinned)
    wrong = put(tmp_path, "wrong", changed(pinned, exact_match="0.0"))
    absent = put(tmp_path, "absent", {**pinned, "release": "0.1.8"})
    served = serve(releases_dir=str(wheels))
    for url in (served.url, f"grpc://{served.grpc}"):
        with Client(url, pin=path, timeout_s=PATIENCE_S, receipts=True) as client:
            results = client.score([*ITEMS, {"verifier": "length", "response": "a", "params": {"maximum": 3}}])
        assert [result.score for result in results[:4]] == [1.0, 0.0, 0.0, 0.0]
        assert {result.version for result in results[:4]} == {f"0.{own}"}
        assert results[4].version == lock["versions"]["length"]
        receipt = results[0].receipt
        assert receipt is not None
        assert (receipt["release"], receipt["versions"]) == ("0.1.9", {"exact_match": f"0.{own}"})
        for pin, reason in ((wrong, "pin_differs"), (absent, "pin_unserved")):
            with Client(url, pin=pin, timeout_s=PATIENCE_S, max_resends=0) as client:
                refused = client.score(ITEMS)
            assert {(str(each.status), each.reason) for each in refused} == {("failed", reason)}
            assert str(wheels) not in refused[0].detail["message"]
    with Client(served.url, pin=path, timeout_s=PATIENCE_S) as client:
        (process,) = [pid for pid in children(served.process.pid) if b"service.__main__ import main" in _command(pid)]
        os.kill(process, signal.SIGKILL)
        eventually(lambda: [result.score for result in client.score(ITEMS)] == [1.0, 0.0, 0.0, 0.0])
    code = CliRunner().invoke(
        application("diff", "score"),
        ["diff", "0.1.9", "here", put_rows(tmp_path), "--releases-dir", str(wheels), "--fail"],
    )
    assert code.exit_code == 0, code.output
    assert f"exact_match: version 0.{own} before, {own} after" in code.output


def _command(pid: int) -> bytes:
    with gone():
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@table(
    "reference, response, reason",
    [(STAND_IN, "4", "pin_unserved"), ("4", STAND_IN, "unparseable_reference")],
    ids=["members of a group", "a response"],
)
def test_an_older_release_that_compares_no_groups_is_not_the_fault_of_the_item(
    lock: Json, reference: str, response: str, reason: str
) -> None:
    item = ScoreItem(verifier="math", response=response, reference=msgspec.Raw(msgspec.json.encode(reference)))
    invalid = Result(0, "invalid", None, None, "unparseable_reference", None, None, None, {}, False, 0.0)
    assert _asked(msgspec.convert(lock, Lock), item, invalid).reason == reason


def put_rows(folder: Path) -> str:
    (folder / "rows.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS))
    return str(folder / "rows.jsonl")
