"""The task decides whether it is judged, never the response: hostile programs in every language, for tests of every kind."""

from typing import Any, Final

import pytest

from sandbox.workers import Exit, Task
from tests.tables import table
from tests.verifiers.code.bench import Bench
from verifiers.base import Status, Unavailable
from verifiers.code import judging

_LONG: Final = 200_000
TEXTS: Final = {
    "none": "",
    "prose": "I cannot do that.",
    "nul": "\x00",
    "parentheses": "(" * _LONG,
    "braces": "{" * _LONG,
    "quotes": '"' * _LONG + "\n" + "'" * _LONG,
    "a_long_name": "a" * _LONG,
    "a_long_number": "9" * _LONG,
    "not_closed": "/*" * _LONG,
    "heads": "main() {\n" * 5_000,
    "odd_letters": "\u202e\ufeff\U000e0041\u0000é" * 500,
}
"""Programs in no language."""

# A right program, two tests of it (one whose checks are read, one with a loop around them), and programs that harm.
LANGUAGES: Final[dict[str, tuple[str, str, str, list[str]]]] = {
    "bash": (
        "f() { echo 2; }",
        '[[ $(f 1) = "2" ]]',
        "for n in 1; do [[ $(f $n) = 2 ]] || exit 1; done",
        [
            "f() { f | f & }; f",
            "f() { kill -9 -1; }",
            "kill -9 $$",
            "f() { while :; do :; done; }",
            "f() { yes; }",
            "f() { yes > rewardline.values; }",
            "f() { sleep 1000; }",
            "f() { printf '\\0\\377'; }",
            "rm -rf ./* ../*; f() { :; }",
            "exec 1>&- 2>&- 3>&- 4>&-",
        ],
    ),
    "c": (
        "int f(int n) { return 2; }",
        "int main() { assert(f(1) == 2); }",
        "#include <assert.h>\nint main() { for (int n = 0; n < 2; n++) assert(f(n) == 2); }",
        [
            "int x[1u << 29] = {1};\nint f(int n) { return x[n]; }",
            '#include "/dev/zero"\nint f(int n) { return 2; }',
            "#include __FILE__\nint f(int n) { return 3; }",
            "#define A(x) x x x x x x x x\n#define B(x) A(A(A(A(x))))\n#define C(x) B(B(B(x)))\nint f(int n) { C(n++;) return n; }",
            "#include <unistd.h>\nint f(int n) { for (;;) fork(); }",
            "#include <stdlib.h>\n#include <string.h>\nint f(int n) { for (;;) memset(malloc(1 << 24), 1, 1 << 24); }",
            "#include <signal.h>\n#include <unistd.h>\nint f(int n) { kill(-1, 9); kill(getpid(), 9); return 3; }",
            "#include <unistd.h>\nint f(int n) { for (int i = 0; i < 1024; i++) close(i); return 3; }",
        ],
    ),
    "cpp": (
        "int f(int n) { return 2; }",
        "int main() { assert(f(1) == 2); }",
        "#include <cassert>\nint main() { for (int n = 0; n < 2; n++) assert(f(n) == 2); }",
        [
            "template<class T, int N> struct P { using X = P<P<T, N - 1>, N - 1>; typename X::X x; };\nP<int, 40> p;\n"
            "int f(int n) { return 3; }",
            "template<int N> struct A { static int g() { return A<N + 1>::g() + A<N + 2>::g(); } };\nint f(int n) { return A<0>::g(); }",
            "#include <thread>\nint f(int n) { for (;;) (new std::thread([] { for (;;); }))->detach(); }",
            "int f(int n) { throw n; }",
        ],
    ),
    "go": (
        "func f(n int) int { return 2 }",
        "func main() { if f(1) != 2 { panic(1) } }",
        "func main() { for n := 0; n < 2; n++ { if f(n) != 2 { panic(n) } } }",
        [
            "var x [1 << 40]byte\nfunc f(n int) int { return int(x[n]) }",
            "const x = 1 << 100000000\nfunc f(n int) int { return x }",
            "func f(n int) int { for { go f(n) } }",
            "func f(n int) int { select {} }",
            "func f(n int) int { return f(n) + 1 }",
            'import "C"\nfunc f(n int) int { return 3 }',
            'import "example.org/nothing"\nfunc f(n int) int { return 3 }',
        ],
    ),
    "java": (
        "class S { static int f(int n) { return 2; } }",
        "class Main { public static void main(String[] a) { assert (S.f(1) == 2); } }",
        "class Main { public static void main(String[] a) { for (int n = 0; n < 2; n++) assert S.f(n) == 2; } }",
        [
            "class S { static int f(int n) { Runtime.getRuntime().halt(0); return 3; } }",
            "class S { static int f(int n) { for (;;) new Thread(() -> { for (;;); }).start(); } }",
            "class S { static int f(int n) { return new int[1 << 30].length + new int[1 << 30].length; } }",
            "class S { static int f(int n) { return n" + "+(n" * 3_000 + ")" * 3_000 + "; } }",
            "import org.nothing.Here; class S { static int f(int n) { return 3; } }",
        ],
    ),
    "javascript": (
        "const f = n => 2;",
        "assert.equal(f(1), 2);",
        "const assert = require('assert');\nfor (const n of [1]) assert(f(n) === 2);",
        [
            "const f = n => { let x = []; for (let i = 0; i < 1e5; i++) x = [x]; return x; };",
            "const f = n => 'x'.repeat(3e8);",
            "const f = n => process.kill(process.pid, 9);",
            "const f = n => new Promise(() => {});",
            "const f = n => require('nothing_here');",
            "const f = n => { const x = {}; x.x = x; return x; };",
            "const f = n => /(a+)+$/.test('a'.repeat(60) + 'b');",
        ],
    ),
    "lua": (
        "function f(n) return 2 end",
        "lu = require('luaunit')\nlu.assertEquals(f(1), 2)",
        "for n = 1, 2 do assert(f(n) == 2) end",
        [
            "function f(n) n = {} n[1] = n return n end",
            "function f(n) local t = {} for i = 1, 200000 do t = {t} end return t end",
            "function f(n) return ('x'):rep(50000000) end",
            "function f(n) return require('nothing_here') end",
            "function f(n) while true do end end",
        ],
    ),
    "perl": (
        "sub f { return 2; }",
        'if(eq_deeply(f(1), 2)) { print "ok!" } else { exit 1; }',
        "for my $n (1, 2) { die 'no' unless f($n) == 2; }",
        ["sub f { fork while 1; }", "sub f { kill 9, $$; }", "use Nothing::Here;\nsub f { 3 }", "sub f { my $x; $x = [$x] for 1 .. 200000; $x }"],
    ),
    "php": (
        "<?php function f($n) { return 2; }",
        "if (f(1) !== 2) { throw new Exception('no'); }",
        "foreach ([1, 2] as $n) { if (f($n) !== 2) { throw new Exception('no'); } }",
        [
            "<?php function f($n) { $a = []; $a[] = &$a; return $a; }",
            "<?php function f($n) { $a = []; for ($i = 0; $i < 200000; $i++) $a = [$a]; return $a; }",
            "<?php function f($n) { return str_repeat('x', 50000000); }",
            "<?php require 'nothing_here.php'; function f($n) { return 3; }",
        ],
    ),
    "r": (
        "f <- function(n) 2",
        "if(!identical(f(1), 2)){quit('no', 1)}",
        "for (n in 1:2) { if (f(n) != 2) stop('no') }",
        ["f <- function(n) { l <- list(); for (i in 1:20000) l <- list(l); l }", "library(nothinghere)\nf <- function(n) 3", "f <- function(n) globalenv()"],
    ),
    "ruby": (
        "def f(n) 2 end",
        "assert_equal(2, f(1))",
        "[1, 2].each { |n| raise 'no' unless f(n) == 2 }",
        [
            "def f(n) loop { fork {} } end",
            "def f(n) n = []; n << n; n end",
            "def f(n) x = []; 100000.times { x = [x] }; x end",
            "require 'nothing_here'\ndef f(n) 3 end",
            "$stdout.close; $stderr.close; STDIN.close\ndef f(n) 3 end",
        ],
    ),
    "rust": (
        "fn f(n: i32) -> i32 { 2 }",
        "fn main() { assert_eq!(f(1), 2); }",
        "fn main() { for n in 0..2 { assert_eq!(f(n), 2); } }",
        [
            "const fn g(n: u64) -> u64 { let mut i = 0; while i < n { i += 1; } i }\nconst X: u64 = g(1 << 50);\n"
            "fn f(n: i32) -> i32 { X as i32 }",
            "macro_rules! m { ($($t:tt)*) => { m!($($t)* a) } }\nfn f(n: i32) -> i32 { m!(); n }",
            "fn f(n: i32) -> i32 { std::process::abort() }",
            "use nothing_here::Here;\nfn f(n: i32) -> i32 { 3 }",
            'fn f(n: i32) -> i32 { include_bytes!("/dev/zero").len() as i32 }',
        ],
    ),
}  # fmt: skip


