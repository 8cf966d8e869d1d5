"""The configuration of endpoints and pools in the file of judge models.

Keys are never here, only the names of their environment variables.
"""

import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from verifiers.judge.endpoints.reward_servers import NEXT_TOKEN, SERVERS, RewardProtocol

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1, pattern=r"\S")]

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_OURS = frozenset({"authorization", "api-key", "content-type", "content-length", "host", "accept-encoding"})

_CHAT_FIELDS = frozenset({"model", "messages", "stream", "n"})
_REWARD_FIELDS = frozenset(
    {"input", "inputs", "text", "texts", "text_1", "text_2", "query", "documents", "content", "items"}
)
_CALLS = ("/chat/completions", "/decisions", *sorted({server.path for server in SERVERS.values()}))


class BadKey(Exception):
    """A value of an environment variable cannot be sent in a header; the message holds only the variable's name."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ConcurrencyConfig(_Part):
    """Limits on calls under way at once: learned between `min` and `max`, beginning with `start`."""

    start: Count = 8
    min: Count = 1
    max: Count = 128

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.min <= self.start <= self.max:
            raise ValueError(f"min {self.min}, start {self.start} and max {self.max} must ascend")
        return self


class TimeoutConfig(_Part):
    connect_s: Positive = 3.0
    total_s: Positive = 60.0
    """The limit for one attempt, without its time in the queue."""
    idle_s: Positive = 30.0
    """The limit between two pieces of a stream."""
    probe_s: Positive = 120.0
    """The limit for a probe: at the first call of a kind a server may compile for most of a minute."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "connect_s" in self.model_fields_set and self.connect_s > self.total_s:
            raise ValueError(f"connect_s {self.connect_s} is more than total_s {self.total_s}")
        return self


class PriceConfig(_Part):
    """Prices per million tokens."""

    input: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None
    """None: the same as `input`."""
    output: Annotated[float, Field(ge=0)]
    currency: str = "USD"


class SpendConfig(_Part):
    """Limits on spending. No call begins that could exceed a limit within the last `window_s` seconds."""

    window_s: Positive = 3600.0
    max_tokens: Count | None = None
    max_cost: Positive | None = None
    """The currency is that of the prices."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_tokens is None and self.max_cost is None:
            raise ValueError("expected max_tokens, max_cost or both")
        return self


class HealthConfig(_Part):
    """When an endpoint is ejected, and for how long it gets no calls."""

    failures: Count = 3
    """Ejected after this many failures in a row."""
    window: Count = 20
    """Or ejected after a share `failure_rate` of failures among this many calls."""
    failure_rate: Annotated[float, Field(gt=0, le=1)] = 0.5
    eject_s: Positive = 10.0
    """Doubled at each ejection after a failed probe, up to `eject_cap_s`."""
    eject_cap_s: Positive = 120.0
    probe: bool = True
    """Whether a few tokens are asked for at the start and after ejections, to learn what the endpoint can do. If
    false, the first call after an ejection is the probe."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "eject_s" in self.model_fields_set and self.eject_s > self.eject_cap_s:
            raise ValueError(f"eject_s {self.eject_s} is more than eject_cap_s {self.eject_cap_s}")
        return self


