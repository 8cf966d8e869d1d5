"""Fuzzing, for 30 CPU seconds in the quick lane and ten CPU minutes in all of them; and what earlier fuzzing has found."""

import base64
import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import campaign, guard, targets
from tests.fuzz.campaign import ROOT, Finding, Spent
from verifiers.math.grading import grade
from verifiers.math.options import DEFAULT

REGRESSIONS = Path(__file__).with_name("regressions.jsonl")
HAS_ATHERIS = importlib.util.find_spec("atheris") is not None
MUST_HAVE_ATHERIS = sys.version_info[:2] == (3, 11) and (platform.system(), platform.machine()) == ("Linux", "x86_64")
needs_atheris = pytest.mark.skipif(
    not HAS_ATHERIS and not MUST_HAVE_ATHERIS,
    reason=f"NO COVERAGE-GUIDED FUZZING: atheris has no wheel here (Python {platform.python_version()},"
    f" {platform.system()} {platform.machine()})",
)


def test_the_fuzzer_is_there_where_it_can_be() -> None:
    assert HAS_ATHERIS or not MUST_HAVE_ATHERIS, "install the test requirements: atheris is missing"


# --- the campaign


@pytest.fixture(scope="module")
def fuzzed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Spent]:
    """By the campaign that `tests.run` has begun, behind the other tests; or by one here and now."""
    before = os.environ.get("FUZZING_BEGUN")
    out = Path(before) if before else tmp_path_factory.mktemp("fuzz")
    found = campaign.begun(out) if before else campaign.of_lane(request.config.getoption("--lane"), out)
    assert found, f"the campaign did not come to its end: {out}"
    print(*found, f"corpora, logs and findings: {out}", sep="\n")
    print((out / "findings.jsonl").read_text())
    return {each.target: each for each in found}


each_target = pytest.mark.parametrize(
    "target",
    [pytest.param(name, marks=[pytest.mark.fuzz] * (name not in campaign.QUICK)) for name in sorted(targets.TARGETS)],
)


@needs_atheris
@each_target
def test_fuzzing_breaks_no_law_of_safety(fuzzed: dict[str, Spent], target: str) -> None:
    assert fuzzed[target].unsafe == [], "\n".join(map(str, fuzzed[target].unsafe))
    assert fuzzed[target].runs > 0
    assert fuzzed[target].peak_mb < 400


