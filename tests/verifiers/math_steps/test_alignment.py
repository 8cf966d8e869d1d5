"""The pairing of statements with steps is the best one there is."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.math_steps.alignment import Step, _Candidate, _paired
from verifiers.math_steps.statements import Statement

ANYTHING = Statement("", "", "1")


def _best(weights: Sequence[float], credits: Sequence[float], same: Sequence[Sequence[bool]], i: int, j: int) -> float:
    if i == len(weights) or j == len(credits):
        return 0.0
    skipped = max(_best(weights, credits, same, i + 1, j), _best(weights, credits, same, i, j + 1))
    if not same[i][j]:
        return skipped
    return max(skipped, weights[i] * credits[j] + _best(weights, credits, same, i + 1, j + 1))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), rows=st.integers(0, 4), columns=st.integers(0, 5))
def test_no_pairing_in_order_is_worth_more(data: st.DataObject, rows: int, columns: int) -> None:
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=rows, max_size=rows))
    credits = data.draw(st.lists(st.sampled_from([0.25, 1.0]), min_size=columns, max_size=columns))
    cells = st.lists(st.booleans(), min_size=columns, max_size=columns)
    same = data.draw(st.lists(cells, min_size=rows, max_size=rows))
    steps = [Step([], "", weight) for weight in weights]
    candidates = [_Candidate(ANYTHING, ("", "", ""), False, credit) for credit in credits]
    paired = _paired(steps, candidates, same)
    taken = [(i, j) for i, j in enumerate(paired) if j is not None]
    assert all(same[i][j] for i, j in taken)
    assert [j for _, j in taken] == sorted({j for _, j in taken})
    assert sum(weights[i] * credits[j] for i, j in taken) == _best(weights, credits, same, 0, 0)
