"""Proofs judged with the stand-in of Lean's loop, in real boxes: what pays, what does not, and what cannot be judged."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sandbox.base import Built, Execute, Exit, Program, Run, RunResult, SandboxUnavailable
from sandbox.boxes.absent import NoSandbox
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from tests.verifiers.found import Found
from tests.verifiers.lean.stand_in import WithLean
from tests.waiting import until
from verifiers.base import Item, Resources, Status, Unavailable, Verdict
from verifiers.lean import MAX_CODE_CHARS, Lean, LeanParams, repl
from verifiers.lean.dialogue import Dialogue
from verifiers.lean.texts import statement

STATED = "theorem goal : 2 + 3 = 5 := by sorry"


def judged(found: Found, code: str, reference: str = STATED, **params: Any) -> Verdict:
    return found.judge("lean", f"```lean4\n{code}\n```", reference=reference, **params)


def score_and_reason(verdict: Verdict) -> tuple[float | None, str]:
    return verdict.score, verdict.reason


@pytest.mark.parametrize(
    "code",
    [
        "theorem goal : 2 + 3 = 5 := by norm_num",
        "import Mathlib\nimport Aesop\nopen Nat\n\ntheorem goal : 2 + 3 = 5 := by rfl",
        "lemma help : 1 + 4 = 5 := by norm_num\ntheorem goal : 2 + 3 = 5 := by norm_num",
        "/- Lean's macro -/ theorem goal : 2 + 3 = 5 := by -- no sorry, no #eval\n  norm_num",
        "theorem goal : 1 + 4 = 4 + 1 := by norm_num",
        "namespace Mine\nlemma help : 5 = 5 := by rfl\nend Mine\ntheorem goal : 2 + 3 = 5 := by norm_num",
        "set_option maxHeartbeats 0\nlocal notation x\ntheorem goal : 2 + 3 = 5 := by norm_num\nnamespace Open",
    ],
)
def test_a_proof_of_the_statement_is_right(found: Found, code: str) -> None:
    assert score_and_reason(judged(found, code)) == (1.0, "correct")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("theorem goal : 2 + 3 = 5 := by unknown_tactic", "does_not_elaborate"),
        ("theorem goal : 2 + 3 = 6 := by norm_num", "does_not_elaborate"),
        ("theorem goal : 2 + 3 = 5 :=", "does_not_elaborate"),
        ("That is obvious.", "does_not_elaborate"),
        ("theorem goal : 2 + 3 = 5 := by sorry", "sorry"),
        ("lemma help : 0 = 1 := by sorry\ntheorem goal : 2 + 3 = 5 := by norm_num", "sorry"),
        ("theorem goal : 5 = 2 + 4 := by norm_num", "does_not_elaborate"),
        ("theorem goal : 1 = 1 := by norm_num", "other_statement"),
        ("theorem other : 2 + 3 = 5 := by norm_num", "no_theorem"),
        ("namespace Mine\ntheorem goal : 2 + 3 = 5 := by norm_num", "no_theorem"),
        ("theorem goal : 2 + 3 = 5 := by exact?", "does_not_elaborate"),
        ("theorem goal : 2 + 3 = 5 := by native_decide", "forbidden"),
        ("axiom easy : 2 + 3 = 5\ntheorem goal : 2 + 3 = 5 := easy", "forbidden"),
        ('macro "#print" "axioms" x:ident : command => `(#check 1)', "forbidden"),
        ("#eval 1\ntheorem goal : 2 + 3 = 5 := by norm_num", "forbidden"),
        ("set_option debug.skipKernelTC true\ntheorem goal : 2 + 3 = 5 := by norm_num", "forbidden"),
        ("", "no_code"),
    ],
)
def test_what_is_no_proof_of_it(found: Found, code: str, reason: str) -> None:
    assert score_and_reason(judged(found, code)) == (0.0, reason)


def test_the_first_error_is_shown_without_the_secret_name(found: Found) -> None:
    assert judged(found, "\ntheorem goal : 2 + 3 = 5 := by\n  gone").detail["message"] == "2:0: unknown constant 'gone'"
    assert "_rewardline" not in str(judged(found, "theorem goal : 1 = 1 := by rfl").detail)


def test_axioms_are_those_that_the_item_allows(found: Found) -> None:
    with_axiom = f"axiom Given.it : 2 + 3 = 6\n{STATED.replace('= 5', '= 6')}"
    code = "theorem goal : 2 + 3 = 6 := by exact Given.it"
    refused = judged(found, code, with_axiom)
    assert (score_and_reason(refused), refused.detail["axioms"]) == ((0.0, "axioms"), ["Given.it"])
    assert judged(found, code, with_axiom, axioms=["Given.it"]).score == 1.0
    assert score_and_reason(judged(found, "theorem goal : 2 + 3 = 5 := by norm_num", axioms=[])) == (0.0, "axioms")
    assert judged(found, "theorem goal : 2 + 3 = 5 := by rfl", axioms=[]).score == 1.0


def test_the_compiler_is_trusted_only_where_the_item_says_so(found: Found) -> None:
    code = "theorem goal : 2 + 3 = 5 := by native_decide"
    assert judged(found, code, native_decide=True).score == 1.0
    assert judged(found, code).reason == "forbidden"
    assert judged(found, code.replace("goal", "other"), native_decide=True).reason == "no_theorem"


DEFINED = "import Mathlib\nopen Nat\ndef three := 3\n\ntheorem goal : 2 + three = 5 := by sorry"


@pytest.mark.parametrize(
    ("code", "score"),
    [
        ("theorem goal : 2 + three = 5 := by norm_num", 1.0),
        ("open Nat\n\ndef three :=\n  3 -- as given\ntheorem goal : 2 + three = 5 := by norm_num", 1.0),
        ("open Real\nopen Nat\ndef three := 3\n\ntheorem goal : 2 + three = 5 := by norm_num", 1.0),
        ("def three := 4\ntheorem goal : 2 + three = 6 := by norm_num", 0.0),
        ("def mine := 3\ntheorem goal : 2 + mine = 5 := by norm_num", 1.0),
    ],
)
def test_definitions_are_those_of_the_reference(found: Found, code: str, score: float) -> None:
    assert judged(found, code, DEFINED).score == score


def test_names_and_universes_are_those_of_the_reference(found: Found) -> None:
    spaced = "namespace Deep\ntheorem In.goal.{u, v} : 1 = 1 := by"
    assert judged(found, "theorem In.goal.{u, v} : 1 = 1 := by rfl", spaced).score == 1.0
    assert judged(found, "end Deep\ntheorem Deep.In.goal.{u, v} : 1 = 1 := by rfl", spaced).score == 1.0
    assert judged(found, "end Deep\ntheorem In.goal.{u, v} : 1 = 1 := by rfl", spaced).reason == "no_theorem"
    assert judged(found, "theorem In.goal.{u} : 1 = 1 := by rfl", spaced).reason == "other_statement"


@pytest.mark.parametrize(
    ("reference", "params", "reason"),
    [
        ("2 + 3 = 5", {}, "bad_reference"),
        ("theorem goal : = := by sorry", {}, "bad_reference"),
        ("theorem goal : 2 + = 5", {}, "bad_reference"),
        ("def answer := sorry\ntheorem goal : answer = 5 := by sorry", {}, "bad_reference"),
        (STATED, {"header": "import Missing"}, "bad_header"),
        (STATED, {"header": "import Mathlib\nthis is not a command"}, "bad_header"),
        (STATED, {"header": "import Mathlib\ntheorem goal : 1 = 1 := by rfl"}, "bad_reference"),
    ],
)
def test_items_that_must_be_corrected(found: Found, reference: str, params: dict[str, str], reason: str) -> None:
    verdict = judged(found, "theorem goal : 2 + 3 = 5 := by norm_num", reference, **params)
    assert (verdict.status, verdict.reason) == (Status.INVALID, reason)


@pytest.mark.parametrize(
    ("tactic", "params", "score", "reason"),
    [
        ("loop", {"timeout_s": 0.2}, 0.0, "time_limit"),
        pytest.param("grow", {"memory_mb": 128}, 0.0, "memory_limit", marks=pytest.mark.boxes),
        ("crash", {}, 0.0, "crashed"),
        ("garbage", {}, None, "lean_protocol"),
        ("half", {}, None, "lean_protocol"),
        ("lie", {}, None, "lean_crashed"),
    ],
)
def test_faults_while_lean_reads_the_proof(
    found: Found, tactic: str, params: dict[str, Any], score: float | None, reason: str
) -> None:
    verdict = judged(found, f"theorem goal : 2 + 3 = 6 := by {tactic}", STATED.replace("= 5", "= 6"), **params)
    assert score_and_reason(verdict) == (score, reason)


@pytest.mark.boxes
@pytest.mark.parametrize(
    ("header", "params"),
    [
        ("import Slow", {"timeout_s": 0.2}),
        pytest.param("import Large", {"memory_mb": 128}, marks=pytest.mark.bombs),
    ],
)
def test_limits_reached_by_the_header_say_nothing_about_the_proof(
    found: Found, header: str, params: dict[str, Any]
) -> None:
    for _ in range(3):  # the second makes a loop that should stand ready, and cannot
        verdict = judged(found, "theorem goal : 2 + 3 = 5 := by norm_num", header=header, **params)
        assert (verdict.status, verdict.reason) == (Status.FAILED, "lean_limit")


@pytest.mark.boxes
async def test_a_loop_that_stood_ready_is_believed_no_more_and_no_less() -> None:
    """From the third proof on, each is read by a process that has read the header before it."""
    pool = PooledSandbox(LocalBackend(), slots=1, standing=1)
    verifier = Lean(Resources(Workers(1), WithLean(pool)))
    params = LeanParams(reference=STATED)
    await pool.start()
    try:
        for place, (score, tactic) in enumerate(
            [(1.0, "norm_num"), (0.0, "gone"), (0.0, "gone"), (None, "lie"), (0.0, "crash"), (1.0, "rfl")]
        ):
            started = pool.counters.boxes_started
            item = Item(f"```lean4\ntheorem goal : 2 + 3 = 5 := by {tactic}\n```", params)
            (verdict,) = await verifier.score([item])
            assert verdict.score == score, verdict
            if place > 0:
                await until(lambda: pool.standing == 1)
            assert place < 2 or pool.counters.boxes_started > started  # in place of the one that was taken
    finally:
        await pool.stop()


class Scripted(NoSandbox):
    """Boxes whose processes answer what the test says, with the secret name for SECRET. It keeps the commands."""

    slots = 1

    def __init__(self, *answers: bytes, exits: Exit = Exit.EXITED) -> None:
        self.asked: list[list[dict[str, Any]]] = []
        self._answers = list(answers)
        self._exits = exits

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        (run,) = runs
        assert isinstance(run, Execute)
        self.asked.append([json.loads(line) for line in (run.ahead + run.stdin).split(b"\n\n") if line])
        assert on_result is not None
        files = dict.fromkeys(run.fetch, b"declarations")
        secret = self.asked[0][1]["cmd"].split()[1].encode()
        on_result(0, RunResult(self._exits, 0, stdout=self._answers.pop(0).replace(b"SECRET", secret), files=files))
        return Built(ok=True)


def scripted(boxes: Scripted, code: str = "theorem goal : 2 + 3 = 5 := by norm_num") -> Verdict:
    verifier = Lean(Resources(Workers(1), boxes))
    item = Item(f"```lean4\n{code}\n```", LeanParams(reference=STATED))

    async def score() -> Sequence[Verdict]:
        return await verifier.score([item])

    return asyncio.run(score())[0]


def test_a_long_response_is_searched_in_a_worker(found: Found) -> None:
    response = "So it is. " * 5000 + "\n```lean\ntheorem goal : 2 + 3 = 5 := by norm_num\n```"
    assert found.judge("lean", response, reference=STATED).score == 1.0
    assert found.judge("lean", f"```lean\n{'x ' * MAX_CODE_CHARS}\n```", reference=STATED).reason == "too_large"


def test_without_the_loop_nothing_is_judged() -> None:
    verifier = Lean(Resources(Workers(1)))

    async def score() -> Sequence[Verdict]:
        return await verifier.score([Item("```lean4\nx\n```", LeanParams(reference=STATED))])

    (verdict,) = asyncio.run(score())
    assert (verdict.status, verdict.reason) == (Status.FAILED, "sandbox_unavailable")


def test_what_the_default_header_lacks_is_the_installations_fault() -> None:
    verdict = scripted(Scripted(b'{"message": "unknown module prefix Mathlib"}\n\n'))
    assert (verdict.status, verdict.reason) == (Status.FAILED, "lean_header")


READ = b"""{"env": 0}

