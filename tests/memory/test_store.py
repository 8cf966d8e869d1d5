"""Values by key, bounded in bytes."""

from hypothesis import given
from hypothesis import strategies as st

import memory
from memory import Store

MAX_BYTES = 1000


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1200))))
def test_a_store_never_exceeds_its_bytes_and_counts_them_rightly(puts: list[tuple[int, int]]) -> None:
    store: Store[int, int] = Store("test", MAX_BYTES, size=lambda _key, size: size)
    for key, size in puts:
        store.put(key, size)
        held = [store.get(known) for known in range(21)]
        assert store.used_bytes == sum(size for size in held if size is not None) <= MAX_BYTES
        assert (key in store) is (size <= MAX_BYTES)


def test_the_least_recently_used_go_first() -> None:
    store: Store[str, str] = Store("test", 3, size=lambda _key, _value: 1)
    for key in "abc":
        store.put(key, key)
    store.get("a")
    store.put("d", "d")
    assert [key for key in "abcd" if key in store] == ["a", "c", "d"]


def test_the_older_half_goes() -> None:
    store: Store[int, int] = Store("test", MAX_BYTES, size=lambda _key, _value: 10)
    for key in range(100):
        store.put(key, key)
    store.halve()
    assert [key for key in range(100) if key in store] == [*range(50, 100)]
    assert store.used_bytes == MAX_BYTES // 2


def test_entries_have_a_bound_too_and_values_are_measured() -> None:
    store: Store[int, list[bytes]] = Store("test", 1_000_000, max_entries=3)
    for key in range(10):
        store.put(key, [bytes(10_000)])
    assert (len(store), store.entries) == (3, 3)
    assert 30_000 < store.used_bytes < 32_000


def test_a_store_is_counted_while_it_exists() -> None:
    store: Store[int, bytes] = Store("of the test", 1_000_000)
    store.put(1, bytes(10_000))
    assert memory.holdings()["of the test"].entries == 1
    del store
    assert "of the test" not in memory.holdings()


def test_what_is_kept_can_be_read_while_another_thread_writes() -> None:
    class Key(str):
        """While it is looked up, another key is put, as a second thread may do."""

        __slots__ = ()

        def __hash__(self) -> int:
            if waiting:
                store.put(waiting.pop(), 0)
            return str.__hash__(self)

    waiting: list[str] = []
    store: Store[str, int] = Store("read", 10_000)
    store.put(Key("a"), 1)
    waiting.append("b")
    assert store.items() == [("a", 1), ("b", 0)]
