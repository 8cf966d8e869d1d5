"""Fixtures that the tests of all verifiers share."""

from collections.abc import Iterator

import pytest

from tests.verifiers.found import Found


@pytest.fixture(scope="session")
def found() -> Iterator[Found]:
    everything = Found()
    yield everything
    everything.close()
