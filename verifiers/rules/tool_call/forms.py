"""Finds the calls of a text, in the forms of many models.

If a text has one of these marks, its calls stand at such marks and nowhere else. Other text may stand beside them:

    <tool_call>{…}</tool_call>                              Hermes, Qwen; several objects, or a list, in one block (rlla)
    <tool_call>[{…}]                                                                                         Granite 3
    [TOOL_CALLS][{…}]    [TOOL_CALLS]f[ARGS]{…}    [TOOL_CALLS]f[CALL_ID]c[ARGS]{…}                              Mistral
    <|python_tag|>{…}; {…}    <|python_tag|>f(a=1)                                                               Llama 3
    <|python_start|>[f(a=1)]<|python_end|>                                                                       Llama 4
    <|tool_call|>[{…}]<|/tool_call|>                                                                       Phi, Granite
    <TOOLCALL>[{…}]</TOOLCALL>    <tool_calls>[{…}]</tool_calls>    <function_call>{…}          Nemotron, Jamba, Granite
    <longcat_tool_call>{…}</longcat_tool_call>    <function_calls>f(a=1)</function_calls>                LongCat, Olmo 3
    <|START_ACTION|>[{…}]<|END_ACTION|>    Action: ```json⏎[{…}]```                                Command A, Command R
    <|tool_call_start|>[f(a=1)]<|tool_call_end|>    <|action_start|><|plugin|>{…}<|action_end|>           LFM2, InternLM
    <|tools_prefix|>[{"f": {…}}]<|tools_suffix|>    function call<|role_sep|>{…}                       Apertus, GigaChat
    functools[{…}]                                                                              Phi-4-mini, FireFunction
    arguments in elements, as `elements` shows them                        Qwen3-Coder, GLM, Claude, MiniMax, DeepSeek …
    Gemma's notation, the tokens of DeepSeek, Kimi, gpt-oss and Functionary, ReAct's Action      see `gemma` and `turns`

Without a mark, the whole text or all of its code fences must be calls: JSON (objects, a list, an OpenAI message) or
Python's form. Without those, calls are the JSON texts, and lists in Python's form, that stand in prose on separate
lines. An answer tag around all of it makes no difference. Prose and other data are not calls.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from verifiers import code_blocks
from verifiers.rules.documents import Unreadable, read_json, read_json_at
from verifiers.rules.tool_call import elements, gemma, pythonic, sources, turns
from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed, are_tools, arguments_of, call_of, objects_of
from verifiers.rules.tool_call.elements import close, skip
from verifiers.rules.tool_call.quoted import without_quoted_tags
from verifiers.rules.tool_call.unread import unread_call


def calls_in(text: str, listed: Collection[str] = (), language: sources.Language | None = None) -> list[Call]:
    """The calls of a text, in order.

    Args:
        text: It may hold other text, too.
        listed: The names of known tools.
        language: The one in whose notation the whole text, or a code fence, may be calls.

    Raises:
        Malformed: a part is meant as a call, but cannot be read as one.
    """
    return [call for call in _read_calls(text, listed, language) if call.name not in _NO_CALL or call.name in listed]


_NO_CALL = frozenset(("directly-answer", "directly_answer", "no_function", "out_of_domain"))
"""What models call when they want no call: Command R and A, Granite 20B, and NexusRaven."""


def _read_calls(text: str, listed: Collection[str], language: sources.Language | None) -> list[Call]:
    text = _without_answer_tag(_without_end(text))
    if not _MARK.match(text) and (calls := _json(text)) is not None:
        return calls
    if _first_mark(text) and (first := _first_mark(plain := without_quoted_tags(text))):
        return _marked(text, plain, first)
    if (calls := _bare(text, language)) is not None:
        return calls
    all_calls: list[Call] = []
    for block in code_blocks.blocks(text):
        if block.tag not in (*_TAGS, language):
            continue
        calls = _fenced(text[block.start : block.end], block.tag, language)
        if calls and not block.is_closed:
            raise Malformed("a code fence is not closed")
        all_calls += calls or ()
        if len(all_calls) > MAX_CALLS:
            raise Malformed(f"there are more than {MAX_CALLS} calls")
    all_calls = all_calls or _on_lines(text)
    if not all_calls and (unread := unread_call(text, listed)):
        raise Malformed(f"a call in a form that is not known: {unread!r}")
    return all_calls


def prefilled_calls_in(text: str) -> list[Call]:
    """The calls of a text that begins inside Functionary's first turn, with the name of the function.

    A text that does not begin so gives no calls.

    Raises:
        Malformed: a further turn is meant as a call, but cannot be read as one.
    """
    text = _without_end(text)
    calls, end = turns.prefilled(text)
    return calls + calls_in(text[end:]) if calls and text[end:] else calls


_SUFFIX = ":opensource>"
_SUFFIXED = re.compile(r"<(/?)(think|tool_calls?|tool_sep|arg_key|arg_value):opensource>")


def plain_tokens(response: str) -> str:
    """The response with the tokens of Hunyuan's open models in the form of its other models, which have no suffix."""
    return _SUFFIXED.sub(r"<\1\2>", response) if _SUFFIX in response else response


