"""Gives each sign one spelling: unicode becomes LaTeX; layout commands and outer wrappers are removed."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from verifiers.commitment.cues import Cue, Kind, Word, cues, words
from verifiers.commitment.latex import any_of, split
from verifiers.math.exact import ASCII_DIGITS, unwrap
from verifiers.math.words import TEXT

_CUBE_ROOT = re.compile(r"([∛∜])\s*(?:(\d+|[a-zA-Z])|(?=[({\\]))")
_ROOT = re.compile(r"√\s*(?:(\d+|[a-zA-Z])|(?=[({\\]))")
_VULGAR = re.compile("[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_CHARACTERS = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "‑": "-", "‐": "-", "º": r"^\circ ", "⁄": "/", "∶": ":", "″": "''", "•": r"\cdot ", "×": r"\times ", "·": r"\cdot ", "∙": r"\cdot ", "÷": r"\div ", "∞": r"\infty ",
        "≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ",
        "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "±": r"\pm ", "∓": r"\mp ", "°": r"^\circ ",
        "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℚ": r"\mathbb{Q}", "ℕ": r"\mathbb{N}", "ℂ": r"\mathbb{C}",
        "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ", "θ": r"\theta ",
        "λ": r"\lambda ", "μ": r"\mu ", "π": r"\pi ", "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "φ": r"\phi ",
        "ϕ": r"\phi ", "ω": r"\omega ", "Δ": r"\Delta ", "Ω": r"\Omega ", "Γ": r"\Gamma ", "Σ": r"\Sigma ",
        "∠": r"\angle ", "⟨": r"\langle ", "⟩": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ",
        "⌉": r"\rceil ", "€": r"\euro ", "£": r"\pounds ", "¥": r"\yen ", "…": r"\ldots ", "′": "'", "’": "'",
        "₽": r" \text{ rubles}", "₩": r" \text{ won}", "₺": r" \text{ lira}", "₴": r" \text{ hryvnia}", "₫": r" \text{ dong}",
        "฿": r" \text{ baht}", "₪": r" \text{ shekels}", "₦": r" \text{ naira}",
        "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\n": " ", "\t": " ", "\r": " ",
        "Ø": r"\emptyset ", "¢": r" \text{ cents}", "￥": r"\yen ", "∀": r"\forall ", "˚": r"^\circ ", "℃": r"^\circ C", "℉": r"^\circ F", "⋅": r"\cdot ", "∖": r"\setminus ", "∉": r"\notin ", "∂": r"\partial ", "≧": r"\ge ", "≦": r"\le ", "∑": r"\sum ",
        "∫": r"\int ", "∏": r"\prod ", "⇒": r"\implies ", "→": r"\to ", "∧": r"\land ", "∨": r"\lor ", "∥": r"\parallel ",
        "⊥": r"\perp ", "⊂": r"\subset ", "⊆": r"\subseteq ", "△": r"\triangle ", "ξ": r"\xi ",
        "η": r"\eta ", "κ": r"\kappa ", "ν": r"\nu ", "ζ": r"\zeta ", "χ": r"\chi ", "ψ": r"\psi ", "Φ": r"\Phi ",
        "Ψ": r"\Psi ", "Θ": r"\Theta ", "Λ": r"\Lambda ", "Π": r"\Pi ", "ℓ": r"\ell ", "或": " or ", "且": " and ",
        "∣": "|", "、": ",", "،": ",", "؛": ";", "٬": ",", "٫": ".", "。": ".", "＄": "$",
        **ASCII_DIGITS,
    }
)  # fmt: skip
_LAYOUT_COMMANDS = split(
    "checkmark therefore because square blacksquare Box qed strut newline tiny small normalsize large Large LARGE huge Huge "
    "displaystyle textstyle scriptstyle limits nolimits bigl bigr biggl biggr Bigl Bigr Biggl Biggr big Big bigg Bigg "
    "left right middle mleft mright rm bf it"
)
_LAYOUT = re.compile(
    rf"\\(?:{any_of(_LAYOUT_COMMANDS)}|minus(?=\{{\}})|hspace\{{[^{{}}]*\}})(?![A-Za-z])\.?|\\[hv]?phantom\s?\{{[^{{}}]*\}}"
    r"|(?<!\\)\\[,;:!> ]|~"
)
_BOLD = re.compile(r"(?<![\w)}\]])\*\*(?=\S)|(?<=[^\s*])\*\*(?![\w({\\-])")
"""Two asterisks around words are bold; between two factors they are a power."""
_TIMES_TEN = re.compile(r"(?<=\d)(?:\\[ ,;]|[\s$]){1,5}(?=10 ?\^ ?\{? ?[-−]?\d)")
"""A blank before a power of ten: `3.52 10^{-19}`."""
_PROGRAMMED_POWER = re.compile(r"(?<=[\w)])\*\*\s?(-?\d{1,6})(?![\d.])(?!\*\*)")
_NOT_EQUAL = re.compile(r"(?<=[a-zA-Z ])!=")
_FORMULA_LINES = re.compile(r"\$\s*\n\s*\$")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|text|rm)\s*\{\s*d\s*\}\s*(?=[a-zA-Z](?![a-zA-Z]))")
_SIZES = re.compile(r"\\(?:left|right|middle|mleft|mright|[bB]igg?[lrm]?)(?![a-zA-Z])(?:\s*\.)?")
r"""Size commands of brackets: `f\\left(x\\right)` is read as f(x)."""
_SPACING = re.compile(r"(?<!\\)\\(?:qquad|quad|enspace|thinspace|,|;|:|>| )(?![A-Za-z])")
_COLOUR = re.compile(
    r"\\(?:textcolor|color|colorbox)\s*(?:\[[a-zA-Z]{1,10}\]\s*)?\{[a-zA-Z0-9.,# ]{1,40}\}"
    rf"|\\{any_of(['underline', 'emph', 'ensuremath'])}(?=\s*\{{)"
)
_BOX = re.compile(r"\\f?boxed\s*(?=\{)|\\fbox\s*(?=\{)")
_BREAKING_THOUSANDS = re.compile(r"(?<![\d.])([1-9]\d{0,2}(?:(?: ?\{ ?, ?\} ?|,\\! ?|\\,|\\ |'|\\;)\d{3})+)(?!\d)")
_DECIMAL_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")
_NOT_DIGIT = re.compile(r"\D")
_OPEN_CLOSE_BRACKETS = re.compile(r"^ ?(?:\\left)? ?([\]\[])(.*?)(?:\\right)?\s*([\]\[])\s*$", re.DOTALL)
_FULL_STOP = re.compile(r"(?<![.\\])\.{1,2}\s*$")
_BLANKS = re.compile(r"\s+")
_GLUED_QUAD = re.compile(r"\\q?quad(?=[a-zA-Z])")
_INLINE = re.compile(r"(?<!\\)\\\(([^\n]{1,400}?)\\\)")
"""A formula within a text, in LaTeX's own marks."""
_DOUBLED = re.compile(r"\\\\(?=[a-zA-Z])")
_LONE_DOLLAR = re.compile(r"\$(?=\s*[-−]?\s*\.?\d)")
"""A single dollar sign before a number means money; mathematics has two."""
_SPACED_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?: \d{3})+(?![\d ]|\s*/)")
_INDIAN_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d?(?:,\d{2})+,\d{3}(?![\d,])")
_LETTER_TIMES = re.compile(r"(?<=\d)(?:\s*[xX]\s*(?=10\s*\^)|\s+[xX]\s+(?=\\?\$?\d))")
_SHARE_OF = re.compile(r"(?<=%)\s*(?:\\text\s?\{\s*of\s*\}|of\b)\s*(?=\\?\$?\d)")
_UPRIGHT_E = re.compile(r"(?<=\d)\\(?:mathrm|text|rm)\s*\{\s*([eE])\s*\}(?=\s*[-+]?\d)")
_SUPERSCRIPT_O = re.compile(r"(?<=\d)\s*\^\s*(?:\{\s*[oO]\s*\}|[oO](?![a-zA-Z]))")
_FIXED_COLON = re.compile(r"\{:\}|\\colon(?![a-zA-Z])")
_CHOICES = re.compile(r"[A-J](?:\s*(?:,|and|or|&)\s*[A-J])+")
_BASE_IN_WORDS = re.compile(
    r"([0-9A-Za-z.]{1,60})\s*,?\s*(?:\\text\s*\{\s*)?\(?(?:in\s+)?base[\s-]*\}?\s*(\d{1,2}|[a-z]{3,8})\)?\s*\}?",
    re.IGNORECASE,
)
_ONLY = re.compile(r"(?<=[\d\w)}$])\s*(?:\\text\s*\{\s*only\s*\}|\s\(?only\)?)\s*\.?\s*$")
_ONLY_BEFORE = re.compile(r"^\s*(?:\\text\s*\{\s*only\s*\}|only\b)", re.IGNORECASE)
_SUFFIX = r"(?:st|nd|rd|th)"
_RAISED_SUFFIX = rf"\\(?:text|mathrm|textsuperscript)\s?\{{\s?{_SUFFIX}\s?\}}"
_ORDINAL = re.compile(
    rf"(?:the\s)?(\d[\d,]{{0,20}})(?:{_SUFFIX}|\s?\^?(?:{_RAISED_SUFFIX}|\{{(?:{_SUFFIX}|{_RAISED_SUFFIX})\}}))",
    re.IGNORECASE,
)
_COMMAS = re.compile(r"(?:,\s*){2,}")
_EVALUATED = re.compile(
    r"\\left\s*\.((?:(?!\\right)[^\0]){1,200})\\right\s*\|\s*(?:_(?:\{[^{}]*\}|\w))?(?:\^(?:\{[^{}]*\}|\w))?"
)
"""The value of an expression at a point or between two points, as a name before an equals sign."""
_UPRIGHT_DIGIT = re.compile(r"(?<=\d)\\(?:mathrm|text)\s*\{\s*([A-F]{1,20})\s*\}(?=[\dA-F]{0,20}_)")
_PROGRAMMED_BASE = re.compile(r"(?<![\w.])0([xX][0-9a-fA-F]{1,60}|[bB][01]{1,200})(?![\w.])")
_BRACKETED_BASE = re.compile(r"_\{\s*\(\s*(\d{1,2})\s*\)\s*\}")
_DECIMAL_GROUPS = re.compile(r"(?<=\d)\.\d{3}(?:(?:\\,| |~)\d{1,3})+(?! ?[\d^])")
_WHOLE_GROUPS = re.compile(r"(?<![\d.])[1-9]\d{0,2}(?:(?:\\,|~)\d{3})+(?!\d)")
_PER_MILLE = re.compile(r"(\d)\s*(?:‰|\\text\s*\{\s*‰\s*\}|\\permil)")
_MIXED_IN_CHINESE = re.compile(r"(\d{1,9})又(\d{1,9})/(\d{1,9})|(\d{1,9})又\\frac")
_BELOW_ZERO = re.compile(r"零下\s*(?=\d)")
_MODULUS = re.compile(r"\(\s*(?:\\(?:text|mathrm)\s*\{\s*mod\s*\}|\\[bp]?mod|mod)\s*(?:\\[ ,])?\s*([^()]{1,40})\)")
_LOG_BASE = re.compile(r"(?<![a-zA-Z\\])log(\d{1,4})(?=\s*\()")
_CALLS = re.compile(r"(?<![a-zA-Z\\])(abs|cbrt)\(([^()]{1,200})\)")
_PREFIX_CURRENCY = re.compile(
    r"(USD|US\s*\\?\$|US\s*\\dollar|EUR|GBP|RMB|CNY|INR|Rs\.?|₹|CHF|R\\?\$|BRL|\\text\{ [a-z]{3,8}\})\s*(-?\d[\d,.]*)",
    re.IGNORECASE,
)
_SUFFIXES = {
    "usd": "dollars", "us": "dollars", "eur": "euros", "gbp": "pounds sterling", "rmb": "yuan", "cny": "yuan",
    "chf": "swiss francs", "brl": "reais", "r": "reais",
}  # fmt: skip
_UPRIGHT = re.compile(r"\\(?:mathrm|text|rm)\s*\{((?:[^{}]|\{[^{}]{0,40}\}){0,200})\}")
_WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-ZμΩÅ]+")
_LINE_BREAKS = re.compile(r"(?:\\\\\s*)+$")
_DOTS = re.compile(r"\.{3,}")
_PYTHON_MODULE = re.compile(r"(?<![\w.])(?:np|numpy|math|sp|sympy)\.(?=[a-z])")
_CIRCLED = re.compile(r"\\textcircled\s*+\{?\s*+(?:\\text\s*+\{)?\s*+(\d{1,2})\s*+\}?\}?")
_CIRCLED_NUMBER = re.compile("[①-⑳]")
_CASES = re.compile(
    r"\\(?:left\s*\\)?\{\s*\\begin\{array\}\s*\{[clr|]{0,20}\}((?:(?!\\end)[^\0]){0,4000})\\end\{array\}\s*\\right\s*\."
)
"""A function by cases or a system: text behind one opening brace that has no closing brace."""
_MEASURE_OF = re.compile(r"(?<![A-Za-z\\\d])m\s?(?=\\(?:measured)?angle(?![A-Za-z]))")
"""The letter for the measure of an angle: `m\\angle A`."""
_ANGLES = re.compile(r"\s*<([^<>=]{1,200},[^<>=]{1,200})>\s*")
_DECLARED = r"[a-zA-Z](?:_\d)?\s*(?:=|\\in(?![a-z]))|(?:where|for|with|and)\b"
_QUAD_BEFORE_DECLARATION = re.compile(rf"[,;]?\s*\\q?quad\s*(?=\(?\s*(?:\\text\s*\{{\s*)?[(]?(?:{_DECLARED}))")
_HALF_DAY = re.compile(r"(?<=[\d\s])([aApP])\.\s?([mM])\.?(?![\w])")


