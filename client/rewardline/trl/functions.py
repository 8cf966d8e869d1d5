"""Reward functions for TRL.

    prompts, completions, columns ─► items ─► results ─► a reward for each completion, or None
                                                 └─────► metrics, and columns of the table of completions

Each call of a function is one call of the server.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, List, Optional, Union

from rewardline.errors import FailedItems, InvalidItems, RequestError
from rewardline.hook import Hook, Options
from rewardline.results import Result, Status
from rewardline.token_params import TokenParams
from rewardline.trl.rows import REFERENCE, Rows

if TYPE_CHECKING:
    from typing_extensions import Unpack  # annotations are not run

Rewards = List[Optional[float]]
RewardFunc = Callable[..., Union[Awaitable[Rewards], Rewards]]
Log = Optional[Callable[[str, Any], None]]
_REFERENCE = "reference"
"""A field of items that the table of completions may show beside those of results."""


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
    **options: Unpack[Options],
) -> RewardFunc:
    """Make a reward function for a trainer of TRL.

    The function is a bound method, so that it can be pickled into other processes, and so that every release of TRL
    recognises it as a coroutine function. Without verifier, recipe and checks, the server routes each row by its
    `domain`, `data_source` or `tag`.

    Args:
        verifier: The verifier that judges;
        recipe: or the recipe;
        checks: or a composition, written out.
        reference: The column of the reference. None if there is none, or if its name is one that the server knows
            (`ground_truth`, `test_cases`, ...): the function always sends those columns.
        columns: Fields that have other names in the data set: `{"test_cases": "tests", "data_source": "origin"}`.
        where: The function judges only rows with this value, or one of these, in a column; other rows get None.
        token_params: Which of `completion_tokens` and `completion_ids` to add to the parameters.
        log_columns: Fields of the results that become columns of the table of completions, beside the `components`:
            `status`, `elapsed_ms`, ... `reference` is that of the row.
        name: The name in metrics; default: that of the verifier or recipe. A second function that judges otherwise gets
            a number behind it: `math`, `math_2`.
        blocking: Make a function without `async`. TRL calls such functions one after another.
        options: The options of a `Hook`. Here `on_failed` is "abstain" unless given.
    """
    settings = _Settings(
        name=name or recipe or verifier or ("checks" if checks is not None else "rewardline"),
        hook=Hook.of({"verifier": verifier, "recipe": recipe, "checks": checks, "on_failed": "abstain", **options}),
        rows=Rows(reference, dict(columns or {})),
        where={column: _choice(value) for column, value in (where or {}).items()},
        token_params=TokenParams(tuple(token_params)),
        log_columns=tuple(log_columns),
        blocking=blocking,
    )
    if name is None:
        settings = _numbered(settings)
    function: RewardFunc = getattr(_Bound(settings), settings.name)
    return function


_NAMED: dict[str, _Settings] = {}
"""The functions of this process that were made without a name of their own, by the name that they got."""


def _numbered(settings: _Settings) -> _Settings:
    """The settings with a name that no function has which judges otherwise. TRL's metrics are by name."""
    for number in itertools.count(1):
        candidate = settings if number == 1 else replace(settings, name=f"{settings.name}_{number}")
        if _NAMED.setdefault(candidate.name, candidate) == candidate:
            return candidate
    raise AssertionError("numbers do not end")


