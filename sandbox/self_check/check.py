"""Runs the attacks against a sandbox."""

import re
from typing import Final

from sandbox.base import Sandbox
from sandbox.self_check.attack import Attack
from sandbox.self_check.attacks import ATTACKS
from sandbox.self_check.outside import Outside, outside
from sandbox.self_check.report import LONG, SHORT, Extent, Finding, Report

_PID: Final = re.compile(r"/proc/\d+/")


async def check(sandbox: Sandbox, extent: Extent = SHORT) -> Report:
    """Attack a started sandbox and report what got through.

    Raises:
        SandboxUnavailable: programs could not be run.
    """
    attacks = [attack for attack in ATTACKS if extent is LONG or attack.is_short]
    promised = [attack for attack in attacks if sandbox.isolation not in attack.not_promised_by]
    with outside() as untouchable:
        findings = [await _finding(attack, sandbox, untouchable) for attack in promised]
    left_out = [attack.name for attack in attacks if attack not in promised]
    return Report(sandbox.isolation, findings, left_out)


async def _finding(attack: Attack, sandbox: Sandbox, outside: Outside) -> Finding:
    reached = (await attack.carry_out(sandbox, outside)).split(", ")
    gaps = attack.gaps.get(sandbox.isolation, frozenset())
    through = ", ".join(name for name in reached if _PID.sub("/proc/N/", name) not in gaps)
    return Finding(attack.name, not through, f"{attack.tries} Got through: {through}" if through else attack.tries)
