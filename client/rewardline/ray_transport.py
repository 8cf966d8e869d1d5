"""Ray: calls the service in actors of the trainer's own cluster. The requests and answers are those of HTTP, without a socket.

    pool      the actors named `NAME:...` in the namespace `rewardline`, as `rewardline.ray.start` made them
    member    one of them. It takes requests once it has said that it can judge; a call that breaks takes it out until
              it says so again. Ray itself starts lost actors anew.

A request goes to the member with the fewest items. If the member is lost, refuses or is about to end, the request goes to
the next one at once: verdicts do not depend on who gives them, so nothing is lost and nothing counts twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rewardline import trace_context
from rewardline.answers import CALL_BYTES, most_bytes, most_values, parsed, too_long
from rewardline.batching import Deliver, Request, run_header
from rewardline.errors import BY_STATUS_OF_STATE, Unavailable, UnexpectedAnswer
from rewardline.http_transport import body_of, deliver_batch, refusal, whole_answer
from rewardline.redaction import Secrets
from rewardline.retry import Backoff

try:
    import ray
    from ray.exceptions import RayError
except ImportError as error:
    raise ImportError(f"ray:// needs Ray, in the version of your cluster: pip install ray ({error})") from error

NAMESPACE = "rewardline"
"""The namespace of all pools in a Ray cluster."""
_LOOK_S = 10.0
"""How often a transport looks for new members."""
_ASK_AGAIN_S = 1.0
"""At least so often a lost member is asked whether it can judge again."""
_WAIT_S = 5.0
"""How long one attempt waits for a member that can judge. The client makes attempts until the deadline."""
_TOLD_S = 2.0
"""How long a member's word about its load counts."""

Answer = tuple[int, Mapping[str, str], bytes]


