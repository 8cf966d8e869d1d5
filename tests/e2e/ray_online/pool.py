"""A pool in a real Ray cluster, while its actors and nodes are killed. Prints one line of JSON."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import ray
import rewardline.ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from ray_cluster import SETTINGS, Ledger, add_node, cluster, item
from rewardline.hook import Hook

BATCH = 40
POLL_S = 0.2
TRAINER = """if True:
    import sys
    sys.modules["service"] = None  # as where no server is installed
    from rewardline.hook import Hook
    hook, voting = Hook(verifier="math"), Hook(verifier="math", group={"method": "majority"})
    texts = [f"\\\\boxed{{{at}}}" for at in range(5)]
    rows = [hook.item(text, reference="3") for text in texts]
    votes = [voting.item(text, prompt="2+1=") for text in (*texts, texts[3])]
    whole = {"verifier": "math", "responses": [*texts, texts[3]]}
    [group] = hook.blocking_client().score_groups([whole], method="majority")
    scores = [each.score for each in hook.score_blocking(rows)]
    print([scores, [each.reward for each in voting.score_blocking(votes)], [each["reward"] for each in group["members"]]])
"""


class Worker:
    """A reward worker as trainers have them: an actor with a hook, which its environment tells where to ask."""

    def __init__(self) -> None:
        self._hook = Hook()

    async def judge(self, places: list[int]) -> list[Any]:
        return await asyncio.gather(*(self._hook.score_one(item(at)) for at in places))


async def judged_during(first: int, trouble: Callable[[], Awaitable[None]]) -> dict[str, int]:
    """Judge rows, by the handle and by hooks in actors, for as long as the trouble lasts and a little longer."""
    ledger = Ledger()
    over = asyncio.Event()
    places = iter(range(first, first + 1_000_000))
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    asking = {"env_vars": {"REWARDLINE_URL": "ray://judges"}}
    made = ray.remote(Worker).options(num_cpus=0, runtime_env=asking, scheduling_strategy=here)
    workers = [made.remote() for _ in range(2)]

    async def by_handle(handle: rewardline.ray.Rewards) -> None:
        while not over.is_set():
            some = [next(places) for _ in range(BATCH)]
            ledger.take(some, await handle.score([item(at) for at in some]))

    async def by_hook(worker: Any) -> None:
        while not over.is_set():
            some = [next(places) for _ in range(BATCH)]
            ledger.take(some, await worker.judge.remote(some))

    async with rewardline.ray.Rewards("judges", timeout_s=300.0, max_retries=1_000_000) as handle:
        working = [asyncio.create_task(each) for each in (by_handle(handle), by_handle(handle), *map(by_hook, workers))]
        await asyncio.sleep(0)
        try:
            await trouble()
        finally:
            over.set()
        await asyncio.gather(*working)
    for worker in workers:
        ray.kill(worker)
    account: dict[str, int] = ledger.account()
    return account


async def every_actor_answers(count: int) -> None:
    """Wait until so many actors can judge."""
    while True:
        known = await asyncio.to_thread(rewardline.ray.status, "judges")
        if sum(not each["problems"] for each in known.values()) >= count:
            return
        await asyncio.sleep(POLL_S)


def main() -> None:
    outcomes: dict[str, Any] = {}
    with cluster(nodes=2) as made:
        outcomes["started"] = rewardline.ray.start("judges", environment=SETTINGS)
        outcomes["again"] = rewardline.ray.start("judges", environment=SETTINGS)

        async def kill_actors() -> None:
            for name in outcomes["started"]:
                ray.kill(ray.get_actor(name, namespace="rewardline"), no_restart=False)
                await every_actor_answers(2)

        async def lose_a_node() -> None:
            made.remove_node(made.list_all_nodes()[-1], allow_graceful=False)
            add_node(made)
            await every_actor_answers(2)

        outcomes["actors"] = asyncio.run(judged_during(0, kill_actors))
        outcomes["node"] = asyncio.run(judged_during(1_000_000, lose_a_node))
        outcomes["trainer"] = json.loads(
            subprocess.run(
                [sys.executable, "-c", TRAINER],
                env={**os.environ, "REWARDLINE_URL": "ray://judges", "RAY_ADDRESS": made.address},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout.splitlines()[-1]
        )
        outcomes["status"] = rewardline.ray.status("judges")
        outcomes["stopped"] = rewardline.ray.stop("judges")
        outcomes["left"] = rewardline.ray.status("judges")
        try:
            rewardline.ray.start("judges", environment={"REWARDLINE_CACHE_TTL_S": "soon"})
        except rewardline.Unavailable as error:
            outcomes["refused"] = str(error)
        rewardline.ray.stop("judges")
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
