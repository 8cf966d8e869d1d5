"""`rewardline serve`."""

import gc
import importlib
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
import uvloop

from memory.watch import GRADUAL_THRESHOLDS
from sandbox.workers import Task, link
from service import settings
from service.cli.console import fail, say
from service.observe import logs
from service.run import host as host_limits
from service.run import malloc_trim
from service.run.cannot_start import CannotStart
from service.run.sockets import Addresses, bound

EARLY: Final = (
    Task("verifiers.commitment", "load_in_worker", 5.0, warm=(None,)),
    Task("verifiers.long_texts", "judge_in_worker", 10.0),
    Task("verifiers.chemistry.molecules", "grade", 2.0),
    Task("verifiers.code.reading", "read_in_worker", 10.0),
    Task("verifiers.expression.grading", "grade", 0.5),
    Task("verifiers.math.second_opinion", "second", 1.0),
)
"""Tasks of workers whose modules take long to import, some with large libraries. They are imported while this process does
the same with the rest."""
_TRY_IT = (
    "curl -s {url}/v1/score -H 'Content-Type: application/json' -d "
    '\'{{"items":[{{"verifier":"math","response":"It is \\\\boxed{{\\\\frac12}}.","reference":"0.5"}}]}}\''
)


def command(
    host: Annotated[str | None, typer.Option(help="Address to bind; default 127.0.0.1.")] = None,
    http_port: Annotated[int | None, typer.Option(help="Default 8080; 0 takes a free one.")] = None,
    grpc_port: Annotated[int | None, typer.Option(help="Default 8081; 0 takes a free one.")] = None,
    redis_url: Annotated[str | None, typer.Option(help="Share the cache in this Redis.")] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="Where programs run: auto (the default), docker, local or none.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of options (service/settings.py).")] = None,
) -> None:
    """Serve verdicts over HTTP and gRPC until SIGTERM."""
    options = {"host": host, "http_port": http_port, "grpc_port": grpc_port, "redis_url": redis_url, "sandbox": sandbox}
    try:
        chosen = settings.read(config, options).with_own_log()
        logs.configure(chosen)
        malloc_trim.share_heap()
        gc.disable()  # nearly all that is made until the ports answer stays
        host_limits.allow_many_files()
        host_limits.check_processes(chosen)
        with bound(chosen) as sockets:
            link.begin(*EARLY)
            startup = importlib.import_module("service.run.startup")  # the rest, now that the ports are ours
            uvloop.run(startup.serve(chosen, sockets, partial(_announce, chosen)))
    except settings.SettingsError as error:
        raise fail(*error.problems) from error
    except CannotStart as error:
        raise fail(str(error)) from error


def _tune_garbage_collection() -> None:
    """Collect garbage from now on. Batches are many short-lived objects without cycles: with the default thresholds,
    collection takes a sixth of the time of the hot path. And each collection holds the event loop.

    Objects that exist now are kept for good (`gc.freeze`). Few of them are garbage, so a collection before is not worth a
    quarter of a second.
    """
    gc.freeze()
    gc.set_threshold(*GRADUAL_THRESHOLDS)
    gc.enable()


def _announce(chosen: settings.Settings, addresses: Addresses) -> None:
    _tune_garbage_collection()
    operations = f" Operations on {addresses.ops}." if addresses.ops else ""
    say(f"Rewardline serves HTTP on {addresses.http} and gRPC on {addresses.grpc}.{operations} Try:")
    say(_TRY_IT.format(url=addresses.http))
    if chosen.log_folder is not None:
        page = f" and {addresses.http}/console/log" if chosen.console else ""
        say(
            f"Verdicts are logged in {chosen.log_folder}: `rewardline log`{page}. REWARDLINE_AUDIT_LOG=off turns that off."
        )
