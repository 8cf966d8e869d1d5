from collections.abc import Iterator

import pytest

from tests.judge_upstream.llama import Llama, serving_llama


@pytest.fixture(scope="session")
def llama() -> Iterator[Llama]:
    with serving_llama() as served:
        yield served
