"""The text must equal the reference, or one of several, character by character.

The whole text behind thinking is judged; `extract` can name a part of it instead (`last_line`, `boxed`, ...). Space
around either text does not count. Everything else counts, also Unicode forms ("é" in one code point is not "é" in two),
so that a format can be enforced. `ignore_case` compares Unicode case folds ("Straße" equals "STRASSE").
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Channel
from verifiers.long_texts import judge_all
from verifiers.own_answers import written

_AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.WHOLE)


class ExactMatchParams(commitment.ExtractionParams):
    """The wanted text, and the part of the response that is compared."""

    reference: str | Annotated[tuple[str, ...], Field(min_length=1)]
    """The text, or several of which one must match."""
    ignore_case: bool = False
    """Whether upper and lower case are the same (by Unicode case folding)."""
    extract: Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=7)] = (
        Channel.WHOLE
    )
    """The part of the response that is compared: the whole text, an answer tag, box, last line or another channel, or
    the first of several that is there; auto: tag, box, `####`, answer line, or else the whole text."""


class ExactMatch(Verifier[ExactMatchParams]):
    name = "exact_match"
    version = "19"
    params = ExactMatchParams
    summary = "The whole text, its last line or its extracted answer equals the reference exactly"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[ExactMatchParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)

    def own_answer(self, params: ExactMatchParams) -> str | None:
        return written(
            params.reference if isinstance(params.reference, str) else params.reference[0], params, Channel.WHOLE
        )


def create(resources: Resources) -> ExactMatch:
    long_texts.register(resources.workers, judge, ExactMatchParams, EXAMPLES[0])
    return ExactMatch(resources.workers)


def judge(response: str, params: ExactMatchParams, explain: bool = False) -> Verdict:
    references = (params.reference,) if isinstance(params.reference, str) else params.reference
    forms = [_form(reference, params) for reference in references]
    if not all(forms):
        return Verdict.invalid("empty_reference", "a reference must hold more than space")
    extraction = commitment.extract(response, params, _AUTO, sent=response if explain else None)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **extraction.detail(explain))
    form = _form(extraction.answer, params)
    detail = extraction.detail(explain)
    if explain:
        detail |= {"compared": {"answer": clip(form), "references": [clip(text) for text in forms[:_MAX_SHOWN]]}}
    if form in forms:
        return Verdict.correct(extraction.answer, **detail)
    return Verdict.wrong(extracted=extraction.answer, **detail)


_MAX_SHOWN = 16


def _form(text: str, params: ExactMatchParams) -> str:
    text = text.strip()
    return text.casefold() if params.ignore_case else text


EXAMPLES = (
    Example("<think>Rome? No.</think>\nParis\n", {"reference": "Paris"}, 1.0, "correct", "the text after thinking"),
    Example("London", {"reference": ["Paris", "paris"]}, 0.0, "wrong_answer", "none of the references"),
    Example("Paris.", {"reference": "Paris"}, 0.0, "wrong_answer", "looks right, but a full stop is a character"),
    Example(
        "I think so.\nYES", {"reference": "yes", "extract": "last_line", "ignore_case": True}, 1.0, "correct", "line"
    ),
    Example("Paris", {"reference": " "}, None, "empty_reference", "nothing to compare with", Status.INVALID),
)
