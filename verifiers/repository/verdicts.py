"""What becomes of an item that is judged in a container, however that ends; `repository` and `harbor` share it."""

from collections.abc import Awaitable

from sandbox.base import SandboxUnavailable
from sandbox.containers import BadTask
from sandbox.workers import Outcome
from verifiers.base import InvalidItem, Unavailable, Verdict
from verifiers.long_texts import trouble
from verifiers.repository.changes import NoChange


async def settled(judging: Awaitable[Verdict]) -> Verdict:
    """The verdict. A response without a change is wrong, a task with a fault `invalid`, and other trouble `failed`."""
    try:
        return await judging
    except NoChange as error:
        return Verdict.wrong(error.reason, **({"message": str(error)} if str(error) else {}))
    except (InvalidItem, BadTask) as error:
        return Verdict.invalid(error.reason, str(error))
    except (SandboxUnavailable, Unavailable) as error:
        return Verdict.failed(error.reason, str(error), **error.detail)


def not_read(outcome: Outcome) -> Unavailable:
    """The error of a text that no worker could read."""
    verdict = trouble(outcome)
    return Unavailable(verdict.reason, str(verdict.detail.get("message", "")))
