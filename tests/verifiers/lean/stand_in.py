"""Boxes in which the stand-in of `lean_repl.py` runs wherever a program asks for Lean's loop."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sandbox.base import Built, Execute, Program, Run, RunResult, Sandbox

LOOP: Final = Path(__file__).with_name("lean_repl.py").read_text(encoding="utf-8")


class WithLean(Sandbox):
    """The given boxes, and the loop. It keeps the commands of each process."""

    def __init__(self, boxes: Sandbox) -> None:
        self._boxes = boxes
        self.sources: list[str] = []

    async def start(self) -> None:
        await self._boxes.start()
        self.isolation = self._boxes.isolation

    async def stop(self) -> None:
        await self._boxes.stop()

    @property
    def languages(self) -> frozenset[str]:
        return self._boxes.languages | {"lean_repl"}

    @property
    def slots(self) -> int:
        return self._boxes.slots

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        if program.language != "lean_repl":
            return await self._boxes.run(program, runs, on_result)
        self.sources.append(program.source)
        executed = [
            replace(run, stdin=program.source.encode(), limits=replace(run.limits, cpu_s=run.limits.cpu_s + 0.5))
            for run in runs
            if isinstance(run, Execute)
        ]
        return await self._boxes.run(Program(LOOP), executed, on_result)
