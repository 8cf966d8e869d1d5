"""`rewardline audit` checks a data set before training."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import uvloop
from rich.table import Table

from service import settings
from service.cli.console import err, fail, out, quiet_settings, say
from service.cli.inputs import STDIN, inputs, read_params
from service.cli.local_scorer import versions_here
from service.dataset_audit.audit import audit
from service.dataset_audit.page import html
from service.dataset_audit.report import Report
from service.dataset_audit.rows import Choice, Columns, read
from service.recipes.files import BadRecipes
from service.rollouts.bad_input import BadInput
from service.row_files.reading import BadData
from service.run.core import CannotStart, open_core

_MAX_SHOWN = 20
_SHOWN_READINGS = 3
"""Of each kind of reference."""


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|FOLDER|PATTERN|-",
            help="JSON lines, JSON, CSV, TSV, Parquet (also .gz, .zst), a folder of them, a saved data set of Hugging Face, "
            "or - for standard input.",
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
    params: Annotated[
        str | None, typer.Option(help="Parameters of every row as JSON; they replace those of the row.")
    ] = None,
    params_field: Annotated[str | None, typer.Option(help="The verifier's parameters; default: params.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first rows of each file alone.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many rows of each file, by chance.")] = None,
    seed: Annotated[int, typer.Option(help="For --sample: the same seed takes the same rows.")] = 0,
    config: Annotated[Path | None, typer.Option(help="YAML file of options (service/settings.py).")] = None,
    report: Annotated[
        Path | None, typer.Option("-o", "--report", help="All findings as JSON, or as a page if it ends in .html.")
    ] = None,
) -> None:
    """Find rows that cannot be judged, before training. Exit code 1: there are findings; 3: some were not judged."""
    columns = Columns(
        reference_field, solution_field, prompt_field, params_field, recipe, verifier, read_params(params)
    )
    if verifier is not None and recipe is not None:
        raise fail("--verifier and --recipe are both there; name one")
    code = 0
    try:
        chosen = quiet_settings(config)
        versions_here(chosen, verifier, recipe)
        with inputs(files) as paths:
            if report is not None and len(paths) > 1:
                raise BadInput(f"there are {len(paths)} files, and --report is of one; name one file")
            for path, result in zip(
                paths, uvloop.run(_audit(paths, columns, chosen, Choice(limit, sample, seed))), strict=True
            ):
                if not result.rows:
                    raise BadInput(f"{path} has no rows")
                name = "standard input" if files == [STDIN] else str(path)
                if report is not None:
                    _write(report, name, result)
                _show(name, result)
                code = 1 if result.findings else code or (3 if result.unjudged else 0)
    except (BadInput, BadData, BadRecipes, CannotStart, settings.SettingsError) as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"{error.filename or report}: {error.strerror or error}") from error
    if code:
        raise typer.Exit(code)


def _write(report: Path, name: str, result: Report) -> None:
    is_page = report.suffix in (".html", ".htm")
    text = html(Path(name).name, result) if is_page else json.dumps(result.plain(), indent=1, ensure_ascii=False) + "\n"
    report.write_text(text, encoding="utf-8")


async def _audit(files: Sequence[Path], columns: Columns, chosen: settings.Settings, choice: Choice) -> list[Report]:
    """A report of each file."""
    with err.status("reading") as status:

        def show(so_far: Report) -> None:
            status.update(f"{so_far.rows} rows, {so_far.bad_rows} with findings")

        async with open_core(chosen) as core:
            return [await audit(core.engine, read(path, columns, choice), show) for path in files]


def _show(origin: str, report: Report) -> None:
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
        f"{origin}: {report.rows} rows; {report.bad_rows} with findings. "
        f"{report.checks} references looked at, {report.own_answers} of them with their own answer; "
        f"{report.unjudged} could not be judged. By {recipes or 'nothing'}."
    )


def _line(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 120 else text[:119] + "…"
