"""Programs that solve nothing are never paid, however they lie to a test that is one program with them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from sandbox import languages
from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import Resources, Status
from verifiers.code import Code, aliases, splitting
from verifiers.code.cases import JoinedTest, Likeness, SplitTest
from verifiers.code.tellers import TELLERS

TASKS: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[2] / "data" / "code" / "forged.toml").read_text(encoding="utf-8")
)
UNGUARDED = {"javascript.count", "scala.evens", "julia.evens"}


def reference(language: str, task: dict[str, Any]) -> dict[str, Any]:
    return {"case_type": "program", "language": language, "test": task["test"], "prompt": task.get("prompt", "")}


def test_of(language: str, task: dict[str, Any]) -> Any:
    return aliases.parse(reference(language, task)).tests


test_of.__test__ = False  # type: ignore[attr-defined]  # it is not a test


@pytest.mark.boxes
@pytest.mark.parametrize("name", [f"{language}.{task}" for language, tasks in TASKS.items() for task in tasks])
def test_no_attack_is_paid(bench: Bench, name: str) -> None:
    language, _, task_name = name.partition(".")
    task = TASKS[language][task_name]
    if language not in bench.sandbox.languages:
        pytest.skip(f"no {language} here")
    solutions = [task["right"], task["wrong"], *task["attacks"].values()]
    params = {"reference": reference(language, task), "time_limit_s": 10.0}
    verdicts = bench.judge_all([(f"```{language}\n{solution}\n```", params) for solution in solutions], explain=True)
    assert {verdict.status for verdict in verdicts} == {Status.OK}
    paid = [
        label for label, verdict in zip(("right", "wrong", *task["attacks"]), verdicts, strict=True) if verdict.score
    ]
    assert paid == ["right"]
    is_guarded = name not in UNGUARDED
    assert {"unguarded" not in verdict.detail for verdict in verdicts} == {is_guarded}


@table("name", ["bash.evens", "python.evens", "perl.evens", "javascript.evens"])
def test_an_attack_of_each_interpreter_is_not_paid(bench: Bench, name: str) -> None:
    language, _, task_name = name.partition(".")
    task = TASKS[language][task_name]
    solutions = (task["right"], task["attacks"]["reads_its_source"])
    verdicts = [bench.judge(f"```{language}\n{solution}\n```", reference(language, task)) for solution in solutions]
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0]
    assert all("unguarded" not in verdict.detail for verdict in verdicts)


def test_what_is_split_holds_no_expected_value() -> None:
    for language, tasks in TASKS.items():
        for name, task in tasks.items():
            test = test_of(language, task)
            split = test.split if isinstance(test, JoinedTest) else None
            assert (split is not None) == (language != "python" and f"{language}.{name}" not in UNGUARDED), (
                language,
                name,
            )
            if isinstance(split, SplitTest) and name == "evens":
                wanted = (
                    "[2, 4]",
                    '= "2 4"',
                    "{2, 4}",
                    "c(2, 4)",
                    "({(long)2, (long)4})",
                    "asList((long)2l, (long)4l)",
                )
                assert [text for text in wanted if text in split.telling.source] == []
                assert any(text.removeprefix("= ") in split.expected for text in wanted)


@table(
    ("language", "source", "likenesses"),
    [
        # values that a test's own function compares would be compared in the program's process
        ("javascript", "const same = (a, b) => a == b;\nassert(same(f(1), 2) === true);", None),
        ("javascript", "assert(f(1) === 2 || true);", None),
        ("javascript", "for (const n of [1]) assert(f(n) === 2);", None),
        ("javascript", "assert.equal(f(1), 2);\nif (f(2) !== 3) throw 1;", None),
        ("javascript", "assert.equal(f(1), 2);", [Likeness(is_loose=True)]),
        ("javascript", "assert.deepStrictEqual(f('a, b'), [{ b: 2 }], 'no'); // 2", [Likeness()]),
        ("javascript", "console.assert(Math.abs(f(3.5) - 0.5) < 1e-6)", [Likeness(tolerance=1e-6)]),
        ("javascript", "var v0 = 8;\nvar x0 = f(1);\nif(!compare(x0, v0)){\n  throw 'no' + x0\n}", [Likeness()]),
        ("cpp", "int main() { assert(f(1) != 2); }", None),
        ("cpp", "bool compare(double a, double b) { return abs(a - b) < 1e-3; }\n"
                "int main() { if (!(compare(f(1), 2))) { throw 1; } }", None),
        ("cpp", "int main() { for (int n = 0; n < 2; n++) assert(f(n) == 1); }", None),
        ("cpp", "bool issame(vector<int> a, vector<int> b) { return a == b; }\n"
                "int main() { assert (issame(f({1}), {2, 3})); }", [Likeness()]),
        ("java", "class Main { void main() { assert f(1).equals(Arrays.asList(2)); } }", [Likeness()]),
        ("bash", '[[ $(f "1") = 2* ]]', None),
        ("bash", '[[ $(f "1") == 2 ]]\n[ "$(f 2)" -eq 3 ]', None),
        ("bash", "[[ $(f '1') == \"2\" ]]", [Likeness()]),
        ("cpp", "int main() { assert(strcmp(f(1), \"b\") + 1 == 1); }", None),
        ("c", "int main() { assert(strcmp(f(1), \"b\") == 0); assert(!strcmp(f(2), \"c\")); }", [Likeness()] * 2),
        ("c", "int main() { assert(strcmp(f(1), \"b\") != 0); }", None),
        ("c", "int main() { assert(f(1)); }", None),
        ("c", "int main() { assert(fabs(f(1) - 2.5) < 1e-6); }", [Likeness(tolerance=1e-6)]),
        ("rust", "fn main() { let candidate = f; assert_eq!(candidate(1), 2, \"no\"); }", [Likeness()]),
        # an object of the solution may have a minus of its own
        ("rust", "fn main() { let candidate = f; assert_eq!(candidate(1) - 2, 0); }", None),
        ("rust", "fn main() { assert!(!f(1)); assert!((g(1) - 0.5).abs() < 1e-6); }", [Likeness(), Likeness(tolerance=1e-6)]),
        ("rust", "fn main() { assert_eq!(f(r#\"1\"#), 2); }", None),
        ("rust", "fn main() { for n in 0..2 { assert_eq!(f(n), n); } }", None),
        ("go", "func main() { if f(1) != 2 { panic(\"no\") } }", [Likeness()]),
        ("go", "func main() { if !reflect.DeepEqual(f(1), []int{2}) { panic(1) } }", [Likeness()]),
        ("go", "func main() { if f(1) != 2 || f(2) != 3 { panic(1) } }", None),
        ("go", "func main() { if f(1) != 2 { fmt.Println(1) } }", None),
        ("rust_test", "#[test]\nfn a() { assert_eq!(f(1), 2); }", [Likeness()]),
        ("rust_test", "#[test]\n#[should_panic]\nfn a() { assert_eq!(f(1), 2); }", None),
        ("rust_test", "#[test]\nfn b() { assert_eq!(f(1), 2); }\n#[test]\nfn a() { assert_eq!(f(2), 3); }", None),
        ("go", "func main() { if x := f(1); x != 2 { panic(x) } }", [Likeness()]),
        ("go", "func main() { if x := f([]int{1}); !reflect.DeepEqual(x, []int{2}) { panic(x) } }", [Likeness()]),
        ("go", "func main() { if x, err := f(1); x != 2 { panic(err) } }", None),
        ("go", "func main() { if x, y := f(1), 2; x != y { panic(1) } }", None),
        ("go", "func main() { a := 1; if f(1) != 2 { panic(a) } }", None),
        ("go", "func main() { if f(1) != 2 { panic(1) } else { g() } }", None),
        ("go_test", "func TestA(t *testing.T) {\n\tassert := assert.New(t)\n\tassert.Equal(2, f(1))\n}", [Likeness()]),
        ("go_test", "func TestA(t *testing.T) {\n\trequire.Equal(t, []int{2}, f(1), \"no\")\n}", [Likeness()]),
        ("go_test", "func TestA(t *testing.T) {\n\tassert.Equal(t, true, f(1) == 2)\n}", None),
        ("go_test", "func TestA(t *testing.T) {\n\tassert.Equal(t, 2, f(1))\n\tassert.NotNil(t, f(2))\n}", None),
        ("lua", "lu.assertEquals(candidate(1), {2})\nos.exit(lu.LuaUnit.run('-v'))", [Likeness()]),
        ("lua", "assert(candidate(1) == 2)", None),
        ("php", 'if (candidate(1) !== [2]) { throw new Exception("no"); }', [Likeness()]),
        ("php", 'if (candidate(1) !== [2]) die("no");', [Likeness()]),
        ("php", 'if (candidate(1) !== [2]) { exit(1); }', [Likeness()]),
        ("php", 'if (candidate(1) !== [2]) { exit(1); } else { exit(0); }', None),
        ("php", 'if (candidate(1) != [2]) { throw new Exception("no"); }', None),
        ("r", "if(!identical(candidate(1), c(2))){quit('no', 1)}", [Likeness()]),
        ("r", "stopifnot(all.equal(candidate(1), 2))", None),
        ("ruby", "assert_equal([2], candidate.call(1))", [Likeness()]),
        ("ruby", "assert_equal(0, candidate.call(1) - 2)", None),
        ("ruby", "assert_equal(<<~A, candidate.call(1))\n2\nA", None),
        ("perl", 'if(eq_deeply(f([1]),[2])) {\n print "ok!" }else{\n exit 1;\n }', [Likeness()]),
    ],
)  # fmt: skip
def test_only_what_is_understood_is_split(language: str, source: str, likenesses: list[Likeness] | None) -> None:
    split = splitting.split(JoinedTest(source, language))
    assert (list(split.likenesses) if split else None) == likenesses


@table(
    ("value", "expected", "likeness", "holds"),
    [
        (b"[1,2]", b"[1,2]", Likeness(), True),
        (b'["1",2]', b"[1,2]", Likeness(), False),
        (b'["1",2]', b"[1,2]", Likeness(is_loose=True), True),
        (b"true", b"1", Likeness(is_loose=True), True),
        (b"null", b"0", Likeness(is_loose=True), False),
        (b'{"$":"nan"}', b'{"$":"nan"}', Likeness(), False),
        (b"2.5000001", b"2.5", Likeness(tolerance=1e-4), True),
        (b'{"$":"nan"}', b"2.5", Likeness(tolerance=1e-4), False),
        (b"NaN", b"2.5", Likeness(tolerance=1e-4), False),
        (b"1e999", b"2.5", Likeness(tolerance=1e-4), False),
        (b"[" * 9000, b"2.5", Likeness(is_loose=True), False),
        (b"9" * 6000, b"2.5", Likeness(tolerance=1e-4), False),
    ],
)
def test_values_are_compared_outside(value: bytes, expected: bytes, likeness: Likeness, holds: bool) -> None:
    split = splitting.split(JoinedTest("assert.equal(f(1), 2)", "javascript"))
    assert split is not None
    split = structs.replace(split, likenesses=[likeness])
    assert (splitting.first_difference(split, [value], [expected]) is None) is holds


@table(
    ("told", "values"),
    [
        (b"1\n2\n", [b"1", b"2"]),
        (b"1\n", None),
        (b"1\n2\n3\n", None),
        (b"1\n2", None),
        (None, None),
        (b"1\n" + b"2" * 2_000_000 + b"\n", None),
    ],
)
def test_as_many_values_are_told_as_the_test_asks_for(told: bytes | None, values: list[bytes] | None) -> None:
    split = splitting.split(JoinedTest("assert.equal(f(1), 2);\nassert.equal(f(2), 3);", "javascript"))
    assert split is not None
    assert splitting.values_of(split, told) == values


def test_a_program_that_tells_too_much_is_not_paid(bench: Bench) -> None:
    told = "evens() { printf '%s\\0' '2 4' '' 8 >> rewardline.values; }"
    verdict = bench.judge(f"```bash\n{told}\n```", reference("bash", TASKS["bash"]["evens"]))
    assert (verdict.score, verdict.reason) == (0.0, "wrong_answer")


def test_an_operator_refuses_what_nothing_guards(bench: Bench) -> None:
    verifier = bench.verifier
    bench.verifier = Code(Resources(bench.workers, bench.sandbox, refuses_unguarded=True))
    try:
        open_test = {"case_type": "program", "language": "bash", "test": "set -e\n[ $(twice 4) -eq 8 ] || exit 1"}
        for response in ("```bash\ntwice() { echo $(($1 * 2)); }\n```", "```bash\ntwice() { :; }\n```", "no program"):
            verdict = bench.judge(response, open_test)
            assert (verdict.status, verdict.reason) == (Status.INVALID, "unguarded_tests")
        task = TASKS["bash"]["evens"]
        assert bench.judge(f"```bash\n{task['right']}\n```", reference("bash", task)).score == 1.0
    finally:
        bench.verifier = verifier


@table(
    "test",
    [
        "class T(Twice): pass\nassert twice(2) == 4",
        "def check(f):\n    assert f(2) == 4",  # nothing calls it
        "if __name__ != 'twice':\n    assert twice(2) == 4",
        "import sys\nassert twice(2) == 4\nsys.exit(0)",
        "import inspect\nassert inspect.getsource(twice)",
    ],
)
def test_python_that_needs_the_programs_process_stays_there(test: str) -> None:
    assert isinstance(aliases.parse({"case_type": "program", "language": "python", "test": test}).tests, JoinedTest)


@table(
    ("test", "empties", "sorts"),
    [
        ("data = [3, 1]\nassert f(data) == sorted(data)", 0.0, 1.0),
        ("data = [3, 1]\ngot = f(data)\nassert got == sorted(data)", 0.0, 1.0),
        ("d = [3, 1]\nr = f(d)\ne = d.copy()\ne.sort()\nassert r == e", 0.0, 1.0),
        ("d = [3, 1]\nr = f(d)\nd.sort()\nassert r == d", 0.0, 1.0),
        ("d = {'a': [3, 1]}\nr = f(d['a'])\nd['a'].sort()\nassert r == d['a']", 0.0, 1.0),
        ("d, e = [3, 1], []\nr = f(d)\nwhile d:\n    e.append(d.pop(d.index(min(d))))\nassert r == e", 0.0, 1.0),
        ("d = [1, 3]\nr = f(d)\nd.append(9)\nassert r == [n for n in d[:-1]]", 0.0, 0.0),  # `r` is `d`
        ("d = [3, 1]\nr = f(d)\nassert r == sorted(d)\nassert isinstance(d, list)", 0.0, 1.0),
        ("d = [3, 1]\nr = f(d)\nassert r == sorted(d)\nassert len(d) >= 0", 0.0, 1.0),
        # the program is to change what it gets
        ("data = [3, 1]\nf(data)\nassert data == [1, 3]", 0.0, 1.0),
        ("data = [3, 1]\nassert f(data) == [1, 3] and data == [1, 3]", 0.0, 1.0),
        ("data = [3, 1]\ngot = f(data)\nassert len(got) == 2 and data[0] == 1", 0.0, 1.0),
    ],
)
def test_what_is_expected_of_an_argument_is_not_the_programs_to_change(
    bench: Bench, test: str, empties: float, sorts: float
) -> None:
    for body, score in (("all.clear()", empties), ("all.sort()", sorts)):
        solution = f"```python\ndef f(all):\n    {body}\n    return all\n```"
        assert bench.judge(solution, {"case_type": "assert", "test_cases": [test]}).score == score


@table(
    ("output", "expected", "score"),
    [("2.5000001", "2.5", 1.0), ("nan", "2.5", 0.0), ("-NaN", "2.5", 0.0), ("inf", "2.5", 0.0), ("nan", "nun", 1.0)],
)
def test_no_checker_with_a_tolerance_accepts_what_is_not_a_number(
    bench: Bench, output: str, expected: str, score: float
) -> None:
    checker = (
        "import sys\noutput = open(sys.argv[2]).read().strip()\nexpected = open(sys.argv[3]).read().strip()\n"
        "if len(output) == len(expected) == 3 and output.isalpha() and expected.isalpha(): sys.exit(0)\n"
        "a, b = float(output), float(expected)\nif abs(a - b) / max(1.0, abs(a), abs(b)) > 1e-6: sys.exit(1)\n"
    )
    reference = {
        "case_type": "checker",
        "checker": checker,
        "test_cases": [{"input": "1\n", "expected_output": expected}],
    }
    assert bench.judge(f"```python\nprint('{output}')\n```", reference).score == score


CHECKS: dict[str, tuple[str, str, list[str]]] = {
    "bash": ("Bash", "{}", ['[[ $(f 1) = "2" ]]']),
    "c": (
        "C",
        "int main() {{ {}; }}",
        ["assert(f(1) == 2)", 'assert(strcmp(f(1), "2") == 0)', "assert(fabs(f(1) - 2.5) < 1e-4)"],
    ),
    "cpp": (
        "C++",
        "int main() {{ {}; }}",
        ["assert(f(1) == 2)", "assert(abs(f(1) - 2.5) < 1e-4)", "assert(issame(f(1), {2}))"],
    ),
    "go": (
        "Go",
        "func main() {{ {} }}",
        [
            "if f(1) != 2 { panic(1) }",
            "if x := f(1); x != 2 { panic(x) }",
            "assert.Equal(t, 2, f(1))",
            "if !reflect.DeepEqual(f(1), []int{2}) { t.Fatal(1) }",
        ],
    ),
    "java": ("Java", "class Main {{ void main() {{ {}; }} }}", ["assert(f(1) == 2)", "assert f(1).equals(2)"]),
    "javascript": (
        "JavaScript, TypeScript",
        "{};",
        [
            "assert(f(1) === 2)",
            "console.assert(f(1) === 2)",
            "assert.equal(f(1), 2)",
            "assert.deepEqual(f(1), [2])",
            "assert.deepStrictEqual(f(1), [2])",
        ],
    ),
    "lua": ("Lua", "{}\n", ["lu.assertEquals(f(1), {2})"]),
    "perl": ("Perl", "{}", ['if(eq_deeply(f(1), 2)) { print "ok!" } else { exit 1; }']),
    "php": ("PHP", "{}", ['if (f(1) !== 2) { throw new Exception("no"); }', 'if (f(1) !== 2) die("no");']),
    "r": ("R", "{}\n", ["if(!identical(f(1), 2)){quit('no', 1)}", "stopifnot(identical(f(1), 2))"]),
    "ruby": ("Ruby", "{}\n", ["assert_equal([2], f(1))"]),
    "rust": (
        "Rust",
        "fn main() {{ {}; }}",
        ["assert_eq!(f(1), 2)", "assert!(f(1) == 2)", "assert!((f(1) - 2.5).abs() < 1e-4)", "assert!(f(1))"],
    ),
}
HELPERS = {"cpp": "bool issame(vector<int> a, vector<int> b) { return a == b; }\n"}


def test_the_page_has_the_checks_that_are_understood() -> None:
    rows = ["| | checks that are understood |", "|---|---|"]
    for language, (title, frame, checks) in CHECKS.items():
        rows.append(f"| {title} | {', '.join(f'`{check}`' for check in checks)} |")
        for check in checks:
            source = (HELPERS.get(language, "") if "issame" in check else "") + frame.format(check)
            assert splitting.split(JoinedTest(source, language)) is not None, check
    guarded = {*CHECKS, "typescript", "go_test", "rust_test", "python"}
    others = sorted(name for name in languages.all_languages() if name not in guarded)
    rows.append(f"| others ({', '.join(others)}) | none: always `unguarded` |")
    assert {*TELLERS} | {"python"} == guarded
    assert "\n".join(rows) in (Path(__file__).parents[3] / "docs" / "boxes.md").read_text("utf-8"), "\n".join(rows)


@table(
    ("value", "gold", "right"),
    [
        (b'{"$":"u32","of":4294967295}', b"-1", True),
        (b'{"$":"u32","of":4294967294}', b"-1", False),
        (b'{"$":"u64","of":18446744073709551615}', b"-1", True),
        (b'{"$":"u32","of":4294967295}', b"4294967295", True),
        (b"-1", b'{"$":"u32","of":4294967295}', True),
        (b"4294967295", b"-1", False),
        (b'{"$":"u8","of":255}', b"-1", False),
        (b'{"$":"u32","of":4294967295}', b"true", False),
    ],
)
def test_unsigned_numbers_of_c_equal_what_they_wrap_around_to(value: bytes, gold: bytes, right: bool) -> None:
    test = test_of("c", TASKS["c"]["twice"])
    split = structs.replace(test.split, likenesses=[Likeness()])
    assert (splitting.first_difference(split, [value], [gold]) is None) is right


def test_an_unsigned_result_is_compared_with_a_negative_number_as_in_c(bench: Bench) -> None:
    if "c" not in bench.sandbox.languages:
        pytest.skip("no c here")
    test = "#include <assert.h>\nint main(void) {\n    assert(f(1) == -1);\n    return 0;\n}\n"
    programs = ["unsigned f(int n) { return 0u - 1; }", "long f(int n) { return 4294967295; }"]
    scores = [bench.judge(f"```c\n{program}\n```", reference("c", {"test": test})).score for program in programs]
    assert scores == [1.0, 0.0]
