"""Programs of other languages: compiled once in a run of its own, then started for each run."""

import signal
from collections.abc import Sequence
from typing import Any

import pytest

from tests.sandbox.runner.conftest import KINDS, MakeBox
from tests.sandbox.runner.driver import LIMITS, Answer, Box, BoxDied

ECHO = '#include <stdio.h>\nint main(int n, char **v) { int a, b; scanf("%d %d", &a, &b); printf("%d %s\\n", a + b, v[1]); return 3; }'
BOMB = "#define A0 ;\n" + "".join(f"#define A{n + 1} " + f"A{n} " * 10 + "\n" for n in range(8)) + "int main() { A8 }"
COMPILE_LIMITS = {**LIMITS, "cpu_s": 20.0, "wall_s": 60.0, "memory_mb": 1024, "file_mb": 64}


def load_c(box: Box, source: str, **fields: Any) -> Answer:
    header = {
        "mode": "exec",
        "main": "main.c",
        "argv": ["{program}/out/program"],
        "keep": ["out/*"],
        "compile": {"argv": ["sh", "-c", "mkdir out && gcc -O1 -o out/program main.c"], "limits": COMPILE_LIMITS},
    }
    return box.load(source, **{**header, **fields})


def kept_files(loaded: Answer) -> dict[str, bytes]:
    files, start = {}, 0
    for path, length in loaded.kept:
        files[path] = loaded.body[start : start + length]
        start += length
    return files


def test_a_program_is_compiled_once_and_started_for_each_run(box: Box) -> None:
    loaded = load_c(box, ECHO)
    assert (loaded.ok, loaded.compile["code"]) == (True, 0), loaded.message
    results = [box.execute(f"{n} 1".encode(), arguments=["x y"]) for n in range(3)]
    box.ask("unload")
    assert [(result.out, result.code) for result in results] == [(f"{n + 1} x y\n".encode(), 3) for n in range(3)]


def test_what_was_compiled_before_needs_no_compiler(box: Box) -> None:
    kept = kept_files(load_c(box, ECHO))
    assert set(kept) == {"out/program"}
    box.ask("unload")
    assert load_c(box, ECHO, compile=None, files=kept).ok
    result = box.execute(b"1 2", arguments=["y"])
    box.ask("unload")
    assert result.out == b"3 y\n"


def test_the_working_directory_has_the_extra_files_and_nothing_that_was_compiled(box: Box) -> None:
    load_c(
        box,
        '#include <stdlib.h>\nint main() { return system("find . -type f; cat data.txt"); }',
        files={"data.txt": b"data"},
    )
    result = box.execute()
    box.ask("unload")
    assert result.out == b"./data.txt\ndata"


def test_what_does_not_compile_says_why(box: Box) -> None:
    loaded = load_c(box, "int main() { return x; }")
    assert (loaded.ok, loaded.compile["ended"], loaded.kept) == (False, None, [])
    assert loaded.compile["code"] != 0
    assert "main.c" in loaded.message
    assert "undeclared" in loaded.message


@pytest.mark.parametrize(
    ("source", "limits", "ended"),
    [
        ('#include "/dev/zero"\nint main() {}', {"cpu_s": 2.0, "memory_mb": 256}, None),
        (BOMB, {"cpu_s": 0.3, "memory_mb": 4096}, "cpu"),
    ],
)
def test_a_bomb_for_the_compiler_costs_the_box_nothing(
    box: Box, source: str, limits: dict[str, Any], ended: str | None
) -> None:
    compiling = {"argv": ["gcc", "-O1", "-o", "program", "main.c"], "limits": {**COMPILE_LIMITS, **limits}}
    loaded = load_c(box, source, compile=compiling)
    assert not loaded.ok
    if ended is not None:
        assert loaded.compile["ended"] == ended
    assert box.run("print(1)").out == b"1\n"


def test_the_compiler_cannot_read_what_is_not_its_own(box: Box) -> None:
    loaded = load_c(box, '#include "/etc/shadow"\nint main() {}')
    assert not loaded.ok
    assert "root:" not in loaded.message


