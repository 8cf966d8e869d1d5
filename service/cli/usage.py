"""`rewardline usage` shows what a tenant of a running service and its runs have used, and what they may use."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from rewardline import Client, RewardlineError
from rewardline.hook import DEFAULT_URL
from rich.table import Column, Table
from rich.text import Text

from service.cli.console import fail, out, say

_TIMEOUT_S: Final = 10.0
_FORMS: Final = {
    "items": ("items", ",.0f"),
    "judged": ("judged", ",.0f"),
    "cpu_s": ("CPU s", ",.1f"),
    "judge_tokens": ("tokens", ",.0f"),
    "judge_cost": ("cost", ",.2f"),
}
"""The heading and the form of each measure."""
_PER_MINUTE: Final = "_per_minute"

Json = Mapping[str, Any]


def command(
    tenant: Annotated[str | None, typer.Option(help="Of this tenant; the key needs `admin`. Default: its own.")] = None,
    url: Annotated[str, typer.Option(envvar="REWARDLINE_URL", help="The service (http:// or https://).")] = DEFAULT_URL,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="The key.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="What GET /v1/usage answers, as JSON.")] = False,
) -> None:
    """Show what a tenant and its runs have used, and what they may use."""
    try:
        with Client(url, api_key=api_key, timeout_s=_TIMEOUT_S) as client:
            report = client.usage(tenant=tenant)
    except (RewardlineError, ValueError) as error:
        raise fail(str(error)) from error
    if as_json:
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for used in report["tenants"]:
        say(f"Tenant {used['tenant']}, counted since {used['since']}.")
        out.print(_table(used))
        for line in _exhausted(used):
            say(line)


def _table(used: Json) -> Table:
    numbers = [Column(head, justify="right", no_wrap=True) for head, _ in _FORMS.values()]
    table = Table(Column("", overflow="fold"), *numbers)
    table.add_row("in all", *_row(used["total"]))
    table.add_row("this minute", *_row(used["minute"]))
    _add_budget(table, "budget", used["budget"])
    runs: Sequence[Json] = used["runs"]
    for run in runs[:1]:  # all runs have the same budget
        _add_budget(table, "budget of a run", run["budget"])
    table.add_section()
    for run in runs:
        table.add_row(Text(run["run_id"]), *_row(run["total"]))
    return table


def _add_budget(table: Table, name: str, budget: Json) -> None:
    """Add what may be used, in all and per minute, where there is a limit."""
    minute = {limit.removesuffix(_PER_MINUTE): cap for limit, cap in budget.items() if limit.endswith(_PER_MINUTE)}
    for about, limits in ((name, budget), (f"{name} per minute", minute)):
        if limits.keys() & _FORMS.keys():
            table.add_row(about, *_row(limits))


def _row(amounts: Json) -> list[str]:
    return [format(amounts[name], form) if name in amounts else "" for name, (_, form) in _FORMS.items()]


def _exhausted(used: Json) -> Iterator[str]:
    """A line for each budget that is used up."""
    for owner, account in (("", used), *((f" of the run {run['run_id']}", run) for run in used["runs"])):
        for budget in account["exhausted"]:
            until = f"until {budget['until']}" if budget["until"] else "until somebody raises it"
            yield f"{budget['budget']}{owner} is used up {until}."
