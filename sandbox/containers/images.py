"""The images of tasks: pulled once however many want them, prepared once, and removed when they take too much room.

    image ──pull, if allowed──► image of the daemon ──setup──► base, an image of ours with a label
    Dockerfile ──build, if allowed──► image of the daemon, named by its content

A base belongs to one image, working directory, environment and setup. It outlives the service, which finds it again by
its label. Images that were here before are the operator's: only pulled ones and bases are ever removed.
"""

import asyncio
import hashlib
import io
import json
import re
import tarfile
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from sandbox.base import SandboxUnavailable
from sandbox.containers.base import BadTask, Counters, Task, TaskRefused
from sandbox.containers.daemon import Image, SlowDaemon, TaskDaemon
from sandbox.containers.single_flight import SingleFlight

BASE_LABEL: Final = "rewardline.base"
BUILD_LABEL: Final = "rewardline.build"
_STAGE: Final = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?", re.M | re.I)
_COPIED: Final = re.compile(r"^[ \t]*COPY[ \t]+(?:--\S+[ \t]+)*?--from=(\S+)", re.M | re.I)

Prepare = Callable[[Task, Image], Awaitable[Image]]
"""Runs the setup of a task in a container of an image, and commits it with the label that `label_of` says."""


class _NobodyWaits(Exception):
    """Stops a pull."""


@dataclass(frozen=True, slots=True)
class ImageRules:
    """What an operator allows."""

    may_pull: bool = False
    allowed: Sequence[str] = ("*",)
    """Patterns of names of images, with `*` and `?`."""
    keep_mb: int = 100_000
    """Room for images that were pulled or prepared here."""
    may_build: bool = False


