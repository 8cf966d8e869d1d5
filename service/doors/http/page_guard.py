"""Keeps web pages of others from using a service that asks for no key.

A page that somebody opens can make the browser send requests to any address that the browser reaches. The browser sends
some of them without asking the service first, and hides only the answer:

    another origin   a form, `fetch` with `no-cors`, a websocket. `Origin` or `Sec-Fetch-Site` says that it is another page.
    another name     the page's own name is made to point here (DNS rebinding), and the page can read the answers. To the
                     browser it is the same origin. Only `Host` says that it is not ours.

A page cannot send a key that it does not have, so the rules hold where none is asked for. Callers that are not browsers send
neither `Origin` nor `Sec-Fetch-Site`, so for them only the rule on names holds.
"""

import ipaddress
import re
import socket
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Self

from starlette.types import ASGIApp, Receive, Scope, Send

from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import drain_body
from service.errors import BadRequest, Forbidden, RequestError, UnsupportedMedia
from service.settings import Settings
from service.wire import encode

_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/?#@\s]+)(?::([0-9]{0,5}))?")
_SINGLE: Final = (b"host", b"origin", b"sec-fetch-site", b"x-item-count")
_PORTS: Final = {"http": "80", "https": "443"}
_OWN: Final = (b"same-origin", b"none")
"""`Sec-Fetch-Site` of our own pages, and of an address that somebody typed."""
_UNASKED_TYPES: Final = frozenset({b"", b"application/x-www-form-urlencoded", b"multipart/form-data", b"text/plain"})
"""The types of bodies that a browser sends to any address without asking it first."""
_PRIVATE: Final = (".local", ".internal", ".svc")
"""Endings of names that no public name server has: RFC 6762, ICANN's reserved domain, Kubernetes' services."""
_HOST_CHARS: Final = 253
"""The longest host name, by RFC 1035."""
_REMEMBERED: Final = 64


