"""Questions that have no answer, as in SQuAD 2.0, where an empty reference says so.

Right is an empty answer tag, or a phrase that says of the question or of the passage that there is no answer, and says
nothing else. A response that says nothing at all is no answer here either: what costs nothing must not pay.
"""

import re

from verifiers.rules.qa.words import visible, words

_EMPTY_TAG = re.compile(r"<answer\s{0,4}>\s*</answer\s{0,4}>\W*\Z", re.IGNORECASE)
_TAIL_CHARS = 200
_TEXT = (
    r"(?:(?:given|provided|above|supplied) )?(?:passage|text|context|paragraph|article|document|information)"
    r"(?: (?:given|provided|above))?"
)
_IS_DATA = re.compile(r"[{}\[\]=]")
_SOURCE = rf"(?: (?:in|from|by|with|given|using|based on|based only on) {_TEXT})"
_TOLD = r"(?:mentioned|stated|specified|provided|given|available|known|found|included|discussed|described)"
_SAID = re.compile(
    rf"(?:(?:this |that )?(?:question|it|answer)? ?(?:is )?(?:unanswerable|not answerable)|unanswerable question"
    rf"|(?:(?:this )?(?:question|it) )?has no answer|no ?answer(?: (?:is )?(?:{_TOLD}|possible))?"
    rf"|there is no answer(?: to (?:this |that )?question)?|na|none|null|unknown"
    rf"|(?:(?:this |that )?(?:question|it|answer) )?(?:cannot|can not|cant|could not) be (?:answered|determined|found|inferred)"
    rf"|i (?:cannot|can not|cant) answer (?:this|that|it)(?: question)?"
    rf"|(?:there is )?(?:not enough|insufficient|no)(?: (?:such|relevant|specific|sufficient))? information(?: (?:is )?{_TOLD})?{_SOURCE}?"
    rf"(?: to (?:answer|determine)(?: (?:this|that|it))?(?: question)?)?"
    rf"|(?:(?:(?:this|that) )?(?:it|answer|information|this|that) (?:is )?)?not {_TOLD}|(?:answer|it) is (?:unknown|not there)"
    rf"){_SOURCE}?|(?:(?:answer|it) is )?not{_SOURCE}"
    rf"|{_TEXT} (?:does not|doesnt|do not) (?:say"
    r"|(?:mention|state|specify|provide|give|contain|include)(?: (?:this|that|it|answer|information|this information))?)"
    r"|(?:(?:根据|从)?(?:文章|文本|文中|原文|材料|上下文|短文)(?:中|里)?)?(?:该问题|这个问题|此问题|问题)?"
    r"(?:无法(?:回答|确定|得知|判断)(?:该问题|这个问题|此问题)?|没有答案|无答案|(?:没有|未)(?:提及|提到|说明|给出))"
)
"""By SQuAD's normal form, which has no articles and no punctuation."""


def says_none(segment: str, answer: str | None) -> bool:
    """Whether a final segment, and the answer found in it, say that there is no answer."""
    if answer is None or not visible(answer):
        return _EMPTY_TAG.search(segment[-_TAIL_CHARS:]) is not None
    if len(answer) > _TAIL_CHARS or _IS_DATA.search(answer):
        return False
    return _SAID.fullmatch(" ".join(words(answer.strip(" .。"), "squad"))) is not None
