"""Chooses the verifier for a row of NeMo-Gym.

    the URL                            names a verifier, a recipe or labels; or a server: `nemo_gym_servers`
    `agent_ref.name`                   holds the name of such a server; so do a few fields, which only its rows have
    `verifier_metadata`                names one, as the fields of an item
    `expected_answers`                 xlam_fc: `tool_call`; calls may have more arguments than these
    `expected_action`                  single_step_tool_use_with_argument_comparison: `tool_call`; strings are loose there, and
                                       further calls allowed; a wanted message is any text without a call
    `options` and `expected_answer`    mcqa: `multiple_choice`; `grading_mode` says where the letter stands, or, before it,
                                       `template_metadata.output_regex`: the group of its last match
    `verifier_metadata.unit_tests`     code_gen: `code`
    `instruction_id_list`, `kwargs`    instruction_following
    `domain`, `data_source`, `tag`     the routing table
    `expected_answer`                  without an agent: `multiple_choice`, if it is a capital letter and there is no `question`;
                                       else math_with_judge: `math`

The first of these that is present decides. The response is everything that the model gave, its calls and their results
included.
"""

from collections.abc import Callable, Mapping
from string import ascii_uppercase
from typing import Any, Final

import msgspec
import re2

from service.doors.compat.nemo_gym_servers import CHOICES, agent_of, fields_of, server_of
from service.doors.compat.request_options import ITEM_FIELDS, JSON, RequestOptions, built
from service.errors import Unprocessable
from service.wire import Message, ScoreItem
from verifiers.base import InvalidItem
from verifiers.conversation import dialects
from verifiers.judge import rubrics

_MAX_PATTERN_BYTES: Final = 2 << 20
_KINDS: Final = ("domain", "data_source", "tag")
_INSTRUCTIONS: Final = "instruction_following"
_EXTRACT: Final = {
    "strict_single_letter_boxed": "boxed",
    "lenient_boxed": "boxed",
    "lenient_answer_colon": "answer_line",
    "lenient_answer_colon_md": "answer_line",
}


class Response(msgspec.Struct):
    """The parts of the response object of OpenAI's Responses API that are read here."""

    output: list[Message]


class Asked(msgspec.Struct):
    """The parts of the model's request that are read here."""

    input: str | list[Message]


class Row(msgspec.Struct):
    """A rollout. Its other fields are those of the data set."""

    responses_create_params: Asked
    response: Response
    expected_answer: Any = None
    options: Any = None
    grading_mode: str | None = None
    expected_answers: Any = None
    verifier_metadata: Any = None
    question: Any = None

    def said(self) -> str | list[Message]:
        """The output of the model, without its refusals, which are not answers. Empty if it is nothing but thoughts."""
        output = [_plain_message(part) for part in self.response.output]
        return output if any(_is_of_model(part) for part in output) else ""


def _plain_message(part: Message) -> Message:
    """A part of the output; a message without a role is the assistant's, as in OpenAI's Responses API."""
    role = {"role": "assistant"} if part.get("type") == "message" and "role" not in part else {}
    content = part.get("content")
    if isinstance(content, list) and any(_is_refusal(piece) for piece in content):
        return {**part, **role, "content": [piece for piece in content if not _is_refusal(piece)]}
    return part | role


def _is_of_model(part: Message) -> bool:
    return (
        part.get("type") not in ("reasoning", "function_call_output") and part.get("role", "assistant") == "assistant"
    )


