"""Removes comments of HTML and Markdown, which a reader does not see, outside of code."""

import re
from collections.abc import Mapping
from typing import Any

_TOKEN = re.compile(r"```|`[^`\n]++`|<!--")
_LINK_COMMENT = re.compile(r"^[ ]{0,3}\[[^\]\n]{0,100}\]: (?:#|<>)[ \t]*[(\"'].*$", re.MULTILINE)


def shown(text: str) -> str:
    """The text without its comments. An open comment that begins a line goes on to the end."""
    if not may_be_in(text):
        return text
    pieces: list[str] = []
    start = position = 0
    last = text.rfind("-->")
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[0] == "```":
            closing = text.find("```", position)
            if closing < 0:
                break
            position = closing + 3
        elif token[0] == "<!--":
            if position > last and not _begins_line(text, token.start()):
                continue
            pieces.append(text[start : token.start()])
            start = position = text.index("-->", position) + 3 if position <= last else len(text)
    return _LINK_COMMENT.sub("", "".join([*pieces, text[start:]]))


def may_be_in(text: str) -> bool:
    return "<!--" in text or ("]: " in text and ("]: #" in text or "]: <>" in text))


def is_wanted(arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments of an instruction contain a comment, so that the response should contain one, too."""
    return any(may_be_in(value) for value in arguments.values() if isinstance(value, str))


def _begins_line(text: str, position: int) -> bool:
    lead = text[max(position - _MAX_INDENT - 1, 0) : position]
    return not lead.rpartition("\n")[2].strip() and (position <= _MAX_INDENT or "\n" in lead)


_MAX_INDENT = 3
"""The deepest indentation of text. More deeply indented text is code in Markdown."""
