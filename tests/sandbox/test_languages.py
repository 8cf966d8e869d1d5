"""Each language in a real box: programs as models write them, what compilers say, and calls of functions.

The samples of `polyglot` run in Docker boxes that have every language of Debian, and in local boxes with what is installed.
"""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest
import pytest_asyncio

from sandbox.base import Built, Call, Execute, Exit, Isolation, Limits, Program, Run, RunResult, SandboxUnavailable
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool.pooled import PooledSandbox
from sandbox.images import recipe
from sandbox.languages import all_languages, cpp, find
from sandbox.runner.values.encoding import Opaque, decode
from tests.dockerd import POLYGLOT_IMAGE, ensure_polyglot_image
from tests.sandbox.samples import having, samples
from verifiers.code.joining import lacked

pytestmark = pytest.mark.asyncio(loop_scope="module")

_LIBRARY = re.compile(r"/usr/[^\s:\"']+\.(?:jar|dll)")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def boxes(docker_address: str) -> AsyncIterator[PooledSandbox]:
    boxes = PooledSandbox(DockerBackend(address=docker_address), slots=1)
    await boxes.start()
    yield boxes
    await boxes.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def polyglot_boxes(docker_address: str) -> AsyncIterator[PooledSandbox]:
    ensure_polyglot_image(docker_address)
    boxes = PooledSandbox(DockerBackend(image=POLYGLOT_IMAGE, address=docker_address), slots=1)
    await boxes.start()
    yield boxes
    await boxes.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local_boxes() -> AsyncIterator[PooledSandbox]:
    boxes = PooledSandbox(LocalBackend(), slots=1)
    try:
        await boxes.start()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    yield boxes
    await boxes.stop()


async def run(boxes: PooledSandbox, program: Program, *runs: Run) -> tuple[Built, list[RunResult]]:
    results: dict[int, RunResult] = {}

    def keep(position: int, result: RunResult) -> bool:
        results[position] = result
        return True

    built = await boxes.run(program, runs, keep)
    return built, [results[position] for position in sorted(results)]


async def output(boxes: PooledSandbox, language: str, source: str, stdin: bytes = b"") -> str:
    built, results = await run(boxes, Program(source, language), Execute(stdin))
    assert built.ok, built.message
    assert (results[0].exit, results[0].code) == (Exit.EXITED, 0), results[0].stderr.decode()
    return results[0].stdout.decode()


async def returned(
    boxes: PooledSandbox, language: str, source: str, function: str, *positional: Any, **keywords: Any
) -> Any:
    arguments = json.dumps([positional, keywords]).encode()
    built, results = await run(boxes, Program(source, language), Call(function, arguments))
    assert built.ok, built.message
    assert results[0].value is not None, results[0].stderr.decode()
    return decode(results[0].value)


async def test_names_and_aliases_are_lower_case_and_no_two_languages_share_one() -> None:
    names = [name for language in all_languages().values() for name in (language.name, *language.aliases)]
    assert len(names) == len(set(names))
    assert names == [name.lower() for name in names]
    assert find(" C++ ") is all_languages()["cpp"]
    assert find("klingon") is None


async def test_every_language_says_what_it_needs_and_has_samples() -> None:
    for language in all_languages().values():
        assert bool(language.run) == bool(language.needs)
        named = {path for word in (*language.compile, *language.run) for path in _LIBRARY.findall(word)}
        assert named <= {*language.needs, "/usr/share/java/kotlin-stdlib.jar"}  # Kotlin's may lie beside the compiler
    assert samples().keys() == all_languages().keys()
    assert all(len(sample.tasks) == 3 for name, sample in samples().items() if name not in ("cuda", "lean_repl"))


@pytest.mark.boxes
async def test_the_usual_box_image_has_the_usual_languages(boxes: PooledSandbox) -> None:
    assert boxes.languages >= set(recipe.COMMON)


@pytest.mark.boxes
async def test_the_largest_box_image_has_every_language_of_debian(polyglot_boxes: PooledSandbox) -> None:
    assert polyglot_boxes.languages == set(recipe.languages_named("all"))


async def solutions_are_told_apart(boxes: PooledSandbox, language: str) -> None:
    for which in ("right", "wrong"):
        for program in samples()[language].solved(which):
            built, results = await run(boxes, Program(program, language), Execute(limits=GENEROUS))
            if all_languages()[language].compile_only:
                assert built.ok == (which == "right"), built.message
                continue
            assert built.ok, built.message
            lacking = lacked(results[0].stderr.decode(errors="replace"))
            if lacking and boxes.isolation is Isolation.NAMESPACES:
                pytest.skip(f"{', '.join(lacking)} is not installed")
            assert results[0].exit in (Exit.EXITED, Exit.SIGNALLED)
            assert (results[0].code == 0) == (which == "right"), (program, results[0].stdout, results[0].stderr)


