"""llama.cpp's server with a judge of a million parameters, in a process of its own. Its replies are real, right or
wrong.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MODEL = HERE.parent / "data" / "judge" / "tiny-judge.gguf"
SLOTS = 4
CONTEXT_TOKENS = 2048


@dataclass
class Llama:
    """A running server."""

    root: str
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"{self.root}/v1"


@contextmanager
def serving_llama() -> Iterator[Llama]:
    """Start a server on a free port of loopback, and stop it in the end. It also ends if this process does."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "llama_server.py"), str(MODEL), str(SLOTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        root = process.stdout.readline().strip()
        assert root.startswith("http://127.0.0.1:"), f"llama.cpp's server did not start: {root!r}, {process.poll()}"
        yield Llama(root, process)
    finally:
        process.kill()
        process.communicate()
