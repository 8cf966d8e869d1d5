"""Finds and makes environments."""

from importlib import import_module
from typing import Any

from nemo_rl.distributed.ray_actor_environment_registry import ACTOR_ENVIRONMENT_REGISTRY

ENV_REGISTRY: dict[str, dict[str, str]] = {}


def register_env(env_name: str, actor_class_fqn: str) -> None:
    if env_name in ENV_REGISTRY:
        raise ValueError(f"Env name {env_name} already registered")
    ENV_REGISTRY[env_name] = {"actor_class_fqn": actor_class_fqn}


def create_env(env_name: str, env_configs: dict[str, Any]) -> Any:
    name = ENV_REGISTRY[env_name]["actor_class_fqn"]
    assert ACTOR_ENVIRONMENT_REGISTRY[name] == "system"
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute).options(num_cpus=0).remote(env_configs[env_name])
