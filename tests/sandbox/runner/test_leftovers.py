"""Nothing a run made is there for the next one, however it was made."""

import os
from pathlib import Path

import pytest

from sandbox.runner.process.cleaning import empty
from tests.sandbox.runner.conftest import MakeBox
from tests.sandbox.runner.driver import Box

CLEAN = "import os, sys\nfor d in [os.getcwd(), *sys.argv[1:]]: print(sorted(os.listdir(d)))"


def seen_by_the_next(box: Box) -> list[bytes]:
    """What is in the directories that programs can write to."""
    assert box.load(CLEAN).ok
    result = box.execute(arguments=box.configuration.cleaned)
    assert result.code == 0, result.err
    return result.out.split(b"\n")[:-1]


MESS = {
    "files": "import os\nfor i in range(300): open(f'{d}/f{i}', 'w').write('x')",
    "deep": "import os\nos.chdir(d)\nfor i in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nopen('f', 'w')",
    "wide": "import os\nfor i in range(300):\n    os.makedirs(f'{d}/w{i}/a/b')\n    open(f'{d}/w{i}/a/b/c', 'w')",
    "without_rights": "import os\nos.makedirs(d + '/a/b/c')\nopen(d + '/a/b/c/f', 'w')\n"
    "for p in ['a/b/c/f', 'a/b/c', 'a/b', 'a']: os.chmod(d + '/' + p, 0)",
    "sticky": "import os\nos.makedirs(d + '/s/t')\nopen(d + '/s/t/f', 'w')\nos.chmod(d + '/s/t', 0o1777)\nos.chmod(d + '/s', 0o1500)",
    "names": "import os\nfor n in [b'\\n', b'\\xff\\xfe', b'-rf', b' ', b'a' * 255, '\u2028'.encode(), b'*']:\n"
    "    os.mkdir(d.encode() + b'/' + n)\n    open(d.encode() + b'/' + n + b'/' + n, 'w')",
    "kinds": "import os, socket\nos.mkfifo(d + '/fifo')\nos.symlink('/etc/passwd', d + '/link')\nos.symlink('/', d + '/root')\n"
    "os.symlink('.', d + '/loop')\nos.link(d + '/link', d + '/hard') if False else None",
    "a_link_to_a_directory_of_others": "import os\nos.mkdir(d + '/x')\nos.symlink('/usr', d + '/x/usr')\nos.symlink('..', d + '/x/up')",
    "itself": "import os, shutil\nfor n in os.listdir(d): shutil.rmtree(d + '/' + n, ignore_errors=True)\n"
    "try: os.rename(os.getcwd(), d + '/moved')\nexcept OSError: pass",
    "its_own_directory": "import os\nos.chmod('.', 0)",
    "its_own_directory_is_gone": "import os\ntry: os.rmdir(os.getcwd())\nexcept OSError: pass",
}


@pytest.mark.boxes(beyond=6)
@pytest.mark.parametrize("where", ["own", "shared"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.boxes if name in ("deep", "wide") else ()) for name in MESS]
)
def test_a_mess_is_removed(box: Box, name: str, where: str) -> None:
    place = "os.getcwd()" if where == "own" else repr(box.configuration.cleaned[0])
    result = box.run(f"import os\nd = {place}\n{MESS[name]}\nprint('made')")
    assert result.out == b"made\n", result.err
    assert set(seen_by_the_next(box)) == {b"[]"}
    dirty = box.ask("unload").dirty
    assert dirty == 0, "what the mess before left was told with its own job"


SIBLINGS = """
import ctypes, os, time
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for at_end in (0, 10, 17):
    flags = ctypes.c_ulong(CLONE_PARENT | at_end)
    if ctypes.PyDLL(None).syscall(ctypes.c_long(clone), flags, *[ctypes.c_void_p()] * 4) == 0:
        time.sleep(1000)
print("made")
""".replace("CLONE_PARENT", "0x8000")


def test_processes_that_are_made_to_be_the_runners_own_children_are_ended(box: Box) -> None:
    for _ in range(2):
        result = box.run(SIBLINGS)
        assert (result.out, result.left) == (b"made\n", 3), result.err
    assert box.run("import os\nos.abort()").signal == 6


def test_what_was_left_outside_the_own_directory_is_told(box: Box) -> None:
    box.load(f"open('own', 'w')\nfor i in range(3): open({box.configuration.cleaned[0]!r} + f'/{{i}}', 'w')")
    box.execute()
    assert box.ask("unload").dirty == 3
    assert box.ask("unload").dirty == 0


