"""The interpreter of each actor class."""

ACTOR_ENVIRONMENT_REGISTRY = {"nemo_rl.environments.math_environment.MathEnvironment": "system"}
