"""Episodes of simulations, played again from what the row shows of them.

    grl_sokoban, grl_tetris     the moves on the boards that the model was shown
    blackjack                   the hands that it was shown, and the last one, which `info` records
    openair_congestion          the recorded steps, if its calls are theirs

A response's moves are judged, not the return that the row records. The rules and rewards are those of the servers;
Sokoban's are gym-sokoban's (github.com/mpSchrader/gym-sokoban).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from verifiers.base import InvalidItem
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers, parsed

Cell: TypeAlias = tuple[int, int]
"""Row and column."""
_STEP: Final = -0.1
_MAX_STEPS: Final = 100
_MAX_BOARD_CHARS: Final = 10_000
_BOX, _SOLVED, _LINE = 1.0, 10.0, 10.0
_UP, _DOWN, _LEFT, _RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
_PUSHES: Final = dict(zip(("up", "down", "left", "right", *"1234"), (_UP, _DOWN, _LEFT, _RIGHT) * 2, strict=True))
_SHIFTS: Final = dict(zip(("left", "right", "down", *"012"), (_LEFT, _RIGHT, _DOWN) * 2, strict=True))
_ACTION: Final = re.compile(r"<action>\s{0,20}(\w{1,5})\s{0,20}</action>", re.IGNORECASE)
_PUSH: Final = re.compile(r"\b(up|down|left|right|[1-4])\b", re.IGNORECASE)
_HAND: Final = re.compile(r"Your hand: \[([^\]\n]{1,200})\]")
_SHOWN: Final = re.compile(r"Dealer shows: (\w{1,2})")


@dataclass
class _Room:
    """A room of Sokoban."""

    floor: set[Cell]
    targets: set[Cell]
    boxes: set[Cell]
    player: Cell

    @classmethod
    def of(cls, board: Mapping[Cell, str]) -> "_Room":
        def cells(marks: str) -> set[Cell]:
            return {cell for cell, mark in board.items() if mark in marks}

        players, targets, boxes = cells("PS"), cells("O√S"), cells("X√")
        if len(players) != 1 or not boxes or len(boxes) != len(targets):
            raise _unreadable("a Sokoban board with one player, and a target for each box")
        return cls(cells("_OX√PS"), targets, boxes, players.pop())

    def push(self, way: Cell) -> float:
        """The reward of a step in a direction, which may push a box."""
        boxes_home = len(self.boxes & self.targets)
        target, landing = _moved(self.player, way), _moved(_moved(self.player, way), way)
        if target in self.boxes and landing in self.floor - self.boxes:
            self.boxes = self.boxes - {target} | {landing}
        if target in self.floor - self.boxes:
            self.player = target
        gained = len(self.boxes & self.targets) - boxes_home
        return _STEP + _BOX * gained + (_SOLVED if self.is_solved else 0.0)

    @property
    def is_solved(self) -> bool:
        return self.boxes == self.targets


def grl_sokoban(rollout: Rollout) -> Judgement:
    """The moves on the first board, until it is solved; a message without a move ends the game."""
    room = _Room.of(_board(rollout.turns[0].shown if rollout.turns else rollout.prompt))
    total = 0.0
    for turn in rollout.turns[:_MAX_STEPS]:
        tagged = next((name.lower() for name in _ACTION.findall(turn.text) if name.lower() in _PUSHES), None)
        bare = _PUSH.search(turn.text)
        name = tagged or (bare.group(1).lower() if bare else None)
        if name is None or room.is_solved:
            break
        total += room.push(_PUSHES[name])
    return Judgement(float(room.is_solved), None, "not_solved", total=total)


def grl_tetris(rollout: Rollout) -> Judgement:
    """The moves on the boards as they were shown, until a line is full or the stack is; a message without a move ends
    the game.

    A board does not show what of a piece is above it, nor which piece comes next. Where the last message depends on that,
    the record of its moves decides.
    """
    _board(rollout.turns[0].shown if rollout.turns else rollout.prompt)
    total = 0.0
    for index, turn in enumerate(rollout.turns):
        moves = [name.lower() for name in _ACTION.findall(turn.text) if name.lower() in _SHIFTS]
        if not moves:
            break
        board, ways = _board(turn.shown), [_SHIFTS[name] for name in moves]
        fall = _fall(board, ways, is_hidden=False)
        is_last = index == len(rollout.turns) - 1
        if is_last and (fall.rest or fall != _fall(board, ways, is_hidden=True)):
            return _recorded(rollout, moves, total)
        total += _STEP * (fall.played + fall.rest) + _LINE * fall.lines
        if fall.lines:
            return Judgement(1.0, None, total=total)
    return Judgement(0.0, None, "not_solved", total=total)


@dataclass(frozen=True, slots=True)
class _Fall:
    """What becomes of a falling piece."""

    played: int
    """The moves until it settled."""
    rest: int
    """The moves after that, which are the next piece's. 0: the game is over."""
    lines: int
    """The lines that it fills."""


