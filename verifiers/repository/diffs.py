"""Reads unified diffs, as git and `diff -u` write them, and writes them so that only `git apply` can be meant.

    diff --git a/OLD b/NEW
    (modes, renames, copies)
    --- a/OLD
    +++ b/NEW
    @@ -1,3 +1,4 @@          a hunk has as many lines as its head says, so a fence or a tag in a diff ends nothing

A path is below the repository and not in `.git`; a link leads to no place outside of it. Anything else is `Forbidden`.
Prose between the changes of two files is skipped.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_HUNK: Final = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT: Final = "diff --git "
_OLD: Final = "--- "
_NEW: Final = "+++ "
_NOTHING: Final = "/dev/null"
_MODE: Final = re.compile(r"(old mode|new mode|new file mode|deleted file mode) (\d{6})$")
_MOVE: Final = re.compile(r"(rename|copy) (from|to) (.+)$")
_INDEX: Final = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+(?: (\d{6}))?$")
_BINARY_LINE: Final = re.compile(r"(?:literal|delta) \d+$|[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]+$")
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
"""How git writes a byte beyond ASCII. Its other escapes stand for signs that no path here may have."""
_TIME: Final = re.compile(r" \d{4}-\d\d-\d\d[ T]\d\d:\d\d[\d:.]*(?: [+-]\d{4})?\s*$")
_FENCE: Final = re.compile(r"[ ]{0,3}(?:```|~~~)|</patch>")
_PLAIN_MODES: Final = ("100644", "100755", "100664", "100600")
_LINK_MODE: Final = "120000"


class Broken(Exception):
    """The text is not a diff that could be applied."""


class Cut(Broken):
    """The text ends within a hunk."""


class Forbidden(Broken):
    """A path leads out of the repository, or into `.git`."""


@dataclass(slots=True)
class Section:
    """The change of one file."""

    old: str | None = None
    """None for a new file."""
    new: str | None = None
    """None for a deleted file."""
    heads: list[str] = field(default_factory=list)
    """Lines about modes, renames and copies."""
    hunks: list[str] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are read or written."""
        return tuple(dict.fromkeys(path for path in (self.old, self.new, *self.moved) if path is not None))

    @property
    def is_empty(self) -> bool:
        return not (self.heads or self.hunks or self.binary)

    def text(self) -> str:
        """The section as git writes it."""
        old, new = self.old or self.new, self.new or self.old
        lines = [f"{_GIT}a/{old} b/{new}", *self.heads]
        if self.hunks:
            lines.append(_OLD + (_NOTHING if self.old is None else f"a/{self.old}"))
            lines.append(_NEW + (_NOTHING if self.new is None else f"b/{self.new}"))
        return "\n".join([*lines, *self.binary, *self.hunks]) + "\n"


def sections(text: str) -> list[Section]:
    """The changes in a text.

    Raises:
        Broken: a change cannot be read.
    """
    return block(text.split("\n"), 0, until_fence=False)[0]


def block(lines: Sequence[str], position: int, *, until_fence: bool = True) -> tuple[list[Section], int]:
    """The changes in the lines from `position` on, and where they end: at a line that closes a fence or a tag, outside of
    hunks.

    Raises:
        Broken: a change cannot be read.
    """
    sections: list[Section] = []
    while position < len(lines):
        line = lines[position].rstrip("\r")
        if until_fence and _FENCE.match(line):
            break
        if line.startswith(_GIT) or (line.startswith(_OLD) and _starts(lines, position + 1, _NEW)):
            section, position = _section(lines, position)
            if not section.is_empty:
                sections.append(section)
        elif _HUNK.match(line) and sections:
            raise Broken("a hunk stands apart from its file")
        else:
            position += 1
    return sections, position


def reverse(section: Section) -> Section:
    """The change that undoes another one.

    Raises:
        Broken: it is binary, or copies a file.
    """
    if section.binary or any(head.startswith("copy ") for head in section.heads):
        raise Broken(f"the change of {section.new or section.old} is binary or a copy, which has no reverse")
    heads = [_swapped(head, _HEAD_PAIRS) for head in section.heads]
    hunks = [
        f"@@ -{head[3]}{_count(head[4])} +{head[1]}{_count(head[2])} @@"
        if (head := _HUNK.match(line))
        else _swapped(line, (("-", "+"),))
        for line in section.hunks
    ]
    return Section(section.new, section.old, heads, hunks, [], section.moved)


