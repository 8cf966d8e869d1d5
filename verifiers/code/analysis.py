"""Analyses the text of tests without running it: whether it tests anything, how many tests it holds, what it needs.

The texts come from the data set, but are bounded all the same: a text longer than `MAX_ANALYSED_CHARS` is searched with
regular expressions only, and its asserts are not parsed.
"""

import ast
import builtins
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sandbox.runner.testing import library
from sandbox.runner.testing.specification import is_module_name
from verifiers.base import InvalidItem, clip
from verifiers.code.cases import AssertedCall, Relation
from verifiers.code.literals import image, is_json
from verifiers.code.syntax import nodes_of

MAX_ANALYSED_CHARS = 64_000
"""Parsing this much takes about 25 ms, once for each reference."""


def tree_of(source: str, where: str) -> ast.Module | None:
    """The parsed text; None if it is too long to be analysed.

    Raises:
        InvalidItem: it is not Python, or an expected value is elided.
    """
    if len(source) > MAX_ANALYSED_CHARS:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidItem("unparseable_tests", f"{where}: the test code is not Python: {error}") from error
    if "..." in source and _elides(tree):
        raise InvalidItem("elided_tests", f"{where}: a value leaves something out (`...`): {clip(source.strip())!r}")
    return tree


def asserts_anything(tree: ast.Module) -> bool:
    """Whether a failing test could show: by an assert, a raise, or a call with a telling name."""
    return any(map(_shows_failure, nodes_of(tree, ast.Assert, ast.Raise, ast.Name, ast.Attribute)))


def asserts_when_run(tree: ast.Module, *, called: str = "") -> bool:
    """Whether a failing test could show when a text runs, or when its function `called` is called, too.

    An assertion in a function or class counts if what runs names that. What stands under a condition that is never true
    does not run, nor does a part for `__main__`.
    """
    return any(map(_shows_failure, _nodes_that_run(tree, called)))


def uses_program(tree: ast.Module) -> bool:
    """Whether a text reads any name that it does not bind itself, or imports the program."""
    # Without another free name, a builtin's name may mean the program's function.
    return names_program(tree) or any(
        isinstance(node.ctx, ast.Load) and node.id in _BUILTINS for node in nodes_of(tree, ast.Name)
    )


def names_program(tree: ast.Module) -> bool:
    """Whether a text reads a name that nothing here binds, or imports the program."""
    return (
        bool(missing_names(tree))
        or any(node.module == "solution" for node in nodes_of(tree, ast.ImportFrom))
        or any(node.name == "solution" for node in nodes_of(tree, ast.alias))
        or any(node.value == "solution" for node in nodes_of(tree, ast.Constant))
    )


def library_imports(*trees: ast.Module | None) -> list[tuple[str, str]]:
    """The names that tests import for all that is in one file with them, with their imports. None for tests of a module.

    A program that is judged with them in one file may use them: `import re` above `def check(candidate)`.
    """
    statements = [node for tree in trees if tree is not None for node in tree.body]
    imports = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    if any(_is_of_solution(node) for node in imports):
        return []
    return [
        (alias.asname or alias.name.partition(".")[0], _import_of(node, alias))
        for node in imports
        for alias in node.names
        if alias.name != "*" and getattr(node, "module", "") != "__future__" and not getattr(node, "level", 0)
    ]


def _is_of_solution(node: ast.Import | ast.ImportFrom) -> bool:
    names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return "solution" in names


def _import_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    statement = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], 0)
    return f"try:\n    {ast.unparse(statement)}\nexcept ImportError:\n    pass\n"


def checked_names(tree: ast.Module) -> tuple[str | None, bool, list[int]]:
    """The arguments of a text's own top-level `check(...)`: the name, whether as `Solution().name`, and the lines."""
    name: str | None = None
    is_method = False
    lines: list[int] = []
    for node in tree.body:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == "check" and len(call.args) == 1:
            argument = call.args[0]
            name = argument.attr if isinstance(argument, ast.Attribute) else getattr(argument, "id", None)
            is_method = isinstance(argument, ast.Attribute) and ast.unparse(argument.value) == "Solution()"
            lines += range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return name, is_method, lines


