"""A text against references: the labelled rows, the published metrics, and what none of them may reward."""

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from tests.growth import ends, stays_in_proportion
from tests.tables import table
from verifiers.base import Status, Verdict
from verifiers.rules.qa import EXAMPLES, Metric, QaParams, judge
from verifiers.rules.qa.contained import contained
from verifiers.rules.qa.drop import assignment
from verifiers.rules.qa.similarity import common_subsequence, edits
from verifiers.rules.qa.translation import bleu, chrf

DATA = Path(__file__).parents[2] / "data" / "rules"
ROWS = [json.loads(line) for line in (DATA / "qa_examples.jsonl").read_text().splitlines()]
ORACLES = [json.loads(line) for line in (DATA / "qa_oracles.jsonl").read_text().splitlines()]
KINDS: dict[str, dict[str, Any]] = {
    "squad_em": {"metric": "exact"},
    "squad_f1": {"metric": "f1"},
    "hotpot_f1": {"metric": "f1"},
    "drop": {"metric": "drop"},
    "contains_word": {"metric": "contains"},
    "list": {"metric": "list"},
    "bool": {"metric": "bool"},
    "date": {"metric": "date"},
    "cjk_em": {"metric": "exact", "normalise": "cjk"},
    "cjk_f1": {"metric": "f1", "normalise": "cjk"},
}
METRICS = ("exact", "f1", "contains", "drop", "wer", "rouge", "bleu", "chrf", "list")


def verdict(response: str, reference: Any, **params: Any) -> Verdict:
    return judge(response, QaParams.model_validate_json(json.dumps({"reference": reference, **params})))


def score(response: str, reference: Any, **params: Any) -> float | None:
    return verdict(response, reference, **params).score


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] in KINDS], ids=lambda row: row["id"])
def test_every_labelled_row_is_right(row: dict[str, Any]) -> None:
    given = row["prediction"] if isinstance(row["prediction"], str) else json.dumps(row["prediction"])
    found = verdict(given, row["golds"], **KINDS[row["kind"]], **row["params"])
    expected = row["expected"]
    if isinstance(expected, dict):
        assert found.detail["em"] == bool(expected["em"])
        expected = expected["f1"]
    assert found.score == expected


def test_likeness_is_what_the_published_libraries_say() -> None:
    for row in ORACLES:
        answer, reference = row["answer"], row["reference"]
        if "drop" in row:
            found = verdict(json.dumps(answer), [reference], metric="drop", alternatives="allow")
            assert (found.detail["em"], found.score) == (row["drop"]["em"], row["drop"]["f1"])
            continue
        assert score(answer, reference, metric="wer", normalise="none") == pytest.approx(row["wer"])
        assert score(answer, reference, metric="bleu") == pytest.approx(row["bleu"], abs=1e-8)
        assert score(answer, reference, metric="chrf") == pytest.approx(row["chrf"], abs=1e-8)
        plain, wanted = (" ".join(re.findall("[a-z0-9]+", text.lower())) for text in (answer, reference))
        for kind, value in row["rouge"].items():
            assert score(plain, wanted, metric="rouge", rouge=kind) == pytest.approx(value)


