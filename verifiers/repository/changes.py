"""Reads the change that a response makes: a diff, files, a tar, or lines that become others.

text behind thinking ──► JSON object   {"files": {path: text or null}}, {"tar": base64}, {"patch": …}, {"model_patch": …}
                     ──► *** Begin Patch, or blocks of SEARCH and REPLACE                                   (edits.py)
                     ──► <patch>…</patch>, the last one
                     ──► fences tagged diff or patch; of two that change the same file, the later one counts
                     ──► the diffs anywhere in the text
"""

import base64
import binascii
import io
import re
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from sandbox.workers import worker_function
from verifiers.boxed import WrongResponse
from verifiers.commitment import Think, final_segment
from verifiers.repository import edits
from verifiers.repository.diffs import Broken, Cut, Forbidden, Section, block, check_path, sections
from verifiers.repository.edits import Replacement

MAX_CHANGE_BYTES: Final = 48_000_000
"""A larger change is not applied: 0, `too_large`."""
MAX_FILES: Final = 2000
_TAG: Final = "<patch>"
_END_TAG: Final = "</patch>"
_FENCE: Final = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})[ \t]*(?:diff|patch|udiff)\b", re.I)
_ANY_FENCE: Final = re.compile(r"[ ]{0,3}(?:`{3,}|~{3,})")
_INDENTED: Final = re.compile(r"([ \t]+)(?:diff --git |--- \S|`{3,}|~{3,})")


class NoChange(WrongResponse):
    """The response has no change that could be applied."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a response does to the repository."""

    patch: str = ""
    """A unified diff for `git apply`."""
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    """Content by path; None removes the file."""
    replaced: Mapping[str, Sequence[Replacement]] = field(default_factory=dict)
    """Lines that become others, by the path of their file."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """New paths of such files."""
    paths: frozenset[str] = frozenset()
    """Every file that is changed."""


def read(response: str, think: Think, workdir: str) -> Change:
    """The change of a response. Linear in its length.

    Raises:
        NoChange: there is none, or it cannot be used. The reasons: no_patch, truncated, patch_failed, forbidden_path,
            too_large.
    """
    segment = final_segment(response, think)
    if segment.reason != "found":
        raise NoChange("truncated" if segment.reason == "truncated" else "no_patch")
    start = len(response[: segment.start].rstrip(" \t"))  # the first line may be indented, too
    text = response[start : segment.end]
    if len(text) > MAX_CHANGE_BYTES:
        raise NoChange("too_large", f"the change has more than {MAX_CHANGE_BYTES} bytes")
    try:
        return _of_text(text, workdir)
    except Cut as error:
        raise NoChange("truncated", str(error)) from error
    except Forbidden as error:
        raise NoChange("forbidden_path", str(error)) from error
    except Broken as error:
        raise NoChange("patch_failed", str(error)) from error


def _of_text(text: str, workdir: str) -> Change:
    fields = _json(text)
    if fields is not None:
        return _of_json(fields, workdir)
    edited = edits.read(text)
    if edited is not None:
        return _of_edits(edited, workdir)
    return _of_sections(_sections(text) or _sections(_dedented(text)))


def _sections(text: str) -> Sequence[Section]:
    """The changes of files in a text: in the last tag, or else in its fences, or else anywhere."""
    start = text.rfind(_TAG)
    if start >= 0:
        end = text.rfind(_END_TAG)
        file_sections = _of_tag(text[start + len(_TAG) :].split("\n"))
        if end < start and not file_sections:
            raise NoChange("truncated", "the tag <patch> is not closed")
        return file_sections
    file_sections, has_fence = _of_fences(text.split("\n"))
    return file_sections if has_fence else sections(text)


def _dedented(text: str) -> str:
    """The text, with diffs of which each line is indented, as below an item of a list, at the margin."""
    indent, lines = "", []
    for line in text.split("\n"):
        if (head := _INDENTED.match(line)) and not (indent and line.startswith(indent)):
            indent = head[1]
        elif line.strip() and not line.startswith(indent):
            indent = ""
        lines.append(line.removeprefix(indent))
    return "\n".join(lines)


def _of_edits(parsed: edits.Edits, workdir: str) -> Change:
    if not parsed.paths:
        raise NoChange("no_patch", "the response changes no file")
    if len(parsed.paths) > MAX_FILES:
        raise NoChange("too_large", f"the change has more than {MAX_FILES} files")

    def inside(path: str) -> str:
        path = path.removeprefix(f"{workdir.rstrip('/')}/").removeprefix("./")
        check_path(path)
        return path

    return Change(
        files={inside(path): content for path, content in parsed.files.items()},
        replaced={inside(path): replaced for path, replaced in parsed.replaced.items()},
        moved={inside(path): inside(target) for path, target in parsed.moved.items()},
        paths=frozenset(map(inside, parsed.paths)),
    )


def _of_tag(lines: Sequence[str]) -> Sequence[Section]:
    """The changes behind an opening tag. They may be in a fence."""
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return block(lines, start + bool(_ANY_FENCE.match(lines[start])))[0]


def _of_fences(lines: Sequence[str]) -> tuple[Sequence[Section], bool]:
    """The changes in the fences tagged as such, and whether there are any. Each line is read once."""
    by_paths: dict[frozenset[str], list[Section]] = {}
    position, has_fence = 0, False
    while position < len(lines):
        if not _FENCE.match(lines[position]):
            position += 1
            continue
        has_fence = True
        file_sections, position = block(lines, position + 1)
        paths_of_fence: dict[frozenset[str], list[Section]] = {}
        for section in file_sections:
            paths_of_fence.setdefault(frozenset(section.paths), []).append(section)
        by_paths |= paths_of_fence
    return [section for group in by_paths.values() for section in group], has_fence


def _of_sections(file_sections: Sequence[Section]) -> Change:
    if not file_sections:
        raise NoChange("no_patch", "the response has no unified diff")
    paths = frozenset(path for section in file_sections for path in section.paths)
    if len(paths) > MAX_FILES:
        raise NoChange("too_large", f"the change has more than {MAX_FILES} files")
    return Change("".join(section.text() for section in file_sections), paths=paths)


def _json(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, alone or in a fence tagged json."""
    bare = text.strip()
    if bare.startswith("```json") and bare.endswith("```"):
        bare = bare[7:-3].strip()
    if not bare.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(bare)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_json(fields: Mapping[str, Any], workdir: str) -> Change:
    for name in ("patch", "model_patch"):
        if isinstance(fields.get(name), str):
            return _of_sections(sections(fields[name]))
    if isinstance(fields.get("tar"), str):
        return _of_files(_members(fields["tar"], workdir))
    files = fields.get("files")
    if not isinstance(files, dict) or not all(text is None or isinstance(text, str) for text in files.values()):
        raise NoChange("no_patch", "the JSON object has no files, no tar and no patch")
    return _of_files({path: None if text is None else text.encode(errors="replace") for path, text in files.items()})