def without_lines(source: str, lines: Sequence[int]) -> str:
    """The text with these lines (from 1) made empty."""
    removed = set(lines)
    return "\n".join("" if number in removed else line for number, line in enumerate(source.split("\n"), 1))


def count_tests(tree: ast.Module | None, source: str, *, is_pytest: bool) -> int:
    """The least number of tests in a module; a parameter list that is not written out counts once."""
    if tree is None:
        return len(_TEST_LINE.findall(source))
    counts: dict[tuple[str, str], int] = {}
    if any(isinstance(node, ast.Assign) and _is_left_out([node.value]) for node in tree.body):
        return 0  # pytestmark = pytest.mark.skip
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and _is_left_out(node.decorator_list):
            continue
        if isinstance(node, ast.ClassDef) and (_is_test_case(node) or (is_pytest and node.name.startswith("Test"))):
            counts |= {(node.name, test.name): _multiplied(test) for test in _tests_in(node.body)}
    if is_pytest:
        counts |= {("", test.name): _multiplied(test) for test in _tests_in(tree.body)}
        return sum(counts.values())
    return sum(counts.values()) or min(1, len(_TEST_LINE.findall(source)) - len(_LEFT_OUT_LINE.findall(source)))


def missing_names(tree: ast.Module) -> list[str]:
    """Names that a module uses without defining or importing them: names of the program under test."""
    defined = set(dir(builtins)) | {"__file__"}
    defined |= {node.name for node in nodes_of(tree, *NAMED)}
    defined |= {node.name for node in nodes_of(tree, ast.ExceptHandler) if node.name}
    defined |= {(node.asname or node.name).partition(".")[0] for node in nodes_of(tree, ast.alias)}
    defined |= {node.arg for node in nodes_of(tree, ast.arg)}
    used: dict[str, None] = {}
    for node in nodes_of(tree, ast.Name):
        if isinstance(node.ctx, ast.Load):
            used[node.id] = None
        else:
            defined.add(node.id)
    return [name for name in used if name not in defined]


def used_as_modules(tree: ast.Module) -> dict[str, list[str]]:
    """Names that may be modules, because only their attributes are used, with these attributes."""
    counts = Counter(node.id for node in nodes_of(tree, ast.Name))
    used: dict[str, list[str]] = {}
    for node in nodes_of(tree, ast.Attribute):
        if isinstance(node.value, ast.Name) and is_module_name(node.value.id):
            used.setdefault(node.value.id, []).append(node.attr)
    return {name: [*dict.fromkeys(names_used)] for name, names_used in used.items() if len(names_used) == counts[name]}


def meant_of_library(tree: ast.Module, names: Iterable[str]) -> list[str]:
    """The undefined names of a file of tests that belong to the standard library."""
    tests, helpers = library.tests_in(tree)
    imported = [
        alias.asname or alias.name
        for node in nodes_of(tree, ast.ImportFrom)
        if node.module == "solution"
        for alias in node.names
    ]
    of_program = frozenset({"solution", *imported})
    return [
        name
        for name in names
        if name in library.MODULES and library.library_object(name, tests, helpers, of_program) is not None
    ]


def imports_only(source: str) -> bool:
    """Whether a text holds nothing but imports."""
    tree = _parsed(source)
    return tree is not None and all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body)


