"""The statements of the inhabitants of an island of knights and knaves, and checks of assignments against them.

    statement = ["telling-truth", i] | ["lying", i] | ["not", s] | ["and", s, …] | ["or", s, …] | ["->", s, s] | ["<=>", s, s]

Inhabitants are numbered from 0. Inhabitant i makes statement i, which is true exactly if i is a knight.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from verifiers.puzzles.puzzle import malformed

_MAX_DEPTH = 40
_MAX_CHECKS = 50_000
"""The number of steps that a search for a solution may take."""
_PAIRS = {"->": "->", "=>": "->", "<=>": "<=>", "<->": "<=>"}

Statement = tuple[Any, ...]


def read(value: Any, people: int) -> tuple[Statement, ...]:
    """The statements of all inhabitants.

    Raises:
        InvalidItem: the value holds no such statements.
    """
    if not isinstance(value, list | tuple) or len(value) != people:
        raise malformed(f"expected one statement for each of {people} inhabitants")
    return tuple(_statement(statement, people, 0) for statement in value)


def _statement(value: Any, people: int, depth: int) -> Statement:
    if not isinstance(value, list | tuple) or len(value) < 2 or not isinstance(value[0], str) or depth > _MAX_DEPTH:
        raise malformed(f"expected a statement such as ['lying', 0], found {str(value)[:60]!r}")
    kind, operands = value[0], value[1:]
    if kind in ("telling-truth", "lying"):
        if len(operands) != 1 or type(operands[0]) is not int or not 0 <= operands[0] < people:
            raise malformed("a statement names an inhabitant who does not exist; inhabitants are numbered from 0")
        return kind, operands[0]
    nested = tuple(_statement(part, people, depth + 1) for part in operands)
    if kind in ("and", "or") or (kind == "not" and len(nested) == 1):
        return kind, *nested
    if kind in _PAIRS and len(nested) == 2:
        return _PAIRS[kind], *nested
    raise malformed(f"{kind[:20]!r} is not a connective of {len(nested)} statements")


def agree(statements: Sequence[Statement], are_knights: Sequence[bool]) -> bool:
    """Whether all knights tell the truth, and all knaves lie."""
    return all(
        _holds(statement, are_knights) is knight for statement, knight in zip(statements, are_knights, strict=True)
    )


def are_paradox(statements: Sequence[Statement]) -> bool:
    """Whether no assignment agrees with the statements; False also if the search would take too long."""
    people = len(statements)
    size = sum(map(_size, statements))
    if people > 16 or size << people > _MAX_CHECKS:
        return False
    return not any(agree(statements, roles) for roles in product((True, False), repeat=people))


def _size(statement: Statement) -> int:
    return 1 + sum(_size(part) for part in statement[1:] if isinstance(part, tuple))


def _holds(statement: Statement, are_knights: Sequence[bool]) -> bool:
    kind, *operands = statement
    match kind:
        case "telling-truth":
            return are_knights[operands[0]]
        case "lying":
            return not are_knights[operands[0]]
        case "not":
            return not _holds(operands[0], are_knights)
        case "and":
            return all(_holds(part, are_knights) for part in operands)
        case "or":
            return any(_holds(part, are_knights) for part in operands)
        case "->":
            return not _holds(operands[0], are_knights) or _holds(operands[1], are_knights)
        case _:
            return _holds(operands[0], are_knights) is _holds(operands[1], are_knights)
