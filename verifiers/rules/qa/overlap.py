"""Short answers: the same words, many of the same words, the reference's words somewhere.

Sources: SQuAD's evaluation script (exact, F1), HotpotQA's (`yes`, `no` and `noanswer` share no words with anything
else), Search-R1's sub-match, which is made to respect words, negations and a length here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from verifiers.rules.qa.words import Normalise, visible, words

_CLOSED = frozenset([("yes",), ("no",), ("noanswer",)])
_HEDGE = r"\b(?:maybe|perhaps|possibly|probably)\b"
_ALTERNATIVES = re.compile(
    rf"(?<![^\W_])(?:or|either|oder|ou|vs\.?|versus|alternatively|или|либо|أو|또는|혹은)(?![^\W_])|\s/\s|(?-i:[A-Z][a-z]{{2,}}/[A-Z][a-z]{{2,}})|或|还是|還是|または|もしくは|あるいは"
    rf"|ou bien|{_HEDGE}[^.!?\n]{{1,80}}{_HEDGE}|[(,;]\s?(?:possibly|perhaps|maybe)\s(?-i:[A-Z])|\b(?:could|might|may)\salso\sbe\b|\bis\salso\s(?:possible|plausible)\b"
    r"|\bunless\sit\b|(?-i:\so\s(?=[A-Z]))|也可能|(?<=[\u30a0-\u9fff])(?<![確静豊微僅])か(?=[\u30a0-\u9fff])|(?<=[\uac00-\ud7a3])이나\s(?=[\uac00-\ud7a3]{1,12}\Z)",
    re.IGNORECASE,
)
_NUMBER_OR_WORD = re.compile(r"\d++(?:[.,]\d+)*+(?!(?:st|nd|rd|th)\b)|[^\W\d_]+n['’]t\b|[^\W_]+")
_NEGATIONS = frozenset(["not", "never", "nor", "neither", "except", "than", "whether", "nicht", "kein", "keine", "pas"])
_NEGATIONS |= frozenset(["не", "ليس", "ليست", "وليس", "وليست"])
_DENYING_ENDS = ("n't", "isnt", "wasnt", "arent")
_DENYING_HAN = frozenset(["不是", "并非", "而非", "不在", "不为"])
_SKIPPED = frozenset(["", "a", "an", "the", "in", "by", "of"])
_DENIAL_CHARS = 60
MIN_CONTAINS_WORDS = 16
CONTAINS_WORDS_PER_WORD = 4
"""An answer may be so much longer than the reference, or have `MIN_CONTAINS_WORDS`, and still be called by it."""


def exact(answer: str, reference: str, normalise: Normalise) -> bool:
    """Whether the words are the same."""
    return words(answer, normalise) == words(reference, normalise)


def has_same_initials(answer: str, reference: str, normalise: Normalise) -> bool:
    """Whether the words are the same but for spaces between initials."""
    if normalise == "none" or "." not in answer or "." not in reference:
        return False
    return words(_joined(answer), normalise) == words(_joined(reference), normalise)


_INITIALS = re.compile(r"(?<![^\W_])([A-Z]\.)\s(?=[A-Z]\.)")


def _joined(text: str) -> str:
    """A text with initials side by side: "J. K. Rowling" is "J.K. Rowling"."""
    return _INITIALS.sub(r"\1", text)


def f1(answer: str, reference: str, normalise: Normalise) -> Fraction:
    """The harmonic mean of precision and recall of words, each counted as often as it stands there."""
    given, wanted = words(answer, normalise), words(reference, normalise)
    if given in _CLOSED or wanted in _CLOSED:
        return Fraction(given == wanted)
    return harmonic(sum((Counter(given) & Counter(wanted)).values()), len(given), len(wanted))


def harmonic(common: int, given: int, wanted: int) -> Fraction:
    """F1 of `common` parts among those given and those wanted."""
    return Fraction(2 * common, given + wanted) if common else Fraction(0)


def names_alternatives(answer: str, reference: str) -> bool:
    """Whether an answer leaves a choice open ("Paris or Rome") that its reference does not."""
    return _ALTERNATIVES.search(visible(answer)) is not None and _ALTERNATIVES.search(visible(reference)) is None


def is_enumeration(answer: str, reference: str) -> bool:
    """Whether an answer lists short things of one kind, of which the reference is at most one.

    Of two with a comma between them the second may describe the first ("Paris, France"), so the reference may be that.
    """
    answer, reference = visible(answer), visible(reference)
    if _LISTED.search(reference):
        return False
    parts = [part for part in _LISTED.split(answer) if any(map(str.isalnum, part))]
    most = len(words(reference, "cjk")) + _EXTRA_WORDS
    if len(parts) < 2 or any(len(words(part, "cjk")) > most for part in parts):
        return False
    if len({any(map(str.isalpha, part)) for part in parts}) > 1:
        return False
    is_described = len(parts) == 2 and _APPOSITION.search(answer) and contains(parts[0], reference, "cjk", None)
    return not is_described


def is_flood(answer: str, reference: str) -> bool:
    """Whether the reference stands in a run of short things, so many that it is not what was meant.

    Of three the first may be what the others describe ("Bath, Somerset, England").
    """
    answer, reference = visible(answer), visible(reference)
    if _LISTED.search(reference):
        return False
    most = len(words(reference, "cjk")) + _EXTRA_WORDS
    run: list[str] = []
    for part in [*_LISTED.split(answer), None]:
        if part is not None and not any(map(str.isalnum, part)):
            continue
        if part is not None and len(words(part, "cjk")) <= most:
            run.append(part)
        elif _floods(run, reference):
            return True
        else:
            run = []
    return False


def _floods(run: Sequence[str], reference: str) -> bool:
    if len(run) < _MAX_DESCRIBED or len({any(map(str.isalpha, part)) for part in run}) > 1:
        return False
    holds = [contains(part, reference, "cjk", None) for part in run]
    return any(holds) and not all(holds) and (len(run) > _MAX_DESCRIBED or not holds[0])


_MAX_DESCRIBED = 3
_LISTED = re.compile(r"\s*(?:,(?!\d)|[;/|\n、，；،؛]|(?<![^\W_])(?:and|und|et|y)(?![^\W_])|[和与及])\s*", re.IGNORECASE)
_APPOSITION = re.compile(r"[,，]")
_EXTRA_WORDS = 2


_NO_AND_IS = re.compile(
    r"\A\W{0,3}(?:(?:no|não|non)[,.!]\s(?=(?:es|fue|era|é|foi|è|fu)\b)|不[，。](?=是|应))", re.IGNORECASE
)
"""A no of its own, which is no part of "no es" where a comma is nothing."""
_OPPOSITE = {"yes": "no", "no": "yes"}
_SAID_TRUTH = re.compile(r"(?<![^\W_])(?:yes|no)(?=[^\w\s'’]|\s*\Z|\s(?:and|or|for)\b)", re.IGNORECASE)
_NO_SUCH = re.compile(
    r"(?<![^\W_])no\s(?:idea|one|way|body|information|info|answer|doubt|problem|evidence|mention|clue|data|worries|matter|clear|specific)(?![^\W_])",
    re.IGNORECASE,
)


def _says_truth(answer: str, wanted: str) -> str | None:
    """An answer to a question of yes or no without "no idea" and its like; None where it says the other, too."""
    answer = _NO_SUCH.sub(" ", answer)
    said = {each.lower() for each in _SAID_TRUTH.findall(answer)}
    return None if _OPPOSITE[wanted] in said else answer


def contains(answer: str, reference: str, normalise: Normalise, max_words: int | None) -> bool:
    """Whether the reference's words stand in the answer in a row, not denied or asked, and it is not too long for them."""
    if (truth := reference.strip(" .").lower()) in _OPPOSITE:
        said = _says_truth(answer, truth)
        if said is None:
            return False
        answer = said
    if _asks(answer) and not _asks(reference):
        return False
    answer = _NO_AND_IS.sub("", answer)
    if not _holds(answer, reference, normalise, max_words):
        return False
    stood_by = _stood_by(answer, reference)
    return stood_by == answer or _holds(stood_by, reference, normalise, max_words)


