r"""Names the kinds of mistake in a wrong answer, as a diagnosis for people and statistics; it never changes a score.

With p the answer and g the reference, p ≠ g. Two numbers are compared exactly if both are rational; otherwise (also
with variables) they are compared at fixed points, with many more digits than agreement by chance could explain. These
definitions are this project's own and have no other source.

    of the value
    SIGN                     p = -g
    PERCENT                  p = 100 g or p = g/100
    POWER10                  p = g · 10^k with 0 < |k| <= 9
    OFF_BY_ONE               p = g + 1 or p = g - 1, of integers or of expressions with variables
    FACTOR_TWO               p = 2g or p = g/2
    ROUNDING                 none of the above, and the relative error is below 1 %, or p is a decimal number of two or
                             more significant digits and off by less than one unit of its last place
    of the structure
    ORDER                    the same elements in another order, where order counts
    INTERVAL_END             the same endpoints of an interval, open where they should be closed or the reverse
    DIRECTION                the same inequality to the other side: x < 3 for x > 3
    MISSING_ELEMENT          an element of the reference is not in the answer, which holds other elements of it, or none
    EXTRA_ELEMENT            an element of the answer is not in the reference, others of it are
    of the unit
    UNIT_MISMATCH            another unit of the same kind with the same quantity or the same number, or an unknown one
                             with the same number
    UNIT_MISSING             the right number without the reference's unit, if that made it wrong
    DIMENSION_MISMATCH       a unit for another kind of quantity
    of the way there
    UNSIMPLIFIED             the right value, asked for in its simplest form and not written so
    STOPPED_EARLY            p is the value of a step before the last
    COPIED_INPUT             p is a number of the question
    ARITHMETIC               the response holds an equation between numbers that is false
    of the response
    EMPTY, NO_ANSWER, TRUNCATED, THINK_MALFORMED, CONFLICTING_ANSWERS, UNPARSEABLE
    REPETITION               a third of it or more is the same stretch over and over
    LANGUAGE_MIX             more of it than names and terms explain is in another script than the prompt

In tuples, matrices, lists, equations and intervals the rules for values are applied to the
parts that differ, and `detail` names the part.

*Bounds.* Trees beyond `MAX_WEIGHT` get no diagnosis, one call evaluates at most `BUDGET` nodes, with a fixed precision,
and values beyond 2^±`MAX_MAGNITUDE` count as unknown. A rule that reaches a bound finds nothing.

    codes        the names, and what a pattern is              responses    of the response and its writing
    known        values of small trees, on one budget          differences  where the two differ
    rules        which mistake a difference shows
"""

from collections.abc import Callable, Iterable, Iterator

from verifiers.math.patterns.codes import Pattern
from verifiers.math.patterns.known import MAX_WEIGHT, weight_of
from verifiers.math.patterns.rules import (
    Case,
    Context,
    copied_input,
    false_equation,
    of_structure,
    of_unit,
    of_values,
    stopped_early,
    unsimplified,
)
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue


def find(reference: Node, answer: Node, context: Context) -> list[Pattern]:
    """Every pattern of an answer that the comparison called different, in the order of `Code`.

    It raises nothing: if something cannot be decided within the bounds, it is not a pattern.
    """
    if weight_of(reference) + weight_of(answer) > MAX_WEIGHT:
        return [] if context.right else list(false_equation(context.response))
    case = Case(reference, answer, context)
    if context.right:
        return _hits(unsimplified, case)
    return [pattern for rule in _RULES for pattern in _hits(rule, case)]


_RULES: tuple[Callable[[Case], Iterator[Pattern]], ...] = (
    of_values, of_structure, of_unit, unsimplified, stopped_early, copied_input,
    lambda case: iter(()) if case.is_same else false_equation(case.context.response),
)  # fmt: skip


def _hits(rule: Callable[[Case], Iterable[Pattern]], case: Case) -> list[Pattern]:
    try:
        return list(rule(case))
    except (NoValue, TooComplex):
        return []
