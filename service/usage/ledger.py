"""Counts what tenants and runs use, and says when that is more than their budgets.

    engine         items of a batch          Ledger.begin     the whole batch, before anything of it is judged
    backends       CPU seconds, tokens       Ledger.note      each program and each call, when it is over
    whoever asks   is there something left?  Ledger.refusal   before a batch, a program, a call

Counting is by the tenant and the run of the context. So work that begins within a budget may overrun it by what is under
way. `redis_sharing` shares the counts between replicas; without it they are those of this process, from its start.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from fairness import TENANT
from service.limits.budgets import UNLIMITED, Budget, Budgets, Measure
from service.tenant import RUN
from service.usage.account import MINUTE_S, Account
from service.usage.report import Amounts, RunUsage, TenantUsage, UsedUp
from service.usage.run_counts import RunCounts

REASON: Final = "budget_exhausted"
"""The reason of items that were not judged because a budget is used up."""
NOBODY: Final = ""
"""The tenant of what the service does for itself, such as probes. It is not counted."""
MAX_RUNS: Final = 1000
MAX_TENANTS: Final = 10_000
_MAX_ALL_RUNS: Final = 50_000
"""Runs of all tenants together."""
_SHOWN_RUNS: Final = 100
"""Runs in metrics."""
JUDGING: Final = (Measure.JUDGE_TOKENS, Measure.JUDGE_COST)
"""What a call of a judge model uses."""
BUDGETED: Final = (Measure.ITEMS, Measure.CPU_S, *JUDGING)


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A budget that is used up."""

    tenant: str
    run: str
    budget: str
    """Its name, such as `items_per_minute`."""
    limit: float
    used: float
    retry_after_s: float | None
    """None: it does not end by itself."""
    ends_at: str | None
    """Of the same moment, in ISO 8601."""

    @property
    def message(self) -> str:
        owner = f"the run {self.run!r} of {self.tenant!r}" if self.run else f"the tenant {self.tenant!r}"
        end = f"it begins anew at {self.ends_at}" if self.ends_at else "it does not end by itself: raise it"
        return f"{owner} has used {self.used:.15g} of its budget {self.budget} of {self.limit:.15g}; {end}"

    @property
    def detail(self) -> dict[str, Any]:
        """What a verdict says beside its message."""
        fields: dict[str, Any] = {"budget": self.budget, "of": "run" if self.run else "tenant"}
        if self.retry_after_s is not None:
            fields |= {"retry_after_s": round(self.retry_after_s, 3), "ends_at": self.ends_at}
        return fields


class _Tenant:
    """The accounts of one tenant: its own, and those of its latest runs."""

    __slots__ = ("account", "runs")

    def __init__(self, account: Account) -> None:
        self.account = account
        self.runs: OrderedDict[str, Account] = OrderedDict()


