"""What `repository`, `harbor` and `lean` share: each item is judged alone, in a box or a container."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from sandbox.base import SandboxUnavailable
from sandbox.containers import BadTask
from sandbox.workers import Exit, Outcome, Task, Workers
from verifiers.base import InvalidItem, Item, P, Unavailable, Verdict, Verifier
from verifiers.long_texts import ask_workers, is_too_complex, trouble


class WrongResponse(Exception):
    """The response is wrong before its tests run. This is judged."""

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class BoxVerifier(Verifier[P]):
    """A verifier that judges one item a call, within the limits of the item's own box."""

    chunk_items: ClassVar[int] = 1
    bounds_itself: ClassVar[bool] = True

    async def score(self, items: Sequence[Item[P]]) -> Sequence[Verdict]:
        return [await self._settled(item) for item in items]

    @abstractmethod
    async def _judge(self, item: Item[P]) -> Verdict:
        """The verdict on one item.

        Raises:
            WrongResponse: the response is wrong.
            InvalidItem, BadTask: the task has a fault.
            SandboxUnavailable, Unavailable: it was not judged.
        """

    async def _settled(self, item: Item[P]) -> Verdict:
        try:
            return await self._judge(item)
        except WrongResponse as error:
            return Verdict.wrong(error.reason, **({"message": str(error)} if str(error) else {}))
        except (InvalidItem, BadTask) as error:
            return Verdict.invalid(error.reason, str(error))
        except (SandboxUnavailable, Unavailable) as error:
            return Verdict.failed(error.reason, str(error), **error.detail)


async def read_in_worker(workers: Workers, task: Task, response: str, payload: Sequence[Any]) -> Any:
    """What a worker reads in a long response.

    Raises:
        WrongResponse: the response is at fault for a broken limit.
        Unavailable: no worker could read it.
    """
    (outcome,) = await ask_workers(workers, task, [payload])
    if is_too_complex(outcome, response):
        raise WrongResponse("too_complex", outcome.message)
    if outcome.exit is not Exit.OK:
        raise unread(outcome)
    return outcome.value


def unread(outcome: Outcome) -> Unavailable:
    """The error of a text that no worker could read."""
    verdict = trouble(outcome)
    return Unavailable(verdict.reason, str(verdict.detail.get("message", "")))
