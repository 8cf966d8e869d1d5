"""Tests that are a few statements each, such as `assert add(1, 2) == 3`."""

from types import CodeType

from sandbox.runner.testing.namespace import NameResolution, TestNamespace
from sandbox.runner.testing.outcomes import Outcomes
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification


def run(specification: Specification, program: RemoteProgram, outcomes: Outcomes) -> None:
    """Run each case by itself after the setup. The outcomes are named `assert0`, `assert1`, ..."""
    names = NameResolution(specification)
    setup: CodeType | None = None
    for position, case in enumerate(specification.cases):
        error = None
        program.begin_case()
        try:
            setup = setup or compile(specification.setup, "<setup>", "exec")
            namespace = TestNamespace(program, names)
            exec(setup, namespace)  # noqa: S102 - tests are programs, and this box is for running them
            namespace.load_for_classes(case)
            exec(compile(case, f"<assert{position}>", "exec"), namespace)  # noqa: S102
        except BaseException as failure:  # noqa: BLE001 - whatever a test raises, it has not passed
            error = outcomes.describe(failure)
        outcomes.add(f"assert{position}", error)
