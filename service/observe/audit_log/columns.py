"""The columns of stored records, for those who search them."""

from collections.abc import Mapping
from typing import Any, Final

TEXT: Final = "VARCHAR"
JSON: Final = "JSON"
COLUMNS: Final[Mapping[str, str]] = {
    "time": TEXT,
    "id": JSON,
    **dict.fromkeys(("status", "reason"), TEXT),
    **dict.fromkeys(("score", "reward", "elapsed_ms"), "DOUBLE"),
    **dict.fromkeys(("verifier", "version"), TEXT),
    "cached": "BOOLEAN",
    **dict.fromkeys(("request_id", "recipe", "domain", "data_source", "tag", "tenant", "run_id", "extracted"), TEXT),
    **dict.fromkeys(("checks", "detail", "metadata", "params", "response_messages", "prompt_messages"), JSON),
    **{
        f"{text}{part}": "BIGINT" if part == "_chars" else TEXT
        for text in ("response", "prompt", "reference")
        for part in ("", "_sha256", "_chars")
    },
    "reference_is_json": "BOOLEAN",
}
"""The columns of every table with DuckDB's types, whether its file is a log, or what `rewardline score` wrote. What a file
lacks is null."""
STEP_NAMES: Final = ("step", "global_step", "training_step", "rollout_id")
"""The names of the trainer's step in the metadata of an item, the first that is there."""
STEP: Final = "coalesce({})".format(
    ", ".join(
        f"CASE WHEN json_type(metadata, '$.{name}') IN ('UBIGINT', 'BIGINT') "
        f"THEN try_cast(metadata ->> '$.{name}' AS BIGINT) END"
        for name in STEP_NAMES
    )
)
"""SQL for the trainer's step of a row."""


def step_of(metadata: Mapping[str, Any]) -> int | None:
    """The same for fields that were read. What is not a whole number of 64 bits is not a step."""
    steps = (metadata.get(name) for name in STEP_NAMES)
    return next((step for step in steps if type(step) is int and -(2**63) <= step < 2**63), None)


def is_cut(record: Mapping[str, Any], name: str) -> bool:
    """Whether the record of a log holds only a part of this text of its item."""
    text, chars = record.get(name), record.get(f"{name}_chars")
    return isinstance(text, str) and isinstance(chars, int) and len(text) < chars


PROMPT_KEY: Final = (
    "CASE WHEN coalesce(prompt, prompt_sha256, reference, reference_sha256) IS NULL THEN left(sha256(id ->> '$'), 20) "
    "ELSE left(sha256(coalesce(prompt, prompt_sha256, '') || '\n' || coalesce(reference, reference_sha256, '')), 20) END"
)
"""SQL for what is equal of the records that answer one prompt."""
