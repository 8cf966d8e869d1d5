"""Graph colouring, shortest paths and word ladders."""

import json
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.puzzles.asking import FEW, ask, score

PATH_GRAPH = {"vertices": [0, 1, 2, 3], "edges": [[0, 1], [1, 2], [2, 3]], "num_colors": 3, "color_options": [1, 2, 3]}


@table(
    "answer",
    [
        '{"0": 1, "1": 2, "2": 1, "3": 3}',
        "{0: 1, 1: 2, 2: 3, 3: 1}",
        '{"coloring": {"0": 1, "1": 2, "2": 1, "3": 3}}',
        "```json\n" + json.dumps({"0": 1, "1": 2, "2": 1, "3": 3}, indent=2) + "\n```",
        "0: 1\n1: 2\n2: 1\n3: 2",
        "- Vertex 0: color 1\n- Vertex 1: color 2\n- Vertex 2: color 1\n- Vertex 3: color 3",
        "Vertex 0 is 1\nVertex 1 is 2\nVertex 2 is 1\nVertex 3 is 2",
        "0 is 1, 1 is 2, 2 is 1, and 3 is 2.",
        "0 -> 1, 1 -> 2, 2 -> 1, 3 -> 2",
        "[1, 2, 1, 2]",
        "| 0 | 1 |\n| 1 | 2 |\n| 2 | 1 |\n| 3 | 3 |",
        "\\boxed{\\{0: 1, 1: 2, 2: 1, 3: 2\\}}",
    ],
)
@table("around", ["%s", "<answer>%s</answer>", "Here is a coloring.\n\n%s"])
def test_forms_of_a_coloring(around: str, answer: str) -> None:
    for reference in (PATH_GRAPH, {"metadata": {"puzzle": PATH_GRAPH}}, json.dumps(PATH_GRAPH)):
        assert score("graph_coloring", around % answer, reference) == 1.0


@table(
    "response",
    [
        "",
        "{}",
        "Vertices: [0, 1, 2, 3]\nEdges: [(0, 1), (1, 2), (2, 3)]\nPossible colors: [1, 2, 3]",
        '{"0": 1, "1": 1, "2": 2, "3": 3}',
        '{"0": 1, "1": 2, "2": 1}',
        '{"0": 1, "1": 2, "2": 1, "3": 4}',
        '{"0": 1, "1": 2, "2": 1, "3": 2, "4": 1}',
        '{"0": 1, "0": 2, "1": 2, "2": 1, "3": 2}',
        "0: 1\n0: 2\n1: 2\n2: 1\n3: 2",
        "0 is 1, 1 is 2, 2 is 1, and 3 is 2 or 3.",
        '<answer>{"0": 1, "1": 2, "2": 1, "3": 2} {"0": 2, "1": 1, "2": 2, "3": 1}</answer>',
        '{"0": [1, 2], "1": 2, "2": 1, "3": 2}',
        '{"0":' * 200_000,
        "{} " * 200_000,
    ],
)
def test_what_colors_nothing(response: str) -> None:
    assert score("graph_coloring", response, PATH_GRAPH) == 0.0


@table(
    ("reference", "reason"),
    [
        ({"edges": [[1, 1]], "num_colors": 2}, "no_solution"),
        ({"edges": [[1, 2]], "num_colors": 1}, "no_solution"),
        ({"edges": [[1, 2], [2, 3], [3, 1]], "colors": ["r", "g"]}, "no_solution"),
        ({"edges": [[1, 2]], "num_colors": 0}, "bad_puzzle"),
        ({"edges": [[1, 2]]}, "bad_puzzle"),
        ({"vertices": [1], "edges": [[1, 2]], "num_colors": 2}, "bad_puzzle"),
        ({"vertices": 10**9, "edges": [], "num_colors": 2}, "bad_puzzle"),
        ({"edges": [[1, 2, 3, 4]], "num_colors": 2}, "bad_puzzle"),
        ({"edges": [[at, at + 1] for at in range(100_001)], "num_colors": 2}, "puzzle_too_large"),
        (None, "bad_puzzle"),
    ],
)
def test_graphs_that_cannot_be_colored(reference: Any, reason: str) -> None:
    verdict = ask("graph_coloring", '{"1": 1, "2": 2}', reference)
    assert (verdict.score, verdict.reason) == (None, reason)


