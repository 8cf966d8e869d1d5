"""Ways in which models write out the answers of puzzles, and answers beside them that are none."""

from typing import Any

from tests.tables import table
from tests.verifiers.puzzles.asking import score

SUM: dict[str, Any] = {"target": 98, "nums": [44, 19, 35]}
FOUR: dict[str, Any] = {"target": 24, "nums": [4, 8, 7, 5]}
SUDOKU = "1..4.41.2.4..3.1"
GRID: dict[str, Any] = {"output": [[8, 2, 8], [6, 2, 8]]}
ISLAND: dict[str, Any] = {"names": ["Zoey", "Oliver", "Ava"], "solution": [False, True, True]}
KNAVES: dict[str, Any] = {"names": ["Zoey", "Oliver", "Ava"], "solution": [False, False, True]}
KNIGHTS: dict[str, Any] = {"names": ["Zoey", "Oliver"], "solution": [True, True]}
HOUSES: dict[str, Any] = {
    "header": ["House", "Name", "Color"],
    "rows": [["1", "Eric", "red"], ["2", "Peter", "green"], ["3", "Arnold", "blue"]],
}
MAP: dict[str, Any] = {
    "vertices": ["A", "B", "C", "D"],
    "edges": [["A", "B"], ["B", "C"], ["C", "D"], ["D", "A"], ["A", "C"]],
    "colors": ["red", "green", "blue"],
}
ROADS: dict[str, Any] = {
    "edges": [["A", "B", 1], ["B", "C", 2], ["A", "C", 5], ["C", "D", 1]],
    "start": "A",
    "goal": "D",
}
MAZE: dict[str, Any] = {"maze": ["S.#", "..#", "#.G"]}
LADDER: dict[str, Any] = {
    "start": "COLD",
    "end": "WARM",
    "words": ["cold", "cord", "card", "ward", "warm", "word", "worm"],
}


@table(
    ("reference", "response", "expected"),
    [
        (SUM, "The equation is 44 + 35 + 19 = 98, which uses each number exactly once.", 1.0),
        (SUM, "The solution is 44 + 19 + 35 = 98. Each number is used exactly once.", 1.0),
        (SUM, "The expression **44 + 19 + 35** evaluates to 98.", 1.0),
        (SUM, "\\boxed{\\text{44 + 19 + 35}}", 1.0),
        (FOUR, "\\boxed{(7-5)(4+8)}", 1.0),
        (FOUR, "[(7 - 5) * (4 + 8)] = 24", 1.0),
        (SUM, "The expression 44 + 19 + 35 equals 99.", 0.0),
        (SUM, "The equation 44 + 19 + 35 = 98, which is not allowed here.", 0.0),
        (SUM, "The sum 44 + 19 + 35 gives 98 except that it is invalid.", 0.0),
        (SUM, "The equation 44 + 19 + 35 = 98, which could also be 44 + 35 - 19.", 0.0),
        (SUM, "If we take 44 + 19 + 35 = 98, which uses each number.", 0.0),
        (SUM, "The sum is 44 + 19 + 35 which maybe equals 98.", 0.0),
        (SUM, "I could not find 44 + 19 + 35.", 0.0),
        (SUM, "I can't get 44 + 19 + 35", 0.0),
        (SUM, "I found 44 + 19 + 35.", 1.0),
        (SUM, "Adding 44 + 19 gives 63.", 0.0),
        (SUM, "\\boxed{\\text{44 + 19 + 35 or 44 - 19}}", 0.0),
        ({"target": 53, "nums": [4, 8, 7, 5]}, "\\boxed{5(4+8)-7}", 0.0),
        ({"target": 4, "nums": [4, 8, 7, 5]}, "\\boxed{8/(4)(7-5)}", 0.0),
    ],
)
def test_expressions_between_words(reference: Any, response: str, expected: float) -> None:
    assert score("countdown", response, reference) == expected


