"""The base of all puzzles: reads the puzzle, finds the answer that a response commits to, and judges it.

    reference ──read──► puzzle           malformed, too large or impossible: `invalid`
    response ──commitment.extract──► text ──offers──► one answer ──check──► None (right) or a reason

*Commitment.* In an answer tag, a box or any other named channel all offers must be the same; two different offers are
`conflicting_answers`. In a plain text the last offer is the answer if it corrects the one before it, or concludes from
it. Offers side by side commit to none (commitment.py). Offers that only repeat the puzzle do not count.

*Limits.* References beyond `MAX_PARTS` values are `invalid`; answers beyond `MAX_ANSWER_CHARS` are wrong. Small items
are judged inline, the rest in a worker. Only a wrong answer leads to a check whether the puzzle can be solved at all.
The check takes a fixed number of steps, and costs right answers nothing.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from propcache.api import cached_property

from sandbox.workers import Workers
from verifiers import commitment
from verifiers.base import InvalidItem, Item, Verdict, Verifier
from verifiers.commitment import Channel, standing
from verifiers.commitment.extraction import Mentioned
from verifiers.commitment.mentions import moved, without_answer
from verifiers.long_texts import INLINE_CHARS
from verifiers.puzzles import structures
from verifiers.rules import bounded, documents

MAX_PARTS = 50_000
"""The number of values in a reference, at all depths. A text beyond 64 characters counts half of its characters."""
MAX_ANSWER_CHARS = 200_000
_QUICK_PARTS = 3_000
_QUICK_CHARS = 8_000
"""Characters after thinking that are read on the event loop: some 10 ms for the most hostile texts tried."""

AUTO = (Channel.ANSWER_TAG, Channel.BOXED, Channel.WHOLE)


class PuzzleParams(commitment.ExtractionParams):
    """The puzzle, as its data set has it."""

    reference: Any
    """The puzzle: an object, a list or a text, or JSON text of one."""

    @cached_property
    def parts(self) -> int:
        """The number of values in the reference, counted up to `MAX_PARTS`."""
        return count_parts(self.reference)


Q = TypeVar("Q", bound=PuzzleParams)
Z = TypeVar("Z")
A = TypeVar("A")


class PuzzleVerifier(Verifier[Q]):
    """A verifier of puzzles that judges by a module's own pure `judge`."""

    concurrency = None

    def __init__(self, workers: Workers, judge: Callable[[Item[Q]], Verdict], warm: Item[Q]) -> None:
        self._workers = workers
        self._judge = judge
        bounded.register(workers, judge, warm)

    async def score(self, items: Sequence[Item[Q]]) -> Sequence[Verdict]:
        for item in items:
            if item.params.parts > _QUICK_PARTS:
                await asyncio.sleep(0)  # counting has taken milliseconds
        return await bounded.judge_all(self._workers, self._judge, items, _is_quick)


def _is_quick(item: Item[Q]) -> bool:
    """Whether an item is judged inline. An item that is refused for its size is refused at once, without a worker."""
    size = item.params.parts
    if size > MAX_PARTS:
        return True
    if size > _QUICK_PARTS or len(item.response) > INLINE_CHARS:
        return False
    if len(item.response) <= _QUICK_CHARS:
        return True
    segment = commitment.final_segment(item.response, item.params.think)
    return segment.end - segment.start <= _QUICK_CHARS


class Offer(NamedTuple, Generic[A]):
    """An answer and its place in the searched text."""

    start: int
    end: int
    answer: A


