"""What is cut out of the package: all of it that scores, and nothing that executes an answer."""

import ast
import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import pytest

from sandbox.base import Call, Program, RunResult, Sandbox
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.runner.values.encoding import decode
from tests.verifiers.reasoning_gym.rows import ROWS, Row
from verifiers.reasoning_gym import excerpts, tasks
from verifiers.reasoning_gym.tasks import ALLOWED, DATASET, REFUSED, Task

BUILTINS = {"eval", "exec", "compile", "__import__"}
EXECUTING = {"parse_expr", "sympify", "literal_eval", "system", "import_module", "pickle"}
EXECUTED = {
    "binary_matrix": "algorithmic.binary_matrix",
    "countdown": "games.countdown",
    "intermediate_integration": "algebra.intermediate_integration",
    "n_queens": "games.n_queens",
    "number_sorting": "algorithmic.number_sorting",
    "polynomial_multiplication": "algebra.polynomial_multiplication",
    "puzzle24": "games.puzzle24",
    "simple_integration": "algebra.simple_integration",
    "spiral_matrix": "algorithmic.spiral_matrix",
    "string_insertion": "algorithmic.string_insertion",
}
PAYLOADS = (
    "open('/tmp/struck', 'w')",
    "[open('/tmp/struck', 'w')]",
    "__import__('os').mkdir('/tmp/struck')",
    "[__import__('os').mkdir('/tmp/struck')]",
    "(lambda: __import__('pathlib').Path('/tmp/struck').touch())()",
)
_WATCH = """
def struck(entry, answers):
    import os
    scores(entry, answers)
    return os.path.lexists('/tmp/struck')
"""


def executing(program: Program) -> set[str]:
    texts = [program.source, *(data.decode() for path, data in program.files.items() if path.endswith(".py"))]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names & (BUILTINS | EXECUTING) | attributes & EXECUTING


def test_no_scorer_reaches_what_executes_text() -> None:
    """`eval` in bitwise_arithmetic is of the problem, which the caller wrote; see the payloads below."""
    reached = {name: executing(excerpts.program(task)) for name, task in ALLOWED.items()}
    assert {name: found for name, found in reached.items() if found} == {"bitwise_arithmetic": {"eval"}}
    for name, module in EXECUTED.items():
        assert executing(excerpts.program(Task(module))), name


async def _struck(sandbox: Sandbox, asked: Sequence[tuple[Task, Row]], extra: str = "") -> list[bool]:
    async def ask(task: Task, row: Row) -> bool:
        program = excerpts.program(task)
        program = replace(program, source=program.source + _WATCH)
        results: dict[int, RunResult] = {}
        texts = [*PAYLOADS, *(f"{row.solution}{payload}" for payload in PAYLOADS)]
        arguments = json.dumps([[row.entry, texts], {}]).encode()

        def hear(position: int, result: RunResult) -> bool:
            results[position] = result
            return True

        built = await sandbox.run(program, [Call("struck", arguments)], hear)
        assert built.ok, built.message
        assert results[0].value is not None, (task, results[0].stderr)
        return bool(decode(results[0].value))

    return list(await asyncio.gather(*(ask(task, row) for task, row in asked)))


@pytest.mark.bombs
async def test_no_answer_is_executed() -> None:
    sandbox = PooledSandbox(LocalBackend(), slots=2)
    await sandbox.start()
    try:
        asked = [(ALLOWED[row.task], row) for row in ROWS if ALLOWED[row.task] is not DATASET]
        assert not any(await _struck(sandbox, asked))
        row = Row("spiral_matrix", "1 2", {"answer": "1 2", "metadata": {"solution": [1, 2]}})
        executing = [Task("algorithmic.spiral_matrix"), Task("algorithmic.string_insertion")]
        assert all(await _struck(sandbox, [(task, row) for task in executing]))
    finally:
        await sandbox.stop()


def test_every_task_of_the_package_is_allowed_or_refused_with_a_reason() -> None:
    folder = Path(str(distribution("reasoning-gym").locate_file("reasoning_gym")))
    registered, own = set(), set()
    for path in folder.rglob("*.py"):
        text = path.read_text()
        if "\nregister_dataset(" not in text:
            continue
        tree = ast.parse(text)
        names = [
            node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and ast.unparse(node.targets[0]) == "DATASET_NAME"
        ] or ["composite"]
        registered.update(names)
        if "def score_answer(" in text:
            own.update(names)
    assert registered == set(ALLOWED) | set(REFUSED)
    assert not set(ALLOWED) & set(REFUSED)
    assert {name for name, task in ALLOWED.items() if task is DATASET} == set(ALLOWED) - own


def test_the_package_is_not_imported() -> None:
    import sys  # noqa: PLC0415

    excerpts.program(ALLOWED["chain_sum"])
    assert "reasoning_gym" not in sys.modules


def test_only_the_release_that_was_read_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpts, "VERSION", "0.1.24")
    with pytest.raises(excerpts.NotInstalled, match=r"0\.1\.25, and only 0\.1\.24 was read"):
        excerpts.program(ALLOWED["chain_sum"])
    monkeypatch.setattr(excerpts, "PACKAGE", "reasoning_gym_that_nobody_has")
    with pytest.raises(excerpts.NotInstalled, match="is not installed: pip install"):
        excerpts.program(tasks.DATASET)
