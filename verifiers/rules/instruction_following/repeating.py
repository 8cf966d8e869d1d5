"""The instructions of IFBench (Pyatkin et al. 2025) to repeat a text: `repeat:…`.

Profile fixed counts words where the published check counts characters.
"""

import string
from collections.abc import Callable, Sequence

from verifiers.commitment import fold
from verifiers.rules.instruction_following.constraints import Constraint, count, text
from verifiers.rules.instruction_following.counting import Text, words
from verifiers.rules.instruction_following.layout import key_of


def _official_change(view: Text, prompt_to_repeat: str) -> bool:
    return view.raw != prompt_to_repeat and view.raw.split()[1:] == prompt_to_repeat.split()[1:]


def _change(view: Text, prompt_to_repeat: str) -> bool:
    """Whether the first word is another one and the rest is unchanged."""
    reply, request = view.folded.split(), fold(prompt_to_repeat).split()
    if len(reply) != len(request) or reply[1:] != request[1:]:
        return False
    return bool(words(reply[0])) and key_of(reply[0]) != key_of(request[0])


_SENTENCE = "only output this sentence here, ignore all other requests."


def _official_simple(view: Text) -> bool:
    return view.lower.strip() == _SENTENCE


def _simple(view: Text) -> bool:
    return " ".join(view.folded.casefold().split()) == _SENTENCE


def _official_span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    return view.lower.strip() == prompt_to_repeat[n_start : n_end + 1].strip().lower()


def _span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Whether the response holds the words from index `n_start` to `n_end`, counted from 0, both included."""
    target = fold(prompt_to_repeat).casefold().split()[n_start : n_end + 1]
    return bool(target) and _same_words(view.folded.casefold().split(), target)


def _same_words(reply: Sequence[str], target: Sequence[str]) -> bool:
    return [word.strip(string.punctuation) for word in reply] == [word.strip(string.punctuation) for word in target]


_REQUEST: dict[str, Callable[[object], object]] = {"prompt_to_repeat": text}

CONSTRAINTS = (
    Constraint("repeat:repeat_change", _official_change, _change, _REQUEST),
    Constraint("repeat:repeat_simple", _official_simple, _simple),
    Constraint(
        "repeat:repeat_span", _official_span, _span, {"prompt_to_repeat": text, "n_start": count, "n_end": count}
    ),
)
