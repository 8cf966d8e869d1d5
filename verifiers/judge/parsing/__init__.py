"""Reads a judge's output: either a verdict that is certain, or no verdict.

    channels     the part of a message that is its answer: refusals, thinking, harmony channels       P1 P2
    objects      the JSON objects that own their lines, and which of them may hold a verdict         P3
    decoding     strict JSON, and a fixed list of repairs                                            P4 P5
    labels, numbers, lines                                                                           P6 P8, P7
    criteria     one score for each criterion                                                        P9
    probabilities, decisions                                                                         P10 P11

Judges quote the text that they judge, so the reader is strict: it never takes a word from prose, an object quoted
inside a sentence, or an earlier line if the last one is off the menu. An output that cannot be read for certain raises
`Unparseable`, and the judge is asked again. That costs a call, but a misread verdict teaches the policy a falsehood.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from verifiers.base import clip
from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing import (
    channels,
    criteria,
    decisions,
    decoding,
    labels,
    lines,
    numbers,
    objects,
    probabilities,
)
from verifiers.judge.schemas import NO_CONTEXT, Context, Kind, Schema

PARSER_VERSION: Final = "4"
"""Part of every verdict and of the cache key; bump it when any output may be read otherwise."""

_RATIONALES: Final = ("reasoning", "reason", "rationale", "explanation", "analysis")
_CLIPPED_CHARS: Final = 2_000

Value = str | int | float | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict that was read."""

    value: Value
    """The label, the number, or the score of each criterion."""
    score: float
    """A score from 0 to 1. For a rubric: the weighted mean; the caller applies gates and other means."""
    flags: tuple[str, ...] = ()
    """`repaired`, `format_fallback` (text where JSON was asked for), `no_logprobs`."""
    rationale: str | None = None
    """The judge's rationale, clipped."""
    probabilities: Mapping[str, float] | None = None
    """The probability of each label, if it was requested and returned; the sum is 1."""
    mass: float | None = None
    """The probability of all labels together, before it was scaled to 1."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """The reason for each criterion."""


def read(
    schema: Schema,
    message: Mapping[str, Any],
    finish_reason: str | None,
    *,
    context: Context = NO_CONTEXT,
    logprobs: Any = None,
) -> Reading:
    """The verdict in an assistant's message (`choices[0].message`); for a decision, `content` is the body.

    Raises:
        Unparseable: there is no verdict that can be read for certain.
    """
    text = channels.answer(message, finish_reason)
    if schema.kind is Kind.DECISION:
        return _read_decision(schema, text, context)
    is_cut = channels.is_cut(finish_reason)
    finding = _find(schema, text, context, is_cut=is_cut)
    if not schema.logprobs:
        return finding.reading
    if finding.begin is None:
        return replace(finding.reading, flags=(*finding.reading.flags, "no_logprobs"))
    return _with_probabilities(schema, finding.reading, logprobs, text, finding.begin)


@dataclass(frozen=True, slots=True)
class _Found:
    reading: Reading
    begin: int | None = None
    """The position of the verdict's value in the visible text, if it stands there as it was read."""


def _find(schema: Schema, text: str, context: Context, *, is_cut: bool) -> _Found:
    decoded = decoding.decoded_text(text)
    if decoded is None:
        return _find_object(schema, text, context, is_cut=is_cut) or _find_text(schema, text, context, is_cut=is_cut)
    finding = _find_object(schema, decoded, context, is_cut=is_cut)
    if finding is None or "repaired" in finding.reading.flags:
        raise _no_verdict("invalid_json", is_cut)
    return _Found(_flagged(finding.reading, "repaired"))


