"""Reads answers of decision endpoints: a probability for each option, and no text.

There are two forms: `answers` by name with probabilities by option (`/v1/systemone`), and a list of answers with names
and lists of values and probabilities (`/v1/decisions`). The options must be exactly those that were asked about, and
their probabilities must sum to 1. A refused question has no answer.
"""

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
    highest = max(probabilities.values())
    chosen = answer.get("choice")
    if chosen is None:
        leading = [label for label, probability in probabilities.items() if probability == highest]
        if len(leading) > 1:
            raise Unparseable("ambiguous", "several options have the highest probability")
        return leading[0], probabilities
    if not isinstance(chosen, str) or chosen not in probabilities:
        raise Unparseable("schema_mismatch", "an option that was not asked about")
    if probabilities[chosen] < highest - _TIE:
        raise Unparseable("ambiguous", "the choice is not the most probable option")
    return chosen, probabilities


def levels(schema: Schema, body: Any, context: Context) -> tuple[float, dict[str, float]]:
    """The expected number on the schema's scale, and the probability of each level."""
    count = int(schema.high - schema.low) + 1
    answer = _answer(body, context.question)
    raw_probabilities = answer.get("probabilities")
    if isinstance(raw_probabilities, list) and raw_probabilities and not isinstance(raw_probabilities[0], Mapping):
        raw_probabilities = {str(index): probability for index, probability in enumerate(raw_probabilities)}
        answer = {**answer, "probabilities": raw_probabilities}
    by_index = _probabilities(answer, [str(index) for index in range(count)])
    probabilities = {f"{schema.low + int(index):g}": probability for index, probability in by_index.items()}
    return sum(float(level) * probability for level, probability in probabilities.items()), probabilities


def predicates(body: Any, context: Context) -> dict[str, float]:
    """The probability that each criterion holds."""
    return {name: _predicate(_answer(body, name)) for name in context.criteria}


def _answer(body: Any, name: str) -> Mapping[str, Any]:
    answers = body.get("answers") if isinstance(body, Mapping) else None
    if isinstance(answers, list):
        named_answers = [entry for entry in answers if isinstance(entry, Mapping) and entry.get("name") == name]
        if len(named_answers) > 1:
            raise Unparseable("duplicate_criteria", f"the question {name!r} is answered more than once")
        answer: Any = named_answers[0] if named_answers else None
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
    raw_probabilities = answer.get("probabilities")
    if isinstance(raw_probabilities, list):
        raw_probabilities = _listed(raw_probabilities)
    if not isinstance(raw_probabilities, Mapping):
        raise Unparseable("schema_mismatch", "no probabilities")
    if set(raw_probabilities) != set(labels):
        raise Unparseable("schema_mismatch", "other options than were asked about")
    probabilities = {label: _probability(raw_probabilities[label]) for label in labels}
    if abs(sum(probabilities.values()) - 1.0) > _SUM_TOLERANCE:
        raise Unparseable("schema_mismatch", "the probabilities do not sum to 1")
    return probabilities


def _listed(entries: list[Any]) -> dict[str, Any]:
    by_value: dict[str, Any] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or isinstance(entry.get("value"), bool):
            raise Unparseable("schema_mismatch", "an entry of the probabilities without a value")
        value = str(entry.get("value"))
        if value in by_value:
            raise Unparseable("duplicate_key", "an option occurs twice")
        by_value[value] = entry.get("probability")
    return by_value


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unparseable("schema_mismatch", "a probability is not a number")
    if not 0.0 <= value <= 1.0 + 1e-6:
        raise Unparseable("out_of_range", "a probability is not in [0, 1]")
    return min(1.0, float(value))


def _predicate(answer: Mapping[str, Any]) -> float:
    value = answer.get("noul", answer.get("probability"))
    if value is None:
        return _probabilities(answer, ["true", "false"])["true"]
    return _probability(value)
