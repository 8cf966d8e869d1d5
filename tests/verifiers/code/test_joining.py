"""Solutions and tests that are one program, as text and in boxes."""

from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import InvalidItem, Status, Unavailable
from verifiers.code import aliases
from verifiers.code.cases import CaseType, JoinedTest
from verifiers.code.joining import endless, joined, solution_of, turned

CPP: dict[str, Any] = {
    "language": "cpp",
    "prompt": "#include <cassert>\n#include <string>\n// The sum of the digits.\nlong digits(long n) {\n",
    "tests": "}\nint main() {\n    auto candidate = digits;\n    assert(candidate(0) == 0);\n"
    '    assert(candidate(96) == 15); // "}"\n    return 0;\n}\n',
    "stop_tokens": ["\n}", "\n\n"],
}
"""A row in the form of MultiPL-E."""
DIGITS = "    long sum = 0;\n    for (; n; n /= 10) {\n        sum += n % 10;\n    }\n    return sum;\n"
WHOLE = f"long digits(long n) {{\n{DIGITS}}}\n"


def test_of(reference: dict[str, Any]) -> JoinedTest:
    suite = aliases.parse(reference)
    assert suite.case_type is CaseType.PROGRAM
    assert isinstance(suite.tests, JoinedTest)
    return suite.tests


test_of.__test__ = False  # type: ignore[attr-defined]  # it is not a test


@pytest.mark.boxes
@pytest.mark.parametrize(
    ("response", "score", "reason"),
    [
        (f"```cpp\n{WHOLE}```", 1.0, "correct"),
        (f"```cpp\n{WHOLE}\nint main() {{ return digits(1) - 2; }}\n```", 1.0, "correct"),
        (f"```cpp\n{WHOLE}// a brace }}\nconst char* s = \"}}\";\nchar c = '}}';\nstruct S {{}};\n```", 1.0, "correct"),
        (DIGITS, 1.0, "correct"),
        (f"{DIGITS}}}\n\nvoid more(", 1.0, "correct"),
        (CPP["prompt"] + DIGITS + "}", 1.0, "correct"),
        (f"#include <cmath>\n{WHOLE}", 1.0, "correct"),
        (DIGITS.strip() + "\n}", 1.0, "correct"),
        (f"```cpp\n{WHOLE.replace('% 10', '% 9')}```", 0.0, "wrong_answer"),
        ("```cpp\n#include <cstdlib>\nlong digits(long n) { exit(0); }\n```", 0.0, "wrong_answer"),
        (f"```cpp\n#include <cstdlib>\n{WHOLE.replace('return', 'if (sum < 0) exit(0); return')}```", 1.0, "correct"),
        (f"```cpp\nstruct Way {{ long n; void exit(long m) {{ n = m; }} }};\n{WHOLE}\n```", 1.0, "correct"),
        (
            f"```cpp\nbool exit(long n, long m) {{ return n < m; }}\n{WHOLE.replace('return', 'if (exit(sum, 0)) return 0; return')}\n```",
            1.0,
            "correct",
        ),
        ("```cpp\nlong digits(long n) { return 0 }\n```", 0.0, "compile_error"),
        (
            "```cpp\n#include <cassert>\n#undef assert\n#define assert(x)\nlong digits(long n) { return 0; }\n```",
            0.0,
            "wrong_answer",
        ),
    ],
)
def test_a_row_of_multipl_e_is_judged_as_one_program(bench: Bench, response: str, score: float, reason: str) -> None:
    verdict = bench.judge(response, CPP)
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, score, reason), verdict.detail
    assert "unguarded" not in verdict.detail