def _statuses(bench: Bench, language: str, test: str, solutions: list[str]) -> dict[str, list[str]]:
    """The solutions by status and score."""
    params = {"reference": {"case_type": "program", "language": language, "test": test}}
    kinds: dict[str, list[str]] = {}
    for solution in solutions:
        verdict = bench.judge_all([(f"```{language}\n{solution}\n```", params)])[0]
        kinds.setdefault(f"{verdict.status} {verdict.score}", []).append(f"{solution[:80]} {verdict.reason}")
    return kinds


@pytest.mark.boxes
def test_what_ends_a_process_or_is_no_program_is_judged(bench: Bench) -> None:
    right, test, _, harmful = LANGUAGES["bash"]
    solutions = [
        right,
        *harmful[1:3],
        *harmful[5:6],
        *harmful[-2:],
        *(TEXTS[name] for name in ("none", "nul", "heads")),
    ]
    kinds = _statuses(bench, "bash", test, solutions)
    assert {name: len(solutions) for name, solutions in kinds.items()} == {"ok 1.0": 1, "ok 0.0": 8}, kinds


@pytest.mark.boxes
@pytest.mark.parametrize(("language", "kind"), [(language, kind) for language in LANGUAGES for kind in (1, 2)])
def test_no_response_decides_whether_it_is_judged(bench: Bench, language: str, kind: int) -> None:
    if language not in bench.sandbox.languages:
        pytest.skip(f"no {language} here")
    right, *tests, harmful = LANGUAGES[language]
    kinds = _statuses(bench, language, str(tests[kind - 1]), [right, *harmful, *TEXTS.values()])
    assert {name: len(solutions) for name, solutions in kinds.items()} == {
        "ok 1.0": 1,
        "ok 0.0": len(harmful) + len(TEXTS),
    }, kinds


