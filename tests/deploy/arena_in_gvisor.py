"""Runs the arena of `tests.sandbox.hostile` in a container of gVisor. Its /proc has no list of System V objects.

Boxes there may not make such objects. The self-check, which the arena runs first, tests this.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from tests.sandbox.hostile import arena, outside


def _no_objects() -> frozenset[str]:
    return frozenset()


if __name__ == "__main__":
    if not Path("/proc/sysvipc").exists():
        outside._objects = _no_objects
    asyncio.run(arena._main(arena.Setup(**json.loads(sys.argv[1]))))
    os._exit(0)
