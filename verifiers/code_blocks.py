"""Code extraction: finds the part of a response that is its program. No other module does this.

    response ──commitment.final_segment──► the text after thinking ──fences──► blocks ──language, select──► one program

*Fences.* Lines of three or more backticks or tildes, as in CommonMark: a block is closed by a bare fence of the same
sign, at least as long, and not four columns deeper (a fence inside a docstring is text), unless it ends the text. A
fence with an info string inside a block opens a block in the block, so that code shown inside a Markdown block is found.
Lines lose the indentation of the fence above them, and CRLF becomes LF; nothing else is changed or deleted.

*Language.* The first word of the info string names the language, as a whole word (`pythonic` is not `python`). It is a
name or alias of `sandbox.languages`, with or without a version behind it. Blocks of the wanted language go before
blocks without an info string; others are never taken. If no language is wanted, Python is where a block of it defines the
function under test, and else the language of the last block that the task's tests can run. A block of commands (`bash`, `sql`) shows how to use the program where there is
another block, and is the program where there is none.

*Several blocks.* Of several blocks in the language, those that define the function under test go before others: a block
behind the program that calls it is an example.

*Truncation.* If the last block that could be the program was never closed, the response was cut off. The reason is
`truncated`, and no earlier block is taken instead.

A fence may stand on the line of a list's marker ("1. ```python"), and the fences of a quotation ("> ```python") count where
there are no others.

*No fence.* Without a fence the whole text is the program, or what `<answer>` holds. Python has to parse; where the text does
not, the content of `[PYTHON]`, `[BEGIN]`, `<code>` or `<answer>` may be the program. For other languages the compiler decides.

*A fence of the prompt.* Prompts may end with the opening fence. Then the text before the first bare fence is the
program, if it parses.

*Size.* A program of up to `MAX_PROGRAM_BYTES` is judged; a larger one is `too_large`. Text beyond `MAX_PARSED_CHARS` is
not parsed here: without a fence it is the program, and is never a completion.

*Completions.* If the task's prompt is the head of a function, the response may continue it. Code that does not define
the function is then tried as its body.
"""

import ast
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sandbox import languages
from sandbox.workers import worker_function
from verifiers.commitment import Think, final_segment

Select = Literal["last", "first_def", "longest"]
Reason = Literal["found", "no_code", "truncated", "too_large"]
DEFAULT_LANGUAGE = "python"
MAX_PROGRAM_BYTES = 16_000_000
"""Bytes of UTF-8. Four million characters, the default limit of a response, always fit."""
MAX_PARSED_CHARS = 300_000
"""Characters. The densest programs of this length take a second and 250 MB to parse."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a text."""

    tag: str
    """The first word of the info string in lower case; empty if there is none."""
    start: int
    """The span of its content in the text."""
    end: int
    indent: int
    is_closed: bool

    @property
    def language(self) -> str | None:
        """The language of its tag; None for no tag and for tags that name none."""
        return language_of(self.tag) if self.tag else None


@dataclass(frozen=True, slots=True)
class Found:
    """The program that a response offers."""

    code: str | None
    reason: Reason
    language: str = DEFAULT_LANGUAGE
    is_fenced: bool = False
    is_before_fence: bool = False
    """Whether it is the text before the first fence, which the prompt may have opened."""


