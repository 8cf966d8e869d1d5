"""The routes of the log, of a service that writes one."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from tests.conftest import Serve, Served
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
ITEMS: list[JSON] = [
    {"id": "right", "verifier": "numeric", "response": "It is 12.", "reference": 12, "data_source": "own"},
    {"id": "wrong", "verifier": "numeric", "response": "It is 13.", "reference": "12", "params": {"abs_tol": 0.5}},
    {"id": "lost", "verifier": "nosuch", "response": "12", "reference": "12"},
]


def score(served: Served, items: list[JSON], key: str = "") -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, headers=headers, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text


def get(served: Served, path: str, **query: Any) -> JSON:
    reply = httpx.get(f"{served.url}/v1/log{path}", params=query, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text
    found: JSON = reply.json()
    return found


def names(served: Served, **query: Any) -> set[str]:
    return {row["id"] for row in get(served, "", **query)["rows"]}


@pytest.fixture
def logged(serve: Serve, tmp_path: Path) -> Served:
    """A service that has logged the items, and goes on."""
    served = serve(audit_dir=str(tmp_path / "audit"))
    score(served, ITEMS)
    eventually(lambda: len(names(served)) == len(ITEMS))
    return served


@pytest.mark.contract
def test_a_log_is_searched_while_it_is_written(logged: Served) -> None:
    assert names(logged, status="ok") == {"right", "wrong"}
    assert names(logged, verifier="numeric", max_reward=0, since="1h") == {"wrong"}
    assert names(logged, data_source="") == {"wrong", "lost"}
    assert names(logged, text="IT IS 1", until="1h") == set()
    score(logged, [{**ITEMS[0], "id": f"later{number}"} for number in range(300)])
    eventually(lambda: get(logged, "/summary", text="later")["records"] == 300)
    found = get(logged, "/summary")
    assert {each["name"]: each["count"] for each in found["by_reason"]} == {
        "correct": 301, "wrong_answer": 1, "unknown_verifier": 1,
    }  # fmt: skip
    assert found["rewards"]["counts"] == [1, *[0] * 18, 301]
    (failure,) = found["failures"]
    assert get(logged, "/record", row=failure["example"])["id"] == "lost"
    first = get(logged, "", limit=200)
    second = get(logged, "", limit=200, cursor=first["next"])
    assert len({row["id"] for row in first["rows"] + second["rows"]}) == 303
    assert second["next"] is None
    for query in ("cursor=x", "since=yesterday", "until=0001-01-01T00:00%2B23:00"):
        reply = httpx.get(f"{logged.url}/v1/log?{query}", timeout=PATIENCE_S)
        assert [each["loc"] for each in reply.json()["errors"]] == [["query", query.partition("=")[0]]]


@pytest.mark.contract
def test_a_record_holds_what_judges_it_again(logged: Served) -> None:
    (row,) = get(logged, "", id="wrong")["rows"]
    found = get(logged, "/record", row=row["row"])
    again = {name: found[name] for name in ("verifier", "response", "reference", "params")}
    assert again == {name: ITEMS[1][name] for name in again}


def test_an_export_is_a_file(logged: Served, tmp_path: Path) -> None:
    reply = httpx.get(f"{logged.url}/v1/log/export", params={"verifier": "numeric"}, timeout=PATIENCE_S)
    assert reply.headers["content-type"] == "application/x-ndjson"
    assert reply.headers["content-disposition"] == "attachment; filename=log.jsonl"
    assert [json.loads(line)["id"] for line in reply.text.splitlines()] == ["right", "wrong"]
    reply = httpx.get(f"{logged.url}/v1/log/export", params={"format": "parquet"}, timeout=PATIENCE_S)
    (tmp_path / "log.parquet").write_bytes(reply.content)
    assert pq.read_table(tmp_path / "log.parquet")["id"].to_pylist() == ["right", "wrong", "lost"]
    empty = httpx.get(f"{logged.url}/v1/log/export", params={"reason": "none"}, timeout=PATIENCE_S)
    assert (empty.status_code, empty.content) == (200, b"")


@table(
    "query, place",
    [
        ("limit=501", ["query", "limit"]),
        ("limit=0", ["query", "limit"]),
        ("order=best", ["query", "order"]),
        ("status=wrong", ["query", "status", 0]),
        ("min_reward=nan", ["query", "min_reward"]),
        ("max_score=1e999", ["query", "max_score"]),
        ("verifer=math", ["query", "verifer"]),
        (f"text={'x' * 1001}", ["query", "text"]),
        (f"reason={'x' * 257}", ["query", "reason", 0]),
        ("&".join(["id=x"] * 51), ["query", "id"]),
    ],
)
def test_a_parameter_that_is_none_is_refused_by_name(served: Served, query: str, place: list[Any]) -> None:
    reply = httpx.get(f"{served.url}/v1/log?{query}", timeout=PATIENCE_S)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")
    assert [each["loc"] for each in reply.json()["errors"]] == [place]


@table("path", ["", "/summary", "/export", "/record?row=x"])
def test_without_a_log_the_setting_is_named(served: Served, path: str) -> None:
    reply = httpx.get(f"{served.url}/v1/log{path}", timeout=PATIENCE_S)
    assert (reply.status_code, reply.headers["content-type"]) == (404, "application/problem+json")
    assert "audit_dir" in reply.json()["detail"]


def test_a_folder_that_is_gone_is_said_to_be_gone(serve: Serve, tmp_path: Path) -> None:
    served = serve(audit_dir=str(tmp_path / "audit"))
    (tmp_path / "audit").rmdir()
    for path in ("", "/summary", "/export"):
        reply = httpx.get(f"{served.url}/v1/log{path}", timeout=PATIENCE_S)
        assert (reply.status_code, "no folder or file" in reply.text) == (404, True)


@pytest.mark.contract
def test_what_others_sent_is_for_the_scope_admin(serve: Serve, tmp_path: Path) -> None:
    secrets = {scope: f"{scope}-secret-0123456789" for scope in ("score", "sandbox", "admin")}
    lines = [
        f"  {scope}: {{sha256: '{hashlib.sha256(secret.encode()).hexdigest()}', scopes: [{scope}]}}"
        for scope, secret in secrets.items()
    ]
    (tmp_path / "keys.yaml").write_text("keys:\n" + "\n".join(lines))
    served = serve(keys_file=str(tmp_path / "keys.yaml"), audit_dir=str(tmp_path / "audit"))
    for path in ("", "/summary", "/export", "/record?row=x"):
        url = f"{served.url}/v1/log{path}"
        assert httpx.get(url, timeout=PATIENCE_S).status_code == 401
        for scope, secret in secrets.items():
            reply = httpx.get(url, headers={"Authorization": f"Bearer {secret}"}, timeout=PATIENCE_S)
            assert (reply.status_code == 403) is (scope != "admin"), (path, scope, reply.text)


def test_the_document_describes_the_routes(served: Served) -> None:
    document = httpx.get(f"{served.url}/openapi.json").json()
    for path in ("/v1/log", "/v1/log/summary", "/v1/log/record", "/v1/log/export"):
        operation = document["paths"][path]["get"]
        assert {"200", "401", "403", "404", "413", "422", "429", "504"} <= set(operation["responses"])
        schemas = json.dumps(operation)
        for name in ("LogPage", "LogSummary", "Problem"):
            if f"schemas/{name}" in schemas:
                assert name in document["components"]["schemas"]


@pytest.mark.parametrize("body", [b"\xff{", b'{"row": "a"}', b'{"row": "a", "score": 1, "status": "invalid"}'])
def test_a_correction_that_is_none_is_refused(served: Served, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    assert httpx.post(f"{served.url}/v1/log/corrections", content=body, headers=headers).status_code == 422


def test_a_wrong_method_is_told_all_right_ones(served: Served) -> None:
    reply = httpx.options(f"{served.url}/v1/log/corrections")
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET, POST")
