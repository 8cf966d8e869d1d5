"""Puts controls before the assertions of a test: each tries the assertion with a wrong value, and ends the test if that holds.

    assert a == b                 holds for another a, or another b: one of them is equal to everything
    self.assertEqual(a, b)        holds for another value: something has replaced it
    self.assertTrue(a)            holds for False
    with pytest.raises(E): ...    raises nothing although nothing happens in it

A test that is turned around passes only so (negation.py). What the controls call is in control_functions.py.
"""

import ast
from collections.abc import Iterable, Sequence
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
    "assertIs": "0, ()",
    "assertIsNot": "None, None",
    "assertIn": "0, ()",
    "assertNotIn": "0, (0,)",
    "assertIsInstance": "0, str",
    "assertNotIsInstance": "0, int",
    "assertNotEqual": "0, 0",
    "assertGreater": "0, 0",
    "assertGreaterEqual": "0, 1",
    "assertLess": "0, 0",
    "assertLessEqual": "1, 0",
    "assertRegex": "'', 'x'",
    "assertNotRegex": "'x', 'x'",
}
"""Arguments with which a method of `unittest.TestCase` must fail."""


def functions(tree: ast.Module) -> str:
    """The text of what controls call, to stand behind a file of tests."""
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return _FUNCTIONS.replace('"@WORDS@"', repr(sorted(words)))


def of_assertion(node: ast.Assert) -> list[ast.stmt]:
    """An `assert` behind its control, if it has one."""
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return [node]
    control = _ends_if(f"_control_holds(_control_equal, {_LEFT}, {_RIGHT})")
    compared = ast.Compare(_name(_LEFT), test.ops, [_name(_RIGHT)])
    return [*_kept(test.left, test.comparators[0]), control, ast.Assert(compared, node.msg)]


def of_call(node: ast.Expr) -> list[ast.stmt]:
    """A call of an assertion behind its control, if it has one."""
    call = node.value
    if not isinstance(call, ast.Call) or _binds((*call.args, *call.keywords)):
        return [node]
    name, function = _name_of(call), ast.unparse(call.func)
    if isinstance(call.func, ast.Attribute) and name in _WRONG:
        return [_ends_if(f"_control_passes(lambda: {function}({_WRONG[name]}))"), node]
    if name in ("raises", "assertRaises") and len(call.args) > 1:
        error = ast.unparse(call.args[0])
        return [_ends_if(f"_control_passes(lambda: {function}({error}, lambda *a, **k: None))"), node]
    if not _is_alike(name) or len(call.args) < 2:
        return [node]
    rest = [ast.unparse(argument) for argument in (*call.args[2:], *call.keywords)]
    checked = f"lambda *both: {function}({', '.join(('*both', *rest))}) or True"
    kept = _kept(*call.args[:2])
    call.args[:2] = [_name(_LEFT), _name(_RIGHT)]
    return [*kept, _ends_if(f"_control_holds({checked}, {_LEFT}, {_RIGHT})"), node]


def of_contexts(node: ast.With) -> list[ast.stmt]:
    """A `with` behind the controls of those contexts that must raise."""
    calls = [item.context_expr for item in node.items[:1] if isinstance(item.context_expr, ast.Call)]
    return [
        *(
            _ends_if(f"_control_misses(lambda: {ast.unparse(call)})")
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


def _ends_if(condition: str) -> ast.stmt:
    return ast.parse(f"if {condition}:\n    return").body[0]
