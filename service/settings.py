"""All options of the service. This is the one place that reads the environment and files. The name of an option holds
its unit.

Sources, weakest first: the defaults here, a YAML file (`--config`), environment variables `REWARDLINE_<NAME>`, command
line options. Unknown names in the file are errors. Settings are read once, in `service.__main__`, and handed on.
"""

import hashlib
import ipaddress
import os
import re
from collections.abc import Collection, Mapping, Set
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PositiveInt = Annotated[int, Field(gt=0)]


_REMOTE_SLOTS = 64
_PREFIX = "REWARDLINE_"
_OWN_LOG_MB = 1000.0
_OWN_FILE_MB = 50.0
_HOST_NAME = re.compile(r"\*|(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")


class SettingsError(Exception):
    """The service must not start like this. There is one problem for each wrong option, which says why."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class Settings(BaseSettings):
    """The options of `rewardline serve`."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="forbid", frozen=True)

    host: str = "127.0.0.1"
    """The address that both doors bind. An address beyond loopback needs `api_keys` or `allow_open`."""
    http_port: Annotated[int, Field(ge=0, le=65535)] = 8080
    """0 takes any free port."""
    grpc_port: Annotated[int, Field(ge=0, le=65535)] = 8081

    api_keys: Annotated[dict[str, SecretStr], NoDecode] = {}
    """Keys by their names. In the environment: `name=key,name2=key2`. Metrics and logs show names, never keys. A key is a
    tenant of its own, or one of the tenant that is named with it: `name@tenant=key`."""
    keys_file: Path | None = None
    """A YAML file with keys, their scopes, tenants and limits (service/limits/keys.py). It adds to `api_keys` and is read
    again on SIGHUP. `rewardline key NAME` makes a key."""
    allow_open: bool = False
    """Serve beyond loopback even without keys."""
    allowed_hosts: Annotated[list[str], NoDecode] = []
    """Host names by which a service that asks for no key may be called, beside those of this machine, with commas between
    them: `judge.example`, `*.example`, or `*` for any. A web page that somebody opens on a machine in reach could use the
    service by any other name (service/doors/http/page_guard.py)."""

    oidc_issuer: str | None = None
    """The issuer (`iss`) whose JSON Web Tokens count as keys do, for our `oidc_audience` (`aud`), if one of the keys in
    `oidc_jwks` signed them. It needs the extra `oidc`."""
    oidc_audience: str | None = None
    oidc_jwks: str | None = None
    """The issuer's public keys (JWKS): a file, or a URL on `https://` (`http://` on loopback)."""
    oidc_tenant_claim: str = "sub"
    """The claim that names the tenant of a token."""
    oidc_tenant_prefix: str = "oidc:"
    """What comes before it, so that no token has the tenant of a key. Empty: the issuer decides who is which tenant."""
    oidc_scopes_claim: str = "scope"
    """The claim with the scopes of a token, as one text or as a list. A token without the claim has the scope `score`."""

    tls_cert: Path | None = None
    """The certificate chain (PEM) of both doors. The service reads these three files again when they have changed."""
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """Certificate authorities (PEM) for callers. If set, both doors take only callers with a certificate that one of
    these authorities has signed."""

    tls_client_tenants: bool = False
    """Whether callers without a key belong to the tenant that their certificate names (`cert:` and its URI or common
    name), with the scopes `score` and `sandbox`. It needs `tls_client_ca`. Websockets need a key nevertheless."""

    ops_port: Annotated[int, Field(ge=0, le=65535)] | None = None
    """The port for probes, metrics and draining: plain HTTP, without keys but for draining from another host
    (service/doors/http/ops.py). None: there is no such port. 0 takes any free port."""
    ops_host: str | None = None
    """The address that the port for operators binds. None: the address of the doors. A name stands for those of its
    addresses that this machine has, and 127.0.0.1."""

    console: bool = True
    """Whether `/` shows the console, pages in which people try verifiers and see what the service does. Without it
    the service does not remember its last hour."""

    root_door: Literal["nemo_gym"] | None = None
    """The door whose paths also work without their prefix, such as `/verify`, for clients that make URLs without a
    path."""

    openenv_tasks: Path | None = None
    """A file of JSON lines with the tasks of OpenEnv's `reset`. Each line holds the fields that open an interaction.
    `reset` chooses a line by its seed."""

    recipes_file: Path | None = None
    """A YAML file with recipes and routes. They come before those that ship. It is read again on SIGHUP. `rewardline
    recipes check` tries a file."""

    judge_file: Path | None = None
    """A YAML file with endpoints, pools and profiles of judge models. None: items that need a judge are `failed`."""
    judge_fence_secret: SecretStr | None = None
    """The secret from which the tags around quoted texts are made. None: a random one. Replicas with random secrets
    share verdicts, but not single votes."""

    redis_url: SecretStr | None = None
    """`redis://`, `rediss://`, `unix://`, `redis+sentinel://h:p,h:p/service/db` or `redis+cluster://h:p,h:p`."""
    cache_memory_mb: Annotated[float, Field(ge=0)] = 256
    """The size of the verdict cache in this process, with the overhead of its entries. 0 switches it off."""
    cache_ttl_s: Positive = 7 * 24 * 3600
    cache_by_tenant: bool = False
    """Whether each tenant has cached verdicts and remembered texts of its own. If not, a tenant can learn from `cached`, and
    from the time of an answer, that another one had the same item judged. What a judge model said, and what a compiler
    made, is never shared between tenants."""

    interaction_ttl_s: Positive = 3600
    """How long an interaction without a `ttl_s` of its own is kept after its last turn."""
    interaction_max_ttl_s: Positive = 24 * 3600
    """The longest `ttl_s` that an interaction can ask for."""
    max_interaction_mb: Annotated[float, Field(gt=0, le=16)] = 1
    """The largest body that can open an interaction. The service keeps this body."""
    max_interactions_in_memory: PositiveInt = 100_000
    interactions_memory_mb: Positive = 256
    """This limit and the one above hold without Redis. Interactions that are over make room for new ones of their tenant.
    If all are open, new ones are refused (429). No tenant fills it while there can be another."""

    max_groups_in_memory: PositiveInt = 20_000
    groups_memory_mb: Positive = 256
    """This limit and the one above hold without Redis, for groups whose members come one by one. Members that do not fit
    are `failed`."""

    job_ttl_s: Positive = 3600
    """How long a background job and its results are kept after it has ended."""
    job_unfinished_ttl_s: Positive = 24 * 3600
    """A job that has not ended so long after its submission is dropped."""
    max_jobs: PositiveInt = 10_000
    max_jobs_mb: Positive = 512
    """The bytes of background jobs (compressed) and of their results that are kept. With Redis this counts the jobs of
    all replicas together. Beyond this limit or the one above, new jobs are refused (429). No tenant fills it while there can be
    another."""
    max_jobs_under_way: PositiveInt = 4
    """Background jobs that this process runs at once. Other jobs wait in the queue."""
    job_claim_idle_s: Positive = 30
    """After so many seconds without a sign of its process, another process finishes a job."""
    job_version_wait_s: Positive = 60
    """The longest time that a job which has results waits for a replica with the same verifiers, in the same versions, after
    its own has ended. Then its other items are `failed`, `version_gone`."""

    memory_mb: Annotated[int, Field(ge=0)] = 0
    """The memory of this process and its workers at which they drop half of what they remember: verdicts, parameters, what
    was compiled from texts. 0: half of what the machine, or the control group of this process, has. Each memory has a bound
    of its own besides; `/metrics` names them."""
    workers: Annotated[int, Field(ge=0)] = 0
    """Worker processes for the service's own CPU-bound work. 0: one for each core that this process may use."""
    worker_memory_mb: PositiveInt = 1024
    """The address space that the work on one item may add to a worker."""

    max_items_per_request: PositiveInt = 4096
    max_body_mb: Positive = 64
    """The largest body of a request after decompression. A gRPC message may have 16 MB at most."""
    max_response_mb: Positive = 4
    """The longest response or prompt of an item, counted in characters. An item with a longer one is `invalid`."""
    grpc_calls_per_connection: PositiveInt = 4096
    """Calls that may be open at once on one gRPC connection. Further calls wait at the caller."""
    max_items_in_flight: PositiveInt = 65_536
    max_mb_in_flight: Positive = 512
    """Beyond this limit or the one above, requests are refused at once (429, RESOURCE_EXHAUSTED). The values of a dense
    body count besides its bytes, and so do answers until their callers have read them."""

    sandbox: Literal["auto", "docker", "local", "remote", "none"] = "auto"
    """Where programs of other people run.

    `auto` takes the first of these that can be had: the `box_hosts` if any are named; Docker if its daemon and the box
    image are here; what this machine's kernel offers (`local`). If none can be had, the service starts, says so, and
    answers items that need a box with `failed`. If you name a kind and it cannot be had, the service does not start.
    The exception is `remote`, because its hosts may come later."""
    box_hosts: Annotated[list[str], NoDecode] = []
    """The services that run programs for this one, as `http(s)://host:port,...`. Every address that a name resolves to
    is a host."""
    box_hosts_key: SecretStr | None = None
    """The API key for the box hosts. It needs the scope `sandbox` there."""
    box_hosts_tls_ca: Path | None = None
    """Certificate authorities (PEM) for box hosts on `https://`. None: those of this machine. Each host needs a
    certificate for the name in its URL. The service reads these three files again when they have changed."""
    box_hosts_tls_cert: Path | None = None
    """The certificate chain for box hosts that ask for one. It goes with `box_hosts_tls_key`."""
    box_hosts_tls_key: Path | None = None
    sandbox_isolation: Literal["shared", "fresh"] = "shared"
    """`shared`: a box runs one program after the other. Each program has a user id of its own, and the box is emptied
    in between. `fresh`: each program has a box of its own, which is used once."""
    sandbox_refuse_unguarded: bool = False
    """Whether `code` refuses tests that must share a process with the program, in which the program can forge a pass:
    `invalid` (`unguarded_tests`) for every response. Otherwise their verdicts say `unguarded: true`."""
    readiness_needs_boxes: bool = False
    """Whether a service without boxes is not ready. If so, it gets no items of other verifiers either. Otherwise
    `/readyz` names the problem and stays 200, and items that need a box are `failed`."""
    box_slots: Annotated[int, Field(ge=0)] = 0
    """Boxes that may work at once. 0: one for each core that this process may use. With `box_hosts`: programs that may
    run on them at once, and 0 means 64."""
    box_standing: Annotated[int, Field(ge=0)] = 2
    """Programs that may stand ready besides, in boxes of their own: loops of Lean that have imported a header, and read
    nothing else. They are begun once two proofs had the same header, and keep the memory that the imports take."""
    box_memory_mb: Annotated[int, Field(ge=64)] = 2048
    """Memory of everything that runs in one box, its files included."""
    box_processes: Annotated[int, Field(ge=16)] = 128
    box_disk_mb: Annotated[int, Field(ge=16)] = 256
    """Space for files in one box. The files lie in memory."""
    jobs_per_box: PositiveInt = 500
    """Programs that a box runs before it is replaced."""
    box_max_age_s: Positive = 900
    """A box that is older than this is replaced."""
    docker_host: str = "unix:///var/run/docker.sock"
    """The address of the Docker daemon. `tcp://docker:2375` is a daemon on another machine."""
    docker_image: str = "rewardline-box"
    """The image that boxes start from. `make box-image` builds it."""
    docker_runtime: str | None = None
    """The runtime of Docker's boxes. `runsc` is gVisor. None: the daemon's default."""
    repository_slots: Annotated[int, Field(ge=0)] = 2
    """Containers of repository tasks that may run at once, each with an image of its own. 0: none, and such items are
    `failed`. The log says at the start whether the Docker daemon can run them."""
    repository_docker_host: str | None = None
    """The address of the Docker daemon for repository tasks. None: `docker_host`."""
    repository_runtime: str | None = None
    """The runtime of their containers. None: `docker_runtime`."""
    repository_pull: bool = False
    """Whether images that the daemon lacks are pulled. Otherwise their items are `failed`."""
    repository_images: Annotated[list[str], NoDecode] = ["*"]
    """The images that tasks may name, as patterns with `*` and commas between them. With `repository_pull` it must be
    set: the daemon asks any registry that a name names."""
    repository_images_mb: PositiveInt = 100_000
    """Disk space for images that were pulled or prepared here. Beyond it, those that were used longest ago are removed."""
    repository_network: bool = False
    """Whether a task that asks for a network gets one: the daemon's bridge, with all that it reaches."""
    repository_cpus: Positive = 2
    """CPUs of one container."""
    repository_memory_mb: PositiveInt = 16_384
    """Memory of all containers of repository tasks together. A task that wants more is `invalid`."""
    repository_disk_mb: PositiveInt = 16_384
    """The most that one task may write. A task that wants more is `invalid`."""
    releases_dir: Path | None = None
    """The folder with wheels of other releases (service/versions/releases.py), for `rewardline diff` and for runs that are
    pinned to them. Nothing is downloaded. None: there are none."""
    pins_dir: Path | None = None
    """The folder with locks (`rewardline lock`) that requests may name, or mean by a date. None: a request brings its lock."""
    receipts: Literal["never", "asked", "always"] = "asked"
    """Which verdicts carry a receipt (service/versions/receipts.py): none, those of requests that ask for it (`X-Receipt: 1`),
    or all."""
    receipt_key_file: Path | None = None
    """The key that signs receipts: an Ed25519 private key as PEM, or a text of at least 16 bytes for HMAC. None: they are not
    signed."""
    harbor_root: Path | None = None
    """The folder below which the verifier `harbor` finds the tasks that references name by path. None: there are none,
    and a reference brings its task as a tar."""
    harbor_build: bool = False
    """Whether images are built from the Dockerfiles of tasks below `harbor_root`. A build runs their commands under the
    Docker daemon's own rules, with a network if `repository_network` allows it."""
    local_python: Path | None = None
    """The Python interpreter for programs in local boxes. Programs can import the packages that it has installed. None:
    the interpreter of the service."""
    local_tier: Literal["auto", "namespaces", "landlock"] = "auto"
    """How local boxes are isolated. `auto`: by namespaces if the kernel allows them, else by Landlock, which stops
    fewer attacks."""
    max_run_s: Positive = 60
    """The most CPU seconds that a caller of `/run_code` can give to a compiler or a program. A higher wish is cut to
    this."""

    item_deadline_s: Positive = 30
    """The longest time from the dispatch of an item to its verdict. After that the item is `failed`. Programs in boxes
    have limits of their own."""
    default_deadline_s: Positive = 60
    """The deadline of a request that names none."""
    max_deadline_s: Positive = 600
    body_timeout_s: Positive = 30
    """The longest time that a caller may take to send the body of a request."""
    header_timeout_s: Positive = 15
    """The longest time that a connection may take to send the head of each request. It may take four times as long to
    read some of an answer."""
    drain_notice_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5
    """After SIGTERM, the time in which requests are still admitted and `/readyz` says 503, so that balancers send none here
    when they are refused. SIGINT does without. 0: nothing balances."""
    drain_timeout_s: Positive = 30
    """After that, the longest time that admitted requests have to finish."""

    max_metrics_tenants: PositiveInt = 100
    """Tenants with counts of their own in the metrics, the first to come. All others are counted together, as `other`."""

    audit_log: Literal["auto", "off"] = "auto"
    """`auto`: there is an audit log where `audit_dir` is set; `rewardline serve` for this machine alone (a loopback address,
    no Redis, no callers with keys) keeps one of at most 1 GB in `~/.local/state/rewardline/log`. `off`: there is none, whatever
    `audit_dir` says."""
    audit_dir: Path | None = None
    """The folder of the audit log, which says which response got which reward and why. `rewardline log` shows it."""
    audit_sample: Annotated[float, Field(ge=0, le=1)] = 1
    """The share of items in the audit log. A hash of response and id decides which items these are."""
    audit_keep_unjudged: bool = True
    """Log every item that is `invalid` or `failed`, whatever the share."""
    audit_redact: bool = False
    """Log responses, prompts and references only as SHA-256 and length, and verdicts without their texts."""
    audit_max_text_chars: PositiveInt = 20_000
    """The log cuts longer texts."""
    audit_format: Literal["jsonl", "jsonl.gz", "jsonl.zst", "parquet"] = "jsonl"
    """The format of closed files. The file that is being written is always JSON lines. Parquet needs the extra
    `parquet`."""
    audit_rotate_mb: Positive = 100
    audit_rotate_s: Positive = 24 * 3600
    """A file that is older than this, or larger than the limit above, is closed."""
    audit_keep_files: PositiveInt = 1000
    audit_keep_mb: Positive = 10_000
    """Beyond this limit or the one above, the oldest closed files are deleted."""
    audit_queue_mb: Positive = 256
    """Records that may wait to be written. Beyond this, items are dropped from the log and counted."""

    watch: bool = False
    """Watch all rewards for hacks of the policy (docs/watch.md). Without it, recipes with `watch` are watched alone."""
    watch_share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """The share of items whose texts the watch reads."""
    watch_memory_mb: Positive = 64
    """The memory of the watch. A run takes 1 MB for each recipe or verifier; beyond this, the one that was idle for longest is
    forgotten."""

    otlp_endpoint: str | None = None
    """The address of a collector that takes traces by OTLP over HTTP, as `http(s)://host:4318`. None: no traces. It
    needs the extra `otel`."""
    trace_share: Annotated[float, Field(ge=0, le=1)] = 1
    """The share of traced requests among those that bring no `traceparent`. For all others the caller's `traceparent`
    decides."""

    dataset_root: Path | None = None
    """A folder with data sets that callers may name in `POST /v1/audits`. None: they can only send files."""
    max_dataset_mb: Positive = 512
    """The largest file that can be sent to be audited. It is kept on disk until the audit ends."""
    max_dataset_audits: PositiveInt = 2
    """Audits of data sets that this process runs at once. Further ones are refused (429)."""

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

    @field_validator("repository_images", mode="before")
    @classmethod
    def _parse_images(cls, value: object) -> object:
        return value.replace(",", " ").split() if isinstance(value, str) else value

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _parse_names(cls, value: object) -> object:
        names = value.replace(",", " ").split() if isinstance(value, str) else value
        if isinstance(names, list) and not all(_HOST_NAME.fullmatch(str(name)) for name in names):
            raise ValueError("expected host names without a scheme or a port, such as judge.example or *.example, or *")
        return names

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
        if self.repository_pull and "repository_images" not in self.model_fields_set:
            raise ValueError(
                "repository_pull is on, and repository_images does not say which images tasks may name; "
                "set REWARDLINE_REPOSITORY_IMAGES=registry.example/tasks/*, or * for any image of any registry"
            )
        if any(len(key.get_secret_value()) < 16 for key in self.api_keys.values()):
            raise ValueError("api_keys: a key needs at least 16 characters")
        self._check_callers()
        if not self.knows_callers and not self.allow_open and not _is_loopback(self.host):
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
                "interaction_ttl_s must not exceed interaction_max_ttl_s, but they are "
                f"{self.interaction_ttl_s:g} and {self.interaction_max_ttl_s:g}"
            )
        if self.box_disk_mb >= self.box_memory_mb:
            raise ValueError("files in a box lie in its memory: box_disk_mb must be less than box_memory_mb")
        if self.max_items_per_request > self.max_items_in_flight or self.max_body_mb > self.max_mb_in_flight:
            raise ValueError(
                "max_items_per_request and max_body_mb must not exceed max_items_in_flight and max_mb_in_flight"
            )
        return self

    def _check_callers(self) -> None:
        if self.tls_client_tenants and self.tls_client_ca is None:
            raise ValueError("tls_client_tenants needs tls_client_ca")
        if len({bool(value) for value in (self.oidc_issuer, self.oidc_audience, self.oidc_jwks)}) > 1:
            raise ValueError("oidc_issuer, oidc_audience and oidc_jwks go together")
        url = urlsplit(self.oidc_jwks or "")
        if url.scheme == "http" and not _is_loopback(url.hostname or ""):
            raise ValueError("oidc_jwks: keys come over https://, or from a file")

    def _check_box_hosts_tls(self) -> None:
        if (self.box_hosts_tls_cert is None) is not (self.box_hosts_tls_key is None):
            raise ValueError("box_hosts_tls_cert and box_hosts_tls_key go together")
        certificate = self.box_hosts_tls_ca or self.box_hosts_tls_cert
        if certificate and not any(url.startswith("https://") for url in self.box_hosts):
            raise ValueError("box_hosts_tls_ca and box_hosts_tls_cert need box_hosts on https://")

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

    @property
    def knows_callers(self) -> bool:
        """Whether callers must show who they are."""
        return bool(self.api_keys or self.keys_file or self.tls_client_ca or self.oidc_issuer)

    @property
    def log_folder(self) -> Path | None:
        """The folder of the audit log. None: there is none."""
        return None if self.audit_log == "off" else self.audit_dir

    def with_own_log(self) -> Self:
        """These settings with an audit log in the user's own folder, if a service of one person has none that is set."""
        is_shared = self.redis_url is not None or self.knows_callers or not _is_loopback(self.host)
        folder = own_log_folder()
        if self.audit_dir is not None or self.audit_log == "off" or is_shared or folder is None:
            return self
        bounds = {"audit_keep_mb": _OWN_LOG_MB, "audit_rotate_mb": _OWN_FILE_MB}
        own = {name: min(value, getattr(self, name)) for name, value in bounds.items()}
        return self.model_copy(update={"audit_dir": folder, **own})

    def key_digests(self) -> dict[str, bytes]:
        """The SHA-256 of each of `api_keys` by its name. The keys themselves never leave this class."""
        return {name: hashlib.sha256(key.get_secret_value().encode()).digest() for name, key in self.api_keys.items()}


