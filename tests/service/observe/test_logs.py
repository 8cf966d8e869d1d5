"""The lines of logs: for machines and for people."""

import json

import pytest

from service.observe.logs import _ForPeople, _JsonLines
from tracing.lines import Log


def test_a_line_has_its_fields_its_origin_and_what_was_raised(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("no such box")
    except ValueError:
        Log("rewardline.boxes").exception("%d boxes are lost", 2, kind="half \ud800", why=OSError(5))
    (record,) = caplog.records
    line = json.loads(_JsonLines().format(record))
    assert line.pop("timestamp").endswith("Z")
    assert line.pop("exception").endswith("ValueError: no such box")
    assert line == {
        "event": "2 boxes are lost",
        "kind": "half \ud800",
        "why": "OSError(5)",
        "level": "error",
        "logger": "rewardline.boxes",
    }
    told = _ForPeople("%(levelname)s %(message)s").format(record).splitlines()
    assert (told[0], told[-1]) == ("ERROR 2 boxes are lost kind=half \ud800 why=5", "ValueError: no such box")
