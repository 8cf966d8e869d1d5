"""What trainers ask about the log: groups of responses to one prompt, the steps of a run, and two runs beside each other.

Records answer one prompt if their prompt and their reference are equal, or, in a redacted log, the hashes of both. A
group is what one run sampled for a prompt in one step, judged by one verifier or recipe.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from service.observe.audit_log.columns import PROMPT_KEY
from service.observe.audit_log.search import Filters, Wanted

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables

JSON = dict[str, Any]
GroupOrder = Literal["newest", "mixed", "highest", "lowest"]
MOST_STEPS: Final = 20_000
MOST_REWARDS: Final = 64
"""The rewards of a group that are given one by one."""
_PROMPT_CHARS: Final = 300
_IS_RIGHT: Final = 0.5
"""A flip is between runs of which one earns this on average for a prompt, and the other less."""
_NARROW: Final = {
    "moment": "moment",
    "status": "status",
    "reason": "reason",
    "judge": "coalesce(recipe, verifier, '')",
    "run": "coalesce(run_id, '')",
    "step": "step",
    "reward": "CASE WHEN isfinite(reward) THEN reward END",
    "elapsed_ms": "CASE WHEN isfinite(elapsed_ms) THEN elapsed_ms END",
    "prompt": PROMPT_KEY,
    "shown": f"left(coalesce(prompt, reference, ''), {_PROMPT_CHARS})",
}
_TYPES: Final = {
    "moment": "TIMESTAMP", "step": "BIGINT", "reward": "DOUBLE", "elapsed_ms": "DOUBLE",
}  # fmt: skip
_ORDERS: Final[Mapping[GroupOrder, str]] = {
    "newest": "max(moment) DESC NULLS LAST",
    "mixed": "stddev_pop(reward) DESC NULLS LAST",
    "highest": "avg(reward) DESC NULLS LAST",
    "lowest": "avg(reward) ASC NULLS LAST",
}
_COUNTS: Final = {
    "count": "count(*)",
    "failed": "count(*) FILTER (status = 'failed')",
    "invalid": "count(*) FILTER (status = 'invalid')",
    "mean_reward": "avg(reward)",
}
_GROUP: Final = "run, step, judge, prompt"


def groups(tables: "Tables", filters: Filters, order: GroupOrder, limit: int) -> JSON:
    """Groups in an order, and how many there are; `without_signal` of them have two or more rewards, all equal."""
    _read(tables, filters)
    columns = {
        **{name: name for name in ("run", "step", "judge", "prompt")},
        "shown": "any_value(shown)",
        **_COUNTS,
        "lowest": "min(reward)",
        "highest": "max(reward)",
        "rewards": f"list(reward ORDER BY moment)[:{MOST_REWARDS}]",
        "time": "strftime(max(moment), '%Y-%m-%dT%H:%M:%S.%fZ')",
    }
    rows = _dicts(
        tables,
        columns,
        f"FROM answers GROUP BY {_GROUP} ORDER BY {_ORDERS[order]}, {_GROUP} LIMIT {limit}",
    )
    ((count, silent),) = tables.sql(
        "SELECT count(*), count(*) FILTER (n > 1 AND low = high) FROM "
        f"(SELECT count(reward) AS n, min(reward) AS low, max(reward) AS high FROM answers GROUP BY {_GROUP})"
    )
    return {"groups": rows, "count": count, "without_signal": silent, "read": tables.tally.as_json()}


def steps(tables: "Tables", filters: Filters) -> JSON:
    """Each step of each run by each verifier or recipe, in order. Records that name no step are left out, and counted."""
    _read(tables, filters)
    columns = {
        **{name: name for name in ("run", "judge", "step")},
        **{name: f"sum({name})::BIGINT" for name in ("count", "failed", "invalid")},
        "mean_reward": "sum(total) / nullif(sum(rewarded), 0)",
        "latency_ms": "sum(latency) / sum(count)",
        "groups": "count(*)",
        "without_signal": "count(*) FILTER (rewarded > 1 AND low = high)",
    }
    selected = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    tables.sql(
        f"CREATE TEMP TABLE points AS SELECT {selected} FROM "
        "(SELECT run, judge, step, prompt, count(*) AS count, count(*) FILTER (status = 'failed') AS failed, "
        "count(*) FILTER (status = 'invalid') AS invalid, sum(reward) AS total, count(reward) AS rewarded, "
        "coalesce(sum(elapsed_ms), 0) AS latency, min(reward) AS low, max(reward) AS high "
        f"FROM answers WHERE step IS NOT NULL GROUP BY {_GROUP}) "
        f"GROUP BY run, judge, step ORDER BY run, judge, step LIMIT {MOST_STEPS + 1}"
    )
    rows = _dicts(tables, dict(zip(columns, columns, strict=True)), "FROM points ORDER BY run, judge, step")
    places = {(row["run"], row["judge"], row["step"]): row | {"reasons": {}} for row in rows[:MOST_STEPS]}
    for run, judge, step, reason, count in tables.sql(
        "SELECT run, judge, step, reason, count(*) FROM answers SEMI JOIN points USING (run, judge, step) "
        "GROUP BY ALL ORDER BY ALL"
    ):
        if (run, judge, step) in places:
            places[run, judge, step]["reasons"][reason] = count
    ((without_step,),) = tables.sql("SELECT count(*) FROM answers WHERE step IS NULL")
    return {
        "steps": list(places.values()),
        "is_more": len(rows) > MOST_STEPS,
        "without_step": without_step,
        "read": tables.tally.as_json(),
    }


def compared(tables: "Tables", filters: Filters, run: str, other: str, limit: int) -> JSON:
    """The prompts that both runs answered, with the mean reward of each; flips first, then by the difference.
    Of equal ones those that the other run loses come first, because these are looked for, then by the text.
    """
    _read(tables, filters)
    tables.sql(
        "CREATE TEMP TABLE pairs AS SELECT judge, prompt, any_value(shown) AS shown, "
        "avg(reward) FILTER (run = $run) AS mean, avg(reward) FILTER (run = $other) AS other_mean, "
        "count(*) FILTER (run = $run) AS count, count(*) FILTER (run = $other) AS other_count "
        "FROM answers WHERE run IN ($run, $other) GROUP BY judge, prompt",
        {"run": run, "other": other},
    )
    is_flip = f"(mean >= {_IS_RIGHT}) <> (other_mean >= {_IS_RIGHT})"
    both = "mean IS NOT NULL AND other_mean IS NOT NULL"
    columns = {name: name for name in ("judge", "prompt", "shown", "mean", "other_mean", "count", "other_count")}
    rows = _dicts(
        tables,
        {**columns, "is_flip": is_flip},
        f"FROM pairs WHERE {both} ORDER BY {is_flip} DESC, abs(mean - other_mean) DESC, other_mean - mean, shown, judge, "
        f"prompt LIMIT {limit}",
    )
    names = ("prompts", "mean_reward", "other_mean_reward", "gained", "lost", "only", "other_only")
    (counts,) = tables.sql(
        f"SELECT count(*) FILTER ({both}), avg(mean) FILTER ({both}), avg(other_mean) FILTER ({both}), "
        f"count(*) FILTER ({both} AND {is_flip} AND other_mean > mean), "
        f"count(*) FILTER ({both} AND {is_flip} AND mean > other_mean), "
        "count(*) FILTER (other_count = 0), count(*) FILTER (count = 0) FROM pairs"
    )
    return {"pairs": rows, **dict(zip(names, counts, strict=True)), "read": tables.tally.as_json()}


def _read(tables: "Tables", filters: Filters) -> None:
    """Make the table `answers` of the narrow columns of all wanted records."""
    declared = ", ".join(f"{name} {_TYPES.get(name, 'VARCHAR')}" for name in _NARROW)
    tables.sql(f"CREATE TEMP TABLE answers ({declared})")
    wanted = Wanted.of(tables, filters)
    for table in tables.tables:
        wanted.copy(tables, table, _NARROW, "answers")


def _dicts(tables: "Tables", columns: Mapping[str, str], rest: str) -> list[JSON]:
    selected = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    rows: Sequence[tuple[Any, ...]] = tables.sql(f"SELECT {selected} {rest}")
    return [dict(zip(columns, row, strict=True)) for row in rows]
