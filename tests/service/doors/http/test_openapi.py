"""The OpenAPI document against the running server: what it promises is what is answered."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from service.wire import Result, ScoreItem, ScoreRequest, Summary
from tests.waiting import PATIENCE_S
from verifiers.commitment.stance import Stance

KEY = "0123456789abcdef-a-key"
MAX_EXAMPLES = 50
# What turns are to be judged by is looked at when an interaction is opened, so that a verifier nobody has is a refusal
# (422) there, as no schema can say. So it is where other systems' clients, who know no verdict but a number, ask for one,
# and where an audit names a verifier or a file.
# Times and conditions in SQL of the log are more than a schema says, too, as is which options of groups go together; and a
# schema calls 1.0 an integer.
# Boxes here have no Lean, so what runs texts of it is unavailable (503); so is what compares responses, without a judge.
# What breaks a schema by its length may be refused for that (431) before anybody looks at the schema.
CHECKS = """
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "431", "5xx"]

[[operations]]
include-name = "POST /v1/interactions"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]

[[operations]]
include-name = "POST /v1/audits"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]

[[operations]]
include-path-regex = "^/v1/log|^/v1/groups?/"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]

[[operations]]
include-path-regex = "^/api/check|/kimina/|/nemo_gym/compare"
[operations.checks.not_a_server_error]
expected-statuses = ["2xx", "4xx", "503"]
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "4xx", "503"]

[[operations]]
include-tag = "doors"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "422", "429", "5xx"]
"""


@pytest.mark.contract
def test_every_operation_does_what_the_document_says(serve: Any, tmp_path: Path) -> None:
    """All of schemathesis' checks: no 5xx, documented statuses, types and shapes, valid data taken, invalid refused,
    keys demanded where the document demands them.
    """
    served = serve(sandbox="auto", api_keys=f"tester={KEY}")
    (tmp_path / "schemathesis.toml").write_text(CHECKS)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{served.url}/openapi.json", "--checks", "all"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(MAX_EXAMPLES), "--generation-deterministic"),
        *("--header", f"Authorization: Bearer {KEY}", "--request-timeout", "30"),
        *("--continue-on-failure", "--no-color"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=400)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    metrics = httpx.get(f"{served.url}/metrics", headers={"Authorization": f"Bearer {KEY}"}).text
    answered = {
        (found["method"], found["code"]): float(found["count"])
        for found in re.finditer(
            r'requests_total{code="(?P<code>\d+)",door="http",key="\w+",method="(?P<method>[^"]+)"} (?P<count>\S+)',
            metrics,
        )
    }
    assert answered["/v1/score", "200"] > MAX_EXAMPLES / 4, answered
    assert {method for method, code in answered if code == "200"} >= {
        "/v1/score", "/v1/verifiers", "/v1/verifiers/{name}", "/healthz", "/readyz", "/metrics",
        "/run_code", "/v1/sandbox", "/v1/ping",
        "/v1/interactions", "/v1/interactions/{id}", "/v1/interactions/{id}/turns",
        "/compat/openrlhf/get_reward", "/compat/slime/rm", "/compat/roll/submit_task", "/compat/roll/task_result",
        "/compat/nemo_gym/verify", "/compat/nemo_gym/seed_session", "/compat/nemo_gym/aggregate_metrics",
        "/compat/open_instruct/test_program", "/compat/open_instruct/test_program_stdio", "/compat/open_r1/execute_batch",
        "/run_jupyter", "/submit",
    }, answered  # fmt: skip
    assert answered["/v1/jobs", "202"] > 0, answered
    # Before it was called it was asked whether its boxes have started. They have no Lean.
    refused = {method for method, code in answered if code.startswith("5")}
    assert refused <= {"/readyz", "/compat/kimina/verify", "/api/check", "/compat/nemo_gym/compare"}, answered


def test_the_document_has_every_field_of_the_contract(served: Any) -> None:
    schemas = httpx.get(f"{served.url}/openapi.json", timeout=PATIENCE_S).json()["components"]["schemas"]
    for shape in (ScoreItem, ScoreRequest, Result, Summary):
        assert set(schemas[shape.__name__]["properties"]) == set(shape.__struct_fields__)
    for shape in (ScoreItem, ScoreRequest):
        assert schemas[shape.__name__]["additionalProperties"] is False
    assert schemas["ScoreItem"]["required"] == ["response"]
    assert schemas["ScoreRequest"]["required"] == ["items"]


def test_the_documents_example_is_judged(served: Any) -> None:
    operation = httpx.get(f"{served.url}/openapi.json", timeout=PATIENCE_S).json()["paths"]["/v1/score"]["post"]
    example = operation["requestBody"]["content"]["application/json"]["example"]
    results = httpx.post(f"{served.url}/v1/score", json=example, timeout=PATIENCE_S).json()["results"]
    assert [result["score"] for result in results] == [1.0]


def test_the_document_describes_the_mentions_of_an_explained_verdict(served: Any) -> None:
    schemas = httpx.get(f"{served.url}/openapi.json", timeout=PATIENCE_S).json()["components"]["schemas"]
    item = {"verifier": "math", "response": "The answer is not 5. \\boxed{6}", "reference": "6"}
    body = {"items": [item], "explain": True}
    (result,) = httpx.post(f"{served.url}/v1/score", json=body, timeout=PATIENCE_S).json()["results"]
    listed = schemas["Result"]["properties"]["detail"]["properties"]["mentions"]
    schema = {**listed, "components": {"schemas": schemas}}
    jsonschema_rs.validate(schema, result["detail"]["mentions"])
    stances = [mention["stance"] for mention in result["detail"]["mentions"]]
    assert stances == ["denied", "marked"]
    assert set(schemas["Stance"]["enum"]) == set(Stance)