Rewrite = tuple[tuple[str, ...], Callable[[str], str]]
"""Signs of which a text must hold one for the rewrite to change anything, and the rewrite. Most texts hold none."""


def _each(
    *rewrites: tuple[str | tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]],
) -> list[Rewrite]:
    return [
        ((signs,) if isinstance(signs, str) else signs, partial(pattern.sub, by)) for signs, pattern, by in rewrites
    ]


def _rewritten(text: str, rewrites: Sequence[Rewrite]) -> str:
    for signs, rewrite in rewrites:
        for sign in signs:
            if sign in text:
                text = rewrite(text)
                break
    return text


def without_bold(text: str) -> str:
    """A text without the asterisks of bold type. Those of powers stay."""
    return _BOLD.sub("", text)


def prepare(text: str) -> str:
    """Give each sign one spelling: unicode becomes LaTeX; spacing, layout commands and outer wrappers are removed."""
    text = " ".join(unwrap(_rewritten(text, _LINES)).split())
    if "\\(" in text:
        text = _INLINE.sub(r"$\1$", text)
    if "quad" in text:
        text = _GLUED_QUAD.sub(r"\g<0> ", text)
    if "\\\\" in text and "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    if not text.isascii():
        text = _in_ascii(text)
    text = _spelled_out(_rewritten(text.replace(r"\AA", "Å"), _NOTATIONS))
    if "10^" in text or "10 ^" in text:
        text = _TIMES_TEN.sub(lambda gap: "$" * (gap[0].count("$") % 2) + r"\times ", text)
    if "**" in text:
        text = _PROGRAMMED_POWER.sub(r"^{\1}", text)
    text = _rewritten(text.replace("+/-", r"\pm "), _SIGNS)
    text = text.replace(r"\left\{", r"\{").replace(r"\right\}", r"\}").replace(r"\$", " \\dollar ")
    text = _LONE_DOLLAR.sub(r" \\dollar ", text) if text.count("$") == 1 else text
    text = _rewritten(text.replace("$", " "), _BLANK_RUNS)
    if "frac" in text:
        for name in ("\\dfrac", "\\tfrac", "\\cfrac", "\\nicefrac", "\\sfrac"):
            text = text.replace(name, "\\frac")
    if reversed_brackets := _reversed_brackets(text):
        text = reversed_brackets
    text = _rewritten(text, _FIGURES)
    if "angle" in text:
        text = _MEASURE_OF.sub("", text)
    if angles := _ANGLES.fullmatch(text):
        text = f"({angles[1]})"
    text = _rewritten(_rewritten(text, _LAYOUTS).replace(r"\!", ""), _SPACES)
    text = _without_introduction(text)
    text = _FULL_STOP.sub("", unwrap(text)).strip(" ,;:")
    if ordinal := _ORDINAL.fullmatch(text):
        return ordinal[1]
    if numeral := _BASE_IN_WORDS.fullmatch(text):
        return f"{numeral[1]}_{{{numeral[2]}}}"
    if (words := TEXT.fullmatch(text)) and (
        any(c.isdigit() for c in words[1]) or "," in words[1] or _CHOICES.fullmatch(words[1].strip())
    ):
        return words[1].strip(" .")
    return text


