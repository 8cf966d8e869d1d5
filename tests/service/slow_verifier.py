"""A plugin with a verifier that takes as long as an item says, or until a file exists. It tests what is in flight
when a service ends.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import Served, serving

_CODE = """
import asyncio
from pathlib import Path

from verifiers.base import Example, Params, Verdict, Verifier


class SlowParams(Params):
    seconds: float = 0.0
    until: str = ""


class Slow(Verifier[SlowParams]):
    name = "slow"
    version = "1"
    params = SlowParams
    summary = "There is a response; takes a while"
    chunk_items = 1
    concurrency = 64

    async def score(self, items):
        (item,) = items
        await asyncio.sleep(item.params.seconds)
        while item.params.until and not Path(item.params.until).exists():
            await asyncio.sleep(0.01)
        return [Verdict.correct() if item.response else Verdict.wrong("empty")]


def create(resources):
    return Slow()


EXAMPLES = (
    Example("a", {}, 1.0, "correct", "any response"),
    Example("", {}, 0.0, "empty", "none"),
    Example(" ", {}, 1.0, "correct", "looks like none"),
)
"""


@contextmanager
def serving_slowly(folder: Path, **settings: str) -> Iterator[Served]:
    """A server that has the verifier, with no boxes unless `sandbox` says otherwise."""
    settings = {"sandbox": "none", "workers": "1", **settings}
    with serving(folder / "slow.jsonl", (), installed(folder / "plugins"), **settings) as served:
        yield served


def held(count: int, until: Path) -> list[dict[str, Any]]:
    """Items without an answer until the file exists; one in three is wrong."""
    return [
        {"verifier": "slow", "response": str(n) if n % 3 else "", "params": {"seconds": n / 1e6, "until": str(until)}}
        for n in range(count)
    ]


def installed(folder: Path) -> Path:
    """The folder with the plugin in it, as pip would install it."""
    shutil.rmtree(folder, ignore_errors=True)
    about = folder / "rewardline_slow-1.dist-info"
    about.mkdir(parents=True)
    (folder / "rewardline_slow.py").write_text(_CODE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rewardline-slow\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[rewardline.verifiers]\nslow = rewardline_slow:create\n")
    return folder
