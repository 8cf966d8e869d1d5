"""Reads changes that say which lines of a file become which others, and makes them.

    *** Begin Patch                     src/total.py
    *** Update File: src/total.py       <<<<<<< SEARCH
    @@ def total(numbers):                  return sum(numbers[1:])
    -    return sum(numbers[1:])        =======
    +    return sum(numbers)                return sum(numbers)
    *** End Patch                       >>>>>>> REPLACE

The left form is that of OpenAI's `apply_patch`, the right one that of Aider and Agentless. Neither has numbers of lines, so the
file must be read to make the change. Lines are found as they are, or else without the white space at their ends.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.workers import worker_function
from verifiers.repository.diffs import Broken, Cut

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_UPDATE: Final = "*** Update File: "
_ADD: Final = "*** Add File: "
_DELETE: Final = "*** Delete File: "
_MOVE: Final = "*** Move to: "
_LAST: Final = "*** End of File"
_SEARCH: Final = re.compile(r"<{5,9} SEARCH\b")
_MIDDLE: Final = re.compile(r"={5,9}\s*$")
_REPLACE: Final = re.compile(r">{5,9} REPLACE\b")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})")
_MOST: Final = 2000
"""Replacements of one change. Each runs over its file."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """Lines of a file that become others."""

    old: Sequence[str]
    new: Sequence[str]
    behind: Sequence[str] = ()
    """Lines that come before them, one after the other."""
    is_last: bool = False
    """Whether they end the file."""


@dataclass(slots=True)
class Edits:
    """What becomes of files, by their paths."""

    replaced: dict[str, list[Replacement]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes | None] = field(default_factory=dict)
    """Files that come whole; None removes one."""

    @property
    def paths(self) -> Sequence[str]:
        return tuple(dict.fromkeys((*self.replaced, *self.moved.values(), *self.files)))


def read(text: str) -> Edits | None:
    """The edits in a text; None if it has none in these forms.

    Raises:
        Broken: they cannot be read.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if _BEGIN in lines:
        edits = _of_patches(lines)
    elif any(map(_SEARCH.match, lines)):
        edits = _of_blocks(lines)
    else:
        return None
    if sum(map(len, edits.replaced.values())) > _MOST:
        raise Broken(f"the change replaces lines at more than {_MOST} places")
    return edits


def has_edits(text: str) -> bool:
    """Whether a text has edits in these forms."""
    return any(
        line.startswith((_BEGIN, "<")) and (line.rstrip("\r") == _BEGIN or _SEARCH.match(line))
        for line in text.split("\n")
    )


def _of_patches(lines: Sequence[str]) -> Edits:
    edits, number = Edits(), 0
    while number < len(lines):
        if lines[number] == _BEGIN:
            number = _of_patch(lines, number + 1, edits)
        number += 1
    return edits


def _of_patch(lines: Sequence[str], number: int, edits: Edits) -> int:
    """Read one patch, and return the number of the line that ends it."""
    while number < len(lines):
        line = lines[number]
        number += 1
        if line == _END:
            return number - 1
        if line.startswith(_DELETE):
            edits.files[line.removeprefix(_DELETE).strip()] = None
        elif line.startswith(_ADD):
            body, number = _body(lines, number)
            if not all(added.startswith("+") for added in body if added):
                raise Broken("each line of a file that is added begins with `+`")
            edits.files[line.removeprefix(_ADD).strip()] = "".join(f"{added[1:]}\n" for added in body).encode(
                errors="replace"
            )
        elif line.startswith(_UPDATE):
            body, number = _body(lines, number)
            _update(line.removeprefix(_UPDATE).strip(), body, edits)
        elif line.strip():
            raise Broken(f"a line of a patch is none of `apply_patch`: {line[:100]!r}")
    raise Cut(f"the patch has no line {_END!r}")


def _body(lines: Sequence[str], number: int) -> tuple[Sequence[str], int]:
    """The lines up to the next file of a patch, and the number of the line behind them."""
    start = number
    while number < len(lines) and (not lines[number].startswith("*** ") or lines[number].startswith((_MOVE, _LAST))):
        number += 1
    return lines[start:number], number


def _update(path: str, body: Sequence[str], edits: Edits) -> None:
    if body and body[0].startswith(_MOVE):
        edits.moved[path] = body[0].removeprefix(_MOVE).strip()
        body = body[1:]
    replacements = edits.replaced.setdefault(path, [])
    old: list[str] = []
    new: list[str] = []
    anchors: list[str] = []

    def close(*, is_last: bool = False) -> None:
        if old or new:
            replacements.append(Replacement(tuple(old), tuple(new), tuple(anchors), is_last))
            anchors.clear()
        old.clear()
        new.clear()

    for line in body:
        if line.startswith("@@"):
            close()
            anchors += filter(None, [line.removeprefix("@@").removesuffix("@@").strip()])
        elif line.startswith(_LAST):
            close(is_last=True)
        elif line[:1] not in ("", " ", "+", "-"):
            raise Broken(f"a line of a change begins with {line[:1]!r}: {line[:100]!r}")
        else:
            old += [line[1:]] * (line[:1] != "+")
            new += [line[1:]] * (line[:1] != "-")
    close()


