"""Where a response names its option: the first place that is used decides."""

import re
from collections import deque
from collections.abc import Callable, Iterable

from verifiers import answers
from verifiers.answers import Channel, Extraction
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams, only
from verifiers.rules.multiple_choice.closing import closing_words, marked
from verifiers.rules.multiple_choice.commitment import Found, commit
from verifiers.rules.multiple_choice.forms import EDGES
from verifiers.rules.multiple_choice.judged_lists import judged
from verifiers.rules.multiple_choice.lines import MAX_BARE_CHARS, edge_lines, last_line, opening_text, told_text
from verifiers.rules.multiple_choice.options import BESIDE_CHARS, MAX_PAYLOAD_CHARS, Options, lets_stand
from verifiers.rules.multiple_choice.phrases import Clues, look
from verifiers.rules.multiple_choice.statements import statements

_JSON = re.compile(
    r'"(?:final_)?(?:answer|choice|option)"\s{0,8}:\s{0,8}("[^"\\\n]{0,300}"|\[[^\]]{0,300}\]|\d{1,3}|[A-Za-z](?=\s*[,}]))',
    re.IGNORECASE,
)
_IN_OBJECT = re.compile(
    r'"(?:final_)?(?:answer|choice|option)"\s{0,8}:\s{0,8}\{[^{}]{0,300}?"(?:label|letter|option|choice|key|id)"\s{0,8}:\s{0,8}"(?P<label>[^"\\\n]{1,8})"'
    r"[^{}]{0,300}\}",
    re.IGNORECASE,
)
"""A field whose value is an object: `{"answer": {"label": "C", "text": "Paris"}}`."""
_MAX_FIELDS = 64
"""Earlier ones are not looked at."""


def find(response: str, params: MultipleChoiceParams, options: Options) -> Found:
    response = answers.without_html(answers.without_struck(response))
    is_named = params.extract != "auto"
    segment = answers.final_segment(response, params.think)
    if is_named or "<" in response or "\\" in response:
        extraction = answers.extract(response, params, (Channel.ANSWER_TAG, Channel.BOXED), segment)
        if is_named or extraction.channel is not None or extraction.reason != "no_answer":
            return _extracted(response, extraction, params, options)
    if segment.reason != "found":
        return Found(None, segment.reason)
    text, offset = response[segment.start : segment.end], segment.start
    clues = look(text)
    found = _first(clues, (_json, _bare, _hash, statements), params, options)
    if found is None:
        end = answers.without_courtesy(text, 0, len(text))
        clues = clues if end == len(text) else look(text[:end])
        found = _first(clues, (marked, judged, closing_words, edge_lines, opening_text, told_text), params, options)
    if found is None:
        return Found(None, "no_answer")
    span = (found.span[0] + offset, found.span[1] + offset) if found.span else None
    return Found(found.labels, found.reason, found.channel, span, found.seen)


_Place = Callable[[Clues, MultipleChoiceParams, Options], Found | None]


def _first(clues: Clues, places: Iterable[_Place], params: MultipleChoiceParams, options: Options) -> Found | None:
    for place in places:
        if (found := place(clues, params, options)) is not None:
            return found
    return None


def _extracted(response: str, extraction: Extraction, params: MultipleChoiceParams, options: Options) -> Found:
    channel = extraction.channel.value if extraction.channel else ""
    seen = tuple(candidate.text for candidate in extraction.candidates)
    if extraction.answer is None:
        return Found(None, extraction.reason, channel, None, seen)
    offers = [(candidate.text, candidate.span) for candidate in extraction.candidates]
    offers = [*offers[:-1], (extraction.answer, extraction.span or offers[-1][1])]
    found = commit(offers, channel, params, options, last_must_name=True) or Found(None, "no_answer")
    if found.labels and found.span and lets_stand(_behind(response, found.span[1]), found.labels, options):
        return Found(None, "conflicting_answers", channel, None, seen)
    return found


_REST_OF_MARKUP = re.compile(r"(?:[^\w<]{0,8}</\w{1,12}>)?[^\w\n]{0,8}")


def _behind(response: str, end: int) -> str:
    """What follows an answer in a tag or a box, without the rest of that."""
    rest = response[end : end + BESIDE_CHARS]
    markup = _REST_OF_MARKUP.match(rest)
    return rest[markup.end() :] if markup else rest


