"""One spelling for each sign: unicode to LaTeX, layout commands and outer wrappers gone."""

import re
import unicodedata
from itertools import groupby

from verifiers.math.exact import unwrap
from verifiers.math.words import TEXT

_ROOT = re.compile(r"√\s*(?:(\d+|[a-zA-Z])|(?=[({\\]))")
_VULGAR = re.compile("[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_CHARACTERS = str.maketrans(
    {
        "−": "-", "–": "-", "×": r"\times ", "·": r"\cdot ", "∙": r"\cdot ", "÷": r"\div ", "∞": r"\infty ",
        "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ",
        "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ",
        "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}", "ℕ": r"\mathbb{N}", "ℂ": r"\mathbb{C}",
        "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\varepsilon ", "θ": r"\theta ",
        "λ": r"\lambda ", "μ": r"\mu ", "π": r"\pi ", "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\varphi ",
        "ϕ": r"\phi ", "ω": r"\omega ", "Δ": r"\Delta ", "Ω": r"\Omega ", "Γ": r"\Gamma ", "Σ": r"\Sigma ",
        "∠": r"\angle ", "⟨": r"\langle ", "⟩": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ",
        "⌉": r"\rceil ", "€": r"\euro ", "£": r"\pounds ", "¥": r"\yen ", "…": r"\ldots ", "′": "'", "’": "'",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\n": " ", "\t": " ", "\r": " ",
        "∣": "|", "、": ",", "。": ".", "＄": "$",
    }
)  # fmt: skip
_INTRODUCTION = re.compile(
    r"\s*(?:\\text\s*\{\s*)?(?:the\s+)?(?:final\s+)?(?:answer|result|solution)\s*(?:is|:|=)\s*:?\s*(\})?", re.IGNORECASE
)
_LAYOUT = re.compile(
    r"\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|bigl|bigr|biggl|biggr|Bigl|Bigr|Biggl|Biggr|big|Big|bigg"
    r"|Bigg|left|right|middle|mleft|mright|hspace\{[^{}]*\}|phantom\{\}|rm|bf|it)(?![A-Za-z])\.?|(?<!\\)\\[,;:!> ]|~|\*\*"
)
_SPACING = re.compile(r"(?<!\\)\\(?:qquad|quad|enspace|thinspace|,|;|:|>| )(?![A-Za-z])")
_COLOUR = re.compile(r"\\(?:textcolor|color)\s*\{[a-zA-Z]{1,20}\}")
_BOX = re.compile(r"\\f?boxed\s*(?=\{)|\\fbox\s*(?=\{)")
_BREAKING_THOUSANDS = re.compile(r"(?<![\d.])([1-9]\d{0,2}(?:(?:\{,\}|,\\!|\\,|\\ |'|\\;)\d{3})+)(?!\d)")
_NOT_DIGIT = re.compile(r"\D")
_OPEN_CLOSE_BRACKETS = re.compile(r"^ ?(?:\\left)? ?([\]\[])(.*?)(?:\\right)?\s*([\]\[])\s*$", re.DOTALL)
_FULL_STOP = re.compile(r"(?<![.\\])\.{1,2}\s*$")
_BLANKS = re.compile(r"\s+")
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z])")
_DOTS = re.compile(r"\.{3,}")
_HALF_DAY = re.compile(r"(?<=[\d\s])([aApP])\.\s?([mM])\.?(?![\w])")


def prepare(text: str) -> str:
    """One spelling for each sign: unicode to LaTeX, spacing and layout commands gone, outer wrappers gone."""
    text = _BLANKS.sub(" ", unwrap(text))
    if "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    if not text.isascii():
        text = "".join(_level(level, "".join(run)) for level, run in groupby(text, _level_of))
        text = _ROOT.sub(lambda root: r"\sqrt{" + root[1] + "}" if root[1] else r"\sqrt", text)
        text = _VULGAR.sub(_vulgar_fraction, text).translate(_CHARACTERS)
        text = unicodedata.normalize("NFKC", text)
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    text = text.replace(r"\left\{", r"\{").replace(r"\right\}", r"\}").replace(r"\$", " \\dollar ").replace("$", " ")
    text = text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac").replace("\\cfrac", "\\frac")
    if reversed_brackets := _reversed_brackets(text):
        text = reversed_brackets
    text = _HALF_DAY.sub(r" \1\2", text)
    text = _DOTS.sub(r"\\ldots ", text)
    text = _BREAKING_THOUSANDS.sub(lambda run: _NOT_DIGIT.sub("", run[1]), text)
    text = _BOX.sub("", _COLOUR.sub("", text))
    text = _LAYOUT.sub(" ", _SPACING.sub(" ", text.replace(r"\!", "")))
    if introduction := _INTRODUCTION.match(text):
        after = text[introduction.end() :]
        text = after if introduction[1] or "\\text" not in introduction[0] else text
    text = _FULL_STOP.sub("", unwrap(text)).strip(" ,;:")
    if (words := TEXT.fullmatch(text)) and any(c.isdigit() for c in words[1]):
        return words[1].strip()
    return text


def _level_of(character: str) -> str:
    """`^` or `_` for what unicode raises or lowers: NFKC would make 52 of 5²."""
    if character.isascii():
        return ""
    decomposition = unicodedata.decomposition(character)
    return "^" if decomposition.startswith("<super>") else "_" if decomposition.startswith("<sub>") else ""


def _level(level: str, run: str) -> str:
    return f"{level}{{{unicodedata.normalize('NFKC', run).replace('−', '-')}}}" if level else run


def _vulgar_fraction(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match[0]).split("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _reversed_brackets(text: str) -> str | None:
    r"""`]0,1[` in the usual way of writing it, `(0,1)`."""
    match = _OPEN_CLOSE_BRACKETS.match(text)
    if match is None or "," not in match[2] or (match[1], match[3]) == ("[", "]") or set("[]") & set(match[2]):
        return None
    return ("(" if match[1] == "]" else "[") + match[2] + (")" if match[3] == "[" else "]")
