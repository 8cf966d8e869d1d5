"""Turns a program and its runs into questions to a runner.

The questions hold the commands and limits of the program's language, the function to call, and the profile of the box.
"""

import dataclasses
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from sandbox.base import Call, Execute, Limits, Program, Run, RunResult, SandboxUnavailable, Tests, TestStyle
from sandbox.boxes.backend import Profile
from sandbox.boxes.link import Question
from sandbox.boxes.pool.compile_cache import Files, key_of
from sandbox.boxes.pool.messages import (
    MAX_KEPT_BYTES,
    MAX_OUTCOMES_BYTES,
    MAX_VALUE_BYTES,
    SLACK_BYTES,
    Loaded,
    frame,
    limits_fields,
    listed,
    read_loaded,
    read_result,
)
from sandbox.languages import Language, all_languages
from sandbox.runner.process.workspace import MAX_FETCHED_BYTES, BadPath, checked_path

MAX_FILES: Final = 1000
"""For a program, and for each run. Runners also have room for what a compiler makes."""

_SCIENCE: Final = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+(?:numpy|pandas|sympy|scipy)\b|import[ \t][^\n;:#]*?\b(?:numpy|pandas|sympy|scipy)\b)",
    re.MULTILINE,
)

ResultCallback = Callable[[tuple[RunResult | None, int]], None]
LoadedCallback = Callable[[tuple[Loaded, Files]], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a box is told about one program. Made by `Plan.of`."""

    program: Program
    language: Language
    source: str
    profile: Profile
    needs: frozenset[str]
    """Modules that tests import and the box must have. Without them an `ImportError` would be our fault, and look like the
    program's. What the program itself imports is its own choice.
    """
    cache_key: bytes | None
    """None: nothing is compiled, or the output cannot be kept."""
    has_tests: bool
    """Whether any of its runs are `Tests`."""

    @classmethod
    def of(cls, program: Program, runs: Sequence[Run]) -> "Plan":
        """Work out how to run a program.

        Raises:
            SandboxUnavailable: its language, or this kind of run in its language, is not supported.
            ValueError: the runs do not fit together, a function has an invalid name, or a file's path leads out.
        """
        _check_paths(program, runs)
        language = all_languages().get(program.language)
        if language is None:
            raise SandboxUnavailable(
                f"unknown language {program.language!r}; known are {sorted(all_languages())}", "language_unavailable"
            )
        source = program.source if _is_warm(language) else _with_function(program.source, language, runs)
        key = key_of(language, source, program) if language.compile and language.keep else None
        profile, needs = _profile(program, runs) if _is_warm(language) else (Profile.PLAIN, frozenset[str]())
        return cls(program, language, source, profile, needs, key, any(isinstance(run, Tests) for run in runs))

    def load(
        self, compiled: Files | None, on_answer: LoadedCallback, *, core: int | None
    ) -> Question[tuple[Loaded, Files]]:
        """The first question.

        Args:
            compiled: The compiler's output from an earlier time.
            on_answer: Called with the answer.
            core: The processor that all of it is pinned to.
        """
        language = self.language
        compiles = bool(language.compile) and compiled is None
        source = {language.source_file: self.source.encode(errors="surrogatepass")}
        given_files = {checked_path(path): data for path, data in self.program.files.items()}
        files = list({**given_files, **dict(compiled or ()), **source}.items())
        fields = {
            "mode": "python" if _is_warm(language) else "exec",
            "files": listed(files),
            "main": language.source_file,
            "compile": self._compile_fields() if compiles else None,
            "argv": language.run,
            "keep": language.keep,
            "environment": language.environment,
            "data_limit": language.data_limit,
            "handles_children": language.handles_children,
            "has_tests": self.has_tests,
            "core": core,
        }
        max_body_bytes = MAX_KEPT_BYTES if compiles else 0
        return Question(frame("load", fields, [data for _, data in files]), read_loaded, on_answer, max_body_bytes)

    def question(
        self, run: Run, on_answer: ResultCallback, *, waits: bool = False, last: bool = False
    ) -> Question[tuple[RunResult | None, int]]:
        """Ask for a run.

        Args:
            run: What to run.
            on_answer: Gets its result.
            waits: It is given `ahead`, and the rest of its input comes by `rest`.
            last: No other run of the program will be asked for in this box.
        """
        limits = self.limits(run)
        max_body_bytes = limits.output_bytes + limits.stderr_bytes + SLACK_BYTES
        if isinstance(run, Execute):
            question = _execute(run, limits, waits=waits, last=last)
            max_body_bytes += MAX_FETCHED_BYTES if run.fetch else 0
        elif isinstance(run, Call):
            fields = {"limits": limits_fields(limits), "function": run.function, "last": last}
            question = frame("call", fields, [run.arguments])
            max_body_bytes += MAX_VALUE_BYTES
        else:
            key = secrets.token_bytes(16)
            question = frame(
                "tests", {"limits": limits_fields(limits), "shares_files": run.shares_files}, [_specification(run, key)]
            )
            max_body_bytes += MAX_OUTCOMES_BYTES
            return Question(question, partial(read_result, key=key), on_answer, max_body_bytes)
        return Question(question, read_result, on_answer, max_body_bytes)

    @property
    def compile_limits(self) -> Limits:
        """Limits of the compiler, with the time that the language's own needs."""
        limits = self.program.compile_limits
        return dataclasses.replace(limits, cpu_s=limits.cpu_s * self.language.compile_factor)

    def limits(self, run: Run) -> Limits:
        """Limits of the run, with the extra time that the language's run time needs."""
        language, limits = self.language, run.limits
        wall_s = None if limits.wall_s is None else limits.wall_s + language.start_cpu_s
        return dataclasses.replace(
            limits, cpu_s=limits.cpu_s * language.cpu_factor + language.start_cpu_s, wall_s=wall_s
        )

    def _compile_fields(self) -> dict[str, object]:
        return {"argv": self.language.compile, "limits": limits_fields(self.compile_limits)}


def _is_warm(language: Language) -> bool:
    """Whether the runner's own interpreter runs the language."""
    return not language.run


def _with_function(source: str, language: Language, runs: Sequence[Run]) -> str:
    """The source, with the code that makes its function callable when the runs call it."""
    if any(isinstance(run, Tests) for run in runs):
        raise SandboxUnavailable(
            f"tests that are programs can run against Python only, not {language.name}", "language_unavailable"
        )
    functions = {run.function if isinstance(run, Call) else None for run in runs}
    if functions <= {None}:
        return source
    if not language.call_suffix:
        raise SandboxUnavailable(
            f"functions cannot be called in {language.name}; test its standard output instead", "language_unavailable"
        )
    if len(functions) > 1:
        raise ValueError(f"a program in {language.name} is either run as a whole or has one function called, not both")
    function = functions.pop()
    if function is None or not (function.isidentifier() and function.isascii()):
        raise ValueError(f"not a valid function name: {function!r}; use ASCII letters, digits and underscores")
    return source + language.call_suffix.replace("{function}", function)


def _check_paths(program: Program, runs: Sequence[Run]) -> None:
    """Check paths as a runner does: a runner exits on a path that it cannot use."""
    executions = [run for run in runs if isinstance(run, Execute)]
    try:
        for files in (program.files, *(run.files for run in executions)):
            if len(files) > MAX_FILES:
                raise ValueError(f"{len(files)} files; at most {MAX_FILES} are allowed")
            if len(set(map(checked_path, files))) < len(files):
                raise ValueError("two file names mean the same path; give each file once")
        for run in executions:
            for path in run.fetch:
                checked_path(path)
    except BadPath as error:
        raise ValueError(str(error)) from error


def _profile(program: Program, runs: Sequence[Run]) -> tuple[Profile, frozenset[str]]:
    """The profile for a program, and the modules of it that must be there."""
    styles = {run.style for run in runs if isinstance(run, Tests)}
    if program.needs_pytest or TestStyle.PYTEST in styles:
        return Profile.TESTS, frozenset({"pytest"})
    imports = _scientific_imports(*_texts(runs))
    if imports or _scientific_imports(program.source):
        return Profile.SCIENCE, frozenset(name for name in Profile.SCIENCE.preload if name in imports)
    return Profile.TESTS if TestStyle.UNITTEST in styles else Profile.PLAIN, frozenset()


def _scientific_imports(*sources: str) -> str:
    """Lines that import a module that not every box has."""
    return "\n".join(match[0] for source in sources for match in _SCIENCE.finditer(source))


def _texts(runs: Sequence[Run]) -> list[str]:
    return [text for run in runs if isinstance(run, Tests) for text in (run.setup, *run.cases, *run.files.values())]


def rest(stdin: bytes) -> bytes:
    """The frame with the rest of the input of a run that waits for it."""
    return frame("input", {}, [stdin])


def _execute(run: Execute, limits: Limits, *, waits: bool, last: bool) -> bytes:
    files = list(run.files.items())
    stdin = run.ahead if waits else run.ahead + run.stdin
    fields = {
        "limits": limits_fields(limits),
        "arguments": run.arguments,
        "stdin": len(stdin),
        "files": listed(files),
        "fetch": run.fetch,
        "waits": waits,
        "last": last,
    }
    return frame("execute", fields, [*(data for _, data in files), stdin])


def _specification(run: Tests, key: bytes) -> bytes:
    return msgspec.json.encode(
        {
            "style": run.style,
            "cases": run.cases,
            "setup": run.setup,
            "entry_point": run.entry_point,
            "files": run.files,
            "objects": run.objects,
            "shares_files": run.shares_files,
            "rehearses": run.rehearses,
            "seal": key.hex(),
        }
    )
