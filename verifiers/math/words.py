"""Reads answers that are words, names or units, and letters in a row that are a product of variables instead."""

import re
import unicodedata

from verifiers.commitment import names_several
from verifiers.commitment.cues import listed, phrases
from verifiers.commitment.latex import any_of, split
from verifiers.math.tree import Node

TEXT_COMMANDS = split("text textbf textit textrm texttt textsf mathrm mathbf mathit mbox operatorname")
TEXT = re.compile(rf"\\{any_of(TEXT_COMMANDS)}\s*\{{([^{{}}]*)\}}")
_PLAIN = re.compile(r"[^\W_][\w\s,;:.!?&/()'’-]*|\([^\W_]\)")
_DASH = re.compile(r"(?<![a-z])-|-(?![a-z])|_")
_LETTERS = re.compile(r"[^\W\d_]+")
FUNCTIONS = split(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc arsinh arcosh artanh "
    "ln lg exp sgn Re Im arg"
)
FUNCTION_SYNONYMS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sign": "sgn", "arcsinh": "arsinh", "arccosh": "arcosh",
    "arctanh": "artanh", "tg": "tan", "ctg": "cot", "arctg": "arctan", "cosec": "csc",
}  # fmt: skip
WORD_COMMANDS = {
    "pi": "pi", "infinity": "infty", "inf": "infty", "infty": "infty", "sqrt": "sqrt", "log": "log", "gcd": "gcd",
    "lcm": "lcm", "max": "max", "min": "min", "mod": "bmod", "alpha": "alpha", "beta": "beta", "theta": "theta",
    "lambda": "lambda", "union": "cup",
}  # fmt: skip
_SHORT_WORDS = split(
    "no yes odd all two six ten one none even in on is it if of at to by an as we he me my so up us do go be the and "
    "not any for old new ii iii iv vi vii ix am per few low high true both left"
)
_KEY = re.compile(r"[^\W_]+(?:\.\d+)?|[<>=+*/^%≤≥≠−-]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_INITIALS = re.compile(r"(?<=\b[^\W\d_])\.")
_THAT = re.compile(r"^\s*that\s+(?=[^\W\d_]{2})")
_NON = re.compile(r"\bnon (?=[a-z])")
_ARTICLE = re.compile(r"^(?:an?|the) (?=[^\W\d_]{2})(?!and |or )")
CONNECTIVES = split("if is of to at no in on")
_SERIES = "(it|this|that|series|integral|sequence|sum|improper integral|)"
_WAYS = {
    "no solution": (
        "(there is|there are|there exist|there exists|it has|has|equation has|system has|inequality has|problem has|) "
        "no (real|integer|such|positive|possible|) "
        "(solution|solutions|root|roots|answer|answers|value|values|number|numbers|integer|integers|triangle|triangles"
        "|function|functions) (exist|exists|possible|)",
        "no (value|values) of (a|b|c|k|m|n|p|t|x|y|z)",
        "(it is|) (inconsistent|unsolvable)", "none exist", "无解", "无实数解", "没有解", "方程无解",
    ),
    "does not exist": (
        "(this|it|that|) (limit|value|sum|integral|series|) (does not|doesn t|do not) exist", "dne", "不存在",
    ),
    "infinitely many": (
        "(there are|) (infinitely many|an infinite number of|infinite) (solution|solutions|value|values|)",
        "无数(个|)(解|)", "无穷多(个|)(解|)",
    ),
    "diverges": (f"{_SERIES} (is|) (diverge|diverges|divergent)", "发散"),
    "converges": (f"{_SERIES} (is|) (converge|converges|convergent)", "收敛"),
    "impossible": ("(it is|this is|) (impossible|not possible)", "不可能"),
    "undefined": ("(it|expression|slope|) (is|) (undefined|not defined)", "无意义", "未定义"),
    "all real numbers": (
        "(x is|x can be|) (the set of|set of|) (all|any|every) (the|) (real|reals) (number|numbers|value|values|) (x|)",
        "全体实数", "任意实数", "一切实数",
    ),
    "all integers": ("(set of|) (all|any|every) (integer|integers)", "全体整数", "任意整数"),
    "yes": ("是(的|)", "正确", "对"),
    "no": ("不是", "否", "错误", "错"),
}  # fmt: skip
"""Different wordings of one idea; keys begin with no article."""
_CONCEPTS = {phrase: concept for concept, ways in _WAYS.items() for way in ways for phrase in phrases(way)}
_PROPERTY = "odd|even|prime|composite"
_IS_SUCH = rf"(?P<letter>[a-z])(?: is| must be| being)?(?: an?)? (?P<property>{_PROPERTY})(?: (?:integer|number))?"
_STATEMENT = re.compile(
    rf"(?:(?:if|when|for|all|any|every) ){{0,3}}(?:{_IS_SUCH}|(?P<before>{_PROPERTY}) (?P<behind>[a-z]))"
)
"""The kind of integer that a letter is said to be: `n is odd`, `n odd`, `for all odd n`."""


def as_words(text: str) -> Node | None:
    r"""The text as words if it holds nothing else: `\text{Dana}`, `no solution`, `HTTH`, `\text{(A)}`."""
    match = TEXT.fullmatch(text)
    content = (match[1] if match else TEXT.sub(r" \1 ", text)).strip()
    runs = _LETTERS.findall(content)
    if runs and all((len(run) == 1 and run in "ABCDEFGHIJ") or run in ("or", "and") for run in runs) and len(runs) > 1:
        return None  # letters of choices: a list
    if not runs or not _PLAIN.fullmatch(content) or _DASH.search(content) or _has_digits(content):
        return None
    if match:
        return None if any(c in content for c in ",;") else Node("text", leaf=word_key(content))
    if "-" in content and all(is_product(run) for run in runs):
        return None
    if any(c in "(),;:/&!?" for c in content) or any(run in ("or", "and") for run in runs):
        return None
    if len(runs) == 1:
        if _FUNCTION_OF_LETTER.fullmatch(content):
            return None
        is_word = runs[0] in FUNCTIONS or not (runs[0] in WORD_COMMANDS or is_product(runs[0]))
        return Node("text", leaf=word_key(content)) if is_word else None
    if any(run in FUNCTIONS or run in FUNCTION_SYNONYMS or run in WORD_COMMANDS for run in runs):
        return None
    return Node("text", leaf=word_key(content)) if sum(len(run) > 1 for run in runs) >= len(runs) / 2 else None


_FUNCTION_OF_LETTER = re.compile(r"[a-z]?(?:sin|cos|tan|cot|sec|csc|ln|log)[a-zA-Z]")
_WEEKDAY = re.compile(r"(?:周|礼拜)(?=[一二三四五六日天])")
_IN_COMMAND = r"\\(?:text|textbf|mathrm|mathbf|rm|bf)\s*\{\s*\(?([A-J])\)?\s*[.):：]?\s*\}(?P<behind>.*)"
_IN_BRACKETS = r"\(([A-J])\)\s*(?P<bracketed>[^\s(+*/^=,.\-][^=]*)?"
_NAMED = r"(?:\\text\s*\{\s*)?(?i:the\s+)?(?i:correct\s+)?(?i:option|choice|answer)\s+\(?([A-J])\)?\s*\}?[.]?"
_OPTION = re.compile(
    rf"{_IN_COMMAND}|{_IN_BRACKETS}|([A-J])\s*(?:[.)：]|:(?=\s))\s*(?P<pointed>[^=]*)|{_NAMED}|(?:选项?|選項?)\s*([A-J])",
    re.DOTALL,
)
_CAPITAL = re.compile(r"[A-J]")


def split_option(text: str) -> tuple[str, str] | None:
    r"""The letter of a choice and what stands behind it: `(B) 42`, `B. 42`, `\textbf{(B)}\ 42`, `option B`, `选B`."""
    if len(text) > 300:
        return None
    text_match = TEXT.fullmatch(text)
    match = _OPTION.fullmatch(text) or (_OPTION.fullmatch(text_match[1].strip()) if text_match else None)
    if match is None or text in _LETTERS_ALONE:
        return None
    letter = next(
        group for group in match.groups() if group is not None and len(group) == 1 and _CAPITAL.fullmatch(group)
    )
    option_text = match["behind"] or match["bracketed"] or match["pointed"] or ""
    option_text = _REST.sub("", option_text).rstrip(" .~")
    return None if option_text[:1] in tuple("+-*/^=<>_!") else (letter, option_text)


_LETTERS_ALONE = frozenset("ABCDEFGHIJ")
_REST = re.compile(r"^(?:\s|~|[:.：]|\\[ ,;:])+")
_TEXT_LABEL = re.compile(r"\\text\s*\{\s*(\(?[a-h1-9iv]{1,3}\)\s*:?)\s*\}")
_LABEL = re.compile(r"(?:^|(?<=[\s,;.:]))(?:part\s*)?\(?(?P<label>\d|[a-h]|i{1,3}|iv)\)\s*:?", re.IGNORECASE)
LABELS = (tuple("123456789"), tuple("abcdefgh"), ("i", "ii", "iii", "iv"))


def labelled_parts(text: str) -> list[str] | None:
    """The parts of an answer that numbers them from the first one: `(1) 5 (2) 6`, `a) 3, b) x`."""
    text = _TEXT_LABEL.sub(r" \1 ", text).strip()
    marks = list(_LABEL.finditer(text))
    labels = tuple(mark["label"].lower() for mark in marks)
    if len(marks) < 2 or marks[0].start() > 0 or not any(labels == label_set[: len(labels)] for label_set in LABELS):
        return None
    part_ends = [*(mark.start() for mark in marks[1:]), len(text)]
    answer_parts = [text[mark.end() : end].strip(" ,;.") for mark, end in zip(marks, part_ends, strict=True)]
    return answer_parts if all(part and any(c.isalnum() for c in part) for part in answer_parts) else None


def with_equations(text: str) -> str:
    r"""Values with labels as equations, if there are several: `\text{width} = 5, \text{length} = 7` for "width: 5, length: 7".

    So each value counts, with its label where the other text has labels, too.
    """
    if text.count(":") < 2 or not names_several(text):
        return text
    bare = _LABEL_MARKUP.sub(" ", _GAP.sub(", ", text))
    return _NAMED_VALUE.sub(lambda match: rf"\text{{{match['name'].lower()}}} = ", bare)


_GAP = re.compile(r"\s*\\q?quad(?![A-Za-z])")
_LABEL_MARKUP = re.compile(r"\\text\w{0,4}\s?\{|\\mathrm\s?\{|\\mbox\s?\{|[{}*$]")
_NAMED_VALUE = re.compile(r"(?:\band\s+)?(?P<name>[^\W\d_]{2,24}(?:[ '’-][^\W\d_]{1,24}){0,3})\s?[:：]\s*")


def _has_digits(text: str) -> bool:
    return any(c.isdigit() for c in text)


def word_key(text: str) -> str:
    """A key that is equal for the same words: letters, numbers and signs, without case, punctuation and blanks."""
    folded = _INITIALS.sub("", unicodedata.normalize("NFKC", text).casefold())
    folded = _THAT.sub("", folded)
    key = _ARTICLE.sub("", " ".join(_KEY.findall(_HYPHEN.sub(" ", folded))))
    key = _NON.sub("non", _WEEKDAY.sub("星期", key))
    if len(key) <= 60:
        key = _CONCEPTS.get(key, key)
        if statement := _STATEMENT.fullmatch(key):
            key = f"{statement['letter'] or statement['behind']} {statement['property'] or statement['before']}"
    return key


def is_product(run: str) -> bool:
    """Whether letters in a row are a product of variables rather than a word or a name."""
    if len(run) == 1:
        return True
    if run.lower() in _SHORT_WORDS or len(run) > 3 or len(set(run)) < len(run):
        return False
    return not run.isupper() and run.isascii() and (len(run) == 2 or not run.istitle())


def is_extreme(text: str) -> bool:
    """Whether words only say which of several values follows: "smallest"."""
    return listed("extremes").issuperset(text.split())
