"""Finding by a shadow finds what the expressions themselves find, whatever stands around."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.rules.multiple_choice import phrases, statements
from verifiers.sightings import Sighting, hides_ascii, scene

SIGHTINGS = {
    "statements": (phrases.STATEMENTS, phrases._STATEMENT),
    "called correct": (phrases.ARE_CALLED_CORRECT, phrases._IS_CORRECT),
    "all called correct": (phrases.ARE_ALL_CALLED_CORRECT, phrases._ARE_CORRECT),
    "texts": (phrases.TEXTS_ARE_CORRECT, phrases._TEXT_IS_CORRECT),
    "leads": (statements._LEADS, statements._CONCLUDES),
    "it is": (phrases.SAY_IT_IS, phrases._IT_IS),
}
PIECES = [
    "option",
    "choice",
    "The option is ",
    "choice would be",
    " should be",
    "n't",
    " not",
    "I",
    "i'd pick ",
    "We would",
]
PIECES += [
    " choose",
    "’ll go with ",
    "选",
    "选择",
    "正确选项是",
    "A",
    "(C)",
    " *B* ",
    " is correct",
    " must be indeed the only right",
]
PIECES += [
    " is best if ",
    " is",
    " the right answer",
    " are the best option",
    "so",
    "So ",
    "Thus, ",
    "it's",
    "that’s",
    "this is",
]
PIECES += [
    " has to be ",
    "correct one is",
    " here is",
    "going with",
    "settle on",
    "=>",
    "→",
    " it is",
    "B it is",
    "final",
]
PIECES += [" (the first", " (Paris) is right", " and C", ", D", " are both correct"]
PIECES += [" ", "\n", ". ", "! ", "?", "-", "é", "ſo", "iſ", "\u212a", "ı", "\u00a0", "\u2003", "\x1f", "\v"]


@pytest.mark.parametrize("name", SIGHTINGS)
@given(text=st.lists(st.sampled_from([*PIECES, " ", " ", " ", "\n"]), max_size=40).map("".join))
@example(text="So the option is B. I'd pick (C)! B it is; then A must be the only correct answer if so")
@example(text="so it's that’s éso soso this has to be correct one is correct here is")
@example(text="The option\u00a0is B, A\u2003is right, (B) is is right, ſo, we’ll pick, i choose option is choice is")
@example(text=" is correct should ben't isoption is best if ")
def test_a_sighting_finds_what_its_expression_finds(name: str, text: str) -> None:
    sighting, pattern = SIGHTINGS[name]
    assert isinstance(sighting, Sighting)
    assert [match.span() for match in sighting.finditer(scene(text))] == [m.span() for m in pattern.finditer(text)]


@table("text", ["ﬁsh", "Ａ", "no\u00a0break", "a\u200bb", "①", "\ud800Ａ"])
def test_what_folds_into_ascii_hides_it(text: str) -> None:
    assert hides_ascii(text)
    assert not hides_ascii("“naïve” — 北京, ж → é")
    assert not hides_ascii("plain")
