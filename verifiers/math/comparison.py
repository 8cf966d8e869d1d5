"""Decides whether two answers that were read are the same answer."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType

from verifiers.commitment import same_truths
from verifiers.math import algebra, huge, members, relations, values
from verifiers.math.binders import is_big
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
from verifiers.math.words import is_extreme

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
                if is_big(part):
                    _symbolic().check_value(part)
                else:
                    self._check_value(part)
            except NoValue:
                continue
        return self.equal(reference, reference)

    def exhaust(self, reference: Node) -> None:
        """Compute a reference at all points, as a comparison with an equal answer does, to find out what that costs."""
        for part in outermost_values(reference):
            if not is_big(part):
                with suppress(NoValue, TooComplex, RecursionError):
                    self._same_value(part, part)

    def is_large_beside_breaks(self, reference: Node) -> bool:
        """Whether a reference has values beyond the limits beside a break, where any equal answer has them, too."""
        try:
            for part in outermost_values(reference):
                if values.names(part) and not is_big(part):
                    check_breaks(part)
        except TooComplex:
            return True
        return False

    def _check_value(self, part: Node) -> None:
        """Compute a part; a constant that is only too large to be written is told from others by its logarithm."""
        try:
            check(part)
        except TooComplex:
            self.is_large = self.is_large or bool(values.names(part)) or not huge.has_logarithm(part)

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
        """Compare sentences: they are equal if they have the same words around equal formulas. "Smallest n = 5" is n = 5."""
        if "prose" not in (reference.kind, answer.kind):
            return None
        if reference.kind != "prose" and [part.kind for part in answer.args] == ["text", "="]:
            return is_extreme(str(answer.args[0].leaf)) and self.equal(reference, answer.args[1])
        return reference.kind == answer.kind and self._in_order(reference.args, answer.args)

    # words

    def _words(self, reference: Node, answer: Node) -> bool | None:
        if "text" not in (reference.kind, answer.kind):
            return None
        lhs, rhs = words_of(reference), words_of(answer)
        if lhs in _NAMED_SETS and rhs is None:
            return self.equal(_NAMED_SETS[lhs], answer)
        if rhs in _NAMED_SETS and lhs is None:
            return self.equal(reference, _NAMED_SETS[rhs])
        if (truths := same_truths(lhs or "")) is not None:
            return rhs in truths
        return lhs is not None and (lhs == rhs or {lhs, rhs} == {"all real numbers", "r"})

    # relations

    def _relations(self, reference: Node, answer: Node) -> bool | None:
        reference_relates, answer_relates = reference.kind in RELATIONS, answer.kind in RELATIONS
        if not reference_relates and not answer_relates:
            return None
        if (sets := self._sets(reference, answer)) is not None:
            return sets
        if relations.concluded(reference) is reference and (conclusion := relations.concluded(answer)) is not answer:
            return self.equal(reference, conclusion)
        reference_named, answer_named = each_named(reference, answer), each_named(answer, reference)
        if reference_named is not reference or answer_named is not answer:
            return self.equal(reference_named, answer_named)
        if any("approx" in (node.kind, *str(node.leaf).split()) for node in (reference, answer)):
            return self._rounded(reference, answer)
        if reference_relates and answer_relates:
            return self._two_relations(reference, answer)
        if reference.kind == "cong" and answer.kind == "mod":  # `2 \bmod 5` names the class `2 \pmod 5`
            return self._congruences(reference, Node("cong", (Node("sym", leaf=""), *answer.args)))
        value = relations.assigned(reference if reference_relates else answer)
        if value is None and answer_relates and not values.names(reference):
            value = relations.total(answer)
        if value is None:
            return False
        return self.equal(value, answer) if reference_relates else self.equal(reference, value)

    def _two_relations(self, reference: Node, answer: Node) -> bool:
        if reference.kind == answer.kind == "cong":
            return self._congruences(reference, answer)
        reference, answer = relations.turned(reference), relations.turned(answer)
        lhs, rhs = relations.assigned(reference), relations.assigned(answer)
        if lhs is not None and rhs is not None and relations.same_label(reference.args[0], answer.args[0]):
            names = relations.renamed_arguments(reference.args[0], answer.args[0])
            is_free = not {str(new.leaf) for new in names.values()} & (values.names(rhs) - set(names))
            return is_free and self._same_solution(lhs, replace_names(rhs, names))
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
        lhs, rhs = level_of(reference), level_of(answer)
        if (lhs is None or rhs is None) and relations.are_about_others(reference, answer):
            return False
        if relations.proportional(reference, answer, positive=False):
            return True
        if not is_equality:
            return False
        if lhs is not None and rhs is not None and self._same_solution(lhs, rhs):
            return True
        return relations.same_when_solved(reference, answer)

    def _rounded(self, reference: Node, answer: Node) -> bool:
        """Compare values that are said to be near a decimal: by value if both have one, otherwise by their digits."""
        labels = [relations.label(node) for node in (reference, answer)]
        if labels[0] is not None and labels[1] is not None and not relations.same_label(labels[0], labels[1]):
            return False
        lhs, rhs = self._said(reference), self._said(answer)
        if lhs is None or rhs is None:
            return False
        if lhs.exact is not None and rhs.exact is not None and self.equal(lhs.exact, rhs.exact):
            return True
        if lhs.near is None:
            return lhs.exact is not None and rhs.near is not None and self.equal(lhs.exact, rhs.near)
        if rhs.exact is not None:
            is_decimal = lhs.exact is None or relations.last_place(rhs.exact) is not None
            return is_decimal and relations.is_near(lhs.near, rhs.exact)
        return rhs.near is not None and relations.is_near(lhs.near, rhs.near)

    def _said(self, node: Node) -> Rounded | None:
        if (rounded := relations.rounded(node)) is not None or "approx" in (node.kind, *str(node.leaf).split()):
            return rounded
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
        lhs, rhs, modulus = reference.args
        unsaid = Node("sym", leaf="")
        if not self.equal(modulus, answer.args[2]):
            return False
        if unsaid not in (lhs, answer.args[0]) and not self.equal(lhs, answer.args[0]):
            return False
        remainder = Node("mod", (relations.difference((rhs, answer.args[1])), modulus))
        try:
            return values.exact(remainder) == 0 or self.equal(rhs, answer.args[1])
        except NoValue:
            return False

    # sets of reals

    def _sets(self, reference: Node, answer: Node) -> bool | None:
        """Compare two sets of reals; None unless both are such sets, and for two plain pairs such as (1, 2)."""
        if reference.kind in PAIRS and answer.kind in PAIRS:
            return None
        lhs, rhs = reals(reference), reals(answer)
        if lhs is None or rhs is None:
            return None
        if lhs.variable is not None and rhs.variable is not None and lhs.variable != rhs.variable:
            return None if reference.kind in FLIPPED and answer.kind in FLIPPED else False
        return self._same_reals(lhs, rhs)

    def _integers(self, reference: Node, answer: Node) -> bool | None:
        """Compare two sets of integers; None unless a condition makes one of them such a set."""
        reference_spans, answer_spans = integers(reference), integers(answer)
        if reference_spans and answer_spans:
            return any(run in answer_spans for run in reference_spans)
        if not reference_spans and not answer_spans:
            return None
        span_readings, set_node = (reference_spans, answer) if reference_spans else (answer_spans, reference)
        if set_node.kind == "suchthat":
            return None
        lists = [listing for spans in span_readings if (listing := listed(spans)) is not None]
        return any(
            self.equal(listing, set_node) if reference_spans else self.equal(set_node, listing) for listing in lists
        )

    # points

    def _points(self, reference: Node, answer: Node) -> bool | None:
        """Compare points such as A(1, 2): the coordinates must be equal, and the labels too if both have one."""
        lhs, rhs = labelled_point(reference), labelled_point(answer)
        if lhs is not None and rhs is not None:
            return lhs[0] == rhs[0] and self._in_order(lhs[1].args, rhs[1].args)
        point, coordinates = (lhs, answer) if lhs is not None else (rhs, reference)
        if point is None or coordinates.kind not in (*PAIRS, "matrix", "brace"):
            return None
        if point[0] in (_NO_LABELS if lhs is not None else _DISTRIBUTIONS):
            return False
        return self.equal(point[1], coordinates) if lhs is not None else self.equal(coordinates, point[1])

    def _same_reals(self, lhs: Reals, rhs: Reals) -> bool:
        if len(lhs.pieces) != len(rhs.pieces):
            return False
        return all(
            (first.low_open, first.high_open) == (second.low_open, second.high_open)
            and self.equal(first.low, second.low)
            and self.equal(first.high, second.high)
            for first, second in zip(lhs.pieces, rhs.pieces, strict=True)
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
        lhs, rhs = members.members(reference), members.members(answer)
        if not (self._same_connection(lhs, rhs) and self._same_nesting(lhs, rhs)):
            return False
        if self._options.ordered or (lhs.are_truths and rhs.are_truths and "brace" not in (lhs.kind, rhs.kind)):
            return self._in_order(lhs.items, rhs.items)
        if any(item.leaf == "ldots" for item in (*lhs.items, *rhs.items)):
            return self._in_order(lhs.items, rhs.items)
        if lhs.are_distinct != rhs.are_distinct:
            return self._by_position(lhs, rhs)
        items = self._without_common_names(lhs, rhs)
        lhs_items, rhs_items = (
            members.without_repetitions(side_items, self.equal)
            if side.kind in ("brace", "or") or _are_points(side_items)
            else side_items
            for side, side_items in zip((lhs, rhs), items, strict=True)
        )
        return members.match_in_any_order(lhs_items, rhs_items, self.equal)

    def _same_connection(self, lhs: Members, rhs: Members) -> bool:
        """Whether both lists are connected alike: `or` differs from `and`, unless the elements are only values."""
        if {lhs.said, rhs.said} == {"or", "and"}:
            return not lhs.are_statements and not rhs.are_statements
        return True

    def _same_nesting(self, lhs: Members, rhs: Members) -> bool:
        """Whether both are nested alike: a set that holds one set differs from that set."""
        for side, opposite in ((lhs, rhs), (rhs, lhs)):
            if side.kind == "brace" and not opposite.kind and len(side.items) == 1:
                only = side.items[0]
                return only.leaf != "emptyset" and only.kind not in ("brace", "suchthat", "union", "cap", "setminus")
        return True

    def _by_position(self, lhs: Members, rhs: Members) -> bool:
        """Compare named elements with bare values by position; alternatives and sets have no positions."""
        bare = rhs if lhs.are_distinct else lhs
        if any(bare.names) or bare.kind in ("brace", "or"):
            return False
        return self._in_order(lhs.items, rhs.items)

    def _without_common_names(self, lhs: Members, rhs: Members) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
        """The solutions of one unknown on both sides as bare values, however the unknown is numbered."""
        if not (lhs.are_solutions and rhs.are_solutions):
            return lhs.items, rhs.items
        unknowns = {name.partition("_")[0] for name in (*lhs.names, *rhs.names)}
        if len(unknowns) > 1 or any(name.startswith("unit ") for name in lhs.names):
            return lhs.items, rhs.items
        return members.values_of(lhs), members.values_of(rhs)

    def _list_and_tuple(self, reference: Node, answer: Node) -> bool:
        elements, tuple_ = (reference, answer) if reference.kind in LISTS else (answer, reference)
        if elements.kind == "brace" and len(elements.args) == 1 and elements.args[0].kind in TUPLES:
            return self.equal(*((elements.args[0], tuple_) if elements is reference else (tuple_, elements.args[0])))
        coordinates = members.as_coordinates(members.members(elements))
        is_list = tuple_.kind == "bracket" and len(tuple_.args) > 2
        if coordinates is None or not (tuple_.kind == "paren" or is_list):
            return False
        return self._in_order(*((coordinates, tuple_.args) if elements is reference else (tuple_.args, coordinates)))

    def _ratios(self, reference: Node, answer: Node) -> bool:
        """Compare ratios: they may be scaled, a ratio of two is their quotient, and a time of day is not a ratio."""
        if reference.kind == answer.kind and self._in_order(reference.args, answer.args):
            return True
        lhs, rhs = (node.args if node.kind == "ratio" else (node, values.ONE) for node in (reference, answer))
        if len(lhs) != len(rhs) or (
            reference.kind == answer.kind and may_be_moment(reference) and may_be_moment(answer)
        ):
            return False
        try:
            return all(
                values.same(Node("*", (first, rhs[0])), Node("*", (second, lhs[0])))
                for first, second in zip(lhs[1:], rhs[1:], strict=True)
            )
        except NoValue:
            return False

    def _conditions(self, reference: Node, answer: Node) -> bool:
        """Compare the conditions of {element | condition}; the names of bound variables do not count."""
        bound, names_used = (list(names_in_order(node.args[0])) for node in (reference, answer))
        if len(bound) != len(names_used):
            return False
        names = {name: Node("sym", leaf=name_bound) for name, name_bound in zip(names_used, bound, strict=True)}
        return self._in_order(reference.args, [replace_names(arg, names) for arg in answer.args])

    def _in_order(self, lhs: Sequence[Node], rhs: Sequence[Node]) -> bool:
        return len(lhs) == len(rhs) and all(self.equal(first, second) for first, second in zip(lhs, rhs, strict=True))

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
        option, value = (reference, answer) if reference.kind == "option" else (answer, reference)
        if value.kind == "sym" and str(value.leaf) in _CHOICES:
            return value == option.args[0]
        option_text = option.args[1]
        return self.equal(option_text, value) if option is reference else self.equal(value, option_text)

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
        if is_big(reference) or is_big(answer):
            self.method = "symbolic"
            return bool(_symbolic().same(reference, answer))
        try:
            if self._same_value(reference, answer) or same_up_to_constants(reference, answer):
                return True
            if self._options.constant == "optional" and same_without_constant(reference, answer):
                return True
            if self._tolerance != Tolerance() and not values.names(reference) and not values.names(answer):
                return self._is_close(reference, answer)
        except NoValue:
            return self._same_shape(reference, answer)
        return False

    def _is_close(self, reference: Node, answer: Node) -> bool:
        tolerance = self._tolerance
        try:
            share = tolerance.share(values.exact_or_none(reference))
            return values.close(reference, answer, tolerance.absolute, share)
        except TooComplex:
            self.is_large = True
            return huge.close(reference, answer, tolerance.absolute, tolerance.share(None))

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


def _symbolic() -> ModuleType:
    """Sympy takes as long to load as all the rest, and few answers need it. Workers of a service have it from their start."""
    from verifiers.math import symbolic  # noqa: PLC0415 - as above

    return symbolic


def _are_points(items: Sequence[Node]) -> bool:
    """Whether items are solutions or points; in a list of those, a repeated one counts once."""
    return all(item.kind in TUPLES for item in items)


_SYMMETRIC = ("parallel", "perp", "sim", "iff")
_ORDER: tuple[Callable[[Comparison, Node, Node], bool | None], ...] = (
    Comparison._choices, Comparison._moments, Comparison._families, Comparison._sentences, Comparison._words,
    Comparison._points, Comparison._integers, Comparison._relations, Comparison._sets, Comparison._elements,
    Comparison._quantities, Comparison._percents, Comparison._based,
)  # fmt: skip
_DISTRIBUTIONS = frozenset("NU")
_NO_LABELS = frozenset("BCEFGINPU")
"""Capitals that before two arguments do not name a point in a reference: P(5, 2), N(0, 1), F(x, y)."""
_CHOICES = frozenset("ABCDEFGHIJ")
