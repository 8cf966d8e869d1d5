"""Finds the checks of an item and fills in its data. The checks are those of the recipe that the item names, writes
itself, or is routed to.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from msgspec import Raw
from pydantic import TypeAdapter, ValidationError

from service.recipes import data_sets
from service.recipes.book import Book
from service.recipes.data_sets import JudgedBy, Reading
from service.recipes.files import BadRecipes
from service.recipes.model import ClipField, RecipeSpec, RouteSpec, built_clip
from service.recipes.recipe import Check, Recipe
from service.recipes.resolution import of_checks
from service.recipes.reward_shaping import Clip
from service.recipes.rows import ABSENT, Given, row_of, tests_of
from service.scoring.composition import Plan
from service.scoring.prepared_item import ConfiguredVerifier, configure, decoded, decoded_params
from service.wire import ScoreItem
from verifiers import shapes
from verifiers.base import InvalidItem
from verifiers.mistakes import sentences
from verifiers.near_names import near
from verifiers.registry import Registry

_clip: Final[TypeAdapter[ClipField | None]] = TypeAdapter(ClipField | None)
_MAX_WEIGHT: Final = 1e9
_MAX_WEIGHTS: Final = 256
"""Of one item. A recipe has far fewer checks."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A check with the data of an item: what its verifier takes."""

    check: Check
    fields: Mapping[str, Any]
    """The verifier's parameters, `reference` among them."""

    def configure(self, recipe: Recipe) -> ConfiguredVerifier:
        """The verifier with these parameters.

        Raises:
            InvalidItem: the verifier does not take these parameters.
        """
        try:
            return configure(self.check.entry, self.fields)
        except InvalidItem as error:
            if len(recipe.checks) == 1 and recipe.name is None:
                raise
            raise InvalidItem(error.reason, f"check {self.check.name}: {error}") from error