@table(
    ("text", "expected"),
    [
        ("A is red, B is blue and C is red.", 1.0),
        ("A is red and B is blue and C is red.", 1.0),
        ("A: red, B: blue, and C: red", 1.0),
        ("A is red, B is blue and C is blue.", 0.0),
        ("A is red, B is blue and A is blue, C is red.", 0.0),
        ("A is red or blue, B is blue and C is red.", 0.0),
        ("A is red and B is not red and C is red.", 0.0),
        ("A is red, B is blue.", 0.0),
    ],
)
def test_and_joins_what_is_colored(text: str, expected: float) -> None:
    states = {"edges": ["A-B", "B-C"], "colors": ["red", "blue"]}
    assert score("graph_coloring", text, states) == expected


def test_a_vertex_may_have_and_in_its_name() -> None:
    states = {"edges": ["Chad-Trinidad and Tobago"], "colors": ["red", "blue"]}
    assert score("graph_coloring", "Chad is red, Trinidad and Tobago is blue", states) == 1.0
    assert score("graph_coloring", "Chad is red, Trinidad and Tobago is red", states) == 0.0


def test_names_of_colors_are_free_where_only_their_number_is_given() -> None:
    states = {"edges": ["New York-Ohio", "Ohio-Utah"], "num_colors": 2}
    assert score("graph_coloring", "New York: red\nOhio: blue\nUtah: Red", states) == 1.0
    assert score("graph_coloring", "New York: red\nOhio: blue\nUtah: green", states) == 0.0


@FEW
@given(st.lists(st.integers(0, 2), min_size=3, max_size=8), st.data())
def test_a_coloring_is_right_until_an_edge_has_one_color(colors: list[int], data: st.DataObject) -> None:
    names = [f"v{at}" for at in range(len(colors))]
    allowed = [(a, b) for a, b in combinations(range(len(colors)), 2) if colors[a] != colors[b]]
    assume(allowed)
    edges = data.draw(st.lists(st.sampled_from(allowed), min_size=1, unique=True))
    reference = {"vertices": names, "edges": [[names[a], names[b]] for a, b in edges], "colors": ["r", "g", "b"]}
    coloring = {name: "rgb"[color] for name, color in zip(names, colors, strict=True)}
    assert score("graph_coloring", json.dumps(coloring), reference) == 1.0
    assert score("graph_coloring", "\n".join(f"{name}: {color}" for name, color in coloring.items()), reference) == 1.0
    a, b = data.draw(st.sampled_from(edges))
    clash = {**coloring, names[a]: coloring[names[b]]}
    missing = {name: color for name, color in coloring.items() if name != names[a]}
    for wrong in (clash, missing, {**coloring, names[a]: "x"}, {**coloring, "v99": "r"}):
        assert score("graph_coloring", json.dumps(wrong), reference) == 0.0
    assert score("graph_coloring", json.dumps(reference), reference) == 0.0


# --- shortest paths

ROADS = {"edges": [["A", "B", 1], ["B", "C", 2], ["A", "C", 5], ["C", "D", 1]], "source": "A", "target": "D"}


@table(
    "response",
    [
        "A -> B -> C -> D",
        "A→B→C→D",
        "a -> b -> c -> d",
        "<answer>[A, B, C, D]</answer>",
        '<answer>["A","B","C","D"]</answer>',
        "<answer>A, B, C, D</answer>",
        "<answer>A B C D</answer>",
        "<answer>A-B-C-D</answer>",
        '{"path": ["A","B","C","D"], "length": 4}',
        '{"path": "A -> B -> C -> D", "cost": 4}',
        "The path is A -> B -> C -> D with total 4.",
        "Path: A -> B -> C -> D = 4",
        "**A -> B -> C -> D**",
        "\\boxed{A \\to B \\to C \\to D}",
        "$A \\rightarrow B \\rightarrow C \\rightarrow D$",
        "$A \\to B \\to C \\to D$ with a total of 4",
        "**A → B → C → D** with a total of 4",
        "`A -> B -> C -> D` is the shortest path.",
        "\\boxed{\\text{A} \\Rightarrow \\text{B} \\Rightarrow \\text{C} \\Rightarrow \\text{D}}",
        "A ⇒ B ⇒ C ⇒ D",
        "A —> B —> C —> D",
        "A ➜ B ➜ C ➜ D",
        "A -> C -> D is 6.\nA -> B -> C -> D is 4.\nAnswer: A -> B -> C -> D",
        "I did not find a shorter one: A -> B -> C -> D",
    ],
)
def test_forms_of_a_path(response: str) -> None:
    assert score("shortest_path", response, ROADS) == 1.0


