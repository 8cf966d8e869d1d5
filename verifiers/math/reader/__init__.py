r"""Reads an answer in LaTeX or plain text into a small tree. Nothing is evaluated and nothing is executed.

    "x = \frac{1}{2} \text{ or } 3"  ──tokens──►  ──Reader──►  Node("or", Node("=", x, 1/2), 3)

The kinds of `Node`, by what they stand for (`values` gives the meaning of those that have a value):

    num const sym                  leaves: `leaf` is a Fraction, or a name
    + * / neg ^ ! root % deg mod   arithmetic; abs floor ceil binom log (base, x); `fn` with the function's name as leaf
    apply                          something applied to arguments, known by its name only: f(x), P(A), \ker g
    pm mp                          ± and ∓, gone after `alternatives`
    quantity                       a value with a unit, the unit's name as leaf
    paren bracket co oc brace      (a, b)  [a, b]  [a, b)  (a, b]  {a, b}; one element in plain parentheses is itself
    list or                        a, b   a or b
    union cap setminus ratio       between sets; a:b:c
    = != < <= > >= in approx cong  relations: a chain is `chain` with the operators as leaf; cong has the modulus third
    suchthat                       {x | condition}
    cases case                     a function by cases; one value with its condition
    matrix                         rows as leaf: the number of columns
    text                           words
    option                         the letter of a choice, and what stands behind it
    where                          what is said, and the conditions it is said with
    prose                          a sentence: words and formulas in their order
    based                          digits with a base, "4210_7"
    big                            a sum, product, integral or limit, its LaTeX as leaf: only a computer algebra reads it

A text that cannot be read raises `Unreadable`; the caller decides what that means for a reference and for a response.

    spoken       what is said in words and figures      notation     LaTeX commands and what they mean
    cursor       a place in the tokens                  levels       the grammar as its parts see it
    grammar      lists, relations, sums, powers         factors      products without a sign
    postfixes    behind a base     numbers  figures     names        symbols, functions, operators
    brackets     environments      commands             trailing_units   behind a value
"""

import re
from functools import cache

from verifiers import numerals
from verifiers.commitment import ABSENCES, in_signs
from verifiers.commitment.amounts import behind_negative
from verifiers.commitment.cues import Kind
from verifiers.commitment.latex import any_of
from verifiers.commitment.wording import single
from verifiers.math import units
from verifiers.math.characters import prepare
from verifiers.math.limits import MAX_DEPTH
from verifiers.math.moments import date
from verifiers.math.prose import committed, excepts, read_prose
from verifiers.math.reader.cases_in_words import as_cases
from verifiers.math.reader.grammar import Reader
from verifiers.math.reader.spoken import read_counted, read_spoken
from verifiers.math.tokens import tokenize
from verifiers.math.tree import Node, TooComplex, Unreadable
from verifiers.math.words import as_words, labelled_parts, split_option, with_equations
from verifiers.numerals.parts import in_figures


def read(text: str) -> Node:
    """Read one answer.

    Raises:
        Unreadable: it does not follow the notation above.
        TooComplex: it is nested or long beyond `limits`.
    """
    node = _read(text)
    if node.depth > MAX_DEPTH:
        raise TooComplex("too many levels")
    return node


def _read(text: str) -> Node:
    if not text.isascii() and date(text) is not None:  # Greek letters become commands below
        return Node("date", leaf=text)
    if not text.isascii() and (number := numerals.value(text)) is not None:
        return Node("num", leaf=number)
    if not text.isascii() and (absence := in_signs(text)) in ABSENCES:
        return Node("text", leaf=absence)
    if (measured := _measured(text)) is not None:
        return measured
    text = with_equations(_with_joints(in_figures(text)))
    if operand := behind_negative(text.strip()):
        return _negated(_read_formula_or_words(operand))
    prepared = prepare(text)
    if not prepared:
        raise Unreadable("nothing to read")
    if (coordinates := labelled_parts(prepared)) is not None:
        return Node("paren", tuple(_read_formula_or_words(part) for part in coordinates))
    if (option := split_option(prepared)) is not None:
        letter, operand = option
        node = Node("sym", leaf=letter)
        return Node("option", (node, _read_prepared(operand, operand))) if operand else node
    return _read_prepared(prepared, text)


def _measured(text: str) -> Node | None:
    r"""A formula between dollar signs with its unit outside: `$\sqrt{51}$ cm`, `$A = 36\pi$ m$^2$`."""
    parts = _MEASURED.fullmatch(text)
    unit = units.key(parts["unit"].replace("$", "")) if parts else None
    if parts is None or unit is None or not units.is_known(unit):
        return None
    value = _read_formula(parts["formula"])
    if value.kind in ("=", "chain"):
        return Node(value.kind, (*value.args[:-1], Node("quantity", value.args[-1:], unit)), value.leaf)
    return Node("quantity", (value,), unit) if value.kind in _MEASURABLE else None


_MEASURED = re.compile(r"\$(?P<formula>[^$]{1,300})\$\s?(?P<unit>[^\W\d_][^$=+<>]{0,40}(?:\$\^[^$]{1,6}\$)?)")
_MEASURABLE = ("num", "+", "*", "/", "neg", "^", "root", "const", "fn", "log")


