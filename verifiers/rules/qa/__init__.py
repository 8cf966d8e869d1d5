"""Compares a text with one or many references, by the metric of the data set. The best reference counts.

    exact      the same words                              SQuAD, Search-R1, open-instruct's flan and string matcher
    f1         words in common                             SQuAD, HotpotQA, slime, open-instruct
    contains   the reference's words in a row, affirmed    Search-R1's sub-match
    drop       aligned spans, numbers must be equal        DROP
    wer rouge bleu chrf   likeness of longer texts         Video-R1, translation, summaries
    list bool date        answers with a form of their own

`reference` is a text, a number, several of them, Search-R1's `{"target": ...}`, or DROP's `{"number", "spans",
"date"}`. For `drop` and `list` a list inside the list is one reference with several parts.

For `exact` and `f1` with `in_sentences` an answer may stand in a sentence ("No, it's Paris, not Lyon."; module
`alone`). The words around it are not part of it. A short answer that leaves a choice open ("Paris or Rome") is no
answer, whatever it shares with the reference. The scores of `f1`, `drop` and the likeness metrics are graded;
`threshold` makes them 1 or 0. A text without meaning can reach a high likeness: set a threshold, or combine it with a
stricter metric.
"""

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import Annotated, Any, Literal

import msgspec
from propcache.api import cached_property
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from sandbox.workers import Workers
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Channel, accompanied
from verifiers.commitment.affirmed import asks, describes, is_denial
from verifiers.commitment.folding import visible
from verifiers.commitment.latex import untexted
from verifiers.commitment.truths import is_gainsaid, truth
from verifiers.commitment.unanswerable import says_none
from verifiers.long_texts import INLINE_CHARS, judge_all
from verifiers.math import moments
from verifiers.own_answers import written
from verifiers.rules.qa import drop, overlap, similarity, translation, typed
from verifiers.rules.qa.contained import contained
from verifiers.rules.qa.similarity import Rouge
from verifiers.rules.qa.words import Normalise, has_cjk, unaccented, words

Metric = Literal["exact", "f1", "contains", "drop", "wer", "rouge", "bleu", "chrf", "list", "bool", "date"]

_Text = Annotated[StrictStr, Field(max_length=20_000)]
_Value = StrictBool | StrictInt | StrictFloat | _Text
_Parts = Annotated[tuple[_Value, ...], Field(min_length=1, max_length=typed.MAX_ITEMS)]


class DropAnswer(BaseModel):
    """DROP's form of one reference: a number, or else spans, or else a date."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    number: StrictInt | StrictFloat | StrictStr = ""
    """The number; empty if the answer is something else."""
    spans: tuple[_Text, ...] = ()
    """The texts that the answer is made of."""
    date: dict[Literal["day", "month", "year"], StrictInt | StrictStr] = {}
    """The date, by its parts."""

    def parts(self) -> tuple[str, ...]:
        if str(self.number).strip():
            return (str(self.number),)
        return self.spans or (" ".join(str(self.date.get(part, "")) for part in ("day", "month", "year")),)


_Several = Annotated[tuple[_Value | _Parts | DropAnswer, ...], Field(min_length=1, max_length=typed.MAX_ITEMS)]
_MAX_REFERENCE_CHARS = 200_000


class Target(BaseModel):
    """Search-R1's form of the references."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    target: _Value | _Several
    """A text, or several; the best one counts."""