class Images:
    """The images of one daemon."""

    def __init__(
        self,
        quick: TaskDaemon,
        slow: SlowDaemon,
        rules: ImageRules,
        counters: Counters,
        release: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        """`release` removes containers that nobody uses, so that images can be removed."""
        self._quick = quick
        self._slow = slow
        self._rules = rules
        self._counters = counters
        self._release = release
        self._pulls: SingleFlight[str, Image] = SingleFlight()
        self._preparations: SingleFlight[str, Image] = SingleFlight()
        self._builds: SingleFlight[str, Image] = SingleFlight()
        self._built: set[str] = set()
        """Names of images that were built here, which tasks may name."""
        self._ours: OrderedDict[str, int] = OrderedDict()
        """Bytes of each image that we may remove, the one that was used longest ago first."""
        self._in_use: dict[str, int] = {}

    @property
    def pulling(self) -> int:
        return len(self._pulls)

    @property
    def kept_bytes(self) -> int:
        return sum(self._ours.values())

    async def image(self, name: str) -> Image:
        """An image by its name, pulled if it is not here.

        Raises:
            BadTask: there is none, or it is not allowed.
        """
        if name not in self._built and not any(fnmatchcase(name, pattern) for pattern in self._rules.allowed):
            raise TaskRefused("image_not_allowed", f"this server runs no tasks in the image {name!r}")
        local_image = await self._quick.image(name)
        if local_image is None:
            if not self._rules.may_pull:
                raise SandboxUnavailable(
                    f"the Docker daemon has no image {name!r}, and this server pulls none (setting `repository_pull`)",
                    "no_image",
                )
            local_image = await self._pulls.do(name, lambda: self._pull(name))
        self._note_use(local_image.id)
        return local_image

    async def build(self, context: Mapping[str, bytes], *, may_network: bool) -> str:
        """The name of the image of a Dockerfile and the files beside it, built if it is not here.

        Raises:
            BadTask: it is not allowed, or it cannot be built.
        """
        if not self._rules.may_build:
            raise TaskRefused("build_not_allowed", "this server builds no images (setting `harbor_build`)")
        digest = _digest(context, may_network)
        name = f"rewardline-build:{digest[:32]}"
        local_image = await self._quick.image(name)
        if local_image is None:
            local_image = await self._builds.do(name, lambda: self._build(name, digest, context, may_network))
        self._built.add(name)
        self._note_use(local_image.id)
        return name

    async def base(self, task: Task, prepare: Prepare) -> Image:
        """The image that containers of a task start from.

        Raises:
            BadTask: there is no such image, or its setup fails.
        """
        image = await self.image(task.image)
        if not task.setup:
            return image
        label = label_of(task, image.id)
        bases = await self._quick.images(f"{BASE_LABEL}={label}")
        base = bases[0] if bases else await self._preparations.do(label, lambda: self._make(task, image, prepare))
        self._ours[base.id] = max(base.size_bytes - image.size_bytes, 0)
        self._note_use(base.id)
        return base

    def begin_use(self, image: str) -> None:
        """Keep an image until `end_use`."""
        self._in_use[image] = self._in_use.get(image, 0) + 1

    def end_use(self, image: str) -> None:
        self._in_use[image] -= 1
        if not self._in_use[image]:
            del self._in_use[image]

    async def evict(self) -> None:
        """Remove images of ours, the one that was used longest ago first, until the others fit."""
        if self.kept_bytes > self._rules.keep_mb * 1_000_000:
            await self._release()
        for image in list(self._ours):
            if self.kept_bytes <= self._rules.keep_mb * 1_000_000:
                return
            if image not in self._in_use and await self._slow.remove_image(image):
                self._ours.pop(image, None)
                self._counters.images_evicted += 1

    async def _pull(self, name: str) -> Image:
        nobody_waits = threading.Event()

        def count(piece_bytes: int) -> None:
            if nobody_waits.is_set():
                raise _NobodyWaits
            self._counters.pulled_bytes += piece_bytes

        try:
            await self._slow.pull(name, count)
        except asyncio.CancelledError:
            nobody_waits.set()
            raise
        except (BadTask, SandboxUnavailable):
            self._counters.pulls_failed += 1
            raise
        image = await self._added(name, "pull")
        self._counters.images_pulled += 1
        return image

    async def _build(self, name: str, digest: str, context: Mapping[str, bytes], may_network: bool) -> Image:
        for needed in _needed(context.get("Dockerfile", b"").decode(errors="replace")):
            await self.image(needed)
        network = "default" if may_network else "none"
        try:
            await self._slow.build(name, _tarred(context), {BUILD_LABEL: digest}, network)
        except (BadTask, SandboxUnavailable):
            self._counters.builds_failed += 1
            raise
        image = await self._added(name, "build")
        self._counters.images_built += 1
        return image

    async def _added(self, name: str, action: Literal["pull", "build"]) -> Image:
        """An image that is here since this action. It is ours, so that others may have to go."""
        image = await self._quick.image(name)
        if image is None:
            raise SandboxUnavailable(f"the image {name!r} is not there after the {action}", f"{action}_failed")
        self._ours[image.id] = image.size_bytes
        await self._evict_others(image.id)
        return image

    async def _make(self, task: Task, image: Image, prepare: Prepare) -> Image:
        self.begin_use(image.id)
        try:
            base = await prepare(task, image)
        finally:
            self.end_use(image.id)
        self._counters.bases_made += 1
        self._ours[base.id] = max(base.size_bytes - image.size_bytes, 0)
        await self._evict_others(base.id)
        return base

    async def _evict_others(self, image: str) -> None:
        self.begin_use(image)
        try:
            await self.evict()
        finally:
            self.end_use(image)

    def _note_use(self, image: str) -> None:
        if image in self._ours:
            self._ours.move_to_end(image)


def label_of(task: Task, image: str) -> str:
    """What is prepared for a task in an image, as a digest."""
    ingredients = [image, task.workdir, list(task.setup), sorted(task.environment.items()), task.network]
    return hashlib.sha256(json.dumps(ingredients).encode()).hexdigest()


def _digest(context: Mapping[str, bytes], may_network: bool) -> str:
    """What is built, as a digest."""
    files = [(path, hashlib.sha256(content).hexdigest()) for path, content in sorted(context.items())]
    return hashlib.sha256(json.dumps([may_network, files]).encode()).hexdigest()


def _needed(dockerfile: str) -> Iterator[str]:
    """The images that a Dockerfile starts or copies from. The daemon would pull them without asking us."""
    stages: set[str] = set()
    for line in dockerfile.splitlines():
        if (stage := _STAGE.match(line)) is not None:
            image, name = stage.groups()
            stages.add((name or "").lower())
        elif (copied := _COPIED.match(line)) is not None:
            image = copied[1]
        else:
            continue
        if "$" in image:
            raise TaskRefused("build_not_allowed", f"the Dockerfile must name the image {image!r} without a variable")
        if image != "scratch" and not image.isdigit() and image.lower() not in stages:
            yield image


def _tarred(context: Mapping[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        for path, content in sorted(context.items()):
            member = tarfile.TarInfo(path)
            member.mode = 0o755
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))
    return archive.getvalue()
