"""Versions of compilers: found by one program in a box, and never a reason to have none."""

from collections.abc import Callable, Sequence

import pytest

from sandbox.base import Built, Exit, Program, Run, RunResult, Sandbox
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool.pooled import PooledSandbox
from sandbox.versions import find_versions


async def test_every_language_of_a_box_says_its_version() -> None:
    boxes = PooledSandbox(LocalBackend(), slots=1)
    await boxes.start()
    try:
        versions = await find_versions(boxes)
        assert versions.keys() == boxes.languages
        assert all(any(map(str.isdigit, version)) for version in versions.values())
        assert boxes.counters.jobs == 1
    finally:
        await boxes.stop()


class Saying(Sandbox):
    """Boxes in which the program wrote this."""

    languages = frozenset({"python", "lua"})
    slots = 1

    def __init__(self, output: bytes) -> None:
        self._output = output

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        assert on_result is not None
        on_result(0, RunResult(Exit.EXITED, 0, stdout=self._output))
        return Built(ok=True)


@pytest.mark.parametrize(
    ("output", "versions"),
    [
        (b'["Lua 5.4.4", "3.11.2"]', {"python": "3.11.2", "lua": "Lua 5.4.4"}),
        (b'["", "3.11.2"]', {"python": "3.11.2"}),
        (b'["3.11', {}),
        (b"", {}),
    ],
)
async def test_who_says_nothing_has_no_version(output: bytes, versions: dict[str, str]) -> None:
    assert await find_versions(Saying(output)) == versions