class QaParams(commitment.ExtractionParams):
    """The references, and how an answer is compared with them."""

    reference: _Value | _Several | DropAnswer | Target
    """A text, or several; the best one counts."""
    metric: Metric = "exact"
    """How the answer is compared: exact, f1, contains, drop, wer, rouge, bleu, chrf, list, bool or date."""
    normalise: Normalise | None = None
    """The normal form of texts.

    If it is left out, exact, f1 and contains use `signs`, or `cjk` if the reference is Chinese, Japanese or Korean; wer
    and rouge use `cjk`, bleu uses mteval-v13a's words, and chrf all characters. The other metrics have their own.
    """
    threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """A score of at least this value becomes 1, a smaller one 0."""
    rouge: Rouge = "l"
    """For `rouge`: single words, pairs, the longest common subsequence, or the mean of the three (Video-R1)."""
    max_words: Annotated[int, Field(ge=1)] | None = None
    """For `contains`: an answer with more words is wrong (`too_long`). If it is left out, any length is allowed."""
    ordered: bool = False
    """For `list`: whether the elements must stand in the reference's order."""
    alternatives: Literal["reject", "allow", "reject_lists"] = "reject"
    """For f1, contains and drop: whether an answer may leave a choice open. `allow` is what the originals do.
    `reject_lists` also takes "London, Paris, Rome" for an open choice, which `contains` alone would reward."""
    accents: Literal["names", "count"] = "names"
    """For exact, f1 and contains: whose accents do not count. Those of names: of references that begin with a capital."""
    in_sentences: bool = False
    """For exact and f1: whether an answer may stand in a sentence ("No, it's Paris, not Lyon.").

    A name or a day may then be written in another way, too ("J.K." and "J. K."). If it is left out, every word counts,
    as in the published formulas.
    """
    unanswerable: bool = False
    """For exact and f1: whether an empty reference means that the question has no answer (SQuAD 2.0).

    An empty answer tag is then right, and so are phrases like "unanswerable". If it is left out, an empty reference
    makes the item invalid.
    """

    @cached_property
    def parts(self) -> Sequence[tuple[str, ...]]:
        """Each reference as its parts: one, or for `drop` and `list` several."""
        return _references(self)

    @cached_property
    def fault(self) -> tuple[str, str] | None:
        """What makes the references unusable: a reason and a message."""
        return _fault(self.parts, self.metric)


class Qa(Verifier[QaParams]):
    name = "qa"
    version = "37"
    params = QaParams
    summary = (
        "A text against one or many references: exact, F1, contains, DROP, WER, ROUGE, BLEU, chrF, list, bool, date"
    )

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[QaParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items, _is_inline)

    def own_answer(self, params: QaParams) -> str | None:
        spans = params.parts[0]
        if params.unanswerable and not visible(spans[0]):
            return written("unanswerable", params, Channel.ANSWER_TAG)
        return written(spans[0], params, Channel.ANSWER_TAG) if len(spans) == 1 else None


def create(resources: Resources) -> Qa:
    long_texts.register(resources.workers, judge, QaParams, EXAMPLES[0])
    return Qa(resources.workers)


_LIKENESS = frozenset(["wer", "rouge", "bleu", "chrf"])
_INLINE_LIKENESS_CHARS = 200
"""Characters judged inline. Likeness takes up to a microsecond per character, ten times as much as other metrics."""
_INLINE_SPANS = 12
"""Spans aligned inline. The time of an alignment grows with the third power of their number."""


def _is_inline(item: Item[QaParams]) -> bool:
    """Whether an item is judged inline, because it takes far less time than long texts may take."""
    references = item.params.parts
    if item.params.metric == "drop" and sum(map(len, references)) > _INLINE_SPANS:
        return False
    chars = len(item.response) * len(references) + sum(len(part) for spans in references for part in spans)
    return chars <= (_INLINE_LIKENESS_CHARS if item.params.metric in _LIKENESS else INLINE_CHARS)


_AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.WHOLE)
_AUTO_LIKENESS = (Channel.ANSWER_TAG, Channel.WHOLE)
"""The metrics of longer texts. A translation or a summary may speak of answers."""
_WHOLE = frozenset(["exact", "contains"])
"""The metrics for which an answer without the last word of a reference is wrong."""
_SHORT = frozenset(["exact", "f1"])
"""The metrics of short answers, which may stand in a sentence."""
_MAX_RATIO = 10
_MAX_EXTRA_CHARS = 2_000
_MAX_SHOWN = 16
_MAX_SYNONYMS = 64


