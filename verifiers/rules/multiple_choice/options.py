"""Which options a short text names."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import chain

from verifiers import answers
from verifiers.rules import numeric
from verifiers.rules.multiple_choice.first_look import MAX_PIECES, FirstLook
from verifiers.rules.multiple_choice.forms import EDGES, OR, clean, form_of
from verifiers.rules.multiple_choice.scripts import (
    ALPHABET,
    CIRCLED,
    CROSSES,
    ORDINAL_NOUNS,
    ORDINAL_NOUNS_CJK,
    ORDINALS,
    ORDINALS_CJK,
    PLACES,
    may_be_ordinal,
)

HEDGED: frozenset[str] = frozenset()
"""What a text names that offers several options where one is asked for."""
QUESTION_MARKS = ("?", "？")
MAX_PAYLOAD_CHARS = 400
_KEPT_NAME_CHARS = 40
_KEPT_NAMES = 128
"""Of each question: its responses name its options in the same few ways."""


class Options:
    """Labels and texts, and what a short text names among them."""

    def __init__(self, texts: Mapping[str, str], multi: bool) -> None:
        self.texts = texts
        self.multi = multi
        self._by_label = {answers.fold(label).casefold(): label for label in texts}
        self._by_place = {sign: label for signs in PLACES for sign, label in zip(signs, texts, strict=False)}
        self._by_sign = {sign: label for signs in CIRCLED for sign, label in zip(signs, texts, strict=False)}
        if "1" in self._by_label:
            self._by_sign = {}
        self._asks = any(text.rstrip().endswith(QUESTION_MARKS) for text in texts.values())
        self._crosses = frozenset(CROSSES).difference(*texts.values())
        by_form: dict[str, list[str]] = {}
        for label, text in texts.items():
            if form := form_of(text):
                by_form.setdefault(form, []).append(label)
        self._by_form = {form: labels[0] for form, labels in by_form.items() if len(labels) == 1}
        self._by_formula = _by_formula(self._by_form)
        self._by_measure = _by_measure(self._by_form)
        self._by_number = _by_number(texts) if all(texts.values()) else {}
        self._by_ordinal = _by_ordinal(texts) if all(texts.values()) else {}
        self._by_ordinal |= {
            f"{noun} {number}": label for number, label in self._by_number.items() for noun in _COUNTED_NOUNS
        }
        self.forms = sorted(self._by_form, key=len, reverse=True)
        self.first_look = FirstLook(self._by_label, [*self.forms, *self._by_measure], self._fractions)
        self.by_text_before = lru_cache(maxsize=_KEPT_NAMES)(self.by_text)
        """For the few words that many responses share."""
        self._named_before = lru_cache(maxsize=_KEPT_NAMES)(self._named)
        self.longest_chars = max(map(len, self.forms), default=0)

    def label(self, text: str) -> str | None:
        return self._by_label.get(text.casefold()) or self._by_place.get(text)

    def named(self, text: str, is_declared: bool) -> frozenset[str] | None:
        """The options that `text` names: several only with `multi`; `HEDGED` for a choice left open; None for none.

        `is_declared`: the text follows "the answer is", so more may follow the option in it.
        """
        return (self._named if len(text) > _KEPT_NAME_CHARS else self._named_before)(text, is_declared)

    def _named(self, text: str, is_declared: bool) -> frozenset[str] | None:
        if len(text) > MAX_PAYLOAD_CHARS or (text.rstrip().endswith(QUESTION_MARKS) and not self._asks):
            return None
        is_ordinal = bool(self._by_ordinal) and len(text) <= _MAX_ORDINAL_CHARS and may_be_ordinal(text)
        if (not is_ordinal and not self.first_look.may_name(text, is_declared)) or self._is_crossed_out(text):
            return None
        if is_ordinal and self._by_number:
            text = _COUNTED.sub(self._counted, text)
        text = clean(self._with_labels(text))
        if not text:
            return None
        if one := self._one(text, is_declared=False) or (None if is_declared else self._preferred(text)):
            return frozenset({one})
        if is_declared:
            first = _LABEL_FIRST.match(text)
            if first and self.label(first["label"]) and _CALLED_WRONG.match(text, first.end()):
                return None
            return self._named_before_rejected(text)
        return self._several(text)

    def _named_before_rejected(self, text: str) -> frozenset[str] | None:
        """What a declared answer names before it says what it is not, unless sentences behind that say something else."""
        rejects = _REJECTS.search(text)
        named = self._declared_by(text[: rejects.start()].strip() if rejects else text)
        if not named or rejects is None:
            return named
        first = _LABEL_FIRST.match(text)
        if first and self.label(first["label"]) in named and _takes_back(text[first.end() :], named, self):
            return HEDGED
        stop = _STOP.search(text, rejects.end())
        return HEDGED if stop and lets_stand(text[stop.end() :], named, self) else named

    def _declared_by(self, text: str) -> frozenset[str] | None:
        several = self._several(text)
        if several is not None:
            return several
        first = _LABEL_FIRST.match(text)
        if first and self.label(first["label"]) and _OR_FOLLOWS.match(text, first.end()):
            return HEDGED
        one = self._one(text, is_declared=True) or self._value(text) or self._measure(text)
        return frozenset({one}) if one else None

    def result_in(self, text: str) -> int | None:
        """Where the option is in which an equation ends that is all of a text and has no other in it: "6 x 3 = 18 cm"."""
        left, sign, right = text.rpartition("=")
        if not sign or len(text) > MAX_PAYLOAD_CHARS or any("=" in form for form in self._by_form):
            return None
        if left.endswith(_NO_EQUAL) or left.count("=") > _MAX_EQUALS or _SUPPOSED.search(left):
            return None
        if not form_of(right) or self.by_text(clean(right)) is None:
            return None
        return None if any(self.by_text(clean(piece)) for piece in left.split("=")) else len(left) + len(sign)

    def _preferred(self, text: str) -> str | None:
        """The option that a text puts before others of which it names nothing else: "C, not A or B", "C rather than B"."""
        contrast = _CONTRAST.search(text)
        one = self._one(text[: contrast.start()], is_declared=False) if contrast else None
        if contrast is None or one is None:
            return None
        others = [self._one(clean(piece), is_declared=False) for piece in _SEPARATOR.split(contrast["others"]) if piece]
        return None if not others or one in others or None in others else one

    def _is_crossed_out(self, text: str) -> bool:
        return "[ ]" in text[:_MAX_BULLET_CHARS] or (not text.isascii() and not self._crosses.isdisjoint(text))

    def _with_labels(self, text: str) -> str:
        """Circled numbers say which option, not how much."""
        if text.isascii() or not self._by_sign or self._form_is_text(text):
            return text
        return "".join(f"({self._by_sign[char]})" if char in self._by_sign else char for char in text)

    def _counted(self, place: re.Match[str]) -> str:
        """An option said by the number of its place, by its label; a number beyond them stays what it is."""
        label = self._by_number.get(place["number"])
        return place[0] if label is None else f"{place['noun']} {label}"

    def _form_is_text(self, text: str) -> bool:
        return form_of(text) in self._by_form

    def _one(self, text: str, is_declared: bool) -> str | None:
        bare = _BRACKETED.sub(r"\1", text, count=1).strip(EDGES)
        if label := self.label(bare):
            return label
        if label := self.by_text(text):
            return label
        if (place := _PREPOSITION.match(text)) and (label := self.by_text(text[place.end() :])):
            return label
        match = _LABEL_AND_TEXT.match(text)
        if match and (label := self.label(match["label"] or match["bare"] or match["dashed"])):
            rest = self.beyond_own_text(match["rest"], label).strip(EDGES)
            if not rest:
                return label
            other = self.by_text(rest)
            if other is None and (_SAID_WRONG.match(rest) or (_WRONG if self.forms else _CALLED).match(rest)):
                return None
            contradicts = (
                other not in (None, label) or self._names_others(rest, label) or lets_stand(rest, {label}, self)
            )
            return None if contradicts else label
        if not self.forms and (glossed := _GLOSSED.match(text)) and (label := self.label(glossed["label"])):
            gloss = glossed["gloss"]
            is_other = _CALLED.match(gloss) or _SAID_WRONG.match(gloss) or self._names_others(gloss, label)
            return None if is_other or lets_stand(gloss, {label}, self) else label
        for match in (_LABEL_BESIDE_TEXT.match(text), _TEXT_BESIDE_LABEL.match(text)):
            if match and (label := self.label(match["label"])) and (other := self.by_text(match["text"])):
                return label if other == label else None
        if is_declared and not self.forms and (behind := _LABEL_BEHIND.search(text)):
            others = {self.label(other[1]) for other in _IN_BRACKETS.finditer(text)}
            if (label := self.label(behind["label"])) and others <= {None, label}:
                return label
        is_declared = is_declared or _LABEL_AND_REASON.match(text) is not None
        return self._declared(text) if is_declared else None

    def beyond_own_text(self, rest: str, label: str) -> str:
        """What follows an option's text behind its label: the text itself may speak of other labels ("Both A and B")."""
        own = self.texts[label]
        if not own or rest[: len(own)].casefold() != own.casefold() or rest[len(own) : len(own) + 1].isalnum():
            return rest
        return rest[len(own) :]

    def _declared(self, text: str) -> str | None:
        """An option, followed by something that is not part of its name and says nothing for another one."""
        label = self._begins_with(text)
        return None if label is None or lets_stand(text, {label}, self) else label

    def _begins_with(self, text: str) -> str | None:
        if match := _LABEL_FIRST.match(text):
            label = self.label(match["label"])
            rest = text[match.end() :]
            is_word = match["label"] in _WORDS or match["label"].islower()
            follows = _REASON_FOLLOWS.match(rest) if is_word and not match["bracket"] else _BOUNDARY.match(rest)
            if label and follows and not self._names_others(rest, label):
                return label
        form = form_of(text)
        for candidate in self.forms:
            if form.startswith(candidate) and _REASON_FOLLOWS.match(form[len(candidate) :]):
                label = self._by_form[candidate]
                others = (self.label(other[1]) for other in _IN_BRACKETS.finditer(form, len(candidate)))
                return label if all(other in (None, label) for other in others) else None
        return None

    def _names_others(self, rest: str, label: str) -> bool:
        """Whether more labels are offered after the first one."""
        first = _LEADING_LABEL.match(rest)
        if first and self.label(first[1]) not in (None, label) and not _says_else(rest, first.end()):
            return True
        if any(self.label(other[1]) not in (None, label) for other in _OTHER_CASE.finditer(rest)):
            return True
        if any(self.label(other[1]) not in (None, label) for other in _CALLED_RIGHT.finditer(rest)):
            return True
        return any(
            self.label(other[1]) not in (None, label) and not _says_else(rest, other.end())
            for other in chain(_GLUED_LABEL.finditer(rest), _NEXT_LABEL.finditer(rest))
        )

    def by_text(self, text: str) -> str | None:
        form = form_of(text)
        if label := self._by_form.get(form) or self._by_ordinal.get(form):
            return label
        if self._by_formula and (label := self._by_formula.get(_unspaced(form))):
            return label
        if self._by_measure and (label := self._by_measure.get(_BEFORE_UNIT.sub("", form))):
            return label
        if not form.isascii() and (bare := _IT_IS_CJK.sub("", form)) != form:
            return self._by_form.get(bare)
        if not form or len(form) > 40 or any(map(str.isalpha, form)):
            return None
        if not self._numbers or (number := _number(form)) is None:
            return None
        same = [label for other, label in self._numbers if number == other]
        return same[0] if len(same) == 1 else None

    def _value(self, text: str) -> str | None:
        """The option that a named value is, where no option has a name: `x = 18`."""
        equation = _EQUATION.match(text)
        if equation is None or any("=" in form for form in self._by_form):
            return None
        label = self.by_text(text[equation.end() :])
        return label if equation["name"] not in self.texts or equation["name"] == label else None

    def _measure(self, text: str) -> str | None:
        """The option that a number with a unit is, where all options are bare numbers: "15 apples"."""
        form = form_of(text)
        if len(form) > _MAX_MEASURE_CHARS or not self._are_bare_numbers or not _MEASURE.fullmatch(form):
            return None
        read = _number(form)
        same = [
            label
            for number, label in self._numbers
            if read
            and (read.fraction, read.exponent, read.is_percent) == (number.fraction, number.exponent, number.is_percent)
        ]
        return same[0] if len(same) == 1 else None

    @cached_property
    def are_plain(self) -> bool:
        """Whether labels are capitals of ASCII, and texts are named by their own words or their numbers, not as formulas."""
        return not self._by_formula and all(len(label) == 1 and "A" <= label <= "Z" for label in self.texts)

    @cached_property
    def have_digits(self) -> bool:
        """Whether digits may name an option by its text."""
        return any(map(str.isdigit, "".join(self.texts.values()))) or bool(self._numbers)

    @cached_property
    def _are_bare_numbers(self) -> bool:
        return len(self._numbers) == len(self.texts) and not any(map(str.isalpha, "".join(self.texts.values())))

    @cached_property
    def _numbers(self) -> Sequence[tuple[numeric.Number, str]]:
        """The options whose texts are numbers, with their labels."""
        numbers = ((_number(form), label) for form, label in self._by_form.items())
        return [(number, label) for number, label in numbers if number is not None]

    def _fractions(self) -> Sequence[Fraction | None]:
        return [None if number.exponent else number.fraction for number, _ in self._numbers]

    def _several(self, text: str) -> frozenset[str] | None:
        text = _BOTH.sub("", text.strip("[]{}"))
        is_choice = OR.search(text.replace("/", ",") if self.multi else text) is not None
        pieces = [piece for piece in _SEPARATOR.split(text) if piece.strip(EDGES)]
        if len(pieces) > MAX_PIECES:
            return HEDGED
        labels = self._run(clean(text)) if len(pieces) == 1 else self._of_pieces(pieces, 2 if is_choice else 3)
        found = {label for label in labels if label is not None}
        if is_choice and len(found) > 1:
            return HEDGED
        if len(found) == 1 and len(labels) > 1 and None not in labels and not _is_glued(text):
            return frozenset(found)
        if len(found) < 2 or None in labels:
            return HEDGED if len(found) > 2 else None
        return frozenset(found) if self.multi else HEDGED

    def _of_pieces(self, pieces: Sequence[str], enough: int) -> Sequence[str | None]:
        """The option that each piece names; no more of them once one names none and fewer than `enough` others can."""
        labels: list[str | None] = []
        for left, piece in zip(range(len(pieces), 0, -1), pieces, strict=True):
            if None in labels and len({*labels}) - 1 + left < enough:
                return labels
            shown = clean(piece)
            first = _LABEL_FIRST.match(shown) if labels else None
            is_said_wrong = first is not None and self.label(first["label"]) and _says_else(shown, first.end())
            labels.append(None if is_said_wrong else self._one(shown, is_declared=False))
        if (
            labels
            and labels[-1] is None
            and (match := _LABEL_FIRST.match(piece := clean(pieces[-1])))
            and not _says_else(piece, match.end())
            and (match["label"] not in _WORDS or match["bracket"] or _REASON_FOLLOWS.match(piece, match.end()))
            and not lets_stand(piece[match.end() :], {label for label in labels if label}, self)
        ):
            labels[-1] = self.label(match["label"])
        return labels

    def _run(self, text: str) -> Sequence[str | None]:
        """Labels without anything between them: `AC`, `A C`, `(A)(C)`, 甲丙."""
        bare = _BETWEEN_LABELS.sub("", text)
        is_word = sum(char.isascii() and char.islower() for char in bare) > 1
        if bare.isalpha() and (bare.isupper() or not (bare.isascii() or is_word)):
            return [self.label(char) for char in bare]
        return [None]


