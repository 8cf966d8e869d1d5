"""Reading the log: what is found, in which order, what is passed over; and what a query holds of."""

import gzip
import json
import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard

from service.observe.audit_log import reader
from service.observe.audit_log.archive import Form, pack
from service.observe.audit_log.files import LIVE
from service.observe.audit_log.query import AuditEntry, BadMoment, Query, Tally, moment
from tests.service.observe.audit_log.logs import logging, observe
from tests.tables import table

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)


def stem(hour: int) -> str:
    return f"audit-20260307T{hour:02}0000.000000Z-00000000"


def write(path: Path, ids: Iterable[object], end: str = "") -> Path:
    records = [
        {"time": f"2026-03-07T12:00:0{at}.000000Z", "id": each, "status": "ok", "reason": "r"}
        for at, each in enumerate(ids)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + end)
    return path


def ids(places: list[Path], tally: Tally) -> list[object]:
    seen = (
        tally.entry_of(line, Query())
        for path in reader.find(places)
        for line in reader.lines(path, tally.damaged_files)
    )
    return [each.id for each in seen if each is not None]


def test_files_of_every_form_are_read_in_the_order_of_their_records(tmp_path: Path) -> None:
    write(tmp_path / f"{stem(4)}{LIVE}", [7, 8])
    pack(write(tmp_path / f"{stem(1)}.jsonl", [1, 2]), "jsonl.gz")
    pack(write(tmp_path / f"{stem(2)}.jsonl", [3, 4]), "jsonl.zst")
    write(tmp_path / f"{stem(3)}.jsonl", [5, 6])
    (tmp_path / "notes.txt").write_text("not of the log")
    (tmp_path / f".{stem(3)}-1.tmp").write_text("half packed")
    tally = Tally()
    assert ids([tmp_path], tally) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert ids([tmp_path / f"{stem(4)}{LIVE}", tmp_path / f"{stem(2)}.jsonl.zst"], tally) == [3, 4, 7, 8]
    assert (tally.unreadable_lines, tally.damaged_files) == (0, [])


def test_files_may_have_been_given_other_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "mine", [1]).read_bytes()))
    assert ids([path], Tally()) == [1]


def test_a_file_that_is_there_packed_and_unpacked_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / f"{stem(1)}.jsonl", [1, 2])
    (tmp_path / f"{stem(1)}.jsonl.zst").write_bytes(b"of which not all need be there yet")
    tally = Tally()
    assert ids([tmp_path], tally) == [1, 2]
    assert tally.damaged_files == []


@pytest.mark.parametrize("half", ['{"time": "2026', '{"time":', "\0" * 100, '{"id": 1}\n'])
def test_half_a_line_is_passed_over_and_told_of(tmp_path: Path, half: str) -> None:
    write(tmp_path / f"{stem(1)}{LIVE}", [1, 2], half)
    tally = Tally()
    assert ids([tmp_path], tally) == [1, 2]
    assert tally.unreadable_lines == 1


def test_a_whole_line_without_its_end_is_a_record(tmp_path: Path) -> None:
    path = write(tmp_path / f"{stem(1)}{LIVE}", [1, 2])
    path.write_text(path.read_text().removesuffix("\n"))
    assert ids([tmp_path], Tally()) == [1, 2]


@pytest.mark.parametrize("form", ["gz", "zst", "parquet"])
def test_a_damaged_file_is_told_of_and_costs_no_other(tmp_path: Path, form: str) -> None:
    (tmp_path / f"{stem(1)}{'' if form == 'parquet' else '.jsonl'}.{form}").write_bytes(b"nothing of the kind")
    write(tmp_path / f"{stem(2)}.jsonl", [1])
    tally = Tally()
    assert ids([tmp_path], tally) == [1]
    assert len(tally.damaged_files) == 1


