"""Defines the answers that a judge may give, and the score of each: the protocol, without any prompt.

A schema names the labels (or the range of numbers) that are on the menu, the JSON key and the keys of text lines under
which a verdict stands, and the JSON schema for endpoints that can enforce it. The questions themselves are in
`prompts/`: several prompts share a schema, and a user's prompt may use any of them.

    labels     one word of a menu            eq_abc, yesno, pair, arena5, and the protocols of trained verifiers
    number     a number in a range           score10, oi_score10, oi_quality, rating
    rubric     a score for each criterion
    steps      the number of the first wrong step, 0 for none
    decision   probabilities from an endpoint that writes no text
    proposal   new criteria, merits with 1 and faults with -1
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final


class Kind(StrEnum):
    LABELS = "labels"
    NUMBER = "number"
    RUBRIC = "rubric"
    STEPS = "steps"
    DECISION = "decision"
    PROPOSAL = "proposal"


@dataclass(frozen=True, slots=True)
class Context:
    """The parts of an item that are needed to read a verdict."""

    criteria: Mapping[str, float] = field(default_factory=dict)
    """The weights of a rubric, by criterion id."""
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The answers to a criterion, from worst to best. Without any: 0, 0.5 and 1."""
    shown: str = ""
    """The response as the judge sees it, in which quotations must stand."""
    n_steps: int = 0
    question: str = "verdict"
    """The name of the question in a decision."""
    labels: Sequence[str] = ()
    """The options of a decision; empty: the options of the schema."""
    most: int = 0
    """The most criteria of a proposal."""


NO_CONTEXT: Final = Context()


@dataclass(frozen=True, slots=True)
class Schema:
    """One protocol."""

    name: str
    kind: Kind
    key: str = "verdict"
    """The key of the verdict in a JSON object."""
    lines: tuple[str, ...] = ()
    """Keys before the verdict on a line of text, in lower case. A key that ends in a word such as `is` needs no
    colon. Empty: text lines are not read."""
    bare: bool = True
    """Whether a verdict alone counts, as the whole output or its last line."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Every label with its score from 0 to 1."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other spellings of labels, in lower case."""
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    """Words that may stand beside a label, but not instead of it: the kinds of an invalid answer."""
    low: float = 0.0
    high: float = 1.0
    zero: float = 0.0
    """The number with the score 0 (a scale from 1 to 10 may start paying at 0 or at 1)."""
    logprobs: bool = False
    """Whether the score comes from the probabilities of the labels, if the endpoint gives them."""
    reasoning: bool = True
    """Whether the JSON form asks for a rationale before the verdict."""
    is_text: bool = False
    """Whether the verdict is requested as text; JSON is read all the same if a judge writes it."""
    quotes: bool = False
    """Whether a criterion counts as met only with a quotation that stands in the response."""
    flat: bool = False
    """Whether the verdict is one object with a number for each criterion, without a list."""

    def worth(self, number: float) -> float:
        """The score from 0 to 1 of a number in range."""
        return (number - self.zero) / (self.high - self.zero)

    def json_schema(self, context: Context = NO_CONTEXT) -> Mapping[str, Any] | None:
        """The JSON schema for `response_format`, rationale first; None if no JSON is requested."""
        if self.is_text or self.kind is Kind.DECISION:
            return None
        if self.flat:
            return _flat_schema(context)
        if self.kind is Kind.RUBRIC:
            return _rubric_schema(context, self.quotes)
        if self.kind is Kind.PROPOSAL:
            entry = _object({"title": _WORDS, "description": _WORDS, "fault": {"type": "boolean"}})
            return _object({self.key: {"type": "array", "items": entry, "maxItems": context.most}})
        value: dict[str, Any]
        match self.kind:
            case Kind.LABELS:
                value = {"type": "string", "enum": list(self.scores)}
            case Kind.STEPS:
                value = {"type": "integer", "minimum": 0, "maximum": context.n_steps}
            case Kind.NUMBER:
                value = {"type": "integer", "minimum": int(self.low), "maximum": int(self.high)}
            case _:
                raise AssertionError(self.kind)
        rationale = {"reasoning": {"type": "string"}} if self.reasoning else {}
        return _object({**rationale, self.key: value})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_WORDS: Final = {"type": "string"}