@pytest.mark.accuracy
@table(
    "response",
    [
        "",
        "A",
        "A -> C -> D",
        "A -> B -> D",
        "B -> C -> D",
        "A -> B -> C",
        "D -> C -> B -> A",
        "infeasible",
        '{"path": ["A","B","C","D"], "length": 5}',
        "<answer>A -> B -> C -> D or A -> C -> D</answer>",
        "<answer>A -> C -> D\nA -> B -> C -> D</answer>",
        "<answer>infeasible or A -> B -> C -> D</answer>",
        "edges: A-B (1), B-C (2), A-C (5), C-D (1)",
        "It is not A -> B -> C -> D",
        "**A → C → D** with a total of 4",
        "$A \\to B \\to C \\to D$ or $A \\to C \\to D$",
        "The path is not A -> B -> C -> D",
        "I do not know whether A -> B -> C -> D",
        "A -> " * 200_000,
        "[" * 1_000_000,
    ],
)
def test_what_is_no_shortest_path(response: str) -> None:
    assert score("shortest_path", response, ROADS) == 0.0


def test_any_path_will_do_where_it_need_not_be_short() -> None:
    assert score("shortest_path", "A -> C -> D", ROADS, optimal=False) == 1.0
    assert score("shortest_path", "A -> B -> D", ROADS, optimal=False) == 0.0


def test_direction_matters_in_a_directed_graph() -> None:
    back = {**ROADS, "source": "D", "target": "A"}
    assert score("shortest_path", "D -> C -> B -> A", back) == 1.0
    assert score("shortest_path", "D -> C -> B -> A", {**back, "directed": True}) == 0.0
    assert score("shortest_path", "There is no path from D to A.", {**back, "directed": True}) == 1.0
    neighbours = {"graph": {"0": {"1": 5, "2": 1}, "1": {}, "2": {"1": 1}}, "start": 0, "end": 1}
    assert score("shortest_path", "[0, 2, 1]", neighbours) == 1.0
    assert score("shortest_path", "[0, 1]", neighbours) == 0.0


def test_weights_are_exact() -> None:
    tenths = {"edges": [["A", "B", 0.1], ["B", "C", 0.2], ["A", "C", 0.3]], "start": "A", "goal": "C"}
    assert score("shortest_path", "A -> C", tenths) == score("shortest_path", "A -> B -> C", tenths) == 1.0


MAZE = {"matrix": [row.split() for row in ("X O O X X O", "X X # * O O", "O X O O O O")]}


@table("response", ["left", "Left.", "<answer>left</answer>", "L", "←", "[(1,3),(1,2)]", '["left"]'])
def test_forms_of_moves(response: str) -> None:
    assert score("shortest_path", response, MAZE) == 1.0


@table(
    "response",
    ["", "right", "up", "left left", "down left up", "infeasible", "<answer>left\n\nright</answer>", "left " * 200_000],
)
def test_moves_that_are_wrong(response: str) -> None:
    assert score("shortest_path", response, MAZE) == 0.0


@table(
    ("response", "expected"),
    [
        ("There is no path from S to G.", 1.0),
        ("The goal cannot be reached.", 1.0),
        ("So it is infeasible", 1.0),
        ("Answer: none", 1.0),
        ("没有路径", 1.0),
        ("Es gibt keinen Weg.", 1.0),
        ("It is not impossible.", 0.0),
        ("Is it infeasible?", 0.0),
        ("If there is no path, stop.", 0.0),
        ("Maybe infeasible", 0.0),
        ("Some say it is infeasible.", 0.0),
    ],
)
def test_that_there_is_no_path_is_told_in_words(response: str, expected: float) -> None:
    assert score("shortest_path", response, {"maze": ["S#.", "##.", "##G"]}) == expected


