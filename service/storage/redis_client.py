"""Makes a Redis client from a URL: for one server, TLS, a Unix socket, Sentinel or Cluster. The client tries each call
once.

    redis://[user:password@]host[:6379][/db]                   rediss:// is the same over TLS
    unix://[user:password@]/path/to/socket[?db=0]
    redis+sentinel://[user:password@]host[:26379],host/service[/db]   the credentials are those of the Redis servers
    redis+cluster://[user:password@]host[:6379],host           rediss+sentinel, rediss+cluster are the same over TLS

Options after `?`: with TLS `ssl_ca_certs`, `ssl_certfile`, `ssl_keyfile`, `ssl_cert_reqs`, `ssl_check_hostname`;
with Sentinel `sentinel_username`, `sentinel_password`; `db` with a Unix socket.

The defaults of the library do not fit a cache: with its ten retries and their back-off, one call to a dead server takes
seconds.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff

Client: TypeAlias = Redis | RedisCluster

_CLIENT_NAME = "rewardline"

_SCHEMES = ("redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster")
_TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
_SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password")
_CERT_REQS = ("required", "optional", "none")


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """The address of Redis, with its credentials. `str()` shows no secret."""

    scheme: str
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    """The path of the Unix socket."""
    service: str = ""
    """The name by which Sentinel knows the master."""
    db: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_cluster(self) -> bool:
        return self.scheme.endswith("+cluster")

    @property
    def is_sentinel(self) -> bool:
        return self.scheme.endswith("+sentinel")

    @property
    def is_tls(self) -> bool:
        return self.scheme.startswith("rediss")

    def __str__(self) -> str:
        entry = "***@" if self.username or self.password else ""
        hosts = ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)
        service = f"/{self.service}" if self.service else ""
        return f"{self.scheme}://{entry}{hosts}{self.path}{service}" + (f"/{self.db}" if self.db else "")


def parse_redis_url(url: str) -> RedisAddress:
    """The address in `url`. The docstring of the module lists the forms.

    Raises:
        ValueError: the URL has none of these forms. The message never quotes the URL, which may hold a password.
    """
    scheme, separator, location = url.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise ValueError(f"Redis URL: expected one of {', '.join(f'{name}://' for name in _SCHEMES)}")
    url_parts = urlsplit(f"//{location}")
    if url_parts.fragment or "@" in url_parts.path + url_parts.query:
        raise ValueError("Redis URL: percent-encode the characters / ? # @ in user name and password")
    entry, _, hosts = url_parts.netloc.rpartition("@")
    username, _, password = entry.partition(":")
    options = _options(scheme, url_parts.query)
    path = unquote(url_parts.path)
    address = RedisAddress(
        scheme=scheme, username=unquote(username) or None, password=unquote(password) or None, options=options
    )
    if scheme == "unix":
        return _at_socket(address, hosts, path)
    return _at_hosts(address, hosts, path)


def connect(address: RedisAddress, *, timeout_s: float, connect_timeout_s: float, max_connections: int) -> Client:
    """A client that opens its connections when it needs them. It tries no call twice.

    `timeout_s` bounds the wait for each piece of a reply. Replies are bytes.

    Raises:
        ValueError: a certificate or key cannot be used.
    """
    # Protocol 2: our commands need nothing of 3, and a broken server could send anything in push messages of 3.
    waits: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": connect_timeout_s,
        "socket_keepalive": True,
        "protocol": 2,
    }
    tls = _tls(address)
    common: dict[str, Any] = {
        **waits,
        **tls,
        "username": address.username,
        "password": address.password,
        "client_name": _CLIENT_NAME,
        "max_connections": max_connections,
    }
    if address.is_cluster:
        nodes = [ClusterNode(host, port) for host, port in address.hosts]
        return RedisCluster(startup_nodes=nodes, require_full_coverage=False, retry=_once(), **common)
    if address.is_sentinel:
        entry = {
            "username": address.options.get("sentinel_username"),
            "password": address.options.get("sentinel_password"),
        }
        options = {**waits, **tls, **entry, "retry": _once()}
        sentinel = Sentinel(address.hosts, sentinel_kwargs=options)  # type: ignore[no-untyped-call]  # so in redis-py
        master: Redis = sentinel.master_for(address.service, db=address.db, retry=_once(), **common)
        return master
    if address.path:
        common.pop("socket_keepalive")
        return Redis(unix_socket_path=address.path, db=address.db, retry=_once(), **common)
    [(host, port)] = address.hosts
    return Redis(host=host, port=port, db=address.db, retry=_once(), **common)


async def disconnect(client: Client, within_s: float) -> None:
    """Close the connections of the client, and those to the Sentinels that it asked. Trouble with them is left alone."""
    with suppress(Exception):
        async with asyncio.timeout(within_s):
            await _disconnect(client)


def described(error: BaseException) -> str:
    """The kind of the error and the start of its message, on one line. Some of it may come from a broken server."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__} {str(error)[:200]!r}"


