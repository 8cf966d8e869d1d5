"""Pools of services in a Ray cluster: named, detached actors that trainers call by `ray://NAME`."""

import re
from collections.abc import Mapping
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from rewardline import Unavailable

from service.cluster import service_actor

NAMESPACE = "rewardline"
"""As `rewardline.ray_transport` has it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CALLS = 10_000
"""Calls of an actor at once. What is judged at once is the setting `max_items_in_flight`."""
_NODE_CHARS = 12


def start(
    name: str = "rewardline",
    *,
    per_node: int = 1,
    cpus: int = 1,
    nodes: int | None = None,
    environment: Mapping[str, str] | None = None,
    python: str | None = None,
    timeout_s: float = 300.0,
) -> list[str]:
    """Start a pool in the Ray cluster of this process, and wait until all its actors can judge.

    A pool outlives the process that started it, until `stop`. Ray starts lost actors anew: on their node, or, if it is
    lost, on another one. A second call adds actors to nodes that have joined.

    Args:
        name: The name of the pool: the trainers' hooks have `REWARDLINE_URL=ray://name`.
        per_node: Actors on each node.
        cpus: CPUs that each actor takes of the cluster. It has as many worker processes.
        nodes: On at most so many nodes, those with the most CPUs. None: on all that have enough CPUs.
        environment: Settings for all actors, as variables: `{"REWARDLINE_REDIS_URL": "redis://cache:6379"}`.
        python: The interpreter on the nodes that has the server, if it is not that of the cluster. Both have the same
            versions of Python and Ray.
        timeout_s: Until then all actors can judge.

    Returns:
        The names of all actors of the pool.

    Raises:
        ValueError: an argument can never work, or no node has so many CPUs.
        Unavailable: there is no cluster, or an actor cannot start. The message says why.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a pool's name has 1 to 64 letters, digits and . _ -, found {name!r}")
    for argument, value in (("per_node", per_node), ("cpus", cpus), ("nodes", 1 if nodes is None else nodes)):
        if value < 1:
            raise ValueError(f"{argument} must be at least 1, found {value!r}")
    _connect()
    cloudpickle.register_pickle_by_value(service_actor)  # trainers cannot import it
    actor_class = ray.remote(service_actor.ServiceActor)
    members = set(_members(name))
    for node in _fitting(cpus, nodes):
        for number in range(per_node):
            member = f"{name}:{node[:_NODE_CHARS]}-{number}"
            if member not in members:
                actor_class.options(
                    name=member,
                    namespace=NAMESPACE,
                    lifetime="detached",
                    get_if_exists=True,
                    num_cpus=cpus,
                    max_restarts=-1,
                    max_concurrency=_CALLS,
                    runtime_env=_environment(environment or {}, python),
                    scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True),
                ).remote(cpus)
    actors = _members(name)
    _answers([actor.health.remote() for actor in actors.values()], timeout_s)
    return sorted(actors)


def status(name: str = "rewardline", *, timeout_s: float = 10.0) -> dict[str, dict[str, Any]]:
    """What each actor of a pool says about itself: its `problems` and `items_in_flight`.

    Raises:
        Unavailable: there is no cluster.
    """
    _connect()
    states = {}
    for member, actor in sorted(_members(name).items()):
        try:
            states[member] = ray.get(actor.health.remote(), timeout=timeout_s)
        except RayError as error:
            states[member] = {"problems": {"actor": _first_line(error)}, "items_in_flight": 0}
    return states


def stop(name: str = "rewardline", *, timeout_s: float = 60.0) -> list[str]:
    """End a pool. Its actors finish what they have, and take nothing more; after the timeout they are killed.

    Returns:
        The names of the actors that were ended.

    Raises:
        Unavailable: there is no cluster.
    """
    _connect()
    actors = _members(name)
    draining = [actor.drain.remote() for actor in actors.values()]
    if draining:
        ray.wait(draining, num_returns=len(draining), timeout=timeout_s)
    for actor in actors.values():
        ray.kill(actor)
    return sorted(actors)


def _environment(variables: Mapping[str, str], python: str | None) -> dict[str, Any]:
    """The runtime environment of actors. Calls are not logged one by one, unless the variables say so."""
    environment: dict[str, Any] = {"env_vars": {"REWARDLINE_LOG_LEVEL": "warning", **variables}}
    return environment if python is None else environment | {"py_executable": python}


def _connect() -> None:
    if ray.is_initialized():
        return
    try:
        ray.init(address="auto", namespace=NAMESPACE, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Unavailable("unreachable", f"no Ray cluster answers here: {error}") from error


def _members(name: str) -> dict[str, Any]:
    actors = {}
    for listed in ray.util.list_named_actors(all_namespaces=True):
        member = listed["name"]
        if listed["namespace"] == NAMESPACE and member.partition(":")[0] == name:
            actors[member] = ray.get_actor(member, namespace=NAMESPACE)
    return actors


def _fitting(cpus: int, limit: int | None) -> list[str]:
    """The ids of nodes that have so many CPUs, those with the most first."""
    alive = [node for node in ray.nodes() if node["Alive"]]
    sizes = {node["NodeID"]: node["Resources"].get("CPU", 0.0) for node in alive}
    fitting = sorted((node for node, size in sizes.items() if size >= cpus), key=lambda node: -sizes[node])
    if not fitting:
        raise ValueError(f"no node of this cluster has {cpus} CPUs; they have {sorted(sizes.values())}")
    return fitting[:limit]


def _answers(calls: list[Any], timeout_s: float) -> list[Any]:
    try:
        answers: list[Any] = ray.get(calls, timeout=timeout_s)
    except RayError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, Unavailable):
            raise cause from error
        raise Unavailable("unavailable", f"not all actors of the pool can judge: {_first_line(error)}") from error
    return answers


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
