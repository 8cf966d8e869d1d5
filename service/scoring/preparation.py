"""Makes items ready for verifiers: finds the verifier, types its parameters, computes the key.

Training batches repeat themselves: all answers to one prompt share reference and parameters. Their decoded form is
remembered by their bytes, so that most items cost one look-up and one hash here.

The key is a hash of everything that may change the verdict: verifier, version, validated parameters (so that both
doors and every spelling of the same JSON share entries), whether an explanation is wanted, the prompt where the
verifier uses it, and the response. BLAKE3 (O'Connor et al., 2020) cut to 160 bits: the cache is shared and responses are
adversarial, so it must be a cryptographic hash; SHA-256 takes five times as long for a response of 4 kB.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from blake3 import blake3

from fairness import TENANT
from memory import size_of
from service.recipes.book import Book
from service.scoring.composition import Composed, Plan
from service.scoring.lru import LruCache, Memories
from service.scoring.planning import Planner
from service.scoring.prepared_item import ConfiguredVerifier, PreparedItem, configure, decoded, decoded_params
from service.tenant import owned
from service.wire import ABSENT, DAMAGED, Message, ScoreItem, encode, messages_of
from verifiers.base import InvalidItem, Verdict
from verifiers.conversation import Conversation, dialects, plain
from verifiers.registry import Registry

KEY_BYTES = 20
MEMO_BYTES = 32_000_000
LARGE_BYTES = 128_000
"""An item of this size takes 1 ms if it holds texts, and 5 ms if it holds nothing but empty objects."""
_PLAIN_TEXT = 8
"""A text that is not decoded any more takes an eighth of the time."""
_MESSAGE_BYTES = 1_000
"""To read a message takes as long as to read a text of this size."""
_PACKED = re.compile(rb'"e[A-P]')
"""The beginning of tests that are packed by zlib, in base64: to open them takes long, however short they are."""
_NO_ANSWER = Verdict.wrong("no_answer")
_REPLACEMENT = "\ufffd"
"""What stands for half a character of a response."""
_CONVERSATIONS = msgspec.json.Decoder(Conversation)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why an item cannot be judged, as text. It is not kept as an exception, because an exception that is
    raised again and again gathers tracebacks.
    """

    reason: str
    message: str


class SharedReferences:
    """The references that a request sends once for many of its items, and what was made of them.

    Items look it up by the name of their reference: to look up a large text takes as long as to read it.
    """

    __slots__ = ("_raws", "_texts", "configured", "plans")

    def __init__(self, raws: Mapping[str, msgspec.Raw]) -> None:
        self._raws = raws
        self._texts: dict[str, bytes] = {}
        self.configured: dict[tuple[object, ...], ConfiguredVerifier | Refusal] = {}
        self.plans: dict[tuple[object, ...], Plan | Refusal] = {}

    def text(self, name: str) -> bytes | None:
        text = self._texts.get(name)
        if text is None and (raw := self._raws.get(name)) is not None:
            text = self._texts[name] = bytes(raw)
        return text

    def unread_bytes(self, item: ScoreItem) -> int:
        """The size of the item's reference, if nothing was made of it yet."""
        raw = None if item.reference_id is None else self._raws.get(item.reference_id)
        if raw is None or _shared_key(item) in self.configured:
            return 0
        return len(raw)

    def is_packed(self, item: ScoreItem) -> bool:
        """Whether the item's reference holds packed tests, and nothing was made of it yet."""
        raw = None if item.reference_id is None else self._raws.get(item.reference_id)
        return raw is not None and _shared_key(item) not in self.configured and _PACKED.search(raw) is not None


def is_large(item: ScoreItem, references: SharedReferences) -> bool:
    """Whether it takes long to make the item ready."""
    size = references.unread_bytes(item) + len(item.reference) + len(item.params) + len(item.checks)
    size += len(item.ground_truth) + len(item.test_cases) + len(item.evaluation_criteria)
    for text in (item.response, item.prompt, item.messages):
        if isinstance(text, str):
            size += len(text) // _PLAIN_TEXT
        elif text is not None:
            size += len(text) * _MESSAGE_BYTES + sum(len(str(message.get("content", ""))) for message in text)
    item_fields = (item.reference, item.ground_truth, item.test_cases)
    return size > LARGE_BYTES or any(map(_PACKED.search, item_fields)) or references.is_packed(item)