@pytest.mark.boxes
@pytest.mark.parametrize(
    ("language", "test", "right", "ends", "hides"),
    [
        ("sh", 'set -e\n[ "$(twice 4)" = 8 ] || { echo "error: $(twice 4)"; exit 1; }', "twice() { echo $(($1 * 2)); }",
         "twice() { echo 8; }; exit 0", ": << 'end'"),
        ("js", "require('node:assert').deepEqual(twice([4]), [8]);", "const twice = all => all.map(x => 2 * x);",
         "function twice() { process.exit() }",
         "require('node:assert').deepEqual = () => 1; const twice = 0;"),
        ("pl", "die 'error' unless twice(4) == 8;", "sub twice { return 2 * shift; }", "sub twice { exit; }", "__END__"),
        ("python", "assert twice(4) == 8", "def twice(n): return 2 * n", "def twice(n): raise SystemExit", "'''"),
    ],
)  # fmt: skip
def test_a_solution_that_ends_the_process_or_hides_the_test_does_not_pass(
    bench: Bench, language: str, test: str, right: str, ends: str, hides: str
) -> None:
    reference = {"case_type": "program", "language": language, "test": test}
    for solution, score in ((right, 1.0), (ends, 0.0), (hides, 0.0), ("", None)):
        verdict = bench.judge(f"```\n{solution}\n```", reference)
        assert (verdict.score or 0.0) == (score or 0.0), (solution, verdict)


def test_a_library_that_the_test_asks_for_and_boxes_lack_is_no_fault_of_the_solution(bench: Bench) -> None:
    lacking = {**CPP, "prompt": "#include <no_such/library.h>\n" + CPP["prompt"]}
    with pytest.raises(Unavailable, match=r"no_such/library\.h"):
        bench.judge(f"```cpp\n#include <no_such/library.h>\n{WHOLE}```", lacking)
    own = bench.judge(f"```cpp\n#include <no_such/other.h>\n{WHOLE}```", CPP)
    assert (own.score, own.reason) == (0.0, "compile_error")


@pytest.mark.boxes
def test_an_interpreter_may_lack_it_too(bench: Bench) -> None:
    reference = {"case_type": "program", "language": "js", "test": "require('no_such')\nassert(1)"}
    for solution in ("1", "require('no_such')"):
        with pytest.raises(Unavailable, match="no_such"):
            bench.judge(f"```js\n{solution}\n```", reference)
    reference["test"] = "if (twice(1) != 2) throw 1"
    for solution in ("require('no_such')", "console.error(\"Cannot find module 'no_such'\")"):
        assert bench.judge(f"```js\n{solution}\n```", reference).score == 0.0


@pytest.mark.boxes
def test_files_lie_beside_the_program(bench: Bench) -> None:
    reference = {
        "case_type": "program",
        "language": "cpp",
        "test_cases": ['#include <cassert>\n#include <fstream>\nint main() { int n; std::ifstream("n.txt") >> n; '
                       "assert(twice(n) == 2 * FOUR); }"],
        "files": {"four.h": "#define FOUR 4", "n.txt": "4"},
    }  # fmt: skip
    assert bench.judge('```cpp\n#include "four.h"\nint twice(int n) { return 2 * n; }\n```', reference).score == 1.0


@table(
    ("source", "language", "expected"),
    [
        ("a == 1; b != 2; c == 3; d === 4", "javascript",
         ["a == 1; b != 2; c == 3; d !== 4", "a != 1; b != 2; c == 3; d === 4", "a == 1; b == 2; c == 3; d === 4",
          "a == 1; b != 2; c != 3; d === 4"]),
        ("// a == b\nassert_eq!(f(\"==\"), 1);", "rust", ["// a == b\nassert_ne!(f(\"==\"), 1);"]),
        ("assert(f(1) == 2)", "lua", ["assert(f(1) ~= 2)"]),
        ("assert(f(1).equals(2))", "java", []),
        ("if (y !== z) $display(\"Mismatches: 1\");", "verilog", []),
    ],
)  # fmt: skip
def test_comparisons_are_turned_round_one_by_one(source: str, language: str, expected: list[str]) -> None:
    assert [test.source for test in turned(JoinedTest(source, language))] == expected


