"""A long response gets the verdict a short one would, only elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sandbox.workers import Exit, Outcome, Task, Workers
from tests.verifiers.found import Found
from verifiers import registry
from verifiers.base import Item, Resources, Status, Unavailable, Verdict
from verifiers.long_texts import BROKEN_LIMITS, INLINE_CHARS, JUDGE, judge_in_worker, trouble
from verifiers.rules import bounded

FILLER = "We go on and on without an answer, as models do. " * (INLINE_CHARS // 40)
_BY_NAME = {(task.module, task.function) for task in (JUDGE, bounded.JUDGE)}
"""Tasks that import what a payload names."""


@pytest.mark.parametrize(
    ("name", "ending", "params"),
    [
        ("numeric", "The answer is 12.", {"reference": "12"}),
        ("numeric", "The answer is 13.", {"reference": "12"}),
        ("numeric", "\\boxed{12} or \\boxed{13}", {"reference": "12"}),
        ("exact_match", "The answer is Paris.", {"reference": "Paris", "extract": "answer_line"}),
        ("exact_match", "end", {"reference": "end"}),
        ("multiple_choice", "The answer is (B).", {"reference": "B", "choices": ["x", "y"]}),
        ("regex", "The answer is 2024.", {"reference": r"\d{4}", "extract": "answer_line"}),
        ("regex", "The answer is 2024.", {"reference": r"(?=\d{5}).*", "extract": "answer_line"}),
        ("regex", "", {"reference": "("}),
        ("math", "The answer is $\\boxed{\\frac{2}{4}}$.", {"reference": "0.5"}),
        ("math", "The answer is $\\boxed{x+1}$.", {"reference": "1+x"}),
    ],
)
def test_a_long_response_is_judged_as_a_short_one(found: Found, name: str, ending: str, params: dict[str, Any]) -> None:
    entry = found.registry[name]
    typed = entry.verifier.params.model_validate(params)
    short, long = found.score(entry, [Item(f"So.\n\n{ending}", typed), Item(f"{FILLER}\n\n{ending}", typed)])
    assert (long.status, long.score, long.reason) == (short.status, short.score, short.reason)
    if name != "exact_match" or params["reference"] == "Paris":
        assert long.extracted == short.extracted
        assert {key: value for key, value in long.detail.items() if key != "span"} == {
            key: value for key, value in short.detail.items() if key != "span"
        }


def test_long_and_short_keep_their_places(found: Found) -> None:
    entry = found.registry["numeric"]
    typed = entry.verifier.params.model_validate({"reference": "7"})
    texts = [f"{FILLER if n % 3 == 0 else ''}\n#### {n}" for n in range(12)]
    verdicts = found.score(entry, [Item(text, typed) for text in texts])
    assert [verdict.score for verdict in verdicts] == [float(n == 7) for n in range(12)]


def test_those_judged_in_turns_keep_their_places(found: Found) -> None:
    entry = found.registry["repetition"]
    kinds = [entry.verifier.params.model_validate({"n": 1, "measure": measure}) for measure in ("ngrams", "loops")]
    long = "".join(f"{number} " for number in range(INLINE_CHARS // 4))
    texts = [f"{long if n % 5 == 0 else long[: 9000 * (n % 3)]}{'so it is ' * n}" for n in range(24)]
    items = [Item(text, kinds[n % 2]) for n, text in enumerate(texts)]
    assert found.score(entry, items) == [found.score(entry, [item])[0] for item in items]


def _explained(verdict: Verdict) -> dict[str, Any]:
    """But for how much of the text repeats itself, which the filler decides."""
    patterns = [pattern for pattern in verdict.detail["error_patterns"] if pattern["code"] != "REPETITION"]
    return {**verdict.detail, "error_patterns": patterns, "extracted": verdict.extracted}


def test_what_was_found_elsewhere_is_explained_alike(found: Found) -> None:
    entry = found.registry["math"]
    typed = entry.verifier.params.model_validate({"reference": "13"})
    text = f"Either \\boxed{{12}} or \\boxed{{13}}.\n{FILLER}"
    short, long = found.score(entry, [Item(text[:500], typed, explain=True), Item(text, typed, explain=True)])
    assert (long.status, long.score, long.reason) == (short.status, short.score, short.reason)
    assert _explained(long) == _explained(short)
    assert long.detail["candidates"] == ["12", "13"]


async def test_a_pool_that_does_not_work_is_unavailable_not_wrong() -> None:
    workers = Workers(1)
    loaded = registry.load(Resources(workers))
    verifier = loaded["numeric"].verifier
    item = Item(FILLER, verifier.params.model_validate({"reference": "7"}))
    with pytest.raises(Unavailable):
        await verifier.score([item])


@pytest.mark.parametrize("exit_", [exit_ for exit_ in Exit if exit_ is not Exit.OK])
def test_no_ending_of_a_worker_is_a_wrong_answer(exit_: Exit) -> None:
    verdict = trouble(Outcome(exit_, message="why\nwhere"))
    assert (verdict.status, verdict.score) == (Status.FAILED, None)
    assert verdict.detail == {"message": "why"}


class Limited(Workers):
    """Workers that end like this for each response of a length that is not allowed."""

    def __init__(self, exit_: Exit, may_read: Callable[[int], bool]) -> None:
        super().__init__(1)
        self._exit, self._may_read = exit_, may_read

    async def map(
        self, task: Task, payloads: Sequence[Any], on_outcome: Callable[[int, Outcome], None] | None = None
    ) -> list[Outcome]:
        assert on_outcome is None
        return [
            Outcome(Exit.OK, judge_in_worker(payload)) if self._may_read(len(payload[1])) else Outcome(self._exit)
            for payload in payloads
        ]


async def _limited(exit_: Exit, may_read: Callable[[int], bool], response: str, **params: Any) -> Verdict:
    verifier = registry.load(Resources(Limited(exit_, may_read)))["numeric"].verifier
    (verdict,) = await verifier.score([Item(response, verifier.params.model_validate(params))])
    return verdict


@pytest.mark.parametrize("exit_", BROKEN_LIMITS)
async def test_a_response_that_breaks_a_limit_is_judged(exit_: Exit) -> None:
    verdict = await _limited(exit_, lambda chars: chars < INLINE_CHARS, FILLER, reference="7")
    assert verdict == Verdict.wrong("too_complex", limit=exit_.value)


@pytest.mark.parametrize("exit_", BROKEN_LIMITS)
async def test_parameters_that_break_a_limit_are_the_callers_to_mend(exit_: Exit) -> None:
    verdict = await _limited(exit_, lambda _: False, FILLER, reference="7")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "params_too_complex")


async def test_a_reference_that_cannot_be_read_is_invalid_for_a_response_that_breaks_a_limit_too() -> None:
    verdict = await _limited(Exit.TIME_LIMIT, lambda chars: chars < INLINE_CHARS, FILLER, reference="seven?")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "unparseable_reference")


@pytest.mark.parametrize("exit_", [exit_ for exit_ in Exit if exit_ not in (Exit.OK, *BROKEN_LIMITS)])
async def test_what_happens_to_a_worker_is_not_the_responses_fault(exit_: Exit) -> None:
    verdict = await _limited(exit_, lambda chars: chars < INLINE_CHARS, FILLER, reference="7")
    assert (verdict.status, verdict.reason) == (
        Status.FAILED,
        "verifier_bug" if exit_ is Exit.RAISED else f"worker_{exit_}",
    )


async def test_a_response_of_ordinary_length_that_is_not_read_is_not_wrong() -> None:
    long = "7" + " " * INLINE_CHARS
    verdict = await _limited(Exit.TIME_LIMIT, lambda _: False, "The answer is 7.", reference=long)
    assert (verdict.status, verdict.reason) == (Status.FAILED, "worker_time_limit")


def test_workers_have_judged_an_example_of_each_verifier_before_they_are_given_items() -> None:
    """What only a worker imports makes its first item slow, and a worker is replaced after a slow item."""
    cold: list[Task] = []
    warmed: set[str] = set()

    class Recorded(Workers):
        def register(self, task: Task) -> None:
            if (task.module, task.function) in _BY_NAME:
                warmed.update(names[0] for names, *_ in task.warm)
                cold.extend([] if task.warm else [task])

    registry.load(Resources(Recorded(1)))
    assert cold == []
    assert {"verifiers.rules.qa", "verifiers.rules.multiple_choice", "verifiers.puzzles.sudoku"} <= warmed