def _json(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    if not clues.has_field:
        return None
    matches = deque(_JSON.finditer(clues.scene.text), maxlen=_MAX_FIELDS)
    objects = deque(_IN_OBJECT.finditer(clues.scene.text), maxlen=_MAX_FIELDS) if "{" in clues.scene.text else ()
    if objects and (not matches or matches[-1].start() < objects[-1].end()):
        offers = [(each["label"], each.span("label")) for each in objects]
    else:
        offers = [(match[1], match.span(1)) for match in matches]
    return _unless_told_else(clues, commit(offers, "json", params, options, last_must_name=True), params, options)


def _unless_told_else(
    clues: Clues, found: Found | None, params: MultipleChoiceParams, options: Options
) -> Found | None:
    """What a field or a mark gives, if no sentence behind it says something else."""
    if found is None or not found.labels or found.span is None:
        return found
    rest = clues.scene.text[found.span[1] :].rpartition("}")[2].lstrip(_BEHIND_FIELD)
    if not any(map(str.isalpha, rest)):
        return found
    told = statements(look(rest), params, options)
    is_else = told.labels != found.labels if told else lets_stand(rest[:BESIDE_CHARS], found.labels, options)
    last = options.named(last_line(rest), is_declared=False)
    if is_else or last not in (None, found.labels):
        return Found(None, "conflicting_answers", found.channel, None, (*found.seen, *(told.seen if told else ())))
    return found


_BEHIND_FIELD = " \t\r\n\"'}])`*_"


_NUMBERED = re.compile(
    r"(?:(?:question|answer|ans|problem|no|q)\.?\s?#?)?\d{1,3}\s?[.):]\s(?=\W{0,4}[A-Z]\W{0,4}\Z)", re.IGNORECASE
)
"""Before an answer to the one question that has a number: "1. C", "Q1: C"."""


_ASKED = re.compile(
    r"\W{0,6}(?:(?:question|q)\s?[:.]\s?)?(?:what|which|who|whom|whose|where|when|how|why)\b[^\n?]{1,300}\?\s+(?=\S)",
    re.IGNORECASE,
)
"""The question, said again before what answers it: "Which city is it? C"."""


_INTERJECTION = re.compile(
    r"(?P<said>yes|yeah|yep|no|nope|sure(?:\sthing)?|ok(?:ay)?|alright|right|well|of\scourse|certainly|absolutely|easy|simple|hmm+|great\squestion|good\squestion)"
    r"(?:[,:]|[.!…]{1,3}|\s?[—–-])\s+(?=\S)",
    re.IGNORECASE,
)
"""Before the answer, where it is none itself: "Sure! C"."""


def _bare(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    text = clues.scene.text
    if (numbered := _NUMBERED.match(text)) and options.label(label := text[numbered.end() :].strip(EDGES)):
        return commit([(label, (numbered.end(), len(text)))], "bare", params, options, last_must_name=True)
    if "?" in text and "\n" not in text and (asked := _ASKED.match(text)) and "?" not in text[asked.end() :]:
        shown = text[asked.end() :]
        if len(shown) <= max(MAX_BARE_CHARS, options.longest_chars + 8) and options.named(shown, is_declared=False):
            return commit([(shown, (asked.end(), len(text)))], "bare", params, options, last_must_name=True)
    if len(text) <= MAX_BARE_CHARS and (said := _INTERJECTION.match(text)) and "\n" not in text:
        shown = text[said.end() :]
        if options.named(said["said"], is_declared=False) is None and options.named(shown, is_declared=False):
            return commit([(shown, (said.end(), len(text)))], "bare", params, options, last_must_name=True)
    limit = MAX_PAYLOAD_CHARS if params.multi else max(MAX_BARE_CHARS, options.longest_chars + 8)
    if len(text) > limit or ("\n" in text and not params.multi) or not options.named(text, is_declared=False):
        return None
    return commit([(text, (0, len(text)))], "bare", params, options, last_must_name=True)


def _hash(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    text = clues.scene.text
    if "#" not in text or "####" not in text:
        return None
    extraction = answers.extract(text, only(params, Channel.HASH4))
    if extraction.answer is None or not options.named(extraction.answer, is_declared=True):
        return None
    return _unless_told_else(clues, _extracted(text, extraction, params, options), params, options)