class Planner:
    """Plans items by the recipes of one book. Another book gets another planner."""

    def __init__(self, registry: Registry, book: Book) -> None:
        self._registry = registry
        self._book = book

    def plan(self, item: ScoreItem, reference: bytes) -> Plan:
        """The plan of an item: what is judged, and how it becomes a reward.

        Raises:
            InvalidItem: nothing says how to judge the item, or its data is incomplete.
        """
        recipe, filled = self.fill(item, reference)
        verifiers = tuple(check.configure(recipe) for check in filled)
        return Plan(recipe, verifiers, self._weights(item, recipe), _clip_of(item))

    def fill(self, item: ScoreItem, reference: bytes) -> tuple[Recipe, list[Filled]]:
        """The recipe of the item, and for each check what it gets from the item.

        Raises:
            InvalidItem: nothing says how to judge the item, or its data is incomplete.
        """
        if item.reward_weights and len(item.reward_weights) > _MAX_WEIGHTS:
            raise InvalidItem(
                "bad_reward_weights",
                f"reward_weights: {len(item.reward_weights)} names; at most {_MAX_WEIGHTS} are taken",
            )
        source = _given(item, reference)
        params = decoded_params(bytes(item.params))
        reading = None
        if not _named(item):
            reading = data_sets.known().read(source.reference, item.data_source)
        if reading is not None:
            source = replace(source, reference=reading.reference)
        recipe = self._recipe(item, source, reading)
        if isinstance(recipe, RouteSpec):
            params = {**recipe.params, **params}
            recipe = self._named(recipe.recipe)
        return recipe, _filled(recipe, source, params)

    def _recipe(self, item: ScoreItem, source: Given, reading: Reading | None) -> Recipe | RouteSpec:
        namings = _named(item)
        if len(namings) > 1:
            raise InvalidItem("ambiguous", f"the item names a {' and a '.join(namings)}; it must name exactly one")
        if item.verifier is not None:
            return Recipe(None, (Check(item.verifier, self._registry.find(item.verifier)),))
        if item.recipe is not None:
            return self._named(item.recipe)
        if namings:
            return self._of_checks(decoded(bytes(item.checks), "checks"))
        return self._routed(item, source, reading)

    def _routed(self, item: ScoreItem, source: Given, reading: Reading | None) -> Recipe | RouteSpec:
        labels = {name: getattr(item, name) for name in ("domain", "data_source", "tag")}
        if reading is not None:
            labels["data_source"] = labels["data_source"] or reading.label
        known_labels = {name: label for name, label in labels.items() if label is not None}
        row = row_of(labels, item.difficulty, source.reference)
        route = self._book.route(row)
        if route is not None:
            return route
        if reading is not None and reading.judged is not None:
            return self._judge_of(reading.judged)
        if item.reward_weights and not known_labels:
            return self._of_weights(item.reward_weights, source)
        labelled = f"no route matches {known_labels}" if known_labels else "it has no label: domain, data_source, tag"
        message = f"the item names no verifier, recipe or checks, and {labelled}; set one of them"
        raise InvalidItem("unroutable", message + _label_hint(source.reference))

    def _named(self, name: str) -> Recipe:
        recipe = self._book.recipes.get(name)
        if recipe is not None:
            return recipe
        if name in self._book.unavailable:
            needs = self._book.unavailable[name]
            raise InvalidItem("unknown_recipe", f"recipe {name!r} needs the verifier {needs!r}, which is not installed")
        hint = near(name, self._book.recipes) or f"; GET /v1/recipes lists all {len(self._book.recipes)}"
        raise InvalidItem("unknown_recipe", f"no recipe {name[:100]!r}{hint}")

    def _judge_of(self, judged: JudgedBy) -> Recipe:
        if judged.verifier is not None:
            return Recipe(None, (Check(judged.verifier, self._registry.find(judged.verifier)),))
        assert judged.recipe is not None
        return self._named(judged.recipe)

    def _of_checks(self, checks: Any) -> Recipe:
        spec = {"checks": checks}
        try:
            return of_checks(self._registry, shapes.typed(RecipeSpec, spec), self._book.recipes)
        except ValidationError as error:
            raise InvalidItem("bad_checks", "; ".join(sentences(error, spec)[:3])) from error
        except BadRecipes as error:
            raise InvalidItem("bad_checks", "; ".join(error.problems[:3])) from error

    def _of_weights(self, weights: Mapping[str, float], source: Given) -> Recipe:
        """The composition of the recipes named in `weights`. It has only those for which the row has data."""
        needs_judge = [name for name in weights if self._is_unavailable(name)]
        if source.criteria is ABSENT:  # what needs a judge model has nothing to go by in this row
            weights = {name: weight for name, weight in weights.items() if name not in needs_judge}
        checks = [replace(self._component(name), name=name) for name in weights]
        usable = tuple(check for check in checks if source.has_data_for(check))
        if not usable:
            raise InvalidItem("unroutable", f"the row has nothing that any of {list(weights)} could judge against")
        return Recipe(None, usable)

    def _recipe_called(self, name: str) -> str:
        """The recipe of this name, or the recipe for rows of the domain of this name."""
        if name in self._book.recipes or name in self._book.unavailable:
            return name
        route = self._book.route(row_of({"domain": name, "data_source": None, "tag": None}, None, None))
        return route.recipe if route is not None else name

    def _is_unavailable(self, name: str) -> bool:
        return name not in self._registry and self._recipe_called(name) in self._book.unavailable

    def _check_known(self, name: str) -> None:
        """Check that a name in the weights is known. A weight without data may be for another kind of row, or a
        mistake.
        """
        if name not in self._registry and not self._is_unavailable(name):
            self._named(self._recipe_called(name))

    def _component(self, name: str) -> Check:
        if name in self._registry:
            return Check(name, self._registry[name])
        recipe = self._named(self._recipe_called(name))
        if len(recipe.checks) > 1:
            raise InvalidItem("bad_reward_weights", f"reward_weights: {name!r} is itself made of several checks")
        return recipe.checks[0]

    def _weights(self, item: ScoreItem, recipe: Recipe) -> tuple[float, ...]:
        item_weights = item.reward_weights or {}
        for name, weight in item_weights.items():
            if not 0 <= weight <= _MAX_WEIGHT or not math.isfinite(weight):
                raise InvalidItem("bad_reward_weights", f"reward_weights.{name[:100]}: {weight} is not in [0, 1e9]")
        names = {check.name for check in recipe.checks}
        for name in item_weights.keys() - names:
            self._check_known(name)
        weights = tuple(item_weights.get(check.name, check.weight) for check in recipe.checks)
        if recipe.aggregate in ("weighted_mean", "weighted_sum") and not any(weights):
            raise InvalidItem("bad_reward_weights", "reward_weights: the weights are all 0")
        return weights


