"""Makes one reward from the verdicts of an item with several checks.

Each part is judged like an item of its own: shared, cached and queued separately. A part with a gate begins when the
check before it has opened the gate, or at once if it can judge no response. The item is answered when all parts are judged, or at the first part that is
invalid or failed: no judgement, no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.cache.cached_verdict import CachedVerdict
from service.recipes.recipe import Check, Gate, Recipe
from service.recipes.reward_shaping import Clip, Term, aggregate
from service.scoring.prepared_item import ConfiguredVerifier, PreparedItem
from verifiers.base import Status, Verdict


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe with the reference and parameters of an item. Items that have these in common share the plan."""

    recipe: Recipe
    verifiers: tuple[ConfiguredVerifier, ...]
    """One entry for each check."""
    weights: tuple[float, ...]
    clip: Clip | None


@dataclass(frozen=True, slots=True)
class Composed:
    """An item that is ready to be judged: each check of its plan with the response of the item."""

    plan: Plan
    parts: tuple[PreparedItem, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an item with several checks."""

    verdict: Verdict
    """The verdict of the item, with the score that its recipe takes."""
    reward: float | None
    configured: ConfiguredVerifier
    """The check that gives the item its reason."""
    cached: bool


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The place of the verdict of one check."""

    item: "Composition"
    position: int

    @property
    def prepared(self) -> PreparedItem:
        return self.item.composed.parts[self.position]


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict | CachedVerdict
    cached: bool


class Composition:
    """The state of one item of several checks."""

    __slots__ = ("_judged", "_missing", "_open", "_skipped", "composed", "index", "outcome")

    def __init__(self, index: int, composed: Composed) -> None:
        """
        Args:
            index: The item's place in its batch.
            composed: What is to be judged.
        """
        self.index = index
        self.composed = composed
        self.outcome: Outcome | None = None
        """None until the outcome is known."""
        checks = composed.plan.recipe.checks
        self._judged: list[_Judged | None] = [None] * len(checks)
        self._skipped: set[int] = set()
        self._missing: set[int] = set()
        self._open = len(checks)

    def first(self) -> list[Part]:
        """The parts without a gate, and those that judge no response. They begin at once."""
        return [Part(self, at) for at in range(len(self._checks)) if self._gate(at) is None]

    def take(self, position: int, verdict: Verdict | CachedVerdict, *, cached: bool) -> list[Part]:
        """Note the verdict of one part. Returns the parts that can begin now. Sets `outcome` when everything is
        known.
        """
        if self.outcome is not None:
            return []
        self._judged[position] = _Judged(verdict, cached)
        self._open -= 1
        if verdict.score is None:
            assert isinstance(verdict, Verdict)
            if verdict.status is Status.INVALID or not self._recipe.partial or position == self._recipe.score:
                self.outcome = self._trouble(position, verdict)
                return []
            self._missing.add(position)
        started = self._pass_gates(position)
        if self._recipe.score in self._missing:
            assert isinstance(verdict, Verdict)
            self.outcome = self._trouble(position, verdict)
            return []
        if not self._open:
            self.outcome = self._shaped()
        return started

    def checks_as_json(self) -> list[dict[str, Any]]:
        """The result of each check, for the caller."""
        return [self._check_as_json(at) for at in range(len(self._checks))]

    @property
    def _recipe(self) -> Recipe:
        return self.composed.plan.recipe

    @property
    def _checks(self) -> Sequence[Check]:
        return self._recipe.checks

    def _gate(self, at: int) -> Gate | None:
        """The gate before a check. A check that judges no response has none, or the response would decide whether its item
        is judged.
        """
        return None if self.composed.plan.verifiers[at].obstacle is not None else self._checks[at].gate

    def _pass_gates(self, position: int) -> list[Part]:
        """Begin or skip the checks that wait for this one. If this check has no verdict, the checks that wait for it
        have none either.
        """
        started: list[Part] = []
        for at in range(len(self._checks)):
            gate = self._gate(at)
            if gate is None or gate.on != position:
                continue
            judged = self._judged[position]
            score = judged.verdict.score if judged is not None else None
            if position in self._missing:
                self._missing.add(at)
            elif score is not None and gate.opens(score):
                started.append(Part(self, at))
                continue
            else:
                self._skipped.add(at)
            self._open -= 1
            started += self._pass_gates(at)
        return started

    def _trouble(self, position: int, verdict: Verdict) -> Outcome:
        check, configured = self._checks[position], self.composed.plan.verifiers[position]
        message = f"check {check.name}: {verdict.detail.get('message', verdict.reason)}"
        if verdict.status is Status.INVALID:
            return Outcome(Verdict.invalid(verdict.reason, message), None, configured, cached=False)
        detail = {name: value for name, value in verdict.detail.items() if name != "message"}
        return Outcome(Verdict.failed(verdict.reason, message, **detail), None, configured, cached=False)

    def _shaped(self) -> Outcome:
        recipe, plan = self._recipe, self.composed.plan
        values = [self._value(at) for at in range(len(self._checks))]
        weighed = [at for at, value in enumerate(values) if value is not None]
        terms = [Term(value, plan.weights[at]) for at, value in enumerate(values) if value is not None]
        decisive_at = recipe.score if recipe.score is not None else 0
        if not any(self._judged[at] is not None for at in weighed) or not _can_weigh(recipe, terms):
            verdict = Verdict.failed("checks_failed", "none of the checks that count could be judged")
            return Outcome(verdict, None, plan.verifiers[decisive_at], cached=False)
        total = aggregate(recipe.aggregate, terms)
        unclipped = recipe.scale.value(total, "")
        reward = unclipped
        for clip in (recipe.clip, plan.clip):
            reward = clip.apply(reward) if clip is not None else reward
        decisive = recipe.score
        if decisive is None:
            best = max if recipe.aggregate == "max" else min
            decisive = best(weighed, key=lambda at: values[at] or 0.0)
        source = self._judging(decisive)
        judged = self._judged[source]
        assert judged is not None
        score = total if recipe.score is None else self._score(recipe.score)
        detail = dict(judged.verdict.detail)
        if self._missing:
            detail["partial"] = [self._checks[at].name for at in sorted(self._missing)]
        if reward != unclipped:
            detail["clipped"] = True
        verdict = Verdict(Status.OK, min(max(score, 0.0), 1.0), judged.verdict.reason, judged.verdict.extracted, detail)
        cached = all(verdict_taken.cached for verdict_taken in self._judged if verdict_taken is not None)
        return Outcome(verdict, reward + 0.0, plan.verifiers[source], cached=cached)

    def _value(self, at: int) -> float | None:
        check, judged = self._checks[at], self._judged[at]
        if at in self._skipped:
            return check.skipped
        if judged is None or judged.verdict.score is None:
            return None
        value = check.scale.value(judged.verdict.score, judged.verdict.reason)
        return check.clip.apply(value) if check.clip is not None else value

    def _score(self, at: int) -> float:
        """The score that the recipe takes. It is 0 if a gate before the check stayed shut."""
        judged = self._judged[at]
        return judged.verdict.score or 0.0 if judged is not None else 0.0

    def _judging(self, at: int) -> int:
        """The check that gives the reason: the one at this place, or the one that kept it from running."""
        while self._judged[at] is None:
            gate = self._checks[at].gate
            assert gate is not None, "a check without a gate always runs"
            at = gate.on
        return at

    def _check_as_json(self, at: int) -> dict[str, Any]:
        check, judged = self._checks[at], self._judged[at]
        verifier = check.entry.verifier
        about: dict[str, Any] = {"name": check.name, "verifier": verifier.name, "version": verifier.version}
        if judged is None:
            shut = at in self._skipped
            return {**about, "status": "skipped", "score": None, "value": check.skipped if shut else None}
        verdict = judged.verdict
        return {
            **about,
            "status": "ok" if verdict.score is not None else verdict.status.value,
            "score": verdict.score,
            "value": self._value(at),
            "weight": self.composed.plan.weights[at],
            "reason": verdict.reason,
            "extracted": verdict.extracted,
            "detail": verdict.detail,
            "cached": judged.cached,
        }


def _can_weigh(recipe: Recipe, terms: Sequence[Term]) -> bool:
    return recipe.aggregate != "weighted_mean" or sum(term.weight for term in terms) > 0
