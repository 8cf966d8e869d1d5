"""Finds the part of a response that is language: all text except code, LaTeX, URLs and tags."""

import re


def prose_of(text: str) -> str:
    """The text without code, LaTeX, URLs and tags.

    Each pattern stops at the next sign that could begin it, so the time is linear.
    """
    if "`" in text and "```" in text:
        pieces = text.split("```")
        last_closed = len(pieces) - (len(pieces) % 2 == 0)
        text = " ".join([*pieces[:last_closed:2], *pieces[last_closed:]])
    for rare, signs, pattern in _NOT_PROSE:
        if rare in text and signs in text:
            text = pattern.sub(" ", text)
    return text


_ATTRIBUTES = r"(?:\s{1,8}[A-Za-z@:_][\w.:-]{0,40}(?:\s?=\s?(?:\"[^\"<>]{0,400}\"|'[^'<>]{0,400}'))){0,20}+\s{0,8}"
"""The attributes of a tag. Their values stand in quotes, so that `a < b and c > d` is not a tag."""
_NOT_PROSE = (
    ("`", "`", re.compile(r"`[^`\n]++`")),
    ("<", "<", re.compile(r"</?[A-Za-z][\w.:-]{0,40}" + _ATTRIBUTES + r"/?>|<\|[\w]{1,40}\|>")),
    ("/", "://", re.compile(r"\b[A-Za-z]{1,12}://[^\s\u2E80-\U0003FFFF]++")),
    ("$", "$", re.compile(r"\$\$[^$]++\$\$|\$[^$\n]++\$")),
    ("\\", "\\(", re.compile(r"\\\((?:[^\\]++|\\[^()])*+\\\)")),
    ("\\", "\\[", re.compile(r"\\\[(?:[^\\]++|\\[^\[\]])*+\\\]")),
    ("\\", "\\", re.compile(r"\\[A-Za-z]++(?:\{[A-Za-z]{1,20}\*?\})?")),
)
"""Each pattern, with the signs that every match has and the rarest of them, which is found faster."""