def _named(item: ScoreItem) -> list[str]:
    """The ways in which the item says how it is judged. It may have one, or none."""
    return [name for name in ("verifier", "recipe", "checks") if _is_given(getattr(item, name))]


def _label_hint(reference: Any) -> str:
    if not isinstance(reference, dict):
        return ""
    if untried := data_sets.known().untried(reference):
        return f". Rows of {untried} do not say how they are judged: name the verifier, and send its reference alone"
    alike = data_sets.known().alike(reference)
    if not alike:
        lacking = data_sets.known().lacking(reference)
        return f". The row has columns of {lacking[0]}, but lacks {', '.join(lacking[1])}; add them" if lacking else ""
    return f". The columns are those of {', '.join(alike[:5])}, but not of it alone: set data_source to its name"


def _given(item: ScoreItem, reference: bytes) -> Given:
    def held(name: str) -> Any:
        raw = bytes(getattr(item, name))
        value = decoded(raw, name) if raw else None
        return ABSENT if value is None else value

    truth = held("ground_truth")
    if reference and truth is not ABSENT:
        raise InvalidItem("ambiguous", "the item has a reference and a ground_truth; it must have one")
    cases = held("test_cases")
    return Given(
        decoded(reference, "reference") if reference else truth,
        tests_of(None if cases is ABSENT else cases, item.case_type, item.test_case_function),
        held("evaluation_criteria"),
    )


def _filled(recipe: Recipe, source: Given, params: Mapping[str, Any]) -> list[Filled]:
    """Each check with the parameters of the recipe, overridden by those of the item.

    A parameter of the item goes to the check of that name if its value is an object. Otherwise it goes to every check
    that has such a parameter.
    """
    names = {check.name for check in recipe.checks}
    by_check = {name: value for name, value in params.items() if name in names and isinstance(value, dict)}
    shared = {name: value for name, value in params.items() if name not in by_check}
    used: set[str] = set()
    filled = []
    for check in recipe.checks:
        accepted = check.entry.verifier.params.model_fields
        mine = {name: value for name, value in shared.items() if name in accepted}
        used |= mine.keys()
        criteria = {"criteria": source.criteria} if "criteria" in accepted and source.criteria is not ABSENT else {}
        fields = {**check.params, **criteria, **mine, **by_check.get(check.name, {})}
        if "reference" in fields:
            raise InvalidItem("bad_params", "params: the reference belongs beside params, not in it")
        reference = source.reference_for(check)
        if reference is not ABSENT and ("reference" in accepted or check.reference is not None):
            fields["reference"] = reference
        filled.append(Filled(check, fields))
    unknown = sorted(shared.keys() - used)
    if unknown:
        accepted_names = (name for check in recipe.checks for name in check.entry.verifier.params.model_fields)
        hint = near(unknown[0], accepted_names)
        raise InvalidItem("bad_params", f"params: no check of {sorted(names)} takes {unknown[:10]}{hint}")
    return filled


def _clip_of(item: ScoreItem) -> Clip | None:
    raw = bytes(item.reward_clip)
    if not raw:
        return None
    value = decoded(raw, "reward_clip")
    try:
        clip = _clip.validate_python(value)
    except ValidationError as error:
        line = sentences(error, value, root="reward_clip")[0]
        raise InvalidItem("bad_reward_clip", f"a number above 0 or [low, high]: {line}") from error
    if isinstance(clip, tuple) and clip[0] > clip[1]:
        raise InvalidItem("bad_reward_clip", f"reward_clip: {clip[0]:g} is above {clip[1]:g}")
    return built_clip(clip)


def _is_given(value: str | Raw | None) -> bool:
    if isinstance(value, Raw):
        return bytes(value) not in (b"", b"null")
    return value is not None
