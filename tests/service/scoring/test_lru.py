"""The cache of what was read of parameters."""

from service.scoring.lru import LruCache

MAX_BYTES = 4_000_000


def test_values_that_grow_after_they_were_put_are_bounded_in_bytes() -> None:
    cache: LruCache[list[int]] = LruCache("of the test", MAX_BYTES, lambda _: "kind", lambda value: value[0])
    values: list[list[int]] = []
    for number in range(20_000):
        values.append([0])
        cache.put(("name", b"%05d" % number, b""), values[-1])
        if number >= 30:
            values[number - 30][0] = 1_000 if number < 10_000 else 20_000
    held = sum(value[0] for number, value in enumerate(values) if ("name", b"%05d" % number, b"") in cache)
    assert MAX_BYTES // 2 < held + 1_500 * len(cache) < 2 * MAX_BYTES
