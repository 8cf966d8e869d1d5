"""Groups whose members come one by one: in one process, and over replicas that share a Redis and die."""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import redis

from service.groups.single_records import Arrival
from service.wire import ScoreItem
from tests.conftest import Serve, Served
from tests.judge_upstream.grader import Grader
from tests.service.redis_server import RedisServer
from tests.tables import table
from tests.waiting import PATIENCE_S, eventually

JSON = dict[str, Any]
_names = iter(range(1_000_000))


def item(response: str, group: JSON, **fields: Any) -> JSON:
    return {"verifier": "math", "response": response, "group": {"method": "majority", **group}, **fields}


def post(url: str, *items: JSON, deadline_s: float = PATIENCE_S) -> list[JSON]:
    body = {"items": list(items), "deadline_s": deadline_s}
    reply = httpx.post(f"{url}/v1/score", json=body, timeout=2 * PATIENCE_S)
    assert reply.status_code == 200, reply.text
    results: list[JSON] = reply.json()["results"]
    return results


def together(*calls: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(calls)) as threads:
        return [each.result() for each in [threads.submit(call) for call in calls]]


def each_alone(urls: Sequence[str], responses: Sequence[str], group: JSON, **fields: Any) -> list[JSON]:
    """One request for each member, all at once, to the replicas in turn."""

    def sent(at: int) -> Callable[[], JSON]:
        one = item(responses[at], {**group, "member": at}, **fields)
        return lambda: post(urls[at % len(urls)], one)[0]

    return together(*(sent(at) for at in range(len(responses))))


def name() -> str:
    return f"g{next(_names)}"


HALVES = ["\\boxed{1/2}", "\\boxed{3}", "\\boxed{0.5}"]


def test_all_members_are_answered_when_the_group_is_whole(served: Any) -> None:
    results = each_alone([served.url], HALVES, {"id": name(), "size": 3, "wait_s": PATIENCE_S})
    assert [one["reward"] for one in results] == [1, 0, 1]
    assert {str(one["detail"]["group"]) for one in results} == {str(results[0]["detail"]["group"])}
    assert results[0]["detail"]["group"]["missing"] == 0


def test_members_may_share_a_request_with_others(served: Any) -> None:
    group = {"id": name(), "size": 2, "wait_s": PATIENCE_S}
    other = {"verifier": "math", "response": "\\boxed{5}", "reference": "5"}
    found = post(served.url, item("\\boxed{1}", group, id="a"), other, item("\\boxed{1.0}", group, id="b"))
    assert [(one["id"], one["reward"]) for one in found] == [("a", 1), (1, 1), ("b", 1)]


def test_a_member_that_is_sent_again_gets_the_same_and_counts_once(served: Any) -> None:
    group = {"id": name(), "size": 2, "wait_s": PATIENCE_S}
    first = item("\\boxed{1}", {**group, "member": "x"})
    [late] = post(served.url, first, deadline_s=0.2)
    assert (late["status"], late["reason"]) == ("failed", "deadline")
    second = item("\\boxed{1}", {**group, "member": "y"})
    results = together(lambda: post(served.url, first)[0], lambda: post(served.url, second)[0])
    assert [one["reward"] for one in results] == [1, 1]
    [again] = post(served.url, first)
    assert again["detail"] == results[0]["detail"]
    [third] = post(served.url, item("\\boxed{2}", {**group, "member": "z"}))
    assert (third["status"], third["reason"]) == ("failed", "group_over")


def test_a_member_is_not_answered_with_the_verdict_of_another_response(served: Any) -> None:
    """Trainers whose samples of a prompt have one id would else train on the reward of the first."""
    group = {"id": name(), "size": 2, "wait_s": 0.5, "majority": {"on_tie": "first"}}
    found = post(served.url, item("\\boxed{1}", group, id="x"), item("\\boxed{2}", group, id="x"))
    assert {(one["status"], one["reason"]) for one in found} == {("ok", "majority"), ("invalid", "group_mismatch")}


