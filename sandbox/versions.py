"""Asks compilers and interpreters for their versions, by one program in a box."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from sandbox.base import Execute, Limits, Program, RunResult, Sandbox
from sandbox.languages import all_languages

_ASKING: Final = """\
import json, os, platform, subprocess

def answer(command, environment):
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    try:
        said = subprocess.run(
            command, env={**os.environ, **environment}, stdin=nothing, stdout=pipe, stderr=subprocess.STDOUT, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = said.stdout.decode(errors="replace").splitlines() if said.returncode == 0 else ()
    return next((line.strip()[:200] for line in lines if any(map(str.isdigit, line))), "")

print(json.dumps([
    answer(command, environment) if command else platform.python_version()
    for command, environment in json.loads(input())
]))
"""
_LIMITS: Final = Limits(cpu_s=60.0, wall_s=120.0, memory_mb=1 << 20, output_bytes=1 << 16)
"""All of Debian's take six seconds together. Several reserve far more memory than they use, so the box's own limit
holds.
"""


async def find_versions(sandbox: Sandbox) -> Mapping[str, str]:
    """What the compiler or interpreter of each language of these boxes says about its version: a line, by language.

    A language whose compiler says nothing is missing.

    Raises:
        SandboxUnavailable: the program could not be run.
    """
    languages = [all_languages()[name] for name in sorted(sandbox.languages)]
    commands = {language.version: dict(language.environment) for language in languages}
    results: list[RunResult] = []

    def keep(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    question = Execute(json.dumps(list(commands.items())).encode(), limits=_LIMITS)
    await sandbox.run(Program(_ASKING), [question], keep)
    answers = dict(zip(commands, _lines(results[0].stdout if results else b""), strict=False))
    return {language.name: answers[language.version] for language in languages if answers.get(language.version)}


def _lines(output: bytes) -> Sequence[str]:
    try:
        lines = json.loads(output)
    except ValueError:  # it was ended before it wrote
        return ()
    return [str(line) for line in lines]
