"""Finds blocks that tags mark, and checks that they have content.

A tag is an exact text, such as `<think>`. With other capitals, blanks or attributes it is ordinary text. All searches
use `str.find` and `str.count`, so they take linear time for any response.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

import regex
from pydantic import Field

from verifiers.rules import comments

TagName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.:-]{0,40}$")]

Fault = Literal["missing_tag", "repeated_tag", "text_outside", "wrong_order", "empty_block", "no_answer", "truncated"]


@dataclass(frozen=True, slots=True)
class Tag:
    """A pair of tags with one name."""

    name: str

    @property
    def opening(self) -> str:
        return f"<{self.name}>"

    @property
    def closing(self) -> str:
        return f"</{self.name}>"


def has_substance(text: str) -> bool:
    """Whether a text has a visible letter, digit or sign such as ∞. Space and bare punctuation do not count."""
    return (_ASCII_SUBSTANCE.search(text) or _SUBSTANCE.search(text)) is not None


_ASCII_SUBSTANCE = re.compile(r"[0-9A-Za-z]")
# Invisible letters and signs are left out: the Hangul fillers and the empty Braille pattern.
_SUBSTANCE = regex.compile(
    r"[[\p{L}\p{N}\p{Sm}\p{So}]--[\x00-\x7F\u115F\u1160\u3164\uFFA0\u2800]]", regex.VERSION1 | regex.UNICODE
)


def fault_of_sequence(text: str, tags: tuple[Tag, ...], *, prefilled: bool, tail: bool) -> Fault | None:
    """The fault, if a text is not the sequence of these blocks, each once and with content; else None.

    `prefilled` says that the first opening tag stood in the prompt and must not come again. With `tail`, text must
    follow the last block; otherwise none may follow.
    """
    counted = _fault_of_counts(text, tags, prefilled)
    if counted:
        return counted
    position = 0
    for number, tag in enumerate(tags):
        start = position
        if number or not prefilled:
            start = text.find(tag.opening, position)
            if start < 0:
                return "wrong_order"
            if not _is_space(text[position:start]):
                return "text_outside"
            start += len(tag.opening)
        end = text.find(tag.closing, start)
        if end < 0:
            return "wrong_order"
        if not _says_something(text[start:end]):
            return "empty_block"
        position = end + len(tag.closing)
    tail_text = text[position:]
    if tail:
        return None if _says_something(tail_text) else "no_answer"
    return None if _is_space(tail_text) else "text_outside"


def _says_something(text: str) -> bool:
    """Whether a text has visible content outside comments."""
    return has_substance(comments.shown(text) if text.lstrip().startswith(_COMMENT_BEGINNINGS) else text)


_COMMENT_BEGINNINGS = ("<!--", "[")
"""The beginnings of comments. A block that holds only comments begins with one of them."""


def _is_space(text: str) -> bool:
    return not text or text.isspace()


def hides(text: str) -> bool:
    """Whether a text has invisible characters other than space."""
    return not text.isascii() and _HIDDEN.search(text) is not None


_HIDDEN = re.compile(r"[\u00AD\u200B-\u200F\u2060-\u2064\uFEFF]")


def has_text(text: str) -> bool:
    """Whether a text has characters other than space and invisible ones."""
    return bool(text) and _BLANK.fullmatch(text) is None


_BLANK = re.compile(r"[\s\u00AD\u200B-\u200F\u2060\uFEFF]*+")


def _fault_of_counts(text: str, tags: tuple[Tag, ...], prefilled: bool) -> Fault | None:
    for number, tag in enumerate(tags):
        openings = 0 if prefilled and number == 0 else 1
        opening_count, closing_count = text.count(tag.opening), text.count(tag.closing)
        if opening_count > openings or closing_count > 1:
            return "repeated_tag"
        if closing_count < 1 and (opening_count or prefilled):
            return "truncated"
        if opening_count < openings or closing_count < 1:
            return "missing_tag"
    return None
