"""One bench for all tests of programs in boxes."""

from collections.abc import Iterator

import pytest

from tests.verifiers.code.bench import Bench


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    everything = Bench()
    yield everything
    everything.close()