def asserted_call(tree: ast.Module) -> AssertedCall | None:
    """The call in `assert f(<literals>) == <literal>` and the like; None for any other text.

    Only arguments that JSON does not change are accepted: a tuple would arrive as a list.
    """
    if len(tree.body) != 1 or not isinstance(statement := tree.body[0], ast.Assert):
        return None
    test = statement.test
    try:
        if isinstance(test, ast.Compare):
            return _compared_call(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return _call(test.operand, Relation.FALSE)
        return _call(test, Relation.TRUE)
    except (ValueError, TypeError, RecursionError):
        return None


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NAMED = (*FUNCTIONS, ast.ClassDef)


def preamble_of(
    prompt: str,
    entry_point: str,
    kinds: tuple[type[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef], ...] = FUNCTIONS,
) -> str | None:
    """The text before the head of a function or class in a prompt; None if the prompt does not end with such a head.

    The head of a class may be followed by that of a method.
    """
    if len(prompt) > MAX_ANALYSED_CHARS:
        return None
    last_line = prompt.rstrip().rpartition("\n")[2]
    margin = last_line[: len(last_line) - len(last_line.lstrip())]
    # A head needs a body; after a docstring it has one.
    tree = _parsed(f"{prompt.rstrip()}\n{margin}    pass\n") or _parsed(prompt)
    last = tree.body[-1] if tree and tree.body else None
    if not isinstance(last, kinds) or last.name != entry_point:
        return None
    first_line = min([last.lineno, *(decorator.lineno for decorator in last.decorator_list)])
    return "".join(f"{line}\n" for line in prompt.splitlines()[: first_line - 1])


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def is_shared_head(prompt: str, entry_point: str) -> bool:
    """Whether a prompt is Python that runs before each solution, without the solution itself.

    Imports, constants, helpers, a docstring, a `try` around an import: any statements. A prompt that is a question may
    parse, too (`Add`), but then it is a bare expression.
    """
    tree = _parsed(prompt) if prompt.strip() and len(prompt) <= MAX_ANALYSED_CHARS else None
    if tree is None:
        return False
    own_names = (entry_point, "Solution")
    if any(node.name in own_names for node in nodes_of(tree, *NAMED)):
        return False
    expressions = [node.value for node in tree.body if isinstance(node, ast.Expr)]
    return len(expressions) < len(tree.body) and all(
        isinstance(value, (ast.Constant, ast.Call)) for value in expressions
    )


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEFT_OUT_LINE = re.compile(r"^[ \t]*@(?:unittest\.)?(?:skip\(|expectedFailure\b)", re.MULTILINE)
_TEST_LINE = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+test", re.MULTILINE)


def _elides(tree: ast.Module) -> bool:
    return any(_is_elided_display(node) for node in _outside_subscripts(tree))


def _outside_subscripts(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those in the brackets of a subscript, where an ellipsis is meant."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending.extend([node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node))


def _is_elided_display(node: ast.AST) -> bool:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return any(map(_is_ellipsis, node.elts))
    if isinstance(node, ast.Dict):
        return any(map(_is_ellipsis, node.values))
    return isinstance(node, ast.Compare) and any(map(_is_ellipsis, node.comparators))


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_test_case(node: ast.ClassDef) -> bool:
    return any("TestCase" in ast.unparse(base) for base in node.bases)


def _shows_failure(node: ast.AST) -> bool:
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return "assert" in name.lower() or name in ("raises", "fail")
    return _is_assertion(node)


def _is_assertion(node: ast.AST) -> bool:
    """Whether a node is an assert or a raise that can fail.

    Some data sets are full of `assert True` and `assert (x == 1, "words")`, which cannot.
    """
    if isinstance(node, ast.Assert):
        return not _is_always_true(node.test)
    return isinstance(node, ast.Raise)


def _is_always_true(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts)
    return isinstance(node, ast.Constant) and bool(node.value)


_ALL_NAMES = frozenset({"globals", "locals", "vars", "dir"})
"""Functions by which a text may find any of its definitions."""


def _nodes_that_run(tree: ast.Module, called: str) -> Iterator[ast.AST]:
    definitions: dict[str, list[ast.AST]] = {}
    for definition in nodes_of(tree, *NAMED):
        definitions.setdefault(called if definition.decorator_list else definition.name, []).append(definition)
    waiting: list[ast.AST] = [*tree.body]
    reached = definitions.pop(called, [])
    while waiting or reached:
        waiting += [statement for node in reached for statement in _body_of(node)]
        reached = []
        if not waiting:
            return
        node = waiting.pop()
        yield node
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        names = [*definitions] if name in _ALL_NAMES else [name]
        reached = [definition for key in names for definition in definitions.pop(key, ())]
        waiting += _parts_that_run(node)


def _body_of(definition: ast.AST) -> list[ast.stmt]:
    """What runs when a function is called, or when a class is used: all its methods."""
    body: list[ast.stmt] = getattr(definition, "body", [])
    if not isinstance(definition, ast.ClassDef):
        return body
    return [part for node in body for part in (_body_of(node) if isinstance(node, NAMED) else [node])]


def _parts_that_run(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, NAMED):
        return [*node.decorator_list]
    never = isinstance(node, ast.If | ast.While) and (_is_false(node.test) or _asks_for_main(node.test))
    never = never or (isinstance(node, ast.For | ast.AsyncFor) and _is_false(node.iter))
    skipped = {id(part) for part in node.body} if never else set()  # type: ignore[attr-defined]  # they have bodies
    return [part for part in ast.iter_child_nodes(node) if id(part) not in skipped]


def _is_false(node: ast.expr) -> bool:
    """Whether it is a literal that is false or empty: `0`, `[]`."""
    try:
        return not ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False


def _asks_for_main(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node))


def _tests_in(body: Sequence[ast.stmt]) -> list[_Function]:
    return [node for node in body if isinstance(node, _Function) and node.name.startswith("test")]


def _multiplied(node: _Function) -> int:
    """The number of tests that one function stands for, by its parameter lists; 0 if it is never to pass."""
    count = 0 if _is_left_out(node.decorator_list) else 1
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.parametrize"):
            values = decorator.args[1] if len(decorator.args) > 1 else None
            if isinstance(values, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in values.elts):
                # pytest.param(3, marks=pytest.mark.xfail)
                left_out = sum(_is_left_out([word.value for word in call.keywords]) for call in _calls(values.elts))
                count *= max(1, len(values.elts)) - left_out
    return count


def _calls(nodes: Sequence[ast.expr]) -> list[ast.Call]:
    return [node for node in nodes if isinstance(node, ast.Call)]


def _is_left_out(marks: Sequence[ast.expr]) -> bool:
    """Whether marks leave a test out under all conditions, or say that it fails."""
    texts = [ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) for mark in marks]
    return any(text.rpartition(".")[2] in _LEAVING_OUT and text.partition(".")[0] in _MARKING for text in texts)


