r"""Finds other meanings of a notation that fit the other side; used only if the first readings differ.

    h(a + b)     a function's value, or h times a + b if the other side has the bare letter h
    CV^2         a name CV, or C times V squared if the other side has the letters apart
    C_5^2        a variable's power, or a binomial coefficient beside a number; C(5, 2) and A_5^2 likewise
    \ell         a name of its own, or l if the other side has that

A second reading must use the letters of the other side. Two answers never both get a second reading.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from verifiers.chemistry.answers import Chemical
from verifiers.commitment import names_alternatives, names_several
from verifiers.math import units, values
from verifiers.math.reader.counts import count
from verifiers.math.tree import Node, replace_names, with_parts

Read = Callable[[str], Node]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text and the node that was read from it."""

    text: str
    node: Node
    is_large: bool = False
    """Whether its value is beyond the limits of computation, and its logarithm, too."""
    chemical: Chemical | None = None
    """What a reference is in chemistry, if it can be read as a formula, an equation, a configuration or a name."""
    is_chemical: bool = False
    """Whether it is nothing else."""


_CAPITALS = re.compile(r"(?<![\\a-zA-Z])[A-Z]{2,4}(?![a-zA-Z])")
_NAMED = re.compile(r"\\(?:vec|over|wide|angle|triangle|measuredangle|bar)|[∠△]")
"""Commands in which letters in a row are names: vectors, lines, angles, triangles."""
_ALIKE = (("l", "\\ell"), ("\\ell", "l"))
"""Names that are written in either way; the second is read as the first only if the other side has it alone."""
_CHOOSE = re.compile(r"([CAP])_(\d{1,4})")
_FUNCTIONS = frozenset(["\\Gamma", "\\zeta", "\\Phi", "\\phi", "\\psi", "\\Psi"])


def others(node: Node, text: str, opposite: Node, read_apart: Read) -> Iterator[Node]:
    """Other readings of `node`, which was read from `text`, that fit the other side."""
    names = values.names(opposite)
    if any(part.kind == "quantity" and set(str(part.leaf)) <= names for part in node.walk()):
        yield _as_letters(node, names)
    if any(part.kind == "apply" and str(part.leaf) in names for part in node.walk()):
        yield _as_factors(node, names - _FUNCTIONS)
    mine = values.names(node)
    for look_alike, letter_meant in _ALIKE:
        if look_alike in mine - names and letter_meant in names - mine:
            yield replace_names(node, {look_alike: Node("sym", leaf=letter_meant)})
    is_alone = node.kind == "text" and _CAPITALS.fullmatch(text.strip(" $")) and opposite.kind == "*"
    if is_alone or (
        node.kind != "text" and not _NAMED.search(text) and _CAPITALS.search(text) and not _has_long_name(opposite)
    ):
        yield read_apart(text)
    if not names and (spelled := _with_unit(node)) is not None:
        yield spelled
    if not names and opposite.kind not in ("text", "prose"):
        counted = _as_counts(node)
        if counted != node:
            yield counted


def chosen(text: str, reference: str) -> Node | None:
    r"""The letter of a choice that is given with its text, `(b) $\theta^2$`, if the reference is such a letter alone."""
    letter = _CHOICE.match(text)
    if _CHOICE.fullmatch(reference) is None or letter is None or _CHOICE.search(text, letter.end()):
        return None
    tail = text[letter.end() :]
    is_text = tail[:1].isspace() and tail.strip()[:1] not in "+-*/^=<>"
    return Node("sym", leaf=letter[1]) if is_text and not names_several(tail) and not names_alternatives(text) else None


_CHOICE = re.compile(r"\(([A-Ja-j])\)")


def both_apart(reference: Reading, answer: Reading, read_apart: Read) -> tuple[Node, Node] | None:
    """Both with capitals as factors: `PV/nR` beside `VP/nR`. A name that stands alone stays one name."""
    if {reference.node.kind, answer.node.kind} & {"text", "sym", "prose", "list"}:
        return None
    if _NAMED.search(reference.text) or _NAMED.search(answer.text):
        return None
    names = [sorted("".join(_CAPITALS.findall(reading.text))) for reading in (reference, answer)]
    if not names[0] or names[0] != names[1] or reference.text == answer.text:
        return None
    return read_apart(reference.text), read_apart(answer.text)


def _with_unit(node: Node) -> Node | None:
    r"""A product with a unit as its last letters, as a quantity: `2\pi cm`."""
    if node.kind != "*":
        return None
    last = max((index for index, arg in enumerate(node.args) if arg.kind != "sym"), default=-1)
    letters = "".join(str(arg.leaf) for arg in node.args[last + 1 :])
    unit = units.key(letters.replace("_odot", "☉")) if last >= 0 and len(letters) > 1 else None
    if unit is None or not units.is_known(unit):
        return None
    value = node.args[0] if last == 0 else Node("*", node.args[: last + 1])
    return Node("quantity", (value,), unit)


def _as_factors(node: Node, names: frozenset[str]) -> Node:
    """`h(x)` as h · x, for each h that is a letter of its own on the other side."""
    node = with_parts(node, lambda part: _as_factors(part, names))
    is_factor = node.kind == "apply" and str(node.leaf) in names and len(node.args) == 1
    return Node("*", (Node("sym", leaf=node.leaf), *node.args)) if is_factor else node


def _as_letters(node: Node, names: frozenset[str]) -> Node:
    """A seeming unit as the product of its letters, if the other side has all of them as variables."""
    node = with_parts(node, lambda part: _as_letters(part, names))
    is_product = node.kind == "quantity" and set(str(node.leaf)) <= names
    return Node("*", (*node.args, *(Node("sym", leaf=letter) for letter in str(node.leaf)))) if is_product else node


def _has_long_name(node: Node) -> bool:
    return any(
        part.kind in ("sym", "text") and len(str(part.leaf)) > 1 and str(part.leaf).isupper() for part in node.walk()
    )


def _as_counts(node: Node) -> Node:
    """Read numbers of combinations and arrangements: C_n^k, C(n, k), A_n^k, P(n, k)."""
    node = with_parts(node, _as_counts)
    if node.kind == "^" and node.args[0].kind == "sym" and (match := _CHOOSE.fullmatch(str(node.args[0].leaf))):
        return count(match[1], Node("num", leaf=Fraction(match[2])), node.args[1]) or node
    if node.kind == "apply" and node.leaf in ("C", "A", "P") and len(node.args) == 1 and node.args[0].kind == "list":
        arguments = node.args[0].args
        return (count(str(node.leaf), *arguments) if len(arguments) == 2 else None) or node
    return node
