"""What the hooks of all trainers share: the server, the item of a sample, and the reward of a sample without verdict.

    sample ──item──► {"verifier", "response", ...} ──score──► Result ──reward──► a number, None, or an exception

A hook holds plain values and opens no connection before its first call. So a trainer can pickle it into its processes. All
hooks of a process that have the same server share one client, and so their calls share requests.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypedDict, TypeVar, Union

from rewardline.async_client import AsyncClient
from rewardline.errors import FailedItems, InvalidItems
from rewardline.results import NO_RETRY_MENDS, Result, Status
from rewardline.sync_client import Client

DEFAULT_URL = "http://127.0.0.1:8080"
LABELS = ("domain", "data_source", "tag")
"""The server routes a row by these, if the hook has no verifier, recipe or checks."""
ROW_FIELDS = (
    *("reference", "ground_truth", "test_cases", "case_type", "test_case_function"),
    *("evaluation_criteria", "difficulty", "reward_weights", "reward_clip"),
)
"""The columns of a row that the server may judge by, under the names that it knows."""

Missing = Union[Literal["raise", "abstain"], float]
"""What happens to a sample without a reward: an exception, the trainer's own "no reward", or this number."""

_AT_START = ("containers_unavailable", "sandbox_unavailable")
"""Reasons of `failed` that may pass, but that a run must not begin with."""
PROCESS = secrets.token_hex(6)
"""Part of the names of groups: trainers number them from 0 in each process."""
_LONGEST_WAIT_S = 3600.0
_WAITING = 512
"""So many requests with members of groups may wait at once."""
_MAX_RETRIES = 1_000_000
"""A hook retries until the deadline, however often: a lost training step costs more than waiting."""


class Options(TypedDict, total=False):
    """The options that the hooks of all trainers take beside their own. `Hook` says what each means."""

    params: Mapping[str, Any] | None
    url: str | None
    api_key: str | None
    run_id: str | None
    pin: str | None
    receipts: bool
    tls_ca: str | None
    tls_cert: str | None
    tls_key: str | None
    deadline_s: float
    cache: str
    explain: bool
    send_prompt: bool
    on_failed: Missing
    on_invalid: Missing
    on_unserved: Missing
    components: Mapping[str, float] | Sequence[str]
    gather_ms: float
    max_in_flight: int
    max_resends: int
    group: Mapping[str, Any] | None