async def a_program_is_loaded_once_and_run_twice(boxes: PooledSandbox, language: str) -> None:
    program = Program(having("sum")[language], language)
    built, results = await run(boxes, program, Execute(b"3 4\n", limits=GENEROUS), Execute(b"-3 40\n", limits=GENEROUS))
    assert built.ok, built.message
    assert [result.stdout for result in results] == [b"7\n", b"37\n"], results[0].stderr


async def an_exit_code_is_the_programs_own(boxes: PooledSandbox, language: str) -> None:
    built, results = await run(boxes, Program(having("crash")[language], language), Execute())
    assert built.ok, built.message
    assert (results[0].exit, results[0].code) == (Exit.EXITED, 3), results[0].stderr


async def what_is_broken_is_said_in_the_compilers_words(boxes: PooledSandbox, language: str) -> None:
    sample = samples()[language]
    built, results = await run(boxes, Program(sample.broken, language), Execute())
    assert built.exit is Exit.EXITED
    if results:
        assert results[0].exit is Exit.EXITED
        assert results[0].code
    assert sample.broken_says in (results[0].stderr.decode() if results else built.message)


async def what_never_ends_is_ended(boxes: PooledSandbox, language: str) -> None:
    limits = Limits(cpu_s=0.5, wall_s=60.0)
    built, results = await run(boxes, Program(having("forever")[language], language), Execute(limits=limits))
    assert built.ok, built.message
    assert results[0].exit is Exit.TIME_LIMIT, results[0].stderr


async def what_takes_all_memory_is_ended(boxes: PooledSandbox, language: str) -> None:
    built, results = await run(boxes, Program(having("hungry")[language], language), Execute(limits=GENEROUS))
    assert built.ok, built.message
    assert results[0].exit in (Exit.MEMORY_LIMIT, Exit.EXITED, Exit.SIGNALLED), results[0].stderr
    assert results[0].code != 0


GENEROUS = Limits(cpu_s=20.0, wall_s=120.0)
each_sample = pytest.mark.parametrize(
    ("check", "language"),
    [
        pytest.param(check, language, id=f"{check.__name__}-{language}")
        for kind, check in {
            "tasks": solutions_are_told_apart,
            "sum": a_program_is_loaded_once_and_run_twice,
            "crash": an_exit_code_is_the_programs_own,
            "broken": what_is_broken_is_said_in_the_compilers_words,
            "forever": what_never_ends_is_ended,
            "hungry": what_takes_all_memory_is_ended,
        }.items()
        for language in having(kind)
    ],
)
Check = Callable[[PooledSandbox, str], Awaitable[None]]


@each_sample
@pytest.mark.boxes
async def test_samples_in_docker_boxes(polyglot_boxes: PooledSandbox, check: Check, language: str) -> None:
    if not all_languages()[language].packages:
        pytest.skip(f"Debian has no package for {language}")
    await check(polyglot_boxes, language)


@each_sample
@pytest.mark.boxes
async def test_samples_in_local_boxes(local_boxes: PooledSandbox, check: Check, language: str) -> None:
    if language not in local_boxes.languages:
        pytest.skip(f"{language} is not installed")
    await check(local_boxes, language)


@pytest.mark.boxes
async def test_the_precompiled_header_is_used_for_programs_that_include_it_first(boxes: PooledSandbox) -> None:
    flags = [word for word in all_languages()["cpp"].compile if word.startswith("-") and word != "-o"]
    script = f"echo '#include <bits/stdc++.h>' > x.cpp; g++ {' '.join(flags)} -H -c -o x.o x.cpp 2>&1 | head -n 1"
    limits = Limits(cpu_s=20, memory_mb=2048)
    _, results = await run(boxes, Program(script, "bash"), Execute(limits=limits))
    assert results[0].stdout.startswith(b"! "), results[0].stdout
    assert b"stdc++.h.gch" in results[0].stdout
    assert "bits/stdc++.h.gch" in cpp.PRECOMPILE


@pytest.mark.boxes
async def test_nothing_in_the_image_gives_anybody_other_rights(boxes: PooledSandbox) -> None:
    script = "find / -xdev -perm /6000 -type f 2> /dev/null; echo done"
    assert await output(boxes, "bash", script) == "done\n"


@pytest.mark.parametrize(
    "source",
    [
        "public class Solution { public static void main(String[] args) { System.out.println(1); } }",
        "class Anything { public static void main(String... args) { System.out.println(1); } }",
        "class Helper { public static class Inner {} }\n"
        "public final class Answer { public static void main(String[] args) { System.out.println(1); } }",
        "class Main {\n    public static class Node {}\n"
        "    public static void main(String[] args) { System.out.println(1); }\n}",
        "package judged.here;\npublic class Deep { public static void main(String[] args) { System.out.println(1); } }",
        "interface Shape {}\nclass A { static String main = null; String f(String[] x) { return main; } }\n"
        "public class Z { public static void main(String[] args) { System.out.println(1); } }",
    ],
)
@pytest.mark.boxes
async def test_java_classes_may_be_called_anything(boxes: PooledSandbox, source: str) -> None:
    assert await output(boxes, "java", source) == "1\n"


