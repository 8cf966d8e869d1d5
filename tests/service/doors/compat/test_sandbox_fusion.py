"""What SandboxFusion's own tests ask of it, asked of our doors, in boxes with every language; and the page about it."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
import pytest

from sandbox import languages
from service.doors.compat import run_code, run_jupyter, submit
from service.doors.compat.notebook import CellError
from tests.conftest import ROOT, Served, serving
from tests.dockerd import POLYGLOT_IMAGE, ensure_polyglot_image
from tests.sandbox.samples import samples
from tests.service.doors.compat.recorded import FOLDER, JSON, answer
from verifiers.code_blocks import language_of

DATA = tomllib.loads((FOLDER / "sandbox_fusion.toml").read_text(encoding="utf-8"))
CASES: list[JSON] = DATA["case"]
ROWS: JSON = DATA["multipl_e"]
PAGE = (ROOT / "docs" / "sandbox-fusion.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def polyglot(tmp_path_factory: pytest.TempPathFactory, docker_address: str) -> Iterator[Served]:
    """A server whose boxes have every language of Debian."""
    ensure_polyglot_image(docker_address)
    log = tmp_path_factory.mktemp("polyglot") / "log.jsonl"
    with serving(log, sandbox="docker", docker_host=docker_address, docker_image=POLYGLOT_IMAGE) as server:
        yield server


@contextmanager
def lacking() -> Iterator[None]:
    """Skip a test whose rows need a library that this machine lacks. The images of boxes have them all."""
    try:
        yield
    except AssertionError as error:
        if "language_unavailable" in str(error):
            pytest.skip(str(error))
        raise


def demand(served: Served, *needed: str) -> None:
    """Skip the test if the boxes lack a language."""
    there = httpx.get(f"{served.url}/v1/sandbox", timeout=120).json()["languages"]
    if missing := set(needed) - set(there):
        pytest.skip(f"the boxes have no {', '.join(sorted(missing))}")


def holds(found: Any, wanted: Any) -> bool:
    """Whether an answer has all that is wanted of it."""
    if isinstance(wanted, dict) and wanted:
        return isinstance(found, dict) and all(key in found and holds(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(holds, found, wanted))
    return bool(found == (None if wanted == "none" else wanted))


def asked(served: Served, case: JSON) -> None:
    demand(served, *case.get("needs", ()))
    found = answer(served, case["path"], case["body"])
    assert holds(found, case["answer"]), found
    for stream, size in case.get("sizes", {}).items():
        assert len(found["run_result"][stream]) == size


each_case = pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])


@pytest.mark.boxes(beyond=2)
@each_case
def test_the_doors_answer_as_the_original(served: Served, case: JSON) -> None:
    asked(served, case)


@pytest.mark.boxes
@each_case
def test_the_doors_answer_as_the_original_with_docker_boxes(polyglot: Served, case: JSON) -> None:
    asked(polyglot, case)


def accepted(served: Served, row: JSON, completion: str, **extra: bool) -> bool:
    config = {"dataset_type": "HumanEvalDataset", "provided_data": row, "run_timeout": 20, "extra": extra}
    body = {"dataset": f"humaneval_{row.get('language')}", "id": 0, "completion": completion, "config": config}
    return bool(answer(served, submit.PATHS[0], body)["accepted"])


def translated(served: Served, name: str) -> None:
    """The solutions of a row of MultiPL-E: whole ones, and one that goes on where the prompt ends."""
    row = {"name": "HumanEval_0_digit_sum", "language": name, "doctests": "transform", **ROWS[name]}
    whole, rest, wrong = (row.pop(key) for key in ("whole", "rest", "wrong"))
    assert accepted(served, row, f"So:\n```\n{whole}```", is_freeform=True)
    assert accepted(served, row, rest)
    assert not accepted(served, row, f"```\n{wrong}```", is_freeform=True)
    assert not accepted(served, row, "")


each_row = pytest.mark.parametrize("name", ROWS)


def run_as(name: str) -> str:
    """The language whose boxes a row needs."""
    language = languages.find(name.partition(".")[0])
    assert language is not None
    return {"d": "d_ut", "go": "go_test"}.get(language.name, language.name)


@pytest.mark.boxes
@each_row
def test_rows_of_multipl_e(served: Served, name: str) -> None:
    demand(served, run_as(name))
    with lacking():
        translated(served, name)


@pytest.mark.boxes
@each_row
def test_rows_of_multipl_e_with_docker_boxes(polyglot: Served, name: str) -> None:
    demand(polyglot, run_as(name))
    translated(polyglot, name)


def appended(served: Served, name: str) -> None:
    """The tasks of a language as rows of AutoEval."""
    language = languages.all_languages()[name]
    labels = {"programming_language": language.tests or name, "execution_language": name}
    for task in samples()[name].tasks:
        row = {"id": 1, "labels": labels, "test": {"code": task["tests"].replace("@SOLUTION@", "#<INSERT>")}}
        assert accepted(served, row, f"```\n{task['right']}\n```"), task
        assert not accepted(served, row, f"```\n{task['wrong']}\n```"), task


each_language = pytest.mark.parametrize("name", sorted(samples().keys() - {"cuda", "python"}))


@pytest.mark.boxes
@each_language
def test_rows_of_autoeval(served: Served, name: str) -> None:
    demand(served, name)
    with lacking():
        appended(served, name)


@pytest.mark.boxes
@each_language
def test_rows_of_autoeval_with_docker_boxes(polyglot: Served, name: str) -> None:
    demand(polyglot, name)
    appended(polyglot, name)


# --- the page

ORIGINAL = {
    "Request of `/run_code`": "compile_timeout run_timeout memory_limit_MB code stdin language files fetch_files args",
    "Answer of `/run_code`": "status message compile_result run_result executor_pod_name files",
    "A result": "status execution_time return_code stdout stderr",
    "Request of `/run_jupyter`": "cells cell_timeout total_timeout memory_limit_MB kernel files fetch_files",
    "Answer of `/run_jupyter`": "status message driver cells executor_pod_name files",
    "A cell": "stdout stderr display error",
    "An error": "ename evalue traceback",
    "Request of `/submit`": "dataset id completion config",
    "`config`": "dataset_type language locale is_fewshot compile_timeout run_timeout custom_extract_logic "
    "provided_data extra",
    "Answer of `/submit`": "id accepted extracted_code full_code test_code tests extracted_type extra",
    "A test": "passed exec_info test_info",
}
"""The fields of the original's models, in its own order."""
OURS: dict[str, type[msgspec.Struct]] = dict(
    zip(
        ORIGINAL,
        (
            *(run_code.RunCodeRequest, run_code.RunCodeResponse, run_code.CommandResult),
            *(run_jupyter.RunJupyterRequest, run_jupyter.RunJupyterResponse, run_jupyter.CellResult, CellError),
            *(submit.SubmitRequest, submit.SubmitConfig, submit.EvalResult, submit.Case),
        ),
        strict=True,
    )
)
DATASET_TYPES = [
    *("AiderBenchmarkDataset", "AutoEvalDataset", "CommonOJDataset", "CruxEvalDataset", "EvoEvalDataset"),
    *("HumanEvalDataset", "LiveCodeBenchDataset", "MBPPDataset", "MBXPDataset", "MHPPDataset", "MiniF2FLean4Dataset"),
    *("NaturalCodeBenchDataset", "PalMathDataset", "RepobenchCDataset", "RepobenchPDataset", "VerilogDataset"),
]
ENDPOINTS = [
    *("GET /", "GET /v1/ping", "POST /run_code", "POST /run_jupyter", "POST /submit", "GET /list_datasets"),
    *("POST /list_ids", "POST /get_prompts", "POST /get_prompt_by_id", "POST /get_metrics"),
    "POST /get_metrics_function",
]


