"""The arena of `tests.sandbox.hostile` within a container of gVisor, whose /proc has no list of System V's objects.

There boxes are refused the calls that make any; the self-check, which the arena begins with, tries them.
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
