"""Reads references into suites, each once: all samples of one prompt have the same parameters.

Reading parses the tests and asks what they share with the program, which takes a millisecond for each thousand
characters. So it is done in a worker, and only short references are read on the event loop.
"""

from typing import Any, Final

import msgspec
from msgspec import structs

from memory import Store
from sandbox.containers.single_flight import SingleFlight
from sandbox.workers import Exit, Task, Workers, WorkersUnavailable, worker_function
from verifiers.base import InvalidItem, Unavailable
from verifiers.code import aliases, rehearsal, sharing
from verifiers.code.cases import Suite, TestPrograms
from verifiers.code.packed import MAX_BYTES
from verifiers.code.programs import language_named
from verifiers.long_texts import BROKEN_LIMITS, too_complex_params

_INLINE_CHARS: Final = 1_000
_TIME_LIMIT_S: Final = 20.0
"""CPU seconds: many times what the longest tests of a request need."""
_EXAMPLE: Final = {"entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
READ: Final = Task(
    "verifiers.code.reading",
    "read_in_worker",
    _TIME_LIMIT_S,
    warm=([_EXAMPLE, None, False],),
    output_bytes=2 * MAX_BYTES,
)
_decode: Final = msgspec.msgpack.Decoder(Suite).decode


class Suites:
    """The suites of recent parameters."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._known: Store[int, tuple[Any, Suite | InvalidItem]] = Store(
            "code.suites", _SUITES_BYTES, size=_size_of_suite, max_entries=_MOST_SUITES, of_texts=True
        )
        """Suites by the address of their parameters, which cannot be reused while they are held here."""
        self._flights: SingleFlight[int, Suite | InvalidItem] = SingleFlight()

    async def of(self, params: Any) -> Suite:
        """The suite that the parameters (`CodeParams`) describe.

        Raises:
            InvalidItem: they describe no suite.
            Unavailable: they cannot be read now.
        """
        entry = self._known.get(id(params))
        if entry is None:
            short = 0 < params.chars <= _INLINE_CHARS
            # The caller holds the parameters meanwhile.
            suite = read(*_asked(params)) if short else await self._flights.do(id(params), lambda: self._read(params))
            entry = params, suite
            self._known.put(id(params), entry)
        if isinstance(entry[1], InvalidItem):
            raise InvalidItem(entry[1].reason, str(entry[1]))
        return entry[1]

    async def _read(self, params: Any) -> Suite | InvalidItem:
        try:
            (outcome,) = await self._workers.map(READ, [_asked(params)])
        except WorkersUnavailable as error:
            raise Unavailable("workers_unavailable", str(error)) from error
        if outcome.exit in BROKEN_LIMITS:
            verdict = too_complex_params(outcome)
            return InvalidItem(verdict.reason, str(verdict.detail["message"]))
        if outcome.exit is not Exit.OK:
            reason = "verifier_bug" if outcome.exit is Exit.RAISED else f"worker_{outcome.exit}"
            raise Unavailable(reason, outcome.message.partition("\n")[0])
        return _decode(outcome.value) if isinstance(outcome.value, bytes) else InvalidItem(*outcome.value)


_MOST_SUITES: Final = 2048
_SUITES_BYTES: Final = 64_000_000
_SUITE_BYTES: Final = 4_000
"""A suite and its parameters without their texts, which both of them hold."""


def _size_of_suite(_key: int, entry: tuple[Any, Suite | InvalidItem]) -> int:
    return _SUITE_BYTES + (2 * entry[1].chars if isinstance(entry[1], Suite) else 0)


def _asked(params: Any) -> list[Any]:
    return [params.reference, params.language, params.together]


@worker_function
def read_in_worker(payload: list[Any]) -> bytes | list[str]:
    """The suite of a reference, written by msgspec; or the reason and the message of why there is none."""
    suite = read(*payload)
    return [suite.reason, str(suite)] if isinstance(suite, InvalidItem) else msgspec.msgpack.encode(suite)


def read(reference: Any, language: str | None, together: bool) -> Suite | InvalidItem:
    """The suite that a reference describes, or why it describes none."""
    try:
        language_named(language)
        suite = aliases.parse(reference)
        if together:
            return sharing.joined(suite)
        if suite.shares:
            raise InvalidItem(
                "tests_not_supported",
                f"the tests use {suite.shares}, which needs the program in their own process, and here it is in another; "
                "write `together: true` in the parameters to run both in one, where a program can forge a pass",
            )
        tests = suite.tests
        if isinstance(tests, TestPrograms) and rehearsal.is_needed(tests):
            return structs.replace(suite, tests=structs.replace(tests, is_rehearsed=True))
        return suite
    except InvalidItem as error:
        return InvalidItem(error.reason, str(error))  # without the traceback, which would be kept with it
    except RecursionError:
        return InvalidItem("unparseable_tests", "the reference holds values that are nested too deeply to be compared")