def _fall(board: Mapping[Cell, str], ways: Sequence[Cell], *, is_hidden: bool) -> _Fall:
    """The way of a piece that moves among settled blocks; `is_hidden`: one that is a row higher than the board shows it."""
    settled = {cell for cell, mark in board.items() if mark == "#"}
    piece = {cell for cell, mark in board.items() if mark == "X"}
    if not piece:
        raise _unreadable("a Tetris board with a falling piece")
    if is_hidden and all(row == 0 for row, _ in piece):
        piece |= {(-1, column) for _, column in piece}
    blocked = {(1 + max(row for row, _ in board), column) for _, column in board} | settled
    columns = {column for _, column in board}

    def is_free(cells: set[Cell]) -> bool:
        return not cells & blocked and all(column in columns for _, column in cells)

    for count, way in enumerate(ways, 1):
        moved = {_moved(cell, way) for cell in piece}
        piece = moved if is_free(moved) else piece
        if not is_free({_moved(cell, _DOWN) for cell in piece}):
            full = settled | piece
            lines = sum(all((row, column) in full for column in columns) for row in {row for row, _ in board})
            is_over = lines > 0 or any(row == 0 for row, _ in full)
            return _Fall(count, 0 if is_over else len(ways) - count, lines)
    return _Fall(len(ways), 0, 0)


def _recorded(rollout: Rollout, moves: Sequence[str], total: float) -> Judgement:
    """The judgement by the record of the last message's moves."""
    info = rollout.row.get("info")
    actions = info.get("actions") if isinstance(info, dict) else None
    if not isinstance(info, dict) or not isinstance(actions, list) or not actions:
        raise _unreadable("'info.actions': a board does not show the next piece")
    try:
        names = [str(action["action_label"]).lower() for action in actions]
        rewards = [float(action["reward"]) for action in actions]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unreadable("'info.actions' with 'action_label' and 'reward'") from error
    if [_SHIFTS.get(name) for name in names] != [_SHIFTS[name] for name in moves[: len(names)]]:
        raise InvalidItem("stale_judgement", "the recorded moves of 'info.actions' are those of another response")
    return Judgement(float(info.get("success") is True), None, "not_solved", total=total + math.fsum(rewards))


def blackjack(rollout: Rollout) -> Judgement:
    """1, one half or 0 for a hand that wins, draws or loses. `info` has the last cards; the others were shown."""
    info = rollout.get("info", dict)
    player, dealer = _hand(info.get("player")), _hand(info.get("dealer"))
    if not player:
        raise _unreadable("'info.player', the last hand")
    *hits, last = [_decision(turn.text) for turn in rollout.turns] or [""]
    matches = [_HAND.search(turn.shown) for turn in rollout.turns]
    hands = [_hand(match.group(1)) if match else [] for match in matches]
    holds = all(hit == "hit" for hit in hits) and hands == [player[:size] for size in range(2, 2 + len(hands))]
    cards = len(hands) + (2 if last == "hit" else 1)
    if not holds or cards != len(player) or (last == "stand") != bool(dealer):
        message = "the recorded hands are those of another response: its moves do not lead to the row's 'info'"
        raise InvalidItem("stale_judgement", message)
    total, dealer_total = _value(player), _value(dealer)
    if total > _TWENTY_ONE:
        return Judgement(0.0, str(total))
    if not dealer:
        raise _unreadable("'info.dealer', the dealer's hand")
    face = _SHOWN.findall(rollout.turns[-1].shown)
    if dealer[:1] != face[-1:]:
        raise _unreadable("the dealer's hand that was shown")
    return Judgement(
        1.0 if dealer_total > _TWENTY_ONE or total > dealer_total else 0.5 if total == dealer_total else 0.0, str(total)
    )


