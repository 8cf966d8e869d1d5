"""Groups of responses: how many travel in one request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardline.batching import json_bytes

GROUPS = "/v1/groups/score"
RUBRICS = "/v1/rubrics/evolve"
_MAX_GROUPS, _MAX_MEMBERS, _MAX_BYTES = 2_048, 4_096, 8_000_000
_MAX_NUMBERS = 32_768
"""Those of groups of rewards, their lengths and the like: the answer has a dozen values for each."""


def chunked(groups: Sequence[Mapping[str, Any]]) -> list[Sequence[Mapping[str, Any]]]:
    """The groups in parts that the server takes. A group is never divided."""
    chunks: list[Sequence[Mapping[str, Any]]] = []
    start = members = nbytes = 0
    for at, group in enumerate(groups):
        size, weight, most = len(group.get("responses", ())), len(json_bytes(group)), _MAX_MEMBERS
        if "responses" not in group:
            lists = [*group.values(), *(group.get("components") or {}).values()]
            size, most = sum(len(values) for values in lists if isinstance(values, (list, tuple))), _MAX_NUMBERS
        is_full = at - start == _MAX_GROUPS or members + size > most or nbytes + weight > _MAX_BYTES
        if is_full and at > start:
            chunks.append(groups[start:at])
            start, members, nbytes = at, 0, 0
        members += size
        nbytes += weight
    if start < len(groups):
        chunks.append(groups[start:])
    return chunks
