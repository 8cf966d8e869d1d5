"""Blocks of files, their judging and the record of a run, without Ray."""

import asyncio
import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from rewardline import InvalidRequest, Unavailable

from service.rollouts import blocks, manifest
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.block_run import fields_of, judge_block
from service.rollouts.blocks import plan
from service.rollouts.columns import Columns
from service.rollouts.manifest import Manifest
from service.rollouts.tally import Tally

COLUMNS = Columns(verifier="numeric")


class Grader:
    """A judge that says whether the response is the reference. It fails the responses `failing`."""

    def __init__(self, *failing: str) -> None:
        self.failing = set(failing)
        self.seen: list[str] = []

    async def __call__(self, items: Sequence[Json]) -> list[Json]:
        self.seen += [item["response"] for item in items]
        if refused := [item for item in items if item["response"] == "refuse me"]:
            raise InvalidRequest("Unprocessable", detail=f"{len(refused)} of {len(items)}")
        if "leave me" in self.seen:
            raise Unavailable("unavailable", "lost")
        return [self._result(item) for item in items]

    def _result(self, item: Json) -> Json:
        if item["response"] in self.failing:
            return {"status": "failed", "score": None, "reason": "no_box", "detail": {"message": "x"}}
        score = float(item["response"] == item.get("reference"))
        return {
            "status": "ok",
            "score": score,
            "reward": score,
            "reason": "graded",
            "verifier": "numeric",
            "detail": {},
        }


class Willing(Grader):
    """A judge that leaves nothing."""

    async def __call__(self, items: Sequence[Json]) -> list[Json]:
        self.seen += [item["response"] for item in items]
        return [self._result(item) for item in items]


def run(source: str, target: Path, judge: Grader) -> Tally:
    """What the run over all blocks counts, as a driver would do it."""
    record = Manifest.at(str(target))
    filesystem, found = plan(source, COLUMNS)
    before = record.begin(found, COLUMNS)
    tally = Tally(done_before=sum(each.lines for each in before.values()))
    for block in found:
        if block.index not in before:
            tally.add(asyncio.run(judge_block(filesystem, block, COLUMNS, judge, record)))
    return tally


def lines(folder: Path, pattern: str = "part-*.jsonl") -> Iterator[Any]:
    for path in sorted(folder.glob(pattern)):
        yield from map(json.loads, path.read_text().splitlines())


def test_a_uri_has_options_of_its_file_system_behind_a_question_mark(tmp_path: Path) -> None:
    """Such as the address of a store: `s3://bucket/rollouts/*.jsonl?endpoint_override=store:9000`."""
    (tmp_path / "a.jsonl").write_text('{"response": "1", "reference": "1"}\n')
    (tmp_path / "ab.jsonl").write_text('{"response": "1", "reference": "1"}\n')
    assert [block.path for block in plan(f"file://{tmp_path}/a*.jsonl?option=1", COLUMNS)[1]] == [
        f"{tmp_path}/a.jsonl",
        f"{tmp_path}/ab.jsonl",
    ]
    assert [block.path for block in plan(f"{tmp_path}/a?.jsonl", COLUMNS)[1]] == [f"{tmp_path}/ab.jsonl"]


def test_blocks_of_lines_hold_every_line_once_wherever_they_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [json.dumps({"response": str(n), "reference": "7", "kept": "x" * (n % 13)}) for n in range(200)]
    (tmp_path / "in.jsonl").write_text("\n\n".join(written))
    for size in (1, 37, 100, 10_000):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
        filesystem, found = plan(str(tmp_path / "in.jsonl"), COLUMNS)
        got = [line.decode().strip() for block in found for line in blocks.lines_of(filesystem, block)]
        assert got == written, size


def test_lines_keep_their_text_and_get_verdicts(tmp_path: Path) -> None:
    rows = ['{"response": "7", "reference": "7", "n": 1.50}', "no json", '{"response": null, "x": 1}']
    rows += [
        '{"response": "refuse me"}',
        '{"response": "8", "verdict_score": 9, "reference": "7"}',
        '{"response": "b"}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(rows))
    with pytest.raises(BadInput, match=r"line 1, has no field 'nothing'"):
        plan(str(tmp_path / "in.jsonl"), Columns(response="nothing"))
    tally = run(str(tmp_path / "in.jsonl"), tmp_path / "out", Grader("b"))
    (written,) = (tmp_path / "out").glob("part-*.jsonl")
    assert written.read_text().startswith('{"response": "7", "reference": "7", "n": 1.50,"verdict_status":"ok"')
    got = [(row["verdict_status"], row["verdict_score"], row["verdict_reason"]) for row in lines(tmp_path / "out")]
    assert got == [
        ("ok", 1.0, "graded"),
        ("invalid", None, "bad_json"),
        ("invalid", None, "no_response"),
        ("invalid", None, "bad_item"),
        ("ok", 0.0, "graded"),
        ("failed", None, "no_box"),
    ]
    assert [*lines(tmp_path / "out" / "_failed")] == [{"response": "b"}]
    assert (tally.lines, tally.with_status("invalid"), tally.with_status("failed")) == (6, 3, 1)


def test_rows_of_parquet_keep_their_columns_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 250)
    table = pa.table(
        {
            "n": pa.array(range(600), pa.int16()),
            "response": [str(n % 3) for n in range(600)],
            "reference": pa.array(["1"] * 600).dictionary_encode(),
            "at": pa.array(range(600), pa.timestamp("us")),
        }
    )
    (tmp_path / "in" / "_hidden").mkdir(parents=True)
    pq.write_table(table, tmp_path / "in" / "a.parquet", row_group_size=100)
    pq.write_table(table, tmp_path / "in" / "_hidden" / "b.parquet")
    tally = run(str(tmp_path / "in"), tmp_path / "out", Grader("2"))
    parts = sorted((tmp_path / "out").glob("part-*.parquet"))
    assert [pq.read_metadata(part).num_rows for part in parts] == [200, 200, 200]
    whole = pa.concat_tables([pq.read_table(part) for part in parts])
    assert whole.select(table.column_names).cast(table.schema).equals(table)
    assert whole["verdict_score"].to_pylist() == [[0.0, 1.0, None][n % 3] for n in range(600)]
    failed = pa.concat_tables([pq.read_table(part) for part in sorted((tmp_path / "out" / "_failed").glob("*"))])
    assert failed["n"].to_pylist() == [n for n in range(600) if n % 3 == 2]
    assert (tally.lines, tally.with_status("failed")) == (600, 200)