def _choice(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


@dataclass(frozen=True)
class _Settings:
    name: str
    hook: Hook
    rows: Rows
    where: Mapping[str, tuple[Any, ...]]
    token_params: TokenParams
    log_columns: tuple[str, ...]
    blocking: bool

    def __post_init__(self) -> None:
        if self.name.startswith("_"):
            raise ValueError(f"a name for metrics must not begin with an underscore, found {self.name!r}")
        loggable = {*Result.__dataclass_fields__, _REFERENCE}
        if unknown := set(self.log_columns) - loggable:
            raise ValueError(f"log_columns: results have no {sorted(unknown)}; they have {sorted(loggable)}")


class _Bound:
    """The object that a reward function is a method of. It has one method, named by the settings.

    Pickle stores a method as its object and its name, and TRL shows the name in its metrics.
    """

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        settings: _Settings | None = self.__dict__.get("_settings")
        if settings is None or name != settings.name:
            raise AttributeError(name)
        function = _score_blocking if settings.blocking else _score
        renamed = types.FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
        renamed.__doc__ = function.__doc__
        vars(renamed)["__signature__"] = inspect.signature(_Call).replace(return_annotation=Rewards)
        return types.MethodType(renamed, self)


async def _score(self: _Bound, *args: Any, **kwargs: Any) -> Rewards:
    """One reward for each completion, in order; None for a sample without a reward."""
    call = _Call(self._settings, *args, **kwargs)
    with call.numbered():
        return call.finish(await self._settings.hook.score(call.items) if call.items else [])


def _score_blocking(self: _Bound, *args: Any, **kwargs: Any) -> Rewards:
    """One reward for each completion, in order; None for a sample without a reward."""
    call = _Call(self._settings, *args, **kwargs)
    with call.numbered():
        return call.finish(self._settings.hook.score_blocking(call.items) if call.items else [])


class _Call:
    """One call of TRL: all samples of a batch in one process."""

    def __init__(
        self,
        settings: _Settings,
        prompts: Sequence[Any] | None = None,
        completions: Sequence[Any] = (),
        completion_ids: Sequence[Any] | None = None,
        log_extra: Log = None,
        log_metric: Log = None,
        **columns: Any,
    ) -> None:
        self._settings = settings
        self._log_extra = log_extra
        self._log_metric = log_metric
        self._size = len(completions)
        rows = _rows(settings, columns, self._size)
        self._places = [index for index, row in enumerate(rows) if _is_selected(settings.where, row)]
        """The position of each item among the samples."""
        self.items = [
            settings.rows.item(settings.hook, rows[index], completions[index], prompts[index] if prompts else None)
            for index in self._places
        ]
        if settings.token_params.names:
            assert completion_ids is not None, "TRL gives token ids"
            add = settings.token_params.add
            self.items = [add(item, completion_ids[index]) for index, item in zip(self._places, self.items)]
        if step := getattr(columns.get("trainer_state"), "global_step", None):
            self.items = [{**item, "metadata": {"step": step}} for item in self.items]

    @contextmanager
    def numbered(self) -> Iterator[None]:
        """Make errors name samples by their position in the batch, not among the items."""
        try:
            yield
        except RequestError as error:
            error.renumber(self._places)
            raise
        except (InvalidItems, FailedItems) as error:
            raise type(error)({self._places[index]: result for index, result in error.results.items()}) from None

    def finish(self, results: Sequence[Result]) -> Rewards:
        """Log the results, and return a reward for each sample."""
        rewards = self._settings.hook.rewards(results)
        if self._log_extra is not None:
            for name, values in _columns(self._settings, self.items, results).items():
                self._log_extra(f"{self._settings.name}/{name}", self._spread(values))
        if self._log_metric is not None:
            for name, value in _metrics(results).items():
                self._log_metric(f"{self._settings.name}/{name}", value)
        return self._spread(rewards)

    def _spread(self, values: Iterable[Any]) -> list[Any]:
        """One value for each sample; None for samples that are not items."""
        spread: list[Any] = [None] * self._size
        for index, value in zip(self._places, values):
            spread[index] = value
        return spread


def _rows(settings: _Settings, columns: Mapping[str, Any], size: int) -> list[dict[str, Any]]:
    lists = {name: values for name, values in columns.items() if isinstance(values, list) and len(values) == size}
    if size:
        settings.rows.check(lists, settings.where)
    return [{name: values[index] for name, values in lists.items()} for index in range(size)]


def _is_selected(where: Mapping[str, tuple[Any, ...]], row: Mapping[str, Any]) -> bool:
    return all(row[column] in values for column, values in where.items())


def _columns(
    settings: _Settings, items: Sequence[Mapping[str, Any]], results: Sequence[Result]
) -> dict[str, list[Any]]:
    """The logged columns. They are the same in every call, since TRL's table needs columns of one length."""
    columns: dict[str, list[Any]] = {}
    for name in settings.log_columns:
        values = [item.get(name) for item in items] if name == _REFERENCE else [getattr(r, name) for r in results]
        columns[name] = [str(value) if isinstance(value, Status) else value for value in values]
    components = [settings.hook.component_values(row) if row.status is Status.OK else {} for row in results]
    for name in settings.hook.components:
        columns[name] = [row.get(name) for row in components]
    return columns


def _metrics(results: Sequence[Result]) -> dict[str, float]:
    """Shares of all results, and means over the judged ones, also of each check of a composition."""
    if not results:
        return {}
    judged = [outcome for outcome in results if outcome.status is Status.OK]
    values_by_name: dict[str, list[float]] = defaultdict(list)
    for result in judged:
        values_by_name["score"].append(float(result.score or 0.0))
        for check in result.checks or ():
            value = check.get("value", check.get("score"))
            if isinstance(value, (int, float)):
                values_by_name[str(check.get("name") or check.get("verifier"))].append(float(value))
    shares = {
        "failed": sum(outcome.status is Status.FAILED for outcome in results) / len(results),
        "invalid": sum(outcome.status is Status.INVALID for outcome in results) / len(results),
        "cached": sum(outcome.cached for outcome in results) / len(results),
    }
    return {**{name: sum(values) / len(values) for name, values in values_by_name.items()}, **shares}


reward = reward_func()
"""A function that lets the server route each row by its labels. REWARDLINE_URL and REWARDLINE_API_KEY name the server."""
