"""A Docker daemon for tests and measurements: the machine's own if it runs, or else one of ours.

Ours runs in the background. It has its own data below `.build/docker` (so the image is built once), its own socket, and
a network that leads nowhere. If gVisor is installed, it is the runtime `runsc`.

`python -m tests.dockerd LANE` builds the images of a lane before its tests need them. The quick lane needs a box image
for Python alone. All other lanes need the usual one, and the images that are deployed. The lane `boxes` needs one for
every language, too, and `repositories` one with compilers and their test runners.
"""

import atexit
import fcntl
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import docker
from docker.errors import DockerException

from deploy.docker.debian import NotMade
from deploy.docker.wheels import NoWheels
from sandbox.images import build, recipe
from tests.deploy.images import build_images
from tests.task_images import TOOLCHAINS, TOOLCHAINS_IMAGE

IMAGE = "rewardline-box"
QUICK_LANGUAGES = ["python"]
POLYGLOT_IMAGE = "rewardline-box-all"
_DEFAULT_ADDRESS = "unix:///var/run/docker.sock"
_BUILD = Path(__file__).parents[1] / ".build"
_START_S = 60.0
_MAPPED_USER = "nobody:nogroup"
_FIRST_MAPPED = 100_000
_ATTEMPTS = 3
"""How often the start is tried. On a busy machine dockerd does not wait long enough for its own containerd."""


class NoDocker(Exception):
    """There is no daemon here, and none can be started."""


