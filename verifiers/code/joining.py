"""Joins a solution with a test that is part of the same program, as MultiPL-E, MBXP and AutoEval have them.

    solution + test ──► one program in the solution's language ──► it passes if it ends with code 0

The test stands behind the solution, or holds the mark `#<INSERT>` in its place. What both bring, and a program may have
only once, is left out: a `main` of the solution, `package` and `import` of Go and Java. The tests of MultiPL-E close
blocks that a completion leaves open (`}` of the function, and of its class). A whole solution has closed them already.

Solution and test share one process, in which either can lie about the other; `splitting` avoids that where a test's text allows it. Elsewhere some ways
are barred. A solution must not pass because it ends the process itself: `endless` gives one whose own ends of the process are not success. It must
not pass whatever the test is, because it hides the test (`__END__`, an open here-document) or disarms it (`#define assert(x)`): `turned` gives tests
with one comparison turned round, which no honest solution passes, too. And it must not pass whatever the test expects, because it equals everything
or reads the test: `scrambled` gives tests with other values.
"""

import random
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import structs

from sandbox.workers import worker_function
from verifiers.code.cases import JoinedTest

MARK = "#<INSERT>"
_REPEATABLE = frozenset({"c", "cpp", "csharp", "d", "d_ut", "java", "scala", "swift"})
"""Languages in which an import may stand twice."""
_IN_CLASSES = frozenset({"csharp", "java", "scala"})
"""Languages in which every function is in a class."""


def solution_of(code: str, test: JoinedTest, *, is_fenced: bool) -> str:
    """The whole solution. `code` may be all of it, or what continues the test's prompt."""
    if not test.prompt.strip():
        return code
    if not _completes(code, test, is_fenced=is_fenced):
        return _with_head(code, test)
    stops = [at for token in test.stop_tokens if token.strip() and (at := code.find(token)) >= 0]
    between = "" if test.prompt.endswith("\n") else "\n"
    return f"{test.prompt}{between}{code[: min(stops, default=len(code))]}\n"


def _completes(code: str, test: JoinedTest, *, is_fenced: bool) -> bool:
    if test.completes is not None:
        return test.completes
    if test.language == "verilog":
        return re.search(r"\bmodule\b", code) is None
    if is_fenced:
        return False
    # A body is indented. If the indentation got lost, it still does not have the function's own name.
    return code.lstrip("\r\n")[:1] in ("", " ", "\t", "{") or test.name not in _WORD.findall(code)


def name_of(prompt: str, source: str) -> str:
    """The name of the function that the prompt begins: the longest word of its end that the test has, too."""
    end = "\n".join([line for line in prompt.splitlines() if line.strip()][-3:])
    return max({*_WORD.findall(end)} & {*_WORD.findall(source)}, key=len, default="")


_WORD = re.compile(r"\w+")


def _with_head(code: str, test: JoinedTest) -> str:
    """The code with what it leaves out of the prompt: imports, and the class around a function."""
    if test.language not in _REPEATABLE:
        return code
    if (
        test.language in _IN_CLASSES
        and "{" in test.prompt
        and not re.search(r"\b(?:class|object|interface|struct)\b", code)
    ):
        return f"{test.prompt.partition('{')[0]}{{\n{code}\n}}\n"
    imports = [line for line in _IMPORT.findall(test.prompt) if line.strip() not in code]
    return "".join(f"{line}\n" for line in imports) + code


_IMPORT = re.compile(r"^[ \t]*(?:#[ \t]*include\b|import\b|using\b)[^\n{}()]*$", re.MULTILINE)
_BRINGS_IN = re.compile(
    r"^[ \t]*(?:#[ \t]*include|extern|import|library|require|use|using|(?:const|let|local|var) .*\brequire)\b.*$", re.M
)


def without_solution(test: JoinedTest) -> str:
    """The program of the test, and of what its prompt brings in, alone."""
    if test.language in ("go", "go_test"):
        specs = [spec[spec.index('"') :] for spec in _go_imports(test.prompt)]
        return joined("".join(f"import _ {spec}\n" for spec in specs), test)
    return joined("".join(f"{line}\n" for line in _BRINGS_IN.findall(test.prompt) if line not in test.source), test)