def find(
    response: str,
    language: str | None,
    think: Think = "auto",
    select: Select = "last",
    *,
    languages: Collection[str] | None = None,
    entry_point: str = "",
    is_open: bool = True,
) -> Found:
    """Find the program of a response without parsing it. Linear in the response's length.

    Args:
        response: Its whole text.
        language: A name of `sandbox.languages`; None: the response decides.
        think: Which text is searched.
        select: Which of several blocks is the program.
        languages: The languages between which the response may decide; None: all. If it has blocks of other languages
            only, the last of those is found.
        entry_point: The function under test; empty if there is none, or it is not known.
        is_open: Whether the prompt may have opened a fence.
    """
    segment = final_segment(response, think)
    if segment.reason != "found":
        reason: Reason = "truncated" if segment.reason == "truncated" else "no_code"
        return Found(None, reason, language or DEFAULT_LANGUAGE)
    marker = response.rfind(_SOLUTION, segment.start, segment.end)
    text = _answer_of(_with_indent(response, segment.start if marker < 0 else marker + len(_SOLUTION), segment.end))
    if " ```" in text or " ~~~" in text:
        text = _ITEM.sub(lambda item: " " * len(item[0]), text)
    fences = [*_fences(text)]
    if not fences and _QUOTED_FENCE.search(text):
        text = _QUOTE.sub("", text)
        fences = [*_fences(text)]
    head = _end_of_opened_block(text, fences) if is_open else None
    fenced = _blocks(text, fences if head is None else [fence for fence in fences if fence.start() > head])
    is_in_python = language is None and bool(entry_point) and (languages is None or DEFAULT_LANGUAGE in languages)
    if is_in_python and any(
        block.language == DEFAULT_LANGUAGE and defines(_content(text, block), entry_point) for block in fenced
    ):
        language = DEFAULT_LANGUAGE  # a version in another language stands behind it
    name = language or _language_among(fenced, languages, has_head=head is not None)
    offered = [block for block in fenced if block.language == name]
    if not offered and head is not None:
        return Found(_plain(text[:head]), "found", name, is_before_fence=True)
    offered = offered or [block for block in fenced if not block.tag]
    if not offered:
        if fenced:
            return Found(None, "no_code", name)
        return Found(_plain(text), "found", name)
    if not offered[-1].is_closed:
        return Found(None, "truncated", name)
    code = _selected([_content(text, block) for block in offered if block.is_closed], select, entry_point)
    return Found(code, "found", name, is_fenced=True) if code.strip() else Found(None, "no_code", name)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n") + "\n"


def needs_parsing(extracted: Found, prompt: str, entry_point: str) -> bool:
    """Whether `settle` has to parse text of the response, which may take long."""
    if extracted.code is None or extracted.language != "python" or len(extracted.code) > MAX_PARSED_CHARS:
        return False
    return not extracted.is_fenced or (bool(prompt) and not defines(extracted.code, entry_point))


def settle(extracted: Found, prompt: str = "", entry_point: str = "") -> Found:
    """Complete the found text by the prompt if it is the rest of a function; refuse it if it is not a program."""
    if not needs_parsing(extracted, prompt, entry_point):
        return extracted
    assert extracted.code is not None
    if prompt and not defines(extracted.code, entry_point):
        for between in ("", "\n"):
            program = prompt + between + extracted.code
            if parses(program):
                return Found(program, "found", extracted.language, extracted.is_fenced)
    is_program = extracted.is_fenced or (_DONE not in extracted.code and parses(extracted.code))
    if is_program:
        return extracted
    marked = _marked(extracted.code, entry_point)
    if parses(marked):
        return Found(marked, "found", extracted.language)
    return extracted if parses(extracted.code) else Found(None, "no_code", extracted.language)


def _marked(text: str, entry_point: str) -> str:
    """The program between marks of a text without fences; empty if there are none. The prompt may hold the opening mark."""
    for opening, closing in _MARKS:
        *heads, _ = text.split(closing)
        if heads:
            return _selected([head.rpartition(opening)[2].strip("\r\n") for head in heads], "last", entry_point)
    return ""


_DONE = "\n[DONE]"
"""It ends a program in prompts for MBPP, and is one of Python, too: a list."""
_MARKS = (("[PYTHON]", "[/PYTHON]"), ("[BEGIN]", "[DONE]"), ("<code>", "</code>"), ("<answer>", "</answer>"))


def extract(
    response: str,
    language: str | None,
    think: Think = "auto",
    select: Select = "last",
    prompt: str = "",
    entry_point: str = "",
    languages: Collection[str] | None = None,
) -> Found:
    """`find` and `settle` in one. Whether code or prose stands before a bare fence, the parser decides."""
    for is_open in (True, False):
        program = find(response, language, think, select, languages=languages, entry_point=entry_point, is_open=is_open)
        settled = settle(program, prompt, entry_point)
        if settled.code is not None or not program.is_before_fence:
            break
    return settled


@worker_function
def find_in_worker(payload: list[Any]) -> list[Any]:
    """Run `extract` in a worker. If the code is None, the reason says why."""
    response, language, think, select, prompt, entry_point, languages = payload
    extracted = extract(response, language, think, select, prompt, entry_point, languages)
    if extracted.code is not None and len(extracted.code.encode(errors="surrogatepass")) > MAX_PROGRAM_BYTES:
        return [None, "too_large", extracted.language, extracted.is_fenced]
    return [extracted.code, extracted.reason, extracted.language, extracted.is_fenced]


