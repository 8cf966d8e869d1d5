"""Whole trials of Harbor: its oracle runs the solution of a task, and its verifier reads the reward.

`trials.py TASKS OUT` runs each task below the folder TASKS, and prints one line of JSON: by the task's name its rewards, or the
name of the exception that ended it. OUT is a folder for what Harbor writes.

Harbor's environment `docker` needs Docker Compose 2, which Debian 12 has not. So containers are made by the Docker client.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig
from harbor.trial.trial import Trial


class Container(BaseEnvironment):
    """A container of the task's image, without a network."""

    @staticmethod
    def type() -> str:
        return "container"

    def _validate_definition(self) -> None:
        if not self.task_env_config.docker_image:
            raise ValueError("a task needs environment.docker_image")

    async def start(self, force_build: bool) -> None:
        folder = self.task_env_config.workdir or "/"
        options = ("--detach", "--network=none", f"--name={self._name}", f"--workdir={folder}")
        await docker("run", *options, str(self.task_env_config.docker_image), "sleep", "infinity")
        await self.ensure_dirs(self._mount_targets(writable_only=True))

    async def stop(self, delete: bool) -> None:
        await docker("rm", "--force", "--volumes", self._name)

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await docker("cp", str(source_path), f"{self._name}:{target_path}")

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await docker("exec", self._name, "mkdir", "-p", target_dir)
        await docker("cp", f"{source_dir}/.", f"{self._name}:{target_dir}")

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await docker("cp", f"{self._name}:{source_path}", str(target_path))

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await docker("cp", f"{self._name}:{source_dir}/.", str(target_dir))

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        options = [f"--env={name}={value}" for name, value in (self._merge_env(env) or {}).items()]
        options += [f"--workdir={cwd}"] if cwd else []
        who = self._resolve_user(user)
        options += [f"--user={who}"] if who is not None else []
        async with asyncio.timeout(timeout_sec):
            code, said = await client("exec", *options, self._name, "bash", "-c", command)
        return ExecResult(stdout=said, return_code=code)

    @property
    def _name(self) -> str:
        return f"trial-{self.session_id.lower()}"


async def client(*arguments: str) -> tuple[int, str]:
    """The exit code of Docker's client, and what it says."""
    process = await asyncio.create_subprocess_exec(
        "docker", *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")


async def docker(*arguments: str) -> None:
    code, said = await client(*arguments)
    if code:
        raise RuntimeError(f"docker {' '.join(arguments)}: {said}")


async def rewards_of(task: Path, out: Path) -> Any:
    config = TrialConfig(
        task=TaskConfig(path=task),
        trials_dir=out,
        agent=AgentConfig(name="oracle"),
        environment=EnvironmentConfig(import_path="trials:Container"),
    )
    result = await (await Trial.create(config)).run()
    if result.exception_info is not None:
        return result.exception_info.exception_type
    return None if result.verifier_result is None else result.verifier_result.rewards


async def main(tasks: Sequence[Path], out: Path) -> Any:
    return {task.name: await rewards_of(task, out) for task in tasks}


if __name__ == "__main__":
    folder, written = map(Path, sys.argv[1:])
    print(json.dumps(asyncio.run(main(sorted(folder.iterdir()), written))))