{"env": 1}

{"env": 2, "messages": [{"severity": "info", "data": "'SECRET' depends on axioms: [sorryAx]"}]}

{"env": 3}

{"env": 3}

"""
"""What the first process says of a proof, or what a proof makes it say."""
UNKNOWN = b'{"env": 0}\n\n{"env": 1, "messages": [{"severity": "error", "data": "unknown"}]}\n\n{"env": 2}\n\n'
FALSE = b"""{"env": 0}

{"env": 1, "messages": [{"severity": "info", "data": "'goal' does not depend on any axioms"}]}

{"env": 2, "messages": [{"severity": "error", "data": "type mismatch"}]}

"""


@pytest.mark.parametrize(
    ("second", "score", "reason"),
    [
        (UNKNOWN, 0.0, "no_theorem"),
        (FALSE, 0.0, "other_statement"),
        (FALSE.replace(b"error", b"info"), 1.0, "correct"),
        (FALSE.replace(b"'goal'", b"'other'"), None, "lean_protocol"),
        (b'{"message": "incompatible header"}\n\n' + FALSE, None, "lean_protocol"),
        (b'{"env": 0}\n\n', None, "lean_protocol"),
        (b"", None, "lean_protocol"),
    ],
)
def test_what_the_first_process_says_is_never_a_yes(second: bytes, score: float | None, reason: str) -> None:
    boxes = Scripted(READ, second)
    assert score_and_reason(scripted(boxes)) == (score, reason)
    assert [list(order) for order in boxes.asked[1]] == [["unpickleEnvFrom"], ["cmd", "env"], ["cmd", "env"]]


@pytest.mark.parametrize("said", range(5))
@pytest.mark.parametrize("exits", [Exit.EXITED, Exit.SIGNALLED, Exit.TIME_LIMIT])
def test_a_process_that_ends_early_is_judged_only_by_what_the_proof_did(said: int, exits: Exit) -> None:
    verdict = scripted(Scripted(b"".join(part + b"\n\n" for part in READ.split(b"\n\n")[:said]), exits=exits))
    if said == 3 and exits is not Exit.EXITED:
        reason = {Exit.TIME_LIMIT: "time_limit", Exit.SIGNALLED: "crashed"}[exits]
        assert score_and_reason(verdict) == (0.0, reason)
    else:
        assert verdict.status is Status.FAILED


def test_the_process_that_says_yes_reads_nothing_of_the_response(found: Found) -> None:
    code = "theorem goal : 2 + 3 = 5 := by norm_num"
    dialogue = Dialogue(statement(STATED, None), code)
    names = {"messages": [{"severity": "info", "data": f"'{_secret(dialogue)}' depends on axioms: [sorryAx]"}]}
    talk = repl.Talk([repl.Reply(env=0), repl.Reply(env=1), *_replies(names)], RunResult(Exit.EXITED, 0))
    theorem = dialogue.theorem(talk, is_own_header=False)
    text = json.dumps(dialogue.checking(theorem))
    assert "norm_num" not in text
    assert "2 + 3" not in text
    assert "norm_num" in json.dumps(dialogue.reading_and_checking(theorem))


def _secret(dialogue: Dialogue) -> str:
    stated = str(dialogue.reading()[1]["cmd"])
    return stated.split()[1]


def _replies(*answers: dict[str, Any]) -> list[repl.Reply]:
    return repl.replies_of("\n\n".join(map(json.dumps, answers)).encode())


def test_each_item_has_a_secret_of_its_own() -> None:
    stated = statement(STATED, None)
    assert _secret(Dialogue(stated, "")) != _secret(Dialogue(stated, ""))


@pytest.mark.parametrize("axioms", ["[propext", "{propext}", ""])
def test_an_unknown_form_of_the_axioms_is_never_none(axioms: str) -> None:
    dialogue = Dialogue(statement(STATED, None), "")
    names = {"messages": [{"severity": "info", "data": f"'{_secret(dialogue)}' does not depend on any axioms"}]}
    first = repl.Talk([repl.Reply(env=0), repl.Reply(env=1), *_replies(names)], RunResult(Exit.EXITED, 0))
    theorem = dialogue.theorem(first, is_own_header=False)
    said = {"env": 1, "messages": [{"severity": "info", "data": f"'goal' depends on axioms: {axioms}"}]}
    second = repl.Talk(_replies({"env": 0}, said, {"env": 2}), RunResult(Exit.EXITED, 0))
    with pytest.raises(Unavailable, match="no axioms of goal"):
        dialogue.decision(second, theorem, ["propext"], compiler=False)


def test_answers_end_at_the_first_that_is_none() -> None:
    stdout = b'{"env": 0}\n\n{"env":\n 1,\n "messages": []}\n\nnoise\n\n{"env": 2}\n\n'
    assert [reply.env for reply in repl.replies_of(stdout)] == [0, 1]
    assert repl.replies_of(b"[" * 100_000) == []
    assert repl.replies_of(b'{"env": 0, "messages": [{"severity": "\xff", "data": ""}]}') == []


@pytest.mark.parametrize("code", ["theorem goal : 2 + 3 = 5 := by norm_num", "", "sorry"])
def test_boxes_without_lean_judge_no_response(code: str) -> None:
    class Others(Scripted):
        languages = frozenset(["python"])

    verdict = scripted(Others(), code)
    assert (verdict.status, verdict.reason) == (Status.FAILED, "language_unavailable")


def test_commands_are_lines_of_json() -> None:
    text = repl.input_of([{"cmd": "a\n\nb ∀ \ud800"}, {"pickleTo": "x", "env": 3}]).decode()
    assert text == '{"cmd": "a\\n\\nb ∀ ?"}\n\n{"pickleTo": "x", "env": 3}\n\n'


def test_boxes_that_fail_are_no_verdict() -> None:
    class Failing(Scripted):
        async def run(self, *_: Any) -> Built:
            raise SandboxUnavailable("all boxes are lost", "box_died")

    verdict = scripted(Failing())
    assert (verdict.status, verdict.reason) == (Status.FAILED, "box_died")
