"""Finds the options of a question in a text, by labels, texts and places."""

import re
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b

from propcache.api import cached_property

from memory import Store, remember
from verifiers import commitment
from verifiers.commitment.commit import CONFLICT, Mention, Names
from verifiers.commitment.cues import Kind, Word, adverbs, cues, kinds, listed, vocabulary, words
from verifiers.commitment.spans import Span
from verifiers.commitment.wording import single
from verifiers.math import algebra
from verifiers.math.exact import number, plain
from verifiers.math.reader import read
from verifiers.math.tree import TooComplex, Unreadable
from verifiers.math.values import NoValue
from verifiers.rules import numeric
from verifiers.rules.multiple_choice.scripts import (
    CELESTIAL_STEMS,
    CIRCLED,
    ORDINALS,
    ORDINALS_CJK,
    PLACE_NOUNS,
    PLACES,
)
from verifiers.rules.multiple_choice.sights import Sight, Sights

_MAX_NAME_CHARS = 400
_MAX_NUMBER_CHARS = 40
_MAX_BETWEEN_CHARS = 12
_MOST_BEFORE = 2
"""Characters between a hit of the quick look and the start of the name: brackets and space."""
_STYLE = r"\\(?:text\w{0,6}|math(?:bf|rm|it|sf|tt)|boldsymbol|bm|operatorname|underline|emph|[mh]box)\s?"
_WRAPPER = re.compile(_STYLE + r"\{([^{}]*)\}")
_STYLED = re.compile(_STYLE + r"\Z")
_COMMAND = re.compile(r"\\(?:left|right|displaystyle|q?quad|[,;:!~ ()\[\]])|[$*`~]|(?<![^\W_])_+|_+(?![^\W_])|\\_")
_SIZED = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_ARTICLE = re.compile(r"(?:the|an?)\s(?!(?:and|or|\w)\b)(?=\w)")
"""Not the label in "A and B"."""
EDGES = "# \t\n.,;:!?'\"()[]{}<>*_`$~-–—•●▪◦‣、。“”‘’«»‹›「」『』【】《》〈〉〔〕"
_BETWEEN = re.compile(
    r"(?:\s?[)\]}.:,=|*_\"'、．：，（）】」~-]|\\[,;:! ]|\s?[—–]){0,4}\s?(?:\(|\$|\*\*|\\\(|\\text\{|is\s)?[\"“*$(]{0,3}",
    re.IGNORECASE,
)


_NO_NAMES: Names = frozenset(["no names"])
_NAMES: Store[tuple[bytes, str], Names] = Store("multiple_choice.names", 2_000_000, of_texts=True)


def form_of(text: str) -> str:
    """The form by which two texts are compared: case, space, markup and articles do not count."""
    text = _SIZED.sub(r"\\frac", commitment.fold(text))
    for _ in range(3):
        text, count = _WRAPPER.subn(r"\1", text)
        if not count:
            break
    text = " ".join(_COMMAND.sub(" ", text).casefold().replace("ё", "е").split()).strip(" .,;:!?\"'。")
    article = _ARTICLE.match(text)
    return text[article.end() :] if article else text


_CIRCLED = frozenset("".join(CIRCLED))


