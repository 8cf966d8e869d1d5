r"""Reads an answer, written in LaTeX or plain text, into a small tree. Nothing is evaluated and nothing is executed.

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

What cannot be read raises `Unreadable`; the caller decides what that means for a reference and for a response.
"""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from verifiers.math import moments, numerals, units
from verifiers.math.characters import prepare
from verifiers.math.limits import MAX_DEPTH, MAX_DIGITS, MAX_ITEMS, MAX_NODES
from verifiers.math.prose import committed, read_prose
from verifiers.math.quantities import added
from verifiers.math.tokens import Token, tokenize
from verifiers.math.tree import Leaf, Node, TooComplex, Unreadable, show
from verifiers.math.words import (
    FUNCTION_SYNONYMS,
    FUNCTIONS,
    as_words,
    labelled_parts,
    split,
    split_option,
    word_key,
)


def read(text: str) -> Node:
    """Read one answer.

    Raises:
        Unreadable: it does not follow the notation above.
        TooComplex: it is nested or long beyond `limits`.
    """
    prepared = prepare(text)
    if not prepared:
        raise Unreadable("nothing to read")
    if (parts := labelled_parts(prepared)) is not None:
        return Node("paren", tuple(_read_formula_or_words(part) for part in parts))
    if (option := split_option(prepared)) is not None:
        letter, rest = option
        node = Node("sym", leaf=letter)
        return Node("option", (node, _read_prepared(rest, rest))) if rest else node
    return _read_prepared(prepared, text)


def _read_prepared(prepared: str, text: str) -> Node:
    if (spoken := _spoken(prepared)) is not None:
        return spoken
    if "." in prepared and (head := committed(prepared)) is not None:
        return Node("text", leaf=head)
    words = as_words(prepared)
    if words is not None:
        return words
    try:
        return Reader(tokenize(prepared)).read()
    except Unreadable as error:
        unread = error
    if (remark := _REMARK.fullmatch(prepared)) is not None and not _REJECTION.search(remark[2]):
        return _read_prepared(remark[1], remark[1])
    text = text.replace("**", " ")
    try:
        return read_prose(text.replace(r"\forall", r"\text{ for all }"), _read_formula)
    except Unreadable:
        raise unread from None


_RATIO_IN_WORDS = re.compile(r"(\d{1,9})\s+to\s+(\d{1,9})")


def _spoken(text: str) -> Node | None:
    """Clock times, dates, and numbers in words with or without a unit."""
    if len(text) > numerals.MAX_CHARS:
        return None
    clock = moments.time_of_day(text)
    if clock is not None and (not clock.is_ambiguous or _SPOKEN_CLOCK.search(text)):
        return Node("clock", leaf=text)
    if moments.date(text) is not None:
        return Node("date", leaf=text)
    if ratio := _RATIO_IN_WORDS.fullmatch(text):
        return Node("ratio", tuple(Node("num", leaf=Fraction(part)) for part in ratio.groups()))
    if (parts := _compound(text)) is not None:
        return parts
    if (plain := _PLAIN_QUANTITY.fullmatch(text)) and (unit := units.key(plain[2])) is not None:
        is_unit = plain[2] in _UNIT_LETTERS or (len(plain[2]) > 1 and units.is_known(unit) and text.isascii())
        return Node("quantity", (Node("num", leaf=Fraction(plain[1])),), unit) if is_unit else None
    money = _MONEY.fullmatch(text)
    number = numerals.value(money[2] if money else text)
    if number is not None:
        value = Node("num", leaf=number)
        return Node("quantity", (value,), _CURRENCIES[money[1]]) if money else value
    counted = numerals.followed(text)
    unit = units.key(counted[1]) if counted is not None else None
    return Node("quantity", (Node("num", leaf=counted[0]),), unit) if counted is not None and unit is not None else None


_PLAIN_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?) ?([^\d\s].*)")
_UNIT_LETTERS = frozenset("msgNJWVLKh")
"""Letters that are a unit when they alone stand behind a number; the others are as often variables."""
_COMPOUND = re.compile(r"(?:\d+(?:\.\d+)?\s*[^\W\d_]{1,12}\s*){2,4}")
_COMPOUND_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([^\W\d_]{1,12})")


def _compound(text: str) -> Node | None:
    """`2h 30m`, `3 kg 500 g`: quantities of falling units. After hours, m is a minute."""
    if not _COMPOUND.fullmatch(text):
        return None
    parts: list[Node] = []
    for value, name in _COMPOUND_PART.findall(text):
        unit = units.key("min" if name == "m" and parts and parts[-1].leaf == "h" else name)
        if unit is None:
            return None
        parts.append(Node("quantity", (Node("num", leaf=Fraction(value)),), unit))
    return added(tuple(parts))


_REMARK = re.compile(r"(.{0,300}\S)\s+(?:\\text\s*\{\s*)?\(\s*([A-Za-z]{3,}[^()]{0,100})\)\s*\}?", re.DOTALL)
"""A value and a remark on it in parentheses, in words."""
_REJECTION = re.compile(
    r"\b(?:not|wrong|incorrect|invalid|rejected|extraneous|mod|false|impossible|base)\b", re.IGNORECASE
)
_CLOCK = re.compile(r"\d{1,2}:[0-5]\d")
_SPOKEN_CLOCK = re.compile(r"o'clock|[点點时時].{1,3}分")
_MONEY = re.compile(r"\\(dollar|euro|pounds|yen)\s*(.{1,100})", re.DOTALL)


def _read_formula_or_words(text: str) -> Node:
    return _read_prepared(prepare(text), text)


def read_apart(text: str) -> Node:
    """Read one formula in which capitals in a row are factors.

    Raises:
        Unreadable, TooComplex: as `read`.
    """
    return Reader(tokenize(prepare(text), apart=True)).read()


def _read_formula(text: str) -> Node:
    return Reader(tokenize(prepare(text))).read()


