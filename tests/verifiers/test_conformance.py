"""What every verifier promises, asked of every verifier that is found."""

import asyncio
import gc
import json
import weakref
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memory
from sandbox.workers import Workers
from tests.verifiers.found import Found
from tests.verifiers.hostile_responses import ODD, floods
from tests.verifiers.statuses import is_right, scored, tasks
from tests.waiting import eventually
from verifiers import registry
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Unavailable, Verdict
from verifiers.registry import Entry

NAMES = list(registry.load(Resources(workers=Workers(1))))
IN_A_CYCLE = ("reasoning_gym",)
"""Verifiers whose parameters are part of a cycle while a box runs, until young garbage is collected."""
FLOODS = [text for _, text in floods(1_500)]
PATIENT = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)


async def _score(entry: Entry, items: Sequence[Item[Any]]) -> Sequence[Verdict]:
    return await entry.verifier.score(items)


@pytest.fixture(params=NAMES)
def entry(request: pytest.FixtureRequest, found: Found) -> Entry:
    return found.registry[request.param]


repositories_apart = pytest.mark.parametrize(
    "entry",
    [pytest.param(name, marks=[pytest.mark.repositories] * (name == "repository")) for name in NAMES],
    indirect=True,
)
"""A repository is made and tested for each item: a test of many items takes 15 seconds."""


def item_of(entry: Entry, example: Example, response: str | None = None, explain: bool = False) -> Item[Any]:
    params = entry.verifier.params.model_validate_json(json.dumps(example.params))
    return Item(example.response if response is None else response, params, example.prompt, explain)


@repositories_apart
def test_examples_hold(entry: Entry, found: Found) -> None:
    asked = [(example, explain) for example in entry.examples for explain in (False, True)]
    verdicts = found.score(entry, [item_of(entry, example, explain=explain) for example, explain in asked])
    for (example, _), verdict in zip(asked, verdicts, strict=True):
        assert (verdict.status, verdict.score, verdict.reason) == (example.status, example.score, example.reason), (
            example
        )


@repositories_apart
def test_parameters_end_with_their_item(entry: Entry, found: Found) -> None:
    """No cycle holds them until garbage is collected, and no memory keeps them beyond what it forgets."""
    gc.disable()
    try:
        for example in entry.examples:
            item = item_of(entry, example)
            alive = weakref.ref(item.params)
            found.score(entry, [item])
            del item
            memory.forget()

            def ended(alive: "weakref.ref[Any]" = alive) -> bool:
                if entry.verifier.name in IN_A_CYCLE:
                    gc.collect()
                return alive() is None

            # The loop is another thread's: it may still clear the box that gave the verdict.
            eventually(ended)
    finally:
        gc.enable()


@repositories_apart
@PATIENT
@given(data=st.data())
def test_a_response_never_decides_whether_it_is_judged(entry: Entry, found: Found, data: st.DataObject) -> None:
    task = data.draw(st.sampled_from(tasks(entry, fresh=1)))
    texts = st.one_of(
        st.sampled_from(ODD),
        st.sampled_from(FLOODS),
        st.text(max_size=200),
        st.text("\\boxed{}<>/answer think#0123456789.,-+*^$()ABC=或是\n\x00", max_size=200),
        st.lists(st.sampled_from([example.response for example in entry.examples]), max_size=4).map("\n".join),
    )
    (verdict,) = scored(found, entry, [task.item(data.draw(texts), explain=data.draw(st.booleans()))])
    assert is_right(entry, task, verdict), verdict
    assert msgspec.json.decode(msgspec.json.encode(verdict)) is not None
    assert len(msgspec.json.encode(verdict)) < 20_000


@repositories_apart
def test_order_and_neighbours_do_not_matter(entry: Entry, found: Found) -> None:
    items = [item_of(entry, example) for example in entry.examples]
    alone = [found.score(entry, [item])[0] for item in items]
    assert found.score(entry, [*items, *items[::-1]]) == [*alone, *alone[::-1]]


def test_parameters_have_a_json_schema(entry: Entry) -> None:
    schema = entry.verifier.params.model_json_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert json.loads(json.dumps(schema)) == schema
    for part, parts_schema in {"": schema, **schema.get("$defs", {})}.items():
        undescribed = [
            name for name, field in parts_schema.get("properties", {}).items() if not field.get("description")
        ]
        assert (part, undescribed) == (part, [])


def test_it_says_what_it_is(entry: Entry) -> None:
    verifier = entry.verifier
    assert verifier.name in NAMES
    assert verifier.version
    assert verifier.summary
    assert "\n" not in verifier.summary
    assert all(example.note for example in entry.examples)
    assert any(example.status is Status.OK and example.score == 1.0 for example in entry.examples)


@PATIENT
@given(name=st.text(max_size=30))
def test_an_unknown_name_never_finds_anything_else(found: Found, name: str) -> None:
    if name in found.registry:
        assert found.registry.find(name).verifier.name == name
        return
    with pytest.raises(InvalidItem, match="no verifier"):
        found.registry.find(name)


def test_workers_that_are_not_there_are_no_verdict() -> None:
    idle = registry.load(Resources(workers=Workers(1)))["regex"]
    example = next(example for example in idle.examples if "(?!" in example.params["reference"])
    with pytest.raises(Unavailable):
        asyncio.run(_score(idle, [item_of(idle, example)]))


@pytest.mark.parametrize("name", ["code", "code_quality"])
def test_boxes_that_are_not_there_are_no_verdict(name: str) -> None:
    idle = registry.load(Resources(workers=Workers(1)))[name]
    example = next(example for example in idle.examples if example.score == 1.0)
    with pytest.raises(Unavailable) as caught:
        asyncio.run(_score(idle, [item_of(idle, example)]))
    assert caught.value.reason == "sandbox_unavailable"
