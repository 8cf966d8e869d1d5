"""Knights and knaves, and zebra puzzles."""

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from tests.verifiers.puzzles.asking import FEW, ask, score

SAID = (
    "(('lying', 1), ('and', ('lying', 0), ('telling-truth', 1)), ('<=>', ('telling-truth', 2), ('telling-truth', 1)))"
)
TEXT = "(1) Zoey is a knave\n(2) Oliver is a knight\n(3) Ava is a knight"
ISLANDS: list[Any] = [
    {"names": ["Zoey", "Oliver", "Ava"], "solution": [False, True, True]},
    {"names": ["Zoey", "Oliver", "Ava"], "solution": [False, True, True], "statements": SAID},
    {"names": ["Zoey", "Oliver", "Ava"], "statements": SAID},
    {"solution_text_format": TEXT},
    {"solution_text_format": TEXT, "statements": SAID},
    {"solution_text": "Zoey is a knave, Oliver is a knight, and Ava is a knight."},
    {"names": ["Zoey", "Oliver", "Ava"], "solution_text_format": TEXT},
    {"Zoey": "knave", "Oliver": "knight", "Ava": "knight"},
    "Zoey is a knave, Oliver is a knight, and Ava is a knight.",
    json.dumps({"names": ["Zoey", "Oliver", "Ava"], "solution": [False, True, True]}),
]


@table(
    "response",
    [
        f"<answer> {TEXT} </answer>",
        TEXT,
        "<think>Zoey is a knight</think><answer>\n(1) Zoey is a knave.\n(2) Oliver is a knight.\n(3) Ava is a knight.</answer>",
        "Zoey is a knave, Oliver is a knight, and Ava is a knight.",
        "Zoey: knave\nOliver: knight\nAva: knight",
        "ZOEY: KNAVE\nOLIVER: KNIGHT\nAVA: KNIGHT",
        "Zoey = knave, Oliver = knight, Ava = knight",
        "Zoey (knave), Oliver (knight), Ava (knight)",
        "**Zoey** is a **knave**, **Oliver** is a **knight**, **Ava** is a **knight**",
        "Knights: Oliver, Ava\nKnaves: Zoey",
        "Oliver and Ava are knights, Zoey is a knave.",
        "Zoey is the knave, and both Oliver and Ava are knights.",
        '{"Zoey": "knave", "Oliver": "knight", "Ava": "knight"}',
        "| Zoey | knave |\n| Oliver | knight |\n| Ava | knight |",
        "\\boxed{\\text{Zoey is a knave, Oliver is a knight, and Ava is a knight}}",
        f"Suppose Zoey is a knight. Then Ava is a knave, a contradiction.\n\nSo:\n{TEXT}",
        "Zoey is a liar, Oliver is a truth-teller and Ava is a truth-teller",
        "It is impossible that Zoey is a knight, so Zoey is a knave, Oliver is a knight, and Ava is a knight.",
        "It is not possible that Ava is a knave. Zoey is a knave, Oliver is a knight, and Ava is a knight.",
    ],
)
def test_forms_of_roles(response: str) -> None:
    assert [score("knights_and_knaves", response, island) for island in ISLANDS] == [1.0] * len(ISLANDS)


@pytest.mark.accuracy
@table(
    "response",
    [
        "",
        "Zoey is a knight, Oliver is a knight, and Ava is a knight.",
        "Zoey is a knave, Oliver is a knight",
        "Zoey is a knight/knave, Oliver is a knight/knave, and Ava is a knight/knave",
        "Zoey is a knave or a knight, Oliver is a knight, Ava is a knight",
        "Zoey is not a knave, Oliver is a knight, Ava is a knight",
        "It is impossible that Zoey is a knave, Oliver is a knight, and Ava is a knight.",
        "It isn't the case that Zoey is a knave, Oliver is a knight, and Ava is a knight.",
        f"<answer>{TEXT}\nZoey is a knight</answer>",
        "<answer>Zoey is a knight, Oliver is a knave, Ava is a knave\n" + TEXT + "</answer>",
        f"<answer>{TEXT}</answer> or <answer>{TEXT.replace('Zoey is a knave', 'Zoey is a knight')}</answer>",
        f"<think>{TEXT}",
        "Zoey said, 'Oliver is a knave'. Who is a knight and who is a knave?",
        "Zoey is a knight " * 100_000,
    ],
)
def test_what_tells_no_roles(response: str) -> None:
    assert [score("knights_and_knaves", response, island) for island in ISLANDS] == [0.0] * len(ISLANDS)