def _in_ascii(text: str) -> str:
    """Write signs beyond ASCII as LaTeX, as far as LaTeX has them."""
    text = _CIRCLED_NUMBER.sub(lambda sign: f" ({unicodedata.normalize('NFKC', sign[0])}), ", text)
    text = "".join(_level(level, "".join(run)) for level, run in groupby(text, _level_of))
    text = _CUBE_ROOT.sub(_higher_root, text)
    text = _ROOT.sub(lambda root: r"\sqrt{" + root[1] + "}" if root[1] else r"\sqrt", text)
    text = _VULGAR.sub(_vulgar_fraction, text).translate(_CHARACTERS)
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def _level_of(character: str) -> str:
    """`^` or `_` for a raised or lowered unicode character. NFKC is not used because it turns 5² into 52."""
    if character.isascii():
        return ""
    decomposition = unicodedata.decomposition(character)
    return "^" if decomposition.startswith("<super>") else "_" if decomposition.startswith("<sub>") else ""


def _level(level: str, run: str) -> str:
    return f"{level}{{{unicodedata.normalize('NFKC', run).replace('−', '-')}}}" if level else run


def _spelled_out(text: str) -> str:
    """Rewrite notations of programs, of money and of other languages as the usual LaTeX."""
    if "only" in text or ", ," in text:
        text = _ONLY_BEFORE.sub("", _ONLY.sub("", _COMMAS.sub(", ", text)))
    text = _without_lead(_rewritten(text, _SPELLED))
    text = _rewritten(text, _CALLED)
    if money := _PREFIX_CURRENCY.fullmatch(text.strip(" .")):
        if money[1].startswith("\\text"):
            return f"{money[2]} {money[1]}"
        name = _SUFFIXES.get(money[1].lower().split("\\")[0].strip(" $."), "rupees")
        return rf"{money[2]} \text{{ {name}}}"
    return _rewritten(text, _NUMBER_SETS).replace(r"\forall", r"\text{ for all }")