def is_quick(text: str) -> bool:
    """Whether a text can be read without parsing a long Python text."""
    return len(text) <= pythonic.QUICK_CHARS or not (
        ("(" in text and any(sign in text for sign in _BESIDE_PYTHON))
        or pythonic.may_be(_without_answer_tag(_without_end(text)))
    )


_BESIDE_PYTHON = ("```", "~~~", "python_tag", "_start|>", "START_ACTION", "tools_prefix", "function_calls", "role_sep")


_ENDS = (
    "<|eom_id|>", "<|eot_id|>", "<|eom|>", "<|eot|>", "<|im_end|>", "</s>", "<|end_of_text|>", "<|endoftext|>",
    "<|END_OF_TURN_TOKEN|>", "<end_of_turn>", *turns.ENDS,
)  # fmt: skip
_BETWEEN_MARKS = r"<\|(?:python_start|START_ACTION|tool_call_start|action_start|tools_prefix)\|>"
_MARKS = {
    "hermes": "<tool_call>",
    "longcat": "<longcat_tool_call>",
    "function": "<function=",
    "mistral": r"\[TOOL_CALLS\]",
    "llama": r"<\|python_tag\|>",
    "phi": r"<\|tool_call\|>",
    "tagged": r"<(?:TOOLCALL|tool_calls|function_call)>(?=\s{0,8}[\[{])",
    "between": rf"{_BETWEEN_MARKS}|<function_calls>(?=\s{{0,8}}[\[A-Za-z_])|function\scall<\|role_sep\|>",
    "functools": r"(?m:^)functools(?=\s?\[)",
    "action": r"(?m:^)Action:\s{0,4}```json\s{0,8}(?=\[)",
    "gemma": gemma.MARK,
    "invoke": elements.INVOKE,
}
"""The beginnings of calls, by form. The marks of whole turns follow them."""
_MARK = re.compile("|".join([*(f"(?P<{name}>{mark})" for name, mark in _MARKS.items()), turns.MARKS]))
_TAGS = frozenset(("", "json", "python", "py", "tool"))
"""The tags of fences that may hold calls. `code_blocks` reads `tool_call` and `tool_code` as `tool`, too."""
_SPACE = re.compile(r"\s*")
_BETWEEN = re.compile(r"[\s;]*")


def _without_end(text: str) -> str:
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        if not text.endswith(_ENDS, 0, end):
            return text[:end].lstrip()
        end -= next(len(tag) for tag in _ENDS if text.endswith(tag, 0, end))


def _without_answer_tag(text: str) -> str:
    if text.startswith(_ANSWER) and text.endswith(_ANSWER_END) and text.count(_ANSWER) == 1:
        return text[len(_ANSWER) : -len(_ANSWER_END)].strip()
    return text


_ANSWER, _ANSWER_END = "<answer>", "</answer>"


# --- without a mark


