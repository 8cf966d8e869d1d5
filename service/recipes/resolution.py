"""Turns written recipes into recipes that are ready for use, and gathers all their mistakes."""

import dataclasses
from collections.abc import Mapping

from pydantic import ValidationError

from service.recipes.files import BadRecipes
from service.recipes.model import CheckSpec, RecipeSpec, built_clip
from service.recipes.recipe import Check, Gate, Recipe
from service.recipes.reward_shaping import PLAIN, Scale
from verifiers import shapes
from verifiers.near_names import near
from verifiers.registry import Registry


def of_checks(registry: Registry, spec: RecipeSpec, recipes: Mapping[str, Recipe]) -> Recipe:
    """The composition that an item writes itself. `recipes` holds the recipes that it may name.

    Raises:
        BadRecipes: the composition cannot work.
    """
    problems: list[str] = []
    recipe = Resolver(registry, {}, problems, dict(recipes)).built(None, spec, "checks", ())
    if recipe is None or problems:
        raise BadRecipes(problems)
    return recipe


class Resolver:
    """Builds each written recipe once, and gathers mistakes."""

    def __init__(
        self,
        registry: Registry,
        specs: Mapping[str, tuple[str, RecipeSpec]],
        problems: list[str],
        finished: dict[str, Recipe],
    ) -> None:
        self._registry = registry
        self._specs = specs
        self._problems = problems
        self.done = finished

    def missing(self, spec: RecipeSpec, chain: tuple[str, ...]) -> str | None:
        """The name of a verifier that this recipe needs and that is not installed, or None."""
        for check in spec.checks:
            if check.verifier is not None and check.verifier not in self._registry:
                return check.verifier
            if check.recipe is not None and check.recipe in self._specs and check.recipe not in chain:
                missing_name = self.missing(self._specs[check.recipe][1], (*chain, check.recipe))
                if missing_name is not None:
                    return missing_name
        return None

    def recipe(self, name: str, chain: tuple[str, ...]) -> Recipe | None:
        if name in self.done:
            return self.done[name]
        if name not in self._specs or name in chain:
            return None
        origin, spec = self._specs[name]
        built = self.built(name, spec, origin, (*chain, name))
        if built is not None:
            self.done[name] = built
        return built

    def built(self, name: str | None, spec: RecipeSpec, origin: str, chain: tuple[str, ...]) -> Recipe | None:
        path = f"{origin}: recipes.{name}" if name is not None else origin
        order = {check.label: index for index, check in enumerate(spec.checks)}
        checks = [self._check(check, f"{path}.checks.{at}", order, chain) for at, check in enumerate(spec.checks)]
        if None in checks:
            return None
        line = spec.scale
        default = "aggregate" if spec.aggregate == "max" else spec.checks[0].label
        score = spec.score or default
        built = Recipe(
            name,
            tuple(check for check in checks if check is not None),
            spec.aggregate,
            Scale(line.wrong, line.correct) if line is not None else PLAIN,
            built_clip(spec.clip),
            None if score == "aggregate" else order[score],
            spec.partial,
            {} if spec.group is None else spec.group.model_dump(exclude_unset=True),
            spec.about,
            origin,
            spec.watch,
        )
        if spec.watch is not None and spec.watch.shadow is not None:
            self._check(spec.watch.shadow, f"{path}.watch.shadow", {}, chain)
        if built.score is None and not _stays_in_unit(built):
            self._problems.append(f"{path}: score: the aggregated value may leave [0, 1]; name the check to take")
            return None
        return built

    def _check(self, spec: CheckSpec, path: str, order: Mapping[str, int], chain: tuple[str, ...]) -> Check | None:
        base = self._base(spec, path, chain)
        if base is None:
            return None
        scale = base.scale
        if spec.scale is not None:
            scale = spec.scale.built()
        elif spec.penalty is not None:
            scale = Scale(-spec.penalty, 0.0)
        check = dataclasses.replace(
            base,
            name=spec.label,
            params={**base.params, **spec.params},
            reference=spec.reference or base.reference,
            weight=1.0 if spec.weight is None else spec.weight,
            scale=scale,
            clip=built_clip(spec.clip) or base.clip,
            gate=Gate(order[spec.gate.after], spec.gate) if spec.gate is not None else None,
            skipped=None if spec.skipped == "drop" else spec.skipped,
        )
        wrong = _wrong_params(check)
        self._problems += [f"{path}.params.{line}" for line in wrong]
        return None if wrong else check

    def _base(self, spec: CheckSpec, path: str, chain: tuple[str, ...]) -> Check | None:
        if spec.verifier is not None:
            entry = self._registry.get(spec.verifier)
            if entry is None:
                self._problems.append(f"{path}: no verifier {spec.verifier!r}{near(spec.verifier, self._registry)}")
                return None
            return Check(spec.label, entry)
        assert spec.recipe is not None
        if spec.recipe in chain:
            self._problems.append(f"{path}: recipe {spec.recipe!r} contains itself")
            return None
        base = self.recipe(spec.recipe, chain)
        if base is None:
            names = {*self._specs, *self.done}
            if spec.recipe not in names:
                self._problems.append(f"{path}: no recipe {spec.recipe!r}{near(spec.recipe, names)}")
            return None
        if len(base.checks) > 1 or base.scale != PLAIN or base.clip is not None:
            self._problems.append(
                f"{path}: recipe {spec.recipe!r} is more than one check with its scale: write its checks here instead"
            )
            return None
        return base.checks[0]


_MOST_SHOWN = 20
"""Unknown parameters of a check that are named. To find what each may stand for takes long."""


def _wrong_params(check: Check) -> list[str]:
    """The mistakes in fixed parameters, as far as they can be found without the parameters of an item."""
    model = check.entry.verifier.params
    unknown = [name for name in check.params if name not in model.model_fields or name == "reference"]
    if unknown:
        param_names = [name for name in model.model_fields if name != "reference"]
        return [
            f"{name}: {check.entry.verifier.name} has no such parameter{near(name, param_names)}"
            for name in unknown[:_MOST_SHOWN]
        ]
    try:
        shapes.typed(model, check.params)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)
        return [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in problems
            if problem["type"] != "missing" and problem["loc"] and problem["loc"][0] in check.params
        ]
    return []


def _stays_in_unit(recipe: Recipe) -> bool:
    """Whether the aggregated value is always a score, whatever the checks say."""
    if recipe.aggregate in ("weighted_sum", "additive"):
        return False
    scales = (recipe.scale, *(check.scale for check in recipe.checks))
    values = [value for scale in scales for value in (scale.wrong, scale.correct, *scale.reasons.values())]
    values += [check.skipped for check in recipe.checks if check.skipped is not None]
    return all(0.0 <= value <= 1.0 for value in values)
