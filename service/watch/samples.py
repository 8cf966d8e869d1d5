"""A sampled response with all that detectors read of it, made of a record of the audit stream."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from service.observe.audit_log import columns
from service.observe.audit_log.records import Record
from service.watch import texts
from service.watch.texts import Hashes, Signature

PAID: Final = 0.5
"""A response with this score or more is paid."""
_SHOWN_CHARS: Final = 600


class Shown(msgspec.Struct, frozen=True):
    """A response in an alarm. With redaction its texts are empty."""

    id: str | int
    step: int | None
    score: float
    prompt: str
    response: str
    reference: str


@dataclass(frozen=True, eq=False)
class Sample:
    """One judged response."""

    id: str | int
    time: str
    item: int
    """How many items of the run were judged before it."""
    step: int | None
    score: float
    prompt: str
    response: str
    """Without its middle if it is long."""
    chars: int
    reference: str
    extracted: str

    @property
    def is_paid(self) -> bool:
        return self.score >= PAID

    @cached_property
    def prompt_key(self) -> int:
        """Tells its task from others; without a prompt, its reference does."""
        return key_of(self.prompt or self.reference)

    @cached_property
    def words(self) -> list[bytes]:
        return texts.words(self.response)

    @cached_property
    def phrases(self) -> Hashes:
        return texts.phrases(self.words)

    @cached_property
    def signature(self) -> Signature:
        return texts.signature(self.phrases)

    @cached_property
    def is_long(self) -> bool:
        """Whether it has words enough to be compared by phrases."""
        return len(self.words) >= texts.MANY_WORDS

    def shown(self, *, redact: bool) -> Shown:
        fields = (self.prompt, self.response, self.reference)
        prompt, response, reference = ("", "", "") if redact else (texts.cut(field, _SHOWN_CHARS) for field in fields)
        return Shown(self.id, self.step, self.score, prompt, response, reference)


def key_of(text: str) -> int:
    """A number that stands for a text, in every process the same."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def sample_of(record: Record, item: int) -> Sample | None:
    """The sample of a record with whole texts. None if it was not judged."""
    if record.score is None:
        return None
    response = record.response or ""
    return Sample(
        record.id,
        record.time,
        item,
        step_of(record.metadata),
        record.score,
        texts.cut(record.prompt or ""),
        texts.cut(response),
        record.response_chars or len(response),
        texts.cut(record.reference or ""),
        (record.extracted or "")[:256],
    )


def step_of(metadata: msgspec.Raw) -> int | None:
    """The step that the metadata of an item names."""
    raw = bytes(metadata)
    if not raw.startswith(b"{") or (b"step" not in raw and b"rollout_id" not in raw):
        return None
    try:
        fields: dict[str, Any] = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return columns.step_of(fields)