@table(
    ("solution", "language", "expected"),
    [
        ("exit(0);", "cpp", "exit(97);"),
        ("exit();", "php", "exit(97);"),
        ("die(f($x));", "php", "exit(97 + f($x));"),
        ("os.exit( )", "lua", "os.exit(97)"),
        ("if x then os.exit(true) end", "lua", "if x then os.exit(97) end"),
        ("exit!(0)", "ruby", "exit!(97)"),
        ("exit if done", "ruby", "exit 97 if done"),
        ("(exit 0)", "racket", "(exit 97)"),
        (
            "import System.Exit (exitSuccess)\nmain = exitSuccess",
            "haskell",
            "import System.Exit\nmain = (exitWith (ExitFailure 97))",
        ),
        ("quit('no')", "r", "quit(status = 97)"),
        ("$finish;", "verilog", "$finish_and_return(97);"),
        ("bool done = pos == exit; // exit", "cpp", "bool done = pos == exit; // exit"),
        ("$exit; my %exit", "perl", "$exit; my %exit"),
        ("exits = 'exit'", "python", "exits = 'exit'"),
        ("raise SystemExit", "python", "raise SystemExit(97)"),
    ],
)
def test_ends_of_the_process_get_a_code_of_their_own(solution: str, language: str, expected: str) -> None:
    assert endless(solution, language) == expected


@table(
    ("solution", "source", "expected"),
    [
        ("<?php\nf();\n?>\n", "<?php\ntest();", "<?php\nf();\n\n\ntest();"),
        ("f();", "test();", "f();\ntest();"),
    ],
)
def test_php_is_opened_once_and_not_closed(solution: str, source: str, expected: str) -> None:
    assert joined(solution, JoinedTest(source, "php")) == expected


def test_go_has_one_package_and_the_imports_that_are_used() -> None:
    test = test_of(
        {
            "language": "go_test.go",
            "prompt": 'package digits_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\n// digits sums.\nfunc digits(n int) int {\n',
            "tests": "func TestDigits(t *testing.T) {\n    if digits(0) != 0 { t.Errorf(fmt.Sprint(0)) }\n}\n",
        }
    )
    assert (test.language, aliases.parse({"language": "go", "test": test.source}).language) == ("go_test", "go")
    solution = 'package main\n\nimport "strings"\n\nfunc digits(n int) int { return len(strings.Repeat("", n)) }\n'
    text = joined(solution_of(solution, test, is_fenced=True), test)
    assert text.startswith('package digits_test\nimport "strings"\nimport "testing"\nimport "fmt"\n')
    assert (text.count("package"), text.count("import")) == (1, 3)


def test_java_has_one_public_class_and_its_imports_first() -> None:
    test = test_of(
        {
            "language": "java",
            "test": "import org.junit.jupiter.api.Test;\npublic class DigitsTest {\n    @Test void zero() { assert Digits.of(0) == 0; }\n}\n",
        }
    )
    assert test.language == "junit"
    text = joined(
        "package a.b;\nimport java.util.List;\npublic class Digits { static int of(int n) { return n; } }", test
    )
    assert text.startswith("import java.util.List;\nimport org.junit.jupiter.api.Test;\n")
    assert "\nclass Digits {" in text
    assert "\npublic class DigitsTest" in text
    assert "package" not in text


