"""Receipts: what judged a response, and by which versions, so that the verdict can be judged again and nobody can alter it.

    {"receipt": 1, "id": ..., "request_id": ..., "nonce": ..., "time": ...,
     "inputs": {"response": SHA-256, "reference": ..., "prompt": ..., "params": ...},
     "verdict": {"status": "ok", "score": 1.0, "reward": 1.0, "reason": "correct"},
     "versions": {"math": "28", "recipe think_math": "5f0c…"}, "release": "0.2.0",
     "judge": {"profile": ..., "prompt": ..., "prompt_sha256": ..., "endpoints": [{"name", "model", "revision"}], "seed": 0},
     "algorithm": "hmac-sha256", "key": "a1b2c3d4", "signature": ...}

Hashes are those of the canonical JSON (RFC 8785) of what the item holds; the signature is over that of the receipt without
`signature`. No text of a response is in it, and no secret.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from memory import remember
from service.recipes.book import Book
from service.versions.canonical_json import canonical
from service.versions.locks import Lock, version_of
from service.wire import DAMAGED, DAMAGED_JSON, Result, ScoreItem

FORM: Final = 1
FIELD: Final = "receipt"
"""Its place in the detail of a verdict."""
VERDICT: Final = ("status", "score", "reward", "reason")
JUDGES: Final = ("verifier", "version", "recipe")
"""The fields of a result that say what has judged it."""
LOGGED: Final = ("response", "reference", "prompt", "params")
"""The parts of an item that the audit log holds, too."""
_HOW: Final = (
    *("checks", "evaluation_criteria", "case_type", "test_case_function"),
    *("reward_weights", "reward_clip"),
)
"""The further fields that decide how an item is judged, under their own names."""
PARTS: Final = (*LOGGED, *_HOW)
_REFERENCES: Final = ("reference", "ground_truth", "test_cases")
_NOTHING: Final = (msgspec.Raw(b""), msgspec.Raw(b"null"))
_NEEDED: Final = frozenset({"receipt", "inputs", "verdict", "versions", "release", "time", "nonce", "algorithm"})
_MIN_SECRET_BYTES: Final = 16
_MAX_ID_CHARS: Final = 256
_NONE: Final = "none"

Json = dict[str, Any]


class BadKeyFile(ValueError):
    """The file holds no key for receipts. The message says what it must hold."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that signs receipts, or checks them."""

    algorithm: str
    name: str
    """The beginning of the SHA-256 of the public key, or of that of the secret. It tells keys apart."""
    sign: Callable[[bytes], bytes] | None
    verify: Callable[[bytes, bytes], bool]


def read_key(path: Path) -> Key:
    """The key in a file: an Ed25519 key as PEM (private, or public to check with), or any other text as the secret of HMAC.

    Raises:
        BadKeyFile
    """
    try:
        content = path.read_bytes().strip()
    except OSError as error:
        raise BadKeyFile(f"{path}: {error.strerror}") from error
    if content.startswith(b"-----BEGIN"):
        return _ed25519(path, content)
    if len(content) < _MIN_SECRET_BYTES:
        raise BadKeyFile(f"{path} needs a secret of at least {_MIN_SECRET_BYTES} bytes, or an Ed25519 key as PEM")

    def sign(message: bytes) -> bytes:
        return hmac.digest(content, message, "sha256")

    name = hmac.digest(content, b"name of the key", "sha256").hex()[:8]
    return Key("hmac-sha256", name, sign, lambda message, mark: hmac.compare_digest(sign(message), mark))


def _ed25519(path: Path, content: bytes) -> Key:
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra (oidc) brings it
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
            Ed25519PrivateKey,
            Ed25519PublicKey,
        )
    except ImportError as error:
        raise BadKeyFile(f"{path}: Ed25519 needs the package cryptography: pip install cryptography") from error
    try:
        if b"PRIVATE KEY" in content.splitlines()[0]:
            private = serialization.load_pem_private_key(content, None)
            public = private.public_key()
        else:
            private, public = None, serialization.load_pem_public_key(content)
    except (ValueError, TypeError) as error:
        raise BadKeyFile(f"{path}: {error}") from error
    if not isinstance(public, Ed25519PublicKey):
        raise BadKeyFile(f"{path} holds a key of another kind than Ed25519")
    raw = public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)

    def verify(message: bytes, mark: bytes) -> bool:
        try:
            public.verify(mark, message)
        except InvalidSignature:
            return False
        return True

    sign = private.sign if isinstance(private, Ed25519PrivateKey) else None
    return Key("ed25519", hashlib.sha256(raw).hexdigest()[:8], sign, verify)


def digest(value: Any) -> str:
    """The SHA-256 of the canonical JSON of a value, which may have travelled as JSON."""
    if isinstance(value, msgspec.Raw):
        return _digest_of(bytes(value))
    return hashlib.sha256(canonical(value)).hexdigest()


