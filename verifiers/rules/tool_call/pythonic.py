r"""Reads calls written as Python: `[f(a=1), g(b="x")]`, `f(a=1)`, or several calls on separate lines.

In a list the calls may be strings: `['f(a=1)']`. Names may be escaped as in Markdown, where `_` has a meaning:
`get\_weather(a=1)`; then no underscore of the text is taken with its backslash.

The text is parsed, never evaluated. Arguments must be named, and be literals of JSON's types. Tuples are read as lists,
and `true`, `false` and `null` as in JSON. In a fence for tool calls, Gemini and Gemma print their calls:
`print(f(a=1))`.
"""

import ast
import io
import keyword
import re
import tokenize
import warnings
from itertools import pairwise
from typing import Any

from verifiers.rules.documents import MAX_DEPTH
from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed

MAX_CHARS = 64_000
QUICK_CHARS = 2_000
"""The longest text that is parsed outside of workers. Python's parser may take long for a longer one, or crash."""


def may_be(text: str) -> bool:
    """Whether the text begins as such calls do."""
    return _START.match(text) is not None


def names_arguments(text: str) -> bool:
    """Whether the text begins as a call with named arguments, which no mathematics does."""
    return _NAMED_START.match(text) is not None


def calls_in(text: str, *, printed: bool = False) -> list[Call] | None:
    """The calls that make up a whole text; None if it is something else.

    With `printed`, `print(f(a=1))` is a call of `f`.

    Raises:
        Malformed: the text begins as a call with named arguments, but cannot be read as one.
    """
    if not may_be(text):
        return None
    if len(text) > MAX_CHARS:
        raise Malformed(f"calls in Python's form may have at most {MAX_CHARS} characters")
    try:
        body, prefix = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if names_arguments(text):
            raise Malformed(f"the text is not Python: {str(error)[:100]}") from error
        return None
    nodes: list[ast.expr] = []
    for statement in body:
        if not isinstance(statement, ast.Expr):
            return None
        expression = statement.value
        nodes += expression.elts if isinstance(expression, ast.List | ast.Tuple) else [expression]
    if printed:
        nodes = list(map(_unprinted, nodes))
    nodes = list(map(_unquoted, nodes))
    if not all(isinstance(node, ast.Call) for node in nodes):
        return None
    if len(nodes) > MAX_CALLS:
        raise Malformed(f"there are more than {MAX_CALLS} calls")
    return [_call(node, prefix) for node in nodes if isinstance(node, ast.Call)]


def _unprinted(node: ast.expr) -> ast.expr:
    match node:
        case ast.Call(func=ast.Name(id="print"), args=[ast.Call() as inner], keywords=[]):
            return inner
    return node


def _unquoted(node: ast.expr) -> ast.expr:
    """The call of a string that is one: `'f(a=1)'`.

    Raises:
        Malformed: the string begins as a call with named arguments, but is not Python.
    """
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not names_arguments(node.value):
        return node
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(node.value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"a call in a string is not Python: {str(error)[:100]}") from error


def literal(text: str) -> Any:
    """The value of a list or an object in Python's notation.

    Raises:
        Malformed: the text is something else, or too long to parse here.
    """
    if text[:1] not in ("{", "[") or len(text) > QUICK_CHARS:
        raise Malformed("the text is neither a list nor an object")
    try:
        body, _ = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Malformed(f"the text is not Python: {str(error)[:100]}") from error
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        raise Malformed("the text is neither a list nor an object")
    return _literal(body[0].value)


