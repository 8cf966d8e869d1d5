"""An idea does the same to an answer in every language: what pays nothing in English pays nothing in the others."""

from pathlib import Path

import pytest
import yaml

from tests.tables import table
from tests.verifiers.commitment.test_parity import CHOICES
from tests.verifiers.found import Found
from verifiers.commitment.cues import languages

IDEAS = yaml.safe_load((Path(__file__).parents[2] / "data" / "commitment" / "ideas.yaml").read_text("utf-8"))
ROWS = [(language, idea, text) for language, ideas in IDEAS.items() for idea, text in ideas.items()]
WITHOUT_MOOD = {"id", "ja", "ko", "th", "vi", "zh"}
"""Languages in which nothing tells an unreal condition from a real one."""


def test_every_language_has_every_idea() -> None:
    assert set(IDEAS) == set(languages())
    for language, ideas in IDEAS.items():
        missing = {"condition"} if language in WITHOUT_MOOD else set()
        assert set(ideas) == set(IDEAS["en"]) - missing, language


@table("language, idea, text", ROWS)
def test_no_idea_pays_a_number(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "12")
    for verifier, reference in (("math", "12"), ("numeric", 12)):
        assert found.judge(verifier, shown, reference=reference).score == 0.0, verifier
    assert found.judge("qa", shown, reference="12", in_sentences=True).score == 0.0


@table("language, idea, text", [row for row in ROWS if row[1] != "bound"])
def test_no_idea_pays_an_option(language: str, idea: str, text: str, found: Found) -> None:
    shown = text.replace("{}", "C")
    assert found.judge("multiple_choice", shown, reference="C", choices=CHOICES).score == 0.0


@pytest.mark.parametrize("language", ["en", "id", "zh"])
def test_a_real_condition_pays(language: str, found: Found) -> None:
    text = {
        "en": "If x is 3, the answer is 12.",
        "id": "Jika x adalah 3, jawabannya adalah 12.",
        "zh": "如果x是3，答案是12。",
    }
    assert found.judge("numeric", text[language], reference=12).score == 1.0
