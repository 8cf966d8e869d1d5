"""Boxes in which the stand-in of `lean_repl.py` runs wherever a program asks for Lean's loop."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sandbox.base import Built, Execute, Program, Run, RunResult, Sandbox

LOOP: Final = f"exec python3 -I -c {shlex.quote(Path(__file__).with_name('lean_repl.py').read_text(encoding='utf-8'))}"
"""A program in Bash: like the real loop, and unlike one in Python, it is not a fork of the runner."""


class WithLean(Sandbox):
    """The given boxes, and the loop."""

    def __init__(self, boxes: Sandbox) -> None:
        self._boxes = boxes

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
        executed = [
            replace(run, limits=replace(run.limits, cpu_s=run.limits.cpu_s + 0.5))
            for run in runs
            if isinstance(run, Execute)
        ]
        return await self._boxes.run(Program(LOOP, "bash"), executed, on_result)