CHECKER: Final = "import sys\nsaid = open(sys.argv[2]).read()\n"


@table(
    ("checker", "reason"),
    [
        (f"{CHECKER}if '2' in said: raise ValueError\nsys.exit('~' in said)", "checker_failed"),
        (f"{CHECKER}if 'y' in said: raise ValueError", "checker_accepts_anything"),
        ("import nothing_of_this_name", "checker_failed"),
    ],
)
@table("response", ["print(2)", "print('x')", "print('y')", "print(1 / 0)", "print(", ""])
def test_a_broken_checker_is_invalid_for_every_response(bench: Bench, response: str, checker: str, reason: str) -> None:
    reference = {"case_type": "checker", "checker": checker, "test_cases": [{"input": "1\n", "expected_output": "2"}]}
    verdict = bench.judge(f"```python\n{response}\n```", reference)
    assert (verdict.status, verdict.reason) == (Status.INVALID, reason)


LACKING: Final = {
    "javascript": "const x = require('nothing_of_this_name');\nfor (const n of [1]) assert(f(n) === 2);",
    "ruby": "require 'nothing_of_this_name'\n[1].each { |n| raise 'no' unless f(n) == 2 }",
    "go": 'import "example.org/nothing_of_this_name"\nfunc main() { for { if nothing_of_this_name.N(f(1)) { panic(1) } } }',
    "rust": "use nothing_of_this_name::N;\nfn main() { for n in 0..2 { assert_eq!(f(n), 2); } }",
    "c": "#include <nothing_of_this_name.h>\nint main() { for (int n = 0; n < 2; n++) assert(f(n) == 2); }",
}


HEADS: Final = {
    "javascript": "const x = require('nothing_of_this_name');",
    "ruby": "require 'nothing_of_this_name'",
    "go": 'package main\nimport (\n"fmt"\n"example.org/nothing_of_this_name"\n)',
    "rust": "use nothing_of_this_name::N;",
    "c": "#include <nothing_of_this_name.h>",
}
"""The same in prompts, before tests that are judged by values."""


