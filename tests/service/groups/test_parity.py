"""Numbers that the originals' own functions gave, recorded: tests/data/README.md says from which releases."""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import httpx
import msgspec
import pytest

from service.doors.compat.nemo_gym_groups import Comparison, compare
from service.doors.compat.request_options import RequestOptions
from service.groups import tournament
from service.groups.pairings import fixed
from service.groups.ratings import Game, rate
from service.groups.schemas import Group, GroupOptions
from service.groups.scoring import GroupScorer
from service.groups.shown import shown
from service.groups.terms import novelty
from service.wire import ScoreItem
from tests.conftest import ROOT, Served
from tests.judge_upstream.grader import Grader
from tests.service.advantages.test_advantages import of
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
DATA: Path = ROOT / "tests" / "data" / "groups"
COMPARE = "/compat/nemo_gym/genrm_compare/compare"
VERIFY = "/compat/nemo_gym/genrm_compare/verify"


def recorded(name: str) -> list[JSON]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def text_of(response: JSON) -> str:
    return str(response["output"][-1]["content"][0]["text"])


def scripted(grader: Grader, row: JSON) -> None:
    """Have the judge say what it said about each pair."""
    texts = [text_of(each) for each in row["response_objs"]]
    count = len(texts)
    circle = [(at, (at + 1) % count) for at in range(count)]
    every = [(first, second) for first in range(count) for second in range(first + 1, count)]
    pairs = circle if row["strategy"] == "circular" else every
    said = {(texts[i], texts[j]): output for (i, j), output in zip(pairs, row["outputs"], strict=True)}
    grader.answer = lambda sections: said[sections["RESPONSE_A"].strip(), sections["RESPONSE_B"].strip()]


@pytest.mark.contract
def test_compare_rewards_as_genrm_compare_does(judged: Served, grader: Grader) -> None:
    for row in recorded("genrm_compare"):
        scripted(grader, row)
        group = {
            "tournament": {"pairs": {"circular": "circular", "all_pairs": "all"}[row["strategy"]]},
            "terms": {
                "reasoning_length": row["group_reasoning_length_penalty_coeff"],
                "answer_length": row["group_answer_length_penalty_coeff"],
                "style": row["group_style_penalty_coeff"],
            },
        }
        body = {"conversation_history": [{"role": "user", "content": "q"}], "response_objs": row["response_objs"]}
        options = {"cache": "off", "group": json.dumps(group)}
        reply = httpx.post(f"{judged.url}{COMPARE}", params=options, json=body, timeout=PATIENCE_S)
        assert reply.status_code == 200, reply.text
        assert reply.json()["rewards"] == pytest.approx(row["rewards"], abs=1e-9)
        assert "user: q" not in grader.prompts[-1]  # a question stands as it is
        assert reply.json()["metrics"] == pytest.approx({**row["metrics"], "dropped_comparisons": 0})


@pytest.mark.parametrize("door", ["compare", "verify", "score", "jobs"])
def test_a_judge_is_asked_again_where_the_request_takes_nothing_from_memory(
    judged: Served, grader: Grader, door: str
) -> None:
    """Members that come one by one say so by the `cache` of their requests."""
    name = f"again in {door}"
    grader.answer = lambda sections: '{"score_1": 4, "score_2": 2, "ranking": 2}'
    asked = {"input": [{"role": "user", "content": name}]}
    responses = [
        {"id": str(at), "output": [{"type": "message", "content": [{"type": "output_text", "text": "x" * at}]}]}
        for at in (1, 2)
    ]
    tournament = {"method": "tournament", "tournament": {"rating": "scores", "orders": "one"}}

    def post(cache: str, step: int) -> None:
        options = {"cache": cache, "group": json.dumps({"size": 2, "wait_s": PATIENCE_S})}
        fields = {"id": f"{name} {step}", "size": 2, "wait_s": PATIENCE_S, **tournament}
        items = [{"verifier": "judge", "response": "x" * at, "prompt": name, "group": fields} for at in (1, 2)]
        with httpx.Client(base_url=judged.url, timeout=PATIENCE_S) as client, ThreadPoolExecutor() as pool:
            if door == "compare":
                body = {"conversation_history": asked["input"], "response_objs": responses}
                replies = [client.post(COMPARE, params=options, json=body)]
            elif door == "verify":
                rows = [{"responses_create_params": asked, "response": response} for response in responses]
                replies = [*pool.map(lambda row: client.post(VERIFY, params=options, json=row), rows)]
            else:
                body = {"items": items, "cache": cache}
                replies = [client.post(f"/v1/{door}", json=body)]
                if door == "jobs":
                    url = f"/v1/jobs/{replies[0].json()['job_id']}"
                    replies.append(client.get(url, params={"wait_s": PATIENCE_S}))
        assert {reply.is_success for reply in replies} == {True}, replies[-1].text

    counts = []
    for step, cache in enumerate(("use", "use", "off")):
        before = grader.calls.total()
        post(cache, step)
        counts.append(grader.calls.total() - before)
    assert counts == [2, 0, 2]