def test_links_are_not_kept(box: Box) -> None:
    compiling = {
        "argv": ["sh", "-c", "mkdir out; ln -s /etc/shadow out/link; echo x > out/file"],
        "limits": COMPILE_LIMITS,
    }
    loaded = load_c(box, "", compile=compiling)
    assert kept_files(loaded) == {"out/file": b"x\n"}


def test_a_crash_is_told_by_its_signal(box: Box) -> None:
    load_c(box, "int main() { int *volatile p = 0; return *p; }")
    result = box.execute()
    assert (result.code, result.signal, result.ended) == (None, signal.SIGSEGV, None)


def test_a_program_with_a_deep_stack_runs(box: Box) -> None:
    load_c(
        box,
        "#include <stdio.h>\nint f(int n) { volatile char pad[64]; pad[0] = n; return n ? f(n - 1) + pad[0] * 0 + 1 : 0; }\n"
        'int main() { printf("%d", f(500000)); }',
    )
    assert box.execute().out == b"500000"


def test_a_broken_pipe_ends_a_program_as_it_does_in_a_shell(box: Box) -> None:
    result = box.shell("yes | head -n 1; echo ${PIPESTATUS:-ok}; (yes; echo $? >&2) | true")
    assert result.out == b"y\nok\n"
    assert "Broken pipe" not in result.err


IGNORING_CHILDREN = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    os._exit(0)
try:
    print("waited for", os.wait()[1])
except ChildProcessError:
    print("gone")
"""


@pytest.mark.boxes
@pytest.mark.parametrize(("handles_children", "seen"), [(False, b"waited for 0\n"), (True, b"gone\n")])
def test_only_run_times_that_must_have_a_say_about_the_end_of_children(
    make_box: MakeBox, handles_children: bool, seen: bytes
) -> None:
    """Who ignores it is not charged for their CPU time."""
    for kind in KINDS:
        box = make_box(kind)
        for _ in range(2):
            argv = ["/usr/bin/python3", "{program}/main.py"]
            box.load(IGNORING_CHILDREN, mode="exec", argv=argv, handles_children=handles_children)
            result = box.execute()
            assert (result.out, result.err, result.left) == (seen, "", 0)
            box.ask("unload")


def test_memory_is_limited_with_a_clean_error(box: Box) -> None:
    load_c(box, "#include <stdlib.h>\nint main() { return malloc(400 << 20) ? 0 : 5; }")
    assert box.execute(memory_mb=128).code == 5
    assert box.execute(memory_mb=512).code == 0


def test_fetched_files_come_back_as_far_as_they_are_regular_files(box: Box) -> None:
    script = (
        "echo one > one; mkdir -p d/e; echo two > d/e/two; ln -s /etc/passwd link; ln -s d dlink; mkfifo fifo; "
        "echo linked > l1; ln l1 l2; : > empty"
    )
    box.load(script, mode="exec", main="main.sh", argv=["sh", "{program}/main.sh"])
    result = box.execute(fetch=["one", "d/e/two", "link", "dlink/e/two", "fifo", "l1", "none", "d", "empty"])
    assert [path for path, _ in result.fetched] == ["one", "d/e/two", "empty"]
    assert result.parts[4:] == [b"one\n", b"two\n", b""]


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "", ".", "a/" * 20 + "x", "x" * 300, "a\0b"])
def test_files_never_lie_elsewhere(box: Box, path: str) -> None:
    loaded = box.load("print(1)", files={path: b""})
    assert not loaded.ok
    assert box.run("print(1)").out == b"1\n"


def test_a_program_that_is_not_there_is_trouble_of_the_box(make_box: MakeBox) -> None:
    box = make_box("landlock", programs=("sh", "nosuchthing"))
    assert box.hello.programs == ["sh"]
    with pytest.raises(BoxDied) as died:
        box.load("", mode="exec", main="x", argv=["nosuchthing", "{program}/x"])
    assert died.value.args == (70, "runner: BoxUnusable: this box has no nosuchthing\n")


@pytest.mark.parametrize("argv", [["{program}/main"], ["{program}/none"]])
def test_what_cannot_be_started_is_nobodys_verdict(box: Box, argv: Sequence[str]) -> None:
    box.load("no program", mode="exec", main="main", argv=argv)
    assert box.execute().ended == "killed"
