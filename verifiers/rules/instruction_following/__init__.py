"""Checks whether a response follows its instructions: IFEval, IFBench and both forms of open-instruct's constraints.

The `reference` holds the instructions in the form of the data sets: `{"instruction_id_list": [...], "kwargs": [{...},
...], "prompt": ...}` (open-instruct writes `instruction_id`), or open-instruct's older form `{"func_name": ..., ...}`.
Each may also be JSON text, a Python literal, or a list of such. Every instruction is judged by itself
(`detail.instructions`). The score is the share of the instructions that the response follows; with `aggregate` all, it
is 1 if the response follows all of them, else 0.

Profile *official* gives the verdicts of the published checkers (google-research instruction_following_eval,
allenai/IFBench, open-instruct's IFEvalG and if_functions). Their random choices are made deterministic. Profile *fixed*
judges what the instruction says; the modules of the families describe the differences. In profile fixed, a text with
comments (`<!-- … -->`) must follow an instruction both with and without them.

Mode *loose* accepts an instruction if one of eight edits of the text follows it: the whole text, or the text without
its first line, its last line or both, each with and without asterisks. Loose mode overlooks a violation in the first
line, so use *strict* for rewards.

An id that is unknown makes the item invalid, and so does an argument that is missing, unknown or of the wrong form.
Such an item never gets a random threshold or a pass.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from sandbox.workers import Task, Workers, worker_function
from verifiers import commitment, long_texts
from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import Think, fold
from verifiers.rules import comments
from verifiers.rules.instruction_following import patterns
from verifiers.rules.instruction_following.constraints import Check
from verifiers.rules.instruction_following.counting import Text
from verifiers.rules.instruction_following.reference import SHORT_CHARS, Instruction, read

_MAX_INLINE_CHARS = 4_000
"""The most characters of a response and its edits that are judged on the event loop; a worker judges longer ones.

Ordinary texts of this length take less than 1 ms. The most hostile text that was tried took 10 ms.
"""
_MAX_INLINE_WORK = 20_000
"""The most work that is done on the event loop; a worker judges what takes more.

The unit is characters of response and arguments, times instructions and edits.
"""
_MARK_WORK = 80
"""The cost of a mark that may end a sentence (`.?!`), in characters."""
_NEEDS_PROFILES = frozenset(
    {
        "language:response_language",
        "change_case:english_capital",
        "change_case:english_lowercase",
        "validate_response_language",
        "validate_uppercase",
        "validate_lowercase",
    }
)
"""Instructions with checks that identify the language. They need tables that only workers load."""
_TIME_LIMIT_S = 30.0
"""The time limit in seconds.

