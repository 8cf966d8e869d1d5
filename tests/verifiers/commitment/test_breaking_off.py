r"""A response that breaks off in doubt of its own answer stands by none; what is settled behind a halt stands."""

import pytest

from tests.tables import table
from tests.verifiers.found import Found
from verifiers.commitment.cues import languages


@table(
    "behind",
    [
        "Wait, but the problem says n is odd. Let me reconsider.",
        "Actually, hold on. The triangles overlap, so I've counted them twice.",
        "Wait, the sum should be 180 but I get 190.",
        "Wait, London is not in France.",
        "Hmm, that gives a negative length, which is impossible.",
        "Correction: I should have divided by 2.",
        "This contradicts our earlier finding that n < 40.",
        "这与前面的结论矛盾，说明计算有误。",
        "Espera, el enunciado pide el perímetro, no el área.",
        "待って、問題は周の長さを求めている。面積ではない。",
        "The check does not come out.",
        "Oops — I used the radius where the diameter was needed, so this is off.",
        "Since none of the options match, I must have made an error.",
        "I no longer believe this.",
        "The true value is something else.",
        "Da fehlt noch ein Faktor.",
        "題目を読み間違えた。",
        "문제를 잘못 읽었다.",
        "检验不通过。",
        "La vérification échoue.",
    ],
)
def test_a_halt_that_nothing_settles_takes_the_answer_back(found: Found, behind: str) -> None:
    assert found.judge("math", f"So we get \\boxed{{42}}.\n\n{behind}", reference="42").score == 0.0


@table(
    "behind",
    [
        "Wait, let me double-check: the problem says n is even. 42 is even. Good.",
        "But wait, should we also consider n = 43? No, since 43 is odd.",
        "Hmm, that was easy.",
        "Wait, I forgot to mention that x is positive.",
        "等等，检查一下：6×7=42，正确。",
        "等等，是否漏掉了情况？没有。",
        "Moment, prüfen wir: 6·7 = 42. Stimmt.",
        "This does not violate the constraint.",
        "I initially got 36, because I misread the question.",
        "This no longer depends on x.",
        "If something went wrong, let me know.",
    ],
)
def test_what_is_settled_stands(found: Found, behind: str) -> None:
    assert found.judge("math", f"So we get \\boxed{{42}}.\n\n{behind}", reference="42").score == 1.0


@pytest.mark.parametrize("language", sorted(languages()))
def test_every_language_halts(found: Found, language: str) -> None:
    halt = languages()[language]["verdict"]["halt"][0].split("(")[0]
    assert found.judge("math", f"\\boxed{{42}}\n\n{halt}, x + y.", reference="42").score == 0.0
    assert found.judge("math", f"\\boxed{{42}}\n\n{halt}, 6 + 36 = 42.", reference="42").score == 1.0


@table(
    ("response", "score"),
    [
        ("Therefore, the statement that is not true is C.", 1.0),
        ("因此，错误的选项是C。", 1.0),
        ("따라서 옳지 않은 것은 C이다.", 1.0),
        ("Die falsche Aussage ist also C.", 1.0),
        ("La afirmación falsa es \\boxed{C}.", 1.0),
        ("C is incorrect, so the answer is C.", 1.0),
        # Named beside an answer, it is only the one to avoid.
        ("The wrong answer is C.", 0.0),
        ("The incorrect option is C. The correct answer is B.", 0.0),
        ("The correct answer is B. The incorrect option is C.", 0.0),
        ("The least likely option is C.", 0.0),
    ],
)
def test_the_option_that_is_called_false_may_be_asked_for(found: Found, response: str, score: float) -> None:
    assert found.judge("multiple_choice", response, reference="C").score == score


@table(
    ("response", "score"),
    [
        ("It is NaCl, not KCl.", 1.0),
        ("It isn't KCl but NaCl.", 1.0),
        ("The salt is NaCl. If it were KCl, the flame would be violet.", 1.0),
        ("Tom says it's NaCl.", 0.0),
        ("~~NaCl~~", 0.0),
        ("It's a hydrate of NaCl.", 0.0),
        ("NaCl would contradict the mass.", 0.0),
        ("<!-- \\boxed{NaCl} -->", 0.0),
        ("Anna claims that \\boxed{NaCl}", 0.0),
    ],
)
def test_chemistry_decides_alike(found: Found, response: str, score: float) -> None:
    assert found.judge("chemistry", response, reference="NaCl").score == score
