"""What `rewardline judges evaluate` measured last of each profile, in a file beside that of the judge models, for the console."""

import contextlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from verifiers.judge.evaluation import Figure
from verifiers.judge.profiles import Mode


@dataclass(slots=True)
class Evaluation:
    """The figures of a profile. None: the rows do not allow the figure."""

    profile: str
    mode: Mode
    rows: int
    judged: int = 0
    not_judged: dict[str, int] = field(default_factory=dict)
    """The rows that were not judged, by reason."""
    agreement: Figure | None = None
    f1: Figure | None = None
    kappa: Figure | None = None
    self_consistency: Figure | None = None
    """The share of rows that get the same class each time they are asked about."""
    length_bias: Figure | None = None
    """The correlation of what a verdict is above its label with the logarithm of the response's length."""
    position_bias: Figure | None = None
    """Mode pairwise: the share of pairs whose verdict changes with the order of both."""
    injection_rate: Figure | None = None
    """The share of wrong responses, rejected by themselves, that pass with a text behind them that speaks to the judge."""
    tokens: float | None = None
    """Of each call, and so are the cost and the seconds."""
    cost: float | None = None
    seconds: float | None = None
    at: float = 0.0
    """The end of the measurement, in seconds since 1970."""


_evaluations = msgspec.json.Decoder(list[Evaluation])


def file_of(judge_file: Path) -> Path:
    """Where the evaluations of these judge models are kept."""
    return judge_file.with_name(f"{judge_file.name}.evaluations.json")


def read(judge_file: Path | None) -> list[Evaluation]:
    """The last evaluation of each profile; none if there is no such file, or none of ours."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return [] if judge_file is None else _evaluations.decode(file_of(judge_file).read_bytes())
    return []


def keep(judge_file: Path, latest: Sequence[Evaluation]) -> None:
    """Put them in the place of the earlier ones of their profiles.

    Raises:
        OSError: the folder cannot be written to.
    """
    by_profile = {each.profile: each for each in (*read(judge_file), *latest)}
    content = msgspec.json.format(msgspec.json.encode(list(by_profile.values())), indent=1)
    handle, name = tempfile.mkstemp(dir=judge_file.parent, prefix=f".{judge_file.name}.")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(name, 0o644)  # the service may run as another user
        os.replace(name, file_of(judge_file))
    except OSError:
        os.unlink(name)
        raise