class Options:
    """The labels and texts of options, and a reader that finds them in a text."""

    def __init__(self, texts: Mapping[str, str], multi: bool) -> None:
        self.texts, self.multi = texts, multi
        self.digest = blake2b(repr((texts, multi)).encode(), digest_size=16).digest()
        """Names these options in memories, which then need not hold the options themselves."""
        self.may_ask = any(text.rstrip().endswith(("?", "？")) for text in texts.values())
        self._by_label = {commitment.fold(label).casefold(): label for label in texts}
        circled = [text.strip() for text in texts.values() if not _CIRCLED.isdisjoint(text)]
        # Options such as "①③" tell which statements hold; there ① is not the first option.
        scripts = PLACES if circled else (*PLACES, *CIRCLED)
        self._by_sign = {sign: label for signs in scripts for sign, label in zip(signs, texts, strict=False)}
        if "1" in self._by_label:
            self._by_sign = {sign: str(n) for signs in CIRCLED for n, sign in enumerate(signs, 1) if str(n) in texts}
        forms: dict[str, list[str]] = {}
        for label, text in texts.items():
            if form := form_of(text):
                forms.setdefault(form, []).append(label)
        self.by_form = {form: labels[0] for form, labels in forms.items() if len(labels) == 1}
        by_case = {label for labels in forms.values() if len(labels) > 1 for label in labels}
        self._by_text = _alone(
            {
                label: text.strip()
                for label, text in texts.items()
                if label in by_case or text.strip(EDGES).casefold() in self._by_label
            }
        )
        # "A DNA sequence" is found with its article, which is a label, too.
        whole = [
            text
            for text in map(commitment.fold, texts.values())
            if text.casefold()[:2] == "a " and "a" in self._by_label
        ]
        self._by_tight = _alone({label: "".join(form.split()) for form, label in self.by_form.items()})
        self._forms = {label: form for form, label in self.by_form.items()}
        self._read_numbers: dict[str, numeric.Number | None] = {}
        self._by_ordinal = _ordinals(texts) if all(texts.values()) else {}
        self._sights = Sights(list(texts), [*forms, *circled, *whole], self._by_ordinal, self._by_sign, multi)
        self.has_formulas = any(map(_MAY_BE_FORMULA.search, texts.values()))
        self._labelled = 0, False
        """The hash of the text that was last asked about, which is not kept, and whether it names an option by its label."""

    def label(self, text: str) -> str | None:
        return self._by_label.get(text.casefold()) or self._by_sign.get(text)

    def _exactly(self, text: str, bare: str) -> str | None:
        """The option whose label or text is written in these letters: (E) is no option that reads "(e)"."""
        return bare if bare in self.texts else self._by_text.get(text.strip())

    # --- a short text

    def named(self, text: str) -> Names | None:
        """The options that a short text names, if it says nothing else."""
        if len(text) > _MAX_NAME_CHARS:
            return None
        key = (self.digest, text)
        cached = _NAMES.get(key)
        if cached is None:
            cached = self._named(text) or _NO_NAMES
            _NAMES.put(key, cached)
        return None if cached is _NO_NAMES else cached

    def _named(self, text: str) -> Names | None:
        if label := self.one(text):
            return frozenset({label})
        mentions = self.mentions(text, 0, len(text))
        if self.multi and mentions:
            text, mentions = _without_denied(text, mentions)
        if not mentions or not self._is_only(text, mentions):
            return None
        if len({mention.value for mention in mentions}) > 1 and any(cue.kind is Kind.OR for cue in cues(words(text))):
            return CONFLICT
        return self.union(mentions)

    def union(self, mentions: Sequence[Mention]) -> Names:
        values = {mention.value for mention in mentions}
        if None in values or CONFLICT in values:
            return CONFLICT
        labels = frozenset().union(*(value for value in values if value))
        return labels if self.multi or len(labels) == 1 else CONFLICT

    def _is_only(self, text: str, mentions: Sequence[Mention]) -> bool:
        """Whether a text holds only options and words that may stand beside them."""
        chars = list(text)
        for mention in mentions:
            chars[mention.start : mention.end] = " " * (mention.end - mention.start)
        spoken = words("".join(chars))
        if any(word.text[0].isdigit() or word.text in ("=<>≤≥≠^~" if self.multi else "=<>≤≥≠+^~") for word in spoken):
            return False
        spared: set[int] = set()
        for cue in cues(spoken):
            if cue.kind in _BESIDE:
                spared |= set(range(cue.first, cue.stop))
        spared |= {position for position, word in enumerate(spoken) if word.text in adverbs()}
        return all(position in spared or not any(map(str.isalnum, word.text)) for position, word in enumerate(spoken))

    def one(self, text: str) -> str | None:
        """The option whose label, text, number or formula makes up a whole text."""
        bare = _WRAPPER.sub(r"\1", commitment.fold(text)).strip(EDGES)
        if label := self._exactly(text, bare) or self.label(bare):
            return label
        form = form_of(text)
        if label := self.by_form.get(form) or self._by_ordinal.get(form):
            return label
        if label := self._by_formula.get(_formula(form)):
            return label
        if label := self._computed(text):
            return label
        if not form or len(form) > _MAX_NUMBER_CHARS or any(map(str.isalpha, form)) or not self._numbers:
            return None
        read = numeric.read(form)
        if not isinstance(read, numeric.Number):
            return None
        labels = [label for label, option_number in self._numbers.items() if option_number == read]
        return labels[0] if len(labels) == 1 else None

    @cached_property
    def _by_formula(self) -> Mapping[Hashable, str]:
        return _alone({label: _formula(form) for form, label in self.by_form.items()})

    @cached_property
    def _numbers(self) -> Mapping[str, numeric.Number]:
        numbers = {label: self._number(label) for label in self.by_form.values()}
        return {label: number for label, number in numbers.items() if number is not None}

    def _number(self, label: str) -> numeric.Number | None:
        """The number that the text of an option is. Few are needed, and reading one takes as long as finding a name."""
        if label not in self._read_numbers:
            read = numeric.read(self._forms[label])
            self._read_numbers[label] = read if isinstance(read, numeric.Number) else None
        return self._read_numbers[label]

    @cached_property
    def _by_algebra(self) -> Mapping[Hashable, str]:
        return _alone({label: _algebraic(text) for label, text in self.texts.items()})

    def _computed(self, text: str) -> str | None:
        """The option that a formula is the same as by arithmetic. A calculation that comes to a number is not done for the answer."""
        form = _algebraic(text) if self.has_formulas else None
        is_undone = isinstance(form, Fraction) and number(plain(text)) is None
        return None if form is None or is_undone else self._by_algebra.get(form)

    def measured(self, text: str) -> str | None:
        """The option of a value with a name or a unit, if all options are bare numbers: `x = 18`, "15 apples"."""
        match = _NAMED.fullmatch(text.strip(" $"))
        if match and not any("=" in form for form in self.by_form):
            label = self.one(match["value"])
            return label if match["name"] not in self.texts or match["name"] == label else None
        if any(map(str.isalpha, "".join(self.texts.values()))) or len(self._numbers) < len(self.texts):
            return None
        form = form_of(_DEGREES.sub("", text))
        measure = _MEASURE.fullmatch(form)
        return self.one(measure["number"]) if measure and len(form) <= _MAX_NUMBER_CHARS else None

    # --- a longer one

    def places(self, text: str) -> Sequence[Span]:
        return self._sights.places(text)

    def names_more(self, text: str, labels: int) -> bool:
        """Whether a text may name more labels than this number. Reading such a text takes long."""
        return self._sights.names_more(text, labels)

    def mentions(self, text: str, start: int, end: int, starts_at: Sequence[int] | None = None) -> Sequence[Mention]:
        listed: list[Mention] = []
        if starts_at is None:
            starts_at = [start + first for first, _ in self.places(text[start:end])]
        for sight in self._sights.within(text, start, end, starts_at, _MOST_BEFORE):
            if listed and self._is_own_text(text, listed[-1], sight):
                listed[-1] = listed[-1]._replace(end=sight.end)
                continue
            if sight.kind == "label":
                label = self.label(sight.name)
                if label is None and len(sight.name) > 1 and len({*sight.name}) == len(sight.name):
                    listed.append(Mention(frozenset(sight.name), sight.start, sight.end))
                    continue
                if label is None or not self._is_label(text, sight, start, end):
                    continue
            elif sight.kind == "sign":
                is_name = sight.name in CELESTIAL_STEMS and self._counts_by_labels(text)
                label = None if is_name else self._by_sign.get(sight.name)
            else:
                form = form_of(sight.name)
                label = self._exactly(sight.name, sight.name.strip(EDGES)) or self.by_form.get(form)
                label = label or self._by_ordinal.get(form) or self._by_tight.get("".join(form.split()))
            if label is None or (
                sight.kind == "text"
                and (
                    (label in self._forms and self._is_else(text, sight, label, end)) or _denies_noun(text, sight, end)
                )
            ):
                continue
            mention = Mention(frozenset({label}), sight.start, sight.end)
            if (
                listed
                and sight.kind != "sign"
                and self._is_same_place(text, listed[-1], mention, sight.kind == "label")
            ):
                agrees = listed[-1].value == mention.value
                listed[-1] = Mention(mention.value if agrees else CONFLICT, listed[-1].start, mention.end)
                continue
            listed.append(mention)
        return listed

    def _counts_by_labels(self, text: str) -> bool:
        """Whether a text names an option by its own label, so that 甲 and 乙 are the parties of a case, as they often are."""
        if self._labelled[0] != hash(text) and self._by_label.keys().isdisjoint(CELESTIAL_STEMS):
            self._labelled = hash(text), self._sights.names_label(text)
        return self._labelled[1]

    def _is_own_text(self, text: str, previous: Mention, sight: Sight) -> bool:
        """Whether a letter behind a label is the text of that option: "(A) C", if the text of A is "C"."""
        texts = [self.texts.get(label, "").strip(EDGES) for label in previous.value or ()]
        is_near = sight.start - previous.end <= _MAX_BETWEEN_CHARS
        return (
            not self.multi
            and is_near
            and texts == [sight.name.strip(EDGES)]
            and self._is_bare(text, previous)
            and _BETWEEN.fullmatch(text, previous.end, sight.start) is not None
        )

    def _is_same_place(self, text: str, a: Mention, b: Mention, is_label: bool) -> bool:
        """Whether a label stands beside a text: "C) Paris", "Paris (C)"."""
        if b.start < a.end or b.start - a.end > _MAX_BETWEEN_CHARS:
            return False
        if is_label:
            return not self._is_bare(text, a) and _IN_BRACKETS.fullmatch(text, a.end, b.start + 1) is not None
        return self._is_bare(text, a) and _BETWEEN.fullmatch(text, a.end, b.start) is not None

    def _is_else(self, text: str, sight: Sight, label: str, end: int) -> bool:
        """Whether words behind a number change its value: "15 thousand"."""
        following = _WORDS_BEHIND.match(text, sight.end, end)
        value = None if following is None else self._number(label)
        if following is None or value is None:
            return False
        read = numeric.read(sight.name + following[0])
        return read not in (value, numeric.Unreadable("unparseable"))

    def _is_bare(self, text: str, mention: Mention) -> bool:
        """Whether a mention is a label without its text."""
        mention_text = text[mention.start : mention.end].strip(EDGES)
        return self.label(mention_text) is not None or form_of(mention_text) in self._by_ordinal

    def _is_label(self, text: str, sight: Sight, start: int, end: int) -> bool:
        """Whether a letter is a label, not an article, pronoun, name or variable."""
        if sight.is_open and sight.is_closed:
            head = text[max(start, sight.start - 24) : sight.start]
            return not _SPACED.search(head) or _STYLED.search(head) is not None
        label = sight.name
        if _ELISION.match(text, sight.end, end) or _FIGURE.search(text, max(start, sight.start - 2), sight.start):
            return False
        if label.isdigit() and _DECIMALS.match(text, sight.end, end):
            return False
        if label.islower() and (siblings := self._siblings(text, sight, start, end)):
            spoken = words(text, max(start, siblings[0] - 40), siblings[0])
            return not spoken or self._is_led(spoken)
        if label.islower():
            if label in ("a", "i") and text[sight.end : end].strip(" *_.)"):
                return False
            if not sight.is_closed and not _CLAUSE_ENDS.match(text[sight.end : end]):
                return False
            return self._is_led(words(text, max(start, sight.start - 40), sight.start))
        tail = text[sight.end : min(end, sight.end + 24)]
        if _EXPECTED.match(tail):
            return False
        if _OF_A_FORMULA.match(tail) and not self.texts.get(self.label(label) or ""):
            return False
        if label == "I" and _GOES_ON.match(tail):
            return False
        if label == "A" and _GOES_ON.match(tail):
            following = words(tail)
            is_joined = len(following) > 1 and following[0].text in single(Kind.JOINS, Kind.OR)
            if is_joined and self.label(following[1].text.upper()):
                return True
            phrases = cues(following)
            if not any(cue.first == 0 and cue.kind in _BEHIND_LABEL for cue in phrases):
                return False
        spoken = words(text[max(start, sight.start - 40) : sight.start])
        return not spoken or not spoken[-1].text[-1].isalnum() or self._may_precede(spoken[-1].text)

    def _may_precede(self, word: str) -> bool:
        """Whether a word may stand before a label: one of the lexicons, or another label if several may be meant, as in "A B C"."""
        return word in vocabulary() or (self.multi and self.label(word.upper()) is not None)

    def _is_led(self, spoken: Sequence[Word]) -> bool:
        """Whether words lead to a label: "answer:", "is"."""
        is_led = any(cue.stop == len(spoken) and cue.kind in _LEAD_TO_LABEL for cue in cues(spoken))
        return is_led or (bool(spoken) and spoken[-1].text in ":(")

    def _siblings(self, text: str, sight: Sight, start: int, end: int) -> Span | None:
        """The span of the small labels in a list with a small letter, from the first one on: "a, c and d"; None if it stands alone."""
        first, stop = sight.start, sight.end
        for _ in range(_MAX_SIBLINGS):
            before = _SMALL_BEFORE.search(text, max(start, first - _MAX_JOINT_CHARS), first)
            if before is None or not self._joins(before):
                break
            first = before.start()
        if (behind := _SMALL_BEHIND.match(text, stop, end)) and self._joins(behind):
            stop = behind.end()
        return (first, stop) if (first, stop) != (sight.start, sight.end) else None

    def _joins(self, sibling: re.Match[str]) -> bool:
        """Whether the signs and words between two letters make them a list of labels."""
        joint = sibling["joint"] or sibling["word"]
        return self.label(sibling["label"]) is not None and (not joint or joint in single(Kind.JOINS, Kind.OR))


