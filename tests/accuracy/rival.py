"""Math-Verify as the other judge: `verify(parse(gold), parse(response))`, where it can be killed.

It sets its own alarms of five seconds; computer algebra in one C call, or in big integers, does not hear them. So it
runs in workers, and an item that uses ten seconds of CPU, or 2 GB, is ended from outside. Such an item, and one that an
alarm of its own ended without a match, counts as not judged.
"""

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from math_verify import parse, verify

from sandbox.workers import Exit, Outcome, Task, Workers

_WARM = ([r"\frac{1}{2}", r"So it is $\boxed{\frac{\sqrt{3}}{2}}$."], ["5", r"\boxed{x=5}"])
TASK = Task("tests.accuracy.rival", "judge", time_limit_s=10.0, warm=_WARM)
_MEMORY_MB = 2048


def outcomes(pairs: Sequence[tuple[str, str]], workers: int) -> tuple[list[Outcome], float]:
    """What became of each `(reference, response)`, in order; and how many seconds it took once the workers stood."""
    return asyncio.run(_outcomes(pairs, workers))


def verdict(outcome: Outcome) -> bool | None:
    """What it was judged to be; None when it was not."""
    return outcome.value if outcome.exit is Exit.OK else None


async def _outcomes(pairs: Sequence[tuple[str, str]], workers: int) -> tuple[list[Outcome], float]:
    pool = Workers(workers, memory_mb=_MEMORY_MB)
    pool.register(TASK)
    await pool.start()
    try:
        started = time.perf_counter()
        found = await pool.map(TASK, [list(pair) for pair in pairs])
        return list(found), time.perf_counter() - started
    finally:
        await pool.stop()


def judge(pair: Sequence[str]) -> bool | None:
    """The verdict, or None when one of Math-Verify's own alarms went off and nothing matched."""
    reference, response = pair
    with _alarms() as alarms:
        matched = verify(parse(at_its_best(reference)), parse(response))
    return None if alarms and not matched else bool(matched)


def at_its_best(reference: str) -> str:
    r"""A reference in `$`, unless it says itself where its mathematics is: most bare LaTeX it reads wrongly or not."""
    text = reference.strip()
    is_marked = "$" in text.replace(r"\$", "") or text.startswith((r"\(", r"\[")) or r"\boxed" in text
    return text if is_marked else f"${text}$"


@contextmanager
def _alarms() -> Iterator[list[str]]:
    """What Math-Verify logs about its timeouts, which it otherwise tells nobody."""
    told: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("Timeout during"):
                told.append(record.getMessage()[:40])

    listening = Listening(logging.WARNING)
    loggers = [logging.getLogger(f"math_verify.{name}") for name in ("parser", "grader")]
    for logger in loggers:
        logger.addHandler(listening)
    try:
        yield told
    finally:
        for logger in loggers:
            logger.removeHandler(listening)