_LEAVING_OUT = frozenset({"skip", "xfail", "expectedFailure"})
_MARKING = frozenset({"pytest", "unittest", "mark", *_LEAVING_OUT})


def _compared_call(test: ast.Compare) -> AssertedCall | None:
    if len(test.ops) != 1:
        return None
    sides = test.left, test.comparators[0]
    call, value = sides if isinstance(sides[0], ast.Call) else sides[::-1]
    if isinstance(test.ops[0], ast.Eq):
        return _call(call, Relation.EQUALS, ast.literal_eval(value))
    if not isinstance(test.ops[0], ast.Is) or not isinstance(value, ast.Constant):
        return None
    if value.value is None or isinstance(value.value, bool):
        return _call(call, Relation.IS, value.value)
    return None


def _call(node: ast.AST, relation: Relation, value: object = None) -> AssertedCall | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    if node.func.id in _BUILTINS or any(keyword.arg is None for keyword in node.keywords):
        return None
    positional = [_plain(argument) for argument in node.args]
    keywords = {str(keyword.arg): _plain(keyword.value) for keyword in node.keywords}
    return AssertedCall(node.func.id, json.dumps([positional, keywords]), relation, image(value))


_BUILTINS = frozenset(dir(builtins))
"""A builtin may be called around the program's function, as in `sorted(f(1))`."""


def _plain(node: ast.AST) -> object:
    """The value of a literal that JSON does not change.

    Raises:
        ValueError: the node is no such literal.
    """
    value = ast.literal_eval(node)
    if not is_json(value):
        raise ValueError("JSON would change it")
    return value