def _says_else(text: str, place: int) -> bool:
    """Whether a clause about an option, whose name ends at a place, does not call it right."""
    said = _SAYS.match(text, place)
    if said is None:
        return False
    return bool(said["against"]) or not _STANDS.search(said["told"]) or SAYS_AGAINST.search(said["told"]) is not None


_SPACED_SIGN = re.compile(r" ?([-+*/=^<>≤≥(){}\[\],|]) ?")
_WORD = re.compile(r"(?<!\\)(?<![a-z])[a-z]{3}")


def _unspaced(form: str) -> str:
    """A formula without the space around its signs, where that says nothing: `x=5` for `x = 5`."""
    return _SPACED_SIGN.sub(r"\1", form)


def _by_formula(by_form: Mapping[str, str]) -> Mapping[str, str]:
    """The options whose texts are formulas, by these without space; none where two are the same."""
    formulas = {form: _unspaced(form) for form in by_form if _SPACED_SIGN.search(form) and not _WORD.search(form)}
    found = {formula: by_form[form] for form, formula in formulas.items()}
    return found if len(found) == len(formulas) else {}


_BEFORE_UNIT = re.compile(r"(?<=\d)\s(?=[^\W\d_]|[%°])")


def _by_measure(by_form: Mapping[str, str]) -> Mapping[str, str]:
    """The options whose texts are numbers with a unit, by these without the space between: `15cm` for `15 cm`."""
    measures = {form: _BEFORE_UNIT.sub("", form) for form in by_form if form[0].isdigit() and _BEFORE_UNIT.search(form)}
    found = {measure: by_form[form] for form, measure in measures.items()}
    return found if len(found) == len(measures) else {}


