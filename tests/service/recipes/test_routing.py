import fnmatch
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.recipes.model import RouteSpec
from service.recipes.routing import AmbiguousRoutes, Row, Table, find


def table(*routes: dict[str, Any]) -> Table:
    return Table(RouteSpec.model_validate({"recipe": f"r{at}", **route}) for at, route in enumerate(routes))


def routed(tables: list[Table], difficulty: float | None = None, fields: set[str] | None = None, **labels: str) -> str:
    route = find(tables, Row(labels, difficulty, frozenset(fields or ())))
    return route.recipe if route is not None else "none"


def test_the_most_telling_route_comes_first_whatever_the_order() -> None:
    routes = [{"tag": "*"}, {"tag": "aime*"}, {"tag": "aime2025"}, {"tag": "aime*5"}]
    for order in (routes, routes[::-1]):
        names = {str(route["tag"]): f"r{at}" for at, route in enumerate(order)}
        found = table(*order)
        assert routed([found], tag="aime2025") == names["aime2025"]
        assert routed([found], tag="aime2015") == names["aime*5"]
        assert routed([found], tag="aime2024") == names["aime*"]
        assert routed([found], tag="gsm8k") == names["*"]


def test_domain_before_data_source_before_tag() -> None:
    found = table({"tag": "t"}, {"data_source": "s"}, {"domain": "d"})
    assert routed([found], tag="t", data_source="s", domain="d") == "r2"
    assert routed([found], tag="t", data_source="s", domain="other") == "r1"
    assert routed([found], tag="t") == "r0"
    assert routed([found], tag="s") == "none"


def test_difficulty_and_shape_are_conditions() -> None:
    found = table(
        {"tag": "m"}, {"tag": "m", "difficulty": {"gte": 5}}, {"tag": "n", "difficulty": {"lt": 5}},
        {"tag": "s", "reference_has": "steps"}, {"tag": "s"},
    )  # fmt: skip
    assert routed([found], tag="m") == "r0"
    assert routed([found], tag="m", difficulty=4.9) == "r0"
    assert routed([found], tag="m", difficulty=5.0) == "r1"
    assert routed([found], tag="n") == "none"
    assert routed([found], tag="n", difficulty=5.0) == "none"
    assert routed([found], tag="s", fields={"steps"}) == "r3"
    assert routed([found], tag="s", fields={"final_answer"}) == "r4"


def test_the_first_table_comes_first_even_with_stars() -> None:
    own, shipped = table({"tag": "a*", "recipe": "own"}), table({"tag": "ab"})
    assert routed([own, shipped], tag="ab") == "own"
    assert routed([own, shipped], tag="b") == "none"


def test_labels_are_text_not_patterns() -> None:
    found = table({"tag": "a.c"}, {"tag": "[x]*"})
    assert routed([found], tag="abc") == "none"
    assert routed([found], tag="[x]y") == "r1"


@pytest.mark.parametrize(
    "routes",
    [
        [{"tag": "a"}, {"tag": "a"}],
        [{"tag": "a*"}, {"tag": "*a"}],
        [{"tag": "ab*"}, {"tag": "a*b"}],
        [{"tag": "a", "difficulty": {"gte": 1, "lt": 3}}, {"tag": "a", "difficulty": {"gte": 2}}],
        [{"tag": "a", "difficulty": {"gte": 1}}, {"tag": "a", "reference_has": "steps"}],
        [{"tag": "*" * 5}],
    ],
)
def test_ambiguity_is_refused(routes: list[dict[str, Any]]) -> None:
    with pytest.raises(AmbiguousRoutes):
        table(*routes)


@pytest.mark.parametrize(
    "routes",
    [
        [{"tag": "a"}, {"domain": "a"}],
        [{"tag": "a*"}, {"tag": "b*"}],
        [{"tag": "a*x"}, {"tag": "a*y"}],
        [{"tag": "a", "difficulty": {"lt": 3}}, {"tag": "a", "difficulty": {"gte": 3}}],
    ],
)
def test_what_cannot_meet_is_not_ambiguous(routes: list[dict[str, Any]]) -> None:
    table(*routes)


PATTERN = st.text("ab*", min_size=1, max_size=6).filter(lambda text: text.count("*") <= 4)


@given(PATTERN, PATTERN, st.text("ab", min_size=1, max_size=8))
def test_a_row_never_has_two_first_routes(one: str, other: str, label: str) -> None:
    try:
        found = table({"tag": one}, {"tag": other})
    except AmbiguousRoutes:
        return
    both = [pattern for pattern in (one, other) if fnmatch.fnmatchcase(label, pattern)]
    ranks = [("*" not in pattern, len(pattern.replace("*", ""))) for pattern in both]
    assert len(set(ranks)) == len(ranks)
    expected = f"r{(one, other).index(both[ranks.index(max(ranks))])}" if both else "none"
    assert routed([found], tag=label) == expected