def test_a_packed_file_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write(tmp_path / f"{stem(1)}.jsonl", range(2000))
    whole = zstandard.ZstdCompressor().compress(path.read_bytes())
    path.unlink()
    (tmp_path / f"{stem(1)}.jsonl.zst").write_bytes(gzip.compress(b"")[:0] + whole[: len(whole) // 2])
    tally = Tally()
    assert len(ids([tmp_path], tally)) < 2000


def test_a_file_is_found_again_that_was_packed_since_it_was_listed(tmp_path: Path) -> None:
    path = write(tmp_path / f"{stem(1)}.jsonl", [1, 2])
    pack(path, "jsonl.gz")
    damaged: list[str] = []
    assert len(list(reader.lines(path, damaged))) == 2
    assert list(reader.lines(tmp_path / f"{stem(2)}.jsonl", damaged)) == []
    assert reader.find([path]) == [tmp_path / f"{stem(1)}.jsonl.gz"]
    assert damaged == []


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(reader.NotThere, match="no folder or file"):
        reader.find([tmp_path / "nosuch"])
    assert reader.find([tmp_path]) == []


def test_files_of_another_time_are_not_opened(tmp_path: Path) -> None:
    path = write(tmp_path / f"{stem(10)}.jsonl", [1])
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    assert reader.may_hold(path, None, None)
    assert not reader.may_hold(path, None, datetime(2026, 3, 7, 9, tzinfo=UTC))
    assert reader.may_hold(path, None, datetime(2026, 3, 7, 10, tzinfo=UTC))
    assert not reader.may_hold(path, written + timedelta(seconds=1), None)
    assert reader.may_hold(path, written - timedelta(seconds=1), None)
    assert reader.may_hold(tmp_path / f"{stem(10)}{LIVE}", written + timedelta(days=9), None)


@pytest.mark.parametrize("form", ["jsonl.gz", "jsonl.zst", "parquet"])
def test_packing_keeps_the_time(tmp_path: Path, form: Form) -> None:
    path = write(tmp_path / f"{stem(1)}.jsonl", [1])
    os.utime(path, (1_000_000_000, 1_000_000_000))
    pack(path, form)
    [packed] = tmp_path.iterdir()
    assert packed.stat().st_mtime == 1_000_000_000


@pytest.mark.contract
def test_following_tells_everything_once_through_rotation_and_packing(tmp_path: Path) -> None:
    read: list[object] = []
    tally = Tally()
    with logging(tmp_path, rotate_bytes=400, form="jsonl.gz") as log:
        following = reader.follow([tmp_path], tally.damaged_files, lambda _: True)
        for number in range(12):
            observe(log, [f"{number}-{at}" for at in range(3)])
            while len(read) < 3 * (number + 1):
                line = next(following)
                if line is not None:
                    seen = tally.entry_of(line, Query())
                    assert seen is not None
                    read.append(seen.id)
    assert next(line for line in following) is None
    assert read == [f"{number}-{at}" for number in range(12) for at in range(3)]
    assert (tally.unreadable_lines, tally.damaged_files) == (0, [])


def seen(**fields: object) -> AuditEntry:
    right = {"time": "2026-03-07T12:00:00.000000Z", "id": "a", "status": "ok", "reason": "correct", "score": 0.5}
    return AuditEntry(**{**right, "verifier": "math", "recipe": "gsm8k", "request_id": "q1", **fields})  # type: ignore[arg-type]  # of mixed types


@table(
    ("query", "record", "holds"),
    [
        (Query(), seen(), True),
        (Query(judges={"math"}), seen(), True),
        (Query(judges={"gsm8k", "other"}), seen(), True),
        (Query(judges={"code"}), seen(), False),
        (Query(judges={"math"}), seen(verifier=None, recipe=None), False),
        (Query(reasons={"correct"}, statuses={"ok"}), seen(), True),
        (Query(reasons={"correct"}, statuses={"failed"}), seen(), False),
        (Query(reasons={"wrong"}), seen(), False),
        (Query(ids={"a"}), seen(), True),
        (Query(ids={"q1"}), seen(), True),
        (Query(ids={"7"}), seen(id=7), True),
        (Query(ids={"b"}), seen(), False),
        (Query(min_score=0.5, max_score=0.5), seen(), True),
        (Query(min_score=0.51), seen(), False),
        (Query(max_score=0.49), seen(), False),
        (Query(min_score=0), seen(score=None), False),
        (Query(max_score=1), seen(score=None), False),
        (Query(since=NOON, until=NOON), seen(), True),
        (Query(since=NOON + timedelta(microseconds=1)), seen(), False),
        (Query(until=NOON - timedelta(microseconds=1)), seen(), False),
    ],
)
def test_a_query_holds_of_what_has_all_it_names(query: Query, record: AuditEntry, holds: bool) -> None:
    assert query.holds(record) is holds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2h", NOON - timedelta(hours=2)),
        ("90s", NOON - timedelta(seconds=90)),
        ("15m", NOON - timedelta(minutes=15)),
        ("7d", NOON - timedelta(days=7)),
        ("1w", NOON - timedelta(days=7)),
        ("2026-03-07T12:00", NOON),
        ("2026-03-07T12:00Z", NOON),
        ("2026-03-07T13:00+01:00", NOON),
        ("2026-03-07", NOON - timedelta(hours=12)),
    ],
)
def test_points_in_time(text: str, expected: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert moment(text, NOON) == expected
    finally:
        monkeypatch.undo()
        time.tzset()


@table("text", ["", "2", "2y", "yesterday", "-2h", "2026-13-01", "999999w"])
def test_what_is_no_point_in_time_says_what_is(text: str) -> None:
    with pytest.raises(BadMoment, match="2h"):
        moment(text, NOON)
