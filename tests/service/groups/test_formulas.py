"""The formulas of groups against others written from the trainers' own code, and against their definitions."""

import itertools
import math
import random
import re
import statistics
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.advantages import max_at_k
from service.advantages.schemas import LengthReward
from service.groups import pairings, ratings, terms
from service.groups.classes import Partition
from service.groups.embeddings import unlikeness
from service.groups.majority import decide, entropy, result_of
from service.groups.ratings import Game
from service.groups.schemas import Group, Majority, Terms, Tournament
from service.groups.tournament import Contest
from tests.benchmarks.group_speed import correlation
from tests.service.advantages.test_advantages import of
from tests.tables import table

rewards = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(-10, 10).map(lambda value: round(value, 2))


def mean_of_maxima(values: list[float], k: int) -> float:
    return statistics.fmean(max(some) for some in itertools.combinations(values, k))


@given(st.lists(rewards, min_size=2, max_size=8), st.integers(1, 8))
def test_the_expected_maximum_is_the_mean_over_all_subsets(values: list[float], k: int) -> None:
    k = min(k, len(values))
    assert max_at_k.expected(values, k) == pytest.approx(mean_of_maxima(values, k), abs=1e-9)


@given(st.lists(rewards, min_size=3, max_size=8), st.integers(2, 7))
def test_leaving_one_out_is_what_its_definition_says(values: list[float], k: int) -> None:
    k = min(k, len(values) - 1)
    for at, found in enumerate(max_at_k.loo(values, k)):
        others = values[:at] + values[at + 1 :]
        assert found == pytest.approx(mean_of_maxima(values, k) - mean_of_maxima(others, k), abs=1e-9)


@given(st.lists(rewards, min_size=2, max_size=8), st.integers(2, 8))
def test_what_one_adds_to_the_subsets_that_hold_it(values: list[float], k: int) -> None:
    k = min(k, len(values))
    subsets = list(itertools.combinations(range(len(values)), k))
    for at, found in enumerate(max_at_k.loo1(values, k)):
        gains = [
            max(values[each] for each in some) - max(values[each] for each in some if each != at)
            for some in subsets
            if at in some
        ]
        assert found == pytest.approx(math.fsum(gains) / len(subsets), abs=1e-9)


def test_pass_at_k_is_the_usual_estimate() -> None:
    """1 - C(n - c, k) / C(n, k), as in arXiv 2107.03374."""
    for right in range(11):
        values = [1.0] * right + [0.0] * (10 - right)
        for k in (1, 3, 10):
            usual = 1 - math.comb(10 - right, k) / math.comb(10, k)
            assert max_at_k.expected(values, k) == pytest.approx(usual)


@given(st.lists(rewards, min_size=2, max_size=8), st.booleans())
def test_grpo_passk_of_verl(values: list[float], scaled: bool) -> None:
    """`compute_grpo_passk_outcome_advantage` of verl 0.9.1: the lead of the best, over deviation and 1e-6."""
    found = of(values, {"preset": "verl", "method": "grpo_passk", **({} if scaled else {"scale": "none"})}).advantages
    ordered = sorted(values, reverse=True)
    lead = (ordered[0] - ordered[1]) / (statistics.stdev(values) + 1e-6 if scaled else 1)
    expected = [lead if value == ordered[0] else 0.0 for value in values]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@table(("method", "fewest"), [("maxk_loo", 4), ("maxk_loo1", 3), ("grpo_passk", 2)])
def test_a_group_that_is_too_small_has_no_advantages(method: str, fewest: int) -> None:
    options = {"method": method, "k": 3}
    assert of([1.0] + [0.0] * (fewest - 2), options).reason == "too_few_rewards"
    kept = of([1.0, *[0.0] * (fewest - 1), None], options)
    assert kept.reason == "kept"
    assert kept.advantages[-1] is None
    assert kept.advantages[0] is not None
    assert kept.advantages[0] > 0


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=9))
def test_relative_terms_favour_the_least_and_add_up_to_nothing(values: list[float]) -> None:
    found = terms.relative(values)
    assert math.fsum(found) == pytest.approx(0, abs=1e-9)
    assert found[values.index(min(values))] == max(found)
    if min(values) < max(values):
        assert max(found) - min(found) == pytest.approx(1)


def by_expressions(text: str) -> float:
    """Style as Arena-Hard counts it, by expressions over the whole text, which may take quadratic time."""
    plain = re.sub(r"```[\s\S]*?```", "", text)
    counted = [
        r"(?m)^#{1,6}\s",
        r"(?m)^\s*\d+\.\s",
        r"(?m)^\s*[-*+]\s",
        r"\*\*[^*\n]+\*\*",
        r"__[^_\n]+__",
        "[\U0001f600-\U0001f64f]",
    ]
    chars = len(plain.strip())
    return sum(len(re.findall(each, plain)) for each in counted) / chars if chars else 0.0


