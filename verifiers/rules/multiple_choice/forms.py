"""How the name of an option is written: the markup around it, the words before it, what makes two texts the same."""

import re
from operator import itemgetter

from verifiers import answers

EDGES = " \t\n.,;:!?'\"()[]{}<>*_`$~-–—•●▪◦‣、。“”‘’«»‹›「」『』【】《》〈〉〔〕"
OR = re.compile(r"(?<![A-Za-z])(?:or|either|oder|ou)(?![A-Za-z])|/|或|还是", re.IGNORECASE)
"""What makes several options a choice between them."""
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:bf|rm|it|sf|tt)|boldsymbol|bm|bf|rm|operatorname|underline|emph|mbox|hbox)\s?"
    r"\{([^{}]*)\}"
)
_WRAPPED = itemgetter(1)
_COMMAND = re.compile(
    r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ()\[\]])|\\(?:rm|bf|it|sf|tt)(?![A-Za-z])|[$*`]|(?<![^\W_])_|_(?![^\W_])"
)
_SIZED_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_DIGITS_OF_FRACTION = re.compile(r"\\frac\s?(\d)\s?(\d)(?!\d)")
"""A numerator and a denominator of one digit need no braces."""
_HEADING = re.compile(r"#{1,6}\s+|#(?=\d{1,2}(?!\w))")
_MARKUP = re.compile(r"[\\$*`_]")
_ARTICLE = re.compile(r"^(?:the|an?)\s(?=\w)")
_LEAD = re.compile(
    r"(?:(?:the|my)\s)?(?:(?:correct|right|best|final)\s){0,2}(?:(?:options?|choices?|letters?|numbers?|answers?)(?:\s(?:is|are))?(?![a-z])|选项|答案|选)[\s:]*",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"(?:just|only|indeed|clearly|definitely|certainly|obviously|evidently|surely|undoubtedly|actually|simply|really"
    r"|(?:most\s)?(?:likely|probably|definitely|certainly|clearly))(?:,?\s|:\s?)",
    re.IGNORECASE,
)
_ARTICLE_OF_LABEL = re.compile(
    r"(?:(?:la|el|il|le|les|a|o|die|der|de)\s)?(?:(?i:letra|lettre|lettera|opción|opcion|opção|opzione|option|alternativa|buchstabe"
    r"|antwort)\s)?(?=[(\[]?[A-Z](?![\w'’]))"
)
"""Of the languages that say "it is the C", or "the letter C"."""
_TAGGED = re.compile(r"^<(\w{1,20})>([^<>]*)</\1>$")
_COPULA = re.compile(r"(?<=[A-Z\d)])\s?(?:です|である|번?(?:입니다|이다)|번|选项|项|吧|了)$")


def clean(text: str) -> str:
    """Without the markup around and the words before an option."""
    text = answers.fold(text).strip()
    if text.startswith("<") and (tagged := _TAGGED.match(text)):
        text = tagged[2]
    if text.startswith("#") and (heading := _HEADING.match(text)):
        text = text[heading.end() :]
    text = without_markup(text, depth=3).strip(" \t\n\"'.。,;")
    if not text.isascii():
        text = _COPULA.sub("", text)
    for words in (_ADVERB, _LEAD, _ARTICLE_OF_LABEL):
        lead = words.match(text)
        if lead and lead.end() < len(text):
            text = text[lead.end() :].strip()
    return text


def form_of(text: str) -> str:
    """What makes two option texts the same: case, spacing, markup and a leading article do not count."""
    text = " ".join(without_markup(answers.fold(text), depth=1).casefold().split()).strip(" .,;!?\"'。")
    return _ARTICLE.sub("", text) if text.startswith(("a", "the")) else text


def without_markup(text: str, depth: int) -> str:
    """Without emphasis, delimiters of mathematics and, up to `depth` of them around each other, commands for fonts; fractions
    are written in one way.
    """
    if _MARKUP.search(text) is None:
        return text
    if "\\" in text:
        if "frac" in text:
            text = _DIGITS_OF_FRACTION.sub(r"\\frac{\1}{\2}", _SIZED_FRACTION.sub(r"\\frac", text))
        for _ in range(depth):
            text, count = _WRAPPER.subn(_WRAPPED, text)
            if not count:
                break
    return _COMMAND.sub("", text)


def is_without_markup(text: str) -> bool:
    return "\\" not in text or (_WRAPPER.search(text) is None and _COMMAND.search(text) is None)
