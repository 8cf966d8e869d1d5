"""How long a command in a container may go on.

Its wall seconds are those in which it could run. On a busy machine a program wants a CPU and does not get it; a judge
that counts that time says "too slow" of the machine. Docker does not say how long a container waited, so this is an
estimate: at each look, if a thread of the container is ready to run, the CPU time that the container did not get since
the last look was waiting. A container that sleeps has no such thread; a container that gets its CPUs lacks no time.

Where nobody outside sees threads, a look measures how much of a CPU the machine has for the container. What a ready thread
would not have got was waiting, if the container used about what it would have got.
"""

from typing import Final

_LOOKS: Final = 60
"""How often a command is looked at within its wall seconds."""
_LEAST_STEP_S: Final = 1.0
MOST_STARVED: Final = 9.0
"""A command that has waited so many times its wall seconds is given up."""
_LEAST_USE: Final = 0.5
"""A container that gets a smaller part of what a ready thread would get is asleep."""


class Patience:
    """The wall seconds of one command.

    Args:
        wall_s: Seconds in which it could run.
        cpus: How many CPUs its container may use. A program with one thread uses no more than one.
        now_s: The clock when it begins. This and the other times are of one clock.
        cpu_s: CPU seconds that its container has used by then.
    """

    def __init__(self, wall_s: float, cpus: float, now_s: float, cpu_s: float) -> None:
        self.starved_s = 0.0
        """For how long it waited for a CPU."""
        self._wall_s = wall_s
        self._share = min(1.0, cpus)
        self._step_s = max(_LEAST_STEP_S, wall_s / _LOOKS)
        self._began_s = self._looked_s = now_s
        self._cpu_s = cpu_s

    def is_due(self, now_s: float) -> bool:
        """Whether to look at it."""
        return now_s >= self._looked_s + self._step_s or self.is_over(now_s)

    def look(self, now_s: float, cpu_s: float, *, waiting: float, looking_s: float = 0.0) -> None:
        """Note the CPU seconds that its container has used, and the share of its time that a ready thread may have waited.

        Finding that out took `looking_s` from then on. It is long where the machine is busy, and waiting, too.
        """
        due_s, got_s = self._share * (now_s - self._looked_s), cpu_s - self._cpu_s
        if waiting and got_s >= _LEAST_USE * (1 - waiting) * due_s:
            self.starved_s += max(0.0, min(due_s - got_s, waiting * due_s)) + waiting * self._share * looking_s
        self._looked_s, self._cpu_s = now_s + looking_s, cpu_s

    def is_over(self, now_s: float) -> bool:
        return now_s - self._began_s > self._wall_s + self.starved_s

    @property
    def is_hopeless(self) -> bool:
        return self.starved_s > MOST_STARVED * self._wall_s
