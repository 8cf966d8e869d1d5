"""The routes of audits of data sets, as a caller of a real server meets them."""

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pyarrow
import pytest
from pyarrow import parquet

from tests.conftest import ROOT, Serve, Served
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
NDJSON = "application/x-ndjson"
PARQUET = "application/vnd.apache.parquet"
KEY, READER = "an-admin-key-0123456", "a-score-key-01234567"
ROWS = [
    {"id": "a", "answer": "There are $\\boxed{4}$ such integers."},
    {"id": "b", "answer": "$x = $"},
    {"id": "c", "answer": "5"},
    "no JSON",
    {"id": "<script>alert(1)</script> \u202e evil", "answer": "$<b>$"},
]


def lines(rows: list[Any]) -> bytes:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


@pytest.fixture
def caller(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as client:
        yield client


def begun(caller: httpx.Client, body: bytes, media: str = NDJSON, **options: Any) -> str:
    def ask() -> httpx.Response:
        return caller.post("/v1/audits", params=options, content=body, headers={"Content-Type": media})

    reply = ask()
    while reply.status_code == 429:  # the audits of other tests
        eventually(lambda: all(each["state"] != "running" for each in caller.get("/v1/audits").json()["audits"]))
        reply = ask()
    assert reply.status_code == 202, reply.text[:500]
    audit_id: str = reply.json()["audit_id"]
    assert reply.headers["location"] == f"/v1/audits/{audit_id}"
    return audit_id


def ended(caller: httpx.Client, audit_id: str) -> JSON:
    view: JSON = {}

    def is_over() -> bool:
        view.update(caller.get(f"/v1/audits/{audit_id}").raise_for_status().json())
        return bool(view["state"] != "running")

    eventually(is_over)
    return view


def audited(caller: httpx.Client, body: bytes, media: str = NDJSON, **options: Any) -> JSON:
    return ended(caller, begun(caller, body, media, **options))


def reasons(view: JSON) -> dict[str, int]:
    return {kind["reason"]: kind["rows"] for kind in view["kinds"]}


def problem(reply: httpx.Response, status: int) -> str:
    assert reply.status_code == status, reply.text[:500]
    assert reply.headers["content-type"] == "application/problem+json"
    return str(reply.json()["detail"])


def test_an_audit_tells_kinds_counts_and_fixes(caller: httpx.Client) -> None:
    view = audited(caller, lines(ROWS), verifier="math", name="mine.jsonl")
    assert (view["state"], view["name"], view["rows"], view["fraction"]) == ("done", "mine.jsonl", 5, 1.0)
    assert (view["bad_rows"], view["checks"], view["unjudged"], view["fixes"]) == (3, 4, 0, 1)
    assert reasons(view) == {"unparseable_reference": 2, "bad_row": 1, "worked_solution": 1}
    assert [kind["severity"] for kind in view["kinds"]] == ["no_reward", "no_reward", "hint"]
    assert {each["up_to"]: each["responses"] for each in view["earned"] if each["responses"]} == {"1": 2}
    hint = view["kinds"][-1]["examples"][0]
    assert hint["fix"] == {"row": 1, "path": ["answer"], "value": "4"}
    (result,) = caller.post("/v1/score", json={"items": [hint["item"]]}).json()["results"]
    assert result["score"] == 1.0
    (bad,) = next(kind for kind in view["kinds"] if kind["reason"] == "bad_row")["examples"]
    assert bad["row"] == 4
    assert "not JSON" in bad["message"]
    page = caller.get(f"/v1/audits/{view['audit_id']}/report")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "mine.jsonl" in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert "<script" not in page.text
    assert "<b>" not in page.text
    fixes = caller.get(f"/v1/audits/{view['audit_id']}/fixes").text.splitlines()
    assert [json.loads(line) for line in fixes] == [hint["fix"]]
    heads = {each["audit_id"]: each for each in caller.get("/v1/audits").json()["audits"]}
    assert heads[view["audit_id"]]["bad_rows"] == 3


def test_nothing_is_sent_while_nothing_changes(caller: httpx.Client) -> None:
    view = audited(caller, lines(ROWS), verifier="math")
    where = f"/v1/audits/{view['audit_id']}"
    tag = caller.get(where).headers["etag"]
    reply = caller.get(where, headers={"If-None-Match": tag})
    assert (reply.status_code, reply.content) == (304, b"")
    assert caller.delete(where).json() == {"audit_id": view["audit_id"], "state": "done"}
    assert "begin it again" in problem(caller.get(where), 404)


def test_parquet_is_read_as_json_lines_are(caller: httpx.Client, tmp_path: Path) -> None:
    rows = [{"reward_model": {"ground_truth": str(n)}, "extra": [n]} for n in range(100)]
    rows[7]["reward_model"] = {"ground_truth": "$x = $"}
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    view = audited(caller, file.read_bytes(), PARQUET, verifier="math")
    assert (view["state"], view["rows"], view["total_rows"]) == ("done", 100, 100), view
    assert reasons(view) == {"unparseable_reference": 1}
    assert view["kinds"][0]["examples"][0]["row"] == 8
    assert audited(caller, file.read_bytes(), NDJSON, verifier="math")["rows"] == 100


def test_columns_can_be_named_and_rows_limited(caller: httpx.Client) -> None:
    rows = [{"q": "2+2?", "gold": {"value": "4"}, "worked": f"It is \\boxed{{{4 + n % 2}}}."} for n in range(10)]
    view = audited(caller, lines(rows), verifier="math", reference="gold.value", solution="worked", limit=6)
    assert (view["rows"], view["own_answers"], reasons(view)) == (6, 6, {"solution_fails": 3})
    earned = {each["up_to"]: each["responses"] for each in view["earned"]}
    assert (earned["0"], earned["1"]) == (3, 9)
    options = [{"answer": "B", "params": {"choices": "A. Rome B. Paris C. Oslo"}}]
    view = audited(caller, lines(options), verifier="multiple_choice")
    assert view["kinds"][0]["examples"][0]["fix"]["value"] == ["Rome", "Paris", "Oslo"]
    assert view["kinds"][0]["examples"][0]["fix"]["path"] == ["params", "choices"]


def _deep(levels: int) -> str:
    return '{"answer": ' + "[" * levels + "]" * levels + "}"


@table(
    ("body", "reason", "said"),
    [
        (b"\xff\xfe\x00junk\n", "bad_row", ""),
        (b'{"answer": "\xff"}', "bad_row", "UTF-8"),
        (b'{"answer": "5"', "bad_row", "not JSON"),
        (b'{"answer": "\\ud800"}', "bad_row", "half a character"),
        (b'{"id": "\\ud800", "tag": "\\ud800", "answer": "5"}', "bad_row", "half a character"),
        (_deep(100_000).encode(), "bad_row", "nested"),
        (_deep(500).encode(), None, ""),
        (b'{"answer": 1' + b"0" * 400 + b"}", None, ""),
        (b'{"answer": 1' + b"0" * 10_000 + b"}", "bad_row", ""),
        (b'{"answer": NaN}', None, ""),
        (b"[1, 2]", "bad_row", "jq"),
        (b"null\n\n\n3\n", "bad_row", "JSON object"),
        (b'{"nothing": 1}', "bad_reference", ""),
        (b'{"answer": "5", "params": [1]}', "bad_params", ""),
        (b'{"answer": "' + b"x" * 9_000_000 + b'"}\n{"answer": "5"}\n', "bad_row", "8 MB"),
        (b"{" * 3_000_000, "bad_row", "not JSON"),
        (b'{"answer": "5", "verifier": "' + b"v" * 3000 + b'"}', "", ""),
        (b"\x00" * 1000, "bad_row", ""),
    ],
)
def test_a_damaged_file_has_findings_and_no_fault(
    caller: httpx.Client, body: bytes, reason: str | None, said: str
) -> None:
    view = audited(caller, body, verifier="math")
    assert view["state"] == "done", view["problem"]
    if reason:
        assert reason in reasons(view), view["kinds"]
        assert said in view["kinds"][0]["examples"][0]["message"]
    page = caller.get(f"/v1/audits/{view['audit_id']}/report")
    assert page.status_code == 200
    assert len(page.content) < 100_000


@pytest.mark.contract
def test_a_file_that_is_none_fails_in_words(caller: httpx.Client, tmp_path: Path) -> None:
    view = audited(caller, b"PAR1 and no more", PARQUET, verifier="math")
    assert (view["state"], view["rows"]) == ("failed", 0)
    assert "it is not Parquet" in view["problem"]
    page = caller.get(f"/v1/audits/{view['audit_id']}/report").text
    assert "Not the whole data set" in page
    view = audited(caller, gzip.compress(lines(ROWS)), verifier="math")
    assert (view["state"], view["rows"]) == ("done", len(ROWS))
    bomb = tmp_path / "bomb.parquet"
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 5000, pyarrow.int32()), ["x" * 20_000_000])
    parquet.write_table(pyarrow.table({"answer": column}), bomb, compression="zstd")
    assert bomb.stat().st_size < 1_000_000
    audit_id = begun(caller, bomb.read_bytes(), PARQUET, verifier="math", limit=3)
    view = ended(caller, audit_id)
    assert (view["state"], reasons(view)) == ("done", {"bad_row": 3})


