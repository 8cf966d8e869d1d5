"""`online.py URL SAMPLES` asks a service one batch after the other. Prints JSON: figures for each size of batch.

With a URL of `ray://NAME`, a pool is started first, in a cluster of this machine that ends with the process.
"""

import asyncio
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ray
import rewardline.ray
from rewardline import AsyncClient

SIZES = (1, 64, 1024)
WARM_ITEMS = 2048


def main(url: str, file: str, batches: str) -> None:
    samples = json.loads(Path(file).read_text())
    if url.startswith("ray://"):
        ray.init(address="local", include_dashboard=False, log_to_driver=False)
        cores = len(os.sched_getaffinity(0))
        rewardline.ray.start(url.removeprefix("ray://"), cpus=cores, environment={"REWARDLINE_SANDBOX": "none"})
    print(json.dumps(asyncio.run(measured(url, items(samples), int(batches)))))


def items(samples: list[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """No two are equal, so no verdict is remembered."""
    for number in itertools.count():
        sample = samples[number % len(samples)]
        yield {"verifier": "math", "response": f"Try {number}. {sample['response']}", "reference": sample["gold"]}


async def measured(url: str, each: Iterator[dict[str, Any]], batches: int) -> list[dict[str, float]]:
    async with AsyncClient(url, timeout_s=300) as client:
        await client.score([*itertools.islice(each, WARM_ITEMS)])
        return [await of_size(client, each, size, batches) for size in SIZES]


async def of_size(client: AsyncClient, each: Iterator[dict[str, Any]], size: int, batches: int) -> dict[str, float]:
    took = []
    for _ in range(max(3, batches // size)):
        batch = [*itertools.islice(each, size)]
        begin = time.perf_counter()
        results = await client.score(batch)
        took.append(time.perf_counter() - begin)
        assert all(result.status == "ok" for result in results)
    return {"batch": size, "median_ms": statistics.median(took) * 1000, "items_per_s": size * len(took) / sum(took)}


if __name__ == "__main__":
    main(*sys.argv[1:])