def _without_denied(text: str, mentions: Sequence[Mention]) -> tuple[str, Sequence[Mention]]:
    """A text up to the words that deny the last of the options it names: "A, C, but not B"."""
    if len(mentions) < _FEWEST_WITH_DENIED:
        return text, mentions
    phrase = words(text)
    denials = [cue for cue in cues(phrase) if cue.kind is Kind.NOT and phrase[cue.first].start > mentions[0].end]
    if not denials:
        return text, mentions
    start, end = phrase[denials[0].first].start, phrase[denials[0].stop - 1].end
    named = [mention for mention in mentions if mention.end <= start]
    denied = [mention for mention in mentions if mention.start >= end]
    between = {word.text for word in words(text, end, denied[0].start)} if denied else {""}
    is_last = bool(denied) and not between and {m.value for m in named}.isdisjoint(m.value for m in denied)
    return (text[:start], named) if is_last and len(named) + len(denied) == len(mentions) else (text, mentions)


_FEWEST_WITH_DENIED = 2


def _denies_noun(text: str, sight: Sight, end: int) -> bool:
    """Whether a "no" belongs to the noun behind it and answers nothing: "no idea", "no way to tell"; not "no it is wrong"."""
    following = words(text, sight.end, min(end, sight.end + _NOUN_CHARS)) if sight.name.lower() == "no" else ()
    if not following or not following[0].text.isalpha() or "\n" in text[sight.end : following[0].start]:
        return False
    return following[0].text not in listed("pronouns") and not any(cue.first == 0 for cue in cues(following))