def judge(response: str, params: QaParams, explain: bool = False) -> Verdict:
    original = response if explain else None
    response = commitment.without_html(response if params.metric in _LIKENESS else commitment.without_struck(response))
    references = params.parts
    may_have_none = params.unanswerable and params.metric in ("exact", "f1")
    if may_have_none and any(not visible(spans[0]) for spans in references):
        references = [spans for spans in references if visible(spans[0])]
    # Before the response is looked at, so that no response keeps its author from mending the reference.
    if references and (fault := params.fault if references is params.parts else _fault(references, params.metric)):
        return Verdict.invalid(*fault)
    if len(references) < len(params.parts):
        if (verdict := _says_none(response, params, original)) is not None:
            return verdict
        if not references:
            extraction = commitment.extract(response, params, _AUTO, sent=original)
            reason = "wrong_answer" if extraction.answer is not None else extraction.reason
            return Verdict.wrong(reason, extraction.answer, **extraction.detail(explain))
    channels = _AUTO_LIKENESS if params.metric in _LIKENESS else _AUTO
    extraction = commitment.extract(response, params, channels, sent=original)
    if params.metric not in _LIKENESS:
        extraction = _committed(response, extraction, params, references)
    extraction = _with_day(response, extraction, params, original)
    detail = extraction.detail(explain)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **detail)
    answer = _answer(response, extraction, params.metric, references)
    trouble = _trouble(answer, references, params)
    scores = [] if trouble else [_score(answer, spans, params) for spans in references]
    is_said = params.in_sentences and params.metric in _SHORT
    if is_said and trouble not in ("empty", "too_long") and max(scores, default=0) < 1:
        answer, scores = _apart(answer, scores, extraction.channel, params, references)
    if not scores:
        return Verdict.wrong(trouble or "wrong_answer", extraction.answer, **detail)
    best = max(range(len(scores)), key=scores.__getitem__)
    if len(references) > 1:
        detail["best_reference"] = best
    if params.metric == "drop":
        detail["em"] = any(drop.is_same(answer, spans) for spans in references)
    if explain:
        shown_references = [clip(" | ".join(spans)) for spans in references[:_MAX_SHOWN]]
        detail["compared"] = {
            "answer": clip(answer),
            "references": shown_references,
            "scores": list(map(float, scores[:_MAX_SHOWN])),
        }
    if params.metric == "contains" and not scores[best]:
        return Verdict.wrong(_why_not(answer, references, params), extraction.answer, **detail)
    if params.threshold is None:
        return _verdict(float(scores[best]), extraction.answer, detail)
    detail["likeness"] = float(scores[best])
    return _verdict(float(scores[best] >= Fraction(str(params.threshold))), extraction.answer, detail)


def _with_day(
    response: str, extraction: commitment.Extraction, params: QaParams, original: str | None
) -> commitment.Extraction:
    """The extraction; if it holds no day, that with the days of the response in figures: "Die Antwort ist 5. Mai 2021."."""
    if params.metric != "date" or (extraction.answer is not None and typed.day(extraction.answer) is not None):
        return extraction
    in_figures = moments.with_iso_days(response)
    day_extraction = commitment.extract(in_figures, params, _AUTO, sent=original)
    day_extraction = commitment.corrected(in_figures, day_extraction, params.on_conflict)
    if day_extraction.answer is None or day_extraction.span is None or typed.day(day_extraction.answer) is None:
        return extraction
    day_span = moments.written_day(response, in_figures, day_extraction.span)
    return msgspec.structs.replace(commitment.judged_at(day_extraction, day_span), answer=response[slice(*day_span)])