def _is_refusal(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "refusal"


def published(server: str | None, fields: JSON) -> Row | None:
    """The rollout of a row that holds its response as a text, as `bbq` publishes it. None: the row is another one."""
    text = fields.get("policy_response")
    if server != "bbq" or "response" in fields or not isinstance(text, str):
        return None
    return Row(Asked(""), Response([{"role": "assistant", "content": text}]))


def item_of(
    row: Row,
    fields: JSON,
    options: RequestOptions,
    server: str | None = None,
    *,
    has_judges: bool = False,
    replay: bool = False,
    is_member: bool = False,
) -> ScoreItem:
    """The item of a rollout.

    Args:
        row: The fields that every row may have.
        fields: All fields of its JSON object.
        options: Those of the URL.
        server: The server that the URL names.
        has_judges: A judge model is configured.
        replay: The caller vouches that what the row records of a judge is about this response.
        is_member: The row is of a group, whose majority needs no reference.

    Raises:
        Unprocessable
    """
    chosen_fields = options.fields()
    if not chosen_fields.keys() - {"params"} and (chosen := server_of(server, fields)) is not None:
        item_fields = _as_server(chosen, row) or fields_of(
            chosen, fields, has_judges=has_judges, replay=replay, is_member=is_member
        )
    else:
        item_fields = dict(_judged_by(row, fields))
    holds = (
        item_fields.pop("named", False)
        or not chosen_fields.keys() - {"params"}
        or chosen_fields.get("verifier") == item_fields.get("verifier")
    )
    if not holds:
        item_fields = _labelled(row, fields, chosen_fields.get("verifier"))
    response = row.said()
    if item_fields.get("verifier") == "multiple_choice" and (marked := _marked(response, fields)):
        response = marked
        item_fields["params"] = {**item_fields.get("params", {}), "extract": "auto"}
    return built(response, options, item_fields, row.responses_create_params.input)


def _as_server(server: str, row: Row) -> JSON | None:
    """The fields of an item for the servers whose rows have a convention. None: the server is another, or the row lacks
    what the convention has.

    Raises:
        Unprocessable: the row lacks what the server judges by.
    """
    metadata = row.verifier_metadata if isinstance(row.verifier_metadata, dict) else {}
    if server in CHOICES:
        answer = row.expected_answer
        if not (isinstance(answer, str) and len(answer) == 1 and answer.isalpha()) and not row.options:
            raise Unprocessable(f"rows of NeMo-Gym's server {server!r} need 'options'; add it")
        # its own reader takes a box or a line `Answer:`, whatever the mode says
        return _choice(msgspec.structs.replace(row, grading_mode=None) if server == "gpqa_diamond" else row)
    if server == "code_gen" and metadata.get("unit_tests"):
        return _judged("code", metadata["unit_tests"])
    if server == "xlam_fc" and row.expected_answers:
        return _calls(row.expected_answers)
    return None


def _marked(response: str | list[Message], fields: Mapping[str, Any]) -> str | None:
    """The answer by the row's own patterns: the group of the last match of the first pattern that matches, in upper or
    lower case.
    """
    template = fields.get("template_metadata")
    pattern_given = template.get("output_regex") if isinstance(template, dict) else None
    patterns = (
        [pattern_given] if isinstance(pattern_given, str) else pattern_given if isinstance(pattern_given, list) else []
    )
    if not patterns or isinstance(response, str):
        return None
    try:
        text = dialects.read(response).text("last")
    except InvalidItem:
        return None
    for pattern in patterns:
        if isinstance(pattern, str) and (label := _last_group(pattern, text)):
            return label
    return None


def _last_group(pattern: str, text: str) -> str | None:
    """The last match. None if there is none, or if RE2 does not take the pattern; then the grading mode decides."""
    options = re2.Options()
    options.max_mem = _MAX_PATTERN_BYTES
    options.log_errors = False
    options.case_sensitive = False
    try:
        matches = list(re2.compile(pattern, options).finditer(text))
    except (re2.error, UnicodeEncodeError):
        return None
    return (matches[-1].group(1 if matches[-1].re.groups else 0) or "").strip() if matches else None


def _judged_by(row: Row, fields: Mapping[str, Any]) -> JSON:
    """The fields of the item by the row alone. `named` says that the row itself names its verifier."""
    metadata = row.verifier_metadata if isinstance(row.verifier_metadata, dict) else {}
    if any(metadata.get(name) for name in ("verifier", "recipe", "checks")):
        item_fields = {name: value for name, value in metadata.items() if name in ITEM_FIELDS}
        return {**_labelled(row, fields, item_fields.get("verifier")), **item_fields, "named": True}
    conventions: tuple[tuple[bool, Callable[[], JSON]], ...] = (
        (isinstance(fields.get("expected_answers"), list), lambda: _calls(fields["expected_answers"])),
        (_is_action(fields.get("expected_action")), lambda: _action(fields["expected_action"])),
        (bool(row.options), lambda: _choice(row)),
        (bool(metadata.get("unit_tests")), lambda: _judged("code", metadata["unit_tests"])),
        (bool(fields.get("instruction_id_list")), lambda: fields_of(_INSTRUCTIONS, dict(fields), has_judges=False)),
        (any(isinstance(fields.get(kind), str) for kind in _KINDS), lambda: _routed(row, fields)),
        (row.expected_answer is not None, lambda: _answer(row, fields)),
    )
    return next((make() for holds, make in conventions if holds), _routed(row, fields))


def _answer(row: Row, fields: Mapping[str, Any]) -> JSON:
    """The answer of a row that says nothing else, not even by its agent.

    Raises:
        Unprocessable: it has an agent whose server is not known. The answers of most servers are not mathematics.
    """
    if (agent := agent_of(fields)) is not None:
        message = "name it in the URL (/compat/nemo_gym/SERVER/verify), or a verifier"
        raise Unprocessable(f"the row's agent {agent!r} names none of NeMo-Gym's servers; {message}")
    answer = row.expected_answer
    is_letter = isinstance(answer, str) and len(answer) == 1 and answer in ascii_uppercase and row.question is None
    return _choice(row) if is_letter else _judged("math", answer)


def _judged(verifier: str, reference: Any, **params: Any) -> JSON:
    """An item that follows NeMo-Gym's convention: a rollout that ends in a call has no answer."""
    return {"verifier": verifier, "reference": reference, "params": params}


def _calls(calls: Any) -> JSON:
    return {"verifier": "tool_call", "reference": calls, "params": {"arguments": "subset"}}


_ACTIONS: Final = ("message", "function_call", "function_call_batch")


def _is_action(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _ACTIONS


def _action(action: JSON) -> JSON:
    """The calls of an action. Texts of arguments may differ in case and space; there, in most of their words."""
    if action["type"] == "message":
        return {"verifier": "tool_call", "reference": []}
    calls = action.get("calls") if action["type"] == "function_call_batch" else [action]
    return {"verifier": "tool_call", "reference": calls, "params": {"calls": "subset", "strings": "loose"}}


def _choice(row: Row) -> JSON:
    params: JSON = {"choices": _choices(row.options)} if row.options else {}
    if row.grading_mode is not None:
        if row.grading_mode not in _EXTRACT:
            raise Unprocessable(f"the row's 'grading_mode' must be one of {', '.join(_EXTRACT)}, or be left out")
        params["extract"] = _EXTRACT[row.grading_mode]
    return _judged("multiple_choice", row.expected_answer, **params)


def _choices(options: Any) -> Any:
    """The options `[{"A": "Paris"}, {"B": "Rome"}]` as one object. The verifier refuses anything else."""
    if isinstance(options, list) and all(isinstance(option, dict) for option in options):
        return {label: text for option in options for label, text in option.items() if text is not None}
    return options


def _routed(row: Row, fields: Mapping[str, Any]) -> JSON:
    labels = {kind: fields[kind] for kind in _KINDS if isinstance(fields.get(kind), str)}
    return {**labels, "reference": _truth(row, fields)}


def _labelled(row: Row, fields: Mapping[str, Any], verifier: Any) -> JSON:
    """What the row holds for a verifier that somebody names."""
    rubric = rubrics.columns_of(fields) if verifier == "judge" else None
    return {"reference": _truth(row, fields)} | ({} if rubric is None else {"evaluation_criteria": rubric})


def _truth(row: Row, fields: Mapping[str, Any]) -> Any:
    metadata = row.verifier_metadata if isinstance(row.verifier_metadata, dict) else {}
    candidates = (row.expected_answer, fields.get("reference"), fields.get("ground_truth"), metadata.get("unit_tests"))
    return next((value for value in candidates if value is not None), metadata or None)
