"""The list of box hosts, and the choice of the host for the next program.

Host names are looked up again and again, and each address is a host of its own. So a headless Service of Kubernetes
lists all its pods, and new pods appear within `LOOK_UP_S`. With TLS, each of them needs a certificate for that name. A
host is up while it answers `GET /v1/sandbox` and reports ready boxes. A host whose connection broke is down until it
answers again.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from sandbox.base import Isolation
from sandbox.boxes.remote.tls import TlsContext
from tracing.lines import Log

LOOK_UP_S: Final = 5.0
PROBE_S: Final = 2.0
_PROBE_PATIENCE_S: Final = 3.0
_PORTS: Final = {"http": 80, "https": 443}
_STRENGTH: Final = tuple(Isolation)

log = Log("rewardline.box_hosts")


@dataclass(eq=False, slots=True)
class Host:
    """One address of a box host."""

    url: str
    """Has the address in place of the name."""
    asked: str = ""
    """For TLS: the URL as configured. It names the host that the certificate must be for, and that the request is meant
    for.
    """
    why_down: str = "not asked yet"
    """Empty while the host is up."""
    slots: int = 1
    languages: frozenset[str] = frozenset()
    isolation: Isolation | None = None
    caveats: Sequence[str] = ()
    under_way: int = 0
    """How many of our programs it is running."""

    @property
    def is_up(self) -> bool:
        return not self.why_down

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Host": urlsplit(self.asked).netloc} if self.asked else {}

    @property
    def load(self) -> float:
        return (self.under_way + 1) / self.slots

    def update(self, described: Mapping[str, Any]) -> None:
        """Store what the host reports about itself."""
        self.why_down = "" if described.get("state") == "ready" else str(described.get("message") or "has no boxes")
        self.slots = max(1, int(described.get("slots") or 1))
        self.languages = frozenset(map(str, described.get("languages") or ()))
        self.caveats = tuple(map(str, described.get("caveats") or ()))
        with contextlib.suppress(ValueError):
            self.isolation = Isolation(str(described.get("isolation")))


@dataclass(eq=False)
class Hosts:
    """All known hosts. `watch` keeps the list up to date."""

    urls: Sequence[str]
    session: aiohttp.ClientSession
    tls_context: TlsContext
    known: dict[str, Host] = field(default_factory=dict)

    @property
    def up(self) -> list[Host]:
        return [host for host in self.known.values() if host.is_up]

    @property
    def trouble(self) -> str:
        """Why no program can be run; empty while one host is up."""
        if self.up:
            return ""
        reasons = [f"{host.url}: {host.why_down}" for host in self.known.values()]
        return "no box host is up: " + ("; ".join(reasons) or f"no address found for {', '.join(self.urls)}")

    def choose(self, language: str, apart_from: Iterable[Host]) -> Host | None:
        """The least busy host that is up and runs this language."""
        candidates = set(self.up) - set(apart_from)
        return min(
            (host for host in candidates if language in host.languages), key=lambda host: host.load, default=None
        )

    def weakest_isolation(self) -> Isolation | None:
        """The weakest isolation of all hosts that are up: a program may go to any of them."""
        kinds = [host.isolation for host in self.up if host.isolation is not None]
        return max(kinds, key=_STRENGTH.index, default=None)

    def tls(self, host: Host) -> dict[str, Any]:
        """Keyword arguments for a request to this host."""
        if not host.asked:
            return {}
        return {"ssl": self.tls_context.context, "server_hostname": urlsplit(host.asked).hostname}

    async def watch(self, noted: Callable[[], None]) -> None:
        """Look up names and probe hosts, for ever. `noted` is called after each round."""
        while True:
            await self.tls_context.refresh()
            await self.look_up()
            for _ in range(max(1, round(LOOK_UP_S / PROBE_S))):
                await self.probe()
                noted()
                await asyncio.sleep(PROBE_S)

    async def look_up(self) -> None:
        """Look up all names. If a lookup fails, the known addresses of that name stay."""
        names: set[str] = set()
        for url in self.urls:
            try:
                names |= await addresses(url)
            except (OSError, UnicodeError) as error:
                log.warning("the name of a box host cannot be looked up", url=url, why=str(error))
                names |= {address for address in self.known if address.endswith(f"#{url}")}
        for lost in self.known.keys() - names:
            del self.known[lost]
        for name in names - self.known.keys():
            url, _, url_asked = name.partition("#")
            self.known[name] = Host(url, url_asked if url_asked.startswith("https:") else "")

    async def probe(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for host in list(self.known.values()):
                tasks.create_task(self._ask(host))

    async def _ask(self, host: Host) -> None:
        was_up = host.is_up
        asking = self.session.get(f"{host.url}/v1/sandbox", headers=host.headers, **self.tls(host))
        try:
            async with asyncio.timeout(_PROBE_PATIENCE_S), asking as answer:
                if answer.status != 200:
                    host.why_down = f"answers with status {answer.status}"
                else:
                    host.update(await answer.json())
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, AttributeError, TypeError) as error:
            host.why_down = f"cannot be reached: {str(error) or type(error).__name__}"
        if was_up is not host.is_up:
            log.info("a box host changed", url=host.url, up=host.is_up, why=host.why_down)


async def addresses(url: str) -> set[str]:
    """`scheme://address:port#url` for each address behind a URL.

    Raises:
        OSError: the name cannot be looked up.
        UnicodeError: it is not a valid host name.
    """
    url_parts = urlsplit(url)
    port = url_parts.port or _PORTS[url_parts.scheme]
    records = await asyncio.get_running_loop().getaddrinfo(url_parts.hostname, port, type=socket.SOCK_STREAM)
    return {f"{url_parts.scheme}://{_in_url(str(address[0]))}:{port}#{url}" for *_, address in records}


def _in_url(address: str) -> str:
    return f"[{address}]" if ":" in address else address