def _holds(answer: str, reference: str, normalise: Normalise, max_words: int | None) -> bool:
    for given, wanted in _readings(answer, reference, normalise):
        bound = max(MIN_CONTAINS_WORDS, CONTAINS_WORDS_PER_WORD * len(wanted)) if max_words is None else max_words
        if len(given) <= bound and _stands_in(given, wanted):
            return True
    return False


def _stood_by(answer: str, reference: str) -> str:
    """An answer without what it asks, or names and takes back: "Paris? No. Rome."; "non-Paris" is one word of its own."""
    if _PREFIXED.search(reference) is None:
        answer = _PREFIXED.sub(r"\1", answer)
    if _TAKES_BACK.search(reference) is None:
        answer = _without(answer, _taken_back(answer))
    if _CALLED_WRONG_BEFORE.search(reference) is None:
        answer = _CALLED_WRONG_BEFORE.sub(" ", answer)
    if not answer.isascii():
        answer = _NOT_ABROAD.sub(" ", _CROSSED.sub(" ", answer))
        answer = _CORRECTED_HAN.sub(r"\1", answer)
    return answer if "?" in reference else _without(answer, _asked(answer))


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    """A text with a space for what stands in each of some places; later ones may begin within earlier ones."""
    pieces: list[str] = []
    position = 0
    for start, end in places:
        pieces += (text[position:start], " ")
        position = end
    return "".join((*pieces, text[position:]))


