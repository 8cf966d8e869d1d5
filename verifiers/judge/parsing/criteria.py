"""Reads one score for each criterion, or no verdict. A missing score is not a failed criterion.

Forms: `{"criteria": [{"id", "reason"?, "score" | "met"}, ...]}`, that list alone, `{"criteria": {id: score | {...}}}`,
or the ids themselves as keys, for flat schemas in `overall`, too. Totals that the judge adds are not read. A score is one of the criterion's choices; without
choices, a number from 0 to 1, a boolean, or yes or no; of a flat schema, any number of the scale.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing.decoding import MISSING, fold, member
from verifiers.judge.parsing.numbers import read_number
from verifiers.judge.schemas import Context, Schema

_TOTALS: Final = frozenset(
    {"total", "total_score", "overall", "overall_score", "final_score", "score", "sum", "average", "mean", "aggregate"}
)
_VERDICTS: Final = ("score", "met", "criteria_met", "answer", "verdict")
"""The keys under which an entry may hold its verdict."""
_OVERALL: Final = "overall"
"""Where NeMo-Gym's generative reward models put the scores of both responses, beside `rubric_evaluations`."""
_MEANINGS: Final = {"yes": True, "true": True, "met": True, "no": False, "false": False, "not met": False}


def read_criteria(schema: Schema, value: Any, context: Context) -> tuple[dict[str, float], dict[str, str]]:
    """The scores in the order of the context, and the reasons, if there are any.

    Raises:
        Unparseable: missing_criteria, unknown_criteria, duplicate_criteria, schema_mismatch, out_of_range, ambiguous.
    """
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    worth = _share if schema.flat else _worth
    if schema.flat and isinstance(value, Mapping) and isinstance(overall := member(value, _OVERALL), Mapping):
        value = overall
    for name, entry in _entries(schema, value, context):
        if name not in context.criteria:
            raise Unparseable("unknown_criteria", f"expected the ids {list(context.criteria)}")
        if name in scores:
            raise Unparseable("duplicate_criteria", f"{name} has more than one score")
        scores[name] = _score(entry, context.choices.get(name, ()), worth)
        if schema.quotes and scores[name] > 0 and not _is_quoted(entry, context.shown):
            scores[name] = 0.0
            reasons[name] = NOT_QUOTED
            continue
        reason = _text(entry)
        if reason is not None:
            reasons[name] = reason
    missing = [name for name in context.criteria if name not in scores]
    if missing:
        raise Unparseable("missing_criteria", f"no score for {missing}")
    return {name: scores[name] for name in context.criteria}, reasons


def read_proposal(schema: Schema, value: Any, context: Context) -> tuple[dict[str, float], dict[str, str]]:
    """The weight of each proposed criterion, 1 or -1 for a fault, and its title, both by its description. Nothing else may
    stand in an entry: a judge that says more has not kept to the form, and what it says may be a response's.

    Raises:
        Unparseable: schema_mismatch, duplicate_criteria, out_of_range.
    """
    entries = member(value, schema.key) if isinstance(value, Mapping) and len(value) == 1 else MISSING
    if not isinstance(entries, list):
        raise Unparseable("schema_mismatch", f"expected an object with the list {schema.key!r} alone")
    if len(entries) > context.most:
        raise Unparseable("out_of_range", f"{len(entries)} criteria; at most {context.most}")
    weights: dict[str, float] = {}
    titles: dict[str, str] = {}
    for entry in entries:
        if not isinstance(entry, Mapping) or set(entry) != {"title", "description", "fault"}:
            raise Unparseable("schema_mismatch", "expected title, description and fault in each entry, and no more")
        title, description = (_line(entry[name], limit) for name, limit in _PROPOSED_CHARS.items())
        if not isinstance(entry["fault"], bool):
            raise Unparseable("schema_mismatch", "fault: expected true or false")
        if description in weights:
            raise Unparseable("duplicate_criteria", "a criterion stands there twice")
        weights[description], titles[description] = -1.0 if entry["fault"] else 1.0, title
    return weights, titles


_PROPOSED_CHARS: Final = {"title": 100, "description": 600}


def _line(value: Any, max_chars: int) -> str:
    """A text as one line of printable characters."""
    if not isinstance(value, str):
        raise Unparseable("schema_mismatch", f"expected a text, found {type(value).__name__}")
    line = " ".join("".join(char if char.isprintable() else " " for char in value).split())
    if not 0 < len(line) <= max_chars:
        raise Unparseable("out_of_range", f"a text of {len(line)} characters; expected 1 to {max_chars}")
    return line


