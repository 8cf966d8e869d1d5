"""Cuts the JSON of a large batch into slices, so that no step of its decoding takes long, and bounds what it holds.

A slice is small, and so is what a decoder makes of it, whatever it holds. There are two ways to the slices:

guessed    items look alike: where the first one begins with `{"verifier":`, others do. A slice up to such a place is
           decoded as a list. That it can be decoded proves the guess: within a text or below an item it could not.
walked     otherwise each bracket and text is passed, one after the other. This takes ten times as long, and counts.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from service.errors import BadRequest, TooLarge
from service.system_random import SYSTEM_RANDOM

SLICE_BYTES: Final = 300_000
"""Bytes that are decoded in one step: 0.4 ms for texts, 4 ms for empty lists."""
MAX_VALUES: Final = 250_000
"""Values in one field of an item, or in a body that is read as a whole. Each takes up to 200 bytes in memory."""
MAX_IN_ITEM: Final = 100_000
"""Lists and objects in one item of a large batch."""
MAX_CONTAINERS: Final = 1_000_000
"""Lists and objects in one batch."""
MAX_TOKENS: Final = 2_000_000
"""Texts, lists and objects in a batch that is walked through."""
MAX_ITEM_BYTES: Final = 24_000_000
"""One item of a batch: a response of four million characters takes up to 16 MB."""
MAX_DIGITS: Final = 500
"""Numbers of half as many digits are cheap. To read or write a longer one takes time by the square of its length."""
MAX_LONG_NUMBERS_BYTES: Final = 65_536
"""What such numbers may take in one item or field: about a millisecond."""
CONTAINER_BYTES: Final = 100
"""What a list or an object takes in memory."""
_MAX_DEPTH: Final = 500
_MAX_GAP: Final = 65_536
"""The most bytes between two brackets or commas that belong to no text: they are spaces, or a number beyond all measure."""
_WINDOW: Final = 65_536
_STEP_TOKENS: Final = 4_000
_STEP_BYTES: Final = 250_000
_SPACE: Final = rb"[ \t\r\n]{0,64}"
_HEAD: Final = re.compile(rb'"items"%b:%b\[' % (_SPACE, _SPACE))
_HEAD_BYTES: Final = 65_536
_LIST: Final = re.compile(rb"%b\[" % _SPACE)
_FIRST_KEY: Final = re.compile(rb'%b\{%b("[A-Za-z_]{1,40}")%b:' % (_SPACE, _SPACE, _SPACE))
_IS_ITEMS: Final = re.compile(rb'"items"%b:%b\Z' % (_SPACE, _SPACE))
_TOKEN: Final = re.compile(rb'["\[\]{},]')
_BRACKET: Final = re.compile(rb'["\[\]{}]')
_TEXT: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_LIGHT_BYTES: Final = 2_500_000
_LIGHT_SHARE: Final = 0.05
"""The share of commas and brackets in a light body. Mathematics in LaTeX has 0.04."""
_SAMPLES: Final = 32
_SAMPLE_BYTES: Final = 512
_WHOLE_TEXT: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_FEW_QUOTES: Final = 20_000
_GRID: Final = MAX_DIGITS // 2
_DIGITS: Final = b"0123456789"
_ALL_DIGITS: Final = re.compile(rb"[0-9]{2,}")
_NOT_MARKS: Final = bytes(set(range(256)) - set(b"[{,"))
_NOT_OPEN: Final = bytes(set(range(256)) - set(b"[{"))


def containers(text: bytes) -> int:
    """How many lists and objects a JSON text holds, at most: brackets within its texts count, too."""
    return len(text.translate(None, _NOT_OPEN))


def is_light(body: bytes) -> bool:
    """Whether a body may be decoded in one step: it is not large, and most of it is text. Counting would take
    as long as decoding, so some of it is looked at, in places that nobody can foresee.
    """
    if len(body) <= SLICE_BYTES:
        return True
    if len(body) > _LIGHT_BYTES:
        return False
    drawn = memoryview(SYSTEM_RANDOM.randbytes(4 * _SAMPLES)).cast("I")
    offsets = [number % (len(body) - _SAMPLE_BYTES) for number in drawn]
    marks = sum([len(body[start : start + _SAMPLE_BYTES].translate(None, _NOT_MARKS)) for start in offsets])
    return marks <= _SAMPLES * _SAMPLE_BYTES * _LIGHT_SHARE


def digits_bytes(text: bytes) -> int:
    """About how many bytes runs of more than `MAX_DIGITS` digits take, until they are more than `MAX_LONG_NUMBERS_BYTES`. Such
    a run fills the whole of a square of a grid. So does many a shorter one.
    """
    size = 0
    for row in _ALL_DIGITS.finditer(text[::_GRID]):  # two digits at the corners of each such square
        for corner in range(row.start() * _GRID, (row.end() - 1) * _GRID, _GRID):
            if text[corner : corner + _GRID].isdigit() and _digits_around(text, corner) > MAX_DIGITS:
                size += _GRID
                if size > MAX_LONG_NUMBERS_BYTES:
                    return size
    return size


def _digits_around(text: bytes, corner: int) -> int:
    """The digits of a run that fills a square, with those in the squares beside it."""
    head, tail = text[max(0, corner - _GRID) : corner], text[corner + _GRID : corner + 2 * _GRID]
    return _GRID + len(head) - len(head.rstrip(_DIGITS)) + len(tail) - len(tail.lstrip(_DIGITS))


def has_long_numbers(text: bytes) -> bool:
    """Whether the numbers of more than `MAX_DIGITS` digits in a JSON text take too long. Digits within its texts do not
    count.
    """
    if len(text) <= MAX_LONG_NUMBERS_BYTES or digits_bytes(text) <= MAX_LONG_NUMBERS_BYTES:
        return False
    return digits_bytes(_WHOLE_TEXT.sub(b"", text)) > MAX_LONG_NUMBERS_BYTES


def excess(text: bytes, max_values: int = MAX_VALUES) -> str | None:
    """What a JSON text holds too much of, if anything."""
    if is_too_much(text, max_values):
        return f"more than {max_values} values"
    if has_long_numbers(text):
        return f"more than {MAX_LONG_NUMBERS_BYTES} bytes of numbers with more than {MAX_DIGITS} digits; write them as texts"
    return None


def is_too_much(text: bytes, max_values: int = MAX_VALUES) -> bool:
    """Whether a JSON text holds more values. Commas and brackets within its texts do not count, unless it has
    too many texts to tell.
    """
    if len(text) <= max_values:
        return False
    marks = quotes = 0
    for start in range(0, len(text), _STEP_BYTES):
        part = text[start : start + _STEP_BYTES]
        marks += len(part.translate(None, _NOT_MARKS))
        quotes += part.count(b'"') - part.count(b'\\"')
        if marks >= max_values and (quotes == 0 or quotes > _FEW_QUOTES):
            return True
    if marks < max_values:
        return False
    return len(_WHOLE_TEXT.sub(b"", text).translate(None, _NOT_MARKS)) >= max_values


@dataclass(frozen=True, slots=True)
class Guess:
    """Where the items of a body begin, and what they look like."""

    start: int
    """Behind the bracket of the list."""
    is_list: bool
    """Whether the body is the list itself."""
    between: re.Pattern[bytes]

    def cuts(self, body: bytes, start: int) -> Iterator[tuple[int, int]]:
        """Places where a slice may end and the next one begins."""
        for cut in self.between.finditer(body, start + SLICE_BYTES, start + 2 * SLICE_BYTES):
            yield cut.start() + 1, cut.end()


def guess(body: bytes) -> Guess | None:
    """The way to cut a body whose items look alike. The caller must prove what is before the items."""
    is_list = False
    head = _HEAD.search(body, 0, _HEAD_BYTES)
    if head is None:
        head, is_list = _LIST.match(body), True
    if head is None:
        return None
    first = _FIRST_KEY.match(body, head.end())
    if first is None:
        return None
    between = rb"\}%b,%b(?=\{%b%b%b:)" % (_SPACE, _SPACE, _SPACE, re.escape(first[1]), _SPACE)
    return Guess(head.end(), is_list, re.compile(between))


@dataclass(slots=True)
class Walk:
    """Finds the items of a body without a guess."""

    body: bytes
    items: list[tuple[int, int]] | None = None
    """Start and end of each item. None: there is no list of items."""
    start: int = 0
    end: int = 0
    """Of the list, within its brackets."""
    containers: int = 0
    most_in_item: int = 0
    digits: int = 0
    """What its long numbers take, in bytes."""
    most_digits: int = 0
    """In an item."""
    _level: int = -1
    """The depth within the list of items: 1 if it is the body. -1: not within it."""
    _ends: list[int] = field(default_factory=list)

    async def go(self) -> None:  # noqa: C901  # one branch for each kind of token
        """Walk through the whole body.

        Raises:
            BadRequest: it cannot be JSON.
            TooLarge: it holds too many lists and objects.
        """
        body = self.body
        at, tokens, stepped, depth, containers_before, digits_before = 0, 0, 0, 0, 0, 0
        while True:
            pattern = _TOKEN if depth <= max(self._level, 0) else _BRACKET
            near = pattern.search(body, at, at + _WINDOW)
            token_at = near.start() if near is not None else await self._next(pattern, at)
            if token_at is None:
                return
            token = body[token_at]
            if token_at - at > MAX_DIGITS:
                if near is not None:  # else they were counted on the way
                    self.digits += digits_bytes(body[at:token_at])
                self.most_digits = max(self.most_digits, self.digits - digits_before)
            at = token_at + 1
            if token == 0x22:  # a text
                end = _TEXT.match(body, at, at + _WINDOW).end()  # type: ignore[union-attr]  # it matches nothing, too
                at = end + 1 if body[end : end + 1] == b'"' else await self._behind_text(at)
            elif token == 0x2C:  # a comma
                if depth == self._level:
                    self._ends.append(token_at)
                    digits_before = self.digits
            elif token in b"[{":
                if token == 0x5B and (depth == 0 or (depth == 1 and self._level != 1 and self._is_items(token_at))):
                    if self.items is not None:
                        raise BadRequest("the body has two lists of items; send one")
                    self._level, self.start, self._ends = depth + 1, at, []
                elif depth == self._level:
                    containers_before = self.containers
                depth += 1
                self.containers += 1
                if depth > _MAX_DEPTH:
                    raise BadRequest("the body is nested too deeply")
                if self.containers > MAX_CONTAINERS:
                    raise TooLarge(f"the body holds more than {MAX_CONTAINERS} lists and objects; split the batch")
            else:
                if depth == self._level and token == 0x5D:
                    self.end = token_at
                    self._ends.append(token_at)
                    self._keep()
                    self._level = -1 if depth == 2 else self._level
                depth -= 1
                if depth == self._level:
                    self.most_in_item = max(self.most_in_item, self.containers - containers_before)
            tokens += 1
            if tokens > MAX_TOKENS:
                raise TooLarge(f"the body holds more than {MAX_TOKENS} texts, lists and objects; split the batch")
            if tokens % _STEP_TOKENS == 0 or at - stepped > _STEP_BYTES:
                stepped = at
                await asyncio.sleep(0)

    @property
    def is_list(self) -> bool:
        """Whether the body is the list itself."""
        return self._level == 1

    def _keep(self) -> None:
        item_starts = [self.start, *(end + 1 for end in self._ends[:-1])]
        self.items = list(zip(item_starts, self._ends, strict=True))
        if self.end - self.start <= _MAX_GAP and not self.body[self.start : self.end].strip():
            self.items = []

    def _is_items(self, bracket: int) -> bool:
        return _IS_ITEMS.search(self.body, max(0, bracket - 256), bracket) is not None

    async def _next(self, pattern: re.Pattern[bytes], at: int) -> int | None:
        """The next token outside of texts. It is far away."""
        match = None
        while match is None and at < len(self.body):
            if at + _MAX_GAP < len(self.body) and _TOKEN.search(self.body, at, at + _MAX_GAP) is None:
                raise BadRequest(f"the body holds {_MAX_GAP} bytes of spaces, or of one number, from byte {at} on")
            self.digits += digits_bytes(self.body[at : at + _MAX_GAP])
            at += _MAX_GAP
            match = pattern.search(self.body, at, at + _MAX_GAP)
            await asyncio.sleep(0)
        return None if match is None else match.start()

    async def _behind_text(self, at: int) -> int:
        """The place behind the text that begins here."""
        windows = 0
        while True:
            text = _TEXT.match(self.body, at, at + _WINDOW)
            end = at if text is None else text.end()
            if end < len(self.body) and self.body[end] == 0x22:
                return end + 1
            if end == at or end >= len(self.body):
                raise BadRequest(f"the body is not valid JSON: the text that begins at byte {at} has no end")
            at = end
            windows += 1
            if windows % 8 == 0:
                await asyncio.sleep(0)
