"""Boxes that are Docker containers: long-lived, hardened, each with a runner in it as its first process.

    backend.py    makes boxes, finds out whether it can, sweeps what killed services left behind
    container.py  what a container of ours is allowed: walls, limits, and seccomp.json
    daemon.py     the few questions the Docker daemon is asked
    fitness.py    whether a daemon and an image will do
    owner.py      whose a container is

The image they are started from is made by `sandbox.images`.
"""

from sandbox.boxes.docker.backend import DockerBackend
from sandbox.boxes.docker.fitness import Transport

__all__ = ["DockerBackend", "Transport"]