def test_legends_of_mazes() -> None:
    assert score("shortest_path", "RRDD", {"maze": ["S..", "##.", "##G"]}) == 1.0
    assert score("shortest_path", "right\nright\ndown\ndown", {"maze": "S..\n##.\n##G"}) == 1.0
    assert score("shortest_path", "infeasible", {"maze": ["S#.", "##.", "##G"]}) == 1.0
    question = 'Find the shortest path. If there is no path, write "infeasible".'
    assert score("shortest_path", f"{question}\nS#.\n##.\n##G", {"maze": ["S#.", "##.", "##G"]}) == 0.0
    assert score("shortest_path", f"S#.\n##.\n##G\n{question}", {"maze": ["S#.", "##.", "##G"]}) == 0.0
    assert score("shortest_path", "DD", {"grid": [[0, 1], [0, 1], [0, 1]], "start": [0, 0], "goal": [2, 0]}) == 1.0


@table(
    "reference",
    [
        None,
        {"maze": ["S..", "##."]},
        {"maze": ["S.G", "##"]},
        {"maze": ["S.G", "?.."]},
        {"maze": ["SSG"]},
        {"edges": [["A", "B", -1]], "start": "A", "end": "B"},
        {"edges": [["A", "B", "x"]], "start": "A", "end": "B"},
        {"edges": [["A", "B"]], "start": "A", "end": "A"},
        {"edges": [["A", "B"]], "start": "A", "end": "Z"},
        {"edges": [["0", "B"]], "source": "B"},
    ],
)
def test_networks_that_are_none(reference: Any) -> None:
    assert ask("shortest_path", "A -> B", reference).reason == "bad_puzzle"


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=14), st.booleans()
)
def test_the_shortest_path_is_found(edges: list[tuple[int, int, int]], directed: bool) -> None:
    reference = {"num_vertices": 6, "edges": edges, "start": 0, "goal": 5, "directed": directed}
    far = 10**6
    length = [[0 if a == b else far for b in range(6)] for a in range(6)]
    for a, b, weight in edges:
        length[a][b] = min(length[a][b], weight)
        if not directed:
            length[b][a] = min(length[b][a], weight)
    for middle in range(6):
        for a in range(6):
            for b in range(6):
                length[a][b] = min(length[a][b], length[a][middle] + length[middle][b])
    assert score("shortest_path", "infeasible", reference) == float(length[0][5] == far)
    assert score("shortest_path", json.dumps(reference), reference) == 0.0
    path = [0]
    while path[-1] != 5 and length[0][5] < far and len(path) < 7:
        here = path[-1]
        steps = [(a, b, w) for a, b, w in edges] + ([] if directed else [(b, a, w) for a, b, w in edges])
        following = [b for a, b, w in steps if a == here and b not in path and w + length[b][5] == length[here][5]]
        if not following:
            return
        path.append(following[0])
    if length[0][5] < far:
        assert score("shortest_path", " -> ".join(map(str, path)), reference) == 1.0
        assert score("shortest_path", str(path[::-1]), reference) == 0.0


# --- word ladders

LADDER = {"start": "COLD", "end": "WARM", "words": ["cord", "card", "ward", "word", "worm"]}


@table(
    "response",
    [
        "COLD,CORD,CARD,WARD,WARM",
        "COLD -> CORD -> CARD -> WARD -> WARM",
        '["cold","cord","card","ward","warm"]',
        "COLD\nCORD\nCARD\nWARD\nWARM",
        "1. COLD\n2. CORD\n3. CARD\n4. WARD\n5. WARM",
        "Transform COLD to WARM:\n**COLD → CORD → WORD → WORM → WARM**",
        "\\boxed{COLD \\to CORD \\to CARD \\to WARD \\to WARM}",
        "\\boxed{\\text{COLD, CORD, CARD, WARD, WARM}}",
        "<answer>COLD CORD CARD WARD WARM</answer>",
        "The ladder is COLD, CORD, CARD, WARD, WARM. Done with four more.",
        "From cold -> warm: cold -> cord -> card -> ward -> warm",
        "\\boxed{\\text{cold} \\rightarrow \\text{cord} \\rightarrow \\text{card} \\to \\text{ward} \\to \\text{warm}}",
        "cold → cord (l → r)\ncord → card (o → a)\ncard → ward (c → w)\nward → warm (d → m)",
        "cold → cord (l → r) → card (o → a) → ward (c → w) → warm (d → m)",
        "cold → cord (change l to r) → card (change o to a) → ward → warm",
        "- cold → cord\n- cord → card\n- card → ward\n- ward → warm",
        "cold, cord, card, ward, and warm",
        "cold ⇒ cord ⇒ card ⇒ ward ⇒ warm",
        "cold --> cord --> card --> ward --> warm",
        "cold ➜ cord ➜ card ➜ ward ➜ warm",
    ],
)
def test_forms_of_a_ladder(response: str) -> None:
    for reference in (LADDER, {**LADDER, "words": " ".join(LADDER["words"])}, json.dumps(LADDER)):
        assert (
            score("word_ladder", response, reference) == score("word_ladder", response, reference, shortest=True) == 1.0
        )


