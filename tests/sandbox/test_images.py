"""The image's recipe: one text for both ways to follow it, and a version that tells when it has changed."""

from pathlib import Path

import pytest

from sandbox.images import recipe

EVERY = recipe.languages_named("all")


def test_the_dockerfile_is_the_one_the_recipe_makes() -> None:
    committed = Path(recipe.__file__).with_name("Dockerfile").read_text()
    assert committed == recipe.dockerfile(recipe.COMMON), "python -m sandbox.images.recipe > sandbox/images/Dockerfile"


def test_an_image_holds_the_packages_of_its_languages_and_no_others() -> None:
    packages = recipe.packages(["cpp"])
    assert "g++" in packages
    assert "python3-minimal" in packages, "the runner itself"
    assert "nodejs" not in packages


def test_languages_are_named_one_by_one_or_together() -> None:
    assert recipe.languages_named("python,c") == ["c", "python"]
    assert set(recipe.languages_named("common")) < set(recipe.languages_named("all"))
    assert "julia" not in recipe.languages_named("all"), "Debian has no package for it"
    for unknown in ("cobol", "julia", "python,,c", ""):
        with pytest.raises(ValueError, match="no such language"):
            recipe.languages_named(unknown)


def test_only_images_with_cpp_precompile_its_header() -> None:
    assert any("stdc++" in step for step in recipe.finishing_steps(["cpp"]))
    assert not any("stdc++" in step for step in recipe.finishing_steps(["python"]))


def test_what_was_made_by_this_recipe_is_current_and_by_another_is_not() -> None:
    labels = recipe.labels(["cpp", "python"])
    assert recipe.is_current(labels)
    assert not recipe.is_current(labels | {recipe.VERSION_LABEL: "0"})
    assert not recipe.is_current(labels | {recipe.LANGUAGES_LABEL: "cpp"})
    assert not recipe.is_current(labels | {recipe.LANGUAGES_LABEL: "cobol,python"})


def test_an_image_without_a_version_is_somebodys_own() -> None:
    assert recipe.is_current({"maintainer": "somebody"})


@pytest.mark.parametrize("change", ["packages", "finishing_steps"])
def test_the_version_changes_with_what_goes_in(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.version(EVERY)
    monkeypatch.setattr(recipe, change, lambda languages: ["something else"])
    assert recipe.version(EVERY) != before
