"""Rows of known data sets, read from their cards and repositories (tests/data/README.md), need no parameters."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from service.dataset_audit.rows import Columns as AuditColumns
from service.dataset_audit.rows import read
from service.recipes import data_sets
from service.rollouts.columns import Columns
from service.rollouts.rescore import check_first_row
from service.scoring.planning import Planner
from service.settings import Settings
from tests.accuracy.data_sets import PAGE, page
from tests.conftest import ROOT
from tests.service.recipes.shipped.scorer import Scorer
from tests.tables import table
from verifiers.base import InvalidItem

ROWS = [json.loads(line) for line in (ROOT / "tests/data/recipes/data_set_rows.jsonl").read_text().splitlines()]
KNOWN = data_sets.known()


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    everything = Scorer(Settings(sandbox="local", workers=1, box_slots=2))
    yield everything
    everything.close()


def _wanted(row: Mapping[str, Any]) -> list[tuple[str, float | None]]:
    if row["status"] != "ok":
        return [(row["status"], None)] * (1 + len(row["wrong"]))
    return [("ok", 1.0), *[("ok", 0.0)] * len(row["wrong"])]


def _label(row: Mapping[str, Any]) -> Mapping[str, str]:
    """The label of a row whose columns are those of many sets."""
    return {"data_source": row["label"]} if "label" in row else {}


@pytest.mark.accuracy
def test_a_row_is_the_reference_of_a_response_and_nothing_else_is_said(scorer: Scorer) -> None:
    for row in ROWS:
        responses = (row["right"], *row["wrong"])
        items = [{"reference": row["row"], "response": response, **_label(row)} for response in responses]
        results = scorer.score(*items)
        found = [(result.reason if result.status == "invalid" else result.status, result.score) for result in results]
        assert found == _wanted(row), (row["set"], results)


def test_a_row_may_be_text_if_no_label_makes_it_a_reference() -> None:
    rows = [row["row"] for row in ROWS if row["status"] == "ok" and "label" not in row]
    assert rows
    for row in rows:
        assert KNOWN.read(json.dumps(row), None) == KNOWN.read(row, None)
    assert KNOWN.read('{"a": "b"}', None) is None
    assert KNOWN.read("{x}", None) is None


def test_rows_of_a_file_are_judged_the_same(scorer: Scorer) -> None:
    columns = Columns()
    for row in ROWS:
        responses = (row["right"], *row["wrong"])
        items = [columns.item_of({**row["row"], "response": response, **_label(row)}) for response in responses]
        results = scorer.score(*(item for item in items if item is not None))
        found = [(result.reason if result.status == "invalid" else result.status, result.score) for result in results]
        assert found == _wanted(row), (row["set"], results)


def test_the_page_is_made_of_the_table() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.accuracy.data_sets"


def test_what_a_set_is_judged_by_exists(scorer: Scorer) -> None:
    book, registry = scorer.core.engine.book, scorer.core.engine.registry
    for each in KNOWN.all:
        for judged in (each.judged, *each.values.values()):
            if judged is not None:
                assert judged.recipe in book.recipes or judged.verifier in registry, each.name


def test_a_set_with_rows_is_told_by_its_columns_alone() -> None:
    for row in ROWS:
        of_set = KNOWN.of(row["row"], row.get("label"))
        assert of_set is not None
        assert of_set.name == row["set"] or of_set.label is not None, row["set"]


def test_no_two_sets_are_told_by_the_same_columns() -> None:
    """The set that is told by more columns counts, so equal columns would be of neither."""
    told = Counter(frozenset(each.told_by) for each in KNOWN.all if each.told_by)
    assert max(told.values()) == 1


def test_columns_of_several_sets_tell_none() -> None:
    one, other = (set(each.told_by) for each in KNOWN.all if each.name in ("codeparrot/apps", "AI-MO/NuminaMath-1.5"))
    assert KNOWN.told(dict.fromkeys(one | other, "1")) is None
    assert KNOWN.told({"problem": "1 + 1", "answer": "2"}) is None


def test_columns_that_many_sets_have_tell_a_row_that_has_no_other() -> None:
    row = {"problem": "1 + 1", "answer": "2", "solution": "One more is 2."}
    deepscaler = KNOWN.told(row)
    assert deepscaler is not None
    assert deepscaler.name == "agentica-org/DeepScaleR-Preview-Dataset"
    assert KNOWN.told({**row, "subject": "physics"}) is None
    item = Columns().item_of({"id": "7", "prompt": "1 + 1", "solution": "$2$", "completion": "\\boxed{2}"})
    assert item is not None
    assert item["reference"] == {"prompt": "1 + 1", "solution": "$2$"}
    assert Columns().item_of({"prompt": "1 + 1", "solution": "$2$", "tests": [], "completion": "2"}) != item


def test_a_row_that_many_sets_have_needs_a_label_and_the_message_says_which(scorer: Scorer) -> None:
    row = {"question": "Ann has 3 pens and buys 4. How many?", "answer": "3+4=<<3+4=7>>7\n#### 7"}
    (bare,) = scorer.score({"reference": row, "response": "7"})
    assert (bare.status, bare.reason) == ("invalid", "unroutable")
    assert "data_source" in bare.detail["message"]
    assert "openai/gsm8k" in bare.detail["message"]
    own = {"reference": {**row, "data_source": "openai/gsm8k"}, "response": "#### 7"}
    assert [(result.recipe, result.score) for result in scorer.score(own)] == [("verl.gsm8k", 1.0)]
    labelled = [{"data_source": "openai/gsm8k", "reference": row, "response": text} for text in ("#### 7", "#### 8")]
    assert [result.score for result in scorer.score(*labelled)] == [1.0, 0.0]


def test_columns_that_lack_something_are_named(scorer: Scorer) -> None:
    names = [
        "instance_id",
        "repo",
        "base_commit",
        "patch",
        "test_patch",
        "problem_statement",
        "version",
        "FAIL_TO_PASS",
    ]
    (lacking,) = scorer.score({"reference": dict.fromkeys(names, "x"), "response": ""})
    assert lacking.reason == "unroutable"
    assert "columns of SWE-bench/SWE-bench, but lacks eval_script, log_parser" in lacking.detail["message"]


@table(
    ("columns", "hint"),
    [
        ((), "it has no label: domain, data_source, tag; set one of them"),
        (
            ("problem_id", "task_type", "prompt", "verification_info", "metadata"),
            "Rows of PrimeIntellect/SYNTHETIC-2-RL",
        ),
        (("question", "answer", "info"), "Rows of PrimeIntellect-ai/prime-rl environments do not say how"),
    ],
)
def test_a_row_that_nothing_judges_is_told_what_to_add(scorer: Scorer, columns: tuple[str, ...], hint: str) -> None:
    (result,) = scorer.score({"reference": dict.fromkeys(columns, "5"), "response": ""})
    assert (result.reason, hint in result.detail["message"]) == ("unroutable", True), result.detail


def test_big_math_as_synthlabs_publishes_it_is_told_by_its_columns() -> None:
    row = {"problem": "p", "answer": "5", "source": "s", "domain": [], "llama8b_solve_rate": 0.5}
    told = KNOWN.read(row, None)
    assert told is not None
    assert (told.data_set.name, told.reference) == ("SynthLabsAI/Big-Math-RL-Verified", "5")


def test_a_set_that_is_told_by_the_columns_of_another_and_more_counts() -> None:
    taco = next(data_set for data_set in data_sets.known().all if data_set.name == "BAAI/TACO")
    told = data_sets.known().told(dict.fromkeys(taco.columns))
    assert told is taco


@table(
    ("solution", "response", "score"),
    [
        ("Solution. We get 7. Answer. 5", r"\boxed{5}", 1.0),
        ("Solution. We get 7. Answer. 5", r"\boxed{7}", 0.0),
        ("So the answer is $x = 5$.", r"\boxed{5}", 1.0),
        ("Since $a>b$, the claim follows. Hence proved.", "proved", None),
        ("no box here, x = 5", r"\boxed{5}", None),
        ("We see that it holds. " * 300 + "Answer. 5", r"\boxed{5}", 1.0),
        ("We see that it holds. " * 300, r"\boxed{5}", None),
    ],
)
def test_a_solution_that_shows_no_answer_is_not_a_reference(
    scorer: Scorer, solution: str, response: str, score: float | None
) -> None:
    row = {"source": "olympiads", "problem": "p", "solution": solution, "messages": []}
    (result,) = scorer.score({"reference": row, "response": response})
    assert (result.status, result.score) == ("invalid" if score is None else "ok", score)


def test_a_label_of_a_route_comes_before_the_columns(scorer: Scorer) -> None:
    (row,) = (row for row in ROWS if row["row"].get("question_id") == "1873_A")
    (result,) = scorer.score({"data_source": "taco", "reference": row["row"], "response": row["right"]})
    assert (result.recipe, result.score) == ("verl.prime_code", 1.0)


def test_what_the_row_says_itself_comes_before_everything(scorer: Scorer) -> None:
    row = {"prompt": "p", "solution": "4", "domain": ["Mathematics"], "llama8b_solve_rate": 0.5}
    (result,) = scorer.score({"verifier": "numeric", "reference": "4", "response": "4", "metadata": row})
    assert (result.verifier, result.score) == ("numeric", 1.0)
    item = Columns(verifier="numeric", reference="solution").item_of({**row, "response": "4"})
    assert item is not None
    assert (item["verifier"], item["reference"]) == ("numeric", "4")


def test_a_reference_of_the_rows_own_comes_before_that_of_its_data_set() -> None:
    row = {"data_source": "math_dapo", "reward_model": {"ground_truth": "4"}, "response": "Answer: 5"}
    item = Columns().item_of({**row, "reference": "5"})
    assert item is not None
    assert (item["data_source"], item["reference"]) == ("math_dapo", "5")


def test_a_value_that_says_nothing_known_is_not_judged(scorer: Scorer) -> None:
    row = {"messages": [{"role": "user", "content": "?"}], "ground_truth": "4", "dataset": ["gsm8k"]}
    (known,) = scorer.score({"reference": row, "response": "4"})
    assert (known.recipe, known.score) == ("open_instruct.gsm8k", 1.0)
    (unknown,) = scorer.score({"reference": {**row, "dataset": "chess"}, "response": "4"})
    assert (unknown.status, unknown.reason) == ("invalid", "unroutable")
    assert "gsm8k" in unknown.detail["message"]


def test_columns_of_the_set_are_no_response() -> None:
    """`answer` may be a response beside another reference, and `messages` may end with one, but not in these rows."""
    (row,) = [row["row"] for row in ROWS if row["set"] == "AI-MO/NuminaMath-1.5"][:1]
    assert Columns().item_of({**row, "solution": "so it is proved"}) is None
    (row,) = [row["row"] for row in ROWS if row["set"] == "AI-MO/NuminaMath-CoT"][:1]
    assert Columns().item_of(row) is None
    item = Columns().item_of({**row, "response": "7"})
    assert item is not None
    assert item["response"] == "7"


def test_large_columns_that_nobody_reads_are_left_behind() -> None:
    (row,) = [row["row"] for row in ROWS if row["set"] == "codeparrot/apps"][:1]
    item = Columns().item_of({**row, "solutions": "x" * 100_000, "response": "pass"})
    assert item is not None
    assert len(json.dumps(item)) < 2_000


def test_a_saved_file_of_rows_needs_no_option(tmp_path: Path) -> None:
    file = tmp_path / "rollouts.jsonl"
    file.write_text("".join(json.dumps({**row["row"], "response": row["right"]}) + "\n" for row in ROWS))
    check_first_row(file, Columns(), needs_judge=True)


def test_levels_of_a_data_set_do_no_harm_where_no_route_asks_for_them(scorer: Scorer) -> None:
    tests = {"inputs": ["1\n"], "outputs": ["1\n"]}
    item = {"data_source": "taco", "difficulty": "VERY_HARD", "ground_truth": tests, "response": "print(input())"}
    assert [result.score for result in scorer.score(item)] == [1.0]


def test_an_audit_reads_every_row_and_finds_those_without_an_answer(tmp_path: Path, scorer: Scorer) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text("".join(json.dumps({**row["row"], **_label(row)}) + "\n" for row in ROWS))
    read_rows = list(read(file, AuditColumns()))
    assert [row.problem for row in read_rows] == [""] * len(ROWS)
    planner = Planner(scorer.core.engine.registry, scorer.core.engine.book)
    for row, given in zip(ROWS, read_rows, strict=True):
        assert given.item is not None
        if row["status"] == "empty_reference":
            with pytest.raises(InvalidItem, match="proof"):
                planner.fill(given.item, bytes(given.item.reference))
        else:
            assert planner.fill(given.item, bytes(given.item.reference))[1]
