"""Scripts: which one a text is written in, and what is mixed into it."""

from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Item, Status, Verdict
from verifiers.rules.language import LanguageParams, judge
from verifiers.rules.language.scripts import LANGUAGES, is_script

ENGLISH = "The capital of France stands on the river Seine, and has done so for two thousand years."
CHINESE = (
    "法国的首都位于塞纳河畔，两千年来一直如此，这里有许多著名的博物馆、教堂和桥梁，每年吸引数百万游客前来参观游览。"
)
RUSSIAN = "Столица Франции стоит на реке Сене вот уже две тысячи лет, и с этим никто не спорит."
JAPANESE = "フランスの首都はセーヌ川のほとりにあり、二千年の間ずっとそうでした。多くの博物館と橋があります。"


def ask(response: str, prompt: str | None = None, **params: Any) -> Verdict:
    return judge(Item(response, LanguageParams(**params), prompt, explain=True))


@table(
    ("text", "language", "score"),
    [
        (ENGLISH, "en", 1.0),
        (CHINESE, "zh", 1.0),
        (RUSSIAN, "ru", 1.0),
        (JAPANESE, "ja", 1.0),
        (ENGLISH, "zh", 0.0),
        (CHINESE, "en", 0.0),
        (RUSSIAN, "en", 0.0),
        (ENGLISH, "ru", 0.0),
        (ENGLISH + RUSSIAN * 2, "en", 0.0),
        ("", "en", 1.0),
        ("42", "en", 1.0),
    ],
)
def test_a_text_keeps_to_its_script_or_does_not(text: str, language: str, score: float) -> None:
    assert ask(text, language=language).score == pytest.approx(score, abs=0.02)


@table(
    ("text", "language", "score"),
    [
        (CHINESE[:30], "en", 0.0),
        (JAPANESE[:30], "en", 0.0),
        ("프랑스의 수도는 이천 년 동안 센 강가에 있으며 아무도 의심하지 않습니다", "ru", 0.0),
        (JAPANESE[:30], "ko", 0.0),
        (f"<think>{CHINESE[:30]}</think>\n{ENGLISH}", "en", 0.0),
        # too little to judge
        (CHINESE[:20], "en", 1.0),
        ("The word 你好 means hello.", "en", 1.0),
        (CHINESE[:20] + " Louvre and Notre-Dame", "zh", 1.0),
        (RUSSIAN[:40], "en", 1.0),
        (CHINESE[:30], "zh", 1.0),
    ],
)
def test_letters_that_say_as_much_as_two_are_enough_in_half_the_number(text: str, language: str, score: float) -> None:
    assert ask(text, language=language).score == score
    everywhere = ask(text, script=["Han", "Hiragana", "Katakana", "Hangul", "Latin", "Cyrillic"])
    assert everywhere.score == 1.0


def test_tags_with_attributes_are_no_language() -> None:
    page = f'<div class="box wide" style=\'color: red\'>{CHINESE}</div><img src="a.png" alt=""/>'
    assert ask(page * 2, language="zh").score == 1.0
    assert ask(f'<a href="https://example.org/a-long-path" target="_blank">{CHINESE}</a>', language="zh").score == 1.0
    assert ask(f"<b {ENGLISH}>" + CHINESE, language="zh").score != 1.0
    assert ask(f"a <b and {RUSSIAN} c> d", language="en").score != 1.0


def test_japanese_is_not_chinese() -> None:
    score = ask(JAPANESE * 2, language="zh").score
    assert score is not None
    assert score < 0.2


def test_the_punishment_grows_from_the_tolerance_to_one_half() -> None:
    def share(off: int) -> float | None:
        return ask("a" * (100 - off) + "д" * off, script="Latin").score

    assert share(2) == 1.0
    assert share(26) == pytest.approx(0.5)
    assert share(50) == 0.0
    assert share(90) == 0.0
    assert ask("汉" * 90 + "a" * 10, language="zh").score == 1.0


def test_names_and_terms_may_stand_in_latin_beside_chinese() -> None:
    assert ask(CHINESE * 2 + "（Paris）", language="zh").score == 1.0


@table(
    "hidden",
    [
        "```python\nfor letter in alphabet: print(letter, separator, ending)\n```",
        "$\\sin alpha + \\cos beta = gamma delta epsilon zeta eta theta iota$",
        "\\(\\operatorname{rank} matrix transposed inverse eigenvalue\\)",
        "\\[\\begin{aligned} left & right \\\\ top & bottom \\end{aligned}\\]",
        "https://example.com/some/very/long/path/to/a/document/in/english",
        "<answer><b></b></answer>",
        "`some inline code in english words here`",
    ],
)
def test_code_formulas_and_addresses_are_no_language(hidden: str) -> None:
    text = f"{CHINESE}\n{hidden}\n所以答案就是这样。"
    assert ask(text, language="zh", tolerance=0.0).score == 1.0


def test_what_is_never_closed_hides_nothing() -> None:
    for opening in ("```\n", "$", "\\(", "\\[", "`", "$$"):
        assert ask(f"{CHINESE}\n{opening}{ENGLISH * 3}", language="zh").score == 0.0


def test_thinking_and_answer_are_judged_apart() -> None:
    assert ask(f"<think>{ENGLISH * 2}</think>{ENGLISH}", language="en").score == 1.0
    assert ask(f"<think>{ENGLISH * 20}</think>{RUSSIAN}", language="en").score == 0.0
    assert ask(f"<think>{RUSSIAN}</think>{ENGLISH * 20}", language="en").score == 0.0
    assert ask(f"<think>{RUSSIAN}", language="en").score == 0.0