def _find_object(schema: Schema, text: str, context: Context, *, is_cut: bool) -> _Found | None:
    """The verdict of the JSON object that may hold one; None if there is no such object, so that text may.

    A terminal object beats an initial one. An object between other words is a quotation. If a text begins with an
    object that is not a verdict and goes on, then something has broken out of its string.
    """
    verdicts = [candidate for candidate in objects.candidates(text) if _could_be_verdict(schema, candidate)]
    owners = [candidate for candidate in verdicts if candidate.owns_lines]
    first = verdicts[0] if verdicts and verdicts[0].is_initial else None
    if first is None and objects.starts_with_object(text):
        raise _no_verdict("ambiguous" if owners else "invalid_json", is_cut)
    if owners and owners[-1].is_terminal:
        chosen = owners[-1]
    elif first is not None and first.owns_lines and not is_cut and not _says_more(schema, text[first.end :]):
        chosen = first
    elif owners or (first is not None and not _reads(schema, first, context)):
        raise _no_verdict("ambiguous", is_cut)
    else:
        return None
    if first is None or first is chosen:
        return _read_object(schema, chosen, context)
    return _after_another(schema, first, chosen, context)


def _after_another(schema: Schema, first: objects.Candidate, chosen: objects.Candidate, context: Context) -> "_Found":
    """The verdict of a terminal object in a text that begins with another one."""
    if not _reads(schema, first, context):
        raise Unparseable("ambiguous", "the text begins with an object that is not a verdict, and goes on")
    earlier, verdict = _read_object(schema, first, context), _read_object(schema, chosen, context)
    if first.owns_lines and earlier.reading.value != verdict.reading.value:
        raise Unparseable("ambiguous", "two objects are a verdict each")
    return verdict


def _could_be_verdict(schema: Schema, candidate: objects.Candidate) -> bool:
    """Whether an object is JSON, or a broken one that is meant as this verdict; braces of program code are neither."""
    if candidate.is_initial or f"{schema.key}" in candidate.source.casefold():
        return True
    try:
        decoding.decode(candidate.source)
    except Unparseable as error:
        return error.kind != "invalid_json"
    return True


def _reads(schema: Schema, candidate: objects.Candidate, context: Context) -> bool:
    try:
        _read_object(schema, candidate, context)
    except Unparseable:
        return False
    return True


def _says_more(schema: Schema, text: str) -> bool:
    """Whether the text after a verdict may hold another verdict."""
    if lines.mentions_key(schema, text):
        return True
    return labels.mentions(schema, text) if schema.kind is Kind.LABELS else numbers.has_digits(text)


def _read_object(schema: Schema, candidate: objects.Candidate, context: Context) -> _Found:
    value, is_repaired = decoding.decode(candidate.source)
    flags = ("repaired",) if is_repaired else ()
    if schema.kind is Kind.RUBRIC:
        scores, reasons = criteria.read_criteria(schema, value, context)
        reasons = {name: _clip(reason) for name, reason in reasons.items()}
        return _Found(Reading(scores, criteria.mean_by_weight(scores, context.criteria), flags, reasons=reasons))
    if schema.kind is Kind.PROPOSAL:
        weights, titles = criteria.read_proposal(schema, value, context)
        return _Found(Reading(weights, 0.0, flags, reasons=titles))
    if not isinstance(value, Mapping):
        raise Unparseable("schema_mismatch", "expected an object, found an array")
    raw_value = decoding.member(value, schema.key)
    if raw_value is decoding.MISSING:
        raise Unparseable("schema_mismatch", f"no {schema.key!r}")
    rationale = next((text for key in _RATIONALES if isinstance(text := decoding.member(value, key), str)), None)
    reading = _valued(schema, raw_value, context, flags, None if rationale is None else _clip(rationale))
    offset = None if is_repaired else decoding.begin_of(candidate.source, schema.key)
    return _Found(reading, None if offset is None else candidate.begin + offset)