@table(
    "code",
    [
        "class Problem {\n    static long digits(long n) { return n; }\n}\n",
        "public class Problem {\n    static long digits(long n) { return n; }\n"
        "    public static void main(String[] args) { System.out.println(1); }\n}\n",
        "    static long digits(long n) { return n; }\n",
        "class Problem {\n    static long digits(long n) { return n; }\n}\n"
        "public class Main {\n    public static void main(String[] args) {\n        if (true) {}\n    }\n}\n",
    ],
)
def test_java_of_multipl_e_is_closed_by_its_tests(code: str) -> None:
    test = test_of(
        {
            "language": "java",
            "prompt": "import java.util.*;\n\nclass Problem {\n    // Sums.\n    static long digits(long n) {\n",
            "tests": "    }\n    public static void main(String[] args) {\n        assert(digits(0L) == 0L);\n    }\n\n}\n",
        }
    )
    text = joined(solution_of(code, test, is_fenced=True), test)
    assert text.startswith("import java.util.*;")
    assert (text.count("{"), text.count(" main(")) == (text.count("}"), 1)
    assert text.index("class Problem {") < text.index("digits(long n)") < text.index(" main(")


def test_a_test_may_hold_the_solution_and_quote_it() -> None:
    reference = {"case_type": "program", "language": "python", "solution_language": "sql", "quoted": True}
    assert test_of({"language": "elixir", "test": "#<INSERT>\n0 = Runs.longest([])"}).language == "elixir"
    test = test_of({**reference, "test": "query = #<INSERT>\nassert query\n"})
    assert joined("SELECT '1'\n", test) == "query = \"SELECT '1'\\n\"\nassert query\n"
    assert aliases.parse({**reference, "test": "assert 1"}).language == "sql"


@table(
    ("reference", "reason"),
    [
        ({"language": "lua", "tests": "print(1)"}, "vacuous_test"),
        ({"language": "elixir", "tests": "Runs.longest([])"}, "vacuous_test"),
        ({"case_type": "program", "language": "lua", "tests": ""}, "no_tests"),
        ({"language": "klingon.kl", "tests": "assert(1)"}, "unknown_language"),
        ({"language": "python", "solution_language": "html", "test": "assert 1"}, "unknown_language"),
    ],
)
def test_what_judges_nothing_is_refused(reference: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidItem) as caught:
        aliases.parse(reference)
    assert caught.value.reason == reason


@pytest.mark.boxes
def test_programs_that_are_only_compiled_are_not_judged(bench: Bench) -> None:
    verdict = bench.judge("```cuda\nint f;\n```", {"language": "cuda", "test": "int main() { assert(1); }"})
    assert (verdict.status, verdict.reason) == (Status.INVALID, "language_without_tests")


_GO_ADD = "func Add(a, b int) int { return a + b }"
_GO_TEST = 'package main\nimport "testing"\nfunc TestA(t *testing.T) {{\n\t{}\n}}'
_GO_MARKED = (
    'package main\n\nimport "fmt"\n\n#<INSERT>\n\nfunc main() {\n\tif Add(2, 2) != 4 { panic(fmt.Sprint("no")) }\n}\n'
)
_GO_DEEP = _GO_TEST.format(
    'if x := Mix(); !reflect.DeepEqual(x, []interface{}{1, "1", nil, 2.5}) { t.Fatal(x) }'
).replace('import "testing"', 'import "testing"\nimport "reflect"')


def _mix(values: str) -> str:
    return f"type S string\nfunc Mix() []interface{{}} {{ return []interface{{}}{{{values}}} }}"