def mean_by_weight(scores: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The earned weight over the weight that can be earned; faults (weights below 0) are subtracted."""
    earnable = sum(weight for weight in weights.values() if weight > 0)
    if earnable <= 0:
        penalty = sum(-weights[name] * score for name, score in scores.items())
        at_stake = sum(-weight for weight in weights.values())
        return 1.0 - penalty / at_stake if at_stake else 0.0
    return min(1.0, max(0.0, sum(weights[name] * score for name, score in scores.items()) / earnable))


def _entries(schema: Schema, value: Any, context: Context) -> Iterable[tuple[str, Any]]:
    entries = value if isinstance(value, list) else member(value, schema.key)
    if isinstance(entries, list):
        return [(_id(entry), entry) for entry in entries]
    if isinstance(entries, Mapping):
        return _by_id(entries, context)
    if entries is not MISSING:
        raise Unparseable("schema_mismatch", f"{schema.key} is {type(entries).__name__}")
    if not any(fold(name) in map(fold, context.criteria) for name in value):
        raise Unparseable("schema_mismatch", f"no {schema.key!r}")
    return _by_id({name: entry for name, entry in value.items() if _is_entry(name, entry, context)}, context)


def _is_entry(name: str, entry: Any, context: Context) -> bool:
    """Whether a key is an entry: beside the ids themselves only remarks and totals are allowed."""
    if fold(name) in map(fold, context.criteria):
        return True
    return not (isinstance(entry, str) or fold(name).replace(" ", "_") in _TOTALS)


def _by_id(entries: Mapping[str, Any], context: Context) -> list[tuple[str, Any]]:
    """The entries by id. Keys are compared without case, so ids must differ in more than case."""
    ids = {fold(name): name for name in context.criteria}
    if len(ids) != len(context.criteria):
        raise Unparseable("ambiguous", "ids that differ in case only cannot be keys")
    return [(ids.get(fold(name), name), entry) for name, entry in entries.items()]


def _id(entry: Any) -> str:
    name = member(entry, "id") if isinstance(entry, Mapping) else MISSING
    if not isinstance(name, str):
        raise Unparseable("schema_mismatch", "an entry without an id")
    return name.strip()


def _score(entry: Any, choices: Sequence[str], worth: Callable[[Any, Sequence[str]], float]) -> float:
    if not isinstance(entry, Mapping):
        return worth(entry, choices)
    worths = {worth(value, choices) for key in _VERDICTS if (value := member(entry, key)) is not MISSING}
    if not worths:
        raise Unparseable("schema_mismatch", "an entry without a score")
    if len(worths) > 1:
        raise Unparseable("ambiguous", "an entry has two verdicts that contradict each other")
    return worths.pop()


def _share(value: Any, marks: Sequence[str]) -> float:
    """The score from 0 to 1 of a number from the first to the last mark, also of one between marks."""
    low, high = float(marks[0]), float(marks[-1])
    return (read_number(value, low, high) - low) / (high - low)


def _worth(value: Any, choices: Sequence[str]) -> float:
    """The score from 0 to 1 of an answer."""
    meaning = value if isinstance(value, bool) else _MEANINGS.get(fold(value)) if isinstance(value, str) else None
    if not choices:
        return float(meaning) if meaning is not None else float(read_number(value, 0.0, 1.0))
    text = fold(value) if isinstance(value, str) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:g}"
    hits = [at for at, choice in enumerate(choices) if fold(choice) == text]
    if not hits and meaning is not None:  # a boolean, or a number, for an answer that is yes or no
        hits = [at for at, choice in enumerate(choices) if _MEANINGS.get(fold(choice)) is meaning]
    if not hits and text in ("0", "1") and len(choices) == _BINARY:
        hits = [at for at, choice in enumerate(choices) if _MEANINGS.get(fold(choice)) is (text == "1")]
    if len(hits) != 1:
        raise Unparseable("schema_mismatch", f"expected one of {list(choices)[:20]}")
    return hits[0] / (len(choices) - 1)


_BINARY: Final = 2
NOT_QUOTED: Final = "no quotation of it stands in the response"


def _is_quoted(entry: Any, response: str) -> bool:
    """Whether the entry quotes the response, but for spaces and case."""
    quote = member(entry, "quote") if isinstance(entry, Mapping) else MISSING
    words = flat(quote) if isinstance(quote, str) else ""
    return bool(words) and words in flat(response)


def flat(text: str) -> str:
    return " ".join(text.casefold().split())


def _text(entry: Any) -> str | None:
    if not isinstance(entry, Mapping):
        return None
    return next((text for key in ("reason", "reasoning") if isinstance(text := member(entry, key), str)), None)
