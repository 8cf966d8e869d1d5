"""The audit log of a real service, and `rewardline log` as a user runs it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from rewardline import Client
from typer.testing import CliRunner
from typer.testing import Result as Shown

from service.cli.main import application
from service.observe.audit_log.files import LIVE
from service.observe.audit_log.lifespan import CannotOpen, open_log
from service.observe.metrics import Metrics
from service.settings import Settings
from tests.conftest import ROOT, Served, serving
from tests.service.observe.audit_log.logs import JSON, logging, names, observe, records
from tests.waiting import PATIENCE_S, eventually


def post(served: Served, items: list[JSON], **options: Any) -> list[JSON]:
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S, **options)
    assert reply.status_code == 200, reply.text
    results: list[JSON] = reply.json()["results"]
    return results


def numeric(response: str, **more: Any) -> JSON:
    return {"verifier": "numeric", "response": response, "reference": "12", **more}


def show(*arguments: str, **settings: str) -> Shown:
    """`rewardline log` in this process: an interpreter takes longer to start than the log to be read."""
    environment = {name: None for name in os.environ if name.startswith("REWARDLINE_")} | settings
    return CliRunner().invoke(application("log"), ["log", *arguments], env=environment)


def shown(*arguments: str) -> list[JSON]:
    done = show(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def metric(served: Served, name: str) -> float:
    lines = httpx.get(f"{served.url}/metrics").text.splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"rewardline_{name} "))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "log"


@pytest.fixture(scope="module")
def written(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which a service has written, over both doors, until it was asked to stop."""
    log = tmp_path_factory.mktemp("served") / "log.jsonl"
    with serving(log, audit_dir=str(folder), sandbox="none") as served:
        post(served, [numeric("12", id="right"), numeric("13", id="wrong")], headers={"x-request-id": "over-http"})
        post(served, [numeric("\x1b[31m\u202e12", id="colour", metadata={"step": 3}), {"response": "x", "id": "lost"}])
        with Client(f"grpc://{served.grpc}") as client:
            client.score([numeric("12", id="over-grpc")])
        stream = {"Accept": "application/x-ndjson"}
        httpx.post(
            f"{served.url}/v1/score", json={"items": [numeric("12", id="streamed")]}, headers=stream, timeout=PATIENCE_S
        )
        for number in range(40):
            post(served, [numeric(f"{number}", id=f"n{number}-{at}") for at in range(25)])
        assert served.stop() == 0
    return folder


@pytest.mark.load
def test_everything_that_was_scored_is_there_once_the_service_has_stopped(written: Path) -> None:
    found = {record["id"]: record for record in records(written)}
    assert len(found) == len(records(written)) == 1006
    assert (found["right"]["reward"], found["wrong"]["reward"], found["wrong"]["reason"]) == (1.0, 0.0, "wrong_answer")
    assert found["right"]["request_id"] == "over-http"
    assert found["colour"]["metadata"] == {"step": 3}
    assert (found["lost"]["status"], found["lost"]["score"]) == ("invalid", None)
    assert found["over-grpc"]["reference"] == "12"
    assert found["streamed"]["score"] == 1.0
    assert all(record["request_id"] for record in found.values())
    assert names(written) == ["jsonl"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--id", "right", "--id", "wrong"], {"right", "wrong"}),
        (["--id", "over-http", "--max-score", "0.5"], {"wrong"}),
        (["--status", "invalid"], {"lost"}),
        (["--verifier", "numeric", "--min-score", "1", "--id", "n12-0", "--id", "n13-0"], {"n12-0"}),
        (["--reason", "wrong_answer", "--id", "n12-0", "--id", "n13-0"], {"n13-0"}),
        (["--since", "1h", "--id", "right"], {"right"}),
        (["--until", "1h"], set()),
        (["--since", "2999-01-01"], set()),
        (["--verifier", "nosuch"], set()),
    ],
)
def test_filters(written: Path, options: list[str], expected: set[str]) -> None:
    assert {record["id"] for record in shown(str(written), *options)} == expected


