"""The page on how an answer is found says what is so."""

from tests.verifiers.commitment import page
from tests.verifiers.found import Found


def test_the_page_tells_the_verdicts(found: Found) -> None:
    assert page.PAGE.read_text("utf-8") == page.rendered(found), "python -m tests.verifiers.commitment.page"
