"""How one kind of question is put to judge models: a profile, named by an item's `judge`."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Mode = Literal["reference", "criteria", "quality", "pairwise", "steps"]
View = Literal["final_answer", "full"]

DEFAULT_PROMPTS: dict[Mode, str] = {
    "reference": "ref_equiv@1",
    "criteria": "rubric@1",
    "quality": "quality@1",
    "pairwise": "pair@1",
    "steps": "steps@1",
}
DIRECT_PROMPTS: dict[Mode, str] = {"reference": "ref_equiv_direct@1", "quality": "quality_direct@1"}
"""The verdict without a rationale before it, whose probability would be 1 by then."""
MAX_VOTES = 16


class Part(BaseModel):
    """A part of the configuration: unknown names are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Sampling(Part):
    """What the model is asked for."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] = 512
    max_tokens_cap: Annotated[int, Field(gt=0)] = 4096
    """A reply that was cut off is asked for again with twice the tokens, up to so many."""
    seed: int | None = 0


class Votes(Part):
    """How many models are asked, and what becomes of their disagreement."""

    n: Annotated[int, Field(ge=1, le=MAX_VOTES)] = 1
    min_valid: Annotated[int, Field(ge=1, le=MAX_VOTES)] | None = None
    """So many votes must have been understood; None: more than half."""
    early_stop: bool = True
    """Votes that cannot change the label are not asked for; with `unanimous` all are."""
    tie: Literal["fail", "lower"] = "fail"
    unanimous: bool = False
    """A label that pays more must be every vote's: fewer wrong answers are paid, at the cost of right ones."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_valid is not None and self.min_valid > self.n:
            raise ValueError(f"min_valid {self.min_valid} is more than n {self.n}")
        return self

    @property
    def quorum(self) -> int:
        return self.min_valid or self.n // 2 + 1


class TextLimits(Part):
    """In characters, after hidden ones were made visible; the middle of a longer text is left out."""

    response_chars: Annotated[int, Field(ge=100)] = 32_000
    question_chars: Annotated[int, Field(ge=100)] = 16_000
    reference_chars: Annotated[int, Field(ge=100)] = 16_000


class Profile(Part):
    """One way to ask."""

    mode: Mode
    pool: str
    prompt: str
    """`name@version` of a prompt that ships or stands in `prompts_dir`; the mode's own where none is named."""
    view: View = "full"
    """What of the response is shown: all that follows its thinking, or only the answer it commits to, where it does."""
    sampling: Sampling = Sampling()
    votes: Votes = Votes()
    rewards: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    """Scores of labels, in place of the usual (A 1, B 0, C 0)."""
    score_source: Literal["hard", "expected"] = "hard"
    """`expected`: the mean over the probabilities of the labels, where the endpoint gives them."""
    accept_exact: bool = True
    """A response that is the reference needs no judge."""
    reject_trivial: bool = True
    """A response without anything to judge (punctuation, an announcement) has no answer, whatever a judge would say."""
    on_truncate: Literal["judge", "fail"] = "judge"
    """A response beyond its limit is judged with its middle left out, or not judged."""
    criteria_per_call: Annotated[int, Field(ge=0, le=64)] = 0
    """0: all in one call."""
    steps_reward: Literal["outcome", "prefix"] = "outcome"
    """1 or 0; or the share of steps before the first wrong one."""
    deadline_s: Annotated[float, Field(gt=0)] = 60.0
    """For all calls about one item; the request's own deadline holds as well."""
    limits: TextLimits = TextLimits()

    @model_validator(mode="before")
    @classmethod
    def _with_prompt(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("mode") in DEFAULT_PROMPTS:
            mode = value["mode"]
            direct = value.get("score_source") == "expected" and mode in DIRECT_PROMPTS
            return {"prompt": (DIRECT_PROMPTS if direct else DEFAULT_PROMPTS)[mode], **value}
        return value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.rewards and (self.mode != "reference" or self.score_source == "expected"):
            raise ValueError("rewards are for labels of mode reference, and not for expected scores")
        return self

    @field_validator("prompt")
    @classmethod
    def _named(cls, value: str) -> str:
        name, _, version = value.partition("@")
        if not name or not version:
            raise ValueError(f"expected name@version, found {value!r}")
        return value