def test_only_fields_that_count_are_read_of_a_table() -> None:
    table = pa.table(
        {
            "response": ["1", None],
            "gold": [1.5, 2.5],
            "tokens": [[1, 2], [3]],
            "metadata": [{"at": date(2026, 1, 2), "of": None}, None],
            "expected": [True, None],
            "mine": [b"x", b"y"],
        }
    )
    read = fields_of(table, Columns(verifier="numeric", reference="mine"))
    first = {"response": "1", "gold": 1.5, "metadata": {"at": "2026-01-02"}, "expected": True, "mine": "eA=="}
    assert read == [first, {"gold": 2.5, "mine": "eQ=="}]


def test_a_run_goes_on_with_the_blocks_that_are_not_finished(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"response": f"{name}1", "reference": f"{name}1"}) + "\n")
    source = str(tmp_path / "[a-c].jsonl")
    (tmp_path / "b.jsonl").write_text('{"response": "leave me"}\n')
    first = Grader()
    with pytest.raises(Unavailable):
        run(source, tmp_path / "out", first)
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_file()] == ["part-000000.jsonl"]
    with pytest.raises(BadInput, match="another run"):
        Manifest.at(str(tmp_path / "out")).begin(plan(source, COLUMNS)[1], Columns(verifier="math"))

    second = Willing()
    tally = run(source, tmp_path / "out", second)
    assert (second.seen, tally.lines, tally.done_before) == (["leave me", "c1"], 2, 1)
    assert [row["verdict_score"] for row in lines(tmp_path / "out")] == [1.0, 0.0, 1.0]
    record = Manifest.at(str(tmp_path / "out"))
    record.clear()
    assert [*(tmp_path / "out").iterdir()] == []


def test_files_of_other_forms_are_a_block_each(tmp_path: Path) -> None:
    rows = [{"response": "1", "reference": "1"}, {"response": "2", "reference": "1"}]
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.csv").write_text("response,reference,note\n1,1,\n2,1,x\n")
    (source / "b.json").write_text(json.dumps([*rows, 7]))
    (source / "c.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    tally = run(str(source), tmp_path / "out", Willing())
    assert tally.lines == 7
    written = [*lines(tmp_path / "out")]
    assert [row["verdict_score"] for row in written] == [1.0, 0.0, 1.0, 0.0, None, 1.0, 0.0]
    assert (written[1]["note"], written[4]["unread_line"]) == ("x", "the row is not a JSON object")
    with pytest.raises(BadInput, match=r"a\.csv has no field 'text'"):
        plan(str(source / "a.csv"), Columns(verifier="math", response="text"))
    far = fs.SubTreeFileSystem(str(source), fs.LocalFileSystem())
    assert [*blocks.rows_of(far, "c.jsonl.gz")] == rows


def test_messages_say_what_is_wrong_with_a_place(tmp_path: Path) -> None:
    (tmp_path / "rollouts.jsonl.gz").write_bytes(b"x")
    (tmp_path / "bad.parquet").write_bytes(b"x")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-000000.jsonl").write_text("")
    for source, message in {
        f"{tmp_path}/nothing.jsonl": "no file here ends in",
        f"{tmp_path}/*.gz": "rollouts.jsonl.gz has no row that is a JSON object",
        f"{tmp_path}/*.zip": "no file here ends in",
        "nowhere://bucket/x": "nowhere",
        str(tmp_path / "bad.parquet"): "bad.parquet",
    }.items():
        with pytest.raises(BadInput, match=message):
            plan(source, COLUMNS)
    with pytest.raises(BadInput, match="no record of a run"):
        Manifest.at(str(tmp_path / "out")).begin([], COLUMNS)


def test_a_file_that_is_not_complete_has_no_name(tmp_path: Path) -> None:
    record = Manifest.at(str(tmp_path))

    def break_off() -> None:
        with record.creating("part-000000.jsonl") as out:
            out.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert [*tmp_path.iterdir()] == []
    assert manifest.failed_name(blocks.Block(3, "a.jsonl", 0, 1, 1, 0)) == "_failed/part-000003.jsonl"