def test_what_is_no_data_set_is_refused_with_what_to_send(caller: httpx.Client) -> None:
    def post(body: bytes, media: str, **options: Any) -> httpx.Response:
        return caller.post("/v1/audits", params=options, content=body, headers={"Content-Type": media})

    body = lines(ROWS)
    assert "--data-binary" in problem(post(body, "application/x-www-form-urlencoded"), 415)
    assert "empty" in problem(post(b"", NDJSON), 400)
    assert "did you mean `math`" in problem(post(body, NDJSON, verifier="maths"), 422)
    assert "no recipe" in problem(post(body, NDJSON, recipe="nosuch"), 422)
    assert "not both" in problem(post(body, NDJSON, recipe="think_math", verifier="math"), 422)
    assert "verifier, recipe" in problem(post(body, NDJSON, colour="red"), 422)
    assert "limit" in problem(post(body, NDJSON, limit=0), 422)
    assert "dataset_root" in problem(post(b'{"path": "a.jsonl"}', "application/json"), 422)
    assert "not valid JSON" in problem(post(b"{", "application/json"), 400)
    packed = {"Content-Type": NDJSON, "Content-Encoding": "gzip"}
    assert "without" in problem(caller.post("/v1/audits", content=gzip.compress(body), headers=packed), 415)
    assert problem(caller.get("/v1/audits/none"), 404)
    assert problem(caller.put("/v1/audits", content=b""), 405)