def joined(solution: str, test: JoinedTest) -> str:
    """The program of a whole solution and its test."""
    if test.is_quoted:
        solution = repr(solution)
    if test.language in ("go", "go_test"):
        return _joined_go(solution, test)
    if test.language in _FAILING:
        failing, plain, behind = _FAILING[test.language]
        source, count = failing.subn(plain, test.source)
        test = structs.replace(test, source=source + behind) if count else test
    if test.language == "rust_test":
        solution = _TESTS_IN_RUST.sub("#[cfg(any())]", solution)
    source = test.source
    if MARK in source:
        return source.replace(MARK, solution, 1)
    if _MAIN.search(source):
        solution = _without_main(solution, test.language)
    if source.lstrip().startswith("}"):
        solution, source = _fitted(solution, source, test.language)
    if test.language in ("java", "junit"):
        return _joined_java(solution, source)
    if test.language == "php":
        solution, source = solution.rstrip().removesuffix("?>"), source.lstrip().removeprefix("<?php")
    return f"{source}\n{solution}" if test.language == "verilog" else f"{solution}\n{source}"


_CONSOLE: Final = (
    re.compile(r"\bconsole\.assert\("),
    "rewardlineAssert(",
    "\nfunction rewardlineAssert(holds, ...why) { if (!holds) throw new Error(why.join(' ')); }\n",
)
_DEBUG: Final = (re.compile(r"\bdebug_assert(?=(?:_eq|_ne)?!)"), "assert", "")
_FAILING: Final = {
    # if (f(1) !== 2) die("no"); ends PHP with code 0
    "php": (
        re.compile(r"(?<![\w$>:])(?:die|exit)[ \t]*\((?=[ \t]*[\"'])"),
        "rewardline_die(",
        "\nfunction rewardline_die($why) { fwrite(STDERR, $why); exit(1); }\n",
    ),
    "javascript": _CONSOLE,
    "typescript": _CONSOLE,
    "rust": _DEBUG,
    "rust_test": _DEBUG,
}
"""What fails a test, and ends a program well as it is run here; what stands for it; and what that needs."""
_TESTS_IN_RUST = re.compile(r"#\[[ \t]*(?:cfg\([ \t]*test[ \t]*\)|test)[ \t]*\]")
"""What only tests have, as a solution may have tests of its own: `#[cfg(test)] mod tests`"""


# --- blocks in braces


@cache
def _tokens(language: str) -> re.Pattern[str]:
    """Comments, literals and braces."""
    if language == "bash":
        return re.compile(r"(?<!\S)#[^\n]*|\"(?:\\.|[^\"\\])*+\"?|'[^']*+'?|[{}]", re.DOTALL)
    comments = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
    return re.compile(rf"{comments}|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\[^\n]|[^'\\\n])'|[{{}}]")


def _braces(text: str, language: str) -> Iterator[re.Match[str]]:
    return (match for match in _tokens(language).finditer(text) if match[0] in "{}")


def _depths(text: str, language: str) -> tuple[int, int]:
    """The least depth in braces that is reached, and that at the end; below 0 they close what others opened."""
    lowest = depth = 0
    for match in _braces(text, language):
        depth += 1 if match[0] == "{" else -1
        lowest = min(lowest, depth)
    return lowest, depth


def _fitted(solution: str, source: str, language: str) -> tuple[str, str]:
    """Both texts without the braces that close a block a second time.

    Those are the first of the test, which close the function, and then the last of the solution, which close its class.
    """
    too_many = -_depths(source, language)[0] - max(0, _depths(solution, language)[1])
    while too_many > 0 and source.lstrip().startswith("}"):
        source = source.lstrip()[1:]
        too_many -= 1
    closers = [match.start() for match in _braces(solution, language) if match[0] == "}"]
    for closer in reversed(closers[len(closers) - max(0, too_many) :]):
        solution = solution[:closer] + solution[closer + 1 :]
    return solution, source


_MAIN = re.compile(r"^[^\n;{}()]*\b[mM]ain[ \t]*\([^(){}]*\)[^;{}()]*\{", re.MULTILINE)
"""The head of a function `main`, up to its brace."""


def _without_main(solution: str, language: str) -> str:
    head = _MAIN.search(solution)
    if head is None:
        return solution
    depth = 1
    for match in _braces(solution, language):
        if match.start() >= head.end():
            depth += 1 if match[0] == "{" else -1
            if not depth:
                return _EMPTY_CLASS.sub("", solution[: head.start()] + solution[match.end() :], count=1)
    return solution[: head.start()]


_EMPTY_CLASS = re.compile(r"^[^\n{}]*\b(?:class|object)[ \t]+\w+\s*\{\s*\}", re.MULTILINE)


# --- packages and imports


_GO_PACKAGE = re.compile(r"^package[ \t]+(\w+)[^\n]*$", re.MULTILINE)
_GO_IMPORT = re.compile(r"^import[ \t]*(?:\(([^()]*)\)|([^\n(]+)$)", re.MULTILINE)


