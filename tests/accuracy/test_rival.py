"""Math-Verify at its best, and never for long."""

import pytest

from sandbox.workers import Exit
from tests.accuracy import rival


@pytest.mark.parametrize(
    ("reference", "marked"),
    [
        (r"\frac{1}{2}", r"$\frac{1}{2}$"),
        (r"\$5", r"$\$5$"),
        ("$5$, $6$", "$5$, $6$"),
        (r"\[x\]", r"\[x\]"),
        (r"\boxed{5}", r"\boxed{5}"),
    ],
)
def test_a_reference_is_marked_as_mathematics(reference: str, marked: str) -> None:
    assert rival.at_its_best(reference) == marked


@pytest.mark.accuracy
def test_what_takes_too_long_is_not_judged_and_costs_nothing_else() -> None:
    pairs = [("1", r"\boxed{(10^8)!}"), (r"\frac{1}{2}", r"\boxed{0.5}"), ("5", r"\boxed{6}")]
    outcomes, seconds = rival.outcomes(pairs, workers=1)
    assert [rival.verdict(outcome) for outcome in outcomes] == [None, True, False]
    assert outcomes[0].exit in (Exit.OK, Exit.TIME_LIMIT, Exit.MEMORY_LIMIT)
    assert seconds < 60
