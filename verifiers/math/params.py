"""The parameters of `math`: the reference, and how closely the answer must match it."""

from typing import Annotated, Any

from propcache.api import cached_property
from pydantic import AfterValidator, ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from verifiers.base import Params
from verifiers.commitment import ExtractionParams
from verifiers.long_texts import sendable
from verifiers.math import units
from verifiers.math.first_look import FirstLook, Terms, packed_extraction
from verifiers.math.options import ConstantPolicy, Form, Locale, Options, PercentPolicy, SecondOpinion, UnitPolicy
from verifiers.math.solutions import MAX_STEP_CHARS, MAX_STEPS


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("a reference must not be blank")
    return text


def _known_unit(text: str) -> str:
    if units.scaled_key(text) is None:
        raise ValueError("not read as a unit")
    return text


Answer = Annotated[StrictStr, AfterValidator(_not_blank)] | StrictInt | StrictFloat
Answers = Answer | Annotated[list[Answer], Field(min_length=1, max_length=64)]


class FinalAnswer(Params):
    """A reference that says more than its final answer; the rest is for other verifiers."""

    model_config = ConfigDict(extra="ignore")

    final_answer: Answers
    """The right answer, or several answers of which each is right."""
    unit: Annotated[StrictStr, AfterValidator(_known_unit)] | None = None
    """The unit of the answer, if `final_answer` does not include it. It may have a power of ten, as in SciBench:
    `$10^{3} \\mathrm{~N}$` with 1.5 is 1500 N, and 1.5 alone is right."""
    tolerance: float | None = Field(default=None, ge=0)
    """An absolute tolerance; the parameter `abs_tol` takes precedence if the caller gives it."""
    steps: Any = None
    """The steps before the answer: texts, or objects with an `expr`. Here they only show which wrong answers stopped
    early."""


class MathParams(ExtractionParams):
    reference: Answers | FinalAnswer
    """The right answer, or several answers of which each is right. LaTeX or plain, with or without `$` or a box."""
    abs_tol: float | None = Field(default=None, ge=0)
    """A number may differ from the reference by this much. 0, the same as the default: it must be exactly the same."""
    rel_tol: float = Field(default=0.0, ge=0, lt=1)
    """A number may differ from the reference by this share of it."""
    exact_years: bool = False
    """Whether `rel_tol` leaves out references that may be years: whole numbers from 1500 to 2100. ChartQA: 0.05 with it."""
    unit_policy: UnitPolicy = "convert"
    """How units are compared. convert: the same quantity in either unit is right (500 cm for 5 m), and a unit on one
    side only is ignored; require: the answer must have the reference's unit, or one that converts; ignore: units are
    not compared."""
    ordered: bool = False
    """Whether elements between commas, or in braces, must be in the order of the reference."""
    second_opinion: SecondOpinion = "never"
    """Whether Math-Verify is asked about the answer, too. unreadable: if the answer or the reference cannot be read;
    always: also if the answer would be wrong. Only its acceptance counts, and only if everything that it is known to
    ignore (units, words, subscripts, the sides of an equation, small differences) is alike on both sides."""
    form: Form = "any"
    """How the right answer must be written. simplified: a fraction in lowest terms, nothing left to compute or cancel;
    decimal: as a decimal number or an integer; fraction: as a fraction or an integer."""
    locale: Locale = "en"
    """The language of the notation of numbers. In `de`, `fr`, `es` and the like 3,5 is a decimal and 1.234 a
    thousand, in the reference and in the answer; elements are then separated by a comma and a blank, or by a
    semicolon."""

    percent: PercentPolicy = "unit"
    """The meaning of a percent sign on one side only. unit: it may be left out, so that both 10 and 0.1 are right
    for 10 %; for 4 without the sign, 4 % is right and 400 % is not, for 0.25, 25 % is. factor: it is a hundredth, so
    that only 0.1 is right for 10 %, and 400 % for 4."""
    constant: ConstantPolicy = "required"
    """The constant of integration. required: x^2 is not x^2 + C; optional: an answer may leave it out."""
    edit_distance: bool = False
    """Whether a wrong expression earns what PHYBench's Expression Edit Distance gives: 0.6 less the cost of the edits that
    turn its tree into the reference's, as a share of the nodes there; at least 0. An answer that is too large, or that
    is not an expression, earns nothing."""

    @cached_property
    def look(self) -> FirstLook:
        """The first look for these parameters; it is kept with them, because all samples of a prompt share them."""
        references = [sendable(reference) for reference in self.references]
        return FirstLook(Terms(references, self.options, packed_extraction(self.think, self.extract, self.on_conflict)))

    @property
    def options(self) -> Options:
        reference = self.reference if isinstance(self.reference, FinalAnswer) else None
        abs_tol = self.abs_tol
        if abs_tol is None:
            abs_tol = reference.tolerance if reference is not None and reference.tolerance is not None else 0.0
        unit = reference.unit if reference is not None else None
        return Options(
            abs_tol,
            self.rel_tol,
            self.unit_policy,
            unit,
            self.ordered,
            self.form,
            self.locale,
            self.percent,
            self.constant,
            self.exact_years,
        )

    @property
    def steps(self) -> list[str]:
        """The texts among the reference's steps, to a bounded number."""
        steps = self.reference.steps if isinstance(self.reference, FinalAnswer) else None
        step_texts = [step.get("expr") if isinstance(step, dict) else step for step in _first(steps)]
        return [text for text in step_texts if isinstance(text, str) and len(text) <= MAX_STEP_CHARS]

    @property
    def references(self) -> list[str]:
        answers = self.reference.final_answer if isinstance(self.reference, FinalAnswer) else self.reference
        return [str(answer) for answer in (answers if isinstance(answers, list) else [answers])]


def _first(steps: Any) -> list[Any]:
    return steps[:MAX_STEPS] if isinstance(steps, list) else []
