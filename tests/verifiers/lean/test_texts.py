"""What is read of Lean's texts before Lean sees them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.base import InvalidItem
from verifiers.lean.texts import HEADER, forbidden, proof, statement, without_comments

STATED = statement("theorem goal : 1 = 1 := by sorry", None)


@table(
    ("text", "left"),
    [
        ("a -- b\nc", "a     \nc"),
        ("a /- b /- c -/ d -/ e", "a                   e"),
        ("a /-- doc\n-/ b", "a        \n   b"),
        ('"--" -- b', '"--"     '),
        ('"\\"/-" /- b', '"\\"/-"     '),
        ('r"\\" -- b', 'r"\\"     '),
        ('r#"a"/-"# -- b', 'r#"a"/-"#     '),
        ("'\"' -- b", "'\"'     "),
        ("x' '-' y'--z", "x' '-' y'   "),
        ("a /- never", "a         "),
    ],
)
def test_comments_become_blanks(text: str, left: str) -> None:
    assert without_comments(text) == left


@given(st.text("ab\"'-/\\\n r#", max_size=60))
def test_nothing_moves_and_nothing_is_joined(text: str) -> None:
    left = without_comments(text)
    assert len(left) == len(text)
    assert all(now == then or (now == " " and then != "\n") for now, then in zip(left, text, strict=True))


@table(
    "text",
    [
        "#eval 1",
        "theorem a : 1⁻¹ = 1 := x⁻¹#eval!",
        "x²run_cmd foo",
        "open Lean Elab in",
        "«Lean».Elab.Command",
        "set_option debug.skipKernelTC true",
        "set_option «debug».skipKernelTC true",
        "set_option\n  warn.sorry false",
        "@[implemented_by f] def g := 1",
        "attribute [csimp] foo",
        "unsafe def f := 1",
        "local macro_rules | `(tactic| x) => `(tactic| y)",
        'elab "x" : tactic => pure ()',
        "#exit",
        'theorem a : 1 = 1 := by simp (config := unsafeCast (unsafeIO (.FS.writeFile "a" "b")))',
        'theorem a : 1 = 1 := by simp (config := match timeit "" (.Process.exit 0) () with | _ => {})',
        'theorem a : s!"{by_elab x}" = "" := rfl',
        "initialize x : IO Unit ← pure ()",
        "simproc foo (x) := fun e => e",
        "private axiom a : False",
    ],
)
def test_words_that_run_code_are_found(text: str) -> None:
    assert forbidden(without_comments(text)) is not None


@table(
    "text",
    [
        "set_option maxHeartbeats 400000 in\ntheorem a : 1 = 1 := by simp [macros, IOU, elaborate]",
        "#check Nat\n#print axioms foo",
        "@[simp] lemma a : 1 = 1 := rfl",
        'local notation "x" => 1',
        "local instance : Add Nat := ⟨Nat.mul⟩",
        "open Polynomial in\nexample : List.prefix_append = x := by tactic",
        "instance : Fact (Nat.Prime 5) := ⟨by norm_num⟩",
    ],
)
def test_other_words_are_left_to_lean(text: str) -> None:
    assert forbidden(text) is None


@table("tail", ["", " :=", " := by", " := sorry", " := by\n  sorry\n", ":= by sorry -- to do"])
def test_a_statement_may_end_in_any_of_the_usual_ways(tail: str) -> None:
    stated = statement(f"theorem A.b_c' (x : Nat) (h : x = 1) : x + 1 = 2{tail}", None)
    assert stated.header == HEADER
    declared = " ".join(stated.declared_as("new").split())
    assert declared == "theorem A.new (x : Nat) (h : x = 1) : x + 1 = 2 := by sorry"


def test_a_proof_in_the_reference_stays() -> None:
    stated = statement("lemma a : 1 = 1 := by\n  rfl", None)
    assert stated.declared_as("b") == "theorem b : 1 = 1 := by\n  rfl"


def test_the_last_theorem_is_the_one_to_prove() -> None:
    stated = statement("/-- theorem doc : x -/\ntheorem a : 1 = 1 := rfl\nprivate theorem b : 2 = 2", "import X")
    assert (stated.name, stated.header, stated.has_own_header) == ("b", "import X", True)
    assert stated.preamble.strip() == "theorem a : 1 = 1 := rfl"


@table("reference", ["", "1 = 1", "-- theorem a : 1 = 1", "example : 1 = 1", "theorems a : 1 = 1"])
def test_a_reference_without_a_theorem_is_refused(reference: str) -> None:
    with pytest.raises(InvalidItem, match="states no theorem"):
        statement(reference, None)


def test_imports_of_the_response_are_left_out_and_lines_stay() -> None:
    text = proof("import Mathlib\n\nimport Aesop\nopen Nat\ntheorem goal : 1 = 1 := rfl", STATED)
    assert text.split("\n")[3:] == ["open Nat", "theorem goal : 1 = 1 := rfl"]
    assert not "".join(text.split("\n")[:3]).strip()


def test_what_the_reference_declares_is_not_declared_twice() -> None:
    stated = statement("open Nat\ndef f (n : ℕ) := n + 1\ntheorem goal : f 1 = 2 := by sorry", None)
    code = "open Real Nat\n/-- f -/ def f (n : ℕ) :=\n  n + 1\n\nlemma h : 1 = 1 := rfl\ntheorem goal : f 1 = 2 := rfl"
    assert proof(code, stated).split("\n") == [
        "open Real Nat",
        " " * 25,
        " " * 7,
        "",
        "lemma h : 1 = 1 := rfl",
        "theorem goal : f 1 = 2 := rfl",
    ]
    other = code.replace("n + 1", "n + 2")
    assert proof(other, stated) == without_comments(other)
