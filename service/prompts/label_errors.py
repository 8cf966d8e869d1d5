"""References that seem wrong: independent responses agree on one answer, and the reference denies it.

Answers are the same if the verifier says so: a response is judged against the answer of another one as its reference. So 1/2 and
0.5 are one answer where the verifier takes them for one. Responses that are the same text count once.

On a hard prompt many may make the same mistake, but of many responses some are right; where the reference is wrong, hardly any can
be (the self-consistency of Wang et al., 2022, turned on the label). So the more responses there are, the surer this is.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.prompts.collecting import Prompt, Response
from service.watch.samples import PAID

LEAST_AGREEING: Final = 6
LEAST_SHARE: Final = 0.4
"""The share of all responses that must agree on the other answer."""
_FOR_EACH_RIGHT: Final = 20
"""So many must agree on the other answer for each that agrees with the reference."""
_MOST_RIVALS: Final = 4

Judge = Callable[[Prompt, Sequence[tuple[Response, str]]], Awaitable[Sequence[bool]]]
"""Says for each response whether the verifier of the prompt takes it for right, with another text as the reference."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A reference that seems wrong."""

    prompt: Prompt
    answer: str
    """What the responses agree on."""
    agreeing: int
    responses: int


async def suspect(prompt: Prompt, judge: Judge) -> Suspect | None:
    """What speaks against the reference of the prompt. None: nothing, or not enough."""
    responses = list({response.text: response for response in prompt.responses}.values())
    rivals = [response for response in responses if response.score < PAID and response.extracted]
    right = sum(response.score >= PAID for response in responses)
    if len(rivals) < max(LEAST_AGREEING, LEAST_SHARE * len(responses), _FOR_EACH_RIGHT * right):
        return None
    common = [answer for answer, _ in Counter(rival.extracted for rival in rivals).most_common(_MOST_RIVALS)]
    pairs = [(rival, answer) for answer in common for rival in rivals]
    agrees = await judge(prompt, pairs)
    counts: Counter[str] = Counter()
    for (_, answer), does in zip(pairs, agrees, strict=True):
        counts[answer] += does
    answer, agreeing = counts.most_common(1)[0]
    if agreeing < max(LEAST_AGREEING, LEAST_SHARE * len(responses), _FOR_EACH_RIGHT * right):
        return None
    return Suspect(prompt, answer, agreeing, len(responses))
