"""`rewardline check-host` shows which attacks each kind of boxes stops on this machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox import self_check
from sandbox.base import SandboxUnavailable
from sandbox.self_check import Extent, Report
from service.backends.boxes import Kind


@dataclass(frozen=True, slots=True)
class KindCheck:
    """The result of attacks on one kind of boxes."""

    kind: str
    report: Report | None
    """The report. None if this kind cannot be had here."""
    caveats: Sequence[str] = ()
    why: str = ""
    """The reason why this kind cannot be had."""

    @property
    def outcomes(self) -> Mapping[str, bool | None]:
        """For each attack, whether it was stopped. None if that is not promised."""
        if self.report is None:
            return {}
        tried: dict[str, bool | None] = {finding.name: finding.held for finding in self.report.findings}
        return tried | dict.fromkeys(self.report.not_promised)

    def plain(self) -> dict[str, Any]:
        """The result as JSON."""
        if self.report is None:
            return {"kind": self.kind, "available": False, "message": self.why}
        return {
            "kind": self.kind,
            "available": True,
            "isolation": self.report.isolation,
            "held": self.report.held,
            "caveats": list(self.caveats),
            "findings": [
                {"name": finding.name, "held": finding.held, "detail": finding.detail}
                for finding in self.report.findings
            ],
            "not_promised": list(self.report.not_promised),
        }


async def check_kinds(kinds: Sequence[Kind], extent: Extent) -> list[KindCheck]:
    """Attack one kind of boxes after the other."""
    return [await _check_kind(kind, extent) for kind in kinds]


def is_good(checks: Sequence[KindCheck]) -> bool:
    """Whether there are boxes, and every kind that is here keeps its promises."""
    reports = [check.report for check in checks if check.report is not None]
    return bool(reports) and all(report.held for report in reports)


async def _check_kind(kind: Kind, extent: Extent) -> KindCheck:
    try:
        kind.load()
    except SandboxUnavailable as error:
        return KindCheck(kind.name, None, why=str(error))
    pool = kind.make()
    try:
        await pool.start()
        report = await self_check.check(pool, extent)
        return KindCheck(kind.name, report, pool.caveats)
    except SandboxUnavailable as error:
        return KindCheck(kind.name, None, why=str(error))
    finally:
        await pool.stop()
