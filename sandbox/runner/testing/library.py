"""Decides whether tests mean the library's object or the program's by a name that they use without an import.

Programs usually import such names. The library's object is meant when it helps to judge something else: `Counter(f(x))
== Counter(y)` depends on `collections`, whatever the program has under that name. The program's object is meant when
the name itself is tested:

    nothing else in a test is the program's                 assert gcd(4, 6) == 2
    more is done with it than the library's object can do   c = Counter()    c.increment()    assert total(c) == 1

Only names with one meaning everywhere are considered; `count` and `merge` may mean anything.
"""

import ast
import builtins
import collections
import importlib
import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

_NAMES: Final = {
    "collections": "Counter OrderedDict defaultdict deque namedtuple ChainMap",
    "copy": "deepcopy",
    "datetime": "datetime timedelta",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "functools": "reduce partial cmp_to_key lru_cache",
    "heapq": "heapify heappush heappop nlargest nsmallest",
    "bisect": "bisect_left bisect_right insort",
    "itertools": "permutations combinations combinations_with_replacement islice groupby zip_longest takewhile dropwhile "
    "starmap pairwise",
    "math": "isclose isnan isinf isfinite sqrt isqrt fabs floor ceil hypot gcd lcm factorial comb prod fsum exp log2 "
    "log10 sin cos tan asin acos atan atan2 radians degrees pi tau inf nan",
    "statistics": "mean median",
    "string": "ascii_lowercase ascii_uppercase ascii_letters",
    "typing": "Any Callable Dict Iterable List Optional Set Tuple Union",
}
MODULES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}
"""For each name, the module that has it."""
_ASKED_OF_TEST_CASES: Final = ("assert", "fail", "skip", "subTest", "addCleanup")
_CONTAINERS: Final = (dict, collections.deque)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def library_object(name: str, tests: Sequence[ast.AST], helpers: Sequence[ast.AST], of_program: frozenset[str]) -> Any:
    """The library's object for a free name, if the tests mean that; None: they mean the program's.

    Args:
        name: One of `MODULES`.
        tests: Each by itself.
        helpers: The rest of the tests' code, such as helpers.
        of_program: Names that are certainly the program's.
    """
    everything = [*tests, *helpers]
    bound = {bound for tree in everything for bound in _bound(tree)} - of_program
    subjects = {name for test in tests for name in _subjects(test, bound)}
    if name in of_program or name in subjects:
        return None
    library_member = getattr(importlib.import_module(MODULES[name]), name, None)
    return library_member if all(_is_compatible(library_member, name, tree) for tree in everything) else None


def tests_in(module: ast.Module) -> tuple[list[ast.AST], list[ast.AST]]:
    """Split a file of tests into its tests (functions named so, and all methods) and the rest."""
    tests: list[ast.AST] = []
    helpers: list[ast.AST] = []
    for statement in module.body:
        if isinstance(statement, ast.ClassDef):
            tests += [node for node in statement.body if isinstance(node, _Function)]
            helpers += [node for node in statement.body if not isinstance(node, _Function)]
        elif isinstance(statement, _Function) and statement.name.startswith("test"):
            tests.append(statement)
        else:
            helpers.append(statement)
    return tests, helpers


def _subjects(test: ast.AST, bound: set[str]) -> set[str]:
    """The library's names in a test that uses no other name that could be the program's."""
    read = {node.id for node in ast.walk(test) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    free = read - bound - vars(builtins).keys()
    uses_fixture = any(_is_of_fixture(node) for node in ast.walk(test))
    return set() if uses_fixture or any(_may_be_programs(name) for name in free) else free & MODULES.keys()


def _may_be_programs(name: str) -> bool:
    return name not in MODULES and name not in _MODULE_NAMES


_MODULE_NAMES: Final = frozenset(
    {*_NAMES, "np", "pd", "re", "json", "random", "sys", "os", "pytest", "unittest", "self"}
)


def _is_of_fixture(node: ast.AST) -> bool:
    """Whether it is an attribute that a test case set before (`self.x`), which may be the program's."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return False
    return not node.attr.startswith(_ASKED_OF_TEST_CASES)


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _is_compatible(library_member: Any, name: str, tree: ast.AST) -> bool:
    """Whether the library's object supports everything that this code does with the name."""
    return all(_supports_use(library_member, name, node) for node in ast.walk(tree)) and (
        not isinstance(library_member, type)
        or all(hasattr(library_member, attribute) for attribute in _attributes_of_results(name, tree))
    )


def _supports_use(library_member: Any, name: str, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and _is_name(node.value, name):  # Counter.most_common
        return hasattr(library_member, node.attr)
    if isinstance(node, ast.Call) and _is_name(node.func, name):  # Counter(words)
        return callable(library_member) and _accepts_arguments(library_member, node)
    if isinstance(node, ast.Compare) and hasattr(library_member, "__next__"):  # permutations(x) == [...]
        return not any(
            _is_call(operand, name) for operand in (node.left, *node.comparators)
        )  # an iterator equals no list
    return True


def _accepts_arguments(library_member: Any, call: ast.Call) -> bool:
    """Whether it can be called with these arguments, and its first argument can fill it."""
    if isinstance(library_member, type) and issubclass(library_member, _CONTAINERS) and _is_number(call.args):
        return False
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return True
    keywords = {keyword.arg: None for keyword in call.keywords if keyword.arg is not None}
    try:
        signature = inspect.signature(library_member)
    except (TypeError, ValueError):
        return True  # the signature is not available
    try:
        signature.bind(*call.args, **keywords)
    except TypeError:
        return False
    return True


def _is_number(arguments: Sequence[ast.expr]) -> bool:
    return bool(arguments) and isinstance(arguments[0], ast.Constant) and isinstance(arguments[0].value, int | float)


def _attributes_of_results(name: str, tree: ast.AST) -> set[str]:
    """Attributes that are read from results of calls of the name, where the text shows it."""
    holders = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_call(node.value, name)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (_is_call(node.value, name) or (isinstance(node.value, ast.Name) and node.value.id in holders))
    }


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and _is_name(node.func, name)


def parsed_all(sources: Iterable[str]) -> list[ast.AST]:
    """Syntax trees of the sources that are valid Python."""
    trees: list[ast.AST] = []
    for source in sources:
        try:
            trees.append(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return trees
