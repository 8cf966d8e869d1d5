"""A stand-in for Lean's read-eval-print loop: its protocol, over a language of a few words. It runs in a box.

    import M               Mathlib and Aesop are there, Slow and Large are more than a box can take, others are missing
    open … / set_option … / namespace N / end N / local notation …
    def NAME := SUM        a name in later sums
    axiom NAME : SUM = SUM
    theorem NAME : SUM = SUM := PROOF      also `lemma`; a name may have universes: NAME.{u, v}
    #print axioms NAME, #check @NAME

Two types are the same if their sums are. A proof is `by norm_num`, `by rfl` (the sums are equal), `by native_decide`,
`by sorry`, a theorem of the same type, or `by exact?`, which finds one. Other words of proofs are for faults:

    loop   comes to no end        crash    aborts               garbage   writes what is not an answer
    grow   takes all memory       half     ends in an answer    lie       says from then on that all is well

Declarations in a file are checked again when they are loaded, except that nothing tells whether `native_decide` is right.
"""

import json
import mmap
import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

STARTS = "theorem|lemma|axiom|def|import|open|set_option|namespace|end|local notation|#print axioms|#check"
COMMAND = re.compile(rf"^[ \t]*(?=(?:{STARTS})\b)", re.MULTILINE)
DECLARATION = re.compile(r"(?:theorem|lemma) ([\w.']+?)(?:\.\{([^}]*)\})?\s*:(?!=)(.*?):=(.*)", re.DOTALL)
TYPE_OF = re.compile(r"\s*type_of% \(@_root_\.([\w.']+?)(?:\.\{[^}]*\})?\)\s*")
COMPILER = "Lean.ofReduceBool"


class Mistake(Exception):
    """An error of the text."""


class Env:
    def __init__(self, known: dict[str, Any] | None = None, spaces: tuple[str, ...] = ()) -> None:
        self.known = dict(known or {})
        self.spaces = spaces

    def find(self, name: str) -> str:
        if name.startswith("_root_."):
            candidates = [name.removeprefix("_root_.")]
        else:
            candidates = [".".join([*self.spaces[:n], name]) for n in range(len(self.spaces), -1, -1)]
        for candidate in candidates:
            if candidate in self.known:
                return candidate
        raise Mistake(f"unknown constant '{name}'")

    def declare(self, name: str, what: dict[str, Any]) -> None:
        full = name.removeprefix("_root_.") if name.startswith("_root_.") else ".".join([*self.spaces, name])
        if full in self.known:
            raise Mistake(f"'{full}' has already been declared")
        self.known[full] = what

    def value(self, text: str) -> int:
        total = 0
        for word in text.split("+"):
            word = word.strip()
            if re.fullmatch(r"\d{1,9}", word):
                total += int(word)
            elif re.fullmatch(r"[\w.']+", word):
                total += self.known[self.find(word)]["value"]
            else:
                raise Mistake(f"unexpected token '{word}'")
        return total

    def type(self, text: str) -> list[int]:
        if same := TYPE_OF.fullmatch(text):
            return list(self.known[self.find("_root_." + same[1])]["type"])
        left, sign, right = text.partition("=")
        if not sign:
            raise Mistake(f"unexpected token '{text.strip()}'; expected '='")
        return [self.value(left), self.value(right)]


