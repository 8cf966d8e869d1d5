"""What tenants share of the work on their items, and what is refused before it is read."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from fairness import TENANT
from service.recipes import book as recipes
from service.scoring.preparation import Preparation, SharedReferences
from service.scoring.prepared_item import PreparedItem
from service.wire import ScoreItem
from tests.work import counted
from verifiers.base import Example, InvalidItem, Item, Params, Verdict, Verifier
from verifiers.registry import Entry, Registry

_COUNT = 20_000
_MANY = {f"name{number}": 1 for number in range(_COUNT)}


class Counted(Params):
    """Counts how often parameters are read."""

    read: int = 0
    reference: str = ""

    def model_post_init(self, context: Any) -> None:
        Fact.read += 1


class Fact(Verifier[Counted]):
    name, version, summary, params = "fact", "1", "test", Counted
    read = 0

    async def score(self, items: Sequence[Item[Counted]]) -> Sequence[Verdict]:
        return [Verdict.correct() for _ in items]


class Opinion(Fact):
    name, is_opinion = "opinion", True


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("verifier", "by_tenant", "keys", "reads"),
    [("fact", False, 1, 1), ("fact", True, 3, 3), ("opinion", False, 3, 1), ("opinion", True, 3, 3)],
)
def test_opinions_are_parted_and_all_else_if_it_is_wished(
    verifier: str, *, by_tenant: bool, keys: int, reads: int
) -> None:
    entries = {one.name: Entry(one, [Example("", {}, 1.0, "", "")], "test") for one in (Fact(), Opinion())}
    registry = Registry(entries)
    preparation = Preparation(registry, recipes.load(registry), 1000, by_tenant=by_tenant)
    body = msgspec.json.encode({"verifier": verifier, "response": "a", "reference": "b"})
    found, before = set(), Fact.read
    for tenant in ("default", "red", "blue", "red", "default"):
        token = TENANT.set(tenant)
        try:
            prepared = preparation.prepare(
                msgspec.json.decode(body, type=ScoreItem), SharedReferences({}), explain=False, share=True
            )
        finally:
            TENANT.reset(token)
        assert isinstance(prepared, PreparedItem)
        found.add(prepared.key)
    assert (len(found), Fact.read - before) == (keys, reads)


@pytest.mark.parametrize(
    ("fields", "reason", "message"),
    [
        ({"verifier": "fact", "params": {"reed": 1, **_MANY}}, "bad_params", "params.reed: no such parameter; did you"),
        ({"checks": [[]] * _COUNT}, "bad_checks", "checks[0]"),
        ({"checks": [{"verifier": "fact", "params": _MANY}]}, "bad_checks", "name0: fact has no such parameter"),
        ({"verifier": "fact", "reward_weights": _MANY}, "bad_reward_weights", f"{_COUNT} names; at most 256"),
    ],
)
def test_what_is_unknown_is_refused_with_little_work(fields: dict[str, Any], reason: str, message: str) -> None:
    registry = Registry({"fact": Entry(Fact(), [Example("", {}, 1.0, "", "")], "test")})
    preparation = Preparation(registry, recipes.load(registry), 1000)
    body = msgspec.json.encode({"response": "a", "reference": "b", **fields})
    item = msgspec.json.decode(body, type=ScoreItem)
    with counted() as work, pytest.raises(InvalidItem, match=re.escape(message)) as caught:
        preparation.prepare(item, SharedReferences({}), explain=False, share=True)
    assert caught.value.reason == reason
    assert work.calls <= 3 * _COUNT  # what names may stand for is looked up for a few only
