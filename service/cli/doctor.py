"""`rewardline doctor URL` tries a running service as a trainer would use it, and says what is wrong."""

import email.utils
import logging
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Annotated, Literal
from urllib.parse import urlsplit

import aiohttp
import typer
import uvloop
from rewardline import AsyncClient, RewardlineError, Unauthorized
from rewardline.http_transport import why
from rewardline.redaction import shown_url
from rich.table import Table

from service.cli.console import err, fail, out

Grade = Literal["good", "note", "bad"]
_WORDS: dict[Grade, str] = {"good": "[green]good[/green]", "note": "[yellow]note[/yellow]", "bad": "[red]BAD[/red]"}
_GRPC_PORT = 8081
_SKEW_S = 5.0
_FORBIDDEN = 403
_FOR_ADMINS = ("judges",)
_ILL = ("ejected", "trial", "disabled", "held")
_SUM = {"verifier": "math", "response": r"It is \boxed{\frac12}.", "reference": "0.5"}
_PROGRAM = {
    "verifier": "code",
    "response": "```python\nprint(int(input()) + 1)\n```",
    "reference": [{"input": "1", "output": "2"}],
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw."""

    check: str
    grade: Grade
    text: str
    """What is there, or what is wrong and what to do."""


def command(
    url: Annotated[str, typer.Argument(help="The service: http(s)://host:port.")] = "http://127.0.0.1:8080",
    grpc: Annotated[str | None, typer.Option(help="Its gRPC address; default: port 8081 of the same host.")] = None,
    api_key: Annotated[str | None, typer.Option(envvar="REWARDLINE_API_KEY", help="The key to try.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, max=600, help="Seconds for each check.")] = 10.0,
) -> None:
    """Try a running service: address, version, clock, key, a verdict, gRPC, boxes, judges, Redis. Exit code 1: one is bad."""
    url_parts = urlsplit(url)
    if url_parts.scheme not in ("http", "https") or not url_parts.hostname:
        raise fail(f"expected http(s)://host:port, found {shown_url(url)!r}")
    address = grpc or f"{url_parts.hostname}:{_GRPC_PORT}"
    if "://" not in address:
        address = f"{'grpcs' if url_parts.scheme == 'https' else 'grpc'}://{address}"
    service = Service(url.rstrip("/"), address, api_key, timeout)
    logging.getLogger("rewardline").setLevel(logging.ERROR)  # the table says it
    with err.status(f"asking {shown_url(url)}"):
        findings = uvloop.run(examine(service, grpc_is_named=grpc is not None))
    table = Table("check", "", "what")
    for finding in findings:
        table.add_row(finding.check, _WORDS[finding.grade], finding.text)
    out.print(table)
    if any(finding.grade == "bad" for finding in findings):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is, and how to ask it."""

    url: str
    grpc_url: str
    api_key: str | None
    timeout_s: float

    @asynccontextmanager
    async def client(self, url: str) -> AsyncIterator[AsyncClient]:
        async with AsyncClient(
            url, api_key=self.api_key, timeout_s=self.timeout_s, max_retries=0, max_resends=0
        ) as client:
            yield client


async def examine(service: Service, *, grpc_is_named: bool = True) -> list[Finding]:
    """All findings about a service. Without an answer at its address there are no others."""
    findings = await _address(service)
    if findings[-1].grade == "bad":
        return findings
    async with service.client(service.url) as client:
        for check, examined in (
            ("version", _version),
            ("readiness", _readiness),
            ("verdict", _verdict),
            ("boxes", _boxes),
            ("judges", _judges),
        ):
            findings.append(await _seen(check, examined(client)))
    findings.append(await _grpc(service, is_named=grpc_is_named))
    return findings


async def _address(service: Service) -> list[Finding]:
    """Whether a Rewardline service is there, and what time it has."""
    url = shown_url(service.url)
    timeout = aiohttp.ClientTimeout(total=service.timeout_s)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{service.url}/healthz", allow_redirects=False) as response,
        ):
            body = (await response.content.read(1000)).decode(errors="replace")
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        fault = "no answer in time" if isinstance(error, TimeoutError) else why(error)
        return [Finding("address", "bad", f"{url} does not answer: {fault}. Is the service up, on this host and port?")]
    if response.status != 200 or '"alive"' not in body:
        text = f"{url} is another server: /healthz answers {response.status} {body[:80]!r}"
        return [Finding("address", "bad", text)]
    return [Finding("address", "good", url), *_clock(response.headers.get("Date"))]


