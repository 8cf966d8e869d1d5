"""`rewardline view` as a user runs it."""

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect
from typer.testing import CliRunner

from service.cli.main import application
from service.cli.shown_files import Shown
from service.dataset_audit.report import Example, Finding, Fix, NoReport, Report
from service.prompts.stored_files import files, rows_beside
from tests.browser import Opened
from tests.conftest import ROOT
from tests.tables import table
from tests.waiting import PATIENCE_S

VERDICT = {"status": "ok", "score": 0.0, "reward": 0.0, "reason": "wrong_answer", "verifier": "math", "version": "1"}
DETAIL = {"span": [17, 18], "channel": "boxed"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What somebody has after `rewardline score rollouts.jsonl`."""
    rollouts = [{"id": name, "response": f"So it is {name}\\boxed{{7}}", "answer": "8"} for name in ("<b>a</b>", "b")]
    verdicts = [{"line": at, "id": each["id"], **VERDICT, "extracted": "7"} for at, each in enumerate(rollouts, 1)]
    verdicts[1] |= {"detail": DETAIL}
    for name, rows in (("rollouts.jsonl", rollouts), ("rollouts.verdicts.jsonl", [{"made_by": {}}, *verdicts])):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@contextmanager
def viewed(*arguments: object) -> Iterator[str]:
    """The address of a view. It ends by Ctrl-C."""
    command = [sys.executable, "-m", "service", "view", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            found = re.fullmatch(
                r"Shows \d+ files? on (http://127\.0\.0\.1:\d+/) until Ctrl-C\.\n", process.stdout.readline()
            )
            assert found
            yield found[1]
            process.send_signal(signal.SIGINT)
            assert (process.wait(PATIENCE_S), process.communicate()) == (0, ("", ""))
        finally:
            process.kill()


@pytest.mark.contract
def test_stored_results_are_looked_at_without_a_service(folder: Path, context: BrowserContext) -> None:
    cases = folder / "kept" / "cases.txt"
    with viewed(folder, "--cases", cases) as address:
        opened = Opened(context, address)
        page = opened.page
        expect(page.locator("#said")).to_have_text("2 of 2 records in 1 file, mean reward 0.")
        expect(page.locator("nav a")).to_have_text(["Log", "Data sets", "Diff"])
        page.get_by_role("button", name="Open the record of id b").click()
        shown = page.locator("#opened")
        expect(shown.locator("mark")).to_have_text("7")
        expect(shown).to_contain_text("wrong answer by math")
        expect(shown.get_by_role("link")).to_have_count(0)
        shown.get_by_text("Correct this verdict").click()
        shown.get_by_role("button", name="Keep the correction").click()
        expect(shown.locator(".correction + p")).to_contain_text("Kept. It is the only case")
        case = json.loads(cases.read_text())
        assert (case["response"], case["reference"], case["expected"]) == ("So it is b\\boxed{7}", "8", 1.0)
        assert opened.complaints == []
        for host, status in (("evil.example", 403), ("127.0.0.1.evil.example", 403), ("localhost:1", 200)):
            reply = httpx.get(f"{address}v1/log", headers={"Host": host}, timeout=PATIENCE_S)
            assert (reply.status_code, "access-control-allow-origin" in reply.headers) == (status, False)
        assert httpx.get(f"{address}console/log").headers["content-security-policy"].startswith("default-src 'none'")
        assert httpx.get(f"{address}v1/log?limit=x").json()["errors"][0]["loc"] == ["query", "limit"]
        assert httpx.get(f"{address}v1/score").status_code == 404


def report(path: Path) -> Path:
    """What `rewardline audit -o` writes of two rows, of which one is bad and one could be plainer."""
    made = Report(rows=2, checks=2, references=Counter(boxed=1, plain=1))
    bad = Finding(1, "<b>a</b>", None, "math", "solution_fails", "scores 0", {"reference": "7"})
    hint = Finding(2, None, None, "math", "worked_solution", "plainer: '4'", {"reference": "\\boxed{4}"})
    made.add(Example(bad, {"verifier": "math", "response": "8", "reference": "7"}))
    made.add(Example(hint, None, Fix(2, ["answer"], "4")))
    made.earned[0], made.earned[-1] = 1, 3
    path.write_text(json.dumps(made.plain()))
    return path


@pytest.mark.contract
def test_a_stored_audit_is_looked_at_without_a_service(tmp_path: Path, context: BrowserContext) -> None:
    report(tmp_path / "train.json")
    (tmp_path / "other.json").write_text("[1]")
    with viewed(tmp_path) as address:
        opened = Opened(context, address)
        page = opened.page
        expect(page.get_by_role("heading", name="Stored audits")).to_be_visible()
        expect(page.locator("#audit-box")).to_be_hidden()
        page.get_by_role("link", name="train").click()
        expect(page.locator("#status")).to_have_text("done. 2 rows; 1 with findings.")
        expect(page.locator("#kinds")).to_contain_text("<b>a</b>")
        expect(page.locator("#kinds")).to_contain_text("answer = 4")
        expect(page.locator("#earned")).to_contain_text("3")
        assert opened.complaints == []
        (found,) = httpx.get(f"{address}v1/audits").json()["audits"]
        one = f"{address}v1/audits/{found['audit_id']}"
        assert httpx.get(f"{one}/fixes").text == '{"row":2,"path":["answer"],"value":"4"}\n'
        assert "&lt;b&gt;a&lt;/b&gt;" in httpx.get(f"{one}/report").text
        assert httpx.get(f"{address}v1/audits/{'0' * 32}").status_code == 404


def test_a_report_is_the_same_after_it_was_told(tmp_path: Path) -> None:
    plain = json.loads(report(tmp_path / "train.json").read_text())
    assert json.loads(json.dumps(Report.of(plain).plain())) == plain
    broken: Any
    for broken in (None, [], {"rows": 1}, plain | {"earned": [1]}, plain | {"kinds": [{"rows": "x"}]}):
        with pytest.raises(NoReport):
            Report.of(broken)


@table(
    "arguments, said",
    [
        ([], "Missing argument"),
        (["nosuch.jsonl"], "no folder or file nosuch.jsonl"),
        (["."], "no files to show in ."),
        (["rollouts.jsonl", "--port", "70000"], "65535"),
        (["nosuch.json"], "No such file"),
    ],
)
def test_what_cannot_be_shown_says_why(tmp_path: Path, arguments: list[str], said: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(application("view"), ["view", *arguments])
    assert done.exit_code != 0
    assert said in " ".join(done.stderr.split())


@pytest.mark.contract
def test_a_port_that_is_taken_says_so(folder: Path) -> None:
    with viewed(folder) as address:
        done = CliRunner().invoke(application("view"), ["view", str(folder), "--port", str(httpx.URL(address).port)])
    assert (done.exit_code, "in use" in done.stderr) == (2, True)


def test_folders_give_what_may_hold_records(folder: Path) -> None:
    for name in ("notes.txt", ".hidden.jsonl", "audit-20260307T091503.120045Z-5f0c1a2b.live.jsonl", "more.parquet"):
        (folder / name).touch()
    names = [path.name for path in files([folder])]
    assert names == ["more.parquet", "rollouts.verdicts.jsonl", "audit-20260307T091503.120045Z-5f0c1a2b.live.jsonl"]
    assert files([folder / "rollouts.jsonl"]) == [folder / "rollouts.jsonl"]
    assert rows_beside(folder / "rollouts.verdicts.jsonl") == folder / "rollouts.jsonl"
    assert rows_beside(folder / "rollouts.jsonl") is None


CHAT = [{"role": "user", "content": "5+2?"}, {"role": "assistant", "content": "8"}]
ROLLOUTS: list[Any] = [
    {"id": "a", "completion": "It is 7.", "gold": {"x": [1]}, "data_source": "own", "params": {"abs_tol": 1}},
    "damaged",
    {"prompt": CHAT[:1], "completion": CHAT[1:], "answer": "8", "step": 3},
    {"id": "other", "completion": "not this one's"},
    {"id": "log", "input": "5+2?", "messages": CHAT, "target": "7", "output": {"choices": [{"message": CHAT[1]}]}},
]


def test_verdicts_are_shown_with_the_texts_of_the_rows_of_any_form(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(ROLLOUTS))
    ids = enumerate(["a", 2, 3, "changed", "log"], 1)
    rows = [{"made_by": {}}, *({"line": line, "id": name, **VERDICT} for line, name in ids)]
    verdicts = tmp_path / "r.json.verdicts.jsonl"
    verdicts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = Shown([verdicts], tmp_path / "made")
    (tmp_path / "made").mkdir()
    (records,) = shown.files()
    first, damaged, chat, changed, inspected = map(json.loads, records.read_text().splitlines())
    assert (first["response"], first["reference"], first["params"]) == ("It is 7.", '{"x":[1]}', {"abs_tol": 1})
    assert (damaged["status"], "response" in damaged, "response" in changed) == ("ok", False, False)
    assert (chat["response"], chat["prompt_messages"], chat["metadata"]) == ("8", CHAT[:1], {"step": 3})
    assert (inspected["prompt"], inspected["response"], inspected["reference"]) == ("5+2?", "8", "7")
    assert (shown.files(), shown.damaged) == ([records], [])
    (tmp_path / "r.json").write_text("[")
    assert shown.files() == [verdicts]
    assert "r.json: " in shown.damaged[0]
