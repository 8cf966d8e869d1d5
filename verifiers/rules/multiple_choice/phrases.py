"""The phrases that tell which option is right, or that what follows is none, and one look that tells where they may be."""

import re
from collections import deque
from collections.abc import Sequence

import msgspec
import re2

from verifiers import answers
from verifiers.sightings import SPACE, Ending, Scene, Sighting, scene

_STATEMENT = re.compile(
    r"(?:\b(?:option|choice)\s(?:is|would be|should be)(?!\s?n[o']t\b)(?:\sthe\b)?"
    r"|\b(?:i|we)(?:'d|'ll|\swould|\swill)?\s(?:choose|pick|select|go with)"
    r"|\banswer\s(?:corresponds\sto|(?:appears|seems)\sto\sbe|(?:among|out\sof|from)\s[^\n.:;?!]{1,40}?\sis(?!\s?n[o']t\b))"
    r"|(?<!不)(?<!不能)(?:选择|選擇|[选選](?![项項择擇]))|正[确確]的?(?:[选選][项項]|答案)?(?:应该)?[是为有](?!不)|(?:उत्तर|উত্তর)(?:\sहै)?)\s?[:：]?\s*([^\n。！]{1,200})",
    re.IGNORECASE,
)
_IS_CORRECT = re.compile(
    r"(?<![\w'’-])(?P<option>[(\[*\s]{0,4}\w{1,8}[)\]*]{0,3})\s(?:is|must be)\s(?:indeed\s|clearly\s)?(?:the\s)?"
    r"(?:only\s|single\s)?(?:correct|right|best|true|answer)\b(?!\s(?:if|only if|when))",
    re.IGNORECASE,
)
_MAX_OPTION_CHARS = 4 + 8 + 3
IS_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z和与或、及])(?<![A-Z项項)][,，])"
    r"(?:(?<![确確对對][,，])|(?<=不正[确確][,，])|(?<=不[对對][,，]))(?P<option>[A-Z])\s?(?:[选選][项項]|[项項])?(?:是|为|為)?(?:正[确確]|[对對](?![吗于应比照称象着待方]))(?!吗|与否)"
)
ARE_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z])(?P<option>[A-Z](?:[、,，和与及]?[A-Z]){1,12})(?:[选選][项項]|[项項])?(?:[都均]?是?)正[确確](?!吗)"
)
_TEXT_IS_CORRECT = re.compile(
    r" (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice)\b|(?:correct|right)(?=\s*(?:[.!;,]|$)))",
    re.IGNORECASE,
)
SUPPOSED_CHARS = 60
_SUPPOSED = re.compile(
    r"(?:^|[.!?\n,;:]\s{0,4})(?:but\s|and\s|so\s)?(?:if|suppose|supposing|assume|assuming|unless|whether)\b[^.!?\n,;]{0,40}\Z",
    re.IGNORECASE,
)
"""Before an answer that holds only in a case that may not be."""
DENIED_CHARS = 120
_DENIED = re.compile(
    r"(?:(?:n['’]t|\bnot|\bnever|\bcannot)\s(?:really\s|quite\s|necessarily\s)?(?:think|believe|say|claim|suppose|conclude|agree"
    r"|sure|certain|convinced|true|clear|correct|likely|possible|the\scase|mean)|\bdisagree"
    r"|(?<!\bno\s)(?<!\bwithout\s)(?<!\bwithout\sa\s)(?<!\bnot\s)(?<!\bnever\s)(?<!n['’]t\s)\bdoubt(?:ful)?|\bfalse)\s(?:(?:that|if|whether)\s)?"
    r"(?:(?:the|my|our)\s)?(?:(?:correct|right|best|final|true)\s)?(?:(?:answer|option|choice|letter)\s)?"
    r"(?:(?:is|was|(?:would|should|must|could)\sbe)\s)?[\s(\[*\"'“:]{0,6}(?:(?:option|choice|letter)\s)?\Z",
    re.IGNORECASE,
)
"""Before an answer that is said not to be one: "I don't think the answer is …"."""
SUPPOSES = Ending(_SUPPOSED, r"(?i)(?:if|suppos(?:e|ing)|assum(?:e|ing)|unless|whether)[^.!\n,;]{0,40}\z")
DENIES = Ending(
    _DENIED,
    rf"(?i)(?:(?:n[?']t|not|never|cannot){SPACE}(?:(?:really|quite|necessarily){SPACE})?(?:think|believe|say|claim|suppose|conclude"
    rf"|agree|sure|certain|convinced|true|clear|correct|likely|possible|the{SPACE}case|mean)|disagree|doubt(?:ful)?|false){SPACE}"
    rf"(?:(?:that|if|whether){SPACE})?(?:(?:the|my|our){SPACE})?(?:(?:correct|right|best|final|true){SPACE})?"
    rf"(?:(?:answer|option|choice|letter){SPACE})?(?:(?:is|was|(?:would|should|must|could){SPACE}be){SPACE})?"
    r"[\x00-\x20\x7F?(\[*\"':]{0,6}"
    rf"(?:(?:option|choice|letter){SPACE})?\z",
)
_STATES = (
    rf"\b(?:(?:option|choice){SPACE}(?:is|would be|should be)"
    rf"|answer{SPACE}(?:corresponds|(?:appears|seems){SPACE}to{SPACE}be|(?:among|out{SPACE}of|from){SPACE})"
    rf"|(?:i|we)(?:'d|'ll|{SPACE}would|{SPACE}will)?{SPACE}(?:choose|pick|select|go with))"
)
_CALLS_CORRECT = (
    rf"{SPACE}(?:is|must be){SPACE}(?:indeed{SPACE}|clearly{SPACE})?(?:the{SPACE})?(?:only{SPACE}|single{SPACE})?"
    r"(?:correct|right|best|true|answer)\b"
)
_CALLS_TEXT_CORRECT = r" (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice)|(?:correct|right))\b"
LEADS = (
    rf"\b(?:(?:correct|right|best){SPACE}(?:one|option|choice|letter){SPACE}(?:is|here{SPACE}is)|so|thus|hence|therefore"
    r"|then|ergo|conclusion|final|ans|solution|result|verdict|correct|pick|choose|select|selected|choice"
    rf"|go(?:ing)?{SPACE}with|settle{SPACE}on"
    rf"|(?:it|that|this)(?:['?]s|{SPACE}(?:is|must{SPACE}be|has{SPACE}to{SPACE}be|should{SPACE}be|would{SPACE}be)))\b|=>"
)
"""With what a sentence may begin that ends in nothing but an option: "so it's C"."""
_STATING_LETTERS = "选選正उউ"
STATEMENTS = Sighting(_STATEMENT, f"(?i){_STATES}", unless=_STATING_LETTERS)
ARE_CALLED_CORRECT = Sighting(_IS_CORRECT, f"(?i){_CALLS_CORRECT}", before=_MAX_OPTION_CHARS)
TEXTS_ARE_CORRECT = Sighting(_TEXT_IS_CORRECT, f"(?i){_CALLS_TEXT_CORRECT}")


