"""`rewardline doctor`, as a user runs it, against services in several states and what is not a service at all."""

import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from service.cli.doctor import Finding, Grade, Service, examine
from service.limits import keys
from tests.conftest import Served, rewardline, serving

NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """A service with keys and without boxes and judges, and a key of it that may score."""
    tmp_path = tmp_path_factory.mktemp("doctor")
    secret, digest = keys.new_key()
    path = tmp_path / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": {"trainer": {"sha256": digest, "scopes": ["score"]}}}))
    settings = {"keys_file": str(path), "sandbox": "none", "workers": "1", "redis_url": "redis://127.0.0.1:1"}
    with serving(tmp_path / "log.jsonl", (), None, **settings) as served:
        yield served, secret


async def findings(url: str, grpc: str, api_key: str | None = None) -> dict[str, Finding]:
    return {one.check: one for one in await examine(Service(url, grpc, api_key, 20.0))}


def grades(seen: dict[str, Finding]) -> dict[str, Grade]:
    return {check: finding.grade for check, finding in seen.items()}


def test_nobody_there(tmp_path: Path) -> None:
    done = rewardline("doctor", NOWHERE, "--grpc", "127.0.0.1:1")
    assert done.returncode == 1
    assert "does not answer" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "grpc://127.0.0.1:8081", "http://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    done = rewardline("doctor", url)
    assert done.returncode == 2
    assert "expected http(s)://host:port" in done.stderr


async def test_another_web_server_is_named() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        seen = await findings(f"http://127.0.0.1:{server.server_port}", "grpc://127.0.0.1:1")
        server.shutdown()
    assert grades(seen) == {"address": "bad"}
    assert "404" in seen["address"].text


async def test_a_service_with_keys_and_without_boxes(closed: tuple[Served, str]) -> None:
    served, secret = closed
    seen = await findings(served.url, f"grpc://{served.grpc}", secret)
    assert grades(seen) == {
        "address": "good",
        "clock": "good",
        "version": "good",
        "verdict": "good",
        "gRPC": "good",
        "readiness": "note",
        "boxes": "note",
        "judges": "note",
    }
    assert "redis" in seen["readiness"].text
    assert "scope admin" in seen["judges"].text


async def test_a_wrong_key_is_bad_at_both_doors(closed: tuple[Served, str]) -> None:
    served, _ = closed
    seen = await findings(served.url, f"grpc://{served.grpc}", "wrong")
    assert (seen["verdict"].grade, seen["gRPC"].grade) == ("bad", "bad")
    assert "REWARDLINE_API_KEY" in seen["verdict"].text
