"""Builds the program for a box: its language, and the code before the response's own text."""

from sandbox import languages
from sandbox.base import Program
from verifiers.base import InvalidItem
from verifiers.code import joining
from verifiers.code.cases import CallTests, JoinedTest, StdioTests, Suite
from verifiers.code.prelude import LEETCODE, Prelude, prefixed
from verifiers.code_blocks import Found


def language_of(name: str | None, suite: Suite) -> str | None:
    """The requested language, or else that of the tests; None: the response decides.

    A test that is part of the program says its language itself.

    Raises:
        InvalidItem: there is no language of this name.
    """
    return suite.language if isinstance(suite.tests, JoinedTest) else language_named(name) or suite.language


def language_named(name: str | None) -> str | None:
    """A language by its name or an alias.

    Raises:
        InvalidItem: there is no language of this name.
    """
    if name is None:
        return None
    language = languages.find(name)
    if language is None:
        raise InvalidItem(
            "unknown_language", f"no language {name[:40]!r}; there are {sorted(languages.all_languages())}"
        )
    return language.name


def program_of(found: Found, suite: Suite, prelude: Prelude) -> Program:
    """The extracted program in the form for a box.

    Raises:
        InvalidItem: tests of this kind are not possible in its language.
    """
    tests = suite.tests
    if isinstance(tests, JoinedTest):
        _demand_runs(tests.language)
        assert found.code is not None
        source = joining.solution_of(found.code, tests, is_fenced=found.is_fenced)
        return Program(source, tests.language, suite.files)
    _demand_tests_in(found.language, suite)
    return Program(_source(found, suite, prelude), found.language, suite.files)


def _demand_runs(name: str) -> languages.Language:
    language = languages.all_languages()[name]
    if language.compile_only:
        raise InvalidItem("language_without_tests", f"programs in {name} are only compiled; no box has a GPU")
    return language


def _demand_tests_in(name: str, suite: Suite) -> None:
    language = _demand_runs(name)
    if name == "python" or isinstance(suite.tests, StdioTests):
        return
    if not isinstance(suite.tests, CallTests) or not language.call_suffix:
        raise InvalidItem("language_without_tests", f"case type `{suite.case_type}` cannot be run in {name}")
    if any(case.only_python for case in suite.tests.cases):
        raise InvalidItem("language_without_tests", f"the arguments of these tests do not exist in {name}")


def _source(found: Found, suite: Suite, prelude: Prelude) -> str:
    assert found.code is not None
    if found.language != "python":
        return found.code
    preamble = "" if found.code.startswith(suite.preamble) else suite.preamble
    heads = (LEETCODE if prelude == "leetcode" else "", suite.import_prefix, preamble)
    return prefixed(found.code, *heads)
