"""The starting inputs of fuzzing: the seeds beside this file, and data of the tests."""

import hashlib
import json
import random
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, Final

from tests.fuzz.targets import IN_BYTES, SPLIT

_HERE: Final = Path(__file__).parent
_DATA: Final = _HERE.parent / "data" / "math"
_SYMPY_HEAVY: Final = ("sum", "prod", "int", "lim")


def fill(folder: Path, target: str, deadly: Set[str]) -> None:
    """Write the starting inputs of a target beside those that earlier runs have found, and remove the `deadly` ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in seeds(target):
        (folder / name_of(data)).write_bytes(data)
    for path in folder.iterdir():
        if name_of(path.read_bytes()) in deadly:
            path.unlink()


def name_of(data: bytes) -> str:
    """The file name of an input."""
    return hashlib.sha256(data).hexdigest()[:20]


def seeds(target: str) -> Iterator[bytes]:
    """The starting inputs of a target."""
    if target in IN_BYTES:
        source = random.Random(0)
        for length in range(4, 64):
            yield source.randbytes(length)
        if target == "exact":
            for row in _rows(_HERE / "seeds.jsonl"):
                yield f"#{row['text']}".encode()
        return
    for row in _rows(_HERE / "seeds.jsonl"):
        if target in row["for"]:
            yield str(row["text"]).encode("utf-8", "replace")
    yield from (text.encode("utf-8", "replace") for text in _of_the_tests(target))


def _of_the_tests(target: str) -> Iterator[str]:
    killers, probes = _rows(_DATA / "killers.jsonl"), _rows(_DATA / "probes.jsonl")[::3]
    if target == "extraction":
        yield from (str(row["response"]) for row in (*killers, *probes))
        return
    golds = [str(row["ground_truth"]) for row in _rows(_DATA / "deepmath_golds.jsonl")[::8]]
    golds += [str(row["k"]) for row in killers]
    golds = [gold for gold in golds if not any(name in gold for name in _SYMPY_HEAVY)]
    if target == "reader":
        yield from golds
        return
    yield from (f"{gold}{SPLIT}{gold}" for gold in golds)
    yield from (f"{row['gold']}{SPLIT}{row['response']}" for row in probes if len(row["response"]) < 80)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