def defines(code: str, name: str) -> bool:
    """Whether a text of Python seems to define the name at its top level, or as a method of a class there."""
    if not name:
        return True
    position = code.find(name)
    while position >= 0:
        line_head, end = code[code.rfind("\n", 0, position) + 1 : position], position + len(name)
        if _DEFINES.fullmatch(line_head) and _WORD_EDGE.match(code, end):
            return True
        if not line_head and _IS_SET.match(code, end):
            return True
        position = code.find(name, position + 1)
    return False


_DEFINES = re.compile(r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+")
_WORD_EDGE, _IS_SET = re.compile(r"\b"), re.compile(r"\s*=")


def parses(code: str) -> bool:
    """Whether a text is Python that `parsed` can read."""
    return parsed(code) is not None and bool(code.strip())


def parsed(code: str) -> ast.Module | None:
    """The statements of a Python program; None if the text is not Python.

    Call it only in a worker: megabytes may take seconds, and deep nesting may crash the process.
    """
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def language_of(tag: str) -> str | None:
    """The language a word names, with or without a version behind it (python3.11, c++17)."""
    language = languages.find(tag) or languages.find(tag.rstrip("0123456789.-"))
    return language.name if language else None


def blocks(text: str) -> Sequence[Block]:
    """The fenced blocks in the order in which they end; one that is never closed ends with the text."""
    return _blocks(text, _fences(text))


def _blocks(text: str, fences: Iterable[re.Match[str]]) -> Sequence[Block]:
    """The blocks of some fences, in the order in which they end."""
    fenced: list[Block] = []
    open_fences: list[_Fence] = []
    deep: re.Match[str] | None = None
    for match in fences:
        fence, deep = _Fence(match), None
        if open_fences and open_fences[-1].is_closed_by(fence):
            fenced.append(_block(open_fences.pop(), match.start(), is_closed=True))
        elif not open_fences or open_fences[-1].may_hold(fence):
            open_fences.append(fence)
            del open_fences[:-_MAX_DEPTH]
        else:
            deep = match
    if open_fences and deep and open_fences[-1].is_ended_by(_Fence(deep)) and not text[deep.end() :].strip():
        fenced.append(_block(open_fences.pop(), deep.start(), is_closed=True))
    # A block that was opened before a later block was closed only surrounds that block; it is not a cut-off program.
    last_end = fenced[-1].end if fenced else -1
    fenced += [_block(fence, len(text), is_closed=False) for fence in open_fences if fence.content > last_end]
    return [block for block in fenced if block.is_closed or block.tag or text[block.start : block.end].strip()]


def _fences(text: str) -> Iterator[re.Match[str]]:
    """The lines that are fences. Only lines with the signs of a fence are tested."""
    backticks, tildes = text.find("```"), text.find("~~~")
    while backticks >= 0 or tildes >= 0:
        position = max(backticks, tildes) if backticks < 0 or tildes < 0 else min(backticks, tildes)
        if match := _FENCE.match(text, text.rfind("\n", 0, position) + 1):
            yield match
        line_end = text.find("\n", position)
        if line_end < 0:
            return
        if 0 <= backticks < line_end:
            backticks = text.find("```", line_end)
        if 0 <= tildes < line_end:
            tildes = text.find("~~~", line_end)


_SOLUTION = "<|begin_of_solution|>"
_MAX_DEPTH = 16
_FENCE = re.compile(r"^(?P<indent>[ \t]{0,40})(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]{0,200})$(?:\n|\Z)", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]{0,40}(?:[-*+]|\d{1,3}[.)])[ \t]{1,4}(?=```\w|~~~\w)", re.MULTILINE)
_QUOTED_FENCE = re.compile(r"^[ ]{0,3}>[ ]{0,3}(?:```|~~~)", re.MULTILINE)
_QUOTE = re.compile(r"^[ ]{0,3}>[ ]?", re.MULTILINE)
_TAG = re.compile(r"[ \t]*(?:\{?[ \t]*\.|\{)?[ \t]*(?P<tag>[A-Za-z][A-Za-z0-9+#.\-]*)")


class _Fence:
    """A line that may open or close a block."""

    __slots__ = ("content", "indent", "info", "info_start", "length", "sign")

    def __init__(self, match: re.Match[str]) -> None:
        self.sign = match["fence"][0]
        self.length = len(match["fence"])
        self.indent = len(match["indent"].expandtabs(4))
        self.info = match["info"].strip()
        self.info_start = match.end("info") - len(match["info"].lstrip())
        self.content = match.end()

    def is_closed_by(self, fence: "_Fence") -> bool:
        return not fence.info and fence.sign == self.sign and fence.length >= self.length and not self._is_text(fence)

    def is_ended_by(self, last: "_Fence") -> bool:
        """Whether the last fence of a text closes it, however deep."""
        return not last.info and last.sign == self.sign and last.length >= self.length

    def may_hold(self, fence: "_Fence") -> bool:
        """Whether the other fence, inside this fence's block, opens a block of its own."""
        return bool(fence.info) and _TAG.match(fence.info) is not None and not self._is_text(fence)

    def _is_text(self, fence: "_Fence") -> bool:
        return fence.indent >= self.indent + 4


