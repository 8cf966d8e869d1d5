"""The instructions of open-instruct's training set to copy the prompt: the whole, a part, or with changes."""

from collections.abc import Sequence

from verifiers.commitment import fold
from verifiers.rules.instruction_following import patterns
from verifiers.rules.instruction_following.constraints import Constraint, count, ordinal, text, word
from verifiers.rules.instruction_following.counting import Text, words


def _official_copy(view: Text, prompt_to_repeat: str) -> bool:
    return view.lower.strip() == prompt_to_repeat.strip().lower()


def _copy(view: Text, prompt_to_repeat: str) -> bool:
    return view.folded.split() == fold(prompt_to_repeat).split()


def _official_copies(view: Text, prompt_to_repeat: str, N: int) -> bool:  # noqa: N803 - the data's name
    target = prompt_to_repeat.strip().lower()
    pieces = view.lower.split("******")
    return len(pieces) == N and all(piece.strip() == target for piece in pieces)


def _copies(view: Text, prompt_to_repeat: str, N: int) -> bool:  # noqa: N803
    target = fold(prompt_to_repeat).split()
    pieces = view.folded.split("******")
    return len(pieces) == N and all(piece.split() == target for piece in pieces)


def _official_span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    return view.lower.strip() == prompt_to_repeat[n_start:n_end].strip().lower()


def _span(view: Text, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Whether the response is the span of the prompt. The span includes both ends, as the instruction says."""
    target = fold(prompt_to_repeat[n_start : n_end + 1]).split()
    return bool(target) and view.folded.split() == target


def _official_phrases(view: Text, phrase: str, small_n: int) -> bool:
    target = phrase.split()
    stretches = patterns.linear(f"{target[0]} .*? {target[-1]}").findall(view.raw)
    phrases = [stretch.split() for stretch in stretches]
    return len(phrases) == small_n and _one_word_differs(phrases, target)


def _one_word_differs(phrases: Sequence[Sequence[str]], target: Sequence[str]) -> bool:
    """Whether every phrase is as long as the wanted one and differs from it in exactly one word."""
    return all(
        len(candidate) == len(target)
        and sum(mine != theirs for mine, theirs in zip(candidate, target, strict=True)) == 1
        for candidate in phrases
    )


def _phrases(view: Text, phrase: str, small_n: int) -> bool:
    """Whether the response has exactly `small_n` changed copies of the phrase.

    A stretch of words that differs from the phrase in one word only, inside it, is a changed copy. The unchanged phrase
    must not occur.
    """
    target = [word.casefold() for word in words(fold(phrase))]
    size, tokens = len(target), view.small_words
    changed = 0
    position = 0
    while position + size <= len(tokens):
        differences = [index for index in range(size) if tokens[position + index] != target[index]]
        if not differences:
            return False
        if len(differences) == 1 and 0 < differences[0] < size - 1:
            changed += 1
            position += size
        else:
            position += 1
    return changed == small_n > 0


CONSTRAINTS = (
    Constraint("copy:repeat_phrase", _official_phrases, _phrases, {"phrase": word, "small_n": ordinal}),
    Constraint("copy:copy", _official_copy, _copy, {"prompt_to_repeat": text}),
    Constraint("copy:copying_simple", _official_copy, _copy, {"prompt_to_repeat": text}),
    Constraint("copy:copying_multiple", _official_copies, _copies, {"prompt_to_repeat": text, "N": ordinal}),
    Constraint(
        "new:copy_span_idx", _official_span, _span, {"prompt_to_repeat": text, "n_start": count, "n_end": count}
    ),
)
