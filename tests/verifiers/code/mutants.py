"""Small wrong changes to a program, made on its syntax tree: a deleted line, a flipped comparison, a constant result."""

import ast
import copy
from collections.abc import Iterator

_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def mutants(source: str, function: str) -> Iterator[tuple[str, str]]:
    """The name and the text of every mutant of one function in a program.

    Deleting a line removes one whole statement of a body, except docstrings. A constant result replaces the whole body
    of the function.
    """
    tree = ast.parse(source)
    position = next(
        i for i, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef) and node.name == function
    )
    for name, body in _mutated(tree.body[position]):
        mutant = copy.copy(tree)
        mutant.body = [*tree.body[:position], body, *tree.body[position + 1 :]]
        yield name, ast.unparse(ast.fix_missing_locations(mutant))


def _mutated(function: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    statements = [node for node in ast.walk(function) if _is_body_holder(node)]
    for number, holder in enumerate(statements):
        for field in ("body", "orelse"):
            for index, statement in enumerate(getattr(holder, field, [])):
                if not _is_docstring(statement) and not isinstance(statement, ast.Pass):
                    yield f"delete {ast.unparse(statement).splitlines()[0]}", _deleted(function, number, field, index)
    for number, node in enumerate(node for node in ast.walk(function) if isinstance(node, ast.Compare)):
        flipped = copy.deepcopy(function)
        comparison = [inner for inner in ast.walk(flipped) if isinstance(inner, ast.Compare)][number]
        if type(comparison.ops[0]) in _FLIPPED:
            comparison.ops[0] = _FLIPPED[type(comparison.ops[0])]()
            yield f"flip {ast.unparse(node)}", flipped
    for value in ("None", "0", "''", "[]", "True"):
        constant = copy.deepcopy(function)
        assert isinstance(constant, ast.FunctionDef)
        constant.body = ast.parse(f"def f():\n    return {value}").body[0].body  # type: ignore[attr-defined]  # a function
        yield f"return {value}", constant


def _is_body_holder(node: ast.AST) -> bool:
    return isinstance(getattr(node, "body", None), list)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _deleted(function: ast.stmt, number: int, field: str, index: int) -> ast.stmt:
    mutant = copy.deepcopy(function)
    holder = [node for node in ast.walk(mutant) if _is_body_holder(node)][number]
    body = getattr(holder, field)
    body[index] = ast.Pass()
    return mutant
