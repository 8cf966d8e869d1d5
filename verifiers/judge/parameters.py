"""The parameters of an item for the judge."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from verifiers.base import Params
from verifiers.judge import rubrics
from verifiers.judge.criteria import Criterion
from verifiers.judge.criteria import read as read_criteria
from verifiers.judge.profiles import MAX_VOTES, PROFILE_NAME, Mode, View
from verifiers.judge.rubrics.formulas import Formula, problem

MAX_REFERENCES = 64
MAX_STEPS = 200
MAX_TURNS = 512
MAX_OTHERS = 63
"""A judge is shown 64 responses at most."""
_ANSWER_FIELDS = ("final_answer", "answer", "reference", "ground_truth")


def _references(value: Any) -> Any:
    """Read the reference: one answer, or several of which any is right; of an object its answer, or all of it."""
    if isinstance(value, list | tuple):
        if len(value) > MAX_REFERENCES:
            raise ValueError(f"{len(value)} references; at most {MAX_REFERENCES} are allowed")
        return tuple(_answer(reference) for reference in value)
    return () if value in (None, "", {}) else (_answer(value),)


def _answer(value: Any) -> Any:
    if isinstance(value, Mapping):
        answer_field = next((value[name] for name in _ANSWER_FIELDS if value.get(name) is not None), None)
        value = answer_field if answer_field is not None else msgspec.json.encode(value).decode()
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return value


_Text = Annotated[str, Field(min_length=1)]


class Turn(BaseModel):
    """A message of the conversation before the response."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    role: Literal["system", "developer", "user", "assistant", "tool"]
    """Who speaks."""
    content: str
    """The text of the message."""


class JudgeParams(Params):
    """What a judge is asked about a response, and what the response is compared with."""

    reference: Annotated[tuple[_Text, ...], BeforeValidator(_references), Field(max_length=MAX_REFERENCES)] = ()
    """The right answer, or several answers of which any is right. Mode `reference` needs it; in other modes it is a
    good answer."""
    judge: Annotated[str, Field(pattern=PROFILE_NAME)] | None = None
    """The name of a profile in the service's configuration; None: the default profile of the mode."""
    mode: Mode | None = None
    """reference: whether the answer equals the reference; criteria: how far each criterion is met; quality: a grade
    from 1 to 10; pairwise: whether it is better than `other`; compare: scores from 1 to 5 for it and `other`, and a
    ranking of both from 1 to 6, as NeMo-Gym's genrm_compare asks for; listwise: scores from 0 to 10 for it and all
    `others`, in one call; steps: whether no step is wrong. None: the mode of the profile that `judge` names, or else the
    mode of `criteria`, `other`, `others` or `steps`, or else reference."""
    question: str | None = None
    """The question; default: the item's prompt."""
    history: Annotated[tuple[Turn, ...], Field(max_length=MAX_TURNS)] = ()
    """The conversation before the response. Prompts of roles (`nemotron_genrm@2`) show its messages with their roles in the
    place of the question; others show the question."""
    principle: str | None = None
    """What the response is judged by, for prompts with that slot (`nemotron_genrm@2`)."""
    criteria: Annotated[tuple[Criterion, ...] | None, BeforeValidator(read_criteria)] = None
    """Names, or objects with text, weight (below 0: a fault) and must_pass; or names with their weights; or the row of a
    data set whose rubric is known (`verifiers/judge/rubrics/formats.yaml`), which may be the reference as well."""
    format: str | None = None
    """The data set that the rubric is written like; by default its columns tell."""
    aggregate: Formula | None = None
    """The formula that makes a score of criteria; by default that of the data set, else weighted. threshold: 1 if their
    weighted mean reaches `threshold`. grade: a number from 1 to 10 for all of them together."""
    signed: bool = False
    """Whether the formula's value from -1 to 1 becomes the score 0 to 1; by default a value below 0 is 0."""
    threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """With `aggregate` threshold: the least weighted mean of the criteria that earns 1."""
    other: str | None = None
    """The response that modes pairwise and compare compare with: 1 better, 0.5 as good, 0 worse."""
    others: Annotated[tuple[str, ...], Field(max_length=MAX_OTHERS)] | None = None
    """The responses that mode listwise scores together with this one; empty if there are none."""
    orders: Literal["agree", "mean", "arena_hard", "one"] = "agree"
    """What the two orders of a pair come to. agree: a tie unless both name the same response; mean: their mean;
    arena_hard: the mean with decisive verdicts three times, as Arena-Hard counts them. one: only one order is asked, in
    which the response comes first; that is half the calls, and shows how the judge likes first places."""
    steps: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=MAX_STEPS)] | None = None
    """The steps of the response; default: its paragraphs, or its lines if it has one paragraph."""
    votes: Annotated[int, Field(ge=1, le=MAX_VOTES)] | None = None
    """The number of models that are asked; default: that of the profile."""
    prompt_template: Annotated[str, Field(pattern=PROFILE_NAME)] | None = None
    """`name@version` of a prompt of the service; never a prompt's text."""
    view: View | None = None
    """The part of the response that is shown: all text after its thinking, or the answer that it commits to."""

    @model_validator(mode="before")
    @classmethod
    def _with_rubric(cls, value: Any) -> Any:
        return _rubric_of(value) if isinstance(value, Mapping) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        mode = self.mode
        if mode == "reference" and not self.reference:
            raise ValueError("mode reference needs a reference")
        if mode == "criteria" and not self.criteria:
            raise ValueError("mode criteria needs criteria")
        if self.criteria is not None and (why := problem(self.formula, self.criteria)):
            raise ValueError(f"criteria: {why}")
        if mode == "pairwise" and self.other is None:
            raise ValueError("mode pairwise needs other, the response to compare with")
        if (self.aggregate == "threshold") is (self.threshold is None):
            raise ValueError("aggregate threshold and threshold need each other")
        return self

    @property
    def formula(self) -> Formula:
        return self.aggregate or "weighted"

    @property
    def usual_mode(self) -> Mode:
        """The mode without a profile. What is missing never chooses one: an item without its reference is not one for
        mode quality.
        """
        if self.mode is not None:
            return self.mode
        if self.criteria is not None:
            return "criteria"
        if self.other is not None:
            return "pairwise"
        if self.others is not None:
            return "listwise"
        if self.steps is not None:
            return "steps"
        return "reference"


