"""TLS at both doors, with certificates made here: trusted, mutual, and exchanged while the service runs."""

import asyncio
import signal
import socket
import ssl
from pathlib import Path

import httpx
import pytest
from rewardline import Client, Status

from service.run.tls import BadCertificate, certificates, grpc_credentials
from service.settings import Settings
from tests.certificates import Authority
from tests.conftest import Serve, Served
from tests.waiting import PATIENCE_S, eventually

KEY = "0123456789abcdef-a-key"
ITEM = {"verifier": "exact_match", "response": "a", "reference": "a"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


def scored(url: str, authority: Authority, pair: tuple[Path, Path] | None = None) -> Status:
    cert, key = (None, None) if pair is None else map(str, pair)
    with Client(url, tls_ca=str(authority.ca), tls_cert=cert, tls_key=key, timeout_s=20, max_retries=1) as client:
        return client.score_one(ITEM).status


def urls(served: Served) -> list[str]:
    assert served.url.startswith("https://")
    return [served.url, f"grpcs://{served.grpc}"]


def test_both_doors_speak_tls_and_take_new_certificates(serve: Serve, authority: Authority) -> None:
    cert, key = authority.issue("server")
    served = serve(tls_cert=str(cert), tls_key=str(key), workers="1")
    other = Authority(authority.folder, "other")
    for url in urls(served):
        assert scored(url, authority) is Status.OK
        assert scored(url, other) is Status.FAILED
    assert scored(f"grpc://{served.grpc}", authority) is Status.FAILED

    other.issue("server")
    served.process.send_signal(signal.SIGHUP)
    eventually(lambda: scored(served.url, other) is Status.OK)
    for url in urls(served):
        assert scored(url, other) is Status.OK
        assert scored(url, authority) is Status.FAILED

    cert.write_text("no certificate")
    served.process.send_signal(signal.SIGHUP)
    eventually(lambda: "certificates not reloaded" in served.log.read_text())
    for url in urls(served):
        assert scored(url, other) is Status.OK


def test_callers_show_a_certificate_where_one_is_asked_for(serve: Serve, authority: Authority) -> None:
    cert, key = authority.issue("mutual")
    served = serve(tls_cert=str(cert), tls_key=str(key), tls_client_ca=str(authority.ca), ops_port="0", workers="1")
    caller = authority.issue("caller")
    stranger = Authority(authority.folder, "strangers").issue("stranger")
    for url in urls(served):
        assert scored(url, authority, caller) is Status.OK
        assert scored(url, authority) is Status.FAILED
        assert scored(url, authority, stranger) is Status.FAILED
    assert httpx.get(f"{served.ops}/readyz").status_code == 200


@pytest.mark.contract
def test_files_that_change_are_taken_up_and_an_authority_that_is_gone_is_not_trusted(
    serve: Serve, authority: Authority
) -> None:
    cert, key = authority.issue("rotated")
    callers, next_callers = (Authority(authority.folder, name) for name in ("callers", "next-callers"))
    trusted = authority.folder / "trusted.pem"
    trusted.write_bytes(callers.ca.read_bytes())
    served = serve(tls_cert=str(cert), tls_key=str(key), tls_client_ca=str(trusted), ops_port="0", workers="1")
    caller, next_caller = callers.issue("early-caller"), next_callers.issue("late-caller")
    for url in urls(served):
        assert scored(url, authority, caller) is Status.OK
        assert scored(url, authority, next_caller) is Status.FAILED

    other = Authority(authority.folder, "renewed")
    other.issue("rotated")
    trusted.write_bytes(next_callers.ca.read_bytes())
    eventually(lambda: scored(served.url, other, next_caller) is Status.OK)
    for url in urls(served):
        assert scored(url, other, next_caller) is Status.OK
        assert scored(url, other, caller) is Status.FAILED


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_session_from_before_is_not_resumed_past_an_authority_that_is_gone(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    here, callers, next_callers = (Authority(tmp_path, name) for name in ("here", "callers", "next"))
    (cert, key), trusted = here.issue("server"), tmp_path / "trusted.pem"
    trusted.write_bytes(callers.ca.read_bytes())
    made = certificates(Settings(tls_cert=cert, tls_key=key, tls_client_ca=trusted))
    assert made is not None

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"welcome")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0, ssl=made.context) as server:
        port = server.sockets[0].getsockname()[1]
        caller, next_caller = (
            _caller(here, each.issue(f"of-{each.ca.stem}"), version) for each in (callers, next_callers)
        )
        answer, session = await asyncio.to_thread(_visit, caller, port)
        assert answer == b"welcome"
        assert (await asyncio.to_thread(_visit, caller, port, session))[0] == b"welcome"
        trusted.write_bytes(next_callers.ca.read_bytes())
        made.load()
        for known in (session, None):
            assert await asyncio.to_thread(_visit, caller, port, known) == (b"", None)
        assert (await asyncio.to_thread(_visit, next_caller, port))[0] == b"welcome"


