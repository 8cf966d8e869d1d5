"""Decides whether two answers that were read are the same answer."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from verifiers.commitment import same_truths
from verifiers.math import algebra, huge, members, relations, symbolic, values
from verifiers.math.canonical import canonical
from verifiers.math.exact import Tolerance
from verifiers.math.families import (
    as_family,
    family,
    is_conditional,
    level_of,
    same_family,
    same_up_to_constants,
    same_without_constant,
)
from verifiers.math.integers import integers, listed
from verifiers.math.members import LISTS, Members
from verifiers.math.options import Options
from verifiers.math.piecewise import same_by_cases
from verifiers.math.quantities import same_moment, same_quantity
from verifiers.math.reals import FLIPPED, PAIRS, Reals, reals
from verifiers.math.relations import Rounded
from verifiers.math.shapes import (
    RELATIONS,
    STRUCTURES,
    TUPLES,
    as_tuple,
    each_named,
    labelled_point,
    may_be_moment,
    names_in_order,
    outermost_values,
    same_letters,
    words_of,
)
from verifiers.math.tree import Node, TooComplex, replace_names
from verifiers.math.values import NoValue
from verifiers.math.values.comparing import check, check_breaks

_NAMED_SETS = {"all real numbers": Node("sym", leaf="mathbb R"), "all integers": Node("sym", leaf="mathbb Z")}


class Comparison:
    """Compares two nodes; `reference` is always the left side."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._tolerance = options.tolerance
        self.method = "value"
        """How the two were compared; `symbolic` once sympy was asked."""
        self.is_large = False
        """Whether the comparison met a value beyond the limits of computation."""

    def checks(self, reference: Node) -> bool:
        """Whether a reference can be compared at all: every value in it is computed at one point.

        Raises:
            TooComplex: sympy cannot evaluate it.
            Unreadable: it holds a sum or an integral that sympy does not read.
        """
        for part in outermost_values(reference):
            try:
                if symbolic.is_big(part):
                    symbolic.check_value(part)
                else:
                    self._check_value(part)
            except NoValue:
                continue
        return self.equal(reference, reference)

    def exhaust(self, reference: Node) -> None:
        """Compute a reference at all points, as a comparison with an equal answer does, to find out what that costs."""
        for part in outermost_values(reference):
            if not symbolic.is_big(part):
                with suppress(NoValue, TooComplex, RecursionError):
                    self._same_value(part, part)

    def is_large_beside_breaks(self, reference: Node) -> bool:
        """Whether a reference has values beyond the limits beside a break, where any equal answer has them, too."""
        try:
            for part in outermost_values(reference):
                if not symbolic.is_big(part):
                    check_breaks(part)
        except TooComplex:
            return True
        return False

    def _check_value(self, part: Node) -> None:
        try:
            check(part)
        except TooComplex:
            self.is_large = True

    def equal(self, reference: Node, answer: Node) -> bool:
        """Whether the two are the same answer.

        Raises:
            TooComplex: deciding needs a value beyond the limits.
            Unreadable: the answer holds a sum or an integral that sympy does not read.
        """
        reference, answer = canonical(reference), canonical(answer)
        if reference == answer:
            return True
        for compare in _ORDER:
            verdict = compare(self, reference, answer)
            if verdict is not None:
                return verdict
        return self._expressions(reference, answer)

    # families and sentences

    def _families(self, reference: Node, answer: Node) -> bool | None:
        """Compare answers with conditions; None if neither side has any."""
        if "where" not in (reference.kind, answer.kind):
            return None
        if reference.kind != "where" and is_conditional(answer):
            return False
        reference, answer = as_family(reference), as_family(answer)
        return same_family(family(reference), family(answer), self.equal)

    def _sentences(self, reference: Node, answer: Node) -> bool | None:
        """Compare sentences: they are equal if they have the same words around equal formulas."""
        if "prose" not in (reference.kind, answer.kind):
            return None
        return reference.kind == answer.kind and self._in_order(reference.args, answer.args)

    # words

    def _words(self, reference: Node, answer: Node) -> bool | None:
        if "text" not in (reference.kind, answer.kind):
            return None
        left, right = words_of(reference), words_of(answer)
        if left in _NAMED_SETS and right is None:
            return self.equal(_NAMED_SETS[left], answer)
        if right in _NAMED_SETS and left is None:
            return self.equal(reference, _NAMED_SETS[right])
        if (truths := same_truths(left or "")) is not None:
            return right in truths
        return left is not None and (left == right or {left, right} == {"all real numbers", "r"})

    # relations

    def _relations(self, reference: Node, answer: Node) -> bool | None:
        left, right = reference.kind in RELATIONS, answer.kind in RELATIONS
        if not left and not right:
            return None
        if (sets := self._sets(reference, answer)) is not None:
            return sets
        one, two = each_named(reference, answer), each_named(answer, reference)
        if one is not reference or two is not answer:
            return self.equal(one, two)
        if any("approx" in (node.kind, *str(node.leaf).split()) for node in (reference, answer)):
            return self._rounded(reference, answer)
        if left and right:
            return self._two_relations(reference, answer)
        value = relations.assigned(reference if left else answer)
        if value is None and right and not values.names(reference):
            value = relations.total(answer)
        if value is None:
            return False
        return self.equal(value, answer) if left else self.equal(reference, value)

    def _two_relations(self, reference: Node, answer: Node) -> bool:
        if reference.kind == answer.kind == "cong":
            return self._congruences(reference, answer)
        reference, answer = relations.turned(reference), relations.turned(answer)
        left, right = relations.assigned(reference), relations.assigned(answer)
        if left is not None and right is not None and relations.same_label(reference.args[0], answer.args[0]):
            names = relations.renamed_arguments(reference.args[0], answer.args[0])
            is_free = not {str(new.leaf) for new in names.values()} & (values.names(right) - set(names))
            return is_free and self._same_solution(left, replace_names(right, names))
        if "chain" in (reference.kind, answer.kind):
            return self._chains(reference, answer)
        flipped = FLIPPED.get(answer.kind)
        if reference.kind in ("=", "!=") and reference.kind == answer.kind:
            return self._same_equation(reference.args, answer.args, is_equality=reference.kind == "=")
        if reference.kind in FLIPPED and reference.kind in (answer.kind, flipped):
            sides = answer.args if reference.kind == answer.kind else answer.args[::-1]
            return self._in_order(reference.args, sides) or relations.proportional(reference.args, sides, positive=True)
        return reference.kind == answer.kind and self._in_order(reference.args, answer.args)

    def _same_solution(self, reference: Node, answer: Node) -> bool:
        """Whether two relations give the same value to one name; the arbitrary constant may have another name."""
        if self.equal(reference, answer):
            return True
        try:
            return same_up_to_constants(reference, answer, is_solution=True)
        except (NoValue, TooComplex):
            return False

    def _same_equation(self, reference: Sequence[Node], answer: Sequence[Node], is_equality: bool) -> bool:
        if self._in_order(reference, answer) or self._in_order(reference, answer[::-1]):
            return True
        left, right = level_of(reference), level_of(answer)
        if (left is None or right is None) and relations.are_about_others(reference, answer):
            return False
        if relations.proportional(reference, answer, positive=False):
            return True
        if not is_equality:
            return False
        if left is not None and right is not None and self._same_solution(left, right):
            return True
        return relations.same_when_solved(reference, answer)

    def _rounded(self, reference: Node, answer: Node) -> bool:
        """Compare values that are said to be near a decimal: by value if both have one, otherwise by their digits."""
        labels = [relations.label(node) for node in (reference, answer)]
        if labels[0] is not None and labels[1] is not None and not relations.same_label(labels[0], labels[1]):
            return False
        left, right = self._said(reference), self._said(answer)
        if left is None or right is None:
            return False
        if left.exact is not None and right.exact is not None and self.equal(left.exact, right.exact):
            return True
        if left.near is None:
            return left.exact is not None and right.near is not None and self.equal(left.exact, right.near)
        if right.exact is not None:
            is_decimal = left.exact is None or relations.last_place(right.exact) is not None
            return is_decimal and relations.is_near(left.near, right.exact)
        return right.near is not None and relations.is_near(left.near, right.near)

    def _said(self, node: Node) -> Rounded | None:
        if (found := relations.rounded(node)) is not None or "approx" in (node.kind, *str(node.leaf).split()):
            return found
        value = relations.assigned(node) if node.kind in RELATIONS else node
        return None if value is None else Rounded(value, None)

    def _chains(self, reference: Node, answer: Node) -> bool:
        if reference.kind != answer.kind:
            return False
        operators = str(answer.leaf).split()
        if reference.leaf == answer.leaf and self._in_order(reference.args, answer.args):
            return True
        turned = " ".join(FLIPPED.get(operator, operator) for operator in reversed(operators))
        return reference.leaf == turned and self._in_order(reference.args, answer.args[::-1])

    def _congruences(self, reference: Node, answer: Node) -> bool:
        if len(reference.args) != 3 or len(answer.args) != 3:
            return self._in_order(reference.args, answer.args)
        left, right, modulus = reference.args
        unsaid = Node("sym", leaf="")
        if not self.equal(modulus, answer.args[2]):
            return False
        if unsaid not in (left, answer.args[0]) and not self.equal(left, answer.args[0]):
            return False
        remainder = Node("mod", (relations.difference((right, answer.args[1])), modulus))
        try:
            return values.exact(remainder) == 0 or self.equal(right, answer.args[1])
        except NoValue:
            return False

    # sets of reals

    def _sets(self, reference: Node, answer: Node) -> bool | None:
        """Compare two sets of reals; None unless both are such sets, and for two plain pairs such as (1, 2)."""
        if reference.kind in PAIRS and answer.kind in PAIRS:
            return None
        left, right = reals(reference), reals(answer)
        if left is None or right is None:
            return None
        if left.variable is not None and right.variable is not None and left.variable != right.variable:
            return None if reference.kind in FLIPPED and answer.kind in FLIPPED else False
        return self._same_reals(left, right)

    def _integers(self, reference: Node, answer: Node) -> bool | None:
        """Compare two sets of integers; None unless a condition makes one of them such a set."""
        left, right = integers(reference), integers(answer)
        if left and right:
            return any(one in right for one in left)
        if not left and not right:
            return None
        found, other = (left, answer) if left else (right, reference)
        if other.kind == "suchthat":
            return None
        lists = [written for spans in found if (written := listed(spans)) is not None]
        return any(self.equal(written, other) if left else self.equal(other, written) for written in lists)

    # points

    def _points(self, reference: Node, answer: Node) -> bool | None:
        """Compare points such as A(1, 2): the coordinates must be equal, and the labels too if both have one."""
        left, right = labelled_point(reference), labelled_point(answer)
        if left is not None and right is not None:
            return left[0] == right[0] and self._in_order(left[1].args, right[1].args)
        found, other = (left, answer) if left is not None else (right, reference)
        if found is None or other.kind not in (*PAIRS, "matrix", "brace"):
            return None
        if found[0] in (_NO_LABELS if left is not None else _DISTRIBUTIONS):
            return False
        return self.equal(found[1], other) if left is not None else self.equal(other, found[1])

    def _same_reals(self, left: Reals, right: Reals) -> bool:
        if len(left.pieces) != len(right.pieces):
            return False
        return all(
            (one.low_open, one.high_open) == (two.low_open, two.high_open)
            and self.equal(one.low, two.low)
            and self.equal(one.high, two.high)
            for one, two in zip(left.pieces, right.pieces, strict=True)
        )

    # elements

    def _elements(self, reference: Node, answer: Node) -> bool | None:
        if reference.kind in LISTS or answer.kind in LISTS:
            return self._lists(reference, answer)
        if "ratio" in (reference.kind, answer.kind):
            return self._ratios(reference, answer)
        if reference.kind in TUPLES or answer.kind in TUPLES:
            reference, answer = as_tuple(reference, answer), as_tuple(answer, reference)
            same_shape = reference.kind == answer.kind and reference.leaf == answer.leaf
            return same_shape and self._in_order(reference.args, answer.args)
        if "cases" in (reference.kind, answer.kind):
            return self._by_cases(reference, answer)
        if reference.kind != answer.kind or reference.kind not in STRUCTURES:
            return None if not {reference.kind, answer.kind} & STRUCTURES else False
        if reference.leaf != answer.leaf:
            return False
        if reference.kind in ("union", "cap"):
            return members.match_in_any_order(reference.args, answer.args, self.equal)
        if reference.kind == "suchthat":
            return self._conditions(reference, answer)
        return self._in_order(reference.args, answer.args)

    def _by_cases(self, reference: Node, answer: Node) -> bool:
        """Compare functions by cases: case by case, or as functions."""
        if reference.kind == answer.kind and members.match_in_any_order(reference.args, answer.args, self.equal):
            return True
        return all(
            node.kind == "cases" or node.kind not in STRUCTURES for node in (reference, answer)
        ) and same_by_cases(reference, answer, self.equal)

    def _lists(self, reference: Node, answer: Node) -> bool:
        if any(node.kind in TUPLES for node in (reference, answer)):
            return self._list_and_tuple(reference, answer)
        left, right = members.members(reference), members.members(answer)
        if not (self._same_connection(left, right) and self._same_nesting(left, right)):
            return False
        if self._options.ordered or (left.are_truths and right.are_truths and "brace" not in (left.kind, right.kind)):
            return self._in_order(left.items, right.items)
        if any(item.leaf == "ldots" for item in (*left.items, *right.items)):
            return self._in_order(left.items, right.items)
        if left.are_distinct != right.are_distinct:
            return self._by_position(left, right)
        items = self._without_common_names(left, right)
        one, two = (
            members.without_repetitions(found, self.equal)
            if held.kind in ("brace", "or") or _are_points(found)
            else found
            for held, found in zip((left, right), items, strict=True)
        )
        return members.match_in_any_order(one, two, self.equal)

    def _same_connection(self, left: Members, right: Members) -> bool:
        """Whether both lists are connected alike: `or` differs from `and`, unless the elements are only values."""
        if {left.said, right.said} == {"or", "and"}:
            return not left.are_statements and not right.are_statements
        return True

    def _same_nesting(self, left: Members, right: Members) -> bool:
        """Whether both are nested alike: a set that holds one set differs from that set."""
        for held, other in ((left, right), (right, left)):
            if held.kind == "brace" and not other.kind and len(held.items) == 1:
                only = held.items[0]
                return only.leaf != "emptyset" and only.kind not in ("brace", "suchthat", "union", "cap", "setminus")
        return True

    def _by_position(self, left: Members, right: Members) -> bool:
        """Compare named elements with bare values by position; alternatives and sets have no positions."""
        bare = right if left.are_distinct else left
        if any(bare.names) or bare.kind in ("brace", "or"):
            return False
        return self._in_order(left.items, right.items)

    def _without_common_names(self, left: Members, right: Members) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """The solutions of one unknown on both sides as bare values, however the unknown is numbered."""
        if not (left.are_solutions and right.are_solutions):
            return left.items, right.items
        unknowns = {name.partition("_")[0] for name in (*left.names, *right.names)}
        if len(unknowns) > 1 or any(name.startswith("unit ") for name in left.names):
            return left.items, right.items
        return members.values_of(left), members.values_of(right)

    def _list_and_tuple(self, reference: Node, answer: Node) -> bool:
        held, other = (reference, answer) if reference.kind in LISTS else (answer, reference)
        if held.kind == "brace" and len(held.args) == 1 and held.args[0].kind in TUPLES:
            return self.equal(*((held.args[0], other) if held is reference else (other, held.args[0])))
        coordinates = members.as_coordinates(members.members(held))
        is_list = other.kind == "bracket" and len(other.args) > 2
        if coordinates is None or not (other.kind == "paren" or is_list):
            return False
        return self._in_order(*((coordinates, other.args) if held is reference else (other.args, coordinates)))

    def _ratios(self, reference: Node, answer: Node) -> bool:
        """Compare ratios: they may be scaled, a ratio of two is their quotient, and a time of day is not a ratio."""
        if reference.kind == answer.kind and self._in_order(reference.args, answer.args):
            return True
        left, right = (node.args if node.kind == "ratio" else (node, values.ONE) for node in (reference, answer))
        if len(left) != len(right) or (
            reference.kind == answer.kind and may_be_moment(reference) and may_be_moment(answer)
        ):
            return False
        try:
            return all(
                values.same(Node("*", (one, right[0])), Node("*", (two, left[0])))
                for one, two in zip(left[1:], right[1:], strict=True)
            )
        except NoValue:
            return False

    def _conditions(self, reference: Node, answer: Node) -> bool:
        """Compare the conditions of {element | condition}; the names of bound variables do not count."""
        bound, given = (list(names_in_order(node.args[0])) for node in (reference, answer))
        if len(bound) != len(given):
            return False
        names = {name: Node("sym", leaf=other) for name, other in zip(given, bound, strict=True)}
        return self._in_order(reference.args, [replace_names(arg, names) for arg in answer.args])

    def _in_order(self, left: Sequence[Node], right: Sequence[Node]) -> bool:
        return len(left) == len(right) and all(self.equal(one, two) for one, two in zip(left, right, strict=True))

    # quantities and values

    def _quantities(self, reference: Node, answer: Node) -> bool | None:
        return same_quantity(reference, answer, self._options.unit_policy, self.equal)

    def _moments(self, reference: Node, answer: Node) -> bool | None:
        return same_moment(reference, answer)

    def _choices(self, reference: Node, answer: Node) -> bool | None:
        """Compare choices such as `B. 42`: by letter if the other side has one, else by the text. `b` equals `B`."""
        if "option" not in (reference.kind, answer.kind):
            is_letter = reference.kind == answer.kind == "sym" and str(reference.leaf) in _CHOICES
            if is_letter and str(answer.leaf).upper() == reference.leaf:
                return True
            return same_letters(reference, answer)
        if reference.kind == answer.kind:
            return reference.args[0] == answer.args[0]
        option, other = (reference, answer) if reference.kind == "option" else (answer, reference)
        if other.kind == "sym" and str(other.leaf) in _CHOICES:
            return other == option.args[0]
        rest = option.args[1]
        return self.equal(rest, other) if option is reference else self.equal(other, rest)

    def _percents(self, reference: Node, answer: Node) -> bool | None:
        """Compare with a percent sign on one side only: it is a hundredth, or a unit that may be left out.

        A reference without the sign has one of the two meanings, so that not both 4 % and 400 % are right for 4: beyond 1
        it is a number of percent, otherwise a share.
        """
        if (reference.kind == "%") == (answer.kind == "%"):
            return None
        may_be_unit = self._options.percent == "unit" and self._is_beyond_one(reference)
        if answer.kind == "%" and may_be_unit:
            return self._expressions(reference, answer.args[0])
        if self._expressions(reference, answer):
            return True
        return may_be_unit and self._expressions(reference.args[0], answer)

    def _is_beyond_one(self, node: Node) -> bool:
        value = values.exact_or_none(node.args[0] if node.kind == "%" else node)
        return value is not None and abs(value) > 1

    def _based(self, reference: Node, answer: Node) -> bool | None:
        """Compare digits in a base: they equal the same value, and the same digits without the base."""
        if reference.kind != "based" or answer.kind != "num":
            return None
        return str(answer.leaf) == str(reference.leaf).split("_")[0]

    def _expressions(self, reference: Node, answer: Node) -> bool:
        if symbolic.is_big(reference) or symbolic.is_big(answer):
            self.method = "symbolic"
            return symbolic.same(reference, answer)
        try:
            if self._same_value(reference, answer) or same_up_to_constants(reference, answer):
                return True
            if self._options.constant == "optional" and same_without_constant(reference, answer):
                return True
            if self._tolerance != Tolerance() and not values.names(reference) and not values.names(answer):
                return values.close(reference, answer, self._tolerance.absolute, self._tolerance.relative)
        except NoValue:
            return self._same_shape(reference, answer)
        return False

    def _same_value(self, reference: Node, answer: Node) -> bool:
        try:
            return values.same(reference, answer)
        except TooComplex:
            self.is_large = True
        if not values.names(reference) and not values.names(answer):
            try:
                return huge.same(reference, answer)
            except TooComplex:
                pass
        if (verdict := algebra.same(reference, answer)) is not None:
            return verdict
        if huge.differ_somewhere(reference, answer):
            return False
        if self._same_shape(reference, answer):
            return True
        raise TooComplex("values beyond the limits, and different forms")

    def _same_shape(self, reference: Node, answer: Node) -> bool:
        """Compare nodes without a value: the same notation around equal parts; symmetric relations may swap sides."""
        if (reference.kind, reference.leaf) != (answer.kind, answer.leaf) or not reference.args:
            return False
        if reference.kind in _SYMMETRIC and self._in_order(reference.args, answer.args[::-1]):
            return True
        return self._in_order(reference.args, answer.args)


def _are_points(items: Sequence[Node]) -> bool:
    """Whether items are solutions or points; in a list of those, a repeated one counts once."""
    return all(item.kind in TUPLES for item in items)


_SYMMETRIC = ("parallel", "perp", "sim", "iff")
_ORDER: tuple[Callable[[Comparison, Node, Node], bool | None], ...] = (
    Comparison._choices,
    Comparison._moments,
    Comparison._families,
    Comparison._sentences,
    Comparison._words,
    Comparison._points,
    Comparison._integers,
    Comparison._relations,
    Comparison._sets,
    Comparison._elements,
    Comparison._quantities,
    Comparison._percents,
    Comparison._based,
)
_DISTRIBUTIONS = frozenset("NU")
_NO_LABELS = frozenset("BCEFGINPU")
"""Capitals that before two arguments do not name a point in a reference: P(5, 2), N(0, 1), F(x, y)."""
_CHOICES = frozenset("ABCDEFGHIJ")
