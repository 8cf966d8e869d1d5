"""Sentences that say which option is right: "the answer is C", "C is correct", "so it's C", 故选C."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from verifiers import answers
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.commitment import Found, commit
from verifiers.rules.multiple_choice.forms import form_of
from verifiers.rules.multiple_choice.lines import ENTRY, MAX_BARE_CHARS, MAX_LINE_CHARS, edges
from verifiers.rules.multiple_choice.options import BESIDE_CHARS, QUESTION_MARKS, SAYS_AGAINST, Options, lets_stand
from verifiers.rules.multiple_choice.phrases import (
    ARE_ALL_CALLED_CORRECT,
    ARE_CALLED_CORRECT,
    ARE_CORRECT_CJK,
    DENIED_CHARS,
    DENIES,
    IS_CORRECT_CJK,
    LEADS,
    SAY_IT_IS,
    STATEMENTS,
    SUPPOSED_CHARS,
    SUPPOSES,
    TEXTS_ARE_CORRECT,
    Clues,
)
from verifiers.sightings import SPACE, Ending, Scene, Sighting

_MAX_STATEMENTS = 64
"""Of each form; earlier ones are not looked at."""
_AROUND_LABEL = " \t\n\r\v\f*()[]"
_EARLIER_SENTENCES = re.compile(r".*(?:[.!?]\s|\n)", re.DOTALL)
_SO = re.compile(r"(?:and\s)?(?:so|thus|hence|therefore|clearly|overall|finally),?\s", re.IGNORECASE)
_JOINED_BEFORE = Ending(
    re.compile(
        r"(?:\b(?P<nor>n?or|whether|if|neither|not)|(?P<joint>\band|[,/&]))[\s(*]*(?:(?:option|choice)\s)?$",
        re.IGNORECASE,
    ),
    rf"(?i)(?:n?or|whether|if|neither|not|and|[,/&])[\x00-\x20\x7F?(*]*(?:(?:option|choice){SPACE})?\n?\z",
)
_JOINED_CHARS = 60
_LEAD_CHARS = 48
_PARTS = re.compile(r"[\n.:;!?,/&]")
_MAY_LEAD = re.compile(
    r"(?:^|[\n.,:;!?。，*(>/&—-]|\b(?:option|choice|answer|letter|statement|alternative|because|since|as|while|whereas|but|so|thus|hence|therefore|clearly|only|then|believe|think"
    r"|conclude|say|see|means|and|n?or|neither|either|both|whether|if|that|not))[\s(*\[]*$",
    re.IGNORECASE,
)
"""What may stand before a label: the B of "Plan B is correct" is none."""


def statements(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    return (
        _plain_ending(clues, params, options)
        or _plainly_correct(clues, params, options)
        or _stated(clues, params, options)
    )


_PLAIN_ENDING = re.compile(
    r"[*_]{0,2}(?:(?:so|thus|hence|therefore),? )?(?:(?:the|my) )?(?:(?:final|correct|right|best) ){0,2}answer[*_]{0,2}"
    r"(?:(?P<colon>(?: is)?:)| is)[*_]{0,2} [*_]{0,2}(?P<option>\(?(?P<label>[A-Z])\)?)[*_]{0,2}\.?[*_]{0,2}",
    re.IGNORECASE,
)
_PLAIN_ENDING_CHARS = 60
_MAX_PLAIN_WORDS = 8


def _plain_ending(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option of a last sentence that is nothing but "the answer is (C)", where there is no clue but answer lines.

    What all the other expressions would find, too, in a fraction of the time; most responses end so.
    """
    seen, words = clues.scene, clues.answer_words
    text = seen.text
    if not words or len(words) > _MAX_PLAIN_WORDS or len(text) - words[-1] > _PLAIN_ENDING_CHARS:
        return None
    if clues.statement is not None or clues.called_correct is not None:
        return None
    start = _sentence_start(text, words[-1])
    ending = _PLAIN_ENDING.fullmatch(text, start)
    if ending is None or (start and text[start - 2 : start].rstrip() not in _SENTENCE_ENDS):
        return None
    label = options.label(ending["label"]) if ending["label"].isupper() else None
    is_heading = ending["colon"] and not answers.announces(text, words[-1])
    if label is None or is_heading:
        return None
    if len(words) == 1 or not any(answers.announces(text, word) for word in words[:-1]):
        return Found(frozenset({label}), "found", "statement", ending.span("option"), (ending["option"],))
    offers = _lines(clues)
    return _committed(offers, params, options) if ending.span("option") in offers else None


