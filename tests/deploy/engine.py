"""A Docker daemon, and the way to the ports that its containers publish.

A daemon that tests started has a network of its own (tests/dockerd.py). Commands that speak with its containers run in
that network.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 240


@dataclass(frozen=True)
class Engine:
    """A Docker daemon."""

    address: str

    def run(self, *command: str, check: bool = True, variables: Mapping[str, str] | None = None) -> str:
        """Run a command that asks this daemon, or speaks with its containers. Returns its output."""
        done = subprocess.run(
            self.command(*command),
            cwd=ROOT,
            env=self.environment(variables or {}),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
        return done.stdout if check else done.stdout + done.stderr

    def command(self, *command: str) -> list[str]:
        """The same command, run in the daemon's network."""
        pid_file = Path(self.address.removeprefix("unix://")).parent / "docker.pid"
        if not self.address.startswith("unix:///tmp/") or not pid_file.exists():
            return list(command)
        return ["nsenter", f"--net=/proc/{pid_file.read_text().strip()}/ns/net", *command]

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("REWARDLINE_")}
        return {**kept, "DOCKER_HOST": self.address, "PYTHONPATH": str(ROOT / "client"), **variables}

    def popen(self, *command: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.command(*command),
            cwd=ROOT,
            env=self.environment({}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def compose_command() -> Sequence[str] | None:
    """The command of Compose, in the form that this machine has."""
    if shutil.which("docker-compose"):
        return ("docker-compose",)
    plugin = (
        shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    )
    return ("docker", "compose") if plugin else None