def check_single(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Check that a header that decides something is not there twice: others on the way may go by the other one.

    Raises:
        BadRequest
    """
    names = [name for name, _ in headers]
    for name in _SINGLE:
        if names.count(name) > 1:
            raise BadRequest(
                f"the request has the header {name.decode().title()} {names.count(name)} times; send it once"
            )


class PageGuard:
    """The names of a service, and the rules above."""

    def __init__(self, names: Collection[str] = (), *, is_reachable: bool = False, linked: Sequence[str] = ()) -> None:
        """
        Args:
            names: Names of the service beside `localhost` and addresses of loopback: `a.example`, `*.example`, or `*`.
            is_reachable: Whether other machines may call. Then any address is a name of the service, and any name that
                no public name server has. Nobody outside its network can make such a name point here, and who is inside
                can call without a browser.
            linked: The paths, with all paths below them, of pages that others may link to.
        """
        self._exact = {"localhost", *(name.lower() for name in names if not name.startswith("*"))}
        self._endings = tuple(name[1:].lower() for name in names if name.startswith("*"))
        self._is_reachable = is_reachable
        self._linked = linked
        self._known: set[bytes] = set()
        """Values of `Host` that were right. Callers send the same few."""

    @classmethod
    def of(cls, settings: Settings, host: str, linked: Sequence[str] = ()) -> Self:
        """The guard of a port that is bound to `host`."""
        is_reachable = settings.allow_open or not _is_loopback(host)
        host_names = [host, socket.gethostname()] if is_reachable else [host]
        return cls([*host_names, *settings.allowed_hosts], is_reachable=is_reachable, linked=linked)

    def check_host(self, headers: Mapping[bytes, bytes]) -> None:
        """Check that the caller calls the service by one of its names.

        Raises:
            Forbidden
        """
        value = headers.get(b"host", b"")
        if not value or value in self._known:
            return
        host, _ = _split(value)
        if not self._is_own(host):
            raise Forbidden(
                f"{host[:100]!r} is not a host name of this service, and it asks for no key. Call it by "
                f"{'an address' if self._is_reachable else 'localhost or 127.0.0.1'}, or name the host in the setting "
                "allowed_hosts (REWARDLINE_ALLOWED_HOSTS), or have the service ask for keys (REWARDLINE_API_KEYS)"
            )
        if len(self._known) < _REMEMBERED:
            self._known.add(value)

    def check_origin(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        """Check that no page of another origin makes the request.

        Raises:
            Forbidden
            UnsupportedMedia: it comes from a browser, and its body has a type that any page could send.
        """
        origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
        if origin is None and site is None:
            return
        is_same = origin is None or _is_same(origin, headers.get(b"host", b""))
        if not is_same or (site is not None and site not in _OWN):
            if self._follows_link(scope, headers):
                return
            source = "another page" if origin is None else repr(origin[:100].decode("latin-1"))
            raise Forbidden(
                f"a browser sent this for {source}, which is not a page of this service, and no key came with it. Pages "
                "of others need a key (Authorization: Bearer <key>). A proxy in front of the service must pass on the "
                "header Host"
            )
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if media in _UNASKED_TYPES and _has_body(headers):
            raise UnsupportedMedia(
                f"Content-Type {media.decode('latin-1')!r} from a browser; send the header Content-Type: application/json"
            )

    def _is_own(self, host: str) -> bool:
        if host in self._exact or _is_loopback(host) or (self._endings and host.endswith(self._endings)):
            return True
        return self._is_reachable and host != "" and (_is_address(host) or _is_private(host))

    def _follows_link(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Whether somebody follows a link to one of our pages. The page that has the link sees nothing of ours."""
        return (
            scope["type"] == "http"
            and scope["method"] in ("GET", "HEAD")
            and headers.get(b"sec-fetch-mode") == b"navigate"
            and headers.get(b"sec-fetch-dest") == b"document"
            and any(scope["path"] == path or scope["path"].startswith(f"{path}/") for path in self._linked)
        )


class GuardedFromPages:
    """An application that asks for no keys, behind a guard."""

    def __init__(self, app: ASGIApp, guard: PageGuard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = dict(scope["headers"])
            try:
                if len(headers) < len(scope["headers"]):
                    check_single(scope["headers"])
                self._guard.check_host(headers)
                self._guard.check_origin(scope, headers)
            except RequestError as error:
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)


async def refuse(error: RequestError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or the wish for a websocket, with an error."""
    await drain_body(receive)
    if scope["type"] == "http":
        await asgi_response.respond(send, error.http_status, encode(error.problem()), media=asgi_response.PROBLEM)
    else:
        await refuse_websocket(error, scope, send)


async def refuse_websocket(error: RequestError, scope: Scope, send: Send) -> None:
    """Answer the wish for a websocket with an error. The wish was received."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": error.title})
        return
    body = encode(error.problem())
    headers = [(b"content-type", asgi_response.PROBLEM), (b"content-length", b"%d" % len(body))]
    await send({"type": "websocket.http.response.start", "status": error.http_status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def _split(authority: bytes) -> tuple[str, str]:
    """The host in small letters, and the port. Both are empty if this is neither."""
    match = _AUTHORITY.fullmatch(authority[: _HOST_CHARS + 10].decode("latin-1").lower())
    if match is None:
        return "", ""
    return match[1].removesuffix("."), match[2] or ""


def _is_same(origin: bytes, host: bytes) -> bool:
    """Whether the origin is that of the address that was called. A proxy may have ended TLS, so its scheme may differ."""
    scheme, separator, authority = origin.partition(b"://")
    default = _PORTS.get(scheme.decode("latin-1"))
    if not separator or default is None:
        return False
    (name, port), (called, called_port) = _split(authority), _split(host)
    return name != "" and name == called and (port or default) == (called_port or default)


def _has_body(headers: Mapping[bytes, bytes]) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def _is_private(host: str) -> bool:
    return "." not in host or host.endswith(_PRIVATE)


def _is_address(host: str) -> bool:
    return _address(host) is not None


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
