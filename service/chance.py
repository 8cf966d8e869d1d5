"""The chance behind pauses and terms that must not be the same in every process.

Not the state of `random` itself: whoever seeds that, a trainer or a test in this process, gets the draws it seeded, and
processes forked from one that has drawn do not draw the same.
"""

import random
from typing import Final

CHANCE: Final = random.SystemRandom()
