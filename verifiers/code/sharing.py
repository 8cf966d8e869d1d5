"""Tests that share more with the program than the environment: they need it in their own process.

    @patch("requests.get")                         the program has a module `requests` of its own
    monkeypatch.setattr(random, "randint", ...)
    subprocess.run = Mock(return_value=0)
    sqlite3.connect("a.db")                        a database file can be written by the user who made it alone
    subprocess.run("./a.sh"), with files           what it leaves among their files would run as theirs
    with pytest.warns(UserWarning): f()            it warns and logs in its own process
    sys.stdin = io.StringIO("4")                   it reads its own standard input
    inspect.getsource(f), f.__globals__            it is known by its calls, not by its text
    client = Mock(); client.get.return_value = 4   a mock here can be called from there, but has no attributes there
    async def double(x): ...; apply(double, 2)     a coroutine of theirs cannot run in the program's event loop
    class Mine(Base): ...                          a class of the program cannot be a base of one of theirs
    eval(expression_for(24)) == 24                 the program's text would run among the tests, see `evaluation`
    set_mode("x"); os.environ["MODE"] == "x"       it sets its own environment
    add_path("/x"); "/x" in sys.path               and the tables of its own interpreter

The text of the tests decides, so all responses are judged, or none. By default such a suite is `invalid`. With `together`,
tests and program are one program that passes if it ends with code 0 (a `JoinedTest`): then nothing guards the tests from
the program but the checks of `joining`.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from sandbox.base import TestStyle
from sandbox.runner.testing import library
from sandbox.runner.testing.specification import MODULES_BY_SHORT_NAME
from verifiers.base import InvalidItem
from verifiers.code.cases import CaseType, JoinedTest, Suite, TestProgram, TestPrograms
from verifiers.code.evaluation import evaluated_answer
from verifiers.code.syntax import nodes_of

_FIXTURES: Final = frozenset({"caplog", "recwarn"})
_FILE_FIXTURES: Final = frozenset({"tmp_path", "tmp_path_factory", "tmpdir"})
_OF_FILES: Final = frozenset(
    {
        *("open", "makedirs", "mkdir", "chdir", "write_text", "write_bytes", "read_text", "read_bytes", "touch"),
        *("exists", "isfile", "isdir", "is_file", "is_dir", "listdir", "scandir", "iterdir", "glob", "walk", "stat"),
        *("rmtree", "unlink", "getsize", "mkdtemp", "mkstemp", "NamedTemporaryFile", "TemporaryDirectory"),
        *("to_csv", "to_json", "to_pickle", "to_excel", "read_csv", "read_json", "savetxt", "loadtxt", "save", "load"),
    }
)
"""Calls about files. Those of mocks and strings have other names."""
_ABOUT_FILES: Final = frozenset({"os.remove", "os.rename", "os.replace", "shutil.copy", "shutil.move"})
"""More such calls; lists and texts have methods of these names."""
_STARTING: Final = frozenset({"subprocess", "os.system", "os.popen", "runpy", "multiprocessing"})
_PATCHING: Final = frozenset({"patch", "patch.object", "patch.multiple", "setattr", "delattr"})
_NOTING: Final = frozenset(
    {"assertLogs", "assertNoLogs", "assertWarns", "assertWarnsRegex", "warns", "deprecated_call"}
)
_INTROSPECTION: Final = frozenset({"__closure__", "__globals__"})
_OF_SOURCES: Final = frozenset(
    {
        *("getsource", "getsourcelines", "getsourcefile", "getfile", "getmodule", "getdoc", "getcomments", "stack"),
        *("currentframe", "getclosurevars", "getinnerframes", "getouterframes", "trace"),
    }
)
"""Functions of `inspect` that look for files or frames."""
_MOCKS: Final = frozenset({"Mock", "MagicMock", "NonCallableMock", "NonCallableMagicMock", "create_autospec"})
_OF_MOCKED_FUNCTIONS: Final = frozenset(
    {
        *("return_value", "side_effect", "called", "call_count", "call_args", "call_args_list", "mock_calls"),
        *("reset_mock", "assert_called", "assert_called_once", "assert_called_with", "assert_called_once_with"),
        *("assert_any_call", "assert_has_calls", "assert_not_called", "name"),
    }
)
"""What a mock has that stands for a function. Any other attribute shows that it stands for an object."""
_OF_PROGRAM: Final = ("solution",)
_FILES_OF_PROGRAM: Final = ("solution.py", "./solution.py")
_BY_PATH: Final = frozenset({"open", "Path", "run_path", "spec_from_file_location", "SourceFileLoader"})
_WRITING: Final = frozenset({"write_text", "write_bytes"})
_BASES: Final = frozenset({"ABC", "Enum", "IntEnum", "StrEnum", "NamedTuple", "TypedDict", "Protocol", "Generic"})
"""Classes of the standard library that texts may use without an import."""
_TOLD: Final = frozenset({"sys.stdout", "sys.stderr", "sys.argv", "os.environ"})
"""What the program prints is printed in the tests' process, too, and it is told of their environment."""


