"""Which of the reasons for an end counts, when there are several."""

from typing import Any

from sandbox.runner.process.measures import OomCounter
from sandbox.runner.process.supervision import Reason, reason_of_end
from tests.tables import table

END: dict[str, Any] = {
    "has_started": True,
    "is_over_cpu": False,
    "has_overflowed": False,
    "oom_kills": 0,
    "oom": OomCounter(None),
}


@table(
    ("code", "ours", "changes", "reason"),
    [
        (0, None, {}, None),
        (1, None, {}, None),
        (-11, None, {}, None),
        (-9, None, {}, None),
        (-9, None, {"oom": OomCounter(None, is_known=False)}, Reason.KILLED),
        (-9, None, {"oom": OomCounter(None, is_of_box=False)}, None),
        (-9, None, {"oom": OomCounter(None, is_of_box=False), "oom_kills": 1}, Reason.KILLED),
        (1, None, {"oom": OomCounter(None, is_of_box=False), "oom_kills": 1}, None),
        (-9, None, {"oom_kills": 1}, Reason.MEMORY),
        (1, None, {"oom_kills": 1}, Reason.MEMORY),
        (-9, Reason.CPU, {"oom_kills": 1}, Reason.CPU),
        (0, None, {"is_over_cpu": True}, Reason.CPU),
        (-24, None, {}, Reason.CPU),
        (-25, None, {}, Reason.FILE_SIZE),
        (0, None, {"has_overflowed": True}, Reason.OUTPUT),
        (1, None, {"has_started": False}, Reason.KILLED),
        (0, None, {"has_started": False}, Reason.KILLED),
    ],
)
def test_reasons_have_their_order(
    code: int, ours: Reason | None, changes: dict[str, Any], reason: Reason | None
) -> None:
    assert reason_of_end(code, ours, **{**END, **changes}) == reason
