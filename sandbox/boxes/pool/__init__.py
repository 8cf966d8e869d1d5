"""A pool of boxes that are lent to one program after the other: `PooledSandbox`, over any `Backend`.

    pooled.py ──► programs.py ──► job.py ──► messages.py ──► sandbox.boxes.link ──► a box
        │  │          └─ compile_cache.py
        │  └────► standing.py
        └──► box_pool.py ──► sandbox.boxes.backend.Backend

pooled.py       one call of `run`: what is done again when a box dies, and what the death says about the program
programs.py     turns a program into questions to a runner: its language's commands, its function, its limits
job.py          asks the questions, driven by the answers
messages.py     parses the headers of the answers, and trusts nothing in them
standing.py     begins runs whose input has the same beginning as others, before the rest of it is there
box_pool.py     makes boxes ahead, lends them, queues callers, takes boxes out of service
"""

from sandbox.boxes.pool.counters import Counters
from sandbox.boxes.pool.pooled import PooledSandbox

__all__ = ["Counters", "PooledSandbox"]