def test_the_table_is_for_eyes_and_ends_with_counts(written: Path) -> None:
    done = show(str(written), "--id", "colour", "--id", "wrong")
    assert done.exit_code == 0
    head, first, second = done.stdout.splitlines()
    assert head.split() == ["time", "id", "judge", "status", "score", "reward", "reason", "answer"]
    assert "wrong_answer" in first
    assert "colour" in second
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout
    assert "2 of 1006 records." in done.stderr
    assert "wrong_answer" in done.stderr


def test_the_folder_comes_from_the_settings(written: Path) -> None:
    done = show("--json", "--id", "right", REWARDLINE_AUDIT_DIR=str(written))
    assert json.loads(done.stdout)["id"] == "right"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no audit log"),
        (["/nosuch/folder"], "no folder or file /nosuch/folder"),
        (["/proc/self/fdinfo"], "no audit log in"),
        ([".", "--since", "yesterday"], "'yesterday' is not a time"),
    ],
)
def test_what_cannot_be_shown_says_why(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    done = show(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_redaction_leaves_nothing_that_a_model_or_a_prompt_said(serve: Any, tmp_path: Path) -> None:
    secrets = [f"secret{n}word" for n in range(6)]
    response, prompt, reference, other, shared, pattern = secrets
    served = serve(audit_dir=str(tmp_path / "log"), audit_redact="true", sandbox="none")
    items: list[JSON] = [
        {"verifier": "exact_match", "response": f"{response} 12", "prompt": prompt, "reference": reference, "id": 0},
        {"verifier": "math", "response": f"\\boxed{{{response}}}", "reference": f"{reference}(", "id": 1},
        {"verifier": "numeric", "response": f"{response} 12", "reference": other, "id": 2},
        {"verifier": response, "response": response, "reference": reference, "id": 3},
        {"verifier": "regex", "response": response, "reference": f"{pattern}(", "id": 4},
        {"checks": [{"verifier": "qa", "weight": 1}], "response": response, "reference": reference, "id": 5},
        {"verifier": "exact_match", "response": response, "reference_id": "p", "id": 6},
        {"verifier": "exact_match", "response": [{"role": "assistant", "content": response}], "reference": 1, "id": 7},
    ]
    body = {"items": items, "references": {"p": shared}, "explain": True}
    httpx.post(f"{served.url}/v1/score", json=body, timeout=PATIENCE_S).raise_for_status()
    assert served.stop() == 0
    files = [path.read_bytes() for path in (tmp_path / "log").iterdir()]
    assert [secret for secret in secrets for content in files if secret.encode() in content] == []
    found = records(tmp_path / "log")
    assert [record["id"] for record in found] == list(range(8))
    assert all(len(record["response_sha256"]) == 64 for record in found)
    assert "sha256" in show(str(tmp_path / "log")).stdout


def test_a_killed_service_leaves_at_most_half_a_line(serve: Any, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    served = serve(audit_dir=str(folder), audit_rotate_mb="0.3", sandbox="none")
    posted = threading.Event()

    def post_on() -> None:
        for number in range(10_000):
            try:
                post(served, [numeric(f"{number} {'x' * 2000} 12", id=f"{number}-{at}") for at in range(50)])
            except httpx.HTTPError:
                return
            posted.set()

    posting = threading.Thread(target=post_on)
    posting.start()
    posted.wait(60)
    eventually(lambda: len(list(folder.glob("audit-*"))) >= 3)
    served.process.kill()
    served.process.wait()
    posting.join()
    assert any(name == LIVE.lstrip(".") for name in names(folder))
    done = show(str(folder), "--json", "--since", "1h")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) > 100
    # Whole batches in their order, until the kill.
    assert [record["id"] for record in found] == [f"{n // 50}-{n % 50}" for n in range(len(found))]
    with next(folder.glob(f"audit-*{LIVE}")).open("a") as live:
        live.write('{"time":"2026-')
    again = show(str(folder), "--json")
    assert len(again.stdout.splitlines()) == len(found)
    assert "1 lines passed over" in again.stderr


@pytest.mark.contract
def test_scoring_goes_on_when_the_disk_is_full(serve: Any, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=True)
    try:
        served = serve(audit_dir=str(disk / "log"), sandbox="none")
        for number in range(20):
            results = post(served, [numeric(f"{number} {'x' * 4000} 12", id=f"{number}-{at}") for at in range(10)])
            assert [result["score"] for result in results] == [1.0] * 10
        lost = 'audit_dropped_items_total{reason="disk"}'
        eventually(lambda: metric(served, "audit_records_total") + metric(served, lost) == 200)
        assert metric(served, lost) > 0
        written = metric(served, "audit_records_total")
        assert served.stop() == 0
        assert len(shown(str(disk / "log"))) == written
        assert "the audit log loses items" in served.log.read_text()
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.contract
def test_following_shows_records_as_they_are_written(tmp_path: Path) -> None:
    command = [
        "env",
        "--default-signal=INT",
        sys.executable,
        "-m",
        "service",
        "log",
        str(tmp_path),
        "--json",
        "--follow",
    ]
    with (
        subprocess.Popen(
            [*command, "--id", "1", "--id", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        ) as process,
        logging(tmp_path, rotate_bytes=200) as log,
    ):
        assert process.stdout is not None
        for number in range(5):
            observe(log, [str(number), "other"][: 2 if number == 4 else 1])
            if number % 2:
                assert json.loads(process.stdout.readline())["id"] == str(number)
        eventually(lambda: log.records == 6)
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, rest) == (0, "")
    assert "2 of " in said


@pytest.mark.load
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    record = {
        "time": "2026-03-07T12:00:00.000000Z",
        "id": "a",
        "status": "ok",
        "reason": "correct",
        "response": "x" * 20_000,
    }
    line = json.dumps(record).encode() + b"\n"
    path = tmp_path / "audit-20260307T120000.000000Z-00000000.jsonl.zst"
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packed:
        for _ in range(10_000):
            packed.write(line)
    script = (
        "import sys; sys.argv[0] = 'rewardline'\n"
        "from service.__main__ import main\n"
        "try:\n    main()\n"
        "finally:\n    print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    command = [sys.executable, "-c", script, "log", str(tmp_path), "--reason", "wrong_answer"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, check=True)
    assert "0 of 10000 records." in done.stderr
    peak_mb = int(done.stdout.rpartition("VmHWM:")[2].split()[0]) / 1000
    assert peak_mb < 250, f"{peak_mb} MB for a log of {10_000 * len(line) / 1e6:.0f} MB"


@pytest.mark.parametrize("folder", ["/proc/nosuch", "/dev/null", "/dev/null/log"])
async def test_a_log_that_cannot_be_written_stops_the_start(folder: str) -> None:
    with pytest.raises(CannotOpen, match=f"audit_dir {folder}"):
        async with open_log(Settings(audit_dir=Path(folder)), Metrics("test")):
            pass


async def test_parquet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [NoPyarrow(), *sys.meta_path])
    settings = Settings(audit_dir=tmp_path, audit_format="parquet")
    with pytest.raises(CannotOpen, match="rewardline-server\\[parquet\\]"):
        async with open_log(settings, Metrics("test")):
            pass


class NoPyarrow:
    """As if it were not installed."""

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)


@pytest.mark.parametrize(
    ("options", "is_logged"),
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"audit_log": "off"}, False),
        ({"redis_url": "redis://127.0.0.1"}, False),
        ({"api_keys": {"me": "x" * 16}}, False),
        ({"host": "0.0.0.0", "allow_open": True}, False),
    ],
)
def test_a_service_of_one_person_has_a_log_in_their_folder(
    options: JSON, is_logged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    chosen = Settings(**options).with_own_log()
    assert chosen.log_folder == (tmp_path / "rewardline" / "log" if is_logged else None)
    assert (chosen.audit_keep_mb <= 1000) is is_logged


def test_an_operator_who_says_off_has_no_log(tmp_path: Path) -> None:
    assert Settings(audit_dir=tmp_path, audit_log="off").with_own_log().log_folder is None
    assert Settings(audit_dir=tmp_path).with_own_log().log_folder == tmp_path


def test_a_folder_that_cannot_be_written_costs_the_log_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/state")
    assert Settings().with_own_log().log_folder is None


@pytest.mark.contract
def test_the_log_of_serve_is_found_by_the_command(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    served = serve(sandbox="none", audit_log="auto")
    post(served, [numeric("12", id="right")])
    served.stop()
    assert json.loads(show("--json").stdout)["id"] == "right"