def _parsed(text: str) -> tuple[list[ast.stmt], str]:
    """The statements of a text, and the prefix of its argument names.

    The prefix is empty unless one of the names is a Python keyword.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if _DASHED.search(text):
            text = _without_dashes(text)
        try:
            return ast.parse(text).body, ""
        except SyntaxError:
            if _ESCAPED in text:
                return _parsed(text.replace(_ESCAPED, "_"))
            if not _WORD_AS_NAME.search(text):
                raise
        return ast.parse(_without_words(text)).body, _PREFIX


_WORD_AS_NAME = re.compile(rf"[(,]\s*(?:{'|'.join(keyword.kwlist)})\s?=(?!=)")
_PREFIX = "argument_"
_ESCAPED = r"\_"

_DASHED = re.compile(r"(?:\A|[\[,;\n])\s*[A-Za-z_][\w.]{0,100}(?:-[\w.]{1,100}){1,20}[ \t]?\(")
_DASH = "\u01c3"
"""A letter that stands for a dash in the name of a function, which Python would read as a minus."""


def _without_dashes(text: str) -> str:
    """The text with `_DASH` for the dashes in names of functions. Strings do not change.

    Raises:
        SyntaxError: the text does not consist of Python's tokens.
    """
    if _DASH in text:
        raise SyntaxError(f"{_DASH!r} cannot stand beside a name with a dash")
    tokens = _tokens(text)
    lines = io.StringIO(text).readlines()
    for left_token, sign, right_token in zip(tokens, tokens[1:], tokens[2:], strict=False):
        is_joined = sign.string == "-" and left_token.end == sign.start and sign.end == right_token.start
        if is_joined and left_token.type == tokenize.NAME and right_token.type == tokenize.NAME:
            row, column = sign.start
            lines[row - 1] = f"{lines[row - 1][:column]}{_DASH}{lines[row - 1][column + 1 :]}"
    return "".join(lines)


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        raise SyntaxError(str(error)[:100]) from error


def _without_words(text: str) -> str:
    """The text with a prefix before every argument's name, so that Python can parse `from=1`. Strings do not change.

    Raises:
        SyntaxError: the text does not consist of Python's tokens.
    """
    tokens = _tokens(text)
    lines = io.StringIO(text).readlines()
    starts_at = [name.start for name, sign in pairwise(tokens) if name.type == tokenize.NAME and sign.string == "="]
    for row, column in reversed(starts_at):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + _PREFIX + line[column:]
    return "".join(lines)


_START = re.compile(r"\s*(?:\[\s*['\"]?)?[A-Za-z_](?:[\w.\-]|\\_){0,200}[ \t]?\(")
_NAMED_START = re.compile(rf"{_START.pattern}\s*[A-Za-z_](?:\w|\\_){{0,200}}\s?=(?!=)")
_MAX_INTEGER_BITS = 14_000
"""The size of the largest integer, as in JSON, where integers have up to 4,300 digits.

Python would read larger ones in base 16.
"""
_WORDS = {"true": True, "false": False, "null": None}


def _call(node: ast.Call, prefix: str) -> Call:
    if node.args:
        raise Malformed("arguments must be named")
    arguments: dict[str, Any] = {}
    for argument in node.keywords:
        if argument.arg is None:
            raise Malformed("arguments must be named one by one; ** is not allowed")
        name = argument.arg.removeprefix(prefix)
        if name in arguments:
            raise Malformed("an argument is named twice")
        arguments[name] = _literal(argument.value)
    return Call(_name(node.func), arguments)


def _name(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise Malformed("the name of a function must be one name, or names joined by dots")
    return ".".join([node.id, *reversed(names)]).replace(_DASH, "-")


def _literal(node: ast.expr, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise Malformed("the arguments of a call are nested too deep")
    match node:
        case ast.Constant(value=None | bool() | int() | str() | float() as value):
            return _finite(value)
        case ast.Name(id=word) if word in _WORDS:
            return _WORDS[word]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as value)):
            if isinstance(value, bool):
                raise Malformed("an argument is not a literal")
            return _finite(-value if isinstance(sign, ast.USub) else value)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(element, depth + 1) for element in elements]
        case ast.Dict(keys=keys, values=values):
            return _mapping(keys, values, depth + 1)
    raise Malformed("an argument is not a literal")


def _mapping(keys: list[ast.expr | None], values: list[ast.expr], depth: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in zip(keys, values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise Malformed("a key of an argument is not a string")
        if key.value in mapping:
            raise Malformed("a key is named twice")
        mapping[key.value] = _literal(value, depth)
    return mapping


def _finite(value: Any) -> Any:
    if (isinstance(value, float) and value - value != 0) or (
        isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS
    ):
        raise Malformed("a number is too large")
    return value
