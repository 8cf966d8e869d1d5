r"""Reads an arithmetic expression, with units or without, into the tree that `math` reads answers into.

    "3*4 km / (2 h)"   ──units aside──►   (4*u_0), (2*u_1)   ──reader──►   Node, {u_0: km, u_1: h}
    "comb(5, 2) // 3"  ──Python's own parser──►  Node, for what is written as a program

A text counts as a program if it has operators or functions that mathematics does not have (`//`, `**`, `7 % 3`,
`comb`). Only those named here are accepted; any other syntax is refused. Nothing is evaluated here.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from verifiers.math import limits, units
from verifiers.math.exact import unwrap
from verifiers.math.reader import read
from verifiers.math.tree import Node, TooComplex, Unreadable

_MAX_CHARS = 2_000
_MAX_DEPTH = 60


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that was read, and the names in it that stand for units."""

    node: Node
    units: Mapping[str, str] = field(default_factory=dict)


def read_expression(text: str) -> Expression:
    """Read an expression.

    Raises:
        Unreadable: the text is not an expression.
        TooComplex: it is too long, or nested too deeply.
    """
    text = _DOLLARS.sub(r"\1 dollars", unwrap(text))
    if len(text) > _MAX_CHARS or (refusal := limits.refusal(text)) == "too_complex":
        raise TooComplex("too long, or nested too deeply")
    if refusal is not None:
        raise Unreadable("more like a program than like an expression")
    if _PROGRAMMED.search(text):
        bare, unit_names = _units_aside(text, "({}*u_{})")
        return Expression(_programmed(bare), unit_names)
    unread = Unreadable("words, or letters without a value")
    try:
        node = read(text)
        if not any(part.kind in ("sym", "text", "prose") for part in node.walk()):
            return Expression(node)
    except Unreadable as error:
        unread = error
    bare, unit_names = _units_aside(_CURRENCY_FIRST.sub(r"\2 \1", text), r"({} \cdot u_{{{}}})")
    if not unit_names:
        raise unread
    return Expression(read(bare), unit_names)


_DOLLARS = re.compile(r"(?<![\d$])(\d[\d,]*(?:\.\d+)?)\s?\\?\$$")
_CURRENCY_FIRST = re.compile(r"\\?([$€£¥])\s?(\d[\d,]*(?:\.\d+)?)")


# --- units

_POWER_OF_TEN = r"10\s?(?:\^|\*\*)\s?(?:\{\s?[-−]?\d{1,4}\s?\}|[-−]?\d{1,4}(?!\d))"
_DECIMAL_OR_GROUPED = r"(?:\d+(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
_OPERAND = re.compile(
    rf"{_DECIMAL_OR_GROUPED}\s?(?:\\times|\\cdot|[×·*x])\s?{_POWER_OF_TEN}|{_POWER_OF_TEN}"
    rf"|{_DECIMAL_OR_GROUPED}(?:[eE][-+]?\d{{1,4}}(?!\d))?"
    r"|π|(?:\\|(?<![A-Za-z\\]))pi(?![A-Za-z])|\)"
)
_BETWEEN = re.compile(r"(?:\s|~|\\[,;:!])*")
_UNIT_COMMAND = r"\\(?:text|mathrm|mbox|operatorname|circ|degree|mu|Omega)"
_UNIT_LETTER = r"[A-Za-zÅμΩ°$€£¥\u4e00-\u9fff]"
_UNIT_CHARS = re.compile(rf"(?:{_UNIT_COMMAND}|\\(?:cdot|,|;)|{_UNIT_LETTER}|[·⋅/^{{}}\- *()0-9²³]){{1,48}}")
_UNIT_STARTS = re.compile(rf"{_UNIT_COMMAND}|\^\s?\{{?\s?\\circ|{_UNIT_LETTER}")


def _units_aside(text: str, pattern: str) -> tuple[str, dict[str, str]]:
    """Replace each number with a unit by a product with a name; the text, and the unit of each name."""
    if "u_" in text:
        raise Unreadable("a name that is used otherwise here")
    unit_names: dict[str, str] = {}
    pieces: list[str] = []
    position = 0
    for operand in _OPERAND.finditer(text):
        if operand.start() < position:
            continue
        unit = _unit(text, operand.end())
        if unit is None:
            continue
        start = operand.start() if operand[0] != ")" else _opening(text, operand.start(), position)
        if start is None:
            continue
        name = f"u_{len(unit_names)}"
        is_exponent = text[:start].rstrip(" {").endswith(("^", "**"))
        template = pattern[1:-1] if is_exponent else pattern
        pieces += [text[position:start], template.format(text[start : operand.end()], len(unit_names))]
        unit_names[name], position = unit
    return "".join((*pieces, text[position:])), unit_names


