r"""Reads a function by cases in words as an environment: `x if x ≥ 0 and −x otherwise`, `x \text{ for } x > 0, -x \text{ else}`."""

import re

_TEXT = re.compile(r"\\(?:text|textrm|mathrm|mbox)\s?\{([^{}]{0,60})\}|\$")
_HEAD = r"(?P<head>[A-Za-z](?:\s?\([A-Za-z]\))?\s?=)?\s?"
_VALUE = r"[^,;&]{1,80}?"
_FIRST = rf"(?P<first>{_VALUE}),?\s(?:if|for|when)\s(?P<condition>[^,;&]{{1,60}}?)"
_SECOND = rf"(?P<second>{_VALUE}),?\s(?:otherwise|else|(?:if|for|when)\s(?P<other>[^,;&]{{1,60}}?))"
_CASES = re.compile(rf"{_HEAD}{_FIRST}\s?(?:[,;]\s?(?:and\s)?|\sand\s){_SECOND}\s?\.?", re.IGNORECASE)
_SIGNS = frozenset("<>=≤≥∈")
_RELATIONS = re.compile(r"\\(?:leq?|geq?|lt|gt|neq?|equiv|mid|in)(?![a-z])|\s(?:even|odd)\Z")


def as_cases(text: str) -> str | None:
    """The environment for two cases in words; None for any other text."""
    if " " not in text or not any(
        word in text for word in ("otherwise", "else", " if ", " for ", " when ", "if}", "for}")
    ):
        return None
    found = _CASES.fullmatch(" ".join(_TEXT.sub(lambda match: f" {match[1] or ''} ", text).split()))
    conditions = [found["condition"], found["other"]] if found else []
    if found is None or not all(each is None or _restricts(each) for each in conditions):
        return None
    rows = f"{found['first']} & {found['condition']} \\\\ {found['second']}"
    rows += f" & {found['other']}" if found["other"] else " & \\text{otherwise}"
    return rf"{found['head'] or ''}\begin{{cases}} {rows} \end{{cases}}"


def _restricts(condition: str) -> bool:
    return not _SIGNS.isdisjoint(condition) or _RELATIONS.search(condition) is not None
