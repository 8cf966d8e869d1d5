"""Scores files on a cluster of Ray: each node has engines, and each engine takes one block of the files after another.

    driver (here)      plans blocks ──► Ray Data: a queue of blocks ──► counts ──► progress, summary
                                              │ one block at a time
    engine             BlockScorer: reads its block, judges it, writes its file and its record

Only the numbers of blocks and counts travel through Ray. If a node or an actor dies, Ray starts the actor anew, where there
is room for it. Its blocks are left, as is a block with trouble and one whose engine lost a part: new engines judge them in
the next pass, whole. After the last pass, a block whose engine has died gets an engine of its own. If that dies, too, the
block's rows are failed.
"""

import asyncio
import logging
import socket
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import ray
from ray.data import ActorPoolStrategy, DataContext
from ray.util.annotations import RayDeprecationWarning
from rewardline import Unavailable

from service.cluster.scorer import LocalEngine
from service.cluster.sizing import NoRoom, engines
from service.rollouts.bad_input import Json
from service.rollouts.block_run import judge_block
from service.rollouts.blocks import Block, plan
from service.rollouts.columns import Columns
from service.rollouts.judging import failed
from service.rollouts.manifest import Manifest
from service.rollouts.tally import Tally
from service.settings import Settings

PASSES: Final = 3
"""How many sets of engines a block may meet before rows without a verdict stay so."""
KNOCK_S: Final = 10.0
_BLOCKS_AT_ONCE: Final = 2
"""An engine begins a block while the last rows of another are judged."""
_TROUBLES: Final = 10
"""So many blocks may have trouble in a pass before as many others must be finished."""


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
    finished = manifest.begin(blocks, job.columns)
    tally = Tally(done_before=sum(outcome.lines for outcome in finished.values()))
    total = sum(block.nbytes for block in blocks)
    unfinished = {block.index: block for block in blocks if block.index not in finished}
    done_bytes = total - sum(block.nbytes for block in unfinished.values())
    on_progress(Progress(done_bytes, total), tally)
    if not unfinished:
        return tally

    def take(outcomes: Iterator[_Outcome]) -> dict[int, str]:
        """Count the blocks that are finished. Returns the trouble of the others."""
        nonlocal done_bytes
        troubles = {}
        for outcome in outcomes:
            if outcome.tally is None:
                troubles[outcome.index] = outcome.trouble
            elif outcome.index in unfinished:
                done_bytes += unfinished.pop(outcome.index).nbytes
                tally.add(outcome.tally)
                on_progress(Progress(done_bytes, total), tally)
        return troubles

    with _cluster(address):
        for attempt in range(PASSES):
            last = attempt == PASSES - 1
            troubles = take(_pass(job, filesystem, manifest, [*unfinished.values()], last=last))
            if not unfinished:
                return tally
        for block in [block for block in unfinished.values() if block.index not in troubles]:
            troubles |= take(_pass(job, filesystem, manifest, [block], last=True))
            if block.index in unfinished and block.index not in troubles:
                troubles |= take(iter([_given_up(job, filesystem, manifest, block)]))
    if not unfinished:
        return tally
    raise CannotRun(
        f"{len(unfinished)} of {len(blocks)} blocks were not finished, and the same command goes on with them; the first: "
        f"{troubles[min(unfinished)]}"
    )


class BlockScorer:
    """An engine. Ray Data calls it with the index of a block."""

    def __init__(
        self, job: Job, filesystem: Any, manifest: Manifest, blocks: Mapping[int, Block], *, workers: int, last: bool
    ) -> None:
        self._job, self._filesystem, self._manifest, self._blocks, self._last = job, filesystem, manifest, blocks, last
        slots = job.settings.box_slots or (0 if job.settings.box_hosts else workers)
        chosen = job.settings.model_copy(update={"box_slots": slots})
        self._engine = LocalEngine(chosen, workers=workers, run_id=job.run_id)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The counts of the block, or why it is not finished."""
        judge = self._engine.judge if self._last else self._engine.judge_or_leave
        block = self._blocks[row["block"]]
        work = judge_block(self._filesystem, block, self._job.columns, judge, self._manifest)
        try:
            return {"block": block.index, "tally": self._engine.run(work).plain(), "trouble": "", "is_ours": False}
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told of, and other blocks go on
            trouble, is_ours = f"{block.path}: {_reason(error)}", isinstance(error, Unavailable)
            return {"block": block.index, "tally": None, "trouble": trouble, "is_ours": is_ours}


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a block: its counts if it is finished, otherwise the trouble."""

    index: int
    tally: Tally | None
    trouble: str = ""


