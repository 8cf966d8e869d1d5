"""Reads answers of decision endpoints: a probability for each option, and no text.

There are two forms: `answers` by name with probabilities by option (`/v1/systemone`), and a list of answers with names
and lists of values and probabilities (`/v1/decisions`). The options must be exactly those that were asked about, and
their probabilities must sum to 1. A refused question has no answer.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from verifiers.judge.errors import Unparseable
from verifiers.judge.schemas import Context, Schema

_SUM_TOLERANCE: Final = 0.02
_TIE: Final = 0.01


def choice(schema: Schema, body: Any, context: Context) -> tuple[str, dict[str, float]]:
    """The option that was chosen, and the probability of each.

    Raises:
        Unparseable: missing_criteria, refusal, schema_mismatch, ambiguous.
    """
    labels = list(context.labels or schema.scores)
    answer = _answer(body, context.question)
    probabilities = _probabilities(answer, labels)
    most = max(probabilities.values())
    chosen = answer.get("choice")
    if chosen is None:
        leading = [label for label, each in probabilities.items() if each == most]
        if len(leading) > 1:
            raise Unparseable("ambiguous", "several options have the highest probability")
        return leading[0], probabilities
    if not isinstance(chosen, str) or chosen not in probabilities:
        raise Unparseable("schema_mismatch", "an option that was not asked about")
    if probabilities[chosen] < most - _TIE:
        raise Unparseable("ambiguous", "the choice is not the most probable option")
    return chosen, probabilities


def levels(schema: Schema, body: Any, context: Context) -> tuple[float, dict[str, float]]:
    """The expected number on the schema's scale, and the probability of each level."""
    count = int(schema.high - schema.low) + 1
    answer = _answer(body, context.question)
    given = answer.get("probabilities")
    if isinstance(given, list) and given and not isinstance(given[0], Mapping):
        given = {str(index): each for index, each in enumerate(given)}
        answer = {**answer, "probabilities": given}
    by_index = _probabilities(answer, [str(index) for index in range(count)])
    probabilities = {f"{schema.low + int(index):g}": each for index, each in by_index.items()}
    return sum(float(level) * each for level, each in probabilities.items()), probabilities


def predicates(body: Any, context: Context) -> dict[str, float]:
    """The probability that each criterion holds."""
    return {name: _predicate(_answer(body, name)) for name in context.criteria}


def _answer(body: Any, name: str) -> Mapping[str, Any]:
    answers = body.get("answers") if isinstance(body, Mapping) else None
    if isinstance(answers, list):
        named = [each for each in answers if isinstance(each, Mapping) and each.get("name") == name]
        if len(named) > 1:
            raise Unparseable("duplicate_criteria", f"the question {name!r} is answered more than once")
        answer: Any = named[0] if named else None
    elif isinstance(answers, Mapping):
        answer = answers.get(name)
    else:
        raise Unparseable("schema_mismatch", "no answers")
    if answer is None:
        raise Unparseable("missing_criteria", f"the question {name!r} is not answered")
    if not isinstance(answer, Mapping):
        raise Unparseable("schema_mismatch", f"an answer is {type(answer).__name__}")
    if answer.get("type") == "refusal" or answer.get("refusal"):
        raise Unparseable("refusal", f"the question {name!r} was refused")
    if answer.get("error"):
        raise Unparseable("schema_mismatch", f"the question {name!r} met an error")
    return answer


def _probabilities(answer: Mapping[str, Any], labels: list[str]) -> dict[str, float]:
    given = answer.get("probabilities")
    if isinstance(given, list):
        given = _listed(given)
    if not isinstance(given, Mapping):
        raise Unparseable("schema_mismatch", "no probabilities")
    if set(given) != set(labels):
        raise Unparseable("schema_mismatch", "other options than were asked about")
    found = {label: _probability(given[label]) for label in labels}
    if abs(sum(found.values()) - 1.0) > _SUM_TOLERANCE:
        raise Unparseable("schema_mismatch", "the probabilities do not sum to 1")
    return found


def _listed(given: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in given:
        if not isinstance(each, Mapping) or isinstance(each.get("value"), bool):
            raise Unparseable("schema_mismatch", "an entry of the probabilities without a value")
        value = str(each.get("value"))
        if value in found:
            raise Unparseable("duplicate_key", "an option occurs twice")
        found[value] = each.get("probability")
    return found


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unparseable("schema_mismatch", "a probability is not a number")
    if not 0.0 <= value <= 1.0 + 1e-6:
        raise Unparseable("out_of_range", "a probability is not in [0, 1]")
    return min(1.0, float(value))


def _predicate(answer: Mapping[str, Any]) -> float:
    value = answer.get("noul", answer.get("probability"))
    if value is None:
        return _probabilities(answer, ["true", "false"])["true"]
    return _probability(value)
