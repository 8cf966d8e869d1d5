"""Reads labels: the whole value must be one entry of the menu, in one of its spellings.

The value is not searched. A value that names a label among other words ("A or B", "not A", the menu itself) is
ambiguous, and one that names none is off the menu; "A: CORRECT" is a label twice, "A: INCORRECT" contradicts itself.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from memory import remember
from verifiers.judge.errors import Unparseable
from verifiers.judge.schemas import Schema

_MAX_CHARS: Final = 200
_YES_NO: Final = frozenset({"YES", "NO"})
_WRAPPERS: Final = " \t\r\n*`_'\"[](){}$“”‘’"
_COMMANDS: Final = re.compile(r"(?:\\|\x08)(?:boxed|oxed|text|textbf|mathrm)(?=\s*\{)")
r"""LaTeX around a label; in JSON an unescaped `\\b` has become a backspace."""
_SEPARATORS: Final = re.compile(r"[:：;,，()\[\]{}|/\n]|\s[-–—]+\s|\.\s")
_MENU: Final = re.compile(r"[|/]|\A[,;:，]|[,;，]\Z")
"""A menu, or a list that continues."""
_SPACES: Final = re.compile(r"(?<=\w)[\s_-]+(?=\w)|\s+")
_SIGNS: Final = re.compile(r" ?([<>=]{1,3}) ?")
_HIDDEN: Final = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060"))


def read_label(schema: Schema, value: Any) -> str:
    """The label of a value.

    Raises:
        Unparseable: schema_mismatch, ambiguous.
    """
    if isinstance(value, bool) and schema.scores.keys() >= _YES_NO:
        return "YES" if value else "NO"
    if not isinstance(value, str):
        raise Unparseable("schema_mismatch", f"expected one of {list(schema.scores)}, found {type(value).__name__}")
    if len(value) > _MAX_CHARS:
        raise Unparseable("ambiguous", "a text where a label was asked for")
    text = unicodedata.normalize("NFKC", value.translate(_HIDDEN))
    text = _COMMANDS.sub("", text)
    names = _names(schema)
    label = names.get(_bare(text))
    if label is not None:
        return label
    words = [word for word in map(_bare, _SEPARATORS.split(text)) if word]
    labels = {names.get(word) for word in words}
    qualified = {schema.qualifiers.get(word) for word in words if names.get(word) is None}
    if _MENU.search(text.strip(_WRAPPERS)) or len(set(words)) < len(words):
        qualified.add(None)
    if None not in qualified and len(candidates := (labels | qualified) - {None}) == 1 and labels != {None}:
        return str(candidates.pop())
    if mentions(schema, text):
        raise Unparseable("ambiguous", "a label among other words")
    raise Unparseable("schema_mismatch", f"expected one of {list(schema.scores)}")


def mentions(schema: Schema, text: str) -> bool:
    """Whether a label occurs in a text as a word. A one-letter label must be a capital, because "a" is an article."""
    pattern = _mention(tuple(schema.scores), tuple(schema.aliases))
    return pattern.search(unicodedata.normalize("NFKC", text)) is not None


def begins_with_label(schema: Schema, text: str) -> bool:
    """Whether the first word is a label, so that a verdict was given before other text."""
    first = text[:_MAX_CHARS].split(maxsplit=1)[0]
    return _bare(first.rstrip(",;:")) in _names(schema)


def _bare(text: str) -> str:
    """The value without wrappers and a final full stop, in lower case."""
    stripped = text.strip(_WRAPPERS)
    if stripped[-1:] in (".", "。", "!") and stripped[-2:-1] != stripped[-1:]:
        stripped = stripped[:-1].rstrip(_WRAPPERS)
    return _SIGNS.sub(r"\1", _SPACES.sub(" ", stripped.casefold())).strip()


def _names(schema: Schema) -> Mapping[str, str]:
    return _folded(tuple(schema.scores), tuple(schema.aliases.items()))


@remember(256)
def _folded(labels: tuple[str, ...], aliases: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return {_bare(label): label for label in labels} | {_bare(alias): label for alias, label in aliases}


@remember(256)
def _mention(labels: tuple[str, ...], aliases: tuple[str, ...]) -> re.Pattern[str]:
    words = [_word(name) for name in (*labels, *aliases)]
    return re.compile("|".join(words))


def _word(name: str) -> str:
    if not name.isascii():
        return re.escape(name)
    pattern = rf"(?<![^\W_]){re.escape(name)}(?![^\W_])".replace(r"\ ", r"[\s_-]+")
    return pattern if len(name) == 1 else f"(?i:{pattern})"