def _block(fence: _Fence, end: int, *, is_closed: bool) -> Block:
    match = _TAG.match(fence.info)
    tag = match["tag"].lower() if match else fence.info[:40]
    start = fence.content
    if match and language_of(tag) == "python" and (code := _CODE_BEHIND_TAG.match(fence.info, match.end())):
        start = fence.info_start + code.start("code")
    return Block(tag, min(start, end), end, fence.indent, is_closed)


_CODE_BEHIND_TAG = re.compile(
    rf"[ \t]+(?P<code>(?:{'|'.join(keyword.kwlist)})\b(?![ \t]*=)|@\w|[A-Za-z_][\w.]*\(|[A-Za-z_]\w*[ \t]+=)"
)
"""Code on the fence's own line, as in "```python import sys". What documents write there are words, `key=value` and braces."""


def _end_of_opened_block(text: str, matches: Sequence[re.Match[str]]) -> int | None:
    """Where the block ends that the prompt opened; None if the text shows none.

    Its fence is the first one, is bare, has code before it, and leaves a block open if it is counted as an opening one.

        return x * x            the end of the code
        ```                     the fence that the prompt's "```python" waits for
        Run it: ...
    """
    if not matches or matches[0]["info"].strip() or not text[: matches[0].start()].strip():
        return None
    first, fences = matches[0], [_Fence(match) for match in matches]
    return first.start() if _leave_open(fences) and not _leave_open(fences[1:]) else None


def _leave_open(fences: Sequence["_Fence"]) -> bool:
    """Whether some of the fences open a block that none of them closes."""
    open_fences: list[_Fence] = []
    for fence in fences:
        if open_fences and open_fences[-1].is_closed_by(fence):
            open_fences.pop()
        elif not open_fences or open_fences[-1].may_hold(fence):
            open_fences.append(fence)
            del open_fences[:-_MAX_DEPTH]
    return bool(open_fences)


def _language_among(fenced: Sequence[Block], allowed: Collection[str] | None, *, has_head: bool) -> str:
    """The language of the program, where the response decides."""
    tagged = [block.language for block in reversed(fenced) if block.language]
    fitting = [name for name in tagged if allowed is None or name in allowed]
    program = next((name for name in fitting if not languages.all_languages()[name].is_for_commands), None)
    if program is not None:
        return program
    if has_head or any(not block.tag for block in fenced):
        return DEFAULT_LANGUAGE
    return next(iter(fitting or tagged), DEFAULT_LANGUAGE)


def _answer_of(text: str) -> str:
    """The last element `<answer>`, if it ends the text and holds the program; or else the text.

    A prompt may have opened it. An answer without a fence holds no program if there are fences before it.
    """
    body = text.rstrip()
    if not body.endswith(_ANSWER_END):
        return text
    end = len(body) - len(_ANSWER_END)
    start = text.rfind(_ANSWER, 0, end)
    content = text[start + len(_ANSWER) if start >= 0 else 0 : end]
    has_fence = next(_fences(content), None) is not None
    return content.strip("\r\n") if has_fence or next(_fences(text), None) is None else text


_ANSWER, _ANSWER_END = "<answer>", "</answer>"


def _content(text: str, block: Block) -> str:
    content = text[block.start : block.end].replace("\r\n", "\n")
    if not block.indent:
        return content
    return re.sub(rf"^[ \t]{{1,{block.indent}}}", "", content, flags=re.MULTILINE)


def _with_indent(response: str, start: int, end: int) -> str:
    """The text from its first line that is not blank, with that line's indentation, which a function's body needs."""
    while start < end and response[start] in "\r\n":
        start += 1
    while start and response[start - 1] in " \t":
        start -= 1
    return response[start:end]


def _selected(codes: Sequence[str], select: Select, entry_point: str) -> str:
    codes = [code for code in codes if defines(code, entry_point)] or codes
    if select == "longest":
        return max(codes, key=len)
    if select == "first_def":
        return next((code for code in codes if _DEFINITION.search(code)), codes[0])
    return codes[-1]


_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]", re.MULTILINE)
