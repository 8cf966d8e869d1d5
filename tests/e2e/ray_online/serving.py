"""The service under Ray Serve: both doors, a killed replica, a rollout of new replicas; then `serve deploy` with the file, and
with the file changed. Prints one line of JSON.

`serving.py HTTP_PORT GRPC_PORT DASHBOARD_PORT CONFIG`
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from tempfile import NamedTemporaryFile
from typing import Any

import ray
import yaml
from ray import serve
from ray.serve.config import gRPCOptions
from ray.serve.schema import ServeDeploySchema
from ray_cluster import Ledger, cluster, item
from rewardline import AsyncClient, InvalidRequest, Unauthorized

BATCH = 40
POLL_S = 0.2


async def doors(http: str, grpc: str) -> dict[str, Any]:
    """What comes of the same batch, and of refused ones, by both doors."""
    outcomes: dict[str, Any] = {}
    for url in (http, grpc):
        name = url.partition(":")[0]
        async with AsyncClient(url, timeout_s=300.0) as client:
            results = await client.score([item(at) for at in range(6)] + [{"verifier": "nothing", "response": "1"}])
            outcomes[name] = [[each.status.value, each.score] for each in results]
            streamed = client.stream([item(at) for at in range(6)])
            outcomes[f"{name} streamed"] = sorted([[index, result.score or 0.0] async for index, result in streamed])
            outcomes[f"{name} verifiers"] = "math" in {each["name"] for each in await client.verifiers()}
            try:
                await client.score([{"verifier": "math", "response": 5, "reference": "5"}])
            except (InvalidRequest, Unauthorized) as error:
                outcomes[f"{name} refused"] = type(error).__name__
    return outcomes


async def judged_during(url: str, first: int, trouble: Callable[[], None]) -> dict[str, int]:
    ledger = Ledger()
    over = asyncio.Event()
    places = iter(range(first, first + 1_000_000))

    async def judge(client: AsyncClient) -> None:
        while not over.is_set():
            some = [next(places) for _ in range(BATCH)]
            ledger.take(some, await client.score([item(at) for at in some]))

    async with AsyncClient(url, timeout_s=300.0, max_retries=1_000_000) as client:
        working = [asyncio.create_task(judge(client)) for _ in range(4)]
        try:
            await asyncio.to_thread(trouble)
        finally:
            over.set()
        await asyncio.gather(*working)
    account: dict[str, int] = ledger.account()
    return account


def replicas() -> list[dict[str, Any]]:
    listed = ray.util.list_named_actors(all_namespaces=True)
    return [each for each in listed if each["name"].startswith("SERVE_REPLICA::")]


def deploy(config: dict[str, Any], dashboard_port: int) -> None:
    """`serve deploy` with the config. It returns before Serve has done it."""
    with NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(config, file)
        file.flush()
        address = f"http://127.0.0.1:{dashboard_port}"
        command = [sys.executable, "-m", "ray.serve.scripts", "deploy", file.name, "--address", address]
        subprocess.run(command, stdout=sys.stderr, check=True)


def main(http_port: int, grpc_port: int, dashboard_port: int, config: str) -> None:
    with open(config, encoding="utf-8") as text:
        written = yaml.safe_load(text)
    schema = ServeDeploySchema.model_validate(written)
    http, grpc = f"http://127.0.0.1:{http_port}", f"grpc://127.0.0.1:{grpc_port}"
    outcomes: dict[str, Any] = {}
    with cluster(nodes=2, dashboard_port=dashboard_port):
        serve.start(
            http_options={"host": "127.0.0.1", "port": http_port, "location": "HeadOnly"},
            grpc_options=gRPCOptions(
                port=grpc_port, grpc_servicer_functions=schema.grpc_options.grpc_servicer_functions
            ),
        )
        from service.cluster.serve_app import Rewardline  # noqa: PLC0415 - it is made where Serve runs

        (deployed,) = schema.applications
        environment = {"env_vars": {"REWARDLINE_SANDBOX": "none", **deployed.runtime_env.get("env_vars", {})}}
        deployment = Rewardline.options(  # type: ignore[attr-defined]
            autoscaling_config=None, num_replicas=2, ray_actor_options={"num_cpus": 1, "runtime_env": environment}
        )
        serve.run(deployment.bind(workers=1))
        outcomes["replicas"] = len(replicas())
        outcomes["doors"] = asyncio.run(doors(http, grpc))

        def kill() -> None:
            before = {each["name"] for each in replicas()}
            first = min(replicas(), key=lambda each: each["name"])
            ray.kill(ray.get_actor(first["name"], namespace=first["namespace"]), no_restart=True)
            serve_until(lambda: len({each["name"] for each in replicas()} - before) == 1)

        def roll_out() -> None:
            changed = {**environment["env_vars"], "REWARDLINE_CACHE_TTL_S": "60"}
            options = {"num_cpus": 1, "runtime_env": {"env_vars": changed}}
            serve.run(deployment.options(ray_actor_options=options).bind(workers=1))

        outcomes["killed"] = asyncio.run(judged_during(http, 0, kill))
        outcomes["rolled out"] = asyncio.run(judged_during(http, 1_000_000, roll_out))
        outcomes["rolled out, gRPC"] = asyncio.run(judged_during(grpc, 2_000_000, lambda: None))
        serve.shutdown()

        written["http_options"] = {"host": "127.0.0.1", "port": http_port}
        written["grpc_options"]["port"] = grpc_port
        settings = written["applications"][0]["runtime_env"]["env_vars"]
        settings["REWARDLINE_SANDBOX"] = "none"
        deploy(written, dashboard_port)
        serve_until(lambda: True)
        outcomes["deployed"] = asyncio.run(doors(http, grpc))

        def deploy_again() -> None:
            before = {each["name"] for each in replicas()}
            settings["REWARDLINE_CACHE_TTL_S"] = "60"
            deploy(written, dashboard_port)
            serve_until(lambda: before.isdisjoint(each["name"] for each in replicas()))

        outcomes["deployed again"] = asyncio.run(judged_during(http, 3_000_000, deploy_again))
        serve.shutdown()
    print(json.dumps(outcomes))


def serve_until(condition: Callable[[], bool]) -> None:
    """Wait until Serve runs all replicas again, and the condition holds."""
    while True:
        applications = serve.status().applications.values()
        if [each.status for each in applications] == ["RUNNING"] and condition():
            return
        time.sleep(POLL_S)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