def _read_prepared(prepared: str, text: str) -> Node:
    if (spoken := read_spoken(prepared)) is not None:
        return spoken
    if (named := _NAMED_QUANTITY.fullmatch(prepared)) is not None:
        spoken = read_spoken(named["quantity"]) if _BEHIND_BLANK.search(named["quantity"]) else None
        if spoken is not None and spoken.kind == "quantity":
            return Node("=", (_read_formula(named["name"]), spoken))
    if "." in prepared and (head := committed(prepared)) is not None:
        return Node("text", leaf=head)
    if (cases := as_cases(prepared)) is not None:
        return Reader(tokenize(prepare(cases))).read()
    words = as_words(prepared)
    if words is not None:
        return _said(prepared) or words
    try:
        node = Reader(tokenize(prepared)).read()
        if node.kind != "+" or node.args[0].kind != "text" or not excepts(str(node.args[0].leaf)):
            return node
        raise Unreadable("words before a sign")
    except Unreadable as error:
        unread = error
    if (spoken_node := _said(prepared)) is not None:
        return spoken_node
    if (counted := read_counted(prepared)) is not None:
        return counted
    if (remark := _REMARK.fullmatch(prepared)) is not None and not _REJECTION.search(remark[2]):
        return _read_prepared(remark[1], remark[1])
    text = text.replace("**", " ")
    try:
        return read_prose(text.replace(r"\forall", r"\text{ for all }"), _read_formula)
    except Unreadable:
        raise unread from None


_NAME = r"(?:\\[A-Za-z]{2,10}|[A-Za-z])(?:_\{?\w{1,12}\}?)?"
_NAMED_QUANTITY = re.compile(rf"(?P<name>{_NAME}) ?= ?(?P<quantity>-?\d[^=<>]{{0,90}}[^\d\s=<>])")
_BEHIND_BLANK = re.compile(r"[\d}] (?!\w \w\b)[^\W\d_]")
"""A letter with a number and, behind a blank, a unit: `W = 150 kJ`."""
_REMARK = re.compile(
    r"(.{0,300}[^\s{])(?:\s+|(?=\\text\s?\{\s))(?:\\text\s?\{\s?)?\(\s?(?:\\text\s?\{\s?)?([A-Za-z]{3}[^()]{0,160})\)\s?\}?",
    re.DOTALL,
)
"""A value with a remark in parentheses that begins with words."""
_REJECTION = re.compile(
    r"\b(?:not|wrong|incorrect|invalid|rejected|extraneous|mod|false|impossible|base)\b", re.IGNORECASE
)


def _negated(node: Node) -> Node:
    """A number or a quantity behind a word for a minus sign: "moins 2", "минус 2 см"."""
    if node.kind == "quantity":
        return Node("quantity", (_negated(node.args[0]),), node.leaf)
    if node.kind not in ("num", "/", "%"):
        raise Unreadable("a word for a minus sign before something else than a number")
    return Node("neg", (node,))


def _said(prepared: str) -> Node | None:
    """A formula in words: "the square root of 2"."""
    formula = in_signs(prepared)
    if formula in ABSENCES:
        return as_words(formula)
    return None if formula is None else Reader(tokenize(formula)).read()


def _with_joints(text: str) -> str:
    """A text with English words between its values: `3 y 5`, `3과 5`, `$x<1$ o $x>4$`, whose "y" and "o" would be letters."""
    return _joints().sub(_in_english, text)


def _in_english(joint: re.Match[str]) -> str:
    return f" {_JOINTS_IN_ENGLISH[joint['spaced'] or joint['glued']]} "


_NO_JOINTS = frozenset(["a", "of", "and", "or", "either", "otherwise", "versus", "vs", "から", "부터", "에서"])
"""Words of ranges, and words that are other ones in English."""
_JOINTS_IN_ENGLISH = {
    word: english
    for kind, english in ((Kind.OR, "or"), (Kind.JOINS, "and"))
    for word in single(kind) - _NO_JOINTS
    if word != "&"
}


@cache
def _joints() -> re.Pattern[str]:
    spaced = any_of(word for word in _JOINTS_IN_ENGLISH if word < _UNSPACED)
    glued = any_of(word for word in _JOINTS_IN_ENGLISH if word >= _UNSPACED)
    words = rf"(?:[\s,]|\\text\s?\{{){{1,3}}(?P<spaced>{spaced})(?:\s|\}}){{1,3}}|[\s,]?(?P<glued>{glued})\s?"
    value = r"[-−+]?(?:\d|\\(?:frac|sqrt|pi)(?![a-zA-Z]))|\$|[a-zA-Z](?:_\d)?\s?="
    return re.compile(rf"(?<=[\d$)\]])(?<!\A\$)(?:{words})(?={value})")


_UNSPACED = "\u0590"


def _read_formula_or_words(text: str) -> Node:
    return _read_prepared(prepare(text), text)


def read_apart(text: str) -> Node:
    """Read one formula in which capitals in a row are factors.

    Raises:
        Unreadable, TooComplex: as `read`.
    """
    return Reader(tokenize(prepare(text), splits_capitals=True)).read()


def _read_formula(text: str) -> Node:
    return Reader(tokenize(prepare(text))).read()
