"""Searches of the log in files of every form, also while they are written, packed, damaged or hostile."""

import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest

from service.observe.audit_log import archive, reader, search, tables
from service.observe.audit_log.search import BadCursor, Filters, NoRecord, Order
from service.observe.audit_log.tables import Stopped, Tables
from tests.service.observe.audit_log.logs import JSON
from tests.tables import table

START = datetime(2026, 3, 1, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script> \u202eabc\u202c \x00 ' ; DROP TABLE found; -- %_ \\"


def record(number: int, **more: Any) -> JSON:
    """A record. The numbers decide what it is."""
    status = {3: "invalid", 7: "failed"}.get(number % 10, "ok")
    reward = (number % 5) / 4 if status == "ok" else None
    return {
        "time": (START + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "id": number if number % 2 else f"item-{number}",
        "status": status,
        "reason": {"invalid": "bad_reference", "failed": "judge_down"}.get(status, "correct" if reward else "wrong"),
        "score": reward,
        "reward": reward,
        "verifier": "math" if number % 3 else "numeric",
        "version": "1",
        "cached": False,
        "elapsed_ms": 1.5,
        "request_id": f"request-{number // 4}",
        "data_source": "gsm8k" if number % 4 else None,
        "recipe": None if number % 6 else "think_math",
        "response": f"So it is \\boxed{{{number}}}.",
        "response_chars": 20,
        "extracted": str(number),
        "detail": {} if status == "ok" else {"message": f"kind {number % 4}"},
        **more,
    }


def write(path: Path, records: Sequence[JSON], end: bytes = b"") -> Path:
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in records) + end)
    return path


def named(folder: Path, first: int, form: str = ".jsonl") -> Path:
    moment = (START + timedelta(seconds=first)).strftime("%Y%m%dT%H%M%S.%f")
    return folder / f"audit-{moment}Z-{first:08x}{form}"


def file(folder: Path, numbers: range, form: archive.Form = "jsonl") -> Path:
    """A closed file with these records."""
    path = write(named(folder, numbers[0]), [record(number) for number in numbers])
    written = (START + timedelta(seconds=numbers[-1])).timestamp()
    os.utime(path, (written, written))
    archive.pack(path, form)
    return named(folder, numbers[0], f".{form}")


