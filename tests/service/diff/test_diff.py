"""`rewardline diff` and what it counts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from service.cli.main import application
from service.diff import stored
from service.diff.flips import Comparison, Flip, Kind, kind_of
from service.diff.report import html, plain
from service.diff.run import Side, compare
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.columns import Columns
from service.rollouts.verdict_file import input_of
from tests.tables import table

OK = {
    "status": "ok",
    "score": 1.0,
    "reward": 1.0,
    "reason": "correct",
    "verifier": "math",
    "version": "1",
    "recipe": None,
}
WRONG = {**OK, "score": 0.0, "reward": 0.0, "reason": "wrong_answer"}
FAILED = {**OK, "status": "failed", "score": None, "reward": None, "reason": "deadline"}
RECORD = {"time": "2026-11-29T00:00:00Z", "elapsed_ms": 1.0, "cached": False, "response": "5", "response_chars": 1}


@table(
    "before, after, kind",
    [
        (OK, OK, None),
        (OK, {**OK, "reward": 1.0 + 1e-12}, None),
        (OK, WRONG, Kind.PAID_TO_UNPAID),
        (WRONG, OK, Kind.UNPAID_TO_PAID),
        (OK, {**OK, "score": 0.5, "reward": 0.5}, Kind.SCORE),
        (OK, {**OK, "reward": 0.9}, Kind.REWARD),
        (WRONG, {**WRONG, "reward": -1.0}, Kind.REWARD),
        (WRONG, {**WRONG, "reason": "no_answer"}, Kind.REASON),
        (OK, FAILED, Kind.STATUS),
        (FAILED, WRONG, Kind.STATUS),
        (FAILED, {**FAILED, "reason": "no_box"}, Kind.REASON),
    ],
)
def test_two_verdicts_differ_by_the_worst_kind(before: Json, after: Json, kind: Kind | None) -> None:
    assert kind_of(before, after) is kind


@table(
    "fields, lack",
    [
        ({"response_sha256": "0" * 64}, "redacted"),
        ({"response_chars": 9}, "cut"),
        ({"response_chars": 9, "response_messages": [{"role": "assistant", "content": "5"}]}, None),
        ({"response_messages": '[{"role": "ass'}, "cut"),
        ({"reference": "ab", "reference_chars": 3}, "cut"),
        ({"params": '{"unit'}, "cut"),
        ({"checks": [{"name": "math"}]}, "own checks"),
        ({"checks": [{"name": "math"}], "recipe": "think_math"}, None),
        ({}, None),
    ],
)
def test_what_the_audit_log_holds_in_part_is_not_judged_again(fields: Json, lack: str | None) -> None:
    found = stored.lack_of({**RECORD, **OK, **fields})
    assert (found and found.partition(":")[0]) == lack


@table(
    "fields",
    [
        {**OK, "status": "okay"},
        {**OK, "score": "1"},
        {**OK, "score": True},
        {**OK, "score": float("nan")},
        {**OK, "score": 2},
        {**OK, "score": None},
        {**FAILED, "score": 0.0},
        {**OK, "verifier": ["math"]},
        {},
    ],
)
def test_a_damaged_verdict_is_none(fields: Json) -> None:
    assert stored.verdict_of(fields) is None


def test_examples_and_names_are_bounded() -> None:
    comparison = Comparison(kept=2)
    for at in range(500):
        after = {**WRONG, "verifier": f"v{at}", "reason": f"r{at}"}
        flip = Flip(Kind.PAID_TO_UNPAID, "f", at, {"response": "x" * 10_000}, OK, after)
        comparison.take(flip, OK, after)
    assert comparison.flips == 500
    assert len(comparison.flips_by["verifier"]) <= 201
    assert len(comparison.examples) <= 201
    assert len(json.dumps(plain(comparison, ("a", "b"), "f"))) < 1_000_000


class Grader:
    """A judge that pays what contains a word, and fails what contains `fail`."""

    def __init__(self, word: str) -> None:
        self.word = word

    async def __call__(self, items: Sequence[Json]) -> list[Json]:
        verdicts = [OK if self.word in item["response"] else WRONG for item in items]
        return [FAILED if "fail" in item["response"] else each for item, each in zip(items, verdicts, strict=True)]


def rows(path: Path, *responses: Any, answer: str = "5") -> Path:
    path.write_text("".join(json.dumps({"response": each, "answer": answer}) + "\n" for each in responses))
    return path


async def test_rows_are_compared_in_order_over_segments(tmp_path: Path) -> None:
    file = rows(tmp_path / "rows.jsonl", *(f"{'a' if at % 2 else 'ab'} {at}" for at in range(1300)))
    flips: list[Flip] = []
    comparison = Comparison()
    sides = (Side("a", Columns("math"), Grader("a")), Side("b", Columns("math"), Grader("b")))
    await compare([file], sides, comparison, flips.append)
    assert [flip.line for flip in flips] == list(range(2, 1301, 2))
    assert (comparison.rows, comparison.flips, comparison.share) == (1300, 650, 0.5)
    assert comparison.statuses["after"] == {"ok": 1300}


async def test_a_row_without_a_stored_verdict_is_counted_and_not_compared(tmp_path: Path) -> None:
    file = rows(tmp_path / "rows.jsonl", "a", "b", "c")
    made = json.dumps({"made_by": {}})
    verdicts = [{"line": 1, **OK}, {"line": 3, **OK}]
    (tmp_path / "rows.verdicts.jsonl").write_text("\n".join([made, *map(json.dumps, verdicts)]) + "\n")
    comparison = Comparison()
    await compare([file], (Side("stored", Columns()), Side("a", Columns("math"), Grader("a"))), comparison)
    assert comparison.skipped == {"no stored verdict": 1}
    assert comparison.kinds == {Kind.PAID_TO_UNPAID: 1}
    made = json.dumps({"made_by": {"input": input_of(rows(file, "c", "b", "a"))}})
    (tmp_path / "rows.verdicts.jsonl").write_text("\n".join([made, *map(json.dumps, verdicts)]) + "\n")
    rows(file, "a", "b", "c")
    with pytest.raises(BadInput, match="verdicts on other rows"):
        await compare([file], (Side("stored", Columns()), Side("a", Columns("math"), Grader("a"))), Comparison())
    (tmp_path / "rows.verdicts.jsonl").write_text(json.dumps(verdicts[0]) + "\n")
    with pytest.raises(BadInput, match="not a file of verdicts"):
        await compare([file], (Side("stored", Columns()), Side("a", Columns("math"), Grader("a"))), Comparison())
    (tmp_path / "rows.verdicts.jsonl").unlink()
    with pytest.raises(BadInput, match="make one with `rewardline score`"):
        await compare([file], (Side("stored", Columns()), Side("a", Columns("math"), Grader("a"))), Comparison())


async def test_a_page_holds_hostile_texts_as_texts(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\u202e b"
    file = rows(tmp_path / "<b>.jsonl", hostile)
    comparison = Comparison()
    await compare(
        [file], (Side("a", Columns("math"), Grader("a")), Side("x", Columns("math"), Grader("x"))), comparison
    )
    page = html(plain(comparison, ("<i>a</i>", "x"), str(file)))
    assert "paid to unpaid</bdi>: 1" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "<i>" not in page


def diffed(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(application("diff"), ["diff", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.contract
def test_a_user_sees_what_another_parameter_flips(tmp_path: Path) -> None:
    file = rows(
        tmp_path / "rows.jsonl", *(f"It is \\boxed{{{each}}}." for each in ("5 m", "6 m", "5", "5 kg")), answer="5 m"
    )
    report, flips = tmp_path / "report.json", tmp_path / "flips.jsonl"
    sides = ("math", '{"unit_policy": "ignore"}')
    options = ("--verifier", "math", "--report", report, "-o", flips)
    code, said = diffed(*sides, file, *options, "--max-flips", "20%", "--fail")
    assert code == 1, said
    assert "4 items compared" in said
    assert "1 flips (25.000%)" in said
    (flip,) = [json.loads(line) for line in flips.read_text().splitlines()]
    assert (flip["line"], flip["kind"], flip["after"]["score"]) == (4, "unpaid_to_paid", 1.0)
    made = json.loads(report.read_text())
    assert made["by"]["verifier"] == [{"name": "math", "compared": 4, "unpaid_to_paid": 1}]
    assert diffed(*sides, file, *options, "--max-flips", "1", "--fail")[0] == 0
    assert diffed(*sides, file, "--verifier", "math")[0] == 0


def test_a_row_that_was_not_compared_does_not_pass(tmp_path: Path) -> None:
    file = rows(tmp_path / "rows.jsonl", "5")
    sides = ("math", "math")
    code, said = diffed(*sides, file, "--fail")
    assert (code, "Passed." in said) == (0, True), said
    with file.open("a") as lines:
        lines.write('{"response": "5", "answer": ""}\n{"response": "5", "answ')
    code, said = diffed(*sides, file, "--fail")
    assert (code, "Not passed: 2 rows not compared" in said, "1 items compared" in said) == (3, True, True), said


@pytest.mark.contract
@table(
    "arguments, message",
    [
        (("mathe", "here"), "did you mean `math`"),
        (("here", "{nope"), "not JSON"),
        (("here", "0.0.1"), "release 0.0.1 is not at hand"),
        (("here", "no.whl"), "is not a wheel of the server"),
        (("here", "no.yaml"), "No such file"),
        (("here", "here", "--max-flips", "0.5"), "percent sign"),
        (("here", "here", "--max-flips", "101%"), "100% or less"),
        (("here", "here", "--verifier", "math", "--recipe", "math"), "name one"),
        (("stored", "here"), "holds no stored verdicts"),
        (("here", "here"), "no item has a score"),
        (("math", '{"tolerance": 1}', "--verifier", "math"), "params.tolerance: no such parameter"),
    ],
)
def test_mistakes_end_with_what_to_write(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    file = rows(tmp_path / "rows.jsonl", "5")
    code, said = diffed(*arguments[:2], file, *arguments[2:])
    assert (code, message in said) == (2, True), said
