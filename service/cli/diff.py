"""`rewardline diff A B FILE`: what two versions, recipes or configurations say of the same stored responses."""

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import uvloop
import yaml
from rewardline import RewardlineError
from rich.table import Column, Table

from service import settings
from service.cli.console import err, fail, one_line, out, say
from service.cli.inputs import files_at
from service.cli.local_scorer import scorer_here
from service.cli.remote_scorer import scorer_at, versions_at
from service.diff.flips import Comparison, Flip, Kind, summary
from service.diff.report import html, plain
from service.diff.run import Side, compare
from service.observe import logs
from service.observe.audit_log import reader
from service.recipes import book
from service.recipes.files import BadRecipes
from service.rollouts.bad_input import BadInput
from service.rollouts.columns import Columns
from service.rollouts.judging import Judge
from service.rollouts.verdict_file import VERDICTS
from service.run.core import CannotStart, load_verifiers
from service.settings import Settings, SettingsError
from service.versions import releases
from service.wire import encode
from verifiers.near_names import near

STORED: Final = "stored"
HERE: Final = "here"
_VERSION: Final = re.compile(r"\d+(\.\d+)+([a-z.+-]+\d*)*")
_URLS: Final = ("http://", "https://", "grpc://", "grpcs://", "ray://")
_YAML: Final = (".yaml", ".yml")
_RECIPES_FILE: Final = frozenset({"recipes", "routes"})
_TOO_MANY, _SOME_UNJUDGED = 1, 3
_SHOWN_CHARS: Final = 110


def command(
    before: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="One side: stored (the verdicts in the file or beside it), here (this release), a verifier or recipe, "
            "a file of recipes or options (.yaml), parameters as JSON, a file of verdicts, a wheel of the server, a "
            "release in --releases-dir, the URL of a service.",
        ),
    ],
    after: Annotated[str, typer.Argument(metavar="B", help="The other side, in the same forms.")],
    file: Annotated[
        str,
        typer.Argument(metavar="FILE|LOG", help="What `rewardline score` reads, or a file or folder of the audit log."),
    ],
    verifier: Annotated[str | None, typer.Option(help="Both sides judge every row by this one.")] = None,
    recipe: Annotated[str | None, typer.Option(help="Both sides judge every row by this recipe.")] = None,
    response_field: Annotated[str | None, typer.Option(help="As for `rewardline score`.")] = None,
    reference_field: Annotated[str | None, typer.Option(help="As for `rewardline score`.")] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of options, for sides that name none.")] = None,
    releases_dir: Annotated[
        Path | None, typer.Option(help="Wheels of releases. Default: the setting releases_dir.")
    ] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For URLs.")] = None,
    max_flips: Annotated[
        str | None, typer.Option(metavar="N|SHARE%", help="Flips that are allowed: 0.1%, or a number. Default: 0.")
    ] = None,
    fail_above: Annotated[bool, typer.Option("--fail", help="End with 1 if there are more than --max-flips.")] = False,
    examples: Annotated[int, typer.Option(min=0, max=1000, help="Examples of each kind and verifier.")] = 5,
    flips: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write every flip to this file, one a line.")
    ] = None,
    report: Annotated[
        list[Path] | None, typer.Option("--report", help="Write the result as JSON, or as a page if it ends in .html.")
    ] = None,
) -> None:
    """Judge stored responses by two sides, and list every verdict that flips.

    A flip is another status, score or reward. Exit code 1: more flips than --max-flips, with --fail; 2: nothing was
    compared, because of a mistake; 3: no flip too many, but some rows were not compared or not judged.
    """
    started = time.monotonic()
    comparison = Comparison(kept=examples)
    try:
        allowed = _allowed(max_flips)
        chosen = settings.read(config, {"log_level": "warning", "releases_dir": releases_dir})
        logs.configure(chosen)
        columns = Columns(verifier, recipe, response_field, reference_field)
        if verifier is not None and recipe is not None:
            raise BadInput("--verifier and --recipe are both there; name one")
        paths = _files(file)
        uvloop.run(_compare((before, after), paths, columns, chosen, config, api_key, comparison, flips))
        if comparison.statuses["before"] and not comparison.judged:
            raise BadInput(f"{file}: no item has a score on either side, so nothing is known; try `rewardline score`")
        if not comparison.compared:
            why = ", ".join(f"{count} {why}" for why, count in comparison.skipped.most_common()) or "there is no row"
            raise BadInput(f"{file}: no row could be compared: {why}")
        for name, (side, counts) in zip((before, after), comparison.statuses.items(), strict=True):
            if not counts["ok"]:
                raise BadInput(
                    f"{file}: {name} gives no item a score, so nothing is known: {comparison.troubles[side]}"
                )
    except (BadInput, BadRecipes, CannotStart, RewardlineError, SettingsError, releases.NoRelease) as error:
        raise fail(str(error)) from error
    except OSError as error:
        raise fail(f"{error.filename or file}: {error.strerror or error}") from error
    names = (before, after)
    for path in report or ():
        data = plain(comparison, names, file)
        text = html(data) if path.suffix in (".html", ".htm") else json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, encoding="utf-8")
    _show(comparison, names, time.monotonic() - started)
    is_over = comparison.flips > allowed(comparison.compared)
    if max_flips is not None or fail_above:
        say(f"Allowed: {max_flips or 0}. {_outcome(comparison, is_over=is_over)}")
    if fail_above and is_over:
        raise typer.Exit(_TOO_MANY)
    if comparison.unjudged or comparison.skipped:
        raise typer.Exit(_SOME_UNJUDGED)


