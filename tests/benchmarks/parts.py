"""Benchmarks by their letters. `python -m tests.benchmarks` runs them."""

BENCHMARKS = {
    "a": "doors",
    "b": "single",
    "c": "math_speed",
    "d": "memory",
    "e": "box_speed",
    "f": "rule_speed",
    "g": "judge_speed",
    "h": "trainer_step",
    "i": "teams",
    "j": "ray_speed",
    "k": "fresh_speed",
    "l": "group_speed",
    "m": "watch_speed",
}
"""Modules with a `run`. A run of some parts imports only these."""
