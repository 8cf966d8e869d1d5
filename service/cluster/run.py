"""Scores files on a cluster of Ray: each node has an engine, and each engine takes one block of the files after another.

    driver (here)      plans blocks ──► Ray Data: a queue of blocks ──► counts ──► progress, summary
                                              │ one block at a time
    node               BlockScorer: reads its block, judges it, writes its file and its record

Only the numbers of blocks and counts travel through Ray. If a node or an actor dies, Ray starts the actor elsewhere and
gives it the block again; a block without a record is judged anew, whole. If an engine could not judge rows because it lost
a part, its block is left, and judged by new engines in the next pass.
"""

import logging
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import ray
from ray.data import ActorPoolStrategy, DataContext
from rewardline import Unavailable

from service.cluster.scorer import LocalEngine
from service.rollouts.block_run import judge_block
from service.rollouts.blocks import Block, plan
from service.rollouts.columns import Columns
from service.rollouts.manifest import Manifest
from service.rollouts.tally import Tally
from service.settings import Settings

PASSES: Final = 3
"""How many sets of engines a block may meet before rows without a verdict stay so."""
KNOCK_S: Final = 10.0
_BLOCKS_AT_ONCE: Final = 2
"""An engine begins a block while the last rows of another are judged."""
_CPUS: Final = 0.01
"""What an engine reserves. It uses all cores of its node; but if it reserved them, it could not move to another node when
its own is lost."""


class CannotRun(Exception):
    """There is no cluster, or it cannot do the run. The message says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a run does."""

    source: str
    target: str
    columns: Columns
    settings: Settings
    run_id: str = ""
    overwrite: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, in bytes of the input."""

    done: int
    total: int


def score(job: Job, address: str, on_progress: Callable[[Progress, Tally], None]) -> Tally:
    """Judge every block that is not finished.

    Args:
        job: What to do.
        address: `local` for a cluster on this machine that ends with the run, `auto` for the one that this machine
            belongs to, or the address of another.
        on_progress: Told of each block.

    Raises:
        BadInput: the input cannot be read, or the output cannot be written.
        CannotRun: there is no cluster, or no engine can start there.
    """
    manifest = Manifest.at(job.target)
    filesystem, blocks = plan(job.source, job.columns)
    if job.overwrite:
        manifest.clear()
    before = manifest.begin(blocks, job.columns)
    tally = Tally(done_before=sum(each.lines for each in before.values()))
    total = sum(block.nbytes for block in blocks)
    left = {block.index: block for block in blocks if block.index not in before}
    done = total - sum(block.nbytes for block in left.values())
    on_progress(Progress(done, total), tally)
    if not left:
        return tally
    with _cluster(address):
        for attempt in range(PASSES):
            last = attempt == PASSES - 1
            for index, counted in _pass(job, filesystem, manifest, [*left.values()], last=last):
                if counted is not None and index in left:
                    done += left.pop(index).nbytes
                    tally.add(counted)
                    on_progress(Progress(done, total), tally)
            if not left:
                return tally
    raise CannotRun(f"{len(left)} of {len(blocks)} blocks were not finished; the same command goes on with them")


class BlockScorer:
    """The engine of a node. Ray Data calls it with the index of a block."""

    def __init__(
        self, job: Job, filesystem: Any, manifest: Manifest, blocks: Mapping[int, Block], *, workers: int, last: bool
    ) -> None:
        self._job, self._filesystem, self._manifest, self._blocks, self._last = job, filesystem, manifest, blocks, last
        self._engine = LocalEngine(job.settings, workers=workers, run_id=job.run_id)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The counts of the block, or none if other engines must judge it."""
        judge = self._engine.judge if self._last else self._engine.judge_or_leave
        block = self._blocks[row["block"]]
        work = judge_block(self._filesystem, block, self._job.columns, judge, self._manifest)
        try:
            return {"block": block.index, "tally": self._engine.run(work).plain()}
        except Unavailable:
            return {"block": block.index, "tally": None}


def _pass(
    job: Job, filesystem: Any, manifest: Manifest, blocks: Sequence[Block], *, last: bool
) -> Iterator[tuple[int, Tally | None]]:
    """Give these blocks to new engines. Yields each block's index, and its counts if it is finished. Trouble with one of
    the blocks ends the pass.

    Raises:
        CannotRun: no engine can start, or there was trouble and nothing was finished, or it was the last pass.
    """
    nodes = [node["Resources"]["CPU"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise CannotRun("no node of the cluster has a CPU for an engine")
    engines = min(len(nodes), len(blocks))
    scored = ray.data.from_items([{"block": block.index} for block in blocks], override_num_blocks=len(blocks)).map(
        BlockScorer,
        fn_constructor_args=(job, filesystem, manifest, {block.index: block for block in blocks}),
        fn_constructor_kwargs={"workers": job.settings.workers or int(min(nodes)), "last": last},
        compute=ActorPoolStrategy(
            size=engines,
            max_tasks_in_flight_per_actor=_BLOCKS_AT_ONCE,
            max_concurrent_calls_per_actor=_BLOCKS_AT_ONCE,
        ),
        num_cpus=_CPUS,
    )
    finished = 0
    try:
        for row in scored.iter_rows():
            finished += row["tally"] is not None
            yield row["block"], None if row["tally"] is None else Tally.of_plain(row["tally"])
    except ray.exceptions.RayError as error:
        if last or not finished:
            raise CannotRun(_reason(error)) from error


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """A connection to the cluster. A local one ends with it.

    Raises:
        CannotRun: there is no cluster.
    """
    if address.startswith("ray://"):
        raise CannotRun(f"--ray {address}: name HOST:PORT of the cluster's head, or submit the command as a job of Ray")
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    options = {"include_dashboard": False} if address == "local" else {}
    try:
        if address not in ("local", "auto"):
            _knock(address)
        ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise CannotRun(f"--ray {address}: {error}") from error
    context = DataContext.get_current()
    context.enable_progress_bars = False
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Ray itself would ask for minutes.

    Raises:
        OSError, ValueError: nobody listens there.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("write local, auto or HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()


def _reason(error: BaseException) -> str:
    """The innermost cause, in one line."""
    while (inner := getattr(error, "cause", None) or error.__cause__) is not None:
        error = inner
    return str(error).strip().splitlines()[-1]
