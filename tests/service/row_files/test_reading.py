"""Files of any length, damaged in any way, are read with bounded memory."""

import gzip
import json
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from sandbox.workers import confine
from service.rollouts.columns import Columns
from service.row_files import reading
from service.row_files.reading import BadData, DataFile, Line, Unread
from service.row_files.unpack import is_table
from tests.waiting import PATIENCE_S

LIMIT = 1000


def read(path: Path) -> list[Line]:
    return list(DataFile(path, max_line_bytes=LIMIT).lines())


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    found = read(written(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"a": NaN}\n[2]'))
    assert [(number, str(value)) for number, value, _ in found] == [(1, "{'a': 1}"), (4, "{'a': nan}"), (5, "[2]")]


def test_a_long_line_is_skipped_without_being_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": 1}\n')
        for _ in range(64):
            file.write(b"x" * 1_000_000)
        file.write(b'\n{"a": 2}\n')
    tracemalloc.start()
    found = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [number for number, _, _ in found] == [1, 2, 3]
    assert isinstance(found[1][1], Unread)
    assert found[2][1] == {"a": 2}
    assert peak < 8_000_000


def test_progress_is_known_while_it_is_read(tmp_path: Path) -> None:
    file = DataFile(written(tmp_path / "a.jsonl", b'{"a": 1}\n' * 100))
    lines = file.lines()
    for _ in range(50):
        next(lines)
    assert (file.position, file.size) == (450, 900)
    file.stop()
    assert next(lines, None) is None


@pytest.mark.parametrize("count", [0, 1, 200])
def test_parquet_gives_its_rows(tmp_path: Path, count: int) -> None:
    path = tmp_path / "rows.parquet"
    rows = [{"n": n, "list": [n, {"deep": b"\xff"}["deep"].hex()][:1], "none": None} for n in range(count)]
    schema = pyarrow.schema({"n": pyarrow.int64(), "list": pyarrow.list_(pyarrow.int64()), "none": pyarrow.string()})
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)
    file = DataFile(path)
    assert [(number, value) for number, value, _ in file.lines()] == [(n + 1, row) for n, row in enumerate(rows)]
    assert file.total_rows == count


def test_a_row_of_parquet_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    damaged = pyarrow.Array.from_buffers(pyarrow.string(), 2, pyarrow.array([b"\xff\xfe", b"fine"]).buffers())
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"a": damaged, "b": ["x" * 2000, "y"]}), path)
    (_, first, _), (_, second, _) = DataFile(path).lines()
    assert isinstance(first, Unread)
    assert second == {"a": "fine", "b": "y"}


def test_the_reader_of_parquet_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"a": ["x" * 100] * 100_000}), path)
    file = DataFile(path)
    lines = file.lines()
    next(lines)
    file.stop()
    assert len(list(lines)) < 99_999
    assert list(file.lines()) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PAR1", "it is not Parquet"),
        (b"PAR1" + b"\xff" * 10_000 + b"PAR1", "it is not Parquet"),
        (b"\x1f\x8b\x08", "it cannot be read"),
        (b"\x28\xb5\x2f\xfd\x00\xff", "it cannot be read"),
        (b"\xfd7zXZ", "packed with xz"),
        (b"PK\x03\x04", "zip"),
    ],
)
def test_what_is_no_data_set_says_so(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(BadData, match=said):
        read(written(tmp_path / "data", data))


def test_without_pyarrow_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "has_parquet", lambda: False)
    with pytest.raises(BadData, match="rewardline-server\\[parquet\\]"):
        read(written(tmp_path / "rows.parquet", b"PAR1"))


def test_the_process_that_reads_parquet_has_none_of_our_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of a hostile file shall find no key."""
    given: list[Any] = []
    begin = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> Any:
        given.append(options["env"])
        return begin(*arguments, **options)

    monkeypatch.setenv("REWARDLINE_API_KEYS", "me=secret-secret-secret")
    monkeypatch.setattr(subprocess, "Popen", noted)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"a": [1]}), path)
    lines: Iterator[Line] = DataFile(path).lines()
    assert len(list(lines)) == 1
    assert [name for name in given[0] if name.startswith("REWARDLINE")] == []


_ATTACK = """
import os, socket, sys
from service.row_files import unpack

def attack(there):
    def told(what, attempt):
        try:
            attempt()
        except OSError as error:
            print(what, type(error).__name__)
        else:
            print(what, "done")

    told("write", lambda: open(there, "w").close())
    told("process", os.fork)
    told("connect", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 5).close())
    told("environment", lambda: open(f"/proc/{os.getppid()}/environ").read())
    told("run", lambda: os.execv("/bin/echo", ["echo", "ran"]))

