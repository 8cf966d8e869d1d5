"""`python -m tests.benchmarks.audit_speed`: what the audit log costs the event loop, and how much it writes.

It measures the hand-over alone; how fast the thread empties a full queue; packing; and a whole engine that scores new
items as fast as it can, with and without the log, and how late the event loop is meanwhile.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import msgspec
import uvloop
from rich.console import Console

from service.observe.audit_log.archive import Form, pack
from service.observe.audit_log.records import Rules
from service.observe.audit_log.writer import AuditLog, Options
from service.run.core import open_core
from service.settings import Settings
from service.wire import BatchRequest, Result, ScoreItem
from tests.benchmarks.report import Cell, Report, machine

_RESPONSE_CHARS = 4_000
_BATCH_ITEMS = 256
_BATCHES = 200
_FORMS: Sequence[Form] = ("jsonl.gz", "jsonl.zst", "parquet")


def _batch(number: int) -> BatchRequest:
    drawn = random.Random(number)
    words = [str(drawn.getrandbits(24)) for _ in range(_BATCH_ITEMS * 8)]
    text = " ".join(words)
    items = [
        ScoreItem(
            f"{number} {at} {text[at : at + _RESPONSE_CHARS - 20]}",
            "exact_match",
            msgspec.Raw(b'"12"'),
            id=f"p{number}-{at}",
            metadata=msgspec.Raw(b'{"step":3,"group":17}'),
        )
        for at in range(_BATCH_ITEMS)
    ]
    return BatchRequest(items, {}, "off", False, float("inf"))


def _results(batch: BatchRequest) -> list[Result]:
    return [
        Result(item.id or 0, "ok", 0.0, 0.0, "wrong_answer", "exact_match", "1", "12", {}, False, 0.1)
        for item in batch.items
    ]


def _run(rules: Rules) -> dict[str, Cell]:
    batches = [(batch, _results(batch)) for batch in map(_batch, range(_BATCHES))]
    with tempfile.TemporaryDirectory() as folder:
        log = AuditLog(Options(Path(folder), rules, queue_bytes=10**10))
        log.start()
        walls, cpus = [], []
        for batch, results in batches:
            wall, cpu = time.perf_counter(), time.thread_time()
            log.observe(batch, results)
            cpus.append((time.thread_time() - cpu) / _BATCH_ITEMS * 1e6)
            walls.append((time.perf_counter() - wall) / _BATCH_ITEMS * 1e6)
        log.close(600)
        log = AuditLog(Options(Path(folder), rules, rotate_bytes=10**10, queue_bytes=10**10))
        for batch, results in batches:
            log.observe(batch, results)
        wall, cpu = time.perf_counter(), time.process_time()
        log.start()
        log.close(600)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    items = _BATCHES * _BATCH_ITEMS
    return {
        "rules": f"sample {rules.sample:g}{', redacted' if rules.redact else ''}",
        "hand-over us/item": median(walls),
        "its CPU us/item": sum(cpus) / len(cpus),
        "written items/s": items / wall,
        "MB/s": log.nbytes / wall / 1e6,
        "writer CPU us/item": cpu / items * 1e6,
    }


def _packing() -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for form in _FORMS:
        with tempfile.TemporaryDirectory() as folder:
            log = AuditLog(Options(Path(folder), rotate_bytes=10**10, queue_bytes=10**10))
            log.start()
            for batch in map(_batch, range(100)):
                log.observe(batch, _results(batch))
            log.close(600)
            [path] = Path(folder).iterdir()
            before = path.stat().st_size
            started = time.perf_counter()
            pack(path, form)
            seconds = time.perf_counter() - started
            [packed] = Path(folder).iterdir()
            rows.append({"form": form, "MB/s": before / seconds / 1e6, "ratio": before / packed.stat().st_size})
    return rows


async def _engine(settings: Settings, seconds: float) -> dict[str, Cell]:
    async with open_core(settings) as core:
        delays: list[float] = []
        done = 0
        loop = asyncio.get_running_loop()

        async def tick() -> None:
            while True:
                due = loop.time() + 0.005
                await asyncio.sleep(0.005)
                delays.append((loop.time() - due) * 1000)

        ticking = asyncio.create_task(tick())
        ends, loop_cpu, cpu = loop.time() + seconds, time.thread_time(), time.process_time()
        batches = [_batch(number) for number in range(20)]
        while loop.time() < ends:
            batch = replace(batches[done // _BATCH_ITEMS % 20], deadline=loop.time() + 60)
            await core.engine.score(batch)
            done += _BATCH_ITEMS
            await asyncio.sleep(0)
        ticking.cancel()
        delays.sort()
        return {
            "items/s": done / seconds,
            "loop CPU us/item": (time.thread_time() - loop_cpu) / done * 1e6,
            "all CPU us/item": (time.process_time() - cpu) / done * 1e6,
            "loop delay ms": median(delays),
            "p99 ms": delays[int(len(delays) * 0.99)],
        }


def _engines(seconds: float) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for _ in range(3):
        for label, options in (("off", None), ("all", {}), ("1 %", {"audit_sample": 0.01})):
            with tempfile.TemporaryDirectory() as folder:
                chosen = {} if options is None else {"audit_dir": Path(folder), "audit_rotate_mb": 1e6, **options}
                settings = Settings(sandbox="none", **chosen)  # type: ignore[arg-type]  # of mixed types
                rows.append({"log": label, **uvloop.run(_engine(settings, seconds))})
    return rows


def main() -> None:
    console = Console(width=120)
    console.print(machine())
    note = f"{_BATCH_ITEMS} items a batch, {_RESPONSE_CHARS} characters a response."
    runs = [_run(rules) for rules in (Rules(), Rules(redact=True), Rules(sample=0.01))]
    Report("Hand-over and writing", note, runs).show(console)
    Report("Packing of closed files", "In one thread.", _packing()).show(console)
    Report("A whole engine", "exact_match, new items, no cache; three rounds.", _engines(4.0)).show(console)


if __name__ == "__main__":
    main()
