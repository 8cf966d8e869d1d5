"""What the hooks of all trainers share: which server is asked, how a sample becomes an item, what an absent verdict does.

    sample ──item──► {"verifier", "response", ...} ──score──► Result ──reward──► a number, None, or an exception

A hook is made of plain values and opens nothing before its first call, so that it can be pickled into the processes of a
trainer. All hooks of a process with the same server share one client, whose calls travel together.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, Union

from rewardline.async_client import AsyncClient
from rewardline.errors import FailedItems, InvalidItems
from rewardline.results import Result, Status
from rewardline.sync_client import Client

DEFAULT_URL = "http://127.0.0.1:8080"
LABELS = ("domain", "data_source", "tag")
"""What routes a row to its recipe, where the hook names neither verifier nor recipe."""
ROW_FIELDS = (
    *("reference", "ground_truth", "test_cases", "case_type", "test_case_function"),
    *("evaluation_criteria", "difficulty", "reward_weights", "reward_clip"),
)
"""What a row of a data set may bring along to its verdict, under the names that the server knows."""

Missing = Union[Literal["raise", "abstain"], float]
"""What stands for a reward that there is none of: an exception, the trainer's own "no reward", or this number."""

_MAX_RETRIES = 1_000_000
"""A hook waits for its server until the deadline, however often that refuses: a training step is dearer than patience."""


@dataclass(frozen=True)
class Hook:
    """By what samples are judged, where, and what becomes of those that could not be.

    At most one of `verifier`, `recipe` and `checks` is given; without any, the labels of each row route it.
    """

    verifier: str | None = None
    recipe: str | None = None
    checks: Sequence[Mapping[str, Any]] | None = None
    """A composition written out, as the server's `checks`; travels by HTTP only."""
    params: Mapping[str, Any] | None = None
    """The verifier's parameters."""
    url: str | None = None
    """`http(s)://host:port` or `grpc(s)://host:port`; default: the variable REWARDLINE_URL, or this machine."""
    api_key: str | None = None
    """Default: the variable REWARDLINE_API_KEY, if there is one."""
    tls_ca: str | None = None
    """PEM file of the authorities to trust with `https://` and `grpcs://`; with `tls_cert` and `tls_key` as `Client` has them."""
    tls_cert: str | None = None
    tls_key: str | None = None
    deadline_s: float = 300.0
    """For one call, retries and waiting for a server that is away included."""
    cache: str = "use"
    explain: bool = False
    send_prompt: bool = True
    """Judges and some rules read it; without, requests are smaller."""
    on_failed: Missing = "raise"
    """For samples that nobody could judge within the deadline."""
    on_invalid: Missing = "raise"
    """For samples that cannot be judged until the data set is mended; the default stops a run at its first step."""
    components: Mapping[str, float] | Sequence[str] = ()
    """Checks of a composition whose values become numbers of their own. A mapping gives the value for samples whose
    recipe has no such check; in a plain sequence, each must be there.
    """
    gather_ms: float = 5.0
    """How long a sample that comes alone waits for others to travel with."""
    max_in_flight: int = 8
    max_resends: int = 5
    """How often a sample that the server could not judge is sent again, within the deadline."""

    def __post_init__(self) -> None:
        given = [name for name in ("verifier", "recipe", "checks") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"one of verifier, recipe and checks, not {' and '.join(given)}")
        for name in ("on_failed", "on_invalid"):
            _check_missing(name, getattr(self, name))
        if isinstance(self.components, str):
            raise TypeError(f"components is a list or a mapping, not the string {self.components!r}")
        AsyncClient(**self.client_config())  # says what can never work

    def client_config(self) -> dict[str, Any]:
        """The arguments of its client."""
        return {
            "url": self.url or os.environ.get("REWARDLINE_URL") or DEFAULT_URL,
            "api_key": self.api_key or os.environ.get("REWARDLINE_API_KEY") or None,
            "tls_ca": self.tls_ca,
            "tls_cert": self.tls_cert,
            "tls_key": self.tls_key,
            "timeout_s": self.deadline_s,
            "max_in_flight": self.max_in_flight,
            "gather_ms": self.gather_ms,
            "max_retries": _MAX_RETRIES,
            "max_resends": self.max_resends,
        }

    def item(
        self,
        response: Any,
        *,
        reference: Any = None,
        prompt: Any = None,
        row: Mapping[str, Any] | None = None,
        item_id: str | None = None,
    ) -> dict[str, Any]:
        """One sample as the server takes it.

        Args:
            response: Text, or messages with whatever they call, in any dialect that the server reads.
            reference: What to judge against; comes over the row's own.
            prompt: Text or chat messages.
            row: The sample's columns, of which those in `ROW_FIELDS` are sent, and `LABELS` where they route.
            item_id: Echoed in the result.
        """
        item: dict[str, Any] = {"response": plain(response)}
        for name in ("verifier", "recipe", "checks", "params"):
            if getattr(self, name) is not None:
                item[name] = plain(getattr(self, name))
        routed = self.verifier is None and self.recipe is None and self.checks is None
        for name in (*ROW_FIELDS, *(LABELS if routed else ())):
            value = plain((row or {}).get(name))
            if not is_missing(value):
                item[name] = value
        if reference is not None:
            item.pop("ground_truth", None)
            item["reference"] = plain(reference)
        if prompt is not None and self.send_prompt:
            item["prompt"] = plain(prompt)
        if item_id is not None:
            item["id"] = item_id
        return item

    async def score(self, items: Sequence[Mapping[str, Any]]) -> list[Result]:
        """A batch; `results[i]` belongs to `items[i]`."""
        return await self.client().score(items, cache=self.cache, explain=self.explain)

    async def score_one(self, item: Mapping[str, Any]) -> Result:
        """One sample; those of a few milliseconds travel together."""
        return await self.client().score_one(item, cache=self.cache, explain=self.explain)

    def score_blocking(self, items: Sequence[Mapping[str, Any]]) -> list[Result]:
        """As `score`, for code without an event loop."""
        return self.blocking_client().score(items, cache=self.cache, explain=self.explain)

    def score_one_blocking(self, item: Mapping[str, Any]) -> Result:
        """As `score_one`, for code without an event loop; calls of several threads travel together."""
        return self.blocking_client().score_one(item, cache=self.cache, explain=self.explain)

    def reward(self, result: Result) -> float | None:
        """The reward of one sample; None is to abstain.

        Raises:
            InvalidItems, FailedItems: there is none, and the hook is to raise then.
        """
        return self.rewards([result])[0]

    def rewards(self, results: Sequence[Result]) -> list[float | None]:
        """As `reward`, for a batch; an exception names every sample in question by its position."""
        if self.on_invalid == "raise":
            _raise(InvalidItems, Status.INVALID, results)
        if self.on_failed == "raise":
            _raise(FailedItems, Status.FAILED, results)
        return [self._reward(result) for result in results]

    def _reward(self, result: Result) -> float | None:
        if result.status is Status.OK:
            return float(_certain(result.reward if result.reward is not None else result.score))
        missing = self.on_invalid if result.status is Status.INVALID else self.on_failed
        return None if isinstance(missing, str) else float(missing)

    def numbers(self, result: Result) -> dict[str, float]:
        """What trainers take for metrics: the same keys for every sample, and nothing but finite numbers.

        `score` is the reward, `acc` correctness in [0, 1] before shaping (of a sample without verdict: the number that
        stands for its reward), `failed` and `invalid` are 0 or 1; then the `components`.
        """
        reward = self.reward(result)
        if reward is None:
            raise ValueError(
                "a sample without reward has no numbers: on_failed and on_invalid must be 'raise' or a number"
            )
        numbers = {
            "score": reward,
            "acc": reward if result.score is None else float(result.score),
            **result.status.flags,
            "cached": float(result.cached),
            "judge_ms": float(result.elapsed_ms),
        }
        numbers.update(self.component_values(result))
        return numbers

    def component_values(self, result: Result) -> dict[str, float]:
        """The value of each of `components` in this result, shaped as the composition has it.

        Raises:
            ValueError: the composition has no such check, and nothing was said to stand for it.
        """
        found = {check.get("name") or check.get("verifier"): check for check in result.checks or ()}
        if not result.checks and result.status is Status.OK:
            found = {result.verifier: {"value": result.reward}}
        values = {}
        for name in self.components:
            check = found.get(name)
            value = None if check is None else check.get("value", check.get("reward", check.get("score")))
            if value is None:
                value = self.components.get(name) if isinstance(self.components, Mapping) else None
            if value is None and result.status is not Status.OK:
                value = self._reward(result)
            if value is None:
                raise ValueError(f"no check {name!r} in this result; there are {sorted(map(str, found))}")
            values[str(name)] = float(value)
        return values

    def client(self) -> AsyncClient:
        """This process's client for the hook's server; it serves any number of event loops."""
        return _shared(_ASYNC, AsyncClient, self.client_config())

    def blocking_client(self) -> Client:
        """This process's client for code without an event loop; it serves any number of threads."""
        return _shared(_BLOCKING, Client, self.client_config())