def _bare(text: str, language: sources.Language | None = None) -> list[Call] | None:
    """The calls that make up a whole text; None if it is something else."""
    if language is not None and (calls := sources.calls_in(text, language)) is not None:
        return calls
    if (calls := _json(text)) is not None:
        return calls
    try:
        calls = pythonic.calls_in(text)
    except Malformed:
        # Words may follow a list: `[f(a=1)]⏎This calls f.`
        if calls := _on_lines(text):
            return calls
        raise
    if calls is not None:
        return calls
    if text[:1] in ("{", "[") and _CALL_LIKE.search(text):
        if calls := _on_lines(text):
            return calls
        if not _describes_tools(text):
            raise Malformed("a text that begins as a call is not JSON")
    return None


def _describes_tools(text: str) -> bool:
    try:
        return are_tools(read_json(text, unique_keys=True))
    except Unreadable:
        return False


def _json(text: str) -> list[Call] | None:
    try:
        return _json_texts(text) if text[:1] in ("{", "[") else None
    except Unreadable:
        return None


_CALL_LIKE = re.compile(
    r'"(?:name|function|tool_name)"\s?:.{0,500}"(?:arguments|parameters)"\s?:|"(?:tool_calls|tool_use)"', re.DOTALL
)


def _json_texts(text: str) -> list[Call] | None:
    """The calls of JSON texts in a row; None if one of them is something else."""
    calls: list[Call] = []
    position = 0
    while position < len(text):
        value, position = read_json_at(text, position)
        objects = objects_of(value)
        if objects is None:
            return None
        calls += map(call_of, objects)
        if len(calls) > MAX_CALLS:
            raise Malformed(f"there are more than {MAX_CALLS} calls")
        position = skip(text, position, _BETWEEN)
    return calls


def _fenced(text: str, tag: str, language: sources.Language | None) -> list[Call] | None:
    text = text.strip()
    if language is not None and (calls := sources.calls_in(text, language)) is not None:
        return [replace(call, is_shown=bool(tag)) for call in calls]
    if text[:1] in ("{", "["):
        return _bare(text)
    try:
        if tag != "tool":
            return [replace(call, is_shown=bool(tag)) for call in pythonic.calls_in(text) or ()]
        calls = pythonic.calls_in(text, printed=True)
    except Malformed:  # a program that is shown, not a call
        return None
    return calls and [Call(call.name.removeprefix("default_api."), call.arguments) for call in calls]


def _on_lines(text: str) -> list[Call]:
    """The calls in prose. Each must stand on separate lines that hold nothing else.

    Raises:
        Malformed: a call begins there, but is cut off or is not JSON.
    """
    calls: list[Call] = []
    position = -1
    for _ in range(_MAX_STARTS):
        position = _next_start(text, position)
        if position < 0:
            break
        line_end = text.find("\n", position)
        line = text[position : line_end if line_end >= 0 else len(text)].rstrip()
        if _PYTHON_LIST.match(line) and len(line) <= pythonic.QUICK_CHARS:
            calls += _python_line(line)
            continue
        try:
            value, end = read_json_at(text, position)
        except Unreadable as error:
            if _CALL_BEGINS.match(text, position):
                raise Malformed("a text that begins as a call is not JSON") from error
            continue
        if _LINE_ENDS.match(text, end):
            calls += map(call_of, objects_of(value) or ())
        position = end - 1
    if len(calls) > MAX_CALLS:
        raise Malformed(f"there are more than {MAX_CALLS} calls")
    return calls


def _python_line(line: str) -> list[Call]:
    try:
        return pythonic.calls_in(line) or []
    except Malformed:
        if pythonic.names_arguments(line):
            raise
        return []  # mathematics, such as [f(x)]


def _next_start(text: str, position: int) -> int:
    """The start of the next line after `position` that begins with a bracket; negative if there is none."""
    if position < 0 and text[:1] in ("{", "["):
        return 0
    starts_at = [start for sign in ("\n{", "\n[") if (start := text.find(sign, max(position, 0))) >= 0]
    return min(starts_at) + 1 if starts_at else -1


