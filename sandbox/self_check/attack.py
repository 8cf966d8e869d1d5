"""An attack: a program that tries to break out, and the judgement of its output."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sandbox.base import Execute, Isolation, Limits, Program, Run, RunResult, Sandbox
from sandbox.self_check.outside import Outside


@dataclass(frozen=True, slots=True)
class Attack:
    """One kind of attack."""

    name: str
    tries: str
    """What the attack tries, in one sentence."""
    carry_out: Callable[[Sandbox, Outside], Awaitable[str]]
    """Runs the attack. Returns what got through; empty when the sandbox held."""
    is_short: bool = True
    not_promised_by: frozenset[Isolation] = frozenset()
    gaps: Mapping[Isolation, frozenset[str]] = field(default_factory=dict)
    """For a kind of sandbox: attempts that it lets through, as its caveats say."""


LIMITS: Final = Limits(cpu_s=5.0, wall_s=20.0, memory_mb=256, processes=32)
_REACHED: Final = "reached: "
DONE: Final = "done"

_PRELUDE: Final = """\
import json, os, sys
FACTS = json.loads(%r)
def attempt(name, action):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open("/dev/null", os.O_RDWR), 2)
            code = 7 if action() else 1
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7:
        print("reached:", name, flush=True)
OWN = {1, os.getpid(), os.getppid()}
def neighbour(action):
    def reached():
        pid = FACTS["neighbour"]
        return pid not in OWN | {os.getpid()} and action(pid)
    return reached
def opens(path, flags):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK))
        print("reached:", path, flush=True)
    except OSError:
        pass
def content(path):
    with open(path, "rb") as file:
        return file.read(4096)
"""
"""Each attempt is a process of its own: when one is killed for trying, the others still run.

In a PID namespace the neighbour's pid may belong to one of the attack's own processes, which it may do anything to.
"""


async def run_attack(
    sandbox: Sandbox, source: str, outside: Outside, runs: Sequence[Run] = (Execute(limits=LIMITS),)
) -> Sequence[RunResult]:
    """Results of the runs, in order; fewer than the runs when the program could not be built."""
    results: dict[int, RunResult] = {}

    def keep(position: int, result: RunResult) -> bool:
        results[position] = result
        return True

    await sandbox.run(Program(_PRELUDE % json.dumps(outside.facts()) + source), runs, keep)
    return [results[position] for position in sorted(results)]


async def run_and_parse(
    sandbox: Sandbox, source: str, outside: Outside, limits: Limits = LIMITS
) -> tuple[list[str], str]:
    """The lines that a program printed, and what it says it reached, or why it did not finish."""
    results = await run_attack(sandbox, f"{source}\nprint({DONE!r})\n", outside, [Execute(limits=limits)])
    if not results:
        return [], "the attack program could not be loaded"
    lines = results[0].stdout.decode(errors="replace").splitlines()
    reached = [line.removeprefix(_REACHED) for line in lines if line.startswith(_REACHED)]
    if not reached and DONE not in lines:
        return lines, f"the attack did not finish: {ending(results[0])}"
    return lines, ", ".join(reached)


def ending(result: RunResult) -> str:
    words = result.stderr.decode(errors="replace").strip().splitlines()
    return f"{result.exit}, code {result.code}, signal {result.signal}, {words[-1] if words else 'no words'}"


def must_all_fail(source: str) -> Callable[[Sandbox, Outside], Awaitable[str]]:
    """An attack made only of attempts that must all fail."""

    async def carry_out(sandbox: Sandbox, outside: Outside) -> str:
        return (await run_and_parse(sandbox, source, outside))[1]

    return carry_out