@table(
    ("response", "reference", "params", "expected"),
    [
        ("The Eiffel Tower!", "eiffel tower", {}, 1.0),
        ("3.5", "35", {}, 0.0),
        ("3.5", "35", {"normalise": "squad"}, 1.0),
        ("3.5", "35", {"normalise": "cjk"}, 0.0),
        ("Par\u200bis", "Paris", {}, 1.0),
        ("the", "a", {}, 0.0),
        ("A", "a", {}, 1.0),
        ("5", 5, {}, 1.0),
        ("Tower Eiffel", "Eiffel Tower", {}, 0.0),
        ("Eiffel  Tower", "eiffel tower", {"normalise": "none"}, 0.0),
        ("北京 大学。", "北京大学", {}, 1.0),
        ("ＡＢＣ", "abc", {"normalise": "cjk"}, 1.0),
        ("<answer>Paris</answer>", {"target": ["Paris", "Paname"]}, {"extract": "answer_tag"}, 1.0),
        ("Paris", {"target": "Paris"}, {"extract": "answer_tag"}, 0.0),
        ("<answer>Paris</answer> <answer>Rome</answer>", {"target": "Rome"}, {}, 0.0),
        ("<think>Paris</think> Rome", "Paris", {}, 0.0),
        ("yes no", "yes", {"metric": "f1"}, 0.0),
        ("green tea", "black tea", {"metric": "f1", "threshold": 0.5}, 1.0),
        ("green tea", "black tea", {"metric": "f1", "threshold": 0.51}, 0.0),
        ("Paris Paris Paris", "Paris", {"metric": "f1"}, 0.5),
        ("5 or 6", "5", {"metric": "drop"}, 0.0),
        ("Jan 5", {"number": "5", "spans": [], "date": {}}, {"metric": "drop"}, 0.67),
        (
            "5 January 2020",
            {"number": "", "date": {"day": "5", "month": "January", "year": "2020"}},
            {"metric": "drop"},
            1.0,
        ),
        ("- Smith\n- Jones", [["Jones", "Smith"]], {"metric": "drop"}, 1.0),
        ("Smith", [["Jones", "Smith"]], {"metric": "drop"}, 0.5),
        ("the cat cat sat on", "the cat", {"metric": "wer"}, 0.0),
        ("猫坐在", "猫坐在垫子上", {"metric": "wer"}, 0.5),
        ("the cat sat", "the cat sat", {"metric": "rouge", "rouge": "mean"}, 1.0),
        ("Answer: 5 is the number.", "Answer: 5 is the number.", {"metric": "bleu"}, 1.0),
        ("1, 2.0 and 3", [1, 2, 3], {"metric": "list"}, 1.0),
        ("1,000; 2,000", [["1000", "2000"]], {"metric": "list"}, 1.0),
        ("b, a", ["a", "b"], {"metric": "list", "ordered": True}, 0.0),
        ("a, a, b", ["a", "b"], {"metric": "list"}, 0.0),
        ("a, b, c", ["a", "b"], {"metric": "list"}, 0.0),
        ("(a, b)", "a, b", {"metric": "list"}, 1.0),
        ("No, it is not.", "false", {"metric": "bool"}, 1.0),
        ("not true", "true", {"metric": "bool"}, 0.0),
        ("T", "true", {"metric": "bool"}, 1.0),
        ("**f**", "false", {"metric": "bool"}, 1.0),
        ("N", "true", {"metric": "bool"}, 0.0),
        ("T or F", "true", {"metric": "bool"}, 0.0),
        ("20200105", "2020-01-05", {"metric": "date"}, 1.0),
        ("20201305", "2020-01-05", {"metric": "date"}, 0.0),
        ("Some say it was on 5 January 2020", "2020-01-05", {"metric": "date"}, 0.0),
        ("It was originally planned for 5 January 2020", "2020-01-05", {"metric": "date"}, 0.0),
        ("Lincoln was born on 5 January 2020", "2020-01-05", {"metric": "date"}, 1.0),
        ("It is clearly not true", False, {"metric": "bool"}, 1.0),
        ("doubtful, true", True, {"metric": "bool"}, 0.0),
        ("The rest:\n- a\n- b", ["a", "b"], {"metric": "list"}, 0.0),
        ("the 42nd", "42", {"metric": "contains"}, 0.0),
        ("the 42nd street", "42nd", {"metric": "contains"}, 1.0),
        ("42 km", "42", {"metric": "contains"}, 1.0),
        ("yes? no", "yes", {"metric": "bool"}, 0.0),
        ("是的，没错。", True, {"metric": "bool"}, 1.0),
        ("是否", True, {"metric": "bool"}, 0.0),
        ("Jan 5", "2020-01-05", {"metric": "date"}, 0.0),
        ("05/01/2020", "2020-01-05", {"metric": "date"}, 0.0),
        ("13/01/2020", "2020-01-13", {"metric": "date"}, 1.0),
        ("2020年1月5日", "2020-01-05", {"metric": "date"}, 1.0),
    ],
)
def test_scores(response: str, reference: Any, params: dict[str, Any], expected: float) -> None:
    assert score(response, reference, **params) == expected


@table(
    ("response", "reference", "expected"),
    [
        ("It was Jane Austen's idea", "Jane Austen", 1.0),
        ("The U.S. Army", "US", 1.0),
        ("Romes", "Rome", 0.0),
        ("Roman\u200bRome", "Rome", 0.0),
        ("It is not in Oslo but in Bergen", "Oslo", 0.0),
        ("It isn't Oslo", "Oslo", 0.0),
        ("Not Bergen: Oslo", "Oslo", 1.0),
        ("Oslo or Bergen", "Oslo", 0.0),
        ("北京还是上海", "北京", 0.0),
        ("不是北京", "北京", 0.0),
        ("在北京市", "北京", 1.0),
        ("-5", "5", 0.0),
        ("3.5", "5", 0.0),
        ("1,000 people", "1000", 1.0),
        (" ".join(["Bergen", "Paris", "Rome", "Madrid"] * 5) + " Oslo", "Oslo", 0.0),
    ],
)
def test_a_contained_answer_stands_alone_undenied_and_in_few_words(
    response: str, reference: str, expected: float
) -> None:
    assert score(response, reference, metric="contains") == expected


@table(
    ("response", "reference", "expected"),
    [
        ("London, Berlin, Paris, Madrid", "Paris", 0.0),
        ("Paris, London, Berlin", "Paris", 0.0),
        ("London; Paris", "Paris", 0.0),
        ("London\nBerlin\nParis", "Paris", 0.0),
        ("Paris and London", "Paris", 0.0),
        ("伦敦、巴黎、柏林", "巴黎", 0.0),
        ("10, 20, 30", "20", 0.0),
        ("Paris, France", "Paris", 1.0),
        ("July 4, 1776", "1776", 1.0),
        ("It was in Paris, France, in 1900.", "Paris", 1.0),
        ("the city of Paris and its suburbs around it", "Paris", 1.0),
        ("Bonnie and Clyde", "Bonnie and Clyde", 1.0),
        ("1,000 people", "1,000", 1.0),
    ],
)
def test_a_list_of_candidates_can_count_as_an_open_choice(response: str, reference: str, expected: float) -> None:
    assert score(response, reference, metric="contains", alternatives="reject_lists") == expected


def test_a_list_of_candidates_can_be_bounded() -> None:
    listed = "London, Paris, Rome, Oslo and Berlin"
    assert score(listed, "Oslo", metric="contains") == 1.0
    assert score(listed, "Oslo", metric="contains", max_words=3) == 0.0


@table("metric", METRICS)
@table("nothing", ["", " \n", "\u200b", "\u3164", ".", "<answer></answer>", "<think>Paris", "\\boxed{}"])
def test_nothing_earns_nothing(metric: str, nothing: str) -> None:
    assert score(nothing, "Paris", metric=metric) == 0.0


