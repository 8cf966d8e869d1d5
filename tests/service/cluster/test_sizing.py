"""How many engines a run has."""

import pytest

from service.cluster.sizing import NoRoom, engines


@pytest.mark.parametrize(
    ("cpus", "blocks", "workers", "expected"),
    [
        ([1, 1], 24, 0, (1, 2)),
        ([0, 16, 16], 20_000, 0, (1, 32)),
        ([16, 16], 4, 0, (8, 4)),
        ([4, 16], 1, 0, (4, 1)),
        ([4, 16], 100, 4, (4, 5)),
        ([4, 16], 100, 8, (8, 2)),
        ([3, 3], 3, 0, (2, 2)),
    ],
)
def test_engines_fill_the_nodes(cpus: list[int], blocks: int, workers: int, expected: tuple[int, int]) -> None:
    assert engines(cpus, blocks, workers) == expected


def test_a_cluster_without_room_is_a_message() -> None:
    with pytest.raises(NoRoom, match="no node of the cluster has a CPU"):
        engines([0], 3)
    with pytest.raises(NoRoom, match="set REWARDLINE_WORKERS to at most 4"):
        engines([2, 4], 3, workers=8)