PIECES = (
    "# head\n", "## h2 \n", " - item\n", "1. one\n", "12.\n", "**bold** ", "__under__ ", "\U0001f600", "```py\n- x\n```", "plain words ",
    "\n\n", "  * s\r\n", "**not\nbold**", "```", "#nohead\n", "+ p", "1.",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_style_is_counted_as_arena_hard_does(text: str) -> None:
    assert terms.style_density(text) == pytest.approx(by_expressions(text), abs=1e-12)


def test_terms_of_a_group() -> None:
    texts = [terms.Text.of(text) for text in ("<think>long thought</think>x", "<think>t</think>**x** is it", "x")]
    wanted = Terms(length=1, reasoning_length=1, answer_length=2, style=1, kimi=LengthReward(0.5))
    found = terms.added([1.0, 0.0, 1.0], texts, [30, 20, 10], wanted)
    assert [each["length"] for each in found] == pytest.approx([-0.5, 0, 0.5])
    assert [each["answer_length"] for each in found] == pytest.approx([2 / 3, -4 / 3, 2 / 3])
    assert found[1]["style"] == min(each["style"] for each in found)
    assert found[2]["reasoning_length"] == max(each["reasoning_length"] for each in found)
    assert [each["kimi"] for each in found] == pytest.approx([-0.25, 0, 0.25])
    assert terms.added([1.0], texts[:1], None, wanted)[0] == {"kimi": 0.0}


def test_novelty_and_distinctness() -> None:
    assert terms.novelty(["a b c d", "a b c e", "A B C D"], 4) == [0.0, 1.0, 0.0]
    assert terms.novelty(["a b", "", "c"], 4) == [1.0, 0.0, 1.0]
    assert terms.distinctness([0, 0, 1, None]) == pytest.approx([2 / 3, 2 / 3, 1.0, 1.0])
    assert terms.distinctness([0]) == terms.novelty(["a"], 4) == [1.0]


@table(
    ("vectors", "expected"),
    [
        ([[3.0, 4.0]], [1.0]),
        ([[0.0, 1.0], [0.0, 2.0]], [0.0, 0.0]),
        ([[1e308, 1e308], [0.0, 1.0]], [1 - 0.5**0.5] * 2),
        ([[1e308] * 4, [1.0, 0.0, 0.0, 0.0]], [0.5, 0.5]),
        ([[1e-308, 1e-308], [0.0, 1e-320]], [1 - 0.5**0.5] * 2),
        ([[1.0, 0.0], [-1.0, 0.0]], [1.0, 1.0]),
    ],
)
def test_unlikeness_is_that_of_directions(vectors: list[list[float]], expected: list[float]) -> None:
    assert unlikeness(vectors) == pytest.approx(expected, abs=1e-9)


@table(
    ("rating", "value", "expected"),
    [
        ("win_loss", -1.0, 0.0),
        ("win_loss", 0.0, 0.5),
        ("points", 0.25, 0.25),
        ("bradley_terry", 0.0, 0.5),
        ("bradley_terry", math.log(3), 0.75),
        ("elo", 400.0, 10 / 11),
        ("scores", 1.0, 0.0),
        ("scores", 3.0, 0.5),
        ("scores", 7.5, 1.0),
    ],
)
def test_a_rating_is_a_score_from_0_to_1(rating: Any, value: float, expected: float) -> None:
    assert ratings.as_score(rating, value) == pytest.approx(expected)


@table(
    ("sizes", "unknown", "count", "options", "winner", "reason"),
    [
        ([3, 1], 0, 4, {}, 0, "majority"),
        ([2, 2], 0, 4, {}, None, "no_majority"),
        ([2, 2], 0, 4, {"on_tie": "first"}, 0, "majority"),
        ([2, 2], 1, 5, {"on_tie": "first"}, None, "undecided"),
        ([3, 1], 1, 5, {}, 0, "majority"),
        ([3, 1], 2, 6, {}, None, "undecided"),
        ([3], 0, 6, {"min_share": 0.5}, 0, "majority"),
        ([3], 0, 7, {"min_share": 0.5}, None, "no_majority"),
        ([3], 1, 7, {"min_share": 0.5}, None, "undecided"),
        ([3], 1, 9, {"min_share": 0.5}, None, "no_majority"),
        ([], 0, 3, {}, None, "no_answers"),
        ([], 3, 3, {}, None, "undecided"),
    ],
)
def test_a_majority_is_one_whatever_the_unknown_say(
    sizes: list[int], unknown: int, count: int, options: Any, winner: int | None, reason: str
) -> None:
    found = decide(sizes, unknown, count, Majority(**options))
    assert (found.winner, found.reason) == (winner, reason)


def test_entropy() -> None:
    assert entropy([2, 2]) == pytest.approx(math.log(2))
    assert entropy([4]) == 0.0
    assert entropy([]) == 0.0


def test_pairs() -> None:
    assert pairings.fixed("circular", 4) == [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert pairings.fixed("circular", 2) == [(0, 1), (1, 0)]
    assert pairings.fixed("all", 3) == [(0, 1), (0, 2), (1, 2)]
    assert pairings.fixed("all", 5, chunk=2) == [(0, 1), (2, 3), (2, 4), (3, 4)]
    assert pairings.fixed("all", 1, chunk=2) == []
    assert pairings.fixed("baseline", 3, baseline=1) == [(0, 1), (2, 1)]
    for count in range(2, 20):
        for pairing in ("circular", "all"):
            games = pairings.turned(pairings.fixed(pairing, count))
            leads = [sum((first == at) - (second == at) for first, second in games) for at in range(count)]
            assert max(map(abs, leads)) <= (pairing == "all" and count % 2 == 0)


@given(st.integers(3, 20), st.randoms(use_true_random=False))
def test_swiss_rounds_never_repeat_a_pair_and_byes_go_round(count: int, chance: random.Random) -> None:
    points, met, byes = [0.0] * count, set[frozenset[int]](), [0] * count
    for number in range(pairings.usual_rounds(count)):
        pairs = pairings.swiss_round(points, met, number)
        idle = set(range(count)).difference(*pairs)
        assert (len(pairs), len(idle)) == (count // 2, count % 2)
        assert met.isdisjoint(map(frozenset, pairs))
        met.update(map(frozenset, pairs))
        for pair in pairs:
            points[chance.choice(pair)] += 1
        for at in idle:
            byes[at] += 1
        assert max(byes) - min(byes) <= 1


@given(st.integers(4, 20), st.randoms(use_true_random=False))
def test_rounds_beyond_the_usual_have_halves_and_no_more_games(count: int, chance: random.Random) -> None:
    texts = [str(at) for at in range(count)]
    usual = pairings.usual_rounds(count)
    contest = Contest(Group(responses=list(texts)), texts, Tournament(pairs="swiss", rounds=usual + 1))
    rounds = 0
    while not contest.is_over:
        pairs = contest.next_pairs()
        flat = [at for pair in pairs for at in pair]
        assert len(flat) == len(set(flat))
        contest.games += [Game(*pair, float(chance.random() < 0.5)) for pair in pairs]
        rounds += 1
    assert rounds == usual + 2
    assert len({frozenset((game.first, game.second)) for game in contest.games}) == len(contest.games)
    assert len(contest.games) <= (usual + 1) * (count // 2)


def test_nobody_is_mostly_shown_first_in_swiss_rounds() -> None:
    for count in range(4, 14):
        texts = [str(at) for at in range(count)]
        contest = Contest(Group(responses=list(texts)), texts, Tournament(pairs="swiss"))
        leads = [0] * count
        while not contest.is_over:
            for first, second in contest.next_pairs():
                leads[first] += 1
                leads[second] -= 1
        assert max(map(abs, leads)) <= 2


@pytest.mark.contract
@pytest.mark.parametrize("errs", [0.0, 0.1])
def test_a_swiss_tournament_orders_as_all_pairs_do_with_two_fifths_of_the_calls(errs: float) -> None:
    """Of sixteen responses, with a judge that errs in so many pairs."""
    outcome = correlation(random.Random(53), 200, 6, errs)
    assert outcome["share of calls"] <= 0.4
    assert outcome["ratio"] >= 0.95


def test_games_beyond_the_rounds_are_where_results_conflict() -> None:
    """That 5 beats 3 contradicts 4, who beats 5; all others play as 0 > 1 > 2 > 3 > 4 > 5 says."""
    games = [*played([6, 5, 4, 3, 2, 1], [(0, 1), (1, 2), (2, 3), (4, 5), (0, 2)]), Game(3, 5, 0.0)]
    met = {frozenset((game.first, game.second)) for game in games}
    [pair] = pairings.conflict_round(6, games, met, 1)
    assert not {3, 5}.isdisjoint(pair)


def played(strengths: list[float], pairs: list[tuple[int, int]]) -> list[Game]:
    return [Game(first, second, float(strengths[first] > strengths[second])) for first, second in pairs]


@table("rating", ["win_loss", "points", "bradley_terry", "elo"])
def test_ratings_find_the_order(rating: Any) -> None:
    strengths = [3.0, 1.0, 4.0, 2.0]
    found = ratings.rate(rating, 5, played(strengths, pairings.fixed("all", 4)))
    assert found[4] is None
    known = [value for value in found if value is not None]
    assert sorted(range(4), key=known.__getitem__) == [1, 3, 0, 2]
    assert all(map(math.isfinite, known))


def test_win_minus_loss() -> None:
    games = [Game(0, 1, 1.0), Game(0, 2, 0.5), Game(2, 1, 0.0)]
    assert ratings.rate("win_loss", 3, games) == pytest.approx([0.5, 0.0, -0.5])
    assert ratings.rate("points", 3, games) == pytest.approx([0.75, 0.5, 0.25])


def test_bradley_terry_is_the_maximum_of_its_likelihood() -> None:
    """By the definition: no small step of any strength raises the likelihood of the games and of the prior's ties."""
    games = [Game(0, 1, 1.0), Game(0, 1, 0.0), Game(0, 1, 1.0), Game(1, 2, 1.0), Game(0, 2, 0.5)]
    found = ratings.bradley_terry(3, games)

    def likelihood(logits: list[float], shift: float) -> float:
        total = 0.0
        for game in games:
            share = 1 / (1 + math.exp(logits[game.second] - logits[game.first]))
            total += game.result * math.log(share) + (1 - game.result) * math.log(1 - share)
        for logit in logits:
            share = 1 / (1 + math.exp(shift - logit))
            total += math.log(share) + math.log(1 - share)
        return total

    shift = max((shift / 1000 for shift in range(-2000, 2000)), key=lambda shift: likelihood(found, shift))
    for at in range(3):
        for step in (-0.01, 0.01):
            moved = [logit + step * (each == at) for each, logit in enumerate(found)]
            assert likelihood(moved, shift) < likelihood(found, shift)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6)), min_size=4, max_size=4),
)
def test_scores_of_genrm_compare(given_scores: list[tuple[int, int, int]]) -> None:
    """`aggregate_scores` of NeMo-Gym's genrm_compare (Apache-2.0), with its tie-break, over a circle of four."""
    pairs = pairings.fixed("circular", 4)
    sums = [0.0] * 4
    for (first, second), (one, two, ranking) in zip(pairs, given_scores, strict=True):
        boost = 3.5 - ranking if one == two else 0.0
        sums[first] += one + boost
        sums[second] += two - boost
    games = [
        Game(*pair, 0.5, (float(one), float(two)), float(ranking))
        for pair, (one, two, ranking) in zip(pairs, given_scores, strict=True)
    ]
    assert ratings.rate("scores", 4, games) == pytest.approx([value / 2 for value in sums])