@table("metric", ["exact", "f1", "contains", "drop", "list"])
@table("joint", [" or ", " / ", " or maybe ", "或", " vs. "])
def test_the_reference_beside_an_alternative_earns_nothing(metric: str, joint: str) -> None:
    assert score(f"Paris{joint}Rome", "Paris", metric=metric) == 0.0
    assert score(f"Rome{joint}Paris", "Paris", metric=metric) == 0.0


def test_alternatives_are_what_they_were_where_the_caller_wants_it() -> None:
    assert score("Paris or Rome", "Paris", metric="f1", alternatives="allow") == 0.5
    assert score("Paris or Rome", "Paris or Rome", metric="f1") == 1.0


@table("metric", METRICS)
def test_a_reference_buried_in_a_flood_earns_nothing(metric: str) -> None:
    assert verdict("x " * 5000 + "Paris", "Paris", metric=metric).reason == "too_long"


def test_a_reference_of_capitals_is_read_at_once() -> None:
    ends(lambda: verdict("The answer is Foo.", "A" * 119 + "!", metric="contains"))
    listed = "Newcastle-upon-Tyne, J.R.R. Tolkien and Seán O'Brien-Smith"
    assert (
        score("It was J.R.R. Tolkien, with Seán O'Brien-Smith, in Newcastle-upon-Tyne.", listed, metric="contains")
        == 1.0
    )


@table(
    ("reference", "params", "reason"),
    [
        ("", {}, "empty_reference"),
        ("\u200b", {}, "empty_reference"),
        (["Paris", " "], {}, "empty_reference"),
        ({"foo": 1}, {}, "empty_reference"),
        ("maybe", {"metric": "bool"}, "unparseable_reference"),
        ("2020-02-30", {"metric": "date"}, "unparseable_reference"),
        ([["a", "b"]], {"metric": "exact"}, "too_many_parts"),
        ([["a"] * 30], {"metric": "drop"}, "too_many_parts"),
        (["x" * 15_000 + str(number) for number in range(20)], {}, "reference_too_large"),
    ],
)
def test_a_bad_reference_is_the_callers_to_mend(reference: Any, params: dict[str, Any], reason: str) -> None:
    found = verdict("Paris", reference, **params)
    assert (found.status, found.score, found.reason) == (Status.INVALID, None, reason)


@table(
    "bad",
    [
        {},
        {"reference": []},
        {"reference": None},
        {"reference": "a", "metric": "em"},
        {"reference": "a", "threshold": 0},
    ],
)
def test_bad_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        QaParams(**bad)


WORDS = st.lists(st.sampled_from(["cat", "Dog", "x1", "猫", "3.5", "sat"]), min_size=1, max_size=8)


@given(words=WORDS, metric=st.sampled_from(METRICS))
def test_every_text_is_like_itself(words: list[str], metric: str) -> None:
    text = " ".join(words)
    assert score(text, text, metric=metric) == 1.0
    others = [["something else"], [text]] if metric == "list" else ["something else", text]
    assert score(text, others, metric=metric) == 1.0


@given(response=st.text(max_size=60), metric=st.sampled_from(METRICS), words=WORDS)
def test_any_text_gets_a_score_and_another_reference_never_lowers_it(
    response: str, metric: str, words: list[str]
) -> None:
    if metric == "list":
        return
    alone = score(response, " ".join(words), metric=metric)
    more = score(response, [" ".join(words), "Paris or x"], metric=metric)
    assert alone is not None
    assert more is not None
    assert 0.0 <= alone <= max(more, 1.0)
    assert more >= alone


@given(given=st.lists(st.sampled_from("abc"), max_size=7), wanted=st.lists(st.sampled_from("abc"), max_size=7))
def test_edits_and_common_subsequences_are_those_of_the_textbook(given: list[str], wanted: list[str]) -> None:
    distance = [list(range(len(wanted) + 1))]
    common = [[0] * (len(wanted) + 1)]
    for row, mine in enumerate(given, start=1):
        distance.append([row])
        common.append([0])
        for column, its in enumerate(wanted, start=1):
            above, left, corner = distance[-2][column], distance[-1][-1], distance[-2][column - 1]
            distance[-1].append(min(above + 1, left + 1, corner + (mine != its)))
            common[-1].append(common[-2][column - 1] + 1 if mine == its else max(common[-2][column], common[-1][-1]))
    assert edits(given, wanted) == distance[-1][-1]
    assert common_subsequence(given, wanted) == common[-1][-1]


@given(
    values=st.integers(1, 4).flatmap(
        lambda columns: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=columns, max_size=columns), min_size=1, max_size=4
        )
    )
)
def test_an_alignment_is_the_best_there_is(values: list[list[float]]) -> None:
    pairs = assignment(values)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == min(len(values), len(values[0]))
    wide = values if len(values) <= len(values[0]) else [list(column) for column in zip(*values, strict=True)]
    best = max(
        sum(wide[row][column] for row, column in enumerate(chosen))
        for chosen in permutations(range(len(wide[0])), len(wide))
    )
    assert sum(values[row][column] for row, column in pairs) == best


_SENTENCE = st.lists(
    st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "3.5", "well-known", "don't", "x,", "end.", "(so)", "été"]),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(_SENTENCE, _SENTENCE)
def test_translations_are_scored_as_by_sacrebleu(answer: str, reference: str) -> None:
    expected = BLEU(effective_order=True).sentence_score(answer, [reference]).score / 100
    assert bleu(answer, reference, None) == pytest.approx(expected, abs=1e-9)
    expected = CHRF().sentence_score(answer, [reference]).score / 100
    assert chrf(answer, reference, None) == pytest.approx(expected, abs=1e-12)


