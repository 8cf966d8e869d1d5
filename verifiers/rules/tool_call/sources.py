"""Reads arguments of BFCL's Java and JavaScript functions: texts that hold a value in that language's notation.

    "5"   "100L"   "2.5f"   "true"   "new int[]{1, 2}"   "new ArrayList<>(Arrays.asList(1, 2))"   '{"a": [1], b: x}'

The declared type decides which notation counts: an `integer` of Java is `5`, a `long` is `5L`. A text in another
notation stays a text, as the name of a variable does. The notations are those of BFCL's own checker
(`java_type_converter` and `js_type_converter` of berkeley-function-call-leaderboard). Lists and objects are parsed here,
so quoted elements, commas in strings and nested values are read where that checker's patterns lose them.

A response may also write its calls in the language, as BFCL's prompts ask for: `[Api.copy(to=new Path("a"), deep=true)]`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from propcache.api import cached_property

from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed
from verifiers.rules.tool_call.raw import Raw

Language = Literal["java", "javascript"]

_MAX_CHARS: Final = 2_000
_MAX_CALLS_CHARS: Final = 16_000
_MAX_DEPTH: Final = 4
_MAX_STEPS: Final = 1_500
"""Half a millisecond. A list of 100 elements takes 1,000."""
_INTEGER: Final = r"-?\d{1,4000}"
_NUMBER: Final = r"-?\d{1,400}(?:\.\d{1,400})?"
_SCIENTIFIC: Final = rf"{_NUMBER}(?:[eE][+-]?\d{{1,3}})?"
_INTEGERS: Final[Mapping[tuple[Language, str], re.Pattern[str]]] = {
    **{("java", kind): re.compile(rf"({_INTEGER})") for kind in ("byte", "short", "integer")},
    ("java", "long"): re.compile(rf"({_INTEGER})[lL]"),
    ("javascript", "integer"): re.compile(rf"({_INTEGER})"),
    ("javascript", "Bigint"): re.compile(rf"({_INTEGER})n"),
}
_FLOATS: Final[Mapping[tuple[Language, str], re.Pattern[str]]] = {
    ("java", "float"): re.compile(rf"({_SCIENTIFIC})[fF]"),
    ("java", "double"): re.compile(rf"({_SCIENTIFIC})"),
    ("javascript", "float"): re.compile(rf"({_NUMBER})"),
}
_WORDS: Final = {"true": True, "false": False}
_TEXTS: Final = frozenset(("any", "String", "char"))
_LISTS: Final = frozenset(("Array", "ArrayList", "array"))
_OBJECTS: Final = frozenset(("HashMap", "dict"))
_OF_BOTH: Final = frozenset(("any", "String", "integer", "float"))
TYPES: Final[Mapping[Language, frozenset[str]]] = {
    "java": _OF_BOTH | {"byte", "short", "long", "double", "boolean", "char", "Array", "ArrayList", "Set", "HashMap"},
    "javascript": _OF_BOTH | {"Bigint", "Boolean", "dict", "array"},
}
"""The names of types in BFCL's Java and JavaScript rows."""
_NOT_PYTHON: Final = frozenset(
    ("String", "byte", "short", "long", "double", "char", "Array", "ArrayList", "Set", "HashMap", "Bigint", "Boolean")
)


@dataclass(frozen=True)
class Declared:
    """The type of an argument; for a list, also that of its elements."""

    kind: str
    inner: str = "any"


