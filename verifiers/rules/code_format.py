r"""Judges whether the program stands in a code fence of the wanted language, and parses.

`verifiers.code_blocks` finds the program, as for verifiers that run it: it is the last closed block of the language,
after the thinking. A block of only comments holds no code. Python must parse, and must do, define or compute something.
Docstrings and other literals, names, words (`this is prose`), `pass` and `...` do none of these. Compilers of other
languages are not called. With `only_code`, no text may stand beside the fence. At most 256,000 characters are read.
Nothing is run.

The preset `open_r1` equals Open R1's `code_format_reward`, in linear time:
`^<think>\n.*?\n</think>\n<answer>\n.*?```LANGUAGE.*?```.*?\n</answer>$`. Under MULTILINE, lines may follow. The
language may be any prefix of the text after the fence (`python` takes `pythonic`). Nothing is parsed.
"""

import ast
import string
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from sandbox.workers import Workers
from verifiers import code_blocks
from verifiers.base import Example, Item, Params, Resources, Verdict, Verifier
from verifiers.commitment import Think, final_segment
from verifiers.long_texts import INLINE_CHARS
from verifiers.rules import bounded
from verifiers.rules.tags import has_text


class CodeFormatParams(Params):
    """The requirements for the program."""

    preset: Literal["fence", "open_r1"] = "fence"
    """fence: the program must stand in a code fence and parse; open_r1: Open R1's pattern for the whole response."""
    language: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9+#.-]{0,30}$")] = "python"
    """A name or alias of the language, as a fence may have it. Blocks without a name count as this language, too."""
    think: Think = "auto"
    """Which text is searched. auto: the text after the last closing think tag; required: the tag must be there; none:
    all text."""
    select: code_blocks.Select = "last"
    """Which of several code blocks is the program."""
    only_code: bool = False
    """Whether text beside the fence is refused."""


class CodeFormat(Verifier[CodeFormatParams]):
    name = "code_format"
    version = "9"
    params = CodeFormatParams
    summary = "The program stands in a code fence of its language, and parses"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[CodeFormatParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick)


def create(resources: Resources) -> CodeFormat:
    bounded.register(resources.workers, judge, Item("```python\nprint(1)\n```", CodeFormatParams()))
    return CodeFormat(resources.workers)


def _is_quick(item: Item[CodeFormatParams]) -> bool:
    """Whether an item is judged on the event loop.

    Parsing takes milliseconds, and deep nesting may crash the parser. Many fences take milliseconds, too.
    """
    tildes = item.response.count("~~~") if "~" in item.response else 0
    if len(item.response) > INLINE_CHARS or item.response.count("```") + tildes > _MAX_QUICK_FENCES:
        return False
    parses = item.params.preset == "fence" and code_blocks.language_of(item.params.language) == "python"
    return not parses or ("```" not in item.response and "~~~" not in item.response)


_MAX_QUICK_FENCES = 200


def judge(item: Item[CodeFormatParams]) -> Verdict:
    params = item.params
    if params.preset == "open_r1":
        return Verdict.correct() if _open_r1(item.response, params.language) else Verdict.wrong("wrong_format")
    language = code_blocks.language_of(params.language)
    if language is None:
        return Verdict.invalid(
            "unknown_language",
            f"there is no language {params.language!r}; give a name that code fences use, such as python",
        )
    program = code_blocks.find(item.response, language, params.think, params.select)
    if program.code is None:
        return Verdict.wrong(program.reason)
    if not program.is_fenced:
        return Verdict.wrong("no_fence")
    if params.only_code and not _is_alone(item.response, params.think):
        return Verdict.wrong("text_outside")
    if len(program.code) > _MAX_CHARS:
        return Verdict.wrong("too_large")
    if _is_comment(program.code, _BASH_COMMENTS if language in ("python", "bash") else _C_COMMENTS):
        return Verdict.wrong("no_code")
    if language != "python":
        return Verdict.correct()
    module = code_blocks.parsed(program.code)
    if module is None:
        return Verdict.wrong("syntax_error")
    if not _stands(module):
        return Verdict.wrong("syntax_error")
    return Verdict.wrong("no_code") if all(map(_is_idle, module.body)) else Verdict.correct()