class Loop:
    def __init__(self) -> None:
        self.envs: list[Env] = []
        self.lies = False

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        if "unpickleEnvFrom" in order:
            return self.keep(loaded(json.loads(Path(order["unpickleEnvFrom"]).read_text())), [], [])
        number = order.get("env")
        if number is not None and number >= len(self.envs):
            return {"message": "Unknown environment."}
        env = Env() if number is None else self.envs[number]
        if "pickleTo" in order:
            Path(order["pickleTo"]).write_text(json.dumps(env.known))
            return {"env": number}
        return self.read(order["cmd"], Env(env.known, env.spaces))

    def keep(self, env: Env, messages: list[Any], sorries: list[Any]) -> dict[str, Any]:
        self.envs.append(env)
        return {"env": len(self.envs) - 1, "messages": messages, "sorries": sorries}

    def read(self, text: str, env: Env) -> dict[str, Any]:
        messages: list[Any] = []
        sorries: list[Any] = []
        starts = [match.start() for match in COMMAND.finditer(text)]
        if text[: starts[0] if starts else len(text)].strip():
            messages.append(said("error", 1, "unexpected token; expected command"))
        for start, end in pairwise([*starts, len(text)]):
            line = text.count("\n", 0, start) + 1
            command = text[start:end].strip()
            try:
                info = self.do(command, env)
                messages += [said("info", line, info)] if info else []
            except Mistake as mistake:
                messages.append(said("error", line, str(mistake)))
            except ModuleNotFoundError as missing:
                return {"message": str(missing)}
            if command.startswith(("theorem", "lemma")) and command.endswith("sorry"):
                messages.append(said("warning", line, "declaration uses 'sorry'"))
                sorries.append({"pos": {"line": line, "column": 0}, "goal": "⊢", "proofState": len(sorries)})
        if self.lies:
            return self.keep(env, [], [])
        return self.keep(env, messages, sorries)

    def do(self, command: str, env: Env) -> str | None:
        word, _, rest = command.partition(" ")
        rest = rest.strip()
        match word:
            case "import":
                load(rest)
            case "namespace":
                env.spaces = (*env.spaces, rest)
            case "end":
                env.spaces = env.spaces[:-1]
            case "def":
                name, _, body = rest.partition(":=")
                env.declare(name.strip(), {"value": env.value(body), "axioms": []})
            case "axiom":
                name, _, stated = rest.partition(":")
                full = ".".join([*env.spaces, name.strip()])
                env.declare(name.strip(), {"type": env.type(stated), "axioms": [full], "by": "axiom", "levels": 0})
            case "theorem" | "lemma":
                self.declare(command, env)
            case "#print":
                full = env.find(rest.removeprefix("axioms").strip())
                axioms = env.known[full]["axioms"]
                listed = ",\n ".join(axioms)
                return f"'{full}' " + (f"depends on axioms: [{listed}]" if axioms else "does not depend on any axioms")
            case "#check":
                full = env.find(rest.removeprefix("@"))
                levels = ", ".join(f"u_{n + 1}" for n in range(env.known[full].get("levels", 0)))
                return f"@{full}{'.{' + levels + '}' if levels else ''} : a type"
        return None

    def declare(self, command: str, env: Env) -> None:
        parts = DECLARATION.fullmatch(command)
        if parts is None:
            raise Mistake("unexpected end of input")
        name, levels, stated, proof = parts.groups()
        what = {"type": env.type(stated), "levels": levels.count(",") + 1 if levels else 0}
        what |= self.proved(what, re.sub(r"^by\b", "", proof.strip()).strip(), env)
        check(what, env.known)
        env.declare(name, what)

    def proved(self, what: dict[str, Any], proof: str, env: Env) -> dict[str, Any]:
        match proof:
            case "norm_num" | "rfl":
                return {"by": "computing", "axioms": ["propext"] if proof == "norm_num" else []}
            case "native_decide":
                return {"by": "compiling", "axioms": [COMPILER]}
            case "sorry":
                return {"by": "sorry", "axioms": ["sorryAx"]}
            case "exact?":
                alike = [
                    known
                    for known, other in env.known.items()
                    if other.get("type") == what["type"] and not re.search(r"(?:^|\.)_", known)
                ]
                if not alike:
                    raise Mistake("`exact?` could not close the goal")
                return {"by": alike[0], "axioms": env.known[alike[0]]["axioms"]}
            case "lie":
                self.lies = True
                return {"by": "lying", "axioms": []}
            case "loop" | "grow" | "crash" | "garbage" | "half":
                fail(proof)
        full = env.find(proof.removeprefix("exact ").removeprefix("@").strip())
        return {"by": full, "axioms": env.known[full]["axioms"]}


def said(severity: str, line: int, data: str) -> dict[str, Any]:
    return {"severity": severity, "pos": {"line": line, "column": 0}, "endPos": None, "data": data}


def check(what: dict[str, Any], known: dict[str, Any], *, again: bool = False) -> None:
    """The kernel: whether a declaration follows from those before it."""
    by = what.get("by", "computing")
    if by in ("computing", "compiling"):
        left, right = what["type"]
        if left != right:
            raise Mistake("unsolved goals\n⊢ False")
        if again and by == "compiling":
            raise RuntimeError("(kernel) there is no compiled code")
    elif by == "lying" and again:
        raise RuntimeError("(kernel) declaration type mismatch")
    elif by in known:
        other = known[by]
        if other["type"] != what["type"] or other["levels"] < what["levels"]:
            raise Mistake("type mismatch")


def loaded(declared: dict[str, Any]) -> Env:
    env = Env()
    for name, what in declared.items():
        if "value" not in what:
            check(what, env.known, again=True)
        env.known[name] = what
    return env


def load(module: str) -> None:
    if module == "Slow":
        fail("loop")
    if module == "Large":
        fail("grow")
    if module.split(".")[0] not in ("Mathlib", "Aesop"):
        raise ModuleNotFoundError(f"unknown module prefix '{module}'")


def fail(how: str) -> NoReturn:
    held = []
    while how == "loop":
        pass
    while how == "grow":
        held.append(mmap.mmap(-1, 1 << 24))
        held[-1].write(b"x" * (1 << 24))
    if how == "crash":
        os.abort()
    print("Segmentation violation\n" if how == "garbage" else '{"env": ', flush=True)
    sys.exit(0)


def orders() -> Iterator[str]:
    """Each as soon as it has come."""
    order = ""
    for line in sys.stdin:
        if line.strip():
            order += line
        elif order:
            yield order
            order = ""


def main() -> None:
    loop = Loop()
    for order in orders():
        print(json.dumps(loop.answer(json.loads(order)), indent=1, ensure_ascii=False), flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