def partitioned(answers: Sequence[str], are_equal: Callable[[str, str], bool]) -> tuple[Partition, int]:
    """The classes of answers by an equality, and the number of comparisons."""

    def verdict(score: float) -> Any:
        return SimpleNamespace(status="ok", score=score, reason="", extracted="", detail={})

    partition = Partition(Group(responses=[*answers]), [*answers], [verdict(0.0)] * len(answers))
    partition.begin({answer: answer for answer in answers}, {})
    asked = 0
    while pairs := partition.pairs():
        asked += len(pairs)
        partition.take({pair: verdict(float(len({*pair}) == 1 or are_equal(*pair))) for pair in pairs})
    partition.finish()
    return partition, asked


def voted(answers: Sequence[str], equal: set[frozenset[str]]) -> list[float | None]:
    """The rewards by majority, where these pairs of answers are equal."""
    partition, _ = partitioned(answers, lambda first, second: frozenset((first, second)) in equal)
    return [member.reward for member in result_of(partition, 0, Majority(), 0).members]


@pytest.mark.parametrize(("different", "expected"), [(1, "majority"), (8, "no_majority"), (128, "undecided")])
def test_comparisons_are_bounded(different: int, expected: str) -> None:
    """Of 128 responses that are all written otherwise, and give so many answers that are equally frequent."""
    answers = [f"{number:03}" for number in range(128)]
    partition, asked = partitioned(answers, lambda first, second: int(first) % different == int(second) % different)
    assert asked <= 12 * 128
    assert result_of(partition, 0, Majority(), 0).reason == expected


def test_only_a_majority_that_equals_no_other_answer_is_compared_with_itself() -> None:
    assert [partitioned("aab", lambda *_, same=same: same)[1] for same in (True, False)] == [1, 2]


def test_any_equality_makes_the_same_of_any_order_and_pays_only_equals() -> None:
    chance = random.Random(53)
    for _ in range(300):
        names = "abcdefg"[: chance.randint(1, 7)]
        pairs = map(frozenset, itertools.combinations(names, 2))
        share = chance.random()
        equal = {pair for pair in pairs if chance.random() < share}
        answers = [chance.choice(names) for _ in range(12)]
        paid = voted(answers, equal)
        order = chance.sample(range(12), 12)
        assert voted([answers[at] for at in order], equal) == [paid[at] for at in order], (answers, equal)
        right = {answer for answer, reward in zip(answers, paid, strict=True) if reward}
        assert all(frozenset(pair) in equal for pair in itertools.combinations(right, 2))
