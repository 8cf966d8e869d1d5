"""What is said to Lean about one proof, and what its answers mean.

    reading     header, the reference under a secret name, names, the response's code, its declarations into a file
    checking    the declarations from the file, the comparison of the types, the axioms

The secret name keeps the response from using or changing the reference's theorem. It begins with a line, as internal
names do, so tactics that search the environment for a lemma leave it out.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sandbox.base import Exit
from verifiers.base import InvalidItem, Unavailable, Verdict
from verifiers.lean.repl import Order, Reply, Talk
from verifiers.lean.texts import Statement

DECLARATIONS: Final = "declarations.olean"
"""The file that goes from the first process to the second."""

_HEADER, _STATED, _NAMES, _PROOF, _WRITTEN = range(5)
"""The places of the first commands. Those of texts have these numbers of environments, too."""

_NO_AXIOMS: Final = re.compile(r"['`](\S+)['`] does not depend on any axioms")
_AXIOMS: Final = re.compile(r"['`](\S+)['`] depends on axioms:\s*\[([^\]]*)\]")
_SORRY: Final = "sorryAx"
_OF_COMPILER: Final = frozenset({"Lean.ofReduceBool", "Lean.ofReduceNat", "Lean.trustCompiler"})
_OF_ONE_USE: Final = re.compile(r"(?:^|\.)_native\.")
"""Part of the names of the axioms that newer versions of Lean make for each use of compiled code."""
_ENDS: Final = {
    Exit.TIME_LIMIT: "time_limit",
    Exit.MEMORY_LIMIT: "memory_limit",
    Exit.OUTPUT_LIMIT: "output_limit",
}


@dataclass(frozen=True, slots=True)
class Theorem:
    """The reference's theorem as Lean knows it."""

    namespace: str
    """With its last dot, or nothing."""
    name: str
    levels: int
    """How many universes it has."""

    @property
    def full_name(self) -> str:
        return f"{self.namespace}{self.name}"


