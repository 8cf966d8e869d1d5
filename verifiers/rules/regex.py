r"""The text must fully match the reference pattern.

Patterns have RE2's syntax (https://github.com/google/re2/wiki/Syntax) and are matched by RE2, in time linear in the
text. One that RE2 does not take (look-around, back-references) is matched by the backtracking `regex` library, in a
worker process under a CPU limit, with the same ASCII meaning of `\d`, `\w` and `\b`. A long text under a large
pattern goes to a worker too.

The whole text behind thinking and the following space is judged, without chat tokens at its end; `extract` can name a
part of it. The pattern must match from the first to the last character, with a line break at the end and zero-width
characters. `.` does not match a line break unless the pattern says `(?s)`. A pattern that does not compile, or that
takes more than the limit on an empty text, makes the item invalid: the caller must correct it. A response on which
another pattern takes more than the limit is wrong: `too_complex`.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import re2
import regex
from msgspec.structs import replace
from pydantic import Field

from memory import remember
from sandbox.workers import Exit, Outcome, Task, Workers, worker_function
from verifiers import commitment, long_texts
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier
from verifiers.commitment import Channel, Extraction
from verifiers.long_texts import BROKEN_LIMITS, INLINE_CHARS, ask_workers, sendable
from verifiers.pace import Pace
from verifiers.rules.pattern_size import is_small

_AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.WHOLE)
_MAX_PATTERN_CHARS = 4096
_MAX_MEMORY_BYTES = 2 << 20
"""The memory of one compiled pattern; RE2 caches up to 128 of them."""
_MAX_INLINE_STEPS = 400_000
"""Bytes of text times instructions of the pattern: a bound of RE2's work, about 5 ms for the worst patterns tried."""
_SLOW = Task(
    module="verifiers.rules.regex",
    function="match_in_worker",
    time_limit_s=1.0,
    warm=(["(a)(?=b)", "ab", False], ["a+", "aa", True]),
)
_LONG = Task(module="verifiers.rules.regex", function="judge_in_worker", time_limit_s=5.0)


class RegexParams(commitment.ExtractionParams):
    """The pattern, and the text that it must match."""

    reference: Annotated[str, Field(max_length=_MAX_PATTERN_CHARS)]
    """The pattern."""
    ignore_case: bool = False
    """Whether upper and lower case are the same."""
    extract: Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=7)] = (
        Channel.WHOLE
    )
    """The part of the response that the pattern must match: the whole text, an answer tag, box, last line or another
    channel, or the first of several that is there; auto: tag, box, `####`, answer line, or else the whole text."""


class Regex(Verifier[RegexParams]):
    name = "regex"
    version = "21"
    params = RegexParams
    summary = "The whole text, its last line or its extracted answer fully matches the reference pattern"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[RegexParams]]) -> Sequence[Verdict]:
        verdicts: dict[int, Verdict] = {}
        slow: dict[int, tuple[Extraction, list[Any]]] = {}
        long: list[int] = []
        broken: dict[int, Outcome] = {}
        pace = Pace()
        for index, item in enumerate(items):
            if len(item.response) > INLINE_CHARS:
                long.append(index)
                continue
            extraction = extract(item.response, item.params, item.explain)
            judged = judge(extraction, item.params, item.explain)
            if isinstance(judged, Verdict):
                verdicts[index] = judged
            else:
                slow[index] = extraction, judged
            if pace.is_over():
                await pace.rest()
        if slow:
            outcomes = await ask_workers(self._workers, _SLOW, [payload for _, payload in slow.values()])
            for (index, (extraction, _)), outcome in zip(slow.items(), outcomes, strict=True):
                if outcome.exit in BROKEN_LIMITS:
                    broken[index] = outcome
                else:
                    verdicts[index] = _verdict(outcome, extraction, items[index].explain)
        if long:
            payloads = [_payload(items[index], items[index].response) for index in long]
            for index, outcome in zip(long, await ask_workers(self._workers, _LONG, payloads), strict=True):
                if outcome.exit in BROKEN_LIMITS:
                    broken[index] = outcome
                else:
                    verdicts[index] = _long_verdict(outcome)
        if broken:
            probes = {index: [_payload(items[index], "")] for index in broken}
            verdicts |= await long_texts.blamed(self._workers, _LONG, broken, probes, _long_verdict)
        return [verdicts[index] for index in range(len(items))]


def create(resources: Resources) -> Regex:
    resources.workers.register(_SLOW)
    resources.workers.register(_LONG)
    return Regex(resources.workers)


def _payload(item: Item[RegexParams], response: str) -> list[Any]:
    return [sendable(response), item.params.model_dump_json(), item.explain]


