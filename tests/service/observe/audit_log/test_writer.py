"""From the engine to the disk: what is written, when files change, and what becomes of a disk that is full or slow."""

import asyncio
import os
import stat
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.observe.audit_log.archive import Form
from service.observe.audit_log.files import CLOSED, LIVE, LiveFile, close_orphans, closed_files
from service.observe.audit_log.records import Rules
from service.observe.audit_log.writer import AuditLog, Options
from service.observe.metrics import Metrics
from service.recipes import book as recipes
from service.scoring.engine import Engine
from service.wire import BatchRequest, ScoreItem
from tests.service.observe.audit_log.logs import JSON, batch, item, logging, names, observe, records, result
from tests.waiting import PATIENCE_S, eventually
from verifiers.base import Example, Item, Params, Verdict, Verifier
from verifiers.registry import Entry, Registry

TEXT = "x" * 1000


def test_what_was_observed_is_on_the_disk_when_the_log_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    with logging(folder) as log:
        for number in range(100):
            observe(log, [f"{number}-{at}" for at in range(10)])
    assert [record["response"] for record in records(folder)] == [f"{n}-{at}" for n in range(100) for at in range(10)]
    assert (log.records, log.dropped.total(), log.queued_bytes) == (1000, 0, 0)
    [path] = folder.iterdir()
    assert log.nbytes == path.stat().st_size
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_nobody_waits_for_the_queue_to_be_empty_to_see_a_record(tmp_path: Path) -> None:
    with logging(tmp_path) as log:
        observe(log, ["a"])
        eventually(lambda: log.records == 1)
        assert names(tmp_path) == ["live.jsonl"]
        assert len(records(tmp_path)) == 1
    assert names(tmp_path) == ["jsonl"]


def test_a_log_of_nothing_leaves_no_file(tmp_path: Path) -> None:
    with logging(tmp_path):
        pass
    assert names(tmp_path) == []


def test_files_are_closed_by_size_and_the_oldest_deleted(tmp_path: Path) -> None:
    with logging(tmp_path, rotate_bytes=3_000, keep_files=4) as log:
        for number in range(30):
            observe(log, [f"{number} {TEXT}"])
            eventually(lambda: log.records == number + 1)  # noqa: B023 - at once
    kept = [record["response"].split()[0] for record in records(tmp_path)]
    assert kept == [str(number) for number in range(30 - len(kept), 30)]
    assert 8 <= len(kept) <= 12
    assert names(tmp_path) == ["jsonl"] * 4


def test_the_oldest_are_deleted_by_bytes_too(tmp_path: Path) -> None:
    with logging(tmp_path, rotate_bytes=1_000, keep_bytes=5_000) as log:
        for number in range(10):
            observe(log, [f"{number} {TEXT}"])
            eventually(lambda: log.records == number + 1)  # noqa: B023 - at once
    sizes = [path.stat().st_size for path in closed_files(tmp_path)]
    assert 3_000 < sum(sizes) <= 5_000


def test_files_are_closed_by_age_also_when_nothing_comes(tmp_path: Path) -> None:
    with logging(tmp_path, rotate_s=0.01) as log:
        observe(log, ["a"])
        eventually(lambda: names(tmp_path) == ["jsonl"])
        observe(log, ["b"])
    assert [record["response"] for record in records(tmp_path)] == ["a", "b"]
    assert names(tmp_path) == ["jsonl"] * 2