_TWENTY_ONE: Final = 21
_FACES: Final[Mapping[str, int]] = {**{str(pips): pips for pips in range(2, 11)}, "J": 10, "Q": 10, "K": 10, "A": 11}


def _decision(text: str) -> str:
    return next((name.lower() for name in _ACTION.findall(text) if name.lower() in ("hit", "stand")), "stand")


def _hand(cards: Any) -> list[str]:
    return [card.strip() for card in cards.strip("[]").split(",")] if isinstance(cards, str) and cards else []


def _value(hand: Sequence[str]) -> int:
    if not all(card in _FACES for card in hand):
        raise _unreadable("hands of cards from 2 to A")
    value, aces = sum(_FACES[card] for card in hand), hand.count("A")
    while value > _TWENTY_ONE and aces:
        value, aces = value - 10, aces - 1
    return value


def openair_congestion(rollout: Rollout) -> Judgement:
    """The sum of the recorded steps' terms. The response's calls have to be the last of the steps."""
    steps = rollout.get("trajectory", list)
    if not steps or not all(isinstance(step, dict) and isinstance(step.get("action"), dict) for step in steps):
        raise _unreadable("'trajectory', the steps with their actions")
    calls = [(call.name, parsed(call.arguments)) for call in rollout.calls]
    actions = [(step["action"].get("name"), step["action"].get("arguments")) for step in steps]
    if not calls or calls != actions[-len(calls) :]:
        raise InvalidItem("stale_judgement", "the recorded steps are those of another response: its calls differ")
    total = math.fsum(value for step in steps for value in _terms(step))
    accepted = all(step.get("guardrail_accepted") is True for step in steps)
    return Judgement(float(accepted), None, "call_refused", total=total)


def _terms(step: Mapping[str, Any]) -> Iterator[float]:
    terms = step.get("reward_terms")
    values = [value for name, value in terms.items() if name != "total"] if isinstance(terms, dict) else []
    if not values or not all(isinstance(value, int | float) and abs(value) < _LARGEST for value in values):
        raise _unreadable("'reward_terms' of each step")
    yield from values


_LARGEST: Final = 1e100
SERVERS: Final[Servers] = {
    "blackjack": blackjack,
    "grl_sokoban": grl_sokoban,
    "grl_tetris": grl_tetris,
    "openair_congestion": openair_congestion,
}
_MOST: Final = 100.0
"""The greatest return, and the least below zero, that a reward can be."""


def measured(judgement: Judgement, measure: Literal["gain", "loss"]) -> Judgement:
    """The judgement with the return of its episode as the score: a 100th of it if it is above 0, or of what is below."""
    if judgement.total is None:
        raise InvalidItem("bad_params", "params.measure: this server's rows have no return")
    sign = 1 if measure == "gain" else -1
    return replace(judgement, score=max(sign * judgement.total / _MOST, 0.0))


def _board(text_shown: str) -> Mapping[Cell, str]:
    """The marks of the last board that a text shows, by their cells."""
    _, mark, text = text_shown.rpartition("board:\n")
    rows = text.partition("\n\n")[0].splitlines()
    if not mark or not rows or len({len(row) for row in rows}) != 1 or len(rows) * len(rows[0]) > _MAX_BOARD_CHARS:
        raise _unreadable("a board of equal lines in the request, or before the moves")
    return {(row, column): letter for row, line in enumerate(rows) for column, letter in enumerate(line)}


def _moved(cell: Cell, way: Cell) -> Cell:
    return cell[0] + way[0], cell[1] + way[1]


def _unreadable(needed: str) -> InvalidItem:
    return InvalidItem("bad_row", f"the row needs {needed}; add it")