def test_words_of_the_prompt_may_be_used() -> None:
    prompt = "Translate the word столица, please."
    response = "The word столица means capital. Say it aloud: столица. It is used for cities where governments sit."
    assert ask(response, prompt, language="en").score == 1.0
    worse = ask(response, language="en").score
    assert worse is not None
    assert worse < 0.9


@table(
    ("prompt", "response", "score"),
    [
        ("Столица?", RUSSIAN, 1.0),
        ("What is it?", ENGLISH, 1.0),
        ("首都是哪里？", CHINESE, 1.0),
        ("首都はどこですか。", JAPANESE, 1.0),
        ("首都是哪里？", ENGLISH, 0.0),
        ("프랑스의 수도는?", ENGLISH, 0.0),
    ],
)
def test_the_prompts_script_is_meant_where_none_is_given(prompt: str, response: str, score: float) -> None:
    assert ask(response, prompt).score == score


@table("prompt", [None, "", "1 + 1 = ?"])
def test_without_any_script_there_is_no_verdict(prompt: str | None) -> None:
    verdict = ask(ENGLISH, prompt)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "missing_script")


@table(
    ("response", "script", "share", "score"),
    [
        ("The weather is fine", "Latin", 0.95, 1.0),
        ("p\u0430ypal", "Latin", 0.95, 0.0),
        ("p\u0430ypal", "Latin", 0.8, 1.0),
        ("日本語です", "Han", 0.6, 1.0),
        ("日本語です", "Han", 0.61, 0.0),
        ("１２３ 456 !?", "Latin", 0.01, 0.0),
        ("", "Latin", 0.01, 0.0),
        ("\u200b\u202e", "Latin", 0.01, 0.0),
        ("𝐇𝐞𝐥𝐥𝐨", "Latin", 0.01, 0.0),
        ("Ｈｅｌｌｏ", "Latin", 1.0, 1.0),
        ("한국어", "Hangul", 1.0, 1.0),
        ("abcд", "Latin", 0.75, 1.0),
    ],
)
def test_a_share_of_letters(response: str, script: str, share: float, score: float) -> None:
    assert ask(response, script=script, min_share=share).score == score


def test_raw_counts_code_too() -> None:
    text = f"`print`{CHINESE}"
    assert ask(text, script="Han", min_share=1.0).score == 1.0
    assert ask(text, script="Han", min_share=1.0, raw=True).score == 0.0


@table(
    "params",
    [
        {"script": "Klingon"},
        {"script": "Common"},
        {"script": "L}]|."},
        {"language": "xx"},
        {"script": "Latin", "language": "en"},
        {"script": "Latin", "min_share": 0.5, "tolerance": 0.1},
        {"script": "Latin", "raw": True},
    ],
)
def test_unknown_scripts_and_contradictions_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LanguageParams(**params)


def test_every_script_of_the_table_exists() -> None:
    assert all(is_script(name) for scripts in LANGUAGES.values() for name in scripts)


@given(st.text("ab дж漢かハ가 $`\\()[]<>{}\n", max_size=80))
def test_parts_add_up(text: str) -> None:
    verdict = ask(text, script="Latin", min_share=0.5)
    for letters, off in zip(verdict.detail["letters"], verdict.detail["off"], strict=True):
        assert 0 <= off <= letters


@table("bomb", ["$", "`", "```", "\\(", "\\[", "<", "</a", "http://", "\\", "$$", "{", "\\a{", "<|"])
def test_unclosed_signs_take_linear_time(bomb: str) -> None:
    assert ask(bomb * 200_000 + "д", script="Latin").status is Status.OK
    assert ask((bomb + "x ") * 100_000 + "д", script="Latin").status is Status.OK


@table("name", ["Latin", "latin", "Latn", "LATIN"])
def test_a_script_may_go_by_any_of_its_names(name: str) -> None:
    assert ask("The weather is fine", script=name, min_share=0.95).score == 1.0
    assert ask("Погода", script=name, min_share=0.95).score == 0.0


def test_a_chinese_prompt_that_quotes_a_kana_is_not_japanese() -> None:
    assert ask(JAPANESE * 2, CHINESE + "「の」").score == 0.0
    assert ask(JAPANESE * 2, JAPANESE).score == 1.0
    assert ask(CHINESE, CHINESE + "「の」").score == 1.0


@given(st.text(st.sampled_from("azAZ@[`{09 _éßаЯ漢あ한α\u0301ー𝐀\u200b\ud800ǅⅣ")))
def test_letters_are_counted_as_one_by_one(text: str) -> None:
    counted = ask(f"1{text}1", script=("Latin", "Han"), min_share=0.5, raw=True).detail
    letters = regex.findall(r"[\p{L}--[\p{Script=Common}\p{Script=Inherited}]]", text, regex.VERSION1)
    off = [char for char in letters if not regex.match(r"[\p{Script=Latin}\p{Script=Han}]", char)]
    assert (sum(counted["letters"]), sum(counted["off"])) == (len(letters), len(off))


@table("formula", [r"\(a\\b\)", r"\[\alpha\beta\]", r"\(\)", r"\[ a\{b\} \]", r"\(\\\)"])
def test_formulas_end_at_their_own_sign(formula: str) -> None:
    assert ask(f"и {formula} да", language="ru", min_share=0.9).detail["letters"] == [3]
