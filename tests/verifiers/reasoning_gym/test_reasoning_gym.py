"""The verifier over real boxes."""

import asyncio
import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sandbox.boxes.absent import NoSandbox
from sandbox.workers import Workers
from tests.verifiers.found import Found
from tests.verifiers.reasoning_gym.rows import ROWS, Row, row_of
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.reasoning_gym import ReasoningGymParams, create, scoring
from verifiers.reasoning_gym.excerpts import NotInstalled
from verifiers.reasoning_gym.tasks import ALLOWED, DATASET, REFUSED

JUNK = ("", "\x00", "I do not know.", "[]", "{}", "nan", "\ud800")


def judge_all(found: Found, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Verdict]:
    entry = found.registry["reasoning_gym"]
    items = [Item(response, ReasoningGymParams.model_validate(params), None, False) for response, params in asked]
    return found.score(entry, items)


def judge(found: Found, response: str, reference: Any, **params: Any) -> Verdict:
    return judge_all(found, [(response, {"reference": reference, **params})])[0]


def test_there_is_an_entry_for_each_task() -> None:
    assert sorted(row.task for row in ROWS) == sorted(ALLOWED)


@pytest.mark.accuracy
def test_a_solution_scores_one(found: Found) -> None:
    asked = [(f"So:\n<answer>{row.solution}</answer>", {"reference": row.entry}) for row in ROWS]
    verdicts = judge_all(found, asked)
    assert [(row.task, verdict) for row, verdict in zip(ROWS, verdicts, strict=True) if verdict.score != 1.0] == []
    backwards = [(response, {"reference": json.dumps(params["reference"])}) for response, params in asked[::-1]]
    assert judge_all(found, backwards) == verdicts[::-1]


OWN = [row for row in ROWS if ALLOWED[row.task] is not DATASET] + [row_of("gcd"), row_of("syllogism"), row_of("maze")]
"""Those of scorers of their own, and some of those that share one."""


def _paid(found: Found, asked: Sequence[tuple[Row, str]]) -> list[tuple[str, str, Verdict]]:
    """Those of the answers that get more than nothing when the scorer's own score is asked for."""
    texts = [(f"<answer>{text}</answer>", {"reference": row.entry, "threshold": None}) for row, text in asked]
    verdicts = judge_all(found, texts)
    assert {verdict.status for verdict in verdicts} == {Status.OK}
    return [(row.task, text, verdict) for (row, text), verdict in zip(asked, verdicts, strict=True) if verdict.score]


@pytest.mark.accuracy
def test_nothing_and_nonsense_score_zero(found: Found) -> None:
    assert _paid(found, [(row, text) for row in OWN for text in JUNK]) == []


@pytest.mark.accuracy
def test_the_answer_among_others_scores_zero(found: Found) -> None:
    """But for those scorers that read a sequence of moves, or who is what, out of any text."""
    asked = [(row, f"{row.solution} {row.solution[::-1]}x9") for row in OWN]
    asked += [(row, f"{'yes' if row.solution != 'yes' else 'no'}; {row.solution}; 77") for row in OWN]
    paid = _paid(found, asked)
    assert {task for task, _, _ in paid} == {"knights_knaves", "quantum_lock", "rush_hour", "sokoban"}


@pytest.mark.parametrize("task", sorted(REFUSED))
def test_a_refused_task_is_named_with_what_judges_it(found: Found, task: str) -> None:
    verdict = judge(found, "1", {"answer": "1", "metadata": {"source_dataset": task}})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "task_not_allowed")
    assert REFUSED[task].why in verdict.detail["message"]
    assert REFUSED[task].instead is None or f"`{REFUSED[task].instead}`" in verdict.detail["message"]


