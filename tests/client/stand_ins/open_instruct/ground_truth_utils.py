"""Finds, builds and calls verifiers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


@dataclass
class VerifierConfig:
    @classmethod
    def from_args(cls, *args: Any) -> VerifierConfig:
        return cls()


@dataclass
class VerificationResult:
    score: float
    cost: float = 0.0
    reasoning: str | None = None


class VerifierFunction(ABC):
    def __init__(self, name: str, weight: float = 1.0, verifier_config: VerifierConfig | None = None) -> None:
        self.name = name
        self.weight = weight
        self.verifier_config = verifier_config

    @classmethod
    def get_config_class(cls) -> type[VerifierConfig]:
        return VerifierConfig

    @abstractmethod
    def __call__(
        self,
        tokenized_prediction: list[int],
        prediction: str,
        label: Any,
        query: str | None = None,
        rollout_state: dict[str, Any] | None = None,
    ) -> VerificationResult: ...

    async def async_call(self, *args: Any, **kwargs: Any) -> VerificationResult:
        return await asyncio.get_running_loop().run_in_executor(None, lambda: self(*args, **kwargs))


class MathVerifier(VerifierFunction):
    """A verifier that ships, to test the order in which names are taken."""

    def __init__(self, verifier_config: VerifierConfig | None = None) -> None:
        super().__init__("math", verifier_config=verifier_config)

    def __call__(self, *args: Any, **kwargs: Any) -> VerificationResult:
        return VerificationResult(0.25)


def build_all_verifiers(args: Any) -> dict[str, VerifierFunction]:
    """One verifier for each direct subclass. If several have the same name, the last one counts."""
    built: dict[str, VerifierFunction] = {}
    for kind in VerifierFunction.__subclasses__():
        verifier = kind(kind.get_config_class().from_args(args))  # type: ignore[arg-type]  # of a subclass
        built[verifier.name.lower()] = verifier
    return built
