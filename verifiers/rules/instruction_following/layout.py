"""The instructions of IFBench (Pyatkin et al. 2025) on the shape of a response: brackets, quotes, lines, case.

Profile fixed does not take an apostrophe for a quote. It does not accept brackets, lines or quotes without content.
"""

import itertools
import re
import string
from collections import Counter

from verifiers.commitment import fold
from verifiers.rules.instruction_following.constraints import Constraint, stripped, word_set
from verifiers.rules.instruction_following.counting import Text, grows, is_emoji, sentences

_STRIPPED = string.punctuation + " "

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

_PAIRS = {")": "(", "]": "[", "}": "{"}


def _official_nested(view: Text) -> bool:
    """Whether brackets nest five levels deep, by the published check.

    After the last bracket that did not match, five levels must open and at least one bracket must close.
    """
    open_: list[str] = []
    deepest = 0
    for char in view.raw:
        if char in "([{":
            open_.append(char)
            deepest = max(deepest, len(open_))
        elif char in _PAIRS:
            if not open_ or open_.pop() != _PAIRS[char]:
                open_, deepest = [], 0
            elif deepest >= 5:
                return True
    return False


def _nested(view: Text) -> bool:
    """Whether brackets nest five levels deep, as in the published check, with something inside them."""
    open_: list[str] = []
    deepest, is_filled = 0, False
    for char in view.folded:
        if char in "([{":
            open_.append(char)
            deepest = max(deepest, len(open_))
        elif char in _PAIRS:
            if not open_ or open_.pop() != _PAIRS[char]:
                open_, deepest = [], 0
            elif deepest >= 5 and is_filled:
                return True
            is_filled = is_filled and bool(open_)
        elif open_ and not is_filled:
            is_filled = char.isalnum()
    return False


def _official_quotes(view: Text) -> bool:
    open_: list[str] = []
    deepest = 0
    for char in view.raw:
        if open_ and char == open_[-1]:
            open_.pop()
            if deepest - len(open_) >= 3:
                return True
        elif char in "\"'":
            open_.append(char)
            deepest = max(deepest, len(open_))
    return False


_TYPED = str.maketrans("“”„‟＂‘’‚‛＇", "\"\"\"\"\"'''''")


def _quotes(view: Text) -> bool:
    """Whether quotes of alternating kinds nest three levels deep and close in order.

    An apostrophe inside a word is not a quote.
    """
    value = view.raw.translate(_TYPED)
    open_: list[str] = []
    closings = 0
    for index, char in enumerate(value):
        if char not in "\"'":
            continue
        previous, following = value[index - 1 : index], value[index + 1 : index + 2]
        if char == "'" and previous.isalnum() and following.isalnum():
            continue
        if open_ and char == open_[-1]:
            open_.pop()
            closings += 1
            if closings >= 3:
                return True
        elif char == '"' or not previous.isalnum():
            open_.append(char)
            closings = 0
        if not open_:
            closings = 0
    return False


_LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")


def _official_options(view: Text, options: str) -> bool:
    separator = "/" if "/" in options else "or" if "or" in options else ","
    offered = [option.strip() for option in options.split(separator)]
    if _LETTERED.match(options[:1000]):
        return view.raw in offered
    reply = view.raw.strip(_STRIPPED).lower()
    return any(option.strip(_STRIPPED).lower() == reply for option in offered)


_OR = re.compile(r"\bor\b")


def _options(view: Text, options: str) -> bool:
    """Whether the response is one of the options. Case and punctuation around it do not count."""
    return key_of(view.folded) in {key for option in _offered(options) if (key := key_of(fold(option)))}


def _offered(options: str) -> list[str]:
    """The options of "a/b", "a, b", "a or b" and "a, b or c"."""
    if "/" in options:
        return options.split("/")
    pieces = _OR.split(options)
    if len(pieces) == 1 or (len(pieces) == 2 and "," in pieces[0] and "," not in pieces[1]):
        return [option for part in pieces for option in part.split(",")]
    return pieces


def key_of(text: str) -> str:
    return " ".join(text.replace("’", "'").strip(_AROUND).casefold().split())


_AROUND = string.punctuation + string.whitespace + "“”„‘«»「」『』。…"


def _official_word_lines(view: Text) -> bool:
    value = view.bare.strip()
    return sum(bool(line) for line in value.split("\n")) == len(value.split())


def _word_lines(view: Text) -> bool:
    """Whether each line holds one word. Words joined by a dash or comma without space count separately."""
    return bool(view.lines) and all(
        len(line.split()) == 1 and ("://" in line or _RUN_TOGETHER.search(line) is None) for line in view.lines
    )


_RUN_TOGETHER = re.compile(r"[^\W\d_](?:[,;:!?—–|]|\.\.)[^\w\s]*+[^\W\d_]")


def _official_emoji(view: Text) -> bool:
    bare_sentences = [sentence.translate(_NO_PUNCTUATION).strip() for sentence in view.official_sentences]
    for sentence, following in itertools.zip_longest(bare_sentences, bare_sentences[1:]):
        if not sentence:
            return False
        if any(map(is_emoji, sentence[-2:])):
            continue
        if not following or not is_emoji(following[0]):
            return False
    return True