def _clock(date: str | None) -> list[Finding]:
    if date is None:
        return []
    skew_s = email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    if abs(skew_s) <= _SKEW_S:
        return [Finding("clock", "good", "the same as here")]
    text = f"the service's clock differs by {skew_s:+.0f} s: times in logs and of keys do not agree; synchronise both"
    return [Finding("clock", "note", text)]


async def _seen(check: str, examined: Awaitable[tuple[Grade, str]]) -> Finding:
    try:
        return Finding(check, *(await examined))
    except Unauthorized as error:
        if error.status == _FORBIDDEN and check in _FOR_ADMINS:
            return Finding(check, "note", "not seen: that needs a key with the scope admin")
        return Finding(check, "bad", f"{error}. --api-key or REWARDLINE_API_KEY gives the key")
    except RewardlineError as error:
        return Finding(check, "bad", str(error))


async def _version(client: AsyncClient) -> tuple[Grade, str]:
    service_version = str((await client.call("GET", "/openapi.json"))["info"]["version"])
    own_version = version("rewardline-server")
    if service_version == own_version:
        return "good", service_version
    return "note", f"the service is {service_version}, this command {own_version}: verdicts may differ"


async def _readiness(client: AsyncClient) -> tuple[Grade, str]:
    state = await client.call("GET", "/readyz")
    lacks = {**state.get("lacks", {}), **state.get("starting", {})}
    return ("note", "; ".join(f"{part}: {why}" for part, why in lacks.items())) if lacks else ("good", "ready")


async def _verdict(client: AsyncClient) -> tuple[Grade, str]:
    began = time.perf_counter()
    (result,) = await client.score([_SUM], cache="off")
    if result.score != 1.0:
        return (
            "bad",
            f"math says {result.status} ({result.reason} {result.detail.get('message', '')}) of a right answer",
        )
    return "good", f"math judged in {1000 * (time.perf_counter() - began):.0f} ms"


async def _boxes(client: AsyncClient) -> tuple[Grade, str]:
    boxes = await client.call("GET", "/v1/sandbox")
    if boxes["state"] != "ready":
        return "note", f"{boxes['state']}: items of code wait or are failed. {boxes['message']}".rstrip()
    (result,) = await client.score([_PROGRAM], cache="off")
    if result.score != 1.0:
        return (
            "bad",
            f"code says {result.status} ({result.reason} {result.detail.get('message', '')}) of a right program",
        )
    return "good", f"{boxes['kind']}, {boxes['slots']} at once: {', '.join(boxes['languages'])}"


async def _judges(client: AsyncClient) -> tuple[Grade, str]:
    judges = await client.call("GET", "/v1/judges")
    if not judges["configured"]:
        return "note", "none: items of judge are failed (judge_not_configured) until the setting judge_file names some"
    ill = [f"{j['name']} {j['state']} {j['why']}".rstrip() for j in judges["endpoints"] if j["state"] in _ILL]
    if ill:
        return "bad", f"{'; '.join(ill)}; `rewardline judges FILE` tries each"
    return "good", ", ".join(f"{j['name']} ({j['state']})" for j in judges["endpoints"])


async def _grpc(service: Service, *, is_named: bool) -> Finding:
    async def verdict() -> tuple[Grade, str]:
        async with service.client(service.grpc_url) as client:
            (result,) = await client.score([_SUM], cache="off")
        if result.score == 1.0:
            return "good", service.grpc_url
        why = f"{service.grpc_url}: {result.reason} {result.detail.get('message', '')}".rstrip()
        return ("bad", why) if is_named else ("note", f"{why}; --grpc names another address")

    return await _seen("gRPC", verdict())
