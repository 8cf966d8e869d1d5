"""Where names of options begin, and where they end: no part of longer words, numbers or formulas."""

from tests.tables import table
from verifiers.rules.multiple_choice.values import Options

_TEXTS = {"A": "New York", "B": "3", "C": "x_1", "D": "Straße"}
_CITIES = {"A": "New York", "B": "York", "C": "New York City", "D": "don't know"}


def _named(options: Options, text: str) -> str:
    """The labels of the options that a text mentions, in order, with their places."""
    mentions = options.mentions(text, 0, len(text))
    return " ".join(f"{''.join(sorted(one.value))}{one.start}-{one.end}" for one in mentions)


@table(
    "text, named",
    [
        ("new   york", "A0-10"),
        ("NEW YORK", "A0-8"),
        ("new **york**", "A0-10"),
        ("newyork", ""),
        ("renew york", ""),
        ("3", "B0-1"),
        ("13", ""),
        ("3.5", ""),
        ("2^3", ""),
        ("x_1", "C0-3"),
        ("x1", ""),
        ("STRASSE", "D0-7"),
        ("the first option", "A4-16"),
        ("the 2nd  choice", "B4-15"),
        ("the fifth option", ""),
        ("option #3", "B8-9"),
        ("第二个选项", "B0-5"),
        ("(B)", "B0-3"),
        ("_B_", "B1-2"),
        ("B)", "B0-2"),
        ("Bob", ""),
        ("②", "B0-1"),
        ("乙", "B0-1"),
    ],
)
def test_an_option_is_named_by_its_text_place_or_label(text: str, named: str) -> None:
    assert _named(Options(_TEXTS, multi=False), text) == named


@table("text, named", [("new york city", "C0-13"), ("new york", "A0-8"), ("york", "B0-4"), ("I don't know", "D2-12")])
def test_the_longest_name_counts(text: str, named: str) -> None:
    assert _named(Options(_CITIES, multi=False), text) == named


@table("text, named", [("ACD", "ACD0-3"), ("АБ", ""), ("ACE", ""), ("A, C", "A0-1 C3-4")])
def test_several_labels_may_stand_in_a_row(text: str, named: str) -> None:
    assert _named(Options(dict.fromkeys("ABCD", ""), multi=True), text) == named


def test_a_text_that_names_label_after_label_is_told_from_prose() -> None:
    options = Options(_TEXTS, multi=False)
    assert options.names_more("(A) " * 40, 32)
    assert options.names_more("first option " * 40, 32)
    assert options.names_more("乙" * 40, 32)
    assert not options.names_more("We sail home, and I say so. " * 20 + "The answer is (A).", 32)