_INTEGERS = r"\\mathbb ?(?:\{Z\}|Z)"
_INTEGERS_MODULO = re.compile(
    rf"{_INTEGERS}\s?/\s?(?:(\d{{1,9}}|[a-z])|\((\d{{1,9}}|[a-z])\)|\{{([\w^]{{1,20}})\}})\s?(?:{_INTEGERS}|(?![\w^(!]))"
)
r"""`\mathbb{Z}/n\mathbb{Z}` and `\mathbb{Z}/n`, which are `\mathbb{Z}_n`."""


_GAP = re.compile(r"\\,| |~")


def _with_base(match: re.Match[str]) -> str:
    base = 16 if match[1][0] in "xX" else 2
    return f"{match[1][1:].upper()}_{{{base}}}"


def _unit_words(match: re.Match[str]) -> str:
    r"""Separate the words in `\mathrm{J\,mol^{-1}}`: `\text{ J}\text{ mol}^{-1}`."""
    if "{" not in match[1] and "^" not in match[1]:
        return match[0]
    return _WORD.sub(r"\\text{ \g<0>}", match[1])


def _without_introduction(text: str) -> str:
    """Remove words that announce an answer, with or without braces around them: "The final answer is"."""
    lead, phrases = _lead(text)
    position = _past(phrases, _NOUNS, _past(phrases, _BEFORE_NOUNS, 0, repeats=True))
    if not any(cue.kind in _NOUNS and cue.stop == position for cue in phrases):
        return text
    verb = _past(phrases, _VERBS, position)
    verb += verb < len(lead) and lead[verb].text in ":=" and (verb == position or lead[verb].text == ":")
    if verb == position:
        return text
    end = lead[verb - 1].end
    remainder = text[end:].lstrip()
    if remainder.startswith("}"):
        return remainder[1:]
    return text if "\\text" in text[:end] else remainder