def inputs_of(item: Mapping[str, Any]) -> Json:
    """The hashes of what an item was judged by."""
    fields = {name: value for name, value in item.items() if value is not None and value not in _NOTHING}
    params = fields.get("params")
    inputs = {
        "response": fields.get("response"),
        "reference": next((fields[name] for name in _REFERENCES if name in fields), None),
        "prompt": fields.get("prompt", fields.get("messages")),
        "params": None if not params or params == msgspec.Raw(b"{}") else params,
        **{name: fields.get(name) for name in _HOW},
    }
    return {name: digest(value) for name, value in inputs.items() if value is not None}


@remember(1024)
def _digest_of(raw: bytes) -> str:
    """The digest of a value that travelled as JSON. All responses to a prompt have the same reference."""
    return digest(msgspec.json.decode(raw.replace(DAMAGED_JSON, b"\\ufffd")))


def _inputs(item: ScoreItem, references: Mapping[str, msgspec.Raw]) -> Json:
    """The same of an item as it came."""
    names = ("response", "prompt", "messages", "params", *_REFERENCES, *_HOW)
    fields = {name: _sound(getattr(item, name)) for name in names}
    if item.reference in _NOTHING and item.reference_id is not None:
        fields["reference"] = references.get(item.reference_id)
    return inputs_of(fields)


class Receipts:
    """Makes the receipts of a service."""

    def __init__(
        self,
        release: str,
        key: Key | None,
        judge_of: Callable[[Mapping[str, Any]], Json | None],
    ) -> None:
        """
        Args:
            release: The version of this server.
            key: Signs. None: receipts have no signature.
            judge_of: What is known of the judge models of a verdict, from its detail.
        """
        self._release = release
        self._key = key
        self._versions: tuple[Book | None, dict[str, str]] = (None, {})
        self._judge_of = judge_of

    def stamp(
        self,
        item: ScoreItem,
        references: Mapping[str, msgspec.Raw],
        result: Result,
        book: Book,
        request_id: str,
        lock: Lock | None = None,
    ) -> None:
        """Put the receipt of a result into its detail. With `lock` the release of the lock has judged the item."""
        try:
            inputs = _inputs(item, references)
        except (ValueError, msgspec.MsgspecError):
            return  # the item is `invalid`: it is not JSON
        body: Json = {
            "receipt": FORM,
            "id": _sound(result.id) if isinstance(result.id, int) else _sound(result.id)[:_MAX_ID_CHARS],
            "request_id": request_id,
            "nonce": secrets.token_hex(12),
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "inputs": inputs,
            "verdict": {name: getattr(result, name) for name in VERDICT},
            "versions": versions_of(msgspec.structs.asdict(result), partial(self._recipe_version, book, lock)),
            "release": self._release if lock is None else lock.release,
            "algorithm": _NONE if self._key is None else self._key.algorithm,
        }
        if (judge := self._judge_of(result.detail)) is not None:
            body["judge"] = judge
        if self._key is not None and self._key.sign is not None:
            body["key"] = self._key.name
            body["signature"] = base64.b64encode(self._key.sign(canonical(body))).decode()
        result.detail = {**result.detail, FIELD: body}

    def _recipe_version(self, book: Book, lock: Lock | None, name: str) -> str | None:
        if lock is not None:
            return lock.versions.get(f"recipe {name}")
        cached_book, versions = self._versions
        if cached_book is not book:
            versions = {}
            self._versions = (book, versions)
        if name not in versions and name in book.recipes:
            versions[name] = version_of(book.recipes[name])
        return versions.get(name)


def versions_of(result: Mapping[str, Any], recipe_version: Callable[[str], str | None]) -> dict[str, str]:
    """The versions of all that made a result: its verifiers, and its recipe."""
    checks = [result, *(result.get("checks") or ())]
    versions = {str(check["verifier"]): str(check["version"]) for check in checks if check.get("verifier")}
    recipe = result.get("recipe")
    version = None if recipe is None else recipe_version(recipe)
    return versions if version is None else {**versions, f"recipe {recipe}": version}


def _sound(value: Any) -> Any:
    """The value without the mark for half a character, which must not become known outside."""
    if isinstance(value, str):
        return value.replace(DAMAGED, "\ufffd") if DAMAGED in value else value
    if isinstance(value, dict):
        return {_sound(name): _sound(member) for name, member in value.items()}
    return [_sound(member) for member in value] if isinstance(value, list) else value


