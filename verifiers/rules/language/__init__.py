r"""Judges whether the response is written in the wanted script, without other scripts mixed in.

Scripts are Unicode's (the property Script). A letter that several scripts share (`ー`, `𝐀`) belongs to none and does not
count. A language stands for its scripts (`zh` for Han, `ja` for Han and kana, `ko` for Hangul, most for one); languages
that share a script are not told apart.

Without `script` or `language`, the wanted script is that of most letters of the prompt.

There are two ways to score:

    min_share given   1 if at least that share of the letters is in the script, else 0; also 0 if there are no letters
    otherwise         1 while the share of other letters is within `tolerance`; above it, the score falls in a line, to
                      0 at one half. The default of `tolerance` is 0.02, or 0.10 if the script is Han, kana or Hangul,
                      because their texts hold names and terms in Latin. With fewer than `min_letters` letters there is
                      too little to judge, and the score is 1. A letter of Han, kana or Hangul that should not be there
                      counts twice for that number, because it says more

Code, LaTeX, URLs, tags and numbers are not language and are left out; with `min_share`, `raw` keeps them. Words of
other scripts that also stand in the prompt are left out, too. The thinking and the text after it are judged apart, and
the worse score counts. A fence or formula that is never closed hides nothing. Look-alike letters keep their own script:
"pаypal" with a Cyrillic а is mixed.

No trainer has such a penalty. This one follows what users of trainers write by hand.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, model_validator

from memory import remember
from sandbox.workers import Workers
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import final_segment
from verifiers.long_texts import INLINE_CHARS
from verifiers.rules import bounded
from verifiers.rules.arrays import np
from verifiers.rules.language.prose import prose_of
from verifiers.rules.language.scripts import (
    LANGUAGES,
    LETTER_RUNS,
    holds,
    is_script,
    letters_in,
    main_script,
    others_of,
)
from verifiers.sightings import beyond_ascii

_DENSE = ("Han", "Hiragana", "Katakana", "Hangul")
_BORROWING = "漢あア한"
"""One letter of each script in which texts hold names and terms in Latin."""

_ScriptName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z_]{1,30}$")]


class LanguageParams(Params):
    """The wanted script, and the share of other scripts that is tolerated."""

    script: _ScriptName | Annotated[tuple[_ScriptName, ...], Field(min_length=1, max_length=8)] | None = None
    """The name of a Unicode script (Latin, Han, Cyrillic), or a list of scripts that may all be used."""
    language: str | None = None
    """An ISO 639-1 code. Give it instead of `script`."""
    min_share: Annotated[float, Field(gt=0, le=1)] | None = None
    """The least share of letters in the script that earns 1; below it the score is 0. If it is left out, the score
    falls with the share of other letters."""
    raw: bool = False
    """With `min_share`: whether code, formulas, URLs, tags and numbers are judged, too."""
    tolerance: Annotated[float, Field(ge=0, lt=0.5)] | None = None
    """The share of other letters that costs nothing. If it is left out: 0.02, or 0.10 for Han, kana and Hangul."""
    min_letters: Annotated[int, Field(ge=1)] = 50
    """With fewer letters there is too little to judge, and the score is 1."""

    @model_validator(mode="after")
    def _check(self) -> "LanguageParams":
        if self.script is not None and self.language is not None:
            raise ValueError("give script or language, not both")
        if self.language is not None and self.language not in LANGUAGES:
            raise ValueError(f"the scripts of the language {self.language[:20]!r} are not known; give script")
        if self.min_share is not None and self.tolerance is not None:
            raise ValueError("min_share and tolerance are two ways to score; give one")
        if self.raw and self.min_share is None:
            raise ValueError("raw goes with min_share only")
        for name in self.scripts:
            if not is_script(name):
                raise ValueError(f"{name!r} is not a Unicode script; examples are Latin, Han, Hangul, Cyrillic, Arabic")
        return self

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts that the parameters name, directly or by a language; empty if the prompt decides."""
        if self.language is not None:
            return LANGUAGES[self.language]
        if self.script is None:
            return ()
        return (self.script,) if isinstance(self.script, str) else self.script


class Language(Verifier[LanguageParams]):
    name = "language"
    version = "6"
    params = LanguageParams
    summary = "The response keeps to a script (Latin, Han, ...) and mixes no others into it"
    uses_prompt = True

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[LanguageParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick)


def create(resources: Resources) -> Language:
    bounded.register(resources.workers, judge, Item("Paris", LanguageParams(language="en")))
    return Language(resources.workers)


def _is_quick(item: Item[LanguageParams]) -> bool:
    return len(item.response) + len(item.prompt or "") <= INLINE_CHARS


