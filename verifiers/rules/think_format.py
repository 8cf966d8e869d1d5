r"""Judges whether the response thinks and answers in the wanted tags.

The preset `strict` (the default) wants `<think>…</think>` and then `<answer>…</answer>`; `deepseek` wants
`<think>…</think>` and then the text of the answer. Each tag must stand there exactly once, in this order, with only
space around the blocks. Each block must hold a letter, a digit or a sign such as ∞: a block that is empty, or holds
only zero-width characters or a comment, is not thinking. Zero-width characters around the blocks count as text, because
they are hidden text. Chat tokens at the very end do not count. The names of the tags can be changed. `think_prefilled`
says that the template of the prompt has already opened the first tag.

The other presets decide as the functions of trainers do, with their weaknesses, in linear time:

    open_r1        `^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$`: under MULTILINE, so lines may follow
    trl            `^<think>(?!.*<think>)(.*?)</think>.*$`: thinking may be empty, and nothing need follow
    roll           `^<think>.*?</think>.*?<answer>.*?</answer>$`: as its math worker; 1 is its 0, and 0 its -1
    video_r1       the whole of `<think>.*?</think>\s*<answer>.*?</answer>`: as ROLL's video worker
    geo3k          the whole of `<think>.*</think>.*\\boxed\{.*\}.*`: as verl
    open_instruct  `.*?</think>\s*<answer>.*?</answer>`: as its soft format reward
    nemo_rl        a quarter for `<think>…</think>` and three quarters for `<answer>…</answer>`, anywhere

All of them match the whole response, chat tokens included. `.` also matches line breaks, and `\s` is Python's.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import model_validator

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import final_segment
from verifiers.long_texts import judge_all
from verifiers.rules.tags import Tag, TagName, fault_of_sequence, hides

Preset = Literal["strict", "deepseek", "open_r1", "trl", "roll", "video_r1", "geo3k", "open_instruct", "nemo_rl"]


class ThinkFormatParams(Params):
    """The format that the response must have."""

    preset: Preset = "strict"
    """strict, deepseek: the shapes that the tags' names below belong to; others: the shape that the function of this
    trainer accepts."""
    think_tag: TagName = "think"
    """The name of the tag around the thinking."""
    answer_tag: TagName = "answer"
    """The name of the tag around the answer, for strict."""
    think_prefilled: bool = False
    """Whether the prompt ended with the opening think tag, so that the response begins inside it."""

    @model_validator(mode="after")
    def _check(self) -> "ThinkFormatParams":
        fields = type(self).model_fields
        own_tags = [
            name
            for name in ("answer_tag", "think_prefilled", "think_tag")
            if getattr(self, name) != fields[name].default
        ]
        if own_tags and self.preset not in ("strict", "deepseek"):
            raise ValueError(f"preset {self.preset!r} has its own tags; {own_tags} go with strict and deepseek only")
        if self.think_tag == self.answer_tag:
            raise ValueError("think_tag and answer_tag must differ")
        return self


class ThinkFormat(Verifier[ThinkFormatParams]):
    name = "think_format"
    version = "5"
    params = ThinkFormatParams
    summary = "The response thinks and answers in the tags it was asked to use"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[ThinkFormatParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> ThinkFormat:
    long_texts.register(resources.workers, judge, ThinkFormatParams, EXAMPLES[0])
    return ThinkFormat(resources.workers)


def judge(response: str, params: ThinkFormatParams, explain: bool = False) -> Verdict:
    original = _ORIGINALS.get(params.preset)
    if original is None:
        return _judge_strictly(response, params)
    score = original(response)
    return Verdict(Status.OK, score, "correct" if score == 1.0 else "partly" if score else "wrong_format")


def _judge_strictly(response: str, params: ThinkFormatParams) -> Verdict:
    segment = final_segment(response, "none")
    if segment.reason != "found":
        return Verdict.wrong(segment.reason)
    think, answer = Tag(params.think_tag), Tag(params.answer_tag)
    tail = params.preset == "deepseek"
    fault = fault_of_sequence(
        response[segment.start : segment.end],
        (think,) if tail else (think, answer),
        prefilled=params.think_prefilled,
        tail=tail,
    )
    if fault is None and (hides(response[: segment.start]) or (not tail and hides(response[segment.end :]))):
        fault = "text_outside"
    return Verdict.wrong(fault) if fault else Verdict.correct()


# --- the originals: each takes the earliest place for the next part, which leaves most room for the rest


def _open_r1(text: str) -> float:
    middle = "\n</think>\n<answer>\n"
    if not text.startswith("<think>\n"):
        return 0.0
    position = text.find(middle, len("<think>\n"))
    return 0.0 if position < 0 else _ends_line(text, "\n</answer>", position + len(middle))


def _trl(text: str) -> float:
    start = len("<think>")
    return float(text.startswith("<think>") and text.find("<think>", start) < 0 and text.find("</think>", start) >= 0)


def _roll(text: str) -> float:
    if not text.startswith("<think>"):
        return 0.0
    position = len("<think>")
    for tag in ("</think>", "<answer>"):
        start = text.find(tag, position)
        if start < 0:
            return 0.0
        position = start + len(tag)
    return _ends_line(text, "</answer>", position)


def _video_r1(text: str) -> float:
    if not text.startswith("<think>") or not text.endswith("</answer>"):
        return 0.0
    turn = _TURN.search(text, len("<think>"))
    return float(turn is not None and turn.end() <= len(text) - len("</answer>"))


def _geo3k(text: str) -> float:
    if not text.startswith("<think>"):
        return 0.0
    position = len("<think>")
    for part in ("</think>", "\\boxed{", "}"):
        start = text.find(part, position)
        if start < 0:
            return 0.0
        position = start + len(part)
    return 1.0


def _open_instruct(text: str) -> float:
    turn = _TURN.search(text)
    return float(turn is not None and text.find("</answer>", turn.end()) >= 0)


def _nemo_rl(text: str) -> float:
    return 0.25 * _has_pair(text, Tag("think")) + 0.75 * _has_pair(text, Tag("answer"))


def _has_pair(text: str, tag: Tag) -> bool:
    start = text.find(tag.opening)
    return start >= 0 and text.find(tag.closing, start + len(tag.opening)) >= 0


def _ends_line(text: str, tag: str, start: int) -> float:
    """Whether the tag ends a line, in the sense of `$` under MULTILINE."""
    if text.find(tag + "\n", start) >= 0:
        return 1.0
    return float(text.endswith(tag) and len(text) - len(tag) >= start)


_TURN = re.compile(r"</think>\s*+<answer>")
_ORIGINALS: Mapping[str, Callable[[str], float]] = {
    "open_r1": _open_r1,
    "trl": _trl,
    "roll": _roll,
    "video_r1": _video_r1,
    "geo3k": _geo3k,
    "open_instruct": _open_instruct,
    "nemo_rl": _nemo_rl,
}


EXAMPLES = (
    Example("<think>\n2 + 2\n</think>\n<answer>\n4\n</answer>", {}, 1.0, "correct", "both blocks, each once"),
    Example("2 + 2</think><answer>4</answer>", {"think_prefilled": True}, 1.0, "correct", "the prompt opened <think>"),
    Example("<think>2 + 2</think>It is 4.", {"preset": "deepseek"}, 1.0, "correct", "thinking, then the answer"),
    Example("<answer>4</answer>", {}, 0.0, "missing_tag", "no thinking"),
    Example("<think>\u200b</think><answer>4</answer>", {}, 0.0, "empty_block", "looks right, but nothing is thought"),
    Example("<think>a</think><think>b</think><answer>4</answer>", {}, 0.0, "repeated_tag", "thinks twice"),
    Example("<think>a</think><answer>4</answer> bye", {}, 0.0, "text_outside", "text behind the answer"),
    Example("<think></think>", {"preset": "trl"}, 1.0, "correct", "TRL asks for the tags only"),
    Example("<think>a</think><answer>4</answer>", {"preset": "open_r1"}, 0.0, "wrong_format", "Open R1 wants lines"),
)
