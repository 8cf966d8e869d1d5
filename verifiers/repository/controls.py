"""Puts controls before the assertions of a file of tests: each tries the assertion with a wrong value, and notes if that holds.

    assert a == b                 holds for another a, or another b: one of them is equal to everything
    assert a in b, a < b, a != b  holds for what is in nothing, for the largest a, for twice the same a
    self.assertEqual(a, b)        holds for another value: something has replaced it
    self.assertTrue(a)            holds for False
    with pytest.raises(E): ...    raises nothing although nothing happens in it

A test that is turned around passes only with such a note (negation.py). What the controls call is in control_functions.py.
"""

import ast
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

_FUNCTIONS: Final = Path(__file__).with_name("control_functions.py").read_text(encoding="utf-8")
_LEFT: Final = "_control_left"
_RIGHT: Final = "_control_right"
_UNLIKE: Final = ("not", "greater", "less")
_ALIKE: Final = ("equal", "close")
_RAISES: Final = (
    "raises",
    "assertRaises",
    "assertRaisesRegex",
    "warns",
    "assertWarns",
    "assertWarnsRegex",
    "assertLogs",
)
_WRONG: Final = {
    "assertTrue": "False",
    "assertFalse": "True",
    "assertIsNone": "0",
    "assertIsNotNone": "None",
    "assertIsInstance": "0, str",
    "assertNotIsInstance": "0, int",
    "assertRegex": "'', 'x'",
    "assertNotRegex": "'x', 'x'",
}
"""Arguments with which a method of `unittest.TestCase` must fail."""
_SIGNS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_OPPOSITES: Final = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
_METHODS: Final = {
    "assertNotEqual": "!=",
    "assertLess": "<",
    "assertLessEqual": "<=",
    "assertGreater": ">",
    "assertGreaterEqual": ">=",
    "assertIs": "is",
    "assertIsNot": "is not",
    "assertIn": "in",
    "assertNotIn": "not in",
}
"""Methods of `unittest.TestCase` by what they compare. Others that compare have `equal` or `close` in their names."""


def functions(tree: ast.Module) -> str:
    """The text of what controls call, to stand behind a file of tests."""
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return _FUNCTIONS.replace('"@WORDS@"', repr(sorted(words)))


def put_into(tree: ast.Module) -> None:
    """Put controls into all functions of a file: tests have functions that assert for them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _Controls().enter(node)
    ast.fix_missing_locations(tree)


def start() -> ast.stmt:
    """What forgets the notes of an earlier test."""
    return ast.parse("_control_found.clear()").body[0]


def end() -> ast.stmt:
    """What fails if nothing is noted."""
    return ast.Assert(_name("_control_found"), None)


class OwnStatements(ast.NodeTransformer):
    """Changes the statements of one function, and leaves functions in it as they are."""

    def enter(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.generic_visit(ast.Module(function.body, []))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


class _Controls(OwnStatements):
    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return _of_assertion(node)

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return _of_call(node)

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        self.generic_visit(node)
        return _of_contexts(node)


def _of_assertion(node: ast.Assert) -> list[ast.stmt]:
    """An `assert` behind its controls, if it has some."""
    test = node.test
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [part for value in test.values for part in _of_assertion(ast.Assert(value, node.msg))]
    is_denied = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    compared = test.operand if isinstance(test, ast.UnaryOp) and is_denied else test
    if not isinstance(compared, ast.Compare) or len(compared.ops) != 1:
        return [node]
    sign = _SIGNS[type(compared.ops[0])]
    if is_denied and sign not in _OPPOSITES:
        return [node]  # neither of two sets may be below the other
    kept = _kept(compared.left, compared.comparators[0])
    compared.left, compared.comparators = _name(_LEFT), [_name(_RIGHT)]
    checked = f"lambda {_LEFT}, {_RIGHT}: {ast.unparse(test)}"
    return [*kept, _tried(_OPPOSITES[sign] if is_denied else sign, checked), node]


def _of_call(node: ast.Expr) -> list[ast.stmt]:
    """A call of an assertion behind its control, if it has one."""
    call = node.value
    if not isinstance(call, ast.Call) or _binds((*call.args, *call.keywords)):
        return [node]
    name, function = _name_of(call), ast.unparse(call.func)
    if isinstance(call.func, ast.Attribute) and name in _WRONG:
        return [_noted(f"_control_passes(lambda: {function}({_WRONG[name]}))"), node]
    if name in ("raises", "assertRaises") and len(call.args) > 1:
        error = ast.unparse(call.args[0])
        return [_noted(f"_control_passes(lambda: {function}({error}, lambda *a, **k: None))"), node]
    sign = _METHODS.get(name) or ("==" if _is_alike(name) else "")
    if not sign or len(call.args) < 2:
        return [node]
    rest = [ast.unparse(argument) for argument in (*call.args[2:], *call.keywords)]
    checked = f"lambda *both: {function}({', '.join(('*both', *rest))}) or True"
    kept = _kept(*call.args[:2])
    call.args[:2] = [_name(_LEFT), _name(_RIGHT)]
    return [*kept, _tried(sign, checked), node]


def _of_contexts(node: ast.With) -> list[ast.stmt]:
    """A `with` behind the controls of those contexts that must raise."""
    calls = [item.context_expr for item in node.items[:1] if isinstance(item.context_expr, ast.Call)]
    return [
        *(
            _noted(f"_control_misses(lambda: {ast.unparse(call)})")
            for call in calls
            if _name_of(call) in _RAISES and not _binds(call.args) and not _is_none(call.args)
        ),
        node,
    ]


def _is_alike(name: str) -> bool:
    word = name.lower()
    return (
        word.startswith("assert") and any(part in word for part in _ALIKE) and not any(part in word for part in _UNLIKE)
    )


def _is_none(arguments: Sequence[ast.expr]) -> bool:
    """`pytest.warns(None)` of older releases expects nothing."""
    return any(isinstance(argument, ast.Constant) and argument.value is None for argument in arguments[:1])


def _binds(nodes: Iterable[ast.AST]) -> bool:
    """Whether something of these would mean something else in a function of its own."""
    kinds = ast.Await | ast.NamedExpr | ast.Starred
    return any(isinstance(part, kinds) for node in nodes for part in ast.walk(node))


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _kept(left: ast.expr, right: ast.expr) -> list[ast.stmt]:
    """Both values, made once and in their order."""
    return [ast.Assign([ast.Name(name, ast.Store())], value) for name, value in ((_LEFT, left), (_RIGHT, right))]


def _tried(sign: str, checked: str) -> ast.stmt:
    plain = f"lambda {_LEFT}, {_RIGHT}: {_LEFT} {sign} {_RIGHT}"
    return _noted(f"_control_holds({checked}, {plain}, {_LEFT}, {_RIGHT}, {sign!r})")


def _noted(condition: str) -> ast.stmt:
    return ast.parse(f"_control_note({condition})").body[0]
