"""Which files a response may not change: the tests, what configures their runner, and what could take its place.

What a response did to such a file is undone before the tests run. It costs nothing: a right change may come with
tests of its own, which are then not there.
"""

import posixpath
import re
import sys
from collections.abc import Iterable
from typing import Final

from propcache.api import cached_property

from verifiers.repository.diffs import Broken, sections
from verifiers.repository.globs import matches
from verifiers.repository.reference import RepositoryReference

TESTS: Final = (
    "spec/**", "**/test_*.py", "**/*_test.py", "**/*_tests.py", "**/tests.py", "**/*_test.go", "**/*_test.exs", "**/*_test.dart",
    "**/*.test.?s", "**/*.test.??s", "**/*.test.?sx", "**/*.spec.?s", "**/*.spec.??s", "**/*.spec.?sx", "**/*-spec.?s",
    "**/test.?s", "**/test.?js", "**/test-*.?s", "**/test-*.?js", "**/*-test.?s", "**/*-test.?js", "**/*_test.?s",
    "**/*Test.java", "**/*Tests.java", "**/*TestCase.java", "**/*Test.kt", "**/*Test.cs", "**/*Tests.cs", "**/*Tests.swift",
    "**/*Spec.scala", "**/*Spec.groovy", "**/*Spec.hs", "**/*_test.cc", "**/*_test.cpp", "**/*_unittest.cc",
    "**/*_spec.rb", "**/*_test.rb", "**/*Test.php", "**/*.bats", "**/*.feature", "t/**", "**/*.snap", "**/*.golden",
)  # fmt: skip
"""Tests, and the snapshots that they compare with."""
FOLDERS: Final = (
    "**/test/**", "**/tests/**", "**/__tests__/**", "**/testdata/**", "**/test_data/**", "**/test-data/**", "**/*.tests/**",
    "**/__snapshots__/**", "**/__mocks__/**", "**/__fixtures__/**",
)  # fmt: skip
"""Folders of tests, whatever the case of their letters."""
RUNNERS: Final = (
    "**/conftest.py", "**/pytest.ini", "**/.pytest.ini", "**/pytest.toml", "**/.pytest.toml", "**/tox.ini", "**/setup.cfg",
    "**/pyproject.toml", "**/noxfile.py", "**/.coveragerc", "**/nose2.cfg", "**/unittest.cfg", "**/.noserc",
    "**/package.json", "**/.npmrc", "**/.yarnrc*", "**/.pnp.*", "**/.pnpmfile.*", "**/bunfig.toml", "**/.mocharc*", "**/.taprc",
    "**/jest.config*", "**/jest.setup*", "**/setuptests.*", "**/vitest.*", "**/vite.config*", "**/karma.conf*", "**/ava.config*",
    "**/babel.config*", "**/.babelrc*", "**/.swcrc", "**/.nycrc*", "**/playwright.config*", "**/cypress.config*",
    "**/makefile", "**/gnumakefile", "**/justfile", "**/taskfile.y*ml", "**/ctesttestfile.cmake",
    "**/.cargo/**", "**/Cargo.toml", "**/build.rs", "**/rust-toolchain*", "**/.config/nextest.toml", "**/go.mod", "**/go.sum",
    "**/go.work*", "**/pom.xml", "**/build.gradle*", "**/settings.gradle*", "**/gradle.properties", "**/buildsrc/**",
    "**/.mvn/**", "**/gradle/**", "**/gradlew", "**/mvnw", "**/*.csproj", "**/directory.build.*", "**/nuget.config",
    "**/*.runsettings", "**/global.json", "**/phpunit.*", "**/composer.json", "**/.rspec", "**/gemfile*", "**/.bundle/**",
    "**/rakefile", "**/.proverc", "**/.gitattributes", "**/.env", "**/.env.*", "**/.envrc",
)  # fmt: skip
"""Files that say how tests are run, whatever the case of their letters."""
SHADOWS: Final = (
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/*.pth",
    "**/__pycache__/**",
    "**/*.pyc",
    "**/*.pyo",
    "**/*.egg-info/**",
    "**/*.dist-info/**",
    "**/node_modules/**",
    "vendor/**",
)
"""Files that Python, Node or Go loads by themselves, whatever the case of their letters."""
_REQUIREMENTS: Final = (
    "_pytest", "pytest", "pluggy", "iniconfig", "packaging", "py", "attr", "attrs", "tomli", "toml", "exceptiongroup",
    "colorama", "pygments", "typing_extensions", "importlib_metadata", "zipp", "wcwidth", "atomicwrites",
    "more_itertools", "pathlib2", "six", "funcsigs", "pkg_resources", "xdist", "execnet", "pytest_cov", "coverage",
    "pytest_asyncio", "hypothesis", "nose",
)  # fmt: skip
"""What pytest and its plugins import, in any of their releases."""
_FORMER: Final = (
    "asynchat", "asyncore", "binhex", "cgi", "cgitb", "chunk", "crypt", "distutils", "imghdr", "imp", "mailcap",
    "nntplib", "parser", "pipes", "smtpd", "sndhdr", "symbol", "telnetlib", "uu", "xdrlib",
)  # fmt: skip
"""Modules of the standard library of older Pythons."""
_SHADOWED: Final = sys.stdlib_module_names.union(_REQUIREMENTS, _FORMER)
_IMPORTED: Final = (".py", ".pyc", ".so")
_OF_ANY_CASE: Final = (*(glob.lower() for glob in RUNNERS), *FOLDERS, *SHADOWS)
_PYTHONPATH: Final = "PYTHONPATH="
_WORDS: Final = re.compile(r"[^\s'\"=;&|()<>]+")


