"""Audits that a service runs: few at once, kept for an hour, and never in the way of a trainer."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fairness import TENANT
from service.dataset_audit.rows import Columns
from service.dataset_audit.running import KEPT_S, MAX_KEPT, Audit, Audits, State
from service.errors import Overloaded, ShuttingDown
from service.limits.keys import CALLER, Caller
from service.row_files.reading import DataFile
from service.run.core import Core, open_core
from service.settings import Settings
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
MATH = Columns(verifier="math")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def core() -> AsyncIterator[Core]:
    async with open_core(Settings(sandbox="none", workers=1, max_items_in_flight=4096)) as built:
        yield built


def rows(path: Path, count: int) -> DataFile:
    path.write_text("".join(f'{{"answer": "{n}"}}\n' for n in range(count)))
    return DataFile(path)


def begun(audits: Audits, file: DataFile) -> Audit:
    with audits.arriving():
        return audits.begin("mine", file, MATH, None)


async def over(audit: Audit) -> None:
    await until(lambda: audit.state is not State.RUNNING)


async def test_what_has_ended_is_forgotten_after_an_hour_or_when_there_is_much(core: Core, tmp_path: Path) -> None:
    now = 0.0
    async with Audits(core.engine, core.admission, max_under_way=1, clock=lambda: now) as audits:
        first = begun(audits, rows(tmp_path / "a", 3))
        await over(first)
        assert first.state is State.DONE
        now = KEPT_S - 1
        assert audits.find(first.id) is first
        now = KEPT_S + 1
        assert audits.find(first.id) is None
        for _ in range(MAX_KEPT + 5):
            latest = begun(audits, rows(tmp_path / "a", 1))
            await over(latest)
            now += 1
        assert len(audits.all()) == MAX_KEPT
        assert audits.all()[0] is latest


async def test_an_audit_waits_for_room_and_gives_it_back(core: Core, tmp_path: Path) -> None:
    async with Audits(core.engine, core.admission, max_under_way=2) as audits:
        with core.admission.permit() as trainer:
            trainer.add(items=4096)
            waiting = begun(audits, rows(tmp_path / "a", 200))
            await until(lambda: waiting.file.position > 0)
            for _ in range(50):
                await asyncio.sleep(0)
            assert waiting.report.earned[-1] == 0
            trainer.add(items=0)
        await until(lambda: waiting.state is State.DONE)
        assert waiting.report.earned[-1] == 200
    assert core.admission.items == 0


async def test_the_limits_of_a_key_hold_and_never_hold_it_up_for_ever(core: Core, tmp_path: Path) -> None:
    token = CALLER.set(Caller("small", max_items_in_flight=5))
    try:
        async with Audits(core.engine, core.admission, max_under_way=1) as audits:
            audit = begun(audits, rows(tmp_path / "a", 23))
            await over(audit)
            assert (audit.state, audit.report.rows) == (State.DONE, 23)
    finally:
        CALLER.reset(token)


async def test_the_last_place_is_for_another_team(core: Core, tmp_path: Path) -> None:
    async with Audits(core.engine, core.admission, max_under_way=2) as audits:
        token = TENANT.set("red")
        try:
            first = begun(audits, rows(tmp_path / "a", 100_000))
            with pytest.raises(Overloaded, match="1 of them yours"):
                begun(audits, rows(tmp_path / "b", 1))
            TENANT.set("blue")
            await over(begun(audits, rows(tmp_path / "b", 1)))
            TENANT.set("red")
            await audits.cancel(first)
            await over(begun(audits, rows(tmp_path / "b", 1)))
        finally:
            TENANT.reset(token)


async def test_stopping_cancels_all_and_removes_their_files(core: Core, tmp_path: Path) -> None:
    audits = Audits(core.engine, core.admission, max_under_way=2)
    spooled = tempfile.NamedTemporaryFile(dir=tmp_path)  # noqa: SIM115 - the audit closes it
    path = Path(spooled.name)
    with audits.arriving():
        audit = audits.begin("mine", rows(path, 100_000), MATH, None, spooled)
    await until(lambda: audit.report.rows > 0)
    with audits.arriving(), pytest.raises(Overloaded), audits.arriving():
        pass
    await audits.stop()
    assert audit.state is State.CANCELLED
    assert "shutting down" in audit.problem
    assert [*tmp_path.iterdir()] == []  # noqa: ASYNC240 - a few files of the test
    assert core.admission.items == 0
    with pytest.raises(ShuttingDown), audits.arriving():
        pass


async def test_a_fault_of_ours_ends_an_audit_and_not_the_service(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: DataFile) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(DataFile, "lines", broken)
    async with Audits(core.engine, core.admission, max_under_way=1) as audits:
        audit = begun(audits, rows(tmp_path / "a", 1))
        await until(lambda: audit.state is State.FAILED)
        assert "log" in audit.problem
        assert begun(audits, rows(tmp_path / "a", 1))
