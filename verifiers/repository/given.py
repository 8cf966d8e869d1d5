"""The files of a change, as the scripts of a container take them. Those that say which lines become others are made here."""

from collections.abc import Iterable, Mapping
from typing import Final

from sandbox.containers import Container, TooLarge
from sandbox.workers import Exit, Task, Workers
from verifiers.boxed import unread
from verifiers.long_texts import BROKEN_LIMITS, ask_workers
from verifiers.repository import edits
from verifiers.repository.changes import MAX_CHANGE_BYTES, Change, NoChange

EDIT: Final = Task("verifiers.repository.edits", "edit_in_worker", time_limit_s=20.0, output_bytes=2 * MAX_CHANGE_BYTES)


def of_change(change: Change) -> dict[str, bytes]:
    """The files by path below `sandbox.containers.base.EXCHANGE`. Content that needs other files is not there yet."""
    return {
        "given/change.patch": change.patch.encode(errors="replace"),
        "given/paths": lines(sorted(change.paths)),
        **_numbered(change.files),
    }


async def give_edited(change: Change, container: Container, workers: Workers) -> None:
    """Give the container the files of a change that says which lines become others. Nothing of the change has run there.

    Raises:
        NoChange: the lines are not there.
        Unavailable: no worker could do it.
    """
    if not change.replaced:
        return
    texts: dict[str, bytes | None] = {}
    for path in change.replaced:
        try:
            texts[path] = (await container.read(path, max_bytes=MAX_CHANGE_BYTES)).get("")
        except TooLarge as error:
            raise NoChange("too_large", f"the file {path!r} is too large: {error}") from error
    replaced = edits.sendable(change.replaced)
    (outcome,) = await ask_workers(workers, EDIT, [[[texts[path], replaced[path]] for path in texts]])
    if outcome.exit in BROKEN_LIMITS:
        raise NoChange("too_complex", f"making the change meets the {outcome.exit}")
    if outcome.exit is not Exit.OK:
        raise unread(outcome)
    contents, message = outcome.value
    if message:
        raise NoChange("patch_failed", message)
    edited: dict[str, bytes | None] = dict(zip(texts, contents, strict=True))
    moved = {target: edited[path] for path, target in change.moved.items()}
    await container.give(_numbered({**change.files, **edited, **dict.fromkeys(change.moved), **moved}))


def lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode(errors="replace")


def _numbered(files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    contents = {f"given/file-{n}": content for n, content in enumerate(files.values(), 1) if content is not None}
    return {"given/files": lines(files), **contents}
