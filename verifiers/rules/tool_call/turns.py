"""Reads calls that are turns of a dialogue, marked by a model's own tokens or by ReAct's words.

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{…}<｜tool▁call▁end｜>…<｜tool▁calls▁end｜>             DeepSeek V3.1
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>f⏎```json⏎{…}⏎```<｜tool▁call▁end｜>                             DeepSeek V3, R1
    <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…   Kimi K2
    <|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>                         gpt-oss (Harmony)
    <|start|>assistant to=functions.f<|channel|>commentary json<|message|>{…}<|call|>
    >>>f⏎{…}    >>>all⏎It rains.    <|recipient|>f⏎<|content|>{…}                                                Functionary
    Action: f⏎Action Input: {…}                                                                            ReAct, LangChain

Each reader takes the text and the end of the mark that `MARKS` found. It returns the call there, and its end. It
returns no call if another mark follows (Step 3 puts an `<invoke>` between DeepSeek's tokens). ReAct's input must be
JSON here, because a bare text names no argument.
"""

import re
from typing import Any

from verifiers.rules.documents import Unreadable, read_json_at
from verifiers.rules.tool_call.calls import Call, Malformed, arguments_of
from verifiers.rules.tool_call.quoted import without_quoted_tags

_NAME = r"[\w.\-]{1,200}"
_BAR, _BLANK = "[｜|]", "[▁_]"
_HARMONY_BEGINS = r"<\|channel\|>\w{1,20}|<\|start\|>assistant|\A(?=to=[^\n]{1,300}<\|channel\|>)"
_MARKS = {
    "kimi": r"<\|tool_call_begin\|>",
    "deepseek": rf"<{_BAR}tool{_BLANK}call{_BLANK}begin{_BAR}>",
    "harmony": rf"(?:{_HARMONY_BEGINS})\s{{0,4}}to=(?:functions\.)?",
    "functionary": rf">>>(?=(?:all\n|{_NAME}\n\s{{0,8}}\{{))|<\|recipient\|>\s?(?={_NAME}\s{{0,4}}<\|content\|>)",
    "react": r"(?m:^)[ \t*_]{0,8}Action[ \t*_]{0,4}:(?=[^\n]{1,300}\n\s{0,8}[*_]{0,2}Action\sInput)",
}
MARKS = "|".join(f"(?P<{name}>{mark})" for name, mark in _MARKS.items())
_STEP = re.compile(r"function<｜tool_sep｜>\s*(?=<steptml:)")
ENDS = ("<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>", "<|tool_calls_section_end|>", "<|call|>")
_DEEPSEEK_FENCED = re.compile(rf"function<{_BAR}tool{_BLANK}sep{_BAR}>\s?({_NAME})\s*```(?:json)?\s*")
_DEEPSEEK = re.compile(rf"\s?({_NAME})\s?<{_BAR}tool{_BLANK}sep{_BAR}>\s*")
_DEEPSEEK_END = re.compile(rf"\s*(?P<fence>```)?\s*<{_BAR}tool{_BLANK}call{_BLANK}end{_BAR}>")
_KIMI = re.compile(rf"\s?(?:functions\.)?({_NAME}?)(?::\d{{1,6}})?\s?<\|tool_call_argument_begin\|>\s*")
_KIMI_END = re.compile(r"\s*<\|tool_call_end\|>")
_HARMONY = re.compile(rf"({_NAME})[^\n{{}}]{{0,80}}?<\|message\|>\s*")
_REACT = re.compile(
    rf"[ \t*_`]{{0,8}}({_NAME}?)[ \t*_`]{{0,8}}\n\s{{0,8}}[*_]{{0,2}}Action\sInput[ \t*_]{{0,4}}:[ \t*_]{{0,4}}\s?"
    r"(?P<fence>```(?:json)?\s{0,8})?"
)
_FENCE_END = re.compile(r"\s*```")


_THOUGHT = re.compile(
    r"<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|\Z)|<\|START_THINKING\|>.*?(?:<\|END_THINKING\|>|\Z)", re.DOTALL
)
_TOKEN = re.compile(r"<\|(?:channel|start)\|>\w{1,20}|<[|｜][^|｜<>]{1,40}[|｜]>")