def _taken_back(text: str) -> Iterator[tuple[int, int]]:
    """Clauses that are called wrong directly behind them, by a word that is a clause of its own: "Paris? No."."""
    for called in _CALLED_WRONG.finditer(text):
        end = _end_of_clause(text, called.start())
        start = _start_of_clause(text, end, ".,;:!?()…", 80)
        if start < end:
            yield start, called.end()


def _asked(text: str) -> Iterator[tuple[int, int]]:
    """Questions that are not affirmed."""
    mark = text.find("?")
    while mark >= 0:
        start = _start_of_clause(text, mark, ".;!?", 200)
        if start < mark and _AFFIRMED.match(text, mark + 1) is None:
            yield start, mark + 1
        mark = text.find("?", mark + 1)


def _end_of_clause(text: str, place: int) -> int:
    """Where a clause ends that one at a place follows; 0 where none does."""
    end = place
    while end > max(0, place - 4) and text[end - 1] in " \t\n\r\"'“”*_":
        end -= 1
    if text[end - 1 : end] in ("?", ":", "!", ",", ";", "(", "–", "—", "…"):
        return end - 1
    if not text[end : end + 1].isspace():
        return 0
    if text.endswith(" -", 0, end):
        return end - 2
    return len(text[max(0, end - 3) : end].rstrip(".")) + max(0, end - 3) if text.endswith(".", 0, end) else 0


def _start_of_clause(text: str, end: int, stops: str, most_chars: int) -> int:
    first = max(0, end - most_chars)
    return max(first, *(text.rfind(stop, first, end) + 1 for stop in ("\n", *stops)))


