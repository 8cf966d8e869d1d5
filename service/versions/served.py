"""Releases that run beside this one, because runs are pinned to them."""

import asyncio
import importlib
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from service.rollouts.verdict_file import fingerprint
from service.settings import Settings
from service.versions.locks import DIFFERS, UNSERVED, Lock, differences
from service.versions.receipts import versions_of
from service.versions.releases import NoRelease, Running, find, running
from service.wire import DAMAGED_JSON, BatchRequest, Result, ScoreItem, encode
from tracing.lines import Log
from verifiers.own_answers import STAND_IN

if TYPE_CHECKING:
    from rewardline import AsyncClient

log = Log("rewardline")

MAX_RELEASES: Final = 2
"""Releases that run at once: each has workers of its own."""
_RENDERING_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Running:
    release: Running
    client: "AsyncClient"
    versions: dict[str, str]
    stack: AsyncExitStack
    """Ends it."""


class Releases:
    """The releases of a service. One starts when the first item that is pinned to it comes, and ends with the service. If it
    ends before, the next item starts it again.
    """

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._running: dict[str, asyncio.Task[_Running]] = {}

    async def close(self) -> None:
        for task in self._running.values():
            task.cancel()
        for started in await asyncio.gather(*self._running.values(), return_exceptions=True):
            if isinstance(started, _Running):
                await started.stack.aclose()

    async def judge(self, lock: Lock, request: BatchRequest) -> Sequence[Result]:
        """Have the items judged by the release of a lock. What it has in other versions than the lock is `failed`."""
        try:
            release = await self._of(lock.release)
            left_s = request.deadline - asyncio.get_running_loop().time() - _RENDERING_S
            answer = await release.client.call(
                "POST", "/v1/score", _body(request), deadline_s=max(left_s, _RENDERING_S)
            )
            results = msgspec.convert(answer["results"], list[Result])
            results = [_asked(lock, item, result) for item, result in zip(request.items, results, strict=True)]
        except (NoRelease, msgspec.ValidationError, _client().RewardlineError) as error:
            # It names folders and addresses of this server, which are not business of callers.
            log.warning("another release did not serve pinned items", release=lock.release, error=str(error))
            message = f"release {lock.release} did not judge the item; the server's log says why"
            return [_failed(UNSERVED, message) for _ in request.items]
        return [_checked(lock, release.versions, result) for result in results]

    async def _of(self, version: str) -> _Running:
        """
        Raises:
            NoRelease
        """
        for name, task in [*self._running.items()]:
            if self._running.get(name) is not task:
                continue  # another caller has seen to it meanwhile
            if _is_lost(task):
                del self._running[name]
            elif task.done() and task.result().release.has_ended:
                del self._running[name]
                log.warning("a release for pinned runs has ended; its next item starts it again", release=name)
                await task.result().stack.aclose()
        if version not in self._running:
            if len(self._running) >= MAX_RELEASES:
                raise NoRelease(f"it is not started, because {' and '.join(self._running)} run already")
            self._running[version] = asyncio.create_task(self._start(version))
        return await asyncio.shield(self._running[version])

    async def _start(self, version: str) -> _Running:
        release = await asyncio.to_thread(find, self._folder, version)
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(running(release, self._settings))
            client = await stack.enter_async_context(_client().AsyncClient(process.url, api_key=process.key))
            versions = {str(entry["name"]): str(entry["version"]) for entry in await client.verifiers()}
            recipes = await client.call("GET", "/v1/recipes")
            versions |= {f"recipe {entry['name']}": fingerprint(entry) for entry in recipes["recipes"]}
            log.info("another release serves pinned runs", release=version)
            return _Running(process, client, versions, stack.pop_all())


def _client() -> Any:
    """The client, which is loaded only where a release runs."""
    return importlib.import_module("rewardline")


def _is_lost(task: "asyncio.Task[_Running]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _body(request: BatchRequest) -> dict[str, Any]:
    """The request as it came, for another release. Groups are decided, and records kept, by the service in front."""
    items = [
        {
            name: value
            for name in item.__struct_fields__
            if name not in ("id", "metadata", "group") and not _is_absent(value := getattr(item, name))
        }
        for item in request.items
    ]
    content = {"items": items, "references": request.references, "cache": request.cache, "explain": request.explain}
    plain: dict[str, Any] = msgspec.json.decode(encode(content).replace(DAMAGED_JSON, b"\\ufffd"))
    return plain


def _is_absent(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, msgspec.Raw) and not len(value))


def _asked(lock: Lock, item: ScoreItem, result: Result) -> Result:
    """The result; `failed` where this release asked for the answer alone, to compare members of a group, and the other does not
    know how: nothing is wrong with the item.
    """
    terms = (item.reference, item.ground_truth, item.test_cases, item.params)
    if result.status != "invalid" or not any(STAND_IN.encode() in bytes(term) for term in terms):
        return result
    return _failed(
        UNSERVED, f"release {lock.release} cannot compare the responses of a group; pin its run to a later one"
    )


def _checked(lock: Lock, versions: dict[str, str], result: Result) -> Result:
    """The result, if the versions that made it are those of the lock."""
    if result.status != "ok":
        return result
    used = versions_of(msgspec.structs.asdict(result), lambda name: versions.get(f"recipe {name}", "unknown"))
    problems = differences(lock, used)
    return _failed(DIFFERS, f"release {lock.release}: {'; '.join(problems[:5])}") if problems else result


def _failed(reason: str, message: str) -> Result:
    return Result(0, "failed", None, None, reason, None, None, None, {"message": message[:300]}, False, 0.0)
