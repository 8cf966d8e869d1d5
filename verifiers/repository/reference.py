"""What a repository task says: its image, its tests, and how far they may go."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from verifiers.base import Params
from verifiers.commitment import Think
from verifiers.repository import rows
from verifiers.repository.globs import MAX_CHARS, MAX_STARS

MAX_TEXT_CHARS = 20_000_000
"""Of a patch, of a file, or of a command."""


def _inside(path: str) -> str:
    """Refuse a path that is not a plain one below the working directory."""
    names = PurePosixPath(path).parts
    if not names or path.startswith("/") or ".." in names or names[0] == ".git" or "\0" in path or "\n" in path:
        raise ValueError(f"{path[:100]!r} is not a path below the working directory")
    return path


def _without_zeros(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text for a command line or an environment has no zero bytes")
    return text


def _few(globs: tuple[str, ...]) -> tuple[str, ...]:
    chars = sum(map(len, globs))
    if chars > MAX_CHARS:
        raise ValueError(f"the globs have {chars} characters; at most {MAX_CHARS} are taken")
    stars = sum(glob.count("*") for glob in globs)
    if stars > MAX_STARS:
        raise ValueError(f"the globs have {stars} stars; at most {MAX_STARS} are taken")
    return globs


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=100_000), AfterValidator(_without_zeros)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_inside)]
Globs = Annotated[tuple[Path, ...], AfterValidator(_few)]
Tests = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1, max_length=10_000)], ...], Field(max_length=100_000)
]


class RepositoryReference(BaseModel):
    """One task. Paths are relative to `workdir`, except `workdir` itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    image: Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$")]
    """The image, by tag or digest. The server's Docker daemon has it, or pulls it if the operator allows it."""
    workdir: Annotated[str, StringConstraints(max_length=4096, pattern=r"^/[^\x00\n]+$")] = "/testbed"
    """The folder of the repository in the image. It is a checkout of git."""
    base_commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{7,64}$")] | None = None
    """The commit that the repository must be at, or be built upon. None: the one it is at."""
    setup: Annotated[tuple[Line, ...], Field(max_length=100)] = ()
    """Commands that run before the response is applied, such as one that builds the package."""
    test_command: Annotated[str, StringConstraints(min_length=1, max_length=2_000_000), AfterValidator(_without_zeros)]
    """The command that runs the tests, for `bash`, or for `sh` if the image has no bash."""
    test_patch: Text | None = None
    """A unified diff that adds the tests. It is applied after the response."""
    test_files: Annotated[Mapping[Path, Text], Field(max_length=1500)] = {}
    """Files of the tests with their text. They are written after the response is applied."""
    protected: Globs = ()
    """Globs of more files that no response may change, besides tests and the configuration of test runners."""
    editable: Globs = ()
    """Globs of files that a response may change although they look like tests or configuration."""
    fail_to_pass: Tests
    """The tests that the right change makes pass, by the names that the report gives them."""
    pass_to_pass: Tests = ()
    """The tests that pass before the change and must still pass after it."""
    log_format: Annotated[str, StringConstraints(max_length=100)] = "pytest"
    """How the results are read: `pytest`, `unittest`, `junit`, `tap`, `go`, `cargo`, `nextest`, `swebench` or `program`."""
    log_options: Annotated[Mapping[str, str], Field(max_length=100)] = {}
    """What the format needs: for `junit` the `path` of the XML, or a glob of several, for `swebench` the name of the `parser`,
    for `program` the text of a `program` in Python that reads the output, and its `form`: `script`, `function` or `class`. For `pytest`,
    `names` may say that names of tests end at the first space (`word`), or leave out the file (`r2e`)."""
    environment: Annotated[
        Mapping[Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], Line | Literal[""]],
        Field(max_length=1000),
    ] = {}
    """Variables of the environment, for `setup` and for the tests."""
    cpu_s: float = Field(default=1800.0, gt=0, le=86_400)
    """CPU seconds of the tests, of all processes together."""
    memory_mb: int = Field(default=4096, ge=16, le=1_048_576)
    """Megabytes of memory of the tests, of all processes together."""
    wall_s: float = Field(default=1800.0, gt=0, le=86_400)
    """Seconds after which the tests end, whatever they wait for."""
    disk_mb: int = Field(default=4096, ge=1, le=1_048_576)
    """What the tests may write, beside what the image has."""
    network: bool = False
    """Whether the tests need a network. They get one only if the operator allows it."""
    patch: Text | None = None
    """The right change as a unified diff. Audits use it, and files that it changes are not protected."""
    scoring: Literal["all", "fraction"] = "all"
    """all: 1 if every test of `fail_to_pass` and `pass_to_pass` passes, else 0. fraction: the share of `fail_to_pass`
    that passes, if every test of `pass_to_pass` passes, else 0."""

    @model_validator(mode="after")
    def _has_tests(self) -> Self:
        if not self.fail_to_pass and not self.pass_to_pass:
            raise ValueError("a task needs tests: name them in fail_to_pass or pass_to_pass")
        return self

    @model_validator(mode="after")
    def _has_small_tests(self) -> Self:
        chars = len(self.test_patch or "") + sum(map(len, self.test_files.values()))
        if chars > MAX_TEXT_CHARS:
            raise ValueError(f"test_patch and test_files have {chars} characters; at most {MAX_TEXT_CHARS} are taken")
        return self


def _task(value: Any) -> Any:
    """The object of JSON text, and the task of a row; anything else as it is."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError("the reference must be an object, or JSON text of one") from error
    return rows.from_row(value) if isinstance(value, Mapping) and rows.is_row(value) else value


class RepositoryParams(Params):
    """The task, and where its change is looked for."""

    reference: Annotated[RepositoryReference, BeforeValidator(_task)]
    """The task, as an object or as JSON text of one: the fields of a repository task, or a row of SWE-bench, SWE-bench-Live,
    SWE-bench Pro, Multi-SWE-bench, SWE-rebench, SWE-smith, SWE-Gym, R2E-Gym or NeMo-Gym as it is published."""
    think: Think = "auto"
    """Which text is searched for the change. auto: the text after the last closing think tag; required: the tag must be
    there; none: all text."""
    unguarded: Literal["allow", "refuse"] = "allow"
    """What becomes of a task with tests that cannot be turned around, so that nothing shows whether a change made them pass by
    force. allow: it is judged, and `detail.unguarded` counts them. refuse: it is `invalid`."""
    inspects_tests: Literal["allow", "refuse"] = "allow"
    """What becomes of a change that makes code look at its tests: at their files, or at who has called it. Such code can tell the
    twin run apart. allow: `detail.inspects_tests` names it. refuse: it earns 0 (`inspects_tests`). The same code does not count
    if it looks without the change, too."""
