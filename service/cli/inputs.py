"""The files of rows that a command is given: a file, a folder, a pattern, a saved data set, or standard input."""

import glob
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from service.cli.console import fail
from service.rollouts.bad_input import BadInput, Json
from service.rollouts.verdict_file import VERDICTS
from service.row_files.reading import SUFFIXES, BadData, is_saved_dataset
from service.row_files.unpack import PACKED_SUFFIXES, is_table

STDIN = "-"
_WILD = frozenset("*?[")
_PART_BYTES = 1_000_000


@contextmanager
def inputs(locations: Sequence[str]) -> Iterator[list[Path]]:
    """The files at some places, each once. Standard input is kept in a file meanwhile.

    Raises:
        BadInput: there is none at a place, or standard input is one of several.
    """
    if STDIN not in locations:
        yield [*dict.fromkeys(file for location in locations for file in files_at(location))]
        return
    if len(locations) > 1:
        raise BadInput("- is standard input, and stands alone")
    head = sys.stdin.buffer.read(_PART_BYTES)
    with tempfile.NamedTemporaryFile(suffix=".csv" if is_table(head) else ".jsonl") as spooled:
        spooled.write(head)
        while part := sys.stdin.buffer.read(_PART_BYTES):
            spooled.write(part)
        spooled.flush()
        try:
            yield [Path(spooled.name)]
        except (BadInput, BadData) as error:
            raise BadInput(str(error).replace(spooled.name, "standard input")) from error


def files_at(location: str) -> list[Path]:
    """The files of rows at a place: a file, a folder, a saved data set, a pattern.

    Raises:
        BadInput: there is none.
    """
    path = Path(location)
    if path.is_file() or is_saved_dataset(path):
        return [path]
    if path.is_dir():
        inside = [file for file in path.iterdir() if not file.name.startswith((".", "_"))]
    elif "://" in location:
        raise BadInput(f"{location} is a URI; only --ray reads those")
    elif _WILD & {*location}:
        inside = [Path(file) for file in glob.glob(location, recursive=True)]
    else:
        raise BadInput(f"there is no file {location}")
    endings = tuple(suffix + packed for suffix in SUFFIXES for packed in ("", *PACKED_SUFFIXES))
    files = sorted(
        file for file in inside if file.is_file() and file.name.endswith(endings) and not file.name.endswith(VERDICTS)
    )
    if not files:
        raise BadInput(f"{location}: no file here ends in one of {', '.join(SUFFIXES)}, also with .gz or .zst")
    return files


def read_params(text: str | None) -> Json | None:
    """The parameters of all rows, as `--params` gives them."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise fail(f"--params is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise fail('--params is not a JSON object, such as \'{"unit_policy": "ignore"}\'')
    return value
