"""Every verifier of texts gets impostors, and no verifier pays one for its own examples."""

import json

import pytest

from sandbox.workers import Workers
from service.watch.impostor_texts import FORMS, IMPOSTORS, READERS, WITHOUT, Material
from tests.verifiers.found import Found
from verifiers import registry
from verifiers.base import Item, Resources, Status

NAMES = list(registry.load(Resources(workers=Workers(1))))
PLAIN = [impostor for impostor in IMPOSTORS if impostor.kind in ("empty", "elsewhere")]


def test_each_verifier_has_impostors_or_a_reason() -> None:
    kinds = {name: {impostor.kind for impostor in IMPOSTORS if name in impostor.judges} for name in NAMES}
    assert {name for name in NAMES if not kinds[name]} == set(WITHOUT)
    assert all({"empty", "elsewhere"} <= kinds[name] for name in READERS)
    assert all("empty" in kinds[name] for name in FORMS)
    assert not (READERS & FORMS)
    assert not ((READERS | FORMS) & WITHOUT.keys())
    assert READERS | FORMS | WITHOUT.keys() == set(NAMES)


@pytest.mark.watch
def test_no_verifier_pays_a_plain_impostor_for_its_own_examples() -> None:
    everything, paid = Found(), []
    try:
        for name in sorted(READERS | FORMS):
            entry = everything.registry[name]
            examples = [example for example in entry.examples if example.status is Status.OK]
            for impostor in PLAIN:
                if name not in impostor.judges:
                    continue
                texts = [impostor.write(Material("", "1", [], turn)) or "" for turn in range(impostor.count)]
                for example in examples:
                    params = entry.verifier.params.model_validate_json(json.dumps(example.params))
                    verdicts = everything.score(entry, [Item(text, params, example.prompt) for text in texts])
                    scores = [verdict.score for verdict in verdicts]
                    if all(score is not None and score >= impostor.pays for score in scores):
                        paid.append((name, impostor.kind, example.params))
    finally:
        everything.close()
    assert not paid
