"""Attacks that every sandbox must survive, carried out through nothing but its public contract.

    outside: a canary file, listeners, a neighbouring process, the service's environment
                                    │
    check ──► attack ──► Sandbox ──►│ the program tries to get at them, and prints what it reached
      ▲                             │
      └──── looks at what the program said, how it ended, and whether anything outside was touched

What a program says counts against the sandbox only: a program that does not come to its last line has shown nothing, so
the sandbox has not held. `SHORT` takes well under two seconds and is meant for the start of the service, `LONG` adds
what takes more. Nothing here does harm where a sandbox lets everything through.

The attacks, by what they are after: what lies outside (`reach`), the kernel (`privileges`), the next program (`leftovers`),
an unearned verdict (`forgery`), and more than the limits allow (`excess`).
"""

from sandbox.self_check.attacks import ATTACKS
from sandbox.self_check.check import check
from sandbox.self_check.outside import outside
from sandbox.self_check.report import LONG, SHORT, Extent, Finding, Report

__all__ = ["ATTACKS", "LONG", "SHORT", "Extent", "Finding", "Report", "check", "outside"]
