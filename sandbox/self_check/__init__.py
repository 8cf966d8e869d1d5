"""Attacks that every sandbox must survive, run through its public interface only.

    outside: a canary file, listeners, a neighbouring process, the service's environment
                                    │
    check ──► attack ──► Sandbox ──►│ the program tries to reach them, and prints what it reached
      ▲                             │
      └──── checks what the program printed, how it ended, and whether anything outside was touched

A program's output counts against the sandbox only. A program that does not reach its last line has proved nothing, so
the sandbox has not held. `SHORT` takes well under two seconds and is meant for the start of the service. `LONG` adds
the attacks that take longer. Nothing here does harm in a sandbox that lets everything through.

The attacks by their target: resources outside (`reach`), the kernel (`privileges`), the next program (`leftovers`), an
undeserved verdict (`forgery`), and more than the limits allow (`excess`).
"""

from sandbox.self_check.attacks import ATTACKS
from sandbox.self_check.check import check
from sandbox.self_check.outside import outside
from sandbox.self_check.report import LONG, SHORT, Extent, Finding, Report

__all__ = ["ATTACKS", "LONG", "SHORT", "Extent", "Finding", "Report", "check", "outside"]
