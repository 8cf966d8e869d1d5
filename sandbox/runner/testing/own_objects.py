"""Finds where tests compute with objects that they make themselves of the program's classes, and marks these operands.

    assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)      ──►  assert own(Vec(1, 2)) + own(Vec(3, 4)) == own(Vec(4, 6))
    a = Vec(1, 2);  assert a * 2 < b               ──►  assert own(a) * 2 < b
    assert abs(area(a) - 12.56) < 0.01                  as it is: what `area` returns must not decide its own test

There the program's operator is what is tested, and its result is the tested value. The tests' text alone says which
objects these are: what a program returns can claim to be anything, but no text was written for it. A name is a class of
the program if it begins with a capital letter, and the tests use what it makes as an object: they look at an attribute,
call a method, use the name as a class, or combine two of its objects. `Sort([2, 1]) == [1, 2]` shows a function.

Besides, `type(x)` and `x.__class__` ask for the class in the program, and a `with` whose body asserts nothing may end an
exception, as the program's `__exit__` decides. A computation that is there for its error alone is done at once:

    with raises(TypeError): f(2) + "x"         ──►  with raises(TypeError): done(f(2) + "x")
"""

import ast
import builtins
import copy
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from sandbox.runner.testing import library
from sandbox.runner.testing.protocol import COMPUTED, ORDER
from sandbox.runner.testing.remote_classes import RemoteClass, class_of
from sandbox.runner.testing.remote_objects import Remote, as_own, done
from sandbox.runner.testing.specification import Specification, parsed

_OWN_NAME: Final = "rewardline_own"
_TYPE_NAME: Final = "rewardline_type"
_CHANGED_NAME: Final = "rewardline_changed"
_DONE_NAME: Final = "rewardline_done"
_SPECIAL_NAME: Final = "rewardline_special"
_ALL_OWN_NAME: Final = "rewardline_all_own"
"""Names of functions that are inserted into tests, as builtins of the tests' process: no program can reach them."""
_LIKELY: Final = re.compile(r"\b[A-Z]\w*\(|\btype\(|__class__|\bwith\b|\btry\b|\bassertRaises")
_MAX_CHARS: Final = 64_000
_OPERATORS: Final = frozenset(f"__{name}__" for name in (*COMPUTED, *ORDER, "eq", "ne", "contains"))
_COMPARING: Final = frozenset(
    {
        *("assertEqual", "assertNotEqual", "assertAlmostEqual", "assertNotAlmostEqual", "assertIn", "assertNotIn"),
        *("assertLess", "assertLessEqual", "assertGreater", "assertGreaterEqual", "assertCountEqual"),
        *("assertListEqual", "assertSequenceEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual"),
    }
)
_OF_CLASSES: Final = frozenset({"isinstance", "issubclass", "assertIsInstance", "assertNotIsInstance"})
_BINARY_BUILTINS: Final = frozenset({"divmod", "pow"})
_IN_PLACE: Final[dict[type[ast.operator], str]] = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.MatMult: "imatmul",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASSERTING: Final = ("assert", "raises", "fail")
Key: TypeAlias = tuple[int, str]
"""A variable and the id of the function that binds it; 0 for the module and for attributes of `self`."""


def mark_own_objects(specification: Specification) -> Specification:
    """Rewrite the tests where they compute with objects of their own making."""
    try:
        setup, *cases = _rewritten([specification.setup, *specification.cases])
        files = {
            path: _rewritten([text])[0] if path.endswith(".py") else text for path, text in specification.files.items()
        }
    except RecursionError:
        return specification
    for name, function in (
        (_OWN_NAME, _own),
        (_TYPE_NAME, _type_of),
        (_CHANGED_NAME, _changed),
        (_DONE_NAME, done),
        (_SPECIAL_NAME, _special),
        (_ALL_OWN_NAME, _all_own),
    ):
        setattr(builtins, name, function)
    return replace(specification, setup=setup, cases=tuple(cases), files=files)


def decides_by_objects(trees: Sequence[ast.Module]) -> bool:
    """Whether a test's result is what the program's own operators say.

    These are tests that compare objects of their own making, or compute with one and plain data. Such a test holds a call
    that `may_make`. The trees are used up.
    """
    objects = _OwnObjects(trees)
    if not objects.classes:
        return False
    marker = _Marker(objects)
    for tree in trees:
        marker.visit(tree)
    return marker.decides


def _own(value: Any) -> Any:
    return as_own(value) if isinstance(value, Remote) else value


def _type_of(value: Any) -> Any:
    return class_of(value) if isinstance(value, Remote) or type(value) is RemoteClass else type(value)


def _special(value: Any, name: str, *operands: Any) -> Any:
    """What `value.__add__(operand)` gives, also `NotImplemented`."""
    if not isinstance(value, Remote):
        return getattr(value, name)(*operands)
    return _own(value)._rewardline_owner.decide_by(name, value, *operands)


def _all_own(values: Any) -> list[Any]:
    return [_own(value) for value in values]


def _changed(name: str, value: Any, operand: Any) -> Any:
    """What `value += operand` binds."""
    return getattr(operator, name)(_own(value), operand)


