r"""Scores the share of the given tags that occur exactly once.

Without parameters this equals Open R1's `tag_count_reward`: a quarter each for `<think>\n`, `\n</think>\n`,
`\n<answer>\n` and `\n</answer>`. Neither order nor content counts. With `in_order`, the tags that count must stand in
the given order; otherwise the score is 0. `think_format` judges the whole shape.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.long_texts import judge_all

OPEN_R1 = ("<think>\n", "\n</think>\n", "\n<answer>\n", "\n</answer>")


class TagCountParams(Params):
    """The tags to count."""

    tags: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(min_length=1, max_length=32)
    ] = OPEN_R1
    """The exact texts to count. Line breaks in them count."""
    in_order: bool = False
    """Whether tags out of order make the score 0."""


class TagCount(Verifier[TagCountParams]):
    name = "tag_count"
    version = "1"
    params = TagCountParams
    summary = "The share of the given tags that occur exactly once"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[TagCountParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> TagCount:
    long_texts.register(resources.workers, judge, TagCountParams, EXAMPLES[0])
    return TagCount(resources.workers)


def judge(response: str, params: TagCountParams, explain: bool = False) -> Verdict:
    counts = [response.count(tag) for tag in params.tags]
    once = counts.count(1)
    detail: dict[str, Any] = {"counts": counts} if explain else {}
    if params.in_order:
        positions = [response.find(tag) for tag, count in zip(params.tags, counts, strict=True) if count == 1]
        if positions != sorted(positions):
            return Verdict.wrong("wrong_order", **detail)
    if once == len(counts):
        return Verdict.correct(**detail)
    score = once / len(counts)
    return Verdict(Status.OK, score, "partly" if score else "wrong_tags", None, detail)


_GOOD = "<think>\n2 + 2\n</think>\n<answer>\n4\n</answer>"

EXAMPLES = (
    Example(_GOOD, {}, 1.0, "correct", "four tags on lines of their own"),
    Example("The answer is 4.", {}, 0.0, "wrong_tags", "no tags"),
    Example("<think>\n2 + 2\n</think>\n4", {}, 0.5, "partly", "two of four"),
    Example(_GOOD * 2, {}, 0.0, "wrong_tags", "looks twice as good, but each tag occurs twice"),
    Example(
        "\n</answer>\n<answer>\n\n</think>\n<think>\n",
        {"in_order": True},
        0.0,
        "wrong_order",
        "all tags occur, but in reverse order",
    ),
)
