"""Lists the tasks of reasoning-gym 0.1.25 that the package's own scorers may score, and the reasons against the others.

Every scorer was read. The list leaves out scorers that execute the model's text (`eval`, sympy's parser), scorers that
give full marks to an answer that is not a solution, and the one task without a scorer of its own. Some of the listed
scorers pay a little for anything, and some pay for the answer hidden among others; `Task.floor` removes that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The rules by which answers to a task's entries are scored. Tasks with the same scorer share one object."""

    module: str
    """The module of the scorer, as a name below the package."""
    floor: float = 0.0
    """The highest score that the scorer gives to no solution. Scores up to it count as 0.

    No solutions are any text, a copy of the question, a blind guess, and the right answer listed among others. With 1,
    only full marks count.
    """
    same_size: bool = False
    """Whether an answer with more letters and digits than the right one is wrong.

    It is true if the scorer reads only as far as the right answer goes, or ignores other text.
    """
    probe: str | None = None
    """An answer that gets more than 0 if the entry is sound, for entries without an answer of their own."""
    setup: str = ""
    """Statements of the program that set what the constructor of `scorer` would set, or that replace a method."""
    prepare: str = ""
    """A statement that restores in the entry `own` what JSON has changed."""
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The files that the program needs, by distribution: their paths as installed."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a task's own scorer is not used."""

    why: str
    instead: str | None
    """The verifier of ours that judges such answers; None if there is none."""


DATASET: Final = Task("dataset", floor=1.0)
"""The scorer that most tasks inherit.

It gives full marks for the exact text, and a share for a text that contains it.
"""
_INHERITED: Final = [
    "acre", "aiw", "arc_1d", "base_conversion", "basic_arithmetic", "bf", "binary_alternation", "caesar_cipher",
    "count_bits", "count_primes", "course_schedule", "gcd", "isomorphic_strings", "largest_island", "lcm",
    "leg_counting", "letter_counting", "list_functions", "mahjong_puzzle", "maze", "modulo_grid", "number_filtering",
    "number_sequence", "ransom_note", "rotate_matrix", "rotten_oranges", "simple_equations", "simple_geometry",
    "string_manipulation", "string_splitting", "string_synthesis", "syllogism", "word_sequence_reversal",
]  # fmt: skip


def _board(module: str) -> Task:
    return Task(
        module,
        floor=0.05,
        setup="scorer.board_format_opts = BoardFormattingOptions()",
        prepare="own['metadata']['output'] = tuple(map(tuple, own['metadata']['output']))",
    )


_SOKOBAN: Final = "reasoning_gym/games/contrib/sokoban/src"

