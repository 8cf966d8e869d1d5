"""Judges proofs in Lean 4: the response's theorem is the reference's, and Lean's kernel accepts its proof.

    reference ──► statement ──┐                                     (texts.py)
    response ──code fence──► code ──forbidden words──► 0
                              ▼
    first process:   header, the statement under a secret name, the response's code ──an error──► 0
                              │  its declarations, in a file                          (dialogue.py, repl.py)
                              ▼
    second process:  the kernel checks the declarations anew; the type of the response's theorem is that of the
                     secret one; its axioms are allowed ones ──► 1

Text of Lean can run any code while it is read. So the process that has read a response is believed only when it says
no, and both processes end with the item. A yes comes from a process that reads no word of the response: what it loads
are declarations without notations, macros, instances and options, and its kernel checks each of them again. Types are
compared by Lean, after elaboration. The reference is elaborated before anything of the response is there.

A text that runs code while it is read is refused unread (`forbidden`): with Lean's own functions it could put another
theory in the place of Mathlib, which no later check would see.

With `native_decide` the second process reads the response again, because compiled code is not among the declarations.

`failed`: no loop in the boxes, an answer of another form, or a crash or a limit before the response's code is read or
after it was accepted. `invalid`: the reference does not elaborate. What the response's code does to Lean while it is
read is judged: 0, `crashed`, `time_limit`, `memory_limit` or `output_limit`.
"""

from typing import Final

import msgspec
from pydantic import Field

from sandbox.base import Limits
from sandbox.workers import Exit, Task
from verifiers import code_blocks
from verifiers.base import (
    Example,
    Item,
    Params,
    Resources,
    Status,
    Verdict,
    clip,
)
from verifiers.boxed import BoxVerifier
from verifiers.code_blocks import Found, Select
from verifiers.commitment import Think
from verifiers.lean import repl, texts
from verifiers.lean.dialogue import DECLARATIONS, Dialogue
from verifiers.lean.texts import Statement
from verifiers.long_texts import BROKEN_LIMITS, INLINE_CHARS, ask_workers, sendable, trouble

MAX_CODE_CHARS: Final = 200_000
"""Code that is longer is not judged: 0, `too_large`."""
_LOOP_OUTPUT_BYTES: Final = 4 << 20


class LeanParams(Params):
    """The statement, and what a proof may use."""

    reference: str = Field(min_length=1, max_length=MAX_CODE_CHARS)
    """The statement as text of Lean, with imports or without: `theorem NAME … : … := by sorry`. Definitions may come
    before it."""
    header: str | None = Field(default=None, max_length=MAX_CODE_CHARS)
    """What comes before a reference that has no imports of its own. None: imports of Mathlib and Aesop, with the
    namespaces that most data sets open."""
    axioms: list[str] = Field(default=["propext", "Classical.choice", "Quot.sound"], max_length=100)
    """The axioms that a proof may depend on, by their full names."""
    native_decide: bool = False
    """Whether a proof may also trust Lean's compiler. If so, no second process checks the proof."""
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    """CPU seconds for the code of the response. The header gets ten more."""
    memory_mb: int = Field(default=8192, ge=16, le=262_144)
    """Memory of one process, with the parts of the libraries that it reads."""
    select: Select = "last"
    """Which of several code blocks is the proof."""
    think: Think = "auto"
    """Which text is searched. auto: the text after the last closing think tag; required: the tag must be there;
    none: all text."""

    def limits(self) -> Limits:
        return Limits(
            cpu_s=self.timeout_s,
            wall_s=max(30.0, 3 * self.timeout_s),
            memory_mb=self.memory_mb,
            output_bytes=_LOOP_OUTPUT_BYTES,
        )


FIND = Task(
    "verifiers.code_blocks", "find_in_worker", time_limit_s=5.0, output_bytes=code_blocks.MAX_PROGRAM_BYTES + 1024
)