def _rewritten(sources: Sequence[str]) -> list[str]:
    """Rewrite sources that are run one after the other. Sources that need no change stay as they were."""
    if sum(map(len, sources)) > _MAX_CHARS or not any(map(_LIKELY.search, sources)):
        return [*sources]
    trees = [parsed(source) for source in sources]
    objects = _OwnObjects(trees)
    rewritten = []
    for source, tree in zip(sources, trees, strict=True):
        marker = _Marker(objects)
        new = marker.visit(tree)
        rewritten.append(ast.unparse(ast.fix_missing_locations(new)) if marker.has_changed else source)
    return rewritten


class _OwnObjects:
    """Knows which expressions of tests are objects of the program's classes, made by the tests."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self._functions: dict[int, tuple[int, ...]] = {}
        """The ids of the functions around each node, by the node's id."""
        self._bound: dict[Key, list[ast.expr | None]] = {}
        """What variables are bound to; None for what cannot be followed."""
        self._fixtures: dict[str, list[ast.expr | None]] = {}
        self._modules: set[str] = set()
        """Names of the program's module."""
        self.defined: set[str] = set()
        """Functions and classes of the tests."""
        self._imported: set[str] = set()
        bound = {*dir(builtins), *library.MODULES}
        for tree in trees:
            self._enter(tree, (), bound)
        bound = (bound | self.defined) - self._imported
        called = {self._made_by(node) for tree in trees for node in ast.walk(tree)}
        self.classes = {name for name in called if name[:1].isupper() and name not in bound}
        if self.classes:
            self.classes &= {name for tree in trees for node in ast.walk(tree) for name in self._shown(node)}

    def __contains__(self, node: ast.AST) -> bool:
        return bool(self._class_of(node))

    def _made_by(self, node: ast.AST) -> str:
        """The name of the function or class that a call calls: `Vec(1, 2)`, `solution.Vec(1, 2)`."""
        if not isinstance(node, ast.Call):
            return ""
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            return function.attr if function.value.id in self._modules else ""
        return function.id if isinstance(function, ast.Name) else ""

    def _class_of(self, node: ast.AST | None, depth: int = 0) -> str:
        """The class of which the expression is an object; empty if it is none, or not known to be one."""
        if depth > _MAX_STEPS or node is None:
            return ""
        name = self._made_by(node)
        if name in self.classes:
            return name
        if name == "sum" and isinstance(node, ast.Call) and node.args:
            return self.class_of_items(node.args[0], depth + 1)
        classes = {self._class_of(value, depth + 1) for value in self._values(node)}
        return classes.pop() if len(classes) == 1 else ""

    def class_of_items(self, node: ast.AST | None, depth: int = 0) -> str:
        """The class of which all items of an expression are objects: `[Vec(1), Vec(2)]`, `(Vec(i) for i in a)`."""
        if depth > _MAX_STEPS or node is None:
            return ""
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            classes = {self._class_of(item, depth + 1) for item in node.elts}
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            classes = {self._class_of(node.elt, depth + 1)}
        else:
            classes = {self.class_of_items(value, depth + 1) for value in self._values(node)}
        return classes.pop() if len(classes) == 1 else ""

    def _values(self, node: ast.AST) -> Sequence[ast.expr | None]:
        """All that a variable is bound to."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._bound.get((0, f"self.{node.attr}"), ())
        if not isinstance(node, ast.Name):
            return ()
        for function in reversed(self._functions.get(id(node), ())):
            if (function, node.id) in self._bound:
                return self._bound[function, node.id]
        return self._bound.get((0, node.id), ())

    def _shown(self, node: ast.AST) -> Iterator[str]:
        """The classes that a node shows to be classes."""
        if isinstance(node, ast.Attribute):
            yield self._class_of(node.value)
            yield node.value.id if isinstance(node.value, ast.Name) else ""
        elif isinstance(node, ast.BinOp):
            yield self._common(node.left, node.right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield self._common(node.left, node.comparators[0])
        elif isinstance(node, ast.withitem):
            yield self._class_of(node.context_expr)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            name = _name_of(node.func)
            if name in _COMPARING:
                yield self._common(*node.args[:2])
            elif name in _OF_CLASSES:
                yield from (part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name))

    def _common(self, first: ast.expr, second: ast.expr) -> str:
        name = self._class_of(first)
        return name if name == self._class_of(second) else ""

    # What binds names.

    def _enter(self, node: ast.AST, functions: tuple[int, ...], bound: set[str]) -> None:
        self._functions[id(node)] = functions
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            self.defined.add(node.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                (self._modules if alias.name == "solution" else bound).add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            names = self._imported if node.module == "solution" else bound
            names.update(alias.asname or alias.name for alias in node.names)
        if isinstance(node, _FUNCTIONS):
            functions = (*functions, id(node))
            self._enter_function(node)
        for target, value in _bindings(node):
            self._bind(target, value, functions)
        for child in ast.iter_child_nodes(node):
            self._enter(child, functions, bound)

    def _enter_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(_name_of(n.func if isinstance(n, ast.Call) else n) == "fixture" for n in node.decorator_list):
            # @pytest.fixture def stack(): return Stack()
            results = [n.value for n in ast.walk(node) if isinstance(n, ast.Return | ast.Yield)]
            self._fixtures[node.name] = results
        arguments = node.args
        names = [n.arg for n in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        for name in names:
            self._bound[id(node), name] = self._fixtures.get(name, [None])

    def _bind(self, target: ast.expr, value: ast.expr | None, functions: tuple[int, ...]) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            matched = values if len(values) == len(target.elts) else [None] * len(target.elts)
            for part, part_value in zip(target.elts, matched, strict=True):
                self._bind(part, part_value, functions)
        elif isinstance(target, ast.Name):
            self._bound.setdefault((functions[-1] if functions else 0, target.id), []).append(value)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            self._bound.setdefault((0, f"self.{target.attr}"), []).append(value)


_MAX_STEPS: Final = 8
"""How far a variable is followed that is bound to another."""


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, None
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, None


class _Marker(ast.NodeTransformer):
    """Marks operands that are objects of the tests' own making."""

    def __init__(self, objects: _OwnObjects) -> None:
        self._objects = objects
        self.has_changed = False
        self.decides = False
        self._expects_error = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        are_own = [node.left in self._objects, node.right in self._objects]
        self.decides |= any(are_own) and not all(are_own)
        node.left, node.right = self._marked(node.left), self._marked(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        name = _IN_PLACE.get(type(node.op))
        if node.target not in self._objects or name is None:
            node.value = self._marked(node.value)
            return node
        value = copy.deepcopy(node.target)
        value.ctx = ast.Load()
        self.has_changed = True
        call = ast.Call(ast.Name(_CHANGED_NAME, ast.Load()), [ast.Constant(name), value, self._marked(node.value)], [])
        return ast.copy_location(ast.Assign([node.target], call), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return self.generic_visit(node)
        self.decides |= any(side in self._objects for side in (node.left, *node.comparators))
        node.left, node.comparators = self._marked(node.left), [self._marked(side) for side in node.comparators]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = _name_of(node.func)
        if name == "type" and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
            return self._call(_TYPE_NAME, self.visit(node.args[0]))
        if name in _OPERATORS and isinstance(node.func, ast.Attribute) and node.func.value in self._objects:
            # Vec(1, 2).__add__(3) is NotImplemented
            self.has_changed = self.decides = True
            arguments = [node.func.value, ast.Constant(name), *node.args]
            call = ast.Call(ast.Name(_SPECIAL_NAME, ast.Load()), [self.visit(operand) for operand in arguments], [])
            return ast.copy_location(call, node)
        if name == "sum" and node in self._objects:
            self.decides = True
            node.args[0] = self._call(_ALL_OWN_NAME, self.visit(node.args[0]))
            return node
        if name in _COMPARING or (name in _BINARY_BUILTINS and isinstance(node.func, ast.Name)):
            self.decides |= any(argument in self._objects for argument in node.args[:2])
            node.args = [self._marked(argument) for argument in node.args]
            return node
        outer, self._expects_error = self._expects_error, self._expects_error or _expects_error(node)
        self.generic_visit(node)
        self._expects_error = outer
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return self._call(_TYPE_NAME, self.visit(node.value))
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.BinOp):
            node.value = self._call(_DONE_NAME, node.value)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = self._done(node.value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.generic_visit(node)
        node.body = self._done(node.body)
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        outer = self._expects_error
        self._expects_error = outer or any(_expects_error(item.context_expr) for item in node.items)
        self.generic_visit(node)
        self._expects_error = outer
        if not any(map(self._may_assert, node.body)):
            for item in node.items:
                item.context_expr = self._call(_OWN_NAME, item.context_expr)
        return node

    def _may_assert(self, statement: ast.stmt) -> bool:
        """Whether a statement may end a test as failed: it asserts, raises under a condition, or calls what may do so."""
        return not isinstance(statement, ast.Raise) and any(
            isinstance(node, ast.Assert | ast.Raise)
            or (isinstance(node, ast.Call) and self._is_asserting(_name_of(node.func)))
            for node in ast.walk(statement)
        )

    def _is_asserting(self, name: str) -> bool:
        return name in self._objects.defined or any(word in name.lower() for word in _ASSERTING)

    def _marked(self, node: ast.expr) -> ast.expr:
        is_own = node in self._objects
        new: ast.expr = self.visit(node)
        return self._call(_OWN_NAME, new) if is_own else new

    def _done(self, node: ast.expr) -> ast.expr:
        return self._call(_DONE_NAME, node) if self._expects_error and isinstance(node, ast.BinOp) else node

    def _call(self, name: str, argument: ast.expr) -> ast.expr:
        self.has_changed = True
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [argument], []), argument)


def _expects_error(node: ast.expr) -> bool:
    """`pytest.raises(ValueError)`, `self.assertRaises(ValueError)`"""
    return isinstance(node, ast.Call) and "raises" in _name_of(node.func).lower()


def may_make(call: ast.Call) -> bool:
    """Whether a call may make an object of a class: `Vec(1, 2)`"""
    return _name_of(call.func)[:1].isupper()


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