It is several times what the most costly instructions take for the longest response that is allowed by default.
"""


class InstructionFollowingParams(Params):
    """The instructions, and the rules by which they are judged."""

    reference: dict[str, Any] | list[Any] | str
    """`{instruction_id_list, kwargs, prompt}` or `{func_name, ...}`, as an object, as JSON text, or a list of such."""
    profile: Literal["fixed", "official"] = "fixed"
    """fixed: judge what the instruction says; official: give the verdict of the published checker."""
    mode: Literal["strict", "loose"] = "strict"
    """strict: the text as it is; loose: also without its first line, last line or asterisks, which overlooks a
    violation in the first line."""
    aggregate: Literal["fraction", "all"] = "fraction"
    """fraction: the share of instructions followed; all: 1 if all are followed, else 0."""
    think: Think | None = None
    """The way to find the text to judge.

    By default, profile fixed judges the text after the thinking, and profile official the whole text.
    """


class InstructionFollowing(Verifier[InstructionFollowingParams]):
    name = "instruction_following"
    version = "14"
    params = InstructionFollowingParams
    summary = "The response follows its IFEval, IFBench or open-instruct instructions; the share that it follows"
    chunk_items = 8
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[InstructionFollowingParams]]) -> Sequence[Verdict]:
        return await long_texts.inline_or_worker(self._workers, items, _judge_if_cheap, _IN_WORKER)


def create(resources: Resources) -> InstructionFollowing:
    resources.workers.register(_TASK)
    return InstructionFollowing(resources.workers)


def _judge_if_cheap(item: Item[InstructionFollowingParams]) -> Verdict | None:
    params = item.params
    if params.chars > SHORT_CHARS:
        return None
    try:
        instructions = read(params.reference)
        edits = (8 if params.mode == "loose" else 1) * (2 if comments.may_be_in(item.response) else 1)
        if (
            len(item.response) * edits > _MAX_INLINE_CHARS
            or _work(item.response, instructions) * edits > _MAX_INLINE_WORK
        ):
            return None
        if any(instruction.constraint.id in _NEEDS_PROFILES for instruction in instructions):
            return None
        if params.profile == "official" and any(map(_has_pattern, instructions)):
            return None
        return _verdict(item.response, instructions, params, item.explain)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))


def _work(response: str, instructions: Sequence[Instruction]) -> int:
    marks = sum(map(response.count, ".?!"))
    return len(response) * len(instructions) + _MARK_WORK * marks + sum(map(_argument_chars, instructions))


def _argument_chars(instruction: Instruction) -> int:
    return sum(
        len(value) if isinstance(value, str) else sum(map(len, value)) + 100 * len(value)
        for value in instruction.arguments.values()
        if isinstance(value, str | tuple)
    )


def _has_pattern(instruction: Instruction) -> bool:
    """Whether a keyword is a regular expression for the published checkers. Only workers compile those of callers."""
    for name, value in instruction.arguments.items():
        if name in _PATTERNS and any(map(patterns.is_compiled, (value,) if isinstance(value, str) else value)):
            return True
    return False


_PATTERNS = frozenset(
    {"keyword", "keyword1", "keyword2", "keywords", "forbidden_words", "section_spliter", "postscript_marker", "phrase"}
)
"""The arguments that the published checkers read as regular expressions."""


def _payload(item: Item[InstructionFollowingParams], response: str | None) -> list[Any]:
    return [
        long_texts.sendable(item.response if response is None else response),
        item.params.model_dump_json(),
        item.explain,
    ]


@worker_function
def judge_in_worker(payload: Sequence[Any]) -> list[Any]:
    """Run `judge` in a worker, on parameters rebuilt from their JSON."""
    response, params, explain = payload
    return long_texts.fields_of(judge(response, InstructionFollowingParams.model_validate_json(params), explain))


def judge(response: str, params: InstructionFollowingParams, explain: bool = False) -> Verdict:
    """Judge one response. An item with a bad reference is invalid for every response."""
    try:
        instructions = read(params.reference)
        if params.profile == "official":
            # A keyword that is not a pattern is found, whatever the response is.
            _follow(_ANY_TEXT, [*filter(_has_pattern, instructions)], params)
        return _verdict(response, instructions, params, explain)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))


_ANY_TEXT = "a"


def _verdict(
    response: str, instructions: Sequence[Instruction], params: InstructionFollowingParams, explain: bool
) -> Verdict:
    text, reason = _judged_text(response, params)
    blank = not text.strip() or (params.profile == "fixed" and not any(map(str.isalnum, fold(comments.shown(text)))))
    followed = [False] * len(instructions) if blank else _follow(text, instructions, params)
    score = sum(followed) / len(followed) if params.aggregate == "fraction" else float(all(followed))
    detail: dict[str, Any] = {
        "instructions": [
            {"id": instruction.constraint.id, "followed": is_followed}
            for instruction, is_followed in zip(instructions, followed, strict=True)
        ]
    }
    if explain:
        detail |= {"profile": params.profile, "mode": params.mode, "judged_chars": len(text)}
    if blank:
        return Verdict.wrong(reason or "empty", **detail)
    if all(followed):
        return Verdict.correct(**detail)
    return Verdict(Status.OK, score, "partly_followed" if any(followed) else "not_followed", None, detail)


def _judged_text(response: str, params: InstructionFollowingParams) -> tuple[str, str | None]:
    think = params.think or ("auto" if params.profile == "fixed" else "none")
    if think == "none":
        return response, None
    segment = commitment.final_segment(response, think)
    return response[segment.start : segment.end], segment.reason if segment.start == segment.end else None


def _follow(text: str, instructions: Sequence[Instruction], params: InstructionFollowingParams) -> list[bool]:
    texts = [text, *(_variants(text) if params.mode == "loose" else ())]
    followed: list[bool] = []
    readings = [_readings(variant, params.profile) for variant in texts]
    for instruction in instructions:
        check: Check = instruction.constraint.check(params.profile)
        chosen = slice(1) if comments.is_wanted(instruction.arguments) else slice(None)
        followed.append(any(all(check(view, **instruction.arguments) for view in views[chosen]) for views in readings))
    return followed


def _readings(text: str, profile: str) -> list[Text]:
    """The readings of a text: the whole text and, if it has comments, its visible part."""
    visible = comments.shown(text) if profile == "fixed" else text
    return [Text(text)] if visible == text else [Text(text), Text(visible)]


def _variants(text: str) -> list[str]:
    """The seven further edits of the published loose mode, without blank and repeated ones."""
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    variants = [variant for body in (text, *cut) for variant in (body, body.replace("*", ""))]
    return [variant for variant in dict.fromkeys(variants) if variant.strip() and variant != text]


def _example(*instructions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    ids, arguments = zip(*instructions, strict=True)
    return {"instruction_id_list": list(ids), "kwargs": list(arguments)}


_TASK = Task(
    module=__name__,
    function="judge_in_worker",
    time_limit_s=_TIME_LIMIT_S,
    warm=(
        [
            "HELLO THERE. HOW ARE YOU?",
            json.dumps({"reference": _example(("change_case:english_capital", {})), "profile": "official"}),
            False,
        ],
    ),
)
_IN_WORKER = long_texts.InWorker(_TASK, _payload)

EXAMPLES = (
    Example(
        "<think>No commas, three words.</think>Boats sail home.",
        {
            "reference": _example(
                ("punctuation:no_comma", {}),
                ("length_constraints:number_words", {"relation": "less than", "num_words": 4}),
            )
        },
        1.0,
        "correct",
        "the text after thinking follows both",
    ),
    Example(
        "Boats, sail home.",
        {"reference": _example(("punctuation:no_comma", {}), ("keywords:existence", {"keywords": ["home"]}))},
        0.5,
        "partly_followed",
        "follows one of two; with aggregate all the score is 0",
    ),
    Example(
        "My answer is yes. My answer is no. My answer is maybe.",
        {"reference": _example(("detectable_format:constrained_response", {}))},
        0.0,
        "not_followed",
        "looks right, but lists every option; profile official accepts it, as the published checker does",
    ),
    Example(
        "We concatenate strings.",
        {"reference": _example(("keywords:existence", {"keywords": ["cat"]})), "profile": "official"},
        1.0,
        "correct",
        "the published checker looks for substrings",
    ),
    Example(
        "Here you are:\nred boats, blue boats",
        {"reference": _example(("count:keywords_multiple", {f"keyword{n}": w for n, w in enumerate("abcde", 1)}))},
        0.0,
        "not_followed",
        "an instruction of IFBench",
    ),
    Example(
        "The lamp is on and the boat sails.",
        {"reference": '{"func_name": "verify_keywords", "keyword_list": ["lamp", "boat"], "N": null}'},
        1.0,
        "correct",
        "the older form, as JSON text",
    ),
    Example(
        "Any text.",
        {"reference": _example(("punctuation:no_commas", {}))},
        None,
        "unknown_instruction",
        "the author of the reference must correct the id",
        Status.INVALID,
    ),
    Example(
        "Any text.",
        {"reference": _example(("length_constraints:number_words", {"relation": "at least"}))},
        None,
        "bad_arguments",
        "the number is missing; the published checker would draw one at random",
        Status.INVALID,
    ),
)