def extract(response: str, params: RegexParams, explain: bool = False) -> Extraction:
    """The text to match. In a whole text every character counts, also invisible ones."""
    extraction = commitment.extract(response, params, _AUTO, sent=response if explain else None)
    if extraction.channel is not Channel.WHOLE or extraction.span is None:
        return extraction
    start, end = extraction.span
    if commitment.final_segment(response[:start], "none").reason == "empty":
        start = 0
    tail = _NO_CHAT_TOKEN.match(response, end)
    assert tail is not None
    return replace(extraction, answer=response[start : tail.end()], span=(start, tail.end()))


_NO_CHAT_TOKEN = re.compile(r"[^<\[]*+")


def judge(extraction: Extraction, params: RegexParams, explain: bool = False) -> Verdict | list[Any]:
    """The verdict, or the work for a worker, which also checks the pattern, even if there is no text."""
    text = (extraction.answer or "").encode(errors="replace")
    pattern = params.reference.encode(errors="replace")
    compiled = _compile(pattern, params.ignore_case) if is_small(params.reference) else None
    if compiled is None or len(text) * compiled.programsize > _MAX_INLINE_STEPS:
        return [pattern.decode(), text.decode(), params.ignore_case]
    return _matched(compiled.fullmatch(text) is not None, extraction, explain)


@worker_function
def match_in_worker(payload: Sequence[Any]) -> bool | str:
    """Whether the pattern matches, or the fault in the pattern. It may run for ever."""
    pattern, text, ignore_case = payload
    compiled = _compile(pattern.encode(), ignore_case)
    if compiled is not None:
        return compiled.fullmatch(text.encode()) is not None
    try:
        flags = regex.VERSION0 | regex.ASCII | (regex.IGNORECASE if ignore_case else 0)
        backtracking = regex.compile(pattern, flags)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        return str(error)
    return backtracking.fullmatch(text) is not None


@worker_function
def judge_in_worker(payload: Sequence[Any]) -> list[Any]:
    """Judge a long text from extraction to verdict, and return the fields. It may run for ever."""
    response, chosen, explain = payload
    params = RegexParams.model_validate_json(chosen)
    extraction = extract(response, params, explain)
    judged = judge(extraction, params, explain)
    if not isinstance(judged, Verdict):
        judged = _verdict(Outcome(Exit.OK, match_in_worker(judged)), extraction, explain)
    return long_texts.fields_of(judged)


@remember(128)
def _compile(pattern: bytes, ignore_case: bool) -> Any:
    """The compiled RE2 pattern; None if RE2 does not accept it."""
    options = re2.Options()
    options.max_mem = _MAX_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _long_verdict(outcome: Outcome) -> Verdict:
    if outcome.exit is Exit.OK:
        return long_texts.verdict_of(outcome.value)
    return _verdict(outcome, commitment.Extraction(None, None, None, "no_answer"), False)


def _verdict(outcome: Outcome, extraction: Extraction, explain: bool) -> Verdict:
    match outcome.exit:
        case Exit.OK if isinstance(outcome.value, bool):
            return _matched(outcome.value, extraction, explain)
        case Exit.OK:
            return Verdict.invalid("bad_pattern", f"the pattern does not compile: {outcome.value}")
        case Exit.TIME_LIMIT:
            message = f"the pattern takes more than {_LONG.time_limit_s} s on an empty text; avoid nested repetition"
            return Verdict.invalid("pattern_too_slow", message)
        case Exit.MEMORY_LIMIT:
            return Verdict.invalid("bad_pattern", "the pattern exhausts its matcher's memory")
        case _:
            return Verdict.failed(f"worker_{outcome.exit}", outcome.message.partition("\n")[0])


def _matched(matches: bool, extraction: Extraction, explain: bool) -> Verdict:
    detail = extraction.detail(explain)
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **detail)
    if matches:
        return Verdict.correct(extraction.answer, **detail)
    return Verdict.wrong(extracted=extraction.answer, **detail)


EXAMPLES = (
    Example(
        "<think>easy</think> 2024-05-17", {"reference": r"\d{4}-\d\d-\d\d"}, 1.0, "correct", "the text after thinking"
    ),
    Example(
        "on 2024-05-17", {"reference": r"\d{4}-\d\d-\d\d"}, 0.0, "wrong_answer", "all of it must match, not a part"
    ),
    Example("１２", {"reference": r"\d+"}, 0.0, "wrong_answer", "looks like digits; \\d is ASCII"),
    Example("AB12\n", {"reference": "[A-Z]+[0-9]+$"}, 0.0, "wrong_answer", "looks finished, but a line break follows"),
    Example("abcabc", {"reference": r"(\w+)\1"}, 1.0, "correct", "a back-reference is matched in a worker"),
    Example("aab", {"reference": "(?!a)a*b"}, 0.0, "wrong_answer", "so is look-ahead"),
    Example("abc", {"reference": "(abc"}, None, "bad_pattern", "the caller must mend it", Status.INVALID),
)
