"""The description of a verifier for callers: `GET /v1/verifiers`, `ListVerifiers`, `rewardline verifiers`."""

from dataclasses import asdict
from typing import Any

from verifiers.registry import Entry


def describe(entry: Entry) -> dict[str, Any]:
    """The name, version, summary, the JSON schema of reference and parameters, and the examples of a verifier."""
    verifier = entry.verifier
    return {
        "name": verifier.name,
        "version": verifier.version,
        "summary": verifier.summary,
        "deterministic": verifier.deterministic,
        "params_schema": verifier.params.model_json_schema(),
        "examples": [asdict(example) for example in entry.examples],
    }
