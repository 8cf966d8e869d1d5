"""The runner's configuration at its start: where it is, and what its box provides."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """Sent as the header of the first frame, whose body is the runner itself (see `sandbox.boxes.bootstrap`)."""

    preload: tuple[str, ...] = ()
    """Modules to import before the first fork, if they exist."""
    programs: tuple[str, ...] = ()
    """Programs to look for on the PATH. `hello` reports those found."""
    directory: str = "/box"
    """An empty directory of the runner's own. Programs and the working directories of runs are made in it."""
    cleaned: tuple[str, ...] = ("/tmp", "/dev/shm")  # noqa: S108 - inside a box
    """Other directories that programs can write to; emptied after each job."""
    read_only: tuple[str, ...] = ()
    """Under Landlock: paths that programs may read and execute."""
    first_uid: int = 100_000
    uids: int = 50_000
    """How many user ids there are for runs; each run has one of its own. Tests have as many, above those."""
    single_uid: bool = False
    """The box has only one user id, the runner's own, for everything."""
    init: bool = True
    """The runner is process 1 of a PID namespace: `kill(-1)` reaches every process in the box and no other."""
    landlock: bool = False
    """There is no mount, PID or network namespace: each run is confined with Landlock, and has no sockets at all."""
    seccomp: bool = True
    watch_memory: bool = False
    """No memory cgroup bounds the box: resident memory is checked every 20 ms while a run lasts."""
    memory_ends_box: bool = False
    """When memory runs out, the whole box is killed, never one process in it. So a process killed there was killed by a
    program.
    """
    memory_events: int | None = None
    """An open descriptor of the box's memory.oom_control or memory.events, when the box's file system does not have the
    file.
    """
    once: bool = False
    """The box runs one program and no other after it: nothing is prepared that this program may not need."""
    cpus: int = 1
    """How many CPUs the box can use at once: how fast CPU seconds can be used up."""
