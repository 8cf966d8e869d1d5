"""API keys: their names, their scopes, and the limits of each.

    REWARDLINE_API_KEYS=name=key      for everything, without a limit of its own; name@tenant=key names its tenant
    keys_file                         YAML, read again on SIGHUP:

        keys:
          run-17:  {sha256: '9f86...', scopes: [score], items_per_s: 20000, max_items_in_flight: 16384}
          verl:    {sha256: '6030...', scopes: [score, sandbox], tenant: maths, weight: 3}
          grafana: {sha256: 'fd61...', scopes: [admin]}
        tenants:
          maths: {budget: {cpu_s: 360000}, run_budget: {items_per_minute: 60000}}

    score     responses are judged: /v1/score, interactions, jobs, the doors of trainers, judge models, gRPC
    sandbox   the caller's own programs run in boxes: /run_code and its like
    admin     what the service does (/metrics, /v1/series, /v1/judges), what all callers sent (/v1/log), audits of data sets,
              and to act as another tenant (`X-Tenant`)

What is kept for a caller belongs to its tenant: that of all keys with the same `tenant`, else that of its key alone.

What a tenant and its runs may use is in `tenants` (`budgets`).

With an `oidc_issuer` its tokens are taken as keys are (`tokens`).

While several tenants wait for workers, boxes or judges, they are served in turn, by weight: the largest of their keys.

Keys are kept as SHA-256 digests and compared in constant time, each candidate against every key. Metrics and logs show
the name of a key, never the key. Limits hold for this process, not for all replicas together.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from fairness import DEFAULT, UNNAMED, WEIGHTS
from service.errors import Forbidden, Unauthenticated
from service.limits.budgets import Budgets
from service.tenant import FORM
from verifiers.mistakes import sentences

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_DOTS_OF_TOKENS: Final = 2
"""A JSON Web Token has three parts; keys that we make have no dot."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Scope(StrEnum):
    """What a key is for."""

    SCORE = "score"
    SANDBOX = "sandbox"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, as far as it is known."""

    name: str
    scopes: frozenset[Scope] = frozenset(Scope)
    items_per_s: float | None = None
    max_items_in_flight: int | None = None
    tenant: str = ""
    """The owner of what is kept for this caller. If none is given, the key is a tenant of its own."""
    weight: int = 1
    """The share of its tenant in workers, boxes and judges while others wait, too."""

    def __post_init__(self) -> None:
        if not self.tenant:
            object.__setattr__(self, "tenant", self.name)

    def check(self, scope: Scope) -> None:
        """Check that the key has the scope.

        Raises:
            Forbidden: the key does not have the scope.
        """
        if scope not in self.scopes:
            raise Forbidden(f"the key {self.name!r} lacks the scope {scope.value!r}; use a key with this scope")


ANONYMOUS: Final = Caller("anonymous", tenant=DEFAULT)
CALLER: ContextVar[Caller] = ContextVar("caller", default=ANONYMOUS)
"""The caller of the request that is being served."""


class BadKeys(Exception):
    """The file of keys has mistakes. `problems` holds all of them."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Issuer(Protocol):
    """Knows the callers of tokens that are not keys."""

    async def caller_of(self, token: str) -> Caller:
        """
        Raises:
            Unauthenticated: the token does not count.
            StateUnavailable: nobody can say now.
        """


class Keys:
    """All keys. If there are none, everyone may call."""

    def __init__(
        self,
        callers: Mapping[bytes, Caller],
        *,
        required: bool = False,
        issuer: Issuer | None = None,
        takes_certificates: bool = False,
    ) -> None:
        """`callers` are keyed by the digests of their keys. `required` demands a key even if there are none. So does an
        `issuer`, whose tokens count, too, and `takes_certificates`: then a certificate stands for a key.
        """
        self._required = required or issuer is not None or takes_certificates
        self._issuer = issuer
        self._takes_certificates = takes_certificates
        self.use(callers)

    @property
    def is_open(self) -> bool:
        """Whether everyone may call."""
        return not self._callers and not self._required

    def use(self, callers: Mapping[bytes, Caller]) -> None:
        """Put other keys in force. Requests under way go on."""
        self._callers = dict(callers)
        WEIGHTS.clear()
        if self._issuer is not None or self._takes_certificates:
            WEIGHTS[UNNAMED] = 1
        for caller in callers.values():
            if caller.scopes == {Scope.ADMIN} and caller.weight == 1:
                continue  # an operator takes no room from the one team of a service
            WEIGHTS[caller.tenant] = max(caller.weight, WEIGHTS.get(caller.tenant, 1))

    async def find(self, authorization: str | None, certificate: str | None = None) -> Caller:
        """The caller with the key, or with the token of the issuer, in an `Authorization` header. Without the header it
        is the one that the `certificate` names, if certificates count.

        Raises:
            Unauthenticated: this is neither.
            StateUnavailable: it may be a token, and nobody can say now whether it counts.
        """
        if self._takes_certificates and certificate is not None and not authorization:
            return self._certified(certificate)
        token = _token(authorization or "")
        if self._issuer is None or token.count(b".") != _DOTS_OF_TOKENS or self._match(token) is not None:
            return self.caller_of(authorization)
        return await self._issuer.caller_of(token.decode("ascii", "replace"))

    def _certified(self, name: str) -> Caller:
        tenant = f"cert:{name}"
        if not FORM.fullmatch(tenant):
            raise Unauthenticated("the name in your certificate is not a tenant; send an API key")
        return Caller("certificate", frozenset({Scope.SCORE, Scope.SANDBOX}), tenant=tenant)

    def caller_of(self, authorization: str | None) -> Caller:
        """The caller with the key in an `Authorization` header.

        The header is `Bearer <key>`, or `Basic` with the key as password. Clients that cannot set a header make the
        latter from `http://any:<key>@host`.

        Raises:
            Unauthenticated: keys are configured, and this is not one of them.
        """
        if self.is_open:
            return ANONYMOUS
        token = _token(authorization or "")
        if not token:
            raise Unauthenticated("send an API key: Authorization: Bearer <key>")
        caller = self._match(token)
        if caller is None:
            raise Unauthenticated("unknown API key")
        return caller

    def _match(self, token: bytes) -> Caller | None:
        digest = hashlib.sha256(token).digest()
        matches = [caller for key_digest, caller in self._callers.items() if hmac.compare_digest(digest, key_digest)]
        return matches[0] if matches else None


