from collections.abc import Iterator

import pytest

from tests.conftest import Served, serving


@pytest.fixture(scope="package")
def without_boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without boxes: items that need one fail."""
    with serving(tmp_path_factory.mktemp("without_boxes") / "log.jsonl", sandbox="none", workers="1") as server:
        yield server
