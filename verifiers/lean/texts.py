"""Reads texts of Lean as far as a verifier must: what is sought in a response, and what may not be in it.

    reference ──statement──► header, what stands before the theorem, its name, its type
    response's code ──proof──► the same code without comments, imports, and what the reference states before its theorem
                    ──forbidden──► the first word that runs code of the text while Lean reads it

Lean gets the text without the comments that are found here. So whatever this reader takes for a comment by mistake, no
word that Lean sees goes unchecked.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from verifiers.base import InvalidItem

HEADER: Final = (
    "import Mathlib\nimport Aesop\nset_option maxHeartbeats 400000\nopen BigOperators Real Nat Topology Rat\n"
)
"""The header of most data sets for provers."""

_NAME: Final = r"(?:«[^»\n]*»|[^\W\d][\w'!?]*)"
_HEAD: Final = re.compile(rf"(?<![\w.'!?«])(?:theorem|lemma)\s+(?P<space>(?:{_NAME}\.)*)(?P<name>{_NAME})")
_NO_PROOF: Final = re.compile(r":=\s*(?:by\b\s*)?(?:sorry\s*)?\Z")
_TOKEN: Final = re.compile(rf"{_NAME}|\S")
_PRIVATE: Final = re.compile(r"\bprivate\s+\Z")
_DECLARES: Final = frozenset(
    {"def", "abbrev", "theorem", "lemma", "axiom", "opaque", "structure", "inductive", "class", "instance", "mutual"}
    | {"noncomputable", "private", "protected", "variable", "namespace", "section", "@"}
)
_HEADER_LINE: Final = re.compile(r"[ \t]*(?:(?:public[ \t]+|meta[ \t]+)*import[ \t][^\n]*)?(?:\n|\Z)")

# The places where a comment, a string or a character begins. A prime within a name begins no character.
_BEGIN: Final = re.compile(r"""--|/-|"|(?<![\w'!?])r#*"|(?<![\w'!?])'(?:\\.|[^\\'\n])'""")
_COMMENT_SIGN: Final = re.compile(r"/-|-/")
_STRING_REST: Final = re.compile(r'(?:[^"\\]|\\.)*+"', re.DOTALL)

_WORD: Final = re.compile(r"#?[A-Za-z_][A-Za-z0-9_'!?]*")
_OPTION: Final = re.compile(r"\s+([A-Za-z][\w.]*)")
_COMMANDS: Final = frozenset({"#check", "#check_failure", "#print", "#reduce", "#synth", "#where"})
"""The commands with a number sign that only show something."""
_OPTIONS: Final = (
    "maxHeartbeats", "maxRecDepth", "synthInstance.", "linter.", "autoImplicit", "relaxedAutoImplicit",
    "exponentiation.", "pp.", "trace.",
)  # fmt: skip
"""The options, or beginnings of their names, that change neither what the kernel checks nor what is run."""
_FORBIDDEN: Final = frozenset(
    word
    for words in (
        # Commands, terms and tactics that run code of the text, or declare code that Lean runs while it reads on.
        "run_cmd run_elab run_meta run_tac by_elab elab elab_rules macro macro_rules syntax declare_syntax_cat",
        "initialize builtin_initialize simproc dsimproc simproc_decl dsimproc_decl builtin_simproc builtin_dsimproc",
        "command_elab term_elab",
        # What lets compiled code differ from what the kernel sees.
        "implemented_by extern csimp",
        # Where such code finds Lean's own functions, and the outside world: tactics evaluate their configurations.
        "Lean Elab Meta IO EIO BaseIO CoreM MetaM TermElabM TacticM CommandElabM MacroM Simproc Qq",
        "FS Process timeit allocprof",
        # What is taken for true without a proof.
        "axiom",
    )
    for word in words.split()
)
_UNSAFE: Final = "unsafe"
"""The modifier, and the beginning of the names of the functions that make a value of an action."""
_COMPILES: Final = frozenset({"native_decide", "native", "bv_decide", "ofReduceBool", "ofReduceNat"})
"""Tactics, an option of theirs, and axioms that trust compiled code, which the second process could not check."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A theorem that is to be proved."""

    header: str
    """The imports, and with the default header what else it has."""
    has_own_header: bool
    """Whether the item brought the header."""
    preamble: str
    """What the reference declares before the theorem."""
    space: str
    """The namespace in the theorem's name, with its last dot, or nothing."""
    name: str
    """The last part of its name."""
    rest: str
    """Its parameters and its type, and a proof: a real one, or `by sorry`."""

    def declared_as(self, name: str) -> str:
        """The whole reference without the header, with another last part of the theorem's name."""
        return f"{self.preamble}theorem {self.space}{name}{self.rest}"


def statement(reference: str, header: str | None) -> Statement:
    """The theorem that a reference states: the last one in it.

    Args:
        reference: A text of Lean, with imports or without.
        header: What comes before a reference without imports. None: `HEADER`.

    Raises:
        InvalidItem: there is no theorem, or what it is about is itself left open.
    """
    imports, text = split_header(without_comments(reference))
    heads = list(_HEAD.finditer(text))
    if not heads:
        raise InvalidItem("bad_reference", "the reference states no theorem; expected `theorem NAME … : … := by sorry`")
    head = heads[-1]
    preamble, body = _PRIVATE.sub("", text[: head.start()]), text[head.end() :]
    if "sorry" in _TOKEN.findall(preamble):
        raise InvalidItem("bad_reference", "the reference leaves open more than its last theorem (`sorry`)")
    if ":=" not in body or _NO_PROOF.search(body):
        body = _NO_PROOF.sub("", body).rstrip() + " := by sorry\n"
    return Statement(
        imports or (HEADER if header is None else header),
        bool(imports) or header is not None,
        preamble,
        head["space"],
        head["name"],
        body,
    )


def proof(code: str, stated: Statement) -> str:
    """The code of a response as Lean gets it, behind the reference: lines keep their numbers."""
    _, text = split_header(without_comments(code.replace("\0", " ")))
    declarations = _declarations(stated.preamble)
    if not declarations:
        return text
    tokens = list(_TOKEN.finditer(text))
    joined = _joined([match[0] for match in tokens])
    position = joined.find(_joined(declarations))
    if position < 0:
        return text
    first = joined.count("\0", 0, position)
    start, end = tokens[first].start(), tokens[first + len(declarations) - 1].end()
    return text[:start] + _blank(text[start:end]) + text[end:]


def forbidden(text: str, *, compiler: bool = False) -> str | None:
    """The first word of a text without comments that a response may not have; None: there is none.

    `compiler` says whether proofs may trust compiled code. Words in strings count, because strings may hold code.
    Neighbours other than ASCII end a word, so that no sign of Lean hides one.
    """
    for match in _WORD.finditer(text):
        word = match[0]
        if word == "set_option":
            option = _OPTION.match(text, match.end())
            if option is None or not option[1].startswith(_OPTIONS):
                return f"set_option {option[1]}" if option else word
        elif _is_forbidden(word, compiler=compiler):
            return word
    return None


def _is_forbidden(word: str, *, compiler: bool) -> bool:
    if word[0] == "#":
        return word not in _COMMANDS
    return word in _FORBIDDEN or word.startswith(_UNSAFE) or (word in _COMPILES and not compiler)


def without_comments(text: str) -> str:
    """The text with blanks in place of comments. A comment that never ends goes to the end."""
    pieces: list[str] = []
    position = 0
    for start, end in _comments(text):
        pieces += [text[position:start], _blank(text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


def _comments(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while match := _BEGIN.search(text, position):
        sign = match[0]
        if sign == "--":
            position = _end_or(text, text.find("\n", match.end()))
            yield match.start(), position
        elif sign == "/-":
            position = _end_of_comment(text, match.end())
            yield match.start(), position
        elif sign == '"':
            string_end = _STRING_REST.match(text, match.end())
            position = string_end.end() if string_end else len(text)
        elif sign.startswith("r"):  # r#"…"#: no escapes, as many signs behind it as before
            closing = '"' + "#" * (len(sign) - 2)
            position = _end_or(text, text.find(closing, match.end()))
            position = min(len(text), position + len(closing))
        else:
            position = match.end()


def _end_of_comment(text: str, position: int) -> int:
    """The end of a comment that has begun before `position`; comments may hold comments."""
    depth = 1
    for sign in _COMMENT_SIGN.finditer(text, position):
        depth += 1 if sign[0] == "/-" else -1
        if depth == 0:
            return sign.end()
    return len(text)


def _declarations(preamble: str) -> list[str]:
    """The tokens of what comes before a theorem, from its first declaration on: what cannot be there twice."""
    tokens: list[str] = _TOKEN.findall(preamble)
    return tokens[next((n for n, token in enumerate(tokens) if token in _DECLARES), len(tokens)) :]


def _joined(tokens: Sequence[str]) -> str:
    return "\0" + "".join(f"{token}\0" for token in tokens)


def _end_or(text: str, position: int) -> int:
    return len(text) if position < 0 else position


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def split_header(text: str) -> tuple[str, str]:
    """The imports at the beginning, and the text with blanks in their place."""
    position = 0
    while position < len(text) and (line := _HEADER_LINE.match(text, position)):
        position = line.end()
    header = text[:position]
    return (header if header.strip() else ""), _blank(header) + text[position:]