def _rubric_schema(context: Context, quotes: bool) -> dict[str, Any]:
    ids = list(context.criteria)
    answers = dict.fromkeys(choice for name in ids for choice in context.choices.get(name, ()))
    numbers = [0, 0.5, 1] if any(not context.choices.get(name) for name in ids) else []
    score: dict[str, Any] = {"enum": [*numbers, *answers]}
    if not (numbers and answers):
        score["type"] = "number" if numbers else "string"
    item = _object(
        {
            "id": {"type": "string", "enum": ids},
            **({"quote": {"type": "string"}} if quotes else {}),
            "reason": {"type": "string"},
            "score": score,
        }
    )
    return _object({"criteria": {"type": "array", "items": item, "minItems": len(ids), "maxItems": len(ids)}})


def _flat_schema(context: Context) -> dict[str, Any]:
    numbers = {
        name: {"type": "integer", "minimum": int(marks[0]), "maximum": int(marks[-1])}
        for name, marks in context.choices.items()
    }
    return _object({"reasoning": {"type": "string"}, **numbers})


def with_logprobs(schema: Schema) -> Schema:
    """The same schema, scored by the probabilities of its labels; the verdict comes first, without a rationale."""
    if schema.logprobs:
        return schema
    return replace(schema, name=f"{schema.name}_logprob", logprobs=True, reasoning=False)


_VERDICT_LINES: Final = (
    "verdict",
    "final verdict",
    "judgment",
    "judgement",
    "final judgment",
    "final judgement",
    "判断",
    "最终判断",
    "结论",
    "最终结论",
    "判定",
)
_EQUIVALENCE: Final = MappingProxyType(
    {
        "correct": "A",
        "equivalent": "A",
        "incorrect": "B",
        "not equivalent": "B",
        "non equivalent": "B",
        "inequivalent": "B",
        "invalid": "C",
        "nothing to grade": "C",
        "正确": "A",
        "等价": "A",
        "一致": "A",
        "错误": "B",
        "不正确": "B",
        "不等价": "B",
        "不一致": "B",
        "无效": "C",
    }
)
_KINDS_OF_INVALID: Final = MappingProxyType(
    dict.fromkeys(
        ("incomplete", "truncated", "cut off", "repetitive", "repetition", "refusal", "refused", "empty", "no answer"),
        "C",
    )
)
_YES_NO: Final = MappingProxyType({"YES": 1.0, "NO": 0.0})

_SCORE_LINES: Final = (
    "score",
    "final score",
    "overall score",
    "评分",
    "分数",
    "得分",
    "最终评分",
)