@pytest.mark.accuracy
def test_scores_are_the_same_in_another_process() -> None:
    program = (
        "import json; from verifiers.rules.qa import EXAMPLES, Metric, QaParams, judge;"
        "print([repr(judge(e.response, QaParams.model_validate_json(json.dumps(e.params)), True)) for e in EXAMPLES])"
    )
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONHASHSEED": "77"}
    there = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, cwd=root
    )
    here = [repr(judge(e.response, QaParams.model_validate_json(json.dumps(e.params)), True)) for e in EXAMPLES]
    assert there.stdout.strip() == str(here)


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("unit", ["a ", "((", "x, ", "1,", "or ", "[[", "é\u200b", "不是猫", "&amp;"])
def test_a_flood_is_over_soon(metric: str, unit: str) -> None:
    references = ["x " * 9_000, "a " * 9_000]
    assert stays_in_proportion(lambda text: verdict(text, references, metric=metric), unit, 100_000)


def test_detail_tells_which_reference_was_best() -> None:
    found = verdict("Rome", ["Paris", "Rome"], metric="f1", threshold=0.5)
    assert (found.detail["best_reference"], found.detail["likeness"]) == (1, 1.0)
    assert Fraction(str(found.score)) == 1


@table("metric", ["exact", "f1"])
@table(
    ("response", "reference", "expected"),
    [
        ("<answer></answer>", "", 1.0),
        ("<think>Nothing says so.</think><answer> </answer>", "", 1.0),
        ("<answer>Unanswerable.</answer>", "", 1.0),
        ("The question cannot be answered.", "", 1.0),
        ("no answer", ["", "Paris"], 1.0),
        ("Paris", ["", "Paris"], 1.0),
        ("<answer>Paris</answer>", "", 0.0),
        ("<answer>unanswerable</answer>", "Paris", 0.0),
        ("<answer>unanswerable, or Paris</answer>", "", 0.0),
        ('{"a": null}', "", 0.0),
        ("<answer></answer> It is Paris.", "", 0.0),
        ("", "", 0.0),
        ("<think></think>", "", 0.0),
        ("<think>unanswerable", "", 0.0),
        ("<answer></answer>", "Paris", 0.0),
    ],
)
def test_a_question_without_an_answer(metric: str, response: str, reference: Any, expected: float) -> None:
    assert verdict(response, reference, metric=metric, unanswerable=True).score == expected


def test_an_empty_reference_is_no_question_without_an_answer_unless_said() -> None:
    assert verdict("<answer></answer>", "").reason == "empty_reference"
    assert verdict("unanswerable", "", metric="rouge", unanswerable=True).reason == "empty_reference"


@table(
    ("answer", "score"),
    [
        ("Paris is wrong.", 0.0),
        ("Paris is clearly wrong", 0.0),
        ("Paris is not the answer.", 0.0),
        ("Paris isn't right", 0.0),
        ("Paris isn’t it.", 0.0),
        ("Paris was incorrect", 0.0),
        ("Paris is not correct, it is Rome", 0.0),
        ("Is it Paris", 0.0),
        ("Could it be Paris", 0.0),
        ("Paris is the capital.", 1.0),
        ("Paris is not an island.", 1.0),
        ("Paris is right.", 1.0),
        ("Paris, which isn't by the sea", 1.0),
        ("It is Paris", 1.0),
        ("Paris is wrong? No, Paris.", 1.0),
    ],
)
def test_what_an_answer_says_of_the_reference_behind_it_counts(answer: str, score: float) -> None:
    assert judge(answer, QaParams(reference="Paris", metric="contains")).score == score


@table(
    ("answer", "reference"),
    [
        ("“Paris”", "Paris"),
        ("‘Paris’", "Paris"),
        ("«Paris»", "Paris"),
        ("It’s Paris", "It's Paris"),
        ("1914–1918", "1914-1918"),
        ("Well…", "Well..."),
    ],
)
@table("metric", ["exact", "f1", "contains"])
def test_a_typesetters_signs_are_those_of_ascii(answer: str, reference: str, metric: Any) -> None:
    assert judge(answer, QaParams(reference=reference, metric=metric)).score == 1.0
    assert judge(reference, QaParams(reference=answer, metric=metric)).score == 1.0


@table(
    "response",
    [
        "The answer is Paris. Wait, no, London.",
        "The answer is Paris. Actually, London.",
        "Answer: Paris... no, New York.",
        "<answer>Paris</answer> Sorry, London.",
    ],
)
@table("metric", ["exact", "f1", "contains"])
def test_an_answer_that_is_corrected_is_none(response: str, metric: Metric) -> None:
    assert judge(response, QaParams(reference="Paris", metric=metric)).reason == "conflicting_answers"


@table(
    "response",
    [
        "The answer is Paris. Wait, no, it's London.",
        "The answer is Paris. Wait, it's London.",
        "\\boxed{Paris} Actually, it is London.",
    ],
)
@table("metric", ["exact", "f1", "contains"])
def test_what_is_stated_instead_of_a_wrong_answer_is_the_answer(response: str, metric: Metric) -> None:
    assert judge(response, QaParams(reference="London", metric=metric)).score == 1.0
    assert judge(response, QaParams(reference="Paris", metric=metric)).reason == "wrong_answer"
    strict = QaParams(reference="London", metric=metric, on_conflict="reject")
    assert judge(response, strict).reason == "conflicting_answers"


@table(
    "response",
    [
        "The answer is Paris. Actually, Paris.",
        "The answer is Paris. No, I am not joking.",
        "The answer is Paris. Sorry, That was all.",
        "The answer is Paris. Actually, Paris has been the capital for long.",
        "The answer is Paris. Wait, London is not in France. So the answer is Paris.",
    ],
)
def test_what_follows_an_answer_need_not_correct_it(response: str) -> None:
    assert judge(response, QaParams(reference="Paris")).score == 1.0


