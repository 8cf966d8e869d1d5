"""Word ladder: a path from one word to another through a dictionary, with one letter changed at each step.

The reference has the two words (`start_word` or `start`, `begin`, `source`; `end_word` or `end`, `goal`, `target`) and
the dictionary: `words`, `vocabulary`, `dictionary` or `word_list`, a list or one text. A reference without a dictionary
is `invalid`, because it cannot decide whether a step is a word. The first and the last word need not be in the
dictionary. Case does not count. With `shortest=True` the ladder must be a shortest one.

The answer lists the words from first to last, with commas, arrows, dashes, spaces or line ends between them, or as a
list. A line of steps may begin with the last word of the line before it. Short remarks may follow words.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from memory import remember
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict
from verifiers.puzzles import puzzle
from verifiers.puzzles.notation import blank, plain
from verifiers.puzzles.puzzle import Offer, PuzzleParams, PuzzleVerifier, Rules, decoded, field, malformed


class WordLadderParams(PuzzleParams):
    """The two words and the dictionary."""

    shortest: bool = False
    """Whether the ladder must be a shortest one."""


class WordLadder(PuzzleVerifier[WordLadderParams]):
    name = "word_ladder"
    version = "21"
    params = WordLadderParams
    summary = "A ladder of dictionary words from one word to another, one letter changed at each step"


def create(resources: Resources) -> WordLadder:
    return WordLadder(resources.workers, judge, Item("COLD,CORD", WordLadderParams(reference=_COLD)))


def judge(item: Item[WordLadderParams]) -> Verdict:
    return puzzle.judge(item, _RULES)


class _Puzzle(NamedTuple):
    start: str
    end: str
    words: frozenset[str]
    """The words of the right length, in lower case, with the first and the last word."""
    is_shortest: bool


Ladder = tuple[str, ...]
_Place = tuple[int, int, str]
"""A word in lower case, with its start and end."""


# --- the puzzle

_MAX_WORD_CHARS = 40


def _read(params: WordLadderParams) -> _Puzzle:
    reference: Any = decoded(params.reference)
    if not isinstance(reference, Mapping):
        raise malformed("expected an object with `start`, `end` and `words`")
    start = _word(field(reference, "start_word", "start", "begin_word", "beginWord", "begin", "source", "from"))
    end = _word(field(reference, "end_word", "end", "endWord", "goal", "target", "target_word", "to"))
    words = field(reference, "words", "vocabulary", "dictionary", "word_list", "wordList", "vocab", "valid_words")
    if isinstance(words, str):
        words = re.split(r"[\s,;]+", words)
    if not isinstance(words, list | tuple | Mapping) or not words:
        raise InvalidItem("no_words", "a word ladder is checked by a dictionary: give `words`")
    # COLD to WARMER changes more than letters, and COLD to COLD nothing.
    if len(start) != len(end) or start == end:
        raise malformed("the first and the last word must be different, and of the same length")
    if not all(isinstance(word, str) for word in words):
        raise malformed("expected `words` as a list of texts")
    vocabulary = frozenset([word.strip().casefold() for word in words])
    of_length = frozenset([word for word in vocabulary if len(word) == len(start)])
    return _Puzzle(start, end, of_length | {start, end}, params.shortest)


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip().isalpha() or len(value) > _MAX_WORD_CHARS:
        raise malformed(f"expected a word as `start` and as `end`, found {str(value)[:40]!r}")
    return value.strip().casefold()


@remember(32)
def _steps(start: str, end: str, words: frozenset[str]) -> int | None:
    """The number of words of a shortest ladder, by breadth-first search over shared letters; None if there is none."""
    neighbours: dict[str, list[str]] = {}
    for word in sorted(words):
        for pattern in _patterns(word):
            neighbours.setdefault(pattern, []).append(word)
    length = {start: 1}
    waiting = deque([start])
    while waiting:
        word = waiting.popleft()
        if word == end:
            return length[word]
        for pattern in _patterns(word):
            for following in neighbours.pop(pattern, ()):
                if following not in length:
                    length[following] = length[word] + 1
                    waiting.append(following)
    return None


def _patterns(word: str) -> Sequence[str]:
    return [f"{word[:at]}*{word[at + 1 :]}" for at in range(len(word))]


# --- the answer

_LINK = r"(?:[ \t]*+\n|[ \t]{0,24}[→>,;–—-])[ \t\n]{0,16}"
_SPACE = r"[ \t]{1,4}"
_QUOTES = r"[\"'`*]{0,3}"
_LIST_MARK = re.compile(r"(?mi)^[ \t*•-]{0,8}(?:(?:step\s)?\d{1,3}\*{0,2}[:.)]\*{0,2}|[*•-])\s{1,4}")
_REMARK = re.compile(r"(?<=[^\W\d_])[*`]{0,3}[ \t]{1,4}\((?!or\b)[^()\n]{1,40}\)")
_CHANGES = "letter letters change changed changes swap swapped replace replaced first second third fourth fifth last"
_REMARK_WORDS = frozenset(f"a an the one and to by for its with from into then {_CHANGES}".split())
"""The words of remarks on steps. They are remarks even if they are as long as the words of the ladder."""
_QUOTED_WORD = rf"{_QUOTES}[^\W\d_]{{1,40}}+{_QUOTES}"
_PAIR_LINE = re.compile(
    rf"(?m)^(?P<pair>[^\w\n]{{0,12}}+{_QUOTED_WORD}[ \t]*+→[ \t]*+{_QUOTED_WORD})"
    r"(?P<remark>[ \t]{0,4}(?:[:：(,;]|[–—-](?=\s))[^\n]{1,120})$"
)
"""One step on its own line, with a remark."""
_STEP = re.compile(r"[^\W\d_]{2}[\s*`\"']{0,4}[→,]|\b(?:or|OR)\b")
_AND = re.compile(r"(?<=,)[ \t]and(?=[ \t])")


def _offers(text: str, puzzle_: _Puzzle) -> list[Offer[Ladder]]:
    """The ladders of a text: runs of words of the right length from the first word on.

    Signs stand between the words, or spaces if there are no such runs. The first and the last word alone are the
    puzzle, if the text holds anything else.
    """
    text = _bare(text, len(puzzle_.start))
    ladders = _runs(text, puzzle_, _LINK) or _runs(text, puzzle_, _SPACE)
    return [offer for offer in ladders if len(offer.answer) > 2] or ladders


def _bare(text: str, length: int) -> str:
    """The text with spaces in place of everything that may stand between the words of a ladder.

    That is: list marks, LaTeX commands, remarks without a word of this length (`(l → r)`), remarks on a step on its own
    line, and the "and" before the last word. Every other sign keeps its place.
    """
    text = _LIST_MARK.sub(blank, plain(text))
    # `COLD → CORD (l → r) → CARD`: the remark has no word of four letters.
    if "(" in text:
        text = _REMARK.sub(lambda match: match[0] if _holds_a_word(match[0], length) else blank(match), text)
    # `cold → cord: change "l" to "r"` on a line of its own.
    text = _PAIR_LINE.sub(_without_remark, text)
    # `cold, cord, and card`; in a ladder of three letters "and" may be a word of it.
    return text if length == len("and") else _AND.sub(blank, text)


def _without_remark(line: re.Match[str]) -> str:
    return line[0] if _STEP.search(line["remark"]) else line["pair"] + " " * len(line["remark"])


def _holds_a_word(remark: str, length: int) -> bool:
    return any(len(word) == length and word not in _REMARK_WORDS for word in _WORD.findall(remark))


def _runs(text: str, puzzle_: _Puzzle, link: str) -> list[Offer[Ladder]]:
    ladders: list[Offer[Ladder]] = []
    for run in _run_pattern(len(puzzle_.start), link).finditer(text):
        words = [
            (run.start() + word.start(), run.start() + word.end(), word[0].casefold())
            for word in _WORD.finditer(run[0])
        ]
        words = [
            *words[:1],
            *(current for previous, current in pairwise(words) if not _told_again(text, previous, current)),
        ]
        start_positions = [
            at for at, (start, _, word) in enumerate(words) if word == puzzle_.start and _begins(text, start)
        ]
        # `Start: cold → cord`: the first word need not begin its line.
        first = next((at for at, (_, _, word) in enumerate(words) if word == puzzle_.start), len(words))
        # Each line that begins with the first word begins another ladder.
        for at, stop in pairwise([*sorted({first, *start_positions}), len(words)]):
            ladder = _up_to_end(text, words[at:stop], puzzle_.end)
            if len(ladder) > 1:
                ladders.append(Offer(ladder[0][0], ladder[-1][1], tuple([word for _, _, word in ladder])))
    return ladders


def _told_again(text: str, previous: _Place, current: _Place) -> bool:
    """Whether a line begins with the last word of the line before it: "cold → cord" and "cord → card"."""
    return previous[2] == current[2] and "\n" in text[previous[1] : current[0]]


def _up_to_end(text: str, words: Sequence[_Place], end: str) -> Sequence[_Place]:
    """The words of a ladder, without those that follow its last word on another line."""
    for at, (current, following) in enumerate(pairwise(words), start=1):
        # `… → warm` and, on the next line, `Each word …`
        if current[2] == end and "\n" in text[current[1] : following[0]]:
            return words[:at]
    return words


def _begins(text: str, start: int) -> bool:
    """Whether only marks stand before a word on its line."""
    lead = text[max(0, start - _MAX_INDENT) : start].rpartition("\n")[2]
    return not any(char.isalnum() for char in lead)


_MAX_INDENT = 40


_WORD = re.compile(r"[^\W\d_]+")


@remember(2 * _MAX_WORD_CHARS)
def _run_pattern(length: int, link: str) -> re.Pattern[str]:
    """A pattern for two or more words of this length in a row."""
    word = rf"{_QUOTES}(?<![^\W\d_])[^\W\d_]{{{length}}}(?![^\W\d_]){_QUOTES}"
    return re.compile(rf"{word}(?:{link}{word})++")


def _check(answer: Ladder, puzzle_: _Puzzle) -> str | None:
    if answer[0] != puzzle_.start or answer[-1] != puzzle_.end:
        return "wrong_ends"
    if any(not _is_step(a, b) for a, b in pairwise(answer)):
        return "wrong_step"
    if not puzzle_.words.issuperset(answer):
        return "unknown_word"
    if puzzle_.is_shortest and len(answer) != _steps(puzzle_.start, puzzle_.end, puzzle_.words):
        return "not_shortest"
    return None


def _is_step(word: str, following: str) -> bool:
    return len(word) == len(following) and sum(a != b for a, b in zip(word, following, strict=True)) == 1


def _leads_to_end(answer: Ladder, puzzle_: _Puzzle) -> bool:
    return answer[-1] == puzzle_.end


_RULES = Rules(_read, _offers, _check, is_whole=_leads_to_end)

_COLD = {"start_word": "COLD", "end_word": "WARM", "words": ["cord", "card", "ward", "word", "worm", "cold", "warm"]}

EXAMPLES = (
    Example("COLD,CORD,CARD,WARD,WARM", {"reference": _COLD}, 1.0, "correct", "a ladder"),
    Example("<answer>cold -> cord -> word -> worm -> warm</answer>", {"reference": _COLD}, 1.0, "correct", "another"),
    Example(
        "<answer>COLD,CORD,CORM,WORM,WARM</answer>", {"reference": _COLD}, 0.0, "unknown_word", "no such word here"
    ),
    Example("<answer>COLD,WARM</answer>", {"reference": _COLD}, 0.0, "wrong_step", "four letters at once"),
    Example(
        "COLD,CORD", {"reference": {"start": "COLD", "end": "CORD"}}, None, "no_words", "no dictionary", Status.INVALID
    ),
)