def ask(places: Sequence[Path], question: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with Tables(reader.find(places), **options) as opened:
        return question(opened, *arguments)


def page(
    folder: Path, filters: Filters | None = None, order: Order = "newest", limit: int = 500, **options: Any
) -> JSON:
    found: JSON = ask([folder], search.page, filters or Filters(), order, limit, options.get("cursor"))
    return found


def summary(folder: Path, filters: Filters | None = None) -> JSON:
    found: JSON = ask([folder], search.summary, filters or Filters())
    return found


def numbers(rows: Sequence[JSON]) -> list[int]:
    """The numbers of the records."""
    return [int(row["id"].removeprefix("item-")) for row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 records in files of all forms, the last of which is being written."""
    found = tmp_path_factory.mktemp("log")
    for at, form in enumerate(get_args(archive.Form)):
        file(found, range(at * 40, at * 40 + 40), form)
    write(named(found, 160, ".live.jsonl"), [record(number) for number in range(160, 200)], b'{"time": "2026-03-0')
    return found


def test_all_forms_are_one_log(folder: Path) -> None:
    assert len(list(folder.iterdir())) == 5
    found = page(folder)
    assert numbers(found["rows"]) == list(reversed(range(200)))
    assert found["read"] == {"files": 5, "files_left": 0, "rows": 200, "damaged_rows": 1, "damaged_files": []}
    assert found["next"] is None
    for row in found["rows"]:
        whole = record(*numbers([row]))
        assert {name: row[name] for name in ("time", "reward", "reason", "recipe", "data_source")} == {
            name: whole[name] for name in ("time", "reward", "reason", "recipe", "data_source")
        }


@pytest.mark.contract
@table(
    "filters, holds",
    [
        (Filters(judges=["numeric"]), lambda each: each["verifier"] == "numeric"),
        (Filters(judges=["think_math"]), lambda each: each["recipe"] == "think_math"),
        (Filters(statuses=["failed", "invalid"]), lambda each: each["status"] != "ok"),
        (Filters(judges=["", "think_math"]), lambda each: each["recipe"] == "think_math"),
        (Filters(reasons=["wrong"], judges=["math"]), lambda e: e["reason"] == "wrong" and e["verifier"] == "math"),
        (Filters(data_sources=[""]), lambda each: each["data_source"] is None),
        (
            Filters(ids=["item-8", "9", "request-3"]),
            lambda e: e["id"] in ("item-8", 9, 12, "item-12", 13, "item-14", 15),
        ),
        (Filters(min_reward=0.5, max_reward=0.75), lambda each: each["reward"] in (0.5, 0.75)),
        (Filters(max_score=0.0), lambda each: each["score"] == 0),
        (Filters(since=START + timedelta(seconds=150)), lambda each: each["time"] >= "2026-03-01T00:02:30"),
        (Filters(until=START + timedelta(seconds=50)), lambda each: each["time"] <= "2026-03-01T00:00:50.000000Z"),
        (Filters(text="BOXED{19"), lambda each: "boxed{19" in each["response"]),
        (Filters(text="item-1"), lambda each: str(each["id"]).startswith("item-1")),
        (Filters(text="kind 3"), lambda each: each["detail"].get("message") == "kind 3"),
        (Filters(runs=["r"]), lambda each: False),
    ],
)
def test_filters_choose(folder: Path, filters: Filters, holds: Callable[[JSON], bool]) -> None:
    wanted = [number for number in range(200) if holds(record(number))]
    assert sorted(numbers(page(folder, filters)["rows"])) == wanted
    assert summary(folder, filters)["records"] == len(wanted)


@pytest.mark.contract
@table("text", ["'", "' OR '1' = '1", "'; DROP TABLE found; --", "%", "_", "\\", "$judges", "{rows}", "\x00", "\u202e"])
@table("name", ["judges", "ids", "text"])
def test_what_looks_like_sql_is_a_text(folder: Path, text: str, name: str) -> None:
    wanted = [number for number in range(200) if text in record(number)["response"]] if name == "text" else []
    value: Any = text if name == "text" else [text]
    assert sorted(numbers(page(folder, Filters(**{name: value}))["rows"])) == wanted


def test_sql_reaches_the_files_of_the_log_only(folder: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "secret.jsonl", [record(1)])
    reads = [f"SELECT * FROM {how}('{secret}')" for how in ("read_json", "read_text", "read_csv", "read_blob", "glob")]
    writes = [
        f"COPY (SELECT 1) TO '{tmp_path / 'new'}'",
        f"ATTACH '{tmp_path / 'new'}'",
        f"EXPORT DATABASE '{tmp_path}'",
    ]
    settings = [
        "SET enable_external_access = true",
        "SET threads = 8",
        "SET memory_limit = '9GB'",
        "SET allowed_paths = []",
    ]
    with Tables(reader.find([folder])) as opened:
        for statement in (*reads, *writes, *settings, "INSTALL httpfs", "LOAD httpfs"):
            with pytest.raises(duckdb.Error, match=r"disabled|locked|Cannot access|not found"):
                opened.sql(statement)
    assert os.listdir(tmp_path) == ["secret.jsonl"]


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("order", get_args(Order))
def test_pages_show_each_record_once_whatever_happens_between(tmp_path: Path, order: Order) -> None:
    for first in range(0, 60, 20):
        file(tmp_path, range(first, first + 20))
    key = "reward" if order in ("highest", "lowest") else "time"
    seen: list[JSON] = []
    cursor = None
    for turn in count():
        found = page(tmp_path, Filters(statuses=["ok"]), order, limit=7, cursor=cursor)
        seen += found["rows"]
        cursor = found["next"]
        if cursor is None:
            break
        if turn == 1:  # a file is packed
            archive.pack(named(tmp_path, 20), "jsonl.zst")
        if turn == 2 and order == "newest":  # another begins, and the oldest is deleted
            file(tmp_path, range(60, 70))
            named(tmp_path, 0).unlink()
    lost = range(20 if order == "newest" else 0)
    wanted = [number for number in range(60) if record(number)["status"] == "ok" and number not in lost]
    assert sorted(numbers(seen)) == wanted
    values = [row[key] for row in seen]
    assert values == sorted(values, reverse=order in ("newest", "highest"))


def test_a_cursor_of_another_order_or_nobodys_is_refused(folder: Path) -> None:
    with pytest.raises(BadCursor):
        page(folder, None, "oldest", cursor=page(folder, limit=1)["next"])
    for text in ("", "x", "bnVsbA==", "WzEsMiwzLDRd"):
        with pytest.raises(BadCursor):
            page(folder, cursor=text)


def test_the_newest_are_found_in_the_newest_files(tmp_path: Path) -> None:
    for first in range(0, 1000, 100):
        file(tmp_path, range(first, first + 100))
    found = page(tmp_path, limit=100)
    assert numbers(found["rows"]) == list(reversed(range(900, 1000)))
    assert (found["read"]["files"], found["read"]["files_left"]) == (2, 8)


@pytest.mark.contract
def test_a_record_is_shown_whole(folder: Path) -> None:
    for row in page(folder)["rows"][::10]:
        found = ask([folder], search.record, row["row"])
        wanted = record(*numbers([row]))
        assert json.loads(bytes(found.pop("detail"))) == wanted.pop("detail")
        assert {name: found[name] for name in wanted} == {**wanted, "id": str(wanted["id"])}
    for name in ("", "x", ":", "x:1", f"{row['row']}0000", row["row"].partition(":")[0] + ":-1"):
        with pytest.raises(NoRecord):
            ask([folder], search.record, name)


def test_a_summary_counts(folder: Path) -> None:
    found = summary(folder)
    every = [record(number) for number in range(200)]
    rewards = [each["reward"] for each in every if each["reward"] is not None]
    assert found["records"] == 200
    assert found["mean_reward"] == pytest.approx(sum(rewards) / len(rewards))
    assert {each["name"]: each["count"] for each in found["by_status"]} == {"ok": 160, "invalid": 20, "failed": 20}
    assert {each["name"] for each in found["by_judge"]} == {"math", "numeric", "think_math"}
    assert {each["name"]: each["count"] for each in found["by_data_source"]} == {"gsm8k": 150, "": 50}
    bins = found["rewards"]["counts"]
    assert [at for at, value in enumerate(bins) if value] == [0, 5, 10, 15, 19]
    assert (sum(bins), found["rewards"]["low"], found["rewards"]["high"]) == (160, 0, 1)
    spans = found["over_time"]["spans"]
    assert found["over_time"]["width_s"] == 5
    assert [each["ok"] + each["invalid"] + each["failed"] for each in spans] == [5] * 40
    assert spans[0]["mean_reward"] == pytest.approx((0 + 0.25 + 0.5 + 1) / 4)
    failures = found["failures"]
    assert sum(each["count"] for each in failures) == 40
    for each in failures:
        shown = ask([folder], search.record, each["example"])
        assert (shown["status"], shown["reason"]) == (each["status"], each["reason"])
        assert json.loads(bytes(shown["detail"]))["message"] == each["message"]


def test_an_empty_log_and_one_that_is_not_there_yet_have_no_records(tmp_path: Path) -> None:
    for _ in range(2):
        assert page(tmp_path)["rows"] == []
        found = summary(tmp_path)
        assert (found["records"], found["mean_reward"], found["over_time"]["spans"]) == (0, None, [])
        named(tmp_path, 0, ".live.jsonl").touch()


def test_rewards_beyond_0_and_1_widen_the_bins(tmp_path: Path) -> None:
    write(tmp_path / "audit.jsonl", [record(0, reward=reward) for reward in (-1, 0.5, 3, 1e999, -1e999)])
    found = ask([tmp_path / "audit.jsonl"], search.summary, Filters())["rewards"]
    assert (found["low"], found["high"], sum(found["counts"])) == (-1, 3, 3)


def test_damage_is_counted_and_costs_nobody_else(tmp_path: Path) -> None:
    noise = b"\x00" * 100 + b"\n\xff\xfe\n[1]\n3\n" + b'{"status": {}, "id": [1]}\n{"status": "ok"}\n' + b"[" * 5000
    write(tmp_path / "noisy.jsonl", [record(0)], noise)
    write(tmp_path / "odd.jsonl", [record(1, score="many", detail="cut {", checks=7, time=12, cached="x", id=None)])
    found = ask([tmp_path / "noisy.jsonl", tmp_path / "odd.jsonl"], search.summary, Filters())
    assert (found["records"], found["read"]["damaged_rows"], found["read"]["damaged_files"]) == (2, 7, [])
    for at, form in enumerate(get_args(archive.Form)):
        path = file(tmp_path, range(1000 * at, 1000 * at + 1000), form)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "empty.parquet").touch()
    found = ask([tmp_path / "empty.parquet", tmp_path], search.summary, Filters())
    read = found["read"]
    assert sorted(line.partition(":")[0].rpartition(".")[2] for line in read["damaged_files"]) == [
        "gz", "parquet", "parquet",
    ]  # fmt: skip
    assert read["damaged_rows"] == 2  # where the plain file ends, and the one of zstd
    assert "/proc" not in str(read)
    plain = summary(tmp_path, Filters(until=START + timedelta(seconds=999)))["records"]
    assert 0 < plain < found["records"] < 2500


def test_of_many_damaged_files_some_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    for at in range(12):
        path = file(tmp_path, range(1000 * at, 1000 * at + 1000), "jsonl.gz")
        path.write_bytes(path.read_bytes()[:-500])
    file(tmp_path, range(20_000, 20_010))
    found = summary(tmp_path)["read"]
    assert (found["files"], len(found["damaged_files"])) == (9, 12)


@pytest.mark.contract
def test_what_a_power_failure_leaves_costs_nobody_else(tmp_path: Path) -> None:
    path = write(tmp_path / "audit.jsonl", [record(1)], b"\x00" * (reader.MAX_LINE_BYTES * 2 + 10) + b"\n")
    path.write_bytes(path.read_bytes() + json.dumps(record(2)).encode() + b"\n")
    found = ask([path], search.page, Filters(), "newest", 10, None)
    assert numbers(found["rows"]) == [2, 1]
    assert (found["read"]["damaged_rows"], len(found["read"]["damaged_files"])) == (1, 1)


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    strange = tmp_path / "[a-z]* '; {rows} ?.jsonl"
    write(strange, [record(1)])
    write(tmp_path / "b.jsonl", [record(2), record(3)])
    found = ask([strange], search.page, Filters(), "newest", 10, None)
    assert numbers(found["rows"]) == [1]
    assert ask([strange], search.record, found["rows"][0]["row"])["id"] == "1"


def test_hostile_texts_come_out_as_they_went_in(tmp_path: Path) -> None:
    deep = "[" * 3000 + "]" * 3000
    hostile = record(1, response=HOSTILE * 10_000, extracted=HOSTILE, data_source=HOSTILE, reason=HOSTILE, metadata=0)
    line = json.dumps(hostile).replace('"metadata": 0', f'"metadata": {deep}')
    (tmp_path / "audit.jsonl").write_text(line + "\n")
    place = [tmp_path / "audit.jsonl"]
    (row,) = ask(place, search.page, Filters(reasons=[HOSTILE], text=HOSTILE), "newest", 10, None)["rows"]
    assert row["extracted"] == HOSTILE
    assert len(row["response_end"]) == 300
    found = ask(place, search.record, row["row"])
    assert found["response"] == HOSTILE * 10_000
    assert bytes(found["metadata"]).decode() == deep
    assert ask(place, search.summary, Filters())["by_data_source"][0]["name"] == HOSTILE


@pytest.mark.contract
def test_a_search_of_200_000_records_holds_few_bytes_of_each(tmp_path: Path) -> None:
    text = "x" * 500
    for first in range(0, 200_000, 50_000):
        lines = (
            f'{{"time":"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000000Z","id":{number},'
            f'"status":"ok","reason":"correct","score":1,"reward":1,"verifier":"math","response":"{text}"}}\n'
            for number in range(first, first + 50_000)
        )
        named(tmp_path, first).write_text("".join(lines))
    with Tables(reader.find([tmp_path])) as opened:
        found = search.summary(opened, Filters())
        ((held,),) = opened.sql("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")
    assert found["records"] == 200_000
    assert held < 200_000 * 250
    assert len(found["over_time"]["spans"]) <= search.SPANS + 1
    shown = page(tmp_path, order="highest", limit=50)
    assert (len(shown["rows"]), shown["read"]["rows"]) == (50, 200_000)


def test_more_than_fits_in_memory_is_an_error_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tables._SETTINGS, "memory_limit", "4MB")
    file(tmp_path, range(20_000))
    with pytest.raises(MemoryError):
        summary(tmp_path)


def test_a_stopped_search_ends(folder: Path) -> None:
    with Tables(reader.find([folder])) as opened:
        opened.stop()
        with pytest.raises(Stopped):
            search.summary(opened, Filters())


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_an_export_holds_the_same_records(folder: Path, tmp_path: Path, form: Any) -> None:
    filters = Filters(judges=["math"], min_reward=0.5)
    target = tmp_path / f"export.{form}"
    source, output = os.pipe()
    with target.open("wb") as written, open(source, "rb") as exported_bytes:
        copying = threading.Thread(target=shutil.copyfileobj, args=(exported_bytes, written))
        copying.start()
        ask([folder], search.export, filters, form, output, output=output)
        os.close(output)
        copying.join()
    exported = ask([target], search.page, Filters(), "newest", 500, None)["rows"]
    wanted = page(folder, filters)["rows"]
    assert [{**row, "row": ""} for row in exported] == [{**row, "row": ""} for row in wanted]
    damaged: list[str] = []
    lines = [json.loads(line) for line in reader.lines(target, damaged)]
    assert (len(lines), damaged) == (len(wanted), [])
    assert {line["time"] for line in lines} == {row["time"] for row in wanted}


def test_an_export_of_nothing_is_a_table_without_rows(tmp_path: Path) -> None:
    with (tmp_path / "export.parquet").open("wb") as output:
        ask([tmp_path], search.export, Filters(), "parquet", output.fileno(), output=output.fileno())
    assert ask([tmp_path / "export.parquet"], search.page, Filters(), "newest", 9, None)["rows"] == []


def test_many_files_are_exported_as_few(tmp_path: Path) -> None:
    for first in range(0, 300, 2):
        file(tmp_path, range(first, first + 2))
    with (tmp_path / "export.parquet").open("wb") as output:
        ask([tmp_path], search.export, Filters(), "parquet", output.fileno(), output=output.fileno())
    assert ask([tmp_path / "export.parquet"], search.summary, Filters())["records"] == 300


def test_the_log_is_read_while_it_is_packed_and_deleted(tmp_path: Path) -> None:
    for first in range(0, 40, 10):
        file(tmp_path, range(first, first + 10))
    paths = reader.find([tmp_path])
    archive.pack(paths[0], "jsonl.gz")
    paths[1].unlink()
    live = write(named(tmp_path, 40, ".live.jsonl"), [record(40)])
    with Tables([*paths, live]) as opened:
        archive.pack(live.rename(named(tmp_path, 40)), "jsonl.gz")
        archive.pack(paths[2], "parquet")
        paths[3].unlink()
        found = search.page(opened, Filters(), "oldest", 50, None)
    assert found["read"]["damaged_files"] == []
    assert numbers(found["rows"]) == [*range(10), *range(20, 41)]


@pytest.fixture(autouse=True)
def no_descriptor_leaks() -> Iterator[None]:
    """What others close meanwhile does not count."""
    before = _opened()
    yield
    assert not _opened() - before


def _opened() -> Counter[str]:
    """What the descriptors of this process stand for."""
    found = Counter[str]()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found[os.readlink(f"/proc/self/fd/{name}").partition("[")[0]] += 1
    return found
