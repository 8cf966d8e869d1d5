"""Punishes repetition: the score is 1 without repetition, and falls towards 0 with more of it.

*ngrams* (the default): distinct n-grams of words over all n-grams, the measure of "Demystifying Long Chain-of-Thought
Reasoning" (arXiv 2502.03373, appendix C.2) that Open R1, TRL and ROLL share: their penalty is `(score - 1) * max`. Too
short for one n-gram: nothing repeats. Words are lower case; what they are is the `preset`'s to say:

    mixed              what spaces part, but each Han character and kana alone; a word without spaces of more than 40
                       characters falls apart into runs of letters and single signs, runs that are still longer
                       into characters. Spaced text gets what the originals give it
    open_r1, roll      `text.lower().split()`: exact, and so blind for Chinese and for one endless word
    trl                the token ids, given in `completion_ids`
    characters         each character that is not space

Invisible characters do not hide repetition: a text counts as it is seen, except in the presets of others.

Deliberate difference: Open R1 cuts Chinese into words with jieba; use mixed.

*loops*: the share of characters outside loops, where a loop is a stretch of at most 1,000 characters that comes at
least four times in a row and is at least 60 characters long in all, with any words or none; its first round is not
counted. Space counts as one space, and capitals do not count. Loops shorter or rarer are style.

`tolerance` is the share of repetition that costs nothing (prose has some), `worst` the one that costs all. Judged is
the whole response, thinking included, so that no tag hides a loop.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.long_texts import INLINE_CHARS, is_short, judge_turns
from verifiers.rules import ngrams, words
from verifiers.rules.loops import evened, looped
from verifiers.sightings import beyond_ascii


class RepetitionParams(Params):
    """The measure of repetition."""

    measure: Literal["ngrams", "loops"] = "ngrams"
    """ngrams: distinct n-grams over all n-grams; loops: the share of characters outside loops."""
    preset: Literal["mixed", "open_r1", "roll", "trl", "characters"] = "mixed"
    """For ngrams: what a word is. mixed: between spaces, and each Han character and kana; open_r1, roll: between
    spaces; trl: a token; characters: a character that is not space."""
    n: Annotated[int, Field(ge=1, le=64)] = 3
    """For ngrams: the number of words in one."""
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The score is 1 up to this share of repetition, and falls in a line from there."""
    worst: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Where that line reaches 0."""
    completion_ids: Annotated[tuple[int, ...], Field(max_length=1_000_000)] | None = None
    """For preset trl: the ids of the response's tokens."""

    @model_validator(mode="after")
    def _check(self) -> "RepetitionParams":
        if self.preset == "trl" and self.completion_ids is None:
            raise ValueError("preset trl needs completion_ids: the response's tokens")
        if self.preset != "trl" and self.completion_ids is not None:
            raise ValueError("completion_ids go with preset trl")
        if self.tolerance >= self.worst:
            raise ValueError(f"tolerance {self.tolerance} must be below worst {self.worst}")
        return self


class Repetition(Verifier[RepetitionParams]):
    name = "repetition"
    version = "2"
    params = RepetitionParams
    summary = "1 when nothing is repeated: the share of distinct n-grams, or of characters outside loops"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[RepetitionParams]]) -> Sequence[Verdict]:
        return await judge_turns(self._workers, judge, judge_together, items, _is_quick)


def _is_quick(item: Item[RepetitionParams]) -> bool:
    """Whether an item is judged inline. Building n-grams takes up to 40 ns for each place in each of them."""
    size = len(item.params.completion_ids or item.response)
    return size <= INLINE_CHARS and size * item.params.n <= _MAX_INLINE_PLACES and is_short(item)


_MAX_INLINE_PLACES = 200_000


def create(resources: Resources) -> Repetition:
    long_texts.register(resources.workers, judge, RepetitionParams, EXAMPLES[0])
    return Repetition(resources.workers)


def judge(response: str, params: RepetitionParams, explain: bool = False) -> Verdict:
    return _verdict(params, *_counted([response], params)[0])


