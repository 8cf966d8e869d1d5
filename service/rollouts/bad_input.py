"""What every reader of rows refuses with. It imports nothing, so that commands that ask a service start at once."""

from typing import Any

Json = dict[str, Any]


class BadInput(Exception):
    """The file cannot be scored as it is. The message says what to change."""
