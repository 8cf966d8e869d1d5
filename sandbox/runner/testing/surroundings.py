"""Tells the program what tests change around them, as in one process.

    os.environ["LEVEL"] = "3"        sent to the program with the next request, like `sys.argv`

Only tests whose text mentions such things send anything. Nothing comes back: a program must not change what its tests see.
"""

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

from sandbox.runner.testing.specification import Specification

_ABOUT_SURROUNDINGS: Final = re.compile(r"\b(?:environ|putenv|setenv|delenv|argv)\b")

Changes = list[Any]
"""As sent: variables by name, null for those that are gone; `sys.argv`, null if unchanged."""


class Surroundings:
    """What tests have changed around them since the program was told."""

    def __init__(self) -> None:
        self._variables = _variables()
        self._arguments = list(sys.argv)

    def changes(self) -> Changes | None:
        """The arguments of `surround` in the program; None: it knows them already."""
        variables, arguments = _variables(), list(sys.argv)
        news: Mapping[str, str | None] = {
            **dict.fromkeys(self._variables.keys() - variables.keys()),
            **{name: value for name, value in variables.items() if self._variables.get(name) != value},
        }
        is_new = arguments != self._arguments
        self._variables, self._arguments = variables, arguments
        return [news, arguments if is_new else None] if news or is_new else None


def surroundings_of(specification: Specification) -> Surroundings | None:
    """Begin to notice what tests change. None for the many tests that mention nothing of it."""
    return Surroundings() if specification.mentions(_ABOUT_SURROUNDINGS, "env", "argv") else None


def surround(variables: Mapping[str, str | None], arguments: list[str] | None) -> None:
    """In the program's process: take over what tests have changed."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)  # noqa: TID251 - the program's
        else:
            os.environ[name] = value  # noqa: TID251
    if arguments is not None:
        sys.argv[:] = arguments


def _variables() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - the tests'