def _token(authorization: str) -> bytes:
    """The key in the header; empty when there is none."""
    scheme, _, key = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return key.strip().encode("utf-8", "surrogateescape")
    if scheme.lower() != "basic":
        return b""
    try:
        return base64.b64decode(key.strip(), validate=True).partition(b":")[2]
    except ValueError:
        return b""


class _KeySpec(BaseModel):
    """A key as it is written in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str
    scopes: Annotated[list[Scope], Field(min_length=1)] = [Scope.SCORE]
    items_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    max_items_in_flight: Annotated[int, Field(gt=0)] | None = None
    weight: Annotated[int, Field(ge=1, le=1000)] = 1
    tenant: Annotated[str, Field(pattern=f"^{_NAME.pattern}$")] | None = None

    @field_validator("sha256")
    @classmethod
    def _is_digest(cls, value: str) -> str:
        if not _DIGEST.fullmatch(value):
            raise ValueError("expected the SHA-256 of the key, 64 hexadecimal digits; `rewardline key NAME` makes both")
        return value


class _KeysFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: dict[str, _KeySpec]
    tenants: dict[Annotated[str, Field(pattern=f"^{FORM.pattern}$")], Budgets] = {}


def _parsed(path: Path) -> _KeysFile:
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        parsed = _KeysFile.model_validate(content)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadKeys([f"cannot read {path}: {error}"]) from error
    except ValidationError as error:
        raise BadKeys(
            [f"{path}: {line}" for line in sentences(error, content, fields=_KeysFile.model_fields)]
        ) from error
    _check(path, parsed.keys)
    return parsed


def budgets(file: Path | None) -> dict[str, Budgets]:
    """The budgets of tenants in the file of keys.

    Raises:
        BadKeys: the file has mistakes. The error holds all of them.
    """
    return {} if file is None else _parsed(file).tenants


def read(path: Path) -> dict[bytes, Caller]:
    """The callers in a file, keyed by the digests of their keys.

    Raises:
        BadKeys: the file has mistakes. The error holds all of them.
    """
    parsed = _parsed(path)
    return {
        bytes.fromhex(spec.sha256): Caller(
            name,
            frozenset(spec.scopes),
            spec.items_per_s,
            spec.max_items_in_flight,
            spec.tenant or name,
            spec.weight,
        )
        for name, spec in parsed.keys.items()
    }


def _check(path: Path, specs: Mapping[str, _KeySpec]) -> None:
    problems = [f"{path}: keys.{name}: a name is {_NAME.pattern}" for name in specs if not _NAME.fullmatch(name)]
    names: dict[str, str] = {}
    for name, spec in specs.items():
        namesake = names.setdefault(spec.sha256, name)
        if namesake != name:
            problems.append(f"{path}: keys.{name} and keys.{namesake} are the same key")
    if problems:
        raise BadKeys(problems)


def gather(digests: Mapping[str, bytes], file: Path | None) -> dict[bytes, Caller]:
    """All callers: those of the setting `api_keys`, which may do everything, and those of the file. A name in `digests`
    may be `name@tenant`.

    Raises:
        BadKeys: the file has mistakes. The error holds all of them.
    """
    owners = {digest: owner.partition("@") for owner, digest in digests.items()}
    callers = {digest: Caller(name, tenant=tenant) for digest, (name, _, tenant) in owners.items()}
    if file is None:
        return callers
    from_file = read(file)
    names = {caller.name for caller in callers.values()} & {caller.name for caller in from_file.values()}
    if names or callers.keys() & from_file.keys():
        raise BadKeys([f"{file}: {', '.join(sorted(names)) or 'a key'} is in api_keys, too; remove one of them"])
    return callers | from_file


def is_name(text: str) -> bool:
    """Whether a key or a tenant can have this name."""
    return bool(_NAME.fullmatch(text))


def new_key() -> tuple[str, str]:
    """A key, and its SHA-256 in hexadecimal digits."""
    key = secrets.token_urlsafe(32)
    return key, hashlib.sha256(key.encode()).hexdigest()
