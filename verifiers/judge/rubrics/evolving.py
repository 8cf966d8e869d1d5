"""Which criteria of a rubric that changes during training are kept, by their spread over the responses to one prompt.

    screened   proposals that may be tried: none that repeats a criterion, copies a response, or speaks to the judge
    settled    of the tried and the older ones those that tell responses apart, the most telling first, up to a bound

As in open-instruct (open_instruct/rubrics, commit e6c3044a): a criterion whose scores have the standard deviation 0 is
retired, and beyond the bound those with the least; one without scores is kept. All functions are pure.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, Literal

from verifiers.judge import guards

Why = Literal["no_spread", "duplicate", "over_bound", "copied", "addresses_judge"]
"""Why a criterion is dropped."""
_ALIKE: Final = 0.7
"""The share of three-letter pieces that two wordings of one criterion have in common."""
_AKIN: Final = 0.3
"""The same share, if the scores of both say the same, too."""
_COPY: Final = 28
"""So many letters in a row that stand in a response, and in no text of the task, are copied: five words of English."""
_SHOWN_CHARS: Final = 50_000
"""At each end of a response; a judge is shown 32,000 in all, unless its profile says otherwise."""
_IDEOGRAPHS: Final = 0x2E80
"""From here on a character says as much as three letters do."""
_EQUAL: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Trial:
    """A criterion with its scores: `scores[i]`, from 0 to 1, is that of `responses[i]`; None: not judged."""

    entry: Any
    """The criterion as its rubric has it."""
    text: str
    title: str
    weight: float
    scores: Sequence[float | None] = ()
    is_new: bool = False

    @property
    def judged(self) -> list[float]:
        return [score for score in self.scores if score is not None]

    @property
    def spread(self) -> float | None:
        """The standard deviation of the scores; None with fewer than two."""
        return statistics.pstdev(self.judged) if len(self.judged) > 1 else None

    @property
    def mean(self) -> float | None:
        """The share of responses that meet it."""
        return statistics.fmean(self.judged) if self.judged else None


def screened(
    proposals: Iterable[Trial], others: Sequence[Trial], prompt: str, responses: Sequence[str]
) -> tuple[list[Trial], list[tuple[Trial, Why]]]:
    """The proposals that may be tried, and the others with the reason. `others` are all criteria that there are, or were."""
    task = _letters("\n".join((prompt, *(other.text for other in others))))
    proposals = list(proposals)
    texts = [_letters(text) for proposal in proposals for text in (proposal.title, proposal.text)]
    copied = _copied(texts, task, [_letters(_shown(response)) for response in responses])
    accepted: list[Trial] = []
    refused: list[tuple[Trial, Why]] = []
    for proposal in proposals:
        words = f"{proposal.title}\n{proposal.text}"
        if guards.addresses_judge(words):
            refused.append((proposal, "addresses_judge"))
        elif any(not copied.isdisjoint(_runs(_letters(text))) for text in (proposal.title, proposal.text)):
            refused.append((proposal, "copied"))
        elif any(_is_alike(proposal, other) for other in (*others, *accepted)):
            refused.append((proposal, "duplicate"))
        else:
            accepted.append(proposal)
    return accepted, refused


def settled(trials: Sequence[Trial], min_spread: float, max_active: int) -> tuple[list[Trial], list[tuple[Trial, Why]]]:
    """The criteria that are kept, in order, and the others with the reason. Of equals the earlier one is kept."""
    telling: list[Trial] = []
    dropped: list[tuple[Trial, Why]] = []
    for trial in trials:
        if trial.spread is not None and trial.spread <= min_spread + _EQUAL:
            dropped.append((trial, "no_spread"))
        elif any(_says_the_same(trial, other) for other in telling):
            dropped.append((trial, "duplicate"))
        else:
            telling.append(trial)
    ranked = sorted(telling, key=lambda trial: float("inf") if trial.spread is None else trial.spread, reverse=True)
    kept = set(map(id, ranked[:max_active]))
    dropped += [(trial, "over_bound") for trial in telling if id(trial) not in kept]
    return [trial for trial in telling if id(trial) in kept], dropped


def _is_alike(first: Trial, second: Trial) -> bool:
    titles = _letters(first.title), _letters(second.title)
    return (titles[0] == titles[1] and bool(titles[0])) or _likeness(first, second) >= _ALIKE


def _says_the_same(first: Trial, second: Trial) -> bool:
    """Whether two criteria tell the same responses apart in like words; a merit and the fault of lacking it do, too."""
    pairs = [(a, b) for a, b in zip(first.scores, second.scores, strict=True) if a is not None and b is not None]
    is_merit = first.weight * second.weight > 0
    same = all(abs(a - (b if is_merit else 1.0 - b)) <= _EQUAL for a, b in pairs)
    return len(pairs) > 1 and same and _likeness(first, second) >= _AKIN


def _likeness(first: Trial, second: Trial) -> float:
    """The share of three-letter pieces that two texts have in common (Jaccard)."""
    one, two = (_pieces(_letters(trial.text)) for trial in (first, second))
    return len(one & two) / len(one | two)


def _pieces(letters: str) -> set[str]:
    return {letters[at : at + 3] for at in range(max(1, len(letters) - 2))}


def _shown(response: str) -> str:
    return response if len(response) <= 2 * _SHOWN_CHARS else f"{response[:_SHOWN_CHARS]}\n{response[-_SHOWN_CHARS:]}"


def _letters(text: str) -> str:
    """The letters and digits of a text, without case. Characters of scripts that write words with one or two count three
    times.
    """
    kept = (char for char in text.casefold() if char.isalnum())
    return "".join(char if ord(char) < _IDEOGRAPHS else char * 3 for char in kept)


def _copied(texts: Iterable[str], task: str, replies: Sequence[str]) -> Set[str]:
    """The runs of some texts that stand in a reply, and not in the task. Linear in the replies, however alike their parts are."""
    runs = {run for text in texts for run in _runs(text)}
    if not runs:
        return runs
    runs.difference_update(_runs(task))
    return {run for reply in replies for run in _runs(reply) if run in runs}


def _runs(letters: str) -> Iterator[str]:
    return (letters[at : at + _COPY] for at in range(len(letters) - _COPY + 1))
