"""The service as an application of Ray Serve: `serve run rewardline.ray:app`, or deploy/ray/serve.yaml.

Serve's proxies receive HTTP and gRPC, and a replica is a whole service without ports. Settings come from the environment
of the replicas (`runtime_env` in the file).
"""

from collections.abc import AsyncIterator
from typing import Any

from ray import serve
from starlette.types import ASGIApp

from service.cluster.grpc_door import GrpcDoor
from service.cluster.running import Running
from service.cluster.scaling import WORK
from service.doors.grpc.server import Door

_MANY_REQUESTS = 1_000
"""Requests of a replica at once. What is judged at once is the setting `max_items_in_flight`."""
_DRAIN_S = 330.0
"""Longer than the longest request (`max_deadline_s`), so that a replica that goes finishes what it has."""


@serve.deployment(
    max_ongoing_requests=_MANY_REQUESTS,
    health_check_period_s=10.0,
    graceful_shutdown_timeout_s=_DRAIN_S,
    ray_actor_options={"num_cpus": 1},
    autoscaling_config={
        "min_replicas": 1,
        "max_replicas": 16,
        "policy": {"policy_function": "service.cluster.scaling:by_queued_work"},
        "upscale_delay_s": 5.0,
        "downscale_delay_s": 600.0,
    },
)
@serve.ingress()
class Rewardline:
    """A replica. Serve sends it requests once it is made: then it can judge."""

    async def __init__(self, workers: int | None = None) -> None:  # type: ignore[misc]  # Serve awaits it
        """
        Args:
            workers: Worker processes, in place of what the settings say: as many as the replica has CPUs.
        """
        self._running = await Running.begin(workers=workers)
        service = self._running.service
        core = service.core
        engines = (core.engine, core.groups, core.singles, core.admission, core.metrics)
        self._grpc = GrpcDoor(Door(service.settings, service.callers, *engines))

    def __serve_build_asgi_app__(self) -> ASGIApp:
        return self._running.service.app

    def check_health(self) -> None:
        """Serve replaces a replica that is not ready three times in a row.

        Raises:
            RuntimeError
        """
        if problems := self._running.problems():
            raise RuntimeError("; ".join(f"{part}: {why}" for part, why in problems.items()))

    def record_autoscaling_stats(self) -> dict[str, float]:
        return {WORK: self._running.service.core.load_monitor.peak_s}

    async def Score(self, body: bytes, grpc_context: Any) -> Any:  # noqa: N802 - names of the gRPC contract
        return await self._grpc.score(body, grpc_context)

    async def ScoreGroups(self, body: bytes, grpc_context: Any) -> Any:  # noqa: N802
        return await self._grpc.score_groups(body, grpc_context)

    async def ListVerifiers(self, body: bytes, grpc_context: Any) -> Any:  # noqa: N802
        return await self._grpc.list_verifiers(body, grpc_context)

    async def ScoreStream(self, bodies: AsyncIterator[bytes], grpc_context: Any) -> AsyncIterator[Any]:  # noqa: N802
        async for answer in self._grpc.score_stream(bodies, grpc_context):
            yield answer

    async def __del__(self) -> None:
        """Serve calls this when no request is left. Background jobs end, too."""
        running = getattr(self, "_running", None)  # none if the service could not start
        if running is not None:
            await running.end()


app: Any = Rewardline.bind(workers=1)  # type: ignore[attr-defined]