def shared_by(tree: ast.Module) -> str:
    """What tests share with the program's process, in their own words; empty if nothing."""
    imported = _imported_names(tree)
    return (
        next((text for node in nodes_of(tree, *_SHARING) if (text := _shared(node, imported))), "")
        or _foreign_base(tree, imported)
        or _mocked_object(tree)
        or _passed_coroutine(tree, imported)
        or evaluated_answer(tree)
        or _environment_read(tree)
        or _interpreter_read(tree)
        or (uses_files(tree) and _started(tree))
        or ""
    )


def unreachable_program(tree: ast.Module) -> str:
    """How tests look for the program where it never is: in their own package, or in a file. Empty if they do not."""
    for node in nodes_of(tree, ast.ImportFrom):
        names = (node.module or "").split(".") if node.module else [one.name for one in node.names]
        if node.level and names[0] in _OF_PROGRAM:
            return ast.unparse(node)
    calls = [call for call in nodes_of(tree, ast.Call) if _last_name(call.func) in _BY_PATH]
    is_written = any(_last_name(call.func) in _WRITING for call in nodes_of(tree, ast.Call))
    for call in calls:
        is_file = any(isinstance(path, ast.Constant) and path.value in _FILES_OF_PROGRAM for path in call.args)
        if is_file and not (is_written or (_last_name(call.func) == "open" and _writes(call))):
            return ast.unparse(call)
    return ""


def _writes(call: ast.Call) -> bool:
    """Whether a file is opened to be written: `open("a.txt", "w")`"""
    return len(call.args) > 1 and getattr(call.args[1], "value", "r") not in ("r", "rb", "rt")


def uses_files(tree: ast.Module) -> bool:
    """Whether tests work with files, so that they and the program need one directory."""
    functions = nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
    return any(argument.arg in _FILE_FIXTURES for node in functions for argument in node.args.args) or any(
        _last_name(call.func) in _OF_FILES or _dotted(call.func) in _ABOUT_FILES for call in nodes_of(tree, ast.Call)
    )


def _environment_read(tree: ast.Module) -> str:
    """How tests read a variable of the environment that they do not set themselves; empty if they do not."""
    set_by_tests: set[str] = set()
    reads: list[tuple[ast.expr, ast.expr]] = []
    for node in nodes_of(tree, ast.Subscript):
        if _dotted(node.value) in _ENVIRONMENTS:
            if isinstance(node.ctx, ast.Load):
                reads.append((node, node.slice))
            else:
                set_by_tests |= _texts_in(node.slice)
    for call in nodes_of(tree, ast.Call):
        name = _dotted(call.func)
        if name in _READING_VARIABLES and len(call.args) == 1 and not call.keywords:
            reads.append((call, call.args[0]))
        elif name.startswith(_ENVIRONMENTS) or name.endswith(_SETTING_VARIABLES):
            set_by_tests |= _texts_in(call)
    for read, key in reads:
        names = _texts_in(key)
        if not names & (set_by_tests | _VARIABLES_OF_BOXES) and (names or not set_by_tests):
            return ast.unparse(read)
    return ""