def rows_below(heading: str) -> dict[str, str]:
    """The first column of the table below a heading, with what the second says."""
    section = PAGE.partition(f" {heading}\n")[2]
    table = section.lstrip("\n").partition("\n\n")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", table, re.MULTILINE))


@pytest.mark.parametrize("heading", ORIGINAL)
def test_the_page_says_of_each_field_what_the_schema_says(heading: str) -> None:
    ours = {field.encode_name for field in msgspec.structs.fields(OURS[heading])}
    said = rows_below(heading)
    assert list(said) == ORIGINAL[heading].split()
    assert {name for name, word in said.items() if word != "not here"} == ours
    assert set(said.values()) <= {"same", "differs", "not here"}


def test_the_page_says_of_each_endpoint_whether_it_is_here(served: Served) -> None:
    said = rows_below("Endpoints")
    assert list(said) == ENDPOINTS
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    for endpoint, word in said.items():
        method, path = endpoint.split()
        is_here = method.lower() in paths.get(path, {})
        assert (word != "not here") == is_here, endpoint


def test_the_page_has_every_type_of_data_set() -> None:
    assert list(rows_below("Data sets")) == DATASET_TYPES
    tried = {case["body"]["config"]["dataset_type"] for case in CASES if case["path"] == "/submit"}
    said = {name for name, word in rows_below("Data sets").items() if word != "not here"}
    assert tried <= said


def test_rows_of_multipl_e_have_languages_that_fences_name() -> None:
    assert {run_as(name) for name in ROWS} <= languages.all_languages().keys()
    assert all(language_of(name.partition("_")[0]) for name in ROWS)
