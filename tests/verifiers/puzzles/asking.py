"""Calls a puzzle's own `judge`, with parameters as on the wire."""

import json
from importlib import import_module
from typing import Any

from hypothesis import settings

from sandbox.workers import Workers
from verifiers.base import Item, Resources, Verdict

FEW = settings(max_examples=40, deadline=None)


def ask(name: str, response: str, reference: Any, **params: Any) -> Verdict:
    module = import_module(f"verifiers.puzzles.{name}")
    kind = module.create(Resources(Workers(1))).params
    verdict: Verdict = module.judge(
        Item(response, kind.model_validate_json(json.dumps({"reference": reference, **params})))
    )
    return verdict


def score(name: str, response: str, reference: Any, **params: Any) -> float | None:
    return ask(name, response, reference, **params).score
