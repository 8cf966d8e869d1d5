r"""The response commits to the right option, and to no other.

Looked at in this order, the first that is used decides: the answer tag, the box, a JSON field `answer`, a response that
is nothing but an option, statements ("the answer is C", "C is correct", "so it's C", "so C it is", 故选C), ticks (✅ C), a
list that ends the response and calls one option right and the others wrong ("A: no. B: no. C: yes."), a
last sentence that says nothing but that an option is the one ("C fits", "that leaves C", "so the total is 15", 对应C选项, and
of three or more "the exception is C"), the last line, the first line, a plain sentence at either end of a short response that
names no other option ("the capital is Paris"). An option is named by its label (`C`, `(c)`, `C) Paris`, `\text{C}`, Ｃ, and
by its place ③, 丙 or ج), by its whole text (`Paris`; numbers compare as numbers) or, where all texts are given, as "the third
option" (as "option 3" only where no text has a digit). Labels are words of their own: the A in "A plant needs light" and the C
in "Correct!" are none, and only labels that exist count. A look-alike from another alphabet (Cyrillic С) is none: the third
Russian letter looks like a B. An option crossed out (❌ C) is none either.

A later statement corrects an earlier one, but "A or B", several options where one is asked for, another one let stand beside
the last ("the answer is C. D is also right"), one that is taken back right behind it ("the answer is C. It isn't.") and three
different ones in a row commit to nothing. Options that are only called right before one is told ("A is correct. B is correct. So
the answer is C") count with `on_conflict="reject"` alone, and those called true beside it not at all: a false statement may be
asked for. With `multi` the set named must equal the reference set; a superset earns nothing, and parts of the set may be named
before it.
"""

from collections.abc import Sequence
from typing import Any

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import judge_all
from verifiers.own_answers import written
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.places import find

__all__ = ["EXAMPLES", "MultipleChoice", "MultipleChoiceParams", "create", "judge"]


class MultipleChoice(Verifier[MultipleChoiceParams]):
    name = "multiple_choice"
    version = "17"
    params = MultipleChoiceParams
    summary = "The one committed option, by label or text, is the reference; with `multi`, the set of them"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[MultipleChoiceParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)

    def own_answer(self, params: MultipleChoiceParams) -> str | None:
        return written(params.reference if isinstance(params.reference, str) else ", ".join(params.reference), params)


def create(resources: Resources) -> MultipleChoice:
    resources.workers.register(long_texts.JUDGE)
    return MultipleChoice(resources.workers)


def judge(response: str, params: MultipleChoiceParams, explain: bool = False) -> Verdict:
    question = params.question
    if isinstance(question, Verdict):
        return question
    options, expected = question.options, question.expected
    found = find(response, params, options)
    detail: dict[str, Any] = {}
    if found.channel:
        detail["channel"] = found.channel
    if found.span:
        detail["span"] = list(found.span)
    if explain:
        detail["candidates"] = [clip(text) for text in found.seen]
    if found.labels is None:
        return Verdict.wrong(found.reason, **detail)
    detail["options"] = [label for label in options.texts if label in found.labels]
    if explain:
        detail["compared"] = {"answer": detail["options"], "reference": sorted(expected)}
    extracted = response[slice(*found.span)] if found.span else None
    if found.labels == expected:
        score, reason = 1.0, "correct"
    elif params.partial and params.multi and found.labels < expected:
        score, reason = len(found.labels) / len(expected), "partial"
    else:
        score, reason = 0.0, "wrong_answer"
    return Verdict(Status.OK, score, reason, clip(extracted), detail)


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