def test_other_words_for_the_roles() -> None:
    terms = {"knight": "wizard", "knave": "goblin", "a_knight": "a wizard"}
    island = {"names": ["Zoey", "Ava"], "solution": [True, False], "knight_knave": terms}
    assert score("knights_and_knaves", "Zoey is a wizard, and Ava is a goblin.", island) == 1.0
    assert score("knights_and_knaves", "Zoey is a goblin, and Ava is a wizard.", island) == 0.0
    letters = {"names": ["A", "B"], "solution": [True, False]}
    assert score("knights_and_knaves", "A is a knight and B is a knave", letters) == 1.0
    assert score("knights_and_knaves", "B is a knave", letters) == 0.0


@table(
    ("reference", "reason"),
    [
        ({"names": ["Zoey"], "statements": [["lying", 0]]}, "no_solution"),
        ({"names": ["Zoey"], "statements": [["lying", 1]]}, "bad_puzzle"),
        ({"names": ["Zoey"], "statements": [["xor", ["lying", 0]]]}, "bad_puzzle"),
        ({"names": ["Zoey"], "statements": "__import__('os')"}, "bad_puzzle"),
        ({"names": ["Zoey"]}, "bad_puzzle"),
        ({"names": ["Zoey", "zoey"], "solution": [True, True]}, "bad_puzzle"),
        ({"names": ["Zoey"], "solution": [1]}, "bad_puzzle"),
        ({"names": ["Zoey", "Oliver", "Ava"], "solution": [True] * 3, "statements": SAID}, "bad_puzzle"),
        ("Zoey is a knight. Zoey is a knave.", "bad_puzzle"),
        ({"names": ["Zoey"], "statements": "(" * 90_000}, "bad_puzzle"),
        (None, "bad_puzzle"),
    ],
)
def test_islands_that_are_none(reference: Any, reason: str) -> None:
    verdict = ask("knights_and_knaves", "Zoey is a knight", reference)
    assert (verdict.score, verdict.reason) == (None, reason)


NAMES = ["Zoey", "Oliver", "Ava", "Liam"]


def claims(people: int) -> st.SearchStrategy[Any]:
    leaf = st.tuples(st.sampled_from(["lying", "telling-truth"]), st.integers(0, people - 1)).map(list)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            inner.map(lambda said: ["not", said]),
            st.tuples(st.sampled_from(["and", "or", "->", "<=>"]), inner, inner).map(list),
        ),
        max_leaves=5,
    )


def holds(said: Any, roles: tuple[bool, ...]) -> bool:
    kind, *parts = said
    if kind in ("lying", "telling-truth"):
        return roles[parts[0]] is (kind == "telling-truth")
    values = [holds(part, roles) for part in parts]
    return {"not": not values[0], "and": all(values), "or": any(values), "->": not values[0] or values[-1]}.get(
        kind, values[0] is values[-1]
    )


@FEW
@given(st.lists(claims(4), min_size=4, max_size=4))
def test_every_assignment_is_judged_by_the_statements(said: list[Any]) -> None:
    island = {"names": NAMES, "statements": said}
    worlds = list(product((True, False), repeat=4))
    right = [all(holds(claim, roles) is role for claim, role in zip(said, roles, strict=True)) for roles in worlds]
    for roles, is_right in zip(worlds, right, strict=True):
        answer = ", ".join(
            f"{name} is a {'knight' if role else 'knave'}" for name, role in zip(NAMES, roles, strict=True)
        )
        assert score("knights_and_knaves", answer, island) == (float(is_right) if any(right) else None)


# --- zebra

ROWS = [["1", "Eric", "red", "cat"], ["2", "Arnold", "blue", "dog"], ["3", "Peter", "green", "fish"]]
TABLE: dict[str, Any] = {"header": ["House", "Name", "Color", "Pet"], "rows": ROWS}
HOUSES = {f"House {row[0]}": dict(zip(TABLE["header"][1:], row[1:], strict=True)) for row in ROWS}
MARKDOWN = "| House | Name | Color | Pet |\n|---|:---:|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in ROWS)
WRONG = json.loads(json.dumps(HOUSES))
WRONG["House 1"]["Pet"], WRONG["House 2"]["Pet"] = "dog", "cat"