@table(
    ("test", "right", "wrong"),
    [
        (_GO_TEST.format('if got := Add(2, 2); got != 4 { t.Errorf("got %d", got) }'), [_GO_ADD], ["+ b", "- b"]),
        (
            _GO_TEST.format("if err := Do(1); err != nil { t.Fatal(err) }"),
            ["func Do(n int) error { return nil }"],
            ["return nil", "return E{} }\ntype E struct{}\nfunc (E) Error() string { return `<nil>`"],
        ),
        ('func main() { if x := Add(1, 2); x != 3 { panic("no") } }', [_GO_ADD], ["+ b", "* b"]),
        (
            _GO_TEST.format('t.Run("a", func(t *testing.T) { if got := Add(2, 3); got != 5 { t.Error(got) } })'),
            [_GO_ADD],
            ["+ b", "* b"],
        ),
        (_GO_MARKED, [f"package main\n\n{_GO_ADD}", f'import "fmt"\nvar _ = fmt.Sprint\n{_GO_ADD}'], ["+ b", "- b"]),
        (_GO_DEEP, [_mix('1, "1", nil, 2.5')], ['1, "1", nil, 2.5', 'int64(1), "1", nil, 2.5']),
        (_GO_DEEP, [_mix('1, "1", nil, 2.5')], ['"1"', 'S("1")']),
    ],
)
@pytest.mark.boxes
def test_idioms_of_go_are_judged(bench: Bench, test: str, right: list[str], wrong: list[str]) -> None:
    reference = {"language": "go", "case_type": "program", "test_cases": [test]}
    for solution, score in (*((text, 1.0) for text in right), (right[-1].replace(wrong[0], wrong[1]), 0.0)):
        verdict = bench.judge(f"```go\n{solution}\n```", reference)
        assert (verdict.status, verdict.score) == (Status.OK, score), (solution, verdict.detail)
        assert ("unguarded" in verdict.detail) == (test == _GO_MARKED)


@table(
    ("language", "test"),
    [
        ("bash", '[[ $(add 1 2) = "3" ]]'),
        ("bash", '[ "$(add 1 2)" = 3 ] || exit 1'),
        ("r", "if(!identical(add(1,2), 3)){quit('no', 1)}"),
        ("r", "if (add(1, 2) > 3) quit(status=1)\nif (add(1, 2) < 3) quit(status=1)"),
    ],
)
def test_tests_of_scripts_need_no_frame(language: str, test: str) -> None:
    parsed = test_of({"language": language, "tests": test})
    assert (parsed.source, parsed.language) == (test, language)


def test_json_that_is_broken_stays_a_mistake_where_tests_are_not_programs() -> None:
    for language in ("python", None):
        with pytest.raises(InvalidItem, match="not JSON"):
            aliases.parse({"language": language, "tests": '[ "$(add 1 2)" = 3 ]'})


def test_a_test_that_is_too_long_to_be_read_says_so() -> None:
    for count, told in ((1, "`entry_point`$"), (4_000, "characters is not searched for it$")):
        test = "def check(f):\n" + "    assert f(1) == 1\n" * count
        with pytest.raises(InvalidItem, match=told):
            aliases.parse({"test": test})


_RUST_TESTS = "#[cfg(test)]\nmod tests {{\n    use super::*;\n{}}}\n"
_RUST_TEST = "    #[test]\n    fn {}() {{ assert_eq!(twice({}), {}); }}\n"
_ONE_IN_RUST = _RUST_TESTS.format(_RUST_TEST.format("a", 4, 8))
_TWO_IN_RUST = _RUST_TESTS.format(_RUST_TEST.format("b", 4, 8) + _RUST_TEST.format("a", 3, 6))


@pytest.mark.boxes
@table(
    ("test", "solution", "score"),
    [
        (_ONE_IN_RUST, "fn twice(n: i64) -> i64 { 2 * n }\nfn main() {}", 1.0),
        (_ONE_IN_RUST, f"fn twice(n: i64) -> i64 {{ 2 * n }}\n{_TWO_IN_RUST.replace('8', '9')}", 1.0),
        (_ONE_IN_RUST, "fn twice(n: i64) -> i64 { 3 * n }", 0.0),
        (_ONE_IN_RUST, "fn twice(_: i64) -> i64 { std::process::exit(0) }", 0.0),
        (_TWO_IN_RUST, "fn twice(n: i64) -> i64 { 2 * n }", 1.0),
        (_TWO_IN_RUST, "fn twice(n: i64) -> i64 { if n == 4 { 8 } else { 0 } }", 0.0),
        (_TWO_IN_RUST, "#![cfg(any())]\nfn twice(n: i64) -> i64 { n }", 0.0),
    ],
)
def test_tests_of_rust_are_run(bench: Bench, test: str, solution: str, score: float) -> None:
    verdict = bench.judge(f"```rust\n{solution}\n```", {"language": "rust", "tests": test})
    assert (verdict.status, verdict.score) == (Status.OK, score), verdict.detail
    assert ("unguarded" in verdict.detail) == (test == _TWO_IN_RUST)


