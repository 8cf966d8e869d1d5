"""Reads a row of a data set as it is published into the fields of a repository task.

SWE-bench      image, eval_script, log_parser                     since release 5 of the package swebench
SWE-rebench    install_config, docker_image or image_name
SWE-bench-Live test_cmds, rebuild_cmds, print_cmds, log_parser, docker_image
SWE-bench Pro  selected_test_files_to_run, dockerhub_tag, and `run_script` and `parser` from its repository
Multi-SWE-bench org, repo, number, fix_patch, and a `log_parser`
SWE-smith      image_name, and a `patch` that breaks the repository: its reverse is the right change
SWE-Gym        eleven repositories, tests of pytest
R2E-Gym        docker_image, expected_output_json
NeMo-Gym       a row of one of these as `instance_dict`, alone or in the metadata of the request
"""

import ast
import json
import posixpath
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sandbox.containers.base import MADE
from verifiers.repository.diffs import Broken, reverse, sections
from verifiers.repository.reports.outputs import plain

SWE_GYM: Final = frozenset(
    (
        "bokeh/bokeh",
        "conan-io/conan",
        "dask/dask",
        "facebookresearch/hydra",
        "getmoto/moto",
        "iterative/dvc",
        "modin-project/modin",
        "pandas-dev/pandas",
        "project-monai/monai",
        "pydantic/pydantic",
        "python/mypy",
    )
)
"""The repositories of SWE-Gym, in lower case. Its rows name no image."""
_CONDA: Final = "source /opt/miniconda3/bin/activate testbed"
"""Images of SWE-bench and of its kin have the packages of a repository in this environment."""
_R2E_SETUP: Final = "if [ -d /r2e_tests ]; then rm -rf r2e_tests && cp -a /r2e_tests r2e_tests; fi"
_PYTEST_PARSERS: Final = ("parse_log_pytest", "parse_log_pytest_options", "parse_log_pytest_v2")

Row = Mapping[str, Any]


def is_row(fields: Row) -> bool:
    """Whether an object is a row of a data set, and not a repository task."""
    return "test_command" not in fields and bool(
        fields.keys() & {"instance_id", "instance_dict", "responses_create_params", "expected_output_json", "fix_patch"}
    )


def from_row(row: Row) -> dict[str, Any]:
    """The fields of a repository task.

    Raises:
        ValueError: the row lacks a field, or has another form than these.
    """
    instance = _instance(row)
    if instance is not None:
        return from_row(instance)
    if "expected_output_json" in row:
        return _r2e_gym(row)
    if "eval_script" in row:
        return _swe_bench(row)
    if row.get("install_config"):
        return _swe_rebench(row)
    if "selected_test_files_to_run" in row:
        return _swe_bench_pro(row)
    if "fix_patch" in row:
        return _multi_swe_bench(row)
    if "test_cmds" in row:
        return _swe_bench_live(row)
    if "image_name" in row:
        return _swe_smith(row)
    if _text(row, "repo").lower() in SWE_GYM:
        return _swe_gym(row)
    raise ValueError(
        "the row has neither `eval_script`, `install_config`, `test_cmds`, `image_name` nor `expected_output_json`: take SWE-bench as "
        "release 5 of the package swebench publishes it, whose rows say how their tests are run"
    )


def _instance(row: Row) -> Row | None:
    """The row that a row of NeMo-Gym holds."""
    request = row.get("responses_create_params")
    objects = (row, row.get("metadata"), row.get("verifier_metadata"), request and request.get("metadata"))
    for holder in objects:
        if isinstance(holder, Mapping) and holder.get("instance_dict"):
            return _object(holder, "instance_dict")
    return None


def _swe_bench(row: Row) -> dict[str, Any]:
    """The evaluation script adds the tests itself, so there is no test patch; the files of it are protected."""
    script = _text(row, "eval_script")
    lines = [line for line in script.split("\n") if not line.startswith("#!")]
    return {
        **_common(row),
        "image": _text(row, "image"),
        "test_command": "\n".join(["set -uxo pipefail", *lines]),
        "protected": _files_of(_text(row, "test_patch")),
        "log_format": "swebench",
        "log_options": {"parser": _text(row, "log_parser")},
        "test_patch": None,
    }


def _swe_rebench(row: Row) -> dict[str, Any]:
    config = _object(row, "install_config")
    parser = str(config.get("log_parser") or "parse_log_pytest")
    files = [path for path in _files_of(_text(row, "test_patch")) if posixpath.splitext(path)[1] not in _NO_TESTS]
    commands = _commands(config, "test_cmd")
    by_plugin = parser in _PYTEST_PARSERS and any("pytest" in command for command in commands)
    return {
        **_common(row),
        "image": _text(row, "docker_image" if row.get("docker_image") else "image_name"),
        "test_command": "\n".join([_CONDA, *(f"{command} {shlex.join(files)}" for command in commands)]),
        "log_format": "pytest" if by_plugin else "swebench",
        "log_options": {"names": "word"} if by_plugin else {"parser": parser},
    }