def test_runs_of_one_program_leave_each_other_nothing(box: Box) -> None:
    box.load(f"import os\np = {box.configuration.cleaned[0]!r} + '/seen'\nprint(os.path.exists(p))\nopen(p, 'w')")
    assert [box.execute().out for _ in range(3)] == [b"False\n"] * 3
    box.ask("unload")


def test_what_was_there_before_the_runner_stays(make_box: MakeBox, tmp_path: Path) -> None:
    box = make_box("landlock")
    kept = Path(box.configuration.cleaned[0])
    assert box.run("print(1)").out == b"1\n"
    assert kept.is_dir()


def test_programs_of_jobs_before_are_gone(box: Box) -> None:
    box.load("print(1)", files={"secret.txt": b"secret"})
    box.execute()
    box.ask("unload")
    program = Path(box.program)
    listing = f"import os\nprint(os.listdir({str(program)!r}), os.path.exists({str(program / 'secret.txt')!r}))"
    assert box.run(listing).out == b"['main.py'] False\n"


@pytest.mark.boxes
def test_very_many_and_very_deep_directories_are_removed_in_time(make_box: MakeBox) -> None:
    box = make_box("namespaces")
    source = (
        "import os\n"
        "n = 0\n"
        "for i in range(200):\n"
        "    os.mkdir(f'w{i}')\n"
        "    for j in range(40): open(f'w{i}/{j}', 'w'); n += 1\n"
        "for i in range(8000):\n"
        "    os.mkdir('d')\n"
        "    os.chdir('d')\n"
        "print(n)\n"
    )
    assert box.run(source, cpu_s=20.0, wall_s=100.0).out == b"8000\n"
    assert set(seen_by_the_next(box)) == {b"[]"}


def test_emptying_never_leaves_the_directory(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("stays")
    inside = tmp_path / "inside"
    (inside / "a").mkdir(parents=True)
    (inside / "link").symlink_to(outside)
    (inside / "a" / "link").symlink_to(outside)
    (inside / "a" / "up").symlink_to("../..")
    os.link(outside / "file", inside / "a" / "hard")
    (inside / "kept").mkdir()
    assert empty(str(inside), {"kept"}) == 2
    assert os.listdir(inside) == ["kept"]
    assert (outside / "file").read_text() == "stays"
    assert empty(str(inside), {"kept"}) == 0


SEARCH = """\
import sys
beginning, end_reversed = map(bytes.fromhex, input().split())
found = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        area, rights, *_ = line.split()
        first, last = (int(bound, 16) for bound in area.split("-"))
        if rights[0] != "r" or last - first >= 1 << 28 or "[v" in line:
            continue
        memory.seek(first)
        try:
            data = memory.read(last - first)
        except OSError:
            continue
        at = data.find(beginning)
        while at >= 0:
            at += len(beginning)
            found += data[at : at + len(end_reversed)][::-1] == end_reversed
            at = data.find(beginning, at)
print(found)
"""
"""Counts a mark that it must not have in its own memory as a whole."""


def test_nothing_of_a_program_is_in_the_memory_of_the_next(box: Box) -> None:
    """Its source, what it read, and what it wrote would be worth a pass to the next sample of the same prompt."""
    demand_map_of_memory(box)
    mark = os.urandom(12).hex().encode()
    box.load(f"import sys\n# {mark.decode()}\nsys.stdout.write('out' + input())\nsys.stderr.write('{mark.decode()}')")
    for _ in range(3):
        assert box.execute(mark + b"\n").out == b"out" + mark
    box.ask("unload")
    assert box.run(SEARCH, f"{mark[:8].hex()} {mark[:7:-1].hex()}".encode()).out == b"0\n"


def test_a_mark_in_memory_is_found(box: Box) -> None:
    demand_map_of_memory(box)
    mark = os.urandom(12).hex()
    source = f"kept = '{mark}'\n{SEARCH}"
    result = box.run(source, f"{mark[:8].encode().hex()} {mark[:7:-1].encode().hex()}".encode())
    assert int(result.out) > 0


def demand_map_of_memory(box: Box) -> None:
    if box.configuration.landlock:
        pytest.skip("programs in such a box have no /proc, and so no map of their own memory")
