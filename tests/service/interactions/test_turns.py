"""What turns come to, what is said after them, and how bodies are read: all of it pure."""

import json
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import BadRequest, Unprocessable
from service.interactions.feedback import DEFAULTS, giveaway
from service.interactions.schemas import Language, Options, Templates, Trajectory, decode_creation, decode_turn
from service.interactions.turns import Judged, Plan, Progress, Turn, after_turn, trajectory_score, view
from tests.tables import table

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def options(**fields: Any) -> Options:
    return msgspec.convert(fields, Options)


def judged(reward: float, reason: str = "some_reason") -> Judged:
    return Judged(min(max(reward, 0.0), 1.0), reward, reason, None, None, None, None, None)


@table(
    ("fields", "rewards", "score"),
    [
        ({}, [0.0, 0.5, 0.25], 0.25),
        ({"trajectory": "last"}, [1.0, 0.0], 0.0),
        ({"trajectory": "max"}, [-1.0, 0.5, 0.25], 0.5),
        ({"trajectory": "max"}, [-1.0, -0.5], -0.5),
        ({"trajectory": "sum"}, [-1.0, 0.5, 0.25], -0.25),
        ({"trajectory": "sum"}, [1e308, 1e308], 1.7976931348623157e308),
        ({"trajectory": "discounted", "gamma": 0.5}, [1.0], 1.0),
        ({"trajectory": "discounted", "gamma": 0.5}, [0.0, 0.0, 1.0], 0.25),
        ({"trajectory": "discounted", "gamma": 0.5, "success_threshold": 0.6}, [0.0, 0.7], 0.5),
        ({"trajectory": "discounted", "gamma": 0.5}, [0.0, 0.9], 0.0),
        # Gsm8kTool.execute: 0 if the reward exceeds the one before (0 at first), else -0.05.
        ({"trajectory": "improving"}, [1.0], 1.0),
        ({"trajectory": "improving"}, [0.0, 1.0], 0.95),
        ({"trajectory": "improving"}, [0.0, 0.0, 0.0], -0.15),
        ({"trajectory": "improving"}, [0.3, 0.2, 0.9], 0.85),
        ({"trajectory": "improving", "penalty": 0.5}, [0.3, 0.3], -0.2),
    ],
)
def test_what_the_turns_come_to(fields: dict[str, Any], rewards: list[float], score: float) -> None:
    turns = [Turn(0.0, reward, "x") for reward in rewards]
    assert trajectory_score(options(**fields), turns) == pytest.approx(score)


def test_turns_that_were_judged_by_other_versions_are_said() -> None:
    wanted, progress = options(max_turns=5), Progress()
    mixed = []
    for edition in ("a", "a", "b", "b"):
        progress, answer = after_turn(wanted, progress, judged(0.0), edition)
        mixed.append(answer.info.mixed_versions)
    assert mixed == [False, False, True, True]
    shown = view("name", Plan(wanted, 1.0, {}), progress)
    assert shown.mixed_versions is True
    first = Progress("open", progress.turns[:2])
    assert b"mixed_versions" not in msgspec.json.encode(view("name", Plan(wanted, 1.0, {}), first))


def test_turns_of_a_release_that_kept_no_edition_are_read() -> None:
    old = msgspec.json.decode(b'{"state":"open","turns":[[0.5,0.5,"x"]]}', type=Progress)
    assert old.turns == (Turn(0.5, 0.5, "x"),)
    assert not old.is_mixed


@table("mode", get_args(Trajectory))
def test_no_turns_come_to_nothing(mode: str) -> None:
    assert trajectory_score(options(trajectory=mode), []) is None


@given(st.lists(FINITE, min_size=1, max_size=8), st.integers(1, 8), FINITE, st.sampled_from(get_args(Trajectory)))
def test_it_ends_with_the_first_success_or_the_last_turn_and_not_before(
    rewards: list[float], max_turns: int, threshold: float, mode: str
) -> None:
    plan = options(max_turns=max_turns, success_threshold=threshold, trajectory=mode)
    progress = Progress()
    for count, reward in enumerate(rewards, 1):
        progress, answer = after_turn(plan, progress, judged(reward))
        solved = reward >= threshold
        assert answer.should_terminate == (solved or count == max_turns)
        assert progress.state == ("solved" if solved else "exhausted" if count == max_turns else "open")
        assert (answer.turn, answer.reward) == (count, reward)
        assert b"null" not in msgspec.json.encode(answer.trajectory_score)
        assert msgspec.json.decode(msgspec.json.encode(progress), type=Progress) == progress
        if answer.should_terminate:
            break


def spoken(feedback: dict[str, str], *rewards: float, reason: str = "some_reason", **more: Any) -> str:
    plan = options(feedback=feedback, **more)
    progress, text = Progress(), ""
    for reward in rewards:
        progress, answer = after_turn(plan, progress, judged(reward, reason))
        text = answer.response
    return text


@table("language", get_args(Language))
def test_each_language_says_something_else_for_each_outcome(language: Language) -> None:
    texts = [
        spoken({}, 1.0, language=language),
        spoken({}, 0.0, language=language),
        spoken({}, 0.0, language=language, reason="no_answer"),
        spoken({}, 0.0, language=language, max_turns=1),
    ]
    defaults = DEFAULTS[language]
    assert texts == [defaults.correct, defaults.incorrect, defaults.no_answer, defaults.exhausted]
    assert len(set(texts)) == 4


