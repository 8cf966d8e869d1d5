"""How many replicas Ray Serve should run: one for so many seconds of work.

This module imports nothing, because Serve's controller gets its code by value.
"""

import math
from typing import Any

WORK = "work_s"
"""What each replica reports: the most work that waited there at once in the last ten minutes, in seconds."""
SECONDS_PER_REPLICA = 20.0
"""As the autoscalers of Kubernetes have it (deploy/kubernetes)."""


def by_queued_work(context: Any) -> tuple[int, dict[str, Any]]:
    """The policy for Serve's `autoscaling_config`. Serve keeps the number within the configured bounds, and waits
    before it takes replicas away.
    """
    reported = (context.aggregated_metrics or {}).get(WORK, {})
    work_s = sum(reported.values())
    return max(1, math.ceil(work_s / SECONDS_PER_REPLICA)), context.policy_state or {}