class Preparation:
    """Turns items into prepared items. It remembers decoded references and parameters."""

    def __init__(
        self,
        registry: Registry,
        book: Book,
        max_response_bytes: int,
        memories: Memories | None = None,
        *,
        by_tenant: bool = False,
    ) -> None:
        """`by_tenant`: nothing is shared between tenants, neither verdicts nor what is remembered of parameters."""
        self._memories = Memories(by_tenant=by_tenant) if memories is None else memories
        self._registry = registry
        self._planner = Planner(registry, book)
        self._max_response_chars = max_response_bytes
        self._by_tenant = by_tenant
        self._configured: LruCache[ConfiguredVerifier | Refusal] = LruCache(
            "parameters", MEMO_BYTES, _kind_of_configured, _size_of_configured
        )
        self._plans: LruCache[Plan | Refusal] = LruCache("plans", MEMO_BYTES, _kind_of_plan, _size_of_plan)

    def use(self, book: Book) -> None:
        """Put other recipes and routes in force from the next item on."""
        self._planner = Planner(self._registry, book)
        self._plans.clear()

    def prepare(
        self, item: ScoreItem, references: SharedReferences, *, explain: bool, share: bool
    ) -> PreparedItem | Composed:
        """The prepared item.

        Raises:
            InvalidItem: the item cannot be judged as it is. The error says why.
        """
        if memoryview(item.group).nbytes:
            raise InvalidItem("bad_group", "group: members of groups are taken by /v1/score and /v1/jobs")
        reference = bytes(item.reference) if item.reference_id is None else _shared_reference(item, references)
        if _is_plain(item):
            configured = self._configure(item, reference, references)
            response = self._response(item.response)
            return self._prepared(configured, response, self._prompt(item, configured, explain), explain, share)
        plan = self._plan(item, reference, references)
        response = self._response(item.response)
        prepared_items = tuple(
            self._prepared(configured, response, self._prompt(item, configured, explain), explain, share)
            for configured in plan.verifiers
        )
        return Composed(plan, prepared_items)

    def _prepared(
        self,
        configured: ConfiguredVerifier,
        response: str | Conversation,
        prompt: str | None,
        explain: bool,
        share: bool,
    ) -> PreparedItem:
        unread = None
        if isinstance(response, str):
            text, conversation = response if configured.reads_text else "", None
        elif (unread := _unjudged(configured, response)) is not None:
            text, conversation = "", None
        elif configured.entry.verifier.judges_calls:
            text, conversation = response.text("last"), response
        else:
            text, conversation = response.text(configured.params.turn), None
        key = None
        owner = owned("") if self._by_tenant or configured.is_opinion else ""
        if share and configured.is_shared:
            prefix = configured.prefix
            if explain:
                prefix = blake3(prefix + b"explain").digest()
            if prompt is not None:
                prefix = blake3(prefix + prompt.encode()).digest()
            if owner:
                prefix = blake3(prefix + b"tenant" + owner.encode()).digest()
            judged = text.encode()
            if conversation is not None:  # no text's key begins like this
                prefix, judged = blake3(prefix + b"conversation").digest(), encode(conversation)
            key = blake3(prefix + judged).digest(KEY_BYTES)
        return PreparedItem(configured, text, prompt, explain, key, conversation, unread, owner)

    def _configure(self, item: ScoreItem, reference: bytes, references: SharedReferences) -> ConfiguredVerifier:
        assert item.verifier is not None
        shared = None if item.reference_id is None else _shared_key(item)
        cached = None if shared is None else references.configured.get(shared)
        if cached is None:
            key_fields = (item.verifier, reference, bytes(item.params))
            key = (*key_fields, owned("")) if self._by_tenant else key_fields
            cached = self._configured.get(key)
            if cached is None:
                with self._memories.of(TENANT.get()):
                    cached = self._found(*key_fields)
                self._configured.put(key, cached)
            if shared is not None:
                references.configured[shared] = cached
        if isinstance(cached, Refusal):
            raise InvalidItem(cached.reason, cached.message)
        return cached

    def _found(self, name: str, reference: bytes, params: bytes) -> ConfiguredVerifier | Refusal:
        try:
            entry = self._registry.find(name)
            fields = decoded_params(params)
            if reference:
                fields["reference"] = decoded(reference, "reference")
            return configure(entry, fields)
        except InvalidItem as error:
            return Refusal(error.reason, str(error))

    def _plan(self, item: ScoreItem, reference: bytes, references: SharedReferences) -> Plan:
        key_fields = (
            *(item.verifier, item.recipe, bytes(item.checks), item.domain, item.data_source, item.tag),
            *(bytes(item.ground_truth), bytes(item.params), bytes(item.test_cases), item.case_type),
            *(item.test_case_function, bytes(item.evaluation_criteria), item.difficulty),
            *(tuple(item.reward_weights.items()) if item.reward_weights else None, bytes(item.reward_clip)),
            owned("") if self._by_tenant else "",
        )
        shared = None if item.reference_id is None else (item.reference_id, *key_fields)
        cached = None if shared is None else references.plans.get(shared)
        if cached is None:
            key = (reference, *key_fields)
            cached = self._plans.get(key)
            if cached is None:
                try:
                    with self._memories.of(TENANT.get()):
                        cached = self._planner.plan(item, reference)
                except InvalidItem as error:
                    cached = Refusal(error.reason, str(error))
                self._plans.put(key, cached)
            if shared is not None:
                references.plans[shared] = cached
        if isinstance(cached, Refusal):
            raise InvalidItem(cached.reason, cached.message)
        return cached

    def _prompt(self, item: ScoreItem, configured: ConfiguredVerifier, explain: bool) -> str | None:
        if not (configured.uses_prompt or explain):
            return None
        prompt = item.prompt if item.prompt is not None else item.messages
        if prompt is None:
            return None
        if prompt is item.messages and isinstance(prompt, str):
            prompt = messages_of(prompt) or prompt
        return self._text(prompt if isinstance(prompt, str) else str(dialects.read(prompt)), "prompt")

    def _response(self, value: str | list[Message]) -> str | Conversation:
        """The response as text, or as a conversation. Messages that are no more than one text become that text."""
        if isinstance(value, str):
            return self._mended(value)
        conversation = dialects.read(value)
        if not conversation.turns:
            raise InvalidItem("no_response", "the response is a list of messages without an assistant message")
        text = plain(conversation)
        if text is not None:
            return self._mended(text)
        encoded = encode(conversation)
        self._check_size(len(encoded), "response")
        if DAMAGED.encode() in encoded:
            return _CONVERSATIONS.decode(encoded.replace(DAMAGED.encode(), _REPLACEMENT.encode()))
        return conversation

    def _mended(self, response: str) -> str:
        """A response's text. A model may write half a character, so it is judged with U+FFFD in its place."""
        self._check_size(len(response), "response")
        return response.replace(DAMAGED, _REPLACEMENT) if DAMAGED in response else response

    def _text(self, text: str, field: str) -> str:
        self._check_size(len(text), field)
        if DAMAGED in text:
            raise InvalidItem(
                "invalid_text", f"the {field} holds a lone surrogate at character {text.index(DAMAGED)}: half of a pair"
            )
        return text

    def _check_size(self, chars: int, field: str) -> None:
        if chars > self._max_response_chars:
            raise InvalidItem(
                f"{field}_too_large", f"the {field} has {chars} characters; at most {self._max_response_chars}"
            )