def test_the_order_in_which_members_come_changes_nothing(served: Any) -> None:
    group = {"id": name(), "size": 3, "wait_s": PATIENCE_S, "majority": {"on_tie": "first"}}
    members = [item(f"\\boxed{{{number}}}", {**group, "member": number}) for number in (10, 9, 2)]
    [early] = post(served.url, members[0], deadline_s=0.3)
    assert early["reason"] == "deadline"
    found = post(served.url, *members)
    assert [one["reward"] for one in found] == [0, 0, 1]
    assert found[0]["detail"]["group"]["members"] == ["2", "9", "10"]


def test_one_member_is_too_few_to_compare(served: Any) -> None:
    for method in ("tournament", "listwise"):
        one: JSON = {"response": "x", "prompt": "q", "verifier": None}
        [found] = post(served.url, item(group={"id": name(), "size": 2, "wait_s": 0.2, "method": method}, **one))
        assert (found["status"], found["reason"]) == ("failed", "group_incomplete")


@pytest.mark.parametrize(("on_incomplete", "status"), [("score", "ok"), ("fail", "failed")])
def test_a_group_that_does_not_become_whole(served: Any, on_incomplete: str, status: str) -> None:
    group = {"id": name(), "size": 4, "wait_s": 0.5, "on_incomplete": on_incomplete}
    results = post(served.url, *(item(text, group, id=str(at)) for at, text in enumerate(HALVES)))
    assert {one["status"] for one in results} == {status}
    assert {one["detail"]["group"]["missing"] for one in results} == {1}
    assert sorted(results[0]["detail"]["group"]["members"]) == ["0", "1", "2"]
    if status == "ok":
        assert [one["reward"] for one in results] == [1, 0, 1]
    else:
        assert {one["reason"] for one in results} == {"group_incomplete"}


def test_members_are_in_the_order_of_their_request(served: Any) -> None:
    for _ in range(4):
        group = {"id": name(), "size": 2, "wait_s": PATIENCE_S, "majority": {"on_tie": "first"}}
        assert [one["reward"] for one in post(served.url, *(item(f"\\boxed{{{at}}}", group) for at in "56"))] == [1, 0]


def test_a_member_that_failed_for_a_temporary_reason_is_judged_anew(judged: Served, grader: Grader) -> None:
    """Alone or with the others, who keep their numbers."""
    group = {"id": name(), "size": 3, "wait_s": PATIENCE_S, "method": "tournament", "tournament": {"pairs": "all"}}
    members = [
        {"verifier": "judge", "prompt": "p", "response": text, "group": {**group, "member": at}}
        for at, text in enumerate(("x", "xxx", "xx of poison"))
    ]
    grader.reset()
    grader.trouble = lambda number: (503, "down") if "poison" in grader.prompts[number - 1] else None
    first = post(judged.url, *members)
    assert [one["reward"] for one in first] == [-1, 1, None]
    grader.reset()
    [alone] = post(judged.url, members[2])
    assert (alone["reward"], alone["detail"]["group"]["missing"]) == (1, 0)
    assert [one["reward"] for one in post(judged.url, *members)] == [-1, 1, 1]


def test_a_group_that_nobody_was_rewarded_in_is_forgotten(served: Any) -> None:
    group = {"id": name(), "size": 2, "on_incomplete": "fail"}
    one, other = (item("\\boxed{1}", {**group, "member": at}) for at in range(2))
    [late] = post(served.url, {**one, "group": {**one["group"], "wait_s": 0.2}})
    assert late["reason"] == "group_incomplete"
    again = ({**sent, "group": {**sent["group"], "wait_s": PATIENCE_S}} for sent in (one, other))
    assert [found["reward"] for found in post(served.url, *again)] == [1, 1]


def test_a_prompt_names_the_group(served: Any) -> None:
    prompt = name()
    for _ in range(2):  # the second group of the prompt is another one
        calls = [
            lambda response=response: post(
                served.url, item(response, {"size": 3, "wait_s": PATIENCE_S}, prompt=prompt)
            )[0]
            for response in HALVES
        ]
        assert [one["reward"] for one in together(*calls)] == [1, 0, 1]


