"""Names the parts of the tests that `make test` leaves to `make test-all`, and says why.

A test belongs to the quick lane unless it is marked with one of these: `pytestmark = pytest.mark.chaos`, or the mark on one
test or one `pytest.param`. `make test-all` runs everything, `make test-all ONLY=chaos` one part.

`@pytest.mark.growth(beyond=2)` leaves the first two cases of a function with many in the quick lane.

What truly needs time to itself is marked `alone`, too (beside its lane): it runs when nothing else does.
"""

from typing import Final

import pytest

LANES: Final = {
    "accuracy": "every labelled row and every reference solution, through every judge, beside its rivals",
    "bombs": "every input that hangs a naive grader, each for as long as it is allowed to take",
    "boxes": "every hostile program, language and case on every kind of box",
    "browser": "every page in a real browser, in every colour and width, with hostile text",
    "chaos": "parts of the service are killed while it works",
    "contract": "the whole HTTP contract, attacked by schemathesis; every door and command with every fault",
    "deploy": "images are built, and Compose, Helm, Prometheus and Kubernetes run them or render them in every form",
    "fuzz": "ten CPU minutes of fuzzing, and proof that the fuzzer finds planted faults",
    "judges": "judge models and endpoints in every kind of trouble",
    "growth": "work grows with the text and no faster, for floods of every kind",
    "leaks": "the same again and again, until what leaks would show",
    "load": "many callers for a long time",
    "repositories": "every kind of response to a repository task, and every fault of its containers, on runc and gVisor",
    "ray": "a real Ray cluster whose nodes, actors and replicas are killed",
    "siege": "nothing kills the service: memory that stays, a loop that never stands, hostile requests",
    "trainers": "trainers in environments of their own, which take minutes to install",
    "watch": "recorded runs of policies that drift to hacks, and of policies that only learn",
    "wording": "every wording of answers, where one of its kind is in the quick lane",
}
ALONE: Final = "alone"


def is_of(lane: str, item: pytest.Item, place: int) -> bool:
    """Whether a lane runs a test. The test is the `place`th case of its function."""
    if lane == "all":
        return True
    marks = {mark.name: mark.kwargs.get("beyond", 0) for mark in item.iter_markers() if mark.name in LANES}
    if lane == "quick":
        return all(place < beyond for beyond in marks.values())
    return lane in marks
