"""The phrases that tell which option is right, or that what follows is none, and one look that tells where they may be."""

import re
from collections import deque
from collections.abc import Iterator, Sequence

import msgspec

from verifiers import answers
from verifiers.sightings import SPACE, Ending, Scan, Scene, Sighting, beyond_ascii, scene

_STATEMENT = re.compile(
    r"(?:(?<!\bsecond\s)(?<!\bthird\s)(?<!\bnext\s)(?<!\bother\s)\b(?:option|choice)\s(?:is|would be|should be)(?!\s?n[o']t\b)(?:\sthe\b)?"
    r"|\b(?:i|we)(?:'d|'ll|'ve|\swould|\swill|\shave)?\s(?:chosen|chose|choose|picked|pick|selected|select|go with|went with)"
    r"|\b(?:i|we)\s(?:believe|think|find|consider|judge|deem)\sthe\s(?:(?:correct|right|best|final)\s)?(?:answer|option|choice)\sto\sbe(?!\snot\b)"
    r"|\b(?:answer|option|choice|letter)\s(?:(?:that|which)\s)?(?:i|we)(?:['’](?:d|ll|ve))?(?:\s\w{1,12}){1,3}?\sis(?!\s?n[o']t\b)"
    r"|(?:(?<=\bbest\s)|(?<=\bcorrect\s)|(?<=\bright\s)|(?<=likely\s)|(?<=appropriate\s)|(?<=accurate\s)|(?<=suitable\s))"
    r"(?:option|choice)\s(?:among|out\sof|from|of|for)\s[^\n.:;?!]{1,40}?\sis(?!\s?n[o']t\b)"
    r"|\banswer\s(?:corresponds\sto|(?:appears|seems)\sto\sbe|(?:among|out\sof|from)\s[^\n.:;?!]{1,40}?\sis(?!\s?n[o']t\b))"
    r"|(?<![不若未别勿误错])(?<!不[能要会该应])(?<!如果)(?<!假如)(?<!要是)(?<!可能)(?<!也许)(?<!或许)(?:选择|選擇|[选選](?![项項择擇]))|(?<!不)正[确確]的?(?:[选選][项項]|答案)?(?:应该)?[是为有](?!不)|(?:उत्तर|উত্তর)(?:\sहै)?(?![^\n।]{0,60}(?:नहीं|নয়|নয়)))\s?[:：]?\s*([^\n。！]{1,200})",
    re.IGNORECASE,
)
_FITTING = "appropriate|accurate|suitable|likely|plausible|reasonable|logical|fitting|probable|relevant"
_IS_CORRECT = re.compile(
    r"(?<![\w'’-])(?P<option>[(\[*\s]{0,4}\w{1,8}[)\]*]{0,3})(?:\s\((?!\w{1,2}\)|(?:option|choice|answer|letter)\b)[^()\n]{1,60}\))?\s(?:is|must be|seems\sto\sbe|appears\sto\sbe)\s(?:indeed\s|clearly\s)?(?:the\s)?"
    r"(?:only\s|single\s)?(?:correct|right|best|true|answer|better\s(?:choice|option|answer|one)"
    rf"|most\s(?:{_FITTING})(?=\s(?:answer|option|choice|one)\b|[.!*]|$))\b(?!\s(?:if|only|when|unless|provided|assuming)\b|\s?[?？])",
    re.IGNORECASE,
)
_LABEL = r"[(\[*]{0,3}[A-Z][)\]*]{0,3}"
_ARE_CORRECT = re.compile(
    rf"(?<![\w'’-])(?P<option>{_LABEL}(?:(?:,\s?(?:and\s)?|\s(?:and|&)\s){_LABEL}){{1,12}})\s(?i:(?:are|must\sbe)\s(?:indeed\s|clearly\s|both\s|all\s)?"
    r"(?:the\s)?(?:only\s)?(?:correct|right|best|true|answers)\b(?!\s(?:if|only|when|unless|provided|assuming)\b|\s?[?？]))"
)
_MAX_OPTIONS_CHARS = 13 * len("**(C)**, and ")
_MAX_OPTION_CHARS, _MAX_GLOSS_CHARS = 4 + 8 + 3, len(" (") + 60 + len(")")
IS_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z和与或、及若])(?<![A-Z项項)][,，])(?<!如果)(?<!假如)(?<!假设)(?<!要是)"
    r"(?:(?<![确確对對][,，])|(?<=不正[确確][,，])|(?<=不[对對][,，]))(?P<option>[A-Z])\s?(?:[选選][项項]|[项項])?(?:的?(?:说法|說法|表述|叙述|描述|判断|观点|论述))?(?:是|为|為)?(?:符合(?:题意|题目|要求)|当选|正[确確]|[对對](?![吗于应比照称象着待方]))(?!的?[吗嗎?？]|与否)"
)
ARE_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z])(?P<option>[A-Z](?:[、,，和与及]?[A-Z]){1,12})(?:[两兩二三四五]?(?:[选選][项項]|[项項个個]))?(?:[都均]?是?)正[确確](?!的?[吗嗎?？])"
)
_TEXT_IS_CORRECT = re.compile(
    r" (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice|one)\b|(?:correct|right)(?=\s*(?:[.!;,]|$)))",
    re.IGNORECASE,
)
_IT_IS = re.compile(
    r"(?:^|[.!?;\n]\s?|,\s(?=(?i:so|thus|hence|therefore)\b))\W{0,3}(?:(?i:(?:so|thus|hence|therefore|then|ok|okay|well|alright)\b,?\s){1,2})?(?:(?i:option|choice|answer)\s)?"
    r"(?P<option>[(\[*]{0,3}[A-Z][)\]*]{0,3}),?\sit\sis\b(?!\s(?i:n[o']t|never|hardly|unlikely|impossible|wrong|incorrect|false)\b)"
)
_BEFORE_IT_IS_CHARS = 1 + 1 + 3 + len("therefore, alright, ") + len("choice ") + 3
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
    r"|(?<!\bno\s)(?<!\bwithout\s)(?<!\bwithout\sa\s)(?<!\bnot\s)(?<!\bnever\s)(?<!n['’]t\s)\bdoubt(?:ful)?|\bfalse|\bdebatable|\bquestionable"
    r"|\bun(?:clear|known|certain|sure|decided)(?=\s(?:if|whether)\b)|\b(?:knows?|tell|wonder(?:ing)?|say|determine|decide)(?=\s(?:if|whether)\b)|\b(?:maybe|perhaps|possibly))\s(?:(?:that|if|whether)\s)?"
    r"(?:(?:the|my|our)\s)?(?:(?:correct|right|best|final|true)\s)?(?:(?:answer|option|choice|letter)\s)?"
    r"(?:(?:is|was|(?:would|should|must|could)\sbe)\s)?[\s(\[*\"'“:]{0,6}(?:(?:option|choice|letter)\s)?\Z",
    re.IGNORECASE,
)
"""Before an answer that is said not to be one: "I don't think the answer is …"."""
SUPPOSES = Ending(_SUPPOSED, r"(?i)(?:if|suppos(?:e|ing)|assum(?:e|ing)|unless|whether)[^.!\n,;]{0,40}\z")
DENIES = Ending(
    _DENIED,
    rf"(?i)(?:(?:n[?']t|not|never|cannot){SPACE}(?:(?:really|quite|necessarily){SPACE})?(?:think|believe|say|claim|suppose|conclude"
    rf"|agree|sure|certain|convinced|true|clear|correct|likely|possible|the{SPACE}case|mean)|disagree|doubt(?:ful)?|false|debatable|questionable|un(?:clear|known|certain|sure|decided)|knows?|tell|wonder(?:ing)?|determine|decide|maybe|perhaps|possibly){SPACE}"
    rf"(?:(?:that|if|whether){SPACE})?(?:(?:the|my|our){SPACE})?(?:(?:correct|right|best|final|true){SPACE})?"
    rf"(?:(?:answer|option|choice|letter){SPACE})?(?:(?:is|was|(?:would|should|must|could){SPACE}be){SPACE})?"
    r"[\x00-\x20\x7F?(\[*\"':]{0,6}"
    rf"(?:(?:option|choice|letter){SPACE})?\z",
)
_STATES = (
    rf"\b(?:(?:option|choice){SPACE}(?:is|would be|should be|(?:among|out{SPACE}of|from|of|for){SPACE})"
    rf"|answer{SPACE}(?:corresponds|(?:appears|seems){SPACE}to{SPACE}be|(?:among|out{SPACE}of|from){SPACE})"
    rf"|(?:i|we)(?:'d|'ll|'ve|{SPACE}would|{SPACE}will|{SPACE}have)?{SPACE}(?:chosen|chose|choose|pick|select|go with|went with)"
    rf"|(?:i|we){SPACE}(?:believe|think|find|consider|judge|deem){SPACE}the{SPACE}(?:(?:correct|right|best|final){SPACE})?(?:answer|option|choice){SPACE}to{SPACE}be"
    rf"|(?:answer|option|choice|letter){SPACE}(?:(?:that|which){SPACE})?(?:i|we)(?:['?](?:d|ll|ve))?{SPACE})"
)
_CORRECT = (
    rf"(?:the{SPACE})?(?:only{SPACE}|single{SPACE})?"
    rf"(?:correct|right|best|true|answers?|better{SPACE}(?:choice|option|answer|one)|most{SPACE}(?:{_FITTING}))\b"
)
_CALLS_CORRECT = (
    rf"{SPACE}(?:is|must be|(?:seems|appears){SPACE}to{SPACE}be){SPACE}(?:indeed{SPACE}|clearly{SPACE})?{_CORRECT}"
)
_CALLS_ALL_CORRECT = (
    rf"{SPACE}(?:are|must{SPACE}be){SPACE}(?:indeed{SPACE}|clearly{SPACE}|both{SPACE}|all{SPACE})?{_CORRECT}"
)
_CALLS_TEXT_CORRECT = r" (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice|one)|(?:correct|right))\b"
LEADS = (
    rf"\b(?:(?:correct|right|best|true){SPACE}(?:(?:one|option|choice|letter|statement|match|fit){SPACE}(?:is|here{SPACE}is)|(?:ones|options|choices|letters|statements){SPACE}are)|so|thus|hence|therefore"
    r"|then|ergo|conclusion|final|ans|solution|result|verdict|correct|guess|pick|choose|select|selected|choosing|picking|selecting|mark|choice"
    rf"|go(?:ing)?{SPACE}with|settle{SPACE}on|correspond(?:s|ing){SPACE}to|match(?:es|ing){SPACE}(?:with{SPACE})?(?:option|choice)|(?:which|this|that){SPACE}(?:best{SPACE})?matches"
    rf"|(?:that|which){SPACE}is{SPACE}(?:correct|right|true){SPACE}is"
    rf"|(?:it|that|this|which)(?:['?]s|{SPACE}(?:is|must{SPACE}be|has{SPACE}to{SPACE}be|should{SPACE}be|would{SPACE}be|can{SPACE}only{SPACE}be))"
    rf"|(?:that|which){SPACE}(?:best{SPACE})?(?:fits|matches|works|applies){SPACE}is|conclude"
    rf"|overall|ultimately|finally|in{SPACE}(?:short|brief|summary)|to{SPACE}(?:summari[sz]e|sum{SPACE}up)|tl;?dr"
    rf"|(?:i|we)(?:['?](?:d|ll)|{SPACE}would|{SPACE}will)?{SPACE}(?:say|answer|guess)"
    rf"|consistent{SPACE}with|points{SPACE}to|leads{SPACE}(?:us{SPACE})?to|supports|response{SPACE}is)\b|\bi\.e\.,?|=>"
)
"""With what a sentence may begin that ends in nothing but an option: "so it's C"."""
_SAYS_IT_IS = rf"[A-Z][)\]*]{{0,3}},?{SPACE}it{SPACE}is\b"
_STATING_LETTERS = "选選正उউ"
STATEMENTS = Sighting(_STATEMENT, f"(?i){_STATES}", unless=_STATING_LETTERS)
ARE_CALLED_CORRECT = Sighting(
    _IS_CORRECT, f"(?i){_CALLS_CORRECT}", before=_MAX_OPTION_CHARS, bracketed=_MAX_GLOSS_CHARS
)
ARE_ALL_CALLED_CORRECT = Sighting(_ARE_CORRECT, f"(?i){_CALLS_ALL_CORRECT}", before=_MAX_OPTIONS_CHARS)
TEXTS_ARE_CORRECT = Sighting(_TEXT_IS_CORRECT, f"(?i){_CALLS_TEXT_CORRECT}")
SAY_IT_IS = Sighting(_IT_IS, _SAYS_IT_IS, before=_BEFORE_IT_IS_CHARS)