class Ledger:
    """The accounts of all tenants. It runs in one event loop and needs no lock."""

    def __init__(self, clock: Callable[[], float] = time.time, *, max_runs: int = MAX_RUNS) -> None:
        """`clock` says Unix time. Of each tenant, the latest `max_runs` runs are kept."""
        self._clock = clock
        self.max_runs = max_runs
        self._budgets: Mapping[str, Budgets] = {}
        self._tenants: OrderedDict[str, _Tenant] = OrderedDict()
        self.run_counts = RunCounts(_SHOWN_RUNS)
        """The items that this process was given."""
        self._runs = 0
        """Of all tenants."""
        self.touched: dict[str, dict[str, Account]] = {}
        """The accounts that were used or asked for since somebody last emptied this, by tenant and run. It is emptied by
        whoever shares the counts; else it holds all accounts."""

    def use(self, budgets: Mapping[str, Budgets]) -> None:
        """Put other budgets in force. What was used stays used."""
        self._budgets = dict(budgets)

    def begin(self, items: int) -> Exhausted | None:
        """Count the items of a batch, unless there is no budget for it."""
        refusal = self.refusal((Measure.ITEMS,))
        if refusal is None and items:
            tenant, run = TENANT.get(), RUN.get()
            self.note(tenant, run, {Measure.ITEMS: items})
            self.run_counts.add(tenant, run, items)
        return refusal

    def note(self, tenant: str, run: str, used: Mapping[Measure, float]) -> None:
        """Count what was used."""
        if tenant != NOBODY:
            now = self._clock()
            for account in self._accounts(tenant, run, now):
                account.add(used, now)

    def refusal(self, measures: Sequence[Measure]) -> Exhausted | None:
        """The budget of the current tenant or run that is used up, if one is. Of several, the one that does not end by
        itself.
        """
        tenant = TENANT.get()
        budgets = self._budgets.get(tenant)
        if budgets is None or tenant == NOBODY:
            return None
        now = self._clock()
        for account in self._accounts(tenant, RUN.get(), now):
            account.move(now)
            exhausted = next(_exhausted(account, _budget(budgets, account), measures, now), None)
            if exhausted is not None:
                return exhausted
        return None

    def tenants(self) -> list[str]:
        """All tenants that have an account or a budget."""
        return sorted({*self._tenants, *self._budgets})

    def accounts(self) -> Mapping[str, int]:
        """How many accounts are kept, of tenants and of runs."""
        return {"tenant": len(self._tenants), "run": self._runs}

    def totals(self) -> Iterator[tuple[str, Account]]:
        """The account of each tenant."""
        return ((name, account.account) for name, account in self._tenants.items())

    def runs(self, tenant: str) -> list[Account]:
        """The accounts of the runs of a tenant, the latest first."""
        tenant_account = self._tenants.get(tenant)
        return [] if tenant_account is None else list(reversed(tenant_account.runs.values()))

    def know(self, tenant: str, runs: Sequence[str]) -> None:
        """Make accounts for a tenant and for runs, the latest first, that may be known elsewhere."""
        for run in ("", *reversed(runs)):
            self._accounts(tenant, run, self._clock())

    def report(self, tenant: str, *, with_runs: bool = True) -> TenantUsage:
        """What a tenant and its runs have used, their budgets, and what is used up."""
        now = self._clock()
        budgets = self._budgets.get(tenant, UNLIMITED)
        entry = self._tenants.get(tenant)
        account = Account(tenant, "", now) if entry is None else entry.account
        runs = self.runs(tenant) if with_runs else []
        return TenantUsage(
            *_told(account, budgets.budget, now),
            tenant=tenant,
            runs=[RunUsage(*_told(r, budgets.run_budget, now), run_id=r.run) for r in runs],
        )

    def _accounts(self, tenant: str, run: str, now: float) -> tuple[Account, ...]:
        """The accounts that pay: that of the tenant, and that of its run if it has one."""
        payer = self._tenants.get(tenant)
        if payer is None:
            payer = self._tenants[tenant] = _Tenant(Account(tenant, "", now))
            if len(self._tenants) > MAX_TENANTS:
                name, oldest = self._tenants.popitem(last=False)
                self.touched.pop(name, None)
                self._runs -= len(oldest.runs)
        else:
            self._tenants.move_to_end(tenant)
        touched = self.touched.setdefault(tenant, {})
        touched[""] = payer.account
        if not run:
            return (payer.account,)
        account = payer.runs.get(run)
        if account is None:
            account = payer.runs[run] = Account(tenant, run, now)
            self._runs += 1
            if len(payer.runs) > self.max_runs:
                self._forget_run(tenant)
            elif self._runs > _MAX_ALL_RUNS:
                self._forget_run(next(name for name, entry in self._tenants.items() if entry.runs))
        else:
            payer.runs.move_to_end(run)
        touched[run] = account
        return (payer.account, account)

    def _forget_run(self, tenant: str) -> None:
        """Forget the run of a tenant that was used longest ago. What it used stays part of its tenant's account."""
        run, _ = self._tenants[tenant].runs.popitem(last=False)
        self._runs -= 1
        self.touched.get(tenant, {}).pop(run, None)


def _budget(budgets: Budgets, account: Account) -> Budget:
    return budgets.run_budget if account.run else budgets.budget


def _exhausted(account: Account, budget: Budget, measures: Sequence[Measure], now: float) -> Iterator[Exhausted]:
    """The limits of a budget that are reached, first those that do not end by themselves."""
    minute_end = (account.number + 1) * MINUTE_S
    reached = []
    for measure in measures:
        for name, per_minute, limit in budget.limits_of(measure):
            used = (account.minute if per_minute else account.total).of(measure)
            if used >= limit:
                end = (minute_end - now, _iso(minute_end)) if per_minute else (None, None)
                reached.append(Exhausted(account.tenant, account.run, name, limit, used, *end))
    return iter(sorted(reached, key=lambda budget_reached: budget_reached.retry_after_s is not None))


def _told(
    account: Account, budget: Budget, now: float
) -> tuple[str, Amounts, Amounts, Mapping[str, float], Sequence[UsedUp]]:
    """The fields of `report.Usage`."""
    account.move(now)
    used_up = [UsedUp(exhausted.budget, exhausted.ends_at) for exhausted in _exhausted(account, budget, BUDGETED, now)]
    total, minute = (Amounts(*map(exhausted.of, Measure)) for exhausted in (account.total, account.minute))
    return _iso(account.began), total, minute, budget.set_limits(), used_up


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
