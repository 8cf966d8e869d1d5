from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from fairness import WEIGHTS
from service.storage.memory_records import MemoryRecords
from service.storage.record_store import RecordStore
from service.storage.redis_records import RedisRecords
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S

_AS_ATTACKERS_WISH = (
    "--host-resolver-rules=MAP *.prizes.example 127.0.0.1",
    "--disable-features=LocalNetworkAccessChecks",
)
"""Names of an attacker lead to this machine, and the browser asks nobody whether pages may use it, as older ones do not."""


def _weights_as_before() -> Iterator[None]:
    """A service of the test's own process says which tenants there are. Other tests know of none."""
    before = dict(WEIGHTS)
    yield
    WEIGHTS.clear()
    WEIGHTS.update(before)


_of_a_module = pytest.fixture(scope="module", autouse=True)(_weights_as_before)
_of_a_test = pytest.fixture(autouse=True)(_weights_as_before)


@pytest.fixture
def start_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RedisServer]]:
    """Starts a Redis server with the given options, in a folder of its own. All servers end with the test."""
    with ExitStack() as servers:

        def start(*options: str) -> RedisServer:
            folder: Path = tmp_path_factory.mktemp("redis")
            return servers.enter_context(RedisServer(folder, *options))

        yield start


@pytest.fixture
def redis_server(start_redis: Callable[..., RedisServer]) -> RedisServer:
    """A Redis server that belongs to the test."""
    return start_redis()


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One Redis server for all tests that do not harm it."""
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
async def store(request: Any) -> AsyncIterator[RecordStore]:
    """An empty store, in Redis or in memory."""
    async with AsyncExitStack() as stack:
        made: RecordStore
        if request.param == "memory":
            made = MemoryRecords(100, 1_000_000)
        else:
            server: RedisServer = request.getfixturevalue("shared_redis")
            server.call("FLUSHALL")
            made = RedisRecords(server.url, prefix="t:")
        stack.push_async_callback(made.close)
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser. It ends with the module, because asynchronous tests cannot run beside its event loop."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-quic", *_AS_ATTACKERS_WISH],
        )
        yield found
        found.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A context of the browser that belongs to the test."""
    found = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    found.set_default_timeout(PATIENCE_S * 1000)
    expect.set_options(timeout=PATIENCE_S * 1000)
    yield found
    found.close()
