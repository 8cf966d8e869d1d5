"""Boxes that are lent to one program after the other: `PooledSandbox`, over any `Backend`.

    pooled.py ──► programs.py ──► job.py ──► messages.py ──► sandbox.boxes.link ──► a box
        │             └─ compile_cache.py
        └──► fleet.py ──► sandbox.boxes.backend.Backend

pooled.py is one call of `run`: what is done again when a box dies, and what that says. programs.py makes a program into
questions to a runner: its language's commands, its function, its limits. job.py asks them, driven by the answers as
they come, whose headers messages.py parses, believing nothing. fleet.py has the boxes: made ahead, lent, waited for,
taken out of service.
"""

from sandbox.boxes.pool.counters import Counters
from sandbox.boxes.pool.pooled import PooledSandbox

__all__ = ["Counters", "PooledSandbox"]
