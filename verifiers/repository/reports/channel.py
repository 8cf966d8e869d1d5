"""How a plugin of ours in a test runner reports, from Python 3.6 on. It runs in the container.

Each line of the report is signed with a key that is taken when this is imported, before any judged code is. The file of the
key is empty then, and gets the key of the next run of the tests when this one ends. What is called later is bound at the import.
"""

import atexit
import contextlib
import hashlib
import json.encoder
import os
from typing import Any

_KEY_FILE = "@KEY_FILE@"
_REPORT_FILE = "@REPORT_FILE@"
_quoted = json.encoder.encode_basestring_ascii


def _channel() -> Any:
    """What writes a signed line, and whether the order of tests is turned around; None if the key is taken already."""
    begin, write, getpid = hashlib.sha256, os.write, os.getpid
    open_file, flags = os.open, os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        with open(_KEY_FILE, "r+") as file:
            key = file.read().encode("ascii")
            file.truncate(0)
    except OSError:
        return None
    if not key:
        return None
    signer, owner = begin(key), getpid()
    following = begin(b"next" + key).hexdigest()[:-1] + key[-1:].decode("ascii")
    is_turned = int(key[-1:], 16) % 2 == 1
    del key
    state = {"file": -1, "count": 0}

    def report(name: str, word: str) -> None:
        if state["file"] < 0:
            state["file"] = open_file(_REPORT_FILE, flags, 0o600)
        text = f"{_quoted(name)}, {_quoted(word)}"
        signature = signer.copy()
        signature.update(f"{state['count']} {text}".encode("ascii"))
        state["count"] += 1
        write(state["file"], f'["{signature.hexdigest()}", {text}]\n'.encode("ascii"))

    def hand_on() -> None:
        if getpid() == owner:
            with contextlib.suppress(OSError):
                write(open_file(_KEY_FILE, os.O_WRONLY | os.O_TRUNC), following.encode("ascii"))

    atexit.register(hand_on)
    return report, is_turned


def code_of(function: Any, file: Any) -> str:
    """A digest of the code of a test that its file has; empty if it has none there.

    Decorators hide the function that they got, and say so in `__wrapped__`. Theirs may be other files.
    """
    codes: Any = []
    while function is not None and len(codes) < 64:
        codes.append(getattr(getattr(function, "__func__", function), "__code__", None))
        function = getattr(function, "__wrapped__", None)
    own = [code for code in codes if code is not None and code.co_filename == file]
    return _digest(repr(_parts(own[-1])).encode("utf-8", "replace")).hexdigest()[:32] if own else ""


_digest = hashlib.sha256


def _parts(code: Any) -> Any:
    """What a code is made of, as far as it is the same in each process."""
    consts = [
        _parts(const)
        if hasattr(const, "co_code")
        else sorted(map(repr, const))
        if isinstance(const, frozenset)
        else const
        for const in code.co_consts
    ]
    return code.co_name, code.co_firstlineno, code.co_code, code.co_names, code.co_varnames, consts


channels = [_channel()]
"""What the plugin takes."""