_COUNTED_NOUNS = ("option", "choice")
_COUNTED = re.compile(
    rf"\b(?P<noun>{'|'.join(_COUNTED_NOUNS)})\s(?:#|no\.\s|number\s)?(?P<number>\d{{1,2}})(?![\w%])(?![.,:/]\d)",
    re.IGNORECASE,
)
"""An option by the number of its place: "option 3", "choice #2"."""


def _by_number(texts: Mapping[str, str]) -> Mapping[str, str]:
    """Options by the numbers of their places, where these can mean nothing else: labels are A, B, …, and no text has a digit."""
    if list(texts) != list(ALPHABET[: len(texts)]) or any(map(str.isdigit, "".join(texts.values()))):
        return {}
    return {str(place): label for place, label in enumerate(texts, start=1)}


def _by_ordinal(texts: Mapping[str, str]) -> dict[str, str]:
    """Options by the words for their place, as `form_of` has them: "third option", 第三个选项."""
    labels = list(texts)
    found = {
        f"{word} {noun}": label
        for words, label in zip(ORDINALS, labels, strict=False)
        for word in words
        for noun in ORDINAL_NOUNS
    }
    found |= {f"last {noun}": labels[-1] for noun in ORDINAL_NOUNS}
    return found | {
        f"第{number}{noun}": label
        for numbers, label in zip(ORDINALS_CJK, labels, strict=False)
        for number in numbers
        for noun in ORDINAL_NOUNS_CJK
    }