def _pass(job: Job, filesystem: Any, manifest: Manifest, blocks: Sequence[Block], *, last: bool) -> Iterator[_Outcome]:
    """Give these blocks to new engines. A block whose engine dies has no outcome.

    Raises:
        CannotRun: no engine can start, or the trouble is not that of single blocks.
    """
    cpus = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    try:
        workers, count = engines(cpus, len(blocks), job.settings.workers)
    except NoRoom as error:
        raise CannotRun(str(error)) from error
    indices = ray.data.from_items([{"block": block.index} for block in blocks], override_num_blocks=len(blocks))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RayDeprecationWarning)  # no named parameter is max_task_retries
        scored = indices.map(
            BlockScorer,
            fn_constructor_args=(job, filesystem, manifest, {block.index: block for block in blocks}),
            fn_constructor_kwargs={"workers": workers, "last": last},
            compute=ActorPoolStrategy(
                size=count,
                max_tasks_in_flight_per_actor=_BLOCKS_AT_ONCE,
                max_concurrent_calls_per_actor=_BLOCKS_AT_ONCE,
            ),
            num_cpus=workers,
            max_task_retries=0,
        )
    finished = troubled = 0
    try:
        for row in scored.iter_rows():
            outcome = _Outcome(row["block"], row["tally"] and Tally.of_plain(row["tally"]), row["trouble"])
            yield outcome
            finished += outcome.tally is not None
            troubled += outcome.tally is None and not row["is_ours"]
            if troubled > finished + _TROUBLES:
                raise CannotRun(f"{troubled} blocks were not finished; one of them: {outcome.trouble}")
    except ray.exceptions.RayError as error:
        if last or not finished:
            raise CannotRun(_reason(error)) from error


def _given_up(job: Job, filesystem: Any, manifest: Manifest, block: Block) -> _Outcome:
    """Write the rows of a block that ended its engines as such that could not be judged. That is done in a process of its
    own, which may die, too.
    """
    write = ray.remote(_write_failed).options(max_retries=0)
    try:
        return _Outcome(block.index, Tally.of_plain(ray.get(write.remote(job, filesystem, manifest, block))))
    except ray.exceptions.RayError as error:
        return _Outcome(block.index, None, f"{block.path}: what reads it dies ({_reason(error)})")


def _write_failed(job: Job, filesystem: Any, manifest: Manifest, block: Block) -> dict[str, Any]:
    message = (
        "engines died while they judged the block of this row, the last one with no other block: give engines more memory, or "
        "write smaller row groups"
    )

    async def judge(items: Sequence[Json]) -> Sequence[Json]:
        return [failed("engine_died", message)] * len(items)

    return asyncio.run(judge_block(filesystem, block, job.columns, judge, manifest)).plain()


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """A connection to the cluster. A local one ends with it.

    Raises:
        CannotRun: there is no cluster.
    """
    if address.startswith("ray://"):
        raise CannotRun(f"--ray {address}: name HOST:PORT of the cluster's head, or submit the command as a job of Ray")
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    options = {"include_dashboard": False} if address == "local" else {}
    try:
        if address not in ("local", "auto"):
            _knock(address)
        ray.init(address, log_to_driver=False, logging_level="ERROR", **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise CannotRun(f"--ray {address}: {error}") from error
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1  # a block whose engine dies does not end the pass
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
    while (cause := getattr(error, "cause", None) or error.__cause__) is not None:
        error = cause
    return (str(error).strip() or type(error).__name__).splitlines()[-1]
