"""Checks instructions: IFEval, IFBench, open-instruct's training constraints and their older form.

`reference` is what the data sets hold: `{"instruction_id_list": [...], "kwargs": [{...}, ...], "prompt": ...}`
(open-instruct writes `instruction_id`), or `{"func_name": ..., ...}`, each also as JSON text or a Python literal, or a
list of such. Every instruction is judged by itself (`detail.instructions`); the score is the share that is followed, or
1 for all of them.

Profile *official* gives the published checkers' verdicts (google-research instruction_following_eval, allenai/IFBench,
open-instruct's IFEvalG and if_functions), with what is random there made deterministic. Profile *fixed* judges what the
instruction says; the families' modules say how they differ. What comments hide (`<!-- … -->`) helps nobody there: with
and without them the text has to follow. Mode *loose* accepts an instruction if one of eight edits of the text follows
it: all of it, or without its first, last or both lines, each with and without asterisks. It lets a violation stand in a
first line, so *strict* is the one for rewards.

An unknown id, or an argument that is missing, unknown or of the wrong form, makes the item invalid, and never leads to
a random threshold or a pass.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal

from sandbox.workers import Exit, Task, Workers, worker_function
from verifiers import commitment, long_texts
from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import Think, fold
from verifiers.rules import comments
from verifiers.rules.instruction_following.constraints import Check
from verifiers.rules.instruction_following.counting import Text
from verifiers.rules.instruction_following.reference import SHORT_CHARS, Instruction, read

_MAX_INLINE_CHARS = 4_000
"""Of a response and its edits: above, a worker judges.

Ordinary texts of this length take less than 1 ms, the most hostile tried 10 ms.
"""
_MAX_INLINE_WORK = 20_000
"""Characters of response and arguments, times instructions and edits: above, a worker judges."""
_MARK_WORK = 80
"""What a full stop costs, in characters: at each it is decided whether a sentence ends."""
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
"""They identify the language, with tables that only workers load."""
_TIME_LIMIT_S = 30.0
"""Several times what the longest response allowed by default takes with the most costly instructions."""


class InstructionFollowingParams(Params):
    """The instructions, and how they are judged."""

    reference: dict[str, Any] | list[Any] | str
    """`{instruction_id_list, kwargs, prompt}` or `{func_name, ...}`, as an object, as JSON text, or a list of such."""
    profile: Literal["fixed", "official"] = "fixed"
    """Whether the instruction itself decides, or the published checkers."""
    mode: Literal["strict", "loose"] = "strict"
    aggregate: Literal["fraction", "all"] = "fraction"
    """The share of instructions followed, or 1 if all are and else 0."""
    think: Think | None = None
    """The text that is judged. Unless set, the text after thinking in profile fixed, all of it in profile official."""


class InstructionFollowing(Verifier[InstructionFollowingParams]):
    name = "instruction_following"
    version = "11"
    params = InstructionFollowingParams
    summary = "The response follows its IFEval, IFBench or open-instruct instructions; the share that it follows"
    chunk_items = 8
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[InstructionFollowingParams]]) -> Sequence[Verdict]:
        verdicts = [_judge_if_cheap(item) for item in items]
        costly = [position for position, verdict in enumerate(verdicts) if verdict is None]
        if costly:
            payloads = [_payload(items[position]) for position in costly]
            outcomes = await long_texts.ask_workers(self._workers, _TASK, payloads)
            for position, outcome in zip(costly, outcomes, strict=True):
                verdicts[position] = (
                    long_texts.verdict_of(outcome.value) if outcome.exit is Exit.OK else long_texts.trouble(outcome)
                )
        return [verdict for verdict in verdicts if verdict is not None]


def create(resources: Resources) -> InstructionFollowing:
    resources.workers.register(_TASK)
    return InstructionFollowing(resources.workers)


def _judge_if_cheap(item: Item[InstructionFollowingParams]) -> Verdict | None:
    params = item.params
    if isinstance(params.reference, str) and len(params.reference) > SHORT_CHARS:
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


def _payload(item: Item[InstructionFollowingParams]) -> list[Any]:
    return [item.response, item.params.model_dump_json(), item.explain]


@worker_function
def judge_in_worker(payload: Sequence[Any]) -> list[Any]:
    """Run `judge` in a worker, on parameters rebuilt from their JSON."""
    response, params, explain = payload
    return long_texts.fields_of(judge(response, InstructionFollowingParams.model_validate_json(params), explain))


def judge(response: str, params: InstructionFollowingParams, explain: bool = False) -> Verdict:
    """The verdict on one response. The reference is read before anything is judged."""
    try:
        return _verdict(response, read(params.reference), params, explain)
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))


def _verdict(
    response: str, instructions: Sequence[Instruction], params: InstructionFollowingParams, explain: bool
) -> Verdict:
    text, reason = _judged_text(response, params)
    blank = not text.strip() or (params.profile == "fixed" and not any(map(str.isalnum, fold(comments.shown(text)))))
    followed = [False] * len(instructions) if blank else _follow(text, instructions, params)
    score = sum(followed) / len(followed) if params.aggregate == "fraction" else float(all(followed))
    detail: dict[str, Any] = {
        "instructions": [
            {"id": instruction.constraint.id, "followed": done}
            for instruction, done in zip(instructions, followed, strict=True)
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
    readings = [_readings(each, params.profile) for each in texts]
    for instruction in instructions:
        check: Check = instruction.constraint.check(params.profile)
        asked = slice(1) if comments.is_wanted(instruction.arguments) else slice(None)
        followed.append(any(all(check(view, **instruction.arguments) for view in views[asked]) for views in readings))
    return followed


def _readings(text: str, profile: str) -> list[Text]:
    """The readings of a text: all of it and, if it has comments, its visible part."""
    shown = comments.shown(text) if profile == "fixed" else text
    return [Text(text)] if shown == text else [Text(text), Text(shown)]


def _variants(text: str) -> list[str]:
    """The seven edits of the published loose mode, without blank and repeated ones."""
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    variants = [variant for whole in (text, *cut) for variant in (whole, whole.replace("*", ""))]
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
        "both are followed, after thinking",
    ),
    Example(
        "Boats, sail home.",
        {
            "reference": _example(("punctuation:no_comma", {}), ("keywords:existence", {"keywords": ["home"]})),
        },
        0.5,
        "partly_followed",
        "one of two; with aggregate all it is 0",
    ),
    Example(
        "My answer is yes. My answer is no. My answer is maybe.",
        {"reference": _example(("detectable_format:constrained_response", {}))},
        0.0,
        "not_followed",
        "looks right, but every option is no answer; profile official accepts it, as the published checker does",
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
        {
            "reference": _example(("count:keywords_multiple", {f"keyword{n}": w for n, w in enumerate("abcde", 1)})),
        },
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
        "the author must mend it",
        Status.INVALID,
    ),
    Example(
        "Any text.",
        {"reference": _example(("length_constraints:number_words", {"relation": "at least"}))},
        None,
        "bad_arguments",
        "no number: the published checker draws one at random",
        Status.INVALID,
    ),
)
