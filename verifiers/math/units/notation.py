"""Reads and writes the notation of units: text as tokens, and atoms with their exponents as text."""

import re
import unicodedata
from collections.abc import Mapping

from verifiers.commitment.latex import COMMAND, any_of, split

_SUPERSCRIPT = re.compile("[⁻⁰¹²³⁴-⁹]{1,3}")
_LAYOUT_COMMANDS = split("text textrm textbf mathrm mathsf mathbf mathit operatorname mbox rm left right unit si")
_LAYOUT = re.compile(rf"\\{any_of(_LAYOUT_COMMANDS)}(?![A-Za-z])|\\[,;:!> ]|~")
_COMMANDS = {
    "circ": "°", "degree": "°", "celsius": "°C", "mu": "μ", "Omega": "Ω", "ohm": "Ω", "AA": "Å", "cdot": "·",
    "dollar": "$", "textdollar": "$", "euro": "€", "pounds": "£", "yen": "¥", "prime": "'",
}  # fmt: skip
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "‐": "-", "‑": "-", "⋅": "·", "∙": "·", "•": "·", "*": "·", "º": "°", "′": "'", "’": "'", "″": '"', "“": '"',
    "”": '"', "µ": "μ",
})  # fmt: skip
_RAISED_DEGREE = re.compile(r"\^ ?(?:\{ ?° ?\}|°)")
_RAISED_PRIMES = re.compile(r"\^ ?(?:\{ ?('+(?: ')?) ?\}|('+))")
_DEGREE_SCALE = re.compile(r"° ?(?:\{ ?([CFK]) ?\}|([CFK])(?![A-Za-z]))")
_PREFIXED_SIGN = re.compile(r"(?<![A-Za-z])([kMGmμ]) (?=Ω)|(μ) ?(?:\{ ?([A-Za-z]{1,3}) ?\}|(?=[A-Za-z]))")
_EXPONENT = re.compile(r"\^ ?(?:\{ ?(-?) ?(\d) ?\}|\( ?(-?) ?(\d) ?\)|(-?) ?(\d)(?!\d))")
_HYPHEN = re.compile(r"(?<=[A-Za-zΩ]) ?- ?(?=[A-Za-zμΩ])")
_DOT = re.compile(r"(?<=[A-Za-z])\.")
_BRACES_OF_FRACTIONS = str.maketrans("{}", "()")
_BRACES_OF_LAYOUT = str.maketrans("{}", "  ")
r"""Text in braces is not a factor of its own: the square in `\\text{m/s}^2` belongs to the second."""
_MATH_EXPONENT = re.compile(r"\$ ?(\^[^$]{1,8})\$")
BLANKS = re.compile(r"\s+")
"""Blanks in a row."""
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏμΩ☉\u0370-\u03ff\u0400-\u052f\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u1ea0-\u1eff\uac00-\ud7af"
"""The letters of words that have no sign of their own, in all scripts but those of Chinese and Japanese."""
_HAN_OR_KANA = r"\u3040-\u30ff\u4e00-\u9fff"
_WORD = rf"(?P<word>°[CF](?![A-Za-z])|[{_LATIN}]+(?:-[{_LATIN}]+)*|[{_HAN_OR_KANA}]+)"
_DIGIT = rf"(?<! )\d|\d(?! *[{_LATIN}]+(?! ?\^-|[{_LATIN}]))"
"""A digit between a space and a word begins another amount: the 2 of "5 ft 2 in", and not that of "kg m 2 s^-2"."""
_SIGN = rf"(?P<frac>\\frac)|(?P<exponent>\^-?\d)|(?P<sign>''|[$€£¥¢°'\"])|(?P<operator>[/·()]|{_DIGIT}|-)"
_TOKEN = re.compile(f" |{_WORD}|{_SIGN}")
_OTHER_SCRIPT = re.compile(rf"(?<=[{_HAN_OR_KANA}])[A-Za-z]|(?<=[A-Za-z])[{_HAN_OR_KANA}]")


def plain(text: str) -> str:
    """The text without layout, with one sign for each idea."""
    text = _SUPERSCRIPT.sub(lambda run: "^{" + run[0] + "}", text)
    text = unicodedata.normalize("NFKC", text.replace("″", '"').replace("´", "'")).translate(_SIGNS)
    text = _MATH_EXPONENT.sub(r"\1", text)
    text = COMMAND.sub(lambda name: _COMMANDS.get(name[1], name[0]), _LAYOUT.sub(" ", text))
    text = _RAISED_DEGREE.sub("°", BLANKS.sub(" ", text))
    text = _RAISED_PRIMES.sub(lambda run: (run[1] or run[2]).replace(" ", ""), text).replace("' '", "''")
    text = _PREFIXED_SIGN.sub(lambda sign: (sign[1] or sign[2]) + (sign[3] or ""), _DEGREE_SCALE.sub(_scale_sign, text))
    text = _EXPONENT.sub(lambda run: "^" + (run[1] or run[3] or run[5] or "") + (run[2] or run[4] or run[6]), text)
    text = _HYPHEN.sub("-", _DOT.sub(" ", text))
    return text.translate(_BRACES_OF_FRACTIONS if "\\frac" in text else _BRACES_OF_LAYOUT).strip()


def _scale_sign(sign: re.Match[str]) -> str:
    scale = sign[1] or sign[2]
    return "K" if scale == "K" else f"°{scale}"


def tokenized(text: str) -> list[tuple[str, str]] | None:
    """Kind and text of each token; None if a character cannot occur in a unit."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or _OTHER_SCRIPT.match(text, position):
            return None
        position = match.end()
        if match.lastgroup is not None:
            tokens.append((match.lastgroup, match[0]))
    return tokens


def written(atoms: Mapping[str, int]) -> str:
    """Write a unit: `kg·m/s^2`, `J/(K·kg)`, `1/s`, `square unit`."""
    if len(atoms) == 1 and atoms.get("unit") in (2, 3):
        return "square unit" if atoms["unit"] == 2 else "cubic unit"
    top = "·".join(_power(atom, atoms[atom]) for atom in sorted(atoms) if atoms[atom] > 0)
    bottom = [_power(atom, -atoms[atom]) for atom in sorted(atoms) if atoms[atom] < 0]
    if not bottom:
        return top
    return f"{top or 1}/{bottom[0]}" if len(bottom) == 1 else f"{top or 1}/({'·'.join(bottom)})"


def _power(atom: str, exponent: int) -> str:
    return atom if exponent == 1 else f"{atom}^{exponent}"
