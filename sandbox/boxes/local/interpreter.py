"""The interpreter that boxes run, and the paths of this machine that boxes see so that it and the compilers work."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Final

from sandbox.base import SandboxUnavailable
from sandbox.languages import all_languages

_QUESTION: Final = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix]))"
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION: Final = ("/etc/ld.so.cache", "/etc/alternatives")
_MADE_IN_BOXES: Final = ("/tmp", "/dev", "/box", "/proc")  # noqa: S108 - hidden in a box by its own
_MOVED_TO: Final = "/opt/python"
_PATIENCE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Paths of the interpreter, outside and in a box."""

    python: str
    python_inside: str
    visible: Sequence[tuple[str, str]]
    """What is shown in a box: path outside, path inside."""

    @property
    def readable(self) -> Sequence[str]:
        """Paths that programs may read, in boxes that hide nothing and only forbid (Landlock)."""
        system = [path for path in _SYSTEM if os.path.lexists(path)]
        return list(dict.fromkeys([*system, *(outside for outside, _ in self.visible)]))


def inspect(python: str) -> Interpreter:
    """Ask an interpreter where its library is.

    Raises:
        SandboxUnavailable: it does not run, or it is in a folder that boxes replace with their own.
    """
    try:
        process = subprocess.run(  # noqa: S603 - the service's own choice
            [python, "-I", "-c", _QUESTION], capture_output=True, check=True, timeout=_PATIENCE_S, cwd="/"
        )
        prefix, base_prefix = json.loads(process.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxUnavailable(f"the interpreter {python} does not run: {error}") from error
    base = {base_prefix, os.path.realpath(base_prefix), str(Path(os.path.realpath(python)).parent.parent)}
    if "/" in base or any(_is_hidden(path) for path in base):
        raise SandboxUnavailable(
            f"the interpreter {python} is installed in {base_prefix}, a folder that boxes replace with their own;"
            " install it elsewhere"
        )
    inside = _MOVED_TO if _is_hidden(prefix) else prefix
    return Interpreter(
        python,
        python.replace(prefix, inside, 1) if python.startswith(f"{prefix}/") else python,
        _without_covered([*_system_paths(), *((path, path) for path in sorted(base)), (prefix, inside)]),
    )


def _system_paths() -> Sequence[tuple[str, str]]:
    folders = [path for path in _SYSTEM if os.path.isdir(path) and not os.path.islink(path)]
    of_languages = {pattern for language in all_languages().values() for pattern in language.configuration}
    visible = [path for pattern in (*_CONFIGURATION, *sorted(of_languages)) for path in glob(pattern)]
    return [(path, path) for path in [*folders, *visible]]


def _is_hidden(path: str) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in _MADE_IN_BOXES)


def _without_covered(paths: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Drop paths that are already visible through another one."""
    visible: list[tuple[str, str]] = []
    for outside, inside in dict.fromkeys(paths):
        if not any(inside == covering or inside.startswith(f"{covering}/") for _, covering in visible):
            visible.append((outside, inside))
    return visible