class Clues(msgspec.Struct, frozen=True):
    """What one look over a response shows."""

    scene: Scene
    answer_words: Sequence[int] | None
    """Where words begin that may announce an answer; None: that is still to be looked for."""
    statement: int | None
    """Where the first of `STATEMENTS` may begin; None: there are none."""
    called_correct: int | None
    """Where the first words are that may call an option right; None: there are none."""
    said: int | None
    """Where the first of `SAY_IT_IS` may begin; None: there are none."""
    has_field: bool
    """Whether there may be a field of JSON for the answer."""

    @property
    def first_called(self) -> int | None:
        """Where the first of `ARE_CALLED_CORRECT`, `ARE_ALL_CALLED_CORRECT` and `TEXTS_ARE_CORRECT` may begin."""
        return None if self.called_correct is None else max(0, self.called_correct - _MAX_OPTIONS_CHARS)


_CLUE = Scan(
    rf"(?i){_CALLS_CORRECT}|{_CALLS_ALL_CORRECT}|{_CALLS_TEXT_CORRECT}|{_STATES}|(?:option|choice)\"|(?-i:{_SAYS_IT_IS})|{answers.ANSWER_STEMS}"
)
_SPACES = frozenset(b"?\x7f") | frozenset(range(0x21))
"""What `SPACE` matches."""
_OTHER_CLUE = Scan(f"(?i){'|'.join(answers.OTHER_ANSWER_STEMS)}|[{_STATING_LETTERS}确確对對]|符合|当选")