def test_a_group_belongs_to_its_run(served: Any) -> None:
    """Each of two runs has a group of one id, a number, whose members come in turns."""
    group = {"id": next(_names), "size": 2, "wait_s": PATIENCE_S}

    def sent(run: str, at: int, answer: str) -> list[JSON]:
        body = {"run_id": run, "items": [item(answer, {**group, "member": at})], "deadline_s": PATIENCE_S}
        results: list[JSON] = httpx.post(f"{served.url}/v1/score", json=body, timeout=2 * PATIENCE_S).json()["results"]
        return results

    pairs = itertools.product((0, 1), (("a", "\\boxed{4}"), ("b", "\\boxed{5}"), ("a/b", "\\boxed{6}")))
    results = together(*(partial(sent, run, at, answer) for at, (run, answer) in pairs))
    assert [one["reward"] for [one] in results] == [1] * 6


def test_replicas_of_two_releases_name_a_group_alike() -> None:
    """Else its members would not meet while an upgrade runs, and neither would those of a prompt if what nobody says of them
    were part of its name: a release may know more options.
    """
    by_id = _arrival({"id": "step12/p7", "member": 3})
    assert by_id.name(0) == "55b022216ce730cc57b51dd962f5c587560b70a875e7e7e5"
    assert by_id.body == (
        b'{"item":{"response":"\\\\boxed{4}","verifier":"math"},'
        b'"group":{"method":"majority","size":4,"id":"step12/p7","member":3}}'
    )
    by_prompt = _arrival({"terms": {"length": 0.5}}, prompt="2 + 2?")
    assert by_prompt.digest == "c383601a0cfcaff7d0ccad971d35e23941dea3ec0f384aa8"
    assert (
        by_prompt.digest == _arrival({"terms": {"length": 0.5, "style": 0.0}, "majority": {}}, prompt="2 + 2?").digest
    )
    assert by_prompt.digest != _arrival({"terms": {"length": 0.4}}, prompt="2 + 2?").digest


def _arrival(group: JSON, **fields: Any) -> Arrival:
    body = item("\\boxed{4}", {"size": 4, **group}, **fields)
    group_json = msgspec.Raw(msgspec.json.encode(body.pop("group")))
    return Arrival.of(ScoreItem(**body, group=group_json), {}, "unnamed")


def test_members_that_never_came_count_for_the_share(served: Any) -> None:
    group = {"id": name(), "size": 4, "wait_s": 0.5, "majority": {"min_share": 0.6}}
    results = post(served.url, *(item(text, group, id=str(at)) for at, text in enumerate(HALVES)))
    assert {(one["status"], one["reason"]) for one in results} == {("failed", "no_majority")}
    assert {one["detail"]["group"]["share"] for one in results} == {0.5}


def test_a_group_that_makes_no_sense_is_told_by_its_field(served: Any) -> None:
    found = post(served.url, *(item("x", {"size": 2, "id": "x", **fields}) for fields in ({"id": 0.5}, {"sice": 1})))
    messages = [one["detail"]["message"] for one in found]
    assert messages == [
        "group.id: must be a whole number or a text; it is a number",
        "group.sice: unknown field `sice`",
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"group": {"id": "x"}}, "bad_group"),
        ({"group": {"size": 1, "id": "x", "nosuch": 1}}, "bad_group"),
        ({"group": {"size": 2}}, "bad_group"),
        ({"group": {"size": 2, "id": "x"}, "tag": "deepmath_103k", "verifier": None}, "bad_group"),
    ],
)
def test_a_group_that_makes_no_sense_is_invalid(served: Any, fields: JSON, reason: str) -> None:
    body = {"verifier": "math", "response": "\\boxed{1}", **fields}
    [found] = post(served.url, {name: value for name, value in body.items() if value is not None})
    assert (found["status"], found["reason"]) == ("invalid", reason)


def test_members_must_agree_on_their_group(served: Any) -> None:
    group = {"id": name(), "size": 2, "wait_s": 0.5, "majority": {"on_tie": "first"}}
    [first, second] = post(
        served.url, item("\\boxed{1}", group, id="a"), item("\\boxed{1}", {**group, "size": 3}, id="b")
    )
    assert {first["status"], second["status"]} == {"ok", "invalid"}
    assert {first["reason"], second["reason"]} == {"majority", "group_mismatch"}


