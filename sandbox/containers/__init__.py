"""Containers of tasks: each task runs in a container of its own image, which is gone when the task is over.

    base.py       the contract: tasks, limits, and what a container can be asked
    docker.py     containers of a Docker daemon
    options.py    what a container of a task is allowed
    images.py     which images there are: pulled, prepared, removed
    patience.py   how long a command may go on
    turns.py      how many containers at once, and which is next
    programs.py   two programs of ours that run in a container

A box runs one program in an image of ours; a container holds the files, the tools and the tests of a task. It knows
nothing of patches and tests.
"""

from sandbox.containers.base import (
    NO_SPACE,
    STARVED,
    BadTask,
    Container,
    Containers,
    Counters,
    End,
    Ended,
    Files,
    Meter,
    NoContainers,
    Task,
    TaskLimits,
    TaskRefused,
    TooLarge,
)

__all__ = [
    "NO_SPACE",
    "STARVED",
    "BadTask",
    "Container",
    "Containers",
    "Counters",
    "End",
    "Ended",
    "Files",
    "Meter",
    "NoContainers",
    "Task",
    "TaskLimits",
    "TaskRefused",
    "TooLarge",
]