def read(config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings from file, environment and command line (strongest last).

    Raises:
        SettingsError: an option is wrong. The error names every wrong option.
    """
    named_values = {name: value for name, value in (overrides or {}).items() if value is not None}
    from_file = _read_file(config) if config else {}
    names = variables()
    unknown = sorted(name for name, value in os.environ.items() if _is_misspelt(name, value, names))  # noqa: TID251
    problems = [f"{name}: there is no such variable{_near(name)}" for name in unknown]
    problems += [
        f"{config}: {name}: there is no such option{_near(name)}"
        for name in map(str, from_file)
        if name not in Settings.model_fields
    ]
    if problems:
        raise SettingsError(*problems)
    in_environment = {name.removeprefix(_PREFIX).lower() for name in os.environ if name in names}  # noqa: TID251
    file_values = {name: value for name, value in from_file.items() if name not in in_environment}
    try:
        return Settings(**{**file_values, **named_values})
    except ValidationError as error:
        raise SettingsError(*map(_problem, error.errors())) from error


def own_log_folder() -> Path | None:
    """Where the audit log of this user is, as the XDG Base Directory Specification says for state. None: no file can be
    written there.
    """
    state = os.environ.get("XDG_STATE_HOME", "")  # noqa: TID251
    try:
        folder = Path(state) if Path(state).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:  # a user without a home
        return None
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    can_be_written = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return folder / "rewardline" / "log" if can_be_written else None


def variables() -> frozenset[str]:
    """The environment variables of all options."""
    return frozenset(f"{_PREFIX}{name.upper()}" for name in Settings.model_fields)


def _problem(error: Mapping[str, Any]) -> str:
    name = ".".join(map(str, error["loc"])) or "settings"
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such option{_near(name)}"
    return f"{name}: {str(error['msg']).removeprefix('Value error, ')}"


def _near(name: str) -> str:
    """The end of a message about an unknown name: the known one that it may stand for, written in the same way."""
    prefix = _PREFIX if name.startswith(_PREFIX) else ""
    close = get_close_matches(name.removeprefix(prefix).lower(), Settings.model_fields, n=1)
    if not close:
        return "; service/settings.py has all of them"
    return f"; did you mean {prefix}{close[0].upper() if prefix else close[0]}?"


def environment(names: Collection[str]) -> dict[str, str]:
    """The environment variables that one of our files names, if they are set: keys of judge models."""
    return {name: os.environ[name] for name in names if os.environ.get(name)}  # noqa: TID251


# A Kubernetes Service named "rewardline" puts variables of these names into every pod.
_SERVICE_LINK = re.compile(r"REWARDLINE_(.*_)?SERVICE_(HOST|PORT(_.*)?)|REWARDLINE_(.*_)?PORT_\d+_(TCP|UDP|SCTP)(_.*)?")
_PORT_LINK = re.compile(r"REWARDLINE_(.*_)?PORT")
_PORT_LINK_VALUE = re.compile(r"(tcp|udp|sctp)://.*")
_OF_THE_CLIENT = ("REWARDLINE_URL", "REWARDLINE_API_KEY", "REWARDLINE_RUN_ID", "REWARDLINE_PIN")


def _is_misspelt(name: str, value: str, names: Set[str]) -> bool:
    if not name.startswith(_PREFIX) or name in names or name in _OF_THE_CLIENT:
        return False
    is_port_link = _PORT_LINK.fullmatch(name) and _PORT_LINK_VALUE.fullmatch(value)
    return not (_SERVICE_LINK.fullmatch(name) or is_port_link)


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
