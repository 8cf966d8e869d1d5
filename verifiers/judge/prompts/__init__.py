"""Loads the prompts: text files named `name@version.txt`, which are read, checked and rendered once at the start.

    schema: eq_abc          the protocol in which the verdict is asked for
    head: head              a text of this folder that is put before the system message
    === system
    === user                with slots, see `rendering.templates`

A model whose own chat template asks for the verdict (Nemotron's GenRM) has no system message but one slot for each role:
`=== user`, `=== response_1`, `=== response_2`.

A version's text never changes: it is part of what a verdict means. `pins.txt` holds the hash of each text, and a text
that differs from its pin stops the service; `python -m verifiers.judge.prompts` prints the current pins. A folder of
the user may add prompts, with or without its own pins, but cannot replace a prompt that ships.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from verifiers.judge.rendering import Data, render
from verifiers.judge.rendering.templates import BrokenPrompt, Prompt, compiled, compiled_roles
from verifiers.judge.schemas import SCHEMAS, Kind

__all__ = ["BrokenPrompt", "Prompt", "hashes", "load", "read_folder"]

SHIPPED: Final = Path(__file__).parent
PINS: Final = "pins.txt"
_HEADS: Final = frozenset({"head"})
_SYSTEM: Final = "=== system\n"
_USER: Final = "=== user\n"
_NEEDED: Final = {Kind.RUBRIC: "criteria", Kind.STEPS: "steps", Kind.PROPOSAL: "replies"}
_ROLE: Final = re.compile(r"^=== ([a-z_0-9]+)\n", re.MULTILINE)


def load(names: Iterable[str] | None = None, folder: Path | None = None) -> Mapping[str, Prompt]:
    """The prompts with these names, or all prompts.

    Raises:
        BrokenPrompt: a prompt is missing, cannot be used, or differs from its pin.
    """
    prompts = _pinned(SHIPPED, read_folder(SHIPPED), every=True)
    if folder is not None:
        own_prompts = _pinned(folder, read_folder(folder), every=False)
        clashes = [name for name in own_prompts if name in prompts and own_prompts[name].sha256 != prompts[name].sha256]
        if clashes:
            raise BrokenPrompt(
                f"{folder} has another text for {clashes[0]}, which ships; give it another name or version"
            )
        prompts |= own_prompts
    if names is None:
        return prompts
    unknown = [name for name in names if name not in prompts]
    if unknown:
        raise BrokenPrompt(f"no prompt {unknown[0]!r}; there are {sorted(prompts)}")
    return {name: prompts[name] for name in names}


def hashes(prompts: Mapping[str, Prompt]) -> dict[str, str]:
    return {name: prompt.sha256 for name, prompt in prompts.items()}


def read_folder(folder: Path) -> dict[str, Prompt]:
    """Every prompt of a folder, checked by rendering it with data that must appear in the right place."""
    paths = sorted(path for path in folder.glob("*.txt") if path.name != PINS and path.stem not in _HEADS)
    return {path.stem: _checked(_read(path)) for path in paths}


def _read(path: Path) -> Prompt:
    text = _text(path)
    fields, *roles = _ROLE.split(text) if _SYSTEM not in text else text.partition(_SYSTEM)[:1]
    system, continues, user = text.partition(_SYSTEM)[2].partition(_USER)
    if not (continues or len(roles) > 2):
        raise BrokenPrompt(f"{path}: expected the lines {_SYSTEM.strip()!r} and {_USER.strip()!r}")
    header = dict(_field(path, line) for line in fields.splitlines() if line.strip())
    unknown = header.keys() - {"schema", "head"}
    if unknown or "schema" not in header:
        raise BrokenPrompt(f"{path}: expected `schema:` and perhaps `head:` before the system message")
    if header["schema"] not in SCHEMAS:
        raise BrokenPrompt(f"{path}: no schema {header['schema']!r}; there are {sorted(SCHEMAS)}")
    if roles:
        return compiled_roles(
            path.stem, header["schema"], list(zip(roles[::2], map(str.strip, roles[1::2]), strict=True))
        )
    return compiled(path.stem, header["schema"], _head(path, header.get("head")) + system, user)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BrokenPrompt(f"{path} cannot be read: {error}") from error


def _field(path: Path, line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise BrokenPrompt(f"{path}: expected `name: value`, found {line!r}")
    return name.strip(), value.strip()


def _head(path: Path, name: str | None) -> str:
    if name is None:
        return ""
    if name not in _HEADS:
        raise BrokenPrompt(f"{path}: no head {name!r}; there are {sorted(_HEADS)}")
    return _text(SHIPPED / f"{name}.txt").strip("\n") + "\n\n"


def _checked(prompt: Prompt) -> Prompt:
    """Check a prompt by rendering it: the data of each slot must appear exactly once."""
    schema = SCHEMAS[prompt.schema]
    needed = None if schema.flat else _NEEDED.get(schema.kind)
    if needed is not None and needed not in prompt.slots:
        raise BrokenPrompt(f"prompt {prompt.name}: the schema {prompt.schema} needs the slot {needed!r}")
    texts = {slot: f"probe of {slot}" for slot in prompt.slots}
    data = Data(
        question=texts.get("question"),
        principle=texts.get("principle"),
        references=[texts["reference"]] if "reference" in texts else (),
        response=texts.get("response") or texts.get("response_a"),
        response_b=texts.get("response_b"),
        criteria={"c1": texts["criteria"]} if "criteria" in texts else None,
        steps=[texts["steps"]] if "steps" in texts else None,
        replies=[texts["replies"]] if "replies" in texts else None,
    )
    messages = render(prompt, data, secret=b"probe").messages
    if prompt.roles:
        return prompt
    user = messages[1]["content"]
    wrong = [slot for slot, text in texts.items() if user.count(f"{text}\n>>>{slot.upper()} ") != 1]
    if wrong:
        raise BrokenPrompt(f"prompt {prompt.name}: the slot {wrong[0]!r} does not show its data once")
    return prompt


def _pinned(folder: Path, prompts: dict[str, Prompt], *, every: bool) -> dict[str, Prompt]:
    path = folder / PINS
    pins = dict(_pin(path, line) for line in _text(path).splitlines() if line.strip()) if path.exists() else {}
    for name, prompt in prompts.items():
        if name not in pins and not every:
            continue
        if pins.get(name) != prompt.sha256:
            raise BrokenPrompt(f"the text of {name} is not what {path} holds: give a changed text a new version")
    absent = sorted(pins.keys() - prompts.keys())
    if absent:
        raise BrokenPrompt(f"{path} holds {absent[0]}, and there is no such file")
    return prompts


def _pin(path: Path, line: str) -> tuple[str, str]:
    name, _, digest = line.partition(" ")
    if not digest.strip():
        raise BrokenPrompt(f"{path}: expected `name@version hash`, found {line!r}")
    return name, digest.strip()
