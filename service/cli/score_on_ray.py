"""`rewardline score 's3://bucket/rollouts/*.parquet' --ray ADDRESS -o DIR` scores files on a cluster of Ray."""

import os
import time

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from service.cli.console import err, quiet_settings
from service.rollouts.bad_input import BadInput
from service.rollouts.columns import Columns
from service.rollouts.tally import Tally

NEEDS_RAY = "--ray needs Ray: pip install 'rewardline-server[ray]'"
_OWN = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
"""What our clusters do without: reports of usage, and a second environment made from the command line."""


def score_on_ray(
    source: str, target: str, columns: Columns, address: str, *, run_id: str | None, overwrite: bool
) -> Tally:
    """Score files, with a bar for the progress.

    Raises:
        BadInput: the input cannot be read, the output cannot be written, or there is no cluster.
    """
    os.environ.update({**_OWN, **{name: os.environ[name] for name in _OWN if name in os.environ}})  # noqa: TID251 - Ray reads it
    try:
        from service.cluster import run  # noqa: PLC0415 - Ray is an extra
    except ImportError as error:
        raise BadInput(f"{NEEDS_RAY} ({error})") from error
    job = run.Job(source, target, columns, quiet_settings(), run_id or "", overwrite)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]} items/s, {task.fields[failed]} failed"),
        TimeRemainingColumn(),
        console=err,
    ) as bar:
        task = bar.add_task("blocks", total=None, rate="-", failed=0)
        started = time.monotonic()

        def show(progress: run.Progress, tally: Tally) -> None:
            rate = tally.lines / (time.monotonic() - started)
            failed = tally.with_status("failed")
            bar.update(task, completed=progress.done, total=progress.total, rate=f"{rate:.0f}", failed=failed)

        try:
            return run.score(job, address, show)
        except run.CannotRun as error:
            raise BadInput(str(error)) from error
