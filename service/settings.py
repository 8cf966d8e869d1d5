"""Every option of the service, with its unit in its name: the one place that reads the environment and files.

Sources, weakest first: the defaults here, a YAML file (`--config`), environment variables `REWARDLINE_<NAME>`, command
line options. Unknown names in the file are errors. Settings are read once, in `service.__main__`, and handed on.
"""

import hashlib
import ipaddress
import os
import re
from collections.abc import Collection, Mapping, Set
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveInt = Annotated[int, Field(gt=0)]


_REMOTE_SLOTS = 64


class SettingsError(Exception):
    """The service must not start like this; the message says which option and why."""


class Settings(BaseSettings):
    """The options of `rewardline serve`."""

    model_config = SettingsConfigDict(env_prefix="REWARDLINE_", extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """Address both doors bind. Beyond loopback it needs `api_keys`, or `allow_open`."""
    http_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """0 takes any free port."""
    grpc_port: Annotated[int, Field(ge=0, le=65535)] = 8081

    api_keys: Annotated[dict[str, SecretStr], NoDecode] = {}
    """Name to key. In the environment: `name=key,name2=key2`. Names appear in metrics and logs, keys never."""
    keys_file: Path | None = None
    """YAML with keys, their scopes and their limits (service/limits/keys.py), beside `api_keys`; read again on SIGHUP.
    `rewardline key NAME` makes one."""
    allow_open: bool = False
    """Serve beyond loopback without keys all the same."""

    tls_cert: Path | None = None
    """Certificate chain (PEM) of both doors. These three files are read again when they have changed."""
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """With it, both doors take only callers with a certificate that these authorities have signed."""

    ops_port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Probes, metrics and draining, over plain HTTP without keys (service/doors/http/ops.py); None: no such port, 0 takes any free one."""
    ops_host: str | None = None
    """Address it binds; None: that of the doors."""

    root_door: Literal["nemo_gym"] | None = None
    """The door whose paths are taken without their prefix, too, for clients that make URLs without one: `/verify`."""

    openenv_tasks: Path | None = None
    """JSON lines, each the fields that open an interaction: the tasks of OpenEnv's `reset`, by its seed."""

    recipes_file: Path | None = None
    """YAML with recipes and routes, over those that ship; read again on SIGHUP. `rewardline recipes check` tries one."""

    judge_file: Path | None = None
    """YAML with endpoints, pools and profiles of judge models; None: items for a judge are `failed`."""
    judge_fence_secret: SecretStr | None = None
    """What the tags around quoted texts are made with. None: random, so that replicas share verdicts, but not single votes."""

    redis_url: SecretStr | None = None
    """`redis://`, `rediss://`, `unix://`, `redis+sentinel://h:p,h:p/service/db` or `redis+cluster://h:p,h:p`."""
    cache_memory_mb: Annotated[float, Field(ge=0)] = 256
    """In-process verdict cache, entries' overhead included; 0 switches it off."""
    cache_ttl_s: Positive = 7 * 24 * 3600

    interaction_ttl_s: Positive = 3600
    """How long an interaction that names no `ttl_s` is kept after its last turn."""
    interaction_max_ttl_s: Positive = 24 * 3600
    """The longest `ttl_s` that one can ask for."""
    max_interaction_mb: Annotated[float, Field(gt=0, le=16)] = 1
    """Of the body that opens an interaction, which is kept."""
    max_interactions_in_memory: PositiveInt = 100_000
    interactions_memory_mb: Positive = 256
    """These two hold without Redis. Interactions that are over make room; when only open ones are left, new ones are
    refused (429)."""

    job_ttl_s: Positive = 3600
    """How long a background job and its results are kept after it has ended."""
    job_unfinished_ttl_s: Positive = 24 * 3600
    """One that has not ended so long after its submission is dropped."""
    max_jobs: PositiveInt = 10_000
    max_jobs_mb: Positive = 512
    """Of background jobs (compressed) and results that are kept, in Redis by all replicas together; beyond these two new
    ones are refused (429)."""
    max_jobs_under_way: PositiveInt = 4
    """Background jobs that this process runs at once; others wait in the queue."""
    job_claim_idle_s: Positive = 30
    """A job whose process has given no sign for so long is finished by another process."""

    workers: Annotated[int, Field(ge=0)] = 0
    """Processes for our own CPU-bound work; 0: one per core this process may use."""
    worker_memory_mb: PositiveInt = 1024
    """Address space one item's work may add to a worker."""

    max_items_per_request: PositiveInt = 4096
    max_body_mb: Positive = 64
    """Of one request, inflated; the same limit holds for gRPC messages."""
    max_response_mb: Positive = 4
    """Of one item's response or prompt, counted in characters; a longer one is `invalid`."""
    grpc_calls_per_connection: PositiveInt = 4096
    """Open at once on one gRPC connection; its further calls wait with their caller."""
    max_items_in_flight: PositiveInt = 65_536
    max_mb_in_flight: Positive = 512
    """Beyond these two, requests are refused at once (429, RESOURCE_EXHAUSTED)."""

    sandbox: Literal["auto", "docker", "local", "remote", "none"] = "auto"
    """Where programs run that somebody else wrote. `auto`: on the `box_hosts` where any are named; else Docker where its
    daemon and the box image are at hand, else what this machine's kernel offers (`local`), else nowhere: the service
    starts, says so, and answers such items with `failed`. A kind that is named and cannot be had stops the start, save
    `remote`, whose hosts may come later."""
    box_hosts: Annotated[list[str], NoDecode] = []
    """`http(s)://host:port,...`: services like this one that run its programs; every address of a name is a host."""
    box_hosts_key: SecretStr | None = None
    """The API key for them, with the scope `sandbox` there."""
    box_hosts_tls_ca: Path | None = None
    """Authorities (PEM) of those on `https://`; None: this machine's. Each must have a certificate for the name in its URL.
    These three files are read again when they have changed."""
    box_hosts_tls_cert: Path | None = None
    """Certificate chain to show to those that ask for one, with `box_hosts_tls_key`."""
    box_hosts_tls_key: Path | None = None
    sandbox_isolation: Literal["shared", "fresh"] = "shared"
    """`shared`: a box takes one program after the other, each under a user id of its own, and is emptied in between.
    `fresh`: each program has a box of its own, used once."""
    readiness_needs_boxes: bool = False
    """Whether a service that has no boxes, or has lost them, is not ready: then it gets no items of other verifiers
    either. Otherwise `/readyz` tells of it and stays 200, and items that need a box are `failed`."""
    box_slots: Annotated[int, Field(ge=0)] = 0
    """Boxes at work at once; 0: one per core this process may use. With `box_hosts`, programs under way on them; 0: 64."""
    box_memory_mb: Annotated[int, Field(ge=64)] = 2048
    """Of all that runs in one box, its files included."""
    box_processes: Annotated[int, Field(ge=16)] = 128
    box_disk_mb: Annotated[int, Field(ge=16)] = 256
    """For files in one box; they lie in memory."""
    jobs_per_box: PositiveInt = 500
    """Then the box is replaced."""
    box_max_age_s: Positive = 900
    """So is one that is older."""
    docker_host: str = "unix:///var/run/docker.sock"
    """Where the daemon listens; `tcp://docker:2375` is another machine's."""
    docker_image: str = "rewardline-box"
    """What boxes are started from; `make box-image` builds it."""
    docker_runtime: str | None = None
    """`runsc` for gVisor; None: the daemon's default."""
    local_python: Path | None = None
    """The interpreter of programs in local boxes, whose installed packages they can import; None: the service's own."""
    local_tier: Literal["auto", "namespaces", "landlock"] = "auto"
    """How local boxes are closed; `auto`: namespaces where the kernel allows them, else Landlock, which stops less."""
    max_run_s: Positive = 60
    """The most CPU seconds that a caller of `/run_code` can give a compiler or a program; more is cut to it."""

    item_deadline_s: Positive = 30
    """Longest time from an item's dispatch to its verdict; then it is `failed`. Programs in boxes have their own limits."""
    default_deadline_s: Positive = 60
    """Of a request that names none."""
    max_deadline_s: Positive = 600
    body_timeout_s: Positive = 30
    """Longest time a caller may take to send a request's body."""
    header_timeout_s: Positive = 15
    """Longest time a connection may take to send a request's head, each of them; four times as long, to take some of an answer."""
    drain_timeout_s: Positive = 30
    """After SIGTERM, longest time for what was admitted to finish."""

    audit_dir: Path | None = None
    """Where it is written which response got which reward and why; None: nowhere. `rewardline log` shows it."""
    audit_sample: Annotated[float, Field(ge=0, le=1)] = 1
    """The share of items; a hash of response and id decides which."""
    audit_keep_unjudged: bool = True
    """Of what is `invalid` or `failed`, all, whatever the share."""
    audit_redact: bool = False
    """Of response, prompt and reference only SHA-256 and length, of verdicts no texts."""
    audit_max_text_chars: PositiveInt = 20_000
    """Longer texts are cut in the log."""
    audit_format: Literal["jsonl", "jsonl.gz", "jsonl.zst", "parquet"] = "jsonl"
    """Of closed files; the one being written is JSON lines. Parquet needs the extra `parquet`."""
    audit_rotate_mb: Positive = 100
    audit_rotate_s: Positive = 24 * 3600
    """A file that is larger or older is closed."""
    audit_keep_files: PositiveInt = 1000
    audit_keep_mb: Positive = 10_000
    """Beyond these two the oldest closed files are deleted."""
    audit_queue_mb: Positive = 256
    """What may wait to be written; beyond it items are dropped from the log, and counted."""

    otlp_endpoint: str | None = None
    """`http(s)://host:4318` of a collector that takes traces by OTLP over HTTP; None: no traces. Needs the extra `otel`."""
    trace_share: Annotated[float, Field(ge=0, le=1)] = 1
    """Of requests whose caller sends no `traceparent`, how many are traced; the others are as their caller says."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"

    @field_validator("api_keys", mode="before")
    @classmethod
    def _parse_keys(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.strip().partition("=") for part in value.split(",") if part.strip()]
        if any(not name or not key for name, _, key in pairs):
            raise ValueError("expected name=key,name2=key2")
        if len({name for name, _, _ in pairs}) < len(pairs):
            raise ValueError("two keys have the same name")
        return {name: key for name, _, key in pairs}

    @field_validator("box_hosts", mode="before")
    @classmethod
    def _parse_hosts(cls, value: object) -> object:
        urls = value.replace(",", " ").split() if isinstance(value, str) else value
        if isinstance(urls, list) and not all(re.fullmatch(r"https?://[^/?#@\s]+", str(url)) for url in urls):
            raise ValueError("expected http://host:port or https://host:port, with commas between them")
        return urls

    @field_validator("otlp_endpoint")
    @classmethod
    def _check_collector(cls, url: str | None) -> str | None:
        if not url:
            return None
        if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", url):
            raise ValueError("expected http://host:port or https://host:port of a collector")
        return url

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.sandbox == "remote" and not self.box_hosts:
            raise ValueError("sandbox is `remote`, but no box_hosts are named")
        if self.box_hosts and self.sandbox not in ("auto", "remote"):
            raise ValueError(f"box_hosts are named, but sandbox is {self.sandbox!r}")
        self._check_box_hosts_tls()
        if any(len(key.get_secret_value()) < 16 for key in self.api_keys.values()):
            raise ValueError("api_keys: a key needs at least 16 characters")
        knows_callers = self.api_keys or self.keys_file or self.tls_client_ca
        if not knows_callers and not self.allow_open and not _is_loopback(self.host):
            raise ValueError(
                f"host {self.host} is reachable from other machines and no api_keys are set; "
                "set REWARDLINE_API_KEYS=name=key, or allow_open to serve anyone"
            )
        if (self.tls_cert is None) is not (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise ValueError("tls_client_ca needs tls_cert and tls_key")
        if not self.item_deadline_s <= self.default_deadline_s <= self.max_deadline_s:
            raise ValueError(
                "clocks must nest: item_deadline_s <= default_deadline_s <= max_deadline_s, but they are "
                f"{self.item_deadline_s:g}, {self.default_deadline_s:g}, {self.max_deadline_s:g}"
            )
        if self.max_run_s >= self.max_deadline_s:
            raise ValueError(
                "clocks must nest: max_run_s < max_deadline_s, but they are "
                f"{self.max_run_s:g} and {self.max_deadline_s:g}"
            )
        if self.interaction_ttl_s > self.interaction_max_ttl_s:
            raise ValueError(
                "interaction_ttl_s <= interaction_max_ttl_s, but they are "
                f"{self.interaction_ttl_s:g} and {self.interaction_max_ttl_s:g}"
            )
        if self.box_disk_mb >= self.box_memory_mb:
            raise ValueError("files in a box lie in its memory: box_disk_mb must be less than box_memory_mb")
        if self.max_items_per_request > self.max_items_in_flight or self.max_body_mb > self.max_mb_in_flight:
            raise ValueError("one request must fit in what may be in flight (max_items_in_flight, max_mb_in_flight)")
        return self

    def _check_box_hosts_tls(self) -> None:
        if (self.box_hosts_tls_cert is None) is not (self.box_hosts_tls_key is None):
            raise ValueError("box_hosts_tls_cert and box_hosts_tls_key go together")
        given = self.box_hosts_tls_ca or self.box_hosts_tls_cert
        if given and not any(url.startswith("https://") for url in self.box_hosts):
            raise ValueError("box_hosts_tls_ca and box_hosts_tls_cert are for box_hosts on https://, and there is none")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings

    @property
    def worker_count(self) -> int:
        return self.workers or len(os.sched_getaffinity(0))

    @property
    def slot_count(self) -> int:
        return self.box_slots or (_REMOTE_SLOTS if self.box_hosts else len(os.sched_getaffinity(0)))

    @property
    def max_body_bytes(self) -> int:
        return int(self.max_body_mb * 1_000_000)

    @property
    def max_response_bytes(self) -> int:
        return int(self.max_response_mb * 1_000_000)

    def key_digests(self) -> dict[str, bytes]:
        """SHA-256 of each of `api_keys` by its name; the keys themselves go no further than this class."""
        return {name: hashlib.sha256(key.get_secret_value().encode()).digest() for name, key in self.api_keys.items()}


def read(config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings from file, environment and command line (strongest last).

    Raises:
        SettingsError: with every wrong option named.
    """
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    from_file = _read_file(config) if config else {}
    names = {f"REWARDLINE_{name}".upper() for name in Settings.model_fields}
    unknown = sorted(name for name, value in os.environ.items() if _is_misspelt(name, value, names))  # noqa: TID251
    if unknown:
        raise SettingsError(f"unknown environment variables {unknown}; there are {sorted(names)}")
    in_environment = {name[len("REWARDLINE_") :].lower() for name in os.environ if name in names}  # noqa: TID251
    below = {name: value for name, value in from_file.items() if name not in in_environment}
    try:
        return Settings(**{**below, **given})
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()]
        raise SettingsError("; ".join(lines)) from error


def environment(names: Collection[str]) -> dict[str, str]:
    """Variables that a file of ours names, as far as they are set: keys of judge models."""
    return {name: os.environ[name] for name in names if os.environ.get(name)}  # noqa: TID251


# A Kubernetes Service named "rewardline" puts variables of these names into every pod.
_SERVICE_LINK = re.compile(r"REWARDLINE_(.*_)?SERVICE_(HOST|PORT(_.*)?)|REWARDLINE_(.*_)?PORT_\d+_(TCP|UDP|SCTP)(_.*)?")
_OF_THE_CLIENT = "REWARDLINE_API_KEY"


def _is_misspelt(name: str, value: str, names: Set[str]) -> bool:
    if not name.startswith("REWARDLINE_") or name in names or name == _OF_THE_CLIENT:
        return False
    return not _SERVICE_LINK.fullmatch(name) and "://" not in value


def _read_file(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"cannot read {path}: {error}") from error
    if not isinstance(content, dict | None):
        raise SettingsError(f"{path}: expected a mapping of options, found {type(content).__name__}")
    return content or {}


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
