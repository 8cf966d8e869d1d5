"""Defines how one kind of question is put to judge models: a profile, which an item's `judge` names."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Mode = Literal["reference", "criteria", "quality", "pairwise", "compare", "listwise", "steps"]
View = Literal["final_answer", "full"]

DEFAULT_PROMPTS: dict[Mode, str] = {
    "reference": "ref_equiv@1",
    "criteria": "rubric@2",
    "quality": "quality@1",
    "pairwise": "pair@1",
    "compare": "compare@1",
    "listwise": "listwise@1",
    "steps": "steps@1",
}
DIRECT_PROMPTS: dict[Mode, str] = {"reference": "ref_equiv_direct@1", "quality": "quality_direct@1"}
"""Prompts for the verdict without a rationale before it; after a rationale the verdict's probability would be 1."""
MAX_VOTES = 16
PROFILE_NAME = r"^[A-Za-z0-9_.@/-]{1,100}$"
"""The form of the names by which items choose a profile."""


class Part(BaseModel):
    """A part of the configuration; unknown names are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class Sampling(Part):
    """The parameters of a call to the model."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] = 512
    max_tokens_cap: Annotated[int, Field(gt=0)] = 4096
    """A reply that was cut off is requested again with twice the tokens, up to this number."""
    seed: int | None = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "max_tokens" in self.model_fields_set and self.max_tokens > self.max_tokens_cap:
            raise ValueError(f"max_tokens {self.max_tokens} is more than max_tokens_cap {self.max_tokens_cap}")
        return self


class Votes(Part):
    """How many models are asked, and how disagreement is resolved."""

    n: Annotated[int, Field(ge=1, le=MAX_VOTES)] = 1
    min_valid: Annotated[int, Field(ge=1, le=MAX_VOTES)] | None = None
    """This many votes must be understood; None: more than half."""
    early_stop: bool = True
    """Whether votes that cannot change the label are left out; with `unanimous` all votes are asked for."""
    tie: Literal["fail", "lower"] = "fail"
    unanimous: bool = False
    """Whether a label with a higher score must be that of every vote: fewer wrong answers are paid, but fewer right
    ones, too."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_valid is not None and self.min_valid > self.n:
            raise ValueError(f"min_valid {self.min_valid} is more than n {self.n}")
        return self

    @property
    def quorum(self) -> int:
        return self.min_valid or self.n // 2 + 1


class TextLimits(Part):
    """Limits in characters, after hidden characters were made visible; the middle of a longer text is left out."""

    response_chars: Annotated[int, Field(ge=100)] = 32_000
    question_chars: Annotated[int, Field(ge=100)] = 16_000
    reference_chars: Annotated[int, Field(ge=100)] = 16_000


class Cascade(Part):
    """Another profile that is asked first, and whose verdict counts where it is certain."""

    profile: str
    """Of mode reference, with `score_source: expected`."""
    certainty: Annotated[float, Field(gt=0.5, le=1)]
    """The least probability of a verdict that counts; `rewardline judges calibrate` finds it."""


class Profile(Part):
    """One way to ask judge models."""

    mode: Mode
    pool: str
    prompt: str
    """`name@version` of a prompt that ships or is in `prompts_dir`; by default the prompt of the mode."""
    view: View = "full"
    """The part of the response that is shown: all text after its thinking, or only the answer it commits to, if it
    does."""
    sampling: Sampling = Sampling()
    votes: Votes = Votes()
    rewards: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}
    """The scores of labels, in place of the usual ones (A 1, B 0, C 0)."""
    score_source: Literal["hard", "expected"] = "hard"
    """`expected`: the mean over the probabilities of the labels, if the endpoint gives them."""
    accept_exact: bool = True
    """Whether a response that equals the reference is accepted without a judge."""
    reject_trivial: bool = True
    """Whether a response without anything to judge (punctuation, an announcement) has no answer, without asking a
    judge."""
    on_truncate: Literal["judge", "fail", "chunks"] = "judge"
    """A response beyond its limit is judged without its middle (`judge`), or not judged (`fail`). `chunks`, for mode
    criteria: its parts are judged one by one, and a criterion is met as well as the best of them meets it."""
    criteria_per_call: Annotated[int, Field(ge=0, le=64)] = 0
    """0: all criteria in one call, at most 64."""
    steps_reward: Literal["outcome", "prefix"] = "outcome"
    """`outcome`: 1 or 0; `prefix`: the share of steps before the first wrong one."""
    deadline_s: Annotated[float, Field(gt=0)] = 60.0
    """The limit for all calls about one item; the request's own deadline applies as well."""
    limits: TextLimits = TextLimits()
    cascade: Cascade | None = None
    """None: this profile judges all items itself."""

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
        if (self.criteria_per_call or self.on_truncate == "chunks") and self.mode != "criteria":
            raise ValueError("criteria_per_call and on_truncate: chunks are for mode criteria")
        if self.steps_reward != "outcome" and self.mode != "steps":
            raise ValueError("steps_reward is for mode steps")
        if self.score_source == "expected" and self.mode not in DIRECT_PROMPTS and self.mode != "pairwise":
            raise ValueError("score_source: expected is for modes reference, quality and pairwise")
        if self.rewards and (self.mode != "reference" or self.score_source == "expected"):
            raise ValueError("rewards are for labels of mode reference, and not for expected scores")
        if self.cascade and (self.mode != "reference" or self.rewards or self.score_source == "expected"):
            raise ValueError("cascade is for mode reference with scores 1 and 0: without rewards and expected scores")
        return self

    @field_validator("prompt")
    @classmethod
    def _named(cls, value: str) -> str:
        name, _, version = value.partition("@")
        if not name or not version:
            raise ValueError(f"expected name@version, found {value!r}")
        return value
