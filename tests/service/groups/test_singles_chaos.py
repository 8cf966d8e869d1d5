"""Groups fill while replicas and Redis are killed: no member is lost, none is counted twice, none has a middle value."""

import asyncio
import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Serve, Served, serving
from tests.service.groups.test_singles import voting
from tests.service.jobs.stores import silence
from tests.service.jobs.test_processes import look, metric, submit
from tests.service.redis_server import RedisServer
from tests.service.slow_verifier import held, installed
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.chaos

JSON = dict[str, Any]
Key = tuple[int, int]
SIZE, BATCH, CALLERS = 16, 64, 24


class Trainer:
    """Posts members in batches, again and again until each has a number, to whichever replica is there."""

    def __init__(self, members: list[Key], replicas: list[Served], seed: int) -> None:
        self.replicas = replicas
        self.answers: dict[Key, JSON] = {}
        self.reasons: set[str] = set()
        self._count = len(members)
        self._left = members
        self._chance = random.Random(seed)
        self._moved = asyncio.Event()

    @property
    def share(self) -> float:
        """The share of members with an answer."""
        return len(self.answers) / self._count

    async def until(self, share: float) -> None:
        while self.share < share:
            self._moved.clear()
            await self._moved.wait()

    async def run(self) -> None:
        async with httpx.AsyncClient(timeout=2 * PATIENCE_S, limits=httpx.Limits(max_connections=CALLERS)) as client:
            await asyncio.gather(*(self._call(client) for _ in range(CALLERS)))

    async def _call(self, client: httpx.AsyncClient) -> None:
        while len(self.answers) < self._count:
            batch, self._left = self._left[:BATCH], self._left[BATCH:]
            if not batch:
                await asyncio.sleep(0.05)  # the others hold what is left
                continue
            again = batch
            try:
                again = await self._posted(client, batch)
            except httpx.HTTPError:
                await asyncio.sleep(0.05)
            self._chance.shuffle(again)
            self._left += again
            self._moved.set()

    async def _posted(self, client: httpx.AsyncClient, batch: list[Key]) -> list[Key]:
        """Post members. The result are those without a number."""
        body = {"items": [item(*key) for key in batch], "deadline_s": 3}
        reply = await client.post(f"{self._chance.choice(self.replicas).url}/v1/score", json=body)
        if reply.status_code != 200:
            return batch
        found = dict(zip(batch, reply.json()["results"], strict=True))
        for key, result in found.items():
            if result["status"] == "ok":
                assert self.answers.setdefault(key, result)["reward"] == result["reward"]
            else:
                self.reasons.add(result["reason"])
        return [key for key in batch if key not in self.answers]


def item(group: int, at: int) -> JSON:
    """0 is the answer of six of sixteen, 1 and 2 of five each."""
    named = {"id": f"chaos{group}", "size": SIZE, "member": at, "wait_s": 3600, "method": "majority"}
    return {"verifier": "math", "response": f"\\boxed{{{at % 3}}}", "group": named}


@pytest.mark.parametrize("groups", [50, 500])
async def test_nothing_is_lost_or_counted_twice(
    serve: Serve, start_redis: Callable[..., RedisServer], groups: int
) -> None:
    redis_server = start_redis("--appendonly", "yes", "--appendfsync", "always")
    replicas = [serve(redis_url=redis_server.url, workers="1") for _ in range(2)]
    members = [(group, at) for group in range(groups) for at in range(SIZE)]
    random.Random(groups).shuffle(members)
    trainer = Trainer(members, replicas, groups)
    running = asyncio.create_task(trainer.run())
    for at, share in enumerate((0.02, 0.2, 0.4, 0.6)):
        await asyncio.wait([running, asyncio.ensure_future(trainer.until(share))], return_when="FIRST_COMPLETED")
        dead = replicas.pop(0)
        dead.process.kill()
        if at % 2:
            redis_server.kill()
            await asyncio.to_thread(redis_server.start)
        replicas.append(await asyncio.to_thread(serve, redis_url=redis_server.url, workers="1"))
    await running
    assert trainer.answers.keys() == set(members)
    for group in range(groups):
        results = [trainer.answers[group, at] for at in range(SIZE)]
        assert [one["reward"] for one in results] == [float(at % 3 == 0) for at in range(SIZE)]
        assert {str(one["detail"]["group"]) for one in results} == {str(results[0]["detail"]["group"])}
        assert results[0]["detail"]["group"]["members"] == [str(at) for at in range(SIZE)]
    assert trainer.reasons <= {"deadline", "group_unavailable", "group_lost"}


def test_groups_of_a_job_outlive_the_replica_that_began_it(
    tmp_path: Path, start_redis: Callable[..., RedisServer]
) -> None:
    """It dies when half of the groups are judged; one of the others waits for a file. Redis says that it is silent."""
    redis_server = start_redis("--appendonly", "yes", "--appendfsync", "always")
    settings = {"redis_url": redis_server.url, "sandbox": "none", "workers": "1", "job_claim_idle_s": "600"}
    settings |= {"item_deadline_s": "600", "default_deadline_s": "600"}
    goes_on, plugins = tmp_path / "goes on", installed(tmp_path / "plugins")
    waiting = {**held(3, goes_on)[1], "group": {"id": "waiting", "size": 2, "method": "score"}}
    with ExitStack() as stack:
        replicas = [stack.enter_context(serving(tmp_path / f"{at}.log", (), plugins, **settings)) for at in range(2)]
        job_id = submit(replicas[0], [*voting(120), waiting, waiting])
        before = look(replicas[1], job_id, after=511, wait_s=60)
        assert (before["state"], before["done"]) == ("running", 512)
        [busy] = [replica for replica in replicas if metric(replica, "under_way")]
        [spare] = [replica for replica in replicas if replica is not busy]
        busy.process.kill()
        silence(redis_server, job_id)
        goes_on.touch()
        body = look(spare, job_id, wait_s=60)
        assert metric(spare, "taken_over_total") == 1
    results = sorted(body["results"], key=lambda result: int(result["index"]))
    assert (body["state"], [result["index"] for result in results]) == ("done", [*range(962)])
    assert [result["reward"] for result in results] == [1.0] * 840 + [0.0] * 120 + [1.0] * 2
    assert {(result["status"], result["reason"]) for result in results[:960]} == {
        ("ok", "majority"),
        ("ok", "minority"),
    }
