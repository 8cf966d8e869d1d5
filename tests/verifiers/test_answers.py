r"""Which part of a response is its answer.

The laws first (any text, spans, thinking, braces, linear work), then what each channel takes and refuses.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.growth import ends, stays_in_proportion
from tests.tables import table
from verifiers.commitment import (
    DEFAULT_CHANNELS,
    MATH_CHANNELS,
    Channel,
    Extraction,
    ExtractionParams,
    corrected,
    extract,
    final_segment,
    fold,
    names_alternatives,
    without_citations,
)
from verifiers.commitment.segment import _OTHER_THINK_TAG, _THINK_TAG, THINKING

PIECES = (
    *(
        "\\boxed{",
        "}",
        "{",
        "\\{",
        "\\fbox",
        "\\boxed ",
        "<answer>",
        "</answer>",
        "<think>",
        "</think>",
        "####",
        "\n",
        " ",
    ),
    *(
        "The answer is ",
        "Answer:",
        "答案是",
        " or ",
        " and ",
        ", ",
        "not ",
        "7",
        "-3.5",
        "1,000",
        "x",
        "$",
        "**",
        ".",
        "%",
    ),
    *("<|im_end|>", "\x00", "\u200b", "İ", "½", "１２", "\\frac{1}{2}", "correct option is", "Final Answer"),
)
RESPONSES = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
PARAMS = st.builds(
    ExtractionParams,
    think=st.sampled_from(["auto", "required", "none"]),
    extract=st.one_of(
        st.just("auto"), st.sampled_from(Channel), st.lists(st.sampled_from(Channel), min_size=1, max_size=5).map(tuple)
    ),
    on_conflict=st.sampled_from(["last", "reject"]),
)


def taken(response: str, **params: Any) -> str | None:
    return extract(response, ExtractionParams(**params)).answer


def in_math(response: str) -> str:
    extraction = extract(response, ExtractionParams(), MATH_CHANNELS)
    return extraction.reason if extraction.answer is None else extraction.answer


def outcome(response: str, **params: Any) -> str:
    extraction = extract(response, ExtractionParams(**params))
    return extraction.reason if extraction.answer is None else extraction.answer


@table(
    ("response", "expected"),
    [
        ("<answer>5 <answer>7</answer></answer>", "conflicting_answers"),
        ("<answer>5 <answer>7</answer>", "conflicting_answers"),
        ("<answer><answer>7</answer> 5</answer>", "conflicting_answers"),
        ("<answer>5<answer>6<answer>7</answer></answer></answer>", "conflicting_answers"),
        ("<answer>\\boxed{5} <answer>\\boxed{7}</answer></answer>", "conflicting_answers"),
        ("<answer><answer>7</answer></answer>", "7"),
        ("<answer>7<answer>7</answer></answer>", "7"),
        ("<answer>7</answer></answer>", "7"),
        ("<answer>7 <answer>", "truncated"),
        ("<answer>7 <answer></answer></answer>", "no_answer"),
        ("I put it in <answer> tags. <answer>7</answer>", "7"),
        ("It belongs into <answer>...</answer>: <answer>7</answer>", "7"),
        ("The `<answer>` tag holds it: <answer>7</answer>", "7"),
        ("答案放在<answer>标签里：<answer>7</answer>", "7"),
        ("<answer>5</answer> Wait, that is wrong. <answer>7</answer>", "7"),
    ],
)
def test_no_answer_is_chosen_by_how_tags_are_nested(response: str, expected: str) -> None:
    assert outcome(response) == expected


# --- laws


@settings(max_examples=500)
@given(response=RESPONSES, params=PARAMS)
def test_any_text_gets_an_extraction_whose_spans_are_true(response: str, params: ExtractionParams) -> None:
    extraction = extract(response, params)
    assert (extraction.answer is None) == (extraction.reason != "found") == (extraction.span is None)
    for candidate in extraction.candidates:
        assert response[slice(*candidate.span)] == candidate.text
        assert candidate.channel is extraction.channel
    if extraction.answer is not None and extraction.span is not None:
        written = iter(response[: extraction.span[1]])
        assert all(char in written for char in extraction.answer.replace(", ", ""))
        assert extraction.answer.strip()


@given(before=RESPONSES, after=RESPONSES)
def test_what_stands_before_the_last_closing_tag_never_matters(before: str, after: str) -> None:
    alone = extract("</think>" + after, ExtractionParams())
    behind = extract(before + "</think>" + after, ExtractionParams())
    assert (behind.answer, behind.channel, behind.reason) == (alone.answer, alone.channel, alone.reason)


@given(
    nested=st.recursive(
        st.text("ab1 +,", max_size=5), lambda inner: st.lists(inner, max_size=3).map(lambda p: "{" + "x".join(p) + "}")
    )
)
def test_nested_braces_come_back_whole(nested: str) -> None:
    expected = nested.strip() or None
    assert taken(f"So it is \\boxed{{{nested}}} as asked.") == expected


@given(before=st.text("{}\\\n #x1", max_size=30), between=st.text("{}\\\n #x1", max_size=30))
def test_braces_and_backslashes_outside_of_boxes_do_not_matter(before: str, between: str) -> None:
    text = f"{before}\nFirst we find \\boxed{{1}} here.\n{between}\n\nThen we find \\\\\\boxed{{\\text{{a}} 7}} there."
    extraction = extract(text, ExtractionParams(extract=Channel.BOXED))
    assert extraction.answer == "\\text{a} 7"
    assert [candidate.text for candidate in extraction.candidates] == ["1", "\\text{a} 7"]


@given(responses=st.lists(st.sampled_from(PIECES), max_size=12), count=st.integers(1, 6))
def test_a_rejecting_policy_accepts_nothing_that_the_other_does_not(responses: list[str], count: int) -> None:
    text = "".join(responses) * count
    strict, last = extract(text, ExtractionParams(on_conflict="reject")), extract(text, ExtractionParams())
    assert strict.answer in (None, last.answer)


FLOODS = {
    "open boxes": "\\boxed{",
    "boxes": "\\boxed{1} ",
    "boxed words": "\\boxed ",
    "braces": "{a",
    "open answers": "<answer>",
    "answers": "<answer>1</answer>",
    "thoughts": "<think>",
    "closed thoughts": "</think>",
    "phrases": "the answer is ",
    "phrases without an end": "answer to ",
    "Chinese phrases": "答案是",
    "hashes": "#### 5 ",
    "digits": "1",
    "numbers": "1,",
    "fractions": "\\frac{1}{",
    "signs": "-",
    "pads": "<pad> ",
    "spaces": " ",
    "stars": "*",
    "backslashes": "\\",
    "dollars": "$",
}


@pytest.mark.growth(beyond=2)
@pytest.mark.parametrize("unit", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"on_conflict": "reject"},
        {"extract": "answer_line"},
        {"extract": "last_number"},
        {"extract": "final_statement"},
    ],
)
def test_a_flood_of_two_million_characters_is_over_soon(unit: str, params: dict[str, Any]) -> None:
    response = unit * (2_000_000 // len(unit))
    found: list[Extraction] = []
    ends(lambda: found.append(extract(response, ExtractionParams(**params))))
    assert len(found[-1].candidates) <= 16


@table(
    "response",
    [
        "\\boxed{" + "{" * 1_000_000,
        "\\boxed{" + "{a" * 500_000,
        "Answer:" + " " * 1_000_000,
        "<answer>" + "*" * 1_000_000,
    ],
)
def test_a_flood_behind_an_opening_is_no_answer(response: str) -> None:
    assert extract(response, ExtractionParams()).answer is None


def test_a_hundred_thousand_boxes_in_one_another_are_the_innermost() -> None:
    assert taken("\\boxed{" * 100_000 + "5" + "}" * 100_000) == "5"


# --- the final segment


@table(
    ("response", "expected"),
    [
        ("<think>\\boxed{1}</think>\\boxed{2}", "2"),
        ("<think>\\boxed{1}</think>I do not know.", "no_answer"),
        ("<think>a</think>\\boxed{1}<think>b</think>\\boxed{2}", "2"),
        ("\\boxed{1}</think>\\boxed{2}", "2"),
        ("<think>the answer is \\boxed{1}", "truncated"),
        ("<think>a</think>\\boxed{1}<think>", "truncated"),
        ("<THINKING>\\boxed{1}</THINKING >\\boxed{2}", "2"),
        ("<reasoning>\\boxed{1}</reasoning>\\boxed{2}", "2"),
        ("<thought>\\boxed{1}</thought>\\boxed{2}", "2"),
        ("<|begin_of_thought|>\\boxed{1}<|end_of_thought|>\\boxed{2}", "2"),
        ("<|begin_of_thought|>\\boxed{1}", "truncated"),
        ("<seed:think>\\boxed{1}</SEED:THINK>\\boxed{2}", "2"),
        ("<thinking\n>\\boxed{1}</thinking>\\boxed{2}", "2"),
        ("[THINK]\\boxed{1}[/THINK]\\boxed{2}", "2"),
        ("◁think▷\\boxed{1}◁/think▷\\boxed{2}", "2"),
        ("<think>all of it</think>\n<|im_end|>\n", "empty"),
        ("", "empty"),
        ("\u200b \n", "empty"),
    ],
)
def test_only_the_text_after_thinking_is_judged(response: str, expected: str) -> None:
    assert outcome(response) == expected
    if response and expected.isdigit():  # nor do many other tags hide those of thinking
        flood = "<p>x</p>" * 50
        assert outcome(flood + response + flood) == expected
        assert outcome(flood + "é" + response) == expected


_TAGS = (
    "<think>",
    "</think>",
    "</thought >",
    "<|begin_of_thought|>",
    "<|end_of_thought|>",
    "[THINK]",
    "[/THINK]",
    "◁/think▷",
)


@given(
    st.lists(st.sampled_from((*_TAGS, "<", "<b>", "</", "K", "x" * 60)), max_size=12),
    st.sampled_from(["auto", "required"]),
)
def test_the_last_tag_of_thinking_decides(pieces: list[str], think: Any) -> None:
    response = "".join(f"{piece}." for piece in pieces)
    tags = [
        (tag.end(), bool(tag["close"] or tag["end"]))
        for pattern in (_THINK_TAG, _OTHER_THINK_TAG)
        for tag in pattern.finditer(response)
    ]
    end, closes = max(tags, default=(0, True))
    found = final_segment(response, think)
    if not closes:
        assert found.reason == "truncated"
    elif think == "required" and not tags:
        assert found.reason == "no_answer"
    else:
        assert (found.start, found.end) == (end, len(response))


def test_thinking_can_be_required_or_ignored() -> None:
    assert outcome("\\boxed{1}", think="required") == "no_answer"
    assert outcome("<think>\\boxed{1}", think="required") == "truncated"
    assert outcome("a</think>\\boxed{1}", think="required") == "1"
    assert outcome("<think>\\boxed{1}", think="none") == "1"


def test_chat_tokens_at_the_end_are_not_part_of_the_answer() -> None:
    response = " Paris <|im_end|>\n<|endoftext|></s><pad><pad>"
    segment = final_segment(response)
    assert response[segment.start : segment.end] == "Paris"
    assert taken(response, extract="whole") == "Paris"
    assert taken("The answer is 5<|eot_id|>") == "5"


@table("name", [*THINKING, "|begin_of_thought|"])
@table(("letter", "others"), [("i", "I\u0130\u0131"), ("s", "S\u017f"), ("k", "K\u212a")])
def test_other_tags_do_not_hide_one_of_letters_that_are_its_own_without_case(
    name: str, letter: str, others: str
) -> None:
    flood = "<p>é</p>" * 50
    for place in (place for place, char in enumerate(name) if char == letter):
        for other in others:
            tagged = f"<{name[:place]}{other}{name[place + 1 :]}>\\boxed{{1}}"
            assert outcome(flood + tagged + flood) == outcome(tagged)
            assert outcome(tagged) == "truncated" or not name.startswith("think")


# --- channels


@table(
    ("response", "expected"),
    [
        ("\\boxed{42}", "42"),
        ("$$\\boxed{ 42 }$$", "42"),
        ("\\boxed{$42$}", "42"),
        ("\\\\boxed{42}", "42"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{\\{1,2\\}}", "\\{1,2\\}"),
        ("\\boxed{\\}}", "\\}"),
        ("x\\\\\\boxed{42}", "42"),
        ("\\boxed{\\boxed{42}}", "42"),
        ("\\boxed{a\\boxed{4}}", "a\\boxed{4}"),
        ("\\boxed {42}", "42"),
        ("\\fbox{42}", "42"),
        ("\\framebox[3cm][l]{42}", "42"),
        ("\\boxed 42.", "42"),
        ("\\boxed x", "x"),
        ("\\boxed\\frac{1}{2}$", "\\frac{1}{2}"),
        ("I box it, \\boxed{42}, with \\boxed as asked.", "42"),
        ("{ \\boxed{42}", "42"),
        ("\\boxed{41 oops \\boxed{42}", "42"),
        ("\\boxed{42", "truncated"),
        ("\\boxed{41}. Wait: \\boxed{4", "truncated"),
        ("It is 5. \\boxed{\\frac{1}{2}", "truncated"),
        ("It is 5. \\boxed", "truncated"),
        ("It is 5. \\boxed{}", "no_answer"),
        ("It is \\boxed{5}. No: \\boxed{ }", "no_answer"),
        ("It is not \\boxed{5}", "no_answer"),
    ],
)
def test_boxes(response: str, expected: str) -> None:
    assert outcome(response) == expected


@table(
    "response",
    [
        *("$3+\\boxed{7}$", "$2\\cdot\\boxed{7}$", "$3\\boxed{7}$", "$n\\boxed{7}$", "-\\boxed{7}"),
        *("$\\sqrt{\\boxed{7}}$", "$\\log \\boxed{7}$", "$f(\\boxed{7})$", "$\\frac{1}{\\boxed{7}}$"),
        *(
            "$\\boxed{7}n$",
            "\\boxed{7}n",
            "$\\boxed{7}^3$",
            "$\\boxed{7}!$",
            "$\\boxed{7} + 1$",
        ),
        *("$n > \\boxed{7}$", "$n\\ne\\boxed{7}$", "$n \\le \\boxed{7}$", "$\\boxed{7} < n$"),
        *("It is at most $\\boxed{7}$.", "It is more than \\boxed{7}.", "至少$\\boxed{7}$"),
        *(
            "$\\boxed{7}$ is wrong.",
            "\\boxed{7} is not the answer",
            "\\boxed{7}? No, it fails.",
            "\\boxed{7}. No, that is incorrect.",
        ),
        *("Is it $\\boxed{7}$?", "Could it be \\boxed{7}? I doubt it.", "\\boxed{7} does not work.", "\\boxed{7}不对"),
    ],
)
def test_a_box_is_no_answer_if_something_is_done_to_it(response: str) -> None:
    assert outcome("We found 9. " + response) == "no_answer"


@table(
    ("response", "expected"),
    [
        ("$x = \\boxed{7}$", "7"),
        ("$-\\boxed{7}$", "-7"),
        ("$\\boxed{7}\\pi$", "7\\pi"),
        ("$2x + 1 = 3\\cdot 5 = \\boxed{7}$", "7"),
        ("\\[ \\boxed{7} \\]", "7"),
        ("\\begin{align} n &= 3 \\\\ &= \\boxed{7} \\end{align}", "7"),
        ("$x \\in \\boxed{[1,2]}$", "[1,2]"),
        ("$3 \\Rightarrow \\boxed{7}$", "7"),
        ("$\\text{Total: }\\boxed{7}$", "7"),
        ("{\\color{red}\\boxed{7}}", "7"),
        ("- \\boxed{7}", "7"),
        ("> \\boxed{7}", "7"),
        ("**\\boxed{7}**", "7"),
        ("<b>\\boxed{7}</b>", "7"),
        ("The answer is \\boxed{7}!", "7"),
        ("\\boxed{7}!", "no_answer"),
        ("\\boxed{5!}", "5!"),
        ("$\\mathbf{\\boxed{7}}$", "7"),
        ("$\\textcolor{red}{\\boxed{7}}$", "7"),
        ("\\boxed{7} - as required.", "7"),
        ("\\boxed{7}. This is not even.", "7"),
        ("\\boxed{7}? Yes, it works.", "7"),
        ("\\boxed{7} dollars", "7"),
        ("$\\boxed{7} \\quad \\text{for all } n$", "7"),
        ("$\\boxed{7}\\%$", "7\\%"),
        ("$\\boxed{7}^\\circ$", "7^\\circ"),
        ("$\\boxed{7}\\text{ cm}^2$", "7\\text{ cm}^2"),
        ("$\\boxed{7}\\text{ or more words}$", "7"),
        ("\\boxed{7} The answer must be in \\boxed{}.", "7"),
        ("I will put it within \\boxed{}. The answer is 7.", "7"),
        ("\\boxed{}. The answer is 7.", "no_answer"),
    ],
)
def test_what_stands_outside_the_formula_of_a_box_leaves_it_alone(response: str, expected: str) -> None:
    assert outcome(response) == expected


def test_the_span_of_an_answer_reaches_to_its_unit() -> None:
    extraction = extract("So $\\boxed{7}\\%$.", ExtractionParams())
    assert extraction.span == (11, 15)
    assert [candidate.text for candidate in extraction.candidates] == ["7"]


@table(
    ("response", "expected"),
    [
        ("<answer>42</answer>", "42"),
        ("<answer>#### 42</answer>", "42"),
        ('<answer>{"answer": 42}</answer>', "42"),
        ("<answer>The total is 5 dollars.</answer>", "The total is 5 dollars."),
        ("<answer> $42$ </answer>", "42"),
        ("<ANSWER>42</ANSWER >", "42"),
        ("<answer>the box: \\boxed{42}</answer>", "42"),
        ("\\boxed{41} <answer>42</answer>", "42"),
        ("in <answer> tags: <answer>42</answer>", "42"),
        ("It is 5. <answer></answer>", "no_answer"),
        ("It is 5. <answer>42", "truncated"),
        ("<answer>41</answer> no, <answer>42", "truncated"),
        ("<answer>\\boxed{42</answer>", "truncated"),
    ],
)
def test_answer_tags(response: str, expected: str) -> None:
    assert outcome(response) == expected


@table(
    ("response", "expected"),
    [
        ("work\n#### 42", "42"),
        ("work\n####42\n", "42"),
        ("#### $1,000.", "$1,000"),
        ("#### 41\nNo.\n#### 42", "42"),
        ("#### 1. Add\nwe add\n#### 2. Result\nThe answer is 7.", "7"),
        ("##### 3\nThe answer is 7.", "7"),
        ("It is 5.\n####", "no_answer"),
    ],
)
def test_hashes(response: str, expected: str) -> None:
    assert outcome(response) == expected


@table(
    ("response", "expected"),
    [
        ("The answer is 42.", "42"),
        ("The final answer is $42$. I hope it is correct.", "42"),
        ("Final Answer: The final answer is $42$. I hope it is correct.", "42"),
        ("So the answer is: **42**.", "42"),
        ("**Answer:** 42", "42"),
        ("**Answer: 42**", "42"),
        ("ANSWER: \\(x+1\\).", "x+1"),
        ("## Final Answer\n\n**42**\n", "42"),
        ("Answer:\n\n$$\nx^2\n$$\n", "x^2"),
        ("The answer to the question is 3.5, because we halve 7.", "3.5"),
        ("The answers are 1 and 2.", "1 and 2"),
        ("The correct option is C.", "C"),
        ("The answer is $5!$.", "5!"),
        ("The answer is 5! = 120.", "5! = 120"),
        ("Answer: 5!", "5!"),
        ("Answer: n!", "n!"),
        ("**Answer:** (2n-1)!!", "(2n-1)!!"),
        ("Final answer: 2^n n!", "2^n n!"),
        ("Answer: x = k!", "x = k!"),
        (r"Answer: \frac{(2n)!}{n!}", r"\frac{(2n)!}{n!}"),
        ("Answer: n(n-1)!", "n(n-1)!"),
        ("The answer is n!", "n"),
        ("The answer is n! + 1", "n! + 1"),
        ("Answer: 42!!", "42"),
        ("Answer: B!", "B"),
        ("Answer: (B)!", "(B)"),
        ("Answer: yes (really)!", "yes (really)"),
        ("Answer: great!!!", "great"),
        ("The answer is 5!", "5"),
        ("The answer is 18! 🎉", "18"),
        ("The answer is not 10 but 12.", "12"),
        ("The answer is 41. Wait, no. The answer is 42.", "42"),
        ("答案：12", "12"),
        ("所以答案是 $\\frac12$。", "\\frac12"),
        ("故答案为：-3。", "-3"),
        ("【答案】C", "C"),
        ("最终答案为 B，因为甲先到。", "B"),
        ("La respuesta correcta es 7.", "7"),
        ("Die Antwort lautet 7.", "7"),
        ("정답: 7", "7"),
        ("Answer: x=5 or x=-5", "x=5 or x=-5"),
        ("The answer is 1 or 2.", "conflicting_answers"),
        ("The answer is $42$ or $43$.", "conflicting_answers"),
        ("答案是1或2。", "conflicting_answers"),
        ("It was 5. The answer is", "no_answer"),
        ("Answer: > 42", "> 42"),
        ("**Answer:** >42", ">42"),
        ("Answer:\n> 42", "42"),
        ("Answer: 0.333...", "0.333..."),
        ("The answer is 5.", "5"),
        ("The answer is C, not B.", "C"),
        ("The answer is C rather than B.", "C"),
        ("Answer: The total cost is $18.", "The total cost is $18"),
        ("Answer: not enough information", "not enough information"),
        ("The final answer is 18 (eighteen).", "18"),
        ("The answer is eighteen (18).", "18"),
        ("The answer is obtained from (18).", "obtained from (18)"),
        ("La réponse finale est donc 12.", "12"),
        ("したがって、答えは 12 です。", "12"),
        ("따라서 정답은 12입니다.", "12"),
        ("정답은 C번입니다.", "C"),
        ("정답은 C번", "C"),
        ("The answer's 42.", "42"),
        ("The answer is, without a doubt, 42.", "42"),
        ("The answer is 42, i.e. 6 times 7.", "42"),
        ("The answer is 42 (see step 3).", "42"),
        ("The answer is 42% (rounded to 2 places).", "42%"),
        ("The answer is 42 (in dollars).", "42"),
        ("The answer is 42 (in base 7).", "42 (in base 7)"),
        ("The answer is 42 (or 43).", "conflicting_answers"),
        ("So the answer’s $x+1$.", "x+1"),
        ("The answer's Paris.", "Paris"),
        ("The correct answer here is C.", "C"),
        ("The answer, rounded, is 42.", "42"),
        ("The correct answer (in my opinion) is C.", "C"),
        ("The answer must therefore be x+1.", "x+1"),
        ("The answer is 7. My first answer was 6.", "7"),
        ("答案不是11而是12。", "12"),
        ("故选：B", "B"),
        ("综上，故选ABD.", "ABD"),
        ("根据分析，本题选D。", "D"),
        ("所以选择B选项。", "B"),
        ("正确的选项是(C)。", "(C)"),
        ('{"answer": 5}', "5"),
        ('Here:\n```json\n{"steps": "2+3", "final_answer": "x+1"}\n```', "x+1"),
        ('"answer": 5}', "5"),
    ],
)
def test_answer_lines(response: str, expected: str) -> None:
    assert outcome(response) == expected


@table(
    "response",
    [
        "The answer's unit is metres",
        "My first answer was 7.",
        "The answer, or 7, is open.",
        "The answer, 7, is wrong.",
        "So the answer is correct.",
        "We must find the answer: think.",
        "The answer is not 10.",
        "answering: x",
    ],
)
def test_a_remark_about_the_answer_is_none(response: str) -> None:
    assert extract(response, ExtractionParams(extract=Channel.ANSWER_LINE)).reason == "no_answer"


@table(
    "response",
    [
        *(
            "The answer is not 10.",
            "The answer isn't 10.",
            "The answer cannot be 10.",
            "The answer: not 10",
            "答案不是10。",
        ),
        *(
            "La respuesta no es 10.",
            "Ответ не 10.",
            "La réponse n'est pas 10.",
            "Answer: 10?",
            "The answer is 10, right?",
        ),
        *("Answer: maybe 10", "Answer: Yes/No", "We got 9. The answer is not 10."),
    ],
)
def test_an_answer_that_is_denied_or_doubted_is_none_and_no_other_takes_its_place(response: str) -> None:
    assert in_math(response) == "no_answer"


@table(
    ("response", "expected"),
    [
        ("The answer is not 10. It is 15.", "15"),
        ("The answer isn't obvious. We get 7 apples.", "7"),
        ("The answer is not 10. The answer is 12.", "12"),
    ],
)
def test_what_follows_a_denial_is_judged_by_itself(response: str, expected: str) -> None:
    assert in_math(response) == expected


@table(
    "response",
    [
        *(
            "It is not 6.",
            "It isn't 6",
            "We reject 6.",
            "This is a contradiction with n = 6.",
            "n = 6 is extraneous.",
            "6 is wrong.",
        ),
        *(
            "Is it 6?",
            "A tank fills 6 litres in how many hours?",
            "6 apples. I don't know",
            "Perhaps it is 6",
            "I do not think it is 6",
        ),
        *("Step 6", "Problem 6", "Equation (6)", "see line 6", "#6", "1. Read.\n2. Add.\n3.", "A. 4\nB. 6"),
    ],
)
def test_a_number_that_is_denied_asked_or_a_label_is_no_answer(response: str) -> None:
    assert in_math("There were 9 of them.\n" + response) == "no_answer"


@table(
    "response",
    [
        *("log 6", "the root of 6", "6²", "6 n", "6 squared"),
        *("n squared equals 6",),
        *(
            "n ≡ 3 mod 6",
            "2 in 6",
            "divided by 6",
            "where n = 6",
            "5 red and 6 blue marbles",
        ),
        *(
            "twice 6",
            "double 6",
            "6 doubled",
            "6 zum Quadrat",
            "6 au carré",
            "6 degrees below zero",
            "20% of 6",
            "12 of 6",
            "12 in 6",
            "7 (mod 6)",
            "5 by 6",
            "5 feet by 6 feet",
        ),
        *(
            "a minimum of 3 at n = 6",
            "the largest is 3, attained at $n = 6",
            "a value that is 3 for n = 6",
            "7 remainder 6",
            "7 R 6",
            "±6",
            "6.(6)",
            "0.(6)",
            "6 below zero",
            "6 degrees below zero",
            "6°C below zero",
        ),
    ],
)
def test_a_number_that_is_part_of_something_larger_is_no_answer(response: str) -> None:
    assert in_math("So we have " + response) == "no_answer"


@table(
    "larger",
    ["sqrt(6)", "log(6)", "6 pi", "minus 6", "√6", "(6, 7)", "at most 6", "more than 6", "1 out of 6", "5 times 6"],
)
def test_something_larger_that_a_sentence_states_is_the_answer(larger: str) -> None:
    assert in_math("So we have " + larger) == larger


@table(
    ("response", "expected"),
    [
        ("So 9 - 3 = 6 were not sold.", "6"),
        ("The weight of the part not cut is 9 - 3 = 6 ounces.", "6"),
        ("He cannot carry 9 - 3 = 6 eggs.", "6"),
        ("He went there 18 / 3 = 6 times.", "6"),
        ("3n = 18\nn = 6", "6"),
        ("n + m = 6", "6"),
        ("|AB| = 6", "6"),
        ("a total of 6", "6"),
        ("So he has 6 now. I hope this helps!", "6"),
        ("How many? 6", "6"),
        ("So she paid 6!", "6"),
        ("It is 6 million.", "6 million"),
        ("She is 6th.", "6th"),
        ("n = 0.666...", "0.666..."),
        ("-> 6", "6"),
        ("It rose by 6.", "6"),
        ("There are 3 rows by the wall, so 6.", "6"),
        ("The box holds 6", "6"),
        ("f(x) = 6", "6"),
        ("It is in box 6", "6"),
        ("The minimum is at n = 6", "6"),
        ("It holds for n = 6", "6"),
        ("With 3 of them at the door, n = 6", "6"),
        ("The remainder is 6", "6"),
        ("(6)", "6"),
        ("It is (6)", "6"),
    ],
)
def test_a_number_that_is_stated_is_one(response: str, expected: str) -> None:
    assert outcome(response, extract="last_number") == expected


@table(
    ("response", "expected"),
    [
        ("B", "B"),
        ("Clearly.\n(B)", "(B)"),
        ("**B**", "B"),
        ("**B. 42**", "B. 42"),
        ("It is 5 + 2.\nTherefore, option B is correct.", "B"),
        ("So, B is the correct answer.", "B"),
        ("I'd go with B.", "B"),
        ("Yes.", "Yes"),
        ("**Yes**, it converges", "Yes"),
        ("The statement is True.", "True"),
        ("Therefore the equation has no solution.", "no solution"),
        ("The fastest is **Evelyn**.", "Evelyn"),
        ("n = 2 or n = 3", "n = 2 or n = 3"),
        ("Therefore, $n = 2$ or $n = 3$.", "$n = 2$ or $n = 3$"),
        ("Thus $f(x)=x^2+1$.", "f(x)=x^2+1"),
        ("The area is \\(4\\pi\\).", "4\\pi"),
        ("$2\\sqrt{3}$", "2\\sqrt{3}"),
        ("Thus $n = 7$.", "7"),
    ],
)
def test_the_last_sentence_may_state_the_answer(response: str, expected: str) -> None:
    assert in_math(response) == expected


@table(
    "response",
    [
        *(
            "A. one\nB. two\nC. three",
            "Option B is not correct.",
            "$$",
            "Thus $$",
            "Thus \\(\\)",
            "Is B the correct answer?",
            "Yes or no?",
            "Yes, but no.",
            "No, wait.",
        ),
        *(
            "The statement is not true.",
            "It has no solution if $a=b$.",
            "Is it **Evelyn**?",
            "It is **Evelyn** or **Ann**.",
        ),
        *("Let $f$ be $x^2$.", "Suppose it is $\\pi$.", "Thus $f$ grows, $\\pi$", "We would like $\\pi$."),
    ],
)
def test_a_last_sentence_that_commits_to_nothing_states_no_answer(response: str) -> None:
    assert in_math(response) == "no_answer"


def test_final_statements_are_for_those_who_ask() -> None:
    assert outcome("So, B is the correct answer.") == "no_answer"
    assert MATH_CHANNELS[-2:] == (Channel.FINAL_STATEMENT, Channel.LAST_NUMBER)
    assert Channel.FINAL_STATEMENT not in DEFAULT_CHANNELS


@table(
    ("response", "expected"),
    [
        ("It is 42.", "42"),
        ("**42**", "42"),
        ("x = -42", "-42"),
        ("x = - 42", "- 42"),
        ("So he earned $1,250.50.", "$1,250.50"),
        ("about 28%", "28%"),
        ("it is 6.02e23 in all", "6.02e23"),
        ("it is $6.4\\times10^{-19}$", "6.4\\times10^{-19}"),
        ("half of it, 1/2", "1/2"),
        ("so $\\frac{3}{4}$", "\\frac{3}{4}"),
        ("so 2 1/4 cups", "2 1/4"),
        ("一共１２个", "１２"),
        ("3 * 6 = 18 dollars", "18"),
        ("$3 \\times 2 = 6$ and then $6+1=7$.", "7"),
        ("Step 3: 42", "42"),
        ("Total - 5", "5"),
        ("5 cm", "5"),
        ("1, 2, 3", "1, 2, 3"),
        ("12 or 15", "conflicting_answers"),
        ("between 10-20", "conflicting_answers"),
        ("from 10 to 20", "conflicting_answers"),
        ("f(x) = 7x+3", "no_answer"),
        ("2^10", "no_answer"),
        ("it grows as x^-3", "no_answer"),
        ("it is about 10^{-3}", "no_answer"),
        ("it is 10⁻³", "no_answer"),
        ("x > 5", "no_answer"),
        ("2\\sqrt{3}", "no_answer"),
        ("7x", "no_answer"),
        ("none", "no_answer"),
        ("6!", "no_answer"),
    ],
)
def test_last_numbers(response: str, expected: str) -> None:
    assert outcome(response, extract="last_number") == expected


def test_the_last_line_and_the_whole() -> None:
    assert taken("a\nb \n\n", extract="last_line") == "b"
    assert taken("a\nb \n\n", extract="whole") == "a\nb"


def test_the_last_mark_decides_whatever_its_form() -> None:
    text = "\\boxed{1}\n#### 2\nThe answer is 3."
    assert taken(text) == "3"
    assert taken("The answer is 3.\n\\boxed{1}") == "1"
    assert taken(text, extract=("answer_line", "boxed")) == "3"
    assert taken(text, extract="hash4") == "2"
    assert extract(text, ExtractionParams(), auto=(Channel.WHOLE,)).channel is Channel.WHOLE
    assert outcome(text, extract="answer_tag") == "no_answer"
    assert Channel.WHOLE not in DEFAULT_CHANNELS


@table("bad", [{"extract": "box"}, {"extract": ()}, {"think": "maybe"}, {"on_conflict": "first"}])
def test_unknown_parameters_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ExtractionParams(**bad)


# --- commitment


@table(
    ("response", "last", "reject"),
    [
        ("First \\boxed{41}. Wait, I made an error. The correct value is \\boxed{42}.", "42", "conflicting_answers"),
        ("Initially \\boxed{11}, but after checking, it is \\boxed{9}.", "9", "conflicting_answers"),
        ("\\boxed{7} and again, to be clear: $\\boxed{7}$", "7", "7"),
        ("either \\boxed{12} or \\boxed{15}", "conflicting_answers", "conflicting_answers"),
        ("\\boxed{12} or perhaps $\\boxed{15}$", "conflicting_answers", "conflicting_answers"),
        ("\\boxed{12}. Or \\boxed{15}", "conflicting_answers", "conflicting_answers"),
        ("\\boxed{12} 或 \\boxed{15}", "conflicting_answers", "conflicting_answers"),
        ("\\boxed{12}\n\n\\boxed{15}", "15", "conflicting_answers"),
        (
            "\\boxed{12} or \\boxed{15}? Checking the sum shows that only the second one can be right: \\boxed{15}",
            "15",
            "15",
        ),
        ("\\boxed{1} first \\boxed{2} second \\boxed{3} third", "conflicting_answers", "conflicting_answers"),
        ("\\boxed{12}, not \\boxed{15}", "12", "12"),
        ("So we have \\boxed{2} and \\boxed{3}.", "2, 3", "2, 3"),
        ("$x = \\boxed{2}$, $y = \\boxed{3}$", "x=2, y=3", "x=2, y=3"),
        ("$x = \\boxed{2}$ and \\boxed{3}", "2, 3", "2, 3"),
        ("(a) $\\boxed{2}$ (b) $\\boxed{3}$", "2, 3", "2, 3"),
        ("\\boxed{2}, \\boxed{3}, and \\boxed{4}", "2, 3, 4", "2, 3, 4"),
        ("<answer>A</answer><answer>B</answer>", "conflicting_answers", "conflicting_answers"),
        ("<answer>A</answer> Sorry, that was wrong: <answer>B</answer>", "B", "conflicting_answers"),
        ("<answer>\\boxed{A}</answer><answer>\\boxed{B}</answer>", "conflicting_answers", "conflicting_answers"),
    ],
)
def test_commitment(response: str, last: str, reject: str) -> None:
    assert outcome(response) == last
    assert outcome(response, on_conflict="reject") == reject


@table(
    "response",
    [
        "\\boxed{7}; if not, then \\boxed{8}",
        "\\boxed{7} (alternatively \\boxed{8})",
        "\\boxed{7}. Another possibility: \\boxed{8}",
        "Perhaps \\boxed{7}, perhaps \\boxed{8}.",
        "Case 1: \\boxed{7}. Case 2: \\boxed{8}.",
        "If $m$ is odd it is \\boxed{7}. If $m$ is even it is \\boxed{8}.",
        "可能是\\boxed{7}，也可能是\\boxed{8}",
        "\\boxed{7} oder \\boxed{8}",
        "\\boxed{7} или \\boxed{8}",
        "\\boxed{7}または\\boxed{8}",
        "\\boxed{7}. Vielleicht auch \\boxed{8}",
        "Fall 1: \\boxed{7}. Fall 2: \\boxed{8}.",
        "\\boxed{7}, and also \\boxed{8}",
    ],
)
def test_offers_for_one_case_each_or_for_perhaps_are_alternatives(response: str) -> None:
    assert outcome(response) == "conflicting_answers"


@table(
    "response",
    [
        "Maybe \\boxed{7}. Wait, that is a mistake, so \\boxed{8}",
        "\\boxed{7}. Let me check if that holds: no. It is \\boxed{8}",
        "\\boxed{7} in the first case. For practical use, if we round, it is more. But the exact value is \\boxed{8}.",
        "Case 2: \\boxed{7}. Therefore in both cases the value is \\boxed{8}",
    ],
)
def test_a_correction_or_a_conclusion_is_no_alternative(response: str) -> None:
    assert outcome(response) == "8"


def test_an_answer_in_parts_spans_them_all() -> None:
    response = "We have \\boxed{2} and \\boxed{3}."
    extraction = extract(response, ExtractionParams())
    assert extraction.span is not None
    assert response[slice(*extraction.span)] == "2} and \\boxed{3"
    assert [candidate.text for candidate in extraction.candidates] == ["2", "3"]


def test_the_detail_tells_the_channel_and_on_request_the_candidates() -> None:
    extraction = extract("\\boxed{41}. Wait, it is \\boxed{42}", ExtractionParams())
    assert extraction.detail() == {"channel": "boxed", "span": [31, 33]}
    assert extraction.detail(explain=True)["candidates"] == ["41", "42"]
    assert Extraction(None, None, None, "no_answer").detail() == {}


def test_folding_drops_what_cannot_be_seen() -> None:
    assert fold("Ｃ\u200b①") == "C1"


def test_alternatives_are_told_from_solutions() -> None:
    assert names_alternatives("A or B")
    assert not names_alternatives("x=1 or x=2")
    assert not names_alternatives("for")


def test_a_caller_who_names_hashes_gets_what_looks_like_a_heading() -> None:
    heading = "#### The setup\nWe add."
    assert taken(heading, extract="hash4") == "The setup"
    assert taken(heading) is None


def test_a_box_in_an_answer_line_is_its_content() -> None:
    assert taken(r"The answer is \boxed{42}.", extract="answer_line") == "42"


GPT_OSS = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"
COHERE = "<|START_THINKING|>{}<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>"


@table("turns", [GPT_OSS, COHERE])
def test_what_is_thought_between_a_models_own_tokens_is_no_answer(turns: str) -> None:
    assert taken(turns.format("It is 5.", "The answer is 6.")) == "6"
    assert taken(turns.format("It is 5.", "6")) == "6"
    unclosed = turns.format("The answer is 5.", "").split("<|end|>")[0].split("<|END_THINKING|>")[0]
    assert outcome(unclosed) == "truncated"
    only_thought = turns.format("The answer is 5.", "")
    assert taken(only_thought) is None


@table(
    "response",
    ["<|channel|>final<|message|>6<|return|>", "<|START_RESPONSE|>6<|END_RESPONSE|>", "\n<|START_RESPONSE|>6"],
)
def test_the_tokens_around_an_answer_are_not_part_of_it(response: str) -> None:
    assert taken(response) == "6"
    segment = final_segment(response)
    assert response[segment.start : segment.end] == "6"


def test_a_call_before_an_answer_is_part_of_what_is_said() -> None:
    response = "<|channel|>commentary to=functions.f<|message|>{}<|call|><|channel|>final<|message|>Done."
    segment = final_segment(response)
    assert response[segment.start : segment.end] == response


def test_an_answer_line_may_follow_a_line_that_ends_in_a_digit_or_a_letter() -> None:
    assert taken("9 * 2 = 18\nAnswer: 5") == "5"
    assert outcome("Answer: 5\nAnswer: 6\nAnswer: 7") == "conflicting_answers"


@table(
    "response",
    [
        "3\n4\n5",
        "Candidates:\n\n3\n\n4\n\n5",
        "1. 3\n2. 5",
        "- 3\n- 5",
        "(a) 3\n(b) 5.",
        "* $3$\n* $5$",
        "**3**\n**4**\n**5**",
        "\\(3\\)\n\\(4\\)\n\\(5\\)",
        "x = 3\nx = 4\nx = 5",
        "3\n4\n3\n4\n5",
    ],
)
def test_a_last_number_that_is_one_of_a_list_is_not_chosen(response: str) -> None:
    assert outcome(response) == "conflicting_answers"


@table(
    "response",
    [
        "3\n5",  # corrected
        "5\n5\n5",
        "1. 5",
        "x = 3\ny = 4\nz = 5",
        "x = 3\ny = 4\n5",
        "12 - 7\n4\n5",
        "Total: 12\nSpent: 7\n5",
        "1. Take 3.\n2. Add 2.\n3. 5",
        "3\n4\nSo 5",
    ],
)
def test_a_last_number_below_others_that_are_no_list_is_taken(response: str) -> None:
    assert taken(response) == "5"


def test_tags_of_answers_between_boxes_do_not_make_the_last_one_a_correction() -> None:
    boxes = " ".join(rf"<answer>\boxed{{{number}}}</answer>" for number in (1, 2, 3))
    assert outcome(boxes, extract="boxed") == "conflicting_answers"


@table(
    "response",
    [
        "I do not believe that the answer is 42.",
        "It is not the case that the answer is 42.",
        "I doubt the answer is 42.",
        "No way the answer is 42.",
        "The answer is unlikely to be 42",
        "我不认为答案是42",
        "I don't think it is \\boxed{42}.",
        "It cannot be \\boxed{42}",
        "I don't believe the answer is \\boxed{42}",
        "我不认为是\\boxed{42}",
    ],
)
def test_what_is_denied_as_a_whole_is_no_answer(response: str) -> None:
    assert outcome(response) == in_math(response) == "no_answer"


@table(
    "response",
    [
        "There is no doubt that the answer is 42",
        "I am not sure about step 2, but the answer is 42.",
        "I don't think it's hard: the answer is 42.",
        "I don't think the answer is 41. The answer is 42.",
        "It is impossible to be 41. The answer is 42.",
        "There's no doubt it is \\boxed{42}.",
        "It cannot be negative, so x = \\boxed{42}",
        "我认为答案是42",
    ],
)
def test_what_is_denied_before_says_nothing_of_the_answer(response: str) -> None:
    assert outcome(response) == in_math(response) == "42"


def stood_by(response: str) -> str | None:
    return corrected(response, extract(response, ExtractionParams())).answer


@table("answer", ["The answer is 12.", "Answer: 12.", "\\boxed{12}", "<answer>12</answer>"])
@table(
    "behind",
    [
        "Then again, 13.",
        "On second thought, 13.",
        "Oops, 13.",
        "Hmm, maybe 13.",
        "Either that or 13.",
        "Scratch that.",
        "I take it back.",
        "Not really.",
        "That's wrong.",
        "That is not right.",
        "Just kidding.",
    ],
)
def test_an_answer_that_is_turned_from_directly_behind_it_is_none(answer: str, behind: str) -> None:
    assert stood_by(answer) == "12"
    assert stood_by(f"{answer} {behind}") is None


@table("answer", ["The answer is 12.", "Answer: 12.", "\\boxed{12}", "<answer>12</answer>"])
@table(
    "behind",
    [
        "No, it's 13.",
        "My mistake, 13.",
        "I'm wrong; 13.",
        "Wait, no, 13.",
        "Oops, it's 13.",
        "Wait, it's 13.",
        "Wait, no, it is 13.",
        "Moment, nein, es ist 13.",
        "Non, attendez, c'est 13.",
        "No, espera, es 13.",
        "等等，不对，是13。",
        "No, it's 14. Wait, no, it's 13.",
    ],
)
def test_a_correction_that_calls_an_answer_wrong_is_the_answer(answer: str, behind: str) -> None:
    assert stood_by(f"{answer} {behind}") == "13"
    extraction = extract(f"{answer} {behind}", ExtractionParams())
    assert corrected(f"{answer} {behind}", extraction, "reject").answer is None


@table("answer", ["12.", "So x = 12.", "Therefore $n = 12$.", "It's 12.", "We get 12."])
@table("behind", ["Scratch that.", "I take it back.", "Not really.", "No, that's wrong."])
def test_a_last_number_that_is_taken_back_is_none(answer: str, behind: str) -> None:
    assert in_math(answer) == "12"
    assert (
        corrected(f"{answer} {behind}", extract(f"{answer} {behind}", ExtractionParams(), MATH_CHANNELS)).answer is None
    )


@table(
    "behind",
    [
        "On reflection, 12.",
        "Maybe this helps!",
        "Oops, I nearly forgot: check it.",
        "That's right.",
        "Not really hard.",
        "Then again, it was easy.",
        "My mistake would have been to add 3.",
    ],
)
def test_what_only_begins_like_a_correction_corrects_nothing(behind: str) -> None:
    assert stood_by(f"\\boxed{{12}} {behind}") == "12"


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize(
    "unit",
    ["no, ", "but ", "wait, ", "A ", "12 ", "Actually it's ", "oh oops ", "maybe ", "either that or ", "i take "],
)
def test_looking_for_a_correction_takes_as_long_as_a_text_is(unit: str) -> None:
    extraction = extract("\\boxed{12} " + unit, ExtractionParams())
    assert stays_in_proportion(lambda text: corrected("\\boxed{12} " + text, extraction), unit, 200_000)


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize("unit", ["[1]", " [1", "12 [1] ", "【1†", "12 a b c [1]", "[1, 2, 3", "[1, 2], "])
def test_looking_for_marks_of_sources_takes_as_long_as_a_text_is(unit: str) -> None:
    assert stays_in_proportion(without_citations, unit, 200_000)
