"""Which interpreter an actor's class runs in."""

ACTOR_ENVIRONMENT_REGISTRY = {"nemo_rl.environments.math_environment.MathEnvironment": "system"}