def _interpreter_read(tree: ast.Module) -> str:
    """A table of the interpreter that tests read and do not extend themselves: `sys.path`. Empty if there is none."""
    attributes = nodes_of(tree, ast.Attribute)
    extended = {_dotted(node.value) for node in attributes if node.attr in _EXTENDING}
    names = [_dotted(node) for node in attributes if isinstance(node.ctx, ast.Load)]
    return next((name for name in names if name in _OF_INTERPRETER and name not in extended), "")


_OF_INTERPRETER: Final = frozenset({"sys.path", "sys.meta_path", "warnings.filters"})
_EXTENDING: Final = frozenset({"append", "extend", "insert"})


def _texts_in(node: ast.AST) -> set[str]:
    """The literal texts in an expression, and the names of keywords: `update(MODE="x")`"""
    parts = [*ast.walk(node)]
    texts = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return texts | {part.arg for part in parts if isinstance(part, ast.keyword) and part.arg}


_ENVIRONMENTS: Final = ("os.environ", "environ")
_READING_VARIABLES: Final = frozenset({"os.getenv", "getenv", "os.environ.get", "environ.get"})
_SETTING_VARIABLES: Final = ("setenv", "delenv", "putenv", "patch.dict")
_VARIABLES_OF_BOXES: Final = frozenset({"HOME", "LANG", "PATH", "PWD", "SHELL", "TEMP", "TMP", "TMPDIR", "USER"})


def _started(tree: ast.Module) -> str:
    """A call that starts another process; empty if there is none."""
    calls = [_dotted(call.func) for call in nodes_of(tree, ast.Call)]
    return next((f"{name}(...)" for name in calls if name in _STARTING or name.partition(".")[0] in _STARTING), "")


def _mocked_object(tree: ast.Module) -> str:
    """How a mock is used that stands for an object of the tests; empty if none does."""
    mocks = [call for call in nodes_of(tree, ast.Call) if _last_name(call.func) in _MOCKS]
    for mock in mocks:
        if any(keyword.arg not in _OF_MOCKED_FUNCTIONS for keyword in mock.keywords) or mock.args:
            return f"{ast.unparse(mock)[:60]}"
    names = {
        ast.unparse(target) for node in nodes_of(tree, ast.Assign) if node.value in mocks for target in node.targets
    }
    for attribute in nodes_of(tree, ast.Attribute) if names else ():
        if attribute.attr not in _OF_MOCKED_FUNCTIONS and ast.unparse(attribute.value) in names:
            return ast.unparse(attribute)
    return next((node.id for node in nodes_of(tree, ast.Name) if node.id == "AsyncMock"), "")


def _passed_coroutine(tree: ast.Module, imported: Mapping[str, str]) -> str:
    """The head of an `async def` of the tests that the program gets as a function; empty if there is none."""
    functions = nodes_of(tree, ast.AsyncFunctionDef)
    if not functions:
        return ""
    coroutines = {node.name for node in functions}
    known = {*imported, *dir(builtins), *(node.name for node in nodes_of(tree, *_NAMED))}
    for node in functions:
        if any(_root_of(decorator) not in known for decorator in node.decorator_list):
            return f"async def {node.name}"
    for call in nodes_of(tree, ast.Call):
        passed = [child.id for child in call.args if isinstance(child, ast.Name) and child.id in coroutines]
        if passed and _root_of(call.func) not in known:
            return f"async def {passed[0]}"
    return ""


def _root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _foreign_base(tree: ast.Module, imported: Mapping[str, str]) -> str:
    """The head of a class that is derived from one of the program's; empty if there is none."""
    classes = [node for node in nodes_of(tree, ast.ClassDef) if node.bases]
    if not classes:
        return ""
    # What a text binds itself may be anything: Base = object
    bound = {node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes_of(tree, *_NAMED)}
    is_open = any(node.name == "*" for node in nodes_of(tree, ast.alias))
    of_program = {
        alias.asname or alias.name
        for node in nodes_of(tree, ast.ImportFrom)
        if node.module in _OF_PROGRAM
        for alias in node.names
    }
    names = {*dir(builtins), *imported, *bound, *library.MODULES, *MODULES_BY_SHORT_NAME, *sys.stdlib_module_names}
    for node in classes:
        for root in (_dotted(base).partition(".")[0] for base in node.bases):
            if root in of_program or (root and root not in names and root not in _BASES and not is_open):
                return f"class {node.name}({root})"
    return ""