def _stands(module: ast.Module) -> bool:
    """Whether all statements stand in allowed places: `return` and `yield` in a function, `break` in a loop.

    A compiler would find this, too, but it takes exponential time for `finally` inside `finally`.
    """
    inside: list[tuple[ast.AST, bool, bool]] = [(module, False, False)]
    while inside:
        node, in_function, in_loop = inside.pop()
        if isinstance(node, ast.Break | ast.Continue) and not in_loop:
            return False
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and not in_function:
            return False
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            body = node.body if isinstance(node.body, list) else [node.body]
            inside += ((child, True, False) for child in body)
        elif isinstance(node, ast.ClassDef):
            inside += ((child, False, False) for child in node.body)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            inside += ((child, in_function, True) for child in node.body)
            inside += ((child, in_function, in_loop) for child in node.orelse)
        else:
            inside += ((child, in_function, in_loop) for child in ast.iter_child_nodes(node))
    return True


_MAX_CHARS = 256_000
_BASH_COMMENTS = {"#": "\n"}
_C_COMMENTS = {"//": "\n", "/*": "*/"}
"""The signs that begin comments, with the signs that end them. An open comment goes on to the end of the text."""


def _is_comment(code: str, comments: Mapping[str, str]) -> bool:
    """Whether code holds only comments, apart from signs such as `;` and empty brackets."""
    code = code.strip(_SIGNS)
    position = 0
    while position < len(code):
        opening = next((opening for opening in comments if code.startswith(opening, position)), None)
        if opening is None:
            return False
        end = code.find(comments[opening], position + len(opening))
        if end < 0:
            return True
        position = end + len(comments[opening])
        while position < len(code) and code[position] in _SIGNS:
            position += 1
    return True


_SIGNS = string.whitespace + ";,(){}"


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement does, defines and computes nothing.

    Such statements are a literal, a name, words (`this is prose`), `pass`, and an `if` that holds only these.
    """
    return all(isinstance(node, _IDLE) for node in ast.walk(statement))


_IDLE = (
    ast.Expr,
    ast.Pass,
    ast.If,
    ast.While,
    ast.Assert,
    ast.Global,
    ast.Constant,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.Name,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.Compare,
    ast.Is,
    ast.IsNot,
    ast.In,
    ast.NotIn,
    ast.BoolOp,
    ast.boolop,
    ast.UnaryOp,
    ast.Not,
    ast.USub,
    ast.UAdd,
    ast.expr_context,
)


def _is_alone(response: str, think: Think) -> bool:
    segment = final_segment(response, think)
    text = response[segment.start : segment.end]
    fences = code_blocks.blocks(text)
    if len(fences) != 1:
        return False
    lead = text[: fences[0].start].rstrip("\n")
    tail = text[fences[0].end :].strip().strip("`~")
    return "\n" not in lead and lead.startswith(("`", "~")) and not has_text(tail)


def _open_r1(text: str, language: str) -> bool:
    """Whether a text has Open R1's format.

    Each part is taken at its earliest place, which leaves most room for the rest.
    """
    if not text.startswith("<think>\n"):
        return False
    position = len("<think>\n")
    for part in ("\n</think>\n<answer>\n", f"```{language}", "```"):
        start = text.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    closing = "\n</answer>"
    if text.find(closing + "\n", position) >= 0:
        return True
    return text.endswith(closing) and len(text) - len(closing) >= position


_PROGRAM = "```python\nprint(1)\n```"
_OPEN_R1 = f"<think>\nprint it\n</think>\n<answer>\n{_PROGRAM}\n</answer>"

EXAMPLES = (
    Example(f"Here it is:\n{_PROGRAM}", {}, 1.0, "correct", "a fence with a program"),
    Example("print(1)", {}, 0.0, "no_fence", "a program without a fence"),
    Example("```python\nprint(1\n```", {}, 0.0, "syntax_error", "looks like a program, but does not parse"),
    Example("```python\n# todo\n```", {}, 0.0, "no_code", "a comment is not a program"),
    Example('```python\n"""Sorts a list."""\n```', {}, 0.0, "no_code", "parses, but does nothing"),
    Example("```python\nprint(1)", {}, 0.0, "truncated", "the fence was never closed"),
    Example("```java\nclass A {}\n```", {}, 0.0, "no_code", "another language"),
    Example(f"Here it is:\n{_PROGRAM}", {"only_code": True}, 0.0, "text_outside", "prose stands beside the fence"),
    Example("```cpp\nint main() {}\n```", {"language": "c++"}, 1.0, "correct", "other languages are not parsed"),
    Example(_OPEN_R1, {"preset": "open_r1"}, 1.0, "correct", "Open R1's format"),
    Example(_PROGRAM, {"preset": "open_r1"}, 0.0, "wrong_format", "Open R1's tags are missing"),
)