_PREFIXED = re.compile(r"(?<![^\W_])(non|un|anti|ex|pseudo|quasi|pre|post)[-‐‑–](?=\w)", re.IGNORECASE)
_TAKES_BACK = re.compile(
    r"(?<![^\W_])(?:no|nope|nah|wrong|incorrect|false|untrue|wait|(?:just\s)?kidding|scratch\sthat|correction|i\smeant?"
    r"|w?h?oops|my\s(?:mistake|bad|error)|i\stake\s(?:that|it|this)\sback|never\s?mind|i(?:['’]m|\sam|\swas)\s(?:wrong|mistaken)|not\sreally|then\sagain"
    r"|on\s(?:second\sthoughts?|(?:further\s)?reflection))(?![\w'’])",
    re.IGNORECASE,
)
_CALLED_WRONG = re.compile(
    r"(?<![^\W_])(?:actually|sorry)(?=,\s(?:(?:it['’]s|it\sis)\s)?(?:the\s)?(?-i:[A-Z\d])[\w'’-]*(?:\s(?-i:[A-Z])[\w'’-]*){0,3}[.!*]{0,3}\s*\Z)|"
    + _TAKES_BACK.pattern
    + r"(?=[*_\"'”]{0,2}(?:[.,;:!?)…–—]|\s-\s|\s*\Z))",
    re.IGNORECASE,
)
_CALLED_WRONG_BEFORE = re.compile(
    r"(?<![^\W_])(?:wrong|incorrect|false|rejected|excluded|eliminated|not[\s_](?:the[\s_])?(?:(?:right|correct)[\s_])?answer)(?:[\s_]answers?)?[\"*_]{0,3}\s?[:：][^,.;\n]{1,80}",
    re.IGNORECASE,
)
"""A label that calls wrong what follows."""
_CROSSED = re.compile(
    r"[❌✗✘✖🚫][^\n✅✓✔❌✗✘✖🚫]{1,80}(?=[\n✅✓✔❌✗✘✖🚫]|\Z)|[^\n✅✓✔❌✗✘✖🚫]{1,80}[❌✗✘✖🚫](?=\s*(?:\n|\Z))"
)
"""What stands behind a cross, or before one that ends its line."""
_CORRECTED_HAN = re.compile(
    r"(?:\A|[。\n])[^，、。！？\n]{1,30}[，、]\s?(?:不|不对|哦不|いや|いえ|違う)[，、]?(?=[^，、。是对]{1,30}[。！]?\Z)()"
)
_NOT_ABROAD = re.compile(r",\s(?:no|non|não)\s(?=\w)[^,.;\n]{1,80}")
"""The denied one in a text of a language whose "no" is also "not"; in English ", no" corrects."""
_AFFIRMED = re.compile(
    r"\W{0,4}(?:yes|yep|yeah|sure|indeed|correct|right|exactly|true|definitely|certainly|of\scourse|absolutely)(?!\w)",
    re.IGNORECASE,
)


def _asks(text: str) -> bool:
    """Whether a text is a question; "Is it Oslo? Yes." has one, which is answered."""
    if text.rstrip(_BEHIND_QUESTION).endswith(("?", "？", "؟")):
        return True
    return "?" not in text and _QUESTION.match(text) is not None


_QUESTION = re.compile(
    r"\W{0,4}(?:is|was|are|were|could|would|might|can)\s(?:it|that|this|he|she|they)\b", re.IGNORECASE
)


_BEHIND_QUESTION = " \t\n\"'”’)*_"


