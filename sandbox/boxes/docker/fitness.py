"""Checks whether a Docker daemon can run boxes, and how to talk to them; done once, from what the daemon reports."""

import socket
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from sandbox.base import Isolation, SandboxUnavailable
from sandbox.boxes.user_ids import FIRST_RUN, RANGE, Range, Ranges, ranges_of_a_machine
from sandbox.images import recipe

_LIMITS: Final = {"MemoryLimit": "memory", "PidsLimit": "processes", "CpuCfsQuota": "CPU time"}
_CONFINED: Final = ("name=userns", "name=rootless", "name=selinux")
"""Security options under which the root user of a container may not connect to our socket."""
_MAPPED: Final = ("name=userns", "name=rootless")
"""Security options under which a container has its own user namespace with ids from 0 on, usually 65,536 of them."""


class Transport(StrEnum):
    """How the service talks to a box."""

    AUTO = "auto"
    """Through the socket where that works, else through the streams."""
    SOCKET = "socket"
    STREAMS = "streams"


def check_daemon(info: Mapping[str, Any], runtime: str | None) -> None:
    """Check that a daemon with this report can run boxes.

    Raises:
        SandboxUnavailable: it lacks the runtime, or it would ignore a limit without an error.
    """
    if runtime is not None and runtime not in info["Runtimes"]:
        runtimes = ", ".join(sorted(info["Runtimes"]))
        raise SandboxUnavailable(f"the Docker daemon has no runtime {runtime!r}; it has {runtimes}")
    if missing := [purpose for name, purpose in _LIMITS.items() if not info.get(name)]:
        raise SandboxUnavailable(
            f"the Docker daemon cannot limit {', '.join(missing)}: enable these cgroup controllers on its host"
        )


def check_image(image: str, labels: Mapping[str, str] | None) -> None:
    """Check that boxes can be made from an image with these labels. None: there is no such image.

    Raises:
        SandboxUnavailable: they cannot, or the image was made by another recipe than this service's.
    """
    if labels is None:
        raise SandboxUnavailable(f"there is no image {image!r}; `make box-image` builds it")
    if not recipe.is_current(labels):
        raise SandboxUnavailable(f"the image {image!r} was made by another recipe; `make box-image` builds it anew")


def best_transport(info: Mapping[str, Any], isolation: Isolation) -> Transport:
    """The way to talk to boxes of this daemon.

    The socket, if the daemon sees our files and the container's root user may connect to our socket; else the streams.
    """
    is_here = info["Name"] == socket.gethostname()
    is_free = not _has_option(info, _CONFINED)
    return Transport.SOCKET if is_here and is_free and isolation is Isolation.DOCKER else Transport.STREAMS


def user_ids_of_boxes(info: Mapping[str, Any]) -> Ranges:
    """The user ids for boxes, as they are numbered in a container."""
    if not _has_option(info, _MAPPED):
        return ranges_of_a_machine()
    mapped = Range(FIRST_RUN, RANGE - 2 * FIRST_RUN)
    return Ranges(mapped, mapped.count, is_shared=True)


def _has_option(info: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    return any(option.startswith(names) for option in info["SecurityOptions"])