def _answer(
    response: str, extraction: commitment.Extraction, metric: str, references: Sequence[tuple[str, ...]]
) -> str:
    """The text that is compared: an answer without the words around it."""
    if (
        metric == "bool" and extraction.answer and truth(extraction.answer) is not None
    ):  # not the abbreviation of "number"
        return extraction.answer
    answer = untexted(visible(_past_abbreviation(response, extraction)))
    if metric == "list" and extraction.channel is Channel.ANSWER_LINE and extraction.span:
        answer = typed.listed_from(response, extraction.span[0]) or answer
    may_be = metric not in _WHOLE or _may_name(answer, references)
    if metric not in _LIKENESS and (answer,) not in references and may_be:
        if metric in _SHORT and ")" in answer[:5]:
            answer = _without_label(answer, references)
        answer = _alone(answer, extraction.channel, references)
    return answer


def _without_label(answer: str, references: Sequence[tuple[str, ...]]) -> str:
    """An answer without the letter of an option before it, if it is the only one: "(C) Paris"."""
    labels = list(_LABEL.finditer(answer))
    if len(labels) != 1 or labels[0].start() > 0 or any(_LABEL.match(part) for spans in references for part in spans):
        return answer
    return answer[labels[0].end() :]


_LABEL = re.compile(r"[*_]{0,2}(?<![^\W_])\(?[A-J]\)[*_]{0,2}\s{1,4}(?=\S)")


def _committed(
    response: str, extraction: commitment.Extraction, params: QaParams, references: Sequence[tuple[str, ...]]
) -> commitment.Extraction:
    """The extraction, after the text behind its answer has been read."""
    if extraction.channel is Channel.WHOLE and params.extract == "auto" and params.metric in _SHORT:
        extraction = _announced(response, extraction)
    if params.metric == "bool" and extraction.channel is Channel.ANSWER_LINE:
        extraction = _denied(response, extraction, params)
    extraction = commitment.corrected(response, _with_title(extraction, references), params.on_conflict)
    if params.metric in _SHORT and params.extract == "auto" and extraction.channel in _IN_LINES:
        extraction = _with_reference(response, extraction, params, references)
    if params.metric == "bool" and extraction.span and is_gainsaid(response, extraction.span):
        phrase = commitment.without_answer(extraction.mentions)
        return msgspec.structs.replace(
            extraction, answer=None, span=None, reason="conflicting_answers", mentions=phrase
        )
    return extraction


def _denied(response: str, extraction: commitment.Extraction, params: QaParams) -> commitment.Extraction:
    """The extraction of an announced denial, which is an answer to a yes-or-no question: "Answer: That is wrong."."""
    segment = commitment.final_segment(response, params.think)
    span = commitment.announced_last(response, segment.start, segment.end)
    if span is None or truth(response[slice(*span)]) is None or commitment.is_taken_back(response, span[1]):
        return extraction
    return msgspec.structs.replace(extraction, answer=response[slice(*span)], span=span, reason="found")


def _announced(response: str, extraction: commitment.Extraction) -> commitment.Extraction:
    """The extraction of a whole response, narrowed to the words that its end announces: "So the answer is valid."."""
    span = commitment.last_announced(response, *extraction.span) if extraction.span else None
    if span is None:
        return extraction
    judged = commitment.judged_at(extraction, span)
    return msgspec.structs.replace(judged, channel=Channel.ANSWER_LINE, answer=response[slice(*span)], span=span)


def _with_title(extraction: commitment.Extraction, references: Sequence[tuple[str, ...]]) -> commitment.Extraction:
    """The extraction, where an "or" in the last candidate leaves nothing open, as a reference holds it: "Trick or Treat"."""
    if extraction.reason != "conflicting_answers" or extraction.channel is not Channel.ANSWER_LINE:
        return extraction
    last = extraction.candidates[-1]
    titles = [part for spans in references for part in spans if commitment.names_alternatives(part)]
    tails = [last.text.casefold().replace(title.casefold(), "", 1) for title in titles]
    is_title = any(len(tail) < len(last.text) and not commitment.names_alternatives(tail) for tail in tails)
    return (
        msgspec.structs.replace(extraction, answer=last.text, span=last.span, reason="found")
        if is_title
        else extraction
    )


