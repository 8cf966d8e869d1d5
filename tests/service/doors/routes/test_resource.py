"""The query strings of the routes of jobs, audits and series."""

import msgspec
import pytest

from service.doors.routes.resource import query_of
from service.errors import Unprocessable


class _Query(msgspec.Struct, forbid_unknown_fields=True):
    wait_s: float = 0.0


def test_a_query_is_read_with_its_types() -> None:
    assert query_of(b"wait_s=1.5", _Query, "wait_s") == _Query(1.5)
    assert query_of(b"", _Query, "wait_s") == _Query()


@pytest.mark.parametrize("query", [b"wait_s=1&wait_s=1", b"wait=1", b"wait_s=soon", b"wait_s="])
def test_a_wrong_query_says_what_it_takes(query: bytes) -> None:
    with pytest.raises(Unprocessable, match="takes wait_s, a number"):
        query_of(query, _Query, "wait_s, a number")