@pytest.mark.boxes
async def test_java_without_main_does_not_compile(boxes: PooledSandbox) -> None:
    built, _ = await run(boxes, Program("public class Main { int x; }", "java"), Execute())
    assert not built.ok
    assert "main(String[])" in built.message


@pytest.mark.parametrize(
    "source",
    [
        "import fs from 'fs';\nconsole.log(fs.readFileSync(0, 'utf8').trim());",
        "import * as fs from 'node:fs'\nconst text = await fs.promises.readFile('/dev/stdin', 'utf8')\nconsole.log(text.trim())",
        "const readline = require('readline');\nreadline.createInterface({input: process.stdin})"
        ".on('line', (line) => console.log(line));",
        "if (require.main === module) console.log(require('fs').readFileSync('/dev/stdin', 'utf8').trim());",
    ],
)
@pytest.mark.boxes
async def test_javascript_is_a_script_or_a_module(boxes: PooledSandbox, source: str) -> None:
    assert await output(boxes, "javascript", source, b"hello\n") == "hello\n"


@pytest.mark.boxes
async def test_javascript_learns_of_the_end_of_its_children(boxes: PooledSandbox) -> None:
    source = (
        "const { execSync, spawn } = require('child_process');\nconsole.log(execSync('echo one').toString().trim());\n"
    )
    source += "spawn('sh', ['-c', 'exit 2']).on('exit', code => console.log(code));"
    assert await output(boxes, "javascript", source) == "one\n2\n"


@pytest.mark.parametrize(
    "source",
    [
        "function add(a, b) { return a + b; }",
        "const add = (a, b) => a + b;",
        "var add = async function (a, b) { return a + b }",
        "class Solution { add(a, b) { return this.sum(a, b); } sum(a, b) { return a + b; } }",
        "module.exports = { add: (a, b) => a + b };",
        "exports.add = function (a, b) { return a + b; } // the end",
        "export function add(a, b) { return a + b }",
        "const image = 1, value = 2, callee = 3;\nfunction add(a, b) { console.log(image); return a + b; }",
    ],
)
@pytest.mark.boxes
async def test_javascript_functions_are_found_however_they_are_written(boxes: PooledSandbox, source: str) -> None:
    assert await returned(boxes, "javascript", source, "add", 2, 3) == 5


@pytest.mark.boxes
async def test_typescript_functions_can_be_called(boxes: PooledSandbox) -> None:
    source = "export function add(a: number, b: number): number { return a + b; }"
    assert await returned(boxes, "typescript", source, "add", 2, b=3) == 5
    method = "class Solution { private x = 1; add(a: number): number { return a + this.x; } }"
    assert await returned(boxes, "typescript", method, "add", 2) == 3


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("undefined", None),
        ("null", None),
        ("[1, 'a', true, [2.5]]", [1, "a", True, [2.5]]),
        ("({a: 1, b: {c: [null]}})", {"a": 1, "b": {"c": [None]}}),
        ("new Map([[1, 'x'], ['k', [2]]])", {1: "x", "k": [2]}),
        ("new Set([1, 2])", {1, 2}),
        ("12345678901234567890n", 12345678901234567890),
        ("-12345678901234567890n", -12345678901234567890),
        ("2 ** 60", 2**60),
        ("-5n", -5),
        ("Infinity", float("inf")),
        ("-Infinity", float("-inf")),
        ("new Uint8Array([1, 2])", [1, 2]),
        ("'\\ud800 \\u00e9'", "\ud800 é"),
        ("[,1]", [None, 1]),
    ],
)
@pytest.mark.boxes
async def test_javascript_values_arrive_as_what_they_are(boxes: PooledSandbox, expression: str, value: object) -> None:
    assert await returned(boxes, "javascript", f"function f() {{ return {expression}; }}", "f") == value


@pytest.mark.parametrize("expression", ["NaN", "() => 1", "Symbol('x')", "new (class Node {})()", "new Date(0)"])
@pytest.mark.boxes
async def test_javascript_values_that_are_not_plain_equal_nothing(boxes: PooledSandbox, expression: str) -> None:
    value = await returned(boxes, "javascript", f"function f() {{ return {expression}; }}", "f")
    assert isinstance(value, Opaque) or value != value


@pytest.mark.boxes
async def test_a_javascript_value_that_contains_itself_ends(boxes: PooledSandbox) -> None:
    source = "function f() { const list = []; list.push(list); return list; }"
    assert await returned(boxes, "javascript", source, "f") != []


@pytest.mark.parametrize(
    "source", ["function f() { throw new Error('no'); }", "function g() {}", "function f() { process.exit(0); }"]
)
@pytest.mark.boxes
async def test_a_javascript_function_that_returns_nothing_has_no_value(boxes: PooledSandbox, source: str) -> None:
    results: Sequence[RunResult]
    _, results = await run(boxes, Program(source, "javascript"), Call("f", b"[[],{}]"))
    assert results[0].value is None
