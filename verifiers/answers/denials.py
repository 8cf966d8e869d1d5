"""Whether what leads to an answer denies all that follows: "I do not think that the answer is …"."""

import re

DENIAL_CHARS = 60
"""As far as is looked back."""
_DENIES = re.compile(
    r"(?:(?:\b(?:not|never|cannot)|n['’]t)\s(?:(?:really|quite|necessarily|at\sall|possibly)\s)?"
    r"(?:think|believe|say|claim|suppose|conclude|agree|sure|certain|convinced|true|mean|the\scase|be)"
    r"|(?<!\bno\s)(?<!\bwithout\s)(?<!\bwithout\sa\s)(?<!\bnot\s)(?<!\bnever\s)(?<!n['’]t\s)\b(?:doubt(?:ful)?|disagree)"
    r"|\bno\sway|\b(?:is|it['’]s)\s(?:false|unlikely|impossible))"
    r"(?:\s(?:that|whether))?"
    r"(?:\s(?:it|this|that|the\s(?:(?:final|correct|right)\s)?(?:answer|value|result)|[a-z])(?:['’]s|\s(?:is|was|equals"
    r"|(?:would|could|can|should)\sbe|=))?)?[\s$*(\\:]{0,8}\Z"
    r"|不(?:认为|觉得|相信|同意|可能)(?:它|这|答案)?[是为]?[\s$*(\\:：]{0,8}\Z",
    re.IGNORECASE,
)


def denies(lead: str) -> bool:
    """Whether a text that ends where an answer, or "the answer is", begins denies it."""
    near = lead[-DENIAL_CHARS:]
    return _may_deny(near) and _DENIES.search(near) is not None


def _may_deny(text: str) -> bool:
    """Whether there is a part of a denial, whose first letter may be a capital. Far quicker than the expression."""
    return (
        "not " in text
        or "n't " in text
        or "n’t " in text
        or "oubt" in text
        or "ever " in text
        or "o way" in text
        or "likely" in text
        or "isagree" in text
        or "ossible" in text
        or "false" in text
        or (not text.isascii() and "不" in text)
    )
