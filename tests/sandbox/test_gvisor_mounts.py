"""What boxes within gVisor had mounted, which the service sees there: it is gone before a directory is removed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.boxes.local import gvisor, user_ids

ROOT = Path(__file__).parents[2]
needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or user_ids.missing_capabilities(gvisor.RIGHTS) != [], reason="needs root with the right to mount"
)
TAKE_DOWN = """
import os, subprocess, sys
from pathlib import Path
from sandbox.boxes.local import gvisor
top, uid = Path(sys.argv[1]), int(sys.argv[2])
for place in (top / "a box", top / "a box/usr", top.parent / "others"):
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
(top / "a box/usr/kept").touch()
os.seteuid(uid)
try:
    gvisor.unmount_below(top)
except OSError as error:
    print("refused", error)
os.seteuid(0)
print((top / "a box/usr/kept").exists(), os.path.ismount(top / "a box"), os.path.ismount(top.parent / "others"))
"""


def taken_down(folder: Path, uid: int) -> list[str]:
    """In a mount namespace of its own."""
    top = folder / "state"
    top.mkdir()
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, "-c", TAKE_DOWN, str(top), str(uid)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


@needs_mounts
def test_all_that_is_mounted_below_a_directory_is_taken_down_and_nothing_beside_it(tmp_path: Path) -> None:
    assert taken_down(tmp_path, 0) == ["False False True"]


@needs_mounts
def test_what_cannot_be_taken_down_is_told_so_that_nothing_in_it_is_removed(tmp_path: Path) -> None:
    refused, left = taken_down(tmp_path, 65534)
    assert refused == f"refused {tmp_path}/state/a box is still mounted"
    assert left == "True True True"


def test_another_kernel_is_not_taken_for_gvisors() -> None:
    if "gVisor" in Path("/proc/version").read_text() or not Path("/proc/kallsyms").exists():
        pytest.skip("this may be gVisor")
    assert not gvisor.is_kernel()