def _kind_of_configured(entry: ConfiguredVerifier | Refusal) -> str:
    return "" if isinstance(entry, Refusal) else entry.name


def _size_of_configured(entry: ConfiguredVerifier | Refusal) -> int:
    return size_of(entry) if isinstance(entry, Refusal) else _CONFIGURED_BYTES + size_of(entry.params)


def _kind_of_plan(entry: Plan | Refusal) -> str:
    return "" if isinstance(entry, Refusal) else entry.verifiers[0].name


def _size_of_plan(entry: Plan | Refusal) -> int:
    return size_of(entry) if isinstance(entry, Refusal) else sum(map(_size_of_configured, entry.verifiers))


_CONFIGURED_BYTES = 500
"""A configured verifier without its parameters: two hashes, and fields that it shares."""


def _is_plain(item: ScoreItem) -> bool:
    """Whether the item names a verifier and brings a reference, and nothing of a recipe or a row."""
    return (
        item.verifier is not None
        and item.recipe is None
        and item.checks is ABSENT
        and item.reward_clip is ABSENT
        and item.ground_truth is ABSENT
        and item.test_cases is ABSENT
        and item.evaluation_criteria is ABSENT
        and item.reward_weights is None
    )


def _shared_key(item: ScoreItem) -> tuple[object, ...]:
    return item.verifier, item.reference_id, bytes(item.params)


def _shared_reference(item: ScoreItem, references: SharedReferences) -> bytes:
    assert item.reference_id is not None
    if bytes(item.reference):
        raise InvalidItem("ambiguous", "the item has a reference and a reference_id; it must have one")
    text = references.text(item.reference_id)
    if text is None:
        raise InvalidItem("unknown_reference", f"the request's references hold no {item.reference_id[:100]!r}")
    return text


def _unjudged(configured: ConfiguredVerifier, response: Conversation) -> Verdict | None:
    """The verdict on a response with parts that the verifier would ignore: calls, images and others.

    Raises:
        InvalidItem: the parameters ask to refuse such responses.
    """
    verifier, params = configured.entry.verifier, configured.params
    if verifier.judges_calls or not (kinds := response.unjudged(params.turn)):
        return None
    if params.unfinished == "refuse":
        raise InvalidItem(
            "unjudged_parts",
            f"{verifier.name} judges text, and the assistant's message has {', '.join(kinds)}; tool_call and trajectory "
            'judge calls; without params.unfinished "refuse", such a response is wrong',
        )
    return _NO_ANSWER if kinds == ["tool_calls"] else Verdict.wrong("unjudged_parts", unjudged=kinds)
