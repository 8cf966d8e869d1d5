"""Tests that compute what they expect from an argument, after the program has had it.

    result = f(data)
    expected = sorted(data)                 a program that empties `data` and returns [] would pass
    assert result == expected

In such tests the program's changes of its arguments stay in its own process. The tests' text decides. They come back, as
always, if it looks at what became of an argument: it calls for nothing else (`f(data)`), or compares the argument itself
(`assert data == [1, 2]`), or wants it back (`assert f(data) is data`) or changes it, and expects nothing of it. Its type
and bounds of its length tell nothing. A value counts with all that has parts of it: other names, loop variables,
parameters of the tests' functions.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sandbox.runner.testing.specification import Specification, parsed

_MAX_CHARS: Final = 32_000
_LIKELY: Final = re.compile(
    r"^(?![ \t]*(?:def|class|import|from)\b).*[(,=\[{*][ \t]*(?!(?:True|False|None)\b)[A-Za-z_]\w*[ \t]*[\]),.\[}]",
    re.M,
)
"""A variable as an argument."""
_PASSES: Final = 3
"""How many steps a result is followed from name to name."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES: Final = (*_FUNCTIONS, ast.ClassDef)
_SHARING: Final = frozenset(
    {*("zip", "enumerate", "reversed", "iter", "list", "tuple", "dict", "filter", "sorted", "next", "map")}
)
"""Builtins whose result has parts of their arguments."""
_SHARING_METHODS: Final = frozenset({"items", "values", "get", "pop", "copy", "setdefault"})
_CHANGING: Final = frozenset(
    {*("append", "extend", "insert", "pop", "remove", "clear", "update", "add", "discard", "sort", "reverse")}
)

_ADDING: Final = frozenset({"append", "extend", "insert", "update", "add"})
_TYPES: Final = frozenset({"isinstance", "issubclass", "callable", "hasattr", "type"})
_BOUNDS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)

Key = tuple[int, str]
"""A variable: the function that binds it, 0 outside of any, and its name."""


def recomputes_from_arguments(specification: Specification, case: int | None = None) -> bool:
    """Whether the tests, or one case with the setup, compare answers with what they compute from arguments."""
    cases = specification.cases if case is None else (specification.cases[case],)
    sources = [source for source in (specification.setup, *cases, *specification.files.values()) if source]
    if sum(map(len, sources)) > _MAX_CHARS:
        return False
    if not any(map(_LIKELY.search, sources)):
        return False
    return _Uses(parsed(source) for source in sources).recompute()


