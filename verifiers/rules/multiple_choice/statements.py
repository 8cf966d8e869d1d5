"""Sentences that say which option is right: "the answer is C", "C is correct", "so it's C", 故选C."""

import re
from collections import deque
from collections.abc import Iterable

from verifiers import answers
from verifiers.answers import Channel
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams, only
from verifiers.rules.multiple_choice.commitment import Found, commit
from verifiers.rules.multiple_choice.lines import MAX_BARE_CHARS, MAX_LINE_CHARS, edges
from verifiers.rules.multiple_choice.options import BESIDE_CHARS, QUESTION_MARKS, Options, lets_stand
from verifiers.rules.multiple_choice.sightings import SPACE, Scene, Sighting, scene

_MAX_STATEMENTS = 64
"""Of each form; earlier ones are not looked at."""
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
_JOINED_BEFORE = re.compile(
    r"(?:\b(?P<nor>n?or|whether|if|neither|not)|(?P<beside>[^\n.:;!?,/&]{0,60})(?:\band|[,/&]))[\s(*]*(?:(?:option|choice)\s)?$",
    re.IGNORECASE,
)
_JOINED_CHARS = 60
_MAY_LEAD = re.compile(
    r"(?:^|[\n.,:;!?。，*(>/&—-]|\b(?:option|choice|answer|letter|so|thus|hence|therefore|clearly|only|then|believe|think"
    r"|conclude|say|see|means|and|n?or|neither|either|both|whether|if|that|not))[\s(*\[]*$",
    re.IGNORECASE,
)
"""What may stand before a label: the B of "Plan B is correct" is none."""
_IS_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z和与或、及])(?<![A-Z项項)][,，])"
    r"(?:(?<![确確对對][,，])|(?<=不正[确確][,，])|(?<=不[对對][,，]))(?P<option>[A-Z])\s?(?:[选選][项項]|[项項])?(?:是|为|為)?(?:正[确確]|[对對](?![吗于应比照称象着待方]))(?!吗|与否)"
)
_ARE_CORRECT_CJK = re.compile(
    r"(?<![A-Za-z])(?P<option>[A-Z](?:[、,，和与及]?[A-Z]){1,12})(?:[选選][项項]|[项項])?(?:[都均]?是?)正[确確](?!吗)"
)
_TEXT_IS_CORRECT = re.compile(
    r" (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice)\b|(?:correct|right)(?=\s*(?:[.!;,]|$)))",
    re.IGNORECASE,
)
_SUPPOSED_CHARS = 60
_SUPPOSED = re.compile(
    r"(?:^|[.!?\n,;:]\s{0,4})(?:but\s|and\s|so\s)?(?:if|suppose|supposing|assume|assuming|unless|whether)\b[^.!?\n,;]{0,40}\Z",
    re.IGNORECASE,
)
"""Before an answer that holds only in a case that may not be."""
_DENIED_CHARS = 120
_DENIED = re.compile(
    r"(?:(?:n['’]t|\bnot|\bnever|\bcannot)\s(?:really\s|quite\s|necessarily\s)?(?:think|believe|say|claim|suppose|conclude|agree"
    r"|sure|certain|convinced|true|clear|correct|likely|possible|the\scase|mean)|\bdisagree"
    r"|(?<!\bno\s)(?<!\bwithout\s)(?<!\bwithout\sa\s)(?<!\bnot\s)(?<!\bnever\s)(?<!n['’]t\s)\bdoubt(?:ful)?|\bfalse)\s(?:(?:that|if|whether)\s)?"
    r"(?:(?:the|my|our)\s)?(?:(?:correct|right|best|final|true)\s)?(?:(?:answer|option|choice|letter)\s)?"
    r"(?:(?:is|was|(?:would|should|must|could)\sbe)\s)?[\s(\[*\"'“:]{0,6}(?:(?:option|choice|letter)\s)?\Z",
    re.IGNORECASE,
)
"""Before an answer that is said not to be one: "I don't think the answer is …"."""
_LAST_SENTENCE = re.compile(r"[.!?]\s|\n")
_STATEMENTS = Sighting(
    _STATEMENT,
    rf"(?i)\b(?:(?:option|choice){SPACE}(?:is|would be|should be)"
    rf"|answer{SPACE}(?:corresponds|(?:appears|seems){SPACE}to{SPACE}be|(?:among|out{SPACE}of|from){SPACE})"
    rf"|(?:i|we)(?:'d|'ll|{SPACE}would|{SPACE}will)?{SPACE}(?:choose|pick|select|go with))",
    unless="选選正उউ",
)
_ARE_CALLED_CORRECT = Sighting(
    _IS_CORRECT,
    rf"(?i){SPACE}(?:is|must be){SPACE}(?:indeed{SPACE}|clearly{SPACE})?(?:the{SPACE})?(?:only{SPACE}|single{SPACE})?"
    r"(?:correct|right|best|true|answer)\b",
    before=_MAX_OPTION_CHARS,
)
_TEXTS_ARE_CORRECT = Sighting(
    _TEXT_IS_CORRECT, r"(?i) (?:is|are) (?:the (?:correct|right|best) (?:answer|option|choice)|(?:correct|right))\b"
)