def close_clients() -> None:
    """Close what the hooks of this process share; a hook that is called afterwards opens anew.

    Asynchronous clients are only forgotten: their connections end with their event loops.
    """
    with _LOCK:
        blocking = list(_BLOCKING.values())
        _BLOCKING.clear()
        _ASYNC.clear()
    for client in blocking:
        client.close()


def plain(value: Any) -> Any:
    """The same as JSON has it: sequences and arrays as lists, numpy's numbers as numbers, bytes as UTF-8 text, models of
    pydantic (messages of newer libraries) as objects.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return plain(dump(mode="json", exclude_none=True))
    # Arrays and scalars of numpy and torch, neither of which this package depends on.
    to_list = getattr(value, "tolist", None)
    return plain(to_list()) if callable(to_list) else value


def is_missing(value: Any) -> bool:
    """Whether a column says nothing for this row: null, or the NaN that data frames have for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


ClientT = TypeVar("ClientT", AsyncClient, Client)

_ASYNC: dict[tuple[Any, ...], AsyncClient] = {}
_BLOCKING: dict[tuple[Any, ...], Client] = {}
_LOCK = threading.Lock()
"""Guards the two above: threads may make the first call at once."""


def _shared(known: dict[tuple[Any, ...], ClientT], kind: type[ClientT], config: dict[str, Any]) -> ClientT:
    key = tuple(sorted(config.items()))
    with _LOCK:
        if key not in known:
            known[key] = kind(**config)
        return known[key]


def _raise(error: type[InvalidItems] | type[FailedItems], status: Status, results: Iterable[Result]) -> None:
    found = {index: result for index, result in enumerate(results) if result.status is status}
    if found:
        raise error(found)


def _certain(value: float | None) -> float:
    assert value is not None, "a judged item has a score"
    return value


def _check_missing(name: str, value: Any) -> None:
    if value in ("raise", "abstain"):
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} is 'raise', 'abstain' or a finite number, not {value!r}")
