"""Workers run our own CPU-bound functions on untrusted data, in pre-warmed processes that can be killed.

    service process (asyncio, gRPC: never forks)                 pool.py, link.py
        │ starts, orders forks                ▲ pid, pidfd, how each worker ended
        ▼                                     │
    zygote (single-threaded, imports the tasks' modules once)    zygote.py
        │ forks                                                  confine.py: limits, no files, no network
        ▼
    worker ── questions and answers on a socket of its own ── service process        serve.py, frames.py

Each process dies with the one above it. Data crosses as msgpack in length-prefixed frames, never as pickle. A
compromised worker can give wrong answers to its own items, but cannot attack the service.
"""

from sandbox.workers.base import Exit, Outcome, Task, WorkersUnavailable
from sandbox.workers.functions import BY_NAME, worker_function
from sandbox.workers.pool import Workers

__all__ = ["BY_NAME", "Exit", "Outcome", "Task", "Workers", "WorkersUnavailable", "worker_function"]