def _with_reference(
    response: str, extraction: commitment.Extraction, params: QaParams, references: Sequence[tuple[str, ...]]
) -> commitment.Extraction:
    """The extraction, where the last line announces a reference and nothing else, whose own words doubt, deny or ask: "Answer: Maybe",
    "The answer is The Who.".
    """
    segment = commitment.final_segment(response, params.think)
    start = response.rfind("\n", segment.start, segment.end) + 1 or segment.start
    line = response[start : segment.end].rstrip(_CLOSING)
    if (stop := line.rfind(". ")) >= 0:
        start, line = start + stop + 2, line[stop + 2 :]
    is_read = extraction.reason == "truncated" or line.endswith(extraction.answer or "\n")
    if is_read or len(line) > _MAX_TITLE_CHARS:
        return extraction
    for title in (part.strip() for spans in references for part in spans):
        if not title or not line.casefold().endswith(title.casefold()):
            continue
        first = start + len(line) - len(title)
        is_only = not commitment.announcements(response, segment.start, start)
        if is_only and commitment.leads_in(response[start:first]):
            judged = commitment.judged_at(extraction, (first, first + len(title)))
            span = first, first + len(title)
            return msgspec.structs.replace(
                judged, channel=Channel.ANSWER_LINE, answer=response[slice(*span)], span=span, reason="found"
            )
    return extraction


_IN_LINES = (None, Channel.ANSWER_LINE, Channel.WHOLE)
_CLOSING = " .!。*_`\"”'’」)"
_MAX_TITLE_CHARS = 200
_INITIALS = re.compile(r"(?:[A-Z]\.){0,3}[A-Z]")
_ABBREVIATIONS = frozenset(
    ["St", "Mt", "Ft", "Dr", "Mr", "Mrs", "Ms", "Jr", "Sr", "Prof", "Gen", "Sgt", "Capt", "Lt", "Col", "Rev", "Gov",
     "Sen", "No"]
)  # fmt: skip
_REST_OF_NAME = re.compile(r"\.\s?(?=\w)(?:[^.!?\n]|\.(?=\w)|(?<=\b[A-Z])\.){1,100}")


def _past_abbreviation(response: str, extraction: commitment.Extraction) -> str:
    """The answer of a line, extended past the point of an abbreviation: "The answer is St. Louis."."""
    answer = extraction.answer or ""
    if extraction.channel is not Channel.ANSWER_LINE or extraction.span is None or len(extraction.candidates) > 1:
        return answer
    end, word = extraction.span[1], answer.rpartition(" ")[2]
    if not response.startswith(".", end) or not (word in _ABBREVIATIONS or _INITIALS.fullmatch(word)):
        return answer
    name_end = _REST_OF_NAME.match(response, end)
    return answer + name_end[0].rstrip('*_`" ') if name_end else answer


_DESCRIBED = re.compile(r"(?:\*\*)?(?P<answer>[^*\n]{1,200})\*\*(?:[,—–]\s?|\s[—–-]\s|\s\()(?P<description>[^*?]*)")


def _alone(answer: str, channel: Channel | None, references: Sequence[tuple[str, ...]]) -> str:
    """An answer without the text that accompanies it.

    This is: courtesies behind an unmarked answer, a sentence around it inside a tag, the description of an emphasised
    answer ("**Paris**, the capital"), a statement of confidence, and citation marks ("Paris [1]").
    """
    if channel is Channel.WHOLE:
        answer = answer[: commitment.without_courtesy(answer, 0, len(answer))]
    answer = accompanied.apart(answer, [part for spans in references for part in spans])
    if not any("onfiden" in part for spans in references for part in spans):
        answer = commitment.without_confidence(answer, 0, len(answer)).rstrip()
    if "**" in answer and (described := _DESCRIBED.fullmatch(answer)):
        answer = described["answer"] if describes(described["description"]) else answer
    if any("[" in part or part.strip().isdigit() for spans in references for part in spans):
        return answer
    return commitment.without_citations_at_end(answer)