@table(
    ("response", "expected"),
    [
        ("| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n| 3 | 4 | 1 | 2 |\n| 2 | 1 | 4 | 3 |\n| 4 | 3 | 2 | 1 |", 1.0),
        ("|1|2|3|4|\n|-|-|-|-|\n|1|2|3|4|\n|3|4|1|2|\n|2|1|4|3|\n|4|3|2|1|", 1.0),
        ("| | C1 | C2 | C3 | C4 |\n|---|---|---|---|---|\n|R1|1|2|3|4|\n|R2|3|4|1|2|\n|R3|2|1|4|3|\n|R4|4|3|2|1|", 1.0),
        ("| | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|\n|1|1|2|3|4|\n|2|3|4|1|2|\n|3|2|1|4|3|\n|4|4|3|2|1|", 1.0),
        ("- **Row 1:** 1 2 3 4\n- **Row 2:** 3 4 1 2\n- **Row 3:** 2 1 4 3\n- **Row 4:** 4 3 2 1", 1.0),
        ("1. 1 2 3 4\n2. 3 4 1 2\n3. 2 1 4 3\n4. 4 3 2 1", 1.0),
        ("<answer>1234 3412 2143 4321</answer>", 1.0),
        ("1 2 3 4 / 3 4 1 2 / 2 1 4 3 / 4 3 2 1", 1.0),
        ("Row 1: 1 2 3 4; Row 2: 3 4 1 2; Row 3: 2 1 4 3; Row 4: 4 3 2 1", 1.0),
        ("The solution: [1,2,3,4], [3,4,1,2], [2,1,4,3], [4,3,2,1].", 1.0),
        ("1️⃣2️⃣3️⃣4️⃣\n3️⃣4️⃣1️⃣2️⃣\n2️⃣1️⃣4️⃣3️⃣\n4️⃣3️⃣2️⃣1️⃣", 1.0),
        ("1 2 3 4 / 3 4 1 2 / 2 1 4 3 / 4 3 1 2", 0.0),
        ("<answer>1234 3412 2143 4312\n1234 3412 2143 4321</answer>", 0.0),
        ("<answer>1234 3412 2143</answer>", 0.0),
        ("| | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|\n|1|1|2|3|4|\n|2|3|4|1|2|\n|3|2|1|4|3|\n|4|4|3|2|2|", 0.0),
        ("| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n| 3 | 4 | 1 | 2 |\n| 2 | 1 | 4 | 3 |", 0.0),
    ],
)
def test_sudokus_in_tables_and_in_one_line(response: str, expected: float) -> None:
    assert score("sudoku", response, SUDOKU) == expected


@table(
    ("response", "expected"),
    [
        ("|8|2|8|\n|---|---|---|\n|6|2|8|", 1.0),
        ("- 8 2 8\n- 6 2 8", 1.0),
        ("| | c0 | c1 | c2 |\n|---|---|---|---|\n| r0 | 8 | 2 | 8 |\n| r1 | 6 | 2 | 8 |", 1.0),
        ("+---+---+---+\n| 8 | 2 | 8 |\n+---+---+---+\n| 6 | 2 | 8 |\n+---+---+---+", 1.0),
        ("|8|2|8|\n|---|---|---|\n|6|2|9|", 0.0),
        ("|8|2|8|\n|---|---|---|", 0.0),
        ("|8|2|8|\n|---|---|---|\n|6|2|9|\n\n|8|2|8|\n|---|---|---|\n|6|2|8|", 0.0),
        ("8 2 8\n------\n6 2 8", 0.0),
    ],
)
def test_grids_in_tables(response: str, expected: float) -> None:
    assert score("arc_grid", response, GRID) == expected


@table(
    ("response", "expected"),
    [
        ("| . | Q | . | . |\n|---|---|---|---|\n| . | . | . | Q |\n| Q | . | . | . |\n| . | . | Q | . |", 1.0),
        ("| | Q | | |\n|---|---|---|---|\n| | | | Q |\n| Q | | | |\n| | | Q | |", 1.0),
        ("| | 1 | 2 | 3 | 4 |\n|-|-|-|-|-|\n|1| |Q| | |\n|2| | | |Q|\n|3|Q| | | |\n|4| | |Q| |", 1.0),
        ("⬜👑⬜⬜\n⬜⬜⬜👑\n👑⬜⬜⬜\n⬜⬜👑⬜", 1.0),
        ("- Row 0: Queen at column 1\n- Row 1: Queen at column 3\n- Row 2: column 0\n- Row 3: column 2", 1.0),
        ("solution = [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]]", 1.0),
        ("| | Q | | |\n|---|---|---|---|\n| | | | Q |\n| Q | | | |\n| | | | Q |", 0.0),
        ("⬜👑⬜⬜\n⬜⬜⬜👑\n👑⬜⬜⬜\n⬜⬜👑👑", 0.0),
        ("[1, 3, 0, 2]\n[0, 1, 2, 3]\n[2, 0, 3, 1]\n[3, 2, 1, 0]", 0.0),
        ("[[2, 1, 3, 0], [0, 2, 3, 1], [1, 0, 2, 3], [0, 2, 1, 3]]", 0.0),
    ],
)
def test_boards_in_tables_and_pictures(response: str, expected: float) -> None:
    assert score("n_queens", response, {"n": 4}) == expected


