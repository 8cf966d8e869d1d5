r"""Reads sums, products, integrals and limits as trees, and compares two of them by notation.

`reader` keeps the text behind such a sign as it is (`big`). This module turns that text into

    sum prod   (index, first, last, term)                 \sum_{k=1}^{n} k^2   \prod_{k\ge 0} a_k
    int        (variable, low, high, integrand)           \int_0^1 x^2 dx
    lim        (variable, target, target, inside)         \lim_{x\to 0^+} x\ln x, the side as leaf

and leaves every other part as it was. The term of a sum ends before a + or - outside of brackets, unless its index
occurs after that. A name with the index in its subscript, as x_i, is a sequence: `apply` of "x_" to i.

The comparison ignores the bound name and the number at which the index of a sum begins. Constant factors may stand
inside or before the sign.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from verifiers.math.points import BOUND, names
from verifiers.math.reader.grammar import Reader
from verifiers.math.tokens import tokenize
from verifiers.math.tree import Node, Unreadable, replace_names, with_parts

INFINITY = Node("const", leaf="infty")
_OPENING, _CLOSING = frozenset(["{", "(", "[", "\\{"]), frozenset(["}", ")", "]", "\\}"])
_INTEGRALS = frozenset(["\\int"])
_DIFFERENTIAL = re.compile(r"([a-zA-Z]*)d([a-zA-Z])")
_DIFFERENTIALS = re.compile(r"d[a-ce-zA-Z](?:d[a-ce-zA-Z])+")
_DIFFERENTIAL_ONLY = re.compile(r"d[a-ce-zA-Z]")


def is_big(node: Node) -> bool:
    """Whether a part is a sum, product, integral or limit."""
    return any(part.kind == "big" for part in node.walk())


def unfolded(node: Node) -> Node:
    """The same node with every sum, product, integral and limit as a tree.

    Raises:
        Unreadable: one of them is not written as above.
    """
    if node.kind == "big":
        words = [part for word in str(node.leaf).split(" ") for part in _single_differentials(word)]
        return unfolded(_read_big(words))
    return with_parts(node, unfolded)


def _single_differentials(word: str) -> Sequence[str]:
    """Split joined differentials: `dydx` becomes dy and dx."""
    return _DIFFERENTIAL_ONLY.findall(word) if _DIFFERENTIALS.fullmatch(word) else [word]


def with_elements(*trees: Node) -> tuple[Node, ...]:
    """The same trees; if a sum in one of them is over x_k, then x_1 is an element of that sequence in all of them."""
    sequences = {
        str(part.leaf)
        for tree in trees
        for part in tree.walk()
        if part.kind == "apply" and str(part.leaf).endswith("_")
    }
    return tuple(_elements_of(tree, lambda base, _: base in sequences) for tree in trees) if sequences else trees


def is_finite(node: Node) -> bool:
    """Whether a node can be written out: it has no integral, no limit and no sum without end."""
    bound = [part for part in node.walk() if part.kind in BOUND]
    return all(part.kind in ("sum", "prod") and INFINITY not in _ends(part) for part in bound)


def _ends(part: Node) -> list[Node]:
    return [end for side in part.args[1:3] for end in side.walk()]


# --- reading


def _read_big(words: Sequence[str]) -> Node:
    sign, lower, upper, tail = _scripts(words)
    if sign in ("\\sum", "\\prod"):
        return _read_sum(sign[1:], lower, upper, tail)
    if sign == "\\lim":
        return _read_limit(lower, tail)
    if sign in _INTEGRALS and lower and upper:
        return _read_integral(lower, upper, tail)
    raise Unreadable(f"{sign} in another form")


def _scripts(words: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str], Sequence[str]]:
    """The sign, the tokens below it and above it, and the remaining tokens."""
    scripts: dict[str, Sequence[str]] = {"_": (), "^": ()}
    at = 1
    while at + 1 < len(words) and words[at] in scripts:
        end = _group_end(words, at + 1)
        group = words[at + 1 : end]
        scripts[words[at]] = group[1:-1] if group[0] == "{" else group
        at = end
    return words[0], scripts["_"], scripts["^"], words[at:]


def _group_end(words: Sequence[str], start: int) -> int:
    if words[start] != "{":
        return start + 1
    return next((at + 1 for at, depth in _depths(words, start) if depth == 0), len(words))


def _depths(words: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    depth = 0
    for at in range(start, len(words)):
        depth += (words[at] in _OPENING) - (words[at] in _CLOSING)
        yield at, depth


def _read(words: Sequence[str]) -> Node:
    """Read a part of the text; a parenthesis after a name belongs to that name."""
    if not words:
        raise Unreadable("nothing to read")
    return Reader(tokenize(" ".join(words).replace(" (", "("))).read()


def _read_sum(kind: str, lower: Sequence[str], upper: Sequence[str], tail: Sequence[str]) -> Node:
    relation = next((word for word in ("=", "\\ge", "\\geq") if word in lower), None)
    if relation is None or (relation == "=") != bool(upper):
        raise Unreadable("a sum without bounds")
    at = list(lower).index(relation)
    index, first = _counted(_read(lower[:at])), _read(lower[at + 1 :])
    if index.kind != "sym":
        raise Unreadable("a sum over no name")
    term, remainder = _term(tail, str(index.leaf))
    term = unfolded(term)
    if index.leaf == "i":
        term = _counted(term)
    total = Node(kind, (index, first, _read(upper) if upper else INFINITY, _with_sequences(term, str(index.leaf))))
    return _plus(total, remainder)


def _counted(node: Node) -> Node:
    """The same node with the letter i as an index instead of the imaginary unit."""
    if node == _IMAGINARY:
        return Node("sym", leaf="i")
    return with_parts(node, _counted)


_IMAGINARY = Node("const", leaf="i")


def _term(tail: Sequence[str], index: str) -> tuple[Node, Sequence[str]]:
    """The factors up to a sign outside of brackets, and the rest; all of the text if the index occurs behind it."""
    for at, depth in _depths(tail, 0):
        if depth == 0 and at and tail[at] in "+-" and tail[at - 1] not in ("^", "_", "\\cdot", "\\times", "*", "/"):
            remainder = tail[at:]
            return (_read(tail), ()) if index in remainder else (_read(tail[:at]), remainder)
    return _read(tail), ()


def _plus(node: Node, remainder: Sequence[str]) -> Node:
    return Node("+", (node, _read(remainder))) if remainder else node


def _read_limit(lower: Sequence[str], tail: Sequence[str]) -> Node:
    arrow = next((word for word in ("\\to", "\\rightarrow") if word in lower), None)
    if arrow is None:
        raise Unreadable("a limit without a target")
    at = list(lower).index(arrow)
    variable, target = _read(lower[:at]), list(lower[at + 1 :])
    side = ""
    if len(target) > 2 and target[-2] == "^" and target[-1] in "+-":
        side, target = target[-1], target[:-2]
    elif len(target) > 4 and target[-4:-2] == ["^", "{"] and target[-2] in "+-":
        side, target = target[-2], target[:-4]
    if variable.kind != "sym":
        raise Unreadable("a limit of no name")
    inside, remainder = _term(tail, str(variable.leaf))
    end = _read(target)
    return _plus(Node("lim", (variable, end, end, inside), leaf=side), remainder)


def _read_integral(lower: Sequence[str], upper: Sequence[str], tail: Sequence[str]) -> Node:
    integrand, variable, remainder = _integrand(tail)
    if remainder and remainder[0] not in "+-":
        raise Unreadable("factors after an integral")
    name = _read([variable])
    return _plus(Node("int", (name, _read(lower), _read(upper), _read(integrand or ["1"]))), remainder)


def _integrand(tail: Sequence[str]) -> tuple[Sequence[str], str, Sequence[str]]:
    """The tokens before the differential, its name, and the tokens after it; dx in a numerator counts as 1."""
    nested = 0
    for at, word in enumerate(tail):
        nested += word in _INTEGRALS
        match = _DIFFERENTIAL.fullmatch(word)
        greek = word == "d" and at + 1 < len(tail) and tail[at + 1][0] == "\\"
        if match is None and not greek:
            continue
        if nested:
            nested -= 1
            continue
        name, letters, width = (match[2], match[1], 1) if match else (tail[at + 1], "", 2)
        end = at + width
        if end < len(tail) and tail[end] == "}":
            unit = [] if at and tail[at - 1] != "{" else ["1"]
            return [*tail[:at], *letters, *unit, *tail[end:]], name, ()
        return [*tail[:at], *letters], name, tail[end:]
    raise Unreadable("an integral without a differential")


def _with_sequences(node: Node, index: str) -> Node:
    return _elements_of(node, lambda _, subscript: index in names(subscript))


def _elements_of(node: Node, belongs: Callable[[str, Node], bool]) -> Node:
    """The same tree with subscripted names as elements of a sequence, if they belong to one."""
    if node.kind == "sym" and "_" in str(node.leaf):
        base, _, subscript_text = str(node.leaf).partition("_")
        try:
            subscript = _counted(Reader(tokenize(subscript_text)).read())
        except Unreadable:
            return node
        return Node("apply", (subscript,), base + "_") if belongs(base + "_", subscript) else node
    return with_parts(node, lambda part: _elements_of(part, belongs))


# --- the same by notation

Same = Callable[[Node, Node], bool]


def same_notation(first: Node, second: Node, equal: Same, depth: int = 0) -> bool:
    """Whether two trees are built alike from parts that are the `equal`, whatever the bound names are."""
    if not _binds(first) and not _binds(second):
        return first == second or equal(first, second)
    (scale, binders), (factor, partners) = _factors(first), _factors(second)
    if len(binders) != len(partners) or not (scale == factor or equal(scale, factor)):
        return False
    return all(_same_part(a, b, equal, depth) for a, b in zip(binders, partners, strict=True))


def _factors(node: Node) -> tuple[Node, list[Node]]:
    """Pull factors out of sums and integrals: the factors that depend on no bound name, and the sums and integrals."""
    if not _binds(node):
        return node, []
    if node.kind == "neg":
        scale, binders = _factors(node.args[0])
        return Node("neg", (scale,)), binders
    if node.kind == "/" and not _binds(node.args[1]):
        scale, binders = _factors(node.args[0])
        return Node("/", (scale, node.args[1])), binders
    if node.kind == "*":
        pairs = [_factors(arg) for arg in node.args]
        return Node("*", tuple(scale for scale, _ in pairs)), [part for _, binders in pairs for part in binders]
    if node.kind in ("sum", "int", "lim"):
        return _taken_out(node)
    return _ONE, [node]


_ONE = Node("num", leaf=Fraction(1))


def _taken_out(node: Node) -> tuple[Node, list[Node]]:
    """Pull constant factors out of a sum, integral or limit: the constant, and the rest."""
    index, low, high, term = node.args
    factors = term.args if term.kind == "*" else (term,)
    constant = [factor for factor in factors if not _binds(factor) and not names(index) & names(factor)]
    dependent = [factor for factor in factors if factor not in constant] or [_ONE]
    inside = dependent[0] if len(dependent) == 1 else Node("*", tuple(dependent))
    return Node("*", (_ONE, *constant)), [Node(node.kind, (index, low, high, inside), node.leaf)]


def _same_part(first: Node, second: Node, equal: Same, depth: int) -> bool:
    if (first.kind, first.leaf, len(first.args)) != (second.kind, second.leaf, len(second.args)):
        return False
    if first.kind in BOUND:
        fresh = Node("sym", leaf=f"bound_{depth}")
        first, second = _counted_alike(*(_bound_as(node, fresh) for node in (first, second)))
    return all(same_notation(a, b, equal, depth + 1) for a, b in zip(first.args, second.args, strict=True))


def _binds(node: Node) -> bool:
    return any(part.kind in BOUND for part in node.walk())


def _bound_as(node: Node, name: Node) -> Node:
    index, low, high, term = node.args
    return Node(node.kind, (name, low, high, replace_names(term, {str(index.leaf): name})), node.leaf)


def _counted_alike(first: Node, second: Node) -> tuple[Node, Node]:
    """Both sums with the beginning of the first: the index of the second is shifted by the difference."""
    if first.kind not in ("sum", "prod") or first.args[1] == second.args[1]:
        return first, second
    index, low, high, term = second.args
    shift = Node("+", (low, Node("neg", (first.args[1],))))
    moved = replace_names(term, {str(index.leaf): Node("+", (index, shift))})
    end = high if high == INFINITY else Node("+", (high, Node("neg", (shift,))))
    return first, Node(second.kind, (index, first.args[1], end, moved), second.leaf)
