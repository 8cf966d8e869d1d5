"""open-instruct's code API (`--code_api_url`): `POST test_program`, `test_program_stdio`, `GET health`.

    {"program": text, "tests": ["assert ..."] or [{"input", "output"}], "max_execution_time": 1.0}
        ►  {"results": [1, 0], "runtimes": [0.1, -1.0]}

Tests may be JSON text. The original's compressed form is a pickle. It is never opened, and gives 422.

The client treats every failure as 0.0 after one request: there is no status after which it retries. So its callers wait
as long as its own time limit allows, max(30, min(300, 10 * max_execution_time)) seconds, before they get 503. To lose
no sample, use the hook `rewardline.open_instruct`.
"""

from typing import Annotated, Any, ClassVar, Final

import msgspec

from service.doors.compat import test_suites
from service.doors.compat.door import Door, Exchange, NoOptions, Route
from service.doors.compat.request_options import CachedOptions, refusal
from service.wire import parse
from verifiers.code.outcomes import MAX_TESTS_SHOWN

_BASE: Final = "/compat/open_instruct"
PROGRAM, STDIO, HEALTH = (f"{_BASE}/{name}" for name in ("test_program", "test_program_stdio", "health"))
_READING_S: Final = 27.5
_MARGIN_S: Final = 2.5
_MAX_TESTS: Final = 10_000
_NOT_PASSED_S: Final = -1.0

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class InputOutput(msgspec.Struct):
    """Other fields are ignored."""

    input: str
    output: str


class ProgramTests(msgspec.Struct):
    """A program, without a code fence. Other fields are ignored."""

    __test__ = False

    program: str
    tests: list[str] | str
    """The tests: statements with `assert`."""
    max_execution_time: Seconds = 1.0
    """CPU seconds of each test."""


class StdioTests(msgspec.Struct):
    """A program, without a code fence. Other fields are ignored."""

    __test__ = False

    program: str
    tests: list[InputOutput] | str
    max_execution_time: Seconds = 1.0
    """CPU seconds of each test."""


class Results(msgspec.Struct):
    """`results[i]` and `runtimes[i]` belong to `tests[i]`."""

    results: list[int]
    runtimes: list[float]
    """CPU seconds of each test; -1 for a test that did not pass."""


class OpenInstruct(Door):
    name = "open_instruct"
    routes: ClassVar = (
        Route(
            (PROGRAM,),
            "open_instruct_test_program",
            "Test a program with asserts, for open-instruct",
            "422: there are no tests, or they are compressed; 503: not run for as long as the client waits.",
            Results,
            ProgramTests,
            {"program": "def add(a, b): return a + b", "tests": ["assert add(1, 2) == 3"], "max_execution_time": 1.0},
            CachedOptions,
            timeout_s=_READING_S,
        ),
        Route(
            (STDIO,),
            "open_instruct_test_program_stdio",
            "Test a program with input and output, for open-instruct",
            "As `test_program`.",
            Results,
            StdioTests,
            {"program": "print(int(input()) + 1)", "tests": [{"input": "1\n", "output": "2\n"}]},
            CachedOptions,
            timeout_s=_READING_S,
        ),
        Route(
            (HEALTH,),
            "open_instruct_health",
            "Whether the code API is there",
            "As open-instruct asks.",
            dict[str, str],
            method="GET",
            options=NoOptions,
        ),
    )

    async def answer(self, exchange: Exchange[Any]) -> object:
        path = exchange.route.paths[0]
        if path == HEALTH:
            return {"status": "healthy"}
        request: ProgramTests | StdioTests
        request = parse(_programs, exchange.body, []) if path == PROGRAM else parse(_stdio, exchange.body, [])
        exchange.body = b""
        if exchange.options.deadline_s is msgspec.UNSET:
            timeout_s = max(30.0, min(300.0, 10 * request.max_execution_time)) - _MARGIN_S
            exchange.wait_for(min(timeout_s, self.parts.settings.max_deadline_s))
        return await self._results(exchange, request)

    async def _results(self, exchange: Exchange[CachedOptions], request: ProgramTests | StdioTests) -> Results:
        is_stdio = isinstance(request, StdioTests)
        tests = _decoded_tests(request.tests, is_stdio) if isinstance(request.tests, str) else request.tests
        if not 0 < len(tests) <= _MAX_TESTS:
            raise refusal(["tests"], f"{len(tests)} tests; there must be 1 to {_MAX_TESTS}")
        references = test_suites.split(tests, "stdio" if is_stdio else "assert")
        await exchange.hold(len(references), self.parts.settings.max_items_per_request)
        params = {
            "policy": "ratio",
            "time_limit_s": min(request.max_execution_time, self.parts.settings.max_run_s),
            "max_timeouts": MAX_TESTS_SHOWN,
            "language": "python",
            "think": "none",
        }
        outcomes = await test_suites.judged(
            self.parts.scorer,
            test_suites.fenced(request.program),
            references,
            params,
            deadline=exchange.deadline,
            cache=exchange.options.cache,
        )
        return Results(
            [int(test.passed) for test in outcomes], [test.cpu_s if test.passed else _NOT_PASSED_S for test in outcomes]
        )


def _decoded_tests(text: str, is_stdio: bool) -> list[Any]:
    """Decode tests that come as JSON text.

    Raises:
        Unprocessable
    """
    try:
        return msgspec.json.decode(text, type=list[InputOutput] if is_stdio else list[str])
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise refusal(
            ["tests"],
            f"tests: expected a list, or JSON text of one; compressed tests are a pickle, never opened: {error}",
        ) from error


_programs = msgspec.json.Decoder(ProgramTests)
_stdio = msgspec.json.Decoder(StdioTests)