@table(
    ("island", "response", "expected"),
    [
        (ISLAND, "The knights are Oliver and Ava, and the knave is Zoey.", 1.0),
        (ISLAND, "Only Zoey is a knave; everyone else is a knight.", 1.0),
        (ISLAND, "Zoey is a knave, the others are knights.", 1.0),
        (ISLAND, "Zoey: 🤥 knave\nOliver: 🛡️ knight\nAva: 🛡️ knight", 1.0),
        (
            ISLAND,
            "Zoey is a knight, Oliver and Ava are knaves. Wait, wrong. Zoey is a knave, Oliver and Ava knights.",
            0.0,
        ),
        (
            ISLAND,
            "Zoey is a knight, Oliver and Ava are knaves. Wait, that's wrong. Zoey is a knave, Oliver and Ava are knights.",
            1.0,
        ),
        (ISLAND, "Zoey is a knave, Oliver and Ava are knights. Any other choice leads to a contradiction.", 1.0),
        (ISLAND, "Zoey is a knave, Oliver and Ava are knights; otherwise there would be a contradiction.", 1.0),
        (ISLAND, "Zoey is a knave, Oliver and Ava are knights. There is no other solution.", 1.0),
        (KNAVES, "The knaves are Zoey and Oliver; the knight is Ava.", 1.0),
        (KNIGHTS, "Zoey is a knight and everyone else is a knight.", 1.0),
        (ISLAND, "If Zoey is a knave, and Oliver and Ava are knights, then contradiction.", 0.0),
        (ISLAND, "Suppose Zoey is a knave, Oliver and Ava are knights. This leads to a contradiction.", 0.0),
        (ISLAND, "Zoey is a knave, Oliver and Ava are knights. So no solution exists.", 0.0),
        (ISLAND, "Zoey is a knave (or a knight), Oliver and Ava are knights", 0.0),
        (ISLAND, "Zoey is a knave and a knight. Oliver and Ava are knights.", 0.0),
        (ISLAND, "Zoey is a knave, maybe a knight. Oliver and Ava are knights.", 0.0),
        (ISLAND, "Zoey is a knave and everyone else is a knave or a knight.", 0.0),
        (ISLAND, "Zoey is a knave. If the others are knights, it works.", 0.0),
        (KNAVES, "The knave is Zoey or Oliver. The knight is Ava.", 0.0),
        (KNAVES, "Knaves: Zoey or Oliver\nKnights: Ava", 0.0),
        (KNIGHTS, "Zoey lies and Oliver is a knight.", 0.0),
        (KNIGHTS, "Zoey is a knight and everyone else is a knave.", 0.0),
    ],
)
def test_roles_in_prose(island: Any, response: str, expected: float) -> None:
    assert score("knights_and_knaves", response, island) == expected


ACROSS = "|  | House 1 | House 2 | House 3 |\n|---|---|---|---|\n| **Name** | Eric | Peter | Arnold |\n| **Color** | Red | {} |"
ARRAY = (
    "\\boxed{\\begin{array}{|c|c|c|}\\hline \\text{House} & \\text{Name} & \\text{Color} \\\\ \\hline"
    " 1 & \\text{Eric} & \\text{red} \\\\ 2 & \\text{Peter} & \\text{green} \\\\ 3 & \\text{Arnold} & \\text{blue}"
    " \\\\ \\hline\\end{array}}"
)
INLINE = (
    "- House 1: Name = Eric, Color = red\n- House 2: Name = Peter, Color = green\n- House 3: Name = Arnold, Color = {}"
)
BELOW = (
    "**House 1**\n- Name: Eric\n- Color: red\n\n**House 2**\n- Name: Peter\n- Color: green\n\n"
    "**House 3**\n- Name: Arnold\n- Color: {}"
)


@table(
    ("response", "expected"),
    [
        (ACROSS.format("Green | Blue"), 1.0),
        (ARRAY, 1.0),
        (INLINE.format("blue"), 1.0),
        (BELOW.format("blue") + "\n\nAll clues hold.", 1.0),
        (ACROSS.format("Blue | Green"), 0.0),
        (ARRAY.replace("blue", "red"), 0.0),
        (INLINE.format("red"), 0.0),
        (INLINE.format("blue, Color = red"), 0.0),
        (INLINE.format("blue or red"), 0.0),
        (INLINE.format("blue") + "\n" + INLINE.format("red"), 0.0),
        (BELOW.format("blue\n- Color: red"), 0.0),
        (BELOW.format("blue").rpartition("\n\n")[0], 0.0),
    ],
)
def test_houses_in_columns_and_lists(response: str, expected: float) -> None:
    assert score("zebra", response, HOUSES) == expected