@dataclass(frozen=True)
class Source(Raw):
    """An argument that is source text of a language."""

    declared: Declared | None = None
    language: Language | None = None
    """None: it is not known. Then each language's notation counts."""

    @cached_property
    def readings(self) -> tuple[Any, ...]:
        return self._readings(has_more=False)

    @cached_property
    def berkeley_readings(self) -> tuple[Any, ...]:
        """The readings of BFCL's checker: what stands behind a list or an object is left out, in Java what is before it, too."""
        return self._readings(has_more=True)

    def _readings(self, *, has_more: bool) -> tuple[Any, ...]:
        if self.declared is not None and self.language is not None:
            value = _typed(self.text, self.declared, self.language, has_more=has_more)
        else:
            value = _untyped(self.text, self.language)
        return (self.text,) if value == self.text else (self.text, value)

    def is_variable(self, readings: Sequence[Any], values: Sequence[Any]) -> bool:
        """Whether it is a name, where the declared type or the right values are not texts. Names are equal to the letter."""
        if self.declared is None or not all(isinstance(reading, str) for reading in readings):
            return False
        first = next((value for value in values if value != ""), "")
        return self.declared.kind not in _TEXTS or not isinstance(first, str)

    @property
    def name(self) -> str:
        return self.text.strip() if self.language == "javascript" else self.text


def language_of(types: frozenset[str], inner: frozenset[str]) -> Language | None:
    """The language whose types these are; None if they and the types of what is in them may be Python's."""
    types |= inner & _NOT_PYTHON
    if not types & _NOT_PYTHON:
        return None
    return next((language for language, names in TYPES.items() if types <= names), None)


def calls_in(text: str, language: Language) -> list[Call] | None:
    """The calls that make up a whole text in the language's notation, with arguments that are sources.

    None if the text is something else.

    Raises:
        Malformed: an argument is named twice, or there are too many calls.
    """
    if len(text) > _MAX_CALLS_CHARS:
        return None
    try:
        return _Reader(text, None, language).calls()
    except _Unreadable:
        return None


def text_of(value: Any) -> str:
    """The text of an argument. A bare number, word or list in a call is its own source."""
    return value if isinstance(value, str) else json.dumps(value)


def _typed(text: str, declared: Declared, language: Language, *, has_more: bool = False) -> Any:
    kind = declared.kind
    for patterns, convert in ((_INTEGERS, int), (_FLOATS, float)):
        pattern = patterns.get((language, kind))
        if pattern is not None:
            matched = pattern.fullmatch(text)
            return text if matched is None else convert(matched[1])
    if kind.lower() == "boolean":
        return _WORDS.get(text, text)
    if kind in _LISTS or kind in _OBJECTS:
        inner = None if declared.inner == "any" else Declared(declared.inner)
        value = _parsed(text, inner, language, has_more=has_more)
        return value if isinstance(value, list if kind in _LISTS else dict) else text
    return _unquoted(text) if kind == "String" and language == "javascript" else text


def _untyped(text: str, language: Language | None) -> Any:
    """The value of a text whose type is not declared: a number, a word, a list or an object; else the text."""
    if text in _WORDS:
        return _WORDS[text]
    for patterns, convert in ((_INTEGERS, int), (_FLOATS, float)):
        for pattern in [pattern for (of, _), pattern in patterns.items() if language in (None, of)]:
            matched = pattern.fullmatch(text)
            if matched is not None:
                return convert(matched[1])
    for candidate in TYPES if language is None else (language,):
        value = _parsed(text, None, candidate)
        if not isinstance(value, str):
            return value
    return text


def _parsed(text: str, item_type: Declared | None, language: Language, *, has_more: bool = False) -> Any:
    """The list or object that a whole text is, or that is in a text with more around it; else the text."""
    start = (_FIRST_NEW if has_more and language == "java" else _MAY_BE)(text)
    if len(text) > _MAX_CHARS or start is None:
        return text
    try:
        return _Reader(text, item_type, language).collection(start.start(), has_more=has_more)
    except _Unreadable:
        return text


_FIRST_NEW: Final = re.compile(r"\bnew\b").search
_MAY_BE: Final = re.compile(r"\s*(?:[\[{]|new\b)").match


class _Unreadable(Exception):
    """The text is neither a list nor an object."""