@table(
    "response",
    [
        json.dumps(HOUSES),
        json.dumps({"reasoning": "It's {so}", "solution": HOUSES}, indent=2),
        f"```json\n{json.dumps({'solution': HOUSES})}\n```",
        f"<answer>{json.dumps(HOUSES)}</answer>",
        json.dumps(TABLE),
        json.dumps({key.removeprefix("House "): value for key, value in HOUSES.items()}),
        str(HOUSES),
        json.dumps(HOUSES).upper(),
        json.dumps([dict(zip(TABLE["header"], row, strict=True)) for row in ROWS]),
        json.dumps(
            {"houses": [{"House": int(row[0]), "Name": row[1], "Color": row[2], "Pet": row[3]} for row in ROWS]}
        ),
        f"So:\n\n{MARKDOWN}\n\nDone.",
        MARKDOWN.replace("| 1 |", "| House 1 |"),
        f"In braces {{this}}: {json.dumps(HOUSES)}",
        f"{json.dumps(WRONG)} breaks a clue. Corrected: {json.dumps(HOUSES)}",
    ],
)
@table("reference", [TABLE, {"solution": TABLE}, HOUSES, json.dumps(TABLE)])
def test_forms_of_houses(response: str, reference: Any) -> None:
    assert score("zebra", response, reference) == score("zebra", response, reference, partial=True) == 1.0


@table(
    "response",
    [
        "",
        json.dumps({house: dict.fromkeys(row, "___") for house, row in HOUSES.items()}),
        json.dumps({house: dict.fromkeys(row, "Eric") for house, row in HOUSES.items()}),
        json.dumps({**HOUSES, "House 4": {"Name": "Eric"}}),
        json.dumps([{"House": 1, **HOUSES["House 1"]}, {"House": 1, **HOUSES["House 1"]}]),
        json.dumps([HOUSES["House 1"], HOUSES["House 2"], HOUSES["House 3"]]),
        f"<answer>{json.dumps(HOUSES)}{json.dumps(WRONG)}</answer>",
        f"{json.dumps(HOUSES)} or {json.dumps(WRONG)}",
        '{"a":' * 200_000,
        "| a " * 200_000,
    ],
)
def test_what_fills_no_houses(response: str) -> None:
    assert score("zebra", response, TABLE) == score("zebra", response, TABLE, partial=True) == 0.0


def test_cells_count_only_when_asked_for() -> None:
    assert score("zebra", json.dumps(WRONG), TABLE) == 0.0
    assert score("zebra", json.dumps(WRONG), TABLE, partial=True) == 7 / 9
    same = {house: {**row, "Name": "Eric"} for house, row in HOUSES.items()}
    assert score("zebra", json.dumps(same), TABLE, partial=True) == 6 / 9


@table(
    "reference",
    [
        None,
        "prose",
        {},
        {"header": ["House", "Name"], "rows": [["___", "___"]]},
        {"header": ["House", "Name"], "rows": [["1", "___"], ["2", "___"]]},
        {"header": ["House"], "rows": [["1"]]},
        {"header": ["House", "Name"], "rows": [["1", "Eric"], ["1", "Ann"]]},
        {"House 1": {"Name": "Eric"}, "House 2": {"Color": "red"}},
    ],
)
def test_solutions_that_are_none(reference: Any) -> None:
    assert ask("zebra", json.dumps(HOUSES), reference).reason == "bad_puzzle"


@FEW
@given(st.permutations(["Eric", "Arnold", "Peter"]), st.permutations(["red", "blue", "green"]))
def test_every_cell_of_a_house_counts(names: list[str], colors: list[str]) -> None:
    rows = [[str(at), name, color] for at, (name, color) in enumerate(zip(names, colors, strict=True), start=1)]
    table = {"header": ["House", "Name", "Color"], "rows": rows}
    answer = {f"House {at}": {"Name": row[1], "Color": row[2]} for at, row in enumerate(ROWS, start=1)}
    right = sum(a[1] == b[1] for a, b in zip(rows, ROWS, strict=True)) + sum(
        a[2] == b[2] for a, b in zip(rows, ROWS, strict=True)
    )
    assert score("zebra", json.dumps(answer), table) == float(right == 6)
    assert score("zebra", json.dumps(answer), table, partial=True) == right / 6