def _joined_go(solution: str, test: JoinedTest) -> str:
    texts = (test.source, test.prompt, solution)
    package = next((match[1] for text in texts if (match := _GO_PACKAGE.search(text))), "main")
    bodies = [_GO_IMPORT.sub("", _GO_PACKAGE.sub("", text)) for text in (solution, test.source)]
    if _MAIN.search(bodies[1]):
        bodies[0] = _without_main(bodies[0], "go")
    imports = dict.fromkeys(_go_imports(solution))
    spare_imports = [*_go_imports(test.source), *_go_imports(test.prompt), '"testing"']
    if test.prompt and not _GO_PACKAGE.search(test.prompt):  # the prompt is no whole head, so none can be completed
        taken = {spec.rpartition("/")[2].strip('"') for spec in (*imports, *spare_imports)}
        spare_imports += [f'"{name}"' for name in _GO_STANDARD if name.rpartition("/")[2] not in taken]
    imports |= dict.fromkeys(spec for spec in spare_imports if _is_used_in_go(spec, "\n".join(bodies)))
    lines = "".join(f"import {spec}\n" for spec in imports)
    body = bodies[1].replace(MARK, bodies[0], 1) if MARK in bodies[1] else "\n".join(bodies)
    return f"package {package}\n{lines}{body}"


_GO_STANDARD: Final = ("bytes", "fmt", "math", "math/rand", "regexp", "sort", "strconv", "strings", "time", "unicode")
"""What a function that begins without a package and imports may use of Go's library (HumanEval-X)."""


def _go_imports(text: str) -> list[str]:
    raw = [line for group, spec in _GO_IMPORT.findall(text) for line in (group or spec).replace(";", "\n").split("\n")]
    lines = [line.partition("//")[0].strip() for line in raw]
    return [line for line in lines if line.endswith('"')]


def _is_used_in_go(spec: str, text: str) -> bool:
    name = spec.split()[0] if not spec.startswith('"') else spec.strip('"').rpartition("/")[2]
    if name in ("_", "."):
        return True
    position = text.find(f"{name}.")
    while position >= 0 and not _WORD_EDGE.match(text, position):
        position = text.find(f"{name}.", position + 1)
    return position >= 0


_WORD_EDGE = re.compile(r"\b")


_JAVA_HEAD = re.compile(
    r"^[ \t]*(?:(import[ \t]+(?:static[ \t]+)?[\w.]+(?:\*)?[ \t]*;)|package[ \t]+[\w.]+[ \t]*;)", re.M
)
_JAVA_PUBLIC = re.compile(
    r"^public[ \t]+(?=(?:(?:abstract|final|sealed)[ \t]+)*(?:class|interface|enum|record)\b)", re.M
)


def _joined_java(solution: str, source: str) -> str:
    """One text has one public class, and imports at its beginning."""
    imports = dict.fromkeys(head for text in (solution, source) for head in _JAVA_HEAD.findall(text) if head)
    bodies = [_JAVA_HEAD.sub("", text) for text in (solution, source)]
    if _JAVA_PUBLIC.search(bodies[1]):
        bodies[0] = _JAVA_PUBLIC.sub("", bodies[0])
    return "\n".join((*imports, *bodies))


# --- ways to pass without an answer


HIDING = frozenset(
    {"bash", "d", "d_ut", "elixir", "javascript", "julia", "lua", "perl", "php", "python", "r", "racket", "ruby", "sql"}
)
"""Languages in which what stands behind a text may not be read: there is a mark of the end, or no compiler."""


_TURNED = {
    "===": "!==",
    "!==": "===",
    "==": "!=",
    "!=": "==",
    "~=": "==",
    " -eq ": " -ne ",
    "assert_eq!": "assert_ne!",
    "assertEquals(": "assertNotEquals(",
    "assertEqual(": "assertNotEqual(",
    "assertAlmostEqual(": "assertNotAlmostEqual(",
    "assertTrue(": "assertFalse(",
    "assertFalse(": "assertTrue(",
    "assertIn(": "assertNotIn(",
    "assertIs(": "assertIsNot(",
    "assert_equal(": "assert_not_equal(",
    ".deepEqual(": ".notDeepEqual(",
    ".equal(": ".notEqual(",
    "identical(": "!identical(",
    "eq_deeply(": "!eq_deeply(",
    "check-equal?": "check-not-equal?",
    ".toBe(": ".not.toBe(",
    ".toEqual(": ".not.toEqual(",
}
_COMPARISON = re.compile("|".join(map(re.escape, sorted(_TURNED, key=len, reverse=True))))
_REMARK = re.compile(r"^[ \t]*(?:#(?![ \t]*(?:if|define))|--|//|;|%)[^\n]*", re.MULTILINE)


