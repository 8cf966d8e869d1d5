r"""Computes a score from the probabilities of the labels at the verdict's first token.

The distribution at that token comes from the endpoint's `logprobs.content`, and the spellings of each label are added
up (" A", "a", "\"A"). All labels together must have at least half: with less, the model was about to write something
else. If the probabilities cannot be read (no log-probabilities, a label of several tokens), the label itself counts,
with the flag `no_logprobs`.
"""

import math
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing.labels import read_label
from verifiers.judge.schemas import Kind, Schema

_MIN_MASS: Final = 0.5
_MAX_MASS: Final = 1.02
"""The tolerance for rounded probabilities; beyond it they do not belong to one distribution."""
_WRAPPERS: Final = " \t\r\n*`_'\"[](){}$“”‘’.,:;"
_UNSEEN: Final = 0.01
"""Up to this probability of a digit that may begin a longer number, the longer number is not looked for."""


@dataclass(frozen=True, slots=True)
class Distribution:
    probabilities: Mapping[str, float]
    mass: float


def distribution(
    schema: Schema, logprobs: Any, answer: str, start: int, value: str | int | float
) -> Distribution | None:
    """The distribution of the labels at the token in which the verdict begins; None if it cannot be read.

    `start` is the position of the verdict's first character in `answer`, the visible text.

    Raises:
        Unparseable: low_label_mass.
    """
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(tokens, list):
        return None
    entry = _token_at(tokens, answer, start)
    if entry is None or _label(schema, entry.get("token")) != str(value):
        return None
    masses = dict.fromkeys(_menu(schema), 0.0)
    total = 0.0
    for token, probability in _alternatives(entry):
        total += probability
        label = _label(schema, token)
        if label is not None:
            masses[label] += probability
    if not 0.0 < total <= _MAX_MASS or _is_split_number(masses):
        return None
    mass = sum(masses.values())
    if mass < _MIN_MASS:
        raise Unparseable("low_label_mass", f"the labels have {mass:.2f} of the probability")
    return Distribution({label: mass_of_label / mass for label, mass_of_label in masses.items()}, min(mass, 1.0))


def expected(schema: Schema, probabilities: Mapping[str, float]) -> float:
    """The mean score of the labels."""
    if schema.kind is Kind.NUMBER:
        score = sum(schema.worth(float(label)) * probability for label, probability in probabilities.items())
    else:
        score = sum(schema.scores[label] * probability for label, probability in probabilities.items())
    return min(1.0, max(0.0, score))


def _menu(schema: Schema) -> list[str]:
    if schema.kind is Kind.NUMBER:
        return [str(number) for number in range(int(schema.low), int(schema.high) + 1)]
    return list(schema.scores)


def _token_at(tokens: list[Any], answer: str, start: int) -> Mapping[str, Any] | None:
    """The token that holds the character at `start`; the tokens are compared with the text byte by byte."""
    pieces = [_bytes(token) for token in tokens]
    if any(piece is None for piece in pieces):
        return None
    token_bytes = b"".join(piece for piece in pieces if piece is not None)
    base = token_bytes.rfind(answer.encode("utf-8", "surrogatepass"))
    if base < 0:
        return None
    position = base + len(answer[:start].encode("utf-8", "surrogatepass"))
    end = 0
    for token, piece in zip(tokens, pieces, strict=True):
        end += len(piece or b"")
        if position < end:
            return token if isinstance(token, Mapping) else None
    return None


def _bytes(token: Any) -> bytes | None:
    if not isinstance(token, Mapping):
        return None
    raw_bytes = token.get("bytes")
    if isinstance(raw_bytes, list) and all(type(value) is int and 0 <= value < 256 for value in raw_bytes):
        return bytes(raw_bytes)
    text = token.get("token")
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else None


def _alternatives(entry: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Each possible token once; the chosen one is included even if it is not in the list."""
    listed = entry.get("top_logprobs")
    tokens: set[str] = set()
    for alternative in (*(listed if isinstance(listed, list) else ()), entry):
        token = alternative.get("token") if isinstance(alternative, Mapping) else None
        logprob = alternative.get("logprob") if isinstance(alternative, Mapping) else None
        if not isinstance(token, str) or token in tokens or isinstance(logprob, bool):
            continue
        if isinstance(logprob, int | float) and not math.isnan(logprob):
            tokens.add(token)
            yield token, math.exp(min(logprob, 1.0))


def _label(schema: Schema, token: Any) -> str | None:
    """The label that a token alone stands for, in any spelling."""
    if not isinstance(token, str):
        return None
    bare = unicodedata.normalize("NFKC", token).strip(_WRAPPERS)
    if schema.kind is Kind.NUMBER:
        return bare if bare in _menu(schema) else None
    try:
        return read_label(schema, bare)
    except Unparseable:
        return None


def _is_split_number(masses: Mapping[str, float]) -> bool:
    """Whether a first digit may belong to a longer number: "10" is two tokens for some models."""
    return any(
        masses[digit] > _UNSEEN and masses[longer] == 0.0
        for longer in masses
        if len(longer) > 1 and longer.isdigit() and (digit := longer[0]) in masses
    )
