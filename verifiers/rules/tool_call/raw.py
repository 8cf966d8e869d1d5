"""Arguments written as bare text, as elements hold them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verifiers.rules.documents import Unreadable, read_json
from verifiers.rules.tool_call import pythonic
from verifiers.rules.tool_call.calls import Malformed


@dataclass(frozen=True)
class Raw:
    """An argument whose text does not say whether it is a string, a number or something else."""

    text: str

    @cached_property
    def readings(self) -> tuple[Any, ...]:
        """The text itself, and the value it is the JSON (or Python's notation) of, unless that is a string."""
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
    """Of a list or an object; Qwen3-Coder writes some as `{'a': True}`, and its own parser reads that."""
    try:
        return (pythonic.literal(text),)
    except Malformed:
        return ()
