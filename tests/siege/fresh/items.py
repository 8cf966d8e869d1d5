"""A generator of fresh items for every verifier of the registry: `item("math", 7)` is always the same, and no other is
like it.

Fresh means: text, reference and parameters that the service has never seen, of the kind that real rows have.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.siege.fresh import choices, forms, judged, programs, puzzles, quantities
from tests.siege.fresh.draw import Draw, Posted

GENERATORS: Final[Mapping[str, Callable[[Draw], Posted]]] = {
    make.__name__: make
    for make in (
        *(choices.exact_match, choices.language, choices.multiple_choice, choices.nemo_gym),
        *(choices.qa, choices.regex),
        *(forms.code_format, forms.cosine_length, forms.instruction_following, forms.json_schema, forms.length),
        *(forms.overlong, forms.repetition, forms.structured_output, forms.tag_count, forms.think_format, forms.xml),
        *(judged.judge, judged.reward_model, judged.tool_call, judged.trajectory),
        *(programs.code, programs.code_quality, programs.harbor, programs.lean, programs.reasoning_gym),
        *(programs.repository, programs.sql),
        *(puzzles.arc_grid, puzzles.countdown, puzzles.graph_coloring, puzzles.knights_and_knaves),
        *(puzzles.n_queens, puzzles.shortest_path, puzzles.sudoku, puzzles.word_ladder, puzzles.zebra),
        *(quantities.chemistry, quantities.detection, quantities.expression, quantities.math, quantities.math_steps),
        *(quantities.math_verify, quantities.numeric, quantities.point, quantities.regression),
    )
}
"""By the verifier's name."""


def posted(verifier: str, index: int) -> Posted:
    return GENERATORS[verifier](Draw(verifier, index))


def item(verifier: str, index: int) -> dict[str, Any]:
    """The item as a request has it."""
    return posted(verifier, index).fields(verifier)