def runs_apart(tree: ast.Module) -> bool:
    """Whether a script of tests means the same in a process of its own, with the program in another.

    def check(f): assert f(2) == 4        not: unittest.main()
    check(twice)                          not: class Mine(Solution): ...
    """
    names = {node.id for node in nodes_of(tree, ast.Name)}
    if shared_by(tree) or names & _OF_SCRIPTS or _ends_process(tree):
        return False
    return _asserts_when_run(tree)


def run_as_main(code: str) -> str:
    """A script whose part for `__main__` always runs.

    A comparison of the script's name is none of an answer, which may be turned round or get another value.
    """
    return _MAIN_PART.sub(r"\1if 1:", code)


_NAME_FIRST: Final = r"""__name__[ \t]*==[ \t]*["']__main__["']"""
_MAIN_FIRST: Final = r"""["']__main__["'][ \t]*==[ \t]*__name__"""
_MAIN_PART: Final = re.compile(
    rf"^([ \t]*)if[ \t]*\(?[ \t]*(?:{_NAME_FIRST}|{_MAIN_FIRST})[ \t]*\)?[ \t]*:", re.MULTILINE
)
_OF_SCRIPTS: Final = frozenset(
    {*("__name__", "__file__", "globals", "locals", "vars", "exec", "eval", "exit", "quit"), *("unittest", "pytest")}
)
"""Names that mean the script itself, or what runs its tests."""
_NAMED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _ends_process(tree: ast.Module) -> bool:
    return any(_dotted(node) in ("sys.exit", "os._exit", "sys.modules") for node in nodes_of(tree, ast.Attribute))


