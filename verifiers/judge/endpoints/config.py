"""What the file of judge models says about endpoints and pools of them. Keys are never here, only the names of their
variables.
"""

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1)]

_OURS = frozenset({"authorization", "api-key", "content-type", "content-length", "host", "accept-encoding"})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ConcurrencyConfig(_Part):
    """Calls under way at once: learned between `min` and `max`, beginning with `start`."""

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
    """Of one attempt, its waiting not included."""
    idle_s: Positive = 30.0
    """Between two pieces of a stream."""
    probe_s: Positive = 120.0
    """Of a probe: the first call of a kind may have a server compile for most of a minute."""


class PriceConfig(_Part):
    """Per million tokens."""

    input: Annotated[float, Field(ge=0)]
    cached_input: Annotated[float, Field(ge=0)] | None = None
    """None: as `input`."""
    output: Annotated[float, Field(ge=0)]
    currency: str = "USD"


class SpendConfig(_Part):
    """No call begins that could bring what was spent in the last `window_s` above a limit."""

    window_s: Positive = 3600.0
    max_tokens: Count | None = None
    max_cost: Positive | None = None
    """In the currency of the prices."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_tokens is None and self.max_cost is None:
            raise ValueError("expected max_tokens, max_cost or both")
        return self


class HealthConfig(_Part):
    """When an endpoint gets no more calls, and for how long."""

    failures: Count = 3
    """So many in a row."""
    window: Count = 20
    """Or, of so many calls, a share of `failure_rate`."""
    failure_rate: Annotated[float, Field(gt=0, le=1)] = 0.5
    eject_s: Positive = 10.0
    """Doubled at each ejection that follows a failed probe, up to `eject_cap_s`."""
    eject_cap_s: Positive = 120.0
    probe: bool = True
    """Ask a few tokens at the start and after ejections, to learn what the endpoint can do. Without it, the first call
    after an ejection is the probe."""


class EndpointConfig(_Part):
    """One OpenAI-compatible server, and one model on it."""

    base_url: str
    """Without `/chat/completions`; as callers can't change it, addresses inside the network are allowed."""
    model: Name
    protocol: Literal["chat", "decisions"] = "chat"
    model_revision: str | None = None
    """Part of cache keys: to be changed when other weights are served under the same name."""
    api_key_env: Name | None = None
    api_version: str | None = None
    """Azure style: goes into the query, and the key into the header `api-key`."""
    headers_env: dict[str, Name] = {}
    """Further headers, and the variables that hold their values."""
    weight: Positive = 1.0
    """What it can bear, compared with others of its pool, until that has been learned."""
    concurrency: ConcurrencyConfig = ConcurrencyConfig()
    rpm: Positive | None = None
    """Requests per minute."""
    tpm: Positive | None = None
    """Tokens per minute, of prompts and replies."""
    timeout: TimeoutConfig = TimeoutConfig()
    max_response_bytes: Count = 2_000_000
    structured: Literal["auto", "response_format", "structured_outputs", "none"] = "auto"
    """How a reply of a given JSON schema is asked for. auto: by `response_format`, unless the probe saw it ignored or
    refused."""
    logprobs: bool | None = None
    """Whether it gives log-probabilities; None: the probe finds out."""
    context_tokens: Count | None = None
    """Longer prompts are not sent; None: the server says."""
    price: PriceConfig | None = None
    """None: unknown, which is not free."""
    spend: SpendConfig | None = None
    health: HealthConfig = HealthConfig()
    health_path: str | None = None
    """Asked before each probe, relative to the server's root: `/health`."""
    retry_404: bool = False
    """404 means that a model is being loaded, not that there is none."""
    extra_body: dict[str, Any] = {}
    """Put into each request."""
    extra_control_tokens: list[Name] = []
    """Of its chat template, to be made harmless in data beside those that are known."""

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected http://HOST/... or https://HOST/...")
        if parts.username or parts.password:
            raise ValueError("expected no user or password: keys belong into the environment, see api_key_env")
        if parts.query or parts.fragment:
            raise ValueError("expected no query and no fragment")
        return url.rstrip("/")

    @field_validator("headers_env")
    @classmethod
    def _check_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or name.lower() in _OURS:
                raise ValueError(f"{name!r} cannot be set")
        return headers

    @field_validator("health_path")
    @classmethod
    def _check_health_path(cls, path: str | None) -> str | None:
        if path is not None and (not path.startswith("/") or path.startswith("//")):
            raise ValueError("expected a path that begins with one /")
        return path

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.spend and self.spend.max_cost is not None and self.price is None:
            raise ValueError("spend.max_cost needs a price")
        return self

    @property
    def env_names(self) -> list[str]:
        """Variables whose values are sent to it."""
        return [*([self.api_key_env] if self.api_key_env else []), *self.headers_env.values()]


class RetryConfig(_Part):
    attempts: Count = 3
    """In all, the first included."""
    base_s: Annotated[float, Field(ge=0)] = 0.5
    cap_s: Positive = 8.0
    """Waits are drawn between 0 and `base_s` × 2^n, at most `cap_s`."""
    budget: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Repeated calls of the last `budget_window_s`, as a share of first ones; those beyond wait."""
    budget_window_s: Positive = 10.0
    budget_floor_per_s: Annotated[float, Field(gt=0)] = 1.0
    min_attempt_s: Annotated[float, Field(ge=0)] = 0.2
    """No attempt begins with less time left."""
    retry_after_cap_s: Positive = 120.0
    """At most so long an endpoint is left alone because it asked for it."""


class PoolConfig(_Part):
    """Endpoints that answer for one another."""

    members: Annotated[list[Name], Field(min_length=1)]
    policy: Literal["wlo"] = "wlo"
    """Weighted least outstanding."""
    affinity: Literal["none", "prompt_group"] = "none"
    """prompt_group: what belongs together goes to the same endpoint, whose cache of prefixes then helps."""
    fallback: Name | None = None
    """Another pool, asked when no endpoint of this one can be."""
    retry: RetryConfig = RetryConfig()
    max_waiting: Annotated[int, Field(ge=0)] = 10_000
    """Calls that wait for a free endpoint; more are refused."""
    deadline_s: Positive = 300.0
    """Of calls that bring none."""
    spend: SpendConfig | None = None

    @field_validator("members")
    @classmethod
    def _check_members(cls, members: list[str]) -> list[str]:
        if len(set(members)) < len(members):
            raise ValueError("expected each endpoint once")
        return members