def _of_blocks(lines: Sequence[str]) -> Edits:
    edits, path, number = Edits(), "", 0
    while number < len(lines):
        if not _SEARCH.match(lines[number]):
            path = _path(lines[number]) or path
            number += 1
            continue
        middle = _next(lines, number + 1, _MIDDLE)
        end = _next(lines, middle + 1, _REPLACE)
        if not path:
            raise Broken("no line before the block names its file")
        replacement = Replacement(tuple(lines[number + 1 : middle]), tuple(lines[middle + 1 : end]))
        edits.replaced.setdefault(path, []).append(replacement)
        number = end + 1
    return edits


def _path(line: str) -> str:
    """The path that a line before a block is: alone, in backticks, as a heading, or in a comment. Empty if it is none."""
    words = line.strip().strip("`*#:").split()
    word = words[-1].strip("`*:") if words and not _FENCE.match(line) else ""
    return word if len(words) <= 2 and ("/" in word or "." in word[1:-1]) else ""


def _next(lines: Sequence[str], number: int, mark: re.Pattern[str]) -> int:
    while number < len(lines):
        if mark.match(lines[number]):
            return number
        number += 1
    raise Cut("a block of SEARCH and REPLACE has no end")


def edited(text: bytes | None, replacements: Iterable[Replacement]) -> bytes:
    """A file with its replacements made; None is a file that is not there.

    Raises:
        Broken: lines that become others are not there.
    """
    lines = (text or b"").decode(errors="surrogateescape").split("\n")
    ends_with_return = text is not None and b"\r\n" in text
    position = 0
    for replacement in replacements:
        if not any(map(str.strip, replacement.old)) and (text is None or not text.strip()):
            lines, position = [*replacement.new, ""], 0
            continue
        if text is None:
            raise Broken("the file is not there")
        start, end = _span(lines, replacement, position)
        new = [f"{line}\r" for line in replacement.new] if ends_with_return else list(replacement.new)
        lines[start:end] = new
        position = start + len(new)
    return "\n".join(lines).encode(errors="surrogateescape")


def _span(lines: Sequence[str], replacement: Replacement, position: int) -> tuple[int, int]:
    """Where the lines are that become others: behind the last replacement, or else anywhere."""
    last = len(lines) - (not lines[-1])
    for start in dict.fromkeys((position, 0)):
        anchor_end: int | None = start
        for line in replacement.behind:
            anchor_end = None if anchor_end is None else _find(lines, [line], anchor_end, is_whole=False)
            anchor_end = None if anchor_end is None else anchor_end + 1
        if anchor_end is not None and not replacement.old:
            return (anchor_end, anchor_end) if replacement.behind else (last, last)
        if anchor_end is not None and replacement.is_last:
            anchor_end = max(anchor_end, last - len(replacement.old))
        at = None if anchor_end is None else _find(lines, replacement.old, anchor_end)
        if at is not None:
            return at, at + len(replacement.old)
    raise Broken(
        f"the file has no such lines: {next(filter(str.strip, replacement.old or replacement.behind), '')[:100]!r}"
    )


def _find(lines: Sequence[str], target: Sequence[str], start: int, *, is_whole: bool = True) -> int | None:
    """The first place of lines that are equal, but for white space at their ends, or around them if they are not whole."""
    strip = str.rstrip if is_whole else str.strip
    text = "".join(f"\n{strip(line)}" for line in lines[start:]) + "\n"
    at = text.find("".join(f"\n{strip(line)}" for line in target) + "\n")
    return None if at < 0 else start + text.count("\n", 0, at)


@worker_function
def edit_in_worker(payload: Sequence[Any]) -> list[Any]:
    """Run `edited` on files: `[contents, message]` for `[[content, replacements], …]`; the message is empty if all was done."""
    try:
        contents = [edited(text, [Replacement(*fields) for fields in replacements]) for text, replacements in payload]
    except Broken as error:
        return [[], str(error)]
    return [contents, ""]


def sendable(replaced: Mapping[str, Sequence[Replacement]]) -> dict[str, list[list[Any]]]:
    """Replacements as a worker takes them, and gives them."""
    return {
        path: [
            [list(replacement.old), list(replacement.new), list(replacement.behind), replacement.is_last]
            for replacement in replacements
        ]
        for path, replacements in replaced.items()
    }


def received(replaced: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, list[Replacement]]:
    """What `sendable` made, as it was."""
    return {path: [Replacement(*fields) for fields in replacements] for path, replacements in replaced.items()}
