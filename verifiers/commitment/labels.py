"""Values with labels: "width: 5, length: 7" gives two, so that neither is the answer alone."""

import re

from verifiers.commitment.cues import listed

_APART = re.compile(r"\\q?quad(?![A-Za-z])|\n")
_COMMANDS = re.compile(r"\\(?:text|mathrm|textbf|mbox)\s?\{|\\[,;:! ]|[{}$*_]")
_NAME = r"[^\W\d_]{2,24}(?:[ '’-][^\W\d_]{1,24}){0,3}"
_LABELLED = re.compile(
    rf"\s*(?P<name>{_NAME}(?P<number>\s?\d{{1,2}}(?=\s?[:：]\s))?)\s?[:：]\s*[-−+]?\s?[$€£¥]?\d[\d.,/]*[^\d:：]{{0,24}}"
)
_JOINT = re.compile(r"[,;，；、]\s*(?:(?:and|or)\s)?|\s(?:and|or)\s")
_MAX_CHARS = 400


def names_several(text: str) -> bool:
    r"""Whether a text is nothing but values of several labels: `width: 5, length: 7`, `\text{boys: }5; \text{girls: }7`.

    The last may not be made of the others: "dogs: 4, cats: 3, total: 7" is 7. Nor may they be numbered steps to it.
    """
    if len(text) > _MAX_CHARS or text.count(":") + text.count("：") < 2:
        return False
    bare = " ".join(_COMMANDS.sub(" ", _APART.sub(";", text)).split()).strip(" .;")
    matches = [_LABELLED.fullmatch(part) for part in _JOINT.split(bare) if part.strip()]
    names = [match["name"].casefold() if match else None for match in matches]
    if None in names or len(set(names)) < 2:
        return False
    if any(match and match["number"] and match["name"].split()[0].casefold() in listed("stage") for match in matches):
        return False
    return listed("totals").isdisjoint((names[-1] or "").split())
