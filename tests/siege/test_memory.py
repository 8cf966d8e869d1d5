"""Nothing stays: after ever new items, sessions and keys, the service and its workers hold at rest what they held before.

Of each kind the service gets a number of new ones, then as many again. In the second half it may grow by 5 MB. The
memories have their default sizes, and the first half fills them: what they hold then is not growth. The memories of
verdicts and of judges' answers, whose defaults take longer, are smaller. That of verdicts is full before, and holds
nothing but verdicts of the kind after the first half: those of another kind take another part of Python's heap.

What was held is a table in `.build/siege.md`, which also stands at the end of the output.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from service.limits.keys import new_key
from tests.siege.counts import batch_items, items_of, lives_of
from tests.siege.fresh.draw import Draw
from tests.siege.fresh.items import GENERATORS, item
from tests.siege.lives import LIVES
from tests.siege.stand import BATCH_ITEMS, Caller, Stand, besieged
from tests.siege.table import Halves, Table
from tests.waiting import eventually

pytestmark = [pytest.mark.siege, pytest.mark.alone]
_MAY_GROW_MB: Final = 5.0
_FILLING_CHARS: Final = 280
"""Nearly the longest answer that a verdict quotes."""
_KEYS_OF_A_FILE: Final = 1_000
_CALLERS: Final = 4


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    audits = {"max_dataset_audits": str(_CALLERS)}
    log = {"audit_dir": str(tmp_path_factory.mktemp("audit")), "audit_sample": "0.001"}
    with besieged(cache_memory_mb="4", answers_memory_mb=1, max_groups_in_memory="2000", **audits, **log) as stand:
        _fill_verdicts(stand)
        stand.rest()
        yield stand


def _fill_verdicts(stand: Stand) -> None:
    """Post items whose verdicts are long, until the memory of verdicts does not grow any more."""
    index, held = 0, -1.0
    while (now := stand.total("cache_memory_bytes")) > held:
        held = now
        for _ in range(20):
            stand.post("/v1/score", {"items": [_filling(index + number) for number in range(BATCH_ITEMS)]})
            index += BATCH_ITEMS


def _filling(index: int) -> dict[str, Any]:
    answer = f"{Draw('filling', index).name()} ".ljust(_FILLING_CHARS, "x")
    return {"verifier": "exact_match", "response": answer, "reference": answer}


@pytest.mark.parametrize("verifier", GENERATORS)
def test_new_items_leave_nothing(stand: Stand, table: Table, verifier: str) -> None:
    size = batch_items(verifier)

    def give(indices: range) -> None:
        assert stand.judge_all(verifier, indices, size) == {"right": len(indices)}

    assert_nothing_stays(stand, table, verifier, give, items_of(verifier))


@pytest.mark.parametrize("kind", LIVES)
def test_new_lives_leave_nothing(stand: Stand, table: Table, kind: str) -> None:
    def give(indices: range) -> None:
        stand.share(_CALLERS, indices, LIVES[kind])

    assert_nothing_stays(stand, table, kind, give, lives_of(kind))


def test_new_keys_and_tenants_leave_nothing(table: Table, tmp_path: Path) -> None:
    """A file of keys, each of a tenant of its own, is replaced by another one again and again."""
    path = tmp_path / "keys.yaml"
    path.write_text(yaml.safe_dump(_keys_file(["first"], ["0" * 64])), encoding="utf-8")
    with besieged(keys_file=str(path), cache_memory_mb="1", sandbox="none") as stand:
        stand.rest()

        def give(indices: range) -> None:
            for start in range(indices.start, indices.stop, _KEYS_OF_A_FILE):
                _use_new_keys(stand, path, range(start, start + _KEYS_OF_A_FILE))

        assert_nothing_stays(stand, table, "keys and tenants", give, lives_of("keys", _KEYS_OF_A_FILE))


def _use_new_keys(stand: Stand, path: Path, indices: range) -> None:
    names = [Draw("key", index).name() for index in indices]
    made = [new_key() for _ in names]
    path.write_text(yaml.safe_dump(_keys_file(names, [digest for _, digest in made])), encoding="utf-8")
    before = stand.total("keys_reloads_total")
    os.kill(stand.pid, signal.SIGHUP)
    eventually(lambda: stand.total("keys_reloads_total") > before)

    def use(caller: Caller, part: tuple[str, int]) -> None:
        key, index = part
        caller.headers = {"Authorization": f"Bearer {key}"}
        assert caller.post("/v1/score", {"items": [item("exact_match", index)]})["summary"]["ok"] == 1

    stand.share(_CALLERS, [(key, index) for (key, _), index in zip(made, indices, strict=True)], use)


def _keys_file(names: list[str], digests: list[str]) -> dict[str, Any]:
    return {
        "keys": {
            name: {"sha256": digest, "tenant": name, "scopes": ["score"]}
            for name, digest in zip(names, digests, strict=True)
        }
    }


def assert_nothing_stays(stand: Stand, table: Table, what: str, give: Callable[[range], None], count: int) -> None:
    """`stand` is at rest."""
    spent, before = stand.spent(), stand.held()
    give(range(count))
    middle = stand.rest()
    give(range(count, 2 * count))
    halves = Halves(before, middle, stand.rest())
    table.add(what, count, halves, stand.spent().all_s - spent.all_s)
    assert halves.grown.mb <= _MAY_GROW_MB, halves.told
