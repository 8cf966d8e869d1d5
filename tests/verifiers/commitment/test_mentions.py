"""What `explain` says of the mentions of a response is what decided about them."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.commitment import page
from tests.verifiers.found import Found
from verifiers import commitment
from verifiers.base import Item, Status, Verdict, clip
from verifiers.commitment.mentions import MAX_MENTIONS
from verifiers.commitment.stance import UNMADE, Stance
from verifiers.rules import multiple_choice, numeric, qa

DATA = Path(__file__).parents[2] / "data"
_AGAINST = {*UNMADE, Stance.RETRACTED}
_LABELLED = {
    "rules/probes": 5,
    "math/probes": 3,
    "math/sentences": 5,
    "math/long_sample": 15,
    "math/gsm8k_model_solutions": 100,
}
"""The files of labelled rows, with how many rows one is taken of."""
_FREE = frozenset(["multiple_choice", "math", "qa", "numeric", "exact_match", "regression", "expression"])
"""Verifiers whose `extracted` is the text of the answer as it stands."""


def judged(found: Found, name: str, response: str, params: dict[str, Any]) -> tuple[Verdict, Verdict]:
    """The verdict without and with an explanation."""
    entry = found.registry[name]
    read = entry.verifier.params.model_validate_json(json.dumps(params))
    plain, explained = found.score(entry, [Item(response, read), Item(response, read, explain=True)])
    return plain, explained


def shown(verdict: Verdict) -> list[tuple[str, str, bool]]:
    return [(each["text"], each["stance"], "role" in each) for each in verdict.detail["mentions"]]


@table("stance, example", [(stance, page.STANCES[stance][1]) for stance in Stance])
def test_every_stance_is_shown_as_it_is_documented(found: Found, stance: Stance, example: str) -> None:
    verdict = found.judge("multiple_choice", example, explain=True, reference="C", choices=page.CHOICES)
    assert [each["stance"] for each in verdict.detail["mentions"]] == [stance]
    assert ("role" in verdict.detail["mentions"][0]) is (verdict.score == 1.0)


@table(
    "name, response, reference, mentions",
    [
        (
            "math",
            "My friend says the answer is 12. The answer is not 13. First \\boxed{3}. No, \\boxed{4}.",
            "4",
            [("12", "attributed", 0), ("13", "denied", 0), ("3", "marked", 0), ("4", "marked", 1)],
        ),
        ("math", "The answer is 5. Wait, no, it's 6.", "6", [("5", "retracted", 0), ("6", "concluded", 1)]),
        ("math", "The answer is 5. Wait, that's wrong.", "5", [("5", "retracted", 0)]),
        ("math", "\\boxed{5} is wrong. \\boxed{6}, I think.", "6", [("5", "denied", 0), ("6", "marked", 1)]),
        ("math", "$x=\\boxed{1}$ and $y=\\boxed{2}$.", "1,2", [("1", "marked", 1), ("2", "marked", 1)]),
        ("math", "\\boxed{1} or \\boxed{2}", "1", [("1", "marked", 0), ("2", "marked", 0)]),
        ("math", "The answer is that the largest n is 34.", "34", [("34", "announced", 1)]),
        (
            "numeric",
            "Is it 12? Perhaps 13. It is 14, not 15.",
            14,
            [("12", "hedged", 0), ("13", "hedged", 0), ("14", "concluded", 1), ("15", "denied", 0)],
        ),
        ("numeric", "It costs $3.5bn.", 3_500_000_000, [("$3.5bn", "stated", 1)]),
        ("numeric", "Suppose it is twelve.", 12, [("twelve", "supposed", 0)]),
        ("numeric", "So she has forty-two apples.", 42, [("forty-two", "stated", 1)]),
        ("numeric", "It is 12. Wait, that's wrong.", 12, [("12", "retracted", 0)]),
        (
            "qa",
            "<b>Maybe</b> the answer is Rome. The answer is <b>Paris</b>.",
            "Paris",
            [("Rome", "hedged", 0), ("Paris", "announced", 1)],
        ),
        ("exact_match", "Paris", "Paris", [("Paris", "stated", 1)]),
        ("multiple_choice", "The answer is B. Wait, no, it's C.", "C", [("B", "announced", 0), ("C", "concluded", 1)]),
        ("multiple_choice", "B is wrong.\n\n\\boxed{C}", "C", [("B", "denied", 0), ("\\boxed{C}", "marked", 1)]),
        (
            "n_queens",
            "[0, 2, 3, 1] is wrong. So it's [1, 3, 0, 2]",
            {"n": 4},
            [("[0, 2, 3, 1]", "denied", 0), ("[1, 3, 0, 2]", "stated", 1)],
        ),
        (
            "n_queens",
            "\\boxed{[1, 3, 0, 2] or [2, 0, 3, 1]}",
            {"n": 4},
            [("[1, 3, 0, 2] or [2, 0, 3, 1]", "marked", 0)],
        ),
        ("n_queens", "ﬁrst [1, 3, 0, 2]", {"n": 4}, []),
    ],
)
def test_mentions_have_the_stances_that_decided(
    found: Found, name: str, response: str, reference: Any, mentions: list[tuple[str, str, int]]
) -> None:
    verdict = found.judge(name, response, explain=True, reference=reference)
    assert shown(verdict) == mentions


def _rows() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for file, step in _LABELLED.items():
        for line in (DATA / f"{file}.jsonl").read_text("utf-8").splitlines()[::step]:
            row = json.loads(line)
            yield (
                row.get("verifier", "math"),
                row["response"],
                row["params"] if "params" in row else {"reference": row["gold"]},
            )
    for row in yaml.safe_load((DATA / "commitment" / "choices.yaml").read_text("utf-8"))[::4]:
        for response in [*row.get("paid", ()), *row.get("unpaid", ())]:
            yield "multiple_choice", response, row["params"]


def _wrong(found: Found, name: str, response: str, params: dict[str, Any]) -> str | None:
    """What the mentions of a response say that its verdict does not."""
    plain, verdict = judged(found, name, response, params)
    if verdict.status is not Status.OK or "mentions" not in verdict.detail:
        return None if name not in _FREE or verdict.status is not Status.OK else "no mentions"
    said, answers = verdict.detail["mentions"], [each for each in verdict.detail["mentions"] if "role" in each]
    if (plain.score, plain.reason, plain.extracted) != (verdict.score, verdict.reason, verdict.extracted):
        return "another verdict"
    if "mentions" in plain.detail:
        return "mentions that nobody asked for"
    ends = [0, *(place for each in said for place in each["span"])]
    if ends != sorted(ends) or any(each["text"] != clip(response[slice(*each["span"])]) for each in said):
        return f"spans that do not cut the text: {said}"
    if any(each["stance"] in _AGAINST for each in answers):
        return f"an answer that does not stand: {answers}"
    if name in _FREE and bool(answers) is (verdict.extracted is None):
        return f"{verdict.extracted!r}, but {answers}"
    if name in _FREE and len(answers) == 1 and not _is_same(answers[0]["text"], verdict.extracted):
        return f"{verdict.extracted!r}, but {answers}"
    return None


def _is_same(text: str, extracted: str | None) -> bool:
    """Whether a mention is the extracted answer, which may have a unit from behind a box, or ASCII marks in a number.

    Several numbers may be written anew: 3분의 2 as 2/3, two boxes as a list. An equation tells its last side: "$m + n = 23$".
    """
    shown = text.translate(_ASCII_MARKS)
    last_side = shown.rstrip("$ ").rpartition("=")[2].strip()
    if extracted is None or extracted in (shown, last_side) or extracted.startswith(shown):
        return extracted is not None
    numbers = Counter(_DIGITS.findall(extracted))
    return numbers.total() > 1 and numbers <= Counter(_DIGITS.findall(shown))


_ASCII_MARKS = str.maketrans("٫٬", ".,")
_DIGITS = re.compile(r"\d+")


@pytest.mark.accuracy
def test_the_answer_among_the_mentions_of_labelled_responses_is_the_extracted_one(found: Found) -> None:
    rows = list(_rows())
    wrong = [
        (name, response[-300:], why)
        for name, response, params in rows
        if (why := _wrong(found, name, response, params))
    ]
    assert len(rows) > 1000
    assert not wrong, "\n".join(map(str, wrong))


def test_few_mentions_of_a_flood_are_shown_and_the_answer_is_one_of_them(found: Found) -> None:
    for flood in ("\\boxed{5} ", "Maybe the answer is 5.\n", "The answer is 5.\n", "<answer>5</answer>\n", "5 is 5. "):
        for name in ("math", "numeric", "multiple_choice"):
            text = "#### 7\n" + flood * 2_000
            verdict = found.judge(name, text, explain=True, reference="5" if name != "multiple_choice" else "A")
            assert len(verdict.detail["mentions"]) <= MAX_MENTIONS
    long = found.judge("exact_match", "x" * 5_000, explain=True, reference="x")
    assert [len(each["text"]) for each in long.detail["mentions"]] == [300]


_PIECES = ["The answer is ", "5", "6", " is wrong", "\\boxed{5}", "\\boxed{", "}", "Maybe ", "#### 7", "\n\n", ". ", " or ",
           "Wait, no, it's ", "<answer>", "</answer>", "If x = ", "~~4~~", "<b>8</b>", "they say ", "\u200b", "二十", "½", "?"]  # fmt: skip


_JUDGES: list[tuple[Callable[[str, Any, bool], Verdict], Any]] = [
    (numeric.judge, numeric.NumericParams(reference=5)),
    (qa.judge, qa.QaParams(reference="5")),
    (multiple_choice.judge, multiple_choice.MultipleChoiceParams(reference="5", choices={"5": "", "6": "", "7": ""})),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
@settings(max_examples=150, deadline=None)
def test_the_mentions_of_any_text_cut_it(text: str) -> None:
    for judge, params in _JUDGES:
        verdict = judge(text, params, True)
        ends = [place for each in verdict.detail["mentions"] for place in each["span"]]
        assert ends == sorted(ends)
        assert all(each["text"] == text[slice(*each["span"])] for each in verdict.detail["mentions"])


def test_nothing_is_kept_unless_somebody_asks() -> None:
    text = "The answer is not 5. \\boxed{6}"
    found = commitment.extract(text, commitment.ExtractionParams())
    asked = commitment.extract(text, commitment.ExtractionParams(), sent=text)
    assert found.mentions == ()
    assert len(asked.mentions) == 2
    assert (asked.answer, asked.span, asked.candidates) == (found.answer, found.span, found.candidates)