_NOUN_CHARS = 40
_JOINT = r"(?:\s?[,;/&、，]\s?(?:(?P<joint>[^\W\d_]{1,5})\s)?|\s(?P<word>[^\W\d_]{1,5})\s)"
_SMALL_BEFORE = re.compile(rf"(?<![^\W_])(?P<label>[a-z]){_JOINT}\Z")
_SMALL_BEHIND = re.compile(rf"{_JOINT}(?P<label>[a-z])(?![^\W_])")
_MAX_JOINT_CHARS, _MAX_SIBLINGS = 12, 16
_SPACED = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]\Z")
"""A letter or digit of a script with spaces: `f(B)`, but 答案是(B)."""
_ELISION = re.compile(r"['\u2019](?=[aeiouhàâäèéêëîïôöûù])", re.IGNORECASE)
"""The apostrophe for a vowel: "C'est", "C'è", "D'après"."""
_FIGURE = re.compile(r"[∠△▱⊙⊿∡]\s?\Z")
"""The sign of an angle or a figure, whose corners are named: "∠C is 125°"."""
_DECIMALS = re.compile(r"[.,]\d")
_CLAUSE_ENDS = re.compile(r"[\s*_)\]]{0,3}(?:[.,;!\n]|\Z|\s(?:is|because|since)\b)")
_OPERATOR = r"[=+^<>≤≥∪∩∧∨∈⊂](?!>)|\\(?:c[au]p|l?and|l?or|wedge|vee|setminus|in|subset|times|cdot)(?![A-Za-z])"
_EXPECTED = re.compile(r"\[[A-Za-z]{1,2}(?:_?\d)?\]\s?(?:=|\\)")
"""What makes a letter the name of an expected value: `E[X] =`."""
_OF_A_FORMULA = re.compile(rf"\s?(?:{_OPERATOR})|\(|['\u2019](?:s|m|ll|ve|d)\b")
_GOES_ON = re.compile(r"\s+[a-z]")
_IN_BRACKETS = re.compile(r"[\"”*_$]{0,3}(?:\s\(|\(|,\s)(?:(?:option|choice|answer)\s)?[^\W_]?\(?", re.IGNORECASE)
_WORDS_BEHIND = re.compile(r"\s?[a-z]{1,12}(?:\s\d{1,4}\s[a-z]{1,12}|\sa\s(?:half|third|quarter))?", re.IGNORECASE)
_BESIDE = kinds("the noun right joins answer result is so or fits called choose guess yes only but")
_LEAD_TO_LABEL = frozenset([Kind.NOUN, Kind.ANSWER, Kind.RESULT, Kind.IS])
_BEHIND_LABEL = kinds("is fits wrong or because joins but also so not")