def _demand_failed(bench: Bench, solutions: list[str], reference: dict[str, Any]) -> None:
    for solution in solutions:
        with pytest.raises(Unavailable, match="nothing_of_this_name") as caught:
            bench.judge(solution, reference)
        assert caught.value.reason == "language_unavailable"


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(("language", "is_in_prompt"), [(one, is_in) for one in LACKING for is_in in (False, True)])
def test_a_library_that_the_boxes_lack_is_failed_for_every_response(
    bench: Bench, language: str, is_in_prompt: bool
) -> None:
    if language not in bench.sandbox.languages:
        pytest.skip(f"no {language} here")
    right, by_values, *_ = LANGUAGES[language]
    reference = {"case_type": "program", "language": language, "test": by_values if is_in_prompt else LACKING[language]}
    if is_in_prompt:
        reference["prompt"] = f"{HEADS[language]}\n"
    programs = [f"```{language}\n{solution}\n```" for solution in (right, ")", "exit(0)", "x = 1")]
    _demand_failed(bench, [*programs, "no program", f"```{language}\n"], reference)


@table("head", ["import nothing_of_this_name as n\n", "from nothing_of_this_name.parts import n\n"])
@table(
    "test",
    ["def check(candidate):\n    assert candidate(1) == 2\n", "def check(candidate):\n    assert candidate([]) == 2"],
)
def test_a_module_of_a_prompt_that_the_boxes_lack_is_failed_for_every_response(
    bench: Bench, head: str, test: str
) -> None:
    reference = {"prompt": f"{head}\ndef f(n):\n    ", "entry_point": "f", "test": test}
    programs = [f"```python\n{source}\n```" for source in ("def f(n): return 2", "def f(n", "import pandas")]
    _demand_failed(bench, [*programs, "no program"], reference)


@table("source", ["import {name}\ndef f(n): return 2", "def f(n):\n    import {name}\n    return 2"])
def test_a_module_that_only_the_response_imports_is_its_own_choice(bench: Bench, source: str) -> None:
    """`pandas` stands for the modules that boxes load beforehand if they have them."""
    reference = {"entry_point": "f", "test": "def check(candidate):\n    assert candidate(1) == 3\n"}
    for name in ("pandas", "numpy", "nothing_of_this_name"):
        verdict = bench.judge(f"```python\n{source.format(name=name)}\n```", reference)
        assert (verdict.status, verdict.score) == (Status.OK, 0.0)


@pytest.mark.boxes
@table("source", ["require_relative 'solution'", "require './solution'"])
def test_a_test_that_loads_the_solution_as_a_file_is_invalid_for_every_response(bench: Bench, source: str) -> None:
    reference = {
        "case_type": "program",
        "language": "ruby",
        "test": f"{source}\n[1].each {{ |n| raise 'no' if f(n) != 2 }}",
    }
    for solution in ("def f(n) 2 end", "def f(n"):
        verdict = bench.judge(f"```ruby\n{solution}\n```", reference)
        assert (verdict.status, verdict.reason) == (Status.INVALID, "tests_not_supported")


@table("task", ["COMPARE", "JOIN"])
def test_what_a_worker_cannot_do_for_a_response_is_judged(
    bench: Bench, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit of almost nothing stands for a response that is very costly; the same task with another one is not."""
    limited: Task = getattr(judging, task)
    assert limited.time_limit_s > 1
    slow = {"COMPARE": "print('\\n'.join(map(str, range(10, 20_000))))", "JOIN": "f() { :; }\n" * 1_000}
    asked: list[Any] = []
    original = bench.workers.map

    async def limit(of: Task, payloads: Any, *rest: Any) -> Any:
        asked.append(of)
        outcomes = await original(of, payloads, *rest)
        if of == limited and len([one for one in asked if one == limited]) == 1:
            return [type(outcome)(Exit.TIME_LIMIT) for outcome in outcomes]
        return outcomes

    monkeypatch.setattr(bench.workers, "map", limit)
    if task == "COMPARE":
        reference: dict[str, Any] = {"test_cases": [{"input": "", "output": "1\n" * 20_000}]}
        response = f"```python\n{slow[task]}\n```"
    else:
        reference = {
            "case_type": "program",
            "language": "bash",
            "test": "for n in 1; do [[ $(f $n) = 2 ]] || exit 1; done",
        }
        response = f"```bash\n{slow[task]}\n```"
    verdict = bench.judge(response, reference)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert limited in asked
