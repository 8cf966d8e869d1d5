"""The rewards of one training step: 512 prompts with 16 samples each, a third of them repeated within their group.

They are computed through the hooks of TRL and verl with a service, and in the trainers' own way: by Math-Verify for
each sample, in the trainer's process. Both use the same cores: one, which trainer, service and workers share, and all
of this machine. The scripts beside this file run in the environments of the tests of real trainers.
"""

import json
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.benchmarks import servers
from tests.benchmarks.report import Cell, Effort, Report
from tests.conftest import ROOT
from tests.e2e.environments import python_of, variables
from tests.processes import descendants

_PROMPTS, _SAMPLES = 512, 16
_TRAINERS = ("trl", "verl")
_SCRIPTS = Path(__file__).parent / "trainers"
_PATIENCE_S = 1200.0

Sample = dict[str, str]


async def run(effort: Effort) -> list[Report]:
    samples = step(effort.of(_PROMPTS, 64, 4))
    rows = []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "step.json"
        file.write_text(json.dumps(samples))
        for cores in dict.fromkeys((tuple(servers.cores()[:1]), tuple(servers.cores()))):
            rows += [_row(trainer, cores, file, len(samples)) for trainer in _TRAINERS]
    return [
        Report(
            f"One step: {len(samples):,} samples of {_SAMPLES} each, a third repeated",
            "Wall and CPU seconds; 'hook' is the trainer's process through the hook, 'service' the service and its workers, "
            "'in process' Math-Verify for each sample in the trainer's process.",
            rows,
        )
    ]


def step(prompts: int) -> list[Sample]:
    """Real solutions of GSM8K with their answers in boxes. Groups stand together, and so do repeated samples."""
    path = ROOT / "tests" / "data" / "math" / "gsm8k_model_solutions.jsonl"
    solutions = [json.loads(line) for line in path.read_text().splitlines()]
    chance = random.Random(7)
    samples = []
    for prompt in range(prompts):
        gold = solutions[prompt * 5 % len(solutions)]["gold"]
        fresh = [_sample(prompt, gold, chance.choice(solutions)["response"], chance) for _ in range(_SAMPLES * 2 // 3)]
        samples += fresh + [dict(chance.choice(fresh)) for _ in range(_SAMPLES - len(fresh))]
    return samples


def _sample(prompt: int, gold: str, solution: str, chance: random.Random) -> Sample:
    """The solution of another problem. Half of the time it has this problem's answer."""
    way, _, answer = solution.rpartition("####")
    final = gold if chance.random() < 0.5 else answer.strip()
    return {
        "prompt": f"Problem {prompt}: how much is it?",
        "response": f"{way}So it is \\boxed{{{final}}}.",
        "gold": gold,
    }


def _row(trainer: str, cores: Sequence[int], file: Path, samples: int) -> dict[str, Cell]:
    in_process = _measured(trainer, "own", cores, file, "")
    with servers.ours(cores, workers=str(len(cores)), sandbox="none") as server:
        url = f"http://{server.http}"
        pids = [server.pid, *descendants(server.pid)]
        before_s = servers.cpu_s(pids)
        through = _measured(trainer, "hook", cores, file, url)
        service_s = servers.cpu_s(pids) - before_s
        requests = _requests(url)
    return {
        "trainer": trainer,
        "cores": len(cores),
        "samples": samples,
        "requests": requests,
        "hook wall s": through["wall_s"],
        "hook CPU s": through["cpu_s"],
        "service CPU s": service_s,
        "in process wall s": in_process["wall_s"],
        "in process CPU s": in_process["cpu_s"],
        "wall ratio": in_process["wall_s"] / through["wall_s"],
        "CPU ratio": in_process["cpu_s"] / (through["cpu_s"] + service_s),
        "same reward": sum(map(_same, through["rewards"], in_process["rewards"])) / samples,
    }


def _same(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) < 1e-6


def _measured(trainer: str, way: str, cores: Sequence[int], file: Path, url: str) -> dict[str, Any]:
    command = [str(python_of(trainer)), str(_SCRIPTS / f"{trainer}_step.py"), way, str(file)]
    with servers.on_cores(cores):
        done = subprocess.run(
            command,
            env=variables(REWARDLINE_URL=url),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{trainer} {way}: {done.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _requests(url: str) -> int:
    counted = [line for line in httpx.get(f"{url}/metrics").text.splitlines() if 'method="/v1/score"' in line]
    return sum(int(float(line.rpartition(" ")[2])) for line in counted if line.startswith("rewardline_requests_total"))
