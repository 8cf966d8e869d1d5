"""`rewardline dataset` says what stored verdicts tell of a data set, and writes the rows that teach."""

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
import uvloop
from rich.table import Table

from service import settings
from service.cli.console import fail, one_line, out, say
from service.cli.local_scorer import scorer_here
from service.observe.audit_log.reader import NotThere
from service.prompts import trainer_rows
from service.prompts.collecting import Prompt, Response, collect
from service.prompts.duplicates import near_duplicates
from service.prompts.label_errors import LEAST_AGREEING, Suspect, suspects
from service.prompts.label_errors import Judge as AnswerJudge
from service.prompts.stored_files import FORMS, files
from service.recipes.files import BadRecipes
from service.rollouts.judging import Judge
from service.run.core import CannotStart
from service.watch.pass_rates import BANDS
from service.watch.samples import PAID

app = typer.Typer(no_args_is_help=True, help="Pass rates, wrong references and duplicates, from stored verdicts.")
_SHOWN = 20
_Places = Annotated[list[Path], typer.Argument(metavar="FILE|DIR...", help="Audit logs, or verdicts of `score`.")]
_Output = Annotated[Path, typer.Option("-o", "--output", help="The Parquet file to write.")]
_Trainer = Annotated[Literal["verl", "trl", "prime-rl"], typer.Option("--format", help="Whose columns.")]
_Seed = Annotated[int, typer.Option(help="The same seed chooses the same rows.")]


@app.command()
def stats(
    paths: _Places,
    errors: Annotated[bool, typer.Option(help="Look for wrong references, too: judges responses anew.")] = False,
) -> None:
    """Show how many prompts are solved how often, near duplicates, and with --errors references that seem wrong."""
    prompts = _collected(paths)
    impossible = Counter(prompt.why_impossible for prompt in prompts if prompt.why_impossible)
    table = Table("band", "prompts", "responses", "mean pass rate")
    for band in BANDS:
        rates = [prompt.rate for prompt in prompts if prompt.rate.band == band]
        mean = sum(rate.rate or 0.0 for rate in rates) / len(rates) if rates else 0.0
        table.add_row(band, str(len(rates)), str(sum(rate.count for rate in rates)), f"{mean:.2f}" if rates else "")
    out.print(table)
    pairs = near_duplicates([prompt.text for prompt in prompts])
    say(f"{len(prompts)} prompts; {len(pairs)} are near duplicates of an earlier one.")
    for why, number in impossible.most_common():
        say(f"{number} rows are impossible: no response to them can be judged ({why}).")
    for first, second in pairs[:_SHOWN]:
        say(f"    {one_line(prompts[second].text)}  is nearly  {one_line(prompts[first].text)}")
    wrong = _suspects(prompts) if errors else []
    if errors:
        few = sum(len(prompt.responses) < LEAST_AGREEING for prompt in prompts)
        say(f"{len(wrong)} references seem wrong; {few} prompts have fewer responses than tell ({LEAST_AGREEING}).")
    for error in wrong:
        say(f"reference {one_line(error.prompt.reference)}: {error.agreeing} of {error.responses} responses agree on ")
        say(f"    {one_line(error.answer)}  for  {one_line(error.prompt.text)}")


@app.command("filter")
def filter_rows(
    paths: _Places,
    output: _Output,
    trainer: _Trainer = "verl",
    band: Annotated[list[str] | None, typer.Option(help="Keep these bands; default: hard, medium, easy.")] = None,
    errors: Annotated[bool, typer.Option(help="Leave out references that seem wrong: judges responses anew.")] = False,
) -> None:
    """Write the prompts that teach, each once: without those that are always or never solved, and near duplicates."""
    bands = _bands(band or ["hard", "medium", "easy"])
    prompts = _usable(_collected(paths))
    twins = {second for _, second in near_duplicates([prompt.text for prompt in prompts])}
    wrong = {id(error.prompt) for error in _suspects(prompts)} if errors else set()
    rows = [
        prompt
        for at, prompt in enumerate(prompts)
        if prompt.rate.band in bands and at not in twins and id(prompt) not in wrong
    ]
    _write(output, rows, trainer)
    say(f"{output}: {len(rows)} of {len(prompts)} prompts; {len(twins)} near duplicates, {len(wrong)} wrong references")


