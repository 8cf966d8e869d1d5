"""Reward functions.

    prompts, completions, columns ─► items ─► results ─► a reward each, or None
                                                 └─────► metrics, and columns of the table of completions

One call of TRL is one call of the server.
"""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, List, Optional, Union

from rewardline.errors import FailedItems, InvalidItems, RequestError
from rewardline.hook import Hook
from rewardline.results import Result, Status
from rewardline.trl.rows import REFERENCE, Rows

TOKEN_PARAMS = ("completion_tokens", "completion_ids")

Rewards = List[Optional[float]]
RewardFunc = Callable[..., Union[Awaitable[Rewards], Rewards]]
Log = Optional[Callable[[str, Any], None]]


def reward_func(
    verifier: str | None = None,
    *,
    recipe: str | None = None,
    checks: Sequence[Mapping[str, Any]] | None = None,
    reference: str | None = REFERENCE,
    columns: Mapping[str, str] | None = None,
    where: Mapping[str, Any] | None = None,
    token_params: Sequence[str] = (),
    log_columns: Sequence[str] = ("reason", "extracted"),
    name: str | None = None,
    blocking: bool = False,
    **options: Any,
) -> RewardFunc:
    """A reward function for a trainer of TRL.

    It is a bound method: pickled into other processes, and seen as a coroutine function by every release. With neither
    verifier nor recipe nor checks, each row is routed by its `domain`, `data_source` or `tag`.

    Args:
        verifier: Who judges.
        recipe: Or the recipe that says so.
        checks: Or a composition written out.
        reference: The column to judge against; None where there is none, or where the data set has it under a name of
            the server's own (`ground_truth`, `test_cases`, ...): those columns are always sent.
        columns: For fields that the data set has under other names: `{"test_cases": "tests", "data_source": "origin"}`.
        where: The rows that this function is for, by the value of a column, or a list of them; others get None.
        token_params: Which of `completion_tokens` and `completion_ids` to add to the parameters.
        log_columns: Fields of the results that become columns of the table of completions, beside the `components`.
        name: What the metrics call it; default: what judges.
        blocking: Make a function without `async`; TRL calls such ones one after another.
        options: Those of `Hook`; `on_failed` is "abstain" here unless given.
    """
    settings = _Settings(
        name=name or recipe or verifier or ("checks" if checks is not None else "rewardline"),
        hook=Hook(verifier=verifier, recipe=recipe, checks=checks, **{"on_failed": "abstain", **options}),
        rows=Rows(reference, dict(columns or {})),
        where={column: _choice(value) for column, value in (where or {}).items()},
        token_params=tuple(token_params),
        log_columns=tuple(log_columns),
        blocking=blocking,
    )
    function: RewardFunc = getattr(_Bound(settings), settings.name)
    return function


