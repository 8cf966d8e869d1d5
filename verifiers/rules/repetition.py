"""The response does not repeat itself. 1: not at all; the more it does, the nearer to 0.

*ngrams* (the default): distinct n-grams of words over all n-grams, the measure of "Demystifying Long Chain-of-Thought
Reasoning" (arXiv 2502.03373, appendix C.2) that Open R1, TRL and ROLL share: their penalty is `(score - 1) * max`. Too
short for one n-gram: nothing repeats. Words are lower case; what they are is the `preset`'s to say:

    mixed              what spaces part, but each Han character and kana alone; a word without spaces of more than 40
                       characters falls apart into runs of letters and single signs, runs that are still longer
                       into characters. Spaced text gets what the originals give it
    open_r1, roll      `text.lower().split()`: exact, and so blind for Chinese and for one endless word
    trl                the token ids, given in `completion_ids`
    characters         each character that is not space

Deliberate difference: Open R1 cuts Chinese into words with jieba; use mixed.

*loops*: the share of characters outside loops, where a loop is a stretch of at most 1,000 characters that comes at
least four times in a row and is at least 60 characters long in all, with any words or none; its first round is not
counted. Space counts as one space, and capitals do not count. Loops shorter or rarer are style.

`tolerance` is the share of repetition that costs nothing (prose has some), `worst` the one that costs all. Judged is the whole response, thinking
included, so that no tag hides a loop.
"""

import re
from collections.abc import Hashable, Sequence
from typing import Annotated, Literal

import re2
from pydantic import Field, model_validator

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.long_texts import INLINE_CHARS, is_short, judge_all
from verifiers.rules import words


class RepetitionParams(Params):
    """What counts as repetition."""

    measure: Literal["ngrams", "loops"] = "ngrams"
    preset: Literal["mixed", "open_r1", "roll", "trl", "characters"] = "mixed"
    n: Annotated[int, Field(ge=1, le=64)] = 3
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The score is 1 up to this share of repetition, and falls in a line from there."""
    worst: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Where that line reaches 0."""
    completion_ids: Annotated[tuple[int, ...], Field(max_length=1_000_000)] | None = None

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
    version = "1"
    params = RepetitionParams
    summary = "1 when nothing is repeated: the share of distinct n-grams, or of characters outside loops"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[RepetitionParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items, _is_quick)


def _is_quick(item: Item[RepetitionParams]) -> bool:
    """Building n-grams takes up to 40 ns for each place in each of them."""
    size = len(item.params.completion_ids or item.response)
    return size <= INLINE_CHARS and size * item.params.n <= _MAX_INLINE_PLACES and is_short(item)


_MAX_INLINE_PLACES = 200_000


def create(resources: Resources) -> Repetition:
    resources.workers.register(long_texts.JUDGE)
    return Repetition(resources.workers)


def judge(response: str, params: RepetitionParams, explain: bool = False) -> Verdict:
    if params.measure == "loops":
        text = " ".join(response.lower().split())
        new, total = len(text) - looped(text), len(text)
    else:
        new, total = _distinct(_tokens(response, params), params.n)
    if new == total:
        return Verdict(Status.OK, 1.0, "no_repetition", None, {"repeated": 0.0})
    repeated = 1 - new / total
    score = new / total
    if params.tolerance or params.worst < 1:
        excess = (repeated - params.tolerance) / (params.worst - params.tolerance)
        score = 1.0 - min(max(excess, 0.0), 1.0)
    return Verdict(Status.OK, score, "no_repetition" if score == 1.0 else "repetition", None, {"repeated": repeated})


def _tokens(response: str, params: RepetitionParams) -> Sequence[Hashable]:
    if params.completion_ids is not None:
        return params.completion_ids
    text = response.lower()
    match params.preset:
        case "mixed":
            return _mixed(text)
        case "characters":
            return "".join(text.split())
        case _:
            return text.split()


def _mixed(text: str) -> Sequence[str]:
    found = words.split(text)
    if not _LONG_WORD.search(text.encode("utf-8", "replace")):
        return found
    tokens: list[str] = []
    for word in found:
        if len(word) <= _MAX_WORD_CHARS:
            tokens.append(word)
            continue
        for piece in _PIECE.findall(word):
            if len(piece) <= _MAX_WORD_CHARS:
                tokens.append(piece)
            else:
                tokens.extend(piece)
    return tokens


def _distinct(tokens: Sequence[Hashable], n: int) -> tuple[int, int]:
    """How many different n-grams there are, and how many in all."""
    total = len(tokens) - n + 1
    if total < 1:
        return 0, 0
    return len(set(zip(*(tokens[start:] for start in range(n)), strict=False))), total


def looped(text: str) -> int:
    """How many characters of a text are further rounds of a loop.

    Looks from one place in `_STRIDE`: where the next `_PROBE` characters come again within the longest period, it
    measures how far the text goes on equalling itself at that distance. Work is bounded by the longest period for
    each place looked from, and what was found to be a loop is not looked at again.
    """
    position, counted, floor = 0, 0, 0
    last = len(text) - _PROBE
    while position <= last:
        again = text.find(text[position : position + _PROBE], position + 1, position + _PROBE + _MAX_PERIOD)
        period = again - position
        start = _start(text, position, period, floor) if again >= 0 else position
        end = again + _common(text, position, again) if again >= 0 else position
        if end - start >= max(_MIN_ROUNDS * period, _MIN_LOOP_CHARS):
            counted += end - start - period
            position = floor = end
        else:
            position += _STRIDE
    return counted


def _start(text: str, position: int, period: int, floor: int) -> int:
    """Where the stretch that equals itself at this distance begins: less than a stride before, or it had been found."""
    floor = max(floor, position - _STRIDE)
    while position > floor and text[position - 1] == text[position - 1 + period]:
        position -= 1
    return position


def _common(text: str, left: int, right: int) -> int:
    """How many characters from `right` on equal those from `left` on."""
    end = len(text) - right
    count, step = 0, _PROBE
    while text[left + count : left + count + step] == text[right + count : right + count + step] and count < end:
        count, step = min(count + step, end), step * 2
    while step := step // 2:
        if text[left + count : left + count + step] == text[right + count : right + count + step]:
            count = min(count + step, end)
    return count


_MAX_WORD_CHARS = 40
# Twice as fast as asking each word. Of space it knows ASCII's only, so that now and then it finds no longer word.
_LONG_WORD = re2.compile(rb"[^\t-\r ]{%d}" % (_MAX_WORD_CHARS + 1))
_PIECE = re.compile(r"[^\W_]+|[\W_]")
_PROBE = 16  # a power of two, so that halving it reaches every length
_STRIDE = 40
_MAX_PERIOD = 1_000
_MIN_ROUNDS = 4
_MIN_LOOP_CHARS = 60


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