@pytest.mark.parametrize(
    ("reference", "task", "reason"),
    [
        ({"answer": "1", "metadata": {}}, None, "no_task"),
        ({"answer": "1", "metadata": {}}, "sums", "unknown_task"),
        ({"answer": "1", "metadata": {"source_dataset": ["gcd"]}}, None, "unknown_task"),
        ({"answer": " ", "metadata": {}}, "gcd", "invalid_reference"),
        ({"answer": None, "metadata": {}}, "gcd", "invalid_reference"),
        ({"answer": 1, "metadata": {}}, "gcd", "invalid_reference"),
        ({"answer": "1"}, "gcd", "invalid_reference"),
        ("7", "gcd", "invalid_reference"),
        ("{", "gcd", "invalid_reference"),
        ("[" * 100_000, "gcd", "invalid_reference"),
        ({"answer": "1", "metadata": json.loads('{"a":' * 99 + "1" + "}" * 99)}, "gcd", "invalid_reference"),
        ({"answer": "1", "metadata": {"a": float("nan")}}, "gcd", "invalid_reference"),
        ({"answer": "1" * 1_000_001, "metadata": {}}, "gcd", "reference_too_large"),
        ({"answer": "1", "metadata": {}}, "jugs", "reference_not_accepted"),
        ({"answer": None, "metadata": {}}, "graph_color", "reference_not_accepted"),
        ({"answer": None, "metadata": {}}, "rubiks_cube", "reference_not_accepted"),
        ({"answer": "x = i", "metadata": {}}, "polynomial_equations", "reference_accepts_anything"),
        (
            {"answer": "0x1", "metadata": {"problem": "__import__('os').abort()"}},
            "bitwise_arithmetic",
            "reference_not_scored",
        ),
    ],
)
def test_what_cannot_be_judged_by_is_invalid(found: Found, reference: Any, task: str | None, reason: str) -> None:
    verdict = judge(found, "<answer>1</answer>", reference, task=task)
    assert (verdict.status, verdict.reason) == (Status.INVALID, reason), verdict
    assert verdict.detail["message"]


def test_an_entry_of_another_task_is_invalid(found: Found) -> None:
    verdicts = judge_all(
        found,
        [
            (row.solution, {"reference": row.entry, "task": "tower_of_hanoi"})
            for row in ROWS
            if row.task != "tower_of_hanoi"
        ],
    )
    assert {verdict.status for verdict in verdicts} == {Status.INVALID}


def test_rows_hold_the_entry_in_several_ways(found: Found) -> None:
    entry = row_of("chain_sum").entry
    forms: list[Any] = [
        entry,
        json.dumps(entry),
        {**entry, "metadata": json.dumps(entry["metadata"])},
        {**entry, "responses_create_params": {"input": []}, "agent_ref": {"name": "x"}},
        {"entry": entry, "index": 3},
        {"extra_info": json.dumps(entry)},
    ]
    params = [{"reference": form, "task": task} for form in forms for task in (None, "composite", "chain_sum")]
    verdicts = judge_all(found, [(f"\\boxed{{{entry['answer']}}}", each) for each in params])
    assert [verdict.score for verdict in verdicts] == [1.0] * len(params)


@pytest.mark.parametrize(
    "form", ["**Answer:** **{}**", "**{}**", "<answer>**{}**</answer>", "Final answer:\n\n**{}**."]
)
def test_bold_type_is_not_a_part_of_an_answer(found: Found, form: str) -> None:
    row = row_of("knights_knaves")
    assert judge(found, form.format(row.solution.rstrip(".")), row.entry).score == 1.0


def _with(name: str, answer: str | None = None, **metadata: Any) -> dict[str, Any]:
    entry = copy.deepcopy(row_of(name).entry)
    entry["metadata"] |= metadata
    return entry if answer is None else {**entry, "answer": answer}


@pytest.mark.parametrize(
    ("task", "entry", "answer"),
    [
        ("calendar_arithmetic", _with("calendar_arithmetic", "-1", task="recurring_event_day"), "5"),
        ("word_sorting", _with("word_sorting"), row_of("word_sorting").solution + ", zebra"),
        ("letter_jumble", _with("letter_jumble"), row_of("letter_jumble").solution + " more"),
        ("game_of_life", _with("game_of_life", "[[0, 1], [1, 0]]"), "[[0, 1, 1], [1, 0, 1]]"),
        ("figlet_font", _with("figlet_font", "abcdefghijk"), "abcdefghijklm"),
        ("spell_backward", _with("spell_backward", "olleh"), "ollehX"),
        ("isomorphic_strings", _with("isomorphic_strings", "True"), "True False"),
        (
            "knights_knaves",
            {"answer": "Ann is a knight, and Ed is a knave.", "metadata": {}},
            "Ann is a knight, Ed is a knight.",
        ),
        ("prime_factorization", _with("prime_factorization", "2 × 2 × 3"), "12"),
    ],
)
@pytest.mark.parametrize("threshold", [1.0, None])
def test_what_the_package_overpays_scores_zero(
    found: Found, task: str, entry: dict[str, Any], answer: str, threshold: float | None
) -> None:
    verdict = judge(found, f"<answer>{answer}</answer>", entry, task=task, threshold=threshold)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0), verdict


@pytest.mark.parametrize(("threshold", "score"), [(None, 0.5), (0.5, 1.0), (0.51, 0.0), (1.0, 0.0)])
def test_partial_credit(found: Found, threshold: float | None, score: float) -> None:
    entry = {"answer": "right", "metadata": {"matrix": [["*", "#"], ["O", "O"]]}}
    verdict = judge(found, "down right up", entry, task="shortest_path", threshold=threshold)
    assert (verdict.score, verdict.detail["raw_score"]) == (score, 0.5)


