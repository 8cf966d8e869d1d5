r"""The response commits to the right option, and to no other.

`commitment` finds what a response commits to; `values` knows how options are written. An option is named by its label
(`C`, `(c)`, `C) Paris`, `\text{C}`, Ｃ, and by its place ③, 丙 or ج) or by its text (`Paris`; numbers and formulas
compare by value). If all texts are given, "the third option" names one, too. Labels are words of their own: the A in "A
plant needs light" and the C in "Correct!" are not labels. Only existing labels count. A label beside the text of
another option names no option.

A text that names more than 100,000 labels is not read: `too_complex`.

With `multi` the named set must equal the reference set; a superset earns nothing. With `on_conflict="reject"` a
response may never call two different options right.
"""

import sys
from collections.abc import Sequence
from typing import Any

from memory import Store, size_of
from memory.registry import ENTRY_BYTES
from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment.commit import Commitment, commit, content
from verifiers.commitment.mentions import moved
from verifiers.long_texts import judge_all
from verifiers.own_answers import written
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.scripts import in_latin
from verifiers.rules.multiple_choice.values import Options

__all__ = ["EXAMPLES", "MultipleChoice", "MultipleChoiceParams", "create", "judge"]


class MultipleChoice(Verifier[MultipleChoiceParams]):
    name = "multiple_choice"
    version = "40"
    params = MultipleChoiceParams
    summary = "The one committed option, by label or text, is the reference; with `multi`, the set of them"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[MultipleChoiceParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items, _is_inline, _judge_if_cheap)

    def own_answer(self, params: MultipleChoiceParams) -> str | None:
        return written(params.reference if isinstance(params.reference, str) else ", ".join(params.reference), params)


_INLINE_CHARS = 4_000
"""Characters judged inline. Each sentence that names an option is read word by word, ten times slower than a mark."""


def _is_inline(item: Item[MultipleChoiceParams]) -> bool:
    return len(item.response) <= _INLINE_CHARS


def create(resources: Resources) -> MultipleChoice:
    long_texts.register(resources.workers, judge, MultipleChoiceParams, EXAMPLES[0])
    return MultipleChoice(resources.workers)


def judge(response: str, params: MultipleChoiceParams, explain: bool = False) -> Verdict:
    return _judge(response, params, explain, most_labels=None)


def _judge_if_cheap(response: str, params: MultipleChoiceParams, explain: bool) -> Verdict | None:
    try:
        return _judge(response, params, explain, most_labels=_INLINE_LABELS)
    except _Costly:
        return None


class _Costly(Exception):
    """The text names more labels than are read inline."""


_INLINE_LABELS = 32
"""Labels named in a text that is judged inline. A sentence around one takes up to 0.1 ms."""


def _judge(response: str, params: MultipleChoiceParams, explain: bool, most_labels: int | None) -> Verdict:
    question = params.question
    if isinstance(question, Verdict):
        return question
    options, expected = question.options, question.expected
    commitment = _found(response, params, options, explain, most_labels)
    detail: dict[str, Any] = {}
    if commitment.channel:
        detail["channel"] = commitment.channel
    if commitment.span:
        detail["span"] = list(commitment.span)
    if explain:
        detail["candidates"] = [clip(text) for text in commitment.seen]
        detail["mentions"] = [mention.as_json(response) for mention in commitment.mentions]
    if commitment.value is None:
        return Verdict.wrong(commitment.reason, **detail)
    detail["options"] = [label for label in options.texts if label in commitment.value]
    if explain:
        detail["compared"] = {"answer": detail["options"], "reference": sorted(expected)}
    extracted = response[slice(*commitment.span)] if commitment.span else None
    if commitment.value == expected:
        score, reason = 1.0, "correct"
    elif params.partial and params.multi and commitment.value < expected:
        score, reason = len(commitment.value) / len(expected), "partial"
    else:
        score, reason = 0.0, "wrong_answer"
    return Verdict(Status.OK, score, reason, clip(extracted), detail)