async def _disconnect(client: Client) -> None:
    if isinstance(client, RedisCluster):
        await client.aclose()
        return
    pool = client.connection_pool
    await client.aclose(close_connection_pool=True)
    if isinstance(pool, SentinelConnectionPool):
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def _options(scheme: str, query: str) -> dict[str, str]:
    allowed: list[str] = []
    if scheme == "unix":
        allowed.append("db")
    if scheme.startswith("rediss"):
        allowed.extend(_TLS_OPTIONS)
    if scheme.endswith("+sentinel"):
        allowed.extend(_SENTINEL_OPTIONS)
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        raise ValueError("Redis URL: after ? expected name=value pairs joined by &") from None
    if not options.keys() <= set(allowed):
        names = ", ".join(allowed) or "none"
        raise ValueError(f"Redis URL: unknown option after ?; with {scheme}:// there are: {names}")
    if options.get("ssl_cert_reqs", "required") not in _CERT_REQS:
        raise ValueError(f"Redis URL: ssl_cert_reqs is one of {', '.join(_CERT_REQS)}")
    if options.get("ssl_check_hostname", "true") not in ("true", "false"):
        raise ValueError("Redis URL: ssl_check_hostname is true or false")
    return options


def _at_socket(address: RedisAddress, hosts: str, path: str) -> RedisAddress:
    if hosts or not path.strip("/"):
        raise ValueError("Redis URL: expected unix:///path/to/socket")
    options = dict(address.options)
    return replace(address, path=path, db=_db(options.pop("db", "0")), options=options)


def _at_hosts(address: RedisAddress, hosts: str, path: str) -> RedisAddress:
    addresses = tuple(_host(host, 26379 if address.is_sentinel else 6379) for host in hosts.split(","))
    steps = path.strip("/").split("/") if path.strip("/") else []
    if address.is_cluster:
        if steps:
            raise ValueError("Redis URL: a cluster has no database number and no path")
        return replace(address, hosts=addresses)
    if address.is_sentinel:
        if not 1 <= len(steps) <= 2:
            raise ValueError(f"Redis URL: expected {address.scheme}://host:port,host:port/service_name[/db]")
        return replace(address, hosts=addresses, service=steps[0], db=_db(steps[1]) if steps[1:] else 0)
    if len(addresses) > 1:
        raise ValueError(f"Redis URL: {address.scheme}:// takes one host; several need +sentinel or +cluster")
    if len(steps) > 1:
        raise ValueError(f"Redis URL: expected {address.scheme}://host:port/db")
    return replace(address, hosts=addresses, db=_db(steps[0]) if steps else 0)


def _host(address: str, default_port: int) -> tuple[str, int]:
    try:
        url_parts = urlsplit(f"//{address}")
        host, port = url_parts.hostname, url_parts.port
    except ValueError:
        raise ValueError("Redis URL: a port is a number from 1 to 65535; an IPv6 host stands in [ ]") from None
    if not host or port == 0:
        raise ValueError("Redis URL: expected a host, or host:port")
    return host, port or default_port


def _db(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("Redis URL: the database is a number")
    return int(text)


def _tls(address: RedisAddress) -> dict[str, Any]:
    if not address.is_tls:
        return {}
    options: dict[str, Any] = {name: address.options[name] for name in _TLS_OPTIONS if name in address.options}
    reqs = options.setdefault("ssl_cert_reqs", "required")
    for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"):
        if name in options:
            _check_readable(name, options[name])
    # The ssl module refuses to check the name of a certificate that is not checked itself.
    options["ssl_check_hostname"] = reqs != "none" and options.get("ssl_check_hostname", "true") == "true"
    return {"ssl": True, **options}


def _check_readable(option: str, path: str) -> None:
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise ValueError(f"Redis URL: {option}: cannot read {path}: {error.strerror}") from error


def _once() -> Retry:
    return Retry(NoBackoff(), 0)
