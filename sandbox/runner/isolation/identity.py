"""Switches to a run's user for a moment.

The files in a run's directory must belong to its user, and the runner has no privilege to give files away. Nor may it
change the mode of files that others own; their owner may.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def acting_as(uid: int) -> Iterator[None]:
    """Run the block with this user's effective ids, and so without any capability.

    For the runner's own user, nothing changes.
    """
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
