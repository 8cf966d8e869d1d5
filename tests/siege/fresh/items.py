"""A generator of fresh items for every verifier of the registry: `item("math", 7)` is always the same, and no other is
like it.

Fresh means: text, reference and parameters that the service has never seen, of the kind that real rows have.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.siege.fresh import choices, forms, judged, programs, puzzles, quantities
from tests.siege.fresh.draw import Draw, Posted

GENERATORS: Final[Mapping[str, Callable[[Draw], Posted]]] = {
    name: make
    for module in (choices, forms, judged, programs, puzzles, quantities)
    for name, make in vars(module).items()
    if not name.startswith("_") and getattr(make, "__annotations__", {}).get("return") is Posted
}
"""By the verifier's name, which is the function's: functions of these modules that draw an item are found by themselves."""


def posted(verifier: str, index: int) -> Posted:
    return GENERATORS[verifier](Draw(verifier, index))


def item(verifier: str, index: int) -> dict[str, Any]:
    """The item as a request has it."""
    return posted(verifier, index).fields(verifier)