def _without_lead(text: str) -> str:
    """Remove words of other scripts that announce an amount before a number or a formula: 一共, 约为."""
    lead, phrases = ([], []) if text.isascii() else _lead(text)
    position = _past(phrases, _TELLING, 0, repeats=True)
    is_led = 0 < position < len(lead) and not text[lead[0].start].isascii()
    return text[lead[position].start :] if is_led and _BEGINS_VALUE.match(lead[position].text) else text


_LEAD_CHARS = 60
_NOUNS, _BEFORE_NOUNS = frozenset([Kind.ANSWER, Kind.RESULT]), frozenset([Kind.THE, Kind.RIGHT])
_VERBS, _TELLING = frozenset([Kind.IS]), frozenset([Kind.IS, Kind.ABOUT, Kind.HAS])
_BEGINS_VALUE = re.compile(r"[-−\d$\\]")


def _lead(text: str) -> tuple[Sequence[Word], Sequence[Cue]]:
    """The words at the beginning of a text; empty if the text does not begin with words."""
    if not _BEGINS_WITH_WORDS.match(text):
        return (), ()
    lead = words(text, 0, _LEAD_CHARS)
    return lead, cues(lead)


_BEGINS_WITH_WORDS = re.compile(r"\s*(?:\\text|[^\W\d_]{2}|[^\x00-\x7f])")