_MAX_ORDINAL_CHARS = 60
_MAX_MEASURE_CHARS = 40
_MAX_BULLET_CHARS = 8
"""Before an option of a list, with the box that is checked or not."""
_MEASURE = re.compile(
    r"\d[\d.,]*(?:\s?°|\^\{?\\circ\}?|\s[^\W\d_]{1,20}|[^\W\d_]{2,20}|[一-鿿])(?:[\s/·][^\W\d_]{1,20}){0,2}(?:\^?\{?[23²³]\}?)?"
)


def _is_glued(text: str) -> bool:
    """Whether signs stand side by side, as in a word: CC is no C said twice."""
    return text.strip(EDGES).isalnum()


_EQUATION = re.compile(r"(?P<name>\\?[^\W\d_][^\W_]{0,11}(?:_\{?\w{1,4}\}?)?)\s?=(?![=>])")
_IT_IS_CJK = re.compile(r"(?<=[^\W_])\s?(?:です|でした|である|입니다|이다)\Z")
_IN_BRACKETS = re.compile(r"[(\[]\s?(\w{1,3})\s?[)\]]")
_BETWEEN_LABELS = re.compile(r"(?<=\w)[)\]]?\s?[(\[]?(?=\w(?!\w))|^[(\[](?=\w)|(?<=\w)[)\]]$")
_BRACKETED = re.compile(r"^[(\[{<【「『《〈〔]\s*([^()\[\]{}<>]{1,8}?)\s*[)\]}>】」』》〉〕]")
_LABEL_AND_TEXT = re.compile(
    r"(?:[(\[{<]\s*(?P<label>\w{1,8})\s*[)\]}>]\s*[.:、,—–-]?|(?P<bare>\w{1,8})\s?[).:、](?!\w*\.\w)(?!(?<=\d[.:])\d)|(?P<dashed>\w{1,8})\s[—–-](?=\s))"
    r"\s*(?P<rest>.+)$",
    re.DOTALL,
)
_SAID_WRONG = re.compile(
    r"(?:is|was|would\sbe)(?:\s(?:clearly|definitely|also|simply|just))?(?:n['’]t|\s(?:not|wrong|incorrect|false|impossible|out))\b",
    re.IGNORECASE,
)
_CALLED_WRONG = re.compile(
    r"\s{1,3}(?:is|was|would\sbe)(?:\s(?:clearly|definitely|also|simply|just))?(?:\s(?:wrong|incorrect|false|impossible)"
    r"|(?:n['’]t|\snot)\s(?:the\s)?(?:correct|right|true|possible|answer))\b",
    re.IGNORECASE,
)
_WRONG = re.compile(r"(?:no|not|wrong|incorrect|false)\s*(?:$|[.,;:!(—–-])", re.IGNORECASE)
"""Where options have texts, for which it might stand."""
_CALLED = re.compile(r"(?:wrong|incorrect|not\s(?:right|correct))\s*(?:$|[.,;:!(—–-])", re.IGNORECASE)
_GLOSSED = re.compile(r"(?P<label>[A-Z])\s\((?P<gloss>[^()\n]{2,60})\)$")
"""A label, and in brackets what is not known."""
_LABEL_AND_REASON = re.compile(
    r"(?-i:\(?[A-Z]\)?)(?:,?\s(?:because|since)\s|[,，。]\s?(?:因为|因為|由于|由於)(?![^\n]*[选選])|,\sas\s(?!(?:i|we|is|are|do|does|did|was|well|if|in|for|to|said|shown|stated|noted|mentioned|expected)\b)[^,]*\Z)",
    re.IGNORECASE,
)
_LABEL_BESIDE_TEXT = re.compile(r"(?P<label>\w{1,8})(?:,\s?|\s?\(|\s=\s|\s)(?P<text>[^\n]+?)\)?$")
_TEXT_BESIDE_LABEL = re.compile(
    r"(?P<text>[^\n]+?)(?:,\s|\s?[(\[])(?:(?:option|choice)\s)?(?P<label>\w{1,8})[)\]]?$", re.IGNORECASE
)
_LABEL_BEHIND = re.compile(r"[^\W\d_]\w+\s\((?:(?:option|choice)\s)?(?P<label>[A-Z])\)$", re.IGNORECASE)
"""A label behind a text that is not known."""
_LABEL_FIRST = re.compile(r"(?P<bracket>[(\[{<]\s*)?(?P<label>\w{1,8})(?(bracket)\s*[)\]}>])")
_BOUNDARY = re.compile(r"$|[\s,;:()]|[.!?](?:\s|$)")
_REASON_FOLLOWS = re.compile(
    r"\s*(?:$|[,;:(—–]|[.!?](?:\s|$)|-\s|(?:because|since|as|which|for|due|that|is|are|was|only|alone)\b|因为|因|项)"
)
_CLAUSE_ENDS = r"(?=[*_)\s]{0,3}(?:[.,;:!?…)\n]|$)|\s(?:and|but|because|since|as|so|though|although)\b)"
_ADVERBS = r"(?:(?:very|quite|clearly|simply|definitely|obviously|certainly|probably|just|rather|entirely|completely|now|still|be|being)\s){0,3}"
_AGAINST = (
    r"(?:not|n['’]t|never|no|wrong|incorrect\w*|false|untrue|invalid\w*|impossible|implausible|unlikely|improbable|unsuitable|irrelevant|unrelated"
    r"|inconsistent|insufficient|inadequate|inappropriate|inaccurate|ruled|eliminated|excluded|rejected|discarded|dismissed|disqualified|out|off"
    r"|too|less|worse|bad|poor|mistaken|flawed|contradict\w*|fails?|unsupported|unjustified|unreasonable|far|hardly|nonsense|absurd)\b"
)
"""What says that an option is wrong, too."""
_WORDS = ("A", "I")
"""Labels that are words."""
_SAYS = re.compile(
    r"[)\]*]{0,3}(?:(?:\s?,(?:\s?(?:and|or|&))?|\s(?:and|or|&))\s?[(\[*]{0,3}(?-i:[A-Z])[)\]*]{0,3}(?![\w'’])){0,25}"
    r"\s(?:(?:also|clearly|simply|just|only|then|actually|really|obviously|definitely|merely|equally|all|both)\s){0,2}"
    r"(?:(?P<against>fails?|violates?|contradicts?|lacks?|ignores?|misses|confuses|overlooks?)"
    r"|(?:is|was|are|were|has|have|does|would|could|can|belongs|lies|describes|refers|means|gives?|gets?|says|states|names|shows))"
    r"(?:\b|(?=not\b|n['’]t\b))(?P<told>[^.;\n]{0,60})",
    re.IGNORECASE,
)
"""A clause about an option."""
_STANDS = re.compile(
    rf"\b(?:correct|right|true|answer|also|equally|as\swell|possible|plausible|fine|valid|too{_CLAUSE_ENDS})\b",
    re.IGNORECASE,
)
SAYS_AGAINST = re.compile(rf"\b{_AGAINST}|n['’]t\b", re.IGNORECASE)
_NEXT_LABEL = re.compile(
    r"(?:(?:^|[,;/&]|\b(?:or|and)\b)\s*|\s)[(\[]?\s?([A-Z]|\d{1,2})(?![\w'])(?=\s*[)\].,;:&/]|\s*$|\s+(?:or|and|it\sis)\b)"
)
_REJECTS = re.compile(
    r"[\s,;(—–-]+(?:and\s)?(?:not|rather than|instead of|unlike|as opposed to|over\s(?:option\s|choice\s)?(?-i:\(?[A-Z]\)?(?![\w'’])))(?!\w)|[,，]?\s?(?:而不是|而非|不是)"
    r"|[,;\s]\s?(?:as|because|since)\s(?:none|neither)\sof\b|[,;\s]\s?(?:(?:and|while|whereas|but|as|because|since)\s)?(?:options?\s|choices?\s)?\(?(?-i:[A-Z])\)?"
    r"(?:(?:,\s?(?:and\s)?|\sand\s)\(?(?-i:[A-Z])\)?){0,12}\s(?:is|are|was|were|would be)\s(?:all\s|both\s|also\s|clearly\s)?"
    r"(?:wrong|incorrect|false|not|too\s\w{1,12})\b",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?]\s+|[。！？\n]\s*")
