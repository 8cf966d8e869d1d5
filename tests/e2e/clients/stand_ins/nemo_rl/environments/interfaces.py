"""The interface of an environment."""

import abc
from typing import Any, NamedTuple


class EnvironmentReturn(NamedTuple):
    observations: list[dict[str, str]]
    metadata: list[Any]
    next_stop_strings: list[Any]
    rewards: Any
    terminateds: Any
    answers: list[str | None] | None = None


class EnvironmentInterface(abc.ABC):
    @abc.abstractmethod
    def step(self, message_log_batch: Any, metadata: Any) -> Any: ...

    @abc.abstractmethod
    def global_post_process_and_metrics(self, batch: Any) -> Any: ...
