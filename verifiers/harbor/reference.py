"""Where a task of Harbor is, and what its reward means."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from verifiers.base import Params
from verifiers.commitment import Think

MAX_TASK_BYTES = 32_000_000
"""Of all files of a task together."""
MAX_FILES = 1500


def _inside(path: str) -> str:
    """Refuse a path that is not a plain one below its folder."""
    if path.startswith("/") or not PurePosixPath(path).parts or ".." in PurePosixPath(path).parts or "\0" in path:
        raise ValueError(f"{path[:100]!r} is not a path below the folder of tasks")
    return path


Image = Annotated[str, StringConstraints(max_length=512, pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$")]
Path = Annotated[str, StringConstraints(min_length=1, max_length=1024), AfterValidator(_inside)]


class HarborReference(BaseModel):
    """One task: by path, as a tar, or as texts."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    path: Path | None = None
    """The task's folder, below the folder that the operator names."""
    tar: Annotated[str, StringConstraints(max_length=48_000_000)] | None = None
    """The task's folder as a tar, plain or compressed by gzip, in base64."""
    files: Annotated[Mapping[Path, str], Field(max_length=MAX_FILES)] | None = None
    """The files of the task's folder with their texts."""
    image: Image | None = None
    """The image. None: the one that task.toml names, or one that is built from the task's Dockerfile."""
    workdir: Annotated[str, StringConstraints(max_length=4096, pattern=r"^/[^\x00\n]*$")] | None = None
    """The folder in which the response acts. None: the one of task.toml, or of the image."""
    network: bool = False
    """Whether the task gets a network, if the operator allows it. What task.toml says about it does not count."""
    reward_key: Annotated[str, StringConstraints(max_length=200)] | None = None
    """Which reward of a reward.json counts. None: `reward`, or the only one."""
    max_reward: float = Field(default=1.0, gt=0)
    """The reward that scores 1. The score is the share of it."""

    @model_validator(mode="after")
    def _is_one_task(self) -> Self:
        if sum(source is not None for source in (self.path, self.tar, self.files)) != 1:
            raise ValueError("a task has one of path, tar and files")
        return self


def _of_text(value: Any) -> Any:
    """An object for its JSON text, or for the path of a task; anything else as it is."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("{"):
        return {"path": value}
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError("the reference must be an object, JSON text of one, or the path of a task") from error


class HarborParams(Params):
    """The task, and how a response is read."""

    reference: Annotated[HarborReference, BeforeValidator(_of_text)]
    """The task, as an object, as JSON text of one, or as its path."""
    form: Literal["auto", "script", "change"] = "auto"
    """What a response is. script: a shell script that runs in the container; change: a diff, files or a tar; auto: a change
    if it has a fence tagged diff or patch, the tag `<patch>` or JSON of a change, otherwise a script if it has one."""
    think: Think = "auto"
    """Which text is read. auto: the text after the last closing think tag; required: the tag must be there; none: all."""