class RayTransport:
    """The actors of one pool. It belongs to the event loop that made it."""

    def __init__(self, name: str, api_key: str | None, asks: Mapping[str, str] | None = None) -> None:
        self._name = name
        self._secrets = Secrets("", api_key)
        self._headers = {"user-agent": "rewardline-python", **(asks or {})}
        if api_key is not None:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._members: dict[str, _Member] = {}
        self._looking: asyncio.Task[None] | None = None
        self._looked_at = float("-inf")
        self._trouble = ""
        """Why the last look found no pool."""
        self._changed = asyncio.Event()
        """Set when a member can take requests, or a look has ended."""

    async def score(self, request: Request, deliver: Deliver) -> None:
        headers = {"content-type": "application/json", "x-item-count": str(len(request.entries))}
        headers |= run_header(request.run_id)
        answer = await self._request("POST", "/v1/score", headers, body_of(request), len(request.entries))
        expected = len(request.entries)
        max_values = most_values(expected, request.item_bytes)
        deliver_batch(parsed(self._content(answer, most_bytes(request)), max_values), expected, deliver)

    async def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        """Call any other route and return its JSON."""
        all_headers = dict(headers) if body is None else {**headers, "content-type": "application/json"}
        answer = await self._request(method, path, all_headers, body or b"", 1)
        return whole_answer(self._content(answer, CALL_BYTES, BY_STATUS_OF_STATE))

    async def verifiers(self, timeout_s: float) -> list[dict[str, Any]]:
        answer = await self.call("GET", "/v1/verifiers", None, {})
        listed = answer.get("verifiers") if isinstance(answer, dict) else answer
        if not isinstance(listed, list):
            raise UnexpectedAnswer("expected a list of verifiers")
        return listed

    async def close(self) -> None:
        tasks = [member.asking for member in self._members.values()]
        for task in [*tasks, self._looking]:
            if task is not None:
                task.cancel()

    def _content(self, answer: Answer, max_bytes: int, extra_kinds: Any = None) -> bytes:
        """The body of an answer. Ray has received it, so only what is made of it is bounded here."""
        status, headers, body = answer[0], answer[1], self._secrets.body(answer[2])
        if status not in (200, 201):
            raise refusal(status, {name.title(): value for name, value in headers.items()}, body, extra_kinds)
        if len(body) > max_bytes:
            raise too_long(max_bytes)
        return body

    async def _request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, items: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Ask one member after the other, until one answers for good.

        Raises:
            Unavailable: none does now. It has the trouble of the last one.
        """
        all_headers = {**self._headers, **trace_context.headers(), **headers}
        refused: Answer | None = None
        fault: Unavailable | None = None
        tried: set[str] = set()
        while True:
            member = await self._least_loaded(tried, waits=not tried)
            if member is None:
                break
            tried.add(member.name)
            try:
                answer = await member.request(items, method, path, all_headers, body)
            except Unavailable as error:
                fault = error
                self._ask(member)
                continue
            if answer[0] not in (429, 503):
                return answer
            refused = answer
            if answer[0] == 503:  # it is about to end, or has just begun
                self._ask(member)
        if refused is not None:
            return refused
        raise fault or Unavailable("unreachable", self._why_none())

    async def _least_loaded(self, tried: set[str], *, waits: bool) -> _Member | None:
        """The member with the fewest items that was not tried. The first attempt waits until there is one."""
        self._look()
        give_up_at = time.monotonic() + _WAIT_S
        while True:
            able = [m for m in self._members.values() if m.is_able and m.name not in tried]
            if able:
                return min(able, key=lambda member: member.load)
            left_s = give_up_at - time.monotonic()
            if not waits or left_s <= 0 or (self._looking is None and not self._members):
                return None
            self._changed.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left_s)

    def _why_none(self) -> str:
        troubles = [member.trouble for member in self._members.values()]
        return f"no actor of the pool {self._name!r} can judge now: {troubles[0]}" if troubles else self._trouble

    def _look(self) -> None:
        """Look for members in the background, unless this was done a moment ago."""
        is_due = not self._members or time.monotonic() - self._looked_at > _LOOK_S
        if self._looking is None and is_due:
            self._looking = asyncio.create_task(self._find())

    async def _find(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            actors = await loop.run_in_executor(None, _actors, self._name, frozenset(self._members))
            self._trouble = (
                f"no actor of the pool {self._name!r} is in this Ray cluster; start it: rewardline.ray.start()"
            )
        except (RayError, ConnectionError, ValueError, RuntimeError) as error:
            actors, self._trouble = None, f"no Ray cluster answers here: {error}"
        finally:
            self._looking = None
            self._looked_at = time.monotonic()
            self._changed.set()
        if actors is None:
            return
        for name in [name for name in self._members if name not in actors]:
            asking = self._members.pop(name).asking
            if asking is not None:
                asking.cancel()
        for name, actor in actors.items():
            if actor is not None:
                self._members[name] = _Member(name, actor)
                self._ask(self._members[name])

    def _ask(self, member: _Member) -> None:
        """Ask a member again and again whether it can judge. It gets no requests until it says so."""
        member.is_able = False
        if member.asking is None or member.asking.done():
            member.asking = asyncio.create_task(self._until_able(member))

    async def _until_able(self, member: _Member) -> None:
        backoff = Backoff(cap_s=_ASK_AGAIN_S)
        while True:
            if await member.can_judge():
                break
            await asyncio.sleep(backoff.next_s())
        member.is_able = True
        self._changed.set()


class _Member:
    """An actor of the pool, as this process sees it."""

    def __init__(self, name: str, actor: Any) -> None:
        self.name = name
        self.is_able = False
        self.asking: asyncio.Task[None] | None = None
        self.trouble = "it has not answered yet"
        self._actor = actor
        self._mine = 0
        """Items that this process has there."""
        self._others = 0
        """Items of other processes there, as the member last said."""
        self._told_at = float("-inf")

    @property
    def load(self) -> int:
        is_fresh = time.monotonic() - self._told_at < _TOLD_S
        return self._mine + (self._others if is_fresh else 0)

    async def request(self, items: int, *arguments: Any) -> Answer:
        """
        Raises:
            Unavailable: the member is lost.
        """
        self._mine += items
        call = self._actor.request.remote(*arguments)
        try:
            status, headers, body, in_flight = await call
        except asyncio.CancelledError:
            ray.cancel(call)
            raise
        except RayError as error:
            raise _lost(self.name, error) from error
        finally:
            self._mine -= items
        self._others, self._told_at = max(0, in_flight - self._mine), time.monotonic()
        return status, headers, body

    async def can_judge(self) -> bool:
        try:
            health = await self._actor.health.remote()
        except RayError as error:
            self.trouble = _lost(self.name, error).message
            return False
        self.trouble = "; ".join(f"{part}: {why}" for part, why in health["problems"].items())
        return not health["problems"]


def _lost(name: str, error: RayError) -> Unavailable:
    cause = getattr(error, "cause", None)
    if isinstance(cause, Unavailable):
        return cause
    first_line = (str(cause or error).strip() or type(error).__name__).splitlines()[0]
    return Unavailable("unreachable", f"the actor {name}: {first_line}")


def _actors(pool: str, known_names: frozenset[str]) -> dict[str, Any]:
    """The actors of a pool by name; None for those that are known. Blocks."""
    if not ray.is_initialized():
        ray.init(address="auto", namespace=NAMESPACE, log_to_driver=False)
    actors: dict[str, Any] = {}
    for listed in ray.util.list_named_actors(all_namespaces=True):
        name = listed["name"]
        if listed["namespace"] == NAMESPACE and name.partition(":")[0] == pool:
            try:
                actors[name] = None if name in known_names else ray.get_actor(name, namespace=NAMESPACE)
            except ValueError:  # it ended between the two calls
                continue
    return actors
