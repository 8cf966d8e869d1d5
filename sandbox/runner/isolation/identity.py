"""Acting as a run's user for a moment.

What a run finds in its directory has to belong to its user, and the runner has no right to give files away. Nor may it
change the mode of what others own; their owner may.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """With the effective ids of this user, and so without any capability; nothing changes for the runner's own."""
    own_uid, own_gid = os.geteuid(), os.getegid()
    if uid == own_uid:
        yield
        return
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(own_uid)
        os.setegid(own_gid)
