"""Scores the style of a Python program by linters. The program is never run.

The score starts at 1 and loses

    0.05    for each import and local name that is never used, at most 0.2        pyflakes
    0.1     when a function branches more than `MAX_COMPLEXITY` ways              mccabe
    0.1 x   the share of lines longer than `MAX_LINE_CHARS`
    0.1     for calling eval or exec
    0.05    for an except that names no exception
    0.05    for a function with a name that is not snake_case
    0.05    for tabs and spaces both used to indent
    0.05    when there is neither a docstring nor a comment for people

Comments that switch linters off have no effect. A text that is not a Python gets 0, and so does one that is nested too
deeply for linters.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from typing import Any, Final

import mccabe
from pyflakes import messages
from pyflakes.checker import Checker

from sandbox.workers import Task, worker_function

TASK: Final = Task("verifiers.code_quality.style", "judge_in_worker", 5.0, warm=("import os\n",))
MAX_LINE_CHARS: Final = 100
MAX_COMPLEXITY: Final = 10
MAX_FINDINGS: Final = 20
"""The most findings that are reported for one program."""

_UNUSED: Final = (messages.UnusedImport, messages.UnusedVariable)
_SNAKE_CASE: Final = re.compile(r"_*[a-z0-9][a-z0-9_]*|_+")
_TO_TOOLS: Final = re.compile(
    r"#(?:[\W_]*$|!|[\s#]*(?:noqa|flake8|pylint|ruff|mypy|pyright|type|fmt|isort|pragma|nosec|coding)\b)"
)
"""The beginnings of comments that are for tools, not for people."""
_VISITOR: Final = re.compile(r"visit_[A-Z]\w*|do_[A-Z]+|setUp|tearDown|setUpClass|tearDownClass")
"""Names that the standard library requires."""

Finding = tuple[str, int, float]
"""A finding: its kind, its line and its cost."""


@worker_function
def judge_in_worker(source: str) -> list[Any]:
    """The score, and the findings that cost something. This runs in a worker."""
    score, findings = judge(source)
    return [score, [list(finding) for finding in findings[:MAX_FINDINGS]]]


def judge(source: str) -> tuple[float, list[Finding]]:
    """The score from 0 to 1, with the findings. The same text always gets the same score."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            findings = [*_unused(tree), *_complex(tree), *_long_lines(source), *_odd(tree), *_layout(source, tree)]
    except (SyntaxError, ValueError) as error:
        return 0.0, [("no_python", getattr(error, "lineno", None) or 0, 1.0)]
    except (RecursionError, MemoryError):
        return 0.0, [("nested_too_deeply", 0, 1.0)]
    return round(max(0.0, 1.0 - sum(cost for _, _, cost in findings)), 4), findings


def _unused(tree: ast.Module) -> Iterator[Finding]:
    unused = [message for message in Checker(tree).messages if isinstance(message, _UNUSED)]
    for count, message in enumerate(sorted(unused, key=lambda message: message.lineno)):
        kind = "unused_import" if isinstance(message, messages.UnusedImport) else "unused_name"
        yield kind, message.lineno, 0.05 if count < 4 else 0.0


def _complex(tree: ast.Module) -> Iterator[Finding]:
    visitor = mccabe.PathGraphingAstVisitor()
    visitor.preorder(tree, visitor)
    lines = [graph.lineno for graph in visitor.graphs.values() if graph.complexity() > MAX_COMPLEXITY]
    if lines:
        yield "complex_function", min(lines), 0.1


def _long_lines(source: str) -> Iterator[Finding]:
    lines = [line for line in source.splitlines() if line.strip()]
    long = sum(len(line) > MAX_LINE_CHARS for line in lines)
    if long:
        first = next(n for n, line in enumerate(source.splitlines(), 1) if len(line) > MAX_LINE_CHARS)
        yield "long_lines", first, round(0.1 * long / len(lines), 4)


def _odd(tree: ast.Module) -> Iterator[Finding]:
    """The findings on single nodes of the tree. Each kind counts once, at its first line."""
    first: dict[str, int] = {}
    for node in ast.walk(tree):
        kind = _kind(node)
        if kind is not None:
            line = getattr(node, "lineno", 0)
            first[kind] = min(line, first.get(kind, line))
    for kind, line in sorted(first.items()):
        yield kind, line, _COSTS[kind]


_COSTS: Final = {"bare_except": 0.05, "eval_or_exec": 0.1, "function_name": 0.05}


def _kind(node: ast.AST) -> str | None:
    match node:
        case ast.ExceptHandler(type=None):
            return "bare_except"
        case ast.Call(func=ast.Name(id="eval" | "exec")):
            return "eval_or_exec"
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return None if _SNAKE_CASE.fullmatch(name) or _VISITOR.fullmatch(name) else "function_name"
    return None


def _layout(source: str, tree: ast.Module) -> Iterator[Finding]:
    indents = {line[0] for line in source.splitlines() if line[:1] in (" ", "\t") and line.strip()}
    if len(indents) > 1:
        yield "tabs_and_spaces", 1, 0.05
    if not _has_docstring(tree) and not _has_comment(source):
        yield "no_words", 1, 0.05


def _has_docstring(tree: ast.Module) -> bool:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return any(ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented))


def _has_comment(source: str) -> bool:
    try:
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return any(token.type == tokenize.COMMENT and not _TO_TOOLS.match(token.string) for token in tokens)
    except (tokenize.TokenError, SyntaxError):
        return False
