"""Finds what looks like a call in none of the forms that `forms` reads. It is not an answer without a call.

    elements and tokens   <use_mcp_tool>  <execute>  <|tool_use|>  <<function>>  ✿FUNCTION✿
    elements in elements  <read_file><path>a.py</path></read_file>, of a name with an underscore
    labels                Action: f[a=1]    **Call:** f()    Tool: f⏎Input: {…}    to=functions.f
    a name before JSON    get_weather⏎{"city": "Paris"}
    JSON                  an object with a name and arguments on lines of its own: {"command": "f", "args": {…}}
    names of tools        get_weather(…) or <get_weather> on a line of its own, get_weather(…) in a program that is shown

Names of tools are those that the task lists. A description of a tool, whose parameters are a schema, is not a call.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

from verifiers import code_blocks
from verifiers.rules.documents import Unreadable, read_json_at

_SHOWN_CHARS: Final = 100
_MOST_PLACES: Final = 64
_OBJECT_CHARS: Final = 600

_PART: Final = r"[A-Za-z]{1,20}[_:\-▁]"
_WORD: Final = r"(?:(?:tool|function|invoke|execute)s?(?![A-Za-z])|(?:call|action|api|search)(?=[ :>|]))"
# Action: f[a=1], Action 1: f[a], **Call:** f(), Tool call: `f()`
_LABEL: Final = r"[*_]{0,2}(?:Action|Call|Tool(?:[ _]call)?|Function[ _]call)(?: \d{1,3})?[*_]{0,2}[ \t]?:[*_]{0,2}"
_CALLED: Final = r"[ \t]{0,4}`?[A-Za-z_][\w.\-]{0,200}[ \t]?(?:\([^\n]{0,2000}\)|\[[^\n]{0,2000}\])[`.;]?[ \t]*(?:<|$)"
_GIVEN_BELOW: Final = r"[ \t]{0,4}[A-Za-z_][\w.\-]{0,200}[ \t]*\n[*_]{0,2}(?:Input|Arg(?:ument)?s|Param(?:eter)?s)\b"
_NAME: Final = r"[A-Za-z][A-Za-z\d]{0,40}(?:[_.\-][A-Za-z\d]{1,40}){1,8}"
_PATTERNS: Final = (
    re.compile(rf"^[ \t]{{0,8}}<{{1,2}}\|?/?(?:{_PART}){{0,3}}{_WORD}[^<>\n]{{0,200}}>", re.M | re.I),
    re.compile(rf"^[ \t]{{0,8}}(?:✿FUNCTION✿|{_LABEL}{_CALLED})", re.MULTILINE),
    re.compile(rf"^(?:Tool|Function|Action)[ \t]?:{_GIVEN_BELOW}", re.MULTILINE | re.IGNORECASE),
    re.compile(r"\bto=functions\.\w"),
    re.compile(rf"^<({_NAME})>\s{{0,8}}<(\w{{1,60}})>[^<]{{0,2000}}</\2>", re.MULTILINE),
    re.compile(
        rf"^(?:<\|\w{{1,20}}\|>)?[^\w\n]{{0,4}}{_NAME}[^\w\n=:,\"'`]{{0,4}}\n?\{{\s{{0,8}}\"\w{{1,60}}\"[ \t]?:",
        re.MULTILINE,
    ),
)
_OWN_OBJECT: Final = re.compile(r"^[ \t]{0,8}(?:[-*>+][ \t])?(?:Action:[ \t]?)?\[?\{", re.MULTILINE)
_LINE_ENDS: Final = re.compile(r"[ \t;,\]]*(?:\r?\n|\Z)")
_NAMED: Final = re.compile(r'"(?:name|tool|tool_name|function|action|command|api)"\s?:\s?["{]')
_GIVEN: Final = re.compile(
    r'"(?:arguments|args|parameters|params|input|action_input|tool_input)"\s?:\s?(?!\{\s{0,20}"type")["{\[]'
)
# get_weather(city="Paris"), /get_weather city=Paris, {{get_weather(…)}}, <get_weather>
_OWN_LINE: Final = re.compile(
    r"^[^\w\n]{0,8}([A-Za-z_][\w.\-]{0,200})(?:\(.{0,2000}\)[^\w\n]{0,8}$|>| +\w+=|\n\{)", re.M
)
_IN_PROGRAM: Final = re.compile(r"(?<![\w.])([A-Za-z_][\w.]{0,200})\(")


def unread_call(text: str, listed: Collection[str] = ()) -> str:
    """The beginning of what looks like a call; empty if nothing does.

    Args:
        text: What a response says, without its thinking.
        listed: The names of the task's tools.
    """
    match = next((match for pattern in _PATTERNS if (match := pattern.search(text))), None)
    match = match or next(_objects(text), None) or next(_of_tools(text, listed), None)
    return "" if match is None else match[0].strip()[:_SHOWN_CHARS]


def _objects(text: str) -> Iterator[re.Match[str]]:
    """The beginnings of JSON on lines of its own that names something and gives it arguments."""
    for number, match in enumerate(_OWN_OBJECT.finditer(text)):
        if number >= _MOST_PLACES:
            break
        named = _NAMED.search(text, match.end() - 1, match.end() + _OBJECT_CHARS)
        if (
            named
            and _GIVEN.search(text, named.end(), named.end() + _OBJECT_CHARS)
            and _ends_line(text, match.end() - 1)
        ):
            yield match


def _ends_line(text: str, start: int) -> bool:
    """Whether nothing stands behind the JSON that starts there. One that cannot be read has no end."""
    try:
        _, end = read_json_at(text, start)
    except Unreadable:
        return True
    return _LINE_ENDS.match(text, end) is not None


def _of_tools(text: str, listed: Collection[str]) -> Iterator[re.Match[str]]:
    """Where names of tools stand as calls do."""
    if not listed:
        return
    yield from (match for match in _OWN_LINE.finditer(text) if match[1] in listed)
    for block in code_blocks.blocks(text):
        yield from (match for match in _IN_PROGRAM.finditer(text, block.start, block.end) if match[1] in listed)
