"""Nothing stays: after ever new items, sessions and keys, the service and its workers hold at rest what they held before.

Of each kind the service gets a number of new ones, then as many again. In the second half it may grow by 5 MB. The
caches have their default sizes, and are full before the first half begins: what they hold then is not growth.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from service.limits.keys import new_key
from tests.siege.counts import LIVES_OF_EACH, batch_items, items_of
from tests.siege.fresh.draw import Draw
from tests.siege.fresh.items import GENERATORS, item
from tests.siege.lives import LIVES
from tests.siege.stand import BATCH_ITEMS, Held, Stand, besieged
from tests.waiting import eventually

pytestmark = [pytest.mark.siege, pytest.mark.alone]
_MAY_GROW_MB: Final = 5.0
_FILLING_CHARS: Final = 280
"""Nearly the longest answer that a verdict quotes."""
_KEYS_OF_A_FILE: Final = 1_000


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with besieged(audit_dir=str(tmp_path_factory.mktemp("audit")), audit_sample="0.001") as stand:
        _fill_caches(stand)
        yield stand


def _fill_caches(stand: Stand) -> None:
    """Post items whose verdicts are long, until the memory of verdicts does not grow any more."""
    index, held = 0, -1.0
    while (now := stand.total("cache_memory_bytes")) > held:
        held = now
        for _ in range(40):
            stand.post("/v1/score", {"items": [_filling(index + number) for number in range(BATCH_ITEMS)]})
            index += BATCH_ITEMS


def _filling(index: int) -> dict[str, Any]:
    answer = f"{Draw('filling', index).name()} ".ljust(_FILLING_CHARS, "x")
    return {"verifier": "exact_match", "response": answer, "reference": answer}


@pytest.mark.parametrize("verifier", GENERATORS)
def test_new_items_leave_nothing(stand: Stand, verifier: str) -> None:
    count, size = items_of(verifier), batch_items(verifier)
    outcomes: Mapping[str, int] = {}

    def give(indices: range) -> None:
        nonlocal outcomes
        outcomes = stand.judge_all(verifier, indices, size)
        assert outcomes == {"right": len(indices)}

    assert_nothing_stays(stand, give, count)


@pytest.mark.parametrize("kind", LIVES)
def test_new_lives_leave_nothing(stand: Stand, kind: str) -> None:
    def give(indices: range) -> None:
        for index in indices:
            LIVES[kind](stand, index)

    assert_nothing_stays(stand, give, LIVES_OF_EACH)


def test_new_keys_and_tenants_leave_nothing(tmp_path: Path) -> None:
    """A file of keys, each of a tenant of its own, is replaced by another one again and again."""
    path = tmp_path / "keys.yaml"
    path.write_text(yaml.safe_dump(_keys_file(["first"], ["0" * 64])), encoding="utf-8")
    with besieged(keys_file=str(path), sandbox="none") as stand:

        def give(indices: range) -> None:
            for start in range(indices.start, indices.stop, _KEYS_OF_A_FILE):
                _use_new_keys(stand, path, range(start, start + _KEYS_OF_A_FILE))

        assert_nothing_stays(stand, give, LIVES_OF_EACH)


def _use_new_keys(stand: Stand, path: Path, indices: range) -> None:
    names = [Draw("key", index).name() for index in indices]
    made = [new_key() for _ in names]
    path.write_text(yaml.safe_dump(_keys_file(names, [digest for _, digest in made])), encoding="utf-8")
    before = stand.total("keys_reloads_total")
    os.kill(stand.pid, signal.SIGHUP)
    eventually(lambda: stand.total("keys_reloads_total") > before)
    for (key, _), index in zip(made, indices, strict=True):
        stand.headers["Authorization"] = f"Bearer {key}"
        assert stand.post("/v1/score", {"items": [item("exact_match", index)]})["summary"]["ok"] == 1


def _keys_file(names: list[str], digests: list[str]) -> dict[str, Any]:
    return {
        "keys": {
            name: {"sha256": digest, "tenant": name, "scopes": ["score"]}
            for name, digest in zip(names, digests, strict=True)
        }
    }


def assert_nothing_stays(stand: Stand, give: Callable[[range], None], count: int) -> None:
    give(range(count))
    middle = stand.rest()
    give(range(count, 2 * count))
    end = stand.rest()
    grown = end - middle
    assert grown.mb <= _MAY_GROW_MB, _told(grown, count)


def _told(grown: Held, count: int) -> str:
    return (
        f"grown by {grown.service_mb:.1f} MB in the service and {grown.workers_mb:.1f} MB in workers: "
        f"{grown.mb * 1000 / count:.2f} kB for each of {count}"
    )
