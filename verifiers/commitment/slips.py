"""The slips that a speaker names: "I forgot the factor of 2", "ich habe die Aufgabe falsch gelesen", 等等，漏掉了一种情况.

A slip is a verb for it beside the speaker (`by`, `did`), or a form of the verb that only the speaker uses (`own`: "olvidé"), of one
language, or a `verb` with a word like `badly` behind it. What was forgotten or misread may be any words. Behind words that turn ("wait") nobody else can be meant, so that the speaker
may be left out. Nothing is a slip that is denied or supposed, nor is it one of the value to have left something unsaid (`tells`).

    Wait,  I just forgot  to divide by 2        Moment,  ich  habe einen Summanden vergessen
           by     did                                    by                        did
"""

from itertools import product

from verifiers import numerals
from verifiers.commitment.contrasts import ends_in_denial
from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.slots import Part, is_word, parts
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import Sentence

_OPEN = frozenset([Kind.NOT, Kind.IF, Kind.MAYBE, Kind.SAID, Kind.DOUBT])
_NOTHING = frozenset([Kind.NOT, Kind.NO])
_OPEN_FROM_AFAR = frozenset([Kind.IF, Kind.SAID])


def names_slip(sentence: Sentence, first: int, stop: int, is_led: bool) -> bool:
    """Whether the words between two places name a slip of the speaker; `is_led` says that words that turn stand before them."""
    slots = [
        part._replace(first=part.first + first, stop=part.stop + first)
        for part in parts("slip", sentence.words[first:stop])
    ]
    pieces = [part for part in slots if part.slot in ("did", "own")]
    pieces += [
        Part(verb.language, "did", verb.first, badly.stop)
        for verb, badly in product(slots, slots)
        if (verb.slot, badly.slot, verb.language) == ("verb", "badly", badly.language) and verb.stop <= badly.first
    ]
    return any(_is_slip(sentence, part, slots, (first, stop), is_led) for part in pieces)


def _is_thought(sentence: Sentence, slip: Part, slots: list[Part]) -> bool:
    """Whether the speaker only has a thought of a slip: "I was worried that I had misread it"; not "I see that I misread it"."""
    speakers = [part for part in slots if part.slot == "by" and part.stop <= slip.first]
    if len(speakers) < _THINKS:
        return False
    between = sentence.words[speakers[0].stop : speakers[-1].first]
    indices = {at for part in parts("verdict", between) for at in range(part.first, part.stop)}
    return any(is_word(word) and at not in indices for at, word in enumerate(between))


_THINKS = 2


def _is_on_task(sentence: Sentence, slip: Part, clause: Span) -> bool:
    """Whether only the task stands before a slip, so that nobody but the speaker can be meant: 題目を読み間違えた."""
    prefix = sentence.words[clause[0] : slip.first]
    table = {at: part.slot for part in parts("verdict", prefix) for at in range(part.first, part.stop)}
    slots = {table.get(at) for at, word in enumerate(prefix) if is_word(word)}
    return "task" in slots and slots <= {"task", "filler", "this"}


def _is_counted(sentence: Sentence, part: Part) -> bool:
    following = sentence.words[part.stop : part.stop + 1]
    return bool(following) and (following[0].text[0].isdigit() or numerals.value(following[0].text) is not None)


def _is_slip(sentence: Sentence, slip: Part, slots: list[Part], clause: Span, is_led: bool) -> bool:
    # "I forgot to add 1" has left out a summand, "I forgot to add that" a remark.
    terms = {part.slot for part in slots if part.language == slip.language and not _is_counted(sentence, part)}
    if "tells" in terms or not (slip.slot == "own" or is_led or "by" in terms or _is_on_task(sentence, slip, clause)):
        return False
    if sentence.is_inverted or _is_thought(sentence, slip, slots):
        return False
    cues = [cue for cue in sentence.cues if cue.stop <= slip.first]
    is_open = any(cue.kind in _OPEN and (cue.kind in _OPEN_FROM_AFAR or clause[0] <= cue.first) for cue in cues)
    texts = [word.text for word in sentence.words[slip.stop : clause[1]]]
    # "I made a mistake when I wrote 1800" is about the 1800.
    is_of_other = not listed("temporal").isdisjoint(texts) and any(word[0].isdigit() for word in texts)
    is_denied = ends_in_denial("".join(texts)) or (
        slip.stop < len(sentence.words) and sentence.begins(slip.stop, *_NOTHING)
    )
    return not (is_open or is_of_other or is_denied)