@table(
    "response",
    [
        "Paris [1]",
        "Paris[1][2].",
        "The answer is Paris [2, 3].",
        "<answer>Paris [1]</answer>",
        "Paris【1†source】",
        "Answer: Paris[^1]",
        "Paris\n\nHope this helps!",
        "Paris. Let me know if you have any questions!",
        "Paris\n\nConfidence: 95%",
        "The answer has to be Paris.",
        "The answer can only be Paris",
        "The answer is definitely Paris.",
        "The answer is, of course, Paris.",
        "The answer is most likely Paris.",
        "<answer>The answer is Paris.</answer>",
        "<answer>The final answer is: Paris</answer>",
        "\\boxed{\\text{The answer is Paris}}",
        "Therefore, the answer is **Paris**, the capital of France.",
        "The answer is **Paris** (the capital of France).",
        "**Paris** - the capital of France",
    ],
)
def test_what_goes_with_an_answer_is_no_part_of_it(response: str) -> None:
    assert judge(response, QaParams(reference="Paris")).score == 1.0
    assert judge(response, QaParams(reference="London")).score == 0.0


@table(
    "response",
    [
        "<answer>The answer is not Paris</answer>",
        "The answer is probably not Paris",
        "The answer is **Paris**, or **London**.",
        "The answer is **Paris**, London",
        "**Paris**, **London**",
    ],
)
def test_what_says_something_else_is_a_part_of_it(response: str) -> None:
    assert judge(response, QaParams(reference="Paris")).score == 0.0


@table(
    ("response", "reference"),
    [
        ("The answer is likely", "likely"),
        ("The answer is probably true.", "probably true"),
        ("Answer: Most likely", "Most likely"),
        ("f[1]", "f[1]"),
        ("x [1, 2]", "x [1, 2]"),
        ("Thank you. Good luck!", "Thank you. Good luck!"),
        ("Good luck!", "Good luck"),
        ("The list is [5]", "The list is [5]"),
        ("[1]", "1"),
    ],
)
def test_what_is_asked_for_stays(response: str, reference: str) -> None:
    assert judge(response, QaParams(reference=reference)).score == 1.0


@table(
    "response",
    [
        "London instead of Paris",
        "London, unlike Paris",
        "It is hardly Paris",
        "It is not really Paris",
        "It isn't exactly Paris",
        "It is no longer Paris",
        "Nobody knows whether it is Paris",
        "France without Paris",
    ],
)
def test_contains_hears_more_denials(response: str) -> None:
    assert judge(response, QaParams(reference="Paris", metric="contains")).score == 0.0


@table("response", ["Without a doubt, Paris", "Instead, it is Paris", "Paris, unlike Lyon", "Really, Paris"])
def test_contains_hears_no_denial_of_another(response: str) -> None:
    assert judge(response, QaParams(reference="Paris", metric="contains")).score == 1.0


@table(
    ("response", "reference"),
    [
        ("首都は東京ではありません。", "東京"),
        ("東京ではなく大阪です。", "東京"),
        ("수도는 서울이 아닙니다.", "서울"),
        ("北京不对，应该是上海", "北京"),
        ("La capital no es París, sino Lyon.", "París"),
        ("Die Hauptstadt ist nicht Berlin.", "Berlin"),
        ("La capitale n'est pas Paris.", "Paris"),
        ("It is incorrect to say Paris.", "Paris"),
        ("Many people think it's Paris, but it's actually Rome.", "Paris"),
    ],
)
def test_contains_hears_denials_in_other_languages_and_behind_the_word(response: str, reference: str) -> None:
    assert score(response, reference, metric="contains") == 0.0


@table(
    ("response", "reference", "expected"),
    [
        ("It was in the 21st century.", "21st century", 1.0),
        ("It was in the 1st century.", "21st century", 0.0),
        ("They sold it in the 1950s.", "1930s", 0.0),
        ("He is 5 feet 9 inches tall.", "5ft 9in", 1.0),
        ("He is 6 feet 1 inch tall.", "5ft 9in", 0.0),
        ("The wall is 48\xa0km long.", "48 kilometres", 1.0),
        ("The wall is 48 miles long.", "48 km", 0.0),
        ("Each team has 36 places.", "36.0", 1.0),
        ("Each team has 36 places.", "36.5", 0.0),
        ("It ran from 1995 to 1997.", "1995–97", 1.0),
        ("It ran from 1995 to 1998.", "1995–97", 0.0),
        ("The author is PD James.", "P. D. James", 1.0),
        ("It is a non-profit group.", "nonprofit", 1.0),
        ("It was won byRoger Federerin straight sets.", "Roger Federer", 1.0),
        ("It lies in Federerin.", "Federer", 0.0),
        ("It is slowest in a solid.", "solids", 1.0),
        ("A naos or cella.", ["cella", "naos"], 1.0),
        ("A naos or cella.", ["cella"], 0.0),
        ("On either February 28 or March 1.", ["February 28", "March 1"], 1.0),
        ("On either February 28 or March 2.", ["February 28", "March 1"], 0.0),
        ("It is believed to be in Rome.", "Rome", 1.0),
        ("It is doubtful that it is in Rome.", "Rome", 0.0),
        ("It was built over a 20-year period.", "20-year period", 1.0),
        ("I Can Only Imagine was released in 2018.", "2018", 1.0),
        ("I can only imagine it was released in 2018.", "2018", 0.0),
        ("As of 2021, Ohio has won more games than Michigan.", "Michigan", 0.0),
        ("No state has won more games than Michigan.", "Michigan", 1.0),
    ],
)
def test_contains_knows_other_forms_of_figures_and_names(response: str, reference: Any, expected: float) -> None:
    assert score(response, reference, metric="contains") == expected


