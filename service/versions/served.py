"""Releases that run beside this one, because runs are pinned to them."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from rewardline import AsyncClient, RewardlineError

from service.rollouts.verdict_file import fingerprint
from service.settings import Settings
from service.versions.locks import DIFFERS, UNSERVED, Lock, differences
from service.versions.receipts import versions_of
from service.versions.releases import NoRelease, find, running
from service.wire import DAMAGED_JSON, BatchRequest, Result, ScoreItem, encode

log = structlog.get_logger("rewardline")

MAX_RELEASES: Final = 2
"""Releases that run at once: each has workers of its own."""
_RENDERING_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Running:
    client: AsyncClient
    versions: dict[str, str]


class Releases:
    """The releases of a service. One starts when the first item that is pinned to it comes, and ends with the service."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._stack = AsyncExitStack()
        self._running: dict[str, asyncio.Task[_Running]] = {}

    async def close(self) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._stack.aclose()

    async def judge(self, lock: Lock, request: BatchRequest) -> Sequence[Result]:
        """Have the items judged by the release of a lock. What it has in other versions than the lock is `failed`."""
        left_s = request.deadline - asyncio.get_running_loop().time() - _RENDERING_S
        try:
            release = await self._of(lock.release)
            answers = await release.client.score(
                [_fields(item, request) for item in request.items],
                deadline_s=max(left_s, _RENDERING_S),
                cache=request.cache,
                explain=request.explain,
            )
        except NoRelease as error:
            return [_failed(item, at, UNSERVED, str(error)) for at, item in enumerate(request.items)]
        except (RewardlineError, ValueError) as error:
            message = f"release {lock.release} did not judge the item: {error}"
            return [_failed(item, at, UNSERVED, message) for at, item in enumerate(request.items)]
        return [
            _checked(lock, release.versions, item, at, _result(item, at, answer))
            for at, (item, answer) in enumerate(zip(request.items, answers, strict=True))
        ]

    async def _of(self, version: str) -> _Running:
        """
        Raises:
            NoRelease
        """
        task = self._running.get(version)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            others = [name for name, each in self._running.items() if name != version and _is_good(each)]
            if len(others) >= MAX_RELEASES:
                raise NoRelease(f"release {version} is not started: {' and '.join(others)} run already")
            task = self._running[version] = asyncio.create_task(self._start(version))
        return await asyncio.shield(task)

    async def _start(self, version: str) -> _Running:
        release = await asyncio.to_thread(find, self._folder, version)
        async with AsyncExitStack() as stack:
            url, key = await stack.enter_async_context(running(release, self._settings))
            client = await stack.enter_async_context(AsyncClient(url, api_key=key))
            versions = {str(each["name"]): str(each["version"]) for each in await client.verifiers()}
            recipes = await client.call("GET", "/v1/recipes")
            versions |= {f"recipe {each['name']}": fingerprint(each) for each in recipes["recipes"]}
            log.info("another release serves pinned runs", release=version)
            self._stack.push_async_exit(stack.pop_all())
        return _Running(client, versions)


def _is_good(task: "asyncio.Task[_Running]") -> bool:
    return not task.done() or (not task.cancelled() and task.exception() is None)


def _fields(item: ScoreItem, request: BatchRequest) -> dict[str, Any]:
    """The item as it came, with its own reference in place of a shared one."""
    fields: dict[str, Any] = {}
    for name in item.__struct_fields__:
        value = getattr(item, name)
        if isinstance(value, msgspec.Raw):
            if bytes(value):
                fields[name] = value
        elif value is not None and value is not False:
            fields[name] = value
    shared = fields.pop("reference_id", None)
    if shared is not None and shared in request.references:
        fields["reference"] = request.references[shared]
    for name in ("id", "metadata"):
        fields.pop(name, None)
    plain: dict[str, Any] = msgspec.json.decode(encode(fields).replace(DAMAGED_JSON, b"\\ufffd"))
    return plain


def _result(item: ScoreItem, at: int, answer: Any) -> Result:
    return Result(
        _id(item, at),
        str(answer.status),
        answer.score,
        answer.reward,
        answer.reason,
        answer.verifier or None,
        answer.version or None,
        answer.extracted,
        answer.detail,
        answer.cached,
        answer.elapsed_ms,
        None if answer.checks is None else [dict(each) for each in answer.checks],
        answer.recipe,
    )


def _checked(lock: Lock, versions: dict[str, str], item: ScoreItem, at: int, result: Result) -> Result:
    """The result, if the versions that made it are those of the lock."""
    if result.status != "ok":
        return result
    used = versions_of(msgspec.structs.asdict(result), lambda name: versions.get(f"recipe {name}", "unknown"))
    problems = differences(lock, used)
    return _failed(item, at, DIFFERS, f"release {lock.release}: {'; '.join(problems[:5])}") if problems else result


def _failed(item: ScoreItem, at: int, reason: str, message: str) -> Result:
    return Result(_id(item, at), "failed", None, None, reason, None, None, None, {"message": message[:300]}, False, 0.0)


def _id(item: ScoreItem, at: int) -> str | int:
    return at if item.id is None else item.id