unpack._write_rows = attack
unpack.main(sys.argv[1])
"""


@pytest.mark.skipif(confine.landlock_version() < 6, reason="this kernel has no Landlock with scopes")
def test_a_file_that_takes_over_its_reader_finds_no_way_out(tmp_path: Path) -> None:
    there = tmp_path / "there"
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = [sys.executable, "-c", _ATTACK, str(there), str(server.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    said = dict(line.split() for line in done.stdout.splitlines())
    assert {name: how for name, how in said.items() if name != "connect"} == dict.fromkeys(
        ("write", "process", "environment", "run"), "PermissionError"
    )
    assert said["connect"] in ("PermissionError", "OSError"), "no way, or no network"
    assert not there.exists()


def _name(value: object) -> str:
    """Packed bytes have a time in them."""
    return value if isinstance(value, str) else ""


ROWS: list[dict[str, Any]] = [{"response": 'a, "b"\nc', "gold": "007"}, {"response": "é", "gold": ""}]
AS_LINES = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS) + "\n"
AS_LIST = json.dumps(ROWS, indent=1, ensure_ascii=False)
AS_CSV = 'response,gold\r\n"a, ""b""\nc",007\r\né,\r\n'


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.jsonl", b"\xef\xbb\xbf" + AS_LINES.encode()),
        ("rows.jsonl", AS_LINES.encode("utf-16")),
        ("rows", AS_LINES.encode("utf-16")),
        ("rows.jsonl.gz", gzip.compress(AS_LINES.encode())),
        ("rows.zst", zstandard.compress(AS_LINES.encode())),
        ("rows.zst", zstandard.compress(AS_LINES[:30].encode()) + zstandard.compress(AS_LINES[30:].encode())),
        ("rows.json", AS_LIST.encode()),
        ("rows", b"\xef\xbb\xbf" + AS_LIST.encode()),
        ("rows.json.gz", gzip.compress(json.dumps(ROWS).encode())),
        ("rows.csv", AS_CSV.encode()),
        ("rows.csv", b"\xef\xbb\xbf" + AS_CSV.encode()),
        ("rows.csv", AS_CSV.encode("utf-16")),
        ("rows.csv", AS_CSV.replace("a,", "a|").replace(",", ";").replace("a|", "a,").encode()),
        ("rows.json", json.dumps({"version": 2, "samples": ROWS}, indent=1).encode()),
        (
            "rows.tsv.zst",
            zstandard.compress(AS_CSV.replace("a,", "a;").replace(",", "\t").replace("a;", "a,").encode()),
        ),
    ],
    ids=_name,
)
def test_the_same_rows_are_read_from_every_form(tmp_path: Path, name: str, data: bytes) -> None:
    lines = read(written(tmp_path / name, data))
    assert [value for _, value, _ in lines] == ROWS
    is_lines = (
        not name.startswith(("rows.json.", "rows.csv", "rows.tsv")) and b"[" not in data[:5] and name != "rows.json"
    )
    assert [number for number, _, _ in lines] == ([1, 3] if is_lines else [1, 2])


def test_a_saved_data_set_is_read(tmp_path: Path) -> None:
    """As `Dataset.save_to_disk` writes it: streams of Arrow and a note of its state."""
    (tmp_path / "state.json").write_text("{}")
    for number in range(2):
        table = pyarrow.table({"response": [f"r{number}"] * 100, "gold": [None, *["7"] * 99]})
        path = tmp_path / f"data-{number:05}-of-00002.arrow"
        with path.open("wb") as file, pyarrow.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    rows = [value for _, value, _ in DataFile(tmp_path).lines()]
    assert [row["response"] for row in rows] == ["r0"] * 100 + ["r1"] * 100
    assert rows[0] == {"response": "r0", "gold": None}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("rows.json", b'[{"a": 1}, {', "it cannot be read"),
        ("rows.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 9)[:-6], "it cannot be read"),
        ("rows.jsonl.zst", zstandard.compress(b'{"a": 1}\n' * 9)[:-3], "within a frame of zstd"),
    ],
    ids=_name,
)
def test_a_damaged_file_of_another_form_says_what_is_wrong(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    with pytest.raises(BadData, match=said):
        read(written(tmp_path / name, data))


def test_a_damaged_row_of_a_table_is_one_finding(tmp_path: Path) -> None:
    rows = read(written(tmp_path / "rows.csv", b'a,b\n1,2\n1,2,3\n\n"1"2,3\ncaf\xe9,4\n3\n"5'))
    assert {number: value.problem for number, value, _ in rows if isinstance(value, Unread)} == {
        2: "the row cannot be read: it has 3 cells, the header has 2; quote cells with commas",
        4: "the row cannot be read: ',' expected after '\"'",
        5: "the row cannot be read: it is not UTF-8; write the file in UTF-8",
        7: "the row cannot be read: unexpected end of data",
    }
    assert [value for _, value, _ in rows if isinstance(value, dict)] == [{"a": "1", "b": "2"}, {"a": "3"}]


def test_lines_in_a_json_file_stay_lines(tmp_path: Path) -> None:
    for first in (b'{"a": 1}', b'{"a": \xc3\xa9'):
        rows = read(written(tmp_path / "rows.json", first + b'\n\n{"b": "\xe2\x80\xa8"}\n'))
        assert [(number, value) for number, value, _ in rows][1:] == [(3, {"b": "\u2028"})]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_parquet_may_be_packed(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    table = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"a": ["x", None]}), table)
    file = DataFile(written(tmp_path / "rows.parquet.gz", pack(table.read_bytes())))
    assert [value for _, value, _ in file.lines()] == [{"a": "x"}, {"a": None}]
    assert file.pads_rows


def test_a_stream_without_a_name_is_a_table_unless_it_begins_as_something_else() -> None:
    texts = (b"response,gold\n", b'"a"\t"b"', "a,é".encode("utf-16"), b"\xef\xbb\xbfa,b")
    others = (b' {"a": 1}', b"\xef\xbb\xbf[", b"PAR1", '{"é": 1}'.encode("utf-16"))
    for pack in (bytes, gzip.compress, zstandard.compress):
        assert [is_table(pack(head)) for head in (*texts, *others)] == [True] * 4 + [False] * 4
    assert not is_table(b"\x1f\x8bno archive")


@pytest.mark.parametrize("form", ["eval", "json"])
def test_logs_of_inspect_give_their_samples(form: str) -> None:
    ((_, sample, _),) = DataFile(Path("tests/data/inspect/log_formats").with_suffix(f".{form}")).lines()
    item = Columns(verifier="exact_match").item_of(sample)
    assert item is not None
    assert (item["response"][0]["content"], item["reference"]) == ("No", " Yes")
