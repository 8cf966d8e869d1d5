"""Calls as turns of a dialogue that a model's own tokens, or ReAct's words, mark.

    <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{…}<｜tool▁call▁end｜>…<｜tool▁calls▁end｜>             DeepSeek V3.1
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>f⏎```json⏎{…}⏎```<｜tool▁call▁end｜>                             DeepSeek V3, R1
    <|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|>…   Kimi K2
    Action: f⏎Action Input: {…}                                                                            ReAct, LangChain

Each reader is given the text and where the mark ends that `MARKS` found; it returns the one call there, and where that
ends. ReAct's input is JSON here: a bare text names no argument.
"""

import re
from typing import Any

from verifiers.rules.documents import Unreadable, read_json_at
from verifiers.rules.tool_call.calls import Call, Malformed, arguments_of

_NAME = r"[\w.\-]{1,200}"
_BAR, _BLANK = "[｜|]", "[▁_]"
MARKS = (
    r"(?P<kimi><\|tool_call_begin\|>)"
    rf"|(?P<deepseek><{_BAR}tool{_BLANK}call{_BLANK}begin{_BAR}>)"
    r"|(?P<react>(?m:^)[ \t*_]{0,8}Action[ \t*_]{0,4}:(?=[^\n]{1,300}\n\s{0,8}[*_]{0,2}Action\sInput))"
)
ENDS = ("<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>", "<|tool_calls_section_end|>")
_DEEPSEEK_FENCED = re.compile(rf"function<{_BAR}tool{_BLANK}sep{_BAR}>\s?({_NAME})\s*```(?:json)?\s*")
_DEEPSEEK = re.compile(rf"\s?({_NAME})\s?<{_BAR}tool{_BLANK}sep{_BAR}>\s*")
_DEEPSEEK_END = re.compile(rf"\s*(?P<fence>```)?\s*<{_BAR}tool{_BLANK}call{_BLANK}end{_BAR}>")
_KIMI = re.compile(rf"\s?(?:functions\.)?({_NAME}?)(?::\d{{1,6}})?\s?<\|tool_call_argument_begin\|>\s*")
_KIMI_END = re.compile(r"\s*<\|tool_call_end\|>")
_REACT = re.compile(
    rf"[ \t*_`]{{0,8}}({_NAME}?)[ \t*_`]{{0,8}}\n\s{{0,8}}[*_]{{0,2}}Action\sInput[ \t*_]{{0,4}}:[ \t*_]{{0,4}}\s?"
    r"(?P<fence>```(?:json)?\s{0,8})?"
)
_FENCE_END = re.compile(r"\s*```")


def deepseek(text: str, position: int) -> tuple[list[Call], int]:
    fenced = _DEEPSEEK_FENCED.match(text, position)
    opening = fenced or _DEEPSEEK.match(text, position)
    if opening is None:
        raise Malformed("a call without a name")
    arguments, position = _arguments(text, opening.end())
    closing = _DEEPSEEK_END.match(text, position)
    if closing is None or bool(closing["fence"]) != bool(fenced):
        raise Malformed("expected <｜tool▁call▁end｜>")
    return [Call(opening[1], arguments)], closing.end()


def kimi(text: str, position: int) -> tuple[list[Call], int]:
    opening = _KIMI.match(text, position)
    if opening is None:
        return deepseek(text, position)  # whose mark this is, too, in ASCII
    arguments, position = _arguments(text, opening.end())
    closing = _KIMI_END.match(text, position)
    if closing is None:
        raise Malformed("expected <|tool_call_end|>")
    return [Call(opening[1], arguments)], closing.end()


def react(text: str, position: int) -> tuple[list[Call], int]:
    opening = _REACT.match(text, position)
    if opening is None or not opening[1]:
        raise Malformed("Action is no name")
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
        raise Malformed(f"not JSON: {str(error)[:100]}") from error
    return arguments_of(value), end