def test_a_file_below_the_root_can_be_named_and_no_other(serve: Serve, tmp_path: Path) -> None:
    root = tmp_path / "sets"
    (root / "more").mkdir(parents=True)
    (root / "more" / "rows.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "secret.jsonl").write_bytes(lines(ROWS))
    (root / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (root / "inside.jsonl").symlink_to(root / "more" / "rows.jsonl")
    served = serve(dataset_root=str(root), max_dataset_mb="0.001")
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as caller:

        def post(path: str) -> httpx.Response:
            return caller.post("/v1/audits", json={"path": path, "verifier": "math"})

        for path in ("more/rows.jsonl", "inside.jsonl", "./more/rows.jsonl"):
            view = ended(caller, post(path).raise_for_status().json()["audit_id"])
            assert (view["rows"], view["name"]) == (5, "rows.jsonl")
        for path in (
            "../secret.jsonl",
            "link.jsonl",
            str(tmp_path / "secret.jsonl"),
            "more/../../secret.jsonl",
            "a\0b",
        ):
            assert "leads out" in problem(post(path), 422), path
        for path in ("none.jsonl", "more", "x" * 4000):
            assert "no file" in problem(post(path), 404), path
        large = caller.post("/v1/audits", content=b"x" * 2000, headers={"Content-Type": NDJSON})
        assert "rewardline audit FILE" in problem(large, 413)
        assert caller.get("/v1/audits").json()["takes_paths"] is True


def slow(count: int) -> bytes:
    """Rows that take a while each, and differ."""
    return lines([{"answer": f"x^{n} + \\sqrt{{{n}}} + \\frac{{y}}{{{n}}}"} for n in range(2, count)])


def test_few_run_at_once_and_each_can_be_cancelled(serve: Serve) -> None:
    served = serve(workers="1")
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as caller:
        one = begun(caller, slow(20_000), verifier="math")
        two = begun(caller, slow(20_000), verifier="math")
        third = caller.post("/v1/audits", content=lines(ROWS), headers={"Content-Type": NDJSON})
        assert "DELETE one" in problem(third, 429)
        assert int(third.headers["retry-after"]) > 0
        (result,) = caller.post(
            "/v1/score", json={"items": [{"verifier": "math", "response": "5", "reference": "5"}]}
        ).json()["results"]
        assert result["score"] == 1.0
        eventually(lambda: caller.get(f"/v1/audits/{one}").json()["rows"] > 0)
        assert caller.delete(f"/v1/audits/{one}").json()["state"] == "cancelled"
        view = caller.get(f"/v1/audits/{one}").json()
        assert (view["state"], view["problem"]) == ("cancelled", "it was cancelled")
        assert 0 < view["rows"] < 19_998
        assert caller.get(f"/v1/audits/{two}").json()["state"] == "running"
        assert begun(caller, lines(ROWS), verifier="math")


def test_a_draining_service_does_not_wait_for_audits(serve: Serve) -> None:
    served = serve(workers="1", drain_timeout_s="300")
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as caller:
        begun(caller, slow(50_000), verifier="math")
    assert served.stop() == 0


def test_it_needs_the_scope_admin(serve: Serve, tmp_path: Path) -> None:
    keys = tmp_path / "keys.yaml"
    digest = hashlib.sha256(READER.encode()).hexdigest()
    keys.write_text(f"keys:\n  trainer: {{sha256: '{digest}', scopes: [score]}}\n")
    served = serve(keys_file=str(keys), api_keys=f"boss={KEY}")

    def headers(key: str) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}", "Content-Type": NDJSON}

    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as caller:
        problem(caller.post("/v1/audits", content=lines(ROWS)), 401)
        assert "admin" in problem(caller.post("/v1/audits", content=lines(ROWS), headers=headers(READER)), 403)
        begun = caller.post("/v1/audits", params={"verifier": "math"}, content=lines(ROWS), headers=headers(KEY))
        audit_id = begun.json()["audit_id"]
        problem(caller.get(f"/v1/audits/{audit_id}", headers=headers(READER)), 403)
        problem(caller.get(f"/v1/audits/{audit_id}/report", headers=headers(READER)), 403)
        assert caller.get(f"/v1/audits/{audit_id}", headers=headers(KEY)).status_code == 200


@table(
    ("name", "options", "kinds"),
    [
        ("math/gsm8k_references.jsonl", {"verifier": "math"}, {"worked_solution": 27}),
        ("math/deepmath_golds.jsonl", {"verifier": "math", "limit": 300}, {}),
        ("math/inspect_cases.jsonl", {"verifier": "math", "limit": 20}, None),
        ("reports/numeric.jsonl", {}, {}),
    ],
)
def test_real_data_sets_are_audited_and_stay_right_when_mended(
    caller: httpx.Client, name: str, options: JSON, kinds: Mapping[str, int] | None
) -> None:
    body = (ROOT / "tests" / "data" / name).read_bytes()
    view = audited(caller, body, **options)
    assert (view["state"], view["unjudged"], view["bad_rows"]) == ("done", 0, 0), view["kinds"]
    assert kinds is None or reasons(view) == kinds
    fixes = [json.loads(line) for line in caller.get(f"/v1/audits/{view['audit_id']}/fixes").text.splitlines()]
    rows = [json.loads(line) for line in body.splitlines()]
    items = [
        {"verifier": "math", "response": fix["value"], "reference": rows[fix["row"] - 1][fix["path"][0]]}
        for fix in fixes
    ]
    results = caller.post("/v1/score", json={"items": items}).json()["results"] if items else []
    assert [item for item, result in zip(items, results, strict=True) if result["score"] != 1.0] == []


def test_what_a_page_asks_for_by_itself_leaves_no_line_in_the_access_log(caller: httpx.Client, served: Served) -> None:
    audit_id = begun(caller, lines(ROWS), verifier="math")
    ended(caller, audit_id)
    path = f"/v1/audits/{audit_id}"

    def ask(name: str, method: str = "GET", where: str = path, **headers: str) -> int:
        return caller.request(method, where, headers={"X-Request-Id": f"{name}-{audit_id}"} | headers).status_code

    tag = caller.get(path).headers["etag"]
    assert ask("poll") == 200
    assert ask("same", **{"If-None-Match": tag}) == 304
    assert ask("live", where="/v1/series") == 200
    assert ask("other", **{"X-Tenant": "red"}) == 200
    assert ask("report", where=f"{path}/report") == 200
    assert ask("end", "DELETE") == 200
    assert ask("gone") == 404

    def seen() -> list[str]:
        logged = [line.get("request_id", "") for line in served.logged()]
        return [name.removesuffix(f"-{audit_id}") for name in logged if name.endswith(audit_id)]

    eventually(lambda: "gone" in seen())
    assert seen() == ["other", "report", "end", "gone"]
