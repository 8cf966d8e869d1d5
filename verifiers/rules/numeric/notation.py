"""Removes notation that does not change a value: markup, Unicode forms, signs that group digits."""

import re

from verifiers import commitment
from verifiers.commitment import amounts
from verifiers.math.units.names import SYMBOLS
from verifiers.math.units.names import names as unit_names
from verifiers.rules.numeric import scales

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN = re.compile(r"[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_COMMANDS = re.compile(
    r"\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])|\\[,;:! ]|\\(?=[$%])|\{(?=,\})|(?<=,)\}|[`~]|\*\*"
)
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|mathbf|mathrm|mathit|boldsymbol|bm|bf)\s?\{([^{}]*)\}")
_UNIT_COMMANDS = {"Omega": "Ω", "mu": "µ"}
_UNIT_COMMAND = re.compile(r"\\(Omega|mu)(?![A-Za-z])\s?")
_UNIT_POWER = re.compile(r"(?<=[A-Za-z}])\s?\^\s?(?:\{\s?[-]?[1-9]\s?\}|[-]?[1-9])(?![\d.])|\^\s?\{?\s?\\?circ\s?\}?")
_UNIT_DIGIT = re.compile(r"(\d\s?(?:[cdk]?m|ft))[23](?![\w.^/])")
_SPACED = re.compile(r"(?<![\d.,])(?<!\d[ '’])\d{1,3}(?:[ '’]\d{3})+(?![\d/])(?! ?[/⁄])")
_LAKHS = re.compile(r"(?<![\d.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")
_EUROPEAN = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![.,]?\d)|(?<![\d.,])\d+,\d+(?![.,]?\d)")
_GROUPED_BEFORE_COMMA = re.compile(r"(?<![\d.,])(?<!\d[ '’])\d{1,3}([. '’])\d{3}(?:\1\d{3})*,\d{1,2}(?![.,]?\d)")
"""`5.200,50`, `5 200,5`: behind other signs between thousands, a comma with one or two digits can only begin the decimals."""
_ACCOUNTING = re.compile(r"^(?:\(\s?([$€£¥₹])|([$€£¥₹])\()\s?(?=[\d.])([\d.,]+)\s?\)$")
"""A loss in accounting: `($1,234)`. Without a currency, brackets have no such meaning."""
_ARABIC_MARKS = str.maketrans({"٫": ".", "٬": ","})


def with_ascii_marks(text: str) -> str:
    """A text of the same length, with ASCII signs for the Arabic marks of decimals and thousands, and with carets."""
    if "10**" in text:
        text = _PROGRAMMED_POWER.sub(r"^\g<sign>0", text)
    return text if text.isascii() else text.replace("٫", ".").replace("٬", ",")


_PROGRAMMED_POWER = re.compile(r"(?<=10)\*\*(?P<sign>-?)(?=\d)")
"""A power of ten as in Python, `1.5*10**6`, which becomes `1.5*10^06`."""


_MODULUS = r"\s?(?:\\pmod\s?(?:\{\s?\d{1,30}\s?\}|\d{1,30})|\(\s?(?:\\?b?mod|modulo)\s\d{1,30}\s?\)|(?:\\?b?mod|modulo)\s\d{1,30})"
_OF_CONGRUENCE = re.compile(
    rf"(?P<sign>≡|\\equiv)\s?[-−]?\d{{1,30}}(?P<modulus>{_MODULUS})[$*.\s)]{{0,8}}\Z", re.IGNORECASE
)
_MODULUS_BEHIND = re.compile(
    r"(?<=\d)\s?(?:\\pmod\s?(?:\{\s?\d{1,30}\s?\}|\d{1,30})|\(\s?mod(?:ulo)?\s\d{1,30}\s?\))\Z", re.IGNORECASE
)
_CONGRUENCE_CHARS = 120


