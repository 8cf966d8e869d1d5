"""The base class of workers."""

from dataclasses import dataclass
from typing import Any


@dataclass
class RankInfo:
    rank: int = 3
    world_size: int = 8
    dp_rank: int = 0
    dp_size: int = 1


class Worker:
    def __init__(self, worker_config: Any) -> None:
        self.worker_config = worker_config
        self.rank_info = RankInfo()