def _caller(trusted: Authority, pair: tuple[Path, Path], version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=trusted.ca)
    context.load_cert_chain(*pair)
    context.maximum_version = version
    return context


def _visit(
    context: ssl.SSLContext, port: int, session: ssl.SSLSession | None = None
) -> tuple[bytes, ssl.SSLSession | None]:
    """What is heard, and how to go on; nothing if we are not let in."""
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost", session=session) as connection,
        ):
            return (heard, connection.session) if (heard := connection.recv(100)) else (b"", None)
    except (ssl.SSLError, ConnectionError):
        return b"", None


def test_files_that_are_no_certificates_stop_the_start(tmp_path: Path, authority: Authority) -> None:
    cert, key = authority.issue("good")
    _, other = authority.issue("another")
    for broken in (Settings(tls_cert=tmp_path / "none", tls_key=key), Settings(tls_cert=cert, tls_key=other)):
        with pytest.raises(BadCertificate):
            certificates(broken)
        with pytest.raises(BadCertificate):
            grpc_credentials(broken)
    made = certificates(Settings(tls_cert=cert, tls_key=key))
    assert made is not None
    assert made.context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert certificates(Settings()) is None
    assert grpc_credentials(Settings()) is None


def test_a_certificate_may_name_a_tenant(serve: Serve, authority: Authority) -> None:
    cert, key = authority.issue("of-tenants")
    served = serve(
        tls_cert=str(cert),
        tls_key=str(key),
        tls_client_ca=str(authority.ca),
        tls_client_tenants="1",
        api_keys=f"keyed={KEY}",
        ops_port="0",
        workers="1",
    )
    named = {"red": authority.issue("red"), "blue": authority.issue("blue", "URI:spiffe://cluster/blue,DNS:red")}

    def call(team: str, method: str, path: str, body: object = None, given: str = "") -> int:
        context = ssl.create_default_context(cafile=str(authority.ca))
        context.load_cert_chain(*named[team])
        headers = {"Authorization": f"Bearer {given}"} if given else {}
        with httpx.Client(base_url=served.url, verify=context, timeout=PATIENCE_S) as client:
            return client.request(method, path, json=body, headers=headers).status_code

    creation = {"verifier": "exact_match", "reference": "a", "instance_id": "one"}
    assert call("red", "POST", "/v1/interactions", creation) == 201
    assert call("red", "GET", "/v1/interactions/one") == 200
    assert call("blue", "GET", "/v1/interactions/one") == 404
    assert call("red", "GET", "/v1/interactions/one", given=KEY) == 404  # a key decides where there is one
    assert call("red", "GET", "/v1/interactions/one", given="wrong") == 401
    assert call("red", "GET", "/metrics") == 403
    assert scored(f"grpcs://{served.grpc}", authority, named["blue"]) is Status.OK
    lines = served.logged()
    tenants = {(line["door"], line["tenant"]) for line in lines if line.get("key") == "certificate"}
    assert tenants == {
        ("http", "cert:red"),
        ("http", "cert:spiffe://cluster/blue"),
        ("grpc", "cert:spiffe://cluster/blue"),
    }
