"""`POST /submit` judges a completion by the tests of its row, in the format of SandboxFusion's online judge.

The tests come with the request, in `config.provided_data`, because no data sets are kept here:

    CommonOJDataset   "test": [{"input": {"stdin": text}, "output": {"stdout": text}}]
    others            as `submitted_rows` says: HumanEval in each language, AutoEval, MBXP, MBPP, VerilogEval, and what
                      the verifier `code` takes by itself

The verifier `code` judges, and its rules hold where the original differs. As in the original, words are compared
without regard to capitals, and decimals to a hundred-thousandth of their value. Whole numbers are compared exactly; in
the original 50000000000000001 equals 50000000000000000. `exec_info` says how a test ended, without its output.
`custom_extract_logic`, code that the original runs in its server, is refused (422). 503: the tests could not be run
while the caller waited.
"""

import asyncio
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from sandbox import languages
from service.doors.compat import submitted_rows, test_suites
from service.doors.compat.door import Door, Exchange, Route
from service.doors.compat.request_options import JSON, CachedOptions, refusal
from service.doors.compat.run_code import CommandResult, RunCodeResponse
from service.wire import of_size, parse
from verifiers import code_blocks
from verifiers.code import aliases, joining
from verifiers.code.cases import JoinedTest, Suite
from verifiers.code.outcomes import MAX_TESTS_SHOWN

PATHS: Final = ("/submit", "/compat/sandboxfusion/submit")
_TIMEOUT_S: Final = 120.0
_MAX_TESTS: Final = 10_000

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]


class Extra(msgspec.Struct):
    """Other fields are ignored."""

    run_all_cases: bool = False
    is_freeform: bool = False
    """Whether the completion is a whole program, and no rest of the row's prompt."""
    repr_code: bool = False
    """Whether the program stands in its test as a literal of Python."""


class SubmitConfig(msgspec.Struct):
    """Other fields are ignored."""

    dataset_type: str | None = None
    language: str | None = None
    compile_timeout: Seconds | None = None
    run_timeout: Seconds | None = None
    custom_extract_logic: str | None = None
    provided_data: dict[str, Any] | None = None
    """The row with its tests."""
    extra: Extra = msgspec.field(default_factory=Extra)


class SubmitRequest(msgspec.Struct):
    """Other fields are ignored."""

    completion: str
    config: SubmitConfig
    id: int | str = 0
    dataset: str = ""


class Case(msgspec.Struct):
    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class EvalResult(msgspec.Struct):
    """The answer, in the form of the original."""

    id: int | str
    accepted: bool
    extracted_code: str
    tests: list[Case]
    full_code: str | None = None
    test_code: str | None = None
    extracted_type: Literal["fenced", "incomplete_fenced", "heuristic", "empty"] | None = None
    extra: dict[str, Any] | None = None


class Submit(Door):
    name = "submit"
    routes: ClassVar = (
        Route(
            PATHS,
            "submit",
            "Judge a completion by the tests of its row",
            "In the shape of SandboxFusion. 422: there are no tests in `config.provided_data`; 503: they were not run.",
            EvalResult,
            SubmitRequest,
            {
                "id": 1,
                "completion": "```python\nprint(int(input()) + 1)\n```",
                "config": {
                    "dataset_type": "CommonOJDataset",
                    "language": "python",
                    "provided_data": {"test": [{"input": {"stdin": "1\n"}, "output": {"stdout": "2\n"}}]},
                },
            },
            CachedOptions,
            timeout_s=_TIMEOUT_S,
        ),
    )

    async def answer(self, exchange: Exchange[CachedOptions]) -> EvalResult:
        body, exchange.body = exchange.body, b""
        size = len(body)
        request = await of_size(size, lambda: parse(_decoder, body, []))
        config = request.config
        if config.custom_extract_logic:
            raise refusal(
                ["config", "custom_extract_logic"],
                "custom_extract_logic is code for the server, and is not executed; leave it out",
            )
        language = _language_of(config)
        cases, row = await of_size(size, lambda: (_cases_of(config), _row_of(request)))
        references = test_suites.split(cases, "stdio") if cases is not None else [(row, 1)]
        await exchange.hold(len(references), self.parts.settings.max_items_per_request)
        tests = await test_suites.judged(
            self.parts.scorer,
            request.completion,
            references,
            self._params(config, language, cases),
            deadline=exchange.deadline,
            cache=exchange.options.cache,
        )
        joined = await asyncio.to_thread(_joined_suite, row) if cases is None and "language" in row else None
        return await of_size(size, lambda: _result(request, joined, language, tests, cases))

    def _params(self, config: SubmitConfig, language: str | None, cases: list[JSON] | None) -> JSON:
        params: JSON = {
            "policy": "ratio",
            "time_limit_s": min(config.run_timeout or 10.0, self.parts.settings.max_run_s),
            "fail_fast": not config.extra.run_all_cases,
            "max_timeouts": MAX_TESTS_SHOWN,
        }
        if language is not None:
            params["language"] = language
        if cases is not None:
            has_decimals = any("." in text for case in cases for text in case["output"].values())
            params["comparator"] = {"ignore_case": True, **({"rel_tol": 1e-5} if has_decimals else {})}
        return params


