"""The fresh items of the lane `siege` and of `make bench`: every verifier has some, they are new, and they are judged."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Serve
from tests.judge_upstream.grader import Grader
from tests.siege.fresh.draw import Posted
from tests.siege.fresh.items import GENERATORS, item, posted
from tests.verifiers.found import Found
from tests.waiting import PATIENCE_S
from verifiers.base import Item
from verifiers.conversation import dialects
from verifiers.registry import Entry

_ITEMS = 100
_JUDGED = range(1, 16)
_FEW = range(1, 3)
"""A right response and a wrong one: the third of every three is wrong."""
_STARTS_PROGRAMS = {"code_quality", "harbor", "lean", "repository"}
_MODELS = ("judge", "reward_model")
_NEEDS_CONTAINERS = {"harbor", "repository"}
_NO_FREE_PARAMETER = {"code_format"}
"""Their parameters are names from lists, and they have no reference: what is new is the response."""

_NAMES_AN_OPTION = {"multiple_choice"}
"""The reference is a letter. The options are new."""


def test_every_verifier_has_fresh_items(found: Found) -> None:
    assert set(GENERATORS) == set(found.registry)


@pytest.mark.parametrize("verifier", GENERATORS)
def test_no_two_items_are_alike(verifier: str) -> None:
    items = [posted(verifier, index) for index in range(_ITEMS)]
    assert items == [posted(verifier, index) for index in range(_ITEMS)]
    assert len({_text(made.response) for made in items}) == _ITEMS
    references = [_text(made.reference) for made in items if made.reference is not None]
    assert len(set(references)) == len(references) or verifier in _NAMES_AN_OPTION
    parameters = {_text([made.reference, dict(made.params)]) for made in items}
    assert len(parameters) == _ITEMS or verifier in _NO_FREE_PARAMETER
    prompts = [made.prompt for made in items if made.prompt is not None]
    assert len(set(prompts)) == len(prompts)


@pytest.mark.parametrize(
    "verifier",
    [
        pytest.param(name, marks=[pytest.mark.siege] if name in _NEEDS_CONTAINERS else [])
        for name in sorted(set(GENERATORS) - set(_MODELS))
    ],
)
def test_each_is_judged_as_it_must_be(found: Found, verifier: str) -> None:
    items = [posted(verifier, index) for index in (_FEW if verifier in _STARTS_PROGRAMS else _JUDGED)]
    verdicts = found.score(found.registry[verifier], [_typed(found.registry[verifier], made) for made in items])
    assert [(verdict.status, verdict.score) for verdict in verdicts] == [("ok", made.score) for made in items]
    assert {made.score for made in items} == {0.0, 1.0}


@pytest.mark.accuracy
@pytest.mark.parametrize("verifier", _MODELS)
def test_a_model_grades_each_as_it_must(serve: Serve, tmp_path: Path, verifier: str) -> None:
    with Grader() as grader:
        served = serve(judge_file=str(grader.file(tmp_path)), workers="1")
        items = [item(verifier, index) for index in _JUDGED]
        reply = httpx.post(f"{served.url}/v1/score", json={"items": items}, timeout=PATIENCE_S)
    assert [(result["status"], result["score"]) for result in reply.json()["results"]] == [
        ("ok", posted(verifier, index).score) for index in _JUDGED
    ]


def _typed(entry: Entry, made: Posted) -> Item[Any]:
    fields = dict(made.params) if made.reference is None else {**made.params, "reference": made.reference}
    params = entry.verifier.params.model_validate_json(json.dumps(fields))
    if isinstance(made.response, str):
        return Item(made.response, params, made.prompt)
    conversation = dialects.read(made.response)
    return Item(conversation.text("last"), params, made.prompt, conversation=conversation)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
