"""Verbs in the mood of what is not the case: the "ignored" and "would" of "if we ignored friction, it would be", "fuera" and "sería".

A lexicon lists such words under `unreal` (in the condition) and `conditional` (of what would follow), and the endings that only such forms
of its verbs have under `unreal_endings` and `conditional_endings`.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from verifiers.commitment.cues import Word, languages, listed

_FEWEST_LETTERS = 5
"""Shorter words are no verbs with such an ending: "red", "seria" is."""


def is_conditional(word: Word) -> bool:
    """Whether a word tells what would be."""
    return word.text in listed("conditional") or any(_ends(word, endings) for endings, _ in _endings().values())


def unreal_places(phrase: Sequence[Word], would: Word) -> Sequence[int]:
    """The places of words that tell what is not the case, beside a word that tells what would be.

    Only the endings of that word's language count, and none behind a verb: "is doubled".
    """
    terms = listed("unreal")
    endings = [item for language, item in _endings().items() if _is_of(language, would, item[0])]
    verbs = listed("singular") | listed("plural") | listed("possesses") | listed("being")
    indices = [index for index, word in enumerate(phrase) if word is not would and word.text in terms]
    for index, word in enumerate(phrase[1:], 1):
        is_verb = any(_ends(word, unreal) for _, unreal in endings) and phrase[index - 1].text not in verbs
        indices += [index] if is_verb and word is not would and word.text not in terms else []
    return sorted(indices)


def supposes(phrase: Sequence[Word]) -> bool:
    """Whether words of one language tell a condition, and what would follow from it: "it would be 12 if it rained", "olsaydı olurdu".

    A condition is a word of `if`, or has one of a language's `condition_endings`.
    """
    wordings = {word.text for word in phrase}
    for lexicon in _suppositions():
        would, endings = lexicon["conditional"], lexicon["conditional_endings"]
        if wordings.isdisjoint(would) and not any(word.endswith(endings) for word in wordings):
            continue
        if not wordings.isdisjoint(lexicon["if"]) or any(
            word.endswith(lexicon["condition_endings"]) for word in wordings
        ):
            return True
    return False


@cache
def _suppositions() -> Sequence[Mapping[str, tuple[str, ...]]]:
    return [
        {
            name: tuple(lexicon.get(name, ()))
            for name in ("if", "conditional", "conditional_endings", "condition_endings")
        }
        for lexicon in languages().values()
    ]


def _is_of(language: str, would: Word, endings: tuple[str, ...]) -> bool:
    return would.text in languages()[language].get("conditional", ()) or _ends(would, endings)


def _ends(word: Word, endings: tuple[str, ...]) -> bool:
    return len(word.text) >= _FEWEST_LETTERS and word.text.endswith(endings)


@cache
def _endings() -> Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """The endings of languages that have some: of what would be, and of what is not the case."""
    table = {
        language: (tuple(lexicon.get("conditional_endings", ())), tuple(lexicon.get("unreal_endings", ())))
        for language, lexicon in languages().items()
    }
    return {language: endings for language, endings in table.items() if any(endings)}
