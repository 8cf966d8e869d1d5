"""Reads calls that hold their arguments in elements, as bare text without a type.

    <function=f><parameter=a>1</parameter></function>                                    Qwen3-Coder, Nemotron 3, Seed-OSS
    <function=f>{…}</function>                                                                                 Llama 3.1
    f<arg_key>a</arg_key><arg_value>1</arg_value>                       GLM, LongCat (longcat_arg_key), Hunyuan (<tool_sep>)
    <invoke name="f"><parameter name="a">1</parameter></invoke>                                    Claude, MiniMax, Step 3
    <｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter></｜DSML｜invoke>     DeepSeek V3.2

Each reader takes the text and the end of the mark. It returns the call there, and its end.
"""

import re
from typing import Any

from verifiers.rules.documents import Unreadable, read_json, read_json_at
from verifiers.rules.tool_call.calls import Call, Malformed, arguments_of
from verifiers.rules.tool_call.raw import Raw

FUNCTION = "<function="
_PREFIX = r"(?:｜DSML｜\s?|steptml:|antml:)?"
INVOKE = rf"<{_PREFIX}invoke\s{{1,8}}name="
_SPACE = re.compile(r"\s*")


def close(text: str, position: int, tag: str) -> int:
    """The end of `tag`, which must come next.

    Raises:
        Malformed: other text comes next.
    """
    position = skip(text, position)
    if not text.startswith(tag, position):
        raise Malformed(f"expected {tag}")
    return position + len(tag)


def skip(text: str, position: int, between: re.Pattern[str] = _SPACE) -> int:
    match = between.match(text, position)
    return match.end() if match else position


# --- <function=f>

_FUNCTION_NAME = re.compile(r"\s?([^\s<>]{1,200})\s?>\s*")
_FUNCTION_PARAMETER = re.compile(r"<parameter=\s?([^\s<>]{1,200})\s?>")


def function(text: str, position: int) -> tuple[Call, int]:
    name = _FUNCTION_NAME.match(text, position)
    if name is None:
        raise Malformed("a function has no name")
    arguments, position = _object_or_parameters(text, name.end(), _FUNCTION_PARAMETER, "</parameter>")
    return Call(name[1], arguments), close(text, position, "</function>")


def _object_or_parameters(
    text: str, position: int, opening: re.Pattern[str], closing: str
) -> tuple[dict[str, Any], int]:
    if text.startswith("{", position):
        return _object(text, position)
    arguments: dict[str, Any] = {}
    while match := opening.match(text, position):
        value, end = _until(text, match.end(), closing)
        kind = match.groupdict().get("string")
        _add(arguments, match[1], Raw(value) if kind is None else _typed(value, is_string=kind == "true"))
        position = skip(text, end)
    return arguments, position


def _object(text: str, position: int) -> tuple[dict[str, Any], int]:
    try:
        value, end = read_json_at(text, position)
    except Unreadable as error:
        raise Malformed(f"the arguments of a function are not JSON: {str(error)[:100]}") from error
    return arguments_of(value), end


def _until(text: str, position: int, closing: str) -> tuple[str, int]:
    """The text up to a closing tag, without the line breaks that put it on separate lines.

    There are two of those or none: a break at one end only is a part of the value.

        <parameter=a>⏎1⏎</parameter>      1
        <parameter=a>1⏎</parameter>       1⏎
    """
    end = text.find(closing, position)
    if end < 0:
        raise Malformed(f"expected {closing}")
    separate = _SEPARATE.fullmatch(text, position, end)
    return text[position:end] if separate is None else separate[1] or "", end + len(closing)


_SEPARATE = re.compile(r"\r?\n(?:(.*?)\r?\n)?", re.DOTALL)


def _typed(text: str, *, is_string: bool) -> Any:
    if is_string:
        return text
    try:
        return read_json(text.strip(), unique_keys=True)
    except Unreadable as error:
        raise Malformed(f"a parameter with string=false is not JSON: {str(error)[:100]}") from error


def _add(arguments: dict[str, Any], name: str, value: Any) -> None:
    if name in arguments:
        raise Malformed("an argument is named twice")
    arguments[name] = value


# --- <arg_key>

_KEYED_NAME = re.compile(r"([\w.\-]{1,200})\s*(?:<tool_sep>\s*)?(?=<)")


def keyed(text: str, position: int, prefix: str = "") -> tuple[Call, int]:
    """Read a call that is a name and pairs of the elements `arg_key` and `arg_value`. `prefix` begins their names."""
    name = _KEYED_NAME.match(text, position)
    if name is None:
        raise Malformed("<tool_call> holds no call")
    position = name.end()
    opening, closing = f"<{prefix}arg_key>", f"</{prefix}arg_key>"
    arguments: dict[str, Any] = {}
    while text.startswith(opening, position):
        key, position = _until(text, position + len(opening), closing)
        if not key.strip() or len(key) > _MAX_KEY_CHARS:
            raise Malformed("an argument has no name")
        position = close(text, position, f"<{prefix}arg_value>")
        value, position = _until(text, position, f"</{prefix}arg_value>")
        _add(arguments, key.strip(), Raw(value))
        position = skip(text, position)
    return Call(name[1], arguments), position


_MAX_KEY_CHARS = 200

# --- <invoke name="f">

_INVOKE_NAME = re.compile(r"\"([^\"<>]{1,200})\"\s{0,8}>\s*")
_INVOKE_PARAMETER = re.compile(
    rf"<{_PREFIX}parameter\s{{1,8}}name=\"([^\"<>]{{1,200}})\"(?:\s{{1,8}}string=\"(?P<string>true|false)\")?\s{{0,8}}>"
)


def invoke(text: str, position: int) -> tuple[Call, int]:
    name = _INVOKE_NAME.match(text, position)
    if name is None:
        raise Malformed("an invocation has no name")
    prefix = text[text.rindex("<", 0, position) + 1 : position].split("invoke")[0]
    arguments, position = _object_or_parameters(text, name.end(), _INVOKE_PARAMETER, f"</{prefix}parameter>")
    return Call(name[1], arguments), close(text, position, f"</{prefix}invoke>")