_HEAD_PAIRS: Final = (("old mode", "new mode"), ("new file", "deleted file"), ("rename from", "rename to"))


def _swapped(line: str, pairs: Sequence[tuple[str, str]]) -> str:
    for pair in pairs:
        for source, target in (pair, pair[::-1]):
            if line.startswith(source):
                return target + line.removeprefix(source)
    return line


def _count(count: str | None) -> str:
    return "" if count is None else f",{count}"


def _section(lines: Sequence[str], position: int) -> tuple[Section, int]:
    section = Section()
    line = lines[position].rstrip("\r")
    if line.startswith(_GIT):
        section.old, section.new = _pair(line.removeprefix(_GIT))
        position = _heads(lines, position + 1, section)
    if _starts(lines, position, _OLD) and _starts(lines, position + 1, _NEW):
        old, new = _named(lines[position]), _named(lines[position + 1])
        section.old, section.new = _without_prefixes(old, new)
        position = _hunks(lines, position + 2, section)
    _check(section)
    return section, position


def _heads(lines: Sequence[str], position: int, section: Section) -> int:
    while position < len(lines):
        line = lines[position].rstrip("\r")
        if mode := _MODE.match(line):
            _note_mode(section, mode[1], mode[2])
            section.heads.append(line)
        elif move := _MOVE.match(line):
            path = _unquoted(move[3])
            section.moved.append(path)
            section.heads.append(f"{move[1]} {move[2]} {path}")
        elif index := _INDEX.match(line):
            if index[1] is not None and index[1] not in (*_PLAIN_MODES, _LINK_MODE):
                raise Forbidden(f"the mode {index[1]} is that of no file")
            if index[1] == _LINK_MODE:
                section.heads.append(line)
            section.binary = [line] if _starts(lines, position + 1, "GIT binary patch") else []
        elif line == "GIT binary patch":
            return _binary(lines, position, section)
        elif not line.startswith(("similarity index ", "dissimilarity index ", "Binary files ")):
            break
        position += 1
    return position


def _note_mode(section: Section, header: str, mode: str) -> None:
    if mode not in (*_PLAIN_MODES, _LINK_MODE):
        raise Forbidden(f"the mode {mode} is that of no file")
    if header == "new file mode":
        section.old = None
    elif header == "deleted file mode":
        section.new = None


def _binary(lines: Sequence[str], position: int, section: Section) -> int:
    section.binary.append("GIT binary patch")
    position += 1
    while position < len(lines) and (not lines[position].strip() or _BINARY_LINE.match(lines[position].rstrip("\r"))):
        section.binary.append(lines[position].rstrip("\r"))
        position += 1
    return position


def _hunks(lines: Sequence[str], position: int, section: Section) -> int:
    # a diff of a file with such ends of lines has them in its hunks alone
    has_returns = lines[position - 1].endswith("\r")
    while position < len(lines) and (head := _HUNK.match(lines[position])):
        old, new = (1 if count is None else int(count) for count in (head[2], head[4]))
        section.hunks.append(lines[position])
        position += 1
        while old > 0 or new > 0:
            if position >= len(lines):
                # who strips a text or a hunk loses its last lines if they are empty
                if old == new and old <= _LOST_LINES:
                    section.hunks += [" "] * old
                    break
                raise Cut("the diff ends within a hunk")
            line = lines[position].removesuffix("\r") if has_returns else lines[position]
            sign = line[:1] or " "
            if sign not in " +-\\\r":
                if old == new and old <= _LOST_LINES:
                    section.hunks += [" "] * old
                    old = new = 0
                    break
                raise Broken(f"a line of a hunk starts with {sign!r}: its head says {head[0]!r}")
            old -= sign in " -\r"
            new += -(sign in " +\r")
            section.hunks.append(line if sign in "+-\\" or line[:1] == " " else f" {line}")
            position += 1
        if old < 0 or new < 0:
            raise Broken(f"a hunk has other lines than its head says: {head[0]!r}")
        if _starts(lines, position, "\\ No newline"):
            section.hunks.append(lines[position].rstrip("\r"))
            position += 1
    if not section.hunks:
        raise Broken("a file has no hunks")
    return position


