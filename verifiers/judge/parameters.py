"""The parameters of an item for the judge."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import BeforeValidator, Field, model_validator

from verifiers.base import Params
from verifiers.judge.criteria import Criterion
from verifiers.judge.criteria import read as read_criteria
from verifiers.judge.profiles import MAX_VOTES, Mode, View

MAX_REFERENCES = 64
MAX_STEPS = 200
_NAME = r"^[A-Za-z0-9_.@/-]{1,100}$"
_ANSWER_FIELDS = ("final_answer", "answer", "reference", "ground_truth")


def _references(value: Any) -> Any:
    """Read the reference: one answer, or several of which any is right; of an object its answer, or all of it."""
    if isinstance(value, list | tuple):
        if len(value) > MAX_REFERENCES:
            raise ValueError(f"{len(value)} references; at most {MAX_REFERENCES} are allowed")
        return tuple(_answer(each) for each in value)
    return () if value is None else (_answer(value),)


def _answer(value: Any) -> Any:
    if isinstance(value, Mapping):
        named = next((value[name] for name in _ANSWER_FIELDS if value.get(name) is not None), None)
        value = named if named is not None else msgspec.json.encode(value).decode()
    if isinstance(value, bool | int | float):
        return msgspec.json.encode(value).decode()
    return value


_Text = Annotated[str, Field(min_length=1)]


class JudgeParams(Params):
    """What a judge is asked about a response, and what the response is compared with."""

    reference: Annotated[tuple[_Text, ...], BeforeValidator(_references), Field(max_length=MAX_REFERENCES)] = ()
    """The right answer, or several answers of which any is right. Mode `reference` needs it; in other modes it is a
    good answer."""
    judge: Annotated[str, Field(pattern=_NAME)] | None = None
    """The name of a profile in the service's configuration; None: the default profile of the mode."""
    mode: Mode | None = None
    """reference: whether the answer equals the reference; criteria: how far each criterion is met; quality: a grade
    from 1 to 10; pairwise: whether it is better than `other`; steps: whether no step is wrong. None: the mode of the
    profile that `judge` names, or else the mode of `criteria`, `other` or `steps`, or else reference."""
    question: str | None = None
    """The question; default: the item's prompt."""
    criteria: Annotated[tuple[Criterion, ...] | None, BeforeValidator(read_criteria)] = None
    """Names, or objects with text, weight (below 0: a fault) and must_pass; or names with their weights."""
    aggregate: Literal["weighted", "all", "any", "min", "product", "threshold"] = "weighted"
    """How criteria make a score. threshold: 1 if their weighted mean reaches `threshold`."""
    threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    other: str | None = None
    """The response that mode pairwise compares with: 1 better, 0.5 as good, 0 worse."""
    steps: Annotated[tuple[_Text, ...], Field(min_length=1, max_length=MAX_STEPS)] | None = None
    """The steps of the response; default: its paragraphs, or its lines if it has one paragraph."""
    votes: Annotated[int, Field(ge=1, le=MAX_VOTES)] | None = None
    """The number of models that are asked; default: that of the profile."""
    prompt_template: Annotated[str, Field(pattern=_NAME)] | None = None
    """`name@version` of a prompt of the service; never a prompt's text."""
    view: View | None = None
    """The part of the response that is shown: all text after its thinking, or the answer that it commits to."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        mode = self.mode
        if mode == "reference" and not self.reference:
            raise ValueError("mode reference needs a reference")
        if mode == "criteria" and not self.criteria:
            raise ValueError("mode criteria needs criteria")
        if self.criteria is not None and not any(each.weight for each in self.criteria):
            raise ValueError("criteria: all weights are 0")
        if mode == "pairwise" and self.other is None:
            raise ValueError("mode pairwise needs other, the response to compare with")
        if (self.aggregate == "threshold") is (self.threshold is None):
            raise ValueError("aggregate threshold and threshold need each other")
        return self

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
        if self.steps is not None:
            return "steps"
        return "reference"