@app.command()
def mix(
    paths: _Places,
    output: _Output,
    share: Annotated[list[str], typer.Option(help="BAND=SHARE, such as medium=0.6; repeat it.")],
    count: Annotated[int, typer.Option(min=1, help="Rows to write, at most.")] = 1000,
    trainer: _Trainer = "verl",
    seed: _Seed = 0,
) -> None:
    """Write a mixture of bands of difficulty."""
    shares = _shares(share)
    prompts, chosen = _usable(_collected(paths)), random.Random(seed)  # noqa: S311  # it chooses rows
    kept: list[Prompt] = []
    for band, part in shares.items():
        pool, rows = [prompt for prompt in prompts if prompt.rate.band == band], round(part * count)
        if len(pool) < rows:
            say(f"{band}: {len(pool)} prompts for {rows} rows; the mixture has fewer of them than --share says")
        kept += chosen.sample(pool, min(len(pool), rows))
    if not kept:
        raise fail(f"no prompt is {' or '.join(shares)}; `rewardline dataset stats` counts the bands")
    chosen.shuffle(kept)
    _write(output, kept, trainer)
    bands = ", ".join(f"{band} {number}" for band, number in Counter(prompt.rate.band for prompt in kept).items())
    say(f"{output}: {len(kept)} rows ({bands})")


def _collected(paths: Sequence[Path]) -> list[Prompt]:
    try:
        prompts, damaged = collect(paths)
    except NotThere as error:
        raise fail(str(error)) from error
    for problem in damaged[:_SHOWN]:
        say(problem)
    if not prompts and not files(paths):
        raise fail(f"no files to read in {', '.join(map(str, paths))}; they end with {', '.join(FORMS)}")
    if not prompts:
        raise fail("no judged prompt in these files; a log of hashes (`audit_redact`) has no prompts")
    return list(prompts.values())


def _usable(prompts: Sequence[Prompt]) -> list[Prompt]:
    usable = [prompt for prompt in prompts if prompt.messages and not prompt.why_impossible]
    if len(usable) < len(prompts):
        say(
            f"{len(prompts) - len(usable)} rows are left out: no prompt, only a part of the row, or no response can be judged"
        )
    return usable


def _bands(names: Sequence[str]) -> set[str]:
    if unknown := set(names) - {*BANDS}:
        raise fail(f"no band {sorted(unknown)[0]!r}; there are {', '.join(BANDS)}")
    return set(names)


def _shares(texts: Sequence[str]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for text in texts:
        band, _, number = text.partition("=")
        if band in shares:
            raise fail(f"--share {text}: {band} has a share already; write each band once")
        try:
            shares[band] = float(number)
        except ValueError:
            raise fail(f"--share {text}: write BAND=SHARE, such as medium=0.6") from None
    _bands([*shares])
    if not all(part > 0 for part in shares.values()):
        raise fail(f"--share {' '.join(texts)}: write shares above 0; a band that is not named is left out")
    if sum(shares.values()) > 1.0001:
        raise fail(f"--share: the shares add up to {sum(shares.values()):g}; write shares that add up to 1 or less")
    return shares


def _write(output: Path, prompts: Sequence[Prompt], trainer: str) -> None:
    try:
        trainer_rows.write(output, prompts, trainer)
    except ImportError as error:
        raise fail("Parquet needs pyarrow: pip install 'rewardline-server[parquet]'") from error
    except OSError as error:
        raise fail(f"{output}: {error.strerror}") from error


def _suspects(prompts: Sequence[Prompt]) -> list[Suspect]:
    try:
        return list(uvloop.run(_looked_for(prompts)))
    except (BadRecipes, CannotStart, settings.SettingsError) as error:
        raise fail(str(error)) from error


async def _looked_for(prompts: Sequence[Prompt]) -> list[Suspect]:
    async with scorer_here(settings.read(None)) as score:
        return await suspects(prompts, by(score))


def by(score: Judge) -> AnswerJudge:
    """Asks the verifier of a prompt whether responses are right, with other answers as references."""

    async def judge(prompt: Prompt, pairs: Sequence[tuple[Response, str]]) -> list[bool]:
        items = [{**_named(prompt), "response": response.text, "reference": answer} for response, answer in pairs]
        return [(result["score"] or 0.0) >= PAID for result in await score(items)]

    return judge


def _named(prompt: Prompt) -> dict[str, object]:
    """The fields that say how the prompt is judged: its recipe before the verifier that the recipe names."""
    fields = dict(prompt.fields)
    if "recipe" in fields:
        fields = {
            name: value for name, value in fields.items() if name not in ("verifier", "domain", "data_source", "tag")
        }
    elif "verifier" in fields:
        fields = {name: fields[name] for name in ("verifier", "params") if name in fields}
    return {**fields, "prompt": prompt.text} if prompt.text else fields