class EndpointConfig(_Part):
    """One server with one model on it: OpenAI-compatible, or one of reward models."""

    base_url: str
    """The URL without `/chat/completions`. Addresses inside the network are allowed, because callers cannot change
    it. Of a reward model's server: its root, with or without `/v1`."""
    model: Name
    protocol: Literal["chat", "decisions"] | RewardProtocol = "chat"
    model_revision: str | None = None
    """Part of cache keys; change it when other weights are served under the same name."""
    api_key_env: Name | None = None
    """The variable that holds the key, never the key itself."""
    api_version: str | None = None
    """For Azure: the version goes into the query, and the key into the header `api-key`."""
    headers_env: dict[str, Name] = {}
    """Further headers, with the names of the variables that hold their values."""
    weight: Positive = 1.0
    """The capacity relative to other endpoints of its pool, until the capacity has been learned."""
    concurrency: ConcurrencyConfig = ConcurrencyConfig()
    rpm: Positive | None = None
    """Requests per minute."""
    tpm: Positive | None = None
    """Tokens per minute, of prompts and replies."""
    timeout: TimeoutConfig = TimeoutConfig()
    max_response_bytes: Count = 2_000_000
    structured: Literal["auto", "response_format", "structured_outputs", "none"] = "auto"
    """How a reply with a given JSON schema is requested. auto: by `response_format`, unless the probe saw it ignored
    or refused."""
    logprobs: bool | None = None
    """Whether the endpoint gives log-probabilities; None: the probe finds out."""
    context_tokens: Count | None = None
    """Longer prompts are not sent; None: the server checks."""
    price: PriceConfig | None = None
    """None: the price is unknown, which does not mean free."""
    spend: SpendConfig | None = None
    health: HealthConfig = HealthConfig()
    health_path: str | None = None
    """A path that is requested before each probe, relative to the server's root: `/health`."""
    retry_404: bool = False
    """Whether a 404 means that a model is being loaded, and not that it does not exist."""
    extra_body: dict[str, Any] = {}
    """Fields that are added to each request."""
    extra_control_tokens: list[Name] = []
    """Control tokens of its chat template, which are made harmless in data like the tokens known here."""

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, url: str) -> str:
        url_parts = urlsplit(url)
        if any(char.isspace() for char in url) or not _has_a_port(url_parts):
            raise ValueError("expected no spaces, and a port up to 65535")
        if url_parts.scheme not in ("http", "https") or not url_parts.hostname:
            raise ValueError("expected http://HOST/... or https://HOST/...")
        if url_parts.username or url_parts.password:
            raise ValueError("expected no user or password: put keys into the environment, see api_key_env")
        if url_parts.query or url_parts.fragment:
            raise ValueError("expected no query and no fragment")
        if url_parts.path.rstrip("/").endswith(_CALLS):
            raise ValueError(
                "expected no path of a call: write the URL up to /v1, or the root of a reward model's server"
            )
        return url.rstrip("/")

    @field_validator("api_key_env", "headers_env")
    @classmethod
    def _check_variables(cls, value: str | dict[str, str] | None) -> str | dict[str, str] | None:
        names = value.values() if isinstance(value, dict) else [value] if value is not None else []
        if not all(_VARIABLE.fullmatch(name) for name in names):
            raise ValueError("expected the name of an environment variable, such as JUDGE_KEY, not a key itself")
        return value

    @field_validator("headers_env")
    @classmethod
    def _check_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if sum(name.lower() == header.lower() for header in headers) > 1:
                raise ValueError(f"{name!r} occurs twice: names of headers match in any case")
            if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or name.lower() in _OURS:
                raise ValueError(f"{name!r} cannot be set")
        return headers

    @field_validator("health_path")
    @classmethod
    def _check_health_path(cls, path: str | None) -> str | None:
        if path is not None and (not path.startswith("/") or path.startswith("//")):
            raise ValueError("expected a path that begins with one /")
        return path

    @field_validator("extra_body")
    @classmethod
    def _check_extra_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        ours = sorted(body.keys() & (_CHAT_FIELDS | _REWARD_FIELDS))
        if ours:
            raise ValueError(f"{ours[0]!r} is sent by the service itself")
        return body

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.spend and self.spend.max_cost is not None and self.price is None:
            raise ValueError("spend.max_cost needs a price")
        if self.protocol in NEXT_TOKEN and not _has_label_tokens(self.extra_body):
            raise ValueError(
                f"protocol {self.protocol} needs extra_body: {{label_token_ids: [YES, NO]}}, the model's tokens of the "
                "answers, the right one first"
            )
        return self

    @property
    def gives_rewards(self) -> bool:
        return self.protocol in SERVERS

    @property
    def env_names(self) -> list[str]:
        """Environment variables whose values are sent to the endpoint."""
        return [*([self.api_key_env] if self.api_key_env else []), *self.headers_env.values()]


class RetryConfig(_Part):
    attempts: Count = 3
    """All attempts, including the first."""
    base_s: Annotated[float, Field(ge=0)] = 0.5
    cap_s: Positive = 8.0
    """Waits are drawn between 0 and `base_s` × 2^n, at most `cap_s`."""
    budget: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Repeated calls of the last `budget_window_s`, as a share of first calls; further repeated calls wait."""
    budget_window_s: Positive = 10.0
    budget_floor_per_s: Annotated[float, Field(gt=0)] = 1.0
    min_attempt_s: Annotated[float, Field(ge=0)] = 0.2
    """No attempt begins with less time left."""
    retry_after_cap_s: Positive = 120.0
    """The longest pause that an endpoint gets because it asked for one."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "base_s" in self.model_fields_set and self.base_s > self.cap_s:
            raise ValueError(f"base_s {self.base_s} is more than cap_s {self.cap_s}")
        return self


class PoolConfig(_Part):
    """A pool of endpoints that can replace each other."""

    members: Annotated[list[Name], Field(min_length=1)]
    policy: Literal["wlo"] = "wlo"
    """wlo: weighted least outstanding."""
    affinity: Literal["none", "prompt_group"] = "none"
    """prompt_group: calls of one group go to the same endpoint, whose prefix cache then helps."""
    fallback: Name | None = None
    """Another pool, which is asked if no endpoint of this one can be."""
    retry: RetryConfig = RetryConfig()
    hedge: Annotated[float, Field(ge=0, le=1)] = 0.05
    """A late call is sent to a second endpoint, too, and the first answer counts: at most this share of all calls."""
    max_waiting: Annotated[int, Field(ge=0)] = 10_000
    """The number of calls that may wait for a free endpoint; further calls are refused."""
    deadline_s: Positive = 300.0
    """The deadline of calls without their own."""
    spend: SpendConfig | None = None

    @field_validator("members")
    @classmethod
    def _check_members(cls, members: list[str]) -> list[str]:
        if len(set(members)) < len(members):
            raise ValueError("expected each endpoint once")
        return members

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.deadline_s <= self.retry.min_attempt_s:
            raise ValueError(f"deadline_s {self.deadline_s} leaves no time for a call (retry.min_attempt_s)")
        return self


def _has_label_tokens(body: dict[str, Any]) -> bool:
    ids = body.get("label_token_ids")
    return isinstance(ids, list) and len(set(map(str, ids))) == len(ids) >= 2 and all(type(i) is int for i in ids)


def _has_a_port(url_parts: SplitResult) -> bool:
    try:
        return url_parts.port != 0
    except ValueError:
        return False
