"""Builds the program for a box: its language, and the code before the response's own text."""

import re
from collections.abc import Collection
from typing import Final

from sandbox import languages
from sandbox.base import Program, SandboxUnavailable
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


def languages_of(name: str | None, suite: Suite) -> frozenset[str]:
    """The languages in which a response may write the program of a task; its own choice never makes the task invalid.

    Args:
        name: The language that the task demands, as of `language_of`; None: any that can run its tests.
        suite: Its tests.

    Raises:
        InvalidItem: its tests are not possible in the language that it demands.
    """
    if name is None:
        return frozenset(language for language in languages.all_languages() if not _obstacle(language, suite))
    if obstacle := _obstacle(suite.tests.language if isinstance(suite.tests, JoinedTest) else name, suite):
        raise InvalidItem("language_without_tests", obstacle)
    return frozenset({name})


def _obstacle(name: str, suite: Suite) -> str:
    """Why tests cannot run in a language; empty if they can."""
    language, tests = languages.all_languages()[name], suite.tests
    if language.compile_only:
        return f"programs in {name} are only compiled; no box has a GPU"
    if name == "python" or isinstance(tests, StdioTests | JoinedTest):
        return ""
    if not isinstance(tests, CallTests) or not language.call_suffix:
        return f"case type `{suite.case_type}` cannot be run in {name}"
    if any(case.only_python for case in tests.cases):
        return f"the arguments of these tests do not exist in {name}"
    return ""


def demand_boxes(available: Collection[str], demanded: str | None, suite: Suite) -> None:
    """Check that boxes have what a task needs, whatever the response is.

    Args:
        available: The languages of the boxes; none if that is not known yet.
        demanded: The language that the task demands, as of `language_of`.
        suite: Its tests.

    Raises:
        SandboxUnavailable: they lack the task's language, or that of its checker.
    """
    tests = suite.tests
    needed = {tests.language if isinstance(tests, JoinedTest) else demanded or ""}
    if isinstance(tests, StdioTests) and tests.checker is not None:
        needed.add(tests.checker.language)
    if available and (lacking := needed - {*available, ""}):
        raise SandboxUnavailable(
            f"the task needs {', '.join(sorted(lacking))}, and the boxes have {sorted(available)}",
            "language_unavailable",
        )


def program_of(extracted: Found, suite: Suite, prelude: Prelude) -> Program:
    """The extracted program in the form for a box. Its language is one of `languages_of`."""
    tests = suite.tests
    if isinstance(tests, JoinedTest):
        assert extracted.code is not None
        source = joining.solution_of(extracted.code, tests, is_fenced=extracted.is_fenced)
        return Program(source, tests.language, suite.files)
    return Program(_source(extracted, suite, prelude), extracted.language, suite.files)


def _source(extracted: Found, suite: Suite, prelude: Prelude) -> str:
    assert extracted.code is not None
    if extracted.language != "python":
        return extracted.code
    preamble = "" if extracted.code.startswith(suite.preamble) else suite.preamble
    words = {*_WORDS.findall(extracted.code)} if suite.test_imports else set()
    imports = "".join(code for name, code in suite.test_imports if name in words)
    heads = (LEETCODE if prelude == "leetcode" else "", imports, suite.import_prefix, preamble)
    return prefixed(extracted.code, *heads)


_WORDS: Final = re.compile(r"[A-Za-z_]\w*")