def turned(test: JoinedTest) -> list[JoinedTest]:
    """The test with one of its comparisons turned round, for up to seven of them; empty if it shows none.

    One that is turned into what the language does not know fails as well, and so says nothing against a solution.
    Benches of VerilogEval compare in their stimuli, where no turn shows; they count.
    """
    if "Mismatches:" in test.source:
        return []
    read = _REMARK.sub(_blank, _tokens(test.language).sub(_blank, test.source))
    signs = [*_COMPARISON.finditer(read)]
    chosen = dict.fromkeys((len(signs) - 1) * eighth // 8 for eighth in (8, 0, 4, 2, 6, 1, 7)) if signs else ()
    return [structs.replace(test, source=_turned_at(test, signs[at])) for at in chosen]


def _blank(match: re.Match[str]) -> str:
    return _NO_LINE.sub(" ", match[0])


_NO_LINE = re.compile(r"[^\n]")


def _turned_at(test: JoinedTest, match: re.Match[str]) -> str:
    operator = "~=" if test.language == "lua" and match[0] == "==" else _TURNED[match[0]]
    return test.source[: match.start()] + operator + test.source[match.end() :]


def scrambled(test: JoinedTest) -> JoinedTest | None:
    """The test with all its literals changed at random; None if it has none.

    A solution that knows the answers fails one of them soon. One that passes them all does not look at its answers.
    """
    read = _REMARK.sub(_blank, test.source)
    literals = [match for match in _LITERAL.finditer(read) if match["other"] is None]
    if not literals:
        return None
    draw = random.Random(secrets.randbits(64))  # noqa: S311 - a seed that no program knows
    ends = [0, *(match.end() for match in literals)]
    between = [test.source[end : match.start()] for end, match in zip(ends, literals, strict=False)]
    changed = [text + _changed(match[0], draw) for text, match in zip(between, literals, strict=True)]
    return structs.replace(test, source="".join((*changed, test.source[ends[-1] :])))


_SCRAMBLES = 10
_OTHER_TRUTHS = {"true": "false", "True": "False", "TRUE": "FALSE", "false": "true", "False": "True", "FALSE": "TRUE"}
_OTHER_LINE = r"^[ \t]*#[^\n]*|^[^\n]*\b(?:require|import|use|library|include|exit|quit)\b[^\n]*"
_MESSAGE = r"\b(?:raise|throw|panic|die)\b[^\n]*"
_LITERAL = re.compile(
    rf"(?P<other>{_OTHER_LINE}|{_MESSAGE}|%[-+ #0-9.]*[a-z])"
    rf"|(?<![\w.])\d+(?:\.\d+)?|\b(?:{'|'.join(_OTHER_TRUTHS)})\b|(?<=[\"'])\w+(?=[\"'])",
    re.MULTILINE,
)


def _changed(literal: str, draw: random.Random) -> str:
    if literal in _OTHER_TRUTHS:
        return draw.choice((literal, _OTHER_TRUTHS[literal]))
    integer, point, decimals = literal.partition(".")
    if integer.isdigit():
        return f"{int(integer[:15]) + draw.randint(1, 9)}{point}{decimals}"
    return literal + draw.choice("abcdefgh")


def broken(test: JoinedTest) -> JoinedTest:
    """The test without what stands behind the solution: instead, there is what is not a program in any language."""
    head, mark, _ = test.source.partition(MARK)
    return structs.replace(test, source=f"{head}{mark}\n)\n" if mark else "\n)\n")


END_CODE = 97
"""The code with which a solution of `endless` ends the process. Nothing else is likely to end with it."""
_CALLED_END = re.compile(
    r"\b(_?exit|_Exit|quick_exit|quit|exitProcess|Exit|SystemExit|exitWith|halt)([ \t]*(?:![ \t]*)?\()([^()\n]*\))?"
)
_STATED_END = re.compile(
    r"(?<![$@%&.\w])(?:exit|die)\b!?(?:[ \t]+(?:0|true))?(?=[ \t]*(?:[;})\n]|$|if\b|unless\b))", re.MULTILINE
)
_STATING = frozenset({"bash", "ocaml", "perl", "php", "racket", "ruby"})
"""Languages in which the word `exit` alone is a call."""
_VERILOG_END = re.compile(r"\$finish\b(?:[ \t]*\([^()\n]*\))?")
_PYTHON_END = re.compile(r"\braise[ \t]+SystemExit\b(?![ \t]*\()")
_PHP_END = re.compile(r"\bdie[ \t]*\(")
_HASKELL_IMPORT = re.compile(r"^import[ \t]+System\.Exit\b[^\n]*", re.MULTILINE)


def endless(solution: str, language: str) -> str:
    """The solution, where every call that ends the process ends it with `END_CODE`."""
    if language == "verilog":
        return _VERILOG_END.sub(f"$finish_and_return({END_CODE})", solution)
    if language == "haskell":
        ended = re.sub(r"\bexitSuccess\b", f"(exitWith (ExitFailure {END_CODE}))", solution)
        return _HASKELL_IMPORT.sub("import System.Exit", ended) if ended != solution else solution
    if language == "php":
        solution = _PHP_END.sub("exit(", solution)
    code = f"status = {END_CODE}" if language == "r" else f"{END_CODE}"
    called = _CALLED_END.sub(
        lambda match: f"{match[1]}{match[2]}{code})" if match[3] else f"{match[1]}{match[2]}{END_CODE} + ", solution
    )
    if language in _STATING:
        return _STATED_END.sub(f"exit {END_CODE}", called)
    return _PYTHON_END.sub(f"raise SystemExit({END_CODE})", called) if language == "python" else called


# --- the programs that are run


def _ended(solution: str, test: JoinedTest, _number: int) -> str | None:
    ended = endless(solution, test.language)
    return None if ended == solution else joined(ended, test)


def _turned(solution: str, test: JoinedTest, number: int) -> str | None:
    tests = turned(test)
    if not tests and test.language in HIDING and not test.is_quoted:
        tests = [broken(test)]
    return joined(solution, tests[number]) if number < len(tests) else None


def _scrambled(solution: str, test: JoinedTest, number: int) -> str | None:
    return None if (other := scrambled(test)) is None or number >= _SCRAMBLES else joined(solution, other)


_VARIANTS: Final[Mapping[str, Callable[[str, JoinedTest, int], str | None]]] = {
    "whole": lambda solution, test, _: joined(solution, test),
    "alone": lambda _solution, test, _number: without_solution(test),
    "ended": _ended,
    "turned": _turned,
    "scrambled": _scrambled,
}


def variant(kind: str, solution: str, test: JoinedTest, number: int = 0) -> str | None:
    """The program of a solution and its test, or of a variant of both; None if there is none of this number.

    Kinds are whole; alone, without the solution; ended, where the solution's ends of the process have a code of their own;
    turned, with one comparison of the test turned round; scrambled, with other values in the test.
    """
    return _VARIANTS[kind](solution, test, number)


@worker_function
def variant_in_worker(payload: list[Any]) -> str | None:
    kind, solution, test, number = payload
    return variant(kind, solution, msgspec.msgpack.decode(test, type=JoinedTest), number)


# --- libraries


_LACKED = re.compile(
    "|".join(
        (
            r"package ([\w.]+) does not exist",  # Java
            r"fatal error: ([\w./+-]+): No such file",  # C, C++
            r"Can't locate ([\w/]+\.pm) in @INC",  # Perl
            r"[Mm]odule '([\w./@:-]+)'",  # JavaScript, Lua
            r"No module named '([\w.]+)'",  # Python
            r"cannot load such file -- ([\w./-]+)",  # Ruby
            r"no package called .([\w.]+)",  # R
            r"cannot find package \"([\w./-]+)\"",  # Go
            r"unresolved (?:import|module or unlinked crate) `(\w+)`|can't find crate for `(\w+)`",  # Rust
            r"Class \"(PHPUnit[\w\\]*)\" not found",
            r"uninitialized constant (?:\w+::)*(RSpec|Minitest|Test)\b|undefined method [`'](describe)'",  # Ruby
            r"nil value \(global '(describe|it|lu|luaunit)'\)",  # Lua
            r"Failed opening required '([\w./-]+)'",  # PHP
            r"collection not found[^\n]{0,80}\"([\w/-]+)\"",  # Racket
        )
    )
)


def lacked(message: str) -> set[str]:
    """The libraries that a compiler or an interpreter names as missing."""
    return {"".join(groups) for groups in _LACKED.findall(message)}


def is_own_file(name: str) -> bool:
    """Whether a missing library is named as a file beside the program: `./solution`, `solution.php`, `/box/p/solution`"""
    return name.startswith((".", "/")) or name.endswith(".php")
