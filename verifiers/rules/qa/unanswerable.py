"""Questions that have no answer, as in SQuAD 2.0, where an empty reference says so.

Right is an empty answer tag, or one of a few phrases that say nothing else. A response that says nothing at all is no
answer here either: what costs nothing must not pay.
"""

import re

from verifiers.rules.qa.words import visible, words

_EMPTY_TAG = re.compile(r"<answer\s{0,4}>\s*</answer\s{0,4}>\W*\Z", re.IGNORECASE)
_TAIL_CHARS = 200
_SUBJECTS = ("", "question ", "this question ", "it ")
_SAID = frozenset(
    {
        "no answer",
        "noanswer",
        "not answerable",
        "there is no answer",
        "unanswerable question",
        "无法回答",
        "没有答案",
        "无答案",
    }
    | {
        f"{subject}{verb}"
        for subject in _SUBJECTS
        for verb in ("is unanswerable", "has no answer", "cannot be answered")
    }
    | {"unanswerable", "question is not answerable", "this question is not answerable"}
)


def says_none(segment: str, answer: str | None) -> bool:
    """Whether a final segment, and the answer found in it, say that there is no answer."""
    if answer is None or not visible(answer):
        return _EMPTY_TAG.search(segment[-_TAIL_CHARS:]) is not None
    return len(answer) <= _TAIL_CHARS and " ".join(words(answer.strip(" .。"), "squad")) in _SAID
