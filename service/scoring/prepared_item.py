"""An item that is ready to be judged: its response, and its verifier with checked parameters."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec
from blake3 import blake3
from pydantic import ValidationError

from service.json_slices import excess
from service.wire import DAMAGED_JSON, CacheMode
from verifiers import shapes
from verifiers.base import InvalidItem, Item, Params, Verdict
from verifiers.conversation import Conversation
from verifiers.mistakes import sentences
from verifiers.near_names import near
from verifiers.registry import Entry

_MAX_ERRORS_SHOWN = 3


class ConfiguredVerifier(msgspec.Struct, frozen=True, eq=False):
    """A verifier with its parameters, and the hash of both that begins every key."""

    entry: Entry
    name: str
    """The verifier's name. `version` is the verifier's version."""
    version: str
    params: Params
    prefix: bytes
    is_shared: bool
    """Whether verdicts may be cached and shared between equal items."""
    is_opinion: bool
    """Whether verdicts are shared only within a tenant."""
    uses_prompt: bool
    reads_text: bool
    """Whether a text response holds the turn that is judged."""
    obstacle: Verdict | None
    """The verdict on every response, if none can be judged."""


class PreparedItem(msgspec.Struct, frozen=True, gc=False):
    """A response and its verifier. `key` is None if the verdict may not be shared."""

    configured: ConfiguredVerifier
    response: str
    prompt: str | None
    explain: bool
    key: bytes | None
    conversation: Conversation | None = None
    unread: Verdict | None = None
    """The verdict on a response that the verifier cannot read, if it judges the empty response in its place: whether a task
    is judged is not for the response to say.
    """
    owner: str = ""
    """Whose answers of judge models may be used."""

    def item(self, deadline: float | None = None, cache: CacheMode = "use") -> Item[Any]:
        return Item(
            *(self.response, self.configured.params, self.prompt, self.explain, deadline, cache, self.conversation),
            self.owner,
        )


def configure(entry: Entry, fields: Mapping[str, Any]) -> ConfiguredVerifier:
    """The verifier with these parameters, the reference among them.

    Raises:
        InvalidItem: the verifier does not take the parameters. The error says which is wrong and why.
    """
    verifier = entry.verifier
    _refuse_unknown(fields, verifier.params)
    try:
        typed = shapes.typed(verifier.params, fields)
    except ValidationError as error:
        raise _invalid_params(error, fields, verifier.params) from error
    try:
        canonical = typed.as_json()
    except (ValueError, RecursionError) as error:
        raise InvalidItem("bad_params", f"the parameters cannot be written as JSON: {error}") from error
    name, version = verifier.name, verifier.version
    head = f"judge{len(name)}:{name}{len(version)}:{version}"
    is_shared, is_opinion, uses_prompt = verifier.deterministic, verifier.is_opinion, verifier.uses_prompt
    for helper in verifier.judged_with(typed):
        head += f"{len(helper.name)}:{helper.name}{len(helper.version)}:{helper.version}"
        is_shared = is_shared and helper.deterministic
        is_opinion = is_opinion or helper.is_opinion
        uses_prompt = uses_prompt or helper.uses_prompt
    return ConfiguredVerifier(
        entry,
        name,
        version,
        typed,
        blake3(head.encode() + canonical).digest(),
        is_shared,
        is_opinion,
        uses_prompt,
        typed.turn in ("last", "all", 1),
        verifier.obstacle(typed),
    )


def decoded_params(params: bytes) -> dict[str, Any]:
    """The item's own parameters. Missing parameters are an empty object.

    Raises:
        InvalidItem: the parameters are not an object, or hold the reference.
    """
    fields = decoded(params, "params") if params else {}
    if not isinstance(fields, dict):
        raise InvalidItem("bad_params", f"params must be an object, found {type(fields).__name__}")
    if "reference" in fields:
        raise InvalidItem("bad_params", "params.reference: the reference belongs beside params, not in it")
    return fields


def decoded(raw: bytes, field: str) -> Any:
    """The value of a field that travelled as JSON.

    Raises:
        InvalidItem: the JSON cannot be read, or holds too much.
    """
    if much := excess(raw):
        raise InvalidItem("too_many_values", f"{field} holds {much}")
    try:
        value = _decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidItem("bad_json", f"{field} is not acceptable JSON: {error}") from error
    if DAMAGED_JSON in raw:
        raise InvalidItem("invalid_text", f"{field} holds a lone surrogate: half of a pair")
    return value


def _invalid_params(error: ValidationError, fields: Mapping[str, Any], kind: type[Params]) -> InvalidItem:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    about_reference = all(problem["loc"][:1] == ("reference",) for problem in problems)
    lines = sentences(error, fields, root="params", beside="reference", fields=kind.model_fields)
    note = f" (and {len(lines) - _MAX_ERRORS_SHOWN} more)" if len(lines) > _MAX_ERRORS_SHOWN else ""
    return InvalidItem(
        "bad_reference" if about_reference else "bad_params", "; ".join(lines[:_MAX_ERRORS_SHOWN]) + note
    )


def _refuse_unknown(fields: Mapping[str, Any], kind: type[Params]) -> None:
    """Refuse parameters with many unknown names before they are read. A few are reported with what else is wrong."""
    if len(fields) <= _MAX_ERRORS_SHOWN or kind.model_config.get("extra") != "forbid":
        return
    param_names = shapes.names(kind)
    surplus = len(fields) - sum(name in fields for name in param_names) - _MAX_ERRORS_SHOWN
    if surplus <= 0:
        return
    unknown = islice((name for name in fields if name not in param_names), _MAX_ERRORS_SHOWN)
    messages = [f"params.{name[:100]}: no such parameter{near(name, param_names)}" for name in unknown]
    raise InvalidItem("bad_params", f"{'; '.join(messages)} (and {surplus} more)")


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0.0:
        raise ValueError(f"{text[:40]} is not a finite number")
    return value


_decoder = msgspec.json.Decoder(float_hook=_finite)
