"""Makes the text for the model after a turn, from templates. It also checks that no template gives away the
reference.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from service.interactions.schemas import Language, Options, State, Templates

DEFAULTS: dict[Language, Templates] = {
    "en": Templates(
        correct="✅ Correct, that is the answer.",
        incorrect="❌ Not right yet. Go through your reasoning once more and give a new final answer.",
        no_answer="❌ I found no answer in your reply. Please state your final answer clearly.",
        exhausted="❌ Not right, and there are no turns left.",
    ),
    "zh": Templates(
        correct="✅ 回答正确。",
        incorrect="❌ 还不正确，请检查推理过程后重新给出最终答案。",
        no_answer="❌ 没有找到你的答案，请明确写出最终答案。",
        exhausted="❌ 仍不正确，作答次数已用完。",
    ),
}

NO_ANSWER = "no_answer"
_WORD = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_NAME = re.compile(r"\{(turn|max_turns|turns_left|score|reward|reason)\}")
_ANSWER_FIELDS = ("final_answer", "answer", "answers", "solution", "ground_truth", "value", "target")
_TELLING_CHARS = 12
"""A text with at least this many characters is not an everyday word, wherever it is in a reference."""
_MAX_ANSWERS = 2000
"""The number of texts that are looked for: about 20 ms at worst."""


class Outcome(Protocol):
    """The values of a turn that a template may show."""

    @property
    def score(self) -> float: ...
    @property
    def reward(self) -> float: ...
    @property
    def reason(self) -> str: ...


def feedback(options: Options, state: State, turns: Sequence[Outcome]) -> str:
    """The text after the last of `turns`, which led to `state`."""
    last = turns[-1]
    values = {
        "turn": str(len(turns)),
        "max_turns": str(options.max_turns),
        "turns_left": str(options.max_turns - len(turns)),
        "score": f"{last.score:g}",
        "reward": f"{last.reward:g}",
        "reason": last.reason,
    }
    return _NAME.sub(lambda match: values[match[1]], _template(options, state, last.reason))


def _template(options: Options, state: State, reason: str) -> str:
    kind = "correct" if state == "solved" else "exhausted" if state == "exhausted" else "incorrect"
    if kind == "incorrect" and reason == NO_ANSWER:
        kind = NO_ANSWER
    templates = options.feedback
    template: str | None = getattr(templates, kind)
    if template is None and kind != "correct":
        template = templates.incorrect
    default: str = getattr(DEFAULTS[options.language], kind)
    return default if template is None else template


def giveaway(templates: Templates, answers: Any, surroundings: Any) -> str | None:
    """The name of a template that holds the reference or one of the answers in it, or quotes other data of the item.
    None if there is no such template.

    A short answer counts only if it stands by itself: 5 is not in 15. In an object, short texts are looked for only in
    the fields that name an answer, since others are everyday words (`"language": "python"`). Longer texts are looked
    for in all fields.
    """
    words_of = {name: _words(text) for name in templates.__struct_fields__ if (text := getattr(templates, name))}
    longest = max(map(len, words_of.values()), default=0)
    if not longest:
        return None
    for answer in islice(_answers(answers, surroundings, longest), _MAX_ANSWERS):
        for name, text in words_of.items():
            if answer in text:
                return name
    return None


def _answers(answers: Any, surroundings: Any, longest: int) -> Iterator[str]:
    """The texts to look for, as `_words` of at most `longest` characters. Each comes once, the outer ones first."""
    texts = set()
    waiting: list[tuple[Any, bool]] = [(answers, True), (surroundings, False)]
    for value, is_answer in waiting:
        if isinstance(value, dict):
            waiting += [(child, is_answer and name in _ANSWER_FIELDS) for name, child in value.items()]
        elif isinstance(value, list):
            waiting += [(child, is_answer) for child in value]
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value)
            if (1 if is_answer else _TELLING_CHARS) <= len(text) <= longest:
                words = _words(text)
                if len(words) > 2 and words not in texts:
                    texts.add(words)
                    yield words


def _words(text: str) -> str:
    """The words, numbers and other characters of a text without its spaces, each between two marks. If one text of this
    form holds another, it holds it as whole words.
    """
    return "\0" + "\0".join(_WORD.findall(text.casefold())) + "\0"