def _formula(form: str) -> str | Fraction:
    """The form by which two formulas are compared: the value of a number, else the text of the formula."""
    plain_text = plain(form)
    value = number(_RATIO.sub(r"\1/\2", plain_text))
    return "".join(plain_text.split()) if value is None else value


@remember(4096)
def _algebraic(text: str) -> Hashable:
    r"""The form that a formula shares with all that are the same by arithmetic: `2x` and `x+x`; None if it has none."""
    if len(text) > _MAX_FORMULA_CHARS or not _MAY_BE_FORMULA_OR_SUM.search(text) or _WORD.search(text):
        return None
    try:
        node = read(plain(text))
        return None if any(part.kind in ("text", "prose") for part in node.walk()) else algebra.meaning(node)
    except (Unreadable, TooComplex, NoValue, RecursionError):
        return None


_MAX_FORMULA_CHARS = 60
_MAY_BE_FORMULA_OR_SUM = re.compile(r"[\d\\^+*/-]")
_WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{3,}")
"""Letters in a row that are not command."""
_DEGREES = re.compile(r"\^?\{?\\circ\}?|°")
_NAMED = re.compile(r"(?P<name>\\?[^\W\d_][^\W_]{0,11}(?:_\{?\w{1,4}\}?)?)\s?=\s?(?P<value>[^=,;]+)")
_MEASURE = re.compile(r"(?P<number>[-−]?[$€£]?\d[\d.,/]*)\s?(?:[^\W\d_]{2,16}(?:\s[a-z]{2,16})?)?")
_RATIO = re.compile(r"^\s*(\d+)\s?:\s?(\d+)\s*$")