def _choice(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@dataclass(frozen=True)
class _Settings:
    name: str
    hook: Hook
    rows: Rows
    where: Mapping[str, tuple[Any, ...]]
    token_params: tuple[str, ...]
    log_columns: tuple[str, ...]
    blocking: bool

    def __post_init__(self) -> None:
        if self.name.startswith("_"):
            raise ValueError(f"a name for metrics, which does not begin with an underscore, not {self.name!r}")
        if set(self.token_params) - set(TOKEN_PARAMS):
            raise ValueError(f"token_params are some of {TOKEN_PARAMS}, not {self.token_params!r}")
        if unknown := set(self.log_columns) - set(Result.__dataclass_fields__):
            raise ValueError(f"results have no {sorted(unknown)}; there are {sorted(Result.__dataclass_fields__)}")


class _Bound:
    """What a reward function is a method of; there is exactly one method, of the name that the settings say.

    Pickle takes a method for its object and its name, and TRL takes the name for its metrics.
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        settings: _Settings | None = self.__dict__.get("_settings")
        if settings is None or name != settings.name:
            raise AttributeError(name)
        function = _score_blocking if settings.blocking else _score
        named = types.FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
        named.__doc__ = function.__doc__
        return types.MethodType(named, self)


async def _score(
    self: _Bound,
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    completion_ids: Sequence[Any] | None = None,
    log_extra: Log = None,
    log_metric: Log = None,
    **columns: Any,
) -> Rewards:
    """One reward for each completion, in order; None where there is none."""
    call = _Call(self._settings, prompts, completions, completion_ids, columns)
    with call.numbered():
        results = await self._settings.hook.score(call.items) if call.items else []
        return call.finish(results, log_extra, log_metric)


def _score_blocking(
    self: _Bound,
    prompts: Sequence[Any] | None = None,
    completions: Sequence[Any] = (),
    completion_ids: Sequence[Any] | None = None,
    log_extra: Log = None,
    log_metric: Log = None,
    **columns: Any,
) -> Rewards:
    """One reward for each completion, in order; None where there is none."""
    call = _Call(self._settings, prompts, completions, completion_ids, columns)
    with call.numbered():
        results = self._settings.hook.score_blocking(call.items) if call.items else []
        return call.finish(results, log_extra, log_metric)


class _Call:
    """One call of TRL: all samples of one batch in one process."""

    def __init__(
        self,
        settings: _Settings,
        prompts: Sequence[Any] | None,
        completions: Sequence[Any],
        completion_ids: Sequence[Any] | None,
        columns: Mapping[str, Any],
    ) -> None:
        self._settings = settings
        self._size = len(completions)
        rows = _rows(settings, columns, self._size)
        self._places = [place for place, row in enumerate(rows) if _is_meant(settings.where, row)]
        """Where the items stand among the samples."""
        self.items = [
            settings.rows.item(settings.hook, rows[place], completions[place], prompts[place] if prompts else None)
            for place in self._places
        ]
        if settings.token_params:
            for place, item in zip(self._places, self.items):
                assert completion_ids is not None, "TRL gives token ids"
                item["params"] = {**item.get("params", {}), **_token_params(settings, completion_ids[place])}

    @contextmanager
    def numbered(self) -> Iterator[None]:
        """Errors that name items name them by their place among all samples."""
        try:
            yield
        except RequestError as error:
            error.renumber(self._places)
            raise
        except (InvalidItems, FailedItems) as error:
            raise type(error)({self._places[index]: result for index, result in error.results.items()}) from None

    def finish(self, results: Sequence[Result], log_extra: Log, log_metric: Log) -> Rewards:
        rewards = self._settings.hook.rewards(results)
        if log_extra is not None:
            for name, values in _columns(self._settings, results).items():
                log_extra(f"{self._settings.name}/{name}", self._spread(values))
        if log_metric is not None:
            for name, value in _metrics(results).items():
                log_metric(f"{self._settings.name}/{name}", value)
        return self._spread(rewards)

    def _spread(self, values: Iterable[Any]) -> list[Any]:
        """One value for each sample, None for those that were not asked about."""
        spread: list[Any] = [None] * self._size
        for place, value in zip(self._places, values):
            spread[place] = value
        return spread


def _rows(settings: _Settings, columns: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    lists = {name: values for name, values in columns.items() if isinstance(values, list) and len(values) == size}
    if size:
        settings.rows.check(lists, settings.where)
    return [{name: values[place] for name, values in lists.items()} for place in range(size)]


def _is_meant(where: Mapping[str, tuple[Any, ...]], row: Mapping[str, Any]) -> bool:
    return all(row[column] in values for column, values in where.items())


def _token_params(settings: _Settings, ids: Sequence[Any]) -> dict[str, Any]:
    known = {"completion_tokens": len(ids), "completion_ids": [int(token) for token in ids]}
    return {name: known[name] for name in settings.token_params}


def _columns(settings: _Settings, results: Sequence[Result]) -> dict[str, list[Any]]:
    """The same ones at every call: TRL's table needs them all to be of one length."""
    columns: dict[str, list[Any]] = {
        name: [
            str(value) if isinstance(value, Status) else value for value in (getattr(each, name) for each in results)
        ]
        for name in settings.log_columns
    }
    values = [settings.hook.component_values(each) if each.status is Status.OK else {} for each in results]
    for name in settings.hook.components:
        columns[name] = [each.get(name) for each in values]
    return columns


def _metrics(results: Sequence[Result]) -> dict[str, float]:
    """Shares of all results; means over those that were judged, of the composition's checks too."""
    if not results:
        return {}
    judged = [each for each in results if each.status is Status.OK]
    found: dict[str, list[float]] = defaultdict(list)
    for result in judged:
        found["score"].append(float(result.score or 0.0))
        for check in result.checks or ():
            value = check.get("value", check.get("score"))
            if isinstance(value, (int, float)):
                found[str(check.get("name") or check.get("verifier"))].append(float(value))
    shares = {
        "failed": sum(each.status is Status.FAILED for each in results) / len(results),
        "cached": sum(each.cached for each in results) / len(results),
    }
    return {**{name: sum(values) / len(values) for name, values in found.items()}, **shares}


reward = reward_func()
"""Routes each row by its labels, with the variables REWARDLINE_URL and REWARDLINE_API_KEY for the rest."""
