r"""The notation of chemical formulas: one spelling for fonts, scripts, dots, signs and arrows, and its tokens."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final


class Unreadable(Exception):
    """The text is not a formula."""


class TooComplex(Exception):
    """The text is longer, nested deeper or has larger numbers than a formula."""


_MOJIBAKE = re.compile("[ÂâÃ]")
_SCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-0123456789+-")
_SUBSCRIPTS = re.compile("[₀-₉₊₋]{1,12}")
_SUPERSCRIPTS = re.compile("[⁰¹²³⁴-⁹⁺⁻]{1,12}")
_COMMAND = re.compile(r"\\([a-zA-Z]{1,24})\*?")
_SIGNS: Final = {
    "": "ce pu mathrm mathbf mathit mathsf mathtt mathord mathbin mathrel operatorname text textrm textbf textit textsf "
    "textnormal textsub mbox rm bf it left right displaystyle boldsymbol bm limits big Big bigl bigr Bigl Bigr",
    "·": "cdot cdotp bullet ast centerdot times",
    "→": "rightarrow longrightarrow xrightarrow xlongequal to mapsto longmapsto implies Rightarrow Longrightarrow",
    "←": "leftarrow longleftarrow xleftarrow",
    "⇌": "rightleftharpoons leftrightharpoons xrightleftharpoons xleftrightharpoons leftrightarrow longleftrightarrow "
    "xleftrightarrow rightleftarrows leftrightarrows Leftrightarrow",
    "(g)": "uparrow",
    "(s)": "downarrow",
    "\x00": "overset underset stackrel",
    " ": "quad qquad",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "≡": "equiv",
}
"""Commands, and what they stand for; those of fonts and sizes stand for nothing."""
_NAMED: Final = {name: sign for sign, names in _SIGNS.items() for name in names.split()}
_SPELLED: Final = (
    (r"\\[dt]?frac\s?\{(\d{1,6})\}\s?\{(\d{1,6})\}", r" \1/\2"),
    (r"\\[dt]?frac\s?(\d)\s?(\d)", r" \1/\2"),
    (r"\\[,;:!() \[\]]|[~$`\u200b\u2009\u202f\xa0]", " "),
    (r"<[-=]{1,3}>|⟵⟶|[⇋⇄⇆↔⟷⟺]", "⇌"),
    (r"<-{1,2}|[⟵⇐]", "←"),
    (r"[-–—]{1,3}>|={1,3}>|[⟶⇒⟹➝➔➜⭢⇾]", "→"),
    (r"[•∙⋅・*×⸱‧∗．]", "·"),
    (r"[−–—‐‑﹣－⊖]", "-"),
    (r"[＋⊕]", "+"),
    (r"[=＝═]{1,3} ?[(（]?[^\x00-\x7f═→⇌←]{1,16}[)）]? ?[=＝═]{1,3}", "→"),  # =高温=
    (r"(?:[=＝═] ?){2,4}|[＝═]", "="),
    (r"↑", "(g)"),
    (r"↓", "(s)"),
    (r"\((\d{1,6}/\d{1,6})\)", r"\1"),
    (r"(?<=[\w\])}])\((\d{0,2}[-+]|[-+]\d{1,2})\)", r"^{\1}"),
    (r"(?<=[\w\])}])(-{2,3}|\+{2,3})(?=\s|\Z)", r"^{\1}"),
)
_REPLACED = tuple((re.compile(pattern), text) for pattern, text in _SPELLED)


def plain(text: str) -> str:
    """A text without fonts and with one notation for scripts, dots, signs and arrows."""
    if _MOJIBAKE.search(text):
        with suppress(UnicodeError):  # UTF-8 that was read as Windows-1252: `CuSO4Â·5H2O`
            text = text.encode("cp1252").decode()
    text = _SUPERSCRIPTS.sub(lambda run: f"^{{{run[0].translate(_SCRIPTS)}}}", text)
    text = _SUBSCRIPTS.sub(lambda run: f"_{{{run[0].translate(_SCRIPTS)}}}", text)
    text = _COMMAND.sub(lambda command: _NAMED.get(command[1], command[0]), text)
    for pattern, spelled in _REPLACED:
        text = pattern.sub(spelled, text)
    return text.strip().removesuffix(".").strip()


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    is_behind_space: bool


_WATER = r"H_?\{?2\}?O"
_BRACED = r"\{\{?([^{}]{0,12})\}?\}"
_KINDS: Final = {
    "state": r"_?\{?\(\{?\s?(aq|s|l|g)\.?\s?\}?\)\}?|_\{?(aq|s|l|g)(?![a-z])\}?",  # (aq), _{(g)}, _s
    "superscript": rf"\^(?:{_BRACED}|(\d{{1,3}}[-+]?|[-+]))",  # ^{2-}, ^2-, ^14
    "subscript": rf"_{_BRACED}",  # _{12}
    "run": r"_(-?\d{1,10})",  # _12, which may be _1 and 2 in LaTeX
    "dot": rf"·|\.(?=\s?(?:\d{{1,2}}|\d/\d)?\s?{_WATER})",  # CuSO4.5H2O
    "number": rf"\d{{1,10}}(?:/\d{{1,6}}|\.(?!\d{{0,2}}{_WATER})\d{{1,6}})?|[½⅓⅔¼¾⅕⅙⅛]",
    "symbol": r"[A-Z][a-z]?|[enpαβγ](?![a-z])",
    "arrow": "[→⇌←]",
    "equals": "=",
    "bond": "[≡#]",
    "plus": r"\+",
    "minus": "-",
    "open": r"[(\[]",
    "close": r"[)\]]",
    "brace": "[{}]",
    "over": "\x00",  # \overset{heat}{→}
}
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text.

    Raises:
        Unreadable: a part of it is none.
    """
    text = plain(text)
    start = 0
    is_behind_space = False
    while start < len(text):
        if text[start].isspace():
            start, is_behind_space = start + 1, True
            continue
        match = _TOKEN.match(text, start)
        if match is None:
            raise Unreadable(f"{text[start : start + 20]!r} is not part of a formula")
        kind = match.lastgroup or ""
        start = match.end()
        if kind in ("over", "arrow"):
            start = _behind_groups(text, start)
        groups = [part for part in match.groups()[match.re.groupindex[kind] :] if part is not None]
        content = (groups[0] if groups else match[0]).replace(" ", "")
        if kind not in ("brace", "over") and (content or kind not in ("superscript", "subscript")):  # `{}^{}` is empty
            yield Token(kind, match[0] if kind in ("dot", "number") else content, is_behind_space)
            is_behind_space = False


def _behind_groups(text: str, start: int) -> int:
    """The end of the groups that follow directly: what is written above and below an arrow."""
    while start < len(text) and text[start] in "{[":
        depth = 0
        for end in range(start, len(text)):
            depth += (text[end] in "{[") - (text[end] in "}]")
            if depth == 0:
                break
        if depth:
            raise Unreadable("a group is not closed")
        if any(arrow in text[start : end + 1] for arrow in "→⇌←="):
            return start
        start = end + 1
    return start
