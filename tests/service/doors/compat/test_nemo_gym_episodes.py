"""Of which kind a failure is, and sessions that are over."""

from typing import Any

import pytest

from service.doors.compat.nemo_gym_episodes import failure_kind
from service.doors.compat.nemo_gym_sessions import Sessions
from service.errors import Conflict, StateUnavailable
from service.storage.redis_records import RedisRecords
from service.wire import Result
from tests.service.redis_server import RedisServer
from tests.tables import table


def result(status: str, reason: str, **fields: Any) -> Result:
    return Result("0", status, None, None, reason, None, None, None, {}, False, 0.0, **fields)


@table(
    ("status", "reason", "kind"),
    [
        ("failed", "judge_timeout", "judge_failed"),
        ("failed", "judge_budget_exhausted", "judge_failed"),
        ("failed", "judge_unparseable", "judge_unparseable"),
        ("failed", "sandbox_busy", "provider_unavailable"),
        ("failed", "box_died", "provider_unavailable"),
        ("failed", "workers_unavailable", "provider_unavailable"),
        ("failed", "language_unavailable", "rewardline:language_unavailable"),
        ("failed", "deadline", "rewardline:deadline"),
        ("failed", "verifier_bug", "verifier_error"),
        ("failed", "worker_memory_limit", "verifier_error"),
        ("failed", "What a Plug-In Says", "verifier_error"),
        ("invalid", "unroutable", "rewardline:unroutable"),
        ("invalid", "judge_timeout", "rewardline:judge_timeout"),
    ],
)
def test_reasons_have_kinds(status: str, reason: str, kind: str) -> None:
    assert failure_kind(result(status, reason)) == kind


def test_a_composition_fails_as_its_first_check_that_did() -> None:
    checks = [{"name": "a", "score": 1.0}, {"name": "b", "score": None, "reason": "judge_connect"}]
    assert failure_kind(result("failed", "checks_failed", checks=checks)) == "judge_failed"
    assert failure_kind(result("failed", "checks_failed")) == "rewardline:checks_failed"


async def test_every_replica_knows_of_a_session_that_is_over(redis_server: RedisServer) -> None:
    one, other = (RedisRecords(redis_server.url, prefix="rl1ng-test:") for _ in range(2))
    await Sessions(one).seed("s")
    for _ in range(2):
        await Sessions(one).close("s")
    with pytest.raises(Conflict):
        await Sessions(other).seed("s")
    for store in (one, other):
        await store.close()


async def test_without_redis_a_session_begins_and_its_end_is_not_promised() -> None:
    nowhere = RedisRecords("redis://127.0.0.1:9", prefix="t:")
    await Sessions(nowhere).seed("s")
    with pytest.raises(StateUnavailable):
        await Sessions(nowhere).close("s")
    await nowhere.close()