def look(text: str) -> Clues:
    """Find in one pass what would take each expression one of its own."""
    seen = scene(text)
    shadow = seen.shadow
    if shadow is None:
        return Clues(seen, None, 0, 0, 0, True)
    if seen.has_other_alphabets and not _OTHER_CLUE.is_in(beyond_ascii(text).encode("utf-8", "replace")):
        seen = Scene(text, shadow, False)
    words: deque[int] = deque(maxlen=answers.MAX_OFFERS)
    word_end = 0
    statement = 0 if STATEMENTS.hides_in(seen) else None
    called_correct: int | None = None
    said: int | None = None
    has_field = False
    for start, end in _clues(shadow):
        if shadow[start] in _SPACES:
            called_correct = start if called_correct is None else called_correct
        elif shadow[end - 1] == _QUOTE:
            has_field = has_field or text[start:end].islower()
        elif shadow[end - 1] == _LAST_OF_IS and not shadow[start + 1 : start + 2].isalpha():
            said = max(0, start - _BEFORE_IT_IS_CHARS) if said is None else said
        else:
            is_word = end == start + _WORD_CHARS and shadow[start] in b"aA"
            is_statement = not is_word and shadow[start : start + 2].lower() in _STATEMENT_BEGINNINGS
            if is_statement and statement is None:
                statement = start
            if start >= word_end and (not is_statement or shadow[start] in b"aA"):
                words.append(start)
                word_end = start + _WORD_CHARS if is_statement else end
                has_field = has_field or text.startswith('answer"', start)
    return Clues(seen, None if seen.has_other_alphabets else tuple(words), statement, called_correct, said, has_field)


_QUOTE, _LAST_OF_IS = b'"s'
_WORD_CHARS = len("answer")
_STATEMENT_BEGINNINGS = frozenset(
    {b"an", b"op", b"ch", b"le", b"we", *(bytes((*b"i", char)) for char in (*_SPACES, *b"'"))}
)
"""With what `_STATES` begins, of all clues but the word "answer"."""


def _clues(shadow: bytes) -> Iterator[tuple[int, int]]:
    """Where clues are, those that begin inside other ones too. None begins inside the word "answer"."""
    start = 0
    while clue := _CLUE.find(shadow, start):
        yield clue
        first, end = clue
        start = end if end - first == _WORD_CHARS else first + 1