def _of_files(files: Mapping[str, bytes | None]) -> Change:
    if not files:
        raise NoChange("no_patch", "the response changes no file")
    if len(files) > MAX_FILES or sum(len(content or b"") for content in files.values()) > MAX_CHANGE_BYTES:
        raise NoChange("too_large", f"the change has more than {MAX_FILES} files or {MAX_CHANGE_BYTES} bytes")
    for path in files:
        check_path(path)
    return Change(files=files, paths=frozenset(files))


def _members(text: str, workdir: str) -> dict[str, bytes | None]:
    """The regular files of a tar, plain or compressed by gzip, by path below the working directory. What belongs to git,
    links and devices are left out.
    """
    try:
        packed = base64.b64decode("".join(text.split()), validate=True)
        plain = _decompressed(packed)
        files: dict[str, bytes | None] = {}
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as members:
            for member in members:
                path = member.name.lstrip("/").removeprefix("./").removeprefix(f"{workdir.strip('/')}/")
                file = members.extractfile(member) if member.isreg() and ".git" not in path.split("/") else None
                if file is not None:
                    files[path] = file.read()
                    if len(files) > MAX_FILES:
                        break
    except (binascii.Error, ValueError, tarfile.TarError, zlib.error, EOFError) as error:
        raise NoChange("patch_failed", f"the tar cannot be read: {error}") from error
    return files


def _decompressed(packed: bytes) -> bytes:
    if not packed.startswith(b"\x1f\x8b"):
        return packed
    stream = zlib.decompressobj(wbits=31)
    plain = stream.decompress(packed, MAX_CHANGE_BYTES + (1 << 20))
    if stream.unconsumed_tail:
        raise NoChange("too_large", f"the tar has more than {MAX_CHANGE_BYTES} bytes")
    return plain


@worker_function
def read_in_worker(payload: list[Any]) -> list[Any]:
    """Run `read` in a worker: see `to_send`."""
    response, think, workdir = payload
    try:
        return to_send(read(response, think, workdir))
    except NoChange as error:
        return to_send(error)


def to_send(change: Change | NoChange) -> list[Any]:
    """`[reason, message, [patch, files, replaced, moved, paths]]`; the reason is empty if there is a change."""
    if isinstance(change, NoChange):
        return [change.reason, str(change), []]
    replaced = edits.sendable(change.replaced)
    return ["", "", [change.patch, dict(change.files), replaced, dict(change.moved), sorted(change.paths)]]


def of_worker(value: Sequence[Any]) -> Change:
    """The change that `to_send` has sent.

    Raises:
        NoChange: there is none.
    """
    reason, message, fields = value
    if reason:
        raise NoChange(reason, message)
    patch, files, replaced, moved, paths = fields
    return Change(patch, files, edits.received(replaced), moved, frozenset(paths))