def _past(phrases: Sequence[Cue], kinds: frozenset[Kind], position: int, repeats: bool = False) -> int:
    """The position behind the longest phrase of some kinds at a position; `repeats`: behind several such phrases."""
    while stops := [cue.stop for cue in phrases if cue.first == position and cue.kind in kinds]:
        position = max(stops)
        if not repeats:
            break
    return position


def _higher_root(match: re.Match[str]) -> str:
    root = r"\sqrt[3]" if match[1] == "∛" else r"\sqrt[4]"
    return f"{root}{{{match[2]}}}" if match[2] else root


def _vulgar_fraction(match: re.Match[str]) -> str:
    top, bottom = unicodedata.normalize("NFKC", match[0]).split("⁄")
    return rf"\frac{{{top}}}{{{bottom}}}"


def _reversed_brackets(text: str) -> str | None:
    r"""Write `]0,1[` in the usual way, `(0,1)`."""
    match = _OPEN_CLOSE_BRACKETS.match(text)
    if match is None or "," not in match[2] or (match[1], match[3]) == ("[", "]") or set("[]") & set(match[2]):
        return None
    return ("(" if match[1] == "]" else "[") + match[2] + (")" if match[3] == "[" else "]")


_UPRIGHT_COMMANDS = ("\\mathrm", "\\text", "\\rm")
_LINES = _each(("\n", _FORMULA_LINES, ", "))
_NOTATIONS = _each(
    (("p.", "y.", "h."), _PYTHON_MODULE, ""),
    ("\\textcircled", _CIRCLED, r" (\1), "),
    (_UPRIGHT_COMMANDS, _UPRIGHT, _unit_words),
)
_SPELLED = _each(
    (_UPRIGHT_COMMANDS, _UPRIGHT_DIGIT, r"\1"),
    ("_{", _BRACKETED_BASE, r"_{\1}"),
    (("0x", "0X", "0b", "0B"), _PROGRAMMED_BASE, _with_base),
    (("\\,", "~"), _WHOLE_GROUPS, lambda run: _GAP.sub("", run[0])),
    (".", _DECIMAL_GROUPS, lambda run: _GAP.sub("", run[0])),
    ("又", _MIXED_IN_CHINESE, lambda m: f"{m[4]}\\frac" if m[4] else rf"{m[1]}\frac{{{m[2]}}}{{{m[3]}}}"),
    ("of", _SHARE_OF, r"\\cdot "),
    (("‰", "\\permil"), _PER_MILLE, r"\1\\cdot\\frac{1}{1000}"),
)
_CALLED = _each(
    ("零下", _BELOW_ZERO, "-"),
    ("mod", _MODULUS, r"\\pmod{\1}"),
    ("log", _LOG_BASE, r"\\log_{\1}"),
    (("abs(", "cbrt("), _CALLS, lambda call: f"|{call[2]}|" if call[1] == "abs" else rf"\sqrt[3]{{{call[2]}}}"),
)
_NUMBER_SETS = _each(("\\mathbb", _INTEGERS_MODULO, r"\\mathbb{Z}_{\1\2\3}"))
_SIGNS = _each(
    ("^", _SUPERSCRIPT_O, r"^\\circ "),
    (("{:}", "\\colon"), _FIXED_COLON, ":"),
    ("\\\\", _LINE_BREAKS, ""),
    ("!=", _NOT_EQUAL, r"\\ne "),
    (("10", " x ", " X "), _LETTER_TIMES, r"\\times "),
    (_UPRIGHT_COMMANDS, _UPRIGHT_E, r"\1"),
    ("\\left", _EVALUATED, r"\\operatorname{at}(\1)"),
)
_FIGURES = _each(
    (".", _HALF_DAY, r" \1\2"),
    ("...", _DOTS, r"\\ldots "),
    (" ", _SPACED_GROUPS, lambda run: run[0].replace(" ", "")),
    (",", _INDIAN_GROUPS, lambda run: run[0].replace(",", "")),
    ((",", "'", "\\ ", "\\;"), _BREAKING_THOUSANDS, lambda run: _NOT_DIGIT.sub("", run[1])),
    ("{,}", _DECIMAL_COMMA, "."),
    ("\\begin{array}", _CASES, r"\\begin{cases}\1\\end{cases}"),
    ("quad", _QUAD_BEFORE_DECLARATION, ", "),
)
_LAYOUTS = _each(
    ("**", _BOLD, " "),
    (_UPRIGHT_COMMANDS, _UPRIGHT_D, "d"),
    (("color", "\\underline", "\\emph", "\\ensuremath"), _COLOUR, ""),
    ("box", _BOX, ""),
    (("left", "right", "middle", "ig"), _SIZES, ""),
)
_BLANK_RUNS = _each(("  ", _BLANKS, " "))
_SPACES = [*_each(("\\", _SPACING, " "), (("\\", "~"), _LAYOUT, " ")), *_BLANK_RUNS]
