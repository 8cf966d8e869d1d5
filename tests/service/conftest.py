from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.service.redis_server import RedisServer


@pytest.fixture
def start_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., RedisServer]]:
    """Starts a Redis server with the given options, in a folder of its own; all are ended with the test."""
    with ExitStack() as servers:

        def start(*options: str) -> RedisServer:
            folder: Path = tmp_path_factory.mktemp("redis")
            return servers.enter_context(RedisServer(folder, *options))

        yield start


@pytest.fixture
def redis_server(start_redis: Callable[..., RedisServer]) -> RedisServer:
    """A Redis server of this test's own."""
    return start_redis()
