"""A service that two teams share, with callers of every scope."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import yaml

from service.limits import keys
from tests.conftest import Served, serving
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
CALLERS: dict[str, JSON] = {
    "red": {},
    "blue-1": {"tenant": "blue"},
    "blue-2": {"tenant": "blue"},
    "older": {"tenant": "default"},
    "boss": {"scopes": ["score", "admin"]},
    **{f"{team} for {scope}": {"scopes": [scope], "tenant": team} for team in ("red", "blue") for scope in keys.Scope},
    **{f"all but {scope}": {"scopes": [*(set(keys.Scope) - {scope})], "tenant": "red"} for scope in keys.Scope},
}
CALLERS = {
    name.replace(" ", "-"): {**spec, "scopes": [*map(str, spec.get("scopes", ["score"]))]}
    for name, spec in CALLERS.items()
}


@dataclass(frozen=True)
class Shared:
    """A service with several callers."""

    served: Served
    secrets: dict[str, str]
    redis: RedisServer | None
    client: httpx.Client

    def send(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> httpx.Response:
        """Send a request with these headers alone."""
        self.client.cookies.clear()
        return self.client.request(method, path, json=body, headers=headers)

    def call(self, caller: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {self.secrets[caller]}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return self.send(method, path, body, given)

    def refusal(self, caller: str, method: str, path: str, thing: str, body: Any = None) -> JSON:
        """All of a refusal but what differs from call to call: date, request, and the id that was asked for."""
        reply = self.call(caller, method, path, body)
        said = reply.text.replace(reply.headers["x-request-id"], "REQUEST").replace(thing, "ID")
        own = ("date", "x-request-id", "content-length")
        headers = {name: value for name, value in reply.headers.items() if name not in own}
        return {"status": reply.status_code, "headers": headers, "said": said}


@pytest.fixture(scope="module", params=["memory", "redis"])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("shared")
    made = {name: keys.new_key() for name in CALLERS}
    specs = {name: {"sha256": made[name][1], **spec} for name, spec in CALLERS.items()}
    path = folder / "keys.yaml"
    path.write_text(yaml.safe_dump({"keys": specs}))
    with ExitStack() as stack:
        redis = stack.enter_context(RedisServer(folder)) if request.param == "redis" else None
        settings = {"redis_url": redis.url} if redis else {}
        served = stack.enter_context(
            serving(folder / "log.jsonl", (), None, keys_file=str(path), sandbox="none", workers="1", **settings)
        )
        client = stack.enter_context(httpx.Client(base_url=served.url, timeout=PATIENCE_S))
        yield Shared(served, {name: key for name, (key, _) in made.items()}, redis, client)
