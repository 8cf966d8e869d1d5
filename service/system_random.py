"""Random numbers from the operating system, for pauses and terms that must differ between processes.

The module `random` has a state that a trainer or a test in this process may seed. This one leaves that state alone, and
processes forked from one that has drawn do not draw the same.
"""

import random
from typing import Final

SYSTEM_RANDOM: Final = random.SystemRandom()