def statements(text: str, params: MultipleChoiceParams, options: Options) -> Found | None:
    lines = answers.extract(text, only(params, Channel.ANSWER_LINE))
    offers = {
        candidate.span: candidate.text
        for candidate in lines.candidates
        if not _SUPPOSED.search(text, max(0, candidate.span[0] - _SUPPOSED_CHARS), candidate.span[0])
        and not _is_denied(text, candidate.span)
    }
    seen = scene(text)
    for match in _last(_STATEMENTS.finditer(seen)):
        if not any(start <= match.start() < end for start, end in offers):
            offers[match.span(1)] = match[1]
    for match in _last(_ARE_CALLED_CORRECT.finditer(seen)):
        option = match["option"].strip(" *([])")
        before = _JOINED_BEFORE.search(text, max(0, match.start() - _JOINED_CHARS), match.start("option"))
        if before and before["beside"] is not None and not _is_offered(before["beside"], options):
            before = None
        lead = text[max(0, match.start() - 24) : match.start("option")]
        if options.label(option) and _MAY_LEAD.search(lead) and not (option in "aAI" and not _is_clear(text, match)):
            if before and before["nor"] and before["nor"].lower() != "or":
                continue
            offers[match.span("option")] = f"{option} or other" if before else option
    if any(sign in text for sign in "确確对對"):
        for match in _last((*_IS_CORRECT_CJK.finditer(text), *_ARE_CORRECT_CJK.finditer(text))):
            offers[match.span("option")] = match["option"]
    for match in _last(_TEXTS_ARE_CORRECT.finditer(seen)):
        start = match.start() - len(
            _LAST_SENTENCE.split(text[max(0, match.start() - MAX_LINE_CHARS) : match.start()])[-1]
        )
        if options.by_text(text[start : match.start()]):
            offers[start, match.start()] = text[start : match.start()]
    offers = {span: offer for span, offer in offers.items() if not _is_denied(text, span)}
    last = max((start for start, _ in offers), default=-1)
    offers |= dict(_conclusions(seen, options, last))
    found = commit(sorted(((text, span) for span, text in offers.items()), key=_start), "statement", params, options)
    if found is None or not found.labels or found.span is None:
        return found
    if _stands_beside(text, found.span[1], found.labels, options):
        return Found(None, "conflicting_answers", "statement", None, found.seen)
    return found


def _is_denied(text: str, span: tuple[int, int]) -> bool:
    return _DENIED.search(text, max(0, span[0] - _DENIED_CHARS), span[0]) is not None


_AFFIRMS = re.compile(r"\b(?:correct|right|true|best|answer)\b", re.IGNORECASE)
_REJECTS = re.compile(r"\b(?:not|never|no|wrong|incorrect|false|neither)\b|n['’]t\b", re.IGNORECASE)


def _is_offered(beside: str, options: Options) -> bool:
    """Whether what stands before ", C is correct" or "and C is correct" offers another option."""
    if _REJECTS.search(beside):
        return False
    return _AFFIRMS.search(beside) is not None or options.named(beside, is_declared=False) is not None