def test_scores_are_grouped_too(served: Any) -> None:
    group = {"id": name(), "size": 2, "method": "score", "terms": {"length": 1.0}, "wait_s": PATIENCE_S}
    results = each_alone([served.url], ["\\boxed{1}", "so \\boxed{1}"], group, reference="1")
    assert [one["reward"] for one in results] == [1.5, 0.5]
    assert [one["score"] for one in results] == [1, 1]


RECIPES = """
recipes:
  short: {checks: [{verifier: math}], group: {size: 2, terms: {length: 1.0}}}
  named: {checks: [{verifier: math}], group: {terms: {length: 1.0}}}
  ranked: {checks: [{verifier: math}], group: {terms: {length: 1.0}, advantages: {method: dr_grpo}}}
  below: {checks: [{verifier: math, scale: pm1}], aggregate: additive, group: {terms: {diversity: {by: ngrams}}}}
  misspelt: {checks: [{verifier: math}], group: {terms: {lenght: 1.0}}}
"""


@pytest.mark.contract
def test_a_recipe_says_how_its_items_are_rewarded_together(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recipes.yaml"
    file.write_text(RECIPES)
    url = serve(recipes_file=str(file), workers="1").url
    texts = ("\\boxed{1}", "so \\boxed{1}")
    items: list[JSON] = [{"recipe": "short", "reference": "1", "prompt": "p", "response": text} for text in texts]
    assert [one["reward"] for one in post(url, *items)] == [1.5, 0.5]
    group = {"id": name(), "size": 2, "terms": {"length": 0.5}}
    named = [{**one, "recipe": "named", "group": group} for one in items]
    assert [one["reward"] for one in post(url, *named)] == [1.25, 0.75]
    assert post(url, {**items[0], "recipe": "named"})[0]["reward"] == 1

    whole: JSON = {"reference": "1", "responses": list(texts)}
    groups: list[JSON] = [
        {**whole, "recipe": "short", "id": "s"},
        {**whole, "verifier": "math"},
        {**whole, "recipe": "named"},
    ]
    reply = httpx.post(f"{url}/v1/groups/score", json={"groups": groups}, timeout=PATIENCE_S).json()
    assert [group["id"] for group in reply["groups"]] == ["s", 1, 2]
    assert [[one["reward"] for one in group["members"]] for group in reply["groups"]] == [
        [1.5, 0.5],
        [1, 1],
        [1.5, 0.5],
    ]
    assert (reply["summary"]["groups"], reply["summary"]["ok"]) == (3, 6)
    own = {"groups": groups, "terms": {"length": 0.5}}
    reply = httpx.post(f"{url}/v1/groups/score", json=own, timeout=PATIENCE_S).json()
    assert [one["reward"] for one in reply["groups"][0]["members"]] == [1.25, 0.75]
    ranked = {"groups": [{**whole, "recipe": "ranked"}], "terms": {"length": 0.5}}
    [group] = httpx.post(f"{url}/v1/groups/score", json=ranked, timeout=PATIENCE_S).json()["groups"]
    assert [(one["reward"], one["advantage"]) for one in group["members"]] == [(1.25, 0.25), (0.75, -0.25)]
    wrong = {"groups": [{"reference": "1", "responses": ["\\boxed{2}"] * 2, "recipe": "below"}]}
    [group] = httpx.post(f"{url}/v1/groups/score", json=wrong, timeout=PATIENCE_S).json()["groups"]
    assert [(one["reward"], one["score"]) for one in group["members"]] == [(-1, 0)] * 2  # copies are no better
    one = {"recipe": "below", "reference": "1", "prompt": "q", "response": "\\boxed{2}", "group": {"size": 1}}
    assert [check["verifier"] for check in post(url, one)[0]["checks"]] == ["math"]
    refusal = httpx.post(
        f"{url}/v1/groups/score", json={"groups": [{**whole, "recipe": "misspelt"}]}, timeout=PATIENCE_S
    )
    assert (refusal.status_code, "recipe misspelt: group: " in refusal.json()["detail"]) == (400, True)


def test_replicas_answer_one_group(serve: Serve, redis_server: RedisServer) -> None:
    urls = [serve(redis_url=redis_server.url, workers="1").url for _ in range(2)]
    results = each_alone(urls, HALVES, {"id": name(), "size": 3, "wait_s": PATIENCE_S})
    assert [one["reward"] for one in results] == [1, 0, 1]
    assert {str(one["detail"]["group"]) for one in results} == {str(results[0]["detail"]["group"])}


@pytest.mark.contract
def test_members_outwait_a_redis_that_does_not_answer(serve: Serve, redis_server: RedisServer) -> None:
    """A burst of members, or a busy machine, may make a call late: no member fails for that before its own deadline."""
    served = serve(redis_url=redis_server.url, workers="1")
    group = {"id": name(), "size": 3, "wait_s": PATIENCE_S}
    redis_server.kill()
    [late] = post(served.url, item(HALVES[0], {**group, "member": 0}), deadline_s=0.3)
    assert (late["status"], late["reason"]) == ("failed", "group_unavailable")
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(each_alone, [served.url], HALVES, group)
        eventually(lambda: served.log.read_text().count("groups: Redis at") > len(HALVES) + 1)
        redis_server.start()
        assert [one["reward"] for one in waiting.result()] == [1, 0, 1]


def _other_kind(client: redis.Redis, key: bytes) -> None:
    client.delete(key)
    client.set(key, b"5")


DAMAGES: tuple[Callable[[redis.Redis, Any], Any], ...] = (
    lambda client, key: client.delete(key),
    _other_kind,
    lambda client, key: client.hset(key, "plan", b"-1e999"),
    lambda client, key: client.hset(key, "plan", b'{"a":' * 2_000 + b"1" + b"}" * 2_000),
    lambda client, key: client.hset(key, "answer", b'{"results":{}}'),
    lambda client, key: client.hset(key, "plan", b'{"size":2,"digest":"","until":9e9,"members":["0"]}'),
    lambda client, key: client.hset(key, "m0", b"\xff\x00"),
)


@pytest.mark.contract
def test_members_of_a_damaged_record_are_told_that_it_is_lost(serve: Serve, redis_server: RedisServer) -> None:
    url = serve(redis_url=redis_server.url, workers="1").url
    client = redis.Redis(port=redis_server.port)
    for damage in DAMAGES:
        client.flushall()
        with ThreadPoolExecutor(1) as threads:
            group = {"id": name(), "size": 2, "wait_s": PATIENCE_S}
            first = threads.submit(post, url, item(HALVES[0], {**group, "member": 0}))
            eventually(lambda: client.keys("*grp:*"))
            [key] = client.keys("*grp:*")
            damage(client, key)
            if damage is DAMAGES[-1]:  # read when the group is whole
                post(url, item(HALVES[2], {**group, "member": 1}))
            [lost] = first.result()
        assert (lost["status"], lost["reason"], lost["score"]) == ("failed", "group_lost", None)


@pytest.mark.chaos
def test_no_group_is_lost_or_answered_twice_when_a_replica_and_redis_die(
    serve: Serve, redis_server: RedisServer
) -> None:
    """12 groups of 8 fill over two replicas; one is killed, and Redis with all it knew. Members are sent until they have
    a number, as a trainer's client does.
    """
    replicas = [serve(redis_url=redis_server.url, workers="1") for _ in range(2)]
    groups, size = [name() for _ in range(12)], 8
    half = threading.Semaphore(0)
    chance = random.Random(53)

    def filled(group: str, at: int) -> JSON:
        response = f"\\boxed{{{at % 3}}}"  # 0 and 1 three times each, 2 twice
        body = {"id": group, "size": size, "member": at, "wait_s": 600, "majority": {"on_tie": "first"}}
        half.release()
        while True:
            try:
                [found] = post(chance.choice(replicas).url, item(response, body), deadline_s=3)
            except httpx.HTTPError:
                continue
            if found["status"] == "ok":
                return found

    members = [(group, at) for group in groups for at in range(size)]
    chance.shuffle(members)
    with ThreadPoolExecutor(len(members)) as threads:
        sent = {each: threads.submit(filled, *each) for each in members[: len(members) // 2]}
        for _ in sent:
            half.acquire()
        replicas.pop().process.kill()
        redis_server.kill()
        redis_server.start()
        sent |= {each: threads.submit(filled, *each) for each in members[len(members) // 2 :]}
        found = {each: future.result() for each, future in sent.items()}
    for group in groups:
        results = [found[group, at] for at in range(size)]
        about = results[0]["detail"]["group"]
        assert all(one["detail"]["group"] == about for one in results)
        assert sorted(about["members"], key=int) == [str(at) for at in range(size)]
        assert about["missing"] == 0
        [winner] = {at % 3 for at in range(size) if results[at]["reward"] == 1}
        assert [one["reward"] for one in results] == [float(at % 3 == winner) for at in range(size)]


def voting(prompts: int, size: int = 4) -> list[JSON]:
    """The samples of prompts, one of each in turn; each prompt comes twice. Of the second group, the last disagrees."""
    return [
        {
            "verifier": "math",
            "response": f"\\boxed{{{prompt + (sample == 2 * size - 1)}}}",
            "prompt": f"{prompt}?",
            "group": {"size": size, "method": "majority", "wait_s": 3600},
        }
        for sample in range(2 * size)
        for prompt in range(prompts)
    ]


def job(served: Any, items: list[JSON]) -> JSON:
    posted = httpx.post(f"{served.url}/v1/jobs", json={"items": items, "cache": "off"}, timeout=PATIENCE_S)
    assert posted.status_code == 202, posted.text
    reply = httpx.get(f"{served.url}/v1/jobs/{posted.json()['job_id']}", params={"wait_s": 60}, timeout=PATIENCE_S)
    body: JSON = reply.json()
    return body


def test_a_job_takes_members_of_groups(served: Any) -> None:
    """They lie far apart, so that slices of the job would divide every group; and the groups are the job's own."""
    alone = {"verifier": "math", "response": "\\boxed{1}", "reference": "1"}
    unnamed = {"verifier": "math", "response": "\\boxed{1}", "group": {"size": 2}}
    for _ in range(2):
        body = job(served, [alone, *voting(70), unnamed])
        assert body["state"] == "done"
        results = sorted(body["results"], key=lambda result: int(result["index"]))
        assert results[0]["reward"] == 1
        assert [result["reward"] for result in results[1:-1]] == [1.0] * 490 + [0.0] * 70
        assert (results[-1]["status"], results[-1]["reason"]) == ("invalid", "bad_group")


@pytest.mark.contract
@table(
    ("members", "expected"),
    [
        ([(0, 2, "4"), (0, 2, "5"), (1, 2, "4")], [1, "group_mismatch", 1]),
        ([(0, 2, "4"), (0, 2, "4"), (1, 2, "4")], [1, 1, 1]),
        ([(0, 2, "4"), (1, 2, "5"), (1, 2, "5"), (0, 2, "4")], ["no_majority"] * 4),
        ([(0, 2, "4"), (1, 2, "4"), (2, 2, "5"), (3, 2, "5")], [1, 1, "group_over", "group_over"]),
        ([(0, 2, "4"), (1, 3, "4"), (1, 2, "4")], [1, "group_mismatch", 1]),
        ([(None, 2, "4"), (None, 2, "4"), (None, 2, "5")], [1, 1, "group_over"]),
    ],
)
def test_members_of_a_job_are_told_apart_as_single_ones_are(
    served: Any, members: list[tuple[int | None, int, str]], expected: list[float | str]
) -> None:
    """The same items by /v1/score have the same verdicts."""
    items = []
    group_id = name()
    for member, size, answer in members:
        group = {"id": group_id, "size": size, "wait_s": PATIENCE_S}
        items.append(item(f"\\boxed{{{answer}}}", group if member is None else {**group, "member": member}))
    results = sorted(job(served, items)["results"], key=lambda result: int(result["index"]))
    assert [one["reason"] if one["reward"] is None else one["reward"] for one in results] == expected
    single = [one["reason"] if one["reward"] is None else one["reward"] for one in post(served.url, *items)]
    assert Counter(single) == Counter(expected)  # who comes first is not said
