"""A table tries every row, and tells which are wrong."""

import inspect

import pytest

from tests.tables import table

SEEN: list[tuple[int, str]] = []


@table("number", [1, 2])
@table(("text", "length"), [("a", 1), ("bc", 2)], ids=["one", "two"])
def test_each_row_meets_each_other(number: int, text: str, length: int) -> None:
    SEEN.append((number, text))
    assert len(text) == length


def test_all_rows_were_tried() -> None:
    SEEN.clear()
    test_each_row_meets_each_other()
    assert SEEN == [(1, "a"), (1, "bc"), (2, "a"), (2, "bc")]


def test_what_is_wrong_is_told_by_its_row_and_the_rest_is_tried() -> None:
    tried = []

    @table("value", ["a", "b", "c"])
    def judged(value: str) -> None:
        tried.append(value)
        assert value == "b", "not b"

    with pytest.raises(AssertionError, match=r"2 of 3 rows are wrong:\n'a'\n    AssertionError: not b"):
        judged()
    assert tried == ["a", "b", "c"]


def test_fixtures_stay_parameters_and_an_empty_table_is_refused() -> None:
    @table("value", [1])
    def judged(value: int, tmp_path: object) -> None:
        """Says something."""

    assert list(inspect.signature(judged).parameters) == ["tmp_path"]
    assert (judged.__name__, judged.__doc__) == ("judged", "Says something.")
    with pytest.raises(AssertionError, match="tests nothing"):
        table("value", [])


def test_a_mark_below_a_table_is_kept() -> None:
    @table("value", [1])
    @pytest.mark.boxes
    def judged(value: int) -> None:
        assert value

    assert [mark.name for mark in pytest.mark.skipif(False, reason="")(judged).pytestmark] == ["boxes", "skipif"]