class _Uses:
    """What tests do with the values that they pass to the program."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._scopes: dict[int, tuple[int, ...]] = {}
        """The functions around a node, by its id."""
        self._nodes: list[ast.AST] = []
        self._bound: set[Key] = set()
        self._functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self._own = {"self", *dir(builtins)}
        self._groups: dict[Key, Key] = {}
        self._results: set[Key] = set()
        self._called: set[Key | None] = set()
        """Variables that hold functions."""
        self._errors: set[int] = set()
        """Statements that are to raise something."""
        for tree in trees:
            self._enter(tree, ())
        self._called = {self._key(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        self._calls_of: dict[int, list[ast.Call]] = {}
        """The calls of each function of the tests, by its id."""
        for node in self._nodes:
            if isinstance(node, ast.Call) and (function := self._functions.get(_name_of(node.func))) is not None:
                self._calls_of.setdefault(id(function), []).append(node)
        loaded = (node for node in self._nodes if isinstance(getattr(node, "ctx", None), ast.Load))
        self._loads = Counter(map(self._key, loaded))
        edges = self._bindings = [edge for node in self._nodes for edge in self._edges(node)]
        for _ in range(_PASSES):
            for target, value in edges:
                self._results |= {target} if self._is_result(value) else set()
        for target, value in edges:
            for root in self._roots(value):
                self._groups[self._group(root)] = self._group(target)

    def recompute(self) -> bool:
        """Whether a value is read for what is expected, and nothing shows that a change of it is."""
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        first: dict[tuple[int, Key], int] = {}
        inside = set[int]()
        for call in calls:
            for root, node in self._passed(call):
                at = (self._scope(node), self._group(root))
                first[at] = min(call.lineno, first.get(at, call.lineno))
            if self._is_of_program(call):
                inside |= {id(part) for n in _arguments(call) for part in ast.walk(n)}
        passed = {group for _, group in first}
        if not passed:
            return False
        bindings = {id(n) for _, value in self._bindings for n in self._root_nodes(value)}
        reads = {
            self._group(key)
            for node in self._nodes
            if id(node) not in inside and id(node) not in bindings and (key := self._key(node)) is not None
            if not _is_before(node, first.get((self._scope(node), self._group(key))))
        }
        looked = {self._group(key) for node in self._nodes for key in self._looked_at(node, first)}
        changed = {self._group(key) for node in self._nodes for key in self._changed(node, first)}
        same = {self._group(key) for node in self._nodes for key in self._to_be_same(node)}
        looked |= (changed | same) - {*map(self._group, self._expected())}
        return bool(passed & reads) and not passed & reads & looked

    # What a text says of its variables.

    def _enter(self, node: ast.AST, scopes: tuple[int, ...]) -> None:
        self._scopes[id(node)] = scopes
        self._nodes.append(node)
        if isinstance(node, _SCOPES):
            self._own.add(node.name)
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "solution":
            self._own |= {n.asname or n.name.partition(".")[0] for n in node.names if n.name != "solution"}
        if isinstance(node, (ast.With, ast.AsyncWith, ast.Try)) and _expects_error(node):
            self._errors |= {id(n) for statement in node.body for n in ast.walk(statement)}
        if isinstance(node, _FUNCTIONS):
            self._functions[node.name] = node
            scopes = (*scopes, id(node))
            self._bound |= {(id(node), n.arg) for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self._bound.add((scopes[-1] if scopes else 0, node.id))
        for child in ast.iter_child_nodes(node):
            self._enter(child, scopes)

    def _scope(self, node: ast.AST) -> int:
        return (0, *self._scopes[id(node)])[-1]

    def _key(self, node: ast.AST) -> Key | None:
        """The variable that a node is: `data`, `self.data`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return 0, f"self.{node.attr}"
        if not isinstance(node, ast.Name) or node.id == "self":
            return None
        holders = (key for scope in reversed(self._scopes[id(node)]) if (key := (scope, node.id)) in self._bound)
        return next(holders, (0, node.id))

    def _group(self, key: Key) -> Key:
        while (parent := self._groups.get(key, key)) != key:
            key = parent
        return key

    def _edges(self, node: ast.AST) -> Iterator[tuple[Key, ast.expr]]:
        """The variables that a node binds, with what they are bound to."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from self._pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield from self._pairs(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from self._pairs(node.target, node.iter)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
            for argument in _arguments(node):
                yield from self._pairs(node.func.value, argument)
        elif isinstance(node, ast.Call) and (function := self._functions.get(_name_of(node.func))) is not None:
            names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args) if arg.arg != "self"]
            for name, value in zip(names, node.args, strict=False):
                yield (id(function), name), value
            for keyword in node.keywords:
                yield (id(function), keyword.arg or ""), keyword.value

    def _pairs(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[Key, ast.expr]]:
        if isinstance(target, ast.Tuple | ast.List):
            values = _parts(value)
            matched = values if len(values) == len(target.elts) else [value] * len(target.elts)
            for element, part in zip(target.elts, matched, strict=True):
                yield from self._pairs(element, part)
        elif (key := self._key(target)) is not None:
            yield key, value

    # What values are.

    def _is_of_program(self, call: ast.Call) -> bool:
        """Whether a call is one of the program: of a name that the tests do not define, or of a result's method."""
        if isinstance(call.func, ast.Name):
            return call.func.id not in self._own
        return self._is_method(call.func)

    def _is_method(self, node: ast.expr) -> bool:
        """Whether a node is an attribute of a result, or of the program: `solution.f`"""
        return isinstance(node, ast.Attribute) and (self._is_result(node.value) or self._is_foreign(node.value))

    def _is_foreign(self, node: ast.expr) -> bool:
        """Whether a node is a name that the tests do not bind."""
        return isinstance(node, ast.Name) and node.id not in self._own and self._key(node) not in self._bound

    def _is_result(self, node: ast.expr) -> bool:
        """Whether a value is, or has, what the program returned."""
        waiting: list[ast.AST] = [node]
        while waiting:
            part = waiting.pop()
            if self._key(part) in self._results or (isinstance(part, ast.Call) and self._is_of_program(part)):
                return True
            if isinstance(part, ast.Call) and any(map(self._is_function, part.args)):
                return True
            waiting += [part.value] if isinstance(part, ast.Subscript) else ast.iter_child_nodes(part)
        return False

    def _is_function(self, node: ast.expr) -> bool:
        """Whether a name stands for a function of the program: `map(f, rows)`"""
        is_name = isinstance(node, ast.Name) and node.id not in self._own
        return (is_name and self._key(node) in self._called) or self._is_foreign(node) or self._is_method(node)

    def _passed(self, call: ast.Call) -> Iterator[tuple[Key, ast.AST]]:
        """The variables that a call passes to the program."""
        if self._is_of_program(call) or any(map(self._is_function, call.args)):
            for argument in _arguments(call):
                for node in self._root_nodes(argument):
                    if (key := self._key(node)) is not None and not self._is_function(argument):
                        yield key, node

    def _roots(self, node: ast.expr) -> Iterator[Key]:
        return (key for root in self._root_nodes(node) if (key := self._key(root)) is not None)

    def _root_nodes(self, node: ast.expr) -> Iterator[ast.AST]:
        """The variables whose value, or parts of it, an expression gives."""
        if self._key(node) is not None:
            yield node
        elif isinstance(node, ast.Call) and not self._is_of_program(node):
            name = _name_of(node.func)
            if name in _SHARING_METHODS and isinstance(node.func, ast.Attribute):
                yield from self._root_nodes(node.func.value)
            elif name in _SHARING or name in self._functions:
                for argument in _arguments(node):
                    yield from self._root_nodes(argument)
        elif isinstance(node, _TRANSPARENT):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr) and part is not getattr(node, "slice", None):
                    yield from self._root_nodes(part)

    # Whether a text looks at what became of an argument.

    def _looked_at(self, node: ast.AST, first: dict[tuple[int, Key], int]) -> Iterator[Key]:
        if isinstance(node, ast.Expr | ast.Assign):
            yield from self._called_for_nothing_else(node)
        for sides in self._asserted(node):
            if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
                # assert f(data) is None
                calls = [side for side in sides if isinstance(side, ast.Call)]
                yield from (key for call in calls for key, _ in self._passed(call))
            elif not any(map(self._is_result, sides)) and not any(map(_tells_nothing, sides)):
                names = (self._key(part) for side in sides for part in ast.walk(side))
                yield from (key for key in names if key is not None and self._is_after(node, self._group(key), first))
        if isinstance(node, ast.BoolOp | ast.IfExp):
            # f(data) or data
            branches = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            if any(map(self._is_result, branches)):
                keys = (self._key(branch) for branch in branches if not self._is_result(branch))
                yield from (key for key in keys if key is not None)

    def _to_be_same(self, node: ast.AST) -> Iterator[Key]:
        """The variables that a result must be itself: `assert f(data) is data`"""
        if _asserts_identity(node):
            yield from (key for sides in self._asserted(node) for side in sides for key in self._roots(side))

    def _expected(self) -> Iterator[Key]:
        """The variables of what results are compared with."""
        for sides in (sides for node in self._nodes if not _asserts_identity(node) for sides in self._asserted(node)):
            if any(map(self._is_result, sides)):
                parts = (part for side in sides if not self._is_result(side) for part in ast.walk(side))
                yield from (key for part in parts if (key := self._key(part)) is not None)

    def _asserted(self, node: ast.AST) -> Iterator[Sequence[ast.expr]]:
        """What a node asserts of values, each with what it is compared with: `assert a == b`, `self.assertEqual(a, b)`.

        Comparisons elsewhere tell nothing: a function that computes what is expected may compare, too.
        """
        if isinstance(node, ast.Assert) or (isinstance(node, ast.If) and any(map(_fails, node.body))):
            yield from self._sides(node.test)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "assert" in node.func.attr:
            if len(node.args) > 1:
                yield node.args
            for argument in node.args[:1]:
                yield from self._sides(argument)

    def _sides(self, condition: ast.expr) -> Iterator[Sequence[ast.expr]]:
        if isinstance(condition, ast.BoolOp | ast.UnaryOp):
            for part in condition.values if isinstance(condition, ast.BoolOp) else [condition.operand]:
                yield from self._sides(part)
        elif isinstance(condition, ast.Compare):
            if not all(isinstance(sign, _BOUNDS) for sign in condition.ops) or _is_of_values(condition):
                yield [condition.left, *condition.comparators]
        else:
            # is_kept = data == [1, 2]
            values = [value for key, value in self._bindings if key == self._key(condition)]
            yield from ([v.left, *v.comparators] for v in values if isinstance(v, ast.Compare))
            yield [condition]

    def _is_after(self, node: ast.AST, group: Key, first: dict[tuple[int, Key], int], depth: int = 0) -> bool:
        """Whether a node may run after the program has had a value: in its own function, or as that is called."""
        scope = self._scope(node)
        if (scope, group) in first or depth > _PASSES:
            return not _is_before(node, first.get((scope, group)))
        calls = self._calls_of.get(scope, ())
        return not calls or any(self._is_after(call, group, first, depth + 1) for call in calls)

    def _called_for_nothing_else(self, node: ast.Expr | ast.Assign) -> Iterator[Key]:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(value, ast.Call) or id(node) in self._errors:
            return
        if isinstance(node, ast.Assign):
            keys = [self._key(target) for target in node.targets]
            if any(key is None or self._loads[key] for key in keys):
                return
        yield from (key for key, _ in self._passed(value))

    def _changed(self, node: ast.AST, first: dict[tuple[int, Key], int]) -> Iterator[Key]:
        """What the tests change after the program has had it."""
        target: ast.expr | None = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            target = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
            target = node.func.value
        for key in self._roots(target) if target is not None else ():
            line = first.get((self._scope(node), self._group(key)))
            if line is not None and node.lineno > line:  # type: ignore[attr-defined]  # both kinds have lines
                yield key


