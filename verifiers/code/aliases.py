"""Reads the many forms of tests in data sets into one `Suite`; tests that cannot be read for certain are `invalid`.

    reference ──fields by any alias──► containers opened ──► entries ──► case type ──► typed cases

Containers: a list of objects or texts, the same as a JSON string, an object of lists (`inputs`, `outputs`, or as in
CodeContests `input`, `output`), lists of public and private tests, a HumanEval row, SandboxFusion's nested `stdin` and `stdout`, verl's `assert_case`, rLLM's
`functional`. Packed tests of LiveCodeBench are opened (`packed.py`); nothing is ever unpickled.

A reference is `invalid` if it has no tests, different numbers of inputs and outputs, elided values, or an unknown kind;
no program ever passes it.
"""

import ast
import base64
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeGuard

import msgspec
from msgspec import structs

from sandbox import languages
from sandbox.base import TestStyle
from sandbox.runner.process.workspace import BadPath, checked_path
from sandbox.runner.testing import library
from sandbox.runner.testing.own_objects import decides_by_objects, may_make
from sandbox.runner.testing.specification import MODULES_BY_SHORT_NAME
from sandbox.runner.values import encoding
from verifiers.base import InvalidItem, clip
from verifiers.code import analysis, joining, literals, packed, sharing, splitting
from verifiers.code.cases import (
    CallCase,
    CallTests,
    CaseType,
    Checker,
    JoinedTest,
    StdioCase,
    StdioTests,
    Suite,
    TestProgram,
    TestPrograms,
    TextCase,
    TextTests,
)
from verifiers.code.response_texts import bound_to_name
from verifiers.code.syntax import nodes_of

MAX_CASES = 10_000
_MAX_FILES = 1000


def parse(reference: Any) -> Suite:
    """The suite that a reference describes.

    Raises:
        InvalidItem: it describes no suite, or not for certain; the message says what was expected and what was found.
    """
    raw = _Raw()
    raw.take(_decoded(reference, "reference"), depth=0)
    kind = _kind(raw)
    if not raw.entries and not (raw.modules and kind in (CaseType.PYTEST, CaseType.UNITTEST)):
        raise InvalidItem("no_tests", "the reference holds no tests; a suite without tests judges nothing")
    if len(raw.entries) > MAX_CASES:
        raise InvalidItem("too_many_tests", f"{len(raw.entries)} tests; at most {MAX_CASES}")
    suite = _READERS[kind](raw, kind)
    return sharing.joined(suite) if raw.together else suite


# --- field names

_CASE_TYPES = {
    CaseType.STDIO: "input io stdin stdin_stdout stdinout standard_input lcb livecodebench oj commonoj codecontests",
    CaseType.FUNCTION: "functional call call_based function_call fn fn_name",
    CaseType.ASSERT: "asserts assertion assertions assert_case mbpp",
    CaseType.PYTEST: "py_test",
    CaseType.UNITTEST: "unit_test unittests",
    CaseType.CHECK_BASED: "check humaneval human_eval leetcode",
    CaseType.TEXT: "",
    CaseType.CHECKER: "special_judge spj",
    CaseType.PROGRAM: "multipl_e multiple joined autoeval mbxp",
}
_KINDS = {alias: kind for kind, aliases in _CASE_TYPES.items() for alias in (kind.value, *aliases.split())}
_TYPE_KEYS = ("case_type", "testtype", "test_type", "type")
_CONTAINER_KEYS = (
    "test_cases",
    "tests",
    "unit_tests",
    "cases",
    "input_output",
    "test_list",
    "public_test_cases",
    "private_test_cases",
    "public_tests",
    "private_tests",
    "generated_tests",
    "verifier_metadata",
    "provided_data",
)
FUNCTION_KEYS = ("fn_name", "func_name", "function_name", "test_case_function", "entry_point", "function")
_INPUT_KEYS = ("input", "stdin", "args", "arguments")
_OUTPUT_KEYS = ("expected_output", "expected_stdout", "output", "expected", "stdout", "answer")
_CODE_KEYS = ("assert_code", "assert", "test", "code", "test_code")
_SETUP_KEYS = ("setup", "setup_code", "test_setup", "test_setup_code", "test_imports")
_PREFIX_KEYS = ("import_prefix", "prefix")
_CHECKER_KEYS = ("checker", "checker_code", "special_judge", "spj")
_NO_NAME = ("", "none", "null")