@table(
    ("response", "reference"),
    [
        ("東京ではなく大阪です。", "大阪"),
        ("서울이 아니라 부산입니다", "부산"),
        ("La capital no es Lyon, sino París.", "París"),
        ("Es ist nicht Bonn, sondern Berlin.", "Berlin"),
        ("Ce n'est pas Lyon mais Paris.", "Paris"),
        ("It is none other than Napoleon.", "Napoleon"),
        ("Many people think it's Paris, but it's actually Rome.", "Rome"),
    ],
)
def test_contains_hears_what_is_put_in_the_place_of_the_denied(response: str, reference: str) -> None:
    assert score(response, reference, metric="contains") == 1.0


@table(
    "response",
    [
        "N/A",
        "None",
        "The question cannot be answered from the passage.",
        "The passage does not say.",
        "There is not enough information in the passage to answer this question.",
        "The answer is not in the text.",
        "\\boxed{\\text{unanswerable}}",
        "根据文章无法回答该问题。",
        "This cannot be determined from the given text.",
        "I can't answer this question.",
        "Nicht angegeben.",
    ],
)
def test_that_there_is_no_answer_can_be_said_in_many_ways(response: str) -> None:
    assert score(response, "", unanswerable=True) == 1.0
    assert score(response, "Paris", unanswerable=True) == 0.0


@table(
    "response",
    [
        "The answer is not Paris.",
        "None of the Beatles",
        "none of these",
        "It is not unanswerable.",
        "maybe unknown",
        "Is it unknown?",
        "Not",
        "The text does not mention Paris.",
        "The passage does not say so, but Paris.",
        "unknown soldier",
        "The question",
    ],
)
def test_what_says_more_than_that_there_is_no_answer_is_one(response: str) -> None:
    assert score(response, "", unanswerable=True) == 0.0


TRUE_STATEMENTS = [
    "Die Aussage trifft zu.", "L'affirmation est exacte.", "La afirmación es correcta.", "L'affermazione è corretta.", "De bewering klopt.",
    "Påståendet stämmer.", "Påstanden er korrekt.", "Väite pitää paikkansa.", "To stwierdzenie jest prawdziwe.", "İfade doğrudur.",
    "Твердження правильне.", "Η πρόταση είναι αληθής.", "العبارة صحيحة.", "הטענה נכונה.", "यह कथन सही है।", "この記述は正しいです。", "该陈述是正确的。",
]  # fmt: skip
FALSE_STATEMENTS = [
    "Die Aussage trifft nicht zu.", "L'affirmation est inexacte.", "La afirmación es incorrecta.", "De bewering klopt niet.",
    "Påståendet stämmer inte.", "Väite ei pidä paikkaansa.", "To stwierdzenie jest fałszywe.", "İfade yanlıştır.", "Твердження хибне.",
    "Η πρόταση είναι ψευδής.", "הטענה שגויה.", "यह कथन गलत है।", "この記述は誤りです。", "该陈述是错误的。",
]  # fmt: skip


@table(
    ("response", "value"),
    [
        ("はい、そうです。", True),
        ("네, 맞습니다.", True),
        ("Sí, es correcto.", True),
        ("Ja.", True),
        ("没错", True),
        ("いいえ", False),
        ("아니요", False),
        ("Nein, das stimmt nicht.", False),
        ("The claim isn't true.", False),
        ("not true", False),
        ("Untrue.", False),
        ("Nicht wahr.", False),
        ("No es verdad.", False),
        ("Non è vero.", False),
        ("Não é verdade.", False),
        ("正しくない", False),
        ("To nie jest prawda.", False),
        ("Itu tidak benar.", False),
        ("यह सच नहीं है", False),
        *((f"{statement}", True) for statement in TRUE_STATEMENTS),
        *((f"{statement}", False) for statement in FALSE_STATEMENTS),
        *((f"### Answer\n\n{statement}", False) for statement in FALSE_STATEMENTS),
        ("Answer: That is wrong.", False),
        ("Answer: No, it isn't true.", False),
    ],
)
def test_yes_and_no_in_other_words(response: str, value: bool) -> None:
    assert score(response, value, metric="bool") == 1.0
    assert score(response, not value, metric="bool") == 0.0


NEITHER = [
    "not not true", "It is not true that it isn't", "Is it not true?", "ja und nein", "There is no correct answer.", "No hay respuesta correcta.",
    "Tidak ada jawaban yang benar.", "Nicht falsch.", "Non è falso.", "Not sure.", "Não sei", "Ob die Aussage zutrifft, weiß niemand.",
    "Answer: That may be wrong.", "Answer: My friend says it's false.", "Answer: If x is odd, that is wrong.", "Answer: That is wrong or right.",
    "无法判断该陈述是否正确。", "La afirmación no es ni cierta ni falsa.",
]  # fmt: skip


@table("response", NEITHER)
def test_what_is_neither_yes_nor_no(response: str) -> None:
    assert score(response, True, metric="bool") == score(response, False, metric="bool") == 0.0