class Dialogue:
    """The commands about one proof."""

    def __init__(self, stated: Statement, proof: str) -> None:
        self._stated = stated
        self._proof = proof
        self._secret = f"_rewardline_{secrets.token_hex(16)}"

    def reading(self) -> list[Order]:
        stated, secret = self._stated, f"{self._stated.space}{self._secret}"
        preamble = f"#print axioms {secret}\nset_option pp.universes true in\n#check @{secret}\n"
        return [
            {"cmd": stated.header},
            {"cmd": stated.declared_as(self._secret), "env": _HEADER},
            {"cmd": f"{preamble}#print axioms {stated.space}{stated.name}", "env": _STATED},
            {"cmd": self._proof, "env": _STATED},
            {"pickleTo": DECLARATIONS, "env": _PROOF},
        ]

    def checking(self, theorem: Theorem) -> list[Order]:
        """The commands of a process that reads nothing of the response."""
        return [{"unpickleEnvFrom": DECLARATIONS}, *self._checks(theorem, env=0)]

    def reading_and_checking(self, theorem: Theorem) -> list[Order]:
        """The same checks in a process that reads the response's code."""
        reading = self.reading()
        return [reading[_HEADER], reading[_STATED], reading[_PROOF], *self._checks(theorem, env=2)]

    def _checks(self, theorem: Theorem, env: int) -> list[Order]:
        """The universes have names, so that a proof for some of them alone is not proof."""
        levels = ".{" + ", ".join(f"u{n}" for n in range(theorem.levels)) + "}" if theorem.levels else ""
        statement = f"type_of% (@_root_.{theorem.namespace}{self._secret}{levels})"
        return [
            {"cmd": f"#print axioms _root_.{theorem.full_name}", "env": env},
            {"cmd": f"theorem _root_.{self._secret}'{levels} : {statement} := @_root_.{theorem.full_name}", "env": env},
        ]

    def theorem(self, talk: Talk, *, is_own_header: bool) -> Theorem:
        """The theorem that the reference states.

        Args:
            talk: Of the first process.
            is_own_header: Whether the item brought its header.

        Raises:
            InvalidItem: the reference does not elaborate, or the libraries have a theorem of its name.
            Unavailable: Lean came to no end of it.
        """
        error = _reply(talk, _HEADER).error
        if error is not None and is_own_header:
            raise InvalidItem("bad_header", f"the header does not elaborate: {error}")
        if error is not None:
            raise Unavailable("lean_header", f"the libraries of the default header are not there: {error}")
        error = _reply(talk, _STATED).error
        if error is not None:
            raise InvalidItem("bad_reference", f"the reference does not elaborate: {self._public(error)}")
        names = _reply(talk, _NAMES)
        axioms = _axioms_by_name(names)
        full = next((name for name in axioms if name.endswith(self._secret)), None)
        if full is None:
            raise Unavailable("lean_protocol", f"no name of the reference's theorem in {_texts(names)}")
        theorem = Theorem(full.removesuffix(self._secret), self._stated.name, self._levels(names))
        if theorem.full_name in axioms:
            raise InvalidItem("bad_reference", f"the header has a theorem {theorem.full_name} already")
        return theorem

    def _levels(self, names: Reply) -> int:
        match = re.search(re.escape(self._secret) + r"\.\{([^}]*)\}", "\n".join(_texts(names)))
        return match[1].count(",") + 1 if match else 0

    def refusal(self, talk: Talk) -> Verdict | None:
        """The verdict if Lean does not take the response's code; None: it does.

        Raises:
            Unavailable: Lean did not answer, or not in the form of the loop.
        """
        is_cut = len(talk.replies) <= _PROOF
        if is_cut and talk.result.exit in _ENDS:
            return Verdict.wrong(_ENDS[talk.result.exit])
        if is_cut and (talk.result.exit is Exit.SIGNALLED or talk.result.code):
            return Verdict.wrong("crashed", message=self._public(talk.end))
        read = _reply(talk, _PROOF)
        if read.message is not None:
            raise Unavailable("lean_protocol", read.message)
        if read.error is not None:
            return Verdict.wrong("does_not_elaborate", message=self._public(read.error))
        return Verdict.wrong("sorry") if read.sorries else None

    def written(self, talk: Talk) -> bytes:
        """The response's declarations.

        Raises:
            Unavailable: they were not written.
        """
        error = _reply(talk, _WRITTEN).error
        declarations = talk.result.files.get(DECLARATIONS)
        if error is not None or declarations is None:
            raise Unavailable("lean_protocol", f"the declarations were not written: {error or talk.end}")
        return declarations

    def decision(self, talk: Talk, theorem: Theorem, axioms: Sequence[str], *, compiler: bool) -> Verdict:
        """The verdict by what the second process says.

        Args:
            talk: Of that process; the last two answers are those to the checks.
            theorem: The reference's.
            axioms: Those that are allowed.
            compiler: Whether axioms about compiled code are allowed, too.

        Raises:
            Unavailable: it came to no end.
        """
        checks = 3 if compiler else 1
        for index in range(checks):
            error = _reply(talk, index).error
            if error is not None:
                raise Unavailable("lean_protocol", f"the declarations cannot be read again: {self._public(error)}")
        used, typed = _reply(talk, checks), _reply(talk, checks + 1)
        if used.error is not None:
            return Verdict.wrong("no_theorem", message=f"there is no theorem {theorem.full_name}")
        names = _axioms_by_name(used).get(theorem.full_name)
        if names is None:
            raise Unavailable("lean_protocol", f"no axioms of {theorem.full_name} in {_texts(used)}")
        if typed.error is not None:
            return Verdict.wrong("other_statement", message=self._public(typed.error))
        if _SORRY in names:
            return Verdict.wrong("sorry")
        foreign = [name for name in names if name not in axioms and not (compiler and _is_of_compiler(name))]
        if foreign:
            return Verdict.wrong("axioms", axioms=[name[:80] for name in foreign[:10]])
        return Verdict.correct(axioms=[name[:80] for name in names[:10]])

    def _public(self, text: str) -> str:
        """A message of Lean, cut, with the name that the reference has."""
        return text.replace(self._secret, self._stated.name)[:300]


def _is_of_compiler(name: str) -> bool:
    return name in _OF_COMPILER or _OF_ONE_USE.search(name) is not None


def _axioms_by_name(reply: Reply) -> dict[str, list[str]]:
    """What `#print axioms` said: the axioms of each declaration."""
    axioms: dict[str, list[str]] = {}
    for text in _texts(reply):
        if no_axioms := _NO_AXIOMS.match(text):
            axioms[no_axioms[1]] = []
        elif listed := _AXIOMS.match(text):
            axioms[listed[1]] = [name.strip() for name in listed[2].split(",")]
    return axioms


def _texts(reply: Reply) -> list[str]:
    return [message.data for message in reply.messages]


def _reply(talk: Talk, index: int) -> Reply:
    """The answer to a command.

    Raises:
        Unavailable: the process ended before it.
    """
    if index < len(talk.replies):
        return talk.replies[index]
    if talk.result.exit in _ENDS:
        raise Unavailable("lean_limit", f"Lean reached a limit apart from the response's code: {talk.end}")
    if talk.result.exit is not Exit.EXITED or talk.result.code:
        raise Unavailable("lean_crashed", f"Lean ended with {talk.end}")
    raise Unavailable("lean_protocol", f"Lean gave {len(talk.replies)} answers; more were asked for")
