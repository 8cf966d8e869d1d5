"""Texts without case keep their places, and fold what `re` folds."""

import re
import sys
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from verifiers.caseless import caseless


def test_letters_are_the_same_only_if_an_expression_takes_one_for_the_other() -> None:
    forms: dict[str, list[str]] = defaultdict(list)
    for letter in map(chr, range(sys.maxunicode + 1)):
        if letter.lower() != letter or letter.upper() != letter:
            forms[caseless(letter)].append(letter)
    for form, letters in forms.items():
        same = re.compile(re.escape(form), re.IGNORECASE)
        assert [letter for letter in letters if not same.fullmatch(letter)] == []
    assert all(letters != [form] for form, letters in forms.items() if form.isascii())


@given(st.text())
def test_each_letter_keeps_its_place(text: str) -> None:
    assert len(caseless(text)) == len(text)
    assert caseless(text) == "".join(map(caseless, text))
