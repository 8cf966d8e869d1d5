"""`rewardline curves` draws what an audit log holds where training is looked at: each run as a run of the tracker."""

import contextlib
import hashlib
import importlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlencode

import typer
import uvloop
from rewardline import AsyncClient, RewardlineError
from rewardline.curves import PREFIX, Sink, costs_of, figures_of, to_mlflow, to_tensorboard, to_trackio, to_wandb

from service import settings
from service.cli.console import fail, say
from service.observe.audit_log import reader, runs
from service.observe.audit_log.search import Filters
from service.observe.audit_log.tables import Tables

Tracker = Literal["wandb", "mlflow", "tensorboard", "trackio"]
Step = dict[str, Any]
_FIGURES: Final = (*("count", "failed", "invalid", "mean_reward", "latency_ms", "groups", "without_signal", "reasons"),)
_ASK_AGAIN_S: Final = 10.0
_NOT_OF_FOLDERS: Final = re.compile(r"[^A-Za-z0-9._:@~+=-]")
_FOLDER_CHARS: Final = 128


class NoTracker(Exception):
    """The tracker is not installed. The message says how to install it."""


def command(
    to: Annotated[Tracker, typer.Option(help="Where the curves go; the package must be installed.")],
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[DIR|FILE]...", help="Default: the log of `rewardline serve` here.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Read the log of this service (http://).")] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="For --url; scope admin.")] = None,
    run: Annotated[list[str] | None, typer.Option(help="These runs alone.")] = None,
    project: Annotated[str, typer.Option(help="The tracker's project or experiment.")] = "rewardline",
    directory: Annotated[Path, typer.Option("--dir", help="For tensorboard: the folder of its files.")] = Path("runs"),
    follow: Annotated[bool, typer.Option("--follow", help="Go on with new steps, until Ctrl-C.")] = False,
) -> None:
    """Draw curves of an audit log: mean reward, reasons, failures, latency, groups without signal, by the trainer's step.

    With --url also what the judge models of a run have cost so far.
    """
    read = _of_service(url, api_key, run or ()) if url else _of_files(paths, run or ())
    written: set[tuple[str, str, int]] = set()
    try:
        with contextlib.ExitStack() as stack:
            sinks = _Sinks(to, project, directory, stack)
            with contextlib.suppress(KeyboardInterrupt):
                while follow:
                    _write(_over(read()), written, sinks)
                    time.sleep(_ASK_AGAIN_S)
            _write(read(), written, sinks)
    except (NoTracker, reader.NotThere, RewardlineError, settings.SettingsError) as error:
        raise fail(str(error)) from error
    if not written:
        raise fail("no record of the log names a step (metadata: step, global_step, training_step or rollout_id)")
    say(f"{len(written)} steps of {len({key[0] for key in written})} runs are drawn by {to}.")


def _of_files(paths: list[Path] | None, chosen: Sequence[str]) -> Callable[[], list[Step]]:
    def read() -> list[Step]:
        folder = settings.read().with_own_log().log_folder
        places = paths or ([] if folder is None else [folder])
        with Tables(reader.find(places)) as tables:
            steps: list[Step] = runs.steps(tables, Filters(runs=chosen))["steps"]
            return steps

    return read


def _of_service(url: str, api_key: str | None, chosen: Sequence[str]) -> Callable[[], list[Step]]:
    async def steps() -> list[Step]:
        async with AsyncClient(url, api_key=api_key) as client:
            answer = await client.call("GET", f"/v1/log/steps?{urlencode([('run', name) for name in chosen])}")
            costs = costs_of(await client.usage())
            return [{**step, "judge_cost": costs.get(step["run"])} for step in answer["steps"]]

    return lambda: uvloop.run(steps())


def _over(steps: Sequence[Step]) -> list[Step]:
    """The steps that no more records are expected of: another follows."""
    last = {(step["run"], step["judge"]): step["step"] for step in steps}
    return [step for step in steps if step["step"] < last[step["run"], step["judge"]]]


def _write(steps: Sequence[Step], written: set[tuple[str, str, int]], sinks: "_Sinks") -> None:
    """Draw the steps that are new. What a run has cost so far stands at the last of them, since a log holds no costs."""
    new = [step for step in steps if (step["run"], step["judge"], step["step"]) not in written]
    last = {step["run"]: step for step in sorted(new, key=lambda step: step["step"])}
    for step in sorted(new, key=lambda step: (step["run"], step["step"])):
        written.add((step["run"], step["judge"], step["step"]))
        figures = figures_of(step["judge"], **{name: step[name] for name in _FIGURES})
        if step is last[step["run"]] and step.get("judge_cost") is not None:
            figures = {**figures, f"{PREFIX}/judge_cost": step["judge_cost"]}
        sinks.of(step["run"] or "unnamed")(figures, step["step"])


class _Sinks:
    """The sink of each run, which begins when it is first needed."""

    def __init__(self, to: Tracker, project: str, directory: Path, stack: contextlib.ExitStack) -> None:
        try:
            self._module = importlib.import_module(_MODULES[to])
        except ImportError as error:
            raise NoTracker(f"--to {to}: pip install {_PACKAGES[to]} ({error})") from error
        self._begin = _TRACKERS[to]
        self._project = project
        self._directory = directory
        self._open: dict[str, Sink] = {}
        self._stack = stack

    def of(self, run: str) -> Sink:
        if run not in self._open:
            self._open[run] = self._stack.enter_context(self._begin(self._module, self._project, self._directory, run))
        return self._open[run]


@contextmanager
def _wandb(wandb: Any, project: str, _: Path, run: str) -> Iterator[Sink]:
    begun = wandb.init(project=project, name=run, reinit="create_new")
    yield to_wandb(begun)
    begun.finish()


@contextmanager
def _mlflow(mlflow: Any, project: str, _: Path, run: str) -> Iterator[Sink]:
    client = mlflow.MlflowClient()
    experiment = mlflow.set_experiment(project)
    begun = client.create_run(experiment.experiment_id, run_name=run)

    class OfRun:
        @staticmethod
        def log_metrics(figures: dict[str, float], step: int) -> None:
            mlflow.log_metrics(figures, step=step, run_id=begun.info.run_id)

    yield to_mlflow(OfRun)
    client.set_terminated(begun.info.run_id)


@contextmanager
def _tensorboard(module: Any, _: str, directory: Path, run: str) -> Iterator[Sink]:
    writer = module.SummaryWriter(str(directory / _folder(run)))
    yield to_tensorboard(writer)
    writer.close()


def _folder(run: str) -> str:
    """The name of the run's folder. Whoever may score names runs, so that a name like `a/../b` is not a path."""
    name = _NOT_OF_FOLDERS.sub("_", run)[:_FOLDER_CHARS].lstrip(".")
    return name if name == run else f"{name}-{hashlib.sha256(run.encode()).hexdigest()[:8]}"


@contextmanager
def _trackio(trackio: Any, project: str, _: Path, run: str) -> Iterator[Sink]:
    begun = trackio.init(project=project, name=run)
    yield to_trackio(begun)
    begun.finish()


_MODULES: Final[dict[Tracker, str]] = {
    "wandb": "wandb", "mlflow": "mlflow", "tensorboard": "tensorboardX", "trackio": "trackio",
}  # fmt: skip
_PACKAGES: Final = {**_MODULES, "mlflow": "mlflow-skinny"}
_TRACKERS: Final[dict[Tracker, Callable[[Any, str, Path, str], AbstractContextManager[Sink]]]] = {
    "wandb": _wandb, "mlflow": _mlflow, "tensorboard": _tensorboard, "trackio": _trackio,
}  # fmt: skip