def test_names_are_replaced_once_and_all_else_stands() -> None:
    text = "{turn}/{max_turns} {turns_left} {score} {reward} {reason} {other} \\boxed{} {{turn}} {turn.__class__} %s"
    said = spoken({"incorrect": text}, 0.0, 0.25, reason="{turn}")
    assert said == "2/3 1 0.25 0.25 {turn} {other} \\boxed{} {2} {turn.__class__} %s"


def test_ones_own_incorrect_also_stands_for_its_special_cases() -> None:
    own = {"incorrect": "mine"}
    assert spoken(own, 0.0, reason="no_answer") == spoken(own, 0.0, max_turns=1) == "mine"
    assert spoken({**own, "exhausted": "over"}, 0.0, max_turns=1) == "over"
    assert spoken({"correct": "mine"}, 0.0) == DEFAULTS["en"].incorrect


@table(
    ("text", "reference", "is_told"),
    [
        ("No: 56.", "56", True),
        ("No: 56.", 56, True),
        ("No: it is FIFTY   six!", "fifty\nsix", True),
        ("No, 156 or 565 it is not", "56", False),
        ("答案是56。", "56", True),
        ("正确答案是北京。", "北京", True),
        ("of x^2+1, say", ["7", "x^2 + 1"], True),
        ("No.", "", False),
        ("No.", None, False),
        ("No, 5.", {"final_answer": "5", "unit": "m"}, True),
        ("Write python.", {"language": "python", "case_type": "stdio"}, False),
        ("It prints hello world twice", {"test_cases": [{"expected_output": "hello world"}]}, False),
        ("It prints hello world again", {"test_cases": [{"expected_output": "hello world again\n"}]}, True),
        ("anything", "a very long reference that is in no template" * 1000, False),
    ],
)
def test_a_template_that_holds_the_reference_is_found(text: str, reference: Any, is_told: bool) -> None:
    found = giveaway(Templates(correct="well done", no_answer=text), [reference], None)
    assert found == ("no_answer" if is_told else None)


def test_what_surrounds_the_reference_is_looked_through_for_longer_texts() -> None:
    rubric = {"criteria": [{"text": "mentions photosynthesis", "weight": 1}]}
    assert giveaway(Templates(incorrect="It mentions photosynthesis?"), [None], rubric) == "incorrect"
    assert giveaway(Templates(incorrect="weight 1"), [None], rubric) is None


CREATION = {"instance_id": "a", "verifier": "math", "reference": {"b": 1, "a": [1.5]}, "query": "q", "max_turns": 2}


def test_bodies_that_mean_the_same_have_one_digest() -> None:
    def digest(**fields: Any) -> str:
        return decode_creation(json.dumps({**CREATION, **fields}).encode()).digest

    plain = decode_creation(json.dumps(CREATION).encode()).digest
    renamed = {name if name != "query" else "prompt": value for name, value in reversed(CREATION.items())}
    assert decode_creation(json.dumps(renamed, indent=2).encode()).digest == plain
    assert digest(reference={"a": [1.5], "b": 1}) == digest(instance_id="b") == plain
    assert digest(prompt="q", query=None) == digest(prompt=None) == plain
    assert len({plain, digest(reference={"b": 2}), digest(max_turns=3), digest(tag="x"), digest(query="Q")}) == 5


@table(
    ("fields", "loc"),
    [
        ({"nosuch": 1}, ["nosuch"]),
        ({"response": "x"}, ["response"]),
        ({"reference_id": "x"}, ["reference_id"]),
        ({"id": "x"}, ["id"]),
        ({"prompt": "p"}, ["query"]),
        ({"instance_id": "a/b"}, ["instance_id"]),
        ({"instance_id": "a\n"}, ["instance_id"]),
        ({"instance_id": "é"}, ["instance_id"]),
        ({"instance_id": ""}, ["instance_id"]),
        ({"instance_id": "a" * 129}, ["instance_id"]),
        ({"instance_id": 5}, ["instance_id"]),
        ({"max_turns": 0}, ["max_turns"]),
        ({"max_turns": 1001}, ["max_turns"]),
        ({"ttl_s": 0}, ["ttl_s"]),
        ({"success_threshold": None}, ["success_threshold"]),
        ({"feedback": {"wrong": "x"}}, ["feedback", "wrong"]),
        ({"feedback": {"correct": "x" * 4001}}, ["feedback", "correct"]),
        ({"trajectory": "mean"}, ["trajectory"]),
        ({"gamma": 1.5}, ["gamma"]),
        ({"language": "fr"}, ["language"]),
        ({"verifier": 5}, ["verifier"]),
    ],
)
def test_a_body_of_another_shape_is_refused_with_the_field_named(fields: dict[str, Any], loc: list[str]) -> None:
    with pytest.raises(Unprocessable) as refused:
        decode_creation(json.dumps({**CREATION, **fields}).encode())
    assert [error.loc for error in refused.value.errors] == [loc]


@table(
    "body",
    [
        b"",
        b"{",
        b'{"verifier": "math", "reference": NaN}',
        b'{"reference": "\xff"}',
        b'{"reference": "\\ud800"}',
        b'{"reference": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(BadRequest):
        decode_creation(body)


def test_one_is_an_integer_however_it_is_written() -> None:
    assert decode_turn(b'{"messages": [], "turn_index": 1.0}').index == 1


@table(
    "body",
    [
        b"[]",
        b"{}",
        b'{"messages": [], "turn_index": 1.5}',
        b'{"messages": [], "turn_index": 0}',
        b'{"messages": [1], "turn_index": 1}',
    ],
)
def test_a_turn_of_another_shape_is_refused(body: bytes) -> None:
    with pytest.raises(Unprocessable):
        decode_turn(body)