ALLOWED: Final[Mapping[str, Task]] = {
    **dict.fromkeys(_INHERITED, DATASET),
    "ab": Task("algorithmic.ab"),
    "advanced_geometry": Task("geometry.advanced_geometry", floor=0.05),
    "arc_agi": _board("arc.arc_agi"),
    "bitwise_arithmetic": Task("arithmetic.bitwise_arithmetic"),
    "calendar_arithmetic": Task("arithmetic.calendar_arithmetic", floor=0.1),
    "chain_sum": Task("arithmetic.chain_sum", floor=1.0),
    "circuit_logic": Task("logic.circuit_logic", floor=1.0),
    # The share for JSON that is similar to the answer would not count, and would need a package.
    "codeio": Task("code.codeio", floor=1.0, setup="scorer._compute_json_similarity = lambda *_: 0.0"),
    "color_cube_rotation": Task("cognition.color_cube_rotation", floor=0.01),
    "cryptarithm": Task("algorithmic.cryptarithm", floor=0.01),
    "decimal_arithmetic": Task("arithmetic.decimal_arithmetic"),
    "decimal_chain_sum": Task("arithmetic.decimal_chain_sum"),
    "dice": Task("arithmetic.dice"),
    "emoji_mystery": Task("games.emoji_mystery", floor=0.01),
    "family_relationships": Task("graphs.family_relationships"),
    "figlet_font": Task("cognition.figlet_fonts", floor=0.1, same_size=True),
    "fraction_simplification": Task("arithmetic.fraction_simplification", floor=0.1),
    "futoshiki": Task("games.futoshiki", same_size=True),
    "game_of_life": Task("algorithmic.game_of_life", floor=1.0, same_size=True),
    "graph_color": Task("algorithmic.graph_color", floor=0.01, probe="{}"),
    "group_anagrams": Task("algorithmic.group_anagrams", floor=0.01),
    "jugs": Task("algorithmic.jugs", floor=0.01),
    "kakurasu": Task("games.kakurasu", same_size=True),
    "knight_swap": Task("games.knight_swap", floor=0.05),
    "knights_knaves": Task("logic.knights_knaves", floor=1.0),
    "letter_jumble": Task("algorithmic.letter_jumble", same_size=True),
    "manipulate_matrix": Task("algorithmic.manipulate_matrix", floor=1.0),
    "mini_sudoku": Task("games.mini_sudoku", same_size=True),
    "needle_haystack": Task("cognition.needle_haystack"),
    "number_format": Task("arithmetic.number_format"),
    "palindrome_generation": Task("algorithmic.palindrome_generation", floor=0.05),
    "palindrome_partitioning": Task("algorithmic.palindrome_partitioning"),
    "path_star": Task("graphs.path_star"),
    "polynomial_equations": Task("algebra.polynomial_equations", floor=1.0),
    "pool_matrix": Task("algorithmic.pool_matrix", floor=0.1),
    "power_function": Task("arithmetic.power_function", floor=0.01),
    "prime_factorization": Task("arithmetic.prime_factorization", floor=0.5),
    "products": Task("arithmetic.products", floor=1.0),
    "quantum_lock": Task("graphs.quantum_lock"),
    "rearc": _board("arc.rearc"),
    "rectangle_count": Task("cognition.rectangle_count"),
    "rubiks_cube": Task(
        "cognition.rubiks_cube",
        floor=1.0,
        probe="R",
        setup="import numpy",
        files={
            "magiccube": [
                f"magiccube/{each}.py" for each in ("cube", "cube_base", "cube_move", "cube_piece", "cube_print")
            ]
        },
    ),
    "rush_hour": Task("games.rush_hour", floor=0.01, probe="A+0"),
    "self_reference": Task("logic.self_reference"),
    "sentence_reordering": Task("algorithmic.sentence_reordering", floor=0.05),
    "shortest_path": Task("graphs.shortest_path"),
    "sokoban": Task(
        "games.sokoban",
        setup=(
            "from reasoning_gym.games.contrib.sokoban.src.game import Game\n"
            "from reasoning_gym.games.contrib.sokoban.src.utils import is_solved\n"
            "scorer._Game, scorer._is_solved = Game, is_solved"
        ),
        files={"reasoning-gym": [f"{_SOKOBAN}/{each}.py" for each in ("box", "game", "player", "utils")]},
    ),
    "spell_backward": Task("algorithmic.spell_backward", same_size=True),
    "sudoku": Task("games.sudoku", same_size=True),
    "survo": Task("games.survo", same_size=True),
    "time_intervals": Task("arithmetic.time_intervals", floor=1.0),
    "tower_of_hanoi": Task("games.tower_of_hanoi", floor=0.05),
    "tsumego": Task("games.tsumego", floor=1.0),
    "word_ladder": Task(
        "algorithmic.word_ladder",
        setup=("from pathlib import Path as get_data_file_path\nscorer.word_sets = scorer._load_words_from_csv()"),
        files={"reasoning-gym": ("reasoning_gym/data/words.csv",)},
    ),
    "word_sorting": Task("algorithmic.word_sorting", floor=0.2, same_size=True),
    "zebra_puzzles": Task("logic.zebra_puzzles"),
}

_EXECUTES: Final = "it executes the answer as Python"
REFUSED: Final[Mapping[str, Refusal]] = {
    "binary_matrix": Refusal(_EXECUTES, "exact_match"),
    "boxnet": Refusal("it lets the answer move the targets to the boxes", None),
    "coin_flip": Refusal("it pays the answer 0 in full", "math"),
    "complex_arithmetic": Refusal("it pays the answer nan in full", "math"),
    "composite": Refusal("it has no scorer: name the task that made the entry", None),
    "countdown": Refusal(_EXECUTES, "countdown"),
    "game_of_life_halting": Refusal("it pays any text in full", "exact_match"),
    "gsm_symbolic": Refusal("it pays the first number of any text, without its sign", "math"),
    "intermediate_integration": Refusal(_EXECUTES, "math"),
    "n_queens": Refusal(_EXECUTES, "n_queens"),
    "number_sorting": Refusal("it executes the reference as Python, and pays a list of NaN in full", "exact_match"),
    "polynomial_multiplication": Refusal(_EXECUTES, "math"),
    "propositional_logic": Refusal("it pays a premise that is repeated in full", None),
    "puzzle24": Refusal(_EXECUTES, "countdown"),
    "simple_integration": Refusal(_EXECUTES, "math"),
    "spiral_matrix": Refusal(_EXECUTES, "exact_match"),
    "string_insertion": Refusal(_EXECUTES, "exact_match"),
}
