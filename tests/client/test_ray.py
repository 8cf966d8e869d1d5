"""What of `rewardline.ray` needs no Ray."""

import sys

import pytest
from rewardline import ray


def test_what_needs_the_server_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "service.cluster.scorer", None)
    with pytest.raises(ImportError, match=r"pip install 'rewardline-server\[ray\]'"):
        _ = ray.Scorer
    with pytest.raises(AttributeError, match="no attribute 'Scoerr'"):
        _ = ray.Scoerr
