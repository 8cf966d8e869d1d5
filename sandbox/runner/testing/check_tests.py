"""Tests that are one function, `check(candidate)`, as in HumanEval (Chen et al., 2021).

Each top-level statement of `check` that asserts something is a test of its own. They run in place, in the function that
contains them, each inside a `with` that records how it ended:

    def check(candidate):                      def check(candidate):
        numbers = [3, 1, 2]                        numbers = [3, 1, 2]
        assert candidate(numbers) == 6    ──►      with <step 0>:
                                                       assert candidate(numbers) == 6
"""

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sandbox.runner.testing.namespace import NameResolution, TestNamespace
from sandbox.runner.testing.outcomes import Outcomes
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification, parsed

_STEP: Final = " step"
"""The name of the step function in the tests' namespace. Its space makes it impossible to write in a program."""
_STAND_IN: Final = "def check(*arguments, **keywords): pass"
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def run(specification: Specification, program: RemoteProgram, outcomes: Outcomes) -> None:
    """Run `check` with the entry point.

    Outcomes: `check:0`, `check:1`, ... for each statement in it that asserts something.
    """
    tree = parsed(specification.setup)
    check = next((node for node in reversed(tree.body) if _is_check(node)), None)
    if not isinstance(check, ast.FunctionDef):
        outcomes.add("check:0", "the tests cannot be read, or define no function 'check'")
        return
    asserting = _Asserting(tree)
    count = asserting.split(check)
    if not count and not asserting.is_one_test(check):
        return
    steps = _Steps(outcomes, max(count, 1))
    try:
        namespace = _loaded(specification, program, tree, check)
        namespace[_STEP] = steps.step
        candidate = _entry_point(specification.entry_point, program, namespace)
        if count:
            namespace["check"](candidate)
        else:
            with steps.step():
                namespace["check"](candidate)
    except BaseException as failure:  # noqa: BLE001 - whatever a test raises, the tests after it have not passed
        steps.fail_rest(outcomes.describe(failure))
    steps.fail_rest("it was not reached")


def _is_check(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "check"


def _loaded(
    specification: Specification, program: RemoteProgram, tree: ast.Module, check: ast.FunctionDef
) -> TestNamespace:
    """The tests' namespace, with `check` in it. Calls of `check` in the tests' own text do nothing."""
    [stand_in] = ast.parse(_STAND_IN).body
    body_without_check: list[ast.stmt] = [stand_in if _is_check(node) else node for node in tree.body]
    namespace = TestNamespace(program, NameResolution(specification))
    namespace.load_for_classes(specification.setup)
    for body in (body_without_check, [check]):
        module = ast.fix_missing_locations(ast.Module([*body], tree.type_ignores))
        exec(compile(module, "<check>", "exec"), namespace)  # noqa: S102 - this box is for running tests
    return namespace


def _entry_point(name: str, program: RemoteProgram, namespace: TestNamespace) -> Any:
    """What to check: a name in the program or its class `Solution`, or an expression such as `Solution().solve`."""
    if name.isidentifier():
        try:
            return program.get(0, name)
        except AttributeError:
            return getattr(program.get(0, "Solution")(), name)
    return eval(name, namespace)  # noqa: S307 - it is part of the tests, and as trusted as they are


class _Steps:
    """Records how the steps of `check` end, in order."""

    def __init__(self, outcomes: Outcomes, count: int) -> None:
        self._outcomes = outcomes
        self._count = count
        self._ended = 0

    @contextmanager
    def step(self) -> Iterator[None]:
        """A context manager for the next step."""
        error = None
        try:
            yield
        except BaseException as failure:  # noqa: BLE001 - whatever a test raises, it has not passed
            error = self._outcomes.describe(failure)
        self._end(error)

    def fail_rest(self, reason: str) -> None:
        """Fail all steps that have not ended."""
        while self._ended < self._count:
            self._end(reason)

    def _end(self, error: str | None) -> None:
        self._outcomes.add(f"check:{self._ended}", error)
        self._ended += 1


class _Asserting:
    """Finds statements that assert something.

    They use `assert` or `raise`, or call a function that does so or whose name says so.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _raises(node)}

    def split(self, check: ast.FunctionDef) -> int:
        """Put each asserting statement of `check` into a step. Returns how many there are; 0 if `check` may return
        early.
        """
        if any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in _within(check.body)):
            return 0
        asserting = [node for node in check.body if self._asserts(node)]
        check.body = [_as_step(node) if node in asserting else node for node in check.body]
        return len(asserting)

    def is_one_test(self, check: ast.FunctionDef) -> bool:
        """Whether `check` does anything that may fail."""
        return any(isinstance(node, ast.Call | ast.Raise) or _is_assertion(node) for node in _within(check.body))

    def _asserts(self, statement: ast.stmt) -> bool:
        if isinstance(statement, _DEFINITIONS):
            return False
        return any(
            _is_assertion(node) or isinstance(node, ast.Raise) or self._is_asserting_call(node)
            for node in _within([statement])
        )

    def _is_asserting_call(self, node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return name.startswith("assert") or name in self._functions


def _is_assertion(node: ast.AST) -> bool:
    """Whether it is an assert that can fail.

    `assert True`, which is common in some data sets, cannot; nor can `assert (x == 1, "words")`, whose tuple is always
    true.
    """
    return isinstance(node, ast.Assert) and not _is_always_true(node.test)


def _is_always_true(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts)
    return isinstance(node, ast.Constant) and bool(node.value)


def _raises(function: ast.FunctionDef) -> bool:
    return any(_is_assertion(node) or isinstance(node, ast.Raise) for node in _within(function.body))


def _within(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes in these statements, except those inside functions and classes that they define."""
    for statement in statements:
        yield statement
        if not isinstance(statement, _DEFINITIONS):
            yield from _within(ast.iter_child_nodes(statement))


def _as_step(statement: ast.stmt) -> ast.stmt:
    step = ast.Call(ast.Name(_STEP, ast.Load()), [], [])
    return ast.copy_location(ast.With([ast.withitem(step)], [statement]), statement)