class Lean(BoxVerifier[LeanParams]):
    name = "lean"
    version = "6"
    params = LeanParams
    summary = "The response proves the reference's theorem in Lean 4, by the kernel and with allowed axioms alone"

    def __init__(self, resources: Resources) -> None:
        self._workers = resources.workers
        self._sandbox = resources.sandbox
        self.concurrency = resources.sandbox.slots + 1

    async def _judge(self, item: Item[LeanParams]) -> Verdict:
        params = item.params
        stated = texts.statement(params.reference, params.header)
        repl.demand(self._sandbox)
        code = await self._find(item)
        if isinstance(code, Verdict):
            return code
        if code.code is None:
            return Verdict.wrong(code.reason)
        if len(code.code) > MAX_CODE_CHARS:
            return Verdict.wrong("too_large")
        proof = texts.proof(code.code, stated)
        word = texts.forbidden(proof, compiler=params.native_decide)
        if word is not None:
            verdict = Verdict.wrong("forbidden", message=f"a proof may not have {word[:80]!r}")
        else:
            verdict = await self._prove(params, stated, proof)
        return msgspec.structs.replace(verdict, extracted=clip(code.code))

    async def _prove(self, params: LeanParams, stated: Statement, proof: str) -> Verdict:
        """The verdict on code that Lean may read.

        Raises:
            InvalidItem, SandboxUnavailable, Unavailable: it was not judged.
        """
        dialogue = Dialogue(stated, proof)
        limits = params.limits()
        first = await repl.talk(self._sandbox, dialogue.reading(), limits, fetch=(DECLARATIONS,))
        theorem = dialogue.theorem(first, is_own_header=stated.has_own_header)
        refusal = dialogue.refusal(first)
        if refusal is not None:
            return refusal
        if params.native_decide:
            second = await repl.talk(self._sandbox, dialogue.reading_and_checking(theorem), limits)
        else:
            files = {DECLARATIONS: dialogue.written(first)}
            second = await repl.talk(self._sandbox, dialogue.checking(theorem), limits, files=files)
        return dialogue.decision(second, theorem, params.axioms, compiler=params.native_decide)

    async def _find(self, item: Item[LeanParams]) -> Found | Verdict:
        params = item.params
        if len(item.response) <= INLINE_CHARS:
            return code_blocks.find(item.response, "lean", params.think, params.select)
        payload = [sendable(item.response), "lean", params.think, params.select, "", "", ["lean"]]
        (outcome,) = await ask_workers(self._workers, FIND, [payload])
        if outcome.exit is Exit.OK:
            return Found(*outcome.value)
        return Found(None, "no_code", "lean") if outcome.exit in BROKEN_LIMITS else trouble(outcome)


def create(resources: Resources) -> Lean:
    resources.workers.register(FIND)
    return Lean(resources)


_TWO = "theorem two_add_two : 2 + 2 = 4 := by sorry"
EXAMPLES = [
    Example(
        "Both sides are numbers.\n```lean4\nimport Mathlib\n\ntheorem two_add_two : 2 + 2 = 4 := by\n  norm_num\n```",
        {"reference": _TWO},
        1.0,
        "correct",
        "Lean's kernel accepts the proof of the theorem that was asked for.",
    ),
    Example(
        "```lean4\ntheorem two_add_two : 2 + 2 = 4 := by\n  sorry\n```",
        {"reference": _TWO},
        0.0,
        "sorry",
        "`sorry` anywhere in the code is not proof.",
    ),
    Example(
        "```lean4\ntheorem two_add_two : 1 + 1 = 2 := by\n  norm_num\n```",
        {"reference": _TWO},
        0.0,
        "other_statement",
        "A theorem of the same name that states something else.",
    ),
    Example(
        "```lean4\naxiom easy : 2 + 2 = 4\ntheorem two_add_two : 2 + 2 = 4 := easy\n```",
        {"reference": _TWO},
        0.0,
        "forbidden",
        "A new axiom, and any word that runs code while Lean reads it, is refused unread.",
    ),
    Example(
        "```lean4\ntheorem two_add_two : 2 + 2 = 4 := by norm_num\n```",
        {"reference": "two_add_two"},
        None,
        "bad_reference",
        "The reference states no theorem.",
        Status.INVALID,
    ),
]
