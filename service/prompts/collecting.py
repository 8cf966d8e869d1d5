"""Gathers prompts with their responses from stored verdicts: audit logs, and files that `rewardline score` wrote."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from service.observe.audit_log import reader
from service.observe.audit_log.columns import is_cut, step_of
from service.prompts.stored_files import files, rows_beside, with_rows
from service.rollouts.verdict_file import VERDICTS
from service.watch.pass_rates import PassRate

MAX_RESPONSES: Final = 64
"""Responses of one prompt that are kept to look for errors in its reference."""


@dataclass(frozen=True, slots=True)
class Response:
    """A judged response to a prompt."""

    text: str
    extracted: str
    score: float


@dataclass(slots=True)
class Prompt:
    """A prompt with what verdicts say of it."""

    text: str
    reference: str
    fields: dict[str, Any]
    """What a verifier needs beside a response: verifier or recipe, parameters, labels."""
    rate: PassRate
    responses: list[Response] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)
    """The prompt as trainers read it. Empty: there is none, or not the whole row is in the log, or it holds more than text."""
    why_impossible: str = ""
    """Why a response to it was `invalid`: the row is wrong, and none can be judged."""


def collect(paths: Sequence[Path]) -> tuple[dict[tuple[str, str], Prompt], list[str]]:
    """The prompts of stored verdicts by text and reference, and what is damaged.

    Raises:
        NotThere: there is no such file or folder.
    """
    prompts: dict[tuple[str, str], Prompt] = {}
    damaged: list[str] = []
    for record in _records(files(paths), damaged):
        text, reference = _text(record.get("prompt")), _text(record.get("reference"))
        score = value if isinstance(value := record.get("score"), int | float) else None
        if not (text or reference) or (score is None and record.get("status") != "invalid"):
            continue
        prompt = prompts.get((text, reference))
        if prompt is None:
            names = ("verifier", "recipe", "params", "domain", "data_source", "tag")
            fields = {name: record[name] for name in names if record.get(name)}
            prompt = prompts[text, reference] = Prompt(text, reference, fields, PassRate(text[:200]))
            prompt.messages = _messages(record, text)
        if score is None:
            prompt.why_impossible = str(record.get("reason") or "invalid")
            continue
        prompt.rate.add([float(score)], _step(record))
        if len(prompt.responses) < MAX_RESPONSES:
            response = Response(_text(record.get("response")), str(record.get("extracted") or ""), float(score))
            prompt.responses.append(response)
    return prompts, damaged


def _records(paths: Iterable[Path], damaged: list[str]) -> Iterator[Mapping[str, Any]]:
    for path in paths:
        if path.name.endswith(VERDICTS):
            if source := rows_beside(path):
                yield from with_rows(path, source, damaged)
            else:
                lack = "the file that was scored is not beside it"
                damaged.append(f"{path}: {lack}; prompts and references come from there: put it into this folder")
            continue
        for line in reader.lines(path, damaged):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                damaged.append(f"{path}: a line is not JSON")
                continue
            if isinstance(record, dict) and "status" in record:
                yield record


def _step(record: Mapping[str, Any]) -> int:
    """The step of a record. Without one all records are of the same step."""
    metadata = record.get("metadata")
    steps = metadata if isinstance(metadata, dict) else {}
    return step_of(steps) or 0


def _messages(record: Mapping[str, Any], text: str) -> list[dict[str, str]]:
    turns = record.get("prompt_messages")
    if not text or isinstance(turns, str) or is_cut(record, "prompt") or is_cut(record, "reference"):
        return []
    if not isinstance(turns, list):
        return [{"role": "user", "content": text}]
    messages = [{"role": str(turn.get("role")), "content": _content(turn)} for turn in turns if isinstance(turn, dict)]
    return messages if all(message["content"] for message in messages) else []


def _content(turn: Mapping[str, Any]) -> str:
    """The text of a message. Empty: it has none, or holds more (a call, an image)."""
    content = turn.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "".join(texts) if len(texts) == len(parts) and not turn.get("tool_calls") else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
