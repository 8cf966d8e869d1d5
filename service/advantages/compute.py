"""Computes the answer to a request for advantages.

Trouble stays where it is: a group that makes no sense is `invalid`, with a message, and the other groups are not
affected. A few groups are computed at a time, so that the event loop is never held for long.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from service.advantages import formulas
from service.advantages.formulas import PRESETS, Baseline, Filters, Formula, Group
from service.advantages.schemas import (
    AdvantagesResponse,
    AdvantagesSummary,
    Between,
    FilterOptions,
    FormulaUsed,
    GroupAdvantages,
    Options,
    RewardGroup,
)
from verifiers.pace import Pace


class BadGroup(Exception):
    """The group makes no sense. The message says what to change."""


async def compute_advantages(groups: Sequence[RewardGroup], options: Options) -> AdvantagesResponse:
    """The answer for every group, in order."""
    names = sorted({name for group in groups for name in group.components})
    formula, filters = _formula(options, names), _filters(options.filters)
    pace = Pace()
    baselines: list[Baseline] = []
    messages: dict[int, str] = {}
    for position, reward_group in enumerate(groups):
        try:
            baselines.append(formulas.baseline(_prepare(reward_group, names, options, formula), formula, filters))
        except BadGroup as error:
            baselines.append(Baseline(Group([None] * group_size(reward_group)), "invalid"))
            messages[position] = str(error)
        await pace.keep()
    batch = formulas.batch(baselines, formula)
    answers: list[GroupAdvantages] = []
    for position, (reward_group, group) in enumerate(zip(groups, baselines, strict=True)):
        answers.append(
            GroupAdvantages(
                position if reward_group.id is None else reward_group.id,
                group.reason == "kept",
                group.reason,
                messages.get(position, ""),
                formulas.advantages(group, batch, formula, filters),
                len(group.usable),
                group.mean,
                group.std,
                list(group.group.rewards),
            )
        )
        await pace.keep()
    used = FormulaUsed(
        formula.method, formula.scale, formula.std, formula.eps, formula.clip, formula.partial, formula.k
    )
    reasons = Counter[str](group.reason for group in baselines)
    summary = AdvantagesSummary(len(groups), sum(map(group_size, groups)), reasons["kept"], dict(reasons))
    return AdvantagesResponse(answers, used, summary)


def group_size(group: RewardGroup) -> int:
    """The number of answers in the group."""
    return max(len(group.rewards), *map(len, group.components.values()), 0)


def _formula(options: Options, names: Sequence[str]) -> Formula:
    preset = PRESETS[options.preset] if options.preset else Formula()
    weights = [options.weights.get(name, 1.0) for name in names] or [1.0]
    if options.length_reward is not None:
        weights.append(options.length_reward.weight)
    return Formula(
        options.method or preset.method,
        options.scale or preset.scale,
        options.std or preset.std,
        options.eps or preset.eps,
        preset.clip if options.clip is msgspec.UNSET else options.clip,
        preset.partial if options.partial is None else options.partial,
        preset.by_tokens,
        weights,
        options.k,
    )


def _filters(options: FilterOptions) -> Filters:
    mean = options.mean or Between()
    return Filters(mean.low, mean.high, options.std.min if options.std else None, options.overlong)


def _prepare(group: RewardGroup, names: Sequence[str], options: Options, formula: Formula) -> Group:
    """The group in the form for the formulas. `names` holds the names of all components in the order of the weights."""
    _check(group, names, options, formula)
    statuses = group.statuses or ["ok"] * group_size(group)
    lists = [group.components[name] for name in names] or [group.rewards]
    components = [_judged(rewards, statuses) for rewards in lists]
    rewards = formulas.weigh(components, formula.weights[: len(components)], partial=formula.partial)
    scores = _judged(group.scores, statuses) if group.scores is not None else rewards
    if any(score is None and reward is not None for score, reward in zip(scores, rewards, strict=True)):
        raise BadGroup("scores: an answer with a reward has no score")
    if options.length_reward is not None:
        right = [None if score is None else score >= options.length_reward.right_from for score in scores]
        components.append(formulas.kimi_rewards(group.lengths or [], right))
        rewards = formulas.weigh(components, formula.weights, partial=formula.partial)
    return Group(rewards, scores, components, _cut_off(group), group.lengths)


def _judged(rewards: Sequence[float | None], statuses: Sequence[str]) -> list[float | None]:
    return [reward if status == "ok" else None for reward, status in zip(rewards, statuses, strict=True)]


def _cut_off(group: RewardGroup) -> list[bool] | None:
    if group.truncated is not None:
        return group.truncated
    if group.lengths is None or group.max_length is None:
        return None
    return [length >= group.max_length for length in group.lengths]


def _check(group: RewardGroup, names: Sequence[str], options: Options, formula: Formula) -> None:
    """Raise `BadGroup` for mistakes that the types of a request cannot rule out."""
    if group.rewards and group.components:
        raise BadGroup("a group has rewards or components, not both")
    if sorted(group.components) != list(names):
        raise BadGroup(f"all groups must have the same components; there are {names}, here {sorted(group.components)}")
    if unknown := sorted(options.weights.keys() - set(names)):
        raise BadGroup(f"weights: no group has the components {unknown}; there are {names}")
    lists = {"scores": group.scores, "statuses": group.statuses, "lengths": group.lengths, "truncated": group.truncated}
    for name, values in {**group.components, **lists}.items():
        if values is not None and len(values) != group_size(group):
            raise BadGroup(f"{name}: expected one entry for each of {group_size(group)} answers, found {len(values)}")
    if options.filters.overlong and _cut_off(group) is None:
        raise BadGroup("filters.overlong needs truncated, or lengths and max_length")
    if options.length_reward is not None and group.lengths is None:
        raise BadGroup("length_reward needs lengths")
    if formula.method == "gdpo" and formula.by_tokens and not (group.lengths and min(group.lengths) >= 1):
        raise BadGroup("gdpo of this preset counts tokens: lengths are needed, each at least 1")
