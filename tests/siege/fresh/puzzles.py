"""Fresh puzzles, made from their solutions."""

from itertools import pairwise
from typing import Any

from tests.siege.fresh.draw import Draw, Posted


def _shown(rows: list[list[Any]]) -> str:
    return "\n".join(" ".join(map(str, row)) for row in rows)


def arc_grid(draw: Draw) -> Posted:
    height, width = draw.randint(4, 14), draw.randint(4, 14)
    wanted = [[draw.randrange(10) for _ in range(width)] for _ in range(height)]
    said = [list(row) for row in wanted]
    if not draw.is_right:
        said[draw.randrange(height)][draw.randrange(width)] ^= 1
    reference: Any = {"output": wanted} if draw.random() < 0.5 else wanted
    return Posted(f"{draw.prose()}\n\n<answer>\n{_shown(said)}\n</answer>", float(draw.is_right), reference)


def sudoku(draw: Draw) -> Posted:
    """A grid of nine by nine with some fifty givens."""
    rows = [3 * band + row for band in draw.sample(range(3), 3) for row in draw.sample(range(3), 3)]
    columns = [3 * stack + column for stack in draw.sample(range(3), 3) for column in draw.sample(range(3), 3)]
    digits = draw.sample(range(1, 10), 9)
    solved = [[digits[(3 * (row % 3) + row // 3 + column) % 9] for column in columns] for row in rows]
    puzzle = [[cell if draw.random() < 0.6 else 0 for cell in row] for row in solved]
    said = [list(row) for row in solved]
    if not draw.is_right:
        said[4][4] = said[4][4] % 9 + 1
    response = f"{draw.prose(3)}\n<answer>\n{_shown(said)}\n</answer>"
    return Posted(response, float(draw.is_right), {"puzzle": puzzle, "solution": solved})


def n_queens(draw: Draw) -> Posted:
    size = draw.randint(10, 13)
    columns = _queens(draw, size)
    puzzle = [["Q" if column == at and draw.random() < 0.4 else "_" for column in range(size)] for at in columns]
    if not draw.is_right:
        columns[0] = columns[1]  # two rows that change places may still be a solution
    board = [["Q" if column == at else "_" for column in range(size)] for at in columns]
    return Posted(
        f"{draw.prose(2)}\n<answer>\n{_shown(board)}\n</answer>", float(draw.is_right), {"puzzle": _shown(puzzle)}
    )


def _queens(draw: Draw, size: int) -> list[int]:
    """The column of the queen of each row, found by trying columns in a random order."""
    placed: list[int] = []

    def place() -> bool:
        row = len(placed)
        if row == size:
            return True
        for column in draw.sample(range(size), size):
            if all(column != other and abs(column - other) != row - above for above, other in enumerate(placed)):
                placed.append(column)
                if place():
                    return True
                placed.pop()
        return False

    place()
    return placed


def countdown(draw: Draw) -> Posted:
    numbers = [draw.randint(1, 99) for _ in range(draw.randint(4, 6))]
    text, value = str(numbers[0]), numbers[0]
    for number in numbers[1:]:
        sign = draw.choice("+-*" if abs(value) < 10**6 else "+-")
        value = value + number if sign == "+" else value - number if sign == "-" else value * number
        text = f"({text} {sign} {number})"
    draw.shuffle(numbers)
    said = text if draw.is_right else f"{text} + 1"
    return Posted(f"{draw.thought()}<answer>{said}</answer>", float(draw.is_right), {"target": value, "nums": numbers})


def graph_coloring(draw: Draw) -> Posted:
    vertices, colors = draw.names(draw.randint(4, 10)), draw.names(3)
    coloured = {vertex: colors[place % 3] for place, vertex in enumerate(vertices)}
    pairs = [(a, b) for place, a in enumerate(vertices) for b in vertices[place + 1 :] if coloured[a] != coloured[b]]
    edges = sorted({(vertices[0], vertices[1]), *draw.sample(pairs, len(pairs) // 2)})
    said = coloured if draw.is_right else {**coloured, vertices[1]: coloured[vertices[0]]}
    listed = "\n".join(f"{vertex}: {color}" for vertex, color in said.items())
    reference = {"vertices": vertices, "edges": [list(edge) for edge in edges], "colors": colors}
    return Posted(f"{draw.prose(3)}\n<answer>\n{listed}\n</answer>", float(draw.is_right), reference)


def knights_and_knaves(draw: Draw) -> Posted:
    people = [name.capitalize() for name in draw.names(draw.randint(2, 7))]
    solution = [draw.random() < 0.5 for _ in people]
    said = [*solution[:-1], solution[-1] is draw.is_right]
    listed = "\n".join(
        f"({place}) {name} is a {'knight' if honest else 'knave'}"
        for place, (name, honest) in enumerate(zip(people, said, strict=True), start=1)
    )
    reference = {"names": people, "solution": solution}
    return Posted(f"{draw.prose(4)}\n<answer>{listed}</answer>", float(draw.is_right), reference)


def shortest_path(draw: Draw) -> Posted:
    """A chain of short edges, with long ones beside it."""
    nodes = [name.capitalize() for name in draw.names(draw.randint(4, 9))]
    chain = [[a, b, draw.randint(1, 9)] for a, b in pairwise(nodes)]
    long = [[*draw.sample(nodes, 2), draw.randint(100, 999)] for _ in range(6)]
    path = nodes if draw.is_right else [*nodes[:-2], nodes[0]]
    reference = {"edges": [*chain, *long], "start": nodes[0], "goal": nodes[-1]}
    return Posted(f"{draw.prose(3)}\n<answer>{' -> '.join(path)}</answer>", float(draw.is_right), reference)


_ALPHABET = "abcdefghijklmnoprstuvw"


def word_ladder(draw: Draw) -> Posted:
    """Four new letters, each changed once: the shortest way has five words."""
    ladder = ["".join(draw.choices(_ALPHABET, k=6))]
    for place in draw.sample(range(6), 4):
        before = ladder[-1]
        letter = draw.choice([letter for letter in _ALPHABET if letter != before[place]])
        ladder.append(before[:place] + letter + before[place + 1 :])
    words = [*ladder, *("".join(draw.choices(_ALPHABET, k=6)) for _ in range(40))]
    draw.shuffle(words)
    said = ladder if draw.is_right else [ladder[0], ladder[-1]]
    reference = {"start_word": ladder[0].upper(), "end_word": ladder[-1].upper(), "words": words}
    return Posted(f"{draw.prose(2)}\n<answer>{','.join(said).upper()}</answer>", float(draw.is_right), reference)


def zebra(draw: Draw) -> Posted:
    houses = draw.randint(2, 5)
    header = ["House", *(name.capitalize() for name in draw.names(draw.randint(2, 4)))]
    rows = [[str(house + 1), *draw.names(len(header) - 1)] for house in range(houses)]
    said = [list(row) for row in rows]
    if not draw.is_right:
        said[0][1], said[1][1] = said[1][1], said[0][1]
    lines = [header, ["---"] * len(header), *said]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return Posted(f"{draw.prose(3)}\n\n{table}", float(draw.is_right), {"header": header, "rows": rows})
