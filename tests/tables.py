"""A table of cases as one test, for cases that differ only in words.

One case of pytest costs more than most verdicts. A table tries all rows, and reports all wrong ones together.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_MOST_SHOWN = 20


def table(
    names: str | Sequence[str], rows: Iterable[Any], ids: Sequence[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, but as one test. Two tables above each other combine each row of one with each
    row of the other.

    Args:
        names: Of the test's parameters.
        rows: A value for each name, or the values of the only one.
        ids: What to call the rows where they fail; default: their values.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = [(row,) if len(keys) == 1 else tuple(row) for row in rows]
    called = [repr(row[0] if len(keys) == 1 else row) for row in values] if ids is None else list(ids)
    assert values, "a table without rows tests nothing"

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        def whole(**fixtures: Any) -> None:
            wrong = []
            for name, row in zip(called, values, strict=True):
                try:
                    test(**fixtures, **dict(zip(keys, row, strict=True)))
                except Exception as error:  # noqa: BLE001 - whatever it is, it is told with its row
                    wrong.append(f"{name}\n    {type(error).__name__}: {error}")
            if wrong:
                shown = "\n".join(wrong[:_MOST_SHOWN])
                raise AssertionError(f"{len(wrong)} of {len(values)} rows are wrong:\n{shown}")

        left = [parameter for parameter in inspect.signature(test).parameters.values() if parameter.name not in keys]
        whole.__signature__ = inspect.Signature(left)  # type: ignore[attr-defined]  # by which pytest finds fixtures
        whole.__name__, whole.__qualname__, whole.__doc__ = test.__name__, test.__qualname__, test.__doc__
        whole.__module__ = test.__module__
        whole.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]  # marks below the table
        return whole

    return decorated