@dataclass(frozen=True)
class Hook:
    """Says how to judge samples, on which server, and what to do with those that cannot be judged.

    It has at most one of `verifier`, `recipe` and `checks`; without them, the server routes each row by its labels.
    """

    verifier: str | None = None
    recipe: str | None = None
    checks: Sequence[Mapping[str, Any]] | None = None
    """A composition, written out as the server's `checks`. HTTP only."""
    params: Mapping[str, Any] | None = None
    """The verifier's parameters."""
    group: Mapping[str, Any] | None = None
    """How the samples of a prompt are rewarded together: the server's `group` without `id` and `member`, such as
    `{"method": "majority"}`. Trainers that pass whole groups, or tell groups apart, need no more; for the others, `size` is the
    number of samples of each prompt, and the prompt names the group. The deadline must be longer than the first and the last
    sample of a group are apart."""
    url: str | None = None
    """`http(s)://host:port`, `grpc(s)://host:port` or `ray://pool`. Default: the variable REWARDLINE_URL, else this machine."""
    api_key: str | None = field(default=None, repr=False)
    """Default: the variable REWARDLINE_API_KEY, if it is set."""
    run_id: str | None = None
    """The run that the samples belong to, for usage and logs. Default: the variable REWARDLINE_RUN_ID, if it is set."""
    pin: str | None = None
    """The versions that may judge: a date, the name of a lock that the server has, or the path of a lock file (`.json`).
    Default: the variable REWARDLINE_PIN, if it is set."""
    receipts: bool = False
    """Each verdict carries its receipt, which the audit log of the server keeps."""
    tls_ca: str | None = None
    """PEM files, as those of `Client`: this one holds the authorities to trust with `https://` and `grpcs://`."""
    tls_cert: str | None = None
    tls_key: str | None = None
    deadline_s: float = 300.0
    """A call ends by then. Retries and the wait for an absent server count."""
    cache: str = "use"
    explain: bool = False
    send_prompt: bool = True
    """Judges and some rules read the prompt. Requests are smaller without it."""
    on_failed: Missing = "raise"
    """The outcome of samples that could not be judged within the deadline."""
    on_invalid: Missing = "raise"
    """The outcome of samples with a mistake in the data set. The default stops a run at its first step."""
    on_unserved: Missing = "raise"
    """The outcome of samples that this server will never judge: no judge model is configured, it has no boxes for the
    language, or none at all when the run begins. The default stops a run at its first step, whatever `on_failed` is.
    """
    components: Mapping[str, float] | Sequence[str] = ()
    """Checks of a composition: their values become numbers of their own. A mapping holds the value for samples with a
    recipe without such a check. With a plain sequence, every recipe must have each check.
    """
    gather_ms: float = 5.0
    """How long a single sample waits for others to share a request with."""
    max_in_flight: int = 8
    max_resends: int = 5
    """How often the hook sends a sample again that the server could not judge, within the deadline."""
    _judging: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    """The verifiers that have judged a sample of this hook."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Hook:
        """The hook with these options.

        Raises:
            TypeError: There is no such option. The message has the one that was probably meant.
            ValueError: An option can never work.
        """
        names = [option_field.name for option_field in fields(cls) if option_field.init]
        for name in options:
            if name not in names:
                close = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
                raise TypeError(f"a hook has no option {name!r}: {hint}")
        return cls(**options)

    def __post_init__(self) -> None:
        choices = [name for name in ("verifier", "recipe", "checks") if getattr(self, name) is not None]
        if len(choices) > 1:
            raise ValueError(f"give one of verifier, recipe and checks, not {' and '.join(choices)}")
        for name in ("on_failed", "on_invalid", "on_unserved"):
            _check_missing(name, getattr(self, name))
        if reserved := sorted({"id", "member"} & set(self.group or ())):
            raise ValueError(f"group: the hook sets {reserved[0]!r}; remove it")
        if isinstance(self.components, str):
            raise TypeError(f"components must be a list or a mapping, found the string {self.components!r}")
        AsyncClient(**self.client_config())  # raises if a setting can never work

    def client_config(self) -> dict[str, Any]:
        """The arguments of the hook's client."""
        return {
            "url": self.url or os.environ.get("REWARDLINE_URL") or DEFAULT_URL,
            "api_key": self.api_key or os.environ.get("REWARDLINE_API_KEY") or None,
            "run_id": self.run_id or os.environ.get("REWARDLINE_RUN_ID") or None,
            "pin": self.pin or os.environ.get("REWARDLINE_PIN") or None,
            "receipts": self.receipts,
            "tls_ca": self.tls_ca,
            "tls_cert": self.tls_cert,
            "tls_key": self.tls_key,
            "timeout_s": self.deadline_s,
            # Requests of members wait for each other: too few at once would never be whole.
            "max_in_flight": self.max_in_flight if self.group is None else max(_WAITING, self.max_in_flight),
            "gather_ms": self.gather_ms,
            "max_retries": _MAX_RETRIES,
            "max_resends": self.max_resends,
        }

    def member(self, item: dict[str, Any], name: str | None, member: str, size: int) -> dict[str, Any]:
        """The item as a member of its group, if the samples of a prompt are rewarded together.

        Args:
            item: The item of the sample.
            name: The name of the group, which no other group of any process has. None: its prompt names it.
            member: The name of the sample within the group.
            size: The number of its samples.
        """
        if self.group is None:
            return item
        membership = {
            "wait_s": min(_LONGEST_WAIT_S, self.deadline_s / 2),
            **plain(self.group),
            "member": member,
            "size": size,
        }
        return {**item, "group": membership if name is None else {**membership, "id": name}}

    def in_groups(self, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The items of one call as members of the groups of their prompts. Items that are members already stay so.

        Without `size` in the option `group`, the samples of a prompt in this call are its group, be it only one.

        Raises:
            ValueError: A sample has no prompt.
        """
        members = list(items)
        if self.group is None:
            return members
        positions: dict[str, list[int]] = {}
        for position, item in enumerate(items):
            if "group" not in item:
                positions.setdefault(_prompt_of(item), []).append(position)
        for of_prompt in positions.values():
            size = int(self.group.get("size") or len(of_prompt))
            for start in range(0, len(of_prompt), size):
                part = of_prompt[start : start + size]
                is_whole = len(part) == size
                name = f"{PROCESS}/{secrets.token_hex(8)}" if is_whole else None
                for number, position in enumerate(part):
                    member = str(number) if is_whole else secrets.token_hex(8)
                    members[position] = self.member(dict(items[position]), name, member, size)
        return members

    def _in_group(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """The item of a call for one sample, as a member of the group of its prompt.

        Raises:
            ValueError: It has no prompt, or there is no `size`.
        """
        if self.group is not None and "size" not in self.group and "group" not in item:
            raise ValueError("group: this trainer passes samples one by one; add `size`, the samples of each prompt")
        return self.in_groups([item])[0]

    def item(
        self,
        response: Any,
        *,
        reference: Any = None,
        prompt: Any = None,
        row: Mapping[str, Any] | None = None,
        item_id: str | None = None,
    ) -> dict[str, Any]:
        """Make the item of one sample.

        Args:
            response: Text, or messages with their calls, in any dialect that the server reads.
            reference: The reference. It replaces that of the row.
            prompt: Text or chat messages.
            row: The sample's columns. The item has those of `ROW_FIELDS`, and `LABELS` if these route the sample.
            item_id: The id of the result.
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
        """Score a batch; `results[i]` belongs to `items[i]`."""
        return await self.client().score(self.in_groups(items), cache=self.cache, explain=self.explain)

    async def score_one(self, item: Mapping[str, Any]) -> Result:
        """Score one sample. Calls within `gather_ms` share a request."""
        return await self.client().score_one(self._in_group(item), cache=self.cache, explain=self.explain)

    def score_blocking(self, items: Sequence[Mapping[str, Any]]) -> list[Result]:
        """As `score`, for code without an event loop."""
        return self.blocking_client().score(self.in_groups(items), cache=self.cache, explain=self.explain)

    def score_one_blocking(self, item: Mapping[str, Any]) -> Result:
        """As `score_one`, for code without an event loop. Calls of several threads share requests."""
        return self.blocking_client().score_one(self._in_group(item), cache=self.cache, explain=self.explain)

    def reward(self, result: Result) -> float | None:
        """The reward of one sample; None means to abstain.

        Raises:
            InvalidItems, FailedItems: There is no reward, and the hook raises in this case.
        """
        return self.rewards([result])[0]

    def rewards(self, results: Sequence[Result]) -> list[float | None]:
        """As `reward`, for a batch. An exception names all such samples by their positions."""
        if self.on_invalid == "raise":
            _raise(InvalidItems, Status.INVALID, results)
        if self.on_failed == "raise":
            _raise(FailedItems, Status.FAILED, results)
        self._judging.update(result.verifier for result in results if result.status is Status.OK)
        if self.on_unserved == "raise":
            unserved = {index: result for index, result in enumerate(results) if self._is_unserved(result)}
            if unserved:
                raise FailedItems(unserved)
        return [self._reward(result) for result in results]

    def _is_unserved(self, result: Result) -> bool:
        """Whether this server will not judge such a sample, however often it is sent."""
        if result.status is not Status.FAILED:
            return False
        if result.reason in NO_RETRY_MENDS:
            return True
        return result.reason in _AT_START and result.verifier not in self._judging

    def _reward(self, result: Result) -> float | None:
        if result.status is Status.OK:
            return float(_known(result.reward if result.reward is not None else result.score))
        missing = self.on_failed
        if result.status is Status.INVALID:
            missing = self.on_invalid
        elif self.on_unserved != "raise" and self._is_unserved(result):
            missing = self.on_unserved
        return None if isinstance(missing, str) else float(missing)

    def numbers(self, result: Result) -> dict[str, float]:
        """The numbers of a sample for metrics. Every sample has the same keys, and all numbers are finite.

        `score` is the reward. `acc` is correctness in [0, 1], before shaping; a sample without verdict has its reward
        there, too. `failed` and `invalid` are 0 or 1. Then come the `components`.
        """
        reward = self.reward(result)
        if reward is None:
            raise ValueError(
                "a sample without reward has no numbers: set on_failed and on_invalid to 'raise' or to a number"
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
        """The value of each of `components` in this result, as the composition shaped it.

        Raises:
            ValueError: The composition has no such check, and `components` has no value for it.
        """
        checks = {check.get("name") or check.get("verifier"): check for check in result.checks or ()}
        if not result.checks and result.status is Status.OK:
            checks = {result.verifier: {"value": result.reward}}
        values = {}
        for name in self.components:
            check = checks.get(name)
            value = None if check is None else check.get("value", check.get("reward", check.get("score")))
            if value is None:
                value = self.components.get(name) if isinstance(self.components, Mapping) else None
            if value is None and result.status is not Status.OK:
                value = self._reward(result)
            if value is None:
                raise ValueError(f"no check {name!r} in this result; there are {sorted(map(str, checks))}")
            values[str(name)] = float(value)
        return values

    def client(self) -> AsyncClient:
        """The client of this process for the hook's server. Any number of event loops may use it."""
        return _shared(_ASYNC, AsyncClient, self.client_config())

    def blocking_client(self) -> Client:
        """The client of this process for code without an event loop. Any number of threads may use it."""
        return _shared(_BLOCKING, Client, self.client_config())


def close_clients() -> None:
    """Close the clients that the hooks of this process share. A hook that is called later opens new connections.

    This only forgets asynchronous clients: their connections end with their event loops.
    """
    with _LOCK:
        blocking = list(_BLOCKING.values())
        _BLOCKING.clear()
        _ASYNC.clear()
    for client in blocking:
        client.close()


def plain(value: Any) -> Any:
    """The JSON form of a value: a list for a sequence or an array, a number for a number of numpy, UTF-8 text for bytes,
    and an object for a model of pydantic (newer libraries have such messages).
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(member) for key, member in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Sequence):
        return [plain(member) for member in value]
    if callable(dump := getattr(value, "model_dump", None)):
        return plain(dump(mode="json", exclude_none=True))
    # Arrays and numbers of numpy and torch. This package depends on neither.
    to_list = getattr(value, "tolist", None)
    return plain(to_list()) if callable(to_list) else value


def _prompt_of(item: Mapping[str, Any]) -> str:
    """What the samples of a prompt have in common."""
    if item.get("prompt") is None:
        raise ValueError("group: a sample without a prompt has no group; see that the hook sends prompts")
    omit = ("response", "id", "metadata")
    return json.dumps({name: value for name, value in item.items() if name not in omit}, sort_keys=True, default=str)


def is_missing(value: Any) -> bool:
    """Whether a row has no value: null, or NaN, which data frames use for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


ClientT = TypeVar("ClientT", AsyncClient, Client)

_ASYNC: dict[tuple[Any, ...], AsyncClient] = {}
_BLOCKING: dict[tuple[Any, ...], Client] = {}
_LOCK = threading.Lock()
"""Guards both dicts above: threads may make the first call at once."""


def _shared(clients: dict[tuple[Any, ...], ClientT], kind: type[ClientT], config: dict[str, Any]) -> ClientT:
    key = tuple(sorted(config.items()))
    with _LOCK:
        if key not in clients:
            clients[key] = kind(**config)
        return clients[key]


def _raise(error: type[InvalidItems] | type[FailedItems], status: Status, results: Iterable[Result]) -> None:
    unjudged = {index: result for index, result in enumerate(results) if result.status is status}
    if unjudged:
        raise error(unjudged)


def _known(value: float | None) -> float:
    assert value is not None, "a judged item has a score"
    return value


def _check_missing(name: str, value: Any) -> None:
    if value in ("raise", "abstain"):
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} must be 'raise', 'abstain' or a finite number, found {value!r}")
