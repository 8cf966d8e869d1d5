"""The protocol between the service and its forkserver, on a stream socket.

The forkserver reports that it is ready. Then each order is one byte with three descriptors: the box's end of its
control socket, its standard error, and the plan, a `sandbox.boxes.local.enter.Plan` as JSON. The answer is the process
id of the keeper, or minus the errno.
"""

import struct
from typing import Final

NUMBER: Final = struct.Struct("=i")
READY: Final = 0
ORDER: Final = b"+"
DESCRIPTORS: Final = 3
MODULE: Final = "sandbox.boxes.local.forkserver"
CARRIED: Final = ("boxes/local/enter.py", "boxes/local/forkserver.py", "boxes/local/forkserver_protocol.py")
"""The modules it consists of, besides the runner."""
