"""Unicode's scripts, the languages written in them, and the letters of a text by script."""

from collections.abc import Mapping

import regex

from memory import remember
from verifiers.rules.language.prose import prose_of

_LATIN = (
    "af ca cs cy da de en es et eu fi fr ga gl hr hu id is it la lt lv ms mt nl no pl pt ro sk sl sq sv sw tl tr vi zu"
)
LANGUAGES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_LATIN.split(), ("Latin",)),
    **dict.fromkeys(["be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"], ("Cyrillic",)),
    **dict.fromkeys(["ar", "fa", "ps", "ur"], ("Arabic",)),
    **dict.fromkeys(["hi", "mr", "ne", "sa"], ("Devanagari",)),
    **dict.fromkeys(["he", "yi"], ("Hebrew",)),
    "am": ("Ethiopic",),
    "bn": ("Bengali",),
    "el": ("Greek",),
    "gu": ("Gujarati",),
    "hy": ("Armenian",),
    "ja": ("Han", "Hiragana", "Katakana"),
    "ka": ("Georgian",),
    "km": ("Khmer",),
    "kn": ("Kannada",),
    "ko": ("Hangul",),
    "lo": ("Lao",),
    "ml": ("Malayalam",),
    "my": ("Myanmar",),
    "pa": ("Gurmukhi",),
    "si": ("Sinhala",),
    "ta": ("Tamil",),
    "te": ("Telugu",),
    "th": ("Thai",),
    "zh": ("Han",),
}


def is_script(name: str) -> bool:
    """Whether Unicode has a script of this name."""
    return name not in _NO_SCRIPTS and _letters_of((name,)) is not None


def main_script(prompt: str) -> tuple[str, ...]:
    """The script of most letters of a prompt. With more than a little kana among Han, it is Japanese."""
    text = prose_of(prompt)
    counts = {scripts: len(letters_in(scripts, text)) for scripts in _COMMON_SCRIPTS}
    kana = counts.pop(("Hiragana", "Katakana"))
    if kana * 10 > counts[("Han",)]:
        counts[("Han", "Hiragana", "Katakana")] = counts.pop(("Han",)) + kana
    scripts, letters = max(counts.items(), key=lambda pair: pair[1])
    return scripts if letters else ()


@remember(256)
def holds(scripts: tuple[str, ...], letter: str) -> bool:
    """Whether a letter belongs to the scripts. Each script may have any of its names (Latin, latin, Latn)."""
    return bool(letters_in(scripts, letter))


def letters_in(scripts: tuple[str, ...], text: str) -> str:
    pattern = _letters_of(scripts)
    assert pattern is not None
    return "".join(pattern.findall(text))


_NO_SCRIPTS = frozenset(("Common", "Inherited", "Unknown", "Zyyy", "Zinh", "Qaai", "Zzzz"))

_ALONE = "Hangul Cyrillic Arabic Devanagari Greek Hebrew Thai Bengali Tamil Telugu Georgian Armenian"
_COMMON_SCRIPTS: tuple[tuple[str, ...], ...] = (
    ("Latin",),
    ("Han",),
    ("Hiragana", "Katakana"),
    *((name,) for name in _ALONE.split()),
)

LETTER_RUNS = regex.compile(r"[\p{L}--[\p{Script=Common}\p{Script=Inherited}]]+", regex.VERSION1)


@remember(256)
def _letters_of(scripts: tuple[str, ...]) -> "regex.Pattern[str] | None":
    """The pattern for runs of letters of these scripts; None if one is not a script."""
    try:
        return regex.compile(rf"[\p{{L}}&&[{_class(scripts)}]]+", regex.VERSION1)
    except regex.error:
        return None


@remember(256)
def others_of(scripts: tuple[str, ...]) -> "regex.Pattern[str]":
    """The pattern for runs of letters of all other scripts."""
    pattern = rf"[\p{{L}}--[\p{{Script=Common}}\p{{Script=Inherited}}{_class(scripts)}]]+"
    return regex.compile(pattern, regex.VERSION1)


def _class(scripts: tuple[str, ...]) -> str:
    return "".join(rf"\p{{Script={name}}}" for name in scripts)
