"""The limits of one run, as requests hold them."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunLimits:
    """`sandbox.base.Limits`, with the backstop as a number."""

    cpu_s: float
    wall_s: float
    memory_mb: int
    processes: int
    file_mb: int
    output_bytes: int
    stderr_bytes: int

    @property
    def memory_bytes(self) -> int:
        return self.memory_mb << 20

    def for_tests(self) -> "RunLimits":
        """Limits of the tests themselves, when these are the limits of the program."""
        return RunLimits(
            cpu_s=2 * self.cpu_s + 5,
            wall_s=2 * self.wall_s + 5,
            memory_mb=self.memory_mb,
            processes=self.processes,
            file_mb=self.file_mb,
            output_bytes=self.output_bytes,
            stderr_bytes=self.stderr_bytes,
        )


def parse(fields: dict[str, Any]) -> RunLimits:
    return RunLimits(
        cpu_s=float(fields["cpu_s"]),
        wall_s=float(fields["wall_s"]),
        memory_mb=int(fields["memory_mb"]),
        processes=int(fields["processes"]),
        file_mb=int(fields["file_mb"]),
        output_bytes=int(fields["output_bytes"]),
        stderr_bytes=int(fields["stderr_bytes"]),
    )
