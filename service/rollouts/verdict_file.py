"""The output of `rewardline score`: what made it on the first line, then a verdict for each row, in the order of the rows.

{"made_by": {"verifier": "math", ..., "input": {"bytes": 812, "blake3": "…"}, "versions": {"math": "18"}}}
{"line": 1, "id": "r1", "status": "ok", "score": 1.0, ...}
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from blake3 import blake3

from service.rollouts.bad_input import BadInput, Json
from service.wire import encode

VERDICTS: Final = ".verdicts.jsonl"
"""How the name of such a file ends."""
MADE_BY: Final = "made_by"
_AGAIN: Final = "--overwrite judges all lines anew, -o names another output"
_MAX_SHOWN_CHARS: Final = 60


class Kept(NamedTuple):
    """A verdict of an earlier run."""

    number: int
    """The line of its row in the input, from 1."""
    result: Json
    text: bytes


def made_by(source: Path, options: Json, versions: Mapping[str, str]) -> Json:
    """What decides the verdicts on a file.

    Args:
        source: The input, a file or a folder.
        options: The options of the run that change verdicts.
        versions: The versions of verifiers, and of a recipe.
    """
    return {**options, "input": input_of(source), "versions": dict(versions)}


def input_of(source: Path) -> Json:
    """What tells the content of a file or a folder from any other."""
    digest = blake3(max_threads=blake3.AUTO)
    files = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
    for path in files:
        digest.update_mmap(path)
    size = sum(path.stat().st_size for path in files)
    return {"bytes": size, "blake3": digest.hexdigest()}


def fingerprint(recipe: Mapping[str, Any]) -> str:
    """What stands for the version of a recipe. Its texts and its watch change no reward."""
    judging = {name: value for name, value in recipe.items() if name not in ("about", "origin", "watch")}
    return blake3(msgspec.json.encode(judging, enc_hook=dict, order="deterministic")).hexdigest(8)


def header(maker: Json) -> bytes:
    return encode({MADE_BY: maker}) + b"\n"


def check(target: Path, maker: Json) -> None:
    """Check whether a run that is made so may go on with an output, if there is one.

    Raises:
        BadInput: something else has made the output.
    """
    if target.exists() and target.stat().st_size:
        next(verdicts(target, maker), None)


def verdicts(target: Path, maker: Json) -> Iterator[Kept]:
    """The whole lines of an earlier run that was made by the same. Half a line, which an interruption leaves, is left out.

    Raises:
        BadInput: something else has made the file.
    """
    with target.open("rb") as lines:
        old_maker = object_of(next(lines, b"")).get(MADE_BY)
        if not isinstance(old_maker, dict):
            raise BadInput(
                f"{target} is there, and `rewardline score` has not written it, or an older release has; {_AGAIN}"
            )
        _check_same(target, {**old_maker, "versions": {}}, {**maker, "versions": {}})
        used: set[str | None] = set()
        for name in maker["versions"]:
            if name == f"recipe {maker.get('recipe')}":
                _check_version(target, name, old_maker, maker)
        for line in lines:
            result = object_of(line)
            if not line.endswith(b"\n") or not isinstance(result.get("line"), int):
                return
            names = {judged.get("verifier") for judged in (result, *(result.get("checks") or ()))} - used
            for name in sorted(filter(None, names)):
                _check_version(target, name, old_maker, maker)
            used |= names
            yield Kept(result["line"], result, line)


def of_source(lines: Iterator[bytes], path: Path, source: Path) -> tuple[Json, Iterator[Json]]:
    """What made the lines of a file of verdicts, and its verdicts, each with its `line`.

    Raises:
        BadInput: `rewardline score` has not written the file, or not for `source` as it is now.
    """
    maker = object_of(next(lines, b"")).get(MADE_BY)
    if not isinstance(maker, dict):
        raise BadInput(f"{path} is not a file of verdicts that `rewardline score` wrote")
    if maker.get("input") not in (None, input_of(source)):
        raise BadInput(f"{path} holds verdicts on other rows than {source} does now; run `rewardline score` again")
    return maker, (verdict for verdict in map(object_of, lines) if isinstance(verdict.get("line"), int))


def _check_same(target: Path, old: Json, now: Json) -> None:
    differing = [name for name in {**old, **now} if old.get(name) != now.get(name)]
    if differing:
        differences = ", ".join(f"{name} {_short(old.get(name))}, now {_short(now.get(name))}" for name in differing)
        raise BadInput(f"{target} was made with {differences}; {_AGAIN}")


def _check_version(target: Path, name: str, old: Json, now: Json) -> None:
    versions = (old.get("versions") or {}).get(name), now["versions"].get(name)
    if versions[0] != versions[1]:
        raise BadInput(f"{target} was made with version {versions[0]} of {name}, which is {versions[1]} now; {_AGAIN}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


def object_of(line: bytes) -> Json:
    """The object of a line of JSON. Empty: it holds none."""
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict):
            return value
    return {}