def _apart(
    answer: str,
    scores: list[Fraction | float],
    channel: Channel | None,
    params: QaParams,
    references: Sequence[tuple[str, ...]],
) -> tuple[str, list[Fraction | float]]:
    """The reading of an answer, without the words around it, that has the best score.

    The longer of two equal ones wins.
    """
    if not _may_name(answer, references):
        return answer, scores
    for reading in accompanied.readings(answer, references, channel is Channel.WHOLE):
        if _trouble(reading, references, params):
            continue
        reading_scores = [_score(reading, spans, params) for spans in references]
        if not scores or max(reading_scores) > max(scores):
            answer, scores = reading, reading_scores
    return answer, scores


_LAST_WORD = re.compile(r"[^\W_]+(?=[\W_]*\Z)")


def _may_name(answer: str, references: Sequence[tuple[str, ...]]) -> bool:
    """Whether an answer holds the last word of a reference, so that it may name the reference among other words."""
    text = unaccented(answer.lower())
    return any(
        (last := _LAST_WORD.search(part)) is None or unaccented(last[0].lower()) in text
        for spans in references
        for part in spans
    )


def _says_none(response: str, params: QaParams, original: str | None) -> Verdict | None:
    """The verdict "right" if a response says that the question has no answer; else None."""
    extraction = commitment.extract(response, params, _AUTO, sent=original)
    segment = commitment.final_segment(response, params.think)
    answer = None if extraction.answer is None else untexted(extraction.answer)
    if segment.reason != "found" or not says_none(response[segment.start : segment.end], answer):
        return None
    return Verdict.correct(extraction.answer, **extraction.detail(explain=original is not None))


def _verdict(score: float, extracted: str, detail: dict[str, Any]) -> Verdict:
    if score == 1.0:
        return Verdict.correct(extracted, **detail)
    if score == 0.0:
        return Verdict.wrong(extracted=extracted, **detail)
    return Verdict(Status.OK, score, "partial", clip(extracted), detail)


# --- the references


def _references(params: QaParams) -> list[tuple[str, ...]]:
    """Each reference as its parts: one, or for `drop` and `list` several."""
    target = params.reference.target if isinstance(params.reference, Target) else params.reference
    if params.metric == "list":
        return _lists(target)
    return [_parts(entry) for entry in (target if isinstance(target, tuple) else (target,))]


def _parts(entry: Any) -> tuple[str, ...]:
    if isinstance(entry, DropAnswer):
        return entry.parts()
    entry = entry if isinstance(entry, tuple) else (entry,)
    return tuple(commitment.without_html(str(part)) for part in entry)


def _lists(target: Any) -> list[tuple[str, ...]]:
    """The lists of a reference. A list of plain values is one list; a list of lists holds several."""
    if not isinstance(target, tuple):
        return [tuple(typed.elements(str(target))) if isinstance(target, str) else _parts(target)]
    if any(isinstance(entry, tuple) for entry in target):
        return [entry for member in target for entry in _lists(member)]
    return [tuple(map(str, target))]


def _fault(references: Sequence[tuple[str, ...]], metric: Metric) -> tuple[str, str] | None:
    """What makes the references unusable: a reason and a message."""
    if (chars := sum(len(part) for spans in references for part in spans)) > _MAX_REFERENCE_CHARS:
        return (
            "reference_too_large",
            f"the references have {chars} characters; at most {_MAX_REFERENCE_CHARS} are compared",
        )
    if not all(visible(part) for spans in references for part in spans):
        return "empty_reference", "a reference must hold more than space and invisible characters"
    limit = drop.MAX_SPANS if metric == "drop" else typed.MAX_ITEMS if metric == "list" else 1
    if any(len(spans) > limit for spans in references):
        message = f"a reference of {max(map(len, references))} parts; metric {metric!r} takes at most {limit}"
        return "too_many_parts", message
    for text, *_ in references:
        if metric == "bool" and truth(text) is None:
            return "unparseable_reference", f"reference {clip(text)!r} is neither true nor false"
        if metric == "date" and typed.day(text) is None:
            return "unparseable_reference", f"reference {clip(text)!r} is not a date"
    return None