def _readings(answer: str, reference: str, normalise: Normalise) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The normal forms' words; and, by SQuAD's form, words divided at punctuation ("Austen's", but never 3.5).

    SQuAD's form loses signs and points, so that it says nothing about a reference that begins with a number.
    """
    readings = []
    if "." in reference and _INITIALS.search(answer if _INITIALS.search(reference) is None else reference):
        answer, reference = _joined(answer), _joined(reference)
    plain = words(reference, normalise)
    if normalise != "squad" or not plain[:1] or not plain[0][0].isdigit():
        readings.append((words(answer, normalise), plain))
    if normalise == "squad" and (divided := _divided(reference)):
        readings.append((_divided(answer), divided))
    return readings


def _divided(text: str) -> tuple[str, ...]:
    text = visible(text).lower()
    found = []
    for match in _NUMBER_OR_WORD.finditer(text):
        word = match[0].replace("’", "'")
        if word[0].isdigit():
            before = text[: match.start()][-2:]
            is_negative = before[-1:] in ("-", "−") and not before[:1].isalnum()
            word = ("-" if is_negative else "") + word.replace(",", "")
        found.append(word)
    return tuple(word for word in found if word not in ("a", "an", "the")) or tuple(found)


def _stands_in(given: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether the words stand there in a row, at least once undenied."""
    text, run = "\n".join(("", *given, "")), "\n".join(("", *wanted, ""))
    at = text.find(run) if wanted else -1
    while at >= 0:
        before = text[max(0, at - _DENIAL_CHARS) : at].split("\n")
        behind = text[at + len(run) : at + len(run) + _DENIAL_CHARS]
        if not (_is_denied(before) or _is_denied_behind(behind) or _is_bound(before, behind, wanted)):
            return True
        at = text.find(run, at + 1)
    return False


def _is_denied(before: Sequence[str]) -> bool:
    """Whether the word before an occurrence denies it; "not in Oslo" does, "not only Oslo" does not."""
    if before[-3:-1] in (["none", "other"], ["no", "other"]) and before[-1] == "than":
        return False
    last = next((word for word in reversed(before) if word not in _SKIPPED), "")
    if last in _NEGATIONS or last.endswith(_DENYING_ENDS) or "".join(before[-2:]) in _DENYING_HAN:
        return True
    return _DENIED.search(" ".join(before)) is not None or _DENIED_HAN.search("".join(before)) is not None


def _is_bound(before: Sequence[str], behind: str, wanted: Sequence[str]) -> bool:
    """Whether a number, or a date that begins with one, only bounds what is told: "before 1969", "between 1969 and 1972"."""
    if not wanted[0][0].isdigit() or not before:
        return False
    is_range = before[-1] == "between" and behind.startswith("and\n")
    return is_range or before[-1] in ("before", "after", "until") or tuple(before[-2:]) in _BOUNDS


_BOUNDS = frozenset([("prior", "to"), ("at", "least"), ("at", "most"), ("up", "to")])


def _is_denied_behind(behind: str) -> bool:
    if _DENIED_BEHIND.match(behind.replace("\n", " ")):
        return True
    return not behind.isascii() and _DENIED_BEHIND_CJK.match(behind.replace("\n", "")) is not None


