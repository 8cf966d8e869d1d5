"""Which files a response may not change: the tests, what configures their runner, and what could take its place.

What a response did to such a file is undone before the tests run. It costs nothing: a right change may come with
tests of its own, which are then not there.
"""

import posixpath
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from verifiers.repository.diffs import Broken, sections
from verifiers.repository.globs import matches
from verifiers.repository.reference import RepositoryReference

TESTS: Final = (
    "**/test/**",
    "**/tests/**",
    "**/__tests__/**",
    "spec/**",
    "**/testdata/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/tests.py",
    "**/*_test.go",
    "**/*.test.?s",
    "**/*.test.??s",
    "**/*.test.?sx",
    "**/*.spec.?s",
    "**/*.spec.??s",
    "**/*.spec.?sx",
    "**/*Test.java",
    "**/*Tests.java",
    "**/*_spec.rb",
    "**/*_test.rb",
    "**/*Test.php",
)
RUNNERS: Final = (
    "**/conftest.py",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/tox.ini",
    "**/setup.cfg",
    "**/pyproject.toml",
    "**/noxfile.py",
    "**/.coveragerc",
    "**/package.json",
    "**/.npmrc",
    "**/.mocharc*",
    "**/jest.config*",
    "**/vitest.config*",
    "**/karma.conf*",
    "**/babel.config*",
    "**/Makefile",
    "**/.cargo/**",
    "**/Cargo.toml",
    "**/build.rs",
    "**/pom.xml",
    "**/build.gradle*",
    "**/.mvn/**",
    "**/gradle/**",
    "**/gradlew",
    "**/mvnw",
    "**/phpunit.xml*",
    "**/.rspec",
    "**/.gitattributes",
    "**/.env",
    "**/.envrc",
)
"""Files that say how tests are run."""
SHADOWS: Final = (
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/*.pth",
    "**/__pycache__/**",
    "**/*.pyc",
    "**/*.pyo",
    "**/*.egg-info/**",
    "**/*.dist-info/**",
    "pytest.py",
    "pytest/**",
    "_pytest/**",
    "pluggy.py",
    "pluggy/**",
    "unittest.py",
    "unittest/**",
    "**/node_modules/**",
)
"""Files that Python or Node loads by themselves, or instead of the runner."""
_DEFAULT: Final = (*TESTS, *RUNNERS, *SHADOWS)
_WORDS: Final = re.compile(r"[^\s'\"=;&|()<>]+")


class Protection:
    """The files of one task that responses may not change."""

    def __init__(self, reference: RepositoryReference) -> None:
        self._reference = reference

    def covers(self, path: str) -> bool:
        """Whether a change of this file is undone."""
        if path in self._given or any(given.startswith(f"{path}/") for given in self._given):
            return True
        if matches(path, self._reference.protected):
            return True
        if path in self._solution or matches(path, self._reference.editable):
            return False
        return path in self._named or matches(path, _DEFAULT)

    @cached_property
    def _given(self) -> frozenset[str]:
        """The files that the reference brings."""
        return frozenset(self._reference.test_files) | changed(self._reference.test_patch)

    @cached_property
    def _solution(self) -> frozenset[str]:
        return changed(self._reference.patch)

    @cached_property
    def _named(self) -> frozenset[str]:
        """The files that the names of tests, and commands, say."""
        reference = self._reference
        tests = (name.partition("::")[0] for name in (*reference.fail_to_pass, *reference.pass_to_pass))
        words = (word for line in (reference.test_command, *reference.setup) for word in _WORDS.findall(line))
        return frozenset(posixpath.normpath(word) for word in (*tests, *words))


def changed(patch: str | None) -> frozenset[str]:
    """The files that a patch of the reference changes; none if it is broken, which is found when it is applied."""
    if not patch:
        return frozenset()
    try:
        return frozenset(_paths(patch))
    except Broken:
        return frozenset()


def _paths(patch: str) -> Iterable[str]:
    for section in sections(patch):
        yield from section.paths