def judge_together(items: Sequence[Item[RepetitionParams]]) -> list[Verdict]:
    """The verdicts of `judge`, in order. Items with the same measure are counted in one call."""
    verdicts: dict[int, Verdict] = {}
    alike: defaultdict[tuple[str, str, int], list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        if item.params.completion_ids is not None:
            verdicts[position] = judge(item.response, item.params)
        else:
            alike[item.params.measure, item.params.preset, item.params.n].append(position)
    for positions in alike.values():
        counts = _counted([items[position].response for position in positions], items[positions[0]].params)
        for position, count in zip(positions, counts, strict=True):
            verdicts[position] = _verdict(items[position].params, *count)
    return [verdicts[position] for position in range(len(items))]


def _verdict(params: RepetitionParams, new: int, total: int) -> Verdict:
    if new == total:
        return Verdict(Status.OK, 1.0, "no_repetition", None, {"repeated": 0.0})
    repeated = 1 - new / total
    score = new / total
    if params.tolerance or params.worst < 1:
        excess = (repeated - params.tolerance) / (params.worst - params.tolerance)
        score = 1.0 - min(max(excess, 0.0), 1.0)
    return Verdict(Status.OK, score, "no_repetition" if score == 1.0 else "repetition", None, {"repeated": repeated})


def _counted(responses: Sequence[str], params: RepetitionParams) -> Sequence[ngrams.Count]:
    """The distinct and the total amount in each response."""
    if params.measure == "ngrams" and params.preset not in ("mixed", "characters"):
        return _counted_as_written(responses, params)
    return _counted_as_written([words.without_hidden(response) or response for response in responses], params)


def _counted_as_written(responses: Sequence[str], params: RepetitionParams) -> Sequence[ngrams.Count]:
    if params.measure == "loops":
        texts = evened(responses)
        return [(len(text) - repeated, len(text)) for text, repeated in zip(texts, looped(texts), strict=True)]
    if params.completion_ids is not None:
        return [ngrams.distinct(params.completion_ids, params.n)]
    if params.preset == "characters":
        return [ngrams.distinct("".join(response.lower().split()), params.n) for response in responses]
    return _words_counted(responses, params.n, params.preset == "mixed")


def _words_counted(responses: Sequence[str], n: int, is_mixed: bool) -> list[ngrams.Count]:
    """The counts of the word n-grams of each response."""
    plain = [_plain(response, is_mixed) for response in responses]
    counts = ngrams.distinct_of_words(plain, n, _MAX_WORD_CHARS if is_mixed else ngrams.MAX_WORD_BYTES)
    uncounted = [position for position, count in enumerate(counts) if count is None]
    if uncounted and is_mixed:
        fallen_apart = [ngrams.with_long_words(plain[position], _MAX_WORD_CHARS, _in_pieces) for position in uncounted]
        for position, count in zip(uncounted, ngrams.distinct_of_words(fallen_apart, n), strict=True):
            counts[position] = count
    return [
        count or ngrams.distinct(response.lower().split(), n) for count, response in zip(counts, responses, strict=True)
    ]


def _plain(response: str, is_mixed: bool) -> bytes:
    """The response in lower case, in UTF-8, with blanks between words. Long words are still whole."""
    encoded = response.encode("utf-8", "surrogatepass")
    beyond = beyond_ascii(response, encoded)
    if is_mixed and words.has_unspaced(beyond):
        response = words.spaced(response)
        encoded = response.encode("utf-8", "surrogatepass")
    return words.lowered(response, encoded, beyond)


def _in_pieces(long: bytes) -> bytes:
    """The pieces of a long word. It is long in bytes, and may have fewer characters."""
    word = long.decode("utf-8", "surrogatepass")
    return long if len(word) <= _MAX_WORD_CHARS else " ".join(_pieces(word)).encode("utf-8", "surrogatepass")


def _pieces(word: str) -> Iterator[str]:
    for piece in _PIECE.findall(word):
        if len(piece) <= _MAX_WORD_CHARS:
            yield piece
        else:
            yield from piece


_MAX_WORD_CHARS = 40
_PIECE = re.compile(r"[^\W_]+|[\W_]")


EXAMPLES = (
    Example("The cat sat on the mat.", {}, 1.0, "no_repetition", "no three words come twice"),
    Example("a b a b a b a b", {}, 1 / 3, "repetition", "two different of six"),
    Example("no " * 50 + "no", {}, 1 / 49, "repetition", "one of 49"),
    Example("哈" * 102, {}, 0.01, "repetition", "one word for `split()`, a hundred 3-grams in truth"),
    Example(
        "哈" * 102, {"preset": "roll"}, 1.0, "no_repetition", "looks clean to the original, which splits at spaces"
    ),
    Example("", {}, 1.0, "no_repetition", "nothing said is nothing repeated; other verifiers ask for an answer"),
    Example("...", {"preset": "trl", "completion_ids": [5, 5, 5, 5, 5, 5]}, 0.25, "repetition", "TRL counts tokens"),
    Example("wait, " * 100, {"measure": "loops"}, 6 / 599, "repetition", "all but the first round is a loop"),
    Example("no " * 50, {"tolerance": 0.1, "worst": 0.5}, 0.0, "repetition", "more than the worst that is told apart"),
)