def _rubric_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the rubric of a row, which stands in `criteria` or is the reference.

    Raises:
        ValueError: the row lacks what its format needs.
    """
    fields = {name: value for name, value in raw.items() if value is not None}
    field = "criteria" if "criteria" in fields else "reference"
    if field not in fields or _is_read(fields[field]) or fields.get("mode", "criteria") != "criteria":
        return fields
    rubric = rubrics.find(fields[field], fields.get("format"))
    if rubric is not None:
        del fields[field]
        rubric_fields = {
            "aggregate": rubric.formula,
            "question": rubric.question,
            "reference": rubric.reference,
        }
        fields = rubric_fields | fields | {"criteria": rubric.criteria, "format": rubric.format}
    elif (entries := rubrics.listed(fields[field])) is not None and not _has_answer(fields[field]):
        del fields[field]
        fields["criteria"] = entries
    if raw.get("aggregate") == "grade" and "criteria" in fields:
        fields["criteria"] = _graded(read_criteria(fields["criteria"]))
    return fields


def _has_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and any(value.get(name) is not None for name in _ANSWER_FIELDS)


def _graded(criteria: Any) -> Any:
    """All criteria as one that gets a grade, unless they have grades of their own."""
    if not isinstance(criteria, list | tuple) or (len(criteria) == 1 and criteria[0].get("levels")):
        return criteria
    has_grades = all("1" in criterion.get("choices", ()) for criterion in criteria)
    return criteria if has_grades else [rubrics.as_one([criterion["text"] for criterion in criteria])]


def _is_read(value: Any) -> bool:
    """Whether these are criteria that were read before."""
    listed = value if isinstance(value, list | tuple) else ()
    return bool(listed) and all(
        isinstance(c, Criterion) or (isinstance(c, Mapping) and "must_pass" in c) for c in listed
    )
