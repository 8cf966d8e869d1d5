"""Loads what speaks to Docker daemons, when it is first needed: its library takes half a second of a start."""

import importlib
import os
from typing import Any, Final

from sandbox.base import SandboxUnavailable

_UNIX: Final = "unix://"


def load(module: str, address: str, reason: str) -> Any:
    """The module. It blocks for as long as the module loads, so call it in a thread.

    Raises:
        SandboxUnavailable: there can be no daemon at the address, so nothing was loaded.
    """
    path = address.removeprefix(_UNIX)
    if address.startswith(_UNIX) and not os.path.exists(path):
        raise SandboxUnavailable(f"the Docker daemon at {address} does not answer: there is no {path}", reason)
    return importlib.import_module(module)