def _language_of(config: SubmitConfig) -> str | None:
    if config.language is None:
        if config.dataset_type == "CommonOJDataset":
            raise refusal(["config", "language"], "config.language: CommonOJDataset needs it")
        return None
    language = languages.find(config.language)
    if language is None:
        names = sorted(languages.all_languages())
        raise refusal(["config", "language"], f"no language {config.language[:40]!r}; there are {names}")
    return language.name


def _cases_of(config: SubmitConfig) -> list[JSON] | None:
    """Tests of input and output. None: the row has tests of another kind.

    Raises:
        Unprocessable: there are no tests, or they lack the expected output.
    """
    row = config.provided_data
    loc: list[str | int] = ["config", "provided_data"]
    if not row:
        raise refusal(loc, "config.provided_data: expected the row with its tests; no data sets are kept here")
    tests = row.get("test")
    if isinstance(tests, str) and tests.lstrip().startswith("["):
        tests = _decoded(tests)
    if not isinstance(tests, list) or (tests and all(isinstance(test, str) for test in tests)):
        return None
    if not 0 < len(tests) <= _MAX_TESTS:
        raise refusal([*loc, "test"], f"{len(tests)} tests; there must be 1 to {_MAX_TESTS}")
    return [_case(test, [*loc, "test", number]) for number, test in enumerate(tests)]


def _row_of(request: SubmitRequest) -> JSON:
    config = request.config
    return submitted_rows.reference_of(
        config.provided_data or {}, request.dataset, msgspec.structs.asdict(config.extra)
    )


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return text


def _case(test: Any, loc: list[str | int]) -> JSON:
    match test:
        case {"input": dict(given), "output": dict(expected)} if expected and all(
            isinstance(text, str) for text in (*given.values(), *expected.values())
        ):
            return {"input": given, "output": expected}
    raise refusal(loc, 'expected {"input": {"stdin": text}, "output": {"stdout": text}}, or names of files')


def _joined_suite(row: JSON) -> Suite | None:
    """The suite of a test that is one program with the solution. The verifier has read the row before."""
    suite = aliases.parse(row)
    return suite if isinstance(suite.tests, JoinedTest) else None


def _result(
    request: SubmitRequest,
    joined: Suite | None,
    language: str | None,
    tests: list[test_suites.Test],
    cases: list[JSON] | None,
) -> EvalResult:
    program = code_blocks.find(request.completion, language if joined is None else joined.language)
    kind: Literal["fenced", "heuristic", "empty"] = (
        "fenced" if program.is_fenced else "heuristic" if program.code else "empty"
    )
    results = [
        Case(test.passed, _exec_info(test), cases[number] if cases is not None and number < len(cases) else None)
        for number, test in enumerate(tests)
    ]
    accepted = bool(tests) and all(test.passed for test in tests)
    if not request.config.extra.run_all_cases:
        results = results[
            : next((number + 1 for number, test_result in enumerate(results) if not test_result.passed), len(results))
        ]
    result = EvalResult(request.id, accepted, program.code or "", results, extracted_type=kind)
    if joined is not None and program.code is not None and isinstance(joined.tests, JoinedTest):
        solution = joining.solution_of(program.code, joined.tests, is_fenced=program.is_fenced)
        result.full_code, result.test_code = joining.joined(solution, joined.tests), joined.tests.source
    return result


def _exec_info(test: test_suites.Test) -> RunCodeResponse:
    if test.compiler:
        compiling = CommandResult("Finished", test.cpu_s, 1, "", test.compiler)
        language = languages.find(test.language)
        if language is not None and language.compile:
            return RunCodeResponse("Failed", compile_result=compiling)
        return RunCodeResponse("Failed", run_result=compiling)
    if test.status in ("pass", "wrong_answer"):
        return RunCodeResponse("Success", run_result=CommandResult("Finished", test.cpu_s, 0, "", test.difference))
    if test.status == "time_limit":
        return RunCodeResponse("Failed", run_result=CommandResult("TimeLimitExceeded", test.cpu_s, None, "", ""))
    if test.status == "not_run":
        return RunCodeResponse("Failed", test.difference or test.status)
    return RunCodeResponse(
        "Failed", test.status, run_result=CommandResult("Finished", test.cpu_s, 1, "", test.difference)
    )


_decoder: Any = msgspec.json.Decoder(SubmitRequest)
