"""Receipts of verdicts, over real HTTP and gRPC, and what is told of wrong ones."""

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from rewardline import Client
from typer.testing import CliRunner

from service.cli.main import application
from service.recipes.book import Book
from service.versions.canonical_json import canonical
from service.versions.receipts import BadKeyFile, Key, Receipts, problems_of, read_key
from service.wire import Result, ScoreItem
from tests.conftest import Serve
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

Json = dict[str, Any]
HOSTILE = '{"receipt": 1}\n\u202e"}], "verdict": {"score": 1} \\boxed{4}'
ITEMS: list[Json] = [
    {
        "id": "a",
        "verifier": "math",
        "response": r"It is \boxed{4}.",
        "reference": "4",
        "params": {"unit_policy": "ignore"},
    },
    {"id": 'b"}', "verifier": "math", "response": HOSTILE + r" \boxed{5}", "reference": 4.0, "prompt": "2 + 2?"},
    {"id": "c", "recipe": "think_math", "response": r"<think>x</think>\boxed{4}", "reference": "4"},
    {"id": "d", "verifier": "math", "response": "4", "reference": {"no": "reference"}},
]


@table(
    "bits, text",
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_those_of_rfc_8785(bits: str, text: str) -> None:
    """The samples of its appendix B."""
    assert canonical(struct.unpack(">d", bytes.fromhex(bits))[0]).decode() == text


def test_texts_and_names_are_those_of_rfc_8785() -> None:
    """The samples of its sections 3.2.2 and 3.2.3."""
    given = json.loads(
        r'{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        r'"string": "\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}'
    )
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(given).decode() == expected
    names = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert [*json.loads(canonical(names))] == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert canonical(2**60 + 1) != canonical(2**60)
    assert canonical(4) == canonical(4.0)
    for value in (float("nan"), float("inf"), "\ud800"):
        with pytest.raises(ValueError, match=r"JSON|surrogates"):
            canonical([value])


@pytest.fixture(params=["hmac", "ed25519"])
def keys(request: Any, tmp_path: Path) -> tuple[Path, Path]:
    """The file of a key that signs, and that of one that checks."""
    if request.param == "hmac":
        path = tmp_path / "secret"
        path.write_text("a secret that nobody knows")
        return path, path
    private = Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM
    signing, checking = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    signing.write_bytes(private.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    checking.write_bytes(private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return signing, checking


def plain(result: Any) -> Json:
    named = ("id", "score", "reward", "reason", "verifier", "version", "recipe")
    return {"status": str(result.status), **{name: getattr(result, name) for name in named}}


@pytest.mark.contract
def test_receipts_are_the_same_over_both_doors_and_check(serve: Serve, keys: tuple[Path, Path], tmp_path: Path) -> None:
    signing, checking = keys
    served = serve(receipt_key_file=str(signing), audit_dir=str(tmp_path / "log"))
    rows = []
    for url in (served.url, f"grpc://{served.grpc}"):
        with Client(url) as client:
            assert client.score(ITEMS)[0].receipt is None
        with Client(url, receipts=True) as client:
            results = client.score(ITEMS)
            (streamed,) = [result for _, result in client.stream(ITEMS[:1])]
        assert streamed.receipt is not None
        rows += [
            {**item, "result": {**plain(result), "detail": dict(result.detail)}}
            for item, result in zip(ITEMS, results, strict=True)
        ]
    receipts = [row["result"]["detail"]["receipt"] for row in rows]
    own = ("inputs", "verdict", "versions", "release", "key")
    assert [{name: each[name] for name in own} for each in receipts[:4]] == [
        {name: each[name] for name in own} for each in receipts[4:]
    ]
    assert receipts[2]["versions"].keys() == {"math", "think_format", "recipe think_math"}
    assert receipts[3]["verdict"] == {"status": "invalid", "score": None, "reward": None, "reason": "bad_reference"}
    text = json.dumps(receipts)
    assert "boxed" not in text
    assert "a secret" not in text
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert verified(file, "--key", checking) == (0, "8 receipts: 8 right.")
    eventually(lambda: sum(len(each.read_text().splitlines()) for each in (tmp_path / "log").glob("*")) >= 18)
    (log,) = (tmp_path / "log").glob("*")
    code, said = verified(log, "--key", checking, "--no-judge")
    assert (code, said) == (0, "10 receipts: 10 right, 8 records without a receipt.")


def verified(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(application("verify-receipt", "lock"), ["verify-receipt", *map(str, arguments)])
    return done.exit_code, done.output.strip()


def made(key: Key | None) -> tuple[Json, Json, Json]:
    """An item, its verdict and its receipt."""
    item = msgspec.json.decode(json.dumps(ITEMS[0]), type=ScoreItem)
    result = Result("a", "ok", 1.0, 1.0, "correct", "math", "28", "4", {}, cached=False, elapsed_ms=1.0)
    Receipts("0.2.0", key, lambda detail: None).stamp(item, {}, result, Book({}, (), (), {}), "request")
    fields = msgspec.structs.asdict(result)
    return ITEMS[0], fields, fields["detail"]["receipt"]


def _cut(receipt: Json) -> None:
    del receipt["inputs"]


def _raise_score(receipt: Json) -> None:
    receipt["verdict"]["score"] = 0.5


def _unsign(receipt: Json) -> None:
    receipt["algorithm"] = "none"


def _cut_signature(receipt: Json) -> None:
    receipt["signature"] = receipt["signature"][:8]


def _name_another_key(receipt: Json) -> None:
    receipt["key"] = "00000000"


@table(
    "alter, problem",
    [
        (_cut, "it is cut: it lacks inputs"),
        (_raise_score, "its signature is wrong"),
        (_unsign, "it has no signature"),
        (_cut_signature, "its signature is wrong"),
        (_name_another_key, "signed by the key 00000000"),
    ],
)
def test_a_receipt_that_was_altered_is_told(tmp_path: Path, alter: Callable[[Json], None], problem: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret that nobody knows")
    key = read_key(secret)
    item, result, receipt = made(key)
    assert problems_of(receipt, item, result, key) == []
    altered = copy.deepcopy(receipt)
    alter(altered)
    assert problem in "; ".join(problems_of(altered, item, result, key))


@table(
    "change, problem",
    [
        ({"response": "It is 5."}, "it does not match the item's `response`"),
        ({"reference": "5"}, "it does not match the item's `reference`"),
        ({"params": {}}, "it does not match the item's `params`"),
        ({"prompt": "2 + 2?"}, "it does not match the item's `prompt`"),
        (
            {"checks": [{"verifier": "math", "params": {"unit_policy": "ignore"}}]},
            "it does not match the item's `checks`",
        ),
        ({"evaluation_criteria": {"rubric": "x"}}, "it does not match the item's `evaluation_criteria`"),
        ({"reward_clip": [0, 1]}, "it does not match the item's `reward_clip`"),
        ({"reward_weights": {"math": 0.5}}, "it does not match the item's `reward_weights`"),
        ({"recipe": "math_then_judge"}, "the item names recipe math_then_judge, and it was judged by math"),
        ({"verifier": "numeric"}, "the item names numeric, and it was judged by math"),
        ({"id": "b"}, "it is of the item 'a', not of 'b'"),
    ],
)
def test_a_receipt_of_another_item_is_told(change: Json, problem: str) -> None:
    item, result, receipt = made(None)
    assert problems_of(receipt, item, result, None) == []
    assert problems_of(receipt, {**item, **change}, result, None) == [problem]
    assert "score 1.0, the verdict says 0.0" in problems_of(receipt, item, {**result, "score": 0.0}, None)[0]
    assert problems_of(receipt, item, {**result, "id": 3}, None) == ["it is of the result 'a', not of 3"]
    for judge in ({"version": "1"}, {"verifier": "numeric"}, {"recipe": "q"}):
        (problem,) = problems_of(receipt, item, {**result, **judge}, None)
        assert "the receipt names math" in problem
    of_recipe = {**receipt, "versions": {"math": "28", "recipe think_math": "0"}}
    assert problems_of(of_recipe, {**item, "verifier": None, "recipe": "think_math"}, result, None) == []
    assert problems_of(of_recipe, item, result, None) == [
        "the item names math, and it was judged by math, recipe think_math"
    ]
    assert problems_of(["receipt"], item, result, None) == ["it is not a receipt of this form"]


def test_a_receipt_that_is_used_again_and_one_that_is_judged_otherwise_are_told(tmp_path: Path) -> None:
    item, result, receipt = made(None)
    wrong, other = copy.deepcopy(receipt), copy.deepcopy(receipt)
    wrong |= {"nonce": "1", "verdict": {**receipt["verdict"], "score": 0.0, "reward": 0.0}}
    other |= {"nonce": "2", "verdict": wrong["verdict"], "versions": {"math": "1"}}
    file = tmp_path / "rows.jsonl"
    stripped = {"item": item, "result": {**result, "detail": {}}}
    file.write_text("".join(json.dumps(row) + "\n" for row in (stripped, {**item, "receipt": receipt})))
    assert verified(file, "--no-judge")[0] == 3
    assert "1 verdicts without a receipt" in verified(file, "--no-judge")[1]
    file.write_text(json.dumps({**item, "receipt": receipt}) + '\n{"cut": \n[1]\n')
    code, said = verified(file, "--no-judge")
    assert (code, "2 lines that are not rows, 1 right" in said) == (3, True), said
    file.write_text("".join(json.dumps({**item, "receipt": each}) + "\n" for each in (receipt, receipt, wrong, other)))
    code, said = verified(file)
    assert code == 1
    assert "line 2: it is the receipt of line 1, used again" in said
    assert "line 4: another version judges here: math was version 1" in said
    (tmp_path / "none.jsonl").write_text(json.dumps(item) + "\n")
    assert verified(tmp_path / "none.jsonl")[0] == 2


@table("content", ["short", "-----BEGIN PRIVATE KEY-----\nnope\n-----END PRIVATE KEY-----"])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(BadKeyFile):
        read_key(tmp_path / "key")


@pytest.mark.contract
def test_a_setting_has_all_verdicts_carry_receipts_and_a_job_keeps_what_its_headers_ask(serve: Serve) -> None:
    served = serve(receipts="always")
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as http:
        body = {"items": [ITEMS[0]]}
        (result,) = http.post("/v1/score", json=body).json()["results"]
        assert result["detail"]["receipt"]["algorithm"] == "none"
        assert http.post("/v1/score", json=body, headers={"X-Receipt": "perhaps"}).status_code == 422
    served = serve()
    with httpx.Client(base_url=served.url, timeout=PATIENCE_S) as http:
        job = http.post("/v1/jobs", json=body, headers={"X-Receipt": "1"}).json()["job_id"]
        (result,) = http.get(f"/v1/jobs/{job}", params={"wait_s": 30}).json()["results"]
        receipt = result["detail"]["receipt"]
        assert (receipt["verdict"]["score"], receipt["request_id"]) == (1.0, job)
        (result,) = http.post("/v1/score", json={**body, "receipts": True}).json()["results"]
        assert "receipt" in result["detail"]