class Clues(msgspec.Struct, frozen=True):
    """What one look over a response shows."""

    scene: Scene
    answer_words: Sequence[int] | None
    """Where words begin that may announce an answer; None: that is still to be looked for."""
    statement: int | None
    """Where the first of `STATEMENTS` may begin; None: there are none."""
    called_correct: int | None
    """Where the first of `ARE_CALLED_CORRECT` and `TEXTS_ARE_CORRECT` may begin; None: there are none."""
    has_field: bool
    """Whether there may be a field of JSON for the answer."""


_CLUE = re2.compile(
    rf"(?i)({_CALLS_CORRECT}|{_CALLS_TEXT_CORRECT})|({_STATES})|((?:option|choice)\")|{answers.ANSWER_STEMS}".encode()
)
_OTHER_CLUE = re2.compile(f"(?i){'|'.join(answers.OTHER_ANSWER_STEMS)}|[{_STATING_LETTERS}确確对對]".encode())


def look(text: str) -> Clues:
    """Find in one pass what would take each expression one of its own."""
    seen = scene(text)
    shadow = seen.shadow
    if shadow is None:
        return Clues(seen, None, 0, 0, True)
    if seen.has_other_alphabets and _OTHER_CLUE.search(text.encode("utf-8", "replace")) is None:
        seen = Scene(text, shadow, False)
    words: deque[int] = deque(maxlen=answers.MAX_OFFERS)
    word_end = asked = 0
    statement = 0 if STATEMENTS.hides_in(seen) else None
    called_correct: int | None = None
    has_field = False
    while clue := _CLUE.search(shadow, asked):
        start = clue.start()
        asked = start + 1
        if clue.start(1) == start:
            called_correct = max(0, start - _MAX_OPTION_CHARS) if called_correct is None else called_correct
            continue
        if clue.start(3) == start:
            has_field = has_field or text[start : clue.end()].islower()
            continue
        is_statement = clue.start(2) == start
        if is_statement and statement is None:
            statement = start
        if start >= word_end and not (is_statement and shadow[start] not in b"aA"):
            words.append(start)
            word_end = start + len("answer") if is_statement else clue.end()
            has_field = has_field or text.startswith('answer"', start)
    return Clues(seen, None if seen.has_other_alphabets else tuple(words), statement, called_correct, has_field)
