"""References that seem wrong: independent responses agree on one answer, and the reference denies it.

Answers are the same if the verifier says so: a response is judged against the answer of another one as its reference. So 1/2 and
0.5 are one answer where the verifier takes them for one. A long text that comes twice counts once: it was judged twice.

On a hard prompt many make the same mistake. So two readings are weighed for each prompt: the reference is right and the policy often
wrong, or the reference is wrong and the answer on which most others agree is right. A policy is right with a rate of Beta(a, b), and
its wrong answers follow a Dirichlet distribution over those that can be had (beta-binomial and Dirichlet-multinomial counts). Both
are fitted to the whole set, as in the models of crowds that label (Dawid and Skene 1979). Of the references that are the most likely
to be wrong so many are suspected that the expected share of right ones among them stays small (Newton et al. 2004).
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import lgamma
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from service.prompts.collecting import Prompt, Response
from service.watch.samples import PAID
from service.watch.texts import MANY_WORDS

LEAST_AGREEING: Final = 6
_RIGHT_SHARE: Final = 0.93
"""The expected share of wrong references among those that are suspected."""
_LEAST_DOUBT: Final = 0.5
_ERRORS: Final = 0.03
"""The share of wrong references that is expected."""
_MOST_RIVALS: Final = 4
_SIZES: Final = (1, 1.5, 2, 3, 4, 6, 8)
_RATES: Final = tuple((part * size / 10, (10 - part) * size / 10) for part in range(1, 10) for size in _SIZES)
_SPREADS: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

Judge = Callable[[Prompt, Sequence[tuple[Response, str]]], Awaitable[Sequence[bool]]]
"""Says for each response whether the verifier of the prompt takes it for right, with another text as the reference."""
Numbers = npt.NDArray[np.float64]


class Votes(NamedTuple):
    """The responses to one prompt that gave an answer."""

    right: int
    """Those that agree with the reference."""
    others: Sequence[int]
    """Those that agree on another answer, by answer, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A reference that seems wrong."""

    prompt: Prompt
    answer: str
    """What the responses agree on."""
    agreeing: int
    responses: int


async def suspects(prompts: Sequence[Prompt], judge: Judge) -> list[Suspect]:
    """The references against which most speaks, the most doubtful first."""
    distinct = [_distinct(prompt.responses) for prompt in prompts]
    votes = [_votes(responses) for responses in distinct]
    labels = Counter(prompt.reference for prompt in prompts)
    kinds = len(prompts) ** 2 / max(1, sum(count * count for count in labels.values()))
    answers: dict[int, str] = {}
    merged = [vote._replace(others=[sum(vote.others)]) for vote in votes]
    for at, doubt in enumerate(doubts(votes, kinds, merged)):
        if doubt >= _LEAST_DOUBT and sum(votes[at].others) >= LEAST_AGREEING:
            answer, votes[at] = await _by_equality(prompts[at], distinct[at], judge)
            if votes[at].others[0] >= LEAST_AGREEING:
                answers[at] = answer
    ranked = [(doubt, at) for at, doubt in enumerate(doubts(votes, kinds)) if at in answers]
    suspected: list[Suspect] = []
    total = 0.0
    for doubt, at in sorted(ranked, reverse=True):
        total += doubt
        if doubt < _LEAST_DOUBT or total < _RIGHT_SHARE * (len(suspected) + 1):
            break
        suspected.append(Suspect(prompts[at], answers[at], votes[at].others[0], len(distinct[at])))
    return suspected


def _distinct(responses: Sequence[Response]) -> list[Response]:
    """The responses, a long text once: two short ones may be the same by chance."""
    long = {response.text: response for response in responses if len(response.text.split()) >= MANY_WORDS}
    return [*long.values(), *(response for response in responses if response.text not in long)]


def _votes(responses: Sequence[Response]) -> Votes:
    rivals = Counter(response.extracted for response in responses if response.score < PAID and response.extracted)
    return Votes(sum(response.score >= PAID for response in responses), [count for _, count in rivals.most_common()])


async def _by_equality(prompt: Prompt, responses: Sequence[Response], judge: Judge) -> tuple[str, Votes]:
    """The answer that most other responses agree on by the verifier's equality, and the votes by it."""
    rivals = [response for response in responses if response.score < PAID and response.extracted]
    common = [answer for answer, _ in Counter(rival.extracted for rival in rivals).most_common(_MOST_RIVALS)]
    agrees = iter(await judge(prompt, [(rival, answer) for answer in common for rival in rivals]))
    agreeing = {answer: [rival for rival in rivals if next(agrees)] for answer in common}
    answer = max(common, key=lambda answer: len(agreeing[answer]))
    remainder = [rival for rival in rivals if rival not in agreeing[answer]]
    return answer, Votes(_votes(responses).right, [len(agreeing[answer]), *_votes(remainder).others])


