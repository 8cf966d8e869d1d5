"""Callers with a token of an OpenID Connect issuer (JWT, RFC 7519) instead of a key.

A token counts if the issuer signed it for our audience with RS256, ES256 or EdDSA, and its time is not over. A claim
names its tenant, another its scopes. The public keys of the issuer are a JSON Web Key Set (RFC 7517) at a URL or in a
file. They are read when the first token comes, again when they are old, and again for a key that is not among them, but
not more often than every `AGAIN_S`.

This module is imported only if an issuer is set: it needs the extra `oidc`.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import jwt

from service.errors import StateUnavailable, Unauthenticated
from service.limits.keys import Caller, Scope
from service.settings import Settings
from service.tenant import FORM

log = logging.getLogger("rewardline.tokens")

ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
NAME: Final = "oidc"
"""The name of all these callers in metrics and logs, where keys have theirs. Their tenants tell them apart."""
AGAIN_S: Final = 30.0
OLD_S: Final = 3600.0
_LEEWAY_S: Final = 30.0
_FETCH_S: Final = 5.0
_MAX_KEYS_BYTES: Final = 1_000_000
_MAX_TOKEN_CHARS: Final = 16_384


class Tokens:
    """Finds the callers of tokens. It runs in one event loop."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: Mapping[str | None, jwt.PyJWK] = {}
        self._read_at = self._tried_at = float("-inf")
        self._reading = asyncio.Lock()
        """Guards the reading of keys: callers that wait for it find what one of them has read."""

    async def caller_of(self, token: str) -> Caller:
        """The caller with this token.

        Raises:
            Unauthenticated: the token does not count.
            StateUnavailable: nobody can say, because the issuer's keys cannot be read.
        """
        if len(token) > _MAX_TOKEN_CHARS:
            raise Unauthenticated(f"a token has at most {_MAX_TOKEN_CHARS} characters")
        settings = self._settings
        try:
            key = await self._key(jwt.get_unverified_header(token).get("kid"))
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=settings.oidc_audience,
                issuer=settings.oidc_issuer,
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iss", "aud", settings.oidc_tenant_claim]},
            )
        except jwt.InvalidTokenError as error:
            raise Unauthenticated(f"the token does not count: {error}") from error
        return Caller(NAME, _scopes(claims.get(settings.oidc_scopes_claim)), tenant=self._tenant(claims))

    def _tenant(self, claims: Mapping[str, Any]) -> str:
        claim = claims[self._settings.oidc_tenant_claim]
        tenant = f"{self._settings.oidc_tenant_prefix}{claim}"
        if not isinstance(claim, str) or not claim or not FORM.fullmatch(tenant):
            raise Unauthenticated(f"the claim {self._settings.oidc_tenant_claim!r} of the token is not a tenant")
        return tenant

    async def _key(self, name: str | None) -> jwt.PyJWK:
        """The issuer's key of this name; without a name its only key."""
        if self._clock() - self._read_at > OLD_S or self._known(name) is None:
            await self._read(name)
        key = self._known(name)
        if key is None:
            if self._read_at < self._tried_at:
                raise StateUnavailable("the keys of the issuer cannot be read now; try again", retry_after_s=AGAIN_S)
            raise jwt.InvalidTokenError("the issuer has no such key")
        return key

    def _known(self, name: str | None) -> jwt.PyJWK | None:
        if name is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(name)

    async def _read(self, name: str | None) -> None:
        async with self._reading:
            is_fresh = self._clock() - self._read_at <= OLD_S and self._known(name) is not None
            if is_fresh or self._clock() - self._tried_at < AGAIN_S:
                return
            self._tried_at = self._clock()
            try:
                self._keys = _usable(jwt.PyJWKSet.from_json((await _content(self._settings.oidc_jwks)).decode()))
            except (OSError, aiohttp.ClientError, TimeoutError, jwt.PyJWTError, ValueError, TypeError) as error:
                log.warning("the keys of the issuer cannot be read from %s: %s", self._settings.oidc_jwks, error)
            else:
                self._read_at = self._tried_at


def _usable(key_set: jwt.PyJWKSet) -> Mapping[str | None, jwt.PyJWK]:
    return {
        key.key_id: key
        for key in key_set.keys
        if key.algorithm_name in ALGORITHMS and key.public_key_use in (None, "sig")
    }


def _scopes(claim: object) -> frozenset[Scope]:
    """The scopes that a claim names, beside others that are none of ours. Without the claim it is `score`."""
    if claim is None:
        return frozenset({Scope.SCORE})
    words: Sequence[object] = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else ()
    return frozenset(scope for scope in Scope if scope.value in words)


async def _content(source: str | None) -> bytes:
    """What is in the file, or at the URL.

    Raises:
        OSError, aiohttp.ClientError, TimeoutError, ValueError
    """
    assert source is not None
    if not source.startswith(("http://", "https://")):
        return await asyncio.to_thread(Path(source).read_bytes)
    timeout = aiohttp.ClientTimeout(total=_FETCH_S)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.get(source, allow_redirects=False, raise_for_status=True) as reply,
    ):
        if reply.status != 200:
            raise ValueError(f"status {reply.status}")
        content = bytearray()
        async for part in reply.content.iter_any():
            content += part
            if len(content) > _MAX_KEYS_BYTES:
                raise ValueError(f"more than {_MAX_KEYS_BYTES} bytes")
        return bytes(content)
