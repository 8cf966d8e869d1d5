"""Which atoms of a formula are neighbours, as far as its notation says so.

    CH3CH(OH)CH3     CH3 - CH - CH3        and so have  CH3CH(CH3)OH,  HOCH(CH3)2,  (CH3)2CHOH
                           |
                           OH

Hydrogen and halogens belong to the atom before them, at the beginning to the one behind them. A group in brackets hangs
on the atom before it, at the beginning on the one behind it; `(CH2)4` is part of the chain. Metals hang on nothing, so
that `NaCH3COO` is `CH3COONa`. This is a matter of notation: that both oxygen atoms of `COOH` are on its carbon is not
known here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeVar, Union

Atom = tuple[str, int | None]
"""The symbol, and the mass number if it is named."""
Number = int | Fraction
Counted = tuple[Union[Atom, "Group"], Number]

K = TypeVar("K")

_MAX_ATOMS: Final = 200
_ENDS: Final = frozenset(["H", "F", "Cl", "Br", "I"])
_LINKS: Final = frozenset(["B", "C", "N", "O", "Si", "P", "S", "As", "Se", "Te"])


def summed(pairs: Iterable[tuple[K, Number]]) -> dict[K, Number]:
    counts: dict[K, Number] = {}
    for key, count in pairs:
        counts[key] = counts.get(key, 0) + count
    return counts


@dataclass
class Group:
    """A part in brackets, or the whole."""

    bracket: str = ""
    nodes: list[Counted] = field(default_factory=list)
    charge: Number = 0

    def atoms(self) -> tuple[tuple[Atom, Number], ...]:
        """Each atom once, sorted."""
        nodes = ((node.atoms() if isinstance(node, Group) else ((node, 1),), count) for node, count in self.nodes)
        counts = summed((atom, count * times) for atoms, times in nodes for atom, count in atoms)
        return tuple(sorted(counts.items(), key=lambda pair: (pair[0][0], pair[0][1] or 0)))

    def symbols(self) -> Iterator[str]:
        """The symbol of each atom as often as it is written."""
        for node, _ in self.nodes:
            if isinstance(node, Group):
                yield from node.symbols()
            else:
                yield node[0]


def shape(group: Group) -> str:
    """A text that is the same for formulas with the same neighbours."""
    try:
        graph = _Graph()
        graph.add(group.nodes, None)
    except OverflowError:
        return repr(group.nodes)
    return "+".join(sorted(graph.components()))


class _Graph:
    """Atoms with the hydrogen and the halogens on them. It has no cycles."""

    def __init__(self) -> None:
        self._symbols: list[str] = []
        self._ends: list[Counter[str]] = []
        self._neighbours: list[list[int]] = []

    def add(self, nodes: Sequence[Counted], outer: int | None) -> None:
        """Add the atoms of a group that hangs on the atom `outer`."""
        last: int | None = None
        leaves: Counter[str] = Counter()
        groups: list[Group] = []
        for node, count in nodes:
            if isinstance(node, Group):
                chain = _chain(node, count)
                copies = [node] * (_whole(count) if chain is None else 0)
                if last is None and chain is None:
                    groups += copies
                else:
                    for _ in range(chain or 0):
                        last = self._atom("C", last if last is not None else outer)
                        self._ends[last]["H"] += 2
                    for group in copies:
                        self.add(group.nodes, last)
            elif node[0] in _ENDS:
                (leaves if last is None else self._ends[last])[_name(node)] += _whole(count)
            else:
                is_residue = node[0] == "C" and count > 1  # `C6H5` is one part: nothing is said of what is in it
                for _ in range(1 if is_residue else _whole(count)):
                    name = f"{count}{_name(node)}" if is_residue else _name(node)
                    last = self._atom(name, last if last is not None else outer)
                    self._ends[last] += leaves
                    for group in groups:
                        self.add(group.nodes, last)
                    leaves, groups = Counter(), []
        if leaves or groups:  # nothing but hydrogen, halogens or groups
            last = self._atom("", outer)
            self._ends[last] += leaves
            for group in groups:
                self.add(group.nodes, last)

    def _atom(self, name: str, neighbour: int | None) -> int:
        if len(self._symbols) >= _MAX_ATOMS:
            raise OverflowError
        self._symbols.append(name)
        self._ends.append(Counter())
        self._neighbours.append([])
        atom = len(self._symbols) - 1
        if (
            neighbour is not None
            and {name.lstrip("0123456789"), self._symbols[neighbour].lstrip("0123456789")} <= _LINKS
        ):
            self._neighbours[atom].append(neighbour)
            self._neighbours[neighbour].append(atom)
        return atom

    def components(self) -> Iterator[str]:
        """Each connected part, as it looks from its middle."""
        unseen = set(range(len(self._symbols)))
        while unseen:
            part = [unseen.pop()]
            for atom in part:
                new = unseen.intersection(self._neighbours[atom])
                unseen -= new
                part += new
            yield max(self._seen_from(middle, None) for middle in self._middles(part))

    def _middles(self, part: Sequence[int]) -> list[int]:
        degrees = {atom: len(self._neighbours[atom]) for atom in part}
        while len(degrees) > 2:
            leaves = [atom for atom, degree in degrees.items() if degree <= 1]
            for leaf in leaves:
                del degrees[leaf]
                for neighbour in self._neighbours[leaf]:
                    if neighbour in degrees:
                        degrees[neighbour] -= 1
        return list(degrees)

    def _seen_from(self, atom: int, previous: int | None) -> str:
        leaves = "".join(f"{name}{count}" for name, count in sorted(self._ends[atom].items()))
        branches = sorted(self._seen_from(near, atom) for near in self._neighbours[atom] if near != previous)
        return f"{self._symbols[atom]}{leaves}({''.join(branches)})"


def _chain(group: Group, count: Number) -> int | None:
    """The length of a part of a chain: `(CH2)4`."""
    is_part = group.nodes == [(("C", None), 1), (("H", None), 2)]
    return _whole(count) if is_part and count > 1 else None


def _name(atom: Atom) -> str:
    return f"{atom[1] or ''}{atom[0]}"


def _whole(count: Number) -> int:
    if count.denominator != 1 or count > _MAX_ATOMS:
        raise OverflowError
    return int(count)