@table(
    "response",
    [
        "La réponse est non.",
        "A resposta é não.",
        "الجواب هو لا.",
        "Đáp án là không.",
        "Jawabannya tidak.",
        "Die Antwort ist nein.",
    ],
)
def test_a_no_may_be_the_announced_answer(response: str) -> None:
    word = response.rstrip(".").split()[-1]
    assert score(response, word) == 1.0
    assert score(response.replace(word, f"{word} {word}"), word) == 0.0
    assert score(f"{response} 12", "12") == 0.0


@table(
    "response",
    [
        "**2020-01-05**",
        "The date is January 5, 2020.",
        "The treaty was signed on January 5, 2020.",
        "5. Januar 2020",
        "le 5 janvier 2020",
        "el 5 de enero de 2020",
        "5 января 2020 года",
        "2020년 1월 5일",
    ],
)
def test_days_in_sentences_and_in_other_languages(response: str) -> None:
    assert score(response, "2020-01-05", metric="date") == 1.0
    assert score(response, "2020-01-06", metric="date") == 0.0


@table(
    "response",
    [
        "The treaty was not signed on January 5, 2020.",
        "It might be on January 5, 2020.",
        "If it was on January 5, 2020",
        "It was before January 5, 2020",
        "Was it on January 5, 2020",
        "It was on January 5, 2020 or on January 6, 2020",
    ],
)
def test_a_day_that_is_denied_or_left_open_is_none(response: str) -> None:
    assert score(response, "2020-01-05", metric="date") == 0.0


@table(
    "response",
    [
        "a, b & c",
        '```json\n["a", "b", "c"]\n```',
        "Here you go:\n- a\n- b\n- c",
        "The three:\n1. a\n2. b\n3. c",
        "\\boxed{\\{a, b, c\\}}",
        "\\left\\{a, b, c\\right\\}",
        "a, b und c",
        "a, b y c",
        "(1) a\n(2) b\n(3) c",
        "+ a\n+ b\n+ c",
        "① a\n② b\n③ c",
    ],
)
def test_lists_as_models_write_them(response: str) -> None:
    assert score(response, [["a", "b", "c"]], metric="list") == 1.0
    assert score(response, [["a", "b"]], metric="list") == 0.0


def test_a_reference_is_not_divided_at_letters_that_are_words_elsewhere() -> None:
    assert score("x, z", "x y z", metric="list") == 0.0
    assert score("x y z", "x y z", metric="list") == 1.0


def test_a_list_of_what_is_wrong_is_none() -> None:
    assert score("Not these:\n- a\n- b", [["a", "b"]], metric="list") == 0.0


def test_a_letter_and_its_accent_are_one_letter_with_that() -> None:
    assert score("cafe\u0301", "caf\u00e9") == score("caf\u00e9", "cafe\u0301") == 1.0
    assert score("cafe", "caf\u00e9") == 0.0


@table(
    "response",
    [
        "Paris? No. Rome.",
        "Paris? Nope, Rome.",
        "Could it be Paris? I say Rome.",
        "Paris: no. Rome: yes.",
        "Paris (no), Rome (yes)",
        "Paris (incorrect), Rome (correct)",
        "Paris... no, Rome",
        "Paris. Wait, Rome.",
        "Paris! Just kidding, Rome.",
        "Paris is out; it's Rome.",
        "Paris was my first guess, but Rome",
        "Paris can be ruled out",
        "Paris, I think not.",
        "Rome (formerly thought Paris)",
        "Rome (often confused with Paris)",
        "You might think Paris, but it was Rome",
        "Everything but Paris",
        "Everything excluding Paris",
        "apart from Paris, Rome",
        "non-Paris",
        "maybe Paris, maybe Rome",
        "Is it Paris? No.",
    ],
)
def test_contains_pays_no_reference_that_is_asked_for_or_taken_back(response: str) -> None:
    assert score(f"<answer>{response}</answer>", "Paris", metric="contains") == 0.0


@table(
    "response",
    [
        "Rome? No. Paris.",
        "Paris? Yes, Paris.",
        "Is it Paris? Yes.",
        "What is the capital of France? Paris.",
        "Rome: no. Paris: yes.",
        "Rome... no, Paris",
        "Rome. Wait, no, Paris",
        "Paris, no doubt",
        "Paris, wait for it",
        "Paris. No other city qualifies.",
        "Paris (no relation to Paris, Texas)",
        "No, Paris.",
        "Wrong: it's not Rome. It is Paris.",
        "Once thought to be Lyon, it's Paris",
        "The non-coastal city Paris",
        "nothing but Paris",
        "probably Paris",
    ],
)
def test_contains_pays_what_a_question_or_another_place_is_answered_with(response: str) -> None:
    assert score(f"<answer>{response}</answer>", "Paris", metric="contains") == 1.0


def test_contains_takes_nothing_back_of_a_reference_that_has_such_words() -> None:
    assert score("The answer: no", "no", metric="contains") == 1.0
    assert score("A: wrong number", "wrong number", metric="contains") == 1.0
    assert score("The play Who's Afraid of Virginia Woolf? by Albee", "Virginia Woolf?", metric="contains") == 1.0
    assert score("a non-fiction book", "non-fiction", metric="contains") == 1.0
    assert score("a non-fiction book", "fiction", metric="contains") == 0.0


@table("response", ["before 1969", "shortly after 1969", "between 1969 and 1972", "pre-1969"])
def test_contains_takes_no_bound_for_a_number(response: str) -> None:
    assert score(response, "1969", metric="contains") == 0.0


def test_contains_takes_what_is_told_of_a_number_for_no_bound() -> None:
    assert score("after the war, in July 1969", "1969", metric="contains") == 1.0
    assert score("It was named after Queen Victoria", "Queen Victoria", metric="contains") == 1.0


