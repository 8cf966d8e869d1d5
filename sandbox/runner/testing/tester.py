"""Runs tests that are programs themselves, in a process that the judged program cannot touch.

    Specification ──► one of the styles ──► Outcomes
                            │  `solution` and the names that the tests do not define
                            ▼
                      RemoteProgram ◄──messages (rpc)──► the candidate's process

The tests' text is trusted; what the candidate sends is not.
"""

import os
import re
import sys
from typing import Any, Final

from sandbox.runner.testing import assert_tests, check_tests, pytest_tests, unittest_tests
from sandbox.runner.testing.caught import catch_only_of_program
from sandbox.runner.testing.empty_comparisons import patch_numpy_comparisons
from sandbox.runner.testing.library_functions import forward_library_functions
from sandbox.runner.testing.object_server import set_directory
from sandbox.runner.testing.outcomes import Outcomes
from sandbox.runner.testing.own_objects import mark_own_objects
from sandbox.runner.testing.recomputed import recomputes_from_arguments
from sandbox.runner.testing.rehearsal import RehearsedProgram, softened
from sandbox.runner.testing.remote_objects import RemoteModule
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.retained import uses_what_it_passed
from sandbox.runner.testing.rpc import RpcChannel
from sandbox.runner.testing.seeding import seeds_of
from sandbox.runner.testing.shared_files import share_files
from sandbox.runner.testing.shared_state import detect_sharing
from sandbox.runner.testing.specification import Specification
from sandbox.runner.testing.strict_zip import make_comparisons_strict
from sandbox.runner.testing.surroundings import surroundings_of

_CHANGING: Final = re.compile(
    r"\.(?:append|extend|insert|pop|popleft|popitem|remove|clear|update|add|discard|setdefault|sort|reverse|appendleft)\("
    r"|\][ \t]*(?:[-+*/|&]|//|\*\*)?=(?!=)|\bdel\b"
)
"""Changes of containers."""
_STATEFUL: Final = re.compile(r"\b[A-Z]\w*\(|\bwith\b")
"""Objects, which may keep a container that tests have, and change it."""
_STYLES: Final = {
    "asserts": assert_tests.run,
    "check": check_tests.run,
    "unittest": unittest_tests.run,
    "pytest": pytest_tests.run,
}


def run(spec: dict[str, Any], requests: int, replies: int, outcomes: int, directory: str) -> None:
    """Run all tests of a specification.

    Args:
        spec: The fields of `sandbox.base.Tests` without the limits; and `seal`, the key of the lines, in hexadecimal.
        requests: A blocking descriptor to write to the candidate.
        replies: A blocking descriptor to read from it.
        outcomes: A blocking descriptor for the outcomes, see `sandbox.runner.testing.outcomes`.
        directory: Of the tests' own files. The working directory may be the program's, too.
    """
    specification = Specification(
        style=spec["style"],
        cases=tuple(spec.get("cases", ())),
        setup=spec.get("setup", ""),
        entry_point=spec.get("entry_point", ""),
        files=dict(spec.get("files", {})),
        directory=directory,
    )
    kind = RehearsedProgram if spec.get("rehearses", False) else RemoteProgram
    program = kind(
        RpcChannel(replies, requests), objects=spec.get("objects", False), hidden_names=specification.own_names
    )
    sys.modules["solution"] = RemoteModule(program)
    if spec.get("shares_files", False):
        share_files(os.getcwd())
        program.shares_files = True
        program.begin_case()
    patch_numpy_comparisons(specification)
    detect_sharing(specification, program)
    forward_library_functions(specification, program)
    set_directory(specification.directory)
    missing = specification.missing_module()
    recorder = Outcomes(outcomes, program, bytes.fromhex(spec.get("seal", "")), missing)
    if isinstance(program, RehearsedProgram):
        program.rehearses = True
        program.free_names = specification.free_names()
        specification = softened(specification, recorder.describe)
    else:
        specification = _adapted(specification, program)
    _STYLES[specification.style](specification, program, recorder)
    recorder.complete()


def _adapted(specification: Specification, program: RemoteProgram) -> Specification:
    """The tests as they run, and what the program must do for them."""
    program.keeps_arguments = recomputes_from_arguments(specification)
    if not program.keeps_arguments and (
        specification.mentions(_CHANGING, ".", "]", "del") or specification.mentions(_STATEFUL, "(")
    ):
        program.keep_containers(arguments=uses_what_it_passed(specification))
    program.seeds = seeds_of(specification)
    program.surroundings = surroundings_of(specification)
    specification = mark_own_objects(specification)
    specification = catch_only_of_program(specification, program.note_fault)
    return make_comparisons_strict(specification)