def _find_text(schema: Schema, text: str, context: Context, *, is_cut: bool) -> _Found:
    """The verdict of a text without JSON.

    A text that was cut off may lack the rest of its label, or of its number.
    """
    if schema.kind in (Kind.RUBRIC, Kind.PROPOSAL):
        raise _no_verdict("invalid_json", is_cut)
    flags = () if schema.is_text or schema.logprobs else ("format_fallback",)
    line = lines.key_line(schema, text)
    if line is not None:
        if is_cut:
            raise _no_verdict("truncated", is_cut)
        if not line.value:
            raise Unparseable("no_verdict", "the last verdict line is empty")
        if objects.is_in_open_object(text, line.begin):
            raise Unparseable("invalid_json", "the verdict line stands in an object that never closes")
        reading = _valued(schema, line.value, context, flags)
        if _says_more(schema, line.after):
            raise Unparseable("ambiguous", "a verdict may follow the verdict line")
        if any(_differs(schema, earlier, context, reading) for earlier in set(line.earlier)):
            raise Unparseable("ambiguous", "two lines are a verdict each")
        return _Found(reading, line.begin)
    # If probabilities of labels are requested, only one token is: then the text is not cut off.
    for bare_line in lines.bare_lines(text) if schema.bare and (not is_cut or schema.logprobs) else ():
        if is_cut and bare_line.begin > 0:
            break
        try:
            reading = _valued(schema, bare_line.value, context, flags)
        except Unparseable as error:
            if error.kind in ("out_of_range", "scale_mismatch"):
                raise
            continue
        if any(_differs(schema, earlier, context, reading) for earlier in set(bare_line.earlier)):
            raise Unparseable("ambiguous", "two lines are a verdict each")
        return _Found(reading, bare_line.begin)
    if schema.kind is Kind.LABELS and labels.begins_with_label(schema, text):
        raise _no_verdict("ambiguous", is_cut)
    raise _no_verdict("no_verdict", is_cut)


def _differs(schema: Schema, earlier: str, context: Context, reading: Reading) -> bool:
    """Whether an earlier line is another verdict. A line without one, such as a quoted form, is not."""
    try:
        return _valued(schema, earlier, context).value != reading.value
    except Unparseable:
        return False


def _valued(
    schema: Schema, raw_value: Any, context: Context, flags: tuple[str, ...] = (), rationale: str | None = None
) -> Reading:
    """A label or a number with its score."""
    if schema.kind is Kind.LABELS:
        label = labels.read_label(schema, raw_value)
        return Reading(label, schema.scores[label], flags, rationale)
    if schema.kind is Kind.NUMBER:
        number = numbers.read_number(raw_value, schema.low, schema.high)
        return Reading(number, schema.worth(number), flags, rationale)
    step = numbers.read_number(raw_value, 0, context.n_steps, is_integer=True)
    return Reading(step, (step - 1) / context.n_steps if step else 1.0, flags, rationale)


def _with_probabilities(schema: Schema, reading: Reading, logprobs: Any, text: str, position: int) -> Reading:
    assert isinstance(reading.value, str | int | float)
    position += len(text[position:]) - len(text[position:].lstrip(" \t\r\n*`_'\"[](){}$"))
    distribution = probabilities.distribution(schema, logprobs, text, position, reading.value)
    if distribution is None:
        return _flagged(reading, "no_logprobs")
    score = probabilities.expected(schema, distribution.probabilities)
    return replace(reading, score=score, probabilities=distribution.probabilities, mass=distribution.mass)


def _read_decision(schema: Schema, text: str, context: Context) -> Reading:
    body = decoding.strict(text)
    if context.criteria:
        scores = decisions.predicates(body, context)
        return Reading(scores, criteria.mean_by_weight(scores, context.criteria))
    if not schema.scores:
        number, shares = decisions.levels(schema, body, context)
        return Reading(number, min(1.0, max(0.0, schema.worth(number))), probabilities=shares)
    label, shares = decisions.choice(schema, body, context)
    score = sum(schema.scores.get(name, 0.0) * share for name, share in shares.items())
    return Reading(label, min(1.0, score), probabilities=shares, mass=sum(shares.values()))


def _no_verdict(kind: str, is_cut: bool) -> Unparseable:
    return Unparseable(
        "truncated" if is_cut else kind, "cut before its end" if is_cut else "no verdict that stands alone"
    )


def _flagged(reading: Reading, flag: str) -> Reading:
    return replace(reading, flags=tuple(dict.fromkeys((*reading.flags, flag))))


def _clip(text: str) -> str:
    """A text that a verdict may contain: valid UTF-8, short, without control characters."""
    clean = "".join(char if char.isprintable() else " " for char in text[:_CLIPPED_CHARS])
    return clip(" ".join(clean.encode("utf-8", "replace").decode("utf-8").split())) or ""
