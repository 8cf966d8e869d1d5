"""Box hosts on `https://`: whose certificates are taken, what is shown to them, and files exchanged while programs run."""

import re
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from sandbox.base import Built, Execute, Exit, Program, RunResult, SandboxUnavailable
from sandbox.boxes.remote import BadTlsFiles, TlsFiles, wire
from sandbox.boxes.remote.remote import RemoteSandbox
from sandbox.boxes.remote.tls import TlsContext
from tests.certificates import Authority
from tests.waiting import until


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("other"), "other")


class TlsHost:
    """A box host that runs everything at once, and keeps to whom it was spoken as."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.port = 0
        self.names: list[str | None] = []
        self.called: list[str] = []
        self.context = context
        context.sni_callback = lambda _, name, __: self.names.append(name)

    async def describe(self, request: web.Request) -> web.StreamResponse:
        self.called.append(request.host)
        return web.json_response({"state": "ready", "slots": 2, "languages": ["python"], "isolation": "landlock"})

    async def work(self, request: web.Request) -> web.StreamResponse:
        self.called.append(request.host)
        wire.decode_order(await request.read())
        answer = web.StreamResponse()
        await answer.prepare(request)
        for frame in (wire.Result(RunResult(Exit.EXITED, 0, stdout=b"done")), wire.End(Built(True))):
            await answer.write(wire.encode_frame(frame))
        return answer


@asynccontextmanager
async def serving(context: ssl.SSLContext) -> AsyncIterator[TlsHost]:
    host = TlsHost(context)
    app = web.Application()
    app.router.add_get("/v1/sandbox", host.describe)
    app.router.add_post(wire.PATH, host.work)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    host.port = runner.addresses[0][1]
    try:
        yield host
    finally:
        await runner.cleanup()


@asynccontextmanager
async def remote(url: str, tls_files: TlsFiles) -> AsyncIterator[RemoteSandbox]:
    sandbox = RemoteSandbox([url], None, slots=2, tls_files=tls_files)
    try:
        await sandbox.start()
        yield sandbox
    finally:
        await sandbox.stop()


async def ran(sandbox: RemoteSandbox) -> bool:
    taken: list[bytes] = []

    def take(_: int, result: RunResult) -> bool:
        taken.append(result.stdout)
        return True

    await sandbox.run(Program("x"), [Execute()], take)
    return taken == [b"done"]


async def test_a_host_is_known_by_its_name_whichever_address_it_has(authority: Authority) -> None:
    pair = authority.issue("by-name", "DNS:localhost")
    async with (
        serving(authority.server(pair)) as host,
        remote(f"https://localhost:{host.port}", TlsFiles(authority.ca)) as sandbox,
    ):
        assert await ran(sandbox)
        assert set(host.names) == {"localhost"}
        assert set(host.called) == {f"localhost:{host.port}"}


async def test_an_address_can_be_certified_too(authority: Authority) -> None:
    pair = authority.issue("by-address", "IP:127.0.0.1")
    async with (
        serving(authority.server(pair)) as host,
        remote(f"https://127.0.0.1:{host.port}", TlsFiles(authority.ca)) as sandbox,
    ):
        assert await ran(sandbox)


@pytest.mark.parametrize(
    ("alternatives", "trusts", "said"),
    [
        ("DNS:somebody.else", True, "localhost"),
        ("IP:127.0.0.1", True, "localhost"),
        ("DNS:localhost", False, "verify failed"),
    ],
    ids=["another name", "only its address", "another authority"],
)
async def test_whoever_cannot_prove_to_be_the_host_gets_no_program(
    authority: Authority, other: Authority, alternatives: str, trusts: bool, said: str
) -> None:
    pair = authority.issue("wrong", alternatives)
    tls_files = TlsFiles((authority if trusts else other).ca)
    async with (
        serving(authority.server(pair)) as host,
        remote(f"https://localhost:{host.port}", tls_files) as sandbox,
    ):
        with pytest.raises(SandboxUnavailable, match=said):
            await ran(sandbox)
        assert host.called == []


async def test_without_an_authority_of_its_own_a_private_one_is_not_trusted(authority: Authority) -> None:
    async with (
        serving(authority.server(authority.issue("private"))) as host,
        remote(f"https://localhost:{host.port}", TlsFiles()) as sandbox,
    ):
        assert "verify failed" in sandbox.trouble
        assert host.called == []


async def test_a_host_that_asks_for_a_certificate_is_shown_one(authority: Authority, other: Authority) -> None:
    ours, theirs = authority.issue("front"), other.issue("stranger")
    async with serving(authority.server(authority.issue("mutual"), asks_callers=True)) as host:
        url = f"https://localhost:{host.port}"
        async with remote(url, TlsFiles(authority.ca, *ours)) as sandbox:
            assert await ran(sandbox)
        host.called.clear()
        for tls_files in (TlsFiles(authority.ca), TlsFiles(authority.ca, *theirs)):
            async with remote(url, tls_files) as sandbox:
                with pytest.raises(SandboxUnavailable, match="no box host is up"):
                    await ran(sandbox)
        assert host.called == []


async def test_certificates_are_exchanged_while_programs_run(
    authority: Authority, other: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.boxes.remote.hosts.PROBE_S", 0.05)
    monkeypatch.setattr("sandbox.boxes.remote.hosts.LOOK_UP_S", 0.05)
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.ca.read_bytes())
    context = authority.server(authority.issue("before"))
    async with serving(context) as host, remote(f"https://localhost:{host.port}", TlsFiles(ca)) as sandbox:
        assert await ran(sandbox)
        ca.write_bytes(b"")  # as while a file is being written: the authority from before stays
        asked = len(host.called)
        await until(lambda: len(host.called) > asked + 3)
        assert await ran(sandbox)

        context.load_cert_chain(*other.issue("after"))
        ca.write_bytes(other.ca.read_bytes())
        seen = len(host.names)
        await until(lambda: len(host.names) > seen and not sandbox.trouble)  # with a handshake of its own
        assert await ran(sandbox)


def test_files_that_are_no_certificates_are_named(authority: Authority, tmp_path: Path) -> None:
    cert, key = authority.issue("mine")
    _, another = authority.issue("yours")
    broken = tmp_path / "broken.pem"
    broken.write_text("nothing")
    locked = tmp_path / "locked.key"
    encrypt = ("openssl", "pkcs8", "-topk8", "-in", str(key), "-passout", "pass:secret", "-out", str(locked))
    subprocess.run(encrypt, check=True)
    for tls_files in (TlsFiles(broken), TlsFiles(tmp_path / "none"), TlsFiles(None, cert, another)):
        with pytest.raises(BadTlsFiles, match=re.escape(str(tls_files.files[-1]))):
            TlsContext(tls_files)
    with pytest.raises(BadTlsFiles, match="password"):
        TlsContext(TlsFiles(None, cert, locked))
    made = TlsContext(TlsFiles(authority.ca, cert, key)).context
    assert made.check_hostname
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.minimum_version is ssl.TLSVersion.TLSv1_2


async def test_boxes_do_not_start_with_such_files(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match=r"none\.pem"):
        async with remote("https://localhost:1", TlsFiles(tmp_path / "none.pem")):
            pass
