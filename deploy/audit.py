"""Compares the pinned packages with a public database of known vulnerabilities: `python3 -m deploy.audit [FILE]`.

The exit code says what was found:

    0   every package was looked up, and no vulnerability is known
    1   at least one package has a known vulnerability
    3   at least one package could not be looked up (no network, or the index has no such database), and the others have
        no known vulnerability

A package that was not looked up never counts as "no findings": pip-audit, which does the look-up, names packages that
it skipped. This program installs pip-audit by hash into `.build/audit`. Beside it, it needs nothing but the standard
library.
"""

import argparse
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
PINNED: Final = Path(__file__).with_name("audit.txt")
CLEAN, KNOWN, NOT_AUDITED = 0, 1, 3
_FOLDER: Final = ROOT / ".build" / "audit"
_PATIENCE_S: Final = 600
_SHOWN: Final = 3


class NotAudited(Exception):
    """Nothing was looked up. The message says why."""


@dataclass
class Report:
    """The findings on the packages of a file."""

    known: list[str] = field(default_factory=list)
    """One line for each vulnerability."""
    skipped: list[str] = field(default_factory=list)
    """The reasons why packages were not looked up."""
    packages: int = 0

    @property
    def code(self) -> int:
        if self.known:
            return KNOWN
        return NOT_AUDITED if self.skipped or not self.packages else CLEAN

    def text(self) -> str:
        """The report as text for the log."""
        lines = list(self.known)
        if self.skipped or not self.packages:
            skipped = "; ".join(self.skipped[:_SHOWN])
            lines.append(f"COULD NOT AUDIT {len(self.skipped)} of {self.packages} packages: {skipped}")
        else:
            lines.append(f"{self.packages} packages audited, {len(self.known)} known vulnerabilities")
        return "\n".join(lines)


def read(output: str) -> Report:
    """Read the JSON that pip-audit printed.

    Raises:
        NotAudited: the text is not the JSON of pip-audit.
    """
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
        report = Report(packages=len(packages))
        for package in packages:
            if "vulns" in package:
                report.known += [_line(package, vulnerability) for vulnerability in package["vulns"]]
            else:
                report.skipped.append(str(package.get("skip_reason", package)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAudited(f"pip-audit gave no report: {error!r}") from error
    return report


def _line(package: dict[str, Any], vulnerability: dict[str, Any]) -> str:
    mended = ", ".join(vulnerability.get("fix_versions") or ()) or "no release"
    return f"{package['name']} {package['version']}: {vulnerability['id']}, mended in {mended}"


def audit(locked: Path) -> Report:
    """Look up the packages that a file pins.

    Raises:
        NotAudited
    """
    options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
    process = _run(str(_FOLDER / "bin/python"), "-m", "pip_audit", *options, "--requirement", str(locked))
    # Its exit code is 1 for findings and for trouble alike. Only its report tells which.
    if process.returncode not in (0, 1) or not process.stdout.strip():
        raise NotAudited(_last_line(process.stderr) or f"pip-audit ended with {process.returncode}")
    return read(process.stdout)


def install() -> None:
    """Install pip-audit in a folder of its own.

    Raises:
        NotAudited: the index cannot be reached.
    """
    if not (_FOLDER / "bin/python").exists():
        venv.create(_FOLDER, with_pip=True)
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes")
    process = _run(str(_FOLDER / "bin/python"), "-m", "pip", "install", *options, "--requirement", str(PINNED))
    if process.returncode:
        raise NotAudited(f"pip-audit cannot be installed: {_last_line(process.stderr)}")


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S)  # noqa: S603 - all of it is ours
    except subprocess.TimeoutExpired as error:
        raise NotAudited(f"pip-audit gave no answer in {_PATIENCE_S} s; check the network and try again") from error


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Look up known vulnerabilities of pinned packages.")
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "requirements/serve.txt")
    locked = parser.parse_args(arguments).file
    try:
        install()
        report = audit(locked)
    except NotAudited as error:
        sys.stdout.write(f"COULD NOT AUDIT {locked}: {error}\n")
        return NOT_AUDITED
    sys.stdout.write(f"{report.text()}\n")
    return report.code


if __name__ == "__main__":
    sys.exit(main())