def judge(item: Item[LanguageParams]) -> Verdict:
    scripts = item.params.scripts or main_script(item.prompt or "")
    if not scripts:
        message = "the script is unknown: give script or language, or a prompt with letters"
        return Verdict.invalid("missing_script", message)
    allowed = _foreign_words(item.prompt, scripts)
    counts = [_count(part, scripts, allowed, item.params) for part in _parts(item.response)]
    shares = {"script": list(scripts), "letters": [count.letters for count in counts]}
    detail = {**shares, "off": [count.off for count in counts]} if item.explain else {}
    if item.params.min_share is not None:
        return _shared(counts, item.params.min_share, detail)
    score = min((_score(count, item.params, scripts) for count in counts), default=1.0)
    return Verdict(Status.OK, score, "correct" if score == 1.0 else "mixed_scripts", None, detail)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of letters of a part, and of its letters in other scripts."""

    letters: int
    off: int
    dense: int = 0
    """The number of other letters that count twice. Only short parts are counted."""


def _shared(counts: Sequence[Count], min_share: float, detail: Mapping[str, Any]) -> Verdict:
    if not any(count.letters for count in counts):
        return Verdict.wrong("no_letters", **detail)
    if all(count.letters - count.off >= min_share * count.letters for count in counts):
        return Verdict.correct(**detail)
    return Verdict.wrong("mixed_scripts", **detail)


def _score(count: Count, params: LanguageParams, scripts: tuple[str, ...]) -> float:
    if count.letters + count.dense < params.min_letters:
        return 1.0
    tolerance = params.tolerance
    if tolerance is None:
        tolerance = _usual_tolerance(scripts)
    excess = (count.off / count.letters - tolerance) / (0.5 - tolerance)
    return 1.0 - min(max(excess, 0.0), 1.0)


@remember(256)
def _usual_tolerance(scripts: tuple[str, ...]) -> float:
    return 0.10 if any(holds(scripts, letter) for letter in _BORROWING) else 0.02


def _parts(response: str) -> Sequence[str]:
    """The thinking and the text after it. Thinking that is never closed is the only part."""
    segment = final_segment(response)
    if segment.reason != "found" or segment.start == 0:
        return (response,)
    return tuple(part for part in (response[: segment.start], response[segment.start :]) if _ANY.search(part))


def _count(text: str, scripts: tuple[str, ...], allowed: frozenset[str], params: LanguageParams) -> Count:
    if not params.raw:
        text = prose_of(text)
    encoded = text.encode("utf-8", "surrogatepass")
    letters = _ascii_letters(encoded)
    off = 0 if holds(scripts, "a") else letters
    dense = 0
    if foreign_text := beyond_ascii(text, encoded):
        foreign = sum(map(len, LETTER_RUNS.findall(foreign_text)))
        letters += foreign
        off += foreign - len(letters_in(scripts, foreign_text))
        if letters < params.min_letters and (unwanted := _unwanted_dense(scripts)):
            dense = len(letters_in(unwanted, foreign_text))
    return Count(letters, off - _allowed_letters(text, scripts, allowed) if off else 0, dense)


@remember(256)
def _unwanted_dense(scripts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name, letter in zip(_DENSE, _BORROWING, strict=True) if not holds(scripts, letter))


def _ascii_letters(encoded: bytes) -> int:
    """The number of ASCII letters, small and capital. The bytes of other characters do not count."""
    small = np.frombuffer(encoded, np.uint8) | _TO_SMALL
    return int(np.count_nonzero(small - _SMALL_A < _LETTERS))


_TO_SMALL, _SMALL_A, _LETTERS = np.uint8(ord("a") ^ ord("A")), np.uint8(ord("a")), np.uint8(26)


def _allowed_letters(text: str, scripts: tuple[str, ...], allowed: frozenset[str]) -> int:
    if not allowed:
        return 0
    return sum(len(word) for word in others_of(scripts).findall(text) if word.casefold() in allowed)


def _foreign_words(prompt: str | None, scripts: tuple[str, ...]) -> frozenset[str]:
    """The words of other scripts that stand in the prompt."""
    if not prompt or (prompt.isascii() and holds(scripts, "a")):
        return frozenset()
    return frozenset(word.casefold() for word in others_of(scripts).findall(prompt))


_ANY = re.compile(r"[^\W\d_]")

_RUSSIAN = "Ответ на этот вопрос хорошо известен: столица Франции находится на берегах реки Сены"

EXAMPLES = (
    Example("The weather is fine", {"script": "Latin", "min_share": 0.95}, 1.0, "correct", "all letters are Latin"),
    Example(
        "p\u0430ypal",
        {"script": "Latin", "min_share": 0.95},
        0.0,
        "mixed_scripts",
        "looks Latin, but the а is Cyrillic",
    ),
    Example(
        "1 + 1 = 2", {"script": "Latin", "min_share": 0.5}, 0.0, "no_letters", "without letters there is no language"
    ),
    Example(
        "因为 $f(x)=\\sin x$ 是周期函数，所以 `print(f)` 成立。" * 4,
        {"language": "zh"},
        1.0,
        "correct",
        "code and LaTeX do not count",
    ),
    Example(_RUSSIAN, {"language": "en"}, 0.0, "mixed_scripts", "all of it in another script"),
    Example("<think>" + _RUSSIAN + "</think>It is Paris.", {"language": "en"}, 0.0, "mixed_scripts", "thinking counts"),
    Example(_RUSSIAN, {}, 1.0, "correct", "the script of the prompt is wanted", prompt="Столица Франции?"),
    Example("Paris", {}, None, "missing_script", "neither a script nor a prompt is given", Status.INVALID),
)
