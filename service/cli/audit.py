"""`rewardline audit` checks a data set before training."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from rich.table import Table

from service import settings
from service.cli.console import err, fail, out, say
from service.dataset_audit.audit import audit
from service.dataset_audit.page import html
from service.dataset_audit.report import Report
from service.dataset_audit.rows import Columns, read
from service.recipes.files import BadRecipes
from service.row_files.reading import BadData
from service.run.core import CannotStart, open_core

_MAX_SHOWN = 20
_SHOWN_READINGS = 3
"""Of each kind of reference."""


def command(
    file: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="JSON lines, JSON, CSV, TSV, Parquet (also .gz, .zst), or a saved data set of Hugging Face.",
        ),
    ],
    recipe: Annotated[str | None, typer.Option(help="Audit every row by this recipe; default: by its labels.")] = None,
    verifier: Annotated[str | None, typer.Option(help="Audit every row by this verifier.")] = None,
    reference_field: Annotated[
        str | None, typer.Option(help="Default: reference, ground_truth, gold, ...; '.' is the whole row.")
    ] = None,
    solution_field: Annotated[
        str | None,
        typer.Option(
            help="A right response: a program that must pass the tests (default: canonical_solution, ...), a text."
        ),
    ] = None,
    prompt_field: Annotated[str | None, typer.Option(help="For verifiers that read the prompt.")] = None,
    params_field: Annotated[str | None, typer.Option(help="The verifier's parameters; default: params.")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of options (service/settings.py).")] = None,
    report: Annotated[
        Path | None, typer.Option("-o", "--report", help="All findings as JSON, or as a page if it ends in .html.")
    ] = None,
) -> None:
    """Find rows that cannot be judged, before training. Exit code 1: there are findings; 3: some were not judged."""
    columns = Columns(reference_field, solution_field, prompt_field, params_field, recipe, verifier)
    try:
        result = uvloop.run(_audit(file, columns, config))
    except (BadData, BadRecipes, CannotStart, settings.SettingsError) as error:
        raise fail(str(error)) from error
    if report is not None:
        is_page = report.suffix in (".html", ".htm")
        text = html(file.name, result) if is_page else json.dumps(result.plain(), indent=1, ensure_ascii=False) + "\n"
        report.write_text(text, encoding="utf-8")
    _show(file, result)
    if result.findings:
        raise typer.Exit(1)
    if result.unjudged:
        raise typer.Exit(3)


async def _audit(file: Path, columns: Columns, config: Path | None) -> Report:
    with err.status("reading") as status:

        def show(so_far: Report) -> None:
            status.update(f"{so_far.rows} rows, {so_far.bad_rows} with findings")

        async with open_core(settings.read(config)) as core:
            return await audit(core.engine, read(file, columns), show)


def _show(file: Path, report: Report) -> None:
    if report.findings:
        reasons = Table("verifier", "finding", "rows")
        for (verifier, reason), count in report.by_reason().most_common():
            reasons.add_row(verifier, reason, str(count))
        out.print(reasons)
        for finding in report.findings[:_MAX_SHOWN]:
            name = f" ({finding.id})" if finding.id else ""
            say(f"row {finding.row}{name}: {finding.reason}: {_line(finding.message)}")
            if "reference" in finding.told:
                say(f"    {_line(finding.told['reference'])}")
        if len(report.findings) > _MAX_SHOWN:
            say(f"... and {len(report.findings) - _MAX_SHOWN} more; --report writes all of them.")
    if report.references:
        kinds = ", ".join(f"{kind} {count}" for kind, count in report.references.most_common())
        say(f"References of mathematics: {kinds}.")
        for reading in report.first_readings(_SHOWN_READINGS):
            say(f"    row {reading.row}: {reading.kind}: {_line(reading.answer)}")
        say("    --report writes how each row is read.")
    recipes = ", ".join(f"{name} ({count})" for name, count in report.recipes.most_common(8))
    say(
        f"{file}: {report.rows} rows; {report.bad_rows} with findings. "
        f"{report.checks} references looked at, {report.own_answers} of them with their own answer; "
        f"{report.unjudged} could not be judged. By {recipes or 'nothing'}."
    )


def _line(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 120 else text[:119] + "…"
