"""Writes docs/data-sets.md from the table of known data sets: `python -m tests.accuracy.data_sets`."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from service.recipes.data_sets import DataSet, JudgedBy, known
from tests.conftest import ROOT

_ROWS: Final = (ROOT / "tests/data/recipes/data_set_rows.jsonl").read_text(encoding="utf-8").splitlines()
_KEPT: Final = Counter(json.loads(row)["set"] for row in _ROWS)
PAGE: Final = ROOT / "docs" / "data-sets.md"
_HEAD: Final = """\
# Rows of known data sets

A row as its data set publishes it needs no parameters. Send it as the `reference` of a response:

```sh
curl -s localhost:8080/v1/score -H 'Content-Type: application/json' -d '{"items": [{"response": "\\\\boxed{13/6}", "reference":
  {"source": "synthetic_math", "problem": "Solve for y", "solution": "so \\\\boxed{\\\\frac{13}{6}}", "messages": []}}]}'
```

`rewardline score FILE` and `rewardline audit FILE` read files of such rows; a response stands in one more column (`response`,
`completion`, ...). The columns of a data set are never taken for a response, and may hold anything: `domain` may be a list, `difficulty`
any word.

A row may also be JSON as text, if the item has no `data_source`.

Rows of ROLL (`tag`, `domain`, `ground_truth`, `case_type`, `test_cases`, ...) are items themselves: send a row with a `response` in it.

The data set is told by columns that only its rows have ("told by"). If columns of two sets are in a row, the one that is told by all columns of the other, and more,
counts; if neither is, the row is `invalid` (`unroutable`). Where columns are those of many sets, the label `data_source` names the set, and the
message says which names are possible; a few such sets are told by having no other column. A verifier, a recipe or a routed label of the item comes before the columns.

A set whose rows could not be read is not routed by guess. It is in the last table, with what was tried.

"""
_TABLE: Final = """\
| data set | licence | told by | judged by | against |
|---|---|---|---|---|
"""
_COMPARED: Final = """
## Beside their own checkers

Rows of each set were judged with several responses: the reference, wrong answers, and mutations of both (other forms, thinking, two answers,
programs that exit early). "Pairs" counts rows with responses. "Kept" counts the rows that are tests, in `tests/data/recipes/data_set_rows.jsonl`: where it
is 1, no second row of the set is quoted in public; a dash means that its rows are tested elsewhere, as the last column says.

| data set | rows from | checker | rows | pairs | equal | kept | where we differ |
|---|---|---|---|---|---|---|---|
"""
_NOT_TRIED: Final = """
## Not tried

| data set | columns | what was tried |
|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    sets = known().all
    judged = [each for each in sets if each.not_tried is None]
    return "".join((
        _HEAD,
        _TABLE,
        *(line for each in judged for line in _judged(each)),
        _COMPARED,
        *(_compared(each) for each in judged),
        _NOT_TRIED,
        *(_line(f"`{each.name}`", _codes(each.columns), each.not_tried) for each in sets if each.not_tried is not None),
    ))  # fmt: skip


def _judged(each: DataSet) -> Iterator[str]:
    names = ", ".join(f"`{name}`" for name in (each.name, *each.also))
    told = _codes(each.told_by) or "the label `data_source`"
    if each.alone:
        told += ", and no other column"
    if each.label is not None:
        yield _line(names, each.licence, told, f"the route of its `{each.label}`", f"`{each.reference}`")
    elif each.judged is not None:
        yield _line(names, each.licence, told, _by(each.judged), _against(each.judged))
    else:
        ways = {(_by(way).rpartition(".")[0], _against(way)) for way in each.values.values()}
        by = ", ".join(sorted(f"{start}.*`" for start, _ in ways))
        values = ", ".join(f"`{value}`" for value in each.values)
        yield _line(names, each.licence, told, f"{by} by `{each.by}`: {values}", ", ".join({way for _, way in ways}))


def _by(way: JudgedBy) -> str:
    return f"recipe `{way.recipe}`" if way.recipe is not None else f"verifier `{way.verifier}`"


def _against(way: JudgedBy) -> str:
    if way.reference == ".":
        return "the row"
    return f"`{way.reference}`" if isinstance(way.reference, str) else _codes(tuple(way.reference))


def _compared(each: DataSet) -> str:
    names, kept = f"`{each.name}`", str(sum(_KEPT[name] for name in (each.name, *each.also)) or "-")
    found = each.compared
    if found is None:
        return _line(names, each.origin, each.checker, "-", "-", "-", kept, each.elsewhere or "")
    figures = (f"{found.rows}", f"{found.pairs:,}", f"{found.equal:,}", kept)
    return _line(names, each.origin, each.checker, *figures, "; ".join(found.differs) or "nowhere")


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