# --- the answer

_ALTERNATIVES_REJECTED = frozenset(["f1", "drop"])


def _trouble(answer: str, references: Sequence[tuple[str, ...]], params: QaParams) -> str | None:
    """The reason why a text is not an answer, whatever it says; None if it may be one."""
    if not any(map(str.isalnum, answer)) and (answer,) not in references:
        return "empty"
    longest = max(sum(map(len, spans)) for spans in references)
    if len(answer) > _MAX_RATIO * longest + _MAX_EXTRA_CHARS:
        return "too_long"
    if not answer[-1].isalnum() and asks(answer) and not any(asks(" ".join(spans)) for spans in references):
        return "no_answer"
    if params.metric == "contains":
        if params.max_words is not None and len(words(answer, "cjk")) > params.max_words:
            return "too_long"
        is_list = params.alternatives == "reject_lists" and all(
            _is_list(answer, " ".join(spans)) for spans in references
        )
        return "several_candidates" if is_list else None
    if params.alternatives == "allow" or params.metric not in _ALTERNATIVES_REJECTED:
        return None
    if is_denial(answer) and not any(is_denial(" ".join(spans)) for spans in references):
        return "denied"
    is_open = all(overlap.names_alternatives(answer, " ".join(spans)) for spans in references)
    if params.alternatives == "reject_lists":
        is_open = is_open or all(_is_list(answer, " ".join(spans)) for spans in references)
    return "conflicting_answers" if is_open else None


def _why_not(answer: str, references: Sequence[tuple[str, ...]], params: QaParams) -> str:
    """The reason why an answer does not state any reference; the most specific one, if it names a reference."""
    reasons = {
        contained(answer, spans[0], params.normalise or ("cjk" if has_cjk(spans[0]) else "signs"))
        for spans in references
    }
    return (
        "several_candidates" if "several_candidates" in reasons else "denied" if "denied" in reasons else "wrong_answer"
    )


def _is_list(answer: str, reference: str) -> bool:
    return overlap.is_enumeration(answer, reference) or overlap.is_flood(answer, reference)


def _score(answer: str, spans: Sequence[str], params: QaParams) -> Fraction | float:
    reference, words_of = spans[0], params.normalise
    if params.metric in _OF_NAMES and _is_name(reference, params):
        answer, reference = unaccented(answer), unaccented(reference)
    short: Normalise = words_of or ("cjk" if has_cjk(reference) else "signs")
    match params.metric:
        case "exact":
            is_same = overlap.exact(answer, reference, short) or (
                params.in_sentences and _is_written_else(answer, reference, short)
            )
            return Fraction(is_same)
        case "f1":
            return overlap.f1(answer, reference, short)
        case "contains":
            synonyms = [part for part in chain.from_iterable(params.parts) if part != spans[0]][:_MAX_SYNONYMS]
            is_name = _is_name(reference, params)
            return Fraction(contained(answer, reference, short, is_name=is_name, synonyms=synonyms) == "found")
        case "drop":
            return drop.score(answer, spans)
        case "wer":
            return similarity.wer(answer, reference, words_of or "cjk")
        case "rouge":
            return similarity.rouge(answer, reference, words_of or "cjk", params.rouge)
        case "bleu":
            return translation.bleu(answer, reference, words_of)
        case "chrf":
            return translation.chrf(answer, reference, words_of)
        case "list":
            return Fraction(typed.same_list(answer, spans, params.ordered))
        case "bool":
            return Fraction(truth(answer) is truth(reference))
        case "date":
            reference_day = typed.day(reference)
            return Fraction(reference_day is not None and typed.same_day(answer, reference_day))


_OF_NAMES = frozenset(["exact", "f1"])