_MAX_STARTS = 64
_PYTHON_LIST = re.compile(r"\[['\"]?[A-Za-z_](?:[\w.\-]|\\_){0,200}\(")
_CALL_BEGINS = re.compile(
    r'\[?\s{0,8}\{\s{0,8}"(?:name|tool_name|tool_calls|function_call|functionCall|tool|function|action|id|type)"\s?:'
)
_LINE_ENDS = re.compile(r"[ \t;,]*(?:\r?\n|\Z)")


# --- with marks


def _first_mark(text: str) -> re.Match[str] | None:
    """The first mark of a text.

    Nearly all marks begin with a sign that few texts have. A search for this sign is many times faster.
    """
    if text.count("<") > _MAX_PLACES or _may_begin_otherwise(text):
        return _MARK.search(text)
    start = text.find("<")
    while start >= 0:
        if match := _MARK.match(text, start):
            return match
        start = text.find("<", start + 1)
    return None


_MAX_PLACES = 1_000


def _may_begin_otherwise(text: str) -> bool:
    """Whether the text may have a mark that does not begin with `<`."""
    if text.startswith("to=") or any(word in text for word in ("[TOOL_CALLS]", "functools", "role_sep", ">>>")):
        return True
    return "Action" in text and ("Input" in text or "json" in text)


def _marked(text: str, plain: str, first: re.Match[str]) -> list[Call]:
    """The calls at the marks of a text. The plain text has no tags in strings; `first` is its first mark."""
    marked_calls: list[Call] = []
    position = first.start()
    while match := _MARK.search(plain, position):
        form = str(match.lastgroup)
        if form in _BOUNDED:
            calls, position = _BOUNDED[form](text, match.end(), plain)
        else:
            calls, position = _READERS[form](text, match.end())
        marked_calls += calls
        if len(marked_calls) > MAX_CALLS:
            raise Malformed(f"there are more than {MAX_CALLS} calls")
    return marked_calls


def _read(text: str, position: int) -> tuple[Any, int]:
    try:
        return read_json_at(text, position)
    except Unreadable as error:
        raise Malformed(f"a call is not JSON: {str(error)[:100]}") from error


def _objects(text: str, position: int, between: re.Pattern[str]) -> tuple[list[Call], int]:
    """The calls of one or more JSON texts in a row, and the end of the last one."""
    if text[position : position + 1] not in ("{", "["):
        raise Malformed("expected a call in JSON")
    calls: list[Call] = []
    while text[position : position + 1] in ("{", "["):
        value, end = _read(text, position)
        calls += map(call_of, objects_of(value, marked=True) or ())
        if len(calls) > MAX_CALLS:
            raise Malformed(f"there are more than {MAX_CALLS} calls")
        position = skip(text, end, between)
    return calls, position


def _hermes(text: str, position: int, prefix: str = "") -> tuple[list[Call], int]:
    position = skip(text, position)
    if text.startswith(elements.FUNCTION, position):
        call, position = elements.function(text, position + len(elements.FUNCTION))
        calls = [call]
    elif text[position : position + 1] in ("{", "["):
        calls, position = _objects(text, position, _SPACE)
        # Servers that stop at the closing tag do not send it. The JSON is whole, so nothing was cut off.
        if position == len(text):
            return calls, position
    else:
        call, position = elements.keyed(text, position, prefix)
        calls = [call]
    return calls, close(text, position, f"</{prefix}tool_call>")


def _alone(read: Callable[[str, int], tuple[Call, int]]) -> Callable[[str, int], tuple[list[Call], int]]:
    def readers(text: str, position: int) -> tuple[list[Call], int]:
        call, end = read(text, position)
        return [call], end

    return readers


_MISTRAL_NAME = re.compile(r"([\w.\-]{1,200})(?:\[CALL_ID\]\w{1,64})?(?:\[ARGS\])?\s?(?=\{)")


def _mistral(text: str, position: int) -> tuple[list[Call], int]:
    position = skip(text, position)
    if name := _MISTRAL_NAME.match(text, position):
        value, position = _read(text, name.end())
        return [Call(name[1], arguments_of(value))], position
    if not text.startswith("[", position):
        raise Malformed("expected a name or a list of calls after [TOOL_CALLS]")
    value, position = _read(text, position)
    return list(map(call_of, objects_of(value, marked=True) or ())), position