def _alone(texts: Mapping[str, Hashable]) -> dict[Hashable, str]:
    """The labels by text, without texts that several labels share."""
    labels_by_text: dict[Hashable, list[str]] = {}
    for label, text in texts.items():
        labels_by_text.setdefault(text, []).append(label)
    return {text: labels[0] for text, labels in labels_by_text.items() if len(labels) == 1 and text}


def _ordinals(texts: Mapping[str, str]) -> dict[str, str]:
    ordinals = {
        f"{word} {noun}": label
        for names, label in zip(ORDINALS, texts, strict=False)
        for word in names
        for noun in PLACE_NOUNS
    }
    ordinals |= {f"last {noun}": list(texts)[-1] for noun in PLACE_NOUNS[:3]}
    for (han, digit), label in zip(ORDINALS_CJK, texts, strict=False):
        ordinals |= {f"第{number}{noun}": label for number in (han, digit) for noun in ("个选项", "个", "项", "個選項")}
    if not any(map(str.isdigit, "".join((*texts, *texts.values())))):
        for number, label in enumerate(texts, 1):
            ordinals |= {
                f"{noun} {sign}{number}": label
                for noun in ("option", "choice")
                for sign in ("", "number ", "#", "no. ")
            }
    return ordinals


_MAY_BE_FORMULA = re.compile(r"[\d\\^=]")