class Rules(NamedTuple, Generic[Q, Z, A]):
    """The rules of one kind of puzzle."""

    read: Callable[[Q], Z]
    """The puzzle of an item; raises `InvalidItem`."""
    offers: Callable[[str, Z], Sequence[Offer[A]]]
    """The answers that a text holds, in order. It is called with whole texts, so it must be linear in their length."""
    check: Callable[[A, Z], str | None]
    """None if the answer solves the puzzle, else a reason."""
    impossible: Callable[[Z], str | None] = lambda _: None
    """The reason why the puzzle has no solution, if a fixed number of steps finds one."""
    is_whole: Callable[[A, Z], bool] = lambda *_: True
    """Whether an offer before the last one is an answer, right or wrong, and not only a part of one or a step to it."""
    auto: Sequence[Channel] = AUTO
    folds: bool = True
    """Whether offers are searched in the NFKC form of the text without invisible signs. NFKC turns ² into 2."""


def judge(item: Item[Q], rules: Rules[Q, Z, A]) -> Verdict:
    if item.params.parts > MAX_PARTS:
        return Verdict.invalid("puzzle_too_large", f"the reference holds more than {MAX_PARTS} values")
    try:
        puzzle = rules.read(item.params)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))
    verdict = _judge(item, rules, puzzle)
    if verdict.score != 1.0 and (why := rules.impossible(puzzle)) is not None:
        return Verdict.invalid("no_solution", why)
    return verdict


def _judge(item: Item[Q], rules: Rules[Q, Z, A], puzzle: Z) -> Verdict:
    finding = find(
        item,
        lambda text: rules.offers(text, puzzle),
        rules.auto,
        rules.folds,
        lambda answer: rules.is_whole(answer, puzzle),
    )
    if finding.answer is None:
        return Verdict.wrong(finding.reason, finding.text, **finding.detail)
    reason = rules.check(finding.answer, puzzle)
    if reason is None:
        return Verdict.correct(finding.text, **finding.detail)
    return Verdict.wrong(reason, finding.text, **finding.detail)


def _folded(text: str) -> str:
    """The folded text, also without the characters that turn a sign or a digit into an emoji: ➡️ is ➡, and 1️⃣ is 1."""
    folded = commitment.fold(text)
    return folded if folded.isascii() else folded.translate(_EMOJI_MARKS)


_EMOJI_MARKS = {0xFE0F: None, 0x20E3: None}


class Found(NamedTuple, Generic[A]):
    """The answer of a response, or the reason why there is none."""

    answer: A | None
    reason: str
    text: str | None
    detail: Mapping[str, Any]


def find(
    item: Item[Q],
    offers: Callable[[str], Sequence[Offer[A]]],
    auto: Sequence[Channel] = AUTO,
    folds: bool = True,
    is_whole: Callable[[A], bool] = lambda _: True,
) -> Found[A]:
    """Find the answer that a response commits to."""
    quoted = item.response if item.explain else None
    extraction = commitment.extract(item.response, item.params, auto, sent=quoted)
    extraction = commitment.corrected(item.response, extraction, "reject")
    detail = extraction.detail(item.explain)
    if extraction.answer is None:
        return Found(None, extraction.reason, None, detail)
    if len(extraction.answer) > MAX_ANSWER_CHARS:
        return Found(None, "too_long", extraction.answer, detail)
    text = _folded(extraction.answer) if folds else extraction.answer
    all_offers = offers(text)
    offered = standing.undenied(text, all_offers)
    finding = _chosen(item, extraction, text, offered, is_whole)
    if quoted is not None:
        chosen = offered[-1] if finding.answer is not None else None
        detail["mentions"] = [mention.as_json(quoted) for mention in _mentioned(extraction, text, all_offers, chosen)]
    return finding._replace(detail=detail)


def _mentioned(
    extraction: commitment.Extraction, text: str, offered: Sequence[Offer[A]], chosen: Offer[A] | None
) -> Sequence[Mentioned]:
    """What was read as a possible answer: in a whole text its offers, unless folding has moved them; else the marks."""
    if extraction.channel is not Channel.WHOLE:
        return extraction.mentions if chosen else without_answer(extraction.mentions)
    if extraction.span is None or len(text) != len(extraction.answer or ""):
        return ()
    return moved(standing.mentioned(text, offered, chosen), extraction.span[0])


