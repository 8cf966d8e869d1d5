"""A file of recipes is taken whole or refused with every mistake and its place."""

import re
from pathlib import Path

import pytest

from service.recipes import book
from service.recipes.files import BadRecipes
from service.run.core import load_verifiers
from tests.conftest import ROOT
from verifiers.registry import Registry


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_verifiers()


def test_what_ships_loads(registry: Registry) -> None:
    found = book.load(registry)
    assert "think_math" in found.recipes
    assert all(recipe.about for recipe in found.recipes.values())


RECIPE = "recipes:\n  mine:\n    checks:\n"
ROUTES = "recipes:\n  mine:\n    checks: [{verifier: math}]\nroutes:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipes: [", "not YAML"),
        ("recipes: {a: {checks: []}, a: {checks: []}}", "'a' occurs twice"),
        ("recipies: {}", "recipies: no such field; did you mean `recipes`?"),
        (RECIPE + "    - {verifier: maths}", "recipes.mine.checks.0: no verifier 'maths'; did you mean `math`"),
        (RECIPE + "    - {verifier: math, recipe: think_math}", "names either a verifier or a recipe"),
        (
            RECIPE + "    - {verifier: math, params: {abs_tool: 1}}",
            "params.abs_tool: math has no such parameter; did you",
        ),
        (RECIPE + "    - {verifier: math, params: {abs_tol: x}}", "recipes.mine.checks.0.params.abs_tol"),
        (RECIPE + "    - {verifier: math}\n    - {verifier: math}", "two checks are called 'math'"),
        (
            RECIPE + "    - {verifier: math}\n    watch:",
            "watch is empty: write {} to watch the rewards, or leave it out",
        ),
        (
            RECIPE + "    - {verifier: math, gate: {after: length, below: 1}}",
            "its gate is after 'length', which is not a check",
        ),
        (RECIPE + "    - {verifier: math, weight: -1}", "recipes.mine.checks[0].weight"),
        (RECIPE + "    - {verifier: math, weight: .nan}", "recipes.mine.checks[0].weight"),
        (RECIPE + "    - {verifier: math, weight: 0}", "the weights are all 0"),
        (RECIPE + "    - {verifier: math, weight: 2}\n    aggregate: product", "product knows no weights"),
        (RECIPE + "    - {verifier: math, scale: pm2}", "a scale is 01, pm1"),
        (RECIPE + "    - {verifier: math, scale: [1, 2, 3]}", "a scale is 01, pm1"),
        (RECIPE + "    - {verifier: math, scale: pm1, penalty: 1}", "penalty is a scale"),
        (RECIPE + "    - {verifier: math, skipped: 1}", "skipped needs a gate"),
        (RECIPE + "    - {verifier: math}\n    clip: [1, -1]", "clip: 1 is above -1"),
        (RECIPE + "    - {verifier: math}\n    score: maths", "score: no check is called 'maths'"),
        (RECIPE + "    - {verifier: math, scale: pm1}\n    aggregate: max", "the aggregated value may leave [0, 1]"),
        (RECIPE + "    - {recipe: mine}", "recipe 'mine' contains itself"),
        (RECIPE + "    - {recipe: think_maths}", "no recipe 'think_maths'; did you mean `think_math`"),
        (RECIPE + "    - {recipe: think_math}", "more than one check"),
        (ROUTES + "- {tag: a, recipe: yours}", "the route of tag a to yours: no such recipe"),
        (ROUTES + "- {tag: a, domain: b, recipe: mine}", "a route matches one of domain, data_source, tag"),
        (ROUTES + "- {tag: a, recipe: mine}\n- {tag: a, recipe: think_math}", "may match the same row"),
        (ROUTES + "- {tag: a, difficulty: {gte: 2, lt: 2}, recipe: mine}", "gte must be less than lt"),
    ],
)
def test_a_mistake_is_told_with_its_place(registry: Registry, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "recipes.yaml"
    file.write_text(text)
    with pytest.raises(BadRecipes) as refused:
        book.load(registry, file)
    assert message in str(refused.value)
    assert all(line.startswith(str(file)) for line in refused.value.problems)


def test_all_mistakes_are_told_at_once(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "recipes.yaml"
    file.write_text(RECIPE + "    - {verifier: maths}\n    - {verifier: codes}\n" + "routes: [{tag: a, recipe: yours}]")
    with pytest.raises(BadRecipes) as refused:
        book.load(registry, file)
    assert len(refused.value.problems) == 3


def test_a_file_that_is_not_there_or_no_text(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(BadRecipes, match="No such file"):
        book.load(registry, tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(BadRecipes):
        book.load(registry, tmp_path / "bytes.yaml")


def test_a_file_may_replace_what_ships_and_build_on_it(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "recipes.yaml"
    file.write_text(
        "recipes:\n"
        "  base: {checks: [{verifier: math, params: {think: required}, scale: pm1}]}\n"
        "  think_math: {checks: [{recipe: base, params: {abs_tol: 0.1}}]}\n"
    )
    (check,) = book.load(registry, file).recipes["think_math"].checks
    assert check.name == "base"
    assert check.params == {"think": "required", "abs_tol": 0.1}
    assert check.scale.wrong == -1


def test_an_empty_file_is_no_mistake(registry: Registry, tmp_path: Path) -> None:
    file = tmp_path / "recipes.yaml"
    file.write_text("")
    assert book.load(registry, file).recipes.keys() == book.load(registry).recipes.keys()


def test_the_documents_example_is_good(registry: Registry, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "recipes.yaml"
    file.write_text(example)
    found = book.load(registry, file)
    assert {"my_math", "my_code"} <= found.recipes.keys()
    assert found.recipes["my_math"].checks[2].scale.wrong == -0.2
