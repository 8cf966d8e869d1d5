"""What /proc says of processes that come and go."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes


def test_a_family_is_the_process_its_children_and_theirs() -> None:
    script = "import subprocess, sys; subprocess.run(['sh', '-c', 'echo $$; read line'], stdin=sys.stdin)"
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        grandchild = int(parent.stdout.readline())
        assert parent.pid in processes.children(os.getpid())
        assert processes.family(parent.pid) == [parent.pid, grandchild]
        parent.communicate("\n")
    assert processes.family(parent.pid) == [parent.pid]


def test_one_that_ends_between_two_looks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file says that its process has ended: before it is opened, and while it is read."""
    for end in (FileNotFoundError, ProcessLookupError):
        monkeypatch.setattr(Path, "read_text", lambda path, end=end: (_ for _ in ()).throw(end))
        assert processes.descendants(os.getpid()) == set()
        assert processes.run_s(os.getpid()) == 0.0