_RELATIONS = {
    "=": "=", "<": "<", ">": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "in": "in", "approx": "approx", "equiv": "cong", "simeq": "approx",
    "cong": "cong", "sim": "sim", "to": "to", "rightarrow": "to", "mapsto": "to", "subset": "subset",
    "subseteq": "subseteq", "perp": "perp", "parallel": "parallel", "mid": "divides", "iff": "iff", "implies": "implies",
    "propto": "propto", "ll": "ll", "gg": "gg", "notin": "notin", "Rightarrow": "implies", "supseteq": "supseteq",
    "supset": "supset", "hookrightarrow": "to", "longrightarrow": "to", "coloneqq": "=",
}  # fmt: skip
_SET_OPERATIONS = {
    "cup": "union",
    "bigcup": "union",
    "cap": "cap",
    "bigcap": "cap",
    "setminus": "setminus",
    "backslash": "setminus",
}
_SYMBOLS = split(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron rho varrho "
    "sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega "
    "ell hbar aleph beth partial nabla emptyset varnothing ldots dots cdots vdots ddots star ast circ bullet top bot "
    "prime checkmark hslash wp dagger triangle square Box diamond"
)
_SYMBOL_SYNONYMS = {
    "varphi": "phi",
    "varepsilon": "epsilon",
    "vartheta": "theta",
    "varrho": "rho",
    "varnothing": "emptyset",
    "dots": "ldots",
    "cdots": "ldots",
    "mathellipsis": "ldots",
}
_OPERATORS = split(
    "ker dim deg det hom Hom rank tr Tr span Var Cov Pr im sup inf limsup liminf angle measuredangle triangle div grad curl neg lnot"
)
_ACCENTS = split(
    "overline bar hat vec tilde widehat widetilde dot ddot overrightarrow underline mathring overleftrightarrow"
)
_PRODUCTS = split("oplus otimes circ ltimes rtimes odot wr bullet")
_BIG = split("sum prod int iint iiint oint lim")
_CURRENCIES = {"dollar": "$", "textdollar": "$", "euro": "euro", "pounds": "pound sterling", "yen": "¥"}
_MATRICES = {
    "pmatrix": "p",
    "bmatrix": "p",
    "matrix": "p",
    "smallmatrix": "p",
    "array": "p",
    "vmatrix": "v",
    "Bmatrix": "B",
    "Vmatrix": "V",
}
_ALIGNED = split("aligned align alignat alignedat gathered gather split eqnarray multline")
_CONDITIONS = split("if for when where otherwise else")
_MAX_PERIOD = 100
"""Digits that repeat without end."""
_MAX_LEVELS = 80
"""Nested calls; a bracket costs two or three of them, and each about eight Python frames."""
_UNIT_COMMANDS = split("Omega mu")
_COMMAND_UNITS = {
    "Omega": " Ω",
    "mu": " μ",
    "cdot": "\\cdot ",
    "times": "\\cdot ",
    "dollar": " $",
    "euro": " euro",
    "pounds": " pound sterling",
    "yen": " ¥",
}
_FUNCTION_ACCENTS = split("vec overrightarrow hat tilde")
_FUNCTION_COMMANDS = split("\\Gamma \\zeta \\phi \\psi \\Phi \\Psi \\varphi")
_MAX_ARGUMENT_TOKENS = 40
_MAX_DOUBLE_FACTORIAL = 300
_FUNCTION_LETTERS = frozenset("fghuvφψ")
_BASES = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "sixteen": "16",
}  # fmt: skip
_BRACKET_COMMANDS = {
    "lfloor": ("floor", "rfloor"), "lceil": ("ceil", "rceil"), "lvert": ("abs", "rvert"), "lVert": ("abs", "rVert"),
    "langle": ("angle", "rangle"), "lbrace": ("brace", "rbrace"),
}  # fmt: skip
_LETTERS_LIKE = _SYMBOLS - split("emptyset varnothing ldots dots cdots")


_UNIT_VECTORS = {
    Node("const", leaf="i"): "vec i", Node("sym", leaf="vec i"): "vec i",
    Node("sym", leaf="j"): "vec j", Node("sym", leaf="vec j"): "vec j",
    Node("sym", leaf="k"): "vec k", Node("sym", leaf="vec k"): "vec k",
}  # fmt: skip