def _unit(text: str, position: int) -> tuple[str, int] | None:
    """The longest unit at a position, and its end."""
    between = _BETWEEN.match(text, position)
    start = position if between is None else between.end()
    if not _UNIT_STARTS.match(text, start):
        return None
    run = _UNIT_CHARS.match(text, start)
    end = start if run is None else run.end()
    while end > start:
        if not (text[end - 1 : end + 1].isalpha() and len(text) > end) and not text[end:].lstrip().startswith("("):
            key = units.key(text[start:end])
            if key is not None and (units.is_known(key) or units.is_count(key)):
                return key, end
        end -= 1
    return None


def _opening(text: str, closing: int, floor: int) -> int | None:
    """The position of the parenthesis that is closed at `closing`."""
    depth = 0
    for position in range(closing, floor - 1, -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if depth == 0:
            return position
    return None


# --- programs

_FUNCTIONS: Mapping[str, tuple[int, int]] = {
    "sqrt": (1, 1), "cbrt": (1, 1), "isqrt": (1, 1), "exp": (1, 1), "log": (1, 2), "ln": (1, 1), "log2": (1, 1),
    "log10": (1, 1), "sin": (1, 1), "cos": (1, 1), "tan": (1, 1), "asin": (1, 1), "acos": (1, 1), "atan": (1, 1),
    "arcsin": (1, 1), "arccos": (1, 1), "arctan": (1, 1), "sinh": (1, 1), "cosh": (1, 1), "tanh": (1, 1),
    "abs": (1, 1), "fabs": (1, 1), "floor": (1, 1), "ceil": (1, 1), "factorial": (1, 1), "comb": (2, 2),
    "perm": (2, 2), "gcd": (2, 8), "lcm": (2, 8), "pow": (2, 2), "min": (2, 8), "max": (2, 8), "degrees": (1, 1),
    "radians": (1, 1), "hypot": (2, 2),
}  # fmt: skip
"""The known functions, with their least and greatest numbers of arguments."""
_ONLY_PROGRAMMED = "cbrt isqrt factorial comb perm pow floor ceil fabs degrees radians hypot"
_PROGRAMMED = re.compile(
    "|".join(
        [
            r"//|(?<=[\w)\s])\*\*(?=[\w(\s+-])|\d\s*%\s*[\d(]",  # 7 // 2, 2**3, 7 % 3
            r"\d_\d{3}(?!\d)|(?<![\\A-Za-z])tau(?![A-Za-z])",  # 1_000, tau
            r"\b(?:math|np|numpy)\.[a-z]|(?<![\\A-Za-z])log\s*\([^()]*,",  # math.pi, log(8, 2)
            rf"(?<![\\A-Za-z])(?:{'|'.join(_ONLY_PROGRAMMED.split())})\s*\((?![^()]*\\)",  # comb(5, 2)
        ]
    )
)
_MODULES = frozenset(["math", "np", "numpy"])


def _programmed(text: str) -> Node:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Unreadable("neither a formula nor an expression of a program") from None
    return _Program(text.strip()).node(tree.body, _MAX_DEPTH)


def _num(value: int) -> Node:
    return Node("num", leaf=Fraction(value))


class _Program:
    """Turns a syntax tree into nodes. All methods raise `Unreadable` and `TooComplex`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def node(self, tree: ast.expr, depth: int) -> Node:
        if depth == 0:
            raise TooComplex("nested too deeply")
        if isinstance(tree, ast.Constant):
            return self._constant(tree)
        if isinstance(tree, ast.Name):
            return self._name(tree.id)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.UAdd | ast.USub):
            operand = self.node(tree.operand, depth - 1)
            return Node("neg", (operand,)) if isinstance(tree.op, ast.USub) else operand
        if isinstance(tree, ast.BinOp) and (make := _OPERATORS.get(type(tree.op))) is not None:
            return make(self.node(tree.left, depth - 1), self.node(tree.right, depth - 1))
        if isinstance(tree, ast.Attribute) and isinstance(tree.value, ast.Name) and tree.value.id in _MODULES:
            return self._name(tree.attr)
        if isinstance(tree, ast.Call) and not tree.keywords:
            return self._call(tree, depth - 1)
        raise Unreadable(f"{type(tree).__name__} is not an arithmetic")

    def _constant(self, tree: ast.Constant) -> Node:
        """A number with its digits as written: 0.1 is 1/10."""
        source = ast.get_source_segment(self._text, tree)
        if type(tree.value) not in (int, float) or source is None or not _DECIMAL.fullmatch(source):
            raise Unreadable("no decimal number")
        return Node("num", leaf=Fraction(source.replace("_", "")))

    def _name(self, name: str) -> Node:
        if name in ("pi", "e"):
            return Node("const", leaf=name)
        if name == "tau":
            return Node("*", (_num(2), Node("const", leaf="pi")))
        if _UNIT_NAME.fullmatch(name):
            return Node("sym", leaf=name)
        raise Unreadable(f"no value is known for {name[:40]!r}")

    def _call(self, tree: ast.Call, depth: int) -> Node:
        function = tree.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            name = function.attr if function.value.id in _MODULES else ""
        else:
            name = function.id if isinstance(function, ast.Name) else ""
        min_args, max_args = _FUNCTIONS.get(name, (1, 0))
        if not min_args <= len(tree.args) <= max_args:
            raise Unreadable(f"{name[:40]!r} is not a function that is known, with so many arguments")
        return _applied(name, [self.node(arg, depth) for arg in tree.args])


_DECIMAL = re.compile(r"(?:\d[\d_]*)?\.?(?:\d[\d_]*)?(?:[eE][-+]?\d{1,4})?")
_UNIT_NAME = re.compile(r"u_\d{1,3}")
_OPERATORS: Mapping[type[ast.operator], Callable[[Node, Node], Node]] = {
    ast.Add: lambda left, right: Node("+", (left, right)),
    ast.Sub: lambda left, right: Node("+", (left, Node("neg", (right,)))),
    ast.Mult: lambda left, right: Node("*", (left, right)),
    ast.Div: lambda left, right: Node("/", (left, right)),
    ast.FloorDiv: lambda left, right: Node("floor", (Node("/", (left, right)),)),
    ast.Mod: lambda left, right: Node("mod", (left, right)),
    ast.Pow: lambda left, right: Node("^", (left, right)),
}


def _applied(name: str, args: list[Node]) -> Node:
    """A function of a program in the notation of the tree."""
    simple = _AS_NODES.get(name)
    if simple is not None:
        return simple(args)
    name = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
    return Node("fn", tuple(args), name)


_PI = Node("const", leaf="pi")
_AS_NODES: Mapping[str, Callable[[list[Node]], Node]] = {
    "sqrt": lambda args: Node("root", (args[0], _num(2))),
    "cbrt": lambda args: Node("root", (args[0], _num(3))),
    "isqrt": lambda args: Node("floor", (Node("root", (args[0], _num(2))),)),
    "log": lambda args: Node("log", (args[1], args[0])) if len(args) == 2 else Node("fn", (args[0],), "ln"),
    "log2": lambda args: Node("log", (_num(2), args[0])),
    "log10": lambda args: Node("log", (_num(10), args[0])),
    "abs": lambda args: Node("abs", (args[0],)),
    "fabs": lambda args: Node("abs", (args[0],)),
    "floor": lambda args: Node("floor", (args[0],)),
    "ceil": lambda args: Node("ceil", (args[0],)),
    "factorial": lambda args: Node("!", (args[0],)),
    "comb": lambda args: Node("binom", (args[0], args[1])),
    "perm": lambda args: Node("*", (Node("binom", (args[0], args[1])), Node("!", (args[1],)))),
    "pow": lambda args: Node("^", (args[0], args[1])),
    "degrees": lambda args: Node("/", (Node("*", (args[0], _num(180))), _PI)),
    "radians": lambda args: Node("/", (Node("*", (args[0], _PI)), _num(180))),
    "hypot": lambda args: Node("root", (Node("+", tuple(Node("^", (arg, _num(2))) for arg in args)), _num(2))),
}