def _swe_bench_live(row: Row) -> dict[str, Any]:
    """Tests of pytest are read by our plugin. Rows of other languages have a program that reads what `print_cmds` print."""
    commands = _commands(row, "test_cmds")
    parser = str(row.get("log_parser") or row.get("parser") or "pytest")
    by_plugin = parser.strip().lower() == "pytest"
    if by_plugin and not any("pytest" in command for command in commands):
        raise ValueError("the row's `test_cmds` do not run pytest, and it has no `log_parser` that reads their output")
    name = _text(row, "instance_id").lower().replace("__", "_1776_")
    rebuild = _commands(row, "rebuild_cmds") if row.get("rebuild_cmds") else []
    printing = _commands(row, "print_cmds") if row.get("print_cmds") and not by_plugin else []
    tests = "\n".join([*rebuild, *commands])
    return {
        **_common(row),
        "image": row.get("docker_image") or f"starryzhang/sweb.eval.x86_64.{name}",
        "test_command": "\n".join(["{", tests, "} >/dev/null 2>&1", *printing]) if printing else tests,
        "log_format": "pytest" if by_plugin else "program",
        "log_options": {"names": "word"} if by_plugin else {"program": parser, "form": "function"},
    }


def _swe_bench_pro(row: Row) -> dict[str, Any]:
    """The rows as published do not say how their tests are run. The repository of the data set does, in two files for each."""
    missing = [field for field in ("run_script", "parser") if not row.get(field)]
    if missing:
        raise ValueError(
            f"the row has no `{missing[0]}`: SWE-bench Pro keeps it in its repository, in run_scripts/INSTANCE; "
            "add the texts of run_script.sh and parser.py to the row as `run_script` and `parser`"
        )
    files = _strings(row, "selected_test_files_to_run")
    setup = str(row.get("before_repo_set_cmd") or "").strip().rpartition("\n")[2]
    run = f"bash -c {shlex.quote(_text(row, 'run_script'))} run_script.sh {shlex.quote(','.join(files))}"
    errors = f"{MADE}/stderr"
    return {
        "base_commit": row.get("base_commit") or None,
        "patch": row.get("patch") or None,
        "image": f"jefzda/sweap-images:{_text(row, 'dockerhub_tag')}",
        "workdir": "/app",
        "test_command": "\n".join([setup, f"{run} 2>{errors}", f"printf '\\0'; cat {errors}"]),
        # the last line before the tests takes their files from the commit of the solution
        "protected": [*_files_of(str(row.get("test_patch") or "")), *_files_named(files, "/app")],
        "fail_to_pass": _strings(row, "fail_to_pass", "FAIL_TO_PASS"),
        "pass_to_pass": _strings(row, "pass_to_pass", "PASS_TO_PASS"),
        "log_format": "program",
        "log_options": {"program": _text(row, "parser"), "form": "script"},
    }


def _files_named(names: Sequence[str], workdir: str) -> list[str]:
    """The files below the working directory that names of tests or of files begin with, each once."""
    paths = (name.partition("::")[0].removeprefix(f"{workdir}/") for name in names)
    return list(dict.fromkeys(path for path in paths if "/" in path))


def _multi_swe_bench(row: Row) -> dict[str, Any]:
    """The package of the data set reads the output, by a method for each repository, which the rows do not have."""
    if not row.get("log_parser"):
        raise ValueError(
            "the row has no `log_parser`: Multi-SWE-bench keeps the method `parse_log` of a repository in its package; "
            "add the text of the repository's module, such as multi_swe_bench/harness/repos/javascript/axios/axios.py"
        )
    base, parser = _object(row, "base"), _text(row, "log_parser")
    groups = ("f2p_tests", "s2p_tests", "n2p_tests")
    return {
        "image": f"mswebench/{_text(row, 'org')}_m_{_text(row, 'repo')}".lower() + f":pr-{row.get('number')}",
        "workdir": f"/home/{_text(row, 'repo')}",
        "base_commit": base.get("sha") or None,
        "test_command": "bash /home/run.sh",
        "test_patch": row.get("test_patch") or None,
        "fail_to_pass": [name for group in groups for name in _object(row, group)],
        "pass_to_pass": list(_object(row, "p2p_tests")),
        "patch": row.get("fix_patch") or None,
        "log_format": "program",
        "log_options": {"program": parser, "form": "class" if "def parse_log(" in parser else "function"},
    }


def _swe_smith(row: Row) -> dict[str, Any]:
    """The image has the sound repository. The row's `patch` breaks it, which is committed as the base."""
    bug = _text(row, "patch")
    common = _common(row)
    tests = [*common["fail_to_pass"], *common["pass_to_pass"]]
    return {
        **common,
        "image": _text(row, "image_name"),
        "setup": (
            f"printf %s {shlex.quote(bug)} | git apply --whitespace=nowarn - && git add --all",
            "git -c user.name=task -c user.email=task@localhost commit --quiet --no-verify --message=task",
        ),
        "test_command": _pytest_of(tests),
        "log_options": {"names": "word"},
        "patch": _reverse(bug),
        "test_patch": None,
        "base_commit": None,
    }


