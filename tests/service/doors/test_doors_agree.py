"""The same batch through both doors: same verdicts, whatever is in it."""

import json
from typing import Any

import grpc
import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rewardline.pb import rewardline_pb2 as pb

from tests.waiting import PATIENCE_S

STATUSES = {pb.STATUS_OK: "ok", pb.STATUS_INVALID: "invalid", pb.STATUS_FAILED: "failed"}
FIELDS = ("id", "status", "score", "reward", "reason", "verifier", "version", "extracted", "detail", "recipe", "checks")
ROW = ("messages", "ground_truth", "test_cases", "case_type", "difficulty", "reward_weights", "reward_clip", "source")

answers = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["\\boxed{12}", "12", "A", "The answer is 1/2.", "<think>", "</think>12", "#### 12", "(B)", "12\x00"]
    ),
)
plain_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
references = st.sampled_from(["12", "A", "1/2", 12, 0.5, ["A", "B"], "x^2+1"]) | plain_json
parameters = (
    st.none()
    | st.sampled_from([{}, {"ignore_case": True}, {"abs_tol": 0.1}, {"choices": ["12", "13"]}])
    | (st.dictionaries(st.sampled_from(["think", "extract", "abs_tol", "nosuch"]), plain_json, max_size=2))
)
messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": answers}), max_size=3
)
optional = {
    "id": st.text(min_size=1, max_size=5),
    "verifier": st.sampled_from(["numeric", "exact_match", "multiple_choice", "regex", "math", "nosuch"]),
    "reference": references,
    "reference_id": st.sampled_from(["p", "q"]),
    "params": parameters.filter(lambda value: value is not None),
    "prompt": answers | messages,
    "tag": st.text(min_size=1, max_size=5),
    "explain": st.booleans(),
    "recipe": st.text(min_size=1, max_size=5) | st.just("think_math"),
    "checks": st.lists(
        st.fixed_dictionaries(
            {"verifier": st.sampled_from(["numeric", "math", "think_format", "nosuch"])},
            optional={
                "weight": st.floats(-1, 3),
                "scale": st.sampled_from(["01", "pm1", [0, 2], "x"]),
                "gate": st.just({"after": "numeric", "at_least": 1}),
                "params": parameters.filter(lambda value: value is not None),
            },
        ),
        max_size=3,
    ),
    "messages": answers | messages,
    "ground_truth": references,
    "case_type": st.sampled_from(["stdio", ""]),
    "difficulty": st.floats(0, 10) | st.sampled_from(["hard", "2", "steep"]),
    "reward_weights": st.dictionaries(st.sampled_from(["math", "numeric", "nosuch"]), st.floats(-1, 3), max_size=2),
    "reward_clip": st.sampled_from([0.5, [0, 0.25], "x"]),
    "source": st.text(max_size=5),
}
items = st.fixed_dictionaries({"response": answers | messages}, optional=optional)
likely = st.fixed_dictionaries({"response": answers, "verifier": optional["verifier"], "reference": references})
batches = st.fixed_dictionaries(
    {
        "items": st.lists(likely | items, max_size=12),
        "references": st.dictionaries(st.sampled_from(["p", "r"]), references, max_size=2),
        "cache": st.sampled_from(["use", "refresh", "off"]),
        "explain": st.booleans(),
    }
)


@given(batches)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_doors_give_the_same_verdicts(served: Any, batch: dict[str, Any]) -> None:
    assert over_http(served, batch) == over_grpc(served, batch)


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize("cache", ["use", "refresh", "off"])
def test_both_doors_agree_on_many_items(served: Any, cache: str) -> None:
    def item(n: int) -> dict[str, Any]:
        verifier = ["math", "numeric", "exact_match", "multiple_choice", "regex", "nosuch"][n % 6]
        return {"response": f"\\boxed{{{n % 40}}}", "verifier": verifier, "reference": str(n % 37)}

    batch = {"items": [item(n) for n in range(1000)], "references": {}, "cache": cache, "explain": False}
    first = over_http(served, batch)
    assert first == over_grpc(served, batch)
    assert {result["status"] for result in first} == {"ok", "invalid"}


def over_http(served: Any, batch: dict[str, Any]) -> list[dict[str, Any]]:
    reply = httpx.post(f"{served.url}/v1/score", json=batch, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text
    results = [{name: result[name] for name in FIELDS} for result in reply.json()["results"]]
    return [{**result, "id": str(result["id"]), "checks": _without_luck(result["checks"])} for result in results]


def _without_luck(checks: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Whether a verdict was at hand depends on who asked first."""
    return checks and [{name: value for name, value in check.items() if name != "cached"} for check in checks]


def over_grpc(served: Any, batch: dict[str, Any]) -> list[dict[str, Any]]:
    request = pb.ScoreRequest(
        items=[message(item) for item in batch["items"]],
        references_json={name: json.dumps(value) for name, value in batch["references"].items()},
        cache={"use": pb.CACHE_MODE_USE, "refresh": pb.CACHE_MODE_REFRESH, "off": pb.CACHE_MODE_OFF}[batch["cache"]],
        explain=batch["explain"],
    )
    with grpc.insecure_channel(served.grpc) as channel:
        score = channel.unary_unary(
            "/rewardline.v1.Verifier/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString
        )
        response = score(request, timeout=60)
    return [
        {
            "id": result.id,
            "status": STATUSES[result.status],
            "score": result.score if result.HasField("score") else None,
            "reward": result.reward if result.HasField("reward") else None,
            "reason": result.reason,
            "verifier": result.verifier or None,
            "version": result.version or None,
            "extracted": result.extracted if result.HasField("extracted") else None,
            "detail": json.loads(result.detail_json),
            "recipe": result.recipe if result.HasField("recipe") else None,
            "checks": _without_luck(json.loads(result.checks_json)) if result.HasField("checks_json") else None,
        }
        for result in response.results
    ]


def message(item: dict[str, Any]) -> Any:
    sent = pb.Item()
    row = {name: value for name, value in item.items() if name in ROW}
    if row:
        sent.row_json = json.dumps(row)
    for name, value in item.items():
        if name in row:
            continue
        if name in ("response", "prompt") and isinstance(value, list):
            getattr(sent, f"{name}_messages").SetInParent()
            for part in value:
                getattr(sent, f"{name}_messages").messages.add(**part)
        elif name in ("reference", "params", "checks"):
            setattr(sent, f"{name}_json", json.dumps(value))
        else:
            setattr(sent, name, value)
    return sent
