"""Tests that evaluate text: they may run what a program tells in their own process, where it could forge a pass.

    assert eval(expression_for(24)) == 24          the program's text runs among the tests
    assert calculate(line) == eval(line)           not this: the text is the tests' own

What is the program's is told by the tests' text alone. A name is tainted if it is the program's (free, or imported from
`solution`), or bound to an expression with a tainted name; so is an attribute, a function whose body has a tainted name,
and a parameter if a tainted expression, or one that is unknown, is passed for it.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from sandbox.runner.testing import library
from sandbox.runner.testing.specification import MODULES_BY_SHORT_NAME
from verifiers.code.syntax import nodes_of

_EVALUATING: Final = frozenset({"eval", "exec", "sympify", "parse_expr"})
"""Functions that run a text. Those of `re` and `ast` only read it."""
_BARE: Final = frozenset({"compile"})
"""More of them, without a module before."""
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_TAINTING: Final = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension),
    *(ast.withitem, *_FUNCTIONS, ast.Call),
)
_MOST_ROUNDS: Final = 20


def evaluated_answer(tree: ast.Module) -> str:
    """The call that evaluates a text of the program; empty if there is none."""
    calls = [call for call in nodes_of(tree, ast.Call) if _evaluates(call)]
    if not calls:
        return ""
    tainted = _tainted(tree)
    return next((ast.unparse(call)[:80] for call in calls if any(_has(arg, tainted) for arg in _passed(call))), "")


def _evaluates(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _EVALUATING | _BARE
    return isinstance(function, ast.Attribute) and function.attr in _EVALUATING


def _passed(call: ast.Call) -> Sequence[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _tainted(tree: ast.Module) -> set[str]:
    """Names of the program, and those that may hold what it tells; attributes with a dot before."""
    bound = {*dir(builtins), *library.MODULES, *MODULES_BY_SHORT_NAME}
    tainted: set[str] = set()
    for statement in nodes_of(tree, ast.Import, ast.ImportFrom):
        is_of_program = getattr(statement, "module", "") == "solution"
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            (tainted if is_of_program or alias.name in ("solution", "*") else bound).add(name)
    bound |= {node.name for node in nodes_of(tree, *_FUNCTIONS, ast.ClassDef)}
    bound |= {node.arg for node in nodes_of(tree, ast.arg)}
    bound |= {node.id for node in nodes_of(tree, ast.Name) if isinstance(node.ctx, ast.Store)}
    tainted |= {handler.name for handler in nodes_of(tree, ast.ExceptHandler) if handler.name}
    tainted |= {node.id for node in nodes_of(tree, ast.Name)} - bound
    tainted |= _unknown_parameters(tree)
    tainting = nodes_of(tree, *_TAINTING)
    for _ in range(_MOST_ROUNDS):
        new_names = {name for node in tainting for name in _tainted_by(node, tainted)} - tainted
        if not new_names:
            break
        tainted |= new_names
    return tainted


def _unknown_parameters(tree: ast.Module) -> set[str]:
    """Parameters of functions that something else than the text calls, but for those that `parametrize` gives."""
    uses = Counter(node.id for node in nodes_of(tree, ast.Name))
    calls = Counter(call.func.id for call in nodes_of(tree, ast.Call) if isinstance(call.func, ast.Name))
    unknown: set[str] = set()
    for node in nodes_of(tree, *_FUNCTIONS):
        if not calls[node.name] or calls[node.name] < uses[node.name]:
            passed = {
                name.strip()
                for decorator in node.decorator_list
                if isinstance(decorator, ast.Call) and "parametrize" in ast.unparse(decorator.func) and decorator.args
                for name in _names_given(decorator.args[0])
            }
            unknown |= {argument.arg for argument in _parameters(node)} - passed - {"self", "cls"}
    return unknown


def _names_given(node: ast.expr) -> list[str]:
    try:
        names = ast.literal_eval(node)
    except ValueError:
        return []
    return names.split(",") if isinstance(names, str) else [str(name) for name in names]


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    arguments = node.args
    variadic = [parameter for parameter in (arguments.vararg, arguments.kwarg) if parameter is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic]


def _tainted_by(node: ast.AST, tainted: set[str]) -> Iterator[str]:
    """The names that a node taints."""
    bound: list[tuple[ast.expr | None, ast.expr | None]] = []
    if isinstance(node, ast.Assign):
        bound = [(target, node.value) for target in node.targets]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        bound = [(node.target, node.value)]
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        bound = [(node.target, node.iter)]
    elif isinstance(node, ast.withitem):
        bound = [(node.optional_vars, node.context_expr)]
    for target, value in bound:
        if target is not None and value is not None and _has(value, tainted):
            yield from _stored(target)
    if isinstance(node, _FUNCTIONS):
        if any(_has(statement, tainted) for statement in node.body):
            yield node.name
        if f"{node.name}()" in tainted:
            yield from (argument.arg for argument in _parameters(node))
    elif isinstance(node, ast.Call):
        yield from _tainted_call(node, tainted)


def _tainted_call(call: ast.Call, tainted: set[str]) -> Iterator[str]:
    """`lines.append(f(2))` taints `lines`, and `evaluated(f(2))` the parameters of the function, as `evaluated()`."""
    if not any(_has(arg, tainted) for arg in _passed(call)):
        return
    if isinstance(call.func, ast.Attribute):
        yield from {*_stored(call.func.value)} - {"self", "cls"}
        yield f"{call.func.attr}()"
    elif isinstance(call.func, ast.Name):
        yield f"{call.func.id}()"


def _stored(target: ast.AST) -> Iterator[str]:
    """The variables and attributes that a target changes."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Attribute):
        yield f".{target.attr}"
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _stored(target.value)
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _stored(part)


def _has(node: ast.AST, tainted: set[str]) -> bool:
    return any(
        (isinstance(child, ast.Name) and child.id in tainted)
        or (isinstance(child, ast.Attribute) and f".{child.attr}" in tainted)
        for child in ast.walk(node)
    )
