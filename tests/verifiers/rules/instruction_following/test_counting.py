"""What a word, a sentence and a token are, to a reader and to the published checkers."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langdetect import DetectorFactory, LangDetectException, detect

from tests.tables import table
from verifiers.rules.instruction_following import boundaries, languages
from verifiers.rules.instruction_following.counting import Text, count_word, is_emoji, sentences, words


@table(
    ("text", "expected"),
    [
        ("It's well-known.", ["It's", "well-known"]),
        ("3.14 and 1,000", ["3.14", "and", "1,000"]),
        ("你好 world", ["你", "好", "world"]),
        ("and/or", ["and", "or"]),
        ("the U.S. Army", ["the", "U.S.", "Army"]),
        ("— * … !", []),
        ("don’t", ["don't"]),
        ("a 24-hour-a-day-7-day-a-week job", ["a", "24-hour-a-day-7-day-a-week", "job"]),
        (
            "We-put-signs-where-all-spaces-should-be-now",
            ["We", "put", "signs", "where", "all", "spaces", "should", "be", "now"],
        ),
        ("so_this_is_no_one_word_at_all_either_", ["so", "this", "is", "no", "one", "word", "at", "all", "either"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مَرْحَبًا بِكُمْ", ["مَرْحَبًا", "بِكُمْ"]),
    ],
)
def test_words_of_a_reader(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@table(
    ("text", "expected"),
    [
        ("Dr. Smith came. He left.", ["Dr. Smith came.", "He left."]),
        ("We met at 5 p.m. in town. Why?", ["We met at 5 p.m. in town.", "Why?"]),
        ("1. Milk\n2. Eggs", ["1. Milk\n2. Eggs"]),
        ("今天很好。我们去市场！", ["今天很好。", "我们去市场！"]),
        ('"Why?" he asked. She left.', ['"Why?" he asked.', "She left."]),
        ("we rest. we eat.", ["we rest.", "we eat."]),
        ("Wait... what? Yes!!", ["Wait... what?", "Yes!!"]),
        ("I said no. Then I left.", ["I said no.", "Then I left."]),
        ("See No. 5 now.", ["See No. 5 now."]),
        ("Gen Z. However, it works.", ["Gen Z.", "However, it works."]),
        ("Hello! 😊 Bye. ✅", ["Hello!", "😊 Bye. ✅"]),
        ("", []),
        ("?! ...", []),
        ("😀 😀", []),
    ],
)
def test_sentences_of_a_reader(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@table(
    ("text", "expected"),
    [
        ("Dr. Smith came. He left.", ["Dr. Smith came.", "He left."]),
        ("1. Milk\n2. Eggs", ["1.", "Milk\n2.", "Eggs"]),
        ('He said "go." Then he left.', ['He said "go."', "Then he left."]),
        ("(One.) Two.", ["(One.)", "Two."]),
        ("今天很好。我们去市场。", ["今天很好。我们去市场。"]),
    ],
)
def test_sentences_of_the_published_checkers(text: str, expected: list[str]) -> None:
    assert boundaries.sentences(text) == expected


@table(
    ("text", "expected"),
    [
        ("I can't, won't.", ["I", "ca", "n't", ",", "wo", "n't", "."]),
        ('He said "go".', ["He", "said", "``", "go", "''", "."]),
        ("Cannot pay $3.50 (now)!", ["Can", "not", "pay", "$", "3.50", "(", "now", ")", "!"]),
        ("dogs' 'tis --", ["dogs", "'", "'", "tis", "--"]),
        ("gonna 3,4 a:b", ["gon", "na", "3,4", "a", ":", "b"]),
    ],
)
def test_tokens_of_the_published_checkers(text: str, expected: list[str]) -> None:
    assert boundaries.tokens(text) == expected


@given(st.text(st.sampled_from("aB.!?, \n'\"()-你。😀"), max_size=60))
def test_nothing_but_space_is_lost(text: str) -> None:
    for found in (boundaries.sentences(text), sentences(text)):
        kept = "".join("".join(found).split())
        assert kept in "".join(text.split())
    assert "".join("".join(boundaries.sentences(text)).split()) == "".join(text.split())


@table(
    ("text", "word", "expected"),
    [
        ("Cat, cat; concatenate cats", "cat", 2),
        ("ice\ncream", "ice cream", 1),
        ("c++ and C++!", "c++", 2),
        ("我爱北京", "北京", 1),
        ("my_cat", "cat", 1),
        ("a.b axb", "a.b", 1),
        ("(a+)+ aaa", "(a+)+", 1),
        ("사과는 사과를 사과들에게는 사과나무", "사과", 3),
        ("나이 나라 나", "나", 1),
        ("कम कमी कम।", "कम", 2),
        ("Москва́, كتابٌ", "Москва", 1),
        ("Москва́, كتابٌ", "كتاب", 1),
    ],
)
def test_a_word_stands_on_its_own(text: str, word: str, expected: int) -> None:
    assert count_word(text, word) == expected


def test_look_alikes_have_one_skeleton() -> None:
    assert Text("r\u043e\u0441k").skeleton == "rock"
    assert Text("ro\u1160ck \U0001d42b\U0001d428\U0001d41c\U0001d424").skeleton == "rock rock"
    assert Text("ro\u200bck \uff52\uff4f\uff43\uff4b ró**c**k").skeleton == "rock rock rock"


@table(("char", "expected"), [("😀", True), ("✈", True), ("1", False), ("#", False), ("a", False)])
def test_emoji(char: str, expected: bool) -> None:
    assert is_emoji(char) is expected


@table(
    ("text", "expected"),
    [
        ("The dog sleeps in the garden.", "en"),
        ("Der Hund schläft im Garten und träumt.", "de"),
        ("今天天气很好，我们去公园。", "zh-cn"),
        ("123 !!!", None),
    ],
)
def test_languages(text: str, expected: Any) -> None:
    assert languages.identify(text) == expected


def test_languages_are_those_of_langdetect_with_a_fixed_seed() -> None:
    DetectorFactory.seed = 0
    choose = random.Random(5)
    texts = [
        "Chess clubs meet in odd rooms.",
        "HELLO WORLD AND Ärger",
        "我们 go to the market ok",
        "see https://example.com/a?b=1 or mail me@example.com",
        "naïve café déjà vu",
        "Ñandú",
        *("".join(choose.choices("aBcé zñ你х .Ật", k=choose.randrange(1, 60))) for _ in range(40)),
    ]
    for text in texts:
        try:
            theirs = detect(text)
        except LangDetectException:
            theirs = None
        assert languages.identify(text) == theirs, text


TEXTS_OF_LANGUAGES = (
    *("The dog sleeps in the garden. " * 20, "Der Hund schläft.", "a", "la", "no me de la", "我们 go to the market ok"),
    *("He que la de en un se no", "привет мир это текст", "ЙЦУ abc", "the " * 300 + "мир" * 300, "qzx jkv wpf"),
)


@table("text", TEXTS_OF_LANGUAGES)
def test_steps_taken_at_once_are_those_taken_one_by_one(text: str) -> None:
    grams = languages._grams(text)
    assert languages._sampled(grams) == _sampled_one_by_one(grams)


def _sampled_one_by_one(grams: list[int]) -> list[float]:
    generator = random.Random(0)
    sums = [0.0] * 55
    for trial in range(1, 8):
        growth = 1.0 / ((0.5 + generator.gauss(0.0, 1.0) * 0.05) / 10_000)
        sums = [total + chance for total, chance in zip(sums, _trial(grams, generator, growth), strict=True)]
        second, first = sorted(sums)[-2:]
        if first - second > 7 - trial:
            break
    return sums


def _trial(grams: list[int], generator: random.Random, growth: float) -> list[float]:
    chances = [1.0] * 55
    for step in range(1001):
        for index, share in languages._profiles().shares[generator.choice(grams)]:
            chances[index] *= 1.0 + share * growth
        if step % 5:
            continue
        whole, best = sum(chances), max(chances)
        if best > 0.99999 * whole or step == 1000:
            break
        if best > 1e100:
            chances, best = [chance / whole for chance in chances], best / whole
        if step in (20, 60, 200):
            chances = [chance if chance > best * 1e-20 else 0.0 for chance in chances]
    return [chance / whole for chance in chances]


@table("size", [1, 2, 3, 127, 128, 129, 10_000])
def test_draws_are_those_of_a_generator_with_the_seed(size: int) -> None:
    draws, generator = languages._Draws(size), random.Random(0)
    for count in (1, 61, 1001, 5, 1001, 1001, 1001):
        assert draws.normal() == generator.gauss(0.0, 1.0)
        taken = [generator.choice(range(size)) for _ in range(count)]
        assert draws.ahead(0, count) == taken
        assert draws.ahead(count // 2, count) == taken[count // 2 :]
        draws.take(count)


@table(
    ("text", "language", "expected"),
    [
        ("GO HOME NOW", "en", True),
        ("Hello!", "en", True),
        ("La casa es bonita", "en", False),
        ("HELLO WORLD, THIS IS A TEST", "en", True),
        ("ಈ ದಿನ ಚೆನ್ನಾಗಿದೆ", "kn", True),
        ("!!! ???", "de", False),
        ("नमस्ते, यह एक अच्छा दिन है और हम बाज़ार जाते हैं", "hi", True),
        ("This is English with 一个 word", "zh", False),
        ("Das ist ein schöner Tag und wir gehen auf den Markt.", "en", False),
        ("Ja, das stimmt.", "de", True),
        ("Ja, das stimmt.", "nl", False),
        ("Ja, dat klopt.", "de", False),
        ("Ja, det er rigtigt.", "da", True),
        ("Je ne sais pas.", "fr", True),
        ("Yes, sure.", "fr", False),
        ("Hola, ¿qué tal?", "es", True),
        ("Ciao, come stai?", "es", False),
        ("Да, конечно.", "ru", True),
        ("Так, звичайно.", "ru", False),
        ("Sí, claro.", "en", False),
    ],
)
def test_in_a_language(text: str, language: str, expected: bool) -> None:
    assert languages.is_in(text, language) is expected


_PARIS = {
    "en": "The city of Paris is the capital of France. It is known for its tower and for its museums.",
    "fr": "La ville de Paris est la capitale de la France. Elle est connue pour sa tour et pour ses musées.",
    "zh": "巴黎是法国的首都，以其铁塔和众多博物馆而闻名，每年都有数百万游客前来参观这座美丽的城市。",
}


@table(
    ("text", "language", "expected"),
    [
        ("{fr}\n\n{fr}\n\n{en}", "fr", False),
        ("Here is the answer in French that you asked me for:\n\n{fr}", "fr", False),
        ("{zh}{zh}{zh}\n\n{en}", "zh", False),
        ("Here is the answer in Chinese that you asked me for:\n\n{zh}", "zh", False),
        ("{en}\n\n{zh}", "en", False),
        ("{en} {zh}", "en", False),
        ("{en} Locals say 巴黎 to it.", "en", True),
        ("{fr} Le film *The Lord of the Rings* y fut montré.", "fr", True),
        ("{fr}\n\n1. Harry Potter and the Goblet of Fire, with all that is in it and about it", "fr", True),
        ("{fr}\n\n> That is one small step for a man and one giant leap for all of mankind.", "fr", True),
        ("{zh}\n```\n{en}\n```", "zh", False),
        ("{zh}{zh}{zh}\n```\n# {en}\n```\n", "zh", True),
        ("推荐使用Python和TensorFlow。{zh}", "zh", True),
    ],
)
def test_all_of_it_is_in_the_language(text: str, language: str, expected: bool) -> None:
    assert languages.is_in(text.format(**_PARIS), language) is expected