_LOST_LINES: Final = 3


def _check(section: Section) -> None:
    if section.old is None and section.new is None:
        raise Broken("a change names no file")
    for path in section.paths:
        check_path(path)
    if any(line.endswith(_LINK_MODE) for line in section.heads):
        target = "\n".join(line[1:] for line in section.hunks if line.startswith("+"))
        check_link(section.new or section.old or "", target)


def check_path(path: str) -> None:
    """Refuse a path that is not one of a file in the repository.

    Raises:
        Forbidden: it is not.
    """
    segments = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in segments):
        raise Forbidden(f"{path[:100]!r} is not a path within the repository")
    if any(_is_git(part) for part in segments):
        raise Forbidden(f"{path[:100]!r} belongs to git")
    if re.search(r"[\x00-\x1f\x7f\"\\]", path) or len(path) > 1024:
        raise Forbidden(f"{path[:100]!r} has signs that no path here may have")


def check_link(path: str, target: str) -> None:
    """Refuse a link that leads out of the repository.

    Raises:
        Forbidden: it does.
    """
    end = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or end.startswith("..") or any(_is_git(part) for part in end.split("/")):
        raise Forbidden(f"the link {path[:100]!r} leads to {target[:100]!r}, out of the repository")


def _is_git(part: str) -> bool:
    return part.lower().rstrip(". ") in (".git", "git~1")


def _pair(names: str) -> tuple[str | None, str | None]:
    """The two paths behind `diff --git`, which may have spaces."""
    if '"' in names:
        old, new = _quoted_pair(names)
        return _without_prefixes(old, new)
    half = len(names) // 2
    if names[:half].removeprefix("a/") == names[half + 1 :].removeprefix("b/") and names[half : half + 1] == " ":
        return _without_prefixes(names[:half], names[half + 1 :])
    old, separator, new = names.partition(" b/")
    if not separator:
        old, _, new = names.partition(" ")
        return _without_prefixes(old, new)
    return _without_prefixes(old, f"b/{new}")


def _quoted_pair(names: str) -> tuple[str, str]:
    tokens: Iterator[str] = (match[0] for match in re.finditer(r'"(?:[^"\\]|\\.)*"|\S+', names))
    pair = [_unquoted(part) for part in tokens]
    if len(pair) != 2:
        raise Broken(f"not two paths: {names[:100]!r}")
    return pair[0], pair[1]


def _named(line: str) -> str:
    """The path behind `---` or `+++`, without the time that `diff -u` adds."""
    return _unquoted(_TIME.sub("", line[len(_OLD) :].rstrip("\r").partition("\t")[0]).strip())


def _unquoted(path: str) -> str:
    if len(path) < 2 or not (path.startswith('"') and path.endswith('"')):
        return path
    try:
        return _OCTAL.sub(
            lambda escape: bytes([int(escape[1], 8) & 0xFF]), path[1:-1].encode(errors="replace")
        ).decode()
    except ValueError as error:
        raise Broken(f"not a quoted path: {path[:100]!r}") from error


def _without_prefixes(old: str, new: str) -> tuple[str | None, str | None]:
    """The paths in the repository: without `a/` and `b/` if both sides have them."""
    sides = [(path, prefix) for path, prefix in ((old, "a/"), (new, "b/")) if path != _NOTHING]
    are_prefixed = bool(sides) and all(path.startswith(prefix) for path, prefix in sides)
    paths = [None if path == _NOTHING else path[2:] if are_prefixed else path for path in (old, new)]
    return paths[0], paths[1]


def _starts(lines: Sequence[str], position: int, prefix: str) -> bool:
    return position < len(lines) and lines[position].startswith(prefix)
