"""The protocol between the service and its forkserver, on a stream socket.

The forkserver reports that it is ready. Then each order is one byte with the box's descriptors: its end of its control
socket, its standard error, and, if it has control groups, their lists of processes and last the counter of
out-of-memory kills. The answer is the id of process 1 of the box, or minus the errno. Process 1 waits for the first frame
on its control socket, which the service sends once it has mapped the box's user ids.
"""

import struct
from typing import Final

NUMBER: Final = struct.Struct("=i")
READY: Final = 0
ORDER: Final = b"+"
FEWEST_DESCRIPTORS: Final = 2
MOST_DESCRIPTORS: Final = 8
MODULE: Final = "sandbox.boxes.local.forkserver"
CARRIED: Final = ("boxes/local/enter.py", "boxes/local/forkserver.py", "boxes/local/forkserver_protocol.py")
"""The modules it consists of, besides the runner."""