def _asserts_when_run(tree: ast.Module) -> bool:
    """Whether the script runs an assertion, itself or in functions that it calls by their names."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    nodes: list[ast.AST] = [node for node in tree.body if not isinstance(node, _NAMED)]
    reached: set[str] = set()
    while nodes:
        for node in ast.walk(nodes.pop()):
            if isinstance(node, ast.Assert | ast.Raise):
                return True
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in reached:
                reached.add(node.func.id)
                if node.func.id in functions:
                    nodes.append(functions[node.func.id])
    return False


def joined(suite: Suite) -> Suite:
    """The suite with tests and program in one process.

    Raises:
        InvalidItem: its tests cannot be one program with the solution.
    """
    tests = suite.tests
    if not isinstance(tests, TestPrograms):
        return suite
    source = "".join(f"{_text_of(program)}\n" for program in tests.programs)
    test = JoinedTest(f"{suite.import_prefix}\n{_AS_MODULE}{source}", "python", prompt="")
    return Suite(CaseType.PROGRAM, test, "python", suite.files, entry_point=suite.entry_point)


def _shared(node: ast.AST, imported: Mapping[str, str]) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        # def test_it(caplog): ...
        return next((argument.arg for argument in node.args.args if argument.arg in _FIXTURES), "")
    if isinstance(node, ast.Attribute):
        # f.__code__
        if node.attr in _INTROSPECTION:
            return node.attr
        # inspect.getsource
        is_of_inspect = isinstance(node.value, ast.Name) and node.value.id == "inspect"
        return ast.unparse(node) if is_of_inspect and node.attr in _OF_SOURCES else ""
    if isinstance(node, ast.Assign):
        # sys.stdin = io.StringIO("4")
        targets = [ast.unparse(target) for target in node.targets if isinstance(target, ast.Attribute)]
        is_function = isinstance(node.value, ast.Lambda) or (
            isinstance(node.value, ast.Call) and _last_name(node.value.func) in _MOCKS
        )
        return next((text for text in targets if text in _INPUTS or (is_function and _is_foreign(text, imported))), "")
    return _shared_by_call(node, imported) if isinstance(node, ast.Call) else ""


_SHARING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Attribute, ast.Assign, ast.Call)
_INPUTS: Final = ("sys.stdin", "builtins.input")


def _is_foreign(path: str, imported: Mapping[str, str]) -> bool:
    """Whether a path leads into a library: `subprocess.run = Mock()`"""
    root = path.partition(".")[0]
    return root in imported and imported[root].partition(".")[0] not in _OF_PROGRAM and path not in _TOLD


def _shared_by_call(call: ast.Call, imported: Mapping[str, str]) -> str:
    name = _dotted(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else name
    if last in _NOTING:
        return last
    if name == "sqlite3.connect" and [ast.unparse(argument) for argument in call.args[:1]] != ["':memory:'"]:
        return f"{name}(...)"
    ending = ".".join(name.split(".")[-2:])
    if not call.args or not ({last, ending} & _PATCHING) or (last in ("setattr", "delattr") and "." not in name):
        return ""
    target = call.args[0]
    if isinstance(target, ast.Constant) and isinstance(target.value, str):
        # patch("requests.get")
        path = target.value
    elif last == "patch":
        # patch(__name__ + ".choice")
        path = ast.unparse(target)
    else:
        # patch.object(requests, "get")
        attribute = call.args[1] if len(call.args) > 1 else None
        root, _, attribute_path = _dotted(target).partition(".")
        if root not in imported:
            return ""
        attribute_name = attribute.value if isinstance(attribute, ast.Constant) else ""
        path = ".".join(part for part in (imported[root], attribute_path, str(attribute_name)) if part)
    return "" if path.partition(".")[0] in _OF_PROGRAM or path in _TOLD else f"{last}({path})"


def _dotted(node: ast.expr) -> str:
    """`a.b.c` as text; empty for anything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """The paths of what tests import from elsewhere than the program, by the names they bind."""
    return {name: path for node in nodes_of(tree, ast.Import, ast.ImportFrom) for name, path in _bound(node)}


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name not in _OF_PROGRAM:
                yield (
                    alias.asname or alias.name.partition(".")[0],
                    alias.name if alias.asname else alias.name.partition(".")[0],
                )
    if isinstance(node, ast.ImportFrom) and node.module not in _OF_PROGRAM:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


# --- tests and program in one process

_AS_MODULE: Final = 'import sys as _sys\n_sys.modules["solution"] = _sys.modules[__name__]\n'


def _text_of(program: TestProgram) -> str:
    if program.style is TestStyle.ASSERTS:
        return "\n".join((program.setup, *program.cases))
    if program.style is TestStyle.CHECK:
        return f"{program.setup}\ncheck({program.entry_point})"
    if len(program.files) != 1:
        raise InvalidItem("tests_not_supported", "`together` needs the tests in one file")
    (text,) = program.files.values()
    return f"{text}\n{(_PYTEST if program.style is TestStyle.PYTEST else _UNITTEST).format(count=program.count)}"


# No comparison stands in these texts: `joining.turned` turns those of the tests round, one by one.
_UNITTEST: Final = """\
import unittest as _unittest
_result = _unittest.main(argv=["tests"], exit=False).result
_sys.exit(0 if _result.wasSuccessful() and _result.testsRun >= {count} and not _result.skipped else 1)
"""
_PYTEST: Final = """\
if __name__ in ("__main__",):
    import shutil as _shutil
    import pytest as _pytest

    class _Passed:
        passed = 0

        def pytest_runtest_logreport(self, report):
            self.passed += report.when in ("call",) and report.passed

    _passed = _Passed()
    _options = ["-q", "--noconftest", "--assert=plain", "-p", "no:cacheprovider", "-W", "ignore", "-c", "/dev/null"]
    _shutil.copy(__file__, "test_together.py")  # pytest reads the folder of a test, and the program's is closed
    _code = _pytest.main(["test_together.py", *_options, "--rootdir", ".", "--confcutdir", "."], plugins=[_passed])
    _sys.exit(0 if not _code and _passed.passed >= {count} else 1)
"""