@table(
    "response",
    [
        "Answer:\n1. A1\n2. B2\n3. C3",
        "**Answer:**\n\n- a1\n- b2\n- c3\n\nThese are all.",
        "The answer is:\n1. **A1**\n2. **B2**\n3. **C3**",
        "## Answer\n\n- a1\n- b2\n- c3",
        "We look at each.\n\nThe three are:\n- a1\n- b2\n- c3",
    ],
)
def test_a_list_may_stand_below_what_announces_it(response: str) -> None:
    assert score(response, [["a1", "b2", "c3"]], metric="list") == 1.0
    assert score(response, [["a1"]], metric="list") == 0.0
    assert score(response, [["1"]], metric="list") == 0.0


@table(
    "response",
    ["Answer:\n- a1\n- b2\n\nOr:\n- c3", "These are wrong:\n- a1\n- b2", "First:\n- c3\n\nThen:\n- a1\n- b2"],
)
def test_a_list_beside_another_one_or_called_wrong_is_none(response: str) -> None:
    assert score(response, [["a1", "b2"]], metric="list") == 0.0


@table("response", ["half true", "Mostly true", "It is partially true"])
def test_what_is_true_in_part_is_not_true(response: str) -> None:
    assert score(response, True, metric="bool") == 0.0


def test_a_truth_value_may_stand_above_its_reasons() -> None:
    assert score("Yes\n\nBoth are cities.", True, metric="bool") == 1.0


@table(("response", "reference"), [("東京です。", "東京"), ("서울입니다.", "서울")])
def test_a_sentence_may_end_in_what_says_it_is(response: str, reference: str) -> None:
    assert score(response, reference) == 1.0
    assert score(response, f"{reference}都") == 0.0
    assert score("東京ではありません。", reference) == 0.0


@table(
    "response",
    [
        "Answer: Paris (confidence: 0.9)",
        "Paris (95% confident)",
        "Paris, confidence: 95%",
        "<answer>Paris (confidence: high)</answer>",
        "The answer is Paris with 90% confidence.",
        "**Paris** (confidence: 90%)",
    ],
)
def test_how_sure_an_answer_is_is_no_part_of_it(response: str) -> None:
    assert score(response, "Paris") == 1.0
    assert score(response, "Rome") == 0.0


def test_a_confidence_may_be_asked_for() -> None:
    assert score("95% confidence", "95% confidence") == 1.0
    assert score("Paris (not confident)", "Paris") == 0.0
    assert score("Yes (confidence: 95%)", True, metric="bool") == 1.0


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["no, ", "no? ", "wrong way ", "? ", "a", "(no ", "- - ", "... wait... ", "non-"])
def test_what_is_taken_back_is_found_in_proportion_to_the_text(unit: str) -> None:
    assert stays_in_proportion(lambda text: contained(f"Paris {text}", "Paris", "squad"), unit=unit, chars=200_000)


@table(
    "answer",
    [
        "Paris - no. Rome.",
        "Paris... no. Rome.",
        "Paris, no. Rome.",
        "Paris (no). Rome.",
        "Paris. Wrong. Rome.",
        "Paris? Nope!",
    ],
)
def test_what_a_clause_calls_wrong_is_not_contained(answer: str) -> None:
    assert contained(answer, "Paris", "squad") == "denied"
    corrected = answer.replace("Paris", "Oslo").replace("Rome", "Paris").replace("Nope!", "No. Paris.")
    assert contained(corrected, "Paris", "squad") == "found"


def test_nor_is_what_stands_in_the_clause_before_called_wrong() -> None:
    assert contained("Paris. Rome - no.", "Paris", "squad") == "found"
    assert contained("Paris: the known answer", "Paris", "squad") == "found"


@table(
    "response",
    [
        "Ada Byron was not involved.", "Ada Byron hatte damit nichts zu tun.", "Ada Byron n'y a pas participé.", "Ada Byron nada teve a ver com isso.",
        "Ada Byron was er niet bij betrokken.", "Bunu Ada Byron yazmadı.", "Ada Byron آن را ننوشت.", "Ada Byron는 그것을 쓰지 않았습니다.",
        "それはAda Byronが書きませんでした。", "这不是Ada Byron写的。",
    ],
)  # fmt: skip
def test_who_did_not_take_part_is_not_named(response: str) -> None:
    assert score(response, "Ada Byron", metric="contains") == 0.0


@table(
    "response",
    [
        "Ada Byron was involved.", "Bunu Ada Byron yazdı.", "Ada Byron hatte nicht nur damit zu tun, sie schrieb es.", "それはAda Byronが書きました。",
        "Ada Byron가 그것을 썼습니다.", "这是Ada Byron写的。",
    ],
)  # fmt: skip
def test_who_took_part_is_named(response: str) -> None:
    assert score(response, "Ada Byron", metric="contains") == 1.0


def test_a_denied_name_shares_no_words_with_itself() -> None:
    assert score("It wasn't Ada Byron.", "Ada Byron", metric="f1") == 0.0
    assert score("It wasn't until 1969.", "1969", metric="f1") not in (0.0, None)
    assert score("It was Ada Byron.", "Ada Byron", metric="f1") not in (0.0, None)


@table(
    ("response", "reference"),
    [
        ("5 lipca 2021 r.", "2021-07-05"),
        ("5 ביולי 2021", "2021-07-05"),
        ("07/2021", "July 2021"),
        ("in 2021", "2021"),
    ],
)
def test_dates_of_other_languages_and_precisions(response: str, reference: str) -> None:
    assert score(response, reference, metric="date") == 1.0
    assert score(response.replace("2021", "2022"), reference, metric="date") == 0.0
