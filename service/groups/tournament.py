"""Comparisons of the responses of a group by judge models.

A comparison that gave no result is dropped and counted, and takes no part in any rating. A response without text, or one
whose thinking never ends, loses against every other without a question, and two such are equal.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from service.groups import pairings
from service.groups.pairings import Pair
from service.groups.ratings import BEST, RANKING, WORST, Game, as_score, levelled, rate
from service.groups.schemas import Group, GroupResult, Member, Tournament
from service.groups.shown import Shown, history
from service.scoring.engine import PASSING
from service.scoring.prepared_item import decoded_params
from service.wire import Result, ScoreItem, encode
from verifiers.base import InvalidItem
from verifiers.pace import Pace

Judge = Callable[[Sequence[ScoreItem]], Awaitable[Sequence[Result]]]
JUDGE: Final = "judge"
NO_GAME: Final = "no_comparison"
_MOST_EXPLAINED: Final = 64
_CIRCLES: Final = 3
"""Rounds of a circle that a refused response has torn: its own, one of those without a game, and one that closes it."""


@dataclass(slots=True)
class Contest:
    """The games of one group."""

    group: Group
    given: Sequence[str]
    """The final answer of each response."""
    options: Tournament
    seed: int | None = None
    unread: Collection[int] = ()
    """The positions of responses that nobody can compare."""
    params: dict[str, Any] = field(default_factory=dict)
    games: list[Game] = field(default_factory=list)
    faults: list[tuple[Pair, Result]] = field(default_factory=list)
    """The comparisons without a result."""
    inconsistent: int = 0
    """Comparisons whose two orders disagree."""
    asked: int = 0
    message: str = ""
    explained: list[dict[str, Any]] = field(default_factory=list)
    """What was asked about the first pairs, if the request says `explain`."""
    order: list[int] = field(init=False)
    """The positions of the responses, as they play. Games and pairs count places in this order."""
    texts: Sequence[str] = field(init=False)
    """The answers in that order."""
    _playing: list[int] = field(init=False)
    """The places that pairs are made of: those that can be read, and of the rating `scores` have a text."""
    _rounds: int = 0
    _last: int = field(init=False)
    """Rounds of the tournament. Those of a swiss one beyond the usual have two halves."""
    _met: set[frozenset[int]] = field(default_factory=set)
    _lead: Counter[int] = field(default_factory=Counter)
    """How much more often each was first in a pair than second."""

    def __post_init__(self) -> None:
        self.order = pairings.drawn(self.given, self.seed)
        self.texts = [self.given[at] for at in self.order]
        is_scored = self.options.rating == "scores"
        self._playing = [
            seat for seat, at in enumerate(self.order) if at not in self.unread and (self.given[at] or not is_scored)
        ]
        usual = pairings.usual_rounds(len(self._playing))
        rounds = self.options.rounds or usual
        self._last = max(rounds, 2 * rounds - usual) if self.options.pairs == "swiss" else 1

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to compare."""
        is_refused = bool(self.games) and not any(result.reason in PASSING for _, result in self.faults)
        is_torn = self._rounds == _CIRCLES - 1 or (self._rounds == 1 and is_refused and bool(self._alone()))
        rounds = _CIRCLES if self.options.pairs == "circular" and is_torn else self._last
        return bool(self.message) or len(self.texts) < pairings.FEWEST or self._rounds >= rounds

    def next_pairs(self) -> list[Pair]:
        """The pairs of the next round that a judge is asked about."""
        playing = self._playing
        if self._rounds and self.options.pairs == "circular":
            self._rounds += 1
            return [pair for pair in self._closing_pairs() if not self._is_decided(pair)]
        if self.options.pairs != "swiss":
            pairs = self._fixed_pairs()
        elif self._rounds < pairings.usual_rounds(len(playing)):
            points = self._points()
            pairs = pairings.swiss_round([points[seat] for seat in playing], self._met, self._rounds)
        else:
            pairs = self._conflicts()
        if self.options.pairs == "swiss":
            pairs = [
                (first, second) if self._lead[first] <= self._lead[second] else (second, first)
                for first, second in pairs
            ]
            self._lead.update(first for first, _ in pairs)
            self._lead.subtract(second for _, second in pairs)
        self._rounds += 1
        self._met.update(map(frozenset, pairs))
        pairs = [(playing[first], playing[second]) for first, second in pairs]
        return [pair for pair in pairs if not self._is_decided(pair)]

    def _conflicts(self) -> list[Pair]:
        """The pairs of half a round."""
        playing = self._playing
        place = {seat: at for at, seat in enumerate(playing)}
        games = [replace(game, first=place[game.first], second=place[game.second]) for game in self.games]
        open_games = (self.options.rounds or 0) * (len(playing) // 2) - len(self._met)
        return pairings.conflict_round(len(playing), games, self._met, open_games // (self._last - self._rounds))

    def _fixed_pairs(self) -> list[Pair]:
        options, playing = self.options, self._playing
        baseline = self.order.index(options.baseline) if options.pairs == "baseline" else playing[0] if playing else 0
        if baseline not in playing:
            return []
        at = playing.index(baseline)
        pairs = pairings.fixed(options.pairs, len(playing), chunk=options.chunk, baseline=at)
        pairs = pairs if options.pairs == "baseline" or self.seed is None else pairings.turned(pairs)
        if options.rating != "scores":  # of a circle of two, both pairs are one
            pairs = list({frozenset(pair): pair for pair in reversed(pairs)}.values())[::-1]
        return pairs

    def _alone(self) -> list[int]:
        """The places of those without a game."""
        played = {position for game in self.games for position in (game.first, game.second)}
        return [position for position in self._playing if position not in played]

    def _closing_pairs(self) -> list[Pair]:
        """Close a torn circle. Who has no game meets somebody else first; who then has none is left out. The games are those
        of a group without these.
        """
        tried = {(game.first, game.second) for game in self.games} | {pair for pair, _ in self.faults}
        without_game = self._alone()
        if self._rounds < _CIRCLES:
            rivals = sorted(self._playing, key=without_game.__contains__)
            pairs = [(position, rival) for position in without_game for rival in rivals if position != rival]
            fresh = [pair for pair in pairs if tried.isdisjoint((pair, pair[::-1]))]
            return [*{pair[0]: pair for pair in reversed(fresh)}.values()]
        self._playing = [position for position in self._playing if position not in without_game]
        circle = [(self._playing[first], self._playing[second]) for first, second in self._fixed_pairs()]
        self.games = [game for game in self.games if (game.first, game.second) in circle]
        return [pair for pair in circle if pair not in tried]

    def _points(self) -> list[float]:
        """Half of a win less half of a loss: a round without a game counts as a tie does."""
        points = [0.0] * len(self.texts)
        for game in self.games:
            points[game.first] += game.result - 0.5
            points[game.second] += 0.5 - game.result
        return points

    def _is_decided(self, pair: Pair) -> bool:
        """Whether no judge is needed: a response has no text, or both have the same. The game is noted."""
        if self.options.rating == "scores":
            return False
        first, second = (bool(self.texts[at]) for at in pair)
        if first and second and self.texts[pair[0]] != self.texts[pair[1]]:
            return False
        self.games.append(Game(*pair, 0.5 if first == second else float(first)))
        return True

    def item(self, pair: Pair) -> ScoreItem:
        first, second = pair
        mode = "compare" if self.options.rating == "scores" else "pairwise"
        fields = {**self.params, "mode": mode, "other": self.texts[second]}
        if self.options.orders == "one":
            fields["orders"] = "one"
        item = ScoreItem(self.texts[first], verifier=JUDGE, prompt=self.group.prompt)
        item.reference, item.params = self.group.reference, msgspec.Raw(encode(fields))
        self.asked += 1
        return item

    def take(self, pair: Pair, result: Result) -> None:
        """Note the result of a comparison."""
        if len(self.explained) < _MOST_EXPLAINED and (told := explanation(result)):
            self.explained.append({"pair": [self.order[seat] for seat in pair], **told})
        if result.status == "invalid":
            self.message = f"{result.reason}: {result.detail.get('message', '')}"
        elif result.status == "failed" or result.score is None:
            self.faults.append((pair, result))
        else:
            self.inconsistent += "position_inconsistent" in result.detail.get("flags", ())
            pair_scores = result.detail.get("scores")
            scores = None if pair_scores is None else (pair_scores[0], pair_scores[1])
            self.games.append(Game(*pair, result.score, scores, result.detail.get("ranking", RANKING)))

    def result(self, name: str | int) -> GroupResult:
        """The rewards of the group."""
        count = len(self.texts)
        if self.message:
            return GroupResult.invalid(name, count, self.message)
        if count < pairings.FEWEST:
            return GroupResult.unjudged(name, count, "failed", NO_GAME, "a comparison needs two responses")
        if self.options.pairs == "circular":  # Elo's ratings go by the order of games
            self.games.sort(key=lambda game: game.first)
        rated = rate(self.options.rating, count, self.games)
        if self.options.rating == "scores":
            rated = self._with_unasked(rated)
        if self.seed is not None:
            rated = levelled(rated, self.texts)
        positions = sorted(range(count), key=self.order.__getitem__)
        ratings = [rated[position] for position in positions]
        reasons = [self._reason(position) for position in positions]
        members = [
            Member("failed", None, None, reason)
            if value is None
            else Member("ok", value, as_score(self.options.rating, value), "rated")
            for value, reason in zip(ratings, reasons, strict=True)
        ]
        is_rated = any(value is not None for value in ratings)
        detail = {
            "comparisons": len(self.games) + len(self.faults),
            "dropped": len(self.faults),
            "inconsistent": self.inconsistent,
            "games": [[self.order[game.first], self.order[game.second], game.result] for game in self.games],
        }
        if self.explained:
            detail["explained"] = self.explained
        if self.options.rating == "scores":
            detail["scores"] = [
                [self.order[game.first], self.order[game.second], *game.scores, game.ranking]
                for game in self.games
                if game.scores is not None
            ]
        return GroupResult(
            id=name,
            status="ok" if is_rated else "failed",
            reason="rated" if is_rated else reasons[0],
            members=members,
            detail=detail,
        )

    def _with_unasked(self, rated: Sequence[float | None]) -> list[float | None]:
        """The scores with those of responses that nobody is asked about: the worst without a text; the best if no
        response is there to be compared with, so that no score of a judge is below it.
        """
        unasked = BEST if not self.games and not self.faults else None
        return [
            WORST if not text else unasked if score is None else score
            for text, score in zip(self.texts, rated, strict=True)
        ]

    def _reason(self, position: int) -> str:
        """Why a response has no game."""
        return next((result.reason for pair, result in self.faults if position in pair), NO_GAME)


async def play(
    groups: Sequence[Group], views: Sequence[Shown], options: Tournament, judge: Judge, seed: int | None
) -> list[Contest]:
    """Compare the responses of each group. The pairs of one round of all groups are judged together."""
    contests, pace = list[Contest](), Pace()
    for group, view in zip(groups, views, strict=True):
        contests.append(Contest(group, view.texts, options, seed, view.unread))
        contests[-1].message = _problem(contests[-1])
        await pace.keep()
    going = [contest for contest in contests if not contest.is_over]
    while going:
        comparisons: list[tuple[Contest, Pair]] = []
        items: list[ScoreItem] = []
        for contest in going:
            for pair in contest.next_pairs():
                comparisons.append((contest, pair))
                items.append(contest.item(pair))
                await pace.keep()
        results = await judge(items) if items else ()
        for (contest, pair), result in zip(comparisons, results, strict=True):
            contest.take(pair, result)
        going = [contest for contest in going if not contest.is_over]
    return contests


def _problem(contest: Contest) -> str:
    """Why the responses of a group cannot be compared; empty if they can."""
    group = contest.group
    if problem := problem_for_judge(group, "other", "mode", "orders"):
        return problem
    if contest.options.pairs == "baseline" and contest.options.baseline >= len(group.responses):
        return f"tournament.baseline: the group has {len(group.responses)} responses"
    contest.params = decoded_params(bytes(group.params))
    if contest.options.rating == "scores" and (turns := history(group.prompt)):
        contest.params = {"history": turns, **contest.params}
    return ""


def explanation(result: Result) -> dict[str, Any]:
    """What a judge was asked, and what came of it; nothing if that was not asked for."""
    return {name: result.detail[name] for name in ("asked", "failures") if name in result.detail}


def problem_for_judge(group: Group, *reserved: str) -> str:
    """Why no judge can compare the responses of a group; empty if one can. The method sets the `reserved` parameters."""
    if group.verifier not in (None, JUDGE) or group.recipe is not None:
        return f"verifier: `{JUDGE}` compares responses; its parameters choose the profile"
    try:
        taken = sorted(decoded_params(bytes(group.params)).keys() & {*reserved})
    except InvalidItem as error:
        return str(error)
    return f"params.{taken[0]}: the method sets it" if taken else ""
