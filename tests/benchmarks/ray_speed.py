"""Rewardline on Ray: files scored on a cluster against the engine alone, and a pool's handle against HTTP.

The scripts in `on_ray` run in the environment of the tests of Ray.
"""

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks import servers
from tests.benchmarks.report import Effort, Report
from tests.benchmarks.trainer_step import Sample, step
from tests.conftest import ROOT
from tests.e2e.environments import python_of, ray_variables

_SCRIPTS = Path(__file__).parent / "on_ray"
_PROMPTS = 512
_GROUP_ROWS = 10_000
_PATIENCE_S = 3600.0


async def run(effort: Effort) -> list[Report]:
    samples = step(effort.of(_PROMPTS, _PROMPTS, 4))
    with TemporaryDirectory() as name:
        folder = Path(name)
        reports = _one_node(folder, samples, effort.of(1_000_000, 100_000, 400))
        if len(servers.cores()) > 1:
            reports.append(_two_nodes(folder, samples, effort.of(600_000, 100_000, 400)))
        reports.append(_online(folder, samples, effort.of(50_000, 5_000, 1)))
    return reports


def _one_node(folder: Path, samples: list[Sample], rows: int) -> list[Report]:
    """The engine is measured before and after, because a machine is not as fast all the time."""
    source = _written(folder / "one.parquet", samples, rows)
    before = _offline(folder, "engine", source)
    ray = _offline(folder, "ray", source)
    cores = str(len(servers.cores()))
    one_engine = _offline(folder, "ray", source, REWARDLINE_WORKERS=cores)
    after = _offline(folder, "engine", source)
    alone_s = (before["seconds"] + after["seconds"]) / 2
    whole_s = (before["whole_s"] + after["whole_s"]) / 2
    return [
        Report(
            f"(j) {rows:,} rows of math from Parquet on one node of {len(servers.cores())} cores",
            "'rows/s' is from the start of the first block on; 'whole s' with the start of the engine, or of the cluster. "
            "The engine alone reads and writes the same blocks.",
            [
                {"way": "engine alone", "rows/s": rows / alone_s, "ratio": 1.0, "whole s": whole_s},
                *(
                    {
                        "way": way,
                        "rows/s": rows / run["seconds"],
                        "ratio": alone_s / run["seconds"],
                        "whole s": run["whole_s"],
                    }
                    for way, run in (
                        ("--ray local, an engine for each core", ray),
                        (f"--ray local, one engine, {cores} workers", one_engine),
                    )
                ),
            ],
        ),
        Report(
            "(j) Memory of that run on Ray",
            "Resident MB when so many rows were finished; caches of 16 MB.",
            ray["memory"],
        ),
    ]


def _two_nodes(folder: Path, samples: list[Sample], rows: int) -> Report:
    source = _written(folder / "two.parquet", samples, rows)
    one, two = (_offline(folder, "nodes", source, str(nodes)) for nodes in (1, 2))
    return Report(
        f"(j) {rows:,} rows on nodes of one core each",
        "The head and the command have the first node's core, too.",
        [
            {"nodes": nodes, "rows/s": rows / run["seconds"], "ratio": one["seconds"] / run["seconds"]}
            for nodes, run in ((1, one), (2, two))
        ],
    )


def _online(folder: Path, samples: list[Sample], items: int) -> Report:
    file = folder / "samples.json"
    file.write_text(json.dumps(samples))
    handle = _ran("online", "ray://bench", str(file), str(items))
    with servers.ours(servers.cores(), workers=str(len(servers.cores())), sandbox="none") as server:
        http = _ran("online", f"http://{server.http}", str(file), str(items))
    return Report(
        "(j) A pool's handle against HTTP",
        "One batch after the other, by the same client; no verdict is remembered.",
        [
            {
                "batch": by_handle["batch"],
                "handle ms": by_handle["median_ms"],
                "HTTP ms": by_http["median_ms"],
                "handle items/s": by_handle["items_per_s"],
                "HTTP items/s": by_http["items_per_s"],
            }
            for by_handle, by_http in zip(handle, http, strict=True)
        ],
    )


def _written(path: Path, samples: list[Sample], rows: int) -> Path:
    """Rows of which no two are equal, in row groups that are joined to blocks."""
    with pq.ParquetWriter(path, pa.schema({"response": pa.string(), "reference": pa.string()})) as file:
        for start in range(0, rows, _GROUP_ROWS):
            group = [(at, samples[at % len(samples)]) for at in range(start, min(start + _GROUP_ROWS, rows))]
            columns = {
                "response": [f"Try {at}. {sample['response']}" for at, sample in group],
                "reference": [sample["gold"] for _, sample in group],
            }
            file.write_table(pa.table(columns))
    return path


def _offline(folder: Path, way: str, source: Path, *more: str, **settings: str) -> Any:
    target = folder / "verdicts"
    figures = _ran("offline", way, str(source), str(target), *more, **settings)
    shutil.rmtree(target)
    return figures


def _ran(script: str, *arguments: str, **settings: str) -> Any:
    command = [str(python_of("ray")), "-m", f"tests.benchmarks.on_ray.{script}", *arguments]
    with servers.on_cores(servers.cores()):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=ray_variables(**settings),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{script} {arguments[0]}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
