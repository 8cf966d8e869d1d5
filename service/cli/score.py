"""`rewardline score FILE` scores files of rollouts.

A response is text or messages; messages are a list, or its JSON text, as tables hold it. The output begins with what made
it. So the same command goes on where an interrupted run ended, and another one does not keep its verdicts.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rewardline import RewardlineError
from rewardline.config import check_run_id
from rich.bar import Bar
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from service.cli.console import err, fail, out, quiet_settings, say
from service.cli.inputs import STDIN, inputs, read_params
from service.cli.local_scorer import scorer_here, versions_here
from service.cli.remote_scorer import scorer_at, versions_at
from service.cli.score_on_ray import score_on_ray
from service.recipes.files import BadRecipes
from service.rollouts import verdict_file
from service.rollouts.bad_input import BadInput
from service.rollouts.columns import Columns
from service.rollouts.judging import Judge
from service.rollouts.rescore import NoRows, Run, check_first_row, check_task, rescore, sampled
from service.rollouts.tally import Tally
from service.row_files.reading import DataFile, stem_of
from service.run.core import CannotStart
from service.settings import Settings, SettingsError

_BAR_CHARS = 20
_ALL_INVALID, _SOME_FAILED = 1, 3


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE|FOLDER|PATTERN|-",
            help="JSON lines, JSON, CSV, TSV or Parquet (also .gz, .zst), a folder of them, a saved data set of Hugging "
            "Face, or - for standard input. With --ray also by URI.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", help="Default: FILE.verdicts.jsonl. A folder for several files. With --ray also a URI."
        ),
    ] = None,
    verifier: Annotated[str | None, typer.Option(help="Judge every line by this one.")] = None,
    recipe: Annotated[str | None, typer.Option(help="Judge every line by this recipe.")] = None,
    params: Annotated[
        str | None, typer.Option(help="Parameters of every line as JSON; they replace those of the line.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Have this service judge (http:// or grpc://); default: here.")
    ] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url.")] = None,
    response_field: Annotated[
        str | None, typer.Option(help="Default: response, completion, output, prediction, ...")
    ] = None,
    reference_field: Annotated[str | None, typer.Option(help="Default: reference, ground_truth, gold, ...")] = None,
    label_field: Annotated[str | None, typer.Option(help="true/false, to compare verdicts with: expected, ...")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first rows of each file alone.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many rows of each file, by chance.")] = None,
    seed: Annotated[int, typer.Option(help="For --sample: the same seed takes the same rows.")] = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Judge all lines anew, whatever the output holds.")
    ] = False,
    run_id: Annotated[
        str | None, typer.Option(envvar="REWARDLINE_RUN_ID", help="The run that usage is counted for, and logs name.")
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Score on a cluster of Ray: its HOST:PORT, auto, or local for one that ends with this.",
        ),
    ] = None,
) -> None:
    """Score files of rollouts. The same command continues an interrupted run, and tries lines again that failed.

    Exit code 1: every line is invalid; 2: nothing was judged, because of a mistake; 3: some lines failed.
    """
    try:
        check_run_id(run_id)
    except ValueError as error:
        raise fail(f"--run-id: {error}") from error
    if verifier is not None and recipe is not None:
        raise fail("--verifier and --recipe are both there; name one")
    columns = Columns(verifier, recipe, response_field, reference_field, label_field, read_params(params))
    started = time.monotonic()
    try:
        if ray is not None:
            if url or output is None:
                raise fail("--ray judges in the cluster, without --url, and needs a folder for its output: -o DIR")
            if len(files) > 1:
                raise fail(f"--ray reads one place, and there are {len(files)}; quote the pattern, or name a folder")
            tally = score_on_ray(files[0], output, columns, ray, run_id=run_id, overwrite=overwrite)
            targets = [output]
        else:
            settings = quiet_settings()
            with _sources(files, output) as pairs:
                runs = _runs(pairs, columns, _versions(settings, url, api_key, columns), limit, sample, seed)
                for run in runs:
                    if run.target.exists() and any(run.target.samefile(earlier.source) for earlier in runs):
                        raise BadInput(f"the output {run.target} is an input; name another one with -o")
                    if not overwrite:
                        verdict_file.check(run.target, run.made)
                scorer = scorer_at(url, api_key, run_id=run_id) if url else scorer_here(settings, run_id=run_id)
                tally = uvloop.run(_score(runs, scorer, overwrite=overwrite))
            targets = [str(run.target) for run in runs]
    except (BadInput, BadRecipes, RewardlineError, CannotStart, SettingsError) as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"{error.filename or output or files[0]}: {error.strerror or error}") from error
    except KeyboardInterrupt as error:
        say("Interrupted; the same command continues after what is in the output.", is_error=True)
        raise typer.Exit(130) from error
    _summarise(tally, targets, time.monotonic() - started)
    if tally.with_status("failed"):
        raise typer.Exit(_SOME_FAILED)
    if tally.lines and tally.with_status("invalid") == tally.lines:
        raise typer.Exit(_ALL_INVALID)


@contextmanager
def _sources(locations: Sequence[str], output: str | None) -> Iterator[list[tuple[Path, Path]]]:
    """Each input with its output.

    Raises:
        BadInput: there is no input, or two would share an output.
    """
    if STDIN in locations and output is None:
        raise BadInput("standard input has no name; name the output: -o FILE")
    with inputs(locations) as files:
        yield _with_outputs(" ".join(locations), files, output)


def _with_outputs(location: str, files: Sequence[Path], output: str | None) -> list[tuple[Path, Path]]:
    if output is not None and len(files) == 1 and not Path(output).is_dir():
        return [(files[0], Path(output))]
    folder = None if output is None else Path(output)
    if folder is not None:
        if folder.is_file():
            raise BadInput(f"{location} has {len(files)} files, and {folder} is a file; name a folder with -o")
        folder.mkdir(parents=True, exist_ok=True)
    pairs = [(source, (folder or source.parent) / default_name(source)) for source in files]
    names: dict[Path, Path] = {}
    for source, target in pairs:
        if target in names:
            raise BadInput(f"{names[target]} and {source} would both be written to {target}; score them apart, with -o")
        names[target] = source
    return pairs


def default_name(source: Path) -> str:
    """The name of the output. Files of other forms keep their ending, so that no two share an output."""
    return (stem_of(source) if source.suffix == ".jsonl" else source.name) + verdict_file.VERDICTS


def _versions(settings: Settings, url: str | None, api_key: str | None, columns: Columns) -> dict[str, str]:
    if url is not None:
        versions: dict[str, str] = uvloop.run(versions_at(url, api_key, columns.verifier, columns.recipe))
        return versions
    return versions_here(settings, columns.verifier, columns.recipe)


def _runs(
    pairs: Sequence[tuple[Path, Path]],
    columns: Columns,
    versions: dict[str, str],
    limit: int | None,
    sample: int | None,
    seed: int,
) -> list[Run]:
    """What is scored.

    Raises:
        BadInput: the first row of a file lacks what it needs.
    """
    runs: list[Run] = []
    options = {
        "verifier": columns.verifier,
        "recipe": columns.recipe,
        "params": columns.params,
        "response_field": columns.response,
        "reference_field": columns.reference,
        "limit": limit,
        "sample": sample,
        "seed": seed if sample else None,
    }
    made_with = {name: value for name, value in options.items() if value is not None}
    for source, target in pairs:
        try:
            check_first_row(source, columns, needs_judge=columns.verifier is None and columns.recipe is None)
        except NoRows as error:
            if source is pairs[-1][0] and not runs:
                raise
            say(f"{error}; it is left out", is_error=True)
            continue
        chosen: Callable[[int], bool] = lambda _: True  # noqa: E731 - one of two
        if sample is not None:
            chosen = sampled(source, sample, seed, limit).__contains__
        runs.append(Run(source, target, columns, verdict_file.made_by(source, made_with, versions), chosen, limit))
    return runs


async def _score(runs: Sequence[Run], scorer: AbstractAsyncContextManager[Judge], *, overwrite: bool) -> Tally:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]} items/s, {task.fields[failed]} failed"),
        TimeRemainingColumn(),
        console=err,
    )
    total = Tally()
    async with scorer as judge:
        await check_task(runs[0], judge)
        for run in runs:
            if overwrite and run.target.exists():
                run.target.write_bytes(b"")  # it may be a link or a device, which stays
        with bar:
            for run in runs:
                task = bar.add_task(run.source.name, total=None, rate="-", failed=0)
                started = time.monotonic()

                def show(file: DataFile, tally: Tally, *, task: TaskID = task, started: float = started) -> None:
                    rate = tally.lines / (time.monotonic() - started)
                    failed = tally.with_status("failed")
                    bar.update(
                        task,
                        completed=file.position,
                        total=file.size if file.position else None,
                        rate=f"{rate:.0f}",
                        failed=failed,
                    )

                tally = await rescore(run, judge, show)
                total.done_before += tally.done_before
                total.add(tally)
    return total


def _summarise(tally: Tally, targets: Sequence[str], seconds: float) -> None:
    table = Table("verifier", "status", "reason", Column("lines", justify="right"), "share")
    outcomes = sorted(tally.by_outcome.items(), key=lambda pair: -pair[1])
    for (verifier, status, reason), count in outcomes:
        table.add_row(verifier, status, reason, f"{count:,}", Bar(tally.lines, 0, count, width=_BAR_CHARS))
    out.print(table)
    for outcome, _ in outcomes:
        if outcome in tally.first:
            line, message = tally.first[outcome]
            say(
                f"{outcome[1]} {outcome[2]}, first on line {line}: {message}"
                if message
                else f"{outcome[1]} {outcome[2]}"
            )
    new = tally.lines - tally.done_before
    earlier_note = f" ({tally.done_before} lines were there before)" if tally.done_before else ""
    rate = new / seconds if seconds else 0.0
    judged = tally.with_status("ok")
    mean = f", mean score {tally.score_sum / judged:.4f}" if judged else ""
    location = targets[0] if len(targets) == 1 else f"{len(targets)} files, from {targets[0]} to {targets[-1]}"
    say(f"{new} lines in {seconds:.1f} s, {rate:.0f}/s{mean}. Verdicts in {location}{earlier_note}.")
    if labelled := tally.agreement.total():
        right = tally.agreement[(True, True)] + tally.agreement[(False, False)]
        say(
            f"Labels: {right} of {labelled} agree ({right / labelled:.2%}); accepted though labelled wrong "
            f"{tally.agreement[(False, True)]}, rejected though labelled right {tally.agreement[(True, False)]}."
        )
