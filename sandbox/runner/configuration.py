"""What a runner is told when it starts: where it is, and what its box gives it and does not."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """Sent as the header of the first frame, whose body is the runner itself (see `sandbox.boxes.bootstrap`)."""

    preload: tuple[str, ...] = ()
    """Modules imported before the first fork, as far as they are there."""
    programs: tuple[str, ...] = ()
    """Programs to look for on the PATH; those found are told in `hello`."""
    directory: str = "/box"
    """Empty and the runner's own: programs and the working directories of runs are made in it."""
    cleaned: tuple[str, ...] = ("/tmp", "/dev/shm")  # noqa: S108 - inside a box
    """Other directories programs can write to; emptied after each job."""
    read_only: tuple[str, ...] = ()
    """Under Landlock, what programs may read and run."""
    first_uid: int = 100_000
    uids: int = 50_000
    """Each run has a user id of its own out of so many; tests have theirs above those."""
    single_uid: bool = False
    """The box has one user id only, the runner's own, for everything."""
    init: bool = True
    """The runner is process 1 of a PID namespace: `kill(-1)` reaches all that is in the box and nothing else."""
    landlock: bool = False
    """No mount, PID or network namespace: each run is confined with Landlock, and has no sockets at all."""
    seccomp: bool = True
    watch_memory: bool = False
    """No memory cgroup bounds the box: resident memory is looked at every 20 ms while a run lasts."""
    memory_ends_box: bool = False
    """Where memory runs out, the whole box is ended, never one process in it: what is killed there, programs killed."""
    memory_events: int | None = None
    """An open descriptor of the box's memory.oom_control or memory.events, when no file in the box has it."""
    once: bool = False
    """One program is run in the box, and no other one after it: nothing is made ready for it that it may not need."""
    cpus: int = 1
    """As many as the box can use at once: how fast CPU seconds can be used up."""