def without_modulus(text: str) -> str:
    """A text of the same length, in which a congruence at its end becomes an equation: `12 ≡ 4 (mod 8)`.

    A congruence that is a reason, or is denied, stays.
    """
    first = max(0, len(text) - _CONGRUENCE_CHARS)
    congruence = _OF_CONGRUENCE.search(text, first) if text.find("mod", first) >= 0 else None
    if congruence is None or not amounts.states_result(text, first, congruence.start()):
        return text
    sign, modulus = congruence["sign"], congruence["modulus"]
    start, end = congruence.span("modulus")
    equation = text[: congruence.start()] + "=".ljust(len(sign)) + text[congruence.end("sign") : start]
    return equation + " " * len(modulus) + text[end:]


_REMARK_AT_END = re.compile(r"(?<=[\d%])[$*]{0,3}\s?(\(\s?(?:[<>]=?|[≤≥])\s?-?[\d.,]{1,20}\s?\))[$*.\s]{0,8}\Z")
_REMARK_CHARS = 60


def without_remark(text: str) -> str:
    """A text of the same length, without a remark on its last number at the end: `12 (> 10)`."""
    remark = _REMARK_AT_END.search(text, max(0, len(text) - _REMARK_CHARS))
    if remark is None:
        return text
    return text[: remark.start(1)] + " " * len(remark[1]) + text[remark.end(1) :]


_POWER_AT_END = re.compile(r"[ }]{0,2}(?P<power>\^ ?(?:\{ ?[-−]?[1-4] ?\}|[-−]?[1-4]))\Z")
_DIGIT_AT_END = re.compile(r"\d ?(?:[cdk]?m|ft|in)(?P<power>[23])\Z")
_UNIT_AT_END = re.compile(r"(?P<word>[A-Za-zµμ]{1,16})[ }]{0,2}\Z")
_BETWEEN_UNITS = re.compile(r"(?:[ $~/*·⋅{}]|\\[,;:! ]|\\(?:text|mathrm|textrm|rm|cdot)|(?<![A-Za-z])per ){1,8}\Z")
_MAX_UNITS = 4
_POWER_CHARS = 80
_MAX_POWERS = 4
_TEN_CHARS = 12
_MILLIONS = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){2,}(?!\.?\w|,\d)")
_TEN_RAISED = re.compile(
    r"10(?: ?\^ ?(?:\{ ?(?P<braced>[-−+]?\d{1,4}) ?\}|(?P<bare>[-−+]?\d{1,4}))|(?P<raised>⁻?[⁰¹²³⁴-⁹]{1,4}))"
)
_PART_BEFORE = re.compile(r"(?:[\w.,^\\)}\]×*·⋅]|[×x*·⋅] |(?:cdot|times) )\Z")
_PART_BEHIND = re.compile(r"[\w.,^]{0,4}\d| ?[!^]")


def in_other_signs(text: str) -> str:
    """A text of the same length, in which the last number has the notation of the channel `last_number`.

    Units behind it lose their powers (`30 cm^3` becomes `30 cm  `), and a power of ten becomes `1e6`.
    Narrow spaces replace the points between the digits of millions, which cannot be decimals.
    """
    end = commitment.last_digit_end(text, 0, len(text))
    for _ in range(_MAX_POWERS):
        if end is None:
            return text
        end += text.startswith("}", end)
        first = max(0, end - _POWER_CHARS)
        match = _DIGIT_AT_END.search(text, first, end) or _POWER_AT_END.search(text, first, end)
        if match is None or text[end : end + 1].isalnum() or not _is_of_a_unit(text[first : match.start()], match):
            break
        start, stop = match.span("power")
        text = text[:start] + " " * (stop - start) + text[stop:]
        end = commitment.last_digit_end(text, 0, start)
    if end is None:
        return text
    ten = _TEN_RAISED.search(text, max(0, end - _TEN_CHARS), min(len(text), end + _TEN_CHARS))
    is_part = ten and (
        _PART_BEFORE.search(text, max(0, ten.start() - 6), ten.start()) or _PART_BEHIND.match(text, ten.end())
    )
    if ten is not None and ten.end() >= end and not is_part:
        raised = ten["braced"] or ten["bare"] or ten["raised"].translate(_SUPERSCRIPTS)
        exponent = raised.replace("−", "-").removeprefix("+").zfill(len(ten[0]) - len("1e"))
        text = f"{text[: ten.start()]}1e{exponent}{text[ten.end() :]}"
    return _MILLIONS.sub(lambda number: number[0].replace(".", "\u202f"), text) if "." in text else text