def _llama(text: str, position: int, plain: str) -> tuple[list[Call], int]:
    position = skip(text, position)
    if text.startswith("{", position):
        return _objects(text, position, _BETWEEN)
    following = _MARK.search(plain, position)
    end = following.start() if following else len(text)
    calls = pythonic.calls_in(_without_end(text[position:end]))
    if not calls:
        raise Malformed("no call follows <|python_tag|>")
    return calls, end


def _phi(text: str, position: int) -> tuple[list[Call], int]:
    calls, position = _objects(text, skip(text, position), _SPACE)
    closing = "<|/tool_call|>"
    return calls, position + len(closing) if text.startswith(closing, position) else position


_CLOSING_TAG = re.compile(r"\s*</(?:TOOLCALL|tool_calls|function_call)>")


def _tagged(text: str, position: int) -> tuple[list[Call], int]:
    start = position
    calls, position = _objects(text, skip(text, position), _SPACE)
    if closing := _CLOSING_TAG.match(text, position):
        return calls, closing.end()
    if not text.endswith(_GRANITE, 0, start) or not (position == len(text) or text.startswith(_GRANITE, position)):
        raise Malformed("the tag around a call is not closed")
    return calls, position


_GRANITE = "<function_call>"
"""The tag that may lack a closing tag: Granite 20B does not write one."""


def _between(text: str, position: int, plain: str) -> tuple[list[Call], int]:
    """The calls in JSON or Python's form up to the closing token.

    They may also go on to the end of the text, because some servers stop at that token.
    """
    opening = text[text.rindex("<", 0, position) : position]
    following = _BETWEEN_END.search(plain, position)
    end = following.start() if following else len(text)
    content = _without_end(text[position:end].replace(_PLUGIN, "", 1))
    if opening == _APERTUS:
        calls: list[Call] | None = _by_name(content)
    else:
        calls = _json(content) if content[:1] in ("{", "[") else None
        calls = pythonic.calls_in(content) if calls is None else calls
    if calls is None:
        raise Malformed(f"no call follows {opening}")
    return calls, following.end() if following else len(text)


_BETWEEN_END = re.compile(r"<\|(?:python_end|END_ACTION|tool_call_end|action_end|tools_suffix)\|>|</function_calls>")
_PLUGIN = "<|plugin|>"
_APERTUS = "<|tools_prefix|>"


def _by_name(text: str) -> list[Call]:
    """The calls in a list of objects, each with the name of its function as the only key."""
    value, end = _read(text, 0)
    if end < len(text) or not isinstance(value, list) or len(value) > MAX_CALLS:
        raise Malformed(f"expected a list of at most {MAX_CALLS} calls")
    if not all(isinstance(entry, dict) and len(entry) == 1 for entry in value):
        raise Malformed("expected objects with the name of a function as their only key")
    return [Call(name, arguments_of(arguments)) for entry in value for name, arguments in entry.items()]


def _action(text: str, position: int) -> tuple[list[Call], int]:
    calls, position = _functools(text, position)
    return calls, close(text, position, "```")


def _functools(text: str, position: int) -> tuple[list[Call], int]:
    value, position = _read(text, skip(text, position))
    return list(map(call_of, objects_of(value, marked=True) or ())), position


_READERS: Mapping[str, Callable[[str, int], tuple[list[Call], int]]] = {
    "hermes": _hermes,
    "longcat": partial(_hermes, prefix="longcat_"),
    "function": _alone(elements.function),
    "invoke": _alone(elements.invoke),
    "action": _action,
    "gemma": gemma.gemma,
    "mistral": _mistral,
    "phi": _phi,
    "tagged": _tagged,
    "functools": _functools,
    "deepseek": turns.deepseek,
    "kimi": turns.kimi,
    "harmony": turns.harmony,
    "functionary": turns.functionary,
    "react": turns.react,
}
_BOUNDED: Mapping[str, Callable[[str, int, str], tuple[list[Call], int]]] = {"between": _between, "llama": _llama}
"""The readers of calls that go on to a tag. They look for it in the plain text."""