_MAX_EQUALS = 8
_NO_EQUAL = tuple("!<>≤≥≠:~")
_SUPPOSED = re.compile(
    r"\b(?:not|never|no|if|unless|when|let|suppose|assum(?:e|ing)|say|wrong|incorrect|false|instead|except|should|would|could|might|may)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Before an equation that does not hold, or need not."""
_PREPOSITION = re.compile(r"(?:in|on|at|during)\s(?=\S)", re.IGNORECASE)
"""Before the name of a time or a place, which is an option: "In 1945"."""
_CONTRAST = re.compile(
    r"(?:[,;—–-]?\s(?:and\s|but\s)?\(?not|\s(?:rather\sthan|instead\sof|as\sopposed\sto))\s(?:(?:option|choice)s?\s)?"
    r"(?!(?:only|just|merely|simply|necessarily)\b)(?P<others>[^.!?\n]{1,120}?)\)?\Z",
    re.IGNORECASE,
)
"""The end of a text that says what an option is not."""
_OR_FOLLOWS = re.compile(r"\s*(?:or\b|/|或)", re.IGNORECASE)
_OTHER_CASE = re.compile(
    r"(?:[,;/]|\b(?:and|else|otherwise)\b)[\s,]{0,2}[(\[]?([A-Z])[)\]]?"
    r"(?:\s\(?(?:if|when|in\s(?:the\s)?(?:other\s|second\s)?case|otherwise|as\s(?:my\s|the\s)?second)\b|[\s:(=]{1,3}(?:with\s(?:(?:a\s)?probability\s(?:of\s)?)?)?\d{1,3}\s?\\?%)"
)
"""Another option for another case, or with a share of its own: "C if it rains, B if not", "C (60%), B (40%)"."""
_CALLED_RIGHT = re.compile(
    r"(?<![\w'’])(?-i:([A-Z]))[)\]*]{0,3}\s(?:is|must\sbe)\s(?:indeed\s|clearly\s)?(?:the\s)?(?:only\s)?(?:correct|right|best|answer)\b"
    r"(?!\s(?:if|only|when|unless|provided|but|for|in)\b)",
    re.IGNORECASE,
)
_GLUED_LABEL = re.compile(r"([A-Z])\)")
_LEADING_LABEL = re.compile(r"[(\[]?([A-Z甲乙丙丁戊])(?![A-Za-z\d\s'’])")
_BOTH = re.compile(r"^\s*(?:just\s|only\s)?(?:(?:both|either|all of)\s)?", re.IGNORECASE)
_SEPARATOR = re.compile(
    r"\s*(?:[,;/&+、،؛\n]|(?<![A-Za-z])(?:as\swell\sas|and|or|und|oder|et|ou|y)(?![A-Za-z])|[和与及或])\s*",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _number(form: str) -> numeric.Number | None:
    number = numeric.read(form)
    return number if isinstance(number, numeric.Number) else None


_LABEL = r"(?:(?:option|choice|answer|选项?)\s?)?[(\[*]{0,3}[A-Z\d]{1,2}[)\]*]{0,3}(?![\w'’])"
_TOO = (
    rf"(?:(?:is|are|was|could|might|may|would|can|works?|fits?|seems?|looks?)\s(?:be\s)?)?(?:too|as\swell){_CLAUSE_ENDS}"
    r"|(?:is|are|was|could|might|may|would|can|works?|fits?|seems?|looks?)\s(?:be\s)?(?:also|equally|just\sas|another)\b"
    rf"(?!\s{_ADVERBS}{_AGAINST})"
    rf"|(?:also|equally)\s(?:is|works?|fits?|seems?|looks?|could|might|may|would|can)\b(?!\s{_ADVERBS}{_AGAINST}|n['’]t)"
    r"|(?:could|might|may|can|would)\s(?:(?:very\s)?well\s)?be\s(?:the\s|an?\s)?(?:correct|right|true|valid|best|acceptable|answer)"
    rf"(?:\s(?:answer|option|choice|one))?(?:\s(?:too|as\swell|also)|{_CLAUSE_ENDS})"
)
"""Behind an option: it is right as well."""
_CHANGES_TO = (
    r"i(?:['’](?:m|ll|d)|\sam|\swill|\swould)?\s(?:now\s)?(?:chang|revis|switch|correct)(?:e|ed|es|ing)?\s"
    r"(?:(?:my|the)\s(?:final\s)?(?:answer|choice)\s)?(?:from\s\S{1,12}\s)?to\s"
)
_INSTEAD = (
    r"(?:^|[.!?;,(\n…—。！？；，（-]\s*)[*_]{0,2}(?:(?:(?:no|wait|actually|sorry|correction|i\smeant?|(?:make|scratch)\sthat|(?:just\s)?kidding|hmm+"
    r"|on\ssecond\sthoughts?|(?:up)?on\s(?:further\s)?(?:reflection|consideration)|after\s(?:reconsidering|reconsideration|rethinking"
    r"|(?:some|further)\s(?:thought|reflection))|thinking\s(?:again|about\sit\s(?:again|more))|i(?:['’]ve|\shave)?\schanged\smy\smind"
    r"|i\stake\s(?:that|it)\sback|then\sagain|w?h?oops|my\s(?:mistake|bad|error|apologies)|apologies|i(?:['’]m|\sam|\swas)\s(?:wrong|mistaken)|updated?|edit(?:ed)?|corrected|revised|better|rather)\b[\s,.:;!…*_—-]{1,6}){1,4}"
    r"(?:(?:i(?:['’]d|\swould)?\s(?:now\s)?(?:say|choose|pick|go\swith)|(?:it|that|the\sanswer)(?:['’]s|\s(?:is|should\sbe)))\s"
    rf"|{_CHANGES_TO})?|{_CHANGES_TO})"
)
"""Before what takes the place of an answer: "on second thought, …", "I change my answer to …"."""
_BESIDE = re.compile(
    rf"(?:^|[.!?;,(\n。！？；，（]\s*)(?:(?:or|either|alternatively|also|maybe|perhaps|possibly)\b|或者?|还有|另外)[\s,:是选]*(?:(?:maybe|perhaps|possibly)\s)?"
    rf"(?:(?:that|this|it)\sor\s)?"
    rf"(?:(?:it|the\sanswer|that)(?:['’]s|\s(?:is|could\sbe|might\sbe|may\sbe))\s)?(?P<one>(?-i:{_LABEL}))"
    rf"|(?:^|[。！？；，\n…]\s*)(?:(?:不对|不，|不,|等等|等一下|错了|我错了|更正|抱歉|纠正)[，,：:。！!\s]{{0,3}}){{1,3}}(?:答案)?(?:应该?)?[是为选]{{0,2}}[择]?(?P<nine>{_LABEL})"
    rf"|(?:^|[。！；，,\n…]\s*)(?:答案)?(?:应(?:该|当)?[是为选]|(?:也许|或许|可能|说不定|大概)(?:应该)?[是为选]?)择?(?P<ten>{_LABEL})"
    rf"|(?P<eleven>(?<![A-Za-z])[A-Z])(?:选项|项)?(?:其实|可能|似乎)?更(?:好|合适|合理|准确|恰当|可能|正确|符合)"
    rf"|\b(?:could|might|may|can)\s(?:(?:just\s)?as\swell\s|also\s|equally\s)*be\s(?P<two>(?-i:{_LABEL}))"
    rf"|(?P<three>(?-i:{_LABEL})),?\s(?:{_TOO})"
    rf"|\bunless\s(?:(?:it|the\sanswer)(?:['’]s|\sis)\s)?(?P<seven>(?-i:{_LABEL}))"
    rf"|{_INSTEAD}(?P<six>(?-i:{_LABEL}))(?=[)*\s]{{0,3}}(?:[.!\n]|$))"
    rf"|(?P<eight>(?-i:{_LABEL}))\s(?:is|seems|looks|would\sbe)\s(?:(?:actually|even|probably|much)\s)?"
    rf"(?:better|more\s(?:likely|plausible|probable|accurate|appropriate|precise|correct)){_CLAUSE_ENDS}"
    rf"|(?P<four>[A-Z])(?:选项|项)?也(?:是|算)?(?:正确|对|可以|可能|符合|满足|成立|当选)|也(?:可能|可以)(?:是|为|选)?(?P<five>[A-Z])",
    re.IGNORECASE,
)
_TEXT_BESIDE = re.compile(
    r"(?:^|[.!?;,(\n]\s*)(?:or|alternatively|also|maybe|perhaps|possibly)[\s,:]+(?P<one>[^\n.,;!?()]{1,80})"
    r"|\b(?:could|might|may)\s(?:also\s|equally\s)?be\s(?P<two>[^\n.,;!?()]{1,80})"
    rf"|{_INSTEAD}(?P<three>[^\n.,;!?()*]{{1,80}})(?=[*_\s]{{0,3}}(?:[.!\n]|$))",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"[\s*_)\]$}.,!;:…—–-]{0,8}(?:(?:(?:but|yet|however|though|although|hmm+|no|oh|wait|actually)[\s,.!…]{1,3}){1,3}"
    r"(?:that|this|it|he|she|they)(?:['’](?:s|re)|\s(?:is|was|are|were))\s(?:(?:actually|clearly|completely|simply|probably)\s)?"
    r"(?:wrong|incorrect|false|mistaken|a\smistake)\b"
    r"|(?:he|she|they)(?:['’](?:s|re)|\s(?:is|was|are|were))\s(?:wrong|mistaken)\b"
    r"|(?:that|this)(?:['’]s|\s(?:is|was))\s(?:(?:actually|clearly|completely|simply|probably)\s)?(?:wrong|a\smistake|not\s(?:right|correct|true))(?=\s{0,3}(?:[.!]|$))"
    r"|(?:(?:but|no|hmm+|oh)[\s,.!…]{1,3}){0,2}(?:that|this|it)(?:(?:['’]s|\s(?:is|was))\snot|\s(?:is|was)n['’]t)(?=\s{0,3}(?:[.!]|$))"
    r"|(?:or\sso|so)\s(?:one|they|you|people|some|many)\s(?:(?:would|might|may|could)\s)?(?:think|thought|say|said|claim|claimed|believe)\b"
    r"|(?:or\s)?not\sreally(?=\s{0,3}(?:[.!,]|$))|i\s(?:take\s(?:that|it)\sback|disagree|retract|was\swrong|stand\scorrected)\b"
    r"|(?:(?:no|oh|hmm+)[\s,.!…]{1,3}){0,2}(?:wait|scratch\sthat|(?:just\s)?kidding|never\s?mind)(?=\s{0,3}(?:[.!…]|$))"
    r"|the\s(?:key|book|solution|answer\skey)\sis\s(?:wrong|mistaken)\b)",
    re.IGNORECASE,
)
"""What says right behind an answer that it is none. A false statement may be asked for, so "it is false" says nothing."""
_STANDS_TOO = re.compile(rf",?\s(?:{_TOO})", re.IGNORECASE)
_CLAUSE_BEGINS = re.compile(r"[\n.,;!?()]")
_CLAUSE_CHARS = 80
_EXCLUDED = re.compile(rf"\b(?:not|neither)\s(?:{_LABEL}\s?,\s?){{1,12}}{_LABEL}\Z")
"""Others that are said not to be right, of which one more follows: "B, not A, C, or D"."""
_EXCLUDED_CHARS = 80
BESIDE_CHARS = 600


def lets_stand(rest: str, labels: AbstractSet[str], options: Options) -> bool:
    """Whether a text behind an option takes it back, or says that another one is right, or may be, too."""
    return bool(rest) and (_takes_back(rest, labels, options) or allows_another(rest, labels, options))


def _takes_back(rest: str, labels: AbstractSet[str], options: Options) -> bool:
    named = _LABEL_AGAIN.match(rest)
    place = named.end() if named and options.label(named["label"]) in labels else 0
    for text in map(options.texts.get, labels):
        if text and rest[place : place + len(text)].casefold() == text.casefold():
            place += len(text)
    if _NOT.match(rest, place) or any(
        options.named(again["said"] or again["cjk"], is_declared=False) == labels
        for again in _DENIED_AGAIN.finditer(rest, place)
    ):
        return True
    return _TAKEN_BACK.match(rest, place) is not None or _ALL_TAKEN_BACK.search(rest, place) is not None


_NOT = re.compile(
    r"[\s*_)\]$}.,!;:…—–-]{0,8}(?:(?:but|no|oh|hmm+|wait|actually)[\s,.!…]{1,3}){0,2}not(?=\s{0,3}(?:[.!]|$))",
    re.IGNORECASE,
)
_DENIED_AGAIN = re.compile(
    r"(?:^|[.!?;…—–\n][\s*_)\]$}]{0,4}|,\s)(?:(?:but|yet|however|hmm+|no|oh|wait|actually|well)[\s,.!…]{1,3}){0,3}"
    r"(?:(?:(?:(?:it|that|this)(?:['’]s|\s(?:is|was))|the\sanswer(?:['’]s|\s(?:is|was)))\s)?(?:definitely\s|clearly\s|certainly\s)?not"
    r"|(?:it|that|this|the\sanswer)\s(?:is|was)n['’]t)\s(?P<said>[^\n.!?,;:]{1,80})(?=\s{0,3}(?:[.!]|$))"
    r"|(?:^|[。！，；,.!\n]\s*)(?:不对[，,]?)?(?:答案)?不是(?P<cjk>[A-Z])(?=[。！.!\s]|$)",
    re.IGNORECASE,
)
"""A sentence that denies an option."""
_ALL_TAKEN_BACK = re.compile(
    r"(?:^|[.!?;\n]\s*)(?:(?:oh|no|hmm+|wait|actually|but)[\s,.!…]{1,3}){0,3}(?:scratch\sthat|i\s(?:take\s(?:that|it|this)\sback|retract\s(?:that|it|this)|was\swrong|stand\scorrected)|never\s?mind"
    r"|(?:just\s)?kidding)(?=\s{0,3}(?:[.!…]|$))",
    re.IGNORECASE,
)
"""A sentence that takes back all that was said."""


_LABEL_AGAIN = re.compile(r"[\s*_(\[]{0,4}(?P<label>[A-Z])(?![\w'’])[)\].:*_\s]{0,4}")


def allows_another(rest: str, labels: AbstractSet[str], options: Options) -> bool:
    """Whether a text beside an option says that another one is right, or may be, too."""
    for match in _BESIDE.finditer(rest):
        is_listed = rest.startswith(",", match.start())
        if is_listed and _EXCLUDED.search(rest, max(0, match.start() - _EXCLUDED_CHARS), match.start()):
            continue
        other = options.named(match[match.lastgroup or 0], is_declared=False)
        if other is not None and not other <= labels:
            return True
    return any(options.by_text(text.strip(EDGES)) not in (None, *labels) for text in _texts_beside(rest))


def _texts_beside(rest: str) -> Iterator[str]:
    """What may be the texts of options that are said to be right, too."""
    for match in _TEXT_BESIDE.finditer(rest):
        yield match[match.lastgroup or 0]
    for match in _STANDS_TOO.finditer(rest):
        yield _CLAUSE_BEGINS.split(rest[max(0, match.start() - _CLAUSE_CHARS) : match.start()])[-1]
