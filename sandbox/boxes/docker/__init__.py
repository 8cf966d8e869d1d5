"""Boxes that are Docker containers: long-lived, hardened, each with a runner as its first process.

    backend.py    makes boxes, checks that it can, removes what killed services left behind
    container.py  what a container of ours is allowed: isolation, limits, and seccomp.json
    daemon.py     the few requests to the Docker daemon
    fitness.py    whether a daemon and an image are usable
    owner.py      which service a container belongs to

`sandbox.images` makes the image of the containers.
"""

from sandbox.boxes.docker.backend import DockerBackend
from sandbox.boxes.docker.fitness import Transport

__all__ = ["DockerBackend", "Transport"]