@table(
    ("response", "expected"),
    [
        ("* **Red:** A\n* **Green:** B and D\n* **Blue:** C", 1.0),
        ("Red = {A}, Green = {B, D}, Blue = {C}", 1.0),
        ("| Color | Vertices |\n|---|---|\n| Red | A |\n| Green | B, D |\n| Blue | C |", 1.0),
        ("(A, red), (B, green), (C, blue), (D, green)", 1.0),
        ("A red\nB green\nC blue\nD green", 1.0),
        ("A: red 🔴\nB: green 🟢\nC: blue 🔵\nD: green 🟢", 1.0),
        ("A gets red, B gets green, C gets color blue, D gets green.", 1.0),
        ("\\boxed{A=\\text{red}, B=\\text{green}, C=\\text{blue}, D=\\text{green}}", 1.0),
        ("Red: A, C\nGreen: B, D", 0.0),
        ("Red: A\nGreen: B, D\nBlue: C, A", 0.0),
        ("Red: A or C\nGreen: B, D\nBlue: C", 0.0),
        ("Red: A? Green: B, D? Blue: C?", 0.0),
        ("Red: A, B, C, D\nGreen: A, B, C, D\nBlue: A, B, C, D", 0.0),
        ("Red: A\nGreen: B, D\nBlue: C\n\nRed: A\nGreen: B\nBlue: C, D", 0.0),
        ("(A, red), (A, blue), (B, green), (C, blue), (D, green)", 0.0),
        ("A red\nA blue\nB green\nC blue\nD green", 0.0),
        ("A: red\nB: green\nC: blue\nD: green\n\nActually no valid coloring exists.", 0.0),
    ],
)
def test_colors_with_their_vertices(response: str, expected: float) -> None:
    assert score("graph_coloring", response, MAP) == expected


@table(
    ("reference", "response", "expected"),
    [
        (ROADS, "The shortest path from A to D is $A \\to B \\to C \\to D$ with total weight 4.", 1.0),
        (ROADS, "A --1--> B --2--> C --1--> D", 1.0),
        (ROADS, "$A \\xrightarrow{1} B \\xrightarrow{2} C \\xrightarrow{1} D$", 1.0),
        (ROADS, "A ➡️ B ➡️ C ➡️ D", 1.0),
        (MAZE, "right → down → down → right", 1.0),
        (MAZE, "Go right once, down twice, then right once: RDDR", 1.0),
        (MAZE, "R → D → D → R", 1.0),
        (MAZE, "→ ↓ ↓ →", 1.0),
        (ROADS, "A --5--> C --1--> D", 0.0),
        (ROADS, "A ➡️ C ➡️ D", 0.0),
        (MAZE, "right → right → down → down", 0.0),
        (MAZE, "→ → ↓ ↓", 0.0),
    ],
)
def test_arrows_of_paths(reference: Any, response: str, expected: float) -> None:
    assert score("shortest_path", response, reference) == expected


STEPS = "COLD → CORD{}\nCORD → CARD{}\nCARD → WARD{}\nWARD → WARM{}"


@table(
    ("response", "expected"),
    [
        (STEPS.format(*[": change a letter"] * 4), 1.0),
        (STEPS.format(*[" (replace L with R)"] * 4), 1.0),
        (STEPS.replace("CARD → W", "Step 3: CARD → W").format(*[" - one letter from it"] * 4), 1.0),
        ("**Step 1:** COLD → CORD\n**Step 2:** CORD → CARD\n**Step 3:** CARD → WARD\n**Step 4:** WARD → WARM", 1.0),
        ("COLD ➡️ CORD ➡️ CARD ➡️ WARD ➡️ WARM", 1.0),
        ("COLD\nCORD (L changed to R)\nCARD (O swapped with A)\nWARD (from CARD)\nWARM", 0.0),
        (STEPS.format(": then CORD → CARM", "", "", ""), 0.0),
        (STEPS.format(" (or WOLD)", "", "", ""), 0.0),
        (STEPS.replace("CORD → CARD{}\n", "CORD → WARD{}\n").format(*[": change a letter"] * 4), 0.0),
        ("COLD → CORD (no word)\nCORD → WARM: done", 0.0),
    ],
)
def test_steps_of_ladders_with_remarks(response: str, expected: float) -> None:
    assert score("word_ladder", response, LADDER) == expected
