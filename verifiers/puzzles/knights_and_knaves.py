"""Knights and knaves: which inhabitants tell the truth, and which lie.

The reference has one of three forms. It has `names` with `statements` (see `statements`), `solution` (true for a
knight, in the order of the names), or both. Or it holds the solution as text ("Zoey is a knight, and Oliver is a
knave"), in `solution_text_format`, in `solution_text`, or as the reference itself. Or it is an object of names and
roles. With statements, any assignment that agrees with all of them is right. Other words for the roles are given in
`knight_knave` or `knight_knave_terms`, or are one of the pairs below.

The answer gives every inhabitant one role, in any of these ways: "Zoey is a knight", "Zoey: knight", "Zoey and Oliver
are knaves", "Knights: Zoey", "the knights are Zoey and Oliver", "everyone else is a knight", an object, a table. In a
tag or a box the whole content counts; elsewhere the last lines that name every inhabitant count. If an inhabitant has
two roles, or a choice of roles, there is no answer.

Deliberate difference to Logic-RL: its reward takes the first role found behind each name, so that an answer with both
roles for every name is right half the time.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifiers import commitment
from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.commitment.cues import Kind, alone
from verifiers.puzzles import puzzle, statements
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, label, malformed
from verifiers.puzzles.statements import Statement


class KnightsAndKnaves(PuzzleVerifier[PuzzleParams]):
    name = "knights_and_knaves"
    version = "21"
    params = PuzzleParams
    summary = "Who is a knight and who a knave: equal to the solution, or in agreement with all that was said"


def create(resources: Resources) -> KnightsAndKnaves:
    return KnightsAndKnaves(resources.workers, judge, Item("Zoey is a knight", PuzzleParams(reference=_TWO)))


def judge(item: Item[PuzzleParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


Roles = Mapping[str, bool]
"""Whether each inhabitant, by name in lower case, is a knight."""


class _Puzzle(NamedTuple):
    names: tuple[str, ...]
    """The names, in lower case."""
    statements: tuple[Statement, ...]
    solution: Roles | None
    terms: Mapping[str, bool]
    """The words for the roles, in one or more parts, in lower case, singular and plural."""


# --- the puzzle

_MAX_PEOPLE = 50
_PAIRS = (
    ("knight", "knave"),
    ("angel", "devil"),
    ("saint", "sinner"),
    ("hero", "villain"),
    ("altruist", "egoist"),
    ("sage", "fool"),
    ("pioneer", "laggard"),
    ("truth-teller", "liar"),
    ("truth teller", "liar"),
    ("truthteller", "liar"),
)


def _read(params: PuzzleParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    terms = _terms(reference)
    if isinstance(reference, str):
        reference = {"solution_text": reference}
    if not isinstance(reference, Mapping):
        raise malformed("expected an object with `names` and `statements` or `solution`, or the solution as text")
    names = field(reference, "names", "people", "inhabitants")
    claims = decoded(_bracketed(reference.get("statements")))
    if names is None:
        solution = _given_roles(reference, terms)
        people = tuple(solution)
        return _Puzzle(people, _said(claims, people, solution), solution, terms)
    if not isinstance(names, list | tuple) or not 0 < len(names) <= _MAX_PEOPLE:
        raise malformed(f"expected `names`, a list of at most {_MAX_PEOPLE}")
    people = tuple([label(name).casefold() for name in names])
    if len(set(people)) < len(people):
        raise malformed("two inhabitants have the same name")
    solution_roles = decoded(reference.get("solution"))
    roles: Roles | None = None
    if isinstance(solution_roles, list | tuple):
        if len(solution_roles) != len(people) or not all(isinstance(role, bool) for role in solution_roles):
            raise malformed("expected `solution` as true or false for each name")
        roles = dict(zip(people, solution_roles, strict=True))
    elif solution_roles is not None or claims is None:
        roles = _given_roles(reference, terms)
        if set(roles) != set(people):
            raise malformed("the solution must give a role to each of the `names`, and to no other name")
    return _Puzzle(people, _said(claims, people, roles), roles, terms)


def _bracketed(value: Any) -> Any:
    """The statements as lists. Statements given as text are Python tuples."""
    return f"[{value.strip()[1:-1]}]" if isinstance(value, str) and value.strip()[:1] == "(" else value


def _said(value: Any, names: Sequence[str], solution: Roles | None) -> tuple[Statement, ...]:
    if value is None:
        return ()
    claims = statements.read(value, len(names))
    if solution is not None and not statements.agree(claims, [solution[name] for name in names]):
        raise malformed("the solution does not agree with the statements")
    return claims


def _terms(reference: Any) -> Mapping[str, bool]:
    terms: dict[str, bool] = {}
    names = field(reference, "knight_knave", "knight_knave_terms", "terms") if isinstance(reference, Mapping) else None
    pairs = list(_PAIRS)
    if isinstance(names, Mapping):
        pairs.append((label(names.get("knight")).casefold(), label(names.get("knave")).casefold()))
    for pair in pairs:
        for term, is_knight in zip(pair, (True, False), strict=True):
            if terms.setdefault(term, is_knight) is not is_knight:
                raise malformed(f"{term!r} is the other role")
            terms[_plural(term)] = is_knight
    return terms


def _plural(term: str) -> str:
    return f"{term}es" if term.endswith(("s", "o")) else f"{term}s"


def _given_roles(reference: Mapping[str, Any], terms: Mapping[str, bool]) -> Roles:
    """The roles of a solution in words, or of an object of names and roles."""
    text = field(reference, "solution_text_format", "solution_text", "solution", "answer")
    text = decoded(text) if text is not None else reference
    if isinstance(text, Mapping):
        text = "\n".join(
            [
                f"{label(name)}: {'knight' if role is True else 'knave' if role is False else role}"
                for name, role in text.items()
            ]
        )
    if not isinstance(text, str) or len(text) > 20_000:
        raise malformed("expected the solution as text, such as 'Zoey is a knight, and Oliver is a knave'")
    roles: dict[str, bool] = {}
    for name, role in _TOLD.findall(commitment.fold(text)):
        key, term = name.casefold(), role.casefold()
        # `Zoey is a knight, … Zoey is a knave`
        if term in terms and roles.setdefault(key, terms[term]) is not terms[term]:
            raise malformed(f"the solution gives {name[:40]!r} two roles")
    if not 0 < len(roles) <= _MAX_PEOPLE:
        raise malformed("the solution gives no inhabitant a role; expected text such as 'Zoey is a knight'")
    return roles


_TOLD = re.compile(
    r"([^\W\d_][\w'’-]{0,40})\s{0,3}(?:\bis\s(?:an?\s|the\s)?|:\s?|=\s?)[\"']?([A-Za-z]+(?:[- ]teller)?)", re.IGNORECASE
)


def _impossible(puzzle_: _Puzzle) -> str | None:
    if puzzle_.statements and puzzle_.solution is None and statements.are_paradox(puzzle_.statements):
        return "no assignment agrees with the statements"
    return None


# --- the answer

_BETWEEN = frozenset(["must", "both", "all", "indeed", "definitely", "tells", "truth", "lies", "text"]).union(
    *(alone(kind, "en") - {"were"} for kind in (Kind.IS, Kind.THE, Kind.SO))
)
"""The words that may stand between names and their role."""
_CHOICE = alone(Kind.OR, "en") | alone(Kind.MAYBE, "en") | {"/"}
_STOPS = frozenset(".;?")
_SIGNS_BETWEEN = frozenset(":=|(-–—→>")
_IGNORED = str.maketrans(dict.fromkeys("*_\"`'{}$\\[]✓✔✅", " "))
_TOKEN = re.compile(r"[^\W\d_][\w’-]*|\d+|[^\w\s]|\n")


class _Claim(NamedTuple):
    start: int
    end: int
    """The start of its first name, and the end of its role."""
    names: tuple[str, ...]
    role: bool | None
    """None stands for a choice of roles, or a role that is denied."""


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[Roles]]:
    """The assignments that a text offers.

    All claims count together. If they contradict each other, the last claims that name every inhabitant are an offer,
    behind the earlier claims that differ.
    """
    skipped = max(0, len(text) - _MAX_CHARS)
    claims = _claims(text[skipped:], puzzle_)
    at = _last_complete(claims, puzzle_.names)
    roles = _together(claims[at:])
    # Only some of the inhabitants have a role, or one has both.
    if roles is None or set(roles) != set(puzzle_.names):
        return []
    return [
        *([Offer(0, skipped, _UNREAD)] if skipped else []),
        *[_offer(group, _CONTRADICTION, skipped) for group in _assignments(claims[:at]) if _contradicts(group, roles)],
        _offer(claims[at:], roles, skipped),
    ]


_MAX_CHARS = 8_000
_UNREAD: Roles = {}
_CONTRADICTION: Roles = {"": False}


def _assignments(claims: Sequence[_Claim]) -> list[list[_Claim]]:
    """The claims in groups. No group names an inhabitant twice."""
    groups: list[list[_Claim]] = []
    spoken: set[str] = set()
    for claim in claims:
        if not groups or spoken.intersection(claim.names):
            groups.append([])
            spoken = set()
        groups[-1].append(claim)
        spoken.update(claim.names)
    return groups


def _contradicts(claims: Sequence[_Claim], roles: Roles) -> bool:
    return any(
        claim.role is not None and any(roles[name] is not claim.role for name in claim.names) for claim in claims
    )


def _offer(claims: Sequence[_Claim], roles: Roles, skipped: int) -> Offer[Roles]:
    return Offer(skipped + claims[0].start, skipped + claims[-1].end, roles)


def _together(claims: Sequence[_Claim]) -> Roles | None:
    """The roles of all claims together; None if they contradict each other."""
    roles: dict[str, bool] = {}
    for claim in claims:
        for name in claim.names:
            # `Zoey is a knight or a knave`, `Zoey is a knave` behind `Zoey is a knight`
            if claim.role is None or roles.setdefault(name, claim.role) is not claim.role:
                return None
    return roles


def _last_complete(claims: Sequence[_Claim], names: Sequence[str]) -> int:
    """The start of the last claims that name every inhabitant; 0 if there are none."""
    missing = set(names)
    at = len(claims)
    while at and missing:
        at -= 1
        missing -= set(claims[at].names)
    return at


def _claims(text: str, puzzle_: _Puzzle) -> list[_Claim]:
    """Every place where names get a role. A question gives none."""
    return _Claims(text, puzzle_).read()


class _Claims:
    """A reader that goes once through a text and collects its claims."""

    def __init__(self, text: str, puzzle_: _Puzzle) -> None:
        self._terms, self._all = puzzle_.terms, puzzle_.names
        self._known = {name.partition(" ")[0]: name for name in puzzle_.names}
        self._beginnings = {term.partition(" ")[0] for term in puzzle_.terms}
        self._reserved = _BETWEEN.intersection(self._known)
        self._places = list(_TOKEN.finditer(text.translate(_IGNORED)))
        self._written = [span[0] for span in self._places]
        self._tokens = [word.casefold() for word in self._written]
        self._found: list[_Claim] = []
        self._names: list[str] = []
        """The names that were named last, together."""
        self._heading: bool | None = None
        """The role that a colon gives to the names behind it."""
        self._is_linked = False
        self._sentence = self._begin = 0

    def read(self) -> list[_Claim]:
        at = 0
        while at < len(self._tokens):
            word = self._tokens[at]
            term, width = _term(self._tokens, at, self._terms) if word in self._beginnings else (None, 1)
            if word == "\n":
                self._names, self._heading, self._is_linked, self._sentence = [], None, False, len(self._found)
            elif term is not None:
                self._give(at, width, term)
            elif word in self._known and (word not in self._reserved or self._written[at] != word):
                width = self._name(at, self._known[word])
            else:
                self._pass(at, word)
            at += width
        return self._found

    def _claim(self, at: int, role: bool | None, names: Sequence[str]) -> None:
        end = self._places[min(at, len(self._places) - 1)].end()
        self._found.append(_Claim(self._begin, end, tuple(names), role))

    def _give(self, at: int, width: int, term: bool) -> None:
        """Read a role. It belongs to the names before it, or to the names behind it."""
        role = None if _is_choice(self._tokens, at, width, self._terms) else term
        following = self._tokens[at + width : at + width + 2]
        names_next = len(following) == 2 and following[0] in ("is", "are") and following[1] in self._known
        # `Knights are Zoey and Oliver`: the role stands before its names.
        if names_next and not self._reserved:
            self._names, self._heading = [], role
        elif self._names and self._is_linked:
            # `Zoey and Oliver are knights`, `Zoey: knight`
            self._claim(at + width - 1, role, self._names)
            self._names, self._heading = [], None
        elif (not self._names or self._heading is not None) and following[:1] == [":"]:
            # `Knights: Zoey, Oliver`
            self._names, self._heading = [], role
        self._is_linked = False

    def _name(self, at: int, name: str) -> int:
        """Read a name, which may have several words."""
        joins = not self._is_linked and self._tokens[at - 1] in (",", "and", "&")
        self._names = [*self._names, name] if self._names and (joins or self._heading is not None) else [name]
        if len(self._names) == 1 or self._heading is not None:
            self._begin = self._places[at].start()
        # `Knights: Zoey`
        if self._heading is not None:
            self._claim(at, self._heading, (name,))
        self._is_linked = False
        return 1 + name.count(" ")

    def _pass(self, at: int, word: str) -> None:
        """Pass over any other word or sign."""
        if word in _BETWEEN or word in _SIGNS_BETWEEN:
            self._is_linked = bool(self._names)
        elif self._heading is not None and self._names and word in _CHOICE:
            # `Knights: Zoey or Oliver`
            self._claim(at, None, self._names)
        elif word in _OTHERS and self._found and "if" not in self._tokens[max(0, at - 2) : at]:
            # `Zoey is a knight, everyone else is a knave`
            self._names, self._is_linked = _others(self._found, self._all), False
            self._begin = self._places[at].start()
        elif word == "else" and self._names:
            self._is_linked = False
        elif word == "not" or word.endswith("n’t"):
            # `Zoey is not a knight` gives no role, and contradicts one that was given.
            if self._names:
                self._claim(at, None, self._names)
            self._names = []
        elif word not in (",", "and", "&", "1", ")") and unicodedata.category(word[0]) != "So":
            self._end(word)

    def _end(self, word: str) -> None:
        """End the current claim at a word that belongs to no name and no role. A question gives no role."""
        self._names, self._is_linked = [], False
        # `Is Zoey a knight?`
        if word == "?":
            del self._found[self._sentence :]
        if word in _STOPS:
            self._heading, self._sentence = None, len(self._found)


def _term(tokens: Sequence[str], at: int, terms: Mapping[str, bool]) -> tuple[bool | None, int]:
    """The role that begins here, and the number of its tokens."""
    for width in (2, 1):
        words = " ".join(tokens[at : at + width])
        if words in terms:
            return terms[words], width
    return None, 1


_OTHERS = frozenset(["everyone", "everybody", "others", "rest"])


def _others(claims: Sequence[_Claim], names: Sequence[str]) -> list[str]:
    """The names that "everyone else" means: all names, apart from those that were just given one role."""
    spoken: set[str] = set()
    for claim in reversed(claims):
        if claim.role is not claims[-1].role:
            break
        spoken.update(claim.names)
    return [name for name in names if name not in spoken]


def _is_choice(tokens: Sequence[str], at: int, width: int, terms: Mapping[str, bool]) -> bool:
    """Whether the other role follows directly: `knight/knave`, `a knight (or a knave)`, `a knight and a knave`."""
    following = tokens[at + width : at + width + 6]
    while following and following[0] in ("(", ","):
        following = following[1:]
    # `a knight.`
    if not following or following[0] not in _CHOICE | {"and"}:
        return False
    # `a knight and a knave`, but not `a knight and Oliver is a knave`
    if following[0] == "and":
        offset = 2 if following[1:2] in (["a"], ["an"]) else 1
        return _term(following, offset, terms)[0] is not None
    return any(_term(following, offset, terms)[0] is not None for offset in range(1, len(following)))


def _check(answer: Roles, puzzle_: _Puzzle) -> str | None:
    # With the statements, any assignment that agrees with them is right.
    if puzzle_.statements:
        right = statements.agree(puzzle_.statements, [answer[name] for name in puzzle_.names])
    else:
        right = answer == puzzle_.solution
    return None if right else "wrong_answer"


_RULES = Rules(_read, _offers, _check, _impossible)

_TWO = {"names": ["Zoey", "Oliver"], "solution": [False, True]}
_SAID = {"names": ["Zoey", "Oliver"], "statements": [["lying", 1], ["and", ["lying", 0], ["telling-truth", 1]]]}
_TEXT = "(1) Zoey is a knave\n(2) Oliver is a knight"

EXAMPLES = (
    Example(
        "<answer>(1) Zoey is a knave\n(2) Oliver is a knight</answer>", {"reference": _TWO}, 1.0, "correct", "text"
    ),
    Example('{"Zoey": "knave", "Oliver": "knight"}', {"reference": _SAID}, 1.0, "correct", "agrees with what was said"),
    Example(
        "Zoey is a knight, and Oliver is a knave.", {"reference": _TEXT}, 0.0, "wrong_answer", "the other way round"
    ),
    Example("Zoey is a knight/knave, Oliver is a knight/knave.", {"reference": _TEXT}, 0.0, "no_answer", "no choice"),
    Example(
        "Zoey is a knave", {"reference": {"names": ["Zoey"]}}, None, "bad_puzzle", "nothing to check", Status.INVALID
    ),
)