_CONCLUDES = re.compile(
    r"(?:\b(?:(?:correct|right|best)\s(?:one|option|choice|letter)\s(?:is|here\sis)|so|thus|hence|therefore|then|ergo|conclusion|final|ans|solution|result|verdict|correct|pick|choose|select|selected|choice"
    r"|go(?:ing)?\swith|settle\son|(?:it|that|this)(?:['’]s|\s(?:is|must\sbe|has\sto\sbe|should\sbe|would\sbe))"
    r")\b|=>|→|⇒|∴|➜)",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"[\s,:.：*-]{0,4}(?:(?:is|it['’]s|it\sis|definitely|clearly|option|choice|letter|answer)[\s:]{1,2}){0,3}"
    r"(?P<option>[(\[*“\"'`]{0,4}[^\n.!?;,()\[\]*“”\"`。！？；，]{1,80}[)\]*”\"'`]{0,4})(?=\s*(?:[.!;,。！；，\n]|$)|\s(?:because|since|as)\b)",
    re.IGNORECASE,
)
_IT_IS = re.compile(r"(?:^|[.!?\n]\s?)\W{0,3}(?P<option>[A-Z])\sit\sis\b")
_LEADS = Sighting(
    _CONCLUDES,
    rf"(?i)\b(?:(?:correct|right|best){SPACE}(?:one|option|choice|letter){SPACE}(?:is|here{SPACE}is)|so|thus|hence|therefore"
    r"|then|ergo|conclusion|final|ans|solution|result|verdict|correct|pick|choose|select|selected|choice"
    rf"|go(?:ing)?{SPACE}with|settle{SPACE}on"
    rf"|(?:it|that|this)(?:['?]s|{SPACE}(?:is|must{SPACE}be|has{SPACE}to{SPACE}be|should{SPACE}be|would{SPACE}be)))\b|=>",
    unless="→⇒∴➜",
)
_MAX_LEAD_CHARS = 300
"""More than lies between the beginning of such a lead and the end of what may stand before its option."""
_SAY_IT_IS = Sighting(_IT_IS, rf"[A-Z]{SPACE}it{SPACE}is\b", before=1 + 1 + 3)
_UNCERTAIN = re.compile(
    r"\b(?:not|never|no|nor|neither|maybe|perhaps|possibly|might|may|could|if|unless|whether|or|either|doubt|unsure|except|wrong)\b"
    r"|n['’]t\b|不|可能|也许|或|如果|错",
    re.IGNORECASE,
)
_THEREFORE = re.compile(r",\s?(?:and\s)?(?:so|thus|hence|therefore)\b", re.IGNORECASE)
"""What was ruled out before it makes no doubt of what follows."""
_SENTENCE_STOP = re.compile(r"[.!?。！？\n]")
_SENTENCE_BEGINS = re.compile(r"[.!?。！？\n;；]")


def _conclusions(seen: Scene, options: Options, after: int) -> Iterable[tuple[tuple[int, int], str]]:
    """Sentences that end in nothing but an option, behind a place: "so it's C.", "Final: (c)", "Therefore, Paris."."""
    text, start = seen.text, max(0, after - _MAX_LEAD_CHARS)
    leads = [_CONCLUDED.match(text, lead.end()) for lead in _last(_LEADS.finditer(seen, start))]
    for match in (*leads, *_last(_SAY_IT_IS.finditer(seen, start))):
        if match is None or match.start("option") <= after or _goes_on(text, match.end("option"), options):
            continue
        option = match["option"].strip()
        lead = _SENTENCE_BEGINS.split(text[max(0, match.start() - MAX_LINE_CHARS) : match.start("option")])[-1]
        lead = _THEREFORE.split(lead)[-1]
        if option in ("a", "i", "I") or _UNCERTAIN.search(lead):
            continue
        asks = _SENTENCE_STOP.search(text, match.end("option"))
        labels = None if asks and asks[0] in QUESTION_MARKS else options.named(option, is_declared=False)
        if labels is not None and len(labels) == 1:
            yield match.span("option"), option


_NEXT_PIECE = re.compile(r"\s*[,;，、/|&)]\s*(?:(?:and|or)\s)?([^,;，、/|&.!?。！？\n]{1,80})")


def _goes_on(text: str, end: int, options: Options) -> bool:
    """Whether another option follows in the same list."""
    piece = _NEXT_PIECE.match(text, end)
    return piece is not None and options.named(piece[1], is_declared=False) is not None


def _stands_beside(text: str, end: int, labels: frozenset[str], options: Options) -> bool:
    """Whether what follows the last statement lets another option stand beside it, or ends in another one."""
    if lets_stand(text[end : end + BESIDE_CHARS], labels, options):
        return True
    lines = edges(text[end:])
    if not lines or len(lines[-1][0]) > MAX_BARE_CHARS or "\n" not in text[end : end + lines[-1][1][0] + 1]:
        return False
    other = options.named(lines[-1][0], is_declared=False)
    return other is not None and not (other and other <= labels)


def _last(matches: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    return deque(matches, maxlen=_MAX_STATEMENTS)


def _start(offer: tuple[str, tuple[int, int]]) -> int:
    return offer[1][0]


def _is_clear(text: str, match: re.Match[str]) -> bool:
    """An A or I that begins "… is correct" is a label unless it is the lower-case article or the pronoun."""
    return match["option"].strip(" *([])") == "A" or "(" in match["option"]