_SENTENCE_ENDS = ("", ".", "!", "?")
_PLAINLY_CORRECT = re.compile(
    r"(?:(?P<lead>so|thus|hence|therefore),? )?(?:(?:the )?(?:option|choice|answer) )?\(?[A-Z]\)? is (?:the )?"
    r"(?:correct|right|best)(?: (?P<noun>answer|option|choice))?\.?",
    re.IGNORECASE,
)
_JOINS = ("and", "or", "nor", "whether", "if", "neither", "not", "option", "choice", ",", "/", "&")
"""With what a text ends whose next sentence is not one of its own."""


def _plainly_correct(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The same for a last sentence that is nothing but "option (C) is correct"."""
    seen, words, core = clues.scene, clues.answer_words, clues.called_correct
    text = seen.text
    if words is None or len(words) > _MAX_PLAIN_WORDS or clues.statement is not None:
        return None
    if not core or len(text) - core > _PLAIN_ENDING_CHARS:
        return None
    start = _sentence_start(text, len(text) - 1)
    ending = _PLAINLY_CORRECT.fullmatch(text, start) if core > start else None
    called = None if ending is None else next(ARE_CALLED_CORRECT.finditer(seen, clues.first_called), None)
    if ending is None or called is None or called.start() < start or _is_told_otherwise(text, ending, called, options):
        return None
    option = called["option"].strip(_AROUND_LABEL)
    label = options.label(option) if option.isupper() and option != "I" else None
    if label is None or (not ending["lead"] and _is_joined(text, start)) or _is_denied(seen, called.span("option")):
        return None
    if words and any(answers.announces(text, word) for word in words):
        return _committed(_lines(clues) | {called.span("option"): option}, params, options)
    return Found(frozenset({label}), "found", "statement", called.span("option"), (option,))


def _is_joined(text: str, start: int) -> bool:
    """Whether the sentence at a place goes on with what is before it."""
    return text[max(0, start - _JOINED_CHARS) : start].rstrip(" \n(*").lower().endswith(_JOINS)


def _is_told_otherwise(text: str, ending: re.Match[str], called: re.Match[str], options: Options) -> bool:
    """Whether words of such a sentence are themselves an option's text."""
    if options.by_text_before(text[ending.start() : called.end("option")]) is not None:
        return True
    words = (ending["lead"], ending["noun"], text[called.start("option") : ending.end()].strip(" ."))
    return any(options.named(word, is_declared=False) is not None for word in words if word)


def _sentence_start(text: str, place: int) -> int:
    """Where a sentence begins behind a full stop or on a line of its own."""
    first = max(0, place - _PLAIN_ENDING_CHARS)
    stop = text.rfind(". ", first, place)
    return max(text.rfind("\n", first, place) + 1, 0 if stop < 0 else stop + 2)


def _stated(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    seen = clues.scene
    text = seen.text
    announced, called_right = ({}, {}) if _says_nothing(clues) else _announced(clues, options)
    last = max((start for start, _ in chain(announced, called_right)), default=-1)
    announced |= dict(_conclusions(clues, options, last))
    if params.multi:
        announced = dict(_with_list(text, span, offer, options) for span, offer in announced.items())
        called_right = called_right if announced else _together(called_right)
    if not announced and not called_right:
        return None
    found = _committed(announced, params, options) if announced else None
    if found is not None and called_right:
        called_right = {span: option for span, option in called_right.items() if not _IS_TRUE.match(text, span[1])}
        is_last = not called_right or (params.on_conflict != "reject" and max(announced) > max(called_right))
        found = found if is_last else None
    found = found or _committed(called_right | announced, params, options)
    if found is None or not found.labels or found.span is None:
        return found
    if _stands_beside(text, found.span[1], found.labels, options):
        return Found(None, "conflicting_answers", "statement", None, found.seen)
    return found


_Offers = dict[tuple[int, int], str]
"""By their places."""


def _with_list(text: str, span: tuple[int, int], offer: str, options: Options) -> tuple[tuple[int, int], str]:
    """An offer that begins on a line of its own, with the options on the lines that follow in the same list."""
    start = text.rfind("\n", 0, span[0]) + 1
    if start == 0 or any(map(str.isalnum, text[start : span[0]])):
        return span, offer
    labels: list[str] = []
    while (line := ENTRY.match(text, start)) and (label := options.label(line["label"])):
        told = options.beyond_own_text(line["told"].strip(), label)
        if SAYS_AGAINST.search(told) or len(labels) == _MAX_STATEMENTS:
            return span, offer
        labels.append(label)
        start = line.end() + 1
    return (span, offer) if len(labels) < len("AB") else ((span[0], start - 1), ", ".join(labels))


def _together(called_right: _Offers) -> _Offers:
    """Options that are called right one by one, as the set that they are."""
    options = dict.fromkeys(called_right[span] for span in sorted(called_right))
    return {max(called_right): ", ".join(options)} if len(options) > 1 else called_right


_IS_TRUE = re.compile(
    r"(?:\s\([^()\n]{1,60}\))?\s(?:is|are|must\sbe)\s(?:\w{1,7}\s){0,2}true\b"
    r"|\s?(?:[选選]?[项項]|的?(?:说法|說法|表述|叙述|描述|判断|观点|论述))",
    re.IGNORECASE,
)
"""Behind an option that is no answer beside another one: a false statement may be asked for."""


def _committed(offers: Mapping[tuple[int, int], str], params: MultipleChoiceParams, options: Options) -> Found | None:
    return commit([(offers[span], span) for span in sorted(offers)], "statement", params, options)


def _says_nothing(clues: Clues) -> bool:
    """Whether no sentence announces an answer or calls an option right."""
    return clues.answer_words == () and clues.statement is None and clues.called_correct is None


def _announced(clues: Clues, options: Options) -> tuple[_Offers, _Offers]:
    """What such sentences offer: as the answer, and by calling it right.

    Where a false statement is asked for, or the best of several, others are called right before the answer is told.
    """
    seen = clues.scene
    text = seen.text
    offers = _lines(clues)
    not_denied = frozenset(offers)
    called_right: _Offers = {}
    for match in _last(STATEMENTS.finditer(seen, clues.statement)):
        is_offered = any(start <= match.start() < end for start, end in offers)
        if not is_offered and not _misleads(text, match.start(1)):
            offer = _REASONED.split(match[1], 1)[0]
            offers[match.start(1), match.start(1) + len(offer)] = offer
    for match in _last(ARE_CALLED_CORRECT.finditer(seen, clues.first_called)):
        option = match["option"].strip(_AROUND_LABEL)
        lead = text[max(0, match.start() - _LEAD_CHARS) : match.start("option")]
        is_bracketed = match["option"].lstrip().startswith(("(", "[")) and option.isupper()
        if not options.label(option) or not (is_bracketed or _MAY_LEAD.search(lead)):
            continue
        if (option in "aAI" and not _is_clear(text, match)) or _OTHERS_SAY.search(lead):
            continue
        if " to be " in match[0] and _BUT.match(text, match.end()):
            continue
        first = max(0, match.start() - _JOINED_CHARS)
        before = _JOINED_BEFORE.search(seen, first, match.start("option"))
        if before and before["joint"]:
            beside = _PARTS.split(text[first : before.start("joint")])[-1]
            is_reason = before["joint"] == "," and _REASON_BEFORE.search(text, first, before.start("joint"))
            before = before if _is_offered(beside, options) and not is_reason else None
        if before and before["nor"] and before["nor"].lower() != "or":
            continue
        (offers if _is_told(text, lead, match) else called_right)[match.span("option")] = (
            f"{option} or other" if before else option
        )
    for match in _last(ARE_ALL_CALLED_CORRECT.finditer(seen, clues.first_called)):
        lead = text[max(0, match.start() - _LEAD_CHARS) : match.start()]
        if not _OTHERS_SAY.search(lead) and not _is_supposed(seen, match.start()):
            (offers if _is_told(text, lead, match) else called_right)[match.span("option")] = match["option"]
    if seen.has_other_alphabets and any(sign in text for sign in "确確对對符当"):
        for match in _last((*IS_CORRECT_CJK.finditer(text), *ARE_CORRECT_CJK.finditer(text))):
            called_right[match.span("option")] = match["option"]
    for match in _last(TEXTS_ARE_CORRECT.finditer(seen, clues.first_called)):
        start = max(0, match.start() - MAX_LINE_CHARS)
        earlier = _EARLIER_SENTENCES.match(text, start, match.start())
        start = earlier.end() if earlier else start
        joined = _SO.match(text, start, match.start())
        start = joined.end() if joined else start
        if options.by_text(text[start : match.start()]):
            called_right[start, match.start()] = text[start : match.start()]
    return (
        {span: offer for span, offer in offers.items() if span in not_denied or not _is_denied(seen, span)},
        {span: offer for span, offer in called_right.items() if not _is_denied(seen, span)},
    )


_REASON_BEFORE = re.compile(r"(?:^|[.!?;\n]\s*)(?:since|because|as|given\sthat)\s[^.!?;\n]*\Z", re.IGNORECASE)
"""A clause that gives the reason for the one behind its comma."""
_BUT = re.compile(r"[^.!?\n]{0,30}?[,;]?\s(?:but|however|yet|although|though)\b", re.IGNORECASE)
"""Behind what only seems."""
_TOLD = re.compile(
    r"\b(?:so|thus|hence|therefore|consequently|overall|finally|conclusion|conclude)\b[^.!?\n]{0,30}$", re.IGNORECASE
)
_NOUN_BEHIND = re.compile(r"\s?(?:answer|option|choice)", re.IGNORECASE)


def _is_told(text: str, lead: str, called: re.Match[str]) -> bool:
    """Whether an option is not only called right, but concluded on, or called the answer."""
    is_answer = called[0].lower().endswith("answer") or _NOUN_BEHIND.match(text, called.end()) is not None
    return is_answer or _TOLD.search(lead) is not None


def _lines(clues: Clues) -> _Offers:
    """What answer lines offer, neither supposed nor denied, by its place."""
    seen = clues.scene
    return {
        candidate.span: candidate.text
        for candidate in answers.announced(seen.text, clues.answer_words)
        if not _is_supposed(seen, candidate.span[0])
        and not _is_denied(seen, candidate.span)
        and not _misleads(seen.text, candidate.span[0])
    }


_MISLEADS = re.compile(
    r"\b(?:trap|decoy|distractor|tempting|misleading|previous"
    r"|(?:friend|teacher|students?|classmate|colleague|brother|sister|someone|somebody|everyone|people)['’]s?)"
    r"\s(?:(?:first|final)\s)?(?:answer|option|choice|guess|pick)(?:\s(?:is|was|would\sbe)|:)[\s(*\[:]*$"
    r"|(?:人|同学|同學|学生|學生|考生|大家|[他她]们?|读者|网友|朋友)(?:都|会|會|也|常|就|可能|往往|经常|容易|倾向于|错误地|误){0,3}[选選][择擇]?[\s:：(（*]*$",
    re.IGNORECASE,
)


def _misleads(text: str, place: int) -> bool:
    """Whether what an option is said to be, behind which it stands, is not the answer."""
    return _MISLEADS.search(text, max(0, place - _LEAD_CHARS), place) is not None


def _is_supposed(seen: Scene, place: int) -> bool:
    return SUPPOSES.search(seen, max(0, place - SUPPOSED_CHARS), place) is not None


def _is_denied(seen: Scene, span: tuple[int, int]) -> bool:
    return DENIES.search(seen, max(0, span[0] - DENIED_CHARS), span[0]) is not None


_REASONED = re.compile(r",?\s(?:because|since|as|given\sthat)\s", re.IGNORECASE)
_OTHERS_SAY = re.compile(
    r"\b(?:many|some|most|few|people|students?|others|someone|everyone|they|he|she|you|critics|friend|who)\s(?:\w{1,12}\s)?"
    r"(?:think|thought|believe|say|said|claim|argue|assume|guess|suppose)(?:s|d|ed|es)?\s(?:that\s)?(?:(?:option|choice|answer)\s)?[\s(*\[]*$",
    re.IGNORECASE,
)
_OTHERS_PICK = re.compile(
    r"(?:\b(?:students|people|readers?|candidates|beginners|learners|test[-\s]takers|others)\b(?:\s[\w'’]{1,12}){0,4}"
    r"|\b(?:tempt(?:ed|ing)|refuse[sd]?|hesitate[sd]?|decline[sd]?|easy|mistake|error|trap|pitfall|misconception)\s(?:\w{1,12}\s){0,2}?to(?:\s\w{1,12})?"
    r"|\b(?:mistakenly|wrongly|erroneously|carelessly|falsely))\s(?:pick|choos|select|mark|guess|say|answer|go(?:es|ing)?\swith|went\swith|chose)(?:e|es|s|ed|ing)?"
    r"[\s(*\[]*(?:(?:option|choice|answer)\s)?[\s(*\[]*$",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(r"\b(?:correct|right|true|best|answer)\b", re.IGNORECASE)
_REJECTS = re.compile(r"\b(?:not|never|no|wrong|incorrect|false|neither)\b|n['’]t\b", re.IGNORECASE)


def _is_offered(beside: str, options: Options) -> bool:
    """Whether what stands before ", C is correct" or "and C is correct" offers another option."""
    if _REJECTS.search(beside):
        return False
    return _AFFIRMS.search(beside) is not None or options.named(beside, is_declared=False) is not None


_CONCLUDES = re.compile(
    r"(?:\b(?:(?:correct|right|best|true)\s(?:(?:one|option|choice|letter|statement|match|fit)\s(?:is|here\sis)|(?:ones|options|choices|letters|statements)\sare)|so|thus|hence|therefore|then|ergo|conclusion|final|ans|solution|result|verdict|correct|choose|select|selected|choosing|picking|selecting|mark|(?<!second\s)(?<!third\s)(?<!next\s)(?<!other\s)(?:choice|pick|guess)"
    r"|go(?:ing)?\swith|settle\son|correspond(?:s|ing)\sto|match(?:es|ing)\s(?:with\s)?(?:option|choice)|(?:which|this|that)\s(?:best\s)?matches"
    r"|(?:that|which)\sis\s(?:correct|right|true)\sis"
    r"|(?:it|that|this|which)(?:['’]s|\s(?:is|must\sbe|has\sto\sbe|should\sbe|would\sbe|can\sonly\sbe))"
    r"|(?:that|which)\s(?:best\s)?(?:fits|matches|works|applies)\sis|conclude"
    r"|overall|ultimately|finally|in\s(?:short|brief|summary)|to\s(?:summari[sz]e|sum\sup)|tl;?dr"
    r"|(?:i|we)(?:['’](?:d|ll)|\swould|\swill)?\s(?:say|answer|guess)"
    r"|consistent\swith(?=\s(?:option|choice)\b)|points\sto|leads\s(?:us\s)?to|supports|response\sis"
    r")\b|i\.e\.,?(?=\s(?:option|choice|answer)\b)|=>|→|⇒|∴|➜|⟹)",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"[\s,:.：=*-]{0,4}(?:(?:is|would\sbe|will\sbe|it['’]s|it\sis|definitely|clearly|(?:option|choice)(?!\s(?:#|number\s)?\d)|letter|answer)[\s:]{1,2}){0,3}"
    r"(?P<option>[(\[*“\"'`]{0,4}[^\n.!?;,()\[\]*“”\"`。！？；，]{1,80}[)\]*”\"'`]{0,4})(?=\s*(?:[.!;,。！；，\n]|$)|\s(?:because|since|as|(?:and\s|but\s)?not|rather\sthan|instead\sof)\b|(?<!\sas)(?<!\ssince)(?<!\sbecause)\s\()",
    re.IGNORECASE,
)
_LEADS = Sighting(_CONCLUDES, f"(?i){LEADS}", unless="→⇒∴➜⟹")
_MAX_LEAD_CHARS = 80
"""More than lies between the beginning of such a lead and the end of what may stand before its option."""
_UNCERTAIN = re.compile(
    r"\b(?:not|nothing|none|hardly|cannot|never|no|nor|neither|maybe|perhaps|possibly|might|may|could|if|unless|whether|or|either|doubt|unsure|except|wrong)\b"
    r"|n['’]t\b|不|可能|也许|或|如果|错",
    re.IGNORECASE,
)
_GLOSS = re.compile(r"\s\((?P<shown>[^()\n]{0,120})(?:\)|$)")
"""Behind an option its own text, if the option is all that is said: "Hence, C (Paris)"."""
_EXCLAMATION = re.compile(r"\s*(?:no|nope|nah)[,:—–-]\s*", re.IGNORECASE)
"""Before an answer that is not what was thought: "No, it's C"."""
_THEREFORE = re.compile(r",\s?(?:and\s)?(?:so|thus|hence|therefore)\b", re.IGNORECASE)
"""What was ruled out before it makes no doubt of what follows."""
_NOT_THAT_ONE = re.compile(
    r"(?:\b(?:is|was|it['’]s)\snot|\b(?:is|was)n['’]t|\bnot)\s(?:(?:option|choice|answer)\s)?(?-i:\(?[A-Z]\)?),?\s(?:but\s|rather\s)?(?=it(?:['’]s|\sis)\b)",
    re.IGNORECASE,
)
"""Of another option, before the one that is the answer: "isn't A, it's C"."""
_ELIMINATES = re.compile(r"\b(?:eliminat|exclud|discard|reject|dismiss|remov|cross|rul(?:e|ed|ing)\s)", re.IGNORECASE)
"""In a sentence whose "then" goes on with that."""
_IN_LINE_ABOVE = re.compile(r"correct[^\n:：]*\n", re.IGNORECASE)
"""A lead at the end of a line that says so of something else."""
_SENTENCE_STOP = re.compile(r"[.!?。！？\n]")
_SENTENCE_BEGINS = re.compile(r"[.!?。！？\n;；]")


def _conclusions(clues: Clues, options: Options, after: int) -> Iterable[tuple[tuple[int, int], str]]:
    """Sentences that end in nothing but an option, behind a place: "so it's C.", "Final: (c)", "Therefore, Paris."."""
    seen, text, start = clues.scene, clues.scene.text, max(0, after - _MAX_LEAD_CHARS)
    leads = [_CONCLUDED.match(text, lead.end()) for lead in _leads(seen, options, start)]
    said = SAY_IT_IS.finditer(seen, None if clues.said is None else max(start, clues.said))
    for match in (*leads, *_last(said)):
        if match is None or match.start("option") <= after:
            continue
        option = match["option"].strip()
        if _IN_LINE_ABOVE.search(text, max(0, match.start() - len("correct")), match.start("option")):
            continue
        labels = options.named(option, is_declared=False)
        if (
            not labels
            or (len(labels) > 1 and not options.multi)
            or option in ("a", "i", "I")
            or _goes_on(text, match.end("option"), labels, options)
        ):
            continue
        lead = _SENTENCE_BEGINS.split(text[max(0, match.start() - MAX_LINE_CHARS) : match.start("option")])[-1]
        if (gloss := _GLOSS.match(text, match.end("option"))) and options.named(
            gloss["shown"], is_declared=False
        ) != labels:
            continue
        if text[max(0, match.start() - 4) : match.start()].lower() == "then" and _goes_before(lead, options):
            continue
        asks = _SENTENCE_STOP.search(text, match.end("option"))
        lead = _NOT_THAT_ONE.sub("", _THEREFORE.split(lead)[-1])
        lead = lead[exclaimed.end() :] if (exclaimed := _EXCLAMATION.match(lead)) else lead
        if _OTHERS_PICK.search(lead) or _misleads(text, match.start("option")):
            continue
        if _UNCERTAIN.search(lead) is None and not (asks and asks[0] in QUESTION_MARKS):
            yield match.span("option"), option


def _leads(seen: Scene, options: Options, start: int) -> Iterable[re.Match[str]]:
    """The last leads, less those that no option follows."""
    if seen.shadow is not None and not _LEADS.hides_in(seen):
        leads = [_CONCLUDES.match(seen.text, place) for place in options.first_look.leads(seen, start)]
        if None not in leads:
            return _last(lead for lead in leads if lead is not None)
    return _last(_LEADS.finditer(seen, start))


def _goes_before(lead: str, options: Options) -> bool:
    """Whether what stands before "then" is a step before it: another option is eliminated, or done first."""
    if _ELIMINATES.search(lead):
        return True
    shown = form_of(lead)
    return any(form in shown for form in options.forms if len(form) >= _MIN_FORM_CHARS)


_MIN_FORM_CHARS = 4
_NEXT_PIECE = re.compile(
    r"\s*[,;，、،؛/|&)]\s*(?:(?:and|or)\s)?"
    r"(?:(?:rather|else|even|maybe|perhaps|possibly|it\s(?:is|may\sbe))\s){0,2}([^,;，、،؛/|&.!?。！？؟\n]{1,80})"
)


_LABEL_FIRST = re.compile(r"[(\[*]{0,3}([A-Z])[)\]*]{0,3}(?![\w'’])")


def _goes_on(text: str, end: int, labels: frozenset[str], options: Options) -> bool:
    """Whether another option than those with `labels` follows in the same list."""
    piece = _NEXT_PIECE.match(text, end)
    if piece is None:
        return False
    label = _LABEL_FIRST.match(piece[1])
    is_label = label is not None and label[1] != "I" and options.label(label[1]) is not None
    return is_label or options.named(piece[1], is_declared=False) not in (None, labels)


def _stands_beside(text: str, end: int, labels: frozenset[str], options: Options) -> bool:
    """Whether what follows the last statement lets another option stand beside it, or ends in another one."""
    if lets_stand(text[end : end + BESIDE_CHARS], labels, options):
        return True
    lines = edges(text[end:])
    if not lines or len(lines[-1][0]) > MAX_BARE_CHARS or "\n" not in text[end : end + lines[-1][1][0] + 1]:
        return False
    other = options.named(lines[-1][0], is_declared=False)
    return (
        other is not None and not (other and other <= labels) and not _is_told_of_each(text, end, lines[-2:], options)
    )


_ENTRY = re.compile(
    r"[\s*•#>-]{0,8}(?:(?:option|choice)\s)?[(\[*_]{0,3}([A-Z])[)\]*_]{0,3}\s?[.:)–—-]{1,2}[*_]{0,2}\s+\S",
    re.IGNORECASE,
)


def _is_told_of_each(text: str, end: int, lines: Sequence[tuple[str, tuple[int, int]]], options: Options) -> bool:
    """Whether two lines tell of two options in turn, below a heading, as reasons do: "A: London is in England"."""
    entries = [_ENTRY.match(line) for line, _ in lines]
    labels = [entry and options.label(entry[1]) for entry in entries]
    if len(labels) < len("AB") or None in labels or len({*labels}) < len(labels):
        return False
    if any(_AFFIRMS.search(line) and not SAYS_AGAINST.search(line) for line, _ in lines):
        return False
    rest = text[text.find("\n", end) + 1 :].lstrip()
    first = _ENTRY.match(rest)
    return first is None or options.label(first[1]) is None


def _last(matches: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    return deque(matches, maxlen=_MAX_STATEMENTS)


def _is_clear(text: str, match: re.Match[str]) -> bool:
    """An A or I that begins "… is correct" is a label unless it is the lower-case article or the pronoun."""
    return match["option"].strip(_AROUND_LABEL) == "A" or "(" in match["option"]