@table(
    "response",
    [
        "",
        "COLD",
        "WARM",
        "COLD,WARM",
        "CORD,CARD,WARD",
        "COLD,CORD,CARD,WARD",
        "COLD,CORD,WARD,WARM",
        "COLD,CORD,CORM,WORM,WARM",
        "COLD,CORD,CARD,WARD,WARM,WORM",
        "It is not COLD,CORD,CARD,WARD,WARM",
        "cold → cord (or card) → card → ward → warm",
        "cold → cord → card\nward → worm\nworm → cold",
        "\\boxed{\\text{cold} \\to \\text{cord} \\to \\text{card} \\to \\text{ward} \\to \\text{warm} or \\text{cold} \\to \\text{warm}}",
        "cold, cord, and warm",
        "<answer>COLD,CORD,CARD,WARD,WARM or COLD,CORD,WORD,WORM,WARM</answer>",
        "Transform the word ladder 'COLD' to 'WARM' by changing one letter at a time.",
        "COLD," * 200_000,
        "`" * 1_000_000,
    ],
)
def test_what_is_no_ladder(response: str) -> None:
    assert score("word_ladder", response, LADDER) == 0.0


def test_a_detour_is_a_ladder_unless_it_must_be_short() -> None:
    detour = "COLD,CORD,CARD,CORD,CARD,WARD,WARM"
    assert score("word_ladder", detour, LADDER) == 1.0
    assert score("word_ladder", detour, LADDER, shortest=True) == 0.0


@table(
    ("reference", "reason"),
    [
        ({"start_word": "COLD", "end_word": "WARM"}, "no_words"),
        ({**LADDER, "words": []}, "no_words"),
        ({**LADDER, "words": [1]}, "bad_puzzle"),
        ({**LADDER, "end": "COLD"}, "bad_puzzle"),
        ({**LADDER, "end": "COLDS"}, "bad_puzzle"),
        ({**LADDER, "end": "(.*)"}, "bad_puzzle"),
        ({**LADDER, "words": ["cord"] * 100_001}, "puzzle_too_large"),
        ("COLD", "bad_puzzle"),
    ],
)
def test_ladders_that_nobody_can_check(reference: Any, reason: str) -> None:
    verdict = ask("word_ladder", "COLD,CORD,CARD,WARD,WARM", reference)
    assert (verdict.score, verdict.reason) == (None, reason)


@FEW
@given(
    st.text("abc", min_size=4, max_size=4), st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=8)
)
def test_a_walk_of_single_letters_is_right_and_a_leap_is_wrong(start: str, changes: list[tuple[int, str]]) -> None:
    ladder = [start]
    for at, letter in changes:
        following = ladder[-1][:at] + letter + ladder[-1][at + 1 :]
        if following not in ladder:
            ladder.append(following)
    assume(len(ladder) > 2 and all(sum(x != y for x, y in zip(a, b, strict=True)) == 1 for a, b in pairwise(ladder)))
    reference = {"start": ladder[0], "end": ladder[-1], "words": ladder}
    assert score("word_ladder", ",".join(ladder), reference) == 1.0
    assert score("word_ladder", " -> ".join(ladder).upper(), reference) == 1.0
    assert score("word_ladder", ",".join(ladder), {**reference, "words": [start]}) == 0.0
    assert score("word_ladder", ",".join(ladder[:-1]), reference) == 0.0
    assert score("word_ladder", ",".join([ladder[0], "zzzz", *ladder[1:]]), reference) == 0.0
