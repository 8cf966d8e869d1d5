"""Where the calls of a text stand.

A text with one of these marks holds calls there, whatever stands beside it, and nowhere else:

    <tool_call>{…}</tool_call>                              Hermes, Qwen; several objects, or a list, in one block (rlla)
    <tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value>…</tool_call>                                            GLM
    <function=f>{…}</function>                                                                                 Llama 3.1
    <function=f><parameter=a>1</parameter></function>                       Qwen3-Coder, with or without <tool_call>
    [TOOL_CALLS][{…}]    [TOOL_CALLS]f[ARGS]{…}                                                                  Mistral
    <|python_tag|>{…}; {…}    <|python_tag|>f(a=1)                                                               Llama 3
    <|tool_call|>[{…}]<|/tool_call|>                                                                       Phi, Granite
    the tokens of DeepSeek and Kimi, and ReAct's Action and Action Input                             as `turns` shows them

Without a mark, calls are all of the text, or all of its code fences: JSON (objects, a list, an OpenAI message) or
Python's form. Prose, and data that is no call, is no call.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from verifiers import code_blocks
from verifiers.rules.documents import Unreadable, read_json_at
from verifiers.rules.tool_call import pythonic, turns
from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed, Raw, arguments_of, call_of, objects_of


def calls_in(text: str) -> list[Call]:
    """The calls of a text, in order.

    Raises:
        Malformed: something was meant as a call and is none.
    """
    text = _without_end(text)
    if not _MARK.match(text) and (calls := _json(text)) is not None:
        return calls
    if _MARK.search(text):
        return _marked(text)
    if (calls := _bare(text)) is not None:
        return calls
    found: list[Call] = []
    for block in code_blocks.blocks(text):
        if block.tag not in _TAGS:
            continue
        calls = _fenced(text[block.start : block.end])
        if calls and not block.is_closed:
            raise Malformed("a code fence is not closed")
        found += calls or ()
        if len(found) > MAX_CALLS:
            raise Malformed(f"more than {MAX_CALLS} calls")
    return found


def is_quick(text: str) -> bool:
    """Whether no long text of Python has to be parsed."""
    return len(text) <= pythonic.QUICK_CHARS or (
        not ("(" in text and ("```" in text or "~~~" in text or "python_tag" in text))
        and not pythonic.may_be(text.lstrip())
    )


_ENDS = ("<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>", *turns.ENDS)
_MARK = re.compile(
    r"(?P<hermes><tool_call>)|(?P<function><function=)|(?P<mistral>\[TOOL_CALLS\])|(?P<llama><\|python_tag\|>)"
    r"|(?P<phi><\|tool_call\|>)"
    f"|{turns.MARKS}"
)
_TAGS = frozenset(("", "json", "python", "py", "tool"))
"""`tool` is also what `code_blocks` takes for the tag of `tool_call` and `tool_code`."""
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s;]*")


def _skip(text: str, position: int, between: re.Pattern[str] = _SPACE) -> int:
    match = between.match(text, position)
    return match.end() if match else position


def _without_end(text: str) -> str:
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        tag = next((tag for tag in _ENDS if text.endswith(tag, 0, end)), None)
        if tag is None:
            return text[:end].lstrip()
        end -= len(tag)


# --- without a mark


def _bare(text: str) -> list[Call] | None:
    """The calls that are all of a text; None where it is something else."""
    if (calls := _json(text)) is not None or (calls := pythonic.calls_in(text)) is not None:
        return calls
    if text[:1] in ("{", "[") and _CALL_LIKE.search(text):
        raise Malformed("not JSON")
    return None


def _json(text: str) -> list[Call] | None:
    try:
        return _json_texts(text) if text[:1] in ("{", "[") else None
    except Unreadable:
        return None


_CALL_LIKE = re.compile(r'"(?:name|function)"\s?:.{0,500}"(?:arguments|parameters)"\s?:|"tool_calls"\s?:', re.DOTALL)


def _json_texts(text: str) -> list[Call] | None:
    """The calls of one JSON text after the other; None where one of them is something else."""
    found: list[Call] = []
    position = 0
    while position < len(text):
        value, position = read_json_at(text, position)
        objects = objects_of(value)
        if objects is None:
            return None
        found += map(call_of, objects)
        if len(found) > MAX_CALLS:
            raise Malformed(f"more than {MAX_CALLS} calls")
        position = _skip(text, position, _BETWEEN)
    return found


def _fenced(text: str) -> list[Call] | None:
    text = text.strip()
    if text[:1] in ("{", "["):
        return _bare(text)
    try:
        return pythonic.calls_in(text)
    except Malformed:  # a program that is shown, not a call
        return None


# --- with marks


def _marked(text: str) -> list[Call]:
    found: list[Call] = []
    position = 0
    while match := _MARK.search(text, position):
        calls, position = _READERS[str(match.lastgroup)](text, match.end())
        found += calls
        if len(found) > MAX_CALLS:
            raise Malformed(f"more than {MAX_CALLS} calls")
    return found


def _read(text: str, position: int) -> tuple[Any, int]:
    try:
        return read_json_at(text, position)
    except Unreadable as error:
        raise Malformed(f"not JSON: {str(error)[:100]}") from error


def _objects(text: str, position: int, between: re.Pattern[str]) -> tuple[list[Call], int]:
    """The calls of JSON texts in a row, of which there must be one, and where the last one ends."""
    if text[position : position + 1] not in ("{", "["):
        raise Malformed("expected JSON")
    found: list[Call] = []
    while text[position : position + 1] in ("{", "["):
        value, end = _read(text, position)
        found += map(call_of, objects_of(value, marked=True) or ())
        if len(found) > MAX_CALLS:
            raise Malformed(f"more than {MAX_CALLS} calls")
        position = _skip(text, end, between)
    return found, position


def _close(text: str, position: int, tag: str) -> int:
    position = _skip(text, position)
    if not text.startswith(tag, position):
        raise Malformed(f"expected {tag}")
    return position + len(tag)


def _hermes(text: str, position: int) -> tuple[list[Call], int]:
    position = _skip(text, position)
    if text.startswith(_FUNCTION, position):
        calls, position = _function(text, position + len(_FUNCTION))
    elif text[position : position + 1] in ("{", "["):
        calls, position = _objects(text, position, _SPACE)
    else:
        calls, position = _glm(text, position)
    return calls, _close(text, position, "</tool_call>")


_FUNCTION = "<function="
_FUNCTION_NAME = re.compile(r"\s?([^\s<>]{1,200})\s?>\s*")
_PARAMETER = re.compile(r"<parameter=\s?([^\s<>]{1,200})\s?>")


def _function(text: str, position: int) -> tuple[list[Call], int]:
    name = _FUNCTION_NAME.match(text, position)
    if name is None:
        raise Malformed("a function without a name")
    position = name.end()
    arguments: dict[str, Any] = {}
    if text.startswith("{", position):
        value, position = _read(text, position)
        arguments = arguments_of(value)
    else:
        while opening := _PARAMETER.match(text, position):
            end = text.find("</parameter>", opening.end())
            if end < 0:
                raise Malformed("expected </parameter>")
            _add(arguments, opening[1], _without_own_lines(text[opening.end() : end]))
            position = _skip(text, end + len("</parameter>"))
    return [Call(name[1], arguments)], _close(text, position, "</function>")


def _without_own_lines(text: str) -> str:
    """A value that stands on lines of its own, without the line breaks that put it there."""
    return text.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")


def _add(arguments: dict[str, Any], name: str, text: str) -> None:
    if name in arguments:
        raise Malformed("an argument is named twice")
    arguments[name] = Raw(text)


_GLM_NAME = re.compile(r"([\w.\-]{1,200})\s*(?=<)")
_GLM_KEY = re.compile(r"<arg_key>\s?([^<>]{1,200}?)\s?</arg_key>\s*<arg_value>")


def _glm(text: str, position: int) -> tuple[list[Call], int]:
    name = _GLM_NAME.match(text, position)
    if name is None:
        raise Malformed("no call in <tool_call>")
    position = name.end()
    arguments: dict[str, Any] = {}
    while key := _GLM_KEY.match(text, position):
        end = text.find("</arg_value>", key.end())
        if end < 0:
            raise Malformed("expected </arg_value>")
        _add(arguments, key[1], text[key.end() : end])
        position = _skip(text, end + len("</arg_value>"))
    return [Call(name[1], arguments)], position


_MISTRAL_NAME = re.compile(r"([\w.\-]{1,200})(?:\[CALL_ID\]\w{1,64})?(?:\[ARGS\])?\s?(?=\{)")


def _mistral(text: str, position: int) -> tuple[list[Call], int]:
    position = _skip(text, position)
    if name := _MISTRAL_NAME.match(text, position):
        value, position = _read(text, name.end())
        return [Call(name[1], arguments_of(value))], position
    if not text.startswith("[", position):
        raise Malformed("expected a list of calls")
    value, position = _read(text, position)
    return list(map(call_of, objects_of(value, marked=True) or ())), position


def _llama(text: str, position: int) -> tuple[list[Call], int]:
    position = _skip(text, position)
    if text.startswith("{", position):
        return _objects(text, position, _BETWEEN)
    following = _MARK.search(text, position)
    end = following.start() if following else len(text)
    calls = pythonic.calls_in(_without_end(text[position:end]))
    if not calls:
        raise Malformed("no call behind <|python_tag|>")
    return calls, end


def _phi(text: str, position: int) -> tuple[list[Call], int]:
    calls, position = _objects(text, _skip(text, position), _SPACE)
    closing = "<|/tool_call|>"
    return calls, position + len(closing) if text.startswith(closing, position) else position


_READERS: Mapping[str, Callable[[str, int], tuple[list[Call], int]]] = {
    "hermes": _hermes,
    "function": _function,
    "mistral": _mistral,
    "llama": _llama,
    "phi": _phi,
    "deepseek": turns.deepseek,
    "kimi": turns.kimi,
    "react": turns.react,
}
