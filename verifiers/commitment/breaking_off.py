r"""A response that breaks off in doubt: behind its answer the speaker halts ("wait", "hmm", "oops", 等等), and nothing settles why.

    \boxed{42}  Wait, the question asks for the perimeter.         taken back
    \boxed{42}  Wait, is n even? Yes. / Hmm, 6 * 7 = 42. Good.     settled

Settled is what a later sentence calls right, answers, or names again. What halts is a slot of `verdict` in the lexicons.
"""

from collections.abc import Callable

from verifiers.commitment.cues import Kind, first_word, listed, words
from verifiers.commitment.slots import is_word, openings_of, parts
from verifiers.commitment.stance import Sentence, sentences
from verifiers.commitment.wording import openings

_MAX_CHARS = 2_000
"""How far behind an answer a halt is looked for."""
_MAX_OPENING_WORDS = 16
_ANSWER_CHARS = 40
_PAUSES = frozenset(",;:，；：、،؛—–-…")
_HALTS = ("halt", "hum", "alarm")
_OPENS = (*_HALTS, "turn")
_SETTLES = frozenset([Kind.FITS, Kind.CALLED, Kind.TRUE])
_UNSETTLES = frozenset([Kind.NOT, Kind.NO, Kind.WRONG, Kind.BAD, Kind.DOUBT, Kind.MAYBE, Kind.IF])
_ANSWERS = frozenset([Kind.YES, Kind.NO, Kind.NOT, Kind.WRONG])


def halted_at(text: str, answer_end: int, start: int, affirms: Callable[[Sentence], bool]) -> int | None:
    """The end of a text whose last halt behind an answer is not settled; None if none is left.

    `begin` is the first word behind the answer; `affirms` tells whether a sentence calls the answer right.
    """
    is_open = was_asked = False
    for sentence in sentences(text, max(start, len(text) - _MAX_CHARS), len(text)):
        is_halt = _halts(sentence)
        if is_halt or is_open:
            is_answer = was_asked and not is_halt and not _ANSWERS.isdisjoint(sentence.kinds)
            is_open = not (is_answer or _settles(sentence, _number(text, answer_end)) or affirms(sentence))
        was_asked = sentence.asks
    return len(text) if is_open else None


def _number(text: str, answer_end: int) -> list[str]:
    """The last number of the answer, if it has one."""
    phrase = words(text, max(0, answer_end - _ANSWER_CHARS), answer_end)
    return [word.text for word in phrase if word.text[0].isdigit()][-1:]


def _halts(sentence: Sentence) -> bool:
    """Whether a sentence begins by halting, past words that turn: "But wait, …", "Actually, hold on."."""
    first = first_word(sentence.text, sentence.heard_from, sentence.end)
    if first not in openings_of("verdict", *_OPENS) and first not in openings(Kind.BUT):
        return False
    opening = sentence.words[:_MAX_OPENING_WORDS]
    stops = {part.first: (part.stop, part.slot) for part in parts("verdict", opening) if part.slot in _OPENS}
    index = 0
    while index < len(opening):
        stop, slot = stops.get(index, (index, ""))
        if slot in _HALTS:
            is_apart = stop == len(sentence.words) or sentence.words[stop].text in _PAUSES
            # "Hmm, that was easy" halts nothing, "hmm, that cannot be" does.
            is_heard = slot != "hum" or not _UNSETTLES.isdisjoint(sentence.kinds)
            return is_apart and is_heard and not _adds(sentence)
        stop = max(stop, sentence.past_cue(index, Kind.BUT), index + (opening[index].text in _PAUSES))
        if stop == index:
            return False
        index = stop
    return False


def _adds(sentence: Sentence) -> bool:
    """Whether a speaker only adds what he had left unsaid: "I forgot to mention that"."""
    slots = {part.slot for part in parts("slip", sentence.words)}
    is_near = any(word.text in listed("in_part") for word in sentence.words)  # "I nearly forgot" left nothing out
    return ("tells" in slots or is_near) and not slots.isdisjoint(["did", "own"])


def _settles(sentence: Sentence, number: list[str]) -> bool:
    """Whether a sentence calls something right, computes, or names the number of the answer again, and denies and asks nothing."""
    kinds = {cue.kind for cue in sentence.cues if is_word(sentence.words[cue.first])}  # "×" denies nothing in 6 × 7
    if sentence.asks or not _UNSETTLES.isdisjoint(kinds):
        return False
    text = sentence.text[sentence.start : sentence.end]
    if "=" in text and not any(map(str.isalpha, text)):
        return True
    return not _SETTLES.isdisjoint(kinds) or any(word.text in number for word in sentence.words)
