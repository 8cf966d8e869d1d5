"""`Scorer` judges the rows of a data set of Ray: `dataset.map_batches(Scorer, ...)`.

An instance has an engine of its own, with workers and boxes, in the process of its actor.
"""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import pyarrow as pa
import uvloop
from rewardline import Unavailable

from service.cluster.engine_actor import EngineActor
from service.rollouts.bad_input import Json
from service.rollouts.block_run import fields_of, table_with_verdicts
from service.rollouts.columns import Columns
from service.rollouts.judging import judge_fields
from service.settings import Settings

BATCH_DEADLINE_S: Final = 3600.0
RESENDS: Final = 2
"""How often an item is judged again that could not be judged."""
NEW_ENGINES: Final = 2
"""How many engines a batch may wear out before rows without a verdict stay so."""
CLOSE_S: Final = 30.0
T = TypeVar("T")


class LocalEngine:
    """An engine in this process, with an event loop in a thread of its own. Any thread may use it."""

    def __init__(
        self, chosen: Settings | None = None, *, workers: int | None = None, explain: bool = False, run_id: str = ""
    ) -> None:
        """
        Args:
            chosen: The settings. None: those of the environment here.
            workers: Worker processes, in place of what the settings say.
            explain: Whether verdicts have explanations.
            run_id: The run that usage is counted for.

        Raises:
            Unavailable: the engine cannot start.
        """
        self._explain, self._run_id = explain, run_id
        self._loop = uvloop.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="rewardline-engine", daemon=True).start()
        self._engine = EngineActor(chosen, workers=workers)
        self.run(self._engine.start())
        self._absent = self.run(self._lost())
        """What was not there from the beginning, such as boxes on a machine without any."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine beside the engine, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the engine. What is under way here has `CLOSE_S` seconds to finish."""
        with suppress(TimeoutError):
            self.run(asyncio.wait_for(self._engine.drain(), CLOSE_S))
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def judge_or_leave(self, items: Sequence[Json]) -> list[Json]:
        """As `judge`, for items that another engine may judge.

        Raises:
            Unavailable: items could not be judged, and the engine has lost a part since its start.
        """
        results = await self.judge(items)
        if any(result["status"] == "failed" for result in results) and (
            lost_parts := await self._lost() - self._absent
        ):
            raise Unavailable("unavailable", f"the engine has lost {sorted(lost_parts)}")
        return results

    async def judge(self, items: Sequence[Json]) -> list[Json]:
        """One result per item, in order. Items that could not be judged are tried again."""
        results = await self._score(items)
        for _ in range(RESENDS):
            missed = [at for at, result in enumerate(results) if result["status"] == "failed"]
            if not missed:
                return results
            for at, result in zip(missed, await self._score([items[at] for at in missed]), strict=True):
                results[at] = result
        return results

    async def _score(self, items: Sequence[Json]) -> list[Json]:
        return await self._engine.score(items, deadline_s=BATCH_DEADLINE_S, explain=self._explain, run_id=self._run_id)

    async def _lost(self) -> frozenset[str]:
        health = await self._engine.health()
        return frozenset([*health["problems"], *health["lacks"]])


class Scorer:
    """Judges batches of rows, and adds the columns `verdict_status`, `verdict_score`, `verdict_reason` and so on.

    `dataset.map_batches(Scorer, batch_format="pyarrow", concurrency=2)` judges with two engines. The rows have a
    response and a reference, in columns as those of `rewardline score`. Rows that cannot be judged have no score.
    """

    def __init__(
        self,
        *,
        verifier: str | None = None,
        recipe: str | None = None,
        response_field: str | None = None,
        reference_field: str | None = None,
        explain: bool = False,
        run_id: str = "",
        workers: int | None = None,
    ) -> None:
        """
        Args:
            verifier: The verifier of all rows. None: each row names its own, or has labels for a route.
            recipe: The recipe of all rows, in place of a verifier.
            response_field: The column of responses. Default: response, completion or output.
            reference_field: The column of references. Default: reference, ground_truth, gold, answer or solution.
            explain: Whether verdicts have explanations.
            run_id: The run that usage is counted for.
            workers: Worker processes of this engine. Default: as the settings say.

        Raises:
            Unavailable: the engine cannot start. The message says why.
        """
        self._columns = Columns(verifier, recipe, response_field, reference_field)
        self._workers, self._explain, self._run_id = workers, explain, run_id
        self._engine = self._open()

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The batch with the columns of verdicts. If the engine has lost a part that rows need, a new engine judges them.

        Raises:
            BadInput: the batch has no column of responses.
        """
        self._columns.need_response(batch.column_names, "the batch")
        return table_with_verdicts(batch, self._judged(fields_of(batch, self._columns)))

    def _open(self) -> LocalEngine:
        return LocalEngine(workers=self._workers, explain=self._explain, run_id=self._run_id)

    def _judged(self, rows: Sequence[Json]) -> list[Json]:
        for _ in range(NEW_ENGINES):
            try:
                return self._engine.run(judge_fields(rows, self._columns, self._engine.judge_or_leave))
            except Unavailable:
                self._engine.close()
                self._engine = self._open()
        return self._engine.run(judge_fields(rows, self._columns, self._engine.judge))