@needs_atheris
@each_target
def test_fuzzing_hardly_ever_finds_a_wrong_verdict(
    fuzzed: dict[str, Spent], target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it finds is shown whether or not it is too much: it is to be mended, and to become a row of regressions."""
    wrong = [finding for finding in fuzzed[target].findings if finding not in fuzzed[target].unsafe]
    with capsys.disabled():
        if wrong:
            print(f"\nWRONG VERDICTS FOUND BY FUZZING. {fuzzed[target]}", *wrong, sep="\n")
    assert not fuzzed[target].is_often_wrong, "\n".join(map(str, (fuzzed[target], *wrong)))


@pytest.mark.fuzz
@needs_atheris
def test_the_quick_campaign_takes_its_cpu_seconds(fuzzed: dict[str, Spent]) -> None:
    assert sum(each.cpu_s for each in fuzzed.values()) >= campaign.QUICK_CPU_S - 1


@pytest.mark.fuzz
@needs_atheris
def test_fuzzing_took_ten_minutes(fuzzed: dict[str, Spent]) -> None:
    assert sum(each.cpu_s for each in fuzzed.values()) >= 600
    assert all(each.runs >= each.cpu_s for each in fuzzed.values()), "a target is too slow to find anything"


# --- what was found before


def _regressions(kind: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in REGRESSIONS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if kind in row]


@pytest.mark.parametrize("row", _regressions("target"), ids=lambda row: str(row["why"]))
def test_what_broke_a_law_once_breaks_none(row: dict[str, str]) -> None:
    data = row["text"].encode() if "text" in row else base64.b64decode(row["data"])
    assert guard.alone(30, targets.TARGETS[row["target"]], data).killed is None


@pytest.mark.parametrize("row", _regressions("answer"), ids=lambda row: str(row["why"]))
def test_what_was_called_equal_once_is_not(row: dict[str, str]) -> None:
    assert grade([[row["reference"]], row["answer"], DEFAULT.packed()])["outcome"] in ("different", "too_complex")


# --- the campaign itself

PLANTED = """\
import os, sys
from pathlib import Path
from tests.fuzz import __main__, campaign, guard, targets

seen = 0

def planted(data):
    global seen
    seen += 1
    {fault}

targets.TARGETS.update(reader=planted)
campaign._cpu_s = lambda: float(seen)
__main__._one("reader", Path(sys.argv[1]), 2_000.0, 1)
"""
"""The budget is of inputs, not of seconds, so that no machine is too slow."""
CRASH = """
    if b"frac" in data:
        os.abort()
    if b"5" in data:
        raise guard.Broken("planted", "there is a five")
"""


def _planted(fault: str, out: Path) -> int:
    """How the fuzzing of a target with this fault ends."""
    command = [sys.executable, "-c", PLANTED.format(fault=fault), str(out)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120).returncode


def _spent(out: Path) -> Spent:
    """What a process that ended by itself has written down."""
    done = json.loads((out / "progress.json").read_text())
    suspects = map(json.loads, (out / "suspects.jsonl").read_text().splitlines())
    return Spent("reader", 2.0, findings=[Finding.of(row) for row in suspects], **done)


@pytest.mark.fuzz
@needs_atheris
def test_a_planted_fault_and_a_planted_crash_are_found(tmp_path: Path) -> None:
    assert _planted(CRASH, tmp_path) != 0
    assert "planted" in (tmp_path / "suspects.jsonl").read_text()
    (crash,) = campaign._died("reader", tmp_path, -6)
    assert crash.law == "crashed"
    assert b"frac" in crash.data
    assert (tmp_path / "deadly.txt").read_text().strip()


@pytest.mark.fuzz
@needs_atheris
@pytest.mark.parametrize(
    ("fault", "is_often"),
    [
        ('if b"5" in data: raise guard.Broken("successor", "there is a five")', True),
        ('if seen % 500 == 0: raise guard.Broken("different", "now and then")', True),
        ('if seen == 300: raise guard.Broken("different", "once")', False),
    ],
)
def test_planted_wrong_verdicts_are_found_and_are_too_many_unless_they_are_rare(
    tmp_path: Path, fault: str, is_often: bool
) -> None:
    assert _planted(fault, tmp_path) == 0
    spent = _spent(tmp_path)
    assert spent.unsafe == []
    assert 1 <= len(spent.findings) <= spent.wrong < spent.runs
    assert spent.is_often_wrong is is_often


def test_only_laws_about_which_verdict_is_right_may_ever_be_broken() -> None:
    source = (Path(targets.__file__).read_text(encoding="utf-8"), Path(guard.__file__).read_text(encoding="utf-8"))
    laws = set(re.findall(r'Broken\(\s*"([^"]+)"', "".join(source)))
    safe = {"slow", "memory", "raised", "executed", "crashed", "bounded", "deterministic", "known outcome"}
    assert laws - targets.VALUE_LAWS == safe | {"reason", "span"}
    assert laws >= targets.VALUE_LAWS
    for law in laws - targets.VALUE_LAWS | {"stuck"}:
        assert Spent("reader", 1.0, 10**6, 0, 50, [Finding("reader", law, law, b"1")]).unsafe


def test_how_many_wrong_verdicts_are_too_many_grows_with_the_inputs() -> None:
    for runs, most in ((10, 1), (4_999, 1), (5_000, 2), (20_000, 5)):
        assert not Spent("reader", 1.0, runs, most, 50, []).is_often_wrong
        assert Spent("reader", 1.0, runs, most + 1, 50, []).is_often_wrong


@pytest.mark.fuzz
@needs_atheris
def test_a_short_campaign_ends_when_its_budget_is_spent(tmp_path: Path) -> None:
    (spent,) = campaign.run(tmp_path, 8.0, ["exact"])
    assert spent.runs > 0  # how many, a slow machine decides, which needs most of this to begin
    assert spent.cpu_s >= 8.0
    assert (spent.findings, spent.wrong) == ([], 0)
    assert (tmp_path / "findings.jsonl").read_text() == ""


def test_what_another_process_has_found_is_what_it_has_found(tmp_path: Path) -> None:
    spent = [Spent("exact", 1.5, 100, 1, 50, [Finding("exact", "raised", "raised: here", b"\x00\xff")])]
    begins = "from tests.fuzz.campaign import _under_way; from pathlib import Path; import sys\n"
    script = f"{begins}with _under_way(Path(sys.argv[1])):\n    print(flush=True)\n    input()\n"
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with ThreadPoolExecutor(1) as waiting:
            found = waiting.submit(campaign.begun, tmp_path)
            assert not found.done()
            (tmp_path / "spent.jsonl").write_text("".join(json.dumps(each.row()) + "\n" for each in spent))
            assert not found.done()
            other.communicate("\n")
            assert found.result() == spent
    (tmp_path / "spent.jsonl").unlink()
    assert campaign.begun(tmp_path) == []


@pytest.mark.fuzz
def test_a_suspicion_is_looked_at_again_without_instrumentation() -> None:
    assert campaign._confirmed(Finding("reader", "slow", "slow: 9 s", b"1")) is None
    still = campaign._confirmed(Finding("reader", "raised", "raised: here", b"1"))
    assert still is not None
    assert "not in a fresh process" in still.message
    assert Finding.of(still.row()) == still
    assert "'1'" in str(still)