_TRANSPARENT: Final = (
    *(ast.Subscript, ast.Attribute, ast.Starred, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BoolOp, ast.IfExp),
    *(ast.NamedExpr, ast.Await, ast.ListComp, ast.GeneratorExp),
)
"""Expressions that give the values of their parts."""


def _asserts_identity(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Compare) and [*map(type, node.test.ops)] == [ast.Is]
    return isinstance(node, ast.Call) and _name_of(node.func) == "assertIs"


def _tells_nothing(side: ast.expr) -> bool:
    """Whether a side of a comparison asks a value for its type."""
    return isinstance(side, ast.Call) and _name_of(side.func) in _TYPES


def _is_of_values(condition: ast.Compare) -> bool:
    """Whether more than the length of something is compared."""
    sides = (condition.left, *condition.comparators)
    return not any(isinstance(side, ast.Call) and _name_of(side.func) == "len" for side in sides)


def _fails(statement: ast.stmt) -> bool:
    """Whether a statement ends a test as failed: `raise AssertionError`, `return False`, `self.fail()`"""
    if isinstance(statement, ast.Return):
        return isinstance(statement.value, ast.Constant) and statement.value.value is False
    if isinstance(statement, ast.Raise):
        error = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return error is not None and _name_of(error) in ("AssertionError", "Exception")
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _name_of(call.func) == "fail"


def _parts(value: ast.expr) -> list[ast.expr]:
    """The parts of what is bound to several names: `a, b`, `zip(a, b)`"""
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts
    return value.args if isinstance(value, ast.Call) and _name_of(value.func) == "zip" else []


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _expects_error(node: ast.With | ast.AsyncWith | ast.Try) -> bool:
    """`with pytest.raises(ValueError)`, `try: ... except ValueError`"""
    if isinstance(node, ast.Try):
        return bool(node.handlers)
    names = (_name_of(item.context_expr.func) for item in node.items if isinstance(item.context_expr, ast.Call))
    return any("raises" in name.lower() for name in names)


def _is_before(node: ast.AST, line: int | None) -> bool:
    return line is not None and getattr(node, "lineno", line) < line
