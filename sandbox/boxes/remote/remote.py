"""`RemoteSandbox`: a sandbox that runs programs in the boxes of box hosts."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import aiohttp

from sandbox.base import Built, Isolation, Program, Run, RunResult, Sandbox, SandboxUnavailable
from sandbox.boxes.pool.counters import Counters
from sandbox.boxes.pool.job import Submission
from sandbox.boxes.remote import wire
from sandbox.boxes.remote.hosts import Host, Hosts
from sandbox.boxes.remote.tls import BadTlsFiles, TlsContext, TlsFiles
from tracing import spans

MAX_LOSSES: Final = 2
SILENCE_S: Final = 4 * wire.ALIVE_S
"""A host that has sent nothing for this long is lost."""
_CONNECT_S: Final = 5.0
_FIRST_LOOK_S: Final = 3.0
_OF_THIS_MACHINE: Final = TlsFiles()


class HostLost(Exception):
    """The connection broke, or sent something invalid; says nothing about the program."""


class HostBusy(Exception):
    """The host refused the program for now; another host may take it."""

    def __init__(self, why: SandboxUnavailable) -> None:
        super().__init__(str(why))
        self.why = why


class RemoteSandbox(Sandbox):
    """Sends each program to the least busy host that is up."""

    isolation = Isolation.LANDLOCK

    def __init__(
        self, urls: Sequence[str], key: str | None, *, slots: int, tls_files: TlsFiles = _OF_THIS_MACHINE
    ) -> None:
        """Store the settings; `start` makes the connections.

        Args:
            urls: `http(s)://host:port` of the hosts. Every address of a name is one host.
            key: Sent as bearer token.
            slots: How many of our programs may be under way at once, on all hosts together.
            tls_files: TLS files for `https://` hosts.
        """
        self.counters = Counters()
        self._urls = list(urls)
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._slots = slots
        self._tls_files = tls_files
        self._free_slots = asyncio.Semaphore(slots)
        self._waiting = 0
        self._hosts: Hosts | None = None
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to look for hosts. It succeeds even if no host is up yet."""
        try:
            tls_context = TlsContext(self._tls_files)
        except BadTlsFiles as error:
            raise SandboxUnavailable(f"TLS to box hosts cannot be set up: {error}") from error
        session = aiohttp.ClientSession(
            headers=self._headers,
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=SILENCE_S),
        )
        self._hosts = Hosts(self._urls, session, tls_context)
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LOOK_S):
                await self._hosts.look_up()
                await self._hosts.probe()
        self._update_isolation()
        self._watching = asyncio.create_task(self._hosts.watch(self._update_isolation))

    def _update_isolation(self) -> None:
        """Take over the weakest isolation of all hosts that are up, and all their caveats."""
        if self._hosts is not None and self._hosts.up:
            self.isolation = self._hosts.weakest_isolation() or self.isolation
            self.caveats = tuple(dict.fromkeys(caveat for host in self._hosts.up for caveat in host.caveats))

    async def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        hosts, self._hosts = self._hosts, None
        if hosts is not None:
            await hosts.session.close()

    @property
    def languages(self) -> frozenset[str]:
        return frozenset[str]().union(*(host.languages for host in self._hosts.up)) if self._hosts else frozenset()

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def trouble(self) -> str:
        return self._hosts.trouble if self._hosts is not None else "not started"

    @property
    def ready(self) -> int:
        """Free slots on the hosts that are up, counting only our own programs as busy."""
        return sum(max(0, host.slots - host.under_way) for host in self._hosts.up) if self._hosts else 0

    @property
    def standing(self) -> int:
        """Runs that stand ready: known to the hosts alone."""
        return 0

    @property
    def busy(self) -> int:
        return sum(host.under_way for host in self._hosts.known.values()) if self._hosts else 0

    @property
    def waiting(self) -> int:
        return self._waiting

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        submission = Submission(runs, on_result)
        self._waiting += 1
        try:
            await self._free_slots.acquire()
        finally:
            self._waiting -= 1
        try:
            return await self._anywhere(program, submission)
        finally:
            self._free_slots.release()

    async def _anywhere(self, program: Program, submission: Submission) -> Built:
        tried: list[Host] = []
        losses = 0
        refusal: SandboxUnavailable | None = None
        self.counters.jobs += 1
        while (host := self._choose(program, tried, refusal)) is not None:
            tried.append(host)
            try:
                return await self._on(host, program, submission)
            except HostBusy as busy:
                refusal = busy.why
            except HostLost as lost:
                host.why_down = str(lost)
                losses += 1
                refusal = SandboxUnavailable(f"box host {host.url} was lost: {lost}", "box_died")
                if losses >= MAX_LOSSES:
                    break
            self.counters.jobs_again += 1
        assert refusal is not None
        self.counters.refused += refusal.reason == "sandbox_busy"
        raise refusal

    def _choose(self, program: Program, tried: Sequence[Host], refusal: SandboxUnavailable | None) -> Host | None:
        if self._hosts is None:
            raise SandboxUnavailable("the sandbox is not running; call `start` first")
        host = self._hosts.choose(program.language, tried)
        if host is None and refusal is None:
            if self._hosts.trouble:
                raise SandboxUnavailable(self._hosts.trouble)
            message = f"no box host runs {program.language!r}; they run {sorted(self.languages)}"
            raise SandboxUnavailable(message, "language_unavailable")
        return host

    @spans.traced("program on a box host", "client")
    async def _on(self, host: Host, program: Program, submission: Submission) -> Built:
        """Do the runs that have no result yet on this host."""
        assert self._hosts is not None
        spans.note(box_host=host.url, language=program.language)
        order = wire.encode_order(program, list(submission.runs[submission.next :]))
        host.under_way += 1
        try:
            async with self._hosts.session.post(
                f"{host.url}{wire.PATH}",
                data=order,
                headers={"Content-Type": wire.MEDIA, **host.headers, **spans.headers()},
                **self._hosts.tls(host),
            ) as answer:
                if answer.status != 200:
                    raise await _refusal(answer)
                return await self._results(answer.content, submission)
        except (aiohttp.ClientError, OSError, TimeoutError, asyncio.IncompleteReadError, wire.MalformedFrame) as error:
            raise HostLost(str(error) or type(error).__name__) from error
        finally:
            host.under_way -= 1

    async def _results(self, stream: aiohttp.StreamReader, submission: Submission) -> Built:
        while True:
            length = wire.length_in(await stream.readexactly(wire.HEAD_BYTES))
            match wire.decode_frame(await stream.readexactly(length)):
                case wire.Result(result):
                    if submission.next >= len(submission.runs):
                        raise wire.MalformedFrame("more results than runs")
                    self.counters.runs[result.exit] += 1
                    submission.deliver(result)
                    if not submission.wants_more and submission.next < len(submission.runs):
                        return Built(ok=True)  # the `async with` closes the connection, which stops the host
                case wire.End(built):
                    if submission.next and not built.ok:
                        raise SandboxUnavailable(
                            "the program was loaded in one box and could not be loaded in the next", "box_died"
                        )
                    if built.ok and submission.wants_more:
                        raise wire.MalformedFrame("the end came before all results")
                    return built
                case wire.Unavailable() as refused:
                    raise _error_of_refusal(refused, submission)
                case wire.Alive():
                    pass


def _error_of_refusal(refused: wire.Unavailable, submission: Submission) -> Exception:
    """Turn a host's refusal into an error.

    If the host has no room, another host may try. If the program's boxes died twice there, the refusal is final.
    """
    error = refused.error()
    return HostBusy(error) if error.reason in ("sandbox_busy", "sandbox_unavailable") else error


async def _refusal(answer: aiohttp.ClientResponse) -> Exception:
    message = (await answer.content.read(500)).decode("utf-8", "replace")
    if answer.status in (429, 503):
        return HostBusy(SandboxUnavailable(f"{answer.status}: {message}", "sandbox_busy"))
    if answer.status == 422:
        return ValueError(message)
    return HostLost(f"answered with status {answer.status}: {message}")