_DENIED = re.compile(
    r"\b(?:no (?:es|fue|era|está)|não (?:é|foi|era)|non (?:è|fu|era))(?: (?:el|la|los|las|en|o|a|os|as|em|il|lo|i))* ?$"
    r"|\b(?:instead of|unlike|without|hardly|scarcely|no longer|besides|excluding|apart from|aside from|rul(?:e|es|ed|ing) out"
    r"|(?:everyone|everybody|everything|everywhere|anyone|anybody|anywhere|all) but|(?:eliminat|exclud|reject|discard)(?:e|es|s|ed|ing)?"
    r"|some (?:people )?(?:say|think|claim|believe|argue|guess)(?: that)?(?: it was)?|my \w{2,12} (?:says|thinks|claims|believes|guesses|suggests)(?: that)?(?: it| s| is| was| its)*"
    r"|(?:user|question|prompt|student) (?:suggests|says|thinks|claims|mentions|asks about)|(?:at first|first|initially) (?:i |we )?(?:thought|guessed|assumed|believed|said)(?: of| that)?"
    r"|(?:if|suppos(?:e|ing)|assum(?:e|ing)|imagine)(?: that)?(?: (?:it|(?:the )?answer|this))?(?: (?:were|be))?|used to (?:think|believe)(?: that)?(?: it| was| s)*|know if(?: it| s| is| was| its| he| she)*|sure if|(?:confused|mistaken) (?:with|for)"
    r"|(?:might|may|could) (?:think|say|assume|guess|expect|suppose)(?: that| it| of)*"
    r"|(?:not|\w{1,8}n['’]?t) (?:really|quite|exactly|actually|even)"
    r"|(?:formerly|previously|initially|originally|once|wrongly|mistakenly|falsely|incorrectly|erroneously) (?:thought|believed|assumed|said|claimed|guessed)"
    r"(?: to be| that it was| it was)?"
    r"|(?:incorrect|wrong|mistaken) to (?:say|think|call it|assume|answer))(?: (?:the|an?|in|at|it|is|was|that))* ?$"
    r"|(?:(?<!no )(?<!without )\b(?:doubt|doubtful|disagree|deny|unlikely|impossible|false)|\bwhether|\bno (?:way|chance)|\banything but"
    r"|(?:\bnot|\bnever|\bcannot|n['’]?t) (?:think|believe|say|claim|sure|certain|true|correct|likely|possible|mean|agree|be|possibly))"
    r"(?: (?:s|really|that|if|it|it['’]?s|its|he|she|they|this|was|is|are|would|could|be|think|correct|true|answer|in|at|to))* ?$"
)
"""What denies a word or a whole clause: "unlike …", "I do not think that it is …"."""
_IT = r"(?:(?:the )?(?:(?:right|correct|final) )?(?:answer|one)|correct|right|true|it)\b"
_DENIED_BEHIND = re.compile(
    r"but (?:it|that|the (?:(?:correct|right|true|real) )?answer)(?:s| s|['’]s| is| was) (?:actually|really|in fact)\b|but actually\b"
    r"|(?:is|was) (?:(?:my|the|our) (?:first|initial|original|earlier|previous) (?:guess|thought|answer|idea|assumption)|ruled out|out)\b"
    r"|(?:(?:can ?(?:not|['’]?t)|could(?: not|n['’]?t)) be|not) (?:right|correct|true|it|(?:the )?(?:(?:right|correct) )?answer)\b|(?:is|was|seems) (?:highly |very |rather )?unlikely\b"
    r"|(?:is|was) (?:an? )?(?:common )?(?:misconception|mistake|error|trap|distractor)\b|(?:(?:was|is|has been) )?(?:excluded|rejected|eliminated|ruled out)\s*$|(?:not|actually no)\s*$"
    r"|(?:that|this|it|he|she|they)(?: is| was| s|s) (?:wrong|incorrect|false|not (?:right|correct|true|it|(?:the )?(?:(?:right|correct) )?answer))\b"
    r"|(?:(?:hmm?|sorry|oh|no) )*(?:i meant?|no wait|on second thoughts?|i take (?:that|it) back)\b"
    r"|(?:can|could|may|should|must) be (?:ruled out|excluded|eliminated|rejected)\b|i think not\b"
    r"|(?:one|you|some|many) (?:might|may|could) (?:think|say|assume|guess|expect|suppose)\b"
    rf"|(?:is|was|are|were|s)(?: (?:clearly|simply|also|just))? (?:wrong|incorrect|false|mistaken|not {_IT})|(?:is|was|are|were)n'?t {_IT}"
)
"""What says of the words before it that they are no answer; "is not" alone may repeat the question: "Mars is not a star"."""
_DENIED_BEHIND_CJK = re.compile(
    r"(?:では|じゃ)(?:な[いくか]|ありません)|[은는이가]?(?:아니|아닙|아닌)|是?(?:不对|不正确|错误?[的了])|以外|之外|的话|말고|なし"
)
"""Japanese and Korean deny behind the word, and Chinese may."""
_DENIED_HAN = re.compile(
    r"(?:不认为|不觉得|不相信|不可能|绝不|并不|不应该?)(?:是|它是|答案是|在|为)?$|(?:有人[说認认]为?|如果|假如|假设|除了?)(?:答案)?是?$"
)