@dataclass(slots=True)
class _Raw:
    """The content of a reference with its containers opened, before its kind is known."""

    entries: list[Any] = field(default_factory=list)
    kinds: set[CaseType] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    of_solution: bool = False
    """Whether the function is named as a method of `Solution`."""
    modules: dict[str, Any] = field(default_factory=dict)
    setup: list[str] = field(default_factory=list)
    prefix: list[str] = field(default_factory=list)
    prompt: str = ""
    language: str | None = None
    checker: Any = None
    max_points: float = 1.0
    count: int | None = None
    solution_language: str | None = None
    """The language of the solution, if its test is a program of another."""
    starts_class: bool = False
    """Whether the row's code to begin with is a class, whose method tests would call."""
    stop_tokens: list[str] = field(default_factory=list)
    completes: bool | None = None
    is_quoted: bool = False
    together: bool = False

    @property
    def has_programs(self) -> bool:
        """Whether a language is named in which tests are programs."""
        return not {self.language, self.solution_language} <= {None, "python"}

    def take(self, value: Any, depth: int) -> None:
        """Add the content of a container."""
        if depth > 5:
            raise InvalidItem("unparseable_tests", "the tests are nested more deeply than any known form")
        if isinstance(value, str):
            self.entries += _texts_of(value)
        elif isinstance(value, list):
            for entry in value:
                self._entry(entry, depth)
        elif isinstance(value, dict):
            self._object(value, depth)
        else:
            raise InvalidItem("bad_reference", f"expected an object, a list or JSON text, found {_named(value)}")

    def _entry(self, entry: Any, depth: int) -> None:
        if isinstance(entry, dict):
            self._fields(entry)
            self.entries.append(entry)
        elif isinstance(entry, str):
            self.entries.append({"code": entry})
        elif isinstance(entry, list) and len(entry) == 2:
            self.entries.append({"input": entry[0], "output": entry[1]})
        else:
            raise InvalidItem(
                "bad_reference", f"test {len(self.entries) + 1}: expected an object, found {_named(entry)}"
            )

    def _object(self, value: dict[str, Any], depth: int) -> None:
        self._fields(value)
        is_decoded = False
        if isinstance(test := value.get("test"), str) and self.functions and _CHECKING.search(test):
            # A row of LeetCodeDataset: the data set's own test, and in `input_output` the text that it was made of.
            self.entries.append({"code": test})
            return
        for key in _CONTAINER_KEYS:
            if value.get(key) not in (None, ""):
                self.take(_decoded(value[key], key, may_be_code=self.has_programs), depth + 1)
                is_decoded = True
        if value.get("test_list") and isinstance(value.get("test"), str):
            # A row of MBPP+: the few asserts of MBPP, and beside them a program with all other tests.
            self.take([value["test"]], depth + 1)
        if "assert_case" in value:
            self.kinds.add(CaseType.ASSERT)
            self.take(_listed(value["assert_case"], "assert_case"), depth + 1)
            return
        if "functional" in value:
            self.kinds.add(CaseType.CHECK_BASED)
            self.entries.append({"code": value["functional"]})
            return
        if "inputs" in value or "outputs" in value:
            self.entries += _zipped(value)
            return
        if is_decoded or self.modules:
            return
        if first := _first(value, _CODE_KEYS):
            self.take(first if isinstance(first, list) else [{"code": first}], depth + 1)
        elif any(key in value for key in _INPUT_KEYS) and any(key in value for key in _OUTPUT_KEYS):
            columns = None if self.functions else _columns(value)
            self.entries += [value] if columns is None else columns

    def _fields(self, value: dict[str, Any]) -> None:
        """Add the fields that may be at any level."""
        for key in _TYPE_KEYS:
            if isinstance(value.get(key), str):
                kind = _kind_named(value[key], strict=key == "case_type")
                if kind is not None:
                    self.kinds.add(kind)
        for key in FUNCTION_KEYS:
            name = value.get(key)
            if isinstance(name, str) and name.strip().lower() not in _NO_NAME:
                self.functions.append(_function_name(name))
                self.of_solution = self.of_solution or name.strip().startswith(_SOLUTION)
        metadata = value.get("metadata")
        if isinstance(metadata, str) and metadata.strip().startswith("{"):
            metadata = _decoded(metadata, "metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("func_name"), str):
            self.functions.append(_function_name(metadata["func_name"]))
        for key in _SETUP_KEYS:
            self.setup += [text for text in _texts(value.get(key), key) if text.strip() and text not in self.setup]
        for key in _PREFIX_KEYS:
            self.prefix += [text for text in _texts(value.get(key), key) if text.strip() and text not in self.prefix]
        if isinstance(value.get("files"), dict):
            self.modules |= value["files"]
        if isinstance(prompt := value.get("prompt", value.get("code_prompt")), str):  # BigCodeBench has code_prompt
            self.prompt = _whole_prompt(prompt, value.get("declaration"))
        self.together = self.together or value.get("together") is True
        if isinstance(value.get("language"), str) and value["language"].strip():
            self.language = _language(value["language"])
        self.checker = _first(value, _CHECKER_KEYS) or self.checker
        if isinstance(value.get("max_points"), (int, float)) and value["max_points"] > 0:
            self.max_points = float(value["max_points"])
        if type(value.get("count")) is int and value["count"] > 0:
            self.count = value["count"]
        self._fields_of_solution(value)

    def _fields_of_solution(self, value: dict[str, Any]) -> None:
        """Add the fields of a test that is one program with the solution, and of what the solution begins with."""
        if isinstance(value.get("solution_language"), str):
            self.solution_language = _language(value["solution_language"])
        if isinstance(start := value.get("starter_code"), str):
            self.starts_class = self.starts_class or _CLASS.search(start) is not None
        if isinstance(value.get("completes"), bool):
            self.completes = value["completes"]
        self.is_quoted = self.is_quoted or value.get("quoted") is True
        tokens = value.get("stop_tokens")
        self.stop_tokens += [token for token in tokens if isinstance(token, str)] if isinstance(tokens, list) else []

    @property
    def function(self) -> str:
        """The one function under test; empty if none is named.

        Raises:
            InvalidItem: several functions are named.
        """
        names = set(self.functions)
        if len(names) > 1:
            raise InvalidItem("bad_entry_point", f"the tests name several functions: {sorted(names)[:5]}")
        return names.pop() if names else ""


# --- opening


def _decoded(value: Any, where: str, *, may_be_code: bool = False) -> Any:
    """Decode text that is JSON; other values are unchanged, and text that is not if it may be code: `[ $(f 1) = 2 ]`.

    Raises:
        InvalidItem: it is text that looks like JSON but is not, or packed text that cannot be opened.
    """
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _PACKED.fullmatch(text):
        text = packed.opened(text)
    if text[:1] not in ("{", "[", '"'):
        return value
    try:
        read = msgspec.json.decode(text.encode())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        if may_be_code:
            return value
        raise InvalidItem("unparseable_tests", f"{where} is text that is not JSON ({error}): {clip(text)!r}") from error
    return _decoded(read, where) if isinstance(read, str) else read


def _listed(value: Any, where: str) -> list[Any]:
    value = _decoded(value, where)
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise InvalidItem("bad_reference", f"{where}: expected a list, found {_named(value)}")
    return value


def _texts_of(text: str) -> list[Any]:
    """The test code in a text that is given instead of a list."""
    if not text.strip():
        return []
    if not _CODE.search(text):
        raise InvalidItem("unparseable_tests", f"expected tests as JSON or code, found {clip(text)!r}")
    return [{"code": part} for part in _separate_asserts(text)]


_PACKED = re.compile(r"[A-Za-z0-9+/=_\-\s]{40,}")
_CODE = re.compile(r"\bassert|\bdef |\bclass |\braise\b|\(")


_CHECKING = re.compile(r"^def check\(\s*\w+", re.MULTILINE)
"""The function of HumanEval's tests, which gets the function under test."""


def _separate_asserts(text: str) -> list[str]:
    """The asserts of a text that is a list of them, one per line; otherwise the text."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines if all(line.startswith("assert ") for line in lines) else [text]


def _zipped(value: dict[str, Any]) -> list[dict[str, Any]]:
    inputs, outputs = (_decoded(value.get(key), key) for key in ("inputs", "outputs"))
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise InvalidItem(
            "bad_reference", f"inputs and outputs must be lists, found {_named(inputs)}, {_named(outputs)}"
        )
    if len(inputs) != len(outputs):
        raise InvalidItem("mismatched_tests", f"{len(inputs)} inputs, but {len(outputs)} outputs")
    return [
        {"input": input_value, "output": expected, "type": _FROM_APPS}
        for input_value, expected in zip(inputs, outputs, strict=True)
    ]


_FROM_APPS = "function_call"
"""The type of tests in data sets that took calls over from APPS, one by one."""


def _columns(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The tests of an object with a list of inputs and a list of outputs of the same length; otherwise None."""
    inputs, expected = value.get("input"), value.get("output")
    if not (_are_texts(inputs) and _are_texts(expected) and len(inputs) == len(expected)):
        return None
    return [{"input": i, "output": o} for i, o in zip(inputs, expected, strict=True)]


def _are_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _first(value: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _named(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {clip(str(value))!r}"


def _texts(value: Any, where: str) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return value
    raise InvalidItem("bad_reference", f"{where}: expected text or a list of texts, found {_named(value)}")


_SOLUTION = "Solution()."
_CLASS = re.compile(r"^class[ \t]+Solution\b", re.MULTILINE)
_NAME = re.compile(rf"(?:{re.escape(_SOLUTION)})?([A-Za-z_][A-Za-z0-9_]*)")


def _function_name(name: str) -> str:
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise InvalidItem("bad_entry_point", f"expected the name of a function, found {clip(name)!r}")
    return match[1]


def _language(name: str) -> str:
    language = languages.find(name) or languages.find(name.partition(".")[0])
    if language is None:
        raise InvalidItem(
            "unknown_language", f"no language {name[:40]!r}; there are {sorted(languages.all_languages())}"
        )
    return language.name


def _path(name: Any) -> str:
    """A file's path in its plain form, as boxes accept it."""
    try:
        return checked_path(str(name).encode().decode())
    except (BadPath, UnicodeEncodeError) as error:
        raise InvalidItem("bad_reference", f"files: expected a relative path, found {clip(str(name))!r}") from error


def _demand_places(paths: Iterable[str]) -> None:
    """Check that no path must be a file and a folder at once.

    Raises:
        InvalidItem: a path must be both.
    """
    paths = set(paths)
    if len(paths) > _MAX_FILES:
        raise InvalidItem("bad_reference", f"files: at most {_MAX_FILES}, found {len(paths)}")
    for path in paths:
        if not paths.isdisjoint(map(str, PurePosixPath(path).parents)):
            raise InvalidItem("bad_reference", f"files: {clip(path)!r} lies below another file")


def _file_texts(raw: _Raw) -> dict[str, str]:
    files: dict[str, str] = {}
    for name, content in raw.modules.items():
        if not isinstance(content, str):
            raise InvalidItem("bad_reference", f"files: {clip(str(name))!r} must hold text, found {_named(content)}")
        files[_path(name)] = content
    _demand_places(files)
    return files


def _file_bytes(raw: _Raw) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name, content in raw.modules.items():
        if isinstance(content, dict) and isinstance(content.get("base64"), str):
            try:
                files[_path(name)] = base64.b64decode(content["base64"], validate=True)
            except ValueError as error:
                raise InvalidItem("bad_reference", f"files: {clip(str(name))!r} is not base64: {error}") from error
        elif isinstance(content, str):
            files[_path(name)] = content.encode("utf-8", "surrogatepass")
        else:
            raise InvalidItem("bad_reference", f"files: {clip(str(name))!r} must hold text, found {_named(content)}")
    _demand_places([*files, *_SOURCES])
    return files


_SOURCES = frozenset(language.source_file for language in languages.all_languages().values())


# --- the case type


def _kind_named(name: str, *, strict: bool) -> CaseType | None:
    """The case type of a name; None for no name, and for other words under `type`."""
    word = name.strip().lower().replace("-", "_").replace(" ", "_")
    if not word:
        return None
    kind = _KINDS.get(word)
    if kind is None and strict:
        raise InvalidItem(
            "unknown_case_type", f"no case type {name[:40]!r}; there are {[str(kind) for kind in CaseType]}"
        )
    return kind


def _kind(raw: _Raw) -> CaseType:
    kinds = raw.kinds
    if len(kinds) > 1:
        raise InvalidItem("ambiguous_case_type", f"the tests are of several kinds: {sorted(kinds)}")
    kind = next(iter(kinds)) if kinds else _inferred(raw)
    if kind is CaseType.STDIO:
        if raw.functions and not _inputs_are_code(raw):
            return CaseType.FUNCTION
        return CaseType.CHECKER if raw.checker else CaseType.STDIO
    if kind is CaseType.UNITTEST and raw.entries and not _inputs_are_code(raw) and _have_outputs(raw):
        return CaseType.FUNCTION if raw.functions else CaseType.STDIO
    return kind


def _inferred(raw: _Raw) -> CaseType:
    if raw.entries and _is_joined(raw):
        return CaseType.PROGRAM
    if raw.modules and not raw.entries:
        text = "\n".join(_file_texts(raw).values())
        return CaseType.UNITTEST if "TestCase" in text and not _PYTEST.search(text) else CaseType.PYTEST
    if raw.entries and _have_outputs(raw):
        return CaseType.FUNCTION if raw.functions else CaseType.STDIO
    if raw.entries and _inputs_are_code(raw):
        return _inferred_from_code("\n".join(str(_first(entry, _CODE_KEYS)) for entry in raw.entries))
    if not raw.entries:
        raise InvalidItem("no_tests", "the reference holds no tests; a suite without tests judges nothing")
    raise InvalidItem("ambiguous_case_type", "the tests have neither inputs and outputs nor code; give a case_type")


def _is_joined(raw: _Raw) -> bool:
    """Whether the tests are code that can only be part of the program itself."""
    return raw.has_programs and _inputs_are_code(raw)


def _inferred_from_code(code: str) -> CaseType:
    kinds = [
        kind
        for kind, pattern in (
            (CaseType.TEXT, r"\{response\}"),
            (CaseType.CHECK_BASED, r"^def[ \t]+check[ \t]*\("),
            (CaseType.UNITTEST, r"^class[ \t]+\w+[ \t]*\([^)\n]*TestCase"),
            (CaseType.PYTEST, r"^(?:async[ \t]+)?def[ \t]+test|^class[ \t]+Test\w*[ \t]*(?:\(\))?:"),
        )
        if re.search(pattern, code, re.MULTILINE)
    ]
    if len(kinds) > 1:
        raise InvalidItem(
            "ambiguous_case_type", f"the tests could be of the kinds {[str(k) for k in kinds]}; give a case_type"
        )
    if kinds:
        return kinds[0]
    if "assert" in code:
        return CaseType.ASSERT
    raise InvalidItem(
        "ambiguous_case_type",
        "there is no assertion and no test function in the reference; write the tests, or name their case_type: "
        f"{clip(code)!r}",
    )


_PYTEST = re.compile(r"^(?:async[ \t]+)?def[ \t]+test|^import pytest|^from pytest", re.MULTILINE)


def _inputs_are_code(raw: _Raw) -> bool:
    return all(isinstance(_first(entry, _CODE_KEYS), str) for entry in raw.entries) and not _have_outputs(raw)


def _have_outputs(raw: _Raw) -> bool:
    return any(key in entry for entry in raw.entries for key in _OUTPUT_KEYS)


# --- the kinds


def _stdio(raw: _Raw, kind: CaseType) -> Suite:
    if raw.starts_class:
        raise InvalidItem(
            "bad_entry_point",
            "the row's starter_code asks for a class, but no `fn_name` says which method is called: its inputs and outputs "
            "are not standard streams, so no answer would pass; drop the row",
        )
    cases = [_stdio_case(entry, position) for position, entry in enumerate(raw.entries, 1)]
    checker = _checker(raw) if kind is CaseType.CHECKER or raw.checker else None
    if checker is None and all(not case.expected.strip() and not case.expected_files for case in cases):
        raise InvalidItem("no_expectations", "every expected output is empty: a program that prints nothing would pass")
    return Suite(kind, StdioTests(cases, checker), raw.language, _file_bytes(raw), *_head(raw))


def _stdio_case(entry: dict[str, Any], position: int) -> StdioCase:
    where = f"test {position}"
    if not any(key in entry for key in _OUTPUT_KEYS):
        raise InvalidItem("missing_expectation", f"{where}: no expected output, found the fields {sorted(entry)[:10]}")
    stdin = next((entry[key] for key in _INPUT_KEYS if key in entry), "")
    expected = next(entry[key] for key in _OUTPUT_KEYS if key in entry)
    stdin, files = _with_files(stdin, "stdin", "", f"{where}: input")
    expected, expected_files = _with_files(expected, "stdout", None, f"{where}: expected output")
    compares_output = expected is not None or not expected_files
    text = _stream_text(expected if compares_output else "", f"{where}: expected output")
    for expected_text in (text, *expected_files.values()):
        if literals.is_elided_text(expected_text):
            raise literals.elided(f"{where}: expected output", expected_text)
    return StdioCase(
        _case_name(entry, position),
        _stream_text("" if stdin is None else stdin, f"{where}: input"),
        text,
        {path: content.encode("utf-8", "surrogatepass") for path, content in files.items()},
        expected_files,
        compares_output,
    )


def _with_files(value: Any, stream: str, absent: Any, where: str) -> tuple[Any, dict[str, str]]:
    """A stream, and the files beside it: `{"stdin": text, "numbers.txt": text}`, as SandboxFusion has them."""
    if not isinstance(value, dict):
        return value, {}
    files: dict[str, str] = {}
    for name, text in value.items():
        if name != stream:
            if not isinstance(text, str):
                raise InvalidItem("missing_expectation", f"{where} must be text, found {_named(text)}")
            files[_path(name)] = text
    _demand_places(files)
    return value.get(stream, absent), files


def _stream_text(value: Any, where: str) -> str:
    if isinstance(value, str):
        return value
    if type(value) in (int, float):
        return str(value)
    if isinstance(value, list) and all(type(line) in (str, int, float) for line in value):
        return "\n".join(map(str, value))
    raise InvalidItem("missing_expectation", f"{where} must be text, found {_named(value)}")


def _checker(raw: _Raw) -> Checker:
    checker = raw.checker
    if isinstance(checker, dict):
        source = checker.get("source") or checker.get("code")
        language = _language(str(checker.get("language", "python")))
        max_points = checker.get("max_points", raw.max_points)
    else:
        source, language, max_points = checker, "python", raw.max_points
    if not isinstance(source, str) or not source.strip():
        raise InvalidItem("no_checker", "case type `checker` needs the judge's program in the field `checker`")
    if type(max_points) not in (int, float) or not max_points > 0:
        raise InvalidItem("bad_reference", f"max_points must be a positive number, found {_named(max_points)}")
    return Checker(source, language, float(max_points))


def _calls(raw: _Raw, kind: CaseType) -> Suite:
    function = raw.function
    if not function:
        raise InvalidItem("bad_entry_point", "case type `function` needs the name of the function in `fn_name`")
    wrapped = all(map(_may_be_wrapped, raw.entries))
    cases = [_call_case(entry, position, wrapped=wrapped) for position, entry in enumerate(raw.entries, 1)]
    return Suite(
        CaseType.FUNCTION, CallTests(function, cases), raw.language, _file_bytes(raw), *_head(raw), entry_point=function
    )


def _may_be_wrapped(entry: dict[str, Any]) -> bool:
    """Whether an expected value may be wrapped in a list, as APPS does; its form does not show which is meant."""
    expected = _first(entry, _OUTPUT_KEYS)
    return entry.get("type") == _FROM_APPS and isinstance(expected, list) and len(expected) == 1


def _call_case(entry: dict[str, Any], position: int, *, wrapped: bool) -> CallCase:
    where = f"test {position}"
    if not any(key in entry for key in _OUTPUT_KEYS):
        raise InvalidItem("missing_expectation", f"{where}: no expected value, found the fields {sorted(entry)[:10]}")
    key = next((key for key in _INPUT_KEYS if key in entry), "args")
    input_value = entry.get(key, [])
    expected_key = next(key for key in _OUTPUT_KEYS if key in entry)
    expected = entry[expected_key]
    is_plain = True
    if isinstance(input_value, str) and key != "args":
        positional, is_plain = literals.arguments(input_value, f"{where}: input")
        if isinstance(expected, str):
            expected = literals.value(expected, f"{where}: expected value")
    else:
        positional = input_value if isinstance(input_value, list) else [input_value]
    try:
        accepted = literals.image([expected, expected[0]] if wrapped else [expected])
    except ValueError as error:
        raise InvalidItem("unparseable_tests", f"{where}: the expected value cannot be compared: {error}") from error
    if literals.is_elided(expected) or expected == "...":
        raise literals.elided(f"{where}: expected value", str(expected))
    keywords = entry.get("kwargs") or {}
    if not isinstance(keywords, dict):
        raise InvalidItem("bad_reference", f"{where}: kwargs must be an object, found {_named(keywords)}")
    if not is_plain and literals.is_elided(positional):
        raise literals.elided(f"{where}: input", str(input_value))
    name = _case_name(entry, position)
    try:
        plain = json.dumps([positional, keywords], allow_nan=False)
    except (TypeError, ValueError) as error:
        if not is_plain:
            return CallCase(name, _with_image(None, keywords, positional), accepted, only_python=True)
        raise InvalidItem("unparseable_tests", f"{where}: the arguments cannot be written as JSON: {error}") from error
    return CallCase(name, plain if is_plain else _with_image(positional, keywords, positional), accepted)


def _with_image(plain: Any, keywords: dict[str, Any], positional: list[Any]) -> str:
    """The arguments with their form for Python."""
    return json.dumps([plain, keywords, json.loads(encoding.encode(positional))])


def _asserts(raw: _Raw, kind: CaseType) -> Suite:
    _only_python(raw)
    setup = _run_as_main("\n".join(raw.setup))
    head_tree = analysis.tree_of(setup, "setup")
    codes = [_run_as_main(_code(entry, position)) for position, entry in enumerate(raw.entries, 1)]
    trees = [analysis.tree_of(code, f"test {position}") for position, code in enumerate(codes, 1)]
    for position, tree in enumerate(trees, 1):
        if tree is not None:
            _demand_assertion(tree, head_tree, f"test {position}", codes[position - 1])
    calls = [analysis.asserted_call(tree) if tree is not None else None for tree in trees]
    setup = _joined(*raw.prefix, setup)
    asserted_calls = [call for call in calls if call is not None]
    as_calls = asserted_calls if len(asserted_calls) == len(calls) and analysis.imports_only(setup) else None
    programs = [TestProgram(TestStyle.ASSERTS, len(codes), codes, "" if as_calls is not None else setup)]
    tests = TestPrograms(
        _names(raw), programs, as_calls, _decides_by_objects(*trees), shares_files=_uses_files(head_tree, *trees)
    )
    shares = _shared(head_tree, *trees)
    first = _first_called(as_calls)
    imports = analysis.library_imports(head_tree, *trees)
    return Suite(kind, tests, "python", _file_bytes(raw), *_head(raw), first, imports, shares)


def _run_as_main(code: str) -> str:
    """A test whose part for `__main__` runs, unless that starts a framework, which ends the process."""
    return code if re.search(r"\b(?:unittest|pytest)\.main\(", code) else sharing.run_as_main(code)


def _demand_assertion(tree: ast.Module, head: ast.Module | None, where: str, code: str) -> None:
    """Check that a test may fail when it runs, after its setup.

    Raises:
        InvalidItem: whatever the program is, nothing is asserted of it.
    """
    if not analysis.asserts_anything(tree):
        raise InvalidItem("vacuous_test", f"{where} asserts nothing: {clip(code)!r}")
    module = ast.Module([*head.body, *tree.body], []) if head else tree
    if not analysis.asserts_when_run(module):
        raise InvalidItem(
            "vacuous_test", f"{where} asserts only in what is never run: {clip(code)!r}; call it, or send it as `tests`"
        )
    if not analysis.uses_program(module) and not sharing.uses_files(module):
        modules = _imported_modules(module)
        raise InvalidItem("vacuous_test", f"{where} uses nothing of the program{modules}: {clip(code)!r}")


def _shared(*trees: ast.Module | None) -> str:
    for tree in trees:
        if tree is not None and (text := sharing.unreachable_program(tree)):
            raise InvalidItem(
                "tests_not_supported",
                f"the tests use `{clip(text)}`, and the program is neither in their package nor a file; "
                "write `from solution import NAME`",
            )
    return next((text for tree in trees if tree is not None and (text := sharing.shared_by(tree))), "")


def _imported_modules(*trees: ast.Module | None) -> str:
    """What to say of modules from which tests import names, one of which may be meant to be the program."""
    imports = [node for tree in trees if tree is not None for node in nodes_of(tree, ast.ImportFrom)]
    modules = sorted({node.module for node in imports if node.module and not _is_of_library(node.module)})
    return f" (that is the module `solution`; they import from {clip(', '.join(modules))})" if modules else ""


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _uses_files(*trees: ast.Module | None) -> bool:
    return any(tree is not None and sharing.uses_files(tree) for tree in trees)


def _decides_by_objects(*trees: ast.Module | None) -> bool:
    read = [tree for tree in trees if tree is not None]
    return any(may_make(call) for tree in read for call in nodes_of(tree, ast.Call)) and decides_by_objects(read)


def _first_called(calls: Sequence[Any] | None) -> str:
    return calls[0].function if calls else ""


def _checks(raw: _Raw, kind: CaseType) -> Suite:
    _only_python(raw)
    programs: list[TestProgram] = []
    shares, is_unguarded, shares_files = "", False, False
    entry_point, of_solution = raw.function, raw.of_solution
    imports: list[tuple[str, str]] = []
    for position, entry in enumerate(raw.entries, 1):
        code, where = _code(entry, position), f"test {position}"
        tree = analysis.tree_of(code, where)
        if not re.search(r"^def[ \t]+check[ \t]*\(", code, re.MULTILINE):
            raise InvalidItem("unparseable_tests", f"{where}: expected a function check(candidate): {clip(code)!r}")
        if tree is not None:
            called, is_method, lines = analysis.checked_names(tree)
            entry_point = entry_point or called or ""
            of_solution = of_solution or is_method
            code = analysis.without_lines(code, lines)
            imports += analysis.library_imports(tree)
            shares = shares or _shared(tree)
            is_unguarded = is_unguarded or _decides_by_objects(tree)
            shares_files = shares_files or sharing.uses_files(tree)
            if not analysis.asserts_when_run(tree, called="check"):
                raise InvalidItem("vacuous_test", f"{where} asserts nothing: {clip(code)!r}")
        programs.append(TestProgram(TestStyle.CHECK, count=1, setup=code))
    if not entry_point:
        longest = max(len(program.setup) for program in programs)
        is_unread = longest > analysis.MAX_ANALYSED_CHARS
        why = f"; a test of {longest:,} characters is not searched for it" if is_unread else ""
        raise InvalidItem(
            "bad_entry_point", f"case type `check_based` needs the name of the function in `entry_point`{why}"
        )
    head = _head(raw, entry_point)
    setup = _joined(head[0], *raw.setup, head[2] if head[1] else "")
    checked = f"{_SOLUTION}{entry_point}" if of_solution else entry_point
    programs = [
        structs.replace(program, setup=_joined(setup, program.setup), entry_point=checked) for program in programs
    ]
    tests = TestPrograms(_names(raw), programs, is_unguarded=is_unguarded, shares_files=shares_files)
    return Suite(kind, tests, "python", _file_bytes(raw), *head, entry_point, imports, shares)


def _modules(raw: _Raw, kind: CaseType) -> Suite:
    _only_python(raw)
    is_pytest = kind is CaseType.PYTEST
    files = _file_texts(raw)
    imports: list[tuple[str, str]] = []
    for position, entry in enumerate(raw.entries, 1):
        code = _joined(*raw.setup, _code(entry, position))
        imports += analysis.library_imports(analysis.tree_of(code, f"test {position}"))
        name = "test_solution.py" if len(raw.entries) == 1 else f"test_solution_{position}.py"
        files[name] = _importing(code, f"test {position}")
    trees = {name: analysis.tree_of(text, name) for name, text in files.items() if name.endswith(".py")}
    count = sum(analysis.count_tests(tree, files[name], is_pytest=is_pytest) for name, tree in trees.items())
    if not count:
        raise InvalidItem("no_tests", f"no test functions were found in {sorted(files)[:5]}")
    if not any(tree is None or analysis.asserts_anything(tree) for tree in trees.values()):
        raise InvalidItem("vacuous_test", f"nothing is asserted in {sorted(files)[:5]}")
    if not any(tree is None or analysis.names_program(tree) or sharing.uses_files(tree) for tree in trees.values()):
        raise InvalidItem(
            "vacuous_test",
            f"the tests in {sorted(files)[:5]} use nothing of the program{_imported_modules(*trees.values())}: they define or "
            "import all that they call; take that out",
        )
    count = raw.count or count
    style = TestStyle.PYTEST if is_pytest else TestStyle.UNITTEST
    names = [str(number) for number in range(1, count + 1)]
    program = TestProgram(style, count, files=files)
    modules = [*trees.values()]
    tests = TestPrograms(
        names, [program], is_unguarded=_decides_by_objects(*modules), shares_files=_uses_files(*modules)
    )
    return Suite(kind, tests, "python", {}, *_head(raw), test_imports=imports, shares=_shared(*trees.values()))


def _importing(code: str, where: str) -> str:
    """Add an import of the names that the test module uses from the program, or from modules, but does not import."""
    tree = analysis.tree_of(code, where)
    if tree is None:
        return code
    used = analysis.used_as_modules(tree)
    missing = analysis.missing_names(tree)
    head = "".join(_module_import(name, used[name]) for name in missing if name in used)
    of_library = analysis.meant_of_library(tree, missing)
    head += "".join(f"from {library.MODULES[name]} import {name}\n" for name in of_library)
    names = [name for name in missing if name not in used and name not in of_library]
    if names and not re.search(r"^from solution import \*", code, re.MULTILINE):
        head += f"from solution import {', '.join(names)}\n"
    return head + code


def _module_import(name: str, attributes: Sequence[str]) -> str:
    """Code that imports a module, or else the program's object of that name if the module lacks the used attributes."""
    module = MODULES_BY_SHORT_NAME.get(name, name)
    imports = ", ".join(f"{attribute} as _" for attribute in attributes)
    return (
        f"try:\n    from {module} import {imports}\n    import {module} as {name}\n"
        f"except ImportError:\n    from solution import {name}\n"
    )


def _response_texts(raw: _Raw, kind: CaseType) -> Suite:
    _only_python(raw)
    cases = []
    for position, entry in enumerate(raw.entries, 1):
        code = _joined(*raw.setup, _code(entry, position))
        if not re.search(r"\bresponse\b", code):
            raise InvalidItem("vacuous_test", f"test {position} does not look at {{response}}: {clip(code)!r}")
        source = bound_to_name(code, f"test {position}")
        tree = analysis.tree_of(source, f"test {position}")
        if tree is not None and not analysis.asserts_anything(tree):
            raise InvalidItem("vacuous_test", f"test {position} asserts nothing: {clip(code)!r}")
        cases.append(TextCase(_case_name(entry, position), source))
    return Suite(kind, TextTests(cases), "python", _file_bytes(raw))


def _program(raw: _Raw, kind: CaseType) -> Suite:
    code = _joined(*raw.prefix, *raw.setup, *(_code(entry, number) for number, entry in enumerate(raw.entries, 1)))
    language = languages.all_languages()[raw.language or raw.solution_language or "python"]
    if language.name == "python":
        code = sharing.run_as_main(code)
    if not _CHECKS.search(code) and not (language.name in _MATCHING and "=" in code):
        raise InvalidItem("vacuous_test", f"the test checks nothing: {clip(code)!r}")
    written_in = raw.solution_language or language.tests or language.name
    if written_in == language.name == "python" and (script := _script(raw, kind, code)) is not None:
        return script
    run_as = _FRAMEWORKS.get(language.name, ())
    name = next((framework for word, framework in run_as if word in code), language.name)
    test = JoinedTest(code, name, raw.prompt, raw.stop_tokens, raw.completes, raw.is_quoted)
    test = structs.replace(test, name=joining.name_of(raw.prompt, code) if raw.prompt else "")
    test = structs.replace(test, split=splitting.split(test))
    return Suite(kind, test, written_in, _file_bytes(raw))


def _script(raw: _Raw, kind: CaseType, code: str) -> Suite | None:
    """A script of Python as tests in a process of their own; None if it needs the program's, or cannot be read."""
    if joining.MARK in code or raw.is_quoted or len(code) > analysis.MAX_ANALYSED_CHARS:
        return None
    try:
        tree = analysis.tree_of(code, "test")
    except InvalidItem:
        return None
    head = _head(raw, next(reversed(re.findall(r"^def[ \t]+(\w+)", raw.prompt, re.MULTILINE)), ""))
    if tree is None or not sharing.runs_apart(tree) or (raw.prompt and not head[1]):
        return None
    program = TestProgram(TestStyle.ASSERTS, 1, [code], _joined(head[0], head[2]))
    tests = TestPrograms(
        ["1"], [program], is_unguarded=_decides_by_objects(tree), shares_files=sharing.uses_files(tree)
    )
    return Suite(kind, tests, "python", _file_bytes(raw), *head)


_CHECKS = re.compile(
    r"abort|assert|check|deep|die|equal|error|exit|expect|fa[it]|mismatch|panic|quit|raise|stop|test|throw|verif|[=!]=|\[ ",
    re.I,
)
"""Words of tests. A program without any of them would end well, whatever the solution does."""
_MATCHING = frozenset({"elixir", "erlang"})
"""Languages in which `3 = f(x)` is an error if the value is another one."""
_FRAMEWORKS = {
    "d": (("unittest", "d_ut"),),
    "go": (("func Test", "go_test"),),
    "java": (("org.junit", "junit"),),
    "rust": (("#[test]", "rust_test"),),
}
"""What runs tests that have no `main`, by a word of them."""


_READERS = {
    CaseType.STDIO: _stdio,
    CaseType.CHECKER: _stdio,
    CaseType.FUNCTION: _calls,
    CaseType.ASSERT: _asserts,
    CaseType.CHECK_BASED: _checks,
    CaseType.PYTEST: _modules,
    CaseType.UNITTEST: _modules,
    CaseType.TEXT: _response_texts,
    CaseType.PROGRAM: _program,
}


def _whole_prompt(prompt: str, declaration: object) -> str:
    """A prompt with the head of its function, which rows of HumanEval-X in Rust have in a field of its own."""
    if not isinstance(declaration, str) or not declaration.strip():
        return prompt
    return prompt if declaration.strip().splitlines()[-1].strip() in prompt else f"{prompt}\n{declaration}"


def _head(raw: _Raw, entry_point: str = "") -> tuple[str, str, str]:
    """The text before the program: import prefix, the prompt if it is the head of a function, and its preamble.

    A prompt of imports, names and classes that all solutions start from is part of the prefix. What stands before the head
    of a class is the program's alone.
    """
    prefix = _joined(*raw.prefix)
    name = entry_point or (raw.functions[0] if raw.functions else "")
    if raw.prompt and name:
        preamble = analysis.preamble_of(raw.prompt, name)
        if preamble is not None:
            return prefix, raw.prompt, preamble
        for own_class in (name, "Solution"):
            preamble = analysis.preamble_of(raw.prompt, own_class, (ast.ClassDef,))
            if preamble is not None:
                return prefix, "", preamble
    return (_joined(prefix, raw.prompt) if name and analysis.is_shared_head(raw.prompt, name) else prefix), "", ""


def _code(entry: dict[str, Any], position: int) -> str:
    code = _first(entry, _CODE_KEYS)
    if not isinstance(code, str) or not code.strip():
        raise InvalidItem("unparseable_tests", f"test {position}: expected code in `assert_code`, found {_named(code)}")
    return code


def _only_python(raw: _Raw) -> None:
    if raw.language not in (None, "python"):
        raise InvalidItem("language_without_tests", f"test code of this kind is Python; the tests say {raw.language}")


def _names(raw: _Raw) -> list[str]:
    return [_case_name(entry, position) for position, entry in enumerate(raw.entries, 1)]


def _case_name(entry: dict[str, Any], position: int) -> str:
    name = entry.get("name")
    return name[:60] if isinstance(name, str) and name.strip() else str(position)


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text.strip())
