"""Makes side-by-side comparisons of tests strict: an answer that is empty or too short must not pass.

    all(a == b for a, b in zip(f(x), [1, 2]))   accepts an empty or short answer
    assert (f(x) == np.array([1, 2])).all()     accepts an array of shape (0, 2): numpy broadcasts the other side
    if abs(f(x) - 2.5) > 1e-6: raise            accepts nan, which is not greater than anything

The expected side decides how long the answer must be. So in such a `zip`, or a `map` over several iterables, a short
answer continues with `Absent`, which equals nothing. An array without elements cannot be combined with a non-empty one;
numpy itself treats other different shapes so. This is done if, as far as the tests' text shows, one side comes from the
program and the other does not. These stay as they are: two sides from the program, or two from the tests; sides without
a length; a `range` (it may number the answer); inputs of the program (it may leave out some of them); one number for
all elements (`(f(x) > 0).all()`); and tables longer than an answer, which are recognised because several answers are
compared with one.

A difference of nan and a number, one of them from the program, is an error, unless the tests mention nan.
"""

import ast
import builtins
import itertools
import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from sandbox.runner.testing import library
from sandbox.runner.testing.empty_comparisons import has_no_elements
from sandbox.runner.testing.specification import Specification, is_module_name, parsed

_ZIP_NAME: Final = "rewardline_strict_zip"
_MAP_NAME: Final = "rewardline_strict_map"
_OPERATION_NAME: Final = "rewardline_strict_operation"
_DIFFERENCE_NAME: Final = "rewardline_strict_difference"
"""Names of functions that are inserted into tests, as builtins of the tests' process: no program can reach them."""
_ZIP: Final = re.compile(r"\bzip\s*\(|\bmap\s*\([^,\n]{1,200},[^,\n]{1,200},")
_ABS: Final = re.compile(r"abs\(")
_GREATER: Final = re.compile(r"(?<!-)>|\bmax\(")
_NAN: Final = re.compile(r"\b(?:is_?)?nan|nan\b", re.IGNORECASE)
_ARRAYS: Final = re.compile(r"\b(?:numpy|np)\b")
_REDUCTIONS: Final = ("all", "any", "sum", "max", "min", "mean", "norm")
_REDUCING: Final = re.compile(rf"\b(?:{'|'.join(_REDUCTIONS)})\s*\(")
_MAX_CHARS: Final = 32_000
"""About a tenth of a second. Longer sources are tables of inputs, which other tests iterate over."""
_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Sub: "sub",
    ast.Add: "add",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.BitXor: "xor",
}
_FUNCTIONS: Final = ("equal", "not_equal", "subtract")
"""Functions of numpy that do the same."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Loop = ast.For | ast.AsyncFor | ast.While
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
Key: TypeAlias = tuple[int, str]
"""A name and the id of the function that binds it; 0 for the module."""


class Absent:
    """A missing item of an answer. It equals nothing, and every other operation on it fails."""

    def __repr__(self) -> str:
        return "<missing: the answer is shorter than expected>"


def make_comparisons_strict(specification: Specification) -> Specification:
    """Rewrite the tests where that is needed."""
    has_arrays = specification.mentions(_ARRAYS, "numpy", "np") and specification.mentions(_REDUCING, *_REDUCTIONS)
    has_differences = (
        specification.mentions(_ABS, "abs(")
        and specification.mentions(_GREATER, ">", "max(")
        and not specification.mentions(_NAN, "nan", "NaN", "NAN")
    )
    if not has_arrays and not has_differences and not specification.mentions(_ZIP, "zip", "map"):
        return specification
    if sum(map(len, (specification.setup, *specification.cases, *specification.files.values()))) > _MAX_CHARS:
        return specification
    try:
        return _rewritten_specification(specification, has_arrays, has_differences)
    except RecursionError:
        return specification


def strict_zip(are_answers: Sequence[bool], *sides: Any) -> Iterable[tuple[Any, ...]]:
    """`zip` that ends with the expected sides, not with a short answer."""
    expected = [side for side, is_answer in zip(sides, are_answers, strict=True) if not is_answer]
    if any(isinstance(side, range) or not hasattr(side, "__len__") for side in expected):
        return zip(*sides, strict=False)
    go_on = [
        itertools.chain(side, itertools.repeat(Absent())) if is_answer else side
        for side, is_answer in zip(sides, are_answers, strict=True)
    ]
    return zip(*go_on, strict=False)


def strict_map(are_answers: Sequence[bool], function: Callable[..., Any], *sides: Any) -> Iterable[Any]:
    """`map` over several iterables that ends with the expected sides, not with a short answer."""
    return itertools.starmap(function, strict_zip(are_answers, *sides))


def strict_operation(function: Any, is_left: bool, lhs: Any, rhs: Any) -> Any:
    """Apply an operator or function to two operands, one of which is an answer.

    Raises:
        ValueError: they are arrays that cannot be combined.
    """
    answer, expected = (lhs, rhs) if is_left else (rhs, lhs)
    if has_no_elements(answer, partner=expected):
        raise ValueError("operands could not be broadcast together: one has no elements")
    compute: Callable[[Any, Any], Any] = getattr(operator, function) if isinstance(function, str) else function
    return compute(lhs, rhs)


def strict_difference(is_left: bool | None, lhs: Any, rhs: Any) -> Any:
    """The difference. `is_left` says which side is an answer that must fit the other; None: neither must.

    Raises:
        AssertionError: exactly one side is not a number (nan).
        ValueError: see `strict_operation`.
    """
    if _has_nan(lhs) != _has_nan(rhs):
        raise AssertionError("the answer is not a number")
    return lhs - rhs if is_left is None else strict_operation("sub", is_left, lhs, rhs)


def _has_nan(value: Any) -> bool:
    """Whether a float or an array of floats has a nan; False for anything else."""
    if isinstance(value, float):
        return value != value
    numpy: Any = sys.modules.get("numpy")
    return (
        numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind == "f" and numpy.isnan(value).any()
    )


def _rewritten_specification(specification: Specification, has_arrays: bool, has_differences: bool) -> Specification:
    setattr(builtins, _ZIP_NAME, strict_zip)
    setattr(builtins, _MAP_NAME, strict_map)
    setattr(builtins, _OPERATION_NAME, strict_operation)
    setattr(builtins, _DIFFERENCE_NAME, strict_difference)
    setup, *cases = _rewritten([specification.setup, *specification.cases], specification, has_arrays, has_differences)
    files = {
        path: _rewritten([text], specification, has_arrays, has_differences)[0] if path.endswith(".py") else text
        for path, text in specification.files.items()
    }
    return replace(specification, setup=setup, cases=tuple(cases), files=files)


def _rewritten(
    sources: Sequence[str], specification: Specification, has_arrays: bool, has_differences: bool
) -> list[str]:
    """Rewrite sources that are run one after the other. Sources that need no change stay as they were."""
    trees = [parsed(source) for source in sources]
    origins = _Origins(
        [statement for tree in trees for statement in tree.body],
        specification.entry_point,
        lambda name: specification.library_object(name) is not None,
    )
    rewritten = []
    for source, tree in zip(sources, trees, strict=True):
        rewriter = _StrictRewriter(origins, has_arrays, has_differences)
        new = rewriter.visit(tree)
        rewritten.append(ast.unparse(ast.fix_missing_locations(new)) if rewriter.has_changed else source)
    return rewritten


class _Origins:
    """Finds the names of tests that hold values from the program.

    A name counts as one variable in its whole function, however often it is bound. It is the program's if it ever is.
    """

    def __init__(self, body: list[ast.stmt], entry_point: str, is_of_library: Callable[[str], bool]) -> None:
        self._is_of_library = is_of_library
        self._scopes: dict[int, tuple[_Function | None, ...]] = {}
        self._names: dict[int, set[str]] = {0: set()}
        self._functions: dict[str, _Function] = {}
        self._loops: dict[int, tuple[ast.AST, ...]] = {}
        """The loops around each node, by the node's id."""
        self._module = ast.Module(body, [])
        self._bindings: list[Key] = []
        self._inputs: set[Key] = set()
        """Names of inputs of the program."""
        self._enter(self._module, (), ())
        self._of_program = {(0, entry_point), (0, "solution"), *self._roots()}
        while self._propagate():
            pass

    def is_of_program(self, node: ast.AST) -> bool:
        return any(self._key(name) in self._of_program for name in ast.walk(node) if _is_named(name))

    def is_expectation(self, side: ast.expr) -> bool:
        """Whether this value of the tests is the expectation for one answer, and not a table for several answers."""
        if isinstance(side, ast.Starred):
            return False
        if isinstance(side, ast.Name) and (side.id.isupper() or self._is_used_again(side)):
            return False
        if _is_named(side) and self._key(side) in self._inputs:
            return False
        loops = self._loops[id(side)]
        names = {name.id for name in ast.walk(side) if isinstance(name, ast.Name)}
        return not loops or not names.isdisjoint(name for loop in loops for name in _stored(loop))

    def _is_used_again(self, side: ast.Name) -> bool:
        """Whether a name is iterated beside others more often than it is bound."""
        key = self._key(side)
        sides = (side for call in ast.walk(self._module) if isinstance(call, ast.Call) for side in _iterables(call))
        uses = sum(self._key(name) == key for name in sides if isinstance(name, ast.Name))
        return uses > self._bindings.count(key)

    def _enter(self, node: ast.AST, scopes: tuple[_Function | None, ...], loops: tuple[ast.AST, ...]) -> None:
        self._scopes[id(node)], self._loops[id(node)] = scopes, loops
        if isinstance(node, _Function):
            if not isinstance(node, ast.Lambda):
                self._bind(node.name, scopes)
                self._functions[node.name] = node
            scopes, loops = (*scopes, node), ()
            self._names[id(node)] = {argument.arg for argument in _arguments(node)}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self._bind(node.id, scopes)
        elif isinstance(node, ast.ClassDef):
            self._bind(node.name, scopes)
        elif isinstance(node, ast.alias):
            self._bind((node.asname or node.name).partition(".")[0], scopes)
        first = _loop_iterable(node)
        if first is not None:
            self._enter(first, scopes, loops)
        for child in ast.iter_child_nodes(node):
            if id(child) not in self._loops:
                self._enter(child, scopes, (*loops, node) if isinstance(node, _Loop | _Comprehension) else loops)

    def _bind(self, name: str, scopes: tuple[_Function | None, ...]) -> None:
        self._names[id(scopes[-1]) if scopes else 0].add(name)

    def _key(self, node: ast.AST) -> Key:
        if isinstance(node, ast.Attribute):
            return 0, ast.unparse(node)
        assert isinstance(node, ast.Name)
        for scope in reversed(self._scopes[id(node)]):
            if node.id in self._names[id(scope)]:
                return id(scope), node.id
        return 0, node.id

    def _roots(self) -> Iterator[Key]:
        """What tests take from the program: names that they do not define, and the parameters of `check`."""
        free: set[str] = set()
        called_or_passed: set[str] = set()
        for node in ast.walk(self._module):
            if isinstance(node, ast.Name) and self._key(node) == (0, node.id) and node.id not in self._names[0]:
                free.add(node.id)
            called_or_passed |= {
                child.id
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.Name) and not isinstance(node, ast.Attribute)
            }
            if isinstance(node, ast.ImportFrom) and node.module == "solution":
                yield from ((0, alias.asname or alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((0, alias.asname) for alias in node.names if alias.asname and alias.name == "solution")
            elif isinstance(node, ast.FunctionDef) and node.name == "check":
                yield from ((id(node), argument.arg) for argument in _arguments(node))
        for name in free - vars(builtins).keys():
            is_module = is_module_name(name) and name not in called_or_passed
            if not is_module and not (name in library.MODULES and self._is_of_library(name)):
                yield 0, name

    def _propagate(self) -> bool:
        """Mark the names that marked values are bound to. Returns whether that changed anything."""
        size_before = len(self._of_program)
        self._bindings = []
        for node in ast.walk(self._module):
            for target, value in self._bound_to(node):
                self._assign(target, value)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if self.is_of_program(ast.Module(node.body, [])):
                    self._of_program.add((0, node.name))
                self._bindings += [(id(node), argument.arg) for argument in _arguments(node)]
            if isinstance(node, ast.Call):
                self._pass(node)
        return len(self._of_program) > size_before

    def _pass(self, call: ast.Call) -> None:
        """Mark what a call passes on.

        These are parameters of the tests' own functions that get marked arguments, and inputs of the program's
        functions.
        """
        if self.is_of_program(call.func):
            self._inputs |= {self._key(argument) for argument in call.args if _is_named(argument)}
        of_self = isinstance(call.func, ast.Attribute) and _is_named(call.func)
        name = call.func.attr if isinstance(call.func, ast.Attribute) and of_self else getattr(call.func, "id", "")
        function = self._functions.get(name)
        if function is None:
            return
        positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)][of_self:]
        bindings = [*zip(positional, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
        self._of_program |= {(id(function), name) for name, value in bindings if name and self.is_of_program(value)}

    def _bound_to(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Targets that a node binds, each with its value."""
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _loop_bindings(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield node.optional_vars, node.context_expr

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            pieces = (
                value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else []
            )
            for position, piece in enumerate(target.elts):
                self._assign(piece, pieces[position] if pieces else value)
            return
        container = target.value if isinstance(target, ast.Starred | ast.Subscript) else target
        if _is_named(container):
            self._bindings.append(self._key(container))
            if self.is_of_program(value):
                self._of_program.add(self._key(container))


class _StrictRewriter(ast.NodeTransformer):
    """Replaces `zip`, `map`, comparisons and operators in tests by their strict forms."""

    def __init__(self, origins: _Origins, has_arrays: bool, has_differences: bool) -> None:
        self._origins = origins
        self._has_arrays = has_arrays
        self._has_differences = has_differences
        self.has_changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite `zip(f(x), [1, 2])`, `map(eq, f(x), [1, 2])` and `np.equal(f(x), y)`."""
        is_call_of_program = not _is_zip(node) and any(map(self._is_function_of_program, node.args[:1]))
        sides = [] if is_call_of_program else _iterables(node)
        are_answers = [self._origins.is_of_program(side) for side in sides]
        if any(are_answers) and not all(are_answers) and not node.keywords:
            expected = [side for side, is_answer in zip(sides, are_answers, strict=True) if not is_answer]
            if all(self._origins.is_expectation(side) for side in expected):
                name = _ZIP_NAME if _is_zip(node) else _MAP_NAME
                return self._replace(node, name, [ast.Tuple([*map(ast.Constant, are_answers)], ast.Load()), *node.args])
        is_function = isinstance(node.func, ast.Attribute) and node.func.attr in _FUNCTIONS
        if is_function and len(node.args) == 2 and not node.keywords:
            return self._strict_operation(node, node.func, *node.args)
        return self.generic_visit(node)

    def _is_function_of_program(self, node: ast.expr) -> bool:
        return _is_named(node) and self._origins.is_of_program(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Rewrite `f(x) == y`, but not `0 < f(x) < y`."""
        if len(node.ops) != 1 or type(node.ops[0]) not in _OPERATORS:
            return self.generic_visit(node)
        return self._strict_operation(node, ast.Constant(_OPERATORS[type(node.ops[0])]), node.left, node.comparators[0])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Rewrite `f(x) - y`."""
        if type(node.op) not in _OPERATORS:
            return self.generic_visit(node)
        return self._strict_operation(node, ast.Constant(_OPERATORS[type(node.op)]), node.left, node.right)

    def _strict_operation(self, node: ast.AST, function: ast.expr, lhs: ast.expr, rhs: ast.expr) -> ast.AST:
        of_program = self._origins.is_of_program(lhs), self._origins.is_of_program(rhs)
        is_answer_beside = of_program[0] != of_program[1] and not _is_plain(rhs if of_program[0] else lhs)
        is_left = of_program[0] if self._has_arrays and is_answer_beside else None
        if self._has_differences and any(of_program) and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return self._replace(node, _DIFFERENCE_NAME, [ast.Constant(is_left), lhs, rhs])
        if is_left is None:
            return self.generic_visit(node)
        return self._replace(node, _OPERATION_NAME, [function, ast.Constant(is_left), lhs, rhs])

    def _replace(self, node: ast.AST, name: str, arguments: list[ast.expr]) -> ast.AST:
        self.has_changed = True
        call = ast.Call(ast.Name(name, ast.Load()), [self.visit(argument) for argument in arguments], [])
        return ast.copy_location(call, node)


def _loop_bindings(target: ast.expr, over: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of a loop with what they are bound to.

    With `zip` and `enumerate`, each target has its own iterable.
    """
    if isinstance(target, ast.Tuple) and isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
        sides = [ast.Constant(0), *over.args[:1]] if over.func.id == "enumerate" else over.args
        if over.func.id in ("zip", "enumerate") and len(sides) == len(target.elts):
            yield from zip(target.elts, sides, strict=True)
            return
    yield target, over


def _loop_iterable(node: ast.AST) -> ast.expr | None:
    """The iterable of a loop, which is evaluated outside the loop."""
    if isinstance(node, _Comprehension):
        return node.generators[0].iter
    return node.iter if isinstance(node, ast.For | ast.AsyncFor) else None


def _is_zip(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip"


def _iterables(call: ast.Call) -> list[ast.expr]:
    """The iterables of a `zip`, or of a `map` over several; empty for other calls."""
    if _is_zip(call):
        return call.args
    is_map = isinstance(call.func, ast.Name) and call.func.id == "map" and len(call.args) > 2
    return call.args[1:] if is_map else []


def _is_plain(node: ast.expr) -> bool:
    """Whether it is a number or text, so no array."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def _is_named(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "self"
    return isinstance(node, ast.Name)


def _arguments(function: _Function) -> list[ast.arg]:
    arguments = function.args
    variadic = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic]


def _stored(loop: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