def without_thought(text: str) -> str:
    """The text without the thinking of gpt-oss and Cohere's models. Thinking that is not closed goes on to the end."""
    if "<|" not in text:
        return text
    pieces, end = [], 0
    for thought in _THOUGHT.finditer(without_quoted_tags(text)):
        pieces.append(text[end : thought.start()])
        end = thought.end()
    return "".join([*pieces, text[end:]]).strip()


def is_blank(text: str) -> bool:
    """Whether a text holds only tokens and space."""
    return not _TOKEN.sub("", text).strip()


def deepseek(text: str, position: int) -> tuple[list[Call], int]:
    if step := _STEP.match(text, position):
        return [], step.end()
    fenced = _DEEPSEEK_FENCED.match(text, position)
    opening = fenced or _DEEPSEEK.match(text, position)
    if opening is None:
        raise Malformed("a call has no name")
    arguments, position = _arguments(text, opening.end())
    closing = _DEEPSEEK_END.match(text, position)
    if closing is None or bool(closing["fence"]) != bool(fenced):
        raise Malformed("expected <｜tool▁call▁end｜>")
    return [Call(opening[1], arguments)], closing.end()


def kimi(text: str, position: int) -> tuple[list[Call], int]:
    opening = _KIMI.match(text, position)
    if opening is None:
        return deepseek(text, position)  # DeepSeek's mark, written in ASCII, is the same
    arguments, position = _arguments(text, opening.end())
    closing = _KIMI_END.match(text, position)
    if closing is None:
        raise Malformed("expected <|tool_call_end|>")
    return [Call(opening[1], arguments)], closing.end()


def harmony(text: str, position: int) -> tuple[list[Call], int]:
    opening = _HARMONY.match(text, position)
    if opening is None:
        raise Malformed("a call has no message")
    arguments, position = _arguments(text, opening.end())
    return [Call(opening[1], arguments)], position


_FUNCTIONARY = re.compile(rf"({_NAME})(?:\s{{0,4}}<\|content\|>|\n)\s{{0,8}}")
_TO_USER = "all"


def functionary(text: str, position: int) -> tuple[list[Call], int]:
    opening = _FUNCTIONARY.match(text, position)
    if opening is None:
        raise Malformed("a call has no name")
    if opening[1] == _TO_USER:
        return [], opening.end()
    arguments, position = _arguments(text, opening.end())
    return [Call(opening[1], arguments)], position


def prefilled(text: str) -> tuple[list[Call], int]:
    """Read the call of a text that begins with a function's name.

    Such a text occurs where the prompt ends with `>>>` or `<|recipient|>`. The second value is the start of the text
    after the call. There is no call if that text is not further turns.
    """
    if _PREFILLED.match(text) is None:
        return [], 0
    try:
        calls, end = functionary(text, 0)
    except Malformed:
        return [], 0
    following = _NEXT_TURN.match(text, end)
    return (calls, following.end()) if following else ([], 0)


_PREFILLED = re.compile(rf"{_NAME}(?:\n|\s{{0,4}}<\|content\|>)\s{{0,8}}\{{")
_NEXT_TURN = re.compile(r"\s{0,8}(?:\Z|<\|stop\|>|(?=>>>)|(?:<\|from\|>\s?assistant\s{0,8})?(?=<\|recipient\|>))")


def react(text: str, position: int) -> tuple[list[Call], int]:
    opening = _REACT.match(text, position)
    if opening is None or not opening[1]:
        raise Malformed("the text after Action is not a name")
    arguments, position = _arguments(text, opening.end())
    if not opening["fence"]:
        return [Call(opening[1], arguments)], position
    closing = _FENCE_END.match(text, position)
    if closing is None:
        raise Malformed("a code fence is not closed")
    return [Call(opening[1], arguments)], closing.end()


def _arguments(text: str, position: int) -> tuple[dict[str, Any], int]:
    if not text.startswith("{", position):
        raise Malformed("expected a JSON object of arguments")
    try:
        value, end = read_json_at(text, position)
    except Unreadable as error:
        raise Malformed(f"the arguments of a call are not JSON: {str(error)[:100]}") from error
    return arguments_of(value), end
