"""An answer and its reference, prepared for the rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from verifiers.math import units
from verifiers.math.options import Form
from verifiers.math.patterns.known import Known
from verifiers.math.patterns.parts import OTHERWISE, canonical, number_node, unit_and_value, without_name
from verifiers.math.patterns.structures import differences_of
from verifiers.math.tree import Node, TooComplex
from verifiers.math.values import NoValue


@dataclass(frozen=True, slots=True)
class Context:
    """The context of an answer beside its reference."""

    question: str | None = None
    steps: Sequence[str] = ()
    """Intermediate values on the way to the reference, in order."""
    response: str | None = None
    form: Form = "any"
    ordered: bool = False
    """Whether the elements of lists and sets must be in order."""
    right: bool = False
    """Whether the comparison found the value right, so that only the form of the answer is checked."""


class Case:
    """One call of `find`: the bare values of both sides, and how they differ."""

    def __init__(self, reference: Node, answer: Node, context: Context) -> None:
        self.context = context
        self.values = Known()
        self.written = answer
        lhs, rhs = without_name(canonical(reference), canonical(answer))
        self.reference_unit, self.reference = unit_and_value(lhs)
        self.answer_unit, self.answer = unit_and_value(rhs)
        self.converted = self._converted()
        """The answer in the reference's unit; None if it cannot be converted."""
        self.is_same = False
        """Whether the two differ at most in their unit or their form."""
        self.differences = OTHERWISE
        try:
            if self.converted is not None:
                differences = differences_of(self.reference, self.converted, context.ordered, self.values)
                self.is_same, self.differences = differences is None, differences or OTHERWISE
        except (NoValue, TooComplex):
            pass

    def _converted(self) -> Node | None:
        if self.reference_unit is None or self.answer_unit is None or self.reference_unit == self.answer_unit:
            return self.answer
        value = self.values.exact(self.answer)
        converted = None if value is None else units.convert(value, self.answer_unit, self.reference_unit)
        return None if converted is None else number_node(converted)
