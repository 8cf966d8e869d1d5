"""Reads arguments that are written as bare text inside elements."""

from dataclasses import dataclass
from typing import Any

from propcache.api import cached_property

from verifiers.rules.documents import Unreadable, read_json
from verifiers.rules.tool_call import pythonic
from verifiers.rules.tool_call.calls import Malformed


@dataclass(frozen=True)
class Raw:
    """An argument that is bare text. The text does not show its type: string, number or something else."""

    text: str

    @cached_property
    def readings(self) -> tuple[Any, ...]:
        """The possible values: the text itself, and its value as JSON or Python if that is not a string."""
        stripped = self.text.strip()
        if stripped in _PYTHON_WORDS:
            return (self.text, _PYTHON_WORDS[stripped])
        try:
            value = read_json(stripped, unique_keys=True)
        except Unreadable:
            return (self.text, *_in_python(stripped))
        return (self.text,) if isinstance(value, str) else (self.text, value)


_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def _in_python(text: str) -> tuple[Any, ...]:
    """The value of a list or an object in Python's notation, such as `{'a': True}`.

    Qwen3-Coder's own parser reads this notation, too.
    """
    try:
        return (pythonic.literal(text),)
    except Malformed:
        return ()