def _swe_gym(row: Row) -> dict[str, Any]:
    common = _common(row)
    name = _text(row, "instance_id").lower().replace("__", "_s_")
    return {
        **common,
        "image": f"xingyaoww/sweb.eval.x86_64.{name}:latest",
        "test_command": _pytest_of([*common["fail_to_pass"], *common["pass_to_pass"]]),
        "log_options": {"names": "word"},
    }


def _r2e_gym(row: Row) -> dict[str, Any]:
    """All tests that pass with the right change must pass. Names are `Class.test`, or `test` alone. They may have the colours of
    the output in which they stood.
    """
    expected = _object(row, "expected_output_json")
    names = (plain(name).partition(" - ")[0] for name, state in expected.items() if state == "PASSED")
    passing = list(dict.fromkeys(filter(None, names)))
    if not passing:
        raise ValueError("the row's `expected_output_json` has no test with PASSED")
    return {
        "image": _text(row, "docker_image"),
        "setup": (_R2E_SETUP,),
        "test_command": "bash run_tests.sh",
        "protected": ("run_tests.sh", "r2e_tests/**"),
        "fail_to_pass": passing,
        "log_format": "unittest" if _has_runner_of_unittest(row) else "pytest",
        "log_options": {"names": "r2e"},
    }


def _has_runner_of_unittest(row: Row) -> bool:
    """Whether the tests of R2E-Gym run by a program beside them. It stands among their files."""
    made = _object(row, "execution_result_content") if row.get("execution_result_content") else {}
    files = made.get("test_file_names")
    return row.get("repo_name") == "tornado" or (isinstance(files, list) and "unittest_custom_runner.py" in files)


def _common(row: Row) -> dict[str, Any]:
    base = row.get("base_commit")
    return {
        "base_commit": base or None,
        "test_patch": row.get("test_patch") or None,
        "fail_to_pass": _names(row, "FAIL_TO_PASS"),
        "pass_to_pass": _names(row, "PASS_TO_PASS"),
        "patch": row.get("patch") or None,
    }


_NO_TESTS: Final = frozenset(
    (".json", ".png", ".csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
)
"""Endings of files of a test patch that hold no tests."""


def _pytest_of(tests: Sequence[str]) -> str:
    files = dict.fromkeys(name.partition("::")[0] for name in tests)
    broken = [name for name in files if not name.endswith(".py")]
    if broken:
        raise ValueError(f"{broken[0][:100]!r} is not a name of a test of pytest; only such rows are read")
    return f"{_CONDA}\npython -m pytest -p no:cacheprovider {shlex.join(files)}"


def _files_of(patch: str) -> list[str]:
    try:
        return list(dict.fromkeys(path for section in sections(patch) for path in section.paths))
    except Broken as error:
        raise ValueError(f"the row's test_patch cannot be read: {error}") from error


def _reverse(patch: str) -> str:
    try:
        reversed_ = "".join(reverse(section).text() for section in sections(patch))
    except Broken as error:
        raise ValueError(f"the row's patch cannot be read: {error}") from error
    if not reversed_:
        raise ValueError("the row's patch has no unified diff")
    return reversed_


def _strings(row: Row, *fields: str) -> list[str]:
    """A list of texts in one of these fields: a list, its JSON text, or its text in Python."""
    value = next((row[field] for field in fields if row.get(field) is not None), None)
    if isinstance(value, str):
        value = _literal(value, fields[0])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"the row's `{fields[0]}` must be a list of texts")
    return value


def _literal(text: str, field: str) -> Any:
    """What JSON means, or else what Python's own literals do: some lists are published in the one, some in the other."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"the row's `{field}` is neither JSON nor a list of Python") from error


def _names(row: Row, field: str) -> list[str]:
    """A list of names, or its JSON text."""
    value = row.get(field)
    if isinstance(value, str):
        value = _json(value, field)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"the row's `{field}` must be a list of names, or its JSON text")
    return value


def _commands(row: Row, field: str) -> list[str]:
    """A command, or a list of them."""
    value = row.get(field)
    commands = [value] if isinstance(value, str) else value
    if not isinstance(commands, list) or not all(isinstance(line, str) and line for line in commands) or not commands:
        raise ValueError(f"the row has no `{field}`, which is a command or a list of them")
    return commands


def _object(row: Row, field: str) -> dict[str, Any]:
    value = row[field]
    if isinstance(value, str):
        value = _json(value, field)
    if not isinstance(value, dict):
        raise ValueError(f"the row's `{field}` must be an object, or its JSON text")
    return value


def _json(text: str, field: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the row's `{field}` is not JSON") from error


def _text(row: Row, field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value:
        raise ValueError(f"the row has no `{field}`")
    return value