def _is_name(reference: str, params: QaParams) -> bool:
    """Whether the accents of a reference do not count."""
    return params.normalise in (None, "signs") and params.accents == "names" and reference[:1].isupper()


_DAY = re.compile(r"(?=\D{0,20}\d)(?=[^a-z]{0,20}[a-z]{3})[\w., ]{10,30}", re.IGNORECASE)
"""A text that may be a day with its month in letters."""


def _is_written_else(answer: str, reference: str, normalise: Normalise) -> bool:
    return overlap.has_same_initials(answer, reference, normalise) or _names_the_same_day(answer, reference, normalise)


def _names_the_same_day(answer: str, reference: str, normalise: Normalise) -> bool:
    """Whether both texts name the same day of a year, in any notation: "20 July 1969", "July 20th, 1969"."""
    if normalise == "none" or not reference[-4:].isdigit() or not _DAY.fullmatch(reference):
        return False
    answer = answer.strip(" *_.\"'\n")
    reference_day = typed.day(reference) if _DAY.fullmatch(answer) else None
    return reference_day is not None and reference_day.year is not None and typed.same_day(answer, reference_day)


def _example(response: str, reference: Any, score: float | None, reason: str, note: str, **params: Any) -> Example:
    status = Status.OK if score is not None else Status.INVALID
    return Example(response, {"reference": reference, **params}, score, reason, note, status)


EXAMPLES = (
    _example(
        "<answer>The Eiffel Tower.</answer>",
        ["Eiffel Tower", "La Tour Eiffel"],
        1.0,
        "correct",
        "case, articles and punctuation do not count",
    ),
    _example(
        "<answer>Big Ben</answer>",
        {"target": ["Eiffel Tower"]},
        0.0,
        "wrong_answer",
        "Search-R1's form",
        extract="answer_tag",
    ),
    _example("green tea leaves and milk", "black tea leaves", 0.5, "partial", "2 of 5 and of 3 words", metric="f1"),
    _example(
        "Paris or Rome", "Paris", 0.0, "conflicting_answers", "looks half right, but leaves a choice open", metric="f1"
    ),
    _example(
        "It was written by Jane Austen's hand.", "Jane Austen", 1.0, "correct", "its words, in a row", metric="contains"
    ),
    _example(
        "No, it's Paris, not Lyon.",
        "Paris",
        1.0,
        "correct",
        "what an answer is said with is not a part of it; without in_sentences every word counts",
        in_sentences=True,
    ),
    _example("Romes", "Rome", 0.0, "wrong_answer", "letters inside a word are not the word", metric="contains"),
    _example("Jones and Smith", [["Smith", "Jones"]], 1.0, "correct", "spans in any order", metric="drop"),
    _example("6 yards", "5 yards", 0.0, "wrong_answer", "a word in common, but not the number", metric="drop"),
    _example("北京市", "北京", 0.8, "partial", "characters are words", metric="f1", normalise="cjk"),
    _example("the cat sat", "the cat sat down", 0.75, "partial", "one word of four is missing", metric="wer"),
    _example("the cat sat", "the cat sat down", 1.0, "correct", "6 / 7 is enough", metric="rouge", threshold=0.8),
    _example("c, b, a", [["a", "b", "c"]], 1.0, "correct", "a list in any order", metric="list"),
    _example("yes and no", "true", 0.0, "wrong_answer", "both is neither", metric="bool"),
    _example("5 January 2020", "2020-01-05", 1.0, "correct", "the same day", metric="date"),
    _example("\u200b", "Paris", 0.0, "empty", "nothing that can be seen"),
    _example("Paris", "", None, "empty_reference", "nothing to compare with"),
    _example("<answer>Unanswerable.</answer>", "", 1.0, "correct", "SQuAD 2.0's empty reference", unanswerable=True),
    _example("<answer>Paris</answer>", "", 0.0, "wrong_answer", "there is no answer", unanswerable=True),
)