def _found(
    response: str, params: MultipleChoiceParams, options: Options, explain: bool, most_labels: int | None
) -> Commitment:
    text = commitment.without_html(commitment.without_struck(response))
    segment = commitment.final_segment(text, params.think)
    text = in_latin(text, options.texts, segment.start)
    if params.extract != "auto":
        extraction = commitment.extract(text, params, segment=segment, sent=response if explain else None)
        channel = extraction.channel.value if extraction.channel else ""
        candidate_texts = tuple(candidate.text for candidate in extraction.candidates)
        if extraction.answer is None:
            return Commitment(None, extraction.reason, channel, None, candidate_texts, extraction.mentions)
        if len(extraction.answer) > _SHORT_CHARS and options.names_more(extraction.answer, _MAX_LABELS):
            return Commitment(None, "too_complex", channel, extraction.span, candidate_texts, extraction.mentions)
        labels = content(extraction.answer, options, params.on_conflict)
        reason = "found" if labels else "unparseable" if labels is None else "conflicting_answers"
        return Commitment(labels or None, reason, channel, extraction.span, candidate_texts, extraction.mentions)
    if segment.reason != "found":
        return Commitment(None, segment.reason)
    segment_text = text[segment.start : segment.end]
    is_short = len(segment_text) <= _SHORT_CHARS
    if not is_short and options.names_more(segment_text, _MAX_LABELS if most_labels is None else most_labels):
        if most_labels is None:
            return Commitment(None, "too_complex")
        raise _Costly
    committed = (_commit_once if is_short else commit)(segment_text, options, params.on_conflict, explain)
    span = (committed.span[0] + segment.start, committed.span[1] + segment.start) if committed.span else None
    return committed._replace(span=span, mentions=moved(committed.mentions, segment.start))


_SHORT_CHARS = 200
_MAX_LABELS = 100_000
"""Labels named in a text that is read: it takes about two seconds to read them all."""
_Told = tuple[bytes, str, str, bool]
_COMMITMENT_BYTES = 1_100
_SEEN_BYTES = 80


def _size_of_commitment(key: _Told, entry: Commitment) -> int:
    """About what `size_of` says. To walk through each takes a third of the time of judging."""
    if entry.mentions:
        return ENTRY_BYTES + size_of(key) + size_of(entry)
    return _COMMITMENT_BYTES + sys.getsizeof(key[1]) + _SEEN_BYTES * (len(entry.seen) + len(entry.value or ()))


_COMMITMENTS: Store[_Told, Commitment] = Store(
    "multiple_choice.commitments", 4_000_000, size=_size_of_commitment, of_texts=True
)


def _commit_once(text: str, options: Options, on_conflict: str, explain: bool) -> Commitment:
    """`commit` with a cache, because many responses to a question end in the same few words."""
    key = (options.digest, text, on_conflict, explain)
    cached = _COMMITMENTS.get(key)
    if cached is None:
        cached = commit(text, options, on_conflict, explain)
        _COMMITMENTS.put(key, cached)
    return cached


_CAPITALS = ("London", "Berlin", "Paris", "Madrid")
EXAMPLES = (
    Example("The answer is (C).", {"reference": "C", "choices": _CAPITALS}, 1.0, "correct", "by its label"),
    Example(r"\boxed{\text{Paris}}", {"reference": "C", "choices": _CAPITALS}, 1.0, "correct", "by its text"),
    Example("Answer: B", {"reference": "C", "choices": _CAPITALS}, 0.0, "wrong_answer", "another option"),
    Example("Answer: B or C", {"reference": "C", "choices": _CAPITALS}, 0.0, "conflicting_answers", "two options"),
    Example(
        "Clearly so.", {"reference": "C", "choices": _CAPITALS}, 0.0, "no_answer", "begins with C, names no option"
    ),
    Example("So C it is.", {"reference": "C", "choices": _CAPITALS}, 1.0, "correct", "as a conclusion"),
    Example("C fits too.", {"reference": "C", "choices": _CAPITALS}, 0.0, "no_answer", "not as the only one"),
    Example("✅ A ❌ B ✅ C", {"reference": "C", "choices": _CAPITALS}, 0.0, "conflicting_answers", "two ticks"),
    Example("Answer: A and C", {"reference": ["A", "C"], "multi": True}, 1.0, "correct", "a set of options"),
    Example("Answer: A, B and C", {"reference": "AC", "multi": True}, 0.0, "wrong_answer", "a superset earns nothing"),
    Example("C", {"reference": "E", "choices": _CAPITALS}, None, "reference_not_a_choice", "mend it", Status.INVALID),
)
