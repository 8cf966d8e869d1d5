"""The levels of the grammar: lists, relations, operations on sets, sums, products, powers, groups and primaries."""

import re
from collections.abc import Sequence
from fractions import Fraction

from verifiers.math.limits import MAX_ITEMS
from verifiers.math.reader.brackets import read_absolute, read_brackets, read_indexed, read_norm, read_set
from verifiers.math.reader.commands import read_command
from verifiers.math.reader.counts import read_count
from verifiers.math.reader.environments import read_environment
from verifiers.math.reader.factors import crossed, juxtaposed, starts_factor, times
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.names import read_applied, read_operator, read_symbol
from verifiers.math.reader.notation import PRODUCTS, RELATIONS, SET_OPERATIONS
from verifiers.math.reader.numbers import read_number, split_digit
from verifiers.math.reader.postfixes import read_postfixes
from verifiers.math.reader.trailing_units import UNIT_COMMANDS, unit_after, unit_ahead
from verifiers.math.tree import Node, TooComplex, Unreadable
from verifiers.math.words import word_key

_CLOCK = re.compile(r"\d{1,2}:[0-5]\d")


class Reader(Levels):
    """A recursive-descent parser from lists down to primaries; each bracket costs two or three levels."""

    def read(self) -> Node:
        node = self.sequence("list")
        if self.is_at_command("over"):
            self.at += 1
            node = self.node("/", node, self.sequence("list"))
        if self.at < len(self.tokens):
            raise Unreadable(f"unexpected {self.tokens[self.at].value[:20]!r}")
        return node

    def sequence(self, kind: str, *closing: str) -> Node:
        """Read elements between separators; one element is itself unless `kind` says that it is inside brackets."""
        items = [self._element()]
        separators: list[str] = []
        while (separator := self._separator()) is not None:
            separators.append(separator)
            token = self.peek()
            if token is None or token.kind in closing:
                break
            items.append(self._element())
            if len(items) > MAX_ITEMS:
                raise TooComplex("too many elements")
        if len(items) == 1:
            return items[0]
        return self._joined(kind, items, separators)

    def _joined(self, kind: str, items: Sequence[Node], separators: Sequence[str]) -> Node:
        """Join elements: `a, b or c` is an `or`, `a, b and c` a list marked `and`; with both, `and` binds closer."""
        conjunctions = set(separators[: len(items) - 1])
        if "or" not in conjunctions:
            return self.node(kind, *items, leaf="and" if "and" in conjunctions and kind == "list" else None)
        if "," in conjunctions and (kind == "inside" or "and" in conjunctions):
            return self.node(kind, *items)
        if "and" not in conjunctions:
            return self.node("or", *items)
        groups: list[list[Node]] = [[items[0]]]
        for separator, item in zip(separators, items[1:], strict=False):
            groups.append([item]) if separator == "or" else groups[-1].append(item)
        members = (group[0] if len(group) == 1 else self.node("list", *group, leaf="and") for group in groups)
        return self.node("or", *members)

    def _separator(self) -> str | None:
        token = self.peek()
        if token is None:
            return None
        if token.kind in (",", ";"):
            self.at += 1
            if self.is_at("word") and self.tokens[self.at].value in ("or", "and"):
                return self.next().value
            return ","
        if token.kind == "word" and token.value in ("or", "and"):
            self.at += 1
            return token.value
        if token.kind == "cmd" and token.value in ("lor", "vee", "land", "wedge"):
            self.at += 1
            return "or" if token.value in ("lor", "vee") else "and"
        return None

    def _element(self) -> Node:
        return self.nested(self._relation)

    def _relation(self) -> Node:
        token = self.peek()
        sides: list[Node] = []
        operators: list[str] = []
        if token is not None and self._relation_sign() is None:
            sides.append(self.set_expression())
        else:
            sides.append(self.node("sym", leaf=""))
        while (operator := self._relation_sign()) is not None:
            self.at += 1
            if operator in ("<", ">") and self.take("="):
                operator += "="
            operators.append(operator)
            sides.append(self.set_expression())
        if not operators and not self.is_at_command("pmod"):
            return unit_after(self, sides[0])
        if not operators:
            return self.node("cong", self.node("sym", leaf=""), sides[0], *self._modulus())
        sides[-1] = unit_after(self, sides[-1])
        if operators == ["cong"] and (modulus := self._modulus()):
            return self.node("cong", *sides, *modulus)
        operators = ["=" if operator == "cong" else operator for operator in operators]
        if operators == ["sim"] and sides[0].leaf == "":
            operators = ["approx"]
        if len(operators) == 1:
            return self.node(operators[0], *sides)
        return self.node("chain", *sides, leaf=" ".join(operators))

    def _relation_sign(self) -> str | None:
        token = self.peek()
        if token is None or token.kind not in ("=", "<", ">", "cmd"):
            return None
        if token.kind == "cmd" and token.value == "mid" and self.bars:
            return None
        return RELATIONS.get(token.value)

    def _modulus(self) -> list[Node]:
        if self.is_at_command("pmod", "mod", "bmod"):
            self.at += 1
            return [self.argument()]
        following = self.peek(1)
        if self.is_at("(") and following is not None and following.kind == "cmd" and following.value in ("bmod", "mod"):
            self.at += 2
            node = self.sum()
            self.expect(")")
            return [node]
        return []

    def set_expression(self) -> Node:
        node = self._ratio()
        while True:
            token = self.peek()
            if token is None or token.kind != "cmd" or token.value not in SET_OPERATIONS:
                return node
            self.at += 1
            kind = SET_OPERATIONS[token.value]
            right = self._ratio()
            args = (*node.args, right) if node.kind == kind == "union" else (node, right)
            node = self.node(kind, *args)

    def _ratio(self) -> Node:
        start = self.at
        items = [self.sum()]
        while self.is_at(":") and not self.bars:
            self.at += 1
            items.append(self.sum())
        if len(items) == 1:
            return items[0]
        digits = "".join(token.value for token in self.tokens[start : self.at])
        return self.node("ratio", *items, leaf="clock" if _CLOCK.fullmatch(digits) else None)

    def sum(self) -> Node:
        terms = [self._signed_term()]
        kinds: list[str] = []
        while True:
            token = self.peek()
            if token is not None and token.kind in "+-" and len(token.kind) == 1:
                self.at += 1
                term = self.term()
                terms.append(term if token.kind == "+" else self.node("neg", term))
            elif self.is_at_command("pm", "mp"):
                kinds.append(self.next().value)
                total = terms[0] if len(terms) == 1 else self.node("+", *terms)
                terms = [self.node(kinds[-1], total, self.term())]
            else:
                return terms[0] if len(terms) == 1 else self.node("+", *terms)

    def _signed_term(self) -> Node:
        if self.take("+"):
            return self.nested(self._signed_term)
        if self.take("-"):
            return self._negative(self.nested(self._signed_term))
        if self.is_at_command("pm", "mp"):
            kind = self.next().value
            return self.node(kind, self.node("num", leaf=Fraction(0)), self.nested(self._signed_term))
        return self.term()

    def _negative(self, node: Node) -> Node:
        """The negative of a node; for a quantity, its value becomes negative."""
        if node.kind == "quantity":
            return self.node("quantity", self.node("neg", *node.args), leaf=node.leaf)
        return self.node("neg", node)

    def term(self) -> Node:
        if self.is_at("-", "+"):
            return self._signed_term()
        node = self.power()
        while True:
            token = self.peek()
            if token is None or (token.value in UNIT_COMMANDS and unit_ahead(self, 0)):
                return node
            if token.kind == "*" or (token.kind == "cmd" and token.value in ("cdot", "times", "ast", "star")):
                self.at += 1
                if token.kind == "*" and self.take("*"):
                    node = self.node("^", node, self._signed_power())
                    continue
                right = self._signed_power()
                node = crossed(self, node, right) if token.value == "times" else times(self, node, right)
            elif token.kind == "/" or (token.kind == "cmd" and token.value == "div"):
                if unit_ahead(self, 1):
                    return node
                self.at += 1
                node = self.node("/", node, self._signed_power())
            elif token.kind == "cmd" and token.value in PRODUCTS:
                self.at += 1
                node = self.node("apply", node, self._signed_power(), leaf=token.value)
            elif token.kind == "cmd" and token.value == "bmod":
                self.at += 1
                node = self.node("mod", node, self._signed_power())
            elif starts_factor(self, token):
                previous = self.tokens[self.at - 1]
                factor = self.power()
                node = juxtaposed(self, node, factor, previous, token)
            else:
                return node

    def _signed_power(self) -> Node:
        if self.is_at("-"):
            self.at += 1
            return self.node("neg", self.nested(self._signed_power))
        self.take("+")
        return self.power()

    def power(self) -> Node:
        return read_postfixes(self, self.primary())

    def exponent(self) -> Node:
        """Read an exponent: a braced group, one token, or (in plain text) a signed power, right-associative."""
        if self.is_at("-", "+"):
            sign = self.next().kind
            node = self.nested(self.exponent)
            return self.node("neg", node) if sign == "-" else node
        node = self.nested(self.argument)
        if self.is_at("^"):
            self.at += 1
            return self.node("^", node, self.nested(self.exponent))
        return node

    def argument(self) -> Node:
        r"""Read the argument of a command: `{group}`, or the one next digit, letter or command."""
        if self.is_at("{"):
            return self._group()
        token = self.peek()
        if token is not None and token.kind == "num" and len(token.value) > 1 and self._command_before():
            return split_digit(self)
        return self.primary(bare=True)

    def _command_before(self) -> bool:
        r"""Whether one digit is read here, as in LaTeX's `\frac12` and `\sqrt12`, and not all digits, as in `2^10`."""
        previous = self.tokens[self.at - 1]
        return previous.kind == "cmd" or (previous.kind in ("num", "}") and not self.tokens[self.at].spaced)

    def _group(self) -> Node:
        self.expect("{")
        bars, self.bars = self.bars, 0
        node = self.nested(self._group_inside)
        self.bars = bars
        self.expect("}")
        return node

    def _group_inside(self) -> Node:
        if self.is_at("}"):
            raise Unreadable("an empty group")
        node = self.sequence("list", "}")
        if self.is_at_command("over", "choose", "atop"):
            name = self.next().value
            denominator = self.sequence("list", "}")
            if name == "atop":
                raise Unreadable("atop")
            return self.node("/" if name == "over" else "binom", node, denominator)
        return node

    def primary(self, bare: bool = False) -> Node:
        token = self.next()
        match token.kind:
            case "num":
                return read_number(self, token)
            case "id":
                return read_symbol(self, token.value, bare)
            case "op":
                return read_operator(self, token.value)
            case "(" | "[":
                return read_brackets(self, token.kind)
            case "{":
                return self._braced(bare)
            case "^" | "_" if not bare:
                self.at -= 1
                return read_count(self)
            case "\\{":
                return read_set(self, "\\}")
            case "|":
                return read_absolute(self, "|")
            case "||":
                return read_norm(self)
            case "begin":
                return read_environment(self, token.value)
            case "text":
                return self._text(token.value)
            case "cmd" if token.value == "mid":
                return read_absolute(self, "mid")
            case "cmd" if token.value in ("bigcup", "bigcap"):
                return read_indexed(self, token.value)
            case "cmd":
                return read_command(self, token.value, bare)
        raise Unreadable(f"unexpected {token.value[:20]!r}")

    def _braced(self, bare: bool) -> Node:
        """Read a group; a single letter, or an empty group, is read together with an index behind it."""
        kinds = [token.kind if (token := self.peek(at)) else "" for at in range(3)]
        if kinds[0] == "}" and kinds[1] in ("_", "^"):
            self.at += 1
            return read_count(self)
        if kinds == ["id", "}", "_"]:
            name = self.next().value
            self.at += 1
            return read_symbol(self, name, bare)
        self.at -= 1
        return self._group()

    def _text(self, value: str) -> Node:
        if value.lower() in ("const", "constant"):
            return self.node("sym", leaf="const")
        if value.isalpha() and value.isascii() and self.is_at("(") and not self.tokens[self.at].spaced:
            return read_applied(self, value)
        if not value.isalpha():
            words = word_key(value)
            if not words:
                raise Unreadable("empty text")
            return self.node("text", leaf=words)
        return self.node("text", leaf=word_key(value))
