"""Fills prompts, which are templates: a fixed system message, and a user message with slots for quoted data.

A template is filled in one pass: slots are found when the template is compiled, and the data in them is never parsed
again, so that braces in data are text. A slot stands alone on its line and becomes a whole fenced section; `{{name?}}`
is left out, with the blank line after it, if the item has no such data. An unknown or repeated slot, or braces that are
no slot, stop the service when the prompt is loaded.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from verifiers.judge.schemas import SCHEMAS

_ANSWERS: Final = frozenset({"response", "response_a", "steps", "replies"})
SLOTS: Final = ("question", "principle", "reference", "response_b", "criteria", *sorted(_ANSWERS))
_SLOT: Final = re.compile(r"\{\{([a-z_]+)(\??)\}\}")
_REFERENCE: Final = re.compile(r"[a-z0-9_]{1,60}@[0-9]{1,6}")


class BrokenPrompt(Exception):
    """A prompt cannot be used; the service must not start."""


class MissingData(ValueError):
    """An item lacks data that its prompt must show."""


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that passed the checks."""

    name: str
    """The name with its version: `ref_equiv@1`."""
    schema: str
    """The protocol in which it asks for the verdict."""
    system: str
    """The system message, which is the same for every item."""
    user: Sequence[str | Slot] = ()
    roles: Sequence[tuple[str, Slot]] = ()
    """The role and the slot of each message, for a model whose own template makes the prompt from them. Then there is no
    system message, and no fence: the template's control tokens are the fence, and no data can hold them."""
    sha256: str = field(default="")
    """A hash of all its text: equal for equal prompts only."""

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.user if isinstance(part, Slot))

    def shown(self, slot: str, texts: Mapping[str, str]) -> str:
        """The text of a slot.

        Raises:
            MissingData: there is none.
        """
        if slot not in texts:
            raise MissingData(f"prompt {self.name} shows {slot!r}, and the item has none")
        return texts[slot]

    def fill(self, sections: Mapping[str, str]) -> str:
        """The user message; `sections` are whole fenced sections by slot.

        Raises:
            MissingData: there is no section for a slot that needs one.
        """
        pieces: list[str] = []
        for part in self.user:
            if isinstance(part, str):
                pieces.append(part)
            elif part.name in sections or not part.is_optional:
                pieces += self.shown(part.name, sections), "\n\n"
        return "".join(pieces).rstrip("\n")


def compiled(name: str, schema: str, system: str, user: str) -> Prompt:
    """Compile a prompt from its texts.

    Raises:
        BrokenPrompt: the prompt cannot be used; the message says why.
    """
    if not _REFERENCE.fullmatch(name):
        raise BrokenPrompt(f"prompt {name!r}: expected name@version, as in ref_equiv@1")
    system, user = system.strip("\n"), user.strip("\n")
    if not system or "{{" in system or "}}" in system:
        raise BrokenPrompt(f"prompt {name}: its system message is empty or has slots; data belongs to the user message")
    pieces = _parts(name, user)
    slots = [piece.name for piece in pieces if isinstance(piece, Slot)]
    twice = sorted({slot for slot in slots if slots.count(slot) > 1})
    if twice:
        raise BrokenPrompt(f"prompt {name}: the slot {twice[0]!r} occurs twice; use it once")
    schema_kept = SCHEMAS.get(schema)
    answers = _ANSWERS | {"criteria"} if schema_kept is not None and schema_kept.flat else _ANSWERS
    if not answers & set(slots):
        raise BrokenPrompt(f"prompt {name}: nothing of the response is shown; expected one of {sorted(answers)}")
    if ("response_a" in slots) is not ("response_b" in slots):
        raise BrokenPrompt(f"prompt {name}: response_a and response_b come together")
    content = "\0".join((name, schema, system, user))
    return Prompt(name, schema, system, tuple(pieces), sha256=sha256(content.encode()).hexdigest())


def compiled_roles(name: str, schema: str, roles: Sequence[tuple[str, str]]) -> Prompt:
    """Compile a prompt of messages, each with its role and the one slot that it shows.

    Raises:
        BrokenPrompt: as `compiled`.
    """
    user = "\n\n".join(text for _, text in roles)
    checked = compiled(name, schema, "\n".join(role for role, _ in roles), user)
    slots = [part for part in checked.user if isinstance(part, Slot)]
    may_lack = {slot.name for slot in slots if slot.is_optional}
    if not len(slots) == len(checked.user) == len(roles) or not may_lack <= {"principle"}:
        raise BrokenPrompt(
            f"prompt {name}: each message of a role has one slot and no text, and only `principle` may be left out"
        )
    shown = tuple(zip((role for role, _ in roles), slots, strict=True))
    return Prompt(name, schema, "", checked.user, shown, checked.sha256)


def _parts(name: str, user: str) -> list[str | Slot]:
    """The text and the slots of a user message, in order. Blank lines after a slot belong to it."""
    pieces: list[str | Slot] = []
    text: list[str] = []
    after_slot = False
    for line in user.split("\n"):
        slot = _SLOT.fullmatch(line.strip())
        if slot is not None:
            if slot[1] not in SLOTS:
                raise BrokenPrompt(f"prompt {name}: there is no slot {slot[1]!r}; there are {list(SLOTS)}")
            if text:
                pieces.append("".join(text))
            text, after_slot = [], True
            pieces.append(Slot(slot[1], is_optional=bool(slot[2])))
        elif "{{" in line or "}}" in line:
            raise BrokenPrompt(
                f"prompt {name}: a slot stands alone on its line, as in {{{{question}}}}; found {line!r}"
            )
        elif line.strip() or not after_slot:
            text.append(f"{line}\n")
            after_slot = False
    if text:
        pieces.append("".join(text))
    return pieces