def problems_of(
    receipt: Any,
    item: Mapping[str, Any],
    result: Mapping[str, Any],
    key: Key | None,
    parts: Sequence[str] = PARTS,
) -> list[str]:
    """What is wrong with a receipt, in words. Nothing is judged.

    Args:
        receipt: As it was found.
        item: The item that it is said to be of.
        result: The verdict that it is said to be of; empty if only the receipt is at hand.
        key: Checks the signature. None: signatures are not checked.
        parts: Those that the item would hold.
    """
    if not isinstance(receipt, dict) or receipt.get("receipt") != FORM:
        return ["it is not a receipt of this form"]
    missing = sorted(_NEEDED - receipt.keys())
    if receipt.get("algorithm") != _NONE:
        missing += sorted({"key", "signature"} - receipt.keys())
    if missing:
        return [f"it is cut: it lacks {', '.join(missing)}"]
    problems = [] if key is None else _signature_problems(receipt, key)
    inputs, verdict = receipt["inputs"], receipt["verdict"]
    if not all(isinstance(receipt[name], dict) for name in ("inputs", "verdict", "versions")):
        return [*problems, "its inputs, its verdict or its versions are not objects"]
    try:
        own_inputs = inputs_of(item)
    except ValueError as error:
        return [*problems, f"the item is not JSON: {error}"]
    problems += [
        f"it does not match the item's `{part}`"
        for part in parts
        if own_inputs.get(part) != inputs.get(part) and not _may_be(item, part, inputs)
    ]
    problems += _judge_problems(receipt, item, result)
    problems += [
        f"it says {name} {verdict.get(name)!r}, the verdict says {result[name]!r}"
        for name in VERDICT
        if name in result and result[name] != verdict.get(name)
    ]
    return problems


def _judge_problems(receipt: Mapping[str, Any], item: Mapping[str, Any], result: Mapping[str, Any]) -> list[str]:
    """What a receipt says otherwise of the item's name, and of what judged it."""
    named = receipt.get("id")
    problems = [
        f"it is of the {noun} {named!r}, not of {own!r:.80}"
        for noun, own in (("item", item.get("id")), ("result", result.get("id")))
        if isinstance(own, str | int) and str(named) != str(_sound(own))[:_MAX_ID_CHARS]
    ]
    if receipt["verdict"].get("status") != "ok":
        return problems  # perhaps nothing has judged it
    versions = receipt["versions"]
    named_judges = {result.get("verifier"): result.get("version")} if result.get("verifier") else {}
    if result.get("recipe"):
        named_judges[f"recipe {result['recipe']}"] = versions.get(f"recipe {result['recipe']}")
    problems += [
        f"the result is by {name} {version or ''}, and the receipt names {', '.join(map(str, versions))}"
        for name, version in named_judges.items()
        if version is None or versions.get(name) != version
    ]
    recipe, verifier = item.get("recipe"), item.get("verifier")
    judge = f"recipe {recipe}" if recipe is not None else verifier
    by_others = recipe is None and verifier is not None and any(name.startswith("recipe ") for name in versions)
    if judge is not None and (judge not in versions or by_others):
        problems.append(f"the item names {judge}, and it was judged by {', '.join(map(str, versions))}")
    return problems


def _may_be(item: Mapping[str, Any], part: str, inputs: Mapping[str, Any]) -> bool:
    """Whether the audit log, which keeps references as text, may hold this part of the item."""
    value = item.get(part)
    if part != "reference" or not isinstance(value, str):
        return False
    try:
        return digest(msgspec.json.decode(value)) == inputs.get(part)
    except (ValueError, msgspec.MsgspecError):
        return False


def _signature_problems(receipt: Mapping[str, Any], key: Key) -> list[str]:
    if receipt["algorithm"] == _NONE:
        return ["it has no signature"]
    if receipt["algorithm"] != key.algorithm:
        kind = "an Ed25519 key" if key.algorithm == "ed25519" else "no PEM, so that it is read as a secret of HMAC"
        return [f"it is signed by {receipt['algorithm']}, and the file of --key holds {kind}"]
    if receipt["key"] != key.name:
        return [f"it is signed by the key {receipt['key']}, and this is the key {key.name}"]
    body = {name: value for name, value in receipt.items() if name != "signature"}
    try:
        is_right = key.verify(canonical(body), base64.b64decode(receipt["signature"], validate=True))
    except (ValueError, TypeError, binascii.Error):
        is_right = False
    return [] if is_right else ["its signature is wrong: it was altered, or another key made it"]


def same_verdict(receipt: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str, str]:
    """Whether a verdict of now is that of a receipt: a word to count, and what is wrong, in words."""
    own_versions = versions_of(result, lambda name: None)
    changed = [
        f"{name} was version {version}, and is {own_versions[name]} here"
        for name, version in receipt["versions"].items()
        if name in own_versions and own_versions[name] != version
    ]
    verdict = receipt["verdict"]
    differing = [
        f"{name} {verdict.get(name)!r}, now {result.get(name)!r}"
        for name in VERDICT
        if verdict.get(name) != result.get(name)
    ]
    if result["status"] == "failed" and verdict.get("status") != "failed":
        return "not judged again", f"the item could not be judged: {result['reason']}"
    if not differing:
        return "right", ""
    if changed:
        return "not judged again", f"another version judges here: {'; '.join(changed)}"
    return "wrong", f"the item is judged otherwise: {'; '.join(differing)}"