def doubts(fitted: Sequence[Votes], kinds: float, weighed: Sequence[Votes] | None = None) -> list[float]:
    """The chance that the reference is wrong and the most frequent other answer right, for each of `weighed` (default: the same).

    Args:
        fitted: The votes from which is learned how often the policy is right, and how its wrong answers scatter.
        kinds: How many answers there are, as far as the references tell (the inverse of Simpson's index).
        weighed: Votes on the same prompts that are counted otherwise.
    """
    counts = _Counts(fitted, max(1.0, kinds - 1))
    scattered = [(spread, counts.spreads(spread)) for spread in _SPREADS]
    fits = (
        (_likelihood(right + wrong), rate, spread)
        for rate in _RATES
        for right in [counts.rates(*rate)]
        for spread, wrong in scattered
    )
    _, rate, spread = max(fits)
    if weighed is not None:
        counts = _Counts(weighed, max(1.0, kinds - 1))
    right, wrong = counts.rates(*rate) + counts.spreads(spread)
    odds = np.log(_ERRORS / (1 - _ERRORS)) + wrong - right
    return [float(doubt) for doubt in 1 / (1 + np.exp(-np.clip(odds, -50, 50)))]


def _likelihood(readings: Numbers) -> float:
    right, wrong = readings
    return float(np.logaddexp(np.log(1 - _ERRORS) + right, np.log(_ERRORS) + wrong).sum())


class _Counts:
    """Votes as columns. Logarithms of likelihoods have two rows: the reference is right; the first of the others is."""

    def __init__(self, votes: Sequence[Votes], rivals_per_prompt: float) -> None:
        self._rivals_per_prompt = rivals_per_prompt
        width = max((len(vote.others) for vote in votes), default=0) or 1
        self._right = np.array([vote.right for vote in votes], np.int64)
        self._rivals = np.array([[*vote.others, *[0] * (width - len(vote.others))] for vote in votes], np.int64)
        self._rivals = self._rivals.reshape(len(votes), width)
        self._all = self._right + self._rivals.sum(axis=1)

    def _log_gamma(self, start: float, counts: npt.NDArray[np.int64]) -> Numbers:
        """The logarithm of the rising factorial of `start`, for each count."""
        size = int(self._all.max(initial=0)) + 1
        table = np.array([lgamma(start + count) - lgamma(start) for count in range(size)])
        return table[counts]

    def rates(self, a: float, b: float) -> Numbers:
        true = np.stack([self._right, self._rivals[:, 0]])
        return self._log_gamma(a, true) + self._log_gamma(b, self._all - true) - self._log_gamma(a + b, self._all)

    def spreads(self, spread: float) -> Numbers:
        share = spread / self._rivals_per_prompt
        logs = self._log_gamma(share, self._rivals).sum(axis=1)
        swapped = logs - self._log_gamma(share, self._rivals[:, 0]) + self._log_gamma(share, self._right)
        wrong = np.stack([self._all - self._right, self._all - self._rivals[:, 0]])
        label = (1 / self._rivals_per_prompt + (share + self._right) / (spread + wrong[1])) / 2
        """The chance of this wrong reference: half of them are random, and half are what a policy would answer."""
        return np.stack([logs, swapped + np.log(label)]) - self._log_gamma(spread, wrong)