@pytest.mark.parametrize("form", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_closed_files_are_packed_and_read_alike(tmp_path: Path, form: Form) -> None:
    items = [
        item(response=f"{n} é 数", id=f"i{n}", prompt="p", reference={"a": n}, metadata={"n": n}) for n in range(40)
    ]
    results = [
        result(id=each.id, score=None, reward=None, status="failed") if n % 3 else result(id=each.id, detail={"n": n})
        for n, each in enumerate(items)
    ]
    plain = tmp_path / "plain"
    for folder, chosen in ((plain, "jsonl"), (tmp_path / "packed", form)):
        with logging(folder, form=chosen, rotate_bytes=2_000) as log:
            for each, one in zip(items, results, strict=True):
                log.observe(batch([each]), [one])
    packed = tmp_path / "packed"
    assert len(names(packed)) >= 1
    assert set(names(packed)) == {form}
    assert {stat.S_IMODE(path.stat().st_mode) for path in packed.iterdir()} == {0o600}
    assert [timeless(record) for record in records(packed)] == [timeless(record) for record in records(plain)]
    assert len(records(packed)) == 40


def test_a_file_that_is_taken_for_an_orphan_before_it_is_locked_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its records would go into a file that is packed and deleted."""
    opened = os.open
    created: list[Path] = []

    def taken(path: Path, flags: int, *mode: int) -> int:
        descriptor = opened(path, flags, *mode)
        if flags & os.O_EXCL and not created:
            created.append(path)
            assert close_orphans(tmp_path)
        return descriptor

    monkeypatch.setattr(os, "open", taken)
    live = LiveFile.create(tmp_path, 0.0)
    live.write(bytearray(b"{}\n"))
    assert live.path not in created
    assert live.path.read_bytes() == b"{}\n"
    live.close()


def timeless(record: JSON) -> JSON:
    assert record["time"].endswith("Z")
    return {name: value for name, value in record.items() if name != "time"}


def test_parquet_has_columns_others_can_read(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with logging(tmp_path, form="parquet") as log:
        log.observe(batch([item(response="12", metadata={"step": 1})]), [result(reward=0.5, id=7)])
    [path] = tmp_path.iterdir()
    [row] = parquet.read_table(path).to_pylist()
    assert (row["id"], row["reward"], row["metadata"], row["response"]) == ("7", 0.5, '{"step":1}', "12")
    assert row["time"].utcoffset().total_seconds() == 0


def test_parquet_of_before_conversations_is_read(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with logging(tmp_path, form="parquet") as log:
        log.observe(batch([item(response="12")]), [result()])
    [path] = tmp_path.iterdir()
    parquet.write_table(parquet.read_table(path).drop_columns(["response_messages"]), path)
    assert [each["response"] for each in records(tmp_path)] == ["12"]


def test_what_a_killed_process_left_is_closed_and_packed(tmp_path: Path) -> None:
    orphan = tmp_path / f"audit-20260101T000000.000000Z-00000000{LIVE}"
    orphan.write_text('{"half": ')
    unpacked = tmp_path / f"audit-20260101T000001.000000Z-00000000{CLOSED}"
    unpacked.write_text("{}\n")
    stranger = tmp_path / "notes.txt"
    stranger.write_text("mine")
    with logging(tmp_path, form="jsonl.zst") as log:
        eventually(lambda: not orphan.exists() and not unpacked.exists())
        observe(log, ["a"])
    assert names(tmp_path) == ["", "jsonl.zst", "jsonl.zst", "jsonl.zst"]
    assert stranger.read_text() == "mine"


def test_processes_share_a_folder_and_leave_each_others_files_alone(tmp_path: Path) -> None:
    with logging(tmp_path, keep_files=1) as one:
        observe(one, ["one"])
        eventually(lambda: one.records == 1)
        with logging(tmp_path, keep_files=1) as other:
            observe(other, ["other"])
            eventually(lambda: other.records == 1)
            assert names(tmp_path) == ["live.jsonl"] * 2
        assert names(tmp_path) == ["jsonl", "live.jsonl"]
        observe(one, ["more"])
    assert [record["response"] for record in records(tmp_path)] == ["other"]


def test_a_file_that_somebody_deleted_is_begun_anew(tmp_path: Path) -> None:
    with logging(tmp_path) as log:
        observe(log, ["lost"])
        eventually(lambda: log.records == 1)
        for path in tmp_path.iterdir():
            path.unlink()
        observe(log, ["kept"])
    assert [record["response"] for record in records(tmp_path)] == ["kept"]


def test_one_item_that_cannot_be_remembered_costs_no_other(tmp_path: Path) -> None:
    items = [item(response="a"), item(response="b"), ScoreItem("half a character: \ud800"), item(response="c")]
    with logging(tmp_path) as log:
        log.observe(batch(items), [result(), result(detail={"no": object()}), result(), result()])
        log.observe(batch([ScoreItem(None)]), [result()])  # type: ignore[arg-type]  # as a bug of ours would have it
    assert [record["response"] for record in records(tmp_path)] == ["a", "c"]
    assert log.dropped["bug"] == 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 512 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_full_disk_costs_records_and_nothing_else(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 400_000)
    with logging(small_disk / "log") as log:
        for number in range(20):
            observe(log, [f"{number} {TEXT}"] * 20)
            eventually(lambda: log.records + log.dropped.total() == 20 * (number + 1))  # noqa: B023 - at once
        assert log.dropped["disk"] > 0
        assert log.records > 0
        filler.unlink()
        observe(log, ["room again"])
    # What did not fit whole has left no piece behind.
    found = records(small_disk / "log")
    assert len(found) == log.records
    assert found[-1]["response"] == "room again"


def test_a_disk_that_is_full_from_the_start_is_no_trouble_either(small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 512 * 1024)
    with logging(small_disk / "log") as log:
        observe(log, ["lost"])
        eventually(lambda: log.dropped["disk"] == 1)
        filler.unlink()
        observe(log, ["kept"])
    assert [record["response"] for record in records(small_disk / "log")] == ["kept"]


def test_a_disk_that_stays_full_is_left_no_empty_file(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * 512 * 1024)
    with logging(small_disk / "log") as log:
        observe(log, ["lost"])
    assert log.dropped["disk"] == 1
    assert names(small_disk / "log") == []


class Pipe:
    """A disk that takes 64 kB and then nothing until it is read: a named pipe in place of every new file."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = folder / "pipe"
        os.mkfifo(self._path)
        self._descriptor = os.open(self._path, os.O_RDWR)
        monkeypatch.setattr(LiveFile, "create", self._create)

    def _create(self, folder: Path, started_s: float) -> LiveFile:
        return LiveFile(self._path, os.open(self._path, os.O_WRONLY))

    def read_on(self) -> None:
        """From now on it takes everything."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while os.read(self._descriptor, 1 << 16):
            pass


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pipe:
    return Pipe(tmp_path, monkeypatch)


class Echo(Verifier[Params]):
    """Right whatever it is asked."""

    name, version, summary, params = "echo", "1", "test", Params

    async def score(self, items: Sequence[Item[Params]]) -> Sequence[Verdict]:
        return [Verdict.correct() for _ in items]


async def test_a_disk_that_takes_nothing_keeps_nobody_from_scoring(tmp_path: Path, pipe: Pipe) -> None:
    registry = Registry({"echo": Entry(Echo(), [Example("", {}, 1.0, "", "")], "test")})
    log = AuditLog(Options(tmp_path, queue_bytes=2_000_000))
    log.start()
    engine = Engine(
        registry,
        VerdictCache(MemoryCache(0)),
        Metrics("test"),
        workers=1,
        item_deadline_s=PATIENCE_S,
        max_response_bytes=100_000,
        book=recipes.load(registry),
        on_scored=log.observe,
    )
    async with engine:
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        for number in range(50):
            items = [ScoreItem(f"{number} {at} {'x' * 20_000}", "echo") for at in range(5)]
            scored = await engine.score(BatchRequest(items, {}, "use", False, deadline))
            assert [each.score for each in scored.results] == [1.0] * 5
        held = log.queued_bytes
        assert 1_000_000 < held <= 2_000_000
        assert 0 < log.dropped["queue_full"] < 250
        pipe.read_on()
        await asyncio.to_thread(eventually, lambda: log.queued_bytes == 0)
    assert log.records == 250 - log.dropped["queue_full"]
    log.close(PATIENCE_S)


def test_closing_gives_up_on_a_disk_that_takes_nothing(tmp_path: Path, pipe: Pipe) -> None:
    log = AuditLog(Options(tmp_path))
    log.start()
    observe(log, ["first"])
    eventually(lambda: log.records == 1)
    observe(log, [TEXT * 20] * 10)
    log.close(0.05)
    assert log.dropped["shutdown"] == 10
    pipe.read_on()


def test_an_empty_queue_takes_a_batch_of_any_size(tmp_path: Path) -> None:
    with logging(tmp_path, queue_bytes=10) as log:
        observe(log, [TEXT] * 3)
    assert len(records(tmp_path)) == 3


def test_only_the_sample_is_written(tmp_path: Path) -> None:
    with logging(tmp_path, rules=Rules(sample=0.0)) as log:
        log.observe(batch([item(), item()]), [result(), result(status="failed", score=None, reward=None)])
    assert [record["status"] for record in records(tmp_path)] == ["failed"]