class _Reader:
    """Reads one list or object. An element that is not a literal is a text, such as the name of a variable."""

    def __init__(self, text: str, item_type: Declared | None, language: Language) -> None:
        self._text = text
        self._inner = item_type
        self._language = language
        self._place = 0
        self._steps = 0

    def collection(self, start: int, *, has_more: bool) -> Any:
        self._place = start
        value = self._collection(0)
        self._skip(_SPACE)
        if self._place < len(self._text) and not has_more:
            raise _Unreadable
        return value

    def calls(self) -> list[Call]:
        calls: list[Call] = []
        self._skip(_OPEN_CALLS)
        while head := self._skip(_CALL):
            calls.append(Call(head[1], self._arguments()))
            if not self._skip(_BETWEEN_CALLS):
                break
        self._skip(_CLOSE_CALLS)
        if not calls or self._place < len(self._text):
            raise _Unreadable
        if len(calls) > MAX_CALLS:
            raise Malformed(f"there are more than {MAX_CALLS} calls")
        return calls

    def _arguments(self) -> dict[str, Raw]:
        arguments: dict[str, Raw] = {}
        while head := self._skip(_ARGUMENT):
            if head[1] in arguments:
                raise Malformed("an argument is named twice")
            source = self._bare()
            is_quoted = _QUOTED.fullmatch(source) is not None
            arguments[head[1]] = Raw(_unescaped(source) if is_quoted else source)
            if not self._skip(_COMMA):
                break
        self._need(_CLOSE)
        return arguments

    def _collection(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _Unreadable
        self._skip(_SPACE)
        if self._language == "javascript":
            if self._skip(_OPEN_LIST):
                return self._elements("]", depth)
            if self._skip(_NEW_ARRAY):
                return self._elements(")", depth)
            if self._skip(_OPEN_OBJECT):
                return self._members(depth)
            raise _Unreadable
        if self._skip(_JAVA_ARRAY):
            return self._elements("}", depth)
        if self._skip(_JAVA_AS_LIST):
            values = self._elements(")", depth)
            self._need(_CLOSE)
            return values
        if self._skip(_JAVA_LIST):
            return [value for (value,) in self._calls(_ADD, 1, depth)]
        if self._skip(_JAVA_MAP):
            return dict(self._pairs(depth))
        raise _Unreadable

    def _pairs(self, depth: int) -> list[tuple[str, Any]]:
        pairs = self._calls(_PUT, 2, depth)
        if not all(isinstance(key, str) for key, _ in pairs):
            raise _Unreadable
        return [(key, value) for key, value in pairs]

    def _elements(self, end: str, depth: int) -> list[Any]:
        values: list[Any] = []
        self._skip(_SPACE)
        while not self._text.startswith(end, self._place):
            values.append(self._element(depth))
            self._skip(_SPACE)
            if not self._skip(_COMMA):
                break
            self._skip(_SPACE)
        self._need(re.compile(re.escape(end)))
        return values

    def _members(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self._skip(_SPACE)
        while not self._text.startswith("}", self._place):
            key = self._need(_KEY)
            name = _unquoted(key[1])
            if name in members:
                raise _Unreadable
            members[name] = self._element(depth)
            self._skip(_SPACE)
            if not self._skip(_COMMA):
                break
            self._skip(_SPACE)
        self._need(_CLOSE_OBJECT)
        return members

    def _calls(self, head: re.Pattern[str], count: int, depth: int) -> list[list[Any]]:
        """The arguments of the calls in the body of a Java collection, `{{ add(1); add(2); }}`; it may have no body."""
        calls: list[list[Any]] = []
        if not self._skip(_OPEN_BODY):
            return calls
        has_body = bool(self._skip(_OPEN_BODY))
        while self._skip(head):
            calls.append(self._elements(")", depth))
            self._need(_SEMICOLON)
        self._need(_CLOSE_BODY)
        if has_body:
            self._need(_CLOSE_BODY)
        if any(len(arguments) != count for arguments in calls):
            raise _Unreadable
        return calls

    def _element(self, depth: int) -> Any:
        self._skip(_SPACE)
        start = self._place
        try:
            return self._collection(depth + 1)
        except _Unreadable:
            self._place = start
        quoted = self._skip(_QUOTED)
        if quoted is not None and _AT_END.match(self._text, self._place):
            return _unescaped(quoted[0])
        self._place = start
        source = self._bare()
        if self._inner is not None and not depth:
            return _typed(source, self._inner, self._language)
        return _scalar(source)

    def _bare(self) -> str:
        """Any other expression: all up to the comma or bracket behind it."""
        start, open_brackets = self._place, 0
        while self._skip(_PLAIN) and self._place < len(self._text):
            sign = self._text[self._place]
            if sign in "\"'":
                self._need(_QUOTED)
                continue
            if not open_brackets and sign in ",)]};":
                break
            open_brackets += (sign in "([{") - (sign in ")]}")
            self._place += 1
        source = self._text[start : self._place].strip()
        if not source:
            raise _Unreadable
        return source

    def _skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _Unreadable
        matched = pattern.match(self._text, self._place)
        if matched is not None:
            self._place = matched.end()
        return matched

    def _need(self, pattern: re.Pattern[str]) -> re.Match[str]:
        matched = self._skip(pattern)
        if matched is None:
            raise _Unreadable
        return matched


_GIVEN_TYPES: Final = r"<[\w\s,.<>?\[\]]{0,80}>"
_GENERIC: Final = rf"(?:{_GIVEN_TYPES})?"
# In `new HashMap<String, Object>()` the comma separates types.
_PLAIN: Final = re.compile(rf"""(?:[^"'()\[\]{{}},;<]++|{_GIVEN_TYPES}|<)*+""")
_OPEN_CALLS: Final = re.compile(r"\s*+\[?")
_CALL: Final = re.compile(r"\s*+([A-Za-z_$][\w$.]{0,200})[ \t]?\(")
_ARGUMENT: Final = re.compile(r"\s*+([A-Za-z_$][\w$]{0,200})\s*+=(?![=>])")
_BETWEEN_CALLS: Final = re.compile(r"\s*+[,;]?")
_CLOSE_CALLS: Final = re.compile(r"\s*+\]?\s*+")
_SPACE: Final = re.compile(r"\s*+")
_COMMA: Final = re.compile(r",")
_CLOSE: Final = re.compile(r"\s*+\)")
_CLOSE_OBJECT: Final = re.compile(r"\s*+\}")
_SEMICOLON: Final = re.compile(r"\s*+;?\s*+")
_OPEN_BODY: Final = re.compile(r"\s*+\{\s*+")
_CLOSE_BODY: Final = re.compile(r"\s*+\}")
_OPEN_LIST: Final = re.compile(r"\[")
_OPEN_OBJECT: Final = re.compile(r"\{")
_NEW_ARRAY: Final = re.compile(r"new\s++Array\(")
_QUOTED: Final = re.compile(r"""\"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'""", re.DOTALL)
_KEY: Final = re.compile(rf"\s*+({_QUOTED.pattern}|[\w$.\-]++)\s*+:", re.DOTALL)
_AT_END: Final = re.compile(r"\s*+(?:[,)\]};]|\Z)")
_JAVA_ARRAY: Final = re.compile(r"new\s++[\w.]++\s*+\[\s*+\]\s*+\{")
_JAVA_AS_LIST: Final = re.compile(rf"new\s++ArrayList{_GENERIC}\s*+\(\s*+Arrays\.asList\(")
_JAVA_LIST: Final = re.compile(rf"new\s++ArrayList{_GENERIC}\s*+\(\s*+\)")
_JAVA_MAP: Final = re.compile(rf"new\s++HashMap{_GENERIC}\s*+\(\s*+\)")
_ADD: Final = re.compile(r"\s*+add\s*+\(")
_PUT: Final = re.compile(r"\s*+put\s*+\(")
_LITERAL_INTEGER: Final = re.compile(rf"({_INTEGER})[lLn]?")
_LITERAL_FLOAT: Final = re.compile(rf"({_SCIENTIFIC})[fFdD]?")


def _scalar(source: str) -> Any:
    if source in _WORDS:
        return _WORDS[source]
    if matched := _LITERAL_INTEGER.fullmatch(source):
        return int(matched[1])
    if matched := _LITERAL_FLOAT.fullmatch(source):
        return float(matched[1])
    return source


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _unescaped(quoted: str) -> str:
    return re.sub(r"\\([\"'\\])", r"\1", quoted[1:-1])
