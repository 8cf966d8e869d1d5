"""Captures what a program prints, until the tests that made it print fetch it."""

import io
import sys
from typing import Final

_MAX_CHARS: Final = 1 << 20


class CapturedOutput:
    """Replaces a program's standard output and error from now on."""

    def __init__(self) -> None:
        self._output = _Captured()
        self._errors = _Captured()
        sys.stdout = sys.__stdout__ = self._output.text  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = self._errors.text  # type: ignore[misc]

    def take(self) -> list[str] | None:
        """Both since the last call, cut to a million characters; None when nothing was printed."""
        output, errors = self._output.take(), self._errors.take()
        return [output, errors] if output or errors else None


class _Captured:
    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        self.text = io.TextIOWrapper(self._bytes, "utf-8", "surrogateescape", newline="\n", write_through=True)

    def take(self) -> str:
        if self._bytes.closed or not self._bytes.tell():
            return ""
        data = self._bytes.getvalue()
        self._bytes.seek(0)
        self._bytes.truncate()
        return data.decode("utf-8", "surrogateescape")[:_MAX_CHARS]