@pytest.mark.bombs
def test_an_answer_that_exhausts_the_scorer_is_wrong_and_harms_no_other(found: Found) -> None:
    row = row_of("rush_hour")
    bomb = "A+" + "9" * 18
    verdicts = judge_all(found, [(text, {"reference": row.entry}) for text in (bomb, row.solution)])
    assert [(verdict.status, verdict.score, verdict.reason) for verdict in verdicts] == [
        (Status.OK, 0.0, "scorer_time_limit"),
        (Status.OK, 1.0, "correct"),
    ]


def test_each_item_has_its_verdict_whoever_shares_its_answer(found: Found) -> None:
    rows = [row_of("chain_sum"), row_of("jugs"), row_of("gcd")]
    unsound = {"answer": "[]", "metadata": {"source_dataset": "jugs"}}
    asked: list[tuple[str, Any, Any]] = []
    for n in range(4):
        asked += [(f"{n} <answer>{row.solution}</answer>", row.entry, 1.0) for row in rows]
        asked += [(f"{n} <answer>{rows[n % 2].solution} and</answer>", row.entry, 0.0) for row in rows]
        asked.append((f"{n} <answer>[]</answer>", unsound, None))
    verdicts = judge_all(found, [(response, {"reference": entry}) for response, entry, _ in asked])
    assert [verdict.score for verdict in verdicts] == [score for _, _, score in asked]


def test_a_long_response_is_read_too(found: Found) -> None:
    row = row_of("gcd")
    assert judge(found, f"{'well, ' * 10_000}<answer>{row.solution}</answer>", row.entry).score == 1.0
    assert judge(found, f"<think>{'well, ' * 10_000}{row.solution}", row.entry).reason == "truncated"


async def _alone(response: str, reference: Any) -> Verdict:
    verifier = create(Resources(Workers(1), NoSandbox()))
    (verdict,) = await verifier.score([Item(response, ReasoningGymParams(reference=reference))])
    return verdict


def test_a_response_that_is_one_long_answer_is_wrong_and_judged(found: Found) -> None:
    verdict = judge(found, "a" * 1_100_000, row_of("gcd").entry)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


def test_boxes_that_are_not_there_are_no_verdict() -> None:
    row = row_of("gcd")
    verdict = asyncio.run(_alone(row.solution, row.entry))
    assert (verdict.status, verdict.reason) == (Status.FAILED, "sandbox_unavailable")


def test_a_package_that_is_not_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(task: object) -> None:
        raise NotInstalled("pip install it")

    monkeypatch.setattr(scoring, "_program", missing)
    row = row_of("gcd")
    verdict = asyncio.run(_alone(row.solution, row.entry))
    assert (verdict.status, verdict.reason, verdict.detail["message"]) == (
        Status.FAILED,
        "reasoning_gym_not_installed",
        "pip install it",
    )


async def test_programs_are_made_one_in_a_turn_of_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, turns = 0, list[int]()
    done = asyncio.Event()

    async def count() -> None:
        nonlocal turn
        while not done.is_set():
            turn += 1
            await asyncio.sleep(0)

    def made(task: object) -> None:
        turns.append(turn)
        raise NotInstalled("pip install it")

    monkeypatch.setattr(scoring, "_program", made)
    rows = [row_of(task) for task in ("gcd", "lcm", "chain_sum", "knights_knaves")]
    verifier = create(Resources(Workers(1), NoSandbox()))
    items = [Item(row.solution, ReasoningGymParams(reference=row.entry)) for row in rows]
    async with asyncio.TaskGroup() as group:
        group.create_task(count())
        verdicts = await verifier.score(items)
        done.set()
    assert {verdict.reason for verdict in verdicts} == {"reasoning_gym_not_installed"}
    assert len(turns) == len(set(turns)) == len({id(ALLOWED[row.task]) for row in rows}) > 1


def test_the_check_of_an_entry_is_remembered_for_its_owner_alone(found: Found) -> None:
    """Else its CPU time would tell one tenant that another had an answer to it judged."""
    row = OWN[0]
    params = ReasoningGymParams(reference={**row.entry, "metadata": {**row.entry["metadata"], "of": "this test"}})

    def runs(owner: str) -> int:
        before = sum(found.sandbox.counters.runs.values())
        found.score(found.registry["reasoning_gym"], [Item(f"<answer>{row.solution}</answer>", params, owner=owner)])
        return sum(found.sandbox.counters.runs.values()) - before

    assert [runs(owner) for owner in ("red/", "red/", "blue/")] == [2, 1, 2]
