"""The messages between a pipeline and its workers."""

from dataclasses import dataclass, field
from typing import Any


class TensorDict:
    """Tensors by name. Like the real class, it does not support `in`."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> Any:
        return self._tensors[name]

    def __contains__(self, name: str) -> bool:
        raise NotImplementedError("TensorDict does not support membership checks with the `in` keyword")

    def keys(self) -> Any:
        return self._tensors.keys()


@dataclass
class DataProto:
    batch: Any = None
    non_tensor_batch: dict[str, Any] = field(default_factory=dict)
    meta_info: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, tensors: dict[str, Any], non_tensors: dict[str, Any] | None = None) -> "DataProto":
        return cls(TensorDict(dict(tensors)), dict(non_tensors or {}))
