"""Think and answer tags: our strict shape, and the trainers' own, which must equal their regular expressions."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Verdict
from verifiers.rules.think_format import ThinkFormatParams, judge

GOOD = "<think>a</think><answer>b</answer>"


def ask(response: str, **params: Any) -> Verdict:
    return judge(response, ThinkFormatParams(**params))


@table(
    "response",
    [
        GOOD,
        "\n <think>\na\n</think>\n\n<answer>\nb\n</answer>\n",
        GOOD + "<|im_end|>",
        GOOD + "<|im_end|>\n<|endoftext|>",
        "<think>想一想</think><answer>四</answer>",
        "<think>a < b</think><answer>∞</answer>",
        "<think>1</think><answer>½</answer>",
        "<think>a\n\n<b>bold</b></think><answer><i>x</i></answer>",
    ],
)
def test_each_block_once_and_in_order_is_right(response: str) -> None:
    assert ask(response).score == 1.0


@table(
    ("response", "reason"),
    [
        ("", "empty"),
        ("\u200b \n", "empty"),
        ("plain", "missing_tag"),
        ("<think>a</think>", "missing_tag"),
        ("<think>a</think>b", "missing_tag"),
        ("<think>a<answer>b</answer>", "truncated"),
        ("<think>a</think><answer>b", "truncated"),
        ("<answer>b</answer><think>a</think>", "text_outside"),
        ("<think></think><answer>b</answer>", "empty_block"),
        ("<think>a</think><answer> \n</answer>", "empty_block"),
        ("<think>\u200b\u2060\ufeff</think><answer>b</answer>", "empty_block"),
        ("<think>\u3164\u2800</think><answer>b</answer>", "empty_block"),
        ("<think>...</think><answer>b</answer>", "empty_block"),
        ("<think><!-- a --></think><answer>b</answer>", "empty_block"),
        ("<think>a</think><answer>\n<!-- b -->\n</answer>", "empty_block"),
        ("<think>a</think>so<answer>b</answer>", "text_outside"),
        ("x" + GOOD, "text_outside"),
        (GOOD + "x", "text_outside"),
        ("\u200b" + GOOD, "text_outside"),
        (GOOD + "\u2060", "text_outside"),
        (GOOD + "\u200b<|im_end|>", "text_outside"),
        ("<think>a</think>\u200b<answer>b</answer>", "text_outside"),
        (GOOD + GOOD, "repeated_tag"),
        ("<think>a</think></think><answer>b</answer>", "repeated_tag"),
        ("<think>a</think><answer>b</answer><answer>c</answer>", "repeated_tag"),
        ("<think><answer>b</answer></think>", "wrong_order"),
        ("</think>a<think><answer>b</answer>", "text_outside"),
        ("<THINK>a</THINK><ANSWER>b</ANSWER>", "missing_tag"),
        ("<think >a</think ><answer>b</answer>", "missing_tag"),
        ("＜think＞a＜/think＞<answer>b</answer>", "missing_tag"),
        ("<thi\u200bnk>a</think><answer>b</answer>", "missing_tag"),
    ],
)
def test_anything_else_is_wrong_and_says_why(response: str, reason: str) -> None:
    verdict = ask(response)
    assert (verdict.score, verdict.reason) == (0.0, reason)


def test_a_prompt_may_have_opened_the_first_block() -> None:
    assert ask("a</think><answer>b</answer>", think_prefilled=True).score == 1.0
    assert ask(GOOD, think_prefilled=True).reason == "repeated_tag"
    assert ask("</think><answer>b</answer>", think_prefilled=True).reason == "empty_block"
    assert ask("a", think_prefilled=True).reason == "truncated"


def test_tags_may_have_other_names() -> None:
    params = {"think_tag": "reasoning", "answer_tag": "solution"}
    assert ask("<reasoning>a</reasoning><solution>b</solution>", **params).score == 1.0
    assert ask(GOOD, **params).score == 0.0


@table(
    ("response", "score", "reason"),
    [
        ("<think>a</think>b", 1.0, "correct"),
        ("<think>a</think>", 0.0, "no_answer"),
        ("<think>a</think>\u200b", 0.0, "no_answer"),
        ("<think>a</think> ...", 0.0, "no_answer"),
        ("x<think>a</think>b", 0.0, "text_outside"),
        ("<think>a", 0.0, "truncated"),
        ("<think>a</think>b<think>c</think>d", 0.0, "repeated_tag"),
    ],
)
def test_deepseek_wants_thinking_and_then_text(response: str, score: float, reason: str) -> None:
    verdict = ask(response, preset="deepseek")
    assert (verdict.score, verdict.reason) == (score, reason)


def test_tags_of_our_own_do_not_go_with_a_trainers_preset() -> None:
    with pytest.raises(ValidationError, match="has its own tags"):
        ThinkFormatParams(preset="trl", think_tag="x")
    with pytest.raises(ValidationError, match="must differ"):
        ThinkFormatParams(think_tag="x", answer_tag="x")


PIECES = ["<think>", "</think>", "<answer>", "</answer>", "\n", " ", "x", "\\boxed{", "}", "<think>\n", "\n</think>\n"]
PIECES += ["\n<answer>\n", "\n</answer>", "\n</think>\n<answer>\n", "\u2003"]
LINES = re.DOTALL | re.MULTILINE
ORIGINALS = {
    "open_r1": lambda text: re.match(r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$", text, LINES),
    "trl": lambda text: re.match(r"^<think>(?!.*<think>)(.*?)</think>.*$", text, LINES),
    "roll": lambda text: re.match(r"^<think>.*?</think>.*?<answer>.*?</answer>$", text, LINES),
    "video_r1": lambda text: re.fullmatch(r"<think>.*?</think>\s*<answer>.*?</answer>", text, re.DOTALL),
    "geo3k": lambda text: re.fullmatch(r"<think>.*</think>.*\\boxed\{.*\}.*", text, re.DOTALL),
    "open_instruct": lambda text: re.match(r".*?</think>\s*<answer>.*?</answer>", text, re.DOTALL),
}


@pytest.mark.parametrize("preset", ORIGINALS)
@given(text=st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example(text="<think>\na\n</think>\n<answer>\nb\n</answer>\nmore")
@example(text="<think>\n\n</think>\n<answer>\n\n</answer>")
@example(text="<think>\n</think>\n<answer>\n</answer>")
@example(text="<think>a</think> <answer>b</answer><|im_end|>")
@example(text="<think>a</think>\\boxed{1}")
def test_a_preset_equals_the_original(preset: str, text: str) -> None:
    assert ask(text, preset=preset).score == float(ORIGINALS[preset](text) is not None)


@table(
    ("response", "score"),
    [(GOOD, 1.0), ("<think>a</think>", 0.25), ("x<answer>b</answer>", 0.75), ("</think><think>", 0)],
)
def test_nemo_rl_pays_for_each_pair(response: str, score: float) -> None:
    assert ask(response, preset="nemo_rl").score == score


@table("preset", ["strict", "deepseek", *ORIGINALS, "nemo_rl"])
@table("bomb", ["<think>", "</think>", "<think>\n", "</think> ", "\\boxed{", "<answer></answer>"])
def test_many_tags_take_linear_time(preset: str, bomb: str) -> None:
    assert ask("<think>" + bomb * 200_000, preset=preset).score in (0.0, 0.25, 0.75, 1.0)
    assert ask("", preset=preset).score == 0.0


@table("preset", ["strict", "deepseek", *ORIGINALS, "nemo_rl"])
def test_parameters_may_be_written_out_whole(preset: str) -> None:
    params = ThinkFormatParams.model_validate({"preset": preset})
    assert ThinkFormatParams.model_validate_json(params.model_dump_json()) == params