_JOINERS = "\ufe0f\ufe0e\u200d\u20e3"


def _emoji(view: Text) -> bool:
    """Whether each sentence ends with an emoji, before or after its mark."""
    ended: list[bool] = []
    for sentence in sentences(view.folded):
        remainder = _without_leading_emoji(sentence)
        if remainder != sentence and ended:
            ended[-1] = True
        if any(map(str.isalnum, remainder)):
            last = remainder.rstrip(_STRIPPED + _JOINERS + "“”‘’…。！？\n")[-1:]
            ended.append(bool(last) and (is_emoji(last) or "\U0001f1e6" <= last <= "\U0001f1ff"))
    return bool(ended) and all(ended)


def _without_leading_emoji(sentence: str) -> str:
    for index, char in enumerate(sentence):
        if not (is_emoji(char) or char in _JOINERS or char.isspace() or "\U0001f1e6" <= char <= "\U0001f1ff"):
            return sentence[index:] if any(map(is_emoji, sentence[:index])) else sentence
    return ""


def _official_stairs(view: Text) -> bool:
    return grows([len(line) - len(line.lstrip(" ")) for line in _without_some_blank(view.raw.split("\n"))])


def _without_some_blank(lines: list[str]) -> list[str]:
    """The lines that the published check compares.

    That check drops blank lines from the list while it walks through it. So it never looks at the line after a dropped
    one. Of equal blank lines it drops the first.
    """
    spare: Counter[str] = Counter()
    position = 0
    while position < len(lines):
        if not lines[position].strip():
            spare[lines[position]] += 1
            position += 1
        position += 1
    compared: list[str] = []
    for line in lines:
        if spare[line] and not line.strip():
            spare[line] -= 1
        else:
            compared.append(line)
    return compared


def _stairs(view: Text) -> bool:
    """Whether the indents grow from line to line. One fence around the lines does not count."""
    lines = [line.expandtabs(4) for line in view.raw.split("\n") if line.strip()]
    if len(lines) > 2 and lines[0].strip().startswith("```") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    return len(lines) > 1 and grows([len(line) - len(line.lstrip()) for line in lines])


_EDGE = string.digits + string.punctuation.replace('"', "")


def _official_quote_explained(view: Text) -> bool:
    value = "".join(view.raw.replace("'\"'", "").split())
    return '""' not in value and not value.strip(_EDGE).endswith('"')


def _quote_explained(view: Text) -> bool:
    """Whether there are quotes, all in pairs, and words outside of quotes follow each pair."""
    pieces = view.folded.translate(_TYPED).split('"')
    return len(pieces) > 2 and len(pieces) % 2 == 1 and all(any(map(str.isalpha, piece)) for piece in pieces[2::2])


def _official_title_case(view: Text) -> bool:
    for token in view.official_tokens:
        first, remainder = token[0], token[1:]
        if first.isalpha() and first.islower() and (not remainder or remainder.isupper() or remainder.islower()):
            return False
    return True


_MINOR = word_set(
    "a an the and but or nor for so yet as at by in of off on per to up via vs from into like near onto over than "
    "with upon down about after before since until under between through if"
)


def _title_case(view: Text) -> bool:
    """Whether every word begins with a capital.

    Articles, conjunctions and prepositions inside the text may be small. A text in capitals only is not in title case.
    """
    tokens = view.words
    cased = [word for word in tokens if word[0].isalpha()]
    if not cased or cased[0][0].islower() or (len(cased) > 1 and all(map(str.isupper, cased))):
        return False
    return not any(word[0].islower() and word not in _MINOR and not _is_brand(word) for word in cased)


def _is_brand(word: str) -> bool:
    """Whether a word mixes small letters and capitals after its first letter, as iPhone does."""
    remainder = word[1:]
    return not (remainder.islower() or remainder.isupper() or not remainder)


def _official_no_space(view: Text) -> bool:
    return not any(map(str.isspace, view.raw))


_BLANKS = frozenset("\u2800\u3164\u115f\u1160\uffa0\u200b\ufeff\u180e")


def _no_space(view: Text) -> bool:
    value = view.raw.strip()
    return not any(char.isspace() or char in _BLANKS for char in value)


CONSTRAINTS = (
    Constraint("format:parentheses", _official_nested, _nested),
    Constraint("format:quotes", _official_quotes, _quotes),
    Constraint("format:options", _official_options, _options, {"options": stripped}),
    Constraint("format:newline", _official_word_lines, _word_lines),
    Constraint("format:emoji", _official_emoji, _emoji),
    Constraint("format:line_indent", _official_stairs, _stairs),
    Constraint("format:quote_unquote", _official_quote_explained, _quote_explained),
    Constraint("format:title_case", _official_title_case, _title_case),
    Constraint("format:no_whitespace", _official_no_space, _no_space),
)