@pytest.mark.boxes
def test_a_library_of_go_or_php_that_boxes_lack_is_no_fault_of_the_solution(bench: Bench) -> None:
    test = 'package main\nimport (\n\t"testing"\n\t"github.com/stretchr/testify/assert"\n)\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 4, Add(2, 2))\n}'
    for solution in (_GO_ADD, "func Add(a, b int) int { return 0 }", "func Add("):
        with pytest.raises(Unavailable, match="testify"):
            bench.judge(f"```go\n{solution}\n```", {"language": "go", "tests": test})


def _tells_apart(bench: Bench, language: str, test: str, right: str, wrong: str) -> None:
    reference = {"language": language, "tests": test}
    verdicts = [bench.judge(f"```{language}\n{solution}\n```", reference) for solution in (right, wrong)]
    assert [(verdict.status, verdict.score) for verdict in verdicts] == [(Status.OK, 1.0), (Status.OK, 0.0)]


def test_what_node_prints_and_goes_on_from_is_failing(bench: Bench) -> None:
    """So are many rows of HumanEval-X (Apache-2.0)."""
    test = "for (const n of [1]) { console.assert(JSON.stringify(f(n)) === JSON.stringify([2])); }"
    _tells_apart(bench, "javascript", test, "const f = n => [2];", "const f = n => [3];")


@pytest.mark.boxes
@table(
    ("language", "test", "right", "wrong"),
    [
        # `die` with a text ends PHP with code 0
        ("php", 'foreach ([1] as $n) { f($n) === 2 or die("no"); }', "<?php function f($x) { return 2; }",
         "<?php function f($x) { exit(0); }"),
        ("php", 'if (f(1) !== 2) die("no");', "<?php function f($x) { return 2; }", "<?php function f($x) { return 3; }"),
        # a row of MBXP (Apache-2.0): the values hold spaces, and only the message shows a number
        ("ruby", 'x0 = f("Quad      Core")\nv0 = "Quad Core"\nif x0 != v0\n    raise StandardError, "Error at test case 2"\nend',
         "def f(x) x.split.join(' ') end", "def f(x) x end"),
        ("ruby", "assert_equal(4, f(1))", "def f(x) Rational(4, 1) end", "def f(x) Rational(9, 2) end"),
    ],
)  # fmt: skip
def test_failing_in_the_way_of_a_language_is_failing(
    bench: Bench, language: str, test: str, right: str, wrong: str
) -> None:
    _tells_apart(bench, language, test, right, wrong)


def test_debug_asserts_of_rust_are_asserts() -> None:
    test = JoinedTest("fn main() { debug_assert_eq!(f(1), 2); debug_assert!(f(1) > 1); }", "rust")
    assert "debug_assert" not in joined("fn f(n: i32) -> i32 { n }", test)
    assert joined("fn f(n: i32) { debug_assert!(n > 1); }", test).startswith("fn f(n: i32) { debug_assert!")


def test_a_function_of_go_may_be_completed_with_what_it_cannot_import() -> None:
    row = {
        "language": "go",
        "prompt": "func Root(n float64) float64 {\n",
        "test_setup": 'package main\n\nimport (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n',
        "test": "func TestRoot(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(2.0, Root(4))\n}\n",
    }
    test = test_of(row)
    assert test.split is not None
    telling = joined("func Root(n float64) float64 {\n    return math.Sqrt(n)\n}\n", test.split.telling)
    assert 'import "math"' in telling
    assert "testify" not in telling
    assert "2.0" in test.split.expected
