"""Groups over gRPC and by the client: the same answers as over HTTP."""

import json
from typing import Any

import grpc
import httpx
import pytest
from rewardline import Client, InvalidRequest
from rewardline.groups import chunked
from rewardline.pb import rewardline_pb2 as pb

from tests.service.groups.test_singles import HALVES, name
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
GROUPS: list[JSON] = [
    {"id": "a", "verifier": "math", "responses": HALVES},
    {"verifier": "numeric", "responses": ["#### 1", "#### 2"]},
    {"verifier": "code", "responses": ["x"]},
]


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_the_client_scores_groups(served: Any, scheme: str) -> None:
    url = served.url if scheme == "http" else f"grpc://{served.grpc}"
    with Client(url, timeout_s=PATIENCE_S) as client:
        found = client.score_groups(GROUPS, method="majority", advantages={"method": "dr_grpo"})
        assert [one["status"] for one in found] == ["ok", "failed", "invalid"]
        assert [member["reward"] for member in found[0]["members"]] == [1, 0, 1]
        assert [member["advantage"] for member in found[0]["members"]] == pytest.approx([1 / 3, -2 / 3, 1 / 3])
        alone = [{"verifier": "math", "reference": "1", "responses": ["\\boxed{1}"]}]
        [told] = client.score_groups(alone, seed=None, explain=True, cache="off")
        assert "mentions" in told["members"][0]["detail"], told
        assert client.score_groups([]) == []
        with pytest.raises(InvalidRequest):
            client.score_groups(GROUPS, method="nosuch")


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_groups_of_rewards_have_advantages_by_every_door(served: Any, scheme: str) -> None:
    """The older route has the same numbers."""
    url = served.url if scheme == "http" else f"grpc://{served.grpc}"
    groups: list[dict[str, Any]] = [
        {"id": "a", "rewards": [1, 0, None, 1]},
        {"id": "b", "rewards": [1, 1]},
        {"rewards": [0, 1], "lengths": [9]},
        {"rewards": [3, 4], "lengths": [9, 9], "truncated": [True, False], "statuses": ["ok", "invalid"]},
        {"rewards": [], "truncated": []},
    ]
    options = {"preset": "trl", "filters": {"mean": {"high": 1}, "overlong": "mask"}}
    for group in groups[:2]:
        group["truncated"] = [False] * len(group["rewards"])
    older = httpx.post(
        f"{served.url}/v1/group/advantages", json={**options, "groups": groups}, timeout=PATIENCE_S
    ).json()
    with Client(url, timeout_s=PATIENCE_S) as client:
        found = client.score_groups(groups, method="rewards", advantages=options, k=2)
        assert [[member["advantage"] for member in one["members"]] for one in found] == [
            one["advantages"] for one in older["groups"]
        ]
        assert [one["id"] for one in found] == ["a", "b", 2, 3, 4]
        assert [one["keep"] for one in found] == [one["keep"] for one in older["groups"]]
        assert [one["status"] for one in found] == ["ok", "ok", "invalid", "ok", "failed"]
        assert [member["status"] for member in found[0]["members"]] == ["ok", "ok", "failed", "ok"]
        assert [member["status"] for member in found[3]["members"]] == ["ok", "invalid"]
        assert (found[0]["best"], found[0]["max_at_k"]) == (0, 1)
        with pytest.raises(InvalidRequest, match="terms"):
            client.score_groups(groups, method="rewards", terms={"length": 1.0})


@pytest.mark.contract
@pytest.mark.parametrize("lengths", [{}, {"lengths": [1.0] * 64}])
def test_more_rewards_than_a_request_holds_travel_in_several(served: Any, lengths: JSON) -> None:
    groups = [{"rewards": [1, 0] * 32, **lengths}] * 1_100
    with Client(served.url, timeout_s=PATIENCE_S) as client:
        found = client.score_groups(groups, method="rewards", k=1)
    assert (len(found), {one["max_at_k"] for one in found}) == (1_100, {0.5})


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_the_client_sends_single_members(served: Any, scheme: str) -> None:
    url = served.url if scheme == "http" else f"grpc://{served.grpc}"
    group = {"id": name(), "size": 3, "method": "majority", "wait_s": PATIENCE_S}
    items = [{"verifier": "math", "response": text, "group": {**group, "member": at}} for at, text in enumerate(HALVES)]
    with Client(url, timeout_s=PATIENCE_S) as client:
        assert [one.reward for one in client.score(items)] == [1, 0, 1]


def test_grpc_is_bounded(served: Any) -> None:
    def sent(options: str, *groups: str) -> str:
        request = pb.ScoreGroupsRequest(options_json=options, groups_json=groups)
        with grpc.insecure_channel(served.grpc) as channel:
            call = channel.unary_unary("/rewardline.v1.Verifier/ScoreGroups", None, None)
            try:
                call(request.SerializeToString(), timeout=PATIENCE_S)
            except grpc.RpcError as error:
                return str(error.code().name)
            return "OK"

    group = json.dumps({"verifier": "numeric", "reference": 1, "responses": ["#### 1"] * 128})
    assert sent("", group) == "OK"
    assert sent("[]") == "INVALID_ARGUMENT"
    assert sent('{"groups": []}') == "INVALID_ARGUMENT"
    assert sent("{}", "{") == "INVALID_ARGUMENT"
    assert sent("{}", *[group] * 33) == "OUT_OF_RANGE"
    assert sent("{}", *['{"responses": ["x"]}'] * 2049) == "OUT_OF_RANGE"
    assert sent("{}", json.dumps({"responses": ["x" * 16_000_000]})) == "RESOURCE_EXHAUSTED"


def test_groups_travel_in_parts_that_the_server_takes() -> None:
    groups: list[JSON] = [{"responses": ["x"] * 100} for _ in range(100)]
    parts = chunked(groups)
    assert [len(part) for part in parts] == [40, 40, 20]
    assert [group for part in parts for group in part] == groups
    large = [{"responses": ["x" * 5_000_000]} for _ in range(3)]
    assert [len(part) for part in chunked(large)] == [1, 1, 1]
    assert chunked([]) == []
