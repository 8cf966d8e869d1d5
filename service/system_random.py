"""Random numbers from the operating system, for pauses and terms that must differ between processes.

The module `random` has a state that a trainer or a test in this process may seed. This module leaves that state alone,
and forked processes do not draw the same numbers as their parent.
"""

import random
from typing import Final

SYSTEM_RANDOM: Final = random.SystemRandom()
