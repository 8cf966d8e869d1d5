"""The settings of a client, and the base of both clients: the constructor, pickling and `repr`."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from rewardline.redaction import shown_url
from rewardline.tls import TlsFiles

_POOL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@~+=/-]{0,127}")


@dataclass(frozen=True)
class Config:
    """All settings of a client. Pickling a client carries these and nothing else."""

    url: str = field(repr=False)
    api_key: str | None = field(repr=False)
    timeout_s: float
    max_in_flight: int
    batch_items: int
    batch_bytes: int
    max_retries: int
    max_resends: int
    gather_ms: float
    gather_items: int
    compress: str | None
    tls_ca: str | None
    tls_cert: str | None
    tls_key: str | None
    run_id: str | None = None
    pin: str | None = None
    receipts: bool = False

    @property
    def asks(self) -> dict[str, str]:
        """The headers, or metadata of gRPC, of what each call asks for beside verdicts."""
        return {**({"x-pin": self.pin} if self.pin else {}), **({"x-receipt": "1"} if self.receipts else {})}

    @property
    def tls(self) -> TlsFiles:
        return TlsFiles(self.tls_ca, self.tls_cert, self.tls_key)

    def __post_init__(self) -> None:
        scheme, separator, host = self.url.partition("://")
        if scheme == "ray" and separator:
            if not _POOL.fullmatch(host):
                raise ValueError(
                    f"ray:// takes the name of a pool in this Ray cluster, such as ray://rewardline; found {shown_url(self.url)!r}"
                )
        elif scheme not in ("http", "https", "grpc", "grpcs") or not separator or not host.strip("/"):
            raise ValueError(
                f"expected http://, https://, grpc:// or grpcs:// and a host, or ray:// and a pool, "
                f"found {shown_url(self.url)!r}"
            )
        for name in ("max_in_flight", "batch_items", "batch_bytes", "gather_items"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)!r}")
        for name in ("max_retries", "max_resends", "gather_ms"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, found {getattr(self, name)!r}")
        if self.compress not in (None, "gzip"):
            raise ValueError(f"compress must be None or 'gzip', found {self.compress!r}")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise ValueError("api_key holds characters that no header can, such as the end of a line")
        check_deadline(self.timeout_s)
        check_run_id(self.run_id)
        if self.pin is not None and not (self.pin.isascii() and self.pin.isprintable()):
            raise ValueError("pin holds characters that no header can; name a date, a lock of the server, or a file")
        self.tls  # noqa: B018 - raises if a certificate comes without its key


class ConfiguredClient:
    """The base of both clients. A subclass extends `_setup`, which every new, copied or unpickled client calls."""

    _config: Config

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: float = 60.0,
        max_in_flight: int = 8,
        batch_items: int = 512,
        batch_bytes: int = 4 * 1024 * 1024,
        max_retries: int = 10,
        max_resends: int = 3,
        gather_ms: float = 2.0,
        gather_items: int = 256,
        compress: str | None = None,
        tls_ca: str | None = None,
        tls_cert: str | None = None,
        tls_key: str | None = None,
        run_id: str | None = None,
        pin: str | None = None,
        receipts: bool = False,
    ) -> None:
        """Check the settings. The first call opens the connections.

        Args:
            url: `http(s)://host:port`, `grpc(s)://host:port` (needs `rewardline[grpc]`), or `ray://pool` for a pool of
                `rewardline.ray.start` in the Ray cluster of this process.
            api_key: The client sends it as a bearer token.
            timeout_s: The deadline of a call that names none.
            max_in_flight: At most so many requests are on their way at once, per event loop.
            batch_items: At most so many items are in one request.
            batch_bytes: A request has at most so many bytes, unless one item is larger.
            max_retries: How often the client sends a request again after a lost connection or a server error. The pauses
                between ten of them are 13 to 26 s together, longer than a restart of the service. The client waits for a
                busy server until the deadline.
            max_resends: How often the client sends an item again that the server answered with `failed`.
            gather_ms: How long `score_one` waits for other calls to share a request with; 0 sends at once.
            gather_items: At most so many `score_one` calls share a request.
            compress: "gzip" compresses request bodies over 64 kB (HTTP).
            tls_ca: PEM file of the authorities to trust with `https://` and `grpcs://`; default: those of this machine.
            tls_cert: PEM file of the client's certificate, for a server that asks for one.
            tls_key: PEM file of the key of `tls_cert`.
            run_id: The run that calls belong to which name none: its usage is counted apart, and logs name it.
            pin: The versions that may judge: a date, the name of a lock that the server has, or the path of a lock file
                (`.json`) of `rewardline lock`. A server with others refuses the items, or has the pinned release judge.
            receipts: Each result carries its receipt (`Result.receipt`).

        Raises:
            ValueError: A setting can never work.
        """
        self._setup(
            Config(
                url.rstrip("/"),
                api_key,
                timeout_s,
                max_in_flight,
                batch_items,
                batch_bytes,
                max_retries,
                max_resends,
                gather_ms,
                gather_items,
                compress,
                tls_ca,
                tls_cert,
                tls_key,
                run_id,
                lock_text(pin),
                receipts,
            )
        )

    def _setup(self, config: Config) -> None:
        self._config = config

    def __getstate__(self) -> dict[str, Any]:
        return asdict(self._config)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._setup(Config(**state))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shown_url(self._config.url)!r})"


def lock_text(pin: str | None) -> str | None:
    """What a header says of a pin: a name as it is, a lock file by its content.

    Raises:
        ValueError: The file cannot be read, or is not JSON.
    """
    if pin is None or not pin.endswith(".json"):
        return pin
    try:
        with open(pin, encoding="utf-8") as file:
            return json.dumps(json.load(file), separators=(",", ":"))
    except (OSError, ValueError) as error:
        raise ValueError(f"pin: {pin}: {error}") from error


def check_deadline(seconds: float) -> None:
    """Raise ValueError if no call could end by this deadline."""
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"a deadline must be a positive number of seconds, found {seconds!r}")


def check_run_id(run_id: str | None) -> None:
    """Raise ValueError if no server would take this name of a run."""
    if run_id is not None and not _RUN_ID.fullmatch(run_id):
        raise ValueError(f"a run_id has 1 to 128 letters, digits and . _ : @ ~ + = / -, found {run_id!r}")