def test_compare_has_no_number_for_what_the_judge_did_not_compare(judged: Served, grader: Grader) -> None:
    row = recorded("genrm_compare")[0]
    grader.answer = lambda sections: "I cannot decide."
    body = {"conversation_history": [], "response_objs": row["response_objs"]}
    options = {"cache": "off", "deadline_s": "20"}
    reply = httpx.post(f"{judged.url}{COMPARE}", params=options, json=body, timeout=PATIENCE_S)
    assert (reply.status_code, "judge_unparseable" in reply.text) == (503, True)
    alone = {**body, "response_objs": row["response_objs"][:1]}
    assert httpx.post(f"{judged.url}{COMPARE}", json=alone, timeout=PATIENCE_S).status_code == 422


async def test_a_cohort_is_verified_when_it_is_whole_and_the_next_one_after_it(judged: Served, grader: Grader) -> None:
    """As NeMo-Gym's rollout collection posts them: one row for each rollout, all at once."""

    def row(epoch: int, at: int, text: str, **fields: Any) -> JSON:
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        asked = {"input": [{"role": "user", "content": "Which is best?"}]}
        known = {"_ng_task_index": 5, "_ng_rollout_index": at}
        response = {"id": f"resp-{epoch}-{at}", "output": [said]}
        return {"responses_create_params": asked, "response": response, **known, **fields}

    def scores(sections: JSON) -> str:
        first, second = (len(sections[name].strip()) for name in ("RESPONSE_A", "RESPONSE_B"))
        return json.dumps({"score_1": first, "score_2": second, "ranking": 3})

    grader.answer = scores
    async with httpx.AsyncClient(base_url=judged.url, timeout=PATIENCE_S) as client:

        async def rewards(path: str, group: JSON, rows: list[JSON]) -> list[float]:
            options = {"cache": "off", "group": json.dumps(group)}
            calls = [client.post(path, params=options, json=each) for each in rows]
            replies = await asyncio.gather(*calls)
            assert {each.status_code for each in replies} == {200}, replies[0].text
            return [each.json()["reward"] for each in replies]

        for epoch in range(2):
            cohort = [row(epoch, at, "x" * (at + 1)) for at in range(3)]
            assert await rewards(VERIFY, {"size": 3}, cohort) == [1, 2, 3]
        same = [
            {**each, "response": {**each["response"], "id": "r"}}
            for each in (row(5, at, "x" * (at + 1)) for at in range(3))
        ]
        assert await rewards(VERIFY, {"size": 3}, same) == [1, 2, 3]  # the original does not read the id
        votes = [row(9, at, f"\\boxed{{{text}}}") for at, text in enumerate(("1/2", "3", "0.5"))]
        path = "/compat/nemo_gym/math_with_judge/verify"
        assert await rewards(path, {"size": 3, "method": "majority"}, votes) == [1, 0, 1]
        for options in ({}, {"group": "3"}, {"group": '{"nosuch": 1}'}):
            refused = await client.post(VERIFY, params=options, json=votes[0])
            assert refused.status_code == 422


def test_the_lead_of_the_best_is_verls() -> None:
    for row in recorded("verl_grpo_passk"):
        options = {"preset": "verl", "method": "grpo_passk", **({} if row["scaled"] else {"scale": "none"})}
        assert of(row["rewards"], options).advantages == pytest.approx(
            row["advantages"], abs=1e-6
        )  # of single precision


def test_novelty_is_darlings() -> None:
    for row in recorded("darling_ngram"):
        assert novelty(row["texts"], row["n"]) == pytest.approx(row["rewards"])


def test_wins_less_losses_in_chunks_are_tinkers() -> None:
    """1 says there that the second is better. A response that a chunk leaves over has 0 there; here no chunk does."""
    for row in recorded("tinker_win_loss"):
        pairs = [(first, second) for first, second in row["pairs"]]
        if not row["both_ways"] and row["count"] % row["chunk"] != 1:
            assert fixed("all", row["count"], chunk=row["chunk"]) == pairs
        games = [Game(*pair, (1 - result) / 2) for pair, result in zip(pairs, row["results"], strict=True)]
        assert rate("win_loss", row["count"], games) == pytest.approx(row["rewards"])


class Asked(Exception):
    """Holds what a judge was asked."""


class Playing:
    """Plays tournaments up to their first question."""

    async def score(self, groups: Sequence[Group], options: GroupOptions, deadline: float) -> NoReturn:
        async def judge(items: Sequence[ScoreItem]) -> NoReturn:
            raise Asked(msgspec.json.decode(items[0].params))

        views = [shown(group) for group in groups]
        await tournament.play(groups, views, options.tournament, judge, options.seed)
        raise AssertionError("no judge was asked")


def test_the_history_and_the_principle_of_compare_reach_the_judge() -> None:
    history = [{"role": "system", "content": "S"}, {"role": "user", "content": [{"type": "input_text", "text": "PX"}]}]
    responses = recorded("genrm_compare")[0]["response_objs"]
    body = {"conversation_history": history, "response_objs": responses, "principle": "Be kind."}
    scorer, options = cast(GroupScorer, Playing()), cast(RequestOptions, SimpleNamespace(fields=dict, cache="use"))
    with pytest.raises(Asked) as asked:
        asyncio.run(compare(scorer, msgspec.convert(body, Comparison), options, msgspec.UNSET, 0.0))
    params = asked.value.args[0]
    assert params["principle"] == "Be kind."
    assert params["history"] == [history[0], {"role": "user", "content": "PX"}]
