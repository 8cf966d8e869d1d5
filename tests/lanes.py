"""What `make test` leaves to `make test-all`, and why.

A test belongs to the quick lane unless it is marked with one of these: `pytestmark = pytest.mark.chaos`, or the mark on one
test or one `pytest.param`. `make test-all` runs everything, `make test-all ONLY=chaos` one part.

What truly needs time to itself is marked `alone`, too (beside its lane): it runs when nothing else does.
"""

from typing import Final

LANES: Final = {
    "accuracy": "every labelled row, through every judge, beside its rivals",
    "bombs": "every input that hangs a naive grader, each for as long as it is allowed to take",
    "boxes": "every hostile program, language and case on every kind of box",
    "chaos": "parts of the service are killed while it works",
    "contract": "the whole HTTP contract, attacked by schemathesis; every door with every fault",
    "deploy": "images are built, and Compose, Helm, Prometheus and Kubernetes run them or render them in every form",
    "fuzz": "ten CPU minutes of fuzzing, and proof that the fuzzer finds planted faults",
    "judges": "judge models and endpoints at length",
    "leaks": "the same again and again, until what leaks would show",
    "load": "many callers for a long time",
    "trainers": "trainers in environments of their own, which take minutes to install",
    "wording": "every wording of answers, where one of its kind is in the quick lane",
}
ALONE: Final = "alone"