class Protection:
    """The files of one task that responses may not change."""

    def __init__(self, reference: RepositoryReference) -> None:
        self._reference = reference

    def covers(self, path: str) -> bool:
        """Whether a change of this file is undone."""
        if path in self._given or path in self._folders_of_given:
            return True
        if matches(path, self._reference.protected):
            return True
        if path in self._solution or matches(path, self._reference.editable):
            return False
        return path in self._named or matches(path, TESTS) or matches(path.lower(), _OF_ANY_CASE)

    def shadows(self, path: str) -> str | None:
        """What stands in the place of a module that Python or pytest imports, if it was not there before: the path of the
        module or package. A repository's own module of such a name stays.
        """
        return next((module for module in self.modules(path) if name_of(module) in _SHADOWED), None)

    def modules(self, path: str) -> list[str]:
        """The modules or packages that a change of this file brings, one for each folder of Python's path that it is in."""
        if not path.endswith(_IMPORTED) or path in self._solution:
            return []
        folders = [f"{folder}/" if folder else "" for folder in self._python_path]
        return [folder + path.removeprefix(folder).partition("/")[0] for folder in folders if path.startswith(folder)]

    @cached_property
    def _python_path(self) -> tuple[str, ...]:
        """The folders from which Python imports before it looks at its own."""
        reference = self._reference
        texts = [reference.environment.get("PYTHONPATH", "")]
        words = (word for line in (reference.test_command, *reference.setup) for word in line.split())
        texts += [word.removeprefix(_PYTHONPATH) for word in words if word.startswith(_PYTHONPATH)]
        folders = (folder.strip("'\"") for text in texts for folder in text.split(":"))
        top = reference.workdir.rstrip("/")
        inside = (posixpath.normpath(folder.removeprefix(top).lstrip("/")) for folder in folders if folder)
        return ("", *dict.fromkeys(folder for folder in inside if folder != "."))

    @cached_property
    def _given(self) -> frozenset[str]:
        """The files that the reference brings."""
        return frozenset(self._reference.test_files) | changed(self._reference.test_patch)

    @cached_property
    def _folders_of_given(self) -> frozenset[str]:
        return frozenset(
            "/".join(segments[:depth])
            for segments in (path.split("/") for path in self._given)
            for depth in range(1, len(segments))
        )

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


def name_of(module: str) -> str:
    """The name by which a module or package is imported."""
    return posixpath.basename(module).partition(".")[0]


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