def _is_of_a_unit(head: str, power: re.Match[str]) -> bool:
    r"""Whether a number with units stands before a power: `30 kg \\cdot m`."""
    if power.re is _DIGIT_AT_END:
        return True
    for _ in range(_MAX_UNITS):
        unit = _UNIT_AT_END.search(head)
        if unit is None or not (unit["word"] in SYMBOLS or unit["word"].lower() in unit_names()):
            return False
        head = head[: unit.start()]
        between = _BETWEEN_UNITS.search(head)
        head = head[: between.start()] if between else head
        if head[-1:].isdigit():
            return True
    return False


def without_points(text: str) -> str:
    """A text without the points between the digits of millions, `2.000.000`, which cannot be decimals."""
    return _MILLIONS.sub(lambda number: number[0].replace(".", ""), text) if text.count(".") > 1 else text


_PHANTOM = re.compile(r"\\[hv]?phantom\s?\{[^{}]{0,40}\}")
_UPRIGHT_E = re.compile(r"(?<=\d)\s?\\(?:text|mathrm|rm)\s?\{\s?[eE]\s?\}\s?\{?\s?([-+]?\d{1,4})\s?\}?")
_BLANKS = re.compile(r" {2,}")
_INLINE = re.compile(r"\\\(([^()\\]{1,200})\\\)")
"""A formula within a text, in LaTeX's own marks."""


_DOLLARS = re.compile(r"(?<![A-Za-z])(?:AU?|CA?|HK|N[TZ]|R|S|US)(?=\\?\$\s?\d)")
"""What stands before the sign of one of several dollars, or of reais: `R$ 52`."""


def plain(text: str, decimal_comma: bool) -> str:
    """A text without markup that changes no value.

    Superscript digits become powers before NFKC turns them into digits.
    """
    text = _DOLLARS.sub("", text) if "$" in text else text
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = re.sub(r"(\d)(?=[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])", r"\1 ", text)
    text = commitment.fold(text).translate(_ARABIC_MARKS).replace("−", "-").replace("﹣", "-").strip()
    if "**" in text:
        text = _PROGRAMMED_POWER.sub(r"^\g<sign>", text)
    if "\\" in text:
        text = _UPRIGHT_E.sub(r"e\1", _PHANTOM.sub("", text))
        text = _UNIT_POWER.sub("", _UNIT_COMMAND.sub(lambda unit: _UNIT_COMMANDS[unit[1]], text))
        text = _INLINE.sub(r" \1 ", text)
    text = without_points(text)
    text = _BLANKS.sub(" ", re.sub(r"^–(?=\d)", "-", _WRAPPER.sub(r" \1 ", _COMMANDS.sub("", text))))
    if "mod" in text:
        text = _MODULUS_BEHIND.sub("", without_modulus(text))
    text = _ACCOUNTING.sub(r"-\1\2\3", text)
    if "," in text:
        text = _GROUPED_BEFORE_COMMA.sub(lambda number: re.sub(r"[. '’]", "", number[0]).replace(",", "."), text)
    text = _SPACED.sub(lambda number: re.sub(r"[ '’]", "", number[0]), text)
    if decimal_comma:
        text = _EUROPEAN.sub(lambda number: number[0].replace(".", "").replace(",", "."), text)
    text = scales.with_decimal_point(text)
    text = _LAKHS.sub(lambda number: number[0].replace(",", ""), text)
    text = scales.without_myriads(text)
    while len(text) > 1 and text[0] + text[-1] in ("$$", "[]", "{}"):
        text = text[1:-1].strip()
    return _UNIT_DIGIT.sub(r"\1", _UNIT_POWER.sub("", text)).strip().removesuffix(".")
