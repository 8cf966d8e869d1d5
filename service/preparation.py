"""From an item as it came to what a verifier takes: the verifier found, its parameters typed, the key computed.

Training batches repeat themselves: all answers to one prompt share reference and parameters. What those two become is
remembered by their bytes, so that most items cost one look-up and one hash here.

The key is a hash of everything that may change the verdict: verifier, version, validated parameters (so that both
doors and every spelling of the same JSON share entries), whether an explanation is wanted, the prompt where the
verifier uses it, and the response. SHA-256 cut to 160 bits: the cache is shared and responses are adversarial.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from pydantic import ValidationError

from service.wire import DAMAGED, DAMAGED_JSON, Message, ScoreItem
from verifiers.base import InvalidItem, Item, Params
from verifiers.registry import Entry, Registry

KEY_BYTES = 20
MEMO_BYTES = 64_000_000
_MEMO_ENTRY_OVERHEAD_BYTES = 1_500
_MAX_ERRORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a verifier, reference and parameters cannot judge. Remembered as text: an exception that is raised again
    and again gathers tracebacks.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Judge:
    """A verifier with its parameters, and the hash of both that begins every key."""

    entry: Entry
    params: Params
    prefix: bytes
    explain_prefix: bytes


class Prepared(msgspec.Struct, frozen=True):
    """An item that can be judged; `key` is None where its verdict may not be shared."""

    judge: Judge
    response: str
    prompt: str | None
    explain: bool
    key: bytes | None

    def item(self) -> Item[Any]:
        return Item(self.response, self.judge.params, self.prompt, self.explain)


class Preparation:
    """Turns items into prepared ones; remembers what references and parameters became."""

    def __init__(self, registry: Registry, max_response_bytes: int) -> None:
        self._registry = registry
        self._max_response_chars = max_response_bytes
        self._memo: OrderedDict[tuple[str, bytes, bytes], Judge | Refusal] = OrderedDict()
        self._memo_bytes = 0

    def prepare(
        self, item: ScoreItem, references: Mapping[str, msgspec.Raw], *, explain: bool, share: bool
    ) -> Prepared:
        """The item made ready.

        Raises:
            InvalidItem: it cannot be judged as it is; says why.
        """
        judge = self._judge(item, references)
        response = self._text(item.response, "response")
        verifier = judge.entry.verifier
        with_prompt = item.prompt is not None and (verifier.uses_prompt or explain)
        prompt = self._text(item.prompt, "prompt") if with_prompt else None
        key = None
        if share and verifier.deterministic:
            prefix = judge.explain_prefix if explain else judge.prefix
            if prompt is not None:
                prefix = hashlib.sha256(prefix + prompt.encode()).digest()
            key = hashlib.sha256(prefix + response.encode()).digest()[:KEY_BYTES]
        return Prepared(judge, response, prompt, explain, key)

    def _judge(self, item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> Judge:
        if item.verifier is None or item.recipe is not None:
            raise _unroutable(item)
        reference = bytes(item.reference)
        if item.reference_id is not None:
            reference = _shared_reference(item, references)
        memo_key = (item.verifier, reference, bytes(item.params))
        known = self._memo.get(memo_key)
        if known is None:
            known = self._resolve(*memo_key)
            self._remember(memo_key, known)
        else:
            self._memo.move_to_end(memo_key)
        if isinstance(known, Refusal):
            raise InvalidItem(known.reason, known.message)
        return known

    def _resolve(self, name: str, reference: bytes, params: bytes) -> Judge | Refusal:
        try:
            entry = self._registry.find(name)
            typed = _typed_params(entry.verifier.params, reference, params)
        except InvalidItem as error:
            return Refusal(error.reason, str(error))
        verifier = entry.verifier
        try:
            canonical = typed.model_dump_json().encode()
        except (ValueError, RecursionError) as error:
            return Refusal("bad_params", f"the parameters cannot be written as JSON: {error}")
        head = f"{len(verifier.name)}:{verifier.name}{len(verifier.version)}:{verifier.version}".encode()
        return Judge(
            entry,
            typed,
            hashlib.sha256(b"judge" + head + canonical).digest(),
            hashlib.sha256(b"explain" + head + canonical).digest(),
        )

    def _remember(self, key: tuple[str, bytes, bytes], value: Judge | Refusal) -> None:
        self._memo[key] = value
        self._memo_bytes += _memo_cost(key)
        while self._memo_bytes > MEMO_BYTES:
            oldest, _ = self._memo.popitem(last=False)
            self._memo_bytes -= _memo_cost(oldest)

    def _text(self, value: str | list[Message] | None, field: str) -> str:
        text = value if isinstance(value, str) else _last_assistant_text(value or []) if field == "response" else None
        if text is None:
            assert isinstance(value, list)
            text = "\n\n".join(f"{message.role}: {message.text()}" for message in value)
        if len(text) > self._max_response_chars:
            raise InvalidItem(
                f"{field}_too_large", f"the {field} has {len(text)} characters; at most {self._max_response_chars}"
            )
        if DAMAGED in text:
            raise InvalidItem(
                "invalid_text", f"the {field} holds a lone surrogate at character {text.index(DAMAGED)}: half of a pair"
            )
        return text


def _memo_cost(key: tuple[str, bytes, bytes]) -> int:
    # The typed parameters hold the same texts again.
    return 2 * (len(key[1]) + len(key[2])) + _MEMO_ENTRY_OVERHEAD_BYTES


def _unroutable(item: ScoreItem) -> InvalidItem:
    if item.recipe is not None and item.verifier is not None:
        return InvalidItem("ambiguous", "the item names a verifier and a recipe; it must name exactly one")
    if item.recipe is not None:
        return InvalidItem("unknown_recipe", f"no recipe {item.recipe[:100]!r}; there are []")
    labels = {name: getattr(item, name) for name in ("domain", "data_source", "tag")}
    shown = {name: value for name, value in labels.items() if value is not None}
    return InvalidItem("unroutable", f"the item names no verifier, and no route matches {shown}; there is no default")


def _shared_reference(item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> bytes:
    assert item.reference_id is not None
    if bytes(item.reference):
        raise InvalidItem("ambiguous", "the item has a reference and a reference_id; it must have one")
    found = references.get(item.reference_id)
    if found is None:
        raise InvalidItem("unknown_reference", f"the request's references hold no {item.reference_id[:100]!r}")
    return bytes(found)


def _typed_params(model: type[Params], reference: bytes, params: bytes) -> Params:
    fields = _decode(params, "params") if params else {}
    if not isinstance(fields, dict):
        raise InvalidItem("bad_params", f"params must be an object, found {type(fields).__name__}")
    if "reference" in fields:
        raise InvalidItem("bad_params", "params.reference: the reference belongs beside params, not in it")
    if reference:
        fields["reference"] = _decode(reference, "reference")
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _invalid_params(error) from error


def _invalid_params(error: ValidationError) -> InvalidItem:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    about_reference = all(problem["loc"][:1] == ("reference",) for problem in problems)
    shown = [f"{'.'.join(map(str, _loc(problem['loc'])))}: {problem['msg']}" for problem in problems]
    more = f" (and {len(shown) - _MAX_ERRORS_SHOWN} more)" if len(shown) > _MAX_ERRORS_SHOWN else ""
    reason = "bad_reference" if about_reference else "bad_params"
    return InvalidItem(reason, "; ".join(shown[:_MAX_ERRORS_SHOWN]) + more)


def _loc(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    return loc if loc[:1] == ("reference",) else ("params", *loc)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise ValueError(f"{text[:40]} is not a finite number")
    return value


_decoder = msgspec.json.Decoder(float_hook=_finite)


def _decode(raw: bytes, field: str) -> Any:
    try:
        value = _decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidItem("bad_json", f"{field} is not acceptable JSON: {error}") from error
    if DAMAGED_JSON in raw:
        raise InvalidItem("invalid_text", f"{field} holds a lone surrogate: half of a pair")
    return value


def _last_assistant_text(messages: list[Message]) -> str:
    for message in reversed(messages):
        if message.role == "assistant":
            return message.text()
    raise InvalidItem("no_response", "the response is a list of messages without an assistant message")