def _chosen(
    item: Item[Q],
    extraction: commitment.Extraction,
    text: str,
    offered: Sequence[Offer[A]],
    is_whole: Callable[[A], bool],
) -> Found[A]:
    """The offer that stands among those of a text, or the reason why none does; without a detail."""
    detail: Mapping[str, Any] = {}
    if not offered:
        return Found(None, "no_answer", text, detail)
    last = offered[-1]
    rivals = [offer for offer in offered if offer.answer != last.answer]
    if extraction.channel is Channel.WHOLE and item.params.on_conflict == "last":
        rivals = [offer for offer in rivals if is_whole(offer.answer)]
        restates = bool(rivals) and any(offer.answer == last.answer for offer in offered[: offered.index(rivals[-1])])
        if rivals and not standing.replaces(text, last, rivals, restates):
            return Found(None, "conflicting_answers", text, detail)
    elif rivals:
        return Found(None, "conflicting_answers", text, detail)
    if (reason := standing.doubt(text, last)) is not None:
        return Found(None, reason, text, detail)
    return Found(last.answer, "found", text[last.start : last.end], detail)


# --- references


def count_parts(value: Any) -> int:
    """The number of values in a structure, counted level by level up to `MAX_PARTS`.

    Nesting beyond `documents.MAX_DEPTH` counts as more than `MAX_PARTS`.
    """
    total, level, depth = 1, [value], 0
    while level := [part for part in level if isinstance(part, _PARTED)]:
        depth += 1
        if depth > documents.MAX_DEPTH:
            return MAX_PARTS + 1
        following: list[Any] = []
        for part in level:
            if isinstance(part, str):
                total += len(part) // 2 if len(part) > _SHORT_TEXT else 0
                continue
            total += len(part)
            if total > MAX_PARTS:
                return total
            following.extend(part.values() if isinstance(part, dict) else part)
        level = following
    return total


_PARTED = (str, list, dict, tuple)
_SHORT_TEXT = 64


def malformed(message: str) -> InvalidItem:
    return InvalidItem("bad_puzzle", message)


def decoded(reference: Any) -> Any:
    """A reference with its JSON read, without the wrappers of data sets (`metadata`, `puzzle`, `ground_truth`)."""
    for _ in range(_MAX_WRAPPINGS):
        if isinstance(reference, str) and reference.lstrip()[:1] in ("{", "["):
            reference = _structure(reference)
        unwrapped = _wrapped(reference)
        if unwrapped is None:
            return reference
        reference = unwrapped
    return reference


_MAX_WRAPPINGS = 5
_WRAPPERS = ("metadata", "ground_truth", "puzzle", "extra_info", "reward_model")


def _wrapped(reference: Any) -> Any:
    if not isinstance(reference, Mapping):
        return None
    for name in _WRAPPERS:
        content = reference.get(name)
        if isinstance(content, Mapping) or (isinstance(content, str) and content.lstrip().startswith("{")):
            return content
    return None


def _structure(text: str) -> Any:
    try:
        return documents.read_json(text, unique_keys=False)
    except documents.Unreadable:
        pass
    try:
        return structures.read(text)
    except structures.Unreadable as error:
        raise malformed(f"the reference is neither JSON nor a plain text: {error}") from error


def field(reference: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these names that is present and not None."""
    for name in names:
        if (value := reference.get(name)) is not None:
            return value
    return None


def label(value: Any) -> str:
    """The label of a vertex, a colour or a name, as text. Texts and integers that look the same are the same."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise malformed(f"expected a name or an integer, found {str(value)[:40]!r}")
    if isinstance(value, int) and abs(value) > _MAX_LABEL:
        raise malformed("a number is too large for a name")
    name = " ".join(commitment.fold(str(value)).split())
    if not name:
        raise malformed("a name is empty")
    return name


_MAX_LABEL = 10**18
