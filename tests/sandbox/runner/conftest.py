"""Boxes of three kinds, each with a real runner in it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from tests.sandbox.runner.driver import Box

KINDS = ("namespaces", "namespaces-user", "landlock", "landlock-user")

SOME_AND_ALL_KINDS = [
    pytest.param(kind, marks=() if kind in ("namespaces", "landlock-user") else pytest.mark.boxes) for kind in KINDS
]
"""The kinds that differ most from each other, and the others in a lane of their own."""

KINDS_WITH_TEMPLATES = ("namespaces", "landlock")
"""The kinds with templates. In the others all processes have one user."""

MakeBox = Callable[..., Box]


@pytest.fixture(scope="session", autouse=True)
def _is_root() -> None:
    assert os.getuid() == 0, "these tests make namespaces and become other users: run them as root"


@pytest.fixture
def make_box() -> Iterator[MakeBox]:
    """Makes a box for one test: `make_box("landlock", cpus=2)`."""
    with ExitStack() as stack:
        yield lambda kind="namespaces", **changes: stack.enter_context(closing(Box(kind, **changes)))


class _Shared:
    """One box for the tests of a module. It is replaced when a test has broken it."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._box: Box | None = None

    def get(self) -> Box:
        if self._box is None or self._box.process.poll() is not None:
            self.close()
            self._box = Box(self._kind)
        return self._box

    def close(self) -> None:
        if self._box is not None:
            self._box.close()


@pytest.fixture(scope="module", params=SOME_AND_ALL_KINDS)
def shared(request: pytest.FixtureRequest) -> Iterator[_Shared]:
    with closing(_Shared(request.param)) as boxes:
        yield boxes


@pytest.fixture
def box(shared: _Shared) -> Box:
    """A box of each kind. Earlier tests leave in it only what the runner lets them leave."""
    return shared.get()