class DockerDaemon:
    """A `dockerd` of our own. A test may stop and start it."""

    def __init__(self, data: Path, folder: Path, *, maps_user_ids: bool = False) -> None:
        """
        Args:
            data: The folder of its images and containers.
            folder: The folder of its log and its configuration.
            maps_user_ids: Its containers have 65,536 user ids from 0 on, which are other ids outside. Those must be able
                to reach `data`.
        """
        self._sockets = Path(tempfile.mkdtemp(prefix="dockerd-"))
        """They are here because the address of a socket may have 107 characters, and that of containerd's is long already."""
        # the daemon appends this folder for containerd if it maps user ids
        for path in (self._sockets, f"{self._sockets}.{_FIRST_MAPPED}.{_FIRST_MAPPED}"):
            atexit.register(shutil.rmtree, path, ignore_errors=True)
        self.address = f"unix://{self._sockets / 'docker.sock'}"
        self._data = data
        self._folder = folder
        self._maps_user_ids = maps_user_ids
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the daemon, and return when it answers.

        Raises:
            NoDocker: it is not installed, or does not run here.
        """
        if shutil.which("dockerd") is None or os.getuid() != 0:
            raise NoDocker("dockerd is not installed, or this is not root: `make docker` as root installs it")
        self._configure()
        for _ in range(_ATTEMPTS):
            if self._has_started():
                return
            self.stop()
        said = (self._folder / "dockerd.log").read_text()[-2000:]
        raise NoDocker(f"dockerd did not start: {said}")

    def _has_started(self) -> bool:
        with (self._folder / "dockerd.log").open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, start_new_session=True)
        patience = time.monotonic() + _START_S
        while not _answers(self.address):
            if self._process.poll() is not None or time.monotonic() > patience:
                return False
            time.sleep(0.1)
        return True

    def beside(self, *command: str) -> list[str]:
        """A command that runs where the daemon finds it at 127.0.0.1."""
        assert self._process is not None
        return ["nsenter", f"--net=/proc/{self._process.pid}/ns/net", *command]

    @contextmanager
    def stopped_for_a_while(self) -> Iterator[None]:
        """Stop the process for a while: it accepts connections and does nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ask the daemon to end, as an operator would. It ends its containers."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_S)
            self._process = None
        # A daemon that did not start, or was killed, leaves this folder mounted onto itself, and files of containers below it.
        while _is_mounted(self._data):
            subprocess.run(["umount", "--recursive", "--lazy", self._data], check=True)

    def kill(self) -> None:
        """End the daemon and what runs below it at once. Its containers go on until it starts again."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def _command(self) -> list[str]:
        return [
            # in its own network: otherwise it would remove the bridge of another daemon on this machine
            *("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"),
            *(self._with_subordinates() if self._maps_user_ids else ()),
            "dockerd",
            f"--host={self.address}",
            f"--data-root={self._data}",
            f"--exec-root={self._sockets / 'exec'}",
            f"--pidfile={self._sockets / 'docker.pid'}",
            f"--config-file={self._folder / 'daemon.json'}",
            *((f"--userns-remap={_MAPPED_USER}",) if self._maps_user_ids else ()),
        ]

    def _with_subordinates(self) -> list[str]:
        """Configure subordinate user ids for this daemon alone; see subuid(5)."""
        table = self._folder / "subordinates"
        table.write_text("".join(f"{name}:{_FIRST_MAPPED}:65536\n" for name in _MAPPED_USER.split(":")))
        cover = 'mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid && exec "$@"'
        return ["unshare", "--mount", "sh", "-c", cover, str(table)]

    def _configure(self) -> None:
        gvisor = shutil.which("runsc")
        # the daemon must not set up a network stack for a container without network
        runtimes = {"runsc": {"path": gvisor, "runtimeArgs": ["--network=none"]}} if gvisor else {}
        (self._folder / "daemon.json").write_text(json.dumps({"runtimes": runtimes}))


@contextmanager
def docker_with_image(lane: str = "all") -> Iterator[str]:
    """The address of a daemon with the box image. The image is built if it is missing or stale.

    This takes some minutes. The image of the quick lane has Python alone.

    Raises:
        NoDocker: there is none and none can be started.
    """
    address = os.environ.get("DOCKER_HOST", _DEFAULT_ADDRESS)
    if _answers(address):
        with _alone():
            _ensure_image(address, lane)
        yield address
        return
    with _alone(), tempfile.TemporaryDirectory(prefix="rewardline-docker-") as folder:
        daemon = DockerDaemon(_BUILD / "docker", Path(folder))
        daemon.start()
        try:
            _ensure_image(daemon.address, lane)
            yield daemon.address
        finally:
            daemon.stop()


def ensure_polyglot_image(address: str) -> None:
    """Build the box image with every language of Debian, if it is missing or stale. It takes about ten minutes."""
    with _alone("polyglot"):
        _ensure(address, POLYGLOT_IMAGE, recipe.languages_named("all"))


def ensure_toolchains_image(address: str) -> None:
    """Build the image of repository tasks that need compilers, if it is missing or stale. It takes some minutes."""
    with _alone("toolchains"):
        _ensure(address, TOOLCHAINS_IMAGE, TOOLCHAINS)


def bring_small_image(source: str, target: str) -> None:
    """Make the image `small` from the box image of another daemon. It has an interpreter and hardly anything else."""
    libraries = " ".join(
        f"usr/lib/*-linux-gnu/{name}*" for name in ("ld-linux", "libc.so", "libm.so", "libz.", "libexpat.", "libffi.")
    )
    folders = "lib lib64 usr/lib64 usr/bin/python3 usr/bin/python3.11 usr/lib/python3.11"
    pack = f"cd / && tar c --exclude=__pycache__ --file=/small.tar {folders} {libraries}"
    with (
        closing(docker.DockerClient(source, timeout=60)) as here,
        closing(docker.APIClient(target, version="auto", timeout=60)) as there,
        io.BytesIO() as archive,
    ):
        packer = here.containers.create(IMAGE, ["sh", "-c", pack], network_mode="none")
        try:
            packer.start()
            if packer.wait()["StatusCode"] != 0:
                raise RuntimeError(f"no small image: {packer.logs().decode(errors='replace')}")
            pieces, _ = packer.get_archive("/small.tar")
            archive.writelines(pieces)
        finally:
            packer.remove(force=True)
        archive.seek(0)
        with tarfile.open(fileobj=archive) as members:
            packed = members.extractfile("small.tar")
            assert packed is not None
            there.import_image_from_data(packed.read(), repository="small", tag="latest")


def main(lane: str) -> None:
    """Build the images. After a failure the tests try again by themselves."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the daemon is stopped
    with suppress(NoDocker, build.BuildFailed, NotMade, NoWheels, DockerException), docker_with_image(lane) as address:
        if lane != "quick":
            build_images(address)
        if lane in ("all", "boxes"):
            ensure_polyglot_image(address)
        if lane in ("all", "repositories"):
            ensure_toolchains_image(address)


@contextmanager
def _alone(what: str = "docker") -> Iterator[None]:
    """Hold a lock against other test runs on this machine: two would build the same image, or need the same data."""
    _BUILD.mkdir(exist_ok=True)
    with (_BUILD / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ensure_image(address: str, lane: str) -> None:
    _ensure(address, IMAGE, QUICK_LANGUAGES if lane == "quick" else recipe.COMMON)


def _ensure(address: str, image: str, languages: Sequence[str]) -> None:
    with closing(docker.APIClient(address, version="auto", timeout=1800)) as client:
        if not build.is_current(client, image, languages):
            build.build(client, image, languages)


def _is_mounted(folder: Path) -> bool:
    """Whether something is mounted here. `os.path.ismount` does not see that a folder is mounted onto itself."""
    place = str(folder.resolve())
    return any(line.split()[4] == place for line in Path("/proc/self/mountinfo").read_text().splitlines())


def _answers(address: str) -> bool:
    try:
        _knock(address)
        docker.APIClient(address, version="auto", timeout=5).close()
    except (OSError, DockerException):
        return False
    return True


def _knock(address: str) -> None:
    """Try to connect. It fails if nothing listens. The docker library would leave the socket of a failed connection
    open.
    """
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(address.removeprefix("unix://"))


if __name__ == "__main__":
    main(sys.argv[1])
