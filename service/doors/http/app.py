"""The HTTP door: parse ► engine.score ► render.

This module puts the HTTP routes together. The routes of batches are bare ASGI endpoints (`service/doors/routes`), the
others belong to FastAPI, and `gate` runs before all of them.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from fastapi import FastAPI, Path, Response
from fastapi.responses import PlainTextResponse
from starlette.types import ASGIApp

from service.backends.boxes import Boxes
from service.dataset_audit.running import Audits
from service.doors.compat import chat, nemo_gym, openenv, reward_models, run_code
from service.doors.compat import routes as compat_routes
from service.doors.http import console, openapi, problems
from service.doors.http.gate import OPEN_PATHS, Gate
from service.doors.http.ops import metrics_response, readiness_response
from service.doors.http.page_guard import PageGuard
from service.doors.routes import audits as audits_door
from service.doors.routes import box_runs, groups, live, score
from service.doors.routes import interactions as interactions_door
from service.doors.routes import jobs as jobs_door
from service.doors.routes import log as log_routes
from service.doors.routes import usage as usage_door
from service.doors.routes import watch as watch_door
from service.doors.routes.log_asking import AskedLog
from service.doors.verifier_info import describe
from service.errors import NotFound
from service.groups.scoring import GroupScorer
from service.groups.singles import Singles
from service.interactions.lifecycle import Interactions
from service.jobs.lifespan import BackgroundJobs
from service.limits.admission import Admission
from service.limits.keys import Keys
from service.observe.audit_log import reader
from service.observe.audit_log.corrections import FILE, Corrections
from service.observe.audit_log.desk import Desk
from service.observe.history import History
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.scoring.engine import Engine
from service.settings import Settings
from service.usage.usage import Usage
from service.watch.lifespan import Watch
from verifiers.judge.panel import Panel

_READINESS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": {"application/json": {"schema": {"type": "object"}}}}
    for status, about in ((200, "Ready"), (503, "Not ready; says what cannot judge"))
}


def build_app(
    settings: Settings,
    keys: Keys,
    engine: Engine,
    admission: Admission,
    metrics: Metrics,
    boxes: Boxes,
    interactions: Interactions,
    scorer: GroupScorer,
    singles: Singles,
    jobs: BackgroundJobs,
    audits: Audits,
    panel: Panel | None,
    history: History | None,
    readiness: Callable[[], Readiness],
    usage: Usage,
    watch: Watch,
    others: Mapping[str, ASGIApp],
) -> ASGIApp:
    """The HTTP application. `others` holds the doors for clients of other systems, by their paths."""
    app = FastAPI(
        title="Rewardline",
        version=metrics.version,
        description="Verdicts for reinforcement learning with verifiable rewards. No judgement, no score.",
        docs_url=None,
        redoc_url=None,
    )

    @app.get("/v1/verifiers", tags=["verifiers"])
    async def list_verifiers() -> dict[str, Any]:
        """Every verifier: its name, its version and what it decides."""
        return {"verifiers": [describe(entry) for entry in engine.registry.values()]}

    @app.get("/v1/verifiers/{name}", tags=["verifiers"])
    async def show_verifier(name: Annotated[str, Path(examples=["math"])]) -> dict[str, Any]:
        """One verifier with the JSON schema of its parameters and its examples."""
        entry = engine.registry.get(name)
        if entry is None:
            raise NotFound(f"no verifier {name[:100]!r}; there are {list(engine.registry)}")
        return describe(entry)

    @app.get("/v1/recipes", tags=["recipes"], response_model=dict[str, Any])
    async def list_recipes() -> Response:
        """Every recipe with its defaults filled in, the routes, and recipes that lack an installed verifier."""
        return Response(engine.book.as_json, media_type="application/json")

    @app.get("/v1/sandbox", tags=["sandbox"])
    async def show_sandbox() -> dict[str, Any]:
        """Where programs run: the isolation, the attacks that it cannot stop, the languages, and what their compilers
        and interpreters say about their versions. The first request has the versions looked up, in a box; later answers
        have them.
        """
        boxes.ask_versions()
        return boxes.describe()

    @app.get("/v1/ping", tags=["sandbox"])
    async def ping() -> str:
        """The call that clients of SandboxFusion make before they send programs."""
        return "pong"

    @app.get("/healthz", tags=["operation"])
    async def healthz() -> dict[str, str]:
        """Whether the process is alive. It is also alive while it drains."""
        return {"status": "alive"}

    @app.get("/readyz", tags=["operation"], responses=_READINESS)
    async def readyz() -> Response:
        """Whether new batches should be sent here."""
        return readiness_response(readiness())

    @app.get("/metrics", tags=["operation"], response_class=PlainTextResponse)
    async def prometheus() -> Response:
        """Metrics in Prometheus' text format."""
        return await metrics_response(metrics)

    console.mount_reference(app)
    folder = settings.log_folder
    desk = None if folder is None else Desk(lambda: reader.find([folder]))
    app.include_router(log_routes.router(AskedLog(desk), None if folder is None else Corrections(folder / FILE)))
    if settings.console:
        console.mount(app)
    problems.speak(app)
    openapi.extend(app, score.PATH, OPEN_PATHS)
    runner = run_code.RunCode(settings, admission, boxes, metrics.observe_run_code)
    bare: dict[str, ASGIApp] = {score.PATH: score.ScoreDoor(settings, admission, singles)}
    bare |= dict.fromkeys(run_code.PATHS, runner)
    bare[box_runs.PATH] = box_runs.BoxRunsDoor(settings, admission, boxes)
    bare |= dict.fromkeys(groups.MAX_BODY_BYTES, groups.GroupsDoor(settings, admission, scorer))
    door = interactions_door.InteractionsDoor(settings, admission, interactions)
    bare |= dict.fromkeys((interactions_door.ALL, interactions_door.ONE, interactions_door.TURNS), door)
    environments = openenv.OpenEnv(settings, keys, admission, metrics, interactions)
    bare |= dict.fromkeys(openenv.ROUTES, environments)
    bare |= dict.fromkeys((jobs_door.ALL, jobs_door.ONE), jobs_door.JobsDoor(settings, admission, jobs.store))
    bare |= dict.fromkeys(audits_door.ROUTES, audits_door.AuditsDoor(settings, engine, admission, audits))
    bare |= dict.fromkeys((chat.CHAT, chat.MODELS), chat.ChatDoor(settings, admission, panel))
    bare |= dict.fromkeys(reward_models.PATHS, reward_models.RewardModelDoor(settings, admission, panel))
    bare |= dict.fromkeys((live.SERIES, live.JUDGES), live.LiveDoor(history, panel, settings.judge_file))
    bare[usage_door.PATH] = usage_door.UsageDoor(usage)
    bare |= dict.fromkeys(watch_door.PATHS, watch_door.WatchDoor(watch))
    bare |= others
    guard = PageGuard.of(settings, settings.host, linked=console.LINKED)
    gate = Gate(app, bare, _route, keys, admission, metrics, usage.ledger, guard)
    return nemo_gym.Rerouted(gate, is_root=settings.root_door == "nemo_gym")


def _route(path: str) -> str:
    """The path as a metric label. Only our own paths appear, so their number is bounded."""
    if path.startswith("/v1/verifiers/"):
        return "/v1/verifiers/{name}"
    for files in console.ALL_FILES:
        if path.startswith(f"{files}/"):
            return files
    return path if path in _PATHS else _route_with_names(path) or "other"


def _route_with_names(path: str) -> str | None:
    resources = (interactions_door.RESOURCE, jobs_door.RESOURCE, audits_door.RESOURCE)
    return next((route for resource in resources if (route := resource.route(path))), None) or openenv.route(path)


_PATHS: Final = frozenset(
    {
        *(score.PATH, *run_code.PATHS, "/v1/ping", "/v1/recipes", "/v1/sandbox", "/v1/verifiers"),
        *groups.MAX_BODY_BYTES,
        *(box_runs.PATH, usage_door.PATH, *watch_door.PATHS, live.SERIES, live.JUDGES, *log_routes.PATHS),
        *(chat.CHAT, chat.MODELS, *reward_models.PATHS, *compat_routes.PATHS),
        *("/healthz", "/readyz", "/metrics", "/openapi.json", console.REFERENCE_PATH, console.PATH),
    }
)
