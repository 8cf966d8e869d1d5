"""The parameters of `math_verify`, with the names and the default values of Math-Verify's own parameters."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from verifiers.base import Params
from verifiers.math.params import Answers, FinalAnswer

MAX_TIMEOUT_S = 30.0


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Normalization(_Part):
    """latex2sympy's `NormalizationConfig`: what is repaired in LaTeX before it is read."""

    basic_latex: bool = True
    """Whether LaTeX that changes nothing, such as `\\displaystyle`, is dropped."""
    units: bool = True
    """Whether units are dropped."""
    malformed_operators: bool = True
    """Whether operators without braces, such as `\\frac12`, are completed."""
    nits: bool = True
    """Whether small slips, such as a missing leading zero, are repaired."""
    boxed: Literal["all", "last", "none"] = "all"
    """The boxes whose content is taken."""
    equations: bool = False
    """Whether only the last side of an equation is kept."""


class LatexTarget(_Part):
    """Its `LatexExtractionConfig`."""

    kind: Literal["latex"] = "latex"
    """The kind of text: LaTeX."""
    try_extract_without_anchor: bool = True
    """Whether LaTeX counts if neither a box nor the word "answer" stands before it."""
    boxed_match_priority: Annotated[int, Field(ge=-1, le=1000)] = 50
    """0: boxes before everything; 50: beside "final answer is"; -1: boxes are not looked for."""
    normalization: Normalization = Normalization()
    """What is repaired before it is read."""


class ExprTarget(_Part):
    """Its `ExprExtractionConfig`: numbers and arithmetic without LaTeX."""

    kind: Literal["expr"]
    """The kind of text: plain expressions."""
    try_extract_without_anchor: bool = True
    """Whether an expression counts if the word "answer" does not stand before it."""


class StringTarget(_Part):
    """Its `StringExtractionConfig`: one of these texts."""

    kind: Literal["string"]
    """The kind of text: one of `strings`."""
    strings: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=100)] = (
        *("A", "B", "C", "D"),
    )
    """The texts."""
    try_extract_without_anchor: bool = True
    """Whether a text counts if the word "answer" does not stand before it."""
    lowercase: bool = True
    """Whether capital letters are equal to small ones."""


Target = Annotated[LatexTarget | ExprTarget | StringTarget, Field(discriminator="kind")]


class Parsing(_Part):
    """How one side is parsed, by the arguments of Math-Verify's `parse`."""

    targets: Annotated[tuple[Target, ...], Field(min_length=1, max_length=3)] = (LatexTarget(), ExprTarget(kind="expr"))
    """The kinds of text that are searched: the `extraction_config` of `parse`."""
    fallback_mode: Literal["no_fallback", "first_match"] = "first_match"
    """first_match: the first text that was found counts as text, too."""
    extraction_mode: Literal["first_match", "any_match"] = "any_match"
    """any_match: if the first text that was found cannot be read, the other texts are tried."""


class Terms(Params):
    """What responses are judged by beside the reference: parameters of `parse` and `verify`."""

    parse_reference: Parsing = Parsing()
    """How the reference is parsed."""
    parse_response: Parsing = Parsing()
    """How the response is parsed."""
    float_rounding: Annotated[int, Field(ge=0, le=100)] = 6
    """A decimal number is compared to this many decimals."""
    numeric_precision: Annotated[int, Field(ge=1, le=1000)] = 15
    """Values are computed to this many digits."""
    strict: bool = True
    """Whether names of variables count, and sets differ from tuples."""
    allow_set_relation_comp: bool = False
    """Whether an inequality may be right if the reference is an interval."""


class MathVerifyParams(Terms):
    """The reference, and how its verdict is come by."""

    reference: Answers | FinalAnswer
    """The right answer, or several answers of which each is right; of an object only its `final_answer` is used."""
    reference_is: Literal["text", "math", "boxed"] = "text"
    r"""How the reference is given to `parse`. text: unchanged; math: between dollars, unless it has dollars or a
    box; boxed: in `\boxed{}`, as in verl."""
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S)] = 5.0
    """CPU seconds for one item: reading both sides and all comparisons. The original's alarms are off."""

    @property
    def references(self) -> list[str]:
        """Each reference in the form for `parse`."""
        answers = self.reference.final_answer if isinstance(self.reference, FinalAnswer) else self.reference
        raw = answers if isinstance(answers, list) else [answers]
        return [_written(str(reference), self.reference_is) for reference in raw]


def _written(reference: str, written_as: str) -> str:
    if written_as == "boxed":
        return rf"\boxed{{{reference}}}"
    return reference if written_as == "text" or is_marked(reference) else f"${reference.strip()}$"


def is_marked(text: str) -> bool:
    """Whether a text itself marks its mathematics."""
    return "$" in text.replace(r"\$", "") or text.lstrip().startswith((r"\(", r"\[")) or r"\boxed" in text
