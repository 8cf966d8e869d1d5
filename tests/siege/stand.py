"""A besieged service: it is given items, and what it holds is measured when it is at rest."""

import json
import os
import re
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from tests.benchmarks.servers import rss_mb
from tests.chaos.servers import workers
from tests.conftest import serving
from tests.judge_upstream.grader import Grader
from tests.processes import descendants, gone
from tests.siege.fresh.items import posted
from tests.waiting import PATIENCE_S, eventually

P = TypeVar("P")
R = TypeVar("R")
BATCH_ITEMS: Final = 256
_BESIDE_BATCHES: Final = 2
_WORKERS: Final = 2
_DEADLINE_S: Final = 600
_IDLE_S: Final = 1.0
"""A connection that was idle for so long may have been closed by the service. The next request opens another."""
_SAMPLE: Final = re.compile(r"^rewardline_(\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_TRIMS: Final = 2
"""Free memory has gone back to the system when it was given back twice while nothing ran."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_BUSY: Final = ("in_flight_items", "in_flight_requests", "workers_busy", "workers_queued_items", "queue_items")


@dataclass(frozen=True, slots=True)
class Held:
    """What the service and its workers hold at rest."""

    service_mb: float
    workers_mb: float
    """That of the largest, for each of them: one that was replaced after a slow item begins anew."""
    memories_mb: float
    """What both remember, as `/metrics` says. It is bounded."""
    blocks: int
    """Of Python's memory that the service has in use. A size that grows without them is no leak of objects."""
    free_mb: float
    """Of the service, free inside the C library's heap."""

    @property
    def mb(self) -> float:
        return self.service_mb + self.workers_mb

    def __sub__(self, other: "Held") -> "Held":
        return Held(
            self.service_mb - other.service_mb,
            self.workers_mb - other.workers_mb,
            self.memories_mb - other.memories_mb,
            self.blocks - other.blocks,
            self.free_mb - other.free_mb,
        )


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds so far."""

    service_s: float
    below_s: float
    """Of all processes below the service: workers and boxes, also those that have ended."""

    @property
    def all_s(self) -> float:
        return self.service_s + self.below_s


class Caller:
    """A connection to a service, over which one request follows the other."""

    def __init__(self, url: str, headers: Mapping[str, str] = {}) -> None:
        """`headers` are sent with each request."""
        self.url = url
        self.headers = headers
        self._connection = HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE_S)
        self._used_s = 0.0

    def close(self) -> None:
        self._connection.close()

    def judge(self, verifier: str, indices: range) -> Counter[str]:
        """Post the items of these indices in one batch. Returns how many verdicts were `right`, or what they were instead."""
        items = [posted(verifier, index) for index in indices]
        batch = {"items": [item.fields(verifier) for item in items], "deadline_s": _DEADLINE_S}
        results = self.post("/v1/score", batch)["results"]
        outcomes = Counter[str]()
        for item, result in zip(items, results, strict=True):
            is_right = result["status"] == "ok" and result["score"] == item.score
            outcomes["right" if is_right else f"{result['status']} {result['reason']} {result['score']}"] += 1
        return outcomes

    def post(self, path: str, value: Any) -> Any:
        return self.request("POST", path, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def request(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Any:
        """The answer's JSON; None without any."""
        content = self.read(method, path, body, headers)
        return json.loads(content) if content else None

    def read(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> bytes:
        if time.monotonic() - self._used_s > _IDLE_S:
            self._connection.close()
        self._connection.request(method, path, body, {**headers, **self.headers})
        answer = self._connection.getresponse()
        content = answer.read()
        self._used_s = time.monotonic()
        assert answer.status < HTTPStatus.MULTIPLE_CHOICES, (method, path, answer.status, content[:500])
        return content


class Stand(Caller):
    def __init__(self, url: str, ops: str, pid: int) -> None:
        super().__init__(url)
        self.pid = pid
        self._ops = Caller(ops)

    def close(self) -> None:
        super().close()
        self._ops.close()

    def judge_all(self, verifier: str, indices: range, batch_items: int = BATCH_ITEMS) -> Counter[str]:
        """Post the items of these indices in batches, two at a time: one is made while the other is judged."""
        batches = [
            range(start, min(start + batch_items, indices.stop))
            for start in range(indices.start, indices.stop, batch_items)
        ]
        return sum(self.share(_BESIDE_BATCHES, batches, lambda caller, batch: caller.judge(verifier, batch)), Counter())

    def share(self, callers: int, parts: Sequence[P], work: Callable[[Caller, P], R]) -> Iterable[R]:
        """Do the work for each part, by several callers at once. An error ends it."""
        failed = threading.Event()

        def do(share: Sequence[P]) -> list[R]:
            with closing(Caller(self.url)) as caller:
                try:
                    return [work(caller, part) for part in share if not failed.is_set()]
                except BaseException:
                    failed.set()
                    raise

        with ThreadPoolExecutor(callers) as pool:
            shares = [pool.submit(do, parts[number::callers]) for number in range(callers)]
            return [result for share in shares for result in share.result()]

    def metrics(self) -> Mapping[str, Mapping[str, float]]:
        """The samples of each metric, by their labels' values. Names have no `rewardline_`."""
        found: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for name, labels, value in _SAMPLE.findall(self._ops.read("GET", "/metrics").decode()):
            found[name][" ".join(_LABEL.findall(labels))] = float(value)
        return found

    def begin_steps(self) -> None:
        """Forget the steps so far. No scrape asks whether it is done: it would be the first step."""
        os.kill(self.pid, signal.SIGUSR2)

    def longest_step(self) -> tuple[str, float]:
        """The longest step since `begin_steps`: the name of its task, and CPU seconds."""
        return max(self.metrics()["siege_step_seconds"].items(), key=lambda step: step[1])

    def stalls(self, at_least_s: float) -> float:
        """How many steps of this CPU time or more the service's own watch of its loop has counted, without scrapes."""
        buckets = self.metrics()
        return sum(
            value - buckets["loop_stall_seconds_bucket"][f"{labels.rpartition(' ')[0]} {at_least_s}"]
            for labels, value in buckets["loop_stall_seconds_bucket"].items()
            if labels.endswith(" +Inf") and not labels.startswith("service.observe.")
        )

    def rest(self) -> Held:
        """Wait until nothing is being judged, garbage was collected, and free memory was given back, then measure."""
        eventually(self._is_idle)
        for pid in (self.pid, *workers(self.pid)):
            os.kill(pid, signal.SIGUSR1)
        used_s = -1.0
        while (now_s := sum(sum(_cpu_s(pid)) for pid in workers(self.pid))) != used_s:
            used_s = now_s
            self._await_trims()
        assert self._is_idle()
        return self.held()

    def held(self) -> Held:
        metrics = self.metrics()
        memories = sum(sum(metrics[name].values()) for name in ("memory_bytes", "worker_memory_bytes"))
        largest = max((_rss_mb(worker) for worker in workers(self.pid)), default=0.0)
        blocks, free_bytes = (sum(metrics[name].values()) for name in ("siege_blocks", "siege_free_heap_bytes"))
        return Held(rss_mb(self.pid), _WORKERS * largest, memories / 1e6, int(blocks), free_bytes / 1e6)

    def _await_trims(self) -> None:
        enough = self.total("siege_trims_total") + _TRIMS
        eventually(lambda: self.total("siege_trims_total") >= enough)

    def spent(self) -> Spent:
        own, ended = _cpu_s(self.pid)
        return Spent(own, ended + sum(sum(_cpu_s(pid)) for pid in descendants(self.pid)))

    def _is_idle(self) -> bool:
        metrics = self.metrics()
        return not any(sum(metrics[name].values()) for name in _BUSY)

    def total(self, name: str) -> float:
        """The sum of a metric over all labels."""
        return sum(self.metrics()[name].values())


def _rss_mb(pid: int) -> float:
    with gone():
        return rss_mb(pid)
    return 0.0


def _cpu_s(pid: int) -> tuple[float, float]:
    """CPU seconds of a process, and of the children of it that have ended; 0 if it has ended itself."""
    with gone():
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        user, system, user_of_children, system_of_children = (int(field) / _TICKS for field in fields[11:15])
        return user + system, user_of_children + system_of_children
    return 0.0, 0.0


@contextmanager
def besieged(*, answers_memory_mb: float = 128, **settings: str) -> Iterator[Stand]:
    """The service of `tests.siege.served`, with an honest judge and boxes of its own. Caches have their default sizes."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        judges = stack.enter_context(Grader()).file(Path(folder), answers_memory_mb=answers_memory_mb)
        options = {"sandbox": "local", "judge_file": str(judges), "ops_port": "0", "log_level": "error"}
        options |= {"workers": str(_WORKERS), **settings}
        log = Path(folder) / "log.jsonl"
        served = stack.enter_context(serving(log, (), None, "tests.siege.served", **options))
        stand = Stand(served.url, served.ops, served.process.pid)
        stack.callback(stand.close)
        yield stand
