"""The columns of stored records, for those who search them."""

from collections.abc import Mapping
from typing import Final

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
    **dict.fromkeys(("checks", "detail", "metadata", "params", "response_messages"), JSON),
    **{
        f"{text}{part}": "BIGINT" if part == "_chars" else TEXT
        for text in ("response", "prompt", "reference")
        for part in ("", "_sha256", "_chars")
    },
}
"""The columns of every table with DuckDB's types, whether its file is a log, or what `rewardline score` wrote. What a file
lacks is null."""
