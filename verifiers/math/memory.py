"""What is kept from item to item: first looks by parameters, and references that were found sound."""

import hashlib
import re
from collections.abc import Sequence

from verifiers.commitment import ExtractionParams
from verifiers.math.exact import is_number
from verifiers.math.first_look import FirstLook, Terms
from verifiers.math.params import MathParams


class KnownLooks:
    """The first looks by parameters seen lately: all samples of one prompt come with the same parameters."""

    _MOST = 4096
    _MAX_CHARS = 2000

    def __init__(self) -> None:
        self._known: dict[int, tuple[MathParams, FirstLook]] = {}
        """By the parameters' address, which stays theirs while they are held here."""

    def by(self, params: MathParams) -> FirstLook:
        known = self._known.get(id(params))
        if known is not None:
            return known[1]
        extraction = params.model_dump_json(include=_EXTRACTION_FIELDS)
        terms = Terms([sendable(reference) for reference in params.references], params.options, extraction)
        look = FirstLook(terms)
        if sum(map(len, terms.references)) <= self._MAX_CHARS:
            if len(self._known) >= self._MOST:
                self._known.clear()
            self._known[id(params)] = params, look
        return look


_EXTRACTION_FIELDS = set(ExtractionParams.model_fields)


class SoundReferences:
    """References that a worker has found sound; so that the next answer written alike need not go there."""

    _MOST = 100_000

    def __init__(self) -> None:
        self._keys: set[bytes] = set()

    def add(self, references: Sequence[str]) -> None:
        if len(self._keys) >= self._MOST:
            self._keys.clear()
        self._keys.update(map(_key, references))

    def has(self, references: Sequence[str]) -> bool:
        return all(is_number(reference) or _key(reference) in self._keys for reference in references)


_SURROGATE = re.compile("[\ud800-\udfff]")


def sendable(text: str) -> str:
    """Without lone surrogates, which no encoding carries and no answer needs."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def _key(reference: str) -> bytes:
    return hashlib.sha256(reference.encode()).digest()[:16]
