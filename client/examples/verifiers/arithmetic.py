"""A taskset for Prime's `verifiers`, and so for prime-rl, rewarded by Rewardline; the server is REWARDLINE_URL."""

from collections.abc import Iterator

import verifiers.v1 as vf  # type: ignore[import-untyped]  # for this repository, the name is another package

from rewardline.hook import Hook
from rewardline.verifiers import Rewarded


class Sum(vf.TaskData):
    answer: str


class SumTask(Rewarded, vf.Task[Sum]):
    rewardline = Hook(verifier="math")


class Sums(vf.Taskset[SumTask, vf.TasksetConfig]):
    def load(self) -> Iterator[SumTask]:
        for number in range(10, 100):
            yield SumTask(Sum(prompt=f"What is {number}+{number}? Box the answer.", answer=str(2 * number)))