class Reader:
    """Recursive descent over the tokens; each bracket costs two or three of `_MAX_LEVELS`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._nodes = 0
        self._bars = 0
        self._norms = 0
        self._arguments = 0

    def read(self) -> Node:
        node = self._sequence("list")
        if self._is_command("over"):
            self._at += 1
            node = self._node("/", node, self._sequence("list"))
        if self._at < len(self._tokens):
            raise Unreadable(f"unexpected {self._tokens[self._at].value[:20]!r}")
        return node

    # tokens

    def _peek(self, ahead: int = 0) -> Token | None:
        index = self._at + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise Unreadable("unexpected end")
        self._at += 1
        return token

    def _is(self, *kinds: str) -> bool:
        token = self._peek()
        return token is not None and token.kind in kinds

    def _is_command(self, *names: str) -> bool:
        token = self._peek()
        return token is not None and token.kind == "cmd" and token.value in names

    def _take(self, kind: str) -> bool:
        if self._is(kind):
            self._at += 1
            return True
        return False

    def _expect(self, kind: str) -> None:
        if not self._take(kind):
            found = self._peek()
            raise Unreadable(
                f"expected {kind!r}, found {found.value[:20]!r}" if found else f"expected {kind!r} at the end"
            )

    def _node(self, kind: str, *args: Node, leaf: Leaf = None) -> Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise TooComplex("too many parts")
        node = Node(kind, args, leaf)
        if node.depth > MAX_DEPTH:
            raise TooComplex("too many levels")
        return node

    def _nested(self, part: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > _MAX_LEVELS:
            raise TooComplex("nested too deeply")
        node = part()
        self._depth -= 1
        return node

    # lists and relations

    def _sequence(self, kind: str, *closing: str) -> Node:
        """Elements between separators; one element is itself unless `kind` says it is inside brackets."""
        items = [self._element()]
        separators: list[str] = []
        while (separator := self._separator()) is not None:
            separators.append(separator)
            token = self._peek()
            if token is None or token.kind in closing:
                break
            items.append(self._element())
            if len(items) > MAX_ITEMS:
                raise TooComplex("too many elements")
        if len(items) == 1:
            return items[0]
        return self._joined(kind, items, separators)

    def _joined(self, kind: str, items: Sequence[Node], separators: Sequence[str]) -> Node:
        """`a, b or c` is an `or`, `a, b and c` a list marked `and`; with both words, `and` binds closer."""
        said = set(separators[: len(items) - 1])
        if "or" not in said:
            return self._node(kind, *items, leaf="and" if "and" in said and kind == "list" else None)
        if "," in said and (kind == "inside" or "and" in said):
            return self._node(kind, *items)
        if "and" not in said:
            return self._node("or", *items)
        groups: list[list[Node]] = [[items[0]]]
        for separator, item in zip(separators, items[1:], strict=False):
            groups.append([item]) if separator == "or" else groups[-1].append(item)
        parts = (group[0] if len(group) == 1 else self._node("list", *group, leaf="and") for group in groups)
        return self._node("or", *parts)

    def _separator(self) -> str | None:
        token = self._peek()
        if token is None:
            return None
        if token.kind in (",", ";"):
            self._at += 1
            if self._is("word") and self._tokens[self._at].value in ("or", "and"):
                return self._next().value
            return ","
        if token.kind == "word" and token.value in ("or", "and"):
            self._at += 1
            return token.value
        if token.kind == "cmd" and token.value in ("lor", "vee", "land", "wedge"):
            self._at += 1
            return "or" if token.value in ("lor", "vee") else "and"
        return None

    def _element(self) -> Node:
        return self._nested(self._relation)

    def _relation(self) -> Node:
        token = self._peek()
        sides: list[Node] = []
        operators: list[str] = []
        if token is not None and self._relation_sign() is None:
            sides.append(self._set_expression())
        else:
            sides.append(self._node("sym", leaf=""))
        while (operator := self._relation_sign()) is not None:
            self._at += 1
            if operator in ("<", ">") and self._take("="):
                operator += "="
            operators.append(operator)
            sides.append(self._set_expression())
        if not operators and not self._is_command("pmod"):
            return self._unit_after(sides[0])
        if not operators:
            return self._node("cong", self._node("sym", leaf=""), sides[0], *self._modulus())
        sides[-1] = self._unit_after(sides[-1])
        if operators == ["cong"] and (modulus := self._modulus()):
            return self._node("cong", *sides, *modulus)
        operators = ["=" if operator == "cong" else operator for operator in operators]
        if operators == ["sim"] and sides[0].leaf == "":
            operators = ["approx"]
        if len(operators) == 1:
            return self._node(operators[0], *sides)
        return self._node("chain", *sides, leaf=" ".join(operators))

    def _relation_sign(self) -> str | None:
        token = self._peek()
        if token is None or token.kind not in ("=", "<", ">", "cmd"):
            return None
        if token.kind == "cmd" and token.value == "mid" and self._bars:
            return None
        return _RELATIONS.get(token.value)

    def _modulus(self) -> list[Node]:
        if self._is_command("pmod", "mod", "bmod"):
            self._at += 1
            return [self._argument()]
        after = self._peek(1)
        if self._is("(") and after is not None and after.kind == "cmd" and after.value in ("bmod", "mod"):
            self._at += 2
            node = self._sum()
            self._expect(")")
            return [node]
        return []

    def _set_expression(self) -> Node:
        node = self._ratio()
        while True:
            token = self._peek()
            if token is None or token.kind != "cmd" or token.value not in _SET_OPERATIONS:
                return node
            self._at += 1
            kind = _SET_OPERATIONS[token.value]
            right = self._ratio()
            args = (*node.args, right) if node.kind == kind == "union" else (node, right)
            node = self._node(kind, *args)

    def _ratio(self) -> Node:
        start = self._at
        items = [self._sum()]
        while self._is(":") and not self._bars:
            self._at += 1
            items.append(self._sum())
        if len(items) == 1:
            return items[0]
        digits = "".join(token.value for token in self._tokens[start : self._at])
        return self._node("ratio", *items, leaf="clock" if _CLOCK.fullmatch(digits) else None)

    # arithmetic

    def _sum(self) -> Node:
        terms = [self._signed_term()]
        kinds: list[str] = []
        while True:
            token = self._peek()
            if token is not None and token.kind in "+-" and len(token.kind) == 1:
                self._at += 1
                term = self._term()
                terms.append(term if token.kind == "+" else self._node("neg", term))
            elif self._is_command("pm", "mp"):
                kinds.append(self._next().value)
                left = terms[0] if len(terms) == 1 else self._node("+", *terms)
                terms = [self._node(kinds[-1], left, self._term())]
            else:
                return terms[0] if len(terms) == 1 else self._node("+", *terms)

    def _signed_term(self) -> Node:
        if self._take("+"):
            return self._nested(self._signed_term)
        if self._take("-"):
            return self._negative(self._nested(self._signed_term))
        if self._is_command("pm", "mp"):
            kind = self._next().value
            return self._node(kind, self._node("num", leaf=Fraction(0)), self._nested(self._signed_term))
        return self._term()

    def _negative(self, node: Node) -> Node:
        """Of a quantity, the value is negative."""
        if node.kind == "quantity":
            return self._node("quantity", self._node("neg", *node.args), leaf=node.leaf)
        return self._node("neg", node)

    def _term(self) -> Node:
        if self._is("-", "+"):
            return self._signed_term()
        node = self._power()
        while True:
            token = self._peek()
            if token is None or (token.value in _UNIT_COMMANDS and self._unit_ahead(0)):
                return node
            if token.kind == "*" or (token.kind == "cmd" and token.value in ("cdot", "times", "ast", "star")):
                self._at += 1
                if token.kind == "*" and self._take("*"):
                    node = self._node("^", node, self._signed_power())
                    continue
                right = self._signed_power()
                node = self._cross(node, right) if token.value == "times" else self._times(node, right)
            elif token.kind == "/" or (token.kind == "cmd" and token.value == "div"):
                if self._unit_ahead(1):
                    return node
                self._at += 1
                node = self._node("/", node, self._signed_power())
            elif token.kind == "cmd" and token.value in _PRODUCTS:
                self._at += 1
                node = self._node("apply", node, self._signed_power(), leaf=token.value)
            elif token.kind == "cmd" and token.value == "bmod":
                self._at += 1
                node = self._node("mod", node, self._signed_power())
            elif self._starts_factor(token):
                before = self._tokens[self._at - 1]
                factor = self._power()
                node = self._juxtaposed(node, factor, before, token)
            else:
                return node

    def _signed_power(self) -> Node:
        if self._is("-"):
            self._at += 1
            return self._node("neg", self._nested(self._signed_power))
        self._take("+")
        return self._power()

    def _cross(self, left: Node, right: Node) -> Node:
        r"""`\times` between vectors, sets or capitals does not commute and is no product of numbers."""
        factors = left.args if left.kind == "*" else (left,)
        if not (_is_crossed(factors[-1]) and _is_crossed(right)):
            return self._times(left, right)
        cross = self._node("apply", factors[-1], right, leaf="times")
        return cross if len(factors) == 1 else self._node("*", *factors[:-1], cross)

    def _times(self, left: Node, right: Node) -> Node:
        return self._node("*", *(left.args if left.kind == "*" else (left,)), right)

    def _juxtaposed(self, left: Node, right: Node, before: Token, token: Token) -> Node:
        """What two factors without a sign between them mean; digits before a fraction are a mixed number."""
        if "text" in (left.kind, right.kind):
            raise Unreadable("words beside a formula")
        if before.kind == "num" and left.kind == "num" and isinstance(left.leaf, Fraction):
            if token.kind == "num" and right.kind == "num" and token.spaced and self._is("/"):
                self._at += 1
                below = self._power()
                right = self._node("/", right, below)
            elif token.kind == "num":
                raise Unreadable("two numbers in a row")
            percent = right.kind == "%"
            fraction = right.args[0] if percent else right
            if token.kind == "num" or (token.kind == "cmd" and token.value == "frac" and fraction.kind == "/"):
                mixed = self._mixed(left, fraction)
                if mixed is not None:
                    return self._node("%", mixed) if percent else mixed
        elif token.kind == "num" and left.kind != "num":
            last = left.args[-1] if left.kind == "*" else left
            is_power = before.kind == "id" and right.kind == "^"
            if (
                before.kind in ("num", "id")
                and not is_power
                and not (token.spaced and (before.kind == "id" or last.kind == "^"))
            ):
                raise Unreadable("a number after a factor")
        return self._times(left, right)

    def _mixed(self, whole: Node, fraction: Node) -> Node | None:
        top, bottom = fraction.args
        if not top.kind == bottom.kind == "num":
            return None
        if _value(whole).denominator == 1 and 0 < _value(top) < _value(bottom):
            return self._node("+", whole, fraction)
        raise Unreadable("not a mixed number")

    def _starts_factor(self, token: Token) -> bool:
        if token.kind in ("num", "id", "op", "(", "{", "begin", r"\{"):
            return True
        if token.kind == "[":
            return not self._arguments
        if token.kind == "||":
            return not self._norms
        if token.kind == "|":
            return not self._bars and not self._arguments
        return token.kind == "cmd" and self._is_operand(token.value)

    def _is_operand(self, name: str) -> bool:
        return (
            name in _SYMBOLS
            or name in FUNCTIONS
            or name in FUNCTION_SYNONYMS
            or name in _OPERATORS
            or name in _ACCENTS
            or name in _BIG
            or name == "cis"
            or name
            in (
                "pi",
                "infty",
                "imath",
                "jmath",
                "frac",
                "sqrt",
                "binom",
                "dbinom",
                "tbinom",
                "log",
                "gcd",
                "lcm",
                "max",
            )
            or name in ("min", "lfloor", "lceil", "lvert", "langle", "lVert", "lbrace")
        )

    # powers and what stands after a base

    def _power(self) -> Node:
        return self._postfixed(self._primary())

    def _postfixed(self, node: Node) -> Node:
        while True:
            if self._is("^"):
                self._at += 1
                node = self._raised(node)
            elif self._is("!") and not self._next_is("="):
                self._at += 1
                node = self._double_factorial(node) if self._take("!") else self._node("!", node)
            elif self._is("%") or (self._is("unit") and self._tokens[self._at].value in ("percent", "pct")):
                self._at += 1
                node = self._node("%", node)
            elif self._is_command("degree"):
                self._at += 1
                node = self._node("deg", node)
            elif self._is("_") and node.kind == "num" and self._tokens[self._at - 1].kind == ")":
                node = self._based(str(node.leaf))
            elif self._is("_") and node.kind in ("apply", "paren"):
                node = self._node("apply", node, leaf=self._subscript())
            elif self._is("[") and node.kind in ("sym", "apply") and not self._tokens[self._at].spaced:
                self._at += 1
                node = self._node("apply", node, self._nested(lambda: self._sequence("list", "]")), leaf="[]")
                self._expect("]")
            elif self._is("'"):
                self._at += 1
                node = self._primed(node)
            else:
                return node

    def _double_factorial(self, node: Node) -> Node:
        """6!! = 6 · 4 · 2; of anything but a small number, a notation."""
        value = _value(node)
        if node.kind != "num" or value.denominator != 1 or not 0 <= value <= _MAX_DOUBLE_FACTORIAL:
            return self._node("apply", node, leaf="!!")
        factors = range(value.numerator, 1, -2)
        return self._node("num", leaf=Fraction(math.prod(factors)))

    def _primed(self, node: Node) -> Node:
        """A derivative: `y'`, or of a function with its arguments, `f'(2x)`."""
        leaf = "'"
        while self._take("'"):
            leaf += "'"
        token = self._peek()
        if node.kind != "sym" or token is None or token.kind != "(" or token.spaced:
            return self._node("apply", node, leaf=leaf)
        return self._apply(f"{node.leaf}{leaf}")

    def _next_is(self, kind: str) -> bool:
        token = self._peek(1)
        return token is not None and token.kind == kind

    def _raised(self, base: Node) -> Node:
        if self._is_command("circ", "degree"):
            self._at += 1
            return self._degrees(base)
        braced = self._peek(1)
        if self._is("{") and braced is not None and braced.kind == "cmd" and braced.value in ("circ", "degree"):
            closing = self._peek(2)
            if closing is not None and closing.kind == "}":
                self._at += 3
                return self._degrees(base)
        if self._is("*") or self._is_command("prime", "star", "ast", "dagger", "top", "perp", "T"):
            return self._node("apply", base, leaf="^" + self._next().value)
        if self._is("{") and braced is not None and braced.kind in ("'", "*") and self._closes(2):
            self._at += 3
            return self._node("apply", base, leaf="^" + braced.value)
        if base.kind == "sym" and str(base.leaf).startswith("mathbb ") and (sign := self._sign_alone()):
            return self._node("sym", leaf=f"{base.leaf}^{sign}")
        exponent = self._exponent()
        return self._node("^", base, exponent)

    def _sign_alone(self) -> str:
        r"""The `+` or `-` of `\mathbb{R}^+` and `\mathbb{R}^{+}`: the positive or the negative ones."""
        ahead = int(self._is("{"))
        token, after = self._peek(ahead), self._peek(ahead + 1)
        if token is None or token.kind not in ("+", "-") or (ahead and (after is None or after.kind != "}")):
            return ""
        self._at += 1 + 2 * ahead
        return token.kind

    def _degrees(self, base: Node) -> Node:
        """An angle, with its minutes and seconds, or a temperature."""
        token = self._peek()
        if token is not None and token.kind in ("id", "text", "unit") and token.value in ("C", "F"):
            self._at += 1
            return self._node("quantity", base, leaf=f"°{token.value}")
        parts = [base]
        for mark in ("'", "''"):
            if not self._is("num") or any(not self._is_mark(1 + at) for at in range(len(mark))):
                break
            parts.append(self._number(self._next()))
            self._at += len(mark)
        if len(parts) > 1:
            base = self._node(
                "+", *(self._node("/", part, self._node("num", leaf=Fraction(60**at))) for at, part in enumerate(parts))
            )
        return self._node("deg", base)

    def _is_mark(self, ahead: int) -> bool:
        token = self._peek(ahead)
        return token is not None and token.kind == "'"

    def _closes(self, ahead: int) -> bool:
        token = self._peek(ahead)
        return token is not None and token.kind == "}"

    def _exponent(self) -> Node:
        """A braced group, one token, or (in plain text) a signed power, right-associative."""
        if self._is("-", "+"):
            sign = self._next().kind
            node = self._nested(self._exponent)
            return self._node("neg", node) if sign == "-" else node
        node = self._nested(self._argument)
        if self._is("^"):
            self._at += 1
            return self._node("^", node, self._nested(self._exponent))
        return node

    def _argument(self) -> Node:
        r"""What a command takes: `{group}`, or the one next digit, letter or command."""
        if self._is("{"):
            return self._group()
        token = self._peek()
        if token is not None and token.kind == "num" and len(token.value) > 1 and self._command_before():
            return self._split_digit()
        return self._primary(bare=True)

    def _command_before(self) -> bool:
        r"""In LaTeX, `\frac12` and `\sqrt12` take one digit; `2^10` in plain text means the whole number."""
        before = self._tokens[self._at - 1]
        return before.kind == "cmd" or (before.kind in ("num", "}") and not self._tokens[self._at].spaced)

    def _split_digit(self) -> Node:
        token = self._tokens[self._at]
        if not token.value.isdigit():
            raise Unreadable("a decimal where one digit is read")
        rest = Token("num", token.value[1:], False)
        self._tokens = [
            *self._tokens[: self._at],
            Token("num", token.value[0], False),
            rest,
            *self._tokens[self._at + 1 :],
        ]
        return self._number(self._next())

    def _group(self) -> Node:
        self._expect("{")
        bars, self._bars = self._bars, 0
        node = self._nested(self._group_inside)
        self._bars = bars
        self._expect("}")
        return node

    def _group_inside(self) -> Node:
        if self._is("}"):
            raise Unreadable("an empty group")
        node = self._sequence("list", "}")
        if self._is_command("over", "choose", "atop"):
            name = self._next().value
            below = self._sequence("list", "}")
            if name == "atop":
                raise Unreadable("atop")
            return self._node("/" if name == "over" else "binom", node, below)
        return node

    # primaries

    def _primary(self, bare: bool = False) -> Node:
        token = self._next()
        match token.kind:
            case "num":
                return self._number(token)
            case "id":
                return self._symbol(token.value, bare)
            case "op":
                return self._operator(token.value)
            case "(" | "[":
                return self._bracketed(token.kind)
            case "{":
                self._at -= 1
                return self._group()
            case "\\{":
                return self._brace("\\}")
            case "|":
                return self._absolute("|")
            case "||":
                return self._norm()
            case "begin":
                return self._matrix(token.value)
            case "text":
                return self._text(token.value)
            case "cmd" if token.value == "mid":
                return self._absolute("mid")
            case "cmd" if token.value in ("bigcup", "bigcap"):
                return self._indexed(token.value)
            case "cmd":
                return self._command(token.value, bare)
        raise Unreadable(f"unexpected {token.value[:20]!r}")

    def _number(self, token: Token) -> Node:
        if len(token.value) > MAX_DIGITS:
            raise TooComplex("too many digits")
        if self._is("_"):
            return self._based(token.value)
        value = Fraction(token.value)
        if "." in token.value and not self._ends() and not self._tokens[self._at].spaced:
            value += self._repeating(token.value)
        if "." in token.value and self._is_command("ldots", "dots", "cdots"):
            self._at += 1
            return self._endless(token.value)
        if self._is("num") and not self._tokens[self._at].spaced and self._tokens[self._at].value.startswith("."):
            raise Unreadable("two decimal points")
        return self._node("num", leaf=value)

    def _ends(self) -> bool:
        return self._at >= len(self._tokens)

    def _repeating(self, before: str) -> Fraction:
        r"""What `\overline{3}`, `\dot{1}2\dot{3}` or `(3)` after a decimal's digits adds to its value."""
        if self._is_command("overline", "bar"):
            self._at += 1
            digits = self._digits()
        elif self._is_command("dot"):
            digits = self._dotted()
        elif self._is("(") and self._next_is("num") and self._closes_parenthesis(2):
            digits = self._tokens[self._at + 1].value
            self._at += 3
            if not digits.isdigit() or len(digits) > _MAX_PERIOD:
                raise Unreadable("digits expected")
        else:
            return Fraction(0)
        places = len(before) - before.index(".") - 1
        return Fraction(int(digits), 10**places * (10 ** len(digits) - 1))

    def _dotted(self) -> str:
        r"""The period of `\dot{1}2\dot{3}`: from the first dotted digit to the last."""
        self._at += 1
        digits = self._digits()
        start = self._at
        between = self._next().value if self._is("num") else ""
        if self._is_command("dot") and (between.isdigit() or not between):
            self._at += 1
            return digits + between + self._digits()
        self._at = start
        return digits

    def _closes_parenthesis(self, ahead: int) -> bool:
        token = self._peek(ahead)
        return token is not None and token.kind == ")"

    def _endless(self, digits: str) -> Node:
        """`0.1212…` goes on as it began, when its last digits repeat; what does not is a number we do not know."""
        decimals = digits.partition(".")[2]
        for length in range(1, len(decimals) // 2 + 1):
            times = 3 if length == 1 else 2
            period = decimals[-length:]
            if len(decimals) >= times * length and decimals.endswith(period * times):
                tail = Fraction(int(period), 10 ** len(decimals) * (10**length - 1))
                return self._node("num", leaf=Fraction(digits) + tail)
        return self._node("apply", self._node("num", leaf=Fraction(digits)), leaf="ldots")

    def _digits(self) -> str:
        if self._is("num") and self._tokens[self._at].value.isdigit():
            return self._split_digit_value()
        self._expect("{")
        token = self._next()
        if token.kind != "num" or not token.value.isdigit() or len(token.value) > _MAX_PERIOD:
            raise Unreadable("digits expected")
        self._expect("}")
        return token.value

    def _split_digit_value(self) -> str:
        """One digit of a number that follows a command without braces."""
        token = self._next()
        if len(token.value) > 1:
            self._tokens = [*self._tokens[: self._at], Token("num", token.value[1:], False), *self._tokens[self._at :]]
        return token.value[0]

    def _based(self, digits: str) -> Node:
        self._expect("_")
        braced = self._take("{")
        sign = -1 if self._take("-") else 1
        token = self._next()
        if braced:
            self._expect("}")
        base = _BASES.get(token.value.lower(), token.value)
        if not (base.isascii() and base.isdecimal()) or not 2 <= int(base[:3]) <= 36:
            raise Unreadable("a base is expected after a number")
        value = _in_base(digits, sign * int(base))
        name = f"{digits.lstrip('0') or '0'}_{'-' * (sign < 0)}{base}"
        return self._node("based", self._node("num", leaf=value), leaf=name)

    def _symbol(self, name: str, bare: bool) -> Node:
        if not bare:
            name += self._subscript()
        if name == "e":
            return self._node("const", leaf="e")
        if name == "i":
            return self._node("const", leaf="i")
        applies = (
            name[0] in _FUNCTION_LETTERS
            or name.partition("_")[0] in _FUNCTION_COMMANDS
            or (name[0].isupper() and not name.startswith("math"))
            or (self._is("(") and self._is_left_side())
        )
        if not bare and applies and self._is("(") and not self._tokens[self._at].spaced:
            return self._apply(name)
        if not bare and applies and self._is("^") and self._power_of_function():
            self._at += 1
            exponent = self._exponent()
            return self._apply(f"{name}^{show(exponent)}")
        return self._node("sym", leaf=name)

    def _is_left_side(self) -> bool:
        """Whether `y(…)` before this point is all of the left side of an equation: then it is a function's value."""
        start, depth = self._at - 1, 0
        if start > 0 and self._tokens[start - 1].kind not in (",", ";", "newline", "word"):
            return False
        for index in range(self._at, min(len(self._tokens), self._at + _MAX_ARGUMENT_TOKENS)):
            depth += (self._tokens[index].kind == "(") - (self._tokens[index].kind == ")")
            if depth == 0:
                return index + 1 < len(self._tokens) and self._tokens[index + 1].kind == "="
        return False

    def _power_of_function(self) -> bool:
        """`f^{-1}(x)`, `f^2(x)`: a braced or one-token power followed at once by a parenthesis."""
        index = self._at + 1
        if index < len(self._tokens) and self._tokens[index].kind == "{":
            while index < len(self._tokens) and self._tokens[index].kind != "}":
                index += 1
        return (
            index + 1 < len(self._tokens)
            and self._tokens[index + 1].kind == "("
            and self._tokens[self._at - 1].value in _FUNCTION_LETTERS
        )

    def _subscript(self) -> str:
        """A subscript as part of a name."""
        if not self._take("_"):
            return ""
        if not self._is("{"):
            token = self._next()
            if token.kind not in ("num", "id", "cmd", "text", "op", "*", "+"):
                raise Unreadable("a subscript is expected")
            if token.kind == "num" and len(token.value) > 1:
                self._at -= 1
                return "_" + show(self._split_digit())
            return "_" + token.value
        depth = 0
        parts: list[str] = []
        while True:
            token = self._next()
            depth += (token.kind == "{") - (token.kind == "}")
            if depth == 0:
                return "_" + "".join(parts[1:])
            parts.append(token.value)

    def _apply(self, name: str) -> Node:
        self._expect("(")
        self._arguments += 1
        bars, self._bars = self._bars, 0
        arguments: list[Node] = []
        while not self._is(")"):
            arguments.append(self._nested(lambda: self._sequence("list", ")")))
            if self._is("|", ";") or self._is_command("mid", "|"):
                self._at += 1
                arguments.append(self._node("sym", leaf="given"))
            elif not self._is(")"):
                raise Unreadable("expected ')'")
        self._expect(")")
        self._arguments -= 1
        self._bars = bars
        return self._node("apply", *arguments, leaf=name)

    def _operator(self, name: str) -> Node:
        name += self._subscript()
        if self._is("("):
            return self._apply(name)
        token = self._peek()
        if token is not None and self._starts_factor(token):
            return self._node("apply", self._nested(self._power), leaf=name)
        return self._node("sym", leaf=name)

    def _bracketed(self, opening: str) -> Node:
        bars, self._bars = self._bars, 0
        arguments, self._arguments = self._arguments, 0
        if opening == "(" and self._is(")"):
            raise Unreadable("empty parentheses")
        node = self._nested(lambda: self._sequence("inside", ")", "]"))
        self._bars, self._arguments = bars, arguments
        closing = self._next().kind
        if closing not in (")", "]"):
            raise Unreadable("unclosed bracket")
        kind = {"()": "paren", "[]": "bracket", "(]": "oc", "[)": "co"}[opening + closing]
        if node.kind != "inside":
            if kind == "paren":
                return node
            if kind == "bracket" and node.kind == "matrix":
                return node
            if kind == "bracket":
                return self._node("bracket", node)
            raise Unreadable("brackets do not match")
        if kind in ("oc", "co") and len(node.args) != 2:
            raise Unreadable("an interval has two ends")
        return self._node(kind, *node.args)

    def _brace(self, closing: str) -> Node:
        if self._take(closing):
            return self._node("sym", leaf="emptyset")
        bars, self._bars = self._bars, 1
        arguments, self._arguments = self._arguments, 0
        node = self._nested(lambda: self._sequence("inside", closing))
        self._bars = bars
        if self._is("|", ":") or self._is_command("mid"):
            self._at += 1
            self._bars = 0
            condition = self._nested(lambda: self._sequence("list", closing))
            node = self._node("suchthat", node, condition)
            self._bars = bars
        self._arguments = arguments
        if not (self._take(closing) or (closing == "\\}" and self._is_command("rbrace") and self._next())):
            raise Unreadable("unclosed set")
        if node.kind == "suchthat":
            return node
        return self._node("brace", *(node.args if node.kind == "inside" else (node,)))

    def _absolute(self, closing: str) -> Node:
        self._bars += 1
        arguments, self._arguments = self._arguments, 0
        node = self._nested(self._sum)
        self._bars -= 1
        self._arguments = arguments
        if closing == "|":
            self._expect("|")
        elif not self._is_command(closing):
            raise Unreadable("unclosed bar")
        else:
            self._at += 1
        return self._node("apply", node, leaf="norm") if closing == "rVert" else self._node("abs", node)

    def _indexed(self, name: str) -> Node:
        """A union or intersection over an index, known by its notation only."""
        name += self._subscript()
        if self._take("^"):
            name += "^" + show(self._nested(self._argument))
        return self._node("apply", self._nested(self._set_expression), leaf=name)

    def _norm(self) -> Node:
        self._norms += 1
        node = self._nested(self._sum)
        self._norms -= 1
        self._expect("||")
        return self._node("apply", node, leaf="norm")

    def _matrix(self, name: str) -> Node:
        name = name.rstrip("*")
        if name in _ALIGNED:
            return self._aligned()
        if name in ("cases", "dcases", "rcases"):
            return self._cases()
        kind = _MATRICES.get(name)
        if kind is None:
            raise Unreadable(f"environment {name}")
        rows: list[list[Node]] = [[]]
        while True:
            if self._is("end"):
                self._at += 1
                break
            rows[-1].append(self._nested(self._sum))
            if self._take("&"):
                continue
            if self._take("newline"):
                if not self._is("end"):
                    rows.append([])
            elif not self._is("end"):
                raise Unreadable("in a matrix")
        width = len(rows[0])
        if width == 0 or any(len(row) != width for row in rows):
            raise Unreadable("rows of different length")
        return self._node(
            "matrix" if kind == "p" else "matrix" + kind, *(cell for row in rows for cell in row), leaf=width
        )

    def _aligned(self) -> Node:
        """Lines under each other are elements of a list; one that begins with a relation goes on with the one before."""
        end = next((i for i in range(self._at, len(self._tokens)) if self._tokens[i].kind == "end"), None)
        if end is None:
            raise Unreadable("an environment without an end")
        inner = [token for token in self._tokens[self._at : end] if token.kind != "&"]
        lines: list[Token] = []
        for position, token in enumerate(inner):
            if token.kind != "newline":
                lines.append(token)
            elif lines and position + 1 < len(inner) and not _is_relation(inner[position + 1]):
                lines += [Token(",", ",", False)] * (lines[-1].kind not in (",", ";"))
        if not lines:
            raise Unreadable("an empty environment")
        self._tokens = [*self._tokens[: self._at], *lines, Token("end", "", False), *self._tokens[end + 1 :]]
        node = self._nested(lambda: self._sequence("list", "end"))
        self._expect("end")
        return node

    def _cases(self) -> Node:
        """A function by cases: each a value, and the condition under which it holds; without conditions, a system."""
        rows: list[Node] = []
        conditional = False
        while not self._take("end"):
            value = self._nested(lambda: self._sequence("list", "&", "newline", "end"))
            conditional = conditional or self._is("&")
            condition = self._condition() if self._take("&") else self._node("text", leaf="otherwise")
            rows.append(self._node("case", value, condition))
            if not self._take("newline") and not self._is("end"):
                raise Unreadable("in a case")
        if not conditional:
            return self._node("list", *(row.args[0] for row in rows))
        return self._node("cases", *rows)

    def _condition(self) -> Node:
        while (token := self._peek()) is not None and token.kind in ("text", "word", "unit"):
            if word_key(token.value) not in _CONDITIONS:
                break
            self._at += 1
            self._take("&")
        if self._is("newline", "end"):
            return self._node("text", leaf="otherwise")
        return self._nested(lambda: self._sequence("list", "newline", "end"))

    def _text(self, value: str) -> Node:
        if value.isalpha() and value.isascii() and self._is("(") and not self._tokens[self._at].spaced:
            return self._apply(value)
        if not value.isalpha():
            words = word_key(value)
            if not words:
                raise Unreadable("empty text")
            return self._node("text", leaf=words)
        return self._node("text", leaf=word_key(value))

    def _command(self, name: str, bare: bool) -> Node:
        name = FUNCTION_SYNONYMS.get(name, name)
        if name in _CURRENCIES:
            return self._currency(name)
        if name == "pi":
            return self._node("const", leaf="pi")
        if name == "infty":
            return self._node("const", leaf="infty")
        if name in ("imath", "jmath"):
            return self._node("const", leaf="i") if name == "imath" else self._node("sym", leaf="j")
        if name == "frac":
            return self._node("/", self._nested(self._argument), self._nested(self._argument))
        if name == "sqrt":
            return self._root()
        if name in ("binom", "dbinom", "tbinom"):
            return self._node("binom", self._nested(self._argument), self._nested(self._argument))
        if name == "log":
            return self._logarithm()
        if name in FUNCTIONS or name == "cis":
            return self._function(name)
        if name in ("gcd", "lcm", "max", "min"):
            return self._many(name)
        if name in _BRACKET_COMMANDS:
            return self._bracket_command(name)
        if name in _BIG:
            return self._big(name)
        if name in _ACCENTS:
            return self._accented(name)
        if name in _OPERATORS:
            return self._operator(name)
        if name == "partial" and self._is("id"):
            return self._node("sym", leaf=f"\\partial {self._next().value}")
        if name in _SYMBOLS:
            return (
                self._symbol(_SYMBOL_SYNONYMS.get(name, name), bare)
                if name not in _LETTERS_LIKE
                else self._symbol("\\" + _SYMBOL_SYNONYMS.get(name, name), bare)
            )
        raise Unreadable(f"unknown command {name[:20]!r}")

    def _currency(self, name: str) -> Node:
        return self._node("quantity", self._nested(self._power), leaf=_CURRENCIES[name])

    def _root(self) -> Node:
        degree = self._node("num", leaf=Fraction(2))
        if self._take("["):
            degree = self._nested(self._sum)
            self._expect("]")
        return self._node("root", self._nested(self._argument), degree)

    def _logarithm(self) -> Node:
        base = self._node("const", leaf="log")
        if self._take("_"):
            base = self._nested(self._argument)
        power = self._function_power()
        node = self._node("log", base, self._function_argument())
        return node if power is None else self._node("^", node, power)

    def _function(self, name: str) -> Node:
        power = self._function_power()
        if name == "cis":
            return self._cis(self._function_argument())
        inverse_name = next((known for known in (f"arc{name}", f"ar{name}") if known in FUNCTIONS), name)
        inverse = power is not None and show(power) == "neg(1)" and inverse_name != name
        node = self._node("fn", self._function_argument(), leaf=inverse_name if inverse else name)
        if self._is("^") and power is None:
            return node
        return node if power is None or inverse else self._node("^", node, power)

    def _cis(self, angle: Node) -> Node:
        """Cos x + i sin x."""
        sine = self._node("*", self._node("const", leaf="i"), self._node("fn", angle, leaf="sin"))
        return self._node("+", self._node("fn", angle, leaf="cos"), sine)

    def _function_power(self) -> Node | None:
        if self._take("^"):
            return self._nested(self._exponent)
        return None

    def _function_argument(self) -> Node:
        r"""`\sin(x)`, `\sin{x}`, or `\sin 2x`: factors up to the next sign or function."""
        if self._is("(", "{"):
            return self._nested(self._primary)
        node = self._nested(self._power)
        while (token := self._peek()) is not None and self._starts_factor(token) and token.kind not in ("(", "{", "|"):
            if token.kind == "cmd" and (token.value in FUNCTIONS or token.value in ("log", "frac", *_BIG, *_ACCENTS)):
                break
            if token.kind == "id" and (token.value.startswith("vec ") or (token.value == "e" and self._next_is("^"))):
                break
            node = self._times(node, self._nested(self._power))
        if self._is("/") and node.kind == "num":
            after = self._peek(1)
            if after is not None and after.kind == "num":
                self._at += 1
                node = self._node("/", node, self._power())
        return node

    def _many(self, name: str) -> Node:
        if self._is("_"):
            return self._operator(name)
        opening = self._next().kind
        if opening not in ("(", "\\{", "{", "["):
            self._at -= 1
            return self._operator(name)
        closing = {"(": ")", "\\{": "\\}", "{": "}", "[": "]"}[opening]
        node = self._nested(lambda: self._sequence("inside", closing))
        self._expect(closing)
        return self._node("fn", *(node.args if node.kind == "inside" else (node,)), leaf=name)

    def _bracket_command(self, name: str) -> Node:
        kind, closing = _BRACKET_COMMANDS[name]
        if name == "lbrace":
            return self._brace("\\}")
        if kind == "abs":
            return self._absolute(closing)
        node = self._nested(lambda: self._sequence("inside", closing))
        if not self._is_command(closing):
            raise Unreadable(f"unclosed {name}")
        self._at += 1
        if kind in ("floor", "ceil"):
            return self._node(kind, node)
        return self._node("paren" if kind == "angle" else kind, *(node.args if node.kind == "inside" else (node,)))

    def _accented(self, name: str) -> Node:
        inner = self._nested(self._argument)
        if name in ("hat", "vec", "overrightarrow", "widehat") and (unit := _UNIT_VECTORS.get(inner)) is not None:
            return self._node("sym", leaf=unit)
        leaf = "bar" if name in ("overline", "bar") else name
        if inner.kind == "sym" and self._is("(") and not self._tokens[self._at].spaced and name in _FUNCTION_ACCENTS:
            return self._apply(f"{leaf} {inner.leaf}")
        return self._node("apply", inner, leaf=leaf)

    def _big(self, name: str) -> Node:
        """All that follows belongs to it; only a computer algebra system reads it."""
        start = self._at
        depth = 0
        while (token := self._peek()) is not None:
            if depth == 0 and (
                token.kind in ("}", ")", "]", ",", ";", "\\}") or (token.value in _RELATIONS and token.value != "to")
            ):
                break
            depth += (token.kind in ("{", "(", "[", "\\{")) - (token.kind in ("}", ")", "]", "\\}"))
            self._at += 1
        written = " ".join(_latex(token) for token in self._tokens[start : self._at])
        return self._node("big", leaf=f"\\{name} {written}")

    # units

    def _unit_ahead(self, ahead: int) -> bool:
        token = self._peek(ahead)
        if token is not None and token.kind == "cmd":
            return token.value in _CURRENCIES or (token.value in _UNIT_COMMANDS and self._is_unit_command(ahead))
        return token is not None and token.kind in ("text", "unit", "word") and token.value not in ("or", "and")

    def _is_unit_command(self, ahead: int) -> bool:
        r"""`\Omega` at the end, or `\mu` before a unit: behind a number these are ohms and micro."""
        after = self._peek(ahead + 1)
        if after is None or after.kind in ("text", "unit"):
            return True
        return after.kind == "id" and units.key(f"μ{after.value}") is not None

    def _unit_after(self, node: Node) -> Node:
        r"""A unit ends its element: `5 \text{ cm}^2`, `12 km/h`, `5 ft 3 in`; words that qualify the number are none."""
        if not self._unit_ahead(0):
            return node
        node = self._with_unit(node)
        parts = [node]
        while self._is("num") and node.kind == "quantity":
            value = self._power()
            if not self._unit_ahead(0):
                raise Unreadable("a number without a unit after one with a unit")
            parts.append(self._with_unit(value))
        if len(parts) == 1:
            return node
        whole = added(tuple(parts))
        if whole is None:
            raise Unreadable("units that do not add up")
        return whole

    def _with_unit(self, node: Node) -> Node:
        written: list[str] = []
        while (token := self._peek()) is not None and self._belongs_to_unit(token, written):
            is_word = token.kind in ("text", "unit", "word", "id")
            written.append(
                f" {token.value}"
                if is_word
                else {"cmd": _COMMAND_UNITS.get(token.value, " ")}.get(token.kind, token.value)
            )
            self._at += 1
        text = "".join(written).strip()
        unit = units.key(text)
        if unit is None:
            raise Unreadable("words after the answer")
        if node.kind == "quantity":
            if unit == node.leaf:
                return node
            both = units.key(f"{node.leaf} {unit}" if not unit.startswith("1/") else f"{node.leaf}{unit[1:]}")
            if both is None:
                raise Unreadable("two units")
            return self._node("quantity", *node.args, leaf=both)
        return self._node("quantity", node, leaf=unit)

    def _belongs_to_unit(self, token: Token, written: Sequence[str]) -> bool:
        """Words and unit signs; after the first, powers, quotients and products of them too."""
        if token.kind in ("text", "unit") or (token.kind == "word" and token.value not in ("or", "and")):
            return True
        if token.kind == "cmd" and (token.value in _CURRENCIES or token.value in _UNIT_COMMANDS):
            return True
        if not written:
            return False
        if token.kind == "cmd":
            after = self._peek(1)
            return token.value in ("cdot", "times") and after is not None and after.kind in ("text", "unit", "id")
        if token.kind == "-":
            after = self._peek(1)
            return written[-1] in ("^", "{") or (after is not None and after.kind in ("text", "unit"))
        if token.kind == "num":
            return written[-1] in ("^", "{", "-")
        if token.kind == "id":
            return written[-1].strip() in ("/", "\\cdot", "per", "μ")
        return token.kind in ("/", "^", "{", "}", "*")


def _is_crossed(node: Node) -> bool:
    r"""Whether `\times` beside this is a cross product or a Cartesian one: a vector, \nabla, a set, one capital letter."""
    if node.kind == "apply":
        return node.leaf in ("vec", "overrightarrow", "times")
    if node.kind in ("brace", "setminus", "union", "cap"):
        return True
    name = str(node.leaf) if node.kind == "sym" else ""
    is_capital = len(name) == 1 and name.isupper()
    return is_capital or name == "\\nabla" or name.startswith(("vec ", "bold ", "math"))


def _is_relation(token: Token) -> bool:
    return token.kind in ("=", "<", ">", "cmd") and token.value in _RELATIONS


def _in_base(digits: str, base: int) -> Fraction:
    """The value of digits, with or without a point among them, in a base that may be negative.

    Raises:
        Unreadable: a digit is too large for the base.
    """
    whole, _, part = digits.partition(".")
    value = 0
    for digit in whole + part:
        if int(digit, 36) >= abs(base):
            raise Unreadable(f"not a number in base {base}")
        value = value * base + int(digit, 36)
    return Fraction(value) / Fraction(base) ** len(part)


def _value(node: Node) -> Fraction:
    return node.leaf if isinstance(node.leaf, Fraction) else Fraction(0)


def _latex(token: Token) -> str:
    if token.kind in ("cmd", "op"):
        return "\\" + token.value
    if token.kind == "text":
        return rf"\text{{{token.value}}}"
    return token.kind if token.kind in ("\\{", "\\}") else token.value
