"""Reads what a response does: it is a shell script, or a change of files.

text behind thinking ──► JSON object with "script"
                     ──► a change, as the verifier `repository` reads it
                     ──► the last fence tagged bash, sh or shell; or the whole text, if it starts with #!
"""

import re
from typing import Any, Final, Literal

import msgspec

from sandbox.workers import worker_function
from verifiers.commitment import Think, final_segment
from verifiers.repository import changes
from verifiers.repository.changes import Change, NoChange
from verifiers.repository.edits import has_edits

MAX_SCRIPT_CHARS: Final = 1_000_000
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n", re.M)
_SHELLS: Final = frozenset({"bash", "sh", "shell"})
_OF_CHANGES: Final = frozenset({"diff", "patch", "udiff"})

Form = Literal["auto", "script", "change"]


def read(response: str, form: Form, think: Think, workdir: str) -> str | Change:
    """The script or the change of a response. Linear in its length.

    Raises:
        NoChange: there is none. The reasons are those of `changes.read`, and no_answer.
    """
    if form == "change":
        return changes.read(response, think, workdir)
    segment = final_segment(response, think)
    if segment.reason != "found":
        raise NoChange("truncated" if segment.reason == "truncated" else "no_answer")
    text = response[segment.start : segment.end]
    fields = _object(text)
    if isinstance(fields.get("script"), str):
        return _checked(fields["script"])
    fences = _fences(text)
    is_change = bool(fields) or "<patch>" in text or has_edits(text) or any(tag in _OF_CHANGES for tag, _ in fences)
    if form == "script" or not is_change:
        scripts = [body for tag, body in fences if tag in _SHELLS]
        if scripts:
            return _checked(scripts[-1])
        if text.lstrip().startswith("#!"):
            return _checked(text.lstrip())
    if form == "script":
        raise NoChange("no_answer", "the response has no fence tagged bash, sh or shell")
    try:
        return changes.read(response, think, workdir)
    except NoChange as error:
        raise NoChange("no_answer" if error.reason == "no_patch" else error.reason, str(error)) from error


def _checked(script: str) -> str:
    if len(script) > MAX_SCRIPT_CHARS:
        raise NoChange("too_large", f"the script has more than {MAX_SCRIPT_CHARS} characters")
    return script


def _object(text: str) -> dict[str, Any]:
    """The JSON object that a text is; empty if it is none."""
    bare = text.strip()
    if bare.startswith("```json") and bare.endswith("```"):
        bare = bare[7:-3].strip()
    if not bare.startswith("{"):
        return {}
    try:
        value = msgspec.json.decode(bare)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _fences(text: str) -> list[tuple[str, str]]:
    """The tag and the body of each fence. One that is not closed has none."""
    fences: list[tuple[str, str]] = []
    mark, tag, start = "", "", 0
    for fence in _FENCE.finditer(text + "\n"):
        if not mark:
            mark, tag, start = fence[1], fence[2].lower(), fence.end()
        elif fence[1].startswith(mark) and not fence[2]:
            fences.append((tag, text[start : fence.start()]))
            mark = ""
    return fences


@worker_function
def read_in_worker(payload: list[Any]) -> list[Any]:
    """Run `read` in a worker: `[script, change]`, one of which is None; the change is as `changes.of_worker` takes it."""
    response, form, think, workdir = payload
    try:
        result = read(response, form, think, workdir)
    except NoChange as error:
        return [None, changes.to_send(error)]
    return [result, None] if isinstance(result, str) else [None, changes.to_send(result)]