_EQ_ABC: Final = Schema(
    "eq_abc",
    Kind.LABELS,
    lines=_VERDICT_LINES,
    scores={"A": 1.0, "B": 0.0, "C": 0.0},
    aliases=_EQUIVALENCE,
    qualifiers=_KINDS_OF_INVALID,
)
_YESNO: Final = Schema(
    "yesno",
    Kind.LABELS,
    lines=(*_VERDICT_LINES, "final decision"),
    scores=_YES_NO,
    aliases={
        "是": "YES",
        "对": "YES",
        "正确": "YES",
        "否": "NO",
        "不是": "NO",
        "不对": "NO",
        "错误": "NO",
        "不正确": "NO",
    },
    is_text=True,
)
_SCORE10: Final = Schema("score10", Kind.NUMBER, key="score", lines=_SCORE_LINES, low=1, high=10, zero=1)
_OI_SCORE10: Final = Schema(
    "oi_score10", Kind.NUMBER, key="score", lines=("score", "final score"), low=1, high=10, zero=0
)
_PAIR: Final = Schema(
    "pair",
    Kind.LABELS,
    key="winner",
    lines=("winner", "verdict", "final verdict"),
    scores={"A": 1.0, "B": 0.0, "TIE": 0.5},
    aliases={"response a": "A", "response b": "B"},
)
_ARENA5: Final = Schema(
    "arena5",
    Kind.LABELS,
    lines=("verdict", "final verdict", "my final verdict", "my final verdict is"),
    scores={"A>>B": 1.0, "A>B": 0.75, "A=B": 0.5, "B>A": 0.25, "B>>A": 0.0},
    aliases={
        "assistant a is significantly better": "A>>B",
        "assistant a is slightly better": "A>B",
        "tie": "A=B",
        "relatively the same": "A=B",
        "assistant b is slightly better": "B>A",
        "assistant b is significantly better": "B>>A",
    },
    is_text=True,
)

_PRESETS: Final = (
    # The protocols of trained verifiers and of other projects' judges, with their own labels, slots and lines.
    replace(
        _EQ_ABC, name="compass", lines=("final judgment", "final judgement", "judgment", "judgement"), is_text=True
    ),
    Schema(
        "xverify",
        Kind.LABELS,
        lines=("judgement", "judgment", "final judgement", "final judgment"),
        scores={"Correct": 1.0, "Incorrect": 0.0},
        is_text=True,
    ),
    Schema("general_verifier", Kind.LABELS, lines=("final decision",), bare=False, scores=_YES_NO, is_text=True),
    replace(_YESNO, name="roll_yesno"),
    Schema("skills_math", Kind.LABELS, lines=("judgement", "judgment"), bare=False, scores=_YES_NO, is_text=True),
    Schema("hle", Kind.LABELS, key="correct", lines=("correct",), bare=False, scores=_YES_NO, is_text=True),
    Schema(
        "simpleqa",
        Kind.LABELS,
        lines=("grade", "verdict"),
        scores={"A": 1.0, "B": 0.0, "C": 0.0},
        aliases={"correct": "A", "incorrect": "B", "not attempted": "C"},
        is_text=True,
    ),
    replace(_OI_SCORE10, name="oi_quality"),
    replace(_PAIR, name="rm_r1", lines=(), scores={"A": 1.0, "B": 0.0}, aliases={}, is_text=True),
)

SCHEMAS: Final[Mapping[str, Schema]] = MappingProxyType(
    {
        schema.name: schema
        for schema in (
            _EQ_ABC,
            _YESNO,
            _SCORE10,
            _OI_SCORE10,
            Schema("rubric", Kind.RUBRIC, key="criteria", bare=False),
            Schema("rubric_quote", Kind.RUBRIC, key="criteria", bare=False, quotes=True),
            Schema("scores", Kind.RUBRIC, key="criteria", bare=False, flat=True),
            Schema("proposal", Kind.PROPOSAL, key="criteria", bare=False),
            Schema("steps", Kind.STEPS, key="first_error", lines=("first_error", "first error")),
            _PAIR,
            _ARENA5,
            with_logprobs(_EQ_ABC),
            with_logprobs(_YESNO),
            with_logprobs(_PAIR),
            with_logprobs(_SCORE10),
            Schema("decision", Kind.DECISION, scores={"A": 1.0, "B": 0.0, "C": 0.0}),
            Schema("decision_pair", Kind.DECISION, key="winner", scores={"A": 1.0, "B": 0.0, "TIE": 0.5}),
            Schema("decision_rubric", Kind.DECISION, key="criteria"),
            Schema("decision_score10", Kind.DECISION, key="score", low=1, high=10, zero=1),
            *_PRESETS,
        )
    }
)
"""The schemas by name. `compass_cot` is the prompt of that name with schema `compass`."""
