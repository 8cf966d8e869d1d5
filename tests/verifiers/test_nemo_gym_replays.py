"""Recorded words of a judge count for the response that they are about, and for no other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from service.doors.compat.nemo_gym_servers import fields_of
from tests.tables import table
from verifiers.base import Item
from verifiers.nemo_gym import NeMoGymParams, judge, replays
from verifiers.nemo_gym.rollouts import FENCE, last_box

JSON = dict[str, Any]
_LINES = (Path(__file__).parents[1] / "data" / "nemo_gym" / "rollouts.jsonl").read_text().splitlines()
ROLLOUTS = [rollout for rollout in map(json.loads, _LINES) if rollout["server"] in replays.SERVERS]
INDEXES = range(len(ROLLOUTS))


def reward(server: str, row: JSON, response: str) -> float | None:
    fields = fields_of(server, row, has_judges=False)
    return judge(
        Item(response, NeMoGymParams.model_validate(fields["params"] | {"reference": fields["reference"]}))
    ).score


def text_of(row: JSON) -> str:
    """What the model wrote, with its thoughts."""
    if "response" not in row:
        return str(row["policy_response"])
    return "".join(
        part["text"] for message in row["response"]["output"] for part in message.get("content") or [] if "text" in part
    )


def words_of(value: Any) -> set[str]:
    """The texts and words in a value, and its keys."""
    if isinstance(value, dict):
        return set().union(*map(words_of, value.values()), value)
    if isinstance(value, list):
        return set().union(*map(words_of, value))
    text = str(value)
    return {text, *text.split(), *text.splitlines(), *text.split("\n\n")}


def answers(text: str) -> set[str]:
    """The ways to give the answer of a response anew: as a whole, after the thoughts, and as its box, fence, tag or last
    line alone.
    """
    spoken = text.rpartition("</think>")[2].strip()
    content = last_box(spoken)
    boxes = [] if content is None else [content, f"\\boxed{{{content}}}"]
    fenced = FENCE.findall(spoken)
    last_line = spoken.rpartition("\n")[2].strip("*")
    tagged = re.findall(r"^<(\w+)>(.*)</\1>$", last_line)
    return {
        each.strip().rstrip(".") for each in (text, spoken, last_line, *fenced, *boxes, *(part for _, part in tagged))
    }


@table(("severity", "score"), [(10**400, None), (1e308, None), (-1.0, None), (2.0, 0.5)])
def test_severities_that_are_no_weights_are_refused(severity: float, score: float | None) -> None:
    judgements = [{"severity": severity, "score": is_met, "must_pass": False} for is_met in (True, False)]
    fields = {"server": "finance_agent_v2", "reference": {"replay": True, "rubric_judgements": judgements}}
    assert judge(Item("a", NeMoGymParams.model_validate(fields))).score == score


OTHER_PROMPT = "Grade this.\n\nANSWER: {}\n\nEND"


@table(
    ("recorded", "asked", "response", "score"),
    [
        ("The sun.", "The sun.", "The sun.", 1.0),
        ("The sun.", "The sun.", "sun", None),
        ("The sun.", "The moon.", "The sun.", None),
        ("sun", "sunny", "sun", None),
        (None, "The sun.", "The sun.", None),
        ("", "The sun.", "", None),
    ],
)
def test_in_a_prompt_of_ones_own_the_recorded_answer_must_stand(
    recorded: str | None, asked: str, response: str, score: float | None
) -> None:
    words = {"output": [{"content": [{"text": "[[A=B]]"}]}]}
    request = {"input": [{"role": "user", "content": [{"type": "input_text", "text": OTHER_PROMPT.format(asked)}]}]}
    row = {"judge_evaluations": [{"responses_create_params": request, "response": words}], "extracted_answer": recorded}
    assert reward("labbench2_vlm", row, response) == score


@table("index", INDEXES)
def test_words_about_a_response_are_not_replayed_for_another(index: int) -> None:
    server, row = ROLLOUTS[index]["server"], ROLLOUTS[index]["row"]
    text = text_of(row)
    own = answers(text)
    assert reward(server, row, text) == pytest.approx(row["reward"])
    others = words_of({name: value for name, value in row.items() if name != "response"})
    others |= {text[:size] for size in range(1, len(text), 1 + len(text) // 100)}
    others |= {text[size:] for size in range(1, len(text), 1 + len(text) // 100)}
    others |= {f"{text} {word}" for word in ("Yes", "not", "1")} | {f"{word} {text}" for word in ("Not", "It is", "1")}
    others |= {"{", "null", "input", "A", '"', "\\boxed{}", "GOLD", "June", "the", "1", "SELECT", "harmful"}
    others = {other for other in others if not {other.strip().rstrip("."), *answers(other)} & own}
    judged = {other: score for other in others if (score := reward(server, row, other)) is not None}
    unanswered = row.get("extracted_answer") == ""
    assert not {other for other, score in judged.items() if "[IDK]" not in other and not (unanswered and score == 0)}