def _outcome(comparison: Comparison, *, is_over: bool) -> str:
    if is_over:
        return "Too many flips."
    if comparison.unjudged or comparison.skipped:
        missing = f"{comparison.skipped.total():,} rows not compared, {comparison.unjudged:,} verdicts `failed`"
        return f"Not passed: {missing}."
    return "Passed."


def _allowed(text: str | None) -> Any:
    """The number of flips that are allowed among so many items."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", text or "0")
    if match is None or (not match[2] and "." in match[1]):
        raise BadInput(f"--max-flips {text}: write a share with a percent sign, such as 0.1%, or a whole number")
    number = float(match[1])
    if match[2] and number > 100:
        raise BadInput(f"--max-flips {text}: write a share of 100% or less")
    return (lambda compared: compared * number / 100) if match[2] else (lambda compared: number)


def _files(location: str) -> list[Path]:
    """The files of rows, or of the audit log."""
    path = Path(location)
    if path.is_dir() and (log_files := reader.find([path])):
        return log_files
    return [file for file in files_at(location) if not file.name.endswith(VERDICTS)]


async def _compare(
    names: tuple[str, str],
    files: Sequence[Path],
    columns: Columns,
    chosen: Settings,
    config: Path | None,
    api_key: str | None,
    comparison: Comparison,
    flips: Path | None,
) -> None:
    async with AsyncExitStack() as stack:
        side_opener = _Sides(stack, columns, chosen, config, api_key)
        sides = (await side_opener.side(names[0]), await side_opener.side(names[1]))
        target = None if flips is None else stack.enter_context(flips.open("wb"))

        def write(flip: Flip) -> None:
            if target is not None:
                target.write(encode(flip.plain()) + b"\n")

        with err.status("reading") as status:

            def show(so_far: Comparison) -> None:
                status.update(f"{so_far.rows:,} rows, {so_far.flips:,} flips")

            await compare(files, sides, comparison, write, show)


class _Sides:
    """Makes sides of their names. Sides with the same settings share an engine."""

    def __init__(
        self, stack: AsyncExitStack, columns: Columns, chosen: Settings, config: Path | None, api_key: str | None
    ) -> None:
        self._stack, self._columns, self._chosen = stack, columns, chosen
        self._config, self._api_key = config, api_key
        self._here: Judge | None = None

    async def side(self, name: str) -> Side:
        """
        Raises:
            BadInput: nothing has this name.
            NoRelease, CannotStart, BadRecipes, SettingsError
        """
        path = Path(name)
        if name == STORED or name.endswith(".jsonl"):
            return Side(name, self._columns, verdicts=None if name == STORED else path)
        if name.startswith(_URLS):
            await versions_at(name, self._api_key, None, None)  # a wrong address is noticed before the first row
            return Side(name, self._columns, await self._stack.enter_async_context(scorer_at(name, self._api_key)))
        if name.endswith(".whl") or _VERSION.fullmatch(name):
            release = releases.wheel(path) if name.endswith(".whl") else releases.find(self._chosen.releases_dir, name)
            return Side(name, self._columns, await self._stack.enter_async_context(_judge_of(release, self._chosen)))
        if name.endswith(_YAML):
            options = self._options(path)
            return Side(name, self._columns, await self._stack.enter_async_context(scorer_here(options)))
        return Side(name, self._columns_of(name), await self._judge_here())

    def _options(self, path: Path) -> Settings:
        """The settings of a side that is a file of recipes or of options."""
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {error}") from error
        over: dict[str, Any] = {"log_level": "warning"}
        if isinstance(content, dict) and content.keys() & _RECIPES_FILE:
            return settings.read(self._config, {**over, "recipes_file": path})
        return settings.read(path, over)

    def _columns_of(self, name: str) -> Columns:
        """How a side of this release judges."""
        if name == HERE:
            return self._columns
        if name.startswith("{"):
            try:
                params = json.loads(name)
            except ValueError as error:
                raise BadInput(f"the parameters {name} are not JSON: {error}") from error
            return replace(self._columns, params=params)
        verifiers = load_verifiers()
        if name in verifiers:
            return replace(self._columns, verifier=name, recipe=None)
        recipes = book.load(verifiers, self._chosen.recipes_file).recipes
        if name in recipes:
            return replace(self._columns, recipe=name, verifier=None)
        raise BadInput(
            f"there is no verifier, recipe or file {name!r}{near(name, {STORED, HERE, *verifiers, *recipes})}; "
            "`rewardline diff --help` shows the forms of a side"
        )

    async def _judge_here(self) -> Judge:
        if self._here is None:
            self._here = await self._stack.enter_async_context(scorer_here(self._chosen))
        return self._here


@asynccontextmanager
async def _judge_of(release: releases.Release, chosen: Settings) -> AsyncIterator[Judge]:
    async with releases.running(release, chosen) as process, scorer_at(process.url, process.key) as judge:
        yield judge


def _show(comparison: Comparison, names: tuple[str, str], seconds: float) -> None:
    table = Table("kind", "verifier", "before", "after", Column("items", justify="right"))
    for (kind, verifier, old_reason, new_reason), count in comparison.changes.most_common():
        table.add_row(kind, verifier, old_reason, new_reason, f"{count:,}")
    if comparison.changes:
        out.print(table)
    for axis, counts_by_name in comparison.flips_by.items():
        listing = ", ".join(
            f"{name} {counts.total():,}"
            for name, counts in sorted(counts_by_name.items(), key=lambda entry: -entry[1].total())[:12]
        )
        say(f"By {axis}: {listing}.")
    for (kind, verifier), flips in sorted(comparison.examples.items(), key=lambda entry: [*Kind].index(entry[0][0])):
        say(f"{kind}, {verifier}:")
        for flip in flips:
            say(
                f"  line {flip['line']}: {one_line(summary(flip['before']), _SHOWN_CHARS)} -> {one_line(summary(flip['after']), _SHOWN_CHARS)}"
            )
            say(f"    reference {one_line(flip['reference'], _SHOWN_CHARS)}")
            say(f"    response  {one_line(flip['response'], _SHOWN_CHARS, at_end=True)}")
    for verifier in sorted(comparison.versions["before"].keys() & comparison.versions["after"].keys()):
        sides = [", ".join(comparison.versions[side][verifier]) for side in ("before", "after")]
        if sides[0] != sides[1]:
            say(f"{verifier}: version {sides[0]} before, {sides[1]} after.")
    for why, count in comparison.skipped.most_common():
        say(f"{count:,} rows not compared: {why}.")
    for name, counts in zip(names, comparison.statuses.values(), strict=True):
        say(f"{name}: {', '.join(f'{count:,} {status}' for status, count in counts.most_common())}.")
    rate = comparison.compared / seconds if seconds else 0.0
    say(
        f"{comparison.compared:,} items compared in {seconds:.1f} s ({rate:,.0f}/s): {comparison.flips:,} flips "
        f"({comparison.share:.3%}), {comparison.kinds[Kind.REASON]:,} with another reason alone."
    )
